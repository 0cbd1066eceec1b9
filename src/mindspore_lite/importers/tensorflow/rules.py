"""TensorFlow's operations as ONNX nodes, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base.protobuf import DecodeError
from mindspore_lite.importers.tensorflow.graph import TO_NCHW, Held, Rule, Use
from mindspore_lite.source import UnsupportedError

RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def _ints(array: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(array)).astype(np.int64)


# -- constants and passing on -------------------------------------------------------------------------------------------
@rule("Const")
def _const(use: Use) -> Held:
    value = use.attributes.get("value")
    array = value.tensor.array(use.node.name) if value is not None and value.tensor is not None else None
    if array is None:
        return Held(variable=use.node.name)  # strings: of no use, but perhaps not used
    return Held(array=array)


@rule("Identity", "StopGradient", "PreventGradient", "CheckNumerics", "Snapshot", "PlaceholderWithDefault", "EnsureShape")
def _same(use: Use) -> Held:
    return use.inputs[0]


@rule("IdentityN")
def _all_same(use: Use) -> list[Held]:
    return use.inputs


# -- elementwise --------------------------------------------------------------------------------------------------------
def _unary(op: str, **attributes: Any) -> Rule:
    return _each(lambda use, name: use.emit(op, name, **attributes))


def _each(make: Callable[[Use, str], str]) -> Rule:
    """An operation on each element, in the form that the input has."""

    def write(use: Use) -> Held:
        held = use.inputs[0]
        return Held(image=make(use, held.image)) if held.image is not None and held.plain is None else Held(plain=make(use, use.plain(0)))

    return write


_UNARY = {
    "Relu": "Relu", "Sigmoid": "Sigmoid", "Tanh": "Tanh", "Softplus": "Softplus", "Softsign": "Softsign", "Elu": "Elu", "Selu": "Selu",
    "Neg": "Neg", "Abs": "Abs", "Exp": "Exp", "Log": "Log", "Sqrt": "Sqrt", "Floor": "Floor", "Ceil": "Ceil", "Round": "Round",
    "Rint": "Round", "Sin": "Sin", "Cos": "Cos", "Tan": "Tan", "Asin": "Asin", "Acos": "Acos", "Atan": "Atan", "Sinh": "Sinh",
    "Cosh": "Cosh", "Asinh": "Asinh", "Acosh": "Acosh", "Atanh": "Atanh", "Erf": "Erf", "Reciprocal": "Reciprocal", "Inv": "Reciprocal",
    "Sign": "Sign", "LogicalNot": "Not", "IsNan": "IsNaN", "IsInf": "IsInf",
}  # fmt: skip
RULES.update({theirs: _unary(ours) for theirs, ours in _UNARY.items()})
RULES["Relu6"] = _each(lambda use, x: use.emit("Clip", x, _one(use, 0), _one(use, 6)))
RULES["Rsqrt"] = _each(lambda use, x: use.emit("Reciprocal", use.emit("Sqrt", x)))
RULES["Square"] = _each(lambda use, x: use.emit("Mul", x, x))
RULES["LeakyRelu"] = _each(lambda use, x: use.emit("LeakyRelu", x, alpha=use.real("alpha", 0.2)))
RULES["Log1p"] = _each(lambda use, x: use.emit("Log", use.emit("Add", x, _one(use, 1))))
RULES["Expm1"] = _each(lambda use, x: use.emit("Sub", use.emit("Exp", x), _one(use, 1)))
RULES["ClipByValue"] = lambda use: Held(plain=use.emit("Min", use.emit("Max", use.plain(0), use.plain(1)), use.plain(2)))


def _one(use: Use, value: int) -> np.ndarray:
    """A number of the operation's type."""
    return np.array(value, use.dtype("T"))


def _cast(use: Use) -> Held:
    code = use.me.writer.onnx.helper.np_dtype_to_tensor_dtype(use.dtype("DstT"))
    return _unary("Cast", to=code)(use)  # type: ignore[return-value]


