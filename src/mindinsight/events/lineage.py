"""Lineage messages: with what a model was trained, how good it got, what its data pipeline was, what the user added.

Lineage files hold events whose later ones win.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from mindinsight.events import event
from mindinsight.events.bulk import Decoder
from mindinsight.events.reader import read
from mindinsight.events.values import scalar_bits
from mindinsight.events.wire import BYTES, VARINT, Field, Malformed, fields, numbers, signed, text

_TRAIN, _EVALUATION, _DATASET, _USER = "6", "7", "9", "10"
_HYPER = {1: "optimizer", 2: "learning_rate", 3: "loss_function", 4: "epoch", 6: "device_num", 8: "batch_size"}
#: the columns of model lineage, in the order of official replies
COLUMNS = ("loss_function", "train_dataset_path", "train_dataset_count", "test_dataset_path", "test_dataset_count", "network",
           "optimizer", "learning_rate", "epoch", "batch_size", "device_num", "loss", "model_size", "dataset_mark")  # fmt: skip


def _scalars(data: bytes, part: Field, names: dict[int, str]) -> dict[str, Any]:
    """The plain fields of a message."""
    found: dict[str, Any] = {}
    for field in fields(data, part.begin, part.end):
        name = names.get(field.number)
        if name is None:
            continue
        if field.kind == BYTES:
            found[name] = text(data, field)
        else:
            found[name] = signed(field.value) if field.kind == VARINT else _finite(scalar_bits(data, field))
    return found


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _train(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    inner = {1: _HYPER, 2: {1: "train_dataset_path", 2: "train_dataset_count"}, 3: {1: "network", 2: "loss"}, 4: {4: "model_size"}}
    for field in fields(data):
        if field.number in inner and field.kind == BYTES:
            found |= _scalars(data, field, inner[field.number])
    return found


def _evaluation(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {"metric": {}}
    for field in fields(data):
        if field.number == 2 and field.kind == BYTES:
            try:
                metric = json.loads(text(data, field) or "{}")
            except (ValueError, RecursionError):
                continue
            found["metric"] = metric if isinstance(metric, dict) else {}
        elif field.number == 3 and field.kind == BYTES:
            found |= _scalars(data, field, {1: "test_dataset_path", 2: "test_dataset_count"})
    return found


def _entries(data: bytes, part: Field, depth: int = 0) -> dict[str, Any]:
    """A map's entry: key and value."""
    entry = _scalars(data, part, {1: "key", 2: "value"})
    return {str(entry["key"]): entry.get("value")} if "key" in entry else {}


def _user(data: bytes, begin: int = 0, end: int | None = None, depth: int = 0) -> dict[str, Any]:
    """What the user wrote: maps of numbers and texts, possibly nested."""
    found: dict[str, Any] = {}
    for field in fields(data, begin, end):
        if field.kind != BYTES or depth > 8:
            continue
        if field.number == 1:
            found |= _user(data, field.begin, field.end, depth + 1)
        elif field.number in (3, 4, 5):
            found |= _entries(data, field)
    return found


def _dataset(data: bytes, begin: int = 0, end: int | None = None, depth: int = 0) -> dict[str, Any]:
    """A data pipeline as nested dicts."""
    found: dict[str, Any] = {}
    operations: list[dict[str, Any]] = []
    children: list[dict[str, Any]] = []
    for field in fields(data, begin, end):
        if field.kind != BYTES or depth > 200:
            continue
        if field.number == 1:
            children.append(_dataset(data, field.begin, field.end, depth + 1))
        elif field.number == 2:
            found |= _parameter(data, field)
        elif field.number == 3:
            operations.append(_operation(data, field))
        elif field.number == 4 and (sampler := _operation(data, field)):
            found["sampler"] = sampler
    if operations:
        found["operations"] = operations
    found["children"] = children
    return found


def _operation(data: bytes, part: Field) -> dict[str, Any]:
    found: dict[str, Any] = {}
    lists: list[Any] = []
    for field in fields(data, part.begin, part.end):
        if field.number == 1 and field.kind == BYTES:
            found |= _parameter(data, field)
        elif field.number in (2, 3):
            dtype = "i8" if field.number == 2 else "<f4"
            lists += numbers(data, field, dtype).tolist()
            found["size" if field.number == 2 else "weights"] = list(lists)
    return found


def _parameter(data: bytes, part: Field) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields(data, part.begin, part.end):
        if field.kind != BYTES:
            continue
        if field.number == 2:
            key, items = "", []
            for inner in fields(data, field.begin, field.end):
                if inner.number == 1 and inner.kind == BYTES:
                    key = text(data, inner)
                elif inner.number == 2 and inner.kind == BYTES:
                    items = [text(data, f) for f in fields(data, inner.begin, inner.end) if f.number == 1 and f.kind == BYTES]
            found[key] = [None if item == "" else item for item in items]
        else:
            entry = _entries(data, field)
            if field.number == 3:
                entry = {key: bool(value) for key, value in entry.items()}
            found |= {key: None if value == "None" else value for key, value in entry.items()}
    return found


class Lineage:
    """What a run says about itself."""

    def __init__(self) -> None:
        self.model: dict[str, Any] = dict.fromkeys(COLUMNS) | {"metric": {}, "user_defined": {}}
        self.dataset: dict[str, Any] = {}

    def add(self, kind: str, data: bytes) -> None:
        """Take in a message; a damaged one is passed over."""
        try:
            if kind == _TRAIN:
                self.model |= _train(data)
            elif kind == _EVALUATION:
                self.model |= _evaluation(data)
            elif kind == _DATASET:
                self.dataset = _dataset(data)
            elif kind == _USER:
                self.model["user_defined"] = self.model["user_defined"] | _user(data)
        except Malformed:
            return


def read_folder(folder: Path) -> Lineage:
    """The lineage of a run, from its files."""
    lineage = Lineage()
    for path in sorted(folder.glob("*_lineage")):
        handle = os.open(path, os.O_RDONLY)
        try:
            for stretch in read(handle, 0, Decoder(), lineage=True):
                for thing in stretch.batch.things:
                    if thing.kind == event.LINEAGE:
                        lineage.add(thing.tag, os.pread(handle, thing.length, thing.offset))
        finally:
            os.close(handle)
    return lineage
