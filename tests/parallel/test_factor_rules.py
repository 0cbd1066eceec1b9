"""Every index rule, cut in every way on 2 to 8 devices, against one device; gradients, too."""

import itertools

import numpy as np
import pytest
from rehearse import assert_same, traced_graph

import mindspore as ms
from mindspore import Tensor, mint, ops
from mindspore.compiler.shard.layout import Mesh
from mindspore.compiler.shard.plan import fits, outputs_of, rule_of, shapes_of

rng = np.random.default_rng(3)


def f(*shape):
    return Tensor(rng.standard_normal(shape).astype(np.float32))


def i(high, *shape):
    return Tensor(rng.integers(0, high, shape).astype(np.int32))


KEY = Tensor(np.array([7, 11], np.uint32))
LENGTHS = Tensor(np.array([3, 1, 2, 3, 3, 2, 1, 3], np.int32))
#: name -> (function, arguments)
CASES = {
    "add": (lambda x, y: x + y, (f(8, 8), f(8))),
    "broadcast": (lambda x, y: x * y, (f(8, 1), f(1, 8))),
    "select": (lambda c, x, y: ops.select(c > 0, x, y), (f(8, 8), f(8, 8), f(8, 8))),
    "cast": (lambda x: x.astype(ms.float16), (f(8, 8),)),
    "matmul": (ops.MatMul(), (f(8, 16), f(16, 8))),
    "matmul_ta": (ops.MatMul(transpose_a=True), (f(16, 8), f(16, 8))),
    "matmul_tb": (ops.MatMul(transpose_b=True), (f(8, 16), f(8, 16))),
    "batch_matmul": (ops.BatchMatMul(), (f(8, 2, 8, 8), f(2, 8, 8))),
    "conv": (ops.Conv2D(8, 3, pad_mode="same"), (f(8, 8, 5, 5), f(8, 8, 3, 3))),
    "grouped_conv": (ops.Conv2D(8, 3, pad_mode="same", group=4), (f(8, 8, 5, 5), f(8, 2, 3, 3))),
    "max_pool": (ops.MaxPool(2, 2), (f(8, 8, 4, 4),)),
    "avg_pool": (ops.AvgPool(2, 2), (f(8, 8, 4, 4),)),
    "sum": (lambda x: x.sum(1), (f(8, 8, 3),)),
    "mean": (lambda x: x.mean((0, 1)), (f(8, 8),)),
    "max": (lambda x: ops.ReduceMax(True)(x, 1), (f(8, 8),)),
    "min": (lambda x: ops.ReduceMin()(x, 0), (f(8, 8),)),
    "prod": (lambda x: ops.ReduceProd()(x, 0), (f(8, 3),)),
    "any": (lambda x: ops.ReduceAny()(x > 1, 0), (f(8, 8),)),
    "reshape_split": (lambda x: ops.Reshape()(x, (8, 2, 3, 4)), (f(16, 12),)),
    "reshape_join": (lambda x: ops.Reshape()(x, (16, 12)), (f(8, 2, 3, 4),)),
    "transpose": (lambda x: ops.Transpose()(x, (2, 0, 1)), (f(8, 4, 8),)),
    "expand_dims": (lambda x: ops.ExpandDims()(x, 1), (f(8, 8),)),
    "squeeze": (ops.Squeeze(), (f(8, 1, 8),)),
    "concat": (lambda x, y: ops.Concat(1)((x, y)), (f(8, 3), f(8, 5))),
    "stack": (lambda x, y: ops.Stack(1)((x, y)), (f(8, 8), f(8, 8))),
    "split": (lambda x: ops.split(x, 4, 1), (f(8, 8),)),
    "pad": (lambda x: ops.Pad(((0, 0), (1, 2)))(x), (f(8, 8),)),
    "broadcast_to": (lambda x: ops.BroadcastTo((4, 8, 8))(x), (f(8, 1),)),
    "slice": (lambda x: x[:, 2:5], (f(8, 8),)),
    "index": (lambda x, k: x[k], (f(8, 8), i(8, 4))),
    "set_item": (lambda x, y: ops.tensor_scatter_add(x, i(8, 5, 1), y), (f(8, 8), f(5, 8))),
    "softmax": (ops.Softmax(-1), (f(8, 8),)),
    "log_softmax": (ops.LogSoftmax(0), (f(8, 8),)),
    "layer_norm": (ops.LayerNorm(-1, -1), (f(8, 8, 6), f(6), f(6))),
    "rms_norm": (ops.RmsNorm(), (f(8, 8, 6), f(6))),
    "batch_norm": (lambda x, s, b: ops.BatchNorm(True)(x, s, b, f(8), f(8))[0], (f(8, 8, 4, 4), f(8), f(8))),
    "gather_rows": (lambda t, k: ops.Gather()(t, k, 0), (f(16, 8), i(16, 8, 4))),
    "gather_columns": (lambda t, k: ops.Gather()(t, k, 1), (f(8, 16), i(16, 8))),
    "gather_batch": (lambda t, k: ops.Gather(1)(t, k, 1), (f(8, 16, 4), i(16, 8, 4))),
    "gather_d": (lambda t, k: ops.GatherD()(t, 1, k), (f(8, 8), i(8, 8, 4))),
    "gather_nd": (ops.GatherNd(), (f(8, 8, 8), i(8, 8, 2))),
    "one_hot": (lambda k: ops.one_hot(k, 8, Tensor(1.0), Tensor(0.0)), (i(8, 8),)),
    "top_k": (lambda x: ops.TopK()(x, 3), (f(8, 8),)),
    "argmax": (ops.Argmax(1), (f(8, 8),)),
    "sort": (ops.Sort(1), (f(8, 8),)),
    "cumsum": (lambda x: ops.CumSum()(x, 1), (f(8, 8),)),
    "attention": (lambda q, k, v: ops.Attention(0.3)(q, k, v, None), (f(8, 4, 8, 4), f(8, 4, 6, 4), f(8, 4, 6, 4))),
    "causal_attention": (lambda q, k, v: ops.Attention(0.3, True)(q, k, v, None), (f(8, 4, 8, 4),) * 3),
    "biased_attention": (lambda q, k, v, b: ops.Attention()(q, k, v, b), (*(f(8, 4, 8, 4),) * 3, f(8, 1, 8, 8))),
    "lstm": (lambda *a: ops.RecurrentSequence("lstm")(*a, None)[0], (f(3, 8, 16), f(8, 4), f(8, 4), f(16, 4), f(16))),
    "gru": (lambda *a: ops.RecurrentSequence("gru", True)(*a, None, LENGTHS)[0], (f(3, 8, 12), f(8, 4), f(8, 4), f(12, 4))),
    "cross_entropy": (lambda x, y: ops.SparseCrossEntropy()(x, y), (f(8, 16), i(16, 8))),
    "soft_cross_entropy": (lambda x, y: ops.SoftmaxCrossEntropyWithLogits()(x, y)[0], (f(8, 16), f(8, 16))),
    "dropout": (lambda x: ops.DropoutWithKey(0.5)(x, KEY), (f(8, 8),)),
    "dropout_mask": (lambda x: x * ops.DropoutMask(0.5)(KEY, (8, 8)), (f(8, 8),)),
    "random": (lambda x: x + ops.RandomNormal()(KEY, (8, 8), ms.float32), (f(8, 8),)),
    "linear": (lambda x, w, b: mint.nn.functional.linear(x, w, b), (f(8, 16), f(8, 16), f(8))),
}


