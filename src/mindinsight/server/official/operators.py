"""Operators: one table for each kind of processor, of their types or of each of them.

Times are milliseconds in files of Ascend and of the host, and microseconds in replies.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mindinsight.server.official.files import csv_rows
from mindinsight.server.official.query import (
    Row,
    Table,
    check_device,
    check_filter,
    check_order,
    wrong_filter,
    wrong_operators,
)

_TO_US = 1e3
_FLOPS = ["MFLOPs(10^6 cube)", "GFLOPS(10^9 cube)", "MFLOPs(10^6 vector)", "GFLOPS(10^9 vector)"]


def _short(value: Any) -> Any:
    """A number with as many digits as are shown: three after the point, six below one."""
    if value == "-":
        return value
    number = float(value) if isinstance(value, str) else value
    return round(number, 6 if number < 1 else 3)


def _rows_of(folder: Path, name: str) -> list[list[str]]:
    """A table without its head; empty where it was not written."""
    return csv_rows(folder, name)[1:] if (folder / name).is_file() else []


# ---------------------------------------------------------------------------------------------------------------------
# Ascend


def _core_types(folder: Path, device: str) -> list[Row]:
    found = []
    for name, time, count, share, *_ in _rows_of(folder, f"aicore_intermediate_{device}_type.csv"):
        total = _short(float(time) * _TO_US)
        found.append([name, total, int(count), _short(float(share) * 100), _short(total / int(count))])
    return found


def _core_operators(folder: Path, device: str) -> list[Row]:
    """Operators of the matrix and vector units: times, from another file what they are, from a third what they count."""
    about = {row[3]: row for row in _rows_of(folder, f"framework_raw_{device}.csv")}
    counted = {row[0]: row[1:] for row in _rows_of(folder, f"flops_{device}.txt") if len(row) > 1 and row[1]}
    found: list[Row] = []
    if not about:
        return found
    for full, time, count, *_ in _rows_of(folder, f"aicore_intermediate_{device}_detail.csv"):
        name, kernel, kind, graph, info = about[full][4:9]
        numbers = [_short(n) for n in counted.get(full, ["-"] * 4)]
        # older files count three numbers; the fourth column then holds the part of the graph
        numbers = numbers[:4] if len(numbers) > 3 else [*numbers, graph]
        found.append([name, kernel, kind, _short(float(time) * _TO_US), _short(int(count)), *numbers, json.loads(info) if info else None])
    return found


def _host_kernels(folder: Path, device: str) -> list[tuple[str, float, float]]:
    """Name, milliseconds of running and of being sent, of each call of a kernel on Ascend's own processors."""
    rows = _rows_of(folder, f"aicpu_intermediate_{device}.csv")
    return [(row[1], float(row[2]), float(row[3])) for row in rows]


def _host_kernel_types(folder: Path, device: str) -> list[Row]:
    times: dict[str, list[float]] = {}
    for name, ran, _ in _host_kernels(folder, device):
        times.setdefault(name.split("-")[0], []).append(ran)
    sums = {name: sum(ran) * _TO_US for name, ran in times.items()}
    total = sum(sums.values())
    return [[n, round(s, 3), len(times[n]), round(round(s, 3) / total * 100, 2) if total else 0.0] for n, s in sums.items()]


def _host_kernel_list(folder: Path, device: str) -> list[Row]:
    calls: dict[str, list[tuple[float, float]]] = {}
    for name, ran, sent in _host_kernels(folder, device):
        calls.setdefault(name, []).append((_short(ran), _short(sent)))
    found: list[Row] = []
    for name, both in calls.items():
        ran, sent = (round(sum(part) / len(both) * _TO_US, 3) for part in zip(*both))
        found.append([name, name.split("-")[0], ran, sent, len(both)])
    return found


def _pynative_types(folder: Path, device: str) -> list[Row]:
    rows = _rows_of(folder, f"pynative_op_intermediate_{device}_type.csv")
    return [[row[0], round(_short(row[1]) * _TO_US, 6), int(row[2]), _short(row[3])] for row in rows]


def _pynative_operators(folder: Path, device: str) -> list[Row]:
    rows = _rows_of(folder, f"pynative_op_intermediate_{device}_detail.csv")
    return [[row[0], row[0].split("-")[0], _short(row[1]) * _TO_US, "Default", "Default/" + row[0]] for row in rows]


# ---------------------------------------------------------------------------------------------------------------------
# GPU and host


def _columns(name: str, *kinds: Callable[[str], Any]) -> Callable[[Path, str], list[Row]]:
    """The rows of a file whose cells are read one by one."""

    def read(folder: Path, device: str) -> list[Row]:
        return [[kind(row[place]) for place, kind in enumerate(kinds)] for row in _rows_of(folder, name.format(device))]

    return read


def _gpu_types(folder: Path, device: str) -> list[Row]:
    rows = _rows_of(folder, f"gpu_op_type_info_{device}.csv")
    return [[row[0], _short(row[2]), int(row[1]), _short(float(row[3]) * 100), _short(row[4])] for row in rows]


