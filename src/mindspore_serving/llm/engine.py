"""Continuous batching (Yu et al., Orca, 2022): every step runs one token of each sequence that is being continued, and pieces of
prompts as far as the step's budget goes. Sequences join and leave between steps.

    waiting ──▶ running: prompt in pieces ──▶ running: token by token ──▶ finished
       ▲                                              │
       └──────── preempted when pages run out ◀───────┘   (its tokens are computed again, to the same bits)

The engine has a thread of its own. Whoever submits gets events (tokens, the end) by a callback from that thread.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from mindspore_serving import log
from mindspore_serving.engine.errors import Kind, Overloaded, ServingError
from mindspore_serving.llm.cache import BLOCK, OutOfPages, PageTable, pages_for
from mindspore_serving.llm.checkpoint import Shape, load
from mindspore_serving.llm.network import Network, Part
from mindspore_serving.llm.sampling import Choice, Sampling, choose

Reason = Literal["stop", "length", "error"]


@dataclass(frozen=True)
class Event:
    """A token, or the end (`reason`)."""

    choice: Choice | None = None
    reason: Reason | None = None
    error: ServingError | None = None


@dataclass(eq=False)
class Sequence:
    prompt: list[int]
    sampling: Sampling
    emit: Callable[[Event], object]
    number: int
    made: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)  # prompt and made
    table: list[int] = field(default_factory=list)
    computed: int = 0
    cancelled: bool = False
    arrived: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.tokens = [*self.prompt, *self.made]

    def add(self, token: int) -> None:
        self.made.append(token)
        self.tokens.append(token)


@dataclass
class Limits:
    cache_megabytes: int = 512
    sequences: int = 64
    tokens_per_step: int = 256
    waiting: int = 256
    weights: str = "float32"  # or "int8", "int4": how matrices are held


@dataclass
class Counts:
    """For metrics."""

    prompt_tokens: int = 0
    made_tokens: int = 0
    steps: int = 0
    preemptions: int = 0
    first_token_seconds: float = 0.0
    first_tokens: int = 0


class Engine:
    def __init__(self, folder: str, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        shape, weights = load(folder)
        self.shape: Shape = shape
        count = pages_for(self.limits.cache_megabytes, shape.layers, shape.kv_heads, shape.head_width)
        self.pages = PageTable(count)
        self._network = Network(shape, weights, self.limits.weights, count)
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._waiting: deque[Sequence] = deque()
        self._running: list[Sequence] = []
        self._stopping = False
        self.counts = Counts()
        self._thread = threading.Thread(target=self._run, name="llm", daemon=True)
        self._thread.start()

    # -- for clients, any thread

    def submit(self, prompt: list[int], sampling: Sampling, emit: Callable[[Event], object]) -> Sequence:
        """Queue a sequence; ServingError if it cannot be answered."""
        if not prompt:
            raise ServingError("the prompt is empty")
        if any(not 0 <= token < self.shape.vocabulary for token in prompt):
            raise ServingError(f"a token of the prompt is not in 0…{self.shape.vocabulary - 1}")
        longest = min(self.shape.positions, self.pages.count * BLOCK)
        if len(prompt) + sampling.max_tokens > longest:
            raise ServingError(
                f"a prompt of {len(prompt)} tokens and {sampling.max_tokens} new ones exceed the {longest} that are possible"
            )
        sequence = Sequence(prompt, sampling, emit, next(self._numbers))
        with self._changed:
            if self._stopping:
                raise ServingError("the server is stopping", Kind.UNAVAILABLE)
            if len(self._waiting) >= self.limits.waiting:
                raise Overloaded(self.limits.waiting)
            self._waiting.append(sequence)
            self._changed.notify()
        return sequence

    def cancel(self, sequence: Sequence) -> None:
        sequence.cancelled = True

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def stop(self, drain: float = 10.0) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(drain)

    # -- the engine's thread

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._running:
                    if self._stopping:
                        return
                    self._changed.wait()
            try:
                self.step()
            except Exception as error:  # a mistake of ours: all sequences of the step end, the server goes on
                log.error(f"a step failed: {type(error).__name__}: {error}")
                for sequence in list(self._running):
                    self._finish(sequence, "error", ServingError("internal error", Kind.FAILED))

    def step(self) -> None:
        for sequence in [sequence for sequence in self._running if sequence.cancelled]:
            self._finish(sequence, None)
        self._admit()
        plan = self._plan()
        if not plan:
            return
        parts = [
            Part(s.tokens[s.computed : s.computed + count], s.computed, s.table, s.computed + count == len(s.tokens))
            for s, count in plan
        ]
        scores = iter(self._network.forward(parts))
        self.counts.steps += 1
        for (sequence, count), part in zip(plan, parts):
            self._note_computed(sequence, count)
            if part.wants_scores:
                self._continue(sequence, choose(next(scores), sequence.sampling, sequence.prompt, sequence.made))

    def _admit(self) -> None:
        with self._changed:
            while self._waiting and len(self._running) < self.limits.sequences:
                sequence = self._waiting.popleft()
                if sequence.cancelled:
                    continue
                sequence.table = self.pages.find_prefix(sequence.tokens)
                sequence.computed = len(sequence.table) * BLOCK
                self._running.append(sequence)

    def _plan(self) -> list[tuple[Sequence, int]]:
        """(sequence, tokens to compute): those being continued first, then prompts, oldest first."""
        budget = self.limits.tokens_per_step
        plan: list[tuple[Sequence, int]] = []
        for sequence in sorted(self._running, key=lambda s: (len(s.tokens) - s.computed > 1, s.number)):
            count = min(len(sequence.tokens) - sequence.computed, budget)
            if count <= 0 or sequence not in self._running or not self._reserve(sequence, sequence.computed + count):
                continue
            plan.append((sequence, count))
            budget -= count
        return [(sequence, count) for sequence, count in plan if sequence in self._running]

    def _reserve(self, sequence: Sequence, tokens: int) -> bool:
        """Pages for so many tokens, taken from younger sequences if need be."""
        while len(sequence.table) * BLOCK < tokens:
            try:
                sequence.table.append(self.pages.take())
            except OutOfPages:
                youngest = max(self._running, key=lambda s: s.number)
                self._preempt(youngest)
                if youngest is sequence:
                    return False
        return True

    def _preempt(self, sequence: Sequence) -> None:
        self.counts.preemptions += 1
        self.pages.release(sequence.table)
        sequence.table, sequence.computed = [], 0
        self._running.remove(sequence)
        with self._changed:
            self._waiting.appendleft(sequence)

    def _note_computed(self, sequence: Sequence, count: int) -> None:
        first, last = sequence.computed // BLOCK, (sequence.computed + count) // BLOCK
        tokens = sequence.tokens
        for number in range(first, last):
            self.pages.note_full(sequence.table, number, tokens[number * BLOCK : (number + 1) * BLOCK])
        sequence.computed += count

    def _continue(self, sequence: Sequence, choice: Choice) -> None:
        if not sequence.made:
            self.counts.prompt_tokens += len(sequence.prompt)
            self.counts.first_tokens += 1
            self.counts.first_token_seconds += time.monotonic() - sequence.arrived
        self.counts.made_tokens += 1
        sequence.add(choice.token)
        if choice.token in self.shape.end and not sequence.sampling.ignore_end:
            self._finish(sequence, "stop")
            return
        sequence.emit(Event(choice))
        if len(sequence.made) >= sequence.sampling.max_tokens:
            self._finish(sequence, "length")

    def _finish(self, sequence: Sequence, reason: Reason | None, error: ServingError | None = None) -> None:
        self._running.remove(sequence)
        self.pages.release(sequence.table)
        sequence.table = []
        if reason is not None:
            sequence.emit(Event(reason=reason, error=error))
