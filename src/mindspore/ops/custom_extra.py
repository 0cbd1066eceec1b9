"""The object that functions of custom operations get as `extra`: a C++ one, made by `custom_extra.cc`.

It is compiled when the first library needs it: by the strings of the library, which say how its compiler laid out `std::string`.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_SOURCE = Path(__file__).with_name("custom_extra.cc")
_ROOM = 2000
_MOST_DIMENSIONS = 64
_ROUNDED = 512  # bytes: what official MindSpore rounds memory to, and sources written for it may count on


@functools.cache
def _bridge(compiled: Callable, older_strings: bool) -> ctypes.CDLL:
    library = ctypes.CDLL(str(compiled(_SOURCE, *(["-D_GLIBCXX_USE_CXX11_ABI=0"] if older_strings else []))))
    library.ms_extra_new.restype = ctypes.c_void_p
    library.ms_extra_delete.argtypes = [ctypes.c_void_p]
    library.ms_extra_workspaces.restype = ctypes.c_size_t
    return library


def has_older_strings(library: Path) -> bool:
    """Whether a library was compiled with the strings of before C++ 11 (`_GLIBCXX_USE_CXX11_ABI=0`)."""
    text = library.read_bytes()
    return b"_ZNSs" in text or (b"NSt6vector" in text and b"__cxx11" not in text and b"Ss" in text)


class Call:
    """Shapes and types of arrays as C arrays."""

    def __init__(self, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[str]):
        n = len(shapes)
        self._kept = [np.asarray(shape, np.int64) for shape in shapes]
        self.ndims = (ctypes.c_int * max(n, 1))(*map(len, shapes))
        self.shapes = (ctypes.c_void_p * max(n, 1))(*(kept.ctypes.data for kept in self._kept))
        self.dtypes = (ctypes.c_char_p * max(n, 1))(*(dtype.encode() for dtype in dtypes))


class Extra:
    """Attributes for, and what is kept by, a function for arrays of one kind."""

    def __init__(self, compiled: Callable, older_strings: bool, attributes: dict[str, Any]):
        self._library = _bridge(compiled, older_strings)
        self.handle = ctypes.c_void_p(self._library.ms_extra_new())
        weakref.finalize(self, self._library.ms_extra_delete, self.handle)
        for name, value in attributes.items():
            self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        if isinstance(value, str):
            self._library.ms_extra_text(self.handle, name.encode(), value.encode())
            return
        rank = 0 if not isinstance(value, (list, tuple)) else 2 if value and isinstance(value[0], (list, tuple)) else 1
        rows = [[value]] if rank == 0 else [value] if rank == 1 else value
        items = [item for row in rows for item in row]
        if not all(isinstance(item, (bool, int, float, np.number)) for item in items):
            raise TypeError(
                f"For 'Custom', the attribute {name!r} must be a number, a text, or a list or list of lists of numbers, but got "
                f"{value!r:.80}."
            )
        lengths, real = np.asarray([len(row) for row in rows], np.int64), np.asarray(items, np.float64)
        whole = np.asarray(items, np.int64) if all(isinstance(item, (bool, int, np.integer)) for item in items) else None
        self._library.ms_extra_numbers(
            self.handle, name.encode(), rank, None if whole is None else whole.ctypes.data_as(ctypes.c_void_p),
            real.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(len(rows)), lengths.ctypes.data_as(ctypes.c_void_p),
        )  # fmt: skip

    def _checked(self, what: str, status: int, message: Any) -> None:
        if status != 0:
            reason = message.value.decode(errors="replace")
            raise RuntimeError(f"{what} failed: {reason}." if reason else f"{what} failed with status {status}.")

    def init(self, what: str, function: Any, call: Call) -> None:
        message = ctypes.create_string_buffer(_ROOM)
        status = self._library.ms_extra_init(
            function, call.ndims, call.shapes, call.dtypes, self.handle, message, ctypes.c_size_t(_ROOM)
        )
        self._checked(f"'Init' of {what}", status, message)

    def workspaces(self) -> list[np.ndarray]:
        """Memory for the function to work in."""
        sizes = (ctypes.c_size_t * 64)()
        count = self._library.ms_extra_workspaces(self.handle, sizes, ctypes.c_size_t(64))
        return [np.empty((size // _ROUNDED + 1) * _ROUNDED, np.uint8) for size in sizes[: min(count, 64)]]

    def shape(self, what: str, function: Any, call: Call) -> tuple[int, ...]:
        """What `InferShape` gives."""
        sizes, message = (ctypes.c_int64 * _MOST_DIMENSIONS)(), ctypes.create_string_buffer(_ROOM)
        count = self._library.ms_extra_shape(
            function, call.ndims, call.shapes, self.handle, sizes, _MOST_DIMENSIONS, message, ctypes.c_size_t(_ROOM)
        )
        self._checked(f"'InferShape' of {what}", min(count, 0), message)
        return tuple(sizes[:count])

    def run(self, what: str, function: Any, count: int, params: Any, call: Call) -> None:
        message = ctypes.create_string_buffer(_ROOM)
        status = self._library.ms_extra_run(
            function, count, params, call.ndims, call.shapes, call.dtypes, self.handle, message, ctypes.c_size_t(_ROOM)
        )
        self._checked(what, status, message)
