"""Which backend compiles graphs: native code on a CPU, another one, said once, where that is not possible."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore.backends import cpu
from mindspore.compiler.fuse.loopir import Unsupported
from mindspore.runtime import choose_backend, context, devices, settings


@pytest.mark.skipif(not cpu.available(), reason="the native backend is not installed")
def test_native_code_is_the_default_on_a_cpu(monkeypatch):
    assert choose_backend.best(chosen("CPU", devices.NumpyDevice())) == "cpu"
    assert choose_backend.best(chosen("Ascend", devices.NumpyDevice())) == "cpu"  # a script for a device that is not here
    assert choose_backend.best(chosen("GPU", object.__new__(devices.XlaDevice))) != "cpu"


def chosen(target, device):
    made = context.Context(settings.defaults())
    made.settings["device_target"], made.device = target, device
    return made


@pytest.mark.parametrize("has_jax,name", [(True, "XLA"), (False, "NumPy")])
def test_what_runs_graphs_instead_is_said(monkeypatch, has_jax, name):
    monkeypatch.setattr(cpu, "available", lambda: False)
    monkeypatch.setattr(choose_backend, "available", lambda module: has_jax or module != "jax")
    with pytest.warns(UserWarning, match=f"graphs run on {name}: .*pip install"):
        assert choose_backend.best(chosen("CPU", devices.NumpyDevice())) == ("xla" if has_jax else "interp")


def test_a_graph_that_cannot_be_compiled_runs_nevertheless(monkeypatch):
    def refuse(*_):
        raise Unsupported("a test")

    monkeypatch.setattr("mindspore.backends.cpu.backend.expand", refuse)
    ms.set_context(backend="cpu")
    try:
        with pytest.warns(UserWarning, match="runs on NumPy"):
            got = ms.jit(lambda x: x * 2 + 1)(ms.Tensor(np.arange(3, dtype=np.float32)))
    finally:
        ms.set_context(backend="")
    np.testing.assert_array_equal(got.asnumpy(), [1, 3, 5])
