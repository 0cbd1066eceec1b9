"""The form of the strategies that users give to operations; whether they suit is known when a graph is cut (compiler/shard)."""

from __future__ import annotations

from typing import Any


def check_form(owner: str, in_strategy: Any, out_strategy: Any) -> None:
    """Refuse what is no tuple of tuples of ints and no tuple of Layouts, and results that are laid where inputs are not."""
    kinds = [_kind(owner, name, s) for name, s in (("in_strategy", in_strategy), ("out_strategy", out_strategy)) if s is not None]
    if in_strategy is None and out_strategy is not None:
        raise ValueError(f"The out_strategy of {owner} is {out_strategy}, need to set in_strategy, but got none")
    if len({kind for kind in kinds if kind}) > 1:
        raise ValueError(
            f"For '{owner}', in_strategy and out_strategy must be of one kind: tuples of ints, or Layouts, but got {in_strategy} and "
            f"{out_strategy}."
        )


def check_inputs_form(in_strategy: Any, out_strategy: Any) -> None:
    """Refuse what is no strategy for a Cell or function: a tuple with a tuple of ints, a Layout or None for each tensor."""
    for name, strategy in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
        if strategy is None and name == "out_strategy":
            continue
        if not isinstance(strategy, tuple):
            raise TypeError(f"For 'Shard', the '{name}' must be a tuple, but got {type(strategy).__name__}.")
        for entry in strategy:
            numbers = entry if isinstance(entry, tuple) else (0,)
            sound = entry is None or hasattr(entry, "to_dict") or isinstance(entry, tuple)
            if not sound or not all((isinstance(n, int) and not isinstance(n, bool)) or hasattr(n, "to_dict") for n in numbers):
                raise TypeError(
                    f"For 'Shard', an entry of '{name}' must be None, a Layout or a tuple of ints, but got {entry!r}."
                )


def check_parameter_plan(plan: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    """Refuse what is no dict of names and strategies, and strategies that do not suit the weights of these shapes."""
    if not isinstance(plan, dict):
        raise TypeError(f"'parameter_plan' must be a dict, but got {type(plan).__name__}.")
    for name, cuts in plan.items():
        if not isinstance(name, str) or not (isinstance(cuts, tuple) or hasattr(cuts, "to_dict")):
            raise TypeError(f"'parameter_plan' must give names tuples of ints, or Layouts, but got {name!r}: {cuts!r}.")
        if not isinstance(cuts, tuple) or name not in shapes:
            continue
        shape = shapes[name]
        if len(cuts) != len(shape):
            raise ValueError(f"'parameter_plan' has {len(cuts)} numbers for '{name}', which has the shape {shape}.")
        if any(not isinstance(cut, int) or cut < 1 or size % cut for cut, size in zip(cuts, shape)):
            raise ValueError(f"'parameter_plan' {cuts} does not divide '{name}' of shape {shape}.")


def flat_entries(strategy: Any) -> list[Any]:
    """The entries, one for each tensor: that of a tuple of tensors is a tuple of theirs."""
    found: list[Any] = []
    for entry in strategy:
        of_several = isinstance(entry, (tuple, list)) and entry and all(
            isinstance(inner, (tuple, list)) or hasattr(inner, "to_dict") for inner in entry
        )
        found += entry if of_several else [entry]
    return found


def _kind(owner: str, name: str, strategy: Any) -> str:
    """What the entries are: "tuple" or "Layout"; "" if there are none."""
    if not isinstance(strategy, tuple):
        raise TypeError(f"For '{owner}', {name} must be tuple type, but got: {strategy!r} of type {type(strategy).__name__}.")
    kinds = set()
    for entry in flat_entries(strategy):
        is_layout = hasattr(entry, "to_dict")
        if not is_layout and not isinstance(entry, tuple):
            raise TypeError(
                f"For '{owner}', the element of strategy must be tuple/Layout type, but {name} has {entry!r} of type "
                f"{type(entry).__name__}."
            )
        for value in () if is_layout else entry:
            if not isinstance(value, int):
                raise TypeError(
                    f"The {name}: {strategy} of {owner} is not valid, the value of strategy must be int type, but got {value!r} of type "
                    f"{type(value).__name__}."
                )
        kinds.add("Layout" if is_layout else "tuple")
    if len(kinds) > 1:
        raise TypeError(f"For '{owner}', either all entries of {name} are Layouts or none, but got {strategy}.")
    return kinds.pop() if kinds else ""
