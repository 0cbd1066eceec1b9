"""Tools for finding faults. Façade: re-exports only."""

from mindspore.common.dump import set_dump

__all__ = ["set_dump"]
