"""A run of processes on a Ray cluster: actors that each hold one rank.

    workers = ms.parallel.RayWorkers(4)
    losses = workers.run(train, "cifar10")      # train("cifar10") on every actor; the results in the order of ranks
    workers.close()

Actors are no children of a launcher, so they communicate by XLA (`runtime/transports/xla.py`). Within the function `init()` has
been called, and graphs run on the XLA backend. The function, its arguments and its results are sent by Ray.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from typing import Any

from mindspore._base.optional import require


class RayWorkers:
    """`count` actors, each a process of one run.

    Args:
        count: the number of processes.
        cpus, gpus: what Ray reserves for each.
        variables: further environment variables of the processes.

    Examples:
        >>> workers = ms.parallel.RayWorkers(2)  # doctest: +SKIP
        >>> workers.run(lambda: ms.communication.get_rank())  # doctest: +SKIP
        [0, 1]
    """

    def __init__(self, count: int, cpus: float = 1.0, gpus: float = 0.0, variables: Mapping[str, str] | None = None):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"For 'RayWorkers', 'count' must be a positive int, but got {count!r}.")
        self._ray: Any = require("ray", "ray", "runs of processes on Ray")
        if not self._ray.is_initialized():
            self._ray.init(include_dashboard=False)
        actor = self._ray.remote(num_cpus=cpus, num_gpus=gpus, max_restarts=0)(_Worker)
        self._actors = [actor.remote() for _ in range(count)]
        host, port = self._ray.get(self._actors[0].meeting_point.remote())
        settings = dict(variables or {})
        joined = [a.join.remote(rank, count, host, port, settings) for rank, a in enumerate(self._actors)]
        self._ray.get(joined)

    def run(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """`function(*args)` on every process at the same time; the results in the order of ranks.

        What a process raises is raised here; if one is lost, the others are ended.
        """
        started = [actor.run.remote(function, args) for actor in self._actors]
        try:
            return self._ray.get(started)
        except self._ray.exceptions.RayActorError as error:
            lost = [rank for rank, one in enumerate(started) if self._is_lost(one)]
            self.close()
            raise RuntimeError(f"The run on Ray has failed: the processes of ranks {lost} were lost.") from error

    def _is_lost(self, started: Any) -> bool:
        try:
            self._ray.get(started, timeout=1)
        except self._ray.exceptions.RayActorError:
            return True
        except self._ray.exceptions.RayError:  # it raised, or waits for the one that was lost
            return False
        return False

    def close(self) -> None:
        """End the processes."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []


class _Worker:
    """One process. Nothing of the framework is imported before its variables are set."""

    def meeting_point(self) -> tuple[str, int]:
        import ray

        with socket.socket() as probe:
            probe.bind(("", 0))
            return ray.util.get_node_ip_address(), probe.getsockname()[1]

    def join(self, rank: int, size: int, host: str, port: int, variables: dict[str, str]) -> None:
        os.environ.update(
            {
                "MS_TRANSPORT": "xla", "MS_DEV_BACKEND": "xla", "MS_ROLE": "MS_WORKER", "MS_WORKER_NUM": str(size),
                "MS_NODE_ID": str(rank), "RANK_ID": str(rank), "RANK_SIZE": str(size), "MS_SCHED_HOST": host,
                "MS_SCHED_PORT": str(port), **variables,
            }
        )  # fmt: skip
        from mindspore.communication import init

        init()

    def run(self, function: Callable[..., Any], args: tuple) -> Any:
        return function(*args)
