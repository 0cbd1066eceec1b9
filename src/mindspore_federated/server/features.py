"""The global model as servers hold it: named float32 arrays, and their bytes for the store and for messages."""
from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Arrays = dict[str, Floats]


@dataclass
class FeatureItem:
    """One weight of the global model."""
    feature_name: str
    data: Floats
    require_aggr: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.data, np.ndarray):
            raise RuntimeError("The type of parameter 'data' is expected to be instance of numpy.ndarray")
        if self.data.dtype != np.float32:
            raise RuntimeError(f"The value type of parameter 'data' is expected to be float32, but got "
                               f"{self.data.dtype}")
        if self.data.size == 0:
            raise RuntimeError("The value size of parameter 'data' is expected to > 0")
        self.data = np.ascontiguousarray(self.data).reshape(self.data.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The weight's shape."""
        return self.data.shape


class FeatureMap:
    """The weights a job starts from; `require_aggr=False` marks weights that stay as they are."""

    def __init__(self) -> None:
        self._items: dict[str, FeatureItem] = {}

    def add_feature(self, feature_name: str, tensor: Floats, require_aggr: bool = True) -> FeatureItem:
        """Add one weight."""
        item = FeatureItem(feature_name, tensor, require_aggr)
        self._items[feature_name] = item
        return item

    def feature_map(self) -> dict[str, FeatureItem]:
        """All weights by name."""
        return self._items

    def arrays(self) -> Arrays:
        """The values by name."""
        return {name: item.data for name, item in self._items.items()}


_STATE = "server:"               # before the names of what the server's own optimizer keeps


def with_state(model: Arrays, state: Arrays) -> Arrays:
    """A model and what the server's optimizer keeps from round to round: they are stored, and lost, together."""
    return {**model, **{_STATE + name: value for name, value in state.items()}}


def without_state(arrays: Arrays) -> tuple[Arrays, Arrays]:
    """The model and the state of the server's optimizer in what `with_state` gave."""
    model = {name: value for name, value in arrays.items() if not name.startswith(_STATE)}
    return model, {name[len(_STATE):]: value for name, value in arrays.items() if name.startswith(_STATE)}


def pack(arrays: Mapping[str, Floats], note: Mapping[str, object] | None = None) -> bytes:
    """Arrays and a small note as bytes: length of a JSON header, header, raw float32 values."""
    header = json.dumps({"note": dict(note or {}), "shapes": {name: value.shape for name, value in arrays.items()}})
    head = header.encode()
    return b"".join([struct.pack("<I", len(head)), head,
                     *(np.ascontiguousarray(value, "<f4").tobytes() for value in arrays.values())])


def unpack(data: bytes) -> tuple[Arrays, dict[str, object]]:
    """What `pack` wrote."""
    (size,) = struct.unpack_from("<I", data)
    header = json.loads(data[4:4 + size])
    arrays, at = {}, 4 + size
    for name, shape in header["shapes"].items():
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(data, "<f4", count, at).reshape(shape)
        at += 4 * count
    return arrays, header["note"]
