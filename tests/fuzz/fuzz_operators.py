"""One operation on random values: element types, sizes around the widths of vectors, special numbers, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from fuzz_compare import compare

import mindspore as ms
from mindspore import Tensor, ops

FLOATS = ("float32", "float32", "float16", "bfloat16", "float64")
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")
SIZES = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33)

UNARY = [
    "abs", "neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "relu6", "gelu", "silu", "elu", "erf",
    "sin", "cos", "tan", "atan", "asinh", "floor", "ceil", "round", "trunc", "square", "reciprocal", "sign",
    "log1p", "expm1", "isnan", "isinf", "isfinite", "softsign", "logsigmoid", "hardswish", "hardsigmoid", "selu",
    "mish",
]  # fmt: skip
BINARY = [
    "add", "sub", "mul", "div", "true_divide", "maximum", "minimum", "floor_div", "floor_mod", "atan2", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "xlogy",
]  # fmt: skip
LOGICAL = ["logical_and", "logical_or", "logical_xor"]
BITWISE = ["bitwise_and", "bitwise_or", "bitwise_xor"]
REDUCTIONS = [
    "sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "any", "all", "cumsum", "cumprod", "logsumexp",
    "softmax", "log_softmax", "std", "var",
]  # fmt: skip


def _shape(rng: np.random.Generator, rank: int | None = None) -> tuple[int, ...]:
    rank = int(rng.integers(0, 4)) if rank is None else rank
    return tuple(int(s) for s in rng.choice(SIZES, size=rank, p=None))


def _tensor(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Tensor:
    """Random values; now and then over memory that is not contiguous."""
    plain = _contiguous(rng, shape, kind)
    if rng.random() > 0.25 or kind == "bfloat16":
        return plain
    array = plain.asnumpy()
    if rng.random() < 0.5:
        wide = np.repeat(array.reshape(*shape, 1), 3, -1)
        return Tensor.from_numpy(wide[..., 1])
    return Tensor.from_numpy(np.ascontiguousarray(array.T).T)


def _contiguous(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Tensor:
    if kind == "bool":
        return Tensor(rng.random(shape) < 0.5)
    if kind in INTEGERS:
        low = 0 if kind == "uint8" else -7
        return Tensor(rng.integers(low, 8, shape).astype(kind))
    values = np.asarray(rng.standard_normal(shape) * rng.choice([1.0, 1.0, 30.0]))
    if values.size and rng.random() < 0.3:
        flat = values.reshape(-1)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 3e38, -65000.0]
        flat[rng.integers(0, flat.size, 3)] = rng.choice(special, 3)
    return Tensor(values, getattr(ms, kind))


def _broadcast(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that goes with `shape`, or, now and then, one that does not."""
    other = tuple(1 if rng.random() < 0.3 else s for s in shape)[int(rng.integers(0, len(shape) + 1)) :]
    return other if rng.random() < 0.95 else _shape(rng)


def _differentiable(kind: str, rng: np.random.Generator) -> bool:
    return kind in FLOATS and rng.random() < 0.4


def _call(name: str, function: Any, arguments: list[Tensor], rng: np.random.Generator) -> None:
    kinds = ", ".join(f"{a.dtype}{list(a.shape)}" for a in arguments)
    if all(_differentiable(str(a.dtype).lower().rpartition(".")[2], rng) for a in arguments):
        places = tuple(range(len(arguments)))
        compare(f"grad of {name}({kinds})", ms.grad(lambda *xs: _weighed(function(*xs)), places), arguments)
    else:
        compare(f"{name}({kinds})", function, arguments)


def _weighed(out: Tensor) -> Tensor:
    """A sum in which elements count differently: of normalised values the plain sum has no gradient but rounding."""
    out = out if out.dtype == ms.float64 else out.astype(ms.float32)
    return (out * ops.cos(ops.arange(out.size).astype(out.dtype)).reshape(out.shape)).sum()


