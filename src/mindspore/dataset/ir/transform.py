"""What the engine needs to know of an operation inside a map: its JSON form, whether it takes randomness, whether
threads help it. Operations are plain callables; the attributes are optional (see `dataset/README.md`)."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any


def describe_operation(operation: Callable) -> dict[str, Any]:
    """The JSON form of an operation; a Python function names its module and cannot be read back."""
    to_json = getattr(operation, "to_json", None)
    if to_json is None or inspect.isclass(operation):
        module = getattr(operation, "__module__", None) or type(operation).__module__
        return {"tensor_op_name": operation_name(operation), "python_module": module, "tensor_op_params": None}
    form = to_json()
    if isinstance(form, tuple):
        name, parameters = form
        return {"tensor_op_name": name, "tensor_op_params": parameters}
    return form


def operation_name(operation: Callable) -> str:
    """The name an error message gives to an operation."""
    if isinstance(operation, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
        return "PyFunc"
    return type(operation).__name__


def is_random(operation: Callable) -> bool:
    """True when the operation draws random numbers, itself or through the operations it holds."""
    return bool(getattr(operation, "random", False)) and hasattr(operation, "set_rng")


def releases_gil(operation: Callable) -> bool:
    """True when several threads can run the operation at once."""
    declared = getattr(operation, "releases_gil", None)
    if declared is not None:
        return bool(declared)
    return type(operation).__module__.startswith("mindspore.dataset.")
