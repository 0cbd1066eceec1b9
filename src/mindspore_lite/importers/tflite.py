"""TFLite models as ONNX messages.

TFLite keeps images as NHWC, ONNX as NCHW. A tensor may be known in both forms: operators on images give the NCHW form, element-wise ones
keep the form of their inputs, and whoever needs the other one gets a Transpose, once. So a network of convolutions has two
transposes, at its ends. Quantised tensors are dequantised before an operator and quantised after it.

Numbers of operators, options and their fields are those of the schema (`tensorflow/lite/schema/schema.fbs`, version 3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.files import map_file
from mindspore._base.optional import require
from mindspore_lite.importers.flatbuffer import FlatbufferError, Table
from mindspore_lite.source import UnsupportedError

_TYPES = {
    0: np.float32, 1: np.float16, 2: np.int32, 3: np.uint8, 4: np.int64, 6: np.bool_, 7: np.int16, 9: np.int8,
    10: np.float64, 12: np.uint64, 15: np.uint32, 16: np.uint16,
}  # fmt: skip
_SAME = 0
_TO_NCHW, _TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]
_MOST_TENSORS = 1 << 20


class _Tensor(NamedTuple):
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    data: np.ndarray | None  # constants
    scale: np.ndarray | None
    zero: np.ndarray | None
    axis: int


def read(path: str) -> Any:
    """The model of a file; ValueError when it is none, UnsupportedError when it has operators that have no rule here."""
    try:
        return _Importer(Table.root(map_file(path))).model()
    except FlatbufferError as error:
        raise ValueError(f"the file {path} is no TFLite model or is damaged: {error}") from None


class _Importer:
    def __init__(self, root: Table):
        self.onnx = require("onnx", "lite", "Reading a TFLite model")
        graphs = root.tables(2)
        if len(graphs) != 1:
            raise ValueError(f"the TFLite model has {len(graphs)} graphs; one is supported")
        self.codes = [_code(c) for c in root.tables(1)]
        buffers = root.tables(4)
        self.graph = graphs[0]
        tables = self.graph.tables(0)
        self.tensors = [_tensor(t, n, buffers) for n, t in enumerate(tables)]
        self.nodes: list[Any] = []
        self.initializers: dict[str, Any] = {}
        self.nhwc: dict[int, str] = {}  # tensor -> its name in either form, where it is known
        self.nchw: dict[int, str] = {}
        self.count = 0

    # -- the whole ------------------------------------------------------------------------------------------------
    def model(self) -> Any:
        helper = self.onnx.helper
        self._check_operators()
        inputs = [int(n) for n in self.graph.array(1, "<i4")]
        for number in inputs:
            self.nhwc[number] = self._at(number).name
        for operator in self.graph.tables(3):
            self._operator(operator)
        outputs = []
        for n in self.graph.array(2, "<i4"):
            name = self._at(int(n)).name
            if self.plain(int(n)) != name:
                self.nodes.append(helper.make_node("Identity", [self.plain(int(n))], [name]))
            outputs.append(self._info(int(n), typed=False))
        graph = helper.make_graph(
            self.nodes,
            self.graph.text(4) or "main",
            [self._info(n) for n in inputs],
            outputs,
            list(self.initializers.values()),
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])

    def _check_operators(self) -> None:
        missing: dict[str, list[str]] = {}
        for operator in self.graph.tables(3):
            code = self._code_of(operator)
            if code not in _RULES:
                outputs = operator.array(2, "<i4")
                place = self._at(int(outputs[0])).name if len(outputs) else "?"
                missing.setdefault(str(code), []).append(place)
        if missing:
            listed = "; ".join(f"{code} (at {', '.join(places[:5])})" for code, places in missing.items())
            raise UnsupportedError(
                f"the model uses TFLite operators that are not supported, by number or name: {listed}"
            )

    def _code_of(self, operator: Table) -> Any:
        index = operator.number(0, "I")
        if index >= len(self.codes):
            raise FlatbufferError("an operator has no code")
        return self.codes[index]

    def _info(self, number: int, typed: bool = True) -> Any:
        tensor = self._at(number)
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(tensor.dtype)
        shape = [None if n < 0 else n for n in tensor.shape] if typed else None
        return self.onnx.helper.make_tensor_value_info(tensor.name, kind, shape)

    def _at(self, number: int) -> _Tensor:
        if not 0 <= number < len(self.tensors):
            raise FlatbufferError("an operator uses a tensor that is not there")
        return self.tensors[number]

    # -- emitting -------------------------------------------------------------------------------------------------
    def emit(self, op: str, inputs: list[str], **attributes: Any) -> str:
        self.count += 1
        name = f"{op.lower()}_{self.count}"
        self.nodes.append(self.onnx.helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def constant(self, array: Any) -> str:
        self.count += 1
        name = f"constant_{self.count}"
        self.initializers[name] = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def value(self, number: int) -> np.ndarray:
        """A constant input; ValueError if it is none."""
        tensor = self._at(number)
        if tensor.data is None:
            raise ValueError(f"'{tensor.name}' must be a constant of the TFLite model")
        return _dequantised(tensor)

    def plain(self, number: int) -> str:
        """A tensor as TFLite has it."""
        if number not in self.nhwc:
            tensor = self._at(number)
            if number in self.nchw:
                self.nhwc[number] = self.emit("Transpose", [self.nchw[number]], perm=_TO_NHWC)
            elif tensor.data is not None:
                self.nhwc[number] = self.constant(tensor.data)
            else:
                raise ValueError(f"'{tensor.name}' is used before it is computed")
        return self.nhwc[number]

    def image(self, number: int) -> str:
        """A tensor with the channels in front."""
        if number not in self.nchw:
            self.nchw[number] = self.emit("Transpose", [self.plain(number)], perm=_TO_NCHW)
        return self.nchw[number]

    def activate(self, name: str, kind: int) -> str:
        """The activation fused into an operator."""
        if kind == 1:
            return self.emit("Relu", [name])
        if kind in (2, 3):
            low, high = (-1.0, 1.0) if kind == 2 else (0.0, 6.0)
            return self.emit("Clip", [name, self.constant(np.float32(low)), self.constant(np.float32(high))])
        if kind == 4:
            return self.emit("Tanh", [name])
        if kind:
            raise UnsupportedError(f"the fused activation {kind} of TFLite is not supported")
        return name

    # -- operators ------------------------------------------------------------------------------------------------
    def _operator(self, operator: Table) -> None:
        code = self._code_of(operator)
        inputs = [int(n) for n in operator.array(1, "<i4")]
        outputs = [int(n) for n in operator.array(2, "<i4")]
        if not outputs:
            raise FlatbufferError("an operator has no output")
        options = operator.table(4)
        quantised = code not in (6, 114) and any(self._is_quantised(n) for n in (*inputs, *outputs))
        saved = (dict(self.nhwc), dict(self.nchw)) if quantised else None
        if quantised:
            self._dequantise(inputs)
        use = _Use(self, inputs, outputs, options if options is not None else _NO_OPTIONS)
        try:
            _RULES[code](use)
        except (IndexError, KeyError, TypeError, OverflowError, ZeroDivisionError) as error:  # inputs other than the rule takes
            raise FlatbufferError(f"an operator (code {code}) does not fit its inputs or settings ({error})") from error
        if saved is not None:
            made = {n: (self.nhwc.get(n), self.nchw.get(n)) for n in outputs}
            self.nhwc, self.nchw = saved
            for number, forms in made.items():
                self._quantise(number, *forms)

    def _is_quantised(self, number: int) -> bool:
        return number >= 0 and self._at(number).scale is not None and self._at(number).dtype.kind in "iu"

    def _dequantise(self, inputs: list[int]) -> None:
        for number in inputs:
            if not self._is_quantised(number) or self._at(number).data is not None:
                continue
            tensor = self._at(number)
            assert tensor.scale is not None and tensor.zero is not None
            pair = [self.constant(tensor.scale[0]), self.constant(tensor.zero[0].astype(tensor.dtype))]
            for forms in (self.nhwc, self.nchw):
                if number in forms:
                    forms[number] = self.emit("DequantizeLinear", [forms[number], *pair])

    def _quantise(self, number: int, plain: str | None, image: str | None) -> None:
        tensor = self._at(number)
        for name, forms in ((plain, self.nhwc), (image, self.nchw)):
            if name is not None and self._is_quantised(number):
                assert tensor.scale is not None and tensor.zero is not None
                pair = [self.constant(tensor.scale[0]), self.constant(tensor.zero[0].astype(tensor.dtype))]
                name = self.emit("QuantizeLinear", [name, *pair])
            if name is not None:
                forms[number] = name


class _NoOptions:
    """Options left out: everything has its default."""

    def number(self, field: int, kind: str, default: Any = 0) -> Any:
        return default

    def array(self, field: int, dtype: str) -> np.ndarray:
        return np.empty(0, dtype)


_NO_OPTIONS: Any = _NoOptions()


class _Use(NamedTuple):
    """One operator, with what its rule needs."""

    importer: _Importer
    inputs: list[int]
    outputs: list[int]
    options: Any

    def shape(self, place: int) -> tuple[int, ...]:
        return self.importer._at(self.inputs[place]).shape

    def plain(self, place: int) -> str:
        number = self.inputs[place]
        tensor = self.importer._at(number)
        if tensor.data is not None and tensor.scale is not None and tensor.dtype.kind in "iu":
            return self.importer.constant(_dequantised(tensor))
        return self.importer.plain(number)

    def gives(self, name: str, image: bool = False, place: int = 0) -> None:
        (self.importer.nchw if image else self.importer.nhwc)[self.outputs[place]] = name

    def result(self) -> _Tensor:
        return self.importer._at(self.outputs[0])


def _code(table: Table) -> Any:
    number = max(table.number(0, "b"), table.number(3, "i"))
    return f"CUSTOM {table.text(1)}" if number == 32 else number


def _tensor(table: Table, number: int, buffers: list[Table]) -> _Tensor:
    kind = table.number(1, "b")
    name = table.text(3) or f"tensor_{number}"
    if kind not in _TYPES:
        raise UnsupportedError(f"the tensor '{name}' has TFLite's element type {kind}, which is not supported")
    dtype = np.dtype(_TYPES[kind])
    fixed = tuple(int(n) for n in table.array(0, "<i4"))
    open_sizes = tuple(int(n) for n in table.array(7, "<i4"))
    shape = open_sizes if len(open_sizes) == len(fixed) and open_sizes else fixed
    if any(n < -1 for n in shape):
        raise FlatbufferError("a size is negative")
    index = table.number(2, "I")
    raw = buffers[index].array(0, "u1") if index < len(buffers) else np.empty(0, "u1")
    data = None
    if len(raw):
        if int(np.prod(fixed, dtype=object)) * dtype.itemsize != len(raw):
            raise FlatbufferError(f"the data of '{name}' does not fit its shape")
        data = np.frombuffer(raw.tobytes(), dtype).reshape(fixed)
    quant = table.table(4)
    scale = quant.array(2, "<f4").copy() if quant is not None else np.empty(0)
    if not len(scale):
        return _Tensor(name, shape, dtype, data, None, None, 0)
    assert quant is not None
    zero = quant.array(3, "<i8")
    zero = zero.copy() if len(zero) == len(scale) else np.zeros(len(scale), np.int64)
    return _Tensor(name, shape, dtype, data, scale, zero, quant.number(6, "i"))


def _dequantised(tensor: _Tensor) -> np.ndarray:
    data = tensor.data
    assert data is not None
    if tensor.scale is None or tensor.dtype.kind not in "iu":
        return data
    assert tensor.zero is not None
    along = [1] * data.ndim
    if len(tensor.scale) > 1:
        if not 0 <= tensor.axis < data.ndim or data.shape[tensor.axis] != len(tensor.scale):
            raise FlatbufferError(f"the scales of '{tensor.name}' do not fit its shape")
        along[tensor.axis] = -1
    return np.asarray((data.astype(np.float32) - tensor.zero.reshape(along)) * tensor.scale.reshape(along), np.float32)


# -- rules: number of an operator -> what it becomes ------------------------------------------------------------------


def _padding(same: bool) -> dict[str, Any]:
    return {"auto_pad": "SAME_UPPER"} if same else {}


def _convolution(use: _Use) -> None:
    o, depthwise = use.options, False
    _conv(use, o.number(3, "b"), (o.number(5, "i", 1), o.number(4, "i", 1)), depthwise)


def _depthwise(use: _Use) -> None:
    o = use.options
    _conv(use, o.number(4, "b"), (o.number(6, "i", 1), o.number(5, "i", 1)), depthwise=True)


def _conv(use: _Use, activation: int, dilations: tuple[int, int], depthwise: bool) -> None:
    me, o = use.importer, use.options
    filters = me.value(use.inputs[1])  # OHWI, or 1HW(I*M) for depthwise ones
    if filters.ndim != 4:
        raise FlatbufferError("filters must have four dimensions")
    weights = filters.transpose(3, 0, 1, 2) if depthwise else filters.transpose(0, 3, 1, 2)
    channels = use.shape(0)[3] if len(use.shape(0)) == 4 else 0
    group = channels if depthwise else (channels // weights.shape[1] if weights.shape[1] else 1)
    inputs = [me.image(use.inputs[0]), me.constant(weights)]
    if len(use.inputs) > 2 and use.inputs[2] >= 0:
        inputs.append(me.constant(me.value(use.inputs[2]).astype(np.float32)))
    found = me.emit(
        "Conv", inputs, strides=[o.number(2, "i", 1), o.number(1, "i", 1)], dilations=list(dilations), group=max(group, 1),
        **_padding(o.number(0, "b") == _SAME),
    )  # fmt: skip
    use.gives(me.activate(found, activation), image=True)


def _pool(op: str) -> Callable[[_Use], None]:
    def rule(use: _Use) -> None:
        me, o = use.importer, use.options
        found = me.emit(
            op, [me.image(use.inputs[0])], kernel_shape=[o.number(4, "i"), o.number(3, "i")],
            strides=[o.number(2, "i", 1), o.number(1, "i", 1)], **_padding(o.number(0, "b") == _SAME),
        )  # fmt: skip
        use.gives(me.activate(found, o.number(5, "b")), image=True)

    return rule


def _unary(op: str, **attributes: Any) -> Callable[[_Use], None]:
    return _elementwise(lambda me, name: me.emit(op, [name], **attributes))


def _elementwise(make: Callable[[_Importer, str], str]) -> Callable[[_Use], None]:
    def rule(use: _Use) -> None:
        me = use.importer
        image = use.inputs[0] in me.nchw
        use.gives(make(me, me.nchw[use.inputs[0]] if image else use.plain(0)), image)

    return rule


def _clip(low: float, high: float) -> Callable[[_Use], None]:
    return _elementwise(
        lambda me, name: me.emit("Clip", [name, me.constant(np.float32(low)), me.constant(np.float32(high))])
    )


def _binary(op: str, fused: bool = False) -> Callable[[_Use], None]:
    def rule(use: _Use) -> None:
        me = use.importer
        both = all(n in me.nchw for n in use.inputs[:2]) and all(len(use.shape(k)) == 4 for k in (0, 1))
        names = [me.nchw[n] for n in use.inputs[:2]] if both else [use.plain(0), use.plain(1)]
        found = me.emit(op, names)
        use.gives(me.activate(found, use.options.number(0, "b") if fused else 0), image=both)

    return rule


def _fully_connected(use: _Use) -> None:
    me, o = use.importer, use.options
    weights = me.value(use.inputs[1])
    data = use.plain(0)
    if not o.number(2, "?"):
        data = me.emit("Reshape", [data, me.constant(np.array([-1, weights.shape[-1]], np.int64))])
    found = me.emit("MatMul", [data, me.constant(weights.T.astype(np.float32))])
    if len(use.inputs) > 2 and use.inputs[2] >= 0:
        found = me.emit("Add", [found, me.constant(me.value(use.inputs[2]).astype(np.float32))])
    use.gives(me.activate(found, o.number(0, "b")))


def _reshape(use: _Use) -> None:
    me = use.importer
    if len(use.inputs) > 1 and me._at(use.inputs[1]).data is not None:
        target = me.value(use.inputs[1])
    else:
        target = use.options.array(0, "<i4")
    use.gives(me.emit("Reshape", [use.plain(0), me.constant(np.asarray(target, np.int64).reshape(-1))]))


def _concat(use: _Use) -> None:
    me, o = use.importer, use.options
    axis = o.number(0, "i")
    axis += len(use.shape(0)) if axis < 0 else 0
    image = all(n in me.nchw for n in use.inputs) and len(use.shape(0)) == 4
    names = [me.nchw[n] for n in use.inputs] if image else [use.plain(k) for k in range(len(use.inputs))]
    found = me.emit("Concat", names, axis=_TO_NHWC[axis] if image else axis)
    use.gives(me.activate(found, o.number(1, "b")), image)


def _softmax(use: _Use) -> None:
    me, beta = use.importer, use.options.number(0, "f", 1.0)
    name = use.plain(0)
    if beta not in (0.0, 1.0):
        name = me.emit("Mul", [name, me.constant(np.float32(beta))])
    use.gives(me.emit("Softmax", [name], axis=-1))


def _reduce(op: str) -> Callable[[_Use], None]:
    def rule(use: _Use) -> None:
        me = use.importer
        axes = [int(a) for a in me.value(use.inputs[1]).reshape(-1)]
        keep = int(bool(use.options.number(0, "?")))
        inputs, attributes = [use.plain(0)], {"keepdims": keep}
        if op == "ReduceSum":  # its axes are an input from opset 13 on, those of the others from 18 on
            inputs.append(me.constant(np.array(axes, np.int64)))
            use.gives(me.emit(op, inputs, **attributes))
        else:
            use.gives(me.emit(op, inputs, axes=axes, **attributes))

    return rule


def _transpose(use: _Use) -> None:
    order = [int(n) for n in use.importer.value(use.inputs[1]).reshape(-1)]
    use.gives(use.importer.emit("Transpose", [use.plain(0)], perm=order))


def _pad(use: _Use) -> None:
    me = use.importer
    pads = me.value(use.inputs[1]).reshape(-1, 2)
    inputs = [use.plain(0), me.constant(pads.T.reshape(-1).astype(np.int64))]
    if len(use.inputs) > 2:
        inputs.append(me.constant(me.value(use.inputs[2]).reshape(())))
    use.gives(me.emit("Pad", inputs))


def _squeeze(use: _Use) -> None:
    me = use.importer
    axes = use.options.array(0, "<i4")
    inputs = [use.plain(0)] + ([me.constant(axes.astype(np.int64))] if len(axes) else [])
    use.gives(me.emit("Squeeze", inputs))


def _expand_dims(use: _Use) -> None:
    axis = use.importer.value(use.inputs[1]).reshape(-1).astype(np.int64)
    use.gives(use.importer.emit("Unsqueeze", [use.plain(0), use.importer.constant(axis)]))


def _resize(mode: str, corners: int, centres: int) -> Callable[[_Use], None]:
    def rule(use: _Use) -> None:
        me, o = use.importer, use.options
        height, width = (int(n) for n in me.value(use.inputs[1]).reshape(-1))
        batch, channels = use.shape(0)[0], use.shape(0)[3]
        way = "align_corners" if o.number(corners, "?") else "half_pixel" if o.number(centres, "?") else "asymmetric"
        extra = {"nearest_mode": "round_prefer_ceil" if way != "asymmetric" else "floor"} if mode == "nearest" else {}
        sizes = me.constant(np.array([batch, channels, height, width], np.int64))
        found = me.emit(
            "Resize", [me.image(use.inputs[0]), "", "", sizes], mode=mode, coordinate_transformation_mode=way, **extra
        )
        use.gives(found, image=True)

    return rule


def _gather(use: _Use) -> None:
    if use.options.number(1, "i"):
        raise UnsupportedError("GATHER of TFLite with batch dimensions is not supported")
    use.gives(use.importer.emit("Gather", [use.plain(0), use.plain(1)], axis=use.options.number(0, "i")))


def _pack(use: _Use) -> None:
    me, axis = use.importer, use.options.number(1, "i")
    along = me.constant(np.array([axis], np.int64))
    names = [me.emit("Unsqueeze", [use.plain(k), along]) for k in range(len(use.inputs))]
    use.gives(me.emit("Concat", names, axis=axis))


def _several(use: _Use, op: str, inputs: list[str], **attributes: Any) -> list[str]:
    me = use.importer
    me.count += 1
    names = [f"{op.lower()}_{me.count}_{k}" for k in range(len(use.outputs))]
    me.nodes.append(me.onnx.helper.make_node(op, inputs, names, **attributes))
    return names


def _split(use: _Use) -> None:
    axis = int(use.importer.value(use.inputs[0]).reshape(()))
    for place, name in enumerate(_several(use, "Split", [use.plain(1)], axis=axis)):
        use.gives(name, place=place)


def _unpack(use: _Use) -> None:
    me, axis = use.importer, use.options.number(1, "i")
    along = me.constant(np.array([axis], np.int64))
    for place, name in enumerate(_several(use, "Split", [use.plain(0)], axis=axis)):
        use.gives(me.emit("Squeeze", [name, along]), place=place)


def _cast(use: _Use) -> None:
    kind = use.importer.onnx.helper.np_dtype_to_tensor_dtype(use.result().dtype)
    use.gives(use.importer.emit("Cast", [use.plain(0)], to=kind))


def _slice(use: _Use) -> None:
    me = use.importer
    begin, size = (me.value(use.inputs[k]).reshape(-1).astype(np.int64) for k in (1, 2))
    end = np.where(size < 0, np.iinfo(np.int64).max, begin + size)
    use.gives(me.emit("Slice", [use.plain(0), me.constant(begin), me.constant(end)]))


def _strided_slice(use: _Use) -> None:
    me, o = use.importer, use.options
    begin, end, step = (me.value(use.inputs[k]).reshape(-1).astype(np.int64).copy() for k in (1, 2, 3))
    if o.number(2, "i") or o.number(3, "i"):
        raise UnsupportedError("STRIDED_SLICE of TFLite with an ellipsis or new axes is not supported")
    shrink = [k for k in range(len(begin)) if o.number(4, "i") >> k & 1]
    for k in range(len(begin)):
        if o.number(0, "i") >> k & 1:
            begin[k] = 0 if step[k] > 0 else np.iinfo(np.int64).max
        if o.number(1, "i") >> k & 1:
            end[k] = np.iinfo(np.int64).max if step[k] > 0 else np.iinfo(np.int64).min
        if k in shrink:
            end[k], step[k] = (begin[k] + 1 if begin[k] != -1 else np.iinfo(np.int64).max), 1
    axes = np.arange(len(begin), dtype=np.int64)
    found = me.emit("Slice", [use.plain(0), *(me.constant(v) for v in (begin, end, axes, step))])
    if shrink:
        found = me.emit("Squeeze", [found, me.constant(np.array(shrink, np.int64))])
    use.gives(found)


def _arg(op: str) -> Callable[[_Use], None]:
    def rule(use: _Use) -> None:
        me = use.importer
        found = me.emit(op, [use.plain(0)], axis=int(me.value(use.inputs[1]).reshape(())), keepdims=0)
        use.gives(me.emit("Cast", [found], to=me.onnx.helper.np_dtype_to_tensor_dtype(use.result().dtype)))

    return rule


def _batch_matmul(use: _Use) -> None:
    me = use.importer
    names = []
    for place in (0, 1):
        order = list(range(len(use.shape(place))))
        order[-2:] = order[:-3:-1]
        turned = use.options.number(place, "?")
        names.append(me.emit("Transpose", [use.plain(place)], perm=order) if turned else use.plain(place))
    use.gives(me.emit("MatMul", names))


def _transpose_conv(use: _Use) -> None:
    me, o = use.importer, use.options
    filters = me.value(use.inputs[1]).transpose(3, 0, 1, 2)  # OHWI -> I O H W
    height, width = (int(n) for n in me.value(use.inputs[0]).reshape(-1)[1:3])
    inputs = [me.image(use.inputs[2]), me.constant(filters)]
    if len(use.inputs) > 3 and use.inputs[3] >= 0:
        inputs.append(me.constant(me.value(use.inputs[3]).astype(np.float32)))
    strides = [o.number(2, "i", 1), o.number(1, "i", 1)]
    found = me.emit("ConvTranspose", inputs, strides=strides, output_shape=[height, width], auto_pad="SAME_UPPER") if (
        o.number(0, "b") == _SAME
    ) else me.emit("ConvTranspose", inputs, strides=strides)  # fmt: skip
    use.gives(me.activate(found, o.number(3, "b")), image=True)


def _prelu(use: _Use) -> None:
    me = use.importer
    slope = me.value(use.inputs[1]).astype(np.float32)
    if use.inputs[0] in me.nchw and slope.ndim == 3:
        use.gives(me.emit("PRelu", [me.nchw[use.inputs[0]], me.constant(slope.transpose(2, 0, 1))]), image=True)
    else:
        use.gives(me.emit("PRelu", [use.plain(0), me.constant(slope)]))


def _dequantise(use: _Use) -> None:
    me, tensor = use.importer, use.importer._at(use.inputs[0])
    if tensor.data is not None:
        use.gives(me.constant(_dequantised(tensor).astype(np.float32)))
        return
    if tensor.scale is None or tensor.zero is None:
        use.gives(me.emit("Cast", [use.plain(0)], to=1))
        return
    pair = [me.constant(tensor.scale[0]), me.constant(tensor.zero[0].astype(tensor.dtype))]
    use.gives(me.emit("DequantizeLinear", [me.plain(use.inputs[0]), *pair]))


def _quantise(use: _Use) -> None:
    me, source, target = use.importer, use.importer._at(use.inputs[0]), use.result()
    name = me.plain(use.inputs[0])
    if source.scale is not None and source.zero is not None and source.dtype.kind in "iu":
        pair = [me.constant(source.scale[0]), me.constant(source.zero[0].astype(source.dtype))]
        name = me.emit("DequantizeLinear", [name, *pair])
    if target.scale is None or target.zero is None:
        raise FlatbufferError("QUANTIZE gives a tensor without a scale")
    pair = [me.constant(target.scale[0]), me.constant(target.zero[0].astype(target.dtype))]
    use.gives(me.emit("QuantizeLinear", [name, *pair]))


def _simple(op: str, **attributes: Any) -> Callable[[_Use], None]:
    """An operator with the same inputs in ONNX."""

    def rule(use: _Use) -> None:
        names = [use.plain(k) for k in range(len(use.inputs))]
        use.gives(use.importer.emit(op, names, **attributes))

    return rule


def _blocks(op: str) -> Callable[[_Use], None]:
    def rule(use: _Use) -> None:
        me = use.importer
        use.gives(me.emit(op, [me.image(use.inputs[0])], blocksize=use.options.number(0, "i")), image=True)

    return rule


def _tile(use: _Use) -> None:
    repeats = use.importer.value(use.inputs[1]).reshape(-1).astype(np.int64)
    use.gives(use.importer.emit("Tile", [use.plain(0), use.importer.constant(repeats)]))


def _broadcast(use: _Use) -> None:
    shape = use.importer.value(use.inputs[1]).reshape(-1).astype(np.int64)
    use.gives(use.importer.emit("Expand", [use.plain(0), use.importer.constant(shape)]))


def _leaky(use: _Use) -> None:
    alpha = use.options.number(0, "f")
    _elementwise(lambda me, name: me.emit("LeakyRelu", [name], alpha=alpha))(use)


_RULES: dict[Any, Callable[[_Use], None]] = {
    0: _binary("Add", fused=True), 1: _pool("AveragePool"), 2: _concat, 3: _convolution, 4: _depthwise,
    5: _blocks("DepthToSpace"), 6: _dequantise, 8: _unary("Floor"), 9: _fully_connected, 14: _unary("Sigmoid"),
    17: _pool("MaxPool"), 18: _binary("Mul", fused=True), 19: _unary("Relu"), 20: _clip(-1, 1), 21: _clip(0, 6),
    22: _reshape, 23: _resize("linear", 2, 3), 25: _softmax, 26: _blocks("SpaceToDepth"), 28: _unary("Tanh"), 34: _pad,
    36: _gather, 39: _transpose, 40: _reduce("ReduceMean"), 41: _binary("Sub", fused=True),
    42: _binary("Div", fused=True), 43: _squeeze, 45: _strided_slice, 47: _unary("Exp"), 49: _split,
    50: _simple("LogSoftmax", axis=-1), 53: _cast, 54: _prelu, 55: _binary("Max"), 56: _arg("ArgMax"), 57: _binary("Min"),
    58: _binary("Less"), 59: _unary("Neg"), 60: _pad, 61: _binary("Greater"), 62: _binary("GreaterOrEqual"),
    63: _binary("LessOrEqual"), 64: _simple("Where"), 65: _slice, 66: _unary("Sin"), 67: _transpose_conv, 69: _tile,
    70: _expand_dims, 71: _binary("Equal"), 73: _unary("Log"), 74: _reduce("ReduceSum"), 75: _unary("Sqrt"),
    76: _elementwise(lambda me, name: me.emit("Reciprocal", [me.emit("Sqrt", [name])])), 78: _binary("Pow"),
    79: _arg("ArgMin"), 81: _reduce("ReduceProd"), 82: _reduce("ReduceMax"), 83: _pack, 84: _binary("Or"),
    86: _binary("And"), 87: _unary("Not"), 88: _unpack, 89: _reduce("ReduceMin"),
    92: _elementwise(lambda me, name: me.emit("Mul", [name, name])),
    97: _resize("nearest", 0, 1), 98: _leaky, 101: _unary("Abs"), 104: _unary("Ceil"), 107: _simple("GatherND"),
    108: _unary("Cos"), 111: _unary("Elu"), 114: _quantise, 117: _unary("HardSwish"), 123: _simple("Where"),
    126: _batch_matmul, 130: _broadcast,
}  # fmt: skip
