"""Profile folders that official MindSpore wrote: the routes on memory, communication, ranks and Marey's graph.

Such a folder is called `profiler…`, lies in the folder of a run, and holds for each device `profiler_info_N.json` and tables beside it.
Most replies are these tables as they are. What our own profiles can tell instead is in `profiles.py` and `profile_steps.py`.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

from mindinsight.server import errors
from mindinsight.server.calls import Call

_LARGEST = 256 << 20
_MOST_DEVICES_SHOWN = 8
_INFO = re.compile(r"profiler_info_(\d+)\.json")
_STEPS = "step_trace_raw_{}_detail_time.csv"
_STEP_COLUMNS = (
    "step_num",
    "start_point",
    "end_point",
    "total",
    "fp_point",
    "bp_point",
    "iteration_interval",
    "fp_and_bp",
    "tail",
)
_TO_MS = 1e5  # official steps count in ten nanoseconds
_GENERAL = 1 << 7


def folder_of(call: Call, place: str | None) -> Path | None:
    """The newest official profile of a run; None where it has none."""
    if not place:
        return None
    run = call.workspace.path(place)
    found = sorted(f for f in run.glob("profiler*") if f.is_dir()) if run.is_dir() else []
    return found[-1] if found and devices(found[-1]) else None


def devices(folder: Path) -> list[str]:
    """The numbers of the devices, in the order of texts."""
    return sorted(found[1] for found in (_INFO.fullmatch(entry.name) for entry in folder.iterdir()) if found)


def is_there(call: Call) -> bool:
    """Whether a request means an official profile."""
    return folder_of(call, call.query.get("dir") or call.query.get("train_id")) is not None


def needed(call: Call, place: str | None = None) -> Path:
    """The official profile that a request means."""
    place = place or call.query.get("dir") or call.query.get("train_id")
    if not place:
        raise errors.ApiError(errors.PROFILER, _GENERAL, "Param value error. The file dir does not exist.")
    found = folder_of(call, place)
    if found is None:
        raise errors.ApiError(errors.PROFILER, 3 | _GENERAL, f"The dir <{place}/profiler> not found.")
    return found


def _text(folder: Path, name: str) -> str:
    path = folder / name
    if not path.is_file():
        raise errors.ApiError(errors.PROFILER, 4 | _GENERAL, f"The file <{name}> not found.")
    try:
        if path.stat().st_size > _LARGEST:
            raise OSError
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise errors.ApiError(errors.PROFILER, 5 | _GENERAL, "Read or write file fail.") from None


def _content(folder: Path, name: str) -> Any:
    """A JSON file."""
    try:
        return json.loads(_text(folder, name))
    except json.JSONDecodeError:
        raise errors.ApiError(errors.PROFILER, 5 | _GENERAL, "Read or write file fail.") from None


def _rows(folder: Path, name: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(_text(folder, name).splitlines()) if row]
    except csv.Error:
        raise errors.ApiError(errors.PROFILER, 5 | _GENERAL, "Read or write file fail.") from None


def _table(folder: Path, name: str) -> list[dict[str, Any]]:
    """A CSV table; a column is of numbers if all of its cells are."""
    head, *rows = _rows(folder, name) or [[]]
    columns = [_column(list(cells)) for cells in zip(*rows)]
    return [dict(zip(head, row)) for row in zip(*columns)]


def _column(cells: list[str]) -> list[Any]:
    for kind in (int, float):
        try:
            return [kind(cell) for cell in cells]
        except ValueError:
            continue
    return list(cells)


# ---------------------------------------------------------------------------------------------------------------------
# About a profile


def about_devices(folder: Path) -> dict[str, Any]:
    """The devices and the mode they ran in."""
    found = devices(folder)
    return {
        "device_list": found,
        "profiler_mode": _content(folder, f"profiler_info_{found[0]}.json").get("context_mode", ""),
    }


def version(folder: Path, mine: str) -> dict[str, Any]:
    """Which MindSpore wrote a profile, and whether it is one that is known."""
    theirs = _content(folder, f"profiler_info_{devices(folder)[0]}.json").get("ms_version", "")
    return {"state": _is_known(theirs, mine), "ms": theirs, "mi": mine} if theirs else {}


def _is_known(theirs: str, mine: str) -> bool:
    numbers = [[int(n) for n in re.findall(r"\d+", text)[:2]] for text in (theirs, mine)]
    return numbers[0] <= numbers[1]


def strategy(folder: Path) -> dict[str, Any]:
    """How a network was cut: the kind of parallelism and the devices of each stage."""
    info = _content(folder, f"profiler_info_{devices(folder)[0]}.json")
    kind, stages, size = (info.get(key) for key in ("parallel_mode", "stage_num", "rank_size"))
    if not kind or not isinstance(stages, int) or not isinstance(size, int) or stages < 1 or size < stages:
        raise errors.ApiError(errors.PROFILER, 6 | _GENERAL, "fields: parallel_mode, stage_num, rank_size")
    files = list(folder.glob("parallel_strategy*.json"))
    if not files:
        raise errors.ApiError(errors.PROFILER, 11 | 3 << 7, "Can not find any parallel strategy data.")
    if len(files) != size:
        raise errors.ApiError(errors.PROFILER, 13 | 3 << 7, "The num of parallel data is not match the rank size")
    width = size // stages
    return {
        "parallel_type": kind,
        "stage_devices": {str(s): list(range(s * width, (s + 1) * width)) for s in range(stages)},
    }


def strategy_of(folder: Path, rank: int) -> Any:
    """The operators of one rank with how they were cut, as it wrote them."""
    return _content(folder, f"parallel_strategy_{rank}.json").get("graph", {})


def shapes(folder: Path, device: str) -> Any:
    """The shapes that operators met; empty where they had one each."""
    name = f"dynamic_shape_info_{device}.json"
    return _content(folder, name) if (folder / name).is_file() else {}


# ---------------------------------------------------------------------------------------------------------------------
# Memory and operations


def memory_summary(folder: Path, device: str) -> Any:
    return _content(folder, f"memory_usage_summary_{device}.json")


def memory_graphs(folder: Path, device: str) -> dict[str, Any]:
    """The memory of each graph over its nodes."""
    graphs = _content(folder, f"memory_usage_details_{device}.json")
    return {
        key: {name: value for name, value in graph.items() if name != "breakdowns"} for key, graph in graphs.items()
    }


def memory_of_node(folder: Path, device: str, graph: str, node: int) -> dict[str, Any]:
    """The tensors that are in memory when a node runs."""
    graphs = _content(folder, f"memory_usage_details_{device}.json")
    found = next((g for g in graphs.values() if str(g.get("graph_id", -1)) == graph), None)
    if found is None:
        raise errors.wrong_value("Invalid graph id.")
    parts = found.get("breakdowns") or []
    if not 0 <= node < len(parts):
        raise errors.wrong_value("Invalid node id.")
    return {"breakdowns": parts[node]}


def flops(folder: Path, device: str) -> Any:
    name = f"flops_summary_{device}.json"
    return _content(folder, name) if (folder / name).is_file() else {}


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
            parts["details"] = _table(folder, f"flops_{device}.txt")
    return found


def steps_of_devices(folder: Path) -> dict[str, Any]:
    """For Marey's graph."""
    tables = {f"device{d}": _table(folder, _STEPS.format(d)) for d in devices(folder)}
    return {
        device: [{name: row.get(name) for name in _STEP_COLUMNS} for row in rows] for device, rows in tables.items()
    }


