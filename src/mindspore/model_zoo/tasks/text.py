"""Networks of text: the next token, masked tokens, classes of texts, sequences to sequences.

Texts are read as bytes, so a vocabulary of 256 and more is enough for all of them. Made-up rows have answers that follow from
the row: counting in steps of one's own, the most frequent half of the vocabulary, the source in reverse.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.task import SYNTHETIC, Task, existing
from mindspore.nn.cell import Cell

BYTES = 256
FOLLOWING = 64  # bytes by which `predict` continues a text
UNSEEN = -100  # the label of places that do not count


class TokenLoss(Cell):
    """Cross entropy of the network's scores at each place whose label counts; the last column is the labels.

    A network that returns (scores, penalty) has the penalty added.
    """

    def __init__(self, net: Cell, smoothing: float):
        super().__init__(auto_prefix=False)
        self.net, self.smoothing = net, smoothing

    def construct(self, *columns: Tensor) -> Tensor:
        outputs, labels = self.net(*columns[:-1]), columns[-1]
        scores = outputs[0] if isinstance(outputs, tuple) else outputs
        flat = scores.reshape(-1, scores.shape[-1])
        loss = ops.cross_entropy(flat, labels.reshape(-1), ignore_index=UNSEEN, label_smoothing=self.smoothing)
        return loss + outputs[1] if isinstance(outputs, tuple) else loss


class Tokens(Task):
    """What these tasks share: rows of inputs and labels, and the share of labels that are guessed."""

    figure = "accuracy"

    def rows(self, place: str, net: Cell, training: bool, limit: int) -> tuple[np.ndarray, ...]:
        """The columns, labels last."""
        raise NotImplementedError

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return TokenLoss(net, recipe.label_smoothing)

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        if place != SYNTHETIC:
            self.folder(place)
            _check_vocabulary(net)
        columns = self.rows(place, net, training, limit or 2048)
        names = [f"column{i}" for i in range(len(columns))]
        return ds.NumpySlicesDataset(columns, names, shuffle=training).batch(batch, drop_remainder=training)

    def evaluate(self, net: Cell, data: Any) -> float:
        net.set_train(False)
        right = total = 0
        for *inputs, labels in data.create_tuple_iterator(num_epochs=1):
            wanted = labels.asnumpy()
            seen = wanted != UNSEEN
            right += int((net(*inputs).asnumpy().argmax(-1) == wanted)[seen].sum())
            total += int(seen.sum())
        if not total:
            raise ValueError("There is nothing to evaluate: the data has no rows.")
        return right / total

    def windows(self, place: str, length: int, training: bool, limit: int) -> np.ndarray:
        """Pieces of a text file; the last tenth is for testing."""
        text = np.frombuffer(self.file(place).read_bytes(), np.uint8)
        border = text.size * 9 // 10
        part = text[:border] if training else text[border:]
        count = part.size // length
        if not count:
            raise ValueError(f"The text in '{place}' is too short: {text.size} bytes, and a row has {length}.")
        return part[: count * length].reshape(count, length)[:limit].astype(np.int32)


def counting(count: int, length: int, vocabulary: int, seed: int) -> np.ndarray:
    """Rows that count from anywhere in steps of 1, 2 or 3, around the end of the vocabulary."""
    rng = np.random.default_rng(seed)
    first, step = rng.integers(0, vocabulary, (count, 1)), rng.integers(1, 4, (count, 1))
    return ((first + step * np.arange(length)) % vocabulary).astype(np.int32)


class Language(Tokens):
    name = "language"
    wanted = "a text file"

    def rows(self, place: str, net: Cell, training: bool, limit: int) -> tuple[np.ndarray, ...]:
        length = net.takes[0].shape[0] + 1
        if place == SYNTHETIC:
            found = counting(limit, length, net.vocabulary, int(training))
        else:
            found = self.windows(place, length, training, limit)
        return found[:, :-1], found[:, 1:]

    def predict(self, net: Cell, file: str) -> str:
        """The text and how it goes on: each time the likeliest byte."""
        text = list(_bytes_of(net, file))
        length = net.takes[0].shape[0]
        net.set_train(False)
        for _ in range(FOLLOWING):
            seen = text[-length:]
            row = np.array([seen + [0] * (length - len(seen))], np.int32)
            text.append(int(net(Tensor(row)).asnumpy()[0, len(seen) - 1, :BYTES].argmax()))
        return bytes(text).decode(errors="replace")


class MaskedWords(Tokens):
    """15 % of the places count: 8 of 10 are masked, 1 is another token, 1 stays. The mask is the last of the vocabulary."""

    name = "masked words"
    wanted = "a text file"

    def rows(self, place: str, net: Cell, training: bool, limit: int) -> tuple[np.ndarray, ...]:
        length, mask = net.takes[0].shape[0], net.vocabulary - 1
        if place == SYNTHETIC:
            found = counting(limit, length, mask, int(training))
        else:
            found = self.windows(place, length, training, limit)
        rng = np.random.default_rng(2 + int(training))
        chosen, fate = rng.random(found.shape) < 0.15, rng.random(found.shape)
        shown = np.where(chosen & (fate < 0.8), mask, found)
        shown = np.where(chosen & (fate >= 0.9), rng.integers(0, mask, found.shape), shown)
        return shown.astype(np.int32), np.where(chosen, found, UNSEEN).astype(np.int32)

    def predict(self, net: Cell, file: str) -> str:
        """The text, with a guess for each '_'."""
        length = net.takes[0].shape[0]
        text = np.frombuffer(_bytes_of(net, file)[:length], np.uint8).astype(np.int32)
        hidden = text == ord("_")
        if not hidden.any():
            raise ValueError(f"In '{file}' there is no '_' to be guessed within {length} bytes.")
        row = np.pad(np.where(hidden, net.vocabulary - 1, text), (0, length - text.size)).astype(np.int32)
        net.set_train(False)
        guessed = net(Tensor(row[None])).asnumpy()[0, : text.size, :BYTES].argmax(-1)
        return bytes(np.where(hidden, guessed, text).astype(np.uint8)).decode(errors="replace")


class TextClasses(Tokens):
    name = "text classes"
    wanted = "a file of lines 'CLASS<tab>TEXT', with classes from 0"

    def rows(self, place: str, net: Cell, training: bool, limit: int) -> tuple[np.ndarray, ...]:
        length = net.takes[0].shape[0]
        if place == SYNTHETIC:
            rng = np.random.default_rng(int(training))
            label = rng.integers(0, net.num_classes, limit)
            share = net.vocabulary // net.num_classes
            own = rng.integers(0, share, (limit, length)) + share * label[:, None]
            other = rng.integers(0, net.vocabulary, (limit, length))
            return np.where(rng.random((limit, length)) < 0.5, own, other).astype(np.int32), label.astype(np.int32)
        lines = _lines(self.file(place), training, limit)
        labels = np.array([int(first) for first, _ in lines], np.int32)
        if labels.min() < 0 or labels.max() >= net.num_classes:
            raise ValueError(f"'{place}' has the classes {labels.min()} to {labels.max()}, but the network has {net.num_classes}.")
        return np.stack([_padded(text, length) for _, text in lines]), labels

    def predict(self, net: Cell, file: str) -> str:
        """The likeliest class of each line."""
        lines = _bytes_of(net, file).decode(errors="replace").splitlines()
        rows = np.stack([_padded(line, net.takes[0].shape[0]) for line in lines])
        net.set_train(False)
        shares = ops.softmax(net(Tensor(rows)), 1).asnumpy()
        return "\n".join(f"class {s.argmax()}: {s.max():.3f}  {line[:60]}" for s, line in zip(shares, lines))


class AnswerLoss(Cell):
    """The mean of the cross entropies of an answer's first and last place."""

    def __init__(self, net: Cell):
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, ids: Tensor, segments: Tensor, ends: Tensor) -> Tensor:
        scores = self.net(ids, segments)
        return 0.5 * (ops.cross_entropy(scores[:, :, 0], ends[:, 0]) + ops.cross_entropy(scores[:, :, 1], ends[:, 1]))


