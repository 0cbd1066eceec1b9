"""Networks that make images: a variational auto-encoder and a diffusion model.

Kingma & Welling 2014, "Auto-encoding variational Bayes"; Ho et al. 2020, "Denoising diffusion probabilistic
models". Images have values from −1 to 1.
"""

from __future__ import annotations

import math

import numpy as np

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import conv, images, sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


@model(
    "vae",
    task="image generation",
    paper="Kingma & Welling 2014, Auto-encoding variational Bayes",
    recipe=Recipe(epochs=50, batch=100, optimizer="adam", rate=1e-3, weight_decay=0.0, schedule="constant"),
    tiny={"image_size": 8, "hidden": 64, "latent": 4},
)
class VAE(nn.Cell):
    """An image → its reconstruction. The loss is minus the evidence lower bound, per pixel."""

    def __init__(self, in_channels: int = 1, image_size: int = 28, hidden: int = 400, latent: int = 20):
        super().__init__()
        self.takes, self.latent = images(in_channels, image_size), latent
        self.shape, pixels = (in_channels, image_size, image_size), in_channels * image_size**2
        self.encoder = sequence([nn.Dense(pixels, hidden), nn.ReLU()])
        self.mean, self.logvar = nn.Dense(hidden, latent), nn.Dense(hidden, latent)
        self.decoder = sequence([nn.Dense(latent, hidden), nn.ReLU(), nn.Dense(hidden, pixels), nn.Tanh()])

    def encode(self, image: Tensor) -> tuple[Tensor, Tensor]:
        h = self.encoder(image.reshape(image.shape[0], -1))
        return self.mean(h), self.logvar(h)

    def decode(self, code: Tensor) -> Tensor:
        return self.decoder(code).reshape(code.shape[0], *self.shape)

    def construct(self, image: Tensor) -> Tensor:
        return self.decode(self.encode(image)[0])

    def loss(self, image: Tensor) -> Tensor:
        """Squared error of a sampled code's image (unit variance), and the divergence of the codes from a normal distribution."""
        mean, logvar = self.encode(image)
        code = mean + ops.exp(0.5 * logvar) * ops.randn_like(mean, dtype=mean.dtype)
        error = 0.5 * ops.sum(ops.square(self.decode(code) - image), (1, 2, 3))
        divergence = 0.5 * ops.sum(ops.exp(logvar) + ops.square(mean) - 1 - logvar, 1)
        return ops.mean(error + divergence) / math.prod(self.shape)

    def generate(self, count: int) -> Tensor:
        return self.decode(ops.randn(count, self.latent))


def timestep_waves(t: Tensor, width: int) -> Tensor:
    """Sines and cosines of the step, as positions of a transformer."""
    rates = Tensor(np.exp(-np.log(10000.0) * np.arange(width // 2) / (width // 2)).astype(np.float32))
    angles = t.astype("float32")[:, None] * rates
    return ops.cat((ops.sin(angles), ops.cos(angles)), -1)


class ResidualBlock(nn.Cell):
    """Two convolutions; the step adds to each channel between them."""

    def __init__(self, inputs: int, outputs: int, time: int):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(min(8, inputs), inputs), conv(inputs, outputs, bias=True)
        self.norm2, self.conv2 = nn.GroupNorm(min(8, outputs), outputs), conv(outputs, outputs, bias=True)
        self.time = nn.Dense(time, outputs)
        self.shortcut = conv(inputs, outputs, 1, bias=True) if inputs != outputs else None

    def construct(self, x: Tensor, time: Tensor) -> Tensor:
        h = self.conv1(ops.silu(self.norm1(x))) + self.time(ops.silu(time))[:, :, None, None]
        h = self.conv2(ops.silu(self.norm2(h)))
        return h + (x if self.shortcut is None else self.shortcut(x))


@model(
    "ddpm",
    task="image generation",
    paper="Ho et al. 2020, Denoising diffusion probabilistic models",
    recipe=Recipe(epochs=500, batch=128, optimizer="adam", rate=2e-4, weight_decay=0.0, schedule="constant", clip=1.0),
    tiny={"image_size": 8, "width": 16, "steps": 50},
)
class DDPM(nn.Cell):
    """(noisy image, step) → the noise in it, by a U-Net of two sizes."""

    def __init__(self, in_channels: int = 1, image_size: int = 32, width: int = 64, steps: int = 1000):
        super().__init__()
        self.shape, self.steps, self.width = (in_channels, image_size, image_size), steps, width
        self.takes = (*images(in_channels, image_size), Takes("step", (), below=steps))
        betas = np.linspace(1e-4, 0.02, steps) * (1000 / steps)
        kept = np.cumprod(1 - np.minimum(betas, 0.99))
        self.betas, self.kept = Tensor(np.minimum(betas, 0.99).astype(np.float32)), Tensor(kept.astype(np.float32))
        self.time = sequence([nn.Dense(width, 4 * width), nn.SiLU(), nn.Dense(4 * width, 4 * width)])
        self.first = conv(in_channels, width, bias=True)
        self.fine, self.halve = ResidualBlock(width, width, 4 * width), conv(width, 2 * width, 3, 2, bias=True)
        self.coarse = ResidualBlock(2 * width, 2 * width, 4 * width)
        self.double = nn.Conv2dTranspose(2 * width, width, 2, 2, pad_mode="valid", has_bias=True)
        self.joined = ResidualBlock(2 * width, width, 4 * width)
        self.norm, self.last = nn.GroupNorm(8, width), conv(width, in_channels, bias=True)

    def construct(self, image: Tensor, step: Tensor) -> Tensor:
        time = self.time(timestep_waves(step, self.width))
        fine = self.fine(self.first(image), time)
        coarse = self.double(self.coarse(self.halve(fine), time))
        return self.last(ops.silu(self.norm(self.joined(ops.cat((fine, coarse), 1), time))))

    def loss(self, image: Tensor) -> Tensor:
        """The squared error of the noise, at random steps."""
        step = ops.randint(0, self.steps, (image.shape[0],)).astype("int32")
        noise = ops.randn_like(image, dtype=image.dtype)
        kept = self.kept[step][:, None, None, None]
        return ops.mean(ops.square(self(ops.sqrt(kept) * image + ops.sqrt(1 - kept) * noise, step) - noise))

    def generate(self, count: int) -> Tensor:
        """Noise made into images, step by step backwards; each step aims at the image it sees, kept within −1 to 1."""
        x = ops.randn(count, *self.shape)
        for t in range(self.steps - 1, -1, -1):
            noise = self(x, ops.full((count,), t).astype("int32"))
            beta, kept = self.betas[t], self.kept[t]
            image = ops.clamp((x - ops.sqrt(1 - kept) * noise) / ops.sqrt(kept), -1.0, 1.0)
            if not t:
                return image
            before = self.kept[t - 1]
            x = (ops.sqrt(before) * beta * image + ops.sqrt(1 - beta) * (1 - before) * x) / (1 - kept)
            x = x + ops.sqrt(beta * (1 - before) / (1 - kept)) * ops.randn_like(x, dtype=x.dtype)
        return x
