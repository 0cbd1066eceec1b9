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
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from mindspore._base import optional
from mindspore.backends.cpu import beside, cache, openmp

_MINIMUM_LLVM = 20
_LOCK = threading.RLock()  # LLVM's bindings are not for several threads at once
beside.survive_forks(_LOCK)


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


#: machines that nobody uses just now. Making one takes as long as compiling a small kernel does
_MACHINES: list[Any] = []


@contextlib.contextmanager
def _a_machine() -> Iterator[Any]:
    """A machine for the time being: one is for one thread at a time."""
    try:
        machine = _MACHINES.pop()
    except IndexError:
        machine = _machine()
    try:
        yield machine
    finally:
        _MACHINES.append(machine)


class _Parsed:
    """A module about to be compiled, with a context of its own: several can be compiled at a time.

    A module must be closed before its context. Python's collector of cycles finalises both in any order, so they are kept out of its
    sight: `close`, which also runs when nobody holds this object any more, has the only references that count.
    """

    def __init__(self, ir: str, optimised: bool = False):
        llvm = _llvm()
        context = llvm.context.create_context()  # of its own: constants last as long as their context
        self.module = llvm.parse_assembly(ir, context=context)
        self.close = _closing(self, self.module, context)
        if optimised:  # most code is written so that it needs no passes
            options = llvm.create_pipeline_tuning_options(speed_level=2)
            options.loop_vectorization = options.slp_vectorization = False
            with _a_machine() as machine:
                passes = llvm.create_pass_builder(machine, options).getModulePassManager()
                passes.run(self.module, llvm.create_pass_builder(machine, options))

    def object(self) -> bytes:
        """The compiled module. It takes nearly all of the time, without Python and without llvmlite's lock, which is one for all:
        LLVM itself minds only what is shared, as its linkers' threads do, and here nothing is."""
        emitter = _emitter()
        with _a_machine() as machine:
            if emitter is None:
                return machine.emit_object(self.module)
            emit, start, size, dispose = emitter
            message = ctypes.c_char_p()
            found = emit(machine, self.module, 1, ctypes.byref(message))
        if not found:
            raise RuntimeError(f"LLVM gave no object: {(message.value or b'').decode(errors='replace')}")
        try:
            return ctypes.string_at(start(found), size(found))
        finally:
            dispose(found)


#: what LLVM made and nobody needs any more, until somebody has the lock
_UNUSED: deque[tuple[Any, ...]] = deque()


def _closing(owner: Any, *parts: Any) -> weakref.finalize:
    """Closes what belongs to `owner`, in this order, when it is called or nobody holds `owner` any more."""
    finalizer = weakref.finalize(owner, _close, parts, os.getpid())
    finalizer.atexit = False
    return finalizer


def _close(parts: tuple[Any, ...], process: int) -> None:
    """A collection of garbage may come at any time, so nobody waits for the lock here; but without it, who holds LLVM's own in such a
    collection and needs ours would wait for who has ours and needs LLVM's, and a fork would leave LLVM's locked."""
    if os.getpid() != process:  # the lock of another user of LLVM may be held by a thread that is not there in a forked child
        for part in parts:
            part.detach()
        return
    _UNUSED.append(parts)
    if _LOCK.acquire(blocking=False):
        try:
            while _UNUSED:
                for part in _UNUSED.popleft():
                    part.close()
        finally:
            _LOCK.release()


@functools.cache
def _emitter() -> tuple[Callable, Callable, Callable, Callable] | None:
    """llvmlite's C functions to emit an object, and its start, size and end; None where its library cannot be asked by name."""
    from llvmlite.binding import ffi

    name = getattr(ffi.lib, "_name", None)
    if name is None:
        return None
    emit = ctypes.CDLL(name).LLVMPY_TargetMachineEmitToMemory
    emit.restype, emit.argtypes = ctypes.c_void_p, ffi.lib.LLVMPY_TargetMachineEmitToMemory.argtypes
    short = ctypes.PyDLL(name)  # keeps the interpreter: giving it up would take longer
    found = []
    for function in (short.LLVMPY_GetBufferStart, short.LLVMPY_GetBufferSize, short.LLVMPY_DisposeMemoryBuffer):
        function.restype, function.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
        found.append(function)
    return emit, *found  # type: ignore[return-value]


