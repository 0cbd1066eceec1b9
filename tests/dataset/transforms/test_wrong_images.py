"""What is no picture is refused by every image transform with one kind of error, never turned into numbers silently."""

import numpy as np
import pytest

from mindspore.dataset import vision

TRANSFORMS = [
    vision.ToTensor(),
    vision.Rescale(1.0, 0.0),
    vision.HWC2CHW(),
    vision.Normalize([0.0], [1.0]),
    vision.NormalizePad([0.0], [1.0]),
    vision.VerticalFlip(),
    vision.Resize(4),
    vision.Invert(),
    vision.AdjustGamma(2.0),
]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: type(transform).__name__)
@pytest.mark.parametrize(
    "image", [None, [1, 2], "x", np.uint8(3), 3.5, np.ones((4, 4, 3), np.complex64)], ids=lambda image: type(image).__name__
)
def test_what_is_no_image(transform, image):
    with pytest.raises(TypeError, match=r"Input should be NumPy or PIL image|Invalid user input"):
        transform(image)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: type(transform).__name__)
def test_strings_are_no_pixels(transform):
    with pytest.raises(RuntimeError, match="string"):
        transform(np.full((4, 4, 3), "1"))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int16, np.int32])
def test_gamma_of_whole_numbers_outside_of_a_byte(dtype):
    """Negative numbers used to be looked up from the end of the table, larger ones raised an IndexError."""
    values = np.array([-5, 0, 1, 100]) if dtype is np.int8 else np.array([-300, 0, 255, 300])
    image = np.repeat(values.astype(dtype).reshape(2, 2, 1), 3, axis=2)
    inside = np.clip(image, 0, 255).astype(np.uint8)
    found = vision.AdjustGamma(1.5)(image)
    np.testing.assert_array_equal(found, vision.AdjustGamma(1.5)(inside).astype(dtype))
