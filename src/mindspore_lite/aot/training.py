"""Sources of models that learn: `MSModelRunStep` in train mode is one step of the optimizer, compiled to C.

    state  = trained weights, weights that the network changes itself (statistics) · what the optimizer keeps · sums of gradients
    memory = what lives while a graph runs · the new values of the state

A step computes new values beside the old ones, which are replaced at the end, and only if the step has met no value that is not
allowed (a label out of range, say): a step that fails changes nothing. Weights that are not trained are constants, as in inference.

Without a virtual batch a step is one graph, `ms_net_train`. With one (`virtual_batch`, or a batch that `memory_limit` cuts into pieces)
it is `ms_net_gather`, which adds gradients to the sums, and after so many of them `ms_net_apply`.

Mixed precision keeps activations and operands in 16 bits; kernels widen what they read and round what they write.
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

_IN_OUT = "const void *const *in, void *const *out"
_HEADS = {
    "step": f"int ms_net_train(unsigned char *memory, unsigned char *state, float rate, {_IN_OUT}) {{",
    "gather": f"int ms_net_gather(unsigned char *memory, unsigned char *state, {_IN_OUT}) {{",
    "apply": "int ms_net_apply(unsigned char *memory, unsigned char *state, float rate, float part) {",
}
_SCALARS = {"step": ("rate",), "gather": (), "apply": ("rate", "part")}
_RECORD = 128  # room for two numbers


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


def _state(program: Program, plan: TrainPlan, options: TrainOptions, virtual: bool) -> _State:
    graphs = plan.graphs
    changing = {n: np.ascontiguousarray(program.weights[n]) for n in program.weights if n in graphs.trained or n in graphs.changed}
    kept = gradients.slots([program.weights[name] for name in graphs.trained], options)
    sums = {f"sum.{n}": np.zeros(program.weights[n].shape, np.float32) for n in graphs.trained} if virtual else {}
    return _State({**changing, **{f"slot{n}": slot for n, slot in enumerate(kept)}, **sums}, len(changing))


def generate(evaluated: Program, plan: TrainPlan, options: TrainOptions, name: str, layout: str = "NCHW") -> Sources:
    """The sources of a model that learns; Unsupported names operations that C has no form for."""
    steps = plan.pieces * options.virtual_batch
    program, state = plan.program, _state(plan.program, plan, options, virtual=steps > 1)
    writer = sources.Writer()
    run, memory = _evaluation(writer, evaluated, state.at)
    start = writer.constants.place(state.content())
    more = [f"const unsigned char *const ms_net_state = ms_weights + {start};", ""]
    for kind in ("gather", "apply") if steps > 1 else ("step",):
        lines, needed = _learning(writer, plan, state, kind)
        more += [*lines, ""]
        memory = max(memory, needed)
    specs = [TensorSpec(n, from_numpy(a.dtype), a.shape) for n, a in list(state.arrays.items())[: state.weights]]
    settings = {
        "WEIGHTS": len(specs), "STATE_BYTES": state.size, "TRAINS": 1, "RATE": f"{options.rate!r}f", "VIRTUAL_BATCH": steps,
        "MOMENTUM": f"{options.momentum!r}f", "SUMS_AT": min((a for n, a in state.at.items() if n.startswith("sum.")), default=0),
    }  # fmt: skip
    sizes = sources.sizes(program.inputs, program.outputs, name, memory, **settings)
    text = sources.net(writer, run, evaluated, layout, specs, more)
    return Sources(text, sizes, b"".join(writer.constants.parts), memory)


def _evaluation(writer: sources.Writer, program: Program, at: Mapping[str, int]) -> tuple[list[str], int]:
    """Inference with the weights as they are by now."""
    first = len(program.inputs)
    numbered = {first + n: name for n, name in enumerate(program.weights)}
    fixed = {n: np.asarray(program.weights[name]) for n, name in numbered.items() if name not in at}
    given = {n: f"state + {at[name]}" for n, name in numbered.items() if name in at}
    return writer.body(lower(program.graph, fixed), given)


def _learning(writer: sources.Writer, plan: TrainPlan, state: _State, kind: str) -> tuple[list[str], int]:
    """The function of one of the graphs that learn, and its memory with the new values at its end."""
    program, graphs, at = plan.program, plan.graphs, state.at
    graph = getattr(graphs, kind)
    first = 0 if kind == "apply" else len(program.inputs)
    names = [p.name for p in graph.parameters]
    if kind != "apply":
        names[first : first + len(program.weights)] = program.weights
    known = dict(enumerate(names[first:], first))
    fixed = {n: np.asarray(program.weights[name]) for n, name in known.items() if name in program.weights and name not in at}
    given = {n: f"state + {at[name]}" for n, name in known.items() if name in at}
    given |= {n: f"(const unsigned char *)&{name}" for n, name in known.items() if name in _SCALARS[kind] and name not in at}
    skipped, results = (0 if kind == "apply" else graphs.outputs), _results(plan, state, kind)
    record = _RECORD if graph.attrs.get("record") is not None else 0
    fresh, behind = {}, record
    for number, name in enumerate(results, skipped):
        fresh[number] = behind
        behind += sources.padded(state.arrays[name].nbytes)
    if record:
        fresh |= {skipped + len(results): 0, skipped + len(results) + 1: 64}
    lines, peak = writer.body(lower(graph, fixed), given, fresh)
    peak = sources.padded(peak)
    unused = ", ".join(f"(void){name}" for name in ("memory", *_SCALARS[kind], *(() if kind == "apply" else ("in", "out"))))
    ends = [f"  if (*(const int32_t *)(memory + {peak}) != 0) return 1;"] if record else []
    ends += [
        f"  memcpy(state + {at[name]}, memory + {peak + fresh[number]}, {state.arrays[name].nbytes});"
        for number, name in enumerate(results, skipped)
    ]
    if kind == "apply":
        ends += [f"  memset(state + {at[f'sum.{name}']}, 0, {program.weights[name].nbytes});" for name in graphs.trained]
    return [_HEADS[kind], f"  {unused};", *lines, *ends, "  return 0;", "}"], peak + behind


def _results(plan: TrainPlan, state: _State, kind: str) -> list[str]:
    """Which parts of the state a graph gives anew, in the order of its results."""
    graphs = plan.graphs
    if kind == "gather":
        return [*plan.program.updates, *(f"sum.{name}" for name in graphs.trained)]
    slots = [name for name in list(state.arrays)[state.weights :] if not name.startswith("sum.")]
    return [*(plan.program.updates if kind == "step" else ()), *graphs.trained, *slots]
