"""Each test that asks for `mode` runs eagerly, and as a graph on the NumPy and XLA backends."""

import pytest

import mindspore as ms

MODES = {"pynative": {"mode": ms.PYNATIVE_MODE}}
MODES |= {name: {"mode": ms.GRAPH_MODE, "backend": name} for name in ("interp", "xla")}


@pytest.fixture(params=list(MODES))
def mode(request):
    if request.param == "xla":
        pytest.importorskip("jax")
    before = ms.get_context("mode")
    ms.set_context(**MODES[request.param])
    yield request.param
    ms.set_context(mode=before)
