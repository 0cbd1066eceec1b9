"""SummaryLandscape: the loss around the path that training took.

The weights of a network are a point in a space of very many dimensions; the loss is drawn over a plane through it.
For the training process the plane is spanned by the two principal directions of the checkpoints (PCA), so that the path
lies in it as well as it can; for the result it is spanned by two random directions whose parts have the lengths of
the weights they belong to ("filter normalisation": Li et al., Visualizing the Loss Landscape of Neural Nets, 2018).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.formats.events.messages import LandscapeMetadata, LandscapePoints, LossLandscape, LossPath
from mindspore.train._checkpoint.load import load_checkpoint
from mindspore.train.summary.landscape_plan import FOLDER, check_landscape, read_metadata, write_metadata
from mindspore.train.summary.summary_record import SummaryRecord
from mindspore.train.summary.values import tensor

_MARGIN = 0.2  # of the path's extent, on each side


class SummaryLandscape:
    """Draws loss landscapes from what a SummaryCollector with `collect_landscape` has stored.

    Args:
        summary_dir: the folder of the collector.

    Examples:
        >>> train.SummaryLandscape("summary").__class__.__name__
        'SummaryLandscape'
    """

    def __init__(self, summary_dir: str):
        self._summary_dir = os.path.realpath(summary_dir)
        self._folder = os.path.join(self._summary_dir, FOLDER)
        os.makedirs(self._folder, exist_ok=True)

    def gen_landscapes_with_multi_process(
        self,
        callback_fn: Callable[[], tuple],
        collect_landscape: dict | None = None,
        device_ids: list[int] | None = None,
        output: str | None = None,
    ) -> None:
        """Compute the landscapes and write them to an event file.

        Args:
            callback_fn: returns model, network, dataset and metrics (with the entry "Loss"), in this order.
            collect_landscape: settings that replace the stored ones.
            device_ids: accepted; the losses are computed in this process.
            output: the folder of the event file; default: that of the collector.
        """
        if device_ids is not None and not (
            isinstance(device_ids, list) and all(isinstance(d, int) for d in device_ids)
        ):
            raise TypeError(f"For 'SummaryLandscape', 'device_ids' must be a list of ints, but got {device_ids!r}.")
        plan, files, steps = read_metadata(self._folder)
        if collect_landscape is not None:
            given = {
                k: v
                for k, v in check_landscape("SummaryLandscape", collect_landscape).items()
                if k in collect_landscape
            }
            plan |= given
            write_metadata(self._folder, plan, files, steps)
        with SummaryRecord(self._summary_dir if output is None else output) as record:
            for interval, landscape in self._landscapes(callback_fn, plan, files, steps):
                record.add_value("landscape", f"landscape_{interval}", landscape)
                record.record(0)

    def clean_ckpt(self) -> None:
        """Remove the checkpoints."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _landscapes(
        self, callback_fn: Callable, plan: dict[str, Any], files: dict[str, str], steps: int
    ) -> Iterator[tuple[list[int], LossLandscape]]:
        surface = Surface(callback_fn, plan["num_samples"])
        unit, size = plan["unit"], plan["landscape_size"]
        intervals = plan["intervals"] or []
        if plan["create_landscape"]["train"]:
            for interval in intervals:
                made = _along_the_path(surface, [_weights(files, n, surface) for n in interval], interval, size)
                made.metadata = LandscapeMetadata(decomposition="PCA", unit=unit, step_per_epoch=steps)
                yield [interval[0], interval[-1]], made
        if plan["create_landscape"]["result"] and intervals:
            last = intervals[-1][-1]
            made = _around(surface, _weights(files, last, surface), size)
            made.metadata = LandscapeMetadata(decomposition="Random", unit=unit, step_per_epoch=steps)
            yield [last], made


