"""Bounds on the size of numbers, which prove that a convolution gives no NaN without looking at its results.

oneDNN's bounds (ReLU6, Clip) make a number of NaN, so they can be part of a convolution only where there is none. A result is
at most as large as the largest element of the image times the sum of all filters' magnitudes, plus what is added. While that is a
number far from the largest one, every sum on the way is one, too. The sums over filters are computed once, with what else
depends on weights alone (`preparation.py`); a bounded result has its bound for the next convolution; and where nothing is known
about an image it is read once. So a network of bounded convolutions (MobileNet) is proven by one look at its input.

A bound is a number in memory, computed in each call: infinite or NaN when the proof fails, and then it fails for all that follows,
and the steps that compute exactly run instead.
"""

from __future__ import annotations

from typing import NamedTuple

from mindspore.backends.cpu.codegen.spec import Axis, Instr, Kernel
from mindspore.backends.cpu.codegen.spec import Buffer as Operand
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.compiler.fuse.domain import chain
from mindspore.compiler.fuse.loopir import Value

_FAR_FROM_OVERFLOW = 1e30
#: convolutions without bounds that a bound is carried through; each multiplies it, and at last nothing would be proven
_DEEPEST = 2


class Magnitude(NamedTuple):
    """No element is larger than the number at `view`. `depth`: convolutions it was carried through since it was known."""

    view: View
    depth: int


def of(lowering: Lowering, value: Value, view: View) -> Magnitude:
    """A bound on a tensor's elements: as it is known, or by reading them."""
    base, _ = chain(value)
    known = lowering.magnitudes.get(base.id)
    if known is None or known.depth > _DEEPEST:
        view = view if view.dims is not None else lowering.plain(view)
        known = lowering.magnitudes[base.id] = Magnitude(_combined(lowering, view, "max"), 0)
    return known


def prove(
    lowering: Lowering, result: Value, image: Magnitude, filters: View, bias: View | None, others: list[Magnitude],
    high: float | None,
) -> View:  # fmt: skip
    """A byte that tells that the proof failed; the bound of the result is noted. `high`: its bound, if it is given one."""
    sums = [_combined(lowering, view, "sum") for view in (filters, bias) if view is not None]
    operands = [image.view, *sums, *(m.view for m in others)]
    flag, bound = lowering.allocate("bool_", ()), lowering.allocate("float32", ())
    code = [Instr("load", "float32", (), n) for n in range(len(operands))]

    def add(op: str, dtype: str, *args: int, imm: float | None = None) -> int:
        code.append(Instr(op, dtype, args, imm))
        return len(code) - 1

    total = add("mul", "float32", 0, 1)
    for n in range(2, len(operands)):
        total = add("add", "float32", total, n)
    proven = add("lt", "bool_", total, add("const", "float32", imm=_FAR_FROM_OVERFLOW))
    failed = add("not_", "bool_", proven)
    endless = add("const", "float32", imm=float("inf"))
    size = total if high is None else add("const", "float32", imm=high)
    found = add("select", "float32", proven, size, endless)
    scalars = tuple(Operand(d, (0,)) for d in (*("float32",) * len(operands), "bool_", "float32"))
    stores = ((len(operands), failed), (len(operands) + 1, found))
    kernel = Kernel((Axis(1),), scalars, tuple(code), stores)
    lowering.kernel(kernel, [*operands, flag, bound], operands, [flag, bound], "prove")
    depth = 0 if high is not None else max([image.depth + 1, *(m.depth for m in others)])
    lowering.magnitudes[result.id] = Magnitude(bound, depth)
    return flag


def _combined(lowering: Lowering, view: View, kind: str) -> View:
    """The largest magnitude, or the sum of all; NaN if there is one."""
    pairs = sorted((pair for dim in view.dims or () for pair in dim), key=lambda pair: -pair[1])
    found = lowering.allocate("float32", ())
    code = (Instr("load", "float32", (), 0), Instr("abs", "float32", (0,)), Instr("reduce", "float32", (1,), kind))
    buffers = (Operand("float32", tuple(s for _, s in pairs)), Operand("float32", (0,) * len(pairs)))
    kernel = Kernel(tuple(Axis(extent, True) for extent, _ in pairs), buffers, code, ((1, 2),))
    lowering.kernel(kernel, [view, found], [view], [found], "magnitude")
    return found
