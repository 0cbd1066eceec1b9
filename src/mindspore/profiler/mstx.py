"""Marks and ranges that user code puts into a profile."""

from __future__ import annotations

import itertools
from typing import Any

from mindspore import log as logger
from mindspore.profiler.recorder import current, now


class mstx:
    """Marks and named ranges.

    Examples:
        >>> from mindspore.profiler import mstx
        >>> number = mstx.range_start("load")
        >>> mstx.range_end(number)
    """

    enable = True
    _numbers = itertools.count(1)
    _open: dict[int, tuple[str, int]] = {}

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        """Note that something happens now."""
        recorder = current()
        if recorder is not None and _valid("mark", message, domain):
            recorder.add(message, "user", now(), now())

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        """Begin a range; returns its number, 0 when no profiler runs."""
        if current() is None or not _valid("range_start", message, domain):
            return 0
        number = next(mstx._numbers)
        mstx._open[number] = (message, now())
        return number

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """End a range."""
        if not isinstance(range_id, int):
            logger.warning("For 'mstx.range_end', 'range_id' must be an int, but got %s.", type(range_id).__name__)
            return
        found = mstx._open.pop(range_id, None)
        recorder = current()
        if found is not None and recorder is not None:
            recorder.add(found[0], "user", found[1], now())


def _valid(owner: str, message: Any, domain: Any) -> bool:
    if isinstance(message, str) and message and isinstance(domain, str) and domain:
        return True
    logger.warning("For 'mstx.%s', the message and the domain must be strings that are not empty.", owner)
    return False
