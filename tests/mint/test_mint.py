"""mint: PyTorch's argument names, defaults and results."""

# ruff: noqa: E501 - one case per line

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)

CASES = [
    (lambda x: mint.cat((x, x), dim=1), np.concatenate((X, X), 1)), (lambda x: mint.stack([x, x], dim=2), np.stack([X, X], 2)),
    (lambda x: mint.sum(x, dim=1, keepdim=True), X.sum(1, keepdims=True)), (lambda x: mint.mean(x, 0), X.mean(0)),
    (lambda x: mint.max(x), X.max()), (lambda x: mint.max(x, 1)[1], X.argmax(1)), (lambda x: mint.max(x, x * 2), X * 2),
    (lambda x: mint.min(x, dim=0, keepdim=True)[0], X.min(0)[None]), (lambda x: mint.std(x, 1), X.std(1, ddof=1)),
    (lambda x: mint.var(x, dim=0, correction=0), X.var(0)), (lambda x: mint.median(x), np.float32(2)),
    (lambda x: mint.transpose(x, 0, 1), X.T), (lambda x: mint.permute(x, (1, 0)), X.T), (lambda x: mint.flatten(x), X.ravel()),
    (lambda x: mint.split(x, 2, dim=1)[1], X[:, 2:]), (lambda x: mint.gather(x, 1, Tensor([[0], [2]])), np.array([[0.0], [5.0]])),
    (lambda x: mint.norm(x), np.linalg.norm(X)), (lambda x: mint.norm(x, 1, 1), np.abs(X).sum(1)), (lambda x: mint.add(x, 1, alpha=2), X + 2),
    (lambda x: mint.softmax(x, 1).sum(1), np.ones(2)), (lambda x: mint.argsort(x, dim=1, descending=True), np.argsort(-X, 1)),
    (lambda x: mint.cumsum(x, 0), X.cumsum(0)), (lambda x: mint.repeat_interleave(x, 2, dim=0), np.repeat(X, 2, 0)),
    (lambda x: mint.nn.functional.normalize(x, dim=1), X / np.linalg.norm(X, axis=1, keepdims=True)),
    (lambda x: mint.nn.functional.pad(x, (1, 0), value=2.0), np.pad(X, ((0, 0), (1, 0)), constant_values=2)),
    (lambda x: mint.nn.functional.leaky_relu(-x), -X * np.float32(0.01)), (lambda x: mint.linalg.norm(x, 1), np.linalg.norm(X, 1)),
    (lambda x: mint.index_add(x, 0, Tensor([0]), x[1:], alpha=2), np.stack([X[0] + 2 * X[1], X[1]])), (lambda x: mint.diag(x[0]), np.diag(X[0])),
    (lambda x: mint.nn.functional.kl_div(mint.log(x + 1), x + 2, reduction="sum"), ((X + 2) * (np.log(X + 2) - np.log(X + 1))).sum()),
    (lambda x: mint.scatter_add(x, 1, Tensor([[0], [0]]), x[:, 1:2]), X + np.array([[1, 0, 0], [4, 0, 0]])),
]  # fmt: skip


@pytest.mark.parametrize("i", range(len(CASES)))
def test_function_eagerly_and_compiled(i):
    function, expected = CASES[i]
    np.testing.assert_allclose(function(Tensor(X)).asnumpy(), expected, 1e-5, 1e-6)
    np.testing.assert_allclose(ms.jit(function)(Tensor(X)).asnumpy(), expected, 1e-5, 1e-6)


def test_integer_results_are_int64():
    x = Tensor([3, 1, 2], ms.int32)
    results = [
        mint.sum(x),
        mint.cumsum(x, 0),
        mint.argmax(x),
        mint.argmin(x),
        mint.sort(x)[1],
        mint.topk(x, 1)[1],
        mint.bincount(x),
    ]
    assert all(r.dtype is ms.int64 for r in results)
    assert [t.tolist() for t in mint.unique(Tensor([3, 1, 3]), return_counts=True)] == [[1, 3], [1, 2]]


def test_random_arguments():
    ms.set_seed(1)
    assert (
        mint.randint(5, (3,)).shape
        == mint.randint(0, 5, (3,)).shape
        == mint.randint(low=0, high=5, size=(3,)).shape
        == (3,)
    )
    assert mint.rand(2, 3).shape == mint.randn((2, 3)).shape == (2, 3)
    a, b = (mint.rand(4, generator=ms.Generator().manual_seed(9)).tolist() for _ in range(2))
    assert a == b
    assert sorted(mint.randperm(6).tolist()) == list(range(6)) and mint.normal(0.0, 1.0, (2,)).shape == (2,)


