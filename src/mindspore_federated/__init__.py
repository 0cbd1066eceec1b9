"""Federated learning: servers, clients, simulation, secure aggregation, vertical training. See the package's README."""
from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "FLServerJob": "server.job", "Callback": "server.job", "CallbackContext": "server.job",
    "FlSchedulerJob": "server.scheduler", "FeatureMap": "server.features", "SSLConfig": "startup.ssl_config",
    "FederatedLearningManager": "trainer._fl_manager", "PushMetrics": "trainer.worker",
    "simulate": "simulation.simulate", "FLModel": "trainer.vfl_model", "FLYamlData": "common.vfl_utils",
    "PartyGradOperation": "trainer.vfl_optim", "PartyOptimizer": "trainer.vfl_optim",
    "PartyGradScaler": "trainer.vfl_optim", "ServerConfig": "startup.server_config",
    "VerticalFederatedCommunicator": "startup.vertical_federated_local", "CompressConfig": "startup.compress_config",
    "FLDataWorker": "data_join.worker", "RunPSI": "_mindspore_federated", "PlainIntersection": "_mindspore_federated",
}
_MODULES = {"log": "log", "privacy": "privacy", "data_join": "data_join", "algorithms": "algorithms",
            "vfl_utils": "common.vfl_utils", "tensor_utils": "common.tensor_utils"}

__all__ = [
    "FLServerJob", "FlSchedulerJob", "Callback", "CallbackContext", "FeatureMap", "SSLConfig",
    "FederatedLearningManager", "PushMetrics", "simulate", "FLModel", "FLYamlData", "PartyGradOperation",
    "PartyOptimizer", "PartyGradScaler", "ServerConfig", "VerticalFederatedCommunicator", "CompressConfig",
    "FLDataWorker", "RunPSI", "PlainIntersection", "log", "privacy", "data_join", "algorithms", "vfl_utils", "tensor_utils"]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    if name in _MODULES:
        return import_module(f"{__name__}.{_MODULES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
