"""Arithmetic and functions of single elements."""

TABLE = """
abs
    >>> ops.abs(Tensor([-2.0, 1.0])).tolist()
    [2.0, 1.0]
acos
    >>> print(ops.acos(Tensor([1.0, 0.0, -1.0])))
    [0.        1.5707964 3.1415927]
acosh
    >>> print(ops.acosh(Tensor([1.0, 2.0])))
    [0.       1.316958]
add
    >>> print(ops.add(Tensor([[1.0], [2.0]]), Tensor([10.0, 20.0])))
    [[11. 21.]
     [12. 22.]]
asin
    >>> print(ops.asin(Tensor([0.0, 1.0])))
    [0.        1.5707964]
asinh
    >>> print(ops.asinh(Tensor([0.0, 1.0])))
    [0.        0.8813736]
atan
    >>> print(ops.atan(Tensor([0.0, 1.0])))
    [0.        0.7853982]
atan2
    >>> print(ops.atan2(Tensor([1.0, -1.0]), Tensor([0.0, -1.0])))
    [ 1.5707964 -2.3561945]
atanh
    >>> print(ops.atanh(Tensor([0.0, 0.5])))
    [0.         0.54930615]
bitwise_and
    >>> print(ops.bitwise_and(Tensor([12, 7]), Tensor([10, 3])))
    [8 3]
bitwise_left_shift
    >>> print(ops.bitwise_left_shift(Tensor([1, 3]), Tensor([4, 2])))
    [16 12]
bitwise_or
    >>> print(ops.bitwise_or(Tensor([12, 1]), Tensor([10, 2])))
    [14  3]
bitwise_right_shift
    >>> print(ops.bitwise_right_shift(Tensor([16, 7]), Tensor([3, 1])))
    [2 3]
bitwise_xor
    >>> print(ops.bitwise_xor(Tensor([12, 7]), Tensor([10, 7])))
    [6 0]
ceil
    >>> print(ops.ceil(Tensor([-1.5, 0.2, 3.0])))
    [-1.  1.  3.]
conj
    >>> print(ops.conj(Tensor([1 + 2j, 3 - 4j])))
    [1.-2.j 3.+4.j]
cos
    >>> ops.cos(Tensor([0.0])).tolist()
    [1.0]
cosh
    >>> print(ops.cosh(Tensor([0.0, 1.0])))
    [1.        1.5430807]
erf
    >>> print(ops.erf(Tensor([0.0, 1.0])))
    [0.        0.8427008]
erfc
    >>> print(ops.erfc(Tensor([0.0, 1.0])))
    [1.        0.1572992]
erfinv
    >>> print(ops.erfinv(Tensor([0.0, 0.5])))
    [0.         0.47693628]
exp
    >>> ops.exp(Tensor([0.0])).tolist()
    [1.0]
expm1
    >>> print(ops.expm1(Tensor([0.0, 1e-6, 1.0])))
    [0.0000000e+00 1.0000005e-06 1.7182819e+00]
floor
    >>> ops.floor(Tensor([1.7, -1.2])).tolist()
    [1.0, -2.0]
floor_div
    >>> print(ops.floor_div(Tensor([7, -7]), Tensor([2, 2])))
    [ 3 -4]
floor_divide
    >>> print(ops.floor_divide(Tensor([7.0, -7.0]), 2.0))
    [ 3. -4.]
floor_mod
    >>> print(ops.floor_mod(Tensor([7, -7]), Tensor([3, 3])))
    [1 2]
fmod
    >>> print(ops.fmod(Tensor([7.0, -7.0]), 3.0))
    [ 1. -1.]
hypot
    >>> print(ops.hypot(Tensor([3.0, 5.0]), Tensor([4.0, 12.0])))
    [ 5. 13.]
imag
    >>> print(ops.imag(Tensor([1 + 2j, 3 - 4j])))
    [ 2. -4.]
log
    >>> ops.log(Tensor([1.0])).tolist()
    [0.0]
log10
    >>> print(ops.log10(Tensor([0.1, 1.0, 10.0])).round(decimals=4))
    [-1.  0.  1.]
log1p
    >>> print(ops.log1p(Tensor([0.0, 1e-6])))
    [0.000000e+00 9.999995e-07]
log2
    >>> print(ops.log2(Tensor([1.0, 8.0])))
    [0. 3.]
maximum
    >>> ops.maximum(Tensor([1, 5]), 3).tolist()
    [3, 5]
minimum
    >>> ops.minimum(Tensor([1, 5]), 3).tolist()
    [1, 3]
mod
    >>> print(ops.mod(Tensor([7.0, -7.0]), Tensor([3.0, 3.0])))
    [ 1. -1.]
mul
    >>> ops.mul(Tensor([1.0, 2.0]), 3.0).tolist()
    [3.0, 6.0]
neg
    >>> print(ops.neg(Tensor([1.5, -2.0])))
    [-1.5  2. ]
nextafter
    >>> print(ops.nextafter(Tensor([1.0]), Tensor([2.0])) > Tensor([1.0]))
    [ True]
real
    >>> print(ops.real(Tensor([1 + 2j, 3 - 4j])))
    [1. 3.]
reciprocal
    >>> print(ops.reciprocal(Tensor([0.5, 4.0])))
    [2.   0.25]
rsqrt
    >>> print(ops.rsqrt(Tensor([4.0, 0.25])))
    [0.5 2. ]
sigmoid
    >>> ops.sigmoid(Tensor([0.0])).tolist()
    [0.5]
sign
    >>> print(ops.sign(Tensor([-5.0, 0.0, 2.0])))
    [-1.  0.  1.]
sin
    >>> ops.sin(Tensor([0.0])).tolist()
    [0.0]
sinh
    >>> print(ops.sinh(Tensor([0.0, 1.0])))
    [0.        1.1752012]
square
    >>> ops.square(Tensor([3.0])).tolist()
    [9.0]
sub
    >>> print(ops.sub(Tensor([5.0, 7.0]), 2))
    [3. 5.]
tan
    >>> print(ops.tan(Tensor([0.0, 1.0])))
    [0.        1.5574077]
tanh
    >>> print(ops.tanh(Tensor([0.0, 1.0])))
    [0.        0.7615942]
trunc
    >>> print(ops.trunc(Tensor([1.7, -1.7])))
    [ 1. -1.]
truncate_div
    >>> print(ops.truncate_div(Tensor([7, -7]), Tensor([2, 2])))
    [ 3 -3]
truncate_mod
    >>> print(ops.truncate_mod(Tensor([7, -7]), Tensor([3, 3])))
    [ 1 -1]
xdivy
    >>> print(ops.xdivy(Tensor([0.0, 6.0]), Tensor([0.0, 2.0])))
    [0. 3.]
xlogy
    >>> print(ops.xlogy(Tensor([0.0, 2.0]), Tensor([0.0, 1.0])))
    [0. 0.]
"""
