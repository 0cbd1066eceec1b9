"""Functions with given gradients, and linearisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.common.gradient import get_grad, grad, jvp, value_and_grad, vjp
from mindspore.common.vectorize import jacfwd, jacrev
from mindspore.compiler import parse
from mindspore.prims.active import ACTIVE
from mindspore.runtime import tape as tapes

__all__ = ["custom_vjp", "get_grad", "grad", "jacfwd", "jacrev", "jvp", "linearize", "value_and_grad", "vjp"]


class custom_vjp:
    """Decorator: a function whose gradient is set by `defbwd(bprop)`, where bprop(*args, out, dout) -> gradients.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.ops.function.grad import custom_vjp
        >>> @custom_vjp
        ... def f(x):
        ...     return x * 2
        >>> f.defbwd(lambda x, out, dout: (dout * 100,))
        >>> ms.grad(f)(ms.Tensor(1.0)).asnumpy().item()
        100.0
    """

    def __init__(self, fn: Callable):
        if not callable(fn):
            raise TypeError(f"For 'custom_vjp', the argument must be a function, but got {type(fn).__name__}.")
        self.fn = fn
        self.bwd: Callable | None = None
        self.__name__ = getattr(fn, "__name__", "custom_vjp")

    def defbwd(self, bwd: Callable) -> None:
        """Set the gradient."""
        self.bwd = bwd

    def __call__(self, *args: Any) -> Any:
        if ACTIVE.builder is not None:
            return self._trace(ACTIVE.builder.root.interpreter, args)
        if self.bwd is None or not ACTIVE.tapes:
            return self.fn(*args)
        call = tapes.Call(args)
        with tapes.paused():
            out = self.fn(*args)
        return call.finish(self._rule, self.__name__, out)

    def _rule(self, *parts: Any) -> tuple:
        grads = self.bwd(*parts)  # type: ignore[misc]
        return grads if isinstance(grads, tuple) else (grads,)

    def __ms_trace__(self, interpreter: Any, args: tuple, kwargs: dict) -> Any:
        return self._trace(interpreter, args)

    def _trace(self, interpreter: Any, args: tuple) -> Any:
        if self.bwd is None:
            return interpreter.call(self.fn, args, {})
        bwd = self.bwd

        def construct(*inner: Any) -> Any:
            return parse.call(self.fn, inner)

        def bprop(_: Any, *parts: Any) -> Any:
            return parse.call(bwd, parts)

        construct.__module__ = bprop.__module__ = __name__
        return interpreter.call_with_bprop(construct, bprop, self, args, {})


def linearize(fn: Any, inputs: Any) -> tuple[Any, Callable]:
    """The value of `fn` at `inputs` and the function from directions to directional derivatives there.

    Examples:
        >>> value, slope_along = ops.linearize(lambda x: x**2, Tensor([1.0, 3.0]))
        >>> print(slope_along(Tensor([1.0, 1.0])))
        [2. 6.]
    """
    points = inputs if isinstance(inputs, tuple) else (inputs,)
    value = parse.call(fn, points) if ACTIVE.builder is not None else fn(*points)

    def jvp_fn(*directions: Any) -> Any:
        v = directions[0] if len(directions) == 1 and isinstance(directions[0], tuple) else tuple(directions)
        return jvp(fn, inputs, v[0] if not isinstance(inputs, tuple) else v)[1]

    jvp_fn.__module__ = __name__
    return value, jvp_fn
