"""A small binding of the oneDNN 3 C API by ctypes.

Only what the backend uses: memory descriptors, primitive descriptors that choose their own layouts (`any`), primitives
and memories. Every status is checked; reference implementations (orders of magnitude slower than the optimised ones)
are skipped and, where nothing else exists, reported by `Unsupported` so that the caller can do without oneDNN.

Handles are opaque pointers. Descriptors are never mirrored as structs: their contents are queried.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_void_p
from typing import Any

from mindspore._base.once import once
from mindspore.backends.cpu import openmp

MAX_DIMS = 12
Dims = c_int64 * MAX_DIMS

#: oneDNN's numbers of element types, by our names
DTYPES = {"float16": 1, "bfloat16": 2, "float32": 3, "int32": 4, "int8": 5, "uint8": 6}

# Execution arguments.
SRC, DST, WEIGHTS, BIAS, WORKSPACE, SCRATCHPAD = 1, 17, 33, 41, 64, 80
SRC_1, SRC_2, DST_1, DST_2, WEIGHTS_1 = 2, 3, 18, 19, 34
DIFF_SRC, DIFF_DST, DIFF_WEIGHTS, DIFF_BIAS = 129, 145, 161, 169
SCALES = 4096  # with an argument: its scales
_POST_OPERATION = 32768  # times (number + 1): the operands of post-operations

_FORWARD_TRAINING, _FORWARD_INFERENCE = 64, 96
_QUERY_IMPL = 8
_QUERY_STRIDES, _QUERY_NDIMS, _QUERY_DIMS, _QUERY_TYPE = 14, 256, 257, 258
_QUERY_PADDED, _QUERY_BLOCK_COUNT, _QUERY_BLOCKS, _QUERY_BLOCK_AXES = 260, 263, 264, 265
MD_OF = {
    SRC: 129,
    DIFF_SRC: 130,
    WEIGHTS: 131,
    DIFF_WEIGHTS: 132,
    DST: 133,
    DIFF_DST: 134,
    WORKSPACE: 135,
    SCRATCHPAD: 136,
}

POOL_MAX, POOL_AVG_WITH_PADDING, POOL_AVG = 0x1FF, 0x2FF, 0x3FF
_CONVOLUTION_DIRECT, _DECONVOLUTION_DIRECT = 1, 0xA
#: oneDNN's own ReLU turns NaN into 0. x * clip(c x, 0, 1) with a huge c does not; adding 0 makes +0 of -0. It makes NaN of
#: -inf, too, which whoever uses it has to look for.
_RELU = ((0x34, 3e38, 0.0), (0x26, 1.0, 0.0))
_CLIP = 0x2E  # max(x, low), then min: NaN becomes `low`
_BINARY = {"add": 0x1FFF0, "mul": 0x1FFF1}

_STATUS = {
    1: "out of memory", 2: "invalid arguments", 3: "unimplemented", 4: "last implementation reached", 5: "runtime error",
    6: "not required",
}  # fmt: skip


class DnnlError(RuntimeError):
    """A oneDNN call failed."""


class Unsupported(DnnlError):
    """oneDNN has no optimised implementation for this operation."""


@once
def library() -> ctypes.CDLL:
    lib = openmp.onednn()
    if lib is None:
        raise DnnlError("oneDNN is not installed; install it with: pip install 'pymindspore[cpu]'")
    lib.dnnl_primitive_desc_query_md.restype = c_void_p
    lib.dnnl_primitive_desc_query_md.argtypes = [c_void_p, c_int, c_int]
    lib.dnnl_memory_desc_get_size.restype = c_size_t
    lib.dnnl_memory_desc_get_size.argtypes = [c_void_p]
    lib.dnnl_memory_desc_equal.argtypes = [c_void_p, c_void_p]
    lib.dnnl_memory_desc_query.argtypes = [c_void_p, c_int, c_void_p]
    lib.dnnl_primitive_desc_query.argtypes = [c_void_p, c_int, c_int, c_void_p]
    lib.dnnl_memory_set_data_handle.argtypes = [c_void_p, c_void_p]
    lib.dnnl_post_ops_append_eltwise.argtypes = [c_void_p, c_int, c_float, c_float]
    lib.dnnl_post_ops_append_sum.argtypes = [c_void_p, c_float, c_int, c_int]
    lib.dnnl_post_ops_append_binary.argtypes = [c_void_p, c_int, c_void_p]
    for name in ("memory_desc", "primitive_desc", "primitive", "memory", "primitive_attr", "post_ops"):
        getattr(lib, f"dnnl_{name}_destroy").argtypes = [c_void_p]
    return lib


def version() -> tuple[int, int, int]:
    found = library().dnnl_version
    found.restype = ctypes.POINTER(c_int * 3)
    return tuple(found().contents)


def check(status: int, what: str) -> None:
    if status:
        kind = Unsupported if status in (3, 4) else DnnlError
        raise kind(f"oneDNN could not {what}: {_STATUS.get(status, f'status {status}')}")


def dims(values: Sequence[int]) -> Any:
    return Dims(*values)


class _Handle:
    """Owns one oneDNN object."""

    kind = ""

    def __init__(self, handle: int):
        self.handle = handle

    @property
    def _as_parameter_(self) -> c_void_p:
        return c_void_p(self.handle)

    def __del__(self) -> None:
        if self.handle:
            getattr(library(), f"dnnl_{self.kind}_destroy")(self.handle)
            self.handle = 0


@once
def engine() -> c_void_p:
    handle = c_void_p()
    check(library().dnnl_engine_create(byref(handle), 1, c_size_t(0)), "create an engine")
    return handle


@once
def stream() -> c_void_p:
    handle = c_void_p()
    check(library().dnnl_stream_create(byref(handle), engine(), 1), "create a stream")
    return handle


class Desc(_Handle):
    """The description of a tensor in memory: dimensions, element type and layout."""

    kind = "memory_desc"
    is_any = False  # the layout is left to the primitive
    origin: tuple[Op, int] | None = None  # the primitive and the argument whose layout it is

    @classmethod
    def _make(cls, what: str, create: Any, *args: Any) -> Desc:
        handle = c_void_p()
        check(create(byref(handle), *args), what)
        return cls(handle.value or 0)

    @classmethod
    def strided(cls, shape: Sequence[int], dtype: str, strides: Sequence[int] | None = None) -> Desc:
        """Any layout without blocks; row-major when `strides` (in elements) are not given."""
        if strides is None:
            strides = row_major(shape)
        create = library().dnnl_memory_desc_create_with_strides
        return cls._make("describe a tensor", create, len(shape), dims(shape), DTYPES[dtype], dims(strides))

    @classmethod
    def any(cls, shape: Sequence[int], dtype: str) -> Desc:
        """A layout that the primitive will choose."""
        create = library().dnnl_memory_desc_create_with_tag
        found = cls._make("describe a tensor", create, len(shape), dims(shape), DTYPES[dtype], 1)
        found.is_any = True
        return found

    @classmethod
    def tagged(cls, shape: Sequence[int], dtype: str, tag: str) -> Desc:
        """A layout in oneDNN's notation: `aBcd16b` keeps 16 channels together."""
        create = library().dnnl_memory_desc_create_with_string_tag
        return cls._make(
            f"describe a tensor as {tag}", create, len(shape), dims(shape), DTYPES[dtype], c_char_p(tag.encode())
        )

    def clone(self) -> Desc:
        return self._make("copy a description", library().dnnl_memory_desc_clone, self)

    @property
    def nbytes(self) -> int:
        """Bytes in memory, padding included."""
        return int(library().dnnl_memory_desc_get_size(self.handle))

    @property
    def has_more_than_elements(self) -> bool:
        """Whether bytes follow the elements: a primitive with a signed source has sums of its 8-bit filters there."""
        return self.dtype == "int8" and self.nbytes > math.prod(self.padded_shape)

    def _query(self, what: int, result: Any) -> Any:
        check(library().dnnl_memory_desc_query(self.handle, what, byref(result)), "read a description")
        return result

    def _query_dims(self, what: int, count: int) -> tuple[int, ...]:
        pointer = self._query(what, ctypes.POINTER(c_int64)())
        return tuple(pointer[i] for i in range(count))

    @property
    def ndim(self) -> int:
        return self._query(_QUERY_NDIMS, c_int()).value

    @property
    def shape(self) -> tuple[int, ...]:
        return self._query_dims(_QUERY_DIMS, self.ndim)

    @property
    def dtype(self) -> str:
        number = self._query(_QUERY_TYPE, c_int()).value
        return next(name for name, found in DTYPES.items() if found == number)

    @property
    def padded_shape(self) -> tuple[int, ...]:
        return self._query_dims(_QUERY_PADDED, self.ndim)

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides of the outer (block) dimensions, in elements."""
        return self._query_dims(_QUERY_STRIDES, self.ndim)

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """Inner blocks, outermost first, as (axis, size)."""
        count = self._query(_QUERY_BLOCK_COUNT, c_int()).value
        sizes, axes = self._query_dims(_QUERY_BLOCKS, count), self._query_dims(_QUERY_BLOCK_AXES, count)
        return tuple(zip(axes, sizes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Desc) and bool(library().dnnl_memory_desc_equal(self.handle, other.handle))

    __hash__ = None  # type: ignore[assignment]

    def contents(self) -> tuple | None:
        """What `described` takes to make it again; None for a layout that has no words."""
        if self.is_any:
            return (self.shape, self.dtype)
        try:
            found = (self.shape, self.dtype, self.strides, self.blocks)
            return found if described(*found) == self else None
        except DnnlError:
            return None

    def __repr__(self) -> str:
        return f"Desc(shape={self.shape}, strides={self.strides}, blocks={self.blocks})"


def described(shape: tuple, dtype: str, strides: tuple = (), blocks: tuple = ()) -> Desc:
    """The description with these contents; with blocks, strides that do not follow from an order of the dimensions get lost."""
    if not strides:
        return Desc.any(shape, dtype)
    if not blocks:
        return Desc.strided(shape, dtype, strides)
    blocked = {axis for axis, _ in blocks}
    outer = sorted(
        range(len(shape)), key=lambda d: (-strides[d], -shape[d] // math.prod(n for a, n in blocks if a == d))
    )
    letters = [chr(ord("A" if d in blocked else "a") + d) for d in outer]
    return Desc.tagged(
        shape, dtype, "".join(letters) + "".join(f"{size}{chr(ord('a') + axis)}" for axis, size in blocks)
    )


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


class _PrimitiveDesc(_Handle):
    kind = "primitive_desc"


class _Attributes(_Handle):
    """Scratch memory is ours (it lives in the graph's arena); optionally operations applied to the result."""

    kind = "primitive_attr"

    def __init__(self, post_ops: Sequence[tuple] = (), scales: Mapping[int, int] | None = None):
        """`scales`: arguments whose numbers are scaled -> mask of the dimensions along which scales differ."""
        lib = library()
        handle = c_void_p()
        check(lib.dnnl_primitive_attr_create(byref(handle)), "create attributes")
        super().__init__(handle.value or 0)
        check(lib.dnnl_primitive_attr_set_scratchpad_mode(self, 1), "set the scratchpad mode")
        for argument, mask in (scales or {}).items():
            check(lib.dnnl_primitive_attr_set_scales_mask(self, argument, mask), "set scales")
        if post_ops:
            self._append(post_ops)

    def _append(self, post_ops: Sequence[tuple]) -> None:
        """`post_ops`: ("add" | "mul", description of the operand), or a name alone: "relu", "sum" (what is in the target
        already); or ("clip", low, high)."""
        lib = library()
        handle = c_void_p()
        check(lib.dnnl_post_ops_create(byref(handle)), "create post-operations")
        try:
            for name, *operand in post_ops:
                if name == "sum":
                    check(lib.dnnl_post_ops_append_sum(handle, 1.0, 0, 0), "append a sum")
                    continue
                if name in _BINARY:
                    check(lib.dnnl_post_ops_append_binary(handle, _BINARY[name], operand[0]), f"append {name}")
                    continue
                for algorithm, alpha, beta in _RELU if name == "relu" else [(_CLIP, *operand)]:
                    check(lib.dnnl_post_ops_append_eltwise(handle, algorithm, alpha, beta), f"append {name}")
            check(lib.dnnl_primitive_attr_set_post_ops(self, handle), "set post-operations")
        finally:
            lib.dnnl_post_ops_destroy(handle)


def post_op_arguments(post_ops: Sequence[tuple]) -> list[int]:
    """The execution arguments of the operands that post-operations have, in order."""
    found, number = [], 0
    for name, *_ in post_ops:
        if name in _BINARY:
            found.append((_POST_OPERATION * (number + 1)) | SRC_1)
        number += len(_RELU) if name == "relu" else 1
    return found


_MAKERS: dict[str, Callable[..., Op]] = {}


def _remembered(make: Callable[..., Op]) -> Callable[..., Op]:
    """A function or method that makes a primitive, which remembers how: so it can be made again from a file."""

    @functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Op:
        op = make(*args, **kwargs)
        op.recipe = (make.__qualname__, args, kwargs)
        return op

    _MAKERS[make.__qualname__] = made
    return made


def made_again(maker: str, args: tuple, kwargs: dict) -> Op:
    return _MAKERS[maker](*args, **kwargs)


class Op(_Handle):
    """A primitive ready to run, with the layouts it wants."""

    kind = "primitive"
    recipe: tuple[str, tuple, dict]  # which function made it, and from what

    def __init__(self, descriptor: _PrimitiveDesc, allow_reference: bool = False):
        lib = library()
        self.descriptor = descriptor
        self.handle = 0
        while not allow_reference and "ref" in self.implementation.split(":")[0]:
            check(lib.dnnl_primitive_desc_next_impl(descriptor), "find an optimised implementation")
        handle = c_void_p()
        check(lib.dnnl_primitive_create(byref(handle), descriptor), "create a primitive")
        super().__init__(handle.value or 0)

    @property
    def implementation(self) -> str:
        text = c_char_p()
        check(library().dnnl_primitive_desc_query(self.descriptor.handle, _QUERY_IMPL, 0, byref(text)), "query")
        return (text.value or b"").decode()

    def desc(self, argument: int) -> Desc:
        """The layout an argument must have."""
        index, wanted = 0, argument
        if argument in (BIAS, DIFF_BIAS):
            argument, index = (WEIGHTS, 1) if argument == BIAS else (DIFF_WEIGHTS, 1)
        elif argument in (SRC_1, SRC_2, DST_1, DST_2, WEIGHTS_1):
            base = SRC if argument < DST else DST if argument < WEIGHTS else WEIGHTS
            argument, index = base, argument - base
        handle = library().dnnl_primitive_desc_query_md(self.descriptor.handle, MD_OF[argument], index)
        borrowed = Desc(handle or 0)
        copy = borrowed.clone()
        copy.origin = (self, wanted)
        borrowed.handle = 0  # owned by the primitive descriptor
        return copy

    @property
    def scratch_bytes(self) -> int:
        return self.desc(SCRATCHPAD).nbytes

    def run(self, arguments: dict[int, Memory]) -> None:
        """Execute now (graphs do this from their native step table instead)."""
        scratch = ctypes.create_string_buffer(self.scratch_bytes + 64)
        aligned = -(-ctypes.addressof(scratch) // 64) * 64
        arguments = {**arguments, SCRATCHPAD: Memory(self.desc(SCRATCHPAD), aligned)}
        table = exec_args({k: m.handle for k, m in arguments.items()})
        check(library().dnnl_primitive_execute(self, stream(), len(arguments), table), "execute a primitive")
        check(library().dnnl_stream_wait(stream()), "wait")


class ExecArg(ctypes.Structure):
    _fields_ = [("argument", c_int), ("memory", c_void_p)]


def exec_args(memories: dict[int, int]) -> Any:
    return (ExecArg * len(memories))(*(ExecArg(k, v) for k, v in memories.items()))


class Memory(_Handle):
    """A description bound to an address."""

    kind = "memory"

    def __init__(self, desc: Desc, address: int):
        handle = c_void_p()
        check(library().dnnl_memory_create(byref(handle), desc, engine(), c_void_p(address)), "create a memory")
        super().__init__(handle.value or 0)

    def move(self, address: int) -> None:
        check(library().dnnl_memory_set_data_handle(self.handle, address), "move a memory")


def _descriptor(what: str, create: Any, *args: Any) -> _PrimitiveDesc:
    handle = c_void_p()
    check(create(byref(handle), *args), what)
    return _PrimitiveDesc(handle.value or 0)


@_remembered
def reorder(source: Desc, target: Desc) -> Op:
    """Copy between layouts (and element types)."""
    create = library().dnnl_reorder_primitive_desc_create
    return Op(
        _descriptor("plan a reorder", create, source, engine(), target, engine(), _Attributes()), allow_reference=True
    )


@_remembered
def matmul(
    source: Desc,
    weights: Desc,
    target: Desc,
    bias: Desc | None = None,
    post_ops: Sequence[tuple] = (),
    scales: Mapping[int, int] | None = None,
) -> Op:
    create = library().dnnl_matmul_primitive_desc_create
    args = (engine(), source, weights, bias, target, _Attributes(post_ops, scales))
    return Op(_descriptor("plan a matrix product", create, *args))


class Window:
    """The geometry of a convolution or pooling: one entry per spatial dimension."""

    def __init__(self, strides: Sequence[int], dilations: Sequence[int], before: Sequence[int], after: Sequence[int]):
        self.strides = tuple(strides)
        self.dilations = tuple(dilations)
        self.before = tuple(before)
        self.after = tuple(after)

    def numbers(self) -> tuple[tuple[int, ...], ...]:
        """What it was made from."""
        return self.strides, self.dilations, self.before, self.after

    def arguments(self) -> tuple[Any, ...]:
        """In oneDNN a dilation of 0 means adjacent taps."""
        return dims(self.strides), dims([d - 1 for d in self.dilations]), dims(self.before), dims(self.after)


class Convolution:
    """Forward and both backward primitives of one (possibly transposed) convolution. Weights of groups have a leading axis."""

    def __init__(self, window: Window, transposed: bool = False):
        self.window, self.transposed = window, transposed
        self.prefix = "dnnl_deconvolution" if transposed else "dnnl_convolution"
        self.algorithm = _DECONVOLUTION_DIRECT if transposed else _CONVOLUTION_DIRECT

    def _create(self, name: str) -> Any:
        return getattr(library(), f"{self.prefix}_{name}_primitive_desc_create")

    def _forward(
        self,
        source: Desc,
        weights: Desc,
        bias: Desc | None,
        target: Desc,
        prop: int,
        post_ops: Sequence[tuple],
        scales: Mapping[int, int] | None = None,
    ) -> _PrimitiveDesc:
        attributes = _Attributes(post_ops, scales)
        args = (prop, self.algorithm, source, weights, bias, target, *self.window.arguments(), attributes)
        return _descriptor("plan a convolution", self._create("forward"), engine(), *args)

    @_remembered
    def forward(
        self,
        source: Desc,
        weights: Desc,
        target: Desc,
        bias: Desc | None = None,
        training: bool = False,
        post_ops: Sequence[tuple] = (),
        scales: Mapping[int, int] | None = None,
    ) -> Op:
        prop = _FORWARD_TRAINING if training else _FORWARD_INFERENCE
        return Op(self._forward(source, weights, bias, target, prop, post_ops, scales))

    @_remembered
    def backward_data(self, diff_source: Desc, weights: Desc, diff_target: Desc, hint: tuple[Desc, Desc, Desc]) -> Op:
        """`hint`: source, weights and target of the forward pass."""
        forward = self._forward(hint[0], hint[1], None, hint[2], _FORWARD_TRAINING, ())
        args = (self.algorithm, diff_source, weights, diff_target, *self.window.arguments(), forward, _Attributes())
        return Op(_descriptor("plan a convolution gradient", self._create("backward_data"), engine(), *args))

    @_remembered
    def backward_weights(
        self,
        source: Desc,
        diff_weights: Desc,
        diff_target: Desc,
        hint: tuple[Desc, Desc, Desc],
        diff_bias: Desc | None = None,
    ) -> Op:
        forward = self._forward(hint[0], hint[1], None, hint[2], _FORWARD_TRAINING, ())
        args = (
            self.algorithm,
            source,
            diff_weights,
            diff_bias,
            diff_target,
            *self.window.arguments(),
            forward,
            _Attributes(),
        )
        return Op(_descriptor("plan a convolution gradient", self._create("backward_weights"), engine(), *args))


class Pooling:
    """Forward and backward of one pooling."""

    def __init__(self, window: Window, kernel: Sequence[int], algorithm: int):
        self.window = window
        self.kernel = tuple(kernel)
        self.algorithm = algorithm

    def _geometry(self) -> tuple[Any, ...]:
        strides, dilations, before, after = self.window.arguments()
        return strides, dims(self.kernel), dilations, before, after

    def _forward(self, source: Desc, target: Desc, prop: int) -> _PrimitiveDesc:
        create = library().dnnl_pooling_forward_primitive_desc_create
        args = (prop, self.algorithm, source, target, *self._geometry(), _Attributes())
        return _descriptor("plan a pooling", create, engine(), *args)

    @_remembered
    def forward(self, source: Desc, target: Desc, training: bool) -> Op:
        return Op(self._forward(source, target, _FORWARD_TRAINING if training else _FORWARD_INFERENCE))

    @_remembered
    def backward(self, diff_source: Desc, diff_target: Desc, hint: tuple[Desc, Desc]) -> Op:
        forward = self._forward(hint[0], hint[1], _FORWARD_TRAINING)
        create = library().dnnl_pooling_backward_primitive_desc_create
        args = (self.algorithm, diff_source, diff_target, *self._geometry(), forward, _Attributes())
        return Op(_descriptor("plan a pooling gradient", create, engine(), *args))
