"""Collective functions on Python objects. They travel pickled, between processes of one run that trust one another."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from mindspore.mint.distributed.groups import _name
from mindspore.prims import world


def _to_array(obj: Any) -> np.ndarray:
    return np.frombuffer(pickle.dumps(obj), np.uint8)


def _from_array(array: np.ndarray) -> Any:
    return pickle.loads(array.tobytes())


def _check_list(function: str, name: str, objects: Any, length: int | None = None) -> None:
    if not isinstance(objects, list):
        raise TypeError(f"For {function}, '{name}' must be a list, but got {type(objects).__name__}.")
    if length is not None and len(objects) != length:
        raise ValueError(f"For {function}, '{name}' must have {length} elements, but got {len(objects)}.")


def _exchange(parts: list[np.ndarray], ranks: tuple[int, ...]) -> list[np.ndarray]:
    """Give bytes i to member i: the lengths first, so that each knows what to expect."""
    transport = world.transport()
    lengths = transport.all_to_all([np.array([p.size]) for p in parts], [((1,), np.int64)] * len(ranks), ranks)
    return transport.all_to_all(parts, [((int(n[0]),), np.uint8) for n in lengths], ranks)


def all_gather_object(object_list: list, obj: Any, group: str | None = None) -> None:
    """Put the object of member i into `object_list[i]`."""
    ranks = world.members(_name(group))
    _check_list("all_gather_object", "object_list", object_list, len(ranks))
    object_list[:] = [_from_array(a) for a in _exchange([_to_array(obj)] * len(ranks), ranks)]


def broadcast_object_list(object_list: list, src: int = 0, group: str | None = None, device: Any = None) -> None:
    """Replace the elements of the list by those of rank `src`."""
    _check_list("broadcast_object_list", "object_list", object_list)
    if not object_list:
        raise ValueError("For broadcast_object_list, 'object_list' must not be empty.")
    ranks, transport = world.members(_name(group)), world.transport()
    data = _to_array(object_list)
    (length,) = transport.broadcast(np.array([data.size]), src, ranks)
    data = data if transport.rank == src else np.resize(data, int(length))  # as large as what comes
    object_list[:] = _from_array(transport.broadcast(data, src, ranks))


def gather_object(obj: Any, object_gather_list: list | None = None, dst: int = 0, group: str | None = None) -> None:
    """At rank `dst`, put the object of member i into `object_gather_list[i]`."""
    ranks = world.members(_name(group))
    here = world.transport().rank == dst
    if here:
        _check_list("gather_object", "object_gather_list", object_gather_list, len(ranks))
    empty = np.zeros(0, np.uint8)
    got = _exchange([_to_array(obj) if rank == dst else empty for rank in ranks], ranks)
    if here and object_gather_list is not None:
        object_gather_list[:] = [_from_array(a) for a in got]


def scatter_object_list(
    scatter_object_output_list: list, scatter_object_input_list: list | None, src: int = 0, group: str | None = None
) -> None:
    """Put element i of the list of rank `src` into the first place of the output list of member i."""
    ranks = world.members(_name(group))
    _check_list("scatter_object_list", "scatter_object_output_list", scatter_object_output_list)
    if not scatter_object_output_list:
        raise ValueError("For scatter_object_list, 'scatter_object_output_list' must not be empty.")
    parts = [np.zeros(0, np.uint8)] * len(ranks)
    if world.transport().rank == src:
        _check_list("scatter_object_list", "scatter_object_input_list", scatter_object_input_list, len(ranks))
        parts = [_to_array(obj) for obj in scatter_object_input_list or ()]
    scatter_object_output_list[0] = _from_array(_exchange(parts, ranks)[ranks.index(src)])


def send_object_list(object_list: list, dst: int, group: str | None = None, device: Any = None) -> None:
    """Send the elements of a list to rank `dst`."""
    _check_list("send_object_list", "object_list", object_list)
    data = _to_array(object_list)
    world.transport().exchange([world.Message(dst, np.array([data.size]))], [])
    world.transport().exchange([world.Message(dst, data)], [])


def recv_object_list(object_list: list, src: int = 0, group: str | None = None, device: Any = None) -> int:
    """Replace the elements of the list by those that rank `src` sends; returns the rank they came from."""
    _check_list("recv_object_list", "object_list", object_list)
    (length,) = world.transport().exchange([], [world.Expected(src, (1,), np.dtype(np.int64))])
    (data,) = world.transport().exchange([], [world.Expected(src, (int(length[0]),), np.dtype(np.uint8))])
    object_list[:] = _from_array(data)
    return src
