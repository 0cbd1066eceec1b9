"""Federated learning: servers, clients, simulation, secure aggregation, vertical training. See the package's README."""
from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "FLServerJob": "server.job", "Callback": "server.job", "CallbackContext": "server.job",
    "FlSchedulerJob": "server.scheduler", "FeatureMap": "server.features", "SSLConfig": "startup.ssl_config",
    "FederatedLearningManager": "trainer._fl_manager", "PushMetrics": "trainer.worker",
    "simulate": "simulation.simulate",
}

__all__ = [
    "FLServerJob", "FlSchedulerJob", "Callback", "CallbackContext", "FeatureMap", "SSLConfig",
    "FederatedLearningManager", "PushMetrics", "simulate", "log", "privacy"]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    if name in ("log", "privacy"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
