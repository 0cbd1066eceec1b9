"""Methods of Tensor that are more, or less, than a function of `ops`."""

TABLE = """
Tensor.add
    >>> print(Tensor([1.0, 2.0]).add(Tensor([10.0, 20.0]), alpha=0.5))
    [ 6. 12.]
Tensor.all
    >>> Tensor([True, False]).all().item()
    False
Tensor.argmax
    >>> Tensor([1.0, 5.0, 2.0]).argmax().item()
    1
Tensor.argsort: The indices that sort along `axis`, equal elements in their order.
    >>> print(Tensor([30, 10, 20]).argsort(descending=True))
    [0 2 1]
Tensor.bernoulli
    >>> print(Tensor([0.0, 1.0]).bernoulli())
    [0. 1.]
Tensor.bernoulli_
    >>> x = Tensor([5.0, 6.0])
    >>> print(x.bernoulli_(1.0))
    [1. 1.]
Tensor.bfloat16
    >>> Tensor([1, 2]).bfloat16().dtype
    mindspore.bfloat16
Tensor.bool
    >>> print(Tensor([0, 2]).bool())
    [False  True]
Tensor.byte
    >>> Tensor([1, 2]).byte().dtype
    mindspore.uint8
Tensor.cauchy
    >>> ops.zeros((2, 3)).cauchy().shape
    (2, 3)
Tensor.choose
    >>> print(Tensor([0, 1, 0]).choose([Tensor([1, 2, 3]), Tensor([10, 20, 30])]))
    [ 1 20  3]
Tensor.chunk
    >>> [t.tolist() for t in Tensor([1, 2, 3, 4]).chunk(2)]
    [[1, 2], [3, 4]]
Tensor.copy_
    >>> x = ops.zeros((2, 2))
    >>> print(x.copy_(Tensor([1.0, 2.0])))
    [[1. 2.]
     [1. 2.]]
Tensor.count_nonzero
    >>> print(Tensor([[0, 3], [5, 7]]).count_nonzero(axis=1))
    [1 2]
Tensor.cpu: This tensor in the memory of the CPU.
    >>> Tensor([1.0]).cpu().tolist()
    [1.0]
Tensor.cumsum
    >>> print(Tensor([[1, 2], [3, 4]]).cumsum(axis=1))
    [[1 3]
     [3 7]]
Tensor.data: The tensor itself.
    >>> Tensor([1.0]).data.tolist()
    [1.0]
Tensor.diag
    >>> print(Tensor([5, 6]).diag())
    [[5 0]
     [0 6]]
Tensor.dim: The number of dimensions.
    >>> Tensor([[1.0]]).dim()
    2
Tensor.double
    >>> Tensor([1, 2]).double().dtype
    mindspore.float64
Tensor.exponential_
    >>> bool((ops.zeros(4).exponential_() >= 0).all())
    True
Tensor.fill
    >>> print(Tensor([1.0, 2.0]).fill(7.0))
    [7. 7.]
Tensor.fill_
    >>> x = Tensor([1.0, 2.0])
    >>> print(x.fill_(7.0))
    [7. 7.]
Tensor.float
    >>> Tensor([1, 2]).float().dtype
    mindspore.float32
Tensor.gather
    >>> print(Tensor([[1, 2], [3, 4]]).gather(1, Tensor([[1], [0]])))
    [[2]
     [3]]
Tensor.half
    >>> Tensor([1, 2]).half().dtype
    mindspore.float16
Tensor.index_add
    >>> print(ops.zeros(3).index_add(0, Tensor([0, 2]), Tensor([5.0, 6.0])))
    [5. 0. 6.]
Tensor.index_add_
    >>> print(ops.zeros(3).index_add_(0, Tensor([0, 2]), Tensor([5.0, 6.0])))
    [5. 0. 6.]
Tensor.index_put
    >>> print(Tensor([1, 2, 3]).index_put((Tensor([0, 2]),), Tensor([10, 20]), accumulate=True))
    [11  2 23]
Tensor.int
    >>> print(Tensor([1.7, -1.7]).int())
    [ 1 -1]
Tensor.is_signed: Whether elements can be negative.
    >>> Tensor([1, 2]).is_signed()
    True
Tensor.itemset
    >>> print(Tensor([1, 2, 3]).itemset(1, 20))
    [ 1 20  3]
Tensor.log_normal
    >>> bool((ops.zeros(4).log_normal() > 0).all())
    True
Tensor.long
    >>> Tensor([1.7]).long().dtype
    mindspore.int64
Tensor.lu_solve
    >>> packed = Tensor([[4.0, 6.0], [0.25, 0.5]])
    >>> print(Tensor([[5.0], [14.0]]).lu_solve(packed, Tensor([2, 2], ms.int32)))
    [[-1.]
     [ 3.]]
Tensor.masked_scatter
    >>> print(ops.zeros(4).masked_scatter(Tensor([True, False, True, False]), Tensor([7.0, 8.0])))
    [7. 0. 8. 0.]
Tensor.matmul
    >>> print(Tensor([[1.0, 2.0]]).matmul(Tensor([[3.0], [4.0]])))
    [[11.]]
Tensor.mean
    >>> Tensor([1.0, 3.0]).mean().item()
    2.0
Tensor.median
    >>> print(Tensor([3.0, 1.0, 2.0]).median())
    2.0
Tensor.move_to: This tensor: there is one memory here.
    >>> Tensor([1.0]).move_to('CPU').tolist()
    [1.0]
Tensor.mT
    >>> print(Tensor([[1, 2], [3, 4]]).mT)
    [[1 3]
     [2 4]]
Tensor.multiply
    >>> print(Tensor([1.0, 2.0]).multiply(3.0))
    [3. 6.]
Tensor.narrow
    >>> print(Tensor([10, 20, 30, 40]).narrow(0, 1, 2))
    [20 30]
Tensor.ndimension: The number of dimensions.
    >>> Tensor([[1.0]]).ndimension()
    2
Tensor.nelement: The number of elements.
    >>> Tensor([1.0, 2.0]).nelement()
    2
Tensor.new_empty
    >>> Tensor([1.0]).new_empty((2, 3)).shape
    (2, 3)
Tensor.new_full
    >>> print(Tensor([1.0]).new_full((2,), 7))
    [7. 7.]
Tensor.new_ones
    >>> print(Tensor([5]).new_ones((2,)))
    [1 1]
Tensor.new_tensor
    >>> Tensor([1.0]).new_tensor([1, 2]).dtype
    mindspore.float32
Tensor.new_zeros
    >>> print(Tensor([5]).new_zeros((2,)))
    [0 0]
Tensor.normal_
    >>> bool(ops.zeros(100).normal_(5.0, 0.1).mean() > 4)
    True
Tensor.ptp
    >>> print(Tensor([3.0, 8.0, 5.0]).ptp())
    5.0
Tensor.put
    >>> print(Tensor([1.0, 2.0, 3.0]).put(Tensor([0, 2]), Tensor([9.0, 8.0])))
    [9. 2. 8.]
Tensor.qr
    >>> q, r = Tensor([[3.0, 0.0], [4.0, 5.0]]).qr()
    >>> print((q @ r).round(decimals=4))
    [[3. 0.]
     [4. 5.]]
Tensor.random_
    >>> bool((ops.zeros(5).random_(2, 4) >= 2).all())
    True
Tensor.requires_grad_
    >>> print(Parameter(Tensor([1.0]), name="w").requires_grad_(False).requires_grad)
    False
Tensor.reshape_as
    >>> Tensor([1, 2, 3, 4]).reshape_as(ops.ones((2, 2))).shape
    (2, 2)
Tensor.resize
    >>> print(Tensor([1, 2, 3]).resize(2, 2))
    [[1 2]
     [3 0]]
Tensor.reverse_sequence: Reverse the first `seq_lengths[i]` elements along `seq_dim` of each batch entry.
    >>> print(Tensor([[1, 2, 3], [4, 5, 6]]).reverse_sequence(Tensor([2, 3]), seq_dim=1))
    [[2 1 3]
     [6 5 4]]
Tensor.scatter
    >>> print(ops.zeros((2, 3)).scatter(1, Tensor([[2], [0]]), Tensor([[5.0], [6.0]])))
    [[0. 0. 5.]
     [6. 0. 0.]]
Tensor.scatter_add
    >>> print(ops.ones(3).scatter_add(0, Tensor([0, 0]), Tensor([5.0, 6.0])))
    [12.  1.  1.]
Tensor.searchsorted
    >>> print(Tensor([1.0, 3.0, 5.0]).searchsorted([0.0, 3.0, 9.0]))
    [0 1 3]
Tensor.select
    >>> print(Tensor([[1, 2], [3, 4]]).select(1, 0))
    [1 3]
Tensor.set_const_arg: Mark the tensor as a constant of compiled functions.
    >>> Tensor([1.0]).set_const_arg().tolist()
    [1.0]
Tensor.short
    >>> Tensor([1, 2]).short().dtype
    mindspore.int16
Tensor.softmax
    >>> print(Tensor([0.0, 0.0]).softmax())
    [0.5 0.5]
Tensor.sort: (sorted values, their indices) along `axis`, equal elements in their order.
    >>> value, index = Tensor([30.0, 10.0, 20.0]).sort()
    >>> print(value, index)
    [10. 20. 30.] [1 2 0]
Tensor.split
    >>> [t.tolist() for t in Tensor([1, 2, 3, 4]).split(2)]
    [[1, 2], [3, 4]]
Tensor.storage_offset: 0: tensors share no memory.
    >>> Tensor([1.0]).storage_offset()
    0
Tensor.stride
    >>> ops.ones((2, 3)).stride()
    [3, 1]
Tensor.sub
    >>> print(Tensor([5.0, 7.0]).sub(Tensor([1.0, 2.0]), alpha=3))
    [2. 1.]
Tensor.sum_to_size
    >>> print(ops.ones((2, 3)).sum_to_size(1, 3))
    [[2. 2. 2.]]
Tensor.take
    >>> print(Tensor([[10, 20], [30, 40]]).take(Tensor([1]), axis=1))
    [[20]
     [40]]
Tensor.trace
    >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]).trace())
    5.0
Tensor.transpose_
    >>> x = Tensor([[1, 2], [3, 4]])
    >>> print(x.transpose_(0, 1))
    [[1 3]
     [2 4]]
Tensor.triangular_solve
    >>> x, _ = Tensor([[2.0], [8.0]]).triangular_solve(Tensor([[1.0, 0.0], [0.0, 4.0]]))
    >>> print(x)
    [[2.]
     [2.]]
Tensor.type
    >>> Tensor([1.0]).type()
    'Float32'
Tensor.uniform
    >>> x = ops.zeros(4).uniform(2.0, 3.0)
    >>> bool(((x >= 2) & (x < 3)).all())
    True
Tensor.uniform_
    >>> bool((ops.zeros(4).uniform_(2.0, 3.0) >= 2).all())
    True
Tensor.unique
    >>> print(Tensor([5, 3, 5, 7]).unique())
    [3 5 7]
Tensor.value: The tensor itself.
    >>> Tensor([1.0]).value().tolist()
    [1.0]
Tensor.where
    >>> print(Tensor([1, 2]).where(Tensor([True, False]), Tensor([10, 20])))
    [ 1 20]
Tensor.zero_
    >>> print(Tensor([1.0, 2.0]).zero_())
    [0. 0.]
"""
