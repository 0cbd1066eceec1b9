"""Sources of models that learn: `MSModelRunStep` in train mode is one step of the optimizer, compiled to C.

    state  = trained weights, weights that the network changes itself (statistics) · what the optimizer keeps
    memory = what lives while a step runs · the new state

A step computes the new state beside the old one, which is replaced at the end, and only if the step has met no value that is not
allowed (a label out of range, say): a step that fails changes nothing. Weights that are not trained are constants, as in inference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mindspore._base.dtype import from_numpy
from mindspore.formats.program import Program
from mindspore.formats.spec import TensorSpec
from mindspore_lite.aot import sources
from mindspore_lite.aot.lowering import lower
from mindspore_lite.aot.sources import Sources
from mindspore_lite.training import gradients
from mindspore_lite.training.options import TrainOptions
from mindspore_lite.training.plan import TrainPlan

_TRAIN = "int ms_net_train(unsigned char *memory, unsigned char *state, float rate, const void *const *in, void *const *out) {"


class _State(NamedTuple):
    """Arrays that a step changes, by name: weights first. `at`: where they are."""

    arrays: dict[str, np.ndarray]
    weights: int

    @property
    def at(self) -> dict[str, int]:
        places, size = {}, 0
        for name, array in self.arrays.items():
            places[name] = size
            size += sources.padded(array.nbytes)
        return places

    @property
    def size(self) -> int:
        return sum(sources.padded(array.nbytes) for array in self.arrays.values())

    def content(self) -> np.ndarray:
        parts = [np.frombuffer(a.tobytes().ljust(sources.padded(a.nbytes), b"\0"), np.uint8) for a in self.arrays.values()]
        return np.concatenate(parts)


def _state(program: Program, plan: TrainPlan, options: TrainOptions) -> _State:
    graphs = plan.graphs
    changing = {n: np.ascontiguousarray(program.weights[n]) for n in program.weights if n in graphs.trained or n in graphs.changed}
    kept = gradients.slots([program.weights[name] for name in graphs.trained], options)
    return _State({**changing, **{f"slot{n}": slot for n, slot in enumerate(kept)}}, len(changing))


def generate(evaluated: Program, plan: TrainPlan, options: TrainOptions, name: str, layout: str = "NCHW") -> Sources:
    """The sources of a model that learns; Unsupported names operations that C has no form for, ValueError what else is in the way."""
    if plan.pieces > 1 or options.virtual_batch > 1:
        raise ValueError("generated C takes a batch in one piece: leave virtual_batch at 1 and allow more memory_limit")
    program, state = plan.program, _state(plan.program, plan, options)
    writer, at = sources.Writer(), state.at
    run, memory = _evaluation(writer, evaluated, at)
    step, needed, checks = _step(writer, plan, state)
    start = writer.constants.place(state.content())
    specs = [TensorSpec(n, from_numpy(a.dtype), a.shape) for n, a in list(state.arrays.items())[: state.weights]]
    more = [
        f"const unsigned char *const ms_net_state = ms_weights + {start};", "", _TRAIN, "  (void)memory, (void)rate, (void)in, (void)out;",
        *step, *checks, f"  memcpy(state, memory + {needed - state.size}, {state.size});", "  return 0;", "}", "",
    ]  # fmt: skip
    settings = {"WEIGHTS": len(specs), "STATE_BYTES": state.size, "TRAINS": 1, "RATE": f"{options.rate!r}f"}
    sizes = sources.sizes(program.inputs, program.outputs, name, max(memory, needed), **settings)
    text = sources.net(writer, run, evaluated, layout, specs, more)
    return Sources(text, sizes, b"".join(writer.constants.parts), max(memory, needed))


def _evaluation(writer: sources.Writer, program: Program, at: Mapping[str, int]) -> tuple[list[str], int]:
    """Inference with the weights as they are by now."""
    first = len(program.inputs)
    numbered = {first + n: name for n, name in enumerate(program.weights)}
    fixed = {n: np.asarray(program.weights[name]) for n, name in numbered.items() if name not in at}
    given = {n: f"state + {at[name]}" for n, name in numbered.items() if name in at}
    return writer.body(lower(program.graph, fixed), given)


def _step(writer: sources.Writer, plan: TrainPlan, state: _State) -> tuple[list[str], int, list[str]]:
    """The calls of a step, its memory with the new state at its end, and the lines that end it early."""
    program, graphs, at = plan.program, plan.graphs, state.at
    graph = graphs.step
    names = [*(s.name for s in program.inputs), *program.weights]
    names += [p.name for p in graph.parameters[len(names) :]]
    first = len(program.inputs)
    weights = dict(enumerate(names[first : first + len(program.weights)], first))
    fixed = {n: np.asarray(program.weights[name]) for n, name in weights.items() if name not in at}
    given = {n: f"state + {at[name]}" for n, name in enumerate(names) if n >= first and name in at}
    given[names.index("rate", first)] = "(const unsigned char *)&rate"
    kept = [name for name in state.arrays if name.startswith("slot") and name not in program.weights]
    results = [*program.updates, *graphs.trained, *kept]
    record = 128 if graph.attrs.get("record") is not None else 0  # room for two numbers
    fresh = {graphs.outputs + n: record + at[name] for n, name in enumerate(results)}
    checks: list[str] = []
    code = graphs.outputs + len(results)
    if record:
        fresh |= {code: 0, code + 1: 64}
    lines, peak = writer.body(lower(graph, fixed), given, fresh)
    peak = sources.padded(peak)
    if record:
        checks = [f"  if (*(const int32_t *)(memory + {peak}) != 0) return 1;"]
    return lines, peak + record + state.size, checks