def _us(value: str) -> Any:
    return _short(float(value) * _TO_US)


def _percent(value: str) -> Any:
    return _short(float(value) * 100)


_CPU_TYPE = ["op_type", "type_occurrences", "execution_frequency", "total_compute_time", "avg_time", "total_time_proportion"]
_CPU_INFO = ["op_side", "op_type", "op_name", "full_op_name", "op_occurrences", "op_total_time", "op_avg_time",
             "total_time_proportion", "subgraph"]  # fmt: skip
_GPU_INFO = ["op_side", "op_type", "op_name", "op_full_name", "op_occurrences", "op_total_time", "op_avg_time", "proportion",
             "cuda_activity_cost_time", "cuda_activity_call_count"]  # fmt: skip
_GPU_ACTIVITY = ["name", "type", "op_full_name", "stream_id", "block_dim", "grid_dim", "occurrences", "total_duration",
                 "avg_duration", "max_duration", "min_duration"]  # fmt: skip
_PYNATIVE_TYPE = ["op_type", "execution_time", "execution_frequency", "percent"]
_PYNATIVE_INFO = ["op_name", "op_type", "avg_execution_time", "subgraph", "full_op_name"]
#: kind of operators: columns of the reply, what reads its rows, and other names that requests may use for an order
_KINDS: dict[str, tuple[list[str], Callable[[Path, str], list[Row]], list[str] | None]] = {
    "aicore_type": (["kernel_type", "total_time", "execution_frequency", "total_percent", "avg_time"], _core_types,
                    ["op_type", "total_time", "execution_frequency", "percent"]),
    "aicore_detail": (["op_name", "kernel_name", "kernel_type", "avg_execution_time", "execution_frequency", *_FLOPS, "op_info"],
                      _core_operators,
                      ["op_name", "op_type", "avg_execution_time", "execution_frequency", *_FLOPS, "full_op_name"]),
    "aicpu_type": (["kernel_type", "total_time", "execution_frequency", "percent"], _host_kernel_types,
                   ["op_type", "total_time", "execution_frequency", "percent"]),
    "aicpu_detail": (["kernel_name", "kernel_type", "avg_execution_time", "dispatch_time", "execution_frequency"], _host_kernel_list,
                     ["op_name", "serial_number", "op_type", "avg_execution_time", "dispatch_time", "execution_frequency",
                      "run_start", "run_end"]),
    "gpu_op_type": (["op_type", "total_time", "execution_frequency", "total_percent", "avg_time"], _gpu_types,
                    ["op_type", "type_occurrences", "total_time", "proportion", "avg_time"]),
    "gpu_op_info": (_GPU_INFO, _columns("gpu_op_detail_info_{}.csv", *[str] * 4, int, *[_short] * 4, int), None),
    "gpu_cuda_activity": (_GPU_ACTIVITY, _columns("gpu_activity_data_{}.csv", *[str] * 6, int, *[_short] * 4), None),
    "cpu_op_type": (_CPU_TYPE, _columns("cpu_op_type_info_{}.csv", str, int, int, _us, _us, _percent), None),
    "cpu_op_info": (_CPU_INFO, _columns("cpu_op_detail_info_{}.csv", *[str] * 4, int, _us, _us, _short, str), None),
    "pynative_type": (_PYNATIVE_TYPE, _pynative_types, None),
    "pynative_detail": (_PYNATIVE_INFO, _pynative_operators, None),
}  # fmt: skip


def search(folder: Path, body: Any) -> dict[str, Any]:
    """The operators of a device, filtered, sorted and paged."""
    device, kind = check_device(body), body.get("op_type")
    if kind not in _KINDS:
        raise wrong_operators(f"The op_type must in {list(_KINDS)}")
    columns, read, sortable = _KINDS[kind]
    check_order(body, [*(sortable or ()), *(name for name in columns if name not in (sortable or ()))])
    wanted = body.get("filter_condition", {})
    if not isinstance(wanted, dict):
        raise wrong_filter("The filter condition must be dict.")
    for name in ("op_type", "op_name"):
        check_filter(wanted.get(name, {}))
    reply = Table(columns, read(folder, device), ("op_info",)).reply(body)
    return _without(reply, {"aicore_detail": ("op_name", "op_info"), "pynative_detail": ("full_op_name", None)}.get(kind), wanted)


def _without(reply: dict[str, Any], optional: tuple[str, str | None] | None, wanted: dict[str, Any]) -> dict[str, Any]:
    """Leave out the columns of full names and of inputs if a request does not want them."""
    if optional is None:
        return reply
    names = (optional[0] if not wanted.get("is_display_full_op_name", True) else None,
             optional[1] if not wanted.get("is_display_detail", True) else None)  # fmt: skip
    kept = [place for place, name in enumerate(reply["col_name"]) if name not in names]
    return {**reply, "col_name": [reply["col_name"][p] for p in kept], "object": [[row[p] for p in kept] for row in reply["object"]]}
