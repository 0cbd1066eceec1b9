"""Recurrent layers: RNN, LSTM and GRU over whole sequences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import Initializer, initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.prims.arrays import GetItem
from mindspore.prims.rnn import RecurrentSequence

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["GRU", "LSTM", "RNN"]


def run_direction(
    mode: str, x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, lengths: Any, reverse: bool
) -> tuple:
    """One layer in one direction over (T, N, input): outputs (T, N, H), last h, last c."""
    gates = ops.dense(x, w_ih, b_ih)
    return RecurrentSequence(mode, reverse)(gates, h0, c0, w_hh, b_hh, lengths)[:3]


class _Evenly(Initializer):
    """Evenly from [-bound, bound), drawn by NumPy itself, as official MindSpore does for these layers."""

    def __init__(self, bound: float):
        super().__init__(bound=bound)
        self.bound = bound

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = self.source().uniform(-self.bound, self.bound, arr.shape)


class _RNNBase(Cell):
    """Layers and directions around the recurrent primitive."""

    def __init__(
        self, mode: str, gates: int, input_size: int, hidden_size: int, num_layers: int = 1, has_bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        checks.positive_int(owner, "input_size", input_size)
        self.hidden_size = checks.positive_int(owner, "hidden_size", hidden_size)
        self.num_layers = checks.height(owner, "num_layers", num_layers, least=1)
        self.has_bias = checks.boolean(owner, "has_bias", has_bias)
        self.batch_first = checks.boolean(owner, "batch_first", batch_first)
        self.bidirectional = checks.boolean(owner, "bidirectional", bidirectional)
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)):
            raise TypeError(f"For '{owner}', the argument 'dropout' must be a float, but got {type(dropout).__name__}.")
        self.dropout = checks.fraction(owner, "dropout", dropout, high=False)
        self.mode, self.input_size, self.dropout_rate = mode, input_size, dropout
        self.num_directions = 2 if bidirectional else 1
        self._make_weights(gates, dtype)

    def _make_weights(self, gates: int, dtype: Any) -> None:
        drawn = _Evenly(1 / math.sqrt(self.hidden_size))
        width, below = gates * self.hidden_size, self.hidden_size * self.num_directions
        made: dict[str, list[Parameter]] = {}
        for layer in range(self.num_layers):
            for suffix in ("", "_reverse")[: self.num_directions]:
                shapes = {
                    "weight_ih": (width, below if layer else self.input_size), "weight_hh": (width, self.hidden_size),
                    "bias_ih": (width,), "bias_hh": (width,),
                }  # fmt: skip
                for kind, shape in shapes.items():
                    if self.has_bias or kind.startswith("weight"):
                        name = f"{kind}_l{layer}{suffix}"
                        made.setdefault(kind, []).append(Parameter(initializer(drawn, shape, dtype), name=name))
        self.w_ih_list, self.w_hh_list = (ParameterTuple(made[kind]) for kind in ("weight_ih", "weight_hh"))
        if self.has_bias:
            self.b_ih_list, self.b_hh_list = (ParameterTuple(made[kind]) for kind in ("bias_ih", "bias_hh"))

    def construct(self, x: Tensor, hx: Any = None, seq_length: Any = None) -> Any:
        return self.run(x, hx, seq_length)

    def run(self, x: Any, hx: Any, seq_length: Any) -> tuple:
        """The whole computation, over primitives."""
        checks.rank(type(self).__name__, x, 3)
        if x.shape[2] != self.input_size:
            raise ValueError(
                f"For '{type(self).__name__}', the last dimension of 'x' must be {self.input_size}, "
                f"but its shape is {x.shape}."
            )
        x = ops.transpose(x, (1, 0, 2)) if self.batch_first else x
        h0, c0 = self._initial_state(x, hx)
        last_h, last_c = [], []
        for layer in range(self.num_layers):
            if layer and self.dropout and self.training:
                x = ops.dropout(x, self.dropout)
            outputs = []
            for direction in range(self.num_directions):
                i = layer * self.num_directions + direction
                biases = (self.b_ih_list[i], self.b_hh_list[i]) if self.has_bias else (None, None)
                h, c = GetItem((i,))(h0), GetItem((i,))(c0)
                w_ih, w_hh, b_ih, b_hh = self._cast_weights(x, self.w_ih_list[i], self.w_hh_list[i], *biases)
                out, h, c = run_direction(self.mode, x, h, c, w_ih, w_hh, b_ih, b_hh, seq_length, direction == 1)
                outputs.append(out)
                last_h.append(h)
                last_c.append(c)
            x = outputs[0] if len(outputs) == 1 else ops.concat(outputs, 2)
        out = ops.transpose(x, (1, 0, 2)) if self.batch_first else x
        return out, self._final_state(ops.stack(last_h), ops.stack(last_c))

    @staticmethod
    def _cast_weights(x: Any, *weights: Any) -> tuple:
        return tuple(None if w is None else (w if w.dtype is x.dtype else ops.cast(w, x.dtype)) for w in weights)

    def _initial_state(self, x: Any, hx: Any) -> tuple:
        shape = (self.num_layers * self.num_directions, x.shape[1], self.hidden_size)
        if hx is None:
            zeros = ops.zeros(shape, x.dtype)
            return zeros, zeros
        h, c = hx if isinstance(hx, (tuple, list)) else (hx, hx)
        for state in (h, c):
            if state.shape != shape:
                raise ValueError(
                    f"For '{type(self).__name__}', the state must have the shape {shape}, but got {state.shape}."
                )
        return h, c

    def _final_state(self, h: Any, c: Any) -> Any:
        return h


class LSTM(_RNNBase):
    """Long short-term memory (Hochreiter & Schmidhuber 1997) of (T, N, input_size): outputs, and last (h, c).

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> net = ms.nn.LSTM(10, 16, 2, has_bias=True, batch_first=True)
        >>> out, (h, c) = net(ms.Tensor(np.ones((3, 5, 10), np.float32)))
        >>> out.shape, h.shape
        ((3, 5, 16), (2, 3, 16))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, has_bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, dtype: Any = mstype.float32,
    ):  # fmt: skip
        options = input_size, hidden_size, num_layers, has_bias, batch_first, dropout, bidirectional, dtype
        super().__init__("lstm", 4, *options)

    def _final_state(self, h: Any, c: Any) -> Any:
        return h, c


