"""Layouts of tensors over devices, and functions whose inputs are cut by them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from mindspore.prims.mesh import laid_call
from mindspore.prims.strategy_form import check_inputs_form

_INTERLEAVED = "interleaved_parallel"


class Layout:
    """How a tensor is cut over an arrangement of devices whose dimensions have names.

    Args:
        device_matrix: the arrangement, for example (2, 2, 2).
        alias_name: a name for each of its dimensions.
        rank_list: the devices in order; 0, 1, 2 … by default.

    Calling a layout with one entry for each dimension of a tensor (a name, a tuple of names, or "None": not cut) gives
    the layout of such a tensor.

    Examples:
        >>> from mindspore import Layout
        >>> layout = Layout((2, 2, 2), ("dp", "sp", "mp"))
        >>> layout("dp", ("sp", "mp")).to_dict()["tensor_map"]
        (2, (1, 0))
    """

    def __init__(self, device_matrix: tuple, alias_name: tuple, rank_list: list | None = None):
        _check_tuple("device_matrix", device_matrix, int)
        _check_tuple("alias_name", alias_name, str)
        if len(device_matrix) != len(alias_name):
            raise ValueError("device_matrix length should be equal to alias_name length")
        if "" in alias_name:
            raise ValueError("The element of alias_name can not be empty.")
        if "None" in alias_name:
            raise ValueError("The element of alias_name can not set 'None', because 'None' means no sharding.")
        if len(set(alias_name)) != len(alias_name):
            raise ValueError(f"Each element of alias_name {alias_name} should be different")
        if _INTERLEAVED in alias_name[:-1]:
            raise ValueError(
                f"When alias_name {alias_name} contains keyword '{_INTERLEAVED}', it should be at the last dim of "
                "alias_name, which means the virtual sharding."
            )
        self._device_shape, self._alias_name = device_matrix, alias_name
        self._rank_list = self._ranks(rank_list)
        self._tensor_map: tuple | None = None

    def _ranks(self, rank_list: Any) -> list[int]:
        real = self._device_shape[:-1] if self._alias_name[-1:] == (_INTERLEAVED,) else self._device_shape
        count = math.prod(real)
        if rank_list is None:
            return list(range(count))
        if not isinstance(rank_list, list):
            raise TypeError(f"The rank_list should be a list, but got {type(rank_list).__name__}.")
        if len(rank_list) != count:
            raise ValueError(
                "The length of rank_list should be equal to the product of device_matrix, "
                f"but got {len(rank_list)} and {count}."
            )
        return list(rank_list)

    def __call__(self, *tensor_map: Any) -> Layout:
        cut = copy.copy(self)
        used: list[str] = []
        cut._tensor_map = tuple(self._entry(entry, used) for entry in tensor_map)
        return cut

    def _entry(self, entry: Any, used: list[str]) -> Any:
        if isinstance(entry, tuple):
            return tuple(self._entry(name, used) for name in entry)
        if entry == "None":
            return -1
        if entry not in self._alias_name:
            raise ValueError(f"The axis {entry} is not found in {self._alias_name}")
        if entry in used:
            raise ValueError(f"The axis {entry} has been set more than one in {self._alias_name}")
        used.append(entry)
        return len(self._alias_name) - 1 - self._alias_name.index(entry)

    def to_dict(self) -> dict[str, Any]:
        """The layout in numbers: entry i of `tensor_map` counts device dimensions from the last; -1 is not cut."""
        if self._tensor_map is None:
            raise ValueError("The tensor_map of layout is None")
        return {
            "device_matrix": self._device_shape,
            "tensor_map": self._tensor_map,
            "interleaved_parallel": _INTERLEAVED in self._alias_name,
            "alias_name": self._alias_name,
            "rank_list": self._rank_list,
        }

    def cuts(self) -> tuple[int, ...]:
        """Into how many parts each dimension is cut."""
        entries = self.to_dict()["tensor_map"]
        return tuple(
            math.prod(self._device_shape[-axis - 1] for axis in (e if isinstance(e, tuple) else (e,)) if axis != -1)
            for e in entries
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self._device_shape, self._alias_name, self._tensor_map, tuple(self._rank_list)))


def _check_tuple(name: str, value: object, kind: type) -> None:
    if not isinstance(value, tuple):
        raise TypeError(f"{name} must be tuple type, but got:{type(value)}")
    for element in value:
        if isinstance(element, bool) or not isinstance(element, kind):
            raise TypeError(f"The element of {name} must be {kind.__name__} type, but got:{type(element)}")


def shard(fn: Any, in_strategy: Any, out_strategy: Any = None, parameter_plan: dict | None = None) -> Any:
    """A function (or Cell) whose inputs and outputs are cut over devices.

    `in_strategy` has an entry for each input: a tuple of numbers of parts, a `Layout`, or None (as it comes). With one
    device there is nothing to cut: the function is returned with its strategies noted.

    Examples:
        >>> relu = ms.shard(nn.ReLU(), ((1,),))
        >>> print(relu(Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    if not callable(fn):
        raise TypeError(f"'fn' must be a Cell or a function, but got {type(fn).__name__}.")
    if hasattr(fn, "run_around"):  # a Cell
        return fn.shard(in_strategy, out_strategy, parameter_plan)
    check_inputs_form(in_strategy, out_strategy)
    if parameter_plan is not None:
        raise TypeError(f"A 'parameter_plan' names weights of a Cell, but 'fn' is a {type(fn).__name__}.")
    return ShardedFunction(fn, in_strategy, out_strategy)


class ShardedFunction:
    """A function whose tensor arguments and results are laid on devices as strategies say, where it is compiled for many."""

    def __init__(self, function: Callable, in_strategy: tuple, out_strategy: tuple | None):
        self.function, self.in_strategy, self.out_strategy = function, in_strategy, out_strategy
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __ms_trace__(self, interpreter: Any, args: tuple, kwargs: dict) -> Any:
        def call(*a: Any, **k: Any) -> Any:
            return interpreter.call(self.function, a, k)

        return laid_call(self.__name__, call, args, kwargs, self.in_strategy, self.out_strategy)
