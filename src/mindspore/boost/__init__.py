"""Ways to train faster: accumulated gradients, grouped parameters, centralised gradients. Façade: re-exports only."""

from mindspore.boost.base import OptimizerProcess, ParameterProcess
from mindspore.boost.boost import AutoBoost
from mindspore.boost.boost_cell_wrapper import BoostTrainOneStepCell, BoostTrainOneStepWithLossScaleCell
from mindspore.boost.grad_accumulation import GradientAccumulation

__all__ = [
    "AutoBoost", "BoostTrainOneStepCell", "BoostTrainOneStepWithLossScaleCell", "GradientAccumulation",
    "OptimizerProcess", "ParameterProcess",
]  # fmt: skip
