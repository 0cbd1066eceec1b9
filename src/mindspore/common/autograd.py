"""Eager gradients under the user's control: custom functions, switching recording off, what is kept for the backward pass."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindspore.compiler import parse
from mindspore.prims.active import ACTIVE
from mindspore.prims.elementwise import StopGradient
from mindspore.prims.hooks import reduce_gradient
from mindspore.prims.structure import with_parts
from mindspore.prims.values import TensorBase
from mindspore.runtime import tape as tapes


class _GradSwitch:
    """A context manager and decorator that stops (or allows) the recording of gradients."""

    def __init__(self, enabled: bool):
        self.enabled = enabled
        self._saved: list[Any] = []

    def __enter__(self) -> None:
        if ACTIVE.builder is not None:
            root = ACTIVE.builder.root
            self._saved.append(root.recording)
            root.recording = self.enabled
            return
        self._saved.append((ACTIVE.tapes, ACTIVE.suspended))
        if self.enabled:
            ACTIVE.tapes = ACTIVE.tapes or ACTIVE.suspended
        else:
            ACTIVE.tapes, ACTIVE.suspended = (), ACTIVE.tapes or ACTIVE.suspended

    def __exit__(self, *exc: Any) -> None:
        if ACTIVE.builder is not None:
            ACTIVE.builder.root.recording = self._saved.pop()
        else:
            ACTIVE.tapes, ACTIVE.suspended = self._saved.pop()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with type(self)(*self._arguments()):
                return function(*args, **kwargs)

        return wrapped

    def _arguments(self) -> tuple:
        return (self.enabled,)


class _no_grad(_GradSwitch):
    """`with _no_grad():` record nothing.

    Examples:
        >>> import mindspore as ms
        >>> def f(x):
        ...     with ms._no_grad():
        ...         y = x * 2
        ...     return x * y
        >>> ms.grad(f)(ms.Tensor(3.0)).asnumpy().item()
        6.0
    """

    def __init__(self) -> None:
        super().__init__(False)

    def _arguments(self) -> tuple:
        return ()


class _enable_grad(_GradSwitch):
    """`with _enable_grad():` record as usual."""

    def __init__(self) -> None:
        super().__init__(True)

    def _arguments(self) -> tuple:
        return ()


class _set_grad_enabled(_GradSwitch):
    """Record or not, by a flag."""


class FunctionContext:
    """Passed as first argument to `forward` and `backward` of a custom function."""

    def __init__(self) -> None:
        self.saved_tensors: tuple = ()
        self.needs_input_grad: tuple = ()
        self.materialize_grads = True
        self.non_differentiable: tuple = ()
        self.dirty: tuple = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for the backward pass."""
        self.saved_tensors = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """These arguments were updated in place; they must be among the results."""
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """These outputs have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing output gradients arrive as zeros (True) or None."""
        self.materialize_grads = value


