"""Connectionist temporal classification (Graves et al. 2006).

The likelihood of a labelling is a sum over all its alignments, computed by the forward recursion over the labelling
with blanks between its symbols; forward and backward variables together give the gradient. All in logarithms.

Second derivatives are Hessian-vector products: the derivative of the gradient along a direction (`prims/complex_step.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base.optional import require
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.arrays import Reshape
from mindspore.prims.broadcasting import ReduceSum
from mindspore.prims.complex_step import along
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

_NEVER = -1e30  # the logarithm of 0
_FAR = 1e35  # beyond all logarithms, `_NEVER` among them


def _log_add(xp: Namespace, a: Array, b: Array) -> Any:
    """log(eᵃ + eᵇ), of complex numbers too."""
    if a.dtype.kind != "c":
        return xp.logaddexp(a, b)
    top = np.maximum(a.real, b.real)
    return top + np.log(np.exp(a - top) + np.exp(b - top))


def _log_sum(a: Array, b: Array, c: Array) -> Any:
    """log(eᵃ + eᵇ + eᶜ) on NumPy, of complex numbers too: three exponentials, which it has vector code for, and one logarithm.

    The largest is taken out; where that is infinite a number does as well, and the result is infinite again.
    """
    top = np.maximum(np.maximum(a.real, b.real), c.real)
    top = np.minimum(np.maximum(top, -_FAR), _FAR)
    total = np.exp(a - top)
    total += np.exp(b - top)
    total += np.exp(c - top)
    return np.log(total, out=total) + top


class CTC(Primitive):
    """`prim(log_probs (T, N, C), targets (N, S), input_lengths, target_lengths)`: losses (N,) and their gradient."""

    def __init__(self, blank: int = 0):
        super().__init__(blank=int(blank))

    def infer(
        self,
        log_probs: AbstractTensor,
        targets: AbstractTensor,
        input_lengths: AbstractTensor,
        target_lengths: AbstractTensor,
    ) -> Any:
        checks.tensor("CTCLoss", "log_probs", log_probs)
        checks.tensor("CTCLoss", "targets", targets)
        checks.dtype_in("CTCLoss", "log_probs", log_probs.dtype, "f")
        if log_probs.ndim != 3 or targets.ndim != 2 or targets.shape[0] != log_probs.shape[1]:
            raise ValueError(
                "For 'CTCLoss', 'log_probs' must have the shape (T, N, C) and 'targets' (N, S), but got "
                f"{log_probs.shape} and {targets.shape}."
            )
        for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
            if isinstance(lengths, AbstractTensor) and lengths.shape not in ((), log_probs.shape[1:2]):
                raise ValueError(f"For 'CTCLoss', '{name}' must have the shape {log_probs.shape[1:2]}, but got {lengths.shape}.")
        if not 0 <= self.blank < log_probs.shape[2]:
            raise ValueError(
                f"For 'CTCLoss', 'blank' must be in range [0, {log_probs.shape[2]}), but got {self.blank}."
            )
        return AbstractTuple((AbstractTensor(log_probs.dtype, log_probs.shape[1:2]), log_probs))

    def eval(self, xp: Namespace, log_probs: Array, targets: Array, input_lengths: Any, target_lengths: Any) -> Any:
        wide = widen(log_probs)
        lengths = xp.asarray(input_lengths), xp.asarray(target_lengths)
        if xp is np:
            losses, grad = self._both_ways(wide, targets, *lengths)
        else:
            jax = require("jax", "xla", "CTC on XLA")
            losses, pull = jax.vjp(lambda p: self._likelihood(xp, p, targets, *lengths), wide)
            grad = pull(xp.ones_like(losses))[0]
        return narrow(losses, log_probs), narrow(grad, log_probs)

    def _layout(self, xp: Namespace, targets: Array, target_lengths: Array) -> tuple[Any, Any, Any]:
        """Symbols with blanks between (N, 2S+1), whether the step from two places before is allowed, which are real."""
        n, s = targets.shape
        symbols = xp.stack([xp.full_like(targets, self.blank), targets], axis=-1).reshape(n, 2 * s)
        symbols = xp.concatenate([symbols, xp.full((n, 1), self.blank, targets.dtype)], axis=1).astype(np.int64)
        two_before = xp.concatenate([xp.full((n, 2), self.blank, np.int64), symbols[:, :-2]], axis=1)
        jump = (symbols != self.blank) & (symbols != two_before)
        real = xp.arange(2 * s + 1)[None, :] <= 2 * xp.reshape(target_lengths, (-1, 1))
        return xp.where(real, symbols, self.blank), jump, real

    def _emissions(self, xp: Namespace, log_probs: Array, symbols: Array) -> Any:
        """The log-probability of each place's symbol at each time: (T, N, 2S+1)."""
        index = xp.broadcast_to(symbols[None], (log_probs.shape[0], *symbols.shape))
        return xp.take_along_axis(log_probs, index, axis=2)

    @staticmethod
    def _advance(xp: Namespace, alpha: Array, emission: Array, jump: Array) -> Any:
        pad = xp.full((alpha.shape[0], 2), _NEVER, alpha.dtype)
        shifted = xp.concatenate([pad, alpha], axis=1)
        one, two = shifted[:, 1:-1], xp.where(jump, shifted[:, :-2], _NEVER)
        return _log_add(xp, _log_add(xp, alpha, one), two) + emission

    def _start(self, xp: Namespace, emission: Array, real: Array) -> Any:
        first = (xp.arange(emission.shape[1]) < 2)[None, :] & real
        return xp.where(first, emission, _NEVER)

    @staticmethod
    def _final(xp: Namespace, alpha: Array, target_lengths: Array) -> Any:
        """The log-likelihood: the labelling may end with its last symbol or the blank after it."""
        end = 2 * xp.reshape(target_lengths, (-1, 1)).astype(np.int64)
        last = xp.take_along_axis(alpha, end, axis=1)[:, 0]
        before = xp.take_along_axis(alpha, xp.maximum(end - 1, 0), axis=1)[:, 0]
        return _log_add(xp, last, xp.where(end[:, 0] > 0, before, _NEVER))

    def _likelihood(
        self, xp: Namespace, log_probs: Array, targets: Any, input_lengths: Any, target_lengths: Any
    ) -> Any:
        lax = require("jax.lax", "xla", "CTC on XLA")
        symbols, jump, real = self._layout(xp, targets, target_lengths)
        emissions = self._emissions(xp, log_probs, symbols)

        alphas = self._scanned(xp, lax, emissions, jump, real, input_lengths)
        return self._cap(xp, -self._final(xp, alphas[-1], target_lengths))

    def _scanned(self, xp: Namespace, lax: Any, emissions: Array, jump: Array, real: Array, input_lengths: Array) -> Any:
        """`_forward` on XLA."""

        def step(alpha: Any, inputs: Any) -> tuple:
            t, emission = inputs
            inside = xp.reshape(t < input_lengths, (-1, 1))
            alpha = xp.where(inside, self._advance(xp, alpha, emission, jump), alpha)
            return alpha, alpha

        first = self._start(xp, emissions[0], real)
        _, rest = lax.scan(step, first, (xp.arange(1, len(emissions)), emissions[1:]))
        return xp.concatenate([first[None], rest])

    @staticmethod
    def _cap(xp: Namespace, losses: Array) -> Any:
        return xp.where(losses > -_NEVER / 2, xp.inf, losses)

    def _both_ways(
        self, log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array
    ) -> tuple[Any, Any]:
        """Losses and gradient from forward and backward variables."""
        symbols, jump, real = self._layout(np, targets, target_lengths)
        emissions = self._emissions(np, log_probs, symbols)
        steps = len(emissions)
        with np.errstate(divide="ignore", over="ignore"):
            alphas = self._forward(emissions, jump, real, input_lengths)
            betas = self._backward(emissions, jump, input_lengths, target_lengths)
        likelihood = self._final(np, alphas[-1], target_lengths)
        share = alphas + betas - likelihood[None, :, None]
        bounded = np.clip(share.real, -700, 80)
        posterior = np.exp(bounded + 1j * share.imag if share.dtype.kind == "c" else bounded)
        posterior *= (np.arange(steps)[:, None] < input_lengths[None, :])[:, :, None]
        grad = self._per_symbol(posterior, symbols, log_probs)
        losses = self._cap(np, -likelihood)
        return losses, np.where(np.isfinite(losses)[None, :, None], grad, 0)

    def _per_symbol(self, posterior: Array, symbols: Array, log_probs: Array) -> Any:
        """Minus the sum over the places of each symbol: every other place is a blank, and at each of the others an example has
        one symbol, so no element is added to twice at once."""
        grad = np.zeros_like(log_probs)
        grad[:, :, self.blank] -= posterior[:, :, ::2].sum(axis=2)
        examples = np.arange(len(symbols))
        for place in range(1, symbols.shape[1], 2):
            grad[:, examples, symbols[:, place]] -= posterior[:, :, place]
        return grad

    def _forward(self, emissions: Array, jump: Array, real: Array, input_lengths: Array) -> Any:
        """log of the probability of all that leads to a place, its own emission included: (T, N, 2S+1)."""
        steps, batch, places = emissions.shape
        padded = np.full((steps, batch, places + 2), _NEVER, emissions.dtype)  # two places more before the first
        alphas = padded[:, :, 2:]
        alphas[0] = self._start(np, emissions[0], real)
        shortest = min(steps, *input_lengths.reshape(-1))
        for t in range(1, steps):
            before = padded[t - 1]
            two_before = np.where(jump, before[:, :-2], _NEVER)  # type: ignore[call-overload]  # of NumPy's own
            alpha = _log_sum(alphas[t - 1], before[:, 1:-1], two_before) + emissions[t]
            alphas[t] = alpha
            if t >= shortest:
                alphas[t] = np.where((t < input_lengths).reshape(-1, 1), alpha, alphas[t - 1])
        return alphas

    def _backward(self, emissions: Array, jump: Array, input_lengths: Array, target_lengths: Array) -> Any:
        """log of the probability of all that follows a place, its own emission left out: (T, N, 2S+1)."""
        steps, batch, places = emissions.shape
        ends = 2 * target_lengths.reshape(-1, 1)
        at = np.arange(places)[None, :]
        final = np.where((at == ends) | (at == ends - 1), 0.0, _NEVER)
        betas = np.full_like(emissions, _NEVER)
        beta = np.full((batch, places), _NEVER, emissions.dtype)
        ahead = np.full((batch, places + 2), _NEVER, emissions.dtype)  # two places more after the last
        jumps = np.concatenate([jump, np.zeros((batch, 2), bool)], axis=1)[:, 2:]
        shortest = min(steps, *input_lengths.reshape(-1))
        for t in range(steps - 1, -1, -1):
            if t + 1 < steps:
                ahead[:, :-2] = beta + emissions[t + 1]
                beta = _log_sum(ahead[:, :-2], ahead[:, 1:-1], np.where(jumps, ahead[:, 2:], _NEVER))
            if t + 1 >= shortest:
                beta = np.where((t == input_lengths - 1).reshape(-1, 1), final.astype(beta.dtype), beta)
            betas[t] = beta
        return betas

    def bprop(
        self,
        log_probs: TensorBase,
        targets: TensorBase,
        input_lengths: TensorBase,
        target_lengths: TensorBase,
        out: Any,
        dout: Any,
    ) -> tuple:
        grad = CTCGrad(self.blank)(log_probs, targets, input_lengths, target_lengths, out[1], dout[0])
        return grad, None, None, None


