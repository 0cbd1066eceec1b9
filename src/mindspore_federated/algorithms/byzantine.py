"""The robust aggregations in simulation; see `robust.py` for the papers."""
from __future__ import annotations

from mindspore_federated.algorithms.base import FedAvg, Floats
from mindspore_federated.algorithms.robust import krum, median, multi_krum, trimmed_mean


class FedMedian(FedAvg):
    """The median of each coordinate."""

    robust = True

    def combine(self, sent: Floats, counts: Floats) -> Floats:
        return median(sent)


class TrimmedMean(FedAvg):
    """The mean of each coordinate without the extreme values."""

    robust = True

    def __init__(self, ratio: float = 0.1) -> None:
        self.ratio = ratio

    def combine(self, sent: Floats, counts: Floats) -> Floats:
        return trimmed_mean(sent, self.ratio)


class Krum(FedAvg):
    """The one vector closest to its neighbours."""

    robust = True

    def __init__(self, byzantine: int = 1) -> None:
        self.byzantine = byzantine

    def combine(self, sent: Floats, counts: Floats) -> Floats:
        return krum(sent, self.byzantine)


class MultiKrum(Krum):
    """The mean of the vectors that Krum likes best."""

    def combine(self, sent: Floats, counts: Floats) -> Floats:
        return multi_krum(sent, self.byzantine)
