"""What a server does with updates: sum them, or keep them where an aggregation has to see each one.

An update is what a client uploads: each weight times the client's number of samples. Sums of servers add up, so a round
over several servers gives the same model as over one. A weight that some clients left out is averaged over the others;
one that nobody sent stays as it was.
"""
from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np

from mindspore_federated.algorithms.robust import krum, median, multi_krum, trimmed_mean
from mindspore_federated.algorithms.server_optimizers import adam_step, yogi_step
from mindspore_federated.common.settings import Settings
from mindspore_federated.server.features import Arrays, Floats, pack, unpack, with_state

_SUM, _SIZE, _MOMENT, _SQUARE = "sum.", "size.", "moment.", "square."
ROBUST = ("FedMedian", "TrimmedMean", "Krum", "MultiKrum")


class PartialResult(Protocol):
    """What a server holds of a round and publishes when it closes."""

    @property
    def clients(self) -> int:
        """How many clients' updates are in it."""

    def pack(self) -> bytes:
        """Its bytes."""


class Partial:
    """The updates that one server has taken in one iteration."""

    def __init__(self, keep_each: bool) -> None:
        self._lock = threading.Lock()
        self._keep_each = keep_each
        self._arrays: Arrays = {}
        self.loss = 0.0
        self.accuracy = 0.0
        self.loss_size = 0.0
        self.accuracy_size = 0.0
        self._clients = 0

    @property
    def clients(self) -> int:
        """How many updates are in it."""
        return self._clients

    def add(self, update: Mapping[str, Floats], data_size: float, *, loss: float = 0.0, accuracy: float = 0.0,
            eval_size: float = 0.0) -> None:
        """Take in one client's update."""
        with self._lock:
            if self._keep_each:
                self._arrays.update({f"{self._clients}.{name}": value / np.float32(data_size)
                                     for name, value in update.items()})
            else:
                self._sum(update, data_size)
            self._clients += 1
            self.loss += loss * data_size
            self.loss_size += data_size
            self.accuracy += accuracy * eval_size
            self.accuracy_size += eval_size

    def _sum(self, update: Mapping[str, Floats], data_size: float) -> None:
        for name, value in update.items():
            if _SUM + name not in self._arrays:
                self._arrays[_SUM + name] = np.array(value, np.float32)
                self._arrays[_SIZE + name] = np.array([data_size], np.float32)
            else:
                np.add(self._arrays[_SUM + name], value, out=self._arrays[_SUM + name])
                self._arrays[_SIZE + name] += np.float32(data_size)

    def pack(self) -> bytes:
        """The partial result for the other servers."""
        with self._lock:
            return pack(self._arrays, {"loss": self.loss, "accuracy": self.accuracy, "loss_size": self.loss_size,
                                       "accuracy_size": self.accuracy_size, "clients": self._clients})


class Totals:
    """All servers' partial results of one iteration."""

    def __init__(self, partials: Iterable[bytes]) -> None:
        self.each: list[Arrays] = []
        self.sums: Arrays = {}
        self.sizes: dict[str, float] = {}
        self.notes: dict[str, float] = {}
        for data in partials:
            arrays, note = unpack(data)
            for name, value in note.items():
                self.notes[name] = self.notes.get(name, 0.0) + float(str(value))
            self._take(arrays, int(float(str(note["clients"]))))

    def _take(self, arrays: Arrays, clients: int) -> None:
        each: list[Arrays] = [{} for _ in range(clients)]
        for name, value in arrays.items():
            kind, _, rest = name.partition(".")
            if kind == "sum":
                self.sums[rest] = self.sums[rest] + value if rest in self.sums else value
            elif kind == "size":
                self.sizes[rest] = self.sizes.get(rest, 0.0) + float(value[0])
            else:
                each[int(kind)][rest] = value
        self.each += [update for update in each if update]

    def mean(self, name: str, size: str) -> float:
        """A sum over clients divided by a size."""
        return self.notes.get(name, 0.0) / self.notes[size] if self.notes.get(size) else 0.0


def next_model(model: Arrays, totals: Totals, settings: Settings, state: Arrays) -> Arrays:
    """The global model after a round, and the server optimizer's new state (`features.with_state`)."""
    kind = settings.word("aggregation.aggregation_type")
    if kind in ROBUST:
        average = _robust(kind, totals.each, settings)
    else:
        average = {name: total / np.float32(totals.sizes[name]) for name, total in totals.sums.items()}
    if kind == "FedNova":                        # updates are differences, weighed by local steps
        average = {name: model[name] + value for name, value in average.items()}
    if kind == "Scaffold":                       # control variates move by the part of the clients that took part
        share = np.float32(totals.notes["clients"] / max(1, settings.whole("aggregation.total_client_num")))
        average = {name: model[name] + value * share if name.startswith("control.") else value
                   for name, value in average.items()}
    return moved(model, average, settings, state)


def moved(model: Arrays, average: Arrays, settings: Settings, state: Arrays) -> Arrays:
    """The global model after the server's own step towards the clients' average, and its optimizer's state."""
    kind = settings.word("aggregation.aggregation_type")
    if kind in ("FedAdam", "FedYogi"):
        average, state = _server_step(kind, model, average, state, settings)
    return with_state({**model, **{name: np.asarray(value, np.float32).reshape(model[name].shape)
                                   for name, value in average.items()}}, state)


def _robust(kind: str, each: list[Arrays], settings: Settings) -> Arrays:
    names = sorted(set.intersection(*(set(update) for update in each)))
    stacked = np.stack([np.concatenate([update[name].reshape(-1) for name in names]) for update in each])
    bad = settings.whole("aggregation.byzantine_num")
    if kind == "FedMedian":
        flat = median(stacked)
    elif kind == "TrimmedMean":
        flat = trimmed_mean(stacked, settings.number("aggregation.trim_ratio"))
    else:
        flat = krum(stacked, bad) if kind == "Krum" else multi_krum(stacked, bad)
    result, at = {}, 0
    for name in names:
        size = each[0][name].size
        result[name] = flat[at:at + size].astype(np.float32).reshape(each[0][name].shape)
        at += size
    return result


def _server_step(kind: str, model: Arrays, average: Arrays, state: Arrays, settings: Settings) -> tuple[Arrays, Arrays]:
    rule = adam_step if kind == "FedAdam" else yogi_step
    rate = settings.number("aggregation.server_learning_rate")
    result, after = {}, dict(state)
    for name, value in average.items():
        zero = np.zeros_like(value)
        result[name], after[_MOMENT + name], after[_SQUARE + name] = rule(
            model[name], value - model[name], state.get(_MOMENT + name, zero), state.get(_SQUARE + name, zero), rate)
    return result, after
