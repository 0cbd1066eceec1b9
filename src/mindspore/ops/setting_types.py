"""Which Python types the settings of operations and layers take, as one table, and the check at the front door.

A flag that is given a number, a seed that is given a word or a size that is given a dictionary would otherwise be taken for what
Python makes of it (`bool("no")` is True). A line names functions and classes, and for each of their settings the types it takes;
"ints" is a list or tuple. What an operation's own rule checks needs no line, and settings are all that is checked here:
tensors are the business of the rules. A setting's default is always fine, and so are numbers that only the running graph knows.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.prims import checks
from mindspore.prims.values import SymbolicScalarBase

OPERATIONS = """
    Adam: use_locking=bool use_nesterov=bool
    AdamWeightDecay ApplyAdagradDA ApplyAdamWithAmsgradV2 ApplyCenteredRMSProp ApplyFtrl ApplyProximalAdagrad ApplyRMSProp
        ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdDiv ScatterNdMax ScatterNdMin
        ScatterNdMul ScatterNdSub ScatterNdUpdate ScatterSub ScatterUpdate scatter_nd_add scatter_nd_div scatter_nd_max
        scatter_nd_min scatter_nd_mul scatter_nd_sub: use_locking=bool
    adaptive_avg_pool1d adaptive_max_pool1d: output_size=int
    adaptive_max_pool2d fractional_max_pool2d fractional_max_pool3d: return_indices=bool
    AdaptiveAvgPool2D AdaptiveAvgPool3D adaptive_avg_pool2d adaptive_avg_pool3d: output_size=int|ints
    addmv addr: beta=bool|int|float alpha=bool|int|float
    AffineGrid GridSampler2D GridSampler3D affine_grid: align_corners=bool
    ApplyAdagrad: update_slots=bool
    ApplyAdagradV2: epsilon=float update_slots=bool
    ApplyMomentum: gradient_scale=float
    ApproximateEqual approximate_equal: tolerance=float
    argmax logsumexp: keepdim=bool
    ArgMaxWithValue ArgMinWithValue: keep_dims=bool
    avg_pool1d: kernel_size=int stride=int ceil_mode=bool count_include_pad=bool
    avg_pool2d avg_pool3d: stride=int|ints ceil_mode=bool count_include_pad=bool divisor_override=int
    AvgPool3D: ceil_mode=bool count_include_pad=bool divisor_override=int
    batch_norm: training=bool momentum=float eps=float
    BatchNorm: epsilon=float momentum=float
    BoundingBoxDecode bounding_box_decode: max_shape=ints|None wh_ratio_clip=float
    cholesky_inverse cholesky_solve: upper=bool
    cross_entropy: ignore_index=int label_smoothing=float
    CTCGreedyDecoder ctc_greedy_decoder: merge_repeated=bool
    CTCLoss: preprocess_collapse_repeated=bool ctc_merge_repeated=bool ignore_longer_outputs_than_inputs=bool
    CTCLossV2 ctc_loss: zero_infinity=bool
    Dropout2D: keep_prob=float
    EditDistance: normalize=bool
    fft2 hfft2 ifft2 ihfft2 irfft2 rfft2: s=ints|None dim=ints
    FFTWithSize: inverse=bool onesided=bool
    FillDiagonal: fill_value=float wrap=bool
    grid_sample: align_corners=bool|None
    group_norm: eps=float
    gumbel_softmax: tau=float hard=bool
    HammingWindow hamming_window: alpha=float beta=float
    hfftn ihfftn: s=ints|None
    InTopK intopk: k=int
    IsClose isclose: equal_nan=bool
    L2Normalize: axis=int|ints epsilon=int|float
    LogUniformCandidateSampler log_uniform_candidate_sampler: seed=int
    lp_pool1d: kernel_size=int stride=int|None ceil_mode=bool
    lp_pool2d max_pool3d: ceil_mode=bool
    LpNorm: axis=int|ints p=int epsilon=float
    LRN lrn: depth_radius=int bias=float alpha=float beta=float
    LuUnpack: unpack_data=bool unpack_pivots=bool
    margin_ranking_loss: margin=float
    MaxPool3D: ceil_mode=bool|None
    MaxPool3DWithArgmax: strides=int|ints ceil_mode=bool
    MaxUnpool2D MaxUnpool3D: output_shape=ints
    Median: global_median=bool keep_dims=bool ignore_nan=bool
    median nanmedian: keepdims=bool
    multi_margin_loss: p=int
    MultiMarginLoss: p=int margin=float
    Multinomial RandomGamma RandomPoisson RandomShuffle StandardLaplace StandardNormal UniformInt UniformReal
        : seed=int seed2=int
    MultinomialWithReplacement multinomial_with_replacement: replacement=bool
    NMSWithMask: iou_threshold=float
    nonzero: as_tuple=bool
    NoRepeatNGram: ngram_size=int
    Pdist cdist dropout1d pdist: p=float
    pinv: hermitian=bool
    ReduceStd: unbiased=bool
    ReduceSum: skip_mode=bool
    Renorm renorm: maxnorm=float
    repeat_elements vecdot: axis=int
    ResizeBilinearV2 ResizeNearestNeighborV2: align_corners=bool half_pixel_centers=bool
    ResizeNearestNeighbor: size=ints align_corners=bool half_pixel_centers=bool
    ROIAlign: spatial_scale=float roi_end_mode=int
    searchsorted: out_int32=bool right=bool
    SGD: nesterov=bool
    SparseSoftmaxCrossEntropyWithLogits: is_grad=bool
    STFT: n_fft=int hop_length=int win_length=int normalized=bool onesided=bool return_complex=bool
    stft: hop_length=int|None win_length=int|None normalized=bool onesided=bool|None return_complex=bool|None
    tensor_dot: axes=int|ints
    topk: largest=bool
    trapz: dx=float
    UniformCandidateSampler: seed=int remove_accidental_hits=bool
    UniqueConsecutive unique_consecutive: return_inverse=bool return_counts=bool
    Unstack: num=int|None
