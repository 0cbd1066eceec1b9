"""Our primitives in the spelling of official MindSpore, one rule per primitive that differs.

Most primitives have the same name, inputs and attributes there; `lower` handles those by the table of conventions.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mindspore.formats.decompositions import decomposed
from mindspore.formats.mindir import indexing
from mindspore.formats.mindir.conventions import ATTRIBUTE_NAMES, Convention, convention, to_file
from mindspore.formats.mindir.writer import GraphWriter
from mindspore.ir import AbstractTensor, AbstractTuple, CNode, FuncGraph, ValueNode

Rule = Callable[[GraphWriter, CNode, list[str]], str]
_RULES: dict[str, Rule] = {}
_DEFAULTS = {"skip_mode": False, "batch_dims": 0, "decimals": 0}
_NOT_ATTRIBUTES = frozenset(("in_strategy", "out_strategy", "recompute", "stage", "place", "primitive_target"))
#: primitives that official MindSpore does not have
_OWN = frozenset((
    "AttentionGrad", "Bitcast", "CTC", "CTCAlignments", "CTCCurvature", "CTCGrad", "Collective", "Conv1DBackpropFilter",
    "Conv1DBackpropInput", "CustomGradient", "DropoutMask", "FourierTransform", "GroupedMatMulRows", "GroupedOuter",
    "InverseRealFourierTransform", "RandomBits", "RandomGammaSample", "RandomInteger", "RandomNormal",
    "RandomPermutation", "RandomPoissonSample", "RandomUniform", "RealFourierTransform", "RecurrentSequenceCurvature",
    "RecurrentSequenceGrad", "SparseUpdate", "StackRead",
))  # fmt: skip


def lower(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    """Emit the official nodes for one of ours."""
    name = node.op.name
    rule = _RULES.get(name)
    if rule is not None:
        return rule(writer, node, inputs)
    inner = decomposed(node)
    if inner is not None:
        return _inlined(writer, node, inputs, *inner)
    found = convention(name)
    if found is not None:
        return _as_function(writer, node, inputs, name, found)
    if name in _OWN:
        raise RuntimeError(f"The operation '{name}' cannot be exported to MindIR.")
    attributes = {k: v for k, v in node.op.attrs.items() if k not in _NOT_ATTRIBUTES}
    if node.op.variadic:
        inputs = [_tuple_of(writer, node, inputs)]
    try:
        return writer.emit(name, inputs, node.abstract, attributes, is_function=False, scope=node.scope)
    except TypeError as error:
        raise RuntimeError(f"The operation '{name}' cannot be exported to MindIR: {error}.") from None


def _inlined(writer: GraphWriter, node: CNode, inputs: list[str], graph: FuncGraph, places: list[int]) -> str:
    """Write a graph in the place of a node."""
    for parameter, place in zip(graph.parameters, places):
        writer.bind(parameter, inputs[place])
    if not isinstance(node.abstract, AbstractTuple):
        return writer.name_of(
            graph.output.args[0] if isinstance(graph.output.abstract, AbstractTuple) else graph.output
        )
    return writer.make_tuple([writer.name_of(part) for part in graph.output.args], node.abstract)


def _as_function(writer: GraphWriter, node: CNode, inputs: list[str], name: str, spec: Convention) -> str:
    names = list(inputs)
    if node.op.variadic and len(spec.call) == 1:
        names = [_tuple_of(writer, node, inputs)]
    else:
        for place, (argument, input_spec) in enumerate(zip(node.args, spec.call)):
            if input_spec.kind and isinstance(argument, ValueNode):
                names[place] = writer.constant(to_file(input_spec, argument.value))
    for input_spec in (*spec.call[len(names) :], *spec.init):
        own = ATTRIBUTE_NAMES.get((name, input_spec.name), input_spec.name)
        value = node.op.attrs.get(own, _DEFAULTS.get(input_spec.name))
        names.append(writer.constant(to_file(input_spec, value)))
    return writer.emit(name, names, node.abstract, scope=node.scope)


def _tuple_of(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    return writer.make_tuple(inputs, AbstractTuple(tuple(a.abstract for a in node.args)))


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for primitives."""

    def register(function: Rule) -> Rule:
        for name in names:
            _RULES[name] = function
        return function

    return register


# ---------------------------------------------------------------------------------------------------------------------
# Convolution and pooling: attributes with two further dimensions


