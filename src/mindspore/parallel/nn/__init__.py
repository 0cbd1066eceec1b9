"""Networks that see a batch in parts. Façade: re-exports only."""

from mindspore.nn.transformer import CrossEntropyLoss, MoEConfig, TransformerOpParallelConfig
from mindspore.parallel.nn.parallel_cell_wrapper import GradAccumulation, MicroBatchInterleaved, Pipeline, PipelineCell
from mindspore.parallel.nn.parallel_grad_reducer import PipelineGradReducer

__all__ = [
    "CrossEntropyLoss", "GradAccumulation", "MicroBatchInterleaved", "MoEConfig", "Pipeline", "PipelineCell",
    "PipelineGradReducer", "TransformerOpParallelConfig",
]  # fmt: skip
