"""Tokens per second of the language model engine on one GPU: a model of LLaMA 3 8B's shape, bfloat16, random weights made on the device.

    PYTHONPATH=src python benchmarks/serving/gpu.py [--streams 1 64 256] [--prompt 64] [--tokens 128] [--layers 32] [--target GPU]
        [--orders both|kept|free] [--tiles]

Everything is asked of the engine itself: requests are submitted, their prompts computed in pieces, and tokens counted as they come.
A row: streams, tokens per second of all streams together while all are being continued, and those from asking to the last token,
prompts included. "kept" is the batch-invariant mode, "free" leaves the order of additions to the vendor's libraries. At the end one
request is asked alone and amid others: in the batch-invariant mode its tokens and their probabilities must be equal to the bit.
`--tiles` times the kernels of products instead, for each shape of the model, beside the vendor's.
"""

import argparse
import json
import os
import statistics
import tempfile
import threading
import time

import numpy as np

import mindspore as ms
from mindspore import Tensor, ops
from mindspore_serving.llm.checkpoint import Layer, Linear, Norm, Weights
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Sampling

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 128256, "hidden_size": 4096,
          "intermediate_size": 14336,
          "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 8192,
          "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "tie_word_embeddings": False}  # fmt: skip


class Random:
    """Weights of a size, made on the device; each is the same numbers in an order of its own."""

    def __init__(self):
        self.made = 0

    def __call__(self, *shape):
        """Uniform numbers by a linear congruential generator over places: a few operations, which are one kernel."""
        self.made += 1
        return _numbers(shape, self.made)


@ms.jit
def _mixed(places, seed):
    x = places * 1664525 + seed
    x = ops.bitwise_xor(x, ops.bitwise_right_shift(x, 13)) * 69069 + 12345
    x = ops.bitwise_xor(x, ops.bitwise_right_shift(x, 17)) * 1103515245
    x = ops.bitwise_and(ops.bitwise_right_shift(x, 8), 0xFFFF)
    return ((x.astype(ms.float32) / 65536 - 0.5) * 0.07).astype(ms.bfloat16)


def _numbers(shape, seed):
    rows, columns = shape
    places = ops.arange(0, rows, dtype=ms.int32)[:, None] * columns + ops.arange(0, columns, dtype=ms.int32)
    return _mixed(places, Tensor(seed * 7919, ms.int32))


def random_weights(shape):
    random, ones = Random(), lambda: Norm(np.ones(shape.width, np.float32))
    columns = (shape.heads + 2 * shape.kv_heads) * shape.head_width

    def layer(_):
        return Layer(
            ones(), Linear(random(columns, shape.width)), Linear(random(shape.width, shape.heads * shape.head_width)),
            ones(), Linear(random(2 * shape.inner, shape.width)), Linear(random(shape.width, shape.inner)),
        )  # fmt: skip

    embedding = random(shape.vocabulary, shape.width)
    return Weights(embedding, None, layer, ones(), Linear(random(shape.vocabulary, shape.width)))


class RandomEngine(Engine):
    """The engine, of a model that is in no file."""

    def _network_of(self, folder, pages):
        return self._device_network(self.shape, random_weights(self.shape), pages)


def answers(engine, prompts, sampling):
    """(what each got, when each token came, with the moment of asking first)."""
    ends, found, times = [threading.Event() for _ in prompts], [[] for _ in prompts], [time.perf_counter()]

    def receive(number, event):
        if event.choice is None:
            found[number].append(event.reason)
            ends[number].set()
        else:
            found[number].append((event.choice.token, event.choice.logprob))
            times.append(time.perf_counter())

    for number, prompt in enumerate(prompts):
        engine.submit(prompt, sampling, lambda event, number=number: receive(number, event))
    for end in ends:
        end.wait()
    return found, times


def prompts_of(engine, count, length, turn):
    return np.random.default_rng([count, length, turn]).integers(0, engine.shape.vocabulary, (count, length)).tolist()


