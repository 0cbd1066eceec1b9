"""The command line, parse_summary, the notebook, the tuner."""

import csv
import json
import math
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import event_writer as w

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("orjson")
pytest.importorskip("google_crc32c")
pytest.importorskip("yaml")
import yaml
from sample_runs import PNG, build

from mindinsight import cli, notebook
from mindinsight.optimizer.config import ConfigError, Parameter, read
from mindinsight.optimizer.hyper_config import HyperConfig, HyperConfigEnvError
from mindinsight.optimizer.search import propose
from mindinsight.optimizer.study import Study
from mindinsight.parse_summary import parse_summary


def run(*arguments, **environment):
    command = [sys.executable, "-m", "mindinsight", *arguments]
    surroundings = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    return subprocess.run(command, capture_output=True, text=True, env=surroundings, timeout=100)


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_start_and_stop_say_what_the_official_command_says(tmp_path):
    port = free_port()
    build(tmp_path / "runs")
    folders = ["--workspace", str(tmp_path / "work"), "--summary-base-dir", str(tmp_path / "runs")]
    started = run("start", "--port", port, *folders, XDG_CACHE_HOME=str(tmp_path))
    try:
        said = started.stdout.splitlines()
        assert said[0] == f"Workspace: {tmp_path / 'work'}" and said[1] == f"Summary base dir: {tmp_path / 'runs'}"
        assert said[2:] == [f"Web address: http://127.0.0.1:{port}", "service start state: success"] and started.returncode == 0
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/mindinsight/datavisual/train-jobs") as reply:
            assert json.load(reply)["total"] == 3
        again = run("start", "--port", port, "--workspace", str(tmp_path / "work"), XDG_CACHE_HOME=str(tmp_path))
        assert again.returncode == 1 and f"Port {port}" in again.stderr
    finally:
        stopped = run("stop", "--port", port, XDG_CACHE_HOME=str(tmp_path))
    assert stopped.stdout == "Stop mindinsight service successfully\n"
    gone = run("stop", "--port", port, XDG_CACHE_HOME=str(tmp_path))
    assert gone.stdout == f"No mindinsight service started by current user found for port {port}\n" and gone.returncode == 1


def test_two_servers_over_one_folder_show_the_same(tmp_path):
    for run_name in ("a", "b", "c"):
        points = (w.event(1.7e9 + s, s, w.board_scalar("loss", 1.0 / s)) for s in range(1, 2001))
        w.write(tmp_path / "runs" / run_name / "events.summary.1.h", *points)
    folders = ["--workspace", str(tmp_path / "work"), "--summary-base-dir", str(tmp_path / "runs")]
    ports = [free_port(), free_port()]

    def steps(port, name):
        query = f"train_id=./{name}&tag=loss"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/mindinsight/datavisual/scalar/metadata?{query}") as reply:
            return [point["step"] for point in json.load(reply)["metadatas"]]

    try:
        assert all(run("start", "--port", port, *folders, XDG_CACHE_HOME=str(tmp_path)).returncode == 0 for port in ports)
        for name in ("a", "b", "c"):
            assert steps(ports[0], name) == steps(ports[1], name) == list(range(1, 2001))
        with open(tmp_path / "runs" / "a" / "events.summary.1.h", "ab") as file:
            file.write(w.record(w.event(1.8e9, 2001, w.board_scalar("loss", 0.0))))
        wait_until(lambda: all(steps(port, "a") == list(range(1, 2002)) for port in ports))
    finally:
        for port in ports:
            run("stop", "--port", port, XDG_CACHE_HOME=str(tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [["--port", "0"], ["--port", "x"], ["--reload-interval", "301"], ["--url-path-prefix", "/a/../b"], ["--enable-debugger", "maybe"],
     ["--offline-debugger-mem-limit", "1"], ["--max-offline-debugger-session-num", "3"]],
)  # fmt: skip
def test_wrong_options_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["start", *arguments])
    assert stopped.value.code == 2 and arguments[0] in capsys.readouterr().err


