"""Continuous batching (Yu et al., Orca, 2022): every step runs one token of each sequence that is being continued, and pieces of
prompts as far as the step's budget goes. Sequences join and leave between steps.

    waiting ──▶ running: prompt in pieces ──▶ running: token by token ──▶ finished
       ▲                                              │
       └──────── preempted when pages run out ◀───────┘   (its tokens are computed again, to the same bits)

The engine has a thread of its own. Whoever submits gets events (tokens, the end) by a callback from that thread. If a step fails by a
mistake of ours, the thread ends: everybody is told, and the model is no longer available.

Guesses of what follows (`speculation.py`) are computed along with the token they follow. A guess counts if it is the token that is
then chosen, by the same scores and random numbers as without guesses: since the bits of a row do not depend on the others,
answers are the same to the bit, and only come faster.

Where processes share the model and one of them dies, all sequences are preempted and computed again by the new ones.

Whose prompt's own probabilities are wanted (`reads`) gets them from the rows of its prompt, of which a step then has fewer, since each
of their scores is as wide as the vocabulary; none of its prompt is taken from the cache.

An accelerator has the next step before the results of this one are taken in (`device_network.py`): a sequence whose token the device
chooses by itself is planned on with the token that is `coming`. If that was the last one, the row computed in advance is not looked at.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from collections.abc import Sequence as Sequences
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from mindspore_serving.engine.errors import Kind, Lost, Overloaded, ServingError
from mindspore_serving.engine.queue import ATTEMPTS
from mindspore_serving.llm.cache import BLOCK, OutOfPages, PageTable, pages_for
from mindspore_serving.llm.checkpoint import Array, Shape, Weights, load, read_shape
from mindspore_serving.llm.cut import check
from mindspore_serving.llm.network import Network, Part
from mindspore_serving.llm.sampling import Choice, Draw, Sampling, Scores, choose, draw_of, needs_scores_alone, weighed
from mindspore_serving.llm.speculation import Draft, Lookup, NoDraft

#: pages whose memory is there before they are needed, and how many of them are asked for at once
_PAGES_AHEAD, _PAGES_AT_ONCE = 128, 4

Reason = Literal["stop", "length", "error"]


class Constraint(Protocol):
    """What an answer may be: `grammar.py` has one."""

    def allowed(self) -> Array:
        """For each token whether it may come next; ServingError where none may."""

    def accept(self, token: int) -> None:
        """This token has been chosen; ServingError where it is found that answers like this cannot be written."""

    @property
    def complete(self) -> bool:
        """Whether nothing can follow."""


class Forward(Protocol):
    """The forward pass: `network.py` has it in this process, `network_group.py` in others, `device_network.py` on an accelerator."""

    @property
    def ahead(self) -> int:
        """Steps that may be begun before the first one's results are taken in. Tokens are then chosen where the network is."""

    def begin(self, parts: list[Part]) -> Waiting:
        """Begin a step; what is returned waits for its results."""

    def rows_of(self, parts: list[Part]) -> list[int]:
        """Where the next step finds the token that each part wants."""

    def warm(self, rows: int, prompt: bool) -> None: ...

    def prepare(self, first: int, last: int) -> None: ...

    def close(self) -> None: ...


Waiting = Callable[[], Sequences[Scores | Choice]]


class Crowded(Exception):
    """There are no pages while results are under way, after which there may be."""


@dataclass(frozen=True)
class Event:
    """A token, tokens of the prompt with their probabilities, an embedding, or the end (`reason`)."""

    choice: Choice | None = None
    read: tuple[Choice, ...] = ()
    embedding: Array | None = None
    reason: Reason | None = None
    error: ServingError | None = None


