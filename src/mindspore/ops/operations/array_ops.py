"""Classes of array operations: shapes, joins, indices, scatters and diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, concrete, require_tensors
from mindspore.ops.composition import REQUIRED, Composition, Typed, composition, of_tensors, plain
from mindspore.ops.joining import slice_
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import BroadcastTo, Concat, ExpandDims, Fill, Pad, Reshape, Squeeze, Stack, Transpose
from mindspore.prims.creation import Eye as _EyePrimitive
from mindspore.prims.creation import Range, Tril, Triu
from mindspore.prims.elementwise import Bitcast, Cast, OnesLike, Select, ZerosLike
from mindspore.prims.gather_scatter import (
    Gather,
    GatherD,
    GatherNd,
    TensorScatterAdd,
    TensorScatterDiv,
    TensorScatterElements,
    TensorScatterMax,
    TensorScatterMin,
    TensorScatterMul,
    TensorScatterSub,
    TensorScatterUpdate,
)
from mindspore.prims.indexing import with_items, with_items_added
from mindspore.prims.inplace import update
from mindspore.prims.mesh import Laid
from mindspore.prims.sorting import Argmax, Argmin, SearchSorted, Sort, TopK
from mindspore.prims.structural import Identity as _Same
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

# -- facts ----------------------------------------------------------------------------------------------------------
Shape = plain("Shape", F.shape, """The size of each dimension.

    Examples:
        >>> ops.Shape()(Tensor([[1.0, 2.0]]))
        (1, 2)
    """)
TensorShape = plain("TensorShape", F.dyn_shape)
DynamicShape = composition("DynamicShape", lambda self, x: F.dyn_shape(x), """The shape as an int64 tensor.

    Examples:
        >>> print(ops.DynamicShape()(ops.ones((2, 5))))
        [2 5]
    """, dtype=9)
DType = plain("DType", F.dtype, """The element type.

    Examples:
        >>> ops.DType()(Tensor([1.0]))
        mindspore.float32
    """)
Size = plain("Size", F.size)
Rank = plain("Rank", F.rank)
Identity = plain("Identity", lambda x: _Same()(x) if isinstance(x, Tensor) else x, """A tensor of the same elements.

    Examples:
        >>> ops.Identity()(Tensor([1.0])).tolist()
        [1.0]
    """)
IdentityN = composition("IdentityN", lambda self, xs: tuple(xs), """The tensors of a tuple or list, unchanged.

    Examples:
        >>> [x.tolist() for x in ops.IdentityN()((Tensor([1]), Tensor([2])))]
        [[1], [2]]
    """)
TupleToArray = plain("TupleToArray", F.tuple_to_array)
ScalarToArray = plain("ScalarToArray", F.scalar_to_array)
ScalarCast = plain("ScalarCast", F.scalar_cast)
TensorToTuple = composition("TensorToTuple", lambda self, x: tuple(concrete("TensorToTuple", x).tolist()),
    """The elements of a tensor as a tuple of numbers.

    Examples:
        >>> ops.TensorToTuple()(Tensor([1, 2]))
        (1, 2)
    """)
TensorToList = composition("TensorToList", lambda self, x: concrete("TensorToList", x).tolist(),
    """The elements of a tensor as a list of numbers.

    Examples:
        >>> ops.TensorToList()(Tensor([1, 2]))
        [1, 2]
    """)
TupleToTensor = composition("TupleToTensor", lambda self, x, dtype=None: Tensor(list(x), dtype),
    """A tuple of numbers as a tensor of the given type.

    Examples:
        >>> print(ops.TupleToTensor()((1, 2), ms.float32))
        [1. 2.]
    """)
ListToTensor = composition("ListToTensor", lambda self, x, dtype=None: Tensor(list(x), dtype),
    """A list of numbers as a tensor of the given type.

    Examples:
        >>> print(ops.ListToTensor()([1, 2, 3], ms.float32))
        [1. 2. 3.]
    """)

# -- shapes ---------------------------------------------------------------------------------------------------------
Flatten = composition("Flatten", lambda self, x: F.flatten(x), """Merge all dimensions behind the first.

    Examples:
        >>> ops.Flatten()(Tensor(np.ones((2, 3, 4), np.float32))).shape
        (2, 12)
    """)
Tile = plain("Tile", F.tile)
Tile.brings_together = True
Expand = composition("Expand", lambda self, x, shape: F.expand(x, shape),
    """Repeat along new or size-1 dimensions; -1 keeps a dimension.

    Examples:
        >>> print(ops.Expand()(Tensor([[1], [2]]), (-1, 2)))
        [[1 1]
         [2 2]]
    """)
ReverseV2 = composition("ReverseV2", lambda self, x: F.flip(x, self.axis), """Reverse the order along dimensions.

    Examples:
        >>> ops.ReverseV2([0])(Tensor([1, 2, 3])).tolist()
        [3, 2, 1]
    """, axis=REQUIRED)
Roll = composition("Roll", lambda self, x: F.roll(x, self.shifts, self.dims),
    """Move elements along dimensions; those that leave at the end enter at the start.

    Examples:
        >>> print(ops.Roll(1, 0)(Tensor([1, 2, 3, 4])))
        [4 1 2 3]
    """, shifts=REQUIRED, dims=None)
Meshgrid = composition("Meshgrid", lambda self, xs: F.meshgrid(*xs, indexing=self.indexing),
    """Coordinate grids from a tuple of 1-D tensors.

    Examples:
        >>> x, y = ops.Meshgrid()((Tensor([1, 2]), Tensor([7, 8])))
        >>> print(x.tolist(), y.tolist())
        [[1, 2], [1, 2]] [[7, 7], [8, 8]]
    """, indexing="xy")
TransposeView = TransposeExtView = plain("TransposeView", F.transpose)
ConjugateTranspose = composition("ConjugateTranspose", lambda self, x, perm: F.conj(F.transpose(x, perm)),
    """The complex conjugate with permuted dimensions.

    Examples:
        >>> print(ops.ConjugateTranspose()(Tensor([[1 + 2j, 3]]), (1, 0)))
        [[1.-2.j]
         [3.-0.j]]
    """)


def _split(self: Primitive, x: Tensor) -> tuple[Tensor, ...]:
    at = checks.axis("Split", self.axis, x.ndim)
    if x.shape[at] % self.output_num:
        raise ValueError(
            f"For 'Split', dimension {at} of shape {x.shape} cannot be cut into {self.output_num} equal parts."
        )
    return F.split(x, x.shape[at] // self.output_num, at)


Split = composition("Split", _split, """Cut into equal parts.

    Examples:
        >>> [t.tolist() for t in ops.Split(0, 2)(Tensor([1, 2, 3, 4]))]
        [[1, 2], [3, 4]]
    """, axis=0, output_num=1)


def _split_v(self: Primitive, x: Tensor) -> tuple:
    rest = x.shape[self.split_dim] - sum(size for size in self.size_splits if size != -1)
    return F.split(x, tuple(rest if size == -1 else size for size in self.size_splits), self.split_dim)


SplitV = composition(
    "SplitV", _split_v, """Cut into parts of given sizes, of which one may be -1: what is left.

    Examples:
        >>> [part.tolist() for part in ops.SplitV([1, -1], 0, 2)(Tensor([1, 2, 3]))]
        [[1], [2, 3]]
    """,
    size_splits=REQUIRED, split_dim=REQUIRED, num_split=REQUIRED,
)  # fmt: skip
Unstack = composition("Unstack", lambda self, x: F.unstack(x, self.axis),
    """The slices along a dimension, which disappears.

    Examples:
        >>> [row.tolist() for row in ops.Unstack(axis=0)(Tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """, axis=0, num=Typed(int | None, None))
Unpack = composition("Unpack", lambda self, x: F.unstack(x, self.axis),
    """The slices along a dimension, which disappears (the older name of `Unstack`).

    Examples:
        >>> [row.tolist() for row in ops.Unpack(axis=1)(Tensor([[1, 2], [3, 4]]))]
        [[1, 3], [2, 4]]
    """, axis=0, num=None)
Pack = composition("Pack", lambda self, xs: F.stack(xs, self.axis),
    """Join tensors of one shape along a new dimension (the older name of `Stack`).

    Examples:
        >>> print(ops.Pack(axis=1)((Tensor([1, 2]), Tensor([3, 4]))))
        [[1 3]
         [2 4]]
    """, axis=0)
ParallelConcat = composition("ParallelConcat", lambda self, xs: F.concat(xs, 0),
    """Join tensors along the first dimension, which is 1 in each of them.

    Examples:
        >>> print(ops.ParallelConcat()([Tensor([[1, 2]]), Tensor([[3, 4]])]))
        [[1 2]
         [3 4]]
    """)
Slice = plain("Slice", slice_, """The block of shape `size` at `begin`; a size of -1 runs to the end.

    Examples:
        >>> ops.Slice()(Tensor([1, 2, 3, 4]), (1,), (2,)).tolist()
        [2, 3]
    """)
StridedSlice = composition(
    "StridedSlice",
    lambda self, x, begin, end, strides: F.strided_slice(
        x, begin, end, strides, self.begin_mask, self.end_mask, self.ellipsis_mask, self.new_axis_mask,
        self.shrink_axis_mask,
    ), """x[begin:end:strides]; bits of the masks mark entries to ignore, new axes, dropped axes and an ellipsis.

    Examples:
        >>> ops.StridedSlice()(Tensor([1, 2, 3, 4]), (0,), (4,), (2,)).tolist()
        [1, 3]
    """,
    begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0,
)  # fmt: skip
SelectView = composition("SelectView", lambda self, x, index, axis: x[(slice(None),) * axis + (index,)],
    """One slice along a dimension, which disappears.

    Examples:
        >>> print(ops.SelectView()(Tensor([[1, 2], [3, 4]]), 1, 0))
        [3 4]
    """)


def _pad_v3(self: Primitive, x: Tensor, paddings: Any, constant_value: Any = None) -> Tensor:
    amounts = values.static_value(paddings)
    if not self.paddings_contiguous:
        half = len(amounts) // 2
        amounts = [v for pair in zip(amounts[:half], amounts[half:]) for v in pair]
    mode = {"edge": "replicate"}.get(self.mode, self.mode)
    return F.pad(x, tuple(amounts), mode, constant_value)


PadV3 = composition("PadV3", _pad_v3,
    """Pad by constants, mirroring, repetition or wrapping; `paddings` start with the last dimension.

    Examples:
        >>> print(ops.PadV3()(Tensor([1, 2]), (1, 2), 9))
        [9 1 2 9 9]
    """, mode="constant", paddings_contiguous=True)
MirrorPad = composition(
    "MirrorPad", lambda self, x, paddings: F.mirror_pad(x, paddings, self.mode),
    """Pad by mirroring: 'REFLECT' leaves the border element out, 'SYMMETRIC' repeats it.

    Examples:
        >>> print(ops.MirrorPad("SYMMETRIC")(Tensor([[1, 2, 3]]), Tensor([[0, 0], [2, 0]])))
        [[2 1 1 2 3]]
    """, mode="REFLECT",
)  # fmt: skip
Padding = composition("Padding", lambda self, x: F.padding(x, self.pad_dim_size),
    """Extend the last dimension, of size 1, to `pad_dim_size` with zeros.

    Examples:
        >>> print(ops.Padding(4)(Tensor([[7.0]])))
        [[7. 0. 0. 0.]]
    """, pad_dim_size=8)


def _depth_to_space(self: Primitive, x: Tensor) -> Tensor:
    n, c, h, w = x.shape
    b = self.block_size
    if c % (b * b):
        raise ValueError(f"For 'DepthToSpace', the channels, {c}, must be a multiple of {b * b}.")
    moved = Transpose()(Reshape()(x, (n, b, b, c // (b * b), h, w)), (0, 3, 4, 1, 5, 2))
    return Reshape()(moved, (n, c // (b * b), h * b, w * b))


def _space_to_depth(self: Primitive, x: Tensor) -> Tensor:
    n, c, h, w = x.shape
    b = self.block_size
    if h % b or w % b:
        raise ValueError(f"For 'SpaceToDepth', height and width of shape {x.shape} must be multiples of {b}.")
    moved = Transpose()(Reshape()(x, (n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
    return Reshape()(moved, (n, c * b * b, h // b, w // b))


DepthToSpace = composition("DepthToSpace", _depth_to_space, """Move channels into blocks of space.

    Examples:
        >>> x = Tensor(np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1))
        >>> ops.DepthToSpace(2)(x).tolist()
        [[[[0.0, 1.0], [2.0, 3.0]]]]
    """, block_size=REQUIRED)
SpaceToDepth = composition("SpaceToDepth", _space_to_depth, """Move blocks of space into channels.

    Examples:
        >>> ops.SpaceToDepth(2)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).shape
        (1, 4, 1, 1)
    """, block_size=REQUIRED)
SpaceToBatch = composition(
    "SpaceToBatch", lambda self, x: F.space_to_batch_nd(x, [self.block_size] * 2, self.paddings),
    """Pad (N, C, H, W), then move blocks of `block_size` by `block_size` into the batch dimension.

    Examples:
        >>> ops.SpaceToBatch(2, [[0, 0], [0, 0]])(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).flatten().tolist()
        [1.0, 2.0, 3.0, 4.0]
    """, block_size=REQUIRED,
    paddings=REQUIRED,
)  # fmt: skip
SpaceToBatchND = composition(
    "SpaceToBatchND", lambda self, x: F.space_to_batch_nd(x, self.block_shape, self.paddings),
    """Pad the dimensions behind the first, then move blocks of `block_shape` into it.

    Examples:
        >>> ops.SpaceToBatchND([2, 2], [[0, 0], [0, 0]])(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).shape
        (4, 1, 1, 1)
    """, block_shape=REQUIRED,
    paddings=REQUIRED,
)  # fmt: skip
BatchToSpace = composition(
    "BatchToSpace", lambda self, x: F.batch_to_space_nd(x, [self.block_size] * 2, self.crops),
    """Move blocks of `block_size` by `block_size` out of the batch dimension of (N, C, H, W), then crop.

    Examples:
        >>> x = Tensor([[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]])
        >>> ops.BatchToSpace(2, [[0, 0], [0, 0]])(x).tolist()
        [[[[1.0, 2.0], [3.0, 4.0]]]]
    """, block_size=REQUIRED,
    crops=REQUIRED,
)  # fmt: skip
BatchToSpaceND = composition(
    "BatchToSpaceND", lambda self, x: F.batch_to_space_nd(x, self.block_shape, self.crops),
    """Move blocks of `block_shape` out of the batch dimension into the dimensions behind it, then crop.

    Examples:
        >>> x = Tensor([[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]])
        >>> ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]])(x).shape
        (1, 1, 2, 2)
    """, block_shape=REQUIRED,
    crops=REQUIRED,
)  # fmt: skip
BatchToSpaceNDV2 = plain("BatchToSpaceNDV2", F.batch_to_space_nd)
ReverseSequence = composition(
    "ReverseSequence", lambda self, x, lengths: F.reverse_sequence(x, lengths, self.seq_dim, self.batch_dim),
    """Reverse the first elements, as many as given for each batch entry, along `seq_dim`.

    Examples:
        >>> print(ops.ReverseSequence(seq_dim=1)(Tensor([[1, 2, 3], [4, 5, 6]]), Tensor([2, 3])))
        [[2 1 3]
         [6 5 4]]
    """,
    seq_dim=REQUIRED, batch_dim=0,
)  # fmt: skip

# -- new tensors ----------------------------------------------------------------------------------------------------
Zeros = plain("Zeros", F.zeros)
Ones = plain("Ones", F.ones, """Ones of the given shape; float32 unless told otherwise.

    Examples:
        >>> ops.Ones()((2,), ms.float32).tolist()
        [1.0, 1.0]
    """)
FillV2 = composition("FillV2", of_tensors("value", lambda self, shape, value: F.full(shape, value)),
    """A tensor of the given shape with one value everywhere.

    Examples:
        >>> print(ops.FillV2()(Tensor([2, 2], ms.int32), Tensor(7.0)))
        [[7. 7.]
         [7. 7.]]
    """)
Fills = plain("Fills", F.fills)
LinSpace = plain("LinSpace", F.linspace)
LogSpace = composition(
    "LogSpace", lambda self, start, end: F.logspace(start, end, self.steps, self.base, dtype=self.dtype),
    """`base` to the power of `steps` evenly spaced exponents.

    Examples:
        >>> print(ops.LogSpace(steps=4)(Tensor(0.0), Tensor(3.0)))
        [   1.   10.  100. 1000.]
    """, steps=10,
    base=10, dtype=mstype.float32,
)  # fmt: skip
Eye = composition("Eye", lambda self, n, m, t: _EyePrimitive()(n, m, t), """Ones on the main diagonal.

    Examples:
        >>> print(ops.Eye()(2, 3, ms.int32))
        [[1 0 0]
         [0 1 0]]
    """)
Diag = plain("Diag", F.diag)
DiagPart = composition("DiagPart", lambda self, x: F.diag_part(x),
    """The diagonal of a tensor of rank 2k whose halves have equal shapes.

    Examples:
        >>> print(ops.DiagPart()(Tensor([[1, 2], [3, 4]])))
        [1 4]
    """)
TrilIndices = composition(
    "TrilIndices", lambda self: F.tril_indices(self.row, self.col, self.offset, dtype=self.dtype),
    """The coordinates of the lower triangle: rows first, then columns.

    Examples:
        >>> print(ops.TrilIndices(2, 2)())
        [[0 1 1]
         [0 0 1]]
    """, row=REQUIRED,
    col=REQUIRED, offset=0, dtype=mstype.int32,
)  # fmt: skip
TriuIndices = composition(
    "TriuIndices", lambda self: F.triu_indices(self.row, self.col, self.offset, dtype=self.dtype),
    """The coordinates of the upper triangle: rows first, then columns.

    Examples:
        >>> print(ops.TriuIndices(2, 2)())
        [[0 0 1]
         [0 1 1]]
    """, row=REQUIRED,
    col=REQUIRED, offset=0, dtype=mstype.int32,
)  # fmt: skip
MatrixDiagV3 = composition(
    "MatrixDiagV3",
    of_tensors("x k rows cols padding", lambda self, x, k, rows, cols, padding: F.matrix_diag(x, k, rows, cols, padding, self.align)),
    """Matrices with the given diagonals and a padding value elsewhere.

    Examples:
        >>> k, rows, columns = (Tensor(n, ms.int32) for n in (0, 2, 3))
        >>> print(ops.MatrixDiagV3()(Tensor([1, 2]), k, rows, columns, Tensor(9)))
        [[1 9 9]
         [9 2 9]]
    """,
    align="RIGHT_LEFT",
)  # fmt: skip
MatrixDiagPartV3 = composition(
    "MatrixDiagPartV3", of_tensors("x k padding", lambda self, x, k, padding: F.matrix_diag_part(x, k, padding, self.align)),
    """The diagonals `k` of matrices; short ones are padded on the side that `align` names.

    Examples:
        >>> print(ops.MatrixDiagPartV3()(Tensor([[1, 2], [3, 4]]), Tensor(1, ms.int32), Tensor(0)))
        [2]
    """, align="RIGHT_LEFT",
)  # fmt: skip
MatrixSetDiagV3 = composition(
    "MatrixSetDiagV3", lambda self, x, diagonal, k: F.matrix_set_diag(x, diagonal, k, self.align),
    """A copy with diagonals replaced.

    Examples:
        >>> print(ops.MatrixSetDiagV3()(ops.zeros((2, 2)), Tensor([5.0, 6.0]), Tensor(0, ms.int32)))
        [[5. 0.]
         [0. 6.]]
    """, align="RIGHT_LEFT",
)  # fmt: skip
MatrixBandPart = plain("MatrixBandPart", F.matrix_band_part)
FillDiagonal = composition(
    "FillDiagonal", lambda self, x: F.fill_diagonal(x, self.fill_value, self.wrap),
    """A copy with one value on the main diagonal; `wrap` starts again below in tall matrices.

    Examples:
        >>> print(ops.FillDiagonal(5.0)(ops.zeros((2, 3))))
        [[5. 0. 0.]
         [0. 5. 0.]]
    """, fill_value=Typed(float), wrap=Typed(bool, False),
)  # fmt: skip
class _OneHot(Composition):
    """A strategy of `OneHot` cuts the codes: its first entry has a number for each dimension of the result."""

    def _cut(self, args: tuple, kwargs: dict) -> Any:
        entry, indices = self.attrs["in_strategy"][0], args[0]
        if not isinstance(entry, (tuple, list)) or len(entry) != indices.ndim + 1:
            return super()._cut(args, kwargs)
        return Laid(self.name).shard((tuple(entry),))(self._composed(args, kwargs))


OneHot = composition(
    "OneHot", of_tensors("x on off", lambda self, x, depth, on, off: F.one_hot(x, depth, on, off, self.axis)), """One-hot codes.

    Examples:
        >>> ops.OneHot()(Tensor([0, 2]), 3, Tensor(1.0), Tensor(0.0)).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """, _OneHot, axis=-1,
)  # fmt: skip
OneHotExt = composition(
    "OneHotExt", lambda self, x, depth, on=1, off=0, axis=-1: F.one_hot(x, depth, on, off, axis), """One-hot codes.

    Examples:
        >>> ops.OneHotExt()(Tensor([0, 2]), 3, Tensor(1.0), Tensor(0.0)).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """, _OneHot,
)  # fmt: skip

# -- picking --------------------------------------------------------------------------------------------------------
GatherV2 = Gather
SparseGatherV2 = plain("SparseGatherV2", F.gather)
EmbeddingLookup = plain("EmbeddingLookup", F.embedding_lookup)
MaskedFill = plain("MaskedFill", F.masked_fill)
MaskedSelect = plain("MaskedSelect", F.masked_select)
MaskedScatter = plain("MaskedScatter", F.masked_scatter)
NonZero = plain("NonZero", F.nonzero)
Unique = plain("Unique", F.unique)
UniqueWithPad = plain("UniqueWithPad", F.unique_with_pad)
ArgMaxWithValue = composition(
    "ArgMaxWithValue", lambda self, x: F.argmax_with_value(x, self.axis, self.keep_dims),
    """(indices, values) of the largest elements.

    Examples:
        >>> place, value = ops.ArgMaxWithValue()(Tensor([1.0, 5.0]))
        >>> place.item(), value.item()
        (1, 5.0)
    """, axis=0, keep_dims=Typed(bool, False),
)  # fmt: skip
ArgMinWithValue = composition(
    "ArgMinWithValue", lambda self, x: F.argmin_with_value(x, self.axis, self.keep_dims),
    """(indices, values) of the smallest elements.

    Examples:
        >>> index, value = ops.ArgMinWithValue(axis=1)(Tensor([[3.0, 8.0], [6.0, 5.0]]))
        >>> print(index, value)
        [0 1] [3. 5.]
    """, axis=0, keep_dims=Typed(bool, False),
)  # fmt: skip


UniqueConsecutive = composition(
    "UniqueConsecutive", lambda self, x: _three(x, self),
    """Drop elements equal to the one before; on demand also each element's new index and the run lengths.

    Examples:
        >>> print(ops.UniqueConsecutive()(Tensor([1, 1, 2, 2, 1]))[0])
        [1 2 1]
    """, return_inverse=Typed(bool, False), return_counts=Typed(bool, False), dim=None,
)  # fmt: skip


def _three(x: Tensor, self: Primitive) -> tuple:
    """Values, inverse indices and counts; what was not asked for is an empty tensor."""
    found, inverse, counts = F.unique_consecutive(x, True, True, self.dim)
    none = Tensor(np.zeros(0, np.int64))
    return found, inverse if self.return_inverse else none, counts if self.return_counts else none


UnravelIndex = plain("UnravelIndex", F.unravel_index)
InvertPermutation = composition("InvertPermutation", lambda self, x: F.invert_permutation(x),
    """The inverse of a permutation, given as a tuple of ints.

    Examples:
        >>> ops.InvertPermutation()((2, 0, 1))
        (1, 2, 0)
    """)
LowerBound = composition(
    "LowerBound", lambda self, rows, x: SearchSorted(self.out_type, False)(rows, x),
    """Where each value would be inserted into its sorted row, before equal ones.

    Examples:
        >>> print(ops.LowerBound()(Tensor([[1.0, 3.0, 3.0, 5.0]]), Tensor([[3.0, 4.0]])))
        [[1 3]]
    """, out_type=mstype.int32,
)  # fmt: skip
UpperBound = composition(
    "UpperBound", lambda self, rows, x: SearchSorted(self.out_type, True)(rows, x),
    """Where each value would be inserted into its sorted row, behind equal ones.

    Examples:
        >>> print(ops.UpperBound()(Tensor([[1.0, 3.0, 3.0, 5.0]]), Tensor([[3.0, 4.0]])))
        [[3 3]]
    """, out_type=mstype.int32,
)  # fmt: skip
ListDiff = composition("ListDiff", lambda self, x, y: F.list_difference(x, y, self.out_idx),
    """The elements of x that are not in y, and where they stand.

    Examples:
        >>> left, where = ops.ListDiff()(Tensor([5, 6, 7, 8]), Tensor([6, 8]))
        >>> print(left, where)
        [5 7] [0 2]
    """, out_idx=mstype.int32)

# -- scattering -----------------------------------------------------------------------------------------------------
ScatterNd = plain("ScatterNd", F.scatter_nd)


def _scatter(name: str, function: Callable, doc: str) -> Any:
    """A class that updates a Parameter in place."""
    return composition(
        name, lambda self, x, indices, updates: function(x, indices, updates), doc,
        use_locking=Typed(bool, name.endswith("Update")),
    )


ScatterUpdate = _scatter("ScatterUpdate", F.scatter_update, doc="""Replace rows of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]), name="table")
        >>> _ = ops.ScatterUpdate()(table, Tensor([1], ms.int32), Tensor([[7.0, 8.0]]))
        >>> print(table.asnumpy())
        [[1. 2.]
         [7. 8.]]
    """)
ScatterAdd = _scatter("ScatterAdd", F.scatter_add, doc="""Add to rows of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterAdd()(table, Tensor([0, 0], ms.int32), Tensor([1.0, 2.0]))
        >>> print(table.asnumpy())
        [11.  9.]
    """)
ScatterSub = _scatter("ScatterSub", F.scatter_sub, doc="""Subtract from rows of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterSub()(table, Tensor([0], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [6. 9.]
    """)
ScatterMul = _scatter("ScatterMul", F.scatter_mul, doc="""Multiply rows of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterMul()(table, Tensor([1], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [ 8. 18.]
    """)
ScatterDiv = _scatter("ScatterDiv", F.scatter_div, doc="""Divide rows of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterDiv()(table, Tensor([0], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [4. 9.]
    """)
ScatterMax = _scatter("ScatterMax", F.scatter_max, doc="""Raise rows of a Parameter to at least the updates, in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterMax()(table, Tensor([0, 1], ms.int32), Tensor([10.0, 1.0]))
        >>> print(table.asnumpy())
        [10.  9.]
    """)
ScatterMin = _scatter("ScatterMin", F.scatter_min, doc="""Lower rows of a Parameter to at most the updates, in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterMin()(table, Tensor([0, 1], ms.int32), Tensor([10.0, 1.0]))
        >>> print(table.asnumpy())
        [8. 1.]
    """)
ScatterNdUpdate = _scatter("ScatterNdUpdate", F.scatter_nd_update,
    doc="""Replace indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterNdUpdate()(table, Tensor([[1]], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [8. 2.]
    """)
ScatterNdAdd = _scatter("ScatterNdAdd", F.scatter_nd_add, doc="""Add to indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(ops.zeros(4), name="table")
        >>> _ = ops.ScatterNdAdd()(table, Tensor([[1], [3], [1]], ms.int32), Tensor([1.0, 2.0, 3.0]))
        >>> print(table.asnumpy())
        [0. 4. 0. 2.]
    """)
ScatterNdSub = _scatter("ScatterNdSub", F.scatter_nd_sub, doc="""Subtract from indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterNdSub()(table, Tensor([[1]], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [8. 7.]
    """)
ScatterNdMul = _scatter("ScatterNdMul", F.scatter_nd_mul, doc="""Multiply indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterNdMul()(table, Tensor([[1]], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [ 8. 18.]
    """)
ScatterNdDiv = _scatter("ScatterNdDiv", F.scatter_nd_div, doc="""Divide indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterNdDiv()(table, Tensor([[1]], ms.int32), Tensor([3.0]))
        >>> print(table.asnumpy())
        [8. 3.]
    """)
ScatterNdMax = _scatter("ScatterNdMax", F.scatter_nd_max, doc="""Raise indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterNdMax()(table, Tensor([[0], [1]], ms.int32), Tensor([10.0, 1.0]))
        >>> print(table.asnumpy())
        [10.  9.]
    """)
ScatterNdMin = _scatter("ScatterNdMin", F.scatter_nd_min, doc="""Lower indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.ScatterNdMin()(table, Tensor([[0], [1]], ms.int32), Tensor([10.0, 1.0]))
        >>> print(table.asnumpy())
        [8. 1.]
    """)
ScatterNonAliasingAdd = composition(
    "ScatterNonAliasingAdd", lambda self, x, indices, updates: update(x, TensorScatterAdd()(x, indices, updates)),
    """A copy with updates added at the indexed slices.

    Examples:
        >>> print(ops.ScatterNonAliasingAdd()(Tensor([8.0, 9.0]), Tensor([[1]], ms.int32), Tensor([2.0])))
        [ 8. 11.]
    """,
)  # fmt: skip
ScatterAddWithAxis = composition(
    "ScatterAddWithAxis", lambda self, x, i, u: F.tensor_scatter_elements(x, i, u, self.axis, "add"),
    """A copy with updates added at one position along `axis` per place of the indices.

    Examples:
        >>> print(ops.ScatterAddWithAxis(0)(Tensor([1, 2, 3]), Tensor([0, 2]), Tensor([10, 20])))
        [11  2 23]
    """, axis=0,
)  # fmt: skip
IndexAdd = composition(
    "IndexAdd", lambda self, x, indices, y: F.index_add(x, indices, y, self.axis),
    """Add slices along `axis` to those of a Parameter that the indices name, in place.

    Examples:
        >>> total = Parameter(ops.zeros((3, 1)), name="total")
        >>> _ = ops.IndexAdd(axis=0)(total, Tensor([0, 2], ms.int32), Tensor([[5.0], [6.0]]))
        >>> total.asnumpy().tolist()
        [[5.0], [0.0], [6.0]]
    """, axis=REQUIRED, use_lock=True,
    check_index_bound=True,
)  # fmt: skip
IndexFill = composition("IndexFill", of_tensors("x index value", lambda self, x, dim, index, value: F.index_fill(x, dim, index, value)),
    """A copy with one value in all slices along a dimension that the indices name.

    Examples:
        >>> print(ops.IndexFill()(Tensor([[1, 2], [3, 4]]), 1, Tensor([0], ms.int32), Tensor(-1)))
        [[-1  2]
         [-1  4]]
    """)
IndexPut = composition(
    "IndexPut",
    of_tensors(
        "x source",
        lambda self, x, source, indices: (with_items_added if self.accumulate else with_items)(x, tuple(indices), source),
    ),
    """A copy with values at the places that a tuple of index tensors names; they are added when `accumulate` is 1.

    Examples:
        >>> print(ops.IndexPut(accumulate=1)(Tensor([1, 2, 3]), Tensor([10, 20]), (Tensor([0, 2]),)))
        [11  2 23]
    """,
    accumulate=0,
)  # fmt: skip
InplaceAdd = composition("InplaceAdd", of_tensors("x v", lambda self, x, v: F.inplace_add(x, v, self.indices)),
    """A copy of x with the rows of v added to its rows `indices`.

    Examples:
        >>> print(ops.InplaceAdd((1,))(Tensor([[1.0], [2.0], [3.0]]), Tensor([[10.0]])).flatten())
        [ 1. 12.  3.]
    """, indices=REQUIRED)
InplaceSub = composition("InplaceSub", of_tensors("x v", lambda self, x, v: F.inplace_sub(x, v, self.indices)),
    """A copy of x with the rows of v subtracted from its rows `indices`.

    Examples:
        >>> print(ops.InplaceSub((1,))(Tensor([[1.0], [2.0], [3.0]]), Tensor([[10.0]])).flatten())
        [ 1. -8.  3.]
    """, indices=REQUIRED)
InplaceUpdate = composition("InplaceUpdate", of_tensors("x v", lambda self, x, v: F.inplace_update(x, v, self.indices)),
    """A copy of x with its rows `indices` replaced by those of v.

    Examples:
        >>> print(ops.InplaceUpdate((1,))(Tensor([[1.0], [2.0], [3.0]]), Tensor([[10.0]])).flatten())
        [ 1. 10.  3.]
    """, indices=REQUIRED)
InplaceUpdateV2 = composition("InplaceUpdateV2", of_tensors("x v", lambda self, x, indices, v: F.inplace_update(x, v, indices)),
    """A copy of x with rows, named by the second argument, replaced by those of v.

    Examples:
        >>> print(ops.InplaceUpdateV2()(Tensor([[1.0], [2.0], [3.0]]), (1,), Tensor([[10.0]])).flatten())
        [ 1. 10.  3.]
    """)
InplaceIndexAdd = composition(
    "InplaceIndexAdd", lambda self, x, indices, u: F.inplace_index_add(x, indices, u, self.axis),
    """Add slices along `axis` to a Parameter in place.

    Examples:
        >>> total = Parameter(ops.zeros((3, 1)), name="total")
        >>> _ = ops.InplaceIndexAdd(axis=0)(total, Tensor([0, 2], ms.int32), Tensor([[5.0], [6.0]]))
        >>> total.asnumpy().tolist()
        [[5.0], [0.0], [6.0]]
    """, axis=REQUIRED,
)  # fmt: skip
UnsortedSegmentSum = plain("UnsortedSegmentSum", F.unsorted_segment_sum)
UnsortedSegmentProd = plain("UnsortedSegmentProd", F.unsorted_segment_prod)
UnsortedSegmentMax = plain("UnsortedSegmentMax", F.unsorted_segment_max)
UnsortedSegmentMin = plain("UnsortedSegmentMin", F.unsorted_segment_min)
for _segments in (UnsortedSegmentSum, UnsortedSegmentProd, UnsortedSegmentMax, UnsortedSegmentMin):
    _segments.cuts, _segments.brings_together = "n*,n", True  # rows and their segments


def _copied(x: Any, y: Any) -> Any:
    require_tensors("CopyWithSlice", x=x, y=y)
    return update(x, F.broadcast_to(cast(y, x.dtype), x.shape))


CopyWithSlice = composition("CopyWithSlice", lambda self, x, y: _copied(x, y),
    """Copy the second tensor into the first, a Parameter or tensor, in place.

    Examples:
        >>> x = Parameter(Tensor([1.0, 2.0]), name="x")
        >>> _ = ops.CopyWithSlice()(x, Tensor([7.0, 8.0]))
        >>> print(x.asnumpy())
        [7. 8.]
    """)

SplitWithSize = plain("SplitWithSize", F.split)


# -- layouts ------------------------------------------------------------------------------------------------------------
def _dim_map(self: Any, x: Tensor) -> Any:
    table = np.array([self.src_format.index(letter) for letter in self.dst_format], np.int32)
    return cast(Gather()(from_array(table), ew.FloorMod()(x, len(table)), 0), x.dtype)


def _vec_permute(self: Any, x: Tensor) -> Any:
    spatial = x.shape[0] == 2
    source, target = (f.replace("N", "").replace("C", "") if spatial else f for f in (self.src_format, self.dst_format))
    return Gather()(x, from_array(np.array([source.index(letter) for letter in target])), 0)


DataFormatDimMap = composition(
    "DataFormatDimMap", _dim_map, """Dimensions of one layout in another.

    Examples:
        >>> print(ops.DataFormatDimMap()(Tensor([0, 1, 2, 3], ms.int32)))
        [0 3 1 2]
    """, src_format="NHWC", dst_format="NCHW"
)
DataFormatVecPermute = composition(
    "DataFormatVecPermute", _vec_permute, """Sizes of one layout in another.

    Examples:
        >>> print(ops.DataFormatVecPermute()(Tensor([8, 24, 32, 3], ms.int32)))
        [ 8  3 24 32]
    """, src_format="NHWC", dst_format="NCHW"
)

__all__ = [
    "ArgMaxWithValue", "ArgMinWithValue", "Argmax", "Argmin", "BatchToSpace", "BatchToSpaceND", "BatchToSpaceNDV2",
    "Bitcast", "BroadcastTo", "Cast", "Concat", "ConjugateTranspose", "CopyWithSlice", "DType", "DataFormatDimMap",
    "DataFormatVecPermute", "DepthToSpace", "Diag", "DiagPart", "DynamicShape", "EmbeddingLookup", "Expand",
    "ExpandDims", "Eye", "Fill", "FillDiagonal", "FillV2", "Fills", "Flatten", "Gather", "GatherD", "GatherNd",
    "GatherV2", "Identity", "IdentityN", "IndexAdd", "IndexFill", "IndexPut", "InplaceAdd", "InplaceIndexAdd",
    "InplaceSub", "InplaceUpdate", "InplaceUpdateV2", "InvertPermutation", "LinSpace", "ListDiff", "ListToTensor",
    "LogSpace", "LowerBound", "MaskedFill", "MaskedScatter", "MaskedSelect", "MatrixBandPart", "MatrixDiagPartV3",
    "MatrixDiagV3", "MatrixSetDiagV3", "Meshgrid", "MirrorPad", "NonZero", "OneHot", "OneHotExt", "Ones", "OnesLike", "Pack",
    "Pad", "PadV3", "Padding", "ParallelConcat", "Range", "Rank", "Reshape", "ReverseSequence", "ReverseV2", "Roll",
    "ScalarCast", "ScalarToArray", "ScatterAdd", "ScatterAddWithAxis", "ScatterDiv", "ScatterMax", "ScatterMin",
    "ScatterMul", "ScatterNd", "ScatterNdAdd", "ScatterNdDiv", "ScatterNdMax", "ScatterNdMin", "ScatterNdMul",
    "ScatterNdSub", "ScatterNdUpdate", "ScatterNonAliasingAdd", "ScatterSub", "ScatterUpdate", "SearchSorted",
    "Select", "SelectView", "Shape", "Size", "Slice", "Sort", "SpaceToBatch", "SpaceToBatchND", "SpaceToDepth",
    "SparseGatherV2", "Split", "SplitV", "SplitWithSize", "Squeeze", "Stack", "StridedSlice", "TensorScatterAdd",
    "TensorScatterDiv", "TensorScatterElements", "TensorScatterMax", "TensorScatterMin", "TensorScatterMul",
    "TensorScatterSub", "TensorScatterUpdate", "TensorShape", "TensorToList", "TensorToTuple", "Tile", "TopK",
    "Transpose", "TransposeExtView", "TransposeView", "Tril", "TrilIndices", "Triu", "TriuIndices", "TupleToArray",
    "TupleToTensor", "Unique", "UniqueConsecutive", "UniqueWithPad", "Unpack", "UnravelIndex", "UnsortedSegmentMax",
    "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum", "Unstack", "UpperBound", "Zeros",
    "ZerosLike",
]  # fmt: skip
