"""The two objects through which libraries steer official MindSpore: one for eager calls, one for compiled cells.

Eager operations have been computed when they return, so there is nothing to wait for; compiling is a method of cells.
"""

from __future__ import annotations

import threading
from typing import Any

from mindspore.prims.active import ACTIVE


class _Suspended(threading.local):
    """Tapes that were recording when gradients were switched off; None while they are on."""

    tapes: tuple | None = None


class _PyNativeExecutor:
    """Eager execution: whether gradients are recorded, and waiting for results.

    Examples:
        >>> from mindspore.common.api import _pynative_executor
        >>> _pynative_executor.set_enable_grad(False)
        >>> _pynative_executor.enable_grad()
        False
        >>> _pynative_executor.set_enable_grad(True)
    """

    def __init__(self) -> None:
        self._suspended = _Suspended()

    def sync(self) -> None:
        """Wait until every operation has been computed: they have been."""

    def set_async_for_graph(self, flag: bool) -> None:
        """Kept for programs that call it: results of graphs are there when the call returns."""

    def enable_grad(self) -> bool:
        """Whether operations are recorded where a gradient is being taken."""
        return self._suspended.tapes is None

    def set_enable_grad(self, flag: bool) -> None:
        """Switch recording off, or on again."""
        if bool(flag) == self.enable_grad():
            return
        if flag:
            ACTIVE.tapes, self._suspended.tapes = self._suspended.tapes or (), None
        else:
            ACTIVE.tapes, self._suspended.tapes = (), ACTIVE.tapes

    def grad_flag(self) -> bool:
        """Whether a gradient is being taken."""
        return bool(ACTIVE.tapes)

    def requires_grad(self) -> bool:
        """Whether a gradient is being taken and recording is on."""
        return self.enable_grad() and self.grad_flag()

    def new_graph(self, obj: Any, *args: Any, **kwargs: Any) -> None:
        """Kept for programs that call it: `grad` looks at the function itself."""

    def end_graph(self, obj: Any, output: Any, *args: Any, **kwargs: Any) -> None:
        """Kept for programs that call it: `grad` looks at the function itself."""

    def check_run(self, grad: Any, obj: Any, weights: Any, grad_hash_id: Any, *args: Any, **kwargs: Any) -> bool:
        """Whether the forward pass was recorded already: `grad` runs it."""
        return False

    def grad(self, obj: Any, grad: Any, weights: Any, grad_position: Any, *args: Any, **kwargs: Any) -> Any:
        """The gradients of `obj` at the arguments, as a `GradOperation` describes them."""
        return grad(obj, weights)(*args, **kwargs) if grad.get_by_list else grad(obj)(*args, **kwargs)

    def run_op_async(self, primitive: Any, name: str, args: Any) -> Any:
        """The result of an operation, computed at once."""
        return primitive(*args)

    def call_custom_bprop(self, obj: Any, output: Any, *args: Any, **kwargs: Any) -> Any:
        """The output: a `bprop` is found when the gradient is taken."""
        return output

    def set_grad_flag(self, flag: bool) -> None:
        """Kept for programs that call it: `mindspore.grad` and its kin decide when to record."""


class _CellGraphExecutor:
    """Compiled cells."""

    def compile(
        self, obj: Any, *args: Any, phase: str = "predict", do_convert: bool = True, jit_config_dict: Any = None,
        **kwargs: Any,
    ) -> tuple[str, bool]:  # fmt: skip
        """Compile a cell for these arguments without running it; the name of the graph and whether it is new.

        Examples:
            >>> import mindspore as ms
            >>> from mindspore import nn
            >>> from mindspore.common.api import _cell_graph_executor
            >>> _cell_graph_executor.compile(nn.ReLU(), ms.Tensor([1.0]))[1]
            True
        """
        obj.compile(*args, **kwargs)
        return f"{phase}.{id(obj)}", True

    def _get_shard_strategy(self, obj: Any) -> dict[str, list[list[int]]]:
        """How each operator of a compiled cell is cut over devices."""
        executable = obj._sharded()
        return executable.strategies() if executable is not None else {}

    def _get_num_parallel_ops(self, obj: Any) -> int:
        """How many operators of a compiled cell are cut over devices."""
        return len(self._get_shard_strategy(obj))

    def _get_parameter_layout(self, obj: Any, *args: Any) -> dict[str, tuple]:
        return obj.parameter_layout_dict

    def init_dataset(self, queue_name: str, *args: Any, **kwargs: Any) -> bool:
        """Kept for programs that call it: a queue of data is found by its name."""
        return True

    def _get_func_graph_proto(self, obj: Any, exec_id: str, ir_type: str = "onnx_ir", *args: Any) -> bytes:
        raise RuntimeError("Compiled graphs are not given out as messages: use 'mindspore.export' to write a file.")


#: compiled cells by their number; cells keep their graphs themselves, so it stays empty
cells_compile_cache: dict[int, Any] = {}
_pynative_executor = _PyNativeExecutor()
_cell_graph_executor = _CellGraphExecutor()

__all__ = ["_cell_graph_executor", "_pynative_executor", "cells_compile_cache"]
