"""Recurrent networks: one layer, in one direction, over a whole sequence, as one primitive.

`RecurrentSequence(mode, reverse)(gates, h0, c0, weight, bias, lengths)` takes the input's share of the gates, computed
for all steps by one matrix product beforehand, and runs the recurrence. Steps beyond a sample's length keep its state
and give zeros, so a reversed sequence starts at the sample's own end. The gradient is the recurrence run backwards over
what the forward pass saved; NumPy loops over time, XLA scans. Second derivatives are derivatives of both along a
direction (`prims/complex_step.py`).

Gate orders: LSTM i, f, g, o; GRU r, z, n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base.optional import require
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.complex_step import along, twice_along
from mindspore.prims.factors import WHOLE, Factors, Labels, is_tensor
from mindspore.prims.precision import narrow, product, widen
from mindspore.prims.primitive import ROWS, Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace

#: gates per hidden unit, and saved values per hidden unit
_GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}
_SAVED = {"lstm": 5, "gru": 4, "tanh": 1, "relu": 1}


def _sigmoid(xp: Namespace, x: Array) -> Any:
    if x.dtype.kind == "c":
        return (1 + np.tanh(x / 2)) / 2  # the same, and no overflow for complex numbers
    return 1 / (1 + xp.exp(-x))


def _relu(xp: Namespace, x: Array) -> Any:
    return x * (x.real > 0) if x.dtype.kind == "c" else xp.maximum(x, 0)


def _cell(xp: Namespace, mode: str, gx: Any, gh: Any, h: Any, c: Any) -> tuple[Any, Any, Any]:
    """One step: the new state (h, c), and what the backward pass needs."""
    if mode == "lstm":
        i, f, g, o = xp.split(gx + gh, 4, axis=-1)
        i, f, g, o = _sigmoid(xp, i), _sigmoid(xp, f), xp.tanh(g), _sigmoid(xp, o)
        new_c = f * c + i * g
        return o * xp.tanh(new_c), new_c, xp.concatenate([i, f, g, o, new_c], axis=-1)
    if mode == "gru":
        xr, xz, xn = xp.split(gx, 3, axis=-1)
        hr, hz, hn = xp.split(gh, 3, axis=-1)
        r, z = _sigmoid(xp, xr + hr), _sigmoid(xp, xz + hz)
        n = xp.tanh(xn + r * hn)
        return n + z * (h - n), c, xp.concatenate([r, z, n, hn], axis=-1)
    total = gx + gh
    new_h = xp.tanh(total) if mode == "tanh" else _relu(xp, total)
    return new_h, c, new_h


def _cell_grad(xp: Namespace, mode: str, saved: Array, h: Any, c: Any, dh: Any, dc: Any) -> tuple[Any, Any, Any, Any]:
    """Gradients by the input's and the state's share of the gates, by h directly, and by c."""
    if mode == "lstm":
        i, f, g, o, new_c = xp.split(saved, 5, axis=-1)
        squashed = xp.tanh(new_c)
        dc = dc + dh * o * (1 - squashed * squashed)
        parts = dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh * squashed * o * (1 - o)
        dgates = xp.concatenate(parts, axis=-1)
        return dgates, dgates, xp.zeros_like(h), dc * f
    if mode == "gru":
        r, z, n, hn = xp.split(saved, 4, axis=-1)
        dn = dh * (1 - z) * (1 - n * n)
        dr, dz = dn * hn * r * (1 - r), dh * (h - n) * z * (1 - z)
        return xp.concatenate([dr, dz, dn], -1), xp.concatenate([dr, dz, dn * r], -1), dh * z, dc
    slope = 1 - saved * saved if mode == "tanh" else (saved.real > 0).astype(saved.dtype)
    return dh * slope, dh * slope, xp.zeros_like(h), dc


class _Recurrent(Primitive):
    def __init__(self, mode: str, reverse: bool = False):
        if mode not in _GATES:
            raise ValueError(f"For '{type(self).__name__}', 'mode' must be one of {tuple(_GATES)}, but got {mode!r}.")
        super().__init__(mode=mode, reverse=bool(reverse))

    def times(self, steps: int) -> range:
        return range(steps - 1, -1, -1) if self.reverse else range(steps)

    def by_samples(self, *args: Any) -> tuple[Labels | None, ...]:
        """Labels of arguments, in the order of gates, h0, c0, weight, bias, lengths and what has a row for each sample of each step
        (or of none): samples may be cut, steps and hidden units not.
        """
        weights = (3, 4)
        named = {1: ("n",), 2: ("n", WHOLE), 3: (WHOLE, "n", WHOLE)}
        return tuple(
            ((WHOLE,) * len(a.shape) if i in weights else named[len(a.shape)]) if is_tensor(a) else None
            for i, a in enumerate(args)
        )

    def alive(self, xp: Namespace, lengths: Any, steps: int, dtype: Any) -> Any:
        """1 where a step lies within a sample's length: (steps, batch, 1); None if all do."""
        if lengths is None:
            return None
        return (xp.arange(steps)[:, None, None] < xp.reshape(lengths, (1, -1, 1))).astype(dtype)


