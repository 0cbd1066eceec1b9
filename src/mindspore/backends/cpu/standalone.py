"""Compiled graphs for other processes: what compiling has decided, as rows of JSON, an image of machine code and constant arrays.

    rows = {"name", "threads", "inputs": [[shape, type]], "results": [[view, type, shape]], "peak", "offsets": [arena],
            "buffers": [[kind, bytes, which]], "things": [descriptions and primitives of oneDNN], "preparation": [step], "steps": [step]}
    view = [buffer, byte]
    step = ["kernel", name, function, scratch, threads, extent, [view], guard]
         | ["primitive", name, thing, scratch, [[argument, thing, view]], guard] | ["stop", name, view]
    thing = ["described", what dnnl.described takes] | ["of", thing, argument] (a primitive's own layout)
          | ["made_again", what dnnl.made_again takes, the implementation that was taken]; {"#": n} stands for another thing

Weights are constants, and so is what is computed from weights alone (`preparation.py`) if it is a weight in another order, or small;
the rest (filters as Winograd's algorithm wants them, which are larger than the weights) is computed in the first call. Loading compiles
nothing and needs neither LLVM nor the compiler's modules; oneDNN makes its primitives again, and if it would take other
implementations than before (another CPU, another version) the plan is refused.

Rows are trusted: whoever keeps them in files must know that they come from a friend (they name addresses).
"""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.strided import walked
from mindspore.backends.cpu import dnnl, image, layout, openmp, runner
from mindspore.backends.cpu.executable import Blueprint, CpuExecutable, Instance, buffers_of
from mindspore.backends.cpu.image import Image
from mindspore.backends.cpu.layout import Buffer, View
from mindspore.backends.cpu.steps import DnnlStep, KernelStep, Step, StopStep
from mindspore.compiler.memory.plan import Plan

Pairs = list[tuple[int, int]]


class CannotStore(Exception):
    """The graph has steps that only this process can run."""


class DoesNotFit(Exception):
    """The plan was made for another machine."""


class Constant(NamedTuple):
    """Bytes that a graph reads. If `pairs` are given they are those of a weight in another order: element by element of the weight,
    (extent, stride) from the outermost loop to the innermost."""

    content: np.ndarray
    weight: int | None = None
    pairs: Pairs | None = None


class Stored(NamedTuple):
    """`objects`: machine code, to be linked to an image."""

    rows: dict[str, Any]
    objects: list[bytes]
    constants: list[Constant]


_SMALL = 1 << 13  # bytes of prepared values that are stored as they are


# -- writing ------------------------------------------------------------------------------------------------------


def describe(
    executable: CpuExecutable, arguments: Sequence[np.ndarray], inputs: int, may_order: Callable[[int, Pairs], bool]
) -> Stored:
    """A graph that was compiled, called with its arguments: so many inputs, and weights, which are constant from now on.

    `may_order`: whether a weight (by number) may be stored in another order.
    """
    executable(*arguments)
    (instance,) = executable._free[:1]
    return _Writer(executable, instance, arguments, inputs, may_order).stored()


