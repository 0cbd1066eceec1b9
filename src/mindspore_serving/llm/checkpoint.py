"""A model's folder → its shape and its weights: `config.json` and `*.safetensors` (Hugging Face), or one `*.gguf` (llama.cpp).

Families differ in names of weights and in a few choices (norm, positions, activation, biases); `Shape` states the choices, and
functions by family find the weights. Nothing is executed; sizes in the files are checked against the configuration.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mindspore.formats import safetensors
from mindspore_serving.llm import gguf, gguf_model
from mindspore_serving.llm.rotation import Rotation

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Shape:
    """What the engine needs to know of a model."""

    family: str
    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    inner: int  # width between the two products behind attention
    epsilon: float
    positions: int
    rotation: Rotation | None  # None: learned positions
    end: tuple[int, ...]
    exact_gelu: bool = False

    @property
    def centred(self) -> bool:
        """Whether norms take the mean away; the others divide by the root mean square alone."""
        return self.rotation is None

    @property
    def gated(self) -> bool:
        """Whether the wide layer is SwiGLU (Shazeer, GLU variants improve Transformer, 2020); the others are GELU."""
        return self.rotation is not None


#: families of language models
FAMILIES = ("gpt2", "llama", "mistral", "qwen2", "gpt_pangu")

#: weights by name, each of them taken once
Arrays = dict[str, Array] | gguf_model.Tensors


def read_config(folder: str) -> dict[str, Any]:
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config: dict[str, Any] = json.load(file)
    return config


#: what a size in a configuration can be at most: arrays of that many numbers are made
_LARGEST = 1 << 24


def size(config: dict[str, Any], name: str, default: int = 0) -> int:
    """A size that a configuration states; `default`, if that is not 0, where it says nothing."""
    found = config[name] if not default else config.get(name) or default
    if isinstance(found, bool) or not isinstance(found, int) or not 0 < found <= _LARGEST:
        raise ValueError(f"'{name}' in the model's configuration must be a whole number from 1 to {_LARGEST}, but is {found!r}"[:200])
    return found


def small(config: dict[str, Any], name: str, default: float | None = None) -> float:
    """The number that norms add."""
    found = config[name] if default is None else config.get(name, default)
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 <= found < 1:
        raise ValueError(f"'{name}' in the model's configuration must be a number from 0 to 1, but is {found!r}"[:200])
    return float(found)


def _ends(given: Any) -> tuple[int, ...]:
    ends = tuple(given) if isinstance(given, list) else () if given is None else (given,)
    if any(isinstance(end, bool) or not isinstance(end, int) for end in ends):
        raise ValueError(f"'eos_token_id' in the model's configuration must be a token or a list of tokens, but is {given!r}"[:200])
    return ends


def shape_of(config: dict[str, Any]) -> Shape:
    try:
        shape = _shape(config)
    except KeyError as error:
        raise ValueError(f"the model's configuration lacks {error}") from None
    except (TypeError, AttributeError, OverflowError) as error:  # settings of rotary positions that are no numbers
        raise ValueError(f"the model's configuration cannot be used: {error}") from None
    if shape.width % shape.heads or shape.heads % shape.kv_heads or shape.head_width % 2 * (shape.rotation is not None):
        raise ValueError(
            f"a width of {shape.width} with {shape.heads} heads of {shape.head_width}, {shape.kv_heads} of them with keys, is not possible"
        )
    return shape


def _shape(config: dict[str, Any]) -> Shape:
    family, ends = config.get("model_type"), _ends(config.get("eos_token_id"))
    if family == "gpt2":
        width, heads, activation = size(config, "n_embd"), size(config, "n_head"), config.get("activation_function", "gelu_new")
        return Shape("gpt2", size(config, "vocab_size"), width, size(config, "n_layer"), heads, heads, width // heads,
                     size(config, "n_inner", 4 * width), small(config, "layer_norm_epsilon"), size(config, "n_positions"), None, ends,
                     exact_gelu(activation))  # fmt: skip
    if family == "gpt_pangu":
        width, heads, activation = size(config, "hidden_size"), size(config, "num_heads"), config.get("activation_function", "gelu")
        return Shape(family, size(config, "vocab_size"), width, size(config, "num_layers"), heads, heads, width // heads,
                     size(config, "intermediate_size", 4 * width), small(config, "layer_norm_epsilon", 1e-5),
                     size(config, "max_position_embeddings"), None, ends, exact_gelu(activation))  # fmt: skip
    if family in ("llama", "mistral", "qwen2"):
        width, heads = size(config, "hidden_size"), size(config, "num_attention_heads")
        head_width, positions = size(config, "head_dim", max(width // heads, 1)), size(config, "max_position_embeddings")
        return Shape(family, size(config, "vocab_size"), width, size(config, "num_hidden_layers"), heads,
                     size(config, "num_key_value_heads", heads), head_width, size(config, "intermediate_size"),
                     small(config, "rms_norm_eps"), positions, Rotation.of(config, head_width, positions), ends)  # fmt: skip
    raise ValueError(f"models of type {family!r} are not supported; known are {', '.join(FAMILIES)}")


def exact_gelu(activation: str) -> bool:
    """Which of the two GELUs a configuration names."""
    if activation not in ("gelu", "gelu_new", "gelu_pytorch_tanh"):
        raise ValueError(f"the activation {activation!r} is not supported; it can be 'gelu', 'gelu_new' or 'gelu_pytorch_tanh'")
    return activation == "gelu"


def read_weights(folder: str) -> dict[str, Array]:
    """All tensors of the folder's safetensors files, as they lie in the files: whoever keeps one copies it."""
    files = sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))
    if not files:
        raise ValueError(f"{folder} holds no .safetensors files")
    found: dict[str, Array] = {}
    for name in files:
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))  # unmapped when no array is left
        try:
            entries, _, body = safetensors.read_header(mapped)
        except safetensors.DecodeError as error:
            raise ValueError(f"The file {path} is no safetensors file, is cut short or is damaged: {error}.") from None
        data = np.frombuffer(body, np.uint8)
        found.update({key: data[e.begin : e.end].view(e.dtype.np).reshape(e.shape) for key, e in entries.items()})
    return found


