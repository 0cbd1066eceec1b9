"""The folder of runs: which event files there are, and reading them into the index.

A run is a folder that holds event files or a profile; its name is the path from the base folder, `./…`, as in official replies.
"""

from __future__ import annotations

import os
import re
import stat as modes
from collections.abc import Iterator
from pathlib import Path

from mindinsight.events.bulk import Batch, Decoder
from mindinsight.events.reader import read
from mindinsight.index.store import FileState, Store

_EVENTS = re.compile(r"summary\.\d+|tfevents|_lineage$|_explain$")
_PROFILE = re.compile(r"profiler_info_\d+\.json|(ASCEND_)?PROFILER_OUTPUT")
_DEEPEST = 16
_TOGETHER = 24 << 20  # bytes of event files in one transaction


class Folder:
    """The event files under `base`, read into `store`."""

    def __init__(self, base: Path, store: Store) -> None:
        self.base = base.resolve()
        self.store = store
        self._decoder = Decoder()

    def path(self, run: str, name: str) -> Path:
        """Where a file is."""
        return self.base / run / name

    def find(self) -> Iterator[tuple[str, str, os.stat_result]]:
        """Every event file: run, name, state. A profile is a file with nothing to read, called `folder/`."""
        waiting = [(str(self.base), "./", 0)]
        while waiting:
            place, run, depth = waiting.pop()
            try:
                entries = sorted(os.scandir(place), key=lambda entry: entry.name)
            except OSError:
                continue  # it vanished, or is not ours to read
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if _is_profile(entry):
                            yield run, f"{entry.name}/", _empty(entry.stat(follow_symlinks=False))
                        if depth < _DEEPEST and not entry.name.startswith("."):
                            waiting.append((entry.path, f"{run.rstrip('/')}/{entry.name}", depth + 1))
                    elif _EVENTS.search(entry.name):
                        state = entry.stat(follow_symlinks=False)
                        if modes.S_ISREG(state.st_mode):
                            yield run, entry.name, state
                except OSError:
                    continue

    def compare(self) -> list[tuple[str, str]]:
        """Bring the list of files up to date; the files that have more to read, run by run."""
        found = {(run, name): state for run, name, state in self.find()}
        known = self.store.files()
        gone = [file for key, file in known.items()
                if key not in found or found[key].st_ino != file.inode or found[key].st_size < file.position]  # fmt: skip
        if gone:
            self.store.forget(gone)
            dropped = {file.id for file in gone}
            known = {key: file for key, file in known.items() if file.id not in dropped}
        new = [(*key, state) for key, state in found.items() if key not in known]
        if new:
            self.store.add_files(new)
        return [key for key, state in found.items() if _is_read(key[1]) and (key not in known or state.st_size > known[key].size
                or known[key].position == 0)]  # fmt: skip

    def index(self, wanted: list[tuple[str, str]]) -> None:
        """Read what is new in files. Others may do the same at the same time."""
        work: list[tuple[FileState, os.stat_result, list[Batch], int, str]] = []
        pending = 0
        for run, name in wanted:
            file = self.store.file(run, name)
            if file is None:
                continue
            try:
                handle = os.open(self.path(run, name), os.O_RDONLY | os.O_NOFOLLOW)
            except OSError:
                continue
            try:
                pending += self._read(handle, file, work)
            finally:
                os.close(handle)
            if pending > _TOGETHER:
                self.store.extend(work)
                work, pending = [], 0
        if work:
            self.store.extend(work)

    def _read(self, handle: int, file: FileState, work: list[tuple[FileState, os.stat_result, list[Batch], int, str]]) -> int:
        """Read one file; long ones are stored stretch by stretch."""
        done, lineage = 0, file.name.endswith("_lineage")
        state = os.fstat(handle)  # before reading: what is written meanwhile is seen as growth the next time
        for stretch in read(handle, file.position, self._decoder, lineage):
            if done > _TOGETHER:
                self.store.extend(work)
                work.clear()
                done = 0
            work.append((file, state, [stretch.batch], stretch.end, stretch.damage))
            done += stretch.end - file.position
            file = file._replace(position=stretch.end)
        if not done and state.st_size != file.size:
            work.append((file, state, [Batch()], file.position, ""))
        return done

    def index_run(self, run: str) -> None:
        """Read a run now; the whole folder is only looked at where the run is new."""
        known = self.store.run(run)
        found = [f["name"] for f in self.store.run_files(known.id)] if known else [n for r, n in self.compare() if r == run]
        if found:
            self.index([(run, name) for name in found if _is_read(name)])


def _is_profile(entry: os.DirEntry[str]) -> bool:
    """Whether a folder holds profiles, its own or of several ranks."""
    if not entry.name.startswith("profiler") and not entry.name.endswith("_ascend_ms"):
        return False
    names = [inner.name for inner in os.scandir(entry.path)]
    outputs = (os.path.join(entry.path, name, output) for name in names for output in ("PROFILER_OUTPUT", "ASCEND_PROFILER_OUTPUT"))
    return any(_PROFILE.fullmatch(name) for name in names) or any(os.path.isdir(output) for output in outputs)


def _empty(state: os.stat_result) -> os.stat_result:
    """The state of a folder as that of a file without content."""
    return os.stat_result((*state[:6], 0, *state[7:]))


def _is_read(name: str) -> bool:
    return not name.endswith("/")
