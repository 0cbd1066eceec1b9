"""Small functions, one or a few operations each, that both packages must agree on after an exchange of their MindIR.

They are `def`s because official MindSpore cannot read the source of a lambda inside a table.
"""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import mint, ops


def _real(*shape, low=0.0, high=1.0, seed=3):
    return (np.random.default_rng(seed).random(shape) * (high - low) + low).astype(np.float32)


X = _real(3, 4, low=-2, high=2)
POSITIVE = _real(3, 4, low=0.2, high=2)
UNIT = _real(3, 4, low=-0.9, high=0.9)
Y = _real(3, 4, low=0.5, high=2, seed=4)
IMAGE = _real(2, 4, 8, 8, low=-1)
WHOLE = np.arange(12, dtype=np.int32).reshape(3, 4) - 3
INDEX = np.array([[0, 2], [1, 0]], np.int32)
COLUMN = np.array([2, 0], np.int32)
FLAGS = np.array([[True, False, True, True], [False, False, True, False], [True, True, False, True]])

_UNARY = {
    "abs": X, "neg": X, "exp": X, "log": POSITIVE, "sqrt": POSITIVE, "rsqrt": POSITIVE, "square": X, "sin": X, "cos": X,
    "tan": X, "asin": UNIT, "acos": UNIT, "atan": X, "sinh": X, "cosh": X, "tanh": X, "asinh": X, "atanh": UNIT,
    "erf": X, "erfc": X, "floor": X, "ceil": X, "round": X, "sign": X, "reciprocal": POSITIVE, "sigmoid": X, "relu": X,
    "relu6": X, "silu": X, "elu": X, "gelu": X, "softplus": X, "softsign": X, "hardswish": X, "hardsigmoid": X,
    "mish": X, "log1p": POSITIVE, "expm1": X, "isnan": X, "isfinite": X, "logical_not": FLAGS, "ones_like": X,
    "zeros_like": X, "trunc": X, "selu": X, "logsigmoid": X, "lgamma": POSITIVE, "exp2": X,
}  # fmt: skip
_BINARY = {
    "add": (X, Y), "sub": (X, Y), "mul": (X, Y), "div": (X, Y), "pow": (POSITIVE, Y), "maximum": (X, Y),
    "minimum": (X, Y), "equal": (WHOLE, WHOLE), "not_equal": (X, Y), "greater": (X, Y), "less": (X, Y), "ge": (X, Y),
    "le": (X, Y), "floor_div": (X, Y), "floor_mod": (X, Y), "fmod": (X, Y), "logical_and": (FLAGS, FLAGS),
    "logical_or": (FLAGS, FLAGS), "logical_xor": (FLAGS, FLAGS), "atan2": (X, Y), "hypot": (X, Y), "xlogy": (X, Y),
}  # fmt: skip


def do_sum(x):
    return x.sum()


def do_sum_axis(x):
    return x.sum(axis=1, keepdims=True)


def do_mean(x):
    return x.mean(axis=(0, 1))


def do_max(x):
    return x.max(axis=0)


def do_min(x):
    return ops.amin(x, 1)


def do_prod(x):
    return ops.prod(x, 1)


def do_all(x):
    return x.all(axis=1)


def do_any(x):
    return x.any(axis=0)


def do_var(x):
    return ops.var(x, 1)


def do_std(x):
    return ops.std(x, 1)


def do_norm(x):
    return ops.norm(x, dim=1)


def do_logsumexp(x):
    return ops.logsumexp(x, 1)


def do_argmax(x):
    return ops.argmax(x, 1)


def do_argmin(x):
    return ops.argmin(x, 1)


def do_max_pair(x):
    return ops.max(x, 1)


def do_cumsum(x):
    return ops.cumsum(x, 1)


def do_cumprod(x):
    return ops.cumprod(x, 1)


def do_topk(x):
    return ops.topk(x, 2)


def do_sort(x):
    return ops.sort(x, 1)


def do_softmax(x):
    return ops.softmax(x, 1)


def do_log_softmax(x):
    return ops.log_softmax(x, 1)


def do_matmul(x, y):
    return ops.matmul(x, y)


def do_matmul_batch(x, y):
    return ops.matmul(x, y)


def do_bmm(x, y):
    return ops.bmm(x, y)


def do_einsum(x, y):
    return ops.matmul(x, y) - ops.matmul(y.T, x.T).T


