"""What a profile says: a trace for Perfetto, tables, and a text that tells where the time went."""

from __future__ import annotations

import bisect
import csv
import json
import operator
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from mindspore._base.files import atomic_write
from mindspore.compiler.flops import flops_by_scope
from mindspore.ir import FuncGraph
from mindspore.profiler.recorder import Span

_LANES = {"step": 0, "graph": 1, "operator": 2, "data": 3, "user": 4}
_THREADS = {"kernel": "kernels", "pipeline": "data preparation"}  # kinds with a lane for each thread
_THREAD_LANES = 10  # from here
_TABLES = {"kernel": "kernels", "operator": "operators", "graph": "graphs", "data": "data", "pipeline": "data preparation",
           "user": "ranges"}  # fmt: skip
_start = operator.attrgetter("start")


class Total(NamedTuple):
    """The spans of one name together."""

    name: str
    kind: str
    calls: int
    total: int
    longest: int


def totals(spans: Iterable[Span]) -> list[Total]:
    """Time per name, the most first."""
    found: dict[tuple[str, str], Total] = {}
    for s in spans:
        key = (s.name, s.kind)
        old = found.get(key, Total(s.name, s.kind, 0, 0, 0))
        took = s.end - s.start
        found[key] = Total(s.name, s.kind, old.calls + 1, old.total + took, max(old.longest, took))
    return sorted(found.values(), key=lambda t: -t.total)


def trace(spans: Iterable[Span], metadata: dict[str, Any], samples: Any = ()) -> dict[str, Any]:
    """Chrome's trace format, which Perfetto and chrome://tracing show."""
    lanes: dict[Any, int] = dict(_LANES)
    events: list[dict[str, Any]] = []
    for s in spans:
        many = s.kind in _THREADS
        lane = lanes.setdefault((s.kind, s.thread), _THREAD_LANES + len(lanes)) if many else lanes.get(s.kind, 5)
        event = {
            "name": s.name, "cat": s.kind, "ph": "X", "pid": 0, "tid": lane, "ts": s.start / 1000,
            "dur": (s.end - s.start) / 1000,
        }  # fmt: skip
        if s.detail:
            event["args"] = {"rows": s.detail.rows} if s.kind == "pipeline" else {"place" if s.kind == "kernel" else "shapes": s.detail}
        events.append(event)
    events += [{"name": "memory", "ph": "C", "pid": 0, "ts": at / 1000, "args": sample} for at, sample in samples]
    names = [
        {
            "name": "thread_name",
            "ph": "M",
            "pid": 0,
            "tid": lane,
            "args": {"name": k if isinstance(k, str) else _THREADS[k[0]]},
        }
        for k, lane in lanes.items()
    ]
    return {"traceEvents": names + events, "displayTimeUnit": "ms", "otherData": metadata}


def steps(spans: list[Span]) -> list[dict[str, float]]:
    """Per step, in milliseconds: its length, computing, waiting for data, and the rest."""
    computing, waiting = (
        sorted((s for s in spans if s.kind in kinds), key=_start) for kinds in (_computing(spans), ("data",))
    )
    rows = []
    for number, step in enumerate((s for s in spans if s.kind == "step"), start=1):
        compute, data = (_covered(_within(found, step)) for found in (computing, waiting))
        length = step.end - step.start
        rows.append({
            "step": number, "total_ms": length / 1e6, "compute_ms": compute / 1e6, "data_wait_ms": data / 1e6,
            "other_ms": max(length - compute - data, 0) / 1e6,
        })  # fmt: skip
    return rows


def _computing(spans: list[Span]) -> tuple[str, ...]:
    """The kinds of spans that are computation: the call of a graph is none where its kernels are known."""
    return ("operator", "kernel") if any(s.kind == "kernel" for s in spans) else ("operator", "graph")


def _within(spans: list[Span], step: Span) -> list[Span]:
    """Those of sorted spans that begin in a step, cut off at its end."""
    first, last = (bisect.bisect_left(spans, at, key=_start) for at in (step.start, step.end))
    return [s if s.end <= step.end else s._replace(end=step.end) for s in spans[first:last]]


def _covered(spans: list[Span]) -> int:
    """The length of the union of spans: nested ones count once."""
    total, reached = 0, 0
    for s in sorted(spans, key=lambda s: s.start):
        start = max(s.start, reached)
        if s.end > start:
            total += s.end - start
            reached = s.end
    return total


def summary(spans: list[Span], memory: int) -> str:
    """A text for people: where the time went."""
    if not spans:
        return "Nothing was recorded.\n"
    wall = max(s.end for s in spans) - min(s.start for s in spans)
    kinds = _computing(spans)
    computing = _covered([s for s in spans if s.kind in kinds])
    waiting = _covered([s for s in spans if s.kind == "data"])
    lines = [
        f"recorded {wall / 1e6:.1f} ms: computing {computing / wall:.0%}, waiting for data {waiting / wall:.0%}, "
        f"Python and the rest {max(wall - computing - waiting, 0) / wall:.0%}",
        f"peak memory of the process: {memory / 1e6:.0f} MB",
    ]
    rows = steps(spans)
    if rows:
        mean = {k: sum(r[k] for r in rows) / len(rows) for k in rows[0] if k != "step"}
        lines.append(
            f"{len(rows)} steps, on average {mean['total_ms']:.2f} ms: compute {mean['compute_ms']:.2f}, "
            f"data {mean['data_wait_ms']:.2f}, other {mean['other_ms']:.2f}"
        )
        lines.append(_advice(mean))
    for kind, title in _TABLES.items():
        lines += _table(title, [s for s in spans if s.kind == kind], wall)
    lines += _table("places in the network", [s._replace(name=_place(s.detail)) for s in spans if _is_placed(s)], wall)
    return "\n".join(lines) + "\n"