def case(rng: np.random.Generator, scratch: str) -> None:
    """One call."""
    family = rng.choice(["unary", "binary", "reduction", "structure", "product", "window", "update"])
    kind = str(rng.choice(FLOATS if rng.random() < 0.65 else (*INTEGERS, "bool")))
    families = {"unary": _unary, "binary": _binary, "reduction": _reduction, "structure": _structure, "product": _product,
                "window": _window, "update": _update}  # fmt: skip
    families[family](rng, kind)


def _unary(rng: np.random.Generator, kind: str) -> None:
    name = str(rng.choice(UNARY))
    _call(name, lambda x: getattr(ops, name)(x), [_tensor(rng, _shape(rng), kind)], rng)


def _binary(rng: np.random.Generator, kind: str) -> None:
    name = str(rng.choice(LOGICAL if kind == "bool" else BINARY + BITWISE * (kind in INTEGERS)))
    shape = _shape(rng)
    other = kind if rng.random() < 0.8 else str(rng.choice(("float32", "int32")))
    left, right = _tensor(rng, shape, kind), _tensor(rng, _broadcast(rng, shape), other)
    if name.startswith("floor_") and other in INTEGERS:
        right = ops.maximum(right, Tensor(1, right.dtype))  # what whole numbers divided by zero give is not promised
    _call(name, lambda x, y: getattr(ops, name)(x, y), [left, right], rng)


def _reduction(rng: np.random.Generator, kind: str) -> None:
    name = str(rng.choice(REDUCTIONS))
    shape = _shape(rng, int(rng.integers(1, 4)))
    axis = int(rng.integers(-len(shape), len(shape)))
    method = name if hasattr(Tensor, name) else None
    x = _tensor(rng, shape, kind)
    _call(
        f"{name}(axis={axis})", lambda x: getattr(x, method)(axis) if method else getattr(ops, name)(x, axis), [x], rng
    )


def _structure(rng: np.random.Generator, kind: str) -> None:
    shape = _shape(rng, int(rng.integers(1, 4)))
    x = _tensor(rng, shape, kind)
    axis = int(rng.integers(0, len(shape)))
    start, stop, step = int(rng.integers(-20, 20)), int(rng.integers(-20, 20)), int(rng.integers(1, 4))
    index = Tensor(rng.integers(-2, max(shape[axis], 1) + (rng.random() < 0.2), 5).astype(np.int32))
    name, function = [
        ("slice", lambda x: x[start:stop:step]),
        ("flip", lambda x: ops.flip(x, (axis,))),
        ("roll", lambda x: ops.roll(x, step, axis)),
        ("swapaxes", lambda x: x.swapaxes(0, axis)),
        ("concat", lambda x: ops.cat((x, x[start:stop]), 0)),
        ("tile", lambda x: ops.tile(x, (2,) * x.ndim)),
        ("reshape", lambda x: x.reshape(-1)),
        ("gather", lambda x: ops.gather(x, index, axis)),
        ("where", lambda x: ops.where(x > 0, x, x + x)),
        ("sort", lambda x: ops.sort(x, axis)[0]),
        ("stack", lambda x: ops.stack((x, x), axis)),
        ("float32", lambda x: x.astype(ms.float32) * 2 - 1),
    ][int(rng.integers(0, 12))]
    _call(f"{name}(axis={axis}, {start}:{stop}:{step}, {index.tolist()})", function, [x], rng)


def _product(rng: np.random.Generator, kind: str) -> None:
    m, k, n = (int(s) for s in rng.choice(SIZES, 3))
    other = k if rng.random() < 0.95 else k + 1
    batch = () if rng.random() < 0.5 else (2,)
    arguments = [_tensor(rng, (*batch, m, k), kind), _tensor(rng, (other, n), kind)]
    arguments = [ops.clamp(a, -8, 8) if kind in FLOATS else a for a in arguments]
    _call("matmul", lambda x, y: ops.matmul(x, y), [ops.nan_to_num(a) if kind in FLOATS else a for a in arguments], rng)


