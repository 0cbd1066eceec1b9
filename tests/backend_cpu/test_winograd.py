"""Convolutions by transformed tiles against direct ones in float64: all three passes, every kind of border."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore.backends.cpu import available

if not available():
    pytest.skip("the native backend is not installed", allow_module_level=True)

from tests.backend_cpu.helpers import build

from mindspore.backends.cpu import CpuBackend, winograd
from mindspore.prims import arrays, conv
from mindspore.prims import elementwise as ew

RNG = np.random.default_rng(5)
#: batch, channels in and out, height, width, padding
SHAPES = [(2, 64, 80, 28, 28, 1), (6, 64, 64, 14, 17, 1), (3, 80, 64, 25, 30, 0), (2, 64, 64, 27, 29, 2)]
SHAPES += [(7, 64, 64, 16, 16, (1, 0, 2, 1))]


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def run(function, *inputs: np.ndarray, flags: str = "") -> tuple[np.ndarray, list[str]]:
    executable = CpuBackend(flags).compile(build(function, *inputs))
    result = executable(*inputs)[0]
    np.testing.assert_array_equal(result, executable(*inputs)[0])
    return result, [s.split(" ")[0] for s in executable.steps()]


def close(got: np.ndarray, want: np.ndarray) -> None:
    """Within a few roundings of the largest element."""
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


def test_the_matrices_convolve():
    signal, taps = RNG.standard_normal(6), RNG.standard_normal(3)
    m = winograd.MATRICES
    got = m["result"] @ ((m["filter"] @ taps) * (m["image"] @ signal))
    np.testing.assert_allclose(got, np.correlate(signal, taps, "valid"), rtol=1e-12, atol=1e-12)
    assert all(np.array_equal(matrix.astype(np.float32), matrix) for name, matrix in m.items() if "filter" not in name)


def _layer(kind: type, out: int, pad) -> conv.Conv2D:
    return kind(out, 3, pad=pad, pad_mode="pad")


@pytest.mark.parametrize(("n", "c", "o", "h", "w", "pad"), SHAPES)
def test_three_passes(n, c, o, h, w, pad):
    layer = _layer(conv.Conv2D, o, pad)
    x, f = normal(n, c, h, w), normal(o, c, 3, 3) / 24
    want = layer.eval(np, x.astype(np.float64), f.astype(np.float64))
    got, steps = run(lambda a, b: layer(a, b), x, f)
    assert "winograd_result" in steps
    close(got, want)

    dy = normal(*want.shape)
    to_input = _layer(conv.Conv2DBackpropInput, o, pad)
    got, steps = run(lambda a, b: to_input(a, b, x.shape), dy, f)
    assert "winograd_result" in steps
    close(got, to_input.eval(np, dy.astype(np.float64), f.astype(np.float64), x.shape))

    to_filter = _layer(conv.Conv2DBackpropFilter, o, pad)
    got, steps = run(lambda a, b: to_filter(a, b, f.shape), dy, x)
    assert "winograd_filter_gradient" in steps
    close(got, to_filter.eval(np, dy.astype(np.float64), x.astype(np.float64), f.shape))


def test_absorbs_bias_residual_and_relu():
    layer = _layer(conv.Conv2D, 64, 1)
    x, f, b = normal(2, 64, 26, 27), normal(64, 64, 3, 3) / 24, normal(64)

    def block(a, k, bias):
        return ew.ReLU()(ew.Add()(ew.Add()(layer(a, k), arrays.Reshape()(bias, (1, -1, 1, 1))), a))

    got, steps = run(block, x, f, b)
    assert "winograd_result+bias+add+relu" in steps
    y = layer.eval(np, x.astype(np.float64), f.astype(np.float64)) + b.reshape(1, -1, 1, 1) + x
    close(got, np.maximum(y, 0))
    x[0, 3, 9, 9] = np.nan
    assert np.isnan(run(block, x, f, b)[0][0, :, 9, 9]).all()


@pytest.mark.parametrize(
    "layer",
    [
        conv.Conv2D(64, 3, pad=1, pad_mode="pad", stride=2),
        conv.Conv2D(64, 3, pad=2, pad_mode="pad", dilation=2),
        conv.Conv2D(64, 3, pad=1, pad_mode="pad", group=2),
        conv.Conv2D(64, 5, pad=2, pad_mode="pad"),
    ],
    ids=["stride", "dilation", "groups", "taps"],
)
def test_others_stay_direct(layer):
    taps = layer.kernel_size[0]
    x, f = normal(2, 64, 28, 28), normal(64, 64 // layer.group, taps, taps)
    assert not [s for s in run(lambda a, b: layer(a, b), x, f)[1] if "winograd" in s]


def test_can_be_switched_off(monkeypatch):
    layer = _layer(conv.Conv2D, 64, 1)
    x, f = normal(2, 64, 28, 28), normal(64, 64, 3, 3)
    assert "conv" in run(lambda a, b: layer(a, b), x, f, flags="--opt_level=0")[1]
    monkeypatch.setenv("MS_DEV_CPU_WINOGRAD", "0")
    assert "conv" in run(lambda a, b: layer(a, b), x, f)[1]
