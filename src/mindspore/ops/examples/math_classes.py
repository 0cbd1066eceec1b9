"""Mathematics, as classes."""

TABLE = """
ACos: The angle whose cosine is x.
    >>> ops.ACos()(Tensor([1.0])).tolist()
    [0.0]
Acosh: The inverse of the hyperbolic cosine.
    >>> ops.Acosh()(Tensor([1.0])).tolist()
    [0.0]
Add: x + y, with broadcasting.
    >>> ops.Add()(Tensor([1.0]), Tensor([2.0])).tolist()
    [3.0]
ApproximateEqual: Where |x - y| < `tolerance`, element by element.
    >>> print(ops.ApproximateEqual(tolerance=0.1)(Tensor([1.0, 2.0]), Tensor([1.05, 2.5])))
    [ True False]
Asin: The angle whose sine is x.
    >>> ops.Asin()(Tensor([0.0])).tolist()
    [0.0]
Asinh: The inverse of the hyperbolic sine.
    >>> ops.Asinh()(Tensor([0.0])).tolist()
    [0.0]
Atan: The angle whose tangent is x.
    >>> ops.Atan()(Tensor([0.0])).tolist()
    [0.0]
Atan2: The angle of the point (y, x), in radians.
    >>> ops.Atan2()(Tensor([0.0]), Tensor([1.0])).tolist()
    [0.0]
Atanh: The inverse of the hyperbolic tangent.
    >>> ops.Atanh()(Tensor([0.0])).tolist()
    [0.0]
BiasAdd
    >>> ops.BiasAdd()(Tensor([[1.0, 2.0]]), Tensor([10.0, 20.0])).tolist()
    [[11.0, 22.0]]
Bincount: How often, or with what total weight, each of 0 … size - 1 occurs in an int32 tensor.
    >>> print(ops.Bincount()(Tensor([0, 2, 2], ms.int32), Tensor(4, ms.int32), Tensor([1.0, 0.5, 0.25])))
    [1.   0.   0.75 0.  ]
BitwiseAnd: Bits set in both.
    >>> ops.BitwiseAnd()(Tensor([12]), Tensor([10])).tolist()
    [8]
BitwiseOr: Bits set in either.
    >>> ops.BitwiseOr()(Tensor([12]), Tensor([10])).tolist()
    [14]
BitwiseXor: Bits set in exactly one.
    >>> ops.BitwiseXor()(Tensor([12]), Tensor([10])).tolist()
    [6]
Bucketize: The bucket between the sorted `boundaries` that each element falls into.
    >>> print(ops.Bucketize([2.0, 4.0, 8.0])(Tensor([1.0, 4.0, 9.0])))
    [0 2 3]
Cdist: The p-norm distances between all rows of two (batches of) matrices.
    >>> print(ops.Cdist(p=2.0)(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]])))
    [[5.]]
Ceil: The least integer not below x.
    >>> ops.Ceil()(Tensor([1.2])).tolist()
    [2.0]
CheckNumerics
    >>> print(ops.CheckNumerics()(Tensor([1.0, 2.0])))
    [1. 2.]
ComplexAbs
    >>> print(ops.ComplexAbs()(Tensor([3 + 4j])))
    [5.]
Conj: The complex conjugate.
    >>> ops.Conj()(Tensor([1+2j])).tolist()
    [(1-2j)]
Cos: The cosine of an angle in radians.
    >>> ops.Cos()(Tensor([0.0])).tolist()
    [1.0]
Cosh: The hyperbolic cosine.
    >>> ops.Cosh()(Tensor([0.0])).tolist()
    [1.0]
CountNonZero: The number of elements over `dims` that are not 0.
    >>> print(ops.CountNonZero(dims=[1])(Tensor([[0, 3], [5, 7]])))
    [1 2]
Cross: The vector product along `dim`, of size 3.
    >>> print(ops.Cross(dim=0)(Tensor([1.0, 0.0, 0.0]), Tensor([0.0, 1.0, 0.0])))
    [0. 0. 1.]
DivNoNan: x / y, and 0 where y is 0.
    >>> ops.DivNoNan()(Tensor([1.0]), Tensor([0.0])).tolist()
    [0.0]
Einsum: The sum of products that `equation` describes, of a tuple of tensors.
    >>> print(ops.Einsum("ij,j->i")((Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 10.0]))))
    [21. 43.]
Equal: Whether x and y are equal, element by element.
    >>> ops.Equal()(Tensor([1, 2]), Tensor([1, 3])).tolist()
    [True, False]
EqualCount
    >>> print(ops.EqualCount()(Tensor([1, 2, 3]), Tensor([1, 5, 3])))
    [2]
Erf: The error function.
    >>> ops.Erf()(Tensor([0.0])).tolist()
    [0.0]
Erfc: 1 minus the error function.
    >>> ops.Erfc()(Tensor([0.0])).tolist()
    [1.0]
Erfinv: The inverse of the error function.
    >>> ops.Erfinv()(Tensor([0.0])).tolist()
    [0.0]
EuclideanNorm: The square root of the sum of squares over axes.
    >>> print(ops.EuclideanNorm()(Tensor([[3.0, 4.0]]), [1]))
    [5.]
Exp: e to the power of x.
    >>> ops.Exp()(Tensor([0.0])).tolist()
    [1.0]
Expm1: exp(x) - 1, exact for small x.
    >>> ops.Expm1()(Tensor([0.0])).tolist()
    [0.0]
FloatStatus
    >>> ops.FloatStatus()(Tensor([1.0, float('inf')])).tolist()
    [1.0]
Floor: The greatest integer not above x.
    >>> ops.Floor()(Tensor([1.7])).tolist()
    [1.0]
FloorDiv: floor(x / y).
    >>> ops.FloorDiv()(Tensor([7.0]), Tensor([2.0])).tolist()
    [3.0]
FloorMod: The remainder of x / y with the sign of y.
    >>> ops.FloorMod()(Tensor([-7.0]), Tensor([3.0])).tolist()
    [2.0]
Gcd: The greatest common divisor.
    >>> ops.Gcd()(Tensor([12]), Tensor([18])).tolist()
    [6]
Greater: Whether x > y, element by element.
    >>> ops.Greater()(Tensor([1, 2]), Tensor([1, 1])).tolist()
    [False, True]
GreaterEqual: Whether x >= y, element by element.
    >>> ops.GreaterEqual()(Tensor([1, 2]), Tensor([2, 2])).tolist()
    [False, True]
Histogram: Counts in `bins` equal intervals of [min, max]; the data's own range when both are 0.
    >>> print(ops.Histogram(bins=3, min=1.0, max=4.0)(Tensor([1.0, 2.0, 2.5, 4.0])))
    [1 2 1]
HistogramFixedWidth: Counts in `nbins` equal intervals between two bounds; elements outside count in the outermost ones.
    >>> print(ops.HistogramFixedWidth(2)(Tensor([-1.0, 0.5, 2.0, 9.0]), Tensor([0.0, 4.0])))
    [2 2]
Hypot: sqrt(x**2 + y**2), without overflow.
    >>> ops.Hypot()(Tensor([3.0]), Tensor([4.0])).tolist()
    [5.0]
InTopK: Whether each target class is among the k largest entries of its row.
    >>> print(ops.InTopK(2)(Tensor([[0.1, 0.9, 0.5], [0.7, 0.2, 0.1]]), Tensor([2, 2], ms.int32)))
    [ True False]
Invert: Every bit flipped.
    >>> ops.Invert()(Tensor([5])).tolist()
    [-6]
IsClose: Where |x - y| <= atol + rtol * |y|.
    >>> print(ops.IsClose(atol=0.1)(Tensor([1.0, 2.0]), Tensor([1.05, 2.5])))
    [ True False]
IsFinite: Whether x is neither infinite nor NaN.
    >>> ops.IsFinite()(Tensor([1.0])).tolist()
    [True]
IsInf: Whether x is infinite.
    >>> ops.IsInf()(Tensor([1.0])).tolist()
    [False]
IsNan: Whether x is not a number.
    >>> ops.IsNan()(Tensor([1.0])).tolist()
    [False]
L2Loss
    >>> print(ops.L2Loss()(Tensor([3.0, 4.0])))
    12.5
L2Normalize
    >>> ops.L2Normalize(axis=0)(Tensor([3.0, 4.0])).shape
    (2,)
Lcm: The least common multiple.
    >>> ops.Lcm()(Tensor([4]), Tensor([6])).tolist()
    [12]
LeftShift: x << y.
    >>> ops.LeftShift()(Tensor([1]), Tensor([3])).tolist()
    [8]
Less: Whether x < y, element by element.
    >>> ops.Less()(Tensor([1, 2]), Tensor([2, 2])).tolist()
    [True, False]
LessEqual: Whether x <= y, element by element.
    >>> ops.LessEqual()(Tensor([1, 3]), Tensor([2, 2])).tolist()
    [True, False]
Log: The natural logarithm.
    >>> ops.Log()(Tensor([1.0])).tolist()
    [0.0]
Log1p: log(1 + x), exact for small x.
    >>> ops.Log1p()(Tensor([0.0])).tolist()
    [0.0]
LogicalAnd: Whether both are true.
    >>> ops.LogicalAnd()(Tensor([True, True]), Tensor([True, False])).tolist()
    [True, False]
LogicalNot: Whether x is false.
    >>> ops.LogicalNot()(Tensor([True])).tolist()
    [False]
LogicalOr: Whether either is true.
    >>> ops.LogicalOr()(Tensor([True]), Tensor([False])).tolist()
    [True]
LogicalXor: Whether exactly one is true.
    >>> ops.LogicalXor()(Tensor([True]), Tensor([False])).tolist()
    [True]
Logit: log(x / (1 - x)); `eps` above 0 first keeps x within [eps, 1 - eps].
    >>> print(ops.Logit()(Tensor([0.5, 0.75])))
    [0.        1.0986123]
LpNorm
    >>> print(ops.LpNorm(axis=[0], p=1)(Tensor([3.0, -4.0])))
    7.0
Maximum: The larger of each pair of elements.
    >>> ops.Maximum()(Tensor([1, 5]), Tensor([3, 3])).tolist()
    [3, 5]
Median
    >>> value, index = ops.Median(axis=0)(Tensor([3.0, 1.0, 2.0]))
    >>> print(value, index)
    2.0 2
Minimum: The smaller of each pair of elements.
    >>> ops.Minimum()(Tensor([1, 5]), Tensor([3, 3])).tolist()
    [1, 3]
Mod: The remainder of x / y with the sign of x.
    >>> ops.Mod()(Tensor([-7.0]), Tensor([3.0])).tolist()
    [-1.0]
Mul: x * y, with broadcasting.
    >>> ops.Mul()(Tensor([2.0]), Tensor([3.0])).tolist()
    [6.0]
MulNoNan
    >>> print(ops.MulNoNan()(Tensor([float("inf"), 3.0]), Tensor([0.0, 2.0])))
    [0. 6.]
NanToNum: Replace NaN, infinity and minus infinity by numbers: 0 and the type's extreme values unless told otherwise.
    >>> print(ops.NanToNum(nan=-1.0)(Tensor([float("nan"), 2.0])))
    [-1.  2.]
Neg: -x.
    >>> ops.Neg()(Tensor([1.0])).tolist()
    [-1.0]
NextAfter: The next float after x towards y.
    >>> ops.NextAfter()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape
    (2,)
NotEqual: Whether x and y differ, element by element.
    >>> ops.NotEqual()(Tensor([1, 2]), Tensor([1, 3])).tolist()
    [False, True]
NPUAllocFloatStatus
    >>> ops.NPUAllocFloatStatus()().shape
    (8,)
NPUClearFloatStatus
    >>> ops.NPUClearFloatStatus()(ops.NPUAllocFloatStatus()()).shape
    (8,)
NPUGetFloatStatus
    >>> ops.NPUGetFloatStatus()(ops.NPUAllocFloatStatus()()).shape
    (8,)
NthElement
    >>> print(ops.NthElement()(Tensor([[30, 10, 20]]), 1))
    [20]
NuclearNorm: The sum of the singular values of matrices over two dimensions.
    >>> print(ops.NuclearNorm()(Tensor([[3.0, 0.0], [0.0, 4.0]])))
    7.0
Pdist: The p-norm distances between all pairs of rows.
    >>> print(ops.Pdist()(Tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])))
    [5.        1.        4.2426405]
Pow: x to the power of y.
    >>> ops.Pow()(Tensor([2.0]), 3.0).tolist()
    [8.0]
Quantile: The q-quantiles along `dim`, by linear interpolation.
    >>> print(ops.Quantile(dim=0)(Tensor([0.0, 10.0, 20.0]), Tensor(0.25)))
    5.0
Reciprocal: 1 / x.
    >>> ops.Reciprocal()(Tensor([4.0])).tolist()
    [0.25]
ReduceStd
    >>> deviation, mean = ops.ReduceStd(axis=[1], unbiased=False)(Tensor([[1.0, 3.0]]))
    >>> print(deviation, mean)
    [1.] [2.]
Renorm: Scale each slice along `dim` down so that its p-norm is at most `maxnorm`.
    >>> print(ops.Renorm(2, 0, 1.0)(Tensor([[3.0, 4.0], [0.3, 0.4]])).round(decimals=4))
    [[0.6 0.8]
     [0.3 0.4]]
RightShift: x >> y.
    >>> ops.RightShift()(Tensor([8]), Tensor([2])).tolist()
    [2]
Rint: The nearest integer, halves to the even one.
    >>> ops.Rint()(Tensor([2.5])).tolist()
    [2.0]
Round
    >>> print(ops.Round()(Tensor([0.5, 1.5, 2.7])))
    [0. 2. 3.]
Rsqrt: 1 / sqrt(x).
    >>> ops.Rsqrt()(Tensor([4.0])).tolist()
    [0.5]
SegmentMax: The maximum of the rows of each (sorted) segment.
    >>> print(ops.SegmentMax()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
    [5. 2.]
SegmentMean: The mean of the rows of each (sorted) segment.
    >>> print(ops.SegmentMean()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
    [3. 2.]
SegmentMin: The minimum of the rows of each (sorted) segment.
    >>> print(ops.SegmentMin()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
    [1. 2.]
SegmentProd: The product of the rows of each (sorted) segment.
    >>> print(ops.SegmentProd()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
    [5. 2.]
SegmentSum: The sum of the rows of each (sorted) segment.
    >>> print(ops.SegmentSum()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
    [6. 2.]
Sigmoid: 1 / (1 + exp(-x)).
    >>> ops.Sigmoid()(Tensor([0.0])).tolist()
    [0.5]
Sign: -1, 0 or 1, as x is negative, zero or positive.
    >>> ops.Sign()(Tensor([-3.0])).tolist()
    [-1.0]
Sin: The sine of an angle in radians.
    >>> ops.Sin()(Tensor([0.0])).tolist()
    [0.0]
Sinh: The hyperbolic sine.
    >>> ops.Sinh()(Tensor([0.0])).tolist()
    [0.0]
Sqrt: The square root.
    >>> ops.Sqrt()(Tensor([9.0])).tolist()
    [3.0]
Square: x * x.
    >>> ops.Square()(Tensor([3.0])).tolist()
    [9.0]
SquaredDifference: (x - y) ** 2.
    >>> ops.SquaredDifference()(Tensor([5.0]), Tensor([2.0])).tolist()
    [9.0]
SquareSumAll
    >>> print(*ops.SquareSumAll()(Tensor([3.0, 4.0]), Tensor([1.0, 2.0])))
    25.0 5.0
Sub: x - y, with broadcasting.
    >>> ops.Sub()(Tensor([3.0]), Tensor([1.0])).tolist()
    [2.0]
Tan: The tangent of an angle in radians.
    >>> ops.Tan()(Tensor([0.0])).tolist()
    [0.0]
Tanh: The hyperbolic tangent.
    >>> ops.Tanh()(Tensor([0.0])).tolist()
    [0.0]
Trunc: The integer part.
    >>> ops.Trunc()(Tensor([-1.7])).tolist()
    [-1.0]
TruncateDiv: x / y, rounded towards zero.
    >>> ops.TruncateDiv()(Tensor([-7.0]), Tensor([2.0])).tolist()
    [-3.0]
TruncateMod: The remainder of x / y with the sign of x.
    >>> ops.TruncateMod()(Tensor([-7.0]), Tensor([3.0])).tolist()
    [-1.0]
Xdivy: x / y, and 0 where x is 0.
    >>> ops.Xdivy()(Tensor([0.0]), Tensor([0.0])).tolist()
    [0.0]
Xlogy: x * log(y), and 0 where x is 0.
    >>> ops.Xlogy()(Tensor([0.0]), Tensor([0.0])).tolist()
    [0.0]
"""
