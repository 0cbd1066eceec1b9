"""A count of changes to cells and parameters that compiled graphs may depend on.

Graphs compare their assumptions (guards.py) only when the count has moved, so that an ordinary call costs one comparison.
"""

from __future__ import annotations


class _Changes:
    count = 0


def note_change() -> None:
    """An attribute of a cell was set, a child or hook added or removed, a mode switched, a parameter given a new shape."""
    _Changes.count += 1


def change_count() -> int:
    return _Changes.count
