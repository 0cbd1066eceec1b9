"""A model as Lite holds it, to and from a `.ms` file."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base.dtype import DType, type_of_name
from mindspore.formats.spec import TensorSpec, checked, raise_reported, typed
from mindspore_lite import plans, stored_code
from mindspore_lite.arrays import ArrayReader, ArrayWriter
from mindspore_lite.container import BadModelError, Container, as_json, save

if TYPE_CHECKING:
    from mindspore.formats.program import Program
    from mindspore_lite import source

_Compiled = tuple[plans.Runner, tuple[TensorSpec, ...], tuple[TensorSpec, ...]]


@dataclass
class LiteModel:
    """What a model takes and gives, the graph for the shapes that are known, and what graphs for others are built from.

    A model of a file reads its graph when somebody asks for it: `compiled` may give what runs without it.
    """

    inputs: tuple[TensorSpec, ...]  # -1 stands for a size that is open
    outputs: tuple[TensorSpec, ...]  # as far as they are known before a run
    layout: str  # of images among the inputs: NCHW or NHWC
    _program: Program | Callable[[], Program | None] | None
    origin: source.Source
    info: dict[str, str]
    _code: Mapping[str, bytes] | Callable[[], Mapping[str, bytes]] = dataclasses.field(default_factory=dict)
    compiled: Callable[[int], _Compiled | None] = lambda threads: None  # for so many threads: what runs, inputs, outputs

    @property
    def program(self) -> Program | None:
        from mindspore.formats.program import Program

        if self._program is not None and not isinstance(self._program, Program):
            self._program = self._program()
        return self._program

    @property
    def code(self) -> Mapping[str, bytes]:
        """Compiled kernels by key."""
        if not isinstance(self._code, Mapping):
            self._code = self._code()
        return self._code

    def with_program(self, program: Program, origin: source.Source | None = None) -> LiteModel:
        """The same with another graph, for which nothing is compiled yet."""
        return LiteModel(self.inputs, self.outputs, self.layout, program, origin or self.origin, self.info)


def write(
    path: str,
    model: LiteModel,
    arrays: ArrayWriter,
    key: bytes | None = None,
    extra: Mapping[str, bytes] | None = None,
) -> None:
    """Write a model. `arrays` may hold quantised weights already; they are found there."""
    meta: dict[str, Any] = {
        "inputs": [_row(spec) for spec in model.inputs],
        "outputs": [_row(spec) for spec in model.outputs],
        "layout": model.layout,
        "source": model.origin.kind,
        "info": model.info,
    }
    from mindspore_lite.graph_records import CannotStoreError, write_graph

    sections: dict[str, bytes] = {}
    compiled = plans.PlanWriter(arrays)
    if not extra:
        compiled.arrange(model.program)
    content = model.origin.pack(arrays)
    if model.program is not None:
        weights = [[name, arrays.add(array, weight=True)] for name, array in model.program.weights.items()]
        try:
            sections["graph"] = as_json(write_graph(model.program.graph, arrays))
            meta["program"] = {
                "inputs": [_row(spec) for spec in model.program.inputs],
                "outputs": [_row(spec) for spec in model.program.outputs],
                "weights": weights,
                "updates": model.program.updates,
            }
        except CannotStoreError:
            pass  # it is built from the source when the model is loaded
    sections = {"meta": as_json(meta), **sections}
    plan = compiled.section(sections) if "graph" in sections else None
    sections = {
        **sections,
        "arrays": as_json(arrays.rows),
        "data": arrays.data(),
        "source": content,
    }
    code = stored_code.pack(model.code) if model.program is not None else None
    sections |= {name: body for name, body in (("code", code), ("plans", plan)) if body is not None}
    save(path, {**sections, **(extra or {})}, key)


def read(path: str, key: bytes | None = None, mode: str = "AES-GCM") -> LiteModel:
    """The model of a file; BadModelError when it is none."""
    container = Container.open(path, key, mode)
    return read_sections(container, arrays_of(container))


def arrays_of(container: Container) -> ArrayReader:
    """The arrays of a file whose sections are all sound."""
    container.check()
    return ArrayReader(container.json("arrays"), container.section("data"))


def read_sections(container: Container, arrays: ArrayReader) -> LiteModel:
    """The model of sections; BadModelError when they do not describe one."""
    meta = container.json("meta")
    try:
        has_graph = "graph" in container and "program" in meta
        model = LiteModel(
            tuple(_spec(*row) for row in meta["inputs"]),
            tuple(_spec(*row) for row in meta["outputs"]),
            str(meta["layout"]),
            functools.partial(_program, container, meta, arrays) if has_graph else None,
            _Packed(str(meta["source"]), container, arrays),
            {str(k): str(v) for k, v in meta["info"].items()},
            lambda: stored_code.unpack(container.section("code")) if "code" in container else {},
        )
        found = _plans(container) if has_graph else None
        if found is not None:
            model.compiled = functools.partial(_compiled, found, meta["program"], arrays)
        elif has_graph:
            assert model.program is not None  # read now, because a damaged one is to be told of now
        return model
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, BadModelError):
            raise
        raise BadModelError(f"its description is damaged ({error})") from None


def _plans(container: Container) -> plans.Plans | None:
    others = {name: container.section(name) for name in ("meta", "graph", "arrays")}
    return plans.Plans.open(container.section("plans"), others) if "plans" in container else None


def _compiled(signed: plans.Plans, row: dict[str, Any], arrays: ArrayReader, threads: int) -> _Compiled | None:
    found = signed.revive(arrays, threads)
    if found is None:
        return None
    executable, held = found
    inputs, outputs = (tuple(_spec(*r) for r in row[part]) for part in ("inputs", "outputs"))

    def run(*given: np.ndarray, _held: Any = held) -> tuple[np.ndarray, ...]:
        results: tuple[np.ndarray, ...] = executable(*checked(inputs, given), own=True)
        raise_reported(signed.rows["record"], results)
        return tuple(typed(value, spec.dtype) for value, spec in zip(results, outputs))

    return run, inputs, outputs


def _program(container: Container, meta: dict[str, Any], arrays: ArrayReader) -> Program:
    from mindspore.formats.program import Program
    from mindspore_lite.graph_records import read_graph

    row = meta["program"]
    graph = read_graph(container.json("graph"), arrays)
    inputs, weights = [_spec(*r) for r in row["inputs"]], {str(name): arrays.get(n) for name, n in row["weights"]}
    if len(graph.parameters) != len(inputs) + len(weights):
        raise BadModelError("its graph does not fit its inputs")
    for parameter, (name, array) in zip(graph.parameters[len(inputs) :], weights.items()):
        if parameter.abstract.shape != array.shape:
            raise BadModelError(f"its weight '{name}' does not fit its graph")
        parameter.default = name  # says that it is a weight
    return Program(graph, tuple(inputs), tuple(_spec(*r) for r in row["outputs"]), weights, dict(row["updates"]))


_KINDS = ("onnx", "mindir", "fixed")


class _Packed:
    """A source in a file, looked at when a graph for other shapes is wanted."""

    def __init__(self, kind: str, container: Container, arrays: ArrayReader):
        if kind not in _KINDS:
            raise BadModelError(f"it was made from {kind!r}, which this version does not know")
        self.kind = kind
        self._container, self._arrays = container, arrays
        self._opened: source.Source | None = None

    def _source(self) -> source.Source:
        if self._opened is None:
            from mindspore_lite import source

            openers: dict[str, Callable[[bytes, ArrayReader], source.Source]]
            openers = {"onnx": source.unpack_onnx, "mindir": source.unpack_mindir, "fixed": source.unpack_fixed}
            self._opened = openers[self.kind](bytes(self._container.section("source")), self._arrays)
        return self._opened

    def inputs(self) -> list[TensorSpec]:
        return self._source().inputs()

    def build(self, shapes: Mapping[str, tuple[int, ...]], known: Mapping[str, np.ndarray]) -> Program:
        return self._source().build(shapes, known)

    def pack(self, arrays: ArrayWriter) -> bytes:
        return self._source().pack(arrays)


def _row(spec: TensorSpec) -> list[Any]:
    return [spec.name, spec.dtype.name, list(spec.shape)]


def _spec(name: Any, dtype: Any, shape: Any) -> TensorSpec:
    kind = type_of_name(str(dtype))
    if not isinstance(kind, DType):
        raise BadModelError(f"it names the unknown element type {dtype!r}")
    return TensorSpec(str(name), kind, tuple(int(n) for n in shape))
