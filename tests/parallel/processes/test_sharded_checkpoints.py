"""Checkpoints that processes write together. Two processes do all cases of a worker; four in the long tests."""

import numpy as np
import pytest
from launching import HERE, report

from mindspore.parallel import load_sharded_checkpoint

WORKER = HERE / "sharded_checkpoint_worker.py"

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_written_together(tmp_path, processes):
    found = report(WORKER, tmp_path, processes=processes)
    assert {case: errors for case, errors in found.items() if any(errors)} == {}
    loaded = load_sharded_checkpoint(str(tmp_path / "shares"))  # by one process
    large = np.random.default_rng(3).normal(size=(1001, 300)).astype("f")
    np.testing.assert_array_equal(loaded["large"].asnumpy(), large)
    assert loaded["own"].asnumpy().tolist() == [0, 0, 0]


def test_nothing_to_load(tmp_path):
    with pytest.raises(ValueError, match="no complete checkpoint of step 4 in"):
        load_sharded_checkpoint(str(tmp_path), 4)
