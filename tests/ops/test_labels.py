"""Labels, sequences of them, and keys of tables."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

RNG = np.random.default_rng(0)


def test_labels_and_sequences():
    found = ops.ConfusionMatrix(3)(Tensor([0, 1, 1, 2]), Tensor([0, 2, 1, 2])).asnumpy()
    assert found.tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 1]]
    words = ["kitten", "sitting"]
    parts = []
    for word in words:
        parts += [Tensor([[0, i] for i in range(len(word))]), Tensor([ord(c) for c in word]), Tensor([1, len(word)])]
    assert ops.EditDistance(False)(*parts).asnumpy().tolist() == [3.0]
    np.testing.assert_allclose(ops.EditDistance()(*parts).asnumpy(), [3 / 7], rtol=1e-6)
    state = Tensor(np.array([[[1, 2, 3, 1, 2]]]))
    banned = ops.NoRepeatNGram(3)(state, Tensor(np.zeros((1, 1, 5), np.float32))).asnumpy()[0, 0]
    assert (banned < -1e30).tolist() == [False, False, False, True, False]
    splits, values = ops.RaggedRange(ms.int64)(Tensor([2, 5, 8]), Tensor([3, 5, 12]), Tensor([1, 1, 2]))
    assert splits.asnumpy().tolist() == [0, 1, 1, 3] and values.asnumpy().tolist() == [2, 8, 10]
    assert ops.CompareAndBitpack()(Tensor(np.arange(1.0, 9)), 6.0).asnumpy().tolist() == [3]


def test_keys_and_hits():
    rows, ids, weights = ops.ComputeAccidentalHits(2)(Tensor([[1, 2], [0, 4], [3, 3]]), Tensor([0, 1, 2, 3, 4]))
    assert rows.tolist() == [0, 0, 1, 1, 2, 2] and ids.tolist() == [1, 2, 0, 4, 3, 3]
    assert (weights.asnumpy() == np.finfo(np.float32).min).all()
    kept, places = ops.SubAndFilter()(Tensor([1, 3, 5, 8, 9, 16], ms.int32), 10, 5)
    assert kept.tolist() == [0, 3, 4] and places.tolist() == [2, 3, 4]
    assert ops.MapUniform()(Tensor(np.arange(8)), 4, 2).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    shift = lambda x, bounds: ops.PadAndShift()(x, bounds, 1)
    for call in (shift, ms.jit(shift)):
        assert call(Tensor([9, 13, -1]), Tensor([0, 3, 5, 6])).tolist() == [-1, -1, -1, 9, 13, -1]
    with pytest.raises(ValueError, match="shift_idx"):
        ops.PadAndShift()(Tensor([9]), Tensor([0, 1]), 1)
    with pytest.raises(ValueError, match="true_classes"):
        ops.ComputeAccidentalHits(3)(Tensor([[1, 2]]), Tensor([0]))


def test_transducer_gradient_is_returned():
    acts = RNG.normal(size=(2, 3, 3, 4)).astype(np.float32)
    rest = (Tensor([[1, 2], [3, 3]], ms.int32), Tensor([3, 2], ms.int32), Tensor([2, 1], ms.int32))
    _, grads = ops.RNNTLoss()(Tensor(acts), *rest)
    wanted = ms.grad(lambda a: ops.RNNTLoss()(a, *rest)[0].sum())(Tensor(acts))
    np.testing.assert_allclose(grads.asnumpy(), wanted.asnumpy(), rtol=1e-5, atol=1e-6)
    assert np.abs(grads.asnumpy()[1, 2]).max() == 0  # beyond the second input's length
    for bad in (lambda: ops.RNNTLoss(9)(Tensor(acts), *rest), lambda: ops.RNNTLoss()(Tensor(acts), rest[1], *rest[1:])):
        with pytest.raises(ValueError, match="RNNTLoss"):
            bad()


def test_no_warnings_escape(recwarn):
    scores = Tensor(RNG.integers(0, 9, (3, 2, 4)).astype(np.uint8))
    assert ops.ctc_greedy_decoder(scores, Tensor([3, 3], ms.int32))[3].dtype == ms.uint8
    with pytest.raises(TypeError, match="real elements"):
        ops.histogram_fixed_width(Tensor([1 + 2j, 3j]), Tensor([0.0, 5.0]), 3)
    assert not recwarn.list
