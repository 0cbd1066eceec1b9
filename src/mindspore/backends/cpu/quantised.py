"""Convolutions and products of 8-bit numbers by oneDNN, which has instructions for them where the CPU has (VNNI).

Images have their channels last. Scales are operands of the primitive, so those that are computed in the same run (dynamic
quantisation) cost nothing more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.backends.cpu import dnnl, layout, native
from mindspore.backends.cpu.handlers import handles
from mindspore.backends.cpu.layout import Buffer, View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.compiler.fuse.loopir import Value
from mindspore.prims.quantised import QuantisedConv2D, QuantisedMatMul

_PER_CHANNEL, _PER_GROUP_AND_CHANNEL = 1, 3


def _vector(size: int) -> dnnl.Desc:
    return dnnl.Desc.strided((size,), "float32")


def _scales(
    lowering: Lowering, prim: Any, scale: View
) -> tuple[dict[int, int], dict[int, tuple[dnnl.Desc, View]]]:
    """What the primitive is told of scales, and their operands."""
    flat = native.reshaped(lowering, scale, (scale.size,))
    operands = {dnnl.SCALES | dnnl.WEIGHTS: (_vector(scale.size), flat)}
    masks = {dnnl.WEIGHTS: _PER_CHANNEL}
    if prim.out != "float32":
        step = np.array([prim.step], np.float32)
        operands[dnnl.SCALES | dnnl.DST] = (_vector(1), layout.plain(Buffer(4, "constant", step), "float32", (1,)))
        masks[dnnl.DST] = 0
    return masks, operands


def _posts(prim: Any, added: dnnl.Desc | None) -> list[tuple]:
    posts: list[tuple] = [("add", added)] if added is not None else []
    bounded = prim.low > -3e38 or prim.high < 3e38
    return [*posts, ("clip", prim.low, prim.high)] if bounded else posts


@handles(QuantisedConv2D)
def _convolution(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    x, w = (native.to_first(prim, v) for v in operands[:2])
    w = native.grouped(w, prim.group)
    scale, bias, *added = operands[2:]
    _, window = native.window_of(prim, operands[0].shape)
    shape = native.first_shape(prim, items[0].shape)
    target = native.described_channels_last(shape, prim.out)
    more = native.described_channels_last(shape, "float32") if added else None
    masks, others = _scales(lowering, prim, scale)
    if prim.group > 1:
        masks[dnnl.WEIGHTS] = _PER_GROUP_AND_CHANNEL
    posts = _posts(prim, more)
    op = dnnl.Convolution(window).forward(
        native.described_channels_last(x.shape, x.dtype), dnnl.Desc.any(w.shape, "int8"), target, _vector(bias.size),
        False, posts, masks,
    )  # fmt: skip
    if added and more is not None:
        others[dnnl.post_op_arguments(posts)[0]] = (more, lowering.as_desc(native.to_first(prim, added[0]), more))
    reads = {
        dnnl.SRC: lowering.as_desc(x, op.desc(dnnl.SRC)),
        dnnl.WEIGHTS: lowering.as_desc(w, op.desc(dnnl.WEIGHTS)),
        dnnl.BIAS: native.reshaped(lowering, bias, (bias.size,)),
    }
    y = lowering.allocate_desc(prim.out, op.desc(dnnl.DST))
    native.run_primitive(lowering, op, reads, {dnnl.DST: y}, "conv_int8", others)
    native.publish(lowering, prim, items[0], y)


@handles(QuantisedMatMul)
def _product(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    x, w, scale, bias, *added = operands
    k, n = w.shape
    rows = x.size // k
    x = native.reshaped(lowering, x, (rows, k))
    masks, others = _scales(lowering, prim, scale)
    masks[dnnl.WEIGHTS] = 2 if scale.size == n else 0
    target = dnnl.Desc.strided((rows, n), prim.out)
    more = dnnl.Desc.strided((rows, n), "float32") if added else None
    posts = _posts(prim, more)
    op = dnnl.matmul(
        dnnl.Desc.strided((rows, k), x.dtype), dnnl.Desc.any((k, n), "int8"), target,
        dnnl.Desc.strided((1, n), "float32"), posts, masks,
    )  # fmt: skip
    if added and more is not None:
        others[dnnl.post_op_arguments(posts)[0]] = (more, native.reshaped(lowering, added[0], (rows, n)))
    reads = {
        dnnl.SRC: x,
        dnnl.WEIGHTS: lowering.as_desc(w, op.desc(dnnl.WEIGHTS)),
        dnnl.BIAS: native.reshaped(lowering, bias, (1, n)),
    }
    result = lowering.result_view(items[0])
    seen = native.reshaped(lowering, result, (rows, n))
    native.run_primitive(lowering, op, reads, {dnnl.DST: seen}, "matmul_int8", others)
    lowering.views[items[0].id] = result
