"""Tensor: an n-dimensional array, concrete in PyNative mode, a graph node while a graph is built.

The class itself holds storage, conversion and Python protocol. Operations come from `mindspore.ops`, which attaches its
functions as methods (`ops/tensor_methods/`), so that `x.sum()` and `ops.sum(x)` are one thing.
"""

from __future__ import annotations

import copy as _copy
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base import habits, watch
from mindspore._base.dtype import DType
from mindspore._base.quiet import QUIET
from mindspore._base.tensor_hook import set_tensor_factory
from mindspore.common.changes import note_change
from mindspore.common.symbol import Symbol
from mindspore.common.tensor_text import tensor_text
from mindspore.prims import arrays as _arrays
from mindspore.prims import checks, values
from mindspore.prims import elementwise as _ew
from mindspore.prims.active import ACTIVE
from mindspore.prims.hooks import GradientHook
from mindspore.prims.primitive import _Dispatch
from mindspore.prims.symbolic import python_number, unknown_value
from mindspore.prims.valueless import Valueless
from mindspore.prims.values import SizeUnknownError, TensorBase, ValueUnknownError
from mindspore.prims.views import link
from mindspore.runtime import devices, tensor_hooks

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

_ADD, _SUB, _MUL, _DIV = _ew.Add(), _ew.Sub(), _ew.Mul(), _ew.Div()
_FLOORDIV, _MOD, _POW = _ew.FloorDiv(), _ew.FloorMod(), _ew.Pow()
_EQ, _NE, _LT, _LE, _GT, _GE = (
    _ew.Equal(), _ew.NotEqual(), _ew.Less(), _ew.LessEqual(), _ew.Greater(), _ew.GreaterEqual(),
)  # fmt: skip
_NEG, _ABS, _NOT, _ROUND = _ew.Neg(), _ew.Abs(), _ew.LogicalNot(), _ew.Round()
_AND, _OR, _XOR = _ew.BitwiseAnd(), _ew.BitwiseOr(), _ew.BitwiseXor()
_ndarray = np.ndarray


#: whether numbers take the type of arrays without dimensions, too: NumPy 1 makes 64 bits of both
_WEAK = np.add(np.array(1, np.float32), 1.0).dtype == np.float32


def _no_text(prim: Any, given: str) -> TypeError:
    return TypeError(
        f'Failed calling {prim.name} with "{prim.name}()({given})": text does not mix with tensors. '
        f'The valid calling should be: "{prim.name}()(input=<Number, Tensor>, other=<Number, Tensor>)".'
    )


def _binary(prim: Primitive, ufunc: Any) -> Any:
    """An operator method: straight to NumPy for plain eager tensors of one type or a float, else through the dispatcher."""
    takes_numbers = isinstance(ufunc, np.ufunc)

    def method(self: Tensor, other: Any) -> Any:
        if type(other) is float and takes_numbers and ACTIVE.builder is None and not ACTIVE.tapes and not _Dispatch.layered:
            a = self._data
            if type(a) is _ndarray and a.dtype.char in "fd" and (a.ndim or _WEAK):  # a Python number takes the array's type
                try:
                    return values.from_array(QUIET.run(ufunc, a, other))
                except RuntimeError:  # a finaliser, within another operation
                    return prim(self, other)
        if type(other) is Tensor and ACTIVE.builder is None and not ACTIVE.tapes and not _Dispatch.layered:
            a, b = self._data, other._data
            if type(a) is _ndarray and type(b) is _ndarray and a.dtype is b.dtype and a.dtype.kind == "f":
                try:
                    out = QUIET.run(ufunc, a, b)
                except (ValueError, RuntimeError):
                    return prim(self, other)  # says which shapes do not fit
                tensor = Tensor.__new__(Tensor)
                tensor._data = out if type(out) is _ndarray else np.asarray(out)
                tensor._node = None
                return tensor
        if not isinstance(other, _OPERANDS):
            if isinstance(other, (list, tuple)) or hasattr(other, "__array__"):
                other = _operand(other)
            elif isinstance(other, str):
                raise _no_text(prim, "input=Tensor, other=string")
            else:
                return NotImplemented
        return prim(self, other)

    return method


