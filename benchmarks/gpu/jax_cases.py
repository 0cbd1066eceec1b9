"""The work written by hand in JAX: parameters in f32, arithmetic in bf16, cuDNN attention, donated state."""

from __future__ import annotations

import functools
import os

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(0)
HALF = jnp.bfloat16
WIDTH, HEADS, LAYERS = 768, 12, 12
ATTENTION = "cudnn"


def prepare(contender: str) -> None:
    global ATTENTION
    if os.environ.get("BENCH_TARGET") == "CPU":
        ATTENTION = "xla"


def weights(*shape, scale=0.02):
    return jnp.asarray(RNG.standard_normal(shape).astype(np.float32) * scale)


def integers(high, *shape):
    return jnp.asarray(RNG.integers(0, high, shape).astype(np.int32))


def cross_entropy(logits, labels):
    logits = logits.astype(jnp.float32)
    picked = jnp.take_along_axis(logits, labels[:, None], 1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


def training(parameters, state, loss_of, update, x, y):
    def step(p, s, a, b):
        loss, grads = jax.value_and_grad(loss_of)(p, a, b)
        return (loss, *update(p, s, grads))

    run = jax.jit(step, donate_argnums=(0, 1))
    held = [parameters, state]

    def once():
        loss, held[0], held[1] = run(held[0], held[1], x, y)
        return loss

    return once


def momentum(p, s, g):
    s = jax.tree.map(lambda v, d: 0.9 * v + d, s, g)
    return jax.tree.map(lambda w, v: w - 0.01 * v, p, s), s


def adamw(p, s, g):
    m = jax.tree.map(lambda a, d: 0.9 * a + 0.1 * d, s[0], g)
    v = jax.tree.map(lambda a, d: 0.999 * a + 0.001 * d * d, s[1], g)
    moved = jax.tree.map(lambda w, a, b: w - 1e-4 * (a / (jnp.sqrt(b) + 1e-6) + 0.01 * w), p, m, v)
    return moved, (m, v)


def zeros(tree):
    return jax.tree.map(jnp.zeros_like, tree)


# -- ResNet-50, NHWC ----------------------------------------------------------------------------------------------------
def conv_parameters(inputs, outputs, kernel):
    filters = weights(kernel, kernel, inputs, outputs, scale=(2 / (kernel * kernel * inputs)) ** 0.5)
    return {"w": filters, "g": jnp.ones(outputs), "b": jnp.zeros(outputs)}


def convolve(x, w, stride, padding):
    return jax.lax.conv_general_dilated(
        x, w.astype(x.dtype), (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def conv_bn(p, x, stride, relu=True):
    reach = p["w"].shape[0] // 2
    y = convolve(x, p["w"], stride, [(reach, reach)] * 2).astype(jnp.float32)
    mean, mean_of_squares = y.mean((0, 1, 2)), (y * y).mean((0, 1, 2))
    scale = jax.lax.rsqrt(mean_of_squares - mean * mean + 1e-5) * p["g"]
    y = ((y - mean) * scale + p["b"]).astype(HALF)
    return jax.nn.relu(y) if relu else y


STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))


def resnet_parameters():
    blocks, inputs = [], 64
    for middle, count, _ in STAGES:
        for i in range(count):
            shapes = [(inputs, middle, 1), (middle, middle, 3), (middle, 4 * middle, 1)]
            shapes += [(inputs, 4 * middle, 1)] if i == 0 else []
            blocks.append([conv_parameters(*s) for s in shapes])
            inputs = 4 * middle
    return {"stem": conv_parameters(3, 64, 7), "blocks": blocks, "head": weights(2048, 1000), "bias": jnp.zeros(1000)}


def resnet_loss(p, x, y):
    x = conv_bn(p["stem"], x.astype(HALF), 2)
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    blocks = iter(p["blocks"])
    for _, count, stride in STAGES:
        for i in range(count):
            b = next(blocks)
            inner = conv_bn(b[1], conv_bn(b[0], x, 1), stride if i == 0 else 1)
            skip = conv_bn(b[3], x, stride, False) if len(b) == 4 else x
            x = jax.nn.relu(conv_bn(b[2], inner, 1, False) + skip)
    features = x.astype(jnp.float32).mean((1, 2)).astype(HALF)
    return cross_entropy(features @ p["head"].astype(HALF) + p["bias"].astype(HALF), y)


def resnet50(batch):
    def prepared():
        p = resnet_parameters()
        images = jnp.asarray(RNG.standard_normal((batch, 224, 224, 3)).astype(np.float32))
        return training(p, zeros(p), resnet_loss, momentum, images, integers(1000, batch))

    return prepared


# -- transformers -------------------------------------------------------------------------------------------------------
def norm(p, x):
    wide = x.astype(jnp.float32)
    mean, var = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
    return ((wide - mean) * jax.lax.rsqrt(var + 1e-5) * p[0] + p[1]).astype(HALF)


def dense(p, x):
    return x @ p[0].astype(HALF) + p[1].astype(HALF)


def block_parameters():
    linear = {n: (weights(*s), jnp.zeros(s[1])) for n, s in {
        "qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH),
    }.items()}  # fmt: skip
    return {**linear, "n1": (jnp.ones(WIDTH), jnp.zeros(WIDTH)), "n2": (jnp.ones(WIDTH), jnp.zeros(WIDTH))}


def attend(p, x, causal):
    b, t, _ = x.shape
    qkv = dense(p["qkv"], x).reshape(b, t, 3, HEADS, WIDTH // HEADS)
    mixed = jax.nn.dot_product_attention(
        qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2], is_causal=causal, implementation=ATTENTION
    )
    return dense(p["out"], mixed.reshape(b, t, WIDTH))


def block(p, x, causal):
    if causal:
        x = x + attend(p, norm(p["n1"], x), True)
        return x + dense(p["down"], jax.nn.gelu(dense(p["up"], norm(p["n2"], x))))
    x = norm(p["n1"], x + attend(p, x, False))
    return norm(p["n2"], x + dense(p["down"], jax.nn.gelu(dense(p["up"], x))))


def transformer(words, batch, tokens, causal):
    def loss_of(p, x, y):
        x = (p["words"].astype(HALF)[x] + p["places"].astype(HALF)).astype(HALF)
        for b in p["blocks"]:
            x = block(b, x, causal)
        logits = norm(p["norm"], x) @ p["head"].astype(HALF)
        return cross_entropy(logits.reshape(-1, words), y.reshape(-1))

    def prepared():
        p = {
            "words": weights(words, WIDTH), "places": jnp.zeros((tokens, WIDTH)), "head": weights(WIDTH, words),
            "blocks": [block_parameters() for _ in range(LAYERS)], "norm": (jnp.ones(WIDTH), jnp.zeros(WIDTH)),
        }  # fmt: skip
        state = (zeros(p), zeros(p))
        return training(p, state, loss_of, adamw, integers(words, batch, tokens), integers(words, batch, tokens))

    return prepared


# -- LeNet ----------------------------------------------------------------------------------------------------------------
def lenet_loss(p, x, y):
    for w in p["convs"]:
        x = jax.nn.relu(convolve(x, w, 1, "VALID"))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = x.reshape(x.shape[0], -1)
    for i, (w, b) in enumerate(p["dense"]):
        x = x @ w + b
        x = jax.nn.relu(x) if i < 2 else x
    return cross_entropy(x, y)


def lenet():
    sizes = [(400, 120), (120, 84), (84, 10)]
    p = {
        "convs": [weights(5, 5, 1, 6, scale=0.2), weights(5, 5, 6, 16, scale=0.1)],
        "dense": [(weights(*s, scale=0.05), jnp.zeros(s[1])) for s in sizes],
    }
    images = jnp.asarray(RNG.standard_normal((32, 32, 32, 1)).astype(np.float32))
    return training(p, zeros(p), lenet_loss, momentum, images, integers(10, 32))


# -- decoding one token with a network of the shape of LLaMA 3 8B --------------------------------------------------------
DECODER = {"layers": 32, "width": 4096, "heads": 32, "kv_heads": 8, "inner": 14336, "words": 128256, "places": 1024}


def rms_norm(gamma, x):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(HALF) * gamma.astype(HALF)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + jnp.concatenate([-x[..., half:], x[..., :half]], -1) * sin


def decoder_layer(p, cache, x, place, cos, sin, mask):
    d, size = DECODER, DECODER["width"] // DECODER["heads"]
    batch, groups = x.shape[0], d["heads"] // d["kv_heads"]
    qkv = (rms_norm(p["n1"], x) @ p["qkv"]).reshape(batch, -1, size)
    q, k, v = jnp.split(qkv, [d["heads"], d["heads"] + d["kv_heads"]], 1)
    q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    keys, values = (
        jax.lax.dynamic_update_slice(c, t[:, :, None], (0, 0, place, 0)) for c, t in zip(cache, (k, v))
    )
    grouped = q.reshape(batch, d["kv_heads"], groups, size)
    scores = jnp.einsum("bkgd,bktd->bkgt", grouped, keys, preferred_element_type=jnp.float32) * size**-0.5
    shares = jax.nn.softmax(jnp.where(mask, scores, -1e9), -1).astype(HALF)
    mixed = jnp.einsum("bkgt,bktd->bkgd", shares, values).reshape(batch, -1)
    x = x + mixed @ p["out"]
    gate, up = jnp.split(rms_norm(p["n2"], x) @ p["gate_up"], 2, 1)
    return x + (jax.nn.silu(gate) * up) @ p["down"], (keys, values)


def decode(batch):
    d, size = DECODER, DECODER["width"] // DECODER["heads"]

    @functools.partial(jax.jit, donate_argnums=(1,))
    def run(p, caches, words, place):
        x, mask = p["words"][words], jnp.arange(d["places"]) <= place
        angle = place * 5e5 ** -(jnp.arange(0, size, 2).repeat(2) / size)
        cos, sin, new = jnp.cos(angle).astype(HALF), jnp.sin(angle).astype(HALF), []
        for layer, cache in zip(p["layers"], caches):
            x, cache = decoder_layer(layer, cache, x, place, cos, sin, mask)
            new.append(cache)
        return new, (rms_norm(p["norm"], x) @ p["head"]).argmax(-1).astype(jnp.int32), place + 1

    def random_weights(number, *shape):
        return (jax.random.normal(jax.random.key(number), shape, jnp.float32) * 0.02).astype(HALF)

    def prepared():
        w, columns = d["width"], (d["heads"] + 2 * d["kv_heads"]) * size
        shapes = {"qkv": (w, columns), "out": (w, w), "gate_up": (w, 2 * d["inner"]), "down": (d["inner"], w)}
        layers = [
            {n: random_weights(i, *s) for n, s in shapes.items()} | {"n1": jnp.ones(w, HALF), "n2": jnp.ones(w, HALF)}
            for i in range(d["layers"])
        ]
        words = [random_weights(i, d["words"], w) for i in range(2)]
        p = {"layers": layers, "words": words[0], "head": words[1].T.copy(), "norm": jnp.ones(w, HALF)}
        cache = (batch, d["kv_heads"], d["places"], size)
        state = [[(jnp.zeros(cache, HALF), jnp.zeros(cache, HALF)) for _ in layers], integers(1000, batch), 500]
        first = jnp.int32(500)
        state[2] = first

        def step():
            state[:] = run(p, *state)
            step.count += 1
            if step.count == 400:
                step.count, state[2] = 0, first
            return state[1][0]

        step.count = 0
        return step

    return prepared


# -- LLaMA with 1.26 billion parameters ------------------------------------------------------------------------------------
LLAMA = {"layers": 22, "width": 2048, "heads": 16, "inner": 5632, "words": 32000}


def llama_block(p, x, cos, sin):
    b, t, width = x.shape
    q, k, v = jnp.moveaxis((rms_norm(p["n1"], x) @ p["qkv"].astype(HALF)).reshape(b, t, 3, LLAMA["heads"], -1), 2, 0)
    q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation=ATTENTION).reshape(b, t, width)
    x = x + mixed @ p["out"].astype(HALF)
    gate, up = jnp.split(rms_norm(p["n2"], x) @ p["gate_up"].astype(HALF), 2, -1)
    return x + (jax.nn.silu(gate) * up) @ p["down"].astype(HALF)


