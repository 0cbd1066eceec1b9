"""An array namespace that records instead of computing.

A primitive's evaluation rule is written against an array namespace `xp`. Called with this one, on `LazyArray`s, the
rule leaves behind the loop program of the primitive: its expansion into basic operations. What cannot be expressed
raises `Unsupported`, and the primitive runs on the host instead.

Types follow NumPy: Python numbers are weak, arrays are not.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.compiler.fuse.loopir import ELEMENT_TYPES, Maker, Slot, Unsupported, Value
from mindspore.prims.arrays import Concat, SetItem
from mindspore.prims.linalg import BatchMatMul

#: constants of at most this many elements become inputs of kernels
_SMALL = 1 << 20


def name_of(dtype: Any) -> str:
    found = mstype.from_numpy(np.dtype(dtype))
    if found.name not in ELEMENT_TYPES:
        raise Unsupported(f"elements of type {found}")
    return found.name


@functools.cache
def numpy_of(name: str) -> np.dtype:
    return mstype.type_of_name(name).np  # type: ignore[attr-defined]


def is_floating(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype.name == "bfloat16"


class LazyArray:
    """Stands for an array inside an evaluation rule."""

    __slots__ = ("ns", "value")
    __array_ufunc__ = None  # NumPy arrays leave mixed operations to us

    def __init__(self, ns: Namespace, value: Value):
        self.ns = ns
        self.value = value

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def ndim(self) -> int:
        return len(self.value.shape)

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def dtype(self) -> np.dtype:
        return numpy_of(self.value.dtype)

    @property
    def T(self) -> LazyArray:
        return self.ns.transpose(self)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Unsupported("the values of a symbolic array")

    def __bool__(self) -> bool:
        raise Unsupported("a decision on the values of an array")

    __int__ = __float__ = __index__ = __iter__ = __len__ = __bool__

    def astype(self, dtype: Any, **_: Any) -> LazyArray:
        target = name_of(dtype)
        return LazyArray(self.ns, self.ns.make.map("cast", target, self.value))

    def reshape(self, *shape: Any) -> LazyArray:
        return self.ns.reshape(self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)

    def transpose(self, *order: Any) -> LazyArray:
        return self.ns.transpose(self, order[0] if len(order) == 1 and not isinstance(order[0], int) else order or None)

    def swapaxes(self, a: int, b: int) -> LazyArray:
        return self.ns.swapaxes(self, a, b)

    def __matmul__(self, other: Any) -> LazyArray:
        return self.ns.matmul(self, other)

    def sum(self, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> LazyArray:
        return self.ns.sum(self, axis=axis, keepdims=keepdims, dtype=dtype)

    def __getitem__(self, index: Any) -> LazyArray:
        return self.ns.index(self, index)

    def __neg__(self) -> LazyArray:
        return self.ns.negative(self)

    def __abs__(self) -> LazyArray:
        return self.ns.abs(self)

    def __invert__(self) -> LazyArray:
        return self.ns.invert(self)

    def __add__(self, other: Any) -> LazyArray:
        return self.ns.add(self, other)

    def __radd__(self, other: Any) -> LazyArray:
        return self.ns.add(other, self)

    def __sub__(self, other: Any) -> LazyArray:
        return self.ns.subtract(self, other)

    def __rsub__(self, other: Any) -> LazyArray:
        return self.ns.subtract(other, self)

    def __mul__(self, other: Any) -> LazyArray:
        return self.ns.multiply(self, other)

    def __rmul__(self, other: Any) -> LazyArray:
        return self.ns.multiply(other, self)

    def __truediv__(self, other: Any) -> LazyArray:
        return self.ns.true_divide(self, other)

    def __rtruediv__(self, other: Any) -> LazyArray:
        return self.ns.true_divide(other, self)

    def __floordiv__(self, other: Any) -> LazyArray:
        return self.ns.floor_divide(self, other)

    def __mod__(self, other: Any) -> LazyArray:
        return self.ns.remainder(self, other)

    def __pow__(self, other: Any) -> LazyArray:
        return self.ns.power(self, other)

    def __rpow__(self, other: Any) -> LazyArray:
        return self.ns.power(other, self)

    def __and__(self, other: Any) -> LazyArray:
        return self.ns.bitwise_and(self, other)

    def __or__(self, other: Any) -> LazyArray:
        return self.ns.bitwise_or(self, other)

    def __xor__(self, other: Any) -> LazyArray:
        return self.ns.bitwise_xor(self, other)

    def __lshift__(self, other: Any) -> LazyArray:
        return self.ns.left_shift(self, other)

    def __rshift__(self, other: Any) -> LazyArray:
        return self.ns.right_shift(self, other)

    def __lt__(self, other: Any) -> LazyArray:
        return self.ns.less(self, other)

    def __le__(self, other: Any) -> LazyArray:
        return self.ns.less_equal(self, other)

    def __gt__(self, other: Any) -> LazyArray:
        return self.ns.greater(self, other)

    def __ge__(self, other: Any) -> LazyArray:
        return self.ns.greater_equal(self, other)

    def __eq__(self, other: object) -> LazyArray:  # type: ignore[override]
        return self.ns.equal(self, other)

    def __ne__(self, other: object) -> LazyArray:  # type: ignore[override]
        return self.ns.not_equal(self, other)

    __hash__ = None  # type: ignore[assignment]


def common_dtype(operands: list[Any]) -> np.dtype:
    """NumPy's promotion with weak Python numbers; halves of two kinds meet in float32."""
    strong = [o.dtype for o in operands if hasattr(o, "dtype")]
    weak = [o for o in operands if not hasattr(o, "dtype")]
    dtype = strong[0] if strong else np.result_type(*weak)
    for other in strong[1:]:
        if other != dtype:
            dtype = np.result_type(dtype, other)
    for number in weak:
        if isinstance(number, bool):
            continue
        if isinstance(number, int):
            dtype = np.dtype(np.int64) if dtype.kind == "b" else dtype
        elif isinstance(number, float):
            dtype = dtype if is_floating(dtype) else np.dtype(np.float64)
        else:
            raise Unsupported(f"an operand of type {type(number).__name__}")
    return dtype


