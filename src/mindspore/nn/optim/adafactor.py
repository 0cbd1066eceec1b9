"""Adafactor: second moments of matrices kept as row and column means (Shazeer & Stern 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class AdaFactor(Optimizer):
    """Adam's idea in memory that grows with the sum, not the product, of a matrix's sides.

    Args:
        learning_rate: None with `relative_step`, else the rate.
        eps: added to squared gradients; the least size of a parameter for `scale_parameter`.
        clip_threshold: the largest root mean square of an update, before it is multiplied by the rate.
        decay_rate: the second moments decay with 1 - step ** -decay_rate.
        beta1: decay of the mean of updates; 0 or None for none.
        scale_parameter: multiply the rate by the size of the parameter.
        relative_step: the rate is min(0.01, 1 / sqrt(step)).
        warmup_init: with `relative_step`: begin with 1e-6 * step in place of 0.01.
        compression: keep the second moments of vectors in float16.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.AdaFactor(nn.Dense(2, 1).trainable_params(), learning_rate=None)
        >>> len(optimizer.parameters)
        2
    """

    _support_parallel_optimizer = True
    decoupled_decay = True

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = None,
        eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = 0.8,
        beta1: float | None = 0.9,
        weight_decay: float = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
        compression: bool = False,
        loss_scale: float = 1.0,
    ):
        if (learning_rate is None) != bool(relative_step):
            raise ValueError(
                "For 'AdaFactor', give either a 'learning_rate' or relative_step=True, but got "
                f"learning_rate={learning_rate} and relative_step={relative_step}."
            )
        if warmup_init and not relative_step:
            raise ValueError("For 'AdaFactor', 'warmup_init' needs relative_step=True.")
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        self._check_numbers(eps, clip_threshold, decay_rate, weight_decay)
        self.eps, self.clip_threshold, self.decay_rate = tuple(eps), clip_threshold, decay_rate
        # rates from lists and schedules are final
        self.scale_parameter = check.flag(self.cls_name, "scale_parameter", scale_parameter) and not self.dynamic_lr
        self.relative_step = check.flag(self.cls_name, "relative_step", relative_step)
        self.warmup_init = warmup_init
        self.compression = check.flag(self.cls_name, "compression", compression)
        self.beta1 = check.non_negative_real(self.cls_name, "beta1", float(beta1 or 0.0))
        if not self.is_group:  # unlike other optimizers this one decays the parameters of normalisation layers too
            self.decay_flags = (True,) * self.param_length
        self._init_state()

    def _check_numbers(self, eps: Any, clip_threshold: Any, decay_rate: Any, weight_decay: Any) -> None:
        if not isinstance(eps, (list, tuple)):
            raise TypeError(f"For 'AdaFactor', 'eps' must be a list or tuple, but got {type(eps).__name__}.")
        if len(eps) != 2:
            raise ValueError(f"For 'AdaFactor', 'eps' must have 2 elements, but got {len(eps)}.")
        for i, value in enumerate(eps):
            check.non_negative_real(self.cls_name, f"eps{i}", value)
        check.non_negative_real(self.cls_name, "clip_threshold", clip_threshold)
        check.open_fraction(self.cls_name, "decay_rate", decay_rate)
        if not 0 <= weight_decay < 1:
            raise ValueError(f"For 'AdaFactor', 'weight_decay' must be in [0.0, 1.0), but got {weight_decay}.")

    def _init_state(self) -> None:
        ranks = [p.ndim for p in self.parameters]
        self.factored = tuple(n > 1 for n in ranks)
        self.use_first_moment = self.beta1 > 0
        if self.use_first_moment:
            self.exp_avg = self.slots("exp_avg")
        self.exp_avg_sq_row = self._named("exp_avg_sq_row_", [range(n - 1) if n > 1 else None for n in ranks])
        self.exp_avg_sq_col = self._named("exp_avg_sq_col_", [(*range(n - 2), n - 1) if n > 1 else None for n in ranks])
        self.exp_avg_sq = self._named("exp_avg_sq_", [None if n > 1 else range(n) for n in ranks], self.compression)
        self.step = Parameter(ops.zeros((1,), mstype.float32), name="afactor_step")

    def _named(self, prefix: str, dims: list[Sequence[int] | None], half: bool = False) -> ParameterTuple:
        """States that have these dimensions of the parameters; None: a state that is not used."""
        states = []
        for p, kept in zip(self.parameters, dims):
            shape = (1,) if kept is None else tuple(p.shape[d] for d in kept)
            state = Parameter(ops.zeros(shape, mstype.float16 if half and p.ndim <= 1 else p.dtype), name=prefix + p.name)
            if kept is not None:
                state.param_info.follow(p.param_info, kept)
            states.append(state)
        return ParameterTuple(states)

    def before_updates(self) -> None:
        ops.assign_add(self.step, 1.0)

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        p, g = ops.cast(parameter, mstype.float32), ops.cast(gradient, mstype.float32)
        rate = self._rate(p, lr)
        direction = g * self._inverse_root(index, g * g + self.eps[0])
        step = direction / ops.maximum(_rms(direction) / self.clip_threshold, 1.0) * rate
        if self.use_first_moment:
            mean = self.exp_avg[index]
            step = ops.cast(mean, mstype.float32) * self.beta1 + step * (1 - self.beta1)
            ops.assign(mean, ops.cast(step, mean.dtype))
        decay = self.decay_of(index) / self.loss_scale  # it goes to the parameter, not to scaled gradients
        ops.assign(parameter, ops.cast(p - p * decay * rate - step, parameter.dtype))

    def _rate(self, parameter: Tensor, lr: Tensor) -> Any:
        if self.relative_step:
            count = self.step.reshape(())
            lr = ops.minimum(1e-6 * count if self.warmup_init else 1e-2, 1.0 / ops.sqrt(count))
        return lr * ops.maximum(_rms(parameter), self.eps[1]) if self.scale_parameter else lr

    def _inverse_root(self, index: int, squares: Tensor) -> Any:
        """1 / sqrt of the second moments, which are updated with `squares`."""
        beta2 = 1.0 - ops.pow(self.step.reshape(()), -self.decay_rate)
        if not self.factored[index]:
            return 1.0 / ops.sqrt(_averaged(self.exp_avg_sq[index], squares, beta2))
        rows = _averaged(self.exp_avg_sq_row[index], squares.mean(-1), beta2)
        columns = _averaged(self.exp_avg_sq_col[index], squares.mean(-2), beta2)
        row_factor = 1.0 / ops.sqrt(rows / rows.mean(-1, True))
        return ops.expand_dims(row_factor, -1) * ops.expand_dims(1.0 / ops.sqrt(columns), -2)


def _averaged(state: Parameter, value: Tensor, decay: Tensor) -> Any:
    """Move the running mean `state` towards `value`; returns it."""
    ops.assign(state, ops.cast(ops.cast(state, mstype.float32) * decay + value * (1.0 - decay), state.dtype))
    return ops.cast(state, mstype.float32)


def _rms(x: Tensor) -> Any:
    return ops.sqrt(ops.square(x).mean())


__all__ = ["AdaFactor"]
