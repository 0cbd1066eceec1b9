"""What is known about the run: its backend, its world group, and whether it has been joined."""

from __future__ import annotations

from typing import Any

from mindspore.prims import world

HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP = world.WORLD_GROUPS
DEVICE_TO_BACKEND = {"Ascend": "hccl", "GPU": "nccl", "CPU": "mccl"}


class Backend(str):
    """The name of a communication library: "hccl", "nccl" or "mccl"."""

    UNDEFINED = "undefined"
    HCCL = "hccl"
    NCCL = "nccl"
    MCCL = "mccl"

    def __new__(cls, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError(f"For 'Backend', the name must be a string, but got {type(name).__name__}.")
        value = getattr(cls, name.upper(), Backend.UNDEFINED)
        if value == Backend.UNDEFINED:
            raise ValueError(f"For 'Backend', the name must be 'hccl', 'nccl' or 'mccl', but got '{name}'.")
        return value


class GlobalComm:
    """Facts about the run that programs read: `GlobalComm.WORLD_COMM_GROUP` names the group of all processes."""

    BACKEND = Backend.HCCL
    WORLD_COMM_GROUP = HCCL_WORLD_COMM_GROUP
    INITED = False
    CHECK_ENVS = True


def joined(backend: str) -> None:
    """Note that a run was joined."""
    GlobalComm.BACKEND = Backend(backend)
    GlobalComm.WORLD_COMM_GROUP = f"{backend}_world_group"
    GlobalComm.INITED = True


def left() -> None:
    """Note that the run was left."""
    GlobalComm.BACKEND, GlobalComm.WORLD_COMM_GROUP, GlobalComm.INITED = Backend.HCCL, HCCL_WORLD_COMM_GROUP, False


def _is_available() -> bool:
    """Whether processes can work together on this machine."""
    return True


def _is_initialized() -> bool:
    """Whether a run has been joined."""
    return GlobalComm.INITED


def _get_backend() -> str:
    return GlobalComm.BACKEND


def _get_group_ranks(group: str = HCCL_WORLD_COMM_GROUP) -> list[int]:
    return list(world.members(group))


def _get_rank_helper(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    return world.group_rank(group)


def _get_size_helper(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    return world.group_size(group)
