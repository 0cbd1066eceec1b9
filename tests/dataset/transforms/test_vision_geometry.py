"""Where pixels go: against NumPy, Pillow and OpenCV, and against values of the reference implementation."""

import io

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from mindspore.dataset import vision
from mindspore.dataset.vision import Border, Inter
from mindspore.dataset.vision.jpeg import decode_top, jpeg_frame

RNG = np.random.default_rng(0)
COARSE = RNG.integers(0, 256, (6, 8, 3)).astype(np.uint8)
IMAGE = cv2.resize(COARSE, (61, 47), interpolation=cv2.INTER_CUBIC)
GREY = IMAGE[:, :, 0].copy()
RAMP = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)


def jpeg(image=IMAGE, quality=95):
    return vision.encode_jpeg(image, quality)


# -- decode


def test_decode_matches_opencv_and_pillow():
    data = jpeg()
    expected = cv2.cvtColor(cv2.imdecode(data, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    np.testing.assert_array_equal(vision.Decode()(data), expected)
    np.testing.assert_array_equal(vision.Decode()(data.tobytes()), expected)
    as_pil = vision.Decode(to_pil=True)(data)
    assert isinstance(as_pil, Image.Image)
    np.testing.assert_array_equal(np.asarray(as_pil), np.asarray(Image.open(io.BytesIO(data)).convert("RGB")))
    np.testing.assert_array_equal(vision.Decode()(vision.encode_png(IMAGE)), IMAGE)


@pytest.mark.parametrize("cut", [0, 3, 40, 200])
def test_damaged_images_are_errors(cut):
    with pytest.raises(RuntimeError, match="Decode"):
        vision.Decode()(jpeg()[:cut])
    with pytest.raises(ValueError, match="Failed to decode"):
        vision.Decode(True)(np.zeros(10, np.uint8))


def test_decode_refuses_what_is_not_encoded():
    for wrong in (IMAGE, "text", np.array(["a"]), 3):
        with pytest.raises(TypeError, match="encoded image"):
            vision.Decode()(wrong)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 90), st.integers(1, 90), st.booleans())
def test_jpeg_size_from_the_header(height, width, progressive):
    stream = io.BytesIO()
    Image.new("RGB", (width, height)).save(stream, "JPEG", progressive=progressive)
    frame = jpeg_frame(np.frombuffer(stream.getvalue(), np.uint8))
    assert frame[:2] == (height, width) and frame.row_by_row is not progressive


@pytest.mark.parametrize("options", [{}, {"subsampling": 0}, {"subsampling": 1}, {"progressive": True}])
def test_the_rows_above_a_crop_are_those_of_a_full_decode(options):
    """The decoder stops early by a changed header: what it gives until then must be exact."""
    pytest.importorskip("simplejpeg")
    stream = io.BytesIO()
    noise = np.random.default_rng(4).integers(0, 256, (9, 12, 3), dtype=np.uint8)
    Image.fromarray(cv2.resize(noise, (203, 151), interpolation=cv2.INTER_CUBIC)).save(stream, "JPEG", **options)
    data = np.frombuffer(stream.getvalue(), np.uint8)
    full, frame = vision.Decode()(data), jpeg_frame(data)
    for bottom in (1, 15, 16, 17, 64, 100, 149, 150, 151):
        top = decode_top(data, frame, bottom, 1)
        np.testing.assert_array_equal(top[:bottom], full[:bottom])
        assert len(top) < len(full) or bottom > 148 or "progressive" in options


def test_jpeg_header_reader_never_fails_on_noise():
    rng = np.random.default_rng(1)
    for _ in range(200):
        noise = np.concatenate([[0xFF, 0xD8], rng.integers(0, 256, rng.integers(0, 40))]).astype(np.uint8)
        jpeg_frame(noise)


def test_crop_decode_resize_sees_the_whole_image_at_full_scale():
    big = cv2.resize(COARSE, (320, 240), interpolation=cv2.INTER_CUBIC)
    op = vision.RandomCropDecodeResize((60, 80), scale=(1.0, 1.0), ratio=(4 / 3, 4 / 3))
    expected = vision.Resize((60, 80), Inter.AREA)(big)
    assert np.abs(op(jpeg(big)).astype(int) - expected).mean() < 3  # decoded at a quarter of the size
    exact = vision.RandomCropDecodeResize((240, 320), scale=(1.0, 1.0), ratio=(4 / 3, 4 / 3))(vision.encode_png(big))
    np.testing.assert_array_equal(exact, big)


