"""Networks that learn from a rival: one makes images, the other tells them from real ones.

Goodfellow et al. 2014, "Generative adversarial nets"; Radford et al. 2016, "Unsupervised representation learning with deep convolutional
generative adversarial networks"; Zhu et al. 2017, "Unpaired image-to-image translation using cycle-consistent adversarial networks".

`players` names the cells of each player; `losses` gives each one's loss, by which only its own weights are trained.
"""

from __future__ import annotations

from collections.abc import Callable

from mindspore import nn, ops
from mindspore.common.initializer import Normal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import images, sequence
from mindspore.model_zoo.rcnn import binary_entropy
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


def down(inputs: int, outputs: int, kernel: int = 4, stride: int = 2, padding: int = 1) -> nn.Conv2d:
    return nn.Conv2d(
        inputs, outputs, kernel, stride, pad_mode="pad", padding=padding, has_bias=True, weight_init=Normal(0.02), bias_init="zeros"
    )


def up(inputs: int, outputs: int) -> nn.Conv2dTranspose:
    return nn.Conv2dTranspose(
        inputs, outputs, 4, 2, pad_mode="pad", padding=1, has_bias=True, weight_init=Normal(0.02), bias_init="zeros"
    )


class Rivals(nn.Cell):
    """What these networks share."""

    players: tuple[tuple[str, ...], ...]

    losses: Callable[..., tuple[Tensor, Tensor]]  # of each player

    def loss(self, *columns: Tensor) -> Tensor:
        """The sum of all, to look at."""
        made, judged = self.losses(*columns)
        return made + judged


@model(
    "dcgan",
    task="image generation",
    paper="Radford et al. 2016, Unsupervised representation learning with deep convolutional generative adversarial networks",
    recipe=Recipe(epochs=25, batch=128, optimizer="adam", rate=2e-4, betas=(0.5, 0.999), weight_decay=0.0, schedule="constant"),
    tiny={"image_size": 8, "width": 16, "latent": 8},
)
class DCGAN(Rivals):
    """A code (N, latent) → an image with values from −1 to 1."""

    players = (("maker",), ("judge",))

    def __init__(self, in_channels: int = 3, image_size: int = 64, width: int = 64, latent: int = 100):
        super().__init__()
        stages = image_size.bit_length() - 3
        if image_size != 4 << stages or stages < 1:
            raise ValueError(f"For 'dcgan', 'image_size' must be a power of 2 from 8 on, but got {image_size}.")
        self.shape, self.latent, self.takes = (in_channels, image_size, image_size), latent, (Takes("code", (latent,)),)
        widths = [width << i for i in reversed(range(stages))]
        layers: list[nn.Cell] = [nn.Dense(latent, widths[0] * 16, weight_init=Normal(0.02)), nn.Unflatten(1, (widths[0], 4, 4))]
        for now, following in zip(widths, [*widths[1:], in_channels]):
            layers += [nn.BatchNorm2d(now), nn.ReLU(), up(now, following)]
        self.maker = sequence([*layers, nn.Tanh()])
        layers = [down(in_channels, widths[-1]), nn.LeakyReLU(0.2)]
        for now, following in zip(widths[::-1], widths[-2::-1]):
            layers += [down(now, following), nn.BatchNorm2d(following), nn.LeakyReLU(0.2)]
        self.judge = sequence([*layers, nn.Flatten(), nn.Dense(widths[0] * 16, 1, weight_init=Normal(0.02))])

    def construct(self, code: Tensor) -> Tensor:
        return self.maker(code)

    def losses(self, image: Tensor) -> tuple[Tensor, Tensor]:
        made = self.maker(ops.randn(image.shape[0], self.latent))
        real, fake = self.judge(image), self.judge(made)
        return ops.mean(binary_entropy(fake, 1.0)), ops.mean(binary_entropy(real, 0.9)) + ops.mean(binary_entropy(fake, 0.0))

    def generate(self, count: int) -> Tensor:
        return self.maker(ops.randn(count, self.latent))


