"""Collectives between real processes. Two processes do all cases of a worker; a test per case looks at the report."""

import json

import pytest
from launching import HERE, cases_of, report, without_launcher

WORKER = HERE / "collectives_worker.py"
CASES = cases_of(WORKER)

pytestmark = pytest.mark.timeout(300)  # processes are started and compile; on a busy machine that takes a while


@pytest.fixture(scope="module")
def by_two(tmp_path_factory):
    return report(WORKER, tmp_path_factory.mktemp("two"))


@pytest.mark.parametrize("case", CASES)
def test_two_processes(by_two, case):
    assert [error for error in by_two[case] if error] == []


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["cpu", "interp", "xla"])
def test_four_processes(tmp_path, backend):
    found = report(WORKER, tmp_path, processes=4, MS_DEV_BACKEND=backend)
    assert {case: errors for case, errors in found.items() if any(errors)} == {}


TYPES = HERE / "types_worker.py"


def test_all_types_by_all_functions(tmp_path):
    found = report(TYPES, tmp_path)
    assert len(found) > 40 and {case: errors for case, errors in found.items() if any(errors)} == {}


@pytest.mark.slow
@pytest.mark.parametrize("processes, backend", [(4, "cpu"), (2, "interp"), (2, "xla")])
def test_all_types_on_all_backends(tmp_path, processes, backend):
    found = report(TYPES, tmp_path, processes=processes, MS_DEV_BACKEND=backend)
    assert {case: errors for case, errors in found.items() if any(errors)} == {}


@pytest.mark.slow
def test_by_xla_without_mpi(tmp_path):
    """The transport of processes that no launcher has started."""
    texts = without_launcher(
        TYPES, tmp_path, MS_TRANSPORT="xla", MS_DEV_BACKEND="xla", MS_WORKER_NUM="{size}", MS_NODE_ID="{rank}",
        MS_SCHED_HOST="127.0.0.1", MS_SCHED_PORT="{port}",
    )  # fmt: skip
    assert all(text.endswith("status 0") for text in texts), texts
    for rank in range(2):
        found = json.loads((tmp_path / f"report_{rank}.json").read_text())
        assert len(found) > 40 and {case: error for case, error in found.items() if error} == {}
