"""A compiled graph (`Blueprint`) as rows of plain values, for files, and back. Reading runs nothing that the rows bring along.

    rows = {"format", "name", "inputs": [[shape, type]], "results": [view | null], "kept_inputs": [input], "peak", "offsets": [arena],
            "buffers": [[kind, bytes, which]], "layouts": [[type, shape, dims]], "views": [[buffer, offset, layout]],
            "things": [descriptions and primitives of oneDNN], "preparation": [step], "steps": [step]}
    step = ["kernel", name, [view read], [view written], scratch, guard, code, threads, extent, [view]]
         | ["primitive", name, [view read], [view written], scratch, guard, thing, [[argument, thing, view]]]
         | ["stop", name, [view read], [view written], scratch, guard]
    thing = ["described", what dnnl.described takes] | ["of", thing, argument] (a primitive's own layout)
          | ["made_again", what dnnl.made_again takes, the implementation that was taken]; {"#": n} stands for another thing

Buffers, views and things are meant by their numbers. `which` is the number of an input, a result or a constant. What a kernel's code
is called and where constants are is the business of those who use this: `program_cache.py` keeps graphs for the next process,
`standalone.py` makes them independent of the compiler. oneDNN makes its primitives again; if it would take other implementations
than before (another CPU, another version) the rows are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mindspore.backends.cpu import dnnl, layout
from mindspore.backends.cpu.executable import Blueprint, buffers_of
from mindspore.backends.cpu.layout import Buffer, View
from mindspore.backends.cpu.runner import Functions
from mindspore.backends.cpu.steps import DnnlStep, KernelStep, MachineCode, Step, StopStep
from mindspore.compiler.memory.plan import Plan

_FORMAT = 2  # of the rows; 1 had views without layouts


class CannotStore(Exception):
    """The graph has steps that only this process can run."""


class DoesNotFit(Exception):
    """The rows were made for another machine."""


# -- writing ------------------------------------------------------------------------------------------------------


class Writer:
    """Subclasses say how buffers and kernels are named. `brief`: views tell where they are, not how elements lie there."""

    def __init__(self, blueprint: Blueprint, preparation: list[Step], brief: bool = False):
        self.blueprint, self.preparation, self.brief = blueprint, preparation, brief
        self.buffers: list[list[Any]] = []
        self.layouts = _Table()
        self.views = _Table()
        self.things = _Table()
        self.offsets: list[int] = []
        self._numbers: dict[int, int] = {}  # of buffers, all of which the blueprint holds
        self._places = {id(b): o for b, o in zip(blueprint.arena, blueprint.plan.offsets)}

    def rows(self) -> dict[str, Any]:
        blueprint = self.blueprint
        for buffer in buffers_of([*self.preparation, *blueprint.steps]):
            self._add(buffer)
        return {
            "format": _FORMAT,
            "name": blueprint.name,
            "inputs": [[list(shape), kind] for shape, kind in blueprint.inputs],
            "results": [None if v is None else self._result(v) for v in blueprint.results],
            "kept_inputs": list(blueprint.kept_inputs),
            "preparation": [self._step(step) for step in self.preparation],
            "steps": [self._step(step) for step in blueprint.steps],
            "peak": blueprint.plan.peak,
            "offsets": self.offsets,
            "buffers": self.buffers,
            "layouts": self.layouts.rows,
            "views": self.views.rows,
            "things": self.things.rows,
        }

    def named(self, buffer: Buffer) -> tuple[str, Any]:
        """The kind of a buffer that is not in the arena, and which one it is."""
        raise NotImplementedError

    def code(self, step: KernelStep) -> Any:
        """What a kernel's machine code is called."""
        raise NotImplementedError

    def _add(self, buffer: Buffer) -> None:
        kind, which = ("arena", None) if buffer.kind == "arena" else self.named(buffer)
        if kind == "arena":
            self.offsets.append(self._places[id(buffer)])
        self._numbers[id(buffer)] = len(self.buffers)
        self.buffers.append([kind, buffer.nbytes, which])

    def _result(self, view: View) -> int:
        if id(view.buffer) not in self._numbers:
            raise CannotStore("a result that no step writes")
        return self._full(view)

    def _view(self, view: View) -> int:
        if not self.brief:
            return self._full(view)
        return self.views.number([self._numbers[id(view.buffer)], view.byte_offset, self.layouts.number(["uint8", (), None])])

    def _full(self, view: View) -> int:
        kind = self.layouts.number([view.dtype, view.shape, view.dims])
        return self.views.number([self._numbers[id(view.buffer)], view.offset, kind])

    def _step(self, step: Step) -> list[Any]:
        scratch = self._numbers[id(step.scratch)] if step.scratch is not None else None
        guard = self._view(step.guard) if step.guard is not None else None
        common = [step.name, [self._view(v) for v in step.reads], [self._view(v) for v in step.writes], scratch, guard]
        if type(step) is KernelStep:
            return ["kernel", *common, self.code(step), step.threads, step.extent, [self._view(v) for v in step.operands]]
        if type(step) is DnnlStep and step.op is not None:
            operands = [[a, self._thing(desc), self._view(v)] for a, (desc, v) in step.operands.items()]
            return ["primitive", *common, self._thing(step.op), operands]
        if type(step) is StopStep:
            return ["stop", *common]
        raise CannotStore(f"the step {step.name}")

    def _thing(self, thing: dnnl.Desc | dnnl.Op) -> int:
        return self.things.number(self._primitive(thing) if isinstance(thing, dnnl.Op) else self._description(thing))

    def _primitive(self, op: dnnl.Op) -> list[Any]:
        maker, arguments, named = op.recipe
        return ["made_again", maker, self._argument(arguments), self._argument(named), op.implementation]

    def _description(self, desc: dnnl.Desc) -> list[Any]:
        contents = desc.contents()
        if contents is not None:
            return ["described", *self._argument(contents)]
        if desc.origin is None:  # only its primitive can tell
            raise CannotStore("a layout of oneDNN's own")
        op, argument = desc.origin
        return ["of", self._thing(op), argument]

    def _argument(self, value: Any) -> Any:
        if isinstance(value, (dnnl.Desc, dnnl.Op)):
            return {"#": self._thing(value)}
        if isinstance(value, dnnl.Convolution):
            return {"convolution": [value.window.numbers(), value.transposed]}
        if isinstance(value, dnnl.Pooling):
            return {"pooling": [value.window.numbers(), value.kernel, value.algorithm]}
        if isinstance(value, (tuple, list)):
            return [self._argument(v) for v in value]
        if isinstance(value, Mapping):
            return {"m": [[k, self._argument(v)] for k, v in value.items()]}
        return value


