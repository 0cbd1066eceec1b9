"""The loss of sequence transducers (Graves 2012).

A path through the grid of T inputs and U labels moves on by a blank, or up by a label. α(t, u), the log-probability of all ways
to (t, u), is computed for all places with the same t + u at once; the loss is -log of all ways to the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.gradient import grad
from mindspore.ops.arguments import at_least_single, cast
from mindspore.ops.gather_scatter import gather_elements
from mindspore.ops.joining import concat, stack
from mindspore.prims import elementwise as ew
from mindspore.prims.activation import LogSoftmax
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reshape
from mindspore.prims.gather_scatter import Gather
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

_NEVER = -1e30  # the logarithm of a probability of 0, where sums are taken


def costs(acts: Tensor, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int) -> Any:
    """The losses (B,) of activations (B, T, U, V) before softmax."""
    batch, times, places, _ = acts.shape
    log_p = LogSoftmax(-1)(at_least_single(acts))
    stay = log_p[..., blank]
    emit = stay[:, :, :0]
    if places > 1:
        chosen = Reshape()(cast(labels, mstype.int64), (batch, 1, places - 1, 1))
        emit = gather_elements(log_p[:, :, :-1], 3, BroadcastTo((batch, times, places - 1, 1))(chosen))[..., 0]
    emit = concat((emit, from_array(np.full((batch, times, 1), _NEVER, np.float32))), 2)
    stay, emit = _by_diagonal(stay), _by_diagonal(emit)
    ways = from_array(
        np.concatenate((np.zeros((batch, 1)), np.full((batch, places - 1), _NEVER)), 1).astype(np.float32)
    )
    diagonals = [ways]
    never = from_array(np.full((batch, 1), _NEVER, np.float32))
    for d in range(1, times + places - 1):
        moved = ways + stay[:, d - 1]
        raised = concat((never, (ways + emit[:, d - 1])[:, :-1]), 1)
        ways = _log_add(moved, raised)
        diagonals.append(ways)
    total = stack(diagonals, 1) + stay  # to each place and, by a blank, out of it
    lengths, sizes = (cast(v, mstype.int64) for v in (input_lengths, label_lengths))
    end = (lengths - 1 + sizes) * places + sizes
    flat = Reshape()(total, (batch, -1))
    return -gather_elements(flat, 1, Reshape()(end, (batch, 1)))[:, 0]


def _by_diagonal(x: Tensor) -> Any:
    """(B, T, U) to (B, T + U - 1, U): row d holds the places with t + u = d."""
    batch, times, places = x.shape
    t = np.arange(times + places - 1)[:, None] - np.arange(places)
    real = (t >= 0) & (t < times)
    index = np.where(real, t * places + np.arange(places), 0)
    picked = Gather()(Reshape()(x, (batch, times * places)), from_array(index), 1)
    return ew.Select()(BroadcastTo(picked.shape)(from_array(real)), picked, ew.zeros_like(picked) + _NEVER)


def _log_add(a: Tensor, b: Tensor) -> Any:
    top = ew.Maximum()(a, b)
    return top + ew.Log()(ew.Exp()(a - top) + ew.Exp()(b - top))


def loss_and_gradient(
    acts: Tensor, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int
) -> tuple[Any, Any]:
    """The losses (B,), and the gradient of their sum by the activations."""

    def total(x: Tensor) -> Any:
        return ReduceSum()(costs(x, labels, input_lengths, label_lengths, blank), ())

    losses = costs(acts, labels, input_lengths, label_lengths, blank)
    return cast(losses, acts.dtype), grad(total)(acts)
