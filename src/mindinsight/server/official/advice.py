"""What could be better: of one device (data preparation), and of all (slow ranks and links, too much communication).

Replies name what was found under official names; the pages say it in words.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from mindinsight.server.official import data, ranks, steps
from mindinsight.server.official.files import json_file
from mindinsight.server.official.query import Row

_LONG_INTERVAL = 0.5  # milliseconds
_BUSY = 80  # percent
_FULL, _EMPTY, _FALL = 0.8, 0.6, 0.1  # of queues in the pipeline
_UNEQUAL = 0.2
_MUCH_COMMUNICATION = 0.1


def of_device(folder: Path, device: str) -> dict[str, Any]:
    """Advice on the data preparation of a device, if steps wait for it and a part of the pipeline is to blame."""
    common: dict[str, Any] = {"common-proposer_type_label": None, "common-profiler_tutorial": None}
    advisor = _of_advisor(folder, device)
    interval = steps.part(folder, device, "iteration_interval")["summary"]["iteration_interval"] if steps.has_steps(folder, device) else 0
    slow = _of_pipeline(folder, device)
    if interval <= _LONG_INTERVAL or not slow:
        return common | advisor
    found: dict[str, Any] = {"step_trace-proposer_type_label": None, "step_trace-iter_interval": [str(_LONG_INTERVAL)]}
    queues = _of_queues(folder, device)
    if queues:
        found |= {"minddata-proposer_type_label": None, **queues}
    rate = queues.get("minddata_device_queue_rate", {}).get("empty_rate")
    if not rate or rate > data.OFTEN_EMPTY * 100:
        found |= {"minddata_pipeline-proposer_type_label": None, **slow}
    found |= common
    return found | ({"msadvisor-proposer_type_label": None, **advisor} if advisor else {})


def _of_advisor(folder: Path, device: str) -> dict[str, Any]:
    """What Ascend's own advisor recommends."""
    place = folder / "msadvisor" / f"device_{device}" / "recommendation"
    files = sorted(place.glob("*.json"), key=lambda file: file.stat().st_mtime) if place.is_dir() else []
    return {"msadvisor-proposer": json_file(place, files[-1].name).get("model")} if files else {}


def _of_queues(folder: Path, device: str) -> dict[str, Any]:
    state = data.state(folder, device)
    found: dict[str, Any] = {}
    if "get_next_queue_info" in state:
        counts = state["get_next_queue_info"]["summary"]
        found["minddata_get_next_queue"] = [counts["empty_batch_count"], counts["total_batch"]]
    rate = 0
    if "device_queue_info" in state:
        empty, full, total = (state["device_queue_info"]["summary"][n] for n in ("empty_batch_count", "full_batch_count", "total_batch"))
        rate = math.ceil(empty / total * 100) if total else 0
        found["minddata_device_queue"] = [empty, total, full, total]
    bad = next((name for name, part in state.items() if part.get("status") == "warning"), "")
    if bad in ("data_process", "data_transmission"):
        found["minddata_device_queue_rate"] = {"empty_rate": rate, "empty_warning_threshold": int(data.OFTEN_EMPTY * 100)}
    elif bad == "device_queue_warning":
        found[bad] = ["warning"]
    return found | _of_processors(folder, device)


def _of_processors(folder: Path, device: str) -> dict[str, Any]:
    if not (folder / f"minddata_cpu_utilization_{device}.json").is_file():
        return {}
    idle = json_file(folder, f"minddata_cpu_utilization_{device}.json").get("device_info", {}).get("idle_utilization", [])
    busy = 100 - round(sum(idle) / len(idle)) if idle else 0
    return {"minddata_cpu_utilization": [busy]} if busy > _BUSY else {}


def _of_pipeline(folder: Path, device: str) -> dict[str, Any]:
    """The parts of the pipeline that the others wait for, by what they do; empty if all queues are full."""
    slow = _slow(data.pipeline_rows(folder, device))
    kinds: dict[str, list[str]] = {"general": [], "dataset_op": [], "generator_op": [], "map_op": [], "batch_op": []}
    for row in slow:
        name = f"{row[1]}_{row[0]}"
        kinds["general"].append(name)
        kind = {"MapOp": "map_op", "GeneratorOp": "generator_op", "BatchOp": "batch_op"}.get(row[1]) if row[9] else "dataset_op"
        if kind:
            kinds[kind].append(name)
    # replies name the parts in the order in which they run
    return {f"minddata_pipeline-{kind}": ["/".join(reversed(names))] for kind, names in kinds.items() if names}


def _slow(rows: list[Row]) -> list[Row]:
    """Parts whose queue is much emptier than those they take from, and sources whose queue is not full."""
    usage = {row[0]: row[6] for row in rows}
    parts = [row for row in rows if row[8] is not None]
    if all(row[6] >= _FULL for row in parts):
        return []
    later = [row for row in parts if row[9] and any(usage[below] - row[6] > _FALL for below in row[9])]
    return later + [row for row in parts if not row[9] and row[6] < _EMPTY]


