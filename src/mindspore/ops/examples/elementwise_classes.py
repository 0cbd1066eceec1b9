"""Functions of single elements and rarer operations, as classes."""

TABLE = """
AddV2
    >>> print(ops.AddV2()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
    [4. 6.]
AdjustContrastv2
    >>> print(ops.AdjustContrastv2()(Tensor([[[1.0], [3.0]]]), Tensor(2.0)).flatten())
    [0. 4.]
AdjustHue
    >>> print(ops.AdjustHue()(Tensor([[[1.0, 0.0, 0.0]]]), Tensor(1 / 3)).flatten().round(decimals=3))
    [0. 1. 0.]
AdjustSaturation
    >>> print(ops.AdjustSaturation()(Tensor([[[1.0, 0.5, 0.5]]]), Tensor(2.0)).flatten())
    [1. 0. 0.]
AllFinite
    >>> bool(ops.AllFinite()([Tensor([1.0, float("inf")])]))
    True
ArgminV2
    >>> print(ops.ArgminV2()(Tensor([[3.0, 8.0], [6.0, 5.0]]), 0))
    [0 1]
AvgPoolV1
    >>> ops.AvgPoolV1(kernel_size=2, strides=2)(ops.ones((1, 1, 4, 4))).shape
    (1, 1, 2, 2)
BartlettWindow: A triangle of the length given by a 0-d tensor; `periodic` leaves out the last of length + 1 points.
    >>> print(ops.BartlettWindow(periodic=False)(Tensor(5, ms.int32)))
    [0.  0.5 1.  0.5 0. ]
BesselI0: The modified Bessel function of the first kind, order 0.
    >>> ops.BesselI0()(Tensor([0.0])).tolist()
    [1.0]
BesselI0e: exp(-|x|) times the modified Bessel function of the first kind, order 0.
    >>> ops.BesselI0e()(Tensor([0.0])).tolist()
    [1.0]
BesselI1: The modified Bessel function of the first kind, order 1.
    >>> ops.BesselI1()(Tensor([0.0])).tolist()
    [0.0]
BesselI1e: exp(-|x|) times the modified Bessel function of the first kind, order 1.
    >>> ops.BesselI1e()(Tensor([0.0])).tolist()
    [0.0]
BesselJ0: The Bessel function of the first kind, order 0.
    >>> ops.BesselJ0()(Tensor([0.0])).tolist()
    [1.0]
BesselJ1: The Bessel function of the first kind, order 1.
    >>> ops.BesselJ1()(Tensor([0.0])).tolist()
    [0.0]
BesselK0: The modified Bessel function of the second kind, order 0.
    >>> ops.BesselK0()(Tensor([1.0, 2.0])).shape
    (2,)
BesselK0e: exp(x) times the modified Bessel function of the second kind, order 0.
    >>> ops.BesselK0e()(Tensor([1.0, 2.0])).shape
    (2,)
BesselK1: The modified Bessel function of the second kind, order 1.
    >>> ops.BesselK1()(Tensor([1.0, 2.0])).shape
    (2,)
BesselK1e: exp(x) times the modified Bessel function of the second kind, order 1.
    >>> ops.BesselK1e()(Tensor([1.0, 2.0])).shape
    (2,)
BesselY0: The Bessel function of the second kind, order 0.
    >>> ops.BesselY0()(Tensor([1.0, 2.0])).shape
    (2,)
BesselY1: The Bessel function of the second kind, order 1.
    >>> ops.BesselY1()(Tensor([1.0, 2.0])).shape
    (2,)
BlackmanWindow: Blackman's window of three cosines, of the length given by a 0-d tensor.
    >>> print(ops.BlackmanWindow(periodic=False)(Tensor(5, ms.int32)).round(decimals=2))
    [-0.    0.34  1.    0.34 -0.  ]
CholeskyInverse: The inverse of the matrix whose Cholesky factor is given.
    >>> print(ops.CholeskyInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]])))
    [[0.25   0.    ]
     [0.     0.0625]]
CholeskySolve: The x with A x = x1, where x2 is the Cholesky factor of A.
    >>> print(ops.CholeskySolve()(Tensor([[4.0], [16.0]]), Tensor([[2.0, 0.0], [0.0, 4.0]])))
    [[1.]
     [1.]]
CombinedNonMaxSuppression
    >>> boxes = Tensor([[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 1.0, 0.9]]]])
    >>> scores = Tensor([[[0.9], [0.8]]])
    >>> limits = Tensor(2, ms.int32), Tensor(2, ms.int32), Tensor(0.5), Tensor(0.1)
    >>> kept, score, label, number = ops.CombinedNonMaxSuppression()(boxes, scores, *limits)
    >>> print(number)
    [1]
CompareAndBitpack
    >>> print(ops.CompareAndBitpack()(Tensor([1.0, 5.0, 1.0, 5.0, 5.0, 1.0, 1.0, 5.0]), Tensor(2.0)))
    [89]
ConfusionMatrix
    >>> print(ops.ConfusionMatrix(2)(Tensor([0, 1, 1], ms.int32), Tensor([0, 1, 0], ms.int32)))
    [[1 0]
     [1 1]]
ControlDepend
    >>> ops.ControlDepend()(Tensor([1.0]), Tensor([2.0])) is None
    True
DataFormatDimMap
    >>> print(ops.DataFormatDimMap()(Tensor([0, 1, 2, 3], ms.int32)))
    [0 3 1 2]
DataFormatVecPermute
    >>> print(ops.DataFormatVecPermute()(Tensor([8, 24, 32, 3], ms.int32)))
    [ 8  3 24 32]
Dawsn: Dawson's integral.
    >>> ops.Dawsn()(Tensor([0.0])).tolist()
    [0.0]
DeformableOffsets
    >>> x, offsets = ops.ones((1, 1, 3, 3)), ops.zeros((1, 8, 2, 2))
    >>> ops.DeformableOffsets((1, 1, 1, 1), (0, 0, 0, 0), (2, 2), modulated=False)(x, offsets).shape
    (1, 1, 4, 4)
Depend
    >>> ops.Depend()(Tensor([1.0]), Tensor([2.0])).tolist()
    [1.0]
Digamma: The derivative of the logarithm of the gamma function.
    >>> ops.Digamma()(Tensor([1.0, 2.0])).shape
    (2,)
Dilation2D
    >>> x, kernel = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), ops.zeros((1, 2, 2))
    >>> print(ops.Dilation2D(stride=1, dilation=1, pad_mode="VALID")(x, kernel))
    [[[[4.]]]]
EditDistance
    >>> a, b = Tensor([[0, 0, 0], [0, 0, 1]]), Tensor([[0, 0, 0], [0, 0, 1]])
    >>> shape = Tensor([1, 1, 2])
    >>> print(ops.EditDistance(normalize=False)(a, Tensor([1, 2]), shape, b, Tensor([1, 7]), shape))
    [[1.]]
ExtractVolumePatches
    >>> x = ops.ones((1, 1, 3, 3, 3))
    >>> ops.ExtractVolumePatches([1, 1, 2, 2, 2], [1, 1, 1, 1, 1], "VALID")(x).shape
    (1, 8, 2, 2, 2)
FFTWithSize
    >>> print(ops.FFTWithSize(1, False, True)(Tensor([1.0, 2.0, 3.0, 4.0])))
    [10.+0.j -2.+2.j -2.+0.j]
FractionalMaxPool3DWithFixedKsize
    >>> drawn = Tensor([[[0.5, 0.5, 0.5]]])
    >>> ops.FractionalMaxPool3DWithFixedKsize((2, 2, 2), (3, 3, 3))(ops.ones((1, 1, 8, 8, 8)), drawn)[0].shape
    (1, 1, 3, 3, 3)
FractionalMaxPoolWithFixedKsize
    >>> drawn = Tensor([[[0.5, 0.5]]])
    >>> ops.FractionalMaxPoolWithFixedKsize((2, 2), (3, 3))(ops.ones((1, 1, 8, 8)), drawn)[0].shape
    (1, 1, 3, 3)
HammingWindow: alpha - beta * cos, one period, of the length given by a 1-element tensor.
    >>> print(ops.HammingWindow(periodic=False)(Tensor([5], ms.int32)))
    [0.08 0.54 1.   0.54 0.08]
HSVToRGB
    >>> print(ops.HSVToRGB()(Tensor([[[[0.0, 1.0, 1.0]]]])).flatten())
    [1. 0. 0.]
Igamma: The lower incomplete gamma function, regularised.
    >>> ops.Igamma()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape
    (2,)
Igammac: The upper incomplete gamma function, regularised.
    >>> ops.Igammac()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape
    (2,)
InsertGradientOf
    >>> halve = ops.InsertGradientOf(lambda grad: grad / 2)
    >>> print(ops.grad(lambda x: 3 * halve(x))(Tensor(2.0)))
    1.5
Inv
    >>> print(ops.Inv()(Tensor([0.5, 4.0])))
    [2.   0.25]
Lgamma: The logarithm of the size of the gamma function.
    >>> ops.Lgamma()(Tensor([1.0])).tolist()
    [0.0]
Load
    >>> total = Parameter(Tensor([1.0, 2.0]), name="total")
    >>> print(ops.Load()(total).asnumpy())
    [1. 2.]
Log10: The logarithm to base 10.
    >>> ops.Log10()(Tensor([1.0])).tolist()
    [0.0]
Log2: The logarithm to base 2.
    >>> ops.Log2()(Tensor([8.0])).tolist()
    [3.0]
Lstsq: The least-squares solution x of a x = b.
    >>> a, b = Tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), Tensor([[1.0], [3.0], [5.0]])
    >>> print(ops.Lstsq()(a, b).round(decimals=4))
    [[1.]
     [2.]]
LuUnpack: (p, l, u) from packed factors and row interchanges counted from 1.
    >>> order, low, up = ops.LuUnpack()(Tensor([[4.0, 6.0], [0.25, 0.5]]), Tensor([2, 2], ms.int32))
    >>> print(up)
    [[4.  6. ]
     [0.  0.5]]
MatrixLogarithm
    >>> print(ops.MatrixLogarithm()(Tensor(np.eye(2, dtype=np.complex64))).real())
    [[0. 0.]
     [0. 0.]]
MatrixPower: The n-th power of square matrices; negative powers are those of the inverse.
    >>> print(ops.MatrixPower(5)(Tensor([[1.0, 1.0], [0.0, 1.0]])))
    [[1. 5.]
     [0. 1.]]
MatrixSolveLs
    >>> a, b = Tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), Tensor([[1.0], [3.0], [5.0]])
    >>> print(ops.MatrixSolveLs()(a, b, Tensor(0.0, ms.float64)).round(decimals=4))
    [[1.]
     [2.]]
MatrixTriangularSolve: The x with a x = b for triangular a.
    >>> print(ops.MatrixTriangularSolve(lower=True)(Tensor([[2.0, 0.0], [1.0, 4.0]]), Tensor([[2.0], [9.0]])))
    [[1.]
     [2.]]
MaxPoolV1
    >>> print(ops.MaxPoolV1(kernel_size=2, strides=2)(Tensor([[[[1.0, 5.0], [2.0, 3.0]]]])))
    [[[[5.]]]]
Morph
    >>> double = ops.Morph(lambda x: 2 * x, lambda shape: shape, lambda dtype: dtype)
    >>> print(double(Tensor([1.0, 2.0])))
    [2. 4.]
MoveTo
    >>> print(ops.MoveTo()(Tensor([1.0]), "CPU", True))
    [1.]
Mvlgamma: The logarithm of the multivariate gamma function of dimension p.
    >>> print(ops.Mvlgamma(p=2)(Tensor([3.0, 5.0])))
    [1.550195 6.204155]
NonMaxSuppressionV3
    >>> boxes = Tensor([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [5.0, 5.0, 6.0, 6.0]])
    >>> limits = Tensor(3, ms.int32), Tensor(0.5), Tensor(0.0)
    >>> print(ops.NonMaxSuppressionV3()(boxes, Tensor([0.9, 0.8, 0.7]), *limits))
    [0 2]
NonMaxSuppressionWithOverlaps
    >>> overlaps = Tensor([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> limits = Tensor(3, ms.int32), Tensor(0.5), Tensor(0.0)
    >>> print(ops.NonMaxSuppressionWithOverlaps()(overlaps, Tensor([0.9, 0.8, 0.7]), *limits))
    [0 2]
NoRepeatNGram
    >>> said, scores = Tensor([[[1, 2, 1]]], ms.int32), ops.zeros((1, 1, 4))
    >>> print(ops.NoRepeatNGram(ngram_size=2)(said, scores))
    [[[ 0.0000000e+00  0.0000000e+00 -3.4028235e+38  0.0000000e+00]]]
Ormqr: The product of the reflections that `geqrf` gave with another matrix.
    >>> packed, tau = ops.geqrf(Tensor([[3.0, 0.0], [4.0, 5.0]]))
    >>> print(ops.Ormqr()(packed, tau, Tensor([[1.0], [0.0]])).abs().round(decimals=4))
    [[0.6]
     [0.8]]
Polygamma: The x-th derivative of the digamma function at y.
    >>> ops.Polygamma()(Tensor(1), Tensor([1.0, 2.0])).shape
    (2,)
RaggedRange
    >>> start, limit, step = (Tensor(n, ms.int32) for n in ([0, 5], [2, 8], [1, 1]))
    >>> splits, value = ops.RaggedRange(ms.int32)(start, limit, step)
    >>> print(splits, value)
    [0 2 5] [0 1 5 6 7]
ReLU: max(x, 0).
    >>> ops.ReLU()(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
ReLUV3
    >>> print(ops.ReLUV3()(Tensor([-1.0, 2.0])))
    [0. 2.]
ResizeArea
    >>> x = Tensor([[[[1.0], [3.0]], [[5.0], [7.0]]]])
    >>> print(ops.ResizeArea()(x, Tensor([1, 1], ms.int32)).flatten())
    [4.]
RGBToHSV
    >>> print(ops.RGBToHSV()(Tensor([[[[1.0, 0.0, 0.0]]]])).flatten())
    [0. 1. 1.]
SigmoidCrossEntropyWithLogits
    >>> ops.SigmoidCrossEntropyWithLogits()(Tensor([0.0]), Tensor([1.0])).shape
    (1,)
SignBit: Whether the sign bit is set.
    >>> ops.SignBit()(Tensor([-3.0])).tolist()
    [True]
Softplus: log(1 + exp(x)), without overflow.
    >>> ops.Softplus()(Tensor([100.0])).tolist()
    [100.0]
Spence: Spence's function, the dilogarithm of 1 - x.
    >>> ops.Spence()(Tensor([1.0])).tolist()
    [0.0]
STFT: The short-time Fourier transform of a signal with a window: (…, frequency, frame).
    >>> ops.STFT(8, 4, 8, False, True, True)(ops.ones(16), ops.ones(8)).shape
    (5, 3)
UpdateState: Its first argument: what a program does happens in the order it is written.
    >>> ops.UpdateState()(5, Tensor([1.0]))
    5
Zeta: The Hurwitz zeta function.
    >>> ops.Zeta()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape
    (2,)
"""