LAYERS = [
    (lambda: mint.nn.Linear(8, 2), (2, 3, 8), (2, 3, 2)), (lambda: mint.nn.Conv2d(3, 4, 3, padding=1), (2, 3, 8, 8), (2, 4, 8, 8)),
    (lambda: mint.nn.Conv2d(4, 4, 3, stride=2, groups=2, bias=False), (2, 4, 9, 9), (2, 4, 4, 4)),
    (lambda: mint.nn.Conv2d(3, 4, 3, padding="same", padding_mode="reflect"), (2, 3, 8, 8), (2, 4, 8, 8)),
    (lambda: mint.nn.Conv1d(3, 4, 3), (2, 3, 8), (2, 4, 6)), (lambda: mint.nn.Conv3d(1, 2, 2), (1, 1, 4, 4, 4), (1, 2, 3, 3, 3)),
    (lambda: mint.nn.ConvTranspose2d(3, 2, 2, 2), (1, 3, 4, 4), (1, 2, 8, 8)), (lambda: mint.nn.GroupNorm(2, 4), (2, 4, 3), (2, 4, 3)),
    (lambda: mint.nn.BatchNorm2d(3), (2, 3, 4, 4), (2, 3, 4, 4)), (lambda: mint.nn.LayerNorm((4,)), (2, 4), (2, 4)),
    (lambda: mint.nn.MaxPool2d(2), (1, 1, 4, 4), (1, 1, 2, 2)), (lambda: mint.nn.AvgPool2d(2, 1), (1, 1, 4, 4), (1, 1, 3, 3)),
    (lambda: mint.nn.AdaptiveAvgPool2d(1), (1, 2, 5, 5), (1, 2, 1, 1)), (lambda: mint.nn.GELU(), (3,), (3,)),
    (lambda: mint.nn.ZeroPad2d(1), (1, 1, 2, 2), (1, 1, 4, 4)), (lambda: mint.nn.Flatten(), (2, 3, 4), (2, 12)),
    (lambda: mint.nn.PixelShuffle(2), (1, 4, 2, 2), (1, 1, 4, 4)), (lambda: mint.nn.Identity(1, 2), (3,), (3,)),
    (lambda: mint.nn.Upsample(scale_factor=2.0), (1, 1, 2, 2), (1, 1, 4, 4)), (lambda: mint.nn.Dropout(0.5), (3,), (3,)),
]  # fmt: skip


@pytest.mark.parametrize("i", range(len(LAYERS)))
def test_layer_shapes_in_both_modes(i):
    make, given, expected = LAYERS[i]
    x, net = Tensor(np.random.default_rng(0).normal(size=given).astype(np.float32)), make()
    eager = net(x)
    assert eager.shape == expected
    if not isinstance(net, (mint.nn.Dropout, mint.nn.BatchNorm2d)):
        np.testing.assert_allclose(ms.jit(net)(x).asnumpy(), eager.asnumpy(), 1e-4, 1e-5)


def test_batch_norm_names_and_running_statistics():
    net = mint.nn.BatchNorm2d(3)
    assert [p.name for p in net.get_parameters()] == [
        "weight",
        "bias",
        "running_mean",
        "running_var",
        "num_batches_tracked",
    ]
    x = Tensor(np.random.default_rng(0).normal(2, 3, (8, 3, 5, 5)).astype(np.float32))
    net.set_train()
    out = net(x).asnumpy()
    np.testing.assert_allclose(out.mean((0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(net.running_mean.asnumpy(), 0.1 * x.asnumpy().mean((0, 2, 3)), 1e-4)
    assert net.num_batches_tracked.item() == 1


def test_losses():
    logits, target = Tensor(np.log(np.array([[0.7, 0.3], [0.2, 0.8]], np.float32))), Tensor([0, 1])
    expected = -np.log([0.7, 0.8]).mean()
    np.testing.assert_allclose(mint.nn.CrossEntropyLoss()(logits, target).item(), expected, 1e-5)
    np.testing.assert_allclose(mint.nn.NLLLoss(reduction="sum")(logits, target).item(), 2 * expected, 1e-5)
    a, b = Tensor([1.0, 2.0]), Tensor([0.0, 0.0])
    assert mint.nn.MSELoss()(a, b).item() == 2.5 and mint.nn.L1Loss(reduction="none")(a, b).tolist() == [1, 2]
    assert mint.nn.SmoothL1Loss()(a, b).item() == 1.0
    with pytest.raises(ValueError, match="reduction"):
        mint.nn.MSELoss(reduction="average")


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (2, 3, 4), (2, 3, 4, 5)])
def test_softmax_of_layers_without_a_dimension(shape):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    axis = {0: (), 1: 0, 2: 1, 3: 0, 4: 1}[x.ndim]
    expected = np.exp(x) / np.exp(x).sum(axis, keepdims=True)
    functions = (mint.nn.functional.softmax, mint.nn.Softmax(), lambda t: mint.exp(mint.nn.functional.log_softmax(t)))
    for function in (*functions, lambda t: mint.exp(mint.nn.LogSoftmax()(t)), lambda t: mint.exp(mint.special.log_softmax(t))):
        np.testing.assert_allclose(function(Tensor(x)).asnumpy(), expected, 1e-5)
        np.testing.assert_allclose(ms.jit(function)(Tensor(x)).asnumpy(), expected, 1e-5)
