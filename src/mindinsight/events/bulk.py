"""Many events at once.

Event files are written by loops: thousands of records differ in time, step and value alone. The first record of a kind is
parsed the general way and becomes a `Template`: its bytes, and where time, step and numbers lie. All other records of the
same length are compared with the templates known for that length, as rows of a matrix, and their columns *are* the result.
Only what fits no template, or holds more than numbers, is parsed one by one.

To find a record's template without trying each, the bytes that no template of that length leaves open are hashed; the
comparison that follows is of all bytes, so a collision costs time and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mindinsight.events import framing
from mindinsight.events.event import Event, parse
from mindinsight.events.framing import FOOTER, HEADER, Bytes, Offsets
from mindinsight.events.wire import Malformed

_LONGEST_TEMPLATE = 16384
_MOST_TEMPLATES = 2048
_TIME_AT, _STEP_AT = 1, 10
_STEP_KEY = 0x10
_TABLE = 1 << 12


class Columns(NamedTuple):
    """The points of a tag: steps, times, values."""

    steps: NDArray[np.int64]
    times: NDArray[np.float64]
    values: NDArray[Any]  #: float32, or float64 where that is not enough

    def at(self, where: slice | NDArray[np.intp]) -> Columns:
        """Some of the points."""
        return Columns(self.steps[where], self.times[where], self.values[where])


class Found(NamedTuple):
    """What is no number: its kind, and where its bytes are, from the beginning of the stretch."""

    tag: str
    kind: int
    step: int
    wall_time: float
    offset: int
    length: int


@dataclass
class Batch:
    """What a stretch of a file says."""

    series: dict[str, Columns] = field(default_factory=dict)
    things: list[Found] = field(default_factory=list)
    damaged: int = 0
    version: str = ""
    first_time: float = 0.0


class Template(NamedTuple):
    """A kind of record: its bytes, which of them are open, and the numbers in it."""

    data: Bytes
    fixed: Bytes  #: 255 where a record must agree
    width: int  #: bytes of the step
    numbers: list[tuple[str, int, str]]


class _Family:
    """The templates of one length of record and of step, and a hash over the bytes that all of them fix."""

    def __init__(self, length: int) -> None:
        self.templates: list[Template] = []
        self._weights = np.random.default_rng(length).integers(1, 1 << 31, length, dtype=np.uint32) | np.uint32(1)
        self._places: NDArray[np.intp] = np.arange(0)
        self._table = np.full(_TABLE, -1, np.int16)

    def add(self, template: Template) -> None:
        self.templates.append(template)
        fixed = np.bitwise_and.reduce([t.fixed for t in self.templates])
        self._places = np.flatnonzero(fixed)
        if len(self.templates) > 1:  # bytes in which templates differ say most; the others say nothing
            same = np.all([t.data == template.data for t in self.templates], axis=0)
            self._places = np.flatnonzero(fixed.astype(bool) & ~same)
        self._table[:] = -1
        for number, known in enumerate(self.templates):
            self._table[self._hash(known.data[:, None])] = number

    def _hash(self, columns: Bytes) -> NDArray[np.uint32]:
        total = np.zeros(columns.shape[1], np.uint32)
        for place in self._places:
            total += columns[place] * self._weights[place]
        return (total >> np.uint32(20)) & np.uint32(_TABLE - 1)

    def guess(self, columns: Bytes) -> NDArray[np.int16]:
        """The template each record may be of; -1 for none."""
        if len(self.templates) == 1:
            return np.zeros(columns.shape[1], np.int16)
        return np.asarray(self._table[self._hash(columns)])


class Decoder:
    """Turns records into columns; keeps its templates from file to file."""

    def __init__(self) -> None:
        self._families: dict[tuple[int, int], _Family] = {}
        self._count = 0

    def decode(self, data: Bytes, starts: Offsets, lengths: Offsets, lineage: bool = False) -> tuple[Batch, Offsets]:
        """What whole records say, and the numbers of those that are damaged."""
        work = _Work(data, lineage)
        for length in np.unique(lengths):
            which = np.flatnonzero(lengths == length)
            # few records of a length at a time keep the matrices in the cache
            step = max(64, (1 << 20) // (int(length) + FOOTER))
            for first in range(0, which.size, step):
                self._same_length(work, which[first : first + step], starts, int(length))
        return work.batch(starts), np.array(sorted(work.damaged), np.int64)

    def _same_length(self, work: _Work, which: Offsets, starts: Offsets, length: int) -> None:
        rows = framing.rows(work.data, starts[which], length)
        columns = np.ascontiguousarray(rows.T)
        good = framing.intact(columns)
        if not good.all():
            work.damaged.extend(which[~good].tolist())
            rows, which = rows[good], which[good]
            columns = np.ascontiguousarray(columns[:, good])
        if length > _LONGEST_TEMPLATE or work.lineage or length < _STEP_AT + 4:
            work.one_by_one(rows, which)
            return
        widths = _step_widths(columns)
        for width in np.unique(widths):
            chosen = np.flatnonzero(widths == width)
            if chosen.size == which.size:
                self._same_shape(work, rows, columns, which, int(width))
            else:
                self._same_shape(work, rows[chosen], np.ascontiguousarray(columns[:, chosen]), which[chosen], int(width))

    def _same_shape(self, work: _Work, rows: Bytes, columns: Bytes, which: Offsets, width: int) -> None:
        length = rows.shape[1] - FOOTER
        while which.size:
            family = self._families.get((length, width))
            left = np.arange(which.size)
            if family is not None and family.templates:
                left = self._match(work, family, rows, columns, which)
                if not left.size:
                    return
            event = work.slow(rows[left[0], :length].tobytes(), int(which[left[0]]))
            template = event and _template(rows[left[0], :length], event, width)
            if template is None:
                # the first record is done; those like it follow one by one if nothing of this shape can be a template
                if family is None or not family.templates:
                    work.one_by_one(rows[left[1:]], which[left[1:]])
                    return
            else:
                self._learn(length, width, template)
            rest = left[1:]
            rows, columns, which = rows[rest], np.ascontiguousarray(columns[:, rest]), which[rest]

    def _learn(self, length: int, width: int, template: Template) -> None:
        if self._count >= _MOST_TEMPLATES:
            self._families.clear()
            self._count = 0
        self._count += 1
        self._families.setdefault((length, width), _Family(length)).add(template)

    @staticmethod
    def _match(work: _Work, family: _Family, rows: Bytes, columns: Bytes, which: Offsets) -> Offsets:
        """Take the records that fit a template; the places of the others."""
        length = rows.shape[1] - FOOTER
        guess = family.guess(columns)
        if len(family.templates) == 1:
            parts = [(0, np.arange(which.size))]
        else:
            order = np.argsort(guess, kind="stable")
            cuts = np.searchsorted(guess[order], np.arange(len(family.templates) + 1))
            parts = [(t, order[cuts[t] : cuts[t + 1]]) for t in range(len(family.templates))]
        left: list[Offsets] = [np.flatnonzero(guess < 0)]
        for number, chosen in parts:
            if not chosen.size:
                continue
            template, mine = family.templates[number], rows[chosen, :length]
            fits = ~((mine ^ template.data) & template.fixed).any(axis=1)
            if not fits.all():
                left.append(chosen[~fits])
                chosen, mine = chosen[fits], mine[fits]
            if chosen.size:
                work.take(template, mine, which[chosen])
        return np.sort(np.concatenate(left))


def _step_widths(columns: Bytes) -> NDArray[np.int8]:
    """Bytes of each record's step, 0 for records without one at its usual place."""
    widths: NDArray[np.int8] = (columns[_STEP_AT - 1] == _STEP_KEY).astype(np.int8)
    more = widths.astype(bool)
    for place in range(_STEP_AT, min(_STEP_AT + 9, len(columns) - FOOTER - 1)):
        more = more & (columns[place] >= 128)
        if not more.any():
            break
        widths[more] += 1
    return widths


