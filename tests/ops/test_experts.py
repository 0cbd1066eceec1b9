"""Experts of a mixture are those of one process."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops


def test_experts_of_other_processes_are_refused():
    x, experts = Tensor(np.ones((2, 3), np.float32)), Tensor([[0], [1]], ms.int32)
    with pytest.raises(ValueError, match="one process"):
        ops.moe_distribute_dispatch(x, experts, 8, 0, 8)
    with pytest.raises(ValueError, match="expert_scales"):
        ops.moe_distribute_combine(x, experts, experts, experts, Tensor(np.ones((2, 2), np.float32)), 1, 0, 2)
