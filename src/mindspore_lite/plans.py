"""Compiled graphs in a model file: a model is ready when its primitives are made, without any work of a compiler.

    section "plans" = signature (32 bytes) · zlib(length of the index (8 bytes) · index (JSON) · machine code)
    index = {"machine", "digest", "record": results that tell of an error, "indices": [digest per plan],
             "plans": [rows of backends/cpu/standalone.py], "constants": [[[form, array]] per plan],
             "functions": {name: offset}, "fixes": [[where, place]], "outside": [[where, name, added]]}

There is a plan for one thread and one for all of the machine's. `form` tells whether an array is read as it is ("plain") or its stored
bytes are ("raw": weights stand in the file in the order that a convolution reads them, which is told by their row in `arrays`). Like
`stored_code.py`, which this is the larger brother of, a plan is used only if this user has signed it, and on the machine that
it was made for; `digest` covers the sections that say what the model is, `indices` arrays of whole numbers: nothing else can be put
beside the code.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import platform
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mindspore._base.strided import walked
from mindspore.backends.cpu import image, openmp, standalone
from mindspore.backends.cpu.image import Image
from mindspore_lite import stored_code
from mindspore_lite.container import as_json

if TYPE_CHECKING:
    from mindspore.backends.cpu.executable import CpuExecutable
    from mindspore.backends.cpu.standalone import Pairs, Stored
    from mindspore.formats.program import Program
    from mindspore_lite.arrays import ArrayReader, ArrayWriter

_LENGTH = 8
_SHARE = 0.1  # of a model's bytes that constants of plans may take besides

Runner = Callable[..., tuple[np.ndarray, ...]]


def machine() -> str:
    """What compiled code depends on: the CPU with its features, and oneDNN's version."""
    with open("/proc/cpuinfo", "rb") as stream:
        lines = stream.read(1 << 14).split(b"\n\n")[0].splitlines()
    about = [line for line in lines if line.startswith((b"vendor_id", b"cpu family", b"model", b"flags"))]
    library = openmp.onednn()
    if library is not None:
        library.dnnl_version.restype = ctypes.c_void_p
        about.append(ctypes.string_at(library.dnnl_version(), 12))
    return hashlib.blake2b(b"\n".join([platform.machine().encode(), *about]), digest_size=16).hexdigest()


# -- writing ------------------------------------------------------------------------------------------------------


class _Order(NamedTuple):
    """Bytes that are an array's elements in another order, maybe with more behind each of its dimensions (`within`)."""

    array: np.ndarray
    pairs: Pairs
    within: tuple[int, ...]


