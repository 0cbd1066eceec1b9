"""What a model was made from: ONNX or MindIR messages, from which graphs for any shapes are built.

Other formats are turned into ONNX messages when they are imported (importers/). In a model file the messages are kept without their
large arrays, which stand in the file's block of arrays, where the graph's weights are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from mindspore.formats.program import Program, Shape, TensorSpec
from mindspore_lite.arrays import ArrayReader, ArrayWriter
from mindspore_lite.container import BadModelError, NeedsValuesError

_LARGE = 1024  # bytes; smaller arrays stay in the messages
_EXTERNAL = 1


class UnsupportedError(ValueError):
    """The model has operations that have no form here."""


class Source(Protocol):
    kind: str

    def inputs(self) -> list[TensorSpec]: ...

    def build(self, shapes: Mapping[str, Shape], known: Mapping[str, np.ndarray]) -> Program:
        """The graph for inputs of these shapes; inputs in `known` have these values for good."""
        ...

    def pack(self, arrays: ArrayWriter) -> bytes:
        """The messages, with large arrays given to `arrays`."""
        ...


class OnnxSource:
    """An ONNX model message."""

    kind = "onnx"

    def __init__(self, model: Any):
        self.model = model

    def inputs(self) -> list[TensorSpec]:
        from mindspore.formats.onnx.load import input_specs

        return input_specs(self.model)

    def build(self, shapes: Mapping[str, Shape], known: Mapping[str, np.ndarray]) -> Program:
        from mindspore.formats.onnx import registry
        from mindspore.formats.onnx.load import build

        try:
            return build(self.model, shapes, known, resize=True)
        except registry.NeedsValuesError as error:
            raise NeedsValuesError(str(error)) from None

    def check(self) -> None:
        """UnsupportedError with all operations that have no rule, and where they are."""
        from mindspore.formats.onnx import program

        for value in self.model.graph.input:
            kind = value.type.WhichOneof("value")
            if kind == "optional_type" and value.type.optional_type.elem_type.WhichOneof("value") == "tensor_type":
                continue  # one that may be left out, and is not
            if kind not in ("tensor_type", None):
                raise UnsupportedError(f"'{value.name}' is a {kind[:-5]}; models take tensors")
        missing: dict[str, list[str]] = {}
        own = {(f.domain, f.name) for f in self.model.functions}
        for node in _all_nodes(self.model.graph):
            if (node.domain, node.op_type) not in own and not program.is_supported(node):
                name = f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
                missing.setdefault(name, []).append(node.name or ", ".join(node.output))
        if missing:
            listed = "; ".join(
                f"{op} (at {', '.join(places[:5])}{' …' * (len(places) > 5)})" for op, places in missing.items()
            )
            raise UnsupportedError(
                f"the model uses operations that are not supported: {listed}. Replace them by standard ONNX operators, or give "
                "them as functions of the model"
            )

    def pack(self, arrays: ArrayWriter) -> bytes:
        from onnx import numpy_helper

        model = type(self.model)()
        model.CopyFrom(self.model)
        for tensor in model.graph.initializer:
            if len(tensor.raw_data) < _LARGE and _elements(tensor.dims) < _LARGE // 4:
                continue
            try:
                number = arrays.add(numpy_helper.to_array(tensor), weight=True)
            except (TypeError, ValueError):  # a type that no array here has: it stays where it is
                continue
            kept = type(tensor)(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type, data_location=_EXTERNAL)
            kept.external_data.add(key="location", value=str(number))
            tensor.CopyFrom(kept)
        content: bytes = model.SerializeToString()
        return content


def _elements(dims: Any) -> int:
    count = 1
    for size in dims:
        count *= size
    return count


def _all_nodes(graph: Any, depth: int = 0) -> list[Any]:
    if depth > 50:
        raise UnsupportedError("its graphs are nested more than 50 deep")
    found = list(graph.node)
    for node in graph.node:
        for attribute in node.attribute:
            inner = [attribute.g] if attribute.HasField("g") else list(attribute.graphs)
            found += [n for g in inner for n in _all_nodes(g, depth + 1)]
    return found


def unpack_onnx(content: bytes, arrays: ArrayReader) -> OnnxSource:
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    model = ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError as error:
        raise BadModelError(f"its source is damaged ({error})") from None
    for tensor in model.graph.initializer:
        if tensor.data_location == _EXTERNAL:
            array = arrays.get(_number(tensor.external_data[0].value if tensor.external_data else ""))
            tensor.raw_data = np.ascontiguousarray(array).tobytes()
            del tensor.external_data[:]
            tensor.ClearField("data_location")
    return OnnxSource(model)


def _number(text: str) -> int:
    if not text.isdigit():
        raise BadModelError("its source refers to an array that is not there")
    return int(text)


class MindirSource:
    """A MindIR model message and where its external data comes from."""

    kind = "mindir"

    def __init__(self, steps: Any, model: Any):
        self.steps, self.model = steps, model

    def inputs(self) -> list[TensorSpec]:
        from mindspore.formats.mindir.load import input_specs

        return input_specs(self.steps)

    def build(self, shapes: Mapping[str, Shape], known: Mapping[str, np.ndarray]) -> Program:
        from mindspore.formats.mindir.load import build

        if known:
            raise ValueError("the shapes of its results depend on values")
        return build(self.steps, shapes, resize=True)

    def pack(self, arrays: ArrayWriter) -> bytes:
        from mindspore.formats.mindir.messages import ExternalData, ModelProto

        model = ModelProto.decode(bytes(self.model.encode()))
        held = dict(self.steps.weights.values())
        for parameter in model.graph.parameter:
            array = held.get(parameter.ref_key or "")
            if array is not None and array.nbytes >= _LARGE:
                number = arrays.add(np.asarray(array), weight=True)
                parameter.external_data = ExternalData(location=str(number), offset=0, length=array.nbytes)
                parameter.raw_data = None
        return bytes(model.encode())


def unpack_mindir(content: bytes, arrays: ArrayReader) -> MindirSource:
    from mindspore._base.protobuf import DecodeError
    from mindspore.formats.mindir.messages import ModelProto
    from mindspore.formats.mindir.program import Program as Steps

    def read(tensor: Any) -> memoryview:
        array = arrays.get(_number(tensor.external_data.location or ""))
        return memoryview(np.ascontiguousarray(array).tobytes())

    try:
        model = ModelProto.decode(content)
        return MindirSource(Steps(model, read), model)
    except DecodeError as error:
        raise BadModelError(f"its source is damaged ({error})") from None


class FixedSource:
    """What stands for a source in models that exist for one set of shapes only."""

    kind = "fixed"

    def __init__(self, specs: Sequence[TensorSpec] = ()):
        self._specs = list(specs)

    def inputs(self) -> list[TensorSpec]:
        return self._specs

    def build(self, shapes: Mapping[str, Shape], known: Mapping[str, np.ndarray]) -> Program:
        raise ValueError("a quantised model has fixed shapes; convert the original with input_shape for others")

    def pack(self, arrays: ArrayWriter) -> bytes:
        return b""


def unpack_fixed(content: bytes, arrays: ArrayReader) -> FixedSource:
    return FixedSource()


def from_onnx(path: str) -> OnnxSource:
    from mindspore.formats.onnx.load import read_model

    return OnnxSource(read_model(path))


def from_mindir(path: str, key: bytes | None = None, mode: str = "AES-GCM") -> MindirSource:
    from mindspore.formats import encryption, mindir

    decrypt = None if key is None else lambda _, data: encryption.decrypt(data, key, mode)
    steps, model = mindir.read_steps(os.path.realpath(path), decrypt)
    return MindirSource(steps, model)
