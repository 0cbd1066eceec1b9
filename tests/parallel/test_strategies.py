"""Users' strategies, through the public API: networks cut over devices train as on one, and wrong strategies are refused."""

import numpy as np
import pytest
from mindspore.ops.auto_generate import KVCacheScatterUpdate, ReshapeAndCache

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.parallel import Layout


@pytest.fixture(autouse=True)
def graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.reset_auto_parallel_context()
    ms.set_context(mode=ms.PYNATIVE_MODE)


def devices(count, mode="semi_auto_parallel", **more):
    ms.set_auto_parallel_context(parallel_mode=mode, device_num=count, full_batch=True, **more)


def tensor(*shape, seed=0):
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


class Mlp(nn.Cell):
    def __init__(self, first=None, second=None, norm=None):
        super().__init__()
        self.first, self.second = ops.MatMul(), ops.MatMul()
        self.norm = ops.LayerNorm(-1, -1)
        for op, strategy in ((self.first, first), (self.second, second), (self.norm, norm)):
            if strategy is not None:
                op.shard(strategy)
        self.w1 = Parameter(tensor(16, 32, seed=1), name="w1")
        self.w2 = Parameter(tensor(32, 16, seed=2), name="w2")
        self.gamma = Parameter(ops.ones((16,)), name="gamma")
        self.beta = Parameter(ops.zeros((16,)), name="beta")

    def construct(self, x):
        hidden = ops.relu(self.first(x, self.w1))
        return self.norm(self.second(hidden, self.w2), self.gamma, self.beta)[0]


def losses(net, optimizer, steps=20):
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer(net.trainable_params()))
    x, y = tensor(8, 16, seed=3), tensor(8, 16, seed=4)
    return step, [float(step(x, y)) for _ in range(steps)]


PLANS = {
    "data": (((8, 1), (1, 1)), ((8, 1), (1, 1)), ((8, 1), (1,), (1,))),
    "tensor": (((1, 1), (1, 8)), ((1, 8), (8, 1)), None),
    "mixed": (((2, 1), (1, 4)), ((2, 4), (4, 1)), None),
    "repeated": (((2, 1), (1, 1)), ((1, 2), (2, 1)), None),
    "propagated": (((2, 2), (2, 2)), None, None),
}


@pytest.mark.parametrize("optimizer_parallel", [False, True])
@pytest.mark.parametrize("plan", PLANS)
def test_training_on_eight_devices_is_training_on_one(plan, optimizer_parallel):
    def adam(weights):
        return nn.Adam(weights, 0.01)

    _, alone = losses(Mlp(), adam)
    devices(8, enable_parallel_optimizer=optimizer_parallel, parallel_optimizer_config={"parallel_optimizer_threshold": 0})
    step, together = losses(Mlp(*PLANS[plan]), adam)
    np.testing.assert_allclose(together, alone, rtol=2e-5)
    layouts = step.parameter_layout_dict
    if optimizer_parallel:
        assert int(np.prod(layouts["w1"][2])) == 16 * 32 // 8  # every weight in as many parts as there are devices
        assert layouts["moment1.w1"][2] == layouts["w1"][2]


def test_weights_that_are_not_trained_are_stored_in_parts_too():
    def frozen():
        net = Mlp(*PLANS["tensor"])
        net.w1.requires_grad = False
        return losses(net, lambda weights: nn.Momentum(weights, 0.1, 0.9))

    _, alone = frozen()
    devices(8, enable_parallel_optimizer=True, parallel_optimizer_config={"parallel_optimizer_threshold": 0})
    _, together = frozen()
    np.testing.assert_allclose(together, alone, rtol=2e-5)
    devices(2, enable_parallel_optimizer=True, parallel_optimizer_config={"parallel_optimizer_threshold": 0})
    net = Mlp()
    out = net(tensor(8, 16))
    assert net.parameter_layout_dict["w1"][2] == [8, 32]
    ms.reset_auto_parallel_context()
    np.testing.assert_allclose(out.asnumpy(), Mlp()(tensor(8, 16)).asnumpy(), rtol=1e-5, atol=1e-6)


