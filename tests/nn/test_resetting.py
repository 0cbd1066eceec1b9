"""Layers that begin anew, hooks on what a cell keeps for its gradient, and the bytes of tensors."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, nn, ops

X = Tensor(np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32))


def test_batch_normalisation_forgets_what_it_saw():
    norm = mint.nn.BatchNorm1d(3).set_train()
    first = norm(X).asnumpy()
    norm.weight.set_data(Tensor([2.0, 3.0, 4.0]))
    assert norm.num_batches_tracked == 1 and (norm.running_mean.asnumpy() != 0).all()
    norm.reset_parameters()
    assert norm.num_batches_tracked == 0 and (norm.running_var.asnumpy() == 1).all()
    np.testing.assert_array_equal(norm(X).asnumpy(), first)
    mint.nn.BatchNorm1d(3, affine=False, track_running_stats=False).reset_parameters()


@pytest.mark.parametrize("kind", [nn.RNNCell, nn.LSTMCell, nn.GRUCell])
def test_recurrent_cells_draw_their_weights_anew(kind):
    cell = kind(3, 4)
    before = cell.weight_hh.asnumpy().copy()
    cell.reset_parameters()
    after = cell.weight_hh.asnumpy()
    assert (before != after).any() and (np.abs(after) <= 0.5).all() and before.shape == after.shape


def test_a_cell_packs_what_its_own_gradient_needs():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sigmoid()

        def construct(self, x):
            return self.inner(x * x) + ops.exp(x)

    net, kept = Net(), []
    net.inner.register_saved_tensors_hooks(lambda t: kept.append(t.asnumpy().copy()) or len(kept) - 1, lambda i: Tensor(kept[i]))
    x = X.asnumpy()
    s = 1 / (1 + np.exp(-x * x))
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        with ms.context.local_context(mode=mode):
            np.testing.assert_allclose(ms.grad(net)(X).asnumpy(), s * (1 - s) * 2 * x + np.exp(x), rtol=1e-5, atol=1e-6)
    assert len(kept) == 1  # the sigmoid's result, in PyNative mode: neither x * x nor exp belongs to that cell
    np.testing.assert_allclose(kept[0], s, rtol=1e-5)
    with pytest.raises(TypeError, match="pack_hook"):
        net.register_saved_tensors_hooks(None, lambda t: t)


def test_storages_overwrite_tensors():
    x = ops.transpose(Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), (1, 0))
    storage = x.untyped_storage()
    storage.copy_(Tensor(np.arange(6, dtype=np.float32)).untyped_storage())
    np.testing.assert_array_equal(x.asnumpy(), np.arange(6, dtype=np.float32).reshape(3, 2))
    assert (storage.element_size(), storage.device, storage.is_shared(), storage.nbytes()) == (1, "CPU", False, 24)
    assert storage[4:8] == [0, 0, 128, 63] and Tensor(np.zeros((0, 3))).untyped_storage().tolist() == []
    with pytest.raises(RuntimeError, match="must be a storage of 24 bytes, but got one of 8"):
        storage.copy_(Tensor([1.0, 2.0]).untyped_storage())
