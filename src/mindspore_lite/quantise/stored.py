"""Models that come quantised (ONNX's QDQ and QLinear operators, ONNX Runtime's own ones, TFLite), as float models with grids.

An operator on whole numbers becomes the float operator between DequantizeLinear and QuantizeLinear. Then the two of these that belong
together, with nothing but moved values between them, are one FakeQuantise: what quantisation-aware training leaves behind, and what
`trained.py` turns into layers that compute with whole numbers. Where no layer takes a grid over, FakeQuantise rounds floats to it,
so results keep their meaning. Grids per block, and of numbers other than float32, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto, helper, numpy_helper

_RUNTIME = "com.microsoft"
_OWN = "mindspore"
#: operators that give some of their first operand's values
_MOVING = frozenset(("Identity", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "MaxPool", "Slice", "Expand"))
_WHOLE = (np.int8, np.uint8, np.int16, np.uint16)


class _Grid(NamedTuple):
    step: float
    zero: int
    kind: str


def with_grids(model: Any) -> Any:
    """The model message with FakeQuantise operators for its grids; itself where it has none."""
    if not any(node.op_type in _EXPANSIONS or node.op_type in ("QuantizeLinear", "DequantizeLinear") for node in model.graph.node):
        return model
    return _Rewriter(model).run()


class _Rewriter:
    def __init__(self, model: Any):
        self.model = type(model)()
        self.model.CopyFrom(model)
        self.constants = {t.name: t for t in self.model.graph.initializer}
        self.nodes: list[Any] = []
        self.floats: dict[str, tuple[str, _Grid]] = {}  # of whole numbers: the floats on their grid
        self._made = 0

    def run(self) -> Any:
        graph = self.model.graph
        for node in list(graph.node):
            if node.op_type == "Constant" and any(a.name == "value" for a in node.attribute):
                self.constants[node.output[0]] = next(a.t for a in node.attribute if a.name == "value")
        for node in list(graph.node):
            for part in self._expanded(node):
                self._rewrite(part)
        del graph.node[:]
        graph.node.extend(self.nodes)
        if not any(o.domain == _OWN for o in self.model.opset_import):
            self.model.opset_import.add(domain=_OWN, version=1)
        return self.model

    # -- pieces ---------------------------------------------------------------------------------------------------
    def array(self, name: str) -> np.ndarray | None:
        found = self.constants.get(name)
        return numpy_helper.to_array(found) if found is not None else None

    def fresh(self, like: str) -> str:
        self._made += 1
        return f"{like}/real{self._made}"

    def constant(self, like: str, array: np.ndarray) -> str:
        name = self.fresh(like)
        self.model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        self.constants[name] = self.model.graph.initializer[-1]
        return name

    def emit(self, op: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def _round(self, x: str, output: str, step: np.ndarray, zero: np.ndarray, kind: Any) -> str:
        limits = np.iinfo(kind)
        pair = [self.constant(x, np.asarray(v, np.float32)) for v in (step, zero)]
        return self.emit("FakeQuantise", [x, *pair], output, _OWN, least=int(limits.min), most=int(limits.max))

    def _scales(self, node: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """The fixed scale and zero point of QuantizeLinear or DequantizeLinear; None where they are of no use here."""
        step = self.array(node.input[1])
        if step is None or step.dtype != np.float32 or any(a.name == "block_size" and a.i for a in node.attribute):
            return None
        if len(node.input) > 2 and node.input[2]:
            zero = self.array(node.input[2])
            return None if zero is None else (step, zero)
        kind = next((a.i for a in node.attribute if a.name == "output_dtype" and a.i), TensorProto.UINT8)
        return step, np.zeros(step.shape, helper.tensor_dtype_to_np_dtype(kind))

    def _grid(self, node: Any) -> _Grid | None:
        found = self._scales(node)
        if found is None or found[0].size != 1 or found[1].dtype not in _WHOLE:
            return None
        return _Grid(float(found[0].reshape(())), int(found[1].reshape(())), found[1].dtype.name)

    # -- operators ------------------------------------------------------------------------------------------------
    def _rewrite(self, node: Any) -> None:
        kind = node.op_type if node.domain in ("", "ai.onnx") else ""
        if kind == "QuantizeLinear":
            self._quantise(node)
        elif kind == "DequantizeLinear":
            self._dequantise(node)
        else:
            self.nodes.append(node)
            if kind in _MOVING or kind == "Concat":
                self._move(node, list(node.input) if kind == "Concat" else [node.input[0]])

    def _quantise(self, node: Any) -> None:
        grid = self._grid(node)
        if grid is not None:
            real = self._round(node.input[0], self.fresh(node.output[0]), np.array(grid.step), np.array(grid.zero), grid.kind)
            node.input[0] = real  # for those who want whole numbers: the same ones
            self.floats[node.output[0]] = real, grid
        self.nodes.append(node)

    def _dequantise(self, node: Any) -> None:
        array = self.array(node.input[0])
        if array is not None:
            self._weight(node, array)
            return
        grid = self._grid(node)
        real, own = self.floats.get(node.input[0], ("", None))
        if grid is not None and grid == own:
            self.emit("Identity", [real], node.output[0])
            return
        self.nodes.append(node)
        if grid is not None:  # numbers of an input: they are on the grid, which those who read them may want to know
            output, node.output[0] = node.output[0], self.fresh(node.output[0])
            self._round(node.output[0], output, np.array(grid.step), np.array(grid.zero), grid.kind)

    def _weight(self, node: Any, codes: np.ndarray) -> None:
        """Fixed whole numbers as floats, with the grid of those around zero."""
        found = self._scales(node)
        if found is None or codes.dtype.kind not in "iu" or (len(node.input) < 3 and codes.dtype not in (np.int8, np.int32)):
            self.nodes.append(node)
            return
        step, zero = found if len(node.input) > 2 else (found[0], np.zeros(found[0].shape, codes.dtype))
        axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
        along = [1] * codes.ndim
        if step.size > 1:
            along[axis] = -1
        elif not codes.ndim:
            along = []
        steps = step.reshape(along)
        values = (codes.astype(np.float32) - zero.reshape(along).astype(np.float32)) * steps
        real = self.constant(node.output[0], values.astype(np.float32))
        if codes.dtype == np.int8 and not zero.any():
            self._round(real, node.output[0], steps, np.zeros((1,) * codes.ndim), np.int8)
        else:
            self.emit("Identity", [real], node.output[0])

    def _move(self, node: Any, moved: list[str]) -> None:
        """The same on floats, where whole numbers of one grid are moved."""
        known = [self.floats.get(name) for name in moved]
        grids = {found[1] for found in known if found is not None}
        if None in known or len(grids) != 1 or len(node.output) != 1:
            return
        copy = type(node)()
        copy.CopyFrom(node)
        for place, found in enumerate(known):
            assert found is not None
            copy.input[place] = found[0]
        copy.output[0] = copy.name = self.fresh(node.output[0])
        self.nodes.append(copy)
        self.floats[node.output[0]] = copy.output[0], grids.pop()

    # -- operators on whole numbers ---------------------------------------------------------------------------------
    def _expanded(self, node: Any) -> list[Any]:
        """A node as the float operator between the conversions."""
        if node.domain == _RUNTIME and node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            node.domain = ""
        expand = _EXPANSIONS.get(node.op_type) if node.domain in ("", "ai.onnx", _RUNTIME) else None
        if expand is None:
            return [node]
        saved, self.nodes = self.nodes, []
        try:
            expand(self, node)
            return self.nodes
        finally:
            self.nodes = saved

    def real(self, node: Any, place: int, axis: int | None = None) -> str:
        """The operand at a place, which its scale and zero point follow, in floats."""
        pair = [name for name in node.input[place + 1 : place + 3] if name]
        more: dict[str, Any] = {} if axis is None else {"axis": axis}
        return self.emit("DequantizeLinear", [node.input[place], *pair], self.fresh(node.input[place]), **more)

    def whole(self, node: Any, x: str, place: int) -> None:
        """Floats as the node's result; its scale and zero point are at a place."""
        pair = [name for name in node.input[place : place + 2] if name]
        self.emit("QuantizeLinear", [x, *pair], node.output[0])

    def bias(self, node: Any, place: int, scales: Sequence[int], factor: float = 1.0) -> list[str]:
        """A bias of whole numbers, whose scale is the product of the operands', in floats."""
        if len(node.input) <= place or not node.input[place]:
            return []
        codes, steps = self.array(node.input[place]), [self.array(node.input[n]) for n in scales]
        if codes is None or any(step is None for step in steps):
            raise ValueError(f"the bias of '{node.name or node.output[0]}' ({node.op_type}) must be a constant")
        real = codes * np.float32(factor)
        for step in steps:
            real = real * np.asarray(step, np.float32).reshape(-1)
        return [self.constant(node.input[place], real.astype(np.float32))]

    def attributes(self, node: Any, *left_out: str) -> dict[str, Any]:
        return {a.name: helper.get_attribute_value(a) for a in node.attribute if a.name not in left_out}