def test_parse_summary(tmp_path, capsys):
    tags = ["loss", "../../evil"]
    lines = [w.event(1.7e9, s, w.own_scalar("loss", s / 2), *(w.image(tag, PNG) for tag in tags)) for s in range(1, 4)]
    w.write(tmp_path / "run" / "events.out.events.summary.1.host_MS", *lines)
    assert parse_summary(tmp_path / "run", tmp_path) == 0
    (output,) = tmp_path.glob("output_*")
    rows = list(csv.reader((output / "scalar.csv").open()))
    assert rows == [["tag", "step", "value"], ["loss", "1", "0.5"], ["loss", "2", "1.0"], ["loss", "3", "1.5"]]
    assert len(list((output / "image").iterdir())) == 6 and (output / "image" / "loss_1.png").read_bytes() == PNG
    assert not list(tmp_path.parent.glob("evil*"))
    assert parse_summary(tmp_path / "nothing", tmp_path) == 1 and "no summary file" in capsys.readouterr().err


def test_notebook(tmp_path):
    build(tmp_path)
    board = notebook.start(tmp_path, "graph")
    try:
        assert "/#/graph" in board._repr_html_() and board._repr_html_().startswith("<iframe")
        assert notebook.start(tmp_path).process is board.process
        with urllib.request.urlopen(board.address.partition("#")[0]) as reply:
            assert b"MindInsight" in reply.read()
    finally:
        board.stop()
    with pytest.raises(ValueError, match="page"):
        notebook.start(tmp_path, "nothing")


# ---------------------------------------------------------------------------------------------------------------------
# The tuner

SCRIPT = """
import sys
sys.path[:0] = {path!r}
import event_writer as w
from pathlib import Path
from mindinsight.optimizer.hyper_config import HyperConfig
config = HyperConfig()
x, n = config.params.x, config.params["n"]
if x > 0.9: sys.exit(3)
loss = (x - 0.3) ** 2 + (n - 4) ** 2 / 50
folder = Path(config.summary_dir)
w.write(folder / "events.summary.1.h", *(w.event(1.7e9, s, w.board_scalar("loss", loss + 1 / s)) for s in range(1, 30)))
w.write(folder / "events.summary.1.h_lineage", w.message((1, 1.7e9), (6, w.message((3, w.message((2, (loss,))))))))
"""


def search(tmp_path, **changes):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(path=[str(Path(__file__).parent), *sys.path]))
    config = {
        "command": f"{sys.executable} {script}", "summary_base_dir": str(tmp_path / "runs"),
        "tuner": {"name": "gp", "args": {"method": "ei"}},
        "target": {"group": "system_defined", "name": "loss", "goal": "minimize"},
        "parameters": {"x": {"bounds": [0.0, 1.0], "type": "float"}, "n": {"choice": [2, 4, 8]}},
    } | changes  # fmt: skip
    path = tmp_path / "search.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def test_a_search_runs_resumes_and_keeps_what_failed(tmp_path):
    path, said = search(tmp_path, parallel=2), []
    Study(read(path), "s", said.append).run(4)
    assert len(said) == 4
    study = Study(read(path), "s", said.append)
    assert [trial["number"] for trial in study.trials] == [1, 2, 3, 4]
    study.trials.append({"number": 5, "state": "running", "parameters": {"x": 0.5, "n": 4}, "value": None, "folder": "x", "seconds": 0})
    study.save()  # as if it had been killed now
    study = Study(read(path), "s", said.append)
    assert len(study.trials) == 4
    study.run(2)
    done = json.loads((tmp_path / "runs" / "study_s" / "study.json").read_text())["trials"]
    assert len(done) == 6 and all(trial["state"] in ("done", "failed") for trial in done)
    for trial in done:
        x, n = trial["parameters"]["x"], trial["parameters"]["n"]
        assert n in (2, 4, 8) and 0 <= x < 1
        expected = None if x > 0.9 else (x - 0.3) ** 2 + (n - 4) ** 2 / 50
        assert trial["value"] == (None if expected is None else pytest.approx(expected, rel=1e-5))


