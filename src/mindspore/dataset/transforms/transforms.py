"""The names of `mindspore.dataset.transforms` under the module path that scripts also use."""

from .array import Concatenate, Duplicate, Fill, Mask, OneHot, PadEnd, Relational, Slice, TypeCast, Unique
from .compound import Compose, CompoundOperation, RandomApply, RandomChoice, RandomOrder
from .transform import Implementation, Transform, not_random

TensorOperation = Transform
PyTensorOperation = Transform

__all__ = [
    "Compose",
    "CompoundOperation",
    "Concatenate",
    "Duplicate",
    "Fill",
    "Implementation",
    "Mask",
    "OneHot",
    "PadEnd",
    "PyTensorOperation",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "Relational",
    "Slice",
    "TensorOperation",
    "TypeCast",
    "Unique",
    "not_random",
]