def llama():
    w, inner, tokens, size = LLAMA["width"], LLAMA["inner"], 2048, LLAMA["width"] // LLAMA["heads"]
    shapes = {"qkv": (w, 3 * w), "out": (w, w), "gate_up": (w, 2 * inner), "down": (inner, w)}
    angles = np.outer(np.arange(tokens), 1e4 ** -(np.arange(0, size, 2) / size)).astype(np.float32)
    cos, sin = (jnp.asarray(np.concatenate([f(angles)] * 2, -1)[None, :, None], HALF) for f in (np.cos, np.sin))
    p = {
        "words": weights(LLAMA["words"], w), "head": weights(w, LLAMA["words"]), "norm": jnp.ones(w),
        "blocks": [
            {n: weights(*s) for n, s in shapes.items()} | {"n1": jnp.ones(w), "n2": jnp.ones(w)}
            for _ in range(LLAMA["layers"])
        ],
    }  # fmt: skip

    def loss_of(p, x, y):
        x = p["words"].astype(HALF)[x]
        for b in p["blocks"]:
            x = llama_block(b, x, cos, sin)
        logits = rms_norm(p["norm"], x) @ p["head"].astype(HALF)
        return cross_entropy(logits.reshape(-1, LLAMA["words"]), y.reshape(-1))

    tokens_of = lambda: integers(LLAMA["words"], 8, tokens)
    return training(p, (zeros(p), zeros(p)), loss_of, adamw, tokens_of(), tokens_of())


CASES = {
    "decode_1": decode(1), "decode_64": decode(64),
    "resnet50_32": resnet50(32), "resnet50_256": resnet50(256), "gpt2": transformer(50304, 16, 1024, True),
    "bert": transformer(30522, 32, 512, False), "llama": llama, "lenet": lenet,
}  # fmt: skip
