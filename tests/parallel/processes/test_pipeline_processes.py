"""Pipelines of two and four processes against one device."""

import pytest
from launching import HERE, report

WORKER = HERE / "pipeline_worker.py"

pytestmark = pytest.mark.timeout(600)


def failures(*options, **named):
    found = report(WORKER, *options, **named)
    assert len(found) > 4
    return {case: errors for case, errors in found.items() if any(errors)}


def test_two_stages(tmp_path):
    assert failures(tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "arguments"), [(2, []), (4, ["short"])])
def test_programs_of_xla_between_messages(tmp_path, processes, arguments):
    assert failures(tmp_path, processes=processes, arguments=arguments, timeout=580, MS_DEV_BACKEND="xla") == {}


@pytest.mark.slow
def test_four_processes(tmp_path):
    assert failures(tmp_path, processes=4, timeout=580) == {}
