"""Joining a run, ranks and groups."""

from __future__ import annotations

import hashlib
from typing import Any

from mindspore.communication import _comm_helper, management
from mindspore.prims import world

WORLD = world.WORLD_GROUPS[0]


def _name(group: Any) -> str:
    """A group's name; None is the world."""
    if group is None:
        return WORLD
    if not isinstance(group, str):
        raise TypeError(f"The argument 'group' must be type of string, but got 'group' type : {type(group)}.")
    return group


def init_process_group(
    backend: str = "hccl",
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Join the run that this process was started for. The environment says of how many processes it is."""
    if not isinstance(backend, str):
        raise TypeError(f"The argument 'backend' must be type of string, but got 'backend' type : {type(backend)}.")
    management.init(backend)
    size = world.transport().size
    if world_size not in (-1, size):
        management.release()
        raise ValueError(f"'world_size' is {world_size}, but {size} processes take part in this run.")
    if rank not in (-1, world.transport().rank):
        here = world.transport().rank
        management.release()
        raise ValueError(f"'rank' is {rank}, but this process has rank {here}.")


def destroy_process_group(group: str | None = None) -> None:
    """Forget a group; without one (or with the world) leave the run."""
    if _name(group) in world.WORLD_GROUPS:
        management.release()
    else:
        management.destroy_group(_name(group))


def is_available() -> bool:
    """Whether processes can work together here."""
    return True


def is_initialized() -> bool:
    """Whether a run has been joined."""
    return _comm_helper._is_initialized()


def _member(group: Any) -> bool:
    return world.transport().rank in world.members(_name(group))


def get_rank(group: str | None = None) -> int:
    """This process's rank in a group; -1 if it is no member."""
    return management.get_rank(_name(group)) if _member(group) else -1


def get_world_size(group: str | None = None) -> int:
    """The number of members of a group; -1 if this process is none of them."""
    return management.get_group_size(_name(group)) if _member(group) else -1


def get_backend(group: str | None = None) -> str:
    """The name of the communication library."""
    management._require_joined()
    world.members(_name(group))
    return _comm_helper._get_backend()


def get_global_rank(group: str | None, group_rank: int) -> int:
    """The rank in the world of a group's member."""
    return management.get_world_rank_from_group_rank(_name(group), group_rank)


def get_group_rank(group: str | None, global_rank: int) -> int:
    """The rank in a group of the process of this rank in the world."""
    return management.get_group_rank_from_world_rank(global_rank, _name(group))


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """World ranks of a group's members."""
    return management.get_process_group_ranks(_name(group))


def new_group(
    ranks: list[int] | None = None,
    timeout: Any = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
) -> str:
    """Make a group of some processes (all by default); returns its name. Equal members give the same group."""
    management._require_joined()
    if group_desc is not None and not isinstance(group_desc, str):
        raise TypeError(f"The argument 'group_desc' must be type of string, but got {type(group_desc)}.")
    if ranks is not None and not isinstance(ranks, list):
        raise TypeError(f"The argument 'ranks' must be a list, but got {type(ranks)}.")
    chosen = sorted(ranks) if ranks else list(range(world.transport().size))
    digest = hashlib.sha256(",".join(map(str, chosen)).encode()).hexdigest()[:16]
    name = f"{len(chosen)}-{group_desc or digest}"
    management.create_group(name, chosen)
    return name
