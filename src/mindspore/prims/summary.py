"""Summary operations: values inside a network that a SummaryRecord writes after the step.

They keep what they see in a list, in program order, until `take` empties it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor
from mindspore.prims.active import ACTIVE
from mindspore.prims.debug import io_token
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import TensorBase

if TYPE_CHECKING:
    from mindspore.prims.array_types import Namespace

_LIMIT = 100_000
_pending: list[tuple[str, str, np.ndarray]] = []
_lock = threading.Lock()


def take() -> list[tuple[str, str, np.ndarray]]:
    """What was measured since the last call: (kind, name, value); of equal names the newest."""
    global _pending
    with _lock:
        found, _pending = _pending, []
    return list({(kind, name): (kind, name, value) for kind, name, value in found}.values())


def keep(kind: str, name: str, value: np.ndarray) -> None:
    """Note a measured value for the next `take`."""
    with _lock:
        _pending.append((kind, name, value))
        if len(_pending) > _LIMIT:  # nobody records them
            del _pending[: _LIMIT // 2]


class _Summary(Primitive):
    effect = "io"
    kind = ""

    def __init__(self, label: str = ""):
        super().__init__(type(self).__name__, label=label)

    def __call__(self, *args: Any) -> Any:
        if args and getattr(args[0], "_ms_keep", False):
            return super().__call__(*args)
        if len(args) != 2:
            raise TypeError(f"For '{self.name}', it needs a name and a value, but got {len(args)} arguments.")
        label, value = args
        if not isinstance(label, str):
            raise TypeError(f"For '{self.name}', the name must be a string, but got {type(label).__name__}.")
        if not label:
            raise ValueError(f"For '{self.name}', the name must not be empty.")
        if not isinstance(value, TensorBase):
            raise TypeError(f"For '{self.name}', the value must be a Tensor, but got {type(value).__name__}.")
        self._check(value.shape)
        builder = ACTIVE.builder
        if builder is None:
            self._keep(label, np.array(value._data))
            return None
        token = io_token()
        builder.write(token, builder.node_of(type(self)(label)(token, value)))
        return None

    def _check(self, shape: tuple[int, ...]) -> None:
        if self.kind == "scalar" and any(d != 1 for d in shape):
            raise ValueError(f"For '{self.name}', the value must be one number, but its shape is {shape}.")
        if self.kind == "image" and len(shape) != 4:
            raise ValueError(f"For '{self.name}', the value must have the shape (N, C, H, W), but it is {shape}.")
        if self.kind in ("tensor", "histogram") and not shape:
            raise ValueError(f"For '{self.name}', the value must have at least one dimension.")

    def _keep(self, label: str, array: np.ndarray) -> None:
        keep(self.kind, label, array)

    def infer(self, token: Any, value: Any) -> Any:
        return AbstractTensor(mstype.int32, ())

    def eval(self, xp: Namespace, token: Any, value: Any) -> Any:
        self._keep(self.label, np.array(value))
        return np.asarray(token)

    def eval_xla(self, xp: Namespace, token: Any, value: Any) -> Any:
        jax = require("jax", "xla", "a summary inside a graph")
        from jax.experimental import io_callback

        shape = jax.ShapeDtypeStruct((), np.int32)
        return io_callback(lambda t, v: self.eval(np, np.asarray(t), v), shape, token, value, ordered=True)


class ScalarSummary(_Summary):
    """`ScalarSummary()(name, value)`: record a number.

    Examples:
        >>> from mindspore import ops
        >>> summary = ops.ScalarSummary()
        >>> type(summary).__name__
        'ScalarSummary'
    """

    kind = "scalar"


class ImageSummary(_Summary):
    """`ImageSummary()(name, value)`: record images (N, C, H, W).

    Examples:
        >>> ops.ImageSummary()("picture", ops.ones((1, 3, 4, 4))) is None
        True
    """

    kind = "image"


class TensorSummary(_Summary):
    """`TensorSummary()(name, value)`: record a tensor.

    Examples:
        >>> ops.TensorSummary()("activations", Tensor([1.0])) is None
        True
    """

    kind = "tensor"


class HistogramSummary(_Summary):
    """`HistogramSummary()(name, value)`: record the distribution of values.

    Examples:
        >>> ops.HistogramSummary()("weights", Tensor([1.0, 2.0])) is None
        True
    """

    kind = "histogram"
