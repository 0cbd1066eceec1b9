"""Files that the official MindSpore wrote, unpacked for a test."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

_STORE = Path(__file__).parent.parent / "data" / "official" / "mindrecord"


@pytest.fixture
def official(tmp_path, monkeypatch):
    """The folder with the official files, as current folder."""
    for packed in _STORE.glob("*.gz"):
        (tmp_path / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
