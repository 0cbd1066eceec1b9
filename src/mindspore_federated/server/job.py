"""FLServerJob: one server of a horizontal job, from its YAML file to its end."""
from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module

import numpy as np

from mindspore_federated import log
from mindspore_federated.common.check_type import check_str
from mindspore_federated.common.settings import Settings, load_settings
from mindspore_federated.common.tls import files_from_settings, server_context
from mindspore_federated.common.until_signal import ended_by_signals
from mindspore_federated.server.attestation import Attestation
from mindspore_federated.server.cluster import Cluster, Instance, Node
from mindspore_federated.server.features import Arrays, FeatureMap, Floats, with_state, without_state
from mindspore_federated.server.handlers import Handlers
from mindspore_federated.server.http import HttpService, parse_address
from mindspore_federated.server.masked import MaskedRounds
from mindspore_federated.server.masked_handlers import MaskedHandlers
from mindspore_federated.server.rounds import Rounds
from mindspore_federated.server.stable import StableRounds
from mindspore_federated.server.store import StoreError, open_store
from mindspore_federated.server.traffic import Traffic
from mindspore_federated.startup.ssl_config import SSLConfig, check_ssl_config

_KEPT_CHECKPOINTS = 3
_SMALL_BODY = 1 << 20
_STORE_SECONDS, _STORE_PAUSE = 10.0, 0.1     # a server that starts while Redis restarts waits for it


class CallbackContext:
    """What `Callback.on_iteration_end` learns about an iteration."""

    def __init__(self, feature_map: FeatureMap, checkpoint_file: str, fl_name: str, instance_name: str,
                 iteration_num: int, iteration_valid: bool, iteration_result: str) -> None:
        self.feature_map = feature_map
        self.checkpoint_file = checkpoint_file
        self.fl_name = fl_name
        self.instance_name = instance_name
        self.iteration_num = iteration_num
        self.iteration_valid = iteration_valid
        self.iteration_result = iteration_result


class Callback:
    """Functions a server calls; override what you need."""

    def after_started(self) -> None:
        """The server takes requests."""

    def before_stopped(self) -> None:
        """The server is about to stop."""

    def on_iteration_end(self, context: CallbackContext) -> None:
        """An iteration gave a new model."""


