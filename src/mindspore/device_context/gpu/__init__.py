"""GPUs. Façade: re-exports only."""

from mindspore.device_context.gpu import op_precision, op_tuning
from mindspore.device_context.gpu.device import device_count, is_available

__all__ = ["device_count", "is_available", "op_precision", "op_tuning"]
