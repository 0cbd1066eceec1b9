"""Hooks on cells: functions that see, and may replace, what goes in and out of a cell, forward and backward."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore.common.autograd import saved_tensors_hooks
from mindspore.common.changes import note_change
from mindspore.common.compiled import CompiledFunction
from mindspore.common.parameter import Parameter
from mindspore.prims.hooks import GradientHook, all_replaced
from mindspore.prims.structure import with_parts
from mindspore.prims.values import TensorBase

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__ms_treatment__ = "called"  # by the compiler: see compiler/parse/source.py

_ids = itertools.count()
_KINDS = ("_forward_pre_hooks", "_forward_hooks", "_backward_hooks", "_backward_pre_hooks", "_parameter_hooks")


class HookHandle:
    """Returned by the `register_*_hook` methods; `remove()` undoes the registration."""

    def __init__(self, hooks: OrderedDict, key: int):
        self._hooks = hooks
        self._key = key

    def remove(self) -> None:
        """Take the hook away; calling it twice does nothing."""
        self._hooks.pop(self._key, None)
        note_change()


class HookMixin:
    """The hook part of Cell."""

    def _init_hooks(self) -> None:
        for name in _KINDS:
            self.__dict__[name] = OrderedDict()

    def _hook_keys(self) -> list[int]:
        """Identifies the hooks registered now."""
        return [key for kind in _KINDS for key in self.__dict__[kind]]

    def _register(self, store: OrderedDict, hook: Callable, options: Any, prepend: bool) -> HookHandle:
        if not callable(hook) or isinstance(hook, CompiledFunction):
            kind = "a compiled function" if isinstance(hook, CompiledFunction) else type(hook).__name__
            raise TypeError(f"a hook must be a plain Python function, but got {kind}.")
        note_change()
        key = next(_ids)
        store[key] = (hook, options)
        if prepend:
            store.move_to_end(key, last=False)
        return HookHandle(store, key)

    def register_forward_pre_hook(
        self, hook_fn: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call `hook_fn(cell, inputs)` before `construct`; a returned value replaces the inputs.

        Examples:
            >>> net = nn.ReLU()
            >>> _ = net.register_forward_pre_hook(lambda cell, inputs: (inputs[0] + 1,))
            >>> print(net(Tensor([2.0])))
            [3.]
        """
        return self._register(self._forward_pre_hooks, hook_fn, with_kwargs, prepend)  # type: ignore[attr-defined]

    def register_forward_hook(
        self, hook_fn: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookHandle:
        """Call `hook_fn(cell, inputs, output)` after `construct`; a returned value replaces the output.

        Examples:
            >>> net = nn.ReLU()
            >>> _ = net.register_forward_hook(lambda cell, inputs, output: output * 10)
            >>> print(net(Tensor([2.0])))
            [20.]
        """
        return self._register(self._forward_hooks, hook_fn, with_kwargs, prepend)  # type: ignore[attr-defined]

    def register_saved_tensors_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Say what is kept in the place of tensors that the gradient of `construct` needs, in PyNative mode
        (`mindspore.saved_tensors_hooks`): what `pack_hook` makes of each. `unpack_hook` makes a Tensor of that again.

        Examples:
            >>> net, kept = nn.Sigmoid(), []
            >>> net.register_saved_tensors_hooks(lambda t: kept.append(t.asnumpy()) or len(kept) - 1, lambda i: Tensor(kept[i]))
            >>> print(ops.grad(net)(Tensor([0.0])), len(kept))
            [0.25] 1
        """
        self.__dict__["_packing"] = saved_tensors_hooks(pack_hook, unpack_hook)

    def register_backward_hook(self, hook_fn: Callable) -> HookHandle:
        """Call `hook_fn(cell, grad_input, grad_output)` in the backward pass; a returned value replaces grad_input.

        Examples:
            >>> net, seen = nn.ReLU(), []
            >>> _ = net.register_backward_hook(lambda cell, grad_input, grad_output: seen.append(grad_output[0].item()))
            >>> _ = ops.grad(net)(Tensor([2.0]))
            >>> seen
            [1.0]
        """
        return self._register(self._backward_hooks, hook_fn, None, False)  # type: ignore[attr-defined]

    def register_backward_pre_hook(self, hook_fn: Callable) -> HookHandle:
        """Call `hook_fn(cell, grad_output)` before the cell's backward pass; a returned value replaces grad_output.

        Examples:
            >>> net, seen = nn.ReLU(), []
            >>> _ = net.register_backward_pre_hook(lambda cell, grad_output: seen.append(grad_output[0].item()))
            >>> _ = ops.grad(net)(Tensor([2.0]))
            >>> seen
            [1.0]
        """
        return self._register(self._backward_pre_hooks, hook_fn, None, False)  # type: ignore[attr-defined]

    def register_parameter_forward_hook(self, hook: Callable | list[dict[str, Any]]) -> None:
        """Have `construct` read hook(parameter) in place of a parameter, here and in the cells within.

        A function is asked for every parameter, `[{"params": [...], "hook": function}, ...]` for those named.

        Examples:
            >>> net = nn.PReLU(w=0.5)
            >>> net.register_parameter_forward_hook([{"params": [net.w], "hook": lambda w: w * 2}])
            >>> print(net(Tensor([[-1.0]])))
            [[-1.]]
        """
        cells = [cell for _, cell in self.cells_and_names()]  # type: ignore[attr-defined]
        if not isinstance(hook, list):
            for cell in cells:
                cell._register(cell._parameter_hooks, hook, None, False)
            return
        for group in hook:
            if not isinstance(group, dict) or set(group) != {"params", "hook"}:
                raise ValueError(
                    "For 'register_parameter_forward_hook', each group must be a dict of 'params' and 'hook', "
                    f"but got {group!r}."
                )
            named = _checked_parameters(group["params"])
            for cell in cells:
                names = {name for name, own in cell._params.items() if any(own is one for one in named)}
                if names:
                    cell._register(cell._parameter_hooks, group["hook"], names, False)

    def _parameter_as_read(self, name: str, parameter: Any) -> Any:
        for hook, names in self._parameter_hooks.values():  # type: ignore[attr-defined]
            if names is None or name in names:
                parameter = hook(parameter)
        return parameter

    def _run_forward_pre_hooks(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        for hook, with_kwargs in list(self._forward_pre_hooks.values()):  # type: ignore[attr-defined]
            if with_kwargs:
                result = hook(self, args, kwargs)
                if result is not None:
                    if not isinstance(result, tuple) or len(result) != 2:
                        raise RuntimeError(
                            "A forward pre hook with kwargs must return None or a tuple of (new_args, new_kwargs), "
                            f"but got {result!r}."
                        )
                    args, kwargs = result
            else:
                result = hook(self, args)
                if result is not None:
                    args = result if isinstance(result, tuple) else (result,)
        return args, kwargs

    def _run_forward_hooks(self, args: tuple, kwargs: dict, out: Tensor) -> Any:
        for hook, with_kwargs in list(self._forward_hooks.values()):  # type: ignore[attr-defined]
            result = hook(self, args, kwargs, out) if with_kwargs else hook(self, args, out)
            out = out if result is None else result
        return out

    def _has_backward_hooks(self) -> bool:
        return bool(self._backward_hooks or self._backward_pre_hooks)  # type: ignore[attr-defined]

    def _backward_entry(self, args: tuple) -> BackwardHooks | None:
        return BackwardHooks(self) if any(isinstance(a, TensorBase) for a in args) else None


def _checked_parameters(given: Any) -> list[Any]:
    for one in given:
        if not isinstance(one, Parameter):
            raise TypeError(
                f"For 'register_parameter_forward_hook', 'params' must hold Parameters, but got {type(one).__name__}."
            )
    return list(given)


class BackwardHooks:
    """Brackets one call of a cell with identity primitives whose gradient rules run the hooks."""

    def __init__(self, cell: Any):
        self.cell = cell
        self.grad_output: tuple = ()

    def watch_inputs(self, args: tuple) -> tuple:
        places = [i for i, a in enumerate(args) if isinstance(a, TensorBase)]
        watched = GradientHook(self._on_inputs)(*(args[i] for i in places))
        replaced = list(args)
        for place, value in zip(places, watched):
            replaced[place] = value
        return tuple(replaced)

    def watch_output(self, out: Any) -> Any:
        if isinstance(out, TensorBase):
            return GradientHook(self._on_outputs)(out)[0]
        if isinstance(out, (tuple, list)) and out and all(isinstance(o, TensorBase) for o in out):
            return with_parts(out, list(GradientHook(self._on_outputs)(*out)))
        return out

    def _on_outputs(self, grads: tuple) -> tuple:
        for hook, _ in list(self.cell._backward_pre_hooks.values()):
            grads = all_replaced(grads, hook(self.cell, grads))
        self.grad_output = grads
        return grads

    def _on_inputs(self, grads: tuple) -> tuple:
        for hook, _ in list(self.cell._backward_hooks.values()):
            grads = all_replaced(grads, hook(self.cell, grads, self.grad_output))
        return grads
