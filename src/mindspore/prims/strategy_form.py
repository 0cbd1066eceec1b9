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


def _kind(owner: str, name: str, strategy: Any) -> str:
    """What the entries are: "tuple" or "Layout"; "" if there are none."""
    if not isinstance(strategy, tuple):
        raise TypeError(f"For '{owner}', {name} must be tuple type, but got: {strategy!r} of type {type(strategy).__name__}.")
    kinds = set()
    for entry in strategy:
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
