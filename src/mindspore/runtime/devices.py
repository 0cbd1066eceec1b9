"""Where eager primitives run: NumPy on the CPU, or an accelerator through JAX."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.prims.primitive import Primitive


class NumpyDevice:
    """Eager evaluation on the host."""

    name = "CPU"

    def evaluate(self, prim: Primitive, arrays: list) -> Any:
        if any(type(a) is not np.ndarray and hasattr(a, "__array__") for a in arrays):
            arrays = [np.asarray(a) if hasattr(a, "__array__") else a for a in arrays]
        return prim.eval(np, *arrays)

    def place(self, array: Any) -> Any:
        return array if isinstance(array, np.ndarray) else np.asarray(array)


class _Current:
    device: Any = NumpyDevice()


def current() -> Any:
    return _Current.device


def use(device: Any) -> None:
    """Make `device` the place where eager primitives run."""
    _Current.device = device
