"""Profiles: tables that the profiler wrote below a run's folder, and what they say in a sentence."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse

from mindinsight.server import errors
from mindinsight.server.calls import Call, check_page, route

_OUTPUT = "PROFILER_OUTPUT"
_LARGEST = 64 << 20
_MOST_ROWS = 20_000
_ADVICE = {
    "compute_ms": "Most of a step is computing: look at the longest kernels below; smaller types (amp) and fused operators help most.",
    "data_wait_ms": "Most of a step is waiting for data: raise num_parallel_workers, prefetch, cache, or move decoding before training.",
    "other_ms": "Most of a step is Python and the start of graphs: compile the whole step (ms.jit), or use data sinking.",
}
_NAMES = {"compute_ms": "computing", "data_wait_ms": "waiting for data", "other_ms": "Python and the rest"}


#: a rank that needs this share of a step more than the others is named
_STRAGGLER = 0.1
#: a larger share of a step spent on waiting for data is worth a word
_WAITED = 0.1
_UNEQUAL = (
    ("compute_ms", "computes longer than the others", "Look for unequal shards or a slower machine; the others wait for it."),
    ("data_wait_ms", "waits longer for its data", "Look at its storage and its share of the files."),
    ("other_ms", "spends more time outside of graphs", "Look at what its process does besides training."),
)


def _folders(run: Path) -> Iterator[tuple[str, Path]]:
    """Folders with a profile, at most four levels down."""
    for place, names, _ in os.walk(run):
        depth = len(Path(place).relative_to(run).parts)
        if _OUTPUT in names:
            name = str(Path(place).relative_to(run))
            yield name, Path(place) / _OUTPUT
        names[:] = sorted(n for n in names if n != _OUTPUT and not n.startswith(".")) if depth < 4 else []


def has_profile(run: Path) -> bool:
    """Whether a folder seems to hold a profile: a look at its entries, no more."""
    try:
        with os.scandir(run) as entries:
            return any(entry.name == _OUTPUT or entry.name.startswith("profiler") for entry in entries)
    except OSError:
        return False


def profile_folder(call: Call) -> Path:
    """The profile that a request means: by run and name, or by `dir`, the path below the folder of runs."""
    place = call.query.get("dir")
    if place:
        folder = call.workspace.path(place) / _OUTPUT
        if not folder.is_dir():
            raise errors.ApiError(errors.PROFILER, 1, f"There is no profile in {place!r}.")
        return folder
    run = call.workspace.run(call.query.get("train_id"))
    found = dict(_folders(call.workspace.path(run.name)))
    name = call.query.get("profile") or next(iter(found), "")
    if name not in found:
        raise errors.ApiError(errors.PROFILER, 1, f"There is no profile {name!r} in this run.")
    return found[name]


def table(path: Path) -> list[dict[str, Any]]:
    """A CSV table with numbers as numbers; empty if there is none."""
    try:
        if path.stat().st_size > _LARGEST:
            return []
        with open(path, newline="", encoding="utf-8", errors="replace") as file:
            return [{key: _number(value) for key, value in row.items() if key} for _, row in zip(range(_MOST_ROWS), csv.DictReader(file))]
    except (OSError, csv.Error):
        return []


def _number(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def mean_step(steps: list[dict[str, Any]]) -> dict[str, float]:
    """The mean of all steps but the first; empty if there are none."""
    keys = ("total_ms", *_NAMES)
    # the first step compiles; it says nothing about the others
    used = steps[1:] if len(steps) > 2 else steps
    return {key: sum(row.get(key, 0.0) for row in used) / len(used) for key in keys} if used else {}


def parts_of_step(steps: list[dict[str, Any]], number: int) -> list[float]:
    """Milliseconds of waiting for data, computing, the rest, and all of it, of one step (from 1 on) or of the mean step (0)."""
    row = mean_step(steps) if not 0 < number <= len(steps) else steps[number - 1]
    return [round(float(row.get(key, 0.0)), 4) for key in ("data_wait_ms", "compute_ms", "other_ms", "total_ms")]


def sentence(mean: dict[str, float]) -> tuple[str, list[str]]:
    """Where a step's time goes, and what to do about it."""
    if not mean or not mean["total_ms"]:
        return "No steps were recorded.", ["Call profiler.step() at the end of each step, or profile model.train."]
    shares = {key: mean[key] / mean["total_ms"] for key in _NAMES}
    parts = ", ".join(f"{share:.0%} {_NAMES[key]}" for key, share in sorted(shares.items(), key=lambda item: -item[1]))
    first = max(shares, key=lambda key: shares[key])
    return f"A step takes {mean['total_ms']:.2f} ms: {parts}.", [_ADVICE[first]]


