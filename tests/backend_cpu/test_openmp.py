"""What the OpenMP runtime is told when it is loaded."""

from __future__ import annotations

import pytest

from mindspore.backends.cpu import openmp


@pytest.mark.parametrize(
    "files,cores",
    [
        ({"cpu.max": "max 100000\n"}, 0),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"cpu.max": "nonsense"}, 0),
        ({}, 0),
    ],
)
def test_cores_of_a_container(tmp_path, files, cores):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert openmp._quota(tmp_path) == cores


def test_what_the_user_sets_wins(monkeypatch):
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(openmp.os, "cpu_count", lambda: 64)
    monkeypatch.setattr(openmp, "_quota", lambda: 3)
    assert openmp._settings() == {"GOMP_SPINCOUNT": "2000", "OMP_NUM_THREADS": "3"}
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    assert openmp._settings() == {}
