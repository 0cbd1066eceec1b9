"""What was found earlier: a JSON file for each question beside the compile cache.

Its name is a key of everything that the answer depends on: the parameters' and the data's shapes and types, the kinds of cells, what was
asked for, the CPU and the version. A file appears whole or not at all, so several processes may tune at once.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from mindspore import context
from mindspore.backends.cpu import cache, jit, openmp
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.train.tuning.settings import Settings, Tuning
from mindspore.version import __version__


def file_of(step: Cell, batch: tuple[Tensor, ...], asked: Any) -> Path:
    kinds = [type(cell).__qualname__ for _, cell in step.cells_and_names()]
    weights = [(p.name, p.shape, str(p.dtype)) for p in step.get_parameters()]
    data = [(t.shape, str(t.dtype)) for t in batch]
    machine = (*jit.host(), openmp.threads()) if jit.available() else ("",)
    setting = [context.get_context(name) for name in ("mode", "device_target")]
    key = repr((kinds, weights, data, machine, setting, asked, [f.name for f in dataclasses.fields(Settings)], __version__))
    return cache.home() / "tuned" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


def read(file: Path) -> Tuning | None:
    """What a file holds; None for none, or one that is damaged or of another version."""
    try:
        stored = json.loads(file.read_text())
        settings = Settings(**stored["settings"])
        known = {f.name: type(f.default) for f in dataclasses.fields(Settings)}
        if any(type(getattr(settings, name)) is not kind for name, kind in known.items()):
            return None
        return Tuning(settings, float(stored["before"]), float(stored["after"]), stored=True, bytes=int(stored["bytes"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write(file: Path, found: Tuning) -> None:
    """Written aside and renamed; a disk that cannot be written only means that nothing is remembered."""
    content = {"settings": dataclasses.asdict(found.settings), "before": found.before, "after": found.after, "bytes": found.bytes}
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w") as aside:
                json.dump(content, aside)
            os.replace(name, file)
        except BaseException:
            os.unlink(name)
            raise
