"""Primitives that replace the value of a Parameter: plain assignment.

They are pure: `eval` returns the new value, and `writes` tells the dispatcher which argument takes it. The optimizers'
fused updates follow the same rule in `update.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore._base.dtype import DType
from mindspore.ir import AbstractTensor
from mindspore.prims import checks, values
from mindspore.prims.broadcasting import sum_to_shape
from mindspore.prims.elementwise import Cast
from mindspore.prims.factors import Factors, numbered
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


def kept_by(op: str, name: str, kept: DType, given: DType) -> None:
    """A Parameter keeps its element type, so what is stored in it must not need a wider one."""
    if mstype.promote(kept, given) is not kept:
        raise TypeError(
            "Data type conversion is not supported for a 'Parameter', nor for the input tensor of an in-place operator, the "
            f"argument[{name}]'s data type of primitive[{op}] is {kept}, which cannot be converted to data type {given} "
            "automatically. Convert the value first."
        )


class _Assignment(Primitive):
    """`prim(variable, value)`: the value takes the variable's element type, if that is no narrower, and its shape."""

    writes = ((0, 0),)

    def __init__(self) -> None:
        super().__init__(type(self).__name__)

    def prepare(self, args: tuple) -> tuple:
        variable, value = args
        if not isinstance(variable, values.TensorBase):
            raise TypeError(f"For '{self.name}', 'variable' must be a Parameter or a Tensor, but got {variable!r}.")
        dtype = values.dtype_of(variable)
        if values.is_number(value):
            kept_by(self.name, "variable", dtype, mstype.promote_scalar(dtype, value))
            value = values.number_tensor(value, dtype)
        elif not isinstance(value, (values.TensorBase, values.SymbolicScalarBase)):
            raise TypeError(f"For '{self.name}', 'value' must be a Tensor or a number, but got {checks.describe(value)}.")
        if values.dtype_of(value) is not dtype:
            if isinstance(value, values.TensorBase):
                kept_by(self.name, "variable", dtype, values.dtype_of(value))
            value = Cast()(value, dtype)
        return variable, value

    def infer(self, variable: AbstractTensor, value: AbstractTensor) -> Any:
        checks.tensor(self.name, "value", value)
        self.check_shape(variable.shape, value.shape)
        return AbstractTensor(variable.dtype, variable.shape)

    def factors(self, variable: AbstractTensor, value: AbstractTensor) -> Factors | None:
        if variable.shape != value.shape and len(value.shape):
            return None
        names = numbered(len(variable.shape))
        return Factors((names, names if value.shape == variable.shape else ()), (names,))

    def check_shape(self, variable: tuple[int, ...], value: tuple[int, ...]) -> None:
        if checks.broadcast(self.name, variable, value) != variable:
            raise ValueError(f"For '{self.name}', a value of shape {value} does not fit a variable of shape {variable}")


class Assign(_Assignment):
    """variable = value; the shapes must be equal (a value of one element may have any shape of size 1).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, ops
        >>> p = ms.Parameter(Tensor([1.0]), name='p')
        >>> ops.Assign()(p, Tensor([5.0])).tolist()
        [5.0]
    """

    def check_shape(self, variable: tuple[int, ...], value: tuple[int, ...]) -> None:
        sizes_one = all(d == 1 for d in variable) and all(d == 1 for d in value)
        if variable != value and not sizes_one:
            raise ValueError(
                f"For '{self.name}', 'value' must have the shape of 'variable', but got {value} and {variable}."
            )

    def eval(self, xp: Namespace, variable: Array, value: Array) -> Any:
        return xp.array(xp.reshape(value, variable.shape))  # a copy: the value and the variable must stay independent

    def bprop(self, variable: Any, value: TensorBase, out: Any, dout: Any) -> tuple:
        return dout, None  # an update is no part of what is differentiated: its result counts as the variable


class AssignAdd(_Assignment):
    """variable = variable + value.

    Examples:
        >>> total = Parameter(Tensor([1.0, 2.0]), name="total")
        >>> _ = ops.AssignAdd()(total, Tensor([10.0, 10.0]))
        >>> print(total.asnumpy())
        [11. 12.]
    """

    def eval(self, xp: Namespace, variable: Array, value: Array) -> Any:
        return variable + value

    def bprop(self, variable: TensorBase, value: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return dout, sum_to_shape(dout, value.shape)


class AssignSub(_Assignment):
    """variable = variable - value.

    Examples:
        >>> total = Parameter(Tensor([1.0, 2.0]), name="total")
        >>> _ = ops.AssignSub()(total, Tensor([0.5, 0.5]))
        >>> print(total.asnumpy())
        [0.5 1.5]
    """

    def infer(self, variable: AbstractTensor, value: AbstractTensor) -> Any:
        checks.dtype_in(self.name, "variable", checks.tensor(self.name, "variable", variable).dtype, "uifc")
        return super().infer(variable, value)

    def eval(self, xp: Namespace, variable: Array, value: Array) -> Any:
        return variable - value

    def bprop(self, variable: Any, value: TensorBase, out: Any, dout: Any) -> tuple:
        return dout, -sum_to_shape(dout, value.shape)
