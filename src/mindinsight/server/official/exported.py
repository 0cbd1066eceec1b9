"""`ASCEND_PROFILER_OUTPUT`, which MindSpore from 2.5 on writes instead of what MindInsight knew, as the page shows profiles.

A step has the time in which the device computes, in which it communicates and does nothing else, and in which it is free. Times are
microseconds, sizes megabytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mindinsight.server.official.files import csv_table

FOLDER = "ASCEND_PROFILER_OUTPUT"
PARTS = {"compute_ms": "computing", "data_wait_ms": "nothing on the device", "other_ms": "communication that nothing covers"}
ADVICE = {
    "compute_ms": "Much of a step is computing: look at the longest operators below; smaller types (amp) and fused operators help most.",
    "data_wait_ms": "The device is free most of the time: look at data preparation and at Python between operators, compile all.",
    "other_ms": "Much of a step is communication: overlap it with computing (all-reduce fusion), or cut the network in another way.",
}
_COMPUTING, _COMMUNICATING, _FREE = "Computing", "Communication(Not Overlapped)", "Free"
_MIB = 1 << 20


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return csv_table(folder, name) if (folder / name).is_file() else []


def steps(folder: Path) -> list[dict[str, Any]]:
    """Steps with their parts in milliseconds."""
    found = []
    for number, row in enumerate(_rows(folder, "step_trace_time.csv"), 1):
        parts = [float(row.get(name) or 0) / 1e3 for name in (_COMPUTING, _FREE, _COMMUNICATING)]
        step = row.get("Step")
        found.append({"step": int(step) if isinstance(step, (int, float)) else number, "total_ms": sum(parts),
                      **dict(zip(("compute_ms", "data_wait_ms", "other_ms"), parts))})  # fmt: skip
    return found


def profile(folder: Path) -> dict[str, Any]:
    """What the page shows, less its sentences."""
    operators = [
        {"name": str(row.get("OP Type")), "kind": str(row.get("Core Type") or "device"), "count": row["Count"],
         "total_us": float(row["Total Time(us)"]), "mean_us": float(row["Avg Time(us)"]), "max_us": float(row["Max Time(us)"])}
        for row in _rows(folder, "op_statistic.csv")
    ]  # fmt: skip
    memory: list[list[Any]] = [[float(row["Timestamp(us)"]), str(row.get("Component")), float(row["Total Allocated(MB)"]) * _MIB]
                               for row in _rows(folder, "memory_record.csv")]  # fmt: skip
    return {"steps": steps(folder), "operators": operators, "memory": memory, "over": "time", "parts": PARTS,
            "busy_us": sum(row["total_us"] for row in operators), "peak": max((row[2] for row in memory), default=0), "flops": [],
            "flops_per_second": 0.0, "preparation": {"parts": [], "queue": [], "advice": []}}  # fmt: skip
