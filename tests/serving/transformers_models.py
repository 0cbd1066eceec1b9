"""Tiny random models of every family, and what transformers and PEFT say to them: `python transformers_models.py FOLDER`.

Runs in an environment of its own (transformers, peft, torch); `test_as_transformers.py` reads the folder (`make test-serving-oracle`).
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from peft import LoraConfig, get_peft_model

VOCABULARY, LENGTHS, NEW = 258, (3, 40, 150), 12
LLAMA = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 256, "eos_token_id": 256, "bos_token_id": 257}  # fmt: skip
LONG = {
    "linear": {"rope_type": "linear", "factor": 4.0},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
}  # fmt: skip
#: modules that adapters change
TARGETS = {"gpt2": ["c_attn", "c_proj"], "llama": ["q_proj", "v_proj", "o_proj", "up_proj"],
           "phi3_partial": ["qkv_proj", "gate_up_proj", "o_proj", "down_proj"]}  # fmt: skip
ENCODER = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
           "max_position_embeddings": 256}  # fmt: skip


def decoders():
    yield "gpt2", hf.GPT2LMHeadModel(
        hf.GPT2Config(vocab_size=VOCABULARY, n_positions=256, n_embd=32, n_layer=3, n_head=4, eos_token_id=256, bos_token_id=256)
    )
    yield "llama", hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA))
    yield "llama_wide_heads", hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA, head_dim=16))
    for name, scaling in LONG.items():
        yield f"llama_{name}", hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA, rope_parameters={"rope_theta": 10000.0, **scaling}))
    yield "llama_biases", hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA, attention_bias=True, mlp_bias=True))
    yield "mistral", hf.MistralForCausalLM(hf.MistralConfig(**LLAMA, sliding_window=None))
    yield "mistral_window", hf.MistralForCausalLM(hf.MistralConfig(**LLAMA, sliding_window=21))
    yield "qwen2", hf.Qwen2ForCausalLM(hf.Qwen2Config(**LLAMA, tie_word_embeddings=True))
    windows = {"use_sliding_window": True, "sliding_window": 21, "max_window_layers": 1}
    yield "qwen2_window", hf.Qwen2ForCausalLM(hf.Qwen2Config(**LLAMA, **windows))
    yield "qwen3", hf.Qwen3ForCausalLM(hf.Qwen3Config(**LLAMA, head_dim=16, tie_word_embeddings=True))
    phi = LLAMA | {"pad_token_id": 0, "num_attention_heads": 2, "num_key_value_heads": 1}
    yield "phi3", hf.Phi3ForCausalLM(hf.Phi3Config(**phi, sliding_window=30))
    partial = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}
    yield "phi3_partial", hf.Phi3ForCausalLM(hf.Phi3Config(**phi, rope_parameters=partial))
    factors = {"short_factor": [1.0, 1.2, 1.5, 2.0, 2.5, 3.0], "long_factor": [2.0, 2.5, 3.0, 4.0, 5.0, 6.0]}
    scaled = partial | factors | {"rope_type": "longrope", "partial_rotary_factor": 0.75, "original_max_position_embeddings": 200}
    yield "phi3_longrope", hf.Phi3ForCausalLM(hf.Phi3Config(**phi, rope_parameters=scaled, original_max_position_embeddings=200))


def encoders():
    yield "bert", hf.BertModel(hf.BertConfig(**ENCODER))
    yield "roberta", hf.RobertaModel(hf.RobertaConfig(**ENCODER, pad_token_id=1))
    short = {"vocab_size": VOCABULARY, "dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 256}
    yield "distilbert", hf.DistilBertModel(hf.DistilBertConfig(**short))


def randomised(model):
    """Weights that are far from each other, biases and norms included, so that a mistake is seen."""
    torch.manual_seed(7)
    for name, parameter in model.named_parameters():
        scale = 0.25 if parameter.ndim > 1 else 0.1
        of_norm = parameter.ndim == 1 and name.endswith("weight") and ("norm" in name.lower() or "ln_" in name)
        centre = 1.0 if of_norm else 0.0
        with torch.no_grad():
            parameter.copy_(torch.randn(parameter.shape) * scale + centre)
    return model.eval()


def prompt(length):
    return np.random.default_rng(length).integers(2, 250, length).tolist()


def greedy(model, tokens):
    found = list(tokens)
    for _ in range(NEW):
        with torch.no_grad():
            found.append(int(model(torch.tensor([found])).logits[0, -1].argmax()))
    return found[len(tokens) :]


def vector(model, tokens):
    with torch.no_grad():
        states = model(torch.tensor([tokens])).last_hidden_state[0].mean(0)
    return (states / states.norm()).tolist()


def adapted(name, model, folder):
    """Two adapters of a model: names → what it says with them."""
    expected = {}
    targets = TARGETS[name]
    for adapter, rank in (("first", 4), ("second", 7)):
        config = LoraConfig(r=rank, lora_alpha=32, target_modules=targets[: 2 + (rank > 4) * 2], use_rslora=rank > 4)
        changed = get_peft_model(type(model).from_pretrained(folder / name), config)
        for key, parameter in changed.named_parameters():
            if "lora_" in key:
                torch.manual_seed(rank + len(key))
                with torch.no_grad():
                    parameter.copy_(torch.randn(parameter.shape) * 0.1)
        changed.eval().save_pretrained(folder / name / adapter)
        expected[adapter] = {length: greedy(changed, prompt(length)) for length in LENGTHS}
    return expected


def main():
    folder = Path(sys.argv[1])
    expected = {"prompts": {length: prompt(length) for length in LENGTHS}, "decoders": {}, "encoders": {}, "adapters": {}}
    for name, model in decoders():
        randomised(model).save_pretrained(folder / name)
        expected["decoders"][name] = {length: greedy(model, prompt(length)) for length in LENGTHS}
        if name in TARGETS:
            expected["adapters"][name] = adapted(name, model, folder)
    for name, model in encoders():
        randomised(model).save_pretrained(folder / name)
        expected["encoders"][name] = {length: vector(model, prompt(length)) for length in LENGTHS}
    (folder / "expected.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main()
