"""Log messages, in processes of their own because the environment is read once."""

import os
import re
import subprocess
import sys

import pytest

SCRIPT = """
from mindspore import log as logger
logger.debug("d %d", 0)
logger.info("i %d", 1)
logger.warning("w %d", 2)
logger.error("e")
print(logger.get_level(), sorted(logger.get_log_config()))
"""


def run(script=SCRIPT, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GLOG", "logger_", "RANK_ID"))}
    return subprocess.run(
        [sys.executable, "-c", script], env={**clean, **environment}, capture_output=True, text=True, timeout=60
    )


def test_warnings_and_errors_by_default():
    done = run()
    lines = done.stderr.splitlines()
    assert [line.split("]")[0] for line in lines] == ["[WARNING", "[ERROR"]
    form = r"\[WARNING\] ME\(\d+:\d+,MainProcess\):\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} \[<string>:5\] w 2"
    assert re.fullmatch(form, lines[0])
    assert done.stdout == "2 ['GLOG_logtostderr', 'GLOG_v']\n"


@pytest.mark.parametrize("level, count", [("0", 4), ("1", 3), ("3", 1), ("4", 0)])
def test_the_level_is_an_environment_variable(level, count):
    done = run(GLOG_v=level)
    assert len(done.stderr.splitlines()) == count
    assert done.stdout.startswith(level)


def test_files_and_what_is_echoed(tmp_path):
    done = run(GLOG_logtostderr="0", GLOG_log_dir=str(tmp_path), GLOG_stderrthreshold="3", RANK_ID="5")
    assert [line.split("]")[0] for line in done.stderr.splitlines()] == ["[ERROR"]
    (file,) = (tmp_path / "rank_5" / "logs").iterdir()
    assert re.fullmatch(r"mindspore\.log\.\d+", file.name)
    assert [line.split("]")[0] for line in file.read_text().splitlines()] == ["[WARNING", "[ERROR"]


@pytest.mark.parametrize(
    "environment, words",
    [
        ({"GLOG_v": "7"}, "Incorrect log level"),
        ({"GLOG_logtostderr": "0"}, "GLOG_log_dir"),
        ({"GLOG_logtostderr": "2"}, "must be 0 or 1"),
        ({"GLOG_logtostderr": "0", "GLOG_log_dir": ".", "logger_maxBytes": "x"}, "whole number"),
    ],
)
def test_wrong_settings_are_named(environment, words, tmp_path):
    done = run(**environment)
    assert done.returncode == 1 and words in done.stderr.splitlines()[-1]


def test_log_action_once_shows_warnings_of_the_first_call_only():
    from mindspore.log import _LogActionOnce

    class Logger:
        shown = []

        def warning(self, text):
            self.shown.append(text)

    logger = Logger()

    @_LogActionOnce(logger, "test_log_action_once")
    def act(n):
        logger.warning(f"call {n}")
        return n

    assert [act(1), act(2)] == [1, 2]
    assert logger.shown == ["call 1"]


def test_compilations_are_told_where_asked_for(monkeypatch, capfd):
    import mindspore as ms

    for wanted, told in (("", False), ("1", True), ("(2,9)", False), ("(0,9)", True)):
        monkeypatch.setenv("VLOG_v", wanted)
        ms.jit(lambda x: x + 1)(ms.Tensor([1.0]))
        shown = capfd.readouterr().err
        assert ("Start compiling" in shown) is told and ("End compiling" in shown) is told
