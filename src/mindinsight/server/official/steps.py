"""Steps of one device: their parts, what is reduced over devices meanwhile, and the timeline of operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mindinsight.server import errors
from mindinsight.server.official.files import GENERAL, PARSER, STEPS, TO_MS, csv_rows, json_file

_PARTS = ("iteration_interval", "fp_and_bp", "fp", "tail")
_SCOPES = 100001  # the thread of the timeline that shows scopes


def has_steps(folder: Path, device: str) -> bool:
    """Whether the steps of a device were recorded."""
    return (folder / STEPS.format(device)).is_file()


def _table(folder: Path, device: str) -> tuple[list[str], list[list[str]]]:
    """Columns and rows; the last row is the mean step."""
    if not has_steps(folder, device):
        raise errors.ApiError(errors.PROFILER, 4 | GENERAL, "The file <parsed step trace time file> not found.")
    columns, *rows = csv_rows(folder, STEPS.format(device))
    return columns, rows


def _step(columns: list[str], row: list[str]) -> dict[str, float]:
    """Times of a step in milliseconds."""
    return {name: round(int(float(cell)) / TO_MS, 4) for name, cell in zip(columns, row) if name != "step_num"}


def all_steps(folder: Path, device: str) -> list[dict[str, float]]:
    """The steps of a device, in milliseconds."""
    columns, rows = _table(folder, device)
    return [_step(columns, row) for row in rows[:-1]]


def summary(columns: list[str], rows: list[list[str]]) -> dict[str, Any]:
    """The mean step: milliseconds and percents of its parts."""
    mean = _step(columns, rows[-1])
    found: dict[str, Any] = {"total_time": mean["total"], "total_steps": len(rows) - 1}
    for name in ("iteration_interval", *(("fp_and_bp", "tail") if "fp_and_bp" in mean else ("fp",))):
        found[name] = mean[name]
        found[f"{name}_percent"] = f"{round(mean[name] / mean['total'] * 100, 2) if mean['total'] else 0}%"
    return found


def graph(folder: Path, device: str, number: int) -> dict[str, Any]:
    """A step (0: the mean) as lines of named stretches; nothing where steps are not alike (PyNative mode, dynamic shapes)."""
    info = f"profiler_info_{device}.json"
    about = json_file(folder, info) if (folder / info).is_file() else {}
    if (folder / f"dynamic_shape_info_{device}.json").is_file() or about.get("context_mode", "graph").lower() == "pynative":
        return {}
    if about.get("is_heterogeneous"):
        return {"is_heterogeneous": True}
    if not has_steps(folder, device):
        return {}
    columns, rows = _table(folder, device)
    if not 0 <= number < len(rows):
        raise errors.ApiError(errors.PROFILER, 2 | PARSER, f"The step num must be in [0, {len(rows) - 1}]")
    step = _step(columns, rows[number - 1])
    lines = [[_stretch("", 0, step.get("total", 0))], _parts(step), *_reductions(columns, step)]
    points = _points(folder, device)
    return {"size": len(rows) - 1, "training_trace_graph": lines, "summary": summary(columns, rows),
            "point_info": points[number - 1] if isinstance(points, list) else points}  # fmt: skip


def part(folder: Path, device: str, name: str | None) -> dict[str, Any]:
    """One part of every step, in milliseconds."""
    if name not in _PARTS:
        raise errors.ApiError(errors.PROFILER, GENERAL, f"Param value error. proc_name should be in {list(_PARTS)}.")
    columns, rows = _table(folder, device)
    if name not in columns:
        raise errors.ApiError(errors.PROFILER, GENERAL, "Param value error. Invalid proc_name.")
    return {"size": len(rows) - 1, "info": {name: [_step(columns, row)[name] for row in rows[:-1]]}, "summary": summary(columns, rows)}


def _points(folder: Path, device: str) -> Any:
    """The operators at which forward and backward pass begin."""
    names = (f"step_trace_point_info_{device}.json", "step_trace_point_info.json")
    return next((json_file(folder, name) for name in names if (folder / name).is_file()), {})


def _stretch(name: str, start: float, duration: float) -> dict[str, Any]:
    if start < 0 or duration < 0:
        return {}
    return {"name": name, "start": round(start, 4), "duration": round(duration, 4)}


def _parts(step: dict[str, float]) -> list[dict[str, Any]]:
    begin = step.get("start_point", 0)
    forward, backward = step.get("fp_point", 0) - begin, step.get("bp_point", 0) - begin
    first = _stretch("iteration_interval", 0, step.get("iteration_interval", 0))
    if "fp" in step:  # inference
        return [first, _stretch("fp", forward, step["fp"])]
    return [first, _stretch("fp_and_bp", forward, step.get("fp_and_bp", 0)), _stretch("tail", backward, step.get("tail", 0))]


def _reductions(columns: list[str], step: dict[str, float]) -> list[list[dict[str, Any]]]:
    """A line for each stream of communication: its operations and what lies between them."""
    streams: dict[str, list[tuple[float, float, float, str]]] = {}
    for name in columns:
        if not name.startswith("stream_") or name.endswith("point"):
            continue
        start, end = step.get(f"{name}_start_point", 0), step.get(f"{name}_end_point", 0)
        if start and end and step.get(name):
            streams.setdefault(name.split("_", 2)[1], []).append((start, end, step[name], name))
    return [_line(sorted(found, key=lambda one: one[1]), step) for found in streams.values()]


def _line(operations: list[tuple[float, float, float, str]], step: dict[str, float]) -> list[dict[str, Any]]:
    begin, at = step.get("start_point", 0), step.get("fp_point", 0)
    line = []
    for start, end, duration, name in operations:
        line += [_stretch("", at - begin, start - at), _stretch(name, start - begin, duration)]
        at = end
    return [*line, _stretch("", at - begin, step.get("end_point", 0) - at)]


# ---------------------------------------------------------------------------------------------------------------------
# Timeline


def _kind(kind: str) -> str:
    if kind not in ("ascend", "gpu"):
        raise errors.wrong_value("Invalid device_type.")
    return kind


def timeline_summary(folder: Path, device: str, kind: str) -> dict[str, Any]:
    """How much is in the timeline."""
    name = f"{_kind(kind)}_timeline_summary_{device}.json"
    return {"max_scope_name_num": 0, **(json_file(folder, name) if (folder / name).is_file() else {})}


def timeline(folder: Path, device: str, kind: str, scopes: int) -> list[dict[str, Any]]:
    """The events of the timeline, with so many levels of scopes."""
    name = f"{_kind(kind)}_timeline_display_{device}.json"
    events = json_file(folder, name) if (folder / name).is_file() else []
    return [event for event in events if not _is_deep(event, scopes)]


def _is_deep(event: dict[str, Any], scopes: int) -> bool:
    return event.get("tid") == _SCOPES and event.get("ph") != "M" and int(event["scope_level"]) >= scopes
