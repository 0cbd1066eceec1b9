"""Functions of functions: gradients, maps over structures, overloading by type."""

from mindspore.ops.composite.gradient import GradOperation, _Grad, grad, value_and_grad
from mindspore.ops.composite.loops import ForiLoop, Scan, WhileLoop
from mindspore.ops.composite.mapping import HyperMap, Map
from mindspore.ops.composite.multitype import MultitypeFuncGraph, add_flags, core
from mindspore.ops.composite.transforms import (
    clip_by_global_norm,
    clip_by_value,
    derivative,
    jacfwd,
    jacrev,
    jet,
    jvp,
    vjp,
    vmap,
)
from mindspore.ops.derivatives import linearize

__all__ = [
    "ForiLoop", "GradOperation", "HyperMap", "Map", "MultitypeFuncGraph", "Scan", "WhileLoop", "_Grad", "add_flags", "clip_by_global_norm",
    "clip_by_value", "core", "derivative", "grad", "jacfwd", "jacrev", "jet", "jvp", "linearize", "value_and_grad", "vjp", "vmap",
]  # fmt: skip
