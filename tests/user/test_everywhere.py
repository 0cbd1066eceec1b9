"""One exported model at every station: the framework, the server, lite, generated C and ONNX Runtime agree."""

import runpy
import shutil
import socket
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "everywhere" / "run.py"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_stations_agree_and_a_new_version_is_swapped_in(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "cc")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    differences, before, after = runpy.run_path(str(EXAMPLE))["main"](tmp_path, samples=1000, rounds=6, port=port)
    assert len(differences) == 6 and max(differences.values()) < 1e-4, differences
    assert after > before + 0.2
