"""What a profile says of itself: devices, version, shapes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mindinsight.server.official.files import devices, json_file


def about_devices(folder: Path) -> dict[str, Any]:
    """The devices and the mode they ran in."""
    found = devices(folder)
    return {
        "device_list": found,
        "profiler_mode": json_file(folder, f"profiler_info_{found[0]}.json").get("context_mode", ""),
    }


_WRITTEN = {
    "ascend": ("ascend_timeline_display", "output_op_compute_time"),
    "gpu": ("gpu_op_detail_info", "gpu_activity_data", "gpu_op_type_info"),
    "cpu": ("cpu_op_detail_info", "cpu_op_type_info"),
}


def kind_of(folder: Path) -> str:
    """What was profiled, by the names of files."""
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        return ""
    return next((kind for kind, starts in _WRITTEN.items() if any(name.startswith(starts) for name in names)), "")


def version(folder: Path, mine: str) -> dict[str, Any]:
    """Which MindSpore wrote a profile, and whether it is one that is known."""
    theirs = json_file(folder, f"profiler_info_{devices(folder)[0]}.json").get("ms_version", "")
    return {"state": _is_known(theirs, mine), "ms": theirs, "mi": mine} if theirs else {}


def _is_known(theirs: str, mine: str) -> bool:
    numbers = [[int(n) for n in re.findall(r"\d+", text)[:2]] for text in (theirs, mine)]
    return numbers[0] <= numbers[1]


def shapes(folder: Path, device: str) -> Any:
    """The shapes that operators met; empty where they had one each."""
    name = f"dynamic_shape_info_{device}.json"
    return json_file(folder, name) if (folder / name).is_file() else {}
