"""The search: one setting after the other is changed (coordinate descent), and the present best and the candidate do steps by turns.

A candidate is kept if it is clearly quicker by 3 % (`turns`). In the end the result is compared with how things were in the same
way, and given up if it is not clearly quicker. Lower precision is considered only if the losses of some steps agree. With a limit of
memory, what needs more is not timed at all. Where others use the processors meanwhile, numbers of threads are left as they are, and
what was found is not stored. Weights, states of optimizers and random numbers are as before when the tuning ends.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import context
from mindspore._base import dtype as mstype
from mindspore.backends.cpu import openmp
from mindspore.common.random import get_rng_state, set_rng_state
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.conv import Conv2d
from mindspore.train.amp import auto_mixed_precision
from mindspore.train.model import Model
from mindspore.train.sink import SunkSteps, is_compiled
from mindspore.train.tuning import store
from mindspore.train.tuning.memory import blocks, limit_of, needed, recomputed
from mindspore.train.tuning.settings import Settings, Trial, Tuning
from mindspore.train.tuning.turns import BUSY, Comparison, Others, by_turns

_BETTER = 0.97  # a candidate must need at most this share of the time
_BATCHES = 4
Batches = list[tuple[Tensor, ...]]


def auto_tune(
    model: Model | Cell,
    dataset: Any,
    budget: float = 60.0,
    tolerance: float = 0.02,
    precision: bool = True,
    verbose: bool = True,
    memory: int | str | None = None,
    batches: Sequence[int] = (),
) -> Tuning:
    """Find quicker settings for a training step on its own data, and use them from now on.

    Args:
        model: a Model with an optimizer, or a Cell that takes the columns of a batch and returns a loss.
        dataset: batches, as the step takes them. It is read, not used up. With `batches`, a function that makes it from a batch's rows.
        budget: seconds after which nothing new is tried.
        tolerance: how far, relative to it, losses may be apart for bfloat16 to be used.
        precision: whether bfloat16 may be used at all.
        verbose: print what was tried.
        memory: what a step may take in graph mode, weights and optimizer included: bytes or a text such as "2GB". Where it is too
            little, blocks are computed again in the backward pass instead of kept.
        batches: the sizes of batches to choose from, by time per row; `settings.batch` is the one to use. The first is the usual one.

    Returns:
        what was found. The context and, if it brought something, the model's precision and recomputation are set accordingly.

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
    limit = limit_of(memory)
    step = model.train_network if isinstance(model, Model) else model
    datasets = _datasets(dataset, batches)
    first = _some_batches(next(iter(datasets.values()))())
    asked = (limit, tuple(datasets), tolerance, precision)
    file = store.file_of(step, first[0], asked)
    found = store.read(file)
    if found is None:
        found = _Search(step, datasets, budget, tolerance, precision, limit).run()
        if found.others < BUSY:
            store.write(file, found)
    if verbose:
        print(found, flush=True)
    _use(model, step, found.settings)
    return found


def _datasets(dataset: Any, batches: Sequence[int]) -> dict[int, Callable[[], Any]]:
    """What makes the data of each size of batch; 0: of the dataset's own."""
    if not batches:
        if callable(dataset) and not hasattr(dataset, "create_tuple_iterator"):
            raise TypeError("For 'auto_tune', 'dataset' is a function, which needs 'batches', the sizes of batches to try.")
        return {0: lambda: dataset}
    if not callable(dataset):
        raise TypeError(
            f"For 'auto_tune', with 'batches' the 'dataset' must be a function from a batch's rows to a dataset, "
            f"but got {type(dataset).__name__}."
        )
    for size in batches:
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ValueError(f"For 'auto_tune', 'batches' must be positive ints, but got {size!r}.")
    return {size: functools.partial(dataset, size) for size in batches}


