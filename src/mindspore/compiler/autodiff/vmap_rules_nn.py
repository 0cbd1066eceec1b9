"""Batching rules of layers' primitives: softmax, norms, sorting, running sums, gathers, windows and attention.

Operations over windows already have a batch dimension: the examples join it. Those along an axis take the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.compiler.autodiff.vmap_rules import Arg, shift, spread
from mindspore.prims import activation, arrays, attention, conv, gather_scatter, loss, norm, pooling, scan, sorting
from mindspore.prims.arrays import Transpose
from mindspore.prims.reduction import Reshape
from mindspore.prims.values import TensorBase

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive


def _with(op: Primitive, **attributes: Any) -> Any:
    """The primitive with other attributes."""
    copy = op.clone()
    copy.attrs = {**copy.attrs, **attributes}
    copy.__dict__.update(attributes)
    return copy


def _along_axis(op: Primitive, size: int, x: Arg) -> Any:
    """Primitives whose attribute `axis` says along which dimension they work."""
    ndim = x[0].ndim - 1
    if op.axis is None or not ndim:
        return None
    axis = tuple(shift(a, ndim) for a in op.axis) if isinstance(op.axis, tuple) else shift(op.axis, ndim)
    return _with(op, axis=axis)(x[0])


def _running(op: Primitive, size: int, x: Arg, axis: Arg) -> Any:
    return op(x[0], shift(axis[0], x[0].ndim - 1)) if x[0].ndim > 1 else None


def _top(op: Primitive, size: int, x: Arg, k: Arg) -> Any:
    return op(x[0], k[0]) if x[0].ndim > 1 and not k[1] else None


def _layer_norm(op: Primitive, size: int, x: Arg, gamma: Arg, beta: Arg) -> Any:
    if gamma[1] or beta[1] or not x[1]:
        return None
    later = lambda axis: axis + 1 if axis >= 0 else axis
    moved = _with(op, begin_norm_axis=later(op.begin_norm_axis), begin_params_axis=later(op.begin_params_axis))
    return moved(x[0], gamma[0], beta[0])


def _rms_norm(op: Primitive, size: int, x: Arg, gamma: Arg) -> Any:
    return None if gamma[1] or not x[1] else op(x[0], gamma[0])


def _standardize(op: Primitive, size: int, x: Arg) -> Any:
    return _with(op, axes=tuple(shift(a, x[0].ndim - 1) for a in op.axes))(x[0])


def _pad(op: Any, size: int, x: Arg) -> Any:
    return type(op)(((0, 0), *op.paddings), op.value)(x[0])


# -- gathers ----------------------------------------------------------------------------------------------------------
def _gather(op: Any, size: int, params: Arg, indices: Arg, axis: Arg) -> Any:
    ndim = params[0].ndim - 1 if params[1] else params[0].ndim
    at = axis[0] % ndim
    if params[1] and indices[1]:
        batch = op.batch_dims + (indices[0].ndim - 1 if op.batch_dims < 0 else 0)
        return type(op)(batch + 1)(params[0], indices[0], at + 1)
    if op.batch_dims:
        return None
    if params[1]:
        return op(params[0], indices[0], at + 1)
    out = op(params[0], indices[0], at)  # the examples stand where the axis was
    return Transpose()(out, (at, *(d for d in range(out.ndim) if d != at))) if at else out


def _gather_along(op: Primitive, size: int, x: Arg, dim: Arg, index: Arg) -> Any:
    ndim = x[0].ndim - 1 if x[1] else x[0].ndim
    return op(spread(x, size), shift(dim[0], ndim), spread(index, size))


# -- a batch of batches -------------------------------------------------------------------------------------------------
def _join(value: Any) -> Any:
    return Reshape()(value, (value.shape[0] * value.shape[1], *value.shape[2:]))


def _part(value: Any, size: int) -> Any:
    return Reshape()(value, (size, value.shape[0] // size, *value.shape[1:]))


def _folded(op: Primitive, size: int, *args: Arg) -> Any:
    """All tensors have the batch dimension first: the examples join it."""
    joined = [_join(spread(a, size)) if isinstance(a[0], TensorBase) else a[0] for a in args]
    out = op(*joined)
    return tuple(_part(o, size) for o in out) if isinstance(out, tuple) else _part(out, size)


def _windows_grad(op: Primitive, size: int, dout: Arg, shape: Arg) -> Any:
    first, *rest = shape[0]
    return _part(op(_join(dout[0]), (size * first, *rest)), size)


def _convolution(op: Primitive, size: int, x: Arg, w: Arg) -> Any:
    return None if w[1] else _part(op(_join(x[0]), w[0]), size)


def _convolution_input(op: Primitive, size: int, dout: Arg, w: Arg, shape: Arg) -> Any:
    if w[1]:
        return None
    first, *rest = shape[0]
    return _part(op(_join(dout[0]), w[0], (size * first, *rest)), size)


def _attention(op: Primitive, size: int, q: Arg, k: Arg, v: Arg, bias: Arg) -> Any:
    """Any number of dimensions may come before length and size."""
    added = bias[0]
    if bias[1]:
        lead = q[0].ndim - (1 if q[1] else 0) - (added.ndim - 1)
        added = Reshape()(added, (size, *((1,) * lead), *added.shape[1:]))
    return op(*(spread(a, size) for a in (q, k, v)), added)


RULES_NN: dict[type, Any] = {
    sorting.TopK: _top,
    norm.LayerNorm: _layer_norm,
    norm.RmsNorm: _rms_norm,
    norm.Standardize: _standardize,
    arrays.Pad: _pad,
    gather_scatter.Gather: _gather,
    gather_scatter.GatherD: _gather_along,
    pooling.AvgPoolGrad: _windows_grad,
    attention.Attention: _attention,
}
_ALONG_AXIS = (
    activation.Softmax, activation.LogSoftmax, sorting.Sort, sorting.Argmax, sorting.Argmin, scan.Cummax, scan.Cummin,
)  # fmt: skip
_RUNNING = (scan.CumSum, scan.CumProd, scan.CumulativeLogsumexp)
_FOLDED = (
    pooling.MaxPool, pooling.MaxPool3D, pooling.MaxPoolNd, pooling.MaxPoolGrad, pooling.MaxPoolGradGrad,
    pooling.MaxPoolWithIndices, pooling.AvgPool, pooling.AvgPool3D, pooling.AvgPoolNd,
    loss.SoftmaxCrossEntropyWithLogits, loss.SparseCrossEntropy,
)  # fmt: skip
_CONVOLUTIONS = (conv.Conv1D, conv.Conv2D, conv.Conv3D)
_CONVOLUTION_INPUTS = (conv.Conv1DBackpropInput, conv.Conv2DBackpropInput, conv.Conv3DBackpropInput)
for _classes, _rule in (
    (_ALONG_AXIS, _along_axis), (_RUNNING, _running), (_FOLDED, _folded), (_CONVOLUTIONS, _convolution),
    (_CONVOLUTION_INPUTS, _convolution_input),
):  # fmt: skip
    RULES_NN.update(dict.fromkeys(_classes, _rule))
