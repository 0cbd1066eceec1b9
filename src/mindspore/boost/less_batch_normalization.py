"""A classifier's last layer on normalised features and weights, for networks with fewer batch normalisations."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import Dense


class CommonHeadLastFN(Cell):
    """multiplier * (x / |x| @ (weight / |weight|).T + bias), row by row.

    Examples:
        >>> from mindspore import Tensor
        >>> from mindspore.boost.less_batch_normalization import CommonHeadLastFN
        >>> CommonHeadLastFN(2, 1, "ones")(Tensor([[3.0, 3.0]])).asnumpy().round(4).tolist()
        [[1.0]]
    """

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros",
        has_bias: bool = True,
    ):  # fmt: skip
        super().__init__()
        self.weight = Parameter(initializer(weight_init, (out_channels, in_channels)), name="weight")
        self.multiplier = Parameter(Tensor(np.ones(1), mstype.float32), name="multiplier")
        self.has_bias = has_bias
        self.bias = Parameter(initializer(bias_init, (out_channels,)), name="bias") if has_bias else None

    def construct(self, x: Any) -> Any:
        out = ops.matmul(ops.L2Normalize(1)(x), ops.transpose(ops.L2Normalize(1)(self.weight), (1, 0)))
        return self.multiplier * (out + self.bias if self.has_bias else out)


class LessBN(Cell):
    """A network to be trained with fewer batch normalisations; with `fn_flag` its last dense layer normalises.

    Fewer normalisations save communication between Ascend devices; here all stay as they are.

    Examples:
        >>> from mindspore import boost, nn
        >>> net = boost.LessBN(nn.SequentialCell(nn.Dense(2, 3), nn.Dense(3, 4)), fn_flag=True)
        >>> type(net.network[1]).__name__
        'CommonHeadLastFN'
    """

    def __init__(self, network: Cell, fn_flag: bool = False):
        super().__init__()
        self.network = network
        if "less_bn" not in network.get_flags():
            network.add_flags(less_bn=True)
            if fn_flag:
                _replace_last_dense(network)

    def construct(self, *inputs: Any) -> Any:
        return self.network(*inputs)


def _replace_last_dense(net: Cell) -> None:
    dense = None
    for name, child in net.name_cells().items():
        if isinstance(child, Dense):
            dense = name, child
        elif child is not net:
            _replace_last_dense(child)
    if dense is not None:
        name, layer = dense
        made = CommonHeadLastFN(layer.in_channels, layer.out_channels, layer.weight.copy(), has_bias=False)
        made.update_parameters_name(layer.weight.name.removesuffix("weight"))
        net._cells[name] = made


__all__ = ["CommonHeadLastFN", "LessBN"]
