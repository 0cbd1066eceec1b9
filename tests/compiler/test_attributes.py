"""Attributes read and stored by compiled code: each call sees what the one before left, as plain Python would."""

import dataclasses

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


@pytest.fixture(autouse=True)
def graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Counter(nn.Cell):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.total = Tensor(0.0)

    def construct(self, x):
        self.calls = self.calls + 1
        self.total = self.total + x
        return self.total * self.calls


def test_state_in_attributes_advances_without_recompiling():
    net = Counter()
    results = [float(net(Tensor(float(i)))) for i in range(1, 6)]
    assert results == [1.0, 6.0, 18.0, 40.0, 75.0]
    assert net.calls == 5 and type(net.calls) is int
    assert float(net.total) == 15.0
    assert net.compile_and_run and net._compiled.compile_cache_size == 1


def test_an_attribute_that_shapes_the_graph_compiles_anew():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.repeat = 1

        def construct(self, x):
            for _ in range(self.repeat):
                x = ops.concat((x, x))
            self.repeat = self.repeat + 1
            return x

    net = Net()
    assert [net(Tensor([1.0])).shape for _ in range(3)] == [(2,), (4,), (8,)]


@pytest.mark.parametrize("value", [2.0, 3, True, "abc", None, (1, 2)])
def test_setting_an_attribute_outside_takes_effect(value):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.setting = "start"

        def construct(self, x):
            return x, self.setting

    net = Net()
    assert net(Tensor(1.0))[1] == "start"
    net.setting = value
    assert net(Tensor(1.0))[1] == value
    assert net(Tensor(1.0))[1] == value


def test_tensor_attributes_replaced_or_changed_in_place():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mask = Tensor([1.0, 0.0])

        def construct(self, x):
            return x * self.mask

    net, x = Net(), Tensor([3.0, 4.0])
    assert net(x).asnumpy().tolist() == [3.0, 0.0]
    net.mask = Tensor([0.0, 1.0])
    assert net(x).asnumpy().tolist() == [0.0, 4.0]
    net.mask[0] = 5.0
    assert net(x).asnumpy().tolist() == [15.0, 4.0]
    for i in range(5):
        net.mask = Tensor([float(i), 1.0])
        assert net(x).asnumpy().tolist() == [3.0 * i, 4.0]
    assert net._compiled.compile_cache_size <= 2


def test_buffers_are_read_anew():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", Tensor(0.0))

        def construct(self, x):
            self.seen = self.seen + x
            return self.seen * 2

    net = Net()
    assert [float(net(Tensor(1.0))) for _ in range(3)] == [2.0, 4.0, 6.0]
    net.load_state_dict({"seen": Tensor(10.0)})
    assert float(net(Tensor(1.0))) == 22.0


def test_replacing_cells_parameters_and_hooks_after_compiling():
    net = nn.SequentialCell(nn.ReLU())
    x = Tensor([-1.0, 2.0])
    assert net(x).asnumpy().tolist() == [0.0, 2.0]
    net[0] = nn.Sigmoid()
    np.testing.assert_allclose(net(x).asnumpy(), 1 / (1 + np.exp([1.0, -2.0])), rtol=1e-6)
    net[0] = nn.ReLU()
    net.append(nn.ReLU6())
    handle = net.register_forward_hook(lambda cell, inputs, out: out + 10)
    assert net(x).asnumpy().tolist() == [10.0, 12.0]
    handle.remove()
    assert net(x).asnumpy().tolist() == [0.0, 2.0]

    class Scale(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(2.0))

        def construct(self, x):
            return x * self.w

    scale = Scale()
    assert scale(x).asnumpy().tolist() == [-2.0, 4.0]
    scale.w = Parameter(Tensor(3.0), name="other")
    assert scale(x).asnumpy().tolist() == [-3.0, 6.0]


def test_objects_that_are_not_cells():
    @dataclasses.dataclass
    class Config:
        scale: float
        kind: str

    config = Config(2.0, "mul")

    @ms.jit
    def f(x):
        return x * config.scale if config.kind == "mul" else x + config.scale

    assert float(f(Tensor(3.0))) == 6.0
    config.kind = "add"
    assert float(f(Tensor(3.0))) == 5.0
    for scale in (5.0, 6.0, 7.0):
        config.scale = scale
        assert float(f(Tensor(3.0))) == 3.0 + scale
    assert f.compile_cache_size <= 3


class Branching(nn.Cell):
    def __init__(self):
        super().__init__()
        self.low = Tensor(0.0)
        self.high = Tensor(0.0)
        self.last = 0

    def note(self, x):
        if x > 0:
            self.high = ops.maximum(self.high, x)
            self.last = 1
        else:
            self.low = ops.minimum(self.low, x)
            self.last = -1

    def construct(self, x):
        self.note(x)
        return self.high - self.low


def test_attributes_set_under_a_run_time_condition():
    net, plain = Branching(), Branching()
    for value in (3.0, -2.0, 5.0, -1.0, 0.5):
        ms.set_context(mode=ms.GRAPH_MODE)
        got = float(net(Tensor(value)))
        ms.set_context(mode=ms.PYNATIVE_MODE)
        assert got == float(plain(Tensor(value)))
        assert (float(net.low), float(net.high), int(net.last)) == (float(plain.low), float(plain.high), plain.last)


