"""Graphs cut over real processes: by MPI in native steps, and by XLA's own collectives, against one device."""

import pytest
from launching import HERE, report

WORKER = HERE / "sharded_worker.py"

pytestmark = pytest.mark.timeout(600)  # processes are started and compile; on a busy machine that takes a while


def failures(*options, **named):
    found = report(WORKER, *options, **named)
    assert len(found) > 4
    return {case: errors for case, errors in found.items() if any(errors)}


def test_two_processes(tmp_path):
    assert failures(tmp_path, arguments=["short"]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 4])
def test_every_network_and_plan(tmp_path, processes):
    assert failures(tmp_path, processes=processes, timeout=580) == {}


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 4])
def test_one_program_of_all_processes_on_xla(tmp_path, processes):
    assert failures(tmp_path, arguments=["short"], processes=processes, timeout=580, MS_DEV_BACKEND="xla") == {}