class CTCAlignments(CTC):
    """The forward variables (N, T, 2S+1): the logarithm of the probability of all that leads to a place at a time.

    Places are the symbols of the labelling with blanks around them; what cannot be, or lies beyond the lengths, is -inf.
    No gradient flows through them.
    """

    def infer(self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any) -> Any:
        super().infer(log_probs, targets, input_lengths, target_lengths)
        steps, batch, _ = log_probs.shape
        return AbstractTensor(log_probs.dtype, (batch, steps, 2 * targets.shape[1] + 1))

    def eval(self, xp: Namespace, log_probs: Array, targets: Array, input_lengths: Any, target_lengths: Any) -> Any:
        lengths = xp.reshape(xp.asarray(input_lengths), (-1,))
        symbols, jump, real = self._layout(xp, targets, xp.asarray(target_lengths))
        emissions = self._emissions(xp, widen(log_probs), symbols)
        if xp is np:
            with np.errstate(divide="ignore", over="ignore"):
                alphas = self._forward(emissions, jump, real, lengths)
        else:
            alphas = self._scanned(xp, require("jax.lax", "xla", "CTC on XLA"), emissions, jump, real, lengths)
        inside = (xp.arange(len(emissions))[:, None] < lengths)[:, :, None] & real[None]
        return narrow(xp.where(inside & (alphas > _NEVER / 2), alphas, -xp.inf).transpose(1, 0, 2), log_probs)

    bprop = None  # type: ignore[assignment]