def rates(engine, streams, options, turn):
    """(tokens per second while all streams are being continued, from asking to the end)."""
    sampling = Sampling(temperature=0.0, max_tokens=options.tokens, ignore_end=True)
    _, times = answers(engine, prompts_of(engine, streams, options.prompt, turn), sampling)
    middle = times[1:][len(times) // 2 : -streams]
    return (len(middle) - 1) / (middle[-1] - middle[0]), (len(times) - 1) / (times[-1] - times[0])


def compare(engine, options):
    """Whether a request gets the same bits alone and amid others; greedy and drawn."""
    others = prompts_of(engine, 40, 50, 99)
    for name, sampling in (
        ("greedy", Sampling(temperature=0.0, max_tokens=24, ignore_end=True)),
        ("drawn", Sampling(temperature=0.9, top_p=0.9, seed=5, max_tokens=24, ignore_end=True)),
    ):
        mine = prompts_of(engine, 1, 37, 98)
        alone = answers(engine, mine, sampling)[0][0]
        amid = answers(engine, [*others, *mine], sampling)[0][-1]
        many = answers(engine, [*others * 3, *mine], sampling)[0][-1]
        print(
            f"  one request alone and amid 40 and 120 others, {name}: {'equal bits' if alone == amid == many else 'OTHER BITS'}",
            flush=True,
        )


def started(folder, options, in_order):
    most = max(*options.streams, 64)
    limits = Limits(
        cache_megabytes=options.cache_mb,
        sequences=most,
        tokens_per_step=options.step,
        waiting=4096,
        weights="bfloat16",
        in_order=in_order,
    )
    begin = time.perf_counter()
    engine = RandomEngine(folder, limits)
    print(f"  model made in {time.perf_counter() - begin:.1f} s", flush=True)
    return engine


def peak_gigabytes():
    import jax

    found = [(device.memory_stats() or {}).get("peak_bytes_in_use", 0) for device in jax.local_devices()]
    return max(found) / 1e9


def measure(folder, options, in_order):
    engine = started(folder, options, in_order)
    for streams in options.streams:
        begin = time.perf_counter()
        answers(
            engine,
            prompts_of(engine, streams, options.prompt, 77),
            Sampling(temperature=0.0, max_tokens=4, ignore_end=True),
        )
        prepared = time.perf_counter() - begin
        found = [rates(engine, streams, options, turn) for turn in range(options.turns)]
        decode, whole = (statistics.median(values) for values in zip(*found))
        step = 1e3 * streams / decode
        print(
            f"  {streams:4} streams: {decode:8.0f} tokens/s ({step:.2f} ms a step), with prompts {whole:8.0f}; first {prepared:.0f} s; "
            f"at most {peak_gigabytes():.1f} GB of the device's memory",
            flush=True,
        )
    compare(engine, options)
    if not engine.available:
        raise SystemExit("the engine has ended")
    engine.stop()


def tiles(options):
    """Microseconds of the kernels of products, and of the vendor's."""
    import jax
    import jax.numpy as jnp

    from mindspore.prims.pallas import row_products
    from mindspore.prims.pallas.row_products import Tile

    def seconds(run, x, weights):
        """A call, over weights that are not in the cache."""
        out = run(x, weights[0])
        jax.block_until_ready(out)
        begin = time.perf_counter()
        for turn in range(24):
            out = run(x, weights[turn % len(weights)])
        jax.block_until_ready(out)
        return (time.perf_counter() - begin) / 24

    few = [
        Tile(64, 32, 128, 4, 5),
        Tile(64, 32, 64, 4, 8),
        Tile(64, 64, 128, 4, 4),
        Tile(64, 64, 64, 4, 6),
    ]
    one = [
        few[0],
        Tile(16, 64, 64, 4, 8, True),
        Tile(16, 64, 128, 4, 4, True),
        Tile(16, 64, 128, 4, 6, True),
        Tile(16, 64, 128, 4, 9, True),
        Tile(16, 64, 256, 4, 5, True),
        Tile(16, 128, 128, 4, 5, True),
    ]
    few += [Tile(64, 64, 64, 4, 6, True), Tile(64, 64, 128, 4, 4, True), Tile(64, 128, 64, 4, 5, True)]
    many = [
        few[0],
        Tile(128, 64, 64, 8, 4),
        Tile(128, 128, 64, 8, 4),
        Tile(128, 128, 64, 8, 3),
        Tile(128, 256, 64, 8, 3),
        Tile(64, 128, 64, 4, 4),
        Tile(64, 256, 64, 4, 3),
        Tile(128, 128, 64, 4, 4),
    ]
    for name, (outputs, inputs) in {
        "inward": (6144, 4096),
        "outward": (4096, 4096),
        "wide": (28672, 4096),
        "narrow": (4096, 14336),
        "head": (128256, 4096),
    }.items():
        count = max(2, 400_000_000 // (2 * outputs * inputs))
        weights = [jax.random.normal(jax.random.key(n), (outputs, inputs), jnp.bfloat16) for n in range(count)]
        for rows, kinds in ((1, one), (64, few), (256, many)):
            x = jax.random.normal(jax.random.key(99), (rows, inputs), jnp.bfloat16)
            vendor = jax.jit(
                lambda x, w: jax.lax.dot_general(x, w, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
            )
            line, first = [f"vendor {1e6 * seconds(vendor, x, weights):.0f}"], None
            for tile in kinds:
                run = jax.jit(lambda x, w, tile=tile: row_products.product(x, w, None, None, tile))
                try:
                    took = seconds(run, x, weights)
                except jax.errors.JaxRuntimeError as error:
                    line.append(f"{tuple(vars(tile).values())} not possible ({str(error)[:60]})")
                    continue
                row = np.asarray(run(x, weights[0])[0])
                first = row if first is None else first
                line.append(
                    f"{tuple(vars(tile).values())} {1e6 * took:.0f}{'' if np.array_equal(first, row) else ' OTHER BITS'}"
                )
            print(f"{name} {rows} rows, us: {'; '.join(line)}", flush=True)
        del weights


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 64, 256])
    parser.add_argument("--prompt", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--step", type=int, default=1024, help="tokens of a step at most")
    parser.add_argument("--cache-mb", type=int, default=24576)
    parser.add_argument("--small", action="store_true", help="a small model, to try the program itself")
    parser.add_argument("--target", default="GPU")
    parser.add_argument("--backend", default="")
    parser.add_argument("--orders", default="both", choices=["both", "kept", "free"])
    parser.add_argument("--tiles", action="store_true")
    options = parser.parse_args()
    if options.tiles:
        tiles(options)
        return
    ms.set_context(mode=ms.GRAPH_MODE, device_target=options.target)
    if options.backend:
        ms.set_context(backend=options.backend)
    config = CONFIG
    if options.small:
        config = CONFIG | {
            "vocab_size": 1000,
            "hidden_size": 256,
            "intermediate_size": 512,
            "num_hidden_layers": 2,
            "num_attention_heads": 8,
            "num_key_value_heads": 2,
        }
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        for name, in_order in (("kept", True), ("free", False)):
            if options.orders in ("both", name):
                print(f"order of additions {name}", flush=True)
                measure(folder, options, in_order)


if __name__ == "__main__":
    main()
