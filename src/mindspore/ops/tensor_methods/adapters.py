"""How functions become methods: several spellings of an argument, second names, results stored in place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast
from mindspore.prims import active
from mindspore.prims.inplace import update
from mindspore.prims.views import is_eager, link


def gathered(args: tuple) -> Any:
    """`f(2, 3)` and `f((2, 3))` mean the same."""
    return args[0] if len(args) == 1 and isinstance(args[0], (tuple, list, Tensor)) else args

SYNONYMS = {"dim": "axis", "keepdim": "keepdims", "keep_dims": "keepdims"}


def as_method_of(function: Callable, method: Callable) -> Callable:
    """`method` with the name, the words and the signature of the function it adapts."""
    method.__name__, method.__doc__ = function.__name__, function.__doc__
    method.__wrapped__ = function  # type: ignore[attr-defined]
    return method


def reduction(function: Callable, *order: str, **renamed: str) -> Callable:
    """A method that accepts every spelling of axis and keepdims; `order` names its positional arguments."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if len(args) > len(order):
            raise TypeError(f"Tensor.{function.__name__} takes at most {len(order)} arguments, but got {len(args)}.")
        settings = {SYNONYMS.get(k, k): v for k, v in kwargs.items()}
        for name, value in zip(order, args):
            if name == "dtype" and isinstance(value, bool):
                name = "keepdims"  # sum(dim, keepdim) beside sum(axis, dtype, keepdims)
            if name in settings:
                raise TypeError(f"Tensor.{function.__name__} got '{name}' twice.")
            settings[name] = value
        return function(self, **{renamed.get(k, k): v for k, v in settings.items()})

    return as_method_of(function, method)


def extreme(plain: Callable, paired: Callable) -> Callable:
    """x.max() and x.max(axis=…) give values; x.max(dim=…) gives values and indices.

    What x.max(1) means depends on the mode in official MindSpore, and scripts rely on it: in a graph it is the axis,
    in PyNative mode the dim.
    """

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        with_indices = kwargs.pop("return_indices", False)
        if "dim" in kwargs or "keepdim" in kwargs:
            with_indices = True
        elif args and isinstance(args[0], int) and not {"keepdims", "initial", "where"} & kwargs.keys():
            with_indices = with_indices or not (active.building() or active.ACTIVE.eagerly)
        settings = {SYNONYMS.get(k, k): v for k, v in kwargs.items()}
        settings.update(zip(("axis", "keepdims"), args))
        if settings.get("where") is True:
            del settings["where"]
        if with_indices and settings.get("axis") is not None:
            return paired(self, **settings)
        return plain(self, **settings)

    name = method.__name__ = paired.__name__
    kind, result = ("largest", 5.0) if name == "max" else ("smallest", 1.0)
    method.__doc__ = (
        f"The {kind} element, or the {kind} along `axis`; {name}(dim) also gives where they stand.\n\n    Examples:\n"
        f"        >>> from mindspore import Tensor\n        >>> Tensor([1.0, 5.0]).{name}().item()\n        {result}\n    "
    )
    return method


def second_name(function: Callable, other: str) -> Callable:
    """A method of one argument, `other`, that has a second name from an older signature."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if other in kwargs:
            kwargs["other"] = kwargs.pop(other)
        return function(self, *args, **kwargs)

    return as_method_of(function, method)


def spread(function: Callable) -> Callable:
    """std and var: by `axis` with ddof 0, by `dim` with correction 1."""

    def method(self: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False, **kwargs: Any) -> Tensor:
        if kwargs.keys() & {"dim", "correction"}:
            axis, ddof = kwargs.pop("dim", axis), kwargs.pop("correction", 1)
        keepdims = kwargs.pop("keepdim", keepdims)
        if kwargs:
            raise TypeError(f"Tensor.{function.__name__} has no argument {next(iter(kwargs))!r}.")
        return function(self, axis, ddof, keepdims)

    return as_method_of(function, method)


def renamed(function: Callable, **synonyms: str) -> Callable:
    """A method that also accepts other names of its arguments."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **{synonyms.get(k, k): v for k, v in kwargs.items()})

    return as_method_of(function, method)


def _of_base(function: Callable, args: tuple, kwargs: dict[str, Any], base: Tensor, number: int | None = None) -> Any:
    out = function(base, *args, **kwargs)
    return out if number is None else out[number]


def viewing(function: Callable) -> Callable:
    """A method whose results are views of the tensor in PyNative mode: elements in other places, none of them computed."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        out = function(self, *args, **kwargs)
        if not is_eager(self):
            return out
        again = partial(_of_base, function, args, kwargs)
        if not isinstance(out, (tuple, list)):
            return link(out, self, again)
        for i, part in enumerate(out):
            link(part, self, partial(again, number=i))
        return out

    return as_method_of(function, method)


def inplace(function: Callable, example: str = "") -> Callable:
    """The method x.f_(…) that stores f(x, …) in x."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        out = function(self, *args, **kwargs)
        if out.shape != self.shape:
            raise ValueError(
                f"an in-place operation cannot change the shape of a tensor from {self.shape} to {out.shape}."
            )
        return update(self, cast(out, self.dtype))

    name = function.__name__.removeprefix("_")
    words = f"`{name}`, with the result stored in this tensor, which keeps its type."
    as_method_of(function, method).__doc__ = f"{words}\n{example}" if example else words
    method.__name__ = f"{name}_"
    return method
