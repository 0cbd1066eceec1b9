"""Networks that see a batch in parts. Façade: re-exports only."""

from mindspore.parallel.nn.parallel_cell_wrapper import GradAccumulation, MicroBatchInterleaved, Pipeline, PipelineCell
from mindspore.parallel.nn.parallel_grad_reducer import PipelineGradReducer

__all__ = ["GradAccumulation", "MicroBatchInterleaved", "Pipeline", "PipelineCell", "PipelineGradReducer"]
