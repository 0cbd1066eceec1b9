"""MindIR: structure, printing, verification, caching of compilation."""

import re

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.compiler import driver, parse
from mindspore.ir import AbstractTensor, CNode, FuncGraph, ValueNode
from mindspore.ir.printer import graph_text
from mindspore.ir.verify import VerifyError, verify


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(Tensor([1.0, 2.0]), name="w")

    def construct(self, x, y):
        x = x + y
        if x.sum() > 0:
            x = x * self.w
        return x


@pytest.fixture
def graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE, save_graphs=False, save_graphs_path=".", backend="")


def traced(function, *args):
    return parse.trace(function, args, {}).graph


def test_text_has_the_documented_form():
    text = graph_text(traced(Net(), Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
    assert re.search(r"^#IR entry      : @Net\.\d+$", text, re.M)
    assert "#Total params  : 3" in text
    assert "%para1_x : <Tensor[Float32], (2)>" in text
    assert re.search(r"%para3_w : <Ref\[Tensor\[Float32\], \(2\)\], ref_key=w>", text)
    assert re.search(r"  %0\(\[CNode\]\d+\) = Add\(%para1_x, %para2_y\)", text)
    assert re.search(r"# In file .*test_ir\.py\(\d+\)/    x = x \+ y/", text)
    assert re.search(r"Cond\(%\d+, @if_true\.\d+, @if_false\.\d+", text)
    assert "primitive_attrs: {keep_dims: False}" in text


def test_dumps_one_file_per_stage(tmp_path, graph_mode):
    ms.set_context(save_graphs=2, save_graphs_path=str(tmp_path))
    Net()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    stages = [p.name for p in sorted(tmp_path.iterdir())]
    assert [re.fullmatch(r"\d+_(.*)_\d+\.ir", s)[1] for s in stages] == [
        "trace", *(name for name, _ in driver.STAGES), "validate",
    ]  # fmt: skip


def test_dumps_of_chosen_stages_with_drawings(tmp_path, graph_mode, monkeypatch):
    monkeypatch.setenv("MS_DEV_DUMP_IR_PASSES", "_validate")
    ms.set_context(save_graphs=3, save_graphs_path=str(tmp_path))
    Net()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    text, drawing = sorted(tmp_path.iterdir(), key=lambda p: p.suffix, reverse=True)
    assert text.suffix == ".ir" and "validate" in text.name
    drawn = drawing.read_text()
    assert drawn.startswith("digraph") and drawn.count("{") == drawn.count("}")
    assert "Add(" in drawn and "if_true" in drawn


def test_the_verifier_notices_broken_graphs():
    graph = traced(lambda x: x * 2 + 1, Tensor([1.0]))
    verify(graph, "trace")
    node = graph.nodes()[0]
    node.abstract = AbstractTensor(ms.int32, (1,))
    with pytest.raises(VerifyError, match="after 'a test'"):
        verify(graph, "a test")
    other = FuncGraph("other")
    foreign = other.add_parameter("p", AbstractTensor(ms.float32, (1,)))
    graph = traced(lambda x: x * 2, Tensor([1.0]))
    graph.nodes()[0].args = (foreign, graph.nodes()[0].args[1])
    with pytest.raises(VerifyError, match="belongs to another graph"):
        verify(graph, "a test")


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (lambda x: (x + 0) * 1, 0),
        (lambda x: -(-x), 0),  # noqa: B002 - two negations are the case
        (lambda x: x.reshape(6).reshape(2, 3), 0),
        (lambda x: x.transpose((1, 0)).transpose((1, 0)), 0),
        (lambda x: x.astype(ms.float64).astype(ms.float32), 0),
        (lambda x: ms.ops.sin(x) + ms.ops.sin(x), 2),
        (lambda x: x * (Tensor([2.0]) + Tensor([3.0])), 1),
        (lambda x: ms.ops.stop_gradient(x), 0),
    ],
)
def test_simplification_leaves_only_what_is_needed(function, left):
    graph = traced(function, Tensor(np.ones((2, 3), np.float32)))
    driver.optimise(graph)
    assert len([n for n in graph.nodes() if n.op.name != "MakeTuple"]) == left


def test_unused_work_disappears():
    def f(x):
        _unused = ms.ops.exp(x)
        return x + 1

    graph = traced(f, Tensor([1.0]))
    assert [n.op.name for n in graph.nodes()] == ["Add", "MakeTuple"]


def test_optimisation_keeps_values_on_random_graphs():
    """Random expressions, evaluated before and after the passes."""
    from mindspore.backends.interp import InterpBackend

    rng = np.random.default_rng(0)
    unary = [lambda a: a + 0, lambda a: a * 1, lambda a: -a, lambda a: a.T, lambda a: a.reshape(-1).reshape(a.shape),
             lambda a: a.astype(ms.float64).astype(ms.float32), lambda a: a.sum(axis=0, keepdims=True) + a]  # fmt: skip
    binary = [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - b, lambda a, b: a @ b]
    for _ in range(20):
        choices = rng.integers(0, 100, 12)

        def f(x, choices=choices):
            values = [x, x * 0, x + 1]
            for k in choices:
                a, b = values[k % len(values)], values[(k // 7) % len(values)]
                op = k % (len(unary) + len(binary))
                values.append(unary[op](a) if op < len(unary) else binary[op - len(unary)](a, b))
            return values[-1]

        x = Tensor(rng.standard_normal((3, 3)).astype(np.float32))
        graph = traced(f, x)
        before = InterpBackend().compile(graph)(x.asnumpy())[0]
        driver.optimise(graph)
        verify(graph, "all passes")
        np.testing.assert_allclose(InterpBackend().compile(graph)(x.asnumpy())[0], before, rtol=1e-5, atol=1e-5)


def test_compiles_once_per_kind_of_arguments():
    compiled = ms.jit(lambda x, n: x * n)
    for _ in range(3):
        compiled(Tensor([1.0, 2.0]), 3)
    assert compiled.compile_cache_size == 1
    compiled(Tensor([1.0, 2.0, 3.0]), 3)
    assert compiled.compile_cache_size == 2
    compiled(Tensor([1.0, 2.0]), 4)
    assert compiled.compile_cache_size == 3
    for n in range(5):
        assert compiled(Tensor([1.0]), ms.mutable(n)).asnumpy() == n
    assert compiled.compile_cache_size == 4


def test_graphs_are_closed_and_typed():
    graph = traced(Net(), Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    for g in graph.all_graphs():
        assert not g.free_variables()
    conds = [n for n in graph.nodes() if n.op.name == "Cond"]
    assert len(conds) == 1
    assert all(isinstance(a, ValueNode) and isinstance(a.value, FuncGraph) for a in conds[0].args[1:3])
    assert all(isinstance(n, CNode) for n in graph.nodes())


def test_compiled_functions_follow_the_training_flag():
    class Switch(nn.Cell):
        def construct(self, x):
            return x * 2 if self.training else x

    net = Switch()
    compiled = ms.jit(lambda x: net(x) + 1)
    assert compiled(Tensor(1.0)).asnumpy() == 2
    net.set_train()
    assert compiled(Tensor(1.0)).asnumpy() == 3
    net.set_train(False)
    assert compiled(Tensor(1.0)).asnumpy() == 2
    assert compiled.compile_cache_size == 2