class Surface:
    """The loss as a function of the weights, which are one long vector here."""

    def __init__(self, callback_fn: Callable[[], tuple], samples: int):
        self.model, self.network, dataset, metrics = callback_fn()
        names = [name for name in metrics if name.lower() == "loss"]
        if not names:
            raise ValueError(
                "For 'SummaryLandscape', the metrics that 'callback_fn' returns must have the entry 'Loss'."
            )
        self._name = names[0]
        self._dataset = dataset.take(max(samples // max(dataset.get_batch_size(), 1), 1))
        self.parameters = self.network.trainable_params()

    def flat(self, arrays: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.asarray(a, np.float64).reshape(-1) for a in arrays])

    def loss(self, weights: np.ndarray) -> float:
        start = 0
        for parameter in self.parameters:
            part = weights[start : start + parameter.size].reshape(parameter.shape)
            parameter.set_data(Tensor(part.astype(parameter.asnumpy().dtype)))
            start += parameter.size
        return float(np.asarray(self.model.eval(self._dataset)[self._name]))

    def losses(self, origin: np.ndarray, directions: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The loss at origin + x directions[0] + y directions[1], over the grid of all x and y."""
        return np.array([[self.loss(origin + a * directions[0] + b * directions[1]) for a in x] for b in y])


def _weights(files: dict[str, str], number: int, surface: Surface) -> np.ndarray:
    if str(number) not in files:
        raise ValueError(
            f"For 'SummaryLandscape', there is no checkpoint of number {number}; there are {sorted(files)}."
        )
    stored: dict[str, Any] = load_checkpoint(files[str(number)])
    return surface.flat([stored[p.name].asnumpy() for p in surface.parameters])


def _along_the_path(surface: Surface, path: list[np.ndarray], interval: list[int], size: int) -> LossLandscape:
    origin = path[-1]
    if not np.isfinite(path).all():
        raise ValueError("For 'SummaryLandscape', the weights of the checkpoints must be finite, but some are NaN or infinite.")
    moved = np.stack(path) - origin
    directions = np.linalg.svd(moved - moved.mean(0), full_matrices=False)[2][:2]
    x, y = moved @ directions[0], moved @ directions[1]
    losses = np.array([surface.loss(origin + a * directions[0] + b * directions[1]) for a, b in zip(x, y)])
    grid_x, grid_y = _axis(x, size), _axis(y, size)
    return LossLandscape(
        landscape=_points(grid_x, grid_y, surface.losses(origin, directions, grid_x, grid_y)),
        loss_path=LossPath(intervals=interval, points=_points(x, y, losses)),
        convergence_point=_points(x[-1:], y[-1:], losses[-1:]),
    )


def _axis(coordinates: np.ndarray, size: int) -> np.ndarray:
    low, high = float(coordinates.min()), float(coordinates.max())
    margin = _MARGIN * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, size)


def _around(surface: Surface, weights: np.ndarray, size: int) -> LossLandscape:
    generator = np.random.default_rng(0)
    directions = np.stack([_like_the_weights(generator, weights, surface) for _ in range(2)])
    axis = np.linspace(-1.0, 1.0, size)
    here = np.array([surface.loss(weights)])
    return LossLandscape(
        landscape=_points(axis, axis, surface.losses(weights, directions, axis, axis)),
        convergence_point=_points(np.zeros(1), np.zeros(1), here),
    )


def _like_the_weights(generator: np.random.Generator, weights: np.ndarray, surface: Surface) -> np.ndarray:
    """A random direction; each filter (row of a weight) is as long as that of the weights."""
    direction = generator.standard_normal(weights.size)
    start = 0
    for parameter in surface.parameters:
        stop = start + parameter.size
        rows = parameter.shape[0] if parameter.ndim > 1 else 1
        part, own = direction[start:stop].reshape(rows, -1), weights[start:stop].reshape(rows, -1)
        part *= np.linalg.norm(own, axis=1, keepdims=True) / (np.linalg.norm(part, axis=1, keepdims=True) + 1e-10)
        start = stop
    return direction


def _points(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> LandscapePoints:
    return LandscapePoints(**{name: tensor("", a.astype(np.float32)).tensor for name, a in zip("xyz", (x, y, z))})
