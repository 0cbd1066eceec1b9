"""Errors name the user's file and line, in the same words in both modes."""

import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

X = Tensor(np.ones((2, 3), np.float32))


def message(function, *args, error=Exception):
    with pytest.raises(error) as caught:
        function(*args)
    return str(caught.value)


def compiled_message(function, *args, error=Exception):
    text = message(ms.jit(function), *args, error=error)
    assert "test_errors.py" in text and function.__name__ in text
    return text


def wrong_shape(x):
    y = x * 2
    return y + Tensor(np.ones((4, 5), np.float32))


def wrong_dtype(x):
    return ops.matmul(x, "text")


def wrong_axis(x):
    return ops.ReduceSum()(x, 7)


@pytest.mark.parametrize(
    ("function", "error"),
    [(wrong_shape, ValueError), (wrong_dtype, (TypeError, ValueError)), (wrong_axis, ValueError)],
)
def test_same_words_in_both_modes(function, error):
    eager = message(function, X, error=error)
    compiled = compiled_message(function, X, error=error)
    assert compiled.startswith(eager)


def test_a_caret_points_at_the_expression():
    text = compiled_message(wrong_shape, X, error=ValueError)
    lines = text.splitlines()
    source = next(i for i, line in enumerate(lines) if "return y + Tensor" in line)
    caret = lines[source + 1]
    assert caret.index("^") == lines[source].index("y + Tensor")


def only_one_branch(x):
    if x.sum() > 0:
        y = x * 2
    return y


def test_name_defined_in_one_branch():
    text = compiled_message(only_one_branch, X, error=NameError)
    assert "'y' is not defined in false branch" in text


def different_types(x):
    if x.sum() > 0:
        return x
    return x.astype(ms.int32)


def test_branches_of_different_types():
    text = compiled_message(different_types, X, error=TypeError)
    assert "Float32" in text and "Int32" in text


def different_shapes(x):
    if x.sum() > 0:
        return x
    return x.sum()


def different_structures(x):
    return {"a": x} if x.sum() > 0 else (x, None)


def growing(x):
    while x.sum() < 100:
        x = ops.cat((x, x), axis=0)
    return x


def collecting(x):
    found = []
    while x.sum() < 100:
        found.append(x)
        x = x * 2
    return found


@pytest.mark.parametrize("function", [different_shapes, different_structures, growing, collecting])
@pytest.mark.parametrize("sign", [1, -1])
def test_what_needs_values_is_compiled_for_them(function, sign):
    if sign < 0 and function in (growing, collecting):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = ms.jit(function)(X * sign)
    want = function(X * sign)
    assert type(got) is type(want) and repr(got) == repr(want)


def looks_at_numbers(x):
    return x * float(np.median(x.asnumpy()))


def test_what_looks_at_data_runs_as_python_with_a_warning():
    with pytest.warns(UserWarning, match="runs as plain Python"):
        got = ms.jit(looks_at_numbers)(X)
    want = looks_at_numbers(X)
    assert type(got) is type(want) and repr(got) == repr(want)


def test_the_strict_level_refuses_to_run_as_python():
    ms.set_context(jit_syntax_level=ms.STRICT)
    try:
        assert "shape ()" in compiled_message(different_shapes, X, error=TypeError)
    finally:
        ms.set_context(jit_syntax_level=ms.LAX)


def condition_never_changes(x, limit):
    while limit < 3:
        x = x + 1
    return x


def test_a_loop_whose_condition_nothing_changes():
    assert "never ends" in compiled_message(condition_never_changes, X, Tensor(1), error=RuntimeError)
    assert ms.jit(condition_never_changes)(X, Tensor(5)).shape == (2, 3)


def endless(x):
    while True:
        x = x + 1
    return x


def test_loop_that_never_ends():
    assert "never ends" in compiled_message(endless, X, error=RuntimeError)


def unrolled_for_ever(x):
    table = {"a": x}
    for key in _ENDLESS:
        table[key] = x
    return table


class _Endless:
    def __iter__(self):
        n = 0
        while True:
            n += 1
            yield n


_ENDLESS = _Endless()


def test_unrolling_has_a_bound():
    assert "more than" in compiled_message(unrolled_for_ever, X, error=RuntimeError)


def unbounded_recursion(x, n=0):
    return unbounded_recursion(x + 1, n + 1)


def test_recursion_has_a_bound():
    assert "call depth" in compiled_message(unbounded_recursion, X, error=RuntimeError)


def uses_except_group(x):
    try:
        return x + 1
    except* ValueError:
        x = x - 1
    return x


def test_unsupported_syntax():
    text = compiled_message(uses_except_group, X, error=RuntimeError)
    assert "'try/except*' statements cannot be compiled" in text


def undefined_name(x):
    return x + not_there  # noqa: F821


def test_undefined_name():
    assert "'not_there' is not defined" in compiled_message(undefined_name, X, error=NameError)


def raises_when_positive(x):
    if x.sum() > 0:
        raise ValueError("positive")
    return x * 2


def test_raise_under_a_condition_that_only_the_graph_knows():
    function = ms.jit(raises_when_positive)
    np.testing.assert_allclose(function(-X).asnumpy(), -2.0)
    assert "positive" in message(function, X, error=ValueError)
    np.testing.assert_allclose(function(-X).asnumpy(), -2.0)


