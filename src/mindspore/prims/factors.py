"""Index rules: which dimensions of a primitive's tensors run together.

A rule labels every dimension of every tensor, as einsum does. A product of matrices is `mk,kn->mn`: a device that holds a
part of the rows m computes the same part of the result; devices that hold parts of k compute terms of a sum. That is all
the sharding pass needs to cut an operation over devices, and what the search needs to count its work.

    label in inputs and outputs     may be cut; the result is cut alike
    label in inputs alone           may be cut; results are combined over the devices (`reductions`, a sum unless stated)
    WHOLE                           the dimension is not cut: the operation looks along it

A dimension that does not divide is cut into parts of one size, the last of which are filled up behind the end with copies of the last
element. What fills them must change no result: nothing is to be done where a label is in all outputs; else `filled` says what to
put there instead (0 where products are added up).

Rules are made by `Primitive.factors(*args)`, which sees what `infer` sees; None means that nothing is known and every
device computes the whole operation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: label of a dimension that every device needs whole
WHOLE = ""
#: `reductions` of a label whose parts the operation combines itself (`on_device`)
DONE = "done"
Labels = tuple[str, ...]
#: what changes no result of a reduction
_NEUTRAL: dict[str, float | bool] = {"sum": 0, "avg": 0, "max": -np.inf, "min": np.inf, "prod": 1}


class Factors(NamedTuple):
    """The index rule of one application of a primitive."""

    inputs: tuple[Labels | None, ...]  #: per argument; None for what is not a tensor
    outputs: tuple[Labels, ...]
    reductions: dict[str, str] = {}  #: how contracted labels combine, where it is not a sum
    linear: bool = False  #: a sum still owed by the inputs may be paid after the operation
    #: labels that take devices after all others: a table's, so that operators which share it agree on where its parts lie
    last: Labels = ()
    #: labels that are cut only where a strategy asks for it: of dimensions along which windows reach into neighbours' parts
    on_request: Labels = ()
    #: labels whose parts may be filled up, and with what; None: with anything
    filled: dict[str, float | bool | None] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, in the order in which the inputs (then the outputs) mention them."""
        named = (label for labels in (*self.inputs, *self.outputs) if labels is not None for label in labels)
        return tuple(dict.fromkeys(label for label in named if label != WHOLE))

    @property
    def kept(self) -> tuple[str, ...]:
        """The labels that all outputs have."""
        return tuple(label for label in self.labels if all(label in labels for labels in self.outputs))

    def filling(self, value: float | bool | None) -> Factors:
        """The same rule; all labels but those on request may be filled up, those that are not in all outputs with `value`."""
        kept, labels = self.kept, (label for label in self.labels if label not in self.on_request)
        return self._replace(filled={label: None if label in kept else value for label in labels})

    @property
    def contracted(self) -> tuple[str, ...]:
        kept = {label for labels in self.outputs for label in labels}
        return tuple(label for label in self.labels if label not in kept)


def is_tensor(value: object) -> bool:
    """Whether an argument, as `infer` sees it, is a tensor (or a number known at run time)."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def einsum(text: str, *args: Any, linear: bool = False) -> Factors:
    """A rule in einsum's letters, for the tensors among the arguments; "." is WHOLE."""
    left, right = text.split("->")
    supply = iter(left.split(","))
    inputs = tuple(_letters(next(supply)) if is_tensor(a) else None for a in args)
    return Factors(inputs, tuple(_letters(part) for part in right.split(",")), linear=linear).filling(0)


def _letters(text: str) -> Labels:
    return tuple(WHOLE if c == "." else c for c in text)


def numbered(rank: int, start: int = 0) -> Labels:
    return tuple(f"d{i}" for i in range(start, rank))


def broadcasting(args: tuple, rank: int, shape: tuple[int, ...]) -> tuple[Labels | None, ...]:
    """Labels of arguments that broadcast to a shape: dimensions of size 1 that are repeated stay whole."""
    names = numbered(rank)

    def labels(arg: Any) -> Labels | None:
        if not is_tensor(arg):
            return None
        lead = rank - len(arg.shape)
        return tuple(names[lead + i] if n == shape[lead + i] else WHOLE for i, n in enumerate(arg.shape))

    return tuple(labels(a) for a in args)


def elementwise(args: tuple, linear: bool = False) -> Factors | None:
    """Element by element, with broadcasting."""
    shapes = [tuple(a.shape) for a in args if is_tensor(a)]
    if not shapes:
        return None
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    shape = tuple(max(sizes) if 0 not in sizes else 0 for sizes in zip(*padded)) if rank else ()
    return Factors(broadcasting(args, rank, shape), (numbered(rank),), linear=linear)


def reduction(x: Any, axes: tuple[int, ...], keep: bool, how: str, *others: Any) -> Factors:
    """x, reduced over axes."""
    names = numbered(len(x.shape))
    kept = tuple(WHOLE if i in axes else n for i, n in enumerate(names) if keep or i not in axes)
    reductions = {names[i]: how for i in axes} if how != "sum" else {}
    rule = Factors((names, *(None for _ in others)), (kept,), reductions, linear=how == "sum")
    return rule.filling(_NEUTRAL[how]) if how in _NEUTRAL else rule


def along(x: Any, axes: tuple[int, ...], outputs: int = 1, *others: Any) -> Factors:
    """Results of the shape of x, which need x whole along some axes."""
    names = tuple(WHOLE if i in axes else n for i, n in enumerate(numbered(len(x.shape))))
    return Factors((names, *(None for _ in others)), (names,) * outputs)


def reshaping(old: tuple[int, ...], new: tuple[int, ...]) -> tuple[Labels, Labels]:
    """Labels of a shape and of the shape its elements are put into.

    Runs of dimensions with equal products correspond. The first dimensions of corresponding runs (sizes of 1 aside) may be
    cut together, into parts that divide both: elements are numbered with the first dimension slowest.
    """
    before, after = [WHOLE] * len(old), [WHOLE] * len(new)
    i = j = count = 0
    while i < len(old) and j < len(new):
        start, end = i, j
        left, right = old[i], new[j]
        i, j = i + 1, j + 1
        while left != right:
            if left < right and i < len(old):
                left, i = left * old[i], i + 1
            elif right < left and j < len(new):
                right, j = right * new[j], j + 1
            else:
                return tuple(before), tuple(after)
        first = next((k for k in range(start, i) if old[k] != 1), None)
        second = next((k for k in range(end, j) if new[k] != 1), None)
        if first is not None and second is not None:
            before[first] = after[second] = f"r{count}"
            count += 1
    return tuple(before), tuple(after)
