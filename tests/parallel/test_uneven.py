"""Sizes that the devices do not divide: parts are filled up behind the end, and nothing of that reaches a result."""

import numpy as np
import pytest
from rehearse import assert_same
from test_factor_rules import KEY, check_all_cuts, f, i

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.compiler.shard.layout import Layout, Mesh

CASES = {
    "add": (lambda x, y: x + y, (f(11, 13), f(13))),
    "matmul": (ops.MatMul(), (f(11, 13), f(13, 9))),
    "batch_matmul": (ops.BatchMatMul(), (f(9, 2, 11, 13), f(2, 13, 10))),
    "conv": (ops.Conv2D(9, 3, pad_mode="same"), (f(11, 10, 5, 5), f(9, 10, 3, 3))),
    "max_pool": (ops.MaxPool(2, 2), (f(9, 11, 4, 4),)),
    "avg_pool": (ops.AvgPool(2, 2), (f(9, 11, 4, 4),)),
    "sum": (lambda x: x.sum(1), (f(9, 11, 3),)),
    "mean": (lambda x: x.mean((0, 1)), (f(9, 11),)),
    "max": (lambda x: ops.ReduceMax(True)(x - 9, 1), (f(9, 11),)),
    "min": (lambda x: ops.ReduceMin()(x + 9, 0), (f(9, 11),)),
    "largest_int": (lambda k: ops.ReduceMax()(k - 99, 1), (i(9, 9, 11),)),
    "prod": (lambda x: ops.ReduceProd()(x, 0), (f(9, 3),)),
    "log_of_nothing": (lambda x: ops.log(ops.relu(x) + 1).sum(0), (f(9, 11),)),
    "reshape": (lambda x: ops.Reshape()(x, (9, 3, 4)), (f(9, 12),)),
    "reshape_join": (lambda x: ops.Reshape()(x, (27, 8)), (f(9, 3, 8),)),
    "transpose": (lambda x: ops.Transpose()(x, (2, 0, 1)), (f(9, 4, 11),)),
    "concat": (lambda x, y: ops.Concat(1)((x, y)), (f(9, 3), f(9, 5))),
    "broadcast_to": (lambda x: ops.BroadcastTo((4, 9, 11))(x), (f(9, 1),)),
    "index": (lambda x, k: x[k], (f(9, 11), i(9, 10))),
    "softmax": (ops.Softmax(-1), (f(9, 11),)),
    "log_softmax": (ops.LogSoftmax(0), (f(9, 11),)),
    "layer_norm": (ops.LayerNorm(-1, -1), (f(9, 11, 6), f(6), f(6))),
    "batch_norm": (lambda x, s, b: ops.BatchNorm(True)(x, s, b, f(9), f(9))[0], (f(11, 9, 4, 4), f(9), f(9))),
    "gather_rows": (lambda t, k: ops.Gather()(t, k, 0), (f(17, 9), i(17, 9, 4))),
    "gather_columns": (lambda t, k: ops.Gather()(t, k, 1), (f(9, 17), i(17, 9))),
    "attention": (lambda q, k, v: ops.Attention(0.3)(q, k, v, None), (f(9, 3, 11, 4), f(9, 3, 6, 4), f(9, 3, 6, 4))),
    "causal_attention": (lambda q, k, v: ops.Attention(0.3, True)(q, k, v, None), (f(3, 9, 11, 4),) * 3),
    "cross_entropy": (lambda x, y: ops.SparseCrossEntropy()(x, y), (f(9, 17), i(17, 9))),
    "soft_cross_entropy": (lambda x, y: ops.SoftmaxCrossEntropyWithLogits()(x, y)[0], (f(9, 17), f(9, 17))),
    "dropout": (lambda x: ops.DropoutWithKey(0.5)(x, KEY), (f(9, 11),)),
    "random": (lambda x: x + ops.RandomNormal()(KEY, (9, 11), ms.float32), (f(9, 11),)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_every_cut(name):
    function, args = CASES[name]
    assert sum(check_all_cuts(function, args, devices, 6) for devices in (2, 8)) >= 2, "no cut was tried"


@pytest.mark.parametrize("name", sorted(set(CASES) - {"largest_int"}))
def test_gradients(name):
    function, args = CASES[name]
    floats = tuple(n for n, a in enumerate(args) if a.dtype is ms.float32)

    def total(*given):
        out = function(*given)
        return ops.sin(out[0] if isinstance(out, tuple) else out).sum()

    assert_same(lambda *given: ops.grad(total, floats)(*given), *args, devices=8, rtol=2e-5, atol=1e-5)


def test_each_axis_cuts_the_parts_of_the_one_before():
    layout, mesh = Layout(((0, 1),)), Mesh.of(4)
    assert [layout.slices((5,), mesh, rank)[0] for rank in range(4)] == [slice(0, 2), slice(2, 3), slice(3, 5), slice(5, 5)]
    assert layout.local((5,), mesh) == (2,)


class Language(nn.Cell):
    """A vocabulary of 37 words, 3 heads, batches of 11: no device count divides any of them."""

    def __init__(self, uneven):
        super().__init__()
        draw = np.random.default_rng(0).standard_normal
        self.table = Parameter(Tensor(draw((37, 12)).astype("f")), name="table")
        self.w = Parameter(Tensor(draw((12, 12)).astype("f")), name="w")
        self.gather = ops.Gather().shard(((8, 1), (1, 1)))
        self.scores = ops.MatMul(transpose_b=True).shard(((1, 1), (8, 1)))
        self.attention = ops.Attention(0.5, True)
        for op in (self.gather, self.scores) if uneven else ():
            op.add_prim_attr("uneven", True)

    def construct(self, tokens, labels):
        x = self.gather(self.table, tokens, 0)
        y = ops.matmul(x, self.w).reshape(11, 4, 3, 4).swapaxes(1, 2)
        x = x + self.attention(y, y, y, None).swapaxes(1, 2).reshape(x.shape)
        return ops.SparseCrossEntropy()(self.scores(x.mean(1), self.table), labels).mean()


DATA = (Tensor(np.random.default_rng(1).integers(0, 37, (11, 4)).astype(np.int32)),
        Tensor(np.random.default_rng(2).integers(0, 37, (11,)).astype(np.int32)))  # fmt: skip


def losses(uneven=True):
    net = Language(uneven)
    step = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 0.01))
    with ms.context.local_context(mode=ms.GRAPH_MODE):
        return step, [float(step(*DATA)) for _ in range(5)]


@pytest.fixture
def eight_devices():
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", device_num=8, full_batch=True, enable_parallel_optimizer=True,
        parallel_optimizer_config={"parallel_optimizer_threshold": 0},
    )  # fmt: skip
    yield
    ms.reset_auto_parallel_context()


def test_a_vocabulary_heads_and_batches_that_do_not_divide(eight_devices):
    step, together = losses()
    ms.reset_auto_parallel_context()
    np.testing.assert_allclose(together, losses()[1], rtol=1e-6)
    assert step.parameter_layout_dict["table"][2] == [5, 12] and step.parameter_layout_dict["table"][4] is False
    assert step.parameter_layout_dict["w"][2] == [2, 12]  # stored in parts for the optimizer


def test_a_strategy_that_does_not_divide_must_say_so(eight_devices):
    with pytest.raises(RuntimeError, match=r"can not be divisible by the strategy: 37 .*'uneven', True"):
        losses(uneven=False)