def cuts(node, mesh):
    """Every way to lay up to two labels of an operator on the mesh."""
    rule = rule_of(node)
    if rule is None:
        return
    shapes, outputs = shapes_of(node), outputs_of(node)
    halves = (mesh.axes, (), ()), (mesh.axes[:1], mesh.axes[1:], ())
    seen = set()
    for first, second in itertools.product(rule.labels, (*rule.labels, "")):
        for one, two, _ in halves:
            chosen = {first: one, **({second: two} if second and second != first and two else {})}
            key = tuple(sorted(chosen.items()))
            if key not in seen and fits(rule, chosen, shapes, outputs, mesh):
                seen.add(key)
                yield chosen


def check_all_cuts(function, args, devices, limit):
    graph, _ = traced_graph(function, *args)
    tried = 0
    for place, node in enumerate(graph.nodes()):
        for chosen in itertools.islice(cuts(node, Mesh.of(devices)), limit):
            assert_same(
                function, *args, devices=devices, dataset="full_batch",
                preset=lambda g, place=place, chosen=chosen: {g.nodes()[place].id: chosen},
            )  # fmt: skip
            tried += 1
    return tried


@pytest.mark.parametrize("name", CASES)
def test_every_cut(name):
    function, args = CASES[name]
    tried = sum(check_all_cuts(function, args, devices, 12) for devices in (2, 8))
    assert tried >= 2, "no cut was tried"


