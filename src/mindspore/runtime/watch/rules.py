"""The rules that tensors are watched by: the official ones of MindInsight, under their names and with their parameters.

A parameter is a measure and a comparison: `abs_mean_gt=10` hits where the mean of |x| is more than 10. A rule hits when any of its
thresholds is passed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Statistic = tuple
#: what is watched: weights are trainable Parameters, states are all others that a graph writes (moments, running means)
KINDS = ("weight", "gradient", "activation", "state", "tensor")
_SIZES = ("abs_mean", "max", "min", "mean")
_RANGE = ("range_start_inclusive", "range_end_inclusive", "range_percentage_lt", "range_percentage_gt", "max_min_lt", "max_min_gt")


class Rule(NamedTuple):
    """What a name stands for: the kind of tensors, the parameters allowed, and those that have a value anyway."""

    kind: str
    allowed: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = {}
    always: tuple[str, ...] = ()  #: measures that hit by themselves
    needs_one: bool = False  #: at least one parameter must be given
    first_step: bool = False  #: looks at the first step only, at what weights begin with


def _larger(kind: str) -> Rule:
    return Rule(kind, tuple(f"{m}_gt" for m in _SIZES), needs_one=True)


def _smaller(kind: str) -> Rule:
    return Rule(kind, tuple(f"{m}_lt" for m in _SIZES), needs_one=True)


def _changed(comparison: str, bound: float) -> Rule:
    name = f"abs_mean_update_ratio_{comparison}"
    return Rule("weight", (name, "epsilon"), {name: bound, "epsilon": 1e-9})


RULES: dict[str, Rule] = {
    "weight_initialization": Rule(
        "weight", ("zero_percentage_ge", "max_gt", "min_lt"), {"zero_percentage_ge": 100.0}, first_step=True
    ),
    "weight_overflow": Rule("weight", always=("overflow",)),
    "weight_too_large": _larger("weight"),
    "weight_too_small": _smaller("weight"),
    "weight_not_changed": Rule(
        "weight", ("rtol", "atol", "equal_nan"), {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False}, ("unchanged",)
    ),
    "weight_change_too_large": _changed("gt", 0.1),
    "weight_change_too_small": _changed("lt", 1e-4),
    "gradient_vanishing": Rule("gradient", tuple(f"{m}_lt" for m in _SIZES), {"abs_mean_lt": 1e-9}),
    "gradient_too_large": _larger("gradient"),
    "gradient_exploding": Rule("gradient", always=("overflow",)),
    "state_overflow": Rule("state", always=("overflow",)),
    "tensor_overflow": Rule("tensor", always=("overflow",)),
    "operator_overflow": Rule("tensor", always=("overflow",)),
    "tensor_too_large": _larger("tensor"),
    "tensor_too_small": _smaller("tensor"),
    "tensor_all_zero": Rule("tensor", ("zero_percentage_ge",), {"zero_percentage_ge": 100.0}),
    "tensor_range": Rule("tensor", _RANGE, needs_one=True),
    "activation_range": Rule("activation", _RANGE, needs_one=True),
}

_NEEDED: dict[str, tuple[str, ...]] = {
    "abs_mean": ("bad", "abs_sum"), "mean": ("bad", "sum"), "max": ("max",), "min": ("min",), "max_min": ("max", "min"),
    "zero_percentage": ("zeros",), "overflow": ("bad",), "abs_mean_update_ratio": ("moved", "before"),
}  # fmt: skip


class Watchpoint:
    """A rule with its thresholds, the tensors it looks at, and what happens when it hits.

    Args:
        rule: one of `RULES`.
        names: a regular expression; tensors whose full name (`Default/conv1-Conv2d/Conv2D-op0`, `conv1.weight`) it is found in.
        lines: a source line, "train.py:30", or a file, "model.py": operations that come from there.
        kind: look at other tensors than the rule does by itself, one of `KINDS`.
        action: "stop" raises, "report" warns, "dump" writes every tensor of the step; or a function that is given the hit.
        parameters: the thresholds.
    """

    def __init__(self, rule: str, names: str = "", lines: str = "", kind: str = "", action: Any = None, **parameters: Any):
        found = RULES.get(rule)
        if found is None:
            raise ValueError(f"For 'Watchpoint', 'rule' must be one of {', '.join(RULES)}, but got {rule!r}.")
        if kind and kind not in KINDS:
            raise ValueError(f"For 'Watchpoint', 'kind' must be one of {', '.join(KINDS)}, but got {kind!r}.")
        self.rule, self.action, self.kind = rule, checked_action(action), kind or found.kind
        self.first_step = found.first_step
        self._always = found.always
        self.parameters = _checked(rule, found, parameters)
        try:
            self._names = re.compile(names)
        except re.error as error:
            raise ValueError(f"For 'Watchpoint', 'names' must be a regular expression, but {names!r} is none: {error}.") from None
        file, _, line = lines.rpartition(":") if lines.rpartition(":")[2].isdigit() else (lines, "", "")
        self._file, self._line = file, int(line or 0)

    @property
    def thresholds(self) -> dict[str, float]:
        """The parameters that are compared with a measure."""
        return {name: value for name, value in self.parameters.items() if name.rpartition("_")[2] in _COMPARISONS}

    @property
    def compares(self) -> bool:
        """Whether the tensor of the step before is needed."""
        return "unchanged" in self._always or any(n.startswith("abs_mean_update_ratio") for n in self.parameters)

    @property
    def finds_overflow(self) -> bool:
        """Whether NaN and infinities are found."""
        return "overflow" in self._always

    @property
    def finds_overflow_only(self) -> bool:
        return self._always == ("overflow",) and not self.parameters

    def looks_at(self, kind: str, name: str, locations: Any = ()) -> bool:
        """Whether a tensor of this kind and name, made by the lines given, is one of those to watch."""
        if self.kind != kind and not (self.kind == "tensor" and kind == "activation"):
            return False
        if self._file and not any(l.file.endswith(self._file) and self._line in (0, l.line) for l in locations):
            return False
        return self._names.search(name) is not None

    def statistics(self) -> list[Statistic]:
        """What has to be known of a tensor."""
        if "unchanged" in self._always:
            return [("apart", self.parameters["rtol"], self.parameters["atol"], self.parameters["equal_nan"])]
        needed: list[Statistic] = []
        for measure in (*self._always, *(name.rpartition("_")[0] for name in self.thresholds)):
            if measure == "range_percentage":
                needed.append(("inside", self.parameters["range_start_inclusive"], self.parameters["range_end_inclusive"]))
            else:
                needed += [(name,) for name in _NEEDED[measure]]
        return needed

    def judge(self, found: Mapping[Statistic, float], size: int) -> dict[str, float]:
        """The measures that hit, by the names of their thresholds; empty where nothing does."""
        if "unchanged" in self._always:
            return {} if found[self.statistics()[0]] else {"unchanged": 1.0}
        hits = {"overflow": found["bad",]} if "overflow" in self._always and found["bad",] else {}
        for name, bound in self.thresholds.items():
            measure, _, comparison = name.rpartition("_")
            value = self._measure(measure, found, size)
            if value is not None and _COMPARISONS[comparison](value, bound):
                hits[name] = value
        return hits

    def _measure(self, measure: str, found: Mapping[Statistic, float], size: int) -> float | None:
        if measure in ("abs_mean", "mean"):
            finite = size - found["bad",]
            return found["abs_sum" if measure == "abs_mean" else "sum",] / finite if finite else None
        if measure in ("max", "min"):
            value = found[measure,]
            return value if abs(value) != float("inf") else None  # nothing finite was there
        if measure == "max_min":
            return found["max",] - found["min",] if found["max",] >= found["min",] else None
        if measure == "zero_percentage":
            return 100.0 * found["zeros",] / size
        if measure == "range_percentage":
            return 100.0 * found["inside", self.parameters["range_start_inclusive"], self.parameters["range_end_inclusive"]] / size
        return found["moved",] / size / (found["before",] / size + self.parameters["epsilon"])

    def __repr__(self) -> str:
        return f"{self.rule}({', '.join(f'{k}={v:g}' for k, v in self.parameters.items())})"


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "gt": lambda value, bound: value > bound,
    "lt": lambda value, bound: value < bound,
    "ge": lambda value, bound: value >= bound,
}
ACTIONS = ("stop", "report", "dump")


def checked_action(action: Any) -> Any:
    """An action as given, or an error that says which there are."""
    if action is None or callable(action) or action in ACTIONS:
        return action
    raise ValueError(f"For 'watch', an action must be one of {', '.join(ACTIONS)}, or a function of the hit, but got {action!r}.")


def _checked(rule: str, found: Rule, given: dict[str, Any]) -> dict[str, Any]:
    unknown = [name for name in given if name not in found.allowed]
    if unknown:
        allowed = ", ".join(found.allowed) or "none"
        raise ValueError(f"For '{rule}', the parameters allowed are: {allowed}; but got {', '.join(unknown)}.")
    for name, value in given.items():
        if name != "equal_nan" and (not isinstance(value, (int, float)) or isinstance(value, bool)):
            raise TypeError(f"For '{rule}', '{name}' must be a number, but got {value!r}.")
    kept = {**found.defaults, **given}
    if found.needs_one and not any(name.rpartition("_")[2] in _COMPARISONS for name in kept):
        raise ValueError(f"For '{rule}', give at least one of {', '.join(n for n in found.allowed if n[-3:] in ('_gt', '_lt'))}.")
    if any(n.startswith("range_percentage") for n in kept) and not {_RANGE[0], _RANGE[1]} <= kept.keys():
        raise ValueError(f"For '{rule}', a percentage needs both 'range_start_inclusive' and 'range_end_inclusive'.")
    return {name: value if name == "equal_nan" else float(value) for name, value in kept.items()}


def recommended() -> list[Watchpoint]:
    """Watchpoints that are right for most trainings: nothing overflows, no gradient vanishes, no weight jumps or begins as zeros."""
    return [
        Watchpoint("tensor_overflow"),
        Watchpoint("gradient_exploding"),
        Watchpoint("weight_overflow"),
        Watchpoint("state_overflow"),
        Watchpoint("weight_change_too_large", _NOT_FROM_ZERO, abs_mean_update_ratio_gt=1.0, action="report"),
        Watchpoint("gradient_vanishing", action="report"),
        Watchpoint("weight_initialization", _NOT_FROM_ZERO, action="report"),
    ]


_NOT_FROM_ZERO = r"^(?!.*(bias|beta)).*"  # offsets begin as zeros, and so any change of them is large
