"""What a profile says: a trace for Perfetto, tables, and a text that tells where the time went."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from mindspore._base.files import atomic_write
from mindspore.profiler.recorder import Span

_LANES = {"step": 0, "graph": 1, "operator": 2, "data": 3, "user": 4}


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


def trace(spans: Iterable[Span], metadata: dict[str, Any]) -> dict[str, Any]:
    """Chrome's trace format, which Perfetto and chrome://tracing show."""
    events: list[dict[str, Any]] = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": lane, "args": {"name": kind}}
        for kind, lane in _LANES.items()
    ]
    for s in spans:
        event = {
            "name": s.name, "cat": s.kind, "ph": "X", "pid": 0, "tid": _LANES.get(s.kind, 5), "ts": s.start / 1000,
            "dur": (s.end - s.start) / 1000,
        }  # fmt: skip
        if s.detail:
            event["args"] = {"shapes": s.detail}
        events.append(event)
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": metadata}


def steps(spans: list[Span]) -> list[dict[str, float]]:
    """Per step, in milliseconds: its length, computing, waiting for data, and the rest."""
    rows = []
    for number, step in enumerate((s for s in spans if s.kind == "step"), start=1):
        inside = [s for s in spans if s.kind != "step" and s.start >= step.start and s.end <= step.end]
        computing = _covered([s for s in inside if s.kind in ("operator", "graph")])
        waiting = _covered([s for s in inside if s.kind == "data"])
        length = step.end - step.start
        rows.append({
            "step": number, "total_ms": length / 1e6, "compute_ms": computing / 1e6, "data_wait_ms": waiting / 1e6,
            "other_ms": max(length - computing - waiting, 0) / 1e6,
        })  # fmt: skip
    return rows


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
    """A text for people."""
    if not spans:
        return "Nothing was recorded.\n"
    wall = max(s.end for s in spans) - min(s.start for s in spans)
    computing = _covered([s for s in spans if s.kind in ("operator", "graph")])
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
    lines += ["", f"{'name':40} {'kind':9} {'calls':>7} {'total ms':>10} {'mean µs':>10} {'share':>6}"]
    for t in totals(s for s in spans if s.kind != "step")[:30]:
        lines.append(
            f"{t.name[:40]:40} {t.kind:9} {t.calls:7} {t.total / 1e6:10.3f} {t.total / t.calls / 1e3:10.1f} {t.total / wall:6.1%}"
        )
    return "\n".join(lines) + "\n"


def write(folder: str, spans: list[Span], metadata: dict[str, Any], memory: int, pretty: bool = False) -> None:
    """Write trace_view.json, op_statistic.csv, step_trace_time.csv and summary.txt."""
    os.makedirs(folder, exist_ok=True)
    with atomic_write(os.path.join(folder, "trace_view.json"), "w") as stream:
        json.dump(trace(spans, metadata), stream, indent=2 if pretty else None)
    header = ("name", "kind", "count", "total_us", "mean_us", "max_us")
    rows = [(t.name, t.kind, t.calls, t.total / 1e3, t.total / t.calls / 1e3, t.longest / 1e3) for t in totals(spans)]
    _write_table(os.path.join(folder, "op_statistic.csv"), header, rows)
    table = steps(spans)
    columns = ("step", "total_ms", "compute_ms", "data_wait_ms", "other_ms")
    _write_table(os.path.join(folder, "step_trace_time.csv"), columns, [tuple(r[c] for c in columns) for r in table])
    with atomic_write(os.path.join(folder, "summary.txt"), "w") as stream:
        stream.write(summary(spans, memory))


def _write_table(path: str, header: tuple, rows: list[tuple]) -> None:
    with atomic_write(path, "w") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)
