"""Crops of images against loops over their pixels."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

IMAGES = np.random.default_rng(0).integers(-100, 100, (2, 7, 5, 3))
BOXES = np.array([[0, 0.5, 0.5, 0], [0.1, 0.2, 0.75, 0.9], [0, 0, 0.5, 0.5], [0.3, 0.3, 0.3, 0.3]], np.float32)
INDICES = np.array([1, 0, 1, 0], np.int32)


def along(method, low, high, i, count, size):
    """The place of sample i, in pixels."""
    if method != "bilinear_v2":
        share = i / (count - 1) if count > 1 else 0.5
        return (low + (high - low) * share) * (size - 1)
    first, last = int(low * size), int(high * size)
    length = max(last - first + 1, 1)
    return first + min(max((i + 0.5) * length / count - 0.5, 0), length - 1)


def pixel(method, image, y, x, beyond):
    height, width, _ = image.shape
    if method != "bilinear_v2" and not (0 <= y <= height - 1 and 0 <= x <= width - 1):
        return np.full(3, beyond)
    if method == "nearest":
        return image[int(y + 0.5), int(x + 0.5)]
    y, x = min(y, height - 1), min(x, width - 1)
    top, left = int(y), int(x)
    square = image[top : top + 2, left : left + 2].astype(float)
    across = square[:, 0] + (square[:, -1] - square[:, 0]) * (x - left)
    return across[0] + (across[-1] - across[0]) * (y - top)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("size", [(3, 3), (5, 2), (1, 4)])
@pytest.mark.parametrize("method", ["bilinear", "nearest", "bilinear_v2"])
def test_against_loops(method, size, mode):
    ms.set_context(mode=mode)
    boxes = np.concatenate([BOXES, [[-0.2, 0.1, 1.2, 0.8]]]).astype(np.float32)
    boxes = boxes if method != "bilinear_v2" else BOXES
    indices = np.resize(INDICES, len(boxes))
    crop = ops.CropAndResize(method, 0.5)
    found = crop(Tensor(IMAGES.astype(np.int16)), Tensor(boxes), Tensor(indices), size)
    expected = np.empty((len(boxes), *size, 3))
    for b, (y0, x0, y1, x1) in enumerate(boxes.astype(float)):
        for i in range(size[0]):
            for j in range(size[1]):
                y, x = along(method, y0, y1, i, size[0], 7), along(method, x0, x1, j, size[1], 5)
                expected[b, i, j] = pixel(method, IMAGES[indices[b]], y, x, 0.5)
    assert found.dtype == ms.float32 and np.allclose(found.asnumpy(), expected, atol=1e-3)


def test_halves_of_pixels_go_up():
    image = Tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1))
    found = ops.crop_and_resize(image, Tensor([[0.0, 0.0, 0.0, 1.0]]), Tensor([0]), (1, 7), "nearest")
    assert found.flatten().tolist() == [0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_every_box_names_an_image(mode):
    ms.set_context(mode=mode)
    crop = ops.CropAndResize()
    with pytest.raises(ValueError, match=r"'box_indices' must be in \[0, 1\], but got 2"):
        crop(Tensor(IMAGES.astype(np.float32)), Tensor(BOXES), Tensor([0, 1, 2, 1]), (2, 2))
