"""Compilers: LLVM's, as the `ziglang` package brings it for every target, or the system's for this machine.

A library has no dependency but libc and libm (and OpenMP's, if threads are asked for, which Zig does not bring), and with `freestanding`
targets (WebAssembly) not even these.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from mindspore_lite.aot import sources
from mindspore_lite.aot.sources import Sources


class Target(NamedTuple):
    """What a compiler is told: `triple` as Zig spells it, flags for the instruction set."""

    triple: str
    flags: tuple[str, ...] = ()


TARGETS = {
    "native": Target("native", ("-march=native",)),
    "x86-64": Target("x86_64-linux-gnu.2.17", ("-march=x86_64_v3",)),
    "x86-64-v4": Target("x86_64-linux-gnu.2.17", ("-march=x86_64_v4",)),
    "x86-64-baseline": Target("x86_64-linux-gnu.2.17"),
    "aarch64": Target("aarch64-linux-gnu.2.17"),
    "wasm32": Target("wasm32-wasi"),
}

_COMMON = ("-std=gnu11", "-O2", "-ftree-vectorize", "-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast",
           "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-ffunction-sections", "-Wall")  # fmt: skip


class ToolchainError(RuntimeError):
    """There is no compiler for a target, or it failed."""


def compiler(target: str, parallel: bool = False) -> list[str]:
    """The command of a C compiler for a target; `parallel`: one that has OpenMP."""
    if target not in TARGETS:
        raise ValueError(f"target must be one of {sorted(TARGETS)}, but got {target!r}")
    own = os.environ.get("CC")
    if target == "native" and (own or parallel or find_spec("ziglang") is None):
        for name in filter(None, (own, "cc", "gcc", "clang")):
            if shutil.which(name.split()[0]):
                return name.split()
    if parallel:
        raise ToolchainError(f"there is no C compiler with OpenMP for {target}: build the sources with CMake on the device")
    if find_spec("ziglang") is not None:
        chosen = [] if target == "native" else ["-target", TARGETS[target].triple]
        return [sys.executable, "-m", "ziglang", "cc", *chosen]
    if target in ("x86-64", "x86-64-v4", "x86-64-baseline") and platform.machine() == "x86_64" and shutil.which("cc"):
        return ["cc"]
    raise ToolchainError(f"there is no C compiler for {target}: install 'ziglang' (pip install pymindspore[aot])")


def _flags(command: list[str], target: str) -> list[str]:
    flags = list(TARGETS[target].flags)
    if "ziglang" not in command:
        flags = [flag.replace("x86_64_v", "x86-64-v") for flag in flags]
    return flags


def write_folder(made: Sources, folder: str | Path, weights: str) -> None:
    """All files of a model, side by side."""
    place = Path(folder)
    for name in sources.FIXED:
        (place / name).write_text(sources.fixed(name), "utf-8")
    (place / "net.c").write_text(made.net, "utf-8")
    (place / "net_sizes.h").write_text(made.sizes, "utf-8")
    (place / "weights.c").write_text(weights, "utf-8")


def build_library(made: Sources, path: str, target: str = "native", parallel: bool = False) -> None:
    """Compile sources to a shared library, or to a WebAssembly module; the file appears whole or not at all."""
    command = compiler(target, parallel)
    with tempfile.TemporaryDirectory(prefix="ms_aot_") as folder:
        if target == "wasm32":
            weights = sources.weights_as_c(made.weights)
            link = ["-mexec-model=reactor", "-Wl,--export-dynamic", "-msimd128", "-Wl,-s"]
        else:
            (Path(folder) / "weights.bin").write_bytes(made.weights or b"\0")
            weights = sources.weights_included(f"{folder}/weights.bin")
            link = ["-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-s", "-Wl,--gc-sections", "-lm"]
            if "ziglang" not in command:
                link += ["-Wl,-z,noseparate-code", "-Wl,--build-id=none"]
            if parallel:
                link += ["-fopenmp"]
        write_folder(made, folder, weights)
        files = [f"{folder}/{name}" for name in ("net.c", "mindspore_c.c", "weights.c")]
        part = f"{folder}/made"
        run([*command, *_COMMON, *_flags(command, target), *files, *link, "-o", part])
        aside = f"{path}.part{os.getpid()}"
        try:
            shutil.copyfile(part, aside)
            os.chmod(aside, 0o755)
            os.replace(aside, path)
        finally:
            if os.path.exists(aside):
                os.unlink(aside)


def run(command: list[str]) -> None:
    """Run a compiler; its first errors are the exception's text."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line][:5] or done.stderr.splitlines()[-5:]
        raise ToolchainError("the C compiler failed: " + "; ".join(errors))