"""
LAYERS = """
    AdaptiveAvgPool2d AdaptiveAvgPool3d: output_size=int|ints
    AdaptiveMaxPool2d: return_indices=bool
    AvgPool3d: ceil_mode=bool count_include_pad=bool
    BatchNorm1d BatchNorm2d GroupNorm: eps=float
    CosineEmbeddingLoss MarginRankingLoss TripletMarginWithDistanceLoss: margin=float
    DiceLoss: smooth=float
    Dropout1d Dropout2d Dropout3d: p=float
    Embedding EmbeddingThor: use_one_hot=bool
    EmbeddingLookup: max_norm=float|None sparse=bool
    FocalLoss: gamma=float
    HingeEmbeddingLoss: margin=int|float
    HShrink SoftShrink: lambd=bool|int|float
    LPPool1d: kernel_size=int stride=int|None ceil_mode=bool
    LPPool2d MaxPool3d: ceil_mode=bool
    LRN: depth_radius=int bias=float alpha=float beta=float
    MaxPool1d: kernel_size=int stride=int
    MultiClassDiceLoss: ignore_indiex=int|None
    MultiMarginLoss: p=int margin=float
    NLLLoss: ignore_index=int
    ReduceLogSumExp: axis=int|ints keep_dims=bool
    RReLU: upper=int|float
    SampledSoftmaxLoss: remove_accidental_hits=bool
    SparseTensorDenseMatmul: adjoint_st=bool adjoint_dt=bool
    Unflatten: axis=int
    Upsample: size=int|ints|None
"""
_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool, np.bool_),
    "int": (int, np.integer),
    "float": (float, np.floating),
    "str": (str,),
    "ints": (list, tuple),
    "None": (type(None),),
}
_WORDS = {"bool": "a bool", "int": "an int", "float": "a float", "str": "a str", "ints": "a list or tuple", "None": "None"}


def guard(namespace: dict[str, Any], table: str) -> None:
    """Have the functions and classes that a table names refuse settings of other types: classes when they are made."""
    for names, settings in _lines(table):
        for name in names:
            target = namespace[name]
            if inspect.isclass(target):
                setattr(target, "__init__", _checked(name, target.__init__, settings))  # noqa: B010
            else:
                namespace[name] = _checked(name, target, settings)


def _lines(table: str) -> list[tuple[list[str], dict[str, list[str]]]]:
    """Names, and the types of each setting."""
    found: list[tuple[list[str], dict[str, list[str]]]] = []
    names: list[str] = []
    for line in table.splitlines():
        head, colon, tail = line.partition(":")
        names += head.split()
        if colon:
            found.append((names, {s: types.split("|") for s, _, types in (part.partition("=") for part in tail.split())}))
            names = []
    return found


def _checked(name: str, function: Callable, settings: dict[str, list[str]]) -> Callable:
    parameters = inspect.signature(function).parameters
    order = list(parameters)
    places = [(order.index(s), s, tuple(t for k in kinds for t in _TYPES[k]), kinds, parameters[s].default)
              for s, kinds in settings.items()]  # fmt: skip

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for place, setting, types, kinds, default in places:
            value = args[place] if place < len(args) else kwargs.get(setting, default)
            if value is not default and not _fits(value, types):
                raise _wrong(name, setting, kinds, value)
        return function(*args, **kwargs)

    return checked


def _fits(value: Any, types: tuple[type, ...]) -> bool:
    """Python counts True as an int; settings do not."""
    if isinstance(value, SymbolicScalarBase):
        return True
    return isinstance(value, types) and (not isinstance(value, bool) or bool in types)


def _wrong(name: str, setting: str, kinds: list[str], value: Any) -> TypeError:
    return TypeError(
        f"For '{name}', '{setting}' must be {' or '.join(_WORDS[k] for k in kinds)}, but got {checks.describe(value)}."
    )
