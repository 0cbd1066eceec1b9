"""LLaMA of MindFormers: its loss goes down, and it generates."""

import numpy as np

import mindspore as ms
from mindspore import nn


def main():
    from mindformers.models.llama import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        batch_size=2, seq_length=16, hidden_size=32, num_layers=2, num_heads=4, vocab_size=64, multiple_of=16,
        compute_dtype="float32", layernorm_compute_type="float32", softmax_compute_type="float32",
        rotary_dtype="float32", param_init_type="float32", use_past=False, use_flash_attention=False, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, max_decode_length=16,
    )  # fmt: skip
    net = LlamaForCausalLM(config)
    net.set_train(True)
    ids = ms.Tensor(np.random.default_rng(0).integers(3, 64, (2, 17)), ms.int32)
    optimizer = nn.Adam(net.trainable_params(), 3e-3)
    step = ms.value_and_grad(lambda ids: net(ids), None, optimizer.parameters)
    losses = []
    for _ in range(10):
        loss, gradients = step(ids)
        optimizer(gradients)
        losses.append(float(loss[0] if isinstance(loss, tuple) else loss))
    assert losses[-1] < losses[0], losses
    net.set_train(False)
    out = net.generate(ids.asnumpy()[:, :5].tolist(), do_sample=False, max_new_tokens=4)
    assert np.asarray(out[0]).shape[-1] >= 6, out
