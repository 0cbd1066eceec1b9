"""Official primitives that have no class here: each as a short function over our primitives.

Arguments come in the order of the file; element types come as numbers, choices as numbers, sequences as tuples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.formats.mindir.messages import TYPES_BY_ID
from mindspore.prims import products, values
from mindspore.prims.arrays import ExpandDims
from mindspore.prims.broadcasting import BroadcastTo
from mindspore.prims.catalogue import catalogue
from mindspore.prims.pooling import MaxPoolGrad
from mindspore.prims.rnn import RecurrentSequence
from mindspore.prims.values import TensorBase

ADAPTERS: dict[str, Callable[..., Any]] = {}
#: those whose functions take the attributes of the primitive first
ATTRIBUTE_ADAPTERS: dict[str, Callable[..., Any]] = {}


def _prim(name: str) -> Any:
    return catalogue()[name]


def _broadcast(x: TensorBase, shape: Any) -> Any:
    lead = len(shape) - x.ndim
    return BroadcastTo(tuple(x.shape[i - lead] if d == -1 else d for i, d in enumerate(shape)))(x)


def _constant(value: Any) -> Any:
    """Numbers as a tensor: Python floats are float32."""
    array = np.asarray(value)
    return values.from_array(array.astype(np.float32) if array.dtype == np.float64 and not isinstance(value, np.generic) else array)


def _range(start: Any, end: Any, step: Any = 1) -> Any:
    numbers = np.arange(*(values.static_value(v) for v in (start, end, step)))
    return values.from_array(numbers.astype(np.float32) if numbers.dtype.kind == "f" else numbers)


def _dtype(code: Any) -> Any:
    return TYPES_BY_ID[code] if isinstance(code, int) else code


def _cast(x: TensorBase, code: Any) -> Any:
    return x if code is None else x.astype(_dtype(code))


def _axes(x: TensorBase, dim: Any) -> Any:
    return tuple(range(x.ndim)) if dim is None or dim == () else dim


def adapter(*names: str) -> Callable[[Callable], Callable]:
    """Register a function for primitives."""

    def register(function: Callable) -> Callable:
        ADAPTERS.update(dict.fromkeys(names, function))
        return function

    return register


# -- arithmetic -------------------------------------------------------------------------------------------------------
def _binary(name: str) -> Callable:
    return lambda x, y: _prim(name)()(x, y)


def _with_alpha(name: str) -> Callable:
    return lambda x, y, alpha=1: _prim(name)()(x, y if alpha == 1 else y * alpha)


def _unary(name: str) -> Callable:
    return lambda x: _prim(name)()(x)


def _round(x: Any, decimals: int = 0) -> Any:
    factor = 10.0**decimals
    return _prim("Round")()(x * factor) / factor if decimals else _prim("Round")()(x)


ADAPTERS.update({
    "Round": _round,
    "AddExt": _with_alpha("Add"), "AddScalar": _with_alpha("Add"), "SubExt": _with_alpha("Sub"),
    "SubScalar": _with_alpha("Sub"), "Muls": _binary("Mul"), "Divs": _binary("Div"), "EqScalar": _binary("Equal"),
    "GreaterEqualScalar": _binary("GreaterEqual"), "LessScalar": _binary("Less"), "PowTensorScalar": _binary("Pow"),
    "PowScalarTensor": _binary("Pow"), "FloorDivScalar": _binary("FloorDiv"),
    "SelectV2": lambda c, x, y: _prim("Select")()(c, x, y),
    "AcosExt": _unary("ACos"), "AcoshExt": _unary("Acosh"), "AsinExt": _unary("Asin"), "AsinhExt": _unary("Asinh"),
    "AtanExt": _unary("Atan"), "Atan2Ext": _binary("Atan2"), "BitwiseAndTensor": _binary("BitwiseAnd"),
    "BitwiseOrTensor": _binary("BitwiseOr"), "BitwiseXorTensor": _binary("BitwiseXor"), "BitwiseNot": _unary("Invert"),
    "BoolNot": lambda x: not x, "ZerosLikeExt": lambda x, dtype=None: _cast(_prim("ZerosLike")()(x), dtype),
    "OnesLikeExt": lambda x, dtype=None: _cast(_prim("OnesLike")()(x), dtype),
    "FullLike": lambda x, value, dtype=None: _cast(_prim("OnesLike")()(x) * value, dtype),
    "Clone": lambda x: x, "Copy": lambda x: x, "Contiguous": lambda x: x, "Return": lambda x: x,
    "StopGradient": _unary("StopGradient"), "TypeAs": lambda x, y: x.astype(y.dtype),
})  # fmt: skip


@adapter("ScalarToTensor")
def _scalar_to_tensor(x: Any, dtype: Any = None) -> Any:
    """Numbers that loops carry are tensors already."""
    return _cast(x if isinstance(x, TensorBase) else _constant(x), dtype)


ADAPTERS["TensorToScalar"] = lambda x: x.reshape(())


@adapter("ClampScalar", "ClampTensor")
def _clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    x = x if low is None else _prim("Maximum")()(x, low)
    return x if high is None else _prim("Minimum")()(x, high)


@adapter("MatMulExt", "BatchMatMulExt", "Mm", "Mv", "Dot")
def _matmul(x: Any, y: Any) -> Any:
    return products.matmul(x, y)


@adapter("Dense")
def _dense(x: TensorBase, weight: TensorBase, bias: Any = None) -> Any:
    rows = x.reshape(-1, x.shape[-1])
    out = _prim("MatMul")(False, True)(rows, weight).reshape(*x.shape[:-1], weight.shape[0])
    return out if bias is None else out + bias


@adapter("Addmm", "Baddbmm")
def _addmm(x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return x * beta + products.matmul(a, b) * alpha


# -- reductions -------------------------------------------------------------------------------------------------------
def _reduction(name: str) -> Callable:
    def run(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
        return _prim(name)(bool(keepdim))(_cast(x, dtype), _axes(x, dim))

    return run


for _name, _own in (("SumExt", "ReduceSum"), ("MeanExt", "ReduceMean"), ("ProdExt", "ReduceProd"), ("Max", "ReduceMax"),
                    ("Min", "ReduceMin"), ("AnyExt", "ReduceAny"), ("Any", "ReduceAny")):  # fmt: skip
    ADAPTERS[_name] = _reduction(_own)


def _arg(name: str) -> Callable:
    def run(x: TensorBase, dim: Any = None, keepdim: Any = False) -> Any:
        out = _prim(name)(0 if dim is None else dim)(x.reshape(-1) if dim is None else x).astype(mstype.int64)
        return ExpandDims()(out, dim) if keepdim and dim is not None else out

    return run


ADAPTERS.update({"ArgMaxExt": _arg("Argmax"), "ArgMinExt": _arg("Argmin")})
ADAPTERS["MaxDim"] = lambda x, dim, keepdim=False: (
    _reduction("ReduceMax")(x, dim, keepdim),
    _arg("Argmax")(x, dim, keepdim),
)
ADAPTERS["MinDim"] = lambda x, dim, keepdim=False: (
    _reduction("ReduceMin")(x, dim, keepdim),
    _arg("Argmin")(x, dim, keepdim),
)


@adapter("Var")
def _variance(x: TensorBase, dim: Any = None, correction: Any = 1, keepdim: Any = False) -> Any:
    axes = _axes(x, dim)
    count = 1
    for axis in (axes,) if isinstance(axes, int) else axes:
        count *= x.shape[axis]
    centred = x - _prim("ReduceMean")(True)(x, axes)
    return _prim("ReduceSum")(bool(keepdim))(centred * centred, axes) / (count - correction)


ADAPTERS["Std"] = lambda *args: _prim("Sqrt")()(_variance(*args))


# -- shapes -----------------------------------------------------------------------------------------------------------
ADAPTERS.update({
    "Shape": lambda x: tuple(x.shape),
    "ScalarMul": lambda x, y: x * y, "ScalarAdd": lambda x, y: x + y, "ScalarSub": lambda x, y: x - y,
    "ScalarFloorDiv": lambda x, y: x // y, "ScalarDiv": lambda x, y: x / y, "ScalarMod": lambda x, y: x % y,
    "Range": lambda start, end, step, *rest: _range(start, end, step),
    "TensorShape": lambda x: _constant(list(x.shape)),
    "Flatten": lambda x: x.reshape(x.shape[0], -1),
    "View": lambda x, shape: x.reshape(shape),
    "ViewAs": lambda x, y: x.reshape(y.shape),
    "ExpandDimsView": lambda x, dim: _prim("ExpandDims")()(x, dim),
    "BroadcastToView": lambda x, shape: _broadcast(x, shape),
    "ExpandAs": lambda x, y: _broadcast(x, y.shape),
    "TExt": lambda x: x.T,
    "StackExt": lambda xs, dim=0: _prim("Stack")(dim)(xs),
    "IndexSelect": lambda x, dim, index: _prim("Gather")()(x, index, dim),
    "Embedding": lambda ids, weight, *rest: _prim("Gather")()(weight, ids, 0),
    "MaskedFillScalar": lambda x, mask, value: _prim("Select")()(mask, value, x).astype(x.dtype),
    "ToDtype": lambda x, dtype, *rest: _cast(x, dtype),
})  # fmt: skip


@adapter("FlattenExt")
def _flatten(x: TensorBase, start: int = 0, end: int = -1) -> Any:
    end = end % x.ndim
    start = start % x.ndim
    return x.reshape(*x.shape[:start], -1, *x.shape[end + 1 :])


def _part(x: TensorBase, dim: int, part: Any) -> Any:
    return x[(*(slice(None),) * (dim % x.ndim), part)]


@adapter("SliceExt", "SliceExtView")
def _slice(x: Any, dim: int, start: Any, end: Any, step: Any = 1) -> Any:
    return _part(x, dim, slice(start, end, step))


@adapter("Narrow", "NarrowView")
def _narrow(x: Any, dim: int, start: int, length: int) -> Any:
    return _part(x, dim, slice(start, start + length))


@adapter("SelectExtView")
def _select(x: Any, dim: int, index: int) -> Any:
    return _part(x, dim, index)


@adapter("SplitTensor", "SplitTensorView")
def _split(x: TensorBase, size: int, dim: int = 0) -> tuple:
    return tuple(_narrow(x, dim, at, min(size, x.shape[dim] - at)) for at in range(0, x.shape[dim], size))


@adapter("SplitWithSize", "SplitWithSizeView")
def _split_sizes(x: Any, sizes: tuple, dim: int = 0) -> tuple:
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return tuple(_narrow(x, dim, at, size) for at, size in zip(starts, sizes))


@adapter("Chunk", "ChunkView")
def _chunk(x: TensorBase, chunks: int, dim: int = 0) -> tuple:
    return _split(x, -(-x.shape[dim] // chunks), dim)


@adapter("UnstackExtView")
def _unstack(x: TensorBase, dim: int = 0) -> tuple:
    return tuple(_part(x, dim, i) for i in range(x.shape[dim]))


# -- creation ---------------------------------------------------------------------------------------------------------
def _filled(value: float) -> Callable:
    def run(size: Any, dtype: Any = None) -> Any:
        shape = tuple(size) if isinstance(size, (tuple, list)) else (size,)
        return _prim("Fill")()(mstype.float32 if dtype is None else _dtype(dtype), shape, value)

    return run


ADAPTERS.update({"Zeros": _filled(0), "Ones": _filled(1)})
ADAPTERS["FillScalar"] = lambda size, value, dtype=None: _cast(_filled(1)(size) * value, dtype)
ADAPTERS["Arange"] = lambda start, end, step=1, dtype=None: _cast(_range(start, end, step), dtype)


# -- layers -----------------------------------------------------------------------------------------------------------
ADAPTERS.update({
    "SiLUExt": _unary("SiLU"),
    "LeakyReLUExt": lambda x, slope=0.01: _prim("LeakyReLU")(float(slope))(x),
    "MishExt": _unary("Mish"),
})  # fmt: skip


@adapter("GroupNorm")
def _group_norm(x: TensorBase, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> tuple:
    rows = x.reshape(x.shape[0], groups, -1)
    out, mean, variance = _prim("Standardize")((2,), eps)(rows)
    out = out.reshape(x.shape)
    shape = (1, -1, *(1,) * (x.ndim - 2))
    out = out if weight is None else out * weight.reshape(shape)
    out = out if bias is None else out + bias.reshape(shape)
    return out, mean.reshape(x.shape[0], groups), _prim("Rsqrt")()(variance + eps).reshape(x.shape[0], groups)


@adapter("SoftplusExt")
def _softplus(x: Any, beta: Any = 1, threshold: Any = 20) -> Any:
    return _prim("SoftplusBeta")(float(beta), float(threshold))(x)


@adapter("GeluExt")
def _gelu(x: Any, approximate: Any = 0) -> Any:
    return _prim("GeLU" if approximate else "GeLUErf")()(x)


@adapter("LogSoftmaxExt")
def _log_softmax(x: Any, dim: Any = -1, dtype: Any = None) -> Any:
    return _prim("LogSoftmax")(-1 if dim is None else dim)(_cast(x, dtype))


@adapter("LayerNormExt")
def _layer_norm(x: TensorBase, shape: tuple, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> tuple:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    out, mean, variance = _prim("Standardize")(axes, eps)(x)
    out = out if weight is None else out * weight
    return (out if bias is None else out + bias), mean, variance


def _lstm(attributes: dict[str, Any], x: Any, h: Any, c: Any, weights: TensorBase) -> tuple:
    """One layer in one direction with one bias, as official MindSpore has it on a CPU."""
    hidden, width = attributes["hidden_size"], attributes["input_size"]
    sizes = [4 * hidden * width, 4 * hidden * hidden, 4 * hidden if attributes.get("has_bias") else 0]
    flat = weights.reshape(-1)
    if attributes.get("num_layers", 1) != 1 or attributes.get("bidirectional") or flat.shape[0] != sum(sizes):
        return NotImplemented
    inner, outer = flat[: sizes[0]].reshape(4 * hidden, width), flat[sizes[0] : sum(sizes[:2])].reshape(-1, hidden)
    gates = products.matmul(x, inner.T)
    if sizes[2]:
        gates = gates + flat[sum(sizes[:2]) :]
    out, h, c, saved = RecurrentSequence("lstm")(gates, h[0], c[0], outer, None, None)
    return out, ExpandDims()(h, 0), ExpandDims()(c, 0), saved, saved


@adapter("BiasAddGrad")
def _bias_grad(dout: TensorBase, data_format: Any = 0) -> Any:
    channel = dout.ndim - 1 if data_format in (1, "NHWC") else 1
    return _prim("ReduceSum")()(dout, tuple(i for i in range(dout.ndim) if i != channel))


def _max_pool_grad(attributes: dict[str, Any], x: Any, out: Any, dout: Any) -> Any:
    window = (attributes[name][-2:] for name in ("kernel_size", "strides"))
    pool = _prim("MaxPool")(*window, attributes["pad_mode"].lower(), attributes.get("format", "NCHW"))
    return pool.sibling(MaxPoolGrad)(x, out, dout)


ATTRIBUTE_ADAPTERS.update({"LSTM": _lstm, "MaxPoolGrad": _max_pool_grad})
