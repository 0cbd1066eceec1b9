"""Loops as operations on functions: WhileLoop, ForiLoop, Scan.

Written as the Python loops they stand for; compiled, they become While nodes or are unrolled like any other loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.compiler import parse
from mindspore.prims.active import ACTIVE
from mindspore.prims.arrays import Stack
from mindspore.prims.primitive import Primitive

__ms_treatment__ = "interpreted"  # by the compiler: see compiler/parse/source.py


def _while(cond_func: Any, loop_func: Any, init_val: Any) -> Any:
    value = init_val
    while cond_func(value):
        value = loop_func(value)
    return value


def _fori(lower: Any, upper: Any, loop_func: Any, init_val: Any) -> Any:
    value = init_val
    for i in range(lower, upper):
        value = loop_func(i, value)
    return value


def _fori_rolled(lower: Any, upper: Any, loop_func: Any, init_val: Any) -> Any:
    value, i = init_val, lower
    while i < upper:
        value = loop_func(i, value)
        i = i + 1
    return value


class _Loop(Primitive):
    """Called natively in PyNative mode, interpreted while a graph is built."""

    __call__: Callable[..., Any]

    def __init__(self) -> None:
        super().__init__(type(self).__name__)

    def _run(self, function: Any, *args: Any) -> Any:
        return parse.call(function, args) if ACTIVE.builder is not None else function(*args)

    def __ms_trace__(self, interpreter: Any, args: tuple, kwargs: dict) -> Any:
        return self(*args, **kwargs)


class WhileLoop(_Loop):
    """`WhileLoop()(cond_func, loop_func, init_val)`: apply `loop_func` while `cond_func` holds.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import ops
        >>> ops.WhileLoop()(lambda v: v < 10, lambda v: v * 2, ms.Tensor(1)).asnumpy().item()
        16
    """

    def __call__(self, cond_func: Any, loop_func: Any, init_val: Any) -> Any:
        _check_functions("WhileLoop", cond_func=cond_func, loop_func=loop_func)
        return self._run(_while, cond_func, loop_func, init_val)


class ForiLoop(_Loop):
    """`ForiLoop()(lower, upper, loop_func, init_val, unroll=True)`: value = loop_func(i, value) for i in [lower, upper).

    Examples:
        >>> ops.ForiLoop()(0, 4, lambda i, total: total + i, 100)
        106
    """

    def __call__(self, lower: Any, upper: Any, loop_func: Any, init_val: Any, unroll: bool = True) -> Any:
        _check_functions("ForiLoop", loop_func=loop_func)
        return self._run(_fori if unroll else _fori_rolled, lower, upper, loop_func, init_val)


class Scan(_Loop):
    """`Scan()(loop_func, init, xs, length=None, unroll=True)`: loop_func(carry, x) -> (carry, y); returns (carry, ys).

    Examples:
        >>> total, squares = ops.Scan()(lambda carry, x: (carry + x, x * x), Tensor(0.0), Tensor([1.0, 2.0, 3.0]))
        >>> print(total, squares)
        6.0 [1. 4. 9.]
    """

    def __call__(self, loop_func: Any, init: Any, xs: Any, length: int | None = None, unroll: bool = True) -> Any:
        _check_functions("Scan", loop_func=loop_func)
        if not isinstance(xs, (list, tuple)) and not hasattr(xs, "shape") and xs is not None:
            raise TypeError(f"For 'Scan', 'xs' must be a list, tuple, Tensor or None, but got {type(xs).__name__}.")
        if xs is None and length is None:
            raise ValueError("For 'Scan', 'length' must be given when 'xs' is None.")
        count = len(xs) if xs is not None else int(length)  # type: ignore[arg-type]
        if length is not None and xs is not None and length != count:
            raise ValueError(f"For 'Scan', 'length' is {length}, but 'xs' has {count} elements.")
        carry, ys = init, []
        for i in range(count):
            carry, y = self._run(loop_func, carry, None if xs is None else xs[i])
            ys.append(y)
        return carry, _gather(ys, xs)


def _gather(ys: list, xs: Any) -> Any:
    """Results come back as `xs` came: a list stays a list, a tensor is stacked."""
    if isinstance(xs, (list, tuple)) or any(y is None for y in ys):
        return ys
    return Stack(0)(ys)


def _check_functions(op: str, **functions: Any) -> None:
    for name, function in functions.items():
        if not callable(function):
            raise TypeError(f"For '{op}', '{name}' must be a function, but got {type(function).__name__}.")
