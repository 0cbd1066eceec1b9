"""Sparse tensors and sets, as classes."""

TABLE = """
CSRSparseMatrixToDense
    >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
    >>> rows, columns = Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32)
    >>> print(ops.CSRSparseMatrixToDense()(shape, batches, rows, columns, Tensor([5.0, 6.0])))
    [[0. 5.]
     [6. 0.]]
CSRSparseMatrixToSparseTensor
    >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
    >>> rows, columns = Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32)
    >>> print(ops.CSRSparseMatrixToSparseTensor()(shape, batches, rows, columns, Tensor([5.0, 6.0]))[0])
    [[0 1]
     [1 0]]
DenseToCSRSparseMatrix
    >>> parts = ops.DenseToCSRSparseMatrix()(Tensor([[0.0, 5.0], [6.0, 0.0]]), Tensor([[0, 1], [1, 0]], ms.int32))
    >>> print(parts[3], parts[4])
    [1 0] [5. 6.]
DenseToDenseSetOperation
    >>> where, value, shape = ops.DenseToDenseSetOperation("a-b")(Tensor([[1, 2, 3]]), Tensor([[2, 9, 9]]))
    >>> print(value)
    [1 3]
FractionalAvgPool
    >>> out = ops.FractionalAvgPool([1.0, 2.0, 2.0, 1.0])(ops.ones((1, 8, 8, 1)))[0]
    >>> out.shape
    (1, 4, 4, 1)
FractionalMaxPool
    >>> out = ops.FractionalMaxPool([1.0, 2.0, 2.0, 1.0])(ops.ones((1, 8, 8, 1)))[0]
    >>> out.shape
    (1, 4, 4, 1)
RaggedTensorToSparse
    >>> splits = [Tensor([0, 2, 3], ms.int64)]
    >>> where, value, shape = ops.RaggedTensorToSparse(ms.int64)(splits, Tensor([7, 8, 9]))
    >>> print(where.tolist(), shape)
    [[0, 0], [0, 1], [1, 0]] [2 2]
SelfAdjointEig
    >>> value, vector = ops.SelfAdjointEig()(Tensor([[2.0, 1.0], [1.0, 2.0]]))
    >>> print(value)
    [1. 3.]
SetSize
    >>> where, value, shape = Tensor([[0, 0], [0, 1], [1, 0]]), Tensor([5, 5, 6]), Tensor([2, 2])
    >>> print(ops.SetSize()(where, value, shape))
    [1 1]
SparseAdd
    >>> where, value, shape = Tensor([[0, 1], [1, 0]]), Tensor([5.0, 6.0]), Tensor([2, 2])
    >>> indices, total, _ = ops.SparseAdd()(where, value, shape, where, value, shape, Tensor(0.0))
    >>> print(total)
    [10. 12.]
SparseAddmm
    >>> where, value, shape = Tensor([[0, 1]], ms.int32), Tensor([5.0]), Tensor([2, 2], ms.int32)
    >>> x, y, alpha, beta = Tensor([[1.0], [10.0]]), Tensor([[1.0], [1.0]]), Tensor([1.0]), Tensor([100.0])
    >>> print(ops.SparseAddmm()(where, value, shape, x, y, alpha, beta))
    [[150.]
     [100.]]
SparseConcat
    >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([1, 2])
    >>> indices, values, total = ops.SparseConcat(concat_dim=1)((where, where), (value, value), (shape, shape))
    >>> print(indices.tolist(), total)
    [[0, 1], [0, 3]] [1 4]
SparseCountSparseOutput
    >>> where, value, shape = Tensor([[0, 0], [0, 1]]), Tensor([3, 3]), Tensor([1, 2])
    >>> rows, number, _ = ops.SparseCountSparseOutput()(where, value, shape, Tensor([1, 1]))
    >>> print(rows, number)
    [[0 3]] [2]
SparseDenseCwiseAdd: The stored values of a sparse tensor plus a dense one, which broadcasts.
    >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([2, 2])
    >>> print(ops.SparseDenseCwiseAdd()(where, value, shape, Tensor([[1.0, 10.0]])))
    [15.]
SparseDenseCwiseDiv: The stored values of a sparse tensor over a dense one, which broadcasts.
    >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([2, 2])
    >>> print(ops.SparseDenseCwiseDiv()(where, value, shape, Tensor([[1.0, 10.0]])))
    [0.5]
SparseDenseCwiseMul: The stored values of a sparse tensor times a dense one, which broadcasts.
    >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([2, 2])
    >>> print(ops.SparseDenseCwiseMul()(where, value, shape, Tensor([[1.0, 10.0]])))
    [50.]
SparseFillEmptyRows
    >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([2, 2])
    >>> out = ops.SparseFillEmptyRows()(where, value, shape, Tensor(9.0))
    >>> print(out[1], out[2])
    [5. 9.] [False  True]
SparseMatrixAdd
    >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
    >>> matrix = (shape, batches, Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32), Tensor([5.0, 6.0]))
    >>> out = ops.SparseMatrixAdd()(*matrix, *matrix, Tensor(1.0), Tensor(10.0))
    >>> print(out[-1])
    [55. 66.]
SparseMatrixMatMul
    >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
    >>> matrix = (shape, batches, Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32), Tensor([5.0, 6.0]))
    >>> print(ops.SparseMatrixMatMul()(*matrix, Tensor([[1.0], [10.0]])))
    [[50.]
     [ 6.]]
SparseMatrixNNZ
    >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
    >>> matrix = (shape, batches, Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32), Tensor([5.0, 6.0]))
    >>> print(ops.SparseMatrixNNZ()(*matrix))
    [2]
SparseMatrixSoftmax
    >>> shape, batches = Tensor([1, 2], ms.int32), Tensor([0, 2], ms.int32)
    >>> matrix = (shape, batches, Tensor([0, 2], ms.int32), Tensor([0, 1], ms.int32), Tensor([5.0, 5.0]))
    >>> print(ops.SparseMatrixSoftmax(ms.float32)(*matrix)[-1])
    [0.5 0.5]
SparseMatrixSparseMatMul
    >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
    >>> matrix = (shape, batches, Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32), Tensor([5.0, 6.0]))
    >>> print(ops.SparseMatrixSparseMatMul()(*matrix, *matrix)[-1])
    [30. 30.]
SparseMatrixTranspose
    >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
    >>> matrix = (shape, batches, Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32), Tensor([5.0, 6.0]))
    >>> print(ops.SparseMatrixTranspose()(*matrix)[-1])
    [6. 5.]
SparseReorder
    >>> where, value = ops.SparseReorder()(Tensor([[1, 0], [0, 1]]), Tensor([6.0, 5.0]), Tensor([2, 2]))
    >>> print(where.tolist(), value)
    [[0, 1], [1, 0]] [5. 6.]
SparseReshape
    >>> where, shape = ops.SparseReshape()(Tensor([[0, 1], [1, 0]]), Tensor([2, 2]), Tensor([4]))
    >>> print(where.tolist(), shape)
    [[1], [2]] [4]
SparseSegmentMeanWithNumSegments: The means of chosen rows by (sorted) segment, with a given number of segments.
    >>> x = Tensor([[1.0], [3.0], [8.0]])
    >>> ops.SparseSegmentMeanWithNumSegments()(x, Tensor([0, 1, 2]), Tensor([0, 0, 1]), Tensor([3])).tolist()
    [[2.0], [8.0], [0.0]]
SparseSegmentSqrtN: The sums of chosen rows by (sorted) segment, over the square root of their number.
    >>> print(ops.SparseSegmentSqrtN()(Tensor([[1.0], [3.0]]), Tensor([0, 1]), Tensor([0, 0])))
    [[2.828427]]
SparseSegmentSqrtNWithNumSegments: As `SparseSegmentSqrtN`, with a given number of segments.
    >>> x, rows, segments = Tensor([[1.0], [3.0]]), Tensor([0, 1]), Tensor([0, 1])
    >>> ops.SparseSegmentSqrtNWithNumSegments()(x, rows, segments, Tensor([3])).tolist()
    [[1.0], [3.0], [0.0]]
SparseSegmentSum: The sums of chosen rows by (sorted) segment.
    >>> ops.SparseSegmentSum()(Tensor([[1.0], [3.0], [8.0]]), Tensor([0, 1, 2]), Tensor([0, 0, 1])).tolist()
    [[4.0], [8.0]]
SparseSegmentSumWithNumSegments: The sums of chosen rows by (sorted) segment, with a given number of segments.
    >>> x, rows, segments = Tensor([[1.0], [3.0]]), Tensor([0, 1]), Tensor([0, 0])
    >>> ops.SparseSegmentSumWithNumSegments()(x, rows, segments, Tensor([2])).tolist()
    [[4.0], [0.0]]
SparseSlice
    >>> where, value, shape = Tensor([[0, 1], [1, 0]]), Tensor([5.0, 6.0]), Tensor([2, 2])
    >>> out = ops.SparseSlice()(where, value, shape, Tensor([1, 0]), Tensor([1, 2]))
    >>> print(out[0], out[1])
    [[0 0]] [6.]
SparseSoftmax
    >>> print(ops.SparseSoftmax()(Tensor([[0, 0], [0, 1]]), Tensor([5.0, 5.0]), Tensor([1, 2])))
    [0.5 0.5]
SparseSparseMaximum: The larger of each pair of two sparse tensors, in which what is not stored is 0.
    >>> where, shape = Tensor([[0, 1]]), Tensor([2, 2])
    >>> where, value = ops.SparseSparseMaximum()(where, Tensor([5.0]), shape, where, Tensor([7.0]), shape)
    >>> print(where, value)
    [[0 1]] [7.]
SparseSparseMinimum: The smaller of each pair of two sparse tensors, in which what is not stored is 0.
    >>> where, shape = Tensor([[0, 1]]), Tensor([2, 2])
    >>> where, value = ops.SparseSparseMinimum()(where, Tensor([5.0]), shape, where, Tensor([7.0]), shape)
    >>> print(where, value)
    [[0 1]] [5.]
SparseSplit
    >>> where, value, shape = Tensor([[0, 1], [1, 0]]), Tensor([5.0, 6.0]), Tensor([2, 2])
    >>> places, values, shapes = ops.SparseSplit(num_split=2)(Tensor(0), where, value, shape)
    >>> [v.tolist() for v in values]
    [[5.0], [6.0]]
SparseTensorDenseAdd
    >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([2, 2])
    >>> print(ops.SparseTensorDenseAdd()(where, value, shape, ops.ones((2, 2))))
    [[1. 6.]
     [1. 1.]]
SparseTensorDenseMatmul
    >>> where, value = Tensor([[0, 1]]), Tensor([5.0])
    >>> print(ops.SparseTensorDenseMatmul()(where, value, (2, 2), Tensor([[1.0], [10.0]])))
    [[50.]
     [ 0.]]
SparseTensorToCSRSparseMatrix
    >>> parts = ops.SparseTensorToCSRSparseMatrix()(Tensor([[0, 1], [1, 0]]), Tensor([5.0, 6.0]), Tensor([2, 2]))
    >>> print(parts[2], parts[3])
    [0 1 2] [1 0]
SparseToDense
    >>> print(ops.SparseToDense()(Tensor([[0, 1]]), Tensor([5.0]), (2, 2)))
    [[0. 5.]
     [0. 0.]]
SparseToDenseV2
    >>> print(ops.SparseToDenseV2()(Tensor([[0, 1]]), Tensor([2, 2]), Tensor([5.0]), Tensor(-1.0)))
    [[-1.  5.]
     [-1. -1.]]
TridiagonalSolve
    >>> diagonals = Tensor([[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]])
    >>> print(ops.TridiagonalSolve()(diagonals, Tensor([[3.0], [3.0]])))
    [[1.]
     [1.]]
"""
