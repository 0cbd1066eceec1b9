"""Schedulers: they change the learning rates of an optimizer between steps or epochs.

Call `step()` after each epoch. `last_epoch` counts the calls; `get_lr` computes the next rates from the current ones
where a rule can be stated so (then several schedulers may work on one optimizer), from the initial ones otherwise.
`step(epoch)` jumps to an epoch.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.experimental.optim.optimizer import Optimizer
from mindspore.prims import values


def _either(condition: Any, then: Any, otherwise: Any) -> Any:
    """`then` if the condition holds, else `otherwise`; both are functions. In a graph both are computed."""
    if values.is_symbolic(condition):
        return ops.select(condition, _float(then()), _float(otherwise()))
    return then() if bool(condition) else otherwise()


def _float(value: Any) -> Any:
    return value if isinstance(value, Tensor) else Tensor(value, mstype.float32)


def _check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(
            f"'optimizer' must be an Optimizer of mindspore.experimental.optim, but got {type(optimizer).__name__}."
        )


def _check_int(owner: str, name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{owner}', '{name}' must be int, but got {type(value).__name__}.")


def _check_float(owner: str, name: str, value: object) -> None:
    if not isinstance(value, float):
        raise TypeError(f"For '{owner}', '{name}' must be float, but got {type(value).__name__}.")


class LRScheduler:
    """Base of schedulers: subclasses define `get_lr`, which returns one rate per parameter group.

    Args:
        optimizer: whose `param_groups` are changed.
        last_epoch: where to resume; -1 to begin.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.experimental import optim
        >>> class Halving(optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr * 0.5 ** self.last_epoch for lr in self.base_lrs]
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> scheduler = Halving(optim.SGD([weight], lr=1.0))
        >>> _ = scheduler.step()
        >>> scheduler.get_last_lr()[0].asnumpy().item()
        0.5
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        _check_optimizer(optimizer)
        _check_int(type(self).__name__, "last_epoch", last_epoch)
        if last_epoch < -1:
            raise ValueError(f"'last_epoch' must be at least -1, but got {last_epoch}.")
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"].value())
            elif "initial_lr" not in group:
                raise KeyError(f"'initial_lr' must be in param_groups[{i}] to resume from epoch {last_epoch}.")
        self.optimizer = optimizer
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._last_lr = list(optimizer.lrs)
        self.groups_num = len(optimizer.param_groups)
        name = "last_epoch_" + type(self).__name__
        self.last_epoch = Parameter(Tensor(last_epoch, mstype.float32), name=name)
        self.step()

    def get_lr(self) -> list:
        """The rates of the epoch `last_epoch`, one per group; subclasses define it."""
        raise NotImplementedError(f"'get_lr' of the scheduler {type(self).__name__} is not defined.")

    def get_last_lr(self) -> list:
        """The current rates."""
        return [lr.value() for lr in self._last_lr]

    def step(self, epoch: Any = None) -> bool:
        """Go to the next epoch, or to `epoch`, and set the rates."""
        if epoch is None:
            ops.assign_add(self.last_epoch, 1.0)
            rates = self.get_lr()
        else:
            ops.assign(self.last_epoch, epoch)
            closed_form = getattr(self, "_get_closed_form_lr", self.get_lr)
            rates = closed_form()
        for holder, rate in zip(self._last_lr, rates):
            ops.assign(holder, rate)
        return True

    def _scaled(self, factor: Any) -> list:
        """The current rates times a factor."""
        return [lr * factor for lr in self._last_lr]


