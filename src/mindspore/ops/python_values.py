"""Functions that are not computations on elements: gradient control, order, Python values and tuples."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import as_tensor, cast, from_values
from mindspore.prims import values
from mindspore.prims.arrays import ScalarToTensor
from mindspore.prims.elementwise import StopGradient

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__all__ = [
    "bool_and", "bool_eq", "bool_not", "bool_or", "depend", "dict_getitem", "dict_setitem", "hastype", "in_dict",
    "is_", "is_not", "iter_converter", "list_equal", "list_getitem", "list_len", "list_setitem", "make_dict",
    "make_list", "make_range", "make_slice", "make_tuple", "mixed_precision_cast", "ms_next", "not_in_dict",
    "partial", "reduced_shape", "scalar_add", "scalar_cast", "scalar_div", "scalar_eq", "scalar_floordiv",
    "scalar_ge", "scalar_gt", "scalar_le", "scalar_log", "scalar_lt", "scalar_max", "scalar_min", "scalar_mod",
    "scalar_mul", "scalar_ne", "scalar_pow", "scalar_sub", "scalar_to_array", "scalar_to_tensor", "scalar_uadd",
    "scalar_usub", "shape_mul", "stop_gradient", "string_concat", "string_eq", "tail", "tuple_equal",
    "tuple_getitem", "tuple_len", "tuple_reversed", "tuple_setitem", "tuple_to_array", "typeof", "zip_operation",
]  # fmt: skip


def stop_gradient(value: Any) -> Any:
    """The value itself, through which no gradient flows.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, ops
        >>> ms.grad(lambda x: x * ops.stop_gradient(x))(Tensor(3.0)).item()
        3.0
    """
    if isinstance(value, (tuple, list)):
        return type(value)(stop_gradient(v) for v in value)
    return StopGradient()(value) if isinstance(value, values.TensorBase) else value


def depend(value: Any, expr: Any) -> Any:
    """`value`, after `expr`. Programs run in the order they are written, so nothing more is needed.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.depend(Tensor([1.0]), Tensor([2.0])).tolist()
        [1.0]
    """
    return value


def partial(*args: Any, **kwargs: Any) -> Callable:
    """A function with its first arguments, or some by name, fixed.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.partial(ops.add, Tensor([1.0]))(Tensor([2.0])).tolist()
        [3.0]
    """
    function, *fixed = args
    return functools.partial(function, *fixed, **kwargs)


def mixed_precision_cast(dst_dtype: Any, x: Any) -> Any:
    """Convert the float tensors in a (nested) value; everything else stays.

    Examples:
        >>> ops.mixed_precision_cast(ms.float16, Tensor([1.0])).dtype
        mindspore.float16
    """
    if isinstance(x, (tuple, list)):
        return type(x)(mixed_precision_cast(dst_dtype, v) for v in x)
    if isinstance(x, dict):
        return {k: mixed_precision_cast(dst_dtype, v) for k, v in x.items()}
    if isinstance(x, values.TensorBase) and values.dtype_of(x).kind == "f":
        return cast(x, dst_dtype)
    return x


def scalar_to_tensor(input_x: Any, dtype: DType = mstype.float32) -> Tensor:
    """A number as a 0-d tensor.

    Examples:
        >>> from mindspore import ops
        >>> ops.scalar_to_tensor(3).dtype
        mindspore.float32
    """
    return ScalarToTensor()(input_x, dtype)


def scalar_to_array(input_x: Any) -> Tensor:
    """A number as a 0-d tensor of its own kind.

    Examples:
        >>> from mindspore import ops
        >>> ops.scalar_to_array(2.5).item()
        2.5
    """
    return as_tensor(input_x)


def tuple_to_array(input_x: Any) -> Tensor:
    """A tuple (or range) of numbers as a 1-D tensor: ints as int32, where they fit.

    Examples:
        >>> from mindspore import ops
        >>> ops.tuple_to_array(range(1, 4)).tolist()
        [1, 2, 3]
    """
    if not isinstance(input_x, (tuple, list, range)):
        raise TypeError(f"For 'tuple_to_array', 'input_x' must be a tuple, but got {type(input_x).__name__}.")
    found = from_values(list(input_x))
    narrow = found.dtype is mstype.int64 and all(values.fits(number, mstype.int32) for number in input_x)
    return cast(found, mstype.int32) if narrow else found


def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """A number converted to another kind of number.

    Examples:
        >>> ops.scalar_cast(3.7, ms.int32)
        3
    """
    dtype = mstype.to_dtype(input_y)
    if isinstance(input_x, values.SymbolicScalarBase):
        return cast(input_x, dtype)
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[dtype.kind](input_x)


def shape_mul(input_data: Any) -> int:
    """The product of a tuple of ints.

    Examples:
        >>> ops.shape_mul((2, 3, 4))
        24
    """
    return math.prod(input_data)


def reduced_shape(shape: Any, axis: Any) -> tuple:
    """A shape with the given axes set to 1.

    Examples:
        >>> ops.reduced_shape((2, 3, 4), (1,))
        (2, 1, 4)
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis) or tuple(range(len(shape)))
    return tuple(1 if d in [a % len(shape) for a in axes] else n for d, n in enumerate(shape))