RULES["Cast"] = _cast
RULES["ZerosLike"] = _each(lambda use, x: use.emit("Sub", x, x))
RULES["OnesLike"] = lambda use: Held(plain=use.emit("Expand", np.ones((), use.dtype("T")), use.emit("Shape", use.plain(0))))


def _beside_images(use: Use, held: Held) -> str | None:
    """A constant that is the same along height and width, in the form that goes with images; None if it is another value."""
    if held.array is None:
        return held.image
    shape = held.array.shape
    if held.array.size == 1:
        return use.me.writer.constant(held.array.reshape(()))
    if all(size == 1 for size in shape[:-1]) and len(shape) <= 4:
        return use.me.writer.constant(held.array.reshape(1, -1, 1, 1))
    return None


def _binary(make: Callable[[Use, str, str], str]) -> Rule:
    def write(use: Use) -> Held:
        first, second = use.inputs[:2]
        if any(held.image is not None and held.plain is None for held in (first, second)):
            names = _beside_images(use, first), _beside_images(use, second)
            if names[0] is not None and names[1] is not None:
                return Held(image=make(use, names[0], names[1]))
        return Held(plain=make(use, use.plain(0), use.plain(1)))

    return write


_BINARY = {
    "Add": "Add", "AddV2": "Add", "Sub": "Sub", "Mul": "Mul", "Maximum": "Max", "Minimum": "Min", "Pow": "Pow", "Greater": "Greater",
    "GreaterEqual": "GreaterOrEqual", "Less": "Less", "LessEqual": "LessOrEqual", "Equal": "Equal", "LogicalAnd": "And", "LogicalOr": "Or",
    "RealDiv": "Div", "Div": "Div",
}  # fmt: skip
for _theirs, _ours in _BINARY.items():
    RULES[_theirs] = _binary(lambda use, x, y, op=_ours: use.emit(op, x, y))  # type: ignore[misc]
RULES["NotEqual"] = _binary(lambda use, x, y: use.emit("Not", use.emit("Equal", x, y)))
RULES["FloorMod"] = _binary(lambda use, x, y: _floor_mod(use, x, y))
RULES["FloorDiv"] = _binary(lambda use, x, y: _floor_div(use, x, y))
RULES["Mod"] = _binary(lambda use, x, y: use.emit("Mod", x, y, fmod=1))
RULES["DivNoNan"] = _binary(lambda use, x, y: _div_no_nan(use, x, y))
RULES["SquaredDifference"] = _binary(lambda use, x, y: _square(use, use.emit("Sub", x, y)))


def _square(use: Use, name: str) -> str:
    return use.emit("Mul", name, name)


def _floor_mod(use: Use, x: str, y: str) -> str:
    if use.dtype("T").kind != "f":
        return use.emit("Mod", x, y)
    return use.emit("Sub", x, use.emit("Mul", use.emit("Floor", use.emit("Div", x, y)), y))


def _floor_div(use: Use, x: str, y: str) -> str:
    if use.dtype("T").kind == "f":
        return use.emit("Floor", use.emit("Div", x, y))
    return use.emit("Div", use.emit("Sub", x, use.emit("Mod", x, y)), y)


def _div_no_nan(use: Use, x: str, y: str) -> str:
    kind = use.dtype("T")
    zero = use.emit("Equal", y, np.zeros((), kind))
    return use.emit("Where", zero, np.zeros((), kind), use.emit("Div", x, use.emit("Where", zero, np.ones((), kind), y)))


@rule("AddN")
def _add_n(use: Use) -> Held:
    return Held(plain=use.emit("Sum", *(use.plain(place) for place in range(len(use.inputs)))))


@rule("BiasAdd")
def _bias(use: Use) -> Held:
    if use.text("data_format", "NHWC") == "NCHW":
        wide = use.emit("Reshape", use.plain(1), np.array([1, -1, 1, 1]))
        return Held(plain=use.emit("Add", use.plain(0), wide))
    held = use.inputs[0]
    if held.image is not None and held.plain is None:
        wide = use.emit("Reshape", use.plain(1), np.array([1, -1, 1, 1]))
        return Held(image=use.emit("Add", held.image, wide))
    return Held(plain=use.emit("Add", use.plain(0), use.plain(1)))


