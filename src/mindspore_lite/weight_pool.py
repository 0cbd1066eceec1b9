"""Weights held once for the models of a group: arrays of equal content are one array, for as long as a model uses it."""

from __future__ import annotations

import hashlib
import threading
import weakref

import numpy as np

from mindspore.formats.program import Program, State

_Key = tuple[str, tuple[int, ...], bytes]


class WeightPool:
    """Arrays by their content. Models may be built by several threads."""

    def __init__(self) -> None:
        self._held: weakref.WeakValueDictionary[_Key, np.ndarray] = weakref.WeakValueDictionary()
        self._lock = threading.Lock()

    def state(self, program: Program) -> State:
        """The weights of a program. Those that a run changes are its own."""
        shared = {name: self._one(array) for name, array in program.weights.items() if name not in program.updates}
        return State(shared)

    def _one(self, array: np.ndarray) -> np.ndarray:
        whole = np.ascontiguousarray(array)
        key = whole.dtype.name, whole.shape, hashlib.blake2b(whole.reshape(-1).view(np.uint8).data).digest()
        with self._lock:
            found = self._held.get(key)
            if found is None:
                found = self._held[key] = np.array(whole)
            return found
