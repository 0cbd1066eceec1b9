"""A layer of a language model whose weights take no memory: for plans, not for training."""

from __future__ import annotations

import numpy as np

from mindspore import Parameter, nn, ops
from mindspore.compiler.parse.entry import trace
from mindspore.prims import values


def zeros(*shape: int):
    """A tensor in 16 bits that repeats one element."""
    return values.from_array(np.broadcast_to(np.float16(0), shape))


class Layer(nn.Cell):
    def __init__(self, width: int, heads: int, flash: bool = False):
        super().__init__()
        self.width, self.heads, self.flash = width, heads, flash
        self.norm = ops.LayerNorm(-1, -1)
        shapes = {"g1": (width,), "b1": (width,), "g2": (width,), "b2": (width,), "up": (width, 4 * width), "down": (4 * width, width)}
        for name, shape in {**shapes, **dict.fromkeys(("q", "k", "v", "o"), (width, width))}.items():
            setattr(self, name, Parameter(zeros(*shape), name=name))

    def construct(self, x):
        samples, length, _ = x.shape
        y = self.norm(x, self.g1, self.b1)[0]
        q, k, v = (self.split(ops.matmul(y, w), samples, length) for w in (self.q, self.k, self.v))
        if self.flash:
            mixed = ops.flash_attention_score(q, k, v, self.heads, scalar_value=0.1, input_layout="BNSD")
        else:
            mixed = ops.matmul(ops.softmax(ops.matmul(q, k.swapaxes(-1, -2)) * 0.1, -1), v)
        x = x + ops.matmul(mixed.swapaxes(1, 2).reshape(samples, length, self.width), self.o)
        return x + ops.matmul(ops.gelu(ops.matmul(self.norm(x, self.g2, self.b2)[0], self.up)), self.down)

    def split(self, x, samples, length):
        return x.reshape(samples, length, self.heads, self.width // self.heads).swapaxes(1, 2)


class Layers(nn.Cell):
    def __init__(self, count: int, width: int, heads: int):
        super().__init__()
        self.layers = nn.CellList([Layer(width, heads) for _ in range(count)])

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def graph_of(net: nn.Cell, *shape: int):
    """The forward graph of a network for an input of this shape."""
    return trace(net, (zeros(*shape),), {}, checked=False).graph
