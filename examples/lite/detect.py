"""Object detection on the device: train a small detector, convert it, find shapes in pictures, a video or a camera.

    python examples/lite/detect.py                      # trains, converts, and draws boxes into detected_*.png
    python examples/lite/detect.py --model shapes.ms --source clip.mp4
    python examples/lite/detect.py --model shapes.ms --source 0        # the first camera; Esc ends

The detector looks at 96 x 96 pixels and answers on a grid of 12 x 12 cells: is an object's centre in this cell, where exactly, how large
is it, and what is it. Overlapping answers are thinned out (non-maximum suppression). The framework trains; the loop
over frames uses mindspore_lite alone.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np

SIZE, CELLS, STRIDE = 96, 12, 8
CLASSES = ("disc", "square", "triangle")
COLOURS = ((80, 200, 80), (80, 80, 220), (220, 140, 60))


class Box(NamedTuple):
    label: int
    score: float
    left: float
    top: float
    right: float
    bottom: float


# -- scenes ---------------------------------------------------------------------------------------------------------------
def scene(random: np.random.Generator, size: int = SIZE) -> tuple[np.ndarray, list[Box]]:
    """A noisy picture with one to three shapes, and where they are."""
    image = random.integers(0, 90, (size, size, 3)).astype(np.uint8)
    image = cv2.GaussianBlur(image, (5, 5), 0)
    boxes: list[Box] = []
    for _ in range(random.integers(1, 4)):
        radius = int(random.integers(8, 17) * size / SIZE)
        x, y = (int(v) for v in random.integers(radius + 1, size - radius - 1, 2))
        box = Box(int(random.integers(3)), 1.0, x - radius, y - radius, x + radius, y + radius)
        if any(overlap(box, other) > 0.05 for other in boxes):
            continue
        colour = tuple(int(v) for v in random.integers(120, 256, 3))
        if box.label == 0:
            cv2.circle(image, (x, y), radius, colour, -1)
        elif box.label == 1:
            cv2.rectangle(image, (x - radius, y - radius), (x + radius, y + radius), colour, -1)
        else:
            corners = np.array([[x, y - radius], [x - radius, y + radius], [x + radius, y + radius]])
            cv2.fillPoly(image, [corners], colour)
        boxes.append(box)
    return image, boxes


def overlap(a: Box, b: Box) -> float:
    """Intersection over union."""
    width = min(a.right, b.right) - max(a.left, b.left)
    height = min(a.bottom, b.bottom) - max(a.top, b.top)
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / ((a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - both)


# -- training -------------------------------------------------------------------------------------------------------------
def targets(boxes: list[Box]) -> tuple[np.ndarray, np.ndarray]:
    """What the network should answer, (8, cells, cells), and in which cells it matters."""
    wanted, there = np.zeros((5, CELLS, CELLS), np.float32), np.zeros((CELLS, CELLS), np.float32)
    for box in boxes:
        x, y = (box.left + box.right) / 2 / STRIDE, (box.top + box.bottom) / 2 / STRIDE
        i, j = int(y), int(x)
        there[i, j] = 1
        wanted[:, i, j] = x - j, y - i, np.log((box.right - box.left) / 32), np.log((box.bottom - box.top) / 32), box.label
    return wanted, there


def train(path: str, steps: int) -> None:
    """Train on scenes that are made on the way, and write a `.ms` file."""
    import mindspore as ms
    import mindspore_lite as mslite
    from mindspore import nn, ops

    class Detector(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            layers, inner = [], 3
            for outer, stride in ((16, 2), (32, 2), (48, 2), (64, 1), (64, 1)):
                layers += [nn.Conv2d(inner, outer, 3, stride, pad_mode="pad", padding=1), nn.BatchNorm2d(outer), nn.ReLU()]
                inner = outer
            self.body = nn.SequentialCell(layers)
            self.head = nn.Conv2d(inner, 5 + len(CLASSES), 1, has_bias=True)

        def construct(self, x: ms.Tensor) -> ms.Tensor:
            return self.head(self.body(x))

    net = Detector()
    optimizer = nn.Adam(net.trainable_params(), 2e-3)

    def loss(x: ms.Tensor, wanted: ms.Tensor, there: ms.Tensor) -> ms.Tensor:
        y = net(x)
        score = ops.binary_cross_entropy_with_logits(y[:, 0], there, ops.ones_like(there), 10 * ops.ones_like(there))
        count = there.sum() + 1
        place = ((y[:, 1:5] - wanted[:, :4]) ** 2 * there.expand_dims(1)).sum() / count
        names = ops.log_softmax(y[:, 5:], 1)
        right = ops.one_hot(wanted[:, 4].astype(ms.int32), len(CLASSES)).transpose(0, 3, 1, 2)
        return score + 2 * place - (names * right * there.expand_dims(1)).sum() / count

    step = ms.value_and_grad(loss, None, optimizer.parameters)
    random = np.random.default_rng(0)
    net.set_train()

    @ms.jit
    def learn(x: ms.Tensor, wanted: ms.Tensor, there: ms.Tensor) -> ms.Tensor:
        value, grads = step(x, wanted, there)
        optimizer(grads)
        return value

    for number in range(steps):
        scenes = [scene(random) for _ in range(16)]
        pictures = np.stack([prepared(image)[0] for image, _ in scenes])
        answers = [targets(boxes) for _, boxes in scenes]
        value = learn(ms.Tensor(pictures), ms.Tensor(np.stack([a for a, _ in answers])), ms.Tensor(np.stack([b for _, b in answers])))
        if number % 50 == 0:
            print(f"step {number:4}  loss {float(value):.3f}", flush=True)
    net.set_train(False)
    stem = path.removesuffix(".ms")
    ms.export(net, ms.Tensor(np.zeros((1, 3, SIZE, SIZE), np.float32)), file_name=stem, file_format="MINDIR")
    mslite.Converter().convert(mslite.FmkType.MINDIR, f"{stem}.mindir", stem)


# -- detection ------------------------------------------------------------------------------------------------------------
def prepared(image: np.ndarray) -> np.ndarray:
    small = cv2.resize(image, (SIZE, SIZE), interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(small.transpose(2, 0, 1)[None].astype(np.float32) / 128 - 1)


def decoded(answer: np.ndarray, threshold: float = 0.5) -> list[Box]:
    """Boxes in pixels of the network's picture, the surest first, none on top of another."""
    scores = 1 / (1 + np.exp(-answer[0]))
    found = []
    for i, j in zip(*np.nonzero(scores > threshold)):
        dx, dy, width, height = answer[1:5, i, j]
        x, y = (j + dx) * STRIDE, (i + dy) * STRIDE
        w, h = 16 * np.exp(np.clip(width, -4, 4)), 16 * np.exp(np.clip(height, -4, 4))
        found.append(Box(int(answer[5:, i, j].argmax()), float(scores[i, j]), x - w, y - h, x + w, y + h))
    found.sort(key=lambda box: -box.score)
    kept: list[Box] = []
    for box in found:
        if all(overlap(box, other) < 0.4 for other in kept):
            kept.append(box)
    return kept


