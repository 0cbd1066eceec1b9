"""Precision settings of Ascend processors; checked and remembered."""

from __future__ import annotations

from mindspore.device_context import _settings

_MODES = (
    "force_fp16", "allow_fp32_to_fp16", "allow_mix_precision", "must_keep_origin_dtype", "force_fp32",
    "allow_fp32_to_bf16", "allow_mix_precision_fp16", "allow_mix_precision_bf16",
)  # fmt: skip


def precision_mode(mode: str) -> None:
    """How operations of mixed types are computed."""
    _settings.remember("ascend.precision_mode", _settings.one_of("precision_mode", mode, _MODES))


def op_precision_mode(path: str) -> None:
    """A file that says how single operations are computed."""
    _settings.remember("ascend.op_precision_mode", _settings.typed("path", path, str))


def matmul_allow_hf32(value: bool) -> None:
    """Allow a shorter float32 in matrix products."""
    _settings.remember("ascend.matmul_allow_hf32", _settings.typed("value", value, bool))


def conv_allow_hf32(value: bool) -> None:
    """Allow a shorter float32 in convolutions."""
    _settings.remember("ascend.conv_allow_hf32", _settings.typed("value", value, bool))
