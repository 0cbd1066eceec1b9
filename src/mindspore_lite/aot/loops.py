"""Fused loops as C functions.

A kernel's free axes are the outer loops. Within them each stage is a pass over the reduced axes that makes the reductions of
that stage, then what depends on them; see `codegen/spec.py` for what a kernel is and `codegen/analysis.py` for its stages.
"""

from __future__ import annotations

import math
from typing import Any

from mindspore.backends.cpu.codegen.analysis import Analysis
from mindspore.backends.cpu.codegen.scalar import identity
from mindspore.backends.cpu.codegen.spec import Instr, Kernel
from mindspore.compiler.fuse.loopir import Unsupported

C_TYPES = {
    "bool_": "uint8_t", "int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "uint16": "uint16_t", "int32": "int32_t",
    "uint32": "uint32_t", "int64": "int64_t", "uint64": "uint64_t", "float16": "_Float16",
    "bfloat16": "uint16_t", "float32": "float", "float64": "double",
}  # fmt: skip

#: elements from which on threads share a loop
_WORTH_SHARING = 1 << 14
#: floats that are computed with 32 bits
SIXTEEN = ("float16", "bfloat16")
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and_": "&", "or_": "|", "xor_": "^", "eq": "==", "ne": "!=",
          "lt": "<", "le": "<=", "gt": ">", "ge": ">="}  # fmt: skip
#: functions of math.h under their own names
_MATH = ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2",
         "expm1", "floor", "fmod", "hypot", "lgamma", "log", "log10", "log1p", "log2", "pow", "rint", "sin", "sinh", "sqrt",
         "tan", "tanh", "trunc")  # fmt: skip
_COMBINE = {"sum": "{0} + {1}", "prod": "{0} * {1}", "all": "{0} & {1}", "any": "{0} | {1}"}


def c_type(dtype: str) -> str:
    """How an element stands in memory."""
    if dtype not in C_TYPES:
        raise Unsupported(f"numbers of type {dtype} in C")
    return C_TYPES[dtype]


def _held(dtype: str) -> str:
    """The type that arithmetic is done in."""
    return "float" if dtype in SIXTEEN else c_type(dtype)


def _is_float(dtype: str) -> bool:
    return dtype in SIXTEEN or dtype.startswith("float")


def literal(number: Any, dtype: str) -> str:
    if dtype == "bool_":
        return "1" if number else "0"
    if not _is_float(dtype):
        whole = int(number)
        return "INT64_MIN" if whole == -(1 << 63) else f"{whole}{'ull' if dtype == 'uint64' else 'll'}"
    value = float(number)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value!r}" if dtype == "float64" else f"{value!r}f"


def _function(name: str, dtype: str) -> str:
    return name if dtype == "float64" else name + "f"


def _extreme(dtype: str, a: str, b: str, sign: str) -> str:
    nan = f" || {a} != {a}" if _is_float(dtype) else ""
    return f"({a} {sign} {b}{nan} ? {a} : {b})"


def _expression(instr: Instr, kinds: list[str], args: list[str]) -> str:
    """A map as a C expression; `kinds`: its operands' types."""
    op, kind = instr.op, kinds[0] if kinds else instr.dtype
    floating = _is_float(kind)
    if op in _INFIX:
        return f"({args[0]} {_INFIX[op]} {args[1]})"
    if op in ("max", "min"):
        return _extreme(kind, args[0], args[1], ">" if op == "max" else "<")
    if op == "select":
        return f"({args[0]} ? {args[1]} : {args[2]})"
    if op in ("cast", "rounded"):
        return _cast(kind, instr.dtype, args[0])
    if op in ("floor", "ceil", "trunc", "rint") and not floating:
        return args[0]
    if op in _MATH and floating:
        return f"{_function(op, kind)}({', '.join(args)})"
    return _special(op, kind, floating, args)


def _special(op: str, kind: str, floating: bool, args: list[str]) -> str:
    a, b = args[0], args[-1]
    one = literal(1, kind)
    if op in ("floordiv", "floormod", "truncdiv", "truncmod") and not floating:
        return f"ms_{op.replace('trunc', '')}_{kind}({a}, {b})"
    found = {
        "neg": f"(-{a})", "not_": f"(!{a})" if kind == "bool_" else f"(~{a})",
        "abs": f"{_function('fabs', kind)}({a})" if floating else f"({a} < 0 ? -{a} : {a})",
        "relu": f"({a} < 0 ? 0 : {a})", "sign": f"({a} > 0 ? 1 : {a} < 0 ? -1 : {a})", "isnan": f"({a} != {a})",
        "isinf": f"(!({a} - {a} == 0) && {a} == {a})", "isfinite": f"({a} - {a} == 0)", "signbit": f"(signbit({a}) != 0)",
        "rsqrt": f"({one} / {_function('sqrt', kind)}({a}))",
        "sigmoid": f"({one} / ({one} + {_function('exp', kind)}(-{a})))",
        "softplus": f"(({a} < 0 ? 0 : {a}) + {_function('log1p', kind)}({_function('exp', kind)}(-{_function('fabs', kind)}({a}))))",
        "floordiv": f"{_function('floor', kind)}({a} / {b})", "floormod": f"{_function('ms_floormod', kind)}({a}, {b})",
        "truncdiv": f"{_function('trunc', kind)}({a} / {b})", "truncmod": f"{_function('fmod', kind)}({a}, {b})",
        "shl": f"((uint64_t){b} < 8 * sizeof({a}) ? {a} << {b} : 0)",
        "shr": f"({a} >> ((uint64_t){b} < 8 * sizeof({a}) ? {b} : 8 * (int)sizeof({a}) - 1))",
    }  # fmt: skip
    if op not in found:
        raise Unsupported(f"the operation {op} in C")
    return found[op]


