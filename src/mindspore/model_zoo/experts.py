"""A language model whose perceptrons are mixtures of experts: each token goes to the two that suit it.

Shazeer et al. 2017, "Outrageously large neural networks: The sparsely-gated mixture-of-experts layer"; the decoder and its sizes are those
of Jiang et al. 2024, "Mixtral of experts"; experts are kept equally busy as by Fedus et al. 2022, "Switch transformers".
"""

from __future__ import annotations

from typing import Any

from mindspore import nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import RMSNorm, check_length, dense
from mindspore.model_zoo.llama import Attention
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


class Experts(nn.Cell):
    """Gated perceptrons side by side; a token's result is the sum of its best `chosen` ones, weighed by their gates.

    All experts see all tokens, as one product for each of their matrices: exact, and quick for few experts. Over devices the
    matrices are cut at their first axis.
    """

    def __init__(self, width: int, hidden: int, count: int, chosen: int):
        super().__init__()
        self.count, self.chosen = count, chosen
        self.gate = dense(width, count, bias=False)

        def matrices(inputs: int, outputs: int, name: str) -> Parameter:
            return Parameter(initializer(Normal(0.02), (count, inputs, outputs)), name=name)

        self.w1, self.w2, self.w3 = matrices(width, hidden, "w1"), matrices(hidden, width, "w2"), matrices(width, hidden, "w3")

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Results like x, and how unequally busy the experts are: 1 if equally, `count` if one does it all."""
        flat = x.reshape(-1, x.shape[-1])
        shares = ops.softmax(self.gate(flat), -1)
        best, index = ops.topk(shares, self.chosen, -1)
        taken = ops.sum(ops.one_hot(index, self.count, Tensor(1.0), Tensor(0.0)), 1)  # (tokens, experts) of 0 and 1
        weights = shares * taken / ops.sum(best, -1, keepdim=True)
        inner = ops.silu(ops.matmul(flat, self.w1)) * ops.matmul(flat, self.w3)  # (experts, tokens, hidden)
        results = ops.matmul(inner, self.w2)
        busy = self.count * ops.sum(ops.mean(taken, 0) * ops.mean(shares, 0)) / self.chosen
        return ops.sum(results * weights.swapaxes(0, 1).expand_dims(-1), 0).reshape(x.shape), busy


class Block(nn.Cell):
    def __init__(self, attention: Attention, width: int, hidden: int, count: int, chosen: int):
        super().__init__()
        self.input_layernorm, self.self_attn = RMSNorm(width, 1e-5), attention
        self.post_attention_layernorm, self.experts = RMSNorm(width, 1e-5), Experts(width, hidden, count, chosen)

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = x + self.self_attn(self.input_layernorm(x))
        mixed, busy = self.experts(self.post_attention_layernorm(x))
        return x + mixed, busy


@model(
    "mixtral_8x7b",
    task="language",
    paper="Jiang et al. 2024, Mixtral of experts",
    recipe=Recipe(epochs=1, batch=512, optimizer="adamw", rate=3e-4, weight_decay=0.1, warmup=0.01, betas=(0.9, 0.95), clip=1.0),
    tiny={"depth": 2, "width": 32, "heads": 4, "groups": 2, "hidden": 32, "experts": 4, "vocabulary": 64, "length": 16},
)
class MixtureOfExperts(nn.Cell):
    """Tokens (batch, length) → scores of the next token at each place. While training, also the balance of its experts, for the loss."""

    def __init__(
        self, depth: int = 32, width: int = 4096, heads: int = 32, groups: int = 8, hidden: int = 14336, experts: int = 8, chosen: int = 2,
        vocabulary: int = 32000, length: int = 4096, balance: float = 0.01, base: float = 1e6,
    ):  # fmt: skip
        super().__init__()
        self.vocabulary, self.length, self.takes = vocabulary, length, (Takes("ids", (length,), vocabulary),)
        self.balance = balance
        self.embed_tokens = nn.Embedding(vocabulary, width, embedding_table=Normal(0.02))
        self.layers = nn.CellList([
            Block(Attention(width, heads, groups, length, base), width, hidden, experts, chosen) for _ in range(depth)
        ])  # fmt: skip
        self.norm, self.lm_head = RMSNorm(width, 1e-5), dense(width, vocabulary, bias=False)

    def construct(self, ids: Tensor) -> Any:
        check_length(ids, self.length)
        x, total = self.embed_tokens(ids), Tensor(0.0)
        for layer in self.layers:
            x, busy = layer(x)
            total = total + busy
        scores = self.lm_head(self.norm(x))
        return (scores, self.balance * total) if self.training else scores
