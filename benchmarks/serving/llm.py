"""Tokens per second of the language model engine: GPT-2 (124M, random weights), 1, 8 and 32 streams, and one long prompt.

    python benchmarks/serving/llm.py [--streams 1 8 32] [--tokens 32]

Prompts have 64 tokens; prefill is not counted. Rows: streams, tokens per second of all streams together.
"""

import argparse
import json
import os
import struct
import tempfile
import threading
import time

import numpy as np

from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Sampling


def gpt2(folder, layers=12, width=768, vocabulary=50257, positions=1024):
    shapes = {"wte.weight": (vocabulary, width), "wpe.weight": (positions, width), "ln_f.weight": (width,), "ln_f.bias": (width,)}
    for i in range(layers):
        for name in ("ln_1", "ln_2"):
            shapes |= {f"h.{i}.{name}.weight": (width,), f"h.{i}.{name}.bias": (width,)}
        products = {
            "attn.c_attn": (width, 3 * width),
            "attn.c_proj": (width, width),
            "mlp.c_fc": (width, 4 * width),
            "mlp.c_proj": (4 * width, width),
        }
        for name, shape in products.items():
            shapes |= {f"h.{i}.{name}.weight": shape, f"h.{i}.{name}.bias": shape[1:]}
    random = np.random.default_rng(0)
    header, at = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape)) * 4
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for shape in shapes.values():
            file.write((random.standard_normal(shape, np.float32) * np.float32(0.02)).tobytes())
    config = {"model_type": "gpt2", "vocab_size": vocabulary, "n_positions": positions, "n_embd": width, "n_layer": layers,
              "n_head": width // 64, "layer_norm_epsilon": 1e-5}  # fmt: skip
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)


def decode_rate(engine, streams, tokens):
    """Tokens per second from the moment all streams have their first token."""
    random = np.random.default_rng(streams)
    ends = [threading.Event() for _ in range(streams)]
    times = []

    def receive(number, event):
        if event.choice is not None:
            times.append(time.perf_counter())
        else:
            ends[number].set()

    for number in range(streams):
        prompt = random.integers(0, engine.shape.vocabulary, 64).tolist()
        engine.submit(
            prompt, Sampling(temperature=0.0, max_tokens=tokens, ignore_end=True), lambda e, number=number: receive(number, e)
        )
    for end in ends:
        end.wait()
    half = len(times) // 2  # prefill of the last stream is over by then
    return (len(times) - 1 - half) / (times[-1] - times[half])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--tokens", type=int, default=32)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gpt2(folder)
        begin = time.perf_counter()
        engine = Engine(folder, Limits(cache_megabytes=512))
        print(f"load {time.perf_counter() - begin:.1f} s")
        for streams in options.streams:
            decode_rate(engine, streams, 4)  # compile
            print(f"{streams} streams: {decode_rate(engine, streams, options.tokens):.1f} tok/s", flush=True)
        engine.stop()


if __name__ == "__main__":
    main()
