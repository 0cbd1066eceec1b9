"""Settings of compilation. Façade: re-exports only."""

from mindspore.common.api import JitConfig

__all__ = ["JitConfig"]
