"""Connectionist temporal classification (Graves et al. 2006): the loss and the greedy decoder."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, require_rank, require_tensors
from mindspore.ops.loss import check_reduction
from mindspore.prims import checks
from mindspore.prims import elementwise as _ew
from mindspore.prims.arrays import Concat, ExpandDims, GetItem, Stack
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.ctc import CTC, CTCAlignments
from mindspore.prims.reduction import ReduceMean
from mindspore.prims.requirements import demand_between, demand_labels
from mindspore.prims.setting_types import setting_types
from mindspore.prims.values import from_array

__all__ = ["ctc_greedy_decoder", "ctc_loss"]


@setting_types(zero_infinity=bool)
def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """CTC loss of log-probabilities (T, N, C) or (T, C), and the logarithms (N, T, 2S+1) of the probabilities of all that leads
    to a symbol of the target, or a blank beside one, at a time.

    `targets` has the shape (N, S), (S,) without a batch, or is the concatenation of all targets.

    Examples:
        >>> log_probs = ops.log_softmax(ops.zeros((3, 1, 4)))
        >>> target, lengths = Tensor([[1]], ms.int32), (Tensor([3], ms.int32), Tensor([1], ms.int32))
        >>> loss, _ = ops.ctc_loss(log_probs, target, *lengths, reduction="none")
        >>> print(loss)
        [2.3671236]
    """
    given = _batched(log_probs, targets, input_lengths, target_lengths)
    return ctc_losses(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity), CTCAlignments(blank)(*given)


def ctc_losses(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int, reduction: str, zero_infinity: bool
) -> Tensor:
    """The first result of `ctc_loss`, for those who do not need the other."""
    checks.integer("ctc_loss", "blank", blank)
    check_reduction("ctc_loss", reduction)
    given = _batched(log_probs, targets, input_lengths, target_lengths)
    losses, _ = CTC(blank)(*given)
    if zero_infinity:
        losses = _ew.Select()(_ew.IsInf()(losses), _ew.zeros_like(losses), losses)
    if reduction == "mean":
        return ReduceMean()(losses / _ew.Maximum()(cast(given[3], losses.dtype), 1.0), ())
    if reduction == "sum":
        return ReduceSum()(losses, ())
    return losses if log_probs.ndim == 3 else Reshape()(losses, ())


def _batched(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> tuple:
    """Checked arguments of the primitives: (T, N, C), (N, S) and lengths (N,)."""
    require_rank("ctc_loss", "log_probs", log_probs, 2, 3)
    require_tensors("ctc_loss", targets=targets, input_lengths=input_lengths, target_lengths=target_lengths)
    x = log_probs if log_probs.ndim == 3 else Reshape()(log_probs, (log_probs.shape[0], 1, log_probs.shape[1]))
    lengths = [_lengths(v, x.shape[1]) for v in (input_lengths, target_lengths)]
    labels = targets if targets.ndim == 2 else _rows(targets, target_lengths, x.shape[1])
    check_labelling("ctc_loss", x.shape, labels, *lengths)
    return x, labels, *lengths


def check_labelling(
    op: str, shape: tuple[int, ...], labels: Tensor, input_lengths: Tensor, target_lengths: Tensor
) -> None:
    """What a labelling of log-probabilities of the shape (T, N, C) may hold; behind its end anything."""
    demand_between(op, "input_lengths", input_lengths, 0, shape[0])
    demand_between(op, "target_lengths", target_lengths, 0, labels.shape[1])
    column = from_array(np.arange(labels.shape[1]))
    inside = _ew.Less()(column, ExpandDims()(target_lengths, -1))
    demand_labels(op, _ew.Select()(inside, labels, _ew.zeros_like(labels)), shape[2])


def _lengths(value: Any, batch: int) -> Any:
    if isinstance(value, (int, tuple, list)):
        value = Tensor(np.asarray(value, np.int64).reshape(-1))
    return Reshape()(cast(value, mstype.int64), (batch,))


def _rows(targets: Tensor, lengths: Any, batch: int) -> Any:
    """Concatenated targets as one padded row per sample; the lengths must be known."""
    if batch == 1:
        return Reshape()(targets, (1, -1))
    sizes = lengths.asnumpy().reshape(-1) if isinstance(lengths, Tensor) else np.asarray(lengths).reshape(-1)
    longest, start, rows = int(sizes.max()), 0, []
    for size in map(int, sizes):
        part = GetItem((slice(start, start + size),))(targets)
        filler = from_array(np.zeros(longest - size, targets.dtype.np))
        rows.append(Concat(0)((part, filler)))
        start += size
    return Stack(0)(rows)


@setting_types(merge_repeated=bool)
def ctc_greedy_decoder(inputs: Tensor, sequence_length: Any, merge_repeated: bool = True) -> tuple:
    """The most probable symbol at each time, repetitions merged and blanks (the last class) removed.

    Returns the sparse indices, values and shape of the labellings, and their negative log-probabilities.

    Examples:
        >>> scores = Tensor([[[0.1, 0.6, 0.3]], [[0.7, 0.2, 0.1]], [[0.7, 0.2, 0.1]]])
        >>> where, symbols, shape, score = ops.ctc_greedy_decoder(scores, Tensor([3], ms.int32))
        >>> print(symbols)
        [1 0]
    """
    require_rank("ctc_greedy_decoder", "sequence_length", sequence_length, 1, 1)
    require_rank("ctc_greedy_decoder", "inputs", inputs, 3, 3)
    require_tensors("ctc_greedy_decoder", inputs=inputs, sequence_length=sequence_length)
    data = inputs.asnumpy()
    _, batch, classes = data.shape
    ends = np.asarray(sequence_length.asnumpy() if isinstance(sequence_length, Tensor) else sequence_length).reshape(-1)
    indices, symbols, longest = [], [], 0
    scores = np.zeros((batch, 1), data.dtype)
    for n in range(batch):
        best = data[: ends[n], n].argmax(-1)
        scores[n] = -data[: ends[n], n].max(-1).sum(keepdims=True)  # an array: unsigned numbers wrap around
        kept = [s for t, s in enumerate(best) if not (merge_repeated and t and s == best[t - 1]) and s != classes - 1]
        indices += [(n, i) for i in range(len(kept))]
        symbols += kept
        longest = max(longest, len(kept))
    table = np.asarray(indices, np.int64).reshape(-1, 2)
    shape = np.asarray([batch, longest], np.int64)
    return Tensor(table), Tensor(np.asarray(symbols, np.int64)), Tensor(shape), Tensor(scores)