class CTCGrad(Primitive):
    """The gradient of the losses (already in `slope`) times the losses' own gradient."""

    def __init__(self, blank: int = 0):
        super().__init__(blank=int(blank))

    def infer(
        self,
        log_probs: AbstractTensor,
        targets: AbstractTensor,
        input_lengths: AbstractTensor,
        target_lengths: AbstractTensor,
        slope: AbstractTensor,
        dloss: AbstractTensor,
    ) -> Any:
        return log_probs

    def eval(
        self,
        xp: Namespace,
        log_probs: Array,
        targets: Array,
        input_lengths: Array,
        target_lengths: Array,
        slope: Array,
        dloss: Array,
    ) -> Any:
        return slope * xp.reshape(dloss, (1, -1, 1))

    def bprop(
        self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, slope: Any, dloss: Any,
        out: Any, dout: Any,
    ) -> tuple:  # fmt: skip
        direction = dout * Reshape()(dloss, (1, -1, 1))
        curvature = CTCCurvature(self.blank)(log_probs, targets, input_lengths, target_lengths, direction)
        return curvature, None, None, None, None, ReduceSum()(dout * slope, (0, 2))


class CTCCurvature(Primitive):
    """The Hessian of the losses by the log-probabilities, times a direction."""

    def __init__(self, blank: int = 0):
        super().__init__(blank=int(blank))

    def infer(self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, direction: Any) -> Any:
        return log_probs

    def eval(
        self, xp: Namespace, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, direction: Any
    ) -> Any:
        ctc = CTC(self.blank)
        slope = lambda p: ctc.eval(xp, p, targets, input_lengths, target_lengths)[1]
        return narrow(along(xp, slope, (log_probs,), (direction,)), log_probs)

    def bprop(self, *args: Any) -> tuple:
        raise RuntimeError("Third derivatives of CTC are not available.")
