"""Data arguments: what is a tensor, what may be a number, and that lists and arrays are neither, in both modes."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, mint, ops

X = Tensor(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
NO_TENSORS = [[1.0, 2.0], (1.0, 2.0), np.ones(2, np.float32), None, "a", {}]

BINARY = [ops.add, ops.mul, ops.maximum, ops.pow, ops.atan2, ops.less, ops.hypot, mint.add, mint.maximum, ops.Sub(), ops.Div(),
          ops.SquaredDifference(), ops.MulNoNan(), ops.Fmax()]  # fmt: skip
UNARY = [ops.exp, ops.abs, ops.copysign, ops.BesselI0(), ops.Tan(), ops.LogicalNot(), ops.L2Loss(), ops.Rint(), ops.ComplexAbs(),
         ops.OnesLike(), mint.exp]  # fmt: skip


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


def run(mode, function, *args):
    if mode == ms.GRAPH_MODE:
        return ms.jit(lambda x: function(*(x if a is X else a for a in args)))(X)
    return function(*args)


def name(function):
    return getattr(function, "__name__", None) or function.name


@pytest.mark.parametrize("function", BINARY, ids=name)
def test_an_operand_is_a_tensor_or_a_number(function, mode):
    run(mode, function, X, 2.0)
    for wrong in NO_TENSORS:
        with pytest.raises(TypeError):
            run(mode, function, X, wrong)


@pytest.mark.parametrize("function", UNARY, ids=name)
def test_what_is_mapped_is_a_tensor(function, mode):
    for wrong in NO_TENSORS:
        args = (wrong, X) if function is ops.copysign else (wrong,)
        with pytest.raises(TypeError):
            run(mode, function, *args)


def test_operators_take_lists_and_arrays_as_python_does():
    row = np.array([1.0, 2.0], np.float32)
    for other in ([1.0, 2.0], (1.0, 2.0), row):
        np.testing.assert_array_equal((X + other).asnumpy(), X.asnumpy() + row)
        np.testing.assert_array_equal(np.asarray(other * X), row * X.asnumpy())


@pytest.mark.parametrize("rate", [1j, [0.1], (0.1,), None, "a", True, Tensor(1j)])
def test_rates_are_real_numbers(rate):
    weight = Parameter(Tensor([1.0]), name="w")
    with pytest.raises(TypeError, match="'alpha' must be a real number"):
        ops.ApplyGradientDescent()(weight, rate, Tensor([2.0]))
    assert weight.asnumpy() == 1


@pytest.mark.parametrize("value", [None, [2.0], "a", np.ones(1, np.float32)])
@pytest.mark.parametrize("function", [ops.assign, ops.assign_add, ops.assign_sub], ids=name)
def test_what_is_assigned_is_a_tensor_or_a_number(function, value):
    weight = Parameter(Tensor([1.0]), name="w")
    with pytest.raises(TypeError, match="'value' must be a Tensor or a number"):
        function(weight, value)
    assert weight.asnumpy() == 1


@pytest.mark.parametrize("weight", [2.0, [1.0, 1.0], np.ones(2, np.float32)])
def test_weights_of_losses_are_tensors(weight):
    x, y = Tensor([0.2, 0.7]), Tensor([0.0, 1.0])
    with pytest.raises(TypeError, match="'weight' must be a Tensor"):
        ops.binary_cross_entropy(x, y, weight)
    with pytest.raises(TypeError, match="'pos_weight' must be a Tensor"):
        ops.binary_cross_entropy_with_logits(x, y, None, weight)


NUMBERS = {
    "topk": lambda x, k: ops.topk(x, k)[0],
    "TopK": lambda x, k: ops.TopK()(x, k)[0],
    "cumsum": ops.cumsum,
    "expand_dims": ops.expand_dims,
    "unsqueeze": ops.unsqueeze,
    "gather": lambda x, k: ops.gather(x, Tensor([0]), k),
    "cat": lambda x, k: ops.cat((x, x), k),
    "argmax": ops.argmax,
    "one_hot": lambda x, k: ops.one_hot(Tensor([0]), k),
    "range": lambda x, k: ops.range(Tensor(0), k, Tensor(1)),
    "sort": lambda x, k: ops.sort(x, k)[0],
    "eye": lambda x, k: ops.eye(k, 3),
}


@pytest.mark.parametrize("function", NUMBERS.values(), ids=NUMBERS)
def test_a_number_may_be_a_tensor_of_one_element(function, mode):
    expected = function(X, 1).asnumpy()
    for given in (Tensor(1), Tensor([1], ms.int32), Tensor([[1]])):
        constant = run(mode, function, X, given)
        np.testing.assert_array_equal(constant.asnumpy(), expected)
        argument = ms.jit(function)(X, given) if mode == ms.GRAPH_MODE else function(X, given)
        np.testing.assert_array_equal(argument.asnumpy(), expected)
    for wrong in ([1], Tensor([1, 1])):
        with pytest.raises((TypeError, ValueError)):
            run(mode, function, X, wrong)
