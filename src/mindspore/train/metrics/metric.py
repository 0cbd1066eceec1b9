"""The base of metrics, and what several of them share."""

from __future__ import annotations

import functools
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor


def rearrange_inputs(func: Callable) -> Callable:
    """Decorate `update` so that it gets only the inputs that `set_indexes` chose, in that order.

    Examples:
        >>> class First(train.Metric):
        ...     def clear(self):
        ...         self.seen = None
        ...
        ...     @train.rearrange_inputs
        ...     def update(self, *inputs):
        ...         self.seen = inputs
        ...
        ...     def eval(self):
        ...         return self.seen
        >>> metric = First().set_indexes([2, 0])
        >>> metric.update("prediction", "extra", "label")
        >>> metric.eval()
        ('label', 'prediction')
    """

    @functools.wraps(func)
    def wrapper(self: Any, *inputs: Any) -> Any:
        indexes = self.indexes
        return func(self, *([inputs[i] for i in indexes] if indexes else inputs))

    return wrapper


class Metric(metaclass=ABCMeta):
    """Base of metrics: `clear` starts anew, `update` takes in a batch, `eval` gives the result.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.train import Metric
        >>> class Count(Metric):
        ...     def clear(self):
        ...         self.n = 0
        ...     def update(self, *inputs):
        ...         self.n += inputs[0].shape[0]
        ...     def eval(self):
        ...         return self.n
        >>> Count()(ms.Tensor([1.0, 2.0]))
        2
    """

    def __init__(self) -> None:
        self._indexes: list[int] | None = None

    @property
    def indexes(self) -> list[int] | None:
        """Which inputs of `update` are used; None means all."""
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes: list[int]) -> Metric:
        """Choose which inputs `update` uses, and in which order."""
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(
                "For 'set_indexes', the argument 'indexes' must be a list and all its elements must be int, please check whether it is "
                f"correct. Got {indexes!r}."
            )
        self._indexes = indexes
        return self

    def __call__(self, *inputs: Any) -> Any:
        """The metric of one batch alone."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    def _convert_data(self, data: Any) -> np.ndarray:
        return as_array(data)

    @abstractmethod
    def clear(self) -> None:
        """Forget everything seen."""

    @abstractmethod
    def eval(self) -> Any:
        """The result of everything seen."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Take in a batch: usually predictions and labels."""


class EvaluationBase(Metric):
    """Base of metrics over class scores (`eval_type='classification'`) or 0/1 flags per class ('multilabel').

    Examples:
        >>> train.EvaluationBase.__mro__[1].__name__
        'Metric'
    """

    def __init__(self, eval_type: str):
        super().__init__()
        if eval_type not in ("classification", "multilabel"):
            raise TypeError(f"'eval_type' must be 'classification' or 'multilabel', but got {eval_type!r}.")
        self._type = eval_type
        self._class_num = 0

    def _labels(self, inputs: tuple) -> tuple[np.ndarray, np.ndarray]:
        """The checked predictions and labels; one-hot labels become class numbers."""
        y_pred, y = pair(self, inputs)
        if self._type == "classification" and y_pred.ndim == y.ndim and is_onehot(y):
            y = y.argmax(axis=1)
        self._check_shape(y_pred, y)
        self._check_value(y_pred, y)
        self._class_num = same_classes(self, self._class_num, y_pred)
        return y_pred, y

    def _check_shape(self, y_pred: np.ndarray, y: np.ndarray) -> None:
        expected = y_pred.shape if self._type == "multilabel" else (y_pred.shape[:1] + y_pred.shape[2:])
        if y.shape != expected or (self._type == "classification" and y_pred.ndim < 2):
            raise ValueError(
                f"For '{type(self).__name__}.update', predictions of shape {y_pred.shape} do not fit labels of shape "
                f"{y.shape} in the {self._type} case."
            )

    def _check_value(self, y_pred: np.ndarray, y: np.ndarray) -> None:
        if self._type == "multilabel" and not (np.isin(y_pred, (0, 1)).all() and np.isin(y, (0, 1)).all()):
            raise ValueError(f"For '{type(self).__name__}.update', multilabel predictions and labels must be 0 or 1.")


def as_array(data: Any) -> np.ndarray:
    """A Tensor, list or array as an array."""
    if isinstance(data, Tensor):
        return data.asnumpy()
    if isinstance(data, list):
        return np.array(data)
    if isinstance(data, np.ndarray):
        return data
    raise TypeError(f"The inputs of a metric must be Tensors, lists or numpy.ndarrays, but got {type(data)}.")


def check_count(metric: Any, inputs: tuple, count: int, meaning: str) -> None:
    """ValueError unless `update` got `count` inputs."""
    if len(inputs) != count:
        name = type(metric).__name__
        raise ValueError(f"For '{name}.update', it needs {count} inputs ({meaning}), but got {len(inputs)}.")


def pair(metric: Any, inputs: tuple) -> tuple[np.ndarray, np.ndarray]:
    """The two arrays of most metrics."""
    check_count(metric, inputs, 2, "predicted value, true value")
    return as_array(inputs[0]), as_array(inputs[1])


def no_samples(metric: Any) -> RuntimeError:
    """What `eval` raises when nothing was seen."""
    name = type(metric).__name__
    return RuntimeError(
        f"The '{name}' cannot be calculated, because there are no samples: call 'update' before 'eval'."
    )


def same_classes(metric: Any, known: int, y_pred: np.ndarray) -> int:
    """The number of classes, which must not change between batches."""
    if y_pred.ndim < 2:
        raise ValueError(f"For '{type(metric).__name__}.update', predictions need 2 dimensions or more.")
    if known not in (0, y_pred.shape[1]):
        raise ValueError(
            f"For '{type(metric).__name__}.update', predictions have {y_pred.shape[1]} classes, but had {known} before."
        )
    return y_pred.shape[1]


def one_hot(metric: Any, y_pred: np.ndarray, y: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Predicted and true classes as one-hot rows."""
    if y.size and y.max() + 1 > classes:
        raise ValueError(
            f"For '{type(metric).__name__}.update', labels go up to {y.max()}, but there are only {classes} classes."
        )
    eye = np.eye(classes)
    return eye[y_pred.argmax(axis=1).reshape(-1)], eye[y.reshape(-1).astype(np.int64)]


def is_onehot(data: np.ndarray) -> bool:
    """Whether axis 1 is a one-hot encoding."""
    return data.ndim > 1 and bool(np.isin(data, (0, 1)).all()) and bool((data.sum(axis=1) == 1).all())


def check_type(owner: str, name: str, value: Any, kinds: type | tuple[type, ...]) -> Any:
    """TypeError unless `value` is of one of the kinds; a bool is no number."""
    allowed = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        names = " or ".join(k.__name__ for k in allowed)
        raise TypeError(f"For '{owner}', '{name}' must be {names}, but got {type(value).__name__}.")
    return value


def check_choice(owner: str, name: str, value: Any, choices: tuple[str, ...]) -> str:
    """A string out of `choices`."""
    check_type(owner, name, value, str)
    if value not in choices:
        raise ValueError(f"For '{owner}', '{name}' must be one of {list(choices)}, but got {value!r}.")
    return value
