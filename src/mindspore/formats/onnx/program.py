"""An ONNX graph made ready to run: a list of steps over named values.

A step is an operator of `OPERATORS`, control flow over nested graphs (`control`), or a function: a node of the model's
own functions, or an operator that ONNX defines by simpler ones and that has no rule here. Such definitions may depend
on the types of the inputs, so they are looked up when the step runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.optional import require
from mindspore.formats.onnx import types
from mindspore.formats.onnx.control import CONTROL
from mindspore.formats.onnx.registry import OPERATORS, as_tensor, run_operator

_STANDARD = ("", "ai.onnx")
_MAX_DEPTH = 50


class OnnxStep(NamedTuple):
    """One node."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    node: Any  # the message, for operators that are defined by functions


class OnnxProgram:
    """The steps of a graph or function; nested graphs see the values around them."""

    def __init__(
        self,
        graph: Any,
        opset: int,
        functions: Mapping[tuple[str, str], Any],
        depth: int = 0,
        common_seed: Callable[[], int | None] = lambda: None,
    ):
        if depth > _MAX_DEPTH:
            raise ValueError(f"The graphs of the ONNX model are nested more than {_MAX_DEPTH} deep.")
        self.opset, self.functions, self.depth, self.common_seed = opset, functions, depth, common_seed
        self.constants = {t.name: types.to_array(t) for t in getattr(graph, "initializer", ())}
        self.constants.update({s.values.name: types.dense(s) for s in getattr(graph, "sparse_initializer", ())})
        self.inputs = tuple(_name(i) for i in graph.input if _name(i) not in self.constants)
        self.outputs = tuple(_name(o) for o in graph.output)
        self.steps = tuple(self._step(node) for node in graph.node)

    def _step(self, node: Any) -> OnnxStep:
        if (node.domain, node.op_type) not in self.functions and not is_supported(node):
            raise ValueError(f"The ONNX operator '{qualified(node)}' is not supported.")
        attributes = {a.name: self._attribute(a) for a in node.attribute if not a.ref_attr_name}
        references = {a.name: _Reference(a.ref_attr_name) for a in node.attribute if a.ref_attr_name}
        return OnnxStep(qualified(node), tuple(node.input), tuple(node.output), {**attributes, **references}, node)

    def _attribute(self, attribute: Any) -> Any:
        value = require("onnx", "onnx", "Reading an ONNX model").helper.get_attribute_value(attribute)
        if attribute.type == attribute.TENSOR:
            return types.to_array(value)
        if attribute.type == attribute.SPARSE_TENSOR:
            return types.dense(value)
        if attribute.type == attribute.GRAPH:
            return OnnxProgram(value, self.opset, self.functions, self.depth + 1, self.common_seed)
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if isinstance(value, (int, float, str)) or not hasattr(value, "__iter__"):
            return value
        return [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in value]

    # -- running --------------------------------------------------------------------------------------------------
    def run(self, inputs: tuple, outer: Mapping[str, Any], attributes: Mapping[str, Any] | None = None) -> tuple:
        """The results. `outer` holds the values that the graph may use besides its inputs."""
        values = {**outer, "": None, **self.constants, **dict(zip(self.inputs, inputs))}
        for step in self.steps:
            given = _resolved(step.attributes, attributes or {})
            arguments = [values[name] for name in step.inputs]
            for name, value in zip(step.outputs, self._results(step, arguments, given, values)):
                values[name] = value
        return tuple(values.get(name) for name in self.outputs)  # functions may leave out optional results

    def _results(self, step: OnnxStep, inputs: list[Any], attributes: dict[str, Any], values: dict) -> tuple:
        function = self.functions.get((step.node.domain, step.node.op_type))
        if function is not None:
            return self._call(function, inputs, attributes)
        if step.op in CONTROL:
            return CONTROL[step.op](inputs, attributes, values, self.opset)
        if step.op in OPERATORS:
            try:
                return run_operator(step.op, self.opset, inputs, attributes, len(step.outputs), self.common_seed())
            except (LookupError, ArithmeticError) as error:  # files may leave out what an operator needs, or give sizes of 0
                name = step.node.name or ", ".join(step.node.output)
                raise ValueError(f"The node '{name}' ({step.node.op_type}) does not fit its inputs and attributes: {error}.") from error
        node = step.node
        if any(a.ref_attr_name for a in node.attribute):
            node = _with_attributes(node, attributes)
        given = {**_defaults(node, self.opset), **attributes}
        return self._call(_standard_function(node, self.opset, inputs), inputs, given)

    def _call(self, function: Any, inputs: list[Any], attributes: dict[str, Any]) -> tuple:
        opset = next((o.version for o in function.opset_import if o.domain in _STANDARD), self.opset)
        program = OnnxProgram(function, opset, self.functions, self.depth + 1, self.common_seed)
        defaults = {a.name: program._attribute(a) for a in function.attribute_proto}
        given = [*inputs, *[None] * (len(program.inputs) - len(inputs))]
        return program.run(tuple(given), {}, {**defaults, **attributes})


