"""Only what is meant is caught: a mistake of the compiler's is not taken for something else, and failing code runs once."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.prims import explain
from mindspore.prims.primitive import Primitive


class Breakage(Exception):
    """Stands for a bug."""


def test_a_bug_of_the_cpu_backend_is_not_hidden(monkeypatch):
    pytest.importorskip("llvmlite")
    from mindspore.backends.cpu import backend

    def broken(*_):
        raise Breakage("of the clustering")

    monkeypatch.setattr(backend, "Clustering", broken)
    ms.set_context(backend="cpu")
    with pytest.raises(Breakage):
        ms.jit(lambda x: x * 3.5 + 1.25)(Tensor(np.ones(7, np.float32)))


def test_a_bug_in_making_an_eager_kernel_is_not_hidden(monkeypatch):
    pytest.importorskip("llvmlite")
    from mindspore.compiler import driver

    def broken(*_):
        raise Breakage("of the kernel's graph")

    monkeypatch.setattr(driver, "optimise", broken)
    x = Tensor(np.ones((131, 137), np.float32))
    with pytest.raises(Breakage):
        ops.matmul(x, x.T)


def test_a_bug_met_while_an_attribute_is_an_input_is_not_hidden(monkeypatch):
    from mindspore.common import compiled

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale = 1.0

        def construct(self, x):
            return x * self.scale

    ms.set_context(mode=ms.GRAPH_MODE)
    net, x = Net(), Tensor(2.0)
    trace = compiled.parse.trace

    def broken(function, args, kwargs, name, depth, inputs, *rest):
        if inputs:
            raise Breakage("of the front end")
        return trace(function, args, kwargs, name, depth, inputs, *rest)

    monkeypatch.setattr(compiled.parse, "trace", broken)
    try:
        assert float(net(x)) == 2
        net.scale = 3.0
        with pytest.raises(Breakage):
            net(x)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


class Counted(Primitive):
    """Fails for vectors of three elements; counts its evaluations."""

    light = True
    calls = 0

    def infer(self, x):
        return x

    def eval(self, xp, x):
        Counted.calls += 1
        if x.size == 3:
            raise ValueError("three elements")
        return x + 1


def test_a_failing_kernel_runs_once():
    assert float(Counted()(Tensor([1.0]))[0]) == 2
    Counted.calls = 0
    with pytest.raises(ValueError, match="three elements"):
        Counted()(Tensor([1.0, 2.0, 3.0]))
    assert Counted.calls == 1


def test_signs_of_zero_survive_branches_and_loops():
    def chosen(x):
        s = 0.0 if x.sum() > 0 else -0.0
        return ops.abs(x) / s

    def flipped(x):
        s, n = 0.0, x.sum()
        while n > 0:
            s, n = -s, n - 1
        return x / s

    ones = Tensor(np.ones(3, np.float32))
    for f, x in ((chosen, ones), (chosen, -ones), (flipped, ones)):
        np.testing.assert_array_equal(ms.jit(f)(x).asnumpy(), f(x).asnumpy())


def _say_on_one_line(flag):
    if flag: raise ValueError("said by a check")  # noqa: E701  the statement does not begin the line


def test_a_raise_is_told_by_its_instruction_not_by_the_text_of_its_line(monkeypatch):
    monkeypatch.setattr(explain, "_LIBRARY", __file__)
    with pytest.raises(ValueError) as said:
        _say_on_one_line(True)
    said.value.__traceback__ = said.value.__traceback__.tb_next
    assert not explain._unforeseen(said.value)
    raises = {"raise": 1}
    with pytest.raises(KeyError) as unforeseen:
        (
            raises["no such key"]
        )
    assert explain._unforeseen(unforeseen.value)
