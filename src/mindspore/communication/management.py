"""Joining and leaving a run; ranks and groups."""

from __future__ import annotations

from typing import Any

from mindspore import context
from mindspore._base import flags
from mindspore.communication import _comm_helper
from mindspore.communication._comm_helper import (  # noqa: F401 - user code imports them from here
    DEVICE_TO_BACKEND,
    HCCL_WORLD_COMM_GROUP,
    MCCL_WORLD_COMM_GROUP,
    NCCL_WORLD_COMM_GROUP,
    GlobalComm,
)
from mindspore.communication.launch import make_transport
from mindspore.prims import world
from mindspore.runtime.context import settle_in_world

_DEFAULT = HCCL_WORLD_COMM_GROUP


def init(backend_name: str | None = None) -> None:
    """Join the run that this process was started for. Calling it again changes nothing.

    `backend_name` is "hccl", "nccl" or "mccl"; by default the one that fits the device target.
    """
    if backend_name is None:
        backend_name = DEVICE_TO_BACKEND[context.get_context("device_target")]
    if not isinstance(backend_name, str):
        raise TypeError(
            f"For 'init', the argument 'backend_name' must be a string, but got the type : {type(backend_name)}"
        )
    if backend_name not in DEVICE_TO_BACKEND.values():
        raise RuntimeError(
            "For 'init', the argument 'backend_name' must be one of 'hccl', 'nccl' and 'mccl', "
            f"but got 'backend_name' : {backend_name}"
        )
    if not GlobalComm.INITED:
        world.connect(make_transport())
        settle_in_world()
    _comm_helper.joined(backend_name)


def release() -> None:
    """Leave the run. Groups are gone; `init` may be called again."""
    if GlobalComm.INITED:
        world.disconnect()
        settle_in_world()
    _comm_helper.left()


def get_rank(group: str = _DEFAULT) -> int:
    """The rank of this process in a group."""
    return world.group_rank(_group_name("get_rank", group))


def get_group_size(group: str = _DEFAULT) -> int:
    """The number of processes in a group."""
    return world.group_size(_group_name("get_group_size", group))


def get_local_rank(group: str = _DEFAULT) -> int:
    """The rank of this process among those of its group on this machine."""
    return get_rank(_group_name("get_local_rank", group)) % get_local_rank_size(group)


def get_local_rank_size(group: str = _DEFAULT) -> int:
    """The number of processes of a group on this machine."""
    size = get_group_size(_group_name("get_local_rank_size", group))
    return min(size, flags.integer("MS_LOCAL_WORKER_NUM", flags.integer("OMPI_COMM_WORLD_LOCAL_SIZE", size)) or size)


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The rank in the world of a group's member."""
    _require_joined()
    ranks = world.members(_group_name("get_world_rank_from_group_rank", group))
    _check_rank("get_world_rank_from_group_rank", "group_rank_id", group_rank_id, len(ranks))
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The rank in a group of the process of this rank in the world."""
    _require_joined()
    ranks = world.members(_group_name("get_group_rank_from_world_rank", group))
    _check_rank("get_group_rank_from_world_rank", "world_rank_id", world_rank_id, world.transport().size)
    if world_rank_id not in ranks:
        raise ValueError(f"The process of rank {world_rank_id} is no member of group '{group}' {ranks}.")
    return ranks.index(world_rank_id)


def create_group(group: str, rank_ids: list[int], options: Any = None) -> None:
    """Make a group of some processes of the world. Every process of the run calls it with the same arguments."""
    _require_joined()
    _group_name("create_group", group)
    if group in world.WORLD_GROUPS:
        raise ValueError(f"For 'create_group', the group '{group}' exists already: it is the world.")
    if not isinstance(rank_ids, list):
        raise TypeError(
            f"For 'create_group', the argument 'rank_ids' must be a list, but got {type(rank_ids).__name__}."
        )
    if not rank_ids:
        raise ValueError("For 'create_group', the argument 'rank_ids' must not be empty.")
    for rank in rank_ids:
        _check_rank("create_group", "element of rank_ids", rank, world.transport().size)
    if len(set(rank_ids)) != len(rank_ids):
        raise ValueError(f"For 'create_group', the argument 'rank_ids' must not repeat a rank, but got {rank_ids}.")
    if world.has_group(group) and world.members(group) != tuple(rank_ids):
        raise RuntimeError(f"The group '{group}' exists with other members: {world.members(group)}.")
    world.add_group(group, tuple(rank_ids))


def destroy_group(group: str) -> None:
    """Forget a group."""
    _require_joined()
    _group_name("destroy_group", group)
    if group in world.WORLD_GROUPS:
        raise ValueError(f"The world group '{group}' does not support destroying; leave the run by release().")
    world.members(group)  # an unknown group is an error
    world.remove_group(group)


def get_comm_name(group: str = _DEFAULT) -> str:
    """The name by which the communication library knows a group."""
    _require_joined()
    world.members(_group_name("get_comm_name", group))
    return group


def get_process_group_ranks(group: str = _DEFAULT) -> list[int]:
    """World ranks of a group's members."""
    _require_joined()
    return list(world.members(_group_name("get_process_group_ranks", group)))


# ---------------------------------------------------------------------------------------------------------------------
def _group_name(function: str, group: Any) -> str:
    if not isinstance(group, str):
        raise TypeError(
            f"For '{function}', the argument 'group' must be type of string, but got 'group' type : {type(group)}."
        )
    return group


def _check_rank(function: str, name: str, rank: Any, size: int) -> None:
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(f"For '{function}', the '{name}' must be type of int, but got {type(rank).__name__}.")
    if not 0 <= rank < size:
        raise ValueError(f"For '{function}', the '{name}' must be at least 0 and less than {size}, but got {rank}.")


def _require_joined() -> None:
    if not GlobalComm.INITED:
        raise RuntimeError(
            "Distributed Communication has not been inited. You can't invoke this interface yet. "
            "Please call `init()` method first."
        )
