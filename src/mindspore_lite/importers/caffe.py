"""Caffe's networks as ONNX messages: layers from the `.prototxt`, weights from the `.caffemodel`.

Layers name what they read (bottom) and write (top); a layer may write what it reads, so a name means its latest value. Layers for
training only are left out; results that nothing reads are the outputs. Field numbers: BVLC/caffe, src/caffe/proto/caffe.proto.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base.protobuf import DecodeError, Message, element_count, field
from mindspore.formats.onnx.writing import ModelWriter
from mindspore_lite.importers.prototxt import Text, parse
from mindspore_lite.source import UnsupportedError


class BlobShape(Message):
    dim = field(1, "int64", repeated=True)


class Blob(Message):
    num = field(1, "int32")
    channels = field(2, "int32")
    height = field(3, "int32")
    width = field(4, "int32")
    data = field(5, "float", repeated=True)
    shape = field(7, lambda: BlobShape)
    double_data = field(8, "double", repeated=True)

    def array(self, name: str) -> np.ndarray:
        dims = list(self.shape.dim) if self.shape is not None else [d or 1 for d in (self.num, self.channels, self.height, self.width)]
        given = np.array(self.data or self.double_data, np.float32)
        if element_count(name, dims) != given.size:
            raise DecodeError(f"the weights of '{name}' do not fit their shape {dims}")
        return given.reshape(dims)


class LayerWeights(Message):
    name = field(1, "string")
    blobs = field(7, lambda: Blob, repeated=True)


class OldLayerWeights(Message):
    name = field(4, "string")
    blobs = field(6, lambda: Blob, repeated=True)


class NetWeights(Message):
    old = field(2, lambda: OldLayerWeights, repeated=True)
    layer = field(100, lambda: LayerWeights, repeated=True)


_TRAINING = ("Accuracy", "SoftmaxWithLoss", "EuclideanLoss", "SigmoidCrossEntropyLoss", "HingeLoss", "Silence", "ContrastiveLoss",
             "InfogainLoss")  # fmt: skip
_DATA = ("Data", "ImageData", "HDF5Data", "MemoryData", "WindowData", "DummyData", "AnnotatedData")
#: names of the first version's layer types
_OLD = {
    "CONVOLUTION": "Convolution", "DECONVOLUTION": "Deconvolution", "POOLING": "Pooling", "INNER_PRODUCT": "InnerProduct", "RELU": "ReLU",
    "SIGMOID": "Sigmoid", "TANH": "TanH", "SOFTMAX": "Softmax", "LRN": "LRN", "DROPOUT": "Dropout", "CONCAT": "Concat",
    "ELTWISE": "Eltwise",
    "FLATTEN": "Flatten", "SPLIT": "Split", "SLICE": "Slice", "POWER": "Power", "ABSVAL": "AbsVal", "EXP": "Exp", "BNLL": "BNLL",
    "ARGMAX": "ArgMax", "ACCURACY": "Accuracy", "SOFTMAX_LOSS": "SoftmaxWithLoss", "DATA": "Data", "SILENCE": "Silence",
}  # fmt: skip

RULES: dict[str, Callable[[Layer], str | list[str]]] = {}


def rule(*names: str) -> Callable[[Callable[[Layer], str | list[str]]], Callable[[Layer], str | list[str]]]:
    def register(function: Callable[[Layer], str | list[str]]) -> Callable[[Layer], str | list[str]]:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


class Layer:
    """A layer with what its rule needs."""

    def __init__(self, writer: ModelWriter, kind: str, message: Text, inputs: list[str], weights: list[np.ndarray]):
        self.writer, self.kind, self.message, self.inputs, self._weights = writer, kind, message, inputs, weights
        self.name = message.text("name")

    def options(self, name: str) -> Text:
        return self.message.message(name)

    def emit(self, op: str, *inputs: str | np.ndarray | None, **attributes: Any) -> str:
        return self.writer.emit(op, *inputs, **attributes)

    @property
    def blobs(self) -> int:
        return len(self._weights)

    def weight(self, place: int) -> np.ndarray:
        if place >= len(self._weights):
            raise UnsupportedError(f"the layer '{self.name}' ({self.kind}) has no weights in the caffemodel")
        return self._weights[place]

    def input(self, place: int = 0) -> str:
        if place >= len(self.inputs):
            raise DecodeError(f"the layer '{self.name}' needs {place + 1} inputs")
        return self.inputs[place]


# -- the whole ----------------------------------------------------------------------------------------------------------
def read(structure: str, weights: str) -> Any:
    """The ONNX message of a network."""
    if not weights:
        raise ValueError("a Caffe model needs its weights too: give the .caffemodel as weight_file (--weightFile)")
    with open(structure, encoding="utf-8", errors="replace") as stream:
        net = parse(stream.read())
    with open(weights, "rb") as raw:
        held = NetWeights.decode(raw.read())
    arrays = {layer.name: [blob.array(layer.name or "?") for blob in layer.blobs] for layer in (*held.old, *held.layer)}
    layers = [layer for layer in net.messages("layer") or net.messages("layers") if _at_test(layer)]
    if not layers:
        raise ValueError(f"{structure} has no layers; is it the network's definition (.prototxt)?")
    _check(layers)
    return _model(net, layers, arrays)


def _at_test(layer: Text) -> bool:
    included, excluded = layer.messages("include"), layer.messages("exclude")
    if included and all(rule.text("phase") == "TRAIN" for rule in included):
        return False
    return not any(rule.text("phase") == "TEST" for rule in excluded) and _kind(layer) not in _TRAINING


def _kind(layer: Text) -> str:
    name = layer.text("type")
    return _OLD.get(name, name)


def _check(layers: list[Text]) -> None:
    missing: dict[str, list[str]] = {}
    for layer in layers:
        if _kind(layer) not in RULES and _kind(layer) != "Input":
            missing.setdefault(_kind(layer), []).append(layer.text("name"))
    if any(kind in _DATA for kind in missing):
        raise UnsupportedError(f"the network reads data itself ({', '.join(missing)}): use its deploy.prototxt, which has an Input layer")
    if missing:
        listed = "; ".join(f"{kind} (at {', '.join(at[:5])})" for kind, at in missing.items())
        raise UnsupportedError(f"the model uses Caffe layers that are not supported: {listed}")


def _model(net: Text, layers: list[Text], arrays: dict[str, list[np.ndarray]]) -> Any:
    writer = ModelWriter("Reading a Caffe model")
    inputs = _inputs(net, layers)
    infos = [writer.info(writer.reserve(name), np.dtype(np.float32), shape) for name, shape in inputs.items()]
    values, read_last = {name: name for name in inputs}, dict.fromkeys(inputs, True)
    for message in layers:
        kind, tops = _kind(message), [str(t) for t in message.get("top", ())]
        if kind == "Input":
            continue
        bottoms = [str(b) for b in message.get("bottom", ())]
        unknown = [b for b in bottoms if b not in values]
        if unknown:
            raise DecodeError(f"the layer '{message.text('name')}' reads '{unknown[0]}', which nothing has written")
        layer = Layer(writer, kind, message, [values[b] for b in bottoms], arrays.get(message.text("name"), []))
        try:
            found = RULES[kind](layer)
        except (IndexError, KeyError, TypeError, OverflowError, ZeroDivisionError) as error:  # weights of other ranks
            raise DecodeError(f"the layer '{message.text('name')}' ({kind}) does not fit its weights or settings ({error})") from error
        results = found if isinstance(found, list) else [found] * max(len(tops), 1)
        read_last.update(dict.fromkeys(bottoms, True))
        for top, name in zip(tops, results):
            values[top], read_last[top] = name, False
    return _finished(writer, net, infos, [top for top, used in read_last.items() if not used], values)


def _finished(writer: ModelWriter, net: Text, infos: list[Any], tops: list[str], values: dict[str, str]) -> Any:
    outputs = []
    for top in tops:
        name = writer.fresh(top) if top in writer._taken else writer.reserve(top)
        writer.node("Identity", [values[top]], [name])
        outputs.append(writer.onnx.ValueInfoProto(name=name))
    return writer.model(net.text("name") or "main", infos, outputs)


def _inputs(net: Text, layers: list[Text]) -> dict[str, list[int]]:
    shapes = [shape.numbers("dim") for shape in net.messages("input_shape")]
    flat = net.numbers("input_dim")
    shapes = shapes or [flat[at : at + 4] for at in range(0, len(flat), 4)]
    found = dict(zip([str(n) for n in net.get("input", ())], shapes))
    for layer in layers:
        if _kind(layer) == "Input":
            given = [shape.numbers("dim") for shape in layer.message("input_param").messages("shape")]
            found.update(zip([str(t) for t in layer.get("top", ())], given * len(layer.get("top", ())) if len(given) == 1 else given))
    if not found or any(not shape or min(shape) < 1 for shape in found.values()):
        raise ValueError("the network does not say the shapes of its inputs (input_dim, input_shape or an Input layer)")
    return found


# -- layers -------------------------------------------------------------------------------------------------------------
def _pair(options: Text, name: str, default: int, many: str | None = None) -> list[int]:
    """A size for height and width: `name_h`, `name_w`, or `name` once or twice."""
    if f"{name}_h" in options or f"{name}_w" in options:
        return [options.number(f"{name}_h", default), options.number(f"{name}_w", default)]
    given = options.numbers(many or name) or [default]
    return given * 2 if len(given) == 1 else given[:2]


def _kernel(options: Text) -> list[int]:
    if "kernel_h" in options or "kernel_w" in options:
        return [options.number("kernel_h"), options.number("kernel_w")]
    return _pair(options, "kernel_size", 0)


@rule("Convolution", "ConvolutionDepthwise", "DepthwiseConvolution", "Deconvolution")
def _convolution(layer: Layer) -> str:
    options, weights = layer.options("convolution_param"), layer.weight(0)
    if weights.ndim != 4:
        raise DecodeError(f"the filters of '{layer.name}' must have four dimensions")
    group = weights.shape[0] if "epthwise" in layer.kind else options.number("group", 1)
    bias = layer.weight(1).reshape(-1) if options.flag("bias_term", True) and layer.blobs > 1 else None
    op = "ConvTranspose" if layer.kind == "Deconvolution" else "Conv"
    return layer.emit(
        op, layer.input(), weights, bias, group=group, kernel_shape=_kernel(options),
        strides=_pair(options, "stride", 1), pads=_pair(options, "pad", 0) * 2, dilations=_pair(options, "dilation", 1),
    )  # fmt: skip


@rule("Pooling")
def _pooling(layer: Layer) -> str:
    options = layer.options("pooling_param")
    average = options.text("pool", "MAX") in ("AVE", "1")
    if options.text("pool", "MAX") not in ("MAX", "AVE", "0", "1"):
        raise UnsupportedError(f"'{layer.name}' pools at random, which is for training")
    if options.flag("global_pooling"):
        return layer.emit("GlobalAveragePool" if average else "GlobalMaxPool", layer.input())
    up = options.text("round_mode", "CEIL") in ("CEIL", "0") and options.flag("ceil_mode", True)
    given: dict[str, Any] = {"kernel_shape": _kernel(options), "strides": _pair(options, "stride", 1), "ceil_mode": int(up)}
    if average:
        given["count_include_pad"] = 1
    return layer.emit("AveragePool" if average else "MaxPool", layer.input(), pads=_pair(options, "pad", 0) * 2, **given)


@rule("InnerProduct")
def _inner_product(layer: Layer) -> str:
    options, weights = layer.options("inner_product_param"), layer.weight(0)
    weights = weights.reshape(weights.shape[-2], weights.shape[-1])
    matrix = weights if options.flag("transpose") else weights.T
    axis = options.number("axis", 1)
    bias = layer.weight(1).reshape(-1) if options.flag("bias_term", True) and layer.blobs > 1 else None
    if axis == 1:
        flat = layer.emit("Flatten", layer.input(), axis=1)
        return layer.emit("Gemm", flat, np.ascontiguousarray(matrix), bias)
    product = layer.emit("MatMul", layer.input(), np.ascontiguousarray(matrix))
    return product if bias is None else layer.emit("Add", product, bias)


@rule("ReLU")
def _relu(layer: Layer) -> str:
    slope = layer.options("relu_param").real("negative_slope")
    return layer.emit("LeakyRelu", layer.input(), alpha=slope) if slope else layer.emit("Relu", layer.input())


def _unary(op: str) -> Callable[[Layer], str | list[str]]:
    return lambda layer: layer.emit(op, layer.input())


RULES.update({kind: _unary(op) for kind, op in {"Sigmoid": "Sigmoid", "TanH": "Tanh", "AbsVal": "Abs", "BNLL": "Softplus"}.items()})
RULES["ReLU6"] = lambda layer: layer.emit("Clip", layer.input(), np.array(0, np.float32), np.array(6, np.float32))
RULES["ELU"] = lambda layer: layer.emit("Elu", layer.input(), alpha=layer.options("elu_param").real("alpha", 1.0))
RULES["Dropout"] = RULES["Split"] = lambda layer: layer.input()


@rule("PReLU")
def _prelu(layer: Layer) -> str:
    return layer.emit("PRelu", layer.input(), layer.weight(0).reshape(-1, 1, 1))


@rule("Power")
def _power(layer: Layer) -> str:
    options = layer.options("power_param")
    scaled = layer.emit("Mul", layer.input(), np.array(options.real("scale", 1.0), np.float32))
    shifted = layer.emit("Add", scaled, np.array(options.real("shift"), np.float32))
    power = options.real("power", 1.0)
    return shifted if power == 1 else layer.emit("Pow", shifted, np.array(power, np.float32))


@rule("Exp", "Log")
def _exponential(layer: Layer) -> str:
    options = layer.options("exp_param" if layer.kind == "Exp" else "log_param")
    base = options.real("base", -1.0)
    factor = 1.0 if base == -1 else math.log(base)
    inner = layer.emit("Add", layer.emit("Mul", layer.input(), np.array(options.real("scale", 1.0), np.float32)),
                       np.array(options.real("shift"), np.float32))  # fmt: skip
    if layer.kind == "Exp":
        return layer.emit("Exp", layer.emit("Mul", inner, np.array(factor, np.float32)))
    return layer.emit("Div", layer.emit("Log", inner), np.array(factor, np.float32))


@rule("BatchNorm")
def _batch_norm(layer: Layer) -> str:
    """Means and variances are sums; the third blob is by how much to divide."""
    mean, variance, factor = (layer.weight(place).reshape(-1) for place in range(3))
    scale = np.float32(0 if factor[0] == 0 else 1 / factor[0])
    ones, zeros = np.ones_like(mean), np.zeros_like(mean)
    eps = layer.options("batch_norm_param").real("eps", 1e-5)
    return layer.emit("BatchNormalization", layer.input(), ones, zeros, mean * scale, variance * scale, epsilon=eps)


@rule("Scale", "Bias")
def _scale(layer: Layer) -> str:
    options = layer.options("scale_param" if layer.kind == "Scale" else "bias_param")
    axis = options.number("axis", 1)
    if len(layer.inputs) > 1:
        return layer.emit("Mul" if layer.kind == "Scale" else "Add", layer.input(), layer.input(1))
    wide = (-1, *(1,) * (3 - axis)) if axis > 0 else (-1,)
    found = layer.emit("Mul" if layer.kind == "Scale" else "Add", layer.input(), layer.weight(0).reshape(wide))
    biased = layer.kind == "Scale" and options.flag("bias_term") and layer.blobs > 1
    return layer.emit("Add", found, layer.weight(1).reshape(wide)) if biased else found


@rule("Eltwise")
def _eltwise(layer: Layer) -> str:
    options = layer.options("eltwise_param")
    how = options.text("operation", "SUM")
    if how in ("PROD", "0"):
        return _folded(layer, "Mul", layer.inputs)
    if how in ("MAX", "2"):
        return layer.emit("Max", *layer.inputs)
    factors = [float(v) for v in options.get("coeff", ())] or [1.0] * len(layer.inputs)
    parts = [x if f == 1 else layer.emit("Mul", x, np.array(f, np.float32)) for x, f in zip(layer.inputs, factors)]
    return _folded(layer, "Add", parts)


def _folded(layer: Layer, op: str, names: list[str]) -> str:
    name = names[0]
    for other in names[1:]:
        name = layer.emit(op, name, other)
    return name


@rule("Concat")
def _concat(layer: Layer) -> str:
    options = layer.options("concat_param")
    return layer.emit("Concat", *layer.inputs, axis=options.number("axis", options.number("concat_dim", 1)))


@rule("Slice")
def _slice(layer: Layer) -> list[str]:
    options = layer.options("slice_param")
    axis, points = options.number("axis", options.number("slice_dim", 1)), options.numbers("slice_point")
    count = len(layer.message.get("top", ()))
    if not points:
        return layer.writer.emit_many("Split", count, layer.input(), axis=axis, num_outputs=count)
    bounds = [0, *points, np.iinfo(np.int64).max]
    return [layer.emit("Slice", layer.input(), np.array([a]), np.array([b]), np.array([axis])) for a, b in itertools.pairwise(bounds)]


RULES["Softmax"] = lambda layer: layer.emit("Softmax", layer.input(), axis=layer.options("softmax_param").number("axis", 1))


@rule("LRN")
def _lrn(layer: Layer) -> str:
    options = layer.options("lrn_param")
    if options.text("norm_region", "ACROSS_CHANNELS") not in ("ACROSS_CHANNELS", "0"):
        raise UnsupportedError(f"'{layer.name}' normalises within channels, which is not supported")
    given = {"size": options.number("local_size", 5), "alpha": options.real("alpha", 1.0), "beta": options.real("beta", 0.75)}
    return layer.emit("LRN", layer.input(), bias=options.real("k", 1.0), **given)


@rule("Flatten")
def _flatten(layer: Layer) -> str:
    options = layer.options("flatten_param")
    if options.number("end_axis", -1) != -1:
        raise UnsupportedError(f"'{layer.name}' flattens some of the dimensions, which is not supported")
    axis = options.number("axis", 1)
    return layer.emit("Reshape", layer.input(), np.array([*[0] * axis, -1], np.int64))


@rule("Reshape")
def _reshape(layer: Layer) -> str:
    options = layer.options("reshape_param")
    if options.number("axis", 0) or options.number("num_axes", -1) != -1:
        raise UnsupportedError(f"'{layer.name}' reshapes some of the dimensions, which is not supported")
    return layer.emit("Reshape", layer.input(), np.array(options.message("shape").numbers("dim"), np.int64))


RULES["Permute"] = lambda layer: layer.emit("Transpose", layer.input(), perm=layer.options("permute_param").numbers("order"))


@rule("ArgMax")
def _arg_max(layer: Layer) -> str:
    options = layer.options("argmax_param")
    if options.number("top_k", 1) != 1 or options.flag("out_max_val") or "axis" not in options:
        raise UnsupportedError(f"'{layer.name}': ArgMax is supported with an axis and without top_k and out_max_val")
    return layer.emit("Cast", layer.emit("ArgMax", layer.input(), axis=options.number("axis")), to=1)


@rule("Interp", "Upsample")
def _interp(layer: Layer) -> str:
    options = layer.options("interp_param" if layer.kind == "Interp" else "upsample_param")
    if layer.kind == "Upsample":
        factor = options.real("scale", 2.0)
        scales = np.array([1, 1, factor, factor], np.float32)
        places = {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
        return layer.emit("Resize", layer.input(), None, scales, mode="nearest", **places)
    if not options.number("height") or not options.number("width"):
        raise UnsupportedError(f"'{layer.name}': Interp needs height and width")
    sizes = np.array([options.number("height"), options.number("width")], np.int64)
    places = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    return layer.emit("Resize", layer.input(), None, None, sizes, axes=[2, 3], **places)


@rule("ShuffleChannel")
def _shuffle(layer: Layer) -> str:
    """Channels (g, c) to (c, g): the two factors are turned around a depth of one pixel."""
    group = layer.options("shuffle_channel_param").number("group", 1)
    shape = layer.emit("Shape", layer.input())
    front, back = (layer.emit("Slice", shape, np.array([a]), np.array([b])) for a, b in ((0, 1), (2, 4)))
    split = layer.emit("Concat", front, np.array([group, -1], np.int64), back, axis=0)
    turned = layer.emit("Transpose", layer.emit("Reshape", layer.input(), split), perm=[0, 2, 1, 3, 4])
    return layer.emit("Reshape", turned, shape)
