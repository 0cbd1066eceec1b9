"""Reductions of whole tensors in two steps, where a kernel that has the tensor at hand reduces some of its axes.

All reductions of a kernel run over the same axes. The gradient of a bias is a sum over rows, a statistic of the same tensor one over
everything: apart, the statistic would have the tensor (or what is counted in it) written to memory and read again. As a sum over rows,
and then over the few numbers that are left, its first part fits into the kernel that is there.
"""

from __future__ import annotations

from mindspore.compiler.fuse.loopir import Program, Value


def split_sums(program: Program) -> None:
    """Let reductions of whole tensors begin with the axes that others of the same elements have, in place."""
    together = _Together(program)
    axes: dict[int, set[tuple[int, ...]]] = {}
    for value in program.values:
        if value.op == "reduce" and value.shape:
            axes.setdefault(together.of(value.args[0]), set()).add(value.attr[1])
    found: list[Value] = []
    for value in program.values:
        if value.op == "reduce" and not value.shape:
            choices = axes.get(together.of(value.args[0]), set())
            if len(choices) == 1:
                found.append(_begun_with(value, *choices))
        found.append(value)
    program.values = found


def _begun_with(total: Value, axes: tuple[int, ...]) -> Value:
    """Make a reduction work on the result of one over some of the axes, which is returned."""
    (operand,), kind = total.args, total.attr[0]
    shape = tuple(size for axis, size in enumerate(operand.shape) if axis not in axes)
    part = Value("reduce", shape, total.dtype, (operand,), (kind, axes), total.origin)
    total.args, total.attr = (part,), (kind, tuple(range(len(shape))))
    return part


class _Together:
    """Values of one shape that are computed from one another element by element."""

    def __init__(self, program: Program):
        self._parents: dict[int, int] = {}
        for value in program.values:
            for operand in value.args if value.op == "map" else ():
                if operand.shape == value.shape and operand.op != "const":
                    self._parents[self.of(operand)] = self.of(value)

    def of(self, value: Value) -> int:
        """The same number for all values that belong together."""
        number = value.id
        while (parent := self._parents.get(number, number)) != number:
            self._parents[number] = self._parents.get(parent, parent)
            number = parent
        return number
