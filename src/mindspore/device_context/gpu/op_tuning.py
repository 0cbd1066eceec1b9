"""Algorithms of convolutions on GPUs. XLA chooses by measuring; the names are checked and remembered."""

from __future__ import annotations

from mindspore.device_context import _settings

_COMMON = ("normal", "performance")
_FORWARD = (
    *_COMMON, "implicit_gemm", "precomp_gemm", "gemm", "direct", "fft", "fft_tiling", "winograd", "winograd_nonfused",
)  # fmt: skip
_INPUT = (*_COMMON, "algo_0", "algo_1", "fft", "fft_tiling", "winograd", "winograd_nonfused")
_WEIGHT = (*_COMMON, "algo_0", "algo_1", "fft", "algo_3", "fft_tiling", "winograd_nonfused")


def _choose(name: str, mode: str, allowed: tuple[str, ...]) -> None:
    _settings.typed("mode", mode, str)
    _settings.one_of(f"mindspore.device_context.gpu.op_tuning.{name}", mode, allowed)
    _settings.remember(f"gpu.{name}", mode)


def conv_fprop_algo(mode: str) -> None:
    """The algorithm of the forward pass."""
    _choose("conv_fprop_algo", mode, _FORWARD)


def conv_dgrad_algo(mode: str) -> None:
    """The algorithm of the gradient of the input."""
    _choose("conv_dgrad_algo", mode, _INPUT)


def conv_wgrad_algo(mode: str) -> None:
    """The algorithm of the gradient of the weight."""
    _choose("conv_wgrad_algo", mode, _WEIGHT)
