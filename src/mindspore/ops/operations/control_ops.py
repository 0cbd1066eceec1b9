"""Classes of operations that are not computations: order, values of parameters, gradient control, functions as values."""

from __future__ import annotations

from typing import Any

from mindspore.compiler import parse
from mindspore.ops import functional as F
from mindspore.ops.composition import REQUIRED, composition, plain
from mindspore.prims.active import ACTIVE
from mindspore.prims.arrays import ScalarToTensor
from mindspore.prims.elementwise import StopGradient
from mindspore.prims.hooks import GradientHook

Depend = plain("Depend", F.depend,
    """`value`, after `expr`. Programs run in the order they are written, so nothing more is needed.

    Examples:
        >>> ops.Depend()(Tensor([1.0]), Tensor([2.0])).tolist()
        [1.0]
    """)
ControlDepend = composition("ControlDepend", lambda self, *args: None, """Kept for old scripts.

    Examples:
        >>> ops.ControlDepend()(Tensor([1.0]), Tensor([2.0])) is None
        True
    """, depend_mode=0)
Partial = plain("Partial", F.partial)
UpdateState = composition("UpdateState", lambda self, state, *exprs: state,
    """Its first argument: what a program does happens in the order it is written.

    Examples:
        >>> ops.UpdateState()(5, Tensor([1.0]))
        5
    """)
Reusing = plain("Reusing", F.identity)


def _morph(self: Any, *args: Any, **kwargs: Any) -> Any:
    if ACTIVE.builder is None:
        raise RuntimeError("Morph is only supported in GRAPH_MODE. In PyNative mode call the function itself.")

    def construct(*inner: Any, **named: Any) -> Any:
        return parse.call(self.fn, inner, named)

    def bprop(_: Any, *parts: Any) -> Any:
        return parse.call(self.bprop_fn, parts)

    if self.bprop_fn is None:
        return construct(*args, **kwargs)
    bprop.__module__ = __name__  # library code: called, not interpreted
    return ACTIVE.builder.root.interpreter.call_with_bprop(construct, bprop, self, args, kwargs)


Morph = composition(
    "Morph", _morph, """A Python function as an operation of graphs; `bprop_fn(*inputs, out, dout)` replaces its derived gradient.

    Examples:
        >>> double = ops.Morph(lambda x: 2 * x, lambda shape: shape, lambda dtype: dtype)
        >>> print(ms.jit(lambda x: double(x))(Tensor([1.0, 2.0])))
        [2. 4.]
    """, fn=REQUIRED, infer_shape=REQUIRED, infer_dtype=REQUIRED,
    bprop_fn=None,
)  # fmt: skip
MoveTo = composition("MoveTo", lambda self, x, to="CPU", blocking=True: x, """x; there is one memory here.

    Examples:
        >>> print(ops.MoveTo()(Tensor([1.0]), "CPU", True))
        [1.]
    """)


Load = composition("Load", lambda self, variable, state=None: variable, """The value of a Parameter.

    Examples:
        >>> total = Parameter(Tensor([1.0, 2.0]), name="total")
        >>> print(ops.Load()(total).asnumpy())
        [1. 2.]
    """)
InsertGradientOf = composition(
    "InsertGradientOf", lambda self, x: GradientHook(lambda grads: tuple(self.f(g) for g in grads))(x)[0],
    """x, whose gradient passes through a function.

    Examples:
        >>> halve = ops.InsertGradientOf(lambda grad: grad / 2)
        >>> print(ops.grad(lambda x: 3 * halve(x))(Tensor(2.0)))
        1.5
    """, f=REQUIRED,
)  # fmt: skip

__all__ = [
    "ControlDepend", "Depend", "InsertGradientOf", "Load", "Morph", "MoveTo", "Partial", "Reusing",
    "ScalarToTensor", "StopGradient", "UpdateState",
]  # fmt: skip
