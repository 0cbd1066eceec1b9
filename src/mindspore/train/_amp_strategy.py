"""Mixed precision by primitive: casts put around the primitives named in lists while a strategy is active.

A strategy is active in one thread inside a `with` block. Every primitive call that arrives then has its float tensors
cast: down to 16 bits for primitives on the white list, up to float32 for those on the black list. The casts are
primitives themselves, so they become graph nodes and have gradients like any other.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.prims import primitive
from mindspore.prims.elementwise import Cast
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import TensorBase

_CAST = Cast()


class _Current(threading.local):
    strategies: tuple[AmpStrategy, ...] = ()


_current = _Current()


class AmpStrategy:
    """Which primitives compute in 16 bits.

    Args:
        dtype: float16 or bfloat16.
        white_list: names of primitives that compute in `dtype`.
        black_list: names of primitives that compute in float32.
        restore: cast what a primitive of the white list returns back to float32.
    """

    def __init__(
        self, dtype: Any, white_list: Collection[str], black_list: Collection[str] = (), restore: bool = False
    ):
        self.dtype = dtype
        self.white_list = frozenset(white_list)
        self.black_list = frozenset(black_list)
        self.restore = restore

    def __enter__(self) -> AmpStrategy:
        primitive.interpose(_casting, observes=False)
        _current.strategies = (*_current.strategies, self)
        return self

    def __exit__(self, *exc: Any) -> None:
        _current.strategies = _current.strategies[:-1]
        primitive.withdraw(_casting)

    def around(self, function: Callable) -> Callable:
        """The function, run under this strategy."""

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return run

    def call(self, prim: Primitive, args: tuple, dispatch: Callable[[Primitive, tuple], Any]) -> Any:
        if prim.name in self.white_list:
            out = dispatch(prim, cast_floats(args, self.dtype))
            return cast_floats(out, mstype.float32) if self.restore else out
        if prim.name in self.black_list:
            args = cast_floats(args, mstype.float32)
        return dispatch(prim, args)


class CastAll(AmpStrategy):
    """Everything computes in `dtype`, except what is on the black list."""

    def __init__(self, dtype: Any, black_list: Collection[str] = ()):
        super().__init__(dtype, (), black_list)

    def call(self, prim: Primitive, args: tuple, dispatch: Callable[[Primitive, tuple], Any]) -> Any:
        wide = prim.name in self.black_list or prim.writes  # what updates a parameter keeps its type
        return super().call(prim, args, dispatch) if wide else dispatch(prim, cast_floats(args, self.dtype))


def cast_floats(value: Any, dtype: Any) -> Any:
    """`value` with every float tensor in it cast to `dtype`."""
    if isinstance(value, TensorBase):
        own = value.dtype
        return _CAST(value, dtype) if own.kind == "f" and own is not dtype else value
    if isinstance(value, (tuple, list)):
        return type(value)(cast_floats(v, dtype) for v in value)
    return value


def _casting(dispatch: Callable[[Primitive, tuple], Any]) -> Callable[[Primitive, tuple], Any]:
    """Casts, where a strategy is active in the thread, before what carries calls out otherwise."""

    def call(prim: Primitive, args: tuple) -> Any:
        strategies = _current.strategies
        if not strategies or isinstance(prim, Cast):
            return dispatch(prim, args)
        return strategies[-1].call(prim, args, dispatch)

    return call
