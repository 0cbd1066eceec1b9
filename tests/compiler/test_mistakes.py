"""Typical mistakes: the same words in both modes, and the user's line; nothing of ours in compiled code."""

import inspect
import os

import numpy as np
import pytest

import mindspore
import mindspore as ms
from mindspore import Tensor, nn, ops

X = Tensor(np.ones((2, 3), np.float32))
PACKAGE = os.path.dirname(mindspore.__file__)


def cell(construct, **layers):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            for name, layer in layers.items():
                setattr(self, name, layer)

    Net.construct = construct
    return Net()


def use_layer(self, x):
    return self.layer(x)


def undefined_attribute(self, x):
    return self.missing(x)


def misspelt_operation(self, x):
    return ops.relus(x)


def misspelt_method(self, x):
    return x.summ()


def decides_on_many(self, x):
    return x if x > 0 else -x


def adds_none(self, x):
    return x + None


def adds_text(self, x):
    return x + "a"


def index_too_large(self, x):
    return x[5]


def too_many_indices(self, x):
    return x[0, 0, 0]


def reshapes_wrongly(self, x):
    return x.reshape(4, 2)


def multiplies_wrongly(self, x):
    return ops.matmul(x, x)


def joins_wrongly(self, x):
    return ops.concat((x, ops.ones((3, 2))), axis=0)


def calls_a_number(self, x):
    return self.number(x)


def unpacks_too_many(self, x):
    a, b, c = ops.split(x, 1)
    return a + b + c


def list_index(self, x):
    both = [x, x + 1]
    return both[len(both) + 1]


def raises(self, x):
    if x.shape[0] != 3:
        raise ValueError(f"the batch must be 3, but got {x.shape[0]}")
    return x


def wrong_labels(self, x):
    return self.layer(x, Tensor([0, 1, 2], ms.int32))


ARRAY = np.ones((2, 3), np.float32)
IMAGE = Tensor(np.ones((1, 4, 8, 8), np.float32))
MISTAKES = {
    "width of Dense": (use_layer, {"layer": lambda: nn.Dense(4, 2)}, X, ValueError, "must be 4, "),
    "channels of Conv2d": (use_layer, {"layer": lambda: nn.Conv2d(3, 8, 3)}, IMAGE, ValueError, "(1, 4, 8, 8)"),
    "rank of Conv2d": (use_layer, {"layer": lambda: nn.Conv2d(3, 8, 3)}, X, ValueError, "4 dimensions"),
    "Embedding of floats": (use_layer, {"layer": lambda: nn.Embedding(9, 4)}, X, TypeError, "Float32"),
    "width of LayerNorm": (use_layer, {"layer": lambda: nn.LayerNorm((5,))}, X, ValueError, "(5,)"),
    "width of LSTM": (use_layer, {"layer": lambda: nn.LSTM(5, 4)}, Tensor(np.ones((2, 3, 4), np.float32)), ValueError, "5"),
    "an array": (use_layer, {"layer": lambda: nn.Dense(3, 2)}, ARRAY, TypeError, "a NumPy array of float32 with shape (2, 3)"),
    "labels": (wrong_labels, {"layer": nn.CrossEntropyLoss}, X, ValueError, "(2,), but got (3,)"),
    "undefined attribute": (undefined_attribute, {}, X, AttributeError, "no attribute 'missing'"),
    "misspelt operation": (misspelt_operation, {}, X, AttributeError, "no attribute 'relus'"),
    "misspelt method": (misspelt_method, {}, X, AttributeError, "no attribute 'summ'"),
    "adds None": (adds_none, {}, X, TypeError, "'NoneType'"),
    "adds text": (adds_text, {}, X, TypeError, "text does not mix with tensors"),
    "index": (index_too_large, {}, X, IndexError, "index 5 is out of bounds for axis 0 with size 2"),
    "indices": (too_many_indices, {}, X, IndexError, "too many indices"),
    "reshape": (reshapes_wrongly, {}, X, ValueError, "6 elements"),
    "matmul": (multiplies_wrongly, {}, X, ValueError, "3 and 2"),
    "concat": (joins_wrongly, {}, X, ValueError, "tensors[1] has (3, 2)"),
    "calls a number": (calls_a_number, {"number": lambda: 3}, X, TypeError, "'int' object is not callable"),
    "unpacks": (unpacks_too_many, {}, X, ValueError, "expected 3, got 2"),
    "list": (list_index, {}, X, IndexError, "list index out of range"),
    "condition": (decides_on_many, {}, X, ValueError, "tensor of shape (2, 3) is ambiguous"),
    "raises": (raises, {}, X, ValueError, "the batch must be 3, but got 2"),
}  # fmt: skip