def do_tensor_dot(x, y):
    return ops.tensor_dot(x, y, 1)


def do_cast(x):
    return (x.astype(ms.int32), x.astype(ms.float16), x.astype(ms.bool_))


def do_bfloat16(x):
    return (x.astype(ms.bfloat16) * 2).astype(ms.float32)


def do_scalars(x):
    return x * 2 + 1 - x / 3


def do_scalars_int(x):
    return x * 2 + 1 - x // 3


def do_reshape(x):
    return x.reshape(2, -1)


def do_transpose(x):
    return x.transpose(1, 0)


def do_swapaxes(x):
    return x.swapaxes(0, 1)


def do_expand_dims(x):
    return ops.expand_dims(x, 1)


def do_squeeze(x):
    return ops.squeeze(x.reshape(3, 1, 4))


def do_flatten(x):
    return ops.flatten(x)


def do_broadcast_to(x):
    return ops.broadcast_to(x, (2, 3, 4))


def do_tile(x):
    return ops.tile(x, (2, 1))


def do_repeat_interleave(x):
    return ops.repeat_interleave(x, 2, 1)


def do_concat(x, y):
    return ops.concat((x, y), 1)


def do_stack(x, y):
    return ops.stack((x, y), 1)


def do_split(x):
    return ops.split(x, 2, 1)


def do_chunk(x):
    return ops.chunk(x, 2, 1)


def do_unstack(x):
    return ops.unstack(x, 0)


def do_flip(x):
    return ops.flip(x, (0,))


def do_pad(x):
    return ops.pad(x, (1, 2), value=3.0)


def do_pad_zero(x):
    return ops.pad(x, (1, 2, 0, 1))


def do_tril(x):
    return ops.tril(x)


def do_triu(x):
    return ops.triu(x, 1)


def do_where(c, x, y):
    return ops.where(c, x, y)


def do_masked_fill(x, c):
    return ops.masked_fill(x, c, 5.0)


def do_clamp(x):
    return ops.clamp(x, -0.5, 0.5)


def do_gather(x, i):
    return ops.gather(x, i, 0)


def do_gather_elements(x, i):
    return ops.gather_elements(x, 1, i)


def do_gather_nd(x, i):
    return ops.gather_nd(x, i)


def do_scatter_nd(i, u):
    return ops.scatter_nd(i, u, (4,))


def do_tensor_scatter_update(x, i, u):
    return ops.tensor_scatter_elements(x, i, u, 1)


def do_one_hot(i):
    return ops.one_hot(i, 4)


def do_arange(x):
    return x + ops.arange(4)


def do_eye(x):
    return ops.matmul(x, ops.eye(4, 4, ms.float32))


def do_full(x):
    return x + ops.full((3, 4), 2.0)


def do_index_int(x):
    return x[1]


def do_index_negative(x):
    return x[-1, ::-1]


def do_index_slice(x):
    return x[1:, ::2]


def do_index_none(x):
    return x[:, None, 1:3]


def do_index_tensor(x, i):
    return x[i]


def do_index_column(x, i):
    return x[:, i]


def do_index_tensors(x, i, j):
    return x[i, j]


def do_index_tensor_int(x, i):
    return x[i, 1]


def do_index_tensor_apart(x, i):
    return x[i, :, 0, i]


def do_index_mixed(x, i, j):
    return x[:, i, j, 1:]


def do_assign_slice(x):
    y = x + 0.0
    y[1:, 0] = 5.0
    return y


def do_assign_row(x, y):
    y = x + 0.0
    y[1] = y[0]
    return y


def do_assign_tensor(x, i, y):
    y = x + 0.0
    y[i] = y[:2]
    return y


def do_conv(x, w):
    return ops.conv2d(x, w, pad_mode="pad", padding=1)


def do_conv_stride(x, w):
    return ops.conv2d(x, w, stride=2, dilation=2)


def do_max_pool(x):
    return ops.max_pool2d(x, 2, 2)


def do_avg_pool(x):
    return ops.avg_pool2d(x, 2, 2)


def do_adaptive_pool(x):
    return ops.adaptive_avg_pool2d(x, 2)


def do_interpolate(x):
    return ops.interpolate(x, scale_factor=2.0, mode="nearest", recompute_scale_factor=True)


