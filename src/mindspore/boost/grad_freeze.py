"""Gradient freezing: in some steps only the later layers are trained, so the backward pass ends early."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from mindspore import ops
from mindspore.boost.base import ParameterProcess
from mindspore.boost.grad_accumulation import GradientAccumulation
from mindspore.common.parameter import Parameter
from mindspore.nn.cell import Cell
from mindspore.nn.containers import CellList
from mindspore.nn.layer.basic import Identity
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.nn.wrap.grad_reducer import DistributedGradReducer

CONTINUOUS_STRATEGY, INTERVAL_STRATEGY = 0, 1


class FreezeOpt(Cell):
    """Optimizers of the same kind, one for each set of layers that are trained together.

    Args:
        opt: the optimizer to make them like.
        train_parameter_groups: the parameters (or groups) of each; by default those of `opt`, and of its later halves.
        train_strategy: which of them makes each step.

    Examples:
        >>> from mindspore import boost, nn
        >>> net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 2))
        >>> later = [{"params": net[1].trainable_params()}]
        >>> optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        >>> frozen = boost.FreezeOpt(optimizer, [[{"params": net.trainable_params()}], later], [0, 1])
        >>> [len(opt.parameters) for opt in frozen.opts]
        [4, 2]
    """

    def __init__(self, opt: Any, train_parameter_groups: Any = None, train_strategy: Any = None):
        super().__init__(auto_prefix=False)
        if not isinstance(opt, Optimizer):
            raise TypeError(f"For 'FreezeOpt', 'opt' must be an Optimizer, but got {type(opt).__name__}.")
        given, rate = opt.init_params["params"], opt.init_learning_rate
        if train_parameter_groups is None:
            parameters = list(opt.parameters)
            halves = [parameters, parameters[len(parameters) // 2 :]]
            train_parameter_groups = [ParameterProcess.generate_group_params(part, given) for part in halves]
        if not isinstance(train_parameter_groups, (tuple, list)) or not train_parameter_groups:
            raise TypeError("For 'FreezeOpt', 'train_parameter_groups' must be a tuple or list of parameter groups.")
        kind: Any = type(opt)
        rate = opt.learning_rate if rate is None else rate
        made = [kind(params=group, learning_rate=rate, **opt.init_args) for group in train_parameter_groups]
        self.opts = CellList(made, auto_prefix=False)
        self.parameters = opt.parameters
        self.train_strategy = list(train_strategy) if train_strategy is not None else None
        self.opt_index = 0

    def construct(self, gradients: Any, index: int = 0) -> Any:
        """A step of one of the optimizers."""
        return self.opts[index](gradients)


class GradientFreeze:
    """Which layers are trained in which steps.

    Args:
        param_groups: how many sets of layers there are: all of them, then fewer and fewer of the first ones.
        freeze_type: 0: sets follow each other after a run of full steps; 1: at random between full steps.
        freeze_p: the share of frozen steps.
        total_steps: how many steps are planned.

    Examples:
        >>> from mindspore import boost
        >>> boost.GradientFreeze(3, 0, 0.5, 4).generate_freeze_index_sequence(3, 0, 0.5, 4)
        [0, 0, 1, 2]
    """

    def __init__(self, param_groups: int, freeze_type: int, freeze_p: float, total_steps: int):
        self._param_groups, self._freeze_type = param_groups, freeze_type
        self._freeze_p, self._total_steps = freeze_p, total_steps

    def split_parameters_groups(self, net: Cell, freeze_para_groups_number: int) -> list[list[Parameter]]:
        """Sets of parameters: all, and ever fewer of the first layers; what normalises or shifts stays with its layer."""
        layers: list[list[Parameter]] = []
        for parameter in net.trainable_params():
            belongs = "bn" in parameter.name or "bias" in parameter.name
            if layers and (belongs or len(layers[-1]) < 3):
                layers[-1].append(parameter)
            else:
                layers.append([parameter])
        stride = len(layers) // freeze_para_groups_number
        return [list(itertools.chain(*layers[i * stride :])) for i in range(freeze_para_groups_number)]

    def generate_freeze_index_sequence(
        self, parameter_groups_number: int, freeze_strategy: int, freeze_p: float, total_steps: int
    ) -> list[int]:
        """For each step the number of the set that is trained; 0 is all."""
        steps = int(total_steps * 1.01)
        if parameter_groups_number <= 1:
            return [0] * steps
        if freeze_strategy == CONTINUOUS_STRATEGY:
            full = int(freeze_p * (parameter_groups_number - 1) // (1 - freeze_p) + 0.5)
            round_ = [0] * full + list(range(1, parameter_groups_number))
            return round_ * -(-steps // len(round_))
        if freeze_strategy == INTERVAL_STRATEGY:
            return _at_random(parameter_groups_number, freeze_p, steps)
        raise ValueError(f"Unsupported freezing training strategy '{freeze_strategy}'")

    def freeze_generate(self, network: Cell, optimizer: Cell) -> tuple[Cell, FreezeOpt]:
        """The network, and the optimizer that freezes."""
        sets = self.split_parameters_groups(network, self._param_groups)
        given: Any = optimizer.init_params["params"]
        groups = [ParameterProcess.generate_group_params(parameters, given) for parameters in sets]
        order = self.generate_freeze_index_sequence(
            self._param_groups, self._freeze_type, self._freeze_p, self._total_steps
        )
        return network, FreezeOpt(optimizer, groups, order)


def _at_random(groups: int, freeze_p: float, steps: int) -> list[int]:
    """Full steps, and between them sets drawn at random, the larger ones more often."""
    choices = np.arange(groups - 1, 0, -1)
    chances = np.arange(1, groups) / np.arange(1, groups).sum()
    order, frozen = [0], 0
    while len(order) < steps:
        freeze = frozen / len(order) < 1 - freeze_p
        order.append(int(np.random.choice(choices, p=chances)) if freeze else 0)
        frozen += freeze
    return order


class _FrozenStep(Cell):
    """A training step of the parameters of one optimizer."""

    def __init__(
        self, network: Cell, sens: Any, grad: Any, reducer: Cell, accumulate: bool, optimizer: Cell, steps: int
    ):
        super().__init__(auto_prefix=False)
        self.network, self.grad, self.grad_reducer, self.optimizer, self.sens = network, grad, reducer, optimizer, sens
        self.parameters = optimizer.parameters
        self.accumulation = GradientAccumulation(steps, optimizer) if accumulate else None

    def construct(self, *inputs: Any) -> Any:
        loss = self.network(*inputs)
        scale = ops.fill(loss.dtype, loss.shape, self.sens)
        grads = self.grad_reducer(self.grad(self.network, self.parameters)(*inputs, scale))
        if self.accumulation is not None:
            return self.accumulation(loss, grads)
        return ops.depend(loss, self.optimizer(grads))


def freeze_cell(
    reducer_flag: bool, network: Cell, optimizer: FreezeOpt, sens: float, grad: Any, use_grad_accumulation: bool,
    mean: bool | None = None, degree: int | None = None, max_accumulation_step: int = 1,
) -> tuple[Cell, ...]:  # fmt: skip
    """A training step for each optimizer of a `FreezeOpt`.

    Examples:
        >>> from mindspore import boost, nn, ops
        >>> net = nn.Dense(2, 2)
        >>> optimizer = boost.FreezeOpt(nn.Momentum(net.trainable_params(), 0.1, 0.9))
        >>> grad = ops.GradOperation(get_by_list=True, sens_param=True)
        >>> len(boost.freeze_cell(False, net, optimizer, 1.0, grad, False))
        2
    """
    steps = []
    for opt in optimizer.opts:
        reducer: Any = Identity()
        if reducer_flag:
            reducer = DistributedGradReducer(ParameterProcess().assign_parameter_group(opt.parameters), mean, degree)
        steps.append(_FrozenStep(network, sens, grad, reducer, use_grad_accumulation, opt, max_accumulation_step))
    return tuple(steps)


__all__ = ["FreezeOpt", "GradientFreeze", "freeze_cell"]
