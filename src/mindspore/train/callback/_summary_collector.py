"""SummaryCollector: records the usual values of a run for the dashboard."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.formats.events.messages import (
    Algorithm,
    DoubleEntry,
    Entry,
    EvaluationLineage,
    HyperParameters,
    IntEntry,
    ModelFile,
    TrainDataset,
    TrainLineage,
    UserDefinedInfo,
    ValidDataset,
)
from mindspore.train._checkpoint.save import save_checkpoint
from mindspore.train.callback._callback import Callback, handle_loss
from mindspore.train.callback._checkpoint import ModelCheckpoint, make_directory
from mindspore.train.callback._monitored import check_bool
from mindspore.train.summary.dataset_record import dataset_message
from mindspore.train.summary.landscape_plan import FOLDER, check_landscape, write_metadata
from mindspore.train.summary.summary_record import SummaryRecord, check_export_options

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext

_DEFAULTS: dict[str, Any] = {
    "collect_metric": True, "collect_graph": True, "collect_train_lineage": True, "collect_eval_lineage": True,
    "collect_input_data": True, "collect_dataset_graph": True, "histogram_regular": None,
    "collect_landscape": None,
}  # fmt: skip
_MOST_HISTOGRAMS = 5


class SummaryCollector(Callback):
    """Collects loss, parameter histograms, input images, the graph and the lineage of a run.

    Args:
        summary_dir: the folder of the event files.
        collect_freq: every so many steps.
        num_process: accepted; writing needs no further processes.
        collect_specified_data: switches "collect_metric", "collect_graph", "collect_train_lineage",
            "collect_eval_lineage", "collect_input_data", "collect_dataset_graph"; "histogram_regular", a regular
            expression for the names of parameters; "collect_landscape", a dict that says at which steps or epochs
            weights are stored for `SummaryLandscape`.
        keep_default_action: what is not named in `collect_specified_data` keeps its default (True) or is off.
        custom_lineage_data: numbers and strings to store with the run.
        collect_tensor_freq: every so many steps for tensors of summary operations.
        max_file_size: stop writing when a file would get bigger.
        export_options: {"tensor_format": "npy"} also writes tensors as NumPy files.

    Examples:
        >>> train.SummaryCollector("summary", collect_freq=5).__class__.__name__
        'SummaryCollector'
    """

    def __init__(
        self,
        summary_dir: str,
        collect_freq: int = 10,
        num_process: int = 32,
        collect_specified_data: dict[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: dict[str, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: dict | None = None,
    ):
        super().__init__()
        check_bool("SummaryCollector", "keep_default_action", keep_default_action)
        _check_positive("collect_freq", collect_freq)
        for label, value in (("collect_tensor_freq", collect_tensor_freq), ("max_file_size", max_file_size)):
            if value is not None:
                _check_positive(label, value)
        self._wanted = _specified(collect_specified_data, keep_default_action)
        self._custom = {**_from_environment(), **_check_custom(custom_lineage_data or {})}
        self._export_options = check_export_options(export_options)
        self._summary_dir = make_directory(summary_dir)
        self._collect_freq = collect_freq
        self._collect_tensor_freq = collect_tensor_freq or collect_freq
        self._max_file_size = max_file_size
        self._record: SummaryRecord | None = None
        self._first = True
        landscape = self._wanted.get("collect_landscape")
        self._landscape = LandscapeFiles(self._summary_dir, landscape) if landscape else None

    def __enter__(self) -> SummaryCollector:
        self._record = SummaryRecord(
            self._summary_dir, max_file_size=self._max_file_size, export_options=self._export_options
        )
        self._first = True
        return self

    def __exit__(self, *err: Any) -> None:
        if self._record is not None:
            self._record.close()
            self._record = None

    def _open_record(self) -> SummaryRecord:
        if self._record is None:
            raise RuntimeError("SummaryCollector is used as a callback of a Model, which opens and closes it.")
        return self._record

    # -- hooks ----------------------------------------------------------------------------------------------------
    def begin(self, run_context: RunContext) -> None:
        self._open_record().set_mode(run_context.original_args().mode)

    def step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        if params.mode != "train":
            return
        if self._first:
            self._collect_once(params)
        if self._first or params.cur_step_num % self._collect_freq == 0:
            self._collect_values(params)
        self._first = False
        if self._landscape is not None:
            self._landscape.step_end(params)

    def epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        if self._landscape is not None and params.mode == "train":
            self._landscape.epoch_end(params)

    def end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        record = self._open_record()
        if params.mode == "train" and self._wanted.get("collect_train_lineage"):
            record.add_value("train_lineage", "train_lineage", _train_lineage(params))
        if params.mode == "eval" and self._wanted.get("collect_eval_lineage"):
            record.add_value("eval_lineage", "eval_lineage", _eval_lineage(params))
        record.record(params.get("cur_step_num", 0))
        if self._landscape is not None and params.mode == "train":
            self._landscape.end(params)

    # -- what is collected ----------------------------------------------------------------------------------------
    def _collect_once(self, params: Any) -> None:
        record = self._open_record()
        if self._wanted.get("collect_dataset_graph"):
            record.add_value("dataset_graph", "dataset_graph", dataset_message(params.train_dataset))
        if self._custom:
            record.add_value("custom_lineage_data", "custom_lineage_data", _custom_message(self._custom))

    def _collect_values(self, params: Any) -> None:
        record = self._open_record()
        if self._wanted.get("collect_metric"):
            loss = handle_loss(params.net_outputs)
            if isinstance(loss, float):
                record.add_value("scalar", "loss/auto", Tensor(np.float32(loss)))
        if "histogram_regular" in self._wanted:
            for parameter in self._chosen_parameters(params):
                record.add_value("histogram", f"{parameter.name}/auto", parameter)
        if self._wanted.get("collect_input_data"):
            self._collect_images(record, params)
        network = params.train_network if self._wanted.get("collect_graph") else None
        record.record(params.cur_step_num, train_network=network)

    def _chosen_parameters(self, params: Any) -> list[Any]:
        pattern = self._wanted["histogram_regular"]
        network = params.get("network") or params.train_network
        found = [p for p in network.trainable_params() if p.ndim and (pattern is None or re.match(pattern, p.name))]
        return found[:_MOST_HISTOGRAMS] if pattern is None else found

    def _collect_images(self, record: SummaryRecord, params: Any) -> None:
        batch = params.get("train_dataset_element") or ()
        first = batch[0] if batch else None
        if isinstance(first, Tensor) and first.ndim == 4 and first.shape[1] in (1, 3):
            record.add_value("image", "input_data/auto", first)


class LandscapeFiles:
    """Stores the weights at the steps or epochs that a loss landscape is to be drawn from."""

    def __init__(self, summary_dir: str, settings: dict[str, Any]):
        self.plan = check_landscape("SummaryCollector", settings)
        self.folder = make_directory(os.path.join(summary_dir, FOLDER))
        self._wanted = {number for interval in self.plan["intervals"] or [] for number in interval}
        self._files: dict[str, str] = {}

    def step_end(self, params: Any) -> None:
        if self.plan["unit"] == "step":
            self._save(params.cur_step_num, params)

    def epoch_end(self, params: Any) -> None:
        if self.plan["unit"] == "epoch":
            self._save(params.cur_epoch_num, params)

    def _save(self, number: int, params: Any) -> None:
        if number in self._wanted:
            path = os.path.join(self.folder, f"{self.plan['unit']}_{number}.ckpt")
            save_checkpoint(params.get("network") or params.train_network, path)
            self._files[str(number)] = path

    def end(self, params: Any) -> None:
        write_metadata(self.folder, self.plan, self._files, params.batch_num)


# ---------------------------------------------------------------------------------------------------------------------
# Lineage


def _train_lineage(params: Any) -> TrainLineage:
    loss = handle_loss(params.get("net_outputs"))
    optimizer = params.get("optimizer")
    rate = getattr(optimizer, "learning_rate", None)
    hyper = HyperParameters(
        optimizer=type(optimizer).__name__ if optimizer is not None else None,
        learning_rate=float(rate.asnumpy()) if isinstance(rate, Tensor) and rate.size == 1 else None,
        loss_function=type(params.loss_fn).__name__ if params.get("loss_fn") is not None else None,
        epoch=params.get("epoch_num"),
        parallel_mode=str(params.get("parallel_mode", "stand_alone")),
        device_num=params.get("device_number", 1),
        batch_size=_batch_size(params),
    )
    data = TrainDataset(train_dataset_size=_batch_size(params) * params.get("batch_num", 0))
    network = type(params.get("network") or params.train_network).__name__
    algorithm = Algorithm(network=network, loss=loss if isinstance(loss, float) else None)
    checkpoint = _last_checkpoint(params)
    model = ModelFile(path=json.dumps({"ckpt": checkpoint}), size=os.path.getsize(checkpoint) if checkpoint else 0)
    return TrainLineage(hyper_parameters=hyper, train_dataset=data, algorithm=algorithm, model=model)


def _batch_size(params: Any) -> int:
    dataset = params.get("train_dataset")
    return int(dataset.get_batch_size()) if hasattr(dataset, "get_batch_size") else 1


def _last_checkpoint(params: Any) -> str | None:
    """The file that the run's ModelCheckpoint wrote last."""
    written = [c.latest_ckpt_file_name for c in params.get("list_callback") or () if isinstance(c, ModelCheckpoint)]
    return next((os.path.realpath(path) for path in written if path and os.path.exists(path)), None)


