"""A short version of kills.py: servers killed at random moments lose no finished round and change no result."""
import shutil

import pytest
from kills import kills


@pytest.mark.parametrize("store", ["local", pytest.param("redis", marks=pytest.mark.skipif(
    shutil.which("redis-server") is None, reason="redis-server is not installed"))])
def test_finished_rounds_survive_kills(tmp_path, store):
    found = kills(tmp_path, 12, 1, store, 60)
    assert found["server"] + found["redis"] > 0 and found["rounds_in_the_model"] >= 3
