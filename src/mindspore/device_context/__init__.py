"""Settings of one kind of device; those that have no meaning here are checked and remembered. Façade."""

from mindspore.device_context import ascend, cpu, gpu

__all__ = ["ascend", "cpu", "gpu"]