def _cast(source: str, target: str, value: str) -> str:
    if target == "bool_":
        return f"({value} != 0)"
    if target == "float16":
        return f"(float)(_Float16){value}"
    if target == "bfloat16":
        return f"ms_from_bfloat16(ms_to_bfloat16((float){value}))"
    if _is_float(source) and target in ("int8", "uint8", "int16", "uint16"):
        return f"({c_type(target)})(int32_t){value}"
    return f"({_held(target)}){value}"


class _Printer:
    def __init__(self, kernel: Kernel):
        self.kernel, self.analysis = kernel, Analysis(kernel)
        self.free = [i for i, a in enumerate(kernel.axes) if not a.reduce]
        self.reduced = [i for i, a in enumerate(kernel.axes) if a.reduce]
        self.lines: list[str] = []
        self.depth = 1

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def open_loops(self, axes: list[int]) -> None:
        for axis in axes:
            self.line(f"for (int32_t i{axis} = 0; i{axis} < {self.kernel.axes[axis].extent}; i{axis}++) {{")
            self.depth += 1

    def close_loops(self, axes: list[int]) -> None:
        for _ in axes:
            self.depth -= 1
            self.line("}")

    def place(self, buffer: int) -> str:
        terms = [
            f"i{axis}" if stride == 1 else f"(ptrdiff_t)i{axis} * {stride}"
            for axis, stride in enumerate(self.kernel.buffers[buffer].strides)
            if stride
        ]
        return " + ".join(terms) or "0"

    def value(self, number: int) -> None:
        instr = self.kernel.code[number]
        self.line(f"const {_held(instr.dtype)} v{number} = {self.text(instr)};")

    def text(self, instr: Instr) -> str:
        if instr.op == "const":
            return literal(instr.imm, instr.dtype)
        if instr.op == "index":
            return f"i{instr.imm}"
        if instr.op == "load":
            return _loaded(self.kernel.buffers[instr.imm].dtype, f"b{instr.imm}[{self.place(instr.imm)}]")
        if instr.op == "load_at":
            buffer, steps = instr.imm
            where = [self.place(buffer)]
            for argument, (stride, extent) in zip(instr.args, steps):
                a = f"v{argument}"
                kind = self.kernel.code[argument].dtype
                wrapped = f"({a} < 0 ? {a} + {extent} : {a})" if not kind.startswith("u") else a
                inside = f"({wrapped} < 0 ? 0 : {wrapped} >= {extent} ? {extent - 1} : {wrapped})"
                where.append(f"(ptrdiff_t){inside} * {stride}")
            return _loaded(self.kernel.buffers[buffer].dtype, f"b{buffer}[{' + '.join(where)}]")
        kinds = [self.kernel.code[a].dtype for a in instr.args]
        args = [f"v{a}" for a in instr.args]
        return _expression(instr, kinds, args)

    def store(self, buffer: int, value: int) -> None:
        self.line(f"b{buffer}[{self.place(buffer)}] = {_stored(self.kernel.buffers[buffer].dtype, f'v{value}')};")

    def run(self) -> list[str]:
        code, analysis = self.kernel.code, self.analysis
        extents = [axis.extent for axis in self.kernel.axes]
        if self.free and extents[self.free[0]] > 1 and math.prod(extents) >= _WORTH_SHARING:
            self.line("MS_SHARED")
        self.open_loops(self.free)
        for stage in range(max(analysis.stage, default=0) + 2):
            for number, instr in enumerate(code):
                if analysis.stage[number] == stage and instr.op != "reduce" and not analysis.inner(number):
                    self.value(number)
            if stage < len(analysis.passes):
                self.one_pass(stage)
        for buffer, value in self.kernel.stores:
            if not analysis.full_store(buffer):
                self.store(buffer, value)
        self.close_loops(self.free)
        return self.lines

    def one_pass(self, stage: int) -> None:
        reductions, stores = self.analysis.passes[stage]
        for number in reductions:
            instr = self.kernel.code[number]
            self.line(f"{_held(instr.dtype)} v{number} = {literal(identity(instr.imm, instr.dtype), instr.dtype)};")
        self.open_loops(self.reduced)
        for number in self.analysis.needed(self.analysis.roots(stage), set()):
            if self.kernel.code[number].op != "reduce":
                self.value(number)
        for number in reductions:
            instr = self.kernel.code[number]
            self.line(f"v{number} = {_combined(instr, f'v{number}', f'v{instr.args[0]}')};")
        for buffer, value in stores:
            self.store(buffer, value)
        self.close_loops(self.reduced)


def _combined(instr: Instr, total: str, value: str) -> str:
    if instr.imm in _COMBINE:
        return _COMBINE[instr.imm].format(total, value)
    return _extreme(instr.dtype, value, total, ">" if instr.imm == "max" else "<")


def _loaded(dtype: str, place: str) -> str:
    return f"ms_from_bfloat16({place})" if dtype == "bfloat16" else place


def _stored(dtype: str, value: str) -> str:
    if dtype == "bfloat16":
        return f"ms_to_bfloat16({value})"
    return f"(_Float16){value}" if dtype == "float16" else value


def function(kernel: Kernel, aliased: bool = False) -> str:
    """The parameters and body of a C function of a kernel's buffers."""
    stored = {buffer for buffer, _ in kernel.stores}
    unaliased = "" if aliased else "restrict "
    parameters = ", ".join(
        f"{'' if n in stored else 'const '}{c_type(b.dtype)} *{unaliased}b{n}" for n, b in enumerate(kernel.buffers)
    )
    return "\n".join([f"({parameters}) {{", *_Printer(kernel).run(), "}"])
