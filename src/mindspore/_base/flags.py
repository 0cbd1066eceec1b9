"""Settings read from `MS_*` environment variables, in one place."""

from __future__ import annotations

import os


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default)


def integer(name: str, default: int = 0) -> int:
    raw = os.environ.get(name, "")
    try:
        return int(raw) if raw else default
    except ValueError:
        return default


def switch(name: str, default: bool = False) -> bool:
    raw = os.environ.get(name, "").strip().lower()
    if not raw:
        return default
    return raw not in ("0", "false", "off", "no")


def online_debugger() -> bool:
    """`ENABLE_MS_DEBUGGER=1`: training steps wait for commands of MindInsight's debugger."""
    return switch("ENABLE_MS_DEBUGGER")


def verify_each_pass() -> bool:
    """`MS_DEV_VERIFY_IR=1`: check every graph after every pass."""
    return switch("MS_DEV_VERIFY_IR")


def excess_precision() -> bool:
    """`MS_DEV_EXCESS_PRECISION=1`: fused operations on 16-bit floats need not round what they hand on to one another."""
    return switch("MS_DEV_EXCESS_PRECISION")
def checks_values() -> bool:
    """`MS_DEV_UNCHECKED=1`: graphs do not look at the values of indices and labels."""
    return not switch("MS_DEV_UNCHECKED")