@rule("Select", "SelectV2")
def _select(use: Use) -> Held:
    return Held(plain=use.emit("Where", use.plain(0), use.plain(1), use.plain(2)))


# -- layers on images ---------------------------------------------------------------------------------------------------
def _is_nchw(use: Use) -> bool:
    return use.text("data_format", "NHWC") == "NCHW"


def _images(use: Use, place: int) -> str:
    return use.plain(place) if _is_nchw(use) else use.image(place)


def _given(use: Use, name: str) -> Held:
    return Held(plain=name) if _is_nchw(use) else Held(image=name)


def _spatial(use: Use, values: list[int]) -> list[int]:
    return values[2:4] if _is_nchw(use) else values[1:3]


def _padding(use: Use) -> dict[str, Any]:
    kind = use.text("padding")
    if kind == "EXPLICIT":
        pads = use.numbers("explicit_paddings")
        pairs = [pads[2 * axis : 2 * axis + 2] for axis in ((2, 3) if _is_nchw(use) else (1, 2))]
        return {"pads": [pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]]}
    return {"auto_pad": "SAME_UPPER"} if kind == "SAME" else {}


def _weights(use: Use, place: int, order: list[int]) -> str:
    """Filters (height, width, in, out) in ONNX's order."""
    held = use.inputs[place]
    if held.array is not None:
        if held.array.ndim != 4:
            raise DecodeError("filters must have four dimensions")
        return use.me.writer.constant(held.array.transpose(order))
    return use.emit("Transpose", use.plain(place), perm=order)


@rule("Conv2D")
def _conv(use: Use) -> Held:
    filters = use.array(1)
    dilations = _spatial(use, use.numbers("dilations") or [1, 1, 1, 1])
    found = use.emit(
        "Conv", _images(use, 0), _weights(use, 1, [3, 2, 0, 1]), strides=_spatial(use, use.numbers("strides")), dilations=dilations,
        kernel_shape=list(filters.shape[:2]), **_padding(use),
    )  # fmt: skip
    return _given(use, found)


@rule("DepthwiseConv2dNative")
def _depthwise(use: Use) -> Held:
    filters = use.array(1)  # height, width, channels, results of each
    if filters.ndim != 4:
        raise DecodeError("filters must have four dimensions")
    height, width, channels, each = filters.shape
    weights = filters.transpose(2, 3, 0, 1).reshape(channels * each, 1, height, width)
    dilations = _spatial(use, use.numbers("dilations") or [1, 1, 1, 1])
    found = use.emit(
        "Conv", _images(use, 0), np.ascontiguousarray(weights), group=channels, strides=_spatial(use, use.numbers("strides")),
        dilations=dilations, kernel_shape=[height, width], **_padding(use),
    )  # fmt: skip
    return _given(use, found)


@rule("Conv2DBackpropInput")
def _transposed(use: Use) -> Held:
    """A transposed convolution: its output's size is its first input."""
    sizes, filters = use.inputs[0].array, use.array(1)
    strides = _spatial(use, use.numbers("strides"))
    dilations = _spatial(use, use.numbers("dilations") or [1] * 4)
    options: dict[str, Any] = {"strides": strides, "kernel_shape": list(filters.shape[:2]), "dilations": dilations}
    if use.text("padding") == "SAME":
        options |= {"output_shape": _spatial(use, [int(n) for n in sizes])} if sizes is not None else {}
        options["auto_pad"] = "SAME_UPPER"
    found = use.emit("ConvTranspose", _images(use, 2), _weights(use, 1, [3, 2, 0, 1]), **options)
    return _given(use, found)


def _pool(op: str) -> Rule:
    def write(use: Use) -> Held:
        options = {"kernel_shape": _spatial(use, use.numbers("ksize")), "strides": _spatial(use, use.numbers("strides"))}
        return _given(use, use.emit(op, _images(use, 0), **options, **_padding(use)))

    return write


RULES["MaxPool"], RULES["AvgPool"] = _pool("MaxPool"), _pool("AveragePool")


@rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(use: Use) -> Held:
    if use.flag("is_training", True):
        raise UnsupportedError(f"'{use.node.name}' normalises by its batch: export the model for inference")
    rest = [use.plain(place) for place in range(1, 5)]
    return _given(use, use.emit("BatchNormalization", _images(use, 0), *rest, epsilon=use.real("epsilon", 1e-4)))


@rule("LRN")
def _lrn(use: Use) -> Held:
    radius = use.number("depth_radius", 5)
    size = 2 * radius + 1
    options = {"size": size, "alpha": use.real("alpha", 1.0) * size, "beta": use.real("beta", 0.5), "bias": use.real("bias", 1.0)}
    return Held(image=use.emit("LRN", use.image(0), **options))


def _resize(mode: str) -> Rule:
    def write(use: Use) -> Held:
        sizes = _ints(use.array(1))
        centred, aligned = use.flag("half_pixel_centers"), use.flag("align_corners")
        places = "align_corners" if aligned else "half_pixel" if centred else "asymmetric"
        options: dict[str, Any] = {"coordinate_transformation_mode": places}
        if mode == "nearest":  # between two pixels' centres TensorFlow takes the second
            options["nearest_mode"] = "round_prefer_ceil" if aligned or centred else "floor"
        return Held(image=use.emit("Resize", use.image(0), None, None, sizes, axes=[2, 3], mode=mode, **options))

    return write


RULES["ResizeBilinear"], RULES["ResizeNearestNeighbor"] = _resize("linear"), _resize("nearest")
RULES["DepthToSpace"] = lambda use: _given(use, use.emit("DepthToSpace", _images(use, 0), blocksize=use.number("block_size"), mode="DCR"))
RULES["SpaceToDepth"] = lambda use: _given(use, use.emit("SpaceToDepth", _images(use, 0), blocksize=use.number("block_size")))


# -- products and softmax -----------------------------------------------------------------------------------------------
@rule("MatMul")
def _matmul(use: Use) -> Held:
    names = [use.plain(0), use.plain(1)]
    for place, flag in enumerate(("transpose_a", "transpose_b")):
        if use.flag(flag):
            names[place] = use.emit("Transpose", names[place], perm=[1, 0])
    return Held(plain=use.emit("MatMul", *names))


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul(use: Use) -> Held:
    equation = f"...{'ji' if use.flag('adj_x') else 'ij'},...{'kj' if use.flag('adj_y') else 'jk'}->...ik"
    if equation == "...ij,...jk->...ik":
        return Held(plain=use.emit("MatMul", use.plain(0), use.plain(1)))
    return Held(plain=use.emit("Einsum", use.plain(0), use.plain(1), equation=equation))


@rule("Einsum")
def _einsum(use: Use) -> Held:
    return Held(plain=use.emit("Einsum", *(use.plain(p) for p in range(len(use.inputs))), equation=use.text("equation")))


RULES["Softmax"] = lambda use: Held(plain=use.emit("Softmax", use.plain(0), axis=-1))
RULES["LogSoftmax"] = lambda use: Held(plain=use.emit("LogSoftmax", use.plain(0), axis=-1))


# -- reductions -----------------------------------------------------------------------------------------------------------
def _reduction(op: str) -> Rule:
    def write(use: Use) -> Held:
        axes, keep = _ints(use.array(1)), use.flag("keep_dims") or use.flag("keepdims")
        held = use.inputs[0]
        if held.image is not None and held.plain is None and sorted(axes % 4) == [1, 2]:
            found = use.emit(op, held.image, np.array([2, 3]), keepdims=int(keep))
            return Held(image=found) if keep else Held(plain=found)
        return Held(plain=use.emit(op, use.plain(0), axes, keepdims=int(keep)) if axes.size else use.plain(0))

    return write


for _theirs, _ours in {"Mean": "ReduceMean", "Sum": "ReduceSum", "Max": "ReduceMax", "Min": "ReduceMin", "Prod": "ReduceProd"}.items():
    RULES[_theirs] = _reduction(_ours)


