"""Tokens per second of the language model engine: GPT-2 (124M) and a LLaMA of 100M, random weights.

    python benchmarks/serving/llm.py [--models gpt2 llama] [--weights float32 int8 int4] [--streams 1 8 32] [--tokens 64]

Prompts have 64 tokens; prefill is not counted. Columns: tokens per second of all streams together, median of --turns; then
tokens per second of one prompt of 512 tokens until its first token.
"""

import argparse
import json
import os
import statistics
import struct
import tempfile
import threading
import time

import numpy as np

from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Sampling

WIDTH, LAYERS, POSITIONS = 768, 12, 1024


def gpt2():
    """(configuration, shapes of the weights)."""
    shapes = {"wte.weight": (50257, WIDTH), "wpe.weight": (POSITIONS, WIDTH), "ln_f.weight": (WIDTH,), "ln_f.bias": (WIDTH,)}
    products = {
        "attn.c_attn": (WIDTH, 3 * WIDTH),
        "attn.c_proj": (WIDTH, WIDTH),
        "mlp.c_fc": (WIDTH, 4 * WIDTH),
        "mlp.c_proj": (4 * WIDTH, WIDTH),
    }
    for i in range(LAYERS):
        for name in ("ln_1", "ln_2"):
            shapes |= {f"h.{i}.{name}.weight": (WIDTH,), f"h.{i}.{name}.bias": (WIDTH,)}
        for name, shape in products.items():
            shapes |= {f"h.{i}.{name}.weight": shape, f"h.{i}.{name}.bias": shape[1:]}
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257, "n_positions": POSITIONS, "n_embd": WIDTH,
              "n_layer": LAYERS, "n_head": WIDTH // 64, "layer_norm_epsilon": 1e-5}  # fmt: skip
    return config, shapes


def llama():
    shapes = {"model.embed_tokens.weight": (32000, WIDTH), "model.norm.weight": (WIDTH,)}
    products = {
        "self_attn.q_proj": (WIDTH, WIDTH),
        "self_attn.k_proj": (256, WIDTH),
        "self_attn.v_proj": (256, WIDTH),
        "self_attn.o_proj": (WIDTH, WIDTH),
        "mlp.gate_proj": (2048, WIDTH),
        "mlp.up_proj": (2048, WIDTH),
        "mlp.down_proj": (WIDTH, 2048),
    }
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        shapes |= {f"{layer}{name}.weight": (WIDTH,) for name in ("input_layernorm", "post_attention_layernorm")}
        shapes |= {f"{layer}{name}.weight": shape for name, shape in products.items()}
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 32000, "hidden_size": WIDTH,
              "intermediate_size": 2048, "num_hidden_layers": LAYERS, "num_attention_heads": 12, "num_key_value_heads": 4,
              "max_position_embeddings": POSITIONS, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "tie_word_embeddings": True}  # fmt: skip
    return config, shapes


def write(folder, config, shapes):
    """A Hugging Face folder with random weights."""
    random = np.random.default_rng(0)
    header, at = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape)) * 4
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes.items():
            centre = np.float32("norm" in name or ("ln_" in name and name.endswith("weight")))
            file.write((random.standard_normal(shape, np.float32) * np.float32(0.02) + centre).tobytes())
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)


def answer(engine, prompts, tokens):
    """When each token came, with the moment of asking first."""
    ends = [threading.Event() for _ in prompts]
    times = [time.perf_counter()]

    def receive(number, event):
        if event.choice is not None:
            times.append(time.perf_counter())
        else:
            ends[number].set()

    sampling = Sampling(temperature=0.0, max_tokens=tokens, ignore_end=True)
    for number, prompt in enumerate(prompts):
        engine.submit(prompt, sampling, lambda e, number=number: receive(number, e))
    for end in ends:
        end.wait()
    return times


def prompts(engine, count, length, turn):
    return np.random.default_rng([count, length, turn + 1]).integers(0, engine.shape.vocabulary, (count, length)).tolist()


def decode_rate(engine, streams, tokens, turn):
    """Tokens per second of the second half of the answers: prefill of the last stream is over by then."""
    times = answer(engine, prompts(engine, streams, 64, turn), tokens)[1:]
    half = len(times) // 2
    return (len(times) - 1 - half) / (times[-1] - times[half])


def prefill_rate(engine, turn, length=512):
    times = answer(engine, prompts(engine, 1, length, turn), 1)
    return length / (times[1] - times[0])


def measure(folder, weights, options):
    begin = time.perf_counter()
    engine = Engine(folder, Limits(cache_megabytes=1024, weights=weights))
    loaded = time.perf_counter() - begin
    columns = []
    for streams in options.streams:
        decode_rate(engine, streams, 4, -1)  # compile
        columns.append(statistics.median(decode_rate(engine, streams, options.tokens, turn) for turn in range(options.turns)))
    prefill_rate(engine, -1)
    prefill = statistics.median(prefill_rate(engine, turn) for turn in range(options.turns))
    engine.stop()
    return loaded, columns, prefill


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", nargs="+", default=["gpt2", "llama"])
    parser.add_argument("--weights", nargs="+", default=["float32", "int8", "int4"])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            write(folder, *{"gpt2": gpt2, "llama": llama}[model]())
            for weights in options.weights:
                loaded, columns, prefill = measure(folder, weights, options)
                rates = " / ".join(f"{rate:.0f}" for rate in columns)
                print(f"{model} {weights}: {rates} tok/s, prompt {prefill:.0f} tok/s, loaded in {loaded:.1f} s", flush=True)


if __name__ == "__main__":
    main()
