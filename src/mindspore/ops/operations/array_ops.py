"""Classes of array operations: shapes, joins, indices, scatters and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, concrete
from mindspore.ops.composition import REQUIRED, composition, plain
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
from mindspore.prims.sorting import Argmax, Argmin, SearchSorted, Sort, TopK
from mindspore.prims.values import from_array

# -- facts ----------------------------------------------------------------------------------------------------------
Shape = plain("Shape", F.shape)
TensorShape = plain("TensorShape", F.dyn_shape)
DynamicShape = composition("DynamicShape", lambda self, x: F.dyn_shape(x), dtype=9)
DType = plain("DType", F.dtype)
Size = plain("Size", F.size)
Rank = plain("Rank", F.rank)
Identity = plain("Identity", F.identity)
IdentityN = composition("IdentityN", lambda self, xs: tuple(xs))
TupleToArray = plain("TupleToArray", F.tuple_to_array)
ScalarToArray = plain("ScalarToArray", F.scalar_to_array)
ScalarCast = plain("ScalarCast", F.scalar_cast)
TensorToTuple = composition("TensorToTuple", lambda self, x: tuple(concrete("TensorToTuple", x).tolist()))
TensorToList = composition("TensorToList", lambda self, x: concrete("TensorToList", x).tolist())
TupleToTensor = composition("TupleToTensor", lambda self, x, dtype=None: Tensor(list(x), dtype))
ListToTensor = composition("ListToTensor", lambda self, x, dtype=None: Tensor(list(x), dtype))

# -- shapes ---------------------------------------------------------------------------------------------------------
Flatten = composition("Flatten", lambda self, x: F.flatten(x))
Tile = plain("Tile", F.tile)
Expand = composition("Expand", lambda self, x, shape: F.expand(x, shape))
ReverseV2 = composition("ReverseV2", lambda self, x: F.flip(x, self.axis), axis=REQUIRED)
Roll = composition("Roll", lambda self, x: F.roll(x, self.shifts, self.dims), shifts=REQUIRED, dims=None)
Meshgrid = composition("Meshgrid", lambda self, xs: F.meshgrid(*xs, indexing=self.indexing), indexing="xy")
TransposeView = TransposeExtView = plain("TransposeView", F.transpose)
ConjugateTranspose = composition("ConjugateTranspose", lambda self, x, perm: F.conj(F.transpose(x, perm)))


def _split(self: Any, x: Any) -> tuple[Tensor, ...]:
    at = checks.axis("Split", self.axis, x.ndim)
    if x.shape[at] % self.output_num:
        raise ValueError(
            f"For 'Split', dimension {at} of shape {x.shape} cannot be cut into {self.output_num} equal parts."
        )
    return F.split(x, x.shape[at] // self.output_num, at)


Split = composition("Split", _split, "Cut into equal parts.", axis=0, output_num=1)


def _split_v(self: Any, x: Any) -> tuple:
    rest = x.shape[self.split_dim] - sum(size for size in self.size_splits if size != -1)
    return F.split(x, tuple(rest if size == -1 else size for size in self.size_splits), self.split_dim)


SplitV = composition(
    "SplitV", _split_v, "Cut into parts of given sizes, of which one may be -1: what is left.",
    size_splits=REQUIRED, split_dim=REQUIRED, num_split=REQUIRED,
)  # fmt: skip
Unstack = composition("Unstack", lambda self, x: F.unstack(x, self.axis), axis=0, num=None)
Unpack = composition("Unpack", lambda self, x: F.unstack(x, self.axis), axis=0, num=None)
Pack = composition("Pack", lambda self, xs: F.stack(xs, self.axis), axis=0)
ParallelConcat = composition("ParallelConcat", lambda self, xs: F.concat(xs, 0))
Slice = plain("Slice", slice_)
StridedSlice = composition(
    "StridedSlice",
    lambda self, x, begin, end, strides: F.strided_slice(
        x, begin, end, strides, self.begin_mask, self.end_mask, self.ellipsis_mask, self.new_axis_mask,
        self.shrink_axis_mask,
    ),
    begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0,
)  # fmt: skip
SelectView = composition("SelectView", lambda self, x, index, axis: x[(slice(None),) * axis + (index,)])


def _pad_v3(self: Any, x: Any, paddings: Any, constant_value: Any = None) -> Tensor:
    amounts = values.static_value(paddings)
    if not self.paddings_contiguous:
        half = len(amounts) // 2
        amounts = [v for pair in zip(amounts[:half], amounts[half:]) for v in pair]
    mode = {"edge": "replicate"}.get(self.mode, self.mode)
    return F.pad(x, tuple(amounts), mode, constant_value)


PadV3 = composition("PadV3", _pad_v3, mode="constant", paddings_contiguous=True)
MirrorPad = composition(
    "MirrorPad", lambda self, x, paddings: F.mirror_pad(x, paddings, self.mode), mode="REFLECT",
)  # fmt: skip
Padding = composition("Padding", lambda self, x: F.padding(x, self.pad_dim_size), pad_dim_size=8)


def _depth_to_space(self: Any, x: Any) -> Tensor:
    n, c, h, w = x.shape
    b = self.block_size
    if c % (b * b):
        raise ValueError(f"For 'DepthToSpace', the channels, {c}, must be a multiple of {b * b}.")
    moved = Transpose()(Reshape()(x, (n, b, b, c // (b * b), h, w)), (0, 3, 4, 1, 5, 2))
    return Reshape()(moved, (n, c // (b * b), h * b, w * b))


def _space_to_depth(self: Any, x: Any) -> Tensor:
    n, c, h, w = x.shape
    b = self.block_size
    if h % b or w % b:
        raise ValueError(f"For 'SpaceToDepth', height and width of shape {x.shape} must be multiples of {b}.")
    moved = Transpose()(Reshape()(x, (n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
    return Reshape()(moved, (n, c * b * b, h // b, w // b))


DepthToSpace = composition("DepthToSpace", _depth_to_space, "Move channels into blocks of space.", block_size=REQUIRED)
SpaceToDepth = composition("SpaceToDepth", _space_to_depth, "Move blocks of space into channels.", block_size=REQUIRED)
SpaceToBatch = composition(
    "SpaceToBatch", lambda self, x: F.space_to_batch_nd(x, [self.block_size] * 2, self.paddings), block_size=REQUIRED,
    paddings=REQUIRED,
)  # fmt: skip
SpaceToBatchND = composition(
    "SpaceToBatchND", lambda self, x: F.space_to_batch_nd(x, self.block_shape, self.paddings), block_shape=REQUIRED,
    paddings=REQUIRED,
)  # fmt: skip
BatchToSpace = composition(
    "BatchToSpace", lambda self, x: F.batch_to_space_nd(x, [self.block_size] * 2, self.crops), block_size=REQUIRED,
    crops=REQUIRED,
)  # fmt: skip
BatchToSpaceND = composition(
    "BatchToSpaceND", lambda self, x: F.batch_to_space_nd(x, self.block_shape, self.crops), block_shape=REQUIRED,
    crops=REQUIRED,
)  # fmt: skip
BatchToSpaceNDV2 = plain("BatchToSpaceNDV2", F.batch_to_space_nd)
ReverseSequence = composition(
    "ReverseSequence", lambda self, x, lengths: F.reverse_sequence(x, lengths, self.seq_dim, self.batch_dim),
    seq_dim=REQUIRED, batch_dim=0,
)  # fmt: skip

# -- new tensors ----------------------------------------------------------------------------------------------------
Zeros = plain("Zeros", F.zeros)
Ones = plain("Ones", F.ones)
FillV2 = composition("FillV2", lambda self, shape, value: F.full(shape, value))
Fills = plain("Fills", F.fills)
LinSpace = plain("LinSpace", F.linspace)
LogSpace = composition(
    "LogSpace", lambda self, start, end: F.logspace(start, end, self.steps, self.base, dtype=self.dtype), steps=10,
    base=10, dtype=mstype.float32,
)  # fmt: skip
Eye = composition("Eye", lambda self, n, m, t: _EyePrimitive()(n, m, t), "Ones on the main diagonal.")
Diag = plain("Diag", F.diag)
DiagPart = composition("DiagPart", lambda self, x: F.diag_part(x))
TrilIndices = composition(
    "TrilIndices", lambda self: F.tril_indices(self.row, self.col, self.offset, dtype=self.dtype), row=REQUIRED,
    col=REQUIRED, offset=0, dtype=mstype.int32,
)  # fmt: skip
TriuIndices = composition(
    "TriuIndices", lambda self: F.triu_indices(self.row, self.col, self.offset, dtype=self.dtype), row=REQUIRED,
    col=REQUIRED, offset=0, dtype=mstype.int32,
)  # fmt: skip
MatrixDiagV3 = composition(
    "MatrixDiagV3", lambda self, x, k, rows, cols, padding: F.matrix_diag(x, k, rows, cols, padding, self.align),
    align="RIGHT_LEFT",
)  # fmt: skip
MatrixDiagPartV3 = composition(
    "MatrixDiagPartV3", lambda self, x, k, padding: F.matrix_diag_part(x, k, padding, self.align), align="RIGHT_LEFT",
)  # fmt: skip
MatrixSetDiagV3 = composition(
    "MatrixSetDiagV3", lambda self, x, diagonal, k: F.matrix_set_diag(x, diagonal, k, self.align), align="RIGHT_LEFT",
)  # fmt: skip
MatrixBandPart = plain("MatrixBandPart", F.matrix_band_part)
FillDiagonal = composition(
    "FillDiagonal", lambda self, x: F.fill_diagonal(x, self.fill_value, self.wrap), fill_value=REQUIRED, wrap=False,
)  # fmt: skip
OneHot = composition(
    "OneHot", lambda self, x, depth, on, off: F.one_hot(x, depth, on, off, self.axis), "One-hot codes.", axis=-1,
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
    "(indices, values) of the largest elements.", axis=0, keep_dims=False,
)  # fmt: skip
ArgMinWithValue = composition(
    "ArgMinWithValue", lambda self, x: F.argmin_with_value(x, self.axis, self.keep_dims),
    "(indices, values) of the smallest elements.", axis=0, keep_dims=False,
)  # fmt: skip


UniqueConsecutive = composition(
    "UniqueConsecutive", lambda self, x: _three(x, self), return_inverse=False, return_counts=False, dim=None,
)  # fmt: skip


def _three(x: Any, self: Any) -> tuple:
    """Values, inverse indices and counts; what was not asked for is an empty tensor."""
    found, inverse, counts = F.unique_consecutive(x, True, True, self.dim)
    none = Tensor(np.zeros(0, np.int64))
    return found, inverse if self.return_inverse else none, counts if self.return_counts else none


UnravelIndex = plain("UnravelIndex", F.unravel_index)
InvertPermutation = composition("InvertPermutation", lambda self, x: F.invert_permutation(x))
LowerBound = composition(
    "LowerBound", lambda self, rows, x: SearchSorted(self.out_type, False)(rows, x), out_type=mstype.int32,
)  # fmt: skip
UpperBound = composition(
    "UpperBound", lambda self, rows, x: SearchSorted(self.out_type, True)(rows, x), out_type=mstype.int32,
)  # fmt: skip
ListDiff = composition("ListDiff", lambda self, x, y: F.list_difference(x, y, self.out_idx), out_idx=mstype.int32)

# -- scattering -----------------------------------------------------------------------------------------------------
ScatterNd = plain("ScatterNd", F.scatter_nd)


def _scatter(name: str, function: Any) -> Any:
    """A class that updates a Parameter in place."""
    return composition(
        name, lambda self, x, indices, updates: function(x, indices, updates), function.__doc__,
        use_locking=name.endswith("Update"),
    )  # fmt: skip


ScatterUpdate = _scatter("ScatterUpdate", F.scatter_update)
ScatterAdd = _scatter("ScatterAdd", F.scatter_add)
ScatterSub = _scatter("ScatterSub", F.scatter_sub)
ScatterMul = _scatter("ScatterMul", F.scatter_mul)
ScatterDiv = _scatter("ScatterDiv", F.scatter_div)
ScatterMax = _scatter("ScatterMax", F.scatter_max)
ScatterMin = _scatter("ScatterMin", F.scatter_min)
ScatterNdUpdate = _scatter("ScatterNdUpdate", F.scatter_nd_update)
ScatterNdAdd = _scatter("ScatterNdAdd", F.scatter_nd_add)
ScatterNdSub = _scatter("ScatterNdSub", F.scatter_nd_sub)
ScatterNdMul = _scatter("ScatterNdMul", F.scatter_nd_mul)
ScatterNdDiv = _scatter("ScatterNdDiv", F.scatter_nd_div)
ScatterNdMax = _scatter("ScatterNdMax", F.scatter_nd_max)
ScatterNdMin = _scatter("ScatterNdMin", F.scatter_nd_min)
ScatterNonAliasingAdd = composition(
    "ScatterNonAliasingAdd", lambda self, x, indices, updates: update(x, TensorScatterAdd()(x, indices, updates)),
)  # fmt: skip
ScatterAddWithAxis = composition(
    "ScatterAddWithAxis", lambda self, x, i, u: F.tensor_scatter_elements(x, i, u, self.axis, "add"), axis=0,
)  # fmt: skip
IndexAdd = composition(
    "IndexAdd", lambda self, x, indices, y: F.index_add(x, indices, y, self.axis), axis=REQUIRED, use_lock=True,
    check_index_bound=True,
)  # fmt: skip
IndexFill = composition("IndexFill", lambda self, x, dim, index, value: F.index_fill(x, dim, index, value))
IndexPut = composition(
    "IndexPut",
    lambda self, x, source, indices: (with_items_added if self.accumulate else with_items)(x, tuple(indices), source),
    accumulate=0,
)  # fmt: skip
InplaceAdd = composition("InplaceAdd", lambda self, x, v: F.inplace_add(x, v, self.indices), indices=REQUIRED)
InplaceSub = composition("InplaceSub", lambda self, x, v: F.inplace_sub(x, v, self.indices), indices=REQUIRED)
InplaceUpdate = composition("InplaceUpdate", lambda self, x, v: F.inplace_update(x, v, self.indices), indices=REQUIRED)
InplaceUpdateV2 = composition("InplaceUpdateV2", lambda self, x, indices, v: F.inplace_update(x, v, indices))
InplaceIndexAdd = composition(
    "InplaceIndexAdd", lambda self, x, indices, u: F.inplace_index_add(x, indices, u, self.axis), axis=REQUIRED,
)  # fmt: skip
UnsortedSegmentSum = plain("UnsortedSegmentSum", F.unsorted_segment_sum)
UnsortedSegmentProd = plain("UnsortedSegmentProd", F.unsorted_segment_prod)
UnsortedSegmentMax = plain("UnsortedSegmentMax", F.unsorted_segment_max)
UnsortedSegmentMin = plain("UnsortedSegmentMin", F.unsorted_segment_min)
CopyWithSlice = composition("CopyWithSlice", lambda self, x, y: update(x, y))

SplitWithSize = plain("SplitWithSize", F.split)


# -- layouts ------------------------------------------------------------------------------------------------------------
def _dim_map(self: Any, x: Any) -> Any:
    table = np.array([self.src_format.index(letter) for letter in self.dst_format], np.int32)
    return cast(Gather()(from_array(table), ew.FloorMod()(x, len(table)), 0), x.dtype)


def _vec_permute(self: Any, x: Any) -> Any:
    spatial = x.shape[0] == 2
    source, target = (f.replace("N", "").replace("C", "") if spatial else f for f in (self.src_format, self.dst_format))
    return Gather()(x, from_array(np.array([source.index(letter) for letter in target])), 0)


DataFormatDimMap = composition(
    "DataFormatDimMap", _dim_map, "Dimensions of one layout in another.", src_format="NHWC", dst_format="NCHW"
)
DataFormatVecPermute = composition(
    "DataFormatVecPermute", _vec_permute, "Sizes of one layout in another.", src_format="NHWC", dst_format="NCHW"
)

__all__ = [
    "ArgMaxWithValue", "ArgMinWithValue", "Argmax", "Argmin", "BatchToSpace", "BatchToSpaceND", "BatchToSpaceNDV2",
    "Bitcast", "BroadcastTo", "Cast", "Concat", "ConjugateTranspose", "CopyWithSlice", "DType", "DataFormatDimMap",
    "DataFormatVecPermute", "DepthToSpace", "Diag", "DiagPart", "DynamicShape", "EmbeddingLookup", "Expand",
    "ExpandDims", "Eye", "Fill", "FillDiagonal", "FillV2", "Fills", "Flatten", "Gather", "GatherD", "GatherNd",
    "GatherV2", "Identity", "IdentityN", "IndexAdd", "IndexFill", "IndexPut", "InplaceAdd", "InplaceIndexAdd",
    "InplaceSub", "InplaceUpdate", "InplaceUpdateV2", "InvertPermutation", "LinSpace", "ListDiff", "ListToTensor",
    "LogSpace", "LowerBound", "MaskedFill", "MaskedScatter", "MaskedSelect", "MatrixBandPart", "MatrixDiagPartV3",
    "MatrixDiagV3", "MatrixSetDiagV3", "Meshgrid", "MirrorPad", "NonZero", "OneHot", "Ones", "OnesLike", "Pack",
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
