"""Diffusion of MindONE: a small U-Net learns to see noise, and a sampler runs it backwards."""

import numpy as np

import mindspore as ms
from mindspore import mint, nn


def main():
    from mindone.diffusers import DDIMScheduler, DDPMScheduler, UNet2DModel

    net = UNet2DModel(
        sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=4,
    )  # fmt: skip
    scheduler = DDPMScheduler(num_train_timesteps=20)
    rng = np.random.default_rng(0)
    optimizer = nn.Adam(net.trainable_params(), 2e-3)

    def loss_of(noisy, steps, noise):
        return mint.nn.functional.mse_loss(net(noisy, steps, return_dict=False)[0], noise)

    step = ms.value_and_grad(loss_of, None, optimizer.parameters)
    losses = []
    for _ in range(20):
        noise = ms.Tensor(rng.standard_normal((4, 1, 8, 8)), ms.float32)
        times = ms.Tensor(rng.integers(0, 20, 4), ms.int64)
        loss, gradients = step(scheduler.add_noise(ms.mint.zeros_like(noise), noise, times), times, noise)
        optimizer(gradients)
        losses.append(float(loss))
    assert np.mean(losses[-5:]) < 0.8 * losses[0], losses
    sampler = DDIMScheduler(num_train_timesteps=20)
    sampler.set_timesteps(4)
    net.set_train(False)
    x = ms.Tensor(rng.standard_normal((1, 1, 8, 8)), ms.float32)
    for t in sampler.timesteps:
        x = sampler.step(net(x, t, return_dict=False)[0], t, x, return_dict=False)[0]
    assert np.isfinite(x.asnumpy()).all()