@pytest.mark.parametrize("name", sorted(set(CASES) - {"argmax", "one_hot", "any", "cast", "sort", "top_k"}))
def test_gradients(name):
    """The joint graph of a function and its gradients, with the first operator cut."""
    function, args = CASES[name]
    floats = tuple(n for n, a in enumerate(args) if a.dtype is ms.float32)

    def total(*given):
        out = function(*given)
        out = out if isinstance(out, (tuple, list)) else (out,)
        return sum(ops.sin(o.astype(ms.float32)).sum() for o in out if o.dtype.kind == "f" or o.dtype is ms.float32)

    def both(*given):
        return ops.grad(total, floats)(*given)

    assert_same(both, *args, devices=4, rtol=2e-5, atol=1e-5)
    assert_same(both, *args, devices=8, dataset="full_batch", rtol=2e-5, atol=1e-5)


def test_operators_without_a_rule_are_computed_whole():
    plan = assert_same(lambda x: ops.MatrixInverse()(x + 1) * 2, f(8, 8), devices=4, rtol=1e-3, atol=1e-3)
    assert any(rule is None for rule in plan.rules.values())


WINDOWS = {  # kernel, stride, dilation, pad_mode, pad
    "same": (3, 1, 1, "same", 0), "strided": (3, 2, 1, "same", 0), "even": (2, 2, 1, "valid", 0), "dilated": (3, 1, 2, "same", 0),
    "padded": (5, 1, 1, "pad", 2), "uneven": (4, 2, 1, "pad", (1, 1, 1, 1)), "one": (1, 1, 1, "same", 0),
    "skipping": (1, 2, 1, "same", 0),
}  # fmt: skip


@pytest.mark.parametrize("cuts", [(1, 1, 2, 1), (1, 1, 1, 4), (2, 1, 2, 2), (1, 2, 4, 1)])
@pytest.mark.parametrize("window", WINDOWS)
def test_images_cut_along_height_and_width(window, cuts):
    """Convolutions on parts of images, with borders from neighbours, and both of their gradients."""
    kernel, stride, dilation, mode, pad = WINDOWS[window]
    draw = np.random.default_rng(0).standard_normal
    x, w = Tensor(draw((2, 4, 16, 16)).astype("f")), Tensor(draw((4, 4, kernel, kernel)).astype("f"))
    conv = ops.Conv2D(4, kernel, pad_mode=mode, pad=pad, stride=stride, dilation=dilation).shard((cuts, (1, cuts[1], 1, 1)))
    gradients = ms.grad(lambda a, b: ops.sin(conv(a, b)).sum(), (0, 1))
    plan = assert_same(lambda a, b: (conv(a, b), *gradients(a, b)), x, w, devices=8, rtol=1e-4, atol=1e-4)
    layouts = [plan.layouts[n.id] for n in plan.graph.nodes() if n.op is conv or n.op.name == "Conv2D"]
    assert layouts[0].cuts(plan.mesh)[2:] == cuts[2:]


@pytest.mark.parametrize(("kernel", "stride"), [(2, 2), (3, 1), (3, 2), (4, 2)])
@pytest.mark.parametrize("cuts", [(1, 1, 2, 2), (1, 2, 4, 1)])
def test_transposed_convolutions_of_images_cut_along_height_and_width(kernel, stride, cuts):
    draw = np.random.default_rng(0).standard_normal
    dout, w = Tensor(draw((2, 4, 8, 8)).astype("f")), Tensor(draw((4, 4, kernel, kernel)).astype("f"))
    size = (2, 4, 8 * stride, 8 * stride)
    up = ops.Conv2DTranspose(4, kernel, pad_mode="same", stride=stride).shard((cuts, (cuts[1], 1, 1, 1)))
    assert_same(lambda a, b: ops.sin(up(a, b, size)), dout, w, devices=8, rtol=1e-4, atol=1e-4)


def test_windows_that_reach_beyond_the_neighbour_are_refused():
    x, w = ops.ones((1, 1, 8, 8)), ops.ones((1, 1, 7, 7))
    conv = ops.Conv2D(1, 7, pad_mode="same").shard(((1, 1, 8, 1), (1, 1, 1, 1)))
    with pytest.raises(RuntimeError, match="fewer than 8 parts"):
        assert_same(lambda a, b: conv(a, b), x, w, devices=8)
