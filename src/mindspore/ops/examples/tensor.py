"""Methods of Tensor that are more, or less, than a function of `ops`."""

TABLE = """
Tensor.all
    >>> Tensor([True, False]).all().item()
    False
Tensor.argmax
    >>> Tensor([1.0, 5.0, 2.0]).argmax().item()
    1
Tensor.chunk
    >>> [t.tolist() for t in Tensor([1, 2, 3, 4]).chunk(2)]
    [[1, 2], [3, 4]]
Tensor.cpu: This tensor in the memory of the CPU.
    >>> Tensor([1.0]).cpu().tolist()
    [1.0]
Tensor.data
    >>> Tensor([1.0]).data.tolist()
    [1.0]
Tensor.dim: The number of dimensions.
    >>> Tensor([[1.0]]).dim()
    2
Tensor.float
    >>> Tensor([1, 2]).float().dtype
    mindspore.float32
Tensor.fold: Put columns of blocks together again.
    >>> Tensor(np.ones((1, 4, 4), np.float32)).fold((4, 4), 2, stride=2).shape
    (1, 1, 4, 4)
Tensor.hardshrink: 0 where |x| is at most `lambd`, else x.
    >>> Tensor([0.1, 2.0]).hardshrink().tolist()
    [0.0, 2.0]
Tensor.is_signed: Whether elements can be negative.
    >>> Tensor([1, 2]).is_signed()
    True
Tensor.log_softmax: The logarithm of softmax along an axis.
    >>> Tensor([[0.0, 0.0]]).log_softmax(-1).shape
    (1, 2)
Tensor.mean
    >>> Tensor([1.0, 3.0]).mean().item()
    2.0
Tensor.move_to: This tensor: there is one memory here.
    >>> Tensor([1.0]).move_to('CPU').tolist()
    [1.0]
Tensor.ndimension: The number of dimensions.
    >>> Tensor([[1.0]]).ndimension()
    2
Tensor.nelement: The number of elements.
    >>> Tensor([1.0, 2.0]).nelement()
    2
Tensor.not_equal
    >>> Tensor([1, 2]).not_equal(2).tolist()
    [True, False]
Tensor.relu: max(x, 0).
    >>> Tensor([-1.0, 2.0]).relu().tolist()
    [0.0, 2.0]
Tensor.set_const_arg: Mark the tensor as a constant of compiled functions.
    >>> Tensor([1.0]).set_const_arg().tolist()
    [1.0]
Tensor.split
    >>> [t.tolist() for t in Tensor([1, 2, 3, 4]).split(2)]
    [[1, 2], [3, 4]]
Tensor.storage_offset: 0: tensors share no memory.
    >>> Tensor([1.0]).storage_offset()
    0
Tensor.unfold: Blocks of an image, or of an axis, as columns.
    >>> Tensor(np.ones((1, 1, 4, 4), np.float32)).unfold(2).shape
    (1, 4, 9)
Tensor.value
    >>> Tensor([1.0]).value().tolist()
    [1.0]
"""