class StepLR(LRScheduler):
    """Multiply by `gamma` every `step_size` epochs.

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [1.0, 0.5, 0.5]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        _check_int("StepLR", "step_size", step_size)
        _check_float("StepLR", "gamma", gamma)
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        due = ops.logical_and(self.last_epoch > 0, ops.equal(self.last_epoch % self.step_size, 0.0))
        return self._scaled(_either(due, lambda: self.gamma, lambda: 1.0))

    def _get_closed_form_lr(self) -> list:
        factor = ops.pow(self.gamma, ops.floor(self.last_epoch / self.step_size))
        return [lr * factor for lr in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiply by `gamma` at each of the epochs in `milestones` (twice where one is named twice).

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 2], gamma=0.5)
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.5, 0.25, 0.25]
    """

    def __init__(self, optimizer: Optimizer, milestones: list[int], gamma: float = 0.1, last_epoch: int = -1):
        if not isinstance(milestones, list):
            raise TypeError(f"For 'MultiStepLR', 'milestones' must be a list, but got {type(milestones).__name__}.")
        for milestone in milestones:
            _check_int("MultiStepLR", "milestones", milestone)
        if isinstance(gamma, bool) or not isinstance(gamma, (float, int)):
            raise TypeError(f"For 'MultiStepLR', 'gamma' must be float or int, but got {type(gamma).__name__}.")
        self.milestones = Counter(milestones)
        self.gamma = float(gamma)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        return self._scaled(self._power(ops.equal))

    def _get_closed_form_lr(self) -> list:
        factor = self._power(ops.greater_equal)
        return [lr * factor for lr in self.base_lrs]

    def _power(self, reached: Callable) -> Any:
        """gamma to the number of milestones that stand in the relation `reached` to the epoch."""
        hits = [n * ops.cast(reached(self.last_epoch, float(m)), mstype.float32) for m, n in self.milestones.items()]
        return ops.pow(self.gamma, sum(hits, Tensor(0.0)))


