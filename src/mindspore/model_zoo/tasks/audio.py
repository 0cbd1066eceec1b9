"""Sounds: the next sample. A WAV file of 8 or 16 bits, or a folder of them; or made-up tones."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import ops
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.task import SYNTHETIC, Task, existing
from mindspore.model_zoo.tasks.text import TokenLoss
from mindspore.nn.cell import Cell


class Audio(Task):
    name = "audio"
    wanted = "a WAV file of 8 or 16 bits, or a folder of such files"
    figure = "bits per sample"
    higher_is_better = False

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return TokenLoss(net, recipe.label_smoothing)

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        length = net.takes[0].shape[0] + 1
        if place == SYNTHETIC:
            sound = tones(limit or 1024, length, int(training))
        else:
            sound = self._read(place, length, training)[: limit or None]
        levels = mu_law(sound, net.levels)
        columns = (levels[:, :-1], levels[:, 1:])
        return ds.NumpySlicesDataset(columns, ["levels", "following"], shuffle=training).batch(batch, drop_remainder=training)

    def _read(self, place: str, length: int, training: bool) -> np.ndarray:
        """Pieces of all files; the last tenth of each file is for testing."""
        folder = self.folder(place)
        files = sorted(folder.glob("*.wav")) if folder.is_dir() else [folder]
        pieces = []
        for sound in map(read_wav, files):
            border = len(sound) * 9 // 10
            part = sound[:border] if training else sound[border:]
            pieces.append(part[: len(part) // length * length].reshape(-1, length))
        if not pieces or not sum(map(len, pieces)):
            raise ValueError(f"In '{place}' there must be {self.wanted}, longer than {length * 10} samples.")
        return np.concatenate(pieces)

    def predict(self, net: Cell, file: str) -> str:
        """How well the network foresees the sound."""
        length = net.takes[0].shape[0] + 1
        sound = read_wav(existing(file))
        if len(sound) < length:
            raise ValueError(f"The sound in '{file}' is too short: {len(sound)} samples, and a row has {length}.")
        levels = mu_law(sound[: len(sound) // length * length].reshape(-1, length), net.levels)
        rows = ds.NumpySlicesDataset((levels[:, :-1], levels[:, 1:]), ["levels", "following"], shuffle=False).batch(8)
        return f"{self.evaluate(net, rows):.3f} {self.figure}; without a network {np.log2(net.levels):.0f}"

    def evaluate(self, net: Cell, data: Any) -> float:
        """The mean of minus log2 of the share given to the level that followed."""
        net.set_train(False)
        total = count = 0.0
        for levels, following in data.create_tuple_iterator(num_epochs=1):
            logs = ops.log_softmax(net(levels), -1).asnumpy()
            taken = np.take_along_axis(logs, following.asnumpy()[..., None], -1)
            total, count = total - float(taken.sum()), count + taken.size
        if not count:
            raise ValueError("There is nothing to evaluate: the data has no rows.")
        return total / count / float(np.log(2))


def read_wav(file: Path) -> np.ndarray:
    """The first channel, from −1 to 1."""
    try:
        with wave.open(str(file)) as stored:
            channels, width, raw = stored.getnchannels(), stored.getsampwidth(), stored.readframes(stored.getnframes())
    except (wave.Error, EOFError) as error:
        raise ValueError(f"'{file}' is no WAV file that can be read: {error}.") from None
    if width not in (1, 2):
        raise ValueError(f"'{file}' has {8 * width} bits a sample; {Audio.wanted} is wanted.")
    samples = np.frombuffer(raw, np.uint8 if width == 1 else "<i2")[::channels].astype(np.float32)
    return samples / 128 - 1 if width == 1 else samples / 32768


def mu_law(sound: np.ndarray, levels: int) -> np.ndarray:
    """−1 … 1 → 0 … levels − 1, finer about 0 (ITU-T G.711's curve)."""
    top = levels - 1
    curved = np.sign(sound) * np.log1p(top * np.abs(sound)) / np.log1p(top)
    return np.clip(np.round((curved + 1) / 2 * top), 0, top).astype(np.int32)


def tones(count: int, length: int, seed: int) -> np.ndarray:
    """Sines of a random pitch and phase."""
    rng = np.random.default_rng(seed)
    period, phase = rng.uniform(8, 24, (count, 1)), rng.uniform(0, 2 * np.pi, (count, 1))
    return (0.8 * np.sin(2 * np.pi * np.arange(length) / period + phase)).astype(np.float32)
