"""A folder of an encoder (BERT, RoBERTa, DistilBERT; `config.json` and `*.safetensors`) → its shape and its weights."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore_serving.llm.checkpoint import (
    Array,
    Layer,
    Linear,
    Norm,
    exact_gelu,
    named_if_missing,
    own,
    read_config,
    read_weights,
    size,
    small,
)
from mindspore_serving.llm.sentences import read as read_sentences

FAMILIES = ("bert", "roberta", "xlm-roberta", "camembert", "distilbert")
#: our part of a layer → Hugging Face's name of it; several are joined
_BERT = {
    "inward": ("attention.self.query", "attention.self.key", "attention.self.value"), "outward": ("attention.output.dense",),
    "first": ("attention.output.LayerNorm",), "wide": ("intermediate.dense",), "narrow": ("output.dense",),
    "second": ("output.LayerNorm",),
}  # fmt: skip
_DISTILBERT = {
    "inward": ("attention.q_lin", "attention.k_lin", "attention.v_lin"), "outward": ("attention.out_lin",),
    "first": ("sa_layer_norm",), "wide": ("ffn.lin1",), "narrow": ("ffn.lin2",), "second": ("output_layer_norm",),
}  # fmt: skip


@dataclass(frozen=True)
class EncoderShape:
    """`positions`: tokens of a text. `first_position`: RoBERTa counts from 2. `pooling`: how one vector is made of all: 'mean', 'cls'
    or 'max'."""

    family: str
    vocabulary: int
    width: int
    layers: int
    heads: int
    epsilon: float
    positions: int
    first_position: int
    exact_gelu: bool
    pooling: str

    @property
    def head_width(self) -> int:
        return self.width // self.heads


@dataclass
class EncoderWeights:
    """`embedding` has the type of a text without a second part added."""

    embedding: Array
    positions: Array
    norm: Norm
    layers: Iterator[Layer]


def is_encoder(folder: str) -> bool:
    path = os.path.join(folder, "config.json")
    return os.path.isfile(path) and read_config(folder).get("model_type") in FAMILIES


def shape_of(folder: str) -> EncoderShape:
    config = read_config(folder)
    family = config["model_type"]
    short = family == "distilbert"
    try:
        width = size(config, "dim" if short else "hidden_size")
        layers = size(config, "n_layers" if short else "num_hidden_layers")
        heads = size(config, "n_heads" if short else "num_attention_heads")
        first = 0 if family in ("bert", "distilbert") else config.get("pad_token_id", 1) + 1
        positions = size(config, "max_position_embeddings") - first
        vocabulary = size(config, "vocab_size")
    except KeyError as error:
        raise ValueError(f"the model's configuration lacks {error}") from None
    except TypeError:
        raise ValueError(f"'pad_token_id' must be a token, but is {config['pad_token_id']!r}") from None
    if width % heads or not 0 <= first < first + positions:
        raise ValueError(f"a width of {width} with {heads} heads, or {positions} positions behind {first} others, is not possible")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise ValueError("encoders with relative positions are not supported")
    activation = exact_gelu(config.get("activation" if short else "hidden_act", "gelu"))
    epsilon = 1e-12 if short else small(config, "layer_norm_eps", 1e-12)
    sentences = read_sentences(folder, "mean")
    if sentences.pooling == "lasttoken":
        raise ValueError("encoders whose vectors are their last token's are not supported")
    longest = min(positions, sentences.longest or positions)
    return EncoderShape(family, vocabulary, width, layers, heads, epsilon, longest, first, activation, sentences.pooling)


def load(folder: str) -> tuple[EncoderShape, EncoderWeights]:
    shape = shape_of(folder)
    arrays = read_weights(folder)
    base = {"bert": "bert.", "distilbert": "distilbert."}.get(shape.family, "roberta.")
    prefix = base if any(name.startswith(base) for name in arrays) else ""
    with named_if_missing(folder):
        return shape, _weights(shape, prefix, arrays, folder)


def _weights(shape: EncoderShape, prefix: str, arrays: dict[str, Array], folder: str) -> EncoderWeights:
    names, stem = (_DISTILBERT, "transformer.layer") if shape.family == "distilbert" else (_BERT, "encoder.layer")

    def get(name: str) -> Array:
        old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        return arrays.pop(prefix + (name if prefix + name in arrays else old if prefix + old in arrays else name))

    def norm(name: str) -> Norm:
        return Norm(own(get(f"{name}.weight")), own(get(f"{name}.bias")))

    def linear(parts: tuple[str, ...]) -> Linear:
        weights, biases = ([get(f"{part}.{kind}") for part in parts] for kind in ("weight", "bias"))
        return Linear(np.concatenate(weights), own(np.concatenate(biases)))

    @named_if_missing(folder)
    def layer(i: int) -> Layer:
        found: dict[str, Any] = {
            kind: (norm(f"{stem}.{i}.{parts[0]}") if kind in ("first", "second") else linear(tuple(f"{stem}.{i}.{p}" for p in parts)))
            for kind, parts in names.items()
        }
        return Layer(**found)

    embedding = own(get("embeddings.word_embeddings.weight"))
    if shape.family != "distilbert":
        embedding += own(get("embeddings.token_type_embeddings.weight"))[0]
    positions = own(get("embeddings.position_embeddings.weight"))[shape.first_position :]
    return EncoderWeights(embedding, positions, norm("embeddings.LayerNorm"), (layer(i) for i in range(shape.layers)))


__all__ = ["EncoderShape", "EncoderWeights", "is_encoder", "load"]
