"""Parameters kept in the memory order that XLA prefers for them.

A training step reads a filter, and writes its new value, in the order its convolutions like best. If the arrays that
come in and go out have another order, every step transposes all filters twice. So the order of overwritten inputs is
left to XLA, and a Parameter is brought into it once: from then on each step's results are in the order that the next
step takes them in. Other graphs that read it (evaluation, say) bring it into their own order once, and keep that copy while the
Parameter has the same value.
"""

from __future__ import annotations

import weakref
from typing import Any


class OwnLayouts:
    """A compiled program with its own order for the inputs that its results replace.

    `updates`: number of an input → number of the result that is its new value. `read`: Parameters that are not replaced.
    """

    def __init__(self, jax: Any, compiled: Any, updates: dict[int, int], read: list[int] | None = None):
        self.jax, self.compiled, self.updates = jax, compiled, updates
        formats = compiled.input_formats[0]
        self.formats = {i: formats[i] for i in updates}
        self._newest: dict[int, Any] = {}  # what the last call gave for an input: in the right order already
        self._read = {i: formats[i] for i in read or ()}
        self._placed: dict[int, tuple[Any, Any]] = {}  # of these: a reference to what came, and the same in the right order

    def __call__(self, *arrays: Any) -> tuple:
        given = list(arrays)
        for i, wanted in self.formats.items():
            newest = self._newest.get(i)
            if newest is None or newest() is not given[i]:
                given[i] = self.jax.device_put(given[i], wanted)
        for i, wanted in self._read.items():
            known = self._placed.get(i)
            if known is None or known[0]() is not given[i]:
                known = self._placed[i] = (weakref.ref(given[i]), self.jax.device_put(given[i], wanted))
            given[i] = known[1]
        outputs = self.compiled(*given)
        self._newest = {i: weakref.ref(outputs[o]) for i, o in self.updates.items()}
        return outputs


def compile_with_own_layouts(
    jax: Any, run: Any, shapes: list[Any], updates: dict[int, int], read: list[int], donated: frozenset[int], device: Any, options: Any
) -> Any:
    """Compile `run`, whose inputs `updates` have results that replace them; their memory is given away if they are `donated`."""
    from jax.experimental.layout import Format, Layout

    place = jax.sharding.SingleDeviceSharding(device)
    free = Format(Layout.AUTO, place)
    count = len(jax.eval_shape(run, *shapes))
    inputs = [free if i in updates else place for i in range(len(shapes))]
    results = [place] * count
    for output in updates.values():
        results[output] = free
    jitted = jax.jit(run, donate_argnums=tuple(sorted(donated)), in_shardings=inputs, out_shardings=tuple(results))
    return OwnLayouts(jax, jitted.lower(*shapes).compile(options), updates, read)
