"""recompute(): the same results from less memory, in every mode; memory_report()."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.backends import cpu

RNG = np.random.default_rng(11)
X = Tensor(RNG.standard_normal((256, 32)).astype(np.float32))
Y = Tensor(RNG.integers(0, 10, 256).astype(np.int32))


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm((32,)), nn.Dense(32, 128), nn.Dense(128, 32)
        self.drop, self.batch = nn.Dropout(p=0.3), nn.BatchNorm1d(128)

    def construct(self, x):
        return x + self.down(self.drop(ops.gelu(self.batch(self.up(self.norm(x))))))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = nn.SequentialCell([Block() for _ in range(6)]), nn.Dense(32, 10)

    def construct(self, x):
        return self.head(self.blocks(x))


START = [RNG.standard_normal(p.shape).astype(np.float32) * 0.2 for p in Net().trainable_params()]


@pytest.fixture(autouse=True)
def restored():
    yield
    ms.set_context(backend="")
    ms.set_context(mode=ms.GRAPH_MODE)


def train(recompute: bool, jit: bool = True):
    """Losses, final state and the step's memory."""
    ms.set_seed(5)
    net = Net()
    net.set_train()
    for p, value in zip(net.trainable_params(), START):
        p.set_data(Tensor(value))
    if recompute:
        for block in net.blocks:
            assert block.recompute() is block
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    gradient = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, grads = gradient(x, y)
        optimizer(grads)
        return loss

    step = ms.jit(step) if jit else step
    losses = [float(step(X, Y).asnumpy()) for _ in range(3)]
    return losses, [p.asnumpy() for p in net.get_parameters()], step.memory_report() if jit else None


def assert_equal_training(plain, again):
    np.testing.assert_allclose(again[0], plain[0], rtol=1e-5)
    for a, b in zip(again[1], plain[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
def test_graph_mode(backend):
    if backend == "xla":
        pytest.importorskip("jax")
    if backend == "cpu" and not cpu.available():
        pytest.skip("needs oneDNN and LLVM")
    ms.set_context(backend=backend)
    plain, again = train(False), train(True)
    assert_equal_training(plain, again)
    assert again[2]["total_bytes"] > plain[2]["total_bytes"], "nothing is computed again"
    if backend == "cpu":
        assert again[2]["peak_bytes"] < 0.75 * plain[2]["peak_bytes"]


@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
@pytest.mark.parametrize("activation", [nn.ReLU, nn.Tanh])
def test_weights_that_the_step_updates_are_read_before(backend, activation):
    """The optimizer writes a weight's new value into its memory: not while the backward pass still reads the old one."""
    if backend == "xla":
        pytest.importorskip("jax")
    if backend == "cpu" and not cpu.available():
        pytest.skip("needs oneDNN and LLVM")
    ms.set_context(backend=backend, mode=ms.GRAPH_MODE)
    found = []
    for recompute in (False, True):
        ms.set_seed(3)
        block = nn.SequentialCell(nn.Dense(8, 16), activation(), nn.Dense(16, 8))
        net = nn.SequentialCell(block, nn.Dense(8, 1))
        if recompute:
            block.recompute()
        optimizer = nn.SGD(net.trainable_params(), 0.5)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
        losses = [float(step(X[:32, :8], X[:32, 8:9]).asnumpy()) for _ in range(3)]
        found.append((losses, [p.asnumpy() for p in net.get_parameters()]))
    assert_equal_training(*found)


def test_pynative_mode():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    assert_equal_training(train(False, jit=False), train(True, jit=False))


def test_second_derivative_of_a_recomputed_cell():
    ms.set_context(backend="interp")
    weight = RNG.standard_normal((4, 4)).astype(np.float32)
    x = Tensor(RNG.standard_normal((3, 4)).astype(np.float32))

    def curvature(again):
        dense = nn.Dense(4, 4, weight_init=Tensor(weight), bias_init="ones", activation="tanh")
        if again:
            dense.recompute()
        inner = ms.grad(lambda a: (dense(a) ** 2).sum())
        return ms.grad(lambda a: (inner(a) * a).sum())(x).asnumpy()

    np.testing.assert_allclose(curvature(True), curvature(False), rtol=1e-5)


def test_scope_of_a_recomputed_cell():
    net = nn.SequentialCell([nn.Dense(2, 2), nn.ReLU()])
    net[0].recompute()
    assert (net.get_scope(), net[0].get_scope(), net[1].get_scope()) == (None, "recompute_", None)
    net.generate_scope()
    assert net[0].get_scope() == "recompute_Default/0-Dense" and net[1].get_scope() == "Default/1-ReLU"
    net[0].recompute()
    assert net[0].get_scope() == "recompute_Default/0-Dense"


def test_recompute_names_an_option_that_it_does_not_know():
    with pytest.raises(ValueError, match=r"mp_comm_recompute.*'mode'"):
        nn.Dense(2, 2).recompute(mode=False)


def test_report_before_compiling():
    with pytest.raises(RuntimeError, match="has not been compiled"):
        nn.Dense(2, 2).memory_report()


def test_report_of_a_cell():
    net = nn.SequentialCell([nn.Dense(32, 32) for _ in range(4)])
    ms.set_context(mode=ms.GRAPH_MODE)
    net(X)
    report = net.memory_report()
    assert 0 <= report["peak_bytes"] <= report["total_bytes"] and report["ratio"] <= 1


class Waves(nn.Cell):
    """Products with a few functions between them, whose results the backward pass needs."""

    def __init__(self, recompute: bool):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(64, 64, has_bias=False) for _ in range(4)])
        self.functions = [ops.Tanh(), ops.Sigmoid(), ops.Exp(), ops.Erf()]
        if recompute:
            assert [f.recompute() for f in self.functions] == self.functions

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
            for function in self.functions:
                x = function(x)
        return x.sum()


@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
def test_primitives(backend):
    """`Primitive.recompute()`: the results of a chain of such calls are not kept, only what it starts from."""
    if backend == "xla":
        pytest.importorskip("jax")
    if backend == "cpu" and not cpu.available():
        pytest.skip("needs oneDNN and LLVM")
    ms.set_context(backend=backend)
    x = Tensor(RNG.standard_normal((512, 64)).astype(np.float32))
    weights = [RNG.standard_normal((64, 64)).astype(np.float32) * 0.2 for _ in range(4)]
    found = []
    for recompute in (False, True):
        net = Waves(recompute)
        for p, value in zip(net.trainable_params(), weights):
            p.set_data(Tensor(value))
        step = ms.jit(ms.grad(net, None, net.trainable_params()))
        found.append(([g.asnumpy() for g in step(x)], step.memory_report()))
    (plain, before), (again, after) = found
    for a, b in zip(again, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    if backend == "cpu":  # where kernels compute again what they read
        assert after["peak_bytes"] < 0.75 * before["peak_bytes"]
    else:
        assert after["total_bytes"] > before["total_bytes"], "nothing is computed again"
