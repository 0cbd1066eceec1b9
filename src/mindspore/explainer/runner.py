"""Explanations of many images, written into a folder that MindInsight shows.

    folder/events.out.events.summary.{time}.{host}_explain     names, samples, scores
    folder/explain_{time}/{sample}.png                         images
    folder/explain_{time}/{sample}_{class}_{method}.png        maps, drawn over them
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindspore._base.optional import require
from mindspore.common.tensor import Tensor
from mindspore.explainer import _network as nets
from mindspore.explainer.benchmark import Localization, Measure
from mindspore.explainer.explanation import Attribution
from mindspore.formats.events import messages as m
from mindspore.formats.events.event_file import EventFile
from mindspore.nn import Cell

__all__ = ["ImageClassificationRunner"]
_LIKELY = 0.5  # classes with such a probability are explained, too
#: from nothing to much, readable for the colour-blind (cividis)
_COLOURS = np.array([[0, 34, 78], [59, 73, 108], [112, 113, 115], [165, 156, 116], [254, 232, 56]], np.float32)


class ImageClassificationRunner:
    """Explains what a network says of images.

    Args:
        summary_dir (str): the folder to write to.
        data (tuple): a data set that yields images (N, C, H, W), with or without their classes (N,), and the names of the classes.
        network (Cell): gives (N, classes).
        activation_fn (Cell): makes probabilities of the network's results, such as `nn.Softmax()`.

    Examples:
        >>> from mindspore import dataset as ds
        >>> from mindspore.explainer import ImageClassificationRunner
        >>> from mindspore.explainer.explanation import Gradient
        >>> data = ds.NumpySlicesDataset({"image": np.ones((2, 3, 4, 4), np.float32), "label": np.array([0, 1])}).batch(2)
        >>> net = nn.SequentialCell(nn.Flatten(), nn.Dense(48, 2))
        >>> runner = ImageClassificationRunner("./explained", (data, ["cat", "dog"]), net, nn.Softmax())
        >>> runner.register_saliency([Gradient(net)])
        >>> runner.run()
    """

    def __init__(self, summary_dir: str, data: tuple[Any, Sequence[str]], network: Cell, activation_fn: Cell) -> None:
        if not isinstance(data, tuple) or len(data) != 2 or not all(isinstance(name, str) for name in data[1]):
            raise TypeError("'data' should be a data set and a list of the classes' names.")
        self.folder = Path(summary_dir)
        self.data, self.labels = data[0], list(data[1])
        self.network, self.activation_fn = nets.check_network(network), activation_fn
        self._explainers: list[Attribution] = []
        self._measures: list[Measure] = []

    def register_saliency(self, explainers: Sequence[Attribution], benchmarkers: Sequence[Measure] | None = None) -> None:
        """The methods to use, and the measures of their quality."""
        if not explainers or not all(isinstance(one, Attribution) for one in explainers):
            raise TypeError("'explainers' should be a list of methods of mindspore.explainer.explanation.")
        if any(not isinstance(one, Measure) or isinstance(one, Localization) for one in benchmarkers or ()):
            raise TypeError("'benchmarkers' should be a list of measures of mindspore.explainer.benchmark; Localization needs masks: "
                            "call its `evaluate`.")  # fmt: skip
        names = [type(one).__name__ for one in explainers]
        if len(set(names)) < len(names):
            raise ValueError(f"'explainers' has a method twice: {', '.join(names)}.")
        self._explainers, self._measures = list(explainers), list(benchmarkers or ())

    def run(self) -> None:
        """Explain all images."""
        if not self._explainers:
            raise RuntimeError("Nothing to do: call register_saliency first.")
        image = require("PIL.Image", "data", "writing images")
        now = time.time()
        pictures = self.folder / f"explain_{int(now)}"
        pictures.mkdir(parents=True, exist_ok=True)
        file = EventFile(str(self.folder / f"events.out.events.summary.{int(now)}.{socket.gethostname()}_explain"), now)
        scores: dict[tuple[str, str], list[tuple[np.ndarray, np.ndarray]]] = {}
        try:
            self._write(file, m.ExplainRecord(metadata=self._metadata()))
            number = 0
            for images, truth in _batches(self.data):
                records = self._explained(images, truth, number, pictures, image, scores)
                for record in records:
                    self._write(file, record)
                number += len(records)
            self._write(file, m.ExplainRecord(benchmark=[self._score(*names, found) for names, found in scores.items()], status="end"))
        finally:
            file.close()

    @staticmethod
    def _write(file: EventFile, record: m.ExplainRecord) -> None:
        file.write(m.ExplainEvent(wall_time=time.time(), explain=record).encode())

    def _metadata(self) -> m.ExplainMetadata:
        return m.ExplainMetadata(label=self.labels, explain_method=[type(e).__name__ for e in self._explainers],
                                 benchmark_method=[type(b).__name__ for b in self._measures])  # fmt: skip

    def _explained(self, images: Tensor, truth: np.ndarray | None, first: int, folder: Path, image: Any,
                   scores: dict[tuple[str, str], list[tuple[np.ndarray, np.ndarray]]]) -> list[m.ExplainRecord]:  # fmt: skip
        with nets.eagerly(self.network):
            probabilities = self.activation_fn(self.network(images)).asnumpy()
        plain = [_picture(one) for one in images.asnumpy()]
        known = [None] * len(plain) if truth is None else [int(label) for label in truth]
        records = [self._record(first + i, probabilities[i], label, folder) for i, label in enumerate(known)]
        for record, pixels in zip(records, plain):
            image.fromarray(pixels).save(self.folder / record.image_path)
        best = probabilities.argmax(1) if truth is None else truth
        for explainer in self._explainers:
            name = type(explainer).__name__
            for label in range(probabilities.shape[1]):
                wanted = [i for i, r in enumerate(records) if label in _classes(r)]
                if not wanted:
                    continue
                maps = explainer(Tensor(images.asnumpy()[wanted]), label, ret="numpy")
                for i, saliency in zip(wanted, maps):
                    path = f"{folder.name}/{first + i}_{label}_{name}.png"
                    image.fromarray(_overlay(plain[i], saliency[0])).save(self.folder / path)
                    records[i].explanation.append(m.ExplanationRecord(explain_method=name, label=label, heatmap_path=path))
            for measure in self._measures:
                found = measure.evaluate(explainer, images, best)
                scores.setdefault((type(measure).__name__, name), []).append((found, np.asarray(best)))
        return records

    def _record(self, number: int, probabilities: np.ndarray, truth: int | None, folder: Path) -> m.ExplainRecord:
        likely = [int(i) for i in np.argsort(-probabilities) if probabilities[i] >= _LIKELY] or [int(probabilities.argmax())]
        known = [] if truth is None else [truth]
        inference = m.InferenceRecord(predicted_label=likely, predicted_prob=[float(probabilities[i]) for i in likely],
                                      ground_truth_prob=[float(probabilities[i]) for i in known])  # fmt: skip
        return m.ExplainRecord(sample_id=number, image_path=f"{folder.name}/{number}.png", ground_truth_label=known, inference=inference,
                               explanation=[])  # fmt: skip

    def _score(self, measure: str, explainer: str, found: list[tuple[np.ndarray, np.ndarray]]) -> m.BenchmarkRecord:
        values, classes = (np.concatenate(part) for part in zip(*found))
        by_label = [float(values[classes == i].mean()) if (classes == i).any() else float("nan") for i in range(len(self.labels))]
        return m.BenchmarkRecord(benchmark_method=measure, explain_method=explainer, total_score=float(values.mean()), label_score=by_label)


def _classes(record: m.ExplainRecord) -> set[int]:
    return {*record.ground_truth_label, *record.inference.predicted_label}


def _batches(data: Iterable[Any]) -> Iterable[tuple[Tensor, np.ndarray | None]]:
    rows = data.create_tuple_iterator(num_epochs=1) if hasattr(data, "create_tuple_iterator") else data
    for row in rows:
        images, *rest = row if isinstance(row, (tuple, list)) else (row,)
        images = nets.check_images(images if isinstance(images, Tensor) else Tensor(np.asarray(images)))
        yield images, nets.check_targets(rest[0], images.shape[0]) if rest else None


def _picture(image: np.ndarray) -> np.ndarray:
    """Pixels as they are seen: (H, W, 3) between 0 and 255, whatever range the network wants."""
    low, high = float(image.min()), float(image.max())
    scaled = (image.astype(np.float32) - low) * (255 / (high - low) if high > low else 1)
    return np.broadcast_to(scaled if len(image) == 3 else scaled[:1], (3, *image.shape[1:])).transpose(1, 2, 0).astype(np.uint8)


def _overlay(pixels: np.ndarray, saliency: np.ndarray) -> np.ndarray:
    """A map in colours over its image: the more it counts, the less of the image is seen. Opaque, with an alpha channel:
    MindInsight colours maps that have none."""
    low, high = float(saliency.min()), float(saliency.max())
    share = (saliency - low) / (high - low) if high > low else np.zeros_like(saliency)
    place = share * (len(_COLOURS) - 1)
    below = np.minimum(place.astype(int), len(_COLOURS) - 2)
    rest = (place - below)[..., None]
    colours = _COLOURS[below] * (1 - rest) + _COLOURS[below + 1] * rest
    weight = (0.35 + 0.45 * share)[..., None]
    blended = (pixels * (1 - weight) + colours * weight).astype(np.uint8)
    return np.concatenate([blended, np.full_like(blended[..., :1], 255)], axis=-1)
