"""Convolutions, products, poolings and joins as calls of `runtime/kernels.h`. Images have their channels last in memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore.backends.cpu import layout, native, postops
from mindspore.backends.cpu.layout import View
from mindspore.compiler.fuse.loopir import Unsupported, Value
from mindspore.prims import arrays, conv, gather_scatter, linalg, pooling, structural
from mindspore.prims.primitive import Primitive
from mindspore_lite.aot.lowering import Handler, PortableLowering

_LANES = 16
_HANDLERS: dict[type[Primitive], Handler] = {}


def _handles(*primitives: type[Primitive]) -> Any:
    def register(handler: Handler) -> Handler:
        _HANDLERS.update(dict.fromkeys(primitives, handler))
        return handler

    return register


# -- images -----------------------------------------------------------------------------------------------------------
def _planar(prim: Any, view: View) -> View:
    """A view as (N, C, H, W); images of one dimension are one row high."""
    if view.dtype != "float32":
        raise Unsupported(f"{prim.name} on {view.dtype} in C")
    rank = len(view.shape)
    if rank not in (3, 4):
        raise Unsupported(f"{prim.name} over {rank - 2} dimensions in C")
    if prim.channels_last:
        view = _permuted(view, (0, rank - 1, *range(1, rank - 1)))
    if rank == 3:
        assert view.dims is not None
        view = View(view.buffer, view.dtype, (*view.shape[:2], 1, view.shape[2]), (*view.dims[:2], (), view.dims[2]), view.offset)
    return view


def _permuted(view: View, order: tuple[int, ...]) -> View:
    assert view.dims is not None
    shape = tuple(view.shape[i] for i in order)
    return View(view.buffer, view.dtype, shape, tuple(view.dims[i] for i in order), view.offset)


def _as(lowering: PortableLowering, view: View, order: tuple[int, ...]) -> View:
    """A view whose dimensions, taken in this order, lie in memory without gaps; copied unless they do."""
    seen = _permuted(view, order)
    if layout.is_plain(seen):
        return view
    copied = lowering.plain(seen)
    back = tuple(order.index(i) for i in range(len(order)))
    return _permuted(copied, back)


_CHANNELS_LAST = (0, 2, 3, 1)


def _image(lowering: PortableLowering, prim: Any, view: View) -> View:
    return _as(lowering, _planar(prim, view), _CHANNELS_LAST)


def _new_image(lowering: PortableLowering, prim: Any, item: Value) -> tuple[View, View]:
    """Memory for a result: as (N, C, H, W), and as its users see it."""
    n, c, *sizes = _first(prim, item.shape)
    if len(sizes) == 1:
        sizes = [1, *sizes]
    h, w = sizes
    dims = tuple(((d, s),) if d != 1 else () for d, s in zip((n, c, h, w), (c * h * w, 1, w * c, c)))
    planar = lowering.allocate("float32", (n, c, h, w), dims, native=True)
    own = planar
    if len(item.shape) == 3:
        own = View(own.buffer, own.dtype, (n, c, w), (dims[0], dims[1], dims[3]), own.offset)
    if prim.channels_last:
        own = _permuted(own, (0, *range(2, len(own.shape)), 1))
    return planar, own


def _first(prim: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0], shape[-1], *shape[1:-1]) if prim.channels_last else tuple(shape)


def _pair(values: tuple[int, ...], one: int) -> tuple[int, int]:
    return (one, values[0]) if len(values) == 1 else (values[0], values[1])


def _window(prim: Any, x_shape: tuple[int, ...], x: View, y: View, kernel: tuple[int, ...], groups: int = 1,
            bounds: tuple[str, str] = ("-INFINITY", "INFINITY")) -> str:  # fmt: skip
    """The geometry as a C literal."""
    geometry = prim.window(x_shape)
    n, c, h, w = x.shape
    _, oc, oh, ow = y.shape
    sizes = [n, h, w, c, oh, ow, oc, *_pair(tuple(kernel), 1), *_pair(geometry.stride, 1), *_pair(geometry.dilation, 1),
             *_pair(tuple(lo for lo, _ in geometry.pads), 0), groups]  # fmt: skip
    return f"&(const ms_window){{{', '.join(map(str, sizes))}, {bounds[0]}, {bounds[1]}}}"


# -- convolutions -----------------------------------------------------------------------------------------------------
def _bounds(posts: tuple[postops.Post, ...]) -> tuple[str, str]:
    if posts and posts[-1].kind == "relu":
        return "0.0f", "INFINITY"
    if posts and posts[-1].kind == "clip":
        return tuple("INFINITY" if v == math.inf else "-INFINITY" if v == -math.inf else f"{float(np.float32(v))!r}f"
                     for v in (posts[-1].low, posts[-1].high))  # type: ignore[return-value]  # fmt: skip
    return "-INFINITY", "INFINITY"


def _packed(w: np.ndarray) -> np.ndarray:
    """Filters (O, I, H, W) in blocks of output channels, each (H, W, I, lanes), and room behind the last to read beyond it."""
    blocks = [np.moveaxis(w[n : n + _LANES], 0, -1).transpose(1, 2, 0, 3) for n in range(0, w.shape[0], _LANES)]
    return np.concatenate([*(b.reshape(-1) for b in blocks), np.zeros(_LANES, np.float32)]).astype(np.float32)


def _zeros(lowering: PortableLowering, count: int) -> View:
    """A row of zeros, shared by all that need no longer one."""
    known: Any = lowering.kept.get(-1)
    if known is None or known.size < count:
        known = lowering.kept[-1] = np.zeros(max(count, 64), np.float32)
    return lowering.constant(known)


def _with_posts(
    lowering: PortableLowering, posts: tuple[postops.Post, ...], operands: list[View], as_image: Any
) -> tuple[View | None, View | None]:
    """(bias, what is added) of a fused operation."""
    bias = add = None
    for post, view in zip((p for p in posts if p.has_operand), operands[2:]):
        if post.kind == "bias":
            bias = _flat(lowering, view)
        else:
            add = as_image(view)
    return bias, add


def _flat(lowering: PortableLowering, view: View) -> View:
    seen = layout.apply(lowering.plain(view), Value("reshape", (view.size,), view.dtype))
    assert seen is not None
    return seen


class _Arguments:
    """Operands in order, some of which may be missing."""

    def __init__(self) -> None:
        self.views: list[View] = []
        self.words: list[str] = []

    def add(self, view: View | None) -> None:
        self.words.append("0" if view is None else f"{{{len(self.views)}}}")
        if view is not None:
            self.views.append(view)


def _emit(lowering: PortableLowering, name: str, function: str, reads: list[View | None], y: View,
          after: list[View], window: str) -> None:  # fmt: skip
    """function(reads…, y, after…, window)"""
    given = _Arguments()
    for view in reads:
        given.add(view)
    words = list(given.words)
    rest = [*given.views, *after]
    words.append(f"{{{len(rest)}}}")
    words += [f"{{{len(given.views) + n}}}" for n in range(len(after))]
    lowering.call(name, function, ", ".join([*words, window.replace("{", "{{").replace("}", "}}")]), rest, [y])


@_handles(conv.Conv1D, conv.Conv2D)
def _convolution(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim, posts = postops.parts(call.attr.prim)
    x, w = _image(lowering, prim, operands[0]), _planar(prim, operands[1])
    y, own = _new_image(lowering, prim, items[0])
    bias, add = _with_posts(lowering, posts, operands, lambda v: _image(lowering, prim, v))
    window = _window(prim, operands[0].shape, x, y, w.shape[2:], prim.group, _bounds(posts))
    known = lowering.constant_of(w)
    if known is not None and prim.group == 1:
        filters = lowering.constant(_packed(known))
        zeros = [_zeros(lowering, x.shape[1])]
        _emit(lowering, "conv", "ms_conv2d", [x, filters, bias, add], y, zeros, window)
    elif known is not None and prim.group == x.shape[1] == y.shape[1]:
        filters = lowering.constant(known.reshape(w.shape[0], *w.shape[2:]).transpose(1, 2, 0))
        _emit(lowering, "depthwise", "ms_depthwise", [x, filters, bias, add], y, [], window)
    else:
        filters = _as(lowering, w, (2, 3, 1, 0))
        _emit(lowering, "conv", "ms_conv2d_plain", [x, filters, bias, add], y, [], window)
    lowering.views[items[0].id] = own


@_handles(conv.Conv1DBackpropInput, conv.Conv2DBackpropInput, conv.Conv2DTranspose)
def _to_input(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    dy, w = _image(lowering, prim, operands[0]), _planar(prim, operands[1])
    dx, own = _new_image(lowering, prim, items[0])
    window = _window(prim, items[0].shape, dx, dy, w.shape[2:], prim.group)
    filters = _as(lowering, w, (2, 3, 0, 1))
    _emit(lowering, "conv_to_input", "ms_conv2d_to_input", [dy, filters], dx, [], window)
    lowering.views[items[0].id] = own


@_handles(conv.Conv1DBackpropFilter, conv.Conv2DBackpropFilter)
def _to_filter(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    dy, x = (_image(lowering, prim, v) for v in operands[:2])
    o, i, *kernel = _first(prim, items[0].shape)
    kh, kw = _pair(tuple(kernel), 1)
    dw = lowering.allocate("float32", (kh, kw, i, o))
    window = _window(prim, operands[1].shape, x, dy, tuple(kernel), prim.group)
    _emit(lowering, "conv_to_filter", "ms_conv2d_to_filter", [dy, x], dw, [], window)
    view = _permuted(dw, (3, 2, 0, 1))
    if len(items[0].shape) == 3:
        assert view.dims is not None
        view = View(view.buffer, view.dtype, (o, i, kw), (view.dims[0], view.dims[1], view.dims[3]), view.offset)
    if prim.channels_last:
        view = _permuted(view, (0, *range(2, len(view.shape)), 1))
    lowering.views[items[0].id] = view


# -- pooling ----------------------------------------------------------------------------------------------------------
@_handles(pooling.MaxPool, pooling.MaxPoolNd)
def _max_pool(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    x = _image(lowering, prim, operands[0])
    y, own = _new_image(lowering, prim, items[0])
    window = _window(prim, operands[0].shape, x, y, prim.kernel_size)
    _emit(lowering, "max_pool", "ms_max_pool", [x], y, [], window)
    lowering.views[items[0].id] = own


@_handles(pooling.MaxPoolGrad)
def _max_pool_grad(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    x, y, dy = (_image(lowering, prim, v) for v in operands)
    dx, own = _new_image(lowering, prim, items[0])
    window = _window(prim, items[0].shape, x, y, prim.kernel_size)
    _emit(lowering, "max_pool_grad", "ms_max_pool_grad", [x, y, dy], dx, [], window)
    lowering.views[items[0].id] = own


def _shares(lowering: PortableLowering, prim: Any, x_shape: tuple[int, ...], y: View) -> View:
    share = 1 / np.asarray(prim.divisor(x_shape), np.float64)
    if share.ndim > 1 and prim.channels_last:
        share = share[0, ..., 0]
    return lowering.constant(np.broadcast_to(share, y.shape[2:] if share.ndim != 1 else y.shape[3:]).astype(np.float32))


@_handles(pooling.AvgPool, pooling.AvgPoolNd)
def _average_pool(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    x = _image(lowering, prim, operands[0])
    y, own = _new_image(lowering, prim, items[0])
    window = _window(prim, operands[0].shape, x, y, prim.kernel_size)
    share = _shares(lowering, prim, operands[0].shape, y)
    _emit(lowering, "average_pool", "ms_average_pool", [x, share], y, [], window)
    lowering.views[items[0].id] = own


@_handles(pooling.AvgPoolGrad)
def _average_pool_grad(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    dy = _image(lowering, prim, operands[0])
    dx, own = _new_image(lowering, prim, items[0])
    window = _window(prim, items[0].shape, dx, dy, prim.kernel_size)
    share = _shares(lowering, prim, items[0].shape, dy)
    _emit(lowering, "average_pool_grad", "ms_average_pool_grad", [dy, share], dx, [], window)
    lowering.views[items[0].id] = own


# -- products ---------------------------------------------------------------------------------------------------------
def _swapped(view: View) -> View:
    rank = len(view.shape)
    return _permuted(view, (*range(rank - 2), rank - 1, rank - 2))


@_handles(linalg.MatMul, linalg.BatchMatMul)
def _product(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim, posts = postops.parts(call.attr.prim)
    if any(v.dtype != "float32" for v in operands[:2]):
        raise Unsupported(f"products of {operands[0].dtype} in C")
    shape = call.attr.prim.shape if posts else items[0].shape
    a = _swapped(operands[0]) if prim.transpose_a else operands[0]
    b = _swapped(operands[1]) if prim.transpose_b else operands[1]
    result = lowering.result_view(items[0])
    bias, add = _with_posts(lowering, posts, operands, lambda v: lowering.plain(v))
    known = lowering.constant_of(b)
    if known is not None and known.ndim == 2:
        _by_weights(lowering, lowering.plain(a), known, bias, add, result, _bounds(posts))
    else:
        _of_two(lowering, a, b, result, tuple(shape))
        _after(lowering, posts, bias, add, result)
    lowering.views[items[0].id] = result


def _by_weights(lowering: PortableLowering, a: View, b: np.ndarray, bias: View | None, add: View | None, y: View,
                bounds: tuple[str, str]) -> None:  # fmt: skip
    """A convolution of 1x1 over rows."""
    k, n = b.shape
    rows = a.size // k
    filters = lowering.constant(_packed(b.T.reshape(n, k, 1, 1)))
    window = f"&(const ms_window){{1, 1, {rows}, {k}, 1, {rows}, {n}, 1, 1, 1, 1, 1, 1, 0, 0, 1, {bounds[0]}, {bounds[1]}}}"
    _emit(lowering, "matmul", "ms_conv2d", [a, filters, bias, add], y, [_zeros(lowering, 1)], window)


def _of_two(lowering: PortableLowering, a: View, b: View, y: View, shape: tuple[int, ...]) -> None:
    """A product for every matrix of a batch."""
    batch, (m, n), k = shape[:-2], shape[-2:], a.shape[-1]
    strides = layout.strides(b)
    if strides is None or (strides[-1] != 1 and b.shape[-1] != 1):
        b = lowering.plain(b)
    if layout.strides(a) is None:
        a = lowering.plain(a)
    found = [layout.strides(a) or (), layout.strides(b) or ()]
    for place, index in enumerate(np.ndindex(*batch)):
        parts = [_matrix(v, s, index) for v, s in zip((a, b), found)]
        target = View(y.buffer, y.dtype, (m, n), layout.plain_dims((m, n)), y.offset + place * m * n)
        arguments = f"{{0}}, {{1}}, {{2}}, {m}, {n}, {k}, {found[0][-2]}, {found[0][-1]}, {found[1][-2]}"
        lowering.call("matmul", "ms_product", arguments, parts, [target])


def _after(lowering: PortableLowering, posts: tuple[postops.Post, ...], bias: View | None, add: View | None, y: View) -> None:
    """What a product of two computed matrices has to do besides, in place."""
    if bias is not None:
        dims = (*(((d, 0),) if d != 1 else () for d in y.shape[:-1]), layout.plain_dims(bias.shape)[0])
        lowering.transform(View(bias.buffer, bias.dtype, y.shape, dims, bias.offset), y, add=True)
    if add is not None:
        lowering.transform(add, y, add=True)
    if posts and posts[-1].kind == "relu":
        lowering.apply("relu", y)
    elif posts and posts[-1].kind == "clip":
        lowering.bound(y, posts[-1].low, posts[-1].high)


def _matrix(view: View, strides: tuple[int, ...], index: tuple[int, ...]) -> View:
    """One matrix of a batch; dimensions of 1 serve all."""
    lead = len(view.shape) - 2
    own = index[len(index) - lead :]
    start = sum(s * (i if d != 1 else 0) for s, i, d in zip(strides, own, view.shape))
    assert view.dims is not None
    return View(view.buffer, view.dtype, view.shape[-2:], view.dims[-2:], view.offset + start)


@_handles(gather_scatter.TensorScatterElements)
def _scatter_elements(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    """The gradient of a choice by index."""
    prim, (x, index, updates) = call.attr.prim, (lowering.plain(v) for v in operands)
    axis = prim.axis % max(len(x.shape), 1)
    others = [shape[:axis] + shape[axis + 1 :] for shape in (x.shape, index.shape)]
    if x.dtype != "float32" or index.dtype not in ("int32", "int64") or prim.reduction not in ("none", "add") or others[0] != others[1]:
        raise Unsupported(f"{prim.name} of {x.dtype} with {index.dtype} of the shape {index.shape} in C")
    if updates.shape != index.shape:
        raise Unsupported(f"{prim.name} of one update in C")
    y = lowering.result_view(items[0])
    outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    sizes = f"{outer}, {x.shape[axis]}, {index.shape[axis]}, {inner}, {int(prim.reduction == 'add')}"
    lowering.call("scatter", f"ms_scatter_{index.dtype}", f"{{0}}, {{1}}, {{2}}, {{3}}, {sizes}", [x, index, updates], [y])
    lowering.views[items[0].id] = y


# -- joins: the native backend's, which only ask for copies -----------------------------------------------------------
@_handles(arrays.SetItem)
def _set_item(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    if len(operands) > 2:
        raise Unsupported("stores at computed positions in C")
    native.HANDLERS[arrays.SetItem](lowering, call, operands, items)


_HANDLERS.update({kind: native.HANDLERS[kind] for kind in (arrays.Concat, arrays.Stack, structural.Later)})
PortableLowering.handlers = _HANDLERS
PortableLowering.movers = frozenset((arrays.SetItem, arrays.Concat, arrays.Stack, structural.Later))
