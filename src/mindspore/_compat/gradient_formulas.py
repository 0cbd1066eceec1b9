"""Gradient classes that are called with the result of the operation, or without its input: constructor, call, gradient.

`gradient_classes` explains the words. What has no formula here is `pulled` back through the operation, from inputs made for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import mint, ops
from mindspore.common.gradient import vjp
from mindspore.ops import operations

P: Any = operations
F: Any = mint.nn.functional
Row = tuple[str, str, Callable[..., Any]]
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def pulled(function: Callable[..., Any], inputs: tuple, gradient: Any) -> Any:
    """Gradients by the inputs; by a single one not as a tuple."""
    _, pull = vjp(function, *inputs)
    found = pull(gradient)
    return found[0] if isinstance(found, tuple) and len(inputs) == 1 else found


def _zeros(shape: Any, like: Any) -> Any:
    return ops.zeros(tuple(int(n) for n in shape), like.dtype)


# -- normalisations: the shift is not given, statistics sometimes are -------------------------------------------------------
def _statistics(x: Any, axes: tuple[int, ...], eps: Any) -> Any:
    mean = x.mean(axes, True)
    return (x - mean) * ops.rsqrt(((x - mean) * (x - mean)).mean(axes, True) + eps)


def _channels(t: Any, rank: int) -> Any:
    return t.reshape((1, -1, *[1] * (rank - 2)))


def _batch_norm(a: Any) -> Any:
    if a.data_format != "NCHW":
        raise ValueError(f"For 'BatchNormGrad', 'data_format' must be 'NCHW', but got {a.data_format!r}.")

    def forward(x: Any, scale: Any, shift: Any) -> Any:
        if a.is_training:
            normal = _statistics(x, (0, *range(2, x.ndim)), a.epsilon)
        else:
            mean, variance = _channels(a.saved_mean, x.ndim), _channels(a.saved_variance, x.ndim)
            normal = (x - mean) * ops.rsqrt(variance + a.epsilon)
        return normal * _channels(scale, x.ndim) + _channels(shift, x.ndim)

    return pulled(forward, (a.x, a.scale, ops.zeros_like(a.scale)), a.dout)


def _epsilon(x: Any, axes: tuple[int, ...], rstd: Any) -> Any:
    """What was added to the variance, given 1 / sqrt of the sum."""
    variance = ((x - x.mean(axes, True)) ** 2).mean(axes, True)
    return ops.stop_gradient(1 / (rstd * rstd) - variance)


def _group_norm(a: Any) -> Any:
    groups = (a.x.shape[0], a.num_groups, -1)
    eps = _epsilon(a.x.reshape(groups), (2,), a.rstd.reshape((a.x.shape[0], a.num_groups, 1)))

    def forward(x: Any, scale: Any, shift: Any) -> Any:
        normal = _statistics(x.reshape(groups), (2,), eps).reshape(x.shape)
        return normal * _channels(scale, x.ndim) + _channels(shift, x.ndim)

    scale = ops.ones(a.x.shape[1], a.x.dtype) if a.gamma_opt is None else a.gamma_opt
    return pulled(forward, (a.x, scale, ops.zeros_like(scale)), a.dy)


def _instance_norm(a: Any) -> Any:
    def forward(x: Any, scale: Any, shift: Any) -> Any:
        normal = _statistics(x, tuple(range(2, x.ndim)), a.epsilon)
        return normal * _channels(scale, x.ndim) + _channels(shift, x.ndim)

    return pulled(forward, (a.x, a.gamma, ops.zeros_like(a.gamma)), a.dy)


def _layer_norm_ext(a: Any) -> Any:
    axes = tuple(range(a.x.ndim - len(a.normalized_shape), a.x.ndim))
    eps = _epsilon(a.x, axes, a.variance)
    return pulled(lambda x, g, b: _statistics(x, axes, eps) * g + b, (a.x, a.gamma, a.beta), a.dy)


def _layer_norm(a: Any) -> Any:
    """By the input, the scale and the shift; the statistics are those of the input and computed again."""
    forward = P.LayerNorm(a.begin_norm_axis, a.begin_params_axis, a.epsilon)
    return pulled(lambda x, g, b: forward(x, g, b)[0], (a.x, a.gamma, ops.zeros_like(a.gamma)), a.dy)


def _rms_norm(a: Any) -> tuple:
    """x * rstd * gamma, where rstd depends on x."""
    axes = tuple(range(a.x.ndim - a.gamma.ndim, a.x.ndim))
    normal, scaled = a.x * a.rstd, a.dy * a.gamma
    dx = a.rstd * (scaled - normal * (scaled * normal).mean(axes, True))
    return dx.astype(a.x.dtype), (a.dy * normal).sum(tuple(range(a.x.ndim - a.gamma.ndim)))


# -- shapes ---------------------------------------------------------------------------------------------------------------
def _affine_grid(a: Any) -> Any:
    theta = _zeros((a.x_size[0], len(a.x_size) - 2, len(a.x_size) - 1), a.y_grad)
    return pulled(lambda t: ops.affine_grid(t, tuple(a.x_size), a.align_corners), (theta,), a.y_grad)


def _mirror_pad(a: Any) -> Any:
    pads = a.paddings.asnumpy().tolist() if hasattr(a.paddings, "asnumpy") else a.paddings
    shape = [n - low - high for n, (low, high) in zip(a.dy.shape, pads)]
    return pulled(lambda x: P.MirrorPad(a.mode)(x, a.paddings), (_zeros(shape, a.dy),), a.dy)


def _nearest(a: Any) -> Any:
    forward = P.ResizeNearestNeighbor(tuple(a.grads.shape[2:]), a.align_corners, a.half_pixel_centers)
    return pulled(forward, (_zeros((*a.grads.shape[:2], *a.size), a.grads),), a.grads)


def _embedding(a: Any) -> Any:
    weight = _zeros((a.num_weights, a.grad.shape[-1]), a.grad)
    lookup = lambda w: F.embedding(a.indices, w, a.padding_idx, scale_grad_by_freq=a.scale_grad_by_freq)
    return pulled(lookup, (weight,), a.grad)


def _segments(name: str) -> Callable[..., Any]:
    """Rows of a table of `output_dim0` rows."""

    def gradient(a: Any) -> Any:
        rows = int(a.output_dim0)
        forward = getattr(P, name)()
        return pulled(
            lambda x: forward(x, a.indices, a.segment_ids), (_zeros((rows, *a.grad.shape[1:]), a.grad),), a.grad
        )

    return gradient


def _unpooled(a: Any) -> Any:
    """What unpooling put at the places of the maxima."""
    lead = 2 if a.argmax.ndim > 3 else 1
    flat = a.grads.reshape((*a.grads.shape[:lead], -1))
    place = a.argmax.reshape((*a.argmax.shape[:lead], -1)).astype("int64")
    return ops.gather_elements(flat, lead, place).reshape(a.argmax.shape)


def _larger_first(a: Any, larger: bool) -> tuple:
    """Of the gradients that a first pass gave to x and y: (0, 0, that of the one which was chosen)."""
    x, y, dx, dy = a.x, a.y, a.dx, a.dy
    return ops.zeros_like(x), ops.zeros_like(y), ops.where(x >= y if larger else x <= y, dx, dy)


def _elu_ext(a: Any) -> Any:
    if a.is_result:
        return a.dout * ops.where(a.x_or_out > 0, ops.ones_like(a.x_or_out), a.x_or_out + a.alpha)
    return pulled(lambda x: F.elu(x, a.alpha), (a.x_or_out,), a.dout)


def _bias_add(a: Any) -> Any:
    channel = a.dout.ndim - 1 if a.data_format == "NHWC" else 1
    return a.dout.sum(tuple(n for n in range(a.dout.ndim) if n != channel))


_LAYER = "begin_norm_axis=1 begin_params_axis=1 epsilon=1e-07"
_NEAREST = "align_corners=False half_pixel_centers=False"

#: by the result of the operation
_BY_RESULT: dict[str, Row] = {
    "EluGrad": ("", "^dout out", lambda a: a.dout * ops.where(a.out > 0, ops.ones_like(a.out), a.out + 1)),
    "EluGradExt": ("", "^dout x_or_out alpha=1.0 is_result=False", _elu_ext),
    "InvGrad": ("", "x ^grad", lambda a: -a.grad * a.x * a.x),
    "LogSoftmaxGrad": ("axis=-1", "logits ^grad", lambda a: a.grad - ops.exp(a.logits) * a.grad.sum(a.axis, keepdims=True)),
    "ReciprocalGrad": ("", "y ^dy", lambda a: -a.dy * a.y * a.y),
    "RsqrtGrad": ("", "y ^dy", lambda a: -0.5 * a.dy * a.y * a.y * a.y),
    "SeluGrad": (
        "", "^gradient result",
        lambda a: a.gradient * ops.where(a.result > 0, ops.full_like(a.result, _SELU_SCALE), a.result + _SELU_SCALE * _SELU_ALPHA)),
    "SigmoidGrad": ("", "y ^dy", lambda a: a.dy * a.y * (1 - a.y)),
    "SoftmaxBackward": ("", "^dout out dim=-1", lambda a: a.out * (a.dout - (a.dout * a.out).sum(a.dim, keepdims=True))),
    "SoftmaxGrad": ("", "y ^dy", lambda a: a.y * (a.dy - (a.dy * a.y).sum(-1, keepdims=True))),
    "SqrtGrad": ("", "y ^dy", lambda a: 0.5 * a.dy / a.y),
    "TanhGrad": ("", "y ^dy", lambda a: a.dy * (1 - a.y * a.y)),
    "CholeskyGrad": ("", "x ^grad", lambda a: pulled(ops.cholesky, (ops.matmul(a.x, a.x.swapaxes(-1, -2)),), a.grad)),
}  # fmt: skip

FORMULAS: dict[str, Row] = {
    **_BY_RESULT,
    "AffineGridGrad": ("align_corners=False", "^y_grad x_size", _affine_grid),
    "BatchNormGrad": (
        "is_training=False epsilon=1e-05 data_format='NCHW'", "^dout x scale saved_mean saved_variance reserve=None", _batch_norm),
    "BiasAddGrad": ("data_format='NCHW'", "^dout", _bias_add),
    "Col2ImGrad": (
        "", "input kernel_size dilation=1 padding=0 stride=1",
        lambda a: ops.unfold(a.input, a.kernel_size, a.dilation, a.padding, a.stride)),
    "DropoutGrad": ("keep_prob=0.5", "^dy mask", lambda a: a.dy * a.mask.astype(a.dy.dtype) / a.keep_prob),
    "DropoutGradExt": ("", "input mask p", lambda a: a.input * a.mask.astype(a.input.dtype) / (1 - a.p)),
    "EinsumGrad": ("equation", "x ^dout", lambda a: pulled(lambda *x: ops.einsum(a.equation, *x), tuple(a.x), a.dout)),
    "EmbeddingDenseBackward": ("", "^grad indices num_weights padding_idx=None scale_grad_by_freq=False", _embedding),
    "FlattenGrad": ("", "x shape", lambda a: a.x.reshape(tuple(a.shape))),
    "GroupNormGrad": (
        "", "^dy x mean rstd gamma_opt num_groups dx_is_require=True dgamma_is_require=True dbeta_is_require=True", _group_norm),
    "InstanceNormGrad": ("epsilon=0.0 momentum=0.1", "^dy x gamma save_mean=None save_variance=None", _instance_norm),
    "LayerNormGrad": (_LAYER, "x ^dy variance mean gamma", _layer_norm),
    "LayerNormGradExt": ("", "^dy x normalized_shape mean variance gamma beta output_mask=(1,1,1)", _layer_norm_ext),
    "LayerNormGradV3": (_LAYER, "x ^dy variance mean gamma", _layer_norm),
    "MaxPoolGradGradWithArgmax": ("kernel_size=1 strides=1 pad_mode='VALID'", "x grads argmax", _unpooled),
    "MaxUnpool2DGrad": ("ksize strides=0 pads=0 output_shape=() data_format='NCHW'", "x grads argmax", _unpooled),
    "MaxUnpool3DGrad": ("ksize strides=0 pads=0 output_shape=() data_format='NCDHW'", "x grads argmax", _unpooled),
    "MaximumGradGrad": ("grad_x=True grad_y=True", "x y dx dy", lambda a: _larger_first(a, True)),
    "MinimumGradGrad": ("", "x y dx dy", lambda a: _larger_first(a, False)),
    "MirrorPadGrad": ("mode='REFLECT'", "^dy paddings", _mirror_pad),
    "ResizeNearestNeighborGrad": (_NEAREST, "^grads size", _nearest),
    "ResizeNearestNeighborV2Grad": (_NEAREST, "^grads size", _nearest),
    "RmsNormGrad": ("", "^dy x rstd gamma", _rms_norm),
    "RotaryPositionEmbeddingGrad": (
        "", "^dy cos sin dx=None mode=0",
        lambda a: pulled(lambda x: ops.rotary_position_embedding(x, a.cos, a.sin, a.mode), (ops.zeros_like(a.dy),), a.dy)),
    **{f"SparseSegment{kind}Grad": ("", "^grad indices segment_ids output_dim0", _segments(f"SparseSegment{kind}"))
       for kind in ("Mean", "Sum", "SqrtN")},
    "UniqueGrad": ("", "dy y", lambda a: ops.gather(a.dy[0], a.y[1], 0)),
}  # fmt: skip
