"""The parts of the 1.x transformer: linear maps in a chosen precision, layer normalisation, argument checks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.nn.cell import Cell
from mindspore.nn.layer.activation import get_activation
from mindspore.nn.layer.dropout import Dropout

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


def activation_cell(owner: str, act: Any) -> Any:
    """An activation by name, class or None."""
    if act is None or isinstance(act, str):
        return None if act is None else get_activation(act)
    if isinstance(act, type) and issubclass(act, Cell):
        return act()
    raise TypeError(f"For '{owner}', 'hidden_act' must be the name of an activation or a Cell class, but got {act!r}.")


class _Dropout(Dropout):
    """Dropout by the share that is kept."""

    def __init__(self, keep_prob: float = 0.5, dtype: Any = mstype.float32):
        super().__init__(p=1 - keep_prob)


class _LayerNorm(Cell):
    """Layer normalisation over the last dimension, computed in float32."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, param_init_type: Any = mstype.float32,
        is_self_defined: bool = False,
    ):  # fmt: skip
        super().__init__()
        self.gamma = Parameter(initializer("ones", normalized_shape, param_init_type), name="gamma")
        self.beta = Parameter(initializer("zeros", normalized_shape, param_init_type), name="beta")
        self.eps = eps

    def construct(self, x: Tensor) -> Any:
        return ops.layer_norm(x, self.gamma.shape, self.gamma, self.beta, self.eps)

    def shard(self, *strategies: Any) -> Any:  # type: ignore[override]
        """One process: nothing to cut."""
        return self


class _Linear(Cell):
    """x wᵀ + b in `compute_dtype`; with several experts, one matrix each for (groups, experts, tokens, features)."""

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros",
        has_bias: bool = True, activation: Any = None, transpose_b: bool = True, expert_num: int = 1,
        outer_batch: int = 1, expert_group_size: Any = None, param_init_type: Any = mstype.float32,
        compute_dtype: Any = mstype.float16,
    ):  # fmt: skip
        super().__init__()
        shape: tuple = (out_channels, in_channels) if transpose_b else (in_channels, out_channels)
        shape = shape if expert_num == 1 else (expert_num, *shape)
        bias_shape = (out_channels,) if expert_num == 1 else (1, expert_num, 1, out_channels)
        self.in_channels, self.out_channels, self.expert_num = in_channels, out_channels, expert_num
        self.outer_batch, self.transpose_b, self.dtype = outer_batch, transpose_b, compute_dtype
        self.weight = Parameter(initializer(weight_init, shape, param_init_type), name="weight")
        self.bias = Parameter(initializer(bias_init, bias_shape, param_init_type), name="bias") if has_bias else None
        self.activation = activation_cell("_Linear", activation)

    def construct(self, x: Tensor) -> Any:
        shape = x.shape[:-1] + (self.out_channels,)
        if self.expert_num > 1:
            x = ops.reshape(x, (self.outer_batch, self.expert_num, -1, self.in_channels))
        else:
            x = ops.reshape(x, (-1, self.in_channels))
        weight = ops.cast(self.weight, self.dtype)
        if self.transpose_b:
            weight = ops.swapaxes(weight, -1, -2)
        out = ops.matmul(ops.cast(x, self.dtype), weight)
        if self.bias is not None:
            out = out + ops.cast(self.bias, self.dtype)
        if self.activation is not None:
            out = self.activation(out)
        return ops.reshape(out, shape)

    def shard(self, *strategies: Any, **named: Any) -> Any:  # type: ignore[override]
        """One process: nothing to cut."""
        return self


# -- argument checks ----------------------------------------------------------------------------------------------------
def _args_type_validator_check(*type_args: Any, **checks: Callable) -> Callable:
    """A decorator: check arguments by name with `check(value, name)`."""

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in checks:
                    checks[name](value, name)
            return function(*args, **kwargs)

        return checked

    return decorate


def _valid_type_checks(types: Any, class_name: str) -> Callable:
    """A check that a value is an instance of one of the types."""

    def check(value: object, name: str) -> None:
        if not isinstance(value, tuple(types)):
            words = ", ".join(t.__name__ for t in types)
            raise TypeError(
                f"For '{class_name}', the type of '{name}' must be one of {words}, but got {type(value).__name__}."
            )

    return check


def _valid_value_checks(values: Any, class_name: str) -> Callable:
    """A check that a value is one of the given ones."""

    def check(value: Any, name: str) -> None:
        if value not in values:
            raise TypeError(f"For '{class_name}', '{name}' must be one of {list(values)}, but got {value!r}.")

    return check


def _check_input_dtype(input_dtype: Any, param_name: str, allow_dtypes: Any, cls_name: str) -> None:
    _valid_value_checks(allow_dtypes, cls_name)(input_dtype, f"the dtype of {param_name}")


def _check_past_none_input_none(
    use_past: bool, param_name: str, func_name: str, default_value: Any, is_tensor: bool, is_default: bool
) -> bool:
    """Whether an input of incremental prediction is given exactly when it is needed."""
    if use_past and not is_tensor:
        raise TypeError(f"For '{func_name}', '{param_name}' must be a Tensor when 'use_past' is True.")
    if not use_past and not is_default:
        raise TypeError(f"For '{func_name}', '{param_name}' must be {default_value} when 'use_past' is False.")
    return True
