"""Words and examples of layers that a factory makes (see `ops.examples` for the form)."""

TABLE = """
AdaptiveAvgPool1d: Means over windows that give (N, C, L) a wanted length.
    >>> print(mint.nn.AdaptiveAvgPool1d(2)(Tensor([[[1.0, 3.0, 5.0, 7.0]]])))
    [[[2. 6.]]]
AdaptiveAvgPool2d: Means over windows that give (N, C, H, W) a wanted size.
    >>> mint.nn.AdaptiveAvgPool2d((2, 3))(mint.ones((1, 4, 8, 9))).shape
    (1, 4, 2, 3)
AdaptiveAvgPool3d: Means over windows that give (N, C, D, H, W) a wanted size.
    >>> mint.nn.AdaptiveAvgPool3d(2)(mint.ones((1, 4, 8, 8, 8))).shape
    (1, 4, 2, 2, 2)
AdaptiveMaxPool1d: Maxima over windows that give (N, C, L) a wanted length.
    >>> print(mint.nn.AdaptiveMaxPool1d(2)(Tensor([[[4.0, 1.0, 2.0, 9.0]]])))
    [[[4. 9.]]]
AdaptiveMaxPool2d: Maxima over windows that give (N, C, H, W) a wanted size.
    >>> mint.nn.AdaptiveMaxPool2d((2, 3))(mint.ones((1, 4, 8, 9))).shape
    (1, 4, 2, 3)
AvgPool1d: The mean of each window of (N, C, L); the stride is the window's size unless given.
    >>> print(mint.nn.AvgPool1d(2)(Tensor([[[1.0, 3.0, 5.0, 7.0]]])))
    [[[2. 6.]]]
AvgPool2d: The mean of each window of (N, C, H, W); the stride is the window's size unless given.
    >>> print(mint.nn.AvgPool2d(2)(Tensor([[[[1.0, 3.0], [5.0, 7.0]]]])))
    [[[[4.]]]]
AvgPool3d: The mean of each window of (N, C, D, H, W); the stride is the window's size unless given.
    >>> print(mint.nn.AvgPool3d(2)(mint.ones((1, 1, 2, 2, 2))).item())
    1.0
BCELoss: -(y log p + (1 - y) log(1 - p)) of probabilities.
    >>> print(mint.nn.BCELoss()(Tensor([0.9, 0.2]), Tensor([1.0, 0.0])))
    0.16425204
BCEWithLogitsLoss: Binary cross entropy of logits; `pos_weight` scales the positive term.
    >>> print(mint.nn.BCEWithLogitsLoss(reduction="none")(Tensor([0.0, 3.0]), Tensor([1.0, 0.0])))
    [0.6931472 3.0485873]
ConstantPad1d: Surround the last dimension with a value.
    >>> print(mint.nn.ConstantPad1d((1, 2), 9.0)(Tensor([[1.0, 2.0]])))
    [[9. 1. 2. 9. 9.]]
ConstantPad2d: Surround the last two dimensions with a value.
    >>> print(mint.nn.ConstantPad2d((1, 0, 0, 1), 9.0)(Tensor([[[1.0, 2.0]]])))
    [[[9. 1. 2.]
      [9. 9. 9.]]]
ConstantPad3d: Surround the last three dimensions with a value.
    >>> mint.nn.ConstantPad3d(1, 9.0)(mint.ones((1, 2, 2, 2))).shape
    (1, 4, 4, 4)
CrossEntropyLoss: The cross entropy of logits with classes, or with probabilities of classes.
    >>> print(mint.nn.CrossEntropyLoss()(Tensor([[0.0, 0.0]]), Tensor([1])))
    0.6931472
ELU: x where positive, else alpha (exp(x) - 1).
    >>> print(mint.nn.ELU()(Tensor([-1.0, 2.0])))
    [-0.63212055  2.        ]
Flatten: Merge the dimensions from `start_dim` to `end_dim`.
    >>> mint.nn.Flatten()(mint.ones((2, 3, 4))).shape
    (2, 12)
Fold: Columns of windows added up into images.
    >>> columns = mint.nn.Unfold(2)(mint.ones((1, 1, 3, 3)))
    >>> mint.nn.Fold((3, 3), 2)(columns).flatten(0).tolist()
    [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]
GELU: x times the normal distribution function at x.
    >>> print(mint.nn.GELU()(Tensor([-1.0, 0.0, 2.0])))
    [-0.15865526  0.          1.9544997 ]
GLU: The first half of a dimension times the sigmoid of the second.
    >>> print(mint.nn.GLU()(Tensor([4.0, 6.0, 0.0, 0.0])))
    [2. 3.]
Hardshrink: x where |x| exceeds `lambd`, else 0.
    >>> print(mint.nn.Hardshrink()(Tensor([-0.4, 0.2, 3.0])))
    [0. 0. 3.]
Hardsigmoid: relu6(x + 3) / 6.
    >>> print(mint.nn.Hardsigmoid()(Tensor([-4.0, 0.0, 1.5])))
    [0.   0.5  0.75]
Hardswish: x relu6(x + 3) / 6.
    >>> print(mint.nn.Hardswish()(Tensor([0.0, 1.0, 5.0])))
    [0.        0.6666667 5.       ]
Hardtanh: x kept within [min_val, max_val].
    >>> print(mint.nn.Hardtanh()(Tensor([-3.0, 0.3, 3.0])))
    [-1.   0.3  1. ]
KLDivLoss: target (log target - input), where the input holds log-probabilities.
    >>> print(mint.nn.KLDivLoss(reduction="sum")(Tensor([-0.6931472, -0.6931472]), Tensor([1.0, 0.0])))
    0.6931472
L1Loss: Absolute differences of input and target.
    >>> print(mint.nn.L1Loss()(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])))
    1.5
LeakyReLU: x where positive, else negative_slope x.
    >>> print(mint.nn.LeakyReLU(0.1)(Tensor([-5.0, 2.0])))
    [-0.5  2. ]
LogSigmoid: log(sigmoid(x)), without overflow.
    >>> print(mint.nn.LogSigmoid()(Tensor([0.0, 3.0])))
    [-0.6931472  -0.04858735]
LogSoftmax: The logarithm of softmax along `dim`.
    >>> print(mint.nn.LogSoftmax(dim=0)(Tensor([0.0, 0.0])))
    [-0.6931472 -0.6931472]
MaxPool2d: The maximum of each window of (N, C, H, W), perhaps with its place.
    >>> print(mint.nn.MaxPool2d(2)(Tensor([[[[1.0, 3.0], [5.0, 7.0]]]])))
    [[[[7.]]]]
Mish: x tanh(softplus(x)).
    >>> print(mint.nn.Mish()(Tensor([-1.0, 0.0, 2.0])))
    [-0.30340147  0.          1.9439589 ]
MSELoss: Squared differences of input and target.
    >>> print(mint.nn.MSELoss()(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])))
    2.5
NLLLoss: Minus the log-probability of the target class.
    >>> print(mint.nn.NLLLoss()(Tensor([[-0.5, -1.0], [-2.0, -0.1]]), Tensor([0, 1])))
    0.3
PixelShuffle: (N, C r², H, W) to (N, C, H r, W r): channels become pixels.
    >>> mint.nn.PixelShuffle(2)(mint.ones((1, 8, 3, 3))).shape
    (1, 2, 6, 6)
ReflectionPad1d: Continue the last dimension by its mirror image, without the border element.
    >>> print(mint.nn.ReflectionPad1d(2)(Tensor([[1.0, 2.0, 3.0]])))
    [[3. 2. 1. 2. 3. 2. 1.]]
ReflectionPad2d: Continue the last two dimensions by their mirror image, without the border elements.
    >>> mint.nn.ReflectionPad2d(1)(mint.ones((1, 3, 3))).shape
    (1, 5, 5)
ReflectionPad3d: Continue the last three dimensions by their mirror image, without the border elements.
    >>> mint.nn.ReflectionPad3d(1)(mint.ones((1, 3, 3, 3))).shape
    (1, 5, 5, 5)
ReLU: max(x, 0).
    >>> print(mint.nn.ReLU()(Tensor([-1.0, 2.0])))
    [0. 2.]
ReLU6: min(max(x, 0), 6).
    >>> print(mint.nn.ReLU6()(Tensor([-1.0, 3.0, 8.0])))
    [0. 3. 6.]
ReplicationPad1d: Continue the last dimension by its border elements.
    >>> print(mint.nn.ReplicationPad1d(2)(Tensor([[1.0, 2.0, 3.0]])))
    [[1. 1. 1. 2. 3. 3. 3.]]
ReplicationPad2d: Continue the last two dimensions by their border elements.
    >>> mint.nn.ReplicationPad2d(1)(mint.ones((1, 3, 3))).shape
    (1, 5, 5)
ReplicationPad3d: Continue the last three dimensions by their border elements.
    >>> mint.nn.ReplicationPad3d(1)(mint.ones((1, 3, 3, 3))).shape
    (1, 5, 5, 5)
SELU: The self-normalising exponential unit (Klambauer et al. 2017).
    >>> print(mint.nn.SELU()(Tensor([-1.0, 2.0])))
    [-1.1113307  2.101402 ]
Sigmoid: 1 / (1 + exp(-x)).
    >>> print(mint.nn.Sigmoid()(Tensor([0.0, 2.0])))
    [0.5      0.880797]
SiLU: x sigmoid(x).
    >>> print(mint.nn.SiLU()(Tensor([-1.0, 2.0])))
    [-0.2689414  1.761594 ]
SmoothL1Loss: 0.5 d² / beta where the difference d is below beta, else |d| - 0.5 beta.
    >>> print(mint.nn.SmoothL1Loss(reduction="none")(Tensor([1.5, 5.0]), Tensor([1.0, 1.0])))
    [0.125 3.5  ]
SoftMarginLoss: log(1 + exp(-target input)) for targets of 1 and -1.
    >>> print(mint.nn.SoftMarginLoss(reduction="none")(Tensor([0.0, 2.0]), Tensor([1.0, -1.0])))
    [0.6931472 2.126928 ]
Softmax: Exponentials that add up to 1 along `dim`.
    >>> print(mint.nn.Softmax(dim=0)(Tensor([0.0, 0.0])))
    [0.5 0.5]
Softplus: log(1 + exp(beta x)) / beta; x itself where beta x exceeds the threshold.
    >>> print(mint.nn.Softplus()(Tensor([0.0, 30.0])))
    [ 0.6931472 30.       ]
Softshrink: x moved towards 0 by lambd.
    >>> print(mint.nn.Softshrink()(Tensor([-2.0, 0.3, 1.0])))
    [-1.5  0.   0.5]
Tanh: The hyperbolic tangent.
    >>> print(mint.nn.Tanh()(Tensor([0.0, 1.0])))
    [0.        0.7615942]
Threshold: x where it exceeds the threshold, else a value.
    >>> print(mint.nn.Threshold(1.0, -1.0)(Tensor([0.1, 5.0])))
    [-1.  5.]
Unfold: The windows of (N, C, H, W) as columns.
    >>> mint.nn.Unfold(2)(mint.ones((1, 1, 3, 3))).shape
    (1, 4, 4)
Upsample: Resize (N, C, *) to a size or by a factor: 'nearest', 'linear', 'bilinear', 'bicubic', 'trilinear' or 'area'.
    >>> mint.nn.Upsample(scale_factor=2, mode="nearest")(mint.ones((1, 1, 2, 3))).shape
    (1, 1, 4, 6)
UpsamplingBilinear2d: Resize images by interpolation between pixels.
    >>> mint.nn.UpsamplingBilinear2d((1, 3))(Tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.5, 2.0]]]]
UpsamplingNearest2d: Resize images by repeating pixels.
    >>> mint.nn.UpsamplingNearest2d((1, 4))(Tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.0, 2.0, 2.0]]]]
ZeroPad1d: Surround the last dimension with zeros.
    >>> print(mint.nn.ZeroPad1d((1, 2))(Tensor([[1.0, 2.0]])))
    [[0. 1. 2. 0. 0.]]
ZeroPad2d: Surround the last two dimensions with zeros.
    >>> mint.nn.ZeroPad2d(1)(mint.ones((1, 2, 2))).shape
    (1, 4, 4)
ZeroPad3d: Surround the last three dimensions with zeros.
    >>> mint.nn.ZeroPad3d(1)(mint.ones((1, 2, 2, 2))).shape
    (1, 4, 4, 4)
"""
