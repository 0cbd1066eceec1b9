"""The ways in which processes are started besides msrun: variables of jobs, rank tables, mpiexec, a scheduler of one's own."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from launching import HERE, environment, free_port, without_launcher

WORKER = HERE / "joined_worker.py"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def assert_joined(texts):
    for rank, text in enumerate(texts):
        assert f"rank {rank} of 2: sum 3" in text and text.endswith("status 0"), texts


def test_variables_of_jobs():
    variables = {"RANK": "{rank}", "WORLD_SIZE": "{size}", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "{port}"}
    assert_joined(without_launcher(WORKER, **variables))


def test_a_rank_table(tmp_path):
    devices = [{"device_id": str(r), "device_ip": f"192.168.100.{r}", "rank_id": str(r)} for r in range(2)]
    table = {"version": "1.0", "server_count": "1", "status": "completed", "server_list": [{"server_id": "127.0.0.1", "device": devices}]}
    (tmp_path / "table.json").write_text(json.dumps(table))
    variables = {"RANK_TABLE_FILE": tmp_path / "table.json", "RANK_ID": "{rank}", "MS_SCHED_PORT": "{port}"}
    assert_joined(without_launcher(WORKER, **variables))


def test_mpiexec():
    launcher = Path(sys.prefix) / "bin" / "mpiexec"
    if not launcher.exists():
        pytest.skip("no mpiexec beside the interpreter")
    line = [str(launcher), "-n", "2", sys.executable, str(WORKER)]
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"rank 0 of 2: sum 3", "rank 1 of 2: sum 3"} <= set(done.stdout.splitlines())


def with_a_scheduler(*workers, **common):
    """What a scheduler and two workers end with, and say; `workers`: further variables of each."""
    port, started = free_port(), []
    for variables in ({"MS_ROLE": "MS_SCHED"}, *({"MS_ROLE": "MS_WORKER", **w} for w in workers)):
        place = {"MS_WORKER_NUM": 2, "MS_SCHED_HOST": "127.0.0.1", "MS_SCHED_PORT": port}
        settings = environment(**place, **common, **variables)
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        started.append(subprocess.Popen([sys.executable, str(WORKER)], env=settings, **streams))
    texts = [process.communicate(timeout=200)[0] for process in started]
    return [process.returncode for process in started], texts


def test_a_scheduler_of_ones_own():
    """Three processes, one of them the scheduler; ranks are given in the order of arrival."""
    status, texts = with_a_scheduler({}, {})
    assert status == [0, 0, 0], texts
    assert {line for text in texts for line in text.splitlines() if line.startswith("rank")} == {
        "rank 0 of 2: sum 3", "rank 1 of 2: sum 3",
    }  # fmt: skip


def test_a_worker_that_fails_before_it_has_met_the_others_ends_the_run(tmp_path):
    status, (told, *texts) = with_a_scheduler({}, {"MS_MPI_LIBRARY": tmp_path / "none.so"})
    assert all(status), (told, texts)
    assert re.search(r"The run has failed: rank [01] ended before it had met the others", told)
    assert sum("need an MPI library" in text for text in texts) == 1, texts


def test_a_scheduler_gives_up_workers_that_do_not_come():
    status, texts = with_a_scheduler({}, MS_TOPO_TIMEOUT=5)
    assert all(status), texts
    assert "1 of 2 processes have not come in 5 s" in texts[0]
