"""Operations kept whole: convolution, pooling and matrix products by oneDNN, joins and scatters by copies and kernels.

Each handler gets the operands' views and the result values, emits steps and records where the results are. Whatever
has no handler here, or none for its types, runs on the host by the primitive's own evaluation rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.backends.cpu import (
    collectives,
    dnnl,
    layout,
    magnitudes,
    max_pools,
    pair_pools,
    points,
    postops,
    preparation,
    products,
    scatter,
    winograd,
)
from mindspore.backends.cpu.handlers import HANDLERS, handles
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.steps import DnnlStep, HostStep
from mindspore.compiler.fuse.domain import chain
from mindspore.compiler.fuse.loopir import Maker, OpaqueCall, Unsupported, Value
from mindspore.compiler.fuse.namespace import LazyArray, Namespace
from mindspore.compiler.parse.errors import located
from mindspore.ir import CNode
from mindspore.prims import arrays, conv, linalg, pooling, structural
from mindspore.prims.collective import Collective

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive


def keep(node: CNode) -> bool:
    """Whether a node is better kept whole than expanded into loops."""
    return type(node.op) in HANDLERS and not isinstance(node.op, Collective)


def lower(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    """Emit the steps of an opaque operation."""
    prim, _ = postops.parts(call.attr.prim)
    handler = HANDLERS.get(type(prim))
    if isinstance(prim, Collective):
        items = items or collectives.unread(call)
    empty = any(0 in v.shape for v in operands) or any(0 in i.shape for i in items)
    if handler is not None and not empty and items:
        mark = len(lowering.steps)
        try:
            if prim.in_float32 and any(v.dtype == "float16" for v in operands):
                _in_float32(handler, lowering, call, operands, items)
            else:
                handler(lowering, call, operands, items)
            return
        except (dnnl.DnnlError, Unsupported):
            if len(lowering.steps) != mark and any(i.id in lowering.views for i in items):
                raise
    host(lowering, call, operands, items)


def _in_float32(handler: Any, lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    """Widen halves, for which most CPUs have no instructions, compute, and round the results once."""
    wide = [lowering.cast(v, "float32") if v.dtype == "float16" else v for v in operands]
    results = [Value(i.op, i.shape, "float32" if i.dtype == "float16" else i.dtype, i.args, i.attr) for i in items]
    handler(lowering, call, wide, results)
    for item, result in zip(items, results):
        view = lowering.views[result.id]
        lowering.views[item.id] = view if view.dtype == item.dtype else lowering.cast(view, item.dtype, item)


# -- the host -----------------------------------------------------------------------------------------------------------
def host(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    """Evaluate on NumPy arrays, from within the native call."""
    attr: OpaqueCall = call.attr
    reads = [lowering.plain(v) for v in operands]
    writes = []
    for item in items:
        if item.dtype:
            view = lowering.result_view(item)
            lowering.views[item.id] = view
            writes.append(view)
    numbers = [i.attr for i in items if i.dtype]
    if attr.prim.fill is not None and all(layout.strides(v) is not None for v in writes):
        lowering.emit(HostStep(reads, writes, f"host:{attr.prim.name}", fill=_filling(call, numbers)))
        return
    evaluate = lowering.rule(attr.prim)

    def run(arrays: list[np.ndarray]) -> list[Any]:
        try:
            out = list(_flat(evaluate(np, *attr.arguments(arrays))))
        except Exception as error:
            located(error, call.origin.location if call.origin is not None else ())
            raise
        return [out[n] for n in numbers]

    lowering.emit(HostStep(reads, writes, f"host:{attr.prim.name}", function=run))


def _filling(call: Value, numbers: list[int]) -> Callable[[list[Any], list[Any]], None]:
    """A call of an operation that writes its results where they belong."""
    attr: OpaqueCall = call.attr

    def run(arrays: list[np.ndarray], places: list[np.ndarray]) -> None:
        try:
            attr.prim.fill(attr.arguments(arrays), dict(zip(numbers, places)))
        except Exception as error:
            located(error, call.origin.location if call.origin is not None else ())
            raise

    return run


def _flat(value: Any) -> Any:
    if isinstance(value, tuple):
        for v in value:
            yield from _flat(v)
    else:
        yield value


# -- oneDNN ---------------------------------------------------------------------------------------------------------------
def run_primitive(
    lowering: Lowering,
    op: dnnl.Op,
    reads: dict[int, View],
    writes: dict[int, View],
    name: str,
    more: dict[int, tuple[dnnl.Desc, View]] | None = None,
) -> None:
    """Emit a primitive whose operands are in the layouts it wants. `more`: operands of its post-operations."""
    operands = {argument: (op.desc(argument), view) for argument, view in {**reads, **writes}.items()}
    operands |= more or {}
    sources = [*reads.values(), *(view for _, view in (more or {}).values())]
    step = DnnlStep(sources, list(writes.values()), f"{name} {op.implementation}", op.scratch_bytes)
    step.op, step.operands = op, operands
    lowering.emit(step)


def _absorbed(
    lowering: Lowering, posts: tuple[postops.Post, ...], views: list[View], target: dnnl.Desc, axis: int
) -> tuple[View | None, dict[int, tuple[dnnl.Desc, View]]]:
    """The bias of a step, and the operands of its post-operations by execution argument."""
    told = postops.descriptions(posts, target, axis)
    places = iter(dnnl.post_op_arguments(told))
    described = iter(t[1] for t in told if len(t) > 1)
    bias: View | None = None
    more: dict[int, tuple[dnnl.Desc, View]] = {}
    for post, view in zip((p for p in posts if p.has_operand), views):
        if post.kind == "bias":
            bias = reshaped(lowering, view, (view.size,))
            continue
        desc = next(described)
        if post.per_channel:
            more[next(places)] = (desc, reshaped(lowering, view, desc.shape))
        else:
            more[next(places)] = (desc, lowering.as_desc(view, desc))
    return bias, more


def reshaped(lowering: Lowering, view: View, shape: tuple[int, ...]) -> View:
    seen = layout.apply(lowering.plain(view), Value("reshape", shape, view.dtype))
    assert seen is not None  # a row-major tensor has every shape
    return seen


def _permuted(view: View, order: tuple[int, ...]) -> View:
    if view.dims is None or order == tuple(range(len(order))):
        return view
    shape = tuple(view.shape[i] for i in order)
    return View(view.buffer, view.dtype, shape, tuple(view.dims[i] for i in order), view.offset)


def to_first(prim: Primitive, view: View) -> View:
    """Channels-first view of an image or filter."""
    n = len(view.shape)
    return _permuted(view, (0, n - 1, *range(1, n - 1))) if prim.channels_last else view


def publish(lowering: Lowering, prim: Primitive, item: Value, view: View) -> None:
    """Record a result, in the order of dimensions its users expect."""
    if prim.channels_last:
        if view.dims is None:
            view = lowering.plain(view)
        n = len(view.shape)
        view = _permuted(view, (0, *range(2, n), 1))
    lowering.views[item.id] = view


def window_of(prim: Primitive, x_shape: tuple[int, ...]) -> tuple[Any, dnnl.Window]:
    geometry = prim.window(x_shape)
    before, after = [lo for lo, _ in geometry.pads], [hi for _, hi in geometry.pads]
    return geometry, dnnl.Window(geometry.stride, geometry.dilation, before, after)


def grouped(view: View, groups: int) -> View:
    """Filters (O, I, …) as (groups, O / groups, I, …)."""
    if groups == 1:
        return view
    shape = (groups, view.shape[0] // groups, *view.shape[1:])
    seen = layout.apply(view, Value("reshape", shape, view.dtype))
    if seen is None:
        raise Unsupported("filters that cannot be split into groups")
    return seen


def _ungrouped(lowering: Lowering, view: View, groups: int) -> View:
    if groups == 1:
        return view
    shape = (view.shape[0] * view.shape[1], *view.shape[2:])
    seen = layout.apply(lowering.plain(view), Value("reshape", shape, view.dtype))
    assert seen is not None  # joining dimensions of a row-major tensor needs no copy
    return seen


_FEW_CHANNELS = 4
_FAST_CHANNELS_LAST = "jit:avx512_core"  # a gradient of filters that is as fast with the channels last


class _ConvolutionPlan:
    """Descriptions for a convolution of x (N, C, …) by w (O, C/groups, …) into y: free, or channels last."""

    def __init__(self, x_shape: tuple, w_shape: tuple, y_shape: tuple, dtype: str, channels_last: bool = False):
        describe = described_channels_last if channels_last else dnnl.Desc.any
        self.x = describe(x_shape, dtype)
        self.w = dnnl.Desc.any(w_shape, dtype)
        self.y = describe(y_shape, dtype)
        self.hint = (self.x, self.w, self.y)


def described_channels_last(shape: tuple[int, ...], dtype: str) -> dnnl.Desc:
    *outer, channel_stride = dnnl.row_major((shape[0], *shape[2:], shape[1]))
    return dnnl.Desc.strided(shape, dtype, (outer[0], channel_stride, *outer[1:]))


def _without_padding(make: Callable[[bool], dnnl.Op], result: int) -> dnnl.Op:
    """A convolution in the layouts it likes best, unless it would fill up y's channels to whole blocks.

    Loops cannot walk padded tensors, so each would be reordered twice; and oneDNN is as fast with the channels last.
    """
    op = make(False)
    desc = op.desc(result)
    if desc.padded_shape == desc.shape:
        return op
    try:
        return make(True)
    except dnnl.Unsupported:
        return op


def _unpadded_filter_gradient(make: Callable[[bool], dnnl.Op]) -> dnnl.Op:
    """With more than a few channels this gradient is faster with the channels last than with padded ones where oneDNN has code
    for AVX-512, and several times slower where it has not."""
    op = make(False)
    if all(d.padded_shape == d.shape for d in map(op.desc, (dnnl.SRC, dnnl.DIFF_DST))):
        return op
    try:
        last = make(True)
    except dnnl.Unsupported:
        return op
    return last if last.implementation == _FAST_CHANNELS_LAST else op


def first_shape(prim: Primitive, shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0], shape[-1], *shape[1:-1]) if prim.channels_last else tuple(shape)


def _group_shape(shape: tuple[int, ...], groups: int) -> tuple[int, ...]:
    return shape if groups == 1 else (groups, shape[0] // groups, *shape[1:])


def _forward(
    prim: Primitive, window: dnnl.Window, x: tuple, w: tuple, y: tuple, dtype: str, posts: tuple[postops.Post, ...]
) -> dnnl.Op:
    """The forward convolution of channels-first shapes, in the layouts it likes best without post-operations."""

    def make(channels_last: bool) -> dnnl.Op:
        plan = _ConvolutionPlan(x, w, y, dtype, channels_last)
        return dnnl.Convolution(window).forward(plan.x, plan.w, plan.y, training=True)

    op = _without_padding(make, dnnl.DST)
    if not posts:
        return op
    target = op.desc(dnnl.DST)
    bias = dnnl.Desc.strided((y[1],), dtype) if posts[0].kind == "bias" else None
    fused = dnnl.Convolution(window).forward(
        op.desc(dnnl.SRC), op.desc(dnnl.WEIGHTS), target, bias, True, postops.descriptions(posts, target, 1)
    )
    if fused.implementation != op.implementation or target.padded_shape != target.shape:
        raise Unsupported(f"{op.implementation} with {posts}")
    return fused


@handles(conv.Conv1D, conv.Conv2D, conv.Conv3D)
def _convolution(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim, posts = postops.parts(call.attr.prim)
    x, w = (to_first(prim, v) for v in operands[:2])
    w = grouped(w, prim.group)
    _, window = window_of(prim, operands[0].shape)
    op = _forward(prim, window, x.shape, w.shape, first_shape(prim, items[0].shape), _dtype(x), posts)
    target = op.desc(dnnl.DST)
    reads = {dnnl.SRC: lowering.as_desc(x, op.desc(dnnl.SRC)), dnnl.WEIGHTS: lowering.as_desc(w, op.desc(dnnl.WEIGHTS))}
    others = [
        v if p.per_channel or p.kind == "bias" else to_first(prim, v) for p, v in _with_operands(posts, operands)
    ]
    bias, more = _absorbed(lowering, posts, others, target, 1)
    y = lowering.allocate_desc(x.dtype, target)
    biased = reads if bias is None else {**reads, dnnl.BIAS: bias}

    def direct(op: dnnl.Op, posts: tuple[postops.Post, ...]) -> None:
        run_primitive(lowering, op, biased, {dnnl.DST: y}, "conv" + _suffix(posts), more)

    if winograd.suits(lowering, window, prim.group, op, (dnnl.SRC, dnnl.WEIGHTS, dnnl.DST), posts):
        others = [bias] if bias is not None else []
        views = [*others, *(view for _, view in more.values())]
        flag: View | None = winograd.forward(lowering, op, window, reads, y, posts, views)
    else:
        flag = _proof(lowering, call, operands, bias, posts, items[0])
        direct(op, posts)
        if flag is None and postops.without_relu(posts) != posts:
            flag = lowering.has_nan(y)
    if flag is not None:
        slow = postops.without_bound(posts)
        with lowering.only_if(flag):
            shapes = x.shape, w.shape, first_shape(prim, items[0].shape)
            direct(op if slow == posts else _forward(prim, window, *shapes, x.dtype, slow), slow)
            if slow != posts and posts[-1].kind == "relu":
                lowering.apply("relu", y)
            elif slow != posts:
                lowering.bound(y, posts[-1].low, posts[-1].high)
    publish(lowering, prim, items[0], y)


def _proof(
    lowering: Lowering, call: Value, operands: list[View], bias: View | None, posts: tuple[postops.Post, ...], item: Value
) -> View | None:  # fmt: skip
    """Whether a bound must be applied apart, because there may be NaN; None where no bound asks for a proof.

    A convolution between two bounded ones carries the bound of the first to the second.
    """
    last = posts[-1] if posts else None
    proven = last is not None and last.proven
    known = lowering.magnitudes.get(chain(call.args[0])[0].id)
    if not proven and (known is None or not postops.is_sum(posts)):
        return None
    image = magnitudes.of(lowering, call.args[0], operands[0])
    added = [
        magnitudes.of(lowering, value, view)
        for (post, view), value in zip(_with_operands(posts, operands), call.args[2:])
        if post.kind == "add"
    ]
    high = max(abs(last.low), abs(last.high)) if last is not None and proven else None
    flag = magnitudes.prove(lowering, item, image, lowering.plain(operands[1]), bias, added, high)
    return flag if proven else None


def _with_operands(posts: tuple[postops.Post, ...], operands: list[View]) -> list[tuple[postops.Post, View]]:
    return list(zip((p for p in posts if p.has_operand), operands[2:]))


def _suffix(posts: tuple[postops.Post, ...]) -> str:
    return "".join("+" + p.kind for p in posts)


def plan(
    prim: Any, posts: tuple[postops.Post, ...], shapes: list[tuple[int, ...]], y: tuple[int, ...], dtype: str
) -> None:
    """Whether a convolution or product can absorb operations: raises where oneDNN has nothing fast for them."""
    if isinstance(prim, linalg.MatrixProduct):
        _product([dnnl.Desc.strided(s, dtype) for s in (*_product_shapes(prim, shapes, len(y)), y)], posts)
        return
    if posts[-1].proven and not postops.is_sum(posts):
        raise Unsupported("a bound that cannot be proven")
    _, window = window_of(prim, shapes[0])
    x, w, y = (first_shape(prim, s) for s in (*shapes, y))
    _forward(prim, window, x, _group_shape(w, prim.group), y, dtype, posts)


@handles(conv.Conv1DBackpropInput, conv.Conv2DBackpropInput, conv.Conv3DBackpropInput, conv.Conv2DTranspose)
def _convolution_input_gradient(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    dy, w = (to_first(prim, v) for v in operands)
    w = grouped(w, prim.group)
    x_shape = first_shape(prim, items[0].shape)
    _, window = window_of(prim, items[0].shape)
    dtype = _dtype(dy)

    def make(channels_last: bool) -> dnnl.Op:
        plan = _ConvolutionPlan(x_shape, w.shape, dy.shape, dtype, channels_last)
        return dnnl.Convolution(window).backward_data(plan.x, plan.w, plan.y, plan.hint)

    op = _without_padding(make, dnnl.DIFF_DST)
    reads = {
        dnnl.DIFF_DST: lowering.as_desc(dy, op.desc(dnnl.DIFF_DST)),
        dnnl.WEIGHTS: lowering.as_desc(w, op.desc(dnnl.WEIGHTS)),
    }
    dx = lowering.allocate_desc(dy.dtype, op.desc(dnnl.DIFF_SRC))
    if winograd.suits(lowering, window, prim.group, op, (dnnl.DIFF_DST, dnnl.WEIGHTS, dnnl.DIFF_SRC)):
        with lowering.only_if(winograd.backward_data(lowering, op, window, reads, dx)):
            run_primitive(lowering, op, reads, {dnnl.DIFF_SRC: dx}, "conv_bwd_data")
    else:
        run_primitive(lowering, op, reads, {dnnl.DIFF_SRC: dx}, "conv_bwd_data")
    publish(lowering, prim, items[0], dx)


@handles(conv.Conv1DBackpropFilter, conv.Conv2DBackpropFilter, conv.Conv3DBackpropFilter)
def _convolution_filter_gradient(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    dy, x = (to_first(prim, v) for v in operands)
    w_shape = _group_shape(first_shape(prim, items[0].shape), prim.group)
    _, window = window_of(prim, operands[1].shape)
    dtype = _dtype(dy)

    def make(channels_last: bool) -> dnnl.Op:
        plan = _ConvolutionPlan(x.shape, w_shape, dy.shape, dtype, channels_last)
        return dnnl.Convolution(window).backward_weights(plan.x, plan.w, plan.y, plan.hint)

    op = _without_padding(make, dnnl.DIFF_DST) if x.shape[1] <= _FEW_CHANNELS else _unpadded_filter_gradient(make)
    reads = {
        dnnl.SRC: lowering.as_desc(x, op.desc(dnnl.SRC)),
        dnnl.DIFF_DST: lowering.as_desc(dy, op.desc(dnnl.DIFF_DST)),
    }
    dw = lowering.allocate_desc(dy.dtype, op.desc(dnnl.DIFF_WEIGHTS), lead=False)
    if winograd.suits(lowering, window, prim.group, op, (dnnl.SRC, dnnl.DIFF_WEIGHTS, dnnl.DIFF_DST)):
        with lowering.only_if(winograd.backward_weights(lowering, op, window, reads, dw)):
            run_primitive(lowering, op, reads, {dnnl.DIFF_WEIGHTS: dw}, "conv_bwd_weights")
    else:
        run_primitive(lowering, op, reads, {dnnl.DIFF_WEIGHTS: dw}, "conv_bwd_weights")
    publish(lowering, prim, items[0], _ungrouped(lowering, dw, prim.group))


def _dtype(view: View) -> str:
    if view.dtype not in ("float32", "bfloat16"):
        raise Unsupported(f"oneDNN on {view.dtype}")
    return view.dtype


# -- pooling --------------------------------------------------------------------------------------------------------------
def _pooling(prim: Primitive, x_shape: tuple[int, ...], algorithm: int) -> dnnl.Pooling:
    geometry, window = window_of(prim, x_shape)
    return dnnl.Pooling(window, geometry.kernel, algorithm)


def _known_desc(lowering: Lowering, view: View) -> tuple[View, dnnl.Desc]:
    desc = layout.to_desc(view)
    if desc is None:
        view = lowering.plain(view)
        desc = layout.to_desc(view)
    if desc is None:
        raise Unsupported(f"oneDNN on {view.dtype}")
    return view, desc


def _max_forward(
    lowering: Lowering, prim: Any, operand: View, out_shape: tuple[int, ...]
) -> tuple[dnnl.Op, View, View, Any, View]:
    """Pool and keep what the gradient needs: (primitive, result, workspace, pooling, whether there is NaN)."""
    _dtype(operand)
    x, desc = _known_desc(lowering, to_first(prim, operand))
    pooling = _pooling(prim, operand.shape, dnnl.POOL_MAX)
    target = dnnl.Desc.any(first_shape(prim, out_shape), x.dtype)
    op = pooling.forward(desc, target, training=True)
    y = lowering.allocate_desc(x.dtype, op.desc(dnnl.DST))
    workspace_desc = op.desc(dnnl.WORKSPACE)
    workspace = lowering.allocate("uint8", (max(1, workspace_desc.nbytes),))
    run_primitive(lowering, op, {dnnl.SRC: x}, {dnnl.DST: y, dnnl.WORKSPACE: workspace}, "max_pool")
    return op, y, workspace, pooling, lowering.has_nan(operand if operand.dims is not None else lowering.plain(operand))


def _own_max_forward(
    lowering: Lowering, prim: Any, operand: View, out_shape: tuple[int, ...], noted: bool, item: Value | None = None
) -> Any:
    """(plan, result, chosen elements, image) of a pooling by our own kernel, or None where it has no way.

    `item`: the value that the result is to be.
    """
    x, shape, window = to_first(prim, operand), first_shape(prim, out_shape), prim.window(operand.shape)
    found: tuple[max_pools.OwnPool, View] | None = None
    in_pairs = pair_pools.plan(x, shape, window, noted)
    if in_pairs is not None:
        found = in_pairs, _row_major(lowering, prim, item, shape)
    else:
        if layout.is_plain(x) and max_pools.worth_moving(x):
            x = lowering.as_desc(x, described_channels_last(x.shape, x.dtype))
        found = max_pools.plan(lowering, x, shape, window, noted)
    return None if found is None else (*found, max_pools.forward(lowering, found[0], x, found[1]), x)


def _row_major(lowering: Lowering, prim: Any, item: Value | None, shape: tuple[int, ...]) -> View:
    """Memory for a value, or for what will be permuted to become it."""
    return lowering.allocate("float32", shape) if item is None or prim.channels_last else lowering.result_view(item)


@handles(pooling.MaxPool, pooling.MaxPoolNd, pooling.MaxPool3D)
def _max_pool(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    noted = any(v.op == "opaque" and isinstance(v.attr.prim, pooling.MaxPoolGrad) for v in lowering.program.values)
    own = _own_max_forward(lowering, prim, operands[0], items[0].shape, noted, items[0])
    if own is not None:
        lowering.kept[call.id] = own
        publish(lowering, prim, items[0], own[1])
        return
    forward = _max_forward(lowering, prim, operands[0], items[0].shape)
    lowering.kept[call.id] = forward
    publish(lowering, prim, items[0], forward[1])
    _again_with_nan(lowering, call, operands, items[0], forward[-1])


def _again_with_nan(lowering: Lowering, call: Value, operands: list[View], item: Value, flag: View) -> None:
    """oneDNN's maxima pass over NaN: where there is one, the host does it again."""
    views = [v if v.dims is not None else lowering.plain(v) for v in operands]
    target = lowering.views[item.id]
    if target.dims is None:
        target = lowering.views[item.id] = lowering.plain(target)
    evaluate = lowering.rule(call.attr.prim)
    with lowering.only_if(flag):
        run = HostStep(views, [target], f"host:{call.attr.prim.name}", function=lambda found: [evaluate(np, *found)])
        lowering.emit(run)


