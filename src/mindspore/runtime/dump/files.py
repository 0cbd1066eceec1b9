"""The files of a dump: where they lie, what they are called, what is in them.

{path}/rank_{r}/.dump_metadata/{data_dump,config}.json
{path}/rank_{r}/{net}/{graph}/{iteration}/{type}.{name}.{task}.{stream}.{time}.{input|output}.{slot}.{format}.{dtype}.npy
{path}/rank_{r}/{net}/{graph}/{iteration}/statistic.csv
{path}/rank_{r}/{net}/{graph}/constants/Parameter.data-{number}.….npy
{path}/rank_{r}/execution_order/ms_{,global_}execution_order_graph_{graph}.csv
{path}/rank_{r}/graphs/ms_output_trace_code_graph_{graph}.{ir,pb}
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.files import atomic_write
from mindspore.runtime.dump.config import CATEGORIES, DumpConfig
from mindspore.version import __version__

_HEAD = ("Op Type", "Op Name", "Task ID", "Stream ID", "Timestamp", "IO", "Slot", "Data Size", "Data Type", "Shape")
_LONGEST_NAME = 255


class DumpFiles:
    """Writes the files of one process."""

    def __init__(self, config: DumpConfig, source: str, target: str):
        self.config = config
        self.root = os.path.join(config.path, f"rank_{os.environ.get('RANK_ID', '0')}")
        self._last_stamp = 0
        self._write_metadata(source, target)

    def _write_metadata(self, source: str, target: str) -> None:
        folder = os.path.join(self.root, ".dump_metadata")
        os.makedirs(folder, exist_ok=True)
        shutil.copyfile(source, os.path.join(folder, "data_dump.json"))
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as stream:
            json.dump({"device_target": target, "ms_version": __version__}, stream)

    def folder(self, graph: int, iteration: int) -> str:
        """Where the tensors of one run of a graph go."""
        return os.path.join(self.root, self.config.net_name, str(graph), str(iteration))

    def constants_folder(self, graph: int) -> str:
        """Where the tensors go that are part of a graph."""
        return os.path.join(self.root, self.config.net_name, str(graph), "constants")

    def graph(self, number: int, text: str, message: bytes) -> None:
        """The graph beside its tensors: for people, and for debuggers."""
        stem = os.path.join("graphs", f"ms_output_trace_code_graph_{number}")
        self._append(f"{stem}.ir", text)
        with atomic_write(os.path.join(self.root, f"{stem}.pb")) as stream:
            stream.write(message)

    def execution_order(self, graph: int, names: list[str]) -> None:
        lines = ["NodeExecutionOrder-FullNameWithScope", *names]
        self._append(os.path.join("execution_order", f"ms_execution_order_graph_{graph}.csv"), "\n".join(lines) + "\n")

    def ran(self, graph: int, iteration: int) -> None:
        """Note that a graph ran in an iteration."""
        self._append(os.path.join("execution_order", f"ms_global_execution_order_graph_{graph}.csv"), f"{iteration}\n")

    def _append(self, name: str, text: str) -> None:
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(text)

    def tensor(self, folder: str, kind: str, name: str, side: str, slot: int, array: np.ndarray) -> None:
        """Store one tensor: itself, its statistics, or both. `side` is "input" or "output"."""
        os.makedirs(folder, exist_ok=True)
        stamp = self._stamp()
        flat = name.replace("/", "_").replace(".", "_")
        if self.config.tensors:
            stem = f"{kind}.{flat}.0.0.{stamp}.{side}.{slot}.DefaultFormat.{mstype.to_dtype(array.dtype)}"
            self._save(folder, f"{stem}.npy", self._sampled(array))
        if self.config.statistics:
            values = statistics(array, self.config.categories)
            row = [
                kind,
                flat,
                0,
                0,
                stamp,
                side,
                slot,
                array.nbytes,
                array.dtype.name,
                _shape_text(array.shape),
                *values,
            ]
            self._statistic(os.path.join(folder, "statistic.csv"), row)

    def _stamp(self) -> int:
        """Microseconds, never the same twice."""
        self._last_stamp = max(time.time_ns() // 1000, self._last_stamp + 1)
        return self._last_stamp

    def _sampled(self, array: np.ndarray) -> np.ndarray:
        count = self.config.sample
        if not count or array.size <= 2 * count:
            return array
        flat = array.reshape(-1)
        return np.concatenate([flat[:count], flat[-count:]])

    def _save(self, folder: str, name: str, array: np.ndarray) -> None:
        if array.dtype.kind not in "biufc":  # bfloat16 and its kin have no name in .npy files
            array = array.astype(np.float32)
        if len(name) > _LONGEST_NAME:
            short = f"{hashlib.md5(name.encode()).hexdigest()}.npy"
            with open(os.path.join(folder, "mapping.csv"), "a", encoding="utf-8") as stream:
                stream.write(f"{short},{name}\n")
            name = short
        np.save(os.path.join(folder, name), array)

    def _statistic(self, path: str, row: list[Any]) -> None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not os.path.exists(path):
            writer.writerow([*_HEAD, *(CATEGORIES[c] for c in self.config.categories)])
        writer.writerow(row)
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(text.getvalue())


def _shape_text(shape: tuple[int, ...]) -> str:
    return "(" + ",".join(map(str, shape)) + ")"


def statistics(array: np.ndarray, categories: tuple[str, ...]) -> list[Any]:
    """The values of the asked categories, as the table shows them; "null" where an empty tensor has none."""
    exact = np.abs(array) if array.dtype.kind == "c" else array
    values = np.asarray(exact, np.float64).reshape(-1)
    with np.errstate(all="ignore"):
        return [_statistic(name, array, values) for name in categories]


def _statistic(name: str, array: np.ndarray, values: np.ndarray) -> Any:
    if name == "md5":
        return hashlib.md5(np.ascontiguousarray(array).tobytes()).hexdigest()
    if name == "l2norm":
        return f"{float(np.linalg.norm(values)):.6g}"
    if name in _EXTREMES:
        return f"{float(_EXTREMES[name](values)):.6g}" if values.size else "null"
    return int(_COUNTS[name](values))


_EXTREMES: dict[str, Callable[[np.ndarray], Any]] = {"max": np.max, "min": np.min, "avg": np.mean}
_COUNTS: dict[str, Callable[[np.ndarray], Any]] = {
    "count": np.size,
    "negative zero count": lambda v: np.count_nonzero(v < 0),  # its name notwithstanding: numbers below zero
    "positive zero count": lambda v: np.count_nonzero(v > 0),
    "nan count": lambda v: np.count_nonzero(np.isnan(v)),
    "negative inf count": lambda v: np.count_nonzero(np.isneginf(v)),
    "positive inf count": lambda v: np.count_nonzero(np.isposinf(v)),
    "zero count": lambda v: np.count_nonzero(v == 0),
}
