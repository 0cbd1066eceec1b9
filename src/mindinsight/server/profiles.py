"""Profiles: tables that the profiler wrote below a run's folder, and what they say in a sentence."""

from __future__ import annotations

import csv
import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse

from mindinsight.server import errors, official
from mindinsight.server.calls import Call, Handler, check_page
from mindinsight.server.calls import route as plain_route

_OUTPUT = "PROFILER_OUTPUT"
_LARGEST = 64 << 20
_MOST_ROWS = 20_000
_DEEPEST_SCOPE = 1000
_ADVICE = {
    "compute_ms": "Much of a step is computing: look at the longest kernels below; smaller types (amp) and fused operators help most.",
    "data_wait_ms": "Much of a step is waiting for data: raise num_parallel_workers, prefetch, cache, or move decoding before training.",
    "other_ms": "Much of a step is Python and the start of graphs: compile the whole step (ms.jit), or use data sinking.",
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


def route(method: str, path: str) -> Callable[[Handler], Handler]:
    """A route that reads files which anybody may have written: what is not as it should be is said, and is no fault of the server."""

    def add(handler: Handler) -> Handler:
        @functools.wraps(handler)
        def guarded(call: Call) -> Any:
            try:
                return handler(call)
            except (KeyError, TypeError, AttributeError, ValueError, IndexError, ArithmeticError) as error:
                message = f"Raw file error. A file of the profile is damaged: {type(error).__name__}."
                raise errors.ApiError(errors.PROFILER, 1 | 2 << 7, message) from None

        return plain_route(method, path)(guarded)

    return add


def device_of(call: Call, given: Any = None) -> str:
    """The number of a device."""
    value = str(call.query.get("device_id", "0") if given is None else given)
    if not value.isdigit():
        raise errors.wrong_type("device_id", "Integer")
    return value


def _folders(run: Path) -> Iterator[tuple[str, Path]]:
    """Folders with a profile, at most four levels down."""
    for place, names, _ in os.walk(run):
        depth = len(Path(place).relative_to(run).parts)
        for output in (_OUTPUT, official.exported.FOLDER):
            if output in names:
                yield str(Path(place).relative_to(run)), Path(place) / output
        inner = sorted(n for n in names if n not in (_OUTPUT, official.exported.FOLDER) and not n.startswith("."))
        names[:] = inner if depth < 4 else []


def has_profile(run: Path) -> bool:
    """Whether a folder seems to hold a profile: a look at its entries, no more."""
    try:
        with os.scandir(run) as entries:
            return any(entry.name == _OUTPUT or entry.name.startswith("profiler") or entry.name.endswith("_ascend_ms") for entry in entries)
    except OSError:
        return False


def profile_folder(call: Call) -> Path:
    """Our profile that a request means: by run and name, or by `dir`, the path below the folder of runs."""
    place = call.query.get("dir")
    if place:
        folder = call.workspace.path(place) / _OUTPUT
        return folder if folder.is_dir() else official.files.needed(call)
    run = call.query.get("train_id")
    found = dict(_folders(call.workspace.path(run))) if run else {}
    name = call.query.get("profile") or next(iter(found), "")
    return found[name] if name in found else official.files.needed(call)


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


def sentence(mean: dict[str, float], names: dict[str, str] = _NAMES, advice: dict[str, str] = _ADVICE) -> tuple[str, list[str]]:
    """Where a step's time goes, and what to do about it."""
    if not mean or not mean["total_ms"]:
        return "No steps were recorded.", ["Call profiler.step() at the end of each step, or profile model.train."]
    shares = {key: mean[key] / mean["total_ms"] for key in names}
    parts = ", ".join(f"{share:.0%} {names[key]}" for key, share in sorted(shares.items(), key=lambda item: -item[1]))
    first = max(shares, key=lambda key: shares[key])
    return f"A step takes {mean['total_ms']:.2f} ms: {parts}.", [advice[first]]


@route("GET", "/board/profiles")
def profiles(call: Call) -> Any:
    """The profiles of a run, one for each rank: ours, and those of official MindSpore."""
    run = call.workspace.path(call.workspace.run(call.query.get("train_id")).name)
    return {"profiles": [*(name for name, _ in _folders(run)), *official.page.names(run)]}


def all_profiles(call: Call) -> list[tuple[str, Path]]:
    """Names and folders of a run's profiles, one for each rank."""
    place = call.query.get("train_id") or call.query.get("dir")
    found = list(_folders(call.workspace.path(place))) if place else []
    if not found:
        official.files.needed(call)  # says what is not there
    return found


def _official(call: Call) -> tuple[Path, str] | None:
    """Folder and device of the official profile that a request means."""
    run = call.workspace.run(call.query.get("train_id"))
    return official.page.find(call.workspace.path(run.name), call.query.get("profile") or "")


@route("GET", "/board/profile")
def profile(call: Call) -> Any:
    """A profile."""
    place = _official(call)
    if place:
        found = official.page.profile(*place)
        mean = mean_step(found["steps"])
        words, advice = sentence(mean, official.page.PARTS, official.page.ADVICE)
        preparation: list[str] = []
    else:
        folder = profile_folder(call)
        is_exported = folder.name == official.exported.FOLDER
        found = official.exported.profile(folder) if is_exported else _ours(folder)
        mean = mean_step(found["steps"])
        words, advice = sentence(mean, official.exported.PARTS, official.exported.ADVICE) if is_exported else sentence(mean)
        preparation = found["preparation"]["advice"]
        place = (folder, "") if is_exported else None
    kinds = [row["kind"] for row in found["operators"]]
    shown = "kernel" if "kernel" in kinds else kinds[0] if place and kinds else "operator"
    top = max((row for row in found["operators"] if row["kind"] == shown), key=lambda row: float(row["total_us"]), default=None)
    if top and found["busy_us"]:
        called, all_of_them = ("type of operators", "operators") if place else (shown, f"{shown}s")
        advice.append(f"The longest {called} is {top['name']}: {top['total_us'] / found['busy_us']:.0%} of the time in {all_of_them}.")
    return {**found, "mean": mean, "sentence": words, "advice": advice + preparation}


def _ours(folder: Path) -> dict[str, Any]:
    """What the page shows of one of our profiles, less its sentences."""
    steps, operators = table(folder / "step_trace_time.csv"), table(folder / "op_statistic.csv")
    memory = [[row.get("time_us"), row.get("where"), row.get("bytes")] for row in table(folder / "memory_record.csv")]
    shown = "kernel" if "kernel" in {row.get("kind") for row in operators} else "operator"
    sizes = [row[2] for row in memory if isinstance(row[2], float)]
    counted, rate = counted_flops(folder, steps)
    return {"steps": steps, "operators": operators, "memory": memory, "over": "time", "parts": _NAMES,
            "busy_us": sum(row["total_us"] for row in operators if row.get("kind") == shown), "peak": max(sizes, default=0),
            "flops": counted, "flops_per_second": rate, "preparation": _preparation(folder, steps, mean_step(steps))}  # fmt: skip


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
    run = call.workspace.path(call.workspace.run(call.query.get("train_id")).name)
    ranks = []
    for name in official.page.names(run):
        folder, device = official.page.find(run, name) or (run, "")
        steps = official.page.rows_of_steps(folder, device)
        ranks.append({"steps": len(steps), "mean": mean_step(steps), **official.page.rank(folder, device)})
    for name, folder in _folders(run):
        if folder.name == official.exported.FOLDER:
            found = official.exported.profile(folder)
            ranks.append({"name": name, "steps": len(found["steps"]), "mean": mean_step(found["steps"]), "peak": found["peak"],
                          "flops_per_second": 0.0})  # fmt: skip
            continue
        steps = table(folder / "step_trace_time.csv")
        peak = max((row["bytes"] for row in table(folder / "memory_record.csv") if isinstance(row.get("bytes"), float)), default=0)
        rate = counted_flops(folder, steps)[1]
        ranks.append({"name": name, "steps": len(steps), "mean": mean_step(steps), "peak": peak, "flops_per_second": rate})
    exported = any(folder.name == official.exported.FOLDER for _, folder in _folders(run))
    parts = official.page.PARTS if official.page.names(run) else official.exported.PARTS if exported else _NAMES
    return {"ranks": ranks, "advice": _unequal([rank for rank in ranks if rank["mean"]]), "parts": parts}


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
    place = _official(call) if call.query.get("train_id") else None
    if place:
        kind = official.about.kind_of(place[0]) or "ascend"
        return official.steps.timeline(*place, kind, _DEEPEST_SCOPE) if kind != "cpu" else []
    path = profile_folder(call) / "trace_view.json"
    if not path.is_file():
        raise errors.ApiError(errors.PROFILER, 2, "This profile has no trace.")
    return FileResponse(path, media_type="application/json", filename="trace_view.json")


# ---------------------------------------------------------------------------------------------------------------------
# Official routes on operators; those on steps and data are in `profile_steps.py`, on ranks and memory in `profile_ranks.py`


@route("GET", "/profile/summary/propose")
def propose(call: Call) -> Any:
    """Advice."""
    if official.files.is_named(call):
        return official.advice.of_device(official.files.needed(call), device_of(call))
    words, advice = sentence(mean_step(table(profile_folder(call) / "step_trace_time.csv")))
    return {"step_trace": [words, *advice]}


@route("POST", "/profile/ops/search")
def operators(call: Call) -> Any:
    """Operators, filtered, sorted, paged."""
    if official.files.is_named(call):
        body = call.json()
        device_of(call, body.get("device_id") if isinstance(body, dict) and isinstance(body.get("device_id"), str) else "0")
        return official.operators.search(official.files.needed(call), body)
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
    if official.files.is_there(call):
        scopes = call.integer("scope_name_num", 0)
        return official.steps.timeline(official.files.needed(call), device_of(call), call.query.get("device_type", "ascend"), scopes)
    return trace(call)


@route("GET", "/profile/flops-scope")
def flops_scope(call: Call) -> Any:
    """Operations by the places in the network."""
    if official.files.is_there(call):
        return official.memory.flops_of_scopes(official.files.needed(call), device_of(call))
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
