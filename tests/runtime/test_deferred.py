"""Deferred operations of PyNative mode against the same on NumPy: those of an accelerator, rehearsed on JAX's CPU device, and
those of the host (`pynative_deferred`)."""

import os
import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.runtime import deferred, devices
from mindspore.runtime.device_kinds import DeferringCpu

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True, params=["accelerator", "host"])
def device(request):
    saved = devices.current()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    if request.param == "host":
        devices.use(DeferringCpu("CPU", blocking=False))
    else:
        devices.use(devices.XlaDevice("GPU", jax.devices("cpu")[0]))
    yield devices.current()
    devices.use(saved)


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def on_numpy(function):
    """What `function()` gives where operations run at once on the host."""
    saved = devices.current()
    devices.use(devices.NumpyDevice())
    try:
        return function()
    finally:
        devices.use(saved)


def pending(tensor):
    return type(tensor._data) is deferred.DeferredArray and tensor._data.is_pending


def test_an_operation_waits_until_its_value_is_looked_at():
    x = Tensor(random(3, 4))
    y = ops.exp(x) + 1
    assert pending(y) and y.shape == (3, 4) and y.dtype == ms.float32
    np.testing.assert_allclose(y.asnumpy(), np.exp(random(3, 4)) + 1, rtol=1e-5)
    assert not pending(y)


def test_wrong_arguments_are_refused_at_the_call():
    with pytest.raises(ValueError, match="MatMul"):
        ops.matmul(Tensor(random(3, 4)), Tensor(random(3, 4)))


def train(steps, rate=0.1):
    ms.set_seed(1)
    net = nn.SequentialCell(
        nn.Conv2d(1, 4, 3, weight_init=Tensor(random(4, 1, 3, 3, seed=3))), nn.BatchNorm2d(4), nn.ReLU(),
        nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(64, 5, weight_init=Tensor(random(5, 64, seed=4) * 0.1)),
    )  # fmt: skip
    net.set_train()
    optimizer = nn.Adam(net.trainable_params(), rate)
    step = ms.value_and_grad(lambda a, b: ops.cross_entropy(net(a), b), None, optimizer.parameters)
    x, y = Tensor(random(6, 1, 8, 8)), Tensor(np.arange(6, dtype=np.int32) % 5)
    losses = []
    for _ in range(steps):
        loss, grads = step(x, y)
        optimizer(grads)
        losses.append(loss)
    return [float(v) for v in losses] + [float(net[1].moving_mean.sum())]


def test_training_agrees_with_numpy(device):
    expected = on_numpy(lambda: train(6))
    np.testing.assert_allclose(train(6), expected, rtol=2e-4)
    plans = device.engine._plans.values()
    assert sum(p.program is not None for p in plans) >= 1  # the steps after the first were one program each
    assert len(plans) <= 6


def test_a_number_that_changes_becomes_an_input(device):
    x = Tensor(random(5))
    for rate in (0.1, 0.2, 0.3, 0.4, 0.5):
        np.testing.assert_allclose((x * rate + 1).asnumpy(), random(5) * np.float32(rate) + 1, rtol=1e-6)
    (plan,) = device.engine._plans.values()
    assert len(plan.constants) == 1  # the 1, not the rate


def test_constants_differ_by_sign_of_zero_and_nan():
    x = Tensor(np.ones(2, np.float32))
    for number in (0.0, -0.0, float("nan"), 0.0, -0.0):
        np.testing.assert_array_equal(np.signbit((x * number).asnumpy()), np.signbit(np.ones(2, np.float32) * number))


def test_updates_in_place_are_seen_in_order():
    p = Parameter(Tensor(np.ones(3, np.float32)), name="p")

    def run(x):
        before = (p * x).sum()
        ops.assign_add(p, x)
        return before + (p * x).sum()

    value, grad = ms.value_and_grad(run, 0)(Tensor(np.full(3, 2.0, np.float32)))
    assert float(value) == 3 * 2 + 3 * 3 * 2
    np.testing.assert_allclose(grad.asnumpy(), [1 + 3] * 3)  # nothing flows into what was assigned to a Parameter
    np.testing.assert_allclose(p.asnumpy(), [3] * 3)


def test_second_derivatives_and_hooks():
    seen = []
    x = Tensor(random(4))

    def cube(v):
        w = v * v
        w.register_hook(lambda g: seen.append(g.asnumpy()))
        return (w * v).sum()

    np.testing.assert_allclose(ms.grad(cube)(x).asnumpy(), 3 * random(4) ** 2, rtol=1e-5)
    np.testing.assert_allclose(seen[0], random(4), rtol=1e-6)
    second = ms.grad(lambda v: ms.grad(lambda u: (u * u * u).sum())(v).sum())(x)
    np.testing.assert_allclose(second.asnumpy(), 6 * random(4), rtol=1e-5)


def test_values_decide_the_course_of_python():
    x, count = Tensor(np.float32(1.0)), 0
    while x < 100:
        x, count = x * 2, count + 1
    assert float(x) == 128 and count == 7
    assert Tensor(random(6))[Tensor(random(6) > 0)].shape == ((random(6) > 0).sum(),)


