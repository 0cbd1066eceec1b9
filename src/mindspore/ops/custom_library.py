"""Operations compiled ahead of time: a C function of a shared library, or of a source file that is compiled when it is first met.

    int f(int nparam, void **params, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra)

`params` are the inputs and then the outputs, which the function fills; it returns 0. Beside it there may be

    int fInit(int *ndims, int64_t **shapes, const char **dtypes, AotExtra *extra)
    std::vector<int64_t> fInferShape(int *ndims, int64_t **shapes, AotExtra *extra)

the first of which runs once for arrays of one kind, asks for memory to work in (further `params`) and keeps data for `f`; the second says
the result's shape where none was declared. `extra` has the attributes (custom_extra.py). A source's library lies in a folder of the
user's own, under a name made of its contents and the compiler, so that it is compiled once and again when it changes.
"""

from __future__ import annotations

import copy
import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from mindspore.ops.custom_extra import Call, Extra, has_older_strings

_SOURCES = {".c": ("CC", "cc"), ".cc": ("CXX", "c++"), ".cpp": ("CXX", "c++"), ".cxx": ("CXX", "c++")}


def library_function(func: Any, out_shape: Any, target: str) -> LibraryFunction:
    """The function "file:name" on a list of arrays, inputs and then outputs."""
    if not isinstance(func, str):
        raise TypeError(f"For 'Custom', 'func' must be of type str for func_type 'aot', but got {type(func).__name__}.")
    path, _, name = func.rpartition(":")
    if not path and (out_shape is None or target == "CPU"):
        raise TypeError(f"For 'Custom', 'func' should be like 'file_name:func_name', but got {func!r}.")
    if path:
        _check_path(path)
    return LibraryFunction(func, path, name) if target == "CPU" else _OfAnotherDevice(func, target)


def _check_path(path: str) -> None:
    """`MS_CUSTOM_AOT_WHITE_LIST` names the one folder that libraries may come from."""
    allowed = os.environ.get("MS_CUSTOM_AOT_WHITE_LIST")
    if allowed and not Path(path).resolve().is_relative_to(Path(allowed).resolve()):
        raise TypeError(f"For 'Custom', the legal path for the file is {allowed!r} (MS_CUSTOM_AOT_WHITE_LIST), but got {path!r}.")


class LibraryFunction:
    """A function of a library, with those beside it."""

    def __init__(self, func: str, path: str, name: str):
        self.what = f"the custom operation {func!r}"
        file = _compiled(Path(path)) if Path(path).suffix in _SOURCES else Path(path)
        try:
            library = ctypes.CDLL(os.fspath(file))
            self.function = getattr(library, name)
        except (OSError, AttributeError) as error:
            raise ValueError(f"For 'Custom', the function {name!r} of {path!r} cannot be loaded: {error}.") from None
        self.init, self.infer = (getattr(library, name + suffix, None) for suffix in ("Init", "InferShape"))
        self.attributes: dict[str, Any] = {}  # that the function may ask for
        self._older_strings = has_older_strings(file)
        self._begun: tuple[Any, Extra] | None = None  # the latest kind of arrays, and what the function keeps for it

    def with_attributes(self, attributes: dict[str, Any]) -> LibraryFunction:
        made = copy.copy(self)
        made.attributes, made._begun = attributes, None
        return made

    def shape(self, shapes: list[tuple[int, ...]], dtypes: list[str]) -> tuple[int, ...]:
        """The result's shape, where the library says it."""
        if self.infer is None:
            raise TypeError(
                "For 'Custom', func_type 'aot' needs 'out_shape' and 'out_dtype', values or functions of the inputs, or a function "
                "'…InferShape' beside its own."
            )
        extra = Extra(_compiled, self._older_strings, self.attributes)
        return extra.shape(self.what, self.infer, Call(shapes, dtypes))

    def __call__(self, arrays: list[np.ndarray]) -> None:
        arrays[:] = [np.ascontiguousarray(a) for a in arrays]
        shapes, dtypes = [a.shape for a in arrays], [a.dtype.name for a in arrays]
        call = Call(shapes, dtypes)
        if self.init is None and self.infer is None and not self.attributes:
            status = self.function(len(arrays), _addresses(arrays), call.ndims, call.shapes, call.dtypes, None, None)
            if status != 0:
                raise RuntimeError(f"{self.what} failed with status {status}.")
            return
        extra = self._extra((shapes, dtypes), call)
        params = [*arrays, *extra.workspaces()]
        extra.run(self.what, self.function, len(params), _addresses(params), call)

    def _extra(self, kind: Any, call: Call) -> Extra:
        begun = self._begun
        if begun is None or begun[0] != kind:
            extra = Extra(_compiled, self._older_strings, self.attributes)
            if self.init is not None:
                extra.init(self.what, self.init, call)
            begun = self._begun = (kind, extra)
        return begun[1]


class _OfAnotherDevice(LibraryFunction):
    def __init__(self, func: str, target: str):
        self.what, self.infer, self.attributes = f"the custom operation {func!r}", None, {}
        self._func, self._target = func, target

    def __call__(self, arrays: list[np.ndarray]) -> None:
        raise RuntimeError(
            f"The custom operation {self._func!r} is made for {self._target}; register one with target 'CPU' to call it here."
        )


def _addresses(arrays: list[np.ndarray]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))


def _compiled(source: Path, *options: str) -> Path:
    """The shared library of a source file."""
    variable, default = _SOURCES[source.suffix]
    compiler = os.environ.get(variable, default)
    if not source.is_file():
        raise ValueError(f"For 'Custom', there is no source file {str(source)!r}.")
    if shutil.which(compiler) is None:
        raise RuntimeError(f"For 'Custom', {source.name!r} needs the compiler {compiler!r}: install one, set {variable}, or give a '.so'.")
    key = hashlib.sha256(f"{compiler}\0{options}\0{source.resolve().parent}\0".encode() + source.read_bytes()).hexdigest()[:24]
    target = _folder() / f"{source.stem}_{key}.so"
    if not target.exists():
        made = target.with_suffix(f".{os.getpid()}.part")
        command = [compiler, "-O2", "-shared", "-fPIC", *options, f"-I{source.resolve().parent}", "-o", os.fspath(made), os.fspath(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            made.unlink(missing_ok=True)
            raise RuntimeError(f"For 'Custom', {str(source)!r} cannot be compiled:\n{done.stderr.strip()[:2000]}")
        os.replace(made, target)
    return target


def _folder() -> Path:
    """Where compiled sources are kept: code is loaded from there, so it must be nobody else's."""
    folder = Path(tempfile.gettempdir()) / f"mindspore_custom_{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if folder.is_symlink() or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise RuntimeError(f"For 'Custom', compiled sources are kept in {str(folder)!r}, which others may write to. Remove it.")
    return folder
