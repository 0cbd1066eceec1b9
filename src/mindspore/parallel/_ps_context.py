"""Settings of parameter-server training, and the role of this process in it."""

from __future__ import annotations

from typing import Any

from mindspore import context
from mindspore._base import flags


def _set_ps_context(**kwargs: Any) -> None:
    context.set_ps_context(**kwargs)


def _get_ps_context(attr_key: str) -> Any:
    return context.get_ps_context(attr_key)


def _reset_ps_context() -> None:
    context.reset_ps_context()


def _is_role_sched() -> bool:
    """Whether this process coordinates the others (`MS_ROLE=MS_SCHED`)."""
    return flags.text("MS_ROLE") == "MS_SCHED"


def _is_role_pserver() -> bool:
    """Whether this process keeps parameters for the others."""
    return flags.text("MS_ROLE") == "MS_PSERVER"


def _is_role_worker() -> bool:
    """Whether this process trains with parameters kept by others."""
    return bool(context.get_ps_context("enable_ps")) and flags.text("MS_ROLE") == "MS_WORKER"


def _get_ps_mode_rank() -> int:
    return 0


def _is_ps_mode() -> bool:
    return bool(context.get_ps_context("enable_ps"))
