"""Mixture of experts: each token is sent to its best experts, up to a capacity (Fedus et al. 2021, Switch Transformer)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import Dense
from mindspore.nn.transformer.feed_forward import FeedForward
from mindspore.nn.transformer.op_parallel_config import default_moeparallel_config


@dataclass
class MoEConfig:
    """How many experts there are, how many see each token, and how many tokens each may see."""

    expert_num: int = 1
    capacity_factor: float = 1.1
    aux_loss_factor: float = 0.05
    num_experts_chosen: int = 1
    expert_group_size: int | None = None
    group_wise_a2a: bool = False
    comp_comm_parallel: bool = False
    comp_comm_parallel_degree: int = 2

    def __post_init__(self) -> None:
        if self.expert_num < 1 or self.num_experts_chosen < 1 or self.num_experts_chosen > self.expert_num:
            raise ValueError(
                f"For 'MoEConfig', 'num_experts_chosen' must be in range [1, {self.expert_num}], "
                f"but got {self.num_experts_chosen}."
            )
        if self.capacity_factor < 1 or self.aux_loss_factor <= 0:
            raise ValueError(
                "For 'MoEConfig', 'capacity_factor' must be at least 1 and 'aux_loss_factor' positive, "
                f"but got {self.capacity_factor} and {self.aux_loss_factor}."
            )


default_moe_config = MoEConfig()


def _check_moe_config(moe_config: Any = None, parallel_config: Any = None) -> None:
    if not isinstance(moe_config, MoEConfig):
        raise TypeError(f"'moe_config' must be a MoEConfig, but got {type(moe_config).__name__}.")
    if parallel_config is not None and moe_config.expert_num % getattr(parallel_config, "expert_parallel", 1):
        raise ValueError("'expert_num' must be a multiple of 'expert_parallel'.")


def calculate_expert_capacity(k: int, tokens_per_group: int, capacity_factor: float, expert_dim: int) -> int:
    """The number of tokens an expert may see."""
    return math.ceil(k * tokens_per_group * capacity_factor / expert_dim)


class TopkRouter(Cell):
    """From router logits (groups, tokens, experts): where each token goes, with which weight, and the balance loss."""

    def __init__(self, d_model: int, moe_config: MoEConfig, training: bool = True, parallel_config: Any = None):
        super().__init__()
        self.config = moe_config

    def construct(self, router_logits: Tensor) -> Any:
        experts, chosen = self.config.expert_num, self.config.num_experts_chosen
        tokens = router_logits.shape[1]
        capacity = calculate_expert_capacity(chosen, tokens, self.config.capacity_factor, experts)
        shares = ops.softmax(router_logits, -1)
        left, taken, combine, balance = shares, None, None, None
        for _ in range(chosen):
            best = ops.argmax(left, -1)
            mask = ops.cast(ops.equal(ops.expand_dims(best, -1), _numbers(experts)), mstype.float32)
            load = ops.ReduceMean()(mask, 1) * ops.ReduceMean()(shares, 1)
            loss = ops.ReduceMean()(load, ()) * float(experts * experts)
            balance = loss if balance is None else balance + loss
            place = (ops.cumsum(mask, 1) - mask) * mask
            if taken is not None:
                place = place + ops.expand_dims(taken, 1) * mask
            mask = mask * ops.cast(ops.less(place, float(capacity)), mstype.float32)
            taken = ops.ReduceSum()(mask, 1) if taken is None else taken + ops.ReduceSum()(mask, 1)
            slot = ops.cast(
                ops.equal(ops.expand_dims(ops.ReduceSum()(place, -1), -1), _numbers(capacity)), mstype.float32
            )
            weight = ops.expand_dims(mask * shares, -1) * ops.expand_dims(slot, 2)
            combine = weight if combine is None else combine + weight
            left = left * (1.0 - mask)
        if chosen > 1:
            total = ops.ReduceSum(True)(combine, (2, 3))
            combine = combine / (total + 1e-9)
        dispatch = ops.cast(ops.greater(combine, 0.0), mstype.float32)
        return dispatch, combine, balance


def _numbers(count: int) -> Tensor:
    return Tensor(np.arange(count), mstype.int64)


class Router(Cell):
    """The logits of the experts per token, and the policy that reads them."""

    def __init__(
        self, d_model: int, moe_config: MoEConfig, routing_policy: Any = None, training: bool = True,
        parallel_config: Any = None,
    ):  # fmt: skip
        super().__init__()
        self.dense = Dense(d_model, moe_config.expert_num, has_bias=False)
        self.router = routing_policy or TopkRouter(d_model, moe_config, training, parallel_config)

    def construct(self, input_tensor: Any) -> Any:
        return self.router(self.dense(ops.cast(input_tensor, mstype.float32)))


class MoE(Cell):
    """A feed-forward layer made of experts; gives the output and the balance loss."""

    def __init__(
        self, hidden_size: int, ffn_hidden_size: int, dropout_rate: float, hidden_act: Any = "gelu",
        param_init_type: Any = mstype.float32, moe_config: MoEConfig = default_moe_config,
        parallel_config: Any = default_moeparallel_config,
    ):  # fmt: skip
        super().__init__()
        self.config, self.hidden_size = moe_config, hidden_size
        self.ffn = FeedForward(
            hidden_size, ffn_hidden_size, dropout_rate, hidden_act, moe_config.expert_num,
            param_init_type=param_init_type,
        )  # fmt: skip
        self.router = Router(hidden_size, moe_config, parallel_config=parallel_config)

    def construct(self, input_tensor: Tensor) -> Any:
        shape = input_tensor.shape
        x = ops.reshape(input_tensor, (1, -1, self.hidden_size))
        dispatch, combine, balance = self.router(x)
        tokens = x.shape[1]
        places = dispatch.shape[2] * dispatch.shape[3]
        dispatch = ops.cast(ops.reshape(dispatch, (tokens, places)), x.dtype)
        given = ops.matmul(ops.swapaxes(dispatch, 0, 1), ops.reshape(x, (tokens, self.hidden_size)))
        out = self.ffn(given)
        combine = ops.cast(ops.reshape(combine, (tokens, places)), out.dtype)
        out = ops.reshape(ops.matmul(combine, out), shape)
        return out, balance * self.config.aux_loss_factor
