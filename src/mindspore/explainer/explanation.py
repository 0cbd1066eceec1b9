"""Saliency maps. Each method is called with images (N, C, H, W) and classes, and gives maps (N, 1, H, W): the higher, the more it counts.

Gradient        the gradient of the class's output by the pixels (Simonyan et al. 2013)
Deconvolution   the same, but ReLUs let through what is positive on the way back (Zeiler and Fergus 2013)
GuidedBackprop  the same, and only where the ReLU was on (Springenberg et al. 2014)
GradCAM         the activations of a layer, weighted by the mean gradients of its channels (Selvaraju et al. 2016)
RISE            the mean of random masks, weighted by what the network says of the masked images (Petsiuk et al. 2018)
Occlusion       how much the output falls when a window slides over the image (Zeiler and Fergus 2013)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mindspore import ops
from mindspore.common.tensor import Tensor
from mindspore.explainer import _network as nets
from mindspore.explainer._network import Targets
from mindspore.nn import Cell, ReLU

__all__ = ["Deconvolution", "GradCAM", "Gradient", "GuidedBackprop", "Occlusion", "RISE"]


class Attribution:
    """A method of explanation."""

    def __init__(self, network: Cell) -> None:
        self.network = nets.check_network(network)

    def __call__(self, inputs: Tensor, targets: Targets, ret: str = "tensor") -> Tensor | np.ndarray:
        """Maps of shape (N, 1, H, W); `ret` is "tensor" or "numpy"."""
        if ret not in ("tensor", "numpy"):
            raise ValueError(f"'ret' should be 'tensor' or 'numpy', not {ret!r}.")
        nets.check_images(inputs)
        classes = nets.check_targets(targets, inputs.shape[0])
        with nets.eagerly(self.network):
            found = self._explain(inputs, classes)
        return found if ret == "tensor" else found.asnumpy()

    def _explain(self, inputs: Tensor, targets: np.ndarray) -> Tensor:
        raise NotImplementedError


class Gradient(Attribution):
    """The gradient of the class's output by the pixels.

    Args:
        network (Cell): gives (N, classes).

    Examples:
        >>> from mindspore.explainer.explanation import Gradient
        >>> net = nn.SequentialCell(nn.Flatten(), nn.Dense(12, 2))
        >>> Gradient(net)(Tensor(np.ones((1, 3, 2, 2)), ms.float32), 1).shape
        (1, 1, 2, 2)
    """

    def __init__(self, network: Cell) -> None:
        super().__init__(network)
        self._differentiated = network

    def _explain(self, inputs: Tensor, targets: np.ndarray) -> Tensor:
        self._differentiated.set_train(False)
        gradient = ops.grad(lambda x: nets.chosen(self._differentiated(x), targets).sum())(inputs)
        return gradient.abs().max(axis=1, keepdims=True)


class _PositiveReLU(Cell):
    """ReLU whose gradient is the positive part of what comes back, whether it was on or not."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (ops.relu(dout),)


class _GuidedReLU(_PositiveReLU):
    """ReLU whose gradient is the positive part of what comes back, where it was on."""

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (ops.relu(dout) * (out > 0).astype(dout.dtype),)


class _ModifiedReLU(Gradient):
    _relu: type[Cell]

    def __init__(self, network: Cell) -> None:
        super().__init__(network)
        self._differentiated = nets.replaced(network, lambda _, cell: self._relu() if isinstance(cell, ReLU) else None)


class Deconvolution(_ModifiedReLU):
    """Gradients for which ReLU layers (`nn.ReLU`) let through what is positive on the way back.

    Args:
        network (Cell): gives (N, classes); its ReLUs should be layers, not calls of `ops.relu`.

    Examples:
        >>> from mindspore.explainer.explanation import Deconvolution
        >>> net = nn.SequentialCell(nn.Flatten(), nn.ReLU(), nn.Dense(12, 2))
        >>> Deconvolution(net)(Tensor(np.ones((1, 3, 2, 2)), ms.float32), 1).shape
        (1, 1, 2, 2)
    """

    _relu = _PositiveReLU


class GuidedBackprop(_ModifiedReLU):
    """Gradients for which ReLU layers (`nn.ReLU`) let through what is positive, where they were on.

    Args:
        network (Cell): gives (N, classes); its ReLUs should be layers, not calls of `ops.relu`.

    Examples:
        >>> from mindspore.explainer.explanation import GuidedBackprop
        >>> net = nn.SequentialCell(nn.Flatten(), nn.ReLU(), nn.Dense(12, 2))
        >>> GuidedBackprop(net)(Tensor(np.ones((1, 3, 2, 2)), ms.float32), 1).shape
        (1, 1, 2, 2)
    """

    _relu = _GuidedReLU


