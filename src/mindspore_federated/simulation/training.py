"""Local training of a chunk of clients at once, in this process or in another."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindspore_federated.algorithms.base import FedAvg, Floats, Ids, Round
from mindspore_federated.simulation.gradient import Loss, Shapes, compiled_gradient

Client = tuple[NDArray[Any], NDArray[Any]]
ClientUpdate = Callable[[Floats, Ids], Floats]
SELECT, BATCH, DROP = range(3)                   # what a random generator is for


@dataclass(frozen=True)
class Plan:
    """What does not change from round to round."""
    loss: Loss | None
    client_update: ClientUpdate | None
    shapes: Shapes
    states: Shapes
    epochs: int
    batch_size: int
    rate: float
    seed: int
    chunk: int


@dataclass(frozen=True)
class Trained:
    """What a chunk of clients brings: the weighted sum of what they send (and each of it, for robust algorithms)."""
    total: Floats
    weight: float
    states: Floats                               # their weighted sum, and the weight of each client is its samples
    samples: float
    losses: list[float]
    each: tuple[Floats, Floats] | None


def generator(*key: int) -> np.random.Generator:
    """The random numbers of one purpose, round and client."""
    return np.random.default_rng(key)


class Trainer:
    """Trains chunks of clients by one compiled function."""

    def __init__(self, plan: Plan, clients: Sequence[Client]) -> None:
        self._plan, self._data = plan, clients
        self._gradient = compiled_gradient(plan.loss, plan.shapes, plan.states) if plan.loss is not None else None

    def steps(self, client: int) -> int:
        """Local steps of a client in a round."""
        if not len(self._data):
            return 1
        return self._plan.epochs * -(-len(self._data[client][1]) // self._plan.batch_size)

    def train(self, algorithm: FedAvg, vector: Floats, state: Floats, ids: Ids, number: int) -> Trained:
        """The clients' part of round `number`, from the global vector and state."""
        sizes = [len(self._data[int(one)][1]) if len(self._data) else 1 for one in ids]
        round_ = Round(ids, vector, np.array(sizes, np.float32),
                       np.array([self.steps(int(one)) for one in ids], np.float32), self._plan.rate)
        losses: list[float] = []
        weights, states = self._local(algorithm, round_, state, number, losses)
        sent, counts = algorithm.local_end(weights, round_)
        return Trained(counts.astype(np.float32) @ sent, float(counts.sum()), round_.sizes @ states,
                       float(round_.sizes.sum()), losses, (sent, counts) if algorithm.robust else None)

    def _local(self, algorithm: FedAvg, round_: Round, state: Floats, number: int, losses: list[float]
               ) -> tuple[Floats, Floats]:
        states = np.repeat(state[None], len(round_.ids), axis=0)
        if self._plan.client_update is not None:
            return self._plan.client_update(algorithm.local_start(round_, _no_losses), round_.ids), states
        batches = [self._batches(int(one), number) for one in round_.ids]
        gradient = self._batch(round_.ids, batches, 0, states)
        weights = algorithm.local_start(round_, gradient.losses)
        for step in range(int(round_.steps.max())):
            if step:
                gradient = self._batch(round_.ids, batches, step, states)
            slope = gradient(weights)
            if step == 0:
                losses.extend(gradient.loss.tolist())
            after = gradient.states
            moved = weights - np.float32(round_.rate) * algorithm.direction(weights, slope, round_, gradient)
            going = (step < round_.steps)[:, None]
            weights = moved if going.all() else np.where(going, moved, weights)
            states = after if going.all() else np.where(going, after, states)
        return weights, states

    def _batch(self, ids: Ids, batches: list[list[NDArray[np.int64]]], step: int, states: Floats) -> _Batch:
        assert self._gradient is not None
        rows = [one[min(step, len(one) - 1)] for one in batches]
        x = np.stack([self._data[int(one)][0][row] for one, row in zip(ids, rows)])
        y = np.stack([self._data[int(one)][1][row] for one, row in zip(ids, rows)])
        pad = self._plan.chunk - len(batches)               # one shape, one compilation
        return _Batch(self._gradient, states, _padded(x, pad), _padded(y, pad), pad)

    def _batches(self, client: int, number: int) -> list[NDArray[np.int64]]:
        """The samples of each local step; the last batch of an epoch wraps round to stay full."""
        size, batch = len(self._data[client][1]), self._plan.batch_size
        rng = generator(self._plan.seed, BATCH, number, client)
        result = []
        for _ in range(self._plan.epochs):
            order = rng.permutation(size)
            for at in range(0, size, batch):
                result.append(np.take(order, np.arange(at, at + batch), mode="wrap"))
        return result


class _Batch:
    """Gradients of one step's batches at any points."""

    def __init__(self, compiled: Callable[..., Any], states: Floats, x: NDArray[Any], y: NDArray[Any], pad: int) -> None:
        from mindspore import Tensor

        self._compiled, self._pad = compiled, pad
        given = states if states.size else np.zeros((len(states), 1), np.float32)       # a network without a state
        self._states, self._x, self._y = Tensor(_padded(given, pad)), Tensor(x), Tensor(y)
        self.loss: Floats = np.empty(0, np.float32)
        self.states = states

    def losses(self, weights: Floats) -> Floats:
        """The clients' losses at any points."""
        self(weights)
        return self.loss

    def __call__(self, weights: Floats) -> Floats:
        from mindspore import Tensor

        loss, gradient, states = self._compiled(Tensor(_padded(weights, self._pad)), self._states, self._x, self._y)
        count = len(weights)
        self.loss = loss.asnumpy()[:count]
        if self.states.size:
            self.states = states.asnumpy()[:count]
        result: Floats = gradient.asnumpy()[:count]
        return result


def _no_losses(weights: Floats) -> Floats:
    raise ValueError("this algorithm looks at the clients' losses: give simulate a loss, not client_update")


def _padded(values: NDArray[Any], pad: int) -> NDArray[Any]:
    return np.concatenate([values, np.repeat(values[:1], pad, axis=0)]) if pad else values


def flatten(arrays: Mapping[str, Floats]) -> Floats:
    """All values as one vector."""
    vector: Floats = np.concatenate([np.ravel(value) for value in arrays.values()] or [np.empty(0, np.float32)])
    return vector.astype(np.float32)


def unflatten(vector: Floats, shapes: Shapes) -> dict[str, Floats]:
    """The arrays of a vector, as copies."""
    result, at = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        result[name] = vector[at:at + size].reshape(shape).copy()
        at += size
    return result