@dataclass(eq=False)
class Sequence:
    prompt: list[int]
    sampling: Sampling
    emit: Callable[[Event], object]
    number: int
    constraint: Constraint | None = None
    embeds: bool = False  # no tokens are wanted, but what the model knows of the prompt
    reads: bool = False  # the probabilities of the prompt's tokens are wanted, too
    known: int = 1  # of how many of these the probabilities are known; the first one has none
    adapter: int = 0  # number of the adapter, 0: none
    priority: int = 0  # lower ones come first
    made: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)  # prompt and made
    table: list[int] = field(default_factory=list)
    computed: int = 0
    coming: int = 0  # tokens that are being computed
    row: int = -1  # where the next step finds the last of them
    losses: int = 0  # groups of processes that died while they computed it
    cancelled: bool = False
    finished: bool = False
    arrived: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.tokens = [*self.prompt, *self.made]

    @property
    def turn(self) -> tuple[int, int]:
        """Who comes first."""
        return self.priority, self.number

    @property
    def may_go_on(self) -> bool:
        """Whether the next token can be computed now: what comes before it is known, or the device knows it."""
        if not self.coming:
            return True
        return self.is_free and len(self.made) + self.coming < self.sampling.max_tokens

    @property
    def is_free(self) -> bool:
        """Whether a device can choose its tokens."""
        return self.constraint is None and not self.embeds and not self.is_reading and needs_scores_alone(self.sampling)

    @property
    def is_reading(self) -> bool:
        """Whether probabilities of the prompt's tokens are not known yet."""
        return self.reads and self.known < len(self.prompt)

    @property
    def draw(self) -> Draw:
        """How the next token to compute is chosen."""
        return draw_of(self.sampling, len(self.made) + self.coming)

    @property
    def left(self) -> int:
        """Tokens to compute."""
        return len(self.tokens) + self.coming - self.computed

    def add(self, token: int) -> None:
        self.made.append(token)
        self.tokens.append(token)


@dataclass(frozen=True)
class Planned:
    """What a step computes of a sequence: `count` tokens from `start` on, and guesses behind them; `wanted`: of so many of the last ones
    it is asked what follows, of the first `read` of these because the prompt's next token is known."""

    sequence: Sequence
    start: int
    count: int
    guesses: list[int]
    wanted: int
    read: int


@dataclass
class Limits:
    cache_megabytes: int = 512
    sequences: int = 64
    tokens_per_step: int = 256
    waiting: int = 256
    guesses: int = 0  # tokens to guess for each sequence and step
    draft: str = ""  # folder of a smaller model that guesses; without it, repetitions of the text do
    weights: str = "float32"  # or "int8", "int4": how matrices are held; "bfloat16" is for accelerators
    in_order: bool = True  # with bfloat16: the same bits in every batch
    parts: int = 1  # processes that share every product
    stages: int = 1  # processes, or groups of them, that share the layers
    adapters: tuple[str, ...] = ()  # their folders; requests name them by number, from 1
    seconds: float = 0.0  # that an answer may take; 0: any time
    warm: tuple[tuple[int, bool], ...] = ()  # (rows, whether of a prompt): graphs to compile while nobody asks


@dataclass
class Counts:
    """For metrics."""

    prompt_tokens: int = 0
    made_tokens: int = 0
    steps: int = 0
    preemptions: int = 0
    guessed: int = 0
    guessed_right: int = 0
    first_token_seconds: float = 0.0
    first_tokens: int = 0


