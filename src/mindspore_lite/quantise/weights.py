"""Weight quantisation: whole numbers of 2 to 16 bits in the file, floats in memory.

Per channel (the first axis of filters, the last of matrices) x = (q - zero) * scale, symmetric: zero is 0, and the scale is that of the
largest magnitude. With `bias_correction` the codes' mean error per channel is put into the zero point: in expectation over
inputs a layer's result then keeps its mean (Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias
Correction", 2019, reduced to the weights).

`bit_num = 0` is mixed: every weight gets the fewest bits for which its error is at most `init_scale` of it
(`[mixed_bit_weight_quant_param]`), so what is easily rounded takes little room and what is not keeps its accuracy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mindspore_lite.arrays import ArrayWriter
from mindspore_lite.model_file import LiteModel

Sections = dict[str, dict[str, str]]


class QuantiseOptions(NamedTuple):
    """`[common_quant_param]` and `[weight_quant_param]` of a configuration. 0 bits: as many as each weight needs."""

    bits: int = 8
    smallest: int = 0  # elements of a weight that is worth it
    channels: int = 16
    skip: frozenset[str] = frozenset()
    per_channel: bool = True
    bias_correction: bool = True
    error: float = 0.02  # of a weight's norm, where its bits are chosen

    @classmethod
    def from_config(cls, config: Sections) -> QuantiseOptions | None:
        """The options, or None if another kind of quantisation or none was asked for."""
        common = config.get("common_quant_param", {})
        if common.get("quant_type", "") != "WEIGHT_QUANT":
            return None
        bits = whole("bit_num", common.get("bit_num", "8"), 0, 16)
        own = config.get("weight_quant_param", {})
        return cls(
            bits,
            whole("min_quant_weight_size", common.get("min_quant_weight_size", "0"), 0, 1 << 40),
            whole("min_quant_weight_channel", common.get("min_quant_weight_channel", "16"), 0, 1 << 40),
            skipped(common),
            truth("per_channel", own.get("per_channel", "true")),
            truth("bias_correction", own.get("bias_correction", "true")),
            _error(config.get("mixed_bit_weight_quant_param", {})),
        )


def _error(section: dict[str, str]) -> float:
    """`init_scale`; `auto_tune` has nothing to add to it: bits are chosen by the error itself."""
    truth("auto_tune", section.get("auto_tune", "false"))
    try:
        value = float(section.get("init_scale", "0.02"))
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise ValueError(f"init_scale must be a number between 0 and 1, but got {section['init_scale']!r}")
    return value


def skipped(common: dict[str, str]) -> frozenset[str]:
    """`skip_quant_node`: names of weights."""
    return frozenset(name.strip() for name in common.get("skip_quant_node", "").split(",") if name.strip())


def whole(name: str, text: str, least: int, most: int) -> int:
    if not text.isdigit() or not least <= int(text) <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}, but got {text!r}")
    return int(text)


def truth(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{name} must be true or false, but got {text!r}")
    return text.lower() == "true"


def quantise_weights(model: LiteModel, arrays: ArrayWriter, options: QuantiseOptions) -> LiteModel:
    """Put the quantised weights of a model's graph into `arrays`, where writing the model finds them."""
    if model.program is None:
        raise ValueError("quantisation needs a graph: the model leaves sizes open; give input_shape")
    for name, array in model.program.weights.items():
        if name in options.skip or not _is_worth_it(array, options):
            continue
        axis = channel_axis(array) if options.per_channel else None
        bits = options.bits or _fewest_bits(array, axis, options)
        codes, scale, zero = quantise(array, bits, axis, options.bias_correction)
        arrays.add_quantised(array, codes, bits, axis, scale, zero)
    return model


def _fewest_bits(array: np.ndarray, axis: int | None, options: QuantiseOptions) -> int:
    """Bits for which the error is small enough; 16 if no fewer are."""
    along = [1] * array.ndim
    if axis is not None:
        along[axis] = -1
    for bits in range(2, 16):
        codes, scale, zero = quantise(array, bits, axis, options.bias_correction)
        rounded = (codes - zero.reshape(along)) * scale.reshape(along)
        if np.linalg.norm(rounded - array) <= options.error * np.linalg.norm(array):
            return bits
    return 16


def _is_worth_it(array: np.ndarray, options: QuantiseOptions) -> bool:
    return (
        array.dtype == np.float32
        and array.ndim >= 2
        and array.size >= max(options.smallest, 1)
        and array.shape[channel_axis(array)] >= options.channels
    )


def channel_axis(array: np.ndarray) -> int:
    """The axis of output channels: the first of filters, the last of matrices that stand on the right."""
    return array.ndim - 1 if array.ndim == 2 else 0


def quantise(
    array: np.ndarray, bits: int, axis: int | None, correct: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(codes, scale, zero): x ≈ (codes - zero) * scale, per channel of `axis`."""
    most = (1 << (bits - 1)) - 1 if bits > 1 else 1
    others = None if axis is None else tuple(d for d in range(array.ndim) if d != axis)
    largest = np.abs(array).max(axis=others, keepdims=True)
    scale = np.where(largest > 0, largest / most, 1).astype(np.float32)
    codes = np.clip(np.rint(array / scale), -most if bits > 1 else -1, most if bits > 1 else 0)
    zero = np.zeros_like(scale)
    if correct:
        zero = (codes - array / scale).mean(axis=others, keepdims=True).astype(np.float32)
    return codes.astype(np.int32), scale.reshape(-1), zero.reshape(-1)
