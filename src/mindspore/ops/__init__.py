"""Operations: functions (`ops.add`), classes (`ops.Add()`), and the gradient and mapping tools.

Importing this package gives `Tensor` its operation methods.
"""

# ruff: noqa: F401, I001 - names are re-exported, in an order that matters

from __future__ import annotations

import importlib as _importlib
import sys as _sys
import typing as _typing

import mindspore.runtime.eager
from mindspore.ops import function, operations
from mindspore.ops.function import *  # noqa: F403
from mindspore.ops.function.sparse import *  # noqa: F403
from mindspore.ops.compatibility import *  # noqa: F403
from mindspore.ops.custom import *  # noqa: F403
from mindspore.ops.custom_builder import CustomOpBuilder
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
from mindspore.ops.examples import attach as _complete
from mindspore.ops.paths import of_mint as _of_mint
from mindspore.ops.tensor_methods import attach as _attach
from mindspore.ops.tensor_state import attach as _attach_state

from mindspore.ops.composite import *  # noqa: F403 - after the package ops.function.grad, whose name one of these shares

from mindspore.common.gradient import get_grad
from mindspore.common.tensor import Tensor
from mindspore.ops.function import clip_by_global_norm, clip_by_value

P = operations
_attach()
_attach_state()
_complete(_sys.modules[__name__], Tensor)

#: operations of several processes, of `mint.distributed`, which stands above and is imported on first use
_DISTRIBUTED = (
    "P2POp", "TCPStore", "all_gather", "all_gather_into_tensor", "all_gather_into_tensor_uneven", "all_gather_object",
    "all_reduce", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list",
    "destroy_process_group", "gather_object", "get_backend", "get_global_rank", "get_group_rank",
    "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group", "irecv", "is_available",
    "is_initialized", "isend", "new_group", "recv", "recv_object_list", "reduce_scatter", "reduce_scatter_tensor",
    "reduce_scatter_tensor_uneven", "scatter_object_list", "send", "send_object_list",
)  # fmt: skip
#: modules that are older paths, imported on first use
_MODULES = ("auto_generate", "functional", "op_info_register")


def __getattr__(name: str) -> _typing.Any:
    if name in ("gather_into_tensor", "scatter_tensor"):
        return getattr(_importlib.import_module("mindspore.mint.distributed.tensors"), name)
    if name == "all_to_all_v_c":
        return _importlib.import_module("mindspore.communication.comm_func").all_to_all_v_c
    if name in _DISTRIBUTED:
        return getattr(_importlib.import_module("mindspore.mint.distributed"), name)
    if name.endswith("_ext"):
        found = _of_mint(name.removesuffix("_ext"))
        if found is not None:
            return found
    if name in _MODULES:
        return _importlib.import_module(f"mindspore.ops.{name}")
    raise AttributeError(f"module 'mindspore.ops' has no attribute '{name}'")


__all__ = [name for name in globals() if not name.startswith("_")]