def test_random_numbers_are_those_of_the_host():
    def draw():
        ms.set_seed(3)
        return [ops.rand(4).asnumpy(), ops.dropout(Tensor(random(50)), 0.5, training=True).asnumpy()]

    for a, b in zip(draw(), on_numpy(draw)):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_a_graph_takes_what_is_not_computed_yet():
    y = ops.tanh(Tensor(random(3, 3)))
    ms.set_context(backend="xla")
    try:
        np.testing.assert_allclose(ms.jit(lambda v: v @ v)(y).asnumpy(), np.tanh(random(3, 3)) @ np.tanh(random(3, 3)), rtol=1e-5)
    finally:
        ms.set_context(backend="")


def test_long_sequences_are_run_in_parts(monkeypatch, device):
    monkeypatch.setattr(device, "longest", 10)
    x = Tensor(np.zeros(3, np.float32))
    for _ in range(57):
        x = x + 1
    np.testing.assert_array_equal(x.asnumpy(), [57] * 3)


def test_threads_have_sequences_of_their_own():
    shared, results = ops.exp(Tensor(random(8))), {}

    def work(k):
        results[k] = ((shared * k).sum() + k).asnumpy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(8):
        np.testing.assert_allclose(results[k], np.exp(random(8)).sum() * k + k, rtol=1e-5)


def test_what_nobody_holds_is_not_computed_for_keeping(device):
    x = Tensor(random(4))
    for _ in range(2):
        y = x
        for _ in range(5):
            y = ops.sin(y)
        y.asnumpy()
    (plan,) = device.engine._plans.values()
    assert len(plan.wanted) == 1


def test_an_error_while_running_reaches_every_result(device, monkeypatch):
    a = Tensor(random(3)) + 1
    b = a * 2
    monkeypatch.setattr(device.engine, "execute", lambda *_: (_ for _ in ()).throw(MemoryError("no memory left")))
    with pytest.raises(MemoryError):
        a.asnumpy()
    with pytest.raises(MemoryError):
        b.asnumpy()
    monkeypatch.undo()
    np.testing.assert_allclose((Tensor(random(3)) + 1).asnumpy(), random(3) + 1, rtol=1e-6)


def test_an_index_out_of_range_is_reported_when_a_value_is_looked_at(device):
    if device.is_host:
        with pytest.raises(IndexError, match="7"):  # the host need not wait for anybody
            ops.gather(Tensor(random(4, 3)), ops.relu(Tensor(np.array([1, 7], np.int32))), 0)
        return
    table, index = Tensor(random(4, 3)), ops.relu(Tensor(np.array([1, 7], np.int32)))
    found = ops.gather(table, index, 0)  # nobody waits for the check
    later = found * 2
    with pytest.raises(IndexError, match="7") as caught:
        later.asnumpy()
    assert "test_deferred.py" in "".join(caught.value.__notes__)
    np.testing.assert_allclose((Tensor(random(3)) + 1).asnumpy(), random(3) + 1, rtol=1e-6)


def test_indices_of_the_host_are_tested_at_once():
    with pytest.raises(IndexError, match="7"):
        ops.gather(Tensor(random(4, 3)), Tensor(np.array([1, 7], np.int32)), 0)


@pytest.mark.parametrize("device", ["accelerator"], indirect=True)
def test_a_graph_reports_late_and_leaves_its_weights_alone(device):
    ms.set_context(mode=ms.GRAPH_MODE, backend="xla")
    try:
        net = nn.Dense(3, 4)
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        gradient = ms.value_and_grad(lambda a, b: ops.cross_entropy(net(a), b), None, optimizer.parameters)

        @ms.jit
        def step(a, b):
            loss, grads = gradient(a, b)
            optimizer(grads)
            return loss

        x = Tensor(random(2, 3))
        step(x, Tensor(np.array([0, 3], np.int32)))
        before = net.weight.asnumpy().copy()
        loss = step(x, Tensor(np.array([0, 9], np.int32)))
        with pytest.raises((ValueError, IndexError), match="9"):
            loss.asnumpy()
        np.testing.assert_array_equal(net.weight.asnumpy(), before)
        step(x, Tensor(np.array([1, 2], np.int32))).asnumpy()
        assert (net.weight.asnumpy() != before).any()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE, backend="")


# -- the host -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("device", ["host"], indirect=True)  # JAX on a CPU takes memory as it is; an accelerator copies
def test_what_is_written_to_shared_memory_later_does_not_count(device):
    array = np.ones(3, np.float32)
    shared, own = Tensor.from_numpy(array), Tensor(np.ones(3, np.float32))
    seen = own.asnumpy()
    sums = [shared + 1, own + 1]
    array[:] = seen[:] = 50
    for found in sums:
        np.testing.assert_array_equal(found.asnumpy(), [2, 2, 2])


def test_results_that_are_looked_at_are_memory_of_the_tensor():
    ms.set_context(pynative_deferred=True)
    y = Tensor(np.ones(3, np.float32)) + 1
    y.asnumpy()[:] = 7
    np.testing.assert_array_equal((y * 2).asnumpy(), [14, 14, 14])


