"""Wrappers that make networks into training and evaluation steps."""

from mindspore.nn.wrap.cell_wrapper import (
    ForwardValueAndGrad,
    GetNextSingleOp,
    ParameterUpdate,
    TrainOneStepCell,
    VirtualDatasetCellTriple,
    WithEvalCell,
    WithGradCell,
    WithLossCell,
)
from mindspore.nn.wrap.grad_reducer import DistributedGradReducer, PipelineGradReducer
from mindspore.nn.wrap.micro_batches import GradAccumulationCell, MicroBatchInterleaved, PipelineCell

__all__ = [
    "DistributedGradReducer",
    "ForwardValueAndGrad",
    "GetNextSingleOp",
    "GradAccumulationCell",
    "MicroBatchInterleaved",
    "ParameterUpdate",
    "PipelineCell",
    "PipelineGradReducer",
    "TrainOneStepCell",
    "VirtualDatasetCellTriple",
    "WithEvalCell",
    "WithGradCell",
    "WithLossCell",
]
