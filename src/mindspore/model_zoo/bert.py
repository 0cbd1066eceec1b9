"""BERT: an encoder that fills in masked words, and its use to classify texts and to find answers in them.

Devlin et al. 2019, "BERT: Pre-training of deep bidirectional transformers for language understanding".
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import TruncatedNormal, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import attend, check_length, dense, join_heads, split_heads
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model

EPSILON = 1e-12


def _table(rows: int, width: int) -> nn.Embedding:
    return nn.Embedding(rows, width, embedding_table=TruncatedNormal(0.02))


class Embeddings(nn.Cell):
    """Words, positions and segments, added and normalised."""

    def __init__(self, vocabulary: int, length: int, width: int, dropout: float):
        super().__init__()
        self.word_embeddings, self.position_embeddings = _table(vocabulary, width), _table(length, width)
        self.token_type_embeddings = _table(2, width)
        self.LayerNorm, self.dropout = nn.LayerNorm((width,), epsilon=EPSILON), nn.Dropout(p=dropout)

    def construct(self, ids: Tensor, segments: Tensor) -> Tensor:
        positions = Tensor(np.arange(ids.shape[1], dtype=np.int32))
        x = self.word_embeddings(ids) + self.position_embeddings(positions) + self.token_type_embeddings(segments)
        return self.dropout(self.LayerNorm(x))


class SelfAttention(nn.Cell):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = dense(width, width), dense(width, width), dense(width, width)

    def construct(self, x: Tensor, bias: Any) -> Tensor:
        query, key, value = (split_heads(layer(x), self.heads) for layer in (self.query, self.key, self.value))
        return join_heads(attend(query, key, value, bias))


class Joined(nn.Cell):
    """The end of a sublayer: a product, the shortcut, a normalisation."""

    def __init__(self, inputs: int, width: int, dropout: float):
        super().__init__()
        self.dense, self.dropout = dense(inputs, width), nn.Dropout(p=dropout)
        self.LayerNorm = nn.LayerNorm((width,), epsilon=EPSILON)

    def construct(self, x: Tensor, shortcut: Tensor) -> Tensor:
        return self.LayerNorm(shortcut + self.dropout(self.dense(x)))


class Layer(nn.Cell):
    """Attention, then a perceptron."""

    def __init__(self, width: int, heads: int, hidden: int, dropout: float, approximate: str = "none"):
        super().__init__()
        self.approximate = approximate
        self.attend, self.attended = SelfAttention(width, heads), Joined(width, width, dropout)
        self.intermediate, self.output = dense(width, hidden), Joined(hidden, width, dropout)

    def construct(self, x: Tensor, bias: Any) -> Tensor:
        x = self.attended(self.attend(x, bias), x)
        return self.output(ops.gelu(self.intermediate(x), approximate=self.approximate), x)


class Encoder(nn.Cell):
    """Tokens → a vector for each. `mask` is 1 at words and 0 at padding."""

    def __init__(self, vocabulary: int, length: int, depth: int, width: int, heads: int, dropout: float):
        super().__init__()
        self.length = length
        self.embeddings = Embeddings(vocabulary, length, width, dropout)
        self.layers = nn.CellList([Layer(width, heads, 4 * width, dropout) for _ in range(depth)])

    def construct(self, ids: Tensor, segments: Any = None, mask: Any = None) -> Tensor:
        check_length(ids, self.length)
        bias = None if mask is None else (1 - mask[:, None, None, :].astype("float32")) * -1e9
        x = self.embeddings(ids, ops.zeros_like(ids) if segments is None else segments)
        for layer in self.layers:
            x = layer(x, bias)
        return x


_RENAMES = (
    (r"^bert\.layers\.", "bert.encoder.layer."), (r"\.attend\.", ".attention.self."), (r"\.attended\.", ".attention.output."),
    (r"\.intermediate\.", ".intermediate.dense."), (r"^pooler\.", "bert.pooler.dense."),
    (r"^transform\.", "cls.predictions.transform.dense."), (r"^norm\.", "cls.predictions.transform.LayerNorm."),
    (r"^bias$", "cls.predictions.bias"),
)  # fmt: skip


class BertForMaskedWords(nn.Cell):
    """Scores of all words at each place; the table of words also makes the scores."""

    renames = _RENAMES
    tied = ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias")

    def __init__(
        self, depth: int = 12, width: int = 768, heads: int = 12, vocabulary: int = 30522, length: int = 512, dropout: float = 0.1
    ):
        super().__init__()
        self.vocabulary, self.takes = vocabulary, (Takes("ids", (length,), vocabulary),)
        self.bert = Encoder(vocabulary, length, depth, width, heads, dropout)
        self.transform, self.norm = dense(width, width), nn.LayerNorm((width,), epsilon=EPSILON)
        self.bias = Parameter(initializer("zeros", (vocabulary,)), name="bias")

    def construct(self, ids: Tensor, segments: Any = None, mask: Any = None) -> Tensor:
        x = self.norm(ops.gelu(self.transform(self.bert(ids, segments, mask))))
        return ops.matmul(x, self.bert.embeddings.word_embeddings.embedding_table.swapaxes(0, 1)) + self.bias


class BertClassifier(nn.Cell):
    """A class for the whole text, from the vector of its first token."""

    renames = _RENAMES

    def __init__(
        self, depth: int = 12, width: int = 768, heads: int = 12, num_classes: int = 2, vocabulary: int = 30522, length: int = 512,
        dropout: float = 0.1,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.vocabulary, self.takes = num_classes, vocabulary, (Takes("ids", (length,), vocabulary),)
        self.bert = Encoder(vocabulary, length, depth, width, heads, dropout)
        self.pooler, self.dropout = dense(width, width), nn.Dropout(p=dropout)
        self.classifier = dense(width, num_classes)

    def construct(self, ids: Tensor, segments: Any = None, mask: Any = None) -> Tensor:
        first = self.bert(ids, segments, mask)[:, 0]
        return self.classifier(self.dropout(ops.tanh(self.pooler(first))))


class BertAnswers(nn.Cell):
    """Where the answer to a question stands in a text: scores (batch, length, 2) of its first and its last token."""

    renames = (*_RENAMES, (r"^answers\.", "qa_outputs."))

    def __init__(
        self, depth: int = 12, width: int = 768, heads: int = 12, vocabulary: int = 30522, length: int = 384, dropout: float = 0.1
    ):
        super().__init__()
        self.vocabulary, self.takes = vocabulary, (Takes("ids", (length,), vocabulary), Takes("segments", (length,), 2))
        self.bert, self.answers = Encoder(vocabulary, length, depth, width, heads, dropout), dense(width, 2)

    def construct(self, ids: Tensor, segments: Any = None, mask: Any = None) -> Tensor:
        return self.answers(self.bert(ids, segments, mask))


_PAPER = "Devlin et al. 2019, BERT: Pre-training of deep bidirectional transformers for language understanding"
_TINY = {"depth": 2, "width": 32, "heads": 4, "vocabulary": 64, "length": 16, "dropout": 0.0}
for _size, _depth, _width, _heads in (("base", 12, 768, 12), ("large", 24, 1024, 16)):
    model(
        f"bert_{_size}", task="masked words", paper=_PAPER, tiny=_TINY, origin="transformers:BertForMaskedLM",
        recipe=Recipe(epochs=40, batch=256, optimizer="adamw", rate=1e-4, schedule="linear", weight_decay=0.01, warmup=0.01, clip=1.0),
    )(functools.partial(BertForMaskedWords, depth=_depth, width=_width, heads=_heads))  # fmt: skip
    model(
        f"bert_{_size}_classifier", task="text classes", paper=_PAPER, tiny=_TINY, origin="transformers:BertForSequenceClassification",
        recipe=Recipe(epochs=3, batch=32, optimizer="adamw", rate=3e-5, schedule="linear", weight_decay=0.01, warmup=0.1, clip=1.0),
    )(functools.partial(BertClassifier, depth=_depth, width=_width, heads=_heads))  # fmt: skip
    model(
        f"bert_{_size}_squad", task="answers", paper=_PAPER, tiny=_TINY, origin="transformers:BertForQuestionAnswering",
        recipe=Recipe(epochs=2, batch=32, optimizer="adamw", rate=5e-5, schedule="linear", weight_decay=0.01, warmup=0.1, clip=1.0),
    )(functools.partial(BertAnswers, depth=_depth, width=_width, heads=_heads))  # fmt: skip
