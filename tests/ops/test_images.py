"""Colours, sizes and cuts of images, against the standard library, JAX and numbers of official MindSpore."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

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


def test_random_crops_cover_the_object():
    box = np.array([[[0.2, 0.3, 0.6, 0.7]]], np.float32)
    op = ops.SampleDistortedBoundingBoxV2(aspect_ratio_range=(0.5, 2.0), area_range=(0.3, 0.9))
    found = set()
    for _ in range(20):
        begin, size, out = op(Tensor([40, 50, 3], ms.int32), Tensor(box), Tensor([0.5], ms.float32))
        (top, left, _), (high, wide, rest) = begin.asnumpy(), size.asnumpy()
        assert rest == -1 and 0 <= top <= top + high <= 40 and 0 <= left <= left + wide <= 50
        np.testing.assert_allclose(
            out.asnumpy().reshape(4), [top / 40, left / 50, (top + high) / 40, (left + wide) / 50]
        )
        common = (min(24, top + high) - max(8, top)) * (min(35, left + wide) - max(15, left))
        assert common >= 0.5 * 16 * 20 - 1e-6 and 0.3 <= high * wide / 2000 <= 0.9
        found.add((top, left, high, wide))
    assert len(found) > 1
    seeded = [
        ops.SampleDistortedBoundingBoxV2(seed=3)(Tensor([9, 9, 3]), Tensor(box), Tensor([0.1]))[2] for _ in range(2)
    ]
    np.testing.assert_array_equal(seeded[0].asnumpy(), seeded[1].asnumpy())
    nothing = Tensor(np.zeros((1, 0, 4), np.float32))
    with pytest.raises(ValueError, match="no bounding boxes"):
        op(Tensor([40, 50, 3]), nothing, Tensor([0.5]))
    assert ops.SampleDistortedBoundingBoxV2(use_image_if_no_bounding_boxes=True)(
        Tensor([40, 50, 3]), nothing, Tensor([0.1])
    )[2].shape == (1, 1, 4)


@pytest.mark.parametrize(
    "name, method", [("lanczos3", "lanczos3"), ("lanczos5", "lanczos5"), ("keyscubic", "cubic"), ("triangle", "linear")]
)
def test_scale_and_translate(name, method):
    image = pytest.importorskip("jax.image")
    x = RNG.normal(size=(1, 6, 7, 2)).astype(np.float32)
    for scale, shift in (((0.5, 2.0), (0.3, -1.0)), ((1.7, 0.9), (-0.4, 0.6))):
        found = ops.ScaleAndTranslate(name)(Tensor(x), Tensor([4, 5], ms.int32), Tensor(scale), Tensor(shift))
        wanted = image.scale_and_translate(x, (1, 4, 5, 2), (1, 2), np.float32(scale), np.float32(shift), method)
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-4)


def test_filters_of_scale_and_translate():
    """Numbers of official MindSpore."""
    x = Tensor(np.arange(30).reshape(1, 5, 6, 1).astype(np.float32))
    wanted = {
        ("gaussian", True): [3.0542307, 3.5609117, 4.009667, 4.560911],
        ("box", True): [0.0, 1.0, 1.0, 2.0],
        ("mitchellcubic", False): [0.31304955, 0.81622654, 1.3416755, 1.8416758],
    }
    for settings, row in wanted.items():
        out = ops.ScaleAndTranslate(*settings)(x, Tensor([3, 4], ms.int32), Tensor([0.5, 2.0]), Tensor([0.3, -1.0]))
        np.testing.assert_allclose(out.asnumpy()[0, 0, :, 0], row, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="kernel_type"):
        ops.ScaleAndTranslate("square")(x, Tensor([3, 4]), Tensor([1.0, 1.0]), Tensor([0.0, 0.0]))


def test_glimpses_with_noise_and_settings():
    x = Tensor(np.arange(60).reshape(2, 5, 6, 1).astype(np.float32))
    size = Tensor([3, 4], ms.int32)
    out = ops.ExtractGlimpse(True, True, False, "zero")(x, size, Tensor([[0.3, -0.4], [1.2, 0.9]]))
    np.testing.assert_array_equal(out.asnumpy()[0, :, :, 0], [[6, 7, 8, 9], [12, 13, 14, 15], [18, 19, 20, 21]])
    np.testing.assert_array_equal(out.asnumpy()[1, :, :, 0], [[57, 58, 59, 0], [0] * 4, [0] * 4])
    for noise in ("uniform", "gaussian"):
        beyond = ops.ExtractGlimpse(False, False, False, noise)(x, size, Tensor([[20.0, 20.0], [2.5, 3.0]])).asnumpy()
        assert np.unique(beyond[0]).size == 12 and (beyond[1, 0, 0] == 37)
    with pytest.raises(ValueError, match="noise"):
        ops.ExtractGlimpse(noise="zero")(x, size, Tensor([[0.0, 0.0], [0.0, 0.0]]))


@pytest.mark.parametrize(("mode", "shape", "size"), [("linear", (2, 3, 7), (19,)), ("bilinear", (1, 2, 5, 7), (9, 16)),
                                                     ("bicubic", (1, 2, 5, 7), (9, 16)), ("area", (1, 2, 9, 8), (4, 5))])  # fmt: skip
def test_resized_halves_are_rounded_once(mode, shape, size):
    x = RNG.uniform(-4, 4, shape).astype(np.float16)
    whole = ops.interpolate(Tensor(x.astype(np.float32)), size=size, mode=mode).asnumpy()
    half = ops.interpolate(Tensor(x), size=size, mode=mode)
    assert half.dtype == ms.float16
    np.testing.assert_array_equal(half.asnumpy(), whole.astype(np.float16))


def test_weights_of_cubic_convolution_come_from_a_table():
    """In 1,024 places between two elements; neighbours beyond the ends are left out."""
    x = RNG.uniform(0, 1, 6)

    def at(place):
        low = int(np.floor(place))
        share = round((place - low) * 1024) / 1024
        weights, values = [], []
        for tap in range(-1, 3):
            d = abs(share - tap)
            near, far = 1.5 * d**3 - 2.5 * d**2 + 1, -0.5 * d**3 + 2.5 * d**2 - 4 * d + 2
            if 0 <= low + tap < 6:
                weights.append(near if d <= 1 else far)
                values.append(x[low + tap])
        return np.dot(weights, values) / np.sum(weights)

    image = Tensor(np.tile(x.astype(np.float32), (1, 1, 2, 1)))
    found = ops.interpolate(image, size=(2, 11), mode="bicubic").asnumpy()[0, 0, 0]
    np.testing.assert_allclose(found, [at((i + 0.5) * 6 / 11 - 0.5) for i in range(11)], rtol=0, atol=2e-6)
