"""A model in a GGUF file under the names and in the order that Hugging Face folders have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindspore_serving.llm.gguf import File

Array = np.ndarray[Any, Any]

_LLAMA = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
}  # fmt: skip
_GPT2 = {
    "ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}  # fmt: skip
_FAMILIES = ("gpt2", "llama", "qwen2", "qwen3")
_GPT2_TOP = {"wte.weight": "token_embd.weight", "wpe.weight": "position_embd.weight"}
_LLAMA_TOP = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}


def configuration(file: File) -> dict[str, Any]:
    """What `config.json` would say."""
    family = file.settings.get("general.architecture")
    if family not in _FAMILIES:
        raise ValueError(f"GGUF models of the architecture {family!r} are not supported; known are {', '.join(_FAMILIES)}")

    def get(name: str, default: Any = None) -> Any:
        value = file.settings.get(f"{family}.{name}", default)
        if value is None:
            raise ValueError(f"the GGUF file lacks the setting {family}.{name}")
        return value

    vocabulary = len(file.settings.get("tokenizer.ggml.tokens", ())) or get("vocab_size")
    ends = (file.settings.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom"))  # of a text, a turn, a message
    common = {"model_type": family, "vocab_size": vocabulary, "eos_token_id": [*dict.fromkeys(end for end in ends if end is not None)]}
    if family == "gpt2":
        return {**common, "n_embd": get("embedding_length"), "n_layer": get("block_count"), "n_head": get("attention.head_count"),
                "n_positions": get("context_length"), "layer_norm_epsilon": get("attention.layer_norm_epsilon"),
                "n_inner": file.settings.get("gpt2.feed_forward_length")}  # fmt: skip
    heads, whole, turned = get("attention.head_count"), get("embedding_length"), file.settings.get(f"{family}.rope.dimension_count")
    if not isinstance(heads, int) or not isinstance(whole, int) or heads < 1:
        raise ValueError(f"the GGUF file has {heads!r} heads for a width of {whole!r}"[:200])
    width = file.settings.get(f"{family}.attention.key_length") or whole // heads
    if turned not in (None, width):
        raise ValueError(f"the GGUF file's {family}.rope.dimension_count is {turned}, but only heads that are rotated whole are supported")
    return {**common, "hidden_size": whole, "num_hidden_layers": get("block_count"), "num_attention_heads": heads,
            "num_key_value_heads": get("attention.head_count_kv", heads), "rms_norm_eps": get("attention.layer_norm_rms_epsilon"),
            "head_dim": width, "rope_scaling": _scaling(file, family), "rope_theta": get("rope.freq_base", 10000.0),
            "intermediate_size": get("feed_forward_length"), "max_position_embeddings": get("context_length")}  # fmt: skip


def _scaling(file: File, family: str) -> dict[str, Any] | None:
    """How rotary positions are stretched, in Hugging Face's words."""
    if "rope_freqs.weight" in file:
        return {"rope_type": "factors", "factors": file.read("rope_freqs.weight")}
    names = ("type", "factor", "original_context_length", "attn_factor")
    settings = {name: file.settings.get(f"{family}.rope.scaling.{name}") for name in names}
    older = file.settings.get(f"{family}.rope.scale_linear", 1.0)
    kind = settings["type"] or "none"
    if kind == "none" and older != 1.0:
        return {"rope_type": "linear", "factor": older}
    if kind == "none":
        return None
    if kind not in ("linear", "yarn") or settings["attn_factor"] not in (None, 1.0):
        raise ValueError(f"rotary positions of the kind {kind!r} are not supported in GGUF files; they can be linear or yarn")
    return {"rope_type": kind, "factor": settings["factor"], "original_max_position_embeddings": settings["original_context_length"]}


class Tensors:
    """The weights by Hugging Face's names, read when they are asked for; iterating gives those of the file's that were not."""

    def __init__(self, file: File, config: dict[str, Any]) -> None:
        self._file, self._left = file, set(file.names)
        self._sources = _gpt2(config) if config["model_type"] == "gpt2" else _llama(config)

    def __contains__(self, name: object) -> bool:
        return name in self._sources and self._sources[name][0] in self._file

    def pop(self, name: str) -> Array:
        if name not in self:
            raise KeyError(name)
        source, change = self._sources[name]
        self._left.discard(source)
        return change(self._file.read(source))

    def __iter__(self) -> Iterator[str]:
        return iter(self._left)

    def get(self, name: str, default: Array | None = None) -> Array | None:
        return self.pop(name) if name in self else default


_Source = tuple[str, Callable[[Array], Array]]


def _same(array: Array) -> Array:
    return array


def _gpt2(config: dict[str, Any]) -> dict[str, _Source]:
    found: dict[str, _Source] = {name: (source, _same) for name, source in _GPT2_TOP.items()}
    found["lm_head.weight"] = ("output.weight", _same)
    for part in ("weight", "bias"):
        found[f"ln_f.{part}"] = (f"output_norm.{part}", _same)
        for i in range(config["n_layer"]):
            for name, source in _GPT2.items():
                turned = part == "weight" and not name.startswith("ln")  # Hugging Face has [inputs, outputs]
                found[f"h.{i}.{name}.{part}"] = (f"blk.{i}.{source}.{part}", np.transpose if turned else _same)
    return found


def _llama(config: dict[str, Any]) -> dict[str, _Source]:
    found: dict[str, _Source] = {name: (source, _same) for name, source in _LLAMA_TOP.items()}
    found["lm_head.weight"] = ("output.weight", _same)
    paired = config["model_type"] == "llama"
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    for i in range(config["num_hidden_layers"]):
        for name, source in _LLAMA.items():
            change = _halves(heads[source]) if paired and source in heads else _same
            found |= {f"model.layers.{i}.{name}.{part}": (f"blk.{i}.{source}.{part}", change) for part in ("weight", "bias")}
    return found


def _halves(heads: int) -> Callable[[Array], Array]:
    """llama.cpp has the two coordinates of a rotated point side by side, Hugging Face in the two halves of a head."""

    def change(array: Array) -> Array:
        pairs = array.reshape(heads, -1, 2, *array.shape[1:])
        return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(array.shape))

    return change


__all__ = ["Tensors", "configuration"]