class RecurrentSequence(_Recurrent):
    """Outputs (T, N, H), the last h and c (N, H), and saved values (T, N, *)."""

    native_from = ROWS

    def infer(
        self, gates: AbstractTensor, h0: AbstractTensor, c0: Any, weight: AbstractTensor, bias: Any, lengths: Any
    ) -> Any:
        for name, value in (("gates", gates), ("h0", h0), ("c0", c0), ("weight", weight)):
            checks.tensor(self.name, name, value)
        steps, batch, width = gates.shape
        hidden = h0.shape[1]
        if width != _GATES[self.mode] * hidden or weight.shape != (width, hidden) or h0.shape[0] != batch:
            raise ValueError(
                f"For '{self.name}', gates {gates.shape}, state {h0.shape} and weight {weight.shape} "
                f"do not fit together."
            )
        state = AbstractTensor(gates.dtype, (batch, hidden))
        saved = AbstractTensor(gates.dtype, (steps, batch, _SAVED[self.mode] * hidden))
        return AbstractTuple((AbstractTensor(gates.dtype, (steps, batch, hidden)), state, state, saved))

    def factors(self, *args: Any) -> Factors:
        inputs = self.by_samples(*args)
        steps, state = (WHOLE, "n", WHOLE), ("n", WHOLE)
        return Factors(inputs, (steps, state, state, steps))

    def eval(self, xp: Namespace, gates: Any, h0: Any, c0: Any, weight: Any, bias: Any, lengths: Any) -> Any:
        x, h, c, w = (widen(v) for v in (gates, h0, c0, weight))
        wide_bias = None if bias is None else widen(bias)
        with np.errstate(over="ignore"):
            if xp is np:
                out = self._loop(x, h, c, w, wide_bias, lengths)
            else:
                out = self._scan(xp, x, h, c, w, wide_bias, lengths)
        return tuple(narrow(o, gates) for o in out)

    def _loop(self, gates: Any, h: Any, c: Any, weight: Any, bias: Any, lengths: Any) -> tuple:
        steps, batch, _ = gates.shape
        hidden = h.shape[1]
        alive = self.alive(np, lengths, steps, gates.dtype)
        out = np.empty((steps, batch, hidden), gates.dtype)
        saved = np.empty((steps, batch, _SAVED[self.mode] * hidden), gates.dtype)
        transposed = np.ascontiguousarray(weight.T)
        for t in self.times(steps):
            gh = h @ transposed
            gh = gh if bias is None else gh + bias
            new_h, new_c, saved[t] = _cell(np, self.mode, gates[t], gh, h, c)
            if alive is None:
                h, c, out[t] = new_h, new_c, new_h
            else:
                m = alive[t]
                out[t] = new_h * m
                h, c = new_h * m + h * (1 - m), new_c * m + c * (1 - m)
        return out, np.array(h), np.array(c), saved

    def _scan(self, xp: Namespace, gates: Array, h0: Any, c0: Any, weight: Any, bias: Any, lengths: Any) -> tuple:
        lax = require("jax.lax", "xla", "recurrent networks on XLA")
        alive = self.alive(xp, lengths, gates.shape[0], gates.dtype)

        def step(state: Any, inputs: Any) -> tuple:
            h, c = state
            gx, m = inputs if alive is not None else (inputs, None)
            gh = product(xp, h, weight.T)
            gh = gh if bias is None else gh + bias
            new_h, new_c, saved = _cell(xp, self.mode, gx, gh, h, c)
            if m is None:
                return (new_h, new_c), (new_h, saved)
            return (new_h * m + h * (1 - m), new_c * m + c * (1 - m)), (new_h * m, saved)

        inputs = gates if alive is None else (gates, alive)
        (h, c), (out, saved) = lax.scan(step, (h0, c0), inputs, reverse=self.reverse)
        return out, h, c, saved

    def bprop(self, gates: Any, h0: Any, c0: Any, weight: Any, bias: Any, lengths: Any, out: Any, dout: Any) -> tuple:
        grads = RecurrentSequenceGrad(self.mode, self.reverse)(
            gates, h0, c0, weight, bias, lengths, out[0], out[3], dout[0], dout[1], dout[2]
        )
        return (*grads[:4], grads[4] if bias is not None else None, None)


