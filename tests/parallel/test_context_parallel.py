"""Long sequences over devices: attention by heads (Ulysses), by queries, with keys in a ring; against one device, with what they send."""

import numpy as np
import pytest
from rehearse import assert_same

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.compiler.shard.cost import Link, Machine
from mindspore.compiler.shard.partition import partition

#: computing takes long, so that it is worth spreading even of small tensors
SLOW = Machine(flops=1e9, launch=0.0, fast=Link(0.0, 1e12), slow=Link(0.0, 1e12))
LENGTH, HEADS, WIDTH = 16, 8, 32


def weight(name, seed):
    return Parameter(Tensor((np.random.default_rng(seed).normal(size=(WIDTH, WIDTH)) * 0.2).astype("f")), name=name)


class Block(nn.Cell):
    """Self-attention; the sequence comes cut, attention is cut as `cut` says."""

    def __init__(self, cut, causal, bias=False):
        super().__init__()
        self.attention = ops.Attention(0.5, causal)
        if cut:
            self.attention.shard(cut)
        self.wq, self.wk, self.wv, self.wo = (weight(f"w{c}", i) for i, c in enumerate("qkvo"))
        self.bias = Parameter(Tensor(np.linspace(-1, 1, LENGTH, dtype="f").reshape(1, 1, 1, LENGTH)), name="b") if bias else None

    def heads(self, x):
        return x.reshape(x.shape[0], LENGTH, HEADS, WIDTH // HEADS).swapaxes(1, 2)

    def construct(self, x):
        q, k, v = (self.heads(ops.matmul(x, w)) for w in (self.wq, self.wk, self.wv))
        y = self.attention(q, k, v, self.bias).swapaxes(1, 2).reshape(x.shape)
        return (ops.matmul(x + y, self.wo) ** 2).mean()


CUTS = {
    "ulysses": ((1, 8, 1, 1),) * 3,
    "queries": ((1, 1, 8, 1), (1, 1, 1, 1), (1, 1, 1, 1)),
    "both": ((1, 2, 4, 1), (1, 2, 1, 1), (1, 2, 1, 1)),
    "ring": ((1, 1, 8, 1),) * 3,
    "ring of heads": ((1, 2, 4, 1),) * 3,
}


def trained(net):
    return ms.value_and_grad(net, None, net.trainable_params())


def collectives(plan):
    return [n.op.name for n in partition(plan).nodes() if n.op.name in ("AlltoAll", "AllGather", "AllReduce", "ReduceScatter", "Shift")]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", CUTS)
def test_a_sequence_over_eight_devices(kind, causal):
    x = Tensor(np.random.default_rng(9).normal(size=(1, LENGTH, WIDTH)).astype("f"))
    net = Block(CUTS[kind], causal)
    plan = assert_same(trained(net), x, dataset=((1, 8, 1),), machine=SLOW)
    sent = collectives(plan)
    attention = [n for n in plan.graph.nodes() if n.op.name in ("Attention", "AttentionGrad")]
    assert [sum(map(len, plan.assignments[n.id].values())) for n in attention] == [3, 3]  # all axes of 2 x 2 x 2
    assert ("AlltoAll" in sent) == (kind not in ("queries", "ring"))
    # Keys and values go around once in the forward pass and twice in the gradient, their own gradients once more and home.
    assert sent.count("Shift") == 2 * 7 * 3 + 2 * 8 if kind == "ring" else (sent.count("Shift") > 0) == (kind == "ring of heads")
    if "ring" in kind:
        scores = [n.abstract.shape for n in partition(plan).nodes() if n.op.name == "Exp" and n.abstract.shape[-1] > 1]
        assert scores and max(shape[-1] for shape in scores) <= LENGTH // 4  # never all keys


def test_the_gradient_of_a_bias_is_summed_over_queries():
    x = Tensor(np.random.default_rng(9).normal(size=(1, LENGTH, WIDTH)).astype("f"))
    cut = (*CUTS["queries"], (1, 1, 1, 1))
    assert_same(trained(Block(cut, False, bias=True)), x, dataset=((1, 8, 1),), machine=SLOW)


@pytest.mark.parametrize("causal", [False, True])
def test_the_gradient_of_a_bias_in_a_ring(causal):
    x = Tensor(np.random.default_rng(9).normal(size=(1, LENGTH, WIDTH)).astype("f"))
    cut = (*CUTS["ring"], (1, 1, 1, 1))
    assert_same(trained(Block(cut, causal, bias=True)), x, dataset=((1, 8, 1),), machine=SLOW)


@pytest.mark.parametrize("mask", [False, True])
def test_flash_attention_in_a_ring(mask):
    draw = np.random.default_rng(9).standard_normal
    q, k, v = (Tensor(draw((1, LENGTH, WIDTH)).astype("f")) for _ in range(3))
    attend = ops.FlashAttentionScore(HEADS, scale_value=0.5, sparse_mode=0, next_tokens=0 if not mask else 2147483647)
    attend.shard(((1, 8, 1),) * 3)
    hidden = Tensor(np.triu(np.ones((LENGTH, LENGTH), np.uint8), 1)) if mask else None
    total = lambda *given: (attend(*given, None, None, None, hidden)[3] ** 2).sum()
    plan = assert_same(ms.value_and_grad(total, (0, 1, 2)), q, k, v, machine=SLOW)
    assert "Shift" in collectives(plan)


def test_a_ring_needs_as_many_keys_as_queries():
    attention = ops.Attention().shard(CUTS["ring"])
    with pytest.raises(RuntimeError, match="only where there are as many as queries, but there are 8 and 16"):
        assert_same(lambda q, k: attention(q, k, k, None), ops.ones((1, 2, 16, 4)), ops.ones((1, 2, 8, 4)))


def test_attention_follows_a_cut_sequence():
    """Without a strategy: queries stay where they are."""
    x = Tensor(np.random.default_rng(9).normal(size=(1, LENGTH, WIDTH)).astype("f"))
    plan = assert_same(trained(Block(None, True)), x, dataset=((1, 8, 1),), machine=SLOW)
    (node,) = [n for n in plan.graph.nodes() if n.op.name == "Attention"]
    assert plan.layout_of(node).cuts(plan.mesh) in ((1, 1, 8, 1), (1, 8, 1, 1))
