"""Fourier transforms with NumPy's argument names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore.common.tensor import Tensor
from mindspore.numpy.arguments import tensor
from mindspore.ops import functional as F
from mindspore.ops.functional import fftfreq, rfftfreq

if TYPE_CHECKING:
    from mindspore.numpy.arguments import ArrayLike


def _one(name: str) -> Callable:
    apply = getattr(F, name)

    def function(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
        return apply(tensor(a), n, axis, norm)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = apply.__doc__.split("\n")[0]
    return function


def _many(name: str, default: Any) -> Callable:
    apply = getattr(F, name)

    def function(a: Any, s: Any = None, axes: Any = default, norm: str | None = None) -> Tensor:
        return apply(tensor(a), s, axes, norm)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = apply.__doc__
    return function


fft, ifft, rfft, irfft, hfft, ihfft = (_one(n) for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = (
    _many(n, (-2, -1)) for n in ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2")
)
fftn, ifftn, rfftn, irfftn, hfftn, ihfftn = (
    _many(n, None) for n in ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn")
)


def fftshift(x: ArrayLike, axes: int | tuple[int, ...] | None = None) -> Tensor:
    """Move frequency 0 to the middle."""
    return F.fftshift(tensor(x), axes)


def ifftshift(x: ArrayLike, axes: int | tuple[int, ...] | None = None) -> Tensor:
    """The inverse of `fftshift`."""
    return F.ifftshift(tensor(x), axes)


__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
