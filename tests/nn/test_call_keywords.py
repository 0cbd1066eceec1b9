"""Layers and functions called by the documented names of their arguments."""

import inspect

import numpy as np
import pytest

import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Tensor, mint, nn, ops

X = Tensor(np.array([[0.25, 0.5], [0.75, 1.0]], np.float32))


@pytest.mark.parametrize(
    "layer, names",
    [
        (nn.Softmax(), "input"), (nn.Identity(), "input"), (nn.HShrink(), "input"), (nn.SoftShrink(), "input"),
        (nn.RReLU(), "x"), (nn.MatDet(), "a"), (nn.MatInverse(), "a"), (nn.DropoutExt(), "input"),
        (nn.BCEWithLogitsLoss(), "input target"), (nn.L1LossExt(), "logits labels"), (mint.nn.MSELoss(), "input target"),
        (mint.nn.KLDivLoss(), "input target"), (mint.nn.CrossEntropyLoss(), "input target"),
    ],
)  # fmt: skip
def test_layers(layer, names):
    names = names.split()
    by_name = layer(**dict.fromkeys(names, X)).asnumpy()
    if not isinstance(layer, (nn.RReLU,)):
        np.testing.assert_array_equal(by_name, layer(*[X] * len(names)).asnumpy())


@pytest.mark.parametrize(
    "result, wanted",
    [
        (lambda: X.multiply(value=2), X.asnumpy() * 2),
        (lambda: X.float_power(other=2.0), X.asnumpy().astype(np.float64) ** 2),
        (lambda: X.approximate_equal(other=X), np.ones((2, 2), bool)),
        (lambda: X.reverse_sequence(Tensor([2, 1]), batch_dim=1), np.array([[0.75, 0.5], [0.25, 1.0]])),
        (lambda: mnp.arccos(input=X), np.arccos(X.asnumpy())),
        (lambda: mnp.negative(a=X), -X.asnumpy()),
        (lambda: ops.bessel_i0(x=X), np.i0(X.asnumpy())),
        (lambda: mint.nn.functional.threshold_(input=X + 0, threshold=0.6, value=9.0), [[9, 9], [0.75, 1]]),
        (
            lambda: mint.nn.functional.batch_norm(
                input=X, running_mean=ops.zeros(2), running_var=ops.ones(2), eps=1e-7
            ),
            X.asnumpy(),
        ),
    ],
)
def test_functions(result, wanted):
    np.testing.assert_allclose(result().asnumpy(), wanted, rtol=1e-5)


def test_constructors_show_their_arguments():
    assert str(inspect.signature(mint.nn.AvgPool1d)).startswith("(kernel_size, stride=None, padding=0")
    assert list(inspect.signature(mint.nn.BCEWithLogitsLoss).parameters) == ["weight", "reduction", "pos_weight"]


def test_output_size_of_transposed_convolution():
    layer = mint.nn.ConvTranspose2d(1, 1, 3, stride=2, padding=1)
    x = Tensor(np.ones((1, 1, 4, 4), np.float32))
    assert layer(x).shape == (1, 1, 7, 7)
    assert layer(x, output_size=(8, 7)).shape == layer(x, output_size=[1, 1, 8, 7]).shape == (1, 1, 8, 7)
    with pytest.raises(ValueError, match="from 7 to 8"):
        layer(x, output_size=(9, 9))


def test_cosine_embedding_loss():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    loss = mint.nn.CosineEmbeddingLoss(margin=0.5)(input1=X, input2=X, target=Tensor([1, -1]))
    np.testing.assert_allclose(loss.asnumpy(), 0.25, rtol=1e-5)
    with pytest.raises(ValueError, match="reduction"):
        mint.nn.CosineEmbeddingLoss(reduction="median")
