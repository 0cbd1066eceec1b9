"""Every public operation has a row in the table, or is named here with the place that tests it or the reason why not."""

import ast
import functools
import inspect
import re
from pathlib import Path

import pytest
from rows import ROWS
from table import name_of, resolve

from mindspore import mint, ops

TESTS = Path(__file__).parent.parent

#: operations with state, side effects or functions for arguments: the file that tests them
ELSEWHERE = {
    "optable/test_update_rules.py": """
        Adam AdamNoUpdateParam AdamWeightDecay ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdagradV2
        ApplyAdamWithAmsgrad ApplyAdamWithAmsgradV2 ApplyAddSign ApplyCenteredRMSProp ApplyFtrl ApplyGradientDescent
        ApplyKerasMomentum ApplyMomentum ApplyPowerSign ApplyProximalAdagrad ApplyProximalGradientDescent ApplyRMSProp
        FusedCastAdamWeightDecay FusedSparseAdam FusedSparseFtrl FusedSparseLazyAdam FusedSparseProximalAdagrad
        FusedWeightScaleApplyMomentum SGD SparseApplyAdadelta SparseApplyAdagrad SparseApplyAdagradDA SparseApplyAdagradV2
        SparseApplyFtrl SparseApplyProximalAdagrad SparseApplyRMSProp SparseApplyCenteredRMSProp SparseApplyFtrlV2""",
    "optable/test_samplers.py": """
        Bernoulli Cauchy Dropout Dropout2D Dropout3D DropoutDoMask DropoutGenMask Gamma LogNormalReverse
        LogUniformCandidateSampler Multinomial MultinomialWithReplacement NonDeterministicInts Poisson RandomCategorical
        RandomChoiceWithMask RandomGamma RandomPoisson RandomShuffle Randperm RandpermV2 StandardLaplace StandardNormal
        TruncatedNormal UniformCandidateSampler UniformInt UniformReal gumbel_softmax log_uniform_candidate_sampler
        multinomial_with_replacement rand_like randint_like randn_like random_categorical random_poisson
        standard_laplace
        standard_normal truncated_normal uniform_candidate_sampler normal_ uniform_ exponential_""",
    "compiler/test_tensor_hooks.py": "InsertGradientOf",
    "compiler/test_gradients.py": "GradOperation grad jacfwd jacrev jvp value_and_grad vjp vmap",
    "optable/test_tools.py": """
        ControlDepend DynamicGRUV2 DynamicRNN FloatStatus ForiLoop HookBackward HyperMap LARSUpdate LSTM Map Morph
        MultitypeFuncGraph NPUAllocFloatStatus NPUClearFloatStatus NPUGetFloatStatus Partial Print ResizeBicubic Scan
        UpdateState WhileLoop clamp_ constexpr core derivative dict_setitem dtype empty erfinv_ hastype inplace_sigmoid
        isconstant iter_converter jet linearize make_dict make_slice mixed_precision_cast ms_next partial put_ random_
        static_int tanh_ typeof zero_ zip_operation DType add_flags bernoulli_ control_depend
        Barrier BatchISendIRecv Receive Send print_""",
    "prims/test_decoding.py": "CachedAttention PackedProduct RowNorm RowPeak",
    "prims/test_row_kernels.py": "RowChoice TakenRows",
    "train/test_float8.py": "Float8Gradient Float8Rounding",
    "train/test_data_queue.py": "GetNext",
    "train/test_summary.py": "HistogramSummary ImageSummary ScalarSummary TensorSummary",
    "support/test_collectives.py": """
        AllGatherV AlltoAllV AlltoAllVC NeighborExchange ReduceScatterV""",
}
#: primitives that only the library itself applies; the operations made of them are in the table
INTERNAL = """
    AttentionGrad AvgPoolGrad CTCAlignments CTCCurvature CTCGrad DropoutAttention DropoutAttentionGrad Call Collective Cond
    CustomGradient DropoutMask DropoutWithKey Laid MeshIndex MicroBatch Note Part Replaced ScalarVector TensorStatistics BadCount Violation
    LayerNormBackward RmsNormBackward FakeQuantise QuantiseLinear QuantisedConv2D QuantisedMatMul TableLookup
    Elementwise Later PagedAttentionMask FoldIn FourierTransform GetItem GradientHook HostCall
    InverseRealFourierTransform MaxPoolGrad Measured
    MaxPoolGradGrad MoveTo NextKey RandomBits RandomGammaSample RandomInteger RandomNormal RandomPermutation
    RandomPoissonSample RandomUniform RealFourierTransform RecurrentSequence RecurrentSequenceCurvature
    RecurrentSequenceGrad RecurrentSequenceThird Reduction Reusing SelectView SetItem SparseUpdate StackInit StackPush
    StackRead Standardize Suppress
    TransposeExtView TransposeView TriangularSolve TupleGetItem Update While"""
