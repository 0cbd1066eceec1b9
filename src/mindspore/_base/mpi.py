"""The MPI library, through the standard binary interface of MPI 5 (`libmpi_abi.so`).

Every implementation of that interface has the same handles (small constants), so nothing is compiled against a header:
functions are called by ctypes, or by address from the native steps of a graph. Counts are 64 bits wide (`_c` functions).
Which library: the one that `MS_MPI_LIBRARY` names, else that of the wheel `mpich` beside the interpreter, else the system's.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from pathlib import Path
from typing import Any

WORLD = 0x101
NO_COMMUNICATOR = 0x100
NO_REQUEST = 0x180
IN_PLACE = 1
_ERRORS_RETURN = 0x143
_THREAD_MULTIPLE = 4096
BYTE = 0x247
UNSIGNED_MAX_TAG = 0x7FFFFFF

#: NumPy's names of element types that MPI computes with
TYPES = {
    "int8": 0x240, "uint8": 0x241, "int16": 0x248, "uint16": 0x249, "int32": 0x250, "uint32": 0x251, "int64": 0x258,
    "uint64": 0x259, "float32": 0x210, "float64": 0x214, "complex64": 0x212, "complex128": 0x216,
}  # fmt: skip
OPERATIONS = {"sum": 0x21, "min": 0x22, "max": 0x23, "prod": 0x24}

_NAMES = ("libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so")


class MpiError(RuntimeError):
    """A function of the MPI library failed."""


@functools.cache
def library() -> ctypes.CDLL:
    """The library, loaded when first asked for."""
    named = os.environ.get("MS_MPI_LIBRARY")
    beside = [str(Path(sys.prefix) / "lib" / name) for name in _NAMES]
    for candidate in [named] if named else [*(p for p in beside if os.path.exists(p)), *_NAMES]:
        try:
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    raise ImportError(
        "Runs of several processes on CPUs need an MPI library with the standard interface, which was not found"
        + (f" under MS_MPI_LIBRARY={named}" if named else "")
        + ". Install it with: pip install 'pymindspore[parallel]'"
    )


def available() -> bool:
    try:
        library()
    except ImportError:
        return False
    return True


def address(function: str) -> int:
    """Where a function is, for native code."""
    return ctypes.cast(getattr(library(), function), ctypes.c_void_p).value or 0


def call(function: str, *arguments: Any) -> None:
    """Call a function; integers are passed as they are, wide enough for handles, counts and addresses."""
    status = getattr(library(), function)(*(ctypes.c_void_p(a) if isinstance(a, int) else a for a in arguments))
    if status:
        raise MpiError(f"{function} failed: {describe(status)}")


def describe(status: int) -> str:
    """The library's own words for an error."""
    text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
    library().MPI_Error_string(ctypes.c_int(status), text, ctypes.byref(length))
    return text.value.decode(errors="replace")


def integer(function: str, *arguments: Any) -> int:
    """Call a function whose last argument is the address of an int, and return that int."""
    result = ctypes.c_int()
    call(function, *arguments, ctypes.byref(result))
    return result.value


def handle(function: str, *arguments: Any) -> int:
    """Call a function whose last argument is the address of a handle, and return that handle."""
    result = ctypes.c_void_p()
    call(function, *arguments, ctypes.byref(result))
    return result.value or 0


def start() -> None:
    """Join the run that this process was started for by `mpiexec`; once per process."""
    if not integer("MPI_Initialized"):
        got = ctypes.c_int()
        call("MPI_Init_thread", 0, 0, _THREAD_MULTIPLE, ctypes.byref(got))
        call("MPI_Comm_set_errhandler", WORLD, _ERRORS_RETURN)
        call("MPI_Barrier", WORLD)
        _unlink_shared_memory()


def _unlink_shared_memory() -> None:
    """Everybody has mapped MPICH's shared memory: without its name it goes with the processes, also with killed ones."""
    with contextlib.suppress(OSError), open("/proc/self/maps") as maps:
        names = {line.split()[-1] for line in maps if "/dev/shm/mpich_shm_" in line}
        for name in names:
            with contextlib.suppress(OSError):
                os.unlink(name)


def finish() -> None:
    """Leave it. Waits for the others."""
    if integer("MPI_Initialized") and not integer("MPI_Finalized"):
        call("MPI_Finalize")
