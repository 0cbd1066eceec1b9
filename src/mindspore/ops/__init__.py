"""Operations: functions (`ops.add`), classes (`ops.Add()`), and the gradient and mapping tools.

Importing this package gives `Tensor` its operation methods.
"""

# ruff: noqa: F401, I001 - names are re-exported, in an order that matters

from __future__ import annotations

import mindspore.runtime.eager
from mindspore.ops import functional, operations
from mindspore.ops.functional import *  # noqa: F403
from mindspore.ops.sparse import *  # noqa: F403
from mindspore.ops.assignment import *  # noqa: F403
from mindspore.ops.custom import *  # noqa: F403
from mindspore.ops.custom_builder import CustomOpBuilder
from mindspore.ops.op_info import *  # noqa: F403
from mindspore.ops.operations import *  # noqa: F403
from mindspore.ops.primitive import (
    Primitive,
    PrimitiveWithCheck,
    PrimitiveWithInfer,
    constexpr,
    prim_arg_register,
    prim_attr_register,
)
from mindspore.ops.tensor_methods import attach as _attach
from mindspore.ops.tensor_state import attach as _attach_state
from mindspore.ops.composite import *  # noqa: F403

from mindspore.common.gradient import get_grad
from mindspore.common.tensor import Tensor
from mindspore.ops.functional import clip_by_global_norm, clip_by_value

P = operations
_attach()
_attach_state()

__all__ = [name for name in globals() if not name.startswith("_")]
