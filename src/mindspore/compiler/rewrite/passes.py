"""The ordered list of passes."""

from __future__ import annotations

PASSES: list = []
