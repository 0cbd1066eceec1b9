"""Tiny language models with random weights, as Hugging Face folders. What transformers 5 answers to them is in test_serving_llm.py."""

import json
import math
import os
import struct

import numpy as np

VOCABULARY = 258
FAMILIES = ("gpt2", "llama", "qwen2", "qwen3", "mistral", "phi3")


def _weights(shapes):
    random = np.random.default_rng(7)
    made = {}
    for name, shape in shapes.items():
        scale = 0.25 if len(shape) > 1 else 0.1
        made[name] = (
            random.standard_normal(math.prod(shape)) * scale + ("norm" in name or "ln_" in name) * (name.endswith("weight"))
        ).reshape(shape)
    return {name: array.astype(np.float32) for name, array in made.items()}


def _gpt2():
    width = 32
    shapes = {"transformer.wte.weight": (VOCABULARY, width), "transformer.wpe.weight": (256, width)}
    for i in range(3):
        layer = f"transformer.h.{i}."
        for norm in ("ln_1", "ln_2"):
            shapes |= {f"{layer}{norm}.weight": (width,), f"{layer}{norm}.bias": (width,)}
        for name, (inputs, outputs) in {
            "attn.c_attn": (32, 96),
            "attn.c_proj": (32, 32),
            "mlp.c_fc": (32, 128),
            "mlp.c_proj": (128, 32),
        }.items():
            shapes |= {f"{layer}{name}.weight": (inputs, outputs), f"{layer}{name}.bias": (outputs,)}
    shapes |= {"transformer.ln_f.weight": (width,), "transformer.ln_f.bias": (width,)}
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": VOCABULARY, "n_positions": 256, "n_embd": width,
              "n_layer": 3, "n_head": 4, "layer_norm_epsilon": 1e-5, "eos_token_id": 256, "bos_token_id": 256}  # fmt: skip
    return config, shapes


def _llama(family):
    width, kv_heads = 32, 2 if family == "llama" else 1
    shapes = {"model.embed_tokens.weight": (VOCABULARY, width)}
    for i in range(2):
        layer = f"model.layers.{i}."
        shapes |= {f"{layer}input_layernorm.weight": (width,), f"{layer}post_attention_layernorm.weight": (width,)}
        for name, (inputs, outputs) in {"q": (32, 32), "k": (32, 8 * kv_heads), "v": (32, 8 * kv_heads), "o": (32, 32)}.items():
            shapes[f"{layer}self_attn.{name}_proj.weight"] = (outputs, inputs)
            if family == "qwen2" and name != "o":
                shapes[f"{layer}self_attn.{name}_proj.bias"] = (outputs,)
        if family == "qwen3":
            shapes |= {f"{layer}self_attn.{name}_norm.weight": (8,) for name in "qk"}
        shapes |= {f"{layer}mlp.{name}_proj.weight": (64, width) for name in ("gate", "up")}
        shapes[f"{layer}mlp.down_proj.weight"] = (width, 64)
    shapes["model.norm.weight"] = (width,)
    if family == "llama":
        shapes["lm_head.weight"] = (VOCABULARY, width)
    if family == "phi3":
        shapes = _joined(shapes)
    config = {"model_type": family, "architectures": [f"{family.title()}ForCausalLM"],
              "vocab_size": VOCABULARY, "hidden_size": width, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
              "num_key_value_heads": kv_heads, "max_position_embeddings": 256, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
              "tie_word_embeddings": family != "llama", "eos_token_id": 256, "bos_token_id": 257, "hidden_act": "silu",
              **_MORE.get(family, {})}  # fmt: skip
    return config, shapes


#: Mistral's layers see 21 tokens, Phi's turn half of each head
_MORE = {"qwen3": {"head_dim": 8}, "mistral": {"sliding_window": 21, "head_dim": 8},
         "phi3": {"partial_rotary_factor": 0.5, "sliding_window": None, "pad_token_id": 0}}  # fmt: skip