@rule("Conv2D")
def _conv2d(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    op = node.op
    pads = tuple(v for pair in op.window(node.args[0].abstract.shape).pads for v in pair)
    given = tuple(v for pair in op.pad for v in pair)
    attributes = {
        "out_channel": op.out_channel, "kernel_size": op.kernel_size, "mode": 1, "pad_mode": op.pad_mode, "pad": given,
        "pad_list": pads, "stride": (1, 1, *op.stride), "dilation": (1, 1, *op.dilation), "group": op.group,
        "groups": op.group, "format": op.data_format, "input_names": ["x", "w"], "output_names": ["output"],
    }  # fmt: skip
    return writer.emit("Conv2D", inputs, node.abstract, attributes, is_function=False, scope=node.scope)


@rule("Conv3D")
def _conv3d(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    op = node.op
    pads = tuple(v for pair in op.window(node.args[0].abstract.shape).pads for v in pair)
    attributes = {
        "out_channel": op.out_channel, "kernel_size": op.kernel_size, "mode": 1, "pad_mode": "pad", "pad": pads,
        "pad_list": pads, "stride": op.stride, "strides": (1, 1, *op.stride), "dilation": op.dilation,
        "dilations": (1, 1, *op.dilation), "group": op.group, "groups": op.group, "offset_x": 0,
        "format": op.data_format, "input_names": ["x", "w"], "output_names": ["output"],
    }  # fmt: skip
    return writer.emit("Conv3D", inputs, node.abstract, attributes, is_function=False, scope=node.scope)


@rule("BatchNorm")
def _batch_norm(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    """Official MindSpore normalises matrices and images; everything else is made an image and back."""
    spec, kind = convention("BatchNorm"), node.args[0].abstract
    assert spec is not None
    if len(kind.shape) in (2, 4):
        return _as_function(writer, node, inputs, "BatchNorm", spec)
    shape = (*kind.shape[:2], math.prod(kind.shape[2:-1]), kind.shape[-1])
    image = AbstractTensor(kind.dtype, shape)
    flat = writer.emit("Reshape", [inputs[0], writer.constant(shape)], image)
    found = _as_function(writer, node, [flat, *inputs[1:]], "BatchNorm", spec)
    kinds = node.abstract.elements
    back = writer.emit("Reshape", [writer.get_item(found, 0, image), writer.constant(kind.shape)], kinds[0])
    rest = [writer.get_item(found, place, part) for place, part in enumerate(kinds) if place]
    return writer.make_tuple([back, *rest], node.abstract)


@rule("MaxPool")
def _max_pool(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    op = node.op
    attributes = {
        "kernel_size": (1, 1, *op.kernel_size), "strides": (1, 1, *op.strides), "pad_mode": op.pad_mode.upper(),
        "format": op.data_format, "input_names": ["x"], "output_names": ["output"],
    }  # fmt: skip
    return writer.emit("MaxPool", inputs, node.abstract, attributes, is_function=False, scope=node.scope)


@rule("MaxPool3D", "AvgPool3D")
def _pool3d(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    op = node.op
    pads = tuple(v for pair in op.window(node.args[0].abstract.shape).pads for v in pair)
    attributes = {
        "kernel_size": (1, 1, *op.kernel_size), "strides": (1, 1, *op.strides), "pad_mode": op.pad_mode.upper(),
        "pad_list": pads, "ceil_mode": int(op.ceil_mode), "format": op.data_format, "input_names": ["input"],
        "output_names": ["output"],
    }  # fmt: skip
    if op.name == "AvgPool3D":
        attributes.update(pad=pads, count_include_pad=True, divisor_override=0, ceil_mode=bool(op.ceil_mode))
    return writer.emit(op.name, inputs, node.abstract, attributes, is_function=False, scope=node.scope)


@rule("Conv2DBackpropInput", "Conv2DTranspose")
def _conv2d_transpose(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    op = node.op
    pads = tuple(v for pair in op.window(node.abstract.shape).pads for v in pair)
    attributes = {
        "kernel_size": op.kernel_size, "mode": 1, "out_channel": op.out_channel, "pad": pads, "pad_mode": "PAD",
        "format": op.data_format, "pad_list": pads, "groups": op.group, "stride": (1, 1, *op.stride), "group": op.group,
        "dilation": (1, 1, *op.dilation), "input_names": ["out_backprop", "filter", "input_sizes"],
        "output_names": ["output"],
    }  # fmt: skip
    return writer.emit("Conv2DTranspose", inputs, node.abstract, attributes, is_function=False, scope=node.scope)


@rule("Conv2DBackpropFilter")
def _conv2d_filter(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    op = node.op
    pads = tuple(v for pair in op.window(node.args[1].abstract.shape).pads for v in pair)
    attributes = {
        "kernel_size": op.kernel_size, "mode": 1, "out_channel": op.out_channel, "pad": pads, "pad_mode": "PAD",
        "format": op.data_format, "pad_list": pads, "groups": op.group, "stride": (1, 1, *op.stride), "group": op.group,
        "dilation": (1, 1, *op.dilation), "input_names": ["out_backprop", "input", "filter_sizes"],
        "output_names": ["output"], "data_format": op.data_format,
    }  # fmt: skip
    sizes = writer.constant(tuple(node.abstract.shape))
    return writer.emit(op.name, [*inputs[:2], sizes], node.abstract, attributes, is_function=False, scope=node.scope)


@rule("MaxPoolGrad")
def _max_pool_grad(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    op = node.op
    if op.rank != 2 or op.pad_mode == "pad" or op.ceil_mode or set(op.dilation) != {1}:
        raise RuntimeError("The gradient of a padded or dilated MaxPool cannot be exported to MindIR.")
    attributes = {
        "kernel_size": (1, 1, *op.kernel_size), "strides": (1, 1, *op.strides), "pad_mode": op.pad_mode.upper(),
        "format": op.data_format, "data_format": op.data_format, "input_names": ["x_origin", "out_origin", "grad"],
        "output_names": ["output"],
    }  # fmt: skip
    return writer.emit(op.name, inputs, node.abstract, attributes, is_function=False, scope=node.scope)


@rule("BatchMatMul")
def _batch_matmul(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    """Official MindSpore wants operands of equal rank."""
    kinds = [a.abstract for a in node.args[:2]]
    batch = np.broadcast_shapes(*(k.shape[:-2] for k in kinds))
    names = list(inputs[:2])
    for place, kind in enumerate(kinds):
        shape = (*batch, *kind.shape[-2:])
        if kind.shape != shape:
            names[place] = writer.emit(
                "BroadcastTo", [names[place], writer.constant(shape)], AbstractTensor(kind.dtype, shape)
            )
    spec = convention("BatchMatMul")
    assert spec is not None
    return _as_function(writer, node, [*names, *inputs[2:]], "BatchMatMul", spec)


# ---------------------------------------------------------------------------------------------------------------------
# Indexing


_RULES.update({"GetItem": indexing.get_item, "SetItem": indexing.set_item})


# ---------------------------------------------------------------------------------------------------------------------
# What official MindSpore composes of other primitives


def _number(writer: GraphWriter, value: float, node: CNode) -> str:
    return writer.constant(np.asarray(value, node.abstract.dtype.np))


@rule("StopGradient", "Identity", "GradientHook", "Depend")
def _pass_through(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    return inputs[0]


@rule("NextKey", "FoldIn")
def _no_key(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    """Official random operations have a state of their own; nothing uses the keys."""
    if not isinstance(node.abstract, AbstractTuple):
        return writer.constant(np.zeros(node.abstract.shape, node.abstract.dtype.np))
    zeros = [writer.constant(np.zeros(e.shape, e.dtype.np)) for e in node.abstract.elements]  # type: ignore[attr-defined]
    return writer.make_tuple(zeros, node.abstract)


@rule("DropoutWithKey")
def _dropout(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    kind = node.args[0].abstract
    options = [writer.constant(node.op.keep_prob), writer.constant(0), writer.constant(0)]
    return writer.emit("Dropout", [inputs[0], *options], AbstractTuple((kind, kind)), scope=node.scope)


@rule("GeLUErf")
def _gelu(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    kind = node.abstract
    scaled = writer.emit("Mul", [inputs[0], _number(writer, 1 / math.sqrt(2), node)], kind)
    raised = writer.emit("Add", [writer.emit("Erf", [scaled], kind), _number(writer, 1, node)], kind)
    half = writer.emit("Mul", [inputs[0], _number(writer, 0.5, node)], kind)
    return writer.emit("Mul", [half, raised], kind)


@rule("LeakyReLU")
def _leaky_relu(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    slope = next(iter(node.op.attrs.values()))
    scaled = writer.emit("Mul", [inputs[0], _number(writer, slope, node)], node.abstract)
    return writer.emit("Maximum" if slope <= 1 else "Minimum", [inputs[0], scaled], node.abstract)


@rule("Standardize")
def _standardize(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    full, stat = node.abstract.elements[0], node.abstract.elements[1]
    axes, keep = writer.constant(tuple(node.op.axes)), writer.constant(True)
    mean = writer.emit("ReduceMean", [inputs[0], axes, keep], stat)
    centred = writer.emit("Sub", [inputs[0], mean], full)
    variance = writer.emit("ReduceMean", [writer.emit("Square", [centred], full), axes, keep], stat)
    epsilon = writer.constant(np.asarray(node.op.epsilon, stat.dtype.np))
    scale = writer.emit("Rsqrt", [writer.emit("Add", [variance, epsilon], stat)], stat)
    return writer.make_tuple([writer.emit("Mul", [centred, scale], full), mean, variance], node.abstract)


@rule("Fill")
def _fill(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    value = node.args[2]
    if not isinstance(value, ValueNode):
        shape = writer.constant(tuple(node.abstract.shape))
        return writer.emit("BroadcastTo", [inputs[2], shape], node.abstract)
    return writer.constant(np.full(node.abstract.shape, value.value, node.abstract.dtype.np))


@rule("Stack")
def _stack(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    joined = _tuple_of(writer, node, inputs)
    attributes = {"axis": node.op.axis, "num": len(inputs)}
    return writer.emit("Stack", [joined], node.abstract, attributes, is_function=False, scope=node.scope)


@rule("Pad")
def _pad(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    if node.op.value == 0:
        attributes = {"paddings": node.op.paddings}
        return writer.emit("Pad", inputs, node.abstract, attributes, is_function=False, scope=node.scope)
    last_first = tuple(v for pair in reversed(node.op.paddings) for v in pair)
    fill = _number(writer, node.op.value, node)
    attributes = {
        "mode": "constant", "paddings_contiguous": True, "input_names": ["x", "paddings", "constant_value"],
        "output_names": ["y"],
    }  # fmt: skip
    inputs = [inputs[0], writer.constant(last_first), fill]
    return writer.emit("PadV3", inputs, node.abstract, attributes, is_function=False, scope=node.scope)
