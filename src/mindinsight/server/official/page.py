"""An official profile as the page shows profiles: one for each device, called `folder, device N`.

Official steps have three parts: the interval before a step, in which data are waited for, both passes, and the tail, in which weights are
updated. Official memory is counted over the nodes of a graph, not over time.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mindinsight.server.official import data, memory, operators, ranks, steps
from mindinsight.server.official.files import csv_rows, devices

PARTS = {"compute_ms": "forward and backward pass", "data_wait_ms": "between steps", "other_ms": "update of the weights"}
ADVICE = {
    "compute_ms": "Much of a step is computing: look at the longest operators below; smaller types (amp) and fused operators help most.",
    "data_wait_ms": "Much of a step is the interval before it: look at the data preparation below, and at what callbacks do.",
    "other_ms": "Much of a step is the update of the weights: look at the optimizer's operators and at gradients that are reduced late.",
}
_COLUMNS = {"total": "total_ms", "fp_and_bp": "compute_ms", "fp": "compute_ms", "iteration_interval": "data_wait_ms", "tail": "other_ms"}
#: kind of operators on the page: their table, and where its reply has name, microseconds and count
_TYPES = {
    "device": ("aicore_type", 0, 1, 2),
    "device's processors": ("aicpu_type", 0, 1, 2),
    "GPU": ("gpu_op_type", 0, 1, 2),
    "PyNative": ("pynative_type", 0, 1, 2),
    "host": ("cpu_op_type", 0, 3, 2),
}
_NAME = re.compile(r"(.+), device (\d+)")
_GIB = 2**30


def names(run: Path) -> list[str]:
    """The profiles of a run."""
    folders = sorted(f for f in run.glob("profiler*") if f.is_dir())
    return [f"{folder.name}, device {device}" for folder in folders for device in sorted(devices(folder), key=int)]


def find(run: Path, name: str) -> tuple[Path, str] | None:
    """Folder and device of a profile."""
    found = _NAME.fullmatch(name) if name in names(run) else None
    return (run / found[1], found[2]) if found else None


def profile(folder: Path, device: str) -> dict[str, Any]:
    """What the page shows, less its sentences."""
    kinds = [row for kind, table in _TYPES.items() for row in _operators(folder, device, kind, *table)]
    busy = next((kind for kind in _TYPES if any(row["kind"] == kind for row in kinds)), "")
    nodes = _memory(folder, device)
    counted = memory.flops(folder, device)
    rate = counted.get("FLOPS") or counted.get("cube_FLOPS", 0) + counted.get("vec_FLOPS", 0)
    queue = data.queue(folder, device, "device_queue").get("info", {}).get("queue", [])
    parts = [{"part": f"{row[1]}_{row[0]}", "workers": row[2], "ready": row[4], "queue": row[5], "usage": row[6]}
             for row in data.pipeline_rows(folder, device)]  # fmt: skip
    return {"steps": rows_of_steps(folder, device), "operators": kinds, "memory": nodes, "over": "node", "parts": PARTS,
            "busy_us": sum(row["total_us"] for row in kinds if row["kind"] == busy), "peak": max((row[2] for row in nodes), default=0),
            "flops": _flops(folder, device), "flops_per_second": rate * 1e9,
            "preparation": {"parts": [], "official": parts, "queue": [[0, ready] for ready in queue]}}  # fmt: skip


def rows_of_steps(folder: Path, device: str) -> list[dict[str, Any]]:
    """Steps with their parts in milliseconds."""
    if not steps.has_steps(folder, device):
        return []
    found = []
    for number, step in enumerate(steps.all_steps(folder, device), 1):
        parts = {mine: step[name] for name, mine in _COLUMNS.items() if name in step}
        found.append({"step": number, "other_ms": 0.0, **parts})
    return found


def _operators(folder: Path, device: str, kind: str, table: str, name: int, time: int, count: int) -> list[dict[str, Any]]:
    rows = operators.search(folder, {"op_type": table, "device_id": device})["object"]
    return [{"name": row[name], "kind": kind, "count": row[count], "total_us": row[time],
             "mean_us": row[time] / row[count] if row[count] else 0.0, "max_us": None} for row in rows]  # fmt: skip


def _memory(folder: Path, device: str) -> list[list[Any]]:
    """Place, graph and bytes at each node of each graph."""
    if not (folder / f"memory_usage_details_{device}.json").is_file():
        return []
    graphs = memory.memory_graphs(folder, device)
    return [[place, f"graph {key}", size * _GIB] for key, graph in graphs.items() for place, size in enumerate(graph.get("lines", []))]


def _flops(folder: Path, device: str) -> list[dict[str, Any]]:
    name = f"flops_{device}.txt"
    rows = csv_rows(folder, name)[1:] if (folder / name).is_file() else []
    counted = [(row[0], sum(float(cell) for cell in row[1::2][:2] if cell.strip() not in ("", "-"))) for row in rows if len(row) > 1]
    return [{"graph": "", "place": place, "calls": 1, "flops": size * 1e6} for place, size in counted]


def rank(folder: Path, device: str) -> dict[str, Any]:
    """A row of the table of ranks, less the mean step."""
    summary = f"memory_usage_summary_{device}.json"
    peak = memory.memory_summary(folder, device).get("peak_mem", 0) if (folder / summary).is_file() else 0
    rates = {str(row["rank_id"]): row for row in ranks.cluster_flops(folder)}.get(device, {})
    rate = rates.get("FLOPS") or rates.get("cube_FLOPS", 0) + rates.get("vec_FLOPS", 0)
    return {"name": f"{folder.name}, device {device}", "peak": peak * _GIB, "flops_per_second": rate * 1e9}
