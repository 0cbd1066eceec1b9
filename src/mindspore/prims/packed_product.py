"""Products with weights that lie in memory as a kernel reads them: float32, or 8 or 4 bits with a scale per group; or bfloat16.

A weight w (outputs, inputs) is cut into panels of PANEL outputs, so that one panel is one stream of memory:

    float32   (panels, inputs, PANEL)             w[48 p + c, k] at [p, k, c]
    int8      (panels, inputs / 4, PANEL, 4)      bytes w + 128; w[48 p + c, 4 j + i] at [p, j, c, i]
    int4      (panels, inputs / 8, PANEL, 4)      bytes of two w + 8: inputs 8 j + i in the low bits, 8 j + 4 + i in the high ones
    scales    (panels, groups, PANEL)             float32; a group is a run of inputs

With 8 or 4 bits the inputs are rounded, too, to 8 bits with a scale for each row and group, so that sums within a group are exact
integers (Dettmers et al., LLM.int8(), 2022, by groups instead of columns). Each result is added up by itself, in the order of
the inputs: its bits do not depend on how many rows there are.

For accelerators a weight is bfloat16 (outputs, inputs), and so are the inputs; a GPU has a kernel that keeps the promise
(`pallas/row_products.py`). `in_order=False` gives it up for the vendor's product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims.pallas import on_cuda, row_products
from mindspore.prims.precision import product
from mindspore.prims.primitive import Primitive

#: outputs of a panel: three registers of 16 numbers
PANEL = 48
KINDS = ("float32", "int8", "int4", "bfloat16")
_GROUPS = {"int8": 128, "int4": 64}
#: weights that are rounded at once, so that what lies between stays in the CPU's cache
_PIECE = 1 << 18


@dataclass(frozen=True)
class Packed:
    """A packed weight of `outputs` × `inputs`."""

    kind: str
    outputs: int
    inputs: int
    weight: np.ndarray
    scales: np.ndarray | None


def pack(weight: np.ndarray, kind: str = "float32") -> Packed:
    """Pack a weight (outputs, inputs), rounding to nearest where the kind has fewer bits. A tensor of bfloat16, which may be an
    accelerator's, stays as it is."""
    if kind not in KINDS:
        raise ValueError(f"a weight can be packed as one of {KINDS}, but got {kind!r}")
    outputs, inputs = weight.shape
    if kind == "bfloat16":
        return Packed(
            kind,
            outputs,
            inputs,
            weight if weight.dtype is mstype.bfloat16 else np.ascontiguousarray(weight, mstype.bfloat16.np),
            None,
        )
    panels = -(-outputs // PANEL)
    if kind == "float32":
        return Packed(kind, outputs, inputs, _panels(weight, panels), None)
    group = group_of(kind, inputs)
    packed = np.empty((panels, inputs // (4 if kind == "int8" else 8), PANEL, 4), np.uint8)
    scales = np.empty((panels, inputs // group, PANEL), np.float32)
    step = max(_PIECE // (PANEL * inputs), 1)
    for start in range(0, panels, step):
        part = weight[start * PANEL : (start + step) * PANEL]
        _round(part, kind, group, packed[start : start + step], scales[start : start + step])
    return Packed(kind, outputs, inputs, packed, scales)


def _round(weight: np.ndarray, kind: str, group: int, packed: np.ndarray, scales: np.ndarray) -> None:
    """Round some panels' outputs into their places; what is missing of the last panel is 0."""
    panels, inputs = len(packed), weight.shape[1]
    whole = np.ascontiguousarray(weight)  # GPT-2 has its matrices transposed
    if len(weight) < panels * PANEL:
        whole = np.zeros((panels * PANEL, inputs), np.float32)
        whole[: len(weight)] = weight
    grouped = whole.reshape(panels * PANEL, inputs // group, group)
    found = _scales(grouped, kind)
    rounded = grouped / np.where(found == 0, 1, found)[..., None]
    np.rint(rounded, out=rounded)
    if kind == "int4":
        np.clip(rounded, -8, 7, out=rounded)
    rounded += 128 if kind == "int8" else 8
    fours = (
        rounded.astype(np.uint8).view(np.uint32).reshape(panels, PANEL, inputs // 4).swapaxes(1, 2)
    )  # four inputs are one number
    target = packed.view(np.uint32)[..., 0]
    target[:] = fours if kind == "int8" else fours[:, 0::2] | fours[:, 1::2] << 4
    scales[:] = found.reshape(panels, PANEL, -1).swapaxes(1, 2)


def _panels(weight: np.ndarray, panels: int) -> np.ndarray:
    outputs, inputs = weight.shape
    packed = np.empty((panels, inputs, PANEL), np.float32)
    whole, rest = divmod(outputs, PANEL)
    packed[:whole] = weight[: whole * PANEL].reshape(whole, PANEL, inputs).swapaxes(1, 2)
    if rest:
        packed[whole, :, :rest] = weight[whole * PANEL :].T
        packed[whole, :, rest:] = 0
    return packed


def _scales(grouped: np.ndarray, kind: str) -> np.ndarray:
    """8 bits reach as far on both sides; 4 bits have one step more below 0, which the largest number of the group gets."""
    lowest, highest = grouped.min(-1), grouped.max(-1)
    if kind == "int8":
        return np.maximum(-lowest, highest) / np.float32(127)
    return np.where(-lowest >= highest, lowest, highest) / np.float32(-8)


def group_of(kind: str, inputs: int) -> int:
    """How many inputs share a scale."""
    group = _GROUPS[kind]
    while inputs % group:
        group //= 2
    if group < 16:
        raise ValueError(f"a weight of {inputs} inputs cannot have {kind}: their number must be a multiple of 16")
    return group


def unpacked(xp: Any, kind: str, weight: Any) -> Any:
    """(panels * PANEL, inputs): the weight's numbers, without scales."""
    panels = weight.shape[0]
    if kind == "float32":
        return xp.swapaxes(weight, 1, 2).reshape(panels * PANEL, -1)
    if kind == "int4":
        weight = xp.stack([weight & 15, weight >> 4], axis=2).reshape(panels, -1, PANEL, 4)
    values = weight.astype(np.int32) - (128 if kind == "int8" else 8)
    return xp.swapaxes(values, 1, 2).reshape(panels * PANEL, -1)


def half_product(xp: Any, x: Any, weight: Any) -> Any:
    """x weightᵀ of 16-bit floats, added up in float32."""
    if not hasattr(x, "aval"):
        return product(xp, x.astype(np.float32), weight.astype(np.float32).T)
    jax = require("jax", "xla", "products on XLA")
    return jax.lax.dot_general(x, weight, (((1,), (1,)), ((), ())), preferred_element_type=np.float32)


class PackedProduct(Primitive):
    """x wᵀ + bias + residual for x (rows, inputs) and a weight made by `pack`.

    scales: None for float32; bias: (outputs,) or None; residual: (rows, outputs) or None.

    Args:
        outputs (int): numbers of a result's row.
        kind (str): how the weight was packed: 'float32', 'int8', 'int4' or 'bfloat16'.
        in_order (bool): whether each result is added up in the order of the inputs, whatever the number of rows.

    Examples:
        >>> from mindspore.prims.packed_product import PackedProduct, pack
        >>> packed = pack(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
        >>> print(PackedProduct(2)(Tensor([[1.0, 1.0]]), Tensor(packed.weight), None, None, None))
        [[3. 7.]]
    """

    def __init__(self, outputs: int, kind: str = "float32", in_order: bool = True):
        if kind not in KINDS:
            raise ValueError(f"For 'PackedProduct', 'kind' must be one of {KINDS}, but got {kind!r}.")
        super().__init__("PackedProduct", outputs=int(outputs), kind=kind, in_order=bool(in_order))

    def infer(self, x: Any, weight: Any, scales: Any, bias: Any, residual: Any) -> Any:
        for name, value in (("x", x), ("weight", weight)):
            checks.tensor(self.name, name, value)
        allowed = (mstype.float32, mstype.bfloat16) if self.kind == "bfloat16" else (mstype.float32,)
        if x.ndim != 2 or x.dtype not in allowed:
            words = " or ".join(str(dtype) for dtype in allowed)
            raise TypeError(f"For '{self.name}', 'x' must be {words} (rows, inputs), but got {x.dtype} {x.shape}.")
        names = ("weight", "scales", "bias", "residual")
        for name, value, (dtype, shape) in zip(names, (weight, scales, bias, residual), self._needed(*x.shape)):
            if value is None and name in ("bias", "residual"):
                continue
            found = None if value is None else (value.dtype, tuple(value.shape))
            if found != (None if dtype is None else (dtype, shape)):
                raise ValueError(
                    f"For '{self.name}' of kind {self.kind!r}, {self.outputs} outputs and {x.shape[1]} inputs, '{name}' must be "
                    f"{'None' if dtype is None else f'{dtype} {shape}'}, but got {'None' if found is None else f'{found[0]} {found[1]}'}."
                )
        return AbstractTensor(mstype.float32, (x.shape[0], self.outputs))

    def _needed(self, rows: int, inputs: int) -> tuple:
        """Types and shapes of weight, scales, bias and residual."""
        panels = -(-self.outputs // PANEL)
        added = (mstype.float32, (self.outputs,)), (mstype.float32, (rows, self.outputs))
        if self.kind == "bfloat16":
            return (mstype.bfloat16, (self.outputs, inputs)), (None, ()), *added
        if self.kind == "float32":
            return (mstype.float32, (panels, inputs, PANEL)), (None, ()), *added
        groups = inputs // group_of(self.kind, inputs)
        per_byte = 4 if self.kind == "int8" else 8
        return (mstype.uint8, (panels, inputs // per_byte, PANEL, 4)), (mstype.float32, (panels, groups, PANEL)), *added

    def multiplications(self, x: Any, *_: Any) -> int:
        return x.shape[0] * x.shape[1] * self.outputs if self.kind == "bfloat16" else 0

    def eval_xla(self, jnp: Any, x: Any, weight: Any, scales: Any, bias: Any, residual: Any) -> Any:
        if self.kind != "bfloat16" or not (self.in_order and row_products.fits(x.shape[1]) and on_cuda()):
            return self.eval(jnp, x, weight, scales, bias, residual)
        return row_products.product(x.astype(weight.dtype), weight, bias, residual)

    def eval(self, xp: Any, x: Any, weight: Any, scales: Any, bias: Any, residual: Any) -> Any:
        out = self._product(xp, x, weight, scales)
        out = out if bias is None else out + bias
        return out if residual is None else out + residual

    def _product(self, xp: Any, x: Any, weight: Any, scales: Any) -> Any:
        if self.kind == "bfloat16":
            return half_product(xp, x.astype(weight.dtype), weight)
        numbers = unpacked(xp, self.kind, weight)
        if self.kind == "float32":
            return product(xp, x, numbers.T)[:, : self.outputs]
        return self._rounded_product(xp, x, numbers, scales)

    def _rounded_product(self, xp: Any, x: Any, numbers: Any, scales: Any) -> Any:
        groups = scales.shape[1]
        rows = x.reshape(x.shape[0], groups, -1)
        own = xp.max(xp.abs(rows), axis=-1, keepdims=True) / np.float32(127)
        rounded = xp.rint(rows / xp.where(own == 0, np.float32(1), own)).astype(np.float32)
        parts = numbers.reshape(numbers.shape[0], groups, -1).astype(np.float32)
        sums = product(
            xp, xp.swapaxes(rounded, 0, 1), xp.swapaxes(xp.swapaxes(parts, 0, 1), 1, 2)
        )  # exact: below 2**24
        scaled = sums * xp.swapaxes(scales, 0, 1).reshape(groups, 1, -1) * xp.swapaxes(own, 0, 1)
        return xp.sum(scaled, axis=0)[:, : self.outputs].astype(np.float32)


__all__ = ["KINDS", "PANEL", "Packed", "PackedProduct", "group_of", "pack", "unpacked"]
