"""Networks that see a batch in parts. Façade: re-exports only."""

from mindspore.nn.wrap.micro_batches import GradAccumulationCell as GradAccumulation
from mindspore.nn.wrap.micro_batches import MicroBatchInterleaved, PipelineCell

Pipeline = PipelineCell

__all__ = ["GradAccumulation", "MicroBatchInterleaved", "Pipeline", "PipelineCell"]
