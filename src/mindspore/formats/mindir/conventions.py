"""How official MindSpore spells the primitives that take everything as inputs.

`primitives.json` maps a primitive to the names of its inputs: first what it is called with, then, after a bar,
what its class is created with, which follows as further inputs. A suffix says what an input is: `:e` a choice that is
stored as a number, `:t` an element type, `:s` a sequence of ints even when the user wrote one int.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any, NamedTuple

from mindspore.formats.mindir.messages import TYPES_BY_ID

_CHOICES = {
    "data_format": {"NCHW": 0, "NHWC": 1, "NCDHW": 14, "ND": 20},
    "pad_mode": {"PAD": 0, "SAME": 1, "VALID": 2, "FULL": 3},
    "reduction": {"SUM": 0, "MEAN": 1, "NONE": 2},
    "approximate": {"NONE": 0, "TANH": 1},
    "rounding_mode": {"ROUND": 0, "TRUNC": 1, "FLOOR": 2, "CEIL": 3},
    "indexing": {"IJ": 0, "XY": 1},
    "reduce": {"NONE": 0, "ADD": 1},
    "interpolation_mode": {"BILINEAR": 0, "NEAREST": 1, "BICUBIC": 2},
    "padding_mode": {"ZEROS": 0, "BORDER": 1, "REFLECTION": 2},
    "norm": {"BACKWARD": 0, "FORWARD": 1, "ORTHO": 2},
}
#: inputs of official primitives that have another name here
ATTRIBUTE_NAMES = {("TensorScatterElements", "reduce"): "reduction"}


class Input(NamedTuple):
    """One input of a primitive."""

    name: str
    kind: str  # "", "e", "t" or "s"


class Convention(NamedTuple):
    """The inputs of a primitive: those of the call, then those of its class."""

    call: tuple[Input, ...]
    init: tuple[Input, ...]


@functools.cache
def _table() -> dict[str, str]:
    return json.loads((resources.files("mindspore.formats.mindir") / "primitives.json").read_text())


@functools.cache
def convention(name: str) -> Convention | None:
    """The convention of a primitive, or None when it keeps its attributes as attributes."""
    text = _table().get(name)
    if text is None:
        return None
    call, _, init = text.partition("|")
    return Convention(_inputs(call), _inputs(init))


def _inputs(text: str) -> tuple[Input, ...]:
    parts = (part.partition(":") for part in text.split())
    return tuple(Input(name, kind) for name, _, kind in parts)


def to_file(spec: Input, value: Any) -> Any:
    """A value as the file stores it."""
    if spec.kind == "e" and isinstance(value, str):
        choices = _CHOICES.get(spec.name, {})
        if value.upper() not in choices:
            raise ValueError(f"the value {value!r} of '{spec.name}' has no MindIR spelling")
        return choices[value.upper()]
    if spec.kind == "s" and isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def from_file(spec: Input, value: Any) -> Any:
    """A value as a class or call here takes it."""
    if spec.kind == "e" and isinstance(value, int):
        for text, number in _CHOICES.get(spec.name, {}).items():
            if number == value:
                return text if spec.name == "data_format" else text.lower()
        raise ValueError(f"the choice {value} for '{spec.name}' is not known")
    if spec.kind == "t" and isinstance(value, int):
        if value not in TYPES_BY_ID:
            raise ValueError(f"the element type {value} for '{spec.name}' is not known")
        return TYPES_BY_ID[value]
    return value