def _template(data: Bytes, event: Event, width: int) -> Template | None:
    """A template from a record that holds numbers alone, in the usual places."""
    if event.things or event.version or not event.numbers or event.time_at != _TIME_AT:
        return None
    if (event.step_at, event.step_end) != ((_STEP_AT, _STEP_AT + width) if width else (-1, -1)):
        return None
    fixed = np.full(data.size, 255, np.uint8)
    fixed[_TIME_AT : _TIME_AT + 8] = 0
    fixed[_STEP_AT : _STEP_AT + width] = 0
    for number in event.numbers:
        size = int(number.dtype[-1])
        fixed[number.at : number.at + size] = 0
        # MindSpore writes a scalar twice, for TensorBoard's sake: fields 2 and 3, side by side
        if data[number.at - 1] == 0x15 and number.at + 9 <= data.size and data[number.at + 4] == 0x1D:
            fixed[number.at + 5 : number.at + 9] = 0
    # the step's bytes are open, but how many they are is not
    return Template(data.copy(), fixed, width, [(n.tag, n.at, n.dtype) for n in event.numbers])


def _steps(rows: Bytes, width: int) -> NDArray[np.int64]:
    steps = np.zeros(len(rows), np.uint64)
    for place in range(width):
        steps |= (rows[:, _STEP_AT + place] & np.uint8(127)).astype(np.uint64) << np.uint64(7 * place)
    return steps.view(np.int64)


