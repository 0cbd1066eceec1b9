"""Events. Façade: re-exports only."""

from mindspore.runtime.device_streams import Event

__all__ = ["Event"]
