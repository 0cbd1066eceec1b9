"""Training: Model, callbacks, metrics, files. Façade: re-exports only."""

from typing import Any

from mindspore.nn.loss_scaling import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from mindspore.train import metrics as _metrics
from mindspore.train.callback import (
    BackupAndRestore,
    Callback,
    CheckpointConfig,
    EarlyStopping,
    ExactResume,
    FlopsUtilizationCollector,
    History,
    LambdaCallback,
    LearningRateScheduler,
    LossMonitor,
    ModelCheckpoint,
    OnRequestExit,
    ReduceLROnPlateau,
    ReplicaCheck,
    RunContext,
    SummaryCollector,
    TimeMonitor,
    TrainFaultTolerance,
)
from mindspore.train.data_sink import data_sink
from mindspore.train.dataset_helper import DatasetHelper, connect_network_with_dataset
from mindspore.train.metrics import *  # noqa: F403 - the list is theirs
from mindspore.train.model import Model
from mindspore.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint
from mindspore.train.summary import SummaryLandscape, SummaryRecord
from mindspore.train.thor import ConvertModelUtils, ConvertNetUtils
from mindspore.train.tuning import auto_tune

__ms_treatment__ = "interpreted"  # by the compiler: see compiler/parse/source.py

__all__ = [
    "BackupAndRestore", "Callback", "CheckpointConfig", "ConvertModelUtils", "ConvertNetUtils", "DatasetHelper", "DynamicLossScaleManager",
    "EarlyStopping", "FixedLossScaleManager", "History", "LambdaCallback", "LearningRateScheduler", "LossMonitor",
    "LossScaleManager", "Model", "ModelCheckpoint", "OnRequestExit", "ReduceLROnPlateau", "RunContext", "TimeMonitor",
    "TrainFaultTolerance", "connect_network_with_dataset", "data_sink", "load_checkpoint", "load_param_into_net",
    "save_checkpoint", "ExactResume", "ReplicaCheck", "FlopsUtilizationCollector", "SummaryCollector",
    "SummaryLandscape", "SummaryRecord", "auto_tune",
]  # fmt: skip
__all__ += _metrics.__all__


def __getattr__(name: str) -> Any:
    """The functions for files are found here too."""
    from mindspore.train import serialization

    if name.startswith("_") or not hasattr(serialization, name):
        raise AttributeError(f"module 'mindspore.train' has no attribute '{name}'")
    return getattr(serialization, name)
