"""Ways to train faster on Ascend clusters that are not carried out here; each says what to use instead."""

from __future__ import annotations

from typing import Any

from mindspore.nn.cell import Cell


class AdaSum(Cell):
    """Refused: gradients of devices are combined by a wrapper of the optimizer."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            "'boost.AdaSum' works on the links of an Ascend cluster; wrap the optimizer in nn.AdaSumByGradWrapCell or "
            "nn.AdaSumByDeltaWeightWrapCell instead."
        )


class DimReduce(Cell):
    """Refused: training goes on in the full space of the parameters."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            "'boost.DimReduce' trains in a subspace found on an Ascend cluster; train with nn.TrainOneStepCell instead."
        )


class GroupLossScaleManager(Cell):
    """Refused: a loss has one scale."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            "'boost.GroupLossScaleManager' scales groups of layers by kernels of Ascend processors; use "
            "amp.DynamicLossScaleManager instead."
        )
