"""Adafactor's update (Shazeer & Stern 2018): the squares of a matrix's gradients are kept as the means of rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.ir import AbstractTuple
from mindspore.prims import checks
from mindspore.prims.update import Update

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace


class FusedAdaFactor(Update):
    """One step of Adafactor; what the flags do not ask for keeps its value.

    Args:
        enable_scale_parameter: the rate is relative to the size of the parameter.
        enable_first_moment: steps follow a running mean of updates.
        enable_weight_decay: the parameter shrinks by rate times decay.

    Examples:
        >>> import numpy as np
        >>> import mindspore as ms
        >>> from mindspore import Parameter, Tensor, ops
        >>> def state(*shape):
        ...     return Parameter(Tensor(np.zeros(shape, np.float32)), name="state")
        >>> weight = Parameter(Tensor(np.ones((2, 2), np.float32)), name="weight")
        >>> grad = Tensor(np.ones((2, 2), np.float32))
        >>> states = (state(2, 2), state(2), state(2), state(2, 2))
        >>> _ = ops.FusedAdaFactor()((1e-30, 1e-3), 1.0, 0.9, 0.8, 0.0, 0.5, grad, weight, *states)
        >>> weight.asnumpy().tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """

    arguments: tuple[str, ...] = (
        "epsilon", "clip_threshold", "beta1", "beta2", "weight_decay", "learning_rate", "grad", "param", "exp_avg",
        "exp_avg_sq_row", "exp_avg_sq_col", "exp_avg_sq",
    )  # fmt: skip
    state = ("param", "exp_avg", "exp_avg_sq_row", "exp_avg_sq_col", "exp_avg_sq")

    def __init__(
        self,
        enable_scale_parameter: bool = False,
        enable_first_moment: bool = False,
        enable_weight_decay: bool = False,
    ):
        super().__init__(
            enable_scale_parameter=enable_scale_parameter,
            enable_first_moment=enable_first_moment,
            enable_weight_decay=enable_weight_decay,
        )

    def infer(self, *args: Any) -> Any:
        if len(args) != len(self.arguments):
            raise TypeError(f"For '{self.name}', {len(self.arguments)} arguments are needed, but got {len(args)}.")
        named = dict(zip(self.arguments, args))
        for name in (*self.state, "grad"):
            checks.tensor(self.name, name, named[name])
        shape = named["param"].shape
        wanted = {"grad": shape}
        if self.enable_first_moment:
            wanted["exp_avg"] = shape
        if len(shape) >= 2:
            wanted.update(exp_avg_sq_row=shape[:-1], exp_avg_sq_col=shape[:-2] + shape[-1:])
        else:
            wanted["exp_avg_sq"] = shape
        for name, expected in wanted.items():
            if named[name].shape != expected:
                raise ValueError(
                    f"For '{self.name}', '{name}' must have the shape {expected}, but got {named[name].shape}."
                )
        return AbstractTuple(tuple(named[name] for name in self.state))

    def step(
        self, xp: Namespace, epsilon: Any, clip: Any, beta1: Any, beta2: Any, decay: Any, rate: Any, grad: Any, param: Array,
        mean: Any, row: Array, col: Any, square: Any,
    ) -> tuple:  # fmt: skip
        if self.enable_scale_parameter:
            rate = rate * xp.maximum(epsilon[1], _rms(xp, param))
        squares = grad * grad + epsilon[0]
        if param.ndim >= 2:
            row = beta2 * row + (1 - beta2) * squares.mean(-1)
            col = beta2 * col + (1 - beta2) * squares.mean(-2)
            share = row / row.mean(-1, keepdims=True)
            update = grad / xp.sqrt(share[..., None] * col[..., None, :])
        else:
            square = beta2 * square + (1 - beta2) * squares
            update = grad / xp.sqrt(square)
        update = rate * update / xp.maximum(1.0, _rms(xp, update) / clip)
        if self.enable_first_moment:
            mean = update = beta1 * mean + (1 - beta1) * update
        if self.enable_weight_decay:
            param = param - rate * decay * param
        return param - update, mean, row, col, square


class FusedAdaFactorWithGlobalNorm(FusedAdaFactor):
    """`FusedAdaFactor` of gradients divided by a global norm, which is the last argument.

    Examples:
        >>> weight, m, rows, columns, v = (Parameter(ops.ones(s) * (s == 2), name="state") for s in (2, 1, 1, 1, 2))
        >>> step = ops.FusedAdaFactorWithGlobalNorm()
        >>> _ = step((1e-30, 1e-3), 1.0, 0.9, 0.8, 0.0, 0.5, ops.ones(2), weight, m, rows, columns, v, Tensor(2.0))
        >>> print(weight.asnumpy())
        [0.7288369 0.7288369]
    """

    arguments = (*FusedAdaFactor.arguments, "global_norm")

    def step(self, xp: Namespace, *args: Any) -> tuple:
        *given, norm = args
        given[6] = given[6] / norm
        return super().step(xp, *given)


def _rms(xp: Namespace, x: Any) -> Any:
    return xp.sqrt((x * x).mean())