class Answers(Tokens):
    """A row is the question, a 0, the text; labels are the first and last place of the answer.

    Made up: the question is two tokens; the answer reaches from where the first stands in the text to where the second does.
    """

    name = "answers"
    wanted = "a file of lines 'QUESTION<tab>TEXT<tab>ANSWER', the answer being part of the text"
    figure = "exact answers"

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return AnswerLoss(net)

    def rows(self, place: str, net: Cell, training: bool, limit: int) -> tuple[np.ndarray, ...]:
        length = net.takes[0].shape[0]
        if place == SYNTHETIC:
            return _marked(limit, length, net.vocabulary, int(training))
        return self._read(place, length, training, limit)

    def _read(self, place: str, length: int, training: bool, limit: int) -> tuple[np.ndarray, ...]:
        ids, segments, ends = [], [], []
        for question, rest in _lines(self.file(place), training, limit):
            text, _, answer = rest.partition("\t")
            first = text.encode().find(answer.encode())
            if not answer or first < 0:
                raise ValueError(f"In '{place}', the answer {answer!r} is not part of its text {text[:40]!r}.")
            begin = len(question.encode()) + 1
            last = begin + first + len(answer.encode()) - 1
            if last >= length:
                continue  # the answer is beyond what the network sees
            ids.append(_padded(f"{question}\0{text}", length))
            segments.append((np.arange(length) >= begin).astype(np.int32))
            ends.append((begin + first, last))
        if not ids:
            raise ValueError(f"No answer of '{place}' stands within {length} bytes of its row.")
        return np.stack(ids), np.stack(segments), np.array(ends, np.int32)

    def evaluate(self, net: Cell, data: Any) -> float:
        net.set_train(False)
        right = total = 0
        for ids, segments, ends in data.create_tuple_iterator(num_epochs=1):
            found = net(ids, segments).asnumpy().argmax(1)
            right, total = right + int((found == ends.asnumpy()).all(1).sum()), total + len(found)
        if not total:
            raise ValueError("There is nothing to evaluate: the data has no rows.")
        return right / total


    def predict(self, net: Cell, file: str) -> str:
        """The answer of each line 'QUESTION<tab>TEXT'."""
        length, found = net.takes[0].shape[0], []
        net.set_train(False)
        for line in _bytes_of(net, file).decode(errors="replace").splitlines():
            question, tab, text = line.partition("\t")
            if not tab:
                raise ValueError(f"A line of '{file}' has no tab between question and text: {line[:60]!r}.")
            row, begin = _padded(f"{question}\0{text}", length), len(question.encode()) + 1
            segments = (np.arange(length) >= begin).astype(np.int32)
            scores = net(Tensor(row[None]), Tensor(segments[None])).asnumpy()[0]
            first = begin + int(scores[begin:, 0].argmax())
            last = first + int(scores[first:, 1].argmax())
            found.append(bytes(row[first : last + 1].astype(np.uint8)).decode(errors="replace").rstrip("\0"))
        return "\n".join(found)


