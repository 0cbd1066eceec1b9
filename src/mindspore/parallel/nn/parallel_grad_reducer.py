"""Gradients of pipeline training. Façade: re-exports only."""

from mindspore.nn.wrap.grad_reducer import PipelineGradReducer

__all__ = ["PipelineGradReducer"]
