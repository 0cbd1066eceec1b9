"""A study: trials that were run and that run, kept in one file, so that a search that was killed goes on.

The file is written whole and moved into place after each change. A trial that was running when the search died is
started again with the same hyper-parameters; its old folder is left alone.
"""

from __future__ import annotations

import ctypes
import functools
import json
import math
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.events.bulk import Decoder
from mindinsight.events.lineage import read_folder
from mindinsight.events.reader import read
from mindinsight.optimizer.config import Config, Halving
from mindinsight.optimizer.hyper_config import ENVIRONMENT
from mindinsight.optimizer.search import propose

_PR_SET_PDEATHSIG = 1
_LOOK = 0.5
#: a search none of whose first trials gave a value ends: its command or its target is wrong
_FAILURES = 3


class Study:
    """The trials of a configuration."""

    def __init__(self, config: Config, name: str, report: Callable[[str], None] = print) -> None:
        self.config = config
        self.name = name
        self.folder = config.summary_base_dir / f"study_{name}"
        self.report = report
        self.trials: list[dict[str, Any]] = self._load()

    @property
    def _file(self) -> Path:
        return self.folder / "study.json"

    def _load(self) -> list[dict[str, Any]]:
        try:
            found = json.loads(self._file.read_text())
        except FileNotFoundError:
            return []
        except ValueError:
            raise RuntimeError(f"{self._file} is damaged; move it away to begin anew.") from None
        if set(found["parameters"]) != {p.name for p in self.config.parameters} or found["target"] != self.config.target:
            raise RuntimeError(f"{self._file} is a study of other parameters; choose another summary_base_dir or move it away.")
        return [trial for trial in found["trials"] if trial["state"] != "running"]

    def save(self) -> None:
        """Write the file."""
        config = self.config
        method = f"{config.tuner} ({config.method})" if config.tuner == "gp" else config.tuner
        about = {"name": self.name, "method": method, "target": config.target, "goal": "maximize" if config.maximize else "minimize",
                 "parameters": {p.name: None for p in config.parameters}, "trials": self.trials}  # fmt: skip
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps(about, indent=1))
        os.replace(part, self._file)

    def best(self) -> dict[str, Any] | None:
        """The best trial so far."""
        done = [t for t in self.trials if t["value"] is not None]
        return max(done, key=lambda t: t["value"] if self.config.maximize else -t["value"], default=None)

    # -----------------------------------------------------------------------------------------------------------------

    def _next(self) -> dict[str, float]:
        config = self.config
        sign = 1.0 if config.maximize else -1.0

        def places(trials: list[dict[str, Any]]) -> np.ndarray[Any, np.dtype[np.float64]]:
            rows = [[p.place(t["parameters"][p.name]) for p in config.parameters] for t in trials]
            return np.array(rows, np.float64).reshape(-1, len(config.parameters))

        done = [t for t in self.trials if t["state"] != "running"]
        values = np.array([math.nan if t["value"] is None else sign * t["value"] for t in done], np.float64)
        rng = np.random.default_rng((config.seed, len(self.trials)))
        place = propose(config, places(done), values, places([t for t in self.trials if t["state"] == "running"]), rng)
        return {p.name: p.value(float(share)) for p, share in zip(config.parameters, place)}

    def _start(self) -> Trial:
        parameters = self._next()
        number = len(self.trials) + 1
        folder = self.config.summary_base_dir / f"train_{uuid.uuid4().hex[:12]}"
        entry = {"number": number, "state": "running", "parameters": parameters, "value": None, "folder": folder.name, "seconds": 0.0}
        self.trials.append(entry)
        self.save()
        return Trial(self.config, entry, folder)

    def run(self, count: int) -> int:
        """Run `count` more trials; how many failed."""
        running: list[Trial] = []
        failed, begun = 0, 0
        halving, rungs = self.config.halving, self._rungs()
        try:
            while running or (begun < count and (failed < _FAILURES or self.best())):
                while begun < count and len(running) < self.config.parallel and (failed < _FAILURES or self.best()):
                    running.append(self._start())
                    begun += 1
                for trial in list(running):
                    finished = trial.finished()
                    behind = halving is not None and trial.falls_behind(halving, rungs)
                    if not finished:
                        if behind:
                            trial.stop()
                        continue
                    running.remove(trial)
                    failed += trial.conclude()
                    self.save()
                    self._tell(trial.entry, trial.reason())
                if running:
                    time.sleep(_LOOK / 5)
        except BaseException:
            for trial in running:
                trial.stop()
            raise
        if begun < count:
            raise RuntimeError(f"none of {begun} trials gave a value of {self.config.target!r}: the search ends here. Run the command by "
                               "itself to see why; it records to the 'summary_dir' that HyperConfig names.")  # fmt: skip
        return failed

    def _rungs(self) -> dict[int, list[float]]:
        """How far trials had come at the steps where early stopping compares them; larger is better."""
        halving = self.config.halving
        found: dict[int, list[float]] = {}
        if halving is None:
            return found
        for trial in self.trials:
            for name in (name for name in trial if name.startswith("rung_")):
                found.setdefault(int(name.removeprefix("rung_")), []).append(halving.signed(trial[name]))
        return found

    def _tell(self, entry: dict[str, Any], reason: str) -> None:
        shown = ", ".join(f"{name}={value:.6g}" for name, value in entry["parameters"].items())
        state = f"{entry['state']} ({reason})" if reason else entry["state"]
        result = state if entry["value"] is None else f"{self.config.target} {entry['value']:.6g}"
        self.report(f"trial {entry['number']}: {shown}: {result}")


