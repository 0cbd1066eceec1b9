"""ONNX RNN, GRU and LSTM, step by step in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore.formats.onnx.registry import OPERATORS, P, as_tensor, operator

if TYPE_CHECKING:
    from mindspore.prims.values import TensorBase

_WITH_ALPHA = {"Affine", "Elu", "HardSigmoid", "LeakyRelu", "ScaledTanh", "ThresholdedRelu"}


def _activation(name: str, alpha: float | None, beta: float | None) -> Callable[[Any], Any]:
    if name == "Affine":
        return lambda x: x * (1.0 if alpha is None else alpha) + (beta or 0.0)
    if name == "ScaledTanh":
        return lambda x: P.Tanh()(x * (1.0 if beta is None else beta)) * (1.0 if alpha is None else alpha)
    if name not in OPERATORS:
        raise ValueError(f"The ONNX activation '{name}' is not supported.")
    given = {"alpha": alpha} if alpha is not None and name in _WITH_ALPHA else {}
    if beta is not None and name == "HardSigmoid":
        given["beta"] = beta
    return lambda x: OPERATORS[name](x, **given)


class _Options:
    """The attributes that the three operators share."""

    def __init__(self, count: int, defaults: list[str], attributes: dict[str, Any]):
        self.direction = attributes.get("direction", "forward")
        self.directions = 2 if self.direction == "bidirectional" else 1
        self.layout = attributes.get("layout", 0)
        clip = attributes.get("clip")
        names = attributes.get("activations") or defaults * self.directions
        alphas, betas = (list(attributes.get(f"activation_{k}") or []) for k in ("alpha", "beta"))
        made = []
        for name in names:
            alpha = alphas.pop(0) if alphas and name in _WITH_ALPHA else None
            beta = betas.pop(0) if betas and name in ("Affine", "HardSigmoid", "ScaledTanh") else None
            made.append(_clipped(_activation(name, alpha, beta), clip))
        self.activations = [made[i * count : (i + 1) * count] for i in range(self.directions)]

    def is_backward(self, place: int) -> bool:
        return place == 1 or self.direction == "reverse"


def _clipped(function: Callable, clip: float | None) -> Callable:
    if clip is None:
        return function
    return lambda x: function(P.Minimum()(P.Maximum()(x, -clip), clip))


def _run(
    options: _Options,
    x: TensorBase,
    w: TensorBase,
    r: Any,
    b: Any,
    lengths: Any,
    states: list[Any],
    cell: Callable,
    hidden: int,
) -> tuple:
    """Run a cell `(place, gates of x, R, bias of R, states) -> states` over time; Y and the last states."""
    x, w, r, b, lengths, *states = (as_tensor(v) for v in (x, w, r, b, lengths, *states))
    if options.layout:
        x = P.Transpose()(x, (1, 0, 2))
        states = [s if s is None else P.Transpose()(s, (1, 0, 2)) for s in states]
    steps, batch = x.shape[0], x.shape[1]
    outputs, lasts = [], []
    for place in range(options.directions):
        gates = w.shape[1]
        bias, inner = (b[place][:gates], b[place][gates:]) if b is not None else (None, None)
        zero = P.ZerosLike()(x[0, :, :1] @ w[place][:hidden, :1].T) if batch else None
        state = [zero if s is None else s[place] for s in states]
        order = range(steps - 1, -1, -1) if options.is_backward(place) else range(steps)
        made: list[Any] = [None] * steps
        for step in order:
            wx = P.MatMul(False, True)(x[step], w[place])
            wx = wx if bias is None else wx + bias
            fresh = cell(place, wx, r[place], inner, state)
            if lengths is not None:
                going = (lengths > step).reshape(-1, 1)
                fresh = [_select(going, new, old) for new, old in zip(fresh, state)]
                made[step] = _select(going, fresh[0], P.ZerosLike()(fresh[0]))
            else:
                made[step] = fresh[0]
            state = fresh
        outputs.append(P.Stack(0)(made))
        lasts.append(state)
    y = P.Stack(1)(outputs)
    ends = [P.Stack(0)([state[i] for state in lasts]) for i in range(len(states))]
    if options.layout:
        y = P.Transpose()(y, (2, 0, 1, 3))
        ends = [P.Transpose()(e, (1, 0, 2)) for e in ends]
    return (y, *ends)


def _select(going: Any, new: TensorBase, old: Any) -> Any:
    return P.Select()(P.BroadcastTo(tuple(new.shape))(going), new, old)


def _recur(h: Any, r: Any, bias: Any) -> Any:
    out = P.MatMul(False, True)(h, r)
    return out if bias is None else out + bias


@operator("RNN")
def _rnn(
    x: Any,
    w: Any,
    r: TensorBase,
    b: Any = None,
    lengths: Any = None,
    h: Any = None,
    hidden_size: int = 0,
    **attributes: Any,
) -> tuple:
    options = _Options(1, ["Tanh"], attributes)

    def cell(place: int, wx: Any, r: Any, bias: Any, state: list[Any]) -> list[Any]:
        return [options.activations[place][0](wx + _recur(state[0], r, bias))]

    return _run(options, x, w, r, b, lengths, [h], cell, r.shape[-1])


@operator("GRU")
def _gru(
    x: Any, w: Any, r: TensorBase, b: Any = None, lengths: Any = None, h: Any = None, hidden_size: int = 0,
    linear_before_reset: int = 0, **attributes: Any,
) -> tuple:  # fmt: skip
    options = _Options(2, ["Sigmoid", "Tanh"], attributes)
    size = r.shape[-1]

    def cell(place: int, wx: Any, r: Any, bias: Any, state: list[Any]) -> list[Any]:
        gate, new = options.activations[place]
        (h,) = state
        parts = [None if bias is None else bias[i * size : (i + 1) * size] for i in range(3)]
        update = gate(wx[:, :size] + _recur(h, r[:size], parts[0]))
        reset = gate(wx[:, size : 2 * size] + _recur(h, r[size : 2 * size], parts[1]))
        if linear_before_reset:
            inner = reset * _recur(h, r[2 * size :], parts[2])
        else:
            inner = _recur(reset * h, r[2 * size :], parts[2])
        fresh = new(wx[:, 2 * size :] + inner)
        return [(1 - update) * fresh + update * h]

    return _run(options, x, w, r, b, lengths, [h], cell, size)


@operator("LSTM")
def _lstm(
    x: Any, w: Any, r: TensorBase, b: Any = None, lengths: Any = None, h: Any = None, c: Any = None,
    peepholes: Any = None,
    hidden_size: int = 0, input_forget: int = 0, **attributes: Any,
) -> tuple:  # fmt: skip
    options = _Options(3, ["Sigmoid", "Tanh", "Tanh"], attributes)
    size = r.shape[-1]
    holes = as_tensor(peepholes)

    def cell(place: int, wx: Any, r: Any, bias: Any, state: list[Any]) -> list[Any]:
        gate, new, out = options.activations[place]
        h, c = state
        z = wx + _recur(h, r, bias)
        i, o, f, g = (z[:, k * size : (k + 1) * size] for k in range(4))
        if holes is not None:
            i, f = i + holes[place][:size] * c, f + holes[place][2 * size :] * c
        i = gate(i)
        f = 1 - i if input_forget else gate(f)
        c = f * c + i * new(g)
        o = gate(o if holes is None else o + holes[place][size : 2 * size] * c)
        return [o * out(c), c]

    return _run(options, x, w, r, b, lengths, [h, c], cell, size)
