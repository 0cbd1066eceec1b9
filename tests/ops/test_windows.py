"""What looks at windows of images beyond convolution and pooling: fractional, deformable, dilated, patches."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage as ndimage

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Tensor, nn, ops

RNG = np.random.default_rng(0)


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
