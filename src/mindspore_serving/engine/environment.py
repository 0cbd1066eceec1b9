"""What processes that this one starts find in their environment."""

from __future__ import annotations

import os


def child_environment() -> dict[str, str]:
    """The process finds this package where this one found it."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


__all__ = ["child_environment"]
