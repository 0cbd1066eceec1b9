"""What the engine needs to know of an operation inside a map: its JSON form, whether it takes randomness, whether
threads help it. Operations are plain callables; the attributes are optional (see `dataset/README.md`)."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any


def describe_operation(operation: Callable) -> dict[str, Any]:
    """The JSON form of an operation; a Python function names its module and cannot be read back."""
    describe = getattr(operation, "describe", None)
    if describe is not None and not inspect.isclass(operation):
        return describe()
    module = getattr(operation, "__module__", None) or type(operation).__module__
    name = getattr(operation, "__name__", operation_name(operation))
    return {"python_module": module, "tensor_op_name": name, "tensor_op_params": None}


def operation_name(operation: Callable) -> str:
    """The name an error message gives to an operation."""
    if isinstance(operation, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
        return "PyFunc"
    if getattr(operation, "to_pil", False):
        return "PyFunc"
    return getattr(operation, "error_name", None) or type(operation).__name__


def is_random(operation: Callable) -> bool:
    """True when the operation draws random numbers, itself or through the operations it holds."""
    return bool(getattr(operation, "random", False)) and hasattr(operation, "set_rng")


def releases_gil(operation: Callable) -> bool:
    """True when several threads can run the operation at once."""
    declared = getattr(operation, "releases_gil", None)
    if declared is not None:
        return bool(declared)
    return type(operation).__module__.startswith("mindspore.dataset.")
