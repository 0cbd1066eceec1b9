"""Official routes on memory, operations, ranks and communication, answered from official profiles and from ours.

A run has profiles of one kind: those that official MindSpore wrote (`official/`), or ours. Ours know no links between devices,
which only Ascend counts.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import mindinsight
from mindinsight.server import errors, official
from mindinsight.server.calls import Call
from mindinsight.server.profiles import (
    all_profiles,
    cluster,
    counted_flops,
    device_of,
    parts_of_step,
    profile_folder,
    route,
    table,
    trace,
)

_GIB = 2**30
_TO_TEN_NS = 1e5  # official steps count in ten nanoseconds


def _only_ascend(call: Call, default: str = "") -> None:
    """Official profiles know the memory and the timeline of Ascend alone."""
    if call.query.get("device_type", default) != "ascend":
        raise errors.wrong_value("Invalid device_type.")


@route("GET", "/profile/devices")
def devices(call: Call) -> Any:
    """The ranks that were profiled."""
    if official.files.is_named(call):
        return official.about.about_devices(official.files.needed(call))
    numbers = [str(i) for i in range(len(all_profiles(call)))]
    return {"device_list": numbers, "rank_list": numbers, "profiler_mode": ""}


@route("GET", "/profile/profile_info")
def about(call: Call) -> Any:
    """Which version wrote a profile."""
    if official.files.is_named(call):
        return official.about.version(official.files.needed(call), mindinsight.__version__)
    profile_folder(call)
    return {}


# ---------------------------------------------------------------------------------------------------------------------
# Memory


@route("GET", "/profile/memory-summary")
def memory_summary(call: Call) -> Any:
    """The most memory in use, in GiB."""
    if official.files.is_there(call):
        _only_ascend(call, "ascend")
        return {"summary": official.memory.memory_summary(official.files.needed(call), device_of(call))}
    return {"summary": _memory(profile_folder(call))[0]}


@route("GET", "/profile/memory-graphics")
def memory_graphs(call: Call) -> Any:
    """Memory over the nodes of each graph; over time in our profiles."""
    if official.files.is_there(call):
        _only_ascend(call, "ascend")
        return official.memory.memory_graphs(official.files.needed(call), device_of(call))
    return {"0": _memory(profile_folder(call))[1]}


@route("GET", "/profile/memory-breakdowns")
def memory_of_node(call: Call) -> Any:
    """What is in memory when a node runs."""
    folder, node = official.files.needed(call), call.integer("node_id", 0)
    _only_ascend(call, "ascend")
    return official.memory.memory_of_node(folder, device_of(call), call.query.get("graph_id", "0"), node)


def _memory(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The official summary, and the official graph, of the memory that one of our profiles recorded."""
    lines = [row["bytes"] / _GIB for row in table(folder / "memory_record.csv") if isinstance(row.get("bytes"), float)]
    grown = sum(1 for a, b in itertools.pairwise(lines) if b > a)
    shrunk = sum(1 for a, b in itertools.pairwise(lines) if b < a)
    summary = {
        "allocations": grown,
        "deallocations": shrunk,
        "peak_mem": max(lines, default=0.0),
        "static_mem": min(lines, default=0.0),
    }
    return {"capacity": None, **summary}, {
        "graph_id": 0,
        **summary,
        "fp_start": None,
        "bp_end": None,
        "nodes": [],
        "lines": lines,
    }


# ---------------------------------------------------------------------------------------------------------------------
# Operations and steps of all ranks


@route("GET", "/profile/flops-summary")
def flops_summary(call: Call) -> Any:
    """Operations of the profiled calls, and how many were done in a second, in millions."""
    if official.files.is_there(call):
        return official.memory.flops(official.files.needed(call), device_of(call))
    return _flops(profile_folder(call))


def _flops(folder: Path) -> dict[str, Any]:
    rows, rate = counted_flops(folder, table(folder / "step_trace_time.csv"))
    return {"FLOPs": round(sum(row["flops"] * row["calls"] for row in rows) / 1e6, 3), "FLOPS": round(rate / 1e6, 3),
            "FLOPS_Utilization": 0.0, "scalar_FLOPs": 0.0, "cube_FLOPs": 0.0, "vec_FLOPs": 0.0}  # fmt: skip


