"""The files the loaders read: a JPEG folder, MNIST-like IDX files, MindRecord and TFRecord files."""

import os
import struct
import sys
from pathlib import Path

import numpy as np
from PIL import Image

SIDES = (500, 375)


def photos(folder: Path, count: int, source: str) -> None:
    """`count` JPEG files around 500 x 375 in ten class folders, cut from real images or drawn."""
    target = folder / "jpeg"
    if target.is_dir():
        return
    rng = np.random.default_rng(0)
    pictures = [Image.open(path).convert("RGB") for path in _image_paths(source)] if source else []
    for i in range(count):
        width, height = SIDES[0] + int(rng.integers(-40, 40)), SIDES[1] + int(rng.integers(-40, 40))
        picture = _cut(pictures[i % len(pictures)], width, height, rng) if pictures else _drawn(width, height, rng)
        place = target / f"class{i % 10}"
        place.mkdir(parents=True, exist_ok=True)
        picture.save(place / f"{i:06d}.jpg", quality=90)


def _image_paths(source: str) -> list[str]:
    found = [os.path.join(base, name) for base, _, names in os.walk(source) for name in names]
    return sorted(path for path in found if path.lower().endswith((".jpg", ".jpeg", ".png")))[:50]


def _cut(picture: Image.Image, width: int, height: int, rng: np.random.Generator) -> Image.Image:
    share = rng.uniform(0.4, 1.0)
    w, h = int(picture.width * share), int(picture.height * share)
    x, y = int(rng.integers(0, picture.width - w + 1)), int(rng.integers(0, picture.height - h + 1))
    return picture.crop((x, y, x + w, y + h)).resize((width, height), Image.BILINEAR)


def _drawn(width: int, height: int, rng: np.random.Generator) -> Image.Image:
    """Noise of several scales: about as hard to decode as a photograph."""
    total = np.zeros((height, width, 3))
    for cells in (3, 9, 27, 81):
        noise = Image.fromarray(rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        total += np.asarray(noise.resize((width, height), Image.BICUBIC)) / cells**0.4
    return Image.fromarray((total / total.max() * 255).astype(np.uint8))


def digits(folder: Path) -> None:
    """60,000 images of 28 x 28 in MNIST's format."""
    target = folder / "mnist"
    if target.is_dir():
        return
    target.mkdir(parents=True)
    rng = np.random.default_rng(1)
    images, labels = rng.integers(0, 256, (60000, 28, 28), dtype=np.uint8), rng.integers(0, 10, 60000, dtype=np.uint8)
    (target / "train-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, 60000, 28, 28) + images.tobytes())
    (target / "train-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, 60000) + labels.tobytes())


def records(folder: Path) -> None:
    """50,000 rows of 1 KB, as MindRecord and as TFRecord."""
    from mindspore.mindrecord import FileWriter
    from mindspore.mindrecord.tfrecord import TFRecordWriter, encode_example

    if (folder / "rows.mindrecord").is_file() and (folder / "rows.tfrecord").is_file():
        return
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 256, (50000, 1024), dtype=np.uint8)
    writer = FileWriter(str(folder / "rows.mindrecord"), 1, overwrite=True)
    writer.add_schema({"data": {"type": "bytes"}, "label": {"type": "int32"}}, "rows")
    writer.write_raw_data([{"data": row.tobytes(), "label": i % 10} for i, row in enumerate(rows)])
    writer.commit()
    with TFRecordWriter(str(folder / "rows.tfrecord")) as records_writer:
        for i, row in enumerate(rows):
            records_writer.write(encode_example({"data": row.tobytes(), "label": i % 10}))


if __name__ == "__main__":
    base = Path(sys.argv[1])
    base.mkdir(parents=True, exist_ok=True)
    photos(base, int(sys.argv[2]), sys.argv[3])
    digits(base)
    records(base)
