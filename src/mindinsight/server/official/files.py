"""Where profiles of official MindSpore are, and how their files are read.

Such a folder is called `profiler…`, lies in the folder of a run, and holds for each device `profiler_info_N.json` and tables beside it.
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
_INFO = re.compile(r"profiler_info_(\d+)\.json")
STEPS = "step_trace_raw_{}_detail_time.csv"
TO_MS = 1e5  # official steps count in ten nanoseconds
#: groups of official error numbers
GENERAL, PARSER, ANALYSER = 1 << 7, 2 << 7, 3 << 7


def folder_of(call: Call, place: str | None) -> Path | None:
    """The official profile of a run that a request names (`profile`), or its newest; None where it has none."""
    if not place:
        return None
    run, wanted = call.workspace.path(place), call.query.get("profile")
    if wanted:
        found = [call.workspace.path(f"{place}/{wanted}")]
    else:
        found = sorted(run.glob("profiler*")) if run.is_dir() else []
    return next((f for f in reversed(found) if f.is_dir() and devices(f)), None)


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
        raise errors.ApiError(errors.PROFILER, GENERAL, "Param value error. The file dir does not exist.")
    found = folder_of(call, place)
    if found is None and not call.workspace.path(place).is_dir():
        raise errors.no_run(place)
    if found is None:
        raise errors.ApiError(errors.PROFILER, 3 | GENERAL, f"The dir <{place}/{call.query.get('profile') or 'profiler'}> not found.")
    return found


def is_named(call: Call) -> bool:
    """Whether a request means an official profile, on routes that must name both the run and the profile in it."""
    is_ours = call.query.get("dir") and not is_there(call)
    if not is_ours and (not call.query.get("train_id") or (not call.query.get("profile") and is_there(call))):
        raise errors.wrong_value("No profiler_dir or train_id.")
    return is_there(call)


def text_file(folder: Path, name: str) -> str:
    path = folder / name
    if not path.is_file():
        raise errors.ApiError(errors.PROFILER, 4 | GENERAL, f"The file <{name}> not found.")
    try:
        if path.stat().st_size > _LARGEST:
            raise OSError
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise errors.ApiError(errors.PROFILER, 5 | GENERAL, "Read or write file fail.") from None


def json_file(folder: Path, name: str) -> Any:
    """A JSON file."""
    try:
        return json.loads(text_file(folder, name))
    except json.JSONDecodeError:
        raise errors.ApiError(errors.PROFILER, 5 | GENERAL, "Read or write file fail.") from None


def csv_rows(folder: Path, name: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(text_file(folder, name).splitlines()) if row]
    except csv.Error:
        raise errors.ApiError(errors.PROFILER, 5 | GENERAL, "Read or write file fail.") from None


def csv_table(folder: Path, name: str) -> list[dict[str, Any]]:
    """A CSV table; a column is of numbers if all of its cells are."""
    head, *rows = csv_rows(folder, name) or [[]]
    columns = [_column(list(cells)) for cells in zip(*rows)]
    return [dict(zip(head, row)) for row in zip(*columns)]


def _column(cells: list[str]) -> list[Any]:
    for kind in (int, float):
        try:
            return [kind(cell) for cell in cells]
        except ValueError:
            continue
    return list(cells)


def all_ranks(folder: Path) -> list[int]:
    found = (re.match(r"step_trace_raw_(\d+)_", entry.name) for entry in folder.iterdir())
    return sorted(int(match[1]) for match in found if match)


def whole(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise errors.wrong_type("step_id", "Integer") from None