def _compile(ir: str, optimised: bool) -> bytes:
    parsed = _Parsed(ir, optimised)
    try:
        return parsed.object()
    finally:
        parsed.close()


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
    with _LOCK:
        key, body = _kept(ir, optimised)
        return body if body is not None else _finished(key, _compile(ir, optimised))


def _kept(ir: str, optimised: bool) -> tuple[str, bytes | None]:
    """The key under which an object is kept ("": it is not), and the object where there is one."""
    shelf = _SHELF.get()
    if cache.folder() is None and shelf is None:
        return "", None
    key = _key(ir, optimised)
    body = shelf.known.get(key) if shelf is not None else None
    body = body or cache.read(key)
    if body is not None and shelf is not None:
        shelf.used[key] = body
    return key, body


def _finished(key: str, body: bytes) -> bytes:
    """A new object, kept if that is wished."""
    if key:
        cache.write(key, body)
        shelf = _SHELF.get()
        if shelf is not None:
            shelf.used[key] = body
    return body


class _Made:
    """An object that is there. `key`: under which it is kept, "" if it is not."""

    def __init__(self, key: str, body: bytes):
        self.key, self._body = key, body

    def body(self) -> bytes:
        return self._body


class _Beside:
    """An object that is made beside other work, and kept when somebody wants it."""

    def __init__(self, key: str, ir: str):
        self.key, self._body = key, b""
        self._parsed: _Parsed | None = _Parsed(ir)
        self._job = beside.Job(self._parsed.object)

    def body(self) -> bytes:
        if not self._body:
            made = self._job.result()
            with _LOCK:
                if self._parsed is not None:
                    self._parsed.close()
                    self._parsed = None
                    self._body = _finished(self.key, made)
        return self._body


def _object(ir: str, optimised: bool) -> _Made | _Beside:
    with _LOCK:
        key, body = _kept(ir, optimised)
        if body is None and (optimised or brings_objects()):  # LLVM's passes take llvmlite's lock; models want all there is
            body = _finished(key, _compile(ir, optimised))
        return _Made(key, body) if body is not None else _Beside(key, ir)


class Code:
    """A function in machine code; its memory is given back when nobody holds this object any more.

    Whoever keeps the address for later calls must keep the object, too. `optimised` runs LLVM's own passes over the IR.
    """

    def __init__(self, name: str, ir: str, optimised: bool = False):
        self.name, self._object = name, _object(ir, optimised)
        self._address = 0

    @classmethod
    def stored(cls, name: str, key: str) -> Code:
        """A function of an object in the disk cache. Raises LookupError where it is not there any more."""
        body = cache.read(key)
        if body is None:
            raise LookupError(f"no compiled object {key}")
        code = cls.__new__(cls)
        code.name, code._object, code._address = name, _Made(key, body), 0
        return code

    @property
    def key(self) -> str:
        """Of the object in the disk cache, "" if it is not kept."""
        return self._object.key

    @property
    def body(self) -> bytes:
        return self._object.body()

    def keep(self) -> list[str]:
        """What `stored` wants to know, when the object is in the disk cache."""
        _ = self.body
        return [self.name, self.key]

    @property  # `cached_property` of Python 3.11 has one lock for all objects, which a fork would leave locked
    def address(self) -> int:
        """Where the function is. Until somebody asks, it is compiled beside other work."""
        return self._address or self._find()

    def _find(self) -> int:
        openmp.runtime()  # its symbols must be there before code that calls them is linked
        body = self.body
        with _LOCK:
            if not self._address:
                engine = _loaded(body)
                _closing(self, engine)
                self._address = engine.get_function_address(self.name)
        if not self._address:
            raise RuntimeError(f"the compiled kernel {self.name} could not be loaded")
        return self._address


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
