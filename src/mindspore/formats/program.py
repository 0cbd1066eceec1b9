"""A model of a file, ready to be compiled and run on NumPy arrays.

    program = mindir.load("net.mindir")            # or onnx.load("net.onnx")
    run = program.compile(InterpBackend())         # or any other backend
    (y,) = run(x)

Nothing here needs Tensor, Cell or the functions of `mindspore.ops`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.dtype import ARRAY_TYPES, DType
from mindspore._base.interrupt import held_back
from mindspore.backends.base import Backend
from mindspore.compiler import driver, parse
from mindspore.formats.spec import Shape, TensorSpec, checked, raise_reported, typed
from mindspore.ir import AbstractTensor, FuncGraph
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.values import TensorBase

__all__ = ["Program", "Shape", "State", "TensorSpec", "build"]


@dataclass
class State:
    """Weights that compiled programs share, by name; `changing`: those that a run of one of them changes."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    changing: set[str] = field(default_factory=set)

    def take(self, program: Program) -> None:
        """Weights of one more program. Those that are known by name are the same ones."""
        for name, array in program.weights.items():
            known = self.arrays.get(name)
            if known is None:
                self.arrays[name] = np.array(array)  # ours alone: a backend may rely on it
            elif known.shape != array.shape or known.dtype != array.dtype:
                raise ValueError(
                    f"The weight '{name}' is {known.dtype} {known.shape} in one graph and {array.dtype} {array.shape} in another; "
                    "graphs that share weights must agree."
                )
        self.changing |= set(program.updates)


class Program(NamedTuple):
    """A graph and what it needs to run. The graph's parameters are the inputs, then the weights it reads."""

    graph: FuncGraph
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    weights: dict[str, np.ndarray]  # in the order of the graph's parameters
    updates: dict[str, int]  # weights that a run changes: which of the graph's outputs is the new value
    errors: tuple[Callable[[float], BaseException], ...] = ()  # what a run may report, from the offending value

    def compile(self, backend: Backend, state: State | None = None) -> Callable[..., tuple[np.ndarray, ...]]:
        """A function from arrays, one for each input, to arrays, one for each output. Changed weights are kept, in `state` if
        it is given, where other programs find them."""
        state = state or State()
        state.take(self)
        names = list(self.weights)
        first = len(self.inputs)
        donated = frozenset(first + place for place, name in enumerate(names) if name in self.updates)
        executable: Any = backend.compile(self.graph, donated)
        kept = {names[place - first] for place in getattr(executable, "kept_inputs", ()) if place >= first}

        def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            own = {"own": not kept & state.changing} if kept else {}
            given = checked(self.inputs, arrays)
            with held_back() if self.updates else nullcontext():  # new weights may be in the memory of others
                found = executable(*given, *(state.arrays[name] for name in names), **own)
                raise_reported(self.graph.attrs.get("record"), found, self.errors)
                state.arrays.update({name: np.asarray(found[place]) for name, place in self.updates.items()})
            return tuple(typed(value, spec.dtype) for value, spec in zip(found, self.outputs))

        return run


def build(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[TensorSpec],
    weights: Mapping[str, tuple[str, np.ndarray]],
    shapes: Mapping[str, Shape] | None = None,
    known: Mapping[str, np.ndarray] | None = None,
    resize: bool = False,
) -> Program:
    """Trace `function(inputs, weights)` on tensors of these types.

    `weights`: how the function knows them -> (name, value). `shapes` fixes the sizes of inputs that are open. Inputs in
    `known` have these values for good and are no inputs of the program. With `resize`, `shapes` may differ from the file's.
    """
    known = known or {}
    fixed = tuple(_fixed(spec, shapes or {}, resize) for spec in inputs if spec.name not in known)
    examples = tuple(values.from_array(np.broadcast_to(np.zeros((), s.dtype.np), s.shape)) for s in fixed)
    held = {key: values.parameter_class()(values.from_array(array), name=label) for key, (label, array) in weights.items()}

    small: dict[int, DType] = {}  # results of types that no tensor can hold

    def run(*arguments: Any) -> tuple:
        rest = iter(arguments)
        given = tuple(known[spec.name] if spec.name in known else next(rest) for spec in inputs)
        leaves = _leaves(function(given, held))
        small.update({place: kind for place, leaf in enumerate(leaves) if (kind := _small_type(leaf)) is not None})
        return tuple(_as_node(leaf) for leaf in leaves)

    run.__module__ = __name__  # called, not interpreted
    traced = parse.trace(run, examples, {}, name)
    driver.optimise(traced.graph)
    for node, spec in zip(traced.graph.parameters, fixed):
        node.name = spec.name
    kinds = traced.graph.outputs
    outputs = tuple(
        TensorSpec(f"output{i}", small.get(i, kind.dtype), kind.shape)
        for i, kind in enumerate(kinds[: len(traced.result)])
        if isinstance(kind, AbstractTensor)
    )
    kept = {weight.name: np.asarray(weight._data) for weight in traced.weights}
    updates = {weight.name: place for weight, place in traced.written}
    return Program(traced.graph, fixed, outputs, kept, updates, tuple(report.error for report in traced.errors))


def _fixed(spec: TensorSpec, shapes: Mapping[str, Shape], resize: bool) -> TensorSpec:
    shape = tuple(shapes.get(spec.name, spec.shape))
    changed = any(own not in (-1, size) for own, size in zip(spec.shape, shape))
    if len(shape) != len(spec.shape) or (changed and not resize):
        raise ValueError(f"The input '{spec.name}' has the shape {spec.shape}; it cannot be {shape}.")
    if any(size < 0 for size in shape):
        raise ValueError(
            f"The model leaves sizes of its input '{spec.name}' open ({spec.shape}); give them, e.g. "
            f"shapes={{{spec.name!r}: {tuple(max(size, 1) for size in shape)}}}."
        )
    return spec._replace(shape=shape)


def _leaves(value: Any) -> list[Any]:
    """The tensors of a result, in order."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [] if value is None else [value]


def _small_type(value: Any) -> DType | None:
    """The type of an array that no tensor can hold; its bytes travel in its place."""
    name = value.dtype.name if isinstance(value, np.ndarray) else ""
    return next((kind for kind in ARRAY_TYPES if kind.name == name), None)


def _as_node(value: Any) -> Any:
    """A result as a value of the graph, even where it is a constant."""
    builder = ACTIVE.builder
    array = value if isinstance(value, TensorBase) else np.asarray(value)
    held = array.view(np.uint8) if _small_type(array) is not None else array
    tensor = held if isinstance(held, TensorBase) else values.from_array(held)
    return tensor if builder.is_variable(tensor) else values.from_node(builder.constant(tensor))
