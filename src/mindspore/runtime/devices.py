"""Where eager primitives run: NumPy on the CPU, or an accelerator through JAX."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mindspore.prims.primitive import Primitive
from mindspore.runtime.late_reports import LateReports


class NumpyDevice:
    """Eager evaluation on the host."""

    name = "CPU"

    def evaluate(self, prim: Primitive, arrays: list) -> Any:
        for i, a in enumerate(arrays):
            if type(a) is not np.ndarray and hasattr(a, "__array__"):
                arrays[i] = np.asarray(a)
        with np.errstate(all="ignore"):  # infinities and NaNs are results, not news
            return prim.eval(np, *arrays)

    def place(self, array: Any) -> Any:
        return array if isinstance(array, np.ndarray) else np.asarray(array)


class _Current:
    device: Any = NumpyDevice()
    blocking = False


def current() -> Any:
    return _Current.device


def accelerator() -> Any:
    """The current device where it has a memory of its own; None on the host."""
    return _Current.device if isinstance(_Current.device, XlaDevice) else None


def block_each_operation() -> None:
    """Wait for every eager operation of an accelerator, so that errors appear where they happen."""
    _Current.blocking = True


def use(device: Any) -> None:
    """Make `device` the place where eager primitives run."""
    _Current.device = device


class XlaDevice:
    """Eager evaluation on an accelerator through JAX."""

    def __init__(self, name: str, device: Any):
        import jax.numpy as jnp

        self.name = name
        self.device = device
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
        if found is not None and _Current.blocking:
            for tensor in found if isinstance(found, tuple) else (found,):
                tensor._data.block_until_ready()
        return found

    def evaluate(self, prim: Primitive, arrays: list) -> Any:
        import jax

        if prim.requirements is not None:
            for requirement in prim.requirements(*arrays):
                requirement.enforce(np.asarray(arrays[requirement.argument]))
        with jax.default_device(self.device):
            placed = [self.place(a) if hasattr(a, "__array__") else a for a in arrays]
            rule = prim.eval_xla or prim.eval
            result = rule(self._jnp, *placed)
        return jax.block_until_ready(result) if _Current.blocking else result

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


def on_host(array: Any) -> np.ndarray:
    """The values of an array, wherever it is. Errors that the device has met on the way are raised."""
    if type(array) is np.ndarray:
        return array
    values = np.asarray(array)
    device = accelerator()
    if device is not None:
        device.reports.check(wait=True)
    return values


def flush() -> None:
    """A natural point to start work that was put off: the end of a backward pass."""
    device = accelerator()
    if device is not None:
        device.flush()


def select(target: str, index: int = 0) -> None:
    """Use the named kind of device. "Ascend" means: the best this machine has."""
    if target == "CPU":
        use(NumpyDevice())
        return
    found = _accelerator(index)
    if found is not None:
        use(XlaDevice(target, found))
    elif target == "GPU":
        raise RuntimeError(
            "device_target='GPU': JAX sees no GPU on this machine. Install a CUDA build of jax, or use 'CPU'."
        )
    else:
        use(NumpyDevice())


def _accelerator(index: int) -> Any:
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    found = [d for d in jax.devices() if d.platform in ("gpu", "cuda", "rocm", "tpu")]
    return found[index % len(found)] if found else None
