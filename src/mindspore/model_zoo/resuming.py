"""Going on with an interrupted run: what the run was stands beside its state, so that no other one takes it for its own."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from mindspore._base.files import atomic_write

_NOTE = "run.json"


@contextlib.contextmanager
def noted(folder: Path, what: Mapping[str, str]) -> Iterator[bool]:
    """While a run trains, its folder says what it is; gives whether the folder holds the state of one that was interrupted."""
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / _NOTE
    interrupted = any(path.name != _NOTE and not path.name.startswith(".") for path in folder.iterdir())
    if interrupted:
        _check_same(note, what)
    with atomic_write(str(note)) as file:
        file.write(json.dumps(dict(what), indent=1, ensure_ascii=False).encode())
    yield interrupted
    note.unlink(missing_ok=True)


def _check_same(note: Path, what: Mapping[str, str]) -> None:
    try:
        before = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return  # a state without a note is of an earlier version, or somebody's own
    other = [name for name in what if isinstance(before, dict) and before.get(name) != what[name]]
    if other:
        changes = "; ".join(f"{name}: {before.get(name)} there, {what[name]} here" for name in other)
        raise ValueError(
            f"'{note.parent}' holds an interrupted run of another kind ({changes}). Give the options of that run to go on with it, "
            "another --out, or remove the folder to begin anew."
        )
