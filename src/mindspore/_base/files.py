"""Atomic files: a reader sees the old content or the new one, never a part."""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np


@contextlib.contextmanager
def atomic_write(
    path: str | os.PathLike, mode: str = "wb", permissions: int | None = None, wait_for_disk: bool = True
) -> Iterator[IO]:
    """Open a temporary file beside `path`; on success flush it to disk and rename it into place, else remove it.

    Without `wait_for_disk` the file is whole for every process from then on, but perhaps not after a power failure.

    A symbolic link is followed: the file it names is replaced, and the link stays.
    """
    target = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, mode) as stream:
            yield stream
            stream.flush()
            if wait_for_disk:
                os.fsync(stream.fileno())
        if permissions is None:
            umask = os.umask(0)
            os.umask(umask)
            permissions = 0o666 & ~umask
        os.chmod(temporary, permissions)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, temporary):
            raise OSError(error.errno, error.strerror, str(target)) from None  # say which file it is
        raise


def read_file(path: str) -> memoryview:
    """The bytes of a file. Not mapped: if somebody made it shorter, looking at it would kill the process (SIGBUS)."""
    with open(path, "rb") as stream:
        data = np.empty(os.fstat(stream.fileno()).st_size, np.uint8)  # without zeros first: files can be large
        length = stream.readinto(data.data)
    return data.data[:length].toreadonly()


def map_file(path: str) -> memoryview:
    """The bytes of a file, mapped rather than read: what is not looked at costs nothing, and processes share the rest.

    For files that nobody changes: one that is made shorter meanwhile kills the process that looks at it.
    """
    with open(path, "rb") as stream:
        if os.fstat(stream.fileno()).st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def write_parts(path: str, parts: Iterable[Any], permissions: int | None = None) -> None:
    """Write a file from its parts, atomically; folders that are missing are made."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, permissions=permissions) as stream:
        for part in parts:
            stream.write(part)
