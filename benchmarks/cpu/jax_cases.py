"""The single-operation cases in JAX (the networks are covered by PyTorch and official MindSpore)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(0)


def prepare(contender: str) -> None:
    jax.config.update("jax_platforms", "cpu")


def normal(*shape):
    return jnp.asarray(RNG.standard_normal(shape).astype(np.float32))


def _timed(function, *arrays):
    run = jax.jit(function)
    return lambda: jax.block_until_ready(run(*arrays))


def chain():
    def run(a):
        for _ in range(4):
            a = jnp.exp(jax.nn.sigmoid(jnp.tanh(a)))
        return a

    return _timed(run, normal(4096, 1024))


def softmax_cross_entropy():
    labels = jnp.asarray(RNG.integers(0, 8192, 512))

    def loss(x):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1))

    return _timed(jax.value_and_grad(loss), normal(512, 8192))


def layer_norm():
    weight = normal(4, 128, 768)

    def loss(x, g, b):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (((x - mean) * jax.lax.rsqrt(var + 1e-5) * g + b) * weight).sum()

    return _timed(jax.value_and_grad(loss, (0, 1, 2)), normal(4, 128, 768), jnp.ones(768), jnp.zeros(768))


def batch_norm_relu():
    weight = normal(8, 56, 56, 64)

    def loss(x):
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return (jax.nn.relu((x - mean) * jax.lax.rsqrt(var + 1e-5)) * weight).sum()

    return _timed(jax.value_and_grad(loss), normal(8, 56, 56, 64))


def lstm():
    """Two layers by scans, cross-entropy of the last state, momentum."""

    def layer(x, w):
        gates = x @ w["ih"].T + w["b"]

        def step(state, gx):
            h, c = state
            i, f, g, o = jnp.split(gx + h @ w["hh"].T, 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[1], 512))
        return jax.lax.scan(step, (zero, zero), gates)[1]

    x, labels = normal(100, 64, 512), jnp.asarray(RNG.integers(0, 10, 64))
    weights = [{"ih": normal(2048, 512) * 0.04, "hh": normal(2048, 512) * 0.04, "b": jnp.zeros(2048)} for _ in range(2)]
    params = {"layers": weights, "head": normal(512, 10) * 0.04}

    def loss(p):
        out = layer(layer(x, p["layers"][0]), p["layers"][1])[-1] @ p["head"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(out), labels[:, None], 1))

    def update(p, velocity):
        value, grads = jax.value_and_grad(loss)(p)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
        return value, jax.tree.map(lambda a, v: a - 0.01 * v, p, velocity), velocity

    run, state = jax.jit(update), [params, jax.tree.map(jnp.zeros_like, params)]

    def step():
        value, *state[:] = run(*state)
        return float(value)

    return step


def _eager(function, *arrays):
    return lambda: [jax.block_until_ready(function(*arrays)) for _ in range(200)]


def eager_add():
    return _eager(lambda a, b: a + b, normal(4), normal(4))


def eager_matmul():
    return _eager(jnp.matmul, normal(64, 64), normal(64, 64))


CASES = {
    "lstm": lstm, "chain": chain, "softmax_cross_entropy": softmax_cross_entropy, "layer_norm": layer_norm,
    "batch_norm_relu": batch_norm_relu, "eager_add": eager_add, "eager_matmul": eager_matmul,
}  # fmt: skip
