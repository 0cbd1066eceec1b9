"""Views in PyNative mode: x[0], x.view(…), x.T and the like stand for a part of x, and writing to either changes both.

Arrays are never mutated (see `inplace.py`), so a view is not shared memory but a link: it knows its base, how it is made of
it, and the base knows its living views. After a write the values travel: up to the bases, each of which gets the view's
elements put in their places, then down to all views of the last one. These are ordinary operations, so tapes record them
and gradients flow through. A write costs that much; a tensor that is only read costs one link and one weak reference.

In a graph tensors are values: there only `x[i][j] = v`, where the view has no name, reaches x (compiler/parse/statements.py).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.values import TensorBase

Make = Callable[[Any], Any]
Put = Callable[[Any, Any], Any]
_FEW = 8
#: a view of a view of … this many: the next is a copy, so that `x = x.T` in a loop does not keep all that x ever was
_DEEP = 64


class Link:
    """What a tensor has to do with others: the base that it is a view of, and its own views."""

    __slots__ = ("base", "depth", "make", "put", "room", "views")

    def __init__(self, base: Any = None, make: Make | None = None, put: Put | None = None):
        self.base, self.make, self.put = base, make, put
        self.depth: int = 0 if base is None else base._link.depth + 1
        self.views: list[weakref.ref] | None = None

    def add(self, view: TensorBase) -> None:
        if self.views is None:
            self.views, self.room = [], _FEW
        self.views.append(weakref.ref(view))
        if len(self.views) > self.room:  # look for dead ones
            self.views = [ref for ref in self.views if ref() is not None]
            self.room = max(_FEW, 2 * len(self.views))


def is_eager(x: TensorBase) -> bool:
    """Whether a tensor has values, outside of graphs."""
    return x._node is None and ACTIVE.builder is None


def link(view: Any, base: Any, make: Make, put: Put | None = None) -> Any:
    """Have `view` be a view of `base`: make(base) gives it, put(base, view) the base with the view's elements in it."""
    if view is base or view._node is not None or base._node is not None or ACTIVE.builder is not None:
        return view
    try:
        above = base._link
    except AttributeError:
        above = base._link = Link()
    if above.depth >= _DEEP:
        return view
    above.add(view)
    view._link = Link(base, make, put)
    return view


def spread(target: Any, store: Callable[[Any, Any], None]) -> None:
    """Carry a write to `target` to its bases and to all their views; `store` makes a tensor hold a value."""
    root = target
    while (above := getattr(root, "_link", None)) is not None and above.base is not None:
        store(above.base, (above.put or _put_by_position)(above.base, root))
        root = above.base
    _refresh(root, store)


def _refresh(base: Any, store: Callable[[Any, Any], None]) -> None:
    for ref in base._link.views or ():
        view = ref()
        if view is not None:
            store(view, view._link.make(base))
            _refresh(view, store)


def _put_by_position(base: Any, view: Any) -> Any:
    """`base` with the elements of `view` in the places they come from: the same view of its positions tells which."""
    from mindspore.prims.arrays import TENSOR_INDEX, SetItem
    from mindspore.prims.broadcasting import Reshape

    positions = values.from_array(np.arange(base.size).reshape(base.shape))
    places = Reshape()(view._link.make(positions), (-1,))
    flat = SetItem((TENSOR_INDEX,))(Reshape()(base, (-1,)), Reshape()(view, (-1,)), places)
    return Reshape()(flat, base.shape)
