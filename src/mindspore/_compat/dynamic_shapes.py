"""Operations by which official tests hide the sizes of a tensor from the compiler (`ops.operations._inner_ops`).

Graphs here are made for the sizes at hand, so that hiding them is the identity.
"""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.ops.arguments import static_ints
from mindspore.ops.composition import composition

__all__ = [
    "ConvertToDynamic", "DynamicBroadcastTo", "ErrorOnDynamicShapeInput", "GpuConvertToDynamicShape",
]  # fmt: skip


def _same(p: Any, x: Any) -> Any:
    return x


ConvertToDynamic = composition("ConvertToDynamic", _same, "The tensor itself.", is_dynamic_rank=False)
GpuConvertToDynamicShape = composition("GpuConvertToDynamicShape", _same, "The tensor itself.")
ErrorOnDynamicShapeInput = composition("ErrorOnDynamicShapeInput", _same, "The tensor itself: no size is unknown here.")


def _broadcast(p: Any, x: Any, shape: Any) -> Any:
    return ops.broadcast_to(x, static_ints("DynamicBroadcastTo", "shape", shape))


DynamicBroadcastTo = composition("DynamicBroadcastTo", _broadcast, "The tensor broadcast to a shape.")
