"""A module that was edited and loaded again is compiled from its new text."""

import importlib
import sys

import mindspore as ms


def test_a_reloaded_function_is_compiled_anew(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "edited_module.py"
    results = []
    for body in ("x + 1", "x.sum(0)", "x * 2.5 - 1", "x.max(-1)"):
        file.write_text(f"def f(x):\n    return {body}\n")
        importlib.invalidate_caches()
        module = importlib.import_module("edited_module")
        module = importlib.reload(module)
        results.append(ms.jit(module.f)(ms.Tensor([1.0, 3.0])).asnumpy().tolist())
    assert results == [[2.0, 4.0], 4.0, [1.5, 6.5], 3.0]


def test_max_of_a_position_is_an_axis_in_graphs_and_a_dim_in_pynative():
    x = ms.Tensor([[1.0, 5.0], [7.0, 2.0]])
    assert ms.jit(lambda x: x.max(1))(x).asnumpy().tolist() == [5.0, 7.0]
    assert ms.jit(lambda x: x.min(0, True))(x).asnumpy().tolist() == [[1.0, 2.0]]
    ms.set_context(mode=ms.PYNATIVE_MODE)
    values, indices = x.max(1)
    assert values.asnumpy().tolist() == [5.0, 7.0] and indices.asnumpy().tolist() == [1, 0]
    assert x.max(1, keepdims=True).asnumpy().tolist() == [[5.0], [7.0]]
    assert x.max(axis=0).asnumpy().tolist() == [7.0, 5.0]
