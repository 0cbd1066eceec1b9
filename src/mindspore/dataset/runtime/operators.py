"""Stateful operators: each gives the (key, row) pairs of an epoch, one after the other.

`stream(epoch, start)` begins at row `start` of the epoch. Operators over a random-access source also offer
`refs(epoch)`: all keys and row numbers of the epoch as two arrays, with nothing loaded. Shuffling, skipping, taking
and repeating act on these references whenever they can, so no row is loaded that is not delivered, and a shuffle
buffer holds numbers instead of images.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mindspore.dataset.ir.leaf import MappableNode, Row, StreamNode
from mindspore.dataset.ir.ops import ConcatNode, ShuffleNode
from mindspore.dataset.runtime.context import RunContext
from mindspore.dataset.runtime.errors import PipelineError, user_code_error
from mindspore.dataset.samplers.mixing import Slots, mixed, uniform_slots

Pair = tuple[int, Any]
Refs = tuple[np.ndarray, np.ndarray]
_ENDLESS = 1 << 20  # passes that are set aside for a repetition without end


class Operator:
    """Base of the running operators."""

    def __init__(self, *children: Operator, columns: Sequence[str] | None = None):
        self.children = list(children)
        inherited = children[0].columns if children else []
        self.columns: list[str] = list(inherited if columns is None else columns)
        self._passes = 1  # of this operator in one epoch of the whole pipeline

    def repeated(self, count: int) -> None:
        """An operator above runs this one `count` times in each of its own passes."""
        self._passes *= _ENDLESS if count == -1 else count
        for child in self.children:
            child.repeated(count)

    def place(self, number: int) -> tuple[int, int, bool]:
        """What pass `number` is to users: the epoch, the pass in it, and whether it is the last one there."""
        epoch, turn = divmod(number, self._passes)
        return epoch, turn, turn == self._passes - 1

    @property
    def source(self) -> str | None:
        """What profiles call it, where rows come from outside the pipeline."""
        return None

    def stream(self, epoch: int, start: int = 0) -> Iterator[Pair]:
        raise NotImplementedError

    def refs(self, epoch: int) -> Refs | None:
        """Keys and row numbers of the epoch, or None when rows only come as they come."""
        return None

    def interrupt(self) -> None:
        """Wake whatever waits for the other side, as the pipeline is about to close."""
        for child in self.children:
            child.interrupt()

    def light(self) -> bool:
        """True when making a row costs less than handing it from one thread to another."""
        return False

    def waits(self) -> bool:
        """True when rows may be held back until earlier ones have been used."""
        return any(child.waits() for child in self.children)

    def close(self) -> None:
        for child in self.children:
            child.close()


def drop(pairs: Iterator[Pair], count: int) -> Iterator[Pair]:
    """The pairs after the first `count`."""
    return itertools.islice(pairs, count, None) if count else pairs


class RefOperator(Operator):
    """An operator whose every row is a reference: the source's order, and what rearranges it."""

    def stream(self, epoch, start=0):
        refs = self.refs(epoch)
        if refs is None:
            return drop(self.pairs(epoch), start)
        keys, rows = refs
        return zip(keys[start:].tolist(), rows[start:].tolist())

    def pairs(self, epoch: int) -> Iterator[Pair]:
        """The pairs of an epoch whose children have no references."""
        raise NotImplementedError


class SourceOrder(RefOperator):
    """The row numbers a sampler chooses."""

    def __init__(self, node: MappableNode, context: RunContext):
        super().__init__(columns=node.columns())
        self.node, self.context = node, context
        self._sampler, self._last_epoch = node.sampler.for_run(), 0
        self._memory: dict = {}

    def refs(self, epoch):
        reader, sampler = self.node.reader, self._sampler
        if epoch < self._last_epoch:  # a sampler with state only goes forward
            self._sampler = sampler = self.node.sampler.for_run()
        self._last_epoch = epoch
        draw = self.context.draw(epoch, self.node.uid, reader=reader, memory=self._memory)
        try:
            rows = sampler.draw_rows(len(reader), draw)
        except RuntimeError:
            raise
        except Exception as error:
            raise user_code_error(f"Sampler {type(sampler).__name__} failed.", error) from error
        return np.arange(len(rows), dtype=np.int64), rows


class StreamSource(Operator):
    """Rows as a stream reader gives them."""

    def __init__(self, node: StreamNode, context: RunContext):
        super().__init__(columns=node.columns())
        self.node, self.context = node, context

    @property
    def source(self):
        return f"source: {type(self.node.reader).__name__}"

    def stream(self, epoch, start=0):
        rows = self.node.reader.rows(epoch, self.context.rng(self.node.uid, epoch))
        return drop(enumerate(rows), start)


