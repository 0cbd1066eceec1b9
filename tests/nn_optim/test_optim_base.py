"""What all optimizers share: groups, rates, weight decay, loss scale, arguments, errors."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.nn.optim.optimizer import opt_init_args_register


def params(*names, shape=(2,)):
    return [Parameter(Tensor(np.ones(shape, np.float32)), name=n) for n in names]


def ones(count=1, shape=(2,)):
    return (Tensor(np.ones(shape, np.float32)),) * count


def test_rates_of_a_list_follow_the_steps(mode):
    (p,) = params("p")
    optimizer = nn.SGD([p], learning_rate=[0.5, 0.25, 0.125])
    for expected in (0.5, 0.25, 0.125):
        assert optimizer.get_lr().asnumpy().item() == pytest.approx(expected)
        optimizer(ones())
    np.testing.assert_allclose(p.asnumpy(), 1 - 0.875)
    assert optimizer.global_step.asnumpy().tolist() == [3]


@pytest.mark.parametrize(
    "rate", [0.5, 1, Tensor(0.5), np.array([0.5, 0.4]), (r for r in (0.5, 0.4)), nn.CosineDecayLR(0.1, 0.5, 3)]
)
def test_kinds_of_rates(rate):
    optimizer = nn.SGD(params("p"), rate)
    assert optimizer.get_lr().asnumpy().item() == pytest.approx(1.0 if isinstance(rate, int) else 0.5)


@pytest.mark.parametrize(
    ("rate", "error"), [("0.1", ValueError), (None, TypeError), (-0.1, ValueError), (Tensor([[0.1]]), ValueError)]
)
def test_rates_that_are_refused(rate, error):
    with pytest.raises(error):
        nn.SGD(params("p"), rate)


def test_weight_decay_spares_normalisation_and_is_free_of_the_loss_scale(mode):
    group = params("conv.weight", "bn.gamma", "bn.beta")
    nn.SGD(group, 0.1, weight_decay=0.5, loss_scale=8.0)((Tensor(np.zeros(2, np.float32)),) * 3)
    assert [p.asnumpy()[0] for p in group] == pytest.approx([0.95, 1.0, 1.0])


def test_groups_set_rate_and_decay_and_order(mode):
    a, b, c = params("a", "b", "c")
    groups = [{"params": [c, a], "lr": 0.5}, {"params": [b], "weight_decay": 1.0}, {"order_params": [a, b, c]}]
    optimizer = nn.SGD(groups, 0.1)
    assert [p.name for p in optimizer.parameters] == ["a", "b", "c"]
    optimizer(tuple(Tensor(np.full(2, g, np.float32)) for g in (1, 2, 3)))
    assert [p.asnumpy()[0] for p in (a, b, c)] == pytest.approx([0.5, 1 - 0.1 * 3, 1 - 0.5 * 3])


def test_rate_parameters_can_be_found_and_changed(mode):
    a, b = params("a", "b")
    optimizer = nn.SGD([{"params": [a], "lr": 0.5}, {"params": [b]}], 0.1)
    holder = optimizer.get_lr_parameter(a)
    assert holder.name == "learning_rate_group_0"
    assert [p.name for p in optimizer.get_lr_parameter([b, a])] == ["learning_rate", "learning_rate_group_0"]
    holder.set_data(Tensor(0.25, ms.float32))
    optimizer(ones(2))
    assert a.asnumpy()[0] == pytest.approx(0.75)
    with pytest.raises(ValueError, match="not in the optimizer"):
        optimizer.get_lr_parameter(params("other")[0])
    with pytest.raises(TypeError):
        optimizer.get_lr_parameter("a")


def test_gradient_centralization(mode):
    rng = np.random.default_rng(3)
    wide, narrow = (Parameter(Tensor(np.zeros(s, np.float32)), name=f"p{s[1]}") for s in ((3, 16), (3, 5)))
    optimizer = nn.SGD([{"params": [wide, narrow], "grad_centralization": True}], 1.0)
    grads = [rng.normal(size=p.shape).astype(np.float32) for p in (wide, narrow)]
    optimizer(tuple(map(Tensor, grads)))
    np.testing.assert_allclose(wide.asnumpy(), grads[0].mean(1, keepdims=True) - grads[0], atol=1e-6)
    np.testing.assert_allclose(narrow.asnumpy(), -grads[1], atol=1e-6)  # only multiples of 16


@pytest.mark.parametrize(
    ("groups", "error"),
    [
        ([{"params": "unknown", "rate": 1}], KeyError),
        ([{"lr": 0.1}], KeyError),
        ([{"params": []}], ValueError),
        ([{"params": [1]}], TypeError),
        ([{"order_params": [], "lr": 1}], ValueError),
        ([{"order_params": 1}], TypeError),
        ([], ValueError),
        (None, ValueError),
        (3, TypeError),
        ([1, 2], TypeError),
    ],
)
def test_groups_that_are_refused(groups, error):
    with pytest.raises(error):
        nn.SGD(groups, 0.1)


def test_groups_must_agree():
    a, b = params("a", "b")
    with pytest.raises(RuntimeError, match="more than once"):
        nn.SGD([{"params": [a]}, {"params": [a]}], 0.1)
    with pytest.raises(ValueError, match="as many"):
        nn.SGD([{"params": [a, b]}, {"order_params": [a]}], 0.1)
    with pytest.raises(ValueError, match="in no group"):
        nn.SGD([{"params": [a]}, {"order_params": [b]}], 0.1)
    with pytest.raises(ValueError, match="same length"):
        nn.SGD([{"params": [a], "lr": [0.1, 0.2]}, {"params": [b]}], [0.1, 0.2, 0.3])
    with pytest.raises(TypeError, match="grad_centralization"):
        nn.SGD([{"params": [a], "grad_centralization": 1}], 0.1)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda p: nn.Momentum(p, 0.1, 1), TypeError),
        (lambda p: nn.Momentum(p, 0.1, -0.9), ValueError),
        (lambda p: nn.Momentum(p, 0.1, 0.9, use_nesterov=1), TypeError),
        (lambda p: nn.SGD(p, 0.1, nesterov=True), ValueError),
        (lambda p: nn.SGD(p, 0.1, dampening=-1.0), ValueError),
        (lambda p: nn.SGD(p, 0.1, weight_decay=nn.WarmUpLR(0.1, 2)), TypeError),
        (lambda p: nn.Adam(p, beta1=1.0), ValueError),
        (lambda p: nn.Adam(p, beta1="1"), TypeError),
        (lambda p: nn.Adam(p, eps=0.0), ValueError),
        (lambda p: nn.Adam(p, use_lazy=True, use_offload=True), ValueError),
        (lambda p: nn.Adam(p, use_lazy=True, use_amsgrad=True), ValueError),
        (lambda p: nn.Adam(p, lazy=True), KeyError),
        (lambda p: nn.Adam(p, loss_scale=0.0), ValueError),
        (lambda p: nn.Adam(p, weight_decay=-0.1), ValueError),
        (lambda p: nn.Adam(p, weight_decay="0.1"), TypeError),
        (lambda p: nn.Adagrad(p, accum=-0.1), ValueError),
        (lambda p: nn.RMSProp(p, epsilon=0.0), ValueError),
        (lambda p: nn.FTRL(p, lr_power=0.5), ValueError),
        (lambda p: nn.FTRL(p, learning_rate=[0.1, 0.2]), ValueError),
        (lambda p: nn.Adadelta(p, rho=1.5), ValueError),
        (lambda p: nn.Rprop(p, etas=[0.5, 1.2]), TypeError),
        (lambda p: nn.Rprop(p, etas=(0.5, 0.9)), ValueError),
        (lambda p: nn.Rprop(p, step_sizes=(2.0, 1.0)), ValueError),
        (lambda p: nn.ASGD(p, t0=1), TypeError),
        (lambda p: nn.AdaFactor(p, learning_rate=0.1), ValueError),
        (lambda p: nn.AdaFactor(p, eps=(1e-30,)), ValueError),
        (lambda p: nn.AdaFactor(p, relative_step=False, warmup_init=True, learning_rate=0.1), ValueError),
        (lambda p: nn.LARS("SGD"), TypeError),
    ],
)
def test_arguments_that_are_refused(make, error):
    with pytest.raises(error):
        make(params("p"))


def test_optimizers_of_users(mode):
    class SignDescent(nn.Optimizer):
        def __init__(self, params, lr):
            super().__init__(lr, params, weight_decay=0.5)
            self.sign = ops.Sign()

        def construct(self, gradients):
            gradients = self.scale_grad(self.decay_weight(gradients))
            lr = self.get_lr()
            for i in range(self.param_length):
                ops.assign_sub(self.parameters[i], lr * self.sign(gradients[i]))
            self.assignadd(self.global_step, self.global_step_increase_tensor)
            return True

    (p,) = params("p")
    assert SignDescent([p], 0.25)((Tensor(np.array([-3.0, 0.0], np.float32)),))
    np.testing.assert_allclose(p.asnumpy(), [1.25, 0.75])


def test_an_optimizer_without_a_rule_says_so():
    with pytest.raises(NotImplementedError, match="neither 'update' nor 'construct'"):
        nn.Optimizer(0.1, params("p"))(ones())


def test_arguments_of_the_constructor_are_kept():
    optimizer = nn.Momentum(params("p"), Tensor([0.1, 0.2]), 0.9)
    assert optimizer.init_learning_rate == pytest.approx([0.1, 0.2])
    assert optimizer.init_args["momentum"] == 0.9
    assert [p.name for p in optimizer.init_params["params"]] == ["p"]
    assert nn.SGD(params("p"), nn.WarmUpLR(0.1, 2)).init_learning_rate is None
    assert opt_init_args_register(lambda self, a=1: None).__wrapped__.__name__ == "<lambda>"


def test_target_and_unique():
    optimizer = nn.Adam(params("p"))
    optimizer.target = "CPU"
    optimizer.unique = False
    assert (optimizer.target, optimizer.unique) == ("CPU", False)
    for value, error in (("TPU", ValueError), (1, TypeError)):
        with pytest.raises(error):
            optimizer.target = value
    with pytest.raises(TypeError):
        optimizer.unique = 1


def test_state_survives_a_checkpoint(tmp_path):
    first = nn.Adam(params("p"), 0.1)
    first(ones())
    ms.save_checkpoint(first, str(tmp_path / "adam.ckpt"))
    second = nn.Adam(params("p"), 0.1)
    ms.load_param_into_net(second, ms.load_checkpoint(str(tmp_path / "adam.ckpt")))
    first(ones())
    second(ones())
    np.testing.assert_array_equal(first.parameters[0].asnumpy(), second.parameters[0].asnumpy())


def test_the_base_class_has_no_step():
    base = nn.Optimizer(0.5, [Parameter(Tensor([1.0]), name="w")])
    with pytest.raises(NotImplementedError):
        base.construct()
    with pytest.raises(RuntimeError, match="'grad' must have the shape of 'var'"):
        nn.Adam([Parameter(Tensor([1.0]), name="w")])((Tensor([[1.0, 2.0]]),))


@pytest.mark.parametrize(("given", "error", "hint"), [
    ((nn.Dense(2, 1), 0.1), TypeError, "net.trainable_params()"),
    (([], 0.1), ValueError, "nn.CellList"),
    ((nn.Dense(2, 1).trainable_params(), "0.1"), ValueError, "'learning_rate' must be .*but got str"),
])  # fmt: skip
def test_a_mistake_is_told_with_what_to_do(given, error, hint):
    with pytest.raises(error, match=hint):
        nn.SGD(*given)