class RecurrentSequenceGrad(_Recurrent):
    """The gradients of RecurrentSequence by gates, h0, c0, weight and bias."""

    def infer(self, gates: AbstractTensor, h0: Any, c0: Any, weight: AbstractTensor, bias: Any, *rest: Any) -> Any:
        width = AbstractTensor(gates.dtype, weight.shape[:1])
        return AbstractTuple((gates, h0, c0, weight, width))

    def factors(self, *args: Any) -> Factors:
        """Devices with other samples have further terms of the gradients of weights."""
        inputs = self.by_samples(*args)
        return Factors(inputs, (inputs[0], inputs[1], inputs[2], (WHOLE, WHOLE), (WHOLE,)))  # type: ignore[arg-type]

    def eval(
        self, xp: Namespace, gates: Any, h0: Any, c0: Any, weight: Any, bias: Any, lengths: Any, out: Any, saved: Any,
        dout: Any, dh: Any, dc: Any,
    ) -> Any:  # fmt: skip
        x, h, c, w, *rest = (widen(v) for v in (gates, h0, c0, weight, out, saved, dout, dh, dc))
        grads = self._loop(x, h, c, w, lengths, *rest) if xp is np else self._scan(xp, x, h, c, w, lengths, *rest)
        return tuple(narrow(g, gates) for g in grads)

    def _scan(
        self, xp: Namespace, gates: Array, h0: Array, c0: Any, weight: Any, lengths: Any, out: Array, saved: Any, dout: Any,
        dh: Any, dc: Any,
    ) -> tuple:  # fmt: skip
        """The recurrence backwards; the gradient of the weights is one product over all steps afterwards."""
        lax = require("jax.lax", "xla", "recurrent networks on XLA")
        alive = self.alive(xp, lengths, gates.shape[0], gates.dtype)
        alive = xp.ones((gates.shape[0], 1, 1), gates.dtype) if alive is None else alive
        cells = saved[:, :, 4 * h0.shape[1] :] if self.mode == "lstm" else xp.broadcast_to(c0, out.shape)
        states, cells = (self._shifted(xp, first, all_of, alive) for first, all_of in ((h0, out), (c0, cells)))

        def step(carry: Any, inputs: Any) -> tuple:
            dh, dc = carry
            kept, h, c, d, m = inputs
            dgx, dgh, direct, dc_before = _cell_grad(xp, self.mode, kept, h, c, (dh + d) * m, dc * m)
            dh = direct + product(xp, dgh, weight) + dh * (1 - m)
            return (dh, dc_before + dc * (1 - m)), (dgx, dgh)

        inputs = saved, states, cells, dout, alive
        (dh, dc), (dgates, dshare) = lax.scan(step, (dh, dc), inputs, reverse=not self.reverse)
        return dgates, dh, dc, xp.einsum("tng,tnh->gh", dshare, states), xp.sum(dshare, axis=(0, 1))

    def _shifted(self, xp: Namespace, first: Any, after: Any, alive: Any) -> Any:
        """The states that the steps started from, given those after them."""
        after = after * alive + first * (1 - alive)  # steps beyond a sample's end left its initial state untouched
        start = first[None]
        return xp.concatenate([after[1:], start] if self.reverse else [start, after[:-1]], axis=0)

    def _loop(
        self, gates: Any, h0: Any, c0: Any, weight: Any, lengths: Any, out: Any, saved: Any, dout: Any, dh: Any, dc: Any
    ) -> tuple:
        steps = gates.shape[0]
        alive = self.alive(np, lengths, steps, gates.dtype)
        dgates, dweight = np.zeros_like(gates), np.zeros_like(weight)
        dbias = np.zeros(weight.shape[0], gates.dtype)
        dh, dc = np.array(dh), np.array(dc)
        order = list(self.times(steps))
        hidden = h0.shape[1]
        for place in range(steps - 1, -1, -1):
            t = order[place]
            before = order[place - 1] if place else None
            m = 1 if alive is None else alive[t]
            h, c = self._state_before(before, h0, c0, out, saved, alive, hidden)
            dgx, dgh, direct, dc_before = _cell_grad(np, self.mode, saved[t], h, c, (dh + dout[t]) * m, dc * m)
            dgates[t] = dgx
            dweight += dgh.T @ h
            dbias += dgh.sum(0)
            dh = direct + dgh @ weight + dh * (1 - m)
            dc = dc_before + dc * (1 - m)
        return dgates, dh, dc, dweight, dbias

    def _state_before(
        self, before: int | None, h0: Any, c0: Any, out: Any, saved: Any, alive: Any, hidden: int
    ) -> tuple[Any, Any]:
        """The state a step started from. Steps beyond a sample's end have none that matters, except the first."""
        if before is None:
            return h0, c0
        h = out[before]
        c = saved[before][:, 4 * hidden :] if self.mode == "lstm" else c0
        if alive is None:
            return h, c
        m = alive[before]  # in reverse order the steps before a sample's own end left its initial state untouched
        return h * m + h0 * (1 - m), c * m + c0 * (1 - m)

    def bprop(
        self, gates: Any, h0: Any, c0: Any, weight: Any, bias: Any, lengths: Any, saved_out: Any, saved: Any,
        dout: Any, dh: Any, dc: Any, out: Any, dgrads: Any,
    ) -> tuple:  # fmt: skip
        second = RecurrentSequenceCurvature(self.mode, self.reverse)(
            gates, h0, c0, weight, bias, lengths, dout, dh, dc, *dgrads
        )
        by_bias = second[4] if bias is not None else None
        return (*second[:4], by_bias, None, None, None, *second[5:])


