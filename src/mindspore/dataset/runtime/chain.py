"""A chain of steps over the rows of an operator, cut into stages by where each step runs.

Steps that can run together (in threads, in processes, or anywhere) form one stage, so a row crosses threads only where
it must. A batch at the end makes a task of exactly its rows; without one, tasks are runs of a few rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from mindspore.dataset.runtime.context import RunContext
from mindspore.dataset.runtime.executor import Executor, Inline, Threads
from mindspore.dataset.runtime.operators import Operator, Pair
from mindspore.dataset.runtime.process import Processes
from mindspore.dataset.runtime.step import (
    ANY,
    CALLER,
    PROCESS,
    THREAD,
    CollateStep,
    LoadStep,
    Step,
    VectorStep,
    batching,
    run_steps,
    vectorised,
)
from mindspore.dataset.settings import settings

LIGHT_BYTES = 1 << 20
RUN_LENGTH = 8  # rows of a task outside batches: fixed, so that workers never change what a task is


class Chain(Operator):
    """Steps over `base`, whose pairs are row numbers (a source) or rows (any other operator)."""

    def __init__(self, base: Operator, steps: Sequence[Step], columns: Sequence[str], context: RunContext):
        super().__init__(base, columns=columns)
        self.steps, self.context = list(steps), context
        self._stages: list[Executor] | None = None
        self._epoch = 0

    @property
    def base(self) -> Operator:
        return self.children[0]

    rows = 1  # of the source for each row of the result

    def light(self):
        """Rows of a small in-memory source, with nothing but whole-array work on them."""
        first = self.steps[0] if self.steps else None
        load = first.load if isinstance(first, VectorStep) else first
        if not isinstance(load, LoadStep) or any(step.placement != ANY for step in self.steps):
            return False
        size = load.reader.row_bytes()
        return size is not None and size * self.rows <= LIGHT_BYTES

    @property
    def one_to_one(self) -> bool:
        return all(step.one_to_one for step in self.steps)

    def extended(self, step: Step, columns: Sequence[str]) -> Chain:
        return Chain(self.base, [*self.steps, step], columns, self.context)

    def over(self, base: Operator) -> Chain:
        """The same steps over another base."""
        return Chain(base, self.steps, self.columns, self.context)

    def stream(self, epoch, start=0):
        if not self.one_to_one and start:
            return itertools.islice(self.stream(epoch), start, None)
        self._epoch = epoch
        pairs = self.base.stream(epoch, start)
        length = 1 if self.base.waits() or self._inline() else RUN_LENGTH
        return self._pairs(self.through(runs(pairs, epoch, length, source=self.base.source)))

    def _inline(self) -> bool:
        """True when nothing is gained by tasks of several rows."""
        return all(place in (CALLER, ANY) for place, _ in cut(self.steps))

    @staticmethod
    def _pairs(results: Iterable) -> Iterator[Pair]:
        for _, keys, rows in results:
            yield from zip(keys, rows)

    def through(self, tasks: Iterator) -> Iterator:
        """Tasks (epoch, keys, rows) through every stage."""
        if self._stages is None:
            # workers want rows ahead of those in use, which a base that waits for the consumer does not give
            inline = self.context.synchronous or self.base.waits()
            self._stages = make_stages(self.steps, self.context.root_seed, self._path_of, inline)
        for stage in self._stages:
            tasks = stage.imap(tasks)
        return tasks

    def _path_of(self, key: int) -> str | None:
        """The file of the row `key` of the present epoch, for the error messages of later stages."""
        refs = self.base.refs(self._epoch)
        if refs is None or not isinstance(self.steps[0], LoadStep):
            return None
        found = np.flatnonzero(refs[0] == key)
        return self.steps[0].reader.path(refs[1][found[0]]) if len(found) else None

    def close(self):
        for stage in self._stages or ():
            stage.close()
        self._stages = None  # they refer to this object: without them all is freed at once
        super().close()

    def executors(self) -> list[Executor]:
        return self._stages or []


class BatchedChain(Chain):
    """A chain whose last step makes a batch of each task."""

    def __init__(self, chain: Chain, collate: CollateStep, rows: int, drop_remainder: bool):
        steps = chain.steps
        whole = vectorised(steps, collate) if "vectorise_batch" not in settings().disabled_rules else None
        steps = batching(steps, collate) if whole is None else [whole]
        super().__init__(chain.base, steps, collate.columns, chain.context)
        self.rows, self.drop_remainder = rows, drop_remainder

    def stream(self, epoch, start=0):
        self._epoch = epoch
        refs = self.base.refs(epoch)
        if refs is not None:
            tasks = self._slices(refs, epoch, start)
        else:
            pairs = self.base.stream(epoch, start * self.rows)
            tasks = runs(pairs, epoch, self.rows, self.drop_remainder, self.base.source)
        return ((i, rows[0]) for i, (_, _, rows) in enumerate(self.through(tasks), start))

    def _slices(self, refs, epoch, start):
        keys, rows = refs
        stop = len(keys) - len(keys) % self.rows if self.drop_remainder else len(keys)
        for at in range(start * self.rows, stop, self.rows):
            yield epoch, keys[at : at + self.rows], rows[at : at + self.rows]


class Feed(Step):
    """Some rows of the operator below, at each call."""

    def __init__(self, pairs: Iterator[Pair], length: int, source: str):
        self._pairs, self._length, self._source = pairs, length, source

    def describe(self):
        return self._source

    def run(self, epoch, keys, rows):
        found = list(itertools.islice(self._pairs, self._length))
        return tuple(zip(*found)) if found else ((), ())


def runs(pairs: Iterator[Pair], epoch: int, length: int, drop_remainder: bool = False, source: str | None = None) -> Iterator:
    """Tasks of `length` consecutive rows. What a source takes is timed; operators have times of their own."""
    feed = Feed(pairs, length, source or "")
    while True:
        keys, rows = run_steps([feed], epoch, (), ()) if source else feed.run(epoch, (), ())
        if not rows or (drop_remainder and len(rows) < length):
            return
        yield epoch, keys, rows


class StageFunction:
    """The steps of one stage as a function of a task; picklable when its steps are."""

    def __init__(self, steps: Sequence[Step], root_seed: int, path_of: Callable[[int], str | None] | None = None):
        self.steps, self.root_seed, self.path_of = list(steps), root_seed, path_of

    def __call__(self, task):
        epoch, keys, rows = task
        return epoch, *run_steps(self.steps, epoch, keys, rows, self.path_of)

    def seed_for(self, task) -> int:
        """A seed for the global generators of a worker process: a function of the task alone."""
        epoch, keys, _ = task
        first = int(keys[0]) if len(keys) else 0
        return int(np.random.SeedSequence([self.root_seed, epoch, first]).generate_state(1)[0])


def make_stages(
    steps: Sequence[Step], root_seed: int, path_of: Callable[[int], str | None], inline: bool
) -> list[Executor]:
    stages: list[Executor] = []
    for placement, group in cut(steps):
        # a worker process has no use for the parent's view of the epoch
        function = StageFunction(group, root_seed, None if placement == PROCESS else path_of)
        workers = max(step.workers for step in group if step.placement in (placement, ANY))
        if inline or placement in (CALLER, ANY):
            stages.append(Inline(function))
        elif placement == PROCESS:
            sizes = [step.max_rowsize for step in group]
            stages.append(Processes(function, workers, next((size for size in sizes if size), None)))
        else:
            stages.append(Threads(function, workers, depth=workers))
    return stages


_PLACES = {CALLER: "calling thread", ANY: "calling thread", THREAD: "threads", PROCESS: "processes"}


def plan(operator: Operator) -> list[str]:
    """For `ds.explain`: a line for every stage, sources first."""
    lines = [line for child in operator.children for line in plan(child)]
    if isinstance(operator, Chain):
        for placement, group in cut(operator.steps):
            workers = max(step.workers for step in group)
            number = f"{workers} " if placement in (THREAD, PROCESS) else ""
            lines.append(f"{number}{_PLACES[placement]}: {' -> '.join(step.describe() for step in group)}")
    return lines


def cut(steps: Sequence[Step]) -> list[tuple[str, list[Step]]]:
    """Neighbouring steps that run in the same place; a step that runs anywhere joins its neighbours."""
    groups: list[tuple[str, list[Step]]] = []
    for step in steps:
        place = step.placement
        if groups and (place == ANY or groups[-1][0] in (ANY, place)):
            before, members = groups[-1]
            groups[-1] = (place if before == ANY else before, [*members, step])
        elif groups and {place, groups[-1][0]} == {THREAD, PROCESS}:
            groups[-1] = (PROCESS, [*groups[-1][1], step])
        else:
            groups.append((place, [step]))
    return groups
