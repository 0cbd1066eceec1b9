"""A model's folder → its shape and its weights: `config.json` and `*.safetensors` (Hugging Face), or one `*.gguf` (llama.cpp).

Families differ in names of weights and in a few choices (norm, positions, activation, biases); `Shape` states the choices, and
functions by family find the weights. What a configuration asks for and is not there, and weights of layers that nothing here knows, are
refused: they would change the answers. Nothing is executed.
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
    windows: tuple[int, ...] = ()  # how many tokens each layer's attention sees, 0: all; (): all of them see all

    def window(self, layer: int) -> int:
        return self.windows[layer] if self.windows else 0

    @property
    def centred(self) -> bool:
        """Whether norms take the mean away; the others divide by the root mean square alone."""
        return self.rotation is None

    @property
    def gated(self) -> bool:
        """Whether the wide layer is SwiGLU (Shazeer, GLU variants improve Transformer, 2020); the others are GELU."""
        return self.rotation is not None


#: families of language models
FAMILIES = ("gpt2", "llama", "mistral", "qwen2", "qwen3", "phi3", "gpt_pangu")

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
    quantised = config.get("quantization_config")
    if quantised:
        method = quantised.get("quant_method") if isinstance(quantised, dict) else quantised
        raise ValueError(f"weights that were quantised by {method!r} are not supported; give float ones, and --weights int8 or int4"[:200])
    try:
        shape = _shape(config)
    except KeyError as error:
        raise ValueError(f"the model's configuration lacks {error}") from None
    except (TypeError, AttributeError, OverflowError, ZeroDivisionError) as error:  # settings of rotary positions that are no numbers
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
        _must_be(config, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False)
        return Shape("gpt2", size(config, "vocab_size"), width, size(config, "n_layer"), heads, heads, width // heads,
                     size(config, "n_inner", 4 * width), small(config, "layer_norm_epsilon"), size(config, "n_positions"), None, ends,
                     exact_gelu(activation))  # fmt: skip
    if family == "gpt_pangu":
        width, heads, activation = size(config, "hidden_size"), size(config, "num_heads"), config.get("activation_function", "gelu")
        return Shape(family, size(config, "vocab_size"), width, size(config, "num_layers"), heads, heads, width // heads,
                     size(config, "intermediate_size", 4 * width), small(config, "layer_norm_epsilon", 1e-5),
                     size(config, "max_position_embeddings"), None, ends, exact_gelu(activation))  # fmt: skip
    if family in ("llama", "mistral", "qwen2", "qwen3", "phi3"):
        width, heads, layers = size(config, "hidden_size"), size(config, "num_attention_heads"), size(config, "num_hidden_layers")
        head_width = size(config, "head_dim", 128 if family == "qwen3" else max(width // heads, 1))
        rotation = Rotation.of(config, head_width, size(config, "max_position_embeddings"))
        positions = rotation.positions or config["max_position_embeddings"]
        _must_be(config, hidden_act="silu")
        return Shape(family, size(config, "vocab_size"), width, layers, heads,
                     size(config, "num_key_value_heads", heads), head_width, size(config, "intermediate_size"),
                     small(config, "rms_norm_eps"), positions, rotation, ends, windows=_windows(config, layers, positions))  # fmt: skip
    raise ValueError(f"models of type {family!r} are not supported; known are {', '.join(FAMILIES)}")


def _must_be(config: dict[str, Any], **wanted: Any) -> None:
    """Refuses other values of settings that stand in the configuration."""
    for name, value in wanted.items():
        if config.get(name, value) != value:
            raise ValueError(f"'{name}' = {config[name]!r} in the model's configuration is not supported; it can be {value!r}"[:200])


def _windows(config: dict[str, Any], layers: int, positions: int) -> tuple[int, ...]:
    """`Shape.windows`: Mistral and Phi have one for all layers, Qwen for the layers that `layer_types` names, or for the last ones."""
    family = config["model_type"]
    default = None if family == "phi3" else 4096
    has_one = family != "llama" and config.get("use_sliding_window", family in ("mistral", "phi3"))
    if not has_one or config.get("sliding_window", default) is None:
        return ()
    window = size({"sliding_window": default, **config}, "sliding_window")
    if window >= positions:
        return ()
    if family in ("mistral", "phi3"):
        return (window,) * layers
    types = config.get("layer_types")
    if types is None:
        return tuple(window if n >= config.get("max_window_layers", 28) else 0 for n in range(layers))
    if not isinstance(types, list) or len(types) != layers or any(t not in ("full_attention", "sliding_attention") for t in types):
        raise ValueError(f"'layer_types' must name 'full_attention' or 'sliding_attention' for each of the {layers} layers")
    return tuple(window if kind == "sliding_attention" else 0 for kind in types)


def exact_gelu(activation: str) -> bool:
    """Which of the two GELUs a configuration names."""
    if activation not in ("gelu", "gelu_new", "gelu_pytorch_tanh"):
        raise ValueError(f"the activation {activation!r} is not supported; it can be 'gelu', 'gelu_new' or 'gelu_pytorch_tanh'")
    return activation == "gelu"


def _weight_files(folder: str) -> list[str]:
    """The safetensors files of a model: `model.safetensors`, or those that its index names, or all; others may be of other programs."""
    files = sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))
    if not files:
        raise ValueError(f"{folder} holds no .safetensors files")
    index = os.path.join(folder, "model.safetensors.index.json")
    if "model.safetensors" in files:
        return ["model.safetensors"]
    if not os.path.isfile(index):
        return files
    with open(index, encoding="utf-8") as file:
        described = json.load(file)
    places = described.get("weight_map") if isinstance(described, dict) else None
    if not isinstance(places, dict) or not places:
        raise ValueError(f"{index} has no 'weight_map'")
    named = sorted({str(name) for name in places.values()})
    missing = [name for name in named if name not in files]  # other folders' files are none of these
    if missing:
        raise ValueError(f"{folder} lacks the file {missing[0]!r}, which its index names"[:300])
    return named


def read_weights(folder: str) -> dict[str, Array]:
    """All tensors of the folder's model, as they lie in the files: whoever keeps one copies it."""
    found: dict[str, Array] = {}
    for name in _weight_files(folder):
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
    """`inward`: queries, keys and values; `wide`: where gated, gates and what they let through; `queries`, `keys`: norms of each head."""

    first: Norm
    inward: Linear
    outward: Linear
    second: Norm
    wide: Linear
    narrow: Linear
    queries: Norm | None = None
    keys: Norm | None = None


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
    return shape_of(_described(folder) if path is None else gguf_model.configuration(gguf.File(path)))


