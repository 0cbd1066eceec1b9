"""`[micro_param]`: a folder of C sources that any C11 compiler builds, and libraries made from it.

    <save_path>/<project>/  include/mindspore_c.h  include/c_api/*.h  src/*.c  benchmark/benchmark.c  CMakeLists.txt
                            lib<project>-<target>.so, where `library` names targets
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from mindspore.compiler.fuse.loopir import Unsupported
from mindspore.formats.program import Program
from mindspore_lite.aot import sources, toolchain
from mindspore_lite.aot.sources import Sources
from mindspore_lite.model_file import LiteModel
from mindspore_lite.training.options import TrainOptions
from mindspore_lite.training.plan import TrainPlan

#: headers that programs written for the official library include
_HEADERS = ("model_c", "tensor_c", "context_c", "types_c", "status_c", "data_type_c", "format_c", "handle_types_c")
_BOARDS = ("x86", "Cortex-M", "ARM32", "ARM64")
_KEYS = ("enable_micro", "target", "support_parallel", "save_path", "project_name", "library", "codegen_mode")


class MicroOptions(NamedTuple):
    """What a configuration asks for."""

    folder: str
    name: str
    libraries: tuple[str, ...] = ()
    train: bool = False
    target: str = "x86"
    parallel: bool = False

    @classmethod
    def from_config(cls, config: dict[str, dict[str, str]], output: str) -> MicroOptions | None:
        """The options, or None if no sources were asked for; `output`: the converter's output file."""
        own = config.get("micro_param", {})
        if own.get("enable_micro", "false").lower() not in ("true", "false"):
            raise ValueError(f"enable_micro must be true or false, but got {own['enable_micro']!r}")
        if own.get("enable_micro", "false").lower() != "true":
            return None
        unknown = [key for key in own if key not in _KEYS]
        if unknown:
            raise ValueError(f"[micro_param] has no setting {unknown[0]!r}; it has {', '.join(_KEYS)}")
        if own.get("target", "x86") not in _BOARDS:
            raise ValueError(f"target must be one of {list(_BOARDS)}, but got {own['target']!r}")
        parallel = own.get("support_parallel", "false").lower()
        if parallel not in ("true", "false"):
            raise ValueError(f"support_parallel must be true or false, but got {own['support_parallel']!r}")
        if parallel == "true" and own.get("target", "x86") == "Cortex-M":
            raise ValueError("support_parallel: a Cortex-M runs one thread; leave it false")
        mode = own.get("codegen_mode", "Inference")
        if mode not in ("Inference", "Train"):
            raise ValueError(f"codegen_mode must be Inference or Train, but got {mode!r}")
        libraries = tuple(word.strip() for word in own.get("library", "").split(",") if word.strip())
        for target in libraries:
            if target not in toolchain.TARGETS:
                raise ValueError(f"library must name targets of {sorted(toolchain.TARGETS)}, but got {target!r}")
        folder, name = os.path.split(output)
        place, project = own.get("save_path") or folder or ".", own.get("project_name") or name
        return cls(place, project, libraries, mode == "Train", own.get("target", "x86"), parallel == "true")


def write_project(made: Sources, options: MicroOptions) -> str:
    """Write the folder, which appears whole or not at all."""
    os.makedirs(options.folder, exist_ok=True)
    place = os.path.join(options.folder, options.name)
    aside = Path(tempfile.mkdtemp(prefix=".micro_", dir=options.folder))
    try:
        _fill(aside, made, options)
        for target in options.libraries:
            suffix = "wasm" if target == "wasm32" else "so"
            toolchain.build_library(made, str(aside / f"lib{options.name}-{target}.{suffix}"), target, options.parallel)
        aside.chmod(0o755)
        if os.path.isdir(place):
            shutil.rmtree(place)
        os.replace(aside, place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return place


def generate(model: LiteModel, name: str) -> Sources:
    """The sources of a model for inference; ValueError says why it has no such form."""
    if model.program is None:
        raise ValueError("generated C needs fixed shapes: give input_shape")
    if model.program.updates:
        raise ValueError("generated C does not store weights that a run changes: export the network in evaluation mode")
    try:
        return sources.generate(model.program, name, model.layout)
    except Unsupported as error:
        raise ValueError(f"the model has {error}") from None


def generate_training(evaluated: Program, plan: TrainPlan, options: TrainOptions, name: str, layout: str) -> Sources:
    """The sources of a model that learns; ValueError says why it has no such form."""
    from mindspore_lite.aot import training

    try:
        return training.generate(evaluated, plan, options, name, layout)
    except Unsupported as error:
        raise ValueError(f"a step of training has {error}") from None


def _fill(place: Path, made: Sources, options: MicroOptions) -> None:
    for folder in ("include/c_api", "src", "benchmark"):
        (place / folder).mkdir(parents=True)
    toolchain.write_folder(made, place / "src", sources.weights_as_c(made.weights))
    (place / "src" / "mindspore_c.h").rename(place / "include" / "mindspore_c.h")
    for header in _HEADERS:
        (place / "include" / "c_api" / f"{header}.h").write_text('#include "../mindspore_c.h"\n', "utf-8")
    (place / "benchmark" / "benchmark.c").write_text(sources.fixed("benchmark.c"), "utf-8")
    script = _CMAKE.replace("@NAME@", options.name).replace("@OPENMP@", _OPENMP if options.parallel else "")
    (place / "CMakeLists.txt").write_text(script, "utf-8")
    if options.target == "Cortex-M":
        (place / "board").mkdir()
        for name in ("startup.c", "board.ld"):
            (place / "board" / name).write_text(sources.fixed(name), "utf-8")
        (place / "board" / "build.sh").write_text(_CORTEX_M, "utf-8")
        (place / "board" / "build.sh").chmod(0o755)


_CORTEX_M = """#!/bin/sh
# Builds benchmark.elf for a Cortex-M4, and says how QEMU runs it. CPU and CC may be set for other boards.
cd "$(dirname "$0")/.." || exit 1
CC=${CC:-arm-none-eabi-gcc}
CPU=${CPU:--mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16}
$CC $CPU -std=gnu11 -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections -Iinclude -Isrc --specs=rdimon.specs \\
  -T board/board.ld board/startup.c src/net.c src/mindspore_c.c src/weights.c benchmark/benchmark.c \\
  -lm -o benchmark.elf || exit 1
echo "qemu-system-arm -M mps2-an386 -nographic -kernel benchmark.elf -semihosting-config \\
  enable=on,target=native,arg=benchmark,arg=1,arg=OUTPUT,arg=INPUT"
"""

_CMAKE = """cmake_minimum_required(VERSION 3.10)
project(@NAME@ C)
set(CMAKE_C_STANDARD 11)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_library(@NAME@ src/net.c src/mindspore_c.c src/weights.c)
target_include_directories(@NAME@ PUBLIC include PRIVATE src)
target_compile_options(@NAME@ PRIVATE -O3 -fno-strict-aliasing -fno-math-errno -fno-trapping-math)
target_link_libraries(@NAME@ m)
@OPENMP@add_executable(benchmark benchmark/benchmark.c)
target_link_libraries(benchmark @NAME@)
"""

_OPENMP = """find_package(OpenMP REQUIRED)
target_link_libraries(${PROJECT_NAME} OpenMP::OpenMP_C)
"""
