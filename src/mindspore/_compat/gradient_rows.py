"""What the private gradient classes are the gradients of: constructor, call, operation. `gradient_classes` explains the words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import Tensor, mint, ops
from mindspore._base import dtype as mstype
from mindspore.ops import operations

P: Any = operations
F: Any = mint.nn.functional
Row = tuple[str, str, Callable[..., Any]]


def _along(a: Any, first: int = 2) -> tuple[int, ...]:
    """The sizes of the dimensions that the gradient has after batch and channels."""
    return tuple(a.dy.shape[first:])


def _picked(a: Any, x: Any) -> Any:
    """The elements of each image at flat positions, as pooling picks its maxima."""
    lead = a.argmax.ndim - (3 if a.argmax.ndim == 5 or a.volume else 2)
    flat = x.reshape((*x.shape[:lead], -1))
    place = a.argmax.reshape((*a.argmax.shape[:lead], -1)).astype("int64")
    return ops.gather_elements(flat, lead, place).reshape(a.argmax.shape)


def _pool(volume: bool) -> Callable[..., Any]:
    def function(a: Any, x: Any) -> Any:
        a.volume = volume
        return _picked(a, x)

    return function


def _upsampled(mode: str) -> Callable[..., Any]:
    def function(a: Any, x: Any) -> Any:
        corners = None if mode.startswith("nearest") else bool(getattr(a, "align_corners", False))
        return ops.interpolate(x, size=_along(a), mode=mode, align_corners=corners)

    return function


def _convolved(a: Any, x: Any, weight: Any, bias: Any) -> Any:
    if a.transposed:
        raise ValueError("For 'ConvolutionGrad', 'transposed' must be False: use vjp of mint's conv_transpose2d.")
    function = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[x.ndim]
    return function(x, weight, bias, a.stride, a.padding, a.dilation, a.groups)


def _strided_slice(a: Any, x: Any) -> Any:
    masks = a.begin_mask, a.end_mask, a.ellipsis_mask, a.new_axis_mask, a.shrink_axis_mask
    return P.StridedSlice(*masks)(x, a.begin, a.end, a.strides)


def _grid_sample(a: Any, x: Any, grid: Any) -> Any:
    return ops.grid_sample(x, grid, a.interpolation_mode, a.padding_mode, a.align_corners)


def _kl_div(a: Any, x: Any) -> Any:
    return F.kl_div(x, a.target, a.reduction, a.log_target)


def _attention(a: Any, q: Any, k: Any, v: Any) -> Any:
    return ops.flash_attention_score(
        q, k, v, a.head_num, a.pse_shift, a.drop_mask, a.padding_mask, a.atten_mask, a.prefix, a.actual_seq_qlen,
        a.actual_seq_kvlen, a.keep_prob, a.scale_value, a.pre_tokens, a.next_tokens, a.inner_precise, a.input_layout, a.sparse_mode,
    )  # fmt: skip


_GRIDS = "interpolation_mode='bilinear' padding_mode='zeros' align_corners=False output_mask=(1,1)"
_POOL = "kernel_size=1 strides=1 pad_mode='VALID' data_format='NCHW'"
_POOL3D = "kernel_size=1 strides=1 pad_mode='VALID' pad_list=0 data_format='NCDHW'"
_POOLV2 = "kernel_size strides=None pads=0 dilation=(1,1) ceil_mode=False argmax_type=None"
_RESIZE = "align_corners=False half_pixel_centers=False"
_UPSAMPLE = "^dy @input_size output_size=None scales=None"
_LOSS = "reduction='mean'"

_ACTIVATIONS: dict[str, Row] = {
    "ACosGrad": ("", "*x ^dout", lambda a, x: ops.acos(x)),
    "AbsGrad": ("", "*x ^dout", lambda a, x: ops.abs(x)),
    "AcoshGrad": ("", "*x ^dout", lambda a, x: ops.acosh(x)),
    "AsinGrad": ("", "*x ^dout", lambda a, x: ops.asin(x)),
    "AsinhGrad": ("", "*x ^dout", lambda a, x: ops.asinh(x)),
    "AtanGrad": ("", "*x ^dout", lambda a, x: ops.atan(x)),
    "ReLU6Grad": ("", "^y_backprop *x", lambda a, x: ops.relu6(x)),
    "FastGeLUGrad": ("", "^dy *x", lambda a, x: ops.fast_gelu(x)),
    "GeLUGrad": ("", "^dy *x y=None", lambda a, x: P.GeLU()(x)),
    "GeluGradExt": ("", "^grad *input approximate='none'", lambda a, x: ops.gelu(x, a.approximate)),
    "GluGrad": ("axis=-1", "^grads *x", lambda a, x: ops.glu(x, a.axis)),
    "HShrinkGrad": ("lambd=0.5", "^gradients *features", lambda a, x: ops.hardshrink(x, a.lambd)),
    "SoftShrinkGrad": ("lambd=0.5", "^input_grad *input_x", lambda a, x: ops.softshrink(x, a.lambd)),
    "HSigmoidGrad": ("", "^grads *input_x", lambda a, x: ops.hardsigmoid(x)),
    "HSwishGrad": ("", "^y_grad *x", lambda a, x: ops.hardswish(x)),
    "HardtanhGrad": ("", "^dout *input min_val=-1 max_val=1", lambda a, x: ops.hardtanh(x, a.min_val, a.max_val)),
    "LeakyReLUGradExt": ("", "^dy *input negative_slope=0.01 is_result=False", lambda a, x: ops.leaky_relu(x, a.negative_slope)),
    "LogSigmoidGrad": ("", "^dy *input buffer=None", lambda a, x: ops.logsigmoid(x)),
    "LogitGrad": ("eps=-1.0", "^grad *input", lambda a, x: ops.logit(x, None if a.eps < 0 else a.eps)),
    "MishGradExt": ("", "^dout *x", lambda a, x: ops.mish(x)),
    "MvlgammaGrad": ("p", "^y_grad *x", lambda a, x: ops.mvlgamma(x, a.p)),
    "PReLUGrad": ("", "^dy *x *weight", lambda a, x, w: ops.prelu(x, w)),
    "SiLUGrad": ("", "^dout *x", lambda a, x: ops.silu(x)),
    "SoftplusGrad": ("", "^gradients *features", lambda a, x: ops.softplus(x)),
    "SoftplusGradExt": ("", "^dout *x beta=1 threshold=20", lambda a, x: F.softplus(x, a.beta, a.threshold)),
    "SwigluGrad": ("", "^grad_output *input dim=-1", lambda a, x: ops.swiglu(x, a.dim)),
    "ThresholdGrad": ("", "^grad_output *input threshold", lambda a, x: ops.where(x > a.threshold, x, ops.zeros_like(x))),
}  # fmt: skip

_LOSSES: dict[str, Row] = {
    "BinaryCrossEntropyGrad": (
        _LOSS, "*input target ^grad_output weight=None", lambda a, x: ops.binary_cross_entropy(x, a.target, a.weight, a.reduction)),
    "BinaryCrossEntropyWithLogitsBackward": (
        "", "^grad_output *input target weight=None posWeight=None reduction='mean'",
        lambda a, x: F.binary_cross_entropy_with_logits(x, a.target, a.weight, a.reduction, a.posWeight)),
    "CrossEntropyLossGrad": (
        "", "^grad_loss *log_prob target weight=None grad_zloss=None lse_for_zloss=None reduction='mean' ignore_index=-100 "
        "label_smoothing=0.0 lse_square_scale_for_zloss=0.0",
        lambda a, x: ops.cross_entropy(x, a.target, a.weight, a.ignore_index, a.reduction, a.label_smoothing)),
    "KLDivGrad": ("", "^grad_output *input target reduction='mean' log_target=False", _kl_div),
    "KLDivLossGrad": (_LOSS, "^grad *x target", lambda a, x: ops.kl_div(x, a.target, a.reduction)),
    "L1LossBackwardExt": ("", "^grad_output *input target reduction='mean'", lambda a, x: ops.l1_loss(x, a.target, a.reduction)),
    "MSELossGradExt": ("", "^dout *x target reduction='mean'", lambda a, x: ops.mse_loss(x, a.target, a.reduction)),
    "MultiMarginLossGrad": (
        "p=1 margin=1.0 reduction='mean'", "^y_grad *x target weight=None",
        lambda a, x: ops.multi_margin_loss(x, a.target, a.p, a.margin, a.weight, a.reduction)),
    "MultilabelMarginLossGrad": (
        _LOSS, "^y_grad *x target is_target=None", lambda a, x: ops.multilabel_margin_loss(x, a.target, a.reduction)),
    "NLLLossGrad": (
        "reduction='mean' ignore_index=-100", "*logits ^loss_grad labels weight total_weight=None",
        lambda a, x: ops.nll_loss(x, a.labels, a.weight, a.ignore_index, a.reduction)),
    "NLLLoss2dGrad": (
        "", "^loss_grad *input target weight reduction ignore_index total_weight=None",
        lambda a, x: ops.nll_loss(x, a.target, a.weight, a.ignore_index, a.reduction)),
    "SigmoidCrossEntropyWithLogitsGrad": ("", "*x y ^dout", lambda a, x: P.SigmoidCrossEntropyWithLogits()(x, a.y)),
    "SmoothL1LossGrad": (
        "beta=1.0 reduction='none'", "*prediction target ^dout",
        lambda a, x: ops.smooth_l1_loss(x, a.target, a.beta, a.reduction)),
    "SoftMarginLossGrad": (_LOSS, "*predict label ^dout", lambda a, x: ops.soft_margin_loss(x, a.label, a.reduction)),
}  # fmt: skip

_POOLING: dict[str, Row] = {
    "AdaptiveAvgPool2DGrad": ("", "^dy @orig_input_shape", lambda a, x: ops.adaptive_avg_pool2d(x, _along(a))),
    "AdaptiveAvgPool2DGradExt": ("", "^dy *x", lambda a, x: ops.adaptive_avg_pool2d(x, tuple(a.dy.shape[-2:]))),
    "AdaptiveAvgPool3DGrad": ("", "^dy @orig_input_shape", lambda a, x: ops.adaptive_avg_pool3d(x, tuple(a.dy.shape[-3:]))),
    "AdaptiveAvgPool3DGradExt": ("", "^dy *input", lambda a, x: ops.adaptive_avg_pool3d(x, tuple(a.dy.shape[-3:]))),
    "AdaptiveMaxPool2DGrad": ("", "^y_grad *x argmax", _pool(False)),
    "AdaptiveMaxPool3DGrad": ("", "^input_grad *x argmax", _pool(True)),
    "AvgPool2DGrad": (
        "", "^grad *image kernel_size stride padding=0 ceil_mode=False count_include_pad=True divisor_override=None",
        lambda a, x: F.avg_pool2d(x, a.kernel_size, a.stride, a.padding, a.ceil_mode, a.count_include_pad, a.divisor_override)),
    "AvgPool3DGrad": (
        "kernel_size=1 strides=1 pads=0 ceil_mode=False count_include_pad=True divisor_override=0 data_format='NCDHW' pad_mode='pad'",
        "@origin_input_shape ^grads",
        lambda a, x: P.AvgPool3D(a.kernel_size, a.strides, a.pad_mode, a.pads, a.ceil_mode, a.count_include_pad,
                                 a.divisor_override, a.data_format)(x)),
    "AvgPool3DGradExt": (
        "", "^grad *input kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True divisor_override=None",
        lambda a, x: F.avg_pool3d(x, a.kernel_size, a.stride, a.padding, a.ceil_mode, a.count_include_pad, a.divisor_override)),
    **{name: (_POOL, "@orig_input_shape ^dy", lambda a, x: P.AvgPool(a.kernel_size, a.strides, a.pad_mode, a.data_format)(x))
       for name in ("AvgPoolGradV1", "AvgPoolGradGe")},
    "FractionalMaxPoolGradWithFixedKsize": ("data_format='NCHW'", "*origin_input ^out_backprop argmax", _pool(False)),
    "FractionalMaxPool3DGradWithFixedKsize": ("data_format='NCDHW'", "*origin_input ^out_backprop argmax", _pool(True)),
    "MaxPool3DGrad": (
        _POOL3D, "*x_origin out_origin ^grad",
        lambda a, x: P.MaxPool3D(a.kernel_size, a.strides, a.pad_mode, a.pad_list, None, a.data_format)(x)),
    "MaxPool3DGradWithArgmax": (
        "ksize strides pads dilation=(1,1,1) ceil_mode=False data_format='NCDHW'", "*x ^grads argmax", _pool(True)),
    "MaxPoolGradV1": (
        _POOL, "*x_origin out_origin ^grad", lambda a, x: P.MaxPool(a.kernel_size, a.strides, a.pad_mode, a.data_format)(x)),
    "MaxPoolGradWithArgmax": (_POOL, "*x ^grad argmax", _pool(False)),
    "MaxPoolGradWithArgmaxV2": (_POOLV2, "*x ^grad argmax", _pool(False)),
    "MaxPoolGradWithIndices": (_POOLV2, "*x ^grad argmax", _pool(False)),
    "ROIAlignGrad": (
        "pooled_height pooled_width spatial_scale sample_num=2", "^dy rois @xdiff_shape",
        lambda a, x: P.ROIAlign(a.pooled_height, a.pooled_width, a.spatial_scale, a.sample_num)(x, a.rois)),
}  # fmt: skip

_IMAGES: dict[str, Row] = {
    "Dilation2DBackpropFilter": (
        "stride dilation pad_mode='SAME' data_format='NCHW'", "x *filter ^out_backprop",
        lambda a, f: P.Dilation2D(a.stride, a.dilation, a.pad_mode, a.data_format)(a.x, f)),
    "Dilation2DBackpropInput": (
        "stride dilation pad_mode='SAME' data_format='NCHW'", "*x filter ^out_backprop",
        lambda a, x: P.Dilation2D(a.stride, a.dilation, a.pad_mode, a.data_format)(x, a.filter)),
    "GridSampler2DGrad": (_GRIDS, "^grad *input_x *grid", _grid_sample),
    "GridSampler3DGrad": (_GRIDS, "^grad *input_x *grid", _grid_sample),
    **{f"ReflectionPad{n}DGrad": ("", "^dy *input padding", lambda a, x: ops.pad(x, a.padding, "reflect")) for n in (1, 2, 3)},
    **{f"ReplicationPad{n}DGrad": ("", "^dy *input padding", lambda a, x: ops.pad(x, a.padding, "replicate")) for n in (1, 2, 3)},
    "ResizeBicubicGrad": (
        _RESIZE, "^dy *image", lambda a, x: P.ResizeBicubic(a.align_corners, a.half_pixel_centers)(x, Tensor(_along(a), mstype.int32))),
    "ResizeBilinearGrad": (
        _RESIZE, "^dy *image", lambda a, x: P.ResizeBilinearV2(a.align_corners, a.half_pixel_centers)(x, _along(a))),
    "ResizeLinear1DGrad": (
        "coordinate_transformation_mode='align_corners'", "^dy *x",
        lambda a, x: P.ResizeLinear1D(a.coordinate_transformation_mode)(x, _along(a))),
    "UpsampleBicubic2DGrad": ("", _UPSAMPLE + " align_corners=False", _upsampled("bicubic")),
    "UpsampleBilinear2DGrad": ("", _UPSAMPLE + " align_corners=False", _upsampled("bilinear")),
    "UpsampleLinear1DGrad": ("", _UPSAMPLE + " align_corners=False", _upsampled("linear")),
    **{f"UpsampleNearest{n}DGrad": ("", _UPSAMPLE, _upsampled("nearest")) for n in (1, 2, 3)},
    "UpsampleTrilinear3DGrad": ("align_corners=False", _UPSAMPLE, _upsampled("trilinear")),
}  # fmt: skip

_NORMALIZATIONS: dict[str, Row] = {
    "L2NormalizeGrad": ("axis=0 epsilon=0.0001", "*input_x out ^dout", lambda a, x: P.L2Normalize(a.axis, a.epsilon)(x)),
    "LRNGrad": (
        "depth_radius=5 bias=1.0 alpha=1.0 beta=0.5", "^grads *x y", lambda a, x: ops.lrn(x, a.depth_radius, a.bias, a.alpha, a.beta)),
}  # fmt: skip

_OTHERS: dict[str, Row] = {
    "CdistGrad": ("p=2.0", "^grad *input_x input_y cdist", lambda a, x: ops.cdist(x, a.input_y, a.p)),
    "ConvolutionGrad": (
        "", "^dout *input *weight *bias=None stride=1 padding=0 dilation=(1,1) transposed=False output_padding=0 groups=1 output_mask=()",
        _convolved),
    "ConvolutionStrGrad": (
        "", "^dout *input *weight *bias=None stride=1 padding='valid' dilation=1 transposed=False output_padding=0 groups=1 "
        "output_mask=()", _convolved),
    "FlashAttentionScoreGrad": (
        "head_num keep_prob=1.0 scale_value=1.0 pre_tokens=65536 next_tokens=65536 inner_precise=1 input_layout='BSH' sparse_mode=0",
        "*query *key *value ^dy pse_shift=None drop_mask=None padding_mask=None atten_mask=None softmax_max=None softmax_sum=None "
        "softmax_in=None attention_in=None prefix=None actual_seq_qlen=None actual_seq_kvlen=None", _attention),
    "GatherDGradV2": ("", "*x dim index ^dout", lambda a, x: ops.gather_elements(x, a.dim, a.index)),
    "MaskedSelectGrad": ("", "*input mask ^grad", lambda a, x: ops.masked_select(x, a.mask)),
    "MaximumGrad": ("grad_x=True grad_y=True", "*x *y ^grads", lambda a, x, y: ops.maximum(x, y)),
    "MinimumGrad": ("grad_x=True grad_y=True", "*x1 *x2 ^grads", lambda a, x, y: ops.minimum(x, y)),
    "PdistGrad": ("p=2.0", "^y_grad *x y", lambda a, x: ops.pdist(x, a.p)),
    "SliceGrad": ("", "^dy *x begin size", lambda a, x: ops.slice(x, a.begin, a.size)),
    "StridedSliceGrad": (
        "begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0", "^dy @shapex begin end strides", _strided_slice),
    "TraceGrad": ("", "^y_grad @x_shape", lambda a, x: ops.trace(x)),
}  # fmt: skip

ROWS: dict[str, Row] = {**_ACTIVATIONS, **_LOSSES, **_POOLING, **_IMAGES, **_NORMALIZATIONS, **_OTHERS}