class Engine:
    def __init__(self, folder: str, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.shape = shape = read_shape(folder)
        count = pages_for(
            self.limits.cache_megabytes, self.limits.weights, shape.layers, shape.kv_heads, shape.head_width
        )
        self.pages = PageTable(count)
        self._network = self._network_of(folder, count)
        self._draft = self._draft_of(shape)
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._waiting: deque[Sequence] = deque()
        self._running: list[Sequence] = []
        self._under_way: deque[tuple[list[Planned], Waiting]] = deque()
        self._stopping = False
        self._cold = deque(self.limits.warm)
        self._prepared = 1  # pages that have memory
        self.counts = Counts()
        self._thread = threading.Thread(target=self._run, name="llm", daemon=True)
        self._thread.start()

    def _network_of(self, folder: str, pages: int) -> Forward:
        limits = self.limits
        if limits.weights == "bfloat16":
            return self._device_network(*load(folder), pages)
        if limits.parts * limits.stages == 1:
            return Network(*load(folder), limits.weights, pages, limits.adapters)
        from mindspore_serving.llm.network_group import NetworkGroup

        check(self.shape, limits.parts, limits.stages)
        return NetworkGroup(folder, limits.weights, pages, limits.adapters, limits.parts, limits.stages)

    def _device_network(self, shape: Shape, weights: Weights, pages: int) -> Forward:
        limits = self.limits
        if limits.parts * limits.stages > 1 or limits.guesses:
            raise ValueError("weights of bfloat16 are for one device, and without guesses")
        from mindspore_serving.llm.device_network import DeviceNetwork

        return DeviceNetwork(shape, weights, pages, limits.adapters, limits.sequences, limits.in_order)

    def _draft_of(self, shape: Shape) -> Draft:
        if not self.limits.guesses:
            return NoDraft()
        if not self.limits.draft:
            return Lookup()
        from mindspore_serving.llm.draft_model import DraftModel

        return DraftModel(self.limits.draft, shape.vocabulary, self.limits.cache_megabytes, self.limits.weights)

    # -- for clients, any thread

    @property
    def available(self) -> bool:
        return self._thread.is_alive() and not self._stopping

    def embed(self, prompt: list[int], emit: Callable[[Event], object], adapter: int = 0) -> Sequence:
        """Queue a text whose embedding is wanted: the last token's state behind the last norm, of length 1."""
        return self.submit(prompt, Sampling(temperature=0.0, max_tokens=1), emit, embeds=True, adapter=adapter)

    def submit(
        self,
        prompt: list[int],
        sampling: Sampling,
        emit: Callable[[Event], object],
        constraint: Constraint | None = None,
        embeds: bool = False,
        adapter: int = 0,
        priority: int = 0,
        reads: bool = False,
    ) -> Sequence:
        """Queue a sequence; ServingError if it cannot be answered. Those of lower `priority` come first. `reads`: the probabilities of
        the prompt's tokens, from the second on, are wanted before the first new one."""
        if not prompt:
            raise ServingError("the prompt is empty")
        for name, tokens in (("the prompt", prompt), ("'logit_bias'", sampling.bias)):
            if any(not 0 <= token < self.shape.vocabulary for token in tokens):
                raise ServingError(f"a token of {name} is not in 0…{self.shape.vocabulary - 1}")
        if len(prompt) + sampling.max_tokens > self.longest:
            raise ServingError(
                f"a prompt of {len(prompt)} tokens and {sampling.max_tokens} new ones exceed the {self.longest} that are possible"
            )
        sequence = Sequence(prompt, sampling, emit, next(self._numbers), constraint, embeds, reads, adapter=adapter, priority=priority)
        with self._changed:
            if self._stopping:
                raise ServingError("the model is not available", Kind.UNAVAILABLE)
            if len(self._waiting) >= self.limits.waiting:
                raise Overloaded(self.limits.waiting)
            bisect.insort(self._waiting, sequence, key=lambda s: s.turn)
            self._changed.notify()
        return sequence

    def cancel(self, sequence: Sequence) -> None:
        sequence.cancelled = True

    @property
    def longest(self) -> int:
        """Tokens of a text, its prompt included: as many as the model knows positions, and as the cache holds."""
        return min(self.shape.positions, self.pages.count * BLOCK)

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
        try:
            while self._wait_for_work():
                self.step()
        finally:
            self._close()

    def _wait_for_work(self) -> bool:
        with self._changed:
            while not self._waiting and not self._running:
                if self._stopping:
                    return False
                if self._cold or self._wanted_pages > self._prepared:
                    break
                self._changed.wait()
            idle = not self._waiting and not self._running
        if idle:
            with contextlib.suppress(Lost):  # then it is warmed by use
                self._get_ready()
        return True

    @property
    def _wanted_pages(self) -> int:
        """How many pages should have memory."""
        return min(self.pages.furthest + _PAGES_AHEAD, self.pages.count) + 1

    def _get_ready(self) -> None:
        """A little of what requests to come will need."""
        if self._cold:
            self._network.warm(*self._cold.popleft())
            return
        first = max(self._prepared, self.pages.furthest + 1)
        self._prepared = min(first + _PAGES_AT_ONCE, self._wanted_pages)
        self._network.prepare(first, self._prepared)

    @property
    def warming(self) -> bool:
        """Whether there are graphs to compile yet."""
        return bool(self._cold)

    def _close(self) -> None:
        """Nothing more is accepted. Who still waits, after a step that failed, is told."""
        with self._changed:
            self._stopping = True
            left = [*self._waiting, *self._running]
            self._waiting.clear()
            self._running = []
        self._network.close()
        for sequence in left:
            sequence.emit(Event(reason="error", error=ServingError("internal error", Kind.FAILED)))

    def step(self) -> None:
        for sequence in [sequence for sequence in self._running if sequence.cancelled or self._is_late(sequence)]:
            self._finish(sequence, None)
        self._admit()
        try:
            plan = self._plan()
        except Crowded:
            self._take_in_all()
            plan = self._plan()
        try:
            if plan:
                self._begin(plan)
            if self._under_way and (not plan or len(self._under_way) > self._network.ahead):
                self._take_in_oldest()
        except Lost:
            self._begin_again([entry.sequence for entry in plan])

    def _begin(self, plan: list[Planned]) -> None:
        parts = [_part(entry, self._network.ahead > 0) for entry in plan]
        waiting = self._network.begin(parts)
        self._under_way.append((plan, waiting))
        for entry, row in zip(plan, self._network.rows_of(parts)):
            sequence = entry.sequence
            sequence.computed += entry.count
            if entry.wanted > entry.read:
                sequence.coming, sequence.row = sequence.coming + 1, row

    def _take_in_all(self) -> None:
        while self._under_way:
            self._take_in_oldest()

    def _take_in_oldest(self) -> None:
        plan, waiting = self._under_way.popleft()
        results = iter(waiting())
        self.counts.steps += 1
        for entry in plan:
            sequence = entry.sequence
            mine = list(itertools.islice(results, entry.wanted))
            if sequence.finished:
                continue
            self._note_full(sequence, entry.start, entry.count)
            if entry.read:
                self._read(sequence, entry.start + entry.count - entry.wanted, mine[: entry.read])
            own = mine[entry.read :]
            sequence.coming -= bool(own)
            if sequence.embeds and own:
                self._embedded(sequence, own[0])
            elif own:
                self._take_in(sequence, own, entry.guesses)

    def _begin_again(self, computed: list[Sequence]) -> None:
        """All keys and values are lost, and computed again; what was under way then too often is given up."""
        for sequence in list(self._running):
            self._preempt(sequence)
        self.pages.forget_all()
        for sequence in computed:
            sequence.losses += 1
        with self._changed:
            hopeless = [sequence for sequence in self._waiting if sequence.losses >= ATTEMPTS]
            self._waiting = deque(sequence for sequence in self._waiting if sequence not in hopeless)
        for sequence in hopeless:
            self._draft.forget(sequence.number)
            sequence.finished = True
            sequence.emit(
                Event(
                    reason="error",
                    error=ServingError("the model's processes died repeatedly on this request", Kind.FAILED),
                )
            )

    def _read(self, sequence: Sequence, row: int, results: list[Scores | Choice]) -> None:
        """Tell the probabilities of the prompt's tokens that follow `row` and the next ones."""
        following = zip(sequence.prompt[row + 1 :], results)
        choices = tuple(weighed(found, token, sequence.sampling.logprobs or 0) for token, found in following if isinstance(found, Scores))
        sequence.known = row + 1 + len(choices)
        sequence.emit(Event(read=choices))

    def _take_in(self, sequence: Sequence, results: list[Scores | Choice], guesses: list[int]) -> None:
        """Choose a token where that is not done, and further ones as long as the guesses before them were right."""
        if not sequence.sampling.max_tokens:
            self._finish(sequence, "length")
            return
        self.counts.guessed += len(guesses)
        for number, result in enumerate(results):
            if number:  # the row of a right guess: its keys and values are in the cache
                self.counts.guessed_right += 1
                self._note_full(sequence, sequence.computed, 1)
                sequence.computed += 1
            try:
                choice = result if isinstance(result, Choice) else self._chosen(sequence, result)
                self._continue(sequence, choice)
            except ServingError as error:  # of the constraint
                self._finish(sequence, None)
                sequence.emit(Event(reason="error", error=error))
                return
            if sequence.finished or number == len(guesses) or choice.token != guesses[number]:
                return

    def _chosen(self, sequence: Sequence, scores: Scores) -> Choice:
        allowed = sequence.constraint.allowed() if sequence.constraint is not None else None
        return choose(scores, sequence.sampling, sequence.prompt, sequence.made, allowed)

    def _admit(self) -> None:
        with self._changed:
            while self._waiting and len(self._running) < self.limits.sequences:
                sequence = self._waiting.popleft()
                if sequence.cancelled or self._is_late(sequence):
                    continue
                sequence.table = [] if sequence.is_reading else self.pages.find_prefix(sequence.tokens, sequence.adapter)
                sequence.computed = len(sequence.table) * BLOCK
                self._running.append(sequence)

    def _is_late(self, sequence: Sequence) -> bool:
        """Whether it has taken longer than it may; whoever waits for it has been told then."""
        if not self.limits.seconds or time.monotonic() - sequence.arrived < self.limits.seconds:
            return False
        text = f"the answer took longer than {self.limits.seconds:g} seconds"
        sequence.emit(Event(reason="error", error=ServingError(text, Kind.DEADLINE)))
        return True

    def _plan(self) -> list[Planned]:
        """Those being continued first, then prompts, by priority, oldest first."""
        budget = self.limits.tokens_per_step
        guesses = self._guesses(budget)
        readable = self.limits.sequences - sum(not sequence.is_reading for sequence in self._running)
        plan: list[Planned] = []
        for sequence in sorted(self._running, key=lambda s: (s.left > 1, s.turn)):
            count = min(sequence.left, budget, readable if sequence.is_reading else budget)
            mine = guesses.get(sequence.number, [])[: budget - count]
            if count <= 0 or sequence not in self._running or not sequence.may_go_on:
                continue
            if not self._reserve(sequence, sequence.computed + count + len(mine)):
                continue
            start, follows = sequence.computed, count == sequence.left
            read = max(start + count - follows - max(start, sequence.known - 1), 0) if sequence.is_reading else 0
            wanted = read + (1 + len(mine) if follows else 0)
            plan.append(Planned(sequence, start, count, mine, wanted, read))
            budget -= count + len(mine)
            readable -= wanted if sequence.is_reading else 0
        return [entry for entry in plan if entry.sequence in self._running]

    def _guesses(self, budget: int) -> dict[int, list[int]]:
        """Guesses for sequences that are being continued, by number; none when the step is full without them."""
        if not self.limits.guesses or len(self._running) * (1 + self.limits.guesses) > budget:
            return {}
        waiting = [s for s in self._running if s.made and s.left == 1]
        rooms = [min(self.limits.guesses, s.sampling.max_tokens - len(s.made) - 1) for s in waiting]
        found = self._draft.guess([s.number for s in waiting], [s.tokens for s in waiting], self.limits.guesses)
        return {s.number: guesses[:room] for s, room, guesses in zip(waiting, rooms, found)}

    def _reserve(self, sequence: Sequence, tokens: int) -> bool:
        """Pages for so many tokens, taken from sequences that came later or are less urgent if need be."""
        while len(sequence.table) * BLOCK < tokens:
            try:
                sequence.table.append(self.pages.take())
            except OutOfPages:
                if self._under_way:
                    raise Crowded from None
                last = max(self._running, key=lambda s: s.turn)
                self._preempt(last)
                if last is sequence:
                    return False
        return True

    def _preempt(self, sequence: Sequence) -> None:
        self.counts.preemptions += 1
        self.pages.release(sequence.table)
        sequence.table, sequence.computed, sequence.coming = [], 0, 0
        self._running.remove(sequence)
        with self._changed:
            bisect.insort(self._waiting, sequence, key=lambda s: s.turn)

    def _note_full(self, sequence: Sequence, start: int, count: int) -> None:
        first, last = start // BLOCK, (start + count) // BLOCK
        tokens = sequence.tokens
        for number in range(first, last):
            self.pages.note_full(
                sequence.table, number, tokens[number * BLOCK : (number + 1) * BLOCK], sequence.adapter
            )

    def _continue(self, sequence: Sequence, choice: Choice) -> None:
        if not sequence.made:
            self.counts.prompt_tokens += len(sequence.prompt)
            self.counts.first_tokens += 1
            self.counts.first_token_seconds += time.monotonic() - sequence.arrived
        self.counts.made_tokens += 1
        sequence.add(choice.token)
        if sequence.constraint is not None and choice.token not in self.shape.end:
            sequence.constraint.accept(choice.token)
        if choice.token in self.shape.end and not sequence.sampling.ignore_end:
            self._finish(sequence, "stop")
            return
        sequence.emit(Event(choice))
        if sequence.constraint is not None and sequence.constraint.complete:
            self._finish(sequence, "stop")
        elif len(sequence.made) >= sequence.sampling.max_tokens:
            self._finish(sequence, "length")

    def _embedded(self, sequence: Sequence, result: Scores | Choice) -> None:
        assert isinstance(result, Scores)
        state = result.logits
        self.counts.prompt_tokens += len(sequence.prompt)
        length = float(np.linalg.norm(state))
        sequence.emit(Event(embedding=state / length if length else state))
        self._finish(sequence, "stop")

    def _finish(self, sequence: Sequence, reason: Reason | None) -> None:
        self._running.remove(sequence)
        self.pages.release(sequence.table)
        self._draft.forget(sequence.number)
        sequence.table, sequence.finished = [], True
        if reason is not None:
            sequence.emit(Event(reason=reason))


def _part(entry: Planned, chooses: bool) -> Part:
    """`chooses`: whether tokens are chosen where the network is, where they can be."""
    sequence, last = entry.sequence, entry.start + entry.count
    tokens = [*sequence.tokens[entry.start : last], *entry.guesses] or [
        0
    ]  # the one that is coming: the device puts it in
    return Part(
        tokens,
        entry.start,
        sequence.table,
        entry.wanted,
        sequence.embeds,
        sequence.adapter,
        sequence.draw if chooses and entry.wanted and sequence.is_free else None,
        sequence.row if last > len(sequence.tokens) else -1,
    )
