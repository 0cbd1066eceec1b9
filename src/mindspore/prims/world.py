"""Which processes take part in a run, in what groups, and how arrays travel between them.

Collective primitives ask this module. A run starts alone (`Alone`: one process, rank 0); a transport between processes
subclasses `Transport`, says its rank and size and how messages are exchanged, and is installed by `connect`. Every
collective is defined here by that one operation; a transport overrides those that it can do faster (rings, trees).
"""

from __future__ import annotations

import abc
import contextlib
import math
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

WORLD_GROUPS = ("hccl_world_group", "nccl_world_group", "mccl_world_group")
REDUCTIONS = ("sum", "max", "min", "prod", "avg")
#: names of groups that are lines or planes of a mesh of devices begin so (prims/mesh.py)
MESH = "mesh:"
#: the name of a mesh's axis in XLA programs
MESH_AXIS = "mesh{}".format


class Message(NamedTuple):
    """An array for a process."""

    to: int
    array: np.ndarray


class Expected(NamedTuple):
    """An array that a process will send us."""

    source: int
    shape: tuple[int, ...]
    dtype: np.dtype


class UnderWay(Protocol):
    """An operation that may not be complete yet."""

    def wait(self) -> Any:
        """Its result, when it is there."""


class Done:
    """An operation that is complete."""

    def __init__(self, result: Any):
        self.result = result

    def wait(self) -> Any:
        return self.result


class Transport(abc.ABC):
    """Moves NumPy arrays between the processes of a run.

    Ranks are those of the world; `ranks` lists a group's members.
    """

    rank: int
    size: int

    @abc.abstractmethod
    def exchange(self, sends: list[Message], receives: list[Expected], tag: int = 0) -> list[np.ndarray]:
        """Send and receive at once; blocks until all of `receives` are there."""

    def barrier(self, ranks: tuple[int, ...]) -> None:
        self.all_gather(np.zeros((), np.int8), ranks)

    def all_gather(self, array: np.ndarray, ranks: tuple[int, ...]) -> list[np.ndarray]:
        """The arrays of all members, in the order of their ranks in the group."""
        return self.all_to_all([array] * len(ranks), [(array.shape, array.dtype)] * len(ranks), ranks)

    def all_to_all(self, parts: list[np.ndarray], expected: list[tuple[Any, Any]], ranks: tuple[int, ...]) -> list:
        """Give part i to member i; the result is what each member gave us."""
        sends = [Message(rank, part) for rank, part in zip(ranks, parts)]
        receives = [Expected(rank, tuple(shape), np.dtype(dtype)) for rank, (shape, dtype) in zip(ranks, expected)]
        return self.exchange(sends, receives)

    def all_reduce(self, array: np.ndarray, op: str, ranks: tuple[int, ...]) -> np.ndarray:
        """Combine the arrays of all members; in rank order, so that every member gets the same bits."""
        return reduce_arrays(op, self.all_gather(array, ranks))

    def broadcast(self, array: np.ndarray, root: int, ranks: tuple[int, ...]) -> np.ndarray:
        """The array of the member whose world rank is `root`."""
        if self.rank == root:
            self.exchange([Message(rank, array) for rank in ranks if rank != root], [])
            return array
        return self.exchange([], [Expected(root, array.shape, array.dtype)])[0]

    # -- begun and awaited later; a transport overrides those that go on by themselves ------------------------------------
    def start_exchange(self, sends: list[Message], receives: list[Expected], tag: int = 0) -> UnderWay:
        return Done(self.exchange(sends, receives, tag))

    def start_all_gather(self, array: np.ndarray, ranks: tuple[int, ...]) -> UnderWay:
        return Done(self.all_gather(array, ranks))

    def start_all_to_all(self, parts: list[np.ndarray], expected: list[tuple[Any, Any]], ranks: tuple[int, ...]) -> UnderWay:
        return Done(self.all_to_all(parts, expected, ranks))

    def start_all_reduce(self, array: np.ndarray, op: str, ranks: tuple[int, ...]) -> UnderWay:
        return Done(self.all_reduce(array, op, ranks))

    def start_broadcast(self, array: np.ndarray, root: int, ranks: tuple[int, ...]) -> UnderWay:
        return Done(self.broadcast(array, root, ranks))

    def close(self) -> None:  # noqa: B027 - most transports hold nothing
        """Leave the run."""


