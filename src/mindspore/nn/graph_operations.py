"""Operations that a loaded graph may use beyond those that `mindspore.formats` knows: all of `mindspore.ops`.

Official primitives behind `mindspore.mint` that have no class here are functions of arguments in the order of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import mint, ops
from mindspore.formats.mindir.messages import TYPES_BY_ID
from mindspore.formats.mindir.operations import PrimitiveOperations
from mindspore.ops import operations
from mindspore.prims.primitive import Primitive

ADAPTERS: dict[str, Callable[..., Any]] = {}
_PADDING = {0: "pad", 1: "same", 2: "valid"}
_REDUCTION = {0: "sum", 1: "mean", 2: "none"}
_ROUNDING = {1: "trunc", 2: "floor"}


def graph_operations() -> PrimitiveOperations:
    """What carries out the steps of a loaded graph."""
    return PrimitiveOperations(_operation, ADAPTERS)


def _operation(name: str) -> Any:
    found = getattr(operations, name, None)
    return found if isinstance(found, type) and issubclass(found, Primitive) else None


def adapter(*names: str) -> Callable[[Callable], Callable]:
    """Register a function for primitives."""

    def register(function: Callable) -> Callable:
        ADAPTERS.update(dict.fromkeys(names, function))
        return function

    return register


def _prim(name: str) -> Any:
    return getattr(operations, name)


def _dtype(code: Any) -> Any:
    return TYPES_BY_ID[code] if isinstance(code, int) else code


def _cast(x: Any, code: Any) -> Any:
    return x if code is None else x.astype(_dtype(code))


def _functional(name: str) -> Callable:
    return lambda *arguments: getattr(mint.nn.functional, name)(*arguments)


def _op(name: str) -> Callable:
    return lambda *arguments: getattr(ops, name)(*arguments)


ADAPTERS.update({
    "AdaptiveAvgPool1D": _functional("adaptive_avg_pool1d"), "AdaptiveAvgPool2DExt": _functional("adaptive_avg_pool2d"),
    "AdaptiveAvgPool3DExt": _functional("adaptive_avg_pool3d"), "AvgPool1D": _functional("avg_pool1d"),
    "AvgPool2D": _functional("avg_pool2d"), "AvgPool3DExt": _functional("avg_pool3d"),
    "Conv1DExt": _functional("conv1d"), "Conv2DExt": _functional("conv2d"), "Conv3DExt": _functional("conv3d"),
    "ConvTranspose2D": _functional("conv_transpose2d"), "SeLUExt": _functional("selu"),
    "FmodScalar": _op("fmod"), "FmodTensor": _op("fmod"), "RemainderScalarTensor": _op("remainder"),
    "RemainderTensorScalar": _op("remainder"), "RemainderTensorTensor": _op("remainder"),
    "LogAddExp": _op("logaddexp"), "LogAddExp2": _op("logaddexp2"), "Vdot": _op("vdot"),
    "LogSumExp": lambda x, dim, keepdim=False: ops.logsumexp(x, dim, keepdim),
    "XLogYScalarOther": _op("xlogy"), "XLogYScalarSelf": lambda x, y: ops.xlogy(y * 0 + x, y),
    "BitwiseAndScalar": lambda x, y: x & y, "BitwiseOrScalar": lambda x, y: x | y, "BitwiseXorScalar": lambda x, y: x ^ y,
    "IsNegInf": lambda x: _prim("LogicalAnd")()(_prim("IsInf")()(x), x < 0),
    "MatrixInverseExt": _op("inverse"), "NonZeroExt": _op("nonzero"), "Index": lambda x, indices: x[tuple(indices)],
    "InnerIndex": lambda x, indices: x[tuple(indices)], "ListToTuple": tuple, "TupleToList": tuple,
    "TensorMove": lambda x: x, "sequence_len": len, "SequenceAdd": lambda x, y: (*x, *y), "SequenceMul": lambda x, n: tuple(x) * n,
    "Repeat": lambda x, repeats: ops.tile(x, tuple(repeats)),
    "EmptyLike": lambda x, dtype=None, *rest: _cast(_prim("ZerosLike")()(x), dtype),
    "TraceV2": lambda x, offset=0, axis1=1, axis2=0, dtype=None: _cast(x.trace(offset, axis1, axis2), dtype),
})  # fmt: skip


@adapter("DivMod", "DivMods")
def _div_mod(x: Any, y: Any, rounding: Any = None) -> Any:
    return ops.div(x, y, rounding_mode=_ROUNDING.get(rounding))


@adapter("Conv1DPadding", "Conv2DPadding", "Conv3DPadding")
def _padded_convolution(x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    function = getattr(mint.nn.functional, f"conv{x.ndim - 2}d")
    return function(x, w, bias, stride, _PADDING.get(padding, padding), dilation, groups)


@adapter("Convolution", "ConvolutionStr")
def _convolution(
    x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, extra: Any, groups: int
) -> Any:
    functional = mint.nn.functional
    padding = _PADDING[padding] if isinstance(padding, int) else padding
    if transposed:
        return functional.conv_transpose2d(x, w, bias, stride, padding, extra, groups, dilation)
    return getattr(functional, f"conv{x.ndim - 2}d")(x, w, bias, stride, padding, dilation, groups)


@adapter("ConstantPadND")
def _constant_pad(x: Any, padding: Any, value: Any = 0.0) -> Any:
    return ops.pad(x, tuple(padding), "constant", value)


@adapter("ReflectionPad1D", "ReflectionPad2D", "ReflectionPad3D")
def _reflection_pad(x: Any, padding: Any) -> Any:
    return ops.pad(x, tuple(padding), "reflect")


@adapter("ReplicationPad1D", "ReplicationPad2D", "ReplicationPad3D")
def _replication_pad(x: Any, padding: Any) -> Any:
    return ops.pad(x, tuple(padding), "replicate")


@adapter("LinalgVectorNorm")
def _vector_norm(x: Any, order: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return ops.norm(_cast(x, dtype), order, dim, bool(keepdim))


def _reduced(loss: Any, reduction: Any) -> Any:
    kind = _REDUCTION.get(reduction, "mean")
    return loss if kind == "none" else loss.sum() if kind == "sum" else loss.mean()


ADAPTERS["MSELossExt"] = lambda x, y, reduction=1: _reduced(_prim("Square")()(x - y), reduction)
ADAPTERS["L1LossExt"] = lambda x, y, reduction=1: _reduced(_prim("Abs")()(x - y), reduction)


@adapter("KLDiv")
def _kl_div(x: Any, target: Any, reduction: Any = 1, log_target: bool = False) -> Any:
    if log_target:
        return _reduced(_prim("Exp")()(target) * (target - x), reduction)
    return _reduced(ops.xlogy(target, target) - target * x, reduction)


@adapter("LinSpaceExt")
def _linspace(start: Any, end: Any, steps: int, dtype: Any = None) -> Any:
    return _cast(ops.linspace(start, end, steps), dtype)


@adapter("RepeatInterleaveInt", "RepeatInterleaveTensor")
def _repeat_interleave(x: Any, repeats: Any, dim: Any = None, *rest: Any) -> Any:
    return ops.repeat_interleave(x.reshape(-1) if dim is None else x, repeats, 0 if dim is None else dim)


@adapter("UpsampleNearest1D", "UpsampleNearest2D")
def _nearest(x: Any, size: Any = None, scales: Any = None) -> Any:
    return mint.nn.functional.interpolate(x, size=size, scale_factor=None if size else scales, mode="nearest")


@adapter("UpsampleBilinear2D")
def _bilinear(x: Any, size: Any = None, scales: Any = None, align_corners: bool = False) -> Any:
    return mint.nn.functional.interpolate(
        x, size=size, scale_factor=None if size else scales, mode="bilinear", align_corners=bool(align_corners)
    )


@adapter("IndexFillScalar", "IndexFillTensor")
def _index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    return ops.index_fill(x, dim, index, value)


def _new(value: float) -> Callable:
    return lambda x, size, dtype=None: ops.full(
        tuple(size), value, dtype=x.dtype if dtype is None else _dtype(dtype)
    )


ADAPTERS.update({"NewZeros": _new(0), "NewOnes": _new(1)})
ADAPTERS["NewFull"] = lambda x, size, value, dtype=None: _new(value)(x, size, dtype)
ADAPTERS["FillTensor"] = lambda size, value, dtype=None: _cast(
    ops.broadcast_to(value.reshape(()), tuple(size)), dtype
)


@adapter("MaxPoolWithMask")
def _max_pool(x: Any, kernel: Any, strides: Any, pads: Any, dilation: Any, ceil_mode: Any, *rest: Any) -> tuple:
    found = mint.nn.functional.max_pool2d(x, kernel, strides, pads, dilation, bool(ceil_mode), True)
    return tuple(found)


@adapter("FuncDropoutExt", "DropoutExt")
def _dropout(x: Any, *rest: Any) -> Any:
    return x  # a loaded model predicts
