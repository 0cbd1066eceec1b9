"""Callbacks: what happens around steps and epochs. Façade: re-exports only."""

from mindspore.train.callback._backup_and_restore import BackupAndRestore, TrainFaultTolerance
from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._callback import CallbackManager as _CallbackManager
from mindspore.train.callback._callback import InternalCallbackParam as _InternalCallbackParam
from mindspore.train.callback._checkpoint import CheckpointConfig, ModelCheckpoint
from mindspore.train.callback._checkpoint import CheckpointManager as _CheckpointManager
from mindspore.train.callback._early_stop import EarlyStopping
from mindspore.train.callback._flops_collector import FlopsUtilizationCollector
from mindspore.train.callback._history import History
from mindspore.train.callback._lambda_callback import LambdaCallback
from mindspore.train.callback._learning_rate import LearningRateScheduler, ReduceLROnPlateau
from mindspore.train.callback._loss_monitor import LossMonitor
from mindspore.train.callback._on_request_exit import OnRequestExit
from mindspore.train.callback._replica_check import ReplicaCheck
from mindspore.train.callback._resume import ExactResume
from mindspore.train.callback._summary_collector import SummaryCollector
from mindspore.train.callback._time_monitor import TimeMonitor

__all__ = [
    "BackupAndRestore",
    "Callback",
    "CheckpointConfig",
    "EarlyStopping",
    "ExactResume",
    "ReplicaCheck",
    "FlopsUtilizationCollector",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "LossMonitor",
    "ModelCheckpoint",
    "OnRequestExit",
    "ReduceLROnPlateau",
    "RunContext",
    "SummaryCollector",
    "TimeMonitor",
    "TrainFaultTolerance",
    "_CallbackManager",
    "_CheckpointManager",
    "_InternalCallbackParam",
]