class Around(nn.Cell):
    """Two convolutions with instance normalisation beside a shortcut."""

    def __init__(self, width: int):
        super().__init__()
        self.layers = sequence([
            down(width, width, 3, 1), nn.InstanceNorm2d(width), nn.ReLU(), down(width, width, 3, 1), nn.InstanceNorm2d(width),
        ])  # fmt: skip

    def construct(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


def translator(channels: int, width: int, depth: int) -> nn.Cell:
    """An image → one of the other kind: halved twice, residual blocks, doubled twice."""
    layers: list[nn.Cell] = [down(channels, width, 7, 1, 3), nn.InstanceNorm2d(width), nn.ReLU()]
    for i in (1, 2):
        layers += [down(width * i, width * 2 * i, 3, 2), nn.InstanceNorm2d(width * 2 * i), nn.ReLU()]
    layers += [Around(4 * width) for _ in range(depth)]
    for i in (2, 1):
        layers += [up(width * 2 * i, width * i), nn.InstanceNorm2d(width * i), nn.ReLU()]
    return sequence([*layers, down(width, channels, 7, 1, 3), nn.Tanh()])


def judge_of_patches(channels: int, width: int, depth: int) -> nn.Cell:
    """An image → a map of scores, each for a patch."""
    layers: list[nn.Cell] = [down(channels, width), nn.LeakyReLU(0.2)]
    for i in range(depth):
        layers += [down(width << i, width << (i + 1)), nn.InstanceNorm2d(width << (i + 1)), nn.LeakyReLU(0.2)]
    return sequence([*layers, down(width << depth, 1, 3, 1)])


@model(
    "cyclegan",
    task="image translation",
    paper="Zhu et al. 2017, Unpaired image-to-image translation using cycle-consistent adversarial networks",
    recipe=Recipe(
        epochs=200, batch=1, optimizer="adam", rate=2e-4, betas=(0.5, 0.999), weight_decay=0.0, schedule="linear"
    ),
    tiny={"in_channels": 1, "image_size": 16, "width": 8, "depth": 1, "patches": 1},
)
class CycleGAN(Rivals):
    """An image of the first kind → one of the second; what goes there and back must come back the same.

    Squared errors judge (Mao et al. 2017); the normalisations have trained scales.
    """

    players = (("there", "back"), ("judge_first", "judge_second"))

    def __init__(
        self, in_channels: int = 3, image_size: int = 256, width: int = 64, depth: int = 9, patches: int = 3, cycle: float = 10.0
    ):
        super().__init__()
        if image_size % 4:
            raise ValueError(f"For 'cyclegan', 'image_size' must be a multiple of 4, but got {image_size}.")
        self.shape, self.takes, self.cycle = (in_channels, image_size, image_size), images(in_channels, image_size), cycle
        self.there, self.back = translator(in_channels, width, depth), translator(in_channels, width, depth)
        self.judge_first = judge_of_patches(in_channels, width, patches)
        self.judge_second = judge_of_patches(in_channels, width, patches)

    def construct(self, image: Tensor) -> Tensor:
        return self.there(image)

    def losses(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        as_second, as_first = self.there(first), self.back(second)
        round_trip = ops.mean(ops.abs(self.back(as_second) - first)) + ops.mean(ops.abs(self.there(as_first) - second))
        same = ops.mean(ops.abs(self.back(first) - first)) + ops.mean(ops.abs(self.there(second) - second))
        fooled = ops.square(self.judge_second(as_second) - 1), ops.square(self.judge_first(as_first) - 1)
        made = ops.mean(fooled[0]) + ops.mean(fooled[1]) + self.cycle * (round_trip + 0.5 * same)
        seen = ops.mean(ops.square(self.judge_second(second) - 1)) + ops.mean(ops.square(self.judge_first(first) - 1))
        seen += ops.mean(ops.square(self.judge_second(as_second))) + ops.mean(ops.square(self.judge_first(as_first)))
        return made, 0.5 * seen
