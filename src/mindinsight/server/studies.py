"""What else lies in the folder of runs: studies of the tuner, dump folders of the debugger."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import orjson

from mindinsight.server.calls import Call, route

_LARGEST = 32 << 20
_STUDIES = ("*/study.json", "*/study_*/study.json", "*/*/study_*/study.json")
_STEP = re.compile(r"\d+")


@route("GET", "/board/studies")
def studies(call: Call) -> Any:
    """The tuner's studies, at most three levels down; those of inner folders have the folder before their names."""
    base, found = call.workspace.folder.base, []
    for path in sorted(p for stars in _STUDIES for p in base.glob(stars)):
        try:
            if path.stat().st_size <= _LARGEST and path.resolve().is_relative_to(base):
                study = orjson.loads(path.read_bytes())
                if isinstance(study, dict) and isinstance(study.get("trials"), list):
                    inner = path.parent.parent.relative_to(base).as_posix()
                    found.append(study if inner == "." else {**study, "name": f"{inner}/{study.get('name', '')}"})
        except (OSError, orjson.JSONDecodeError):
            continue
    return {"studies": found}


@route("GET", "/board/dumps")
def dumps(call: Call) -> Any:
    """Folders that hold `rank_*/{network}/{graph}/{step}/…`, at most three levels down."""
    base, found = call.workspace.folder.base, []
    for place, names, _ in os.walk(base):
        depth = len(Path(place).relative_to(base).parts)
        ranks = sorted(n for n in names if re.fullmatch(r"rank_\d+", n))
        if ranks:
            found.append(_dump(Path(place), ranks, str(Path(place).relative_to(base))))
            names[:] = [n for n in names if n not in ranks]
        names[:] = [n for n in names if not n.startswith(".")] if depth < 3 else []
    return {"folders": found}


def _dump(folder: Path, ranks: list[str], name: str) -> dict[str, Any]:
    networks: set[str] = set()
    steps: set[int] = set()
    tensors = size = 0
    for rank in ranks:
        for place, _, files in os.walk(folder / rank):
            parts = Path(place).relative_to(folder / rank).parts
            if len(parts) == 3 and _STEP.fullmatch(parts[2]):
                networks.add(parts[0])
                steps.add(int(parts[2]))
                arrays = [file for file in files if file.endswith(".npy")]
                tensors += len(arrays)
                size += sum(os.path.getsize(os.path.join(place, file)) for file in arrays)
    return {"name": name, "ranks": ranks, "networks": sorted(networks), "steps": sorted(steps), "tensors": tensors, "bytes": size}
