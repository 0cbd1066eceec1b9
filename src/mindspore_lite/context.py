"""Where and how a model runs: `Context` and its sections `cpu`, `gpu`, `ascend`, `parallel`."""

from __future__ import annotations

import os
from typing import Any

from mindspore_lite import _checks as check

__all__ = ["Context"]

_TARGETS = ["cpu", "gpu", "ascend"]
_HALF_OR_SINGLE = ["enforce_fp32", "preferred_fp16"]
_ASCEND_MODES = ["enforce_fp32", "preferred_fp32", "enforce_fp16", "enforce_origin", "preferred_optimal"]


class _Cpu:
    """Threads and precision on a CPU."""

    def __init__(self) -> None:
        self._precision_mode = "enforce_fp32"
        self._thread_num = 0
        self._inter_op_parallel_num = 0
        self._thread_affinity_mode = 0
        self._thread_affinity_core_list: list[int] = []

    def __str__(self) -> str:
        return (
            f"device_type: DeviceType.kCPU,\nprecision_mode: {self.precision_mode},\nthread_num: {self.thread_num},\n"
            f"inter_op_parallel_num: {self.inter_op_parallel_num},\nthread_affinity_mode: {self.thread_affinity_mode},\n"
            f"thread_affinity_core_list: {self.thread_affinity_core_list}."
        )

    @property
    def precision_mode(self) -> str:
        """ "enforce_fp32" or "preferred_fp16"."""
        return self._precision_mode

    @precision_mode.setter
    def precision_mode(self, value: str) -> None:
        check.one_of("cpu_precision_mode", value, str, _HALF_OR_SINGLE)
        self._precision_mode = value

    @property
    def thread_num(self) -> int:
        """Threads of one inference; 0 leaves the number to the machine."""
        return self._thread_num

    @thread_num.setter
    def thread_num(self, value: int) -> None:
        check.not_negative("cpu_thread_num", value)
        self._thread_num = value

    @property
    def inter_op_parallel_num(self) -> int:
        """Operators that may run at a time; here operators run one after another, each on all threads."""
        return self._inter_op_parallel_num

    @inter_op_parallel_num.setter
    def inter_op_parallel_num(self, value: int) -> None:
        check.not_negative("cpu_inter_op_parallel_num", value)
        self._inter_op_parallel_num = value

    @property
    def thread_affinity_mode(self) -> int:
        """0: threads are not bound; 1, 2: to the first cores (faster or slower ones first, where a CPU has both)."""
        return self._thread_affinity_mode

    @thread_affinity_mode.setter
    def thread_affinity_mode(self, value: int) -> None:
        check.instance("cpu_thread_affinity_mode", value, int)
        self._thread_affinity_mode = value

    @property
    def thread_affinity_core_list(self) -> list[int]:
        """The cores to run on; takes precedence over the mode."""
        return self._thread_affinity_core_list

    @thread_affinity_core_list.setter
    def thread_affinity_core_list(self, value: list[int]) -> None:
        check.elements("cpu_thread_affinity_core_list", value, int)
        self._thread_affinity_core_list = list(value)


class _Gpu:
    def __init__(self) -> None:
        self._precision_mode = "enforce_fp32"
        self._device_id = 0

    def __str__(self) -> str:
        return (
            f"device_type: DeviceType.kGPU,\nprecision_mode: {self.precision_mode},\ndevice_id: {self.device_id},\n"
            f"rank_id: {self.rank_id},\ngroup_size: {self.group_size}."
        )

    @property
    def precision_mode(self) -> str:
        """ "enforce_fp32" or "preferred_fp16"."""
        return self._precision_mode

    @precision_mode.setter
    def precision_mode(self, value: str) -> None:
        check.one_of("gpu_precision_mode", value, str, _HALF_OR_SINGLE)
        self._precision_mode = value

    @property
    def device_id(self) -> int:
        return self._device_id

    @device_id.setter
    def device_id(self, value: int) -> None:
        check.not_negative("gpu_device_id", value)
        self._device_id = value

    @property
    def rank_id(self) -> int:
        """The place of this device in its group."""
        return 0

    @property
    def group_size(self) -> int:
        return 1