def _some_batches(dataset: Any) -> Batches:
    batches: Batches = []
    for batch in dataset.create_tuple_iterator(num_epochs=1):
        batches.append(tuple(batch))
        if len(batches) == _BATCHES:
            break
    if not batches:
        raise ValueError("For 'auto_tune', 'dataset' must have at least one batch.")
    return batches


def _use(model: Model | Cell, step: Cell, settings: Settings) -> None:
    """Let what follows run under the settings."""
    context.set_context(**settings.in_context())
    if settings.workers:
        ds.config.set_num_parallel_workers(settings.workers)
    if settings.prefetch:
        ds.config.set_prefetch_size(settings.prefetch)
    for cell in blocks(step, settings.recompute) if settings.recompute else ():
        cell.recompute()
    if isinstance(model, Model) and settings.precision != "float32":
        model.replace_train_network(auto_mixed_precision(step, "auto", mstype.bfloat16))


class _Search:
    """Attributes:
    forms: the step in each precision.
    batches: some batches of each size that was read so far; their rows are compared as if there were as many as in the first.
    """

    def __init__(
        self, step: Cell, datasets: dict[int, Callable[[], Any]], budget: float, tolerance: float, precision: bool, limit: int
    ):
        self.step, self.forms = step, {"float32": step}
        if precision:
            self.forms["bfloat16"] = auto_mixed_precision(step, "auto", mstype.bfloat16)
        self.datasets, self.tolerance, self.limit = datasets, tolerance, limit
        self.batches: dict[int, Batches] = {}
        self.needs: dict[Settings, int] = {}
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

    @contextlib.contextmanager
    def under(self, settings: Settings) -> Iterator[tuple[Cell, Batches]]:
        """The step and its batches, with the settings in force."""
        if settings.batch not in self.batches:
            self.batches[settings.batch] = _some_batches(self.datasets[settings.batch]())
        with context.local_context(**settings.in_context()), recomputed(self.step, settings.recompute):
            yield self.forms[settings.precision], self.batches[settings.batch]

    def steps(self, settings: Settings, count: int) -> list[float]:
        """The losses of some steps from the beginning."""
        self.restore()
        with self.under(settings) as (form, batches):
            return [float(np.mean(_loss(form(*batches[i % len(batches)])))) for i in range(count)]

    def need(self, settings: Settings) -> int:
        """The bytes of a step; 0 if nobody asks. Threads do not change them."""
        if not self.limit:
            return 0
        known = dataclasses.replace(settings, threads=0)
        if known not in self.needs:
            with self.under(settings) as (form, batches):
                form.compile(*batches[0])
                self.needs[known] = needed(form, batches[0])
        return self.needs[known]

    def timed(self, settings: Settings, seconds: float) -> list[float]:
        """Milliseconds of steps done for about so long, of as many rows as the first size of batch has."""
        times: list[float] = []
        with self.under(settings) as (form, batches):
            share = self.rows(next(iter(self.datasets))) / self.rows(settings.batch)
            end = time.perf_counter() + seconds
            while not times or time.perf_counter() < end:
                begun = time.perf_counter()
                _loss(form(*batches[len(times) % len(batches)]))
                times.append(1e3 * share * (time.perf_counter() - begun))
        return times

    def rows(self, batch: int) -> int:
        found = self.batches.get(batch)
        return batch or (found[0][0].shape[0] if found and found[0][0].ndim else 1)

    def compare(self, first: Settings, second: Settings) -> Comparison:
        one = self.timed(first, 0.0)[0] / 1e3
        self.timed(second, 0.0)
        seconds = min(max(4 * one, 0.02), 1.0)
        return by_turns(lambda: self.timed(first, seconds), lambda: self.timed(second, seconds))

    # -- the search ---------------------------------------------------------------------------------------------------
    def run(self) -> Tuning:
        try:
            return self._run()
        finally:
            self.restore()

    def _run(self) -> Tuning:
        usual = Settings(graph=bool(self.limit) or context.get_context("mode") == context.GRAPH_MODE, batch=next(iter(self.datasets)))
        begin, best = self.fitting(usual)
        wanted = self.steps(best, _BATCHES)
        others = Others()
        for change in self.changes(best):
            if self.is_over():
                break
            candidate = dataclasses.replace(best, **change)
            if candidate != best and self.is_better(candidate, best, wanted):
                best = candidate
        last = self.compare(begin, best)
        after = last.after
        if not last.second_is_quicker(_BETTER):
            best, after = begin, last.before
        bytes_ = self.need(best)
        workers, prefetch = self.data_settings(best)
        best = dataclasses.replace(best, workers=workers, prefetch=prefetch, sink=self.sinks(best))
        return Tuning(best, last.before, min(after, last.before), tuple(self.trials), bytes=bytes_, others=others.share())

    def is_over(self) -> bool:
        """Whether the budget is used up, which is said once."""
        over = time.perf_counter() > self.end
        if over and not (self.trials and self.trials[-1].settings == "…"):
            self.trials.append(Trial("…", 0.0, "the budget is used up"))
        return over

    def changes(self, begin: Settings) -> Iterator[dict[str, Any]]:
        if not begin.graph:
            yield {"graph": True}
        if "bfloat16" in self.forms:
            yield {"precision": "bfloat16"}
        for count in sorted({1, openmp.threads() // 2} - {0, openmp.threads()}, reverse=True):
            yield {"threads": count}
        if any(isinstance(cell, Conv2d) for _, cell in self.step.cells_and_names()):
            yield {"winograd": False}
        for level in (2, 1, 0):
            yield {"fusion": level}

    def is_better(self, candidate: Settings, best: Settings, wanted: list[float]) -> bool:
        name = candidate.named(best)
        try:
            if self.need(candidate) > self.limit:
                self.trials.append(Trial(name, 0.0, f"left: it takes {_megabytes(self.need(candidate))}"))
                return False
            found = self.steps(candidate, len(wanted))
        except (TypeError, ValueError, RuntimeError) as error:
            self.trials.append(Trial(name, 0.0, f"cannot be used: {str(error).splitlines()[0][:80]}"))
            return False
        apart = max(abs(a - b) / max(abs(b), 1e-6) for a, b in zip(found, wanted))
        if not apart <= (self.tolerance if candidate.precision != "float32" else 1e-3):
            self.trials.append(Trial(name, 0.0, f"left: losses differ by {100 * apart:.1f} %"))
            return False
        return self.wins(candidate, best)

    def wins(self, candidate: Settings, best: Settings) -> bool:
        found = self.compare(best, candidate)
        good = found.second_is_quicker(_BETTER)
        verdict = "kept" if good else "left"
        if good and candidate.threads != best.threads and found.others >= BUSY:
            good, verdict = False, f"left: others use {100 * found.others:.0f} % of the processors"
        self.trials.append(Trial(candidate.named(best), found.after, f"{100 * (1 - found.share):+.0f} % {verdict}"))
        return good

    # -- batches and recomputation under a limit -----------------------------------------------------------------------
    def fitting(self, usual: Settings) -> tuple[Settings, Settings]:
        """How to begin, which is as usual if that fits, and the quickest of the sizes of batches that fit."""
        found: list[Settings] = []
        for batch in self.datasets:
            if found and self.is_over():
                break
            found += self.first_that_fits(dataclasses.replace(usual, batch=batch))
        if not found:
            least = min(self.needs.values())
            raise ValueError(
                f"For 'auto_tune', no step fits into 'memory', {_megabytes(self.limit)}: the least that one takes is {_megabytes(least)}."
            )
        best = found[0]
        for candidate in found[1:]:
            if not self.is_over() and self.wins(candidate, best):
                best = candidate
        return found[0], best

    def first_that_fits(self, plain: Settings) -> list[Settings]:
        """The settings that compute least again and fit; empty if none does."""
        for which in ("", "blocks", "layers") if self.limit else ("",):
            if which and not blocks(self.step, which):
                continue
            settings = dataclasses.replace(plain, recompute=which)
            taken = self.need(settings)
            if taken <= self.limit:
                return [settings]
            name = settings.named(Settings(plain.graph)).replace("as it is", "nothing computed again")
            self.trials.append(Trial(name, 0.0, f"left: it takes {_megabytes(taken)}"))
        return []

    # -- data ---------------------------------------------------------------------------------------------------------
    def data_settings(self, best: Settings) -> tuple[int, int]:
        """Threads that make the data and batches made ahead; 0 for a default that does, and if data costs little."""
        step = statistics.median(self.timed(best, 0.05))
        cores = os.cpu_count() or 1
        dataset = self.datasets[best.batch]()
        default = _data_time(dataset, 0, 0)
        if default < 0.2 * step or self.is_over():
            return 0, 0
        workers = self.quickest(dataset, "workers", [(n, 0) for n in sorted({1, cores // 2, cores, 2 * cores} - {0})], (0, 0))[0]
        return self.quickest(dataset, "prefetch", [(workers, n) for n in (4, 64)], (workers, 0))

    def quickest(self, dataset: Any, name: str, choices: list[tuple[int, int]], now: tuple[int, int]) -> tuple[int, int]:
        """The best of some (threads, batches ahead), if it is clearly quicker than the present one."""
        times = {choice: _data_time(dataset, *choice) for choice in choices}
        choice = min(times, key=times.__getitem__)
        found = by_turns(lambda: [_data_time(dataset, *now)], lambda: [_data_time(dataset, *choice)], 4)
        good = found.second_is_quicker(_BETTER)
        verdict = f"a batch, of {found.before:.3f} ms: {'kept' if good else 'left'}"
        if good and found.others >= BUSY:
            good, verdict = False, f"a batch; left: others use {100 * found.others:.0f} % of the processors"
        self.trials.append(Trial(f"data {name} {choice[name == 'prefetch']}", found.after, verdict))
        return choice if good else now

    def sinks(self, best: Settings) -> bool:
        """Whether several steps a call are quicker. Steps of some milliseconds do not notice."""
        usual = self.timed(best, 0.05)
        if statistics.median(usual) > 5 or self.is_over():
            return False
        with self.under(best) as (form, batches):
            if not is_compiled(form):
                return False
            sunk, count = SunkSteps(form), 32
            many = (batches * count)[:count]

            def together() -> list[float]:
                begun = time.perf_counter()
                _loss(sunk.run(iter(many), count)[1])
                return [1e3 * (time.perf_counter() - begun) / count]

            together()
            found = by_turns(lambda: self.timed(best, 0.02), together)
        good = found.second_is_quicker(_BETTER)
        remark = "quicker with ms.data_sink, or dataset_sink_mode on accelerators" if good else "not quicker"
        self.trials.append(Trial("steps that sink", found.after, remark))
        return good


def _data_time(dataset: Any, workers: int, prefetch: int) -> float:
    """Milliseconds for a batch of data."""
    with _data_config(workers, prefetch):
        rows = dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
        begun, count = time.perf_counter(), 0
        for _ in rows:
            count += 1
            if time.perf_counter() - begun > 0.3:
                break
        return 1e3 * (time.perf_counter() - begun) / max(1, count)


@contextlib.contextmanager
def _data_config(workers: int, prefetch: int) -> Iterator[None]:
    before = ds.config.get_num_parallel_workers(), ds.config.get_prefetch_size()
    ds.config.set_num_parallel_workers(workers or before[0])
    ds.config.set_prefetch_size(prefetch or before[1])
    try:
        yield
    finally:
        ds.config.set_num_parallel_workers(before[0])
        ds.config.set_prefetch_size(before[1])


def _loss(result: Any) -> np.ndarray:
    """The loss among a step's results, waited for."""
    return (result[0] if isinstance(result, (tuple, list)) else result).asnumpy()


def _megabytes(count: int) -> str:
    return f"{count / 2**20:,.0f} MiB"
