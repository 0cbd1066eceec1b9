"""What the schedule of a kernel needs to know about its values: where they vary, and in which pass they exist."""

from __future__ import annotations

from mindspore.backends.cpu.codegen.scalar import EXPENSIVE
from mindspore.backends.cpu.codegen.spec import Kernel
from mindspore.backends.cpu.codegen.text import ITEMSIZE, computed

#: worth storing between passes rather than computing again
_TRANSCENDENTAL = EXPENSIVE - {"div", "sqrt", "rsqrt"}


class Analysis:
    """`deps[i]`: axes along which value i varies. `stage[i]`: how many passes over the reduced axes precede it."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.last = len(kernel.axes) - 1
        self.reduced = frozenset(i for i, a in enumerate(kernel.axes) if a.reduce)
        self.deps: list[frozenset[int]] = []
        self.stage: list[int] = []
        for instr in kernel.code:
            self.deps.append(self._deps(instr))
            self.stage.append(max((self.stage[a] + (kernel.code[a].op == "reduce") for a in instr.args), default=0))
        # a reduction belongs to the stage of its operand; users come one later
        self.row_mode = self.last in self.reduced
        self.passes = self._passes()
        self.spilled = self._spilled()

    def _deps(self, instr) -> frozenset[int]:
        found: set[int] = set()
        for a in instr.args:
            found |= self.deps[a]
        if instr.op == "load":
            found |= self._walks(instr.imm)
        elif instr.op == "load_at":
            found |= self._walks(instr.imm[0])
        elif instr.op == "index":
            found.add(instr.imm)
        elif instr.op == "reduce":
            found -= self.reduced
            if not self.last_reduced:
                found.add(self.last)
        return frozenset(found)

    @property
    def last_reduced(self) -> bool:
        return self.last in self.reduced

    def _walks(self, buffer: int) -> set[int]:
        return {axis for axis, stride in enumerate(self.kernel.buffers[buffer].strides) if stride}

    def inner(self, value: int) -> bool:
        """Whether a value is recomputed inside the loops over reduced axes."""
        return bool(self.deps[value] & self.reduced)

    def full_store(self, buffer: int) -> bool:
        return bool(self._walks(buffer) & self.reduced)

    def _passes(self) -> list[tuple[list[int], list[tuple[int, int]]]]:
        """Per stage: the reductions made in it and the full-size stores made in it."""
        count = 0
        for i, instr in enumerate(self.kernel.code):
            if instr.op == "reduce":
                count = max(count, self.stage[i] + 1)
        for buffer, value in self.kernel.stores:
            if self.full_store(buffer):
                count = max(count, self.store_stage(value) + 1)
        passes: list[tuple[list[int], list[tuple[int, int]]]] = [([], []) for _ in range(count)]
        for i, instr in enumerate(self.kernel.code):
            if instr.op == "reduce":
                passes[self.stage[i]][0].append(i)
        for buffer, value in self.kernel.stores:
            if self.full_store(buffer):
                passes[self.store_stage(value)][1].append((buffer, value))
        return passes

    def store_stage(self, value: int) -> int:
        return self.stage[value] + (self.kernel.code[value].op == "reduce")

    def needed(self, roots: list[int], stop: set[int]) -> list[int]:
        """Values that the loop body must compute for `roots`, operands first; those in `stop` are at hand."""
        wanted: set[int] = set()
        stack = [r for r in roots if self.inner(r)]
        while stack:
            value = stack.pop()
            if value in wanted:
                continue
            wanted.add(value)
            if value in stop:
                continue
            stack.extend(a for a in self.kernel.code[value].args if self.inner(a))
        return sorted(wanted)

    def roots(self, stage: int) -> list[int]:
        reductions, stores = self.passes[stage]
        return [self.kernel.code[r].args[0] for r in reductions] + [v for _, v in stores]

    def _spilled(self) -> dict[int, int]:
        """Expensive values needed in several passes -> the pass that computes and keeps them."""
        first: dict[int, int] = {}
        again: set[int] = set()
        for stage in range(len(self.passes)):
            for value in self.needed(self.roots(stage), set()):
                if value in first:
                    again.add(value)
                else:
                    first[value] = stage
        code = self.kernel.code
        return {v: first[v] for v in again if code[v].op in _TRANSCENDENTAL}

    def spill_bytes(self, width: int) -> int:
        """Bytes per thread that kept values take."""
        points = 1
        for axis in self.reduced:
            points *= self.kernel.axes[axis].extent
        lanes = 1 if self.row_mode else width
        return sum(-(-points * lanes * ITEMSIZE[computed(self.kernel.code[v].dtype)] // 64) * 64 for v in self.spilled)
