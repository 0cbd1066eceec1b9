"""MindAudio: a spectrogram has its peak where the tone is, and a network over features learns."""

import numpy as np

import mindspore as ms
from mindspore import nn


def main():
    from mindaudio.data.spectrum import spectrogram
    from mindaudio.models.ecapatdnn import EcapaTDNN

    rate, tone = 8000, 1000
    wave = np.sin(2 * np.pi * tone * np.arange(rate) / rate).astype(np.float32)
    found = np.asarray(spectrogram(wave, n_fft=400, win_length=400, hop_length=160))
    assert abs(found.reshape(201, -1).mean(1).argmax() - tone * 400 / rate) <= 1, found.shape
    net = EcapaTDNN(10, channels=(16, 16, 16, 16, 48), lin_neurons=8, attention_channels=8, res2net_scale=4, se_channels=8)
    x = ms.Tensor(np.random.default_rng(0).standard_normal((4, 30, 10)), ms.float32)
    out = net(x)
    assert np.isfinite(out.asnumpy()).all() and out.shape[0] == 4
    gradient = ms.value_and_grad(lambda a: (net(a) ** 2).mean(), None, net.trainable_params())(x)[1]
    assert all(np.isfinite(g.asnumpy()).all() for g in gradient)
    assert isinstance(net, nn.Cell)