def _window(rng: np.random.Generator, kind: str) -> None:
    """Operations on images: pooling, resizing, padding, normalisation, convolution."""
    kind = kind if kind in FLOATS else "float32"
    n, c, h, w = (int(v) for v in (*rng.choice([1, 2], 1), *rng.choice([1, 3, 8, 17], 1), *rng.integers(3, 20, 2)))
    size, stride, pad = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(0, 2))
    x = _tensor(rng, (n, c, h, w), kind)
    weight = Tensor(rng.standard_normal((4, c, size, size)), x.dtype)
    pad = min(pad, size // 2)
    name, function = [
        ("max_pool2d", lambda x: ops.max_pool2d(x, size, stride, pad)),
        ("avg_pool2d", lambda x: ops.avg_pool2d(x, size, stride, pad)),
        ("adaptive_avg_pool2d", lambda x: ops.adaptive_avg_pool2d(x, (size, stride))),
        ("nearest", lambda x: ops.interpolate(x, size=(h + size, w + stride), mode="nearest")),
        ("bilinear", lambda x: ops.interpolate(x, size=(h + size, w + stride), mode="bilinear", align_corners=False)),
        ("pad", lambda x: ops.pad(x, (pad, size, 0, pad), mode="constant", value=1.5)),
        ("reflect", lambda x: ops.pad(x, (1, 2, 1, 0), mode="reflect")),
        ("layer_norm", lambda x: ops.layer_norm(x, (w,), ops.ones(w, x.dtype), ops.zeros(w, x.dtype))),
        ("unfold", lambda x: ops.unfold(x, size, 1, pad, stride)),
        ("conv2d", lambda x: ops.conv2d(ops.clamp(ops.nan_to_num(x), -8, 8), weight, None, stride, "pad", pad)),
        ("pixel", lambda x: ops.channel_shuffle(x, 1)),
    ][int(rng.integers(0, 11))]
    _call(f"{name}(size={size}, stride={stride}, pad={pad})", function, [x], rng)


def _update(rng: np.random.Generator, kind: str) -> None:
    """Reading and writing at positions, some of which may not exist."""
    rows, columns, count = (int(v) for v in rng.choice([1, 2, 5, 9, 17], 3))
    x = _tensor(rng, (rows, columns), kind)
    high = rows + int(rng.random() < 0.1)
    index = Tensor(rng.integers(0, high, (count, 1)).astype(str(rng.choice(["int32", "int64"]))))
    flat = index.reshape(-1)
    updates = _tensor(rng, (count, columns), kind)
    name, function = [
        ("gather_nd", lambda x, u: ops.gather_nd(x, index)),
        ("tensor_scatter_add", lambda x, u: ops.tensor_scatter_add(x, index, u)),
        ("scatter_nd", lambda x, u: ops.scatter_nd(index, u, (rows, columns))),
        ("index_add", lambda x, u: ops.index_add(x, flat.astype(ms.int32), u, 0)),
        ("embedding", lambda x, u: ops.gather(x, flat, 0) + u),
        ("gather_elements", lambda x, u: ops.gather_elements(x, 0, ops.broadcast_to(index, (count, columns)))),
        ("masked_fill", lambda x, u: ops.masked_fill(x, x > 0, 2)),
        ("one_hot", lambda x, u: ops.one_hot(flat, rows, Tensor(1.0), Tensor(0.0))),
        ("take", lambda x, u: x[flat]),
        ("assign", lambda x, u: _stored(x, flat, u)),
    ][int(rng.integers(0, 10))]
    _call(f"{name}({index.reshape(-1).tolist()} of {rows})", function, [x, updates], rng)


def _stored(x: Tensor, index: Tensor, updates: Tensor) -> Tensor:
    y = x + 0
    y[index[:1]] = updates[:1]
    return y
