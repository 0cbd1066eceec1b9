"""FlSchedulerJob: the management interface of a job. It keeps nothing itself, so it may start, stop and crash freely."""
from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from mindspore_federated.common.check_type import check_str
from mindspore_federated.common.settings import load_settings
from mindspore_federated.common.tls import files_from_settings, server_context
from mindspore_federated.common.until_signal import ended_by_signals
from mindspore_federated.server.cluster import (
    DISABLED,
    FINISHED,
    INSTANCE_KEYS,
    READY,
    Cluster,
    Instance,
    new_instance_name,
    only_instance_keys,
)
from mindspore_federated.server.http import HttpService, Route
from mindspore_federated.server.store import StoreError, open_store
from mindspore_federated.server.uploads import Reply
from mindspore_federated.startup.ssl_config import SSLConfig, check_ssl_config

_MAX_BODY = 1 << 16
Answer = dict[str, Any]


class FlSchedulerJob:
    """Serves /state, /newInstance, /queryInstance, /enableFLS and /disableFLS; `run` blocks until SIGTERM or SIGINT."""

    def __init__(self, yaml_config: str, manage_address: str, ssl_config: SSLConfig | None = None) -> None:
        check_str("yaml_config", yaml_config)
        self._address = check_str("manage_address", manage_address)
        self._ssl_config = check_ssl_config(ssl_config)
        self._settings = load_settings(yaml_config)
        self._ended = threading.Event()

    def run(self) -> None:
        """Serve."""
        files = files_from_settings(self._settings, self._ssl_config)
        store = open_store(self._settings, self._settings.word("checkpoint_dir"))
        self._cluster = Cluster(store, self._settings.word("fl_name"))
        service = HttpService(self._address, "scheduler", self._routes(), max_body=_MAX_BODY,
                              tls=server_context(files, mutual=self._settings.flag("ssl.mutual")) if files else None)
        service.start()
        try:
            with ended_by_signals(self._ended):
                while not self._ended.wait(1.0):
                    pass
        finally:
            service.stop()
            store.close()

    def stop(self) -> None:
        """Make `run` return."""
        self._ended.set()

    def _routes(self) -> dict[str, Route]:
        return {f"/{name}": self._route(function) for name, function in (
            ("state", self._state), ("newInstance", self._new_instance), ("queryInstance", self._query),
            ("enableFLS", self._enable), ("disableFLS", self._disable))}

    def _route(self, function: Callable[[Instance, bytes], Answer]) -> Route:
        def answer(body: memoryview) -> Reply:
            try:
                instance = self._cluster.instance()
                if instance is None:
                    return _reply(_error(f"Cannot find cluster info for {self._cluster.fl_name}"))
                return _reply(function(instance, bytes(body)))
            except StoreError:
                return _reply(_error("Failed to access the cache server. Please retry later."))
        return answer

    def _state(self, instance: Instance, _: bytes) -> Answer:
        nodes = [{"node_id": node.node_id, "tcp_address": node.tcp_address, "role": node.role}
                 for node in self._cluster.nodes()]
        answer = {"code": "0", "message": "Get cluster state successful.", "cluster_state": instance.state,
                  "iteration": instance.iteration, "last_iteration": asdict(instance)["reason"] or "success"}
        return {**answer, "nodes": nodes} if nodes else answer

    def _new_instance(self, instance: Instance, body: bytes) -> Answer:
        try:
            given = json.loads(body or b"{}")
            if not isinstance(given, dict):
                raise RuntimeError("New instance failed: the body should be a JSON object")
            only_instance_keys(given)
            self._cluster.change_settings(self._settings, {INSTANCE_KEYS[name]: value for name, value in given.items()})
        except json.JSONDecodeError as error:
            return _error(f"New instance failed: the body is no JSON: {error}")
        except StoreError:
            raise
        except RuntimeError as error:
            return _error(f"New instance failed: {error}")
        self._cluster.write(Instance(new_instance_name(), generation=instance.generation + 1))
        return {"code": "0", "message": "Start new instance successful."}

    def _query(self, instance: Instance, _: bytes) -> Answer:
        settings = self._cluster.shared_settings(self._settings).as_dict()
        return {"code": "0", "message": "Query Instance successful.",
                "result": {name: settings[key] for name, key in INSTANCE_KEYS.items()}}

    def _enable(self, instance: Instance, _: bytes) -> Answer:
        if instance.state == FINISHED:
            return _error("The instance is completed and cannot be enabled.")
        if instance.state == READY:
            return _error("The instance has already been enabled.")
        self._cluster.set_state(instance, READY)
        return {"code": "0", "message": "start enabling FL-Server successful."}

    def _disable(self, instance: Instance, _: bytes) -> Answer:
        if instance.state == FINISHED:
            return _error("The instance is completed and cannot be disabled.")
        if instance.state == DISABLED:
            return _error("The instance has already been disabled.")
        self._cluster.write(replace(instance, state=DISABLED, iteration=instance.iteration + 1, valid=False,
                                    reason="the instance was disabled"))
        return {"code": "0", "message": "start disabling FL-Server successful."}


def _error(message: str) -> Answer:
    return {"code": "1", "error_message": message}


def _reply(answer: Answer) -> Reply:
    return Reply(json.dumps(answer).encode(), kind="application/json")