def message(mode, name):
    construct, layers, argument, error, _ = MISTAKES[name]
    ms.set_context(mode=mode)
    try:
        net = cell(construct, **{n: make() for n, make in layers.items()})
        with pytest.raises(error) as caught:
            net(argument)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    return caught


def construct_line(name):
    """The last line of the function with the mistake."""
    return inspect.getsource(MISTAKES[name][0]).strip().splitlines()[-1].strip()


@pytest.mark.parametrize("name", MISTAKES)
def test_both_modes_say_the_same_and_where(name):
    eager, compiled = message(ms.PYNATIVE_MODE, name), message(ms.GRAPH_MODE, name)
    text = str(compiled.value)
    assert MISTAKES[name][-1] in str(eager.value)
    assert text.startswith(str(eager.value))
    assert __file__ in text and "^" in text
    last = eager.traceback[-1]
    notes = "".join(getattr(eager.value, "__notes__", []))
    assert str(last.path) == __file__ or (__file__ in notes and construct_line(name) in notes and PACKAGE not in notes)
    assert PACKAGE not in text
    assert len(text) < 800
    assert len(compiled.traceback) < 9  # not how the compiler came to it


def test_super_init_is_missed_in_both_modes():
    class Net(nn.Cell):
        def __init__(self):
            self.factor = 3

        def construct(self, x):
            return x * self.factor

    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            with pytest.raises(AttributeError, match=r"call super\(\).__init__\(\)"):
                Net()(X)
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("name", ["forward", "constuct"])
def test_the_method_that_should_be_construct_is_named(name):
    net = type("Net", (nn.Cell,), {name: lambda self, x: x})()
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        with pytest.raises(AttributeError, match=f"'construct' of Net is not defined. Its method '{name}'"), \
                ms.context.local_context(mode=mode):
            net(X)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_mistakes_within_our_own_layers_point_at_the_call(mode):
    with ms.context.local_context(mode=mode), pytest.raises(ValueError) as caught:
        nn.Conv2d(3, 8, 3)(IMAGE)  # this line
    words = "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "# this line" in words and PACKAGE not in words


def generates(x):
    yield x


async def waits(x):
    return x


@pytest.mark.parametrize("function", [generates, waits])
def test_generators_and_coroutines_are_refused(function):
    with pytest.raises(RuntimeError, match="which cannot be compiled") as caught:
        ms.jit(function)(X)
    assert __file__ in str(caught.value)


def test_a_misspelt_keyword_is_named_before_what_it_lacks():
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        ms.jit(lambda x: x)(z=X)


def never_ends(x):
    i = 0
    while i < 10:
        x = x + 1
    return x


def test_a_loop_that_never_ends_is_pointed_at():
    with pytest.raises(RuntimeError, match="never ends") as caught:
        ms.jit(never_ends)(X)
    assert "while i < 10" in str(caught.value)


HABITS = {
    "backward": (lambda net, loss: loss.backward(), "value_and_grad"),
    "cuda": (lambda net, loss: loss.cuda(), "set_device"),
    "parameters": (lambda net, loss: nn.SGD(net.parameters(), 0.1), "trainable_params"),
    "eval": (lambda net, loss: net.eval(), r"set_train\(False\)"),
    "children": (lambda net, loss: net.children(), r"cells\(\)"),
    "zero_grad": (lambda net, loss: nn.SGD(net.trainable_params(), 0.1).zero_grad(), "nothing to clear"),
    "step": (lambda net, loss: ms.experimental.optim.SGD(net.trainable_params(), 0.1).step(), r"optimizer\(gradients\)"),
}


@pytest.mark.parametrize("name", HABITS)
def test_names_of_other_frameworks_are_told_with_what_to_write_instead(name):
    use, words = HABITS[name]
    with pytest.raises(AttributeError, match=f"no attribute '{name}': .*{words}"):
        use(nn.Dense(2, 2), X.sum())


def test_names_of_other_frameworks_are_free():
    """Packages ask whether they are there, and put their own in their places."""
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.modules = nn.CellList([nn.ReLU()])
            self.train = True

    assert not any(hasattr(X, n) for n in ("backward", "cuda", "grad")) and not hasattr(ms.Tensor, "cuda")
    assert Net().train and len(Net().modules) == 1 and not hasattr(Net(), "eval")
    x = Tensor([1.0])
    x.grad = Tensor([2.0])
    assert x.grad.item() == 2


@pytest.mark.parametrize("compiled", [False, True])
def test_a_gradient_that_is_looked_for_in_a_network(compiled):
    net = cell(lambda self, x: x.sum().backward())
    with ms.context.local_context(mode=0 if compiled else 1), pytest.raises(AttributeError, match="value_and_grad"):
        net(X)
