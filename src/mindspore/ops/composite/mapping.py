"""Map and HyperMap: apply a function to the elements of sequences, Map one level deep, HyperMap to the bottom."""

from __future__ import annotations

from typing import Any

from mindspore.compiler import parse
from mindspore.prims.active import ACTIVE


def _call(fn: Any, args: tuple) -> Any:
    return parse.call(fn, args) if ACTIVE.builder is not None else fn(*args)


class Map:
    """Apply `ops` to corresponding elements of sequences; `reverse` goes from the last to the first.

    Examples:
        >>> from mindspore import ops
        >>> ops.Map()(lambda a, b: a + b, (1, 2), (3, 4))
        (4, 6)
    """

    deep = False

    def __init__(self, ops: Any = None, reverse: bool = False):
        if ops is not None and not callable(ops):
            raise TypeError(f"For '{type(self).__name__}', 'ops' must be a function, but got {type(ops).__name__}.")
        self.ops = ops
        self.reverse = reverse

    def __call__(self, *args: Any) -> Any:
        fn, sequences = (self.ops, args) if self.ops is not None else (args[0], args[1:])
        if not sequences:
            raise ValueError(f"For '{type(self).__name__}', at least one sequence is needed.")
        if not any(isinstance(s, (tuple, list, dict)) for s in sequences) and not self.deep:
            raise TypeError(
                f"For '{type(self).__name__}', the arguments must be sequences, but got {type(sequences[0]).__name__}."
            )
        return self._apply(fn, sequences)

    def __ms_trace__(self, interpreter: Any, args: tuple, kwargs: dict) -> Any:
        return self(*args)

    def _apply(self, fn: Any, items: tuple) -> Any:
        first = next((i for i in items if isinstance(i, (tuple, list, dict))), None)
        if first is None:
            return _call(fn, items)
        columns = [list(i.values()) if isinstance(i, dict) else i for i in items]
        kinds: set[Any] = {_kind(i) for i in items}
        if len(kinds) > 1:
            names = ", ".join(sorted(k.__name__ for k in kinds))
            raise TypeError(
                f"For '{type(self).__name__}', the types of arguments in {type(self).__name__} must be consistent, but got {names}."
            )
        lengths = {len(c) for c in columns}
        if len(lengths) > 1:
            kind = {list: "lists", tuple: "tuples"}.get(kinds.pop(), "dicts")
            raise ValueError(
                f"The {kind} in {type(self).__name__} should have the same length, but got lengths {sorted(lengths)}."
            )
        rows = list(zip(*columns))
        order = reversed(range(len(rows))) if self.reverse else range(len(rows))
        out: list[Any] = [None] * len(rows)
        for i in order:
            out[i] = self._apply(fn, rows[i]) if self.deep else _call(fn, rows[i])
        if isinstance(first, dict):
            return dict(zip(first, out))
        return out if isinstance(first, list) else tuple(out)


def _kind(item: Any) -> type:
    """What a container counts as: a ParameterTuple or a named tuple goes with any tuple."""
    return next((kind for kind in (tuple, list, dict) if isinstance(item, kind)), type(item))


class HyperMap(Map):
    """Like Map, but descends into nested sequences.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> [t.tolist() for t in ops.HyperMap()(ops.square, (Tensor([2.0]), Tensor([3.0])))]
        [[4.0], [9.0]]
    """

    deep = True
