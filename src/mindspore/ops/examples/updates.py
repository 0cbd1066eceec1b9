"""Tensors and Parameters changed at indexed places."""

TABLE = """
scatter_add
    >>> table = Parameter(ops.zeros((3, 2)), name="table")
    >>> _ = ops.scatter_add(table, Tensor([0, 2, 0], ms.int32), ops.ones((3, 2)))
    >>> print(table.asnumpy())
    [[2. 2.]
     [0. 0.]
     [1. 1.]]
scatter_div
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_div(table, Tensor([0], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [4. 9.]
scatter_max
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_max(table, Tensor([0, 1], ms.int32), Tensor([10.0, 1.0]))
    >>> print(table.asnumpy())
    [10.  9.]
scatter_min
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_min(table, Tensor([0, 1], ms.int32), Tensor([10.0, 1.0]))
    >>> print(table.asnumpy())
    [8. 1.]
scatter_mul
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_mul(table, Tensor([1, 1], ms.int32), Tensor([2.0, 3.0]))
    >>> print(table.asnumpy())
    [ 8. 54.]
scatter_nd_add
    >>> table = Parameter(ops.zeros(4), name="table")
    >>> _ = ops.scatter_nd_add(table, Tensor([[1], [3], [1]], ms.int32), Tensor([1.0, 2.0, 3.0]))
    >>> print(table.asnumpy())
    [0. 4. 0. 2.]
scatter_nd_div
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_nd_div(table, Tensor([[1]], ms.int32), Tensor([3.0]))
    >>> print(table.asnumpy())
    [8. 3.]
scatter_nd_max
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_nd_max(table, Tensor([[0], [1]], ms.int32), Tensor([10.0, 1.0]))
    >>> print(table.asnumpy())
    [10.  9.]
scatter_nd_min
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_nd_min(table, Tensor([[0], [1]], ms.int32), Tensor([10.0, 1.0]))
    >>> print(table.asnumpy())
    [8. 1.]
scatter_nd_mul
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_nd_mul(table, Tensor([[1]], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [ 8. 18.]
scatter_nd_sub
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_nd_sub(table, Tensor([[1]], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [8. 7.]
scatter_nd_update
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_nd_update(table, Tensor([[1]], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [8. 2.]
scatter_sub
    >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
    >>> _ = ops.scatter_sub(table, Tensor([0], ms.int32), Tensor([2.0]))
    >>> print(table.asnumpy())
    [6. 9.]
scatter_update
    >>> table = Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]), name="table")
    >>> _ = ops.scatter_update(table, Tensor([1], ms.int32), Tensor([[7.0, 8.0]]))
    >>> print(table.asnumpy())
    [[1. 2.]
     [7. 8.]]
tensor_scatter_add
    >>> print(ops.tensor_scatter_add(ops.zeros(4), Tensor([[1], [3], [1]]), Tensor([1.0, 2.0, 3.0])))
    [0. 4. 0. 2.]
tensor_scatter_div
    >>> print(ops.tensor_scatter_div(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([3.0])))
    [8. 3.]
tensor_scatter_max
    >>> print(ops.tensor_scatter_max(Tensor([8.0, 9.0]), Tensor([[0], [1]]), Tensor([10.0, 1.0])))
    [10.  9.]
tensor_scatter_min
    >>> print(ops.tensor_scatter_min(Tensor([8.0, 9.0]), Tensor([[0], [1]]), Tensor([10.0, 1.0])))
    [8. 1.]
tensor_scatter_mul
    >>> print(ops.tensor_scatter_mul(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([2.0])))
    [ 8. 18.]
tensor_scatter_sub
    >>> print(ops.tensor_scatter_sub(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([2.0])))
    [8. 7.]
tensor_scatter_update
    >>> print(ops.tensor_scatter_update(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([2.0])))
    [8. 2.]
"""
