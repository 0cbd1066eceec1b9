"""The conditions that a debugger offers: their parameters, what they are for, and their numbers in the protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_SIZES = ("abs_mean", "max", "min", "mean")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a condition."""

    name: str
    default: float | None = None
    supports: bool = False  #: it says what another one means
    needs: tuple[str, ...] = ()
    shown: bool = True

    def reply(self) -> dict[str, Any]:
        """As official replies have it."""
        return {"name": self.name, "type": "FLOAT64", "support_disable": True, "default_value": self.default,
                "param_type": "SUPPORT_PARAM" if self.supports else "CHECK_PARAM",
                "required_params": list(self.needs) or None}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """A condition."""

    id: str
    abbr: str
    target: str
    number: int
    parameters: tuple[Parameter, ...] = ()
    only_for: str = ""  #: the one backend that has it
    before_training: bool = False

    def reply(self) -> dict[str, Any]:
        """As official replies have it."""
        shown = [p.reply() for p in self.parameters if p.shown]
        return {"id": self.id, "parameters": shown, "supported_target_type": self.target.upper(), "abbr": self.abbr}


def _bounds(suffix: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(f"{name}_{suffix}") for name in _SIZES)


_ENDS = ("range_start_inclusive", "range_end_inclusive")
_RANGE = (
    *(Parameter(name, supports=True) for name in _ENDS),
    Parameter("range_percentage_lt", needs=_ENDS),
    Parameter("range_percentage_gt", needs=_ENDS),
    Parameter("max_min_lt"),
    Parameter("max_min_gt"),
)
_EPSILON = Parameter("epsilon", 1e-9, supports=True, shown=False)
_ZEROS = (Parameter("zero_percentage_ge", 100),)

CONDITIONS = {
    one.id: one
    for one in (
        Condition("weight_initialization", "WI", "weight", 14, (*_ZEROS, Parameter("max_gt"), Parameter("min_lt")), before_training=True),
        Condition("weight_overflow", "WO", "weight", 13),
        Condition("weight_too_large", "WL", "weight", 15, _bounds("gt")),
        Condition("weight_too_small", "WS", "weight", 16, _bounds("lt")),
        Condition("gradient_vanishing", "GV", "gradient", 16, _bounds("lt")),
        Condition("gradient_too_large", "GL", "gradient", 15, _bounds("gt")),
        Condition("gradient_exploding", "GE", "gradient", 13),
        Condition("tensor_overflow", "TO", "tensor", 13),
        Condition("operator_overflow", "OO", "tensor", 2, only_for="Ascend"),
        Condition("tensor_too_large", "TL", "tensor", 15, _bounds("gt")),
        Condition("tensor_too_small", "TS", "tensor", 16, _bounds("lt")),
        Condition("tensor_all_zero", "TZ", "tensor", 17, _ZEROS),
        Condition("weight_not_changed", "WNC", "weight", 20,
                  (Parameter("rtol", 1e-5), Parameter("atol", 1e-8, supports=True, shown=False),
                   Parameter("equal_nan", 0, supports=True, shown=False))),
        Condition("weight_change_too_large", "WCL", "weight", 18, (Parameter("abs_mean_update_ratio_gt", 0.1), _EPSILON)),
        Condition("weight_change_too_small", "WCS", "weight", 19, (Parameter("abs_mean_update_ratio_lt", 1e-4), _EPSILON)),
        Condition("activation_range", "AR", "activation", 21, _RANGE),
        Condition("tensor_range", "TR", "tensor", 21, _RANGE),
    )
}  # fmt: skip
_COLLECTIONS = ("tensor", "weight", "activation", "gradient")


def collections(backend: str) -> list[dict[str, Any]]:
    """What a training on a backend may be watched by, by the kind of tensors."""
    found = []
    for target in _COLLECTIONS:
        offered = [c for c in CONDITIONS.values() if c.target == target and c.only_for in ("", backend) and not c.before_training]
        found.append({"id": f"{target}_condition_collection", "conditions": [c.reply() for c in sorted(offered, key=lambda c: c.id)]})
    return found
