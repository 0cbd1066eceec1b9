"""CheckpointConfig and ModelCheckpoint: save the model while it trains."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import log as logger
from mindspore._base.files import atomic_write
from mindspore.common.tensor import Tensor
from mindspore.formats import encryption
from mindspore.formats.events.graph_record import model_file
from mindspore.nn.cell import Cell
from mindspore.train._checkpoint.save import FORMATS, save_checkpoint, wait_async_saves
from mindspore.train._compiled_graph import graph_of
from mindspore.train.callback._callback import Callback
from mindspore.train.callback._monitored import check_bool, check_count

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext

_COUNTERS = ("epoch_num", "step_num")
_BREAKPOINT = "_breakpoint"


class CheckpointConfig:
    """When `ModelCheckpoint` saves, and what it keeps.

    Args:
        save_checkpoint_steps: save every so many steps.
        save_checkpoint_seconds: or every so many seconds, when the steps are 0.
        keep_checkpoint_max: how many files to keep.
        keep_checkpoint_per_n_minutes: or one file for so many minutes, when the number is 0.
        saved_network: what to save; default: the training network with its optimizer.
        append_info: "epoch_num", "step_num" and at most one dict of further values to store.
        exception_save: also save when training ends with an exception.

    The other arguments are those of `save_checkpoint`.

    Examples:
        >>> train.CheckpointConfig(save_checkpoint_steps=100, keep_checkpoint_max=3).keep_checkpoint_max
        3
    """

    def __init__(
        self,
        save_checkpoint_steps: int | None = 1,
        save_checkpoint_seconds: int | None = 0,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_per_n_minutes: int | None = 0,
        integrated_save: bool = True,
        async_save: bool | str = False,
        saved_network: Cell | None = None,
        append_info: list | None = None,
        enc_key: bytes | None = None,
        enc_mode: str = "AES-GCM",
        exception_save: bool = False,
        crc_check: bool = False,
        remove_redundancy: bool = False,
        format: str = "ckpt",
        **kwargs: Any,
    ):
        name = "CheckpointConfig"
        counts = {
            "save_checkpoint_steps": save_checkpoint_steps,
            "save_checkpoint_seconds": save_checkpoint_seconds,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes,
        }
        for label, value in counts.items():
            if value is not None:
                check_count(name, label, value)
        if not any(counts.values()):
            raise ValueError(f"For 'CheckpointConfig', {', '.join(counts)} cannot all be 0 or None.")
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise TypeError(f"For 'CheckpointConfig', 'saved_network' must be a Cell, but got {type(saved_network)}.")
        flags = {
            "integrated_save": integrated_save,
            "exception_save": exception_save,
            "crc_check": crc_check,
            "remove_redundancy": remove_redundancy,
        }
        for label, flag in flags.items():
            check_bool(name, label, flag)
        encryption.check_key(name, "enc_key", enc_key, enc_mode, "enc_mode")
        if format not in FORMATS:
            raise ValueError(f"For 'CheckpointConfig', 'format' must be one of {list(FORMATS)}, but got {format!r}.")
        self._save_checkpoint_steps = save_checkpoint_steps
        self._save_checkpoint_seconds = None if save_checkpoint_steps else save_checkpoint_seconds
        self._keep_checkpoint_per_n_minutes = None if keep_checkpoint_max else keep_checkpoint_per_n_minutes
        keep_one = not keep_checkpoint_max and not keep_checkpoint_per_n_minutes
        self._keep_checkpoint_max = 1 if keep_one else keep_checkpoint_max
        self._integrated_save = integrated_save
        self._async_save = async_save
        self._saved_network = saved_network
        self._append_dict = _append_values(append_info)
        self._enc_key = enc_key
        self._enc_mode = enc_mode
        self._crc_check = crc_check
        self._format = format
        self._map_param_inc = kwargs.get("incremental", False)
        self.exception_save = exception_save
        self.remove_redundancy = remove_redundancy
        self.enable_redundance = kwargs.get("enable_redundance", False)

    save_checkpoint_steps = property(lambda self: self._save_checkpoint_steps, doc="Steps between two saves.")
    save_checkpoint_seconds = property(lambda self: self._save_checkpoint_seconds, doc="Seconds between two saves.")
    keep_checkpoint_max = property(lambda self: self._keep_checkpoint_max, doc="How many files are kept.")
    keep_checkpoint_per_n_minutes = property(lambda self: self._keep_checkpoint_per_n_minutes, doc="Minutes per file.")
    integrated_save = property(lambda self: self._integrated_save, doc="Whether sliced parameters are gathered.")
    async_save = property(lambda self: self._async_save, doc="Whether files are written in the background.")
    saved_network = property(lambda self: self._saved_network, doc="What is saved instead of the training network.")
    append_dict = property(lambda self: self._append_dict, doc="Further values to store.")
    enc_key = property(lambda self: self._enc_key, doc="The key of encrypted files.")
    enc_mode = property(lambda self: self._enc_mode, doc="How files are encrypted.")
    crc_check = property(lambda self: self._crc_check, doc="Whether files get a checksum.")
    format = property(lambda self: self._format, doc='"ckpt" or "safetensors".')
    map_param_inc = property(lambda self: self._map_param_inc, doc="Whether hash tables are saved incrementally.")

    def get_checkpoint_policy(self) -> dict[str, Any]:
        """When to save and what to keep, as a dict."""
        return {
            "save_checkpoint_steps": self.save_checkpoint_steps,
            "save_checkpoint_seconds": self.save_checkpoint_seconds,
            "keep_checkpoint_max": self.keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": self.keep_checkpoint_per_n_minutes,
            "saved_network": self.saved_network,
        }


def _append_values(append_info: Any) -> dict[str, Any] | None:
    if append_info is None or append_info == []:
        return None
    if not isinstance(append_info, list):
        raise TypeError(f"For 'CheckpointConfig', 'append_info' must be a list, but got {type(append_info)}.")
    values: dict[str, Any] = {name: 0 for name in _COUNTERS if name in append_info}
    dicts = [item for item in append_info if isinstance(item, dict)]
    if len(dicts) > 1:
        raise TypeError(f"For 'CheckpointConfig', 'append_info' can hold one dict, but got {len(dicts)}.")
    for item in append_info:
        if not isinstance(item, (str, dict)):
            raise TypeError(f"For 'CheckpointConfig', 'append_info' holds strings and a dict, but got {type(item)}.")
        if isinstance(item, str) and item not in _COUNTERS:
            raise ValueError(f"For 'CheckpointConfig', strings of 'append_info' are {_COUNTERS}, but got {item!r}.")
    for name, value in (dicts[0] if dicts else {}).items():
        storable = isinstance(value, (int, float, bool, str, Tensor)) or hasattr(value, "get_state")
        if not isinstance(name, str) or not storable:
            raise TypeError(f"For 'CheckpointConfig', 'append_info' cannot store {name!r}: {type(value)}.")
        values[name] = value
    return values


class ModelCheckpoint(Callback):
    """Saves checkpoints named `{prefix}-{epoch}_{step in epoch}.ckpt`.

    Args:
        prefix: the start of the names, or a function of the run's parameters that returns the whole name.
        directory: the folder, or a function of the run's parameters.
        config: a `CheckpointConfig`.

    Examples:
        >>> from mindspore.train import CheckpointConfig, ModelCheckpoint
        >>> keep = CheckpointConfig(save_checkpoint_steps=100, keep_checkpoint_max=3)
        >>> callback = ModelCheckpoint(prefix="lenet", directory="doc_ckpt", config=keep)
    """

    def __init__(
        self,
        prefix: str | Callable[[Any], str] = "CKP",
        directory: str | Callable[[Any], str] | None = None,
        config: CheckpointConfig | None = None,
    ):
        super().__init__()
        if not callable(prefix):
            _check_prefix(prefix)
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(f"For 'ModelCheckpoint', 'config' must be a CheckpointConfig, but got {type(config)}.")
        self._config = config or CheckpointConfig()
        self._given_prefix, self._given_directory = prefix, directory
        self._directory = "" if callable(directory) else make_directory(directory)
        self._prefix = "" if callable(prefix) else prefix
        if not callable(prefix) and not callable(directory):
            self._prefix = unused_prefix(self._directory, prefix)
        self._manager = CheckpointManager(self._config.format)
        self._append_dict = dict(self._config.append_dict or {})
        self._counters_before = {name: self._append_dict.get(name, 0) for name in _COUNTERS}
        self._latest_ckpt_file_name = ""
        self._last_time = self._last_time_for_keep = time.time()
        self._last_triggered_step = 0
        self._graph_saved = False
        self._params: Any = None

    @property
    def latest_ckpt_file_name(self) -> str:
        """The file saved last."""
        return self._latest_ckpt_file_name

    @property
    def _get_save_checkpoint_steps(self) -> Any:
        return self._config.save_checkpoint_steps

    @property
    def _get_last_trigger_step(self) -> int:
        return self._last_triggered_step

    def __exit__(self, *err: Any) -> None:
        if err and err[0] is not None and self._config.exception_save and self._params is not None:
            name = f"{self._file_stem(self._params)}{_BREAKPOINT}.{self._config.format}"
            self._write(self._params, os.path.join(self._directory, name))

    def begin(self, run_context: RunContext) -> None:
        self._params = run_context.original_args()

    def step_end(self, run_context: RunContext) -> None:
        params = self._params = run_context.original_args()
        if callable(self._given_prefix):
            self._prefix = _check_prefix(self._given_prefix(params))
        if callable(self._given_directory):
            self._directory = make_directory(self._given_directory(params))
        if not self._graph_saved:
            self._save_graph(params)
        self._save(params, due=self._is_due(params))

    def _save_graph(self, params: Any) -> None:
        """The compiled graph goes to `{prefix}-graph.meta`, once."""
        graph = graph_of(params.train_network)
        if graph is not None:
            with atomic_write(os.path.join(self._directory, f"{self._prefix}-graph.meta")) as stream:
                stream.write(model_file(graph))
        self._graph_saved = True

    def end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        if self._directory:
            self._save(params, due=bool(self._config.save_checkpoint_steps or self._config.save_checkpoint_seconds))
        if self._config.async_save:
            wait_async_saves()
            self._remove_old(self._config.keep_checkpoint_max)

    def _is_due(self, params: Any) -> bool:
        if self._config.save_checkpoint_steps:
            return params.cur_step_num >= self._last_triggered_step + self._config.save_checkpoint_steps
        seconds = self._config.save_checkpoint_seconds
        if seconds and time.time() - self._last_time > seconds:
            self._last_time = time.time()
            return True
        return False

    def _file_stem(self, params: Any) -> str:
        step = (params.cur_step_num - 1) % params.batch_num + 1
        return self._prefix if callable(self._given_prefix) else f"{self._prefix}-{params.cur_epoch_num}_{step}"

    def _save(self, params: Any, due: bool) -> None:
        if not due or params.cur_step_num == self._last_triggered_step:
            return
        self._thin_out()
        self._last_triggered_step = params.cur_step_num
        self._write(params, os.path.join(self._directory, f"{self._file_stem(params)}.{self._config.format}"))
        keep = self._config.keep_checkpoint_max
        self._remove_old(max(keep - 1, 1) if keep and self._config.async_save else keep)

    def _write(self, params: Any, path: str) -> None:
        numbers = {"epoch_num": params.cur_epoch_num, "step_num": params.cur_step_num}
        for name in _COUNTERS:
            if name in self._append_dict:
                self._append_dict[name] = self._counters_before[name] + numbers[name]
        config = self._config
        network = params.train_network if config.saved_network is None else config.saved_network
        save_checkpoint(
            network, path, config.integrated_save, config.async_save, self._append_dict, config.enc_key,
            config.enc_mode, crc_check=config.crc_check, format=config.format,
        )  # fmt: skip
        self._latest_ckpt_file_name = path

    def _remove_old(self, keep: int | None) -> None:
        """Remove the oldest files when there are too many: after the newest is written, for that may fail."""
        self._manager.update_ckpoint_filelist(self._directory, self._prefix)
        while keep and self._manager.ckpoint_num > keep:
            if not self._manager.remove_oldest_ckpoint_file():
                return

    def _thin_out(self) -> None:
        """Where one file is kept for so many minutes, remove the others of these minutes."""
        minutes = self._config.keep_checkpoint_per_n_minutes
        if not self._config.keep_checkpoint_max and minutes and time.time() - self._last_time_for_keep < minutes * 60:
            self._manager.update_ckpoint_filelist(self._directory, self._prefix)
            self._manager.keep_one_ckpoint_per_minutes(minutes, time.time())
        self._last_time_for_keep = time.time()


class CheckpointManager:
    """The checkpoint files of one prefix in a folder."""

    def __init__(self, format: str = "ckpt"):
        self._format = format
        self._ckpoint_filelist: list[str] = []

    @property
    def ckpoint_filelist(self) -> list[str]:
        return self._ckpoint_filelist

    @property
    def ckpoint_num(self) -> int:
        return len(self._ckpoint_filelist)

    def update_ckpoint_filelist(self, directory: str, prefix: str) -> None:
        """Look for the files again."""
        pattern = re.compile(re.escape(prefix) + r"-[^a-zA-Z]*\." + re.escape(self._format))
        self._ckpoint_filelist = [os.path.join(directory, n) for n in os.listdir(directory) if pattern.fullmatch(n)]

    def remove_ckpoint_file(self, file_name: str) -> bool:
        """Remove a file; False, with a warning, when that is not possible."""
        try:
            os.remove(file_name)
        except OSError as error:
            logger.warning("The older checkpoint file %s cannot be removed: %s", file_name, error)
            return False
        if file_name in self._ckpoint_filelist:
            self._ckpoint_filelist.remove(file_name)
        return True

    def remove_oldest_ckpoint_file(self) -> bool:
        """Remove the oldest file."""
        return self.remove_ckpoint_file(min(self._ckpoint_filelist, key=os.path.getmtime))

    def keep_one_ckpoint_per_minutes(self, minutes: int, cur_time: float) -> None:
        """Of the files of the last `minutes`, keep the oldest."""
        ages = {name: os.path.getmtime(name) for name in self._ckpoint_filelist}
        recent = sorted((name for name, made in ages.items() if cur_time - made < 60 * minutes), key=ages.__getitem__)
        for name in recent[1:]:
            self.remove_ckpoint_file(name)


def _check_prefix(prefix: Any) -> str:
    if not isinstance(prefix, str) or "/" in prefix:
        raise ValueError(
            "For 'ModelCheckpoint', 'prefix' must be a string without '/', or a function that returns one, "
            f"but got {prefix!r}."
        )
    return prefix


def make_directory(path: Any) -> str:
    """The folder, created when it is missing; the current one for None."""
    if path is None:
        return os.getcwd()
    if not isinstance(path, str) or not path:
        raise TypeError(f"A directory must be given as a string, but got {path!r}.")
    path = os.path.realpath(path)
    if os.path.isfile(path):
        raise NotADirectoryError(f"{path} is a file; a directory is needed.")
    os.makedirs(path, exist_ok=True)
    return path


def unused_prefix(directory: str, prefix: str) -> str:
    """`prefix`, or `prefix_N` when earlier runs have left files under it."""
    pattern = re.compile(re.escape(prefix) + r"(?:_(\d+))?-.*\.(?:ckpt|safetensors)")
    found = [m for m in map(pattern.fullmatch, os.listdir(directory)) if m and _BREAKPOINT not in m.group(0)]
    return f"{prefix}_{max(int(m.group(1) or 0) for m in found) + 1}" if found else prefix


def _chg_ckpt_file_name_if_same_exist(directory: str, prefix: Any, exception: bool = False) -> Any:
    return prefix if callable(prefix) or callable(directory) else unused_prefix(directory, prefix)
