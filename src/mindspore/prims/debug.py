"""Printing from inside a graph, in program order."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import SymbolicScalarBase, TensorBase


class Print(Primitive):
    """Print tensors and text. `parts` is a template in which None stands for the next tensor.

    The first argument is a token: each print returns a new one that the next takes, which keeps them in order.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Print()('sum:', Tensor(3))
        sum: 3
    """

    effect = "io"

    def __init__(self, parts: tuple = (), sep: str = " ", end: str = "\n"):
        super().__init__("Print", parts=parts, sep=sep, end=end)

    @staticmethod
    def emit(items: tuple, sep: str = " ", end: str = "\n") -> None:
        """Add a print to the graph being built."""
        builder = ACTIVE.builder
        token = builder.root.__dict__.setdefault("io_token", _token())
        is_data = [isinstance(i, (TensorBase, SymbolicScalarBase)) for i in items]
        parts = tuple(None if data else str(item) for item, data in zip(items, is_data))
        tensors = [i for i, data in zip(items, is_data) if data]
        builder.write(token, builder.node_of(Print(parts, sep, end)(token, *tensors)))

    def __call__(self, *args: Any) -> Any:
        if args and getattr(args[0], "_ms_keep", False):
            return super().__call__(*args)
        if ACTIVE.builder is not None:
            return Print.emit(args)
        print(*args)
        return None

    def infer(self, token: Any, *tensors: Any) -> Any:
        return AbstractTensor(mstype.int32, ())

    def eval(self, xp: Any, token: Any, *tensors: Any) -> Any:
        supply = iter(tensors)
        texts = [str(np.asarray(next(supply))) if p is None else p for p in self.parts]
        print(*texts, sep=self.sep, end=self.end, flush=True)
        return np.asarray(token)

    def eval_xla(self, xp: Any, token: Any, *tensors: Any) -> Any:
        jax = require("jax", "xla", "printing from a graph")
        from jax.experimental import io_callback

        shape = jax.ShapeDtypeStruct((), np.int32)
        return io_callback(lambda t, *xs: self.eval(np, np.asarray(t), *xs), shape, token, *tensors, ordered=True)


def _token() -> Any:
    token = values.from_array(np.zeros((), np.int32))
    token._ms_keep = True
    return token
