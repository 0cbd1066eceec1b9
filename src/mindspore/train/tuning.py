"""Auto-tuning: measure one's own training step under several settings, keep what is quicker, remember it.

    ms.auto_tune(model, dataset)
    model.train(10, dataset)

One setting after the other is changed (coordinate descent), and each time the present best and the candidate do steps by turns, so that
what else the machine does meets both; a candidate is kept if both its quickest and its middle step are quicker by 3 %. In the end
the result is compared with how things were in the same way, and given up if it is not quicker. Lower precision is considered only if
the losses of some steps agree. Weights, states of optimizers and random numbers are as before when the tuning ends.

What was found is stored beside the compile cache, under a key of everything that it depends on: the parameters' and the data's shapes and
types, the kinds of cells, the CPU and the version. A file appears whole or not at all, so several processes may tune at once.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import context
from mindspore._base import dtype as mstype
from mindspore.backends.cpu import cache, jit, openmp
from mindspore.common.random import get_rng_state, set_rng_state
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.train.amp import auto_mixed_precision
from mindspore.train.model import Model
from mindspore.version import __version__

_BETTER = 0.97  # a candidate must need at most this share of the time
_TURNS, _BATCHES = 5, 4


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is tuned. `threads` 0: as many as there are; `fusion` −1: the default level; `workers` 0: the dataset's default."""

    graph: bool = True
    threads: int = 0
    fusion: int = -1
    precision: str = "float32"
    workers: int = 0

    def named(self, other: Settings) -> str:
        """In what these differ from others."""
        changed = [f.name for f in dataclasses.fields(self) if getattr(self, f.name) != getattr(other, f.name)]
        return ", ".join(f"{name} {getattr(self, name)}" for name in changed) or "as it is"


@dataclasses.dataclass(frozen=True)
class Trial:
    """A line of the report."""

    settings: str
    milliseconds: float
    remark: str


@dataclasses.dataclass(frozen=True)
class Tuning:
    """What came out: the settings, a step's milliseconds before and after, everything that was tried."""

    settings: Settings
    before: float
    after: float
    trials: tuple[Trial, ...] = ()
    stored: bool = False

    def __str__(self) -> str:
        if self.stored:
            return f"auto_tune: found earlier: {self.settings.named(Settings(self.settings.graph))}"
        lines = [f"auto_tune: {self.before:.3f} ms a step as it is"]
        lines += [f"  {t.settings:24} {t.milliseconds:10.3f} ms  {t.remark}" for t in self.trials]
        return "\n".join([*lines, f"auto_tune: {self.after:.3f} ms a step, {100 * (1 - self.after / self.before):.0f} % less"])


def auto_tune(
    model: Model | Cell, dataset: Any, budget: float = 60.0, tolerance: float = 0.02, precision: bool = True, verbose: bool = True
) -> Tuning:
    """Find quicker settings for a training step on its own data, and use them from now on.

    Args:
        model: a Model with an optimizer, or a Cell that takes the columns of a batch and returns a loss.
        dataset: batches, as the step takes them. It is read, not used up.
        budget: seconds after which nothing new is tried.
        tolerance: how far, relative to it, losses may be apart for bfloat16 to be used.
        precision: whether bfloat16 may be used at all.
        verbose: print what was tried.

    Returns:
        what was found. The context and, if it brought something, the model's precision are set accordingly.

    Examples:
        >>> import numpy as np
        >>> from mindspore import dataset as ds, nn, train
        >>> x = np.random.rand(64, 8).astype(np.float32)
        >>> data = ds.NumpySlicesDataset((x, x.sum(1, keepdims=True)), ["x", "y"]).batch(16)
        >>> net = nn.Dense(8, 1)
        >>> model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
        >>> found = train.auto_tune(model, data, budget=5, verbose=False)
        >>> found.after <= found.before
        True
    """
    if not isinstance(model, (Model, Cell)):
        raise TypeError(f"For 'auto_tune', 'model' must be a Model or a Cell, but got {type(model).__name__}.")
    if not isinstance(budget, (int, float)) or isinstance(budget, bool) or budget <= 0:
        raise ValueError(f"For 'auto_tune', 'budget' must be a positive number of seconds, but got {budget!r}.")
    step = model.train_network if isinstance(model, Model) else model
    batches = _some_batches(dataset)
    file = _store() / f"{_key(step, batches)}.json"
    found = _read(file)
    if found is None:
        found = _Search(step, batches, dataset, budget, tolerance, precision).run()
        _write(file, found)
    if verbose:
        print(found, flush=True)
    _use(model, step, found.settings)
    return found


