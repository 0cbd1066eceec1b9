"""The language: each feature runs in both modes and on both reference backends, and must agree with plain Python.

A case is a function and its arguments. In PyNative mode Python itself runs it; compiled, the interpreter and the
backend do. Results must be equal.
"""

import numpy as np
import pytest
from language_cases import CASES, assert_same

import mindspore as ms
from mindspore import Tensor, nn


@pytest.mark.parametrize(("fn", "arguments"), [pytest.param(f, a, id=name) for name, f, a in CASES])
@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
def test_compiled_equals_python(fn, arguments, backend):
    ms.set_context(backend=backend)
    try:
        expected = fn(*arguments)
        assert_same(ms.jit(fn)(*arguments), expected)
    finally:
        ms.set_context(backend="")


class Block(nn.Cell):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")

    def construct(this, x):
        if this.training:
            return x * this.weight * this.scale
        return x * this.weight


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Block(1.0), Block(2.0), Block(3.0)])
        self.count = ms.Parameter(Tensor(0), name="count", requires_grad=False)

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        if x.sum() > 5:
            self.count += 1
        return x


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_cells_in_both_modes(mode):
    ms.set_context(mode=mode)
    try:
        net = Net()
        net.set_train()
        x = Tensor([1.0, 1.0])
        np.testing.assert_allclose(net(x).asnumpy(), [6.0, 48.0])
        net.set_train(False)
        np.testing.assert_allclose(net(x).asnumpy(), [1.0, 8.0])
        np.testing.assert_allclose(net(x * 0).asnumpy(), [0.0, 0.0])
        assert net.count.asnumpy() == 2
        assert [p.name for p in net.get_parameters()] == [
            "count",
            "blocks.0.weight",
            "blocks.1.weight",
            "blocks.2.weight",
        ]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_sequences_of_variable_length():
    def run(xs):
        xs.append(7)
        return xs[1:] * 2, len(xs), xs.count(7), tuple(xs)

    for values in ([1, 2], [3, 7, 5]):
        got = ms.jit(run)(ms.mutable(list(values), True))
        assert got == run(list(values))
    with pytest.raises(TypeError, match="when the queue is dynamic length"):
        ms.jit(lambda xs: xs.append(2.5))(ms.mutable([1, 2], True))
    with pytest.raises(ValueError, match="element type do not match"):
        ms.mutable([1, 2.5], True)


def test_numbers_made_mutable_inside_a_graph_are_known_when_it_runs():
    @ms.jit
    def total(x):
        for i in range(ms.mutable(4)):
            x = x + i
        return x, ms.ops.isconstant(ms.mutable(3))

    out, constant = total(ms.Tensor(1))
    assert int(out) == 7 and not constant


def test_long_loops_over_python_values_are_unrolled():
    def run(x):
        for i in list(range(700)):
            x = x + i
        for i, step in enumerate([1] * 700):
            x = x + step * (i % 2)
        return x

    assert int(ms.jit(run)(Tensor(0))) == int(run(Tensor(0)))


def test_printing_follows_the_program_at_every_run(capsys):
    def run(x):
        print("start", x.shape)
        print(f"sum {x.sum():.2f} of {x}", end=";\n")
        print((x.sum(), 1), [2], {"a": [x], "b": ("c", None)}, sep="|")
        print(f"{x!r} and {[x]} and {(x,)!r} and {x!s} {len(x.shape)!r:>3}")
        if x.sum() > 2:
            print("large")
        return x

    for arguments in ([1.0, 2.0], [0.5, 0.5]):
        run(Tensor(arguments))
        want = capsys.readouterr().out
        ms.jit(run)(Tensor(arguments))
        assert capsys.readouterr().out == want
    compiled = ms.jit(run)
    for _ in range(2):
        compiled(Tensor([0.0]))
        assert capsys.readouterr().out.startswith("start (1,)\nsum 0.00 of [0.];\n")


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def describe(subject, x):
    match subject:
        case None | False:
            return x
        case int(n) if n > 10:
            return x + n
        case 3 | 4 as number:
            return x * number
        case "text":
            return x - 1
        case {"a": first, **others}:
            return first + len(others) + x
        case [first, *middle, last]:
            return x + first + last + len(middle)
        case Point(px, y=2):
            return x * px
        case Point():
            return -x
        case _:
            return x * 100


@pytest.mark.parametrize(
    "subject",
    [
        None,
        False,
        30,
        3,
        4,
        5,
        "text",
        "other",
        {"a": 2, "b": 3},
        {},
        [1, 2, 3, 4],
        (1, 2),
        [1],
        Point(7, 2),
        Point(7, 3),
    ],
    ids=lambda subject: f"Point({subject.x},{subject.y})" if isinstance(subject, Point) else repr(subject),
)
def test_match(subject):
    x = Tensor([1.0, 2.0])
    got, want = ms.jit(lambda x: describe(subject, x))(x), describe(subject, x)
    assert got.asnumpy().tolist() == want.asnumpy().tolist()


def test_match_inside_run_time_control_flow():
    def run(x, kind):
        total = x * 0
        while total.sum() < 10:
            match kind:
                case ("add", step):
                    total = total + x * step
                case "mul":
                    if x.sum() > 2:
                        return total + x * 50
                    total = total + 20
        return total

    for kind in (("add", 2), "mul"):
        for start in (1.0, 3.0):
            x = Tensor([start])
            assert float(ms.jit(lambda x, kind=kind: run(x, kind))(x)) == float(run(x, kind))


def test_comments_that_settle_conditions():
    @ms.jit
    def told(x):
        if x == 2:  # @jit.cond: False
            return x + 1
        return x * 10

    assert told(Tensor(2)) == 20


def test_wrong_second_arguments_of_isinstance():
    for wrong in (Tensor(1), [list, tuple], (int, (3,))):
        with pytest.raises(TypeError, match="arg 2 must be a type or tuple of types"):
            ms.jit(lambda x, wrong=wrong: isinstance(x, wrong))(Tensor(1))


@pytest.mark.parametrize("kind", [int, float])
def test_numbers_are_made_of_tensors_of_one_element(kind):
    def convert(x):
        return kind(x)

    words = set()
    for call in (convert, ms.jit(convert)):
        with pytest.raises(ValueError, match="Only one element tensors") as caught:
            call(Tensor([1, 2, 4]))
        words.add(str(caught.value).split("\n")[0])
    assert len(words) == 1


def test_identity_of_numbers_that_only_the_graph_knows():
    @ms.jit
    def compared(x):
        count = 0
        while count < x:
            count = count + 1
        flag = bool(x > 1)
        out = 0
        if flag is True:
            out = 5
        chosen = 1 if count is not 3 else 2  # noqa: F632 - what is tested
        return int(x) is 3, count is None, flag is True, flag is 1, flag is not False, x is 3, count is count, out, chosen  # noqa: F632

    assert compared(Tensor([3])) == (True, False, True, False, True, False, True, 5, 2)
    assert compared(Tensor([0])) == (False, False, False, False, False, False, True, 0, 1)
