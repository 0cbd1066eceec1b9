"""Cell.set_inputs: what is declared of inputs holds for compiled calls."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Symbol, Tensor, nn, ops


class Joined(nn.Cell):
    def construct(self, x, y):
        return ops.concat((x, y), 0)


@pytest.fixture(autouse=True)
def graph_mode():
    with ms.context.local_context(mode=ms.GRAPH_MODE):
        yield


def like(*shape, dtype=ms.float32):
    return Tensor(shape=shape, dtype=dtype)


def rows(count, width=2, dtype=np.float32):
    return Tensor(np.ones((count, width), dtype))


def call(declared, *args):
    net = Joined()
    net.set_inputs(*declared)
    return net(*args).shape


def test_open_sizes_take_all_sizes():
    net = Joined()
    net.set_inputs(like(None, 2), like(-1, 2))
    assert [net(rows(a), rows(b)).shape for a, b in ((1, 2), (3, 4), (5, 1))] == [(3, 2), (7, 2), (6, 2)]


def test_symbols_take_what_they_describe():
    size = Symbol(divisor=8, max=32)
    assert call((like(size, 2), like(size, 2)), rows(8), rows(32)) == (40, 2)
    same = Symbol(unique=True)
    assert call((like(same, 2), like(same, 2)), rows(3), rows(3)) == (6, 2)
    assert call((like(Symbol(divisor=4, remainder=1), 2), like(None, 2)), rows(9), rows(1)) == (10, 2)


SAME = Symbol(unique=True)


@pytest.mark.parametrize(
    ("declared", "args", "error", "words"),
    [
        ((like(Symbol(divisor=8), 2), like(None, 2)), (rows(7), rows(1)), ValueError, "dimension 0 of input 1 must be 8"),
        ((like(Symbol(max=4), 2), like(None, 2)), (rows(5), rows(1)), ValueError, "at most 4"),
        ((like(None, 2), like(Symbol(min=4), 2)), (rows(5), rows(1)), ValueError, "input 2 must be at least 4"),
        ((like(SAME, 2), like(SAME, 2)), (rows(3), rows(4)), ValueError, "must be 3, as elsewhere"),
        ((like(None, 2), like(None, 2)), (rows(3, 3), rows(4, 3)), ValueError, "dimension 1 of input 1 must be 2"),
        ((like(None, 2), like(None, 2)), (Tensor([1.0]), Tensor([1.0])), ValueError, "2 dimensions"),
        ((like(None, 2), like(None, 2)), (rows(1, dtype=np.int32), rows(1)), TypeError, "Tensor of Float32"),
    ],
)
def test_other_inputs_are_refused(declared, args, error, words):
    with pytest.raises(error, match=words):
        call(declared, *args)


def test_some_inputs_by_name():
    net = Joined()
    net.set_inputs(y=like(Symbol(divisor=2), 2))
    assert net(rows(1), rows(4)).shape == (5, 2)
    with pytest.raises(ValueError, match="input 'y' must be 2"):
        net(rows(1), y=rows(3))
    with pytest.raises(ValueError, match=r"\['x', 'y'\], but got 'z'"):
        net.set_inputs(z=like(None))


def test_inputs_within_sequences():
    class Summed(nn.Cell):
        def construct(self, pair):
            return pair[0] + pair[1]

    net = Summed()
    net.set_inputs((like(None), like(None)))
    assert net((Tensor([1.0]), Tensor([2.0]))).tolist() == [3]
    with pytest.raises(ValueError, match="sequence of 2"):
        net((Tensor([1.0]),))
    with pytest.raises(ValueError, match="element 2 of input 1"):
        net((Tensor([1.0]), Tensor([[2.0]])))


def test_a_declaration_must_be_complete():
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        Joined().set_inputs(like(None, 2))


def test_what_is_known_of_a_shape():
    assert Tensor(shape=(Symbol(divisor=8), None, 3), dtype=ms.float32).symbolic_shape == [{"divisor": 8}, None, 3]
    assert rows(4).symbolic_shape == [4, 2]


def test_a_tensor_of_any_rank():
    class Net(nn.Cell):
        def construct(self, x):
            return x * 2

    net = Net()
    net.set_inputs(Tensor(shape=None, dtype=ms.float32))
    for shape in ((), (3,), (2, 3), (1, 2, 3, 4)):
        assert net(Tensor(np.ones(shape, np.float32))).shape == shape
    with pytest.raises(TypeError, match="must be a Tensor of Float32"):
        net(Tensor(np.ones(3, np.int32)))


def test_declarations_show_what_is_open():
    net = nn.ReLU()
    net.set_inputs(Tensor(shape=[3, None], dtype=ms.float32))
    (declared,) = net.get_inputs()
    assert str(declared) == repr(declared) == "Tensor(shape=[3, -1], dtype=Float32, value= )"
