"""Older names of functions, and functions that are a method or an attribute of their first argument."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore.ops import functional as F
from mindspore.prims import elementwise as ew
from mindspore.prims.debug import Print, TensorDump
from mindspore.prims.inplace import detach

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

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
print_ = Print()


def tuple_div(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    """Whole numbers divided by whole numbers, without remainder.

    Examples:
        >>> ops.functional.tuple_div((8, 14, 20), (2, 2, 4))
        (4, 7, 5)
    """
    if len(x) != len(y):
        raise ValueError(f"The size of inputs of 'tuple_div' operator must be the same, but got {len(x)} and {len(y)}.")
    for a, b in zip(x, y):
        if not all(isinstance(number, int) and not isinstance(number, bool) for number in (a, b)):
            raise TypeError(
                f"The data type of inputs of 'tuple_div' operator should be an int64 number, but got {a!r} and {b!r}."
            )
        if b == 0:
            raise ZeroDivisionError(f"The divisor value should not be 0, but got {x} and {y}.")
        if a % b:
            raise ValueError(
                f"The inputs of 'tuple_div' operator should be divisible, but {a} is not divisible by {b}."
            )
    return tuple(a // b for a, b in zip(x, y))


def stop_gradient_(input: Tensor) -> Any:
    """`stop_gradient` in place: from here on the tensor is a constant for gradients.

    Examples:
        >>> def f(x):
        ...     y = x * x
        ...     ops.stop_gradient_(y)
        ...     return y * x
        >>> print(ops.grad(f)(Tensor(3.0)))
        9.0
    """
    return detach(input)


def tensordump(file_name: str, tensor: Tensor, mode: str = "out") -> None:
    """Save a tensor as `file_name_<type>_<number>.npy`.

    Examples:
        >>> from pathlib import Path
        >>> ops.tensordump("weights", Tensor([1.0, 2.0]))
        >>> len(list(Path().glob("weights_*.npy")))
        1
    """
    TensorDump(mode)(file_name, tensor)


def move_to(input: Any, to: str = "CPU", blocking: bool = True) -> Any:
    """`input.move_to(to, blocking)`: the tensor itself, there is one memory here.

    Examples:
        >>> print(ops.move_to(Tensor([1.0]), "CPU"))
        [1.]
    """
    return input.move_to(to, blocking)


def control_depend(src: Any, dst: Any) -> None:
    """Programs run in the order they are written, so nothing is needed.

    Examples:
        >>> ops.control_depend(Tensor([1.0]), Tensor([2.0])) is None
        True
    """


def _method(name: str, method: str, example: str) -> Callable:
    """The function that calls a tensor's own method."""

    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(input, method)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    lines = "".join(f"        {line}\n" for line in example.split("\n"))
    call.__doc__ = f"`input.{method}(…)`.\n\n    Examples:\n{lines}    "
    return call


bernoulli_ = _method("bernoulli_", "bernoulli_", ">>> x = ops.zeros(3)\n>>> print(ops.bernoulli_(x, 1.0))\n[1. 1. 1.]")
clamp_ = _method(
    "clamp_", "clamp_", ">>> x = Tensor([-3.0, 0.5, 9.0])\n>>> print(ops.clamp_(x, 0.0, 1.0))\n[0.  0.5 1. ]"
)
erfinv_ = _method(
    "erfinv_", "erfinv_", ">>> x = Tensor([0.0, 0.5])\n>>> print(ops.erfinv_(x))\n[0.         0.47693628]"
)
exponential_ = _method(
    "exponential_", "exponential_", ">>> x = ops.zeros(4)\n>>> bool((ops.exponential_(x) >= 0).all())\nTrue"
)
normal_ = _method("normal_", "normal_", ">>> x = ops.zeros(100)\n>>> bool(ops.normal_(x, 5.0, 0.1).mean() > 4)\nTrue")
put_ = _method(
    "put_", "put_",
    ">>> x = Tensor([1.0, 2.0, 3.0])\n>>> print(ops.put_(x, Tensor([0, 2]), Tensor([9.0, 8.0])))\n[9. 2. 8.]",
)  # fmt: skip
random_ = _method("random_", "random_", ">>> x = ops.zeros(5)\n>>> bool((ops.random_(x, 2, 4) >= 2).all())\nTrue")
uniform_ = _method(
    "uniform_", "uniform_", ">>> x = ops.zeros(4)\n>>> bool((ops.uniform_(x, 2.0, 3.0) >= 2).all())\nTrue"
)
tanh_ = _method("tanh_", "tanh_", ">>> x = Tensor([0.0, 1.0])\n>>> print(ops.tanh_(x))\n[0.        0.7615942]")
zero_ = _method("zero_", "zero_", ">>> x = Tensor([1.0, 2.0])\n>>> print(ops.zero_(x))\n[0. 0.]")
inplace_sigmoid = _method(
    "inplace_sigmoid", "sigmoid_", ">>> x = Tensor([0.0, 2.0])\n>>> print(ops.inplace_sigmoid(x))\n[0.5      0.880797]"
)
csr2coo = _method(
    "csr2coo", "to_coo",
    ">>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5.0, 6.0]), (2, 2))\n"
    ">>> print(ops.csr2coo(x).indices)\n[[0 1]\n [1 0]]",
)  # fmt: skip
coo2csr = _method(
    "coo2csr", "to_csr",
    ">>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([5.0, 6.0]), (2, 2))\n"
    ">>> print(ops.coo2csr(x).indptr)\n[0 1 2]",
)  # fmt: skip

# The parts of sparse tensors.
coo_tensor_get_indices = csr_tensor_get_indices = row_tensor_get_indices = operator.attrgetter("indices")
coo_tensor_get_values = csr_tensor_get_values = row_tensor_get_values = operator.attrgetter("values")
coo_tensor_get_dense_shape = csr_tensor_get_dense_shape = operator.attrgetter("shape")
row_tensor_get_dense_shape = operator.attrgetter("dense_shape")
csr_tensor_get_indptr = operator.attrgetter("indptr")


__all__ = [
    "baddbmm_ext", "bernoulli_", "clamp_", "control_depend", "coo2csr", "coo_tensor_get_dense_shape",
    "coo_tensor_get_indices", "coo_tensor_get_values", "csr2coo", "csr_tensor_get_dense_shape",
    "csr_tensor_get_indices", "csr_tensor_get_indptr", "csr_tensor_get_values", "diff_ext", "einsum_ext", "erfinv_",
    "exponential_", "float_power_ext", "floordiv", "floormod", "inplace_sigmoid", "isnan_ext", "merge", "move_to",
    "neg_tensor", "normal_", "pows", "print_", "put_", "random_", "row_tensor_get_dense_shape",
    "row_tensor_get_indices", "row_tensor_get_values", "stop_gradient_", "tanh_", "tensor_add", "tensordump", "tensor_div",
    "tensor_exp", "tensor_expm1", "tensor_floordiv", "tensor_ge", "tensor_gt", "tensor_le", "tensor_lt",
    "tensor_mod", "tensor_mul", "tensor_muls", "tensor_pow", "tensor_range",
    "tensor_slice", "tensor_sub", "tuple_div", "uniform_", "zero_",
]  # fmt: skip