def test_a_killed_search_goes_on_and_leaves_no_training_behind(tmp_path):
    path = search(tmp_path, parallel=2, parameters={"x": {"bounds": [0.0, 0.9], "type": "float"}, "n": {"choice": [2, 4, 8]}})
    script = tmp_path / "train.py"
    slow = "import os, time\nopen(os.path.join({!r}, str(os.getpid())), 'w').close()\n".format(str(tmp_path / "pids"))
    (tmp_path / "pids").mkdir()
    script.write_text(slow + script.read_text() + "\ntime.sleep(0.3 if config.params.x < 0.45 else 60)\n")
    command = [sys.executable, "-m", "mindinsight.optimizer.cli", "--config", str(path), "--iter", "50"]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, stdout=subprocess.DEVNULL)
    file = tmp_path / "runs" / "study_search" / "study.json"

    def trials():
        return json.loads(file.read_text())["trials"] if file.exists() else []

    wait_until(lambda: len(list((tmp_path / "pids").iterdir())) >= 2 and len(trials()) >= 2)
    process.kill()
    process.wait()
    wait_until(lambda: not any(is_running(int(pid.name)) for pid in (tmp_path / "pids").iterdir()))
    done = [trial for trial in trials() if trial["state"] != "running"]
    script.write_text(SCRIPT.format(path=[str(Path(__file__).parent), *sys.path]))
    study = Study(read(path), "search", lambda line: None)
    assert study.trials == done
    study.run(2)
    assert len(trials()) == len(done) + 2 and trials()[: len(done)] == done


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(there, seconds=90):
    until = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


@pytest.mark.parametrize(("tuner", "method"), [("gp", "ucb"), ("gp", "pi"), ("gp", "ei"), ("tpe", "ucb")])
def test_searches_find_the_top_of_a_hill(tmp_path, tuner, method):
    parameters = {"a": {"bounds": [0, 1], "type": "float"}, "b": {"bounds": [1e-4, 1], "type": "float"}}
    config = read(search(tmp_path, tuner={"name": tuner, "args": {"method": method}}, parameters=parameters))
    places, values = np.empty((0, 2)), np.empty(0)
    for trial in range(30):
        place = propose(config, places, values, np.empty((0, 2)), np.random.default_rng(trial))
        places = np.concatenate((places, place[None]))
        values = np.append(values, -((place[0] - 0.7) ** 2) - (place[1] - 0.2) ** 2)
    assert values.max() > -0.01
    assert np.linalg.norm(propose(config, places, values, places[-1:], np.random.default_rng(99)) - places[-1]) > 1e-6


def test_poor_trials_are_stopped_early(tmp_path):
    script = "import time\n" + SCRIPT.split("w.write(folder")[0] + """
handle = open(folder / "events.summary.1.h", "ab", buffering=0)
for s in range(1, 400):
    handle.write(w.record(w.event(1.7e9 + s, s, w.board_scalar("loss", loss))))
    time.sleep(0.02 if loss > 0.02 else 0)
"""
    path = search(tmp_path, early_stopping={"name": "successive_halving", "args": {"tag": "loss", "min_step": 5, "reduction": 2}},
                  target={"group": "scalar", "name": "loss", "goal": "minimize"}, tuner={"name": "random"}, parallel=1,
                  parameters={"x": {"bounds": [0.0, 0.9], "type": "float"}, "n": {"choice": [4, 40]}})  # fmt: skip
    (tmp_path / "train.py").write_text(script.format(path=[str(Path(__file__).parent), *sys.path]))
    study = Study(read(path), "s", lambda line: None)
    study.run(6)
    states = {trial["state"] for trial in study.trials}
    assert "stopped early" in states and all(trial["value"] is not None for trial in study.trials)


def test_a_trial_that_was_stopped_has_no_value_of_another_scalar(tmp_path):
    script = "import time\n" + SCRIPT + "\ntime.sleep(60 if config.params.x > 0.5 else 0)\n"
    halving = {"name": "successive_halving", "args": {"tag": "loss", "min_step": 5, "reduction": 2}}
    path = search(tmp_path, early_stopping=halving, parameters={"x": {"choice": [0.3, 0.8]}, "n": {"choice": [4]}})
    (tmp_path / "train.py").write_text(script.format(path=[str(Path(__file__).parent), *sys.path]))
    study = Study(read(path), "s", lambda line: None)
    study._next = iter([{"x": 0.3, "n": 4}, {"x": 0.8, "n": 4}]).__next__
    study.run(1)
    again = Study(read(path), "s", lambda line: None)  # what the first one had reached is known to a search that goes on
    again._next = study._next
    again.run(1)
    assert [(t["state"], t["value"]) for t in again.trials] == [("done", pytest.approx(0.0)), ("stopped early", None)]