def _truths(op: str) -> Rule:
    def write(use: Use) -> Held:
        whole = use.emit("Cast", use.plain(0), to=6)
        keep = use.flag("keep_dims")
        return Held(plain=use.emit("Cast", use.emit(op, whole, _ints(use.array(1)), keepdims=int(keep)), to=9))

    return write


RULES["All"], RULES["Any"] = _truths("ReduceMin"), _truths("ReduceMax")


def _arg(op: str) -> Rule:
    def write(use: Use) -> Held:
        found = use.emit(op, use.plain(0), axis=int(_ints(use.array(1))[0]), keepdims=0)
        wanted = use.dtype("output_type") if "output_type" in use.attributes else np.dtype(np.int64)
        code = use.me.writer.onnx.helper.np_dtype_to_tensor_dtype(wanted)
        return Held(plain=found if wanted == np.int64 else use.emit("Cast", found, to=code))

    return write


RULES["ArgMax"], RULES["ArgMin"] = _arg("ArgMax"), _arg("ArgMin")


@rule("TopKV2")
def _top_k(use: Use) -> list[Held]:
    count = use.emit("Reshape", use.emit("Cast", use.plain(1), to=7), np.array([1]))
    values, places = use.me.writer.emit_many("TopK", 2, use.plain(0), count)
    return [Held(plain=values), Held(plain=use.emit("Cast", places, to=6))]


@rule("Cumsum")
def _cumsum(use: Use) -> Held:
    options = {"exclusive": int(use.flag("exclusive")), "reverse": int(use.flag("reverse"))}
    return Held(plain=use.emit("CumSum", use.plain(0), np.array(_ints(use.array(1))[0]), **options))


# -- shapes ---------------------------------------------------------------------------------------------------------------
def _sizes(use: Use, place: int) -> str | np.ndarray:
    """A shape as whole numbers of 64 bits."""
    held = use.inputs[place]
    return _ints(held.array) if held.array is not None else use.emit("Cast", use.plain(place), to=7)


@rule("Reshape")
def _reshape(use: Use) -> Held:
    array = use.inputs[0].array
    sizes = _sizes(use, 1)
    if array is not None and isinstance(sizes, np.ndarray):
        return Held(array=array.reshape([int(n) for n in sizes]))
    return Held(plain=use.emit("Reshape", use.plain(0), sizes, allowzero=1 if isinstance(sizes, np.ndarray) and 0 in sizes else None))


@rule("Squeeze")
def _squeeze(use: Use) -> Held:
    axes = use.numbers("squeeze_dims") or use.numbers("axis")
    return Held(plain=use.emit("Squeeze", use.plain(0), np.array(axes, np.int64) if axes else None))


@rule("ExpandDims")
def _expand_dims(use: Use) -> Held:
    return Held(plain=use.emit("Unsqueeze", use.plain(0), _ints(use.array(1))))


@rule("Transpose")
def _transpose(use: Use) -> Held:
    return Held(plain=use.emit("Transpose", use.plain(0), perm=[int(a) for a in _ints(use.array(1))]))


@rule("ConcatV2")
def _concat(use: Use) -> Held:
    parts = use.inputs[:-1]
    axis = int(_ints(use.array(len(parts)))[0])
    if axis in (3, -1) and all(p.image is not None and p.plain is None for p in parts):
        return Held(image=use.emit("Concat", *(p.image for p in parts), axis=1))
    return Held(plain=use.emit("Concat", *(use.me.plain(p) for p in parts), axis=axis))


@rule("Pack")
def _pack(use: Use) -> Held:
    axis = use.number("axis")
    at = np.array([axis], np.int64)
    return Held(plain=use.emit("Concat", *(use.emit("Unsqueeze", use.plain(p), at) for p in range(len(use.inputs))), axis=axis))


@rule("Unpack")
def _unpack(use: Use) -> list[Held]:
    axis, count = use.number("axis"), use.number("num")
    parts = use.me.writer.emit_many("Split", count, use.plain(0), axis=axis, num_outputs=count)
    return [Held(plain=use.emit("Squeeze", part, np.array([axis], np.int64))) for part in parts]


