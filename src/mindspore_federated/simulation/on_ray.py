"""The same simulation on a Ray cluster: actors train the chunks, this process adds them up in their order.

    from mindspore_federated.simulation.on_ray import RayRunner
    simulate(loss, None, clients, rounds=10, clients_per_round=1000, runner=RayRunner(workers=8))

Every actor compiles the function once and reads the clients' data from Ray's store, where it lies once per machine. A chunk
takes along the algorithm's copy with the state of its clients and brings it back. Chunks and their order do not
depend on the number of actors, so a simulation gives the same bits here, on another cluster and without Ray. The loss has
to be something that Ray can send: a network, or a function of a module or script.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mindspore_federated.algorithms.base import FedAvg, Floats, Ids
from mindspore_federated.simulation.training import Client, Plan, Trained, Trainer


class RayRunner:
    """Trains chunks on `workers` actors (one for each CPU of the cluster, unless told)."""

    def __init__(self, workers: int | None = None, cpus_per_worker: float = 1.0) -> None:
        try:
            import ray
        except ImportError as error:
            raise ImportError("RayRunner needs Ray: pip install 'pymindspore[ray]'") from error
        if workers is not None and workers < 1:
            raise ValueError(f"workers should be at least 1, but got {workers}")
        self._ray: Any = ray
        self._workers, self._cpus = workers, cpus_per_worker
        self._actors: list[Any] = []

    def start(self, plan: Plan, clients: Sequence[Client]) -> None:
        """Start the actors; Ray itself is started on this machine if it does not run."""
        if not self._ray.is_initialized():
            self._ray.init(include_dashboard=False, log_to_driver=False)
        count = self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 1) / self._cpus))
        data = self._ray.put(list(clients))
        actor = self._ray.remote(num_cpus=self._cpus)(_Actor)
        self._actors = [actor.remote(plan, data) for _ in range(count)]

    def run(self, algorithm: FedAvg, vector: Floats, state: Floats, chunks: Sequence[Ids], number: int
            ) -> Iterable[Trained]:
        """What the chunks bring; an actor gets its next one when it is free."""
        common = self._ray.put((vector, state))
        waiting = list(enumerate(chunks))[::-1]
        free, running, done, due = list(self._actors), {}, {}, 0
        while due < len(chunks):
            while free and waiting:
                place, ids = waiting.pop()
                actor = free.pop()
                running[actor.train.remote(algorithm.lend(ids), common, ids, number)] = place, actor
            (ready,), _ = self._ray.wait(list(running), num_returns=1)
            place, actor = running.pop(ready)
            free.append(actor)
            done[place] = self._ray.get(ready)
            while due in done:
                part, lent = done.pop(due)
                algorithm.take_back(lent)
                due += 1
                yield part

    def close(self) -> None:
        """End the actors."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []


class _Actor:
    def __init__(self, plan: Plan, clients: Sequence[Client]) -> None:
        self._trainer = Trainer(plan, clients)

    def train(self, algorithm: FedAvg, common: tuple[Floats, Floats], ids: Ids, number: int) -> tuple[Trained, FedAvg]:
        vector, state = common
        part = self._trainer.train(algorithm, vector, state, ids, number)
        return part, algorithm
