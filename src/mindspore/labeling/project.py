"""A labelling project: items, what is known of them, and a network that learns from it and asks for more.

`learn` goes in a circle: the labels known are spread along a graph of nearest neighbours, the network is trained on the
spread labels (each counts by how sure it is), and its features give the graph of the next round. `ask` picks what a person
should look at next, `answer` writes down what they said, `suggest` gives the network's opinion.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindspore.labeling.choosing import STRATEGIES, choose
from mindspore.labeling.learner import Learner
from mindspore.labeling.mistakes import Suspects, find_mistakes
from mindspore.labeling.spreading import spread_labels
from mindspore.labeling.store import Label, LabelStore

KINDS = ("image", "text", "table", "boxes")
#: a person's label counts so many times as much as a spread one
_PERSON = 5.0
#: principal components that items are compared by before a network has learned better features
_COMPONENTS = 50


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """What to propose for an item: a class by its number, or a list of boxes; and how sure that is."""

    value: Any
    confidence: float


class Project:
    """Items to be labelled.

    Args:
        items: an array with a row for each item, as the network takes them; or None where there is no network.
        classes: the names of the classes.
        learner: the network that learns.
        store: a file for the labels, or a LabelStore; in memory if not given.
        show: what people see of each item: images (height, width[, 3]) of uint8, texts, dicts. Taken from `items` if not given.
        kind: "image", "text", "table", or "boxes" (images in which boxes are drawn).
        suggest: `f(item number)` -> Suggestion, instead of the learner's opinion; boxes come from here.

    Examples:
        >>> import numpy as np
        >>> from mindspore import labeling
        >>> texts = ["good", "bad", "fine"]
        >>> project = labeling.Project(None, ["praise", "blame"], show=texts, kind="text")
        >>> project.answer(0, "praise")
        >>> [label.value for label in project.store.labels()]
        [0]
    """

    def __init__(
        self,
        items: np.ndarray | None,
        classes: Sequence[str],
        learner: Learner | None = None,
        *,
        store: LabelStore | str | Path = ":memory:",
        show: Sequence[Any] | None = None,
        kind: str = "image",
        suggest: Callable[[int], Suggestion] | None = None,
        seed: int = 0,
    ):
        if kind not in KINDS:
            raise ValueError(f"'kind' must be one of {', '.join(KINDS)}, but got {kind!r}.")
        if items is None and show is None:
            raise ValueError("a project needs 'items' (for a network) or 'show' (for people), or both.")
        if len(set(classes)) != len(classes) or not classes:
            raise ValueError(f"'classes' must be different names, one at least, but got {list(classes)}.")
        if items is not None and show is not None and len(items) != len(show):
            raise ValueError(f"'items' and 'show' speak of the same items, but got {len(items)} and {len(show)}.")
        self.items = items
        self.show = show
        self.kind = kind
        self.classes = list(classes)
        self.learner = learner
        self.store = store if isinstance(store, LabelStore) else LabelStore(store)
        self.probabilities: np.ndarray | None = None
        self._features: np.ndarray | None = None
        self._suggest = suggest
        self._seed = seed

    def __len__(self) -> int:
        content = self.items if self.items is not None else self.show
        return len(content) if content is not None else 0

    # -- what people say --------------------------------------------------------------------------------------------------
    def answer(self, item: int, value: Any) -> None:
        """Write a person's label down: a class by name or number, a list of boxes, or None for "cannot tell"."""
        if not 0 <= item < len(self):
            raise IndexError(f"there are {len(self)} items, numbered from 0; got {item}.")
        self.store.put(item, self._checked(value))

    def _checked(self, value: Any) -> Any:
        if value is None:
            return None
        if self.kind == "boxes":
            return [self._checked_box(box) for box in value]
        return self._class(value)

    def _class(self, value: Any) -> int:
        if isinstance(value, str):
            if value not in self.classes:
                raise ValueError(f"'{value}' is none of the classes {', '.join(self.classes)}.")
            return self.classes.index(value)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < len(self.classes):
            raise ValueError(f"a label is one of {', '.join(self.classes)}, or its number; got {value!r}.")
        return int(value)

    def _checked_box(self, box: Any) -> list[float]:
        if not isinstance(box, (list, tuple)) or len(box) != 5:
            raise ValueError(f"a box is (x, y, width, height, class), but got {box!r}.")
        x, y, width, height = (float(v) for v in box[:4])
        if not all(np.isfinite((x, y, width, height))) or width <= 0 or height <= 0:
            raise ValueError(f"a box has a place and a positive size in pixels, but got {box!r}.")
        return [x, y, width, height, self._class(box[4])]

    def known(self) -> tuple[np.ndarray, np.ndarray]:
        """(items, classes) that people have given."""
        said = [label for label in self.store.labels("human") if label.value is not None]
        if self.kind == "boxes":
            raise TypeError("boxes have no single class.")
        return np.array([s.item for s in said], np.int64), np.array([s.value for s in said], np.int64)

    # -- what the network thinks --------------------------------------------------------------------------------------------
    def learn(self, steps: int = 600) -> float:
        """Spread the labels known, train the network on them, and look at all items with it; the loss reached."""
        learner, items = self._learning()
        rows, values = self.known()
        if len(np.unique(values)) < 2:
            raise ValueError("label items of two classes at least before a network can learn to tell them apart.")
        labels = np.full(len(items), -1)
        labels[rows] = values
        belief = spread_labels(self.features(), labels, len(self.classes))
        weights = belief.max(1)
        if self.probabilities is not None:  # the network's opinion joins the graph's; where they differ, nobody is trusted
            agree = belief.argmax(1) == self.probabilities.argmax(1)
            belief = (belief + self.probabilities) / 2
            weights = np.where(agree, belief.max(1), 0.0)
        belief[rows] = np.eye(len(self.classes), dtype=belief.dtype)[values]
        weights[rows] = _PERSON
        learner.restart()
        loss = learner.fit(items, belief, weights, steps)
        self.probabilities, found = learner.predict(items)
        self._features = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        return loss

    def features(self) -> np.ndarray:
        """Where items alike lie close together: the network's features, or principal components before it has learned."""
        if self._features is None:
            _, items = self._learning()
            self._features = _principal_components(items.reshape(len(items), -1), self._seed)
        return self._features

    def _learning(self) -> tuple[Learner, np.ndarray]:
        if self.learner is None or self.items is None:
            raise TypeError("this project has no network: give Project 'items' and a 'learner'.")
        return self.learner, self.items

    def ask(self, count: int = 10, strategy: str = "") -> list[int]:
        """The items that a person should label next, the most useful first.

        Before the network has learned, the middle of each cluster ("typical"); then "badge", unless another one of
        `labeling.STRATEGIES` is given.
        """
        rest = self._unlabelled()
        if strategy and strategy not in STRATEGIES:
            raise ValueError(f"'strategy' must be one of {', '.join(STRATEGIES)}, but got {strategy!r}.")
        if not len(rest):
            return []
        if self.items is None or self.learner is None:
            return rest[:count].tolist()
        features = self.features()
        labelled = np.setdiff1d(np.arange(len(self)), rest)
        found = choose(
            strategy or ("badge" if self.probabilities is not None else "typical"),
            min(count, len(rest)),
            probabilities=None if self.probabilities is None else self.probabilities[rest],
            features=features[rest],
            covered=features[labelled],
            seed=self._seed + len(self.store),
        )
        return rest[found].tolist()

    def _unlabelled(self) -> np.ndarray:
        said = [label.item for label in self.store.labels("human")]
        return np.setdiff1d(np.arange(len(self)), np.asarray(said, np.int64))

    def suggest(self, item: int) -> Suggestion | None:
        """What to propose for an item; None where nobody has an opinion."""
        if self._suggest is not None:
            return self._suggest(item)
        if self.probabilities is None:
            return None
        row = self.probabilities[item]
        return Suggestion(int(row.argmax()), float(row.max()))

    def accept(self, confidence: float = 0.95) -> int:
        """Take the network's opinion for the label of all items that it is so sure of; how many these are."""
        if self.probabilities is None:
            raise RuntimeError("the network has not learned yet: call learn() first.")
        rest = self._unlabelled()
        sure = rest[self.probabilities[rest].max(1) >= confidence]
        rows = self.probabilities[sure]
        self.store.put_all(
            [Label(int(i), int(p.argmax()), "model", min(float(p.max()), 1.0)) for i, p in zip(sure, rows)]
        )
        return len(sure)

    # -- what may be wrong ---------------------------------------------------------------------------------------------------
    def mistakes(self, labels: np.ndarray, folds: int = 3, steps: int = 600) -> Suspects:
        """Probable errors among given labels of all items, by networks that have not seen the item they judge."""
        learner, items = self._learning()
        labels = np.asarray(labels)
        if labels.shape != (len(items),):
            raise ValueError(f"'labels' must hold a class for each of the {len(items)} items, but has shape {labels.shape}.")
        part = np.random.default_rng(self._seed).permutation(len(items)) % folds
        probabilities = np.zeros((len(items), len(self.classes)), np.float32)
        for fold in range(folds):
            learner.restart()
            learner.fit(items[part != fold], labels[part != fold], steps=steps)
            probabilities[part == fold] = learner.predict(items[part == fold])[0]
        return find_mistakes(labels, probabilities)


def _principal_components(rows: np.ndarray, seed: int) -> np.ndarray:
    """The rows in the directions in which they vary most, found on a sample of them."""
    sample = rows[np.random.default_rng(seed).permutation(len(rows))[:2000]]
    mean = sample.mean(0)
    _, _, directions = np.linalg.svd(sample - mean, full_matrices=False)
    return np.ascontiguousarray((rows - mean) @ directions[:_COMPONENTS].T, np.float32)
