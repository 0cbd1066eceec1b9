"""Printing and saving from inside a graph, in program order."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.files import atomic_write
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import SymbolicScalarBase, TensorBase

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace


REPR = "!r"  # the format of a value that is shown as by repr


class Print(Primitive):
    """Print tensors and text, each on a line of its own, with the shapes and types of tensors. `parts` is a template: None stands for
    the next tensor, `REPR` for it as it is shown within a list, and a tuple of a format specification for its number in that format.

    The first argument is a token: each print returns a new one that the next takes, which keeps them in order.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Print()('sum:', Tensor(3))
        sum:
        Tensor(shape=[], dtype=Int64, value= 3)
    """

    effect = "io"

    def __init__(self, parts: tuple = (), sep: str = " ", end: str = "\n"):
        super().__init__("Print", parts=parts, sep=sep, end=end)

    @staticmethod
    def emit(items: tuple, sep: str = " ", end: str = "\n") -> None:
        """Add a print to the graph being built. An item may be a pair of a tensor and a format specification."""
        builder = ACTIVE.builder
        token = io_token()
        formats = [i[1] if isinstance(i, tuple) else "" for i in items]
        items = tuple(i[0] if isinstance(i, tuple) else i for i in items)
        is_data = [isinstance(i, (TensorBase, SymbolicScalarBase)) for i in items]
        parts = tuple(
            ((form,) if form else None) if data else str(item) for item, form, data in zip(items, formats, is_data)
        )
        tensors = [i for i, data in zip(items, is_data) if data]
        builder.write(token, builder.node_of(Print(parts, sep, end)(token, *tensors)))

    def __call__(self, *args: Any) -> Any:
        if args and getattr(args[0], "_ms_keep", False):
            return super().__call__(*args)
        if ACTIVE.builder is None:
            print(*[repr(a) if isinstance(a, TensorBase) else a for a in args], sep="\n")
        elif args:
            lines = [piece for a in args for piece in ("\n", *printed(a, isinstance(a, TensorBase)))]
            Print.emit(tuple(lines[1:]), "")

    def infer(self, token: Any, *tensors: Any) -> Any:
        return AbstractTensor(mstype.int32, ())

    def eval(self, xp: Namespace, token: Any, *tensors: Any) -> Any:
        supply = iter(tensors)
        texts = [p if isinstance(p, str) else _text(np.asarray(next(supply)), p) for p in self.parts]
        print(*texts, sep=self.sep, end=self.end, flush=True)
        return np.asarray(token)

    def eval_xla(self, xp: Namespace, token: Any, *tensors: Any) -> Any:
        jax = require("jax", "xla", "printing from a graph")
        from jax.experimental import io_callback

        shape = jax.ShapeDtypeStruct((), np.int32)
        return io_callback(lambda t, *xs: self.eval(np, np.asarray(t), *xs), shape, token, *tensors, ordered=True)


def printed(item: Any, inside: bool = False) -> list[Any]:
    """What is printed for an item: text, and pairs of a run-time value and its format. `inside` a container it is shown as by repr."""
    if isinstance(item, (TensorBase, SymbolicScalarBase)) and ACTIVE.builder.is_variable(item):
        return [(item, REPR if inside and isinstance(item, TensorBase) else "")]
    if type(item) in (tuple, list):
        opening, closing = ("(", ",)" if len(item) == 1 else ")") if isinstance(item, tuple) else ("[", "]")
        return [opening, *_joined([printed(v, True) for v in item]), closing]
    if type(item) is dict:
        return ["{", *_joined([[repr(k) + ": ", *printed(v, True)] for k, v in item.items()]), "}"]
    return [repr(item) if inside else str(item)]


def _joined(items: list[list[Any]]) -> list[Any]:
    return [piece for item in items for piece in (", ", *item)][1:]


def _text(array: np.ndarray, form: tuple | None) -> str:
    if form is None:
        return str(array)
    if form[0] == REPR:
        return repr(values.from_array(array))
    return format(array.item() if array.size == 1 else str(array), form[0])


def io_token() -> Any:
    """The value that keeps effects in order in the graph being built: each takes it and writes a new one."""
    root = ACTIVE.builder.root
    if "io_token" not in root.__dict__:
        token = values.from_array(np.zeros((), np.int32))
        token._ms_keep = True
        root.io_token = token
    return root.io_token


_DUMPS = itertools.count()


class TensorDump(Primitive):
    """`TensorDump()(file, x)` saves x as `file_<type>_<number>.npy`, counting up; in a graph each time it runs.

    Examples:
        >>> import glob, tempfile
        >>> from mindspore import Tensor, ops
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ops.TensorDump()(folder + "/x", Tensor([1.0]))
        ...     len(glob.glob(folder + "/x_float32_*.npy"))
        1
    """

    effect = "io"

    def __init__(self, input_output: str = "out", file: str = ""):
        if input_output not in ("in", "out"):
            raise ValueError(f"For 'TensorDump', 'input_output' must be 'in' or 'out', but got {input_output!r}.")
        super().__init__("TensorDump", input_output=input_output, file=file)

    def __call__(self, *args: Any) -> Any:
        if args and getattr(args[0], "_ms_keep", False):
            return super().__call__(*args)
        file, x = args
        if not isinstance(file, str) or not file:
            raise TypeError(f"For 'TensorDump', 'file' must be a string that is not empty, but got {file!r}.")
        if not isinstance(x, TensorBase):
            raise TypeError(f"For 'TensorDump', 'input_x' must be a Tensor, but got {type(x).__name__}.")
        builder = ACTIVE.builder
        if builder is None:
            _save(file, np.asarray(x._data))
        else:
            token = io_token()
            builder.write(token, builder.node_of(TensorDump(self.input_output, file)(token, x)))
        return None

    def infer(self, token: AbstractTensor, x: AbstractTensor) -> Any:
        return AbstractTensor(mstype.int32, ())

    def eval(self, xp: Namespace, token: Any, x: Any) -> Any:
        _save(self.file, np.asarray(x))
        return np.asarray(token)

    def eval_xla(self, xp: Namespace, token: Array, x: Array) -> Any:
        jax = require("jax", "xla", "saving tensors from a graph")
        from jax.experimental import io_callback

        shape = jax.ShapeDtypeStruct((), np.int32)
        return io_callback(lambda t, v: self.eval(np, np.asarray(t), v), shape, token, x, ordered=True)


def _save(file: str, array: np.ndarray) -> None:
    path = f"{file.removesuffix('.npy')}_{array.dtype.name}_{next(_DUMPS)}.npy"
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with atomic_write(path) as stream:
        np.save(stream, array)
