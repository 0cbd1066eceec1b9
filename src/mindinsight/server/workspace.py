"""What all routes share: the folder of runs, its index, and ways to look things up in them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from mindinsight.events.wire import Malformed
from mindinsight.index.folder import Folder
from mindinsight.index.store import Run, Store, Thing
from mindinsight.server import errors

_BACKLOG = 32 << 20
#: bytes that must be free where the index is, for anything more to be written there
_ROOM = 256 << 10
_FIRST = 3  # runs that a page which would be empty has read before their turn
LONGEST_VALUE = 512 << 20


@dataclass
class Settings:
    """How the server was started."""

    summary_base_dir: Path
    workspace: Path
    host: str = "127.0.0.1"
    port: int = 8080
    url_path_prefix: str = ""
    reload_interval: float = 3.0
    enable_debugger: bool = False
    debugger_port: int = 50051
    offline_debugger_mem_limit: int = 16 * 1024
    max_offline_debugger_session_num: int = 2
    token: str = ""
    allowed_hosts: tuple[str, ...] = field(default_factory=tuple)

    @property
    def index(self) -> Path:
        """The index of the folder of runs."""
        name = hashlib.sha256(str(self.summary_base_dir.resolve()).encode()).hexdigest()[:16]
        return self.workspace / "index" / f"{name}.db"


class Workspace:
    """The runs that a server shows."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = Store(settings.index)
        self.folder = Folder(settings.summary_base_dir, self.store)
        self._priority = threading.Lock()
        self._workers: list[subprocess.Popen[bytes]] = []

    # -----------------------------------------------------------------------------------------------------------------
    # The processes that read event files

    def start_workers(self) -> None:
        """Begin to read what is there, and to watch for more."""
        self.folder.compare()  # so that the first page lists all runs
        interval = min(self.settings.reload_interval, 1.0) if self.settings.reload_interval else 0
        self._spawn("first", interval)
        read, size, _ = self.store.progress()
        if (os.cpu_count() or 1) > 1 and (size == 0 or size - read > _BACKLOG):
            self._spawn("second", interval)

    def trouble(self) -> str:
        """Why nothing more can be read; empty if all is well. The log may lie on the same full disk, so pages say it."""
        read, size, _ = self.store.progress()
        place = self.settings.index.parent
        if read < size and shutil.disk_usage(place).free < _ROOM:
            return f"The disk of the index is full ({place}): runs are read on when there is room, or choose another --workspace."
        return ""

    def _spawn(self, role: str, interval: float) -> None:
        command = [sys.executable, "-m", "mindinsight.index.worker", str(self.folder.base), str(self.settings.index), role, str(interval)]
        self._workers.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))

    def stop_workers(self) -> None:
        """End them."""
        for worker in self._workers:
            worker.terminate()
        for worker in self._workers:
            worker.wait(10)
        self._workers.clear()

    def ensure(self, name: str) -> Run | None:
        """A run that is asked for is read now, before its turn."""
        run = self.store.run(name)
        waiting = run is None or any(f["position"] == 0 < f["size"] for f in self.store.run_files(run.id))
        if waiting and self._priority.acquire(timeout=20):
            try:
                self.folder.index_run(name)
            finally:
                self._priority.release()
            run = self.store.run(name)
        return run

    def have_some(self, names: list[str], enough: Callable[[], bool]) -> None:
        """The first page is not kept waiting for its turn: runs are read until there is enough to show, a few at most."""
        for name in names[:_FIRST]:
            if enough():
                return
            self.ensure(name)

    # -----------------------------------------------------------------------------------------------------------------
    # Looking things up

    def run(self, name: str | None, detail: str = "Can not find the given train job in cache.") -> Run:
        """The run of a request."""
        if not name:
            raise errors.missing("train_id")
        if "\0" in name:
            raise errors.null_byte(name.replace("\0", ""))
        run = self.ensure(name) if _is_run_name(name) else None
        if run is None:
            raise errors.no_run(detail)
        return run

    def path(self, run: str) -> Path:
        """The folder of a run; never one outside the base folder."""
        place = (self.folder.base / run).resolve()
        if not place.is_relative_to(self.folder.base):
            raise errors.no_run()
        return place

    def bytes_of(self, run: Run, thing: Thing) -> bytes:
        """The message of a thing."""
        if thing.length > LONGEST_VALUE:
            raise errors.too_much(f"{thing.tag or thing.file} has {thing.length:,} bytes.")
        try:
            handle = os.open(self.folder.path(run.name, thing.file), os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            raise errors.gone(thing.file) from None
        try:
            data = os.pread(handle, thing.length, thing.place)
        finally:
            os.close(handle)
        if len(data) != thing.length:
            raise errors.gone(thing.file)
        return data


def _is_run_name(name: str) -> bool:
    return (name == "." or name.startswith("./")) and ".." not in name.split("/")


def damaged(error: Malformed) -> errors.ApiError:
    """A value that is no value."""
    return errors.ApiError(errors.GENERAL, 0, f"This record is damaged: {error}.", 422)
