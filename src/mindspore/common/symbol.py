"""What is known about a dimension whose size is only known at run time."""

from __future__ import annotations

from typing import Any


class Symbol:
    """A dimension with bounds and divisibility: it is `divisor * k + remainder`, at least `min` and at most `max`.

    A `max` of 0 means no bound; `unique` says that equal symbols stand for equal sizes.

    Examples:
        >>> import mindspore
        >>> from mindspore import Symbol, Tensor
        >>> x = Tensor(shape=(Symbol(max=64, divisor=8), 16), dtype=mindspore.float32)
    """

    def __init__(
        self, max: int = 0, min: int = 1, divisor: int = 1, remainder: int = 0, unique: bool = False, **kwargs: Any
    ):
        for name, value in (("max", max), ("min", min), ("divisor", divisor), ("remainder", remainder)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For 'Symbol', the argument '{name}' must be int, but got {type(value)}")
        if not isinstance(unique, bool):
            raise TypeError(f"For 'Symbol', the argument 'unique' must be bool, but got {type(unique)}")
        for name, value in (("min", min), ("divisor", divisor)):
            if value < 1:
                raise ValueError(f"For 'Symbol', the '{name}' value should be positive, but got {value}")
        if not 0 <= remainder < divisor:
            raise ValueError(
                f"For 'Symbol', the 'remainder' value should be in the range '[0, {divisor})', but got {remainder}"
            )
        self.max, self.min, self.divisor, self.remainder, self.unique = max, min, divisor, remainder, unique
        self.id = id(self)

    @property
    def least(self) -> int:
        """The least size that it may stand for."""
        return self.remainder + self.divisor * max(0, -((self.remainder - max(self.min, 1)) // self.divisor))

    def problem(self, size: int) -> str:
        """What a size must be to be one that this may stand for; "" if it is."""
        if size < self.min:
            return f"must be at least {self.min}"
        if self.max and size > self.max:
            return f"must be at most {self.max}"
        if size % self.divisor != self.remainder:
            return f"must be {self.divisor} * N + {self.remainder}"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """What differs from nothing being known."""
        found: dict[str, Any] = {}
        if self.max > self.min:
            found["max"] = self.max
        if self.min > self.divisor:
            found["min"] = self.min
        if self.divisor != 1:
            found["divisor"] = self.divisor
        if self.remainder:
            found["remainder"] = self.remainder
        if self.unique:
            found["id"] = self.id
        return found

    def __str__(self) -> str:
        return str(self.to_dict())