class RecurrentSequenceCurvature(_Recurrent):
    """Gradients of RecurrentSequenceGrad by gates, h0, c0, weight, bias, and by the incoming dout, dh, dc.

    With y = f(x) and g = J(x)ᵀv, a cotangent u of g pulls back to the derivative of g along u (the Hessian of v·f is
    symmetric) and, for v, to the derivative of f along u.
    """

    def infer(
        self,
        gates: AbstractTensor,
        h0: Any,
        c0: Any,
        weight: AbstractTensor,
        bias: Any,
        lengths: Any,
        dout: Any,
        dh: Any,
        dc: Any,
        *u: Any,
    ) -> Any:
        width = AbstractTensor(gates.dtype, weight.shape[:1])
        return AbstractTuple((gates, h0, c0, weight, width, dout, dh, dc))

    def eval(
        self, xp: Namespace, gates: Array, h0: Any, c0: Any, weight: Array, bias: Any, lengths: Any, dout: Any, dh: Any, dc: Any,
        *u: Any,
    ) -> Any:  # fmt: skip
        forward = RecurrentSequence(self.mode, self.reverse)
        backward = RecurrentSequenceGrad(self.mode, self.reverse)
        offset = xp.zeros(weight.shape[:1], gates.dtype) if bias is None else bias

        def both(x: Any, h: Any, c: Any, w: Any, b: Any) -> tuple:
            out, last_h, last_c, saved = forward.eval(xp, x, h, c, w, b, lengths)
            grads = backward.eval(xp, x, h, c, w, b, lengths, out, saved, dout, dh, dc)
            return *grads, out, last_h, last_c

        derivative = along(xp, both, (gates, h0, c0, weight, offset), u)
        return tuple(narrow(d, gates) for d in derivative)

    def bprop(
        self,
        gates: Any,
        h0: Any,
        c0: Any,
        weight: Any,
        bias: Any,
        lengths: Any,
        dout: Any,
        dh: Any,
        dc: Any,
        *rest: Any,
    ) -> tuple:
        *u, _, dsecond = rest
        third = RecurrentSequenceThird(self.mode, self.reverse)(
            gates, h0, c0, weight, bias, lengths, dout, dh, dc, *u, *dsecond
        )
        by_bias = third[4] if bias is not None else None
        return (*third[:4], by_bias, None, *third[5:])