def _advice(mean: dict[str, float]) -> str:
    """The largest part of a step, and what can be done about it."""
    part = max(("compute_ms", "data_wait_ms", "other_ms"), key=mean.__getitem__)
    return {
        "compute_ms": "most of a step is computing: see the longest kernels and operators below",
        "data_wait_ms": "most of a step is waiting for data: give the dataset more num_parallel_workers, or prefetch",
        "other_ms": "most of a step is Python and the start of graphs: compile the step (ms.jit), or use data sinking",
    }[part]


def _is_placed(span: Span) -> bool:
    return span.kind == "kernel" and isinstance(span.detail, str) and "/" in span.detail


def _place(scope: str) -> str:
    """The cell of a kernel; what belongs to the gradients of its operations is one place."""
    if not scope.startswith("Gradients/"):
        return scope.removeprefix("Default/")
    cell = scope.removeprefix("Gradients/").removeprefix("Default/").partition("/Grad_")[0]
    return f"{cell} (backward)"


def _table(title: str, spans: list[Span], wall: int, longest: int = 20) -> list[str]:
    found = totals(spans)
    if not found:
        return []
    lines = ["", f"{title:56} {'calls':>7} {'total ms':>10} {'mean µs':>10} {'share':>6}"]
    for t in found[:longest]:
        figures = f"{t.calls:7} {t.total / 1e6:10.3f} {t.total / t.calls / 1e3:10.1f} {t.total / wall:6.1%}"
        lines.append(f"{_short(t.name):56} {figures}")
    return lines


def _short(name: str, width: int = 56) -> str:
    return name if len(name) <= width else "…" + name[1 - width :]


class Profile(NamedTuple):
    """Everything that was recorded."""

    spans: list[Span]
    samples: list[tuple[int, dict[str, int]]]
    metadata: dict[str, Any]
    peak_memory: int
    graphs: dict[str, FuncGraph]
    ready: list[tuple[int, int]]  #: when data was asked for, and how much of it was ready


def _flops(profile: Profile) -> Iterator[tuple[str, str, int, float]]:
    """Floating-point operations of one call of each graph, by place in the network."""
    calls = {t.name: t.calls for t in totals(s for s in profile.spans if s.kind == "graph")}
    for name, graph in profile.graphs.items():
        places: dict[str, float] = {}
        for scope, count in flops_by_scope(graph).items():
            places[_place(scope)] = places.get(_place(scope), 0.0) + count
        for place, count in sorted(places.items(), key=lambda item: -item[1]):
            yield name, place, calls.get(name, 0), count


def _preparation(spans: list[Span]) -> list[tuple]:
    """The steps of the data pipeline: where each runs, how many do it, how often, on how many rows, and how long."""
    laps: dict[str, list[Any]] = {}
    for s in spans:
        if s.kind == "pipeline":
            laps.setdefault(s.name, []).append(s.detail)
    rows = []
    for name, found in laps.items():
        took = [lap.end - lap.start for lap in found]
        threads = len({lap.thread for lap in found})
        rows.append((name, found[0].step.workers, threads, len(found), sum(lap.rows for lap in found), sum(took) / 1e3, max(took) / 1e3))
    return rows


def write(folder: str, profile: Profile, pretty: bool = False) -> None:
    """Write the trace, the tables and the summary."""
    os.makedirs(folder, exist_ok=True)
    spans = profile.spans
    with atomic_write(os.path.join(folder, "trace_view.json"), "w") as stream:
        json.dump(trace(spans, profile.metadata, profile.samples), stream, indent=2 if pretty else None)
    header = ("name", "kind", "count", "total_us", "mean_us", "max_us")
    rows = [(t.name, t.kind, t.calls, t.total / 1e3, t.total / t.calls / 1e3, t.longest / 1e3) for t in totals(spans)]
    _write_table(os.path.join(folder, "op_statistic.csv"), header, rows)
    kernels = [(s.name, s.detail, s.start / 1e3, (s.end - s.start) / 1e3) for s in spans if s.kind == "kernel"]
    _write_table(os.path.join(folder, "kernel_details.csv"), ("name", "place", "start_us", "duration_us"), kernels)
    columns = ("step", "total_ms", "compute_ms", "data_wait_ms", "other_ms")
    table = [tuple(r[c] for c in columns) for r in steps(spans)]
    _write_table(os.path.join(folder, "step_trace_time.csv"), columns, table)
    used = [(at / 1e3, what, size) for at, sample in profile.samples for what, size in sample.items()]
    _write_table(os.path.join(folder, "memory_record.csv"), ("time_us", "where", "bytes"), used)
    _write_table(os.path.join(folder, "flops.csv"), ("graph", "place", "calls", "flops"), list(_flops(profile)))
    measured = ("step", "workers", "threads", "tasks", "rows", "total_us", "max_us")
    _write_table(os.path.join(folder, "dataset.csv"), measured, _preparation(spans))
    _write_table(os.path.join(folder, "data_queue.csv"), ("time_us", "ready"), [(at / 1e3, ready) for at, ready in profile.ready])
    with atomic_write(os.path.join(folder, "summary.txt"), "w") as stream:
        stream.write(summary(spans, profile.peak_memory))


def _write_table(path: str, header: tuple, rows: list[tuple]) -> None:
    with atomic_write(path, "w") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)