@pytest.mark.parametrize(("target", "tag", "goal", "expected"), [
    ({"name": "acc"}, "valid/acc", None, True), ({"name": "acc"}, "train/Loss", None, False), ({"name": "loss"}, "x", None, False),
    ({"name": "loss"}, "acc", "maximize", True),
])  # fmt: skip
def test_trials_are_stopped_by_the_direction_of_the_scalar_looked_at(tmp_path, target, tag, goal, expected):
    arguments = {"tag": tag} | ({"goal": goal} if goal else {})
    config = read(search(tmp_path, target=target, early_stopping={"name": "successive_halving", "args": arguments}))
    assert config.halving.maximize is expected


def test_trials_that_fail_say_why_and_a_search_without_any_value_ends(tmp_path):
    path, said = search(tmp_path, command=f"{sys.executable} -c exit(7)"), []
    with pytest.raises(RuntimeError, match="none of 3 trials gave a value of 'loss'"):
        Study(read(path), "s", said.append).run(50)
    assert len(said) == 3 and all("exit status 7" in line for line in said)
    Study(read(search(tmp_path, target={"name": "acc"}, summary_base_dir=str(tmp_path / "others"),
                      parameters={"x": {"choice": [0.5]}, "n": {"choice": [4]}})), "s", said.append).run(1)  # fmt: skip
    assert "no metric 'acc' was recorded in" in said[-1] and "recorded: none" in said[-1]


def test_parameters_map_to_the_unit_interval_and_back():
    some = Parameter("a", 1e-5, 1.0), Parameter("b", -2.0, 3.0), Parameter("c", 1, 9, whole=True), Parameter("d", choices=(3, 1, 7))
    for parameter in some:
        for share in np.linspace(0, 0.999, 40):
            value = parameter.value(float(share))
            assert math.isclose(parameter.value(parameter.place(value)), value, rel_tol=1e-9, abs_tol=1e-12)
            assert value in parameter.choices if parameter.choices else parameter.low <= value < parameter.high


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"command": ""}, "'command'"),
        ({"tuner": {"name": "magic"}}, "gp, tpe or random"),
        ({"tuner": {"name": "gp", "args": {"method": "x"}}}, "ucb, pi or ei"),
        ({"target": {"name": "loss", "goal": "up"}}, "minimize or maximize"),
        ({"parameters": {}}, "at least one"),
        ({"parameters": {"x": {"bounds": [1, 0], "type": "float"}}}, "the lower one first"),
        ({"parameters": {"x": {"bounds": [0, 1]}}}, "int or float"),
        ({"parameters": {"x": {"bounds": [0.1, 0.9], "type": "int"}}}, "no whole number"),
        ({"parameters": {"x": {"choice": []}}}, "at least one"),
        ({"parallel": 0}, "'parallel'"),
        ({"early_stopping": {"name": "successive_halving", "args": {"tag": "a", "goal": "up"}}}, "minimize or maximize"),
        ({"nonsense": 1}, "not known"),
    ],
)
def test_wrong_configurations_say_what_to_change(tmp_path, changes, words):
    with pytest.raises(ConfigError, match=words):
        read(search(tmp_path, **changes))


def test_yaml_executes_nothing(tmp_path):
    path = tmp_path / "evil.yaml"
    path.write_text(f"command: !!python/object/apply:os.system ['touch {tmp_path}/pwned']")
    with pytest.raises(ConfigError, match="no YAML"):
        read(path)
    assert not (tmp_path / "pwned").exists()


def test_hyper_config_outside_a_search(monkeypatch):
    monkeypatch.delenv("MINDINSIGHT_HYPER_CONFIG", raising=False)
    with pytest.raises(HyperConfigEnvError, match="mindoptimizer"):
        HyperConfig()