@route("GET", "/board/profiles")
def profiles(call: Call) -> Any:
    """The profiles of a run, one for each rank."""
    run = call.workspace.run(call.query.get("train_id"))
    return {"profiles": [name for name, _ in _folders(call.workspace.path(run.name))]}


def all_profiles(call: Call) -> list[tuple[str, Path]]:
    """Names and folders of a run's profiles, one for each rank."""
    return list(_folders(call.workspace.path(call.workspace.run(call.query.get("train_id")).name)))


@route("GET", "/board/profile")
def profile(call: Call) -> Any:
    """A profile."""
    folder = profile_folder(call)
    steps, operators = table(folder / "step_trace_time.csv"), table(folder / "op_statistic.csv")
    memory = [[row.get("time_us"), row.get("where"), row.get("bytes")] for row in table(folder / "memory_record.csv")]
    mean = mean_step(steps)
    words, advice = sentence(mean)
    kinds = {row.get("kind") for row in operators}
    shown = "kernel" if "kernel" in kinds else "operator"
    busy = sum(row["total_us"] for row in operators if row.get("kind") == shown)
    top = next((row for row in operators if row.get("kind") == shown), None)
    if top and busy:
        advice.append(f"The longest {shown} is {top['name']}: {top['total_us'] / busy:.0%} of the time in {shown}s.")
    sizes = [row[2] for row in memory if isinstance(row[2], float)]
    preparation = _preparation(folder, steps, mean)
    advice += preparation["advice"]
    counted, rate = counted_flops(folder, steps)
    return {"steps": steps, "operators": operators, "memory": memory, "mean": mean, "sentence": words, "advice": advice,
            "busy_us": busy, "peak": max(sizes, default=0), "flops": counted, "flops_per_second": rate,
            "preparation": preparation}  # fmt: skip


def _preparation(folder: Path, steps: list[dict[str, Any]], mean: dict[str, float]) -> dict[str, Any]:
    """The parts of the data pipeline, how much was ready when the training asked, and which part holds the others up."""
    parts = [row for row in table(folder / "dataset.csv") if isinstance(row.get("total_us"), float) and row.get("tasks")]
    queue = [[row.get("time_us"), row.get("ready")] for row in table(folder / "data_queue.csv")]
    for row in parts:
        row["task_us"] = row["total_us"] / row["tasks"] / max(1.0, row["workers"])  # with all workers at it
    if not parts:
        return {"parts": [], "queue": queue, "advice": []}
    slowest = max(parts, key=lambda row: float(row["task_us"]))
    words = f"the slowest part of the data pipeline, {slowest['step']} ({slowest['workers']:.0f} at work), gives a batch every " \
            f"{slowest['task_us'] / 1e3:.2f} ms"  # fmt: skip
    empty = sum(1 for _, ready in queue if ready == 0) / len(queue) if queue else 0.0
    if not mean:
        return {"parts": parts, "queue": queue, "advice": []}
    others = mean["total_ms"] - mean["data_wait_ms"]  # what a step would take if its data were there
    if mean["data_wait_ms"] <= _WAITED * mean["total_ms"]:
        advice = f"The data pipeline keeps up: {words}, and a step takes {mean['total_ms']:.2f} ms."
    elif slowest["task_us"] / 1e3 > 0.7 * others:
        advice = f"Training waits for data: {words}; nothing was ready in {empty:.0%} of the requests. Give it more workers, cache its " \
                 "result, or do its work before training."  # fmt: skip
    else:
        advice = f"Training waits for data now and then, nothing was ready in {empty:.0%} of the requests, though {words}: epochs begin " \
                 "slowly, or the processors have other work. Fewer, longer epochs (repeat) and a larger prefetch size help."  # fmt: skip
    return {"parts": parts, "queue": queue, "advice": [advice]}


def counted_flops(folder: Path, steps: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], float]:
    """Floating-point operations of one call of each graph by place, and how many were done in a second of the steps."""
    rows = [row for row in table(folder / "flops.csv") if isinstance(row.get("flops"), float) and isinstance(row.get("calls"), float)]
    seconds = sum(row.get("total_ms", 0.0) for row in steps) / 1e3
    return rows, sum(row["flops"] * row["calls"] for row in rows) / seconds if seconds else 0.0


