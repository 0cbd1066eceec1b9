"""Examples of functions that a factory makes, and of polynomials (see `ops.examples` for the form)."""

TABLE = """
abs
    >>> print(mnp.abs(mnp.array([-2.5, 4.0])))
    [2.5 4. ]
absolute
    >>> print(mnp.absolute(mnp.array([-2.5, 4.0])))
    [2.5 4. ]
add
    >>> print(mnp.add(mnp.array([1.0, 2.0]), mnp.array([10.0, 20.0])))
    [11. 22.]
arccos
    >>> print(mnp.arccos(mnp.array([1.0, 0.0])))
    [0.        1.5707964]
arccosh
    >>> print(mnp.arccosh(mnp.array([1.0, 2.0])))
    [0.       1.316958]
arcsin
    >>> print(mnp.arcsin(mnp.array([0.0, 1.0])))
    [0.        1.5707964]
arcsinh
    >>> print(mnp.arcsinh(mnp.array([0.0, 1.0])))
    [0.        0.8813736]
arctan
    >>> print(mnp.arctan(mnp.array([0.0, 1.0])))
    [0.        0.7853982]
arctan2
    >>> print(mnp.arctan2(mnp.array([1.0, -1.0]), mnp.array([0.0, -1.0])))
    [ 1.5707964 -2.3561945]
arctanh
    >>> print(mnp.arctanh(mnp.array([0.0, 0.5])))
    [0.         0.54930615]
bitwise_and
    >>> print(mnp.bitwise_and(mnp.array([12, 7]), mnp.array([10, 3])))
    [8 3]
bitwise_not
    >>> print(mnp.bitwise_not(mnp.array([0, 5])))
    [-1 -6]
bitwise_or
    >>> print(mnp.bitwise_or(mnp.array([12, 1]), mnp.array([10, 2])))
    [14  3]
bitwise_xor
    >>> print(mnp.bitwise_xor(mnp.array([12, 7]), mnp.array([10, 7])))
    [6 0]
cbrt
    >>> print(mnp.cbrt(mnp.array([8.0, 1.0])))
    [2. 1.]
ceil
    >>> print(mnp.ceil(mnp.array([-1.5, 0.2])))
    [-1.  1.]
copysign
    >>> print(mnp.copysign(mnp.array([1.0, -2.0]), mnp.array([-1.0, 5.0])))
    [-1.  2.]
cos
    >>> print(mnp.cos(mnp.array([0.0, 1.0])))
    [1.        0.5403023]
cosh
    >>> print(mnp.cosh(mnp.array([0.0, 1.0])))
    [1.        1.5430807]
deg2rad
    >>> print(mnp.deg2rad(mnp.array([0.0, 90.0])))
    [0.        1.5707964]
divide
    >>> print(mnp.divide(mnp.array([7.0, 8.0]), 2))
    [3.5 4. ]
equal
    >>> print(mnp.equal(mnp.array([1, 2]), mnp.array([1, 5])))
    [ True False]
exp
    >>> print(mnp.exp(mnp.array([0.0, 1.0])))
    [1.       2.718282]
exp2
    >>> print(mnp.exp2(mnp.array([0.0, 3.0])))
    [1. 8.]
expm1
    >>> print(mnp.expm1(mnp.array([0.0, 1.0])))
    [0.        1.7182819]
fabs
    >>> print(mnp.fabs(mnp.array([-2.5, 4.0])))
    [2.5 4. ]
float_power
    >>> print(mnp.float_power(mnp.array([1.0, 2.0]), 2))
    [1. 4.]
floor
    >>> print(mnp.floor(mnp.array([-1.5, 0.2])))
    [-2.  0.]
floor_divide
    >>> print(mnp.floor_divide(mnp.array([7.0, -7.0]), 2.0))
    [ 3. -4.]
fmod
    >>> print(mnp.fmod(mnp.array([7.0, -7.0]), 3.0))
    [ 1. -1.]
gcd
    >>> print(mnp.gcd(mnp.array([12, 35]), mnp.array([18, 21])))
    [6 7]
greater
    >>> print(mnp.greater(mnp.array([1, 3]), 2))
    [False  True]
greater_equal
    >>> print(mnp.greater_equal(mnp.array([1, 2]), 2))
    [False  True]
heaviside
    >>> print(mnp.heaviside(mnp.array([-1.5, 0.0, 2.0]), 0.5))
    [0.  0.5 1. ]
hypot
    >>> print(mnp.hypot(mnp.array([3.0, 5.0]), mnp.array([4.0, 12.0])))
    [ 5. 13.]
invert
    >>> print(mnp.invert(mnp.array([0, 5])))
    [-1 -6]
isfinite
    >>> print(mnp.isfinite(mnp.array([1.0, float("inf")])))
    [ True False]
isinf
    >>> print(mnp.isinf(mnp.array([1.0, float("inf")])))
    [False  True]
isnan
    >>> print(mnp.isnan(mnp.array([1.0, float("nan")])))
    [False  True]
lcm
    >>> print(mnp.lcm(mnp.array([4, 6]), mnp.array([6, 9])))
    [12 18]
less
    >>> print(mnp.less(mnp.array([1, 3]), 2))
    [ True False]
less_equal
    >>> print(mnp.less_equal(mnp.array([1, 2]), 2))
    [ True  True]
log
    >>> print(mnp.log(mnp.array([1.0, 10.0])))
    [0.        2.3025851]
log10
    >>> print(mnp.log10(mnp.array([1.0, 10.0])))
    [0. 1.]
log1p
    >>> print(mnp.log1p(mnp.array([0.0, 1.0])))
    [0.        0.6931472]
log2
    >>> print(mnp.log2(mnp.array([1.0, 8.0])))
    [0. 3.]
logaddexp
    >>> print(mnp.logaddexp(mnp.array([0.0]), mnp.array([0.0])))
    [0.6931472]
logaddexp2
    >>> print(mnp.logaddexp2(mnp.array([3.0]), mnp.array([3.0])))
    [4.]
logical_and
    >>> print(mnp.logical_and(mnp.array([True, False]), mnp.array([True, True])))
    [ True False]
logical_not
    >>> print(mnp.logical_not(mnp.array([True, False])))
    [False  True]
logical_or
    >>> print(mnp.logical_or(mnp.array([True, False]), mnp.array([False, False])))
    [ True False]
logical_xor
    >>> print(mnp.logical_xor(mnp.array([True, False]), mnp.array([True, True])))
    [False  True]
maximum
    >>> print(mnp.maximum(mnp.array([1.0, 5.0]), mnp.array([3.0, 2.0])))
    [3. 5.]
minimum
    >>> print(mnp.minimum(mnp.array([1.0, 5.0]), mnp.array([3.0, 2.0])))
    [1. 2.]
mod
    >>> print(mnp.mod(mnp.array([7.0, -7.0]), 3.0))
    [1. 2.]
multiply
    >>> print(mnp.multiply(mnp.array([1.0, 2.0]), 3.0))
    [3. 6.]
nancumsum
    >>> print(mnp.nancumsum(mnp.array([1.0, float("nan"), 3.0])))
    [1. 1. 4.]
nanmax
    >>> print(mnp.nanmax(mnp.array([1.0, float("nan"), 3.0])))
    3.0
nanmean
    >>> print(mnp.nanmean(mnp.array([1.0, float("nan"), 3.0])))
    2.0
nanmin
    >>> print(mnp.nanmin(mnp.array([1.0, float("nan"), 3.0])))
    1.0
nanstd
    >>> print(mnp.nanstd(mnp.array([1.0, float("nan"), 3.0])))
    1.0
nansum
    >>> print(mnp.nansum(mnp.array([1.0, float("nan"), 3.0])))
    4.0
nanvar
    >>> print(mnp.nanvar(mnp.array([1.0, float("nan"), 3.0])))
    1.0
negative
    >>> print(mnp.negative(mnp.array([1.5, -2.0])))
    [-1.5  2. ]
not_equal
    >>> print(mnp.not_equal(mnp.array([1, 2]), mnp.array([1, 5])))
    [False  True]
polyadd
    >>> print(mnp.polyadd(mnp.array([1, 2]), mnp.array([5, 1, 1])))
    [5 2 3]
polyder
    >>> print(mnp.polyder(mnp.array([1, 2, 3])))
    [2 2]
polyint
    >>> print(mnp.polyint(mnp.array([2.0, 2.0])))
    [1. 2. 0.]
polymul
    >>> print(mnp.polymul(mnp.array([1, 1]), mnp.array([1, -1])))
    [ 1.  0. -1.]
polysub
    >>> print(mnp.polysub(mnp.array([1, 2]), mnp.array([5, 1, 1])))
    [-5  0  1]
polyval
    >>> print(mnp.polyval(mnp.array([1.0, 0.0, 2.0]), mnp.array([3.0])))
    [11.]
positive
    >>> print(mnp.positive(mnp.array([-1.0, 2.0])))
    [-1.  2.]
power
    >>> print(mnp.power(mnp.array([2.0, 3.0]), 2))
    [4. 9.]
rad2deg
    >>> print(mnp.rad2deg(mnp.array([0.0, 3.1415927])))
    [  0. 180.]
radians
    >>> print(mnp.radians(mnp.array([0.0, 90.0])))
    [0.        1.5707964]
reciprocal
    >>> print(mnp.reciprocal(mnp.array([0.5, 4.0])))
    [2.   0.25]
remainder
    >>> print(mnp.remainder(mnp.array([7.0, -7.0]), 3.0))
    [1. 2.]
rint
    >>> print(mnp.rint(mnp.array([0.5, 1.7])))
    [0. 2.]
sign
    >>> print(mnp.sign(mnp.array([-5.0, 0.0, 2.0])))
    [-1.  0.  1.]
signbit
    >>> print(mnp.signbit(mnp.array([-3.0, 3.0])))
    [ True False]
sin
    >>> print(mnp.sin(mnp.array([0.0, 1.0])))
    [0.       0.841471]
sinh
    >>> print(mnp.sinh(mnp.array([0.0, 1.0])))
    [0.        1.1752012]
sqrt
    >>> print(mnp.sqrt(mnp.array([9.0, 2.25])))
    [3.  1.5]
square
    >>> print(mnp.square(mnp.array([3.0, -4.0])))
    [ 9. 16.]
subtract
    >>> print(mnp.subtract(mnp.array([5.0, 7.0]), 2.0))
    [3. 5.]
tan
    >>> print(mnp.tan(mnp.array([0.0, 1.0])))
    [0.        1.5574077]
tanh
    >>> print(mnp.tanh(mnp.array([0.0, 1.0])))
    [0.        0.7615942]
true_divide
    >>> print(mnp.true_divide(mnp.array([7.0, 8.0]), 2))
    [3.5 4. ]
trunc
    >>> print(mnp.trunc(mnp.array([1.7, -1.7])))
    [ 1. -1.]
"""
