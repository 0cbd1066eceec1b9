"""How layers are written in ONNX: products, convolution, pooling, normalisation, softmax, recurrent networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.formats.onnx.messages import INT32
from mindspore.formats.onnx.rules import _shape, rule
from mindspore.ir import CNode

if TYPE_CHECKING:
    from mindspore.formats.onnx.export import OnnxGraph


# -- products ---------------------------------------------------------------------------------------------------------
@rule("MatMul", "BatchMatMul")
def _matmul(g: OnnxGraph, node: CNode, x: str, y: str) -> str:
    for flag, place in (("transpose_a", 0), ("transpose_b", 1)):
        if getattr(node.op, flag, False):
            rank = len(_shape(node.args[place]))
            turned = g.emit("Transpose", [(x, y)[place]], perm=[*range(rank - 2), rank - 1, rank - 2])
            x, y = (turned, y) if place == 0 else (x, turned)
    return g.emit("MatMul", [x, y])


def _first_channels(node: CNode) -> None:
    if not node.op.data_format.startswith("NC"):
        raise RuntimeError(f"{node.op.name} in the layout {node.op.data_format} cannot be exported to ONNX.")


@rule("Conv1D", "Conv2D", "Conv3D")
def _conv(g: OnnxGraph, node: CNode, x: str, w: str) -> str:
    _first_channels(node)
    pads = node.op.window(_shape(node.args[0])).pads
    return g.emit(
        "Conv", [x, w], dilations=list(node.op.dilation), group=node.op.group, kernel_shape=list(node.op.kernel_size),
        pads=[p[0] for p in pads] + [p[1] for p in pads], strides=list(node.op.stride),
    )  # fmt: skip


@rule("Conv1DBackpropInput", "Conv2DBackpropInput", "Conv2DTranspose", "Conv3DBackpropInput")
def _conv_transpose(g: OnnxGraph, node: CNode, dout: str, w: str, sizes: Any = None) -> str:
    _first_channels(node)
    op = node.op
    pads = op.window(_shape(node)).pads
    extra = [
        size - ((old - 1) * s + (k - 1) * d + 1 - lo - hi)
        for size, old, s, k, d, (lo, hi) in zip(
            _shape(node)[2:], _shape(node.args[0])[2:], op.stride, op.kernel_size, op.dilation, pads
        )
    ]
    return g.emit(
        "ConvTranspose", [dout, w], dilations=list(op.dilation), group=op.group, kernel_shape=list(op.kernel_size),
        output_padding=extra, pads=[p[0] for p in pads] + [p[1] for p in pads], strides=list(op.stride),
    )  # fmt: skip


@rule("MaxPool", "MaxPool3D", "MaxPoolNd", "AvgPool", "AvgPoolNd", "AvgPool3D")
def _pool(g: OnnxGraph, node: CNode, x: str) -> str:
    _first_channels(node)
    op = node.op
    pads = op.window(_shape(node.args[0])).pads
    attributes: dict[str, Any] = {
        "kernel_shape": list(op.kernel_size), "strides": list(op.strides),
        "pads": [p[0] for p in pads] + [p[1] for p in pads],
    }  # fmt: skip
    if op.name.startswith("Max"):
        return g.emit("MaxPool", [x], dilations=list(op.dilation), **attributes)
    if getattr(op, "divisor_override", None):
        raise RuntimeError("AvgPool with divisor_override cannot be exported to ONNX.")
    return g.emit(
        "AveragePool", [x], count_include_pad=int(bool(getattr(op, "count_include_pad", False))), **attributes
    )


# -- normalisation ----------------------------------------------------------------------------------------------------
@rule("BatchNorm")
def _batch_norm(g: OnnxGraph, node: CNode, x: str, scale: str, bias: str, mean: str, variance: str) -> list[str]:
    if node.op.is_training:
        raise RuntimeError("A network in training mode cannot be exported to ONNX; call set_train(False) first.")
    _first_channels(node)
    out = g.emit("BatchNormalization", [x, scale, bias, mean, variance], epsilon=node.op.epsilon)
    return [out, mean, variance, mean, variance]


@rule("LayerNorm")
def _layer_norm(g: OnnxGraph, node: CNode, x: str, gamma: str, beta: str) -> list[str]:
    out = g.emit("LayerNormalization", [x, gamma, beta], axis=node.op.begin_norm_axis, epsilon=node.op.epsilon)
    return [out, out, out]  # its mean and deviation are only used in training


@rule("Standardize")
def _standardize(g: OnnxGraph, node: CNode, x: str) -> list[str]:
    axes = list(node.op.axes)
    dtype = node.abstract.elements[0].dtype.np
    mean = g.emit("ReduceMean", [x], axes=axes, keepdims=1)
    centred = g.emit("Sub", [x, mean])
    variance = g.emit("ReduceMean", [g.emit("Mul", [centred, centred])], axes=axes, keepdims=1)
    deviation = g.emit("Sqrt", [g.emit("Add", [variance, g.constant(np.asarray(node.op.epsilon, dtype))])])
    return [g.emit("Div", [centred, deviation]), mean, variance]


@rule("Softmax", "LogSoftmax")
def _softmax(g: OnnxGraph, node: CNode, x: str) -> str:
    axis = node.op.axis
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if len(axes) != 1:
        raise RuntimeError(f"{node.op.name} over several axes cannot be exported to ONNX.")
    return g.emit(node.op.name, [x], axis=axes[0])


#: where ONNX's gates are among ours (LSTM: i, o, f, c of i, f, g, o; GRU: z, r, h of r, z, n)
_GATES = {"lstm": ("LSTM", (0, 3, 1, 2)), "gru": ("GRU", (1, 0, 2)), "tanh": ("RNN", (0,)), "relu": ("RNN", (0,))}


@rule("RecurrentSequence")
def _recurrent(
    g: OnnxGraph, node: CNode, gates: str, h: str, c: str, weight: str, bias: Any, lengths: Any
) -> list[str]:
    """ONNX multiplies the input by a weight itself; ours comes multiplied, so that weight is a permutation."""
    op, order = _GATES[node.op.mode]
    hidden = _shape(node.args[1])[1]
    rows = np.concatenate([np.arange(hidden) + hidden * place for place in order])
    dtype = node.args[0].abstract.dtype.np
    lead = lambda name: g.emit("Unsqueeze", [name, g.ints([0])])
    turn = g.constant(np.eye(len(rows), dtype=dtype)[rows][None])
    inner = lead(g.emit("Gather", [weight, g.ints(rows)], axis=0))
    biases = ""
    if isinstance(bias, str):
        own = g.emit("Gather", [bias, g.ints(rows)], axis=0)
        biases = lead(g.emit("Concat", [g.constant(np.zeros(len(rows), dtype)), own], axis=0))
    sizes = g.emit("Cast", [lengths], to=INT32) if isinstance(lengths, str) else ""
    inputs = [gates, turn, inner, biases, sizes, lead(h)]
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": "reverse" if node.op.reverse else "forward"}
    if op == "LSTM":
        inputs.append(lead(c))
    if op == "GRU":
        attributes["linear_before_reset"] = 1
    if node.op.mode == "relu":
        attributes["activations"] = ["Relu"]
    found = g.emit(op, inputs, 3 if op == "LSTM" else 2, **attributes)
    squeeze = lambda name, axis: g.emit("Squeeze", [name, g.ints([axis])])
    last_h = squeeze(found[1], 0)
    return [squeeze(found[0], 1), last_h, squeeze(found[2], 0) if op == "LSTM" else c, last_h]
