"""What a primitive is applied to: tensors, symbolic scalars, and Python constants.

`TensorBase` is the storage shared by the public `Tensor` (a higher layer): either concrete data (`_data`, an array of
the active backend) or, while a graph is being built, a node (`_node`). `SymbolicScalar` stands for a Python number that
only the running graph will know. The public classes register themselves here, so that lower layers can make them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.dtype import DType
from mindspore.ir import Abstract, AbstractScalar, AbstractTensor, Node, ValueNode
from mindspore.prims.active import ACTIVE


class ValueUnknownError(TypeError):
    """Python asked for the value of something that is only known when the compiled graph runs."""


class SizeUnknownError(ValueUnknownError):
    """The value asked for is a setting of an operation (size, axis …), not something that the user's Python looks at."""


class TensorBase:
    """Concrete array or graph node."""

    __slots__ = ("__weakref__", "_data", "_hooks", "_link", "_node", "_value")
    if TYPE_CHECKING:  # the public class adds everything else

        def __getattr__(self, name: str) -> Any: ...
        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def dtype(self) -> DType: ...
        @property
        def ndim(self) -> int: ...
        @property
        def size(self) -> int: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Any: ...
        def __bool__(self) -> bool: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __index__(self) -> int: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __hash__(self) -> int: ...
        def __neg__(self) -> Any: ...
        def __invert__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __rfloordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __rmod__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __rpow__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...
        def __or__(self, other: Any) -> Any: ...
        def __xor__(self, other: Any) -> Any: ...
        def __lshift__(self, other: Any) -> Any: ...
        def __rshift__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...

    _data: Any
    _node: Node | None
    _hooks: dict  # functions that see its gradient (runtime/tensor_hooks.py); unset if there are none
    _value: int  # which value this is, for tapes (inplace.py); unset until one asks


class SymbolicScalarBase:
    """A number whose value is a node of the graph being built."""

    __slots__ = ("_node",)
    if TYPE_CHECKING:  # the public class adds everything else

        def __getattr__(self, name: str) -> Any: ...

    _node: Node


class _Classes:
    """The public classes, registered by the layer that defines them."""

    tensor: Any = None
    parameter: Any = ()  # until there is one, nothing is a Parameter
    scalar: Any = None


def register_tensor_class(cls: type) -> None:
    _Classes.tensor = cls


def register_parameter_class(cls: type) -> None:
    _Classes.parameter = cls


def register_scalar_class(cls: type) -> None:
    _Classes.scalar = cls


def parameter_class() -> Any:
    return _Classes.parameter


def tensor_class() -> Any:
    return _Classes.tensor


def from_array(array: Any) -> Any:
    """A concrete Tensor around an array, without copying."""
    if type(array) is not np.ndarray and isinstance(array, np.generic):
        array = np.asarray(array)
    cls = _Classes.tensor
    tensor = cls.__new__(cls)
    tensor._data = array
    tensor._node = None
    return tensor


def from_node(node: Node) -> Any:
    """The public value standing for a node: a symbolic Tensor or a symbolic scalar."""
    if type(node.abstract) is AbstractScalar:
        scalar = _Classes.scalar.__new__(_Classes.scalar)
        scalar._node = node
        return scalar
    cls = _Classes.tensor
    tensor = cls.__new__(cls)
    tensor._data = None
    tensor._node = node
    return tensor


def is_symbolic(value: object) -> bool:
    """Whether a value is only known when the graph runs."""
    if isinstance(value, TensorBase):
        return value._node is not None
    return isinstance(value, SymbolicScalarBase)


def answer(value: Any) -> Any:
    """The value of a symbolic tensor or number as an array, where the graph may be made for it; None where it may not."""
    oracle = ACTIVE.builder.root.oracle if ACTIVE.builder is not None else None
    return None if oracle is None else oracle.value(ACTIVE.builder.node_of(value))


def abstract_of(value: Any) -> Abstract:
    """The abstract value of a tensor or symbolic scalar."""
    if value._node is not None:
        return value._node.abstract
    data = value._data
    return AbstractTensor(mstype.from_numpy(data.dtype), tuple(data.shape))


def dtype_of(value: Any) -> DType:
    return value._node.abstract.dtype if value._node is not None else mstype.from_numpy(value._data.dtype)


def has_gradient(dtype: DType) -> bool:
    """Whether gradients flow through values of this type: all numbers. (Integers too: MindSpore differentiates them.)"""
    return dtype.kind in "fciu"


def is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_))


def number_tensor(value: Any, dtype: DType) -> Any:
    """A 0-d constant tensor."""
    return from_array(number_array(value, dtype))


def number_array(value: Any, dtype: DType) -> np.ndarray:
    """A number as a 0-d array; an int beyond the range of an integer type wraps round, as in C."""
    if dtype.kind in "iu" and isinstance(value, int) and not fits(value, dtype):
        value = value & ((1 << dtype.bits) - 1)
        value -= (1 << dtype.bits) if dtype.kind == "i" and value >> (dtype.bits - 1) else 0
    return np.asarray(value, dtype.np)


def fits(value: int, dtype: DType) -> bool:
    """Whether an integer type holds a number."""
    low, bits = (0, dtype.bits) if dtype.kind == "u" else (-(1 << (dtype.bits - 1)), dtype.bits - 1)
    return low <= value < (1 << bits)


def default_dtype(number: Any) -> DType:
    """The element type a Python number takes when it becomes a tensor by itself."""
    if isinstance(number, (np.number, np.bool_)):
        return mstype.from_numpy(number.dtype)
    if isinstance(number, bool):
        return mstype.bool_
    if isinstance(number, int):
        return mstype.int64
    return mstype.float32 if isinstance(number, float) else mstype.complex64


def scalar_dtype(number: Any) -> DType:
    """The element type that holds a Python number exactly; symbolic scalars use it."""
    if isinstance(number, (np.number, np.bool_)):
        return mstype.from_numpy(number.dtype)
    if isinstance(number, bool):
        return mstype.bool_
    if isinstance(number, int):
        return mstype.int64
    return mstype.float64 if isinstance(number, float) else mstype.complex128


def symbolic_number(number: Any) -> Any:
    """A Python number as a symbolic scalar, so that arithmetic with other symbolic scalars stays scalar."""
    dtype = scalar_dtype(number)
    return from_node(ValueNode(np.asarray(number, dtype.np), AbstractScalar(dtype)))


def scalar_sample(dtype: DType) -> Any:
    """A Python number of the kind of `dtype`: it promotes like an unknown number of that kind."""
    return {"b": True, "i": 1, "u": 1, "f": 1.0, "c": 1j}[dtype.kind]


def static_number(value: Any) -> Any:
    """A setting that is one number, also as a tensor of one element in any shape, as the Python number; others unchanged."""
    known = static_value(value)
    if isinstance(value, TensorBase) and not isinstance(known, TensorBase) and value.size == 1:
        while isinstance(known, list):
            (known,) = known
    return known


def static_value(value: Any) -> Any:
    """A setting (axis, size …) given as a tensor of known value, as the Python number or list it holds; others unchanged."""
    if isinstance(value, TensorBase) and value._node is None:
        return np.asarray(value._data).tolist()
    if is_symbolic(value):
        known = answer(value)
        return value if known is None else known.tolist()
    if isinstance(value, (tuple, list)) and any(isinstance(v, TensorBase) for v in value):
        return tuple(static_value(v) for v in value)
    return value