@route("GET", "/profile/cluster-flops")
def cluster_flops(call: Call) -> Any:
    """Operations of each rank, and their share of the most."""
    if official.files.is_there(call):
        return official.ranks.cluster_flops(official.files.needed(call))
    rows = [{"rank_id": i, **_flops(folder)} for i, (_, folder) in enumerate(all_profiles(call))]
    most = max((row["FLOPs"] for row in rows), default=0)
    return [{**row, "FLOPs_norm": row["FLOPs"] / most if most else 0.0} for row in rows]


@route("GET", "/profile/cluster-peak-memory")
def cluster_memory(call: Call) -> Any:
    """The most memory of each rank, in GiB."""
    if official.files.is_there(call):
        return official.ranks.cluster_memory(official.files.needed(call))
    return [
        {"rank_id": i, "capacity": None, "peak_mem": rank["peak"] / _GIB}
        for i, rank in enumerate(cluster(call)["ranks"])
    ]


@route("POST", "/profile/cluster-step-trace-summary")
def cluster_steps(call: Call) -> Any:
    """The mean step of each rank, or one step: waiting for data, computing, the rest, and all of it, in milliseconds."""
    if official.files.is_there(call):
        return official.ranks.cluster_steps(official.files.needed(call), call.body())
    step = (call.body().get("filter_condition") or {}).get("step_id", 0)
    info, most = [], 0
    for i, (_, folder) in enumerate(all_profiles(call)):
        rows = table(folder / "step_trace_time.csv")
        most = max(most, len(rows))
        parts = parts_of_step(rows, step if isinstance(step, int) else 0)
        info.append({"step_trace_info": parts, "rank_id": i, "profiler_dir": "profiler"})
    return {
        "total_step_num": str(most),
        "stage_num": 1,
        "info": info,
        "size": len(info),
        "parallel-mode": "data-parallel",
    }


@route("GET", "/profile/summary/cluster-propose")
def cluster_propose(call: Call) -> Any:
    """Advice on ranks that are not alike."""
    if official.files.is_there(call):
        return official.advice.of_ranks(official.files.needed(call))
    return {"cluster": cluster(call)["advice"]}


# ---------------------------------------------------------------------------------------------------------------------
# Communication


@route("GET", "/profile/communication-data")
def communication_data(call: Call) -> Any:
    """The communication of every step of every device."""
    return official.ranks.communication_of_devices(official.files.needed(call))


@route("POST", "/profile/search-cluster-communication")
def communication(call: Call) -> Any:
    """What each rank spent on communication in a step."""
    return official.ranks.communication(official.files.needed(call), call.body())


@route("POST", "/profile/search-cluster-link")
def links(call: Call) -> Any:
    """What went over each link in a step."""
    return official.ranks.links(official.files.needed(call), call.body())


@route("GET", "/profile/parallel-strategy/graphs")
def strategy(call: Call) -> Any:
    """How the network was cut over devices: stages (`stage_id=metadata`), or the graph of a stage."""
    folder = official.files.needed(call)
    about = official.strategy.about(folder)
    stage = call.query.get("stage_id") or "metadata"
    if stage == "metadata":
        return {"status": "finish", "data": about}
    ranks = about["stage_devices"].get(stage)
    if ranks is None:
        raise errors.wrong_value(f"'stage_id' should be 'metadata' or in [0, {len(about['stage_devices']) - 1}].")
    return {"status": "finish", "data": official.strategy.stage(folder, ranks)}


# ---------------------------------------------------------------------------------------------------------------------
# Marey's graph


@route("GET", "/profile/marey-graph/memory-data")
def marey_memory(call: Call) -> Any:
    """The memory of all devices."""
    _only_ascend(call)
    if official.files.is_there(call):
        return official.memory.memory_of_devices(official.files.needed(call))
    both = [_memory(folder) for _, folder in all_profiles(call)]
    return {f"device{i}": {"summary": summary, "details": {"0": graph}} for i, (summary, graph) in enumerate(both)}


