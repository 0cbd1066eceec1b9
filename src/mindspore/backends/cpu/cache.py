"""Compiled objects on disk: a folder with a file per object, shared by processes, bounded in size.

A file is a mark, a checksum and the object; it appears under its name at once (written aside, then renamed), so readers
see all of it or nothing. Nothing is synchronised to the disk: what a crash damages fails its checksum and is made again.
Files are touched when used; when the folder has grown too large, those unused for longest go.

What is read here is run as machine code. So the folder is the user's own unless another is named, and files that others
own or may write, or that stand in a folder of that kind, are not looked at: the object is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

from mindspore._base import flags

_MARK = b"MSKO1\n"
_HEADER = len(_MARK) + 32
#: bytes a folder may hold; it is looked through once per so many bytes written
LIMIT = 256 << 20
_LOOK_EVERY = LIMIT // 32


class _Setting:
    enabled = False
    path = ""
    written = _LOOK_EVERY  # since the folder was last looked through; the first file written makes us look


def configure(enabled: bool, path: str) -> None:
    """What `set_context(enable_compile_cache=…, compile_cache_path=…)` says."""
    _Setting.enabled, _Setting.path = enabled, path


def folder() -> Path | None:
    """Where objects are kept, or None: no cache unless the context or the environment asks for one."""
    path = flags.text("MS_COMPILER_CACHE_PATH")
    if not (_Setting.enabled or path or flags.switch("MS_COMPILER_CACHE_ENABLE")):
        return None
    return home() / "cpu_kernels"


def home() -> Path:
    """The folder of everything that is kept between runs."""
    named = _Setting.path or flags.text("MS_COMPILER_CACHE_PATH")
    return Path(named) if named else _of_user()


def _of_user() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mindspore"


def _private(found: os.stat_result) -> bool:
    """Whether nobody but this user (or root) can have written a file or folder."""
    return found.st_uid in (os.geteuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def read(key: str) -> bytes | None:
    """The object of a key; None when there is none or it is damaged."""
    place = folder()
    if place is None:
        return None
    path = place / f"{key}.o"
    try:
        with open(path, "rb") as file:
            if not (_private(os.stat(place)) and _private(os.fstat(file.fileno()))):
                return None
            data = file.read()
    except OSError:
        return None
    body = data[_HEADER:]
    if data[:_HEADER] != _MARK + hashlib.sha256(body).digest():
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return body


def write(key: str, body: bytes) -> None:
    """Keep an object. Failing to (no space, no permission) must not fail the computation."""
    place = folder()
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
        if not _private(os.stat(place)):
            return
        _Setting.written += len(body)
        if _Setting.written >= _LOOK_EVERY:
            _Setting.written = 0
            _make_room(place)
        _write_aside(place / f"{key}.o", _MARK + hashlib.sha256(body).digest() + body)


def _write_aside(path: Path, data: bytes) -> None:
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def _make_room(place: Path) -> None:
    """Remove what was unused for longest until three quarters of the limit are left."""
    files = []
    for entry in os.scandir(place):
        with contextlib.suppress(OSError):  # another process may be doing the same
            found = entry.stat()
            files.append((found.st_mtime, found.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    if total <= LIMIT:
        return
    for _, size, path in sorted(files):
        if total <= LIMIT * 3 // 4:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
