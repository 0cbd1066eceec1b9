"""Rows of a data set inside a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base import queues
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.debug import io_token
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Namespace


class GetNext(Primitive):
    """The columns of the next row of a data queue; in a graph a new row each time it runs.

    Args:
        types: element types of the columns.
        shapes: shapes of the columns.
        output_num: how many columns there are.
        shared_name: the queue, see `dataset.device_que`.

    Examples:
        >>> sink = ms.dataset.NumpySlicesDataset(np.float32([1.5, 2.5]), shuffle=False).device_que(queue_name="numbers")
        >>> sink.send()
        >>> print(ops.GetNext([ms.float32], [()], 1, "numbers")()[0])
        1.5
        >>> sink.release()
    """

    effect = "io"

    def __init__(self, types: Any, shapes: Any, output_num: int, shared_name: str):
        for name, given in (("types", types), ("shapes", shapes)):
            if not isinstance(given, (list, tuple)) or len(given) != output_num:
                raise ValueError(
                    f"For 'GetNext', '{name}' must have 'output_num' ({output_num}) entries, but got {given}."
                )
        if not isinstance(shared_name, str):
            raise TypeError(f"For 'GetNext', 'shared_name' must be a string, but got {type(shared_name).__name__}.")
        columns = tuple(mstype.to_dtype(t) for t in types)
        sizes = tuple(tuple(shape) for shape in shapes)
        super().__init__("GetNext", types=columns, shapes=sizes, output_num=output_num, shared_name=shared_name)

    def __call__(self, *args: Any) -> Any:
        if args and getattr(args[0], "_ms_keep", False):
            return super().__call__(*args)
        builder = ACTIVE.builder
        if builder is None:
            return tuple(values.from_array(column) for column in self._row())
        token = io_token()
        new_token, *columns = super().__call__(token)
        builder.write(token, builder.node_of(new_token))
        return tuple(columns)

    def _row(self) -> list[np.ndarray]:
        row = [np.asarray(column) for column in queues.next_row(self.shared_name)]
        found = [column.shape for column in row]
        if found != list(self.shapes):
            raise RuntimeError(
                f"For 'GetNext', the columns of the queue {self.shared_name!r} must have the shapes {list(self.shapes)}, "
                f"but the next row has {found}."
            )
        return [np.asarray(c, t.np, order="C") for c, t in zip(row, self.types)]

    def infer(self, token: Any) -> Any:
        columns = [AbstractTensor(t, shape) for t, shape in zip(self.types, self.shapes)]
        return AbstractTuple((AbstractTensor(mstype.int32, ()), *columns))

    def eval(self, xp: Namespace, token: Any) -> Any:
        return (np.asarray(token), *self._row())

    def eval_xla(self, xp: Namespace, token: Any) -> Any:
        jax = require("jax", "xla", "data queues in a graph")
        from jax.experimental import io_callback

        shapes = [jax.ShapeDtypeStruct(s, t.np) for s, t in zip(((), *self.shapes), (mstype.int32, *self.types))]
        return io_callback(lambda t: tuple(self.eval(np, t)), tuple(shapes), token, ordered=True)
