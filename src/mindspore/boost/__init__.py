"""Ways to train faster: accumulated gradients, grouped parameters, centralised gradients. Façade: re-exports only."""

from mindspore.boost.base import OptimizerProcess, ParameterProcess
from mindspore.boost.boost import AutoBoost
from mindspore.boost.boost_cell_wrapper import BoostTrainOneStepCell, BoostTrainOneStepWithLossScaleCell
from mindspore.boost.grad_accumulation import GradientAccumulation
from mindspore.boost.grad_freeze import FreezeOpt, GradientFreeze, freeze_cell
from mindspore.boost.less_batch_normalization import LessBN
from mindspore.boost.unavailable import AdaSum, DimReduce, GroupLossScaleManager

__ms_treatment__ = "interpreted"  # by the compiler: see compiler/parse/source.py

__all__ = [
    "AdaSum", "AutoBoost", "BoostTrainOneStepCell", "BoostTrainOneStepWithLossScaleCell", "DimReduce", "FreezeOpt",
    "GradientAccumulation", "GradientFreeze", "GroupLossScaleManager", "LessBN", "OptimizerProcess", "ParameterProcess",
    "freeze_cell",
]  # fmt: skip
