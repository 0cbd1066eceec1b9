"""Private gradient classes agree with differences of the operation itself, in both modes."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops
from mindspore.ops import auto_generate
from mindspore.ops.operations import _grad_ops

F = mint.nn.functional
P = ops.operations


def given(*shape, seed=0, low=-2.0, high=2.0):
    return np.random.default_rng(seed).uniform(low, high, shape)


X = given(2, 3)
IMAGE, VOLUME = given(2, 3, 6, 6), given(1, 2, 4, 4, 4)
UNIT, LABELS = given(2, 3, low=0.1, high=0.9), np.array([2, 0], np.int32)
WEIGHT = np.array([1.0, 2.0, 0.5])


def normal(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)




# name: (constructor, arguments with X where the input is and DY where the gradient is, the operation on arrays)
x_, dy_ = object(), object()


def public(function, *args):
    """An operation of the package on float64 arrays."""
    return lambda x: function(Tensor(x), *args).asnumpy()


CASES = {
    "ReLU6Grad": ({}, (dy_, x_), X * 4, lambda x: np.clip(x, 0, 6)),
    "GeLUGrad": ({}, (dy_, x_, None), X, public(P.GeLU())),
    "GeluGradExt": ({}, (dy_, x_), X, public(ops.gelu, "none")),
    "FastGeLUGrad": ({}, (dy_, x_), X, public(ops.fast_gelu)),
    "HShrinkGrad": ({"lambd": 0.3}, (dy_, x_), X, lambda x: np.where(abs(x) > 0.3, x, 0)),
    "SoftShrinkGrad": ({"lambd": 0.3}, (dy_, x_), X, lambda x: np.sign(x) * np.maximum(abs(x) - 0.3, 0)),
    "HSwishGrad": ({}, (dy_, x_), X * 2, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "HSigmoidGrad": ({}, (dy_, x_), X * 2, lambda x: np.clip(x + 3, 0, 6) / 6),
    "HardtanhGrad": ({}, (dy_, x_, -1, 1), X, lambda x: np.clip(x, -1, 1)),
    "SiLUGrad": ({}, (dy_, x_), X, lambda x: x / (1 + np.exp(-x))),
    "MishGradExt": ({}, (dy_, x_), X, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "SoftplusGradExt": ({}, (dy_, x_, 2, 20), X, lambda x: np.log1p(np.exp(2 * x)) / 2),
    "LogSigmoidGrad": ({}, (dy_, x_, None), X, lambda x: -np.log1p(np.exp(-x))),
    "LeakyReLUGradExt": ({}, (dy_, x_, 0.1), X, lambda x: np.where(x > 0, x, 0.1 * x)),
    "LogitGrad": ({}, (dy_, x_), UNIT, lambda x: np.log(x / (1 - x))),
    "ThresholdGrad": ({}, (dy_, x_, 0.5), X, lambda x: np.where(x > 0.5, x, 0)),
    "GluGrad": ({"axis": 1}, (dy_, x_), given(2, 4), lambda x: x[:, :2] / (1 + np.exp(-x[:, 2:]))),
    "AbsGrad": ({}, (x_, dy_), X, np.abs),
    "AsinhGrad": ({}, (x_, dy_), X, np.arcsinh),
    "MSELossGradExt": ({}, (dy_, x_, UNIT), X, lambda x: np.mean((x - UNIT) ** 2)),
    "L1LossBackwardExt": ({}, (dy_, x_, UNIT, "sum"), X, lambda x: np.sum(abs(x - UNIT))),
    "SmoothL1LossGrad": ({}, (x_, UNIT, dy_), X, public(lambda x: ops.smooth_l1_loss(x, Tensor(UNIT), 1.0, "none"))),
    "SoftMarginLossGrad": ({}, (x_, np.sign(X), dy_), X, lambda x: np.mean(np.log1p(np.exp(-np.sign(X) * x)))),
    "KLDivGrad": ({}, (dy_, x_, UNIT, "sum"), X, lambda x: np.sum(UNIT * (np.log(UNIT) - x))),
    "BinaryCrossEntropyGrad": (
        {}, (x_, X > 0, dy_), UNIT, lambda x: -np.mean((X > 0) * np.log(x) + (X <= 0) * np.log(1 - x))),
    "NLLLossGrad": (
        {}, (x_, dy_, LABELS, WEIGHT, None), X, lambda x: -(WEIGHT[LABELS] * x[[0, 1], LABELS]).sum() / WEIGHT[LABELS].sum()),
    "SigmoidCrossEntropyWithLogitsGrad": (
        {}, (x_, UNIT, dy_), X, lambda x: np.maximum(x, 0) - x * UNIT + np.log1p(np.exp(-abs(x)))),
    "BatchNormGrad": (
        {"is_training": True}, (dy_, x_, WEIGHT, WEIGHT, WEIGHT), IMAGE,
        lambda x: normal(x, (0, 2, 3), 1e-5) * WEIGHT[:, None, None]),
    "InstanceNormGrad": (
        {"epsilon": 1e-5}, (dy_, x_, WEIGHT), IMAGE, lambda x: normal(x, (2, 3), 1e-5) * WEIGHT[:, None, None]),
    "GroupNormGrad": (
        {}, (dy_, x_, None, 1 / np.sqrt(IMAGE.reshape(2, -1).var(1) + 0.1), WEIGHT, 1), IMAGE,
        lambda x: normal(x, (1, 2, 3), 0.1) * WEIGHT[:, None, None]),
    "LayerNormGradExt": (
        {}, (dy_, x_, (3,), None, 1 / np.sqrt(X.var(1, keepdims=True) + 0.1), WEIGHT, WEIGHT), X,
        lambda x: normal(x, (1,), 0.1) * WEIGHT),
    "RmsNormGrad": (
        {}, (dy_, x_, 1 / np.sqrt((X * X).mean(1, keepdims=True) + 0.1), WEIGHT), X,
        lambda x: x / np.sqrt((x * x).mean(1, keepdims=True) + 0.1) * WEIGHT),
    "AdaptiveAvgPool2DGrad": ({}, (dy_, (2, 3, 6, 6)), IMAGE, lambda x: x.reshape(2, 3, 2, 3, 2, 3).mean((3, 5))),
    "AdaptiveAvgPool3DGradExt": ({}, (dy_, x_), VOLUME, lambda x: x.reshape(1, 2, 2, 2, 2, 2, 2, 2).mean((3, 5, 7))),
    "AvgPool2DGrad": ({}, (dy_, x_, (2, 2), (2, 2)), IMAGE, lambda x: x.reshape(2, 3, 3, 2, 3, 2).mean((3, 5))),
    "AvgPoolGradV1": (
        {"kernel_size": 2, "strides": 2}, ((2, 3, 6, 6), dy_), IMAGE, lambda x: x.reshape(2, 3, 3, 2, 3, 2).mean((3, 5))),
    "MaxPool3DGrad": (
        {"kernel_size": 2, "strides": 2}, (x_, None, dy_), VOLUME, lambda x: x.reshape(1, 2, 2, 2, 2, 2, 2, 2).max((3, 5, 7))),
    "UpsampleNearest2DGrad": ({}, (dy_, (2, 3, 6, 6)), IMAGE, lambda x: x.repeat(2, 2).repeat(2, 3)),
    "UpsampleBilinear2DGrad": (
        {}, (dy_, (2, 3, 6, 6), None, None, True), IMAGE,
        public(lambda x: ops.interpolate(x, size=(9, 8), mode="bilinear", align_corners=True))),
    "ResizeNearestNeighborGrad": ({}, (dy_, (6, 6)), IMAGE, lambda x: x.repeat(2, 2).repeat(2, 3)),
    "ResizeBilinearGrad": ({}, (dy_, x_), IMAGE.astype(np.float32), public(lambda x: P.ResizeBilinearV2()(x, (9, 8)))),
    "ReflectionPad2DGrad": (
        {}, (dy_, x_, (1, 2, 0, 1)), IMAGE, lambda x: np.pad(x, ((0, 0), (0, 0), (0, 1), (1, 2)), mode="reflect")),
    "ReplicationPad1DGrad": ({}, (dy_, x_, (1, 2)), given(2, 3, 4), lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2)), mode="edge")),
    "MirrorPadGrad": ({}, (dy_, np.array([[1, 1], [0, 2]])), X, lambda x: np.pad(x, ((1, 1), (0, 2)), mode="reflect")),
    "SliceGrad": ({}, (dy_, x_, (0, 1), (2, 2)), X, lambda x: x[0:2, 1:3]),
    "GatherDGradV2": (
        {}, (x_, 1, np.array([[0, 0], [2, 1]]), dy_), X, lambda x: np.take_along_axis(x, np.array([[0, 0], [2, 1]]), 1)),
    "TraceGrad": ({}, (dy_, (3, 3)), given(3, 3), lambda x: np.asarray(np.trace(x))),
    "PdistGrad": ({}, (dy_, x_, None), given(3, 2), lambda x: np.array([np.linalg.norm(x[i] - x[j]) for i, j in ((0, 1), (0, 2), (1, 2))])),
    "L2NormalizeGrad": ({"axis": 1}, (x_, None, dy_), X, lambda x: x / np.sqrt((x * x).sum(1, keepdims=True))),
    "FlattenGrad": ({}, (dy_, (2, 3)), X, lambda x: x.reshape(-1)),
    "EmbeddingDenseBackward": ({}, (dy_, LABELS, 4), given(4, 3), lambda x: x[LABELS]),
}  # fmt: skip


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("name", CASES)
def test_they_are_the_gradients_of_their_operations(name, mode):
    ms.set_context(mode=mode)
    options, arguments, x, forward = CASES[name]
    out = np.asarray(forward(x))
    dy = given(*out.shape, seed=1)
    cls = getattr(_grad_ops, name)
    tensors = [Tensor(np.asarray(v, x.dtype)) for v in (x, dy)]
    places = [n for n, a in enumerate(arguments) if a is x_ or a is dy_]
    fixed = [Tensor(a.astype(x.dtype) if a.dtype.kind in "fb" else a) if isinstance(a, np.ndarray) else a for a in arguments]

    def call(x, dy):
        filled = [x if a is x_ else dy if a is dy_ else fixed[n] for n, a in enumerate(arguments)]
        return cls(**options)(*filled)

    assert places
    found = (ms.jit(call) if mode == ms.GRAPH_MODE else call)(*tensors)
    found = (found[0] if isinstance(found, tuple) else found).asnumpy()
    step = 1e-6 if x.dtype == np.float64 else 1e-2
    rng = np.random.default_rng(2)
    for _ in range(3):  # along random directions
        direction = rng.standard_normal(x.shape).astype(x.dtype)
        ahead, behind = (np.asarray(forward(x + s * step * direction), np.float64) for s in (1, -1))
        expected = ((ahead - behind) / (2 * step) * dy).sum()
        np.testing.assert_allclose((found * direction).sum(), expected, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize(
    ("name", "forward"),
    [
        ("TanhGrad", np.tanh), ("SigmoidGrad", lambda x: 1 / (1 + np.exp(-x))), ("InvGrad", lambda x: 1 / x),
        ("SoftmaxGrad", lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
        ("LogSoftmaxGrad", lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True))),
    ],
)  # fmt: skip
def test_those_that_take_the_result(name, forward, mode):
    ms.set_context(mode=mode)
    dy, direction, step = given(2, 3, seed=1), given(2, 3, seed=2), 1e-6
    dx = getattr(_grad_ops, name)()(Tensor(forward(X)), Tensor(dy)).asnumpy()
    expected = ((forward(X + step * direction) - forward(X - step * direction)) / (2 * step) * dy).sum()
    np.testing.assert_allclose((dx * direction).sum(), expected, rtol=1e-5)


def test_elu_and_selu_by_their_results():
    dy = Tensor(given(2, 3, seed=1))
    for name, forward in (("EluGrad", ops.elu), ("SeluGrad", ops.selu)):
        _, pull = ms.ops.vjp(forward, Tensor(X)) if hasattr(ops, "vjp") else ms.vjp(forward, Tensor(X))
        expected = pull(dy)
        expected = expected[0] if isinstance(expected, tuple) else expected
        found = getattr(_grad_ops, name)()(dy, forward(Tensor(X)))
        np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-6)


def test_maxima_are_given_by_their_places():
    x = Tensor(given(1, 2, 4, 4).astype(np.float32))
    out, places = ops.max_pool2d(x, 2, 2, return_indices=True)
    dx = _grad_ops.MaxPoolGradWithArgmaxV2(2, 2)(x, ops.ones_like(out) * 3, places).asnumpy()
    blocks = x.asnumpy().reshape(1, 2, 2, 2, 2, 2)
    assert ((dx.reshape(blocks.shape) == 3) == (blocks == blocks.max((3, 5), keepdims=True))).all()


def test_convolutions_give_three_gradients():
    x, w, b = (Tensor(given(*s, seed=n).astype(np.float32)) for n, s in enumerate([(1, 2, 5, 5), (3, 2, 3, 3), (3,)]))
    dy = Tensor(given(1, 3, 5, 5, seed=7).astype(np.float32))
    dx, dw, db = auto_generate.ConvolutionGrad()(dy, x, w, b, 1, 1, (1, 1))
    np.testing.assert_allclose(db.asnumpy(), dy.asnumpy().sum((0, 2, 3)), rtol=1e-5)
    inner = lambda a, c: float((a.asnumpy() * c.asnumpy()).sum())
    out = F.conv2d(x, w, None, 1, 1)  # bilinear: <dx, x> = <dy, out> = <dw, w>
    np.testing.assert_allclose([inner(dx, x), inner(dw, w)], [inner(dy, out)] * 2, rtol=1e-4)


def test_every_row_makes_a_class():
    from mindspore._compat import gradient_classes

    for name in gradient_classes.__all__:
        assert getattr(_grad_ops, name) is getattr(auto_generate, name), name
    assert len(gradient_classes.__all__) > 120


def test_wrong_numbers_of_arguments_are_said():
    with pytest.raises(TypeError, match="For 'ReLU6Grad', missing a required argument: 'x'"):
        _grad_ops.ReLU6Grad()(Tensor(X))