class PlanWriter:
    """Plans of a program. First `arrange`, before the model's arrays are written: it gives weights their order; then `section`."""

    def __init__(self, arrays: ArrayWriter):
        self._arrays = arrays
        self._plans: list[Stored] = []
        self._weights: list[np.ndarray] = []
        self._orders: dict[_Identity, _Order] = {}  # of bytes that plans read
        self._record: Sequence[int] | None = None  # results that tell of an error

    def arrange(self, program: Program | None) -> None:
        """Compile a program for one thread and for all; nothing where that has no form in a file."""
        from mindspore.backends import cpu
        from mindspore.backends.base import CannotCompile

        if program is None or program.updates or not cpu.available():
            return
        from mindspore_lite.quantise.packed import for_few_rows

        if not image.supported():
            return
        packed = for_few_rows(program)
        self._weights = [np.array(w) for w in packed.weights.values()]
        self._record = packed.graph.attrs.get("record")
        self._find_panels(program)
        given = [np.zeros(spec.shape, spec.dtype.np) for spec in packed.inputs]
        ordered: dict[int, Pairs] = {}
        for threads in sorted({1, openmp.threads()}):
            try:
                backend = cpu.CpuBackend(threads=threads, finite=True)
                if not backend.supports(packed.graph):
                    return
                made = backend.compile(packed.graph)
                arguments = [*given, *self._weights]
                self._plans.append(standalone.describe(made, arguments, len(given), lambda n, p: self._may_order(ordered, n, p)))
            except (CannotCompile, standalone.CannotStore, image.CannotLink):
                continue
        for constant in (c for plan in self._plans for c in plan.constants if c.pairs is not None):
            array = self._weights[constant.weight or 0]
            self._orders[_identity(constant.content)] = _Order(array, constant.pairs or [], array.shape)
        if self._extra(program) > 4096 + _SHARE * sum(array.nbytes for array in program.weights.values()):
            self._plans = []  # weights that are prepared by computing, and larger than the model
            return
        used = {_identity(c.content) for plan in self._plans for c in plan.constants}
        for identity, order in self._orders.items():
            if identity in used:
                content = next(c.content for plan in self._plans for c in plan.constants if _identity(c.content) == identity)
                self._arrays.add_in_order(order.array, content, order.pairs, order.within)

    def _may_order(self, ordered: dict[int, Pairs], weight: int, pairs: Pairs) -> bool:
        """The first order that is wanted is the one it has in the file, if it is stored as it is at all."""
        array = self._weights[weight]
        if self._arrays.is_coded(array) or any(order.array is array for order in self._orders.values()):
            return False
        return ordered.setdefault(weight, pairs) == pairs

    def _find_panels(self, program: Program) -> None:
        """Weights of products that were packed for few rows: the model's own ones, in panels (`prims/packed_product.py`)."""
        own = {_identity(array) for array in program.weights.values()}
        flat = [array for array in program.weights.values() if array.ndim == 2 and not self._arrays.is_coded(array)]
        for packed in self._weights:
            if packed.ndim != 3 or packed.dtype != np.float32 or _identity(packed) in own:
                continue
            panels, inputs, width = packed.shape
            across, down = [(panels, inputs * width), (width, 1)], [(inputs, width)]
            for pairs, within in (([*down, *across], (inputs, panels * width)), ([*across, *down], (panels * width, inputs))):
                seen = walked(packed.reshape(-1), pairs).reshape(within)
                for array in flat:
                    fits = all(0 <= w - n < width for w, n in zip(within, array.shape))
                    if fits and np.array_equal(seen[: array.shape[0], : array.shape[1]], array):
                        self._orders.setdefault(_identity(packed), _Order(array, pairs, within))

    def _extra(self, program: Program) -> int:
        """Bytes that plans read and the model does not have in any order."""
        known = {*self._orders, *(_identity(array) for array in program.weights.values())}
        extra = {_identity(c.content) for plan in self._plans for c in plan.constants} - known
        return sum(size for size, _ in extra)

    def section(self, sections: Mapping[str, bytes]) -> bytes | None:
        """The section's bytes, signed; None where there is no plan, or no secret. Adds constants to the arrays."""
        if not self._plans:
            return None
        linked = image.link(body for plan in self._plans for body in plan.objects)
        index: dict[str, Any] = {
            "machine": machine(), "record": self._record,
            "plans": [plan.rows for plan in self._plans],
            "constants": [[self._constant(c.content) for c in plan.constants] for plan in self._plans],
            "functions": linked.functions, "fixes": linked.fixes, "outside": linked.outside,
        }  # fmt: skip
        index["digest"] = digest({**sections, "arrays": as_json(self._arrays.rows)})
        index["indices"] = [_digest_of_indices([c.content for c in plan.constants]) for plan in self._plans]
        table = as_json(index)
        return stored_code.signed(zlib.compress(len(table).to_bytes(_LENGTH, "little") + table + linked.code))

    def _constant(self, content: np.ndarray) -> list[Any]:
        order = self._orders.get(_identity(content))
        return ["raw", self._arrays.add(order.array)] if order else ["plain", self._arrays.add(content, weight=True)]


_Identity = tuple[int, bytes]


def _identity(array: np.ndarray) -> _Identity:
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return content.nbytes, hashlib.blake2b(content.data, digest_size=16).digest()


def digest(sections: Mapping[str, bytes | memoryview]) -> str:
    """Of what says what the model is."""
    found = [hashlib.blake2b(sections[name], digest_size=16).hexdigest() for name in ("meta", "graph", "arrays")]
    return " ".join(found)


def _digest_of_indices(constants: Sequence[np.ndarray]) -> str:
    """Of constants that may be indices: nothing but the right ones may reach compiled code."""
    found = hashlib.blake2b(digest_size=16)
    for array in constants:
        if array.dtype in (np.int32, np.int64):
            found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()


# -- reading ------------------------------------------------------------------------------------------------------


class Plans(NamedTuple):
    """Plans that this user has signed, for this machine and this model."""

    rows: dict[str, Any]
    code: bytes

    @classmethod
    def open(cls, section: memoryview, others: Mapping[str, memoryview]) -> Plans | None:
        """The plans of a section, if they may be used here. `others`: the sections that say what the model is."""
        packed = stored_code.verified(section)
        if packed is None:
            return None
        content = zlib.decompress(packed)
        size = int.from_bytes(content[:_LENGTH], "little")
        index = json.loads(content[_LENGTH : _LENGTH + size])
        fits = index["machine"] == machine() and index["digest"] == digest(others)
        return cls(index, content[_LENGTH + size :]) if fits else None

    def revive(self, arrays: ArrayReader, threads: int) -> tuple[CpuExecutable, list[np.ndarray]] | None:
        """The compiled graph for so many threads (0: all), with arrays it reads; None if there is none."""
        wanted = threads or openmp.threads()
        for rows, forms, indices in zip(self.rows["plans"], self.rows["constants"], self.rows["indices"]):
            if rows["threads"] != wanted:
                continue
            held = [arrays.raw(n) if form == "raw" else np.ascontiguousarray(arrays.get(n)) for form, n in forms]
            if _digest_of_indices(held) != indices:
                return None
            code = Image(self.code, self.rows["functions"], self.rows["fixes"], self.rows["outside"])
            try:
                return standalone.revive(rows, code, held.__getitem__), held
            except standalone.DoesNotFit:
                return None
        return None
