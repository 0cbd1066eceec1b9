"""ATen operations that are layers: products, convolutions, pools, normalisations, attention, resampling."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mindspore.formats.torch_export.registry import RULES, Value, rule
from mindspore.formats.torch_export.writer import AtenWriter as Writer


# -- products -------------------------------------------------------------------------------------------------------
@rule("mm", "bmm", "matmul", "mv", "dot", "linalg_matmul")
def _matmul(w: Writer, x: Value, y: Value) -> str:
    return w.op("MatMul", x, y)


@rule("linear")
def _linear(w: Writer, x: Value, weight: Value, bias: Value | None = None) -> str:
    if x.rank == 2 and bias is not None:
        return w.op("Gemm", x, weight, bias, transB=1)
    found = w.op("MatMul", x, w.op("Transpose", weight, perm=[1, 0]) if weight.rank == 2 else weight)
    return found if bias is None else w.op("Add", found, bias)


@rule("addmm")
def _addmm(w: Writer, bias: Value, x: Value, y: Value, beta: Any = 1, alpha: Any = 1) -> str:
    return w.op("Gemm", x, y, bias, alpha=float(alpha), beta=float(beta))


@rule("baddbmm")
def _baddbmm(w: Writer, bias: Value, x: Value, y: Value, beta: Any = 1, alpha: Any = 1) -> str:
    product = w.op("MatMul", x, y)
    product = product if alpha == 1 else w.op("Mul", product, w.number(alpha, w.dtype))
    if beta == 0:
        return product
    return w.op("Add", product, bias if beta == 1 else w.op("Mul", bias, w.number(beta, w.dtype)))


@rule("einsum")
def _einsum(w: Writer, equation: str, operands: list[Value], *_: Any) -> str:
    return w.op("Einsum", *operands, equation=equation)


# -- convolutions ---------------------------------------------------------------------------------------------------
def _many(value: Any, count: int) -> list[int]:
    given = [value] if isinstance(value, int) else list(value)
    return given * count if len(given) == 1 else given


@rule("convolution", "_convolution")
def _convolution(
    w: Writer, x: Value, weight: Value, bias: Value | None, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int, *_: Any,
) -> str:  # fmt: skip
    count = weight.rank - 2
    options = {"strides": _many(stride, count), "pads": _many(padding, count) * 2, "dilations": _many(dilation, count), "group": groups}
    if transposed:
        options["output_padding"] = _many(output_padding, count)
    batched = x.rank == weight.rank
    data = x.name if batched else w.op("Unsqueeze", x, np.array([0]))
    found = w.op("ConvTranspose" if transposed else "Conv", data, weight, bias, **options)
    return found if batched else w.op("Squeeze", found, np.array([0]))


def _conv(
    w: Writer, x: Value, weight: Value, bias: Value | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> str:
    if not isinstance(padding, str):
        return _convolution(w, x, weight, bias, stride, padding, dilation, False, 0, groups)
    count = weight.rank - 2
    totals = [d * ((weight.size(2 + i) or 1) - 1) if padding == "same" else 0 for i, d in enumerate(_many(dilation, count))]
    pads = [t // 2 for t in totals] + [t - t // 2 for t in totals]
    return w.op("Conv", x, weight, bias, strides=_many(stride, count), pads=pads, dilations=_many(dilation, count), group=groups)


def _conv_transpose(
    w: Writer, x: Value, weight: Value, bias: Value | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> str:  # fmt: skip
    return _convolution(w, x, weight, bias, stride, padding, dilation, True, output_padding, groups)


for _dims in ("1d", "2d", "3d"):
    RULES[f"conv{_dims}"] = _conv
for _name in ("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input"):
    RULES[_name] = _conv_transpose


# -- pools ----------------------------------------------------------------------------------------------------------
def _max_pool(
    dims: int, indices: bool, w: Writer, x: Value, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil: bool = False
) -> Any:
    kernels = _many(kernel, dims)
    options = {
        "kernel_shape": kernels, "strides": _many(stride, dims) if stride else kernels, "pads": _many(padding, dims) * 2,
        "dilations": _many(dilation, dims), "ceil_mode": int(ceil),
    }  # fmt: skip
    batched = x.rank == dims + 2
    data = x.name if batched else w.op("Unsqueeze", x, np.array([0]))
    found = w.ops("MaxPool", 1 + indices, data, **options)
    if indices:  # PyTorch counts within a plane, ONNX within the whole
        sizes = [x.size(-1 - d) for d in range(dims)]
        if None in sizes:
            raise ValueError("places of maxima in planes whose size is left open are not supported")
        plane = np.array(int(np.prod([s for s in sizes if s is not None])), np.int64)
        found[1] = w.op("Mod", found[1], plane)
    found = found if batched else [w.op("Squeeze", name, np.array([0])) for name in found]
    return found if indices else found[0]


def _avg_pool(
    dims: int, w: Writer, x: Value, kernel: Any, stride: Any = (), padding: Any = 0, ceil: bool = False, padded: bool = True,
    divisor: Any = None,
) -> str:  # fmt: skip
    kernels = _many(kernel, dims)
    options = {
        "kernel_shape": kernels, "strides": _many(stride, dims) if stride else kernels, "pads": _many(padding, dims) * 2,
        "ceil_mode": int(ceil), "count_include_pad": int(padded),
    }  # fmt: skip
    batched = x.rank == dims + 2
    found = w.op("AveragePool", x if batched else w.op("Unsqueeze", x, np.array([0])), **options)
    if divisor is not None:
        found = w.op("Mul", found, w.number(math.prod(kernels) / divisor, w.dtype))
    return found if batched else w.op("Squeeze", found, np.array([0]))


def _adaptive_average(w: Writer, x: Value, wanted: Any, dims: int) -> str:
    """Means over the cells of a grid of `wanted` sizes: a pool where they are alike, else a product along each dimension."""
    sizes = [x.size(a) for a in range(x.rank - dims, x.rank)]
    outputs = [size if out is None else out for out, size in zip(_many(wanted, dims), sizes)]
    if all(out == 1 for out in outputs):
        return w.op("ReduceMean", x, np.arange(x.rank - dims, x.rank), keepdims=1)
    if None in sizes:
        raise ValueError("an adaptive pool over sizes that are left open is not supported")
    known = [size for size in sizes if size is not None]
    if all(size % out == 0 for size, out in zip(known, outputs)) and x.rank == dims + 2:
        kernel = [size // out for size, out in zip(known, outputs)]
        return w.op("AveragePool", x, kernel_shape=kernel, strides=kernel)
    name = x.name
    for place, (size, out) in enumerate(zip(known, outputs)):
        axis = x.rank - dims + place
        order = list(range(x.rank))
        order[axis], order[-1] = order[-1], order[axis]
        turned = w.op("Transpose", name, perm=order)
        name = w.op("Transpose", w.op("MatMul", turned, w.number(_cells(size, out), w.dtype)), perm=order)
    return name


def _cells(size: int, out: int) -> np.ndarray:
    """(size, out): what each place gives to each cell's mean."""
    starts = np.arange(out) * size // out
    ends = -(-(np.arange(1, out + 1) * size) // out)
    places = np.arange(size)[:, None]
    inside = (places >= starts) & (places < ends)
    return inside / inside.sum(0)


def _adaptive_max(w: Writer, x: Value, wanted: Any, dims: int) -> str:
    sizes = [x.size(a) for a in range(x.rank - dims, x.rank)]
    outputs = [size if out is None else out for out, size in zip(_many(wanted, dims), sizes)]
    if all(out == 1 for out in outputs):
        return w.op("ReduceMax", x, np.arange(x.rank - dims, x.rank), keepdims=1)
    if None in sizes or any(size % out for size, out in zip(sizes, outputs) if size):
        raise ValueError("an adaptive maximum over cells of several sizes is not supported")
    kernel = [size // out for size, out in zip(sizes, outputs) if size]
    return w.op("MaxPool", x, kernel_shape=kernel, strides=kernel)


for _count, _dims in ((1, "1d"), (2, "2d"), (3, "3d")):
    RULES[f"max_pool{_dims}"] = functools.partial(_max_pool, _count, False)
    RULES[f"max_pool{_dims}_with_indices"] = functools.partial(_max_pool, _count, True)
    RULES[f"avg_pool{_dims}"] = functools.partial(_avg_pool, _count)
    RULES[f"adaptive_avg_pool{_dims}"] = lambda w, x, wanted, dims=_count: _adaptive_average(w, x, wanted, dims)
    RULES[f"_adaptive_avg_pool{_dims}"] = RULES[f"adaptive_avg_pool{_dims}"]
    RULES[f"adaptive_max_pool{_dims}"] = lambda w, x, wanted, dims=_count: [_adaptive_max(w, x, wanted, dims)]


# -- normalisations -------------------------------------------------------------------------------------------------
def _inference_norm(w: Writer, x: Value, weight: Value | None, bias: Value | None, mean: Value, variance: Value, eps: float) -> str:
    channels = mean.size(0)
    if channels is None:
        raise ValueError("a normalisation of channels whose number is left open is not supported")
    scale = weight or w.number(np.ones(channels), mean.dtype)
    shift = bias or w.number(np.zeros(channels), mean.dtype)
    return w.op("BatchNormalization", x, scale, shift, mean, variance, epsilon=eps)


@rule("_native_batch_norm_legit_no_training")
def _batch_norm_legit(w: Writer, x: Value, weight: Any, bias: Any, mean: Value, variance: Value, momentum: float, eps: float) -> list[str]:
    return [_inference_norm(w, x, weight, bias, mean, variance, eps)]


@rule("batch_norm")
def _batch_norm(
    w: Writer, x: Value, weight: Any, bias: Any, mean: Value | None, variance: Value | None, training: bool, momentum: float, eps: float,
    *_: Any,
) -> str:  # fmt: skip
    if training or mean is None or variance is None:
        raise ValueError("the model normalises by its batch: call eval() before it is exported")
    return _inference_norm(w, x, weight, bias, mean, variance, eps)


@rule("layer_norm")
def _layer_norm(w: Writer, x: Value, shape: list[int], weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any) -> str:
    scale = weight or w.number(np.ones(shape), w.dtype)
    return w.op("LayerNormalization", x, scale, bias, axis=-len(shape), epsilon=eps)


@rule("native_layer_norm")
def _native_layer_norm(w: Writer, x: Value, shape: list[int], weight: Any, bias: Any, eps: float) -> list[str]:
    return [_layer_norm(w, x, shape, weight, bias, eps)]


@rule("group_norm")
def _group_norm(w: Writer, x: Value, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any) -> str:
    channels = x.size(1) or 1
    scale = weight or w.number(np.ones(channels), w.dtype)
    shift = bias or w.number(np.zeros(channels), w.dtype)
    return w.op("GroupNormalization", x, scale, shift, num_groups=groups, epsilon=eps)


@rule("native_group_norm")
def _native_group_norm(w: Writer, x: Value, weight: Any, bias: Any, n: Any, c: Any, hw: Any, groups: int, eps: float) -> list[str]:
    return [_group_norm(w, x, groups, weight, bias, eps)]


@rule("instance_norm")
def _instance_norm(
    w: Writer, x: Value, weight: Any, bias: Any, mean: Any, variance: Any, own: bool, momentum: float, eps: float, *_: Any
) -> str:
    if not own:
        return _inference_norm(w, x, weight, bias, mean, variance, eps)
    channels = x.size(1) or 1
    scale = weight or w.number(np.ones(channels), w.dtype)
    shift = bias or w.number(np.zeros(channels), w.dtype)
    return w.op("InstanceNormalization", x, scale, shift, epsilon=eps)


@rule("rms_norm")
def _rms_norm(w: Writer, x: Value, shape: list[int], weight: Any = None, eps: float | None = None) -> str:
    axes = np.arange(-len(shape), 0)
    square = w.op("ReduceMean", w.op("Mul", x, x), axes, keepdims=1)
    small = np.finfo(np.float32).eps if eps is None else eps
    found = w.op("Div", x, w.op("Sqrt", w.op("Add", square, w.number(small, w.dtype))))
    return found if weight is None else w.op("Mul", found, weight)


# -- softmax and attention --------------------------------------------------------------------------------------------
@rule("softmax.int", "_softmax", "_safe_softmax")
def _softmax(w: Writer, x: Value, axis: int, *_: Any) -> str:
    return w.op("Softmax", w.as_type(x, w.dtype), axis=axis % max(x.rank, 1)) if x.rank else w.number(1, w.dtype)


@rule("log_softmax.int", "_log_softmax")
def _log_softmax(w: Writer, x: Value, axis: int, *_: Any) -> str:
    return w.op("LogSoftmax", w.as_type(x, w.dtype), axis=axis % max(x.rank, 1))


@rule("scaled_dot_product_attention")
def _attention(
    w: Writer, query: Value, key: Value, value: Value, mask: Value | None = None, dropout: float = 0.0, causal: bool = False,
    scale: float | None = None, grouped: bool = False,
) -> str:  # fmt: skip
    if dropout:
        raise ValueError("the model drops values at random: call eval() before it is exported")
    factor = 1 / math.sqrt(query.size(-1) or 1) if scale is None else scale
    keys, values = (_repeated_heads(w, query, v) if grouped else v.name for v in (key, value))
    order = [*range(key.rank - 2), key.rank - 1, key.rank - 2]
    scores = w.op("MatMul", w.op("Mul", query, w.number(factor, w.dtype)), w.op("Transpose", keys, perm=order))
    if causal:
        scores = w.op("Add", scores, _causal(w, query, key))
    if mask is not None:
        added = w.op("Where", mask, w.number(0, w.dtype), w.number(-math.inf, w.dtype)) if mask.dtype == "bool" else mask
        scores = w.op("Add", scores, added)
    return w.op("MatMul", w.op("Softmax", scores, axis=-1), values)


def _causal(w: Writer, query: Value, key: Value) -> str | np.ndarray:
    rows, columns = query.size(-2), key.size(-2)
    if rows is not None and columns is not None:
        return w.number(np.where(np.tri(rows, columns, dtype=bool), 0.0, -np.inf), w.dtype)
    sizes = w.op("Concat", w.op("Shape", query, start=-2, end=-1), w.op("Shape", key, start=-2, end=-1), axis=0)
    full = w.op("Expand", w.number(-math.inf, w.dtype), sizes)
    return w.op("Trilu", full, np.array(1, np.int64), upper=1)


def _repeated_heads(w: Writer, query: Value, x: Value) -> str:
    heads, own = query.size(-3), x.size(-3)
    if not heads or not own or x.rank != 4:
        raise ValueError("grouped attention needs four dimensions and known numbers of heads")
    wide = w.op("Tile", w.op("Unsqueeze", x, np.array([2])), np.array([1, 1, heads // own, 1, 1]))
    return w.op("Reshape", wide, w.sizes([0, heads, -1, x.size(-1) or 0]))


# -- resampling -----------------------------------------------------------------------------------------------------
def _resized(w: Writer, x: Value, mode: str, aligned: bool, wanted: Any, factors: Any) -> str:
    spatial = [w.fake.shape[a] for a in range(2, x.rank)]
    places = {"nearest": "asymmetric", "cubic": "half_pixel", "linear": "pytorch_half_pixel"}
    options: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": "align_corners" if aligned else places[mode]}
    if mode == "nearest":
        options["nearest_mode"] = "floor"
    if mode == "cubic":
        options["cubic_coeff_a"] = -0.75
    if all(isinstance(s, int) for s in spatial):
        leading = [x.size(0), x.size(1)]
        if None not in leading:
            return w.op("Resize", x, None, None, np.array([*leading, *spatial], np.int64), **options)
        return w.op("Resize", x, None, None, np.array(spatial, np.int64), axes=list(range(2, x.rank)), **options)
    if factors is None:
        return w.op("Resize", x, None, None, w.sizes(wanted), axes=list(range(2, x.rank)), **options)
    return w.op("Resize", x, None, np.array([1, 1, *factors], np.float32), **options)


for _name in ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"):
    RULES[f"{_name}.vec"] = lambda w, x, wanted, factors: _resized(w, x, "nearest", False, wanted, factors)
    RULES[_name] = lambda w, x, wanted, *_: _resized(w, x, "nearest", False, wanted, None)
for _name in ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"):
    RULES[f"{_name}.vec"] = lambda w, x, wanted, aligned, factors: _resized(w, x, "linear", aligned, wanted, factors)
    RULES[_name] = lambda w, x, wanted, aligned, *_: _resized(w, x, "linear", aligned, wanted, None)
RULES["upsample_bicubic2d.vec"] = lambda w, x, wanted, aligned, factors: _resized(w, x, "cubic", aligned, wanted, factors)
RULES["upsample_bicubic2d"] = lambda w, x, wanted, aligned, *_: _resized(w, x, "cubic", aligned, wanted, None)


@rule("grid_sampler", "grid_sampler_2d")
def _grid_sampler(w: Writer, x: Value, grid: Value, mode: int = 0, padding: int = 0, aligned: bool = False) -> str:
    names = ("linear", "nearest", "cubic"), ("zeros", "border", "reflection")
    return w.op("GridSample", x, grid, mode=names[0][mode], padding_mode=names[1][padding], align_corners=int(aligned))


@rule("glu")
def _glu(w: Writer, x: Value, axis: int = -1) -> str:
    first, second = w.ops("Split", 2, x, axis=axis % x.rank, num_outputs=2)
    return w.op("Mul", first, w.op("Sigmoid", second))
