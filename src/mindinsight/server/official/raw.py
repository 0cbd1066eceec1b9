"""What Ascend's own profiler wrote, `PROF_…/mindstudio_profiler_output/{msprof,step_trace}_….json`, as one timeline of several ranks.

Events are those of Chrome's trace format. Each rank has a process for its steps, for the runtime (CANN), scopes, the device, communication
(HCCL), operators on the host and for what overlaps; the process of kind K of rank R is numbered KR. Clocks of ranks are set by
`diff_time` of `profiler_info_R.json`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from mindinsight.server.official.files import json_file, text_file

_STEPS, _RUNTIME, _SCOPES, _DEVICE, _COMMUNICATION, _HOST, _OVERLAP = range(1, 8)
_PROCESSES = {"Ascend Hardware": _DEVICE, "HCCL": _COMMUNICATION, "CANN": _RUNTIME, "Overlap Analysis": _OVERLAP}
_TOP_SCOPES = ("Default", "Gradients", "recompute_Default")
_TO_US = 1e3
_DIGITS = Decimal("0.000")
_MODEL = re.compile(r"Step Trace\(Model ID:(\d+)\)")
Event = dict[str, Any]
#: an operator: the scopes it is in, begin and end
_Scoped = tuple[list[str], Decimal, Decimal]


@dataclass
class _Rank:
    """The raw files of a rank."""

    number: int
    place: Path
    shift: Decimal

    def process(self, kind: int) -> int:
        return int(f"{kind}{self.number}")

    def newest(self, pattern: str) -> list[Path]:
        """The files that were written last, by the time in their names."""
        files = sorted(self.place.glob(pattern))
        times = [file.stem.rsplit("_", 1)[-1] for file in files]
        return [file for file, time in zip(files, times) if time == max(times)]

    def events(self, pattern: str) -> list[Event]:
        found = (event for file in self.newest(pattern) for event in json_file(file.parent, file.name))
        return [event for event in found if isinstance(event, dict)]

    def time(self, value: Any, sign: int = -1) -> str:
        return str(Decimal(value).quantize(_DIGITS) + sign * self.shift)


def _ranks(folder: Path) -> dict[int, _Rank]:
    """Ranks by their numbers; of several profiles of a rank the newest counts."""
    found: dict[int, _Rank] = {}
    for place in sorted(folder.glob("PROF_*_*")):
        infos = sorted(file for file in place.rglob("info.json.*") if not file.name.endswith(".done"))
        number = max(0, int(json_file(infos[0].parent, infos[0].name).get("rank_id", 0))) if infos else 0
        about = f"profiler_info_{number}.json"
        shift = json_file(folder, about).get("diff_time", 0) if (folder / about).is_file() else 0
        found[number] = _Rank(number, place / "mindstudio_profiler_output", Decimal(shift).quantize(_DIGITS))
    return found


def _models(ranks: Iterable[_Rank]) -> list[float]:
    """The numbers of the graphs that ran."""
    found = set()
    for rank in ranks:
        for file in rank.newest("step_trace_*.csv")[:1]:
            rows = csv.DictReader(io.StringIO(text_file(file.parent, file.name)))
            found |= {float(row["Model ID"]) for row in rows if row.get("Model ID")}
    return sorted(found)


def choices(folder: Path) -> dict[str, Any]:
    """Ranks and graphs with a timeline."""
    ranks = _ranks(folder)
    return {"rank_list": sorted(ranks), "model_list": _models(ranks.values())}


def timeline(folder: Path, numbers: list[int], models: list[int], kind: str, merged: bool, scopes: bool) -> list[Event]:
    """Steps and overlaps (`summary`), or everything (`detail`), of some ranks, or of all."""
    ranks = [rank for number, rank in _ranks(folder).items() if not numbers or number in numbers]
    if kind == "summary":
        return [event for rank in ranks for event in [*_steps(rank, [], merged), *_overlaps(rank)]]
    if kind != "detail":
        return []
    wanted = [] if sorted(models) == _models(ranks) else sorted(models)
    found: list[Event] = []
    for rank in ranks:
        events, scoped = _device(rank, wanted, scopes)
        if not wanted:
            host, more = _host(folder, rank, scopes)
            events, scoped = events + host, scoped + more
        found += [*events, *_steps(rank, wanted, merged), *_layers(rank, scoped)]
    return found


def _named(rank: _Rank, kind: int, name: str) -> list[Event]:
    """What says how a process is called and where it is shown."""
    process = rank.process(kind)
    return [
        {"name": "process_name", "pid": process, "args": {"name": f"{name} Rank{rank.number}"}, "ph": "M"},
        {"name": "process_sort_index", "pid": process, "args": {"sort_index": kind}, "ph": "M"},
    ]


# ---------------------------------------------------------------------------------------------------------------------
# Steps and overlaps


def _steps(rank: _Rank, models: list[int], merged: bool) -> list[Event]:
    """The steps of all graphs on one line, or on a line for each."""
    events = rank.events("step_trace_*.json")
    names = {event["tid"]: found[1] for event in events if event.get("name") == "thread_name" and event.get("ph") == "M"
             for found in [_MODEL.search(event["args"]["name"])] if found}  # fmt: skip
    lines = {thread: f"Model {model}" for thread, model in names.items() if not models or int(model) in models}
    processes = [event["pid"] for event in events if event.get("name") == "process_name" and event.get("ph") == "M"]
    if not processes:
        return []
    mine, process = [event for event in events if event.get("pid") == processes[-1]], rank.process(_STEPS)
    if not merged:
        return [_renamed(event, rank) for event in mine]
    line = {"name": "thread_name", "pid": process, "tid": 0, "args": {"name": "iterations"}, "ph": "M"}
    found = [*_named(rank, _STEPS, "Step Trace"), line]
    for event in mine:
        if event.get("ph") == "M" or event.get("tid") not in lines:
            continue
        words = event["name"].strip()
        is_step = event.get("ph") == "X" and words.startswith("Iteration") and len(words.split(" ")) == 2
        event = {**event, "pid": process, "tid": 0, "name": f"{lines[event['tid']]} {words}" if is_step else event["name"]}
        found.append(event | ({"ts": rank.time(event["ts"])} if event.get("ts") else {}))
    return found


def _renamed(event: Event, rank: _Rank) -> Event:
    args = dict(event.get("args") or {})
    if event.get("ph") == "M" and event.get("name") == "process_name":
        args["name"] = f"Step Trace Rank{rank.number}"
    if event.get("ph") == "M" and event.get("name") == "process_sort_index":
        args["sort_index"] = _STEPS
    times = {"ts": rank.time(event["ts"])} if event.get("ts") else {}
    return {**event, **({"args": args} if "args" in event else {}), **times, "pid": rank.process(_STEPS)}


def _overlaps(rank: _Rank) -> list[Event]:
    """How computing and communication overlap."""
    events = rank.events("msprof_*.json")
    process = next((e["pid"] for e in events if _process_name(e) == "Overlap Analysis"), None)
    found = []
    for event in events if process is not None else ():
        if event.get("pid") != process:
            continue
        args = dict(event.get("args") or {})
        if _process_name(event):
            args["name"] += f" Rank{rank.number}"
        if event.get("ph") == "M" and event.get("name") == "process_sort_index":
            args["sort_index"] = _OVERLAP
        times = {"ts": rank.time(event["ts"], 1)} if event.get("ts") else {}
        found.append({**event, **({"args": args} if "args" in event else {}), **times, "pid": rank.process(_OVERLAP)})
    return found


def _process_name(event: Event) -> str:
    is_name = event.get("name") == "process_name" and event.get("ph") == "M"
    return str(event["args"]["name"]) if is_name else ""


# ---------------------------------------------------------------------------------------------------------------------
# Everything


def _device(rank: _Rank, models: list[int], scopes: bool) -> tuple[list[Event], list[_Scoped]]:
    """Device, communication, runtime and overlaps; and the operators of the device by their scopes."""
    events = rank.events("msprof_*.json")
    if not events:
        return [], []
    processes = {event["pid"]: _PROCESSES[_process_name(event)] for event in events if _process_name(event) in _PROCESSES}
    streams = {e["tid"]: {**e, "pid": rank.process(_DEVICE)} for e in events
               if e.get("name") == "thread_name" and e.get("ph") == "M" and "Stream" in e["args"]["name"]}  # fmt: skip
    parts: dict[int, list[Event]] = {kind: [] for kind in (_DEVICE, _COMMUNICATION, _RUNTIME, _OVERLAP)}
    scoped: list[_Scoped] = []
    for event in events:
        is_about = event.get("ph") == "M" and event.get("name") in ("process_name", "process_sort_index")
        if is_about or (models and (event.get("args") or {}).get("Model Id") not in models):
            continue
        if scopes and str(event.get("name", "")).startswith(_TOP_SCOPES):
            scoped.append(_scoped(event["name"], Decimal(event["ts"]).quantize(_DIGITS), Decimal(event["dur"]).quantize(_DIGITS)))
        kind = processes.get(event.get("pid"))
        on_stream = event.get("tid") in streams and event.get("ph") != "M"
        if kind is None or (kind == _DEVICE and not on_stream) or (models and kind in (_RUNTIME, _OVERLAP)):
            continue
        times = {"ts": rank.time(event["ts"])} if event.get("ts") else {}
        parts[kind].append({**event, **times, "pid": rank.process(kind)})
    about = [event for name, kind in _PROCESSES.items() for event in _named(rank, kind, name)]
    return [*about, *streams.values(), *(event for part in parts.values() for event in part)], scoped


def _scoped(name: str, begin: Decimal, lasted: Decimal) -> _Scoped:
    return name.split("/")[:-1], begin, begin + lasted


def _host(folder: Path, rank: _Rank, scopes: bool) -> tuple[list[Event], list[_Scoped]]:
    """Operators on the host: lines of name;type;times, each begin,duration,thread."""
    name = f"cpu_op_execute_timestamp_{rank.number}.txt"
    if not (folder / name).is_file():
        return [], []
    process = rank.process(_HOST)
    threads: dict[int, Event] = {}
    events, scoped = [], []
    for line in text_file(folder, name).splitlines():
        full, kind, *_, times = line.strip().split(";")
        for time in times.split(" "):
            at, lasted, number = time.split(",")
            begin, thread = Decimal(at).quantize(_DIGITS) * Decimal("0.001"), int(number)
            if scopes and full.startswith(_TOP_SCOPES):
                scoped.append(_scoped(full, begin, Decimal(lasted).quantize(_DIGITS)))
            named = {"name": "thread_name", "pid": process, "tid": thread, "ph": "M", "args": {"name": f"thread {number}"}}
            threads.setdefault(thread, named)
            events.append({"name": full, "pid": process, "tid": thread, "ph": "X", "ts": str(begin - rank.shift),
                           "dur": float(lasted) * _TO_US, "args": {"type": kind}})  # fmt: skip
    return [*_named(rank, _HOST, "CPU OP"), *threads.values(), *events], scoped


def _layers(rank: _Rank, scoped: list[_Scoped]) -> list[Event]:
    """Scopes over time, a line for each depth: operators of one scope that follow one another become one stretch."""
    if not scoped:
        return []
    process = rank.process(_SCOPES)
    events: list[Event] = []

    def end(depth: int, name: str, begin: Decimal, last: Decimal) -> None:
        at = str(begin - rank.shift)
        events.append({"name": name, "pid": process, "tid": depth, "ph": "X", "ts": at, "dur": float(last - begin)})

    first, *others = sorted(scoped, key=lambda one: one[1])
    layers = [(name, first[1], first[2]) for name in first[0]]
    for names, begin, last in others:
        if layers and begin < layers[0][2]:
            continue
        same = True
        for depth, name in enumerate(names):
            if depth >= len(layers):
                layers.append((name, begin, last))
            elif same and layers[depth][0] == name:
                layers[depth] = (name, layers[depth][1], last)
            else:
                end(depth, *layers[depth])
                layers[depth], same = (name, begin, last), False
    for depth, layer in enumerate(layers):
        end(depth, *layer)
    about = [event for depth in range(len(layers)) for event in (
        {"name": "thread_name", "pid": process, "tid": depth, "args": {"name": f"layer{depth}"}, "ph": "M"},
        {"name": "thread_sort_index", "pid": process, "tid": depth, "args": {"sort_index": depth}, "ph": "M"})]  # fmt: skip
    return [*_named(rank, _SCOPES, "Scope Layer"), *about, *events]
