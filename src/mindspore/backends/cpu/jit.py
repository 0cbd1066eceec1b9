"""Machine code: compiling kernels for this CPU and loading them.

Compiled objects hold no addresses of this process, so they can be used again by others (`cache`): a kernel's key is the
hash of its IR text, the CPU and the versions.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from mindspore._base import optional
from mindspore.backends.cpu import cache, openmp

_MINIMUM_LLVM = 20
_LOCK = threading.RLock()  # LLVM's bindings are not for several threads at once


def available() -> bool:
    """Whether kernels can be generated here."""
    return optional.available("llvmlite") and openmp.runtime() is not None and _llvm_is_new_enough()


@functools.cache
def _llvm_is_new_enough() -> bool:
    import llvmlite.binding as llvm

    return llvm.llvm_version_info[0] >= _MINIMUM_LLVM


@functools.cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    with contextlib.suppress(RuntimeError):  # newer versions initialise themselves and say so by raising
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def host() -> tuple[str, str]:
    """The CPU's name and features, as LLVM spells them."""
    llvm = _llvm()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@functools.cache
def vector_bits() -> int:
    name, features = host()
    del name
    if "+avx512f" in features and "+avx512bw" in features and "+avx512dq" in features:
        return 512
    return 256 if "+avx2" in features else 128


@functools.cache
def has_vnni() -> bool:
    """Whether there is an instruction that adds up four products of bytes."""
    return vector_bits() == 512 and "+avx512vnni" in host()[1]


@functools.cache
def has_byte_tables() -> bool:
    """Whether there is an instruction that looks 64 bytes up in a table of 128 (AVX-512 VBMI)."""
    return vector_bits() == 512 and "+avx512vbmi" in host()[1]


def _machine() -> Any:
    llvm = _llvm()
    name, features = host()
    if vector_bits() == 512:
        features += ",-prefer-256-bit"
    target = llvm.Target.from_default_triple()
    # The large code model: sections of one object may be mapped further apart than 32-bit offsets reach, and LLVM aborts then.
    return target.create_target_machine(
        cpu=name, features=features, opt=2, reloc="static", codemodel="large", jit=False
    )


def _key(ir: str, optimised: bool) -> str:
    import llvmlite

    digest = hashlib.sha256()
    for part in (ir, *host(), llvmlite.__version__, "2" if optimised else "1"):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def _compile(ir: str, optimised: bool) -> bytes:
    llvm = _llvm()
    context = llvm.context.create_context()  # of its own: constants last as long as their context
    module = llvm.parse_assembly(ir, context=context)
    try:
        machine = _machine()
        if optimised:  # most code is written so that it needs no passes
            options = llvm.create_pipeline_tuning_options(speed_level=2)
            options.loop_vectorization = options.slp_vectorization = False
            llvm.create_pass_builder(machine, options).getModulePassManager().run(module, llvm.create_pass_builder(machine, options))
        return machine.emit_object(module)
    finally:
        module.close()
        context.close()


class Shelf:
    """Objects that a model brings along: `known` by key. `used` are those that were asked for."""

    def __init__(self, known: Mapping[str, bytes] | None = None):
        self.known = known or {}
        self.used: dict[str, bytes] = {}

    @contextlib.contextmanager
    def open(self) -> Iterator[Shelf]:
        """Look here first for what this thread compiles."""
        token = _SHELF.set(self)
        try:
            yield self
        finally:
            _SHELF.reset(token)


_SHELF: ContextVar[Shelf | None] = ContextVar("shelf", default=None)


def brings_objects() -> bool:
    """Whether a model that is being compiled brings its own objects, or wants to know which ones it needs."""
    return _SHELF.get() is not None


def object_code(ir: str, optimised: bool = False) -> bytes:
    """The compiled object of a module, from the shelf or the disk cache when they have it."""
    return _object_code(ir, optimised)[0]


def _object_code(ir: str, optimised: bool) -> tuple[bytes, str]:
    """The object, and its key if it is kept."""
    shelf = _SHELF.get()
    with _LOCK:
        if cache.folder() is None and shelf is None:
            return _compile(ir, optimised), ""
        key = _key(ir, optimised)
        body = shelf.known.get(key) if shelf is not None else None
        body = body or cache.read(key)
        if body is None:
            body = _compile(ir, optimised)
            cache.write(key, body)
        if shelf is not None:
            shelf.used[key] = body
        return body, key


class Code:
    """A function in machine code; its memory is given back when nobody holds this object any more.

    Whoever keeps the address for later calls must keep the object, too. `optimised` runs LLVM's own passes over the IR.
    """

    def __init__(self, name: str, ir: str, optimised: bool = False):
        self._load(name, *_object_code(ir, optimised))

    @classmethod
    def stored(cls, name: str, key: str) -> Code:
        """A function of an object in the disk cache. Raises LookupError where it is not there any more."""
        body = cache.read(key)
        if body is None:
            raise LookupError(f"no compiled object {key}")
        code = cls.__new__(cls)
        code._load(name, body, key)
        return code

    def _load(self, name: str, body: bytes, key: str) -> None:
        """`key`: of the object in the disk cache, "" if it is not kept."""
        openmp.runtime()  # its symbols must be there before code that calls them is linked
        self.name, self.key, self.body = name, key, body
        with _LOCK:
            self._engine = _loaded(body)
            self._process = os.getpid()
            self.address: int = self._engine.get_function_address(name)
        if not self.address:
            raise RuntimeError(f"the compiled kernel {name} could not be loaded")

    def __del__(self, getpid: Callable[[], int] = os.getpid) -> None:
        engine = getattr(self, "_engine", None)
        if engine is not None and getpid() != self._process:
            engine.detach()  # in a forked child LLVM's lock may be held by a thread that is not there


def _loaded(body: bytes) -> Any:
    """An engine that holds one object."""
    llvm = _llvm()
    empty = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(empty, _loading_machine())
    engine.remove_module(empty)  # compiling it, which is nothing, would take most of the time
    engine.add_object_file(llvm.ObjectFileRef.from_data(body))
    engine.finalize_object()
    return engine


def _loading_machine() -> Any:
    """Every engine needs a machine of its own; objects are compiled already, so it need not know the CPU."""
    return _llvm().Target.from_default_triple().create_target_machine(reloc="static", codemodel="large", jit=False)


def callable_at(address: int) -> Any:
    """A kernel as a Python function of the address of its argument block."""
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)