def _or(array: Array | None, other: Array) -> Array:
    return other if array is None else array


def own(array: Array) -> Array:
    return np.array(array, np.float32)


@dataclass
class Linear:
    """weight: [outputs, inputs]."""

    weight: Array
    bias: Array | None = None


@dataclass
class Norm:
    scale: Array
    shift: Array | None = None


@dataclass
class Layer:
    """`inward`: queries, keys and values; `wide`: where gated, gates and what they let through."""

    first: Norm
    inward: Linear
    outward: Linear
    second: Norm
    wide: Linear
    narrow: Linear


@dataclass
class Weights:
    """A layer is read when it is asked for, once, so that not all of them need to be there twice."""

    embedding: Array
    positions: Array | None
    layer: Callable[[int], Layer]
    norm: Norm
    head: Linear
    queries: Array | None = None  # of the last layer, by position, which then comes behind the norm


def gguf_file(folder: str) -> str | None:
    """The path of the folder's GGUF file, if it has one and no `config.json`; the folder may be the file itself."""
    if folder.endswith(".gguf") and os.path.isfile(folder):
        return folder
    names = [] if os.path.isfile(os.path.join(folder, "config.json")) else os.listdir(folder)
    found = sorted(name for name in names if name.endswith(".gguf"))
    if len(found) > 1:
        raise ValueError(f"{folder} holds several GGUF files, name one of them: {', '.join(found)}")
    return os.path.join(folder, found[0]) if found else None


def read_shape(folder: str) -> Shape:
    """What the folder's configuration says, without its weights."""
    path = gguf_file(folder)
    return shape_of(read_config(folder) if path is None else gguf_model.configuration(gguf.File(path)))


