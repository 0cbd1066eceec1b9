"""Operations that have a class name but no rules of their own: calling one composes other operations.

Official MindSpore has some 600 primitive classes. Here only the core ones state rules (`mindspore.prims`); the others are
`Composition`s, so that gradients, batching, sharding and every backend follow from what they are made of.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mindspore.prims import checks, explain
from mindspore.prims.active import ACTIVE
from mindspore.prims.mesh import entries_for, laid_call
from mindspore.prims.primitive import Primitive
from mindspore.prims.setting_types import REQUIRED, Typed, setting_types
from mindspore.prims.values import SymbolicScalarBase, TensorBase

__all__ = ["REQUIRED", "Composition", "Typed", "composition", "of_tensors", "plain"]


class Composition(Primitive):
    """A Primitive that is a function of other operations. Subclasses define `compose`."""

    #: which dimensions strategies may cut, where what it is made of does not tell: a letter for each dimension of each tensor,
    #: equal ones are cut alike; "." is not cut, "*" as the operations allow
    cuts: str = ""
    #: whether a strategy may cut what one of the operations needs whole: it is brought together there
    brings_together = False
    #: whether an argument may be whole where others that run together with it are cut
    may_be_whole = False
    #: positions and names of arguments that must be tensors
    tensors: tuple[tuple[int, str], ...] = ()

    def compose(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{type(self).__name__} must define compose")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "in_strategy" in self.attrs and ACTIVE.builder is not None:
            return self._cut(args, kwargs)
        return self._composed(args, kwargs)

    def _cut(self, args: tuple, kwargs: dict) -> Any:
        """Compose with the tensors among the arguments laid out as the strategy says, and so the results."""
        strategy = self.attrs["in_strategy"]
        self._check_cuts(strategy)
        entries = entries_for((*args, *kwargs.values()))
        if self.brings_together and any(strategy[entries:]):  # else the operations inside refuse it
            raise RuntimeError(
                f"For '{self.name}', the strategy {strategy} is invalid: it has {len(strategy)} entries, but there are {entries} tensors "
                "among the inputs."
            )
        whole = () if self.brings_together else (strategy, entries, self.may_be_whole)
        return laid_call(
            self.name, lambda *a, **k: self._composed(a, k), args, kwargs, strategy, self.attrs.get("out_strategy"), *whole
        )

    def _check_cuts(self, strategy: Any) -> None:
        known: dict[str, int] = {}
        for letters, entry in zip(self.cuts.split(","), strategy):
            if not isinstance(entry, (tuple, list)) or len(letters) != len(entry):
                continue
            for letter, parts in zip(letters, entry):
                if letter == "." and parts != 1:
                    raise RuntimeError(f"For '{self.name}', the strategy {strategy} is invalid: a dimension is cut that must be whole.")
                if letter.isalpha() and known.setdefault(letter, parts) != parts:
                    raise RuntimeError(
                        f"For '{self.name}', the strategy {strategy} is invalid: dimensions that run together must be cut alike."
                    )

    def _composed(self, args: tuple, kwargs: dict) -> Any:
        self._check_tensors(args, kwargs)
        try:
            return self.compose(*args, **kwargs)
        except explain.UNFORESEEN as error:
            better = explain.explained(self, (*args, *kwargs.values()), error)
            if better is None:
                raise
            raise better from error


    def _check_tensors(self, args: tuple, kwargs: dict) -> None:
        for place, name in self.tensors:
            if place < len(args):
                value = args[place]
            elif name in kwargs:
                value = kwargs[name]
            else:
                continue
            if not isinstance(value, (TensorBase, SymbolicScalarBase)):
                raise TypeError(f"For '{self.name}', '{name}' must be a Tensor, but got {checks.describe(value)}.")


def of_tensors(names: str, function: Callable) -> Callable:
    """A lambda with the annotation that these of its arguments are tensors."""
    function.__annotations__ = dict.fromkeys(names.split(), "Tensor")
    return function


def _tensor_arguments(function: Callable) -> tuple[tuple[int, str], ...]:
    """Positions and names of the arguments that a function's annotations call tensors."""
    named = getattr(function, "__annotations__", {})  # types of NumPy and Python have none
    if not named:
        return ()
    found = enumerate(inspect.signature(function).parameters.values())
    return tuple((i, p.name) for i, p in found if named.get(p.name) == "Tensor" and p.kind is p.POSITIONAL_OR_KEYWORD)


def composition(
    name: str, function: Callable, doc: str = "", base: type[Composition] = Composition, /, **attributes: Any
) -> Any:
    """A Composition class. `attributes` are the constructor's arguments with their defaults (REQUIRED: none), or `Typed`;
    calling an instance `p` is `function(p, *args)`. Arguments that `function` annotates as `Tensor` are refused if they are none.
    """
    types = {key: value.types for key, value in attributes.items() if isinstance(value, Typed)}
    defaults = {key: value.default if isinstance(value, Typed) else value for key, value in attributes.items()}
    parameters = [inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=d) for key, d in defaults.items()]
    signature = inspect.Signature(parameters)

    def init(self: Composition, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"For '{name}', {error}.") from None
        bound.apply_defaults()
        Primitive.__init__(self, name)
        self.attrs = dict(bound.arguments)
        self.__dict__.update(bound.arguments)

    def compose(self: Composition, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    init.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters]
    )
    init.__name__ = "__init__"
    constructor = setting_types(**types)(init) if types else init
    members = {"__init__": constructor, "compose": compose, "__doc__": doc or None, "__module__": "mindspore.ops.operations"}
    made: Any = type(name, (base,), members)
    made.tensors = tuple((place - 1, argument) for place, argument in _tensor_arguments(function))
    return made


def plain(name: str, function: Callable, doc: str = "") -> Any:
    """A Composition class without attributes whose instances call `function(*args)`."""
    made = composition(name, lambda self, *args, **kwargs: function(*args, **kwargs), doc or function.__doc__ or "")
    made.tensors = _tensor_arguments(function)
    return made
