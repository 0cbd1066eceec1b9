"""Objects in images: their boxes and classes, and for some networks their outlines.

Data is a folder of images with a file `annotations.json` as COCO writes them (images, annotations with bbox and category_id,
categories); or MNIST's files, of which digits are strewn over a dark canvas; or made up: squares and discs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import context
from mindspore.common.tensor import Tensor
from mindspore.dataset import vision
from mindspore.model_zoo.boxes import array_overlaps, keep_best
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.images import fitted, is_mnist, source
from mindspore.model_zoo.tasks.task import SYNTHETIC, OwnLoss, Task, decoded, existing
from mindspore.nn.cell import Cell

ROOM = 8  # objects of an image that made-up data has room for; COCO's files get the most that an image has
Scene = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Object = tuple[np.ndarray, int, np.ndarray]  # box, class, mask


class Detection(Task):
    name = "detection"
    wanted = "image files and annotations.json in COCO's form (its folder), or MNIST's idx files"
    figure = "mean average precision"

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return OwnLoss(net)

    def options(self, place: str) -> dict[str, Any]:
        if place == SYNTHETIC:
            return {}
        folder = self.folder(place)
        return {"num_classes": 10 if is_mnist(folder) else len(_annotations(folder)["categories"])}

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        channels, size, _ = net.takes[0].shape
        if place == SYNTHETIC:
            scene = shapes(limit or 512, net.num_classes, channels, size, int(training))
        elif is_mnist(self.folder(place)):
            if net.num_classes != 10:
                raise ValueError(f"MNIST has 10 classes, but the network was made for {net.num_classes}.")
            scene = strewn_digits(Path(place), limit or 2048, channels, size, training)
        else:
            scene = read_coco(self.folder(place), net.num_classes, channels, size, training, limit)
        columns = scene if getattr(net, "masks", False) else scene[:3]
        names = ["image", "boxes", "label", "masks"][: len(columns)]
        return ds.NumpySlicesDataset(columns, names, shuffle=training).batch(batch, drop_remainder=training)

    def evaluate(self, net: Cell, data: Any) -> float:
        """The mean over classes of the average precision, with objects found that overlap by half."""
        net.set_train(False)
        found, wanted = [], []
        for columns in data.create_tuple_iterator(num_epochs=1):
            with context.local_context(mode=context.PYNATIVE_MODE):
                boxes, scores = (t.asnumpy() for t in net.detect(columns[0])[:2])
            found += [keep_best(b, s) for b, s in zip(boxes, scores)]
            wanted += [(b[c >= 0], c[c >= 0]) for b, c in zip(columns[1].asnumpy(), columns[2].asnumpy())]
        if not wanted:
            raise ValueError("There is nothing to evaluate: the data has no rows.")
        classes = sorted({int(c) for _, label in wanted for c in label})
        return float(np.mean([average_precision(found, wanted, c) for c in classes]))

    def predict(self, net: Cell, file: str) -> str:
        channels, size, _ = net.takes[0].shape
        image = fitted(decoded(existing(file)), channels, size)
        net.set_train(False)
        with context.local_context(mode=context.PYNATIVE_MODE):
            boxes, scores = (t.asnumpy()[0] for t in net.detect(Tensor(image[None]))[:2])
        found = zip(*keep_best(boxes, scores, least=0.3))
        lines = [f"class {c}: {s:.3f} at {', '.join(f'{v:.0f}' for v in b)}" for b, s, c in found]
        return "\n".join(lines) or "nothing found"


def average_precision(found: list[Any], wanted: list[Any], kind: int) -> float:
    """The area under precision over recall of a class: objects in the order of their scores, each object found once."""
    claims = []  # (score, is an object that was not found before)
    total = 0
    for (boxes, scores, classes), (there, label) in zip(found, wanted):
        real = there[label == kind]
        total += len(real)
        left = np.ones(len(real), bool)
        for box, score in zip(boxes[classes == kind], scores[classes == kind]):
            fits = array_overlaps(box[None], real)[0] * left if len(real) else np.zeros(1)
            good = bool(fits.max() >= 0.5)
            if good:
                left[fits.argmax()] = False
            claims.append((float(score), good))
    right = np.cumsum([good for _, good in sorted(claims, key=lambda c: -c[0])])
    if not len(right):
        return 0.0
    precision = right / np.arange(1, len(right) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    return float((precision * np.diff(right, prepend=0)).sum() / total)


def shapes(count: int, classes: int, channels: int, size: int, seed: int) -> Scene:
    """Up to three objects on noise: squares and discs alternate with the class, brighter with every second one."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size] + 0.5

    def paint(kind: int, box: np.ndarray) -> np.ndarray:
        if kind % 2 == 0:
            return (x >= box[0]) & (x < box[2]) & (y >= box[1]) & (y < box[3])
        middle, radius = (box[:2] + box[2:]) / 2, (box[2:] - box[:2]) / 2
        return ((x - middle[0]) / radius[0]) ** 2 + ((y - middle[1]) / radius[1]) ** 2 < 1

    def scenes() -> Iterator[tuple[np.ndarray, list[Object]]]:
        for _ in range(count):
            canvas = 0.1 * rng.standard_normal((size, size))
            objects: list[Object] = []
            for box in _places(rng, size, 3):
                kind = int(rng.integers(classes))
                mask = paint(kind, box)
                canvas[mask] += 1 + kind // 2
                objects.append((box, kind, mask))
            yield canvas, objects

    return _stacked(scenes(), channels, size, ROOM)


