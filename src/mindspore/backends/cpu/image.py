"""Machine code of many objects as one image, which needs no LLVM to be loaded.

An image is what a linker would make of the objects: their code and constants one after the other, the offsets of their functions,
and a list of words to be set when it is known where the image lies (`fixes`): a place in the image, or the address of a function
of a library. Objects of `jit.py` are compiled with the large code model, so every such word is an absolute address of 64 bits, and
that is the only kind of relocation there is (ELF, R_X86_64_64). Tables for unwinding are left out: no exception passes through here.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from mindspore.backends.cpu import openmp

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_ALLOCATED, _NO_BITS, _SYMBOLS, _RELOCATIONS = 2, 8, 2, 4
_ABSOLUTE_64 = 1
_UNDEFINED, _ABSOLUTE = 0, 0xFFF1
_PAGE = 4096


class CannotLink(Exception):
    """An object holds something that images have no form for."""


class Image(NamedTuple):
    """`fixes`: (where, place in the image that is meant); `outside`: (where, name of a library's function, what is added)."""

    code: bytes
    functions: dict[str, int]
    fixes: list[tuple[int, int]]
    outside: list[tuple[int, str, int]]


def supported() -> bool:
    """Whether images can be made and loaded here."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def link(objects: Iterable[bytes]) -> Image:
    """One image of objects; those that are equal are taken once."""
    made = _Linker()
    for body in dict.fromkeys(objects):
        made.add(body)
    return Image(bytes(made.code), made.functions, made.fixes, made.outside)


class _Linker:
    def __init__(self) -> None:
        self.code = bytearray()
        self.functions: dict[str, int] = {}
        self.fixes: list[tuple[int, int]] = []
        self.outside: list[tuple[int, str, int]] = []

    def add(self, body: bytes) -> None:
        (table,) = struct.unpack_from("<Q", body, 0x28)
        size, count, names_at = struct.unpack_from("<HHH", body, 0x3A)
        sections = [_SECTION.unpack_from(body, table + n * size) for n in range(count)]
        names = sections[names_at]
        places: dict[int, int] = {}
        for number, section in enumerate(sections):
            if section[2] & _ALLOCATED and _text(body, names, section[0]) != ".eh_frame":
                places[number] = self._place(body, section)
        symbols = next(s for s in sections if s[1] == _SYMBOLS)
        texts = sections[symbols[6]]
        found = [_SYMBOL.unpack_from(body, symbols[4] + at) for at in range(0, symbols[5], _SYMBOL.size)]
        for name, info, _, home, value, _ in found:
            if info >> 4 and home in places:  # not local
                self.functions[_text(body, texts, name)] = places[home] + value
        for section in sections:
            if section[1] == _RELOCATIONS and section[7] in places:
                self._relocate(body, section, places, found, texts)

    def _place(self, body: bytes, section: tuple[int, ...]) -> int:
        _, kind, _, _, offset, size, _, _, alignment, _ = section
        self.code += bytes(-len(self.code) % max(alignment, 1))
        place = len(self.code)
        self.code += bytes(size) if kind == _NO_BITS else body[offset : offset + size]
        return place

    def _relocate(
        self, body: bytes, section: tuple[int, ...], places: dict[int, int], symbols: list[tuple[int, ...]], texts: tuple[int, ...]
    ) -> None:
        for at in range(section[4], section[4] + section[5], _RELOCATION.size):
            offset, info, added = _RELOCATION.unpack_from(body, at)
            name, _, _, home, value, _ = symbols[info >> 32]
            if info & 0xFFFFFFFF != _ABSOLUTE_64 or home == _ABSOLUTE:
                raise CannotLink(f"a relocation of kind {info & 0xFFFFFFFF}")
            where = places[section[7]] + offset
            if home == _UNDEFINED:
                self.outside.append((where, _text(body, texts, name), added))
            elif home in places:
                self.fixes.append((where, places[home] + value + added))
            else:
                raise CannotLink("a place that is not loaded")


def _text(body: bytes, section: tuple[int, ...], at: int) -> str:
    start = section[4] + at
    return body[start : body.index(b"\0", start)].decode()


class Loaded:
    """An image in executable memory, there while this object is."""

    def __init__(self, image: Image):
        size = -(-max(len(image.code), 1) // _PAGE) * _PAGE
        self._memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
        code = np.frombuffer(self._memory, np.uint8)
        base = code.ctypes.data
        self._memory[: len(image.code)] = image.code
        for where, place in image.fixes:
            struct.pack_into("<Q", self._memory, where, base + place)
        for where, name, added in image.outside:
            struct.pack_into("<Q", self._memory, where, _outside(name) + added)
        if ctypes.CDLL(None).mprotect(ctypes.c_void_p(base), ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError("the system does not allow machine code to be loaded")
        self._base, self._functions = base, image.functions

    def function(self, name: str) -> Function:
        """A function of the image; KeyError if it has none of that name."""
        return Function(self, self._base + self._functions[name])


class Function(NamedTuple):
    """Its address, and what keeps it in memory."""

    home: Loaded
    address: int


def _outside(name: str) -> int:
    """The address of a function of the OpenMP runtime, of oneDNN, or of what the process has loaded anyway."""
    for library in (openmp.runtime(), openmp.onednn(), ctypes.CDLL(None), ctypes.CDLL("libm.so.6")):
        if library is not None and hasattr(library, name):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    raise CannotLink(f"there is no function {name}")