def test_entries_of_numbers_mean_the_tensor_that_they_are_spread_over():
    """Also in a bprop of the user's, where one operator is called with a number on either side."""

    class Scale(nn.Cell):
        def __init__(self):
            super().__init__()
            self.forward = ops.Mul().shard(((4, 1), (4, 1)))
            self.back = ops.Add().shard(((4, 1), (4, 1)))

        def construct(self, x, y):
            return self.forward(x, y)

        def bprop(self, x, y, out, dout):
            return self.back(5, x), self.back(y, 8)

    x, y = tensor(8, 16), tensor(8, 16, seed=1)
    devices(4)
    first, second = ms.grad(Scale(), (0, 1))(x, y)
    np.testing.assert_allclose(first.asnumpy(), 5 + x.asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(second.asnumpy(), 8 + y.asnumpy(), rtol=1e-6)


def test_slices_of_parameters():
    devices(8)
    net = Mlp(*PLANS["mixed"])
    net.compile(tensor(8, 16))
    found = net.parameter_layout_dict
    assert found["w1"][:3] == ([2, 4], [-1, 0], [16, 8])
    assert found["w2"][:3] == ([2, 4], [0, -1], [8, 16])


def test_each_device_is_fed_its_part_of_the_batch():
    """Without full_batch a call has this device's part: 8 devices that are fed the same see a batch 8 times as long."""
    x = tensor(4, 16)
    alone = Mlp()(ops.concat([x] * 8))
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=8)
    np.testing.assert_allclose(Mlp(*PLANS["data"])(x).asnumpy(), alone.asnumpy(), rtol=1e-5, atol=1e-6)


def test_data_set_strategy():
    devices(8)
    ms.set_auto_parallel_context(full_batch=False, dataset_strategy=((2, 4),))
    net = nn.ReLU()
    assert net(tensor(4, 2)).shape == (8, 8)
    assert net.explain_parallel().rows[0].strategy == [[2, 4]]


@pytest.mark.parametrize("parts", [(3, 1), (16, 1), (2, 1, 1)])
def test_wrong_data_set_strategies(parts):
    devices(8)
    ms.set_auto_parallel_context(full_batch=False, dataset_strategy=(parts,))
    with pytest.raises(RuntimeError, match="dataset_strategy of input 0: the strategy"):
        nn.ReLU()(tensor(4, 2))


def test_layouts_by_names():
    devices(8)
    layout = Layout((2, 2, 2), ("dp", "sp", "mp"))
    net = Mlp((layout(("dp", "sp"), "None"), layout("None", "mp")))
    x = tensor(8, 16)
    out = net(x)
    assert net.parameter_layout_dict["w1"][2] == [16, 16]
    ms.reset_auto_parallel_context()
    np.testing.assert_allclose(out.asnumpy(), Mlp()(x).asnumpy(), rtol=1e-5, atol=1e-6)


def in_two(net):
    lay = Layout((2, 4), ("x", "y"))
    net.first.shard((lay("None", ("x", "y")), lay("x", "y")))
    net.second.shard((lay("None", ("y", "x")), lay("y", "x")))


def in_three(net):
    lay = Layout((2, 2, 2), ("x", "y", "z"))
    net.first.shard((lay(("z", "y"), "x"), lay(("x", "z"), "y")))
    net.second.shard((lay(("z", "x"), "y"), lay(("y", "z"), "x")))


@pytest.mark.parametrize("dimensions, slices", [(in_two, ([8, 8], [8, 8])), (in_three, ([8, 16], [16, 8]))])
def test_tensor_parallelism_in_several_dimensions(dimensions, slices):
    """Factors that lie in finer parts than are multiplied: gathered before, scattered behind."""
    net = Mlp()
    net.first.add_prim_attr("enable_nd_tp", True)
    net.second.add_prim_attr("enable_nd_tp", True)
    dimensions(net)
    devices(8)
    step, many = losses(net, nn.Adam, 6)
    layouts = step.parameter_layout_dict
    ms.reset_auto_parallel_context()
    np.testing.assert_allclose(many, losses(Mlp(), nn.Adam, 6)[1], rtol=1e-6)
    assert (layouts["w1"][2], layouts["w2"][2]) == slices


