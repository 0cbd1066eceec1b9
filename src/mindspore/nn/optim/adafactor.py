"""Adafactor: second moments kept as row and column means (Shazeer & Stern 2018)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.nn import checks
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["AdaFactor"]


class AdaFactor(Optimizer):
    """Adafactor with optional relative steps, first moment, and scaling by the size of parameters."""

    decoupled_decay = True

    @opt_init_args_register
    def __init__(
        self, params: Any, learning_rate: Any = None, eps: tuple = (1e-30, 1e-3), clip_threshold: float = 1.0,
        decay_rate: float = 0.8, beta1: float = 0.9, weight_decay: Any = 0.0, scale_parameter: bool = True,
        relative_step: bool = True, warmup_init: bool = False, compression: bool = False, loss_scale: float = 1.0,
    ):  # fmt: skip
        if learning_rate is not None and relative_step:
            raise ValueError("For 'AdaFactor', 'learning_rate' must be None when 'relative_step' is True.")
        if learning_rate is None and not relative_step:
            raise ValueError("For 'AdaFactor', 'learning_rate' must be given when 'relative_step' is False.")
        if warmup_init and not relative_step:
            raise ValueError("For 'AdaFactor', 'relative_step' must be True when 'warmup_init' is True.")
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        if not isinstance(eps, (list, tuple)) or len(eps) != 2:
            raise ValueError(f"For 'AdaFactor', 'eps' must have 2 elements, but got {eps}.")
        self.eps = tuple(float(checks.positive("AdaFactor", "eps", e)) for e in eps)
        self.clip_threshold = checks.positive("AdaFactor", "clip_threshold", clip_threshold)
        self.decay_rate, self.beta1 = checks.positive("AdaFactor", "decay_rate", decay_rate), beta1
        self.use_first_moment = beta1 > 0
        self.scale_parameter, self.relative_step, self.warmup_init = scale_parameter, relative_step, warmup_init
        self._make_slots()
        self.afactor_step = Parameter(initializer(0, [1], mstype.float32), name="afactor_step", requires_grad=False)

    def _make_slots(self) -> None:
        def named(prefix: str, shapes: list[tuple[int, ...]]) -> ParameterTuple:
            return ParameterTuple(
                Parameter(initializer("zeros", shape, mstype.float32), name=f"{prefix}_{p.name}", requires_grad=False)
                for p, shape in zip(self.parameters, shapes)
            )

        shapes = [tuple(p.shape) for p in self.parameters]
        self.factored = tuple(len(s) >= 2 for s in shapes)
        if self.use_first_moment:
            self.exp_avg = self.slots("exp_avg")
        self.exp_avg_sq_row = named("exp_avg_sq_row", [s[:-1] if len(s) >= 2 else (1,) for s in shapes])
        self.exp_avg_sq_col = named("exp_avg_sq_col", [s[:-2] + s[-1:] if len(s) >= 2 else (1,) for s in shapes])
        self.exp_avg_sq = named("exp_avg_sq", [(1,) if len(s) >= 2 else s for s in shapes])

    def before_updates(self) -> None:
        ops.AssignAdd()(self.afactor_step, 1.0)

    def _rate(self, param: Any, lr: Any, count: Any) -> Any:
        if self.relative_step:
            most = 1e-6 * count if self.warmup_init else 1e-2
            lr = ops.minimum(ops.rsqrt(count), most)
        return lr * ops.maximum(_rms(param), self.eps[1]) if self.scale_parameter else lr

    def update(self, index: int, param: Any, grad: Any, lr: Any) -> None:
        p, g = ops.cast(param, mstype.float32), ops.cast(grad, mstype.float32)
        count = ops.reshape(self.afactor_step, ())
        lr = self._rate(p, lr, count)
        beta2 = 1.0 - ops.pow(count, -self.decay_rate)
        square = g * g + self.eps[0]
        if self.factored[index]:
            row, col = self.exp_avg_sq_row[index], self.exp_avg_sq_col[index]
            rows = row * beta2 + ops.ReduceMean()(square, -1) * (1.0 - beta2)
            cols = col * beta2 + ops.ReduceMean()(square, -2) * (1.0 - beta2)
            ops.Assign()(row, rows)
            ops.Assign()(col, cols)
            step = g * ops.expand_dims(ops.rsqrt(rows / ops.ReduceMean(True)(rows, -1)), -1)
            step = step * ops.expand_dims(ops.rsqrt(cols), -2)
        else:
            kept = self.exp_avg_sq[index]
            squares = kept * beta2 + square * (1.0 - beta2)
            ops.Assign()(kept, squares)
            step = g * ops.rsqrt(squares)
        step = step / ops.maximum(_rms(step) / self.clip_threshold, 1.0) * lr
        if self.use_first_moment:
            average = self.exp_avg[index]
            step = ops.cast(average, mstype.float32) * self.beta1 + step * (1 - self.beta1)
            ops.Assign()(average, step)
        if self.decay_flags[index]:
            p = p - p * (self.decay_of(index) * lr)
        ops.Assign()(param, p - step)


def _rms(x: Any) -> Any:
    return ops.sqrt(ops.ReduceMean()(ops.square(x), ()))
