"""Cells that make training and evaluation steps."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

X = np.array([[1.0, 2.0], [3.0, -1.0]], np.float32)
Y = np.array([[1.0], [0.0]], np.float32)
W = np.array([[0.5, -0.25]], np.float32)


class Linear(nn.Cell):
    def __init__(self, weight=W, dtype=ms.float32):
        super().__init__()
        self.weight = Parameter(Tensor(weight, dtype), name="weight")

    def construct(self, x):
        return ops.matmul(x, self.weight.T)


class MeanSquare(nn.Cell):
    def construct(self, prediction, label):
        return ops.reduce_mean(ops.square(prediction - label))


def loss_and_gradient(weight):
    error = X @ weight.T - Y
    return (error**2).mean(), (2 / len(X)) * (error.T @ X)


def network():
    return nn.WithLossCell(Linear(), MeanSquare())


def sgd(net, **kwargs):
    return nn.SGD(net.trainable_params(), 0.1, **kwargs)


@pytest.mark.parametrize("sens", [None, 64.0])
def test_training_steps_follow_the_gradient(sens, mode):
    net = network()
    step = nn.TrainOneStepCell(net, sgd(net, loss_scale=sens or 1.0), sens)
    weight = W.astype(np.float64)
    for _ in range(3):
        loss, gradient = loss_and_gradient(weight)
        assert step(Tensor(X), Tensor(Y)).asnumpy() == pytest.approx(loss, rel=1e-5)
        weight = weight - 0.1 * gradient
        np.testing.assert_allclose(net.backbone_network.weight.asnumpy(), weight, rtol=1e-5)


def test_training_steps_return_gradients_by_name(mode):
    net = network()
    _, gradients = nn.TrainOneStepCell(net, sgd(net), return_grad=True)(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(gradients["weight"].asnumpy(), loss_and_gradient(W)[1], rtol=1e-5)


def test_a_step_is_one_forward_pass_with_its_own_random_numbers():
    class Noisy(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls = 0
            self.weight = Parameter(Tensor(2.0), name="weight")

        def construct(self, x):
            self.calls += 1
            return (x * self.weight).sum()

    net = Noisy()
    nn.TrainOneStepCell(net, sgd(net))(Tensor(X))
    assert net.calls == 1


def test_steps_of_users(mode):
    class Clipped(nn.TrainOneStepCell):
        def construct(self, *inputs):
            loss = self.network(*inputs)
            sens = ops.fill(loss.dtype, loss.shape, self.sens)
            gradients = self.grad(self.network, self.weights)(*inputs, sens)
            gradients = ops.clip_by_value(gradients, Tensor(-0.1), Tensor(0.1))
            gradients = self.grad_reducer(gradients)
            return ops.depend(loss, self.optimizer(gradients))

    net = network()
    Clipped(net, sgd(net))(Tensor(X), Tensor(Y))
    clipped = np.clip(loss_and_gradient(W)[1], -0.1, 0.1)
    np.testing.assert_allclose(net.backbone_network.weight.asnumpy(), W - 0.1 * clipped, rtol=1e-5)


@pytest.mark.parametrize("make", [lambda: Tensor(64.0), lambda: nn.FixedLossScaleUpdateCell(64.0)])
def test_fixed_scales(make, mode):
    net = network()
    loss, overflow, scale = nn.TrainOneStepWithLossScaleCell(net, sgd(net), make())(Tensor(X), Tensor(Y))
    expected, gradient = loss_and_gradient(W)
    assert (loss.asnumpy(), overflow.asnumpy(), scale.asnumpy()) == (pytest.approx(expected, rel=1e-5), False, 64)
    np.testing.assert_allclose(net.backbone_network.weight.asnumpy(), W - 0.1 * gradient, rtol=1e-5)


def test_a_step_that_overflows_is_left_out_and_lowers_the_scale(mode):
    net = nn.WithLossCell(Linear(dtype=ms.float16), MeanSquare())
    manager = nn.DynamicLossScaleUpdateCell(loss_scale_value=2**20, scale_factor=4, scale_window=2)
    step = nn.TrainOneStepWithLossScaleCell(net, sgd(net), manager)
    data = Tensor(X, ms.float16), Tensor(Y, ms.float16)
    seen = []
    for _ in range(7):
        before = net.backbone_network.weight.asnumpy()
        _, overflow, scale = step(*data)
        moved = not np.array_equal(before, net.backbone_network.weight.asnumpy())
        assert moved != bool(overflow.asnumpy())
        seen.append((float(scale.asnumpy()), bool(overflow.asnumpy())))
    scales, overflows = zip(*seen)
    first_good = overflows.index(False)
    assert first_good >= 1
    assert scales[: first_good + 1] == tuple(2.0**20 / 4**i for i in range(first_good + 1))
    assert max(scales[first_good + 1 :]) == 4 * scales[first_good]  # grew after two good steps


def test_dynamic_scale_rule(mode):
    scale = Parameter(Tensor(4.0), name="scale")
    manager = nn.DynamicLossScaleUpdateCell(4, 2, 3)
    assert manager.get_loss_scale() == 4
    found = []
    for overflow in (False, False, False, True, True, True, True, False, False, False):
        manager(scale, Tensor(overflow))
        found.append(scale.asnumpy().item())
    assert found == [4, 4, 8, 4, 2, 1, 1, 1, 1, 2]


def test_scales_that_are_refused():
    net = network()
    with pytest.raises(TypeError):
        nn.TrainOneStepWithLossScaleCell(net, sgd(net), 64.0)
    with pytest.raises(ValueError):
        nn.TrainOneStepWithLossScaleCell(net, sgd(net), Tensor([1.0, 2.0]))
    with pytest.raises(ValueError):
        nn.TrainOneStepCell(net, sgd(net), sens=0)
    step = nn.TrainOneStepWithLossScaleCell(net, sgd(net), Tensor(64.0))
    step.set_sense_scale(Tensor(8.0))
    assert step.scale_sense.asnumpy() == 8
    with pytest.raises(TypeError):
        step.set_sense_scale(8.0)


def test_gradients_of_a_network(mode):
    expected = loss_and_gradient(W)[1]
    (gradient,) = nn.WithGradCell(Linear(), MeanSquare())(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(gradient.asnumpy(), expected, rtol=1e-5)
    (gradient,) = nn.WithGradCell(network(), sens=Tensor(3.0))(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(gradient.asnumpy(), 3 * expected, rtol=1e-5)


def test_value_and_gradients(mode):
    net = network()
    loss, expected = loss_and_gradient(W)
    weights = ms.ParameterTuple(net.trainable_params())
    value, (gradient,) = nn.ForwardValueAndGrad(net, weights, get_by_list=True)(Tensor(X), Tensor(Y))
    assert value.asnumpy() == pytest.approx(loss, rel=1e-5)
    np.testing.assert_allclose(gradient.asnumpy(), expected, rtol=1e-5)
    both = nn.ForwardValueAndGrad(net, weights, get_all=True, get_by_list=True, sens_param=True)
    value, (inputs, (gradient,)) = both(Tensor(X), Tensor(Y), Tensor(2.0))
    np.testing.assert_allclose(gradient.asnumpy(), 2 * expected, rtol=1e-5)
    np.testing.assert_allclose(inputs[0].asnumpy(), 2 * (X @ W.T - Y) @ W, rtol=1e-5)
    for wrong in ({"network": 1}, {"network": net, "get_all": 1}, {"network": net, "get_by_list": True}):
        with pytest.raises(TypeError):
            nn.ForwardValueAndGrad(**wrong)


def test_evaluation_steps(mode):
    loss, output, label = nn.WithEvalCell(Linear(), MeanSquare())(Tensor(X), Tensor(Y))
    assert loss.asnumpy() == pytest.approx(loss_and_gradient(W)[0], rel=1e-5)
    np.testing.assert_allclose(output.asnumpy(), X @ W.T, rtol=1e-5)
    np.testing.assert_array_equal(label.asnumpy(), Y)
    lowered = nn.WithEvalCell(Linear(dtype=ms.float16), MeanSquare(), add_cast_fp32=True)
    assert [t.dtype for t in lowered(Tensor(X, ms.float16), Tensor(Y, ms.float16))] == [ms.float32] * 3
    with pytest.raises(TypeError):
        nn.WithEvalCell(Linear(), MeanSquare(), add_cast_fp32=1)


@pytest.mark.parametrize("wrap", [nn.MicroBatchInterleaved, nn.GradAccumulationCell, nn.PipelineCell])
def test_batches_in_parts_add_up(wrap, mode):
    net = wrap(network(), 2)
    parts = sum(((X[i : i + 1] @ W.T - Y[i : i + 1]) ** 2).mean() for i in range(2))
    assert net(Tensor(X), Tensor(Y)).asnumpy() == pytest.approx(parts, rel=1e-5)
    with pytest.raises(ValueError, match="multiple of 2"):
        net(Tensor(X[:1]), Tensor(Y[:1]))
    for wrong, error in ((0, ValueError), (1.5, TypeError)):
        with pytest.raises(error):
            wrap(network(), wrong)


def test_pipeline_stages_are_set_by_name():
    net = nn.SequentialCell(Linear(), Linear(np.ones((1, 1), np.float32)))
    nn.PipelineCell(net, 2, stage_config={"0": 0, "1": 1})
    assert [net[0].pipeline_stage, net[1].pipeline_stage] == [0, 1]
    with pytest.raises(KeyError, match="not in the network"):
        nn.PipelineCell(net, 2, stage_config={"2": 0})


def test_small_wrappers(mode):
    parameter = Parameter(Tensor([1.0]), name="p")
    assert nn.ParameterUpdate(parameter)(Tensor([5.0])).asnumpy() == parameter.asnumpy() == 5
    with pytest.raises(TypeError):
        nn.ParameterUpdate(Tensor([1.0]))
    gradients = (Tensor([2.0]), Tensor([4.0]))
    params = [Parameter(Tensor([0.0]), name=n) for n in "ab"]
    assert [g.asnumpy().item() for g in nn.DistributedGradReducer(params)(gradients)] == [2, 4]
    halved = nn.DistributedGradReducer(params, mean=True, degree=2)(gradients)
    assert [g.asnumpy().item() for g in halved] == [1, 2]
    with pytest.raises(ValueError):
        nn.DistributedGradReducer(params, degree=0)
