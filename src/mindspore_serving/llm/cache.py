"""The paged cache of keys and values (Kwon et al., PagedAttention, 2023), with prefixes shared between sequences.

Memory is cut into pages of BLOCK tokens. A sequence has a table of pages. A page that is full is known by the tokens in it and
the page before it; a sequence that begins with the same tokens, and has the same adapter, takes it instead of computing it
again. Pages that no sequence uses keep their content until they are needed, the one unused for longest first.

The memory of a page comes from the kernel when it is first written to, which takes as long as a tenth of a prompt's computation. So
the engine has `Memory` ask for the next pages while nobody waits.
"""

from __future__ import annotations

import contextlib
import mmap
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

import mindspore as ms
from mindspore.prims.cached_attention import PAGE
from mindspore_serving.llm.checkpoint import Array

#: tokens of a page
BLOCK = PAGE
#: of Linux 5.14 and later: give memory as if it were written to, its content unchanged
_POPULATE_WRITE = 23


class OutOfPages(Exception):
    pass


class PageTable:
    """Which pages are free, used (and how often), or kept for a prefix. Page 0 is for rows that only fill a batch up."""

    def __init__(self, count: int) -> None:
        self._free = list(range(count - 1, 0, -1))
        self._users: dict[int, int] = {}
        self._prefixes: dict[
            tuple[int, tuple[int, ...]], int
        ] = {}  # (page before, tokens) -> page; before the first: -adapter
        self._known: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._following: dict[
            int, set[tuple[int, tuple[int, ...]]]
        ] = {}  # page -> keys of `_prefixes` that begin with it
        self._idle: OrderedDict[int, None] = OrderedDict()
        self.count = count - 1
        self.queries = self.hits = 0
        self.furthest = 0  # of the pages that have been taken

    @property
    def used(self) -> int:
        return len(self._users)

    def find_prefix(self, tokens: Sequence[int], adapter: int = 0) -> list[int]:
        """Pages that hold the beginning of these tokens, now used once more; at least one token is left to compute."""
        found: list[int] = []
        before = -adapter
        self.queries += len(tokens)
        for start in range(0, len(tokens) - 1, BLOCK):
            part = tuple(tokens[start : start + BLOCK])
            page = self._prefixes.get((before, part))
            if page is None or start + BLOCK >= len(tokens):
                break
            self._use(page)
            found.append(page)
            before = page
        self.hits += len(found) * BLOCK
        return found

    def _use(self, page: int) -> None:
        self._users[page] = self._users.get(page, 0) + 1
        self._idle.pop(page, None)

    def take(self) -> int:
        if self._free:
            page = self._free.pop()
        elif self._idle:
            page, _ = self._idle.popitem(last=False)
            self._forget(page)
        else:
            raise OutOfPages
        self._use(page)
        self.furthest = max(self.furthest, page)
        return page

    def _forget(self, page: int) -> None:
        """A page gets other content: neither it nor what follows it can be found any more."""
        key = self._known.pop(page, None)
        if key is not None:
            del self._prefixes[key]
            self._following[key[0]].remove(key)
        for following in self._following.pop(page, ()):
            del self._known[self._prefixes.pop(following)]

    def note_full(self, table: Sequence[int], number: int, tokens: Sequence[int], adapter: int = 0) -> None:
        """Page `number` of a table is full of these tokens."""
        key = (table[number - 1] if number else -adapter, tuple(tokens))
        if (number == 0 or table[number - 1] in self._known) and key not in self._prefixes:
            self._prefixes[key] = table[number]
            self._known[table[number]] = key
            self._following.setdefault(key[0], set()).add(key)

    def release(self, table: Sequence[int]) -> None:
        for page in reversed(table):
            self._users[page] -= 1
            if self._users[page]:
                continue
            del self._users[page]
            if page in self._known:
                self._idle[page] = None
            else:
                self._free.append(page)

    def forget_all(self) -> None:
        """The content of all pages is lost; none is in use."""
        assert not self._users
        self._free = list(range(self.count, 0, -1))
        for known in (self._prefixes, self._known, self._following, self._idle):
            known.clear()


class Memory:
    """Zeros whose first index is a page's number."""

    def __init__(self, shape: tuple[int, ...], dtype: type[np.floating]) -> None:
        self._page = int(np.prod(shape[1:])) * np.dtype(dtype).itemsize
        self._mapped = mmap.mmap(-1, shape[0] * self._page, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            self._mapped.madvise(mmap.MADV_HUGEPAGE)  # pages of the kernel's, fewer of which hold more of ours
        self.array: Array = np.frombuffer(self._mapped, dtype).reshape(shape)

    def prepare(self, first: int, last: int) -> None:
        """Have the memory of pages first … last - 1 before it is needed; kernels that cannot give it do so when it is."""
        begin = first * self._page // mmap.PAGESIZE * mmap.PAGESIZE
        with contextlib.suppress(OSError):
            self._mapped.madvise(_POPULATE_WRITE, begin, last * self._page - begin)


def cache_type(weights: str) -> type[np.floating]:
    """Of keys and values: as exact as float32 weights, or half as large beside weights that were rounded more than that."""
    found: type[np.floating] = ms.dtype_to_nptype({"float32": ms.float32, "bfloat16": ms.bfloat16}.get(weights, ms.float16))
    return found


def pages_for(megabytes: int, weights: str, layers: int, heads: int, width: int) -> int:
    page = 2 * np.dtype(cache_type(weights)).itemsize * layers * heads * width * BLOCK
    return max(megabytes * 2**20 // page, 2)


__all__ = ["BLOCK", "Memory", "OutOfPages", "PageTable", "cache_type", "pages_for"]
