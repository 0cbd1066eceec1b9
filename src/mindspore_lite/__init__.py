"""MindSpore Lite: convert a model once, run it on small machines without the framework."""

from typing import Any

from mindspore_lite.context import Context
from mindspore_lite.converter import Converter, FmkType
from mindspore_lite.lite_infer import LiteInfer
from mindspore_lite.llm_engine import (
    LLMClusterInfo,
    LLMEngine,
    LLMEngineFinalized,
    LLMEngineStatus,
    LLMException,
    LLMKVCacheNotExist,
    LLMNotYetLink,
    LLMParamInvalid,
    LLMRepeatRequest,
    LLMReq,
    LLMRequestAlreadyCompleted,
    LLMRole,
    LLMStatusCode,
    LLMWaitProcessTimeOut,
)
from mindspore_lite.model import Model, ModelGroup, ModelGroupFlag, ModelParallelRunner, ModelType
from mindspore_lite.tensor import DataType, Format, Tensor, TensorMeta

__version__ = "2.10.0"

__all__ = [
    "Context", "Converter", "DataType", "FmkType", "Format", "LLMClusterInfo", "LLMEngine", "LLMEngineFinalized",
    "LLMEngineStatus", "LLMException", "LLMKVCacheNotExist", "LLMNotYetLink", "LLMParamInvalid", "LLMRepeatRequest",
    "LLMReq", "LLMRequestAlreadyCompleted", "LLMRole", "LLMStatusCode", "LLMWaitProcessTimeOut", "LiteInfer", "Model",
    "ModelGroup", "ModelGroupFlag", "ModelParallelRunner", "ModelType", "Tensor", "TensorMeta", "TrainModel",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """What needs compilers is loaded when it is asked for."""
    if name == "TrainModel":
        from mindspore_lite.training.trainer import TrainModel

        return TrainModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
