"""Buffers and state dictionaries of cells."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mindspore._base.dtype import DType, to_dtype
from mindspore.common.changes import note_change
from mindspore.common.tensor import Tensor
from mindspore.prims import checks
from mindspore.prims.valueless import Valueless
from mindspore.runtime import devices

__ms_treatment__ = "called"  # by the compiler: see compiler/parse/source.py


class Registry(OrderedDict):
    """Parameters or child cells by name; graphs made of the cell are told when it changes."""

    def __setitem__(self, key: str, value: Any) -> None:
        note_change()
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        note_change()
        super().__delitem__(key)

    def clear(self) -> None:
        note_change()
        super().clear()

    def pop(self, *args: Any) -> Any:
        note_change()
        return super().pop(*args)


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class _Buffer(Tensor):
    """A tensor that a Cell keeps as part of its state when it is assigned to an attribute.

    Examples:
        >>> from mindspore.common.parameter import _Buffer
        >>> net = nn.ReLU()
        >>> net.steps = _Buffer(Tensor([5]))
        >>> [name for name, _ in net.named_buffers()]
        ['steps']
    """

    def __init__(self, data: Tensor, *, persistent: bool = True):
        if not isinstance(data, Tensor):
            raise TypeError(f"For '_Buffer', 'data' must be a Tensor, but got {type(data).__name__}.")
        super().__init__(data)
        self.persistent = persistent


class StateMixin:
    """The state part of Cell."""

    if TYPE_CHECKING:  # what Cell itself has

        def __getattr__(self, name: str) -> Any: ...

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Keep a tensor that is not a parameter but belongs to the cell's state.

        Examples:
            >>> net = nn.ReLU()
            >>> net.register_buffer("steps", Tensor([5]))
            >>> print(net.steps)
            [5]
        """
        if not isinstance(name, str):
            raise TypeError(f"buffer name should be a string, but got {type(name).__name__}.")
        if "." in name or not name:
            raise KeyError(f'buffer name must not be empty or contain ".", but got {name!r}.')
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists.")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"buffer '{name}' must be a Tensor or None, but got {type(tensor).__name__}.")
        self._buffers[name] = tensor
        (self._non_persistent_buffers.discard if persistent else self._non_persistent_buffers.add)(name)

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their paths.

        Examples:
            >>> net = nn.ReLU()
            >>> net.register_buffer("steps", Tensor([5]))
            >>> [name for name, _ in net.named_buffers()]
            ['steps']
        """
        seen: set[int] = set()
        cells = self.cells_and_names(name_prefix=prefix) if recurse else [(prefix, self)]
        for path, cell in cells:
            for name, value in cell._buffers.items():
                if value is not None and not (remove_duplicate and id(value) in seen):
                    seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this cell and its children.

        Examples:
            >>> net = nn.ReLU()
            >>> net.register_buffer("steps", Tensor([5]))
            >>> [int(x) for x in net.buffers()]
            [5]
        """
        for _, value in self.named_buffers(recurse=recurse):
            yield value

    def get_buffer(self, target: str) -> Tensor:
        """A buffer by the path that leads to it.

        Examples:
            >>> net = nn.ReLU()
            >>> net.register_buffer("steps", Tensor([5]))
            >>> print(net.get_buffer("steps"))
            [5]
        """
        path, _, name = target.rpartition(".")
        cell = self.get_sub_cell(path)
        if name not in cell._buffers:
            raise AttributeError(f"{type(cell).__name__} has no attribute '{name}' that is a buffer.")
        return cell._buffers[name]

    def get_extra_state(self) -> Any:
        """What a subclass wants saved besides parameters and buffers.

        Examples:
            >>> class Counter(nn.Cell):
            ...     def get_extra_state(self):
            ...         return {"seen": 3}
            >>> Counter().get_extra_state()
            {'seen': 3}
        """
        raise RuntimeError("get_extra_state is called only where a Cell defines it.")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave.

        Examples:
            >>> class Counter(nn.Cell):
            ...     def set_extra_state(self, state):
            ...         self.seen = state["seen"]
            >>> net = Counter()
            >>> net.set_extra_state({"seen": 3})
            >>> net.seen
            3
        """
        raise RuntimeError("set_extra_state is called only where a Cell defines it.")

    def _state_hooks(self, name: str) -> list[Callable]:
        return self.__dict__.setdefault(name, [])

    def register_state_dict_pre_hook(self, hook: Callable) -> Any:
        """Call a function before state is collected.

        Examples:
            >>> net, seen = nn.Dense(2, 1), []
            >>> _ = net.register_state_dict_pre_hook(lambda *args: seen.append("before"))
            >>> _ = net.state_dict()
            >>> seen
            ['before']
        """
        return _appended(self._state_hooks("_state_dict_pre_hooks"), hook)

    def register_state_dict_post_hook(self, hook: Callable) -> Any:
        """Call a function after state is collected.

        Examples:
            >>> net, seen = nn.Dense(2, 1), []
            >>> _ = net.register_state_dict_post_hook(lambda *args: seen.append("after"))
            >>> _ = net.state_dict()
            >>> seen
            ['after']
        """
        return _appended(self._state_hooks("_state_dict_post_hooks"), hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> Any:
        """Call a function before state is loaded.

        Examples:
            >>> net, seen = nn.Dense(2, 1), []
            >>> _ = net.register_load_state_dict_pre_hook(lambda *args: seen.append("before"))
            >>> _ = net.load_state_dict(net.state_dict())
            >>> seen
            ['before']
        """
        return _appended(self._state_hooks("_load_state_dict_pre_hooks"), hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> Any:
        """Call a function after state is loaded.

        Examples:
            >>> net, seen = nn.Dense(2, 1), []
            >>> _ = net.register_load_state_dict_post_hook(lambda cell, keys: seen.append(cell.cls_name))
            >>> _ = net.load_state_dict(net.state_dict())
            >>> seen
            ['Dense']
        """
        return _appended(self._state_hooks("_load_state_dict_post_hooks"), hook)

    def state_dict(
        self, *args: Any, destination: dict | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict:
        """Parameters and persistent buffers by attribute path.

        Examples:
            >>> sorted(nn.SequentialCell(nn.Dense(2, 1)).state_dict())
            ['0.bias', '0.weight']
        """
        out = destination if destination is not None else OrderedDict()
        for hook in self._state_hooks("_state_dict_pre_hooks"):
            hook(self, prefix, keep_vars)
        for path, param in self.parameters_and_names():
            out[prefix + path] = param
        for path, cell in self.cells_and_names():
            for name, value in cell._buffers.items():
                if value is not None and name not in cell._non_persistent_buffers:
                    out[prefix + (f"{path}.{name}" if path else name)] = value
        for hook in self._state_hooks("_state_dict_post_hooks"):
            out = hook(self, out, prefix, {}) or out
        return out

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert parameters and buffers of floating point or complex numbers to another type.

        Called as `to(dtype)`, `to(device, dtype)` or `to(tensor)`; graphs place data on devices themselves, so a device is
        checked and has no further effect. What is on the device "meta" has no values: see `to_empty`.

        Examples:
            >>> import mindspore as ms
            >>> from mindspore import nn
            >>> nn.Dense(2, 2).to(ms.float16).weight.dtype
            mindspore.float16
        """
        dtype, device = _wanted(*args, **kwargs)
        if device is not None:
            if checks.is_meta("Cell.to", device):
                self.to_empty(device="meta")
            elif any(parameter.is_meta for parameter in self.get_parameters()):
                raise RuntimeError("For 'Cell.to', there are no values to move: the network is on the device 'meta'. Use Cell.to_empty().")
        if dtype is not None:
            if dtype.kind not in "fc":
                raise TypeError(f"For 'Cell.to', 'dtype' must be floating point or complex, but got {dtype}.")
            for param in self.get_parameters():
                if param.dtype.kind in "fc":
                    param.set_dtype(dtype)
            for _, cell in self.cells_and_names():
                for name, value in cell._buffers.items():
                    if value is not None and value.dtype.kind in "fc":
                        cell._buffers[name] = value.astype(dtype)
            note_change()
        return self

    def to_empty(self, *, device: str | None = None, recurse: bool = True) -> Any:
        """Give Parameters and buffers memory of their own, filled with zeros: what a network built on the device "meta"
        (`DeviceCtx`) lacks until it is initialised or loaded. On "meta", take their values away.

        Examples:
            >>> with ms.DeviceCtx("meta"):
            ...     net = nn.Dense(2, 3)
            >>> net.weight.is_meta, net.to_empty().weight.is_meta
            (True, False)
        """
        valueless = devices.is_meta() if device is None else checks.is_meta("Cell.to_empty", device)

        def renew(tensor: Tensor) -> None:
            tensor._data = Valueless(tensor.shape, tensor.dtype.np) if valueless else np.zeros(tensor.shape, tensor.dtype.np)

        for parameter in self.get_parameters(recurse):
            renew(parameter)
        for _, cell in self.cells_and_names() if recurse else [("", self)]:
            for value in cell._buffers.values():
                if value is not None:
                    renew(value)
        note_change()
        return self

    def run_construct(self, cast_inputs: tuple, kwargs: dict) -> Any:
        """Call `construct` with these arguments.

        Examples:
            >>> from mindspore import Tensor, nn
            >>> nn.ReLU().run_construct((Tensor([-1.0]),), {}).tolist()
            [0.0]
        """
        return self.construct(*cast_inputs, **kwargs)

    def remove_redundant_parameters(self) -> None:
        """Kept for scripts that call it: a cell holds each parameter once.

        Examples:
            >>> nn.Dense(2, 1).remove_redundant_parameters() is None
            True
        """

    def load_state_dict(self, state_dict: dict, strict: bool = True) -> IncompatibleKeys:
        """Copy values from a dictionary made by `state_dict`.

        Examples:
            >>> net, other = nn.Dense(2, 1), nn.Dense(2, 1)
            >>> _ = net.load_state_dict(other.state_dict())
            >>> bool((net.weight == other.weight).all())
            True
        """
        state = dict(state_dict)
        for hook in self._state_hooks("_load_state_dict_pre_hooks"):
            hook(self, state, "", {}, strict, [], [], [])
        own = self.state_dict()
        missing = [k for k in own if k not in state]
        unexpected = [k for k in state if k not in own]
        if strict and (missing or unexpected):
            raise RuntimeError(
                f"load_state_dict for {type(self).__name__}: missing keys {missing}, unexpected keys {unexpected}; "
                "pass strict=False to load what matches."
            )
        for name, target in own.items():
            if name in state:
                source = state[name] if isinstance(state[name], Tensor) else Tensor(state[name])
                if tuple(source.shape) != tuple(target.shape):
                    raise RuntimeError(
                        f"load_state_dict for {type(self).__name__}: '{name}' has shape "
                        f"{target.shape} here but {source.shape} there."
                    )
                target._data = source.astype(target.dtype).asnumpy().copy()
        result = IncompatibleKeys(missing, unexpected)
        for hook in self._state_hooks("_load_state_dict_post_hooks"):
            hook(self, result)
        return result


def _wanted(
    first: Any = None, second: Any = None, non_blocking: bool = False, *, device: Any = None, dtype: Any = None,
    tensor: Any = None,
) -> tuple[DType | None, str | None]:  # fmt: skip
    """The element type and the device among the arguments of `Cell.to`."""
    for given in (first, second, device, dtype, tensor):
        if isinstance(given, Tensor):
            return given.dtype, given.device
        if isinstance(given, str):
            device = given
        elif given is not None and not isinstance(given, bool):
            dtype = to_dtype(given)
    return dtype, device


def _appended(hooks: list, hook: Callable) -> Any:
    hooks.append(hook)

    class Handle:
        def remove(self) -> None:
            if hook in hooks:
                hooks.remove(hook)

    return Handle()