def do_interpolate_linear(x):
    return ops.interpolate(x, size=(4, 6), mode="bilinear", align_corners=True)


def do_cross_entropy(x, i):
    return ops.cross_entropy(x, i)


def do_mse_loss(x, y):
    return ops.mse_loss(x, y)


def do_leaky_relu(x):
    return ops.leaky_relu(x, 0.1)


def do_prelu(x, w):
    return ops.prelu(x, w)


def do_glu(x):
    return ops.glu(x, 1)


def do_mint_linear(x, w, b):
    return mint.nn.functional.linear(x, w, b)


def do_mint_sum(x):
    return mint.sum(x, 1)


def do_mint_cat(x, y):
    return mint.cat((x, y), 0)


def do_bitwise(x):
    return ops.bitwise_and(x, x + 1)


def do_meshgrid(x):
    return ops.meshgrid(x[0], x[1])


def do_isclose(x, y):
    return ops.isclose(x, y)


def do_cdist(x, y):
    return ops.cdist(x, y)


def do_cross(x, y):
    return ops.cross(x[:, :3], y[:, :3], 1)


def do_addcmul(x, y):
    return ops.addcmul(x, y, y, 0.5)


def do_lerp(x, y):
    return ops.lerp(x, y, 0.3)


def do_nan_to_num(x):
    return ops.nan_to_num(x / (x - x))


def do_stop_gradient(x):
    return ops.stop_gradient(x) * 2


def do_clip_by_value(x):
    return ops.clip_by_value(x, -0.5, 0.5)


def do_select(c, x, y):
    return ops.select(c, x, y)


def do_bce_with_logits(x, y):
    one = ops.ones_like(x)
    return ops.binary_cross_entropy_with_logits(x, ops.sigmoid(y), one, one)


def do_clip_by_global_norm(x):
    return ops.clip_by_global_norm((x, x * 2), 1.0)


def do_outer(x, y):
    return ops.outer(x[0], y[0])


def do_cosine_similarity(x, y):
    return ops.cosine_similarity(x, y)


def do_vstack(x, y):
    return ops.vstack((x, y))


def do_hstack(x, y):
    return ops.hstack((x, y))


def do_diag(x):
    return ops.diag(x[0])


def do_diagonal(x):
    return ops.diagonal(x)


def do_argsort(x):
    return ops.argsort(x, 1)


def do_unbind(x):
    return ops.unbind(x, 0)


def do_addn(x, y):
    return ops.addn((x, y, x))


def do_l1_loss(x, y):
    return ops.l1_loss(x, y)


def do_smooth_l1(x, y):
    return ops.smooth_l1_loss(x, y)


def do_index_select(x, i):
    return ops.index_select(x, 0, i)


def do_tensor_scatter_add(x, i, u):
    return ops.tensor_scatter_add(x, i, u)


def do_amax(x):
    return ops.amax(x, 1)


def do_count_nonzero(x):
    return ops.count_nonzero(x, axis=1)


def do_pixel_shuffle(x):
    return ops.pixel_shuffle(x, 2)


def do_pixel_unshuffle(x):
    return ops.pixel_unshuffle(x, 2)


def do_unfold(x):
    return ops.unfold(x, 2)


def do_grid_sample(x, g):
    return ops.grid_sample(x, g, align_corners=True)


def do_softshrink(x):
    return ops.softshrink(x), ops.hardshrink(x), ops.hardtanh(x), ops.softmin(x, 1)


def do_log2(x):
    return ops.log2(x), ops.log10(x), ops.deg2rad(x)


def do_moveaxis(x):
    return ops.movedim(x, 1, 3)


def do_baddbmm(x, y, z):
    return ops.baddbmm(x, y, z)


def do_nll_loss(x, i):
    return ops.nll_loss(x, i)


def do_linspace(x):
    return x + ops.linspace(ms.Tensor(0.0), ms.Tensor(1.0), 4)


def do_trace(x):
    return ops.trace(x)


def do_conv1d(x, w):
    return ops.conv1d(x, w, pad_mode="pad", padding=1)


def do_conv3d(x, w):
    return ops.conv3d(x, w)


def do_sequence_mask(x):
    return ops.cast(ops.arange(4) < 2, ms.float32) * x


def do_isin_range(x):
    return ops.logical_and(x > -1, x < 1)


def do_reverse(x):
    return ops.flip(x, (0, 1)), ops.rot90(x, 1, (0, 1))


