"""Operations: functions (`ops.add`), classes (`ops.Add()`), and the gradient and mapping tools.

# ruff: noqa: F401 - names are re-exported

Importing this package gives `Tensor` its operation methods.
"""

from __future__ import annotations

import importlib.util as _util

import mindspore.runtime.eager  # noqa: F401 - installs the dispatcher
from mindspore.ops import function, operations
from mindspore.ops.function import *  # noqa: F403
from mindspore.ops.legacy_names import *  # noqa: F403
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

if _util.find_spec("mindspore.ops.nn_func") is not None:
    from mindspore.ops.nn_func import *  # noqa: F403

from mindspore.ops.composite import *  # noqa: E402, F403 - after the package ops.function.grad, whose name one of these shares

P = operations
_attach()

__all__ = [name for name in globals() if not name.startswith("_")]
