"""Queues of data by name: who hands rows over, and who takes them, need to know only the name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_OPEN: dict[str, Callable[[], Any]] = {}


def offer(name: str, take: Callable[[], Any]) -> None:
    """From now on `take()` gives the next row of the queue: [] at the end of an epoch, None after the last."""
    _OPEN[name] = take


def withdraw(name: str) -> None:
    _OPEN.pop(name, None)


def next_row(name: str) -> Any:
    """The next row of a queue."""
    if name not in _OPEN:
        raise RuntimeError(
            f"There is no data queue {name!r}: send a data set to it first (`dataset.device_que().send()`)."
        )
    row: Any = []
    while isinstance(row, list) and not row:
        row = _OPEN[name]()
    if row is None:
        raise RuntimeError(f"The data queue {name!r} has no more rows: all epochs were sent.")
    return row