def _eval_lineage(params: Any) -> EvaluationLineage:
    metrics = {name: np.asarray(value).tolist() for name, value in (params.get("metrics") or {}).items()}
    dataset = params.get("valid_dataset")
    batch = int(dataset.get_batch_size()) if hasattr(dataset, "get_batch_size") else 1
    valid = ValidDataset(valid_dataset_size=batch * params.get("batch_num", 0))
    return EvaluationLineage(metric=json.dumps(metrics), valid_dataset=valid)


def _custom_message(custom: dict[str, Any]) -> UserDefinedInfo:
    info = UserDefinedInfo()
    for name, value in custom.items():
        if isinstance(value, int):
            info.user_info.append(UserDefinedInfo(map_int32=[IntEntry(key=name, value=value)]))
        elif isinstance(value, float):
            info.user_info.append(UserDefinedInfo(map_double=[DoubleEntry(key=name, value=value)]))
        else:
            info.user_info.append(UserDefinedInfo(map_str=[Entry(key=name, value=value)]))
    return info


# ---------------------------------------------------------------------------------------------------------------------
# Arguments


def _check_positive(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"For 'SummaryCollector', '{name}' must be an int, but got {type(value).__name__}.")
    if value <= 0:
        raise ValueError(f"For 'SummaryCollector', '{name}' must be positive, but got {value}.")


