"""Marey's graph: the operators of a step on all devices side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mindinsight.server.official.files import devices, json_file

_MOST_DEVICES_SHOWN = 8


def timeline(folder: Path, step: str, wanted: str | None) -> dict[str, Any]:
    """When each operator ran on each device, and over the devices that communicate with one another (a stage)."""
    numbers = wanted.split(",") if wanted else sorted(devices(folder), key=int)[:_MOST_DEVICES_SHOWN]
    events: dict[str, list[dict[str, Any]]] = {}
    for number in numbers:
        name = f"ascend_timeline_display_{number}.json"
        if number.isdigit() and (folder / name).is_file():
            events[f"device{number}"] = [
                e for e in json_file(folder, name) if isinstance(e, dict) and "ts" in e and "dur" in e
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