def _described(folder: str) -> dict[str, Any]:
    """What `config.json` says, and the tokens that end a text by `generation_config.json`, which knows those that end a turn, too."""
    config = read_config(folder)
    beside = os.path.join(folder, "generation_config.json")
    if os.path.isfile(beside):
        with open(beside, encoding="utf-8") as file:
            more = json.load(file)
        ends = [*_ends(config.get("eos_token_id")), *_ends(more.get("eos_token_id") if isinstance(more, dict) else None)]
        config["eos_token_id"] = list(dict.fromkeys(ends))
    return config


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
    config = _described(folder) if file is None else gguf_model.configuration(file)
    shape = shape_of(config)  # before anything is made of these sizes
    arrays: Arrays = read_weights(folder) if file is None else gguf_model.Tensors(file, config)
    if config.get("tie_word_embeddings") is False and "lm_head.weight" not in arrays:
        raise ValueError(f"{folder} lacks the weight 'lm_head.weight', which its configuration does not tie to the embedding")
    with named_if_missing(folder):
        weights = {"gpt2": _gpt2, "gpt_pangu": _pangu}.get(shape.family, _llama)(shape, arrays)

    _check(folder, "the embedding", weights.embedding, (shape.vocabulary, shape.width))
    _check(folder, "the last product", weights.head.weight, (shape.vocabulary, shape.width))
    if weights.positions is not None:
        _check(folder, "positions", weights.positions, (shape.positions, shape.width))

    def layer(number: int) -> Layer:
        found = weights.layer(number)
        _check_sizes(f"{folder}, layer {number}", shape, found, weights.queries is not None and number == shape.layers - 1)
        _refuse_others(folder, arrays, number)
        return found

    return shape, replace(weights, layer=named_if_missing(folder)(layer))


