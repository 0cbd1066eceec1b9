"""The classes of types, for `isinstance(mindspore.float16, typing.Float)`."""

from __future__ import annotations

from mindspore._base.dtype import DType, Type, bfloat16
from mindspore.common.dtype import Bool, Complex, Dict, Int, List, Number, Slice, String, Tuple, UInt


class _FloatMeta(type):
    """bfloat16 is a family of its own beside the IEEE floating point types."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, DType) and value.kind == "f" and (value is bfloat16) == (cls is BFloat)


class Float(metaclass=_FloatMeta):
    """IEEE floating point types."""


class BFloat(metaclass=_FloatMeta):
    """bfloat16."""


__all__ = [
    "BFloat", "Bool", "Complex", "Dict", "Float", "Int", "List", "Number", "Slice", "String", "Tuple", "Type", "UInt",
]  # fmt: skip