@rule("Split")
def _split(use: Use) -> list[Held]:
    axis, count = int(_ints(use.array(0))[0]), use.number("num_split")
    if not 0 < count < 1 << 16:
        raise DecodeError(f"'{use.node.name}' splits into {count} parts")
    return [Held(plain=p) for p in use.me.writer.emit_many("Split", count, use.plain(1), axis=axis, num_outputs=count)]


@rule("SplitV")
def _split_v(use: Use) -> list[Held]:
    sizes, axis = _ints(use.array(1)), int(_ints(use.array(2))[0])
    if (sizes < 0).any():
        raise UnsupportedError(f"'{use.node.name}' leaves the size of a part open")
    return [Held(plain=p) for p in use.me.writer.emit_many("Split", len(sizes), use.plain(0), sizes, axis=axis)]


@rule("Slice")
def _slice(use: Use) -> Held:
    starts, sizes = _ints(use.array(1)), _ints(use.array(2))
    ends = np.where(sizes < 0, np.iinfo(np.int64).max, starts + sizes)
    return Held(plain=use.emit("Slice", use.plain(0), starts, ends, np.arange(len(starts))))


@rule("StridedSlice")
def _strided_slice(use: Use) -> Held:
    """Masks say, by bits, which bounds are left out, and which entries are new dimensions, an ellipsis or single places."""
    begin, end, steps = (_ints(use.array(place)) for place in (1, 2, 3))
    first, last, more, new, single = (
        use.number(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    )
    starts, ends, strides, axes, dropped, added = [], [], [], [], [], []
    axis, after = 0, False
    for place in range(len(begin)):
        bit = 1 << place
        if more & bit:
            after, axis = True, -sum(not new & 1 << later for later in range(place + 1, len(begin)))
            continue
        if new & bit:
            if after:
                raise UnsupportedError(f"'{use.node.name}' adds a dimension behind an ellipsis, which is not supported")
            added.append(place)
            continue
        low, high, step = int(begin[place]), int(end[place]), int(steps[place])
        if single & bit:
            starts.append(low)
            ends.append(low + 1 if low != -1 else np.iinfo(np.int64).max)
            strides.append(1)
            dropped.append(axis)
        else:
            starts.append((0 if step > 0 else np.iinfo(np.int64).max) if first & bit else low)
            ends.append((np.iinfo(np.int64).max if step > 0 else np.iinfo(np.int64).min) if last & bit else high)
            strides.append(step)
        axes.append(axis)
        axis += 1
    name = use.plain(0)
    if axes:
        name = use.emit("Slice", name, *(np.array(v, np.int64) for v in (starts, ends, axes, strides)))
    name = use.emit("Squeeze", name, np.array(dropped, np.int64)) if dropped else name
    return Held(plain=use.emit("Unsqueeze", name, np.array(added, np.int64)) if added else name)


@rule("Pad", "PadV2", "MirrorPad")
def _pad(use: Use) -> Held:
    pads = use.array(1).astype(np.int64)
    mode = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}.get(use.text("mode"), "constant")
    if mode == "symmetric":
        raise UnsupportedError(f"'{use.node.name}' pads symmetrically, which is not supported")
    value = use.plain(2) if use.node.op == "PadV2" else None
    held = use.inputs[0]
    if held.image is not None and held.plain is None and pads.shape == (4, 2):
        return Held(image=use.emit("Pad", held.image, pads[TO_NCHW].T.reshape(-1), value, mode=mode))
    return Held(plain=use.emit("Pad", use.plain(0), np.ascontiguousarray(pads.T).reshape(-1), value, mode=mode))


RULES["Tile"] = lambda use: Held(plain=use.emit("Tile", use.plain(0), _sizes(use, 1)))
RULES["Fill"] = lambda use: Held(plain=use.emit("Expand", use.plain(1), _sizes(use, 0)))
RULES["BroadcastTo"] = lambda use: Held(plain=use.emit("Expand", use.plain(0), _sizes(use, 1)))
RULES["Range"] = lambda use: Held(plain=use.emit("Range", use.plain(0), use.plain(1), use.plain(2)))
RULES["ReverseV2"] = lambda use: _reverse(use, _ints(use.array(1)))


