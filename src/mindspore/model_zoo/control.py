"""Networks that learn to act: the values of actions, and a policy that is improved in small steps.

Mnih et al. 2015, "Human-level control through deep reinforcement learning"; Schulman et al. 2017, "Proximal policy optimization
algorithms". A network's `practice` plays games with it and says what it is to learn from them.
"""

from __future__ import annotations

import itertools
from typing import Any, Protocol

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import Orthogonal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model

Columns = tuple[np.ndarray, ...]


class Game(Protocol):
    """Several games at once; one that ends begins anew."""

    seen: np.ndarray  # (games, observations), float32
    rng: np.random.Generator

    def step(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(reward, whether it was lost, what was seen last, before a game that ended began anew); `seen` is the new situation."""
        ...


def hidden_layers(widths: list[int], activation: type[nn.Cell]) -> nn.SequentialCell:
    layers: list[nn.Cell] = []
    for inputs, outputs in itertools.pairwise(widths):
        layers += [nn.Dense(inputs, outputs, weight_init=Orthogonal(2**0.5), bias_init="zeros"), activation()]
    return sequence(layers)


@model(
    "dqn",
    task="control",
    paper="Mnih et al. 2015, Human-level control through deep reinforcement learning",
    recipe=Recipe(epochs=60, batch=64, optimizer="adam", rate=1e-3, weight_decay=0.0, schedule="constant", clip=10.0),
    tiny={"hidden": (32, 32)},
)
class DQN(nn.Cell):
    """Observations (N, observations) → the value of each action."""

    def __init__(self, observations: int = 4, actions: int = 2, hidden: tuple[int, ...] = (128, 128), discount: float = 0.99):
        super().__init__()
        self.takes, self.actions, self.discount = (Takes("observation", (observations,)),), actions, discount
        self.body, self.value = hidden_layers([observations, *hidden], nn.ReLU), nn.Dense(hidden[-1], actions)

    def construct(self, observation: Tensor) -> Tensor:
        return self.value(self.body(observation))

    def loss(self, observation: Tensor, action: Tensor, wanted: Tensor) -> Tensor:
        found = ops.gather_d(self(observation), 1, action.expand_dims(1)).squeeze(1)
        away = ops.abs(found - wanted)
        return ops.mean(ops.where(away < 1, 0.5 * ops.square(away), away - 0.5))

    def act(self, observation: np.ndarray) -> np.ndarray:
        """The best actions."""
        return self(Tensor(observation)).asnumpy().argmax(-1)

    def practice(self) -> Replay:
        return Replay(self)


class Replay:
    """A memory of what happened, from which rows are drawn at random.

    What an action was worth is computed by the network as it is when the rows are drawn; it stays fixed for the round of training
    that follows, which is the paper's second network.
    """

    def __init__(self, net: DQN, room: int = 20000):
        self.net, self.room = net, room
        self.memory: Columns | None = None

    def rows(self, game: Game, count: int, share: float) -> Columns:
        """Play on, at random in a share of the moves that falls to 1/20, and draw `count` rows."""
        happened = []
        for _ in range(max(1, count // 8 // len(game.seen))):
            before = game.seen
            action = self.net.act(before)
            chance = game.rng.random(len(before)) < max(0.05, 1 - 3 * share)
            action = np.where(chance, game.rng.integers(0, self.net.actions, len(before)), action)
            reward, lost, after = game.step(action)
            happened.append((before, action.astype(np.int32), reward, lost, after))
        new = tuple(np.concatenate(c) for c in zip(*happened))
        self.memory = new if self.memory is None else tuple(np.concatenate(c)[-self.room :] for c in zip(self.memory, new))
        before, action, reward, lost, after = self.memory
        drawn = game.rng.integers(0, len(before), count)
        best = self.net(Tensor(after[drawn])).asnumpy().max(-1)
        now, later = 1 - self.net.discount, self.net.discount  # values are means over the time to come, which are about as large as rewards
        wanted = now * reward[drawn] + later * np.where(lost[drawn], 0, best)
        return before[drawn], action[drawn], wanted.astype(np.float32)


@model(
    "ppo",
    task="control",
    paper="Schulman et al. 2017, Proximal policy optimization algorithms",
    recipe=Recipe(epochs=60, batch=256, optimizer="adam", rate=2e-3, weight_decay=0.0, schedule="linear", clip=0.5),
    tiny={"hidden": (32, 32)},
)
class PPO(nn.Cell):
    """Observations (N, observations) → (scores of actions, value of the situation)."""

    def __init__(
        self, observations: int = 4, actions: int = 2, hidden: tuple[int, ...] = (64, 64), discount: float = 0.99, trace: float = 0.95,
        reach: float = 0.2, entropy: float = 0.01,
    ):  # fmt: skip
        super().__init__()
        self.takes, self.actions = (Takes("observation", (observations,)),), actions
        self.discount, self.trace, self.reach, self.entropy = discount, trace, reach, entropy
        self.actor, self.critic = hidden_layers([observations, *hidden], nn.Tanh), hidden_layers([observations, *hidden], nn.Tanh)
        self.policy = nn.Dense(hidden[-1], actions, weight_init=Orthogonal(0.01), bias_init="zeros")
        self.value = nn.Dense(hidden[-1], 1, weight_init=Orthogonal(1.0), bias_init="zeros")

    def construct(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        return self.policy(self.actor(observation)), self.value(self.critic(observation)).squeeze(1)

    def loss(self, observation: Tensor, action: Tensor, before: Tensor, advantage: Tensor, returned: Tensor) -> Tensor:
        """Better actions become likelier, but by no more than `reach`; values follow the returns; the policy stays open."""
        scores, value = self(observation)
        logs = ops.log_softmax(scores, -1)
        ratio = ops.exp(ops.gather_d(logs, 1, action.expand_dims(1)).squeeze(1) - before)
        gain = ops.minimum(ratio * advantage, ops.clamp(ratio, 1 - self.reach, 1 + self.reach) * advantage)
        open_ = -ops.sum(ops.exp(logs) * logs, -1)
        return -ops.mean(gain) + 0.5 * ops.mean(ops.square(value - returned)) - self.entropy * ops.mean(open_)

    def act(self, observation: np.ndarray) -> np.ndarray:
        """The likeliest actions."""
        return self(Tensor(observation))[0].asnumpy().argmax(-1)

    def practice(self) -> Rollout:
        return Rollout(self)


class Rollout:
    """What happened under the present policy, each row four times in random order."""

    passes = 4

    def __init__(self, net: PPO):
        self.net = net

    def rows(self, game: Game, count: int, share: float) -> Columns:
        del share
        length = max(2, count // self.passes // len(game.seen))
        happened = [self._move(game) for _ in range(length)]
        seen, action, logs, value, reward, lost, ended, ahead = (np.stack(c) for c in zip(*happened))
        advantage = self._advantages(value, reward, lost, ended, ahead)
        returned = advantage + value
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        columns = [c.reshape(-1, *c.shape[2:]) for c in (seen, action, logs, advantage, returned)]
        order = np.concatenate([game.rng.permutation(len(columns[0])) for _ in range(self.passes)])
        return tuple(c[order].astype(np.int32 if c is columns[1] else np.float32) for c in columns)

    def _move(self, game: Game) -> Any:
        seen = game.seen
        scores, value = (t.asnumpy() for t in self.net(Tensor(seen)))
        logs = scores - scores.max(-1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(-1, keepdims=True))
        action = (game.rng.random((len(seen), 1)) > np.exp(logs).cumsum(-1)).sum(-1).clip(0, self.net.actions - 1)
        reward, lost, after = game.step(action)
        ended = (after != game.seen).any(-1)  # a game began anew
        ahead = self.net(Tensor(after))[1].asnumpy()
        return seen, action, np.take_along_axis(logs, action[:, None], 1)[:, 0], value, reward, lost, ended, ahead

    def _advantages(self, value: Any, reward: Any, lost: Any, ended: Any, ahead: Any) -> np.ndarray:
        """Generalised advantages (Schulman et al. 2016), backwards; (length, games)."""
        surprise = reward + self.net.discount * np.where(lost, 0, ahead) - value
        total, result = np.zeros_like(surprise[0]), np.zeros_like(surprise)
        for t in range(len(surprise) - 1, -1, -1):
            total = surprise[t] + self.net.discount * self.net.trace * np.where(ended[t], 0, total)
            result[t] = total
        return result