class _Ascend:
    def __init__(self) -> None:
        self._precision_mode = "enforce_fp16"
        self._device_id = 0
        self._rank_id = 0
        self._provider = ""

    def __str__(self) -> str:
        return (
            f"device_type: DeviceType.kAscend,\nprecision_mode: {self.precision_mode},\ndevice_id: {self.device_id}."
            f"provider: {self.provider}.rank_id: {self.rank_id}."
        )

    @property
    def precision_mode(self) -> str:
        return self._precision_mode

    @precision_mode.setter
    def precision_mode(self, value: str) -> None:
        check.one_of("ascend_precision_mode", value, str, _ASCEND_MODES)
        self._precision_mode = value

    @property
    def device_id(self) -> int:
        return self._device_id

    @device_id.setter
    def device_id(self, value: int) -> None:
        check.not_negative("ascend_device_id", value)
        self._device_id = value

    @property
    def rank_id(self) -> int:
        return self._rank_id

    @rank_id.setter
    def rank_id(self, value: int) -> None:
        check.not_negative("ascend_rank_id", value)
        self._rank_id = value

    @property
    def provider(self) -> str:
        return self._provider

    @provider.setter
    def provider(self, value: str) -> None:
        check.instance("ascend_provider", value, str)
        self._provider = value


class _Parallel:
    """Workers of a `ModelParallelRunner`."""

    def __init__(self) -> None:
        self._workers_num = 0
        self._config_info: dict[str, dict[str, str]] = {}
        self._config_path = ""
        self._device_ids: list[int] = []

    def __str__(self) -> str:
        return f"workers num: {self.workers_num},\nconfig info: {self.config_info},\nconfig file: {self.config_path}."

    @property
    def workers_num(self) -> int:
        """Inferences that may run at a time; 0 leaves the number to the machine."""
        return self._workers_num

    @workers_num.setter
    def workers_num(self, value: int) -> None:
        check.not_negative("workers_num", value, "Set parallel failed, ")
        self._workers_num = value

    @property
    def config_info(self) -> str:
        """The options as text: a line per section, options and values separated by spaces."""
        return "\n".join(
            f"{name}: " + " ".join(f"{option} {value}" for option, value in options.items())
            for name, options in self._config_info.items()
        )

    @config_info.setter
    def config_info(self, value: dict[str, dict[str, str]]) -> None:
        check.sections("config_info", value)
        self._config_info.update({name: dict(options) for name, options in value.items()})

    @property
    def config_path(self) -> str:
        return self._config_path

    @config_path.setter
    def config_path(self, value: str) -> None:
        check.instance("config_path", value, str)
        if value and not os.path.exists(value):
            raise ValueError("Set parallel failed, config_path does not exist!")
        self._config_path = value

    @property
    def device_ids(self) -> list[int]:
        return self._device_ids

    @device_ids.setter
    def device_ids(self, value: list[int]) -> None:
        check.elements("device_ids", value, int)
        if any(number < 0 for number in value):
            raise ValueError("Set parallel failed, device_ids contain a negative number.")
        self._device_ids = list(value)


class Context:
    """Options of a run.

    Examples:
        >>> context = mslite.Context()
        >>> context.target = ["cpu"]
        >>> context.cpu.thread_num = 2
        >>> print(context)
        target: ['cpu'].
    """

    def __init__(self) -> None:
        self.cpu = _Cpu()
        self.gpu = _Gpu()
        self.ascend = _Ascend()
        self.parallel = _Parallel()
        self._target = ["cpu"]
        self._group_info_file = ""

    def __str__(self) -> str:
        return f"target: {self.target}."

    @property
    def target(self) -> list[str]:
        """Devices to run on, best first; the CPU is always the last resort."""
        return self._target

    @target.setter
    def target(self, value: Any) -> None:
        wanted = value if value else ["cpu"]
        check.elements("target", wanted, str)
        for name in wanted:
            if name.lower() not in _TARGETS:
                raise ValueError(f"target elements must be in {_TARGETS}, but got {name.lower()}.")
        self._target = wanted

    @property
    def group_info_file(self) -> str:
        return self._group_info_file

    @group_info_file.setter
    def group_info_file(self, value: str) -> None:
        check.instance("group_info_file", value, str)
        self._group_info_file = value