def test_strategies_of_tuples_of_tensors():
    """An entry for a tuple has one for each of its tensors."""

    class Serve(nn.Cell):
        def __init__(self, attend=None, store=None, join=None):
            super().__init__()
            self.attend = ops.FusedInferAttentionScore(4, 0.5, input_layout="BNSD").shard(attend)
            self.store, self.join = KVCacheScatterUpdate().shard(store), ops.Concat(-1).shard(join)
            self.keys = Parameter(tensor(2, 4, 8, 4, seed=1), name="keys")

        def construct(self, query, values, rows, place):
            keys = self.store(self.keys, place, rows, -2, "update")
            out = self.attend(query, [keys], [values])[0]
            return self.join((out, query))

    given = [tensor(2, 4, 8, 4, seed=2), tensor(2, 4, 8, 4, seed=3), tensor(2, 4, 2, 4, seed=4), Tensor([1, 5], ms.int32)]
    alone = Serve()(*given).asnumpy()
    devices(8)
    cut = (2, 4, 1, 1)
    net = Serve((cut, (cut,), (cut,)), (cut, (2,), cut), ((cut, cut),))
    np.testing.assert_allclose(net(*given).asnumpy(), alone, rtol=1e-5, atol=1e-6)
    assert net.parameter_layout_dict["keys"][2] == [1, 1, 8, 4]