@route("GET", "/profile/marey-graph/flops-data")
def marey_flops(call: Call) -> Any:
    """The operations of all devices."""
    if official.files.is_there(call):
        return official.memory.flops_of_devices(official.files.needed(call))
    found = {}
    for i, (_, folder) in enumerate(all_profiles(call)):
        rows = [row for row in table(folder / "flops.csv") if isinstance(row.get("flops"), float)]
        details = [{"op_full_name": row.get("place"), "MFLOPs": row["flops"] / 1e6} for row in rows]
        found[f"device{i}"] = {"summary": _flops(folder), "details": details}
    return found


@route("GET", "/profile/marey-graph/overview-time")
def marey_steps(call: Call) -> Any:
    """The steps of all devices."""
    if official.files.is_there(call):
        return official.ranks.steps_of_devices(official.files.needed(call))
    return {
        f"device{i}": _steps(table(folder / "step_trace_time.csv")) for i, (_, folder) in enumerate(all_profiles(call))
    }


def _steps(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Official rows of our steps, one after the other; the last is the mean."""
    found, begin = [], 0
    for number, row in enumerate(rows, 1):
        waited, computed, rest, total = (round(ms * _TO_TEN_NS) for ms in parts_of_step([row], 1))
        first = begin + waited
        found.append({"step_num": str(number), "start_point": begin, "end_point": begin + total, "total": total,
                      "fp_point": first, "bp_point": first + computed, "iteration_interval": waited, "fp_and_bp": computed,
                      "tail": rest})  # fmt: skip
        begin += total
    if found:
        waited, computed, rest, total = (round(ms * _TO_TEN_NS) for ms in parts_of_step(rows, 0))
        found.append({"step_num": "-", "start_point": 0, "end_point": 0, "total": total, "fp_point": 0, "bp_point": 0,
                      "iteration_interval": waited, "fp_and_bp": computed, "tail": rest})  # fmt: skip
    return found


@route("GET", "/profile/marey-graph/timeline")
def marey_timeline(call: Call) -> Any:
    """When each operator of a step ran on each device."""
    _only_ascend(call)
    return official.marey.timeline(official.files.needed(call), call.query.get("step", "1"), call.query.get("device_list"))


# ---------------------------------------------------------------------------------------------------------------------
# The rest


@route("POST", "/profile/minddata-cpu-utilization-summary")
def processors(call: Call) -> Any:
    """How busy the processors were while data were prepared."""
    official.files.is_named(call)
    body = call.body()
    return official.data.processors(official.files.needed(call), device_of(call, body.get("device_id", "0")), body)


@route("POST", "/profile/dynamic-shape-detail")
def shapes(call: Call) -> Any:
    """The shapes that operators met."""
    body = call.body()
    if body.get("device_type", "ascend") not in ("ascend", "gpu"):
        raise errors.wrong_value("Invalid device_type.")
    place = body.get("dir")
    if not isinstance(place, str):
        raise errors.missing("dir")
    return official.about.shapes(official.files.needed(call, place), device_of(call, body.get("device_id", "0")))


@route("GET", "/profile/msprof_timeline_option")
def timeline_choices(call: Call) -> Any:
    """The ranks and graphs whose timelines can be seen."""
    if official.files.is_there(call):
        return official.raw.choices(official.files.needed(call))
    profile_folder(call)
    return {"rank_list": list(range(len(all_profiles(call)))), "model_list": []}


@route("GET", "/profile/msprof_timeline")
def merged_timeline(call: Call) -> Any:
    """The timelines of some ranks, as events for Perfetto."""
    if not official.files.is_there(call):
        return trace(call)
    folder, kind = official.files.needed(call), call.query.get("kind") or "summary"
    merged, scopes = call.query.get("merge_model") != "false", call.query.get("scope_name", "false") != "false"
    return official.raw.timeline(folder, _numbers(call, "rank_list"), _numbers(call, "model_list"), kind, merged, scopes)


def _numbers(call: Call, name: str) -> list[int]:
    given = call.query.get(name)
    if given and not all(number.isdigit() for number in given.split(",")):
        raise errors.wrong_type(name, "Integer")
    return [int(number) for number in given.split(",")] if given else []
