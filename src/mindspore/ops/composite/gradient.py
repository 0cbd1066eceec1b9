"""GradOperation: the gradient interface of MindSpore 1.x, on top of `mindspore.grad`."""

from __future__ import annotations

from typing import Any

from mindspore._base import keys
from mindspore.common.gradient import Derivative, grad, value_and_grad

_MISSING: Any = object()


class GradOperation:
    """Makes gradient functions.

    Args:
        get_all: gradients of all inputs; otherwise of the first.
        get_by_list: gradients of the Parameters given as second argument (with `get_all`: of both).
        sens_param: the gradient function takes the sensitivity of the output as last argument.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import ops
        >>> ops.GradOperation()(lambda x: x * x)(ms.Tensor(3.0)).asnumpy().item()
        6.0
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False):
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'GradOperation', the '{name}' should be bool, but got {value!r}.")
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param
        self._made: dict[tuple, Derivative] = {}

    def __call__(self, fn: Any = _MISSING, weights: Any = None) -> Derivative:
        if fn is _MISSING:
            raise ValueError(
                "'GradOperation' requires a forward network or function as an input, while the input is empty."
            )
        if not callable(fn):
            raise TypeError(
                f"For 'GradOperation', the first argument must be a 'Function' or 'Cell', but got {type(fn).__name__}."
            )
        key = keys.exact((fn, weights))
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._make(fn, weights)
        return found

    def _make(self, fn: Any, weights: Any) -> Derivative:
        if not self.get_by_list:
            return Derivative(fn, "all" if self.get_all else 0, sens=self.sens_param)
        by_use = weights is None
        if by_use:
            weights = tuple(fn.trainable_params()) if hasattr(fn, "trainable_params") else ()
        return Derivative(fn, "all" if self.get_all else None, weights, sens=self.sens_param, by_use=by_use)

    def __ms_trace__(self, interpreter: Any, args: tuple, kwargs: dict) -> Derivative:
        return self(*args, **kwargs)


class _Grad(GradOperation):
    """The internal name some scripts use."""

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False, get_by_position: bool = False,
                 has_aux: bool = False, get_value: bool = False, return_ids: bool = False, merge_forward: bool = False):  # fmt: skip
        super().__init__(get_all, get_by_list, sens_param)
        self.get_by_position = get_by_position
        self.has_aux = has_aux
        self.get_value = get_value
        self.return_ids = return_ids

    def __call__(self, fn: Any, weights: Any = None, grad_position: Any = 0) -> Derivative:  # type: ignore[override]
        positions = (
            grad_position if self.get_by_position else ("all" if self.get_all else (None if self.get_by_list else 0))
        )
        return Derivative(fn, positions, weights if self.get_by_list else None, with_value=self.get_value, has_aux=self.has_aux,
                          sens=self.sens_param, return_ids=self.return_ids)  # fmt: skip


__all__ = ["GradOperation", "_Grad", "grad", "value_and_grad"]
