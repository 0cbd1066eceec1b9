"""The files of a generated model.

    include/mindspore_c.h   the interface               net.c          steps as C, one function per kind of loop
    src/mindspore_c.c       its definition              net_sizes.h    sizes of memory
    src/kernels.h           convolutions, products …    weights.c|bin  constants, each at a multiple of 64 bytes
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from mindspore.backends.cpu.layout import Buffer, View
from mindspore.backends.cpu.steps import Step
from mindspore.compiler.memory.plan import Interval, plan
from mindspore.formats.program import Program, TensorSpec
from mindspore_lite.aot import operations as _operations  # noqa: F401  # registers the handlers
from mindspore_lite.aot.lowering import CallStep, Lowered, lower
from mindspore_lite.tensor import kind_of

_ALIGNED = 64
_MOST_DIMENSIONS = 8
FIXED = ("mindspore_c.c", "mindspore_c.h", "kernels.h", "net.h")


class Sources(NamedTuple):
    """Generated text, and the constants as bytes."""

    net: str
    sizes: str
    weights: bytes
    memory: int  # bytes of the arena


def padded(count: int) -> int:
    return -(-count // _ALIGNED) * _ALIGNED


class _Constants:
    """Arrays in one block, equal ones once."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self._known: dict[bytes, int] = {}

    def place(self, array: np.ndarray) -> int:
        content = np.ascontiguousarray(array).tobytes()
        digest = hashlib.blake2b(content, digest_size=20).digest()
        if digest not in self._known:
            self._known[digest] = self.size
            self.parts += [content, b"\0" * (padded(len(content)) - len(content))]
            self.size += padded(len(content))
        return self._known[digest]


class Writer:
    """C functions and constants shared by the graphs of a model."""

    def __init__(self) -> None:
        self.constants = _Constants()
        self.functions: dict[str, str] = {}

    def body(self, lowered: Lowered, given: dict[int, str], fresh: dict[int, int] | None = None) -> tuple[list[str], int]:
        """The calls of a graph, and the bytes of memory it needs. `given`: where parameters are that the caller does not bring;
        `fresh`: results that go behind that memory, and how far behind."""
        arena = _arena(lowered.steps)
        planned = plan([Interval(b.nbytes, b.first, b.last) for b in arena])
        places = {id(b): offset for b, offset in zip(arena, planned.offsets)}
        lines = []
        new = {number: padded(planned.peak) + at for number, at in (fresh or {}).items()}
        for step in lowered.steps:
            assert isinstance(step, CallStep)
            arguments = step.arguments.format(*(self._address(v, places, given, new) for v in step.operands))
            lines.append(f"  {self._function(step.function)}({arguments});")
        return lines, planned.peak

    def _function(self, text: str) -> str:
        if not text.startswith("("):
            return text
        return self.functions.setdefault(text, f"ms_loop_{len(self.functions)}")

    def _address(self, view: View, places: dict[int, int], given: dict[int, str], new: dict[int, int]) -> str:
        buffer, at = view.buffer, view.byte_offset
        if buffer.kind == "arena":
            return f"(void *)(memory + {places[id(buffer)] + at})"
        if buffer.kind == "constant":
            return f"(const void *)(ms_weights + {self.constants.place(buffer.source) + at})"
        if buffer.kind == "output" and buffer.source in new:
            return f"(void *)(memory + {new[buffer.source] + at})"
        if buffer.kind == "output":
            return f"(void *)((unsigned char *)out[{buffer.source}] + {at})"
        if buffer.source in given:
            return f"(const void *)({given[buffer.source]} + {at})"
        return f"(const void *)((const unsigned char *)in[{buffer.source}] + {at})"

    def definitions(self) -> list[str]:
        return [f"static void {name}{text}\n" for text, name in self.functions.items()]


def _arena(steps: Sequence[Step]) -> list[Buffer]:
    found = {id(v.buffer): v.buffer for step in steps for v in step.views if v.buffer.kind == "arena"}
    return list(found.values())


