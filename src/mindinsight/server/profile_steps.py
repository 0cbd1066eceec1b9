"""Official routes on steps and on the data pipeline, answered from official profiles and from ours.

Official step traces have three parts. What is the interval between two steps there, in which data are waited for, is the wait
for data here; forward and backward pass are computing; the tail, in which weights are updated, is the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mindinsight.server import errors, official
from mindinsight.server.calls import Call
from mindinsight.server.profiles import device_of, mean_step, profile_folder, route, table

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
    if official.files.is_there(call):
        return official.steps.graph(official.files.needed(call), device_of(call), call.integer("type", 0))
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
    if official.files.is_there(call):
        return official.steps.part(official.files.needed(call), device_of(call), call.query.get("type"))
    name = call.needed("type")
    if name not in _PARTS:
        raise errors.wrong_value(f"'type' should be one of {', '.join(_PARTS)}.")
    steps = _steps(profile_folder(call))
    return {"size": len(steps), "info": {name: [row[_PARTS[name]] for row in steps]}, "summary": _summary(steps)}


@route("GET", "/profile/timeline-summary")
def timeline_summary(call: Call) -> Any:
    """How much is in the timeline."""
    if official.files.is_there(call):
        return official.steps.timeline_summary(official.files.needed(call), device_of(call), call.query.get("device_type", "ascend"))
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
    """The queue before the training (get_next), and before the device, which ours have not."""
    kind = call.query.get("type")
    if official.files.is_named(call):
        known = kind in ("get_next", "device_queue")
        device = device_of(call, call.query.get("device_id", ""))
        return official.data.queue(official.files.needed(call), device, str(kind)) if known else {}
    folder = profile_folder(call)
    return _queue(folder) if kind == "get_next" else {}


@route("GET", "/profile/minddata_op")
def waiting(call: Call) -> Any:
    """How long each step waited for its data, in milliseconds."""
    kind = call.query.get("type")
    nothing: dict[str, Any] = {"size": 0, "info": [], "summary": {"time_summary": {}}, "advise": {}}
    if official.files.is_named(call):
        known = kind in ("get_next", "device_queue")
        device = device_of(call, call.query.get("device_id", ""))
        return official.data.times(official.files.needed(call), device, str(kind)) if known else nothing
    if kind != "get_next":
        profile_folder(call)
        return nothing
    times = [row["data_wait_ms"] for row in _steps(profile_folder(call))]
    mean = sum(times) / len(times) if times else 0.0
    return {"size": len(times), "info": {"get_next": times}, "summary": {"time_summary": {"avg_cost": str(mean)}}}


@route("GET", "/profile/process_summary")
def process_summary(call: Call) -> Any:
    """Whether the data pipeline keeps up."""
    if official.files.is_named(call):
        return official.data.state(official.files.needed(call), device_of(call, call.query.get("device_id", "")))
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
    is_official = official.files.is_named(call)
    if not call.query.get("op_id"):
        raise errors.wrong_value("Invalid operator id or operator id does not exist.")
    if is_official:
        rows = official.data.pipeline_rows(official.files.needed(call), device_of(call))
    else:
        rows = _pipeline(profile_folder(call))
    return official.data.part_of_pipeline(rows, call.integer("op_id"))


@route("POST", "/profile/minddata-pipeline/op-queue")
def pipeline_parts(call: Call) -> Any:
    """The parts of the data pipeline, the last one first."""
    is_official, body = official.files.is_named(call), call.json()
    device = official.data.check_pipeline(body)
    rows = official.data.pipeline_rows(official.files.needed(call), device) if is_official else _pipeline(profile_folder(call))
    return official.data.pipeline(rows, body)


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
