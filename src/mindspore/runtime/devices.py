"""Where eager primitives run: NumPy on the CPU, or an accelerator through JAX."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.prims.primitive import Primitive


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

        from mindspore.runtime.device_kernels import DeviceKernels

        self.name = name
        self.device = device
        self._jnp = jnp
        self.kernels = DeviceKernels(self)

    def compute(self, prim: Primitive, args: tuple, arrays: list) -> Any:
        """The results of `prim(*args)` by a compiled program; None where there is none. Does not wait for them."""
        found = self.kernels.forward(prim, args, arrays)
        if found is not None and _Current.blocking:
            import jax

            jax.block_until_ready(found)
        return found

    def evaluate(self, prim: Primitive, arrays: list) -> Any:
        import jax

        with jax.default_device(self.device):
            placed = [self.place(a) if isinstance(a, np.ndarray) else a for a in arrays]
            rule = prim.eval_xla or prim.eval
            result = rule(self._jnp, *placed)
        return jax.block_until_ready(result) if _Current.blocking else result

    def marker(self) -> Any:
        """An array that is ready when all the work given to the device so far is done."""
        import jax

        with jax.default_device(self.device):
            return self._jnp.zeros(()) + 1

    def place(self, array: Any) -> Any:
        import jax

        return jax.device_put(array, self.device)


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
