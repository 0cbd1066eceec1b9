"""What colour pixels have, mixing, boxes, files: against formulas, Pillow and `colorsys`."""

import colorsys

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageEnhance, ImageOps

from mindspore.dataset import transforms, vision
from mindspore.dataset.vision import ImageBatchFormat
from mindspore.dataset.vision.auto_augment import _COLOUR_OPERATIONS, _POLICIES, augment, magnitude_ranges

RNG = np.random.default_rng(3)
IMAGE = RNG.integers(0, 256, (9, 11, 3)).astype(np.uint8)
PIL = Image.fromarray(IMAGE)
FLOATS = (IMAGE / 255).astype(np.float32)
BOXES = np.array([[1, 2, 4, 3, 7], [5, 4, 5, 4, 8]], np.float32)


def near(actual, expected, by=1):
    assert actual.dtype == np.uint8
    np.testing.assert_allclose(actual.astype(float), expected, atol=by)


# -- layout and range


def test_rescale_normalize_to_tensor():
    np.testing.assert_allclose(vision.Rescale(1 / 255, -0.5)(IMAGE), IMAGE / 255 - 0.5, atol=1e-6)
    mean, std = [100.0, 110, 120], [50.0, 40, 30]
    expected = (IMAGE - np.array(mean)) / np.array(std)
    np.testing.assert_allclose(vision.Normalize(mean, std)(IMAGE), expected, atol=1e-5)
    chw = IMAGE.transpose(2, 0, 1).copy()
    np.testing.assert_allclose(vision.Normalize(mean, std, False)(chw), expected.transpose(2, 0, 1), atol=1e-5)
    np.testing.assert_allclose(vision.Normalize([9.0], [2.0])(IMAGE[:, :, 0]), (IMAGE[:, :, 0] - 9.0) / 2, atol=1e-5)
    padded = vision.NormalizePad(mean, std)(IMAGE)
    np.testing.assert_allclose(padded[:, :, :3], expected, atol=1e-5)
    assert (padded[:, :, 3] == 0).all()
    np.testing.assert_allclose(vision.ToTensor()(PIL), IMAGE.transpose(2, 0, 1) / 255, atol=1e-6)
    assert vision.ToTensor(np.float16)(IMAGE[:, :, 0]).shape == (1, 9, 11)
    with pytest.raises(RuntimeError, match="channels: 3, size of mean: 2"):
        vision.Normalize([1.0, 2], [1.0, 2])(IMAGE)


@pytest.mark.parametrize(
    "op",
    [
        vision.Rescale(2, 1),
        vision.Normalize([9.0], [2.0]),
        vision.HWC2CHW(),
        vision.ToTensor(),
        vision.ToType(np.int16),
    ],
    ids=lambda op: type(op).__name__,
)
@pytest.mark.parametrize("images", [np.stack([IMAGE, IMAGE[::-1]]), np.stack([IMAGE[:, :, 0], IMAGE[:, :, 1]])])
def test_batches_equal_single_images(op, images):
    np.testing.assert_array_equal(op.batched(images), np.stack([op(image) for image in images]))


def test_pil_and_numpy_conversions():
    np.testing.assert_array_equal(np.asarray(vision.ToPIL()(IMAGE)), IMAGE)
    np.testing.assert_array_equal(vision.ToNumpy()(PIL), IMAGE)
    with pytest.raises(TypeError, match="not supported"):
        vision.ToPIL()(FLOATS)


# -- colour


def test_adjustments_by_formula():
    grey = cv2.cvtColor(IMAGE, cv2.COLOR_RGB2GRAY).astype(float)
    for factor in (0.0, 0.4, 1.0, 1.7):
        near(vision.AdjustBrightness(factor)(IMAGE), np.clip(IMAGE * factor, 0, 255))
        near(vision.AdjustContrast(factor)(IMAGE), np.clip(grey.mean() * (1 - factor) + IMAGE * factor, 0, 255))
        near(vision.AdjustSaturation(factor)(IMAGE), np.clip(grey[..., None] * (1 - factor) + IMAGE * factor, 0, 255))
    np.testing.assert_array_equal(vision.AdjustSharpness(1.0)(IMAGE), IMAGE)
    np.testing.assert_array_equal(vision.Invert()(IMAGE), 255 - IMAGE)
    np.testing.assert_array_equal(vision.Posterize(3)(IMAGE), IMAGE & 0b11100000)
    expected = np.where((IMAGE >= 30) & (IMAGE <= 180), 255 - IMAGE, IMAGE)
    np.testing.assert_array_equal(vision.Solarize((30, 180))(IMAGE), expected)
    np.testing.assert_array_equal(vision.Solarize(100)(IMAGE), np.where(IMAGE >= 100, 255 - IMAGE, IMAGE))


