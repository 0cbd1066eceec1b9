"""Operations on sequences and hidden sizes, switches of the parser: official paths with behaviour behind them."""

from __future__ import annotations

import pytest
from mindspore._extends.parse import compile_config
from mindspore._extends.parse.standard_method import list_append, list_insert, ms_len

import mindspore as ms
from mindspore import Tensor, mutable, nn
from mindspore.ops.operations import _inner_ops as inner
from mindspore.ops.operations import _sequence_ops as seq

CASES = [
    (seq.SequenceAdd(), ((1, 2), (3,)), (1, 2, 3)),
    (seq.SequenceAddOffset(), ((1, 2), (3,)), (0, 2)),
    (seq.SequenceMul(), ((1, 2), 2), (1, 2, 1, 2)),
    (seq.SequenceMax(), ((1, 5, 2),), 5),
    (seq.SequenceMin(), ((3, 1, 2),), 1),
    (seq.SequenceCount(), ((1, 2, 1), 1), 2),
    (seq.SequenceIndex(), ((1, 2, 1), 2), 1),
    (seq.SequenceSlice(), ((1, 2, 3, 4), 0, 4, 2), (1, 3)),
    (seq.tuple_equal(), ((1, 2), (1, 2)), True),
    (seq.tuple_lt(), ((1, 2), (1, 2)), False),
    (seq.tuple_le(), ((1, 2), (1, 2)), True),
    (seq.tuple_greater_than(), ((2,), (1,)), True),
    (seq.tuple_greater_equal(), ((0,), (1,)), False),
]


class Apply(nn.Cell):
    def __init__(self, operation):
        super().__init__()
        self.operation = operation

    def construct(self, *args):
        return self.operation(*args)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize(("operation", "given", "wanted"), CASES, ids=[type(c[0]).__name__ for c in CASES])
def test_sequences(mode, operation, given, wanted):
    ms.set_context(mode=mode)
    assert Apply(operation)(*given) == wanted


def test_sequences_known_at_run_time():
    ms.set_context(mode=ms.GRAPH_MODE)
    assert Apply(seq.SequenceMul())(mutable((1, 2), True), mutable(2)) == (1, 2, 1, 2)
    assert Apply(seq.SequenceMax())(mutable((1, 5, 2), True)) == 5


def test_tensors_in_sequences():
    pair = (Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    assert seq.SequenceAddN()(pair).tolist() == [4.0, 6.0]
    assert seq.SequenceStack(1)(pair).tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert [t.tolist() for t in seq.SequenceUnstack(0)(Tensor([1.0, 2.0]))] == [1.0, 2.0]
    assert seq.TupleToTensor()((1, 2), ms.float32).tolist() == [1.0, 2.0]
    assert seq.TensorToTuple()(Tensor([1, 2])) == (1, 2) and seq.TensorToScalar()(Tensor([3])) == 3


def test_functions_behind_methods():
    assert (ms_len((1, 2)), list_append([1], 2), list_insert([1, 3], 1, 2)) == (2, [1, 2], [1, 2, 3])


def test_switches_are_settings():
    assert compile_config.CHECK_BPROP == "" and compile_config.PRE_LIFT == ""
    compile_config.CHECK_BPROP = 1
    assert ms.get_context("check_bprop") and compile_config.CHECK_BPROP == "1"
    compile_config.CHECK_BPROP = ""
    assert not ms.get_context("check_bprop")


def test_hidden_sizes():
    x = Tensor([[1.0, 2.0]])
    for operation in (inner.ConvertToDynamic(True), inner.GpuConvertToDynamicShape(), inner.ErrorOnDynamicShapeInput()):
        assert operation(x).tolist() == x.tolist()
    assert inner.DynamicBroadcastTo()(x, Tensor([2, 2])).tolist() == [[1.0, 2.0]] * 2
