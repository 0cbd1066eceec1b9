"""Distances between the surfaces of two segmented shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base.optional import require
from mindspore.train.metrics.metric import Metric, as_array, check_choice, check_count, check_type, rearrange_inputs

_DISTANCES = ("euclidean", "chessboard", "taxicab")


class _SurfaceMetric(Metric):
    """Finds the edges of the shapes with label `label_idx` in predictions and labels."""

    def __init__(self, distance_metric: str):
        super().__init__()
        self.distance_metric = check_choice(type(self).__name__, "distance_metric", distance_metric, _DISTANCES)
        self.clear()

    def clear(self) -> None:
        self._y_pred_edges: Any = 0
        self._y_edges: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        name = type(self).__name__
        check_count(self, inputs, 3, "predicted value, true value, label index")
        y_pred, y, label = as_array(inputs[0]), as_array(inputs[1]), inputs[2]
        if not isinstance(label, (int, float)):
            raise self._bad_label(f"For '{name}.update', the label index must be a number, but got {type(label)}.")
        if y_pred.size == 0 or y_pred.shape != y.shape:
            raise ValueError(
                f"For '{name}.update', predictions and labels must have one shape and not be empty, "
                f"but got {y_pred.shape} and {y.shape}."
            )
        if label not in y_pred and label not in y:
            raise ValueError(f"For '{name}.update', {label} occurs neither in the predictions nor in the labels.")
        masks = (a if a.dtype == np.bool_ else a == label for a in (y_pred, y))
        self._y_pred_edges, self._y_edges = self._edges(*masks)
        self._is_update = True

    def _bad_label(self, message: str) -> Exception:
        return ValueError(message)

    def _edges(self, y_pred: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _edge(y_pred), _edge(y)

    def _distances(self, of: np.ndarray, to: np.ndarray) -> np.ndarray:
        """How far each edge point of one shape lies from the other shape's edge."""
        if not of.any():
            return np.array([])
        if not to.any():
            return np.full(int(of.sum()), np.inf)
        ndimage = _ndimage()
        if self.distance_metric == "euclidean":
            return ndimage.distance_transform_edt(~to)[of]
        return ndimage.distance_transform_cdt(~to, metric=self.distance_metric)[of]

    def _need_update(self) -> None:
        if not self._is_update:
            raise RuntimeError(f"For '{type(self).__name__}', call 'update' before 'eval'.")

    def _mean(self, of: np.ndarray, to: np.ndarray, power: int) -> Any:
        distances = self._distances(of, to)
        return np.inf if distances.size == 0 else (distances**power).mean()


class HausdorffDistance(_SurfaceMetric):
    """The greatest distance from a point of one surface to the other surface.

    Args:
        distance_metric: "euclidean", "chessboard" or "taxicab".
        percentile: take this percentile (0 to 100) of the distances instead of the greatest.
        directed: look from the predictions only.
        crop: cut out the box around both shapes first.

    Examples:
        >>> metric = train.HausdorffDistance()
        >>> metric.clear()
        >>> metric.update(Tensor([[1, 1, 0], [1, 0, 0], [0, 0, 0]]), Tensor([[1, 1, 1], [0, 0, 0], [0, 0, 0]]), 1)
        >>> round(float(metric.eval()), 4)
        1.0
    """

    def __init__(
        self,
        distance_metric: str = "euclidean",
        percentile: float | None = None,
        directed: bool = False,
        crop: bool = True,
    ):
        super().__init__(distance_metric)
        if percentile is not None:
            check_type("HausdorffDistance", "percentile", percentile, float)
            if not 0 <= percentile <= 100:
                raise ValueError(f"For 'HausdorffDistance', 'percentile' must be in 0..100, but got {percentile}.")
        self.percentile = percentile
        self.directed = check_type("HausdorffDistance", "directed", directed, bool)
        self.crop = check_type("HausdorffDistance", "crop", crop, bool)

    def _edges(self, y_pred: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.crop and (y_pred | y).any():
            points = np.nonzero(y_pred | y)
            box = tuple(slice(p.min(), p.max() + 1) for p in points)
            y_pred, y = np.squeeze(y_pred[box]), np.squeeze(y[box])
        return _edge(y_pred), _edge(y)

    def _greatest(self, of: np.ndarray, to: np.ndarray) -> Any:
        distances = self._distances(of, to)
        if distances.size == 0:
            return np.inf
        return distances.max() if not self.percentile else np.percentile(distances, self.percentile)

    def eval(self) -> Any:
        self._need_update()
        forward = self._greatest(self._y_pred_edges, self._y_edges)
        return forward if self.directed else max(forward, self._greatest(self._y_edges, self._y_pred_edges))


class MeanSurfaceDistance(_SurfaceMetric):
    """The mean distance from the predicted surface to the true one (`symmetric`: averaged with the way back).

    Examples:
        >>> metric = train.MeanSurfaceDistance()
        >>> metric.clear()
        >>> metric.update(Tensor([[1, 1, 0], [1, 0, 0], [0, 0, 0]]), Tensor([[1, 1, 1], [0, 0, 0], [0, 0, 0]]), 1)
        >>> round(float(metric.eval()), 4)
        0.3333
    """

    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean"):
        super().__init__(distance_metric)
        self.symmetric = check_type("MeanSurfaceDistance", "symmetric", symmetric, bool)

    def eval(self) -> Any:
        self._need_update()
        forward = self._mean(self._y_pred_edges, self._y_edges, 1)
        if not self.symmetric or np.isinf(forward):
            return forward
        return np.mean((forward, self._mean(self._y_edges, self._y_pred_edges, 1)))


class RootMeanSquareDistance(_SurfaceMetric):
    """The mean squared distance of surfaces; with `symmetric`, the root of the mean of both ways, as users know it.

    Examples:
        >>> metric = train.RootMeanSquareDistance(symmetric=False)
        >>> metric.clear()
        >>> metric.update(Tensor([[1, 1, 0], [1, 0, 0], [0, 0, 0]]), Tensor([[1, 1, 1], [0, 0, 0], [0, 0, 0]]), 1)
        >>> round(float(metric.eval()), 4)
        0.3333
    """

    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean"):
        super().__init__(distance_metric)
        self.symmetric = check_type("RootMeanSquareDistance", "symmetric", symmetric, bool)

    def _bad_label(self, message: str) -> Exception:
        return TypeError(message)

    def eval(self) -> Any:
        self._need_update()
        forward = self._mean(self._y_pred_edges, self._y_edges, 2)
        if not self.symmetric or np.isinf(forward):
            return forward
        return np.sqrt(np.mean((forward, self._mean(self._y_edges, self._y_pred_edges, 2))))


def _edge(mask: np.ndarray) -> np.ndarray:
    return mask ^ _ndimage().binary_erosion(mask)


def _ndimage() -> Any:
    return require("scipy.ndimage", "data", "A surface distance")
