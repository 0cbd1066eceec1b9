"""Acting: balance a pole on a cart, the game of Barto, Sutton & Anderson 1983 ("Neuronlike adaptive elements …").

Data is what practice brings: `rounds` plays with the network as it is and gives a dataset to train on, again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.task import SYNTHETIC, OwnLoss, Task, existing
from mindspore.nn.cell import Cell

GAMES, LONGEST = 16, 500


class CartPole:
    """Push a cart left or right so that its pole does not fall: 1 for every move, until it leans over 12° or the cart is off the track.

    Situations are (place, speed, angle, turning speed); a move lasts 0.02 s.
    """

    GRAVITY, CART, POLE, HALF, FORCE, MOVE = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def __init__(self, seed: int, games: int = GAMES):
        self.rng = np.random.default_rng(seed)
        self.seen = self._begin(games)
        self.moves = np.zeros(games, int)

    def _begin(self, games: int) -> np.ndarray:
        return self.rng.uniform(-0.05, 0.05, (games, 4)).astype(np.float32)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        after = self.moved(self.seen, action)
        lost = (np.abs(after[:, 0]) > 2.4) | (np.abs(after[:, 2]) > np.deg2rad(12))
        self.moves += 1
        ended = lost | (self.moves >= LONGEST)
        self.seen = np.where(ended[:, None], self._begin(len(after)), after)
        self.moves[ended] = 0
        return np.ones(len(after), np.float32), lost, after

    def moved(self, seen: np.ndarray, action: np.ndarray) -> np.ndarray:
        """One Euler step of the equations of motion."""
        _, speed, angle, turning = seen.T.astype(np.float64)
        total, lever = self.CART + self.POLE, self.POLE * self.HALF
        force = np.where(action == 1, self.FORCE, -self.FORCE)
        push = (force + lever * turning**2 * np.sin(angle)) / total
        bent = self.HALF * (4 / 3 - self.POLE * np.cos(angle) ** 2 / total)
        spun = (self.GRAVITY * np.sin(angle) - np.cos(angle) * push) / bent
        gone = push - lever * spun * np.cos(angle) / total
        rates = np.stack((speed, gone, turning, spun), 1)
        return (seen + self.MOVE * rates).astype(np.float32)


class Control(Task):
    name = "control"
    wanted = "the word 'cartpole' (or 'synthetic')"
    figure = "moves per game"

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return OwnLoss(net)

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        """A first round of practice; for testing, the situations in which games begin."""
        self._check(place, net)
        if not training:
            return ds.NumpySlicesDataset((CartPole(12345, 32).seen,), ["observation"], shuffle=False).batch(32)
        return _dataset(net.practice().rows(CartPole(1), limit or 2048, 0.0), batch)

    def rounds(self, place: str, net: Cell, batch: int, count: int, limit: int = 0, done: int = 0) -> Iterator[Any]:
        """A dataset for each of `count` rounds but those done already; the network is played with when the next one is asked for."""
        self._check(place, net)
        practice, game = net.practice(), CartPole(1 + done)
        for i in range(done, count):
            net.set_train(False)
            columns = practice.rows(game, limit or 2048, i / count)
            net.set_train(True)
            yield _dataset(columns, batch)

    def _check(self, place: str, net: Cell) -> None:
        if place not in ("cartpole", SYNTHETIC):
            raise ValueError(f"Networks for control want {self.wanted} as data, but got '{place}'.")
        if net.takes[0].shape != (4,) or net.actions != 2:
            raise ValueError("The game shows 4 numbers and has 2 actions, but the network was made for others.")

    def predict(self, net: Cell, file: str) -> str:
        """The move at each line 'place,speed,angle,turning' of a CSV file."""
        try:
            seen = np.loadtxt(existing(file), delimiter=",", dtype=np.float32, ndmin=2)
        except ValueError:
            seen = np.zeros((0, 0), np.float32)
        if seen.shape[1:] != net.takes[0].shape:
            raise ValueError(f"'{file}' must have lines of {net.takes[0].shape[0]} numbers: place, speed, angle and turning of the pole.")
        net.set_train(False)
        return "\n".join("right" if action else "left" for action in net.act(seen))

    def evaluate(self, net: Cell, data: Any) -> float:
        """How many moves games last, of at most 500, when the network always takes the action it prefers."""
        net.set_train(False)
        (seen,) = next(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
        game = CartPole(0, len(seen))
        lasted, playing = np.zeros(len(seen)), np.ones(len(seen), bool)
        for _ in range(LONGEST):
            seen = game.moved(seen, net.act(seen))
            lasted += playing
            playing &= (np.abs(seen[:, 0]) <= 2.4) & (np.abs(seen[:, 2]) <= np.deg2rad(12))
            seen = np.where(playing[:, None], seen, 0).astype(np.float32)
        return float(lasted.mean())


def _dataset(columns: tuple[np.ndarray, ...], batch: int) -> Any:
    names = [f"column{i}" for i in range(len(columns))]
    return ds.NumpySlicesDataset(columns, names, shuffle=False).batch(batch, drop_remainder=True)
