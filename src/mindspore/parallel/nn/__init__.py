"""Networks that see a batch in parts. Façade: re-exports only."""

from mindspore.nn.transformer import CrossEntropyLoss, MoEConfig, TransformerOpParallelConfig
from mindspore.nn.wrap.grad_reducer import PipelineGradReducer
from mindspore.nn.wrap.micro_batches import GradAccumulationCell as GradAccumulation
from mindspore.nn.wrap.micro_batches import MicroBatchInterleaved, PipelineCell

Pipeline = PipelineCell

__all__ = [
    "CrossEntropyLoss", "GradAccumulation", "MicroBatchInterleaved", "MoEConfig", "Pipeline", "PipelineCell",
    "PipelineGradReducer", "TransformerOpParallelConfig",
]  # fmt: skip
