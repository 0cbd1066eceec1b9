"""AdaSum of gradients beside its formula, optimizers wrapped in one process, and layers of sparse tensors."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import COOTensor, Parameter, Tensor, nn
from mindspore.nn.optim.adasum import adasum

RNG = np.random.default_rng(1)


def pair(a, b):
    dot = (a * b).sum()
    return (1 - dot / (2 * (a * a).sum())) * a + (1 - dot / (2 * (b * b).sum())) * b


def test_rule():
    g = RNG.normal(size=(5, 2, 3)).astype(np.float32)
    found = adasum([Tensor(x) for x in g]).asnumpy()
    np.testing.assert_allclose(found, pair(pair(pair(g[0], g[1]), pair(g[2], g[3])), g[4]), rtol=1e-5)
    same = adasum([Tensor(g[0]), Tensor(g[0])]).asnumpy()
    np.testing.assert_allclose(same, g[0], rtol=1e-5)  # parallel: the mean
    apart = adasum([Tensor([1.0, 0.0]), Tensor([0.0, 2.0])]).asnumpy()
    np.testing.assert_allclose(apart, [1, 2])  # orthogonal: the sum
    np.testing.assert_allclose(adasum([Tensor([0.0]), Tensor([3.0])]).asnumpy(), [3.0])


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("wrap", [nn.AdaSumByGradWrapCell, nn.AdaSumByDeltaWeightWrapCell])
def test_one_process_steps_as_without(mode, wrap):
    ms.set_context(mode=mode)
    results = []
    for wrapped in (False, True):
        weight = Parameter(Tensor([1.0, -2.0]), name="weight")
        optimizer = nn.Momentum([weight], 0.1, 0.9)
        step = wrap(optimizer) if wrapped else optimizer
        for grad in ([1.0, 2.0], [0.5, -1.0]):
            step((Tensor(grad),))
        results.append(weight.asnumpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)
    with pytest.raises(TypeError, match="Optimizer"):
        wrap(nn.Dense(2, 2))


def test_sparse_layers():
    indices, values = Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0])
    dense = np.array([[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]], np.float32)
    np.testing.assert_array_equal(nn.SparseToDense()(COOTensor(indices, values, (3, 4))).asnumpy(), dense)
    other = RNG.normal(size=(5, 3)).astype(np.float32)
    found = nn.SparseTensorDenseMatmul(adjoint_st=True, adjoint_dt=True)(indices, values, (3, 4), Tensor(other))
    np.testing.assert_allclose(found.asnumpy(), dense.T @ other.T, rtol=1e-5)
    with pytest.raises(TypeError, match="COOTensor"):
        nn.SparseToDense()(Tensor(dense))
