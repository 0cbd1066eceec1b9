"""Classes of operations that are not computations: order, values of parameters, gradient control, functions as values."""

from __future__ import annotations

from typing import Any

from mindspore.ops import functional as F
from mindspore.ops.composition import REQUIRED, composition, plain
from mindspore.prims.arrays import ScalarToTensor
from mindspore.prims.elementwise import StopGradient
from mindspore.prims.hooks import GradientHook

Depend = plain("Depend", F.depend)
ControlDepend = composition("ControlDepend", lambda self, *args: None, "Kept for old scripts.", depend_mode=0)
Partial = plain("Partial", F.partial)
UpdateState = composition("UpdateState", lambda self, state, *exprs: state)
Reusing = plain("Reusing", F.identity)


def _morph(self: Any, *args: Any) -> Any:
    return self.fn(*args)


Morph = composition(
    "Morph", _morph, "A Python function as an operation.", fn=REQUIRED, infer_shape=REQUIRED, infer_dtype=REQUIRED,
    bprop_fn=None,
)  # fmt: skip
MoveTo = composition("MoveTo", lambda self, x, to="CPU", blocking=True: x, "x; there is one memory here.")


Load = composition("Load", lambda self, variable, state=None: variable, "The value of a Parameter.")
InsertGradientOf = composition(
    "InsertGradientOf", lambda self, x: GradientHook(lambda grads: tuple(self.f(g) for g in grads))(x)[0],
    "x, whose gradient passes through a function.", f=REQUIRED,
)  # fmt: skip

__all__ = [
    "ControlDepend", "Depend", "InsertGradientOf", "Load", "Morph", "MoveTo", "Partial", "Reusing",
    "ScalarToTensor", "StopGradient", "UpdateState",
]  # fmt: skip
