"""Qwen2 of MindONE: greedy generation with a cache gives the tokens that generation without one gives."""

import runpy
from pathlib import Path

KNOWN = {"graph": ("IndexError: tuple index out of range", "graphs need return_dict=False, for which the model leaves its cache out")}


def main():
    from mindone.transformers import Qwen2ForCausalLM
    from transformers import Qwen2Config

    generated = runpy.run_path(str(Path(__file__).with_name("mindone_llama.py")))["generated"]
    generated(
        Qwen2ForCausalLM,
        Qwen2Config(
            vocab_size=97, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=64, attn_implementation="eager",
        ),
    )  # fmt: skip
