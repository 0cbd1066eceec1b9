"""ViT: an image as a sequence of patches.

Dosovitskiy et al. 2021, "An image is worth 16x16 words: Transformers for image recognition at scale".
"""

from __future__ import annotations

import functools
from collections import OrderedDict

from mindspore import nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import Mlp, attend, conv, dense, images, join_heads, split_heads
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


class SelfAttention(nn.Cell):
    """Queries, keys and values by one product."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.in_proj, self.out_proj = dense(width, 3 * width), dense(width, width)

    def construct(self, x: Tensor) -> Tensor:
        query, key, value = (split_heads(part, self.heads) for part in ops.chunk(self.in_proj(x), 3, -1))
        return self.out_proj(join_heads(attend(query, key, value)))


class EncoderBlock(nn.Cell):
    """Attention and a perceptron, each after a normalisation and beside a shortcut."""

    def __init__(self, width: int, heads: int, hidden: int, dropout: float):
        super().__init__()
        self.ln_1, self.self_attention = nn.LayerNorm((width,), epsilon=1e-6), SelfAttention(width, heads)
        self.ln_2, self.mlp = nn.LayerNorm((width,), epsilon=1e-6), Mlp(width, hidden, dropout)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, x: Tensor) -> Tensor:
        x = x + self.dropout(self.self_attention(self.ln_1(x)))
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Cell):
    """Positions are learned and added; then the blocks."""

    def __init__(self, length: int, depth: int, width: int, heads: int, hidden: int, dropout: float):
        super().__init__()
        self.pos_embedding = Parameter(initializer(Normal(0.02), (1, length, width)), name="pos_embedding")
        blocks = [(f"encoder_layer_{i}", EncoderBlock(width, heads, hidden, dropout)) for i in range(depth)]
        self.layers = nn.SequentialCell(OrderedDict(blocks))
        self.ln = nn.LayerNorm((width,), epsilon=1e-6)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, x: Tensor) -> Tensor:
        return self.ln(self.layers(self.dropout(x + self.pos_embedding)))


class ViT(nn.Cell):
    """Patches, a class token before them, the encoder, a classifier of the token."""

    renames = ((r"in_proj\.(weight|bias)$", r"in_proj_\1"),)

    def __init__(
        self, patch: int = 16, depth: int = 12, width: int = 768, heads: int = 12, num_classes: int = 1000, in_channels: int = 3,
        image_size: int = 224, dropout: float = 0.0,
    ):  # fmt: skip
        super().__init__()
        if image_size % patch:
            raise ValueError(f"For 'vit', 'image_size' must be a multiple of the patch, {patch}, but got {image_size}.")
        self.num_classes, self.takes, self.image_size = num_classes, images(in_channels, image_size), image_size
        self.conv_proj = conv(in_channels, width, patch, patch, bias=True, padding=0)
        self.class_token = Parameter(initializer("zeros", (1, 1, width)), name="class_token")
        self.encoder = Encoder((image_size // patch) ** 2 + 1, depth, width, heads, 4 * width, dropout)
        self.heads = nn.SequentialCell(OrderedDict(head=dense(width, num_classes)))

    def construct(self, x: Tensor) -> Tensor:
        if x.shape[2:] != (self.image_size, self.image_size):
            raise ValueError(f"This ViT takes images of {self.image_size} × {self.image_size} pixels, but got {x.shape[2:]}.")
        x = self.conv_proj(x)
        batch, width = x.shape[:2]
        patches = x.reshape(batch, width, -1).swapaxes(1, 2)
        tokens = ops.cat((ops.broadcast_to(self.class_token, (batch, 1, width)), patches), 1)
        return self.heads(self.encoder(tokens)[:, 0])


for _name, _patch, _depth, _width, _heads in (
    ("vit_b_16", 16, 12, 768, 12), ("vit_b_32", 32, 12, 768, 12), ("vit_l_16", 16, 24, 1024, 16), ("vit_l_32", 32, 24, 1024, 16),
):  # fmt: skip
    model(
        _name, task="images", origin=f"torchvision:{_name}",
        paper="Dosovitskiy et al. 2021, An image is worth 16x16 words: Transformers for image recognition at scale",
        recipe=Recipe(epochs=300, batch=4096, optimizer="adamw", rate=3e-3, weight_decay=0.3, warmup=0.1, clip=1.0),
        tiny={"num_classes": 10, "image_size": 28, "patch": 7, "depth": 2, "width": 32, "heads": 4},
    )(functools.partial(ViT, patch=_patch, depth=_depth, width=_width, heads=_heads))  # fmt: skip