@contextlib.contextmanager
def named_if_missing(folder: str) -> Iterator[None]:
    """Says of a weight that is looked for in vain where it was."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"{folder} lacks the weight {error}") from None


def load(folder: str) -> tuple[Shape, Weights]:
    path = gguf_file(folder)
    file = None if path is None else gguf.File(path)
    config = read_config(folder) if file is None else gguf_model.configuration(file)
    shape = shape_of(config)  # before anything is made of these sizes
    arrays: Arrays = read_weights(folder) if file is None else gguf_model.Tensors(file, config)
    with named_if_missing(folder):
        weights = {"gpt2": _gpt2, "gpt_pangu": _pangu}.get(shape.family, _llama)(shape, arrays)
    return shape, replace(weights, layer=named_if_missing(folder)(weights.layer))


def _gpt2(shape: Shape, arrays: Arrays) -> Weights:
    prefix = "transformer." if "transformer.wte.weight" in arrays else ""

    def get(name: str) -> Array:
        return arrays.pop(prefix + name)

    def linear(name: str) -> Linear:
        return Linear(get(f"{name}.weight").T, own(get(f"{name}.bias")))  # stored as [inputs, outputs]

    def norm(name: str) -> Norm:
        return Norm(own(get(f"{name}.weight")), own(get(f"{name}.bias")))

    def layer(i: int) -> Layer:
        return Layer(
            norm(f"h.{i}.ln_1"), linear(f"h.{i}.attn.c_attn"), linear(f"h.{i}.attn.c_proj"),
            norm(f"h.{i}.ln_2"), linear(f"h.{i}.mlp.c_fc"), linear(f"h.{i}.mlp.c_proj"),
        )  # fmt: skip

    embedding = own(get("wte.weight"))
    return Weights(embedding, own(get("wpe.weight")), layer, norm("ln_f"), Linear(_or(arrays.get("lm_head.weight"), embedding)))


def _llama(shape: Shape, arrays: Arrays) -> Weights:
    def get(name: str) -> Array:
        return arrays.pop(f"model.{name}")

    def joined(names: list[str]) -> Linear:
        biases = [arrays.get(f"model.{name}.bias") for name in names]
        bias = own(np.concatenate([b for b in biases if b is not None])) if biases[0] is not None else None
        return Linear(np.concatenate([get(f"{name}.weight") for name in names]), bias)

    def layer(i: int) -> Layer:
        attention, mlp = f"layers.{i}.self_attn.", f"layers.{i}.mlp."
        return Layer(
            Norm(own(get(f"layers.{i}.input_layernorm.weight"))), joined([f"{attention}{part}_proj" for part in "qkv"]),
            joined([f"{attention}o_proj"]), Norm(own(get(f"layers.{i}.post_attention_layernorm.weight"))),
            joined([f"{mlp}gate_proj", f"{mlp}up_proj"]), joined([f"{mlp}down_proj"]),
        )  # fmt: skip

    embedding = own(get("embed_tokens.weight"))
    return Weights(embedding, None, layer, Norm(own(get("norm.weight"))), Linear(_or(arrays.get("lm_head.weight"), embedding)))


def _pangu(shape: Shape, arrays: Arrays) -> Weights:
    """Zeng et al., PanGu-α (2021): a GPT whose last layer asks, at each position, a question of its own learned for that position."""
    prefix = "transformer." if "transformer.wte.weight" in arrays else ""

    def get(name: str) -> Array:
        return arrays.pop(prefix + name)

    def linear(names: list[str]) -> Linear:
        weights, biases = ([get(f"{name}.{part}") for name in names] for part in ("weight", "bias"))
        return Linear(np.concatenate(weights), own(np.concatenate(biases)))

    def norm(name: str) -> Norm:
        return Norm(own(get(f"{name}.weight")), own(get(f"{name}.bias")))

    def layer(i: int) -> Layer:
        attention = f"h.{i}.attn."
        parts = "kv" if i == shape.layers - 1 else "qkv"
        return Layer(
            norm(f"h.{i}.ln_1"), linear([f"{attention}{part}_proj" for part in parts]), linear([f"{attention}c_proj"]),
            norm(f"h.{i}.ln_2"), linear([f"h.{i}.mlp.c_fc"]), linear([f"h.{i}.mlp.c_proj"]),
        )  # fmt: skip

    last = linear([f"h.{shape.layers - 1}.attn.q_proj"])
    queries = own(get("wqe.weight")) @ own(last.weight).T + last.bias
    embedding = own(get("wte.weight"))
    head = Linear(_or(arrays.get("lm_head.weight"), embedding))
    return Weights(embedding, own(get("wpe.weight")), layer, norm("ln_f"), head, queries)
