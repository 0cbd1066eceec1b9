"""BERT of MindONE learns to tell two kinds of sentences apart."""

import numpy as np

import mindspore as ms
from mindspore import nn


def main():
    from mindone.transformers import BertForSequenceClassification
    from transformers import BertConfig

    config = BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=32,
        num_labels=2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation="eager",
    )  # fmt: skip
    net = BertForSequenceClassification(config)
    net.set_train(True)
    rng = np.random.default_rng(0)
    labels = np.arange(8) % 2
    ids = rng.integers(0, 25, (8, 12)) + 25 * labels[:, None]
    ids, labels = ms.Tensor(ids, ms.int32), ms.Tensor(labels, ms.int32)
    optimizer = nn.Adam(net.trainable_params(), 5e-3)

    def loss_of(ids, labels):
        return net(ids, labels=labels, return_dict=False)[0]

    step = ms.value_and_grad(loss_of, None, optimizer.parameters)
    losses = []
    for _ in range(12):
        loss, gradients = step(ids, labels)
        optimizer(gradients)
        losses.append(float(loss))
    assert losses[-1] < 0.8 * losses[0], losses
