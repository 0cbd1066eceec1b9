"""What `servable_config.py` declares models and methods with. Façade: re-exports only."""

from mindspore_serving.server.register import model as model
from mindspore_serving.server.register.calls import (
    call_postprocess,
    call_postprocess_pipeline,
    call_preprocess,
    call_preprocess_pipeline,
    call_servable,
)
from mindspore_serving.server.register.context import (
    AclOptions,
    AscendDeviceInfo,
    Context,
    CPUDeviceInfo,
    GPUDeviceInfo,
    GpuOptions,
)
from mindspore_serving.server.register.method import add_stage, register_method
from mindspore_serving.server.register.model import Model, declare_model, declare_servable

__all__ = [
    "AclOptions",
    "AscendDeviceInfo",
    "CPUDeviceInfo",
    "Context",
    "GPUDeviceInfo",
    "GpuOptions",
    "Model",
    "add_stage",
    "call_postprocess",
    "call_postprocess_pipeline",
    "call_preprocess",
    "call_preprocess_pipeline",
    "call_servable",
    "declare_model",
    "declare_servable",
    "register_method",
]