class FLServerJob:
    """One server of a federated job; `run` blocks until SIGTERM or SIGINT."""

    def __init__(self, yaml_config: str, http_server_address: str, tcp_server_ip: str = "127.0.0.1",
                 checkpoint_dir: str = "./fl_ckpt/", ssl_config: SSLConfig | None = None) -> None:
        self._yaml = check_str("yaml_config", yaml_config)
        self._http_address = check_str("http_server_address", http_server_address)
        self._tcp_ip = check_str("tcp_server_ip", tcp_server_ip)
        self.checkpoint_dir = check_str("checkpoint_dir", checkpoint_dir)
        self._ssl_config = check_ssl_config(ssl_config)
        self._settings = load_settings(yaml_config)
        self.fl_name = self._settings.word("fl_name")
        self._callback = Callback()
        self._ended = threading.Event()
        self._saved: tuple[str, int, int] = "", 0, 0                # the newest model on this server's disk

    def run(self, feature_map: FeatureMap | Mapping[str, Floats] | str | None = None,
            callback: Callback | None = None) -> None:
        """Serve the job. `feature_map`: the first model, as FeatureMap, dict, `.ckpt` or `.mindir` file."""
        if callback is not None and not isinstance(callback, Callback):
            raise RuntimeError("Parameter 'callback' is expected to be instance of Callback when it's not None, but "
                               f"got {type(callback)}.")
        self._callback = callback or Callback()
        import_module("mindspore")                        # for checkpoints: now, not in the middle of the first round
        features, iteration = self._first_model(feature_map)
        files = files_from_settings(self._settings, self._ssl_config)
        tls = server_context(files, mutual=self._settings.flag("ssl.mutual")) if files else None
        rounds = self._join(features, iteration)
        body = _SMALL_BODY + 3 * sum(value.nbytes for value in rounds.model.values())
        traffic = Traffic(self._settings.word("summary.data_rate_dir"), rounds.node.tcp_address)
        service = HttpService(self._http_address, "server", _handlers(rounds, self._settings).routes(), max_body=body, tls=tls,
                              max_connections=self._settings.whole("client.connection_num"),
                              rate=self._settings.number("client.requests_per_second"), traffic=traffic)
        rounds.start()
        service.start()
        try:
            self._serve(traffic)
        finally:
            self._callback.before_stopped()
            service.stop()
            traffic.write(now=True)
            rounds.stop()
            rounds.store.close()

    def stop(self) -> None:
        """Make `run` return; for servers that run in a thread."""
        self._ended.set()

    def _serve(self, traffic: Traffic) -> None:
        with ended_by_signals(self._ended):
            self._callback.after_started()
            while not self._ended.wait(1.0):
                traffic.write()

    def _join(self, features: FeatureMap, iteration: int) -> Rounds:
        _, port = parse_address(self._http_address, "server")
        tcp = f"{self._tcp_ip}:{port}"
        node = Node(f"{tcp}@{self._http_address}", "SERVER", tcp, self._http_address)
        model, state = without_state(features.arrays())
        items = {name: item for name, item in features.feature_map().items() if name in model and not self._is_control(name)}
        if not items and self._settings.word("distributed_cache.type") == "local":
            raise RuntimeError("The feature map is empty")
        fixed = frozenset(name for name, item in items.items() if not item.require_aggr)
        known = _load_instance(self.checkpoint_dir, self.fl_name) if iteration > 1 else None

        def joined(cluster: Cluster) -> Rounds:
            cluster.agree_on_features({name: (item.data.nbytes, item.require_aggr) for name, item in items.items()})
            return _kind(self._settings)(cluster, self._settings, node, with_state(self._with_controls(model), state), fixed,
                                         iteration, self, known)

        store = open_store(self._settings, self.checkpoint_dir)
        try:
            return _once_reachable(lambda: joined(Cluster(store, self.fl_name)))
        except BaseException:
            store.close()
            raise

    def _is_control(self, name: str) -> bool:
        """Whether a weight is one that the server of a Scaffold job adds to the model itself."""
        return self._settings.word("aggregation.aggregation_type") == "Scaffold" and name.startswith("control.")

    def _with_controls(self, model: Arrays) -> Arrays:
        if self._settings.word("aggregation.aggregation_type") != "Scaffold":
            return model
        return {**model, **{f"control.{name}": np.zeros_like(value) for name, value in model.items()
                            if not self._is_control(name) and f"control.{name}" not in model}}

    def adopted(self, kept: Arrays, instance: Instance, iteration: int) -> None:
        """Keep the model that this server answers with, for the case that the store forgets it."""
        if iteration >= 1 and (instance.name, instance.finished, iteration) != self._saved:
            self._save(kept, instance, iteration)

    def _save(self, kept: Arrays, instance: Instance, iteration: int) -> str:
        path = _save_checkpoint(self.checkpoint_dir, self.fl_name, iteration, kept)
        _save_instance(self.checkpoint_dir, self.fl_name, instance)
        self._saved = instance.name, instance.finished, iteration
        return path

    def ended(self, kept: Arrays, instance: Instance, iteration: int) -> None:
        """Keep the model of an iteration that this server ended, and call the user's callback."""
        path = self._save(kept, instance, iteration)
        try:
            self._callback.on_iteration_end(CallbackContext(_feature_map(without_state(kept)[0]), path, self.fl_name,
                                                            instance.name, iteration, True, ""))
        except RuntimeError as error:
            log.warning("the callback on_iteration_end failed: %s", error)

    def _first_model(self, given: FeatureMap | Mapping[str, Floats] | str | None) -> tuple[FeatureMap, int]:
        for iteration, path in _checkpoints(self.checkpoint_dir, self.fl_name):
            try:
                restored = _load_checkpoint(path)
            except (ValueError, OSError) as error:
                log.warning("the recovery checkpoint %s cannot be read: %s", path, error)
                continue
            if isinstance(given, FeatureMap):
                for name, item in given.feature_map().items():
                    if name in restored.feature_map():
                        restored.feature_map()[name].require_aggr = item.require_aggr
            return restored, iteration + 1
        return _feature_map(given), 1


def _once_reachable(join: Callable[[], Rounds]) -> Rounds:
    """Join as soon as the store can be reached: it may just be coming back itself."""
    deadline = time.monotonic() + _STORE_SECONDS
    while True:
        try:
            return join()
        except StoreError as error:
            if time.monotonic() > deadline:
                raise RuntimeError(f"Sync instance info with distributed cache failed: {error}") from None
            log.info("waiting for the distributed cache: %s", error)
            time.sleep(_STORE_PAUSE)