def needs_value(x):
    return x + int(np.asarray(x.asnumpy()).sum())


def test_functions_that_need_values_run_as_python():
    with pytest.warns(UserWarning, match="runs as plain Python"):
        np.testing.assert_allclose(ms.jit(needs_value)(X).asnumpy(), 7.0)
    ms.set_context(jit_syntax_level=ms.STRICT)
    try:
        assert "only known when the compiled graph runs" in compiled_message(needs_value, X, error=TypeError)
    finally:
        ms.set_context(jit_syntax_level=ms.LAX)


def test_construct_is_missing():
    class Empty(nn.Cell):
        pass

    assert "construct" in message(Empty(), X, error=AttributeError)


def test_super_init_is_missing():
    class Forgetful(nn.Cell):
        def __init__(self):
            self.dense = nn.ReLU()

    assert "super().__init__()" in message(Forgetful, error=AttributeError)


def test_context_rejects_nonsense():
    for setting in ({"mode": 5}, {"device_target": "Abacus"}, {"nonsense": 1}, {"max_call_depth": 0}):
        with pytest.raises(ValueError):
            ms.set_context(**setting)


def returns_a_function(x):
    return lambda y: x + y


def sets_a_parameter(x):
    PARAMETER.set_data(x)
    return x


def lists_parameters(x):
    return NETWORK.trainable_params()


def slices_by_text(x):
    return (1, 2, 3)["a":]  # noqa: RUF016 - the mistake under test


PARAMETER = ms.Parameter(X, name="p")
NETWORK = nn.Dense(2, 2)


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (returns_a_function, RuntimeError, "Function in output is not supported"),
        (sets_a_parameter, RuntimeError, "'Parameter' object's method 'set_data' is not supported"),
        (lists_parameters, RuntimeError, "Cell.trainable_params' is not supported"),
        (slices_by_text, TypeError, "Slice indices must be integers"),
    ],
)
def test_what_compiled_code_may_not_do(function, error, words):
    assert words in message(ms.jit(function), X, error=error)


METHOD_MISTAKES = {
    "unknown keyword": (lambda x: x.max(a=1), ["Tensor.max(dim=<int>, keepdim=<bool>)", "incorrect keyword name: a"]),
    "wrong type": (lambda x: x.max(1, [1]), ["invalid types: (int, list<int>)", " " * 46 + "~" * 11]),
    "too many": (lambda x: x.add(x, 1), ['Failed calling add with "add(Tensor, int)"', "~" * 13]),
    "missing": (lambda x: x.add(), ["The valid calling should be:", "missing 1 required positional argument"]),
    "one way only": (lambda x: x.max(0, 1, initial=None), ["'keepdims' (position 2) must be bool, not int"]),
    "no arguments": (lambda x: x.abs(1), ["abs() takes 0 positional arguments but 1 was given. Call it as Tensor.abs()."]),
    "sizes": (lambda x: x.reshape(1, 1.1), ["'shape' (position 2) must be tuple of int, not float"]),
    "by class": (lambda x: Tensor.add([1], x), ["must be given a Tensor first"]),
}  # fmt: skip


@pytest.mark.parametrize("name", METHOD_MISTAKES)
def test_wrong_calls_of_tensor_methods_show_the_right_ones(name):
    function, expected = METHOD_MISTAKES[name]
    text = compiled_message(function, X, error=TypeError)
    if name not in ("one way only", "wrong type", "by class"):  # PyNative mode takes more
        assert text.startswith(message(function, X, error=TypeError))
    assert all(part in text for part in expected), text


def test_right_calls_of_tensor_methods_are_left_alone():
    @ms.jit
    def f(x, i):
        y = x.view(3, 2).permute(1, 0).reshape((2, -1)).reshape(-1, i.shape[0]).tile((1, 1))
        z = (
            x.max(1)[0]
            + x.max(axis=1)
            + x.sum(0).sum()
            + x.mean((0, 1))
            + x.std(0).sum()
            + x.min(axis=0, keepdims=True).sum()
        )
        return y.clamp(0, 1), z.add(1).sub(x.mean(), alpha=2).pow(2).div(3, rounding_mode="floor"), x.transpose(1, 0)

    assert f(X, Tensor([1, 2]))[0].shape == (3, 2)


def test_fullgraph_refuses_to_run_as_python():
    with pytest.raises(TypeError, match=r"asnumpy\(\) needs the value") as caught:
        ms.jit(looks_at_numbers, fullgraph=True)(X)
    assert "looks_at_numbers" in str(caught.value)


def test_a_tensor_kept_from_inside_of_a_graph_is_named():
    """A hook that stores a value outside: the graph's tensor has none afterwards."""
    kept = []
    net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())
    net[0].register_forward_hook(lambda cell, inputs, output: kept.append(output))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net(ms.Tensor([[1.0, 2.0]]))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    for use in (lambda x: x + 1, ops.var, ops.relu, lambda x: x[0], lambda x: ops.concat((x, x))):
        with pytest.raises(TypeError, match="kept from inside of a compiled function"):
            use(kept[0])
