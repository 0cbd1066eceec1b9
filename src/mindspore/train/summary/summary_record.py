"""SummaryRecord: writes what a run measures to event files."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import log as logger
from mindspore._base.protobuf import encode_varint
from mindspore.common.tensor import Tensor
from mindspore.formats.events.event_file import EventFile
from mindspore.formats.events.graph_messages import GraphMessage
from mindspore.formats.events.graph_record import graph_message
from mindspore.formats.events.messages import (
    DatasetGraph,
    EvaluationLineage,
    Event,
    LineageEvent,
    LossLandscape,
    TrainLineage,
    UserDefinedInfo,
)
from mindspore.nn.cell import Cell
from mindspore.prims import summary as pending
from mindspore.train._compiled_graph import graph_of
from mindspore.train.summary import values

_PLAIN_NAME = re.compile(r"[\w.\-]*")
_LINEAGE = {
    "train_lineage": ("train_lineage", TrainLineage),
    "eval_lineage": ("evaluation_lineage", EvaluationLineage),
    "dataset_graph": ("dataset_graph", DatasetGraph),
    "custom_lineage_data": ("user_defined_info", UserDefinedInfo),
}
_EXPORT_FORMATS = {"tensor_format": ("npy",)}
_SUMMARY_FIELD = Event.summary.head
_PLUGINS = (*values.MAKERS, *_LINEAGE, "graph")


class SummaryRecord:
    """Records scalars, images, histograms, tensors and graphs for the dashboard.

    Args:
        log_dir: the folder.
        file_prefix, file_suffix: parts of the file names. TensorBoard reads the files, too; it looks for those that
            have "tfevents" in their names: `file_prefix="events.tfevents"`.
        num_process: accepted; writing needs no further processes.
        network: the network whose graph is recorded.
        max_file_size: stop writing when a file would get bigger.
        raise_exception: raise when a file cannot be written, instead of a warning.
        export_options: {"tensor_format": "npy"} also writes tensors as NumPy files.

    Examples:
        >>> import mindspore as ms
        >>> with ms.SummaryRecord("doc_summary") as record:
        ...     record.add_value("scalar", "loss", ms.Tensor(0.5))
        ...     record.record(1)
        True
    """

    count = 0
    _lock = threading.Lock()

    def __init__(
        self,
        log_dir: str,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: Cell | None = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: dict | None = None,
    ):
        _check_arguments(log_dir, file_prefix, file_suffix, max_file_size, raise_exception, network)
        self._export_options = check_export_options(export_options)
        os.makedirs(log_dir, exist_ok=True)
        with SummaryRecord._lock:
            if SummaryRecord.count > 0:
                raise RuntimeError("For 'SummaryRecord', only one can be open at a time; close the other one first.")
            SummaryRecord.count += 1
        self.network = network
        self.raise_exception = raise_exception
        self._mode = "train"
        self._closed = False
        self._has_graph = False
        self._failed = False
        self._data: dict[str, dict[str, Any]] = {}
        now = time.time()
        limit = None if max_file_size is None or max_file_size < 0 else max_file_size
        stem = os.path.join(
            os.path.realpath(log_dir), f"{file_prefix}.out.events.summary.{int(now)}.0.{socket.gethostname()}"
        )
        self._summary = EventFile(stem + file_suffix, now, limit)
        self._lineage = EventFile(stem + "_lineage", now, limit, headed=False)
        self._export_dir = os.path.join(os.path.realpath(log_dir), f"export_{int(now)}")
        pending.take()  # what was measured before does not belong to this record

    def __enter__(self) -> SummaryRecord:
        if self._closed:
            raise ValueError("For 'SummaryRecord', it has been closed already.")
        return self

    def __exit__(self, *err: Any) -> None:
        self.close()

    @property
    def log_dir(self) -> str:
        """The path of the event file."""
        return self._summary.path

    def set_mode(self, mode: str) -> None:
        """ "train" or "eval"; summaries inside networks are recorded in training only."""
        if mode not in ("train", "eval"):
            raise ValueError(f"For 'SummaryRecord.set_mode', 'mode' must be 'train' or 'eval', but got {mode!r}.")
        self._mode = mode

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Note a value; `record` writes it.

        Args:
            plugin: "scalar", "image", "histogram", "tensor", "graph", "train_lineage", "eval_lineage",
                "dataset_graph", "custom_lineage_data" or "landscape".
            name: the tag in the dashboard.
            value: a Tensor; for the others their message.
        """
        if plugin in values.MEASURED:
            if not isinstance(name, str) or not name:
                raise ValueError(f"For 'SummaryRecord', 'name' must be a string that is not empty, but got {name!r}.")
            if not isinstance(value, Tensor):
                raise TypeError(f"For 'SummaryRecord', 'value' must be a Tensor, but got {type(value).__name__}.")
            array = values.check("SummaryRecord", plugin, value.asnumpy())
            self._note(plugin, name, array.item() if plugin == "scalar" else array.copy())
        elif plugin in _LINEAGE:
            if not isinstance(value, _LINEAGE[plugin][1]):
                raise TypeError(f"For 'SummaryRecord', the plugin '{plugin}' needs a {_LINEAGE[plugin][1].__name__}.")
            self._data.setdefault(plugin, {})[name] = value
        elif plugin == "landscape":
            if not isinstance(value, LossLandscape):
                raise TypeError("For 'SummaryRecord', the plugin 'landscape' needs a LossLandscape.")
            self._note(plugin, name, value)
        elif plugin == "graph":
            message = value if isinstance(value, GraphMessage) else graph_message(value)
            self._data.setdefault(plugin, {})[name] = message
        else:
            raise ValueError(f"For 'SummaryRecord.add_value', 'plugin' must be one of {_PLUGINS}, but got {plugin!r}.")

    def _note(self, plugin: str, name: str, value: Any) -> None:
        kept = self._data.setdefault(plugin, {})
        if name in kept:
            logger.warning("For 'SummaryRecord', '%s/%s' was given twice; the newer one is recorded.", name, plugin)
        kept[name] = value

    def record(
        self, step: int, train_network: Cell | None = None, plugin_filter: Callable[[str], bool] | None = None
    ) -> bool:
        """Write what was noted, and what summary operations in the network gave, as the values of a step."""
        if not isinstance(step, int) or isinstance(step, bool):
            raise TypeError(f"For 'SummaryRecord.record', 'step' must be an int, but got {type(step).__name__}.")
        if train_network is not None and not isinstance(train_network, Cell):
            raise TypeError(f"For 'SummaryRecord.record', 'train_network' must be a Cell, not {type(train_network)}.")
        if self._closed:
            logger.error("For 'SummaryRecord', the record is closed.")
            return False
        self._add_graph(train_network)
        for plugin, name, array in pending.take():
            if self._mode == "train":
                self._note(plugin, name, array)
        data, self._data = self._data, {}
        if plugin_filter is not None:
            data = {plugin: items for plugin, items in data.items() if plugin_filter(plugin)}
        try:
            self._write(step, data)
        except OSError as error:
            if self.raise_exception:
                raise
            if not self._failed:
                logger.warning("The summary of step %d, and perhaps of later ones, cannot be written: %s", step, error)
            self._failed = True
        return True

    def _add_graph(self, train_network: Cell | None) -> None:
        if self._has_graph:
            return
        for network in (self.network, train_network):
            graph = graph_of(network) if network is not None else None
            if graph is not None:
                self._data.setdefault("graph", {})["graph"] = graph_message(graph)
                self._has_graph = True
                return

    def _write(self, step: int, data: dict[str, dict[str, Any]]) -> None:
        now = time.time()
        for graph in data.get("graph", {}).values():
            self._summary.write(Event(wall_time=now, step=step, graph_def=graph).encode())
        parts = [values.encoded(plugin, n, v) for plugin in values.MAKERS for n, v in data.get(plugin, {}).items()]
        if b"" in parts:
            logger.warning("For 'SummaryRecord', images need 1 or 3 channels; some of step %d are left out.", step)
        body = b"".join(parts)
        if body:
            head = Event(wall_time=now, step=step).encode()
            self._summary.write(b"".join((head, _SUMMARY_FIELD, encode_varint(len(body)), body)))
        if self._export_options:
            for name, array in data.get("tensor", {}).items():
                self._export(step, name, array)
        for plugin, (label, _) in _LINEAGE.items():
            for message in data.get(plugin, {}).values():
                self._lineage.write(LineageEvent(wall_time=now, **{label: message}).encode())

    def _export(self, step: int, name: str, array: np.ndarray) -> None:
        folder = os.path.join(self._export_dir, "tensor")
        os.makedirs(folder, exist_ok=True)
        plain = re.sub(r"[^\w.\-]", "_", name)
        np.save(os.path.join(folder, f"{plain}_{step}.npy"), array)

    def flush(self) -> None:
        """Bring everything to the disk."""
        if self._closed:
            logger.error("For 'SummaryRecord', the record is closed.")
            return
        self._summary.flush()
        self._lineage.flush()

    def close(self) -> None:
        """Bring everything to the disk and close the files."""
        if self._closed:
            return
        self.flush()
        self._closed = True
        self._summary.close()
        self._lineage.close()
        with SummaryRecord._lock:
            SummaryRecord.count -= 1


