"""LoRA adapters by request: as if the adapter were part of the weights, in any batch; OpenAI's API names them as models."""

import json

import numpy as np
import openai
import pytest
import tiny_models
from test_serving_llm import GREEDY, run

from mindspore_serving.llm.adapters import joined
from mindspore_serving.llm.checkpoint import load
from mindspore_serving.llm.engine import Engine, Limits

TARGETS = {
    "gpt2": {"attn.c_attn": (96, 32), "attn.c_proj": (32, 32), "mlp.c_fc": (128, 32)},
    "llama": {"self_attn.q_proj": (32, 32), "self_attn.v_proj": (16, 32), "mlp.up_proj": (64, 32), "mlp.down_proj": (32, 64)},
    "phi3": {"self_attn.qkv_proj": (48, 32), "self_attn.o_proj": (32, 32), "mlp.gate_up_proj": (128, 32)},
}
STEMS = {"gpt2": "transformer.h", "llama": "model.layers", "phi3": "model.layers"}


def write_adapter(folder, family, seed, rank, modules=(), **settings):
    """An adapter (of some modules, if they are named) as PEFT saves it; returns what it adds to each weight (outputs, inputs)."""
    random = np.random.default_rng(seed)
    arrays, added = {}, {}
    for layer in range(2):
        for module, (outputs, inputs) in TARGETS[family].items():
            if modules and module not in modules:
                continue
            down, up = (random.standard_normal(shape).astype(np.float32) * 0.2 for shape in ((rank, inputs), (outputs, rank)))
            name = f"{STEMS[family]}.{layer}.{module}"
            arrays |= {f"base_model.model.{name}.lora_A.weight": down, f"base_model.model.{name}.lora_B.weight": up}
            added[f"{name}.weight"] = up @ down * np.float32(6 / rank)
    tiny_models.write_arrays(folder, arrays, "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": rank, "lora_alpha": 6, "bias": "none", **settings}))
    return added


@pytest.mark.parametrize("family", TARGETS)
@pytest.mark.parametrize("weights", ("float32", "int8"))
def test_as_part_of_the_weights(family, weights, tmp_path):
    adapters = []
    for number, rank in ((1, 4), (2, 3)):
        added = write_adapter(tmp_path / f"adapter{number}", family, number, rank)
        adapters.append(str(tmp_path / f"adapter{number}"))

        def merge(arrays, added=added):
            for name, delta in added.items():
                arrays[name] = arrays[name] + (delta.T if family == "gpt2" else delta)

        tiny_models.write(tmp_path / f"merged{number}", family, merge)
    tiny_models.write(tmp_path / "model", family)
    prompts = [tiny_models.prompt(length) for length in (3, 40)]
    engine = Engine(str(tmp_path / "model"), Limits(cache_megabytes=2, weights=weights, adapters=tuple(adapters)))
    jobs = [(prompt, GREEDY, number) for prompt in prompts for number in (0, 1, 2)]
    alone = [run(engine, [job])[0] for job in jobs]
    assert run(engine, jobs * 2) == alone * 2  # and no keys of another adapter from the cache
    engine.stop()
    for number in (0, 1, 2):
        folder = tmp_path / (f"merged{number}" if number else "model")
        merged = Engine(str(folder), Limits(cache_megabytes=2, weights=weights if not number else "float32"))
        wanted = run(merged, [(prompt, GREEDY) for prompt in prompts])
        merged.stop()
        found = alone[number::3]
        if number == 0:
            assert found == wanted  # adapters change no bit of others
        elif weights == "float32":
            assert [[token for token, _ in answer] for answer in found] == [[token for token, _ in answer] for answer in wanted]
            np.testing.assert_allclose([lp for _, lp in found[0]], [lp for _, lp in wanted[0]], atol=2e-5)
        else:
            assert found[0][0][1] == pytest.approx(wanted[0][0][1], abs=0.2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"use_dora": True}, "use_dora"), ({"bias": "all"}, "bias"), ({"lora_alpha": "a"}, "no number"), ({"alpha_pattern": {"q": 1}}, "al")],
)
def test_what_is_not_supported_is_refused(settings, words, tmp_path):
    tiny_models.write(tmp_path, "llama")
    write_adapter(tmp_path / "adapter", "llama", 1, 2, **settings)
    with pytest.raises(ValueError, match=words):
        joined([str(tmp_path / "adapter")], load(str(tmp_path))[0])


def test_an_adapter_of_another_model_is_refused(tmp_path):
    tiny_models.write(tmp_path, "gpt2")
    write_adapter(tmp_path / "adapter", "llama", 1, 2)
    with pytest.raises(ValueError, match="does not fit"):
        joined([str(tmp_path / "adapter")], load(str(tmp_path))[0])


def test_openai_names_adapters_as_models(serve_model, tmp_path):
    write_adapter(tmp_path / "adapter", "llama", 1, 4)
    host = serve_model("llama", adapters={"mine": str(tmp_path / "adapter")})
    client = openai.OpenAI(base_url=f"{host.address}/v1", api_key="none", max_retries=0)
    assert [model.id for model in client.models.list()] == ["tiny", "mine"]
    assert client.models.retrieve("mine").parent == "tiny"
    answers = {
        name: client.completions.create(model=name, prompt="Hello", max_tokens=12, temperature=0, extra_body={"ignore_eos": True})
        for name in ("tiny", "mine")
    }
    assert answers["mine"].model == "mine" and answers["mine"].choices[0].text != answers["tiny"].choices[0].text
    vectors = [client.embeddings.create(model=name, input="Hello").data[0].embedding for name in ("tiny", "mine")]
    assert not np.allclose(*vectors)