class NativeTransport(Transport):
    """A transport over the MPI library, whose functions native code calls by address.

    `cell`: the address of three words; a native call counts up the first, has the number of its note in the second while it
    lasts, and leaves its status in the third.
    """

    cell: int

    @abc.abstractmethod
    def communicator(self, ranks: tuple[int, ...]) -> int:
        """MPI's handle of a group."""

    @abc.abstractmethod
    def outbox(self) -> int:
        """The address of the messages under way that native code has sent (backends/cpu/outbox.py)."""

    @abc.abstractmethod
    def note(self, name: str, ranks: tuple[int, ...], description: str, location: str) -> int:
        """A number for an operation, by which reports can say what is waited for."""

    @abc.abstractmethod
    def described(self, note: int) -> str:
        """The operation without its place in the program."""

    @abc.abstractmethod
    def comparisons(self, ranks: tuple[int, ...]) -> tuple[int, int]:
        """Where it is counted how often the members of a group compared what they do, and how often they are to."""

    @abc.abstractmethod
    def failed(self, note: int, different: bool) -> NoReturn:
        """Raise the error of a native call: MPI's, or that the processes are about to do different things."""


def reduce_arrays(op: str, arrays: list[np.ndarray]) -> np.ndarray:
    """Combine arrays element by element; short floats are summed in float32."""
    combine = {"sum": np.add, "avg": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[op]
    dtype = arrays[0].dtype
    wide = np.float32 if dtype.itemsize <= 2 and dtype.kind not in "iub" and op not in ("max", "min") else dtype
    with np.errstate(all="ignore"):
        total = arrays[0].astype(wide)
        for array in arrays[1:]:
            total = combine(total, array.astype(wide))
        return averaged(np.asarray(total), op, len(arrays)).astype(dtype)


def averaged(total: np.ndarray, op: str, count: int) -> np.ndarray:
    """A sum of `count` arrays, or their average if that is what `op` asks for."""
    if op != "avg":
        return total
    return total // count if total.dtype.kind in "iu" else total / total.dtype.type(count)


class Alone(Transport):
    """The only process of a run. Messages to itself wait until they are received."""

    rank, size = 0, 1

    def __init__(self) -> None:
        self._waiting: dict[int, deque] = {}

    def exchange(self, sends: list[Message], receives: list[Expected], tag: int = 0) -> list[np.ndarray]:
        waiting = self._waiting.setdefault(tag, deque())
        for message in sends:
            _require_member(message.to)
            waiting.append(np.array(message.array))
        for expected in receives:
            _require_member(expected.source)
        if len(receives) > len(waiting):
            raise RuntimeError("receiving from this process itself would wait forever: nothing was sent before.")
        return [as_expected(waiting.popleft(), expected) for expected in receives]


def _require_member(rank: int) -> None:
    if rank != 0:
        raise ValueError(f"there is no process of rank {rank}: this run has one process, of rank 0.")


def as_expected(array: np.ndarray, expected: Expected) -> np.ndarray:
    """A message as its receiver described it."""
    if array.dtype != expected.dtype or array.size != math.prod(expected.shape):
        raise ValueError(
            f"expected an array of {expected.dtype} with shape {expected.shape}, "
            f"but {array.dtype} with shape {array.shape} was sent."
        )
    return array.reshape(expected.shape)


class Rehearsal(Transport):
    """A dry run: the other processes are imagined, and hold the same values as this one."""

    def __init__(self, rank: int, size: int):
        self.rank, self.size = rank, size

    def exchange(self, sends: list[Message], receives: list[Expected], tag: int = 0) -> list[np.ndarray]:
        mine = next((message.array for message in sends if message.to == self.rank), None)
        return [_fitted(mine, expected) for expected in receives]

    def broadcast(self, array: np.ndarray, root: int, ranks: tuple[int, ...]) -> np.ndarray:
        return array


def _fitted(array: np.ndarray | None, expected: Expected) -> np.ndarray:
    if array is not None and array.shape == expected.shape and array.dtype == expected.dtype:
        return np.array(array)
    return np.zeros(expected.shape, expected.dtype)


# ---------------------------------------------------------------------------------------------------------------------
class _World:
    transport: Transport = Alone()
    inited = False
    groups: dict[str, tuple[int, ...]] = {}


def connect(transport: Transport) -> None:
    """Join a run."""
    _World.transport, _World.groups, _World.inited = transport, {}, True


def disconnect() -> None:
    """Leave the run; the process is alone again."""
    _World.transport.close()
    _World.transport, _World.groups, _World.inited = Alone(), {}, False


@contextlib.contextmanager
def acting_as(transport: Transport) -> Iterator[None]:
    """Within, this process is another one: that of a rank of an imagined run."""
    before, _World.transport = _World.transport, transport
    try:
        yield
    finally:
        _World.transport = before


def connected() -> bool:
    return _World.inited


def transport() -> Transport:
    return _World.transport


def place() -> tuple[int, int]:
    """The rank of this process, and the number of processes."""
    return _World.transport.rank, _World.transport.size


def add_group(name: str, ranks: tuple[int, ...]) -> None:
    _World.groups[name] = ranks


def remove_group(name: str) -> None:
    _World.groups.pop(name, None)


def has_group(name: str) -> bool:
    return name in _World.groups


def members(name: str) -> tuple[int, ...]:
    """World ranks of a group's members. Before a run is joined every group is this process alone."""
    if name in _World.groups:
        return _World.groups[name]
    mesh = mesh_of(name)
    if mesh is not None:
        return mesh_members(*mesh, _World.transport.rank)
    if name in WORLD_GROUPS or not _World.inited:
        return tuple(range(_World.transport.size))
    known = ", ".join((WORLD_GROUPS[0], *_World.groups))
    raise RuntimeError(f"The communication group '{name}' does not exist: create it by create_group. Known: {known}.")


def mesh_of(name: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The shape of the mesh and the axes that a group's name states; None for groups that are no part of a mesh."""
    if not name.startswith(MESH):
        return None
    shape, axes = name[len(MESH) :].split(":")
    return tuple(map(int, shape.split("x"))), tuple(map(int, axes.split(",")))


def mesh_index(shape: tuple[int, ...], axes: tuple[int, ...], rank: int) -> int:
    """The number of a rank along some axes of a mesh, the first of them slowest."""
    place = np.unravel_index(rank, shape)
    index = 0
    for axis in axes:
        index = index * shape[axis] + int(place[axis])
    return index


def mesh_members(shape: tuple[int, ...], axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """The ranks that differ from `rank` along these axes only, in the order of their numbers along them.

    Where there are more ranks than the mesh has, as in a pipeline, the next ones make up another mesh.
    """
    size = math.prod(shape)
    grid = np.arange(rank - rank % size, rank - rank % size + size).reshape(shape)
    place = np.unravel_index(rank % size, shape)
    plane = grid[tuple(slice(None) if axis in axes else int(p) for axis, p in enumerate(place))]
    kept = sorted(axes)
    return tuple(int(r) for r in plane.transpose([kept.index(a) for a in axes]).ravel())


def all_like(name: str) -> list[list[int]] | None:
    """The group and others of its size that together are all processes, each once; None if there are none such."""
    ranks, everyone = members(name), range(_World.transport.size)
    mesh = mesh_of(name)
    if mesh is not None:
        return [list(r) for r in sorted({mesh_members(*mesh, rank) for rank in everyone})]
    chosen = [ranks]
    for other in _World.groups.values():
        if len(other) == len(ranks) and not any(set(other) & set(c) for c in chosen):
            chosen.append(other)
    covered = sorted(r for c in chosen for r in c)
    return [list(r) for r in sorted(chosen)] if covered == list(everyone) else None


def group_size(name: str) -> int:
    return len(members(name))


def group_rank(name: str) -> int:
    """This process's rank in a group."""
    ranks = members(name)
    if _World.transport.rank not in ranks:
        raise RuntimeError(f"The process of rank {_World.transport.rank} is no member of group '{name}' {ranks}.")
    return ranks.index(_World.transport.rank)
