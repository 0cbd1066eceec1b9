"""Answers of models that transformers made, against its own (`make test-serving-oracle`: MS_TRANSFORMERS_MODELS is their folder)."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from test_serving_llm import GREEDY, run

from mindspore_serving.llm.encoder import EncoderNetwork
from mindspore_serving.llm.engine import Engine, Limits

FOLDER = Path(os.environ.get("MS_TRANSFORMERS_MODELS", ""))
EXPECTED = json.loads((FOLDER / "expected.json").read_text()) if os.environ.get("MS_TRANSFORMERS_MODELS") else {}
pytestmark = pytest.mark.skipif(not EXPECTED, reason="make test-serving-oracle makes the models")


@pytest.mark.parametrize("name", EXPECTED.get("decoders", ()))
def test_greedy(name):
    engine = Engine(str(FOLDER / name), Limits(cache_megabytes=2))
    jobs = [(tokens, GREEDY) for tokens in EXPECTED["prompts"].values()]
    found = [[token for token, _ in answer] for answer in run(engine, jobs)]
    engine.stop()
    assert found == list(EXPECTED["decoders"][name].values())


@pytest.mark.parametrize("name", EXPECTED.get("adapters", ()))
def test_adapters(name):
    wanted = EXPECTED["adapters"][name]
    engine = Engine(str(FOLDER / name), Limits(cache_megabytes=2, adapters=tuple(str(FOLDER / name / adapter) for adapter in wanted)))
    everyone = [EXPECTED["decoders"][name], *wanted.values()]
    jobs = [(tokens, GREEDY, number) for number in range(3) for tokens in EXPECTED["prompts"].values()]
    found = [[token for token, _ in answer] for answer in run(engine, jobs)]
    engine.stop()
    assert found == [answer for answers in everyone for answer in answers.values()]


@pytest.mark.parametrize("name", EXPECTED.get("encoders", ()))
def test_embeddings(name):
    network = EncoderNetwork(str(FOLDER / name))
    texts = list(EXPECTED["prompts"].values())
    together = network.forward(texts)
    for text, found, wanted in zip(texts, together, EXPECTED["encoders"][name].values()):
        np.testing.assert_allclose(found, wanted, atol=2e-6)
        assert np.array_equal(found, network.forward([text])[0])