class ConstantLR(LRScheduler):
    """Multiply by `factor` for the first `total_iters` epochs.

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.5, 1.0, 1.0]
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1):
        if not 0 <= factor <= 1:
            raise ValueError(f"For 'ConstantLR', 'factor' must be between 0 and 1, but got {factor}.")
        _check_int("ConstantLR", "total_iters", total_iters)
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        epoch = self.last_epoch
        later = lambda: _either(ops.equal(epoch, float(self.total_iters)), lambda: 1.0 / self.factor, lambda: 1.0)
        return self._scaled(_either(ops.equal(epoch, 0.0), lambda: self.factor, later))

    def _get_closed_form_lr(self) -> list:
        factor = _either(self.last_epoch >= self.total_iters, lambda: 1.0, lambda: self.factor)
        return [lr * factor for lr in self.base_lrs]


class LinearLR(LRScheduler):
    """Multiply by a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs.

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ):
        if not 0 < start_factor <= 1:
            raise ValueError(f"For 'LinearLR', 'start_factor' must be in (0, 1], but got {start_factor}.")
        if not 0 <= end_factor <= 1:
            raise ValueError(f"For 'LinearLR', 'end_factor' must be between 0 and 1, but got {end_factor}.")
        _check_int("LinearLR", "total_iters", total_iters)
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        epoch, rise = self.last_epoch, self.end_factor - self.start_factor

        def growth() -> Any:
            return 1.0 + rise / (self.total_iters * self.start_factor + (epoch - 1.0) * rise)

        later = lambda: _either(epoch > self.total_iters, lambda: 1.0, growth)
        return self._scaled(_either(ops.equal(epoch, 0.0), lambda: self.start_factor, later))

    def _get_closed_form_lr(self) -> list:
        share = ops.minimum(self.last_epoch, float(self.total_iters)) / self.total_iters
        return [lr * (self.start_factor + (self.end_factor - self.start_factor) * share) for lr in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiply by `gamma` every epoch.

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.5, 0.25, 0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        _check_float("ExponentialLR", "gamma", gamma)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        return self._scaled(_either(ops.equal(self.last_epoch, 0.0), lambda: 1.0, lambda: self.gamma))

    def _get_closed_form_lr(self) -> list:
        return [lr * ops.pow(self.gamma, self.last_epoch) for lr in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Multiply by (1 - epoch / total_iters) ** power; 0 from epoch `total_iters` on.

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4)
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.75, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1):
        _check_float("PolynomialLR", "power", power)
        if power < 0:
            raise ValueError(f"For 'PolynomialLR', 'power' must be at least 0, but got {power}.")
        _check_int("PolynomialLR", "total_iters", total_iters)
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        epoch, end = self.last_epoch, self.total_iters
        outside = ops.logical_or(ops.equal(epoch, 0.0), epoch > end)
        ratio = lambda: ops.pow((end - epoch) / (end - epoch + 1.0), self.power)
        return self._scaled(_either(outside, lambda: 1.0, ratio))

    def _get_closed_form_lr(self) -> list:
        rest = ops.maximum(self.total_iters - self.last_epoch, 0.0) / self.total_iters
        return [lr * ops.pow(rest, self.power) for lr in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """A cosine wave between the initial rate and `eta_min`; half a wave takes `T_max` epochs.

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.5, 0.0, 0.5]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        _check_int("CosineAnnealingLR", "T_max", T_max)
        if isinstance(eta_min, bool) or not isinstance(eta_min, (float, int)):
            raise TypeError(f"For 'CosineAnnealingLR', 'eta_min' must be float or int, but got {eta_min!r}.")
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        epoch = self.last_epoch
        at_bottom = ops.equal((epoch - 1.0 - self.T_max) % (2 * self.T_max), 0.0)
        rise = (1 - math.cos(math.pi / self.T_max)) / 2  # of the step that leaves the bottom, where the ratio is 0 / 0
        ratio = (1 + ops.cos(math.pi * epoch / self.T_max)) / (1 + ops.cos(math.pi * (epoch - 1.0) / self.T_max))

        def following(base: Any, lr: Any) -> Any:
            return _either(
                at_bottom,
                lambda: lr + (base - self.eta_min) * rise,
                lambda: ratio * (lr - self.eta_min) + self.eta_min,
            )

        start = ops.equal(epoch, 0.0)
        return [
            _either(start, lambda lr=lr: lr * 1.0, lambda base=base, lr=lr: following(base, lr))
            for base, lr in zip(self.base_lrs, self._last_lr)
        ]

    def _get_closed_form_lr(self) -> list:
        height = (1 + ops.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (lr - self.eta_min) * height for lr in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine wave down to `eta_min` in `T_0` epochs, then again in T_0 * T_mult, … (Loshchilov & Hutter 2017).

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.5, 1.0, 0.5]
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0, last_epoch: int = -1):
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"For 'CosineAnnealingWarmRestarts', '{name}' must be a positive int, but got {value}."
                )
        if isinstance(eta_min, bool) or not isinstance(eta_min, (float, int)):
            raise TypeError(f"For 'CosineAnnealingWarmRestarts', 'eta_min' must be float or int, but got {eta_min!r}.")
        self.T_0 = Parameter(Tensor(T_0, mstype.float32), name="T_0")
        self.T_i = Parameter(Tensor(T_0, mstype.float32), name="T_i")
        self.T_cur = Parameter(Tensor(last_epoch, mstype.float32), name="T_cur")
        self.T_mult = T_mult
        self.eta_min = float(eta_min)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        height = (1 + ops.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (lr - self.eta_min) * height for lr in self.base_lrs]

    def step(self, epoch: Any = None) -> bool:
        """Go to the next epoch, or to `epoch`, which may lie between two whole ones."""
        if epoch is None:
            ops.assign_add(self.T_cur, 1.0)
            restart = self.T_cur >= self.T_i
            length = self.T_i.value()
            ops.assign(self.T_cur, _either(restart, lambda: self.T_cur - length, lambda: self.T_cur + 0.0))
            ops.assign(self.T_i, _either(restart, lambda: length * self.T_mult, lambda: length + 0.0))
            ops.assign_add(self.last_epoch, 1.0)
        else:
            self._jump(float(epoch))
        for holder, rate in zip(self._last_lr, self.get_lr()):
            ops.assign(holder, rate)
        return True

    def _jump(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"'epoch' must not be negative, but got {epoch}.")
        first = float(self.T_0.asnumpy())
        if self.T_mult == 1:
            passed, length = epoch % first, first
        else:
            restarts = int(math.log(epoch / first * (self.T_mult - 1) + 1, self.T_mult))
            passed = epoch - first * (self.T_mult**restarts - 1) / (self.T_mult - 1)
            length = first * self.T_mult**restarts
        ops.assign(self.T_cur, passed)
        ops.assign(self.T_i, length)
        ops.assign(self.last_epoch, math.floor(epoch))


class CyclicLR(LRScheduler):
    """Rates that go up from `base_lr` to `max_lr` and down again (Smith 2017).

    Args:
        mode: the height of cycles: "triangular" (constant), "triangular2" (halved each cycle), or "exp_range" (times
            gamma ** step).
        scale_fn: the height as a function of the cycle, or of the step if `scale_mode` is "iterations".

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.1, max_lr=0.5, step_size_up=2)
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.3, 0.5, 0.3]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ):
        _check_optimizer(optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(
                f"For 'CyclicLR', 'mode' must be 'triangular', 'triangular2' or 'exp_range', but got {mode!r}."
            )
        low, high = self._per_group(optimizer, base_lr, "base_lr"), self._per_group(optimizer, max_lr, "max_lr")
        if last_epoch == -1:
            for rate, group in zip(low, optimizer.param_groups):
                ops.assign(group["lr"], rate)
        self.max_lrs = [_float(rate) for rate in high]
        down = step_size_up if step_size_down is None else step_size_down
        self.total_step_size = float(step_size_up) + float(down)
        self.step_up_ratio = float(step_size_up) / self.total_step_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [_float(rate) for rate in low]

    @staticmethod
    def _per_group(optimizer: Optimizer, value: Any, name: str) -> list:
        groups = len(optimizer.param_groups)
        if not isinstance(value, (list, tuple)):
            return [value] * groups
        if len(value) != groups:
            raise ValueError(
                f"For 'CyclicLR', '{name}' must have one value per group ({groups}), but got {len(value)}."
            )
        return list(value)

    def scale_fn(self, x: Any) -> Any:
        """The height of the cycle (or step) `x`."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return ops.pow(0.5, x - 1.0) if self.mode == "triangular2" else ops.pow(self.gamma, x)

    def get_lr(self) -> list:
        passed = self.last_epoch / self.total_step_size
        cycle = ops.floor(1.0 + passed)
        x = 1.0 + passed - cycle
        up = self.step_up_ratio
        height = _either(x <= up, lambda: x / up, lambda: (x - 1.0) / (up - 1.0))
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch.value())
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs)]


class LambdaLR(LRScheduler):
    """The initial rate times `lr_lambda(epoch)`; a list has one function per group.

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.5, 0.3333, 0.25]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1):
        self.lr_lambdas = _functions(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        return [lr * function(self.last_epoch) for function, lr in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(LRScheduler):
    """The current rate times `lr_lambda(epoch)`; a list has one function per group.

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.5, 0.25, 0.125]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1):
        self.lr_lambdas = _functions(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        started = self.last_epoch > 0
        return [
            lr * _either(started, lambda function=function: function(self.last_epoch), lambda: 1.0)
            for function, lr in zip(self.lr_lambdas, self._last_lr)
        ]


def _functions(optimizer: Any, lr_lambda: Any) -> list[Callable]:
    _check_optimizer(optimizer)
    groups = len(optimizer.param_groups)
    if not isinstance(lr_lambda, (list, tuple)):
        return [lr_lambda] * groups
    if len(lr_lambda) != groups:
        raise ValueError(f"'lr_lambda' must have one function per group ({groups}), but got {len(lr_lambda)}.")
    return list(lr_lambda)


class SequentialLR:
    """Schedulers one after the other: the next one takes over at each of the epochs in `milestones`.

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> first = optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> second = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> scheduler = optim.lr_scheduler.SequentialLR(optimizer, [first, second], milestones=[2])
        >>> rates = []
        >>> for _ in range(3):
        ...     _ = scheduler.step()
        ...     rates.append(round(float(scheduler.get_last_lr()[0]), 4))
        >>> rates
        [0.5, 1.0, 0.5]
    """

    def __init__(self, optimizer: Optimizer, schedulers: list, milestones: list[int], last_epoch: int = -1):
        for i, scheduler in enumerate(schedulers):
            if scheduler.optimizer is not optimizer:
                raise ValueError(f"For 'SequentialLR', schedulers[{i}] belongs to another optimizer.")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "For 'SequentialLR', there must be one scheduler more than milestones, but got "
                f"{len(schedulers)} and {len(milestones)}."
            )
        self.optimizer = optimizer
        self._schedulers = schedulers
        self.milestones = milestones
        self.last_epoch = Parameter(Tensor(last_epoch + 1, mstype.float32), name="last_epoch_SequentialLR")
        for group in optimizer.param_groups:
            ops.assign(group["lr"], group["initial_lr"])
        for scheduler in schedulers:  # undo the step each of them made when it was built
            ops.assign_sub(scheduler.last_epoch, 1.0)
        schedulers[0].step()
        self._last_lr = schedulers[0]._last_lr

    def step(self) -> None:
        """Go to the next epoch."""
        ops.assign_add(self.last_epoch, 1.0)
        epoch = int(self.last_epoch.asnumpy())
        index = bisect_right(self.milestones, epoch)
        if index > 0 and self.milestones[index - 1] == epoch:
            self._schedulers[index].step(0)
        else:
            self._schedulers[index].step()

    def get_last_lr(self) -> list:
        """The current rates."""
        return [lr.value() for lr in self._last_lr]


class ReduceLROnPlateau:
    """Multiply by `factor` when a metric has not improved for more than `patience` epochs.

    Args:
        mode: "min" or "max": whether smaller or larger metrics are better.
        threshold: by how much a metric must beat the best one, as a share of it ("rel") or absolutely ("abs").
        cooldown: how many epochs to wait after a change.
        min_lr: the least rate, or a list with one per group.
        eps: smaller changes are not made.

    Examples:
        >>> optim = ms.experimental.optim
        >>> optimizer = optim.SGD([Parameter(Tensor([1.0]), name="weight")], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
        >>> for loss in (1.0, 2.0):
        ...     _ = scheduler.step(loss)
        >>> float(scheduler.get_last_lr()[0])
        0.5
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ):
        if factor >= 1.0:
            raise ValueError(f"For 'ReduceLROnPlateau', 'factor' must be less than 1.0, but got {factor}.")
        _check_optimizer(optimizer)
        if mode not in ("min", "max"):
            raise ValueError(f"For 'ReduceLROnPlateau', 'mode' must be 'min' or 'max', but got {mode!r}.")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"For 'ReduceLROnPlateau', 'threshold_mode' must be 'rel' or 'abs', but got {threshold_mode!r}."
            )
        least = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * len(optimizer.param_groups)
        if len(least) != len(optimizer.param_groups):
            raise ValueError(
                "For 'ReduceLROnPlateau', 'min_lr' must have one value per group "
                f"({len(optimizer.param_groups)}), but got {len(least)}."
            )
        self.optimizer = optimizer
        self.min_lrs = [_float(float(rate)) for rate in least]
        self.mode, self.factor, self.patience, self.eps = mode, factor, patience, eps
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        worst = float("inf") if mode == "min" else float("-inf")
        self.best = Parameter(Tensor(worst, mstype.float32), name="best")
        self.cooldown_counter = Parameter(Tensor(0, mstype.float32), name="cooldown_counter")
        self.wait = Parameter(Tensor(0, mstype.float32), name="wait")
        self.last_epoch = Parameter(Tensor(0, mstype.int32), name="last_epoch_ReduceLROnPlateau")
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def step(self, metrics: Any) -> bool:
        """Take note of an epoch's metric."""
        current = ops.cast(_float(metrics), mstype.float32)
        ops.assign_add(self.last_epoch, 1)
        improved = self._is_improvement(current, self.best)
        ops.assign(self.best, ops.select(improved, current, self.best))
        ops.assign(self.wait, (self.wait + 1.0) * self._where_not(improved))
        cooling = self.in_cooldown()
        ops.assign(self.cooldown_counter, ops.maximum(self.cooldown_counter - 1.0, 0.0))
        ops.assign(self.wait, self.wait * self._where_not(cooling))
        exhausted = self.wait > self.patience
        self._reduce_lr(exhausted)
        pause = Tensor(float(self.cooldown), mstype.float32)
        ops.assign(self.cooldown_counter, ops.select(exhausted, pause, self.cooldown_counter))
        ops.assign(self.wait, self.wait * self._where_not(exhausted))
        return True

    @staticmethod
    def _where_not(condition: Any) -> Any:
        """0 where the condition holds, 1 elsewhere."""
        return 1.0 - ops.cast(condition, mstype.float32)

    def _reduce_lr(self, due: Any) -> None:
        for lr, least in zip(self._last_lr, self.min_lrs):
            lowered = ops.maximum(lr * self.factor, least)
            change = ops.logical_and(due, lr > lowered + self.eps)
            ops.assign(lr, ops.select(change, lowered, lr))

    def in_cooldown(self) -> Any:
        """Whether the scheduler waits after a change."""
        return self.cooldown_counter > 0

    def _is_improvement(self, current: Any, best: Any) -> Any:
        sign = -1.0 if self.mode == "min" else 1.0
        margin = sign * self.threshold
        bar = best * (1.0 + margin) if self.threshold_mode == "rel" else best + margin
        return current < bar if self.mode == "min" else current > bar

    def get_last_lr(self) -> list:
        """The current rates."""
        return [lr.value() for lr in self._last_lr]


__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR",
]  # fmt: skip