def strewn_digits(folder: Path, count: int, channels: int, size: int, training: bool) -> Scene:
    """Up to three of MNIST's digits on a dark canvas, at about a third of its size."""
    rng = np.random.default_rng(int(training))
    digits = source(folder, training).create_tuple_iterator(num_epochs=1, output_numpy=True)

    def scenes() -> Iterator[tuple[np.ndarray, list[Object]]]:
        for _ in range(count):
            canvas = np.zeros((size, size))
            objects: list[Object] = []
            for box in _places(rng, size, 3):
                image, kind = next(digits)
                left, top, right, bottom = box.astype(int)
                image = vision.Resize((bottom - top, right - left))(image.astype(np.uint8)).reshape(bottom - top, right - left)
                canvas[top:bottom, left:right] = image / 255.0
                mask = np.zeros((size, size), bool)
                mask[top:bottom, left:right] = image > 127
                objects.append((np.array([left, top, right, bottom], np.float32), int(kind), mask))
            yield canvas, objects

    return _stacked(scenes(), channels, size, ROOM)


def _places(rng: np.random.Generator, size: int, most: int) -> list[np.ndarray]:
    """Up to `most` boxes that hardly overlap."""
    found: list[np.ndarray] = []
    for _ in range(int(rng.integers(1, most + 1))):
        side = np.round(rng.uniform(0.25, 0.45, 2) * size)
        corner = np.round(rng.uniform(0, size - side))
        box = np.concatenate((corner, corner + side)).astype(np.float32)
        if not found or array_overlaps(box[None], np.stack(found)).max() < 0.05:
            found.append(box)
    return found


def _stacked(scenes: Iterator[tuple[np.ndarray, list[Object]]], channels: int, size: int, room: int) -> Scene:
    """Columns of images (N, C, H, W), boxes (N, room, 4), labels (N, room; −1: none), masks (N, room, H, W)."""
    columns: tuple[list[np.ndarray], ...] = ([], [], [], [])
    for canvas, objects in scenes:
        image = canvas[None].repeat(channels, 0) if canvas.ndim == 2 else canvas
        boxes, label = np.zeros((room, 4), np.float32), np.full(room, -1, np.int32)
        masks = np.zeros((room, size, size), np.float32)
        for i, (box, kind, mask) in enumerate(objects[:room]):
            boxes[i], label[i], masks[i] = box, kind, mask
        for column, value in zip(columns, (image.astype(np.float32), boxes, label, masks)):
            column.append(value)
    if not columns[0]:
        raise ValueError("The data has no images.")
    return tuple(np.stack(column) for column in columns)  # type: ignore[return-value]


def _annotations(folder: Path) -> dict[str, Any]:
    file = folder / "annotations.json"
    if not file.is_file():
        raise ValueError(f"In '{folder}' there must be {Detection.wanted}.")
    try:
        stored = json.loads(file.read_text())
    except ValueError as error:
        raise ValueError(f"'{file}' is no JSON: {error}.") from None
    missing = [k for k in ("images", "annotations", "categories") if k not in stored]
    if missing:
        raise ValueError(f"'{file}' lacks '{missing[0]}', which COCO's files have.")
    return stored


def read_coco(folder: Path, classes: int, channels: int, size: int, training: bool, limit: int) -> Scene:
    """Images scaled to size × size; every tenth is for testing. Outlines are read from polygons, or are the boxes."""
    stored = _annotations(folder)
    kinds = {c["id"]: i for i, c in enumerate(sorted(stored["categories"], key=lambda c: c["id"]))}
    if len(kinds) != classes:
        raise ValueError(f"The data at '{folder}' has {len(kinds)} classes, but the network was made for {classes}.")
    chosen = [image for i, image in enumerate(stored["images"]) if (i % 10 == 9) != training][: limit or None]
    of_image: dict[Any, list[Any]] = {image["id"]: [] for image in chosen}
    for note in stored["annotations"]:
        if note["image_id"] in of_image and note["category_id"] in kinds:
            of_image[note["image_id"]].append(note)

    def scenes() -> Iterator[tuple[np.ndarray, list[Object]]]:
        for image in chosen:
            pixels = vision.Decode()(np.fromfile(folder / image["file_name"], np.uint8))
            scale = np.array([size / pixels.shape[1], size / pixels.shape[0]] * 2, np.float32)
            objects: list[Object] = []
            for note in of_image[image["id"]]:
                left, top, wide, high = note["bbox"]
                box = np.array([left, top, left + wide, top + high], np.float32) * scale
                objects.append((box, kinds[note["category_id"]], _outline(note, box, scale, size)))
            yield fitted(pixels, channels, size), objects

    return _stacked(scenes(), channels, size, max(1, *(len(notes) for notes in of_image.values())))


def _outline(note: dict[str, Any], box: np.ndarray, scale: np.ndarray, size: int) -> np.ndarray:
    """The mask of an object: pixels whose centres are inside its polygons by the even-odd rule."""
    y, x = np.mgrid[:size, :size] + 0.5
    polygons = note.get("segmentation")
    if not isinstance(polygons, list) or not polygons:
        return (x >= box[0]) & (x < box[2]) & (y >= box[1]) & (y < box[3])
    inside = np.zeros((size, size), bool)
    for flat in polygons:
        points = np.asarray(flat, np.float64).reshape(-1, 2) * scale[:2]
        odd = np.zeros((size, size), bool)
        for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, 0)):
            crossed = (y0 > y) != (y1 > y)
            if y0 != y1:
                odd ^= crossed & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
        inside |= odd
    return inside