def _reflected(prim: Primitive) -> Any:
    def method(self: Tensor, other: Any) -> Any:
        if not isinstance(other, _OPERANDS):
            if isinstance(other, (list, tuple)) or hasattr(other, "__array__"):
                other = _operand(other)
            elif isinstance(other, str):
                raise _no_text(prim, "input=string, other=Tensor")
            else:
                return NotImplemented
        return prim(other, self)

    return method


class Tensor(TensorBase):
    """An n-dimensional array.

    Args:
        input_data: numbers, nested lists, a NumPy array or another tensor. None with `shape`, `dtype` and `init` gives a
            tensor whose data comes from an initializer.
        dtype: element type; taken from the data when None (Python floats become float32, ints int64).
        shape: only with `init`.
        init: an initializer that fills the tensor when `init_data` is called.

    Examples:
        >>> import mindspore as ms
        >>> (ms.Tensor([1.0, 2.0]) + 1).asnumpy().tolist()
        [2.0, 3.0]
    """

    __slots__ = ("__dict__",)
    if TYPE_CHECKING:  # operations are attached by mindspore.ops

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __lshift__(self, other: Any) -> Any: ...
        def __rshift__(self, other: Any) -> Any: ...

    __array_priority__ = 1000

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's functions give arrays; what a graph or tape must see becomes an operation on tensors."""
        operation = _UFUNC_OPERATORS.get(ufunc) if method == "__call__" and not options else None
        if operation is not None and (ACTIVE.tapes or any(map(values.is_symbolic, inputs))):
            return operation(*(i if isinstance(i, TensorBase) else Tensor(i) for i in inputs))
        plain = (i.asnumpy() if isinstance(i, Tensor) else i for i in inputs)
        return getattr(ufunc, method)(*plain, **options)

    def __init__(
        self,
        input_data: Any = None,
        dtype: Any = None,
        shape: Any = None,
        init: Any = None,
        const_arg: bool = False,
        device: str | None = None,
    ):
        self._node = None
        if dtype is not None and not isinstance(dtype, DType):
            raise TypeError(
                f"For 'Tensor', the 'dtype' should be one of MindSpore's types, such as mindspore.float32, but got {_shown(dtype)}."
            )
        if init is not None:
            if input_data is not None:
                raise ValueError("For 'Tensor', give either 'input_data' or 'init' with 'shape' and 'dtype', not both.")
            if shape is None or dtype is None:
                raise ValueError("For 'Tensor', 'init' needs 'shape' and 'dtype'.")
            shape = (shape,) if isinstance(shape, int) else tuple(shape)
            self._data = np.empty(0, mstype.to_dtype(dtype).np)
            self.init = init
            self._init_shape = shape
            self.init_data()
            return
        if input_data is None:
            if dtype is None:
                raise TypeError("For 'Tensor', give 'input_data', or 'shape' with 'dtype'.")
            dims = () if shape is None else ((shape,) if isinstance(shape, int) else tuple(shape))
            sizes = tuple(-1 if d is None or isinstance(d, Symbol) else d for d in dims)
            examples = tuple(d.least if isinstance(d, Symbol) else 1 if d in (None, -1) else d for d in dims)
            self._data = np.zeros(examples, mstype.to_dtype(dtype).np)
            if shape is None:
                self.__dict__["_declared_shape"] = None  # of any rank
            elif -1 in sizes:
                self.__dict__["_dynamic_shape"], self.__dict__["_declared_shape"] = sizes, dims
            return
        if (isinstance(input_data, TensorBase) and input_data._node is not None) or _has_symbolic(input_data):
            made = _stack_symbolic(input_data, dtype)
            self._data, self._node = made._data, made._node
            return
        self._data = _to_array(input_data, dtype)
        if devices.is_meta() or (device is not None and checks.is_meta("Tensor", device)):
            self._data = Valueless(self._data.shape, self._data.dtype)

    # -- properties -----------------------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension.

        Examples:
            >>> from mindspore import Tensor
            >>> Tensor([[1.0, 2.0]]).shape
            (1, 2)
        """
        node = self._node
        return node.abstract.shape if node is not None else self._data.shape

    @property
    def dtype(self) -> DType:
        """The element type.

        Examples:
            >>> from mindspore import Tensor
            >>> Tensor([1.0]).dtype
            mindspore.float32
        """
        node = self._node
        return node.abstract.dtype if node is not None else mstype.from_numpy(self._data.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions.

        Examples:
            >>> from mindspore import Tensor
            >>> Tensor([[1.0]]).ndim
            2
        """
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements.

        Examples:
            >>> from mindspore import Tensor
            >>> Tensor([[1.0, 2.0]]).size
            2
        """
        n = 1
        for d in self.shape:
            n *= d
        return n

    @property
    def itemsize(self) -> int:
        """The bytes of one element.

        Examples:
            >>> Tensor([1.0]).itemsize
            4
        """
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements.

        Examples:
            >>> Tensor([1.0, 2.0]).nbytes
            8
        """
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes to step in each dimension.

        Examples:
            >>> ops.ones((2, 3)).strides
            (12, 4)
        """
        out, step = [], self.itemsize
        for d in reversed(self.shape):
            out.append(step)
            step *= d
        return tuple(reversed(out))

    @property
    def T(self) -> Tensor:
        """The tensor with its dimensions reversed.

        Examples:
            >>> from mindspore import Tensor
            >>> Tensor([[1.0, 2.0]]).T.shape
            (2, 1)
        """
        return link(_arrays.Transpose()(self, tuple(reversed(range(self.ndim)))), self, lambda base: base.T)

    @property
    def has_init(self) -> bool:
        """Whether an initializer still has to fill the tensor.

        Examples:
            >>> Tensor([1.0]).has_init
            False
        """
        return False

    @property
    def device(self) -> str:
        """Where the tensor lies, as text.

        Examples:
            >>> Tensor([1.0]).device
            'CPU'
        """
        return "meta" if self.is_meta else "CPU"

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has a shape and a type, but no values (`DeviceCtx`).

        Examples:
            >>> Tensor([1.0]).is_meta
            False
        """
        return self._node is None and type(self._data) is Valueless

    # -- conversion -----------------------------------------------------------------------------------------------
    def asnumpy(self) -> np.ndarray:
        """The data as a NumPy array. On the CPU both share memory where they can.

        Examples:
            >>> from mindspore import Tensor
            >>> Tensor([1.0, 2.0]).asnumpy()
            array([1., 2.], dtype=float32)
        """
        if self._node is not None:
            raise unknown_value("asnumpy()", self)
        data = self._data
        if type(data) is not _ndarray:
            data = np.array(devices.on_host(data))
            if devices.accelerator() is None:  # elsewhere a look at a tensor does not fetch it from the device for good
                self._data = data
        elif not data.flags.writeable:
            data = self._data = data.copy()
        if watch.WATCHED:
            watch.touched(data)
        return data

    numpy = asnumpy

    def item(self, index: Any = None) -> Any:
        """The value of a one-element tensor (or of one element) as a Python number.

        Examples:
            >>> from mindspore import Tensor
            >>> Tensor([2.5]).item()
            2.5
        """
        if self._node is not None:
            if index is not None:
                return self.reshape(-1)[index].item() if isinstance(index, int) else self[index].item()
            if self.size != 1:
                raise ValueError(f"Tensor.item() needs a tensor of one element, but this one has shape {self.shape}.")
            return _arrays.TensorToScalar()(self)
        array = devices.on_host(self._data)
        if index is not None:
            return array.item(index)
        if array.size != 1:
            raise ValueError(f"Tensor.item() needs a tensor of one element, but this one has shape {self.shape}.")
        return array.item()

    def tolist(self) -> Any:
        """The data as nested Python lists.

        Examples:
            >>> from mindspore import Tensor
            >>> Tensor([[1, 2]]).tolist()
            [[1, 2]]
        """
        return self.asnumpy().tolist()

    def asnumpy_of_slice_persistent_data(self, param_key: int, slice_index: int) -> np.ndarray:
        """A slice of a tensor that is kept outside of memory, as an array.

        Examples:
            >>> print(Tensor([1.0, 2.0]).asnumpy_of_slice_persistent_data(0, 0))
            [1. 2.]
        """
        return self.asnumpy()

    @staticmethod
    def from_numpy(array: np.ndarray) -> Tensor:
        """A tensor that shares the memory of a NumPy array.

        Examples:
            >>> import numpy as np
            >>> from mindspore import Tensor
            >>> Tensor.from_numpy(np.array([1.0, 2.0])).tolist()
            [1.0, 2.0]
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"The input 'array' of from_numpy must be a numpy.ndarray, but got {type(array).__name__}.")
        mstype.from_numpy(array.dtype)
        return values.from_array(array)

    def copy(self) -> Tensor:
        """A tensor with its own data.

        Examples:
            >>> from mindspore import Tensor
            >>> Tensor([1.0]).clone().tolist()
            [1.0]
        """
        if ACTIVE.builder is not None and ACTIVE.builder.is_variable(self):
            return ACTIVE.builder.read(self)
        if ACTIVE.tapes:
            return _MUL(self, 1) if self.dtype.kind in "fc" else values.from_array(own_copy(self._data))
        return values.from_array(own_copy(self._data))

    def init_data(self, slice_index: Any = None, shape: Any = None, opt_shard_group: Any = None) -> Tensor:
        """Fill the tensor from its initializer, if it has one.

        Examples:
            >>> x = Tensor(shape=(2,), dtype=ms.float32, init=ms.common.initializer.One())
            >>> print(x.init_data())
            [1. 1.]
        """
        init = self.__dict__.pop("init", None)
        if init is not None:
            shape = tuple(self.__dict__.pop("_init_shape"))
            if devices.is_meta():
                self._data = Valueless(shape, self._data.dtype)
                return self
            array = np.empty(shape, self._data.dtype)
            init(array)
            self._data = array
        return self

    def set_dtype(self, dtype: Any) -> Any:
        """Change the element type of this tensor in place; the type.

        Examples:
            >>> x = Tensor([1.7])
            >>> print(x.set_dtype(ms.int32), x)
            Int32 [1]
        """
        if self._node is not None:
            raise unknown_value("set_dtype()", self)
        wanted = mstype.to_dtype(dtype)
        self._data = devices.on_host(self._data).astype(wanted.np)
        return wanted

    def assign_value(self, value: Any) -> Tensor:
        """Replace the data by that of another tensor of the same shape.

        Examples:
            >>> x = Tensor([1.0, 2.0])
            >>> print(x.assign_value(Tensor([7.0, 8.0])))
            [7. 8.]
        """
        if ACTIVE.builder is not None:
            ACTIVE.builder.write(self, ACTIVE.builder.node_of(value))
            return self
        self._data = value._data
        return self

    def data_sync(self, wait: bool = True) -> None:
        """Wait until the data is there; eager CPU tensors always have it.

        Examples:
            >>> Tensor([1.0]).data_sync() is None
            True
        """

    def flush_from_cache(self) -> None:
        """Kept for scripts that call it; tensors here have no separate cache.

        Examples:
            >>> Tensor([1.0]).flush_from_cache() is None
            True
        """

    def is_contiguous(self) -> bool:
        """True: tensors always lie in one piece of memory.

        Examples:
            >>> Tensor([1.0]).is_contiguous()
            True
        """
        return True

    def contiguous(self) -> Tensor:
        """This tensor: tensors here always lie in one piece of memory.

        Examples:
            >>> from mindspore import Tensor
            >>> Tensor([1.0]).contiguous().tolist()
            [1.0]
        """
        return self

    def register_hook(self, hook: Any) -> Any:
        """Call `hook(grad)` when the gradient of this tensor is known; a returned value replaces it.

        Examples:
            >>> def loss(x):
            ...     y = 3 * x
            ...     y.register_hook(lambda grad: 10 * grad)
            ...     return y
            >>> print(ops.grad(loss)(Tensor(2.0)))
            30.0
        """
        if not callable(hook):
            raise TypeError(f"a hook must be a function, but got {type(hook).__name__}.")
        if self._node is not None:
            hooked = GradientHook(lambda grads: (tensor_hooks.run({0: hook}, grads[0]),))(self)[0]
            ACTIVE.builder.write(self, hooked._node)
            return TensorHook({}, 0)
        return TensorHook(*tensor_hooks.register(self, hook))

    def hooks(self) -> list[Any]:
        """The functions that `register_hook` has added and nobody has removed.

        Examples:
            >>> x = Tensor(2.0)
            >>> handle = x.register_hook(print)
            >>> x.hooks() == [print]
            True
        """
        return list(tensor_hooks.hooks_of(self).values())

    # -- Python protocol ------------------------------------------------------------------------------------------
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        """For `np.asarray` and `np.array`; the latter asks for a copy, which must not share memory with the tensor."""
        array = self.asnumpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __repr__(self) -> str:
        if self._node is not None:
            return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, value=<known when the graph runs>)"
        if self.is_meta:
            return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, value=<meta>)"
        if "_dynamic_shape" in self.__dict__:  # it declares an input; what it holds are examples of the sizes left open
            return f"Tensor(shape={list(self._dynamic_shape)}, dtype={self.dtype}, value= )"
        return tensor_text(devices.on_host(self._data), self.dtype)

    def __str__(self) -> str:
        if self._node is not None:
            raise unknown_value("str()", self)
        if self.is_meta or "_dynamic_shape" in self.__dict__:
            return repr(self)
        array = devices.on_host(self._data)
        if self.dtype is mstype.bfloat16:
            return np.array2string(array.astype(np.float32), formatter={"float_kind": "{:f}".format})
        return str(array)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("Not support len of a 0-D tensor.")
        return self.shape[0]

    def __iter__(self) -> Any:
        if not self.shape:
            raise TypeError("Cannot iterate over a scalar tensor: iteration over a 0-d tensor.")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, element: Any) -> Any:
        return bool(_EQ(self, element).any())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(checks.ambiguous_truth(self.shape))
        return bool(self._python_number("bool()"))

    def __int__(self) -> int:
        return int(self._python_number("int()"))

    def __float__(self) -> float:
        return float(self._python_number("float()"))

    def __complex__(self) -> complex:
        return complex(self._python_number("complex()"))

    def __index__(self) -> int:
        if self.dtype.kind not in "bui" or self.size != 1:
            raise ValueError(
                "Only integer tensors of a single element can be converted to an index, but got "
                f"a {self.dtype} tensor of shape {self.shape}."
            )
        return int(self._python_number("using it as an index or a size", SizeUnknownError))

    def __round__(self, digits: int | None = None) -> Tensor:
        scale = 10.0 ** (digits or 0)
        return _ROUND(self * scale) / scale if digits else _ROUND(self)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return format(self.item(), spec) if self.size == 1 and self._node is None else format(str(self), spec)

    def _python_number(self, what: str, kind: type[ValueUnknownError] = ValueUnknownError) -> Any:
        if self.size != 1:
            raise ValueError(
                f"Only one element tensors can be converted to Python scalars by {what}, but this one has shape {self.shape}."
            )
        return devices.on_host(self._data).item() if self._node is None else python_number(what, self, kind)

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> Tensor:
        return values.from_array(self._data) if self._node is None else self

    def __deepcopy__(self, memo: dict) -> Tensor:
        if self._node is not None:
            return self
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin._data, twin._node = own_copy(self._data), None
        twin.__dict__.update({k: _copy.deepcopy(v, memo) for k, v in self.__dict__.items()})
        return twin

    def __reduce__(self) -> Any:
        return (_rebuild, (type(self), self._data if self.is_meta else devices.on_host(self._data), dict(self.__dict__)))

    # -- operators ------------------------------------------------------------------------------------------------
    __add__ = _binary(_ADD, np.add)
    __radd__ = _reflected(_ADD)
    __sub__ = _binary(_SUB, np.subtract)
    __rsub__ = _reflected(_SUB)
    __mul__ = _binary(_MUL, np.multiply)
    __rmul__ = _reflected(_MUL)
    __truediv__ = _binary(_DIV, _ew.DIVIDE)
    __rtruediv__ = _reflected(_DIV)
    __floordiv__ = _binary(_FLOORDIV, _ew.FLOOR_DIVIDE)
    __rfloordiv__ = _reflected(_FLOORDIV)
    __mod__ = _binary(_MOD, _ew.FLOOR_MOD)
    __rmod__ = _reflected(_MOD)
    __pow__ = _binary(_POW, _ew.POWER)
    __rpow__ = _reflected(_POW)
    __lt__ = _binary(_LT, np.less)
    __le__ = _binary(_LE, np.less_equal)
    __gt__ = _binary(_GT, np.greater)
    __ge__ = _binary(_GE, np.greater_equal)
    __and__ = _binary(_AND, np.bitwise_and)
    __rand__ = _reflected(_AND)
    __or__ = _binary(_OR, np.bitwise_or)
    __ror__ = _reflected(_OR)
    __xor__ = _binary(_XOR, np.bitwise_xor)
    __rxor__ = _reflected(_XOR)

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, (str, tuple, list, dict, type)):
            return False
        if not isinstance(other, _OPERANDS) and not hasattr(other, "__array__"):
            return False
        return _EQ(self, other)

    def __ne__(self, other: object) -> Any:
        if other is None or isinstance(other, (str, tuple, list, dict, type)):
            return True
        if not isinstance(other, _OPERANDS) and not hasattr(other, "__array__"):
            return True
        return _NE(self, other)

    def __neg__(self) -> Tensor:
        return _NEG(self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return _ABS(self)

    def __invert__(self) -> Tensor:
        """Logical not, also of numbers: true where an element is zero. `ops.bitwise_not` flips bits."""
        return _NOT(self) if self.dtype is mstype.bool_ else _EQ(self, 0)


class TensorHook:
    """Returned by `register_hook`; `remove()` takes the hook away."""

    def __init__(self, hooks: dict, key: int):
        self._hooks, self._key = hooks, key

    @property
    def handle_id(self) -> int:
        """The number of the hook among those of its tensor."""
        return self._key

    def remove(self) -> None:
        self._hooks.pop(self._key, None)
        note_change()


def _rebuild(cls: type[Tensor], array: np.ndarray, attributes: dict) -> Tensor:
    tensor = cls.__new__(cls)
    tensor._data, tensor._node = array, None
    tensor.__dict__.update(attributes)
    return tensor


def _has_symbolic(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(_has_symbolic(d) for d in data)
    return values.is_symbolic(data)


def _operand(data: Any) -> Tensor:
    """What stands beside a tensor in an expression as a tensor; gradients flow into tensors in a list."""
    if ACTIVE.tapes and isinstance(data, (list, tuple)) and _contains_tensor(data):
        return _stack_symbolic(data, None)
    return Tensor(data)


def _shown(dtype: Any) -> str:
    """A type that is none of ours, by its name."""
    return f"{dtype.__module__}.{dtype.__name__}".removeprefix("builtins.") if isinstance(dtype, type) else f"{dtype!r}"


def _stack_symbolic(data: Any, dtype: Any) -> Tensor:
    """A tensor from numbers and lists of which some are only known when the graph runs."""
    if isinstance(data, (list, tuple)):
        parts = [_stack_symbolic(d, dtype) for d in data]
        made = _arrays.Stack(0)(parts)
    elif isinstance(data, values.SymbolicScalarBase):
        made = _arrays.ScalarToTensor()(data)
    else:
        made = data if isinstance(data, TensorBase) else Tensor(data, dtype)
    if dtype is not None and made.dtype is not mstype.to_dtype(dtype):
        made = _ew.Cast()(made, mstype.to_dtype(dtype))
    return made


def own_copy(array: Any) -> Any:
    """The values of a tensor in memory of their own."""
    return array if type(array) is Valueless else np.array(devices.on_host(array))


def _to_array(data: Any, dtype: Any) -> np.ndarray:
    """NumPy data with MindSpore's default types: Python floats are float32, Python ints int64."""
    if isinstance(data, TensorBase):
        array = data._data
        if dtype is not None:
            array = (array if type(array) is Valueless else np.asarray(array)).astype(mstype.to_dtype(dtype).np)
        return array
    if isinstance(data, np.ndarray):
        _check_element_type(data)
        # a copy in each case: what becomes of the array later is no matter of the tensor (`from_numpy` shares)
        return np.array(data, order="C") if dtype is None else data.astype(mstype.to_dtype(dtype).np, order="C")
    if isinstance(data, (list, tuple)) and _contains_tensor(data):
        data = _plain(data)
    if not isinstance(data, (list, tuple, bool, int, float, complex, np.generic)) and not hasattr(data, "__array__"):
        raise TypeError(
            "For 'Tensor', 'input_data' must be a number, a list or tuple of numbers, a NumPy array or a Tensor, "
            f"but got {type(data).__name__}."
        )
    try:
        array = np.asarray(data)
    except ValueError:
        raise TypeError(
            f"For Tensor, the input_data is {data!r:.120} that contain unsupported element. Nested lists must have equal lengths."
        ) from None
    if array.dtype == object or (array.dtype.kind in "US" and not isinstance(data, np.generic)):
        raise TypeError(
            f"For Tensor, the input_data is {data!r:.120} that contain unsupported element. All must be numbers that fit in 64 bits."
        )
    if dtype is not None:
        return array.astype(mstype.to_dtype(dtype).np)
    if array.dtype == np.float64 and not isinstance(data, np.generic):
        array = array.astype(np.float32)
    mstype.from_numpy(array.dtype)
    return array


