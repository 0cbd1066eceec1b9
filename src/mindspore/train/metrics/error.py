"""Mean errors: absolute, squared, and the mean of a loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.train.metrics.metric import Metric, as_array, check_count, no_samples, pair, rearrange_inputs


class _MeanError(Metric):
    """A sum of element errors divided by the number of samples."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self._error_sum: Any = 0
        self._samples_num = 0

    def _error(self, difference: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = pair(self, inputs)
        self._error_sum += self._error(y.reshape(y_pred.shape) - y_pred).sum()
        self._samples_num += y.shape[0]

    def eval(self) -> float:
        if self._samples_num == 0:
            raise no_samples(self)
        return float(self._error_sum / self._samples_num)


class MAE(_MeanError):
    """Mean absolute error: the sum of |label - prediction| per sample.

    Examples:
        >>> metric = train.MAE()
        >>> metric.clear()
        >>> metric.update(Tensor([1.0, 4.0]), Tensor([2.0, 2.0]))
        >>> float(metric.eval())
        1.5
    """

    def _error(self, difference: np.ndarray) -> np.ndarray:
        return np.abs(difference)


class MSE(_MeanError):
    """Mean squared error: the sum of (label - prediction)² per sample.

    Examples:
        >>> metric = train.MSE()
        >>> metric.clear()
        >>> metric.update(Tensor([1.0, 4.0]), Tensor([2.0, 2.0]))
        >>> float(metric.eval())
        2.5
    """

    def _error(self, difference: np.ndarray) -> np.ndarray:
        return np.square(difference)


class Loss(Metric):
    """The mean of a loss over batches.

    Examples:
        >>> metric = train.Loss()
        >>> metric.clear()
        >>> metric.update(Tensor(0.5))
        >>> metric.update(Tensor(1.5))
        >>> float(metric.eval())
        1.0
    """

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self._sum_loss: Any = 0
        self._total_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        check_count(self, inputs, 1, "loss")
        loss = as_array(inputs[0])
        if loss.ndim > 1:
            raise ValueError(f"For 'Loss.update', the loss must have at most 1 dimension, but got {loss.ndim}.")
        self._sum_loss += loss.mean()
        self._total_num += 1

    def eval(self) -> float:
        if self._total_num == 0:
            raise no_samples(self)
        return float(self._sum_loss / self._total_num)
