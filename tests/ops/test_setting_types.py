"""Settings of the wrong type are refused at the front door, in the same words in both modes."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

X = Tensor([[3.0, 1.0, 2.0]])
#: names, and the types that each of their settings takes as official MindSpore documents them; "ints" is a list or tuple
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


def lines(table):
    names = []
    for line in table.splitlines():
        head, colon, tail = line.partition(":")
        names += head.split()
        if colon:
            yield names, {s: types.split("|") for s, _, types in (part.partition("=") for part in tail.split())}
            names = []


ROWS = [
    (space, name, setting, kinds)
    for space, table in ((ops, OPERATIONS), (nn, LAYERS))
    for names, settings in lines(table)
    for name in names
    for setting, kinds in settings.items()
]


@pytest.mark.parametrize(("space", "name", "setting", "kinds"), ROWS, ids=[f"{n}.{s}" for _, n, s, _ in ROWS])
def test_each_setting_refuses_other_types(space, name, setting, kinds):
    wrong = [{}, 1j, X]
    wrong += [] if "str" in kinds else ["a"]
    wrong += [] if "bool" in kinds else [True]
    wrong += [] if "float" in kinds else [1.5]
    for value in wrong:
        with pytest.raises(TypeError, match=f"'{setting}' must be"):
            getattr(space, name)(**{setting: value})


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_word_is_no_flag(mode):
    ms.set_context(mode=mode)

    class Net(nn.Cell):
        def construct(self, x):
            return ops.topk(x, 1, largest="no")

    with pytest.raises(TypeError, match="For 'topk', 'largest' must be a bool, but got 'no' of type str"):
        Net()(X)


def test_right_types_pass():
    assert ops.topk(X, 1, largest=np.bool_(False))[0].tolist() == [[1.0]]
    assert ops.adaptive_avg_pool1d(X, 1).tolist() == [[2.0]]
    assert nn.Dropout2d(0.5).p == 0.5 and ops.LRN(depth_radius=2).depth_radius == 2
    assert ops.fft2(X, s=None).shape == X.shape  # a default may be given, too