def _convolution(me: _Rewriter, node: Any) -> None:
    inputs = [me.real(node, 0), me.real(node, 3, axis=0), *me.bias(node, 8, (1, 4))]
    me.whole(node, me.emit("Conv", inputs, me.fresh(node.output[0]), **me.attributes(node)), 6)


def _product(me: _Rewriter, node: Any) -> None:
    inputs = [me.real(node, 0), me.real(node, 3, axis=-1)]
    me.whole(node, me.emit("MatMul", inputs, me.fresh(node.output[0])), 6)


def _gemm(me: _Rewriter, node: Any) -> None:
    given = me.attributes(node)
    inputs = [me.real(node, 0), me.real(node, 3, axis=0 if given.get("transB") else 1), *me.bias(node, 6, (1, 4), given.get("alpha", 1.0))]
    if len(node.input) > 7 and node.input[7]:
        me.whole(node, me.emit("Gemm", inputs, me.fresh(node.output[0]), **given), 7)
    else:
        me.emit("Gemm", inputs, node.output[0], **given)


def _two(op: str) -> Callable[[_Rewriter, Any], None]:
    def expand(me: _Rewriter, node: Any) -> None:
        me.whole(node, me.emit(op, [me.real(node, 0), me.real(node, 3)], me.fresh(node.output[0])), 6)

    return expand


