"""From files and options to sessions."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from mindspore_lite import model_file
from mindspore_lite.affinity import Binding, wanted_cores
from mindspore_lite.container import NeedsValuesError
from mindspore_lite.context import Context
from mindspore_lite.model_file import LiteModel
from mindspore_lite.session import Session

if TYPE_CHECKING:
    from mindspore_lite import source
    from mindspore_lite.weight_pool import WeightPool


def load(path: str, lite: bool, key: bytes | None = None, mode: str = "AES-GCM") -> LiteModel:
    """The model of a `.ms` file (`lite`), or of a `.mindir` file, which is prepared now."""
    if lite:
        return model_file.read(path, key, mode)
    from mindspore_lite import source

    return prepare(source.from_mindir(path, key, mode))


def prepare(origin: source.Source, layout: str = "NCHW", shapes: dict[str, tuple[int, ...]] | None = None) -> LiteModel:
    """A model made from its source; its graph is built if all sizes are known."""
    inputs = tuple(spec._replace(shape=(shapes or {}).get(spec.name, spec.shape)) for spec in origin.inputs())
    program = None
    if not any(size < 0 for spec in inputs for size in spec.shape):
        try:
            program = origin.build({spec.name: spec.shape for spec in inputs}, {})
        except NeedsValuesError:
            program = None  # built for the values of each run
    return LiteModel(inputs, program.outputs if program else (), layout, program, origin, {})


def start(model: LiteModel, context: Context, pool: WeightPool | None = None) -> Session:
    """A session as the context asks for."""
    elsewhere = [name for name in context.target if name.lower() != "cpu"]
    if elsewhere:
        warnings.warn(f"mindspore_lite runs on CPUs; the target {elsewhere[0]!r} is replaced by 'cpu'", stacklevel=4)
    return Session(model, context.cpu.thread_num, pool, _binding(context))


def _binding(context: Context) -> Binding | None:
    cpu = context.cpu
    if not cpu.thread_affinity_mode and not cpu.thread_affinity_core_list:
        return None
    if not hasattr(os, "sched_setaffinity"):
        warnings.warn("threads are not bound to cores: this system has no call for it", stacklevel=5)
        return None
    cores = wanted_cores(cpu.thread_affinity_mode, cpu.thread_affinity_core_list, cpu.thread_num)
    return Binding(cores, cpu.thread_num)
