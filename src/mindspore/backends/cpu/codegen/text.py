"""Writing LLVM text IR: fresh names, vector types, constants, and loops that carry values.

Loops are emitted rotated (`do … while`), because the code generator runs without LLVM's IR passes: it makes fast code
from such loops directly, and compiling takes half the time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

LLVM_TYPES = {
    "float32": "float", "float64": "double", "bool_": "i1", "int8": "i8", "uint8": "i8", "int16": "i16", "uint16": "i16",
    "int32": "i32", "uint32": "i32", "int64": "i64", "uint64": "i64",
}  # fmt: skip
#: element types as they lie in memory
MEMORY_TYPES = {**LLVM_TYPES, "bool_": "i8", "float16": "half", "bfloat16": "i16"}
#: element types that are computed in a wider one
WIDENED = {"float16": "float32", "bfloat16": "float32"}
ITEMSIZE = {
    "bool_": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "uint32": 4,
    "float32": 4, "int64": 8, "uint64": 8, "float64": 8,
}  # fmt: skip


def computed(dtype: str) -> str:
    """The type in which values of `dtype` are held in registers."""
    return WIDENED.get(dtype, dtype)


def is_float(dtype: str) -> bool:
    return dtype in ("float32", "float64", "float16", "bfloat16")


def is_signed(dtype: str) -> bool:
    return dtype.startswith("int") or is_float(dtype)


def vector(element: str, width: int) -> str:
    return element if width == 1 else f"<{width} x {element}>"


def number(value: float, dtype: str) -> str:
    """A scalar constant."""
    if dtype == "float32":
        with np.errstate(over="ignore"):
            return f"0x{struct.unpack('<Q', struct.pack('<d', float(np.float32(value))))[0]:016X}"
    if dtype == "float64":
        return f"0x{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016X}"
    if dtype == "bool_":
        return "true" if value else "false"
    return str(int(value))


class Function:
    """The body of one function under construction."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.slots: list[str] = []
        self.declarations: dict[str, str] = {}
        self.block = "entry"
        self._next = 0

    # -- plain instructions ---------------------------------------------------------------------------------------
    def fresh(self) -> str:
        self._next += 1
        return f"%v{self._next}"

    def op(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def slot(self, kind: str) -> str:
        """Memory for one value, there as long as the function runs."""
        name = self.fresh()
        self.slots.append(f"  {name} = alloca {kind}, align 64")
        return name

    def call(self, result: str, name: str, *arguments: tuple[str, str]) -> str:
        """Call a function by name, declaring it; arguments are (type, value)."""
        self.declarations[name] = f"declare {result} @{name}({', '.join(t for t, _ in arguments)})"
        text = f"call {result} @{name}({', '.join(f'{t} {v}' for t, v in arguments)})"
        if result == "void":
            self.do(text)
            return ""
        return self.op(text)

    def intrinsic(self, name: str, dtype: str, width: int, *values: str) -> str:
        """A function such as llvm.fma, with all operands and the result of one type."""
        element = LLVM_TYPES[dtype]
        suffix = {"float": "f32", "double": "f64"}.get(element, element)
        full = f"llvm.{name}.{suffix}" if width == 1 else f"llvm.{name}.v{width}{suffix}"
        kind = vector(element, width)
        return self.call(kind, full, *((kind, v) for v in values))

    # -- control flow ---------------------------------------------------------------------------------------------
    def label(self, name: str) -> None:
        self.lines.append(f"{name[1:]}:")
        self.block = name[1:]

    def new_label(self) -> str:
        self._next += 1
        return f"%b{self._next}"

    def loop(
        self, low: str, high: str, step: str, carried: list[tuple[str, str]],
        body: Callable[[str, list[str]], list[str]], known_nonempty: bool = False,
    ) -> list[str]:  # fmt: skip
        """`for i in range(low, high, step)` over i64, threading `carried` (type, initial value) through `body`."""
        done, start = self.new_label(), self.new_label()
        before = self.block
        if known_nonempty:
            self.do(f"br label {start}")
        else:
            self.do(f"br i1 {self.op(f'icmp slt i64 {low}, {high}')}, label {start}, label {done}")
        self.label(start)
        index = self.fresh()
        values = [self.fresh() for _ in carried]
        place = len(self.lines)
        results = body(index, values)
        latch = self.block
        following = self.op(f'call i64 asm "", "=r,0"(i64 {self.op(f"add nsw i64 {index}, {step}")})')
        again = self.op(f"icmp slt i64 {following}, {high}")
        self.do(f"br i1 {again}, label {start}, label {done}")
        phis = [f"  {index} = phi i64 [ {low}, %{before} ], [ {following}, %{latch} ]"]
        for (kind, initial), value, result in zip(carried, values, results):
            phis.append(f"  {value} = phi {kind} [ {initial}, %{before} ], [ {result}, %{latch} ]")
        self.lines[place:place] = phis
        self.label(done)
        if known_nonempty:
            return results
        return [
            self.op(f"phi {kind} [ {initial}, %{before} ], [ {result}, %{latch} ]")
            for (kind, initial), result in zip(carried, results)
        ]

    def when(self, condition: str, body: Callable[[], Any]) -> None:
        """`if condition: body()`."""
        then, done = self.new_label(), self.new_label()
        self.do(f"br i1 {condition}, label {then}, label {done}")
        self.label(then)
        body()
        self.do(f"br label {done}")
        self.label(done)

    # -- vectors --------------------------------------------------------------------------------------------------
    def splat(self, element: str, value: str, width: int) -> str:
        if width == 1:
            return value
        if not value.startswith("%"):
            return f"splat ({element} {value})"
        kind = f"<{width} x {element}>"
        first = self.op(f"insertelement {kind} poison, {element} {value}, i64 0")
        return self.op(f"shufflevector {kind} {first}, {kind} poison, <{width} x i32> zeroinitializer")

    def constant(self, value: float, dtype: str, width: int) -> str:
        return self.splat(LLVM_TYPES[dtype], number(value, dtype), width)

    def lanes(self, kind: str, width: int, dtype: str, function: Callable[..., str], *values: str) -> str:
        """Apply a scalar function lane by lane."""
        if width == 1:
            return function(*values)
        result = "poison"
        for lane in range(width):
            parts = [self.op(f"extractelement {kind} {v}, i64 {lane}") for v in values]
            result = self.op(f"insertelement {kind} {result}, {LLVM_TYPES[dtype]} {function(*parts)}, i64 {lane}")
        return result