#: not operations: base classes, types, and the registration of kernels for other hardware
TYPES = """
    AiCPURegOp AkgAscendRegOp AkgGpuRegOp CpuRegOp CustomRegOp DataType Primitive PrimitiveWithCheck PrimitiveWithInfer
    ReduceOp TBERegOp Tensor custom_info_register ms_kernel op_info_register prim_arg_register prim_attr_register"""
#: accessors of sparse tensors: one attribute each
ACCESSORS = r"(coo|csr|row)_tensor_get_\w+|coo2csr|csr2coo"


def public_operations():
    """What `ops` itself offers; `dir` also has what old programs look for there (`_compat`)."""
    names = [n for n in ops.__all__ if not n.startswith("_")]
    assert len(names) > 1300
    return [n for n in names if callable(getattr(ops, n)) and not inspect.ismodule(getattr(ops, n))]


@functools.cache
def used_in(file):
    """The names that the code of a test uses; what docstrings and comments mention does not count."""
    tree = ast.parse(file.read_text())
    told = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            found.update(re.findall(r"\w+", node.value))  # names of operations, or programs that use them
    return found


def used_in_other_tests():
    """By the tests in tests/ops: operations with state, with structure, or random ones have tests of their own."""
    return set().union(*map(used_in, sorted((TESTS / "ops").glob("test_*.py"))))


def same_function(name):
    """The name of the function that a class of operations applies: "moe_token_permute" of "MoeTokenPermute"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def test_every_operation_has_a_row():
    covered = {name_of(s).removeprefix("ms.").removeprefix("ops.") for row in ROWS for s in row.spellings}
    same = {id(getattr(ops, n)) for n in covered if hasattr(ops, n)}
    listed = set(" ".join([*ELSEWHERE.values(), INTERNAL, TYPES]).split()) | used_in_other_tests()
    without = [
        n
        for n in public_operations()
        if n not in covered
        and n not in listed
        and same_function(n) not in covered | listed
        and id(getattr(ops, n)) not in same
        and not re.fullmatch(ACCESSORS, n)
    ]
    assert not without, f"add rows to the table for: {' '.join(without)}"


#: functions of mint that draw random numbers or keep their state (tests/mint), and helpers its modules import
MINT_OTHERS = """
    addr_ batch_norm_gather_stats_with_counts
    bernoulli get_rng_state initial_seed manual_seed multinomial normal rand rand_like randint randint_like randn
    randn_like randperm seed set_rng_state
    added_along as_tensor cast next_key require_tensor require_tensors scatter_along static_ints to_float unique_sorted
    update item"""


@pytest.mark.parametrize("module", [mint, mint.nn.functional, mint.linalg], ids=["mint", "functional", "linalg"])
def test_every_function_of_mint_has_a_row(module):
    targets = [resolve(name_of(s)) for row in ROWS for s in row.spellings]
    covered = {id(t) for target in targets for t in (target, inspect.unwrap(target))}
    without = []
    for name in dir(module):
        target = getattr(module, name)
        ours = inspect.isfunction(target) and target.__module__.startswith("mindspore") and not name.startswith("_")
        ours = ours and not target.__module__.endswith("._common")  # helpers
        if ours and name not in MINT_OTHERS.split() and not {id(target), id(inspect.unwrap(target))} & covered:
            without.append(name)
    assert not without, f"add rows to the table for: {' '.join(without)}"


@pytest.mark.parametrize("file", ELSEWHERE)
def test_operations_tested_elsewhere_are_used_there(file):
    missing = [n for n in ELSEWHERE[file].split() if hasattr(ops, n) and n not in used_in(TESTS / file)]
    assert not missing, f"{file} does not test {' '.join(missing)}"


def test_the_lists_name_existing_operations():
    stale = [n for n in (INTERNAL + TYPES).split() if not hasattr(ops, n)]
    assert not stale, f"there is no {' '.join(stale)}"


def test_every_row_is_spelt_right():
    wrong = []
    for row in ROWS:
        for spelling in row.spellings:
            try:
                row.function(spelling)
            except Exception as error:
                wrong.append(f"{spelling}: {error}")
    assert not wrong, "\n".join(wrong)