class GRU(_RNNBase):
    """Gated recurrent units (Cho et al. 2014) of (T, N, input_size): outputs, and the last h.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> out, state = nn.GRU(3, 4)(Tensor(np.ones((5, 1, 3), np.float32)), Tensor(np.zeros((1, 1, 4), np.float32)))
        >>> out.shape, state.shape
        ((5, 1, 4), (1, 1, 4))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, has_bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, dtype: Any = mstype.float32,
    ):  # fmt: skip
        options = input_size, hidden_size, num_layers, has_bias, batch_first, dropout, bidirectional, dtype
        super().__init__("gru", 3, *options)


class RNN(_RNNBase):
    """A simple recurrent network (Elman 1990) of (T, N, input_size): outputs, and the last h.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        num_layers: the number of layers on top of each other, 1 unless given.
        nonlinearity: "tanh" (default) or "relu".
        has_bias: whether learnt vectors are added, True unless given.
        batch_first: whether the batch is the first dimension instead of the second, False unless given.
        dropout: the probability that an element between layers becomes 0, 0 unless given.
        bidirectional: whether there is a second direction, from the end, False unless given.

    Examples:
        >>> out, state = nn.RNN(3, 4)(ops.ones((5, 1, 3)), ops.zeros((1, 1, 4)))
        >>> out.shape, state.shape
        ((5, 1, 4), (1, 1, 4))
    """

    def __init__(self, *args: Any, **kwargs: Any):
        mode = kwargs.pop("nonlinearity", "tanh")
        if mode not in ("tanh", "relu"):
            raise ValueError(f"For 'RNN', 'nonlinearity' must be 'tanh' or 'relu', but got {mode!r}.")
        super().__init__(mode, 1, *args, **kwargs)
