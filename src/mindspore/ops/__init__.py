"""Operations: functions (`ops.add`), classes (`ops.Add()`), and the gradient and mapping tools.

Importing this package gives `Tensor` its operation methods.
"""

# ruff: noqa: F401, I001 - names are re-exported, in an order that matters

from __future__ import annotations

import typing as _typing

import mindspore.runtime.eager
from mindspore.ops import function, operations
from mindspore.ops.function import *  # noqa: F403
from mindspore.ops.function.sparse import *  # noqa: F403
from mindspore.ops.custom import *  # noqa: F403
from mindspore.ops.legacy_names import *  # noqa: F403
from mindspore.ops.nn_func import *  # noqa: F403
from mindspore.ops.op_info import *  # noqa: F403
from mindspore.ops.operations import *  # noqa: F403
from mindspore.ops.state_func import *  # noqa: F403
from mindspore.ops.primitive import (
    Primitive,
    PrimitiveWithCheck,
    PrimitiveWithInfer,
    constexpr,
    prim_arg_register,
    prim_attr_register,
)
from mindspore.ops.tensor_methods import attach as _attach

from mindspore.ops.composite import *  # noqa: F403 - after the package ops.function.grad, whose name one of these shares

from mindspore.ops.function import clip_by_global_norm, clip_by_value

P = operations
_attach()

if _typing.TYPE_CHECKING:  # most names come from tables, which type checkers do not read

    def __getattr__(name: str) -> _typing.Any: ...


__all__ = [name for name in globals() if not name.startswith("_")]