def test_compositions_cells_and_functions():
    """What is made of other operations takes strategies, too."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bias = Parameter(tensor(8), name="bias")
            self.add = ops.BiasAdd().shard(((2, 4), (4,)))
            self.act = nn.GELU().shard(((4, 2),))
            self.double = ms.shard(lambda x: x * 2, ((8, 1),))

        def construct(self, x):
            return self.double(self.act(self.add(x, self.bias)))

    x = tensor(8, 8)
    alone = Net()(x).asnumpy()
    devices(8)
    net = Net()
    np.testing.assert_allclose(net(x).asnumpy(), alone, rtol=1e-6)
    assert net.parameter_layout_dict["bias"][2] == [2]
    cuts = [row.strategy for row in net.explain_parallel().rows if row.why == "given"]
    assert [[2, 4]] in cuts and [[4, 2]] in cuts and [[8, 1]] in cuts


def test_reshard_within_a_graph():
    class Net(nn.Cell):
        def construct(self, x):
            layout = Layout((4, 2), ("dp", "mp"))
            return ms.parallel.reshard(ops.relu(x), layout("mp", "dp")) + 1

    devices(8)
    net = Net()
    x = tensor(8, 8)
    np.testing.assert_allclose(net(x).asnumpy(), np.maximum(x.asnumpy(), 0) + 1)
    assert [[2, 4]] in [row.strategy for row in net.explain_parallel().rows if row.why == "given"]


def test_strategies_spread_to_operators_before_and_after():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.middle = ops.Tanh().shard(((2, 4),))

        def construct(self, x):
            return ops.exp(self.middle(ops.sin(x)))

    devices(8, "auto_parallel", search_mode="sharding_propagation")
    net = Net()
    net.compile(tensor(8, 8))
    assert [row.strategy for row in net.explain_parallel().rows] == [[[2, 4]]] * 3


def test_strategies_as_separate_arguments():
    devices(4)
    net = Mlp()
    net.first.set_strategy([4, 1], [1, 1])
    net(tensor(8, 16))
    assert any(row.strategy == [[4, 1], [1, 1]] and row.why == "given" for row in net.explain_parallel().rows)


def test_a_function_that_was_sharded_is_itself_unchanged():
    sharded = ms.shard(ops.relu, ((8, 1),))
    assert sharded is not ops.relu and not hasattr(ops.relu, "_shard_plan")


WRONG = {
    "dividing": ((((3, 1), (1, 1))), "3 parts cannot be laid on 8 devices; allowed are divisors of 8"),
    "rank": (((2,), (1, 1)), "The size of strategy must be equal to the size of inputs"),
    "many": (((4, 4), (4, 1)), "needs 16 devices, but there are 8"),
    "conflict": (((2, 4), (2, 1)), "dimensions that run together must be cut alike"),
    "entries": (((2, 1), (1, 1), (1, 1)), "it has 3 entries, but there are 2 tensors"),
    "too few entries": (((2, 1),), "it has 1 entries, but there are 2 tensors"),
    "zero": (((0, 1), (1, 1)), "must be positive ints, but got 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_strategies_name_operator_line_and_what_is_allowed(name):
    strategy, words = WRONG[name]
    devices(8)
    with pytest.raises(RuntimeError, match="For 'MatMul', the strategy") as caught:
        Mlp(strategy).compile(tensor(8, 16))
    assert words in str(caught.value)
    assert "self.first(x, self.w1)" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        (([[2, 1], [2, 1]],), TypeError, "in_strategy must be tuple type"),
        (((2, 1),), TypeError, "must be tuple/Layout type"),
        ((((2, 1.0), (2, 1)),), TypeError, "must be int type, but got 1.0"),
        ((None, ((2, 1),)), ValueError, "need to set in_strategy"),
        ((((2, 1), (2, 1)), (Layout((2, 2), ("a", "b"))("a", "b"),)), ValueError, "of one kind"),
        (((Layout((2, 2), ("a", "b"))("a", "b"), (2, 1)),), TypeError, "either all entries"),
    ],
)
def test_strategies_of_a_wrong_form_are_refused_when_they_are_given(given, kind, words):
    with pytest.raises(kind, match=words):
        ops.Add().shard(*given)


def test_sizes_that_do_not_divide():
    devices(8)
    with pytest.raises(RuntimeError, match=r"12 of shape \(12, 16\) into 8 parts; allowed are \[1, 2, 4\]"):
        Mlp(((8, 1), (1, 1))).compile(tensor(12, 16))


def test_dimensions_that_an_operator_needs_whole():
    devices(8)
    with pytest.raises(RuntimeError, match="cannot be cut: the operator needs it whole"):
        Mlp(norm=((1, 8), (8,), (8,))).compile(tensor(8, 16))


def test_the_report_needs_a_cut_network():
    net = Mlp()
    net(tensor(8, 16))
    with pytest.raises(RuntimeError, match="is not cut over devices"):
        net.explain_parallel()


def test_composed_operations_that_need_a_dimension_whole():
    class Padded(nn.Cell):
        def __init__(self, strategy):
            super().__init__()
            self.pad = ops.PadV3().shard(strategy)

        def construct(self, x):
            return self.pad(x, (1, 1), 0)

    devices(8)
    Padded(((8, 1), (1,))).compile(tensor(8, 8))
    with pytest.raises(RuntimeError, match=r"For 'PadV3', the strategy .* cannot be cut: it is needed whole"):
        Padded(((1, 8), (1,))).compile(tensor(8, 8))


def refused(net, *inputs, count=8):
    devices(count)
    with pytest.raises(RuntimeError) as caught:
        net(*inputs)
    return str(caught.value)


def test_operators_that_share_a_weight_must_cut_it_alike():
    class Net(nn.Cell):
        def __init__(self, first, second):
            super().__init__()
            self.w = Parameter(tensor(8, 8, seed=1), name="w")
            self.matmul, self.relu = ops.MatMul().shard(first), ops.ReLU().shard(second)

        def construct(self, x):
            return self.matmul(x, self.w) + self.relu(self.w)

    for first, second in ((((1, 2), (2, 4)), ((4, 2),)), (((2, 2), (2, 2)), ((2, 2),))):
        text = refused(Net(first, second), tensor(8, 8))
        assert "'w'" in text and "MatMul" in text and "self.relu(self.w)" in text
    devices(8)
    Net(((1, 2), (2, 4)), ((2, 4),))(tensor(8, 8))


def test_a_table_that_is_looked_up_and_multiplied_is_cut_alike():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = Parameter(tensor(16, 8, seed=1), name="table")
            self.gather = ops.Gather().shard(((4, 1), (2, 1)))
            self.head = ops.MatMul(transpose_b=True).shard(((2, 1), (4, 1)))

        def construct(self, ids):
            return self.head(self.gather(self.table, ids, 0).sum(1), self.table)

    ids = Tensor(np.random.default_rng(0).integers(0, 16, (4, 3)).astype(np.int32))
    alone = Net()(ids).asnumpy()
    devices(8)
    np.testing.assert_allclose(Net()(ids).asnumpy(), alone, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("op", "strategy", "shapes"),
    [
        (ops.BiasAdd(), ((2, 4), (2,)), [(8, 8), (8,)]),
        (ops.Lerp(), ((4, 1, 2), (1,), ()), [(8, 8, 8), (8,)]),
        (ops.LogSoftmax(), ((2, 1), (1,)), [(8, 8)]),
        (ops.AddN(), ((2, 4), (2, 4), (2, 2)), [(8, 8), (8, 8), (8, 8)]),
    ],
)
def test_strategies_of_operations_made_of_others_must_agree(op, strategy, shapes):
    op.shard(strategy)
    more = (0.5,) if isinstance(op, ops.Lerp) else ()

    class Net(nn.Cell):
        def construct(self, *tensors):
            return op(tensors) if isinstance(op, ops.AddN) else op(*tensors, *more)

    text = refused(Net(), *(tensor(*shape) for shape in shapes))
    assert type(op).__name__ in text and "op(*tensors, *more)" in text


def test_rows_of_segments_may_be_cut_with_their_segments():
    ids = np.array([0, 2, 1, 2, 0, 1, 1, 2])

    def compiled(strategy):
        op = ops.UnsortedSegmentSum().shard(strategy)

        class Net(nn.Cell):
            def construct(self, x, ids):
                return op(x, ids, 3)

        return Net()

    x, wanted = tensor(8, 4), np.zeros((3, 4), np.float32)
    np.add.at(wanted, ids, x.asnumpy())
    devices(8)
    found = compiled(((4, 2), (4,)))(x, Tensor(ids, ms.int32))
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5)
    with pytest.raises(RuntimeError, match="must be cut alike"):
        compiled(((4, 1), (2,)))(x, Tensor(ids, ms.int32))


def test_strategies_of_operations_made_of_others_may_cut_what_is_spread():
    op = ops.MulNoNan().shard(((4, 1), (1, 2)))

    class Net(nn.Cell):
        def construct(self, x, y):
            return op(x, y)

    x, y = tensor(8, 1), tensor(1, 4, seed=1)
    devices(8)
    np.testing.assert_allclose(Net()(x, y).asnumpy(), x.asnumpy() * y.asnumpy(), rtol=1e-6)


def test_strategies_are_checked_on_one_device():
    text = refused(Mlp(((2, 1), (1, 1))), tensor(8, 16), count=1)
    assert "MatMul" in text and "2 parts cannot be laid on 1 devices" in text


def test_one_hot_codes_are_cut_by_classes():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.code = ops.OneHot().shard(((2, 4), (), ()))

        def construct(self, ids):
            return self.code(ids, 8, Tensor(1.0), Tensor(0.0)).sum(0)

    ids = Tensor(np.array([0, 3, 3, 7], np.int32))
    alone = Net()(ids).asnumpy()
    devices(8)
    net = Net()
    np.testing.assert_array_equal(net(ids).asnumpy(), alone)
    assert [[2, 4]] in [row.strategy for row in net.explain_parallel().rows]
    wrong = Net()
    wrong.code.shard(((2, 3), (), ()))
    assert "OneHot" in refused(wrong, ids)


class Normalised(nn.Cell):
    def __init__(self, **attributes):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.norm.bn_train.shard(((8, 1), (1,), (1,), (1,), (1,)))
        for name, value in attributes.items():
            self.norm.bn_train.add_prim_attr(name, value)

    def construct(self, x):
        return self.norm(x)


def test_batch_statistics_of_groups_of_devices():
    """With `group_size` 2, eight devices normalise in four groups of two, each over its own part of the batch."""
    x = tensor(32, 4)
    devices(8)
    together = Normalised().set_train()(x).asnumpy()
    net = Normalised(group_size=2).set_train()
    apart = net(x).asnumpy()
    ms.reset_auto_parallel_context()
    parts = np.split(x.asnumpy(), 4)
    wanted = np.concatenate([(p - p.mean(0)) / np.sqrt(p.var(0) + 1e-5) for p in parts])
    np.testing.assert_allclose(apart, wanted, rtol=1e-4, atol=1e-5)
    assert abs(apart - together).max() > 0.01
    moved = 0.1 * np.mean([p.var(0) * 8 / 7 for p in parts], 0) + 0.9
    np.testing.assert_allclose(net.norm.moving_variance.asnumpy(), moved, rtol=1e-5)


@pytest.mark.parametrize("size", [3, 16, 0])
def test_a_group_size_that_does_not_divide_is_refused(size):
    devices(8)
    with pytest.raises(RuntimeError, match="group_size"):
        Normalised(group_size=size).set_train()(tensor(32, 4))


def test_layers_hold_their_operations_under_the_names_that_strategies_use():
    layers = [
        (nn.ReLU(), "relu"), (nn.Sigmoid(), "sigmoid"), (nn.Tanh(), "tanh"), (nn.Dropout(p=0.5), "dropout"),
        (nn.Embedding(8, 8), "gather"), (nn.EmbeddingLookup(8, 8), "gatherv2"), (nn.MaxPool2d(2), "max_pool"),
        (nn.AvgPool2d(2), "avg_pool"), (nn.Dense(2, 2), "matmul"), (nn.Softmax(), "softmax"),
    ]  # fmt: skip
    for layer, name in layers:
        assert callable(getattr(layer, name).shard), (layer, name)
    devices(8)
    table = nn.Embedding(16, 8)
    table.gather.shard(((8, 1), (1,)))
    ids = Tensor(np.arange(12).reshape(3, 4), ms.int32)
    out = table(ids)
    assert table.parameter_layout_dict["embedding_table"][2] == [2, 8]
    np.testing.assert_array_equal(out.asnumpy(), table.embedding_table.asnumpy()[ids.asnumpy()])


LAYERS = {
    "Dense": (lambda: nn.Dense(16, 32), {"matmul": ((2, 1), (4, 1)), "bias_add": ((2, 4), (4,))}, {"weight": [8, 16], "bias": [8]}),
    "Dense, 3-d": (lambda: nn.Dense(16, 32, activation="relu"), {"matmul": ((1, 2), (4, 2))}, {"weight": [8, 8]}),
    "Conv2d": (lambda: nn.Conv2d(3, 8, 3, has_bias=True), {"bias_add": ((1, 8, 1, 1), (8,))}, {"bias": [1]}),
}
INPUTS = {"Dense": (8, 16), "Dense, 3-d": (2, 4, 16), "Conv2d": (2, 3, 8, 8)}


@pytest.mark.parametrize("name", LAYERS)
def test_strategies_of_a_layers_operations_act(name):
    """Each layer has operations of its own, its results stay, and what it holds is cut as they say."""
    make, strategies, slices = LAYERS[name]
    net, other, x = make(), make(), tensor(*INPUTS[name])
    alone = net(x).asnumpy()
    devices(8)
    for part, strategy in strategies.items():
        getattr(net, part).shard(strategy)
    np.testing.assert_allclose(net(x).asnumpy(), alone, rtol=1e-5, atol=1e-6)
    found = {key: list(value[2]) for key, value in net.parameter_layout_dict.items()}
    assert {key: found[key] for key in slices} == slices
    other(x)
    assert all(row.why != "given" for row in other.explain_parallel().rows)


def test_a_loss_by_its_operations():
    logits, labels = tensor(8, 16), Tensor(np.arange(8) % 16, ms.int32)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    alone = float(loss(logits, labels))
    devices(8)
    loss.softmax_cross_entropy.shard(((8, 1), (8, 1)))
    loss.one_hot.shard(((8, 1), (), ()))
    loss.reduce_mean.shard(((8,),))
    assert float(loss(logits, labels)) == pytest.approx(alone, rel=1e-6)
    given = {row.name.split("/")[-1]: row.strategy for row in loss.explain_parallel().rows if row.why == "given"}
    assert given["SoftmaxCrossEntropyWithLogits-op0"] == [[8, 1], [8, 1]]
    plain = nn.SoftmaxCrossEntropyWithLogits()
    plain(logits, ops.softmax(logits))
    assert not plain.by_parts  # computing is not asking for a part
    wrong = nn.MSELoss()
    wrong.reduce_mean.shard(((3, 1),))
    with pytest.raises(RuntimeError, match="3 parts cannot be laid on 8 devices"):
        wrong(logits, logits)


def test_a_batch_is_cut_as_its_virtual_data_set_says():
    from mindspore.nn.wrap.cell_wrapper import _VirtualDatasetCell

    devices(8)
    net = _VirtualDatasetCell(nn.ReLU())
    net._virtual_dataset.add_prim_attr("repeat_dim_direct", "right")
    net._virtual_dataset.shard(((2, 4),))
    x = tensor(8, 16)
    np.testing.assert_array_equal(net(x).asnumpy(), np.maximum(x.asnumpy(), 0))
    assert net.explain_parallel().rows[-1].strategy == [[2, 4]]


def test_states_of_an_optimizer_lie_as_their_weights():
    devices(8)
    net = Mlp(first=((1, 1), (1, 8)))
    optimizer = nn.AdaFactor(net.trainable_params(), learning_rate=None, beta1=0.9)
    step = nn.TrainOneStepCell(net, optimizer)
    step.compile(tensor(16, 16))
    slices = {name: list(value[2]) for name, value in step.parameter_layout_dict.items()}
    assert slices["w1"] == slices["exp_avg.w1"] == [16, 4]
    assert slices["exp_avg_sq_row_w1"] == [16] and slices["exp_avg_sq_col_w1"] == [4]
    assert slices["exp_avg.gamma"] == slices["gamma"]


def test_batches_of_matrices_are_decomposed_in_parts():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.factor = ops.Cholesky().shard(((4, 1, 1),))

        def construct(self, x):
            return self.factor(ops.matmul(x, x.swapaxes(-1, -2)) + ops.eye(3, 3, ms.float32))

    x = tensor(8, 3, 3)
    alone = Net()(x).asnumpy()
    devices(4)
    net = Net()
    np.testing.assert_allclose(net(x).asnumpy(), alone, rtol=1e-5, atol=1e-6)
    assert [[4, 1, 1]] in [row.strategy for row in net.explain_parallel().rows if row.why == "given"]


@pytest.mark.parametrize(
    ("sizes", "strategy", "problem"),
    [((4, 5), ((2, 1), (1, 2)), "9 rows"), ((4, 4), ((2, 1), (2, 1)), "2 parts"), ((4, 4), None, "needs a strategy")],
)
def test_rows_given_to_devices_by_hand_are_checked(sizes, strategy, problem):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.gather = ops.Gather().shard(strategy)
            self.gather.add_prim_attr("manual_split", sizes)
            self.table = Parameter(tensor(8, 8), name="table")

        def construct(self, x):
            return self.gather(self.table, x, 0)

    devices(2)
    with pytest.raises(RuntimeError, match=problem):
        Net()(Tensor(np.zeros((2, 2)), ms.int32))


class Cached(nn.Cell):
    """Keys and values that are written to a cache in place, by an operation that is cut by heads."""

    def __init__(self, parts):
        super().__init__()
        heads = (1, 1, parts), (1, 1, parts), (1, 1, parts, 1), (1, 1, parts, 1), (1,)
        self.store = ReshapeAndCache().shard(heads)
        self.keys, self.values = (Parameter(ops.zeros((4, 2, 4, 8)), name=name) for name in ("keys", "values"))

    def construct(self, key, value, slots):
        return self.store(key, value, self.keys, self.values, slots)


@pytest.mark.parametrize("mode", ["stand_alone", "semi_auto_parallel"])
def test_what_a_cut_operation_writes_in_place_is_stored(mode):
    key, value, slots = tensor(1, 3, 32, seed=5), tensor(1, 3, 32, seed=6), np.array([5, 0, 3], np.int32)
    devices(8 if mode != "stand_alone" else 1, mode)
    net = Cached(4)
    assert_equal = np.testing.assert_array_equal
    assert_equal(net(key, value, Tensor(slots)).asnumpy(), key.asnumpy())
    for cache, given in ((net.keys, key), (net.values, value)):
        expected = np.zeros((8, 32), np.float32)
        expected[slots] = given.asnumpy()[0]
        assert_equal(cache.asnumpy().reshape(8, 32), expected)
    if mode != "stand_alone":
        assert net.parameter_layout_dict["values"][2] == [4, 2, 1, 8]


class Adding(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = Parameter(ops.zeros((8, 8)), name="total")

    def construct(self, x, into):
        into.add_(x)
        return x + self.total


@pytest.mark.parametrize("as_function", [False, True])
def test_results_and_weights_of_cells_lie_as_their_strategies_say(as_function):
    devices(8)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.sum = Parameter(ops.ones((8, 8)), name="sum")
            given = ((8, 1), (8, 1)), ((2, 4),), {"total": (4, 1)}
            self.cut = ms.shard(Adding(), *given) if as_function else Adding().shard(*given)

        def construct(self, x):
            return ops.tanh(self.cut(x, into=self.sum))

    net, x = Net(), tensor(8, 8)
    np.testing.assert_allclose(net(x).asnumpy(), np.tanh(x.asnumpy()), rtol=1e-6)
    np.testing.assert_array_equal(net.sum.asnumpy(), 1 + x.asnumpy())
    assert [r.strategy for r in net.explain_parallel().rows if "Tanh" in r.name] == [[[2, 4]]]
    layouts = net.parameter_layout_dict
    assert [layouts[name][2] for name in ("cut.total", "sum")] == [[2, 8], [1, 8]]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ((([8, 1],),), TypeError, "entry of 'in_strategy'"),
        (([(8, 1)],), TypeError, "'in_strategy' must be a tuple"),
        ((((8, 1),), ((8, 1.5),)), TypeError, "entry of 'out_strategy'"),
        ((((8, 1),), None, {"total": None}), TypeError, "Layouts, but got 'total': None"),
        ((((8, 1),), None, {"total": (1, 1, 1)}), ValueError, "3 numbers for 'total'"),
        ((((8, 1),), None, {"total": (3, 1)}), ValueError, r"\(3, 1\) does not divide 'total' of shape \(8, 8\)"),
    ],
)
def test_wrong_strategies_of_cells_are_refused_when_given(given, error, says):
    for shard in (Adding().shard, lambda *args: ms.shard(Adding(), *args)):
        with pytest.raises(error, match=says):
            shard(*given)


@pytest.mark.parametrize("cosines", [(2, 1, 1, 1), (1, 1, 1, 1)])
def test_what_goes_with_all_samples_may_be_whole_where_they_are_cut(cosines):
    """Cosines of positions are cut like queries, or not at all; in other parts they are refused."""
    given = tensor(4, 6, 8, 16, seed=1), tensor(4, 6, 8, 16, seed=2), tensor(4, 6, 1, 16, seed=3), tensor(4, 6, 1, 16, seed=4)

    def turned(query, cos, sin):
        first, second = np.split(query, 2, -1)
        return query * cos + np.concatenate([-second, first], -1) * sin

    class Net(nn.Cell):
        def __init__(self, cosines):
            super().__init__()
            self.turn = ops.ApplyRotaryPosEmb(1).shard(((2, 1, 4, 1), (2, 1, 4, 1), cosines, cosines))

        def construct(self, *args):
            return self.turn(*args)

    devices(8)
    arrays = [x.asnumpy() for x in given]
    for found, x in zip(Net(cosines)(*given), arrays[:2]):
        np.testing.assert_allclose(found.asnumpy(), turned(x, *arrays[2:]), rtol=1e-5, atol=1e-6)
    with pytest.raises(RuntimeError, match="cut alike"):
        Net((4, 1, 1, 1))(*given)
