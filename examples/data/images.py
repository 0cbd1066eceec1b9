"""Photographs for training: decode, crop, flip, normalise, batch; what the engine makes of it; and how to go on after a stop.

python examples/data/images.py [FOLDER]      # a folder with a folder of pictures for each class; else some are drawn
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import mindspore.dataset as ds
from mindspore.dataset import vision

MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]


def drawn_pictures(folder: Path) -> str:
    """Forty pictures of two classes."""
    rng = np.random.default_rng(0)
    for label in ("dark", "bright"):
        (folder / label).mkdir()
        for i in range(20):
            pixels = rng.integers(0, 128, (120, 160, 3), dtype=np.uint8) + (128 if label == "bright" else 0)
            vision.write_jpeg(str(folder / label / f"{i}.jpg"), pixels.astype(np.uint8))
    return str(folder)


def training_data(folder: str) -> ds.Dataset:
    data = ds.ImageFolderDataset(folder, shuffle=True)
    crop = [vision.Decode(), vision.RandomResizedCrop(64), vision.RandomHorizontalFlip()]
    data = data.map([*crop, vision.Normalize(MEAN, STD), vision.HWC2CHW()], "image", num_parallel_workers=2)
    return data.batch(8, drop_remainder=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = sys.argv[1] if len(sys.argv) > 1 else drawn_pictures(Path(temporary))
        ds.config.set_seed(1)
        data = training_data(folder)
        ds.explain(data)

        batches = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        images, labels = next(batches)
        print(f"\na batch: {images.dtype}{list(images.shape)}, classes {labels.tolist()}")

        state = batches.state_dict()  # a few numbers: keep them beside a checkpoint
        expected = next(batches)[1].tolist()
        later = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        later.load_state_dict(state)
        print(f"the next batch: {expected}; after a restart: {next(later)[1].tolist()}")


if __name__ == "__main__":
    main()
