"""How precisely GPUs compute float32 products."""

from __future__ import annotations

from mindspore._base.optional import available
from mindspore.device_context import _settings


def matmul_allow_tf32(value: bool) -> None:
    """Allow TensorFloat-32 in matrix products of float32."""
    _settings.remember("gpu.matmul_allow_tf32", _settings.typed("value", value, bool))
    if available("jax"):
        import jax

        jax.config.update("jax_default_matmul_precision", "tensorfloat32" if value else "highest")


def conv_allow_tf32(value: bool) -> None:
    """Allow TensorFloat-32 in convolutions of float32. XLA has one switch for products and convolutions: see above."""
    _settings.remember("gpu.conv_allow_tf32", _settings.typed("value", value, bool))
