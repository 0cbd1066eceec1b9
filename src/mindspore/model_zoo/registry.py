"""The list of networks: `@model(…)` writes an entry, `entry(name)` finds it.

A family is a module; importing it registers its networks. The table `FAMILIES` says which modules there are, and all are
imported by the first question, so that importing the package costs nothing.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mindspore.model_zoo.recipe import Recipe
from mindspore.nn.cell import Cell

#: modules of networks, in the order of the list
FAMILIES = (
    "lenet", "alexnet", "vgg", "resnet", "googlenet", "inception", "densenet", "mobilenet", "shufflenet", "efficientnet",
    "vit", "swin", "convnext", "bayesian", "detector", "rcnn", "yolo", "unet", "deeplab", "crnn", "gpt", "llama", "experts", "pangu",
    "bert", "albert", "t5", "transformer", "recurrent", "wavenet", "generation", "adversarial", "recommender", "graph", "control",
    "physics",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Takes:
    """One input of a network: its shape without the batch, and whole numbers below `below` if that is given."""

    name: str
    shape: tuple[int, ...]
    below: int = 0

    def sample(self, batch: int, rng: np.random.Generator) -> np.ndarray:
        """Random values of this kind."""
        shape = (batch, *self.shape)
        if self.below:
            return rng.integers(0, self.below, shape).astype(np.int32)
        return rng.standard_normal(shape).astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Entry:
    """A network of the zoo.

    Attributes:
        build: makes the network; its keyword arguments are the options.
        tiny: options of a small network of the same kind, which runs in seconds.
        origin: the library and name of the same network elsewhere, whose weight files fit.
    """

    name: str
    family: str
    task: str
    build: Callable[..., Cell]
    paper: str
    recipe: Recipe
    tiny: Mapping[str, Any]
    origin: str = ""

    def options(self) -> dict[str, Any]:
        """The options of the network with their defaults."""
        parameters = inspect.signature(self.build).parameters.values()
        return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


_ENTRIES: dict[str, Entry] = {}


def model(
    name: str,
    *,
    task: str,
    paper: str,
    recipe: Recipe,
    tiny: Mapping[str, Any],
    origin: str = "",
) -> Callable[[Callable[..., Cell]], Callable[..., Cell]]:
    """Register what is decorated, a class of Cells or a function that makes one, under a name."""

    def register(build: Callable[..., Cell]) -> Callable[..., Cell]:
        made_by = build.func if isinstance(build, functools.partial) else build
        family = made_by.__module__.rpartition(".")[2]
        if name in _ENTRIES:
            raise ValueError(f"There are two networks named '{name}'.")
        _ENTRIES[name] = Entry(name, family, task, build, paper, recipe, dict(tiny), origin)
        return build

    return register


def entries() -> dict[str, Entry]:
    """All networks by name."""
    for family in FAMILIES:
        importlib.import_module(f"mindspore.model_zoo.{family}")
    places = {family: place for place, family in enumerate(FAMILIES)}
    # tasks import some modules earlier than the list has them; those of users come last
    return dict(sorted(_ENTRIES.items(), key=lambda item: places.get(item[1].family, len(places))))


def entry(name: str) -> Entry:
    """The entry of a name; ValueError with the nearest names if there is none."""
    known = entries()
    if name in known:
        return known[name]
    plain = {n.replace("_", ""): n for n in known}
    near = difflib.get_close_matches(name.lower().replace("-", "").replace("_", ""), plain, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(plain[n] for n in near)}?" if near else "`list` shows all names."
    raise ValueError(f"There is no network '{name}' in the model zoo; {hint}")


def create(name: str, *, tiny: bool = False, **options: Any) -> Cell:
    """Make a network with random weights.

    Args:
        name: as in `names()`.
        tiny: a small network of the same kind; other options may change it further.
        options: those of the network, such as `num_classes`, `in_channels` and `image_size`.

    Examples:
        >>> from mindspore import model_zoo
        >>> net = model_zoo.create("lenet5", num_classes=4)
        >>> model_zoo.sample(net, batch=2)[0].shape
        (2, 1, 32, 32)
    """
    found = entry(name)
    allowed = found.options()
    unknown = [o for o in options if o not in allowed]
    if unknown:
        raise TypeError(f"'{name}' has no option '{unknown[0]}'; it has {', '.join(sorted(allowed))}.")
    for option in ("num_classes", "in_channels", "image_size"):
        value = options.get(option, 1)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"For '{name}', '{option}' must be a positive int, but got {value!r}.")
    for option, value in options.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if isinstance(allowed[option], int) and number and (value < 0 or value != int(value)):
            raise ValueError(f"For '{name}', '{option}' must be a whole number, 0 or more, but got {value!r}.")
    return found.build(**{**(found.tiny if tiny else {}), **options})
