"""What users call to compile: `jit` and its relatives, and settings of compilation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mindspore import context
from mindspore.common.autograd import _no_grad  # noqa: F401 - programs import it from here
from mindspore.common.compiled import EAGER, CompiledFunction  # noqa: F401 - likewise
from mindspore.common.entry import Entry  # noqa: F401 - likewise
from mindspore.prims import values


def jit(
    function: Any = None,
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    **options: Any,
) -> Any:
    """Compile a function into one graph.

    With `fullgraph=True` a function that looks at the data of tensors while it runs is an error; otherwise it runs as
    plain Python, with a warning.

    Examples:
        >>> import mindspore as ms
        >>> @ms.jit
        ... def f(x, y):
        ...     return x * y + 1
        >>> f(ms.Tensor([2.0]), ms.Tensor([3.0])).asnumpy().tolist()
        [7.0]
    """
    if capture_mode not in ("ast", "bytecode", "trace"):
        raise ValueError(f"For 'jit', 'capture_mode' must be 'ast', 'bytecode' or 'trace', but got {capture_mode!r}.")
    if not isinstance(fullgraph, bool):
        raise TypeError(f"For 'jit', 'fullgraph' must be a bool, but got {fullgraph!r}.")

    def wrap(target: Any) -> Any:
        if hasattr(target, "run_around"):
            return _compiled_cell(target, {"jit_level": jit_level, "fullgraph": fullgraph, **options})
        if isinstance(target, CompiledFunction):
            return target
        if not callable(target):
            raise TypeError(f"For 'jit', the argument must be a function or a Cell, but got {type(target).__name__}.")
        return CompiledFunction(target, options={"jit_level": jit_level, "fullgraph": fullgraph, **options})

    return wrap if function is None else wrap(function)


def _compiled_cell(cell: Any, options: dict) -> Any:
    """Make a Cell, or all of a class, be compiled when it is called, in PyNative mode too."""
    if isinstance(cell, type):
        cell._jit_options = options  # type: ignore[attr-defined]
    else:
        cell.__dict__.update(_jit_options=options, _compiled=None)
    return cell


def ms_function(
    fn: Any = None, input_signature: Any = None, hash_args: Any = None, jit_config: Any = None, **_: Any
) -> Any:
    """The 1.x name of `jit`.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor
        >>> ms.ms_function(lambda x: x + 1)(Tensor([1.0])).tolist()
        [2.0]
    """
    return jit(fn) if fn is not None else jit


def jit_class(cls: type) -> type:
    """Mark a class whose objects may be used in compiled functions. Any class may: this only checks its argument.

    Examples:
        >>> @ms.jit_class
        ... class Scale:
        ...     def __init__(self, factor):
        ...         self.factor = factor
        ...
        ...     def __call__(self, x):
        ...         return x * self.factor
        >>> print(Scale(3)(Tensor([2.0])))
        [6.]
    """
    if not isinstance(cls, type):
        raise TypeError("Decorator jit_class can only be used on a class.")
    if hasattr(cls, "cells_and_names"):
        raise TypeError(f"Decorator jit_class is for classes of your own and cannot be used for nn.Cell: {cls.__name__}.")
    return cls


def constexpr(
    fn: Any = None, get_instance: bool = True, name: str | None = None, reuse_result: bool = True, check: bool = True
) -> Any:
    """Mark a function that is run when compiling. Its arguments must be known then.

    Examples:
        >>> import mindspore as ms
        >>> size = ms.constexpr(lambda n: n * 2)
        >>> size(3)
        6
    """

    def wrap(function: Callable) -> Callable:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            for value in (*args, *kwargs.values()):
                if values.is_symbolic(value):
                    raise ValueError(
                        f"'{function.__name__}' is run when compiling (constexpr) and needs known values, but got a tensor that is only "
                        "known when the graph runs."
                    )
            return function(*args, **kwargs)

        run.__module__ = "mindspore.constexpr"  # called, never interpreted
        return run

    return wrap(fn) if fn is not None else wrap


def _primexpr(fn: Any = None, get_instance: bool = True, name: str | None = None, reuse_result: bool = True) -> Any:
    """Like constexpr, but run-time values may be passed: then it is interpreted."""
    return fn if fn is not None else (lambda function: function)


class JitConfig:
    """Compilation settings for `Cell.set_jit_config`.

    Examples:
        >>> net = nn.ReLU().set_jit_config(ms.JitConfig(jit_level="O1"))
        >>> print(net(Tensor([-1.0, 2.0])))
        [0. 2.]
    """

    def __init__(self, jit_level: str = "", exc_mode: str = "auto", jit_syntax_level: str = "", debug_level: str = "RELEASE",
                 infer_boost: str = "off", **kwargs: Any):  # fmt: skip
        if jit_level not in ("", "O0", "O1", "O2", "O3"):
            raise ValueError(
                f"For 'jit_level' the value must be one of ['O0', 'O1', 'O2', 'O3'], but got {jit_level!r}."
            )
        if exc_mode not in ("auto", "sink", "no_sink"):
            raise ValueError(
                f"For 'exc_mode' the value must be one of ['auto', 'sink', 'no_sink'], but got {exc_mode!r}."
            )
        if jit_syntax_level not in ("", "STRICT", "COMPATIBLE", "LAX"):
            raise ValueError(
                f"For 'jit_syntax_level' the value must be one of ['', 'STRICT', 'LAX'], but got {jit_syntax_level!r}."
            )
        self.jit_config_dict = {
            "jit_level": jit_level, "exc_mode": exc_mode, "jit_syntax_level": jit_syntax_level, "debug_level": debug_level,
            "infer_boost": infer_boost, **kwargs,
        }  # fmt: skip


def lazy_inline(fn: Any = None, attrs: Any = None, policy: Any = None) -> Any:
    """Kept for scripts that decorate `__init__` with it; graphs here are optimised without the hint.

    Examples:
        >>> class Block(nn.Cell):
        ...     @ms.lazy_inline
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.relu = nn.ReLU()
        ...
        ...     def construct(self, x):
        ...         return self.relu(x)
        >>> print(Block()(Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    if callable(fn) and not inspect.isclass(fn):
        return fn
    return lambda function: function


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """How deep functions may call each other in a compiled graph.

    Examples:
        >>> ms.set_recursion_limit(1000) is None
        True
    """
    context.set_context(max_call_depth=recursion_limit)


def ms_memory_recycle() -> None:
    """Kept for scripts that call it; memory is freed by reference counting.

    Examples:
        >>> ms.ms_memory_recycle() is None
        True
    """


def _function_forbid_reuse(fn: Any) -> Any:
    """Kept for libraries that decorate with it: what a function draws at random is drawn anew by every call anyway."""
    return fn


def no_inline(fn: Any = None) -> Any:
    """Kept for scripts that use it; whether a function is inlined changes no result.

    Examples:
        >>> @ms.no_inline
        ... def double(x):
        ...     return 2 * x
        >>> print(double(Tensor([3.0])))
        [6.]
    """
    return fn if fn is not None else (lambda function: function)
