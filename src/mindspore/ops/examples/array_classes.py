"""Shapes, indices and scattering, as classes."""

TABLE = """
ArgMaxWithValue
    >>> place, value = ops.ArgMaxWithValue()(Tensor([1.0, 5.0]))
    >>> place.item(), value.item()
    (1, 5.0)
ArgMinWithValue
    >>> index, value = ops.ArgMinWithValue(axis=1)(Tensor([[3.0, 8.0], [6.0, 5.0]]))
    >>> print(index, value)
    [0 1] [3. 5.]
BatchToSpace: Move blocks of `block_size` by `block_size` out of the batch dimension of (N, C, H, W), then crop.
    >>> x = Tensor([[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]])
    >>> ops.BatchToSpace(2, [[0, 0], [0, 0]])(x).tolist()
    [[[[1.0, 2.0], [3.0, 4.0]]]]
BatchToSpaceND: Move blocks of `block_shape` out of the batch dimension into the dimensions behind it, then crop.
    >>> x = Tensor([[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]])
    >>> ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]])(x).shape
    (1, 1, 2, 2)
ConjugateTranspose: The complex conjugate with permuted dimensions.
    >>> print(ops.ConjugateTranspose()(Tensor([[1 + 2j, 3]]), (1, 0)))
    [[1.-2.j]
     [3.-0.j]]
CopyWithSlice: Copy the second tensor into the first, a Parameter or tensor, in place.
    >>> x = Parameter(Tensor([1.0, 2.0]), name="x")
    >>> _ = ops.CopyWithSlice()(x, Tensor([7.0, 8.0]))
    >>> print(x.asnumpy())
    [7. 8.]
DepthToSpace
    >>> x = Tensor(np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1))
    >>> ops.DepthToSpace(2)(x).tolist()
    [[[[0.0, 1.0], [2.0, 3.0]]]]
DiagPart: The diagonal of a tensor of rank 2k whose halves have equal shapes.
    >>> print(ops.DiagPart()(Tensor([[1, 2], [3, 4]])))
    [1 4]
DType
    >>> ops.DType()(Tensor([1.0]))
    mindspore.float32
DynamicShape: The shape as an int64 tensor.
    >>> print(ops.DynamicShape()(ops.ones((2, 5))))
    [2 5]
Expand: Repeat along new or size-1 dimensions; -1 keeps a dimension.
    >>> print(ops.Expand()(Tensor([[1], [2]]), (-1, 2)))
    [[1 1]
     [2 2]]
Eye
    >>> print(ops.Eye()(2, 3, ms.int32))
    [[1 0 0]
     [0 1 0]]
FillDiagonal: A copy with one value on the main diagonal; `wrap` starts again below in tall matrices.
    >>> print(ops.FillDiagonal(5.0)(ops.zeros((2, 3))))
    [[5. 0. 0.]
     [0. 5. 0.]]
FillV2: A tensor of the given shape with one value everywhere.
    >>> print(ops.FillV2()(Tensor([2, 2], ms.int32), Tensor(7.0)))
    [[7. 7.]
     [7. 7.]]
Flatten: Merge all dimensions behind the first.
    >>> ops.Flatten()(Tensor(np.ones((2, 3, 4), np.float32))).shape
    (2, 12)
Identity
    >>> ops.Identity()(Tensor([1.0])).tolist()
    [1.0]
IdentityN: The tensors of a tuple or list, unchanged.
    >>> [x.tolist() for x in ops.IdentityN()((Tensor([1]), Tensor([2])))]
    [[1], [2]]
IndexAdd: Add slices along `axis` to those of a Parameter that the indices name, in place.
    >>> total = Parameter(ops.zeros((3, 1)), name="total")
    >>> _ = ops.IndexAdd(axis=0)(total, Tensor([0, 2], ms.int32), Tensor([[5.0], [6.0]]))
    >>> total.asnumpy().tolist()
    [[5.0], [0.0], [6.0]]
IndexFill: A copy with one value in all slices along a dimension that the indices name.
    >>> print(ops.IndexFill()(Tensor([[1, 2], [3, 4]]), 1, Tensor([0], ms.int32), Tensor(-1)))
    [[-1  2]
     [-1  4]]
IndexPut: A copy with values at the places that a tuple of index tensors names; they are added when `accumulate` is 1.
    >>> print(ops.IndexPut(accumulate=1)(Tensor([1, 2, 3]), Tensor([10, 20]), (Tensor([0, 2]),)))
    [11  2 23]
InplaceAdd: A copy of x with the rows of v added to its rows `indices`.
    >>> print(ops.InplaceAdd((1,))(Tensor([[1.0], [2.0], [3.0]]), Tensor([[10.0]])).flatten())
    [ 1. 12.  3.]
InplaceIndexAdd: Add slices along `axis` to a Parameter in place.
    >>> total = Parameter(ops.zeros((3, 1)), name="total")
    >>> _ = ops.InplaceIndexAdd(axis=0)(total, Tensor([0, 2], ms.int32), Tensor([[5.0], [6.0]]))
    >>> total.asnumpy().tolist()
    [[5.0], [0.0], [6.0]]
InplaceSub: A copy of x with the rows of v subtracted from its rows `indices`.
    >>> print(ops.InplaceSub((1,))(Tensor([[1.0], [2.0], [3.0]]), Tensor([[10.0]])).flatten())
    [ 1. -8.  3.]
InplaceUpdate: A copy of x with its rows `indices` replaced by those of v.
    >>> print(ops.InplaceUpdate((1,))(Tensor([[1.0], [2.0], [3.0]]), Tensor([[10.0]])).flatten())
    [ 1. 10.  3.]
InplaceUpdateV2: A copy of x with rows, named by the second argument, replaced by those of v.
    >>> print(ops.InplaceUpdateV2()(Tensor([[1.0], [2.0], [3.0]]), (1,), Tensor([[10.0]])).flatten())
    [ 1. 10.  3.]
InvertPermutation: The inverse of a permutation, given as a tuple of ints.
    >>> ops.InvertPermutation()((2, 0, 1))
    (1, 2, 0)
ListDiff: The elements of x that are not in y, and where they stand.
    >>> left, where = ops.ListDiff()(Tensor([5, 6, 7, 8]), Tensor([6, 8]))
    >>> print(left, where)
    [5 7] [0 2]
ListToTensor: A list of numbers as a tensor of the given type.
    >>> print(ops.ListToTensor()([1, 2, 3], ms.float32))
    [1. 2. 3.]
LogSpace: `base` to the power of `steps` evenly spaced exponents.
    >>> print(ops.LogSpace(steps=4)(Tensor(0.0), Tensor(3.0)))
    [   1.   10.  100. 1000.]
LowerBound: Where each value would be inserted into its sorted row, before equal ones.
    >>> print(ops.LowerBound()(Tensor([[1.0, 3.0, 3.0, 5.0]]), Tensor([[3.0, 4.0]])))
    [[1 3]]
MatrixDiagPartV3: The diagonals `k` of matrices; short ones are padded on the side that `align` names.
    >>> print(ops.MatrixDiagPartV3()(Tensor([[1, 2], [3, 4]]), Tensor(1, ms.int32), Tensor(0)))
    [2]
MatrixDiagV3: Matrices with the given diagonals and a padding value elsewhere.
    >>> k, rows, columns = (Tensor(n, ms.int32) for n in (0, 2, 3))
    >>> print(ops.MatrixDiagV3()(Tensor([1, 2]), k, rows, columns, Tensor(9)))
    [[1 9 9]
     [9 2 9]]
MatrixSetDiagV3: A copy with diagonals replaced.
    >>> print(ops.MatrixSetDiagV3()(ops.zeros((2, 2)), Tensor([5.0, 6.0]), Tensor(0, ms.int32)))
    [[5. 0.]
     [0. 6.]]
Meshgrid: Coordinate grids from a tuple of 1-D tensors.
    >>> x, y = ops.Meshgrid()((Tensor([1, 2]), Tensor([7, 8])))
    >>> print(x.tolist(), y.tolist())
    [[1, 2], [1, 2]] [[7, 7], [8, 8]]
MirrorPad: Pad by mirroring: 'REFLECT' leaves the border element out, 'SYMMETRIC' repeats it.
    >>> print(ops.MirrorPad("SYMMETRIC")(Tensor([[1, 2, 3]]), Tensor([[0, 0], [2, 0]])))
    [[2 1 1 2 3]]
OneHot
    >>> ops.OneHot()(Tensor([0, 2]), 3, Tensor(1.0), Tensor(0.0)).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
Ones
    >>> ops.Ones()((2,), ms.float32).tolist()
    [1.0, 1.0]
Pack: Join tensors of one shape along a new dimension (the older name of `Stack`).
    >>> print(ops.Pack(axis=1)((Tensor([1, 2]), Tensor([3, 4]))))
    [[1 3]
     [2 4]]
Padding: Extend the last dimension, of size 1, to `pad_dim_size` with zeros.
    >>> print(ops.Padding(4)(Tensor([[7.0]])))
    [[7. 0. 0. 0.]]
PadV3: Pad by constants, mirroring, repetition or wrapping; `paddings` start with the last dimension.
    >>> print(ops.PadV3()(Tensor([1, 2]), (1, 2), 9))
    [9 1 2 9 9]
ParallelConcat: Join tensors along the first dimension, which is 1 in each of them.
    >>> print(ops.ParallelConcat()([Tensor([[1, 2]]), Tensor([[3, 4]])]))
    [[1 2]
     [3 4]]
ReverseSequence: Reverse the first elements, as many as given for each batch entry, along `seq_dim`.
    >>> print(ops.ReverseSequence(seq_dim=1)(Tensor([[1, 2, 3], [4, 5, 6]]), Tensor([2, 3])))
    [[2 1 3]
     [6 5 4]]
ReverseV2: Reverse the order along dimensions.
    >>> ops.ReverseV2([0])(Tensor([1, 2, 3])).tolist()
    [3, 2, 1]
Roll: Move elements along dimensions; those that leave at the end enter at the start.
    >>> print(ops.Roll(1, 0)(Tensor([1, 2, 3, 4])))
    [4 1 2 3]
ScatterAdd
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterAdd()(table, Tensor([0, 0], ms.int32), Tensor([1.0, 2.0]))
    >>> print(table.asnumpy())
    [11.  9.]
ScatterAddWithAxis: A copy with updates added at one position along `axis` per place of the indices.
    >>> print(ops.ScatterAddWithAxis(0)(Tensor([1, 2, 3]), Tensor([0, 2]), Tensor([10, 20])))
    [11  2 23]
ScatterDiv
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterDiv()(table, Tensor([0], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [4. 9.]
ScatterMax
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterMax()(table, Tensor([0, 1], ms.int32), Tensor([10.0, 1.0]))
    >>> print(table.asnumpy())
    [10.  9.]
ScatterMin
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterMin()(table, Tensor([0, 1], ms.int32), Tensor([10.0, 1.0]))
    >>> print(table.asnumpy())
    [8. 1.]
ScatterMul
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterMul()(table, Tensor([1], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [ 8. 18.]
ScatterNdAdd
    >>> table = Parameter(ops.zeros(4), name="table")
    >>> _ = ops.ScatterNdAdd()(table, Tensor([[1], [3], [1]], ms.int32), Tensor([1.0, 2.0, 3.0]))
    >>> print(table.asnumpy())
    [0. 4. 0. 2.]
ScatterNdDiv
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterNdDiv()(table, Tensor([[1]], ms.int32), Tensor([3.0]))
    >>> print(table.asnumpy())
    [8. 3.]
ScatterNdMax
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterNdMax()(table, Tensor([[0], [1]], ms.int32), Tensor([10.0, 1.0]))
    >>> print(table.asnumpy())
    [10.  9.]
ScatterNdMin
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterNdMin()(table, Tensor([[0], [1]], ms.int32), Tensor([10.0, 1.0]))
    >>> print(table.asnumpy())
    [8. 1.]
ScatterNdMul
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterNdMul()(table, Tensor([[1]], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [ 8. 18.]
ScatterNdSub
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterNdSub()(table, Tensor([[1]], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [8. 7.]
ScatterNdUpdate
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterNdUpdate()(table, Tensor([[1]], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [8. 2.]
ScatterNonAliasingAdd: A copy with updates added at the indexed slices.
    >>> print(ops.ScatterNonAliasingAdd()(Tensor([8.0, 9.0]), Tensor([[1]], ms.int32), Tensor([2.0])))
    [ 8. 11.]
ScatterSub
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.ScatterSub()(table, Tensor([0], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [6. 9.]
ScatterUpdate
    >>> table = Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]), name="table")
    >>> _ = ops.ScatterUpdate()(table, Tensor([1], ms.int32), Tensor([[7.0, 8.0]]))
    >>> print(table.asnumpy())
    [[1. 2.]
     [7. 8.]]
SelectView: One slice along a dimension, which disappears.
    >>> print(ops.SelectView()(Tensor([[1, 2], [3, 4]]), 1, 0))
    [3 4]
Shape
    >>> ops.Shape()(Tensor([[1.0, 2.0]]))
    (1, 2)
Slice
    >>> ops.Slice()(Tensor([1, 2, 3, 4]), (1,), (2,)).tolist()
    [2, 3]
SpaceToBatch: Pad (N, C, H, W), then move blocks of `block_size` by `block_size` into the batch dimension.
    >>> ops.SpaceToBatch(2, [[0, 0], [0, 0]])(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).flatten().tolist()
    [1.0, 2.0, 3.0, 4.0]
SpaceToBatchND: Pad the dimensions behind the first, then move blocks of `block_shape` into it.
    >>> ops.SpaceToBatchND([2, 2], [[0, 0], [0, 0]])(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).shape
    (4, 1, 1, 1)
SpaceToDepth
    >>> ops.SpaceToDepth(2)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).shape
    (1, 4, 1, 1)
Split
    >>> [t.tolist() for t in ops.Split(0, 2)(Tensor([1, 2, 3, 4]))]
    [[1, 2], [3, 4]]
SplitV
    >>> [part.tolist() for part in ops.SplitV([1, -1], 0, 2)(Tensor([1, 2, 3]))]
    [[1], [2, 3]]
StridedSlice: x[begin:end:strides]; bits of the masks mark entries to ignore, new axes, dropped axes and an ellipsis.
    >>> ops.StridedSlice()(Tensor([1, 2, 3, 4]), (0,), (4,), (2,)).tolist()
    [1, 3]
TensorToList: The elements of a tensor as a list of numbers.
    >>> ops.TensorToList()(Tensor([1, 2]))
    [1, 2]
TensorToTuple: The elements of a tensor as a tuple of numbers.
    >>> ops.TensorToTuple()(Tensor([1, 2]))
    (1, 2)
TrilIndices: The coordinates of the lower triangle: rows first, then columns.
    >>> print(ops.TrilIndices(2, 2)())
    [[0 1 1]
     [0 0 1]]
TriuIndices: The coordinates of the upper triangle: rows first, then columns.
    >>> print(ops.TriuIndices(2, 2)())
    [[0 0 1]
     [0 1 1]]
TupleToTensor: A tuple of numbers as a tensor of the given type.
    >>> print(ops.TupleToTensor()((1, 2), ms.float32))
    [1. 2.]
UniqueConsecutive: Drop elements equal to the one before; on demand also each element's new index and the run lengths.
    >>> print(ops.UniqueConsecutive()(Tensor([1, 1, 2, 2, 1]))[0])
    [1 2 1]
Unpack: The slices along a dimension, which disappears (the older name of `Unstack`).
    >>> [row.tolist() for row in ops.Unpack(axis=1)(Tensor([[1, 2], [3, 4]]))]
    [[1, 3], [2, 4]]
Unstack: The slices along a dimension, which disappears.
    >>> [row.tolist() for row in ops.Unstack(axis=0)(Tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
UpperBound: Where each value would be inserted into its sorted row, behind equal ones.
    >>> print(ops.UpperBound()(Tensor([[1.0, 3.0, 3.0, 5.0]]), Tensor([[3.0, 4.0]])))
    [[3 3]]
"""
