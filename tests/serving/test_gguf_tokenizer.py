"""Tokenizers out of GGUF files: byte pairs as the tokenizers library cuts them, sentencepiece by its definition, a server of nothing but
such a file."""

import json

import numpy as np
import pytest
import requests
import tiny_models
import tokenizers
from test_gguf import converted, write
from tokenizers import decoders, models, pre_tokenizers, trainers

from conftest import CHAT
from mindspore_serving import cli
from mindspore_serving.llm.text import Tokenizer

CORPUS = ["Hello World, it's 2026! I'LL see\n\nyou'd 1234567 times.", "def f(x):\n    return x ** 2  # naïve café €5\r\n", "你好 мир"] * 3
TEXTS = [*CORPUS[:3], "", " ", "a  b\t\n c", "don't DON'T 12345 x/\n/y", "ÀÉîõü e\u0301 \U0001f600", "camelCaseWords HTTPServer"]
TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
#: as the models' own tokenizer.json say
EXPRESSIONS = {
    "llama-bpe": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + TAIL,
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + TAIL,
    "tekken": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}"
    r"\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


def of_bytes(name):
    """A tokenizer of the library, trained on the corpus."""
    by_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=name not in EXPRESSIONS)
    first = {"smollm": lambda: pre_tokenizers.Digits(individual_digits=True), "gpt-2": None}.get(
        name, lambda: pre_tokenizers.Split(tokenizers.Regex(EXPRESSIONS[name]), "isolated")
    )
    made = tokenizers.Tokenizer(models.BPE(ignore_merges=name in ("llama-bpe", "tekken")))
    made.pre_tokenizer = pre_tokenizers.Sequence([first(), by_bytes]) if first else by_bytes
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, show_progress=False))
    return made


def as_gguf(path, made, pre, **settings):
    said = json.loads(made.to_str())["model"]
    tokens = sorted(said["vocab"], key=said["vocab"].get) + ["<s>", "</s>"]
    kinds = np.array([1] * (len(tokens) - 2) + [3, 3], np.int32)
    described = {"model": "gpt2", "pre": pre, "tokens": tokens, "token_type": kinds, "merges": [" ".join(m) for m in said["merges"]],
                 "bos_token_id": len(tokens) - 2, "eos_token_id": len(tokens) - 1, **settings}  # fmt: skip
    write(path, {f"tokenizer.ggml.{name}": value for name, value in described.items()}, {})
    return len(tokens) - 2


@pytest.mark.parametrize("pre", [*EXPRESSIONS, "gpt-2", "smollm"])
def test_byte_pairs(pre, tmp_path):
    made = of_bytes(pre)
    first = as_gguf(tmp_path / "a.gguf", made, pre)
    ours = Tokenizer(str(tmp_path))
    begins = [first] if pre in ("llama-bpe", "tekken") else []
    for text in TEXTS:
        if pre == "qwen2":
            text = text.replace("e\u0301", "é")  # that model's texts are composed first
        assert ours.encode(text) == begins + made.encode(text).ids
        assert ours.decode(ours.encode(text)) == text
    assert ours.encode("<s>not special", special=False) == [first, *made.encode("not special").ids]
    as_gguf(tmp_path / "a.gguf", made, pre, add_bos_token=False, add_eos_token=True)
    assert Tokenizer(str(tmp_path)).encode("Hello") == [*made.encode("Hello").ids, first + 1]


def joined_by_score(text, scores):
    """Sentencepiece's way, by its definition: again and again the two neighbours whose joint piece scores highest, the leftmost first."""
    parts = list(text.replace(" ", "\u2581"))
    while True:
        places = [place for place in range(len(parts) - 1) if parts[place] + parts[place + 1] in scores]
        if not places:
            break
        best = max(places, key=lambda place: (scores[parts[place] + parts[place + 1]], -place))
        parts[best : best + 2] = [parts[best] + parts[best + 1]]
    return [piece for part in parts for piece in ([part] if part in scores else [f"<0x{byte:02X}>" for byte in part.encode()])]


