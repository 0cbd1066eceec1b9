"""FederatedLearningManager: a callback of `Model.train` that synchronises a network with the servers of a job.

CLOUD_TRAINING    before the first local step it takes a place in the round, after `sync_frequency` steps it uploads the
                  weights and waits for the average; with STABLE_PW_ENCRYPT it uploads under pairwise masks
HYBRID_TRAINING   it pulls the sum of the devices' round, trains `sync_frequency` steps on it and pushes the result

FedProx and FedNova add the global weights to the network as frozen parameters `global_weights.*`; Scaffold (Karimireddy
et al., ICML 2020) corrects each step by its control variates. FedCM (Xu et al., 2021) mixes the direction in which the
global model moved last into each step: the step is (1 - m) of the optimizer's own and m (`aggregation.client_momentum`)
of the learning rate times that direction.
"""
from __future__ import annotations

import uuid
from typing import Any

import numpy as np

import mindspore
from mindspore import Parameter, ParameterTuple, Tensor, nn
from mindspore.train import Callback
from mindspore_federated import log
from mindspore_federated.client.connection import Connection, FederatedError, features
from mindspore_federated.client.masked import StableUpload
from mindspore_federated.common.check_type import check_str
from mindspore_federated.common.settings import load_settings
from mindspore_federated.common.tls import client_context, files_from_settings
from mindspore_federated.server.features import Arrays
from mindspore_federated.startup.ssl_config import SSLConfig, check_ssl_config
from mindspore_federated.trainer.sync import AdaptiveFrequency
from mindspore_federated.trainer.worker import Worker, current_worker

_CLOUD_AGGREGATIONS = ("FedAvg", "FedProx", "Scaffold", "FedNova", "FedCM")
_CLOUD_ENCRYPTIONS = ("NOT_ENCRYPT", "STABLE_PW_ENCRYPT")
_GLOBAL = "global_weights"
_CONTROL = "control."


