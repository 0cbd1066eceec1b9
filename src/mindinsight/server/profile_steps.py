"""Official routes on steps and on the data pipeline, answered from our profiles.

Official step traces have three parts. What is the interval between two steps there, in which data are waited for, is the wait
for data here; forward and backward pass are computing; the tail, in which weights are updated, is the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mindinsight.server import errors
from mindinsight.server.calls import Call, route
from mindinsight.server.profiles import mean_step, profile_folder, table

_PARTS = {"iteration_interval": "data_wait_ms", "fp_and_bp": "compute_ms", "tail": "other_ms"}
_TO_MS = 1e3


def _steps(folder: Path) -> list[dict[str, Any]]:
    return table(folder / "step_trace_time.csv")


def _summary(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean step: milliseconds and percents of its parts."""
    mean = mean_step(steps)
    if not mean:
        return {"total_steps": 0}
    total = mean["total_ms"]
    found: dict[str, Any] = {"total_time": round(total, 4)}
    for name, key in _PARTS.items():
        found[name] = round(mean[key], 4)
        found[f"{name}_percent"] = f"{100 * mean[key] / total:.2f}%" if total else "0.00%"
    return found | {"total_steps": len(steps)}


@route("GET", "/profile/training-trace/graph")
def training_trace(call: Call) -> Any:
    """The mean step (type 0), or one step, in its parts."""
    steps = _steps(profile_folder(call))
    number = call.integer("type", 0)
    if not 0 <= number <= len(steps):
        raise errors.wrong_value(f"'type' should be in [0, {len(steps)}].")
    row = steps[number - 1] if number else mean_step(steps)
    if not row:
        return {"size": 0, "training_trace_graph": [], "summary": _summary(steps), "point_info": {}}
    points, begin = [], 0.0
    for name, key in _PARTS.items():
        points.append({"name": name, "start": round(begin, 4), "duration": round(row[key], 4)})
        begin += row[key]
    whole = [{"name": "", "start": 0, "duration": round(row["total_ms"], 4)}]
    return {"size": len(steps), "training_trace_graph": [whole, points], "summary": _summary(steps), "point_info": {},
            "is_heterogeneous": False}  # fmt: skip


@route("GET", "/profile/training-trace/target-time-info")
def one_part(call: Call) -> Any:
    """A part of every step, in milliseconds."""
    name = call.needed("type")
    if name not in _PARTS:
        raise errors.wrong_value(f"'type' should be one of {', '.join(_PARTS)}.")
    steps = _steps(profile_folder(call))
    return {"size": len(steps), "info": {name: [row[_PARTS[name]] for row in steps]}, "summary": _summary(steps)}


@route("GET", "/profile/timeline-summary")
def timeline_summary(call: Call) -> Any:
    """How much is in the timeline."""
    folder = profile_folder(call)
    rows = [row for row in table(folder / "op_statistic.csv") if row.get("kind") in ("kernel", "operator")]
    threads = {row.get("threads", 1) for row in table(folder / "dataset.csv")}
    return {"total_time": sum(row["total_us"] for row in rows) / _TO_MS, "num_of_streams": 1 + len(threads), "num_of_ops": len(rows),
            "op_exe_times": int(sum(row["count"] for row in rows)), "max_scope_name_num": 1}  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# Data


def _queue(folder: Path) -> dict[str, Any]:
    """How much was ready at each request."""
    ready = [int(row["ready"]) for row in table(folder / "data_queue.csv") if isinstance(row.get("ready"), float)]
    return {"size": len(ready), "info": {"queue": ready}, "summary": {"queue_summary": {"empty_queue": ready.count(0)}}} if ready else {}


@route("GET", "/profile/queue_info")
def queue_info(call: Call) -> Any:
    """The queue before the training (get_next); there is none before the device."""
    return _queue(profile_folder(call)) if call.query.get("type") == "get_next" else {}


@route("GET", "/profile/minddata_op")
def waiting(call: Call) -> Any:
    """How long each step waited for its data, in milliseconds."""
    if call.query.get("type") != "get_next":
        return {"size": 0, "info": [], "summary": {"time_summary": {}}, "advise": {}}
    times = [row["data_wait_ms"] for row in _steps(profile_folder(call))]
    mean = sum(times) / len(times) if times else 0.0
    return {"size": len(times), "info": {"get_next": times}, "summary": {"time_summary": {"avg_cost": str(mean)}}}


@route("GET", "/profile/process_summary")
def process_summary(call: Call) -> Any:
    """Whether the data pipeline keeps up."""
    queue = _queue(profile_folder(call))
    if not queue:
        return {}
    empty, size = queue["summary"]["queue_summary"]["empty_queue"], queue["size"]
    state = {"status": "warning" if empty > 0.5 * size else "normal"}
    return {"data_process": state, "device_queue_warning": {"status": "normal"}, "data_transmission": {"status": "normal"},
            "get_next": state, "get_next_queue_info": {"summary": {"empty_batch_count": empty, "total_batch": size}},
            "device_queue_info": {"summary": {"empty_batch_count": 0, "full_batch_count": 0, "total_batch": 0}}}  # fmt: skip


@route("GET", "/profile/minddata-pipeline/queue")
def pipeline_queue(call: Call) -> Any:
    """A part of the data pipeline, the one that follows it, and the queue between them."""
    number = call.integer("op_id", 0)
    rows = _pipeline(profile_folder(call))
    if not 0 <= number < len(rows):
        raise errors.wrong_value(f"'op_id' should be in [0, {len(rows) - 1}].")

    def about(row: list[Any]) -> dict[str, Any]:
        return {"op_id": row[0], "op_type": row[1], "num_workers": row[2]}

    parent = rows[rows[number][8]] if rows[number][8] is not None else None
    names = ("output_queue_size", "output_queue_average_size", "output_queue_length", "output_queue_usage_rate", "sample_interval")
    queue = dict(zip(names, rows[number][3:8])) if parent else None
    return {"current_op": about(rows[number]), "parent_op": about(parent) if parent else None, "queue_info": queue}


@route("POST", "/profile/minddata-pipeline/op-queue")
def pipeline_parts(call: Call) -> Any:
    """The parts of the data pipeline, the last one first."""
    names = ["op_id", "op_type", "num_workers", "output_queue_size", "output_queue_average_size", "output_queue_length",
             "output_queue_usage_rate", "sample_interval", "parent_id", "children_id"]  # fmt: skip
    rows = _pipeline(profile_folder(call))
    if not (call.body().get("filter_condition") or {}).get("is_display_op_detail"):
        names, rows = [*names[:2], *names[4:]], [[*row[:2], *row[4:]] for row in rows]
    return {"col_name": names, "object": rows, "size": len(rows)}


def _pipeline(folder: Path) -> list[list[Any]]:
    """Official rows of the parts. Only the queue before the training is measured: that of the last part."""
    parts = [row for row in table(folder / "dataset.csv") if row.get("step")][::-1]
    ready = _queue(folder)["info"]["queue"] if _queue(folder) else []
    longest = max(ready, default=0)
    mean = sum(ready) / len(ready) if ready else 0.0
    rows: list[list[Any]] = []
    for number, part in enumerate(parts):
        queue = [ready, mean, longest, mean / longest if longest else 0.0] if number == 0 else [[], 0.0, 0, 0.0]
        below = [number + 1] if number + 1 < len(parts) else None
        rows.append([number, part["step"], int(part["workers"]), *queue, 0, number - 1 if number else None, below])
    return rows