def test_hue_turns_the_colour_circle():
    near(vision.AdjustHue(0.0)(IMAGE), IMAGE, by=8)  # 8-bit HSV is coarse
    pixel = np.array([[[0.8, 0.2, 0.3]]], np.float32)
    hue, saturation, value = colorsys.rgb_to_hsv(*pixel[0, 0].tolist())
    expected = colorsys.hsv_to_rgb((hue + 0.25) % 1, saturation, value)
    np.testing.assert_allclose(vision.AdjustHue(0.25)(pixel)[0, 0], expected, atol=1e-3)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (vision.AdjustBrightness(0.6), ImageEnhance.Brightness(PIL).enhance(0.6)),
        (vision.AdjustContrast(1.4), ImageEnhance.Contrast(PIL).enhance(1.4)),
        (vision.AdjustSaturation(0.3), ImageEnhance.Color(PIL).enhance(0.3)),
        (vision.RandomSharpness((1.5, 1.5)), ImageEnhance.Sharpness(PIL).enhance(1.5)),
        (vision.Equalize(), ImageOps.equalize(PIL)),
        (vision.AutoContrast(2.0), ImageOps.autocontrast(PIL, 2.0)),
        (vision.Invert(), ImageOps.invert(PIL)),
        (vision.Grayscale(1), PIL.convert("L")),
    ],
)
def test_pil_images_by_pillow(op, expected):
    np.testing.assert_array_equal(np.asarray(op(PIL)), np.asarray(expected))