class FederatedLearningManager(Callback):
    """Synchronises `model` every `sync_frequency` steps (with `dataset_sink_mode`, every so many sinks)."""

    def __init__(self, yaml_config: str, model: nn.Cell, sync_frequency: int, http_server_address: str = "",
                 data_size: int = 1, sync_type: str = "fixed", run_distribute: bool = False,
                 ssl_config: SSLConfig | None = None, **kwargs: Any) -> None:
        super().__init__()
        self._settings = load_settings(check_str("yaml_config", yaml_config))
        _check_arguments(model, sync_frequency, sync_type, run_distribute)
        tls = files_from_settings(self._settings, check_ssl_config(ssl_config))
        self._model = model
        self._mode = self._settings.word("server_mode")
        self._kind = self._settings.word("aggregation.aggregation_type")
        self._wait = 2 * self._settings.whole("round.global_iteration_time_window") / 1000
        self._frequency = sync_frequency
        self._adaptive = AdaptiveFrequency(sync_frequency, **kwargs) if sync_type == "adaptive" else None
        self._step = 0
        self._next_begin, self._next_end = 1, sync_frequency
        self._data_size = data_size
        self._fl_id = uuid.uuid4().hex
        self._iteration = 0
        self._masked: tuple[StableUpload, Arrays] | None = None              # the upload of the round, and what it starts from
        self._names = [item.name for item in model.trainable_params() if item.dtype == mindspore.float32]
        self._worker = None
        if self._mode == "HYBRID_TRAINING":
            self._worker = Worker(self._settings, tls)
            current_worker.set(self._worker)
        elif self._mode == "CLOUD_TRAINING":
            self._check_cloud(http_server_address)
            self._connection = Connection(http_server_address, tls=client_context(tls) if tls else None,
                                          prefix=self._settings.word("client.http_url_prefix"))
        self._last = self._weights()
        self._local_control = {name: np.zeros_like(value) for name, value in self._last.items()}
        self._global_control = {name: np.zeros_like(value) for name, value in self._last.items()}
        self._momentum = np.float32(self._settings.number("aggregation.client_momentum"))
        self._direction = {name: np.zeros_like(value) for name, value in self._last.items()}
        self._before_step: Arrays = {}
        if self._kind in ("FedProx", "FedNova"):
            self._insert_global_weights()

    def __del__(self) -> None:
        worker = getattr(self, "_worker", None)
        if worker is not None:
            worker.stop()

    # ---- the callback

    def on_train_step_begin(self, run_context: Any) -> None:
        """Take a place in the round where one begins."""
        self._step += 1
        if self._mode == "CLOUD_TRAINING" and self._step == self._next_begin:
            self._start_job()
        if self._mode == "CLOUD_TRAINING" and self._kind == "FedCM":
            self._before_step = self._weights()

    def on_train_step_end(self, run_context: Any) -> None:
        """Exchange weights where a round ends."""
        if self._mode == "HYBRID_TRAINING":
            self._pull()
            self._push()
        elif self._mode == "CLOUD_TRAINING":
            rate = _learning_rate(run_context.original_args()) if self._kind in ("Scaffold", "FedCM") else 0.0
            if self._kind == "Scaffold":
                self._correct(rate)
            elif self._kind == "FedCM":
                self._mix(rate)
            if self._step == self._next_end:
                self._exchange(rate)
                self._next_begin, self._next_end = self._step + 1, self._step + self._frequency

    # ---- cloud training

    def _start_job(self) -> None:
        size = self._frequency if self._kind == "FedNova" else self._data_size
        answer = self._connection.start_job(self._settings.word("fl_name"), self._fl_id, size, wait=self._wait)
        self._iteration = answer["iteration"]
        if self._settings.masked:
            self._masked = StableUpload(self._connection, self._settings.word("fl_name"), self._fl_id, self._iteration,
                                        answer["fl_plan_config"]["cipher"]["pw_params"], self._wait), features(answer)
        if self._kind == "Scaffold":
            for name, value in features(answer).items():
                if name.startswith(_CONTROL) and name[len(_CONTROL):] in self._global_control:
                    plain = name[len(_CONTROL):]
                    self._global_control[plain] = value.reshape(self._last[plain].shape).copy()

    def _exchange(self, rate: float) -> None:
        weights = self._weights()
        upload, control = self._upload(weights, rate)
        fl_name = self._settings.word("fl_name")
        try:
            if self._masked is not None:
                self._masked[0].run(self._masked[1], weights, self._data_size)
            else:
                self._connection.update_model(fl_name, self._fl_id, self._iteration, upload, wait=self._wait)
        except FederatedError as error:
            log.warning("iteration %d goes on without this client's update: %s", self._iteration, error)
        model = self._connection.get_model(fl_name, self._iteration, wait=self._wait)
        self._load(model)
        self._local_control.update(control)
        after = self._weights()
        if self._kind == "FedCM":
            self._direction = {name: (self._last[name] - value) / np.float32(self._frequency * rate)
                               for name, value in after.items()}
        if self._adaptive is not None:
            self._frequency = self._adaptive.after_round(self._last, weights, after)
        self._last = after

    def _upload(self, weights: Arrays, rate: float) -> tuple[Arrays, Arrays]:
        size = np.float32(self._frequency if self._kind == "FedNova" else self._data_size)
        if self._kind == "FedNova":
            return {name: (value - self._last[name]) * size for name, value in weights.items()}, {}
        upload = {name: value * size for name, value in weights.items()}
        if self._kind != "Scaffold":
            return upload, {}
        control = {name: self._local_control[name] - self._global_control[name]
                   + (self._last[name] - value) / np.float32(self._frequency * rate)
                   for name, value in weights.items()}
        for name, value in control.items():
            upload[_CONTROL + name] = (value - self._local_control[name]) * size
        return upload, control

    def _correct(self, rate: float) -> None:
        """Scaffold: one step was taken with the plain gradient; add the control variates' part."""
        for parameter in self._parameters():
            drift = self._global_control[parameter.name] - self._local_control[parameter.name]
            parameter.set_data(Tensor(parameter.asnumpy() - np.float32(rate) * drift))

    def _mix(self, rate: float) -> None:
        """FedCM: keep a part of the step that was taken, the rest goes where the global model went."""
        for parameter in self._parameters():
            before = self._before_step[parameter.name]
            own = (1 - self._momentum) * (parameter.asnumpy() - before)
            common = self._momentum * np.float32(rate) * self._direction[parameter.name]
            parameter.set_data(Tensor(before + own - common))

    # ---- hybrid training

    def _pull(self) -> None:
        if self._worker is not None and (self._step - 1) % self._frequency == 0:
            self._iteration = self._worker.iteration()
            self._load(self._worker.connection.pull_weight(self._iteration, self._names, wait=self._worker.wait))

    def _push(self) -> None:
        if self._worker is not None and self._step % self._frequency == 0:
            self._worker.connection.push_weight(self._iteration, self._weights(), wait=self._worker.wait)

    # ---- the network

    def _parameters(self) -> list[Parameter]:
        wanted = set(self._names)
        return [item for item in self._model.trainable_params() if item.name in wanted]

    def _weights(self) -> Arrays:
        return {item.name: item.asnumpy().copy() for item in self._parameters()}

    def _load(self, weights: Arrays) -> None:
        if not weights:
            raise ValueError("Feature map from getting model is empty!")
        shapes = {item.name: item.shape for item in self._parameters()}
        found = {name: value.reshape(shapes[name]) for name, value in weights.items() if name in shapes}
        values = {name: Parameter(Tensor(value.copy()), name=name) for name, value in found.items()}
        if self._kind in ("FedProx", "FedNova"):
            values.update({f"{_GLOBAL}.{name}": Parameter(Tensor(value.copy()), name=f"{_GLOBAL}.{name}")
                           for name, value in found.items()})
        mindspore.load_param_into_net(self._model, values)

    def _insert_global_weights(self) -> None:
        for parameter in ParameterTuple(self._parameters()).clone(prefix=_GLOBAL):
            parameter.requires_grad = False
            self._model.insert_param_to_cell(parameter.name, parameter, False)

    def _check_cloud(self, address: str) -> None:
        if not address:
            raise RuntimeError("Parameter 'http_server_address' should be ip:port of a server in CLOUD_TRAINING")
        if self._kind not in _CLOUD_AGGREGATIONS:
            raise ValueError(f"aggregation_type must be in {_CLOUD_AGGREGATIONS}, but got {self._kind}.")
        encryption = self._settings.word("encrypt.encrypt_train_type")
        if encryption not in _CLOUD_ENCRYPTIONS:
            raise ValueError(f"encrypt_mode must be in {_CLOUD_ENCRYPTIONS}, but got {encryption}.")


def _check_arguments(model: object, sync_frequency: object, sync_type: object, run_distribute: object) -> None:
    if not isinstance(model, nn.Cell):
        raise TypeError(f"For 'FederatedLearningManager', the type of 'model' should be Cell, but got "
                        f"{type(model).__name__}.")
    if not isinstance(sync_frequency, int) or isinstance(sync_frequency, bool):
        raise TypeError(f"The 'sync_frequency' should be int, but got {type(sync_frequency).__name__}.")
    if sync_frequency <= 0:
        raise ValueError(f"The 'sync_frequency' should be > 0, but got {sync_frequency}.")
    if sync_type not in ("fixed", "adaptive"):
        raise ValueError(f"The 'sync_type' should be 'fixed' or 'adaptive', but got {sync_type!r}.")
    if run_distribute:
        raise ValueError("run_distribute=True is not supported: run the manager on one rank and broadcast its weights")


def _learning_rate(args: Any) -> float:
    pending = [args.train_network]
    while pending:
        cell = pending.pop()
        if isinstance(cell, nn.Optimizer):
            return float(np.asarray(cell.get_lr().asnumpy()).reshape(-1)[0])
        pending.extend(cell.cells())
    raise ValueError("Can not find optimizer in train network!")
