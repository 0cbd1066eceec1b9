"""Official primitives behind `mindspore.mint` that have no class here. Importing this fills the table of adapters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.formats.mindir.adapters import ADAPTERS, _cast, _dtype, _prim, adapter
from mindspore.formats.mindir.compositions import COMPOSED, composed
from mindspore.prims import products, values

if TYPE_CHECKING:
    from mindspore.prims.values import TensorBase

_REDUCTION = {0: "sum", 1: "mean", 2: "none"}


def _apply(name: str) -> Callable:
    return lambda *arguments: _prim(name)()(*arguments)


ADAPTERS.update({
    "FmodScalar": _apply("TruncateMod"), "FmodTensor": _apply("TruncateMod"), "RemainderScalarTensor": _apply("FloorMod"),
    "RemainderTensorScalar": _apply("FloorMod"), "RemainderTensorTensor": _apply("FloorMod"),
    "XLogYScalarOther": _apply("Xlogy"), "XLogYScalarSelf": lambda x, y: _prim("Xlogy")()(y * 0 + x, y),
    "Vdot": products.matmul, "MatrixInverseExt": _apply("MatrixInverse"), "SeLUExt": _apply("SeLU"),
    "BitwiseAndScalar": lambda x, y: x & y, "BitwiseOrScalar": lambda x, y: x | y, "BitwiseXorScalar": lambda x, y: x ^ y,
    "IsNegInf": lambda x: _prim("LogicalAnd")()(_prim("IsInf")()(x), x < 0),
    "Index": lambda x, indices: x[tuple(indices)], "InnerIndex": lambda x, indices: x[tuple(indices)],
    "ListToTuple": tuple, "TupleToList": tuple, "TensorMove": lambda x: x, "sequence_len": len,
    "SequenceAdd": lambda x, y: (*x, *y), "SequenceMul": lambda x, n: tuple(x) * n,
    "Repeat": lambda x, repeats: COMPOSED["Tile"](x, tuple(repeats)),
    "EmptyLike": lambda x, dtype=None, *rest: _cast(_prim("ZerosLike")()(x), dtype),
    "FuncDropoutExt": lambda x, *rest: x, "DropoutExt": lambda x, *rest: x,  # a loaded model predicts
})  # fmt: skip


def _log_add(base: float) -> Callable:
    """log(base^x + base^y), by the larger one and what the other adds to it."""

    def run(x: Any, y: Any) -> Any:
        top, gap = _prim("Maximum")()(x, y), _prim("Abs")()(x - y)
        same = _prim("Equal")()(x, y)  # also where both are infinite
        return top + _prim("Log1p")()(_prim("Exp")()(_prim("Select")()(same, 0.0, -gap) * math.log(base))) / math.log(base)

    return run


ADAPTERS.update({"LogAddExp": _log_add(math.e), "LogAddExp2": _log_add(2.0)})


@adapter("DivMod", "DivMods")
def _div_mod(x: Any, y: Any, rounding: Any = None) -> Any:
    return _prim({1: "TruncateDiv", 2: "FloorDiv"}.get(rounding, "Div"))()(x, y)


# -- windows ----------------------------------------------------------------------------------------------------------
def _sizes(value: Any, rank: int) -> tuple[int, ...]:
    """One number per dimension, where one may stand for all."""
    found = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return found * rank if len(found) == 1 else found


@adapter("Conv1DExt", "Conv2DExt", "Conv3DExt")
def _convolution(
    x: TensorBase,
    w: TensorBase,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    rank = w.ndim - 2
    if x.ndim == rank + 1:
        return _convolution(_prim("ExpandDims")()(x, 0), w, bias, stride, padding, dilation, groups)[0]
    pairs = tuple((p, p) for p in _sizes(padding, rank))
    x = _prim("Pad")(((0, 0), (0, 0), *pairs))(x) if any(p for p, _ in pairs) else x
    made = _prim(f"Conv{rank}D")(
        w.shape[0], tuple(w.shape[2:]), pad_mode="valid", stride=_sizes(stride, rank), dilation=_sizes(dilation, rank),
        group=groups,
    )  # fmt: skip
    out = made(x, w)
    return out if bias is None else out + bias.reshape(1, -1, *(1,) * rank)


def _average_pool(rank: int) -> Callable:
    def run(
        x: Any, kernel: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, count_pad: Any = True,
        divisor: Any = None,
    ) -> Any:  # fmt: skip
        sizes = _sizes(kernel, rank)
        steps = _sizes(stride, rank) if stride else sizes
        return _prim("AvgPoolNd")(rank, sizes, steps, _sizes(padding, rank), bool(ceil_mode), bool(count_pad), divisor)(x)

    return run


ADAPTERS.update({"AvgPool1D": _average_pool(1), "AvgPool2D": _average_pool(2), "AvgPool3DExt": _average_pool(3)})


@adapter("AdaptiveAvgPool1D", "AdaptiveAvgPool2DExt", "AdaptiveAvgPool3DExt")
def _adaptive_average(x: TensorBase, output_size: Any) -> Any:
    """Each axis in turn by a product with the weights of its windows; None keeps a size."""
    rank = x.ndim - 2
    for axis, want in enumerate(_sizes(output_size, rank), 2):
        size = x.shape[axis]
        if want in (None, size):
            continue
        weights = np.zeros((size, want), x.dtype.np)
        for place in range(want):
            first, last = place * size // want, -(-(place + 1) * size // want)
            weights[first:last, place] = 1 / (last - first)
        order = [d for d in range(x.ndim) if d != axis] + [axis]
        moved = products.matmul(_prim("Transpose")()(x, tuple(order)), values.from_array(weights))
        x = _prim("Transpose")()(moved, tuple(int(d) for d in np.argsort(order)))
    return x


@adapter("MaxPoolWithMask")
def _max_pool(x: Any, kernel: Any, strides: Any, pads: Any, dilation: Any, ceil_mode: Any, *rest: Any) -> tuple:
    geometry = _sizes(kernel, 2), _sizes(strides or kernel, 2), _sizes(pads, 2), _sizes(dilation, 2)
    return tuple(_prim("MaxPoolWithIndices")(2, *geometry, bool(ceil_mode))(x))


@adapter("ConstantPadND")
def _constant_pad(x: TensorBase, padding: Any, value: Any = 0.0) -> Any:
    amounts = [tuple(padding[i : i + 2]) for i in range(0, len(padding), 2)]
    pairs = ((0, 0),) * (x.ndim - len(amounts)) + tuple(reversed(amounts))
    kept = tuple(slice(max(-lo, 0), size - max(-hi, 0)) for (lo, hi), size in zip(pairs, x.shape))  # negative ones crop
    return _prim("Pad")(tuple((max(lo, 0), max(hi, 0)) for lo, hi in pairs), value)(x[kept])


def _index_pad(mode: str) -> Callable:
    def run(x: TensorBase, padding: Any) -> Any:
        for place in range(0, len(padding), 2):  # from the last dimension on
            axis = x.ndim - 1 - place // 2
            places = np.pad(np.arange(x.shape[axis]), tuple(padding[place : place + 2]), mode)  # type: ignore[call-overload]
            x = _prim("Gather")()(x, values.from_array(places), axis)
        return x

    return run


@composed("PadV3")
def _pad(x: TensorBase, paddings: Any, value: Any = None, *, mode: str = "constant", paddings_contiguous: bool = True) -> Any:
    """From the last dimension on, what comes before it and behind; where that is not contiguous, first all that comes before."""
    known = values.static_value(paddings)
    amounts = [int(n) for n in (known if paddings_contiguous else np.reshape(known, (2, -1)).T.reshape(-1))]
    if mode != "constant":
        return _index_pad({"circular": "wrap"}.get(mode, mode))(x, amounts)
    return _constant_pad(x, amounts, 0 if value is None else np.reshape(values.static_value(value), -1)[0].item())


for _rank in (1, 2, 3):
    ADAPTERS[f"ReflectionPad{_rank}D"] = _index_pad("reflect")
    ADAPTERS[f"ReplicationPad{_rank}D"] = _index_pad("edge")


@adapter("UpsampleNearest1D", "UpsampleNearest2D")
def _nearest(x: TensorBase, size: Any = None, scales: Any = None) -> Any:
    wanted = size or tuple(int(d * scale) for d, scale in zip(x.shape[2:], scales))
    return COMPOSED["ResizeNearestNeighborV2"](x, tuple(wanted))


# -- reductions and losses --------------------------------------------------------------------------------------------
@adapter("LogSumExp")
def _log_sum_exp(x: Any, dim: Any, keepdim: Any = False) -> Any:
    top = _prim("ReduceMax")(True)(x, dim)
    top = _prim("Select")()(_prim("IsFinite")()(top), top, 0)
    total = _prim("Log")()(_prim("ReduceSum")(True)(_prim("Exp")()(x - top), dim)) + top
    return total if keepdim else total.reshape(_prim("ReduceMax")(False)(x, dim).shape)


def _reduced(loss: TensorBase, reduction: Any) -> Any:
    kind = _REDUCTION.get(reduction, "mean")
    every = tuple(range(loss.ndim))
    return loss if kind == "none" else _prim("ReduceSum" if kind == "sum" else "ReduceMean")()(loss, every)


ADAPTERS["MSELossExt"] = lambda x, y, reduction=1: _reduced(_prim("Square")()(x - y), reduction)
ADAPTERS["L1LossExt"] = lambda x, y, reduction=1: _reduced(_prim("Abs")()(x - y), reduction)


@adapter("KLDiv")
def _kl_div(x: Any, target: Any, reduction: Any = 1, log_target: bool = False) -> Any:
    if log_target:
        return _reduced(_prim("Exp")()(target) * (target - x), reduction)
    return _reduced(_prim("Xlogy")()(target, target) - target * x, reduction)


# -- creation ---------------------------------------------------------------------------------------------------------
def _new(x: TensorBase, size: Any, value: Any, dtype: Any = None) -> Any:
    return _prim("Fill")()(x.dtype if dtype is None else _dtype(dtype), tuple(size), value)


ADAPTERS["NewZeros"] = lambda x, size, dtype=None: _new(x, size, 0, dtype)
ADAPTERS["NewOnes"] = lambda x, size, dtype=None: _new(x, size, 1, dtype)
ADAPTERS["NewFull"] = _new
ADAPTERS["FillTensor"] = lambda size, value, dtype=None: _cast(
    _prim("BroadcastTo")(tuple(size))(value.reshape(())), dtype
)


@adapter("LinSpaceExt")
def _linspace(start: Any, end: Any, steps: int, dtype: Any = None) -> Any:
    first, last = (values.static_value(v) for v in (start, end))
    kind = mstype.float32 if dtype is None else _dtype(dtype)
    return values.from_array(np.linspace(first, last, int(steps)).astype(kind.np))


@adapter("RepeatInterleaveInt", "RepeatInterleaveTensor")
def _repeat_interleave(x: TensorBase, repeats: Any, dim: Any = None, *rest: Any) -> Any:
    x, axis = (x.reshape(-1), 0) if dim is None else (x, dim % x.ndim)
    places = np.repeat(np.arange(x.shape[axis]), values.static_value(repeats))
    return _prim("Gather")()(x, values.from_array(places), axis)
