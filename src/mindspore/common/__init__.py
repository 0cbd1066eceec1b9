"""L6: Tensor, Parameter, jit, initialisers: what user code touches first. Names are imported on first use."""

from __future__ import annotations

import importlib
from typing import Any

_NAMES: dict[str, str] = {
    "Tensor": "tensor", "Parameter": "parameter", "ParameterTuple": "parameter", "jit": "api", "ms_function": "api", "jit_class": "api",
    "ms_class": "api", "_convert_python_data": "api", "JitConfig": "api", "lazy_inline": "api",
    "set_seed": "random", "get_seed": "random", "Generator": "random", "default_generator": "random", "manual_seed": "random",
    "RowTensor": "sparse", "RowTensorInner": "sparse", "SparseTensor": "sparse", "COOTensor": "sparse", "CSRTensor": "sparse",
    "dump": "dump", "set_dump": "dump", "Symbol": "symbol", "tensor": "tensor",
    "recompute": "recomputation", "_Function": "autograd", "no_inline": "api", "set_recursion_limit": "api",
}  # fmt: skip
_DTYPES = (
    "int8", "byte", "int16", "short", "int32", "intc", "int64", "intp", "uint8", "ubyte", "uint16", "ushort", "uint32", "uintc",
    "uint64", "uintp", "float16", "half", "float32", "single", "float64", "double", "bool_", "float_", "list_", "tuple_", "int_",
    "uint", "number", "tensor_type", "string", "type_none", "TensorType", "Int", "complex64", "complex128", "bfloat16", "Type",
    "dtype_to_nptype", "issubclass_", "dtype_to_pytype", "pytype_to_dtype", "get_py_obj_dtype", "qint4x2", "QuantDtype",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        module = importlib.import_module(f"mindspore.common.{_NAMES[name]}")
        return getattr(module, name, module)
    if name in _DTYPES:
        return getattr(importlib.import_module("mindspore.common.dtype"), name)
    if not name.startswith("__"):
        try:
            return importlib.import_module(f"mindspore.common.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"mindspore.common.{name}":
                raise
    raise AttributeError(f"module 'mindspore.common' has no attribute '{name}'")


# Whoever reaches Tensor by any path gets it with its operations, and with a runtime that carries them out.
import mindspore.ops  # noqa: E402, F401
from mindspore.common.mutable import mutable  # noqa: E402, F401 - the function; its module is in sys.modules
