"""Many virtual clients on one machine, or on a Ray cluster.

The weights of a client are one flat vector. A chunk of clients is a matrix, one compiled function (vmap over clients of
the gradient) trains it step by step, and what the clients send is added up before the next chunk starts: memory depends
on the chunk, not on the number of clients. Every random choice has its own generator, keyed by seed, round and client, and
chunks are added in their order, wherever they were trained: the same seed gives the same bits.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Ids
from mindspore_federated.simulation.gradient import Loss, is_cell, weights_of
from mindspore_federated.simulation.trace import Trace
from mindspore_federated.simulation.training import (
    DROP,
    SELECT,
    Client,
    ClientUpdate,
    Plan,
    Trained,
    Trainer,
    flatten,
    generator,
    unflatten,
)

Arrays = Mapping[str, Floats]
_CHUNK_BYTES = 8 << 20             # of vectors that a compiled gradient works on
_CACHE_BYTES = 1 << 20             # of vectors that only NumPy touches: they stay in the cache


class Runner(Protocol):
    """Where chunks are trained."""

    def start(self, plan: Plan, clients: Sequence[Client]) -> None:
        """Before the first round."""

    def run(self, algorithm: FedAvg, vector: Floats, state: Floats, chunks: Sequence[Ids], number: int
            ) -> Iterable[Trained]:
        """What the chunks bring, in their order."""


@dataclass
class History:
    """What a simulation gives back."""
    weights: dict[str, Floats]
    losses: list[float] = field(default_factory=list)
    metrics: list[dict[str, float]] = field(default_factory=list)
    clients: list[list[int]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    personal: Callable[[int], dict[str, Floats]] = lambda client: {}


def simulate(loss: Loss | None, initial: Arrays | None, clients: Sequence[Client] | int, *, rounds: int,
             clients_per_round: int, algorithm: FedAvg | None = None, epochs: int = 1, batch_size: int = 32,
             learning_rate: float = 0.1, seed: int = 0, chunk: int | None = None, dropout: float = 0.0,
             speeds: Sequence[float] | None = None, deadline: float | None = None,
             evaluate: Callable[[dict[str, Floats]], dict[str, float]] | None = None, evaluate_every: int = 1,
             client_update: ClientUpdate | None = None, progress: bool = False, sampling: str = "fixed",
             summary_dir: str | None = None, runner: Runner | None = None, trace: Trace | None = None) -> History:
    """Train `initial` over `clients` and return the weights and how it went.

    `loss` is a network (an `nn.Cell` from a batch x, y to a scalar, as `nn.WithLossCell` gives), which is left as it is and
    whose weights are the start where `initial` is None; or a function `loss(weights, x, y)` of the framework from a dict
    of tensors and a batch to a scalar. Parameters of the network that are not trained (the moving averages of a
    BatchNorm in training mode) follow each client's steps and are averaged by the numbers of samples. Alternatively
    `client_update(vectors, ids)` changes the clients' flat vectors in NumPy, and `clients` may be their number.
    `sampling` "fixed" draws `clients_per_round` clients, "poisson" lets each client take part with the same chance, so that
    there are so many on average (what the accounting of `CentralDP` gains from).
    `dropout` is the chance that a client never answers; `speeds` (steps per second) with `deadline` (seconds) leave out
    clients that are too slow. A `trace` (`simulation.trace.read_trace`) tells speeds and the times at which clients can be
    reached; `History.seconds` is then the simulated time at the end of each round. `summary_dir` gets the loss and the metrics of
    each round as they come, for MindInsight. `runner` may be a `simulation.on_ray.RayRunner`, which trains the chunks on a Ray
    cluster.
    """
    start = _start(loss, initial)
    _check(clients, loss, client_update, sampling, dropout)
    _check_trace(trace, clients if isinstance(clients, int) else len(clients), sampling, speeds)
    run = _Simulation(loss, start, clients, algorithm or FedAvg(), epochs, batch_size, learning_rate, seed,
                      client_update, chunk, clients_per_round, runner or _Here())
    if not 1 <= clients_per_round <= run.count:
        raise ValueError(f"clients_per_round should be in [1, {run.count}], but got {clients_per_round}")
    history = History(run.weights())
    run.algorithm.selection(clients_per_round, sampling == "poisson")
    with ExitStack() as stack:
        curves = stack.enter_context(_Curves(summary_dir)) if summary_dir is not None else None
        for number in _bar(rounds, progress):
            rng = generator(seed, SELECT, number)
            if trace is None:
                heard = run.heard(_chosen(rng, run.count, clients_per_round, sampling), number, dropout, speeds, deadline)
            else:
                heard = run.heard_in(trace, rng, clients_per_round, number, dropout, deadline)
                history.seconds.append(run.now)
            history.clients.append(heard.tolist())
            history.losses.append(run.round(heard, number))
            found: dict[str, float] = {}
            if evaluate is not None and (number + 1) % evaluate_every == 0:
                found = evaluate(run.weights())
                history.metrics.append({"round": number + 1, **found})
            if curves is not None:
                curves.add(number + 1, {"loss": history.losses[-1], "clients": float(len(heard)), **found})
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


def _check(clients: Sequence[Client] | int, loss: Loss | None, client_update: ClientUpdate | None, sampling: str,
           dropout: float) -> None:
    if (loss is None) == (client_update is None):
        raise ValueError("give either loss or client_update")
    if isinstance(clients, int) and client_update is None:
        raise ValueError("clients should be a list of (x, y) where a loss is trained")
    if sampling not in ("fixed", "poisson"):
        raise ValueError(f"sampling should be 'fixed' or 'poisson', but got {sampling!r}")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout should be in [0, 1), but got {dropout}")


def _check_trace(trace: Trace | None, clients: int, sampling: str, speeds: Sequence[float] | None) -> None:
    if trace is None:
        return
    if len(trace.speeds) != clients or speeds is not None:
        raise ValueError(f"the trace should have the speeds of all {clients} clients, and no other speeds are given, but it has "
                         f"{len(trace.speeds)}")
    if sampling != "fixed":
        raise ValueError("sampling should be 'fixed' with a trace: who is not there has no chance to be drawn")


def _chosen(rng: np.random.Generator, clients: int, wanted: int, sampling: str) -> Ids:
    chosen: Ids = (np.sort(rng.choice(clients, wanted, replace=False)) if sampling == "fixed"
                   else np.flatnonzero(rng.random(clients) < wanted / clients))
    return chosen


def _bar(rounds: int, progress: bool) -> Any:
    if not progress:
        return range(rounds)
    from tqdm import tqdm

    return tqdm(range(rounds), unit="round")


class _Here:
    """Trains chunks in this process."""

    def start(self, plan: Plan, clients: Sequence[Client]) -> None:
        self._trainer = Trainer(plan, clients)

    def run(self, algorithm: FedAvg, vector: Floats, state: Floats, chunks: Sequence[Ids], number: int
            ) -> Iterable[Trained]:
        for ids in chunks:
            yield self._trainer.train(algorithm, vector, state, ids, number)


class _Curves:
    """Scalars for MindInsight, written round by round."""

    def __init__(self, folder: str) -> None:
        from mindspore.train import SummaryRecord

        self._record = SummaryRecord(folder)

    def add(self, number: int, values: Mapping[str, float]) -> None:
        from mindspore import Tensor

        for name, value in values.items():
            self._record.add_value("scalar", name, Tensor(np.float32(value)))
        self._record.record(number)
        self._record.flush()

    def __enter__(self) -> _Curves:
        return self

    def __exit__(self, *_: object) -> None:
        self._record.close()


class _Simulation:
    def __init__(self, loss: Loss | None, initial: Arrays, clients: Sequence[Client] | int, algorithm: FedAvg,
                 epochs: int, batch_size: int, rate: float, seed: int, client_update: ClientUpdate | None,
                 chunk: int | None, per_round: int, runner: Runner) -> None:
        states = weights_of(loss, trained=False) if is_cell(loss) else {}
        self.count = clients if isinstance(clients, int) else len(clients)
        self._data: Sequence[Client] = [] if isinstance(clients, int) else clients
        self._shapes = {name: np.shape(value) for name, value in initial.items()}
        self._state_shapes = {name: np.shape(value) for name, value in states.items()}
        self.vector, self._state = flatten(initial), flatten(states)
        self.algorithm, self._seed, self._runner = algorithm, seed, runner
        room = _CHUNK_BYTES if loss is not None else _CACHE_BYTES
        self._chunk = chunk or _even_chunk(per_round, max(1, min(64, room // max(1, self.vector.nbytes))))
        self._epochs, self._batch = epochs, batch_size
        self.now = 0.0                                      # the simulated time, with a trace
        runner.start(Plan(loss, client_update, self._shapes, self._state_shapes, epochs, batch_size, rate, seed,
                          self._chunk), self._data)
        algorithm.prepare(self.vector.size, self.count)

    def weights(self) -> dict[str, Floats]:
        """The global weights by name."""
        return {**unflatten(self.vector, self._shapes), **unflatten(self._state, self._state_shapes)}

    def personal(self, client: int) -> dict[str, Floats]:
        """The weights a client uses for itself."""
        return {**unflatten(self.algorithm.personal(client, self.vector), self._shapes),
                **unflatten(self._state, self._state_shapes)}

    def heard(self, chosen: Ids, number: int, dropout: float, speeds: Sequence[float] | None,
              deadline: float | None) -> Ids:
        """The chosen clients that answer in time."""
        stays = np.array([generator(self._seed, DROP, number, int(one)).random() >= dropout for one in chosen], bool)
        if speeds is not None and deadline is not None:
            stays &= np.array([self._steps(int(one)) / speeds[int(one)] <= deadline for one in chosen], bool)
        heard: Ids = chosen[stays]
        return heard

    def heard_in(self, trace: Trace, rng: np.random.Generator, wanted: int, number: int, dropout: float,
                 deadline: float | None) -> Ids:
        """Choose among the clients that are there, move the clock to the end of the round; those that answer in time."""
        there = trace.reachable(self.now)
        while not len(there):
            self.now = trace.next_arrival(self.now)
            there = trace.reachable(self.now)
        chosen = there[_chosen(rng, len(there), min(wanted, len(there)), "fixed")]
        stays = self.heard(chosen, number, dropout, None, None)
        heard: Ids = np.array([one for one in stays if trace.in_time(int(one), self.now, self._steps(int(one)), deadline)], np.int64)
        waited = [trace.seconds(int(one), self._steps(int(one))) for one in heard]
        self.now += deadline if deadline is not None and len(heard) < len(chosen) else max(waited, default=1.0)
        return heard

    def round(self, ids: Ids, number: int) -> float:
        """One round over these clients; the mean loss of their first steps."""
        algorithm = self.algorithm
        if not len(ids):
            self.vector = algorithm.nobody(self.vector)
            return float("nan")
        order = ids[np.argsort([self._steps(int(one)) for one in ids], kind="stable")]   # alike clients together
        chunks = [order[at:at + self._chunk] for at in range(0, len(order), self._chunk)]
        total, states = np.zeros(self.vector.size, np.float64), np.zeros(self._state.size, np.float64)
        weight, samples, losses, kept = 0.0, 0.0, [], []
        for part in self._runner.run(algorithm, self.vector, self._state, chunks, number):
            total += part.total
            weight += part.weight
            states += part.states
            samples += part.samples
            losses += part.losses
            kept.append(part.each)
        each = [pair for pair in kept if pair is not None]
        if each:
            mean = algorithm.combine(np.concatenate([sent for sent, _ in each]), np.concatenate([some for _, some in each]))
        else:
            mean = (total / weight).astype(np.float32)
        self.vector = algorithm.server_step(self.vector, mean, len(ids))
        self._state = (states / samples).astype(np.float32)
        return float(np.mean(losses)) if losses else 0.0

    def _steps(self, client: int) -> int:
        return self._epochs * -(-len(self._data[client][1]) // self._batch) if len(self._data) else 1


def _even_chunk(clients: int, most: int) -> int:
    """The size of equal chunks of at most `most`: the last one is padded to the same shape, which costs."""
    chunks = -(-max(1, clients) // most)
    return -(-max(1, clients) // chunks)
