"""How good maps are. Each measure gives a number between 0 and 1 for each image: the higher, the better.

Faithfulness      what the map calls important is what the output hangs on: `NaiveFaithfulness` correlates the two, pixel group by
                  pixel group; `DeletionAUC` and `InsertionAUC` take away or bring in pixels by importance and measure the area
                  under the probability's curve (Petsiuk et al. 2018)
Localization      the map is where the object is: `PointingGame` (Zhang et al. 2016) asks for its highest point, `IoSR` for the
                  share of the salient region that lies within
ClassSensitivity  the maps of the likeliest and the least likely class differ (1 − correlation, scaled)
Robustness        maps of slightly different images are alike (exp of − the largest relative change)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.explainer import _network as nets
from mindspore.explainer._network import Targets
from mindspore.explainer.explanation import Attribution

__all__ = ["ClassSensitivity", "Faithfulness", "Localization", "Robustness"]
_TINY = 1e-9


class Measure:
    """A measure of the quality of maps."""

    def evaluate(self, explainer: Attribution, inputs: Tensor, targets: Targets, saliency: Tensor | None = None) -> np.ndarray:
        """A score for each image; `saliency`: the maps, if they are there already."""
        raise NotImplementedError

    @staticmethod
    def _maps(explainer: Attribution, inputs: Tensor, targets: np.ndarray, saliency: Tensor | np.ndarray | None) -> np.ndarray:
        found = explainer(inputs, targets) if saliency is None else saliency
        maps = found.asnumpy() if isinstance(found, Tensor) else np.asarray(found)
        if maps.shape != (inputs.shape[0], 1, *inputs.shape[2:]):
            raise ValueError(f"'saliency' should have the shape {(inputs.shape[0], 1, *inputs.shape[2:])}, not {maps.shape}.")
        return maps[:, 0]


class _ByLabel(Measure):
    """A measure that keeps its mean for each class."""

    def __init__(self, num_labels: int) -> None:
        if not isinstance(num_labels, int) or num_labels < 1:
            raise ValueError(f"'num_labels' should be a positive whole number, not {num_labels!r}.")
        self.num_labels = num_labels
        self._sums, self._counts = np.zeros(num_labels), np.zeros(num_labels)

    def aggregate(self, result: np.ndarray, targets: Targets) -> None:
        """Add scores to the means of their classes."""
        scores = np.asarray(result, np.float64)
        np.add.at(self._sums, nets.check_targets(targets, len(scores)), scores)
        np.add.at(self._counts, nets.check_targets(targets, len(scores)), 1)

    @property
    def class_performances(self) -> np.ndarray:
        """The mean of each class; NaN where there was none."""
        with np.errstate(invalid="ignore"):
            return self._sums / np.where(self._counts, self._counts, np.nan)

    @property
    def performance(self) -> float:
        """The mean over the classes that were there."""
        return float(np.nanmean(self.class_performances)) if self._counts.any() else float("nan")


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.ravel() - a.mean(), b.ravel() - b.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size > _TINY else 0.0


class Faithfulness(_ByLabel):
    """What a map calls important is what the output hangs on.

    Args:
        num_labels (int): classes of the network.
        activation_fn (Cell): makes probabilities of the network's results.
        metric (str): "NaiveFaithfulness", "DeletionAUC" or "InsertionAUC". Default: "NaiveFaithfulness".

    Examples:
        >>> from mindspore.explainer.benchmark import Faithfulness
        >>> from mindspore.explainer.explanation import Gradient
        >>> net = nn.SequentialCell(nn.Flatten(), nn.Dense(48, 2))
        >>> Faithfulness(2, nn.Softmax()).evaluate(Gradient(net), Tensor(np.ones((1, 3, 4, 4)), ms.float32), 1).shape
        (1,)
    """

    METRICS = ("NaiveFaithfulness", "DeletionAUC", "InsertionAUC")
    _GROUPS = 20  # of pixels, by their importance

    def __init__(self, num_labels: int, activation_fn: Callable[[Tensor], Tensor], metric: str = "NaiveFaithfulness") -> None:
        super().__init__(num_labels)
        if metric not in self.METRICS:
            raise ValueError(f"'metric' should be one of {', '.join(self.METRICS)}, not {metric!r}.")
        self.activation_fn, self.metric = activation_fn, metric

    def evaluate(self, explainer: Attribution, inputs: Tensor, targets: Targets, saliency: Tensor | None = None) -> np.ndarray:
        """A score for each image."""
        classes = nets.check_targets(targets, nets.check_images(inputs).shape[0])
        maps = self._maps(explainer, inputs, classes, saliency)
        with nets.eagerly(explainer.network):
            rows = zip(inputs.asnumpy(), maps, classes.tolist())
            return np.array([self._score(explainer, image, one, target) for image, one, target in rows])

    def _score(self, explainer: Attribution, image: np.ndarray, saliency: np.ndarray, target: int) -> float:
        order = np.argsort(-saliency, axis=None, kind="stable")
        groups = np.array_split(order, min(self._GROUPS, order.size))
        empty = np.zeros_like(image)
        if self.metric == "NaiveFaithfulness":
            changed = np.stack([_exchanged(image, empty, group) for group in groups])
            probability = self._probabilities(explainer, np.concatenate([image[None], changed]), target)
            weights = np.array([saliency.ravel()[group].sum() for group in groups])
            return (1 + _correlation(weights, probability[0] - probability[1:])) / 2
        deleting = self.metric == "DeletionAUC"
        start, end = (image, empty) if deleting else (empty, image)
        steps = [start] + [_exchanged(start, end, np.concatenate(groups[: k + 1])) for k in range(len(groups))]
        curve = self._probabilities(explainer, np.stack(steps), target)
        area = float(((curve[1:] + curve[:-1]) / 2).mean())
        return 1 - area if deleting else area

    def _probabilities(self, explainer: Attribution, images: np.ndarray, target: int) -> np.ndarray:
        outputs = self.activation_fn(explainer.network(Tensor(np.ascontiguousarray(images))))
        return nets.chosen(outputs, np.full(len(images), target)).asnumpy().astype(np.float64)


def _exchanged(image: np.ndarray, other: np.ndarray, pixels: np.ndarray) -> np.ndarray:
    """An image with some pixels of another one."""
    made = image.reshape(len(image), -1).copy()
    made[:, pixels] = other.reshape(len(other), -1)[:, pixels]
    return made.reshape(image.shape)


class Localization(_ByLabel):
    """A map is where the object is.

    Args:
        num_labels (int): classes of the network.
        metric (str): "PointingGame" or "IoSR". Default: "PointingGame".

    Examples:
        >>> from mindspore.explainer.benchmark import Localization
        >>> from mindspore.explainer.explanation import Gradient
        >>> net = nn.SequentialCell(nn.Flatten(), nn.Dense(48, 2))
        >>> everywhere = Tensor(np.ones((1, 1, 4, 4)), ms.float32)
        >>> images = Tensor(np.ones((1, 3, 4, 4)), ms.float32)
        >>> print(Localization(2).evaluate(Gradient(net), images, 1, mask=everywhere))
        [1.]
    """

    METRICS = ("PointingGame", "IoSR")
    _SALIENT = 0.5  # of the highest value: what is above belongs to the salient region

    def __init__(self, num_labels: int, metric: str = "PointingGame") -> None:
        super().__init__(num_labels)
        if metric not in self.METRICS:
            raise ValueError(f"'metric' should be one of {', '.join(self.METRICS)}, not {metric!r}.")
        self.metric = metric

    def evaluate(self, explainer: Attribution, inputs: Tensor, targets: Targets, saliency: Tensor | None = None,
                 mask: Tensor | np.ndarray | None = None) -> np.ndarray:  # fmt: skip
        """A score for each image; `mask` (N, 1, H, W) is 1 where the object is."""
        if mask is None:
            raise ValueError("'mask' is needed: (N, 1, H, W), 1 where the object is.")
        classes = nets.check_targets(targets, nets.check_images(inputs).shape[0])
        maps = self._maps(explainer, inputs, classes, saliency)
        inside = (mask.asnumpy() if isinstance(mask, Tensor) else np.asarray(mask)).reshape(maps.shape) > 0
        if self.metric == "PointingGame":
            return np.array([float(i.ravel()[m.argmax()]) for m, i in zip(maps, inside)])
        salient = maps > self._SALIENT * maps.max(axis=(1, 2), keepdims=True)
        return (salient & inside).sum((1, 2)) / np.maximum(1, salient.sum((1, 2)))


class ClassSensitivity(Measure):
    """The maps of the likeliest and of the least likely class differ.

    Examples:
        >>> from mindspore.explainer.benchmark import ClassSensitivity
        >>> from mindspore.explainer.explanation import Gradient
        >>> net = nn.SequentialCell(nn.Flatten(), nn.Dense(48, 2))
        >>> ClassSensitivity().evaluate(Gradient(net), Tensor(np.ones((1, 3, 4, 4)), ms.float32)).shape
        (1,)
    """

    def evaluate(self, explainer: Attribution, inputs: Tensor, targets: Targets | None = None,
                 saliency: Tensor | None = None) -> np.ndarray:  # fmt: skip
        """A score for each image; `targets` and `saliency` are not used."""
        with nets.eagerly(explainer.network):
            outputs = explainer.network(nets.check_images(inputs)).asnumpy()
        likely, unlikely = (self._maps(explainer, inputs, classes, None) for classes in (outputs.argmax(1), outputs.argmin(1)))
        return np.array([(1 - _correlation(a, b)) / 2 for a, b in zip(likely, unlikely)])


class Robustness(_ByLabel):
    """Maps of slightly different images are alike.

    Args:
        num_labels (int): classes of the network.
        activation_fn (Cell, optional): kept for callers of the official class; not needed.
        num_perturbations (int): images tried around each. Default: 10.
        perturbation (float): how far they are away, as a share of the image's range. Default: 0.1.
        seed (int): of the perturbations. Default: 0.

    Examples:
        >>> from mindspore.explainer.benchmark import Robustness
        >>> from mindspore.explainer.explanation import Gradient
        >>> net = nn.SequentialCell(nn.Flatten(), nn.Dense(48, 2))
        >>> print(Robustness(2).evaluate(Gradient(net), Tensor(np.ones((1, 3, 4, 4)), ms.float32), 1))
        [1.]
    """

    def __init__(self, num_labels: int, activation_fn: Callable[[Tensor], Tensor] | None = None, num_perturbations: int = 10,
                 perturbation: float = 0.1, seed: int = 0) -> None:  # fmt: skip
        super().__init__(num_labels)
        self.num_perturbations, self.perturbation, self.seed = num_perturbations, perturbation, seed

    def evaluate(self, explainer: Attribution, inputs: Tensor, targets: Targets, saliency: Tensor | None = None) -> np.ndarray:
        """A score for each image."""
        classes = nets.check_targets(targets, nets.check_images(inputs).shape[0])
        maps = self._maps(explainer, inputs, classes, saliency)
        images, random = inputs.asnumpy(), np.random.default_rng(self.seed)
        reach = self.perturbation * (images.max((1, 2, 3), keepdims=True) - images.min((1, 2, 3), keepdims=True))
        sizes = np.maximum(_TINY, np.sqrt((maps**2).sum((1, 2))))
        worst = np.zeros(len(images))
        for _ in range(self.num_perturbations):
            noisy = (images + reach * random.uniform(-1, 1, images.shape)).astype(images.dtype)
            change = self._maps(explainer, Tensor(noisy), classes, None) - maps
            worst = np.maximum(worst, np.sqrt((change**2).sum((1, 2))) / sizes)
        return np.exp(-worst)
