"""Arrays between processes by XLA's own collectives (Gloo between CPUs, NCCL between GPUs), without MPI.

For processes that exist already, such as the actors of Ray, and for clusters without an MPI library: `MS_TRANSPORT=xla`.
The processes join JAX's distributed run at MS_SCHED_HOST:MS_SCHED_PORT; under msrun, whose meeting point is there, at an address that rank
0 tells the others by it. Graphs on the XLA backend have their collectives inside one program
of all processes (`backends/xla/processes.py`); what remains for this module are the collectives of PyNative mode. They gather bytes, so
every element type travels as it is, and are combined in the order of ranks. Messages go over TCP (`mailbox.py`).

A process that is lost makes the others' collectives fail with an error of Gloo or NCCL: it is raised where the program waits. The first
collectives of a group are compared between its members, and a wait that lasts longer than `MS_NODE_TIMEOUT` ends the process with a
report of what it waits for and where, as with MPI (`watchdog.py`).
"""

from __future__ import annotations

import atexit
import secrets
import socket
from collections import Counter
from typing import Any

import numpy as np

from mindspore._base import flags
from mindspore._base.optional import require
from mindspore.backends.xla import coordination
from mindspore.prims import world
from mindspore.prims.world import Expected, Message
from mindspore.runtime.transports import watchdog
from mindspore.runtime.transports.mailbox import Mailbox

_AXIS = "processes"


class XlaTransport(world.Transport):
    """The processes of one distributed run of JAX."""

    def __init__(self, address: str, rank: int, size: int, meets: bool = False):
        """`meets`: a launcher's meeting point is at MS_SCHED_HOST:MS_SCHED_PORT; `address` is where JAX's processes meet."""
        self._jax: Any = require("jax", "xla", "runs of several processes by XLA")
        self.rank, self.size = rank, size
        self._programs: dict[tuple[int, ...], tuple[Any, Any]] = {}
        self._compared: Counter[tuple[int, ...]] = Counter()
        watchdog.watch(rank, meets)
        if not self._jax.distributed.is_initialized():
            coordination.join(self._jax, address, size, rank, flags.integer("MS_TOPO_TIMEOUT", 600))
        by_process = {d.process_index: d for d in reversed(self._jax.devices())}
        self._devices = [by_process[r] for r in range(size)]
        self._mailbox = Mailbox(rank, self._secret(), own_host(address))
        atexit.register(_leave)
        self._addresses = [bytes(a).rstrip(b"\0").decode() for a in self._everyone(self._mailbox.address.encode().ljust(128, b"\0"))]

    def _secret(self) -> str:
        """Of rank 0, so that strangers cannot send messages."""
        return bytes(self._everyone(secrets.token_bytes(16))[0]).hex()

    def _everyone(self, data: bytes) -> list[np.ndarray]:
        return self.all_gather(np.frombuffer(data, np.uint8), tuple(range(self.size)))

    # -- collectives ------------------------------------------------------------------------------------------------
    def all_gather(self, array: np.ndarray, ranks: tuple[int, ...]) -> list[np.ndarray]:
        return self._together(watchdog.Waiting("AllGather", ranks, watchdog.kind_of(array)), array)

    def all_reduce(self, array: np.ndarray, op: str, ranks: tuple[int, ...]) -> np.ndarray:
        return world.reduce_arrays(op, self._together(watchdog.Waiting("AllReduce", ranks, f"{op} of {watchdog.kind_of(array)}"), array))

    def barrier(self, ranks: tuple[int, ...]) -> None:
        self._together(watchdog.Waiting("Barrier", ranks), np.zeros((), np.int8))

    def broadcast(self, array: np.ndarray, root: int, ranks: tuple[int, ...]) -> np.ndarray:
        what = watchdog.Waiting("Broadcast", ranks, f"{watchdog.kind_of(array)} from rank {root}")
        return self._together(what, array)[ranks.index(root)]

    def _together(self, what: watchdog.Waiting, array: np.ndarray) -> list[np.ndarray]:
        """The arrays of all members, who must be about to do the same."""
        ranks = what.ranks
        if self.rank not in ranks:
            raise RuntimeError(f"The process of rank {self.rank} is no member of the group {ranks}.")
        with watchdog.waiting(what):
            if self._compared[ranks] < watchdog.COMPARED:
                self._compared[ranks] += 1
                digests = self._gathered(np.asarray(watchdog.digest_of(what), np.int64), ranks)
                if len({int(d) for d in digests}) > 1:
                    raise watchdog.difference(what, self._gathered(watchdog.as_text(what), ranks))
            return self._gathered(array, ranks)

    def _gathered(self, array: np.ndarray, ranks: tuple[int, ...]) -> list[np.ndarray]:
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        if not raw.size:
            return [np.array(array) for _ in ranks]
        cut, gather = self._program(ranks)
        local = self._jax.device_put(raw[None], self._devices[self.rank])
        whole = self._jax.make_array_from_single_device_arrays((len(ranks), raw.size), cut, [local])
        gathered = np.array(gather(whole).addressable_shards[0].data)
        return [row.view(array.dtype).reshape(array.shape) for row in gathered]

    def _program(self, ranks: tuple[int, ...]) -> tuple[Any, Any]:
        """How the bytes of a group lie on its devices, and the program that gives them to all."""
        if ranks not in self._programs:
            sharding, spec = self._jax.sharding, self._jax.sharding.PartitionSpec
            mesh = sharding.Mesh(np.array([self._devices[r] for r in ranks]), (_AXIS,))
            gather = self._jax.jit(lambda x: x, out_shardings=sharding.NamedSharding(mesh, spec()))
            self._programs[ranks] = sharding.NamedSharding(mesh, spec(_AXIS)), gather
        return self._programs[ranks]

    # -- messages ---------------------------------------------------------------------------------------------------
    def exchange(self, sends: list[Message], receives: list[Expected], tag: int = 0) -> list[np.ndarray]:
        return self.start_exchange(sends, receives, tag).wait()

    def start_exchange(self, sends: list[Message], receives: list[Expected], tag: int = 0) -> _Receiving:
        for message in sends:
            self._mailbox.send(self._address(message.to), np.asarray(message.array), tag)
        for expected in receives:
            self._address(expected.source)
        return _Receiving(self._mailbox, receives, tag)

    def _address(self, rank: int) -> str:
        if not 0 <= rank < self.size:
            raise ValueError(f"there is no process of rank {rank}: this run has {self.size}, from 0 on.")
        return self._addresses[rank]

    def close(self) -> None:
        self._mailbox.close()


class _Receiving:
    """Messages that may not be there yet."""

    def __init__(self, mailbox: Mailbox, receives: list[Expected], tag: int):
        self.mailbox, self.receives, self.tag = mailbox, receives, tag
        self.results: list[np.ndarray] | None = None

    def wait(self) -> list[np.ndarray]:
        if self.results is None:
            patience = float(flags.integer("MS_NODE_TIMEOUT", 300))
            got = [self.mailbox.receive(e.source, self.tag, patience) for e in self.receives]
            self.results = [world.as_expected(array, expected) for array, expected in zip(got, self.receives)]
        return self.results


def _leave() -> None:
    """At the end of the program: after an error at once, which ends the others, too."""
    if watchdog.failed():
        watchdog.flush_and_exit(1)
    with watchdog.leaving():
        pass


def own_host(address: str) -> str:
    """The address of this machine that is seen from where the processes meet."""
    host, _, port = address.rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, int(port)))  # sends nothing
        return probe.getsockname()[0]
