"""Building a Python extension module from C++ sources with the compiler of this machine."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["CustomOpBuilder"]


def _texts(name: str, value: Any) -> list[str]:
    if value is None:
        return []
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, (list, tuple)) or not all(isinstance(v, str) for v in given):
        raise TypeError(f"For 'CustomOpBuilder', '{name}' must be a string or a list of strings, but got {value!r}.")
    return list(given)


class CustomOpBuilder:
    """Compiles C++ sources and imports the result as a module.

    The sources are those of an ordinary extension module called `name` (with `Python.h` or pybind11). The headers of official
    MindSpore's C++ interface do not exist here, so sources that include them do not compile.

    Args:
        name: the name of the module.
        sources: files, or one file.
        backend: "CPU" or None: sources for other devices are refused.
        include_paths: further folders with headers.
        cflags: further options of the compiler, as in a shell.
        ldflags: further options of the linker, as in a shell.
        build_dir: where to build; a folder of its own under the folder for temporary files by default.

    Examples:
        >>> from mindspore import ops
        >>> builder = ops.CustomOpBuilder("my_module", "my_module.cpp", cflags="-O3")
        >>> builder.get_sources()
        ['my_module.cpp']
    """

    def __init__(
        self, name: str, sources: Any, backend: str | None = None, include_paths: Any = None, cflags: str | None = None,
        ldflags: str | None = None, **kwargs: Any,
    ):  # fmt: skip
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"For 'CustomOpBuilder', 'name' must be the name of a module, but got {name!r}.")
        if backend not in (None, "CPU"):
            raise ValueError(f"For 'CustomOpBuilder', 'backend' must be 'CPU' or None, but got {backend!r}.")
        self.name, self.backend, self.kwargs = name, backend, kwargs
        self.sources = _texts("sources", sources)
        self.include_paths = _texts("include_paths", include_paths)
        self.cflags, self.ldflags = "".join(_texts("cflags", cflags)), "".join(_texts("ldflags", ldflags))
        if not self.sources:
            raise ValueError("For 'CustomOpBuilder', 'sources' must name at least one file.")

    def get_sources(self) -> list[str]:
        """The source files."""
        return self.sources

    def get_include_paths(self) -> list[str]:
        """Folders with headers: those given, Python's, and pybind11's if it is installed."""
        found = importlib.util.find_spec("pybind11")
        extra = [str(Path(place) / "include") for place in (found.submodule_search_locations or ())] if found else []
        return [*self.include_paths, sysconfig.get_path("include"), *extra]

    def get_cflags(self) -> list[str]:
        """Options of the compiler."""
        return ["-std=c++17", "-fPIC", "-fvisibility=hidden", *shlex.split(self.cflags)]

    def get_ldflags(self) -> list[str]:
        """Options of the linker."""
        return ["-shared", *shlex.split(self.ldflags)]

    def build(self) -> str:
        """Compile, unless the same sources were compiled with the same options; the path of the module."""
        compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
        if compiler is None:
            raise RuntimeError("For 'CustomOpBuilder', a C++ compiler is needed: install one, or name it in CXX.")
        for source in self.sources:
            if not os.path.isfile(source):
                raise ValueError(f"For 'CustomOpBuilder', there is no file {source!r}.")
        includes = [f"-I{path}" for path in self.get_include_paths()]
        command = [compiler, *self.get_cflags(), *includes, *self.sources, *self.get_ldflags()]
        target = self._folder(command) / f"{self.name}{importlib.machinery.EXTENSION_SUFFIXES[0]}"
        if not target.exists():
            unfinished = target.with_suffix(f".{os.getpid()}")
            done = subprocess.run([*command, "-o", str(unfinished)], capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"For 'CustomOpBuilder', {self.name} could not be compiled:\n{done.stderr[-4000:]}")
            os.replace(unfinished, target)
        return str(target)

    def _folder(self, command: list[str]) -> Path:
        """A folder that depends on the sources and the options."""
        digest = hashlib.sha256(repr(command).encode())
        for source in self.sources:
            digest.update(Path(source).read_bytes())
        base = Path(
            self.kwargs.get("build_dir") or os.path.join(tempfile.gettempdir(), f"mindspore_custom_{os.getuid()}")
        )
        base.mkdir(parents=True, exist_ok=True, mode=0o700)
        if base.stat().st_uid != os.getuid():  # what is imported must not be another user's
            raise RuntimeError(f"For 'CustomOpBuilder', {base} belongs to another user: give a 'build_dir'.")
        folder = base / f"{self.name}_{digest.hexdigest()[:16]}"
        folder.mkdir(exist_ok=True, mode=0o700)
        return folder

    def load(self) -> ModuleType:
        """The module, built if need be."""
        path = self.build()
        loader = importlib.machinery.ExtensionFileLoader(self.name, path)
        spec = importlib.util.spec_from_file_location(self.name, path, loader=loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module
