"""Self-tests of hardware.

Silent data corruption is looked for the same way on every device: a product of two matrices of whole numbers, whose
result is known exactly, is computed again and again.
"""

from __future__ import annotations

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.prims.linalg import MatMul
from mindspore.runtime import context

_SIZE = 256
_TYPES = ("aic", "hccs")


def _detection() -> dict[str, bool]:
    return context.current().section("silent_corruption", {"running": False, "corrupted": False})


def _product_is_exact() -> bool:
    """Whether the device multiplies two matrices of small whole numbers without error: float32 holds all sums."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-64, 64, (_SIZE, _SIZE)) for _ in range(2))
    got = MatMul()(Tensor(a.astype(np.float32)), Tensor(b.astype(np.float32))).asnumpy()
    return bool(np.array_equal(got, (a @ b).astype(np.float32)))


def sdc_detect_start() -> None:
    """Start looking for silent data corruption: the device is tested now and whenever the result is asked for.

    Examples:
        >>> ms.sdc_detect_start()
        >>> ms.sdc_detect_stop() is None
        True
    """
    _detection().update(running=True, corrupted=not _product_is_exact())


def sdc_detect_stop() -> None:
    """Stop looking for silent data corruption.

    Examples:
        >>> ms.sdc_detect_stop() is None
        True
    """
    _detection()["running"] = False


def get_sdc_detect_result() -> bool:
    """Whether silent data corruption was found since the start.

    Examples:
        >>> ms.get_sdc_detect_result()
        False
    """
    found = _detection()
    if found["running"]:
        found["corrupted"] = found["corrupted"] or not _product_is_exact()
    return found["corrupted"]


def stress_detect(detect_type: str = "aic") -> int:
    """Compute under load and compare: 0 means that the device works, anything else that it does not."""
    if not isinstance(detect_type, str):
        raise TypeError(f"For 'stress_detect', the argument 'detect_type' must be a string, but got {detect_type!r}.")
    if detect_type not in _TYPES:
        raise ValueError(
            f"For 'stress_detect', the argument 'detect_type' must be one of {_TYPES}, but got {detect_type!r}."
        )
    return 0 if all(_product_is_exact() for _ in range(8)) else 1
