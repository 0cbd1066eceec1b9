"""Settings of a model for each kind of device. On a CPU the number of threads acts; the rest is checked and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from mindspore_serving import log
from mindspore_serving.checks import check_bool, check_int, check_ints, check_str


class DeviceInfoContext:
    """Settings for one kind of device: `options` says which, with the values that each allows (None: any text)."""

    device: ClassVar[str] = ""
    title: ClassVar[str] = ""
    unknown: ClassVar[str] = "option"
    options: ClassVar[dict[str, tuple[str, ...] | None]] = {}

    def __init__(self, **kwargs: Any) -> None:
        self.settings: dict[str, str] = {}
        for name, value in kwargs.items():
            if name not in self.options:
                raise RuntimeError(f"Set {self.device} device info failed, unsupported {self.unknown} {name}")
            check_str(name, value)
            allowed = self.options[name]
            if allowed is not None and value not in allowed:
                names = ", ".join(f"'{text}'" for text in allowed)
                raise RuntimeError(f"{self.title} device info '{name}' can only be {names}. given '{value}'")
            self.settings[name] = value

    def _as_context_map(self) -> dict[str, str]:
        return {**self.settings, "device_type": self.device}


class CPUDeviceInfo(DeviceInfoContext):
    device, title = "cpu", "Cpu"
    options: ClassVar = {"precision_mode": ("origin", "fp16")}


class GPUDeviceInfo(DeviceInfoContext):
    device, title = "gpu", "Gpu"
    options: ClassVar = {"precision_mode": ("origin", "fp16")}


class AscendDeviceInfo(DeviceInfoContext):
    device, title, unknown = "ascend", "Ascend", "parameter"
    options: ClassVar = {
        "insert_op_cfg_path": None,
        "input_format": ("ND", "NCHW", "NHWC", "CHWN", "NC1HWC0", "NHWC1C0"),
        "input_shape": None,
        "output_type": ("FP32", "FP16", "UINT8"),
        "precision_mode": ("force_fp16", "allow_fp32_to_fp16", "must_keep_origin_dtype", "allow_mix_precision"),
        "op_select_impl_mode": ("high_performance", "high_precision"),
        "fusion_switch_config_path": None,
        "buffer_optimize_mode": ("l1_optimize", "l2_optimize", "off_optimize", "l1_and_l2_optimize"),
    }


class Context:
    """Settings of a model: `thread_num`, `thread_affinity_core_list`, `enable_parallel`, and device infos."""

    def __init__(self, **kwargs: Any) -> None:
        self.thread_num: int | None = None
        self.thread_affinity_core_list: tuple[int, ...] = ()
        self.enable_parallel = False
        self.device_infos: dict[str, DeviceInfoContext] = {}
        setters: dict[str, Callable[[Any], None]] = {
            "thread_num": self._set_thread_num,
            "thread_affinity_core_list": self._set_thread_affinity_core_list,
            "enable_parallel": self._set_enable_parallel,
        }
        for name, value in kwargs.items():
            if name not in setters:
                raise RuntimeError("Set context failed, unsupported option " + name)
            setters[name](value)

    def append_device_info(self, device_info: Any) -> None:
        """Settings for one more kind of device."""
        if not isinstance(device_info, DeviceInfoContext):
            raise RuntimeError(
                "Parameter 'device_info' should instance of CPUDeviceInfo, GPUDeviceInfo, or AscendDeviceInfo, but actually "
                f"{type(device_info)}"
            )
        if device_info.device in self.device_infos:
            raise RuntimeError(f"Device info of type {device_info.device} has already been appended")
        self.device_infos[device_info.device] = device_info

    def _set_thread_num(self, value: Any) -> None:
        check_int("thread_num", value, 1)
        self.thread_num = value

    def _set_thread_affinity_core_list(self, value: Any) -> None:
        self.thread_affinity_core_list = check_ints("thread_affinity_core_list", value, 0, single=False)

    def _set_enable_parallel(self, value: Any) -> None:
        check_bool("enable_parallel", value)
        self.enable_parallel = value

    def __str__(self) -> str:
        devices = [info._as_context_map() for info in self.device_infos.values()]
        return (
            f"thread_num: {self.thread_num}, thread_affinity_core_list: {self.thread_affinity_core_list}, "
            f"enable_parallel: {self.enable_parallel}, device_list, {devices}"
        )


class AclOptions:
    """The name of `AscendDeviceInfo` before 1.6."""

    def __init__(self, **kwargs: Any) -> None:
        log.warning("'AclOptions' is deprecated from version 1.6.0, use 'register.AscendDeviceInfo' instead.")
        self.context = Context()
        self.context.append_device_info(AscendDeviceInfo(**kwargs))


class GpuOptions:
    """The name of `GPUDeviceInfo` before 1.6."""

    def __init__(self, **kwargs: Any) -> None:
        log.warning("'GpuOptions' is deprecated from version 1.6.0, use 'register.GPUDeviceInfo' instead.")
        self.context = Context()
        self.context.append_device_info(GPUDeviceInfo(**kwargs))