# -- resize, crop, pad, flip


@pytest.mark.parametrize("inter", [Inter.NEAREST, Inter.LINEAR, Inter.CUBIC, Inter.AREA])
def test_resize_arrays_by_opencv(inter):
    flag = {Inter.NEAREST: 0, Inter.LINEAR: 1, Inter.CUBIC: 2, Inter.AREA: 3}[inter]
    np.testing.assert_array_equal(
        vision.Resize((20, 33), inter)(IMAGE), cv2.resize(IMAGE, (33, 20), interpolation=flag)
    )


@pytest.mark.parametrize("inter", [Inter.NEAREST, Inter.ANTIALIAS, Inter.BILINEAR, Inter.BICUBIC])
def test_resize_pil_images_by_pillow(inter):
    done = vision.Resize((20, 33), inter)(Image.fromarray(IMAGE))
    np.testing.assert_array_equal(np.asarray(done), np.asarray(Image.fromarray(IMAGE).resize((33, 20), int(inter))))


def test_resize_shapes_and_types():
    assert vision.Resize(20)(IMAGE).shape == (20, 25, 3)
    assert vision.Resize(20)(IMAGE.transpose(1, 0, 2).copy()).shape == (25, 20, 3)
    assert vision.Resize((5, 6))(GREY[:, :, None]).shape == (5, 6, 1)
    assert vision.Resize((5, 6))(np.stack([IMAGE, IMAGE])).shape == (2, 5, 6, 3)
    for dtype in (np.int8, np.int32, np.float16, np.float64, bool):
        assert vision.Resize((5, 6))(IMAGE.astype(dtype)).dtype == dtype
    with pytest.raises(TypeError, match="PIL"):
        vision.Resize(3, Inter.ANTIALIAS)(IMAGE)
    with pytest.raises(TypeError, match="NumPy or PIL"):
        vision.Resize(3)("abc")
    with pytest.raises(RuntimeError, match="two dimensions"):
        vision.Resize(3)(np.zeros(4, np.uint8))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12))
def test_center_crop(height, width):
    image = np.arange(7 * 5, dtype=np.uint8).reshape(7, 5) + 1
    done = vision.CenterCrop((height, width))(image)
    assert done.shape == (height, width)
    top, left = -(-max(0, height - 7) // 2), -(-max(0, width - 5) // 2)
    canvas = np.zeros((max(7, height), max(5, width)), np.uint8)
    canvas[top : top + 7, left : left + 5] = image
    y, x = (canvas.shape[0] - height) // 2, (canvas.shape[1] - width) // 2
    np.testing.assert_array_equal(done, canvas[y : y + height, x : x + width])


@pytest.mark.parametrize("border", list(Border))
def test_pad_like_numpy(border):
    widths = [(2, 4), (1, 3), (0, 0)]
    if border is Border.CONSTANT:
        expected = np.stack([np.pad(RAMP[:, :, i], widths[:2], constant_values=7 + i) for i in range(3)], axis=2)
    else:
        expected = np.pad(RAMP, widths, mode=border.value)
    op = vision.Pad((1, 2, 3, 4), (7, 8, 9), border)
    np.testing.assert_array_equal(op(RAMP), expected)
    np.testing.assert_array_equal(np.asarray(op(Image.fromarray(RAMP))), expected)


def test_pad_widths_and_sizes():
    assert vision.Pad(2)(RAMP).shape == (8, 8, 3)
    assert vision.Pad((1, 2))(RAMP).shape == (8, 6, 3)
    padded = vision.PadToSize((7, 9), (1, 2), fill_value=5)(RAMP)
    np.testing.assert_array_equal(padded[1:5, 2:6], RAMP)
    assert (padded[0] == 5).all() and padded.shape == (7, 9, 3)
    with pytest.raises(RuntimeError, match="no less than the original"):
        vision.PadToSize(3)(RAMP)
    with pytest.raises(RuntimeError, match="channel"):
        vision.Pad(1)(np.zeros((2, 2, 4), np.uint8))


def test_flips_and_crops():
    np.testing.assert_array_equal(vision.HorizontalFlip()(RAMP), RAMP[:, ::-1])
    np.testing.assert_array_equal(vision.VerticalFlip()(RAMP), RAMP[::-1])
    np.testing.assert_array_equal(vision.RandomHorizontalFlip(1.0)(RAMP), RAMP[:, ::-1])
    np.testing.assert_array_equal(vision.RandomVerticalFlip(0.0)(RAMP), RAMP)
    np.testing.assert_array_equal(vision.Crop((1, 2), (3, 2))(RAMP), RAMP[1:4, 2:4])
    with pytest.raises(RuntimeError, match="width dimension: 5 exceeds image width: 4"):
        vision.Crop((1, 3), (3, 2))(RAMP)
    video = np.stack([RAMP, RAMP[::-1]])
    np.testing.assert_array_equal(vision.HorizontalFlip()(video), video[:, :, ::-1])


def test_five_and_ten_crop():
    pil = Image.fromarray(IMAGE)
    parts = [np.asarray(part) for part in vision.FiveCrop((11, 20))(pil)]
    corners = [IMAGE[:11, :20], IMAGE[:11, -20:], IMAGE[-11:, :20], IMAGE[-11:, -20:], IMAGE[18:29, 20:40]]
    for part, expected in zip(parts, corners):
        np.testing.assert_array_equal(part, expected)
    assert len(vision.TenCrop(11)(pil)) == 10
    with pytest.raises(TypeError, match="PIL image"):
        vision.FiveCrop(3)(IMAGE)
    with pytest.raises(ValueError, match="larger than input image"):
        vision.FiveCrop(100)(pil)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(0, 3))
