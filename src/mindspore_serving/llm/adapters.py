"""Adapters of a language model (Hu et al., LoRA, 2021): folders as PEFT writes them → what is added to the model's products.

An adapter adds up(down(x)) to some products, with few numbers in between. Those of all adapters lie behind each other, so that one
product serves rows of any adapters: what a row's own adapter did not make is put to 0 in between. Rows without an adapter get 0 added,
which changes no bit of theirs.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mindspore_serving.llm.checkpoint import Array, Shape, inward_order, read_weights

_NAME = re.compile(r"(?:.*\.)?(?:h|layers)\.(\d+)\.(.+)\.lora_([AB])(?:\.default)?\.weight")
#: settings that change the formula, and the value under which they do not
_PLAIN = {"use_dora": False, "bias": "none", "modules_to_save": None, "alpha_pattern": {}, "peft_type": "LORA", "use_qalora": False,
          "alora_invocation_tokens": None}  # fmt: skip


@dataclass(frozen=True)
class Low:
    """All adapters of one product. down: (width, inputs), up: (outputs, width), owners: whose each number in between is, from 1."""

    down: Array
    up: Array
    owners: Array


@dataclass(frozen=True)
class _Delta:
    """What one adapter adds to some outputs of a product."""

    down: Array
    up: Array
    first: int  # of the outputs


def read(folder: str, shape: Shape) -> dict[tuple[int, str], list[_Delta]]:
    """(layer, product) → what the adapter of a folder adds; ValueError if it does not fit the model."""
    factor = _factor(folder)
    halves: dict[tuple[int, str], dict[str, Array]] = {}
    for name, array in read_weights(folder).items():
        found = _NAME.fullmatch(name)
        if found is None:
            raise ValueError(f"the adapter {folder} has a weight that is not known: {name}")
        halves.setdefault((int(found[1]), found[2]), {})[found[3]] = np.array(array, np.float32)
    made: dict[tuple[int, str], list[_Delta]] = {}
    places, order = _places(shape), inward_order(shape)
    for (layer, module), pair in halves.items():
        if layer >= shape.layers or module not in places or set(pair) != {"A", "B"}:
            raise ValueError(f"the adapter {folder} does not fit the model: layer {layer}, {module}")
        product, first, outputs = places[module]
        down, up = pair["A"], pair["B"]
        if down.ndim != 2 or up.shape != (outputs, down.shape[0]):
            raise ValueError(f"the adapter {folder} has sizes that do not fit the model: layer {layer}, {module}")
        if product == "inward" and order is not None:
            up = up[order[first : first + outputs] - first]  # heads keep their places
        made.setdefault((layer, product), []).append(_Delta(down, up * np.float32(factor / (down.shape[0] ** _power(folder))), first))
    return made


def _settings(folder: str) -> dict[str, object]:
    with open(os.path.join(folder, "adapter_config.json"), encoding="utf-8") as file:
        found: dict[str, object] = json.load(file)
    return found


def _factor(folder: str) -> float:
    settings = _settings(folder)
    for name, plain in _PLAIN.items():
        if settings.get(name, plain) not in (plain, None, [], {}):
            raise ValueError(f"the adapter {folder} has {name} = {settings[name]!r}, which is not supported")
    alpha = settings.get("lora_alpha", 8)
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)):
        raise ValueError(f"the adapter {folder} has lora_alpha = {alpha!r}, which is no number")
    return float(alpha)


def _power(folder: str) -> float:
    """By what the rank divides: Kalajdzievski (A rank stabilization scaling factor, 2023) takes its root."""
    return 0.5 if _settings(folder).get("use_rslora") else 1.0


def _places(shape: Shape) -> dict[str, tuple[str, int, int]]:
    """Module of a layer → (product, first output of it, number of outputs)."""
    queries, keys, width, inner = shape.heads * shape.head_width, shape.kv_heads * shape.head_width, shape.width, shape.inner
    if shape.family == "gpt2":
        return {
            "attn.c_attn": ("inward", 0, queries + 2 * keys), "attn.c_proj": ("outward", 0, width),
            "mlp.c_fc": ("wide", 0, inner), "mlp.c_proj": ("narrow", 0, width),
        }  # fmt: skip
    if shape.rotation is None:
        raise ValueError(f"adapters of models of type {shape.family!r} are not supported")
    ends = {"self_attn.o_proj": ("outward", 0, width), "mlp.down_proj": ("narrow", 0, width)}
    if shape.family == "phi3":
        return ends | {"self_attn.qkv_proj": ("inward", 0, queries + 2 * keys), "mlp.gate_up_proj": ("wide", 0, 2 * inner)}
    return ends | {
        "self_attn.q_proj": ("inward", 0, queries), "self_attn.k_proj": ("inward", queries, keys),
        "self_attn.v_proj": ("inward", queries + keys, keys), "mlp.gate_proj": ("wide", 0, inner), "mlp.up_proj": ("wide", inner, inner),
    }  # fmt: skip


def joined(folders: Sequence[str], shape: Shape) -> dict[tuple[int, str], Low]:
    """(layer, product) → all adapters of it; adapters are numbered from 1, as their folders come."""
    adapters = [read(folder, shape) for folder in folders]
    sizes: dict[str, int] = {}
    for product, first, size in _places(shape).values():
        sizes[product] = max(sizes.get(product, 0), first + size)
    made = {}
    for key in sorted({key for adapter in adapters for key in adapter}):
        parts = list(_parts(adapters, key))
        up = np.zeros((sizes[key[1]], sum(len(delta.down) for _, delta in parts)), np.float32)
        at = 0
        for _, delta in parts:
            up[delta.first : delta.first + len(delta.up), at : at + len(delta.down)] = delta.up
            at += len(delta.down)
        owners = np.repeat([number for number, _ in parts], [len(delta.down) for _, delta in parts]).astype(np.int32)
        made[key] = Low(np.concatenate([delta.down for _, delta in parts]), up, owners)
    return made


def _parts(adapters: list[dict[tuple[int, str], list[_Delta]]], key: tuple[int, str]) -> Iterator[tuple[int, _Delta]]:
    return ((number, delta) for number, adapter in enumerate(adapters, 1) for delta in adapter.get(key, []))


__all__ = ["Low", "joined", "read"]
