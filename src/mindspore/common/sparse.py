"""Sparse tensors: coordinates (COO), compressed rows (CSR) and whole rows (Row), each a handful of dense tensors.

Operations on them are made of gathers, scatters and element-wise primitives on those parts, so gradients flow to the
values and graphs compile as usual.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.common.tensor_text import tensor_text
from mindspore.prims import elementwise as ew
from mindspore.prims import values as _values
from mindspore.prims.active import ACTIVE
from mindspore.prims.arrays import Fill, Stack, Transpose
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.creation import Range
from mindspore.prims.gather_scatter import Gather, GatherNd, TensorScatterAdd
from mindspore.prims.sorting import SearchSorted
from mindspore.prims.symbolic import unknown_value

if TYPE_CHECKING:
    from mindspore._base.dtype import DType


def _check_parts(owner: str, **parts: Any) -> None:
    for name, part in parts.items():
        if not isinstance(part, Tensor):
            raise TypeError(f"For '{owner}', '{name}' must be a Tensor, but got {type(part).__name__}.")


def _check_shape(owner: str, shape: object, rank: int | None = None) -> tuple[int, ...]:
    if not isinstance(shape, tuple) or any(isinstance(d, bool) or not isinstance(d, int) or d <= 0 for d in shape):
        raise ValueError(f"For '{owner}', 'shape' must be a tuple of positive ints, but got {shape!r}.")
    if rank is not None and len(shape) != rank:
        raise ValueError(f"For '{owner}', 'shape' must have {rank} dimensions, but got {shape}.")
    return shape


def _places(part: Any) -> Any:
    """Where values stand is no part of what is differentiated, even if it is returned."""
    return ew.StopGradient()(part) if part._node is not None or ACTIVE.tapes else part


def _cast(x: Tensor, dtype: DType) -> Any:
    return x if x.dtype is dtype else ew.Cast()(x, dtype)


def _part_text(part: Tensor) -> str:
    return repr(part) if part._node is not None else tensor_text(np.asarray(part._data), part.dtype, comma="")


class _Part:
    """A part of a sparse tensor, kept under its name with an underscore; it is not replaced once it is set."""

    def __init__(self, doc: str):
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.kept = name, f"_{name}"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else instance.__dict__[self.kept]

    def __set__(self, instance: Any, value: Any) -> None:
        if self.kept in instance.__dict__:
            raise AttributeError(f"'{self.name}' of a {type(instance).__name__} cannot be replaced; make a new one.")
        instance.__dict__[self.kept] = value


class _Sparse:
    """What all kinds share: a dense shape and values of one type."""

    values: Any = _Part("The stored values.")
    indices: Any = _Part("Where the values stand.")
    shape: Any = _Part("The shape of the dense tensor.")
    _parts: tuple[str, ...] = ("indices", "values")

    def __ms_parts__(self) -> list[Any]:
        return [getattr(self, name) for name in self._parts]

    def __ms_with_parts__(self, parts: list[Any]) -> Any:
        twin = copy.copy(self)
        twin.__dict__.update((f"_{name}", part) for name, part in zip(self._parts, parts))
        return twin

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of stored values."""
        return self.values.size

    @property
    def itemsize(self) -> int:
        return self.values.itemsize

    def with_values(self, values: Any) -> Any:
        """The same places with other values."""
        raise NotImplementedError

    def astype(self, dtype: Any) -> Any:
        """The values converted to another type."""
        return self.with_values(ew.Cast()(self.values, dtype))

    def abs(self) -> Any:
        """The magnitudes."""
        return self.with_values(ew.Abs()(self.values))

    def __neg__(self) -> Any:
        return self.with_values(-self.values)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={_part_text(part)}" for name, part in zip(self._parts, self.__ms_parts__()))
        return f"{type(self).__name__}(shape={list(self.shape)}, dtype={self.dtype}, {parts})"


