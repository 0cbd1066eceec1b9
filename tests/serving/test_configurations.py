"""What a model's folder says and nothing here can do is refused: it would change the answers."""

import json

import numpy as np
import pytest
import tiny_models

from mindspore_serving.llm.checkpoint import load, read_shape
from mindspore_serving.llm.engine import Engine


def changed(folder, family, **settings):
    tiny_models.write(folder, family)
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    return str(folder)


@pytest.mark.parametrize(("family", "settings", "words"), [
    ("llama", {"quantization_config": {"quant_method": "fp8"}}, "quantised by 'fp8' are not supported; give float ones"),
    ("llama", {"quantization_config": {"quant_method": "gptq", "bits": 4}}, "quantised by 'gptq'"),
    ("llama", {"hidden_act": "gelu"}, "'hidden_act' = 'gelu' in the model's configuration is not supported; it can be 'silu'"),
    ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "'scale_attn_by_inverse_layer_idx' = True"),
    ("gpt2", {"scale_attn_weights": False}, "'scale_attn_weights' = False"),
    ("llama", {"partial_rotary_factor": 1.5}, "a share of 1.5 of heads of 8 numbers cannot be rotated"),
    ("qwen2", {"use_sliding_window": True, "sliding_window": 9, "layer_types": ["full_attention"]}, "for each of the 2 layers"),
    ("mistral", {"sliding_window": 0}, "'sliding_window' in the model's configuration must be a whole number"),
    ("mistral", {"sliding_window": "9"}, "'sliding_window' in the model's configuration must be a whole number"),
    ("llama", {"rope_scaling": {"rope_type": "longrope", "short_factor": [1.0], "long_factor": [1.0]}}, "rotary positions need 4 factors"),
    ("llama", {"rope_scaling": {"rope_type": "longrope"}}, "lacks 'short_factor'"),
])  # fmt: skip
def test_what_is_refused(family, settings, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        read_shape(changed(tmp_path, family, **settings))


def test_windows(tmp_path):
    def windows(family, **settings):
        return read_shape(changed(tmp_path, family, **settings)).windows

    assert windows("mistral") == (21, 21) and windows("mistral", sliding_window=None) == ()
    assert windows("mistral", sliding_window=256) == ()  # as long as texts can be
    assert windows("qwen2", sliding_window=9) == ()  # only where it is used
    assert windows("qwen2", sliding_window=9, use_sliding_window=True, max_window_layers=1) == (0, 9)
    assert windows("qwen2", sliding_window=9, use_sliding_window=True, layer_types=["sliding_attention", "full_attention"]) == (9, 0)
    assert windows("llama", sliding_window=9) == ()


@pytest.mark.parametrize(("family", "name"), [
    ("llama", "model.layers.1.self_attn.q_norm.weight"),
    ("llama", "model.layers.1.mlp.down_proj.weight_scale_inv"),
    ("qwen2", "model.layers.0.self_attn.o_proj.g_idx"),
    ("gpt2", "transformer.h.2.crossattention.c_attn.weight"),
])  # fmt: skip
def test_weights_of_other_models_are_refused(family, name, tmp_path):
    tiny_models.write(tmp_path, family, lambda arrays: arrays.update({name: np.ones(8, np.float32)}))
    _, weights = load(str(tmp_path))
    with pytest.raises(ValueError, match=f"has a weight that models of its type do not have: '{name}'"):
        [weights.layer(number) for number in range(int(name.split(".")[2]) + 1)]


def test_what_follows_from_the_configuration_may_stand_in_files(tmp_path):
    more = {"model.layers.0.self_attn.rotary_emb.inv_freq": np.ones(4, np.float32)}
    tiny_models.write(tmp_path, "llama", lambda arrays: arrays.update(more))
    shape, weights = load(str(tmp_path))
    assert weights.layer(0).narrow.weight.shape == (shape.width, shape.inner)


@pytest.mark.parametrize(("family", "missing"), [("llama", "lm_head.weight"), ("qwen3", "model.layers.1.self_attn.k_norm.weight"),
                                                 ("qwen2", "model.layers.0.self_attn.v_proj.bias")])  # fmt: skip
def test_a_weight_that_is_missing_is_named(family, missing, tmp_path):
    tiny_models.write(tmp_path, family, lambda arrays: arrays.pop(missing))
    with pytest.raises(ValueError, match=f"lacks the weight '{missing}'"):
        _, weights = load(str(tmp_path))
        [weights.layer(number) for number in range(2)]


def test_tokens_that_end_a_turn(tmp_path):
    folder = changed(tmp_path, "llama", eos_token_id=256)
    assert read_shape(folder).end == (256,)
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [256, 7], "temperature": 0.6}))
    assert read_shape(folder).end == (256, 7)


@pytest.mark.parametrize(("family", "settings", "words"), [
    ("llama", {"num_attention_heads": 8, "head_dim": 8}, r"layer 0: the weights of queries, keys and values are \(64, 32\)"),
    ("llama", {"vocab_size": 259}, r"the weights of the embedding are \(258, 32\), but by the configuration they must be \(259, 32\)"),
    ("llama", {"intermediate_size": 65}, "the wide layer"),
    ("qwen3", {"head_dim": 16}, "queries, keys and values"),
    ("gpt2", {"n_positions": 255}, "positions"),
    ("gpt2", {"n_inner": 64}, "the wide layer"),
])  # fmt: skip
def test_sizes_that_do_not_fit(family, settings, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        Engine(changed(tmp_path, family, **settings))
