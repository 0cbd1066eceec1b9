"""Primitives that arrange values: tuples and calls of graphs. Control flow is in `control.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore._base.optional import require
from mindspore.ir import AbstractTuple
from mindspore.prims.factors import Factors, numbered
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.ir import AbstractTensor
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


class MakeTuple(Primitive):
    """Several values as one."""

    moves = True

    def __init__(self) -> None:
        super().__init__("MakeTuple")

    def infer(self, *elements: Any) -> Any:
        return AbstractTuple(elements)

    def eval(self, xp: Namespace, *elements: Any) -> Any:
        return tuple(elements)


class TupleGetItem(Primitive):
    """One of several values."""

    moves = True

    def __init__(self) -> None:
        super().__init__("TupleGetItem")

    def infer(self, value: Any, index: int) -> Any:
        return value.elements[index]

    def eval(self, xp: Namespace, value: Any, index: int) -> Any:
        return value[index]


class Identity(Primitive):
    """The same value under another name: marks what a gradient is taken with respect to."""

    spreads = True
    keeps_finite = True

    elementwise = True
    linear = True

    def __init__(self) -> None:
        super().__init__("Identity")

    def infer(self, x: AbstractTensor) -> Any:
        return x

    def eval(self, xp: Namespace, x: Any) -> Any:
        return x

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (dout,)


class Replaced(Primitive):
    """`prim(before, now)`: now, with the gradient going to `before`. A tensor after an update that is not differentiated.

    Examples:
        >>> print(ops.grad(lambda x: ops.Replaced()(x, 100 * x))(Tensor(2.0)))
        1.0
    """

    elementwise = True

    def __init__(self) -> None:
        super().__init__("Replaced")

    def infer(self, before: AbstractTensor, now: AbstractTensor) -> Any:
        return now

    def eval(self, xp: Namespace, before: Array, now: Array) -> Any:
        return now

    def bprop(self, before: TensorBase, now: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return dout, None


class Later(Primitive):
    """`prim(x, after)`: x, but not before `after` is known. What is computed from it is computed (again) at that time."""

    def __init__(self) -> None:
        super().__init__("Later")

    def infer(self, x: Any, after: Any) -> Any:
        return x

    def factors(self, x: AbstractTensor, after: Any) -> Factors:
        names = numbered(len(x.shape))
        return Factors((names, None), (names,), linear=True)

    def eval(self, xp: Namespace, x: Any, after: Any) -> Any:
        return x

    def eval_xla(self, xp: Namespace, x: Any, after: Any) -> Any:
        lax = require("jax.lax", "xla", "recomputation on XLA")
        return lax.optimization_barrier((x, after))[0]

    def bprop(self, x: Any, after: Any, out: Any, dout: Any) -> tuple:
        return dout, None
