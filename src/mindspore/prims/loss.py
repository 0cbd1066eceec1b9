"""Losses that deserve a rule of their own, because evaluating them as written would overflow or waste memory.

They work element by element or row by row; reductions, weights and the rest of the family are composed in
`mindspore.ops`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.activation import Softmax, shifted_and_total, shifted_by_maximum
from mindspore.prims.arrays import ExpandDims
from mindspore.prims.batching import folded
from mindspore.prims.broadcasting import ReduceSum
from mindspore.prims.elementwise import Cast, Elementwise, Equal, Exp, Log, Maximum, Minimum, Select, Sigmoid
from mindspore.prims.factors import DONE, Factors
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import ROWS, Primitive
from mindspore.prims.requirements import Requirement, label_below
from mindspore.prims.values import TensorBase, from_array

if TYPE_CHECKING:
    from mindspore.compiler.shard.device import Device
    from mindspore.prims.array_types import Array, Namespace


def _log_softmax(xp: Namespace, x: Array) -> Any:
    shifted = shifted_by_maximum(xp, x, (-1,))  # as Softmax does, whose sums XLA then computes once for loss and gradient
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))


def _check_logits(op: str, logits: AbstractTensor) -> None:
    checks.tensor(op, "logits", logits)
    checks.dtype_in(op, "logits", logits.dtype, "f")
    if logits.ndim != 2:
        raise ValueError(f"For '{op}', 'logits' must have 2 dimensions (N, C), but its shape is {logits.shape}.")


def _log_softmax_of_part(device: Any, logits: Any) -> Any:
    """log_softmax where the classes, "v", are cut over devices."""
    shifted, total = shifted_and_total(device, logits, (1,), ("v",))
    return shifted - Log()(total)


class SoftmaxCrossEntropyWithLogits(Primitive):
    """-sum(labels * log_softmax(logits)) per row, and softmax(logits) - labels: the gradient by the logits of labels that add up to 1.

    As in official MindSpore that is the gradient, whatever the labels add up to, and labels have none. Where that is not
    meant, `ops.cross_entropy` takes class probabilities, too, and differentiates by both.

    Examples:
        >>> loss, grad = ops.SoftmaxCrossEntropyWithLogits()(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]]))
        >>> print(loss, grad)
        [0.6931472] [[-0.5  0.5]]
    """

    def __init__(self) -> None:
        super().__init__("SoftmaxCrossEntropyWithLogits")

    def infer(self, logits: AbstractTensor, labels: AbstractTensor) -> Any:
        _check_logits(self.name, logits)
        checks.tensor(self.name, "labels", labels)
        if labels.shape != logits.shape:
            raise ValueError(
                f"For '{self.name}', 'labels' must have the shape of 'logits', but got {labels.shape} "
                f"and {logits.shape}."
            )
        if labels.dtype is not logits.dtype:
            raise TypeError(
                f"For '{self.name}', 'labels' must have the dtype of 'logits', but got {labels.dtype} "
                f"and {logits.dtype}."
            )
        return AbstractTuple((AbstractTensor(logits.dtype, logits.shape[:1]), logits))

    def factors(self, logits: Any, labels: Any) -> Factors:
        return Factors((("n", "v"), ("n", "v")), (("n",), ("n", "v")), {"v": DONE}).filling(None)

    def on_device(self, device: Device, logits: TensorBase, labels: Any) -> Any:
        if device.parts("v") == 1:
            return device.plain(self, logits, labels)
        log_p = _log_softmax_of_part(device, logits)
        wide = device.masked(Cast()(labels, log_p.dtype), 1, "v", 0)
        loss = device.all_reduce("sum", -ReduceSum()(wide * log_p, -1), "v")
        return Cast()(loss, logits.dtype), Cast()(Exp()(log_p) - wide, logits.dtype)

    def eval(self, xp: Namespace, logits: Array, labels: Array) -> Any:
        log_p, wide = _log_softmax(xp, widen(logits)), widen(labels)
        loss = -xp.sum(wide * log_p, axis=-1)
        return narrow(loss, logits), narrow(xp.exp(log_p) - wide, logits)

    def bprop(self, logits: TensorBase, labels: TensorBase, out: Any, dout: Any) -> tuple:
        return ExpandDims()(dout[0], -1) * (Softmax(-1)(logits) - labels), None

    vmap = folded


class SparseCrossEntropy(Primitive):
    """-log_softmax(logits)[label] per row, for integer labels.

    Examples:
        >>> print(ops.SparseCrossEntropy()(Tensor([[0.0, 0.0]]), Tensor([1], ms.int32)))
        [0.6931472]
    """

    native_gradient_from = ROWS  # it checks its labels, which native code would do after the fact

    def __init__(self) -> None:
        super().__init__("SparseCrossEntropy")

    def infer(self, logits: AbstractTensor, labels: AbstractTensor) -> Any:
        _check_logits(self.name, logits)
        checks.tensor(self.name, "labels", labels)
        checks.dtype_in(self.name, "labels", labels.dtype, "ui")
        if labels.shape != logits.shape[:1]:
            raise ValueError(
                f"For '{self.name}', 'labels' must have the shape {logits.shape[:1]}, but got {labels.shape}."
            )
        return AbstractTensor(logits.dtype, labels.shape)

    def requirements(self, logits: Any, labels: Any) -> list[Requirement]:
        return [label_below(self.name, 1, logits.shape[1])]

    def factors(self, logits: Any, labels: Any) -> Factors:
        return Factors((("n", "v"), ("n",)), (("n",),), {"v": DONE}).filling(None)

    def on_device(self, device: Device, logits: TensorBase, labels: Any) -> Any:
        """A cut vocabulary: each device picks the labels that are its own."""
        if device.parts("v") == 1:
            return self(logits, labels)
        classes = from_array(np.arange(logits.shape[1], dtype=np.int64))
        here = classes + Cast()(device.start("v"), mstype.int64)
        hot = Equal()(ExpandDims()(Cast()(labels, mstype.int64), -1), here)
        log_p = device.masked(_log_softmax_of_part(device, logits), 0, "v", 0)
        loss = device.all_reduce("sum", -ReduceSum()(Select()(hot, log_p, log_p * 0), -1), "v")
        return Cast()(loss, logits.dtype)

    def eval(self, xp: Namespace, logits: Array, labels: Array) -> Any:
        self.enforce(xp, logits, labels)
        log_p = _log_softmax(xp, widen(logits))
        picked = xp.take_along_axis(log_p, labels[:, None].astype(np.int64), axis=1)[:, 0]
        return narrow(-picked, logits)

    def bprop(self, logits: TensorBase, labels: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        classes = from_array(np.arange(logits.shape[1], dtype=labels.dtype.np))
        hot = Cast()(Equal()(ExpandDims()(labels, -1), classes), logits.dtype)
        return ExpandDims()(dout, -1) * (Softmax(-1)(logits) - hot), None

    vmap = folded


class SigmoidCrossEntropyWithLogits(Elementwise):
    """-(y log sigmoid(x) + (1 - y) log(1 - sigmoid(x))), element by element of two tensors of one shape.

    Examples:
        >>> ops.SigmoidCrossEntropyWithLogits()(Tensor([0.0]), Tensor([1.0])).shape
        (1,)
    """

    promote = "all"
    kinds = "f"

    def __init__(self) -> None:
        super().__init__("SigmoidCrossEntropyWithLogits")

    def prepare(self, args: tuple) -> tuple:
        logits, label = args
        for name, value in (("logits", logits), ("label", label)):
            if not isinstance(value, TensorBase):
                raise TypeError(f"For '{self.name}', '{name}' must be a Tensor, but got {checks.describe(value)}.")
        checks.same_shape(self.name, "label", label.shape, "logits", logits.shape)
        return super().prepare(args)

    def eval(self, xp: Namespace, logits: Array, label: Array) -> Any:
        wide = widen(logits)
        return narrow(xp.maximum(wide, 0) - wide * widen(label) + xp.log1p(xp.exp(-xp.abs(wide))), logits)

    def bprop(self, logits: TensorBase, label: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return dout * (Sigmoid()(logits) - label), -dout * logits


class SmoothL1(Elementwise):
    """0.5 d² / beta where |d| < beta, else |d| - 0.5 beta, with d = x - y (Girshick 2015).

    Examples:
        >>> print(ops.SmoothL1()(Tensor([1.5, 5.0]), Tensor([1.0, 1.0])))
        [0.125 3.5  ]
    """

    promote = "all"
    kinds = "f"

    def __init__(self, beta: float = 1.0):
        if isinstance(beta, bool) or not isinstance(beta, (int, float)):
            raise TypeError(f"For 'SmoothL1Loss', 'beta' must be a number, but got {beta!r}.")
        if beta < 0:
            raise ValueError(f"For 'SmoothL1Loss', 'beta' must not be negative, but got {beta}.")
        super().__init__("SmoothL1", beta=float(beta))

    def eval(self, xp: Namespace, x: Array, y: Array) -> Any:
        size = xp.abs(x - y)
        if self.beta == 0:
            return size
        return narrow(xp.where(size < self.beta, 0.5 * size * size / self.beta, size - 0.5 * self.beta), x)

    def bprop(self, x: TensorBase, y: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        from mindspore.prims.broadcasting import sum_to_shape
        from mindspore.prims.elementwise import Sign

        difference = x - y
        slope = Sign()(difference) if self.beta == 0 else Maximum()(Minimum()(difference / self.beta, 1.0), -1.0)
        grad = dout * slope
        return sum_to_shape(grad, x.shape), -sum_to_shape(grad, y.shape)