def _reverse(use: Use, axes: np.ndarray) -> Held:
    back, end = np.full(len(axes), -1), np.full(len(axes), np.iinfo(np.int64).min)
    return Held(plain=use.emit("Slice", use.plain(0), back, end, axes, back))


def _whole(use: Use, name: str) -> Held:
    """What ONNX gives with 64 bits and TensorFlow with 32."""
    kind = use.dtype("out_type") if "out_type" in use.attributes else np.dtype(np.int32)
    return Held(plain=name if kind == np.int64 else use.emit("Cast", name, to=6))


RULES["Shape"] = lambda use: _whole(use, use.emit("Shape", use.plain(0)))
RULES["Size"] = lambda use: _whole(use, use.emit("Size", use.plain(0)))
RULES["Rank"] = lambda use: _whole(use, use.emit("Squeeze", use.emit("Shape", use.emit("Shape", use.plain(0)))))


@rule("GatherV2", "Gather", "ResourceGather")
def _gather(use: Use) -> Held:
    if use.node.op == "ResourceGather":
        return Held(plain=use.emit("Gather", use.me.plain(use.me._weight(use.inputs[0].variable or "?")), use.plain(1), axis=0))
    if use.number("batch_dims"):
        raise UnsupportedError(f"'{use.node.name}' gathers within batches, which is not supported")
    axis = int(_ints(use.array(2))[0]) if len(use.inputs) > 2 else 0
    return Held(plain=use.emit("Gather", use.plain(0), use.plain(1), axis=axis))


RULES["GatherNd"] = lambda use: Held(plain=use.emit("GatherND", use.plain(0), use.emit("Cast", use.plain(1), to=7)))


@rule("OneHot")
def _one_hot(use: Use) -> Held:
    on, off = (use.emit("Reshape", use.plain(place), np.array([1])) for place in (2, 3))
    values = use.emit("Concat", off, on, axis=0)
    return Held(plain=use.emit("OneHot", use.plain(0), use.plain(1), values, axis=use.number("axis", -1)))


@rule("SpaceToBatchND")
def _space_to_batch(use: Use) -> Held:
    """Images (n, h, w, c) cut into (b·b·n, h/b, w/b, c), by reshapes of the padded ones."""
    size, pads = _two(use)
    edge = np.array([0, pads[0][0], pads[1][0], 0, 0, pads[0][1], pads[1][1], 0], np.int64)
    padded = use.emit("Pad", use.plain(0), edge)
    turned = use.emit("Transpose", padded, perm=[3, 1, 2, 0])  # c, h, w, n: depth is the batch now
    deep = use.emit("SpaceToDepth", use.emit("Transpose", turned, perm=[0, 3, 1, 2]), blocksize=size)
    return Held(plain=use.emit("Transpose", deep, perm=[1, 2, 3, 0]))


@rule("BatchToSpaceND")
def _batch_to_space(use: Use) -> Held:
    size, crops = _two(use)
    turned = use.emit("Transpose", use.plain(0), perm=[3, 0, 1, 2])
    wide = use.emit("DepthToSpace", turned, blocksize=size, mode="DCR")
    found = use.emit("Transpose", wide, perm=[1, 2, 3, 0])
    starts, ends = crops[:, 0], np.where(crops[:, 1] > 0, -crops[:, 1], np.iinfo(np.int64).max)
    return Held(plain=use.emit("Slice", found, starts, ends, np.array([1, 2])))


def _two(use: Use) -> tuple[int, np.ndarray]:
    """The size of square blocks, and what is added or cut at the edges."""
    sizes, edges = _ints(use.array(1)), use.array(2).astype(np.int64)
    if len(sizes) != 2 or sizes[0] != sizes[1] or edges.shape != (2, 2):
        raise UnsupportedError(f"'{use.node.name}' cuts into blocks that are no squares, which is not supported")
    return int(sizes[0]), edges


RULES["NoOp"] = lambda use: []