class COOTensor(_Sparse):
    """A tensor given by the coordinates and values of its elements; repeated coordinates add up.

    Examples:
        >>> import mindspore as ms
        >>> x = ms.COOTensor(ms.Tensor([[0, 1], [1, 2]]), ms.Tensor([1.0, 2.0]), (2, 3))
        >>> x.to_dense().tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    """

    def __init__(self, indices: Any = None, values: Any = None, shape: Any = None, coo_tensor: Any = None):
        if coo_tensor is not None:
            indices, values, shape = coo_tensor.indices, coo_tensor.values, coo_tensor.shape
        _check_parts("COOTensor", indices=indices, values=values)
        self.shape = _check_shape("COOTensor", shape)
        if indices.dtype not in (mstype.int16, mstype.int32, mstype.int64):
            raise TypeError(f"For 'COOTensor', 'indices' must be of an integer type, but got {indices.dtype}.")
        if indices.ndim != 2 or indices.shape != (values.shape[0], len(self.shape)):
            raise ValueError(
                f"For 'COOTensor', 'indices' must have one row per value and one column per dimension, but got shapes "
                f"{indices.shape} and {values.shape} for a tensor of shape {shape}."
            )
        self.indices, self.values = _places(indices), values

    def with_values(self, values: Tensor) -> COOTensor:
        return COOTensor(self.indices, values, self.shape)

    def to_tuple(self) -> tuple:
        """(indices, values, shape)."""
        return self.indices, self.values, self.shape

    def to_dense(self) -> Tensor:
        """The dense tensor."""
        return TensorScatterAdd()(Fill()(self.dtype, self.shape, 0), self.indices, self.values)

    def coalesce(self) -> COOTensor:
        """Sorted coordinates without repeats. Their number depends on values, so it is found outside graphs only."""
        array = _known("coalesce", self.indices)
        found, place = np.unique(array, axis=0, return_inverse=True)
        total = Fill()(self.dtype, (len(found), *self.values.shape[1:]), 0)
        rows = Tensor(place.reshape(-1, 1).astype(np.int64))
        return COOTensor(Tensor(found), TensorScatterAdd()(total, rows, self.values), self.shape)

    def to_csr(self) -> CSRTensor:
        """The same matrix by compressed rows."""
        if self.ndim != 2:
            raise ValueError(f"For 'to_csr', a matrix is needed, but the shape is {self.shape}.")
        array = _known("to_csr", self.indices)
        order = np.lexsort((array[:, 1], array[:, 0]))
        counts = np.bincount(array[:, 0], minlength=self.shape[0])
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(array.dtype)
        values = Gather()(self.values, Tensor(order), 0)
        return CSRTensor(Tensor(indptr), Tensor(array[order, 1]), values, self.shape)

    def add(self, other: COOTensor, thresh: Any) -> COOTensor:
        """The sum; results smaller than `thresh` in magnitude are left out."""
        if self.shape != other.shape:
            raise ValueError(f"For 'add', the shapes must be equal, but got {self.shape} and {other.shape}.")
        from mindspore.prims.arrays import Concat

        both = COOTensor(
            Concat(0)([self.indices, _cast(other.indices, self.indices.dtype)]), Concat(0)([self.values, other.values]),
            self.shape,
        ).coalesce()  # fmt: skip
        keep = np.flatnonzero(np.abs(_known("add", both.values)) >= float(thresh))
        index = Tensor(keep)
        return COOTensor(Gather()(both.indices, index, 0), Gather()(both.values, index, 0), self.shape)

    def __add__(self, other: Any) -> Any:
        return self.add(other, 0) if isinstance(other, COOTensor) else self.to_dense() + other

    def __radd__(self, other: Any) -> Any:
        return other + self.to_dense()

    def __rsub__(self, other: Any) -> Any:
        return other - self.to_dense()

    def __sub__(self, other: Any) -> Any:
        return self + (-other) if isinstance(other, COOTensor) else self.to_dense() - other

    def __mul__(self, other: Any) -> COOTensor:
        factor = GatherNd()(other, self.indices) if isinstance(other, Tensor) and other.ndim else other
        return self.with_values(self.values * factor)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> COOTensor:
        divisor = GatherNd()(other, self.indices) if isinstance(other, Tensor) and other.ndim else other
        return self.with_values(self.values / divisor)