# ---------------------------------------------------------------------------------------------------------------------
# All ranks


def of_ranks(folder: Path) -> dict[str, Any]:
    """Ranks, links and stages that hold the others up, and communication that takes too long."""
    cut = ranks.cut_of(folder)
    if cut.kind is None:
        return {}
    numbers = range(cut.size)
    has_steps = all(ranks.has_bottleneck(folder, cut, rank) for rank in numbers)
    has_flops = all((folder / f"flops_summary_{rank}.json").is_file() for rank in numbers)
    times = {rank: ranks.bottleneck(folder, cut, rank, 0) for rank in numbers} if has_steps else {}
    counted = ranks.cluster_flops(folder) if has_flops else []
    rates = {row["rank_id"]: row.get("FLOPS") or row["cube_FLOPS"] + row["vec_FLOPS"] for row in counted}
    found: dict[str, Any] = {"step_interval": _most("rank_id", {rank: row[0] for rank, row in times.items()}, 1),
             "flops_per_second": _most("rank_id", rates, -1)}  # fmt: skip
    if all((folder / f"hccl_raw_{rank}.csv").is_file() for rank in numbers):
        found["cluster_link"] = _links(ranks.links(folder, {})["cluster_link_info"])
    much = _in_pipeline(times, cut) if cut.kind == "pipeline-parallel" else _together(times, cut)
    if cut.kind == "pipeline-parallel":
        stages: dict[int, float] = {}
        for row in counted:
            stage = row["rank_id"] // cut.width + 1
            stages[stage] = stages.get(stage, 0.0) + row["FLOPs"] / cut.width
        much["pipeline_parallel_flops"] = _most("stage", stages, 1)
    found["parallel_strategy"] = {name: part for name, part in much.items() if part}
    return {name: part for name, part in found.items() if part}


def _most(key: str, values: dict[int, float], sign: int) -> dict[str, Any]:
    """Whose value is furthest above (or below) the mean, if by much."""
    mean = sum(values.values()) / len(values) if values else 0.0
    if not mean:
        return {}
    one = max(values, key=lambda name: sign * values[name])
    share = sign * (values[one] / mean - 1)
    return {key: one, "val": round(values[one], 4), "percent": round(share * 100, 2)} if share > _UNEQUAL else {}


def _links(rows: list[Row]) -> list[dict[str, Any]]:
    """The slowest link of each kind, if it is by much."""
    kinds: dict[str, list[tuple[int, int, float]]] = {}
    for ends, kind, _, _, width in rows:
        source, target = (int(end) for end in ends.split("-"))
        if source != target:
            kinds.setdefault(kind, []).append((source, target, width))
    found = []
    for kind, links in kinds.items():
        mean = sum(link[2] for link in links) / len(links)
        source, target, width = min(links, key=lambda link: link[2])
        if mean and (mean - width) / mean > _UNEQUAL:
            share = round((mean - width) / mean * 100, 2)
            found.append({"src_rank": source, "des_rank": target, "link_type": kind, "val": round(width, 4), "percent": share})
    return found


def _rate(part: float, whole: float) -> dict[str, Any]:
    """A share of the time, if it is much."""
    share = round(part / whole, 4) if whole > 0 and part > 0 else 0.0
    if share <= _MUCH_COMMUNICATION:
        return {}
    return {"val": round(share * 100, 2), "threshold": _MUCH_COMMUNICATION * 100}


def _together(times: dict[int, list[float]], cut: ranks.Cut) -> dict[str, Any]:
    computed, sent = (sum(row[place] for row in times.values()) for place in (1, 2))
    return {f"{str(cut.kind).replace('-', '_')}_communication_rate": _rate(sent, computed + sent)}


def _in_pipeline(times: dict[int, list[float]], cut: ranks.Cut) -> dict[str, Any]:
    """Communication between stages (waiting for the one before), and within the stage that has most of it."""
    computed, sent, received = (sum(row[place] for row in times.values()) for place in (1, 2, 4))
    inside: dict[int, list[float]] = {}
    for rank, row in times.items():
        part = inside.setdefault(rank // cut.width + 1, [0.0, 0.0])
        part[0] += row[5]
        part[1] += row[1] + row[2]
    shares = {stage: part / whole for stage, (part, whole) in inside.items() if whole}
    worst = max(shares, key=lambda stage: shares[stage], default=0)
    within = {}
    if shares.get(worst, 0.0) > _MUCH_COMMUNICATION:
        within = {"val": round(shares[worst] * 100, 2), "threshold": _MUCH_COMMUNICATION * 100, "stage": worst}
    return {"pipeline_parallel_between_stage": _rate(received, computed + sent), "pipeline_parallel_within_stage": within}
