"""What a training script asks for: the hyper-parameters of this trial and where to record it."""

from __future__ import annotations

import json
import os
from typing import Any

ENVIRONMENT = "MINDINSIGHT_HYPER_CONFIG"
_LONGEST = 100_000


class HyperConfigEnvError(RuntimeError):
    """The script was not started by mindoptimizer."""


class HyperConfigError(ValueError):
    """What mindoptimizer handed over is damaged."""


class AttributeDict(dict[str, Any]):
    """A dict whose entries are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"The attribute {name!r} is not exist.")
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class HyperConfig:
    """The hyper-parameters of a trial.

    Examples:
        >>> config = HyperConfig()                      # doctest: +SKIP
        >>> config.params.learning_rate, config.summary_dir   # doctest: +SKIP
    """

    def __init__(self) -> None:
        text = os.environ.get(ENVIRONMENT)
        if text is None:
            raise HyperConfigEnvError("Hyper config is not in system environment: start the script with mindoptimizer.")
        if len(text) > _LONGEST:
            raise HyperConfigEnvError(f"Hyper config is too long: {len(text)} characters, at most {_LONGEST} are allowed.")
        try:
            config = json.loads(text)
        except ValueError as error:
            raise HyperConfigError(f"Hyper config decode error. detail: {error}.") from None
        if not isinstance(config, dict) or not isinstance(config.get("summary_dir"), str):
            raise HyperConfigError("The 'summary_dir' should be string.")
        if not isinstance(config.get("params"), dict):
            raise HyperConfigError("'params' is not a dict.")
        for name, value in config["params"].items():
            if not isinstance(value, (int, float)):
                raise HyperConfigError(f"The value of {name!r} is not integer or float.")
        self._config = config

    @property
    def params(self) -> AttributeDict:
        """The hyper-parameters, as attributes."""
        return AttributeDict(self._config["params"])

    @property
    def summary_dir(self) -> str:
        """Where this trial is to be recorded."""
        return os.path.realpath(str(self._config["summary_dir"]))

    @property
    def custom_lineage_data(self) -> dict[str, Any] | None:
        """What SummaryCollector writes into the lineage by itself."""
        return self._config.get("custom_lineage_data")
