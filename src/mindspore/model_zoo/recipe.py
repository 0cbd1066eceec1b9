"""How a network is trained: the paper's numbers, and the optimizer and learning rates they give."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from mindspore.common.parameter import Parameter
from mindspore.nn import optim


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Numbers of a training run.

    Attributes:
        schedule: how the rate falls after the warm-up: "cosine" to 0, "linear" to 0, "steps" (× `decay` at the fractions
            `milestones` of the run), "constant".
        warmup: the fraction of the run in which the rate rises from 0.
        clip: the largest norm of all gradients together; 0: any.
    """

    epochs: int = 90
    batch: int = 256
    optimizer: str = "momentum"
    rate: float = 0.1
    schedule: str = "cosine"
    warmup: float = 0.0
    milestones: tuple[float, ...] = (1 / 3, 2 / 3)
    decay: float = 0.1
    momentum: float = 0.9
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 1e-4
    label_smoothing: float = 0.0
    clip: float = 0.0

    def __str__(self) -> str:
        falling = {"steps": f"× {self.decay:g} after {', '.join(f'{m:.0%}' for m in self.milestones)}"}.get(self.schedule, self.schedule)
        epochs = "1 epoch" if self.epochs == 1 else f"{self.epochs} epochs"
        said = [f"{epochs} in batches of {self.batch}", f"{self.optimizer} with a rate of {self.rate:g} ({falling})"]
        extras = {
            "warm-up": self.warmup, "weight decay": self.weight_decay, "label smoothing": self.label_smoothing, "clipped at": self.clip,
        }  # fmt: skip
        return ", ".join([*said, *(f"{name} {value:g}" for name, value in extras.items() if value)])

    def rates(self, steps: int) -> list[float]:
        """The learning rate of each step."""
        return [self.rate * self._factor(step, steps) for step in range(steps)]

    def _factor(self, step: int, steps: int) -> float:
        rising = int(self.warmup * steps)
        if step < rising:
            return (step + 1) / rising
        done = (step - rising) / max(1, steps - rising)
        match self.schedule:
            case "cosine":
                return (1 + math.cos(math.pi * done)) / 2
            case "linear":
                return 1 - done
            case "steps":
                return self.decay ** sum(step / steps >= m for m in self.milestones)
            case "constant":
                return 1.0
        raise ValueError(f"A recipe's 'schedule' is cosine, linear, steps or constant, but got {self.schedule!r}.")

    def make_optimizer(self, weights: Sequence[Parameter], steps: int) -> Any:
        """The optimizer for a run of so many steps. Biases and scales of normalisations do not decay."""
        vectors, matrices = [p for p in weights if p.ndim <= 1], [p for p in weights if p.ndim > 1]
        groups = [
            {"params": parameters, "weight_decay": decay}
            for parameters, decay in ((matrices, self.weight_decay), (vectors, 0.0))
            if parameters
        ]
        rates, (beta1, beta2) = self.rates(steps), self.betas
        match self.optimizer:
            case "momentum":
                return optim.Momentum(groups, rates, self.momentum)
            case "rmsprop":
                return optim.RMSProp(groups, rates, momentum=self.momentum, epsilon=1e-3)
            case "adam":
                return optim.Adam(groups, rates, beta1=beta1, beta2=beta2)
            case "adamw":
                return optim.AdamWeightDecay(groups, rates, beta1=beta1, beta2=beta2)
            case "lamb":
                return optim.Lamb(groups, rates)
        raise ValueError(f"A recipe's 'optimizer' is momentum, rmsprop, adam, adamw or lamb, not {self.optimizer!r}.")


#: ResNet's own: momentum, rate 0.1 for 256 images, a tenth every 30 of 90 epochs
IMAGENET_SGD = Recipe(schedule="steps")
#: what the small learning checks use
QUICK = Recipe(epochs=1, batch=64, optimizer="adam", rate=2e-3, weight_decay=0.0, warmup=0.05)
