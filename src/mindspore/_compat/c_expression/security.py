"""Whether this is a build without summaries, dumps and profiles: there is no such build."""

from __future__ import annotations


def enable_security() -> bool:
    """False: all tools that look inside a run are there."""
    return False


__all__ = ["enable_security"]