class _Writer:
    def __init__(
        self, executable: CpuExecutable, instance: Instance, arguments: Sequence[np.ndarray], inputs: int,
        may_order: Callable[[int, Pairs], bool],
    ):  # fmt: skip
        self.executable, self.blueprint, self.instance = executable, executable.blueprint, instance
        self.arguments, self.inputs = arguments, inputs
        self.constants: list[Constant] = []
        self.buffers: list[list[Any]] = []
        self.numbers: dict[int, int] = {}
        self.things: list[Any] = []
        self.known: dict[str, int] = {}
        self.objects = [code.body for code in runner.codes()]
        self.offsets: list[int] = []
        orders = _orders(self.blueprint, inputs).items()
        self.orders = {n: order for n, order in orders if self._is_order(n, *order) and may_order(*order)}

    def _is_order(self, buffer: int, weight: int, pairs: Pairs) -> bool:
        array = self.arguments[self.inputs + weight]
        found = walked(self._kept(buffer, array.nbytes).view(array.dtype), pairs)
        return np.array_equal(found.view(np.uint8), array.reshape(-1).view(np.uint8))

    def _kept(self, buffer: int, nbytes: int) -> np.ndarray:
        return np.array((ctypes.c_uint8 * nbytes).from_address(self.instance.places[buffer]))

    def stored(self) -> Stored:
        blueprint = self.blueprint
        places = {id(b): o for b, o in zip(blueprint.arena, blueprint.plan.offsets)}
        large = {id(b) for b in blueprint.kept if id(b) not in self.orders and b.nbytes > _SMALL}
        preparation = _leading_to(large, blueprint.preparation)
        self.computed = {id(v.buffer) for step in preparation for v in step.writes}
        for buffer in buffers_of([*preparation, *blueprint.steps]):
            self._add(buffer, places)
        if any(v is None or id(v.buffer) not in self.numbers for v in blueprint.results):
            raise CannotStore("a result that no step writes")
        rows = {
            "name": blueprint.name,
            "threads": self.executable.threads,
            "inputs": [[list(shape), kind] for shape, kind in blueprint.inputs[: self.inputs]],
            "preparation": [self._step(step) for step in preparation],
            "steps": [self._step(step) for step in blueprint.steps],
            "results": [[self._view(v), v.dtype, list(v.shape)] for v in blueprint.results if v is not None],
            "buffers": self.buffers,
            "things": self.things,
            "peak": blueprint.plan.peak,
            "offsets": self.offsets,
        }
        return Stored(rows, self.objects, self.constants)

    def _add(self, buffer: Buffer, places: dict[int, int]) -> None:
        kind, which = buffer.kind, buffer.source
        if kind == "arena":
            which = None
            self.offsets.append(places[id(buffer)])
        elif kind == "kept" and id(buffer) not in self.computed:
            weight, pairs = self.orders.get(id(buffer), (None, None))
            which = self._constant(Constant(self._kept(id(buffer), buffer.nbytes), weight, pairs))
            kind = "constant"
        elif kind == "constant" or (kind == "input" and which >= self.inputs):
            weight = which - self.inputs if kind == "input" else None
            which = self._constant(Constant(np.ascontiguousarray(self.arguments[which] if kind == "input" else which), weight))
            kind = "constant"
        self.numbers[id(buffer)] = len(self.buffers)
        self.buffers.append([kind, buffer.nbytes, which])

    def _constant(self, constant: Constant) -> int:
        self.constants.append(constant)
        return len(self.constants) - 1

    def _view(self, view: View) -> list[int]:
        return [self.numbers[id(view.buffer)], view.byte_offset]

    def _step(self, step: Step) -> list[Any]:
        scratch = self.numbers[id(step.scratch)] if step.scratch is not None else None
        guard = self._view(step.guard) if step.guard is not None else None
        if isinstance(step, KernelStep):
            code = getattr(step.compiled, "code", None)
            if code is None:
                raise CannotStore(f"the kernel {step.name}")
            self.objects.append(code.body)
            views = [self._view(v) for v in step.operands]
            return ["kernel", step.name, code.name, scratch, step.threads, step.extent, views, guard]
        if isinstance(step, DnnlStep) and step.op is not None:
            operands = [[a, self._thing(desc), self._view(v)] for a, (desc, v) in step.operands.items()]
            return ["primitive", step.name, self._thing(step.op), scratch, operands, guard]
        if isinstance(step, StopStep):
            return ["stop", step.name, self._view(step.reads[0])]
        raise CannotStore(f"the step {step.name}")

    def _thing(self, thing: dnnl.Desc | dnnl.Op) -> int:
        row = self._primitive(thing) if isinstance(thing, dnnl.Op) else self._description(thing)
        text = repr(row)
        if text not in self.known:
            self.known[text] = len(self.things)
            self.things.append(row)
        return self.known[text]

    def _primitive(self, op: dnnl.Op) -> list[Any]:
        maker, arguments, named = op.recipe
        return ["made_again", maker, self._argument(arguments), self._argument(named), op.implementation]

    def _description(self, desc: dnnl.Desc) -> list[Any]:
        try:
            return ["described", *self._argument(desc.__reduce__()[1])]
        except pickle.PicklingError:  # only its primitive can tell
            if desc.origin is None:
                raise CannotStore("a layout of oneDNN's own") from None
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