class ShapeDetector:
    """A converted model and what stands around it."""

    def __init__(self, path: str):
        import mindspore_lite as mslite

        self.model = mslite.Model()
        self.model.build_from_file(path, mslite.ModelType.MINDIR_LITE)

    def __call__(self, image: np.ndarray) -> list[Box]:
        answer = self.model.predict([prepared(image)])[0].get_data_to_numpy()[0]
        high, wide = image.shape[0] / SIZE, image.shape[1] / SIZE
        return [b._replace(left=b.left * wide, right=b.right * wide, top=b.top * high, bottom=b.bottom * high) for b in decoded(answer)]


def drawn(image: np.ndarray, boxes: list[Box], milliseconds: float) -> np.ndarray:
    image = image.copy()
    for box in boxes:
        corners = (int(box.left), int(box.top)), (int(box.right), int(box.bottom))
        cv2.rectangle(image, *corners, COLOURS[box.label], 2)
        text = f"{CLASSES[box.label]} {box.score:.2f}"
        cv2.putText(image, text, (corners[0][0], max(corners[0][1] - 4, 12)), cv2.FONT_HERSHEY_SIMPLEX, 0.45, COLOURS[box.label], 1)
    cv2.putText(image, f"{milliseconds:.1f} ms", (4, image.shape[0] - 6), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (255, 255, 255), 1)
    return image


def frames(source: str, count: int) -> Iterator[np.ndarray]:
    """Scenes made here, or the frames of a video file or camera."""
    if not source:
        random = np.random.default_rng(1)
        for _ in range(count):
            yield scene(random, 288)[0]
        return
    video = cv2.VideoCapture(int(source) if source.isdigit() else source)
    if not video.isOpened():
        raise SystemExit(f"{source} is no video file or camera that can be opened")
    while True:
        there, frame = video.read()
        if not there:
            return
        yield frame


def main() -> None:
    parser = argparse.ArgumentParser(description="Finds discs, squares and triangles.")
    parser.add_argument("--model", default="shapes.ms", help="made first where it is not there")
    parser.add_argument("--source", default="", help="a video file, or the number of a camera; scenes made here otherwise")
    parser.add_argument("--steps", type=int, default=400, help="of training")
    parser.add_argument("--frames", type=int, default=6, help="scenes to look at")
    given = parser.parse_args()
    if not os.path.exists(given.model):
        train(given.model, given.steps)
    detector = ShapeDetector(given.model)
    for number, frame in enumerate(frames(given.source, given.frames)):
        start = time.perf_counter()
        boxes = detector(frame)
        picture = drawn(frame, boxes, (time.perf_counter() - start) * 1000)
        if given.source.isdigit():
            cv2.imshow("detect", picture)
            if cv2.waitKey(1) == 27:
                return
        else:
            cv2.imwrite(f"detected_{number:04}.png", picture)
            print(f"detected_{number:04}.png: {', '.join(f'{CLASSES[b.label]} {b.score:.2f}' for b in boxes) or 'nothing'}")


if __name__ == "__main__":
    main()
