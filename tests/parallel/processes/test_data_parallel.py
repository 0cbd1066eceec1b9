"""Data parallel training of two processes against one device."""

import pytest
from launching import HERE, cases_of, report

WORKER = HERE / "data_parallel_worker.py"
CASES = cases_of(WORKER)

pytestmark = pytest.mark.timeout(300)  # processes are started and compile; on a busy machine that takes a while


@pytest.fixture(scope="module")
def by_two(tmp_path_factory):
    return report(WORKER, tmp_path_factory.mktemp("two"))


@pytest.mark.parametrize("case", CASES)
def test_two_processes(by_two, case):
    assert [error for error in by_two[case] if error] == []


@pytest.mark.slow
def test_two_processes_on_xla(tmp_path):
    found = report(WORKER, tmp_path, MS_DEV_BACKEND="xla")
    for about_native_steps in ("the_backward_pass_goes_on_while_a_bucket_travels", "buckets_by_measured_times"):
        found.pop(about_native_steps)
    assert {case: errors for case, errors in found.items() if any(errors)} == {}
