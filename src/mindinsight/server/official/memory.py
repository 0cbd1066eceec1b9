"""Memory and floating-point operations of devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mindinsight.server import errors
from mindinsight.server.official.files import csv_table, devices, json_file


def memory_summary(folder: Path, device: str) -> Any:
    return json_file(folder, f"memory_usage_summary_{device}.json")


def memory_graphs(folder: Path, device: str) -> dict[str, Any]:
    """The memory of each graph over its nodes."""
    graphs = json_file(folder, f"memory_usage_details_{device}.json")
    return {
        key: {name: value for name, value in graph.items() if name != "breakdowns"} for key, graph in graphs.items()
    }


def memory_of_node(folder: Path, device: str, graph: str, node: int) -> dict[str, Any]:
    """The tensors that are in memory when a node runs."""
    graphs = json_file(folder, f"memory_usage_details_{device}.json")
    found = next((g for g in graphs.values() if str(g.get("graph_id", -1)) == graph), None)
    if found is None:
        raise errors.wrong_value("Invalid graph id.")
    parts = found.get("breakdowns") or []
    if not 0 <= node < len(parts):
        raise errors.wrong_value("Invalid node id.")
    return {"breakdowns": parts[node]}


def flops(folder: Path, device: str) -> Any:
    name = f"flops_summary_{device}.json"
    return json_file(folder, name) if (folder / name).is_file() else {}


def flops_of_scopes(folder: Path, device: str) -> Any:
    name = f"flops_scope_{device}.json"
    return json_file(folder, name) if (folder / name).is_file() else {}


def memory_of_devices(folder: Path) -> dict[str, Any]:
    """For Marey's graph."""
    return {
        f"device{d}": {"summary": memory_summary(folder, d), "details": memory_graphs(folder, d)}
        for d in devices(folder)
    }


def flops_of_devices(folder: Path) -> dict[str, Any]:
    """For Marey's graph."""
    found: dict[str, Any] = {}
    for device in devices(folder):
        parts = found[f"device{device}"] = {}
        if (folder / f"flops_summary_{device}.json").is_file():
            parts["summary"] = flops(folder, device)
        if (folder / f"flops_{device}.txt").is_file():
            parts["details"] = csv_table(folder, f"flops_{device}.txt")
    return found
