"""Families of operations: order, segments, linear algebra, Fourier transforms, losses, samples of images, complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz_compare import Call
from fuzz_values import COMPLEX, FLOATS, INTEGERS, Like, called, some_shape

import mindspore as ms
from mindspore import Tensor, ops


def _pick(rng: np.random.Generator, choices: list[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _sizes(rng: np.random.Generator, count: int, *among: int) -> list[int]:
    return [int(size) for size in rng.choice(among or (1, 2, 3, 5, 8, 9, 17), count)]


def _small(x: Tensor) -> Tensor:
    """Numbers whose products are exact enough to compare, and none that is not finite."""
    return ops.clamp(ops.nan_to_num(x, 0.0, 1.0, -1.0), -8, 8)


# -- order ------------------------------------------------------------------------------------------------------------
def order(rng: np.random.Generator, kind: str) -> Call:
    """Sorting and searching, ties among the values."""
    kind = "int32" if kind == "bool" else kind
    shape = some_shape(rng, int(rng.integers(1, 4)))
    axis = int(rng.integers(-len(shape), len(shape)))
    down, right, k = bool(rng.random() < 0.5), bool(rng.random() < 0.5), int(rng.integers(0, 5))
    edges = Tensor(np.sort(rng.integers(-5, 6, 7)).astype(np.float32))
    name, function = _pick(rng, [
        ("sort", lambda x: ops.sort(x, axis, down)),
        ("argsort", lambda x: ops.argsort(x, axis, down)),
        ("topk", lambda x: ops.topk(x, k, axis, down)),
        ("median", lambda x: ops.median(x, axis)),
        ("cummax", lambda x: ops.cummax(x, axis)),
        ("cummin", lambda x: ops.cummin(x, axis)),
        ("max", lambda x: ops.max(x, axis)),
        ("min", lambda x: ops.min(x, axis, True)),
        ("searchsorted", lambda x: ops.searchsorted(edges, x.astype(ms.float32), right=right)),
        ("bucketize", lambda x: ops.bucketize(x, [-2, 0, 3], right=right)),
        ("count_nonzero", lambda x: ops.count_nonzero(x, axis)),
        ("diff", lambda x: ops.diff(x, 1, axis)),
        ("aminmax", lambda x: ops.aminmax(x, axis=axis)),
    ])  # fmt: skip
    # by values alone: which of equal ones comes first is not said, and of a gradient neither
    return called(f"{name}(axis={axis}, descending={down}, right={right}, k={k})", function, [Like(shape, kind)], rng, grad=False)


# -- segments and positions -------------------------------------------------------------------------------------------
def segments(rng: np.random.Generator, kind: str) -> Call:
    """Reductions and writes by index."""
    kind = "int32" if kind == "bool" else kind
    rows, columns, count = _sizes(rng, 3)
    high = rows + int(rng.random() < 0.1)
    places = rng.integers(0, high, count)
    ids, rows_once = Tensor(places.astype(np.int32)), Tensor(rng.permutation(max(rows, count))[:count].astype(np.int32) % rows)
    column = Tensor(places.reshape(-1, 1).astype(np.int32))
    wide = ops.broadcast_to(column.astype(ms.int64), (count, columns))
    name, function = _pick(rng, [
        ("segment_sum", lambda x, u: ops.unsorted_segment_sum(u, ids, rows)),
        ("segment_min", lambda x, u: ops.unsorted_segment_min(u, ids, rows)),
        ("segment_max", lambda x, u: ops.unsorted_segment_max(u, ids, rows)),
        ("segment_prod", lambda x, u: ops.unsorted_segment_prod(ops.clamp(u, -2, 2), ids, rows)),
        ("scatter_sub", lambda x, u: ops.tensor_scatter_sub(x, column, u)),
        ("scatter_mul", lambda x, u: ops.tensor_scatter_mul(x, column, ops.clamp(u, -2, 2))),
        ("scatter_max", lambda x, u: ops.tensor_scatter_max(x, column, u)),
        ("scatter_min", lambda x, u: ops.tensor_scatter_min(x, column, u)),
        ("scatter", lambda x, u: ops.scatter(x, 0, wide, u)),
        ("scatter_reduce", lambda x, u: ops.tensor_scatter_elements(x, wide, u, 0, "add")),
        ("index_fill", lambda x, u: ops.index_fill(x, 0, ids, 2) + u[:1]),
        ("index_select", lambda x, u: ops.index_select(x, 0, ids) + u),
        ("masked_fill", lambda x, u: ops.masked_fill(x, x > 0, u.reshape(-1)[0])),
        ("put_along", lambda x, u: ops.gather_d(x, 0, wide) - u),
        ("one_hot", lambda x, u: ops.one_hot(ids, rows) * u.sum()),
    ])  # fmt: skip
    if name == "scatter":
        wide = ops.broadcast_to(rows_once.reshape(-1, 1).astype(ms.int64), (count, columns))
    arguments = [Like((rows, columns), kind), Like((count, columns), kind)]
    return called(f"{name}({places.tolist()} of {rows})", function, arguments, rng)


# -- linear algebra ---------------------------------------------------------------------------------------------------
def algebra(rng: np.random.Generator, kind: str) -> Call:
    """Decompositions of well-conditioned matrices, by what is unique of them; norms and products."""
    kind = "float64" if kind == "float64" else "float32"
    n, m = _sizes(rng, 2, 1, 2, 3, 5, 8)
    batch = () if rng.random() < 0.6 else (2,)
    eye, lower = ops.eye(n, n, getattr(ms, kind)), bool(rng.random() < 0.5)
    order = _pick(rng, [1, 2, -1, float("inf"), float("-inf")])
    regular = lambda x: _small(x) * 0.05 + eye * 3
    spd = lambda x: ops.matmul(_small(x) * 0.1, (_small(x) * 0.1).swapaxes(-1, -2)) + eye
    name, function = _pick(rng, [
        ("inverse", lambda x, y: ops.inverse(regular(x))),
        ("det", lambda x, y: ops.det(regular(x))),
        ("slogdet", lambda x, y: ops.slogdet(regular(x))[1]),
        ("cholesky", lambda x, y: ops.cholesky(spd(x))),
        ("cholesky_inverse", lambda x, y: ops.cholesky_inverse(ops.tril(regular(x))) if x.ndim == 2 else x),
        ("qr", lambda x, y: ops.abs(ops.qr(regular(x))[1])),
        ("svd", lambda x, y: ops.svd(_small(y), compute_uv=False)),
        ("pinv", lambda x, y: ops.pinv(regular(x))),
        ("matrix_power", lambda x, y: ops.matrix_power(regular(x), m - 3)),
        ("solve", lambda x, y: ops.lu_solve(y, *_factors(regular(x))) if x.ndim == 2 else ops.matmul(x, y)),
        ("norm", lambda x, y: ops.norm(_small(y), order, dim=-1)),
        ("matrix_norm", lambda x, y: ops.norm(_small(y), order, dim=(-2, -1))),
        ("kron", lambda x, y: ops.kron(x, y)),
        ("einsum", lambda x, y: ops.einsum("...ij,...jk->...ki", _small(x), _small(y))),
        ("trace", lambda x, y: ops.diagonal(x, 0, -2, -1).sum(-1)),
        ("tril", lambda x, y: ops.tril(x, m - 3) + ops.triu(x, n - 4)),
        ("cdist", lambda x, y: ops.cdist(_small(x), _small(x) + 1)),
        ("cov", lambda x, y: ops.cov(_small(y).reshape(-1, m))),
        ("cross", lambda x, y: ops.cross(_small(y[..., :1] + eye[0, :3]), _small(y[..., -1:]) * eye[1, :3], -1) if n > 2 else y),
        ("expm", lambda x, y: ops.matrix_exp(_small(x) * 0.1)),
    ])  # fmt: skip
    arguments = [Like((*batch, n, n), kind), Like((*batch, n, m), kind)]
    return called(f"{name}(lower={lower}, order={order})", function, arguments, rng)


def _factors(x: Tensor) -> tuple[Tensor, Tensor]:
    packed, pivots = ops.lu_factor(x) if hasattr(ops, "lu_factor") else ms.scipy.linalg.lu_factor(x)
    return packed, pivots


# -- Fourier transforms and complex numbers ---------------------------------------------------------------------------
def fourier(rng: np.random.Generator, kind: str) -> Call:
    kind = _pick(rng, ["float32", "float64", *COMPLEX])
    shape = tuple(_sizes(rng, int(rng.integers(2, 4)), 1, 2, 3, 4, 7, 8, 16, 17))
    axis, n = int(rng.integers(-len(shape), len(shape))), _pick(rng, [None, 1, 5, 8, 20])
    norm = _pick(rng, [None, "backward", "forward", "ortho"])
    real = lambda x: ops.real(x) if x.is_complex() else x
    name, function = _pick(rng, [
        ("fft", lambda x: ops.fft(x, n, axis, norm)),
        ("ifft", lambda x: ops.ifft(x, n, axis, norm)),
        ("rfft", lambda x: ops.rfft(real(x), n, axis, norm)),
        ("irfft", lambda x: ops.irfft(x, n or 4, axis, norm)),
        ("hfft", lambda x: ops.hfft(x, n or 4, axis, norm)),
        ("ihfft", lambda x: ops.ihfft(real(x), n, axis, norm)),
        ("fft2", lambda x: ops.fft2(x, norm=norm)),
        ("rfft2", lambda x: ops.rfft2(real(x), norm=norm)),
        ("fftn", lambda x: ops.fftn(x, norm=norm)),
        ("ifftn", lambda x: ops.ifftn(x, norm=norm)),
        ("fftshift", lambda x: ops.fftshift(x)),
        ("ifftshift", lambda x: ops.ifftshift(x)),
        ("dct", lambda x: ops.dct(real(x), 2, None, axis, norm)),
    ])  # fmt: skip
    return called(f"{name}(n={n}, axis={axis}, norm={norm})", function, [Like(shape, kind, _bounded)], rng)


def _bounded(x: Tensor) -> Tensor:
    """The values of a transform stand for all others: one that is not finite says nothing of them."""
    array = np.nan_to_num(x.asnumpy(), nan=0.5, posinf=1.0, neginf=-1.0)
    return Tensor(np.clip(array.real, -9, 9) + (1j * np.clip(array.imag, -9, 9) if array.dtype.kind == "c" else 0), x.dtype)


COMPLEX_UNARY = (
    "abs", "neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh",
    "acosh", "atanh", "square", "reciprocal", "sgn", "conj", "real", "imag", "angle", "isnan", "isfinite", "log1p", "expm1",
)  # fmt: skip


def complex_numbers(rng: np.random.Generator, kind: str) -> Call:
    kind, other = _pick(rng, list(COMPLEX)), _pick(rng, [*COMPLEX, "float32", "int32"])
    shape = some_shape(rng)
    if rng.random() < 0.5:
        name = _pick(rng, list(COMPLEX_UNARY))
        return called(name, lambda x: getattr(ops, name)(x), [Like(shape, kind, _bounded)], rng)
    if rng.random() < 0.3 and shape:
        name = _pick(rng, ["sum", "mean", "prod", "cumsum", "cumprod"])
        axis = int(rng.integers(len(shape)))
        return called(f"{name}({axis})", lambda x: getattr(ops, name)(x, axis), [Like(shape, kind, lambda x: _bounded(x) * 0.1)], rng)
    name = _pick(rng, ["add", "sub", "mul", "div", "pow", "equal", "not_equal", "addcmul", "where"])
    function: Callable[..., Any] = {
        "addcmul": lambda x, y: ops.addcmul(x, x, y, 2),
        "where": lambda x, y: ops.where(ops.real(x) > 0, x, y),
        "pow": lambda x, y: ops.pow(x * 0.1, ops.real(y) if y.is_complex() else y),
    }.get(name, lambda x, y: getattr(ops, name)(x, y))
    return called(name, function, [Like(shape, kind, _bounded), Like(shape, other, _bounded)], rng)


# -- losses -----------------------------------------------------------------------------------------------------------
def losses(rng: np.random.Generator, kind: str) -> Call:
    kind = _pick(rng, ["float32", "float32", "float64", "float16"])
    n, c = _sizes(rng, 2, 1, 2, 3, 8, 17)
    how = _pick(rng, ["none", "mean", "sum"])
    labels = Tensor(rng.integers(0, c + int(rng.random() < 0.05), n).astype(np.int32))
    ignored, smoothing, weight = int(rng.integers(-100, c)), _pick(rng, [0.0, 0.1]), Tensor(rng.random(c), getattr(ms, kind))
    signs = Tensor(rng.choice([-1, 1], n), getattr(ms, kind))
    probabilities = lambda x: ops.sigmoid(_small(x)) * 0.9 + 0.05
    name, function = _pick(rng, [
        ("mse", lambda x, y: ops.mse_loss(x, y, how)),
        ("l1", lambda x, y: ops.l1_loss(x, y, how)),
        ("smooth_l1", lambda x, y: ops.smooth_l1_loss(x, y, 0.5, how)),
        ("huber", lambda x, y: ops.huber_loss(x, y, how, 0.7)),
        ("bce", lambda x, y: ops.binary_cross_entropy(probabilities(x), probabilities(y), reduction=how)),
        ("bce_logits", lambda x, y: ops.binary_cross_entropy_with_logits(x, probabilities(y), weight, weight, how)),
        ("cross_entropy", lambda x, y: ops.cross_entropy(x, labels, weight, ignored, how, smoothing)),
        ("soft_cross_entropy", lambda x, y: ops.cross_entropy(x, ops.softmax(_small(y)), weight, reduction=how, label_smoothing=smoothing)),
        ("nll", lambda x, y: ops.nll_loss(ops.log_softmax(x), labels, weight, ignored, how)),
        ("kl_div", lambda x, y: ops.kl_div(ops.log_softmax(_small(x)), ops.softmax(_small(y)), how)),
        ("hinge", lambda x, y: ops.hinge_embedding_loss(x, ops.sign(_small(y)), 1.0, how)),
        ("cosine", lambda x, y: ops.cosine_embedding_loss(_small(x), _small(y) + 2, signs, 0.1, how)),
        ("margin", lambda x, y: ops.margin_ranking_loss(x[:, 0], y[:, 0], signs, 0.1, how)),
        ("multi_margin", lambda x, y: ops.multi_margin_loss(x, labels, 1, 1.0, weight, how)),
        ("soft_margin", lambda x, y: ops.soft_margin_loss(_small(x), ops.sign(_small(y)), how)),
        ("multilabel", lambda x, y: ops.multilabel_soft_margin_loss(x, probabilities(y), weight, how)),
        ("gaussian", lambda x, y: ops.gaussian_nll_loss(_small(x), _small(y), probabilities(y), reduction=how)),
        ("triplet", lambda x, y: ops.triplet_margin_loss(_small(x), _small(y), _small(x + y), reduction=how)),
        ("cosine_similarity", lambda x, y: ops.cosine_similarity(_small(x), _small(y), 1)),
        ("softmax_cross_entropy", lambda x, y: ops.SoftmaxCrossEntropyWithLogits()(x, ops.softmax(_small(y)))[0]),
    ])  # fmt: skip
    arguments = [Like((n, c), kind), Like((n, c), kind)]
    return called(f"{name}({how}, {labels.tolist()}, ignored={ignored}, smoothing={smoothing})", function, arguments, rng)


# -- images -----------------------------------------------------------------------------------------------------------
def images(rng: np.random.Generator, kind: str) -> Call:
    """Sampling, adaptive and other windows, in one to three dimensions."""
    kind = kind if kind in FLOATS else "float32"
    n, c, h, w = (*_sizes(rng, 1, 1, 2), *_sizes(rng, 1, 1, 2, 4), *(int(v) for v in rng.integers(2, 12, 2)))
    a, b = (int(v) for v in rng.integers(1, 6, 2))
    size, stride, dilation, group = int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.integers(1, 3)), _pick(rng, [1, c])
    mode, padding = _pick(rng, ["bilinear", "nearest"]), _pick(rng, ["zeros", "border", "reflection"])
    scaling = _pick(rng, ["nearest", "bilinear", "bicubic", "area", "nearest-exact"])
    align = bool(rng.random() < 0.5)
    dtype = getattr(ms, kind)
    grid = Tensor(rng.uniform(-1.2, 1.2, (n, a, b, 2)), dtype)
    weights = [Tensor(rng.standard_normal((2 * c, c // group, *(size,) * d)) * 0.3, dtype) for d in (1, 2, 3)]
    aligned = align if scaling in ("bilinear", "bicubic") else None
    name, function = _pick(rng, [
        ("grid_sample", lambda x: ops.grid_sample(_small(x), grid, mode, padding, align)),
        ("interpolate", lambda x: ops.interpolate(_small(x), size=(a, b), mode=scaling, align_corners=aligned)),
        ("adaptive_max", lambda x: ops.adaptive_max_pool2d(x, (a, b))),
        ("adaptive_avg1", lambda x: ops.adaptive_avg_pool1d(x[:, :, 0], a)),
        ("adaptive_max1", lambda x: ops.adaptive_max_pool1d(x[:, :, 0], a)),
        ("adaptive_avg3", lambda x: ops.adaptive_avg_pool3d(_small(x)[:, :, None], (1, a, b))),
        ("max_pool1", lambda x: ops.max_pool2d(x[:, :, :1], (1, size), (1, stride), 0)),
        ("max_pool3", lambda x: ops.max_pool3d(ops.stack((x, x), 2), size, stride, size // 2)),
        ("avg_pool1", lambda x: ops.avg_pool1d(x[:, :, 0], size, stride, size // 2)),
        ("avg_pool3", lambda x: ops.avg_pool3d(ops.stack((x, x), 2), size, stride, size // 2)),
        ("lp_pool", lambda x: ops.lp_pool2d(ops.abs(_small(x)) + 0.1, 2, size, stride)),
        ("conv1d", lambda x: ops.conv1d(_small(x)[:, :, 0], weights[0], None, stride, "pad", size // 2, dilation, group)),
        ("conv2d", lambda x: ops.conv2d(_small(x), weights[1], None, stride, "same", 0, dilation, group)),
        ("conv3d", lambda x: ops.conv3d(ops.stack((_small(x),) * 3, 2), weights[2], None, stride, "same", 0, 1, group)),
        ("unfold", lambda x: ops.unfold(x, size, dilation, size // 2, stride)),
        ("fold", lambda x: ops.fold(_folded(x, size), Tensor([h, w], ms.int32), size, 1, 0, 1)),
        ("pixel_shuffle", lambda x: ops.pixel_shuffle(ops.tile(x, (1, 4, 1, 1)), 2)),
        ("pad", lambda x: ops.pad(x, (size - 2, stride, 0, 1), mode="replicate")),
        ("circular", lambda x: ops.pad(x, (1, stride, 0, 1), mode="circular")),
        ("batch_norm", lambda x: ops.batch_norm(_small(x), *(ops.ones(c, dtype),) * 4, training=True)),
        ("group_norm", lambda x: ops.group_norm(_small(x), group, ops.ones(c, dtype), ops.zeros(c, dtype))),
        ("lrn", lambda x: ops.lrn(_small(x), 2)),
        ("affine_grid", lambda x: ops.affine_grid(x.reshape(-1)[:1].reshape(1, 1, 1).broadcast_to((n, 2, 3)), (n, c, a, b), align)),
    ])  # fmt: skip
    settings = f"size={size}, stride={stride}, dilation={dilation}, group={group}, {mode}, {padding}, {scaling}, align={align}, to {a}x{b}"
    return called(f"{name}({settings})", function, [Like((n, c, h, w), kind)], rng)


def _folded(x: Tensor, size: int) -> Tensor:
    n, c, h, w = x.shape
    columns = x.reshape(n, c, 1, h * w)[..., : max((h - size + 1) * (w - size + 1), 0)]
    return ops.tile(columns, (1, 1, size * size, 1)).reshape(n, c * size * size, -1)


# -- whole numbers ----------------------------------------------------------------------------------------------------
def whole_numbers(rng: np.random.Generator, kind: str) -> Call:
    """Bits, shifts, remainders and casts, at the ends of the ranges, too."""
    kind, other = _pick(rng, list(INTEGERS)), _pick(rng, [*INTEGERS, "bool", "float32"])
    shape = some_shape(rng)
    places = lambda y: ops.clamp(ops.nan_to_num(y) if y.is_floating_point() else y, 0, 7).astype(ms.int32)
    name, function = _pick(rng, [
        ("shift_left", lambda x, y: ops.bitwise_left_shift(x, places(y).astype(x.dtype))),
        ("shift_right", lambda x, y: ops.bitwise_right_shift(x, places(y).astype(x.dtype))),
        ("not", lambda x, y: ops.bitwise_not(x) if hasattr(ops, "bitwise_not") else ~x),
        ("abs", lambda x, y: ops.abs(x)),
        ("neg", lambda x, y: -x),
        ("mul", lambda x, y: x * y),
        ("sub", lambda x, y: x - y),
        ("floor_div", lambda x, y: x // ops.where(y == 0, ops.ones_like(y), y)),
        ("mod", lambda x, y: x % ops.where(y == 0, ops.ones_like(y), y)),
        ("fmod", lambda x, y: ops.fmod(x, ops.where(y == 0, ops.ones_like(y), y))),
        ("pow", lambda x, y: ops.pow(x, places(y).astype(x.dtype))),
        ("cast", lambda x, y: x.astype(y.dtype)),
        ("back", lambda x, y: ops.clamp(ops.nan_to_num(y.astype(ms.float32)), 0, 100).astype(x.dtype)),
        ("sign", lambda x, y: ops.sign(x)),
        ("square", lambda x, y: ops.square(x)),
        ("clamp", lambda x, y: ops.clamp(x, -3, 100)),
        ("divide", lambda x, y: x / ops.where(y == 0, ops.ones_like(y), y)),
        ("gcd", lambda x, y: ops.gcd(x.astype(ms.int32), places(y))),
        ("sum", lambda x, y: x.sum()),
        ("prod", lambda x, y: x.prod()),
        ("max", lambda x, y: x.max() if x.size else x),
        ("cumsum", lambda x, y: x.cumsum(0) if x.ndim else x),
    ])  # fmt: skip
    return called(name, function, [Like(shape, kind, _to_the_ends), Like(shape, other, _to_the_ends)], rng)


def _to_the_ends(x: Tensor) -> Tensor:
    """Some values are the smallest and the largest of the type."""
    array = np.array(x.asnumpy())
    if array.dtype.kind in "iu" and array.size > 2:
        limits = np.iinfo(array.dtype)
        array.reshape(-1)[:2] = [limits.min, limits.max]
        np.random.default_rng(array.size).shuffle(array.reshape(-1))
    return Tensor(array)


FAMILIES: dict[str, Callable[[np.random.Generator, str], Call]] = {
    "order": order, "segments": segments, "algebra": algebra, "fourier": fourier, "complex": complex_numbers, "losses": losses,
    "images": images, "whole": whole_numbers,
}  # fmt: skip