# ---------------------------------------------------------------------------------------------------------------------
# Ranks


def _ranks(folder: Path) -> list[int]:
    found = (re.match(r"step_trace_raw_(\d+)_", entry.name) for entry in folder.iterdir())
    return sorted(int(match[1]) for match in found if match)


def cluster_flops(folder: Path) -> list[dict[str, Any]]:
    """Operations of each rank, and their share of the most."""
    rows = [
        {"rank_id": rank, **flops(folder, str(rank))}
        for rank in _ranks(folder)
        if (folder / f"flops_summary_{rank}.json").is_file()
    ]
    for row in rows:
        row["FLOPs"] = row.get("FLOPs") or row.get("cube_FLOPs", 0) + row.get("vec_FLOPs", 0)
    most = max((row["FLOPs"] for row in rows), default=0)
    return [{**row, "FLOPs_norm": row["FLOPs"] / most if most else 0.0} for row in rows]


def cluster_memory(folder: Path) -> list[dict[str, Any]]:
    """The most memory of each rank."""
    found = [(rank, memory_summary(folder, str(rank))) for rank in _ranks(folder)]
    return [
        {"rank_id": rank, "capacity": summary.get("capacity"), "peak_mem": summary.get("peak_mem")}
        for rank, summary in found
    ]


def cluster_steps(folder: Path, body: dict[str, Any]) -> dict[str, Any]:
    """A step, or the mean step (0), of each rank, in milliseconds: what it waited, computed, ended with, and all of it."""
    step = _whole((body.get("filter_condition") or {}).get("step_id", 0))
    ranks, rows, last = _ranks(folder), [], "0"
    for rank in ranks:
        table = _rows(folder, _STEPS.format(rank))
        if not 0 <= step < len(table):
            raise errors.wrong_value(f"'step_id' should be in [0, {len(table) - 2}].")
        row, last = table[step or -1], table[-2][0] if len(table) > 1 else last
        rows.append([round(float(row[place]) / _TO_MS, 4) for place in (6, 7, 8, 3)])
    info = [{"step_trace_info": row, "rank_id": rank, "profiler_dir": "profiler"} for rank, row in zip(ranks, rows)]
    return {"total_step_num": last, "stage_num": 1, "info": info, "size": len(info), "parallel-mode": "data-parallel"}