@route("GET", "/board/cluster")
def cluster(call: Call) -> Any:
    """All profiles of a run side by side, one for each rank; which of them the others wait for."""
    run = call.workspace.run(call.query.get("train_id"))
    ranks = []
    for name, folder in _folders(call.workspace.path(run.name)):
        steps = table(folder / "step_trace_time.csv")
        peak = max((row["bytes"] for row in table(folder / "memory_record.csv") if isinstance(row.get("bytes"), float)), default=0)
        rate = counted_flops(folder, steps)[1]
        ranks.append({"name": name, "steps": len(steps), "mean": mean_step(steps), "peak": peak, "flops_per_second": rate})
    return {"ranks": ranks, "advice": _unequal([rank for rank in ranks if rank["mean"]])}


def _unequal(ranks: list[dict[str, Any]]) -> list[str]:
    """What is to be said of ranks that should be alike."""
    if len(ranks) < 2:
        return []
    found = []
    for key, words, remedy in _UNEQUAL:
        values = [rank["mean"][key] for rank in ranks]
        slowest = max(range(len(ranks)), key=values.__getitem__)
        others = (sum(values) - values[slowest]) / (len(values) - 1)
        if values[slowest] - others > _STRAGGLER * max(rank["mean"]["total_ms"] for rank in ranks):
            found.append(f"{ranks[slowest]['name']} {words}: {values[slowest]:.2f} ms a step, the others {others:.2f} ms. {remedy}")
    return found or ["The ranks are alike: none of them holds the others up."]


@route("GET", "/board/trace")
def trace(call: Call) -> Any:
    """The trace for Perfetto."""
    path = profile_folder(call) / "trace_view.json"
    if not path.is_file():
        raise errors.ApiError(errors.PROFILER, 2, "This profile has no trace.")
    return FileResponse(path, media_type="application/json", filename="trace_view.json")


# ---------------------------------------------------------------------------------------------------------------------
# Official routes on operators; those on steps and data are in `profile_steps.py`, on ranks and memory in `profile_ranks.py`


@route("GET", "/profile/summary/propose")
def propose(call: Call) -> Any:
    """Advice."""
    words, advice = sentence(mean_step(table(profile_folder(call) / "step_trace_time.csv")))
    return {"step_trace": [words, *advice]}


@route("POST", "/profile/ops/search")
def operators(call: Call) -> Any:
    """Operators, filtered, sorted, paged."""
    body = call.body()
    rows = table(profile_folder(call) / "op_statistic.csv")
    for key, wanted in (body.get("filter_condition") or {}).items():
        if isinstance(wanted, dict) and isinstance(wanted.get("partial_match_str_in"), list):
            texts = [str(text).lower() for text in wanted["partial_match_str_in"]]
            rows = [row for row in rows if any(text in str(row.get("name", "")).lower() for text in texts)]
        elif isinstance(wanted, dict) and isinstance(wanted.get("in"), list):
            rows = [row for row in rows if row.get(key, row.get("kind")) in wanted["in"]]
    order = body.get("sort_condition") or {}
    if isinstance(order, dict) and order.get("name"):
        name = order["name"]
        rows.sort(key=lambda row: (isinstance(row.get(name), str), row.get(name, 0)), reverse=order.get("type") == "descending")
    page = body.get("group_condition") or {}
    offset, limit = page.get("offset", 0), page.get("limit", 10)
    check_page(offset, limit, 100_000)
    names = ["name", "kind", "count", "total_us", "mean_us", "max_us"]
    shown = rows[offset * limit : (offset + 1) * limit]
    return {"col_name": names, "object": [[row.get(name) for name in names] for row in shown], "size": len(rows)}


@route("GET", "/profile/timeline")
def timeline(call: Call) -> Any:
    """The trace's events."""
    return trace(call)


@route("GET", "/profile/flops-scope")
def flops_scope(call: Call) -> Any:
    """Operations by the places in the network."""
    folder = profile_folder(call)
    nodes: dict[str, float] = {}
    links: dict[tuple[str, str], float] = {}
    for row in table(folder / "flops.csv"):
        if not isinstance(row.get("flops"), float):
            continue
        parts = [str(row.get("graph")), *str(row.get("place")).split("/")]
        for depth in range(len(parts)):
            here = "/".join(parts[: depth + 1])
            nodes[here] = nodes.get(here, 0.0) + row["flops"]
            if depth:
                key = ("/".join(parts[:depth]), here)
                links[key] = links.get(key, 0.0) + row["flops"]
    return {"nodes": [{"name": name} for name in nodes],
            "links": [{"source": a, "target": b, "value": value / 1e9} for (a, b), value in links.items()]}  # fmt: skip
