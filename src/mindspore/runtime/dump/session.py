"""The dump that is under way: which iteration it is, which graph runs, and what of it is stored.

An iteration is one run of a compiled graph, or in PyNative mode one call of a Cell from outside any Cell together with
what follows it until the next (the backward pass, say). Each graph and each such Cell has a number of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._base.files import atomic_write
from mindspore.prims.values import TensorBase
from mindspore.runtime import devices
from mindspore.runtime.dump import config as settings
from mindspore.runtime.dump.files import DumpFiles


class Run:
    """One iteration of one graph."""

    def __init__(self, session: Session, graph: int, iteration: int):
        self.config = session.config
        self.files = session.files
        self.folder = session.files.folder(graph, iteration)
        self.graph = graph
        self._overflows = 0

    def operation(self, name: str, inputs: Sequence[Any], outputs: Any, marked: bool = False) -> None:
        """Store what an operation read and gave, if it is wanted. `name` is its full name: "Default/fc-Dense/MatMul-op0"."""
        if not self.config.wants_node(name, marked) or self.config.debug_mode == settings.EXCEPTION:
            return
        results = arrays_of(outputs if isinstance(outputs, (tuple, list)) else (outputs,))
        if self.config.debug_mode == settings.OVERFLOW and not self._overflowed(results):
            return
        if self.config.inputs:
            self._store(name, "input", arrays_of(inputs))
        if self.config.outputs:
            self._store(name, "output", results)

    def failed(self, name: str, inputs: Sequence[Any]) -> None:
        """An operation raised: store what it was given, if such dumps are wanted."""
        if self.config.debug_mode == settings.EXCEPTION:
            self._store(name, "input", arrays_of(inputs))

    def parameter(self, name: str, array: Any) -> None:
        """Store a parameter of the graph, with the value it has when the run is over."""
        if not self.config.debug_mode and self.config.outputs and self.config.wants_node(name):
            for slot, value in arrays_of((array,)):
                self.files.tensor(self.folder, "Parameter", name, "output", slot, value)

    def _overflowed(self, results: list[tuple[int, np.ndarray]]) -> bool:
        limit = self.config.overflow_number
        if limit and self._overflows >= limit:
            return False
        found = any(
            not np.all(np.isfinite(np.asarray(a, np.float64))) for _, a in results if a.dtype.kind not in "biuc"
        )
        self._overflows += found
        return found

    def _store(self, name: str, side: str, arrays: list[tuple[int, np.ndarray]]) -> None:
        kind = name.rpartition("/")[2].rpartition("-op")[0]
        for slot, array in arrays:
            self.files.tensor(self.folder, kind, name, side, slot, array)


class Session:
    """What a configuration file has started."""

    def __init__(self, path: str):
        self.config = settings.read(path)
        self.files = DumpFiles(self.config, path, devices.current().name)
        self.iteration = self.config.initial_iteration
        self._graphs: dict[int, tuple[int, Any]] = {}  # id of the owner -> (number, owner, so that ids stay unique)

    @classmethod
    def everything(cls, path: str) -> Session:
        """A dump of all tensors of the iterations that are begun by hand, below a folder."""
        path = os.path.abspath(path)
        common = {
            "dump_mode": settings.ALL, "path": path, "net_name": "Net", "iteration": "all", "saved_data": "tensor",
            "input_output": 0, "kernels": [], "support_device": [0],
        }  # fmt: skip
        os.makedirs(path, exist_ok=True)
        file = os.path.join(path, "data_dump.json")
        with atomic_write(file, "w") as stream:
            json.dump({"common_dump_settings": common, "e2e_dump_settings": {"enable": True, "trans_flag": True}}, stream)
        return cls(file)

    def number(self, owner: Any) -> tuple[int, bool]:
        """The number of a graph, and whether it is new."""
        found = self._graphs.get(id(owner))
        if found is not None:
            return found[0], False
        self._graphs[id(owner)] = (len(self._graphs), owner)
        return len(self._graphs) - 1, True

    def constants(self, graph: int, arrays: Sequence[np.ndarray]) -> None:
        """Store the tensors that are part of a graph, if everything is dumped."""
        if self.config.mode == settings.ALL and not self.config.debug_mode and self.config.outputs:
            folder = self.files.constants_folder(graph)
            for number, array in enumerate(arrays):
                self.files.tensor(folder, "Parameter", f"data-{number}", "output", 0, array)

    def launch(self, graph: int) -> Run | None:
        """Begin the next iteration; None when it is not to be dumped."""
        iteration = self.iteration
        self.iteration += 1
        if not self.config.wants_iteration(iteration):
            return None
        return self.begin(graph, iteration)

    def begin(self, graph: int, iteration: int) -> Run:
        """Begin an iteration that is to be dumped."""
        self.files.ran(graph, iteration)
        return Run(self, graph, iteration)


class _Sessions:
    made: dict[tuple[str, int], Session | None] = {}


def wanted() -> bool:
    """Whether a dump is asked for."""
    return bool(os.environ.get(settings.VARIABLE))


def current() -> Session | None:
    """The session of the file that the variable names now, or None. A changed file starts a new session."""
    path = os.environ.get(settings.VARIABLE, "")
    if not path:
        return None
    try:
        key = (path, os.stat(path).st_mtime_ns)
    except OSError:
        key = (path, 0)
    if key not in _Sessions.made:
        session = Session(path)
        device = devices.current()
        here = device.name == "CPU" or getattr(device.device, "id", 0) in session.config.devices
        _Sessions.made[key] = session if here else None
    return _Sessions.made[key]


def arrays_of(values: Sequence[Any]) -> list[tuple[int, np.ndarray]]:
    """Those of a sequence that have a value as numbers, with their places."""
    found = ((slot, v._data if isinstance(v, TensorBase) else v) for slot, v in enumerate(values))
    return [(slot, np.asarray(value)) for slot, value in found if _is_numeric(value)]


def _is_numeric(value: object) -> bool:
    if isinstance(value, (tuple, list)):
        return bool(value) and all(isinstance(v, (bool, int, float)) for v in value)
    return isinstance(value, (bool, int, float, complex, np.generic)) or hasattr(value, "__array__")