class _Probe(Cell):
    """A layer whose result can be seen, and changed by adding to it."""

    def __init__(self, inner: Cell) -> None:
        super().__init__()
        self.inner = inner
        self.seen: Tensor | None = None
        self.added: Tensor | None = None

    def construct(self, *inputs: Tensor) -> Tensor:
        self.seen = self.inner(*inputs)
        return self.seen if self.added is None else self.seen + self.added


class GradCAM(Attribution):
    """The activations of a layer, weighted by the mean gradients of its channels.

    Args:
        network (Cell): gives (N, classes).
        layer (str): name of a layer that gives (N, channels, h, w), usually the last convolution.

    Examples:
        >>> from mindspore.explainer.explanation import GradCAM
        >>> net = nn.SequentialCell(nn.Conv2d(3, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dense(2 * 4 * 4, 2))
        >>> GradCAM(net, layer="0")(Tensor(np.ones((1, 3, 4, 4)), ms.float32), 1).shape
        (1, 1, 4, 4)
    """

    def __init__(self, network: Cell, layer: str = "") -> None:
        super().__init__(network)
        if not isinstance(layer, str) or not layer:
            names = ", ".join(name for name, _ in network.cells_and_names() if name)
            raise ValueError(f"'layer' should be the name of a layer; layers are {names}.")
        nets.layer(network, layer)
        probes: list[_Probe] = []

        def probe(name: str, cell: Cell) -> Cell | None:
            if name != layer:
                return None
            probes.append(_Probe(cell))
            return probes[0]

        self._probed = nets.replaced(network, probe)
        self._probe = probes[0]

    def _explain(self, inputs: Tensor, targets: np.ndarray) -> Tensor:
        probed, probe = self._probed, self._probe
        probed.set_train(False)
        probe.added = None
        probed(inputs)
        activation = probe.seen
        if activation is None or activation.ndim != 4:
            raise ValueError("'layer' should give (N, channels, h, w); this one does not.")

        def score(added: Tensor) -> Tensor:
            probe.added = added
            return nets.chosen(probed(inputs), targets).sum()

        gradient = ops.grad(score)(ops.zeros_like(activation))
        probe.added = None
        weights = gradient.mean(axis=(2, 3), keep_dims=True)
        maps = ops.relu((weights * activation).sum(1, keepdims=True))
        _, _, height, width = inputs.shape
        return nets.resized(maps, (height, width))


class _Perturbation(Attribution):
    """Methods that ask the network what it says of changed images."""

    def __init__(self, network: Cell, activation_fn: Callable[[Tensor], Tensor], perturbation_per_eval: int = 32) -> None:
        super().__init__(network)
        if not callable(activation_fn):
            raise TypeError(f"'activation_fn' should be a layer such as nn.Softmax(), not {type(activation_fn).__name__}.")
        if not isinstance(perturbation_per_eval, int) or perturbation_per_eval < 1:
            raise ValueError(f"'perturbation_per_eval' should be a positive whole number, not {perturbation_per_eval!r}.")
        self.activation_fn = activation_fn
        self.perturbation_per_eval = perturbation_per_eval

    def _scores(self, images: np.ndarray, target: int) -> np.ndarray:
        """The probabilities of a class for many images."""
        found = []
        for first in range(0, len(images), self.perturbation_per_eval):
            part = Tensor(images[first : first + self.perturbation_per_eval])
            outputs = self.activation_fn(self.network(part))
            found.append(nets.chosen(outputs, np.full(part.shape[0], target)).asnumpy())
        return np.concatenate(found)

    def _chunks(self, count: int) -> Iterator[slice]:
        return (slice(first, min(count, first + self.perturbation_per_eval)) for first in range(0, count, self.perturbation_per_eval))