class Namespace:
    """The functions evaluation rules may call."""

    pi, inf, nan, e = math.pi, math.inf, math.nan, math.e

    def __init__(self, make: Maker, constant: Callable[[np.ndarray], Value]):
        self.make = make
        self._constant = constant  # turns an array into an input

    def __getattr__(self, name: str) -> Any:
        """dtypes (`xp.float32`) are NumPy's; anything else is missing here."""
        if name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool_"):
            return getattr(np, name)
        raise Unsupported(f"the array function {name}")

    # -- conversion -----------------------------------------------------------------------------------------------
    def lift(self, x: Any, dtype: np.dtype | None = None) -> Value:
        """Any operand as a value; numbers take `dtype`."""
        if isinstance(x, LazyArray):
            return x.value
        array = np.asarray(x, dtype if not hasattr(x, "dtype") else None)
        if array.size == 1:
            return self.make.const(
                array.reshape(()).item() if array.dtype.name != "bfloat16" else float(array.reshape(())),
                array.shape,
                name_of(array.dtype),
            )
        if array.size > _SMALL:
            raise Unsupported("a large constant")
        return self._constant(np.ascontiguousarray(array))

    def _wrap(self, value: Value) -> LazyArray:
        return LazyArray(self, value)

    def asarray(self, x: Any, dtype: Any = None, **_: Any) -> LazyArray:
        lazy = self._wrap(self.lift(x, None if dtype is None else np.dtype(dtype)))
        return lazy if dtype is None else lazy.astype(dtype)

    array = ascontiguousarray = asarray

    # -- elementwise ----------------------------------------------------------------------------------------------
    def _operands(self, *operands: Any) -> tuple[np.dtype, list[Value]]:
        dtype = common_dtype(list(operands))
        name = name_of(dtype)
        lifted = [self.lift(o, dtype) for o in operands]
        return dtype, [self.make.map("cast", name, v) for v in lifted]

    def _binary(self, op: str, a: Any, b: Any, result: str | None = None) -> LazyArray:
        dtype, values = self._operands(a, b)
        return self._wrap(self.make.map(op, result or name_of(dtype), *values))

    def add(self, a: Any, b: Any) -> LazyArray:
        return self._binary("or_" if common_dtype([a, b]).kind == "b" else "add", a, b)

    def subtract(self, a: Any, b: Any) -> LazyArray:
        if common_dtype([a, b]).kind == "b":
            raise Unsupported("subtraction of bools")
        return self._binary("sub", a, b)

    def multiply(self, a: Any, b: Any) -> LazyArray:
        return self._binary("and_" if common_dtype([a, b]).kind == "b" else "mul", a, b)

    def true_divide(self, a: Any, b: Any) -> LazyArray:
        dtype = common_dtype([a, b])
        if not is_floating(dtype):
            a, b = (self.asarray(x).astype(np.float64) for x in (a, b))
        return self._binary("div", a, b)

    divide = true_divide

    def floor_divide(self, a: Any, b: Any) -> LazyArray:
        if is_floating(common_dtype([a, b])):
            raise Unsupported("floor division of floats")  # NumPy's has corrections a quotient and floor lack
        return self._binary("floordiv", a, b)

    def remainder(self, a: Any, b: Any) -> LazyArray:
        return self._binary("floormod", a, b)

    mod = remainder

    def fmod(self, a: Any, b: Any) -> LazyArray:
        return self._binary("truncmod", a, b)

    def power(self, a: Any, b: Any) -> LazyArray:
        dtype, (x, y) = self._operands(a, b)
        if not is_floating(dtype):
            raise Unsupported("powers of integers")
        exponent = y.attr if y.op == "const" else None
        wrapped = self._wrap(x)
        if exponent in (1.0, 2.0, 3.0):
            return wrapped if exponent == 1.0 else wrapped * wrapped if exponent == 2.0 else wrapped * wrapped * wrapped
        if exponent == 0.5:
            return self._float_unary("sqrt", wrapped)
        if exponent == -1.0:
            return 1.0 / wrapped
        return self._wrap(self.make.map("pow", name_of(dtype), x, y))

    def maximum(self, a: Any, b: Any) -> LazyArray:
        return self._binary("or_" if common_dtype([a, b]).kind == "b" else "max", a, b)

    def minimum(self, a: Any, b: Any) -> LazyArray:
        return self._binary("and_" if common_dtype([a, b]).kind == "b" else "min", a, b)

    def arctan2(self, a: Any, b: Any) -> LazyArray:
        return self._binary("atan2", a, b)

    def hypot(self, a: Any, b: Any) -> LazyArray:
        return self._binary("hypot", a, b)

    def logaddexp(self, a: Any, b: Any) -> LazyArray:
        if not isinstance(b, LazyArray) or b.value.op != "const" or b.value.attr != 0:
            raise Unsupported("logaddexp of two arrays")
        return self._float_unary("softplus", a)

    def bitwise_and(self, a: Any, b: Any) -> LazyArray:
        return self._binary("and_", a, b)

    def bitwise_or(self, a: Any, b: Any) -> LazyArray:
        return self._binary("or_", a, b)

    def bitwise_xor(self, a: Any, b: Any) -> LazyArray:
        return self._binary("xor_", a, b)

    def left_shift(self, a: Any, b: Any) -> LazyArray:
        return self._binary("shl", a, b)

    def right_shift(self, a: Any, b: Any) -> LazyArray:
        return self._binary("shr", a, b)

    def _logical(self, op: str, a: Any, b: Any) -> LazyArray:
        return self._binary(op, self.asarray(a).astype(np.bool_), self.asarray(b).astype(np.bool_))

    def logical_and(self, a: Any, b: Any) -> LazyArray:
        return self._logical("and_", a, b)

    def logical_or(self, a: Any, b: Any) -> LazyArray:
        return self._logical("or_", a, b)

    def logical_xor(self, a: Any, b: Any) -> LazyArray:
        return self._logical("xor_", a, b)

    def logical_not(self, x: Any) -> LazyArray:
        return self.invert(self.asarray(x).astype(np.bool_))

    def _compare(self, op: str, a: Any, b: Any) -> LazyArray:
        if common_dtype([a, b]).kind == "b":
            a, b = (self.asarray(x).astype(np.uint8) for x in (a, b))
        return self._binary(op, a, b, "bool_")

    def equal(self, a: Any, b: Any) -> LazyArray:
        return self._compare("eq", a, b)

    def not_equal(self, a: Any, b: Any) -> LazyArray:
        return self._compare("ne", a, b)

    def less(self, a: Any, b: Any) -> LazyArray:
        return self._compare("lt", a, b)

    def less_equal(self, a: Any, b: Any) -> LazyArray:
        return self._compare("le", a, b)

    def greater(self, a: Any, b: Any) -> LazyArray:
        return self._compare("gt", a, b)

    def greater_equal(self, a: Any, b: Any) -> LazyArray:
        return self._compare("ge", a, b)

    def where(self, condition: Any, a: Any, b: Any) -> LazyArray:
        dtype, (x, y) = self._operands(a, b)
        chosen = self.make.map("cast", "bool_", self.lift(condition))
        return self._wrap(self.make.map("select", name_of(dtype), chosen, x, y))

    def clip(self, x: Any, low: Any = None, high: Any = None, *, min: Any = None, max: Any = None) -> LazyArray:
        low, high = (min if low is None else low), (max if high is None else high)
        if low is not None:
            x = self.maximum(x, low)
        return self.minimum(x, high) if high is not None else x

    def _unary(self, op: str, x: Any, result: str | None = None) -> LazyArray:
        value = self.lift(x)
        return self._wrap(self.make.map(op, result or value.dtype, value))

    def _float_unary(self, op: str, x: Any) -> LazyArray:
        value = self.lift(x)
        if not is_floating(numpy_of(value.dtype)):
            value = self.make.map("cast", "float64", value)
        return self._wrap(self.make.map(op, value.dtype, value))

    def negative(self, x: Any) -> LazyArray:
        return self._unary("neg", x)

    def positive(self, x: Any) -> LazyArray:
        return self.asarray(x)

    def invert(self, x: Any) -> LazyArray:
        return self._unary("not_", x)

    def abs(self, x: Any) -> LazyArray:
        lazy = self.asarray(x)
        return lazy if lazy.dtype.kind == "b" else self._unary("abs", lazy)

    absolute = abs

    def sign(self, x: Any) -> LazyArray:
        return self._unary("sign", x)

    def signbit(self, x: Any) -> LazyArray:
        return self._unary("signbit", x, "bool_")

    def square(self, x: Any) -> LazyArray:
        return self.multiply(x, x)

    def reciprocal(self, x: Any) -> LazyArray:
        return 1 / self.asarray(x)

    def real(self, x: Any) -> LazyArray:
        return self.asarray(x)

    conj = conjugate = real

    def round(self, x: Any, decimals: int = 0) -> LazyArray:
        if decimals:
            raise Unsupported("rounding to decimals")
        return self._unary("rint", x)

    def _predicate(self, op: str, x: Any, otherwise: bool) -> LazyArray:
        value = self.lift(x)
        if not is_floating(numpy_of(value.dtype)):
            return self._wrap(self.make.const(otherwise, value.shape, "bool_"))
        return self._wrap(self.make.map(op, "bool_", value))

    def isnan(self, x: Any) -> LazyArray:
        return self._predicate("isnan", x, False)

    def isinf(self, x: Any) -> LazyArray:
        return self._predicate("isinf", x, False)

    def isfinite(self, x: Any) -> LazyArray:
        return self._predicate("isfinite", x, True)

    # -- creation -------------------------------------------------------------------------------------------------
    def full(self, shape: Any, value: Any, dtype: Any = None) -> LazyArray:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if isinstance(value, LazyArray):
            return self.broadcast_to(value if dtype is None else value.astype(dtype), shape)
        array = np.asarray(value, dtype)
        number = float(array) if array.dtype.name == "bfloat16" else array.item()
        return self._wrap(self.make.const(number, shape, name_of(array.dtype)))

    def zeros(self, shape: Any, dtype: Any = np.float64) -> LazyArray:
        return self.full(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any = np.float64) -> LazyArray:
        return self.full(shape, 1, dtype)

    def full_like(self, x: Any, value: Any, dtype: Any = None) -> LazyArray:
        lazy = self.asarray(x)
        return self.full(lazy.shape, value, dtype or lazy.dtype)

    def zeros_like(self, x: Any, dtype: Any = None) -> LazyArray:
        return self.full_like(x, 0, dtype)

    def ones_like(self, x: Any, dtype: Any = None) -> LazyArray:
        return self.full_like(x, 1, dtype)

    def arange(self, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> LazyArray:
        if stop is None:
            start, stop = 0, start
        if not all(isinstance(v, int) for v in (start, stop, step)):
            raise Unsupported("ranges of floats")
        count = max(0, -(-(stop - start) // step))
        lazy = self._wrap(self.make.iota(0, (count,)))
        lazy = lazy if step == 1 else lazy * step
        lazy = lazy if start == 0 else lazy + start
        return lazy if dtype is None else lazy.astype(dtype)

    def _diagonal_distance(self, shape: tuple[int, ...]) -> LazyArray:
        """Column minus row, over the last two axes."""
        n = len(shape)
        return self._wrap(self.make.iota(n - 1, shape)) - self._wrap(self.make.iota(n - 2, shape))

    def eye(self, n: int, m: int | None = None, k: int = 0, dtype: Any = np.float64) -> LazyArray:
        return (self._diagonal_distance((n, n if m is None else m)) == k).astype(dtype)

    def tril(self, x: Any, k: int = 0) -> LazyArray:
        lazy = self.asarray(x)
        return self.where(self._diagonal_distance(lazy.shape) <= k, lazy, self.zeros_like(lazy))

    def triu(self, x: Any, k: int = 0) -> LazyArray:
        lazy = self.asarray(x)
        return self.where(self._diagonal_distance(lazy.shape) >= k, lazy, self.zeros_like(lazy))

    # -- reductions -----------------------------------------------------------------------------------------------
    def _reduce(self, kind: str, x: Any, axis: Any, keepdims: bool, dtype: str | None = None) -> LazyArray:
        value = self.lift(x)
        axes = _axes(axis, len(value.shape))
        target = dtype or value.dtype
        if value.dtype != target and kind in ("sum", "prod"):
            value = self.make.map("cast", target, value)
        out = self.make.reduce(kind, value, axes, target)
        if keepdims:
            out = self.make.reshape(out, tuple(1 if i in axes else d for i, d in enumerate(value.shape)))
        return self._wrap(out)

    def _sum_dtype(self, x: LazyArray, dtype: Any) -> str:
        if dtype is not None:
            return name_of(dtype)
        return name_of(np.sum(np.zeros(0, x.dtype)).dtype)

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> LazyArray:
        lazy = self.asarray(x)
        return self._reduce("sum", lazy, axis, keepdims, self._sum_dtype(lazy, dtype))

    def prod(self, x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> LazyArray:
        lazy = self.asarray(x)
        return self._reduce("prod", lazy, axis, keepdims, self._sum_dtype(lazy, dtype))

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> LazyArray:
        lazy = self.asarray(x)
        if not is_floating(lazy.dtype):
            lazy = lazy.astype(np.float64)
        count = 1
        for a in _axes(axis, lazy.ndim):
            count *= lazy.shape[a]
        total = self._reduce("sum", lazy, axis, keepdims)
        return total * (1.0 / count) if count & (count - 1) == 0 and count else total / count

    def max(self, x: Any, axis: Any = None, keepdims: bool = False) -> LazyArray:
        return self._extremum("max", x, axis, keepdims)

    def min(self, x: Any, axis: Any = None, keepdims: bool = False) -> LazyArray:
        return self._extremum("min", x, axis, keepdims)

    amax, amin = max, min

    def _extremum(self, kind: str, x: Any, axis: Any, keepdims: bool) -> LazyArray:
        lazy = self.asarray(x)
        if any(lazy.shape[a] == 0 for a in _axes(axis, lazy.ndim)):
            raise Unsupported("the extremum of nothing")
        return self._reduce(kind, lazy, axis, keepdims)

    def all(self, x: Any, axis: Any = None, keepdims: bool = False) -> LazyArray:
        return self._reduce("all", self.asarray(x).astype(np.bool_), axis, keepdims)

    def any(self, x: Any, axis: Any = None, keepdims: bool = False) -> LazyArray:
        return self._reduce("any", self.asarray(x).astype(np.bool_), axis, keepdims)

    def _arg_extremum(self, kind: str, x: Any, axis: Any, keepdims: bool) -> LazyArray:
        """The first position that attains the extremum (or is NaN, as in NumPy)."""
        lazy = self.asarray(x)
        if axis is None:
            lazy, axis = self.reshape(lazy, (-1,)), 0
        axis %= lazy.ndim
        if lazy.dtype.kind == "b":
            lazy = lazy.astype(np.uint8)
        hit = lazy == self._extremum(kind, lazy, axis, True)
        if is_floating(lazy.dtype):
            hit = self.logical_or(hit, self.isnan(lazy))
        places = self._wrap(self.make.iota(axis, lazy.shape))
        return self._reduce("min", self.where(hit, places, lazy.shape[axis]), axis, keepdims)

    def argmax(self, x: Any, axis: Any = None, keepdims: bool = False) -> LazyArray:
        return self._arg_extremum("max", x, axis, keepdims)

    def argmin(self, x: Any, axis: Any = None, keepdims: bool = False) -> LazyArray:
        return self._arg_extremum("min", x, axis, keepdims)

    # -- shapes ---------------------------------------------------------------------------------------------------
    def reshape(self, x: Any, shape: Any) -> LazyArray:
        value = self.lift(x)
        shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(int(d) for d in shape)
        if -1 in shape:
            known = 1
            for d in shape:
                known *= d if d != -1 else 1
            shape = tuple(value.size // max(known, 1) if d == -1 else d for d in shape)
        return self._wrap(self.make.reshape(value, shape))

    def ravel(self, x: Any) -> LazyArray:
        return self.reshape(x, (-1,))

    def transpose(self, x: Any, order: Any = None) -> LazyArray:
        value = self.lift(x)
        n = len(value.shape)
        order = tuple(reversed(range(n))) if order is None else tuple(int(i) % max(n, 1) for i in order)
        return self._wrap(self.make.transpose(value, order))

    def swapaxes(self, x: Any, a: int, b: int) -> LazyArray:
        order = list(range(self.asarray(x).ndim))
        order[a], order[b] = order[b], order[a]
        return self.transpose(x, order)

    def moveaxis(self, x: Any, source: int, target: int) -> LazyArray:
        n = self.asarray(x).ndim
        order = [i for i in range(n) if i != source % n]
        order.insert(target % n, source % n)
        return self.transpose(x, order)

    def expand_dims(self, x: Any, axis: Any) -> LazyArray:
        value = self.lift(x)
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        n = len(value.shape) + len(axes)
        places = {a % n for a in axes}
        rest = iter(value.shape)
        return self.reshape(x, tuple(1 if i in places else next(rest) for i in range(n)))

    def squeeze(self, x: Any, axis: Any = None) -> LazyArray:
        value = self.lift(x)
        axes = (
            _axes(axis, len(value.shape)) if axis is not None else tuple(i for i, d in enumerate(value.shape) if d == 1)
        )
        return self.reshape(x, tuple(d for i, d in enumerate(value.shape) if i not in axes))

    def broadcast_to(self, x: Any, shape: Any) -> LazyArray:
        return self._wrap(self.make.broadcast(self.lift(x), tuple(shape)))

    def flip(self, x: Any, axis: Any = None) -> LazyArray:
        value = self.lift(x)
        axes = _axes(axis, len(value.shape))
        ranges = tuple((d - 1, -1, d) if i in axes else (0, 1, d) for i, d in enumerate(value.shape))
        return self._wrap(self.make.slice(value, ranges))

    # -- operations of their own: the rule's loops go on around them -----------------------------------------------
    def _operation(self, prim: Any, operands: list[Value], shape: tuple[int, ...], dtype: str) -> LazyArray:
        call = self.make.opaque(prim, [Slot(n) for n in range(len(operands))], tuple(operands))
        return self._wrap(self.make.item(call, 0, shape, dtype))

    def matmul(self, a: Any, b: Any) -> LazyArray:
        dtype, (x, y) = self._operands(a, b)
        if len(x.shape) < 2 or len(y.shape) < 2:
            raise Unsupported("products with vectors")
        shape = (*np.broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1])
        return self._operation(BatchMatMul(), [x, y], shape, name_of(dtype))

    def einsum(self, rule: str, a: Any, b: Any) -> LazyArray:
        """A product of two arrays as one of matrices: axes of both are summed over, unless the result has them."""
        left, right, out = rule.replace(",", "->").split("->")
        batch = [c for c in left if c in right and c in out]
        summed = [c for c in left if c in right and c not in out]
        free = [[c for c in labels if c not in batch and c not in summed] for labels in (left, right)]
        sizes = dict(zip(left + right, self.asarray(a).shape + self.asarray(b).shape))

        def matrix(x: Any, labels: str, *groups: list[str]) -> LazyArray:
            turned = self.transpose(x, [labels.index(c) for group in groups for c in group])
            lead = tuple(sizes[c] for c in batch)
            return self.reshape(turned, lead + tuple(math.prod(sizes[c] for c in group) for group in groups[1:]))

        product = self.matmul(matrix(a, left, batch, free[0], summed), matrix(b, right, batch, summed, free[1]))
        order = [*batch, *free[0], *free[1]]
        whole = self.reshape(product, tuple(sizes[c] for c in order))
        return self.transpose(whole, [order.index(c) for c in out])

    def concatenate(self, arrays: Any, axis: int = 0) -> LazyArray:
        dtype, values = self._operands(*arrays)
        at = axis % len(values[0].shape)
        total = sum(v.shape[at] for v in values)
        shape = values[0].shape[:at] + (total,) + values[0].shape[at + 1 :]
        return self._operation(Concat(at), values, shape, name_of(dtype))

    def stack(self, arrays: Any, axis: int = 0) -> LazyArray:
        lazy = [self.asarray(a) for a in arrays]
        return self.concatenate([self.expand_dims(a, axis % (a.ndim + 1)) for a in lazy], axis % (lazy[0].ndim + 1))

    def pad(self, x: Any, widths: Any, mode: str = "constant", constant_values: Any = 0) -> LazyArray:
        value = self.lift(x)
        if mode != "constant" or any(w < 0 for pair in widths for w in pair):
            raise Unsupported("this kind of padding")
        shape = tuple(lo + d + hi for d, (lo, hi) in zip(value.shape, widths))
        spec = tuple(slice(lo, lo + d) for d, (lo, _) in zip(value.shape, widths))
        frame = self.full(shape, constant_values, numpy_of(value.dtype)).value
        return self._operation(SetItem(spec), [frame, value], shape, value.dtype)

    # -- picking --------------------------------------------------------------------------------------------------
    def take(self, x: Any, indices: Any, axis: int = 0, **_: Any) -> LazyArray:
        lead = (slice(None),) * (axis % self.asarray(x).ndim)
        return self.index(self.asarray(x), (*lead, self.asarray(indices)))

    def take_along_axis(self, x: Any, indices: Any, axis: int) -> LazyArray:
        source, index = self.lift(x), self.lift(indices)
        axis %= len(source.shape)
        shape = tuple(index.shape[i] if i == axis else d for i, d in enumerate(source.shape))
        places = tuple(("index", 1) if i == axis else ("axis", i) for i in range(len(shape)))
        return self._wrap(self.make.take(source, places, shape, [index]))

    def index(self, x: LazyArray, index: Any) -> LazyArray:
        """x[index]: slices and integers are views; integer arrays, all side by side, are reads at run-time positions."""
        items = list(index) if isinstance(index, tuple) else [index]
        for place, item in enumerate(items):
            if not isinstance(item, LazyArray) and isinstance(item, np.ndarray) and item.ndim:
                items[place] = self.asarray(item)
        items = _fill_ellipsis(items, x.ndim)
        arrays = [i for i, item in enumerate(items) if isinstance(item, LazyArray)]
        if arrays and any(items[i].dtype.kind not in "ui" for i in arrays):
            raise Unsupported("an index of bools")
        view = self._basic(x, [slice(None) if i in arrays else item for i, item in enumerate(items)])
        if not arrays:
            return view
        if any(isinstance(item, (int, np.integer)) for item in items) or arrays != list(
            range(arrays[0], arrays[-1] + 1)
        ):
            raise Unsupported("index arrays apart from one another")
        places = [i for i, item in enumerate(items) if not isinstance(item, (int, np.integer))]
        return self._advanced(view, [places.index(i) for i in arrays], [items[i] for i in arrays])

    def _basic(self, x: LazyArray, items: list[Any]) -> LazyArray:
        """Slices, integers and new axes."""
        value = x.value
        ranges, shape = [], []
        axis = 0
        for item in items:
            if item is None:
                shape.append(1)
                continue
            size = value.shape[axis]
            if isinstance(item, (int, np.integer)):
                if not -size <= item < size:
                    raise Unsupported("an index out of range")
                ranges.append((int(item) % size, 1, 1))
            elif isinstance(item, slice):
                start, stop, step = item.indices(size)
                count = len(range(start, stop, step))
                ranges.append((start, step, count))
                shape.append(count)
            else:
                raise Unsupported(f"an index of type {type(item).__name__}")
            axis += 1
        return self._wrap(self.make.reshape(self.make.slice(value, tuple(ranges)), tuple(shape)))

    def _advanced(self, x: LazyArray, axes: list[int], arrays: list[LazyArray]) -> LazyArray:
        block = np.broadcast_shapes(*(a.shape for a in arrays))
        first, count = axes[0], len(axes)
        shape = x.shape[:first] + block + x.shape[first + count :]
        places = []
        for i in range(x.ndim):
            if i < first:
                places.append(("axis", i))
            elif i < first + count:
                places.append(("index", i - first + 1))
            else:
                places.append(("axis", i - count + len(block)))
        after = len(shape) - first - len(block)
        indices = []
        for a in arrays:
            whole = self.make.broadcast(a.value, block)
            indices.append(self.make.reshape(whole, (1,) * first + block + (1,) * after))
        return self._wrap(self.make.take(x.value, tuple(places), shape, indices))


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(sorted({int(a) % max(ndim, 1) for a in ((axis,) if isinstance(axis, (int, np.integer)) else axis)}))


def _fill_ellipsis(items: list[Any], ndim: int) -> list[Any]:
    used = sum(item is not None and item is not Ellipsis for item in items)
    fill = [slice(None)] * (ndim - used)
    for place, item in enumerate(items):
        if item is Ellipsis:
            return items[:place] + fill + items[place + 1 :]
    return items + fill


def _install_functions() -> None:
    """The functions of one argument that differ in nothing but their name."""
    floats = {
        "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "log2": "log2", "log10": "log10", "sqrt": "sqrt",
        "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh",
        "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "erf": "erf",
        "erfc": "erfc", "lgamma": "lgamma",
    }  # fmt: skip
    for name, op in floats.items():
        setattr(Namespace, name, lambda self, x, op=op: self._float_unary(op, x))
    for name in ("floor", "ceil", "trunc", "rint"):
        setattr(Namespace, name, lambda self, x, op=name: self._unary(op, x))


_install_functions()