def _check_arguments(log_dir: Any, prefix: Any, suffix: Any, limit: Any, raises: Any, network: Any) -> None:
    if not isinstance(log_dir, str) or not log_dir:
        raise TypeError(f"For 'SummaryRecord', 'log_dir' must be a string, but got {log_dir!r}.")
    for label, text in (("file_prefix", prefix), ("file_suffix", suffix)):
        if not isinstance(text, str):
            raise TypeError(f"For 'SummaryRecord', '{label}' must be a string, but got {type(text).__name__}.")
        if not _PLAIN_NAME.fullmatch(text):
            raise ValueError(
                f"For 'SummaryRecord', '{label}' may hold letters, digits, '_', '-' and '.', not {text!r}."
            )
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool)):
        raise TypeError(f"For 'SummaryRecord', 'max_file_size' must be an int, but got {type(limit).__name__}.")
    if not isinstance(raises, bool):
        raise TypeError(f"For 'SummaryRecord', 'raise_exception' must be a bool, but got {type(raises).__name__}.")
    if network is not None and not isinstance(network, Cell):
        raise TypeError(f"For 'SummaryRecord', 'network' must be a Cell, but got {type(network).__name__}.")


def check_export_options(options: Any) -> dict | None:
    """{"tensor_format": "npy"} or None."""
    if options is None:
        return None
    if not isinstance(options, dict):
        raise TypeError(f"For 'SummaryRecord', 'export_options' must be a dict, but got {type(options).__name__}.")
    for name, value in options.items():
        if not isinstance(name, str) or not isinstance(value, (str, type(None))):
            raise TypeError("For 'SummaryRecord', 'export_options' must map strings to strings.")
        if value not in _EXPORT_FORMATS.get(name, ()):
            raise ValueError(
                f"For 'SummaryRecord', 'export_options' can be {_EXPORT_FORMATS}, but got {name}: {value}."
            )
    return options
