"""The kinds of devices that eager primitives run on: NumPy on the host, or an accelerator through JAX."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mindspore.prims.primitive import Primitive
from mindspore.runtime.late_reports import LateReports


def host_array(array: Any) -> np.ndarray:
    """An array of a device as one of NumPy's. One that could not be made (no memory) raises here: NumPy's way to its bytes would
    end the process."""
    wait = getattr(array, "block_until_ready", None)
    if wait is not None:
        wait()
    return np.asarray(array)


class NumpyDevice:
    """Eager evaluation on the host."""

    name = "CPU"

    def evaluate(self, prim: Primitive, arrays: list) -> Any:
        for i, a in enumerate(arrays):
            if type(a) is not np.ndarray and hasattr(a, "__array__"):
                arrays[i] = host_array(a)
        with np.errstate(all="ignore"):  # infinities and NaNs are results, not news
            return prim.eval(np, *arrays)

    def place(self, array: Any) -> Any:
        return array if isinstance(array, np.ndarray) else host_array(array)


class XlaDevice:
    """Eager evaluation on an accelerator through JAX. `blocking`: wait for each operation, so that errors appear where they
    happen."""

    def __init__(self, name: str, device: Any, blocking: bool = False):
        import jax.numpy as jnp

        self.name = name
        self.device = device
        self.blocking = blocking
        self._jnp = jnp
        self._array_type = type(self.place(np.zeros(1, np.float32)))
        self.reports = LateReports()

    @functools.cached_property
    def engine(self) -> Any:
        """What gathers operations and runs them together."""
        from mindspore.runtime.deferred import Engine

        return Engine(self)

    def compute(self, prim: Primitive, args: tuple) -> Any:
        """The results of `prim(*args)`, which the device may not have begun to compute; None where a rule must run."""
        found = self.engine.forward(prim, args)
        if found is not None and self.blocking:
            for tensor in found if isinstance(found, tuple) else (found,):
                tensor._data.block_until_ready()
        return found

    def evaluate(self, prim: Primitive, arrays: list) -> Any:
        import jax

        if prim.requirements is not None:
            for requirement in prim.requirements(*arrays):
                requirement.enforce(host_array(arrays[requirement.argument]))
        with jax.default_device(self.device):
            placed = [self.place(a) if hasattr(a, "__array__") else a for a in arrays]
            rule = prim.eval_xla or prim.eval
            result = rule(self._jnp, *placed)
        return jax.block_until_ready(result) if self.blocking else result

    def flush(self) -> None:
        """Give the device all the operations that this thread has called."""
        self.engine.trace().run()

    def marker(self) -> Any:
        """An array that is ready when all the work given to the device so far is done."""
        import jax

        self.flush()
        self.reports.check(wait=True)
        with jax.default_device(self.device):
            return self._jnp.zeros(()) + 1

    def holds(self, arrays: list) -> bool:
        """Whether arrays are all in the device's memory."""
        return set(map(type, arrays)) <= {self._array_type}

    def place(self, array: Any) -> Any:
        """The array in the device's memory."""
        import jax

        if isinstance(array, np.ndarray):
            return jax.device_put(array, self.device)
        return array if isinstance(array, jax.Array) else array.value


def find(target: str, index: int, blocking: bool = False) -> Any:
    """The device of a kind. "Ascend" means: the best this machine has."""
    if target == "CPU":
        return NumpyDevice()
    found = _accelerator(index)
    if found is not None:
        return XlaDevice(target, found, blocking)
    if target == "GPU":
        raise RuntimeError(
            "device_target='GPU': JAX sees no GPU on this machine. Install a CUDA build of jax, or use 'CPU'."
        )
    return NumpyDevice()


def _accelerator(index: int) -> Any:
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    found = [d for d in jax.devices() if d.platform in ("gpu", "cuda", "rocm", "tpu")]
    return found[index % len(found)] if found else None