def test_auto_contrast_stretches_each_channel():
    dim = (IMAGE // 4 + 50).astype(np.uint8)
    done = vision.AutoContrast()(dim)
    assert (done.min(axis=(0, 1)) == 0).all() and (done.max(axis=(0, 1)) >= 254).all()
    flat = np.full((4, 4, 3), 9, np.uint8)
    np.testing.assert_array_equal(vision.AutoContrast()(flat), flat)


def test_gamma_table():
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    expected = np.minimum((levels / 255.0) ** 2.2 * 255.999 * 1.3, 255).astype(np.uint8)
    np.testing.assert_array_equal(vision.AdjustGamma(2.2, 1.3)(levels), expected)
    np.testing.assert_allclose(vision.AdjustGamma(0.5)(FLOATS), FLOATS**0.5, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.tuples(*[st.floats(0, 1, width=32)] * 3))
def test_hsv_like_colorsys(pixel):
    array = np.array(pixel, np.float64).reshape(1, 1, 3)
    np.testing.assert_allclose(vision.RgbToHsv(True)(array)[0, 0], colorsys.rgb_to_hsv(*pixel), atol=1e-9)
    np.testing.assert_allclose(vision.HsvToRgb(True)(array)[0, 0], colorsys.hsv_to_rgb(*pixel), atol=1e-9)
    chw = array.transpose(2, 0, 1)
    np.testing.assert_allclose(vision.RgbToHsv()(chw)[:, 0, 0], colorsys.rgb_to_hsv(*pixel), atol=1e-9)


def test_convert_colour():
    np.testing.assert_array_equal(vision.ConvertColor(vision.ConvertMode.COLOR_RGB2BGR)(IMAGE), IMAGE[:, :, ::-1])
    assert vision.ConvertColor(vision.ConvertMode.COLOR_RGB2GRAY)(IMAGE).shape == (9, 11)
    with pytest.raises(RuntimeError, match="COLOR_GRAY2BGR does not fit"):
        vision.ConvertColor(vision.ConvertMode.COLOR_GRAY2RGB)(IMAGE)


def test_blur_keeps_a_flat_image_and_the_mean():
    flat = np.full((7, 7, 3), 80, np.uint8)
    np.testing.assert_array_equal(vision.GaussianBlur((3, 5), (1.0, 2.0))(flat), flat)
    impulse = np.zeros((9, 9), np.float32)
    impulse[4, 4] = 1
    assert vision.GaussianBlur(5, 1.0)(impulse).sum() == pytest.approx(1, abs=1e-5)


def test_random_strengths_at_fixed_values():
    np.testing.assert_array_equal(vision.RandomColor((0.4, 0.4))(IMAGE), vision.AdjustSaturation(0.4)(IMAGE))
    np.testing.assert_array_equal(vision.RandomPosterize(3)(IMAGE), vision.Posterize(3)(IMAGE))
    np.testing.assert_array_equal(vision.RandomColorAdjust()(IMAGE), IMAGE)
    np.testing.assert_array_equal(vision.RandomColorAdjust((0.5, 0.5))(IMAGE), vision.AdjustBrightness(0.5)(IMAGE))
    np.testing.assert_array_equal(vision.RandomLighting(0.0)(IMAGE), IMAGE)
    np.testing.assert_array_equal(vision.RandomEqualize(1.0)(IMAGE), vision.Equalize()(IMAGE))
    assert vision.RandomColorAdjust(brightness=0.3, hue=0.2).brightness == (0.7, 1.3)


# -- erase


def test_erase_and_cut_out():
    done = vision.Erase(1, 2, 3, 4, (9, 8, 7))(IMAGE)
    assert (done[1:4, 2:6] == (9, 8, 7)).all()
    kept = np.ones((9, 11), bool)
    kept[1:4, 2:6] = False
    np.testing.assert_array_equal(done[kept], IMAGE[kept])
    with pytest.raises(RuntimeError, match="too large"):
        vision.Erase(0, 0, 10, 1)(IMAGE)
    bright = np.full((9, 11, 3), 200, np.uint8)
    for _ in range(20):
        hole = (vision.CutOut(4)(bright) == 0).all(axis=2)
        rows, columns = np.flatnonzero(hole.any(axis=1)), np.flatnonzero(hole.any(axis=0))
        assert len(rows) <= 4 and len(columns) <= 4 and hole.sum() == len(rows) * len(columns)


def test_random_erasing_fills_a_rectangle():
    chw = np.ones((3, 20, 30), np.float32)
    op = vision.RandomErasing(1.0, (0.1, 0.2), value=(5, 6, 7))
    for seed in range(10):
        op.set_rng(np.random.default_rng(seed))
        done = op(chw)
        hole = done[0] == 5
        assert 0.05 < hole.mean() < 0.3
        assert (done[1][hole] == 6).all() and (done[2][hole] == 7).all() and (done[:, ~hole] == 1).all()
    assert (chw == 1).all()


# -- mixing and boxes


def test_mix_up_and_cut_mix_keep_label_mass():
    images = np.stack([np.zeros((6, 8, 3), np.uint8), np.full((6, 8, 3), 100, np.uint8)])
    labels = np.eye(2)
    for seed in range(8):
        mix = vision.MixUpBatch()
        mix.set_rng(np.random.default_rng(seed))
        mixed, soft = mix(images, labels)
        np.testing.assert_allclose(soft.sum(axis=1), 1, atol=1e-6)
        np.testing.assert_allclose(mixed.mean(axis=(1, 2, 3)), 100 * soft[:, 1], atol=0.6)
        cut = vision.CutMixBatch(ImageBatchFormat.NHWC)
        cut.set_rng(np.random.default_rng(seed))
        mixed, soft = cut(images, labels)
        np.testing.assert_allclose(mixed.mean(axis=(1, 2, 3)), 100 * soft[:, 1], atol=1e-4)
    nchw = images.transpose(0, 3, 1, 2).copy()
    untouched, _ = vision.CutMixBatch(ImageBatchFormat.NCHW, prob=0.0)(nchw, labels)
    np.testing.assert_array_equal(untouched, nchw)
    mixed, soft = vision.MixUp(2, 1.0)(images.astype(np.float64), labels)
    np.testing.assert_allclose(mixed.mean(axis=(1, 2, 3)), 100 * soft[:, 1])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((IMAGE,), "2 columns"),
        ((IMAGE, np.eye(2)), "<B,H,W,C>"),
        ((np.stack([IMAGE] * 2), np.array([0, 1])), "OneHot"),
        ((np.stack([IMAGE] * 2), np.eye(3)), "must be the same"),
    ],
)
def test_cut_mix_errors(columns, message):
    with pytest.raises(RuntimeError, match=message):
        vision.CutMixBatch(ImageBatchFormat.NHWC)(*columns)


