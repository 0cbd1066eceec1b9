"""The YAML file: what to run, what to search, what to reach."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_SYSTEM = ("batch_size", "epoch", "learning_rate")
_LARGEST = 1 << 20


class ConfigError(ValueError):
    """A file that cannot be used; the message says what to change."""


@dataclass(frozen=True)
class Parameter:
    """A hyper-parameter: a range [low, high), or some choices."""

    name: str
    low: float = 0.0
    high: float = 1.0
    choices: tuple[float, ...] = ()
    whole: bool = False
    user_defined: bool = False

    @property
    def logarithmic(self) -> bool:
        """Ranges over orders of magnitude are searched by exponents."""
        return not self.choices and self.low > 0 and self.high / self.low >= 100

    def value(self, share: float) -> float:
        """The value at a place in [0, 1)."""
        if self.choices:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        if self.logarithmic:
            found = math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        else:
            found = self.low + share * (self.high - self.low)
        if self.whole:
            return int(min(max(math.floor(found), math.ceil(self.low)), math.ceil(self.high) - 1))
        return min(max(found, self.low), math.nextafter(self.high, self.low))

    def place(self, value: float) -> float:
        """Where a value is in [0, 1]."""
        if self.choices:
            near = min(range(len(self.choices)), key=lambda i: abs(self.choices[i] - value))
            return (near + 0.5) / len(self.choices)
        middle = value + 0.5 if self.whole else value
        if self.logarithmic:
            return min(1.0, max(0.0, math.log(middle / self.low) / math.log(self.high / self.low)))
        return min(1.0, max(0.0, (middle - self.low) / (self.high - self.low)))


@dataclass(frozen=True)
class Halving:
    """Early stopping: a trial goes on past step `min_step * reduction**k` only if it is among the best there, by a recorded scalar."""

    tag: str
    min_step: int = 10
    reduction: int = 3
    maximize: bool = False

    def signed(self, value: float) -> float:
        """A value of the scalar so that larger is better."""
        return value if self.maximize else -value


@dataclass(frozen=True)
class Config:
    """A search."""

    command: tuple[str, ...]
    summary_base_dir: Path
    tuner: str
    method: str
    group: str
    target: str
    maximize: bool
    parameters: tuple[Parameter, ...]
    parallel: int = 1
    halving: Halving | None = None
    seed: int = 0
    source: dict[str, Any] = field(default_factory=dict, compare=False)


def read(path: Path) -> Config:
    """A checked configuration."""
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path} has more than {_LARGEST:,} bytes.")
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is no YAML file: {error}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path} should hold command, summary_base_dir, target and parameters.")
    unknown = set(data) - {"command", "summary_base_dir", "tuner", "target", "parameters", "parallel", "early_stopping", "seed"}
    if unknown:
        raise ConfigError(f"{sorted(map(str, unknown))} is not known; known are command, summary_base_dir, tuner, target, parameters, "
                          "parallel, early_stopping, seed.")  # fmt: skip
    command, base = data.get("command"), data.get("summary_base_dir")
    if not isinstance(command, str) or not command.strip():
        raise ConfigError("'command' should be the command that trains, such as 'python train.py'.")
    if not isinstance(base, str) or not base:
        raise ConfigError("'summary_base_dir' should be a folder.")
    tuner, method = _tuner(data.get("tuner") or {"name": "gp"})
    group, target, maximize = _target(data.get("target"))
    return Config(
        tuple(shlex.split(command)), Path(base).expanduser().absolute(), tuner, method, group, target, maximize,
        _parameters(data.get("parameters")), _whole(data, "parallel", 1, 1), _halving(data.get("early_stopping"), maximize),
        _whole(data, "seed", 0, 0), data,
    )  # fmt: skip


def _whole(data: dict[str, Any], name: str, default: int, least: int) -> int:
    value = data.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"'{name}' should be a whole number of at least {least}, not {value!r}.")
    return value


def _tuner(data: Any) -> tuple[str, str]:
    if not isinstance(data, dict) or data.get("name") not in ("gp", "tpe", "random"):
        raise ConfigError("'tuner' should have a name: gp, tpe or random.")
    arguments = data.get("args") or {}
    if not isinstance(arguments, dict) or not set(arguments) <= {"method"}:
        raise ConfigError("'tuner.args' may have 'method' alone.")
    method = arguments.get("method", "ucb")
    if method not in ("ucb", "pi", "ei"):
        raise ConfigError(f"'tuner.args.method' should be ucb, pi or ei, not {method!r}.")
    return data["name"], method


def _target(data: Any) -> tuple[str, str, bool]:
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise ConfigError("'target' should have a name.")
    name = data["name"]
    group = data.get("group", "system_defined" if name == "loss" else "metric")
    if group not in ("system_defined", "metric", "scalar"):
        raise ConfigError(f"'target.group' should be system_defined, metric or scalar, not {group!r}.")
    if group == "system_defined" and name != "loss":
        raise ConfigError(f"'target.name' should be loss for group system_defined, not {name!r}.")
    goal = data.get("goal", "minimize" if name == "loss" else "maximize")
    if goal not in ("minimize", "maximize"):
        raise ConfigError(f"'target.goal' should be minimize or maximize, not {goal!r}.")
    return group, name, goal == "maximize"


def _parameters(data: Any) -> tuple[Parameter, ...]:
    if not isinstance(data, dict) or not data:
        raise ConfigError("'parameters' should name at least one hyper-parameter.")
    return tuple(_parameter(str(name), one) for name, one in data.items())


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) for v in value)


def _parameter(name: str, data: Any) -> Parameter:
    if not isinstance(data, dict) or ("bounds" in data) == ("choice" in data):
        raise ConfigError(f"'parameters.{name}' should have either 'bounds' or 'choice'.")
    source = data.get("source", "system_defined" if name in _SYSTEM else "user_defined")
    if source not in ("system_defined", "user_defined") or (source == "system_defined" and name not in _SYSTEM):
        raise ConfigError(f"'parameters.{name}.source' should be user_defined; system_defined are {', '.join(_SYSTEM)}.")
    user = source == "user_defined"
    if "choice" in data:
        if not _numbers(data["choice"]) or not data["choice"]:
            raise ConfigError(f"'parameters.{name}.choice' should be a list of numbers, at least one.")
        return Parameter(name, choices=tuple(data["choice"]), user_defined=user)
    if not _numbers(data["bounds"]) or len(data["bounds"]) != 2 or not data["bounds"][0] < data["bounds"][1]:
        raise ConfigError(f"'parameters.{name}.bounds' should be two numbers, the lower one first.")
    if data.get("type") not in ("int", "float"):
        raise ConfigError(f"'parameters.{name}.type' should be int or float: 'bounds' needs it.")
    low, high = data["bounds"]
    whole = data["type"] == "int"
    if whole and not math.ceil(low) < high:
        raise ConfigError(f"'parameters.{name}.bounds' hold no whole number (the upper one does not count).")
    return Parameter(name, float(low), float(high), whole=whole, user_defined=user)


def _halving(data: Any, maximize: bool) -> Halving | None:
    """`maximize`: whether the target is. A tag that is a loss is better when lower, whatever the target is."""
    if data is None:
        return None
    if not isinstance(data, dict) or data.get("name") != "successive_halving":
        raise ConfigError("'early_stopping' should have the name successive_halving.")
    arguments = data.get("args") or {}
    known = isinstance(arguments, dict) and set(arguments) <= {"tag", "min_step", "reduction", "goal"}
    if not known or not isinstance(arguments.get("tag"), str):
        raise ConfigError("'early_stopping.args' should have 'tag', a recorded scalar, and may have 'min_step', 'reduction' and 'goal'.")
    tag = arguments["tag"]
    goal = arguments.get("goal", "maximize" if maximize and "loss" not in tag.lower() else "minimize")
    if goal not in ("minimize", "maximize"):
        raise ConfigError(f"'early_stopping.args.goal' should be minimize or maximize, not {goal!r}.")
    return Halving(tag, _whole(arguments, "min_step", 10, 1), _whole(arguments, "reduction", 3, 2), goal == "maximize")