def _one(op: str, *left_out: str) -> Callable[[_Rewriter, Any], None]:
    def expand(me: _Rewriter, node: Any) -> None:
        given = me.attributes(node, *left_out, "channels_last")
        if me.attributes(node).get("channels_last"):
            raise ValueError(f"'{node.name or node.output[0]}' ({node.op_type}) has its channels last, which is not supported")
        me.whole(node, me.emit(op, [me.real(node, 0)], me.fresh(node.output[0]), **given), 3)

    return expand


def _concat(me: _Rewriter, node: Any) -> None:
    inputs = [me.real(node, place) for place in range(2, len(node.input), 3)]
    me.whole(node, me.emit("Concat", inputs, me.fresh(node.output[0]), **me.attributes(node)), 0)


_EXPANSIONS: dict[str, Callable[[_Rewriter, Any], None]] = {
    "QLinearConv": _convolution, "QLinearMatMul": _product, "QGemm": _gemm, "QLinearAdd": _two("Add"), "QLinearMul": _two("Mul"),
    "QLinearSigmoid": _one("Sigmoid"), "QLinearLeakyRelu": _one("LeakyRelu"), "QLinearSoftmax": _one("Softmax", "opset"),
    "QLinearGlobalAveragePool": _one("GlobalAveragePool"), "QLinearAveragePool": _one("AveragePool"), "QLinearConcat": _concat,
}  # fmt: skip
