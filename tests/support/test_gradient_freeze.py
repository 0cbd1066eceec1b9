"""Training that freezes early layers now and then, and the normalising last layer."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, boost, nn, ops

X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def network():
    return nn.SequentialCell(nn.Dense(3, 4), nn.Dense(4, 4), nn.Dense(4, 2))


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("accumulate", [False, True])
def test_frozen_steps(mode, accumulate):
    ms.set_context(mode=mode)
    net = network()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    with_loss, frozen = boost.GradientFreeze(2, 1, 0.5, 20).freeze_generate(
        nn.WithLossCell(net, nn.MSELoss()), optimizer
    )
    assert [[p.name for p in o.parameters] for o in frozen.opts][1] == ["2.weight", "2.bias"]
    grad = ops.GradOperation(get_by_list=True, sens_param=True)
    steps = boost.freeze_cell(False, with_loss, frozen, 1.0, grad, accumulate, max_accumulation_step=1)
    for step, moved in ((steps[1], [False] * 4 + [True] * 2), (steps[0], [True] * 6)):
        before = [p.asnumpy().copy() for p in net.trainable_params()]
        loss = step(Tensor(X), Tensor(np.zeros((4, 2), np.float32)))
        assert loss.asnumpy() > 0
        assert [bool((a != p.asnumpy()).any()) for a, p in zip(before, net.trainable_params())] == moved


def test_order_of_steps():
    freeze = boost.GradientFreeze(4, 0, 0.7, 100)
    assert freeze.generate_freeze_index_sequence(1, 0, 0.7, 100) == [0] * 101
    order = freeze.generate_freeze_index_sequence(4, 0, 0.7, 100)
    assert order[:9] == [0] * 6 + [1, 2, 3] and len(order) >= 101
    random = freeze.generate_freeze_index_sequence(4, 1, 0.7, 100)
    assert len(random) == 101 and set(random) <= {0, 1, 2, 3} and abs(np.mean(np.array(random) > 0) - 0.3) < 0.05
    with pytest.raises(ValueError, match="strategy"):
        freeze.generate_freeze_index_sequence(4, 2, 0.7, 100)
    with pytest.raises(TypeError, match="Optimizer"):
        boost.FreezeOpt(network())


def test_normalising_last_layer():
    net = network()
    weight = net[2].weight.asnumpy()
    train = boost.LessBN(net, fn_flag=True)
    assert [p.name for p in net[2].get_parameters()] == ["network.2.weight", "network.2.multiplier"]
    hidden = net[1](net[0](Tensor(X))).asnumpy()
    hidden, weight = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (hidden, weight))
    np.testing.assert_allclose(train(Tensor(X)).asnumpy(), hidden @ weight.T, rtol=1e-4, atol=1e-5)
    assert type(boost.LessBN(net, fn_flag=True).network[1]) is nn.Dense  # not twice