class Shuffle(RefOperator):
    """A buffer of rows of which each step gives a random one and takes the next into its place."""

    def __init__(self, child: Operator, node: ShuffleNode, context: RunContext):
        super().__init__(child)
        self.buffer_size, self.reset_each_epoch, self.uid = node.buffer_size, node.reset_each_epoch, node.uid
        self.context = context if node.seed is None else replace(context, seed=node.seed)
        self._slots = None if self.context.seed is None else Slots(self.context.seed)

    def refs(self, epoch):
        below = self.children[0].refs(epoch)
        if below is None:
            return None
        keys, rows = below
        if self.context.seed is None and self.buffer_size >= len(keys):
            order = self.context.rng(self.uid, epoch if self.reset_each_epoch else 0).permutation(len(keys))
        else:
            order = np.fromiter(self._mixed(iter(range(len(keys))), epoch, len(keys)), np.int64, len(keys))
        return keys[order], rows[order]

    def pairs(self, epoch):
        return self._mixed(self.children[0].stream(epoch), epoch, None)

    def _mixed(self, items: Iterator, epoch: int, count: int | None) -> Iterator:
        return mixed(items, self.buffer_size, self._chooser(epoch, count))

    def _chooser(self, epoch: int, count: int | None) -> Callable[[int], int]:
        if self._slots is None:
            return uniform_slots(self.context.rng(self.uid, epoch if self.reset_each_epoch else 0))
        if not self.reset_each_epoch:
            return Slots(self.context.root_seed).for_epoch(0, None)
        return self._slots.for_epoch(epoch, count)


class Skip(RefOperator):
    def __init__(self, child: Operator, count: int):
        super().__init__(child)
        self.count = count

    def refs(self, epoch):
        below = self.children[0].refs(epoch)
        return None if below is None else (below[0][self.count :], below[1][self.count :])

    def pairs(self, epoch):
        return self.children[0].stream(epoch, self.count)


class Take(RefOperator):
    def __init__(self, child: Operator, count: int):
        super().__init__(child)
        self.count = count

    def refs(self, epoch):
        below = self.children[0].refs(epoch)
        if below is None or self.count == -1:
            return below
        return below[0][: self.count], below[1][: self.count]

    def pairs(self, epoch):
        rows = self.children[0].stream(epoch)
        return rows if self.count == -1 else itertools.islice(rows, self.count)


#: row numbers of all passes that a repetition lists at once
_MANY_ROWS = 1 << 22
_MANY_PASSES = 1 << 13


class Repeat(RefOperator):
    """Several epochs of the child as one; -1 goes on for ever."""

    def __init__(self, child: Operator, count: int):
        super().__init__(child)
        self.count = count
        self._pass_by_pass = count == -1
        child.repeated(count)

    def refs(self, epoch):
        if self._pass_by_pass:
            return None
        passes, rows_so_far = [], 0
        for i in range(self.count):
            below = self.children[0].refs(epoch * self.count + i)
            if below is None:
                return None
            passes.append(below)
            rows_so_far += len(below[0])
            if i and (rows_so_far > _MANY_ROWS or i > _MANY_PASSES):  # too many to be written down; begins again below
                self._pass_by_pass = True
                return None
        # one key space for all passes: the keys of pass i stand above those of pass i - 1
        span = max((int(keys.max()) + 1 for keys, _ in passes if len(keys)), default=0)
        keys = np.concatenate([keys + i * span for i, (keys, _) in enumerate(passes)])
        return keys, np.concatenate([rows for _, rows in passes])

    def pairs(self, epoch):
        base, key = 0, -1
        for i in itertools.count() if self.count == -1 else range(self.count):
            some = False
            number = epoch * (_ENDLESS if self.count == -1 else self.count) + i
            for key, row in self.children[0].stream(number):
                some = True
                yield base + key, row
            if not some:
                return  # an empty child would loop for ever
            base += key + 1


class Pick(Operator):
    """Keep or reorder columns of a stream."""

    def __init__(self, child: Operator, positions: Sequence[int], columns: Sequence[str]):
        super().__init__(child, columns=columns)
        self.positions = list(positions)

    def stream(self, epoch, start=0):
        positions = self.positions
        for key, row in self.children[0].stream(epoch, start):
            yield key, tuple(row[i] for i in positions)


class Renamed(Operator):
    """The child under other column names."""

    def light(self):
        return self.children[0].light()

    def stream(self, epoch, start=0):
        return self.children[0].stream(epoch, start)

    def refs(self, epoch):
        return self.children[0].refs(epoch)


class Filter(Operator):
    def __init__(self, child: Operator, predicate: Callable, inputs: Sequence[int]):
        super().__init__(child)
        self.predicate, self.inputs = predicate, list(inputs)

    def stream(self, epoch, start=0):
        return drop(self._kept(epoch), start)

    def _kept(self, epoch):
        for key, row in self.children[0].stream(epoch):
            try:
                keep = self.predicate(*[row[i] for i in self.inputs])
            except Exception as error:
                raise user_code_error(f"filter operation: [predicate] failed. (row {key})", error) from error
            if not isinstance(keep, (bool, np.bool_)) and np.asarray(keep).size != 1:
                raise user_code_error(
                    "filter operation: [predicate] failed.",
                    TypeError(f"Invalid data type, predicate function should return true/false, but got: {keep!r}"),
                )
            if keep:
                yield key, row


