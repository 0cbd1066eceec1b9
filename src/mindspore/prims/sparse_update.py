"""Update rules for gradients that name only some rows of a variable.

`prim(…, grad, indices)`: `grad` has one slice per index; slices of one index are added up. Lazy rules touch only the
rows named; `FusedSparseAdam` and the other eager ones treat all other rows as having a zero gradient. The rules
themselves are those of `update.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.gather_scatter import combine
from mindspore.prims.precision import narrow, widen
from mindspore.prims.update import (
    Adam,
    ApplyAdadelta,
    ApplyAdagrad,
    ApplyAdagradDA,
    ApplyAdagradV2,
    ApplyCenteredRMSProp,
    ApplyFtrl,
    ApplyProximalAdagrad,
    ApplyProximalGradientDescent,
    ApplyRMSProp,
    Update,
)

if TYPE_CHECKING:
    from mindspore.prims.array_types import Namespace


class SparseUpdate(Update):
    """A rule over rows. `arguments` end with "grad" and "indices"; `dense(xp, named)` is the rule over whole arrays."""

    arguments: tuple[str, ...] = ("var", "grad", "indices")
    #: rows without a gradient keep their values
    lazy = True

    def infer(self, *args: Any) -> Any:
        if len(args) != len(self.arguments):
            raise TypeError(f"For '{self.name}', {len(self.arguments)} arguments are needed, but got {len(args)}.")
        named = dict(zip(self.arguments, args))
        first, grad, indices = named[self.state[0]], named["grad"], named["indices"]
        for name in (*self.state, "grad", "indices"):
            checks.tensor(self.name, name, named[name])
        for name in self.state:
            if named[name].shape != first.shape:
                raise ValueError(
                    f"For '{self.name}', '{name}' must have the shape of '{self.state[0]}', but got {named[name].shape} "
                    f"and {first.shape}."
                )
        if indices.dtype.kind not in "ui" or indices.dtype.bits < 32:
            raise TypeError(f"For '{self.name}', 'indices' must be of int32 or int64, but got {indices.dtype}.")
        if grad.dtype is not first.dtype:
            raise TypeError(f"For '{self.name}', 'grad' must have the dtype of the variable, but got {grad.dtype}.")
        if indices.ndim != 1 or grad.ndim != first.ndim or grad.shape[:1] != indices.shape:
            raise ValueError(
                f"For '{self.name}', 'indices' must name one slice of 'grad' each, but the shapes are {indices.shape} "
                f"and {grad.shape}."
            )
        if grad.shape[1:] != first.shape[1:]:
            raise ValueError(
                f"For '{self.name}', the slices of 'grad' must fit the variable, but the shapes are {grad.shape} and "
                f"{first.shape}."
            )
        return AbstractTuple(tuple(AbstractTensor(named[n].dtype, named[n].shape) for n in self.state))

    def eval(self, xp: Namespace, *args: Any) -> Any:
        named = {n: widen(a) if hasattr(a, "dtype") else a for n, a in zip(self.arguments, args)}
        var, indices = named[self.state[0]], named.pop("indices")
        named["grad"] = combine(xp, xp.zeros_like(var), (indices,), named["grad"], "add")
        with np.errstate(all="ignore"):
            new = self.dense(xp, named)
        if self.lazy:
            hit = (
                combine(xp, xp.zeros(var.shape[:1], np.int32), (indices,), xp.ones(indices.shape, np.int32), "add") > 0
            )
            rows = xp.reshape(hit, (-1, *(1,) * (var.ndim - 1)))
            new = tuple(xp.where(rows, n, named[s]) for n, s in zip(new, self.state))
        given = dict(zip(self.arguments, args))
        return tuple(narrow(xp.asarray(n), given[s]) for n, s in zip(new, self.state))

    def dense(self, xp: Namespace, named: dict) -> tuple:
        """The new state, from arguments by name."""
        raise NotImplementedError


class FusedSparseAdam(SparseUpdate):
    """Adam; the moments of all rows decay.

    Examples:
        >>> weight, m, v = (Parameter(ops.zeros((2, 1)), name=name) for name in "wmv")
        >>> grad, rows = Tensor([[1.0]]), Tensor([1], ms.int32)
        >>> _ = ops.FusedSparseAdam()(weight, m, v, 0.9, 0.999, 0.1, 0.9, 0.999, 1e-8, grad, rows)
        >>> print(weight.asnumpy().flatten().round(4))
        [ 0.  -0.1]
    """

    arguments = (*Adam.arguments, "indices")
    state = ("var", "m", "v")
    shown = 3
    lazy = False

    def __init__(self, use_locking: bool = False, use_nesterov: bool = False):
        super().__init__(use_locking=use_locking, use_nesterov=use_nesterov)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        return Adam(False, self.use_nesterov).step(xp, *(named[n] for n in Adam.arguments))


class FusedSparseLazyAdam(FusedSparseAdam):
    """Adam of the rows named only.

    Examples:
        >>> weight, m, v = (Parameter(ops.zeros((2, 1)), name=name) for name in "wmv")
        >>> grad, rows = Tensor([[1.0]]), Tensor([1], ms.int32)
        >>> _ = ops.FusedSparseLazyAdam()(weight, m, v, 0.9, 0.999, 0.1, 0.9, 0.999, 1e-8, grad, rows)
        >>> print(weight.asnumpy().flatten().round(4))
        [ 0.  -0.1]
    """

    arguments = FusedSparseAdam.arguments
    state = FusedSparseAdam.state
    lazy = True


class SparseApplyAdagrad(SparseUpdate):
    """Adagrad of the rows named.

    Examples:
        >>> weight, accum = (Parameter(ops.zeros((2, 1)), name=name) for name in "wa")
        >>> _ = ops.SparseApplyAdagrad(lr=0.1)(weight, accum, Tensor([[2.0]]), Tensor([1], ms.int32))
        >>> accum.asnumpy().tolist()
        [[0.0], [4.0]]
    """

    arguments = ("var", "accum", "grad", "indices")
    state = ("var", "accum")
    shown = 2

    def __init__(self, lr: float, update_slots: bool = True, use_locking: bool = False):
        super().__init__(lr=lr, update_slots=update_slots, use_locking=use_locking)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        return ApplyAdagrad(self.update_slots).step(xp, named["var"], named["accum"], self.lr, named["grad"])


class SparseApplyAdagradV2(SparseUpdate):
    """Adagrad with a constant in the denominator, of the rows named.

    Examples:
        >>> weight, accum = (Parameter(ops.zeros((2, 1)), name=name) for name in "wa")
        >>> _ = ops.SparseApplyAdagradV2(lr=0.1, epsilon=1e-6)(weight, accum, Tensor([[2.0]]), Tensor([1], ms.int32))
        >>> accum.asnumpy().tolist()
        [[0.0], [4.0]]
    """

    arguments = ("var", "accum", "grad", "indices")
    state = ("var", "accum")
    shown = 2

    def __init__(self, lr: float, epsilon: float, use_locking: bool = False, update_slots: bool = True):
        super().__init__(lr=lr, epsilon=epsilon, use_locking=use_locking, update_slots=update_slots)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        rule = ApplyAdagradV2(self.epsilon, self.update_slots)
        return rule.step(xp, named["var"], named["accum"], self.lr, named["grad"])


class SparseApplyAdagradDA(SparseUpdate):
    """Adagrad by dual averaging, of the rows named.

    Examples:
        >>> weight, total, squares = (Parameter(ops.zeros((2, 1)), name=name) for name in "wts")
        >>> grad, rows = Tensor([[2.0]]), Tensor([1], ms.int32)
        >>> _ = ops.operations.SparseApplyAdagradDA()(weight, total, squares, grad, rows, 0.1, 0.0, 0.0, 1)
        >>> print(weight.asnumpy().flatten(), squares.asnumpy().flatten())
        [ 0.  -0.1] [0. 4.]
    """

    arguments = ("var", "accum", "squared", "grad", "indices", "lr", "l1", "l2", "global_step")
    state = ("var", "accum", "squared")

    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        return ApplyAdagradDA().step(xp, *(named[n] for n in ApplyAdagradDA.arguments))


class SparseApplyFtrl(SparseUpdate):
    """FTRL of the rows named.

    Examples:
        >>> weight, accum, linear = (Parameter(ops.zeros((2, 1)), name=name) for name in "wal")
        >>> _ = ops.SparseApplyFtrl(0.1, 0.0, 0.0, -0.5)(weight, accum, linear, Tensor([[2.0]]), Tensor([1], ms.int32))
        >>> accum.asnumpy().tolist()
        [[0.0], [4.0]]
    """

    arguments = ("var", "accum", "linear", "grad", "indices")
    state = ("var", "accum", "linear")
    shown = 3

    def __init__(self, lr: float, l1: float, l2: float, lr_power: float, use_locking: bool = False):
        super().__init__(lr=lr, l1=l1, l2=l2, lr_power=lr_power, use_locking=use_locking)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        var, accum, linear, grad = (named[n] for n in ("var", "accum", "linear", "grad"))
        return ApplyFtrl().step(xp, var, accum, linear, grad, self.lr, self.l1, self.l2, self.lr_power)


class SparseApplyFtrlV2(SparseUpdate):
    """FTRL of the rows named, with a shrinkage of the weights in the gradient.

    Examples:
        >>> weight, accum, linear = (Parameter(ops.zeros((2, 1)), name=name) for name in "wal")
        >>> grad, rows = Tensor([[2.0]]), Tensor([1], ms.int32)
        >>> _ = ops.SparseApplyFtrlV2(0.1, 0.0, 0.0, 0.0, -0.5)(weight, accum, linear, grad, rows)
        >>> accum.asnumpy().tolist()
        [[0.0], [4.0]]
    """

    arguments = SparseApplyFtrl.arguments
    state = SparseApplyFtrl.state
    shown = 3

    def __init__(
        self, lr: float, l1: float, l2: float, l2_shrinkage: float, lr_power: float, use_locking: bool = False
    ):
        super().__init__(lr=lr, l1=l1, l2=l2, l2_shrinkage=l2_shrinkage, lr_power=lr_power, use_locking=use_locking)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        var, accum, linear, grad = (named[n] for n in ("var", "accum", "linear", "grad"))
        shrunk = linear + 2 * self.l2_shrinkage * var
        return ApplyFtrl().step(xp, var, accum, shrunk, grad, self.lr, self.l1, self.l2, self.lr_power)


class FusedSparseFtrl(SparseApplyFtrl):
    """FTRL of the rows named.

    Examples:
        >>> weight, accum, linear = (Parameter(ops.zeros((2, 1)), name=name) for name in "wal")
        >>> _ = ops.FusedSparseFtrl(0.1, 0.0, 0.0, -0.5)(weight, accum, linear, Tensor([[2.0]]), Tensor([1], ms.int32))
        >>> accum.asnumpy().tolist()
        [[0.0], [4.0]]
    """

    arguments = SparseApplyFtrl.arguments
    state = SparseApplyFtrl.state


class SparseApplyProximalAdagrad(SparseUpdate):
    """Proximal Adagrad of the rows named.

    Examples:
        >>> weight, accum = (Parameter(ops.zeros((2, 1)), name=name) for name in "wa")
        >>> _ = ops.SparseApplyProximalAdagrad()(weight, accum, 0.1, 0.0, 0.0, Tensor([[2.0]]), Tensor([1], ms.int32))
        >>> accum.asnumpy().tolist()
        [[0.0], [4.0]]
    """

    arguments = (*ApplyProximalAdagrad.arguments, "indices")
    state = ("var", "accum")
    shown = 2

    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        return ApplyProximalAdagrad().step(xp, *(named[n] for n in ApplyProximalAdagrad.arguments))


class FusedSparseProximalAdagrad(SparseApplyProximalAdagrad):
    """Proximal Adagrad of the rows named.

    Examples:
        >>> weight, accum = (Parameter(ops.zeros((2, 1)), name=name) for name in "wa")
        >>> _ = ops.FusedSparseProximalAdagrad()(weight, accum, 0.1, 0.0, 0.0, Tensor([[2.0]]), Tensor([1], ms.int32))
        >>> print(weight.asnumpy().flatten().round(4))
        [ 0.  -0.1]
    """

    arguments = SparseApplyProximalAdagrad.arguments
    state = SparseApplyProximalAdagrad.state


class SparseApplyAdadelta(SparseUpdate):
    """Adadelta of the rows named.

    Examples:
        >>> weight, accum, updates = (Parameter(ops.zeros((2, 1)), name=name) for name in "wau")
        >>> _ = ops.SparseApplyAdadelta(1e-6)(weight, accum, updates, 0.1, 0.5, Tensor([[2.0]]), Tensor([1], ms.int32))
        >>> accum.asnumpy().tolist()
        [[0.0], [2.0]]
    """

    arguments = ("var", "accum", "accum_update", "lr", "rho", "grad", "indices")
    state = ("var", "accum", "accum_update")
    shown = 3

    def __init__(self, epsilon: float, use_locking: bool = False):
        super().__init__(epsilon=epsilon, use_locking=use_locking)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        var, accum, update, lr, rho = (named[n] for n in ("var", "accum", "accum_update", "lr", "rho"))
        return ApplyAdadelta().step(xp, var, accum, update, lr, rho, self.epsilon, named["grad"])


class SparseApplyRMSProp(SparseUpdate):
    """RMSProp of the rows named.

    Examples:
        >>> weight, square, moment = (Parameter(ops.zeros((2, 1)), name=name) for name in "wsm")
        >>> grad, rows = Tensor([[2.0]]), Tensor([1], ms.int32)
        >>> _ = ops.SparseApplyRMSProp(0.5, 0.0, 1e-6)(weight, square, moment, 0.1, grad, rows)
        >>> square.asnumpy().tolist()
        [[0.0], [2.0]]
    """

    arguments = ("var", "ms", "mom", "lr", "grad", "indices")
    state = ("var", "ms", "mom")
    shown = 3

    def __init__(self, rho: float, momentum: float, epsilon: float, use_locking: bool = False):
        for name, value in (("rho", rho), ("momentum", momentum), ("epsilon", epsilon)):
            if not isinstance(value, float):
                raise TypeError(f"For 'SparseApplyRMSProp', '{name}' must be a float, but got {value!r}.")
        if not 0 <= rho <= 1 or momentum < 0 or epsilon <= 0:
            raise ValueError(
                "For 'SparseApplyRMSProp', 'rho' must be in [0, 1], 'momentum' not negative and 'epsilon' positive, "
                f"but got {rho}, {momentum} and {epsilon}."
            )
        super().__init__(rho=rho, momentum=momentum, epsilon=epsilon, use_locking=use_locking)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        var, ms, mom, lr, grad = (named[n] for n in ("var", "ms", "mom", "lr", "grad"))
        new_var, new_ms, new_mom = ApplyRMSProp().step(
            xp, var, ms, mom, lr, grad, self.rho, self.momentum, self.epsilon
        )
        return new_var, xp.where(grad == 0, ms, new_ms), new_mom  # no gradient, nothing learnt about its size


class SparseApplyCenteredRMSProp(SparseUpdate):
    """RMSProp around the gradients' mean, of the rows named.

    Examples:
        >>> weight, mean, square, moment = (Parameter(ops.zeros((2, 1)), name=name) for name in "wgsm")
        >>> rate, grad, rows = Tensor(0.1), Tensor([[2.0]]), Tensor([1], ms.int32)
        >>> rule = ops.SparseApplyCenteredRMSProp()
        >>> _ = rule(weight, mean, square, moment, rate, Tensor(0.9), Tensor(0.0), Tensor(1e-6), grad, rows)
        >>> print(square.asnumpy().flatten().round(4))
        [0.  0.4]
    """

    arguments = ("var", "mg", "ms", "mom", "lr", "rho", "momentum", "epsilon", "grad", "indices")
    state = ("var", "mg", "ms", "mom")
    shown = 1

    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        var, mg, ms, mom, lr, rho, momentum, epsilon, grad = (named[n] for n in self.arguments[:-1])
        return ApplyCenteredRMSProp().step(xp, var, mg, ms, mom, grad, lr, rho, momentum, epsilon)


class SparseApplyMomentum(SparseUpdate):
    """Momentum of the rows named.

    Examples:
        >>> weight, accum = (Parameter(ops.zeros((2, 1)), name=name) for name in "wa")
        >>> grad, rows = Tensor([[2.0]]), Tensor([1], ms.int32)
        >>> _ = ops.SparseApplyMomentum()(weight, accum, Tensor(0.1), grad, rows, Tensor(0.9))
        >>> accum.asnumpy().tolist()
        [[0.0], [2.0]]
    """

    arguments = ("var", "accum", "lr", "grad", "indices", "momentum")
    state = ("var", "accum")
    shown = 1

    def __init__(self, use_locking: bool = False, use_nesterov: bool = False):
        super().__init__(use_locking=use_locking, use_nesterov=use_nesterov)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        var, accum, lr, grad, momentum = (named[n] for n in ("var", "accum", "lr", "grad", "momentum"))
        accum = momentum * accum + grad
        step = grad + momentum * accum if self.use_nesterov else accum
        return var - lr * step, accum


class SparseApplyProximalGradientDescent(SparseUpdate):
    """Gradient descent with l1 and l2 penalties (FOBOS), of the rows named.

    Examples:
        >>> weight = Parameter(ops.zeros((2, 1)), name="w")
        >>> rule = ops.SparseApplyProximalGradientDescent()
        >>> _ = rule(weight, Tensor(0.5), Tensor(0.0), Tensor(0.0), Tensor([[2.0]]), Tensor([1], ms.int32))
        >>> weight.asnumpy().tolist()
        [[0.0], [-1.0]]
    """

    arguments = ("var", "alpha", "l1", "l2", "grad", "indices")
    state = ("var",)
    shown = 1

    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def dense(self, xp: Namespace, named: dict) -> tuple:
        var, alpha, l1, l2, grad = (named[n] for n in self.arguments[:-1])
        return ApplyProximalGradientDescent().step(xp, var, alpha, l1, l2, grad)
