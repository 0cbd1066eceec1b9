"""Official primitives carried out by ours, in either mode."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.formats.control import choose, interpreted, repeat
from mindspore.formats.mindir import mint_adapters  # noqa: F401 - fills the table of adapters
from mindspore.formats.mindir.adapters import ADAPTERS, ATTRIBUTE_ADAPTERS
from mindspore.formats.mindir.compositions import COMPOSED, PREDICTING
from mindspore.formats.mindir.conventions import ATTRIBUTE_NAMES, convention, from_file
from mindspore.formats.mindir.messages import TYPES_BY_ID
from mindspore.formats.mindir.program import PrimitiveUse
from mindspore.prims import values
from mindspore.prims.catalogue import catalogue

_ATTRIBUTE_NAMES = {"format": "data_format"}


class UnknownOperationError(ValueError):
    """A file's operation has no class or function here."""


class PrimitiveOperations:
    """Carries out the steps of a MindIR program.

    Args:
        lookup: finds an operation that is none of ours: a class that is created with the node's attributes, or a
            function that takes them as keywords; None when it is unknown. Without it models only predict.
        adapters: further functions of a node's arguments, in the order of the file.
    """

    def __init__(self, lookup: Callable[[str], Any] | None = None, adapters: Mapping[str, Callable] | None = None):
        self._alone = lookup is None
        self._lookup = lookup or PREDICTING.get
        self._adapters = {**ADAPTERS, **(adapters or {})}

    def constant(self, array: np.ndarray) -> Any:
        return values.from_array(array)

    def is_known(self, predicate: Any) -> bool:
        return not values.is_symbolic(predicate)

    def apply(self, use: PrimitiveUse, arguments: list[Any]) -> Any:
        adapted = self._adapters.get(use.name)
        if adapted is not None:
            return adapted(*arguments)
        if use.name in ATTRIBUTE_ADAPTERS:
            result = ATTRIBUTE_ADAPTERS[use.name](use.attributes, *arguments)
            if result is not NotImplemented:
                return result
        if use.is_function:
            return self._apply_function(use, arguments)
        return self._instance(use, use.attributes)(*arguments)

    def _apply_function(self, use: PrimitiveUse, arguments: list[Any]) -> Any:
        spec = convention(use.name)
        if spec is None:
            return self._instance(use, use.attributes)(*arguments)
        made = self._operation(use.name)
        settings, own, given = _accepted(made), {}, []
        for place, (described, argument) in enumerate(zip((*spec.call, *spec.init), arguments)):
            name = ATTRIBUTE_NAMES.get((use.name, described.name), described.name)
            created_with = _ATTRIBUTE_NAMES.get(name, name) in settings and (isinstance(made, type) or place >= len(spec.call))
            value = from_file(described, argument)
            if created_with:
                own[name] = value
            else:  # an official class is created with some that ours, or a function, is called with
                given.append(value)
        return self._instance(use, own)(*given)

    def _instance(self, use: PrimitiveUse, attributes: dict[str, Any]) -> Callable:
        made = self._operation(use.name)
        defaults = _accepted(made)
        given = {_ATTRIBUTE_NAMES.get(k, k): v for k, v in attributes.items()}
        if str(given.get("pad_mode", "")).lower() in ("same", "valid"):  # what is stored then is what follows from it
            given = {k: v for k, v in given.items() if k not in ("pad", "pad_list")}
        own = {k: _as_flag(defaults[k], _spatial(use.name, k, v)) for k, v in given.items() if k in defaults}
        return made(**own) if isinstance(made, type) else functools.partial(made, **own)

    def _operation(self, name: str) -> Callable:
        """The class of a primitive, or a function with its attributes as keywords."""
        found = COMPOSED.get(name) or catalogue().get(name) or self._lookup(name)
        if found is None:
            known = convention(name) is not None and self._alone
            hint = "needs mindspore.ops; load it with mindspore.load" if known else "is not supported here"
            raise UnknownOperationError(f"The model uses the operation '{name}', which {hint}.")
        return found

    def branch(self, predicate: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        return interpreted(choose, predicate, then, otherwise)

    def not_compiled(self, reason: str) -> Exception:
        """What makes the caller run the model step by step instead."""
        return values.ValueUnknownError(f"{reason}; it is run step by step")

    def loop(self, test: Callable, body: Callable, state: tuple) -> tuple:
        return interpreted(repeat, test, body, state)


def _accepted(made: Callable) -> dict[str, Any]:
    """The settings of an operation, with their defaults."""
    parameters = inspect.signature(made.__init__ if isinstance(made, type) else made).parameters.values()  # type: ignore[misc]
    own = {p.name: p.default for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return own | dict(getattr(made, "defaults", {}))


def _as_flag(default: Any, value: Any) -> Any:
    """Files have 0 and 1 for some flags."""
    return bool(value) if isinstance(default, bool) and isinstance(value, int) and value in (0, 1) else value


#: attributes of windows that are stored with two leading dimensions, and how many there are without
_WINDOWS = {
    **dict.fromkeys(("Conv2D", "Conv2DTranspose", "Conv2DBackpropInput", "Conv2DBackpropFilter"), 2),
    **dict.fromkeys(("MaxPool", "MaxPoolGrad", "MaxPoolWithArgmaxV2"), 2),
    **dict.fromkeys(("Conv3D", "MaxPool3D", "AvgPool3D"), 3),
}
_WINDOW_NAMES = frozenset(("stride", "strides", "dilation", "kernel_size", "pads"))


def _spatial(op: str, name: str, value: Any) -> Any:
    """Windows are stored with two leading ones; ours have spatial dimensions only."""
    if op in _WINDOWS and name in _WINDOW_NAMES and isinstance(value, (tuple, list)):
        if op == "MaxPoolWithArgmaxV2" and name == "pads":
            return tuple(value[-2:]) if value[:2] == (1, 1) and len(value) == 4 else value
        return tuple(value[-_WINDOWS[op] :])
    if name == "pad_mode" and isinstance(value, str):
        return value.lower()
    if name == "ceil_mode":  # MaxPool3D's may also be None, so its default does not tell
        return bool(value)
    if name == "argmax_type" and isinstance(value, int):
        return TYPES_BY_ID.get(value, mstype.int64 if value == 4 else mstype.int32)
    if name == "dtype" and isinstance(value, int) and value in TYPES_BY_ID:
        return TYPES_BY_ID[value]
    return value