class _Function:
    """A function with its own gradient: subclass with static methods `forward(ctx, …)` and `backward(ctx, *grads)`.

    Examples:
        >>> import mindspore as ms
        >>> class Double(ms._Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         return grad * 20
        >>> ms.grad(Double.apply)(ms.Tensor(1.0)).asnumpy().item()
        20.0
    """

    @staticmethod
    def forward(ctx: FunctionContext, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a custom function must define the static method 'forward'.")

    @staticmethod
    def backward(ctx: FunctionContext, *grads: Any) -> Any:
        raise TypeError("a custom function must define the static method 'backward'.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        if ACTIVE.builder is not None:
            return _trace_function(cls, args, kwargs)
        ctx = FunctionContext()
        ctx.needs_input_grad = tuple(any(tape.tracks(a) for tape in ACTIVE.tapes) for a in args)
        call = tapes.Call(args)
        with tapes.paused():
            out = cls.forward(ctx, *args, **kwargs)
        check_dirty(ctx, out)
        return call.finish(_rule(cls, ctx), cls.__name__, out, ctx.non_differentiable)


def _rule(cls: type[_Function], ctx: FunctionContext) -> Any:
    def bprop(*parts: Any) -> tuple:
        *inputs, _, dout = parts
        grads = cls.backward(ctx, *(dout if isinstance(dout, tuple) else (dout,)))
        return fit_gradients(cls.__name__, inputs, grads)

    return bprop if ctx.materialize_grads else tapes.TakesNone(bprop)


def _results(out: Any) -> tuple:
    return tuple(out) if isinstance(out, (tuple, list)) else (out,)


def check_dirty(ctx: FunctionContext, out: Any) -> None:
    if not all(any(tensor is o for o in _results(out)) for tensor in ctx.dirty):
        raise RuntimeError("The dirty tensors must all be outputs of the forward function.")


def fit_gradients(name: str, inputs: Any, grads: Any) -> tuple:
    """What a user's gradient rule gave, one gradient or None per input, summed over dimensions that the input was
    broadcast along."""
    grads = tuple(grads) if isinstance(grads, (tuple, list)) else (grads,)
    if len(grads) < len(inputs) or any(g is not None for g in grads[len(inputs) :]):
        raise RuntimeError(
            f"Function backward return a wrong number of gradients: '{name}' has {len(inputs)} inputs, "
            f"but its backward gave {len(grads)} gradients."
        )
    return tuple(_fit_gradient(name, i, value, grad) for i, (value, grad) in enumerate(zip(inputs, grads)))


def _fit_gradient(name: str, place: int, value: Any, grad: Any) -> Any:
    if grad is None:
        return None
    if not isinstance(grad, TensorBase):
        raise RuntimeError(
            f"Gradient should be none or tensor, but the backward of '{name}' gave {grad!r} for input {place}."
        )
    if not isinstance(value, TensorBase):
        raise RuntimeError(
            f"Input is not tensor, but gradient is not none: the backward of '{name}' must give None for input {place}."
        )
    return reduce_gradient(name, place, value, grad)


def _trace_function(cls: type[_Function], args: tuple, kwargs: dict) -> Any:
    """In a graph: forward is interpreted, backward becomes the gradient rule of its results."""
    ctx = FunctionContext()
    interpreter = ACTIVE.builder.root.interpreter

    constants: list[bool] = []

    def construct(*inner: Any, **named: Any) -> Any:
        out = parse.call(cls.forward, (ctx, *inner), named)
        check_dirty(ctx, out)
        constants.extend(any(o is c for c in ctx.non_differentiable) for o in _results(out))
        return out

    def bprop(_: Any, *parts: Any) -> tuple:
        *inputs, _out, dout = parts
        grads = parse.call(cls.backward, (ctx, *(dout if isinstance(dout, tuple) else (dout,))))
        return fit_gradients(cls.__name__, inputs, grads)

    construct.__module__ = bprop.__module__ = "mindspore.common.autograd"
    out = interpreter.call_with_bprop(construct, bprop, cls, args, kwargs)
    if not any(constants):
        return out
    parts = [StopGradient()(o) if constant else o for o, constant in zip(_results(out), constants)]
    return with_parts(out, parts) if isinstance(out, (tuple, list)) else parts[0]


class saved_tensors_hooks:
    """Say, as a context or a decorator, what is kept for the gradient in the place of tensors: on disk, in fewer bits …

    In PyNative mode `pack_hook` is called with what the gradient rule of an operation looks at: both factors of a product, the
    result of an exponential, nothing of a sum. What it returns is kept; of a `bprop` of your own all arguments and results are.
    The backward pass calls `unpack_hook` with that and computes with the Tensor it returns. Of nested contexts the innermost
    counts. Graphs plan their memory themselves and call neither.

    Examples:
        >>> kept = []
        >>> with ms.saved_tensors_hooks(lambda t: kept.append(t.asnumpy()) or len(kept) - 1, lambda i: Tensor(kept[i])):
        ...     print(ms.grad(lambda x: x * x)(Tensor(3.0)))
        6.0
        >>> len(kept)
        2
    """

    def __init__(self, pack_hook: Callable, unpack_hook: Callable):
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"For 'saved_tensors_hooks', '{name}' must be a function, but got {hook!r}.")
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook
        self._outer: list[tuple] = []

    def __enter__(self) -> None:
        self._outer.append(ACTIVE.packing)
        ACTIVE.packing = (self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc: Any) -> None:
        ACTIVE.packing = self._outer.pop()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with saved_tensors_hooks(self.pack_hook, self.unpack_hook):
                return function(*args, **kwargs)

        return run


register_saved_tensors_hooks = saved_tensors_hooks
__all__ = ["_Function", "_enable_grad", "_no_grad", "_set_grad_enabled", "saved_tensors_hooks"]
