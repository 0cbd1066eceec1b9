"""Operations compiled ahead of time: a C function of a shared library, or of a source file that is compiled when it is first met.

    int f(int nparam, void **params, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra)

`params` are the inputs and then the outputs, which the function fills; it returns 0. A source's library lies in a folder of the user's
own, under a name made of its contents and the compiler, so that it is compiled once and again when it changes.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_SOURCES = {".c": ("CC", "cc"), ".cc": ("CXX", "c++"), ".cpp": ("CXX", "c++"), ".cxx": ("CXX", "c++")}


def library_function(func: Any, out_shape: Any, target: str) -> Callable:
    """The function "file:name" on a list of arrays, inputs and then outputs."""
    if not isinstance(func, str):
        raise TypeError(f"For 'Custom', 'func' must be of type str for func_type 'aot', but got {type(func).__name__}.")
    path, _, name = func.rpartition(":")
    if not path and (out_shape is None or target == "CPU"):
        raise TypeError(f"For 'Custom', 'func' should be like 'file_name:func_name', but got {func!r}.")
    if path:
        _check_path(path)
    if target != "CPU":
        return _for_another_device(func, target)
    return _loaded(func, path, name)


def _check_path(path: str) -> None:
    """`MS_CUSTOM_AOT_WHITE_LIST` names the one folder that libraries may come from."""
    allowed = os.environ.get("MS_CUSTOM_AOT_WHITE_LIST")
    if allowed and not Path(path).resolve().is_relative_to(Path(allowed).resolve()):
        raise TypeError(f"For 'Custom', the legal path for the file is {allowed!r} (MS_CUSTOM_AOT_WHITE_LIST), but got {path!r}.")


def _for_another_device(func: str, target: str) -> Callable:
    def run(arrays: list[np.ndarray]) -> None:
        raise RuntimeError(f"The custom operation {func!r} is made for {target}; register one with target 'CPU' to call it here.")

    return run


def _loaded(func: str, path: str, name: str) -> Callable:
    library = _compiled(Path(path)) if Path(path).suffix in _SOURCES else path
    try:
        function = getattr(ctypes.CDLL(os.fspath(library)), name)
    except (OSError, AttributeError) as error:
        raise ValueError(f"For 'Custom', the function {name!r} of {path!r} cannot be loaded: {error}.") from None
    function.restype = ctypes.c_int

    def run(arrays: list[np.ndarray]) -> None:
        arrays[:] = [np.ascontiguousarray(a) for a in arrays]
        n = len(arrays)
        shapes = [np.asarray(a.shape, np.int64) for a in arrays]
        status = function(
            n, (ctypes.c_void_p * n)(*(a.ctypes.data for a in arrays)), (ctypes.c_int * n)(*(a.ndim for a in arrays)),
            (ctypes.c_void_p * n)(*(s.ctypes.data for s in shapes)),
            (ctypes.c_char_p * n)(*(a.dtype.name.encode() for a in arrays)), None, None,
        )  # fmt: skip
        if status != 0:
            raise RuntimeError(f"the custom operation {func!r} failed with status {status}.")

    return run


def _compiled(source: Path) -> Path:
    """The shared library of a source file."""
    variable, default = _SOURCES[source.suffix]
    compiler = os.environ.get(variable, default)
    if not source.is_file():
        raise ValueError(f"For 'Custom', there is no source file {str(source)!r}.")
    if shutil.which(compiler) is None:
        raise RuntimeError(f"For 'Custom', {source.name!r} needs the compiler {compiler!r}: install one, set {variable}, or give a '.so'.")
    key = hashlib.sha256(f"{compiler}\0{source.resolve().parent}\0".encode() + source.read_bytes()).hexdigest()[:24]
    target = _folder() / f"{source.stem}_{key}.so"
    if not target.exists():
        made = target.with_suffix(f".{os.getpid()}.part")
        command = [compiler, "-O2", "-shared", "-fPIC", f"-I{source.resolve().parent}", "-o", os.fspath(made), os.fspath(source)]
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