def test_boxes_follow_the_image():
    image, boxes = vision.RandomHorizontalFlipWithBBox(1.0)(IMAGE, BOXES)
    np.testing.assert_array_equal(image, IMAGE[:, ::-1])
    np.testing.assert_allclose(boxes[:, 0], [11 - 1 - 4, 11 - 5 - 5])
    _, boxes = vision.RandomVerticalFlipWithBBox(1.0)(IMAGE, BOXES)
    np.testing.assert_allclose(boxes[:, 1], [9 - 2 - 3, 9 - 4 - 4])
    _, boxes = vision.ResizeWithBBox((18, 33))(IMAGE, BOXES)
    np.testing.assert_allclose(boxes, BOXES * [3, 2, 3, 2, 1])
    assert BOXES[0, 0] == 1, "the caller's boxes stay as they are"


def test_cropped_boxes_cover_the_same_pixels():
    marked = np.zeros((9, 11, 3), np.uint8)
    marked[2:5, 1:5] = 255
    for seed in range(20):
        op = vision.RandomCropWithBBox((6, 7))
        op.set_rng(np.random.default_rng(seed))
        image, boxes = op(marked, BOXES[:1])
        for x, y, width, height, _ in boxes.astype(int):
            assert (image[:, :, 0] > 0).sum() == width * height
            assert (image[y : y + height, x : x + width] == 255).all()


def test_box_augment_and_errors():
    image, _ = vision.BoundingBoxAugment(vision.Invert(), 1.0)(IMAGE, BOXES[:1])
    np.testing.assert_array_equal(image[2:5, 1:5], 255 - IMAGE[2:5, 1:5])
    np.testing.assert_array_equal(image[5:], IMAGE[5:])
    op = vision.RandomHorizontalFlipWithBBox(1.0)
    for boxes, message in (
        (np.array([[9, 2, 4, 3]], np.float32), "out of bounds"),
        (np.array([[-1, 2, 4, 3]], np.float32), "negative"),
        (np.array([[1, 2, 3]], np.float32), "at least 4 features"),
        (np.array([1, 2, 3, 4], np.float32), "two-dimensional"),
    ):
        with pytest.raises(RuntimeError, match=message):
            op(IMAGE, boxes)


# -- policies


def test_published_policies_are_complete():
    known = set(_COLOUR_OPERATIONS) | set(magnitude_ranges(False, (9, 11)))
    for policy in _POLICIES.values():
        assert len(policy) == 25
        for pair in policy:
            assert len(pair) == 2
            for name, chance, level in pair:
                assert name in known and 0 <= chance <= 1 and (level is None or 0 <= level <= 9)


@pytest.mark.parametrize("wide", [False, True])
def test_every_policy_operation_keeps_shape_and_type(wide):
    for name, limits in {**magnitude_ranges(wide, IMAGE.shape), "Equalize": (0, 0), "AutoContrast": (0, 0)}.items():
        for magnitude in limits:
            done = augment(IMAGE, name, magnitude, vision.Inter.NEAREST, (0, 0, 0))
            assert done.shape == IMAGE.shape and done.dtype == np.uint8
    np.testing.assert_array_equal(
        augment(IMAGE, "TranslateX", 2.0, vision.Inter.NEAREST, (0,) * 3)[:, 2:], IMAGE[:, :-2]
    )


# -- files