class RISE(_Perturbation):
    """The mean of random masks, weighted by the probabilities of the masked images.

    Args:
        network (Cell): gives (N, classes).
        activation_fn (Cell): makes probabilities of the network's results, such as `nn.Softmax()`.
        perturbation_per_eval (int): masked images in one call of the network. Default: 32.
        num_masks (int): masks for each image. Default: 6000.
        seed (int, optional): of the masks.

    Examples:
        >>> from mindspore.explainer.explanation import RISE
        >>> net = nn.SequentialCell(nn.Flatten(), nn.Dense(48, 2))
        >>> RISE(net, nn.Softmax(), num_masks=20)(Tensor(np.ones((1, 3, 4, 4)), ms.float32), 1).shape
        (1, 1, 4, 4)
    """

    _CELLS, _SHOWN = 10, 0.5  # of the grid that masks are drawn on, and the share of it that is left

    def __init__(self, network: Cell, activation_fn: Callable[[Tensor], Tensor], perturbation_per_eval: int = 32,
                 num_masks: int = 6000, seed: int | None = None) -> None:  # fmt: skip
        super().__init__(network, activation_fn, perturbation_per_eval)
        if not isinstance(num_masks, int) or num_masks < 1:
            raise ValueError(f"'num_masks' should be a positive whole number, not {num_masks!r}.")
        self.num_masks = num_masks
        self.seed = seed

    def _masks(self, random: np.random.Generator, count: int, height: int, width: int) -> np.ndarray:
        """Coarse random grids, enlarged smoothly and shifted."""
        rows, columns = (-(-size // self._CELLS) for size in (height, width))
        grids = (random.random((count, 1, self._CELLS + 1, self._CELLS + 1)) < self._SHOWN).astype(np.float32)
        large = nets.resized(Tensor(grids), ((self._CELLS + 1) * rows, (self._CELLS + 1) * columns)).asnumpy()
        tops, lefts = random.integers(0, rows, count), random.integers(0, columns, count)
        return np.stack([m[:, t : t + height, c : c + width] for m, t, c in zip(large, tops.tolist(), lefts.tolist())])

    def _explain(self, inputs: Tensor, targets: np.ndarray) -> Tensor:
        random = np.random.default_rng(self.seed)
        images = inputs.asnumpy()
        maps = np.zeros((len(images), 1, *images.shape[2:]), np.float32)
        for part in self._chunks(self.num_masks):
            masks = self._masks(random, part.stop - part.start, *images.shape[2:])
            for number, image in enumerate(images):
                scores = self._scores(image * masks, int(targets[number]))
                maps[number] += np.tensordot(scores, masks, 1)
        return Tensor(maps / (self.num_masks * self._SHOWN))


class Occlusion(_Perturbation):
    """How much the probability of the class falls when a window of zeros slides over the image.

    Args:
        network (Cell): gives (N, classes).
        activation_fn (Cell): makes probabilities of the network's results, such as `nn.Softmax()`.
        perturbation_per_eval (int): occluded images in one call of the network. Default: 32.
        window (int, optional): side of the window; an eighth of the image by default.
        stride (int, optional): pixels between two places of it; half of the window by default.

    Examples:
        >>> from mindspore.explainer.explanation import Occlusion
        >>> net = nn.SequentialCell(nn.Flatten(), nn.Dense(48, 2))
        >>> Occlusion(net, nn.Softmax())(Tensor(np.ones((1, 3, 4, 4)), ms.float32), 1).shape
        (1, 1, 4, 4)
    """

    def __init__(self, network: Cell, activation_fn: Callable[[Tensor], Tensor], perturbation_per_eval: int = 32,
                 window: int | None = None, stride: int | None = None) -> None:  # fmt: skip
        super().__init__(network, activation_fn, perturbation_per_eval)
        self.window, self.stride = window, stride

    def _windows(self, height: int, width: int) -> np.ndarray:
        """Masks that are 1 where the window is."""
        side = min(self.window or max(1, min(height, width) // 8), height, width)
        step = self.stride or max(1, side // 2)
        tops, lefts = ([*range(0, size - side, step), size - side] for size in (height, width))
        masks = np.zeros((len(tops) * len(lefts), height, width), np.float32)
        for number, (top, left) in enumerate((t, c) for t in tops for c in lefts):
            masks[number, top : top + side, left : left + side] = 1
        return masks

    def _explain(self, inputs: Tensor, targets: np.ndarray) -> Tensor:
        images = inputs.asnumpy()
        masks = self._windows(*images.shape[2:])
        maps = np.zeros((len(images), 1, *images.shape[2:]), np.float32)
        for number, image in enumerate(images):
            target = int(targets[number])
            whole = self._scores(image[None], target)[0]
            falls = np.concatenate(
                [whole - self._scores(image * (1 - masks[part, None]), target) for part in self._chunks(len(masks))]
            )
            maps[number, 0] = np.tensordot(falls, masks, 1) / masks.sum(0)
        return Tensor(maps)
