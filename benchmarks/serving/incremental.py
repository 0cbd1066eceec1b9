"""Incremental against full inference of a plain network with state: a decoder in the manner of PanGu-α (Zeng et al., 2021).

    python benchmarks/serving/incremental.py [--layers 24] [--width 512] [--length 1024] [--tokens 8]

The network keeps keys and values in Parameters. Exported twice, it is a servable's model of two subgraphs that share weights: the
first reads a prompt, the second one token. Without state, every token costs a pass over the whole text.
"""

import argparse
import os
import statistics
import tempfile
import time

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore_serving.engine.declaration import ModelDeclaration
from mindspore_serving.engine.models import LoadedModel, load_subgraphs


class Layer(nn.Cell):
    def __init__(self, number, width, heads, length, keeps, first):
        super().__init__()
        self.heads, self.size, self.keeps, self.first = heads, width // heads, keeps, first
        self.before, self.after = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.inward, self.outward = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.wide, self.narrow = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        if keeps:
            empty = np.zeros((heads, length, self.size), np.float32)
            self.keys = Parameter(Tensor(empty), name=f"past_keys.{number}")
            self.values = Parameter(Tensor(empty), name=f"past_values.{number}")

    def construct(self, x, seen, here):
        """x: (rows, width); seen: (rows, length), 0 or -1e9; here: (length, 1), 1 where a single row stands."""
        rows = x.shape[0]
        q, k, v = ops.split(
            self.inward(self.before(x)).reshape(rows, 3 * self.heads, self.size).transpose(1, 0, 2), self.heads
        )
        if self.keeps:
            if self.first:
                ops.assign(self.keys, k)
                ops.assign(self.values, v)
            else:
                k = ops.assign(self.keys, self.keys * (1.0 - here) + k * here)
                v = ops.assign(self.values, self.values * (1.0 - here) + v * here)
        scores = ops.matmul(q, k.transpose(0, 2, 1)) * self.size**-0.5 + seen
        mixed = ops.matmul(ops.softmax(scores), v).transpose(1, 0, 2).reshape(rows, -1)
        x = x + self.outward(mixed)
        return x + self.narrow(ops.gelu(self.wide(self.after(x))))


class Decoder(nn.Cell):
    """Scores of what follows place `at`. `keeps`: with state; `first`: reads a whole text, otherwise the token at `at`."""

    def __init__(self, layers=24, width=512, heads=8, length=1024, vocabulary=1000, keeps=True, first=True):
        super().__init__()
        self.length, self.single = length, keeps and not first
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.layers = nn.CellList([Layer(n, width, heads, length, keeps, first) for n in range(layers)])
        self.norm = nn.LayerNorm((width,))

    def construct(self, tokens, at):
        """tokens: (length,) or (1,); at: (1,)."""
        places = ops.arange(self.length)
        rows = at if self.single else places
        seen = ops.where(places[None] <= rows[:, None], 0.0, -1e9)
        x = self.words(tokens) + self.places(rows)
        for layer in self.layers:
            x = layer(x, seen, (places == at)[:, None].astype(ms.float32))
        last = self.norm(x if self.single else x[at])
        return ops.matmul(last, self.words.embedding_table.T)


def export(folder, **sizes):
    """`prompt.mindir`, `token.mindir` and, without state, `full.mindir`, with the same weights."""
    sources = {"prompt": (True, True), "token": (True, False), "full": (False, True)}
    weights = None
    for name, (keeps, first) in sources.items():
        net = Decoder(**sizes, keeps=keeps, first=first)
        if weights is None:
            random = np.random.default_rng(0)
            weights = {
                p.name: random.normal(p.name.endswith("gamma"), 0.02 if p.ndim > 1 else 0.01, p.shape).astype(
                    np.float32
                )
                for p in net.get_parameters()
                if "past" not in p.name
            }
        for parameter in net.get_parameters():
            if parameter.name in weights:
                parameter.set_data(Tensor(weights[parameter.name]))
        tokens = Tensor(np.zeros(1 if keeps and not first else net.length, np.int32))
        ms.export(
            net, tokens, Tensor([0], ms.int32), file_name=os.path.join(folder, f"{name}.mindir"), file_format="MINDIR"
        )


def load(folder, *files):
    declaration = ModelDeclaration(files[0], tuple(f"{file}.mindir" for file in files), "MindIR", with_batch_dim=False)
    return LoadedModel(declaration, load_subgraphs(declaration, folder))


def full(model, tokens, at):
    return model.call([(tokens, np.array([at], np.int32))], 0)[0][0]


def incremental(model, tokens, at, first):
    given = tokens if first else tokens[at : at + 1]
    return model.call([(given, np.array([at], np.int32))], 0 if first else 1)[0][0]


def timed(function):
    begin = time.perf_counter()
    found = function()
    return time.perf_counter() - begin, found


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("layers", 24), ("width", 512), ("length", 1024), ("tokens", 8)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        export(folder, layers=options.layers, width=options.width, length=options.length)
        whole, kept = load(folder, "full"), load(folder, "prompt", "token")
        tokens = np.random.default_rng(1).integers(0, 1000, options.length).astype(np.int32)
        begin = options.length - options.tokens - 1
        incremental(kept, tokens, begin, True)
        slow, fast = [], []
        for at in range(begin + 1, options.length):
            seconds, found = timed(lambda at=at: incremental(kept, tokens, at, False))
            fast.append(seconds)
            seconds, wanted = timed(lambda at=at: full(whole, tokens, at))
            slow.append(seconds)
            np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)
        slow_ms, fast_ms = statistics.median(slow) * 1e3, statistics.median(fast) * 1e3
        print(
            f"a token at {options.length} tokens: full {slow_ms:.1f} ms, incremental {fast_ms:.2f} ms: {slow_ms / fast_ms:.0f} times"
        )


if __name__ == "__main__":
    main()
