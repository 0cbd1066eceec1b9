"""Where checkpoint files are opened. Files of the operating system are the only kind here."""

from __future__ import annotations

from typing import Any

from mindspore import log as logger


class FileSystem:
    """How files are created and opened, with the arguments for either."""

    def __init__(self) -> None:
        self.create: Any = open
        self.create_args = ("ab",)
        self.open: Any = open
        self.open_args = ("rb",)
        self.backend = "basic"


def set_mindio_server_info(data_block_pool_capacity_in_gb: int = 100) -> None:
    """Accepted; there is no MindIO server.

    Examples:
        >>> ms.set_mindio_server_info() is None
        True
    """
    if isinstance(data_block_pool_capacity_in_gb, bool) or not isinstance(data_block_pool_capacity_in_gb, int):
        raise TypeError(f"'data_block_pool_capacity_in_gb' must be an int, not {type(data_block_pool_capacity_in_gb)}.")
    if data_block_pool_capacity_in_gb <= 0:
        raise ValueError(f"'data_block_pool_capacity_in_gb' must be positive, not {data_block_pool_capacity_in_gb}.")


def mindio_preload(ckpt_file_name: str) -> bool:
    """Whether MindIO has read a checkpoint ahead: it is not here, so never.

    Examples:
        >>> ms.mindio_preload("net.ckpt")
        False
    """
    if not isinstance(ckpt_file_name, str):
        raise TypeError(f"For 'mindio_preload', 'ckpt_file_name' must be a str, but got {type(ckpt_file_name)}.")
    logger.info("MindIO is not available; %s is read when it is loaded.", ckpt_file_name)
    return False
