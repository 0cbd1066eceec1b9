"""The names of layers' parameters: checkpoints are matched by them, so they are those of official checkpoints."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn

NORM = ["mean", "variance", "gamma", "beta"]
ENCODER = [
    "self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight", "self_attn.out_proj.bias",
    "dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias", "norm1.gamma", "norm1.beta", "norm2.gamma",
    "norm2.beta",
]  # fmt: skip


@pytest.mark.parametrize(
    "layer, names",
    [
        (nn.BatchNorm1d(2), NORM),
        (nn.BatchNorm2d(2), NORM),
        (nn.SyncBatchNorm(2), NORM),
        (nn.InstanceNorm2d(2), NORM),
        (nn.BatchNorm3d(2), ["bn2d.moving_mean", "bn2d.moving_variance", "bn2d.gamma", "bn2d.beta"]),
        (nn.SequentialCell(nn.BatchNorm2d(2)), ["0.moving_mean", "0.moving_variance", "0.gamma", "0.beta"]),
        (nn.PReLU(), ["a"]),
        (nn.SequentialCell(nn.PReLU()), ["0.w"]),
        (nn.SSIM(), ["conv.weight"]),
        (nn.MSSSIM(), [f"multi_convs_list.{i}.weight" for i in range(5)]),
        (nn.TransformerEncoderLayer(4, 2, 8), ENCODER),
        (nn.LSTMCell(2, 3), ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]),
        (nn.LSTM(2, 3, 1), ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]),
    ],
)
def test_names(layer, names):
    assert list(layer.parameters_dict()) == names


def test_batch_norm_of_volumes_is_that_of_planes():
    x = np.random.default_rng(0).normal(size=(2, 3, 2, 4, 5)).astype(np.float32)
    net = nn.BatchNorm3d(3)
    net.set_train()
    axes = (0, 2, 3, 4)
    wanted = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(net.bn2d.moving_mean.asnumpy(), 0.1 * x.mean(axes), rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="5 dims"):
        net(Tensor(x[0]))


def test_checkpoint_of_one_layer(tmp_path):
    ms.save_checkpoint(nn.BatchNorm2d(2), str(tmp_path / "norm.ckpt"))
    assert list(ms.load_checkpoint(str(tmp_path / "norm.ckpt"))) == NORM
