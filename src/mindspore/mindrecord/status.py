"""What MindRecord calls that end well return."""

from __future__ import annotations

import enum


class MSRStatus(enum.IntEnum):
    """The outcome of a call."""

    SUCCESS = 0
    FAILED = 1


SUCCESS = MSRStatus.SUCCESS
FAILED = MSRStatus.FAILED
