"""What explanations need of a network: checks of their arguments, scores of classes, copies with other layers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from mindspore import context, ops
from mindspore.common.tensor import Tensor
from mindspore.nn import Cell

#: classes to explain: one for all images, or one for each
Targets = int | Sequence[int] | np.ndarray | Tensor


def check_network(network: Cell) -> Cell:
    if not isinstance(network, Cell):
        raise TypeError(f"'network' should be a Cell, not {type(network).__name__}.")
    return network


def check_images(inputs: Tensor) -> Tensor:
    if not isinstance(inputs, Tensor):
        raise TypeError(f"'inputs' should be a Tensor, not {type(inputs).__name__}.")
    if inputs.ndim != 4:
        raise ValueError(f"'inputs' should be images of shape (N, C, H, W), not {tuple(inputs.shape)}.")
    return inputs


def check_targets(targets: Targets, count: int) -> np.ndarray:
    """A class for each of `count` images."""
    given = targets.asnumpy() if isinstance(targets, Tensor) else np.asarray(targets)
    if given.dtype.kind not in "iu":
        raise TypeError(f"'targets' should be whole numbers, not {given.dtype}.")
    if given.ndim == 0:
        return np.full(count, int(given))
    if given.shape != (count,):
        raise ValueError(f"'targets' should be one class or one for each of the {count} images, not of shape {given.shape}.")
    return given.astype(np.int64)


@contextmanager
def eagerly(network: Cell) -> Iterator[None]:
    """PyNative mode, where layers can be looked into, and the network as it is for inference."""
    mode, training = context.get_context("mode"), network.training
    context.set_context(mode=context.PYNATIVE_MODE)
    network.set_train(False)
    try:
        yield
    finally:
        network.set_train(training)
        context.set_context(mode=mode)


def chosen(outputs: Tensor, targets: np.ndarray) -> Tensor:
    """The outputs of the target classes."""
    if outputs.ndim != 2:
        raise ValueError(f"The network should give (N, classes), not {tuple(outputs.shape)}.")
    if targets.min() < 0 or targets.max() >= outputs.shape[1]:
        raise ValueError(f"'targets' should be between 0 and {outputs.shape[1] - 1}, not {targets.tolist()}.")
    hot = np.zeros(outputs.shape, np.float32)
    hot[np.arange(len(targets)), targets] = 1
    return (outputs * Tensor(hot).astype(outputs.dtype)).sum(1)


def layer(network: Cell, name: str) -> Cell:
    """The part of a network with a name."""
    found = dict(network.cells_and_names()).get(name)
    if found is None:
        raise ValueError(f"There is no layer {name!r}; layers are {', '.join(n for n, _ in network.cells_and_names() if n)}.")
    return found


def replaced(network: Cell, change: Callable[[str, Cell], Cell | None]) -> Cell:
    """A copy in which `change` has put other layers in the place of some."""
    made = copy.deepcopy(network)
    for name, cell in list(made.cells_and_names()):
        new = change(name, cell) if name else None
        if new is None:
            continue
        outer, _, last = name.rpartition(".")
        parent = layer(made, outer) if outer else made
        if last.isdigit():
            parent[int(last)] = new  # type: ignore[index]
        else:
            setattr(parent, last, new)
    return made


def resized(maps: Tensor, size: tuple[int, int]) -> Tensor:
    """Maps of shape (N, 1, h, w) in another size."""
    return maps if tuple(maps.shape[2:]) == size else ops.interpolate(maps, size=size, mode="bilinear")
