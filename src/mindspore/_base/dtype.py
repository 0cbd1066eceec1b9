"""Data types.

A `DType` is a named element type (`mindspore.float32`). It knows its NumPy counterpart; `bfloat16` and the 8-bit floats
need the small `ml_dtypes` package, which is imported only when such a type is first used.
"""

from __future__ import annotations

from builtins import bool as _PyBool  # `bool` below is the element type
from typing import Any

import numpy as np


class Type:
    """Base of everything that can stand as a type in MindSpore: element types and the composite kinds below.

    Examples:
        >>> isinstance(ms.float32, ms.Type)
        True
    """

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"mindspore.{self.name}"

    def __str__(self) -> str:
        return _DISPLAY.get(self.name, self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> _PyBool:
        return self is other or (isinstance(other, Type) and self.name == other.name)

    def __reduce__(self):
        return (type_of_name, (self.name,))

    def __deepcopy__(self, memo: dict) -> Type:
        return self

    def __copy__(self) -> Type:
        return self


class DType(Type):
    """An element type of tensors and scalars."""

    __slots__ = ("_np", "bits", "kind", "rank")

    def __init__(self, name: str, kind: str, bits: int, rank: int, np_dtype: Any = None):
        super().__init__(name)
        self.kind = kind  # 'b' bool, 'u' unsigned, 'i' signed, 'f' float, 'c' complex, 's' string
        self.bits = bits
        self.rank = rank  # order for implicit promotion
        self._np = np_dtype if np_dtype is None else np.dtype(np_dtype)

    __hash__ = Type.__hash__

    def __eq__(self, other: object) -> _PyBool:
        return self is other or (isinstance(other, Type) and self.name == other.name)

    @property
    def np(self) -> np.dtype:
        """The NumPy dtype."""
        if self._np is None:
            self._np = _extended_numpy_dtype(self.name)
        return self._np

    @property
    def itemsize(self) -> int:
        return max(1, self.bits // 8)

    @property
    def is_floating_point(self) -> _PyBool:
        return self.kind == "f"

    @property
    def is_complex(self) -> _PyBool:
        return self.kind == "c"

    @property
    def is_signed(self) -> _PyBool:
        return self.kind in "ifc"

    def __call__(self, value: Any) -> Any:
        """`ms.float32(x)` casts a Python number or array the way NumPy does."""
        return self.np.type(value)


def _extended_numpy_dtype(name: str) -> np.dtype:
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(f"{name} needs the ml_dtypes package: pip install ml_dtypes") from None
    return np.dtype(getattr(ml_dtypes, name))


bool_ = DType("bool_", "b", 8, 0, np.bool_)
uint8 = DType("uint8", "u", 8, 1, np.uint8)
int8 = DType("int8", "i", 8, 2, np.int8)
uint16 = DType("uint16", "u", 16, 3, np.uint16)
int16 = DType("int16", "i", 16, 4, np.int16)
uint32 = DType("uint32", "u", 32, 5, np.uint32)
int32 = DType("int32", "i", 32, 6, np.int32)
uint64 = DType("uint64", "u", 64, 7, np.uint64)
int64 = DType("int64", "i", 64, 8, np.int64)
float8_e4m3fn = DType("float8_e4m3fn", "f", 8, 9)
float8_e5m2 = DType("float8_e5m2", "f", 8, 9)
hifloat8 = DType("hifloat8", "f", 8, 9)
float16 = DType("float16", "f", 16, 10, np.float16)
bfloat16 = DType("bfloat16", "f", 16, 11)
float32 = DType("float32", "f", 32, 12, np.float32)
float64 = DType("float64", "f", 64, 13, np.float64)
complex64 = DType("complex64", "c", 64, 14, np.complex64)
complex128 = DType("complex128", "c", 128, 15, np.complex128)
int4 = DType("int4", "i", 4, 2)
# Element types of other formats' models: NumPy arrays (with ml_dtypes) hold them, tensors do not.
uint4 = DType("uint4", "u", 4, 1)
int2 = DType("int2", "i", 2, 2)
uint2 = DType("uint2", "u", 2, 1)
float4_e2m1fn = DType("float4_e2m1fn", "f", 4, 9)
float8_e4m3fnuz = DType("float8_e4m3fnuz", "f", 8, 9)
float8_e5m2fnuz = DType("float8_e5m2fnuz", "f", 8, 9)
float8_e8m0fnu = DType("float8_e8m0fnu", "f", 8, 9)
ARRAY_TYPES: tuple[DType, ...] = (int4, uint4, int2, uint2, float4_e2m1fn, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu)
qint4x2 = DType("qint4x2", "i", 8, 2, np.int8)
string = DType("string", "s", 0, 16, np.str_)

# Short names that user code spells.
bool = bool_  # the public name
byte = int8
ubyte = uint8
short = int16
ushort = uint16
intc = int32
uintc = uint32
intp = int64
uintp = uint64
half = float16
single = float32
float_ = float32  # as a type of scalars; see `number`
double = float64
int_ = int64
uint = uint64
cfloat = complex64
cdouble = complex128

# Composite kinds: used as annotations, in messages and by MultitypeFuncGraph signatures.
number = Type("number")
tensor = Type("tensor")
list_ = Type("list_")
tuple_ = Type("tuple_")
dict_ = Type("dict_")
slice_ = Type("slice")
function = Type("function")
func = Type("func")
type_type = Type("type_type")
type_none = Type("type_none")
none_type = type_none
ellipsis_ = Type("ellipsis")
symbolic_key = Type("symbolic_key")
env_type = Type("env_type")
ref_type = Type("ref_type")
problem = Type("problem")
coo_tensor = Type("coo_tensor")
csr_tensor = Type("csr_tensor")
row_tensor = Type("row_tensor")
keyword = Type("keyword")
type_refkey = Type("type_refkey")
null_type = Type("null_type")
dtype_type = Type("dtype")

NUMBER_TYPES: tuple[DType, ...] = (
    bool_, uint8, int8, uint16, int16, uint32, int32, uint64, int64,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
INT_TYPES: tuple[DType, ...] = tuple(d for d in NUMBER_TYPES if d.kind in "iu")
FLOAT_TYPES: tuple[DType, ...] = tuple(d for d in NUMBER_TYPES if d.kind == "f")
COMPLEX_TYPES: tuple[DType, ...] = (complex64, complex128)
signed_type = tuple(d for d in NUMBER_TYPES if d.kind == "i")
unsigned_type = tuple(d for d in NUMBER_TYPES if d.kind == "u")

_DISPLAY = {
    "bool_": "Bool", "uint8": "UInt8", "int8": "Int8", "uint16": "UInt16", "int16": "Int16", "uint32": "UInt32",
    "int32": "Int32", "uint64": "UInt64", "int64": "Int64", "float16": "Float16", "bfloat16": "BFloat16",
    "float32": "Float32", "float64": "Float64", "complex64": "Complex64", "complex128": "Complex128",
    "string": "String", "number": "Number", "tensor": "Tensor", "list_": "List", "tuple_": "Tuple", "dict_": "Dictionary",
    "float8_e4m3fn": "Float8E4M3FN", "float8_e5m2": "Float8E5M2", "hifloat8": "HiFloat8", "int4": "Int4",
    "function": "Func", "func": "Func", "type_none": "NoneType", "slice": "Slice",
}  # fmt: skip

_BY_NAME: dict[str, Type] = {t.name: t for t in list(globals().values()) if isinstance(t, Type)}
_BY_NAME["bool"] = bool_
_BY_NUMPY: dict[Any, DType] = {d.np: d for d in NUMBER_TYPES if d._np is not None}
_EXTENDED_NUMPY_NAMES = {"bfloat16", "float8_e4m3fn", "float8_e5m2", "int4"}
_BY_PYTHON: dict[type, DType] = {bool_.np.type: bool_, int: int64, float: float64, complex: complex128, str: string}
_BY_PYTHON[_PyBool] = bool_


def type_of_name(name: str) -> Type:
    return _BY_NAME[name]


def from_numpy(np_dtype: Any) -> DType:
    """The DType of a NumPy dtype; TypeError for one that tensors cannot hold."""
    found = _BY_NUMPY.get(np_dtype)
    if found is not None:
        return found
    np_dtype = np.dtype(np_dtype)
    found = _BY_NUMPY.get(np_dtype)
    if found is None and np_dtype.name in _EXTENDED_NUMPY_NAMES:
        found = _BY_NUMPY[np_dtype] = _BY_NAME[np_dtype.name]  # type: ignore[assignment]
    if found is None and np_dtype.kind in "US":
        return string
    if found is None:
        raise TypeError(
            f"a tensor cannot hold elements of NumPy type {np_dtype}; convert them to a number or bool type"
        )
    return found


def to_dtype(value: Any) -> DType:
    """A DType from anything users write for one: a DType, a Python type, a NumPy type, or a name."""
    if isinstance(value, DType):
        return value
    if isinstance(value, type) and value in _BY_PYTHON:
        return float32 if value is float else _BY_PYTHON[value]
    if isinstance(value, str) and isinstance(_BY_NAME.get(value), DType):
        return _BY_NAME[value]  # type: ignore[return-value]
    try:
        if value is None:
            raise TypeError  # float64 for NumPy
        found = from_numpy(value)
        if found is string and value not in ("str", "string", str):
            raise TypeError  # any word that begins with an S or U, for NumPy
        return found
    except TypeError:
        raise TypeError(
            f"The dtype must be an element type such as mindspore.float32, a NumPy type or its name, but got {value!r}."
        ) from None


def dtype_to_nptype(type_: DType) -> Any:
    """The NumPy scalar type of a MindSpore dtype.

    Examples:
        >>> ms.dtype_to_nptype(ms.float16)
        <class 'numpy.float16'>
    """
    return type_.np.type


def dtype_to_pytype(type_: Type) -> type:
    """The Python type of a MindSpore dtype.

    Examples:
        >>> ms.dtype_to_pytype(ms.int32)
        <class 'int'>
    """
    kinds: dict[str, type] = {"b": _PyBool, "u": int, "i": int, "f": float, "c": complex, "s": str}
    if isinstance(type_, DType):
        return kinds[type_.kind]
    composite: dict[str, type] = {
        "list_": list, "tuple_": tuple, "dict_": dict, "type_none": type(None), "slice": slice,
    }  # fmt: skip
    return composite[type_.name]


def pytype_to_dtype(obj: Any) -> Type:
    """The MindSpore dtype of a Python or NumPy type.

    Examples:
        >>> ms.pytype_to_dtype(np.float16)
        mindspore.float16
    """
    if isinstance(obj, Type):
        return obj
    composite = {list: list_, tuple: tuple_, dict: dict_, type(None): type_none, slice: slice_}
    if obj in composite:
        return composite[obj]
    if obj in _BY_PYTHON:
        return _BY_PYTHON[obj]
    try:
        return from_numpy(obj)
    except TypeError:
        raise NotImplementedError(f"Unsupported convert python type {obj} to MindSpore type.") from None


def issubclass_(type_: Any, dtype: Any) -> Any:
    """Whether `type_` is `dtype`, or belongs to the family that `dtype` names (`number`, `int_`, `float_` …)."""
    if not isinstance(type_, Type):
        return False
    if dtype == number:
        return isinstance(type_, DType) and type_.kind in "buifc"
    if dtype is tensor:
        return type_ is tensor or type(type_).__name__ == "TensorType"
    return type_ == dtype


class TensorType(Type):
    """The type of tensors of one element type; `tensor_type(float32)`.

    Examples:
        >>> isinstance(ms.tensor_type(ms.float32), ms.TensorType)
        True
    """

    __slots__ = ("element",)

    def __init__(self, element: DType):
        super().__init__(f"tensor[{element.name}]")
        self.element = element

    def element_type(self) -> DType:
        return self.element

    def __str__(self) -> str:
        return f"Tensor[{self.element}]"

    def __reduce__(self):
        return (TensorType, (self.element,))


def tensor_type(element: DType) -> TensorType:
    """The type of tensors whose elements are of the given type.

    Examples:
        >>> ms.tensor_type(ms.float32)
        mindspore.tensor[float32]
    """
    return TensorType(element)


# ---------------------------------------------------------------------------------------------------------------------
# Implicit promotion


_PROMOTE_CACHE: dict[tuple[DType, DType], DType] = {}


def promote(a: DType, b: DType) -> DType:
    """The common type of two tensors in an arithmetic operation: the wider float, else the wider integer.

    uint8 with a signed type gives the smallest signed type that holds both; float16 with bfloat16 gives float32.
    """
    if a is b:
        return a
    key = (a, b)
    found = _PROMOTE_CACHE.get(key)
    if found is None:
        found = _PROMOTE_CACHE[key] = _promote(a, b)
    return found


def _promote(a: DType, b: DType) -> DType:
    if a.kind == "s" or b.kind == "s":
        raise TypeError(f"cannot combine {a} and {b}")
    low, high = sorted((a, b), key=lambda d: d.rank)
    if low == high or low is bool_:
        return high
    if (low.kind == "u" and high.kind == "i") or (low.kind == "i" and high.kind == "u"):
        signed, unsigned = (low, high) if low.kind == "i" else (high, low)
        bits = max(signed.bits, min(64, unsigned.bits * 2))
        return {8: int8, 16: int16, 32: int32, 64: int64}[bits]
    if low is float16 and high is bfloat16:
        return float32
    if high is complex64 and low is float64:
        return complex128
    return high


def promote_scalar(tensor_dtype: DType, scalar: Any) -> DType:
    """The result type of a tensor with a Python number: the tensor's own type unless the number is of a higher kind."""
    if isinstance(scalar, _PyBool):
        return tensor_dtype
    if isinstance(scalar, int):
        return int64 if tensor_dtype is bool_ else tensor_dtype
    if isinstance(scalar, float):
        return tensor_dtype if tensor_dtype.kind in "fc" else float32
    if isinstance(scalar, complex):
        return tensor_dtype if tensor_dtype.kind == "c" else (complex128 if tensor_dtype is float64 else complex64)
    raise TypeError(f"cannot combine a tensor with {type(scalar).__name__}")
