"""Special functions, comparisons, and methods under the name of a function."""

TABLE = """
bessel_i0
    >>> print(ops.bessel_i0(Tensor([0.0, 1.0])))
    [1.        1.2660658]
bessel_i0e
    >>> print(ops.bessel_i0e(Tensor([0.0, 1.0])))
    [1.        0.4657596]
bessel_i1
    >>> print(ops.bessel_i1(Tensor([0.0, 1.0])))
    [0.        0.5651591]
bessel_i1e
    >>> print(ops.bessel_i1e(Tensor([0.0, 1.0])))
    [0.         0.20791042]
bessel_j0
    >>> print(ops.bessel_j0(Tensor([0.0, 2.0])))
    [1.         0.22389078]
bessel_j1
    >>> print(ops.bessel_j1(Tensor([0.0, 2.0])))
    [0.        0.5767248]
bessel_k0
    >>> print(ops.bessel_k0(Tensor([0.5, 1.0])))
    [0.92441905 0.42102444]
bessel_k0e
    >>> print(ops.bessel_k0e(Tensor([0.5, 1.0])))
    [1.5241094 1.1444631]
bessel_k1
    >>> print(ops.bessel_k1(Tensor([0.5, 1.0])))
    [1.6564411  0.60190725]
bessel_k1e
    >>> print(ops.bessel_k1e(Tensor([0.5, 1.0])))
    [2.7310097 1.6361535]
bessel_y0
    >>> print(ops.bessel_y0(Tensor([0.5, 1.0])))
    [-0.44451874  0.08825696]
bessel_y1
    >>> print(ops.bessel_y1(Tensor([0.5, 1.0])))
    [-1.4714724 -0.7812128]
digamma
    >>> print(ops.digamma(Tensor([1.0, 2.0])))
    [-0.5772157   0.42278433]
eq
    >>> print(ops.eq(Tensor([1, 2, 3]), Tensor([1, 5, 3])))
    [ True False  True]
equal
    >>> ops.equal(Tensor([1, 2]), 2).tolist()
    [False, True]
ge
    >>> print(ops.ge(Tensor([1, 2, 3]), 2))
    [False  True  True]
gt
    >>> print(ops.gt(Tensor([1, 2, 3]), 2))
    [False False  True]
i0
    >>> print(ops.i0(Tensor([0.0, 1.0])))
    [1.        1.2660658]
isfinite
    >>> print(ops.isfinite(Tensor([1.0, float("inf"), float("nan")])))
    [ True False False]
isinf
    >>> print(ops.isinf(Tensor([1.0, float("-inf"), float("nan")])))
    [False  True False]
isnan
    >>> print(ops.isnan(Tensor([1.0, float("inf"), float("nan")])))
    [False False  True]
le
    >>> print(ops.le(Tensor([1, 2, 3]), 2))
    [ True  True False]
lgamma
    >>> print(ops.lgamma(Tensor([1.0, 5.0])))
    [0.        3.1780539]
logical_and
    >>> ops.logical_and(Tensor([True, True]), Tensor([True, False])).tolist()
    [True, False]
logical_not
    >>> print(ops.logical_not(Tensor([True, False])))
    [False  True]
logical_or
    >>> print(ops.logical_or(Tensor([True, False, False]), Tensor([True, True, False])))
    [ True  True False]
logical_xor
    >>> print(ops.logical_xor(Tensor([True, False, False]), Tensor([True, True, False])))
    [False  True False]
lt
    >>> print(ops.lt(Tensor([1, 2, 3]), 2))
    [ True False False]
ne
    >>> print(ops.ne(Tensor([1, 2, 3]), Tensor([1, 5, 3])))
    [False  True False]
"""
