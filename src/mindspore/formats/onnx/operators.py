"""ONNX operators carried out by our operations.

Each function gets the opset and its inputs (Tensors; NumPy arrays for what the model states as constants; None where an
input is left out) and the node's attributes as keywords. Where all inputs are arrays the result is an array again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.formats.onnx import types
from mindspore.formats.onnx.registry import (
    OPERATORS,
    P,
    affordable,
    as_tensor,
    expand_to,
    ints,
    operator,
    static,
    tensor,
)
from mindspore.prims.values import TensorBase

_CAST = P.Cast()


# -- elementwise ------------------------------------------------------------------------------------------------------
_UNARY = {
    "Abs": "Abs", "Neg": "Neg", "Exp": "Exp", "Log": "Log", "Sqrt": "Sqrt", "Erf": "Erf", "Floor": "Floor",
    "Ceil": "Ceil", "Round": "Rint", "Sign": "Sign", "Sin": "Sin", "Cos": "Cos", "Tan": "Tan", "Asin": "Asin",
    "Acos": "ACos", "Atan": "Atan", "Sinh": "Sinh", "Cosh": "Cosh", "Tanh": "Tanh", "Asinh": "Asinh",
    "Acosh": "Acosh", "Atanh": "Atanh", "Sigmoid": "Sigmoid", "Relu": "ReLU", "Softplus": "Softplus",
    "Softsign": "Softsign", "Reciprocal": "Reciprocal", "Not": "LogicalNot", "IsNaN": "IsNan", "HardSwish": "HSwish",
    "Mish": "Mish", "BitwiseNot": "Invert",
}  # fmt: skip
_BINARY = {
    "Add": "Add", "Sub": "Sub", "Mul": "Mul", "Equal": "Equal", "Greater": "Greater", "GreaterOrEqual": "GreaterEqual",
    "Less": "Less", "LessOrEqual": "LessEqual", "And": "LogicalAnd", "Or": "LogicalOr", "Xor": "LogicalXor",
    "BitwiseAnd": "BitwiseAnd", "BitwiseOr": "BitwiseOr", "BitwiseXor": "BitwiseXor",
}  # fmt: skip
_REDUCTIONS = {"ReduceSum": "ReduceSum", "ReduceMean": "ReduceMean", "ReduceMax": "ReduceMax", "ReduceMin": "ReduceMin",
               "ReduceProd": "ReduceProd"}  # fmt: skip


def _apply(name: str) -> Callable:
    primitive = getattr(P, name)()
    return lambda *inputs: primitive(*inputs)


def _apply_one(name: str) -> Callable:
    primitive = getattr(P, name)()
    return lambda x: primitive(x)


for _theirs, _ours in _UNARY.items():
    OPERATORS[_theirs] = _apply_one(_ours)
for _theirs, _ours in _BINARY.items():
    OPERATORS[_theirs] = _apply(_ours)


@operator("Identity")
def _identity(x: Any) -> Any:
    return x  # a tensor or a sequence of them


@operator("Div")
def _div(a: TensorBase, b: Any) -> Any:
    if a.dtype.kind in "iu":
        return _CAST(P.TruncateDiv()(a, b), a.dtype)
    return P.Div()(a, b)


@operator("Pow")
def _pow(a: TensorBase, b: Any) -> Any:
    return _CAST(P.Pow()(a, _CAST(b, a.dtype) if a.dtype.kind == "f" else b), a.dtype)


@operator("Mod")
def _mod(a: TensorBase, b: Any, fmod: int = 0) -> Any:
    return _CAST(P.TruncateMod()(a, b) if fmod else P.FloorMod()(a, b), a.dtype)


@operator("Max")
def _max(*xs: Any) -> Any:
    out = xs[0]
    for x in xs[1:]:
        out = P.Maximum()(out, x)
    return out


@operator("Min")
def _min(*xs: Any) -> Any:
    out = xs[0]
    for x in xs[1:]:
        out = P.Minimum()(out, x)
    return out


@operator("Sum")
def _sum(*xs: Any) -> Any:
    out = xs[0]
    for x in xs[1:]:
        out = out + x
    return out


@operator("Mean")
def _mean(*xs: Any) -> Any:
    return _sum(*xs) / len(xs)


@operator("Clip")
def _clip(x: TensorBase, low: Any = None, high: Any = None, min: Any = None, max: Any = None) -> Any:
    low, high = (low if low is not None else min), (high if high is not None else max)
    x = x if low is None else _CAST(P.Maximum()(x, low), x.dtype)
    return x if high is None else _CAST(P.Minimum()(x, high), x.dtype)


@operator("Where")
def _where(condition: TensorBase, x: TensorBase, y: TensorBase) -> Any:
    shape = np.broadcast_shapes(condition.shape, x.shape, y.shape)
    return P.Select()(*(expand_to(v, shape) for v in (condition, x, y)))


@operator("IsInf")
def _is_inf(x: Any, detect_negative: int = 1, detect_positive: int = 1) -> Any:
    infinite = P.IsInf()(x)
    if not detect_negative:
        infinite = P.LogicalAnd()(infinite, x > 0)
    return infinite if detect_positive else P.LogicalAnd()(infinite, x < 0)


@operator("LeakyRelu")
def _leaky(x: Any, alpha: float = 0.01) -> Any:
    return P.Select()(x < 0, x * alpha, x)


@operator("Elu")
def _elu(x: Any, alpha: float = 1.0) -> Any:
    return P.Select()(x < 0, P.Expm1()(P.Minimum()(x, 0)) * alpha, x)


@operator("Selu")
def _selu(x: Any, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875) -> Any:
    return _elu(x, alpha) * gamma


@operator("Celu")
def _celu(x: Any, alpha: float = 1.0) -> Any:
    return P.Maximum()(x, 0) + P.Expm1()(P.Minimum()(x, 0) / alpha) * alpha


@operator("HardSigmoid")
def _hard_sigmoid(x: Any, alpha: float = 0.2, beta: float = 0.5) -> Any:
    return P.Minimum()(P.Maximum()(x * alpha + beta, 0), 1)


@operator("ThresholdedRelu")
def _thresholded(x: Any, alpha: float = 1.0) -> Any:
    return P.Select()(x > alpha, x, P.ZerosLike()(x))


@operator("Shrink")
def _shrink(x: TensorBase, bias: float = 0.0, lambd: float = 0.5) -> Any:
    middle = P.Select()(x > lambd, x - bias, P.ZerosLike()(x))
    return _CAST(P.Select()(x < -lambd, x + bias, middle), x.dtype)


@operator("PRelu")
def _prelu(x: Any, slope: Any) -> Any:
    return P.Select()(x < 0, x * slope, x)


@operator("Gelu")
def _gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        return x * 0.5 * (P.Tanh()(inner) + 1)
    return x * 0.5 * (P.Erf()(x * math.sqrt(0.5)) + 1)


def cast_to(x: Any, target: np.dtype, saturate: bool, rounding: str = "up") -> Any:
    """A value in another element type; values of types that no Tensor can hold are NumPy arrays."""
    narrow = target.itemsize == 1 and "float" in target.name
    if isinstance(x, TensorBase) and types.fits_tensor(target) and not narrow:
        return _CAST(x, mstype.from_numpy(target))
    array = x if isinstance(x, np.ndarray) else static(x, "a value of a small type")
    if target.name == "float8_e8m0fnu":
        return _power_of_two(array, target, saturate, rounding)
    return _small_cast(array, target, saturate)


def _power_of_two(array: np.ndarray, target: np.dtype, saturate: bool, rounding: str) -> np.ndarray:
    """Scales that have only an exponent: 2^-127 to 2^127."""
    fraction, exponent = np.frexp(np.abs(array.astype(np.float64)))  # the fraction is in [1/2, 1)
    above = {"up": fraction > 0.5, "down": fraction >= 1, "nearest": fraction >= 0.75}[rounding]
    power = np.where(fraction > 0, exponent - 1 + above, -127)
    inside = np.clip(power, -127, 127)
    found = np.where(np.isfinite(array.astype(np.float64)), np.ldexp(1.0, inside), np.where(saturate & ~np.isnan(array), 2.0**127, np.nan))
    return np.where((power == inside) | saturate, found, np.nan).astype(target)


def _small_cast(array: np.ndarray, target: np.dtype, saturate: bool) -> np.ndarray:
    """Between types of a byte or less; floats beyond the range become the largest value, or NaN or infinity."""
    if "float" not in target.name:
        return array.astype(np.float32).astype(target) if "float" in array.dtype.name else array.astype(target)
    with np.errstate(all="ignore"):
        wide = array.astype(np.float32)
        if saturate and target.itemsize == 1:
            limit = float(require("ml_dtypes", "onnx", "An ONNX model with small types").finfo(target).max)
            wide = np.clip(wide, -limit, limit)
        return wide.astype(target)


@operator("Cast", arrays=True)
def _cast(x: Any, to: int = 1, saturate: int = 1, round_mode: str = "up") -> Any:
    return cast_to(x, types.numpy_type(to), bool(saturate), round_mode)


@operator("CastLike", arrays=True)
def _cast_like(x: Any, like: Any, saturate: int = 1, round_mode: str = "up") -> Any:
    target = like.dtype if isinstance(like, np.ndarray) else np.dtype(like.dtype.np)
    return cast_to(x, target, bool(saturate), round_mode)


@operator("Dropout")
def _dropout(x: TensorBase, ratio: Any = None, training: Any = None, seed: int = 0) -> Any:
    keep = np.ones(x.shape, bool)
    share = (
        0.5 if ratio is None else ratio if isinstance(ratio, float) else float(static(ratio, "a ratio").reshape(-1)[0])
    )
    trains = training is not None and bool(np.asarray(static(training, "whether it trains")).reshape(-1)[0])
    if trains and share:
        keep = np.random.RandomState(seed).uniform(0, 1.0, x.shape) >= share
        return x * tensor((keep / (1 - share)).astype(x.dtype.np)), keep
    return x, keep


# -- shapes -----------------------------------------------------------------------------------------------------------
@operator("Shape")
def _shape(x: TensorBase, start: int = 0, end: int | None = None) -> np.ndarray:
    return np.array(x.shape[start:end], np.int64)


@operator("Size")
def _size(x: TensorBase) -> np.ndarray:
    return np.array(math.prod(x.shape), np.int64)


@operator("Constant")
def _constant(value: Any = None, value_float: Any = None, value_floats: Any = None, value_int: Any = None,
              value_ints: Any = None) -> np.ndarray:  # fmt: skip
    if value is not None:
        return value
    if value_float is not None or value_floats is not None:
        return np.asarray(value_float if value_float is not None else value_floats, np.float32)
    return np.asarray(value_int if value_int is not None else value_ints, np.int64)


@operator("ConstantOfShape", arrays=True)
def _constant_of_shape(shape: Any, value: Any = None) -> np.ndarray:
    fill = np.zeros(1, np.float32) if value is None else value
    return np.full(affordable("ConstantOfShape", ints(shape, "a shape")), fill.reshape(-1)[0], fill.dtype)


@operator("Reshape", arrays=True)
def _reshape(x: Any, shape: Any, allowzero: int = 0) -> Any:
    x = as_tensor(x)
    target = list(ints(shape, "a shape"))
    if not allowzero:
        target = [x.shape[i] if d == 0 else d for i, d in enumerate(target)]
    return P.Reshape()(x, tuple(target))


@operator("Flatten")
def _flatten(x: TensorBase, axis: int = 1) -> Any:
    axis = axis % x.ndim if axis < 0 else axis
    return P.Reshape()(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@operator("Transpose")
def _transpose(x: TensorBase, perm: Any = None) -> Any:
    return P.Transpose()(x, tuple(perm) if perm is not None else tuple(reversed(range(x.ndim))))


@operator("Squeeze", arrays=True)
def _squeeze(x: Any, given: Any = None, axes: Any = None) -> Any:
    x = as_tensor(x)
    chosen = axes if axes is not None else None if given is None else ints(given, "axes")
    drop = {a % x.ndim for a in chosen} if chosen is not None else {i for i, d in enumerate(x.shape) if d == 1}
    return P.Reshape()(x, tuple(d for i, d in enumerate(x.shape) if i not in drop))


@operator("Unsqueeze", arrays=True)
def _unsqueeze(x: Any, given: Any = None, axes: Any = None) -> Any:
    x = as_tensor(x)
    chosen = axes if axes is not None else ints(given, "axes")
    rank = x.ndim + len(chosen)
    new = {a % rank for a in chosen}
    rest = iter(x.shape)
    return P.Reshape()(x, tuple(1 if i in new else next(rest) for i in range(rank)))


@operator("Expand", arrays=True)
def _expand(x: Any, shape: Any) -> Any:
    x = as_tensor(x)
    return expand_to(x, np.broadcast_shapes(x.shape, ints(shape, "a shape")))


@operator("Concat")
def _concat(*xs: Any, axis: int = 0) -> Any:
    return P.Concat(axis)(xs)


@operator("Split", arrays=True)
def _split(x: Any, given: Any = None, axis: int = 0, split: Any = None, num_outputs: int = 1) -> tuple:
    x = as_tensor(x)
    axis = axis % x.ndim
    sizes = split if split is not None else ints(given, "sizes") if given is not None else None
    if sizes is None:
        each = -(-x.shape[axis] // num_outputs)
        sizes = [each] * (num_outputs - 1) + [x.shape[axis] - each * (num_outputs - 1)]
    parts, at = [], 0
    for size in sizes:
        parts.append(x[(*(slice(None),) * axis, slice(at, at + size))])
        at += size
    return tuple(parts)


@operator("Slice", arrays=True)
def _slice(x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None, **old: Any) -> Any:
    x = as_tensor(x)
    begin, end = ints(starts, "a slice"), ints(ends, "a slice")
    chosen = ints(axes, "axes") if axes is not None else tuple(range(len(begin)))
    stride = ints(steps, "steps") if steps is not None else (1,) * len(begin)
    index: list[Any] = [slice(None)] * x.ndim
    for a, b, e, s in zip(chosen, begin, end, stride):
        size = x.shape[a]
        low, high = (0, size) if s > 0 else (0, size - 1)
        start = min(max(b + size if b < 0 else b, low), high)
        stop: int | None = e + size if e < 0 else e
        if s < 0 and (stop is None or stop < 0):
            stop = None
        index[a % x.ndim] = slice(start, stop if stop is None else min(max(stop, 0), size), s)
    return x[tuple(index)]


@operator("Gather")
def _gather(x: TensorBase, indices: Any, axis: int = 0) -> Any:
    size = x.shape[axis]
    return P.Gather()(x, P.Select()(indices < 0, indices + size, indices), axis)


@operator("GatherElements")
def _gather_elements(x: TensorBase, indices: Any, axis: int = 0) -> Any:
    return P.GatherD()(x, axis, P.Select()(indices < 0, indices + x.shape[axis], indices))


@operator("Tile", arrays=True)
def _tile(x: Any, repeats: Any) -> Any:
    x = as_tensor(x)
    counts = ints(repeats, "repeats")
    affordable("Tile", counts)  # a part is noted for each
    affordable("Tile", [size * count for size, count in zip(x.shape, counts)])
    for axis, count in enumerate(counts):
        x = P.Concat(axis)([x] * count) if count != 1 else x
    return x


@operator("Pad", arrays=True)
def _pad(
    x: Any, given: Any = None, value: Any = None, axes: Any = None, mode: str = "constant", pads: Any = None
) -> Any:
    x = as_tensor(x)
    flat = pads if pads is not None else ints(given, "paddings")
    chosen = [a % x.ndim for a in ints(axes, "axes")] if axes is not None else list(range(x.ndim))
    pairs = [(0, 0)] * x.ndim
    for place, axis in enumerate(chosen):
        pairs[axis] = (flat[place], flat[place + len(chosen)])
    fill = 0 if value is None else np.asarray(static(value, "a value")).reshape(-1)[0].item()
    x = x[tuple(slice(max(-lo, 0), d - max(-hi, 0)) for (lo, hi), d in zip(pairs, x.shape))]
    if mode != "constant":
        for axis, (lo, hi) in enumerate(pairs):
            if lo > 0 or hi > 0:
                places = np.pad(np.arange(x.shape[axis]), (max(lo, 0), max(hi, 0)), mode)  # type: ignore[call-overload]
                x = P.Gather()(x, tensor(places), axis)
        return x
    return P.Pad(tuple((max(lo, 0), max(hi, 0)) for lo, hi in pairs), fill)(x)


@operator("Range", arrays=True)
def _range(start: Any, limit: Any, delta: Any) -> np.ndarray:
    first, last, step = (np.asarray(static(v, "a range")).reshape(-1)[0] for v in (start, limit, delta))
    if not all(np.isfinite(v) for v in (first, last, step)) or step == 0:
        raise ValueError(f"The ONNX operator 'Range' needs finite bounds and a step other than 0, but got {first}, {last}, {step}.")
    affordable("Range", [max(math.ceil((float(last) - float(first)) / float(step)), 0)])
    return np.arange(first, last, step, dtype=first.dtype)


@operator("OneHot", arrays=True)
def _one_hot(indices: Any, depth: Any, values: Any, axis: int = -1) -> Any:
    indices, values = as_tensor(indices), as_tensor(values)
    count = ints(depth, "a depth")[0]
    place = axis % (indices.ndim + 1)
    shape = [1] * (indices.ndim + 1)
    shape[place] = count
    whole = _CAST(indices, mstype.int64)
    wrapped = P.Select()(whole < 0, whole + count, whole)
    hit = P.Equal()(P.ExpandDims()(wrapped, place), tensor(np.arange(count).reshape(shape)))
    full = tuple(hit.shape)
    return P.Select()(hit, expand_to(values[1], full), expand_to(values[0], full))


@operator("Trilu", arrays=True)
def _trilu(x: Any, k: Any = None, upper: int = 1) -> Any:
    x = as_tensor(x)
    shift = 0 if k is None else ints(k, "a diagonal")[0]
    mask = np.triu(np.ones(x.shape[-2:], bool), shift) if upper else np.tril(np.ones(x.shape[-2:], bool), shift)
    return P.Select()(expand_to(tensor(mask), tuple(x.shape)), x, P.ZerosLike()(x))


# -- reductions -------------------------------------------------------------------------------------------------------
def _reduce(x: Any, given: Any, axes: Any, keepdims: int, empty: int, name: str) -> Any:
    x = as_tensor(x)
    chosen = axes if axes is not None else None if given is None else ints(given, "axes")
    if not chosen:
        if empty:
            return x
        chosen = range(x.ndim)
    if name in _EXTREMES and any(x.shape[a] == 0 for a in chosen):
        shape = [1 if i in {a % x.ndim for a in chosen} else d for i, d in enumerate(x.shape)]
        kept = tuple(d for i, d in enumerate(shape) if keepdims or i not in {a % x.ndim for a in chosen})
        return tensor(np.full(kept, _extreme(x.dtype, name), x.dtype.np))
    return _CAST(getattr(P, name)(bool(keepdims))(x, tuple(a % x.ndim for a in chosen)), x.dtype) if x.ndim else x


_EXTREMES = ("ReduceMax", "ReduceMin")


def _extreme(dtype: Any, name: str) -> Any:
    """The maximum or minimum of nothing."""
    largest = name == "ReduceMin"
    if dtype.kind == "b":
        return largest
    if dtype.kind == "f":
        return np.inf if largest else -np.inf
    return np.iinfo(dtype.np).max if largest else np.iinfo(dtype.np).min


def _reduction(name: str, before: Callable | None = None, after: Callable | None = None) -> Callable:
    def run(x: Any, given: Any = None, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
        x = as_tensor(x)
        out = _reduce(x if before is None else before(x), given, axes, keepdims, noop_with_empty_axes, name)
        return out if after is None else after(out)

    return run


for _theirs, _ours in _REDUCTIONS.items():
    operator(_theirs, arrays=True)(_reduction(_ours))
operator("ReduceSumSquare", arrays=True)(_reduction("ReduceSum", before=lambda x: x * x))
operator("ReduceL1", arrays=True)(_reduction("ReduceSum", before=lambda x: P.Abs()(x)))
operator("ReduceL2", arrays=True)(_reduction("ReduceSum", before=lambda x: x * x, after=lambda x: P.Sqrt()(x)))
operator("ReduceLogSum", arrays=True)(_reduction("ReduceSum", after=lambda x: P.Log()(x)))


def _arg(name: str) -> Callable:
    def run(x: TensorBase, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Any:
        if select_last_index:
            turned = x[(*(slice(None),) * (axis % x.ndim), slice(None, None, -1))]
            found = x.shape[axis] - 1 - _CAST(getattr(P, name)(axis)(turned), mstype.int64)
        else:
            found = _CAST(getattr(P, name)(axis)(x), mstype.int64)
        return P.ExpandDims()(found, axis % x.ndim) if keepdims else found

    return run


OPERATORS.update({"ArgMax": _arg("Argmax"), "ArgMin": _arg("Argmin")})


@operator("CumSum", arrays=True)
def _cum_sum(x: Any, axis: Any, exclusive: int = 0, reverse: int = 0) -> Any:
    return P.CumSum(bool(exclusive), bool(reverse))(as_tensor(x), ints(axis, "an axis")[0])


@operator("TopK", arrays=True)
def _top_k(x: Any, k: Any, axis: int = -1, largest: int = 1, sorted: int = 1) -> tuple:
    x = as_tensor(x)
    moved = _swap(x, axis)
    values, indices = P.TopK(True)(moved if largest else -moved, ints(k, "a count")[0])
    return _swap(values if largest else -values, axis), _swap(_CAST(indices, mstype.int64), axis)


def _swap(x: TensorBase, axis: int) -> Any:
    axis = axis % x.ndim
    if axis == x.ndim - 1:
        return x
    perm = list(range(x.ndim))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    return P.Transpose()(x, tuple(perm))
