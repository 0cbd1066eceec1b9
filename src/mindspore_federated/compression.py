"""Smaller messages: 8-bit quantization, sparse differences, packing of few bits.

QUANT                each weight as int8 between its minimum and maximum
DIFF_SPARSE_QUANT    the change against the model of the round, at a part of the positions that both sides draw from the
                     iteration's number, as int8
min_max, bit_pack    for tensors between the parties of vertical training: 1 to 8 bits per value
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_LEVELS = 255


def quantize(name: str, value: Floats) -> dict[str, Any]:
    """A weight as the fields of `CompressFeatureMap`."""
    low, high = float(value.min()), float(value.max())
    step = (high - low) / _LEVELS
    codes = np.zeros(value.size) if step == 0 else np.rint((value.reshape(-1).astype(np.float64) - low) / step)
    return {"weight_fullname": name, "compress_data": (codes - 128).astype(np.int8), "min_val": low, "max_val": high}


def dequantize(feature: Mapping[str, Any]) -> Floats:
    """The flat weight in the fields of `CompressFeatureMap`."""
    low, high = feature["min_val"], feature["max_val"]
    if not (np.isfinite(low) and np.isfinite(high)) or low > high:
        raise ValueError(f"the range [{low}, {high}] of {feature['weight_fullname']} is none")
    step = (high - low) / _LEVELS
    values: Floats = ((feature["compress_data"].astype(np.float64) + 128) * step + low).astype(np.float32)
    return values


def _positions(size: int, rate: float, iteration: int, index: int) -> NDArray[np.int64]:
    count = max(1, int(size * rate))
    chosen: NDArray[np.int64] = np.sort(np.random.default_rng([iteration, index, size]).permutation(size)[:count])
    return chosen


def encode_diff_sparse_quant(update: Mapping[str, Floats], model: Mapping[str, Floats], rate: float, iteration: int
                             ) -> tuple[list[dict[str, Any]], list[str]]:
    """The change from `model` to `update` as `compress_feature_map` and `name_vec`."""
    features = []
    for index, (name, value) in enumerate(update.items()):
        change = (value - model[name]).reshape(-1)
        features.append(quantize(name, change[_positions(change.size, rate, iteration, index)]))
    return features, list(update)


def decode_diff_sparse_quant(features: Sequence[Mapping[str, Any]], names: Sequence[str], model: Mapping[str, Floats],
                             rate: float, iteration: int, data_size: float) -> dict[str, Floats]:
    """The update, times the client's number of samples, that was encoded against `model`."""
    if not names or len(names) != len(features):
        raise ValueError(f"name_vec has {len(names)} names for {len(features)} features")
    result = {}
    for index, (name, feature) in enumerate(zip(names, features)):
        if name not in model:
            raise ValueError(f"the model has no feature {name}")
        flat = model[name].reshape(-1).copy()
        chosen = _positions(flat.size, rate, iteration, index)
        change = dequantize(feature)
        if change.size != chosen.size:
            raise ValueError(f"feature {name} should have {chosen.size} values, but has {change.size}")
        flat[chosen] += change
        result[name] = flat.reshape(model[name].shape) * np.float32(data_size)
    return result


def min_max_compress(value: Floats, bits: int) -> tuple[NDArray[np.uint8], float, float]:
    """Codes of `bits` bits between the minimum and the maximum."""
    flat = value.reshape(-1).astype(np.float64)
    low, high = (float(flat.min()), float(flat.max())) if flat.size else (0.0, 0.0)
    levels = (1 << bits) - 1
    step = (high - low) / levels
    codes = np.zeros(flat.size, np.uint8) if step == 0 else np.rint((flat - low) / step).astype(np.uint8)
    return codes, low, high


def min_max_decompress(codes: NDArray[np.uint8], low: float, high: float, bits: int) -> Floats:
    """The values of `min_max_compress`, to half a step."""
    values: Floats = (low + codes.astype(np.float64) * ((high - low) / ((1 << bits) - 1))).astype(np.float32)
    return values


def bit_pack(codes: NDArray[np.uint8], bits: int) -> bytes:
    """Codes below 2**bits, `bits` bits each."""
    if codes.size and int(codes.max()) >= 1 << bits:
        raise ValueError(f"codes up to {int(codes.max())} do not fit in {bits} bits")
    spread = (codes[:, None] >> np.arange(bits, dtype=np.uint8)) & 1
    return np.packbits(spread.reshape(-1), bitorder="little").tobytes()


def bit_unpack(data: bytes, count: int, bits: int) -> NDArray[np.uint8]:
    """The codes that `bit_pack` packed."""
    if len(data) != (count * bits + 7) // 8:
        raise ValueError(f"{count} codes of {bits} bits need {(count * bits + 7) // 8} bytes, but got {len(data)}")
    spread = np.unpackbits(np.frombuffer(data, np.uint8), count=count * bits, bitorder="little").reshape(count, bits)
    codes: NDArray[np.uint8] = (spread << np.arange(bits, dtype=np.uint8)).sum(axis=1).astype(np.uint8)
    return codes
