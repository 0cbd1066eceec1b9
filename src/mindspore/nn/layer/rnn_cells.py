"""Recurrent cells: one step each, made of everyday operations, differentiable to any order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.nn import checks
from mindspore.nn.cell import Cell

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


def _split(x: Any, parts: int) -> tuple:
    return ops.split(x, x.shape[1] // parts, 1)


def _rnn_tanh_cell(inputs: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """tanh of the sum of both products."""
    return ops.tanh(ops.dense(inputs, w_ih, b_ih) + ops.dense(hidden, w_hh, b_hh))


def _rnn_relu_cell(inputs: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """relu of the sum of both products."""
    return ops.relu(ops.dense(inputs, w_ih, b_ih) + ops.dense(hidden, w_hh, b_hh))


def _lstm_cell(inputs: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple:
    """One LSTM step; gates in the order i, f, g, o."""
    h, c = hidden
    i, f, g, o = _split(ops.dense(inputs, w_ih, b_ih) + ops.dense(h, w_hh, b_hh), 4)
    new_c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
    return ops.sigmoid(o) * ops.tanh(new_c), new_c


def _gru_cell(inputs: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """One GRU step; gates in the order r, z, n."""
    xr, xz, xn = _split(ops.dense(inputs, w_ih, b_ih), 3)
    hr, hz, hn = _split(ops.dense(hidden, w_hh, b_hh), 3)
    r, z = ops.sigmoid(xr + hr), ops.sigmoid(xz + hz)
    n = ops.tanh(xn + r * hn)
    return n + z * (hidden - n)


class RNNCellBase(Cell):
    """The weights of a recurrent cell."""

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool, num_chunks: int, dtype: Any = mstype.float32):
        super().__init__()
        owner = type(self).__name__
        self.input_size = checks.positive_int(owner, "input_size", input_size)
        self.hidden_size = checks.positive_int(owner, "hidden_size", hidden_size)
        self.has_bias = checks.boolean(owner, "has_bias", has_bias)
        bound, width = Uniform(1 / math.sqrt(hidden_size)), num_chunks * hidden_size
        self.weight_ih = Parameter(initializer(bound, (width, input_size), dtype), name="weight_ih")
        self.weight_hh = Parameter(initializer(bound, (width, hidden_size), dtype), name="weight_hh")
        self.bias_ih = Parameter(initializer(bound, (width,), dtype), name="bias_ih") if has_bias else None
        self.bias_hh = Parameter(initializer(bound, (width,), dtype), name="bias_hh") if has_bias else None

    def reset_parameters(self, dtype: Any = mstype.float32) -> None:
        """Draw all weights anew.

        Examples:
            >>> cell = nn.GRUCell(3, 4)
            >>> cell.reset_parameters()
            >>> bool((cell.weight_hh.abs() <= 0.5).all())
            True
        """
        bound = Uniform(1 / math.sqrt(self.hidden_size))
        for weight in self.get_parameters():
            weight.set_data(initializer(bound, weight.shape, dtype))

    def check(self, x: Any, *states: Any) -> None:
        """The shapes of the input and the state must fit the cell."""
        owner = type(self).__name__
        if x.ndim != 2 or x.shape[1] != self.input_size:
            raise ValueError(f"For '{owner}', 'x' must have the shape (batch, {self.input_size}), but got {x.shape}.")
        for state in states:
            if state.shape != (x.shape[0], self.hidden_size):
                raise ValueError(
                    f"For '{owner}', the state must have the shape ({x.shape[0]}, "
                    f"{self.hidden_size}), but got {state.shape}."
                )


class RNNCell(RNNCellBase):
    """h' = tanh(W x + U h + b), or relu.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.RNNCell(3, 4)(Tensor(np.ones((1, 3), np.float32)), Tensor(np.zeros((1, 4), np.float32))).shape
        (1, 4)
    """

    def __init__(
        self, input_size: int, hidden_size: int, has_bias: bool = True, nonlinearity: str = "tanh",
        dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__(input_size, hidden_size, has_bias, 1, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"For 'RNNCell', 'nonlinearity' must be 'tanh' or 'relu', but got {nonlinearity!r}.")
        self.nonlinearity = nonlinearity

    def construct(self, x: Tensor, hx: Any) -> Any:
        self.check(x, hx)
        step = _rnn_tanh_cell if self.nonlinearity == "tanh" else _rnn_relu_cell
        return step(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (h', c') from x and (h, c).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> zero = Tensor(np.zeros((1, 4), np.float32))
        >>> h, c = nn.LSTMCell(3, 4)(Tensor(np.ones((1, 3), np.float32)), (zero, zero))
        >>> h.shape, c.shape
        ((1, 4), (1, 4))
    """

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = mstype.float32):
        super().__init__(input_size, hidden_size, has_bias, 4, dtype)
        self.support_non_tensor_inputs = True

    def construct(self, x: Tensor, hx: Any) -> Any:
        self.check(x, hx[0], hx[1])
        return _lstm_cell(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


class GRUCell(RNNCellBase):
    """One step of a GRU: h' from x and h.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.GRUCell(3, 4)(Tensor(np.ones((1, 3), np.float32)), Tensor(np.zeros((1, 4), np.float32))).shape
        (1, 4)
    """

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = mstype.float32):
        super().__init__(input_size, hidden_size, has_bias, 3, dtype)

    def construct(self, x: Tensor, hx: Any) -> Any:
        self.check(x, hx)
        return _gru_cell(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
