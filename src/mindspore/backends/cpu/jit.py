"""Machine code: compiling kernels for this CPU and loading them.

Compiled objects hold no addresses of this process, so they can be used again by others (`cache`): a kernel's key is the
hash of its IR text, the CPU and the versions.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import threading
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


def _key(ir: str) -> str:
    import llvmlite

    digest = hashlib.sha256()
    for part in (ir, *host(), llvmlite.__version__, "1"):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def _compile(ir: str) -> bytes:
    llvm = _llvm()
    module = llvm.parse_assembly(ir)
    return _machine().emit_object(module)


def object_code(ir: str) -> bytes:
    """The compiled object of a module, from the disk cache when it has it."""
    with _LOCK:
        if cache.folder() is None:
            return _compile(ir)
        key = _key(ir)
        body = cache.read(key)
        if body is None:
            body = _compile(ir)
            cache.write(key, body)
        return body


class _Loader:
    """One engine that holds every loaded object of the process."""

    def __init__(self) -> None:
        llvm = _llvm()
        empty = llvm.parse_assembly("")
        self.engine = llvm.create_mcjit_compiler(empty, _machine())
        self.addresses: dict[str, int] = {}

    def load(self, name: str, ir: str) -> int:
        address = self.addresses.get(name)
        if address is None:
            llvm = _llvm()
            self.engine.add_object_file(llvm.ObjectFileRef.from_data(object_code(ir)))
            self.engine.finalize_object()
            address = self.engine.get_function_address(name)
            if not address:
                raise RuntimeError(f"the compiled kernel {name} could not be loaded")
            self.addresses[name] = address
        return address


@functools.cache
def _loader() -> _Loader:
    openmp.runtime()  # its symbols must be there before code that calls them is linked
    return _Loader()


def load(name: str, ir: str) -> int:
    """The address of function `name` of a module. Names are unique per content (the caller puts a hash in them)."""
    with _LOCK:
        return _loader().load(name, ir)


def callable_at(address: int) -> Any:
    """A kernel as a Python function of the address of its argument block."""
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)
