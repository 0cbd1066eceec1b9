"""Classes of official MindSpore's inner steps that nothing here is made of.

Packages make an instance of every official class when they are imported. These exist for that, and say what to use when they are called.
"""

from __future__ import annotations

from mindspore._compat.ascend_only import existing

_GRADIENT = "the gradient rules of official MindSpore, of which it is a step; use grad of the operation itself"
_STEP = "the compiler of official MindSpore, of which it is a step; use the function of mindspore.ops or mindspore.mint of that name"

_GRADIENTS = (
    "AddLayerNormGrad", "BatchNormElemtGrad", "BatchNormGradExt", "BatchNormGradGrad", "BatchNormReduceGrad",
    "CellBackwardHook", "CheckBprop", "ConfusionMulGrad", "DSDGrad", "DeformableOffsetsGrad",
    "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput", "DumpGradient",
    "DynamicBroadcastGradientArgs", "EmbeddingLookupCommGrad", "FractionalAvgPoolGrad", "FractionalMaxPoolGrad",
    "IgammaGradA", "InplaceStopGradient", "InstanceNormV2Grad", "LayerNormGradGrad", "LstsqV2Grad", "LuUnpackGrad",
    "MapTensorGetGrad", "MatmulDDSGrad", "MaxPool3DGradGrad", "MedianGrad", "MoeTokenPermuteGrad", "MoeTokenUnpermuteGrad",
    "MultiScaleDeformableAttnGrad", "PSROIPoolingGrad", "PadV3Grad", "ParallelResizeBilinearGrad", "PsROIPoolingGrad",
    "RandomGammaGrad", "RefToEmbed", "RepeatInterleaveGrad", "ResizeV2Grad", "ScaleAndTranslateGrad",
    "SparseFillEmptyRowsGrad", "SparseSliceGrad", "TraceV2Grad", "WKVGrad",
)  # fmt: skip
_STEPS = (
    "AShardIdentity", "AddLayerNormV2", "ApplyAdamW", "AsStrided", "Centralization", "Conv1DPadding", "Conv2DPadding",
    "Conv3DPadding", "Convolution", "ConvolutionStr", "CopyToDevice", "CopyToHost", "Correlate", "DCTN", "DecodeImage",
    "DtypeToEnum", "DynamicResizeNearestNeighbor", "DynamicStitch", "FFN", "FFTOrtho", "FFTShapeCopy", "Format",
    "FuncMaxPool2D", "GeSwitch", "GetData", "GetitemTensorIndexInfo", "IDCTN", "IRFFTDouble", "InnerIndex",
    "InnerInplaceIndexPut", "InnerMoeTokenUnpermute", "InnerNonZero", "InnerUnique", "InplaceAddr", "InplaceDivMods",
    "InplaceElu", "InplaceHardtanh", "InplaceScatterSrcReduce", "InplaceScatterValueReduce", "InplaceSiLU",
    "InplaceThreshold", "InplaceToDevice", "IsInstance", "IsParameter", "IsSubClass", "KMeansCentroids", "Lamb",
    "LayerNormV3", "MapCacheIdx", "MultiScaleDeformableAttn", "NLLLoss2d", "NewEmpty", "NonZeroWithValue",
    "NonZeroWithValueShape", "NormalFloatFloat", "NormalFloatTensor", "NormalTensorFloat", "ParallelResizeBilinear",
    "PartitionedCall", "PsROIPooling", "PyExecute", "Reshard", "SetData", "SetitemTensorIndexInfo", "SliceGetItem",
    "StackDestroy", "StackPop", "StringToEnum", "SyncBatchNorm", "TensorCopySlices", "TileSize", "ToDevice", "TopTypeof",
    "Unique2", "ViewDtype",
)  # fmt: skip

_MADE = existing({**dict.fromkeys(_GRADIENTS, _GRADIENT), **dict.fromkeys(_STEPS, _STEP)})
globals().update(_MADE)
__all__ = list(_MADE)