def _joined(shapes):
    """Phi has one weight for queries, keys and values, and one for gates and what they let through."""
    made = {}
    for name, (*outputs, inputs) in shapes.items():
        for one, whole in (("q", "qkv"), ("k", "qkv"), ("v", "qkv"), ("gate", "gate_up"), ("up", "gate_up")):
            name = name.replace(f".{one}_proj.", f".{whole}_proj.")
        made[name] = (made.get(name, (0,))[0] + outputs[0], inputs) if outputs else (inputs,)
    return made


def _pangu():
    width = 32
    shapes = {f"transformer.{name}.weight": (VOCABULARY if name == "wte" else 256, width) for name in ("wte", "wpe", "wqe")}
    for i in range(3):
        layer = f"transformer.h.{i}."
        for norm in ("ln_1", "ln_2"):
            shapes |= {f"{layer}{norm}.weight": (width,), f"{layer}{norm}.bias": (width,)}
        for name, (outputs, inputs) in {
            "attn.q_proj": (32, 32), "attn.k_proj": (32, 32), "attn.v_proj": (32, 32), "attn.c_proj": (32, 32),
            "mlp.c_fc": (128, 32), "mlp.c_proj": (32, 128),
        }.items():  # fmt: skip
            shapes |= {f"{layer}{name}.weight": (outputs, inputs), f"{layer}{name}.bias": (outputs,)}
    shapes |= {"transformer.ln_f.weight": (width,), "transformer.ln_f.bias": (width,)}
    config = {"model_type": "gpt_pangu", "vocab_size": VOCABULARY, "max_position_embeddings": 256, "hidden_size": width,
              "intermediate_size": 128, "num_layers": 3, "num_heads": 4, "activation_function": "gelu", "eos_token_id": 256}  # fmt: skip
    return config, shapes


def _bert():
    width = 32
    shapes = {"embeddings.word_embeddings.weight": (VOCABULARY, width), "embeddings.position_embeddings.weight": (256, width),
              "embeddings.token_type_embeddings.weight": (2, width)}  # fmt: skip
    products = {"attention.self.query": (32, 32), "attention.self.key": (32, 32), "attention.self.value": (32, 32),
                "attention.output.dense": (32, 32), "intermediate.dense": (64, 32), "output.dense": (32, 64)}  # fmt: skip
    for i in range(2):
        layer = f"encoder.layer.{i}."
        for name, (outputs, inputs) in products.items():
            shapes |= {f"{layer}{name}.weight": (outputs, inputs), f"{layer}{name}.bias": (outputs,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{layer}{name}.weight": (width,), f"{layer}{name}.bias": (width,)}
    shapes |= {"embeddings.LayerNorm.weight": (width,), "embeddings.LayerNorm.bias": (width,)}
    config = {"model_type": "bert", "vocab_size": VOCABULARY, "hidden_size": width, "intermediate_size": 64, "num_hidden_layers": 2,
              "num_attention_heads": 4, "max_position_embeddings": 256, "hidden_act": "gelu", "layer_norm_eps": 1e-12}  # fmt: skip
    return config, shapes


_OTHERS = {"gpt2": _gpt2, "gpt_pangu": _pangu, "bert": _bert}


def arrays_of(family):
    """(configuration, weights by name)."""
    config, shapes = _OTHERS[family]() if family in _OTHERS else _llama(family)
    return config, _weights(shapes)


def write(folder, family, change=None):
    """A folder with configuration and weights; `change(arrays)` may alter these."""
    config, arrays = arrays_of(family)
    if change is not None:
        change(arrays)
    write_arrays(folder, arrays)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)


def write_arrays(folder, arrays, name="model.safetensors"):
    os.makedirs(folder, exist_ok=True)
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for key, array in arrays.items():
        header[key] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(array.tobytes() for array in arrays.values()))


def prompt(length):
    return np.random.default_rng(length).integers(0, 256, length).tolist()