def test_attributes_set_in_a_run_time_loop():
    class Loop(nn.Cell):
        def __init__(self):
            super().__init__()
            self.trips = 0
            self.product = Tensor(1.0)

        def step(self, x):
            self.product = self.product * 2
            self.trips += 1
            return x - 1

        def construct(self, x):
            while x > 0:
                x = self.step(x)
            return self.product + x

    net = Loop()
    assert float(net(Tensor(3.0))) == 8.0
    assert (net.trips, float(net.product)) == (3, 8.0)
    assert float(net(Tensor(2.0))) == 32.0
    assert net.trips == 5


def test_an_attribute_set_on_one_way_only_is_refused():
    class Net(nn.Cell):
        def construct(self, x):
            if x > 0:
                self.fresh = x
            return x

    with pytest.raises(AttributeError, match="attribute 'fresh' of Net"):
        Net()(Tensor(1.0))


def test_gradients_leave_state_as_one_call_would():
    net = Counter()
    assert float(ms.grad(net)(Tensor(3.0))) == 1.0
    assert (net.calls, float(net.total)) == (1, 3.0)
    ms.set_context(mode=ms.PYNATIVE_MODE)

    class Jitted(Counter):
        @ms.jit
        def construct(self, x):
            self.calls = self.calls + 1
            self.total = self.total + x
            return self.total * self.calls

    net = Jitted()
    gradients = [float(ms.grad(net)(Tensor(3.0))) for _ in range(3)]
    assert gradients == [1.0, 2.0, 3.0]
    assert (net.calls, float(net.total)) == (3, 9.0)


RATE = 2.0
SWITCH = True
CALLS = 0
OFFSET = Tensor([1.0, 1.0])


def test_global_variables_are_read_and_stored_like_attributes():
    global RATE, SWITCH, OFFSET, CALLS

    @ms.jit
    def f(x):
        return x * RATE + OFFSET if SWITCH else x

    @ms.jit
    def counted(x):
        global CALLS
        if x > 0:
            CALLS += 1
        return x + CALLS

    x = Tensor([1.0, 2.0])
    assert f(x).asnumpy().tolist() == [3.0, 5.0]
    for value in (3.0, 4.0, 5.0):
        RATE = value
        assert f(x).asnumpy().tolist() == [value + 1, 2 * value + 1]
    OFFSET = Tensor([0.0, 5.0])
    assert f(x).asnumpy().tolist() == [5.0, 15.0]
    SWITCH = False
    assert f(x).asnumpy().tolist() == [1.0, 2.0]
    assert f.compile_cache_size <= 4
    assert [int(counted(Tensor(v))) for v in (10, -10, 10)] == [11, -9, 12]
    assert CALLS == 2
    RATE, SWITCH, CALLS, OFFSET = 2.0, True, 0, Tensor([1.0, 1.0])


def test_variables_of_the_function_around():
    def make():
        calls, rate = 0, 2.0

        @ms.jit
        def inner(x):
            nonlocal calls
            calls += 1
            return x * rate + calls

        def set_rate(value):
            nonlocal rate
            rate = value

        return inner, set_rate, lambda: calls

    inner, set_rate, calls = make()
    assert [float(inner(Tensor(1.0))) for _ in range(3)] == [3.0, 4.0, 5.0]
    set_rate(10.0)
    assert float(inner(Tensor(1.0))) == 14.0
    assert calls() == 4


def test_a_tensor_whose_value_is_needed_stays_a_constant():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.size = Tensor(2)
            self.limit = 3.0

        def construct(self, x):
            if x.sum() > self.limit:
                x = x - 1
            return ops.tile(x, (int(self.size),))

    net = Net()
    for size, limit in ((2, 3.0), (3, 3.0), (1, 0.5), (2, 0.25)):
        net.size, net.limit = Tensor(size), limit
        want = np.tile(np.array([2.0]) - (limit < 2.0), size)
        np.testing.assert_array_equal(net(Tensor([2.0])).asnumpy(), want)


class _Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.__offset = 1.5

    def shifted(self, x, __scale=2.0):
        return x * __scale + self.__offset


class _Inner(_Outer):
    def __init__(self):
        super().__init__()
        self.__offset = 10.0  # another attribute than the parent's

    def construct(self, x):
        self.__calls = self.__twice(x)
        return self.shifted(x) + self.__offset + self.__calls

    def __twice(self, x):
        return x * 2


def test_private_names_belong_to_their_class():
    ms.set_context(mode=ms.GRAPH_MODE)
    assert _Inner()(Tensor(1.0)).asnumpy() == 2 + 1.5 + 10 + 2


def test_properties_may_look_at_the_network_they_belong_to():
    """Official MindSpore evaluates them as plain Python when it makes a graph; networks of MindONE ask so for their type."""

    def first(net):
        for parameter in net.get_parameters():
            return parameter.dtype

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = nn.Dense(2, 2, dtype=ms.float16)

        @property
        def dtype(self):
            return first(self)

        @property
        def count(self):
            return len(self.trainable_params())

        def construct(self, x):
            return x.astype(self.dtype) * self.count

    class Direct(Net):
        def construct(self, x):
            return x.astype(first(self))

    with ms.context.local_context(mode=ms.GRAPH_MODE):
        y = Net()(Tensor([1.0, 2.0]))
        assert y.dtype is ms.float16 and y.tolist() == [2.0, 4.0]
        with pytest.raises(RuntimeError, match=r"get_parameters.*not supported in 'construct'"):
            Direct()(Tensor([1.0]))
