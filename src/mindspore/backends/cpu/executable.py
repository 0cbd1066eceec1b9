"""A compiled graph: steps, a memory plan, and one native call that runs them all.

The steps become a table of (function, argument) addresses. A few lines of machine code (`runner`) go through it, so
Python is entered again only by host steps. An *instance* has the tables that point into an arena; calls that
overlap (threads, recursion) get an instance and an arena each.

New values of donated parameters overwrite the old ones where the graph allows it. Other results go to arrays of
ours; an array is handed out again only when nobody but us refers to it, so results never change under the caller's
hands and yet a loop allocates nothing.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import mpi, watch
from mindspore.backends.cpu import arena, dnnl, openmp, outbox, preparation, runner
from mindspore.backends.cpu.addresses import address_of
from mindspore.backends.cpu.layout import Buffer, View, numpy_dtype, strides
from mindspore.backends.cpu.steps import CallStep, CompareStep, DnnlStep, HostStep, KernelStep, Step, StopStep
from mindspore.compiler.memory.plan import Interval, Plan, plan

if TYPE_CHECKING:
    from mindspore.prims import world


@dataclass
class Blueprint:
    """Everything about a compiled graph that does not depend on addresses.

    `preparation`: steps that depend on weights alone, which are the inputs `kept_inputs`; `functions`: the loop over steps, if it
    is not the one that is compiled here.
    """

    name: str
    inputs: list[tuple[tuple[int, ...], str]]
    results: list[View | None]
    preparation: list[Step]
    steps: list[Step]
    kept_inputs: tuple[int, ...]
    arena: list[Buffer]
    kept: list[Buffer]
    plan: Plan
    functions: runner.Functions | None = None

    @classmethod
    def of(
        cls,
        name: str,
        steps: list[Step],
        inputs: list[tuple[tuple[int, ...], str]],
        results: list[View | None],
        weights: frozenset[int] = frozenset(),
    ) -> Blueprint:
        """`weights`: inputs that are likely to be the same in the next call."""
        first, others, kept_inputs = preparation.split(steps, weights)
        buffers = buffers_of([*first, *others])
        arena = [b for b in buffers if b.kind == "arena"]
        kept = [b for b in buffers if b.kind == "kept"]
        made = plan([Interval(b.nbytes, b.first, b.last) for b in arena])
        return cls(name, inputs, results, first, others, kept_inputs, arena, kept, made)


def buffers_of(steps: Sequence[Step]) -> list[Buffer]:
    """All memory that steps use, each piece once."""
    found: dict[int, Buffer] = {}
    for step in steps:
        for buffer in (*(v.buffer for v in step.views), *((step.scratch,) if step.scratch else ())):
            found[id(buffer)] = buffer
    return list(found.values())


class Instance:
    """Address tables for one call at a time, into a shared arena or one of its own."""

    def __init__(self, blueprint: Blueprint, shared: arena.Arena | None = None):
        self.blueprint = blueprint
        self.functions = blueprint.functions or runner.functions()
        self.arena = shared or arena.Arena(blueprint.plan.peak)
        self.arena.join()
        self.places = {id(b): self.arena.address + o for b, o in zip(blueprint.arena, blueprint.plan.offsets)}
        self.kept = preparation.Kept(blueprint.kept, self.places)
        self.external: dict[tuple[str, int], int] = {}  # of this call: ("input" | "output", number) -> address
        self.patches: list[tuple[tuple[str, int], int, int]] = []  # (whose address, byte offset, word to set)
        self.words: list[int] = []
        self.links: list[tuple[int, int]] = []  # (word to set, word whose address it holds)
        self.alive: list[Any] = []  # objects the tables point to
        self.error: BaseException | None = None
        self._build()

    def __del__(self, finalizing: Callable = sys.is_finalizing) -> None:  # bound here: modules are emptied at the end
        if hasattr(self, "arena") and not finalizing():
            self.arena.leave()

    # -- tables ---------------------------------------------------------------------------------------------------
    def _address(self, view: View) -> int | None:
        """Where a view is, or None when only a call will tell."""
        buffer = view.buffer
        if buffer.kind in ("arena", "kept"):
            return self.places[id(buffer)] + view.byte_offset
        if buffer.kind == "constant":
            return buffer.source.ctypes.data + view.byte_offset
        return None

    def _word(self, view: View) -> int:
        """Append a word that holds a view's address during calls."""
        address = self._address(view)
        if address is None:
            self.patches.append(((view.buffer.kind, view.buffer.source), view.byte_offset, len(self.words)))
        self.words.append(address or 0)
        return len(self.words) - 1

    def _build(self) -> None:
        rows = [self._rows(steps) for steps in (self.blueprint.preparation, self.blueprint.steps)]
        self.word_array = np.array([*self.words, 0], np.int64)
        self.word_view = memoryview(self.word_array.data)
        for word, target in self.links:
            self.word_array[word] = self.word_array.ctypes.data + 8 * target
        self.preparation, self.table = map(self._resolved, rows)
        self.count = len(rows[1])
        self.table_address = self.table.ctypes.data
        self.run = self.functions.run

    def _rows(self, steps: list[Step]) -> list[tuple[int, Any]]:
        """(function, argument) of every step; the argument is a word number or an address. First, what moves memories."""
        rows: list[tuple[int, Any]] = []
        native = self.functions
        movers: list[tuple[int, Any]] = []
        for number, step in enumerate(steps):
            row: tuple[int, Any]
            if isinstance(step, KernelStep):
                row = (step.compiled.address, self._kernel_block(step))  # type: ignore[union-attr]
            elif isinstance(step, DnnlStep):
                row = (native.execute, self._dnnl_block(step, movers, native.move))
            elif isinstance(step, StopStep):
                row = (native.stop, (self._word(step.reads[0]),))
            elif isinstance(step, CallStep):
                row = (runner.communicating()[0], self._call_block(step.note, step.function, step.arguments))
            elif isinstance(step, CompareStep):
                row = (runner.communicating()[1], self._compare_block(step))
            else:
                assert isinstance(step, HostStep)
                row = (self._callback(step), number)
            rows.append(row if step.guard is None else (native.guarded, self._guard_block(step.guard, *row)))
        return movers + rows

    def _guard_block(self, guard: View, function: int, argument: Any) -> tuple[int]:
        """Words: address of the byte that decides, and the step."""
        start = self._word(guard)
        self.words += [function, 0 if isinstance(argument, tuple) else argument]
        if isinstance(argument, tuple):
            self.links.append((start + 2, argument[0]))
        return (start,)

    def _resolved(self, rows: list[tuple[int, Any]]) -> np.ndarray:
        base = self.word_array.ctypes.data
        resolved: list[int] = []
        for function, argument in rows:
            resolved.extend((function, base + 8 * argument[0] if isinstance(argument, tuple) else argument))
        return np.array([*resolved, 0], np.int64)

    def _prepare(self, weights: Sequence[Any], own: bool) -> None:
        """Compute what depends on weights alone, unless it is there from an earlier call."""
        if self.kept.are_valid(weights):
            return
        self.kept.forget()
        preparation.make_room()
        if self.functions.run(self.preparation.ctypes.data, len(self.preparation) // 2):
            raise RuntimeError(f"preparing the weights of the graph {self.blueprint.name!r} failed")
        self.kept.were_made(weights, own)

    def _kernel_block(self, step: KernelStep) -> tuple[int]:
        start = len(self.words)
        scratch = self.places[id(step.scratch)] if step.scratch else 0
        self.words += [scratch, step.threads, step.extent]
        for view in step.operands:
            self._word(view)
        return (start,)

    def _dnnl_block(self, step: DnnlStep, movers: list, move: int) -> tuple[int]:
        """Words: primitive, stream, number of arguments, address of the arguments."""
        memories: dict[int, int] = {}
        operands = dict(step.operands)
        assert step.op is not None
        for argument, (desc, view) in operands.items():
            address = self._address(view)
            memory = dnnl.Memory(desc, address or self.arena.address)
            self.alive.append(memory)
            memories[argument] = memory.handle
            if address is None:
                start = len(self.words)
                self.words.append(memory.handle)
                self._word(view)
                movers.append((move, (start,)))
        if step.scratch:
            memory = dnnl.Memory(step.op.desc(dnnl.SCRATCHPAD), self.places[id(step.scratch)])
            self.alive.append(memory)
            memories[dnnl.SCRATCHPAD] = memory.handle
        arguments = dnnl.exec_args(memories)
        self.alive.append(arguments)
        start = len(self.words)
        self.words += [step.op.handle, dnnl.stream().value or 0, len(memories), ctypes.addressof(arguments)]
        return (start,)

    def _call_block(self, note: int, function: str, arguments: Sequence[Any]) -> tuple[int]:
        """Words: the transport's cell, the note, the function, and nine arguments, of which it takes what it needs."""
        start = len(self.words)
        self.words += [_transport().cell, note, outbox.post() if function == outbox.POST else mpi.address(function)]
        for argument in arguments:
            if isinstance(argument, View):
                self._word(argument)
            else:
                self.words.append(argument)
        self.words += [0] * (9 - len(arguments))
        return (start,)

    def _compare_block(self, step: CompareStep) -> tuple[int]:
        transport, start = _transport(), len(self.words)
        counter, limit = transport.comparisons(step.ranks)
        self.words += [counter, limit, step.digest, 0, 0, 0]
        communicator = transport.communicator(step.ranks)
        arguments = (mpi.IN_PLACE, 0, 2, mpi.TYPES["int64"], mpi.OPERATIONS["max"], communicator, 0)
        # Begun and awaited, as collectives of PyNative mode compare theirs: a blocking call would not meet one that is begun.
        (begin,) = self._call_block(step.note, "MPI_Iallreduce_c", arguments)
        (wait,) = self._call_block(step.note, "MPI_Wait", (0, 0))
        numbers, request = start + 3, start + 5
        self.links += [(begin + 3 + 1, numbers), (begin + 3 + 6, request), (wait + 3, request)]
        return (start,)

    # -- host steps -----------------------------------------------------------------------------------------------
    def _callback(self, step: HostStep) -> int:
        def call(_: int | None) -> int:
            try:
                self._host(step)
                return 0
            except BaseException as error:  # raised again once the native call has returned
                self.error = error
                return 1

        function = runner.STEP(call)
        self.alive.append(function)
        return ctypes.cast(function, ctypes.c_void_p).value or 0

    def _host(self, step: HostStep) -> None:
        if step.fill is not None:
            step.fill([self._array(v).reshape(v.shape) for v in step.reads], [self._array(v) for v in step.writes])
            return
        assert step.function is not None
        results = step.function([self._array(v).reshape(v.shape) for v in step.reads])
        for view, result in zip(step.writes, results):
            place = self._array(view)
            np.copyto(place, np.asarray(result).reshape(place.shape), casting="unsafe")

    def _array(self, view: View) -> np.ndarray:
        """A view as an array; a dimension in blocks is an axis for the blocks and one within them."""
        address = self._address(view)
        if address is None:
            address = self.external[view.buffer.kind, view.buffer.source] + view.byte_offset
        dtype = numpy_dtype(view.dtype)
        if view.size == 0:
            return np.empty(view.shape, dtype)
        plain, pairs = strides(view), [pair for dim in view.dims or () for pair in dim]
        shape = view.shape if plain is not None else tuple(extent for extent, _ in pairs)
        steps = [s * dtype.itemsize for s in (plain if plain is not None else (stride for _, stride in pairs))]
        low = min(0, sum((d - 1) * s for d, s in zip(shape, steps) if s < 0))
        high = sum((d - 1) * s for d, s in zip(shape, steps) if s > 0) + dtype.itemsize
        memory = (ctypes.c_char * (high - low)).from_address(address + low)
        return np.ndarray(shape, dtype, memory, -low, steps)  # type: ignore[arg-type]

    # -- a call ---------------------------------------------------------------------------------------------------
    def __call__(self, external: dict[tuple[str, int], int], weights: Sequence[Any] = (), own: bool = False) -> None:
        """`weights`: the arrays that kept values come from; `own`: nobody else refers to them.

        `external` need not tell the addresses of weights that nothing but kept values comes from, while these are valid.
        """
        self.external = external
        words = self.word_view
        for whose, offset, word in self.patches:
            address = external.get(whose)
            if address is not None:
                words[word] = address + offset
        if self.blueprint.preparation:
            self._prepare(weights, own)
        self._run_steps()

    def repeat(self, external: dict[tuple[str, int], int], calls: Sequence[dict[tuple[str, int], int]]) -> int:
        """Run once for each of `calls`, which tell the addresses that differ from call to call; `external` tells the others.
        Returns how many calls came to their end. No step may be the host's."""
        for whose, offset, word in self.patches:
            if whose in external:
                self.word_view[word] = external[whose] + offset
        patches = [patch for patch in self.patches if patch[0] in calls[0]]
        places = np.array([word for _, _, word in patches], np.int64)
        rows = np.array([[call[whose] + offset for whose, offset, _ in patches] for call in calls], np.int64)
        made = np.zeros(1, np.int64)
        status = runner.repeated()(
            self.table_address, self.count, self.word_array.ctypes.data, places.ctypes.data, len(patches),
            rows.ctypes.data, len(calls), made.ctypes.data,
        )  # fmt: skip
        if status:
            self.fail(status)
        return int(made[0])

    def _run_steps(self) -> None:
        status = self.run(self.table_address, self.count)
        if status:
            self.fail(status)

    def fail(self, status: int) -> None:
        """Raise what a step of the host raised, or say which step failed."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        number, code = status >> 8, status & 255
        if code == runner.STOPPED:  # the results say why
            return
        shift = self.count - len(self.blueprint.steps)
        if code in (runner.CALL_FAILED, runner.DIFFERENT):
            step = self.blueprint.steps[number - shift]
            assert isinstance(step, (CallStep, CompareStep))
            _transport().failed(step.note, code == runner.DIFFERENT)
        name = self.blueprint.steps[number - shift].name if number >= shift else "move"
        raise RuntimeError(
            f"step {number - shift} ({name}) of the graph {self.blueprint.name!r} failed with status {code}"
        )


def _transport() -> world.NativeTransport:
    from mindspore.prims import world  # few graphs communicate

    transport = world.transport()
    if not isinstance(transport, world.NativeTransport):
        raise RuntimeError("this graph was compiled for a run of processes that has been left: compile it again.")
    return transport


def _unheld(arrays: list[np.ndarray], references: int) -> np.ndarray | None:
    """The first array of a list with at most so many references, as seen from here."""
    for array in arrays:
        if sys.getrefcount(array) <= references:
            return array
    return None


def _count_references() -> int:
    """What `_unheld` counts for an array that only its list refers to; it depends on the interpreter."""
    arrays = [np.empty(1)]
    return next(n for n in range(1, 9) if _unheld(arrays, n) is not None)


_UNHELD = _count_references()


class ResultArrays:
    """Arrays for the results of calls, used again when nobody holds them any more."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, keep: bool = True):
        self.keep = keep
        self.shape = shape
        self.dtype = dtype
        self.arrays: list[np.ndarray] = []

    def take(self) -> np.ndarray:
        found = _unheld(self.arrays, _UNHELD)
        if found is not None:
            return found
        array = np.empty(self.shape, self.dtype)
        if not self.keep:
            return array
        self.arrays.append(array)
        if len(self.arrays) > 3:  # a caller that keeps results: do not keep them too
            del self.arrays[0]
        return array


class CpuExecutable:
    """Calls a compiled graph with arrays."""

    def __init__(self, blueprint: Blueprint, donated: frozenset[int] = frozenset(), threads: int = 0):
        """`threads`: that it was compiled for; 0 are those of the process."""
        self.blueprint = blueprint
        self.threads = threads
        self._free: list[Instance] = []
        self._lock = threading.Lock()
        self._inputs = [(shape, numpy_dtype(dtype) if dtype else None) for shape, dtype in blueprint.inputs]
        # A result that may come back as a donated parameter must be the caller's alone.
        returning = {blueprint.inputs[i] for i in donated}
        self._results = [
            None if v is None else ResultArrays(v.shape, numpy_dtype(v.dtype), keep=(v.shape, v.dtype) not in returning)
            for v in blueprint.results
        ]
        self._in_place = {
            number: v.buffer.source
            for number, v in enumerate(blueprint.results)
            if v is not None and v.buffer.kind == "input"
        }
        self._overwritten = frozenset(self._in_place.values())
        self.waits = any(isinstance(s, (CallStep, CompareStep)) for s in blueprint.steps)  # for other processes
        self.kept_inputs = blueprint.kept_inputs
        self._every_input = [n for n, (_, dtype) in enumerate(self._inputs) if dtype is not None]
        read = {v.buffer.source for s in blueprint.steps for v in s.views if v.buffer.kind == "input"}
        self._read_always = [n for n in self._every_input if n in read or n not in self.kept_inputs]

    def __call__(self, *arrays: Any, own: bool = False) -> tuple:
        """`own`: only the caller refers to the arrays of `kept_inputs`; what was made from them lasts until they are touched."""
        instance = self._any_instance()
        try:
            if not self.kept_inputs:
                return self._run(instance, arrays, own)
            with instance.kept:  # while it is in use, nobody takes back the memory of what is kept
                return self._run(instance, arrays, own)
        finally:
            self._give_back(instance)

    def _run(self, instance: Instance, arrays: tuple[Any, ...], own: bool) -> tuple:
        weights = [arrays[n] for n in self.kept_inputs]
        prepared = bool(weights) and instance.kept.are_valid(weights)
        external: dict[tuple[str, int], int] = {}
        held: dict[int, np.ndarray] = {}
        for number in self._read_always if prepared else self._every_input:
            held[number] = array = self._input(number, arrays[number])
            external["input", number] = address_of(array)
        with self._lock:
            results = [
                held[self._in_place[n]] if n in self._in_place else None if r is None else r.take()
                for n, r in enumerate(self._results)
            ]
        for number, result in enumerate(results):
            if result is not None:
                external["output", number] = address_of(result)
        if watch.WATCHED:
            for number in self._overwritten:
                watch.touched(held[number])
        weights = weights if prepared else [held[n] for n in self.kept_inputs]
        if self.threads:
            with openmp.limited(self.threads):
                instance(external, weights, own)
        else:
            instance(external, weights, own)
        return tuple(results)

    def _input(self, number: int, array: Any) -> np.ndarray:
        """An argument as the steps want it."""
        shape, dtype = self._inputs[number]
        if type(array) is not np.ndarray or array.dtype != dtype or not array.flags.c_contiguous:
            array = np.ascontiguousarray(array, dtype).reshape(shape)
        elif array.shape != shape:
            raise ValueError(f"argument {number} must have the shape {shape}, but got {array.shape}")
        return array.copy() if number in self._overwritten and not array.flags.writeable else array

    # -- several calls in one ---------------------------------------------------------------------------------------
    def may_repeat(self, state: Mapping[int, int]) -> bool:
        """Whether calls can be made in one whose results become arguments of the next one (`state`: argument -> result)."""
        native = all(isinstance(s, (KernelStep, DnnlStep, StopStep)) for s in self.blueprint.steps)
        return native and not self.kept_inputs and all(self._returns(*pair) for pair in state.items())

    def _returns(self, argument: int, result: int) -> bool:
        """Whether a result can stand where an argument stood."""
        view = self.blueprint.results[result]
        same = view is not None and self.blueprint.inputs[argument] == (view.shape, view.dtype)
        return same and self._in_place.get(result, argument) == argument

    def repeat(self, batches: Sequence[Sequence[Any]], others: Sequence[Any], state: Mapping[int, int]) -> tuple:
        """The results of the last of some calls, one for each batch; `others` are the arguments after those of a batch.

        Arguments in `state` are the caller's alone, and are written to. A call that reports an error is the last one; its results
        say so, but those of `state` are the values before it.
        """
        columns = [[self._input(n, column) for n, column in enumerate(batch)] for batch in batches]
        first = len(columns[0])
        held = {n: self._input(n, array) for n, array in enumerate(others, first) if n in self._every_input}
        with self._lock:
            taken = [None if r is None else r.take() for r in self._results]
        results = [held[self._in_place[n]] if n in self._in_place else r for n, r in enumerate(taken)]
        external = {("input", n): address_of(array) for n, array in held.items()}
        external |= {("output", n): address_of(r) for n, r in enumerate(results) if r is not None}
        calls = [{("input", n): address_of(c) for n, c in enumerate(batch)} for batch in columns]
        swapped = {a: r for a, r in state.items() if r not in self._in_place}
        for argument, result in swapped.items():
            places = [external.pop(("input", argument)), external.pop(("output", result))]
            for number, call in enumerate(calls):
                call["input", argument], call["output", result] = places[number % 2], places[1 - number % 2]
        if watch.WATCHED:
            for number in (*self._overwritten, *swapped):
                watch.touched(held[number])
        made = self._repeat(external, calls)
        for argument, result in swapped.items():
            results[result] = results[result] if made % 2 else held[argument]
        return tuple(results)

    def _repeat(self, external: dict[tuple[str, int], int], calls: list[dict[tuple[str, int], int]]) -> int:
        instance = self._any_instance()
        try:
            with openmp.limited(self.threads):
                return instance.repeat(external, calls)
        finally:
            self._give_back(instance)

    def _any_instance(self) -> Instance:
        """An instance with its arena locked."""
        with self._lock:
            instance = self._free_instance()
        return instance if instance is not None else self._new_instance()

    def _give_back(self, instance: Instance) -> None:
        instance.arena.lock.release()
        with self._lock:
            self._free.append(instance)

    def _new_instance(self) -> Instance:
        shared = arena.acquire(self.blueprint.plan.peak)
        try:
            return Instance(self.blueprint, shared)
        except BaseException:
            shared.lock.release()
            raise

    def _free_instance(self) -> Instance | None:
        """An instance that nobody uses, in an arena that nobody uses, which is then locked."""
        for number, instance in enumerate(self._free):
            if instance.arena.lock.acquire(blocking=False):
                return self._free.pop(number)
        return None

    def step_seconds(self, *arrays: Any, own: bool = False) -> list[tuple[Step, float]]:
        """One call, and how long each of its steps took."""
        self(*arrays, own=own)  # now an instance is there, and its weights are prepared
        found: list[float] = []

        def timed(table: int, count: int) -> int:
            stamps = np.zeros(count + 1, np.int64)
            begin = time.perf_counter()
            status = runner.timed()(table, count, stamps.ctypes.data)
            found[:] = np.diff(stamps) * ((time.perf_counter() - begin) / max(int(stamps[-1] - stamps[0]), 1))
            return status

        for instance in self._free:
            instance.run = timed
        try:
            self(*arrays, own=own)
        finally:
            for instance in self._free:
                instance.run = instance.functions.run
        return list(zip(self.blueprint.steps, found[len(found) - len(self.blueprint.steps) :]))

    def memory_report(self) -> dict[str, float]:
        """Bytes of the arena, bytes its tensors would take without sharing, and their ratio."""
        p = self.blueprint.plan
        return {"peak_bytes": p.peak, "total_bytes": p.total, "ratio": p.ratio}

    def steps(self) -> Sequence[str]:
        """The names of the steps in order, for reports."""
        return [s.name for s in (*self.blueprint.preparation, *self.blueprint.steps)]
