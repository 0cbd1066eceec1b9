"""Older names of functions, and functions that are a method or an attribute of their first argument."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from mindspore.ops import function as F
from mindspore.prims import elementwise as ew
from mindspore.prims.debug import Print, TensorDump

tensor_add, tensor_sub, tensor_mul, tensor_div = F.add, F.sub, F.mul, ew.RealDiv()
tensor_muls, tensor_mod, tensor_floordiv = F.mul, ew.FloorMod(), F.floor_divide
tensor_pow = pows = F.pow
tensor_exp, tensor_expm1 = F.exp, F.expm1
tensor_lt, tensor_le, tensor_gt, tensor_ge = F.lt, F.le, F.gt, F.ge
tensor_slice, tensor_range = F.slice, F.range
floordiv, floormod = F.floor_divide, F.floor_mod
neg_tensor = F.neg
isnan_ext, einsum_ext, baddbmm_ext, diff_ext, float_power_ext = F.isnan, F.einsum, F.baddbmm, F.diff, F.float_power
merge = F.identity
stop_gradient_ = F.stop_gradient

tuple_div = F.div
print_ = Print()


def tensordump(file_name: str, tensor: Any, mode: str = "out") -> None:
    """Save a tensor as `file_name_<type>_<number>.npy`.

    Examples:
        >>> from pathlib import Path
        >>> ops.tensordump("weights", Tensor([1.0, 2.0]))
        >>> len(list(Path().glob("weights_*.npy")))
        1
    """
    TensorDump(mode)(file_name, tensor)


def move_to(input: Any, to: str = "CPU", blocking: bool = True) -> Any:
    """The tensor itself: there is one memory here.

    Examples:
        >>> print(ops.move_to(Tensor([1.0]), "CPU"))
        [1.]
    """
    if to not in ("CPU", "Ascend", "GPU"):
        raise ValueError(f"For 'move_to', 'to' must be CPU, GPU or Ascend, but got {to!r}.")
    return input


def control_depend(src: Any, dst: Any) -> None:
    """Programs run in the order they are written, so nothing is needed.

    Examples:
        >>> ops.control_depend(Tensor([1.0]), Tensor([2.0])) is None
        True
    """


def _method(name: str) -> Callable:
    """The function that calls a tensor's own method."""

    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(input, name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`input.{name}(…)`."
    return call


bernoulli_, clamp_, erfinv_, exponential_ = (_method(f"{n}_") for n in ("bernoulli", "clamp", "erfinv", "exponential"))
normal_, put_, random_, uniform_ = (_method(f"{n}_") for n in ("normal", "put", "random", "uniform"))
tanh_, zero_, inplace_sigmoid = _method("tanh_"), _method("zero_"), _method("sigmoid_")

# The parts of sparse tensors.
coo_tensor_get_indices = csr_tensor_get_indices = row_tensor_get_indices = operator.attrgetter("indices")
coo_tensor_get_values = csr_tensor_get_values = row_tensor_get_values = operator.attrgetter("values")
coo_tensor_get_dense_shape = csr_tensor_get_dense_shape = operator.attrgetter("shape")
row_tensor_get_dense_shape = operator.attrgetter("dense_shape")
csr_tensor_get_indptr = operator.attrgetter("indptr")
csr2coo, coo2csr = _method("to_coo"), _method("to_csr")


class _OperatorRegistry:
    """Operations by name, as framework code looks them up."""

    def __init__(self) -> None:
        self.own: dict[str, Any] = {}

    def register(self, name: str, operation: Any) -> None:
        """Add an operation under a name."""
        self.own[name] = operation

    def get(self, name: str) -> Any:
        """The operation registered under a name, or that of `mindspore.ops`."""
        from mindspore.ops.paths import find

        return self.own[name] if name in self.own else find(name)


tensor_operator_registry = _OperatorRegistry()

__all__ = [
    "baddbmm_ext", "bernoulli_", "clamp_", "control_depend", "coo2csr", "coo_tensor_get_dense_shape",
    "coo_tensor_get_indices", "coo_tensor_get_values", "csr2coo", "csr_tensor_get_dense_shape",
    "csr_tensor_get_indices", "csr_tensor_get_indptr", "csr_tensor_get_values", "diff_ext", "einsum_ext", "erfinv_",
    "exponential_", "float_power_ext", "floordiv", "floormod", "inplace_sigmoid", "isnan_ext", "merge", "move_to",
    "neg_tensor", "normal_", "pows", "print_", "put_", "random_", "row_tensor_get_dense_shape",
    "row_tensor_get_indices", "row_tensor_get_values", "stop_gradient_", "tanh_", "tensor_add", "tensordump", "tensor_div",
    "tensor_exp", "tensor_expm1", "tensor_floordiv", "tensor_ge", "tensor_gt", "tensor_le", "tensor_lt",
    "tensor_mod", "tensor_mul", "tensor_muls", "tensor_operator_registry", "tensor_pow", "tensor_range",
    "tensor_slice", "tensor_sub", "tuple_div", "uniform_", "zero_",
]  # fmt: skip
