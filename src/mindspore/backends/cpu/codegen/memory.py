"""Reading and writing vectors: contiguous, broadcast, strided or indexed; whole or with a mask for tails.

A mask that is known to leave one lane never reaches LLVM's masked operations: version 22 turns the masked store of a
truncated vector with such a constant mask into a store of the untruncated element, which writes 4 bytes over 1 or 2.
One lane is read and written as the scalar that it is.
"""

from __future__ import annotations

from mindspore.backends.cpu.codegen import scalar
from mindspore.backends.cpu.codegen.text import ITEMSIZE, LLVM_TYPES, MEMORY_TYPES, Function, computed, vector


class Mask:
    """The lanes of a vector that lie inside the axis: all of them when `lanes` is None; `single` when only the first."""

    def __init__(self, width: int, lanes: str | None = None, single: bool = False):
        self.width = width
        self.lanes = lanes
        self.single = single

    @classmethod
    def first(cls, f: Function, width: int, count: int | str) -> Mask:
        """The first `count` lanes; a number, or the name of an i64."""
        if isinstance(count, int):
            bits = ", ".join(f"i1 {'true' if i < count else 'false'}" for i in range(width))
            return cls(width, f"<{bits}>", single=count == 1 and width > 1)
        limit = f.splat("i64", count, width)
        return cls(width, f.op(f"icmp slt <{width} x i64> {iota(width)}, {limit}"))


def iota(width: int) -> str:
    return "0" if width == 1 else "<" + ", ".join(f"i64 {i}" for i in range(width)) + ">"


def scaled(f: Function, index: str, step: int) -> str:
    """index * step."""
    return index if step == 1 or index == "0" else f.op(f"mul nsw i64 {index}, {step}")


def offset(f: Function, pointer: str, index: str, step: int) -> str:
    """pointer + index * step bytes."""
    if step == 0 or index == "0":
        return pointer
    return f.op(f"getelementptr i8, ptr {pointer}, i64 {scaled(f, index, step)}")


def _raw_load(f: Function, dtype: str, pointer: str, mask: Mask) -> str:
    element, size = MEMORY_TYPES[dtype], ITEMSIZE[dtype]
    kind = vector(element, mask.width)
    if mask.lanes is None or mask.width == 1:
        return f.op(f"load {kind}, ptr {pointer}, align {size}")
    name = f"llvm.masked.load.v{mask.width}{_suffix(element)}.p0"
    zero = "zeroinitializer"
    return f.call(kind, name, ("ptr", pointer), ("i32", str(size)), (f"<{mask.width} x i1>", mask.lanes), (kind, zero))


def _suffix(element: str) -> str:
    return {"float": "f32", "double": "f64", "half": "f16"}.get(element, element)


def load(f: Function, dtype: str, pointer: str, stride: int, mask: Mask) -> str:
    """`mask.width` elements that lie `stride` apart, in the computed type."""
    if mask.single:
        return _widened(f, dtype, mask, load(f, dtype, pointer, stride, Mask(1)))
    if stride == 1 or mask.width == 1:
        raw = _raw_load(f, dtype, pointer, mask)
    else:
        lanes = f"<{', '.join(f'i64 {i * stride * ITEMSIZE[dtype]}' for i in range(mask.width))}>"
        pointers = f.op(f"getelementptr i8, ptr {pointer}, <{mask.width} x i64> {lanes}")
        raw = _gather(f, dtype, pointers, mask)
    return scalar.from_memory(f, dtype, mask.width, raw)


def load_indexed(f: Function, dtype: str, pointer: str, offsets: str, mask: Mask) -> str:
    """Elements at `offsets` (a vector of i64, in bytes) from a pointer."""
    if mask.single:
        first = f.op(f"extractelement <{mask.width} x i64> {offsets}, i64 0")
        place = f.op(f"getelementptr i8, ptr {pointer}, i64 {first}")
        return _widened(f, dtype, mask, load(f, dtype, place, 1, Mask(1)))
    pointers = f.op(f"getelementptr i8, ptr {pointer}, <{mask.width} x i64> {offsets}")
    return scalar.from_memory(f, dtype, mask.width, _gather(f, dtype, pointers, mask))


def _widened(f: Function, dtype: str, mask: Mask, value: str) -> str:
    """A vector with `value` in its first lane and zeros in the others, as a masked read leaves them."""
    element = LLVM_TYPES[computed(dtype)]
    return f.op(f"insertelement <{mask.width} x {element}> zeroinitializer, {element} {value}, i64 0")


def _gather(f: Function, dtype: str, pointers: str, mask: Mask) -> str:
    element, size, width = MEMORY_TYPES[dtype], ITEMSIZE[dtype], mask.width
    kind = vector(element, width)
    lanes = mask.lanes or f.splat("i1", "true", width)
    name = f"llvm.masked.gather.v{width}{_suffix(element)}.v{width}p0"
    args = ((f"<{width} x ptr>", pointers), ("i32", str(size)), (f"<{width} x i1>", lanes), (kind, "zeroinitializer"))
    return f.call(kind, name, *args)


def store(f: Function, dtype: str, pointer: str, stride: int, mask: Mask, value: str) -> None:
    if mask.single:
        element = LLVM_TYPES[computed(dtype)]
        value, mask = f.op(f"extractelement <{mask.width} x {element}> {value}, i64 0"), Mask(1)
    raw = scalar.to_memory(f, dtype, mask.width, value)
    element, size, width = MEMORY_TYPES[dtype], ITEMSIZE[dtype], mask.width
    kind = vector(element, width)
    if width == 1 or (stride == 1 and mask.lanes is None):
        f.do(f"store {kind} {raw}, ptr {pointer}, align {size}")
    elif stride == 1:
        name = f"llvm.masked.store.v{width}{_suffix(element)}.p0"
        f.call("void", name, (kind, raw), ("ptr", pointer), ("i32", str(size)), (f"<{width} x i1>", mask.lanes or ""))
    else:
        steps = f"<{', '.join(f'i64 {i * stride * size}' for i in range(width))}>"
        pointers = f.op(f"getelementptr i8, ptr {pointer}, <{width} x i64> {steps}")
        lanes = mask.lanes or f.splat("i1", "true", width)
        name = f"llvm.masked.scatter.v{width}{_suffix(element)}.v{width}p0"
        f.call(
            "void", name, (kind, raw), (f"<{width} x ptr>", pointers), ("i32", str(size)), (f"<{width} x i1>", lanes)
        )
