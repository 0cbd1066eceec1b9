"""The kinds of devices that eager primitives run on: NumPy on the host at once, the host by compiled programs of many
operations, or an accelerator through JAX."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from mindspore.prims.primitive import Primitive
from mindspore.prims.valueless import Valueless, infer
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
                if type(a) is Valueless:
                    return infer(prim, arrays)
                arrays[i] = host_array(a)
        with np.errstate(all="ignore"):  # infinities and NaNs are results, not news
            return prim.eval(np, *arrays)

    def place(self, array: Any) -> Any:
        return array if isinstance(array, np.ndarray) else host_array(array)

    def flush(self) -> None:
        """Nothing waits here."""


class MetaDevice:
    """No device: operations find out shapes and types, and no values."""

    name = "meta"

    def evaluate(self, prim: Primitive, arrays: list) -> Any:
        return infer(prim, arrays)

    def place(self, array: Any) -> Any:
        return Valueless(array.shape, array.dtype)

    def flush(self) -> None:
        """Nothing waits here."""


class DeferringDevice:
    """A device whose eager operations are noted, and run many at a time (runtime/deferred.py). `blocking`: wait for each
    operation, so that errors appear where they happen."""

    #: operations noted before they are run whether or not anybody looks
    longest = 8192
    #: a sequence that comes again becomes a program when so many of its operations were called
    patience = 0
    #: whether the host can look at a value that is there without waiting for anything
    is_host = False

    def __init__(self, name: str, blocking: bool):
        self.name = name
        self.blocking = blocking
        self.reports = LateReports()

    @functools.cached_property
    def engine(self) -> Any:
        """What gathers operations and runs them together."""
        from mindspore.runtime.deferred import Engine

        return Engine(self)

    def compiler(self) -> Any:
        """What makes programs of graphs: `supports(graph)`, `program(graph)`."""
        raise NotImplementedError

    def place(self, array: Any) -> Any:
        """The array in the device's memory; a copy, if it comes from the host."""
        raise NotImplementedError

    def compute(self, prim: Primitive, args: tuple) -> Any:
        """The results of `prim(*args)`, which the device may not have begun to compute; None where a rule must run."""
        found = self.engine.forward(prim, args)
        if found is not None and self.blocking:
            for tensor in found if isinstance(found, tuple) else (found,):
                tensor._data.wait()
        return found

    def flush(self) -> None:
        """Give the device all the operations that this thread has called; raises what it has reported by now."""
        self.reports.check(wait=False)
        self.engine.trace().run()


class DeferringCpu(DeferringDevice):
    """The host, by native programs of all the operations called until a value is looked at.

    Values are numbers of its own: what comes from outside is copied, because whoever gave it may write to it before it is read.
    """

    patience = 32  # a program costs what hundreds of small operations do
    longest = 2048  # of native code; a whole training step of ResNet-50 has 700 operations
    is_host = True

    def compiler(self) -> Any:
        from mindspore.runtime.deferred import NativePrograms

        made = NativePrograms()
        if hasattr(os, "register_at_fork"):  # before OpenMP's threads end for the fork: hooks run last come first
            os.register_at_fork(before=self.flush)
        return made

    def place(self, array: Any) -> Any:
        from mindspore.runtime.deferred import DeferredArray

        return DeferredArray.of(np.array(array)) if isinstance(array, np.ndarray) else array

    def evaluate(self, prim: Primitive, arrays: list) -> Any:
        return NumpyDevice().evaluate(prim, arrays)


class XlaDevice(DeferringDevice):
    """Eager evaluation on an accelerator through JAX."""

    def __init__(self, name: str, device: Any, blocking: bool = False):
        import jax.numpy as jnp

        super().__init__(name, blocking)
        self.device = device
        self._jnp = jnp
        self._array_type = type(self.place(np.zeros(1, np.float32)))

    def compiler(self) -> Any:
        from mindspore.backends.xla import XlaBackend

        return XlaBackend.on(self.device)

    def evaluate(self, prim: Primitive, arrays: list) -> Any:
        import jax

        if Valueless in map(type, arrays):
            return infer(prim, arrays)
        if prim.requirements is not None:
            for requirement in prim.requirements(*arrays):
                requirement.enforce(host_array(arrays[requirement.argument]))
        with jax.default_device(self.device):
            placed = [self.place(a) if hasattr(a, "__array__") else a for a in arrays]
            rule = prim.eval_xla or prim.eval
            result = rule(self._jnp, *placed)
        return jax.block_until_ready(result) if self.blocking else result

    def marker(self) -> Any:
        """An array that is ready when all the work given to the device so far is done."""
        import jax

        self.flush()
        self.reports.check(wait=True)
        with jax.default_device(self.device):
            return self._jnp.zeros(()) + 1

    def elsewhere(self, arrays: list) -> list[int]:
        """The places of arrays that are not in the device's memory."""
        return [i for i, kind in enumerate(map(type, arrays)) if kind is not self._array_type]

    def place(self, array: Any) -> Any:
        """The array in the device's memory."""
        import jax

        if isinstance(array, np.ndarray):
            return jax.device_put(array, self.device)
        return array if isinstance(array, jax.Array) else array.value


def find(target: str, index: int, blocking: bool = False, deferred: bool = False) -> Any:
    """The device of a kind. "Ascend" means: the best this machine has. `deferred`: the host runs many operations at a time."""
    if target == "CPU":
        return _host(blocking, deferred)
    found = _accelerator(index)
    if found is not None:
        return XlaDevice(target, found, blocking)
    if target == "GPU":
        raise RuntimeError(
            "device_target='GPU': JAX sees no GPU on this machine. Install a CUDA build of jax, or use 'CPU'."
        )
    return _host(blocking, deferred)


def _host(blocking: bool, deferred: bool) -> Any:
    return DeferringCpu("CPU", blocking) if deferred else NumpyDevice()


def _accelerator(index: int) -> Any:
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    found = [d for d in jax.devices() if d.platform in ("gpu", "cuda", "rocm", "tpu")]
    return found[index % len(found)] if found else None