def _whole(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise errors.wrong_type("step_id", "Integer") from None


# ---------------------------------------------------------------------------------------------------------------------
# Communication


def communication_of_devices(folder: Path) -> dict[str, Any]:
    """The communication of each device's steps, with links and operators."""
    found = {}
    for device in devices(folder):
        rows = _table(folder, f"hccl_raw_{device}.csv")
        for row in rows:
            row |= {
                name: json.loads(row[name])
                for name in ("link_info", "communication_operator_cost")
                if isinstance(row.get(name), str)
            }
        found[f"device{device}"] = rows
    return found


def _communication(folder: Path, step: Any) -> list[list[Any]]:
    """Step, seconds of communication and of waiting, links, operators and rank, for each rank; step 0 is the mean."""
    wanted = "-" if str(step) == "0" else str(step)
    found = []
    for rank in _ranks(folder):
        rows = _rows(folder, f"hccl_raw_{rank}.csv")
        row = next((row for row in rows if row[0] == wanted), None)
        if row is None or len(row) < 4:
            raise errors.wrong_value(f"'step_id' should be in [0, {max(0, len(rows) - 2)}].")
        found.append([row[0], float(row[1]), float(row[2]), *(json.loads(cell) for cell in row[3:5]), rank])
    return found


def communication(folder: Path, body: dict[str, Any]) -> dict[str, Any]:
    """What each rank spent on communication in a step."""
    rows = _communication(folder, (body.get("filter_condition") or {}).get("step_id", 0))
    size = len(rows)
    rows = _page(_sorted(rows, ["step_num", "communication_cost", "wait_cost"], body), body)
    ranks = _ranks(folder)
    steps = len(_rows(folder, f"hccl_raw_{ranks[0]}.csv")) - 2 if ranks else 0
    return {"total_step_num": max(0, steps), "size": size,
            "communication": [{"communication_info": row[1:-1], "rank_id": row[-1]} for row in rows]}  # fmt: skip


def links(folder: Path, body: dict[str, Any]) -> dict[str, Any]:
    """What went over each link in a step: from rank to rank, kind, milliseconds, bytes, bandwidth."""
    wanted = body.get("filter_condition") or {}
    rows = [[ends, kind, *numbers[:3]] for row in _communication(folder, wanted.get("step_id", 0))
            for ends, kinds in row[3].items() for kind, numbers in kinds.items()]  # fmt: skip
    for place, end in enumerate(("src_rank", "dst_rank")):
        if end in wanted:
            rows = [row for row in rows if row[0].split("-")[place] == str(wanted[end])]
    if "link_type" in wanted:
        rows = [row for row in rows if row[1].startswith(str(wanted["link_type"]))]
    size = len(rows)
    columns = ["src_dst", "link_type", "communication_cost", "communication_size", "band_width"]
    return {"cluster_link_info": _page(_sorted(rows, columns, body), body), "size": size}


def _sorted(rows: list[list[Any]], columns: list[str], body: dict[str, Any]) -> list[list[Any]]:
    order = body.get("sort_condition") or {}
    name = order.get("name")
    if not name:
        return rows
    if name not in columns:
        raise errors.ApiError(errors.PROFILER, 3 << 7, f"The column {name} does not exist.")
    place = columns.index(name)
    return sorted(rows, key=lambda row: row[place], reverse=order.get("type", "descending") == "descending")


def _page(rows: list[list[Any]], body: dict[str, Any]) -> list[list[Any]]:
    page = body.get("group_condition") or {}
    limit, offset = page.get("limit"), page.get("offset")
    if limit is None and offset is None:
        return rows
    limit, offset = 10 if limit is None else limit, offset or 0
    if not isinstance(limit, int) or not isinstance(offset, int) or limit < 1 or offset < 0:
        raise errors.wrong_value("'limit' and 'offset' should be whole numbers.")
    return rows[limit * offset : limit * (offset + 1)]


# ---------------------------------------------------------------------------------------------------------------------
# Marey's graph: the operators of a step on all devices side by side


def timeline(folder: Path, step: str, wanted: str | None) -> dict[str, Any]:
    """When each operator ran on each device, and over the devices that communicate with one another (a stage)."""
    numbers = wanted.split(",") if wanted else sorted(devices(folder), key=int)[:_MOST_DEVICES_SHOWN]
    events: dict[str, list[dict[str, Any]]] = {}
    for number in numbers:
        name = f"ascend_timeline_display_{number}.json"
        if number.isdigit() and (folder / name).is_file():
            events[f"device{number}"] = [
                e for e in _content(folder, name) if isinstance(e, dict) and "ts" in e and "dur" in e
            ]
    stages = _stages(events)
    maps = {device: _ran(found, step) for device, found in events.items()}
    times = [time for ran in maps.values() for op in ran.values() for time in (op["st"], op["ed"])]
    data = {
        f"stage{n}": {"data": _together([maps[d] for d in members]), "devices": members}
        for n, members in enumerate(stages)
    }
    return {"maps": maps, "minT": min(times, default=0), "maxT": max(times, default=0), "stage_data": data}


def _bounds(events: list[dict[str, Any]], step: str) -> tuple[float, float]:
    for event in events:
        if event["name"] == step:
            return float(event["ts"]), float(event["ts"]) + float(event["dur"])
    return 0.0, float("inf")


def _is_operator(event: dict[str, Any]) -> bool:
    name = event["name"]
    return (
        "tid" in event
        and "-op" in name
        and not any(word in name for word in ("AtomicAddrClean", "StreamSend", "StreamReceive"))
    )


def _ran(events: list[dict[str, Any]], step: str) -> dict[str, dict[str, float]]:
    begin, end = _bounds(events, step)
    found = {}
    for event in filter(_is_operator, events):
        at, lasted = float(event["ts"]), float(event["dur"])
        if begin < at < end or at <= begin < at + lasted:
            found[event["name"]] = {"st": at, "ed": at + lasted, "dur": lasted}
    return found


def _stages(events: dict[str, list[dict[str, Any]]]) -> list[list[str]]:
    """Devices that take part in one all-reduce, which ends for all at the same time: clocks are set by that."""
    first = {device: [e for e in found if _is_operator(e) and _bounds(found, "1")[0] < float(e["ts"]) < _bounds(found, "1")[1]]
             for device, found in events.items()}  # fmt: skip
    stages: list[list[str]] = []
    seen: set[str] = set()
    for device in events:
        if device in seen:
            continue
        stage = [device]
        reductions = [e for e in first[device] if "AllReduce" in e["name"]]
        if reductions:
            reduced = min(reductions, key=lambda e: float(e["ts"]))
            stage += _aligned(
                reduced, {other: events[other] for other in events if other not in (*seen, device)}, first
            )
        seen.update(stage)
        stages.append(stage)
    return sorted(stages, key=lambda members: int(members[0].removeprefix("device")))


def _aligned(
    reduced: dict[str, Any], others: dict[str, list[dict[str, Any]]], first: dict[str, list[dict[str, Any]]]
) -> list[str]:
    """The devices that take part in an all-reduce, with their clocks set so that it ends when it does for the first one."""
    found = []
    for device, events in others.items():
        same = next((e for e in first[device] if e["name"] == reduced["name"]), None)
        if same is not None:
            shift = float(reduced["ts"]) + float(reduced["dur"]) - float(same["ts"]) - float(same["dur"])
            for event in events:
                event["ts"] = float(event["ts"]) + shift
            found.append(device)
    return found


def _together(maps: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys(name for ran in maps for name in ran):
        parts = [ran[name] for ran in maps if name in ran]
        found[name] = {"n": len(parts)}
        for end in ("st", "ed"):
            times = [part[end] for part in parts]
            found[name] |= {f"{end}_max": max(times), f"{end}_min": min(times), f"{end}_avg": sum(times) / len(times)}
    return found


# ---------------------------------------------------------------------------------------------------------------------
# Processors


def processors(folder: Path, device: str, body: dict[str, Any]) -> dict[str, Any]:
    """How busy the processors were while data were prepared: the machine, the process, each part of the pipeline."""
    data = _content(folder, f"minddata_cpu_utilization_{device}.json")
    workers = {
        op.get("op_id"): op.get("num_workers")
        for op in _content(folder, f"pipeline_profiling_{device}.json").get("op_info", [])
    }
    steps, total = _sampled_steps(folder, device, data.get("time_stamp", [])[1:])
    wanted = body.get("filter_condition") or {}
    low, high = _whole(wanted.get("start_step", 1)), _whole(wanted.get("end_step", total))
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
    names = (f"device_queue_profiling_{device}.txt", f"dataset_iterator_profiling_{device}.txt")
    queue = next((name for name in names if (folder / name).is_file()), None)
    if queue is None:
        rows = _rows(folder, _STEPS.format(device))
        return [], max(0, len(rows) - 2)
    rows = [line.split() for line in _text(folder, queue).splitlines() if line.strip()]
    shift = int(rows[0][2]) - 1 if rows else 0
    asked = [(str(int(row[2]) - shift), float(row[4])) for row in rows if row[0] == "1" and len(row) > 4]
    return [next((step for step, at in reversed(asked) if at <= float(time)), 0) for time in times], len(asked)


# ---------------------------------------------------------------------------------------------------------------------
# What Ascend's own profiler wrote: PROF_…/device_N/timeline/msprof_….json and step_trace_….json


def _raw(folder: Path) -> dict[int, Path]:
    found = ((re.fullmatch(r"device_(\d+)", place.name), place) for place in folder.glob("PROF_*_*/device_*"))
    return {int(match[1]): place / "timeline" for match, place in found if match and (place / "timeline").is_dir()}


def raw_choices(folder: Path) -> dict[str, Any]:
    """Ranks and graphs with a timeline."""
    found = _raw(folder)
    names = (
        re.fullmatch(r"step_trace_\d+_(\d+)_\d+\.json", f.name) for place in found.values() for f in place.iterdir()
    )
    return {"rank_list": sorted(found), "model_list": sorted({int(match[1]) for match in names if match})}


def raw_timeline(folder: Path, ranks: list[int] | None) -> list[dict[str, Any]]:
    """The events of some ranks, whose processes are told apart."""
    events: list[dict[str, Any]] = []
    for rank, place in sorted(_raw(folder).items()):
        for file in sorted(place.glob("*.json")) if ranks is None or rank in ranks else ():
            for event in _content(place, file.name):
                if isinstance(event, dict):
                    events.append({**event, "pid": f"rank {rank}: {event.get('pid', '')}"})
    return events
