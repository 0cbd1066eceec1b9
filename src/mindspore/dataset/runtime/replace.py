"""Rows that a map failed on, replaced by good ones (`ErrorSamplesMode.REPLACE`).

The first good rows wait in a short queue. Once it is full, each further good row is preceded by one of the queue, and takes its
place, as long as failures are owed; what is still owed at the end is taken from the queue in turn. So an epoch has as many rows as without
failures, and replacements are spread over it instead of standing next to each other.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator

from mindspore.dataset.runtime.errors import pipeline_error
from mindspore.dataset.runtime.operators import Operator, drop
from mindspore.dataset.runtime.step import FAILED

_SPARE_ROWS = 16


class Replaced(Operator):
    """The rows of a map that marks failures."""

    def stream(self, epoch, start=0):
        rows = _replaced(row for _, row in self.children[0].stream(epoch))
        return drop(enumerate(rows), start)


def _replaced(rows: Iterator) -> Iterator:
    spare: deque = deque()
    owed = 0
    for row in rows:
        if len(row) == len(FAILED):
            owed += 1
            continue
        if len(spare) == _SPARE_ROWS and owed:
            yield spare.popleft()
            owed -= 1
        if len(spare) < _SPARE_ROWS:
            spare.append(row)
        yield row
    if owed and not spare:
        raise pipeline_error("All data is garbage, and cannot be replaced: a map failed on every row of the epoch.")
    yield from itertools.islice(itertools.cycle(spare), owed)

