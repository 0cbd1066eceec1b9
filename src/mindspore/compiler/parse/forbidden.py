"""Functions of this library that compiled code may not call.

They set things up, report or change objects. In a graph they would act once, when it is made, and not at each run, so
calling them there is an error of the program. Those that only look may be called by properties (`self.dtype` that asks the first
Parameter), which official MindSpore evaluates as plain Python when it makes the graph.
"""

from __future__ import annotations

import types
from typing import Any

from mindspore.compiler.parse.source import treatment

_LOOKING = {
    "buffers", "get_buffer", "get_parameters", "get_sub_cell", "named_buffers", "state_dict", "trainable_params",
    "untrainable_params",
}  # fmt: skip
_CELL_METHODS = _LOOKING | {
    "load_state_dict", "register_backward_hook", "register_backward_pre_hook", "register_buffer", "register_forward_hook",
    "register_forward_pre_hook", "register_load_state_dict_post_hook", "register_load_state_dict_pre_hook",
    "register_state_dict_post_hook", "register_state_dict_pre_hook",
}  # fmt: skip
_TENSOR_METHODS = {"assign_value", "set_const_arg"}
_PARAMETER_METHODS = _TENSOR_METHODS | {"set_data"}


def refuse_forbidden(function: Any, in_property: bool) -> None:
    """Raise if user code being compiled may not call `function`."""
    if isinstance(function, types.MethodType):
        what = "" if in_property and function.__name__ in _LOOKING else _method(function)
    elif treatment(getattr(function, "__module__", None) or "") == "refused":
        kind = "class" if isinstance(function, type) else "method or function"
        what = f"{kind} '{function.__module__}.{function.__qualname__}'"
    else:
        return
    if what:
        raise RuntimeError(
            f"Failed to compile in GRAPH_MODE because the {what} is not supported in 'construct' or function with @jit "
            "decorator: it would act once, when the graph is made. Call it outside, for example in '__init__'."
        )


def _method(function: types.MethodType) -> str:
    name, owner = function.__name__, function.__self__
    module = getattr(function, "__module__", None) or ""
    if not module.startswith("mindspore."):
        return ""
    if name in _CELL_METHODS and hasattr(type(owner), "run_around"):
        return f"method or function 'mindspore.nn.cell.Cell.{name}'"
    if name in _PARAMETER_METHODS and type(owner).__name__ == "Parameter":
        return f"'Parameter' object's method '{name}'"
    if name in _TENSOR_METHODS and type(owner).__name__ == "Tensor":
        return f"'Tensor' object's method '{name}'"
    return ""
