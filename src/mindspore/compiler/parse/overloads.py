"""What is wrong with a call of a Tensor method that may be called in several ways.

The ways are a table (tensor_signatures.py). A call that fits none of them is explained by all of them: which there are, and
for each that takes as many arguments, which of those given do not fit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from mindspore._base.dtype import DType
from mindspore.compiler.parse.tensor_signatures import SIGNATURES
from mindspore.prims.values import SymbolicScalarBase, TensorBase, ValueUnknownError, dtype_of


class Way(NamedTuple):
    """One signature."""

    text: str
    positional: dict[str, frozenset[str]]
    named: dict[str, frozenset[str]]  # those that may be given by name only

    def allows(self, name: str, value: Any) -> bool:
        return _fits({**self.positional, **self.named}[name], value)


@functools.lru_cache(maxsize=1)
def _ways() -> dict[str, list[Way]]:
    found: dict[str, list[Way]] = {}
    for line in SIGNATURES.split("\n"):
        name, _, rest = line.partition("(")
        if name:
            found.setdefault(name, []).append(_way(f"Tensor.{line}", rest[:-1]))
    return found


def _way(text: str, arguments: str) -> Way:
    before, _, after = arguments.partition("*")
    return Way(text, _types(before), _types(after))


def _types(arguments: str) -> dict[str, frozenset[str]]:
    parts = [a.strip(", ") for a in arguments.split(">")]
    return {name: frozenset(kinds.split(",")) for name, _, kinds in (p.partition("=<") for p in parts if p)}


# -- methods that explain themselves -----------------------------------------------------------------------------------
#: what Python says when the arguments of a call do not fit
_WRONG_ARGUMENTS = ("positional argument", "keyword argument", "takes at most", "multiple values", "twice")


def explained(name: str, method: Callable) -> Callable:
    """A Tensor method whose errors about wrong calls show the right ones; methods without signatures here stay as they are."""
    if name not in _ways():
        return method

    @functools.wraps(method)
    def call(self: TensorBase, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except TypeError as error:
            wrong = None if isinstance(error, ValueUnknownError) else _explanation(name, args, kwargs, str(error))
            if wrong is None:
                raise
            raise TypeError(wrong) from None

    return call


def _explanation(name: str, args: tuple, kwargs: dict, reason: str) -> str | None:
    wrong = complaint(name, args, kwargs, failed=any(w in reason for w in _WRONG_ARGUMENTS))
    if wrong is None or "missing" not in reason:
        return wrong
    return f"{wrong}\n{name}() {reason.partition('() ')[2]}"


# -- matching -------------------------------------------------------------------------------------------------------------
#: the words of the table for values of a Python type; other types fit everywhere, and the method itself judges them
_WORDS = {
    bool: {"bool", "number", "int"}, int: {"int", "number", "float"}, float: {"float", "number"}, complex: {"number"},
    str: {"str"}, tuple: {"Tuple"}, list: {"List", "Tuple"}, type(None): {"None"}, DType: {"mstype"},
}  # fmt: skip
_SCALARS = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _fits(kinds: frozenset[str], value: Any) -> bool:
    if "any" in kinds:
        return True
    if isinstance(value, TensorBase):
        return "Tensor" in kinds or (len(value.shape) == 0 and not kinds.isdisjoint({"number", "int", "float"}))
    kind = _SCALARS[dtype_of(value).kind] if isinstance(value, SymbolicScalarBase) else type(value)
    words = _WORDS.get(kind)
    if words is None:
        return True
    if kind in (tuple, list):
        return not kinds.isdisjoint(words) and all(_WORDS.get(type(v)) is None or type(v) in (int, bool) for v in value)
    return not kinds.isdisjoint(words)


def _matches(way: Way, args: tuple, kwargs: dict) -> bool:
    names = list(way.positional)
    if _takes_a_shape(way) and all(map(_is_size, args)):
        args = args and (tuple(0 for _ in args),)  # `x.view(2, 3)` is `x.view((2, 3))`
    if len(args) > len(names) or any(k not in way.positional and k not in way.named for k in kwargs):
        return False
    given = {**dict(zip(names, args)), **kwargs}
    return all(way.allows(k, v) for k, v in given.items())


def _takes_a_shape(way: Way) -> bool:
    return len(way.positional) == 1 and not next(iter(way.positional.values())).isdisjoint({"Tuple", "List"})


def _is_size(value: object) -> bool:
    return isinstance(value, (int, SymbolicScalarBase, TensorBase)) and not isinstance(value, bool)


def complaint(name: str, args: tuple, kwargs: dict, failed: bool = False) -> str | None:
    """Why a method of this name cannot be called so; None if it can, or if the table does not know it.

    Names and numbers of arguments beyond the table are the method's own business: some take more. With `failed` the method
    has refused them, and every call is explained.
    """
    ways = _ways().get(name)
    if ways is None:
        return None
    fits = any(_matches(w, args, kwargs) for w in ways)
    possible = [
        w for w in ways
        if (len(args) <= len(w.positional) or _takes_a_shape(w)) and all(k in w.positional or k in w.named for k in kwargs)
    ]  # fmt: skip
    if not failed and (fits or not possible):
        return None
    candidates = ways if len(ways) == 1 and not kwargs else possible
    if len(candidates) == 1 and not fits and (len(ways) > 1 or not kwargs):
        return _about_one(name, candidates[0], args, kwargs)
    shown = ", ".join(_described(args, kwargs))
    lines = [f'Failed calling {name} with "{name}({shown})".', "The valid calling should be:"]
    for way in ways:
        lines.append(f'"{way.text}"')
        lines += _reasons(way, args, kwargs) if way.positional or way.named else []
    return "\n".join(lines)


def _about_one(name: str, way: Way, args: tuple, kwargs: dict) -> str:
    """What is wrong where only one signature comes into question."""
    names = list(way.positional)
    implicit = _takes_a_shape(way)
    if len(args) > len(names) and not implicit:
        were = "was" if len(args) == 1 else "were"
        plural = "" if len(names) == 1 else "s"
        return f"{name}() takes {len(names)} positional argument{plural} but {len(args)} {were} given. Call it as {way.text}."
    for i, value in enumerate(args):
        argument = names[0] if implicit else names[i]
        if not way.allows(argument, value) and not (implicit and type(value) is int):
            wanted = _wanted(way.positional[argument])
            return (
                f"{name}(): argument '{argument}' (position {i + 1}) must be {wanted}, not {_text(value, short=True)}."
            )
    for key, value in kwargs.items():
        if not way.allows(key, value):
            wanted = _wanted({**way.positional, **way.named}[key])
            return f"{name}(): argument '{key}' must be {wanted} but got {_text(value, short=True)}."
    return f"{name}() cannot be called with ({', '.join(_described(args, kwargs))}). Call it as {way.text}."


def _wanted(kinds: frozenset[str]) -> str:
    if kinds <= {"Tuple", "List"}:
        return "tuple of int"
    words = {"number": "Number", "Tuple": "tuple of int", "List": "list of int"}
    return " or ".join(words.get(k, k) for k in sorted(kinds - {"None"}))


def _reasons(way: Way, args: tuple, kwargs: dict) -> list[str]:
    unknown = next((k for k in kwargs if k not in way.positional and k not in way.named), None)
    if unknown is not None:
        return [f"    match failed because incorrect keyword name: {unknown}"]
    names = list(way.positional)
    texts = _described(args, kwargs)
    wrong = [i >= len(names) or not way.allows(names[i], a) for i, a in enumerate(args)]
    wrong += [any(not way.allows(k, v) for k, v in kwargs.items())] * len(kwargs)
    if not any(wrong):
        return []
    marks = "".join(("~" if bad else " ") * (len(text) + 2) for text, bad in zip(texts, wrong))
    head = "    match failed because invalid types: ("
    return [f"{head}{', '.join(texts)})", " " * len(head) + marks]


def _described(args: tuple, kwargs: dict) -> list[str]:
    return [*map(_text, args), *(f"{k}={_text(v)}" for k, v in kwargs.items())]


def _text(value: Any, short: bool = False) -> str:
    """The type of an argument, in the words of the table."""
    if isinstance(value, TensorBase):
        return "Tensor"
    if isinstance(value, SymbolicScalarBase):
        return _SCALARS[dtype_of(value).kind].__name__
    if isinstance(value, (tuple, list)):
        kind = type(value).__name__
        return f"{kind} of Any" if short else f"{kind}<{', '.join(map(_text, value))}>"
    words = {str: "string", type(None): "None", DType: "mstype"}
    return words.get(type(value), type(value).__name__)