def test_random_crop_is_a_part_of_the_padded_image(seed, size, padding):
    op = vision.RandomCrop(size, padding, pad_if_needed=True)
    op.set_rng(np.random.default_rng(seed))
    done = op(GREY[:4, :5])
    grown_y, grown_x = (max(0, size - side - 2 * padding) for side in (4, 5))
    whole = np.pad(GREY[:4, :5], [(padding + grown_y,) * 2, (padding + grown_x,) * 2])
    parts = np.lib.stride_tricks.sliding_window_view(whole, (size, size)).reshape(-1, size, size)
    assert (parts == done).all(axis=(1, 2)).any()


def test_random_crop_keeps_columns_aligned():
    op = vision.RandomCrop(5)
    image, mask = op(IMAGE, IMAGE[:, :, 0].copy())
    np.testing.assert_array_equal(image[:, :, 0], mask)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.tuples(st.integers(1, 60), st.integers(1, 60)))
def test_random_regions_lie_inside(seed, size):
    from mindspore.dataset.vision.crop import draw_region

    top, left, height, width = draw_region(np.random.default_rng(seed), size, (0.08, 1.0), (3 / 4, 4 / 3), 10)
    assert top >= 0 and left >= 0 and height >= 1 and width >= 1
    assert top + height <= size[0] and left + width <= size[1]


# -- warps


def test_rotations_by_right_angles_are_exact():
    assert vision.Rotate(90, expand=True)(GREY).shape == (61, 47)
    np.testing.assert_array_equal(vision.Rotate(180)(GREY), GREY[::-1, ::-1])
    np.testing.assert_array_equal(vision.Rotate(90, expand=True)(GREY), np.rot90(GREY))
    np.testing.assert_array_equal(vision.RandomRotation((0, 0))(IMAGE), IMAGE)


def test_affine_identity_shift_and_fill():
    np.testing.assert_array_equal(vision.Affine(0, (0, 0), 1.0, 0)(IMAGE), IMAGE)
    shifted = vision.Affine(0, (0.25, 0.0), 1.0, 0, fill_value=(1, 2, 3))(RAMP)
    np.testing.assert_array_equal(shifted[:, 1:], RAMP[:, :-1])
    assert shifted[0, 0].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(np.asarray(vision.RandomAffine(0)(Image.fromarray(IMAGE))), IMAGE)


def test_perspective_identity_and_scale():
    square = [[0, 0], [46, 0], [46, 46], [0, 46]]
    np.testing.assert_array_equal(vision.Perspective(square, square)(IMAGE), IMAGE)
    done = vision.Perspective([[0, 0], [10, 0], [10, 10], [0, 10]], [[0, 0], [20, 0], [20, 20], [0, 20]])(GREY)
    np.testing.assert_array_equal(done[::2, ::2][:23, :30], GREY[:23, :30])