def test_files(tmp_path):
    png, jpeg, raw = (str(tmp_path / name) for name in ("a.png", "a.jpg", "a.bin"))
    vision.write_png(png, IMAGE)
    np.testing.assert_array_equal(vision.read_image(png), IMAGE)
    np.testing.assert_array_equal(
        vision.read_image(png, vision.ImageReadMode.GRAYSCALE)[:, :, 0], cv2.imread(png, cv2.IMREAD_GRAYSCALE)
    )
    vision.write_jpeg(jpeg, IMAGE, 90)
    np.testing.assert_array_equal(vision.read_file(jpeg), vision.encode_jpeg(IMAGE, 90))
    vision.write_file(raw, np.arange(5, dtype=np.uint8))
    assert vision.read_file(raw).tolist() == [0, 1, 2, 3, 4]
    assert vision.get_image_size(PIL) == [9, 11] and vision.get_image_num_channels(IMAGE[:, :, 0]) == 1
    with pytest.raises(RuntimeError, match="does not exist"):
        vision.read_image(str(tmp_path / "none"))
    with pytest.raises(RuntimeError, match="UINT8"):
        vision.encode_png(FLOATS)
    with pytest.raises(RuntimeError, match=r"quality 0.*\[1, 100\]"):
        vision.encode_jpeg(IMAGE, 0)
    with pytest.raises(RuntimeError, match="not a regular file"):
        vision.write_file(str(tmp_path), np.zeros(1, np.uint8))


def test_video(tmp_path):
    path = str(tmp_path / "v.avi")
    writer = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"MJPG"), 10, (32, 24))
    for level in range(0, 250, 50):
        writer.write(np.full((24, 32, 3), level, np.uint8))
    writer.release()
    video, sound, info = vision.read_video(path)
    assert video.shape == (5, 24, 32, 3) and sound.size == 0 and info["video_fps"] == pytest.approx(10)
    np.testing.assert_allclose(video.mean(axis=(1, 2, 3)), [0, 50, 100, 150, 200], atol=3)
    assert len(vision.read_video(path, 0.1, 0.3, "sec")[0]) == 3
    assert vision.read_video_timestamps(path)[0] == [0, 1, 2, 3, 4]
    frames, _ = vision.DecodeVideo()(vision.read_file(path))
    np.testing.assert_array_equal(frames, video)
    decoder = vision.VideoDecoder(path)
    assert decoder.metadata["num_frames"] == 5
    np.testing.assert_array_equal(decoder.get_frames_at([3, 0]), video[[3, 0]])
    with pytest.raises(ValueError, match=r"\[0, 5\)"):
        decoder.get_frames_at([5])
    with pytest.raises(RuntimeError, match="not a video"):
        vision.DecodeVideo()(np.zeros(100, np.uint8))


def test_compose_of_pil_images_gives_a_tuple():
    (image,) = transforms.Compose([vision.ToPIL(), vision.RandomGrayscale(1.0)])(IMAGE)
    assert isinstance(image, Image.Image)
    (array,) = transforms.Compose([vision.Resize((4, 5)), vision.ToTensor()])(PIL)
    assert array.shape == (3, 4, 5)
    assert transforms.Compose([vision.Resize((4, 5)), Image.fromarray, vision.HWC2CHW()])(IMAGE).shape == (3, 4, 5)


def test_old_modules():
    from mindspore.dataset.transforms.vision import c_transforms as older

    from mindspore.dataset.vision import c_transforms, py_transforms, py_transforms_util

    np.testing.assert_array_equal(c_transforms.Decode()(vision.encode_png(IMAGE)), IMAGE)
    assert isinstance(py_transforms.Decode()(vision.encode_png(IMAGE)), Image.Image)
    chw = py_transforms.ToTensor()(PIL)
    np.testing.assert_allclose(py_transforms.Normalize([0.5] * 3, [0.5] * 3)(chw), chw * 2 - 1, atol=1e-6)
    assert py_transforms.Cutout(2)(chw).shape == chw.shape
    assert older.HWC2CHW is vision.HWC2CHW
    assert py_transforms_util.is_pil(PIL) and not py_transforms_util.is_pil(IMAGE)


def test_random_adjustments_have_limits_and_defaults():
    with pytest.raises(ValueError, match="interval"):
        vision.RandomColorAdjust(hue=0.6)
    with pytest.raises(ValueError, match="interval"):
        vision.RandomColorAdjust(brightness=1e9)
    assert vision.RandomColor(None).degrees == vision.RandomSharpness(None).degrees == (0.1, 1.9)
    assert vision.RandomPosterize(None).bits == (8, 8)