class CSRTensor(_Sparse):
    """A matrix by compressed rows: row i holds `indices[indptr[i]:indptr[i + 1]]` and the values beside them.

    Examples:
        >>> import mindspore as ms
        >>> x = ms.CSRTensor(ms.Tensor([0, 1, 2]), ms.Tensor([0, 1]), ms.Tensor([1.0, 2.0]), (2, 3))
        >>> x.to_dense().tolist()
        [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    """

    _parts = ("indptr", "indices", "values")

    indptr: Any = _Part("Where each row starts among the values.")

    def __init__(
        self, indptr: Any = None, indices: Any = None, values: Any = None, shape: Any = None, csr_tensor: Any = None
    ):
        if csr_tensor is not None:
            indptr, indices, values, shape = csr_tensor.to_tuple()
        _check_parts("CSRTensor", indptr=indptr, indices=indices, values=values)
        self.shape = _check_shape("CSRTensor", shape)
        if indptr.shape != (self.shape[0] + 1,) or indices.ndim != 1 or indices.shape[0] != values.shape[0]:
            raise ValueError(
                "For 'CSRTensor', 'indptr' must have one entry more than rows, and 'indices' one per value, but got "
                f"shapes {indptr.shape}, {indices.shape} and {values.shape} for a tensor of shape {shape}."
            )
        self.indptr, self.indices, self.values = _places(indptr), _places(indices), values

    def with_values(self, values: Tensor) -> CSRTensor:
        return CSRTensor(self.indptr, self.indices, values, self.shape)

    def to_tuple(self) -> tuple:
        """(indptr, indices, values, shape)."""
        return self.indptr, self.indices, self.values, self.shape

    def rows(self) -> Tensor:
        """The row of every stored value."""
        places = Range(dtype=self.indptr.dtype)(0, self.indices.shape[0], 1)
        return _cast(SearchSorted(mstype.int64, True)(self.indptr, places) - 1, self.indices.dtype)

    def to_coo(self) -> COOTensor:
        """The same matrix by coordinates."""
        return COOTensor(Stack(1)([self.rows(), self.indices]), self.values, self.shape)

    def to_dense(self) -> Tensor:
        """The dense tensor."""
        places = Stack(1)([self.rows(), self.indices])
        return TensorScatterAdd()(Fill()(self.dtype, self.shape, 0), places, self.values)

    def _row_sums(self, items: Tensor) -> Tensor:
        """The sum, per row, of one item per stored value."""
        total = Fill()(items.dtype, (self.shape[0], *items.shape[1:]), 0)
        return TensorScatterAdd()(total, Reshape()(self.rows(), (-1, 1)), items)

    def mv(self, dense_vector: Tensor) -> Tensor:
        """The product with a vector (n,) or column (n, 1)."""
        return self.mm(dense_vector)

    def mm(self, matrix: Any) -> Any:
        """The product with a dense or sparse matrix."""
        if isinstance(matrix, CSRTensor):
            from mindspore.prims.linalg import MatMul

            return _dense_to_csr(MatMul()(self.to_dense(), matrix.to_dense()))
        if matrix.shape[0] != self.shape[1]:
            raise ValueError(f"For 'mm', the shapes {self.shape} and {matrix.shape} do not fit.")
        weights = Reshape()(self.values, self.values.shape + (1,) * (matrix.ndim - 1))
        return self._row_sums(Gather()(matrix, self.indices, 0) * weights)

    def sum(self, axis: int) -> Tensor:
        """The sums of rows (axis 1) or columns (axis 0), with the axis kept."""
        if axis in (1, -1):
            return Reshape()(self._row_sums(self.values), (self.shape[0], 1))
        if axis in (0, -2):
            total = Fill()(self.dtype, (self.shape[1],), 0)
            out = TensorScatterAdd()(total, Reshape()(self.indices, (-1, 1)), self.values)
            return Reshape()(out, (1, self.shape[1]))
        raise ValueError(f"For 'sum', 'axis' must be 0 or 1, but got {axis}.")

    def add(self, b: CSRTensor, alpha: Any, beta: Any) -> CSRTensor:
        """alpha * self + beta * b."""
        left, right = self.with_values(self.values * alpha).to_coo(), b.with_values(b.values * beta).to_coo()
        return (left + right).to_csr()

    def __add__(self, other: Any) -> Any:
        return self.add(other, 1.0, 1.0) if isinstance(other, CSRTensor) else self.to_dense() + other

    def __radd__(self, other: Any) -> Any:
        return other + self.to_dense()

    def __rsub__(self, other: Any) -> Any:
        return other - self.to_dense()

    def __sub__(self, other: Any) -> Any:
        return self.add(other, 1.0, -1.0) if isinstance(other, CSRTensor) else self.to_dense() - other

    def _at_places(self, other: Any) -> Any:
        """The elements of a dense operand (broadcast to this shape) at the stored places."""
        if not isinstance(other, Tensor) or other.ndim == 0:
            return other
        from mindspore.prims.broadcasting import BroadcastTo

        wide = BroadcastTo(self.shape)(other) if other.shape != self.shape else other
        return GatherNd()(wide, Stack(1)([self.rows(), self.indices]))

    def __mul__(self, other: Tensor) -> CSRTensor:
        return self.with_values(self.values * self._at_places(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Tensor) -> CSRTensor:
        return self.with_values(self.values / self._at_places(other))


def _known(what: str, tensor: Any) -> np.ndarray:
    """The data of a part whose values decide a shape."""
    if _values.is_symbolic(tensor):
        raise unknown_value(what, tensor)
    return np.asarray(tensor._data)


def _dense_to_csr(x: Tensor) -> CSRTensor:
    return dense_to_coo(x).to_csr()


def dense_to_coo(x: Tensor) -> COOTensor:
    """The elements of a dense tensor that are not 0, by coordinates.

    Examples:
        >>> print(Tensor([[0.0, 5.0], [6.0, 0.0]]).to_coo().indices)
        [[0 1]
         [1 0]]
    """
    places = Tensor(np.argwhere(_known("dense_to_coo", x)).astype(np.int64))
    return COOTensor(places, GatherNd()(x, places), x.shape)


def dense_to_csr(x: Tensor) -> CSRTensor:
    """The elements of a dense matrix that are not 0, by compressed rows.

    Examples:
        >>> print(Tensor([[0.0, 5.0], [6.0, 0.0]]).to_csr().indptr)
        [0 1 2]
    """
    if x.ndim != 2:
        raise ValueError(f"For 'dense_to_csr', a matrix is needed, but the shape is {x.shape}.")
    return _dense_to_csr(x)


class RowTensor(_Sparse):
    """Some rows of a large tensor: `values[i]` is row `indices[i]`.

    Examples:
        >>> x = ms.RowTensor(Tensor([1]), Tensor([[5.0, 6.0]]), (3, 2))
        >>> x.dense_shape
        (3, 2)
    """

    def __init__(self, indices: Any = None, values: Any = None, shape: Any = None, row_tensor: Any = None):
        if row_tensor is not None:
            indices, values, shape = row_tensor.indices, row_tensor.values, row_tensor.dense_shape
        _check_parts("RowTensor", indices=indices, values=values)
        self.shape = _check_shape("RowTensor", shape)
        if indices.ndim != 1 or values.shape != (indices.shape[0], *self.shape[1:]):
            raise ValueError(
                f"For 'RowTensor', 'values' must hold one row per index, but got shapes {indices.shape} and "
                f"{values.shape} for a tensor of shape {shape}."
            )
        self.indices, self.values = indices, values

    @property
    def dense_shape(self) -> tuple[int, ...]:
        return self.shape

    def with_values(self, values: Any) -> RowTensor:
        return RowTensor(self.indices, values, self.shape)

    def to_dense(self) -> Tensor:
        """The dense tensor; rows that repeat add up."""
        total = Fill()(self.dtype, self.shape, 0)
        return TensorScatterAdd()(total, Reshape()(self.indices, (-1, 1)), self.values)


RowTensorInner = RowTensor
SparseTensor = COOTensor


def sparse_dense_matmul(sparse: COOTensor, dense: Tensor, adjoint_st: bool = False, adjoint_dt: bool = False) -> Tensor:
    """The product of a sparse matrix (or its transpose) with a dense one (or its transpose)."""
    rows, columns = sparse.indices[:, 0], sparse.indices[:, 1]
    height, width = sparse.shape
    if adjoint_st:
        rows, columns, height, width = columns, rows, width, height
    matrix = Transpose()(dense, (1, 0)) if adjoint_dt else dense
    if matrix.shape[0] != width:
        raise ValueError(f"For a sparse product, {width} columns and {matrix.shape[0]} rows do not fit.")
    items = Gather()(matrix, columns, 0) * Reshape()(sparse.values, (-1, 1))
    total = Fill()(items.dtype, (height, matrix.shape[1]), 0)
    return TensorScatterAdd()(total, Reshape()(rows, (-1, 1)), items)


__all__ = ["COOTensor", "CSRTensor", "RowTensor", "RowTensorInner", "SparseTensor"]
