"""Parameter servers of real processes."""

import pytest
from launching import HERE, report

pytestmark = pytest.mark.timeout(600)


def test_two_workers_and_a_server(tmp_path):
    found = report(HERE / "served_worker.py", tmp_path, processes=3)
    assert len(found) == 4
    assert {case: errors for case, errors in found.items() if any(errors)} == {}
