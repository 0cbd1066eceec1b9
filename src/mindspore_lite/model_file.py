"""A model as Lite holds it, to and from a `.ms` file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.dtype import DType, type_of_name
from mindspore.formats.program import Program, TensorSpec
from mindspore_lite import source, stored_code
from mindspore_lite.arrays import ArrayReader, ArrayWriter
from mindspore_lite.container import BadModelError, Container, as_json, save
from mindspore_lite.graph_records import CannotStoreError, read_graph, write_graph


class LiteModel(NamedTuple):
    """What a model takes and gives, the graph for the shapes that are known, and what graphs for others are built from."""

    inputs: tuple[TensorSpec, ...]  # -1 stands for a size that is open
    outputs: tuple[TensorSpec, ...]  # as far as they are known before a run
    layout: str  # of images among the inputs: NCHW or NHWC
    program: Program | None
    origin: source.Source
    info: dict[str, str]
    code: Mapping[str, bytes] = {}  # compiled kernels by key


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
    sections: dict[str, bytes] = {}
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
    sections = {
        "meta": as_json(meta),
        **sections,
        "arrays": as_json(arrays.rows),
        "data": arrays.data(),
        "source": content,
    }
    code = stored_code.pack(model.code) if model.program is not None else None
    if code is not None:
        sections["code"] = code
    save(path, {**sections, **(extra or {})}, key)


def read(path: str, key: bytes | None = None, mode: str = "AES-GCM") -> LiteModel:
    """The model of a file; BadModelError when it is none."""
    container = Container.open(path, key, mode)
    meta = container.json("meta")
    arrays = ArrayReader(container.json("arrays"), container.section("data"))
    try:
        return LiteModel(
            tuple(_spec(*row) for row in meta["inputs"]),
            tuple(_spec(*row) for row in meta["outputs"]),
            str(meta["layout"]),
            _program(container, meta, arrays) if "graph" in container and "program" in meta else None,
            _Packed(str(meta["source"]), container, arrays),
            {str(k): str(v) for k, v in meta["info"].items()},
            stored_code.unpack(container.section("code")) if "code" in container else {},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, BadModelError):
            raise
        raise BadModelError(f"its description is damaged ({error})") from None


def _program(container: Container, meta: dict[str, Any], arrays: ArrayReader) -> Program:
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


_OPENERS: dict[str, Callable[[bytes, ArrayReader], source.Source]] = {
    "onnx": source.unpack_onnx, "mindir": source.unpack_mindir, "fixed": source.unpack_fixed,
}  # fmt: skip


class _Packed:
    """A source in a file, looked at when a graph for other shapes is wanted."""

    def __init__(self, kind: str, container: Container, arrays: ArrayReader):
        if kind not in _OPENERS:
            raise BadModelError(f"it was made from {kind!r}, which this version does not know")
        self.kind = kind
        self._container, self._arrays = container, arrays
        self._opened: source.Source | None = None

    def _source(self) -> source.Source:
        if self._opened is None:
            content = bytes(self._container.section("source"))
            self._opened = _OPENERS[self.kind](content, self._arrays)
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
