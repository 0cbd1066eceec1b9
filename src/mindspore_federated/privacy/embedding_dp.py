"""Embedding differential privacy: each coordinate becomes one bit, and the bit a randomized response."""
from __future__ import annotations

import numpy as np

from mindspore import Tensor
from mindspore_federated.privacy.budget import check_eps


class EmbeddingDP:
    """Replaces values above zero by 1 and others by 0; with `eps` each bit is then flipped with 1/(exp(eps/2)+1)."""

    def __init__(self, eps: float | None = None) -> None:
        self.eps = None if eps is None else check_eps(eps)
        self._random = np.random.default_rng()

    def __call__(self, embedding: Tensor) -> Tensor:
        if not isinstance(embedding, Tensor):
            raise TypeError(f"The embedding must be a Tensor, but got {type(embedding)}.")
        values = embedding.asnumpy()
        bits = values > 0
        if self.eps is not None:
            bits = bits ^ (self._random.random(values.shape) < 1 / (np.exp(self.eps / 2) + 1))
        return Tensor(bits.astype(values.dtype))
