"""Operations that few scripts use, against plain NumPy, the standard library and SciPy."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
import scipy.ndimage as ndimage
from scipy import stats

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Parameter, Tensor, nn, ops

RNG = np.random.default_rng(0)


def test_colours_are_the_standard_library_s():
    image = RNG.uniform(size=(3, 4, 3)).astype(np.float32)
    image[0, 0] = 0.5  # grey
    image[0, 1] = 0.0
    hsv = ops.RGBToHSV()(Tensor(image)).asnumpy()
    expected = np.array([colorsys.rgb_to_hsv(*p) for p in image.reshape(-1, 3)]).reshape(image.shape)
    np.testing.assert_allclose(hsv, expected, atol=1e-5)
    np.testing.assert_allclose(ops.HSVToRGB()(Tensor(hsv)).asnumpy(), image, atol=1e-5)
    turned = expected.copy()
    turned[..., 0] = (turned[..., 0] + 0.3) % 1
    rgb = np.array([colorsys.hsv_to_rgb(*p) for p in turned.reshape(-1, 3)]).reshape(image.shape)
    np.testing.assert_allclose(ops.AdjustHue()(Tensor(image), Tensor(0.3)).asnumpy(), rgb, atol=1e-5)
    paler = expected * np.array([1, 0.5, 1])
    rgb = np.array([colorsys.hsv_to_rgb(*p) for p in paler.reshape(-1, 3)]).reshape(image.shape)
    np.testing.assert_allclose(ops.AdjustSaturation()(Tensor(image), Tensor(0.5)).asnumpy(), rgb, atol=1e-5)


def test_resize_area_averages():
    image = RNG.uniform(size=(2, 4, 6, 1)).astype(np.float32)
    out = ops.ResizeArea()(Tensor(image), Tensor([2, 3], ms.int32)).asnumpy()
    np.testing.assert_allclose(out, image.reshape(2, 2, 2, 3, 2, 1).mean((2, 4)), rtol=1e-6)


def starts(sample, size, out, kernel):
    step = (size - kernel) / (out - 1)
    return [int((i + sample) * step) - int(sample * step) for i in range(out - 1)] + [size - kernel]


def test_fractional_pooling():
    x, samples = RNG.normal(size=(2, 2, 7, 9)), RNG.uniform(size=(2, 2, 2)).astype(np.float32)
    y, places = ops.FractionalMaxPoolWithFixedKsize((2, 3), (4, 5))(Tensor(x), Tensor(samples))
    for n, c in np.ndindex(2, 2):
        rows = starts(samples[n, c, 1], 7, 4, 2)
        columns = starts(samples[n, c, 0], 9, 5, 3)
        expected = [[x[n, c, r : r + 2, k : k + 3].max() for k in columns] for r in rows]
        np.testing.assert_allclose(y.asnumpy()[n, c], expected)
        np.testing.assert_allclose(x[n, c].ravel()[places.asnumpy()[n, c]], expected)
    check_gradients(lambda v: ops.fractional_max_pool2d(v, (2, 3), (4, 5), _random_samples=Tensor(samples)), x, order=1)
    net = nn.FractionalMaxPool3d(2, output_ratio=(0.5, 0.5, 0.5), return_indices=True)
    out, indices = net(Tensor(RNG.normal(size=(1, 2, 6, 6, 6)), ms.float32))
    assert out.shape == indices.shape == (1, 2, 3, 3, 3)
    with pytest.raises(ValueError, match="exactly one"):
        ops.fractional_max_pool2d(Tensor(x), 2)


def test_deformable_convolution_without_offsets_is_convolution():
    x, w = RNG.normal(size=(2, 4, 5, 6)), RNG.normal(size=(3, 4, 3, 3))
    offsets = np.zeros((2, 27, 5, 6))
    offsets[:, 18:] = 1
    arguments = ((3, 3), (1, 1, 1, 1), (1, 1, 1, 1))
    found = ops.deformable_conv2d(*(Tensor(v, ms.float32) for v in (x, w, offsets)), *arguments)
    plain = ops.conv2d(Tensor(x, ms.float32), Tensor(w, ms.float32), None, 1, "pad", 1)
    np.testing.assert_allclose(found.asnumpy(), plain.asnumpy(), atol=1e-4)
    moved = offsets.copy()
    moved[:, :9] = 1.0  # one column to the right
    found = ops.DeformableOffsets((1, 1, 1, 1), (0, 0, 0, 0), (1, 1))
    one = np.concatenate([np.full((1, 1, 4, 4), 1.0), np.zeros((1, 1, 4, 4)), np.full((1, 1, 4, 4), 2.0)], 1)
    image = RNG.normal(size=(1, 1, 4, 4)).astype(np.float32)
    out = found(Tensor(image), Tensor(one, ms.float32)).asnumpy()
    np.testing.assert_allclose(out[..., :3], 2 * image[..., 1:], rtol=1e-5)
    np.testing.assert_array_equal(out[..., 3], 0)
    small = RNG.uniform(0.1, 0.4, (1, 12, 2, 2))
    check_gradients(
        lambda v, o: ops.deformable_offsets(v, o, (1, 1, 1, 1), (0, 0, 0, 0), (2, 2)),
        RNG.normal(size=(1, 1, 3, 3)),
        small,
    )


@pytest.mark.parametrize("mode", ["SAME", "VALID"])
def test_grey_dilation(mode):
    x, f = RNG.normal(size=(1, 2, 6, 7)), RNG.normal(size=(2, 3, 3))
    out = ops.Dilation2D(stride=1, dilation=1, pad_mode=mode)(Tensor(x), Tensor(f)).asnumpy()
    for c in range(2):
        whole = ndimage.grey_dilation(x[0, c], structure=f[c][::-1, ::-1], mode="constant", cval=-np.inf)
        np.testing.assert_allclose(out[0, c], whole if mode == "SAME" else whole[1:-1, 1:-1])


def test_volume_patches():
    x = np.arange(2 * 3 * 4 * 4, dtype=np.float32).reshape(1, 2, 3, 4, 4)
    out = ops.ExtractVolumePatches((1, 1, 2, 2, 2), (1, 1, 1, 2, 2), "VALID")(Tensor(x)).asnumpy()
    assert out.shape == (1, 16, 2, 2, 2)
    for d, h, w in np.ndindex(2, 2, 2):
        window = x[0, :, d : d + 2, 2 * h : 2 * h + 2, 2 * w : 2 * w + 2]
        np.testing.assert_array_equal(out[0, :, d, h, w], window.reshape(2, 8).T.ravel())


def test_suppression():
    boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 1.9], [3, 3, 5, 5], [0, 0, 1, 1]], np.float32)
    scores = np.array([0.6, 0.9, 0.5, 0.1], np.float32)
    kept = ops.NonMaxSuppressionV3()(Tensor(boxes), Tensor(scores), Tensor(3), Tensor(0.5), Tensor(0.2))
    assert kept.asnumpy().tolist() == [1, 2]
    table = Tensor(np.array([[1, 0.9, 0.1], [0.9, 1, 0.1], [0.1, 0.1, 1]], np.float32))
    kept = ops.NonMaxSuppressionWithOverlaps()(table, Tensor([0.1, 0.2, 0.3]), Tensor(3), Tensor(0.5), Tensor(0.0))
    assert kept.asnumpy().tolist() == [2, 1]


def test_suppression_of_several_classes():
    boxes = Tensor(
        np.array([[0.5, 0.25, 0.6, 0.4], [0.5, 0.25, 0.6, 0.41], [0.1, 0.1, 0.2, 1.5]], np.float32)[None, :, None]
    )
    scores = Tensor(np.array([[[0.9, 0.1], [0.8, 0.7], [0.3, 0.6]]], np.float32))
    out = ops.CombinedNonMaxSuppression()(boxes, scores, Tensor(2), Tensor(4), Tensor(0.5), Tensor(0.2))
    kept, points, classes, valid = (o.asnumpy() for o in out)
    assert valid.tolist() == [4] and classes.tolist() == [[0, 1, 1, 0]]
    np.testing.assert_allclose(points, [[0.9, 0.7, 0.6, 0.3]])
    np.testing.assert_allclose(kept[0, 2], [0.1, 0.1, 0.2, 1.0])  # cut off at the image's edge


def test_labels_and_sequences():
    found = ops.ConfusionMatrix(3)(Tensor([0, 1, 1, 2]), Tensor([0, 2, 1, 2])).asnumpy()
    assert found.tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 1]]
    words = ["kitten", "sitting"]
    parts = []
    for word in words:
        parts += [Tensor([[0, i] for i in range(len(word))]), Tensor([ord(c) for c in word]), Tensor([1, len(word)])]
    assert ops.EditDistance(False)(*parts).asnumpy().tolist() == [3.0]
    np.testing.assert_allclose(ops.EditDistance()(*parts).asnumpy(), [3 / 7], rtol=1e-6)
    state = Tensor(np.array([[[1, 2, 3, 1, 2]]]))
    banned = ops.NoRepeatNGram(3)(state, Tensor(np.zeros((1, 1, 5), np.float32))).asnumpy()[0, 0]
    assert (banned < -1e30).tolist() == [False, False, False, True, False]
    splits, values = ops.RaggedRange(ms.int64)(Tensor([2, 5, 8]), Tensor([3, 5, 12]), Tensor([1, 1, 2]))
    assert splits.asnumpy().tolist() == [0, 1, 1, 3] and values.asnumpy().tolist() == [2, 8, 10]
    assert ops.CompareAndBitpack()(Tensor(np.arange(1.0, 9)), 6.0).asnumpy().tolist() == [3]


def test_layouts():
    assert ops.DataFormatDimMap()(Tensor([0, 1, 2, 3, -1])).asnumpy().tolist() == [0, 3, 1, 2, 2]
    assert ops.DataFormatVecPermute()(Tensor([1, 2, 3, 4])).asnumpy().tolist() == [1, 4, 2, 3]


def test_normal_numbers_between_bounds():
    mean, spread = Tensor([0.0, 5.0]), Tensor([1.0, 2.0])
    low, high = Tensor([-0.5, 5.0]), Tensor([2.0, 9.0])
    draw = ops.ParameterizedTruncatedNormal(seed=3)
    x = draw(Tensor([2, 4000]), mean, spread, low, high).asnumpy()
    for row, (m, s, a, b) in zip(x, ((0, 1, -0.5, 2), (5, 2, 5, 9))):
        assert row.min() >= a and row.max() <= b
        expected = stats.truncnorm((a - m) / s, (b - m) / s, m, s)
        assert stats.kstest(row, expected.cdf).pvalue > 1e-4


@pytest.mark.parametrize("layout", ["SBH", "TND"])
def test_partial_attentions_join(layout):
    q, k, v = (
        RNG.normal(size=(3, 2, 4)),
        RNG.normal(size=(6, 2, 4)),
        RNG.normal(size=(6, 2, 4)),
    )  # (length, heads, size)

    def attention(keys, values):
        scores = np.einsum("snd,tnd->nst", q, keys)
        top = scores.max(-1)
        weights = np.exp(scores - top[..., None])
        return np.einsum("nst,tnd->snd", weights / weights.sum(-1, keepdims=True), values), top, weights.sum(-1)

    def given(out, top, total):
        if layout == "SBH":
            return out.reshape(3, 1, 8), *(np.repeat(x[None, :, :, None], 8, -1) for x in (top, total))
        return out, *(np.repeat(x.T[:, :, None], 8, -1) for x in (top, total))

    parts = [Tensor(a) for part in ((k[:4], v[:4]), (k[4:], v[4:])) for a in given(*attention(*part))]
    found = ops.ring_attention_update(*parts, layout=layout)
    for f, e in zip(found, given(*attention(k, v))):
        np.testing.assert_allclose(f.asnumpy(), e, rtol=1e-6)


def test_one_memory():
    x = Tensor([1.0])
    assert ops.move_to(x, "CPU") is x
    with pytest.raises(ValueError, match="move_to"):
        ops.move_to(x, "disk")
    gradients = ms.grad(lambda a, b: a * b, (0, 1), return_ids=True)(Tensor(2.0), Tensor(3.0))
    assert ops.get_grad(gradients, 1).asnumpy() == 2


def test_split_by_sizes():
    parts = ops.SplitWithSize()(Tensor([1, 2, 3, 4]), (1, 3), 0)
    assert [p.asnumpy().tolist() for p in parts] == [[1], [2, 3, 4]]


def test_gradients_pass_through_a_function():
    doubled = ops.InsertGradientOf(lambda g: 2 * g)
    assert ms.grad(lambda x: doubled(x) * 3)(Tensor(1.0)).asnumpy() == 6


@pytest.mark.parametrize("name", ["Momentum", "ProximalGradientDescent"])
def test_sparse_rules_leave_other_rows(name):
    var, grad = RNG.normal(size=(4, 2)).astype(np.float32), RNG.normal(size=(2, 2)).astype(np.float32)
    rows = np.array([1, 3])
    p = Parameter(Tensor(var), name="var")
    if name == "Momentum":
        accum = Parameter(Tensor(np.ones((4, 2), np.float32)), name="accum")
        ops.SparseApplyMomentum()(p, accum, Tensor(0.1), Tensor(grad), Tensor(rows, ms.int32), Tensor(0.9))
        new = var[rows] - 0.1 * (0.9 + grad)
    else:
        ops.SparseApplyProximalGradientDescent()(
            p, Tensor(0.1), Tensor(0.0), Tensor(0.5), Tensor(grad), Tensor(rows, ms.int32)
        )
        new = (var[rows] - 0.1 * grad) / 1.05
    np.testing.assert_allclose(p.asnumpy()[rows], new, rtol=1e-5)
    np.testing.assert_array_equal(p.asnumpy()[[0, 2]], var[[0, 2]])