def _some_batches(dataset: Any) -> list[tuple[Tensor, ...]]:
    batches = []
    for batch in dataset.create_tuple_iterator(num_epochs=1):
        batches.append(tuple(batch))
        if len(batches) == _BATCHES:
            break
    if not batches:
        raise ValueError("For 'auto_tune', 'dataset' must have at least one batch.")
    return batches


def _use(model: Model | Cell, step: Cell, settings: Settings) -> None:
    """Let what follows run under the settings."""
    context.set_context(**_context_of(settings))
    if settings.workers:
        ds.config.set_num_parallel_workers(settings.workers)
    if isinstance(model, Model) and settings.precision != "float32":
        model.replace_train_network(auto_mixed_precision(step, "auto", mstype.bfloat16))


def _context_of(settings: Settings) -> dict[str, Any]:
    found: dict[str, Any] = {"mode": context.GRAPH_MODE if settings.graph else context.PYNATIVE_MODE}
    found["runtime_num_threads"] = settings.threads or context.get_context("runtime_num_threads")
    if settings.fusion >= 0:
        found["graph_kernel_flags"] = f"--opt_level={settings.fusion}"
    return found


class _Search:
    def __init__(self, step: Cell, batches: list[tuple[Tensor, ...]], dataset: Any, budget: float, tolerance: float, precision: bool):
        self.forms = {"float32": step}
        if precision:
            self.forms["bfloat16"] = auto_mixed_precision(step, "auto", mstype.bfloat16)
        self.batches, self.dataset, self.tolerance = batches, dataset, tolerance
        self.end = time.perf_counter() + budget
        self.parameters = list(step.get_parameters())
        self.kept = [p.asnumpy().copy() for p in self.parameters]
        self.random = get_rng_state()
        self.trials: list[Trial] = []

    # -- one's own step -----------------------------------------------------------------------------------------------
    def restore(self) -> None:
        for parameter, value in zip(self.parameters, self.kept):
            parameter.set_data(Tensor(value, parameter.dtype))
        set_rng_state(self.random)

    def steps(self, settings: Settings, count: int) -> list[float]:
        """The losses of some steps from the beginning."""
        self.restore()
        form = self.forms[settings.precision]
        with context.local_context(**_context_of(settings)):
            return [float(np.mean(_loss(form(*self.batches[i % len(self.batches)])))) for i in range(count)]

    def timed(self, settings: Settings, seconds: float) -> list[float]:
        """Milliseconds of steps done for about so long."""
        form = self.forms[settings.precision]
        times: list[float] = []
        with context.local_context(**_context_of(settings)):
            end = time.perf_counter() + seconds
            while not times or time.perf_counter() < end:
                begun = time.perf_counter()
                _loss(form(*self.batches[len(times) % len(self.batches)]))
                times.append(1e3 * (time.perf_counter() - begun))
        return times

    def by_turns(self, first: Settings, second: Settings) -> tuple[list[float], list[float]]:
        one = self.timed(first, 0.0)[0] / 1e3
        self.timed(second, 0.0)
        share = min(max(4 * one, 0.02), 1.0)
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(_TURNS):
            times[0].extend(self.timed(first, share))
            times[1].extend(self.timed(second, share))
        return times

    # -- the search ---------------------------------------------------------------------------------------------------
    def run(self) -> Tuning:
        try:
            return self._run()
        finally:
            self.restore()

    def _run(self) -> Tuning:
        begin = Settings(graph=context.get_context("mode") == context.GRAPH_MODE)
        wanted = self.steps(begin, _BATCHES)
        best = begin
        for change in self.changes(begin):
            if time.perf_counter() > self.end:
                self.trials.append(Trial("…", 0.0, "the budget is used up"))
                break
            candidate = dataclasses.replace(best, **change)
            if candidate != best and self.is_better(candidate, best, wanted):
                best = candidate
        best = dataclasses.replace(best, workers=self.workers())
        before, after = self.by_turns(begin, dataclasses.replace(best, workers=0))
        if not _quicker(after, before, 1.0):
            best, after = dataclasses.replace(begin, workers=best.workers), before
        return Tuning(best, statistics.median(before), min(statistics.median(after), statistics.median(before)), tuple(self.trials))

    def changes(self, begin: Settings) -> Iterator[dict[str, Any]]:
        if not begin.graph:
            yield {"graph": True}
        if "bfloat16" in self.forms:
            yield {"precision": "bfloat16"}
        for count in sorted({1, openmp.threads() // 2} - {0, openmp.threads()}, reverse=True):
            yield {"threads": count}
        for level in (2, 1, 0):
            yield {"fusion": level}

    def is_better(self, candidate: Settings, best: Settings, wanted: list[float]) -> bool:
        name = candidate.named(best)
        try:
            found = self.steps(candidate, len(wanted))
        except (TypeError, ValueError, RuntimeError) as error:
            self.trials.append(Trial(name, 0.0, f"cannot be used: {str(error).splitlines()[0][:80]}"))
            return False
        apart = max(abs(a - b) / max(abs(b), 1e-6) for a, b in zip(found, wanted))
        if not apart <= (self.tolerance if candidate.precision != "float32" else 1e-3):
            self.trials.append(Trial(name, 0.0, f"left: losses differ by {100 * apart:.1f} %"))
            return False
        before, after = self.by_turns(best, candidate)
        gain = 100 * (1 - statistics.median(after) / statistics.median(before))
        good = _quicker(after, before, _BETTER)
        self.trials.append(Trial(name, statistics.median(after), f"{gain:+.0f} % {'kept' if good else 'left'}"))
        return good

    def workers(self) -> int:
        """How many threads shall make the data; 0 if the default does or if it costs little."""
        step = statistics.median(self.timed(Settings(), 0.05))
        cores = os.cpu_count() or 1
        default = self.data_time(0)
        if default < 0.2 * step or time.perf_counter() > self.end:
            return 0
        times = {n: self.data_time(n) for n in sorted({1, cores // 2, cores, 2 * cores} - {0})}
        best = min(times, key=times.__getitem__)
        good = times[best] < _BETTER * min(default, self.data_time(0))
        self.trials.append(Trial(f"data workers {best}", times[best], f"a batch, of {default:.3f} ms: {'kept' if good else 'left'}"))
        return best if good else 0

    def data_time(self, workers: int) -> float:
        """Milliseconds for a batch of data."""
        with _workers(workers):
            rows = self.dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
            begun, count = time.perf_counter(), 0
            for _ in rows:
                count += 1
                if time.perf_counter() - begun > 0.3:
                    break
            return 1e3 * (time.perf_counter() - begun) / max(1, count)


@contextlib.contextmanager
def _workers(count: int) -> Iterator[None]:
    before = ds.config.get_num_parallel_workers()
    if count:
        ds.config.set_num_parallel_workers(count)
    try:
        yield
    finally:
        ds.config.set_num_parallel_workers(before)


def _quicker(after: list[float], before: list[float], share: float) -> bool:
    return min(after) < share * min(before) and statistics.median(after) < share * statistics.median(before)


def _loss(result: Any) -> np.ndarray:
    """The loss among a step's results, waited for."""
    return (result[0] if isinstance(result, (tuple, list)) else result).asnumpy()


# -- what was found earlier -------------------------------------------------------------------------------------------
def _store() -> Path:
    return cache.home() / "tuned"


def _key(step: Cell, batches: list[tuple[Tensor, ...]]) -> str:
    kinds = [type(cell).__qualname__ for _, cell in step.cells_and_names()]
    weights = [(p.name, p.shape, str(p.dtype)) for p in step.get_parameters()]
    data = [(t.shape, str(t.dtype)) for t in batches[0]]
    machine = (*jit.host(), openmp.threads()) if jit.available() else ("",)
    asked = (context.get_context("mode"), context.get_context("device_target"), __version__)
    return hashlib.sha256(repr((kinds, weights, data, machine, asked)).encode()).hexdigest()[:32]


def _read(file: Path) -> Tuning | None:
    """What a file holds; None for none, or one that is damaged or of another version."""
    try:
        stored = json.loads(file.read_text())
        settings = Settings(**stored["settings"])
        known = {f.name: type(f.default) for f in dataclasses.fields(Settings)}
        if any(type(getattr(settings, name)) is not kind for name, kind in known.items()):
            return None
        return Tuning(settings, float(stored["before"]), float(stored["after"]), stored=True)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write(file: Path, found: Tuning) -> None:
    """Written aside and renamed; a disk that cannot be written only means that nothing is remembered."""
    content = {"settings": dataclasses.asdict(found.settings), "before": found.before, "after": found.after}
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w") as aside:
                json.dump(content, aside)
            os.replace(name, file)
        except BaseException:
            os.unlink(name)
            raise

