"""Which devices this machine has, and what they are."""

from __future__ import annotations

from typing import Any, NamedTuple

from mindspore import context
from mindspore._base.optional import available

TARGETS = ("CPU", "GPU", "Ascend")
#: what JAX calls the devices that a target stands for
_PLATFORMS = {"CPU": ("cpu",), "GPU": ("gpu", "cuda", "rocm"), "Ascend": ("npu", "ascend")}


class DeviceProperties(NamedTuple):
    """What is known about an accelerator. Figures that the driver does not tell are 0."""

    name: str
    major: int
    minor: int
    is_multi_gpu_board: int
    is_integrated: int
    multi_processor_count: int
    total_memory: int
    warp_size: int


def accelerators(target: str) -> list[Any]:
    """JAX's devices of a target; none where JAX is missing."""
    if not available("jax"):
        return []
    import jax

    try:
        return [d for d in jax.devices() if d.platform in _PLATFORMS[target]]
    except RuntimeError:  # JAX was told to use a platform that is not there
        return []


def is_available(device_target: str) -> bool:
    """Whether a kind of device ("CPU", "GPU", "Ascend") can be used here."""
    if device_target not in TARGETS:
        raise ValueError(
            f"For 'hal.is_available', the argument 'device_target' must be one of {list(TARGETS)}, "
            f"but got {device_target}."
        )
    return device_target == "CPU" or bool(accelerators(device_target))


def is_initialized(device_target: str) -> bool:
    """Whether the kind of device is in use."""
    return is_available(device_target) and context.get_context("device_target") == device_target


def device_count(device_target: str | None = None) -> int:
    """The number of devices of a kind; of the kind in use by default."""
    target = _checked(device_target)
    return 1 if target == "CPU" else len(accelerators(target))


def get_device_name(device_id: int, device_target: str | None = None) -> str:
    """The name of a device."""
    target = _checked(device_target)
    _check_id(device_id, target)
    return "CPU" if target == "CPU" else accelerators(target)[device_id].device_kind


def get_device_capability(device_id: int, device_target: str | None = None) -> tuple[int, int] | None:
    """The compute capability of a GPU as (major, minor); None for other devices."""
    target = _checked(device_target)
    _check_id(device_id, target)
    if target == "CPU":
        return None
    major, _, minor = str(getattr(accelerators(target)[device_id], "compute_capability", "0.0")).partition(".")
    return int(major), int(minor or 0)


def get_device_properties(device_id: int, device_target: str | None = None) -> DeviceProperties | None:
    """Name, capability, cores and memory of an accelerator; None for the CPU."""
    target = _checked(device_target)
    _check_id(device_id, target)
    if target == "CPU":
        return None
    device = accelerators(target)[device_id]
    major, minor = get_device_capability(device_id, target) or (0, 0)
    memory = (device.memory_stats() or {}).get("bytes_limit", 0)
    cores = int(getattr(device, "core_count", 0) or 0)
    return DeviceProperties(device.device_kind, major, minor, 0, 0, cores, int(memory), 32 if target == "GPU" else 0)


def get_arch_list(device_target: str | None = None) -> list[str] | None:
    """Architectures that kernels are compiled for; None for the CPU, whose kernels fit the machine."""
    target = _checked(device_target)
    if target == "CPU":
        return None
    found = {get_device_capability(i, target) for i in range(device_count(target))}
    return sorted(f"sm_{major}{minor}" for major, minor in (c for c in found if c))


def _checked(device_target: Any) -> str:
    """The target, or the one in use; an error if it is not there."""
    target = context.get_context("device_target") if device_target is None else device_target
    if device_target is None and not is_available(target):
        return "CPU"  # scripts written for other hardware run on the host
    if not is_available(target):
        raise ValueError(f"{target} backend is not available: no such device is visible. See hal.is_available.")
    return target


def _check_id(device_id: Any, target: str) -> None:
    if isinstance(device_id, bool) or not isinstance(device_id, int):
        raise TypeError(f"The argument 'device_id' must be int, but got {type(device_id).__name__}.")
    count = device_count(target)
    if not 0 <= device_id < count:
        raise ValueError(f"The argument 'device_id' must be less than device count: {count}, but got {device_id}.")
