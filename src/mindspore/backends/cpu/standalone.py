"""Compiled graphs for other processes: `rows.py` with constant weights, an image of machine code, and constant arrays.

Weights are constants, and so is what is computed from weights alone (`preparation.py`) if it is a weight in another order, or small;
the rest (filters as Winograd's algorithm wants them, which are larger than the weights) is computed in the first call. Loading compiles
nothing and needs neither LLVM nor the compiler's modules.

Rows are trusted: whoever keeps them in files must know that they come from a friend (they name addresses).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.strided import walked
from mindspore.backends.cpu import image, layout, openmp, runner
from mindspore.backends.cpu.executable import Blueprint, CpuExecutable, Instance
from mindspore.backends.cpu.image import Image
from mindspore.backends.cpu.layout import Buffer
from mindspore.backends.cpu.rows import CannotStore, DoesNotFit, Reader, Writer
from mindspore.backends.cpu.steps import KernelStep, Step

Pairs = list[tuple[int, int]]


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


class _Writer(Writer):
    def __init__(
        self, executable: CpuExecutable, instance: Instance, arguments: Sequence[np.ndarray], inputs: int,
        may_order: Callable[[int, Pairs], bool],
    ):  # fmt: skip
        blueprint = executable.blueprint
        self.executable, self.instance = executable, instance
        self.arguments, self.inputs = arguments, inputs
        self.constants: list[Constant] = []
        self.objects = [code.body for code in runner.codes()]
        orders = _orders(blueprint, inputs).items()
        self.orders = {n: order for n, order in orders if self._is_order(n, *order) and may_order(*order)}
        large = {id(b) for b in blueprint.kept if id(b) not in self.orders and b.nbytes > _SMALL}
        preparation = _leading_to(large, blueprint.preparation)
        self.computed = {id(v.buffer) for step in preparation for v in step.writes}
        super().__init__(blueprint, preparation, brief=True)

    def _is_order(self, buffer: int, weight: int, pairs: Pairs) -> bool:
        array = self.arguments[self.inputs + weight]
        found = walked(self._kept(buffer, array.nbytes).view(array.dtype), pairs)
        return np.array_equal(found.view(np.uint8), array.reshape(-1).view(np.uint8))

    def _kept(self, buffer: int, nbytes: int) -> np.ndarray:
        return np.array((ctypes.c_uint8 * nbytes).from_address(self.instance.places[buffer]))

    def stored(self) -> Stored:
        if any(v is None for v in self.blueprint.results):
            raise CannotStore("a result that no step writes")
        rows = self.rows()
        inputs = rows["inputs"][: self.inputs]
        return Stored({**rows, "threads": self.executable.threads, "inputs": inputs, "kept_inputs": []}, self.objects, self.constants)

    def named(self, buffer: Buffer) -> tuple[str, Any]:
        """Weights, and what is made of them and not computed again, are constants."""
        kind, which = buffer.kind, buffer.source
        if kind == "kept" and id(buffer) not in self.computed:
            weight, pairs = self.orders.get(id(buffer), (None, None))
            return self._constant(Constant(self._kept(id(buffer), buffer.nbytes), weight, pairs))
        if kind == "input" and which >= self.inputs:
            return self._constant(Constant(np.ascontiguousarray(self.arguments[which]), which - self.inputs))
        if kind == "constant":
            return self._constant(Constant(np.ascontiguousarray(which)))
        return kind, which

    def _constant(self, constant: Constant) -> tuple[str, int]:
        self.constants.append(constant)
        return "constant", len(self.constants) - 1

    def code(self, step: KernelStep) -> str:
        code = getattr(step.compiled, "code", None)
        if code is None:
            raise CannotStore(f"the kernel {step.name}")
        self.objects.append(code.body)
        return code.name


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
        made = Reader(rows, loaded.function, constant).blueprint(runner.functions_of(loaded))
    return CpuExecutable(made, threads=rows["threads"])
