"""Classes of operations on labels, classes and tokens: losses and distances of sequences, n-grams, sampled classes, keys."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ops import transducer_loss
from mindspore.ops.arguments import cast, concrete, require_rank, require_tensors, static_ints
from mindspore.ops.composition import REQUIRED, Typed, composition, of_tensors
from mindspore.ops.joining import cat
from mindspore.prims import checks
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Fill
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.gather_scatter import TensorScatterAdd
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor
    from mindspore.prims.primitive import Primitive


# -- labels and sequences -------------------------------------------------------------------------------------------------
def _confusion(self: Tensor, labels: Tensor, predictions: Any, weights: Any = None) -> Any:
    size, dtype = self.num_classes, mstype.to_dtype(self.dtype)
    place = cast(labels, mstype.int64) * size + cast(predictions, mstype.int64)
    counts = from_array(np.zeros(size * size, dtype.np))
    ones = from_array(np.ones(labels.shape, dtype.np)) if weights is None else cast(weights, dtype)
    return Reshape()(TensorScatterAdd()(counts, Reshape()(place, (-1, 1)), ones), (size, size))


ConfusionMatrix = composition(
    "ConfusionMatrix", _confusion, """How often each label was taken for each.

    Examples:
        >>> print(ops.ConfusionMatrix(2)(Tensor([0, 1, 1], ms.int32), Tensor([0, 1, 0], ms.int32)))
        [[1 0]
         [1 1]]
    """, num_classes=REQUIRED, dtype="int32",
)  # fmt: skip


def _levenshtein(a: list, b: list) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def _edit_distance(
    self: Any,
    hyp_indices: Any,
    hyp_values: Any,
    hyp_shape: Any,
    truth_indices: Any,
    truth_values: Any,
    truth_shape: Any,
) -> Any:
    op = "EditDistance"
    shapes = [static_ints(op, "shape", s) for s in (hyp_shape, truth_shape)]
    out_shape = tuple(max(a, b) for a, b in zip(*(s[:-1] for s in shapes)))
    sequences: list[dict] = [{}, {}]
    for found, indices, values in zip(sequences, (hyp_indices, truth_indices), (hyp_values, truth_values)):
        for place, value in sorted(zip(map(tuple, concrete(op, indices).tolist()), concrete(op, values).tolist())):
            found.setdefault(place[:-1], []).append(value)
    out = np.zeros(out_shape, np.float32)
    for place in np.ndindex(*out_shape):
        hyp, truth = (found.get(place, []) for found in sequences)
        distance = float(_levenshtein(hyp, truth))
        if self.normalize:
            distance = distance / len(truth) if truth else (math.inf if hyp else 0.0)
        out[place] = distance
    return from_array(out)


EditDistance = composition(
    "EditDistance", _edit_distance, """The Levenshtein distance of sparse sequences.

    Examples:
        >>> a, b = Tensor([[0, 0, 0], [0, 0, 1]]), Tensor([[0, 0, 0], [0, 0, 1]])
        >>> shape = Tensor([1, 1, 2])
        >>> print(ops.EditDistance(normalize=False)(a, Tensor([1, 2]), shape, b, Tensor([1, 7]), shape))
        [[1.]]
    """, normalize=Typed(bool, True)
)


def _no_repeat(self: Any, state_seq: Any, log_probs: Any) -> Any:
    """Words that would repeat an n-gram of their sequence get the lowest number."""
    states, out = concrete("NoRepeatNGram", state_seq), concrete("NoRepeatNGram", log_probs).copy()
    n = self.ngram_size
    lowest = np.finfo(out.dtype).min
    for place in np.ndindex(*states.shape[:-1]):
        words = states[place].tolist()
        tail = words[len(words) - n + 1 :]
        for i in range(len(words) - n + 1):
            if words[i : i + n - 1] == tail:
                out[(*place, words[i + n - 1])] = lowest
    return from_array(out)


NoRepeatNGram = composition("NoRepeatNGram", _no_repeat, """Log-probabilities without repeated n-grams.

    Examples:
        >>> said, scores = Tensor([[[1, 2, 1]]], ms.int32), ops.zeros((1, 1, 4))
        >>> print(ops.NoRepeatNGram(ngram_size=2)(said, scores))
        [[[ 0.0000000e+00  0.0000000e+00 -3.4028235e+38  0.0000000e+00]]]
    """, ngram_size=Typed(int, 1))


def _ragged_range(self: Any, starts: Tensor, limits: Any, deltas: Any) -> tuple:
    rows = [
        np.arange(*t)
        for t in zip(*(np.atleast_1d(concrete("RaggedRange", v)).tolist() for v in (starts, limits, deltas)))
    ]
    splits = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    values = np.concatenate(rows) if rows else np.zeros(0)
    return from_array(splits.astype(mstype.to_dtype(self.Tsplits).np)), from_array(values.astype(starts.dtype.np))


RaggedRange = composition(
    "RaggedRange", _ragged_range, """Ranges one behind the other, and where each starts.

    Examples:
        >>> start, limit, step = (Tensor(n, ms.int32) for n in ([0, 5], [2, 8], [1, 1]))
        >>> splits, value = ops.RaggedRange(ms.int32)(start, limit, step)
        >>> print(splits, value)
        [0 2 5] [0 1 5 6 7]
    """, Tsplits=REQUIRED
)


def _bitpack(self: Any, x: Tensor, threshold: Any) -> Any:
    """Eight comparisons x > threshold per byte, the first in the highest bit."""
    bits = cast(ew.Greater()(x, threshold), mstype.int32)
    grouped = Reshape()(bits, (*x.shape[:-1], x.shape[-1] // 8, 8))
    return cast(ReduceSum()(grouped * from_array(2 ** np.arange(7, -1, -1).astype(np.int32)), -1), mstype.uint8)


CompareAndBitpack = composition("CompareAndBitpack", _bitpack, """Comparisons packed into bytes.

    Examples:
        >>> print(ops.CompareAndBitpack()(Tensor([1.0, 5.0, 1.0, 5.0, 5.0, 1.0, 1.0, 5.0]), Tensor(2.0)))
        [89]
    """)


# -- losses and classes ---------------------------------------------------------------------------------------------------
def _rnnt_loss(self: Primitive, acts: Tensor, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor) -> tuple:
    op = "RNNTLoss"
    require_tensors(op, acts=acts, labels=labels, input_lengths=input_lengths, label_lengths=label_lengths)
    require_rank(op, "acts", acts, 4, 4)
    batch, _, places, classes = acts.shape
    if labels.shape != (batch, places - 1):
        raise ValueError(f"For '{op}', 'labels' must have the shape {(batch, places - 1)}, but got {labels.shape}.")
    if not 0 <= self.blank_label < classes:
        raise ValueError(f"For '{op}', 'blank_label' must be from 0 to {classes - 1}, but got {self.blank_label}.")
    return transducer_loss.loss_and_gradient(acts, labels, input_lengths, label_lengths, self.blank_label)


RNNTLoss = composition(
    "RNNTLoss",
    _rnnt_loss,
    """The loss of sequence transducers (Graves 2012) and its gradient by the activations.

    Examples:
        >>> acts, labels = ops.zeros((1, 2, 2, 4)), Tensor([[1]], ms.int32)
        >>> cost, grads = ops.RNNTLoss()(acts, labels, Tensor([2], ms.int32), Tensor([1], ms.int32))
        >>> print(cost.round(decimals=4), grads.shape)
        [3.4657] (1, 2, 2, 4)
    """,
    blank_label=0,
)


def _accidental_hits(self: Any, true_classes: Any, sampled_candidates: Any) -> tuple:
    op = "ComputeAccidentalHits"
    require_tensors(op, true_classes=true_classes, sampled_candidates=sampled_candidates)
    true, sampled = concrete(op, true_classes), concrete(op, sampled_candidates)
    if true.ndim != 2 or true.shape[1] != self.num_true:
        raise ValueError(
            f"For '{op}', 'true_classes' must have the shape (batch, {self.num_true}), but got {true.shape}."
        )
    rows, _, ids = np.nonzero(true[:, :, None] == sampled)
    weights = np.full(len(rows), np.finfo(np.float32).min, np.float32)
    return from_array(rows.astype(np.int32)), from_array(ids.astype(np.int64)), from_array(weights)


ComputeAccidentalHits = composition(
    "ComputeAccidentalHits",
    _accidental_hits,
    """Where sampled classes are among the true ones: the rows, the places among the samples, and the lowest float.

    Examples:
        >>> rows, ids, _ = ops.ComputeAccidentalHits(1)(Tensor([[5], [3]]), Tensor([3, 4, 5]))
        >>> rows.tolist(), ids.tolist()
        ([0, 1], [2, 0])
    """,
    num_true=1,
)


# -- keys of tables spread over servers ------------------------------------------------------------------------------------
def _sub_and_filter(self: Any, input_x: Tensor, max_num: int, offset: int) -> tuple:
    moved = concrete("SubAndFilter", input_x) - offset
    kept = np.flatnonzero((moved >= 0) & (moved < max_num))
    return from_array(moved[kept]), from_array(kept.astype(moved.dtype))


SubAndFilter = composition(
    "SubAndFilter",
    _sub_and_filter,
    """x - offset where that is in [0, max_num), and its places.

    Examples:
        >>> kept, places = ops.SubAndFilter()(Tensor([1, 5, 8]), 4, 4)
        >>> kept.tolist(), places.tolist()
        ([1], [1])
    """,
)
MapUniform = composition(
    "MapUniform", lambda self, input, per_group_size, group_num: ew.FloorMod()(input, group_num) * per_group_size
    + ew.FloorDiv()(input, group_num), """Keys dealt out to groups: key % groups * size + key // groups.

    Examples:
        >>> ops.MapUniform()(Tensor([0, 1, 2, 3]), 2, 2).tolist()
        [0, 2, 1, 3]
    """,
)  # fmt: skip



def _pad_and_shift(self: Any, input_x: Tensor, cum_sum_arr: Tensor, shift_idx: int) -> Tensor:
    bounds = concrete("PadAndShift", cum_sum_arr)
    if not 0 <= checks.integer("PadAndShift", "shift_idx", shift_idx) < len(bounds) - 1:
        raise ValueError(f"For 'PadAndShift', 'shift_idx' must be in range [0, {len(bounds) - 1}), but got {shift_idx}.")
    start, end, whole = (int(bounds[place]) for place in (shift_idx, shift_idx + 1, -1))
    if not 0 <= start <= end <= whole or end - start > input_x.size:
        raise ValueError(f"For 'PadAndShift', 'cum_sum_arr' must grow by what 'input_x' has at most, but got {bounds.tolist()}.")
    before, after = (Fill()(input_x.dtype, (size,), -1) for size in (start, whole - end))
    return cat((before, input_x[: end - start], after))


PadAndShift = composition(
    "PadAndShift",
    of_tensors("input_x cum_sum_arr", _pad_and_shift),
    """A tensor of -1, of the size that `cum_sum_arr` ends with, into which the beginning of `input_x` is copied between the
    bounds `cum_sum_arr[shift_idx]` and `cum_sum_arr[shift_idx + 1]`.

    Examples:
        >>> ops.PadAndShift()(Tensor([9, 13, -1, -1]), Tensor([0, 3, 5]), 1).tolist()
        [-1, -1, -1, 9, 13]
    """,
)

__all__ = [
    "CompareAndBitpack", "ComputeAccidentalHits", "ConfusionMatrix", "EditDistance", "MapUniform", "NoRepeatNGram",
    "PadAndShift", "RNNTLoss", "RaggedRange", "SubAndFilter",
]  # fmt: skip
