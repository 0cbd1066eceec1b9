"""Parameters kept in the memory order that XLA prefers for them.

A training step reads a filter, and writes its new value, in the order its convolutions like best. If the arrays that
come in and go out have another order, every step transposes all filters twice. So the order of overwritten inputs is
left to XLA, and a Parameter is brought into it once: from then on each step's results are in the order that the next
step takes them in. Elsewhere such an array looks like any other; JAX knows its order.
"""

from __future__ import annotations

import weakref
from typing import Any


class OwnLayouts:
    """A compiled program with its own order for the inputs that its results replace.

    `updates`: number of an input → number of the result that is its new value.
    """

    def __init__(self, jax: Any, compiled: Any, updates: dict[int, int]):
        self.jax, self.compiled, self.updates = jax, compiled, updates
        formats = compiled.input_formats[0]
        self.formats = {i: formats[i] for i in updates}
        self._newest: dict[int, Any] = {}  # what the last call gave for an input: in the right order already

    def __call__(self, *arrays: Any) -> tuple:
        given = list(arrays)
        for i, wanted in self.formats.items():
            newest = self._newest.get(i)
            if newest is None or newest() is not given[i]:
                given[i] = self.jax.device_put(given[i], wanted)
        outputs = self.compiled(*given)
        self._newest = {i: weakref.ref(outputs[o]) for i, o in self.updates.items()}
        return outputs


def compile_with_own_layouts(jax: Any, run: Any, shapes: list[Any], updates: dict[int, int], device: Any, options: Any) -> Any:
    """Compile `run`, whose inputs `updates` are given away for the results that replace them."""
    from jax.experimental.layout import Format, Layout

    place = jax.sharding.SingleDeviceSharding(device)
    free = Format(Layout.AUTO, place)
    count = len(jax.eval_shape(run, *shapes))
    inputs = [free if i in updates else place for i in range(len(shapes))]
    results = [place] * count
    for output in updates.values():
        results[output] = free
    jitted = jax.jit(run, donate_argnums=tuple(sorted(updates)), in_shardings=inputs, out_shardings=tuple(results))
    return OwnLayouts(jax, jitted.lower(*shapes).compile(options), updates)
