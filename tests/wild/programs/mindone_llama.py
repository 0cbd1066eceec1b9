"""LLaMA of MindONE: greedy generation with a cache gives the tokens that generation without one gives."""

import numpy as np

import mindspore as ms


def generated(model_class, config):
    model = model_class(config)
    model.set_train(False)
    prompt = ms.Tensor(np.random.default_rng(0).integers(3, 90, (2, 7)), ms.int32)
    options = {"max_new_tokens": 6, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    with_cache = model.generate(prompt, use_cache=True, **options)
    without = model.generate(prompt, use_cache=False, **options)
    found = [np.asarray(t.asnumpy()) for t in (with_cache, without)]
    assert found[0].shape[1] in (6, 13), found[0].shape
    np.testing.assert_array_equal(*found)


def main():
    from mindone.transformers import LlamaForCausalLM
    from transformers import LlamaConfig

    generated(
        LlamaForCausalLM,
        LlamaConfig(
            vocab_size=97, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=64, attn_implementation="eager",
        ),
    )  # fmt: skip
