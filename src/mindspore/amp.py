"""Automatic mixed precision: levels, loss scaling, and the check that gradients are finite. Façade: re-exports only.

Examples:
    >>> import mindspore as ms
    >>> from mindspore import amp
    >>> scaler = amp.DynamicLossScaler(scale_value=1024, scale_factor=2, scale_window=1)
    >>> float(scaler.scale(ms.Tensor(0.5)).asnumpy())
    512.0
"""

from __future__ import annotations

from mindspore.nn.loss_scaling import (
    DynamicLossScaleManager,
    DynamicLossScaler,
    FixedLossScaleManager,
    LossScaleManager,
    LossScaler,
    StaticLossScaler,
    all_finite,
)
from mindspore.train.amp import (
    auto_mixed_precision,
    build_train_network,
    custom_mixed_precision,
    float8_products,
    get_black_list,
    get_white_list,
)

__all__ = [
    "DynamicLossScaleManager", "LossScaleManager", "FixedLossScaleManager", "build_train_network", "DynamicLossScaler",
    "StaticLossScaler", "LossScaler", "auto_mixed_precision", "all_finite", "custom_mixed_precision", "float8_products", "get_white_list",
    "get_black_list",
]  # fmt: skip
