"""Which servables run, in which versions, and the way of a request to one of them. Lives in the server's event loop."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.engine.location import Location, versions
from mindspore_serving.engine.pool import MethodInfo, Pool, StartFailed
from mindspore_serving.engine.queue import QueueClosed, Request, RequestQueue, Waiter
from mindspore_serving.engine.residency import Residency
from mindspore_serving.engine.statistics import Statistics
from mindspore_serving.engine.values import Instance

#: requests that may wait or run at once, for one version of a servable
MAX_ENQUEUED = 10000
#: seconds after which a request whose deadline has passed is given up even if a worker has it
_GRACE = 0.05


#: of a request's instances
Answers = asyncio.Future[list[Instance | ServingError]]


@dataclass(frozen=True)
class Spec:
    """What a client asks for; version 0: the newest that runs."""

    servable: str
    method: str
    version: int = 0

    def __str__(self) -> str:
        version = f" version({self.version}) " if self.version else ""
        return f"servable({self.servable}) method({self.method}) {version}"


class Route(NamedTuple):
    """Where requests for a method of a version go."""

    spec: Spec
    pool: Pool
    method: MethodInfo


@dataclass
class Deployment:
    """How a version is to be run."""

    location: Location
    workers: int = 1
    key: bytes | None = None
    mode: str = "AES-GCM"
    logs: str = ""  # folder of the workers' log files
    group: tuple[Any, ...] = ()  # where the agents of a distributed servable come to


class Dispatcher:
    def __init__(self, loop: asyncio.AbstractEventLoop, on_end: Callable[[], None]) -> None:
        self._loop = loop
        self._on_end = on_end
        self._lock = threading.Lock()
        self._pools: dict[str, dict[int, Pool]] = {}  # replaced under the lock, never changed: every request reads it
        #: what protocols have found in them by name; another dictionary after every replacement, so that nothing old is found
        self.routes: dict[tuple[str, str], Route] = {}
        self._starting: set[Pool] = set()
        self._leaving: set[Pool] = set()
        self._deployments: dict[str, tuple[Deployment, Sequence[int]]] = {}
        self.max_enqueued = MAX_ENQUEUED
        self.batch_delay = 0.0
        self.max_seconds = 0.0  # that a request may take; 0: any time
        self.draining = False
        #: which servables are in memory, where not all fit
        self.residency: Residency | None = None
        #: what else must be at work for the server to be ready
        self.conditions: list[Callable[[], bool]] = []

    @property
    def ready(self) -> bool:
        return not self.draining and all(pool.alive for pool in self.pools) and all(holds() for holds in self.conditions)

    # -- versions

    def deploy(self, deployment: Deployment, devices: Sequence[int] = (0,)) -> Pool:
        """Start the workers of a version; requests reach it when all are ready. `devices`: a worker each for models alone."""
        queue = RequestQueue(self._loop, self.batch_delay)
        secret, about = (deployment.key, deployment.mode), (deployment.logs, deployment.group)
        pool = Pool(self._loop, deployment.location, queue, Statistics(), *secret, self._pool_ended, *about)
        with self._lock:
            if self.draining:
                raise StartFailed("Fail to start workers: the server was stopped")
            self._starting.add(pool)
        try:
            pool.start([f"device{number}" for number in devices])
            if not all(method.only_models for method in pool.methods.values()):
                pool.start([f"extra{number}" for number in range(deployment.workers - len(devices))])
        except BaseException:
            self._starting.discard(pool)
            raise
        name, version = deployment.location.name, deployment.location.version or 1
        with self._lock:
            self._starting.discard(pool)
            old = self.versions(name).get(version)
            self._replace({**self._pools, name: {**self.versions(name), version: pool}})
            self._deployments[name] = (deployment, devices)
        if old is not None:
            self._retire(old)
        return pool

    def _replace(self, pools: dict[str, dict[int, Pool]]) -> None:
        self._pools = pools
        self.routes = {}  # second: whoever has it sees the new pools

    def limit_memory(self, limit: int) -> Residency:
        """From now on servables are loaded when they are asked for, within so many bytes."""

        def running() -> dict[str, list[Pool]]:
            return {name: list(versions.values()) for name, versions in self._pools.items()}

        self.residency = Residency(limit, running, self.withdraw)
        return self.residency

    async def wake(self, name: str) -> None:
        """Bring a servable into memory if it is not there; one that is not known is left to `find`."""
        if self.residency is not None:
            await self.residency.wake(name)

    def unload(self, name: str) -> None:
        """Stop a servable for good: it is loaded again by `reload` alone."""
        if self.residency is not None:
            self.residency.note_unloaded(name, True)
        self.withdraw(name)

    def withdraw(self, name: str, version: int = 0, timeout: float = 60.0) -> None:
        """Stop a version (0: all) once its requests are answered."""
        with self._lock:
            chosen = [pool for number, pool in self.versions(name).items() if version in (0, number)]
            kept = {number: pool for number, pool in self.versions(name).items() if pool not in chosen}
            others = {other: versions for other, versions in self._pools.items() if other != name}
            self._replace({**others, name: kept} if kept else others)
        for pool in chosen:
            self._retire(pool, timeout)

    def reload(self, name: str) -> None:
        """Start the newest version on disk and stop the others once their requests are answered: none fails."""
        if name not in self._deployments:
            raise ServingError(f"'{name}' is not among the servables of this server: {sorted(self._deployments)}", Kind.NOT_FOUND)
        if self.residency is not None:
            self.residency.note_unloaded(name, False)
        deployment, devices = self._deployments[name]
        place = deployment.location
        newest = max(versions(place.directory, place.name), default=place.version)
        try:
            self.deploy(replace(deployment, location=replace(place, version=newest)), devices)
        except StartFailed as error:
            raise ServingError(str(error), Kind.FAILED) from None
        for number in self.versions(name):
            if number != (newest or 1):
                self.withdraw(name, number)

    def _retire(self, pool: Pool, timeout: float = 60.0) -> None:
        self._leaving.add(pool)
        pool.queue.seal()
        pool.queue.drain(timeout)
        pool.stop()
        self._leaving.discard(pool)

    def _pool_ended(self) -> None:
        running = self.pools
        if running and not self.draining and not self._leaving and not any(pool.alive for pool in running):
            self._on_end()

    @property
    def pools(self) -> list[Pool]:
        return [pool for versions in self._pools.values() for pool in versions.values()]

    def versions(self, name: str) -> Mapping[int, Pool]:
        return self._pools.get(name, {})

    def names(self) -> list[str]:
        return list(self._pools)

    def stop(self, drain: float = 10.0) -> None:
        with self._lock:
            self.draining = True
            starting, running = [*self._starting], self.pools
        for pool in starting:
            pool.stop()
        end = time.monotonic() + drain
        for pool in running:
            if pool.alive:
                pool.queue.drain(max(end - time.monotonic(), 0))
        for pool in running:
            pool.stop()

    # -- requests

    def find(self, spec: Spec) -> tuple[Pool, MethodInfo]:
        versions = self.versions(spec.servable)
        pool = versions.get(spec.version or max(versions, default=0))
        if pool is None:
            raise ServingError(f"Request {spec}, servable is not available", Kind.NOT_FOUND)
        if spec.method not in pool.methods:
            raise ServingError(f"Request {spec}, method is not available", Kind.NOT_FOUND)
        return pool, pool.methods[spec.method]

    async def infer(
        self, spec: Spec, instances: list[Instance], deadline: float | None = None, priority: int = 0
    ) -> list[Instance | ServingError]:
        """The answers to instances; ServingError if the request as a whole is refused."""
        if self.draining:
            raise ServingError("the server is stopping", Kind.UNAVAILABLE)
        await self.wake(spec.servable)
        pool, method = self.find(spec)
        if self.max_seconds:
            deadline = min(time.monotonic() + self.max_seconds, deadline or math.inf)
        size = _share(len(instances), method.batch, pool.alive)
        if size >= len(instances):
            return await _in_time(await self._put(spec, pool, instances, deadline, priority), deadline)
        parts = [instances[start : start + size] for start in range(0, len(instances), size)]
        puts = [await self._put(spec, pool, part, deadline, priority) for part in parts]
        found = await asyncio.gather(*[_in_time(put, deadline) for put in puts])
        return [answer for part in found for answer in part]

    def queued(
        self, waiter: Waiter, route: Route, instances: list[Instance], deadline: float | None = None, priority: int = 0
    ) -> bool:
        """Whether `waiter` will get the answers; not, where more than they must be waited for. Then `infer` has to be asked."""
        if self.draining or self.residency is not None or deadline is not None or self.max_seconds:
            return False
        spec, pool, method = route
        if len(instances) > 1 and _share(len(instances), method.batch, pool.alive) < len(instances):
            return False
        try:
            pool.queue.put(Request(spec.method, instances, waiter, None, priority), self.max_enqueued)
        except QueueClosed:  # another version has taken its place
            return False
        return True

    async def _put(
        self, spec: Spec, pool: Pool, instances: list[Instance], deadline: float | None, priority: int
    ) -> Answers:
        future: Answers = self._loop.create_future()
        request = Request(spec.method, instances, future, deadline, priority)
        try:
            pool.queue.put(request, self.max_enqueued)
        except QueueClosed:  # replaced, or out of memory, since it was found
            await self.wake(spec.servable)
            other, _ = self.find(spec)
            other.queue.put(request, self.max_enqueued)
        return future


async def _in_time(answers: Answers, deadline: float | None) -> list[Instance | ServingError]:
    """The answers, if they are there by the deadline; nobody waits for what comes later."""
    if deadline is None:
        return await answers
    try:
        return await asyncio.wait_for(answers, max(deadline - time.monotonic(), 0) + _GRACE)
    except TimeoutError:
        raise ServingError("the deadline of the request has passed", Kind.DEADLINE) from None


def _share(count: int, full: int, workers: int) -> int:
    """Instances for each worker: batches of models stay full."""
    size = max(-(-count // max(workers, 1)), 1)
    return -(-size // full) * full