@pytest.mark.parametrize("prefix", (True, False))
def test_pieces(prefix, tmp_path):
    random = np.random.default_rng(0)
    letters = "abcde\u2581"
    made = {"".join(random.choice([*letters], random.integers(2, 5))) for _ in range(60)}
    pieces = [*letters, *sorted(made)]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    kinds = np.array([2, 3, 3] + [6] * 256 + [1] * len(pieces), np.int32)
    scores = np.array([0.0] * 259 + [-float(n) for n in random.permutation(len(pieces))], np.float32)
    described = {"model": "llama", "tokens": tokens, "token_type": kinds, "scores": scores, "bos_token_id": 1, "eos_token_id": 2,
                 "unknown_token_id": 0, "add_space_prefix": prefix}  # fmt: skip
    write(tmp_path / "a.gguf", {f"tokenizer.ggml.{name}": value for name, value in described.items()}, {})
    ours = Tokenizer(str(tmp_path))
    known = dict(zip(pieces, scores[259:].tolist()))
    numbers = {token: number for number, token in enumerate(tokens)}
    for length in (1, 2, 5, 20, 60):
        for _ in range(10):
            text = "".join(random.choice([*"abcde f€"], length))
            wanted = joined_by_score(" " * prefix + text, known)
            assert ours.encode(text) == [1, *(numbers[piece] for piece in wanted)]
            assert ours.decode(ours.encode(text)) == text
    assert ours.encode("a</s>")[-1] == 2 and ours.bytes_of(numbers["\u2581"]) == b" "


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "bert"}, "kind 'bert'"),
        ({"pre": "unheard-of"}, "by 'unheard-of'"),
        ({"merges": ["a b"]}, "has no tokens"),
        ({"merges": 3}, "has no 'tokenizer.ggml.merges'"),
        ({"token_type": np.ones(3, np.int32)}, "one for each token"),
    ],
)
def test_what_is_not_known_is_said(change, words, tmp_path):
    described = {"model": "gpt2", "pre": "gpt-2", "tokens": ["x", "y"], "merges": [], **change}
    write(tmp_path / "a.gguf", {f"tokenizer.ggml.{name}": value for name, value in described.items()}, {})
    with pytest.raises(ValueError, match=words):
        Tokenizer(str(tmp_path))


def test_a_server_of_nothing_but_a_file(tmp_path, free_port, serve_model):
    folder = tmp_path / "tiny"
    served = serve_model("llama")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens, kinds = [*letters, "<end>", "<begin>"], np.array([1] * 256 + [3, 3], np.int32)
    described = {"model": "gpt2", "pre": "gpt-2", "tokens": tokens, "token_type": kinds, "merges": [], "eos_token_id": 256}
    settings = {f"tokenizer.ggml.{name}": value for name, value in described.items()}
    converted(folder, "llama", tmp_path / "other", described={**settings, "tokenizer.chat_template": CHAT})
    path = tmp_path / "other" / "some.gguf"
    (tmp_path / "other" / "model.gguf").rename(path)
    assert cli.is_language_model(str(path)) and cli.is_language_model(str(path.parent)) and len(tokens) == tiny_models.VOCABULARY
    host = cli.prepared(["serve", str(path)])
    try:
        address = f"127.0.0.1:{free_port()}"
        host.start_http(address, 4, None)
        schema = {"type": "array", "items": {"type": "integer"}, "maxItems": 2}
        form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
        chat = {"messages": [{"role": "user", "content": "Hi €"}], "max_tokens": 12, "seed": 3}
        for path, body in (("completions", {"prompt": "Hello", "max_tokens": 12, "seed": 3}), ("chat/completions", chat),
                           ("chat/completions", {**chat, "response_format": form})):  # fmt: skip
            texts = []
            for name, at in (("some", f"http://{address}"), ("tiny", served.address)):
                answer = requests.post(f"{at}/v1/{path}", json={"model": name, **body}, timeout=60).json()
                texts.append([answer["choices"], answer["usage"]])
            assert texts[0] == texts[1]
    finally:
        host.stop()