def typeof(x: Any) -> Any:
    """The MindSpore type of a value.

    Examples:
        >>> print(ops.typeof(Tensor([1.0])))
        Tensor[Float32]
    """
    return mstype.tensor_type(x.dtype) if isinstance(x, Tensor) else mstype.pytype_to_dtype(type(x))


def hastype(x: Tensor, t: Any) -> bool:
    """Whether a value is of the given MindSpore type.

    Examples:
        >>> ops.hastype(Tensor([1.0]), ms.tensor_type(ms.float32))
        True
    """
    return mstype.issubclass_(typeof(x), t)


def make_range(*args: int) -> tuple:
    """The ints of a range as a tuple.

    Examples:
        >>> from mindspore import ops
        >>> ops.make_range(1, 4)
        (1, 2, 3)
    """
    return tuple(range(*args))


def is_(x: Any, y: Any) -> bool:
    """Whether both are the same object.

    Examples:
        >>> ops.is_(None, None)
        True
    """
    return x is y


def is_not(x: Any, y: Any) -> bool:
    """Whether they are different objects.

    Examples:
        >>> ops.is_not(None, 1)
        True
    """
    return x is not y


# Arithmetic on Python numbers; these also accept numbers that only the running graph knows.
scalar_add, scalar_sub, scalar_mul, scalar_div = operator.add, operator.sub, operator.mul, operator.truediv
scalar_floordiv, scalar_mod, scalar_pow = operator.floordiv, operator.mod, operator.pow
scalar_eq, scalar_ne, scalar_lt, scalar_le = operator.eq, operator.ne, operator.lt, operator.le
scalar_gt, scalar_ge, scalar_uadd, scalar_usub = operator.gt, operator.ge, operator.pos, operator.neg
tuple_getitem = list_getitem = dict_getitem = operator.getitem
tuple_len = list_len = len
string_concat, string_eq, tuple_equal, list_equal = operator.add, operator.eq, operator.eq, operator.eq
bool_not, bool_or, bool_and, bool_eq = operator.not_, operator.or_, operator.and_, operator.eq
zip_operation, iter_converter, ms_next = zip, iter, next


def in_dict(x: Any, y: Any) -> bool:
    """Whether a dictionary has the key x.

    Examples:
        >>> ops.in_dict("a", {"a": 1})
        True
    """
    return x in y


def not_in_dict(x: Any, y: Any) -> bool:
    """Whether a dictionary lacks the key x.

    Examples:
        >>> ops.not_in_dict("b", {"a": 1})
        True
    """
    return x not in y


def scalar_log(x: float) -> float:
    """The natural logarithm of a number.

    Examples:
        >>> ops.scalar_log(1.0)
        0.0
    """
    import math

    return math.log(x)


def scalar_max(x: Any, y: Any) -> Any:
    """The larger of two numbers.

    Examples:
        >>> ops.scalar_max(2, 5)
        5
    """
    return max(x, y)


def scalar_min(x: Any, y: Any) -> Any:
    """The smaller of two numbers.

    Examples:
        >>> ops.scalar_min(2, 5)
        2
    """
    return min(x, y)


def make_tuple(*args: Any) -> tuple:
    """A tuple of the arguments.

    Examples:
        >>> ops.make_tuple(1, 2)
        (1, 2)
    """
    return args


def make_list(*args: Any) -> list:
    """A list of the arguments.

    Examples:
        >>> ops.make_list(1, 2, 3)
        [1, 2, 3]
    """
    return list(args)


def make_dict(keys: Any, items: Any) -> dict:
    """A dictionary of keys and items.

    Examples:
        >>> ops.make_dict(("a", "b"), (1, 2))
        {'a': 1, 'b': 2}
    """
    return dict(zip(keys, items))


def make_slice(*args: Any) -> slice:
    """A slice of start, stop and step.

    Examples:
        >>> ops.make_slice(1, 10, 2)
        slice(1, 10, 2)
    """
    return slice(*args)


def tuple_setitem(x: tuple, index: int, value: Any) -> tuple:
    """A tuple with one element replaced.

    Examples:
        >>> ops.tuple_setitem((1, 2, 3), 1, 20)
        (1, 20, 3)
    """
    items = list(x)
    items[index] = value
    return tuple(items)


def list_setitem(x: list, index: int, value: Any) -> list:
    """A list with one element replaced.

    Examples:
        >>> ops.list_setitem([1, 2, 3], 1, 20)
        [1, 20, 3]
    """
    items = list(x)
    items[index] = value
    return items


def dict_setitem(x: dict, key: Any, value: Any) -> dict:
    """A dict with one entry set.

    Examples:
        >>> ops.dict_setitem({"a": 1}, "b", 2)
        {'a': 1, 'b': 2}
    """
    return {**x, key: value}


def tuple_reversed(x: tuple) -> tuple:
    """The elements from last to first.

    Examples:
        >>> ops.tuple_reversed((1, 2, 3))
        (3, 2, 1)
    """
    return tuple(reversed(x))


def tail(x: tuple) -> tuple:
    """All but the first element.

    Examples:
        >>> ops.tail((1, 2, 3))
        (2, 3)
    """
    return x[1:]
