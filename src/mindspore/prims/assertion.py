"""A check of values inside a program: tensors are shown and an error is raised when a condition does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor
from mindspore.prims.active import ACTIVE
from mindspore.prims.debug import io_token
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import SymbolicScalarBase, TensorBase

if TYPE_CHECKING:
    from mindspore.prims.array_types import Namespace


class Assert(Primitive):
    """Raise a RuntimeError unless a condition holds, after showing the first `summarize` elements of tensors.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Assert()(True, [Tensor([1, 2])])
        >>> ops.Assert(2)(False, [Tensor([1, 2, 3])])
        Traceback (most recent call last):
        RuntimeError: assert failed
        input data: [1 2]
    """

    effect = "io"

    def __init__(self, summarize: int = 3):
        if isinstance(summarize, bool) or not isinstance(summarize, int):
            raise TypeError(f"For 'Assert', 'summarize' must be an int, but got {summarize!r}.")
        super().__init__("Assert", summarize=summarize)

    def __call__(self, *args: Any) -> Any:
        if args and getattr(args[0], "_ms_keep", False):
            return super().__call__(*args)  # the call that `emit` makes: a token comes first
        condition, data = args
        if not isinstance(condition, (bool, TensorBase, SymbolicScalarBase)):
            raise TypeError(f"For 'Assert', 'condition' must be a Tensor or bool, but got {type(condition).__name__}.")
        if not isinstance(data, (tuple, list)):
            raise TypeError(f"For 'Assert', 'input_data' must be a tuple or list, but got {type(data).__name__}.")
        if ACTIVE.builder is None:
            self._check(np.asarray(getattr(condition, "_data", condition)), [np.asarray(x._data) for x in data])
            return None
        token = io_token()
        ACTIVE.builder.write(token, ACTIVE.builder.node_of(super().__call__(token, condition, *data)))
        return None

    def _check(self, condition: np.ndarray, data: list[np.ndarray]) -> None:
        if not condition.all():
            shown = "".join(f"\ninput data: {x.reshape(-1)[: self.summarize]}" for x in data)
            raise RuntimeError(f"assert failed{shown}")

    def infer(self, token: Any, condition: Any, *data: Any) -> Any:
        return AbstractTensor(mstype.int32, ())

    def eval(self, xp: Namespace, token: Any, condition: Any, *data: Any) -> Any:
        self._check(np.asarray(condition), [np.asarray(x) for x in data])
        return np.asarray(token)

    def eval_xla(self, xp: Namespace, token: Any, condition: Any, *data: Any) -> Any:
        jax = require("jax", "xla", "assertions in a graph")
        from jax.experimental import io_callback

        shape = jax.ShapeDtypeStruct((), np.int32)
        return io_callback(
            lambda *xs: self.eval(np, *map(np.asarray, xs)), shape, token, condition, *data, ordered=True
        )