def _marked(count: int, length: int, vocabulary: int, seed: int) -> tuple[np.ndarray, ...]:
    """Texts without repetition; the question names the first and the last token of the answer."""
    rng = np.random.default_rng(seed)
    text = rng.permuted(np.tile(np.arange(1, vocabulary), (count, 1)), axis=1)[:, : length - 3]
    ends = np.sort(rng.integers(0, text.shape[1], (count, 2)), 1)
    question = np.take_along_axis(text, ends, 1)
    ids = np.concatenate((question, np.zeros((count, 1), np.int64), text), 1)
    segments = np.broadcast_to(np.arange(ids.shape[1]) >= 3, ids.shape)
    return ids.astype(np.int32), segments.astype(np.int32), (ends + 3).astype(np.int32)


class Translation(Tokens):
    """The decoder sees the target shifted by a first token, 0."""

    name = "translation"
    wanted = "a file of lines 'SOURCE<tab>TARGET'"

    def rows(self, place: str, net: Cell, training: bool, limit: int) -> tuple[np.ndarray, ...]:
        length = net.takes[0].shape[0]
        if place == SYNTHETIC:
            rng = np.random.default_rng(int(training))
            source = rng.integers(1, net.vocabulary, (limit, length)).astype(np.int32)
            target = source[:, ::-1].copy()
        else:
            pairs = _lines(self.file(place), training, limit)
            source = np.stack([_padded(first, length) for first, _ in pairs])
            target = np.stack([_padded(second, length) for _, second in pairs])
        shifted = np.concatenate((np.zeros_like(target[:, :1]), target[:, :-1]), 1)
        return source, shifted, target

    def predict(self, net: Cell, file: str) -> str:
        """Each line translated, byte by byte, each time the likeliest."""
        lines = _bytes_of(net, file).decode(errors="replace").splitlines()
        length = net.takes[0].shape[0]
        source = Tensor(np.stack([_padded(line, length) for line in lines]))
        target = np.zeros((len(lines), length + 1), np.int32)
        net.set_train(False)
        for place in range(length):
            target[:, place + 1] = net(source, Tensor(target[:, :-1])).asnumpy()[:, place, :BYTES].argmax(-1)
        return "\n".join(bytes(row[1:].astype(np.uint8)).split(b"\0")[0].decode(errors="replace") for row in target)


def _check_vocabulary(net: Cell) -> None:
    if net.vocabulary < BYTES:
        raise ValueError(
            f"Texts are read as bytes, which needs a vocabulary of {BYTES}, but the network has {net.vocabulary}: --set vocabulary={BYTES}"
        )


def _bytes_of(net: Cell, file: str) -> bytes:
    """A text to predict something about."""
    text = existing(file).read_bytes()
    _check_vocabulary(net)
    if not text.strip():
        raise ValueError(f"'{file}' is empty.")
    return text


def _lines(file: Path, training: bool, limit: int) -> list[tuple[str, str]]:
    """The two parts of each line; every tenth line is for testing."""
    lines = [line.partition("\t") for line in file.read_text().splitlines() if line.strip()]
    bad = next((i for i, (_, found, _) in enumerate(lines) if not found), None)
    if bad is not None:
        raise ValueError(f"Line {bad + 1} of '{file}' has no tab between its two parts.")
    found = [(first, second) for i, (first, _, second) in enumerate(lines) if (i % 10 == 9) != training]
    if not found:
        raise ValueError(f"'{file}' has too few lines: every tenth is for testing.")
    return found[:limit]


def _padded(text: str, length: int) -> np.ndarray:
    stored = np.frombuffer(text.encode()[:length], np.uint8).astype(np.int32)
    return np.pad(stored, (0, length - stored.size))
