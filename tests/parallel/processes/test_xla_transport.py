"""Without MPI, by XLA's own collectives: processes that differ, or do not come, are reported."""

import pytest
from launching import HERE, without_launcher

WORKER = HERE / "differing_worker.py"
VARIABLES = {
    "MS_TRANSPORT": "xla", "MS_DEV_BACKEND": "xla", "RANK_ID": "{rank}", "MS_WORKER_NUM": "{size}", "MS_NODE_ID": "{rank}",
    "MS_SCHED_HOST": "127.0.0.1", "MS_SCHED_PORT": "{port}", "MS_ROLE": "MS_WORKER",
}  # fmt: skip

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.parametrize("kind", ["eager", "graph"])
def test_different_collectives_are_shown_side_by_side(kind):
    for text in without_launcher(WORKER, kind, **VARIABLES):
        assert "refused: The processes" in text and "rank 0: " in text and "rank 1: " in text, text
        assert "AllReduce" in text and "AllGather" in text


def test_a_process_that_does_not_come():
    started = without_launcher(WORKER, "late", timeout=120, **VARIABLES, MS_NODE_TIMEOUT="4")
    assert "rank 0 has waited" in started[0] and "AllReduce (sum of float32[4]) of ranks [0, 1]" in started[0], started
    assert "differing_worker.py:" in started[0]
