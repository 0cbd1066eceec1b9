"""Where an array's data is, asked for before every call of a graph and therefore quickly."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_word_at = ctypes.c_int64.from_address
_DATA_FIELD = 16  # the first field of NumPy's array object, after the object header


def _address_by_interface(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _address_by_field(array: np.ndarray) -> int:
    """The same, ten times as fast."""
    return _word_at(id(array) + _DATA_FIELD).value


def _choose_address() -> Any:
    """Reading the field is right where object headers have two words; others ask the array."""
    sample = np.zeros(3)[1:]
    is_there = object.__basicsize__ == _DATA_FIELD and _address_by_field(sample) == _address_by_interface(sample)
    return _address_by_field if is_there else _address_by_interface


address_of = _choose_address()
