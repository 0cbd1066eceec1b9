"""ALBERT: BERT with one layer used again and again, and a small table of words (Lan et al. 2020).

"ALBERT: A lite BERT for self-supervised learning of language representations": the words' vectors are `embedding` wide and are projected.
"""

from __future__ import annotations

import functools
from typing import Any

from mindspore import nn, ops
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.bert import EPSILON, Embeddings, Layer
from mindspore.model_zoo.blocks import check_length, dense
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


class Albert(nn.Cell):
    """Scores of all words at each place; the table of words also makes the scores."""

    renames = (
        (r"^layer\.attend\.", "albert.encoder.albert_layer_groups.0.albert_layers.0.attention."),
        (r"^layer\.attended\.", "albert.encoder.albert_layer_groups.0.albert_layers.0.attention."),
        (r"^layer\.intermediate\.", "albert.encoder.albert_layer_groups.0.albert_layers.0.ffn."),
        (r"^layer\.output\.dense\.", "albert.encoder.albert_layer_groups.0.albert_layers.0.ffn_output."),
        (r"^layer\.output\.LayerNorm\.", "albert.encoder.albert_layer_groups.0.albert_layers.0.full_layer_layer_norm."),
        (r"^project\.", "albert.encoder.embedding_hidden_mapping_in."), (r"^embeddings\.", "albert.embeddings."),
        (r"^transform\.", "predictions.dense."), (r"^norm\.", "predictions.LayerNorm."), (r"^bias$", "predictions.bias"),
    )  # fmt: skip
    tied = ("predictions.decoder.weight", "predictions.decoder.bias", "albert.pooler.weight", "albert.pooler.bias")

    def __init__(
        self, depth: int = 12, width: int = 768, heads: int = 12, embedding: int = 128, vocabulary: int = 30000, length: int = 512,
        dropout: float = 0.0,
    ):  # fmt: skip
        super().__init__()
        self.vocabulary, self.takes, self.length, self.depth = vocabulary, (Takes("ids", (length,), vocabulary),), length, depth
        self.embeddings = Embeddings(vocabulary, length, embedding, dropout)
        self.project = dense(embedding, width)
        self.layer = Layer(width, heads, 4 * width, dropout, approximate="tanh")
        self.transform, self.norm = dense(width, embedding), nn.LayerNorm((embedding,), epsilon=EPSILON)
        self.bias = Parameter(initializer("zeros", (vocabulary,)), name="bias")

    def construct(self, ids: Tensor, segments: Any = None, mask: Any = None) -> Tensor:
        check_length(ids, self.length)
        bias = None if mask is None else (1 - mask[:, None, None, :].astype("float32")) * -1e9
        x = self.project(self.embeddings(ids, ops.zeros_like(ids) if segments is None else segments))
        for _ in range(self.depth):
            x = self.layer(x, bias)
        x = self.norm(ops.gelu(self.transform(x), approximate="tanh"))
        return ops.matmul(x, self.embeddings.word_embeddings.embedding_table.swapaxes(0, 1)) + self.bias


for _size, _depth, _width, _heads in (("base", 12, 768, 12), ("large", 24, 1024, 16), ("xlarge", 24, 2048, 16)):
    model(
        f"albert_{_size}", task="masked words", origin="transformers:AlbertForMaskedLM",
        paper="Lan et al. 2020, ALBERT: A lite BERT for self-supervised learning of language representations",
        recipe=Recipe(epochs=40, batch=4096, optimizer="lamb", rate=1.76e-3, schedule="linear", weight_decay=0.01, warmup=0.025),
        tiny={"depth": 2, "width": 32, "heads": 4, "embedding": 16, "vocabulary": 64, "length": 16},
    )(functools.partial(Albert, depth=_depth, width=_width, heads=_heads))  # fmt: skip
