"""Every operation as a class, under its official name.

Core primitives (`mindspore.prims`) and compositions stand side by side: users need not know which is which. Each
primitive is a name in a list here; `tests/structure/test_operations.py` says which are missing.
"""

# ruff: noqa: F401, I001 - names are re-exported

from __future__ import annotations

from typing import TYPE_CHECKING

from mindspore.ops.operations.array_ops import *  # noqa: F403
from mindspore.ops.operations.comm_ops import *  # noqa: F403
from mindspore.ops.operations.control_ops import *  # noqa: F403
from mindspore.ops.operations.image_ops import *  # noqa: F403
from mindspore.ops.operations.label_ops import *  # noqa: F403
from mindspore.ops.operations.linalg_ops import *  # noqa: F403
from mindspore.ops.operations.math_ops import *  # noqa: F403
from mindspore.ops.operations.nn_ops import *  # noqa: F403
from mindspore.ops.operations.random_ops import *  # noqa: F403
from mindspore.ops.operations.set_ops import *  # noqa: F403
from mindspore.ops.operations.sparse_ops import *  # noqa: F403
from mindspore.ops.operations.window_ops import *  # noqa: F403
from mindspore.prims.activation import (
    CeLU, Elu, FastGeLU, GeLU, GeLUErf, HShrink, HSigmoid, HSwish, Hardtanh, LeakyReLU, LogSigmoid, LogSoftmax, Mish,
    PReLU, ReLU6, SeLU, SiLU, SoftShrink, Softmax, SoftplusBeta, Softsign, Threshold,
)  # fmt: skip
from mindspore.prims.adafactor import FusedAdaFactor, FusedAdaFactorWithGlobalNorm
from mindspore.prims.arrays import (
    Concat, ExpandDims, Fill, GetItem, Pad, ScalarToTensor, SetItem, Squeeze, Stack, TensorToScalar, Transpose,
)  # fmt: skip
from mindspore.prims.assertion import Assert
from mindspore.prims.attention import Attention, AttentionGrad
from mindspore.prims.attention_dropout import DropoutAttention, DropoutAttentionGrad
from mindspore.prims.cached_attention import CachedAttention
from mindspore.prims.collective import (
    After,
    AllGather, AllReduce, Barrier, Broadcast, Collective, CollectiveGather, CollectiveScatter, Reduce, ReduceScatter,
)  # fmt: skip
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.conv import (
    Conv1D, Conv1DBackpropFilter, Conv1DBackpropInput, Conv2D, Conv2DBackpropFilter, Conv2DBackpropInput,
    Conv2DTranspose, Conv3D, Conv3DBackpropFilter, Conv3DBackpropInput,
)  # fmt: skip
from mindspore.prims.creation import Range, Tril, Triu
from mindspore.prims.ctc import CTC, CTCAlignments, CTCCurvature, CTCGrad
from mindspore.prims.data_queue import GetNext
from mindspore.prims.debug import Print, TensorDump
from mindspore.prims.decompositions import (
    Cholesky, Eig, LogMatrixDeterminant, Lu, MatrixDeterminant, MatrixExp, MatrixInverse, MatrixSolve, Qr, Svd,
    TriangularSolve,
)  # fmt: skip
from mindspore.prims.dropout import DropoutMask, DropoutWithKey
from mindspore.prims.elementwise import (
    ACos, Abs, Acosh, Add, Asin, Asinh, Atan, Atan2, Atanh, Bitcast, BitwiseAnd, BitwiseOr, BitwiseXor, Cast, Ceil,
    Complex, Conj, Cos, Cosh, Div, DivNoNan, Elementwise, Equal, Erf, Erfc, Erfinv, Exp, Expm1, Floor, FloorDiv,
    FloorMod, Gcd, Greater, GreaterEqual, Hypot, Imag, Inv, Invert, IsFinite, IsInf, IsNan, Lcm, LeftShift, Less,
    LessEqual, Log, Log10, Log1p, Log2, LogicalAnd, LogicalNot, LogicalOr, LogicalXor, Maximum, Minimum, Mod, Mul,
    Neg, NextAfter, NotEqual, OnesLike, Pow, ReLU, Real, RealDiv, Reciprocal, ReluGrad, RightShift, Rint, Rsqrt,
    Select, Sigmoid, Sign, SignBit, Sin, Sinh, Softplus, Sqrt, Square, SquaredDifference, StopGradient, Sub, Tan,
    Tanh, Trunc, TruncateDiv, TruncateMod, Xdivy, Xlogy, ZerosLike,
)  # fmt: skip
from mindspore.prims.exchange import (
    AllGatherV, AlltoAll, AlltoAllV, AlltoAllVC, BatchISendIRecv, NeighborExchange, Receive, ReduceScatterV, Send, Shift,
)  # fmt: skip
from mindspore.prims.fake_quantise import FakeQuantise
from mindspore.prims.fft import FourierTransform, InverseRealFourierTransform, RealFourierTransform
from mindspore.prims.float8 import Float8Gradient, Float8Rounding
from mindspore.prims.gather_scatter import (
    Gather, GatherD, GatherNd, TensorScatterAdd, TensorScatterDiv, TensorScatterElements, TensorScatterMax,
    TensorScatterMin, TensorScatterMul, TensorScatterSub, TensorScatterUpdate,
)  # fmt: skip
from mindspore.prims.grouped import GroupedMatMulRows, GroupedOuter
from mindspore.prims.hooks import CustomGradient, GradientHook, HookBackward
from mindspore.prims.linalg import BatchMatMul, MatMul
from mindspore.prims.loss import (
    SigmoidCrossEntropyWithLogits, SmoothL1, SoftmaxCrossEntropyWithLogits, SparseCrossEntropy,
)  # fmt: skip
from mindspore.prims.measured import Measured
from mindspore.prims.mesh import Laid, MeshIndex, MicroBatch, Part
from mindspore.prims.norm import BatchNorm, LRN, LayerNorm, LayerNormBackward, RmsNorm, RmsNormBackward, Standardize
from mindspore.prims.packed_product import PackedProduct
from mindspore.prims.pooling import (
    AvgPool, AvgPool3D, AvgPoolGrad, AvgPoolNd, MaxPool, MaxPool3D, MaxPoolGrad, MaxPoolGradGrad, MaxPoolNd,
    MaxPoolWithArgmax, MaxPoolWithIndices,
)  # fmt: skip
from mindspore.prims.quantised import QuantiseLinear, QuantisedConv2D, QuantisedMatMul, TableLookup
from mindspore.prims.primitive import Primitive, PrimitiveWithCheck, PrimitiveWithInfer
from mindspore.prims.random import (
    FoldIn, NextKey, RandomBits, RandomGammaSample, RandomInteger, RandomNormal, RandomPermutation,
    RandomPoissonSample, RandomUniform,
)  # fmt: skip
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reduction, Reshape  # fmt: skip
from mindspore.prims.reduction import ReduceAll, ReduceAny, ReduceMax, ReduceMean, ReduceMin, ReduceProd  # fmt: skip
from mindspore.prims.requirements import Note, Violation
from mindspore.prims.statistics import BadCount, ScalarVector, TensorStatistics
from mindspore.prims.rnn import (
    RecurrentSequence, RecurrentSequenceCurvature, RecurrentSequenceGrad, RecurrentSequenceThird,
)  # fmt: skip
from mindspore.prims.row_choice import RowChoice
from mindspore.prims.row_reductions import RowNorm, RowPeak
from mindspore.prims.scan import CumProd, CumSum, Cummax, Cummin, CumulativeLogsumexp
from mindspore.prims.sorting import Argmax, Argmin, SearchSorted, Sort, TopK
from mindspore.prims.sparse_update import (
    FusedSparseAdam, FusedSparseFtrl, FusedSparseLazyAdam, FusedSparseProximalAdagrad, SparseApplyAdadelta,
    SparseApplyAdagrad, SparseApplyAdagradDA, SparseApplyAdagradV2, SparseApplyCenteredRMSProp, SparseApplyFtrl,
    SparseApplyFtrlV2, SparseApplyMomentum, SparseApplyProximalAdagrad, SparseApplyProximalGradientDescent, SparseApplyRMSProp,
    SparseUpdate,
)  # fmt: skip
from mindspore.prims.special_functions import (
    BesselI0, BesselI0e, BesselI1, BesselI1e, BesselJ0, BesselJ1, BesselK0, BesselK0e, BesselK1, BesselK1e, BesselY0,
    BesselY1, Betainc, Dawsn, Digamma, Igamma, Igammac, Lgamma, Polygamma, Spence, Zeta,
)  # fmt: skip
from mindspore.prims.stack import StackInit, StackPush, StackRead
from mindspore.prims.state import Assign, AssignAdd, AssignSub
from mindspore.prims.structural import Later, MakeTuple, Replaced, TupleGetItem
from mindspore.prims.summary import HistogramSummary, ImageSummary, ScalarSummary, TensorSummary
from mindspore.prims.suppression import Suppress
from mindspore.prims.taken_rows import TakenRows
from mindspore.prims.update import (
    Adam, AdamNoUpdateParam, AdamWeightDecay, ApplyAdaMax, ApplyAdadelta, ApplyAdagrad, ApplyAdagradDA,
    ApplyAdagradV2, ApplyAdamWithAmsgrad, ApplyAdamWithAmsgradV2, ApplyAddSign, ApplyCenteredRMSProp, ApplyFtrl,
    ApplyGradientDescent, ApplyKerasMomentum, ApplyMomentum, ApplyPowerSign, ApplyProximalAdagrad,
    ApplyProximalGradientDescent, ApplyRMSProp, FusedCastAdamWeightDecay, FusedWeightScaleApplyMomentum, LARSUpdate,
    SGD, Update,
)  # fmt: skip

if not TYPE_CHECKING:  # mypy takes a list that it cannot read for an empty one
    __all__ = [n for n in globals() if n[0].isupper() and n != "TYPE_CHECKING"]