def _check_element_type(array: np.ndarray) -> None:
    try:
        mstype.from_numpy(array.dtype)
    except TypeError as error:
        element = type(array.reshape(-1)[0]) if array.size else array.dtype.type
        raise TypeError(
            f"initializing tensor by numpy array failed, because of elements of {element}: {error}"
        ) from None


def _contains_tensor(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(_contains_tensor(d) for d in data)
    return isinstance(data, TensorBase)


def _plain(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_plain(d) for d in data]
    return data.asnumpy() if isinstance(data, TensorBase) else data


_UFUNC_OPERATORS: dict[Any, Any] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv, np.remainder: operator.mod, np.power: operator.pow, np.matmul: operator.matmul,
    np.equal: operator.eq, np.not_equal: operator.ne, np.less: operator.lt, np.less_equal: operator.le,
    np.greater: operator.gt, np.greater_equal: operator.ge, np.bitwise_and: operator.and_, np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor, np.negative: operator.neg, np.absolute: operator.abs, np.logical_not: operator.invert,
}  # fmt: skip
_OPERANDS = (TensorBase, values.SymbolicScalarBase, bool, int, float, complex, np.number, np.bool_)
values.register_tensor_class(Tensor)
for _name in habits.TENSORS:
    setattr(Tensor, _name, habits.NotHere(_name))


def _from_row(value: Any) -> Tensor:
    """A tensor of what a data pipeline yields."""
    array = np.asarray(value)
    return values.from_array(array) if array.dtype.kind in "buifc" else Tensor(array)


set_tensor_factory(_from_row)
