"""The paged cache of keys and values (Kwon et al., PagedAttention, 2023), with prefixes shared between sequences.

Memory is cut into pages of BLOCK tokens. A sequence has a table of pages. A page that is full is known by the tokens in it and
the page before it; a sequence that begins with the same tokens, and has the same adapter, takes it instead of computing it
again. Pages that no sequence uses keep their content until they are needed, the one unused for longest first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from mindspore.prims.cached_attention import PAGE

#: tokens of a page
BLOCK = PAGE


class OutOfPages(Exception):
    pass


class PageTable:
    """Which pages are free, used (and how often), or kept for a prefix. Page 0 is for rows that only fill a batch up."""

    def __init__(self, count: int) -> None:
        self._free = list(range(count - 1, 0, -1))
        self._users: dict[int, int] = {}
        self._prefixes: dict[tuple[int, tuple[int, ...]], int] = {}  # (page before, tokens) -> page; before the first: -adapter
        self._known: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()
        self.count = count - 1
        self.queries = self.hits = 0

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
        return page

    def _forget(self, page: int) -> None:
        """A page gets other content: neither it nor what follows it can be found any more."""
        key = self._known.pop(page, None)
        if key is not None and self._prefixes.get(key) == page:
            del self._prefixes[key]
        for key in [key for key in self._prefixes if key[0] == page]:
            self._known.pop(self._prefixes.pop(key), None)

    def note_full(self, table: Sequence[int], number: int, tokens: Sequence[int], adapter: int = 0) -> None:
        """Page `number` of a table is full of these tokens."""
        key = (table[number - 1] if number else -adapter, tuple(tokens))
        if (number == 0 or table[number - 1] in self._known) and key not in self._prefixes:
            self._prefixes[key] = table[number]
            self._known[table[number]] = key

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
        for known in (self._prefixes, self._known, self._idle):
            known.clear()


def cache_type(weights: str) -> type[np.floating]:
    """Of keys and values: as exact as float32 weights, or half as large beside weights that were rounded more than that."""
    return np.float32 if weights == "float32" else np.float16


def pages_for(megabytes: int, weights: str, layers: int, heads: int, width: int) -> int:
    page = 2 * np.dtype(cache_type(weights)).itemsize * layers * heads * width * BLOCK
    return max(megabytes * 2**20 // page, 2)


__all__ = ["BLOCK", "OutOfPages", "PageTable", "cache_type", "pages_for"]
