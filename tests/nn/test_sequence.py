"""Recurrent layers and attention against NumPy restatements, step by step."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as sp
from nn_harness import both_namespaces, in_both_modes

from gradcheck import check_gradients
from mindspore import Tensor, nn, ops
from mindspore.prims import attention, rnn

RNG = np.random.default_rng(0)
GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def cell(mode, x, h, c, w_ih, w_hh, b_ih, b_hh):
    gx, gh = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    if mode == "lstm":
        i, f, g, o = np.split(gx + gh, 4, -1)
        c = sp.expit(f) * c + sp.expit(i) * np.tanh(g)
        return sp.expit(o) * np.tanh(c), c
    if mode == "gru":
        (xr, xz, xn), (hr, hz, hn) = np.split(gx, 3, -1), np.split(gh, 3, -1)
        r, z = sp.expit(xr + hr), sp.expit(xz + hz)
        n = np.tanh(xn + r * hn)
        return (1 - z) * n + z * h, c
    return (np.tanh if mode == "tanh" else lambda v: np.maximum(v, 0))(gx + gh), c


@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("lengths", [None, np.array([3, 1])])
def test_sequence_is_the_cell_step_by_step(mode, reverse, lengths):
    gates = GATES[mode]
    args = (RNG.normal(size=(3, 2, 2 * gates)), RNG.normal(size=(2, 2)), RNG.normal(size=(2, 2)),
            RNG.normal(size=(2 * gates, 2)), RNG.normal(size=2 * gates))  # fmt: skip
    prim = rnn.RecurrentSequence(mode, reverse)
    out, last_h, last_c, saved = both_namespaces(prim, *args, lengths)
    gx, h0, c0, w, b = args
    for n in range(2):
        steps = 3 if lengths is None else lengths[n]
        h, c = h0[n : n + 1], c0[n : n + 1]
        eye = np.eye(2 * gates)
        for t in reversed(range(steps)) if reverse else range(steps):
            h, c = cell(mode, gx[t, n : n + 1], h, c, eye, w, 0, b)
            np.testing.assert_allclose(out[t, n], h[0], atol=1e-12)
        assert (out[steps:, n] == 0).all()
        np.testing.assert_allclose(last_h[n], h[0], atol=1e-12)
        if mode == "lstm":
            np.testing.assert_allclose(last_c[n], c[0], atol=1e-12)
    fixed = None if lengths is None else Tensor(lengths)
    check_gradients(lambda *v: prim(*v, fixed)[:3], *args)
    cotangents = RNG.normal(size=out.shape), RNG.normal(size=last_h.shape), RNG.normal(size=last_c.shape)
    both_namespaces(rnn.RecurrentSequenceGrad(mode, reverse), *args, lengths, out, saved, *cotangents)


@pytest.mark.parametrize("mode", GATES)
def test_second_derivative_of_a_sequence_on_xla(mode):
    gates = GATES[mode]
    shapes = (3, 2, 2 * gates), (2, 2), (2, 2), (2 * gates, 2)
    point = [RNG.normal(size=s) for s in shapes]
    rest = [RNG.normal(size=s) for s in ((3, 2, 2), (2, 2), (2, 2), *shapes, (2 * gates,))]
    both_namespaces(rnn.RecurrentSequenceCurvature(mode), *point, None, np.array([3, 1]), *rest)


@pytest.mark.parametrize("name,mode", [("LSTM", "lstm"), ("GRU", "gru"), ("RNN", "tanh")])
def test_stacked_bidirectional_layer(name, mode):
    net = getattr(nn, name)(5, 3, num_layers=2, bidirectional=True, batch_first=True)
    x = RNG.normal(size=(2, 4, 5)).astype(np.float32)
    found = in_both_modes(lambda: net(Tensor(x)))
    layer_in = x.transpose(1, 0, 2)
    weights = {p.name: p.asnumpy() for p in net.get_parameters()}
    for layer in range(2):
        sides = []
        for suffix, order in (("", range(4)), ("_reverse", range(3, -1, -1))):
            w = [weights[f"{k}_l{layer}{suffix}"] for k in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            h = c = np.zeros((2, 3))
            out = np.zeros((4, 2, 3))
            for t in order:
                h, c = cell(mode, layer_in[t], h, c, *w)
                out[t] = h
            sides.append(out)
        layer_in = np.concatenate(sides, -1)
    np.testing.assert_allclose(found[0], layer_in.transpose(1, 0, 2), atol=1e-5)


@pytest.mark.parametrize("name,mode", [("LSTMCell", "lstm"), ("GRUCell", "gru"), ("RNNCell", "tanh")])
def test_cells(name, mode):
    net = getattr(nn, name)(5, 3)
    x, h, c = (RNG.normal(size=s).astype(np.float32) for s in ((2, 5), (2, 3), (2, 3)))
    state = (Tensor(h), Tensor(c)) if mode == "lstm" else Tensor(h)
    found = in_both_modes(lambda: net(Tensor(x), state))
    w = [p.asnumpy() for p in (net.weight_ih, net.weight_hh, net.bias_ih, net.bias_hh)]
    expected = cell(mode, x, h, c, *w)
    np.testing.assert_allclose(found[0] if mode == "lstm" else found, expected[0], atol=1e-5)
    with pytest.raises(ValueError, match="shape"):
        net(Tensor(x[:, :4]), state)


# -- attention ----------------------------------------------------------------------------------------------------------
def attend(q, k, v, bias, scale):
    return sp.softmax(q @ np.swapaxes(k, -1, -2) * scale + bias, -1) @ v


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_attention_primitive(causal, with_bias):
    q, k, v = (RNG.normal(size=s) for s in ((2, 3, 4), (2, 5, 4), (2, 5, 3)))
    bias = RNG.normal(size=(1, 3, 5)) if with_bias else None
    out = both_namespaces(attention.Attention(0.5, causal), q, k, v, bias)
    mask = np.where(np.arange(5)[None] > np.arange(3)[:, None] + 2, -1e9, 0) if causal else 0
    np.testing.assert_allclose(out, attend(q, k, v, (0 if bias is None else bias) + mask, 0.5))
    prim = attention.Attention(0.5, causal)
    if with_bias:
        check_gradients(prim, q[:1], k[:1], v[:1], bias)
    else:
        check_gradients(lambda *t: prim(*t, None), q[:1], k[:1], v[:1])


def test_long_attention_goes_over_blocks():
    q = RNG.normal(size=(1, 1100, 4))
    out = attention.Attention(0.5, True).eval(np, q, q, q, None)
    mask = np.where(np.triu(np.ones((1100, 1100)), 1) > 0, -1e9, 0)
    np.testing.assert_allclose(out, attend(q, q, q, mask, 0.5))


@pytest.mark.parametrize("layout", ["BSH", "SBH", "BSND", "BNSD"])
@pytest.mark.parametrize("kv_heads", [4, 2])
def test_flash_attention_layouts_and_shared_heads(layout, kv_heads):
    heads, depth = 4, 3
    q = RNG.normal(size=(2, heads, 5, depth)).astype(np.float32)
    k, v = (RNG.normal(size=(2, kv_heads, 6, depth)).astype(np.float32) for _ in range(2))

    def lay(x):
        if layout == "BNSD":
            return x
        x = x.transpose(0, 2, 1, 3)
        if layout == "BSND":
            return x
        x = x.reshape(*x.shape[:2], -1)
        return x.transpose(1, 0, 2) if layout == "SBH" else x

    repeated = [np.repeat(t, heads // kv_heads, 1) for t in (k, v)]
    mask = RNG.random((5, 6)) > 0.6
    mask[:, 0] = False
    expected = attend(q, *repeated, np.where(mask, -1e9, 0), 0.7)
    found = ops.flash_attention_score(
        Tensor(lay(q)),
        Tensor(lay(k)),
        Tensor(lay(v)),
        heads,
        attn_mask=Tensor(mask),
        scalar_value=0.7,
        input_layout=layout,
    )
    np.testing.assert_allclose(found.asnumpy(), lay(expected), atol=1e-5)


def test_flash_attention_of_packed_sequences():
    q = RNG.normal(size=(7, 2, 3)).astype(np.float32)
    ends = (3, 7)
    found = ops.flash_attention_score(
        Tensor(q),
        Tensor(q),
        Tensor(q),
        2,
        input_layout="TND",
        actual_seq_qlen=ends,
        actual_seq_kvlen=ends,
        sparse_mode=3,
    ).asnumpy()
    for a, b in ((0, 3), (3, 7)):
        part = q[a:b].transpose(1, 0, 2)
        mask = np.where(np.triu(np.ones((b - a, b - a)), 1) > 0, -1e9, 0)
        np.testing.assert_allclose(found[a:b], attend(part, part, part, mask, 1.0).transpose(1, 0, 2), atol=1e-5)


def test_multihead_attention():
    net = nn.MultiheadAttention(8, 2)
    x, y = RNG.normal(size=(5, 3, 8)).astype(np.float32), RNG.normal(size=(4, 3, 8)).astype(np.float32)
    padding = np.zeros((3, 5), bool)
    padding[0, 3:] = True
    out, weights = in_both_modes(lambda: net(Tensor(y), Tensor(x), Tensor(x), key_padding_mask=Tensor(padding)))
    w, b = net.in_proj_weight.asnumpy(), net.in_proj_bias.asnumpy()
    q, k, v = (t @ w[i * 8 : i * 8 + 8].T + b[i * 8 : i * 8 + 8] for i, t in enumerate((y, x, x)))
    split = lambda t: t.reshape(t.shape[0], 3, 2, 4).transpose(1, 2, 0, 3)
    q, k, v = map(split, (q, k, v))
    shares = sp.softmax(q @ k.swapaxes(-1, -2) / 2 + np.where(padding, -1e9, 0)[:, None, None], -1)
    joined = (shares @ v).transpose(2, 0, 1, 3).reshape(4, 3, 8)
    expected = joined @ net.out_proj.weight.asnumpy().T + net.out_proj.bias.asnumpy()
    np.testing.assert_allclose(out, expected, atol=1e-5)
    np.testing.assert_allclose(weights, shares.mean(1), atol=1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_transformer_in_both_modes(norm_first):
    net = nn.Transformer(8, 2, 1, 1, 16, norm_first=norm_first)
    x, y = (Tensor(RNG.normal(size=s).astype(np.float32)) for s in ((5, 2, 8), (3, 2, 8)))
    mask = Tensor(np.triu(np.ones((3, 3)), 1).astype(bool))
    out = in_both_modes(lambda: net(x, y, tgt_mask=mask))
    changed = np.array(y.asnumpy())
    changed[2, :, 0] += 1  # a later position must not reach an earlier one
    later = net(x, Tensor(changed), tgt_mask=mask).asnumpy()
    np.testing.assert_allclose(out[:2], later[:2], atol=1e-5)
    assert np.abs(out[2] - later[2]).max() > 1e-3


def test_rotary_positions_keep_lengths():
    x = RNG.normal(size=(1, 2, 3, 4)).astype(np.float32)
    angles = RNG.normal(size=(1, 1, 3, 2)).astype(np.float32)
    for mode, layout in ((0, lambda a: np.concatenate([a, a], -1)), (1, lambda a: np.repeat(a, 2, -1))):
        out = ops.rotary_position_embedding(
            Tensor(x), Tensor(layout(np.cos(angles))), Tensor(layout(np.sin(angles))), mode
        )
        np.testing.assert_allclose(np.linalg.norm(out.asnumpy(), axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-5)


def _encoder(count):
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), count)


@pytest.mark.parametrize("count", [-1, 2**31, 2**63 - 1])
@pytest.mark.parametrize(
    "make",
    [
        lambda count: nn.LSTM(2, 3, count),
        lambda count: nn.GRU(2, 3, count),
        _encoder,
        lambda count: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), count),
        lambda count: nn.Transformer(8, 2, count, 1, 16),
        lambda count: nn.Transformer(8, 2, 1, count, 16),
        lambda count: nn.transformer.TransformerEncoder(2, count, 8, 16, 5, 2),
        lambda count: nn.transformer.TransformerDecoder(count, 2, 8, 16, 5, 5, 2),
    ],
)
def test_a_stack_of_absurdly_many_layers_is_refused_at_once(make, count):
    with pytest.raises(ValueError, match=f"'num_layers' must be between [01] and 65536, but got {count}"):
        make(count)


@pytest.mark.parametrize("count", [2.0, "2", True, None])
def test_the_number_of_layers_is_whole(count):
    with pytest.raises(TypeError, match="'num_layers' must be int"):
        _encoder(count)
