"""Operations that a loaded graph may use beyond those that `mindspore.formats` knows: all of `mindspore.ops`.

Official primitives behind `mindspore.mint` that have no class here are functions of arguments in the order of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import mint, ops
from mindspore.formats.mindir.messages import TYPES_BY_ID
from mindspore.formats.mindir.operations import PrimitiveOperations
from mindspore.ops import operations
from mindspore.prims.primitive import Primitive

ADAPTERS: dict[str, Callable[..., Any]] = {}
_PADDING = {0: "pad", 1: "same", 2: "valid"}


def graph_operations() -> PrimitiveOperations:
    """What carries out the steps of a loaded graph."""
    return PrimitiveOperations(_operation, ADAPTERS)


def _operation(name: str) -> Any:
    found = getattr(operations, name, None)
    return found if isinstance(found, type) and issubclass(found, Primitive) else None


def adapter(*names: str) -> Callable[[Callable], Callable]:
    """Register a function for primitives."""

    def register(function: Callable) -> Callable:
        ADAPTERS.update(dict.fromkeys(names, function))
        return function

    return register


def _dtype(code: Any) -> Any:
    return TYPES_BY_ID[code] if isinstance(code, int) else code


def _cast(x: Any, code: Any) -> Any:
    return x if code is None else x.astype(_dtype(code))


def _functional(name: str) -> Callable:
    return lambda *arguments: getattr(mint.nn.functional, name)(*arguments)


def _op(name: str) -> Callable:
    return lambda *arguments: getattr(ops, name)(*arguments)


ADAPTERS.update({
    "ConvTranspose2D": _functional("conv_transpose2d"),
    "NonZeroExt": _op("nonzero"),
    "TraceV2": lambda x, offset=0, axis1=1, axis2=0, dtype=None: _cast(x.trace(offset, axis1, axis2), dtype),
})  # fmt: skip


@adapter("Conv1DPadding", "Conv2DPadding", "Conv3DPadding")
def _padded_convolution(x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    function = getattr(mint.nn.functional, f"conv{x.ndim - 2}d")
    return function(x, w, bias, stride, _PADDING.get(padding, padding), dilation, groups)


@adapter("Convolution", "ConvolutionStr")
def _convolution(
    x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, extra: Any, groups: int
) -> Any:
    functional = mint.nn.functional
    padding = _PADDING[padding] if isinstance(padding, int) else padding
    if transposed:
        return functional.conv_transpose2d(x, w, bias, stride, padding, extra, groups, dilation)
    return getattr(functional, f"conv{x.ndim - 2}d")(x, w, bias, stride, padding, dilation, groups)


@adapter("LinalgVectorNorm")
def _vector_norm(x: Any, order: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return ops.norm(_cast(x, dtype), order, dim, bool(keepdim))


@adapter("UpsampleBilinear2D")
def _bilinear(x: Any, size: Any = None, scales: Any = None, align_corners: bool = False) -> Any:
    return mint.nn.functional.interpolate(
        x, size=size, scale_factor=None if size else scales, mode="bilinear", align_corners=bool(align_corners)
    )


@adapter("IndexFillScalar", "IndexFillTensor")
def _index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    return ops.index_fill(x, dim, index, value)