def _kind(settings: Settings) -> type[Rounds]:
    if not settings.masked:
        return Rounds
    return StableRounds if settings.word("encrypt.encrypt_train_type") == "STABLE_PW_ENCRYPT" else MaskedRounds


def _handlers(rounds: Rounds, settings: Settings) -> Handlers:
    attestation = Attestation(rounds, settings) if settings.flag("client_verify.pki_verify") else None
    if isinstance(rounds, MaskedRounds):
        return MaskedHandlers(rounds, attestation)
    return Handlers(rounds, attestation)


def _feature_map(given: object) -> FeatureMap:
    if isinstance(given, FeatureMap):
        return given
    if isinstance(given, Mapping):
        features = FeatureMap()
        for name, value in given.items():
            features.add_feature(name, value)
        return features
    if isinstance(given, str):
        if given.endswith(".ckpt"):
            return _load_checkpoint(given)
        if given.endswith(".mindir"):
            return _load_mindir(given)
        raise RuntimeError("The value of parameter 'feature_map' is expected to be checkpoint file path, ends with "
                           f"'.ckpt', or MindIR file path, ends with '.mindir', but got '{given}'.")
    raise RuntimeError("The parameter 'feature_map' is expected to be instance of dict(feature_name, feature_val), "
                       f"FeatureMap, or a checkpoint or mindir file path, but got '{type(given)}'.")


def _load_checkpoint(path: str) -> FeatureMap:
    import mindspore

    return _only_floats({name: value.asnumpy() for name, value in mindspore.load_checkpoint(path).items()})


def _load_mindir(path: str) -> FeatureMap:
    import mindspore

    cell = mindspore.nn.GraphCell(mindspore.load(path))
    return _only_floats({parameter.name: parameter.asnumpy() for _, parameter in cell.parameters_and_names()})


def _only_floats(arrays: Mapping[str, Floats]) -> FeatureMap:
    features = FeatureMap()
    for name, value in arrays.items():
        if value.dtype == np.float32:
            features.add_feature(name, value)
        else:
            log.info("skip weight %s, its type is %s", name, value.dtype)
    return features


def _save_checkpoint(folder: str, fl_name: str, iteration: int, kept: Arrays) -> str:
    import mindspore

    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{fl_name}_recovery_iteration_{iteration}_{time.strftime('%Y%m%d_%H%M%S')}.ckpt")
    mindspore.save_checkpoint([{"name": name, "data": mindspore.Tensor(value)} for name, value in kept.items()], path)
    for _, old in _checkpoints(folder, fl_name)[_KEPT_CHECKPOINTS:]:
        os.unlink(old)
    return path


def _instance_file(folder: str, fl_name: str) -> str:
    return os.path.join(folder, f"{fl_name}_recovery_instance.json")


def _load_instance(folder: str, fl_name: str) -> Instance | None:
    """The instance that the newest recovery checkpoint is of, if it is known."""
    try:
        with open(_instance_file(folder, fl_name), encoding="utf-8") as source:
            found = json.loads(source.read(1000))
        return Instance(str(found["name"]), int(found["iteration"]), finished=int(found["finished"]),
                        generation=int(found.get("generation", 0)))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save_instance(folder: str, fl_name: str, instance: Instance) -> None:
    path = _instance_file(folder, fl_name)
    with open(f"{path}.new", "w", encoding="utf-8") as out:
        json.dump({"name": instance.name, "iteration": instance.iteration, "finished": instance.finished,
                   "generation": instance.generation}, out)
    os.replace(f"{path}.new", path)


def _checkpoints(folder: str, fl_name: str) -> list[tuple[int, str]]:
    """The recovery checkpoints, newest first; iterations begin at 1 again with a new instance."""
    if not os.path.isdir(folder):
        return []
    form = re.compile(re.escape(fl_name) + r"_recovery_iteration_(\d+)_(\d{8}_\d{6})\.ckpt")
    found = [(match, name) for name in os.listdir(folder) if (match := form.fullmatch(name))]
    found.sort(key=lambda pair: (pair[0][2], int(pair[0][1])), reverse=True)
    return [(int(match[1]), os.path.join(folder, name)) for match, name in found]