def _orders(blueprint: Blueprint, inputs: int) -> dict[int, tuple[int, Pairs]]:
    """Kept buffers that are a weight in another order: (its number, the order)."""
    found: dict[int, tuple[int, Pairs]] = {}
    for step in blueprint.preparation:
        if step.name != "reorder" or len(step.reads) != 1:
            continue
        (source,), (target,) = step.reads, step.writes
        from_weight = source.buffer.kind == "input" and target.buffer.kind == "kept" and layout.is_plain(source)
        whole = source.buffer.nbytes == target.buffer.nbytes and source.offset == target.offset == 0
        if from_weight and whole and target.dims is not None:
            found[id(target.buffer)] = (source.buffer.source - inputs, [p for dim in target.dims for p in dim])
    return found


def _leading_to(buffers: set[int], steps: list[Step]) -> list[Step]:
    """The steps that are needed to compute buffers."""
    wanted, found = set(buffers), list[Step]()
    for step in reversed(steps):
        if any(id(v.buffer) in wanted for v in step.writes):
            found.append(step)
            wanted.update(id(v.buffer) for v in step.views)
    return found[::-1]


# -- reading ------------------------------------------------------------------------------------------------------


def revive(rows: Mapping[str, Any], code: Image, constant: Callable[[int], np.ndarray]) -> CpuExecutable:
    """The graph again, to be called with its inputs alone and `own=True`. `constant`: arrays by number, which must not change any more."""
    if openmp.onednn() is None:
        raise DoesNotFit("oneDNN is not there")
    try:
        loaded = image.Loaded(code)
    except (image.CannotLink, OSError) as error:
        raise DoesNotFit(str(error)) from None
    with openmp.limited(rows["threads"]):
        return _Reader(rows, loaded, constant).executable()


class _Reader:
    def __init__(self, rows: Mapping[str, Any], loaded: image.Loaded, constant: Callable[[int], np.ndarray]):
        self.rows, self.loaded = rows, loaded
        self.buffers = [Buffer(size, k, constant(which) if k == "constant" else which) for k, size, which in rows["buffers"]]
        if any(b.kind == "constant" and b.source.nbytes < b.nbytes for b in self.buffers):
            raise DoesNotFit("a constant is too small")
        self.things: list[Any] = []
        for row in rows["things"]:
            self.things.append(self._thing(row))

    def executable(self) -> CpuExecutable:
        rows = self.rows
        results = [self._view(v, kind, tuple(shape)) for v, kind, shape in rows["results"]]
        first, steps = ([getattr(self, f"_{kind}")(*row) for kind, *row in rows[part]] for part in ("preparation", "steps"))
        arena = [b for b in self.buffers if b.kind == "arena"]
        kept = [b for b in self.buffers if b.kind == "kept"]
        plan = Plan(tuple(rows["offsets"]), rows["peak"], sum(b.nbytes for b in arena))
        functions = runner.functions_of(self.loaded)
        inputs = [(tuple(shape), kind) for shape, kind in rows["inputs"]]
        made = Blueprint(rows["name"], inputs, [*results], first, steps, (), arena, kept, plan, functions)
        return CpuExecutable(made, threads=rows["threads"])

    def _view(self, place: Sequence[int], dtype: str = "uint8", shape: tuple[int, ...] = ()) -> View:
        return View(self.buffers[place[0]], dtype, shape, None, place[1] // layout.itemsize(dtype))

    def _guard(self, guard: Sequence[int] | None) -> View | None:
        return self._view(guard) if guard is not None else None

    def _scratch(self, number: int | None) -> Buffer | None:
        return self.buffers[number] if number is not None else None

    def _kernel(self, name: str, function: str, scratch: int | None, threads: int, extent: int, views: Any, guard: Any) -> Step:
        operands = [self._view(v) for v in views]
        code = self.loaded.function(function)
        made = KernelStep(operands, [], name, 0, self._scratch(scratch), code, operands, threads, extent, guard=self._guard(guard))
        return made

    def _primitive(self, name: str, op: int, scratch: int | None, operands: Any, guard: Any) -> Step:
        given = {a: (self.things[desc], self._view(v)) for a, desc, v in operands}
        reads = [v for _, v in given.values()]
        return DnnlStep(reads, [], name, 0, self._scratch(scratch), self.things[op], given, guard=self._guard(guard))

    def _stop(self, name: str, view: Any) -> Step:
        return StopStep([self._view(view)], [], name)

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