def do_cummax(x):
    return ops.cummax(x, 1)


def do_kl_div(x, y):
    return ops.kl_div(ops.log_softmax(x), ops.softmax(y), "sum")


FUNCTIONS = {
    **{name: (getattr(ops, name), [value]) for name, value in _UNARY.items()},
    **{name: (getattr(ops, name), list(pair)) for name, pair in _BINARY.items()},
    "sum": (do_sum, [X]),
    "sum_axis": (do_sum_axis, [X]),
    "mean": (do_mean, [X]),
    "max": (do_max, [X]),
    "min": (do_min, [X]),
    "prod": (do_prod, [X]),
    "all": (do_all, [FLAGS]),
    "any": (do_any, [FLAGS]),
    "var": (do_var, [X]),
    "std": (do_std, [X]),
    "norm": (do_norm, [X]),
    "logsumexp": (do_logsumexp, [X]),
    "argmax": (do_argmax, [X]),
    "argmin": (do_argmin, [X]),
    "max_pair": (do_max_pair, [X]),
    "cumsum": (do_cumsum, [X]),
    "cumprod": (do_cumprod, [X]),
    "topk": (do_topk, [X]),
    "sort": (do_sort, [X]),
    "softmax": (do_softmax, [X]),
    "log_softmax": (do_log_softmax, [X]),
    "matmul": (do_matmul, [X, _real(4, 5)]),
    "matmul_batch": (do_matmul_batch, [_real(2, 3, 4), _real(4, 5)]),
    "bmm": (do_bmm, [_real(2, 3, 4), _real(2, 4, 5)]),
    "einsum": (do_einsum, [X, _real(4, 5)]),
    "tensor_dot": (do_tensor_dot, [X, _real(4, 5)]),
    "cast": (do_cast, [X]),
    "bfloat16": (do_bfloat16, [X]),
    "scalars": (do_scalars, [X]),
    "scalars_int": (do_scalars_int, [WHOLE]),
    "reshape": (do_reshape, [X]),
    "transpose": (do_transpose, [X]),
    "swapaxes": (do_swapaxes, [X]),
    "expand_dims": (do_expand_dims, [X]),
    "squeeze": (do_squeeze, [X]),
    "flatten": (do_flatten, [IMAGE]),
    "broadcast_to": (do_broadcast_to, [X]),
    "tile": (do_tile, [X]),
    "repeat_interleave": (do_repeat_interleave, [X]),
    "concat": (do_concat, [X, Y]),
    "stack": (do_stack, [X, Y]),
    "split": (do_split, [X]),
    "chunk": (do_chunk, [X]),
    "unstack": (do_unstack, [X]),
    "flip": (do_flip, [X]),
    "pad": (do_pad, [X]),
    "pad_zero": (do_pad_zero, [X]),
    "tril": (do_tril, [X]),
    "triu": (do_triu, [X]),
    "where": (do_where, [FLAGS, X, Y]),
    "masked_fill": (do_masked_fill, [X, FLAGS]),
    "clamp": (do_clamp, [X]),
    "gather": (do_gather, [X, INDEX]),
    "gather_elements": (do_gather_elements, [X, INDEX.astype(np.int64)]),
    "gather_nd": (do_gather_nd, [X, INDEX]),
    "scatter_nd": (do_scatter_nd, [np.array([[1], [3]], np.int32), _real(2)]),
    "tensor_scatter_update": (do_tensor_scatter_update, [X, INDEX.astype(np.int32), _real(2, 2)]),
    "one_hot": (do_one_hot, [COLUMN]),
    "arange": (do_arange, [X]),
    "eye": (do_eye, [X]),
    "full": (do_full, [X]),
    "index_int": (do_index_int, [X]),
    "index_negative": (do_index_negative, [X]),
    "index_slice": (do_index_slice, [X]),
    "index_none": (do_index_none, [X]),
    "index_tensor": (do_index_tensor, [X, COLUMN]),
    "index_column": (do_index_column, [X, COLUMN]),
    "index_tensors": (do_index_tensors, [X, COLUMN, COLUMN]),
    "index_tensor_int": (do_index_tensor_int, [X, COLUMN]),
    "index_tensor_apart": (do_index_tensor_apart, [IMAGE, np.array([0, 1], np.int32)]),
    "index_mixed": (do_index_mixed, [IMAGE, COLUMN, COLUMN]),
    "assign_slice": (do_assign_slice, [X]),
    "assign_row": (do_assign_row, [X, Y]),
    "assign_tensor": (do_assign_tensor, [X, COLUMN, Y]),
    "conv": (do_conv, [IMAGE, _real(6, 4, 3, 3)]),
    "conv_stride": (do_conv_stride, [IMAGE, _real(6, 4, 3, 3)]),
    "max_pool": (do_max_pool, [IMAGE]),
    "avg_pool": (do_avg_pool, [IMAGE]),
    "adaptive_pool": (do_adaptive_pool, [IMAGE]),
    "interpolate": (do_interpolate, [IMAGE]),
    "interpolate_linear": (do_interpolate_linear, [IMAGE]),
    "cross_entropy": (do_cross_entropy, [X, np.array([0, 3, 1], np.int32)]),
    "mse_loss": (do_mse_loss, [X, Y]),
    "leaky_relu": (do_leaky_relu, [X]),
    "prelu": (do_prelu, [IMAGE, _real(4)]),
    "glu": (do_glu, [X]),
    "mint_linear": (do_mint_linear, [X, _real(5, 4), _real(5)]),
    "mint_sum": (do_mint_sum, [X]),
    "mint_cat": (do_mint_cat, [X, Y]),
    "bitwise": (do_bitwise, [WHOLE]),
    "meshgrid": (do_meshgrid, [X]),
    "isclose": (do_isclose, [X, Y]),
    "cdist": (do_cdist, [X, Y]),
    "cross": (do_cross, [X, Y]),
    "addcmul": (do_addcmul, [X, Y]),
    "lerp": (do_lerp, [X, Y]),
    "nan_to_num": (do_nan_to_num, [X]),
    "stop_gradient": (do_stop_gradient, [X]),
    "clip_by_value": (do_clip_by_value, [X]),
    "select": (do_select, [FLAGS, X, Y]),
    "bce_with_logits": (do_bce_with_logits, [X, Y]),
    "clip_by_global_norm": (do_clip_by_global_norm, [X]),
    "outer": (do_outer, [X, Y]),
    "cosine_similarity": (do_cosine_similarity, [X, Y]),
    "vstack": (do_vstack, [X, Y]),
    "hstack": (do_hstack, [X, Y]),
    "diag": (do_diag, [X]),
    "diagonal": (do_diagonal, [X]),
    "argsort": (do_argsort, [X]),
    "unbind": (do_unbind, [X]),
    "addn": (do_addn, [X, Y]),
    "l1_loss": (do_l1_loss, [X, Y]),
    "smooth_l1": (do_smooth_l1, [X, Y]),
    "index_select": (do_index_select, [X, COLUMN]),
    "tensor_scatter_add": (do_tensor_scatter_add, [X, INDEX, _real(2)]),
    "amax": (do_amax, [X]),
    "count_nonzero": (do_count_nonzero, [X]),
    "pixel_shuffle": (do_pixel_shuffle, [IMAGE]),
    "pixel_unshuffle": (do_pixel_unshuffle, [IMAGE]),
    "unfold": (do_unfold, [IMAGE]),
    "grid_sample": (do_grid_sample, [IMAGE, _real(2, 3, 3, 2, low=-1)]),
    "softshrink": (do_softshrink, [X]),
    "log2": (do_log2, [POSITIVE]),
    "moveaxis": (do_moveaxis, [IMAGE]),
    "baddbmm": (do_baddbmm, [_real(2, 3, 5), _real(2, 3, 4), _real(2, 4, 5)]),
    "nll_loss": (do_nll_loss, [X, np.array([0, 3, 1], np.int32)]),
    "linspace": (do_linspace, [X]),
    "trace": (do_trace, [X]),
    "conv1d": (do_conv1d, [_real(2, 4, 8), _real(6, 4, 3)]),
    "conv3d": (do_conv3d, [_real(1, 2, 5, 5, 5), _real(3, 2, 3, 3, 3)]),
    "sequence_mask": (do_sequence_mask, [X]),
    "isin_range": (do_isin_range, [X]),
    "reverse": (do_reverse, [X]),
    "cummax": (do_cummax, [X]),
    "kl_div": (do_kl_div, [X, Y]),
}  # fmt: skip

__all__ = ["FUNCTIONS"]
