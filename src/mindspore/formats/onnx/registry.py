"""The table of ONNX operators and how one is run.

An operator is a function of its inputs (Tensors; None where an input is left out) with the node's attributes as
keywords. Inputs that the model states as constants are NumPy arrays; a function registered with `arrays` sees them as
such, because they decide shapes. Where all inputs are arrays the result is an array again: what a model computes from
shapes stays known while a graph is built.
"""

from __future__ import annotations

import functools
import inspect
import math
import types as _types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.formats.onnx import types
from mindspore.prims import values
from mindspore.prims.catalogue import catalogue
from mindspore.prims.values import TensorBase

P: Any = _types.SimpleNamespace(**catalogue())  # the primitives by name
OPERATORS: dict[str, Callable[..., Any]] = {}
_SEES_ARRAYS: set[str] = set()


class NeedsValuesError(ValueError):
    """A graph can only be built when the values of some inputs are known."""


def operator(*names: str, arrays: bool = False) -> Callable[[Callable], Callable]:
    """Register a function; with `arrays`, it gets constants as NumPy arrays."""

    def register(function: Callable) -> Callable:
        OPERATORS.update(dict.fromkeys(names, function))
        if arrays:
            _SEES_ARRAYS.update(names)
        return function

    return register


@functools.cache
def _attributes_of(op: str) -> tuple[frozenset[str], bool]:
    """The names that an operator's function takes, and whether it takes any."""
    parameters = inspect.signature(OPERATORS[op]).parameters.values()
    return frozenset(p.name for p in parameters), any(p.kind is p.VAR_KEYWORD for p in parameters)


def run_operator(
    op: str, opset: int, inputs: list[Any], attributes: dict[str, Any], outputs: int = 1, common_seed: int | None = None
) -> tuple:
    """The results of a node. `common_seed` is used where the model gives none."""
    known, any_name = _attributes_of(op)
    for name, value in (("opset", opset), ("num_outputs", outputs), ("common_seed", common_seed)):
        if name in known:
            attributes = {name: value, **attributes}
    extra = set(attributes) - known
    if extra and not any_name:
        raise ValueError(f"The attribute '{sorted(extra)[0]}' of the ONNX operator '{op}' is not supported.")
    folded = bool(inputs) and all(isinstance(i, (np.ndarray, type(None))) for i in inputs)
    values = inputs if op in _SEES_ARRAYS else [as_tensor(i) for i in inputs]
    result = OPERATORS[op](*values, **attributes)
    results = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(r._data) if folded and isinstance(r, TensorBase) and r._node is None else r for r in results)


def is_known(value: object) -> bool:
    """Whether a value is known now, rather than when the graph being built runs."""
    return not isinstance(value, TensorBase) or value._node is None


def tensor(array: Any) -> Any:
    """A constant as a Tensor."""
    return values.from_array(np.asarray(array))


def as_tensor(value: Any) -> Any:
    """A constant as a Tensor, where a Tensor can hold it."""
    return values.from_array(value) if isinstance(value, np.ndarray) and types.fits_tensor(value.dtype) else value


def static(value: Any, what: str) -> np.ndarray:
    """An input that must be known when the model is read or traced."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, TensorBase) and value._node is None:
        return np.asarray(value._data)
    raise NeedsValuesError(f"The ONNX model computes {what} at run time; in a graph only constant ones can be used.")


def ints(value: Any, what: str) -> tuple[int, ...]:
    """A known input as whole numbers."""
    return tuple(int(v) for v in np.asarray(static(value, what)).reshape(-1))


_MOST = 1 << 31  # elements of a tensor whose size is a number in the model, not that of its input


def affordable(op: str, shape: Sequence[int]) -> tuple[int, ...]:
    """`shape`, unless a few bytes of a model ask for more memory than any model needs."""
    if any(size < 0 for size in shape) or math.prod(shape) > _MOST:
        raise ValueError(
            f"The ONNX operator '{op}' asks for a tensor of shape {tuple(shape)}: sizes must not be negative, and their product "
            f"at most {_MOST}."
        )
    return tuple(shape)


def expand_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast to a shape."""
    return x if tuple(x.shape) == tuple(shape) else P.BroadcastTo(affordable("Expand", shape))(x)
