"""Many virtual clients on one machine.

The weights of a client are one flat vector. A chunk of clients is a matrix, one compiled function (vmap over clients of
the gradient) trains it step by step, and what the clients send is added up before the next chunk starts: memory depends
on the chunk, not on the number of clients. Every random choice has its own generator, keyed by seed, round and client;
the same seed gives the same bits.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindspore_federated.algorithms.base import FedAvg, Floats, Ids, Round
from mindspore_federated.simulation.gradient import Loss, compiled_gradient, is_cell, weights_of

Arrays = Mapping[str, Floats]
Client = tuple[NDArray[Any], NDArray[Any]]
ClientUpdate = Callable[[Floats, Ids], Floats]
_CHUNK_BYTES = 8 << 20             # of vectors that a compiled gradient works on
_CACHE_BYTES = 1 << 20             # of vectors that only NumPy touches: they stay in the cache
_SELECT, _BATCH, _DROP = range(3)


@dataclass
class History:
    """What a simulation gives back."""
    weights: dict[str, Floats]
    losses: list[float] = field(default_factory=list)
    metrics: list[dict[str, float]] = field(default_factory=list)
    clients: list[list[int]] = field(default_factory=list)
    personal: Callable[[int], dict[str, Floats]] = lambda client: {}


def simulate(loss: Loss | None, initial: Arrays | None, clients: Sequence[Client] | int, *, rounds: int,
             clients_per_round: int, algorithm: FedAvg | None = None, epochs: int = 1, batch_size: int = 32,
             learning_rate: float = 0.1, seed: int = 0, chunk: int | None = None, dropout: float = 0.0,
             speeds: Sequence[float] | None = None, deadline: float | None = None,
             evaluate: Callable[[dict[str, Floats]], dict[str, float]] | None = None, evaluate_every: int = 1,
             client_update: ClientUpdate | None = None, progress: bool = False, sampling: str = "fixed") -> History:
    """Train `initial` over `clients` and return the weights and how it went.

    `loss` is a network (an `nn.Cell` from a batch x, y to a scalar, as `nn.WithLossCell` gives), which is left as it is and
    whose weights are the start where `initial` is None; or a function `loss(weights, x, y)` of the framework from a dict
    of tensors and a batch to a scalar. Alternatively `client_update(vectors, ids)` changes the clients' flat vectors in
    NumPy, and `clients` may be their number.
    `sampling` "fixed" draws `clients_per_round` clients, "poisson" lets each client take part with the same chance, so that
    there are so many on average (what the accounting of `CentralDP` gains from).
    `dropout` is the chance that a client never answers; `speeds` (steps per second) with `deadline` (seconds) leave out
    clients that are too slow.
    """
    start = _start(loss, initial)
    run = _Simulation(loss, start, clients, algorithm or FedAvg(), epochs, batch_size, learning_rate, seed,
                      client_update, chunk, clients_per_round)
    if not 1 <= clients_per_round <= run.count:
        raise ValueError(f"clients_per_round should be in [1, {run.count}], but got {clients_per_round}")
    if sampling not in ("fixed", "poisson"):
        raise ValueError(f"sampling should be 'fixed' or 'poisson', but got {sampling!r}")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout should be in [0, 1), but got {dropout}")
    history = History(dict(start))
    run.algorithm.selection(clients_per_round, sampling == "poisson")
    for number in _bar(rounds, progress):
        chosen = _chosen(_rng(seed, _SELECT, number), run.count, clients_per_round, sampling)
        heard = run.heard(chosen, number, dropout, speeds, deadline)
        history.clients.append(heard.tolist())
        history.losses.append(run.round(heard, number))
        if evaluate is not None and (number + 1) % evaluate_every == 0:
            history.metrics.append({"round": number + 1, **evaluate(run.weights())})
    history.weights = run.weights()
    history.personal = run.personal
    return history


def _start(loss: Loss | None, initial: Arrays | None) -> Arrays:
    own = weights_of(loss) if is_cell(loss) else {}
    if initial is None:
        if not own:
            raise ValueError("initial should be a dict of weights; it can be left out only where loss is an nn.Cell with "
                             "trainable float32 parameters")
        return own
    if own and {name: np.shape(value) for name, value in initial.items()} != {
            name: value.shape for name, value in own.items()}:
        raise ValueError(f"initial should have the network's trainable parameters {list(own)} in their shapes, but got "
                         f"{list(initial)}")
    return {name: initial[name] for name in own} if own else initial


def _chosen(rng: np.random.Generator, clients: int, wanted: int, sampling: str) -> Ids:
    chosen: Ids = (np.sort(rng.choice(clients, wanted, replace=False)) if sampling == "fixed"
                   else np.flatnonzero(rng.random(clients) < wanted / clients))
    return chosen


def _rng(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)


def _bar(rounds: int, progress: bool) -> Any:
    if not progress:
        return range(rounds)
    from tqdm import tqdm

    return tqdm(range(rounds), unit="round")


class _Simulation:
    def __init__(self, loss: Loss | None, initial: Arrays, clients: Sequence[Client] | int, algorithm: FedAvg,
                 epochs: int, batch_size: int, rate: float, seed: int, client_update: ClientUpdate | None,
                 chunk: int | None, per_round: int) -> None:
        if (loss is None) == (client_update is None):
            raise ValueError("give either loss or client_update")
        if isinstance(clients, int) and client_update is None:
            raise ValueError("clients should be a list of (x, y) where a loss is trained")
        self.count = clients if isinstance(clients, int) else len(clients)
        self._data: Sequence[Client] = [] if isinstance(clients, int) else clients
        self._shapes = {name: np.shape(value) for name, value in initial.items()}
        self.vector = np.concatenate([np.ravel(value) for value in initial.values()]).astype(np.float32)
        self.algorithm = algorithm
        self._epochs, self._batch, self._rate, self._seed = epochs, batch_size, rate, seed
        self._update = client_update
        self._gradient = compiled_gradient(loss, self._shapes) if loss is not None else None
        room = _CHUNK_BYTES if loss is not None else _CACHE_BYTES
        self._chunk = chunk or _even_chunk(per_round, max(1, min(64, room // max(1, self.vector.nbytes))))
        algorithm.prepare(self.vector.size, self.count)

    def weights(self) -> dict[str, Floats]:
        """The global weights by name."""
        return _unflatten(self.vector, self._shapes)

    def personal(self, client: int) -> dict[str, Floats]:
        """The weights a client uses for itself."""
        return _unflatten(self.algorithm.personal(client, self.vector), self._shapes)

    def heard(self, chosen: Ids, number: int, dropout: float, speeds: Sequence[float] | None,
              deadline: float | None) -> Ids:
        """The chosen clients that answer in time."""
        stays = np.array([_rng(self._seed, _DROP, number, int(one)).random() >= dropout for one in chosen], bool)
        if speeds is not None and deadline is not None:
            stays &= np.array([self._steps(int(one)) / speeds[int(one)] <= deadline for one in chosen], bool)
        heard: Ids = chosen[stays]
        return heard

    def round(self, ids: Ids, number: int) -> float:
        """One round over these clients; the mean loss of their first steps."""
        algorithm = self.algorithm
        if not len(ids):
            self.vector = algorithm.nobody(self.vector)
            return float("nan")
        total = np.zeros(self.vector.size, np.float64)
        losses: list[float] = []
        weight, kept = 0.0, []
        order = ids[np.argsort([self._steps(int(one)) for one in ids], kind="stable")]   # alike clients together
        for at in range(0, len(order), self._chunk):
            some = order[at:at + self._chunk]
            round_ = self._round_of(some)
            sent, counts = self._train(round_, number, losses)
            if algorithm.robust:
                kept.append((sent, counts))
            else:
                total += counts.astype(np.float32) @ sent
                weight += float(counts.sum())
        if algorithm.robust:
            mean = algorithm.combine(np.concatenate([sent for sent, _ in kept]),
                                     np.concatenate([counts for _, counts in kept]))
        else:
            mean = (total / weight).astype(np.float32)
        self.vector = algorithm.server_step(self.vector, mean, len(ids))
        return float(np.mean(losses)) if losses else 0.0

    def _steps(self, client: int) -> int:
        if not self._data:
            return 1
        return self._epochs * -(-len(self._data[client][1]) // self._batch)

    def _round_of(self, ids: Ids) -> Round:
        sizes = [len(self._data[int(one)][1]) if self._data else 1 for one in ids]
        return Round(ids, self.vector, np.array(sizes, np.float32),
                     np.array([self._steps(int(one)) for one in ids], np.float32), self._rate)

    def _train(self, round_: Round, number: int, losses: list[float]) -> tuple[Floats, Floats]:
        weights = self.algorithm.local_start(round_)
        if self._update is not None:
            return self.algorithm.local_end(self._update(weights, round_.ids), round_)
        assert self._gradient is not None
        batches = [self._batches(int(one), number) for one in round_.ids]
        pad = self._chunk - len(batches)                  # one shape, one compilation
        for step in range(int(round_.steps.max())):
            rows = [one[min(step, len(one) - 1)] for one in batches]
            x = np.stack([self._data[int(one)][0][row] for one, row in zip(round_.ids, rows)])
            y = np.stack([self._data[int(one)][1][row] for one, row in zip(round_.ids, rows)])
            gradient = _Batch(self._gradient, _padded(x, pad), _padded(y, pad), pad)
            slope = gradient(weights)
            if step == 0:
                losses.extend(gradient.loss.tolist())
            moved = weights - np.float32(self._rate) * self.algorithm.direction(weights, slope, round_, gradient)
            going = (step < round_.steps)[:, None]
            weights = moved if going.all() else np.where(going, moved, weights)
        return self.algorithm.local_end(weights, round_)

    def _batches(self, client: int, number: int) -> list[NDArray[np.int64]]:
        """The samples of each local step; the last batch of an epoch wraps round to stay full."""
        size = len(self._data[client][1])
        rng = _rng(self._seed, _BATCH, number, client)
        result = []
        for _ in range(self._epochs):
            order = rng.permutation(size)
            for at in range(0, size, self._batch):
                result.append(np.take(order, np.arange(at, at + self._batch), mode="wrap"))
        return result


class _Batch:
    """Gradients of one step's batches at any points."""

    def __init__(self, compiled: Callable[..., Any], x: NDArray[Any], y: NDArray[Any], pad: int) -> None:
        from mindspore import Tensor

        self._compiled, self._pad = compiled, pad
        self._x, self._y = Tensor(x), Tensor(y)
        self.loss: Floats = np.empty(0, np.float32)

    def __call__(self, weights: Floats) -> Floats:
        from mindspore import Tensor

        loss, gradient = self._compiled(Tensor(_padded(weights, self._pad)), self._x, self._y)
        count = len(weights)
        self.loss = loss.asnumpy()[:count]
        result: Floats = gradient.asnumpy()[:count]
        return result


def _even_chunk(clients: int, most: int) -> int:
    """The size of equal chunks of at most `most`: the last one is padded to the same shape, which costs."""
    chunks = -(-max(1, clients) // most)
    return -(-max(1, clients) // chunks)


def _padded(values: NDArray[Any], pad: int) -> NDArray[Any]:
    return np.concatenate([values, np.repeat(values[:1], pad, axis=0)]) if pad else values


def _unflatten(vector: Floats, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Floats]:
    result, at = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        result[name] = vector[at:at + size].reshape(shape).copy()
        at += size
    return result
