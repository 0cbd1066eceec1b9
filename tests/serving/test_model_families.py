"""PanGu-α and BERT against plain NumPy written from the papers; encoders over OpenAI's API. Other families: test_as_transformers.py."""

import math

import numpy as np
import openai
import pytest
import tiny_models
from test_serving_llm import GREEDY, run

from mindspore_serving.llm.encoder import EncoderEngine, EncoderNetwork
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.rotation import Rotation

erf = np.vectorize(math.erf)


def norm(x, w, name, epsilon):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon) * w[f"{name}.weight"] + w[f"{name}.bias"]


def linear(x, w, name):
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def gelu(x):
    return x * 0.5 * (1 + erf(x / np.sqrt(2)))


def attention(q, k, v, causal, heads=4):
    n, width = q.shape
    q, k, v = (x.reshape(n, heads, width // heads).swapaxes(0, 1) for x in (q, k, v))
    scores = q @ k.swapaxes(1, 2) / np.sqrt(width // heads)
    if causal:
        scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return ((weights / weights.sum(-1, keepdims=True)) @ v).swapaxes(0, 1).reshape(n, width)


def pangu_logits(w, tokens):
    places = np.arange(len(tokens))
    x = w["wte.weight"][tokens] + w["wpe.weight"][places]
    for i in range(3):
        layer = f"h.{i}."
        if i == 2:
            x = norm(x, w, "ln_f", 1e-5)
        inner = norm(x, w, layer + "ln_1", 1e-5)
        asked = w["wqe.weight"][places] if i == 2 else inner
        q, k, v = linear(asked, w, layer + "attn.q_proj"), *(linear(inner, w, f"{layer}attn.{p}_proj") for p in "kv")
        x = x + linear(attention(q, k, v, True), w, layer + "attn.c_proj")
        x = x + linear(gelu(linear(norm(x, w, layer + "ln_2", 1e-5), w, layer + "mlp.c_fc")), w, layer + "mlp.c_proj")
    return x[-1] @ w["wte.weight"].T


def bert_vector(w, tokens):
    x = w["embeddings.word_embeddings.weight"][tokens] + w["embeddings.position_embeddings.weight"][: len(tokens)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], w, "embeddings.LayerNorm", 1e-12)
    for i in range(2):
        layer = f"encoder.layer.{i}."
        q, k, v = (linear(x, w, f"{layer}attention.self.{name}") for name in ("query", "key", "value"))
        seen = linear(attention(q, k, v, False), w, layer + "attention.output.dense")
        x = norm(x + seen, w, layer + "attention.output.LayerNorm", 1e-12)
        wide = gelu(linear(x, w, layer + "intermediate.dense"))
        x = norm(x + linear(wide, w, layer + "output.dense"), w, layer + "output.LayerNorm", 1e-12)
    return x.mean(0) / np.linalg.norm(x.mean(0))


def test_pangu(tmp_path):
    tiny_models.write(tmp_path, "gpt_pangu")
    _, arrays = tiny_models.arrays_of("gpt_pangu")
    weights = {name.removeprefix("transformer."): array.astype(np.float64) for name, array in arrays.items()}
    jobs = [(tiny_models.prompt(length), GREEDY) for length in (3, 40)]
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2))
    alone = [run(engine, [job])[0] for job in jobs]
    assert run(engine, jobs) == alone
    engine.stop()
    for (prompt, _), answer in zip(jobs, alone):
        text = list(prompt)
        for token, logprob in answer:
            logits = pangu_logits(weights, text)
            assert token == logits.argmax()
            assert logprob == pytest.approx(logits.max() - np.log(np.exp(logits - logits.max()).sum()) - logits.max(), abs=1e-4)
            text.append(token)


@pytest.mark.parametrize("kind", ("float32", "int8"))
def test_bert(kind, tmp_path):
    tiny_models.write(tmp_path, "bert")
    _, arrays = tiny_models.arrays_of("bert")
    weights = {name: array.astype(np.float64) for name, array in arrays.items()}
    network = EncoderNetwork(str(tmp_path), kind)
    texts = [tiny_models.prompt(length) for length in (1, 16, 17, 200)]
    together = network.forward(texts)
    for text, found in zip(texts, together):
        np.testing.assert_allclose(found, bert_vector(weights, text), atol=2e-6 if kind == "float32" else 0.05)
        assert np.array_equal(found, network.forward([text])[0])  # the same bits alone


def test_an_encoder_that_fails_tells_everybody(tmp_path, monkeypatch):
    tiny_models.write(tmp_path, "bert")
    engine = EncoderEngine(str(tmp_path))
    monkeypatch.setattr("threading.excepthook", lambda _: None)

    def fail(texts):
        raise ArithmeticError

    monkeypatch.setattr(engine.network, "forward", fail)
    found = []
    engine.embed([1, 2], found.append)
    engine.stop()
    assert [error.message for error in found] == ["internal error"] and not engine.available


def test_embeddings_of_an_encoder(serve_model):
    host = serve_model("bert")
    client = openai.OpenAI(base_url=f"{host.address}/v1", api_key="none", max_retries=0)
    assert [model.id for model in client.models.list()] == ["tiny"]
    answer = client.embeddings.create(model="tiny", input=["Hello", "a longer text " * 5])
    _, arrays = tiny_models.arrays_of("bert")
    encode = host.language_models.encoders["tiny"].tokenizer.encode
    wanted = bert_vector({name: array.astype(np.float64) for name, array in arrays.items()}, encode("Hello"))
    np.testing.assert_allclose(answer.data[0].embedding, wanted, atol=2e-6)
    assert answer.usage.prompt_tokens == 5 + 70
    with pytest.raises(openai.BadRequestError, match="makes embeddings"):
        client.completions.create(model="tiny", prompt="a")
    with pytest.raises(openai.BadRequestError, match="300 tokens"):
        client.embeddings.create(model="tiny", input="a" * 300)


def test_kinds_of_rotary_positions():
    plain = Rotation.of({}, 8, 64).frequencies
    assert plain == pytest.approx([1.0, 0.1, 0.01, 0.001])
    assert Rotation.of({"rope_scaling": {"type": "linear", "factor": 2.0}}, 8, 64).frequencies == pytest.approx([f / 2 for f in plain])
    settings = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    settings["original_max_position_embeddings"] = 64
    found = Rotation.of({"rope_scaling": settings}, 8, 64).frequencies
    assert found[0] == plain[0] and found[2:] == pytest.approx([f / 8 for f in plain[2:]])
    with pytest.raises(ValueError, match="not supported"):
        Rotation.of({"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, 8, 64)
