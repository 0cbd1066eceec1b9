"""What stands beside a model's weights and changes its answers: a tokenizer's padding, ways of pooling, the index of the weights' files."""

import json

import numpy as np
import pytest
import requests
import tiny_models
from test_model_families import bert_vector
from test_serving_llm import GREEDY, run

from conftest import write_tokenizer
from mindspore_serving.llm.checkpoint import read_weights
from mindspore_serving.llm.encoder import EncoderNetwork
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.language_model import LanguageModel
from mindspore_serving.llm.text import Tokenizer

FILLED = {"strategy": {"Fixed": 32}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0, "pad_token": "!"}
CUT = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}


def test_texts_are_neither_cut_nor_filled_up(tmp_path):
    """Files of sentence-transformers' models have what they were trained with."""
    write_tokenizer(tmp_path)
    described = json.loads((tmp_path / "tokenizer.json").read_text())
    plain = Tokenizer(str(tmp_path))
    (tmp_path / "tokenizer.json").write_text(json.dumps({**described, "padding": FILLED, "truncation": CUT}))
    for text in ("Hi", "a longer text than that"):
        assert Tokenizer(str(tmp_path)).encode(text) == plain.encode(text) and len(plain.encode(text)) == len(text)


def pooled(folder, settings=None, modules=None, longest=None):
    tiny_models.write(folder, "bert")
    for name, what in (("1_Pooling/config.json", settings), ("modules.json", modules), ("sentence_bert_config.json", longest)):
        if what is not None:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(json.dumps(what))
    return EncoderNetwork(str(folder))


@pytest.mark.parametrize(
    ("settings", "pool"),
    [
        (None, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode": "cls", "embedding_dimension": 32}, "cls"),
        ({"pooling_mode": ["mean"]}, "mean"),
        ({"pooling_mode_max_tokens": True}, "max"),
    ],
)
def test_ways_of_pooling(settings, pool, tmp_path):
    network = pooled(tmp_path, settings)
    text = tiny_models.prompt(9)
    (found,) = network.forward([text])
    _, arrays = tiny_models.arrays_of("bert")
    mean = bert_vector({name: array.astype(np.float64) for name, array in arrays.items()}, text)
    assert np.allclose(found, mean, atol=2e-6) is (pool == "mean") and network.shape.pooling == pool


@pytest.mark.parametrize(
    ("settings", "modules", "words"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, None, "is not supported"),
        ({"pooling_mode": "weightedmean"}, None, "is not supported"),
        ({"pooling_mode": "lasttoken"}, None, "last token's are not supported"),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, None, "is not supported"),
        (None, [{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}], "module 'Dense', which is not supported"),
        (None, [{"type": "sentence_transformers.models.Pooling", "path": "../1_Pooling"}], "outside"),
    ],
)
def test_other_vectors_are_refused(settings, modules, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        pooled(tmp_path, settings, modules)


def test_the_longest_text(tmp_path):
    assert pooled(tmp_path, longest={"max_seq_length": 64}).shape.positions == 64
    with pytest.raises(ValueError, match="must be a number of tokens"):
        pooled(tmp_path, longest={"max_seq_length": "a"})


def test_a_decoder_makes_vectors_of_the_last_token_alone(serve_model, tmp_path):
    host = serve_model("llama")
    (tmp_path / "tiny" / "1_Pooling").mkdir()
    (tmp_path / "tiny" / "1_Pooling" / "config.json").write_text('{"pooling_mode": "mean"}')
    host.add_language_model(LanguageModel(str(tmp_path / "tiny"), "other"))
    for name, status in (("tiny", 200), ("other", 400)):
        answer = requests.post(f"{host.address}/v1/embeddings", json={"model": name, "input": "Hello"}, timeout=60)
        assert answer.status_code == status and ("mean pooling" in answer.text) is (status == 400)


def test_files_of_weights(tmp_path):
    """What else lies in a folder is not taken for the model's."""
    tiny_models.write(tmp_path, "llama")
    _, arrays = tiny_models.arrays_of("llama")
    job = (tiny_models.prompt(9), GREEDY)

    def answer():
        engine = Engine(str(tmp_path), Limits(cache_megabytes=2))
        found = run(engine, [job])
        engine.stop()
        return found

    wanted = answer()
    other = {name: array + 1 for name, array in arrays.items()}
    tiny_models.write_arrays(tmp_path, other, "zz_other.safetensors")
    assert answer() == wanted
    names = sorted(arrays)
    parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    (tmp_path / "model.safetensors").unlink()
    for file, mine in parts.items():
        tiny_models.write_arrays(tmp_path, {name: arrays[name] for name in mine}, file)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {name: file for file, mine in parts.items() for name in mine}}))
    assert answer() == wanted
    (tmp_path / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(ValueError, match=r"lacks the file 'model-00002-of-00002\.safetensors'"):
        read_weights(str(tmp_path))
    index.write_text(json.dumps({"weight_map": {"a": "../zz_other.safetensors"}}))
    with pytest.raises(ValueError, match="lacks the file"):
        read_weights(str(tmp_path))
    index.write_text("[]")
    with pytest.raises(ValueError, match="no 'weight_map'"):
        read_weights(str(tmp_path))
