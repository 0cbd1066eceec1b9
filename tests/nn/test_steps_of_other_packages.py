"""Optimizers and training steps that other packages write on top of ours, in both modes."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, nn, ops

_update = ops.MultitypeFuncGraph("signed_momentum")


@_update.register("Tensor", "Tensor", "Tensor", "Tensor", "Tensor")
def _signed_momentum(beta, lr, weight, moment, gradient):
    moment = ops.depend(moment, ops.assign(moment, moment * beta + gradient * (1 - beta)))
    ops.assign(weight, weight - lr * ops.sign(moment))
    return True


class SignedMomentum(nn.Optimizer):
    """Steps of one size in the direction of a running mean, written as packages write their optimizers."""

    def __init__(self, params, learning_rate):
        super().__init__(learning_rate, params)
        self.beta = Tensor(0.5, ms.float32)
        self.moments = self.parameters.clone(prefix="moments", init="zeros")

    def construct(self, gradients):
        gradients = self._grad_sparse_indices_deduplicate(self.scale_grad(self.flatten_gradients(gradients)))
        lr = self.get_lr()
        if self._is_dynamic_lr_or_weight_decay():
            self.assignadd(self.global_step, self.global_step_increase_tensor)
        return self.hyper_map(ops.partial(_update, self.beta, lr), self.parameters, self.moments, gradients)


_unscale = ops.MultitypeFuncGraph("unscale")


@_unscale.register("Tensor", "Tensor")
def _unscale_tensor(scale, gradient):
    return gradient * ops.cast(ops.Reciprocal()(scale), gradient.dtype)


class ClippedStep(nn.TrainOneStepWithLossScaleCell):
    """A step that overrides `construct` and uses the tools of its base class."""

    def construct(self, *inputs):
        loss = self.network(*inputs)
        status, scale = self.start_overflow_check(loss, self.scale_sense)
        filled = ops.ones_like(loss) * ops.cast(scale, loss.dtype)
        gradients = self.grad(self.network, self.weights)(*inputs, filled)
        gradients = self.hyper_map(ops.partial(_unscale, scale), gradients)
        gradients = ops.clip_by_global_norm(self.grad_reducer(gradients), 1.0)
        overflow = self.process_loss_scale(self.get_overflow_status(status, gradients))
        if self.less_equal(ops.cast(overflow, ms.float32), self.base * 0):
            loss = ops.depend(loss, self.optimizer(gradients))
        return loss


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_an_optimizer_that_maps_over_parameters_and_gradients(mode):
    ms.set_context(mode=mode)
    weight = ms.Parameter(Tensor([1.0, -1.0]), name="weight")
    optimizer = SignedMomentum([weight], [0.5, 0.25, 0.125])
    for gradient in ([1.0, -1.0], [1.0, 5.0], [-4.0, 0.0]):
        optimizer((Tensor(gradient, ms.float32),))
    # running means: (.5, -.5), (.75, 2.25), (-1.625, 1.125)
    np.testing.assert_allclose(weight.asnumpy(), [1 - 0.5 - 0.25 + 0.125, -1 + 0.5 - 0.25 - 0.125])
    assert optimizer.global_step.asnumpy().item() == 3


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_a_step_with_a_construct_of_its_own(mode):
    ms.set_context(mode=mode)
    net = nn.Dense(2, 1, weight_init="zeros", has_bias=False)
    step = ClippedStep(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.5), Tensor(16.0))
    loss = step(Tensor([[3.0, 4.0]]), Tensor([[10.0]]))
    assert loss.asnumpy().item() == pytest.approx(100.0)
    np.testing.assert_allclose(net.weight.asnumpy(), [[0.3, 0.4]], rtol=1e-5)


def test_a_wrapper_takes_over_the_settings_of_its_network():
    net = ms.amp.auto_mixed_precision(nn.Dense(2, 1), "O2")
    wrapper = nn.WithLossCell(net, nn.MSELoss())
    wrapper._get_attr_from_cell(net)
    assert wrapper._amp_level == "O2"


def test_convolutions_built_from_what_layers_are_made_of():
    """MindONE's Conv1d is a mint Conv2d of another weight that calls the convolution itself; spectral norms call nn.Conv1d's parts."""

    class Conv1d(mint.nn.Conv2d):
        def construct(self, x):
            x = mint.nn.functional.pad(mint.unsqueeze(x, -2), self._reversed_padding, mode="circular")
            return mint.squeeze(self.conv2d(x, self.weight, self.bias, self.stride, (0, 0), self.dilation, self.groups), -2)

    rng = np.random.default_rng(5)
    x = rng.normal(size=(1, 2, 7)).astype(np.float32)
    layer = Conv1d(2, 3, (1, 3), padding=(0, 1))
    kernel, bias = layer.weight.asnumpy()[:, :, 0], layer.bias.asnumpy()
    wrapped = np.pad(x[0], ((0, 0), (1, 1)), mode="wrap")
    expected = np.stack([sum(np.correlate(wrapped[i], k[i], "valid") for i in range(2)) + b for k, b in zip(kernel, bias)])
    np.testing.assert_allclose(layer(Tensor(x)).asnumpy()[0], expected, rtol=1e-5, atol=1e-5)

    plain = nn.Conv1d(2, 3, 3)
    by_hand = plain.squeeze(plain.conv2d(plain.expand_dims(Tensor(x), 2), plain.weight))
    np.testing.assert_allclose(by_hand.asnumpy(), plain(Tensor(x)).asnumpy(), rtol=1e-6)


def test_a_transposed_convolution_of_a_wanted_size():
    layer = mint.nn.ConvTranspose2d(1, 1, 3, stride=2, bias=False)
    x = Tensor(np.ones((1, 1, 4, 4), np.float32))
    assert layer(x).shape == (1, 1, 9, 9) and layer(x, output_size=(10, 9)).shape == (1, 1, 10, 9)
    with pytest.raises(ValueError, match="from 9 to 10"):
        layer(x, output_size=(11, 9))
