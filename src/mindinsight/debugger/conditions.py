"""Conditions that tensors are checked against, watchpoints and their hits.

A condition hits when any of its thresholds is passed. Values that are not finite are left out of the statistics; where
they make a threshold meaningless the hit says so by its error code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mindinsight.debugger.nodes import DebuggerTensor

Array = NDArray[Any]
NAN, INF, NO_PREVIOUS, TOO_BIG, NO_HISTORY, NO_VALUE = (1 << bit for bit in range(6))
_MESSAGES = ("Tensor contains NaN.", "A tensor contains +/-INF.", "The previous step value cannot be found.",
             "The tensor size exceeds the memory limit.", "Graph history file is not available.", "Tensor has no value.")  # fmt: skip


class ConditionBase(ABC):
    """A condition with its thresholds."""

    _id: ClassVar[int]
    _names: ClassVar[tuple[str, ...]] = ()
    needs_previous: ClassVar[bool] = False
    #: whether values that are not finite make the result meaningless
    wants_finite: ClassVar[bool] = True

    def __init__(self, **thresholds: float | None) -> None:
        for name, value in thresholds.items():
            if value is not None and (not isinstance(value, (int, float)) or isinstance(value, bool)):
                raise TypeError(f"The param `{name}` should be a number, not {value!r}.")
        self._params = {name: float(value) for name, value in thresholds.items() if value is not None}

    @property
    def name(self) -> str:
        """The name of the condition."""
        return type(self).__name__.removesuffix("Condition")

    @property
    def condition_id(self) -> int:
        """Its official number."""
        return self._id

    @property
    def param_dict(self) -> dict[str, float]:
        """The thresholds."""
        return dict(self._params)

    @property
    def param_names(self) -> list[str]:
        """The names that thresholds may have."""
        return list(self._names)

    def __str__(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self._params.items())

    def _some(self) -> None:
        if not self._params:
            raise ValueError(f"Please specify at least one of the parameters for {type(self).__name__}.")

    @abstractmethod
    def measure(self, value: Array, before: Array | None) -> dict[str, float]:
        """The actual value for each threshold."""

    def hits(self, actual: dict[str, float]) -> bool:
        """Whether any threshold is passed."""
        return any(_passes(name, actual[name], bound) for name, bound in self._params.items() if name in actual)


def _passes(name: str, actual: float, bound: float) -> bool:
    if name.endswith("_gt"):
        return actual > bound
    if name.endswith("_lt"):
        return actual < bound
    return actual >= bound


def _finite(value: Array) -> Array:
    flat = np.asarray(value, np.float64).reshape(-1)
    return flat[np.isfinite(flat)]


def _sizes(value: Array, suffix: str) -> dict[str, float]:
    flat = _finite(value)
    if not flat.size:
        return {}
    return {f"abs_mean_{suffix}": float(np.abs(flat).mean()), f"max_{suffix}": float(flat.max()), f"min_{suffix}": float(flat.min()),
            f"mean_{suffix}": float(flat.mean())}  # fmt: skip


class TensorTooLargeCondition(ConditionBase):
    """Values that are too large."""

    _id, _names = 15, ("abs_mean_gt", "max_gt", "min_gt", "mean_gt")

    def __init__(self, abs_mean_gt: float | None = None, max_gt: float | None = None, min_gt: float | None = None,
                 mean_gt: float | None = None) -> None:  # fmt: skip
        super().__init__(abs_mean_gt=abs_mean_gt, max_gt=max_gt, min_gt=min_gt, mean_gt=mean_gt)
        self._some()

    def measure(self, value: Array, before: Array | None) -> dict[str, float]:
        return _sizes(value, "gt")


class TensorTooSmallCondition(ConditionBase):
    """Values that are too small."""

    _id, _names = 16, ("abs_mean_lt", "max_lt", "min_lt", "mean_lt")

    def __init__(self, abs_mean_lt: float | None = None, max_lt: float | None = None, min_lt: float | None = None,
                 mean_lt: float | None = None) -> None:  # fmt: skip
        super().__init__(abs_mean_lt=abs_mean_lt, max_lt=max_lt, min_lt=min_lt, mean_lt=mean_lt)
        self._some()

    def measure(self, value: Array, before: Array | None) -> dict[str, float]:
        return _sizes(value, "lt")


class TensorRangeCondition(ConditionBase):
    """A share of values in a range, or the distance of the extremes."""

    _id = 21
    _names = ("range_start_inclusive", "range_end_inclusive", "range_percentage_lt", "range_percentage_gt", "max_min_lt", "max_min_gt")

    def __init__(self, range_start_inclusive: float | None = None, range_end_inclusive: float | None = None,
                 range_percentage_lt: float | None = None, range_percentage_gt: float | None = None, max_min_lt: float | None = None,
                 max_min_gt: float | None = None) -> None:  # fmt: skip
        super().__init__(range_start_inclusive=range_start_inclusive, range_end_inclusive=range_end_inclusive,
                         range_percentage_lt=range_percentage_lt, range_percentage_gt=range_percentage_gt, max_min_lt=max_min_lt,
                         max_min_gt=max_min_gt)  # fmt: skip
        shares = {"range_percentage_lt", "range_percentage_gt"} & set(self._params)
        if not shares and not {"max_min_lt", "max_min_gt"} & set(self._params):
            raise ValueError("Please specify at least one of range_percentage_lt, range_percentage_gt, max_min_lt, max_min_gt.")
        if shares and not {"range_start_inclusive", "range_end_inclusive"} <= set(self._params):
            raise ValueError("Please specify both range_start_inclusive and range_end_inclusive for a percentage.")

    def measure(self, value: Array, before: Array | None) -> dict[str, float]:
        flat = _finite(value)
        if not flat.size:
            return {}
        found = {"max_min_lt": float(flat.max() - flat.min()), "max_min_gt": float(flat.max() - flat.min())}
        if "range_start_inclusive" in self._params:
            inside = (flat >= self._params["range_start_inclusive"]) & (flat <= self._params["range_end_inclusive"])
            found |= {"range_percentage_lt": 100.0 * float(inside.mean()), "range_percentage_gt": 100.0 * float(inside.mean())}
        return found

    def hits(self, actual: dict[str, float]) -> bool:
        return any(_passes(name, actual[name], self._params[name]) for name in self._params if name in actual)


class TensorOverflowCondition(ConditionBase):
    """NaN or infinity."""

    _id, wants_finite = 13, False

    def __init__(self) -> None:
        super().__init__()

    def measure(self, value: Array, before: Array | None) -> dict[str, float]:
        array = np.asarray(value)
        return {} if array.dtype.kind in "iub" else {"overflow": float(not np.isfinite(np.asarray(array, np.float64)).all())}

    def hits(self, actual: dict[str, float]) -> bool:
        return actual.get("overflow", 0.0) > 0


class OperatorOverflowCondition(TensorOverflowCondition):
    """Overflow while computing; without a device that reports it, what came out is looked at."""

    _id = 2


class TensorAllZeroCondition(ConditionBase):
    """Too many zeros."""

    _id, _names, wants_finite = 17, ("zero_percentage_ge",), False

    def __init__(self, zero_percentage_ge: float) -> None:
        super().__init__(zero_percentage_ge=zero_percentage_ge)
        if not 0 <= self._params.get("zero_percentage_ge", -1) <= 100:
            raise ValueError("The param `zero_percentage_ge` should be in [0, 100].")

    def measure(self, value: Array, before: Array | None) -> dict[str, float]:
        array = np.asarray(value)
        return {"zero_percentage_ge": 100.0 * float((array == 0).mean())} if array.size else {}


class TensorUnchangedCondition(ConditionBase):
    """All values stay within `atol + rtol * |previous|`."""

    _id, _names, needs_previous = 20, ("rtol", "atol"), True

    def __init__(self, rtol: float = 1e-5, atol: float = 1e-8) -> None:
        super().__init__(rtol=rtol, atol=atol)

    def measure(self, value: Array, before: Array | None) -> dict[str, float]:
        if before is None:
            return {}
        same = np.allclose(np.asarray(value, np.float64), np.asarray(before, np.float64), self._params["rtol"], self._params["atol"])
        return {"unchanged": float(same)}

    def hits(self, actual: dict[str, float]) -> bool:
        return actual.get("unchanged", 0.0) > 0


def _ratio(value: Array, before: Array | None, epsilon: float) -> float | None:
    """mean |now - before| / (mean |before| + epsilon)."""
    if before is None or before.shape != value.shape or not value.size:
        return None
    now, old = np.asarray(value, np.float64), np.asarray(before, np.float64)
    return float(np.abs(now - old).mean() / (np.abs(old).mean() + epsilon))


class TensorChangeBelowThresholdCondition(ConditionBase):
    """Values change too little."""

    _id, _names, needs_previous = 19, ("abs_mean_update_ratio_lt", "epsilon"), True

    def __init__(self, abs_mean_update_ratio_lt: float, epsilon: float = 1e-9) -> None:
        super().__init__(abs_mean_update_ratio_lt=abs_mean_update_ratio_lt, epsilon=epsilon)

    def measure(self, value: Array, before: Array | None) -> dict[str, float]:
        ratio = _ratio(value, before, self._params["epsilon"])
        return {} if ratio is None else {"abs_mean_update_ratio_lt": ratio}


class TensorChangeAboveThresholdCondition(ConditionBase):
    """Values change too much."""

    _id, _names, needs_previous = 18, ("abs_mean_update_ratio_gt", "epsilon"), True

    def __init__(self, abs_mean_update_ratio_gt: float, epsilon: float = 1e-9) -> None:
        super().__init__(abs_mean_update_ratio_gt=abs_mean_update_ratio_gt, epsilon=epsilon)

    def measure(self, value: Array, before: Array | None) -> dict[str, float]:
        ratio = _ratio(value, before, self._params["epsilon"])
        return {} if ratio is None else {"abs_mean_update_ratio_gt": ratio}


_BY_NUMBER: dict[int, Callable[..., ConditionBase]] = {
    kind._id: kind
    for kind in (TensorTooLargeCondition, TensorTooSmallCondition, TensorRangeCondition, TensorOverflowCondition,
                 OperatorOverflowCondition, TensorAllZeroCondition, TensorUnchangedCondition, TensorChangeBelowThresholdCondition,
                 TensorChangeAboveThresholdCondition)
}  # fmt: skip


def condition_of(number: int, thresholds: dict[str, float]) -> ConditionBase:
    """The condition of an official number. ValueError where the thresholds make no sense."""
    kind = _BY_NUMBER.get(number)
    if kind is None:
        raise ValueError(f"There is no condition {number} for dumped tensors.")
    return kind(**thresholds)


# ---------------------------------------------------------------------------------------------------------------------
# Watchpoints


class Watchpoint:
    """Tensors and what is to be checked of them."""

    def __init__(self, tensors: Iterable[DebuggerTensor], condition: ConditionBase) -> None:
        self._tensors = list(tensors)
        if not all(isinstance(tensor, DebuggerTensor) for tensor in self._tensors):
            raise TypeError("The param `tensors` should be DebuggerTensors, as select_tensors gives them.")
        if not isinstance(condition, ConditionBase):
            raise TypeError(f"The param `condition` should be a condition, not {condition!r}.")
        self._condition = condition

    @property
    def tensors(self) -> list[DebuggerTensor]:
        """The tensors."""
        return self._tensors

    @property
    def condition(self) -> ConditionBase:
        """The condition."""
        return self._condition


class WatchpointHit:
    """A tensor that a condition hit, or that could not be checked."""

    def __init__(self, tensor: DebuggerTensor, condition: ConditionBase, detail: dict[str, float], error_code: int) -> None:
        self._tensor, self._condition, self._detail, self._error = tensor, condition, detail, error_code

    @property
    def error_code(self) -> int:
        """Bits: 0 NaN, 1 infinity, 2 no previous step, 3 too big, 4 no history, 5 no value."""
        return self._error

    @property
    def error_msg(self) -> list[str]:
        """The error code in words."""
        return [message for bit, message in enumerate(_MESSAGES) if self._error >> bit & 1]

    @property
    def tensor(self) -> DebuggerTensor:
        """The tensor."""
        return self._tensor

    def get_threshold(self) -> ConditionBase:
        """The condition with its thresholds."""
        return self._condition

    def get_hit_detail(self) -> dict[str, float] | None:
        """The actual values; None if the check failed."""
        return None if self._error else self._detail

    def __str__(self) -> str:
        if self._error:
            return f"Watchpoint {self._condition.name} check failed on {self._about()}Error detail: {self.error_msg}"
        shown = ", ".join(f"{name}={value:g}" for name, value in self._detail.items())
        return f"Watchpoint {self._condition.name} triggered on {self._about()}Hit detail: {shown}"

    def _about(self) -> str:
        return f"tensor:\n{self._tensor}Threshold: {self._condition}\n"


def check(tensor: DebuggerTensor, condition: ConditionBase, largest: int | None, tell_missing: bool) -> WatchpointHit | None:
    """Check one tensor."""
    value = tensor.value()
    if value is None:
        return WatchpointHit(tensor, condition, {}, NO_VALUE) if tell_missing else None
    if largest is not None and value.nbytes > largest:
        return WatchpointHit(tensor, condition, {}, TOO_BIG)
    error, before = 0, None
    if condition.needs_previous:
        earlier = tensor.before()
        before = earlier.value() if earlier else None
        if before is None:
            return WatchpointHit(tensor, condition, {}, NO_PREVIOUS) if tell_missing else None
    if condition.wants_finite and value.dtype.kind == "f":
        error |= NAN if np.isnan(value).any() else 0
        error |= INF if np.isinf(value).any() else 0
    actual = condition.measure(value, before)
    if not condition.hits(actual) and not error:
        return None
    shown = {name: actual[name] for name in condition.param_dict if name in actual} or actual
    return WatchpointHit(tensor, condition, shown, error)
