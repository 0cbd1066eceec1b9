"""Passages: deferred operations that follow from what is known beforehand, and are noted again as a whole.

The operations of a forward pass are called by the user's Python, one by one. Those of the backward pass follow from what the tape
has recorded, those of an optimizer's step from the Parameters it holds: to find them again, one by one, in every step
takes the host longer than an accelerator computes them. So

1. who is about to note such operations first says what they follow from, a `Cause`: a code (operations, kinds of arrays, numbers that
   say which array is meant) and the arrays. Equal codes have the same operations follow, on the arrays at the same places;
2. the first time the operations are noted as ever. `learn` then reads them off the trace. Each argument must be a result of
   the passage itself or one of the arrays; where it is anything else, the passage is not learned;
3. from then on `again` notes one step that stands for all of them. Only the results asked for become arrays at all.

A passage abbreviates and changes nothing: sequences are spelled out before plans are made of them, so they are compiled once,
to the same programs with the same bits, whether or not they were noted in passages (`spelled_out`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mindspore._base import keys
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import TensorBase
from mindspore.runtime.trace import DeferredArray, Passage, kind_of

if TYPE_CHECKING:
    from mindspore.runtime.deferred import Engine

#: passages that are kept; the oldest goes first
MOST_PASSAGES = 128


class Cause(NamedTuple):
    """What operations follow from."""

    code: tuple
    arrays: list[Any]


class Passages:
    """Those that an engine knows."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self._known: dict[tuple, Passage] = {}

    def again(self, cause: Cause) -> list[DeferredArray | None] | None:
        """The results that were asked for when these operations were noted before; None where they have to be noted one by one."""
        passage = self._known.get(cause.code)
        made = None if passage is None else self._engine.trace().add_passage(passage, cause.arrays)
        return None if passage is None or made is None else [None if p is None else made[p] for p in passage.places]

    def learn(self, cause: Cause, begin: tuple[int, int, int], asked: Sequence[Any]) -> None:
        """Keep what was noted since `begin`, a mark in the trace; of its results those that are `asked` for will be seen
        (None: nothing is to be seen there)."""
        passage = self._engine.trace().passage(begin, cause.arrays, asked)
        if passage is None:
            return
        if len(self._known) >= MOST_PASSAGES:
            self._known.pop(next(iter(self._known)), None)
        self._known[cause.code] = passage


def cause_of(code: list[Any], arrays: list[Any]) -> Cause | None:
    """The cause with this code, in which `arrays` go by their places; None where one of them has yet to be moved to the device.

    An array that stands in several places is part of the code.
    """
    seen: dict[int, int] = {}
    for place, array in enumerate(arrays):
        if type(array) is np.ndarray and array.ndim:
            return None
        seen.setdefault(id(_settled(array)), place)
    if len(seen) < len(arrays):
        code.append(tuple([seen[id(_settled(array))] for array in arrays]))
    code.append(len(arrays))
    return Cause(tuple(code), arrays)


def cause_of_calls(calls: Sequence[tuple[Primitive, tuple]]) -> Cause | None:
    """What follows from calls of primitives, none of which is about what another one writes."""
    code: list[Any] = []
    arrays: list[Any] = []
    numbers: dict[int, int] = {}  # of tensors, by id
    last = None
    for prim, args in calls:
        if prim is not last:
            last = prim
            if prim.requirements is not None:
                return None
            code.append(prim.cached_key())
        code.append(len(args))
        for arg in args:
            if not isinstance(arg, TensorBase):
                code += (None, keys.exact(arg))
                continue
            number = numbers.get(id(arg))
            if number is None:
                number = numbers[id(arg)] = len(arrays)
                data = arg._data
                arrays.append(data)
                code.append(kind_of(data))
            code.append(number)
    return cause_of(code, arrays)


def _settled(array: Any) -> Any:
    return array.settled if type(array) is DeferredArray else array


def spelled_out(steps: tuple, wanted: tuple[int, ...]) -> tuple[tuple, tuple[int, ...]]:
    """A sequence, and the numbers of its wanted results, with the operations of its passages in their places."""
    whole: list[tuple] = []
    numbers: list[int] = []  # of each result as it was noted: its number in the whole
    count = 0
    for operation, arguments in steps:
        given = tuple([n if n < 0 else numbers[n] for n in arguments])
        if type(operation) is not Passage:
            whole.append((operation, given))
            numbers += range(count, count + len(operation.outputs))
            count += len(operation.outputs)
            continue
        for inner, places in operation.steps:
            whole.append((inner, tuple([given[-1 - p] if p < 0 else count + p for p in places])))
        numbers += [count + n for n in operation.shown]
        count += operation.count
    return tuple(whole), tuple([numbers[n] for n in wanted])
