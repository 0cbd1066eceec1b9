"""Beginning and ending a watch in the current context, by a call or by the environment.

`MS_WATCH=recommended`, or rules separated by ";" with their parameters, and what their names must hold:

    MS_WATCH="tensor_overflow; gradient_vanishing:abs_mean_lt=1e-9; tensor_too_large:max_gt=1e4@Default/head"
    MS_WATCH_ACTION=stop | report | dump        MS_WATCH_PATH=folder for dumps
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore._base import flags
from mindspore.runtime import context
from mindspore.runtime.watch import eager
from mindspore.runtime.watch.hits import Watch
from mindspore.runtime.watch.rules import Watchpoint, recommended


def begin(points: Sequence[Watchpoint] | None, action: Any, path: str, parameters: list[Any] | None) -> Watch:
    """Watch from now on; a watch that is under way ends."""
    watch = Watch(recommended() if points is None else points, parameters, action, path, end)
    _set(watch)
    eager.install()
    return watch


def end() -> None:
    """Read what an accelerator has not told yet, and watch no longer."""
    watch = context.current().watch
    _set(None)
    eager.uninstall()
    if watch is not None:
        watch.look()


def _set(watch: Watch | None) -> None:
    here = context.current()
    here.sections["watch"] = {"current": watch}
    here.settle()


def begin_by_environment() -> None:
    """What `MS_WATCH` asks for."""
    text = flags.text("MS_WATCH").strip()
    if text:
        points = None if text in ("1", "recommended") else [_parsed(part) for part in text.split(";") if part.strip()]
        begin(points, flags.text("MS_WATCH_ACTION", "stop"), flags.text("MS_WATCH_PATH", "watch_dump"), None)


def _parsed(text: str) -> Watchpoint:
    rule, _, names = text.strip().partition("@")
    rule, _, given = rule.partition(":")
    parameters: dict[str, Any] = {}
    for item in filter(None, given.split(",")):
        name, _, value = item.partition("=")
        try:
            parameters[name.strip()] = value.strip() == "True" if name.strip() == "equal_nan" else float(value)
        except ValueError:
            raise ValueError(f"MS_WATCH: {item.strip()!r} must be of the form name=number.") from None
    return Watchpoint(rule.strip(), names, **parameters)