def test_slice_patches():
    patches = vision.SlicePatches(2, 3, fill_value=9)(GREY)
    assert len(patches) == 6 and patches[0].shape == (24, 21)
    assert (patches[5][-1] == 9).all()
    kept = vision.SlicePatches(2, 3, vision.SliceMode.DROP)(GREY)
    np.testing.assert_array_equal(np.block([list(kept[:3]), list(kept[3:])]), GREY[:46, :60])


# -- argument errors: what was given and what is allowed


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: vision.Resize(0), ValueError, r"\[1, 16777216\]"),
        (lambda: vision.Resize((1, 2, 3)), TypeError, "single integer or a list/tuple"),
        (lambda: vision.Resize(3, None), KeyError, "Interpolation"),
        (lambda: vision.RandomCrop(3, (1, 2, 3)), ValueError, "padding list or tuple should be 2 or 4"),
        (lambda: vision.RandomCrop(3, fill_value=300), ValueError, r"fill_value.*\[0, 255\]"),
        (lambda: vision.RandomHorizontalFlip(2), ValueError, r"prob.*\[0.0, 1.0\]"),
        (lambda: vision.RandomHorizontalFlip(True), TypeError, "Argument prob with value True"),
        (lambda: vision.Normalize([1], [1, 2]), ValueError, "must be equal"),
        (lambda: vision.Normalize([1], [0]), ValueError, r"std\[0\].*\(0, 255\]"),
        (lambda: vision.RandomResizedCrop(3, (1, 0)), ValueError, "scale should be in"),
        (lambda: vision.Rotate(1, center=1), ValueError, "2-tuple"),
        (lambda: vision.Affine(200, (0, 0), 1, 1), ValueError, r"degrees.*\[-180, 180\]"),
        (lambda: vision.Perspective([[0, 0]] * 3, [[0, 0]] * 4), TypeError, "start_points.*length 4"),
        (lambda: vision.RandomAffine(1, scale=(2, 1)), ValueError, "greater than scale"),
        (lambda: vision.GaussianBlur(2), ValueError, "odd"),
        (lambda: vision.CutMixBatch("a"), TypeError, "image_batch_format"),
        (lambda: vision.RandAugment(magnitude=31), ValueError, r"magnitude.*\[0, 31\)"),
        (lambda: vision.UniformAugment([vision.Invert()], 2), ValueError, "num_ops is greater"),
    ],
)
def test_argument_errors(build, error, message):
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("shape", [(9, 8, 3), (8, 8), (6, 9, 1), (5, 4, 7)])
def test_a_quarter_turn_keeps_whole_rows(shape):
    """Half pixels are rounded the same way everywhere, so that no row is doubled and none left out."""
    image = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    turned = vision.Rotate(90, expand=True, fill_value=255)(image)
    rows = {tuple(np.ravel(row)) for row in np.rot90(image)}
    assert sum(tuple(np.ravel(row)) in rows for row in turned) >= len(rows) - 1
    np.testing.assert_array_equal(vision.Rotate(180)(image[:, :8]), image[::-1, 7::-1][:, : image.shape[1]])


def test_blur_without_sigma_is_as_wide_as_the_first_side_of_the_kernel_says():
    image = np.random.default_rng(3).integers(0, 256, (23, 31, 3), dtype=np.uint8)
    expected = cv2.GaussianBlur(image, (3, 5), 0.8, sigmaY=0.8)
    np.testing.assert_array_equal(vision.GaussianBlur((3, 5))(image), expected)


def test_what_opencv_refuses_is_a_runtime_error():
    image = np.zeros((3, 9, 7), np.uint8)
    with pytest.raises(RuntimeError, match="Perspective"):
        vision.Perspective([[0, 0], [6, 0], [6, 8], [0, 8]], [[1, 0], [6, 1], [5, 8], [0, 7]], Inter.BICUBIC)(image)


def test_flips_of_pil_images_are_arrays():
    image = Image.fromarray(np.arange(12, dtype=np.uint8).reshape(2, 2, 3))
    np.testing.assert_array_equal(vision.HorizontalFlip()(image), np.asarray(image)[:, ::-1])
