"""Recurrent networks of text: an LSTM or GRU that classifies, and an encoder and decoder with attention.

Hochreiter & Schmidhuber 1997, "Long short-term memory"; Bahdanau et al. 2015, "Neural machine translation by jointly learning to align
and translate".
"""

from __future__ import annotations

import functools

from mindspore import nn, ops
from mindspore.common.initializer import Normal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


class Sentiment(nn.Cell):
    """Two layers in both directions; the class follows from the mean over the words."""

    def __init__(
        self, layer: type[nn.LSTM] | type[nn.GRU], num_classes: int = 2, vocabulary: int = 30522, length: int = 500, width: int = 300,
        hidden: int = 100, dropout: float = 0.2,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.vocabulary, self.takes = num_classes, vocabulary, (Takes("ids", (length,), vocabulary),)
        self.table = nn.Embedding(vocabulary, width, embedding_table=Normal(0.1))
        self.kind = layer.__name__.lower()
        setattr(self, self.kind, layer(width, hidden, num_layers=2, batch_first=True, bidirectional=True))
        self.dropout, self.classifier = nn.Dropout(p=dropout), nn.Dense(2 * hidden, num_classes)

    def construct(self, ids: Tensor) -> Tensor:
        states, _ = getattr(self, self.kind)(self.table(ids))
        return self.classifier(self.dropout(ops.mean(states, 1)))


for _name, _layer, _paper in (
    ("lstm_sentiment", nn.LSTM, "Hochreiter & Schmidhuber 1997, Long short-term memory"),
    ("gru_sentiment", nn.GRU, "Cho et al. 2014, Learning phrase representations using RNN encoder-decoder"),
):
    model(
        _name, task="text classes", paper=_paper,
        recipe=Recipe(epochs=20, batch=64, optimizer="adam", rate=1e-3, weight_decay=0.0, schedule="constant"),
        tiny={"vocabulary": 64, "length": 16, "width": 16, "hidden": 16},
    )(functools.partial(Sentiment, _layer))  # fmt: skip


@model(
    "seq2seq_attention",
    task="translation",
    paper="Bahdanau et al. 2015, Neural machine translation by jointly learning to align and translate",
    recipe=Recipe(epochs=10, batch=80, optimizer="adam", rate=1e-3, weight_decay=0.0, schedule="constant", clip=1.0),
    tiny={"vocabulary": 32, "length": 8, "width": 48, "hidden": 48},
)
class Seq2Seq(nn.Cell):
    """A GRU reads the source in both directions, another writes; what it writes next depends on the states it looks at."""

    def __init__(
        self, vocabulary: int = 30000, length: int = 50, width: int = 620, hidden: int = 1000, dropout: float = 0.0
    ):
        super().__init__()
        self.vocabulary = vocabulary
        self.takes = (Takes("source", (length,), vocabulary), Takes("target", (length,), vocabulary))
        self.table = nn.Embedding(vocabulary, width, embedding_table=Normal(0.1))
        self.reader = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.writer = nn.GRU(width, hidden, batch_first=True)
        self.begin = nn.Dense(2 * hidden, hidden)
        self.of_source, self.of_target, self.score = nn.Dense(2 * hidden, hidden), nn.Dense(hidden, hidden), nn.Dense(hidden, 1)
        self.dropout, self.output = nn.Dropout(p=dropout), nn.Dense(3 * hidden, vocabulary)

    def construct(self, source: Tensor, target: Tensor) -> Tensor:
        read, _ = self.reader(self.table(source))
        first = ops.tanh(self.begin(ops.mean(read, 1))).expand_dims(0)
        written, _ = self.writer(self.table(target), first)
        pairs = self.of_target(written).expand_dims(2) + self.of_source(read).expand_dims(1)
        shares = ops.softmax(self.score(ops.tanh(pairs)).squeeze(-1), -1)
        return self.output(self.dropout(ops.cat((written, ops.matmul(shares, read)), -1)))
