"""Functions of the stored values of sparse tensors."""

TABLE = """
coo_abs
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.5, -2.0]), (2, 2))
    >>> print(ops.coo_abs(x).values)
    [1.5 2. ]
coo_acos
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_acos(x).values)
    [1.5707964 1.0471976]
coo_acosh
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([2.0, 1.0]), (2, 2))
    >>> print(ops.coo_acosh(x).values)
    [1.316958 0.      ]
coo_asin
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_asin(x).values)
    [0.        0.5235988]
coo_asinh
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_asinh(x).values)
    [0.        0.4812118]
coo_atan
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_atan(x).values)
    [0.        0.4636476]
coo_atanh
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_atanh(x).values)
    [0.         0.54930615]
coo_ceil
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.6, -2.5]), (2, 2))
    >>> print(ops.coo_ceil(x).values)
    [ 2. -2.]
coo_cos
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_cos(x).values)
    [1.         0.87758255]
coo_cosh
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_cosh(x).values)
    [1.        1.1276261]
coo_exp
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_exp(x).values)
    [1.        1.6487212]
coo_expm1
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_expm1(x).values)
    [0.        0.6487213]
coo_floor
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.6, -2.5]), (2, 2))
    >>> print(ops.coo_floor(x).values)
    [ 1. -3.]
coo_inv
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.5, 4.0]), (2, 2))
    >>> print(ops.coo_inv(x).values)
    [2.   0.25]
coo_isfinite
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.0, float("inf")]), (2, 2))
    >>> print(ops.coo_isfinite(x).values)
    [ True False]
coo_isinf
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.0, float("inf")]), (2, 2))
    >>> print(ops.coo_isinf(x).values)
    [False  True]
coo_isnan
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.0, float("nan")]), (2, 2))
    >>> print(ops.coo_isnan(x).values)
    [False  True]
coo_log
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.0, 4.0]), (2, 2))
    >>> print(ops.coo_log(x).values)
    [0.        1.3862944]
coo_log1p
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_log1p(x).values)
    [0.         0.40546513]
coo_neg
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.5, -2.0]), (2, 2))
    >>> print(ops.coo_neg(x).values)
    [-1.5  2. ]
coo_relu
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.5, -2.0]), (2, 2))
    >>> print(ops.coo_relu(x).values)
    [1.5 0. ]
coo_relu6
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([8.0, -2.0]), (2, 2))
    >>> print(ops.coo_relu6(x).values)
    [6. 0.]
coo_round
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.6, -2.5]), (2, 2))
    >>> print(ops.coo_round(x).values)
    [ 2. -2.]
coo_sigmoid
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_sigmoid(x).values)
    [0.5        0.62245935]
coo_sin
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_sin(x).values)
    [0.         0.47942555]
coo_sinh
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_sinh(x).values)
    [0.        0.5210953]
coo_softsign
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([1.0, -3.0]), (2, 2))
    >>> print(ops.coo_softsign(x).values)
    [ 0.5  -0.75]
coo_sqrt
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([9.0, 4.0]), (2, 2))
    >>> print(ops.coo_sqrt(x).values)
    [3. 2.]
coo_square
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([3.0, -4.0]), (2, 2))
    >>> print(ops.coo_square(x).values)
    [ 9. 16.]
coo_tan
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_tan(x).values)
    [0.        0.5463025]
coo_tanh
    >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.coo_tanh(x).values)
    [0.        0.4621172]
csr_abs
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.5, -2.0]), (2, 2))
    >>> print(ops.csr_abs(x).values)
    [1.5 2. ]
csr_acos
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_acos(x).values)
    [1.5707964 1.0471976]
csr_acosh
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([2.0, 1.0]), (2, 2))
    >>> print(ops.csr_acosh(x).values)
    [1.316958 0.      ]
csr_asin
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_asin(x).values)
    [0.        0.5235988]
csr_asinh
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_asinh(x).values)
    [0.        0.4812118]
csr_atan
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_atan(x).values)
    [0.        0.4636476]
csr_atanh
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_atanh(x).values)
    [0.         0.54930615]
csr_ceil
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.6, -2.5]), (2, 2))
    >>> print(ops.csr_ceil(x).values)
    [ 2. -2.]
csr_cos
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_cos(x).values)
    [1.         0.87758255]
csr_cosh
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_cosh(x).values)
    [1.        1.1276261]
csr_exp
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_exp(x).values)
    [1.        1.6487212]
csr_expm1
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_expm1(x).values)
    [0.        0.6487213]
csr_floor
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.6, -2.5]), (2, 2))
    >>> print(ops.csr_floor(x).values)
    [ 1. -3.]
csr_inv
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.5, 4.0]), (2, 2))
    >>> print(ops.csr_inv(x).values)
    [2.   0.25]
csr_isfinite
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.0, float("inf")]), (2, 2))
    >>> print(ops.csr_isfinite(x).values)
    [ True False]
csr_isinf
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.0, float("inf")]), (2, 2))
    >>> print(ops.csr_isinf(x).values)
    [False  True]
csr_isnan
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.0, float("nan")]), (2, 2))
    >>> print(ops.csr_isnan(x).values)
    [False  True]
csr_log
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.0, 4.0]), (2, 2))
    >>> print(ops.csr_log(x).values)
    [0.        1.3862944]
csr_log1p
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_log1p(x).values)
    [0.         0.40546513]
csr_neg
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.5, -2.0]), (2, 2))
    >>> print(ops.csr_neg(x).values)
    [-1.5  2. ]
csr_relu
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.5, -2.0]), (2, 2))
    >>> print(ops.csr_relu(x).values)
    [1.5 0. ]
csr_relu6
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([8.0, -2.0]), (2, 2))
    >>> print(ops.csr_relu6(x).values)
    [6. 0.]
csr_round
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.6, -2.5]), (2, 2))
    >>> print(ops.csr_round(x).values)
    [ 2. -2.]
csr_sigmoid
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_sigmoid(x).values)
    [0.5        0.62245935]
csr_sin
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_sin(x).values)
    [0.         0.47942555]
csr_sinh
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_sinh(x).values)
    [0.        0.5210953]
csr_softsign
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([1.0, -3.0]), (2, 2))
    >>> print(ops.csr_softsign(x).values)
    [ 0.5  -0.75]
csr_sqrt
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([9.0, 4.0]), (2, 2))
    >>> print(ops.csr_sqrt(x).values)
    [3. 2.]
csr_square
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([3.0, -4.0]), (2, 2))
    >>> print(ops.csr_square(x).values)
    [ 9. 16.]
csr_tan
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_tan(x).values)
    [0.        0.5463025]
csr_tanh
    >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([0.0, 0.5]), (2, 2))
    >>> print(ops.csr_tanh(x).values)
    [0.        0.4621172]
"""
