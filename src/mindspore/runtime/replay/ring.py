"""The files of a ring: one per step.

    "MSRING1\n"  8 bytes: length of the header  header (JSON)  arrays, one after the other

The header: step, graph, whether all states are there, and of each array: role ("argument", "state", "result"), place, name, element type,
shape, where its bytes are and their checksum.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.files import atomic_write

_MAGIC = b"MSRING1\n"
_NAME = re.compile(r"step_(\d+)\.ring")
_LONGEST_HEADER = 64 << 20


class RingError(ValueError):
    """A file of a ring that cannot be used."""


@dataclass
class StepRecord:
    """What is kept of a step."""

    step: int
    graph: str
    whole: bool = False  #: all states are there
    arguments: list[np.ndarray] = field(default_factory=list)
    states: dict[int, np.ndarray] = field(default_factory=dict)  #: by the place among the graph's states
    names: list[str] = field(default_factory=list)  #: of all states
    results: list[np.ndarray] = field(default_factory=list)  #: of the step before, if they are small

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (*self.arguments, *self.states.values(), *self.results))


def file_of(folder: Path, step: int) -> Path:
    return folder / f"step_{step:09d}.ring"


def steps_of(folder: Path) -> list[int]:
    """The steps that have a file."""
    return sorted(int(found[1]) for found in (_NAME.fullmatch(name) for name in os.listdir(folder)) if found)


def write(folder: Path, record: StepRecord) -> None:
    """Store a step, whole or not at all."""
    entries: list[dict[str, Any]] = []
    arrays: list[np.ndarray] = []
    position = 0
    named = [("argument", i, a) for i, a in enumerate(record.arguments)] + [("state", i, a) for i, a in record.states.items()]
    for role, place, array in [*named, *(("result", i, a) for i, a in enumerate(record.results))]:
        plain = np.ascontiguousarray(array)
        content = plain.reshape(-1).view(np.uint8)
        entries.append({"role": role, "place": place, "dtype": mstype.from_numpy(plain.dtype).name, "shape": list(array.shape),
                        "begin": position, "size": content.nbytes, "crc": zlib.crc32(content.data)})  # fmt: skip
        arrays.append(content)
        position += content.nbytes
    about = {"step": record.step, "graph": record.graph, "whole": record.whole, "names": record.names, "arrays": entries}
    header = json.dumps(about).encode()
    with atomic_write(str(file_of(folder, record.step)), wait_for_disk=False) as stream:  # checksums tell what is torn
        stream.write(_MAGIC + struct.pack("<Q", len(header)) + header)
        for content in arrays:
            stream.write(content.data)


def read(folder: Path, step: int) -> StepRecord:
    """Read a step; RingError says why it cannot be."""
    path = file_of(folder, step)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RingError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        size = struct.unpack_from("<Q", data, len(_MAGIC))[0]
        if not data.startswith(_MAGIC) or size > min(len(data), _LONGEST_HEADER):
            raise ValueError("it is no file of a ring")
        start = len(_MAGIC) + 8 + size
        about = json.loads(data[len(_MAGIC) + 8 : start])
        record = StepRecord(int(about["step"]), str(about["graph"]), bool(about["whole"]), names=[str(n) for n in about["names"]])
        for entry in about["arrays"]:
            _take(record, entry, data, start)
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise RingError(f"{path} is damaged: {error}.") from None
    return record


def _take(record: StepRecord, entry: dict[str, Any], data: bytes, start: int) -> None:
    begin, size = start + int(entry["begin"]), int(entry["size"])
    content = data[begin : begin + size]
    if begin < start or len(content) != size or zlib.crc32(content) != entry["crc"]:
        raise ValueError("an array is not what was written")
    kind: Any = mstype.type_of_name(entry["dtype"])
    array = np.frombuffer(content, kind.np).reshape(entry["shape"])
    if entry["role"] == "state":
        record.states[int(entry["place"])] = array
    elif entry["role"] == "argument":
        record.arguments.append(array)
    else:
        record.results.append(array)