def _check_custom(custom: Any) -> dict[str, Any]:
    if not isinstance(custom, dict):
        raise TypeError(
            f"For 'SummaryCollector', 'custom_lineage_data' must be a dict, but got {type(custom).__name__}."
        )
    for name, value in custom.items():
        if not isinstance(name, str) or not isinstance(value, (int, str, float)):
            raise TypeError("For 'SummaryCollector', 'custom_lineage_data' must map strings to numbers and strings.")
    return custom


def _from_environment() -> dict[str, Any]:
    """Hyper-parameters that a search tool hands over in MINDINSIGHT_HYPER_CONFIG."""
    try:
        config = json.loads(os.environ.get("MINDINSIGHT_HYPER_CONFIG", "{}"))
        return _check_custom(config.get("custom_lineage_data") or {})
    except (ValueError, TypeError, AttributeError):
        return {}


def _specified(given: Any, keep_default: bool) -> dict[str, Any]:
    if given is None:
        return dict(_DEFAULTS) if keep_default else {}
    if not isinstance(given, dict):
        raise TypeError(f"For 'SummaryCollector', 'collect_specified_data' must be a dict, not {type(given).__name__}.")
    for name, value in given.items():
        if not isinstance(name, str):
            raise TypeError(
                f"For 'SummaryCollector', the keys of 'collect_specified_data' must be strings, not {name!r}."
            )
        if name not in _DEFAULTS:
            raise ValueError(
                f"For 'SummaryCollector', 'collect_specified_data' knows {sorted(_DEFAULTS)}, not {name!r}."
            )
        if name == "histogram_regular":
            _check_pattern(value)
        elif name == "collect_landscape":
            if value is not None:
                check_landscape("SummaryCollector", value)
        else:
            check_bool("SummaryCollector", name, value)
    return {**_DEFAULTS, **given} if keep_default else dict(given)


def _check_pattern(value: object) -> None:
    if not isinstance(value, (str, type(None))):
        raise TypeError(
            f"For 'SummaryCollector', 'histogram_regular' must be a string, but got {type(value).__name__}."
        )
    try:
        re.compile(value or "")
    except re.error as error:
        raise ValueError(f"For 'SummaryCollector', 'histogram_regular' is no regular expression: {error}.") from None
