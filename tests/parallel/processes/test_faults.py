"""Processes that are lost, hang or differ: a clear message, the run ends, nobody is left behind; or it starts again."""

import os
import re
import signal
import subprocess
import time

import pytest
from launching import HERE, command, environment, msrun

pytestmark = pytest.mark.timeout(300)  # processes are started and compile; on a busy machine that takes a while


def processes_of(text):
    return [int(number) for number in re.findall(r"process (\d+)", text)]


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def assert_nobody_is_left(text):
    started = processes_of(text)
    assert len(started) == 2
    deadline = time.monotonic() + 10
    while any(map(is_alive, started)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_alive, started))


@pytest.mark.parametrize(
    "how, words",
    [
        ("kill", ["rank 1 ends: rank 0 was lost", "worker 0 was ended by signal SIGKILL", "It waited in", "AllReduce (sum float32[3])"]),
        pytest.param("raise", ["a mistake of the program's", "rank 1 ends: rank 0 was lost"], marks=pytest.mark.slow),
        ("exit", ["rank 1 has waited", "rank 0 has left its program", "AllReduce (sum float32[3])"]),
        ("order", ["different collectives", "rank 0: AllGather", "rank 1: the graph"]),
        pytest.param("graph", ["different collectives", "AllGather", "AllReduce (sum float32[3])"], marks=pytest.mark.slow),
        pytest.param("shape", ["different collectives", "float32[4]", "AllReduce (sum float32[3])"], marks=pytest.mark.slow),
        pytest.param("cut", ["rank 0 ends: the scheduler was lost", "rank 1 ends: rank 0 was lost"], marks=pytest.mark.slow),
    ],
)
def test_a_run_ends_with_the_reason(tmp_path, how, words):
    done = msrun(HERE / "fault_worker.py", how, folder=tmp_path)
    text = done.stdout + done.stderr
    assert done.returncode not in (0, 124)
    for word in words:
        assert word in text, text
    assert_nobody_is_left(text)


def test_a_full_disk_while_saving(tmp_path):
    done = msrun(HERE / "fault_worker.py", "disk", tmp_path / "state", folder=tmp_path)
    text = done.stdout + done.stderr
    assert done.returncode not in (0, 124)
    assert "File too large" in text and "step_1" in text and "rank 0 was lost" in text, text
    assert not list((tmp_path / "state").rglob("manifest.json"))
    assert not list((tmp_path / "state").rglob(".rank_0.*.part"))  # the other process is ended, perhaps while it writes
    assert_nobody_is_left(text)


@pytest.mark.parametrize("how", ["stop", pytest.param("sleep", marks=pytest.mark.slow)])
def test_a_process_that_hangs_is_given_up(tmp_path, how):
    done = msrun(HERE / "fault_worker.py", how, folder=tmp_path, MS_NODE_TIMEOUT=3)
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert "rank 1 has waited 3 s in" in text or "rank 0 has given no sign of life" in text, text
    assert "fault_worker.py:" in text
    assert_nobody_is_left(text)


def test_a_process_that_stops_after_all_others_have_ended_is_given_up(tmp_path):
    done = msrun(HERE / "stopped_worker.py", folder=tmp_path, timeout=100, MS_NODE_TIMEOUT=1)
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert "worker 1 has been stopped for 1 s" in text, text
    assert_nobody_is_left(text)


@pytest.mark.slow
def test_ending_msrun_ends_its_processes(tmp_path):
    line = command(HERE / "fault_worker.py", "sleep", folder=tmp_path)
    for number in (signal.SIGTERM, signal.SIGKILL):
        launcher = subprocess.Popen(line, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        text = ""
        while len(processes_of(text)) < 2:
            piece = launcher.stdout.readline()
            assert piece, text
            text += piece
        os.kill(launcher.pid, number)
        launcher.wait(timeout=20)
        assert_nobody_is_left(text)
        launcher.stdout.close()


def weights(text):
    return dict(re.findall(r"weights of rank (\d): (\w+)", text))


def test_a_run_that_lost_a_process_goes_on_to_the_same_bits(tmp_path):
    whole = msrun(HERE / "resume_worker.py", tmp_path / "a", 9, 0, folder=tmp_path / "logs")
    assert whole.returncode == 0, whole.stdout + whole.stderr
    again = msrun(
        HERE / "resume_worker.py", tmp_path / "b", 1, 18, folder=tmp_path / "logs", options=["--max_restarts=2"]
    )
    text = again.stdout + again.stderr
    assert again.returncode == 0, text
    assert "worker 1 was ended by signal SIGKILL" in text and "starting all processes again" in text
    assert weights(text) == weights(whole.stdout)
    assert len(set(weights(text).values())) == 1 and len(weights(text)) == 2
    log = (tmp_path / "logs" / "scheduler.log").read_text()
    assert "attempt 1" in log
    assert_survivors_store_the_newest_step(tmp_path, 1, weights(text))


def assert_survivors_store_the_newest_step(folder, victim, expected, **variables):
    """No checkpoint is due before the loss: what the run goes on from is what those have stored that were left."""
    last = msrun(
        HERE / "resume_worker.py", folder / "c", victim, 18, 1000, folder=folder / "logs", options=["--max_restarts=2"], **variables
    )
    text = last.stdout + last.stderr
    assert last.returncode == 0, text
    assert re.search(r"stored step 1[78], the last one that is complete", text) and "starting all processes again" in text, text
    assert weights(text) == expected
    assert not list((folder / "c").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_survivors_on_xla_store_the_newest_step(tmp_path, victim):
    """That of rank 0, too: XLA's coordination service is in no worker."""
    variables = {"MS_TRANSPORT": "xla", "MS_DEV_BACKEND": "xla"}
    whole = msrun(HERE / "resume_worker.py", tmp_path / "a", 9, 0, folder=tmp_path / "logs", **variables)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    assert_survivors_store_the_newest_step(tmp_path, victim, weights(whole.stdout), **variables)


def test_another_number_of_processes_goes_on(tmp_path):
    """Four processes are lost, two go on, four finish: the weights of each step are those of one process, but for rounding."""
    reference = tmp_path / "one"
    numbers = []
    for processes, until, state in ((1, 30, reference), (4, 12, tmp_path / "e"), (2, 20, tmp_path / "e"), (4, 30, tmp_path / "e")):
        done = msrun(HERE / "elastic_worker.py", state, until, processes=processes, folder=tmp_path / "logs")
        text = done.stdout + done.stderr
        if until < 30:
            assert done.returncode != 0 and "SIGKILL" in text
        else:
            assert done.returncode == 0, text
        numbers.append([line.split(":")[1].split() for line in text.splitlines() if "steps and weights" in line])
    assert [found[0][0] for found in numbers if found] == ["30", "14"]  # the last four processes begin behind step 16
    ends = [[float(x) for x in found[0][1:]] for found in numbers if found]
    assert ends[0] == pytest.approx(ends[1], rel=1e-5, abs=1e-6)
    assert not list((tmp_path / "e").rglob("*.ckpt"))


@pytest.mark.slow
def test_without_restarts_left_a_run_fails(tmp_path):
    done = msrun(HERE / "fault_worker.py", "kill", folder=tmp_path, options=["--max_restarts=1"])
    text = done.stdout + done.stderr
    assert done.returncode == 128 + signal.SIGKILL
    assert "no restarts are left" in text and len(processes_of(text)) == 4
