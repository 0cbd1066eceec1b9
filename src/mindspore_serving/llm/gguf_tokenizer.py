"""The tokenizer in a GGUF file, made for the tokenizers library.

GGUF names two kinds, which join the pair of neighbours that comes first until no pair is left:

    gpt2     byte pair encoding (Sennrich et al., 2016) of bytes written as letters; pairs in a list; texts are cut into words first,
             how is said by a name (`tokenizer.ggml.pre`)
    llama    sentencepiece (Kudo and Richardson, 2018): the pair whose joint piece has the highest score; bytes for what has no piece
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from mindspore_serving.llm.gguf import File

_NORMAL, _CONTROL, _OF_USER = 1, 3, 4
_SPACE = "\u2581"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_TAIL = rf" ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
_SHORT_FORMS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


class _Words(NamedTuple):
    """How a text is cut into words. `expression`: "" for GPT-2's own; `whole`: a word that is a token is not joined from pairs;
    `begins`: a text begins with a token of its own unless the file says otherwise; `digits`: each is a word."""

    expression: str = ""
    whole: bool = False
    begins: bool = False
    digits: bool = False


_GPT2 = _Words()
_LLAMA3 = _Words(rf"{_SHORT_FORMS}|\p{{N}}{{1,3}}|{_TAIL}", whole=True, begins=True)
_QWEN2 = _Words(rf"{_SHORT_FORMS}|\p{{N}}|{_TAIL}")
_BEFORE = r"[^\r\n\p{L}\p{N}]?"
_TEKKEN = _Words(
    rf"{_BEFORE}{_UPPER}*{_LOWER}+|{_BEFORE}{_UPPER}+{_LOWER}*|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}", whole=True, begins=True
)
_WORDS = {"gpt-2": _GPT2, "olmo": _GPT2, "llama-bpe": _LLAMA3, "llama3": _LLAMA3, "llama-v3": _LLAMA3, "falcon3": _LLAMA3,
          "pixtral": _LLAMA3, "qwen2": _QWEN2, "deepseek-r1-qwen": _QWEN2, "tekken": _TEKKEN,
          "smollm": _Words(digits=True)}  # fmt: skip


def read(file: File) -> tuple[Any, dict[str, Any]]:
    """(tokenizer, what `tokenizer_config.json` would say); ValueError where the file has none that is known here."""
    kind = _setting(file, "model", str)
    if kind not in ("gpt2", "llama"):
        raise ValueError(f"the GGUF file's tokenizer is of the kind {kind!r}, which is not known here; put tokenizer.json beside it")
    tokens = _setting(file, "tokens", list)
    numbers = {token: number for number, token in enumerate(tokens)}
    kinds = _numbers(file, "token_type", len(tokens), _NORMAL)
    made, begins = _pieces(file, tokens, numbers, kinds) if kind == "llama" else _pairs(file, tokens, numbers)
    added = {what: [token for token, kind in zip(tokens, kinds) if kind == what and token] for what in (_CONTROL, _OF_USER)}
    made.add_special_tokens([tokenizers.AddedToken(token, normalized=False, special=True) for token in added[_CONTROL]])
    made.add_tokens([tokenizers.AddedToken(token, normalized=False) for token in added[_OF_USER]])
    special = {f"{name}_token": _named(file, tokens, key) for name, key in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"))}
    _frame(made, numbers, special, _flag(file, "add_bos_token", begins), _flag(file, "add_eos_token", False))
    return made, {**special, "chat_template": file.settings.get("tokenizer.chat_template")}


def _pairs(file: File, tokens: list[str], numbers: dict[str, int]) -> tuple[Any, bool]:
    name = file.settings.get("tokenizer.ggml.pre", "gpt-2")
    words = _WORDS.get(name) if isinstance(name, str) else None
    if words is None:
        raise ValueError(
            f"the GGUF file's tokenizer cuts texts into words by {name!r}, which is not known here; put tokenizer.json beside it"
        )
    pairs = [tuple(merge.split(" ", 1)) for merge in _setting(file, "merges", list)]
    for pair in pairs:
        if len(pair) != 2 or any(part not in numbers for part in (*pair, "".join(pair))):
            raise ValueError(f"the pair {' '.join(pair)!r} of the GGUF file's tokenizer has no tokens"[:200])
    made = tokenizers.Tokenizer(models.BPE(numbers, pairs, ignore_merges=words.whole))
    by_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not words.expression)
    if words.expression:
        cut = pre_tokenizers.Split(tokenizers.Regex(words.expression), "isolated")
        made.pre_tokenizer = pre_tokenizers.Sequence([cut, by_bytes])
    elif words.digits:
        made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), by_bytes])
    else:
        made.pre_tokenizer = by_bytes
    if words is _QWEN2:
        made.normalizer = normalizers.NFC()
    made.decoder = decoders.ByteLevel()
    return made, words.begins


def _pieces(file: File, tokens: list[str], numbers: dict[str, int], kinds: Sequence[int]) -> tuple[Any, bool]:
    scores = _numbers(file, "scores", len(tokens), 0)
    pieces = {token for token, kind in zip(tokens, kinds) if kind == _NORMAL}
    joints = sorted(pieces, key=lambda piece: (-scores[numbers[piece]], numbers[piece]))
    pairs = [
        (piece[:end], piece[end:]) for piece in joints for end in range(1, len(piece)) if piece[:end] in pieces and piece[end:] in pieces
    ]
    unknown = _named(file, tokens, "unknown")
    made = tokenizers.Tokenizer(models.BPE(numbers, pairs, unk_token=unknown or None, fuse_unk=True, byte_fallback=True))
    spaced = _flag(file, "add_space_prefix", True)
    written = normalizers.Replace(" ", _SPACE)
    made.normalizer = normalizers.Sequence([normalizers.Prepend(_SPACE), written]) if spaced else written
    back = [decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    made.decoder = decoders.Sequence([*back, decoders.Strip(" ", 1, 0)] if spaced else back)
    return made, True


def _frame(made: Any, numbers: dict[str, int], special: dict[str, str], begins: bool, ends: bool) -> None:
    """What stands before and behind a text."""
    first, last = special["bos_token"] if begins else "", special["eos_token"] if ends else ""
    if first or last:
        parts = [*([first] if first else []), "$A", *([last] if last else [])]
        known = [(token, numbers[token]) for token in {first, last} if token]
        made.post_processor = processors.TemplateProcessing(single=parts, special_tokens=known)


def _setting(file: File, name: str, kind: type) -> Any:
    found = file.settings.get(f"tokenizer.ggml.{name}")
    if not isinstance(found, kind):
        raise ValueError(f"the GGUF file has no 'tokenizer.ggml.{name}'; put tokenizer.json beside it")
    return found


def _numbers(file: File, name: str, count: int, default: int) -> Any:
    """A number for each token."""
    found = file.settings.get(f"tokenizer.ggml.{name}")
    if found is None:
        return [default] * count
    if not isinstance(found, np.ndarray) or len(found) != count or not np.isfinite(found).all():
        raise ValueError(f"'tokenizer.ggml.{name}' of the GGUF file must be {count} numbers, one for each token")
    return found.tolist()


def _flag(file: File, name: str, default: bool) -> bool:
    return bool(file.settings.get(f"tokenizer.ggml.{name}", default))


def _named(file: File, tokens: list[str], name: str) -> str:
    """The token whose number a setting gives, or ""."""
    number = file.settings.get(f"tokenizer.ggml.{name}_token_id")
    return tokens[number] if isinstance(number, int) and 0 <= number < len(tokens) else ""


__all__ = ["read"]
