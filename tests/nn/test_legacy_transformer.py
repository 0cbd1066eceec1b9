"""The transformer API of MindSpore 1.x against NumPy restatements."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as sp

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.nn import transformer as tf

RNG = np.random.default_rng(0)


def linear(x, layer):
    w = layer.weight.asnumpy()
    return x @ (w.T if layer.transpose_b else w) + layer.bias.asnumpy()


def attend(net, q, k, mask):
    heads = lambda x: x.reshape(x.shape[0], -1, net.n_head, net.size_per_head).transpose(0, 2, 1, 3)
    query, key, value = heads(linear(q, net.dense1)), heads(linear(k, net.dense2)), heads(linear(k, net.dense3))
    scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(net.size_per_head)
    shares = sp.softmax(scores - 1e4 * (1 - mask[:, None]), -1)
    return linear((shares @ value).transpose(0, 2, 1, 3).reshape(q.shape), net.projection)


def norm(x, layer):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def encoder_layer(net, x, mask):
    normed = norm(x, net.layernorm1)
    x = x + attend(net.attention, normed, normed, mask)
    hidden = linear(norm(x, net.layernorm2), net.output.mapping)
    gelu = 0.5 * hidden * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)))
    return x + linear(gelu, net.output.projection)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_encoder_is_layers_one_after_the_other(mode):
    ms.set_context(mode=mode)
    net = tf.TransformerEncoder(2, 2, 8, 16, 5, 2).set_train(False)
    x = RNG.normal(size=(2, 5, 8)).astype(np.float32)
    mask = tf.AttentionMask(5)(Tensor(np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.float32)))
    out, presents = net(Tensor(x), mask)
    expected = x
    for layer in net.blocks:
        expected = encoder_layer(layer, expected, mask.asnumpy())
    np.testing.assert_allclose(out.asnumpy(), expected, atol=2e-2)  # linear maps are in float16
    assert presents[1][0].shape == (2, 2, 4, 5) and presents[1][1].shape == (2, 2, 5, 4)


def test_one_token_at_a_time_equals_the_whole_prompt():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(1)
    whole = tf.TransformerEncoderLayer(1, 8, 16, 2, 4).set_train(False)
    step = tf.TransformerEncoderLayer(1, 8, 16, 2, 4, use_past=True).set_train(False)
    ms.load_param_into_net(step, {p.name: p for p in whole.get_parameters()})
    x = RNG.normal(size=(1, 4, 8)).astype(np.float32)
    mask = Tensor(np.tril(np.ones((1, 4, 4), np.float32)))
    expected, _ = whole(Tensor(x), mask)
    step.add_flags_recursive(is_first_iteration=True)
    first = np.where(np.arange(4)[:, None] < 2, x[0], 0)[None].astype(np.float32)
    out, _ = step(Tensor(first), mask, Tensor([False]), Tensor([2], ms.int32))
    np.testing.assert_allclose(out.asnumpy()[:, :2], expected.asnumpy()[:, :2], atol=1e-2)
    step.add_flags_recursive(is_first_iteration=False)
    for place in (2, 3):
        row = Tensor(x[:, place : place + 1])
        out, _ = step(row, Tensor(np.ones((1, 1, 4), np.float32)), Tensor([True]), Tensor([place], ms.int32))
        np.testing.assert_allclose(out.asnumpy()[:, 0], expected.asnumpy()[:, place], atol=1e-2)


def test_encoder_and_decoder_train():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = tf.Transformer(8, 2, 16, 5, 3, encoder_layers=1, decoder_layers=1)
    memory, target = Tensor(np.ones((2, 5, 8), np.float32)), Tensor(np.ones((2, 3, 8), np.float32))
    masks = [Tensor(np.ones((2, *s), np.float32)) for s in ((5, 5), (3, 3), (3, 5))]
    out, encoder_memory, decoder_memory = net(memory, masks[0], target, masks[1], masks[2])
    assert out.shape == (2, 3, 8) and len(encoder_memory) == 1 and len(decoder_memory[0]) == 4
    loss = lambda t: net(memory, masks[0], t, masks[1], masks[2])[0].sum()
    grads = ms.value_and_grad(loss, None, net.trainable_params())(target)[1]
    assert len(grads) == len(net.trainable_params())


@pytest.mark.parametrize("chosen", [1, 2])
def test_experts_see_their_tokens(chosen):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    config = tf.MoEConfig(expert_num=4, capacity_factor=4.0, num_experts_chosen=chosen)
    net = tf.MoE(8, 16, 0.0, "relu", moe_config=config).set_train(False)
    x = RNG.normal(size=(6, 8)).astype(np.float32)
    out, balance = net(Tensor(x))
    shares = sp.softmax(x @ net.router.dense.weight.asnumpy().T, -1)
    up, down = net.ffn.mapping, net.ffn.projection
    for token in range(6):
        best = np.argsort(-shares[token])[:chosen]
        weights = shares[token][best] if chosen == 1 else shares[token][best] / shares[token][best].sum()
        expected = sum(
            w * (np.maximum(x[token] @ up.weight.asnumpy()[e], 0) @ down.weight.asnumpy()[e])
            for w, e in zip(weights, best)
        )
        np.testing.assert_allclose(out.asnumpy()[token], expected, atol=1e-2)
    assert float(balance) > 0


def test_full_experts_drop_tokens():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = tf.MoE(4, 8, 0.0, "relu", moe_config=tf.MoEConfig(expert_num=2, capacity_factor=1.0)).set_train(False)
    out, _ = net(Tensor(np.ones((4, 4), np.float32)))  # all choose the same expert, which takes two
    assert np.abs(out.asnumpy()[:2]).sum() > 0
    np.testing.assert_array_equal(out.asnumpy()[2:], 0)


def test_embedding_and_loss():
    embedding = tf.VocabEmbedding(7, 3)
    rows, table = embedding(Tensor([[1, 4]], ms.int32))
    np.testing.assert_array_equal(rows.asnumpy()[0], table.asnumpy()[[1, 4]])
    logits, label, mask = RNG.normal(size=(4, 7)).astype(np.float32), np.array([1, 2, 3, 4]), np.array([1, 1, 0, 1.0])
    found = tf.CrossEntropyLoss()(Tensor(logits), Tensor(label, ms.int32), Tensor(mask, ms.float32))
    picked = sp.log_softmax(logits, -1)[np.arange(4), label]
    np.testing.assert_allclose(found.asnumpy(), -(picked * mask).sum() / 3, rtol=1e-4)


def test_configs_check_what_they_are_given():
    assert nn.TransformerOpParallelConfig(data_parallel=2, vocab_emb_dp=False).embedding_dp_mp_config.data_parallel == 2
    with pytest.raises(ValueError, match="'model_parallel' must be a positive int"):
        tf.OpParallelConfig(model_parallel=0)
    with pytest.raises(ValueError, match="num_experts_chosen"):
        tf.MoEConfig(expert_num=2, num_experts_chosen=3)
    with pytest.raises(ValueError, match="multiple of 'num_heads'"):
        tf.MultiHeadAttention(2, 4, 4, 9, 2)