class _Table:
    """Rows, each of them once."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._known: dict[str, int] = {}

    def number(self, row: list[Any]) -> int:
        found = self._known.setdefault(repr(row), len(self.rows))
        if found == len(self.rows):
            self.rows.append(row)
        return found


# -- reading ------------------------------------------------------------------------------------------------------


class Reader:
    """`code`: a kernel's machine code by what `Writer.code` called it. `constant`: arrays by number, which must not change any more."""

    def __init__(self, rows: Mapping[str, Any], code: Callable[[Any], MachineCode], constant: Callable[[int], np.ndarray]):
        if rows.get("format") != _FORMAT:
            raise DoesNotFit("written by another version")
        self.rows, self.code = rows, code
        self.buffers = [Buffer(size, kind, constant(which) if kind == "constant" else which) for kind, size, which in rows["buffers"]]
        if any(b.kind == "constant" and b.source.nbytes < b.nbytes for b in self.buffers):
            raise DoesNotFit("a constant is too small")
        layouts = [(kind, tuple(shape), _dims(dims)) for kind, shape, dims in rows["layouts"]]
        self.views: list[View] = []
        for buffer, offset, number in rows["views"]:
            kind, shape, dims = layouts[number]
            self.views.append(View(self.buffers[buffer], kind, shape, dims, offset))
        self.things: list[Any] = []
        for row in rows["things"]:
            self.things.append(self._thing(row))

    def blueprint(self, functions: Functions | None = None) -> Blueprint:
        rows = self.rows
        inputs = [(tuple(shape), kind) for shape, kind in rows["inputs"]]
        results = [None if v is None else self.views[v] for v in rows["results"]]
        first, steps = ([self._step(*row) for row in rows[part]] for part in ("preparation", "steps"))
        arena = [b for b in self.buffers if b.kind == "arena"]
        kept = [b for b in self.buffers if b.kind == "kept"]
        plan = Plan(tuple(rows["offsets"]), rows["peak"], sum(b.nbytes for b in arena))
        return Blueprint(rows["name"], inputs, results, first, steps, tuple(rows["kept_inputs"]), arena, kept, plan, functions)

    def _step(
        self, kind: str, name: str, reads: list[int], writes: list[int], scratch: int | None, guard: int | None, *rest: Any
    ) -> Step:
        views = self.views
        common = (
            [views[v] for v in reads], [views[v] for v in writes], name, 0, self.buffers[scratch] if scratch is not None else None,
        )  # fmt: skip
        decides = views[guard] if guard is not None else None
        if kind == "kernel":
            code, threads, extent, operands = rest
            return KernelStep(*common, self.code(code), [views[v] for v in operands], threads, extent, guard=decides)
        if kind == "primitive":
            op, given = rest
            operands = {a: (self.things[desc], views[v]) for a, desc, v in given}
            return DnnlStep(*common, self.things[op], operands, guard=decides)
        return StopStep(*common, guard=decides)

    def _thing(self, row: Any) -> Any:
        kind, *arguments = row
        if kind == "described":
            return dnnl.described(*(self._argument(a) for a in arguments))
        if kind == "of":
            return self.things[arguments[0]].desc(arguments[1])
        maker, given, named, implementation = arguments
        op = dnnl.made_again(maker, self._argument(given), self._argument(named))
        if op.implementation != implementation:
            raise DoesNotFit(f"oneDNN takes {op.implementation} here, not {implementation}")
        return op

    def _argument(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(self._argument(v) for v in value)
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "#":
            return self.things[content]
        if kind == "m":
            return {k: self._argument(v) for k, v in content}
        window, *others = self._argument(content)
        return dnnl.Convolution(dnnl.Window(*window), *others) if kind == "convolution" else dnnl.Pooling(dnnl.Window(*window), *others)


def _dims(rows: Any) -> tuple[layout.Pairs, ...] | None:
    return None if rows is None else tuple(tuple((extent, stride) for extent, stride in pairs) for pairs in rows)
