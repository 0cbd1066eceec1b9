"""Tokens per second of the language model engine: GPT-2 (124M) and a LLaMA of 100M, random weights.

    python benchmarks/serving/llm.py [--models gpt2 llama] [--weights float32 int8 int4] [--streams 1 8 32] [--tokens 64]
        [--rivals openvino llama.cpp transformers --python RIVALS/bin/python --folder DIR]

Prompts have 64 tokens; prefill is not counted. Columns: tokens per second of all streams together, median of --turns; then
tokens per second of one prompt of 512 tokens until its first token. Rivals (`llm_rivals.py`) take turns with us, model by model.
"""

import argparse
import contextlib
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import tokenizers

from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Sampling

WIDTH, LAYERS, POSITIONS = 768, 12, 1024


def gpt2():
    """(configuration, shapes of the weights)."""
    shapes = {
        "wte.weight": (50257, WIDTH),
        "wpe.weight": (POSITIONS, WIDTH),
        "ln_f.weight": (WIDTH,),
        "ln_f.bias": (WIDTH,),
    }
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


def tokenizer(folder, vocabulary=32000):
    """Tokens are bytes (and one pair: some readers want pairs); the others, which random weights choose, are words of their own."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    words = [*letters, "zq", *(f"w{number}" for number in range(vocabulary - len(letters) - 1))]
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE({word: number for number, word in enumerate(words)}, [("z", "q")])
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.save(os.path.join(folder, "tokenizer.json"))


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
    return (
        np.random.default_rng([count, length, turn + 1]).integers(0, engine.shape.vocabulary, (count, length)).tolist()
    )


def decode_rate(engine, streams, tokens, turn):
    """Tokens per second of the second half of the answers: prefill of the last stream is over by then."""
    times = answer(engine, prompts(engine, streams, 64, turn), tokens)[1:]
    half = len(times) // 2
    return (len(times) - 1 - half) / (times[-1] - times[half])


def prefill_rate(engine, turn, length):
    times = answer(engine, prompts(engine, 1, length, turn), 1)
    return length / (times[1] - times[0])


class Ours:
    """Our engine, asked as the rivals are."""

    def __init__(self, folder, weights):
        self.engine = Engine(folder, Limits(cache_megabytes=1024, weights=weights))

    def ask(self, **wanted):
        if "decode" in wanted:
            return decode_rate(self.engine, wanted["decode"], wanted["tokens"], wanted["turn"])
        return prefill_rate(self.engine, wanted["turn"], wanted["prefill"])

    def close(self):
        self.engine.stop()


class Rival:
    """A process of `llm_rivals.py`."""

    def __init__(self, python, name, folder, weights):
        command = [python, str(Path(__file__).with_name("llm_rivals.py")), name, folder, weights]
        self.said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process is there
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, text=True
        )
        self._answer()

    def ask(self, **wanted):
        self.process.stdin.write(json.dumps(wanted) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.said.seek(0)
            raise RuntimeError(f"{' '.join(self.process.args)} has ended: {self.said.read()[-500:]}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def started(name, folder, weights, options):
    begin = time.perf_counter()
    made = Ours(folder, weights) if name == "ours" else Rival(options.python, name, folder, weights)
    return made, time.perf_counter() - begin


def measure(folder, weights, options):
    """{name: (seconds to load, rates by column)}, all of them in turns."""
    names = ["ours", *(name for name in options.rivals if name != "transformers" or weights == "float32")]
    engines = {name: started(name, folder, weights, options) for name in names}
    columns = [{"decode": streams, "tokens": options.tokens} for streams in options.streams] + [{"prefill": 512}]
    rates = {name: [] for name in names}
    for column in columns:
        short = column | ({"tokens": 4} if "tokens" in column else {})
        for engine, _ in engines.values():
            engine.ask(**short, turn=-1)  # compile
        found = [[engine.ask(**column, turn=turn) for engine, _ in engines.values()] for turn in range(options.turns)]
        for name, values in zip(names, zip(*found)):
            rates[name].append(statistics.median(values))
    for engine, _ in engines.values():
        engine.close()
    return {name: (engines[name][1], rates[name]) for name in names}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", nargs="+", default=["gpt2", "llama"])
    parser.add_argument("--weights", nargs="+", default=["float32", "int8", "int4"])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rivals", nargs="*", default=[], choices=["openvino", "llama.cpp", "transformers"])
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the rivals")
    parser.add_argument(
        "--folder", help="where models are kept, with what rivals make of them; a temporary folder without it"
    )
    options = parser.parse_args()
    for model in options.models:
        with contextlib.ExitStack() as stack:
            parent = options.folder or stack.enter_context(tempfile.TemporaryDirectory())
            folder = os.path.join(parent, model)
            if not os.path.isdir(folder):
                os.makedirs(folder)
                config, shapes = {"gpt2": gpt2, "llama": llama}[model]()
                write(folder, config, shapes)
                tokenizer(folder, config["vocab_size"])
            for weights in options.weights:
                for name, (loaded, rates) in measure(folder, weights, options).items():
                    text = " / ".join(f"{rate:.0f}" for rate in rates[:-1])
                    print(
                        f"{model} {weights} {name}: {text} tok/s, prompt {rates[-1]:.0f} tok/s, loaded in {loaded:.1f} s",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