class _Work:
    """What has been found so far in a stretch of a file."""

    def __init__(self, data: Bytes, lineage: bool) -> None:
        self.data = data
        self.lineage = lineage
        self.damaged: list[int] = []
        self._pieces: dict[str, list[tuple[Offsets, Columns]]] = {}
        self._slow: dict[str, tuple[list[int], list[int], list[float], list[float]]] = {}
        self._things: list[tuple[int, Event]] = []
        self._version, self._first_time = "", np.inf

    def take(self, template: Template, rows: Bytes, which: Offsets) -> None:
        """Records of a template, as columns."""
        times = rows[:, _TIME_AT : _TIME_AT + 8].copy().view("<f8").reshape(-1)
        steps = _steps(rows, template.width)
        for tag, at, dtype in template.numbers:
            values = rows[:, at : at + int(dtype[-1])].copy().view(dtype).reshape(-1)
            if dtype != "<f4":
                values = values.astype(np.float64)
            self._pieces.setdefault(tag, []).append((which, Columns(steps, times, values)))

    def one_by_one(self, rows: Bytes, which: Offsets) -> None:
        """Records that hold more than numbers."""
        for row, number in zip(rows, which.tolist()):
            self.slow(row[:-FOOTER].tobytes(), number)

    def slow(self, data: bytes, number: int) -> Event | None:
        """One record, the general way."""
        try:
            event = parse(data, self.lineage)
        except Malformed:
            self.damaged.append(number)
            return None
        if event.version:
            self._version, self._first_time = event.version, event.wall_time
        if event.things:
            self._things.append((number, event))
        for tag, at, dtype in event.numbers:
            numbers, steps, times, values = self._slow.setdefault(tag, ([], [], [], []))
            numbers.append(number)
            steps.append(event.step)
            times.append(event.wall_time)
            values.append(float(np.frombuffer(data, dtype, 1, at)[0]))
        return event

    def batch(self, starts: Offsets) -> Batch:
        """Everything, each tag in the order of the file."""
        for tag, (numbers, steps, times, values) in self._slow.items():
            order = np.argsort(numbers, kind="stable")
            columns = Columns(np.array(steps, np.int64), np.array(times), np.array(values)).at(order)
            self._pieces.setdefault(tag, []).append((np.array(numbers)[order], columns))
        batch = Batch(damaged=len(self.damaged), version=self._version)
        batch.first_time = self._first_time if np.isfinite(self._first_time) else 0.0
        batch.series = {tag: _in_order(pieces) for tag, pieces in self._pieces.items()}
        for number, event in sorted(self._things, key=lambda pair: pair[0]):
            base = int(starts[number]) + HEADER
            batch.things += [
                Found(t.tag, t.kind, event.step, event.wall_time, base + t.begin, t.end - t.begin) for t in event.things
            ]
        return batch


def _in_order(pieces: list[tuple[Offsets, Columns]]) -> Columns:
    if len(pieces) == 1:
        return _narrow(pieces[0][1])
    order = np.argsort(np.concatenate([which for which, _ in pieces]), kind="stable")
    steps, times, values = (np.concatenate(part)[order] for part in zip(*(columns for _, columns in pieces)))
    return _narrow(Columns(steps, times, values))


def _narrow(columns: Columns) -> Columns:
    """Values as float32 where that loses nothing."""
    values = columns.values
    if values.dtype != np.float32:
        with np.errstate(over="ignore"):
            narrow = values.astype(np.float32)
        if np.array_equal(narrow.astype(np.float64), values, equal_nan=True):
            return columns._replace(values=narrow)
    return columns
