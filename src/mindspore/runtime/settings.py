"""The table of settings: one row for each word that `set_context` takes.

A row says what the setting is by default, which values are allowed, and what acts on it. Rows without anything that acts are
accepted, because programs written for other hardware set them, and say once that they have no effect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mindspore._base import flags

GRAPH_MODE, PYNATIVE_MODE = 0, 1
STRICT, COMPATIBLE, LAX = 0, 1, 2
DEVICES = ("CPU", "GPU", "Ascend")
BACKENDS = ("", "interp", "xla", "cpu")

#: raises TypeError or ValueError where a value is not allowed
Check = Callable[[str, Any], None]


class Setting(NamedTuple):
    name: str
    default: Any
    check: Check
    doc: str
    acts: str = ""  # the part of the library that reads it; "": nothing does, and setting it says so
    process: bool = False  # of the whole process: a local context cannot have its own


def _refuse(name: str, wanted: str, value: Any, error: type[Exception] = ValueError) -> None:
    raise error(f"For 'context.set_context', '{name}' must be {wanted}, but got {value!r}.")


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def anything(name: str, value: Any) -> None:
    pass


def boolean(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        _refuse(name, "a bool", value, TypeError)


def text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        _refuse(name, "a str", value, TypeError)


def mapping(name: str, value: Any) -> None:
    if not isinstance(value, dict):
        _refuse(name, "a dict", value, TypeError)


def one_of(*allowed: Any) -> Check:
    def check(name: str, value: object) -> None:
        if isinstance(value, bool) or value not in allowed:
            _refuse(name, f"one of {list(allowed)}", value)

    return check


def whole(low: int, high: int | None, words: str) -> Check:
    def check(name: str, value: int) -> None:
        if not _is_int(value) or value < low or (high is not None and value > high):
            _refuse(name, words, value)

    return check


def _mode(name: str, value: Any) -> None:
    if value not in (GRAPH_MODE, PYNATIVE_MODE) or isinstance(value, bool):
        _refuse(name, "context.GRAPH_MODE (0) or context.PYNATIVE_MODE (1)", value)


def _device_target(name: str, value: str) -> None:
    if value not in (*DEVICES, "Davinci"):
        _refuse(name, f"one of {list(DEVICES)}", value)


def _save_graphs(name: str, value: Any) -> None:
    if not isinstance(value, (bool, int)) or not 0 <= int(value) <= 3:
        _refuse(name, "a bool or an int in 0..3", value)


def _backend(name: str, value: str) -> None:
    if value not in BACKENDS:
        raise ValueError(f"the backend must be 'interp', 'xla', 'cpu' or '' (automatic), but got {value!r}.")


_CHOICE, _CPU, _DUMPS = "runtime/choose_backend.py", "backends/cpu", "compiler/driver.py"
_ALWAYS = "always so here"

SETTINGS: dict[str, Setting] = {row.name: row for row in (
    Setting("mode", PYNATIVE_MODE, _mode, "graph mode or PyNative mode", "nn/cell.py"),
    Setting("device_target", "CPU", _device_target, "the kind of device", "runtime/device_kinds.py"),
    Setting("device_id", 0, whole(0, 4095, "an int in 0..4095"), "which device of the kind", "runtime/device_kinds.py"),
    Setting("backend", flags.text("MS_DEV_BACKEND"), _backend, "what compiles graphs; empty: the best there is", _CHOICE),
    Setting("runtime_num_threads", 0, whole(0, None, "an int and not negative"), "threads of compiled graphs", _CPU),
    Setting("max_compiled_graphs", 256, whole(1, None, "an int greater than 0"),
            "compiled graphs kept; beyond, those unused for longest are forgotten", "runtime/programs.py", process=True),
    Setting("graph_kernel_flags", "", text, "how the CPU backend fuses", _CPU),
    Setting("enable_graph_kernel", False, boolean, "fuse operations", _ALWAYS),
    Setting("enable_compile_cache", False, boolean, "keep compiled kernels on disk", _CPU, process=True),
    Setting("compile_cache_path", "", text, "where they are kept", _CPU, process=True),
    Setting("save_graphs", False, _save_graphs, "write the IR of graphs", _DUMPS),
    Setting("save_graphs_path", ".", text, "where to", _DUMPS),
    Setting("max_call_depth", 1000, whole(1, None, "an int greater than 0"), "nested calls in a graph", "compiler/parse"),
    Setting("jit_syntax_level", LAX, one_of(STRICT, COMPATIBLE, LAX), "whether graphs may need values", "common/compiled.py"),
    Setting("pynative_synchronize", False, boolean, "wait for each operation of a device", "runtime/device_kinds.py"),
    Setting("pynative_deferred", flags.switch("MS_DEV_PYNATIVE_DEFERRED"), boolean,
            "on a CPU, run operations of PyNative mode many at a time, compiled, when a value is looked at", "runtime/deferred.py"),
    Setting("deterministic", "OFF", one_of("ON", "OFF"), "the same bits in every run", "runtime/choose_backend.py"),
    Setting("enable_mem_reuse", True, boolean, "let tensors share memory", _ALWAYS),
    Setting("enable_task_sink", True, boolean, "run whole graphs on the device", _ALWAYS),
    Setting("enable_reduce_precision", True, boolean, "convert types that a device lacks"),
    Setting("reserve_class_name_in_scope", True, boolean, "names of classes in dumps"),
    Setting("precompile_only", False, boolean, "compile and do not run"),
    Setting("check_bprop", False, boolean, "check what custom gradients return"),
    Setting("jit_config", None, anything, "settings of the compiler"),
    Setting("jit_level", "", text, "how much is optimised: here always everything"),
    Setting("max_device_memory", "1024GB", text, "memory of the device"),
    Setting("mempool_block_size", "1GB", text, "memory taken at a time"),
    Setting("memory_optimize_level", "O0", one_of("O0", "O1"), "how memory is saved"),
    Setting("memory_offload", "OFF", one_of("ON", "OFF"), "keep idle tensors on the host"),
    Setting("variable_memory_max_size", "30GB", text, "memory for weights"),
    Setting("graph_memory_max_size", "0", text, "memory for graphs"),
    Setting("enable_mem_scheduler", False, boolean, "move tensors between memories"),
    Setting("enable_auto_mixed_precision", False, boolean, "choose types: use mindspore.amp"),
    Setting("enable_dump", False, boolean, "dump tensors: use MINDSPORE_DUMP_CONFIG"),
    Setting("save_dump_path", "", text, "dump tensors: use MINDSPORE_DUMP_CONFIG"),
    Setting("enable_profiling", False, boolean, "profile: use mindspore.Profiler"),
    Setting("profiling_options", "", text, "profile: use mindspore.Profiler"),
    Setting("env_config_path", "", text, "a file of settings"),
    Setting("auto_tune_mode", "NO_TUNE", text, "tuning of Ascend kernels"),
    Setting("aoe_tune_mode", "", text, "tuning of Ascend kernels"),
    Setting("aoe_config", {}, mapping, "tuning of Ascend kernels"),
    Setting("op_tuning_conf", {}, mapping, "tuning of Ascend kernels"),
    Setting("ascend_config", {}, mapping, "Ascend processors"),
    Setting("gpu_config", {}, mapping, "algorithms of convolutions on GPUs"),
    Setting("op_timeout", 900, whole(0, None, "an int and not negative"), "seconds an Ascend kernel may take"),
    Setting("grad_for_scalar", False, boolean, "gradients of numbers"),
    Setting("print_file_path", "", text, "where prints of graphs go"),
    Setting("enable_sparse", False, boolean, "sparse gradients"),
    Setting("support_binary", False, boolean, "compile functions without source"),
    Setting("inter_op_parallel_num", 0, whole(0, None, "an int and not negative"), "operations at a time"),
    Setting("debug_level", 0, one_of(0, 1), "keep more for debugging"),
    Setting("exec_order", "", text, "order of operations"),
    Setting("disable_format_transform", False, boolean, "layouts that Ascend kernels prefer"),
    Setting("enable_gpu_summary", True, boolean, "summaries on GPUs"),
    Setting("enable_loop_sink", False, boolean, "run loops on the device"),
)}  # fmt: skip


def checked(changes: dict[str, Any]) -> dict[str, Any]:
    """The settings given, as they are kept; an error that names the first one that cannot be."""
    kept = {}
    for name, value in changes.items():
        if name not in SETTINGS:
            raise ValueError(
                f"For 'context.set_context', the keyword argument {name} is not recognized. "
                "See the documentation of set_context for the settings that exist."
            )
        SETTINGS[name].check(name, value)
        kept[name] = "Ascend" if value == "Davinci" else dict(value) if isinstance(value, dict) else value
    return kept


def defaults() -> dict[str, Any]:
    return checked({name: row.default for name, row in SETTINGS.items()})
