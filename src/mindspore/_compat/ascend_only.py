"""Operations that only Ascend processors, or a parameter server, carry out. They exist, and say so when they are called."""

from __future__ import annotations

from typing import Any

from mindspore.ops.composition import Composition
from mindspore.prims.primitive import Primitive

_ASCEND = "an Ascend processor, whose kernel it is"
_SYMMETRIC = "Ascend processors that share memory; use mint.distributed"
_TRANSPORT = "the communication library of official MindSpore; use mint.distributed"
_MATRIX = "an Ascend kernel; use ops.matmul"

_NEEDS = {
    "CudnnGRU": "a GPU kernel of official MindSpore; use nn.GRU",
    "DSDMatmul": "an Ascend kernel of block-sparse attention; use ops.matmul",
    "MatmulDDS": "an Ascend kernel of block-sparse attention; use ops.matmul",
    "MaxPoolWithMask": "an Ascend kernel, whose mask is a string of bits; use ops.MaxPoolWithArgmaxV2",
    "MaxPoolGradWithMask": "an Ascend kernel, whose mask is a string of bits; use MaxPoolGradWithArgmaxV2",
    "NPUClearFloatStatusV2": "an Ascend processor, whose overflow flag it resets; use ops.isfinite",
    "NPUGetFloatStatusV2": "an Ascend processor, whose overflow flag it reads; use ops.isfinite",
    "Pull": "a parameter server, which there is none of",
    "Push": "a parameter server, which there is none of",
    "TopKRouter": "an Ascend kernel; use ops.topk",
    "TopPRouter": "an Ascend kernel; use ops.sort and ops.cumsum",
    **dict.fromkeys(("DropoutDoMaskExt", "DropoutGenMaskExt", "FuncDropoutExt"),
                    "an Ascend kernel, whose mask is a string of bits; use ops.dropout"),
    **dict.fromkeys(("LSTMGrad", "LSTMGradData", "LSTMGradWeight", "DynamicRNNGrad"),
                    "the workspace of a kernel of official MindSpore; use nn.LSTM and grad"),
    **dict.fromkeys(("GRUV2Grad", "GruGradData", "GruGradWeight", "DynamicGRUV2Grad"),
                    "the workspace of a kernel of official MindSpore; use nn.GRU and grad"),
    **dict.fromkeys(("BasicLSTMCellCStateGrad", "BasicLSTMCellInputGrad", "BasicLSTMCellWeightGrad"),
                    "an Ascend kernel; use nn.LSTMCell and grad"),
    **dict.fromkeys(("BNTrainingReduceGrad", "BNTrainingUpdateGrad", "SyncBatchNormGrad"),
                    "an Ascend kernel; use ops.BatchNorm and grad"),
    **dict.fromkeys(("AllGatherMatmul", "MatmulReduceScatter", "MatmulAllReduceAddRmsNorm"),
                    "a fused kernel of Ascend processors; use mint.distributed and ops.matmul"),
    **dict.fromkeys(("QuantMatmul", "QuantLinearSparse", "GroupedMatmulV2", "TransposeBatchMatmulTranspose", "InplaceMatmulAdd",
                     "InplaceGroupedMatmulAdd", "Gmm", "GmmV2", "GmmBackward", "GmmV2Backward", "GmmBackwardFusion",
                     "GmmV2BackwardFusion"), _MATRIX),
    **dict.fromkeys(("GetMem", "PutMem", "PutMemSignal", "SignalOp", "SignalWaitUntil", "CreateSymmetricMemory", "Free",
                     "UpdateToRemote", "UpdateToDevice"), _SYMMETRIC),
    **dict.fromkeys(("ApplyCamePart1", "ApplyCamePart2", "ApplyCamePart3", "ApplyCamePart4", "AvgPoolGradVm", "DequantSwigluQuant",
                     "DynamicBlockQuant", "DynamicNTK", "FormatCast", "GenerateEodMaskV2", "InsertGemV2InBackward", "KvScaleCache",
                     "LightningIndexerGrad", "Mla", "MlaPreprocess", "NsaCompressGrad", "NsaSelectAttentionGrad", "QuantV2",
                     "SilentCheckV2", "SilentCheckV3", "SparseFlashAttentionGrad", "SpeedFusionAttentionGrad", "IFMR", "ActsULQ",
                     "ActsULQInputGrad", "ActULQClampMinGrad", "ActULQClampMaxGrad", "WtsARQ", "CusBatchMatMul", "CusCholeskyTrsm",
                     "CusFusedAbsMax1", "CusImg2Col", "CusMatMulCubeDenseLeft", "CusMatMulCubeFraczRightMul", "CusMatMulCube",
                     "CusMatrixCombine", "CusTranspose02314", "CusMatMulCubeDenseRight", "CusMatMulCubeFraczLeftCast", "NewIm2Col",
                     "LoadIm2Col", "UpdateThorGradient", "CholeskyTrsm", "DetTriangle", "ProdForceSeA", "TransShape"), _ASCEND),
    **dict.fromkeys(("DistCommAllGather", "DistCommAllGatherIntoTensor", "DistCommAllGatherIntoTensorUneven", "DistCommAllReduce",
                     "DistCommAllToAllV", "DistCommAllToAllVC", "DistCommAllToAllVSingle", "DistCommBarrier", "DistCommBatchIsendIrecv",
                     "DistCommBroadcast", "DistCommGather", "DistCommGatherIntoTensor", "DistCommIrecv", "DistCommIsend",
                     "DistCommReduce", "DistCommReduceScatter", "DistCommReduceScatterTensor", "DistCommReduceScatterTensorUneven",
                     "DistCommScatter", "DistCommScatterTensor", "InnerCommAllGather", "InnerCommAllReduce", "InnerCommAllToAllV",
                     "InnerCommIrecv", "InnerCommIsend", "InnerCommReduceScatter", "NeighborExchangeV2Grad"), _TRANSPORT),
}  # fmt: skip


def _make(name: str, needs: str) -> Any:
    def init(self: Composition, *args: Any, **kwargs: Any) -> None:
        Primitive.__init__(self, name)

    def compose(self: Composition, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"'{name}' needs {needs}.")

    members = {"__init__": init, "compose": compose, "__doc__": f"Needs {needs}.", "__module__": __name__}
    return type(name, (Composition,), members)


def existing(needs: dict[str, str]) -> dict[str, Any]:
    """A class for each name, which can be made with any arguments and says what it needs when it is called."""
    return {name: _make(name, words) for name, words in needs.items()}


globals().update(existing(_NEEDS))
__all__ = list(_NEEDS)
