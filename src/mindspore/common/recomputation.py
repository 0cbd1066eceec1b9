"""Computing a part of a network again in the backward pass instead of keeping its intermediate results.

A graph marks the nodes of the part, and the gradient pass copies them (`compiler/autodiff/recompute.py`). In PyNative mode the
forward pass runs the part on a tape that only notes which tracked values are read, wherever they come from: arguments, lists
and dicts in arguments, closures, Parameters of cells. The backward pass puts these values back into the objects that held them,
runs the part again on a tape of its own, with the same random numbers, and lets that tape give the gradients of what was read.
(T. Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016.)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mindspore.common.random import get_rng_state, set_rng_state
from mindspore.compiler import parse
from mindspore.prims import checks
from mindspore.prims.active import ACTIVE
from mindspore.prims.structure import leaves, rebuilt
from mindspore.runtime import tape as tapes


class RecomputeOptions(NamedTuple):
    """How a part is computed again in PyNative mode. Graphs plan their memory themselves."""

    use_reentrant: bool = True
    output_recompute: bool = False
    early_stop: bool = True
    context_fn: Callable[[], tuple] | None = None

    def checked(self) -> RecomputeOptions:
        """Refuse what cannot be meant."""
        for name, value in zip(self._fields[:3], self):
            checks.boolean("recompute", name, value)
        if self.context_fn is None:
            return self
        if not callable(self.context_fn):
            raise TypeError(
                f"For 'recompute', 'context_fn' must be a function, but got {checks.describe(self.context_fn)}."
            )
        if self.use_reentrant and not self.output_recompute:
            raise ValueError("For 'recompute', 'context_fn' is only supported with use_reentrant=False.")
        return self

    def contexts(self) -> tuple[Any, Any]:
        """What surrounds the forward pass and the computing again."""
        if self.context_fn is None:
            return contextlib.nullcontext(), contextlib.nullcontext()
        made = self.context_fn()
        if not isinstance(made, tuple) or len(made) != 2:
            raise TypeError(
                f"For 'recompute', 'context_fn' must return a tuple of two context managers, but returned {made!r}."
            )
        return made


def recompute(block: Any, *args: Any, use_reentrant: bool = True, output_recompute: bool = False, early_stop: bool = True,
              context_fn: Callable[[], tuple] | None = None, **kwargs: Any) -> Any:  # fmt: skip
    """Run `block(*args)` without keeping its intermediate results; the backward pass computes them again.

    `context_fn` (PyNative mode, with use_reentrant=False) returns two context managers: the first surrounds the forward pass, the
    second the computing again. `use_reentrant`, `output_recompute` and `early_stop` choose between ways that give the same results.

    Examples:
        >>> print(ms.recompute(nn.ReLU(), Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    if not callable(block):
        raise TypeError(f"For 'recompute', 'block' must be a Cell or function, but got {type(block).__name__}.")
    return run(block, args, kwargs, RecomputeOptions(use_reentrant, output_recompute, early_stop, context_fn).checked())


def run(block: Any, args: tuple, kwargs: dict, options: RecomputeOptions) -> Any:
    """Call `block`; what it computes is computed again for the gradient."""
    if ACTIVE.builder is not None:
        with ACTIVE.builder.recomputed():
            return parse.call(block, args, kwargs)
    if not ACTIVE.tapes:
        return block(*args, **kwargs)
    forward, again = options.contexts()
    random_state = get_rng_state()
    reads = tapes.Reads(ACTIVE.tapes)
    with tapes.recording_alone(reads), _marked(), forward:
        out = block(*args, **kwargs)

    def bprop(*given: Any) -> tuple:
        douts = given[-1]
        tape = tapes.Tape()
        inputs = [tape.watch(tapes.snapshot(key, data)) for key, (_, data) in reads.values.items()]
        with _as_before(reads, random_state), tapes.recording(tape), again:
            results = leaves(block(*args, **kwargs))
        return tuple(tape.gradients(results, list(douts), inputs))

    found = tapes.Call.that_read(reads).finish(bprop, "recompute", tuple(leaves(out)))
    return rebuilt(out, iter(found))


@contextlib.contextmanager
def _as_before(reads: tapes.Reads, random_state: Any) -> Iterator[None]:
    """The values that were read and the random numbers that were drawn; afterwards everything goes on where it was."""
    objects = {id(o): (o, getattr(o, "_value", 0), o._data) for o, _ in reads.values.values()}
    state = [(p, p._data) for p in reads.parameters]  # running statistics must not move twice
    current = get_rng_state()
    for key, (o, data) in reversed(
        reads.values.items()
    ):  # an object that stood for several values begins with the first
        o._data, o._value = data, key
    set_rng_state(random_state)
    try:
        with _marked():
            yield
    finally:
        set_rng_state(current)
        for p, data in state:
            p._data = data
        for o, value, data in objects.values():
            o._data, o._value = data, value


@contextlib.contextmanager
def _marked() -> Iterator[None]:
    """Cells in a part that is computed again anyway need not be so on their own."""
    saved, ACTIVE.recomputing = ACTIVE.recomputing, True
    try:
        yield
    finally:
        ACTIVE.recomputing = saved


__all__ = ["recompute"]
