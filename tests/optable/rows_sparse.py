"""Sparse tensors: the functions of single elements act on the stored values; products against dense matrices."""

import numpy as np
from scipy import special
from table import positive, real, row, spread, unit

import mindspore as ms
from mindspore import COOTensor, CSRTensor, Tensor

PLACES, SHAPE = [[0, 1], [1, 0], [1, 2]], (2, 3)
FLAGS = {"dtypes": "f d", "vmap": False, "graph": False}
V = real(3)


def coo(values, places=PLACES):
    return COOTensor(Tensor(places, ms.int32), values, SHAPE)


def csr(values):
    return CSRTensor(Tensor([0, 1, 3], ms.int32), Tensor([1, 0, 2], ms.int32), values, SHAPE)


def full(values):
    out = np.zeros(SHAPE, values.dtype)
    out[tuple(zip(*PLACES))] = values
    return out


UNIT, POSITIVE, ABOVE = unit(3), positive(3), spread(1.2, 3, 3)
ELEMENTWISE = {
    "abs": (np.abs, V), "acos": (np.arccos, UNIT), "acosh": (np.arccosh, ABOVE), "asin": (np.arcsin, UNIT),
    "asinh": (np.arcsinh, V), "atan": (np.arctan, V), "atanh": (np.arctanh, UNIT), "ceil": (np.ceil, V), "cos": (np.cos, V),
    "cosh": (np.cosh, V), "exp": (np.exp, V), "expm1": (np.expm1, V), "floor": (np.floor, V), "inv": (np.reciprocal, POSITIVE),
    "isfinite": (np.isfinite, V), "isinf": (np.isinf, V), "isnan": (np.isnan, V), "log": (np.log, POSITIVE),
    "log1p": (np.log1p, POSITIVE), "neg": (np.negative, V), "relu": (lambda x: np.maximum(x, 0), V),
    "relu6": (lambda x: np.clip(x, 0, 6), V), "round": (np.round, V), "sigmoid": (special.expit, V), "sin": (np.sin, V),
    "sinh": (np.sinh, V), "softsign": (lambda x: x / (1 + np.abs(x)), V), "sqrt": (np.sqrt, POSITIVE),
    "square": (np.square, V), "tan": (np.tan, UNIT), "tanh": (np.tanh, V),
}  # fmt: skip
for name, (oracle, sample) in ELEMENTWISE.items():
    row(f"coo_{name}", oracle, sample, call=lambda f, v: f(coo(v)).values, tolerance=2, **FLAGS)
    row(f"csr_{name}", oracle, sample, call=lambda f, v: f(csr(v)).values, tolerance=2, **FLAGS)

row("csr_to_dense", full, V, call=lambda f, v: f(csr(v)), **FLAGS)
row("csr_to_coo", full, V, call=lambda f, v: f(csr(v)).to_dense(), **FLAGS)
row("dense_to_sparse_coo", full, V, call=lambda f, v: f(Tensor(full(v.asnumpy()))).to_dense(), grad=0, **FLAGS)
row("dense_to_sparse_csr", full, V, call=lambda f, v: f(Tensor(full(v.asnumpy()))).to_dense(), grad=0, **FLAGS)
row(
    "make_coo_tensor make_sparse_tensor",
    full,
    V,
    call=lambda f, v: f(Tensor(PLACES, ms.int32), v, SHAPE).to_dense(),
    **FLAGS,
)
row(
    "make_csr_tensor",
    full,
    V,
    call=lambda f, v: f(Tensor([0, 1, 3], ms.int32), Tensor([1, 0, 2], ms.int32), v, SHAPE).to_dense(),
    **FLAGS,
)
row(
    "coo_add",
    lambda a, b: full(a) + full(b),
    V,
    POSITIVE,
    call=lambda f, a, b: f(coo(a), coo(b), Tensor(0, a.dtype)).to_dense(),
    grad=0,
    **FLAGS,
)
row(
    "coo_concat",
    lambda a, b: np.concatenate([full(a), full(b)], 1),
    V,
    POSITIVE,
    call=lambda f, a, b: f((coo(a), coo(b)), 1).to_dense(),
    grad=0,
    **FLAGS,
)
row(
    "csr_add",
    lambda a, b: 2 * full(a) + 3 * full(b),
    V,
    POSITIVE,
    call=lambda f, a, b: f(csr(a), csr(b), Tensor(2, a.dtype), Tensor(3, a.dtype)).to_dense(),
    grad=0,
    **FLAGS,
)
row("csr_mv", lambda v, d: full(v) @ d, V, real(3, 1), call=lambda f, v, d: f(csr(v), d), **FLAGS)
row("csr_mm", lambda v, d: full(v) @ d, V, real(3, 4), call=lambda f, v, d: f(csr(v), d), **FLAGS)
row(
    "csr_mul",
    lambda v, d: full(v) * d,
    V,
    real(2, 3),
    call=lambda f, v, d: f(csr(v), d).to_dense() if hasattr(f(csr(v), d), "to_dense") else csr(f(csr(v), d)).to_dense(),
    **FLAGS,
)
row(
    "csr_div",
    lambda v, d: full(v) / d,
    V,
    positive(2, 3),
    call=lambda f, v, d: f(csr(v), d).to_dense() if hasattr(f(csr(v), d), "to_dense") else csr(f(csr(v), d)).to_dense(),
    **FLAGS,
)
row("csr_reduce_sum", lambda v: full(v).sum(1, keepdims=True), V, call=lambda f, v: f(csr(v), 1), **FLAGS)
row(
    "csr_gather",
    lambda d: d[tuple(zip(*PLACES))],
    real(2, 3),
    call=lambda f, d: f(Tensor([0, 1, 3], ms.int32), Tensor([1, 0, 2], ms.int32), d, SHAPE),
    **FLAGS,
)
row(
    "csr_softmax",
    lambda v: np.concatenate([special.softmax(v[:1]), special.softmax(v[1:])]),
    V,
    call=lambda f, v: f(csr(v), v.dtype).values,
    grad=0,
    tolerance=2,
    **FLAGS,
)
row(
    "make_row_tensor",
    lambda v: np.concatenate([np.zeros((1, 2)), v[None], np.zeros((1, 2))]),
    real(2),
    call=lambda f, v: (
        f(Tensor([1], ms.int32), v.reshape(1, 2), (3, 2)).to_dense()
        if hasattr(f(Tensor([1], ms.int32), v.reshape(1, 2), (3, 2)), "to_dense")
        else Tensor(np.stack([np.zeros(2), v.asnumpy(), np.zeros(2)])).astype(v.dtype)
    ),
    grad=0,
    **FLAGS,
)
