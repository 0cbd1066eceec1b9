"""Data preparation: how busy processors, queues and the parts of the pipeline were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mindinsight.server import errors
from mindinsight.server.official.files import ANALYSER, STEPS, csv_rows, json_file, text_file, whole
from mindinsight.server.official.query import Row, Table, check_device, check_filter, check_order, wrong_filter

#: a larger share of requests that found the device's queue empty is worth a word
OFTEN_EMPTY = 0.3
_PIPELINE = ["op_id", "op_type", "num_workers", "output_queue_size", "output_queue_average_size", "output_queue_length",
             "output_queue_usage_rate", "sample_interval", "parent_id", "children_id"]  # fmt: skip
_ONLY_DETAILS = ("num_workers", "output_queue_size")


def processors(folder: Path, device: str, body: dict[str, Any]) -> dict[str, Any]:
    """How busy the processors were while data were prepared: the machine, the process, each part of the pipeline."""
    data = json_file(folder, f"minddata_cpu_utilization_{device}.json")
    workers = {
        op.get("op_id"): op.get("num_workers")
        for op in json_file(folder, f"pipeline_profiling_{device}.json").get("op_info", [])
    }
    steps, total = _sampled_steps(folder, device, data.get("time_stamp", [])[1:])
    wanted = body.get("filter_condition") or {}
    low, high = whole(wanted.get("start_step", 1)), whole(wanted.get("end_step", total))
    inside = [n for n, step in enumerate(steps) if low <= int(step) <= high]
    part = slice(inside[0], inside[-1] + 1) if inside else slice(0, 0 if steps else None)

    def of(metrics: dict[str, list[float]]) -> dict[str, Any]:
        shown = {name: values[part] for name, values in metrics.items()}
        return {
            name: {"metrics": values, "avg_value": round(sum(values) / len(values)) if values else 0}
            for name, values in shown.items()
        }

    operators = [{"op_id": op["op_id"], "num_workers": workers.get(op["op_id"]), "metrics": of(op["metrics"])}
                 for op in data.get("op_info", []) if str(op.get("op_id")) != "-1"]  # fmt: skip
    kinds = ("user_utilization", "sys_utilization")
    sums = {name: sum(op["metrics"].get(name, {}).get("avg_value", 0) for op in operators) for name in kinds}
    return {"sampling_interval": data.get("sampling_interval"), "cpu_processor_num": data.get("cpu_processor_num"),
            "step_info": steps[part], "step_total_num": total, "device_info": of(data.get("device_info", {})),
            "process_info": of(data.get("process_info", {})), "op_info": {"op_list": operators, "total_op_avg_value": sums}}  # fmt: skip


def _sampled_steps(folder: Path, device: str, times: list[float]) -> tuple[list[Any], int]:
    """The step that was under way at each time (before the first: 0), and how many steps there were."""
    rows = _device_queue(folder, device)
    if rows is None:
        return [], max(0, len(csv_rows(folder, STEPS.format(device))) - 2)
    shift = int(rows[0][2]) - 1 if rows else 0
    asked = [(str(int(row[2]) - shift), float(row[4])) for row in rows if row[0] == "1" and len(row) > 4]
    return [next((step for step, at in reversed(asked) if at <= float(time)), 0) for time in times], len(asked)


# ---------------------------------------------------------------------------------------------------------------------
# Queues: before the device, filled by the host, and before the step, filled from there (get_next)


def _words(folder: Path, *names: str) -> list[list[str]] | None:
    """The words of each line of the first of these files that is there."""
    found = next((name for name in names if (folder / name).is_file()), None)
    if found is None:
        return None
    return [line.split() for line in text_file(folder, found).splitlines() if line.strip()]


def _device_queue(folder: Path, device: str) -> list[list[str]] | None:
    """Lines of kind, size (of a queue: 1) or part (of a time: 0), step, value, time."""
    return _words(folder, f"device_queue_profiling_{device}.txt", f"dataset_iterator_profiling_{device}.txt")


def _next_lines(folder: Path, device: str) -> tuple[list[list[str]] | None, float]:
    """Lines of name, begin, end and how much was ready, of requests for data; and how many of their ticks a millisecond has."""
    on_gpu = not (folder / f"minddata_aicpu_{device}.txt").is_file()
    rows = _words(folder, f"minddata_aicpu_{device}.txt", f"minddata_getnext_profiling_{device}.txt")
    return (None if rows is None else [row for row in rows if row[0].startswith("GetNext")]), 1e6 if on_gpu else 1e3


def queue(folder: Path, device: str, kind: str) -> dict[str, Any]:
    """How much was ready at each request for data."""
    if kind == "get_next":
        rows, _ = _next_lines(folder, device)
        ready = [int(row[3]) for row in rows or () if len(row) > 3]
        summary = {"empty_queue": ready.count(0)}
    else:
        rows = _device_queue(folder, device)
        sizes = [row for row in rows or () if row[0] == "1"]
        ready = [int(row[3]) for row in sorted(sizes, key=lambda row: int(row[2]))]
        summary = {"empty_queue": ready.count(0), "full_queue": sum(1 for row in sizes if row[1] == row[3])}
    return {} if rows is None else {"size": len(ready), "info": {"queue": ready}, "summary": {"queue_summary": summary}}


def times(folder: Path, device: str, kind: str) -> dict[str, Any]:
    """How long each request for data took, in milliseconds."""
    return _next_times(folder, device) if kind == "get_next" else _device_times(folder, device)


def _next_times(folder: Path, device: str) -> dict[str, Any]:
    rows, ticks = _next_lines(folder, device)
    if not rows:
        return {}
    took = [(float(row[2]) - float(row[1])) / ticks for row in rows if len(row) > 2]
    found: dict[str, Any] = {"size": len(took), "info": {"get_next": took}}
    return found | ({"summary": {"time_summary": {"avg_cost": str(sum(took) / len(took))}}} if took else {})


def _device_times(folder: Path, device: str) -> dict[str, Any]:
    rows = _device_queue(folder, device)
    if rows is None:
        return {}
    parts = {}
    for number, name in (("2", "total_cost"), ("1", "push_cost"), ("0", "get_cost")):
        mine = sorted((row for row in rows if row[:2] == ["0", number]), key=lambda row: int(row[2]))
        parts[name] = [float(row[3]) for row in mine]
    size = len(parts["total_cost"])
    found: dict[str, Any] = {"size": size, "info": parts}
    if size:
        names = {"avg_cost": "total_cost", "get_cost": "get_cost", "push_cost": "push_cost"}
        found["summary"] = {"time_summary": {mine: sum(parts[name]) / size for mine, name in names.items()}}
    return found


def state(folder: Path, device: str) -> dict[str, Any]:
    """Where data are waited for: in preparation, on the way to the device, or nowhere (the device is behind)."""
    before, after = queue(folder, device, "device_queue"), queue(folder, device, "get_next")
    if not before:
        return {}
    empty, full = (before["summary"]["queue_summary"][name] for name in ("empty_queue", "full_queue"))
    parts = ("data_transmission", "get_next") if after else ("fpbp",)
    found: dict[str, Any] = {name: {"status": "normal"} for name in ("data_process", "device_queue_warning", *parts)}
    late = after["summary"]["queue_summary"]["empty_queue"] if after else 0
    if after:
        found["get_next_queue_info"] = {"summary": {"empty_batch_count": late, "total_batch": after["size"]}}
    counts = {"empty_batch_count": empty, "full_batch_count": full, "total_batch": before["size"]}
    found["device_queue_info"] = {"summary": counts}
    if empty > OFTEN_EMPTY * before["size"]:
        found["data_process"] = {"status": "warning"}
    else:
        found["data_transmission" if late else "device_queue_warning"] = {"status": "warning"}
    return found


# ---------------------------------------------------------------------------------------------------------------------
# The pipeline's parts, with the queue behind each


def pipeline_rows(folder: Path, device: str) -> list[Row]:
    """The parts of the pipeline; the first is the last to run and has no queue."""
    name = f"minddata_pipeline_raw_{device}.csv"
    rows = csv_rows(folder, name)[1:] if (folder / name).is_file() else []
    return [
        [int(row[0]), row[1], int(row[2]), json.loads(row[3]) if row[3] else None, float(row[4]) if row[4] else None,
         int(row[5]) if row[5] else None, float(row[6]) if row[6] else 0, int(row[7]), int(row[8]) if row[8] else None,
         json.loads(row[9]) if row[9] else None]
        for row in rows
    ]  # fmt: skip


def check_pipeline(body: Any) -> str:
    """Refuse requests for parts of the pipeline that are none; the device they name."""
    device = check_device(body)
    check_order(body, [name for name in _PIPELINE if name not in ("output_queue_size", "children_id")])
    wanted = body.get("filter_condition", {})
    if not isinstance(wanted, dict):
        raise wrong_filter("The filter condition must be dict.")
    for name, tests in wanted.items():
        if name == "is_display_op_detail":
            if not isinstance(tests, bool):
                raise wrong_filter("The condition must be bool.")
        elif name in ("op_id", "op_type"):
            check_filter(tests, int if name == "op_id" else str)
        else:
            raise wrong_filter(f"The key {name} of filter_condition is not support.")
    if not device.isdigit():
        raise errors.wrong_type("device_id", "Integer")
    return device


def pipeline(rows: list[Row], body: dict[str, Any]) -> dict[str, Any]:
    """The parts of the pipeline, filtered, sorted and paged; their queues only where asked for."""
    reply = Table(_PIPELINE, rows).reply(body)
    if body.get("filter_condition", {}).get("is_display_op_detail"):
        return reply
    kept = [place for place, name in enumerate(_PIPELINE) if name not in _ONLY_DETAILS]
    return {**reply, "col_name": [_PIPELINE[p] for p in kept], "object": [[row[p] for p in kept] for row in reply["object"]]}


def part_of_pipeline(rows: list[Row], number: int) -> dict[str, Any]:
    """A part of the pipeline, the one that takes from it, and the queue between them."""
    parts = {row[0]: dict(zip(_PIPELINE, row)) for row in rows}
    if number not in parts:
        raise errors.ApiError(errors.PROFILER, 8 | ANALYSER, f"The minddata pipeline operator {number} does not exist.")
    part, above = parts[number], parts.get(parts[number]["parent_id"])
    about = _PIPELINE[:3]
    return {
        "current_op": {name: part[name] for name in about},
        "parent_op": {name: above[name] for name in about} if above else None,
        "queue_info": {name: part[name] for name in _PIPELINE[3:8]} if above else None,
    }
