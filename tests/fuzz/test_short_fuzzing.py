"""A short piece of fuzzing with every run of the tests; `make fuzz` goes on from there."""

from pathlib import Path

import numpy as np
import pytest
import run
from fuzz_files import damaged

COUNTS = {"operators": 5, "programs": 3, "networks": 3, "files": 120, "calls": 30, "models": 20, "runs": 20, "table": 3, "indexing": 4}


@pytest.mark.parametrize(("kind", "count"), COUNTS.items())
def test_nothing_is_found(kind, count):
    ran = run.batch(kind, seed=0, first=0, count=count, seconds=600)
    assert ran.findings == [] and ran.calls >= ran.cases == count


def test_a_case_is_the_same_every_time():
    rng = [np.random.default_rng([5, 3, 9]) for _ in range(2)]
    assert damaged(rng[0], bytes(range(200))) == damaged(rng[1], bytes(range(200)))


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        ("raise AssertionError('apart')", "apart"),
        ("raise KeyError('x')", "KeyError"),
        ("os.kill(os.getpid(), 11)", "ended with -11"),
        ("bytearray(1 << 40)", "MemoryError"),
    ],
)
def test_what_goes_wrong_is_found(tmp_path, monkeypatch, body, finding):
    (tmp_path / "fuzz_broken.py").write_text(f"import os\n\ndef case(rng, scratch):\n    {body}\n")
    script = tmp_path / "run.py"
    text = Path(run.__file__).read_text()
    script.write_text(text.replace("BATCH = {", 'BATCH = {"broken": 1,'))
    monkeypatch.setattr(run, "__file__", str(script))
    findings = run.batch("broken", seed=0, first=3, count=1, seconds=60).findings
    assert [number for number, _ in findings] == [3] and finding in findings[0][1]
