"""Layers, losses, activations and images, as classes."""

TABLE = """
AdaptiveAvgPool2D
    >>> print(ops.AdaptiveAvgPool2D((1, 2))(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
    [[[[2. 3.]]]]
AdaptiveAvgPool3D
    >>> ops.AdaptiveAvgPool3D((1, 2, 2))(ops.ones((1, 3, 4, 4, 4))).shape
    (1, 3, 1, 2, 2)
AdaptiveMaxPool2D
    >>> print(ops.AdaptiveMaxPool2D((1, 2))(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))[0])
    [[[[3. 4.]]]]
AdaptiveMaxPool3D: Maxima of (N, C, D, H, W) over windows that give the sizes of a second argument, and their indices.
    >>> out, index = ops.AdaptiveMaxPool3D()(ops.ones((1, 1, 4, 4, 4)), Tensor([2, 2, 1], ms.int32))
    >>> out.shape
    (1, 1, 2, 2, 1)
AffineGrid
    >>> ops.AffineGrid(align_corners=True)(Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 2, 2)).shape
    (1, 2, 2, 2)
ApplyRotaryPosEmb
    >>> query = key = ops.ones((1, 1, 4), ms.float16)
    >>> cos, sin = ops.zeros((1, 4), ms.float16), ops.ones((1, 4), ms.float16)
    >>> turned, _ = ops.ApplyRotaryPosEmb()(query, key, cos, sin, Tensor([0], ms.int32))
    >>> print(turned)
    [[[-1. -1.  1.  1.]]]
BasicLSTMCell
    >>> x, h, c = ops.ones((1, 2)), ops.zeros((1, 3)), ops.zeros((1, 3))
    >>> step = ops.BasicLSTMCell()(x, h, c, ops.zeros((5, 12)), ops.zeros(12))
    >>> step[1].shape
    (1, 3)
BCEWithLogitsLoss
    >>> one = ops.ones(2)
    >>> print(ops.BCEWithLogitsLoss("sum")(Tensor([0.0, 3.0]), Tensor([1.0, 0.0]), one, one))
    3.7417345
BinaryCrossEntropy
    >>> print(ops.BinaryCrossEntropy("none")(Tensor([0.9, 0.2]), Tensor([1.0, 0.0]), Tensor([1.0, 1.0])))
    [0.10536055 0.22314353]
BoundingBoxDecode
    >>> anchor = Tensor([[4.0, 4.0, 8.0, 8.0]])
    >>> print(ops.BoundingBoxDecode(max_shape=(32, 32))(anchor, ops.zeros((1, 4))))
    [[4. 4. 8. 8.]]
BoundingBoxEncode
    >>> anchor = Tensor([[4.0, 4.0, 8.0, 8.0]])
    >>> print(ops.BoundingBoxEncode()(anchor, anchor))
    [[0. 0. 0. 0.]]
CeLU
    >>> print(ops.CeLU(alpha=2.0)(Tensor([-1.0, 2.0])))
    [-0.78693867  2.        ]
ChannelShuffle
    >>> print(ops.ChannelShuffle(2)(Tensor(np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1))).flatten())
    [0. 2. 1. 3.]
Col2Im
    >>> columns = ops.ones((1, 1, 4, 4))
    >>> ops.Col2Im([2, 2])(columns, Tensor([3, 3], ms.int32)).flatten().tolist()
    [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]
Conv3DTranspose
    >>> kernel = ops.ones((2, 4, 2, 2, 2))
    >>> ops.Conv3DTranspose(2, 4, kernel_size=2, stride=2)(ops.ones((1, 2, 3, 3, 3)), kernel).shape
    (1, 4, 6, 6, 6)
CropAndResize
    >>> image = Tensor(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
    >>> corners = ops.CropAndResize()(image, Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([0], ms.int32), (2, 2))
    >>> print(corners.flatten())
    [ 0.  3. 12. 15.]
CTCGreedyDecoder
    >>> scores = Tensor([[[0.1, 0.6, 0.3]], [[0.7, 0.2, 0.1]], [[0.7, 0.2, 0.1]]])
    >>> print(ops.CTCGreedyDecoder()(scores, Tensor([3], ms.int32))[1])
    [1 0]
CTCLoss
    >>> where, label = Tensor([[0, 0]], ms.int64), Tensor([0], ms.int32)
    >>> loss, grad = ops.CTCLoss()(ops.zeros((3, 1, 4)), where, label, Tensor([3], ms.int32))
    >>> print(loss)
    [2.3671236]
CTCLossV2
    >>> log_probs = ops.log_softmax(ops.zeros((3, 1, 4)))
    >>> loss, _ = ops.CTCLossV2()(log_probs, Tensor([[1]]), Tensor([3]), Tensor([1]))
    >>> print(loss)
    [2.3671236]
DepthwiseConv2dNative
    >>> ops.DepthwiseConv2dNative(1, 3)(ops.ones((1, 2, 5, 5)), ops.ones((1, 2, 3, 3))).shape
    (1, 2, 3, 3)
Dropout
    >>> out, mask = ops.Dropout(keep_prob=1.0)(Tensor([1.0, 2.0]))
    >>> print(out, mask)
    [1. 2.] [1. 1.]
Dropout2D
    >>> out, mask = ops.Dropout2D(keep_prob=0.5)(ops.ones((1, 8, 2, 2)))
    >>> sorted(set(out.flatten().tolist())) in ([0.0], [0.0, 2.0], [2.0])
    True
Dropout3D
    >>> out, mask = ops.Dropout3D(keep_prob=0.5)(ops.ones((1, 8, 1, 2, 2)))
    >>> mask.dtype, mask.shape
    (mindspore.bool_, (1, 8, 1, 2, 2))
DropoutDoMask: x / keep_prob where the mask of `DropoutGenMask` holds, else 0.
    >>> mask = ops.DropoutGenMask()((2, 2), Tensor(1.0))
    >>> print(ops.DropoutDoMask()(ops.ones((2, 2)), mask, Tensor(1.0)))
    [[1. 1.]
     [1. 1.]]
DropoutGenMask
    >>> bool(ops.DropoutGenMask()((2, 2), Tensor(1.0)).all())
    True
DynamicGRUV2
    >>> x, h = ops.zeros((3, 1, 2)), ops.zeros((1, 4))
    >>> outs = ops.DynamicGRUV2()(x, ops.ones((2, 12)), ops.ones((4, 12)), ops.zeros(12), ops.zeros(12), None, h)
    >>> outs[0].shape
    (3, 1, 4)
DynamicRNN
    >>> x, state = ops.zeros((3, 1, 2)), ops.zeros((1, 1, 4))
    >>> outs = ops.DynamicRNN()(x, ops.ones((6, 16)), ops.zeros(16), None, state, state)
    >>> outs[0].shape
    (3, 1, 4)
Elu
    >>> print(ops.Elu()(Tensor([-1.0, 2.0])))
    [-0.63212055  2.        ]
ExtractImagePatches
    >>> x = Tensor(np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3))
    >>> ops.ExtractImagePatches([1, 1, 2, 2], [1, 1, 1, 1], [1, 1, 1, 1])(x).shape
    (1, 4, 2, 2)
FastGeLU
    >>> print(ops.FastGeLU()(Tensor([-1.0, 2.0])))
    [-0.15420423  1.9356586 ]
GeLU
    >>> print(ops.GeLU()(Tensor([-1.0, 2.0])))
    [-0.158808   1.9545977]
GeLUErf
    >>> print(ops.GeLUErf()(Tensor([-1.0, 2.0])))
    [-0.15865526  1.9544997 ]
GLU
    >>> print(ops.GLU()(Tensor([4.0, 6.0, 0.0, 0.0])))
    [2. 3.]
GridSampler2D
    >>> image, centre = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[[[0.0, 0.0]]]])
    >>> print(ops.GridSampler2D(align_corners=True)(image, centre))
    [[[[2.5]]]]
GridSampler3D
    >>> volume, centre = ops.ones((1, 1, 2, 2, 2)), ops.zeros((1, 1, 1, 1, 3))
    >>> print(ops.GridSampler3D(align_corners=True)(volume, centre))
    [[[[[1.]]]]]
GroupedMatmul
    >>> outs = ops.GroupedMatmul(split_item=0)([ops.ones((2, 3))], [ops.ones((3, 5))])
    >>> outs[0].shape
    (2, 5)
Hardtanh
    >>> print(ops.Hardtanh()(Tensor([-3.0, 0.3, 3.0])))
    [-1.   0.3  1. ]
HShrink
    >>> print(ops.HShrink()(Tensor([-0.4, 0.2, 3.0])))
    [0. 0. 3.]
HSigmoid
    >>> print(ops.HSigmoid()(Tensor([-4.0, 0.0, 1.5])))
    [0.   0.5  0.75]
HSwish
    >>> print(ops.HSwish()(Tensor([0.0, 1.0, 5.0])))
    [0.        0.6666667 5.       ]
Im2Col
    >>> ops.Im2Col([2, 2])(ops.ones((1, 1, 3, 3))).shape
    (1, 1, 4, 4)
IncreFlashAttention
    >>> query, past = ops.ones((1, 1, 8), ms.float16), ops.ones((1, 5, 8), ms.float16)
    >>> ops.IncreFlashAttention(num_heads=2)(query, [past], [past]).shape
    (1, 1, 8)
InstanceNorm
    >>> x = Tensor([[[[1.0, 3.0]]]])
    >>> gamma, beta = Parameter(ops.ones(1), name="gamma"), Parameter(ops.zeros(1), name="beta")
    >>> mean, var = Parameter(ops.zeros(1), name="mean"), Parameter(ops.ones(1), name="var")
    >>> print(ops.InstanceNorm()(x, gamma, beta, mean, var)[0].round(decimals=2))
    [[[[-1.  1.]]]]
IOU
    >>> print(ops.IOU()(Tensor([[0.0, 0.0, 2.0, 2.0]]), Tensor([[1.0, 0.0, 3.0, 2.0]])))
    [[0.5]]
KLDivLoss
    >>> print(ops.KLDivLoss("sum")(Tensor([-0.6931472, -0.6931472]), Tensor([1.0, 0.0])))
    0.6931472
LeakyReLU
    >>> print(ops.LeakyReLU(negative_slope=0.1)(Tensor([-5.0, 2.0])))
    [-0.5  2. ]
LogSigmoid
    >>> print(ops.LogSigmoid()(Tensor([0.0, 3.0])))
    [-0.6931472  -0.04858735]
MaxPool3DWithArgmax
    >>> x = Tensor(np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2))
    >>> value, index = ops.MaxPool3DWithArgmax(ksize=[2, 2, 2], strides=[2, 2, 2], pads=[0, 0, 0])(x)
    >>> value.item(), index.item()
    (7.0, 7)
MaxPoolWithArgmaxV2
    >>> value, index = ops.MaxPoolWithArgmaxV2(kernel_size=2, strides=2)(Tensor([[[[1.0, 5.0], [2.0, 3.0]]]]))
    >>> value.item(), index.item()
    (5.0, 1)
MaxUnpool2D
    >>> print(ops.MaxUnpool2D(ksize=2, strides=2)(Tensor([[[[5.0]]]]), Tensor([[[[3]]]])))
    [[[[0. 0.]
       [0. 5.]]]]
MaxUnpool3D
    >>> out = ops.MaxUnpool3D(ksize=2, strides=2)(Tensor([[[[[5.0]]]]]), Tensor([[[[[7]]]]]))
    >>> print(out.flatten())
    [0. 0. 0. 0. 0. 0. 0. 5.]
Mish
    >>> print(ops.Mish()(Tensor([-1.0, 2.0])))
    [-0.30340147  1.9439589 ]
MultilabelMarginLoss
    >>> loss, hit = ops.MultilabelMarginLoss()(Tensor([[0.3, 0.6, 0.1]]), Tensor([[1, -1, 0]], ms.int32))
    >>> print(loss)
    0.39999998
MultiMarginLoss
    >>> print(ops.MultiMarginLoss()(Tensor([[0.1, 0.8, 0.3]]), Tensor([1]), None))
    0.26666665
NLLLoss
    >>> loss, weight = ops.NLLLoss()(Tensor([[-0.5, -1.0], [-2.0, -0.1]]), Tensor([0, 1], ms.int32), ops.ones(2))
    >>> print(loss, weight)
    0.3 2.0
NMSWithMask
    >>> boxes = Tensor([[0.0, 0.0, 4.0, 4.0, 0.9], [0.0, 0.0, 4.0, 3.9, 0.8]])
    >>> print(ops.NMSWithMask(0.5)(boxes)[2])
    [ True False]
PagedAttention
    >>> query, cache = ops.ones((1, 8), ms.float16), ops.ones((2, 4, 1, 8), ms.float16)
    >>> blocks, length = Tensor([[0, 1]], ms.int32), Tensor([5], ms.int32)
    >>> ops.PagedAttention(1, 0.35, 1)(query, cache, cache, blocks, length).shape
    (1, 8)
PagedAttentionMask
    >>> query, cache = ops.ones((1, 8), ms.float16), ops.ones((2, 4, 1, 8), ms.float16)
    >>> blocks, length = Tensor([[0, 1]], ms.int32), Tensor([5], ms.int32)
    >>> mask = ops.zeros((1, 1, 1, 8), ms.float16)
    >>> ops.PagedAttentionMask(1, 0.35, 1)(query, cache, cache, blocks, length, None, None, mask).shape
    (1, 8)
PromptFlashAttention
    >>> x = ops.ones((1, 4, 16), ms.float16)
    >>> ops.PromptFlashAttention(2)(x, x, x).shape
    (1, 4, 16)
ReLU6
    >>> print(ops.ReLU6()(Tensor([-1.0, 3.0, 8.0])))
    [0. 3. 6.]
ReLUV2: max(x, 0), and which elements are positive.
    >>> out, positive = ops.ReLUV2()(Tensor([[[[-1.0, 2.0]]]]))
    >>> print(out, positive)
    [[[[0. 2.]]]] [[[[0 1]]]]
ResizeBicubic
    >>> ops.ResizeBicubic()(ops.ones((1, 1, 2, 2)), Tensor([4, 4], ms.int32)).shape
    (1, 1, 4, 4)
ResizeBilinear
    >>> ops.ResizeBilinear((1, 3), align_corners=True)(Tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.5, 2.0]]]]
ResizeBilinearV2
    >>> print(ops.ResizeBilinearV2(align_corners=True)(Tensor([[[[1.0, 2.0]]]]), (1, 3)))
    [[[[1.  1.5 2. ]]]]
ResizeLinear1D
    >>> print(ops.ResizeLinear1D()(Tensor([[[1.0, 2.0]]]), Tensor([3], ms.int32)))
    [[[1.  1.5 2. ]]]
ResizeNearestNeighbor
    >>> ops.ResizeNearestNeighbor((1, 4))(Tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.0, 2.0, 2.0]]]]
ResizeNearestNeighborV2
    >>> print(ops.ResizeNearestNeighborV2()(Tensor([[[[1.0, 2.0]]]]), (1, 4)))
    [[[[1. 1. 2. 2.]]]]
ROIAlign
    >>> features = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
    >>> print(ops.ROIAlign(1, 1, 1.0)(features, Tensor([[0.0, 0.0, 0.0, 2.0, 2.0]])))
    [[[[7.5]]]]
SeLU
    >>> print(ops.SeLU()(Tensor([-1.0, 2.0])))
    [-1.1113307  2.101402 ]
SiLU
    >>> print(ops.SiLU()(Tensor([-1.0, 2.0])))
    [-0.2689414  1.761594 ]
SmoothL1Loss
    >>> print(ops.SmoothL1Loss()(Tensor([1.5, 5.0]), Tensor([1.0, 1.0])))
    [0.125 3.5  ]
SoftMarginLoss
    >>> print(ops.SoftMarginLoss("none")(Tensor([0.0, 2.0]), Tensor([1.0, -1.0])))
    [0.6931472 2.126928 ]
SoftShrink
    >>> print(ops.SoftShrink()(Tensor([-2.0, 0.3, 1.0])))
    [-1.5  0.   0.5]
Softsign
    >>> print(ops.Softsign()(Tensor([-1.0, 3.0])))
    [-0.5   0.75]
SparseSoftmaxCrossEntropyWithLogits
    >>> print(ops.SparseSoftmaxCrossEntropyWithLogits()(Tensor([[0.0, 0.0]]), Tensor([1], ms.int32)))
    0.6931472
Threshold
    >>> print(ops.Threshold(1.0, -1.0)(Tensor([0.1, 5.0])))
    [-1.  5.]
TripletMarginLoss
    >>> a, near, far = Tensor([[0.0, 0.0]]), Tensor([[0.0, 1.0]]), Tensor([[3.0, 4.0]])
    >>> print(ops.TripletMarginLoss()(a, near, far, Tensor(5.0)).round(decimals=4))
    1.0
UpsampleNearest3D: Nearest-neighbour resizing of volumes (N, C, D, H, W) to a size, or by factors.
    >>> ops.UpsampleNearest3D()(ops.ones((1, 1, 2, 2, 2)), [4, 4, 4], None).shape
    (1, 1, 4, 4, 4)
UpsampleTrilinear3D
    >>> ops.UpsampleTrilinear3D()(ops.ones((1, 1, 2, 2, 2)), [4, 4, 4], None).shape
    (1, 1, 4, 4, 4)
"""