def _check_sizes(where: str, shape: Shape, layer: Layer, asks: bool) -> None:
    """`asks`: what this layer asks for does not come from its rows."""
    queries, keys = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
    products = {"inward": (2 * keys + (0 if asks else queries), shape.width), "outward": (shape.width, queries),
                "wide": (shape.inner * (2 if shape.gated else 1), shape.width), "narrow": (shape.width, shape.inner)}  # fmt: skip
    words = {"inward": "queries, keys and values", "outward": "attention's output", "wide": "the wide layer", "narrow": "the narrow one"}
    for name, wanted in products.items():
        product: Linear = getattr(layer, name)
        _check(where, words[name], product.weight, wanted)
        if product.bias is not None:
            _check(where, f"{words[name]}, bias", product.bias, wanted[:1])
    norms = {"first": shape.width, "second": shape.width, "queries": shape.head_width, "keys": shape.head_width}
    for name, width in norms.items():
        norm: Norm | None = getattr(layer, name)
        if norm is not None:
            _check(where, "a norm", norm.scale, (width,))


def _check(where: str, name: str, array: Array, wanted: tuple[int, ...]) -> None:
    if array.shape != wanted:
        raise ValueError(f"{where}: the weights of {name} are {array.shape}, but by the configuration they must be {wanted}")


#: what files may hold of a layer and nobody needs: masks and frequencies, which follow from the configuration
_NEEDLESS = ("attn.bias", "attn.masked_bias", "rotary_emb.inv_freq")


def _refuse_others(folder: str, arrays: Arrays, number: int) -> None:
    """A weight of a layer that has been read and that nothing asked for belongs to another model than this would be."""
    places = {f"{above}.{number}." for above in ("h", "transformer.h", "model.layers", "blk")}
    for name in arrays:
        if any(name.startswith(place) for place in places) and not name.endswith(_NEEDLESS):
            raise ValueError(f"{folder} has a weight that models of its type do not have: '{name}'")


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


def inward_order(shape: Shape) -> Array | None:
    """Where the outputs of queries, keys and values lie in a model's files: the heads' points are as `rotation.py` has them."""
    order = None if shape.rotation is None else shape.rotation.order(shape.head_width)
    if order is None:
        return None
    turned = (shape.heads + shape.kv_heads) * shape.head_width
    rows = np.arange(turned + shape.kv_heads * shape.head_width)
    rows[:turned] = (np.arange(0, turned, shape.head_width)[:, None] + order).ravel()
    return rows


def _llama(shape: Shape, arrays: Arrays) -> Weights:
    def get(name: str) -> Array:
        return arrays.pop(f"model.{name}")

    def joined(names: list[str]) -> Linear:
        biased = f"model.{names[0]}.bias" in arrays
        bias = own(np.concatenate([get(f"{name}.bias") for name in names])) if biased else None
        return Linear(np.concatenate([get(f"{name}.weight") for name in names]), bias)

    def inward(names: list[str]) -> Linear:
        found, order = joined(names), inward_order(shape)
        if order is not None:
            found = Linear(found.weight[order], None if found.bias is None else found.bias[order])
        return found

    def normed(i: int) -> tuple[Norm, ...]:
        names = ("q_norm", "k_norm") if shape.family == "qwen3" else ()
        return tuple(Norm(own(get(f"layers.{i}.self_attn.{name}.weight"))) for name in names)

    fused = shape.family == "phi3"
    heads = ["qkv_proj"] if fused else [f"{part}_proj" for part in "qkv"]
    wide = ["gate_up_proj"] if fused else ["gate_proj", "up_proj"]

    def layer(i: int) -> Layer:
        attention, mlp = f"layers.{i}.self_attn.", f"layers.{i}.mlp."
        return Layer(
            Norm(own(get(f"layers.{i}.input_layernorm.weight"))), inward([attention + name for name in heads]),
            joined([f"{attention}o_proj"]), Norm(own(get(f"layers.{i}.post_attention_layernorm.weight"))),
            joined([mlp + name for name in wide]), joined([f"{mlp}down_proj"]),
            *normed(i),
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
