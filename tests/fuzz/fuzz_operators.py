"""Operations on random values. A case is a few calls that share a graph, on several sets of values: compiling takes a hundred times as
long as calling.
"""

from __future__ import annotations

import numpy as np
from fuzz_compare import Call, compare_together, some_backends
from fuzz_families import FAMILIES
from fuzz_values import FLOATS, INTEGERS, SIZES, Like, broadcast, called, some_shape

import mindspore as ms
from mindspore import Tensor, ops

CALLS, DRAWS = 8, 64
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


def case(rng: np.random.Generator, scratch: str) -> int:
    """A few calls; how many."""
    backends = some_backends(rng)
    return compare_together([_some_call(rng) for _ in range(CALLS)], rng, DRAWS, backends)


def _some_call(rng: np.random.Generator) -> Call:
    kind = str(rng.choice(FLOATS if rng.random() < 0.65 else (*INTEGERS, "bool")))
    families = {"unary": _unary, "binary": _binary, "reduction": _reduction, "structure": _structure, "product": _product,
                "window": _window, "update": _update, **FAMILIES}  # fmt: skip
    return families[str(rng.choice(list(families)))](rng, kind)


def _unary(rng: np.random.Generator, kind: str) -> Call:
    name = str(rng.choice(UNARY))
    return called(name, lambda x: getattr(ops, name)(x), [Like(some_shape(rng), kind)], rng)


def _binary(rng: np.random.Generator, kind: str) -> Call:
    name = str(rng.choice(LOGICAL if kind == "bool" else BINARY + BITWISE * (kind in INTEGERS)))
    shape = some_shape(rng)
    other = kind if rng.random() < 0.8 else str(rng.choice(("float32", "int32")))
    left, right = Like(shape, kind), Like(broadcast(rng, shape), other)
    if name.startswith("floor_") and other in INTEGERS:  # what whole numbers divided by zero give is not promised
        right = right._replace(fit=lambda x: ops.maximum(x, Tensor(1, x.dtype)))
    return called(name, lambda x, y: getattr(ops, name)(x, y), [left, right], rng)


def _reduction(rng: np.random.Generator, kind: str) -> Call:
    name = str(rng.choice(REDUCTIONS))
    shape = some_shape(rng, int(rng.integers(1, 4)))
    axis = int(rng.integers(-len(shape), len(shape)))
    method = name if hasattr(Tensor, name) else None
    call = lambda x: getattr(x, method)(axis) if method else getattr(ops, name)(x, axis)
    x = Like(shape, kind)
    if name.endswith("prod") and kind in FLOATS:  # whether a product of large numbers overflows depends on the order of its factors
        x = x._replace(fit=lambda x: ops.clamp(x, -1, 1))
    return called(f"{name}(axis={axis})", call, [x], rng)


def _structure(rng: np.random.Generator, kind: str) -> Call:
    shape = some_shape(rng, int(rng.integers(1, 4)))
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
    return called(f"{name}(axis={axis}, {start}:{stop}:{step}, {index.tolist()})", function, [Like(shape, kind)], rng)


def _product(rng: np.random.Generator, kind: str) -> Call:
    m, k, n = (int(s) for s in rng.choice(SIZES, 3))
    other = k if rng.random() < 0.95 else k + 1
    batch = () if rng.random() < 0.5 else (2,)
    fit = (lambda x: ops.nan_to_num(ops.clamp(x, -8, 8))) if kind in FLOATS else (lambda x: x)
    arguments = [Like((*batch, m, k), kind, fit), Like((other, n), kind, fit)]
    return called("matmul", lambda x, y: ops.matmul(x, y), arguments, rng)


def _window(rng: np.random.Generator, kind: str) -> Call:
    """Operations on images: pooling, resizing, padding, normalisation, convolution."""
    kind = kind if kind in FLOATS else "float32"
    n, c, h, w = (int(v) for v in (*rng.choice([1, 2], 1), *rng.choice([1, 3, 8, 17], 1), *rng.integers(3, 20, 2)))
    size, stride, pad = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(0, 2))
    weight = Tensor(rng.standard_normal((4, c, size, size)), getattr(ms, kind))
    pad = min(pad, size // 2)
    name, function = [
        ("max_pool2d", lambda x: ops.max_pool2d(x, size, stride, pad)),
        ("avg_pool2d", lambda x: ops.avg_pool2d(x, size, stride, pad)),
        ("adaptive_avg_pool2d", lambda x: ops.adaptive_avg_pool2d(x, (size, stride))),
        ("nearest", lambda x: ops.interpolate(x, size=(h + size, w + stride), mode="nearest")),
        ("bilinear", lambda x: ops.interpolate(x, size=(h + size, w + stride), mode="bilinear", align_corners=False)),
        ("pad", lambda x: ops.pad(x, (pad, size, 0, pad), mode="constant", value=1.5)),
        ("reflect", lambda x: ops.pad(x, (1, 2, 1, 0), mode="reflect")),
        ("layer_norm", lambda x: ops.layer_norm(ops.clamp(x, -1e9, 1e9), (w,), ops.ones(w, x.dtype), ops.zeros(w, x.dtype))),
        ("unfold", lambda x: ops.unfold(x, size, 1, pad, stride)),
        ("conv2d", lambda x: ops.conv2d(ops.clamp(ops.nan_to_num(x), -8, 8), weight, None, stride, "pad", pad)),
        ("pixel", lambda x: ops.channel_shuffle(x, 1)),
    ][int(rng.integers(0, 11))]
    return called(f"{name}(size={size}, stride={stride}, pad={pad})", function, [Like((n, c, h, w), kind)], rng)


def _update(rng: np.random.Generator, kind: str) -> Call:
    """Reading and writing at positions, some of which may not exist."""
    rows, columns, count = (int(v) for v in rng.choice([1, 2, 5, 9, 17], 3))
    high = rows + int(rng.random() < 0.1)
    index = Tensor(rng.integers(0, high, (count, 1)).astype(str(rng.choice(["int32", "int64"]))))
    flat = index.reshape(-1)
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
    arguments = [Like((rows, columns), kind), Like((count, columns), kind)]
    return called(f"{name}({index.reshape(-1).tolist()} of {rows})", function, arguments, rng)


def _stored(x: Tensor, index: Tensor, updates: Tensor) -> Tensor:
    y = x + 0
    y[index[:1]] = updates[:1]
    return y
