"""`record` keeps the last steps of a training; `Replay` runs any of them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mindspore.debug.eager_steps import CellSteps
from mindspore.debug.runners import runner_of
from mindspore.prims.active import ACTIVE
from mindspore.runtime import context
from mindspore.runtime.replay import ring
from mindspore.runtime.replay.record import Recorder
from mindspore.runtime.replay.ring import RingError


def record(path: str, keep: int = 5) -> Recorder:
    """Keep what is needed to run the last `keep` steps (at least) again, from now on.

    Steps are compiled ones, and in PyNative mode calls of Cells that have an optimizer within (`nn.TrainOneStepCell`, `Model.train`) and
    of `debug.Step`; their arguments are tensors.

    Args:
        path: a folder. Its files hold the inputs of each step and now and then (every `keep` steps, or less often where writing takes
            more than a twentieth of the time) all Parameters and random states: at most five times the size of these.
        keep: how many of the last steps can be run again.

    Returns:
        Recorder. It ends with its `with` block, or with `stop_recording()`.

    Examples:
        >>> import tempfile
        >>> from mindspore import debug
        >>> with debug.record(tempfile.mkdtemp(), keep=3) as recorder:
        ...     pass
        >>> recorder.step
        0
    """
    if not isinstance(keep, int) or isinstance(keep, bool) or keep < 1:
        raise ValueError(f"For 'record', 'keep' must be an int of at least 1, but got {keep!r}.")
    recorder = Recorder(path, keep, stop_recording)
    _set(recorder)
    ACTIVE.steps = CellSteps(recorder)
    return recorder


def stop_recording() -> None:
    """End what `record` began, when all of it is written.

    Examples:
        >>> from mindspore import debug
        >>> debug.stop_recording()
    """
    recorder = context.current().recorder
    _set(None)
    ACTIVE.steps = None
    if recorder is not None:
        recorder.close()


def _set(recorder: Recorder | None) -> None:
    here = context.current()
    here.sections["replay"] = {"current": recorder}
    here.settle()


class Replayed(NamedTuple):
    """A step that was run again."""

    step: int
    results: list[np.ndarray]  #: what the step returned
    state: dict[str, np.ndarray]  #: Parameters and random states after it
    tensors: dict[str, np.ndarray]  #: what was asked for, by full name, in the order of execution
    as_recorded: bool | None  #: whether results are, bit by bit, those of the training; None where they were not kept


class Difference(NamedTuple):
    """The first tensor in which two trainings differ."""

    step: int
    name: str
    largest: float  #: the largest difference of two elements, infinite where only one is finite


class Replay:
    """The steps that `record` has kept.

    Args:
        path: the folder.
        train_step: the network, jitted function or `debug.Step` whose calls were recorded, made anew in the same way; it is called
            with tensors alone.

    Examples:
        >>> import tempfile
        >>> from mindspore import debug
        >>> net = nn.Dense(2, 1)
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
        >>> folder, x, y = tempfile.mkdtemp(), ops.ones((4, 2)), ops.zeros((4, 1))
        >>> before = ms.get_context("mode")
        >>> ms.set_context(mode=ms.GRAPH_MODE)
        >>> with debug.record(folder):
        ...     losses = [step(x, y) for _ in range(3)]
        >>> replay = debug.Replay(folder, step)
        >>> replay.steps
        [0, 1, 2]
        >>> bool(replay.run(1).results[0] == losses[1].asnumpy())
        True
        >>> ms.set_context(mode=before)
    """

    def __init__(self, path: str, train_step: Callable):
        self.folder = Path(path)
        if not self.folder.is_dir():
            raise RingError(f"{path} is no folder of recorded steps.")
        self._step = train_step

    @property
    def steps(self) -> list[int]:
        """The steps that can be run again."""
        found: list[int] = []
        previous = None
        for step in ring.steps_of(self.folder):
            try:
                whole = ring.read(self.folder, step).whole
            except RingError:
                previous = None
                continue
            if whole or previous == step - 1:
                found.append(step)
                previous = step
        return found

    def inputs(self, step: int) -> list[np.ndarray]:
        """What a step was called with."""
        return ring.read(self.folder, step).arguments

    def run(self, step: int, tensors: str | None = None) -> Replayed:
        """Run a step again, and give back what it made. Parameters are afterwards as they were before.

        Args:
            step: one of `steps`.
            tensors: a regular expression; the tensors whose full names it is found in are given, too.
        """
        records = self._way_to(step)
        last = records[-1]
        runner = runner_of(self._step, last)
        with runner.borrowed():
            for record in records[:-1]:
                runner.restore(record)
                runner.run(record)
            runner.restore(last)
            found = runner.tensors(last, tensors) if tensors is not None else {}
            results = runner.run(last)
            state = runner.state()
        return Replayed(step, results, state, found, self._is_as_recorded(step, results))

    def _way_to(self, step: int) -> list[ring.StepRecord]:
        """The records from the last one with all states to that of a step."""
        found: list[ring.StepRecord] = []
        for number in range(step, -1, -1):
            found.insert(0, ring.read(self.folder, number))
            if found[0].whole:
                return found
        raise RingError(f"Step {step} cannot be run again: the states it began with are no longer kept.")

    def _is_as_recorded(self, step: int, results: list[np.ndarray]) -> bool | None:
        try:
            kept = ring.read(self.folder, step + 1).results
        except RingError:
            return None
        return None if not kept else len(kept) == len(results) and all(map(_same, kept, results))

    def first_difference(self, other: Replay) -> Difference | None:
        """The first step, and the first tensor of it, in which this training differs from another; None if they are the same.

        Steps are found by bisection: once states differ, they are taken to differ from then on.
        """
        common = sorted(set(self.steps) & set(other.steps))
        low, high = 0, len(common)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._differs(other, common[middle]) else (middle + 1, high)
        if low == len(common):
            return None
        step = common[low]
        return next(self._differences(other, step), None)

    def _differs(self, other: Replay, step: int) -> bool:
        return next(self._differences(other, step), None) is not None

    def _differences(self, other: Replay, step: int) -> Iterator[Difference]:
        for number, (a, b) in enumerate(zip(self.inputs(step), other.inputs(step))):
            if not _same(a, b):
                yield Difference(step, f"input {number}", _gap(a, b))
        mine, theirs = self.run(step, ""), other.run(step, "")
        for name, array in mine.tensors.items():
            if name in theirs.tensors and not _same(array, theirs.tensors[name]):
                yield Difference(step, name, _gap(array, theirs.tensors[name]))
        for name, array in mine.state.items():
            if name in theirs.state and not _same(array, theirs.state[name]):
                yield Difference(step, name, _gap(array, theirs.state[name]))


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def _gap(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape != b.shape:
        return np.inf
    apart = np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64))
    return float(apart.max()) if apart.size and np.isfinite(apart).all() else np.inf