@pytest.mark.parametrize("device", ["host"], indirect=True)
def test_a_graph_that_updates_weights_leaves_what_waits_alone(device):
    p = Parameter(Tensor(np.ones(3, np.float32)), name="p")

    @ms.jit
    def step(x):
        ops.assign_add(p, x)
        return p.sum()

    one = Tensor(np.ones(3, np.float32))
    for turn in range(3):
        before = p * 10  # waits while the graph writes to the weight
        assert float(step(one)) == 3 * (turn + 2)
        np.testing.assert_array_equal(before.asnumpy(), [10 * (turn + 1)] * 3)


def test_the_setting_takes_effect_and_leaves_nothing_behind():
    ms.set_context(pynative_deferred=True)
    y = Tensor(random(4)) * 2
    assert pending(y)
    ms.set_context(pynative_deferred=False)
    assert not pending(y)
    z = y + 1
    assert type(z._data) is np.ndarray
    np.testing.assert_allclose(z.asnumpy(), random(4) * 2 + 1, rtol=1e-6)


@pytest.mark.parametrize("device", ["host"], indirect=True)
def test_a_child_process_has_the_values_of_what_waits(device):
    y = ops.tanh(Tensor(random(64, 64)) @ Tensor(random(64, 64)))
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, np.float64(y.asnumpy().astype(np.float64).sum()).tobytes())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    (total,) = np.frombuffer(os.read(read, 8))
    np.testing.assert_allclose(total, y.asnumpy().astype(np.float64).sum(), rtol=1e-6)
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("device", ["host"], indirect=True)
def test_operations_run_at_once_where_that_is_asked_for(device):
    devices.use(DeferringCpu("CPU", blocking=True))
    assert not pending(Tensor(random(4)) * 2)


@pytest.mark.parametrize("device", ["host"], indirect=True)
def test_values_that_are_tested_do_not_have_all_the_others_computed(device):
    """Labels that come by a cast are looked at while the network's results go on waiting."""
    x, labels = ops.tanh(Tensor(random(4, 3))), Tensor(np.array([[0, 2, 1, 0]], np.int64))
    loss = ops.cross_entropy(x, ops.cast(labels.reshape(-1), ms.int32))
    assert pending(loss) and pending(x)
    with pytest.raises((ValueError, IndexError), match="9"):
        ops.cross_entropy(x, ops.cast(labels.reshape(-1) + 7, ms.int32))
    many = labels.reshape(-1)
    for _ in range(12):
        many = many + 1
    with pytest.raises((ValueError, IndexError), match=r"1[234]"):
        ops.cross_entropy(x, ops.cast(many, ms.int32))


def small_network(layers=4):
    ms.set_seed(1)
    net = nn.SequentialCell([nn.Dense(6, 6, weight_init=Tensor(random(6, 6, seed=n) * 0.3)) for n in range(layers)])
    return net.set_train(), nn.Momentum(net.trainable_params(), 0.05, 0.9)


def train_small(steps, keep):
    """Losses and weights of a step that is written as one function; `keep` is called with the network after each step."""
    net, optimizer = small_network()
    gradient = ms.value_and_grad(lambda a: (net(a) ** 2).mean(), None, optimizer.parameters)
    x = Tensor(random(5, 6, seed=9))

    def step():
        loss, grads = gradient(x)
        optimizer(grads)
        return loss

    losses = []
    for _ in range(steps):
        losses.append(step())
        keep(net)
    return [float(v) for v in losses], [p.asnumpy().copy() for p in net.trainable_params()]


def test_new_weights_take_the_memory_of_the_old_ones(device):
    """Weights, moments and gradients of a step that comes again stay where they are."""
    expected = on_numpy(lambda: train_small(7, lambda net: None))
    found = train_small(7, lambda net: None)
    np.testing.assert_allclose(found[0], expected[0], rtol=2e-4)
    for ours, theirs in zip(found[1], expected[1]):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-6)
    replaced = max(len(plan.replaced) for plan in device.engine._plans.values())
    assert replaced == (3 * 8 + 1 if not device.is_host else 0)  # weights and biases, their moments and gradients, and the number of steps


def test_arrays_that_somebody_holds_are_left_alone():
    """Copies that share an array with a Parameter keep its value though the step writes to the Parameter's memory."""
    kept, values = [], []

    def keep(net):
        held = net.trainable_params()[0].value()
        kept.append(held)
        values.append(held.asnumpy().copy())

    train_small(7, keep)
    for held, value in zip(kept, values):
        np.testing.assert_array_equal(held.asnumpy(), value)
    assert len({value.tobytes() for value in values}) == 7


def test_an_array_held_later_is_copied_before_its_memory_is_used():
    kept = []

    def keep(net):
        weight = net.trainable_params()[1]
        kept.append((weight.value(), weight.asnumpy().copy()) if len(kept) > 5 else None)

    train_small(8, keep)
    for held, value in filter(None, kept):
        np.testing.assert_array_equal(held.asnumpy(), value)
