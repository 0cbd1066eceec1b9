"""Reading parameter groups: which parameters an optimizer updates, and what is set for each.

A group is a dictionary with `params` and perhaps `lr`, `weight_decay` and `grad_centralization` of its own. One more
dictionary, with `order_params` alone, may say in which order the gradients arrive.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from mindspore.common.parameter import Parameter

_KEYS = ("params", "lr", "weight_decay", "order_params", "grad_centralization")


class Member(NamedTuple):
    """A parameter and the index of its group."""

    parameter: Parameter
    group: int


def as_list(parameters: Any, what: str) -> list:
    """The parameters (or groups) given, as a list that is not empty."""
    if parameters is None:
        raise ValueError(f"For 'Optimizer', the argument {what} can not be None.")
    if not isinstance(parameters, Iterable):
        raise TypeError(
            f"For 'Optimizer', the argument {what} must be Iterable, such as net.trainable_params(), but got "
            f"{type(parameters).__name__}."
        )
    items = list(parameters)
    if not items:
        raise ValueError(
            f"For 'Optimizer', the argument {what} must not be empty. Are layers kept in a list or dict? Those of nn.CellList "
            "and nn.CellDict are found."
        )
    return items


def read_groups(groups: list[dict]) -> list[Member]:
    """All parameters in the order of their gradients."""
    members: list[Member] = []
    order: list[Parameter] | None = None
    for index, group in enumerate(groups):
        _check_keys(group)
        if "order_params" in group:
            order = _order(group)
            continue
        for parameter in as_list(group["params"], "group 'params'"):
            if not isinstance(parameter, Parameter):
                raise TypeError(
                    f"For 'Optimizer', 'params' of a group must hold Parameters, but got {type(parameter).__name__}."
                )
            members.append(Member(parameter, index))
    _check_unique(members)
    return _reorder(members, order) if order else members


def _check_keys(group: dict) -> None:
    unknown = [key for key in group if key not in _KEYS]
    if unknown:
        raise KeyError(f"For 'Optimizer', the keys of a group must be among {list(_KEYS)}, but got {unknown}.")
    if "order_params" not in group and "params" not in group:
        raise KeyError("For 'Optimizer', a group must have the key 'params'.")
    centralize = group.get("grad_centralization", False)
    if not isinstance(centralize, bool):
        raise TypeError(
            f"For 'Optimizer', 'grad_centralization' of a group must be bool, but got {type(centralize).__name__}."
        )


def _order(group: dict) -> list[Parameter]:
    if len(group) > 1:
        raise ValueError(f"For 'Optimizer', the dict with 'order_params' must have no other keys, but got {[*group]}.")
    if not isinstance(group["order_params"], Iterable):
        raise TypeError(
            f"For 'Optimizer', 'order_params' must be Iterable, but got {type(group['order_params']).__name__}."
        )
    return list(group["order_params"])


def _check_unique(members: list[Member]) -> None:
    names: set[str] = set()
    for parameter, _ in members:
        if parameter.name in names:
            raise RuntimeError(f"For 'Optimizer', the parameter '{parameter.name}' is in the groups more than once.")
        names.add(parameter.name)


def _reorder(members: list[Member], order: list[Parameter]) -> list[Member]:
    if len(order) != len(members):
        raise ValueError(
            f"For 'Optimizer', 'order_params' must name as many parameters as the groups hold, but got {len(order)} "
            f"and {len(members)}."
        )
    by_name = {member.parameter.name: member for member in members}
    missing = [parameter.name for parameter in order if parameter.name not in by_name]
    if missing:
        raise ValueError(f"For 'Optimizer', 'order_params' names parameters that are in no group: {missing}.")
    return [by_name[parameter.name] for parameter in order]
