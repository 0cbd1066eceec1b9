"""Private classes that compute the gradient of one operation: `FGrad(…)(…)` is the backward pass of F.

A row of the tables (gradient_rows.py, gradient_formulas.py) says how official code constructs and calls such a class and what it is
the gradient of. The gradient itself is `vjp` of that operation, so that each agrees with it by construction.

The words of a call are the official arguments in order: `^dy` is the gradient that comes in, `*x` an input by which to
differentiate, `@size` the shape of such an input (which must not matter: the operation is linear in it), `p=2.0` has a default,
others are given and used or not. A row's function gets all of them, and the constructor's, as attributes of `a`, and then the inputs by
which it is differentiated. A formula is the gradient itself, where what is given is the *result* of the operation.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

from mindspore import ops
from mindspore._compat import gradient_formulas, gradient_rows
from mindspore.common.gradient import vjp
from mindspore.ops.composition import REQUIRED, composition


class _Words(NamedTuple):
    """What the words of a call say."""

    signature: inspect.Signature
    gradient: str
    wanted: tuple[str, ...]  # inputs by which to differentiate
    shapes: tuple[str, ...]  # those of them that are given as shapes


def _parameters(words: str) -> dict[str, Any]:
    """Names and defaults."""
    pairs = (word.lstrip("^*@").partition("=") for word in words.split())
    return {name: ast.literal_eval(default) if equal else REQUIRED for name, equal, default in pairs}


def _parsed(words: str) -> _Words:
    marked: dict[str, list[str]] = {mark: [] for mark in "^*@"}
    for word in words.split():
        if word[0] in marked:
            marked[word[0]].append(word[1:].partition("=")[0])
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [inspect.Parameter(n, kind, default=default) for n, default in _parameters(words).items()]
    )
    wanted = tuple(w[1:].partition("=")[0] for w in words.split() if w[0] in "*@")
    return _Words(signature, (*marked["^"], "")[0], wanted, tuple(marked["@"]))


def _arguments(name: str, words: _Words, p: Any, args: tuple, kwargs: dict[str, Any]) -> SimpleNamespace:
    """What the instance and the call were given, by name."""
    try:
        bound = words.signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"For '{name}', {error}.") from None
    bound.apply_defaults()
    return SimpleNamespace(**{**p.attrs, **bound.arguments})


def _shaped(shape: Any, like: Any) -> Any:
    return ops.zeros(tuple(int(n) for n in shape), like.dtype)


def _by_vjp(name: str, call: str, function: Callable) -> Callable:
    words = _parsed(call)

    def backward(p: Any, *args: Any, **kwargs: Any) -> Any:
        a = _arguments(name, words, p, args, kwargs)
        dy = getattr(a, words.gradient)
        inputs = [_shaped(getattr(a, n), dy) if n in words.shapes else getattr(a, n) for n in words.wanted]
        present = [x for x in inputs if x is not None]

        def forward(*given: Any) -> Any:
            supply = iter(given)
            return function(a, *[None if x is None else next(supply) for x in inputs])

        _, pull = vjp(forward, *present)
        found = pull(dy)
        found = found if isinstance(found, tuple) else (found,)
        if len(inputs) == 1:
            return found[0]
        supply = iter(found)
        return tuple(None if x is None else next(supply) for x in inputs)

    return backward


def _by_formula(name: str, call: str, function: Callable) -> Callable:
    words = _parsed(call)
    return lambda p, *args, **kwargs: function(_arguments(name, words, p, args, kwargs))


def _classes() -> dict[str, Any]:
    made = {}
    for rows, how in ((gradient_rows.ROWS, _by_vjp), (gradient_formulas.FORMULAS, _by_formula)):
        for name, (init, call, function) in rows.items():
            doc = f"The gradient of {name.partition('Grad')[0].partition('Back')[0]}: called with {call.replace('^', '')}."
            made[name] = composition(name, how(name, call, function), doc, **_parameters(init))
    return made


_MADE = _classes()
globals().update(_MADE)
__all__ = list(_MADE)
