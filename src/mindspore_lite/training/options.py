"""`[train_param]`: what is trained, and how."""

from __future__ import annotations

import re
from typing import NamedTuple

Section = dict[str, str]

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class TrainOptions(NamedTuple):
    """`trainable`: a regular expression that names of trained weights match; others cost nothing."""

    optimizer: str = "SGD"
    rate: float = 0.01
    momentum: float = 0.9
    decay: float = 0.0
    trainable: str = ".*"
    loss: str = ""
    virtual_batch: int = 1
    memory: int = 0  # bytes; 0: no limit
    recompute: int = 0  # segments of the forward pass that the backward pass computes again; 0: where memory asks for it
    precision: str = "float32"  # or float16, bfloat16: of operands of convolutions and products
    loss_scale: float = 1.0

    @classmethod
    def from_section(cls, section: Section) -> TrainOptions:
        known = {
            "optimizer", "learning_rate", "momentum", "weight_decay", "trainable", "loss", "virtual_batch", "memory_limit", "recompute",
            "mixed_precision", "loss_scale",
        }  # fmt: skip
        unknown = sorted(set(section) - known)
        if unknown:
            raise ValueError(f"[train_param] has no setting {unknown[0]!r}; it has {', '.join(sorted(known))}")
        optimizer = section.get("optimizer", "SGD")
        if optimizer not in ("SGD", "Adam"):
            raise ValueError(f"optimizer must be SGD or Adam, but got {optimizer!r}")
        pattern = section.get("trainable", ".*")
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"trainable must be a regular expression, but got {pattern!r} ({error})") from None
        return cls(
            optimizer,
            _number(section, "learning_rate", 0.01),
            _number(section, "momentum", 0.9),
            _number(section, "weight_decay", 0.0),
            pattern,
            section.get("loss", ""),
            _count(section, "virtual_batch"),
            memory(section.get("memory_limit", "0")),
            0 if section.get("recompute", "auto") == "auto" else _count(section, "recompute"),
            (precision := _precision(section)),
            _number(section, "loss_scale", 128.0 if precision == "float16" else 1.0),
        )


def _number(section: Section, name: str, default: float) -> float:
    try:
        value = float(section.get(name, default))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ValueError(f"{name} must be a number of at least 0, but got {section[name]!r}")
    return value


def _precision(section: Section) -> str:
    given = section.get("mixed_precision", "none")
    if given not in ("none", "float16", "bfloat16"):
        raise ValueError(f"mixed_precision must be none, float16 or bfloat16, but got {given!r}")
    return "float32" if given == "none" else given


def _count(section: Section, name: str) -> int:
    text = section.get(name, "1")
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, but got {text!r}")
    return int(text)


def memory(text: str) -> int:
    """Bytes of `64M`, `512K`, `1000000`."""
    match = re.fullmatch(r"(\d+)\s*([KMG]?)B?", text.strip(), re.IGNORECASE)
    if match is None:
        raise ValueError(f"memory_limit must look like 64M or 512K, but got {text!r}")
    return int(match[1]) * _UNITS[match[2].upper()]
