"""Names that programs import from official MindSpore's compiled extension, where they mean something here.

There is no compiled extension: tensors, cells and parameters are the Python classes, and what steers the official
run-time (its threads, its profiler, its device plug-ins) has nothing to steer.
"""

from __future__ import annotations

import enum
import importlib
from typing import Any

from mindspore._compat.c_expression import amp, security, typing
from mindspore.common.api import ms_memory_recycle as _ms_memory_recycle
from mindspore.common.parameter import ParamInfo
from mindspore.common.tensor import Tensor

TensorPy = Tensor


class MSContext:
    """What the process runs on, as device plug-ins see it; `MSContext.get_instance()` is the one there is."""

    _instance: MSContext | None = None

    @classmethod
    def get_instance(cls) -> MSContext:
        """The context of this process."""
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    def get_ascend_soc_version(self) -> str:
        """The name of the Ascend chip: none, so an empty string."""
        return ""

    def is_ascend_plugin_loaded(self) -> bool:
        """Whether Ascend devices can be used."""
        return False

    def is_pkg_support_device(self, device: str) -> bool:
        """Whether this package has code for a device."""
        return device in ("CPU", "GPU")


class MixedPrecisionType(enum.IntEnum):
    """The type that a cell computes in, as `Cell.to_float` sets it."""

    NOTSET = 0
    FP16 = 1
    FP32 = 2
    BF16 = 3


def is_reboot_node() -> bool:
    """Whether this process replaces one that failed: never, there is no cluster manager."""
    return False


def reset_op_id() -> None:
    """Kept for programs that call it: operations here are not numbered."""


def disable_multi_thread() -> None:
    """Kept for programs that call it: operations are not queued to other threads."""


def _framework_profiler_step_start() -> None:
    """Kept for programs that call it; `mindspore.profiler` measures."""


def _framework_profiler_step_end() -> None:
    """Kept for programs that call it; `mindspore.profiler` measures."""


def swap_cache(host: Any, device: Any, block_mapping: Any, is_device_to_host: bool) -> None:
    """Copy blocks of a cache: each row of `block_mapping` names a block to read and the block to write.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore._compat.c_expression import swap_cache
        >>> host, device = ms.Tensor([[0.0], [0.0]]), ms.Tensor([[1.0], [2.0]])
        >>> swap_cache(host, device, ms.Tensor([[1, 0]]), True)
        >>> host.tolist()
        [[2.0], [0.0]]
    """
    source, target = (device, host) if is_device_to_host else (host, device)
    mapping = block_mapping.asnumpy()
    if mapping.ndim != 2 or mapping.shape[1] != 2:
        raise ValueError(f"For 'swap_cache', 'block_mapping' must have the shape (n, 2), but got {mapping.shape}.")
    if source.shape[1:] != target.shape[1:]:
        raise ValueError(f"For 'swap_cache', blocks must have one shape, but got {source.shape} and {target.shape}.")
    target[Tensor(mapping[:, 1])] = source[Tensor(mapping[:, 0])]


def __getattr__(name: str) -> Any:
    if name == "Cell_":  # stands above; only reached when it is asked for
        return importlib.import_module("mindspore.nn").Cell
    if name.startswith("pyboost_"):
        return getattr(importlib.import_module("mindspore._compat.operators"), name)
    raise AttributeError(
        f"mindspore._compat.c_expression has nothing called {name!r}: official MindSpore's internals end here."
    )


__all__ = [
    "MSContext", "MixedPrecisionType", "ParamInfo", "Tensor", "TensorPy", "_framework_profiler_step_end",
    "_framework_profiler_step_start", "_ms_memory_recycle", "amp", "disable_multi_thread", "is_reboot_node", "reset_op_id",
    "security", "swap_cache", "typing",
]  # fmt: skip