class _Reference(NamedTuple):
    """An attribute that takes its value from an attribute of the function around it."""

    name: str


def _resolved(attributes: dict[str, Any], outer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: outer[value.name] if isinstance(value, _Reference) else value
        for name, value in attributes.items()
        if not isinstance(value, _Reference) or value.name in outer
    }


def _with_attributes(node: Any, attributes: dict[str, Any]) -> Any:
    """A copy of a node with the values of attributes that refer to those of the function around it."""
    helper = require("onnx", "onnx", "Reading an ONNX model").helper
    made = type(node)()
    made.CopyFrom(node)
    del made.attribute[:]
    made.attribute.extend(a for a in node.attribute if not a.ref_attr_name)
    references = [a.name for a in node.attribute if a.ref_attr_name and a.name in attributes]
    made.attribute.extend(helper.make_attribute(name, attributes[name]) for name in references)
    return made


def _name(item: Any) -> str:
    """Inputs and outputs are messages in graphs and names in functions."""
    return item if isinstance(item, str) else item.name


def qualified(node: Any) -> str:
    """An operator's name, with its domain where that is not ONNX's main one."""
    return str(node.op_type) if node.domain in _STANDARD else f"{node.domain}.{node.op_type}"


def is_supported(node: Any) -> bool:
    """Whether an operator of ONNX's domains has a rule here, or a definition by operators that may have."""
    return qualified(node) in OPERATORS or qualified(node) in CONTROL or _has_function(node)


def _has_function(node: Any) -> bool:
    defs = require("onnx", "onnx", "Reading an ONNX model").defs
    if not defs.has(node.op_type, _domain(node)):
        return False
    schema = defs.get_schema(node.op_type, domain=_domain(node))
    return bool(schema.has_function or schema.has_context_dependent_function)


def _domain(node: Any) -> str:
    return "" if node.domain in _STANDARD else str(node.domain)


def _schema(node: Any, opset: int) -> Any:
    """The definition of an operator; other domains than the main one count versions of their own."""
    defs = require("onnx", "onnx", "Reading an ONNX model").defs
    return defs.get_schema(node.op_type, opset) if not _domain(node) else defs.get_schema(node.op_type, domain=_domain(node))


def _standard_function(node: Any, opset: int, inputs: list[Any]) -> Any:
    """What ONNX defines an operator by, for inputs of these types."""
    onnx = require("onnx", "onnx", "Reading an ONNX model")
    schema = _schema(node, opset)
    if schema.has_function:
        return onnx.FunctionProto.FromString(
            _newest(schema.function_opset_versions, opset, schema.get_function_with_opset_version)
        )
    kinds = [_type_of(onnx, value).SerializeToString() for value in inputs]
    versions = schema.context_dependent_function_opset_versions
    return onnx.FunctionProto.FromString(
        _newest(
            versions, opset,
            lambda v: schema.get_context_dependent_function_with_opset_version(v, node.SerializeToString(), kinds),
        )
    )  # fmt: skip


def _defaults(node: Any, opset: int) -> dict[str, Any]:
    """The values that ONNX gives to attributes that are left out."""
    onnx = require("onnx", "onnx", "Reading an ONNX model")
    found = {}
    for name, attribute in _schema(node, opset).attributes.items():
        if attribute.default_value.name:
            value = onnx.helper.get_attribute_value(attribute.default_value)
            found[name] = value.decode("utf-8") if isinstance(value, bytes) else value
    return found


def _newest(versions: Any, opset: int, get: Any) -> Any:
    return get(max((v for v in versions if v <= opset), default=min(versions)))


def _type_of(onnx: Any, value: Any) -> Any:
    if value is None:
        return onnx.TypeProto()
    if isinstance(value, list):
        inner = _type_of(onnx, value[0]) if value else onnx.helper.make_tensor_type_proto(1, None)
        return onnx.helper.make_sequence_type_proto(inner)
    dtype = np.dtype(value.dtype if isinstance(value, np.ndarray) else value.dtype.np)
    return onnx.helper.make_tensor_type_proto(onnx.helper.np_dtype_to_tensor_dtype(dtype), list(value.shape))


def public(value: Any) -> Any:
    """A result as users get it; element types that no Tensor can hold stay NumPy arrays."""
    if isinstance(value, list):
        return [public(item) for item in value]
    return as_tensor(value)