class RecurrentSequenceThird(_Recurrent):
    """Gradients of RecurrentSequenceCurvature by gates, h0, c0, weight, bias, by dout, dh, dc, and by the direction u.

    That gives (Du g, Du f) with g = J(x)ᵀv. A cotangent (z, w) of it pulls back to Dz Du g + Du J(x)ᵀw by x, to Dz Du f by
    v, and to Dz g + J(x)ᵀw by u: derivatives along directions again, because those of v·f do not depend on their order.
    """

    def infer(
        self,
        gates: AbstractTensor,
        h0: Any,
        c0: Any,
        weight: AbstractTensor,
        bias: Any,
        lengths: Any,
        dout: Any,
        dh: Any,
        dc: Any,
        *rest: Any,
    ) -> Any:
        width = AbstractTensor(gates.dtype, weight.shape[:1])
        return AbstractTuple((gates, h0, c0, weight, width, dout, dh, dc, gates, h0, c0, weight, width))

    def eval(
        self, xp: Namespace, gates: Array, h0: Any, c0: Any, weight: Array, bias: Any, lengths: Any, dout: Any, dh: Any, dc: Any,
        *rest: Any,
    ) -> Any:  # fmt: skip
        u, z, w = rest[:5], rest[5:10], rest[10:]
        forward = RecurrentSequence(self.mode, self.reverse)
        backward = RecurrentSequenceGrad(self.mode, self.reverse)
        offset = xp.zeros(weight.shape[:1], gates.dtype) if bias is None else bias
        point = (gates, h0, c0, weight, offset)

        def pulled(cotangent: tuple) -> Any:
            def both(x: Any, h: Any, c: Any, m: Any, b: Any) -> tuple:
                out, last_h, last_c, saved = forward.eval(xp, x, h, c, m, b, lengths)
                return *backward.eval(xp, x, h, c, m, b, lengths, out, saved, *cotangent), out, last_h, last_c

            return both

        by_v, by_w = pulled((dout, dh, dc)), pulled(w)
        twice = twice_along(xp, by_v, point, z, u)
        across, back = along(xp, by_w, point, u), along(xp, by_v, point, z)
        plain = by_w(*point)
        by_point = [a + b for a, b in zip(twice[:5], across)]
        by_direction = [a + b for a, b in zip(back, plain[:5])]
        return tuple(narrow(d, gates) for d in (*by_point, *twice[5:], *by_direction))

    def bprop(self, *args: Any) -> tuple:
        raise RuntimeError(
            "Fourth derivatives of a whole recurrent layer are not available; build the network from cells "
            "(nn.LSTMCell, nn.GRUCell, nn.RNNCell), whose derivatives exist to any order."
        )
