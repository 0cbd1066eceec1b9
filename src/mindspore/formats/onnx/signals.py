"""ONNX operators on signals: DFT, STFT, MelWeightMatrix. Complex numbers have a last dimension of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.formats.onnx import types
from mindspore.formats.onnx.registry import P, as_tensor, ints, operator, static, tensor


def _fourier(x: Any, length: int, inverse: bool) -> Any:
    """The transform of (…, points, 1 or 2) along the points, as products with matrices of cosines and sines."""
    points = x.shape[-2]
    x = x[..., : min(points, length), :]
    if length > points:
        x = P.Pad(((0, 0),) * (x.ndim - 2) + ((0, length - points), (0, 0)))(x)
    angle = 2 * np.pi * np.outer(np.arange(length), np.arange(length)) / length
    sign = 1 if inverse else -1
    scale = 1 / length if inverse else 1.0
    cosine, sine = (tensor((f(angle) * scale).astype(x.dtype.np)) for f in (np.cos, np.sin))
    real = x[..., 0]
    imaginary = x[..., 1] if x.shape[-1] == 2 else None
    product = lambda a, m: (P.MatMul()(a.reshape(-1, length), m)).reshape(a.shape)
    out_real, out_imaginary = product(real, cosine), product(real, sine) * sign
    if imaginary is not None:
        out_real = out_real - product(imaginary, sine) * sign
        out_imaginary = out_imaginary + product(imaginary, cosine)
    return P.Stack(-1)([out_real, out_imaginary])


@operator("DFT", arrays=True)
def _dft(
    x: Any, length: Any = None, axis_input: Any = None, axis: Any = None, inverse: int = 0, onesided: int = 0,
    opset: int = 20,
) -> Any:  # fmt: skip
    x = as_tensor(x)
    if opset < 20:
        chosen = 1 if axis is None else axis
    else:
        chosen = -2 if axis_input is None else ints(axis_input, "an axis")[0]
    chosen = chosen % x.ndim
    order = [*(i for i in range(x.ndim - 1) if i != chosen), chosen, x.ndim - 1]
    moved = P.Transpose()(x, tuple(order))
    count = moved.shape[-2]
    if onesided and inverse:
        moved, count = _mirrored(moved, length), 2 * (count - 1)
    points = ints(length, "a length")[0] if length is not None else count
    out = _fourier(moved, points, bool(inverse))
    if onesided and not inverse:
        out = out[..., : points // 2 + 1, :]
    elif onesided:
        out = out[..., :1]
    return P.Transpose()(out, tuple(order.index(i) for i in range(x.ndim)))


def _mirrored(x: Any, length: Any) -> Any:
    """All frequencies of a real signal from those that are not negative."""
    points = ints(length, "a length")[0] if length is not None else 2 * (x.shape[-2] - 1)
    rest = x[..., 1 : points - x.shape[-2] + 1, :][..., ::-1, :]
    sign = tensor(np.array([1, -1], x.dtype.np))
    return P.Concat(-2)([x, rest * sign])


@operator("STFT", arrays=True)
def _stft(signal: Any, step: Any, window: Any = None, length: Any = None, onesided: int = 1) -> Any:
    signal = as_tensor(signal)
    if signal.ndim == 2:
        signal = P.ExpandDims()(signal, -1)
    hop = ints(step, "a step")[0]
    size = ints(length, "a length")[0] if length is not None else window.shape[0]
    weights = as_tensor(window).reshape(1, -1, 1) if window is not None else None
    frames = []
    for start in range(0, signal.shape[1] - size + 1, hop):
        frame = signal[:, start : start + size]
        frames.append(frame if weights is None else frame * weights)
    out = _fourier(P.Stack(1)(frames), size, False)
    return out[:, :, : size // 2 + 1] if onesided else out


@operator("MelWeightMatrix", arrays=True)
def _mel_weights(bins: Any, length: Any, rate: Any, low: Any, high: Any, output_datatype: int = 1) -> np.ndarray:
    count, size, speed = (ints(v, "a size")[0] for v in (bins, length, rate))
    edges = [float(np.asarray(static(v, "a frequency")).reshape(-1)[0]) for v in (low, high)]
    mel = [2595 * np.log10(1 + f / 700) for f in edges]
    step = (mel[1] - mel[0]) / (count + 2)
    centres = 700 * (10 ** ((np.arange(count + 2) * step + mel[0]) / 2595) - 1)
    places = ((size + 1) * centres // speed).astype(int)
    out = np.zeros((size // 2 + 1, count))
    for i in range(count):
        left, centre, right = places[i : i + 3]
        if centre == left:
            out[centre, i] = 1
        else:
            out[left : centre + 1, i] = (np.arange(left, centre + 1) - left) / (centre - left)
        if right > centre:
            out[centre:right, i] = (right - np.arange(centre, right)) / (right - centre)
    return out.astype(types.numpy_type(output_datatype))


def _window(coefficients: tuple[float, ...]) -> Any:
    def make(size: Any, output_datatype: int = 1, periodic: int = 1) -> np.ndarray:
        count = ints(size, "a size")[0]
        angle = 2 * np.pi * np.arange(count) / max(count if periodic else count - 1, 1)
        values = sum(c * np.cos(k * angle) * (-1) ** k for k, c in enumerate(coefficients))
        return np.asarray(values, types.numpy_type(output_datatype))

    return make


operator("HannWindow", arrays=True)(_window((0.5, 0.5)))
operator("HammingWindow", arrays=True)(_window((25 / 46, 21 / 46)))
operator("BlackmanWindow", arrays=True)(_window((0.42, 0.5, 0.08)))