class Zip(Operator):
    def stream(self, epoch, start=0):
        streams = [child.stream(epoch, start) for child in self.children]
        for key, pairs in enumerate(zip(*streams), start):
            yield key, tuple(itertools.chain.from_iterable(row for _, row in pairs))


class Concat(Operator):
    """Children one after the other; or one shard of that; or, `mixed`, the next row of a child drawn at random.

    A child is drawn with a probability that grows with the rows it has left, so that every way to interleave them is as
    likely as any other, and no row has to be kept until its turn comes.
    """

    def __init__(self, children, columns, node: ConcatNode, sizes: Sequence[int], context):
        super().__init__(*children, columns=columns)
        self.shard, self.mixed, self.uid = node.shard(), node.mixed(), node.uid
        self.sizes, self.context = sizes, context

    def stream(self, epoch, start=0):
        children = [self._rows(child, epoch) for child in self.children]
        rows = self._interleaved(children, epoch) if self.mixed else itertools.chain.from_iterable(children)
        first, step = self.shard
        return drop(enumerate(itertools.islice(self._alike(rows), first, None, step)), start)

    def _rows(self, child: Operator, epoch: int) -> Iterator[tuple[int, Row]]:
        """The rows of a child, numbered: each child's first row is compared with the one before it."""
        if child.columns != self.columns:
            raise PipelineError(
                f"Invalid columns, the datasets to be concatenated have different columns: {self.columns} and "
                f"{child.columns}."
            )
        for i, (_, row) in enumerate(child.stream(epoch)):
            yield i, row

    @staticmethod
    def _alike(rows: Iterator[tuple[int, Row]]) -> Iterator[Row]:
        first: list | None = None
        for i, row in rows:
            if i == 0:
                kinds = [_type_and_rank(np.asarray(value)) for value in row]
                if first is not None and kinds != first:
                    raise PipelineError(
                        "Invalid datatype or rank, the columns of the datasets to be concatenated differ in theirs."
                    )
                first = kinds
            yield row

    def _interleaved(self, children: list[Iterator], epoch: int) -> Iterator[tuple[int, Row]]:
        turns = np.repeat(np.arange(len(children)), self.sizes)
        for child in self.context.rng(self.uid, epoch).permutation(turns).tolist():
            yield from itertools.islice(children[child], 1)


def _type_and_rank(array: np.ndarray) -> tuple[str, int]:
    return array.dtype.kind if array.dtype.kind in "US" else array.dtype.str, array.ndim


class FlatMap(Operator):
    """Each row is given to a function that makes a data set of it."""

    def __init__(self, child: Operator, function: Callable, run: Callable[[Any], tuple[list[str], Iterator[Row]]]):
        super().__init__(child, columns=list(child.columns))
        self.function, self.run = function, run

    def stream(self, epoch, start=0):
        return drop(enumerate(self._rows(epoch)), start)

    def _rows(self, epoch):
        for _, row in self.children[0].stream(epoch):
            try:
                produced = self.function(*row)
            except Exception as error:
                raise user_code_error("flat_map operation failed.", error) from error
            columns, rows = self.run(produced)
            self.columns[:] = columns
            yield from rows


class SyncWait(Operator):
    """Wait for the other side after every `num_batch` rows."""

    def __init__(self, child: Operator, condition, rows_per_batch: int):
        super().__init__(child)
        self.condition, self.rows = condition, condition.num_batch * rows_per_batch
        self._interrupted = False

    def stream(self, epoch, start=0):
        for i, pair in enumerate(self.children[0].stream(epoch, start)):
            if i % self.rows == 0 and not self.condition.acquire():
                raise PipelineError(
                    f"sync_wait: no sync_update of condition {self.condition.name!r} came in time. "
                    "Call dataset.sync_update(condition_name=...) in the training loop."
                )
            if self._interrupted:
                return
            yield pair

    def interrupt(self):
        self._interrupted = True
        self.condition.release_all()
        super().interrupt()

    def waits(self):
        return True


class Cache(Operator):
    """Rows of the first whole epoch are kept and given again, in the same order, in every later one."""

    def __init__(self, child: Operator, cache):
        super().__init__(child)
        self.cache = cache
        self._kept: list[int] | None = None

    def stream(self, epoch, start=0):
        if self._kept is not None:
            return ((key, self.cache.get(key)) for key in self._kept[start:])
        return drop(self._keep(epoch), start)

    def _keep(self, epoch):
        keys = []
        for key, row in self.children[0].stream(epoch):
            self.cache.put(key, row)
            keys.append(key)
            yield key, row
        if all(self.cache.get(key) is not None for key in keys):
            self._kept = keys