def generate(program: Program, name: str, layout: str = "NCHW") -> Sources:
    """The sources of a model for inference; Unsupported names operations that C has no form for."""
    first = len(program.inputs)
    weights = {first + n: np.asarray(array) for n, array in enumerate(program.weights.values())}
    lowered = lower(program.graph, weights)
    writer = Writer()
    calls, memory = writer.body(lowered, {})
    table = sizes(program.inputs, program.outputs, name, memory)
    return Sources(net(writer, calls, program, layout), table, b"".join(writer.constants.parts), memory)


def sizes(inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec], name: str, memory: int, **more: Any) -> str:
    values = {
        "NAME": f'"{_quoted(name)}"', "INPUTS": len(inputs), "OUTPUTS": len(outputs), "WEIGHTS": 0, "MEMORY": memory,
        "INPUT_BYTES": sum(padded(_bytes(s)) for s in inputs), "OUTPUT_BYTES": sum(padded(_bytes(s)) for s in outputs),
        "STATE_BYTES": 0, "TRAINS": 0, "RATE": "0.0f", "VIRTUAL_BATCH": 1, "MOMENTUM": "0.0f", **more,
    }  # fmt: skip
    return "".join(f"#define MS_NET_{key} {value}\n" for key, value in values.items())


def _bytes(spec: TensorSpec) -> int:
    return int(np.prod(spec.shape, dtype=np.int64)) * spec.dtype.itemsize


def _quoted(text: str) -> str:
    return "".join(c if c.isalnum() or c in "_-./: " else "_" for c in text)


def _table(name: str, specs: Sequence[TensorSpec], layout: str) -> str:
    rows, at = [], 0
    for spec in specs:
        if len(spec.shape) > _MOST_DIMENSIONS:
            raise ValueError(f"'{spec.name}' has {len(spec.shape)} dimensions; tensors of generated models have at most 8")
        shape = ", ".join(map(str, spec.shape)) or "0"
        kind, image = kind_of(spec.dtype.np).value, int(layout == "NHWC")
        rows.append(f'  {{"{_quoted(spec.name)}", {kind}, {image}, {len(spec.shape)}, {{{shape}}}, {_bytes(spec)}, {at}}},\n')
        at += padded(_bytes(spec))
    return f"const ms_tensor_info {name}[] = {{\n{''.join(rows)}  {{0}}}};\n"


_RUN = "void ms_net_run(unsigned char *memory, const unsigned char *state, const void *const *in, void *const *out) {"
_UNUSED = "  (void)memory, (void)state, (void)in, (void)out;"


def net(
    writer: Writer, calls: list[str], program: Program, layout: str, weights: Sequence[TensorSpec] = (), more: Sequence[str] = ()
) -> str:
    """The text of net.c; `more` comes last."""
    return "\n".join([
        '#include "net.h"', '#include "kernels.h"', "", "extern const unsigned char ms_weights[];", "",
        *writer.definitions(),
        _table("ms_net_inputs", program.inputs, layout), _table("ms_net_outputs", program.outputs, layout),
        _table("ms_net_weights", weights, layout),
        _RUN, _UNUSED, *calls, "}", "", *more,
    ])  # fmt: skip


def weights_as_c(content: bytes) -> str:
    """Constants as a C array, for compilers that cannot include files of bytes."""
    words = np.frombuffer(content + b"\0" * (-len(content) % 4), "<u4")
    lines = [", ".join(map(hex, words[n : n + 12].tolist())) for n in range(0, len(words), 12)]
    joined = ",\n".join(lines) or "0"
    return (
        "#include <stdint.h>\n\n"
        f"__attribute__((aligned({_ALIGNED}))) const uint32_t ms_weights[] = {{\n{joined}\n}};\n"
    )


def weights_included(path: str) -> str:
    """The same for ELF targets: the assembler takes the bytes over as they are."""
    return (
        f'__asm__(".section .rodata\\n.balign {_ALIGNED}\\n.globl ms_weights\\n.hidden ms_weights\\n'
        f'ms_weights:\\n.incbin \\"{path}\\"\\n.previous\\n");\n'
    )


def fixed(name: str) -> str:
    """A file that is the same for every model."""
    return resources.files("mindspore_lite.aot").joinpath("runtime", name).read_text("utf-8")
