"""Damaged images and sounds give a documented error, never one of the library that reads them."""

import wave

import numpy as np
import pytest

from mindspore.dataset import vision
from mindspore.dataset.sources.sound import read_sphere, read_wave


def damaged(data, seed, count):
    """Copies with flipped bytes, cut short, or with a piece moved."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        changed = bytearray(data)
        if i % 3 == 0:
            for at in rng.integers(0, len(changed), rng.integers(1, 12)).tolist():
                changed[at] ^= 1 << int(rng.integers(8))
        elif i % 3 == 1:
            del changed[int(rng.integers(len(changed))) :]
        else:
            start, end = sorted(rng.integers(0, len(changed), 2).tolist())
            changed[start:end] = changed[: end - start]
        yield bytes(changed)


@pytest.mark.parametrize("encode", [vision.encode_jpeg, vision.encode_png])
def test_damaged_images(encode, tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    path = tmp_path / "image"
    refused = 0
    for data in damaged(encode(pixels).tobytes(), 1, 90):
        path.write_bytes(data)
        encoded = np.frombuffer(data, np.uint8)
        for read in (lambda: vision.read_image(str(path)), lambda: vision.Decode()(encoded),  # noqa: B023
                     lambda: vision.Decode(to_pil=True)(encoded)):  # noqa: B023 # fmt: skip
            try:
                assert read() is not None
            except (RuntimeError, ValueError):
                refused += 1
    assert refused > 20


def test_damaged_sounds(tmp_path):
    path = str(tmp_path / "sound.wav")
    with wave.open(path, "wb") as stream:
        stream.setnchannels(2)
        stream.setsampwidth(2)
        stream.setframerate(8000)
        stream.writeframes(np.arange(64, dtype="<i2").tobytes())
    with open(path, "rb") as stream:
        whole = stream.read()
    refused = 0
    for data in damaged(whole[:60], 2, 300):
        with open(path, "wb") as stream:
            stream.write(data)
        try:
            waveform, _ = read_wave(path)
            assert waveform.dtype == np.float32
        except RuntimeError as error:
            assert "sound.wav" in str(error)
            refused += 1
    assert refused > 50


@pytest.mark.parametrize("head", [b"NIST_1A", b"NIST_1A\nx\n", b"NIST_1A\n-5\n", b"NIST_1A\n99\nsample_n_bytes -i 9 \n"])
def test_damaged_sphere_headers(head, tmp_path):
    (tmp_path / "a.sph").write_bytes(head + b"\0" * 20)
    with pytest.raises(RuntimeError, match=r"a\.sph"):
        read_sphere(str(tmp_path / "a.sph"))