@handles(pooling.MaxPoolGrad)
def _max_pool_gradient(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    source, _ = chain(call.args[1])
    producer = source.args[0] if source.op == "item" else None
    forward = lowering.kept.get(producer.id) if producer is not None and producer.args[0] is call.args[0] else None
    if forward is None:
        forward = _own_max_forward(lowering, prim, operands[0], operands[1].shape, True)
    if forward is None:
        forward = _max_forward(lowering, prim, operands[0], operands[1].shape)
    if isinstance(forward[0], (max_pools.Pool, pair_pools.PairPool)):
        dy = lowering.as_desc(to_first(prim, operands[2]), layout.to_desc(forward[1]))  # type: ignore[arg-type]
        x = forward[3]
        in_pairs = isinstance(forward[0], pair_pools.PairPool)
        dx = _row_major(lowering, prim, items[0], x.shape) if in_pairs else lowering.allocate(dy.dtype, x.shape, x.dims, x.buffer.native)
        max_pools.backward(lowering, forward[0], dy, forward[2], dx)
        publish(lowering, prim, items[0], dx)
        return
    op, _, workspace, pooling, flag = forward
    target = op.desc(dnnl.DST)
    backward = pooling.backward(
        dnnl.Desc.any(op.desc(dnnl.SRC).shape, _dtype(operands[2])), target, (op.desc(dnnl.SRC), target)
    )
    dy = lowering.as_desc(to_first(prim, operands[2]), target)
    dx = lowering.allocate_desc(operands[2].dtype, backward.desc(dnnl.DIFF_SRC))
    run_primitive(lowering, backward, {dnnl.DIFF_DST: dy, dnnl.WORKSPACE: workspace}, {dnnl.DIFF_SRC: dx}, "max_pool_bwd")
    publish(lowering, prim, items[0], dx)
    _again_with_nan(lowering, call, operands, items[0], flag)


def _average_algorithm(prim: Primitive, x_shape: tuple[int, ...]) -> int:
    pads = prim.window(x_shape).pads
    if prim.divisor_override or (prim.ceil_mode and any(lo or hi for lo, hi in pads)):
        raise Unsupported("this way of counting")
    return dnnl.POOL_AVG_WITH_PADDING if prim.count_include_pad else dnnl.POOL_AVG


@handles(pooling.AvgPool, pooling.AvgPoolNd, pooling.AvgPool3D)
def _average_pool(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    _dtype(operands[0])
    pooling = _pooling(prim, operands[0].shape, _average_algorithm(prim, operands[0].shape))
    x, desc = _known_desc(lowering, to_first(prim, operands[0]))
    op = pooling.forward(desc, dnnl.Desc.any(first_shape(prim, items[0].shape), x.dtype), training=False)
    y = lowering.allocate_desc(x.dtype, op.desc(dnnl.DST))
    run_primitive(lowering, op, {dnnl.SRC: x}, {dnnl.DST: y}, "avg_pool")
    publish(lowering, prim, items[0], y)


@handles(pooling.AvgPoolGrad)
def _average_pool_gradient(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    _dtype(operands[0])
    shape = items[0].shape
    pooling = _pooling(prim, shape, _average_algorithm(prim, shape))
    dy, desc = _known_desc(lowering, to_first(prim, operands[0]))
    source = dnnl.Desc.any(first_shape(prim, shape), dy.dtype)
    plain = dnnl.Desc.strided(first_shape(prim, shape), dy.dtype)
    op = pooling.backward(source, desc, (plain, dnnl.Desc.any(dy.shape, dy.dtype)))
    dx = lowering.allocate_desc(dy.dtype, op.desc(dnnl.DIFF_SRC))
    run_primitive(lowering, op, {dnnl.DIFF_DST: dy}, {dnnl.DIFF_SRC: dx}, "avg_pool_bwd")
    publish(lowering, prim, items[0], dx)


# -- matrix products ------------------------------------------------------------------------------------------------------
def _matrix(lowering: Lowering, view: View, transpose: bool, rank: int) -> View:
    """A (batched) matrix of the given rank with strides that oneDNN multiplies fast."""
    n = len(view.shape)
    if transpose:
        view = _permuted(view if view.dims is not None else lowering.plain(view), _matrix_order(view, True))
    found = layout.strides(view)
    good = found is not None and all(s > 0 or d == 1 for s, d in zip(found, view.shape))
    if good and found is not None:
        good = any(found[i] == 1 or view.shape[i] == 1 for i in (-1, -2))
    if not good:
        view = lowering.plain(view)
    shape = (1,) * (rank - n) + view.shape
    return View(view.buffer, view.dtype, shape, ((),) * (rank - n) + (view.dims or ()), view.offset)


def _matrix_order(view: View, transposed: bool) -> tuple[int, ...]:
    n = len(view.shape)
    return (*range(n - 2), n - 1, n - 2) if transposed else tuple(range(n))


@handles(linalg.MatMul, linalg.BatchMatMul)
def _matrix_product(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    if operands[0].dtype in products.TYPES:
        x, y = (
            _permuted(lowering.plain(v) if layout.strides(v) is None else v, _matrix_order(v, transposed))
            for v, transposed in zip(operands, (prim.transpose_a, prim.transpose_b))
        )
        products.multiply(lowering, x, y, items[0])
        return
    _dtype(operands[0])
    prim, posts = postops.parts(prim)
    shape = call.attr.prim.shape if posts else items[0].shape
    rank = len(shape)
    x = _matrix(lowering, operands[0], prim.transpose_a, rank)
    y = _matrix(lowering, operands[1], prim.transpose_b, rank)
    result = lowering.result_view(items[0])
    target = reshaped(lowering, result, shape)
    descs = [layout.to_desc(v) for v in (x, y, target)]
    if _packs(lowering, x, y):
        packed = _product([descs[0], dnnl.Desc.any(y.shape, y.dtype), descs[2]], posts).desc(dnnl.WEIGHTS)  # type: ignore[list-item]
        descs[1], y = packed, lowering.as_desc(y, packed)
    op = _product(descs, posts)  # type: ignore[arg-type]
    reads = {dnnl.SRC: x, dnnl.WEIGHTS: y}
    others = [
        v if p.per_channel or p.kind == "bias" else reshaped(lowering, v, shape)
        for p, v in _with_operands(posts, operands)
    ]
    bias, more = _absorbed(lowering, posts, others, descs[2], rank - 1)  # type: ignore[arg-type]
    if bias is not None:
        reads[dnnl.BIAS] = reshaped(lowering, bias, (1,) * (rank - 1) + bias.shape)
    run_primitive(lowering, op, reads, {dnnl.DST: target}, "matmul" + _suffix(posts), more)
    slow = postops.without_relu(posts)
    if slow != posts:
        with lowering.only_if(lowering.has_nan(target)):
            run_primitive(lowering, _product(descs, slow), reads, {dnnl.DST: target}, "matmul" + _suffix(slow), more)  # type: ignore[arg-type]
            lowering.apply("relu", target)
    lowering.views[items[0].id] = result


#: rows up to which a product spends much of its time on reading or rearranging the weight
_FEW_ROWS = 128


def _packs(lowering: Lowering, x: View, y: View) -> bool:
    """Whether a weight is laid out once, in blocks as the product reads them: with few rows that is up to 2.5 times faster. It
    takes as much memory again, so there is a limit to it."""
    depth, columns = y.shape[-2:]
    nbytes = y.size * layout.itemsize(y.dtype)
    if x.size > _FEW_ROWS * depth or y.size > depth * columns or not lowering.is_lasting(y):
        return False
    lowering.packed += nbytes
    return lowering.packed <= preparation.LIMIT


def _product(descs: list[dnnl.Desc], posts: tuple[postops.Post, ...]) -> dnnl.Op:
    """`descs`: left, right and result."""
    target = descs[2]
    axis = len(target.shape) - 1
    bias = postops.channel_desc(target, axis) if posts and posts[0].kind == "bias" else None
    return dnnl.matmul(descs[0], descs[1], target, bias, postops.descriptions(posts, target, axis))


def _product_shapes(prim: Primitive, shapes: list[tuple[int, ...]], rank: int) -> list[tuple[int, ...]]:
    """The operands' shapes, transposed as they are multiplied and of the result's rank."""
    found = []
    for shape, transposed in zip(shapes, (prim.transpose_a, prim.transpose_b)):
        shape = (*shape[:-2], shape[-1], shape[-2]) if transposed else tuple(shape)
        found.append((1,) * (rank - len(shape)) + shape)
    return found


# -- joining, setting, scattering -------------------------------------------------------------------------------------------
def _part(view: View, spec: tuple) -> View:
    """view[spec] for a static index."""
    ns = Namespace(Maker(), lambda array: None)  # type: ignore[arg-type,return-value]
    whole = Value("input", view.shape, view.dtype)
    _, operations = chain(ns.index(LazyArray(ns, whole), spec).value)
    for operation in operations:
        seen = layout.apply(view, operation)
        if seen is None:
            raise Unsupported("a part of a blocked tensor")
        view = seen
    return view


@handles(structural.Later)
def _later(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    """The same memory; that the step comes after its second operand is a matter of the order of steps."""
    lowering.views[items[0].id] = operands[0]


@handles(arrays.Concat)
def _concat(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    target, parts = lowering.join(call, operands)
    for view, part in zip(operands, parts):
        if view.buffer is not part.buffer or view.offset != part.offset:
            lowering.copy(view, part)
    lowering.views[items[0].id] = target


@handles(arrays.Stack)
def _stack(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    target = lowering.result_view(items[0])
    axis = call.attr.prim.axis % len(items[0].shape)
    for number, view in enumerate(operands):
        lowering.copy(view, _part(target, (*(slice(None),) * axis, number)))
    lowering.views[items[0].id] = target


@handles(arrays.SetItem)
def _set_item(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    x, value, *indices = operands
    if x.dtype.startswith("complex"):
        raise Unsupported("kernels have no complex numbers")
    if indices:
        try:
            scatter.add_rows(lowering, prim, x, value, indices, items[0])
        except Unsupported:
            points.set_at(lowering, prim, x, value, indices, items[0])
        return
    target = lowering.result_view(items[0])
    part = _part(target, prim.spec)
    ns = Namespace(Maker(), lambda array: None)  # type: ignore[arg-type,return-value]
    lead = value.shape[: max(0, len(value.shape) - len(part.shape))]
    if any(d != 1 for d in lead):
        raise Unsupported("a value with more dimensions than its place")
    slim = ns.reshape(LazyArray(ns, Value("input", value.shape, value.dtype)), value.shape[len(lead) :])
    _, operations = chain(ns.broadcast_to(slim, part.shape).value)
    for operation in operations:
        seen = layout.apply(value, operation)
        value = seen if seen is not None else layout.apply(lowering.plain(value), operation)  # type: ignore[assignment]
    lowering.copy(x, target)
    lowering.transform(value, part, add=prim.accumulate)
    lowering.views[items[0].id] = target