def _ending_with_us() -> Callable[[], object] | None:
    """What a child does before it begins, so that it is ended with this process, even by `kill -9`: a search that goes on later runs
    the trial again, and two trainings would write to one folder of runs. None where the system has no such thing."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl  # looked up here: a child between fork and exec should do as little as possible
    return functools.partial(prctl, _PR_SET_PDEATHSIG, int(signal.SIGTERM))


class Trial:
    """One run of the command."""

    def __init__(self, config: Config, entry: dict[str, Any], folder: Path) -> None:
        self.config, self.entry, self.folder = config, entry, folder
        self._begun = time.time()
        self._decoder = Decoder()
        self._position: dict[str, int] = {}
        self._seen: dict[int, float] = {}
        self._stopped = False
        custom = {p.name: entry["parameters"][p.name] for p in config.parameters if p.user_defined}
        handed = {"summary_dir": str(folder), "params": entry["parameters"], "custom_lineage_data": custom}
        folder.mkdir(parents=True, exist_ok=True)
        surroundings = os.environ | {ENVIRONMENT: json.dumps(handed)}
        self._process = subprocess.Popen(config.command, env=surroundings, stdin=subprocess.DEVNULL, preexec_fn=_ending_with_us())

    def finished(self) -> bool:
        """Whether the command has ended."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the command."""
        self._stopped = True
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()

    def conclude(self) -> bool:
        """Note what came out; True if nothing did."""
        value = self._result()
        self.entry["value"] = value
        self.entry["seconds"] = time.time() - self._begun
        if self._stopped:
            self.entry["state"] = "stopped early"
        else:
            self.entry["state"] = "done" if self._process.returncode == 0 and value is not None else "failed"
        return bool(self.entry["state"] == "failed")

    def reason(self) -> str:
        """Why a trial failed; empty for others."""
        if self.entry["state"] != "failed":
            return ""
        code = self._process.returncode
        if code:
            return f"the command ended with exit status {code}" if code > 0 else f"the command was ended by signal {-code}"
        if self.config.group == "metric":
            known = ", ".join(sorted(read_folder(self.folder).model["metric"])) or "none"
            return f"no metric {self.config.target!r} was recorded in {self.folder}; recorded: {known}"
        return f"no {self.config.target!r} was recorded in {self.folder}"

    def _result(self) -> float | None:
        config = self.config
        if config.group == "scalar":
            if config.halving and config.halving.tag != config.target:  # so far the other tag was read
                self._seen, self._position = {}, {}
            self._read(config.target)
            value: Any = self._seen[max(self._seen)] if self._seen else None
        elif self._stopped:
            return None  # the target is recorded when a training ends, and nothing else can be compared with it
        else:
            model = read_folder(self.folder).model
            value = model["loss"] if config.group == "system_defined" else model["metric"].get(config.target)
        return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None

    # -----------------------------------------------------------------------------------------------------------------
    # Early stopping

    def _read(self, tag: str) -> None:
        for path in sorted(self.folder.glob("*")):
            if "summary." not in path.name and "tfevents" not in path.name:
                continue
            handle = os.open(path, os.O_RDONLY)
            try:
                for stretch in read(handle, self._position.get(path.name, 0), self._decoder):
                    self._position[path.name] = stretch.end
                    if tag in stretch.batch.series:
                        columns = stretch.batch.series[tag]
                        self._seen.update(zip(columns.steps.tolist(), columns.values.tolist()))
            finally:
                os.close(handle)

    def falls_behind(self, halving: Halving, rungs: dict[int, list[float]]) -> bool:
        """Whether this trial is worse than most that came as far (Li et al., ASHA, 2018)."""
        self._read(halving.tag)
        step, behind = halving.min_step, False
        while self._seen and max(self._seen) >= step:
            key = f"rung_{step}"
            if key not in self.entry:
                value = next(v for s, v in sorted(self._seen.items()) if s >= step)
                self.entry[key] = value
                others = rungs.setdefault(step, [])
                others.append(halving.signed(value))
                keep = sorted(others, reverse=True)[max(0, len(others) // halving.reduction - 1)]
                behind = len(others) >= halving.reduction and others[-1] < keep
                if behind:
                    return True
            step *= halving.reduction
        return False
