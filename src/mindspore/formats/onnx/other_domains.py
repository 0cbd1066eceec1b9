"""Operators of ONNX's other domains: steps of optimisers (`ai.onnx.preview.training`) and of classical learning (`ai.onnx.ml`).

An optimiser's step takes a rate, a count of steps, then all tensors, all gradients and all states, and gives new tensors and states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.formats.onnx.registry import P, operator

_TRAINING, _ML = "ai.onnx.preview.training", "ai.onnx.ml"


def _grouped(step: Callable[..., tuple], data: tuple, kinds: int) -> tuple:
    """The results of a step on each tensor, kind by kind; `kinds`: tensor, gradient and states."""
    rate, count, *rest = data
    many = len(rest) // kinds
    found = [step(rate, count, *rest[place::many]) for place in range(many)]
    return tuple(result for results in zip(*found) for result in results)


def _is_later(count: Any) -> Any:
    return P.Cast()(count, mstype.float32) > 0


@operator(f"{_TRAINING}.Adagrad")
def _adagrad(*data: Any, norm_coefficient: float = 0.0, decay_factor: float = 0.0, epsilon: float = 1e-6) -> tuple:
    def step(rate: Any, count: Any, x: Any, gradient: Any, squares: Any) -> tuple:
        rate = rate / (P.Cast()(count, x.dtype) * decay_factor + 1.0)
        gradient = x * norm_coefficient + gradient
        squares = squares + gradient * gradient
        return x - rate * gradient / (P.Sqrt()(squares) + epsilon), squares

    return _grouped(step, data, 3)


@operator(f"{_TRAINING}.Momentum")
def _momentum(*data: Any, alpha: float, beta: float, mode: str, norm_coefficient: float) -> tuple:
    def step(rate: Any, count: Any, x: Any, gradient: Any, speed: Any) -> tuple:
        gradient = x * norm_coefficient + gradient
        weight = P.Select()(_is_later(count), P.OnesLike()(rate) * beta, P.OnesLike()(rate))
        speed = speed * alpha + gradient * weight
        return x - rate * (speed if mode == "standard" else gradient + speed * alpha), speed

    return _grouped(step, data, 3)


@operator(f"{_TRAINING}.Adam")
def _adam(
    *data: Any, alpha: float = 0.9, beta: float = 0.999, epsilon: float = 1e-6, norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> tuple:  # fmt: skip
    def step(rate: Any, count: Any, x: Any, gradient: Any, mean: Any, squares: Any) -> tuple:
        gradient = x * norm_coefficient + gradient
        mean = mean * alpha + gradient * (1 - alpha)
        squares = squares * beta + gradient * gradient * (1 - beta)
        steps = P.Cast()(count, x.dtype)
        grown = rate * P.Sqrt()(1.0 - P.Pow()(beta, steps)) / (1.0 - P.Pow()(alpha, steps))
        rate = P.Select()(_is_later(count), grown, rate)
        return (x - rate * (mean / (P.Sqrt()(squares) + epsilon))) * (1 - norm_coefficient_post), mean, squares

    return _grouped(step, data, 4)


@operator(f"{_ML}.Binarizer")
def _binarizer(x: Any, threshold: float = 0.0) -> Any:
    return P.Cast()(x > threshold, x.dtype)


@operator(f"{_ML}.ArrayFeatureExtractor")
def _features(x: Any, indices: Any) -> Any:
    """Columns of the last dimension; a vector gives one row."""
    flat = indices.reshape((-1,))
    found = P.Gather()(x, flat, x.ndim - 1)
    return found.reshape((1, int(np.prod(flat.shape)))) if x.ndim == 1 else found
