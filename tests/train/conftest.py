"""Shared by the tests of training."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def official() -> Path:
    """The folder of files written by official MindSpore."""
    return Path(__file__).parents[1] / "data" / "official" / "train"
