"""GPT-2 of MindONE learns a sequence by heart."""

import numpy as np

import mindspore as ms
from mindspore import nn


def main():
    from mindone.transformers import GPT2LMHeadModel
    from transformers import GPT2Config

    config = GPT2Config(
        vocab_size=40, n_positions=32, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        attn_implementation="eager",
    )  # fmt: skip
    net = GPT2LMHeadModel(config)
    net.set_train(True)
    ids = ms.Tensor(np.random.default_rng(0).integers(0, 40, (2, 16)), ms.int32)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 3e-3)
    step = ms.value_and_grad(lambda ids: net(ids, labels=ids, return_dict=False)[0], None, optimizer.parameters)
    losses = []
    for _ in range(25):
        loss, gradients = step(ids)
        optimizer(gradients)
        losses.append(float(loss))
    assert losses[-1] < 0.6 * losses[0], losses
