"""Fourier transforms in one or more dimensions, with NumPy's conventions for lengths, dimensions and norms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    cast,
    from_values,
    normal_axis,
    require_rank,
    require_tensor,
    require_tensors,
    static_ints,
)
from mindspore.ops.joining import pad_pairs
from mindspore.ops.reshaping import roll
from mindspore.prims import checks
from mindspore.prims import elementwise as ew
from mindspore.prims import fft as prim
from mindspore.prims.arrays import GetItem
from mindspore.prims.setting_types import setting_types

__all__ = [
    "dct", "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "idct", "ifft", "ifft2", "ifftn",
    "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
    "stft",
]  # fmt: skip

_NORMS = (None, "backward", "ortho", "forward")


def _scale(norm: str | None, n: int, inverse: bool) -> float:
    """The factor that NumPy's norm asks for."""
    checks.one_of("fft", "norm", norm, _NORMS)
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if (norm == "forward") != inverse else 1.0


def _resized(x: Tensor, n: int | None, axis: int) -> Any:
    """Cut or zero-pad a dimension to n entries."""
    have = x.shape[axis]
    if n is None or n == have:
        return x
    if checks.integer("fft", "n", n, 1) < have:
        return GetItem((slice(None),) * axis + (slice(0, n),))(x)
    return pad_pairs(x, tuple((0, n - have) if d == axis else (0, 0) for d in range(x.ndim)), "constant")


def _as_complex(x: Tensor) -> Any:
    if x.dtype.kind == "c":
        return x
    real = cast(x, prim.real_type(x.dtype))
    return ew.Complex()(real, ew.zeros_like(real))


def _as_real(x: Tensor) -> Any:
    return cast(x, prim.real_type(x.dtype)) if x.dtype.kind != "c" else ew.Real()(x)


def _c2c(op: str, x: Tensor, n: Any, dim: int, norm: Any, inverse: bool) -> Any:
    x = _as_complex(require_tensor(op, "input", x))
    at = normal_axis(op, dim, x.ndim, "dim")
    x = _resized(x, n, at)
    out = prim.FourierTransform(at, inverse)(x)
    factor = _scale(norm, x.shape[at], inverse)
    return out if factor == 1 else out * factor


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The discrete Fourier transform.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.fft(Tensor([1.0, 0.0])).tolist()
        [(1+0j), (1+0j)]
    """
    require_rank("fft", "input", input, 1)
    return _c2c("fft", input, n, dim, norm, False)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse discrete Fourier transform.

    Examples:
        >>> print(ops.ifft(Tensor([4.0, 0.0, 0.0, 0.0])).real())
        [1. 1. 1. 1.]
    """
    require_rank("ifft", "input", input, 1)
    return _c2c("ifft", input, n, dim, norm, True)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The first half of the transform of real numbers.

    Examples:
        >>> print(ops.rfft(Tensor([1.0, 2.0, 3.0, 4.0])))
        [10.+0.j -2.+2.j -2.+0.j]
    """
    require_rank("rfft", "input", input, 1)
    x = _as_real(require_tensor("rfft", "input", input))
    at = normal_axis("rfft", dim, x.ndim, "dim")
    x = _resized(x, n, at)
    out = prim.RealFourierTransform(at)(x)
    factor = _scale(norm, x.shape[at], False)
    return out if factor == 1 else out * factor


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Real numbers from the first half of their transform; 2 (m - 1) of them unless `n` is given.

    Examples:
        >>> print(ops.irfft(ops.rfft(Tensor([1.0, 2.0, 3.0, 4.0]))))
        [1. 2. 3. 4.]
    """
    require_rank("irfft", "input", input, 1)
    x = _as_complex(require_tensor("irfft", "input", input))
    at = normal_axis("irfft", dim, x.ndim, "dim")
    count = 2 * (x.shape[at] - 1) if n is None else n
    out = prim.InverseRealFourierTransform(count, at)(x)
    factor = _scale(norm, count, True)
    return out if factor == 1 else out * factor


def _swapped(norm: str | None) -> str:
    return {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform, which is real, of numbers with Hermitian symmetry, given by their first half.

    Examples:
        >>> print(ops.hfft(Tensor([1.0, 2.0, 3.0])))
        [ 8. -2.  0. -2.]
    """
    require_rank("hfft", "input", input, 1)
    require_tensors("hfft", input=input)
    checks.one_of("hfft", "norm", norm, _NORMS)
    return irfft(ew.Conj()(_as_complex(input)), n, dim, _swapped(norm))


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`: the first half of the inverse transform of real numbers.

    Examples:
        >>> print(ops.ihfft(Tensor([6.0, 1.0, 1.0, 1.0])).real())
        [2.25 1.25 1.25]
    """
    require_rank("ihfft", "input", input, 1)
    checks.one_of("ihfft", "norm", norm, _NORMS)
    return ew.Conj()(rfft(input, n, dim, _swapped(norm)))


# -- several dimensions -----------------------------------------------------------------------------------------------
def _plan(op: str, x: Tensor, s: Any, dim: Any) -> list[tuple[Any, int]]:
    """(length or None, axis) per transformed dimension."""
    sizes = None if s is None else static_ints(op, "s", s)
    if dim is None:
        axes = tuple(range(x.ndim)) if sizes is None else tuple(range(x.ndim - len(sizes), x.ndim))
    else:
        axes = tuple(normal_axis(op, d, x.ndim, "dim") for d in static_ints(op, "dim", dim))
    if len(set(axes)) != len(axes) or (sizes is not None and len(sizes) != len(axes)):
        raise ValueError(
            f"For '{op}', 's' and 'dim' must be equally long and 'dim' without repeats, but got {s}, {dim}."
        )
    return list(zip(sizes if sizes is not None else (None,) * len(axes), axes))


def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The transform over several dimensions (all when `dim` is None).

    Examples:
        >>> print(ops.fftn(ops.ones((2, 2))).real())
        [[4. 0.]
         [0. 0.]]
    """
    require_rank("fftn", "input", input, 1)
    require_tensors("fftn", input=input)
    for n, axis in _plan("fftn", input, s, dim):
        input = fft(input, n, axis, norm)
    return _as_complex(input)


def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `fftn`.

    Examples:
        >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ops.ifftn(ops.fftn(x)).real())
        [[1. 2.]
         [3. 4.]]
    """
    require_rank("ifftn", "input", input, 1)
    require_tensors("ifftn", input=input)
    for n, axis in _plan("ifftn", input, s, dim):
        input = ifft(input, n, axis, norm)
    return _as_complex(input)


def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The transform of real numbers over several dimensions; the last one is halved.

    Examples:
        >>> print(ops.rfftn(Tensor([[1.0, 2.0], [3.0, 4.0]])).real())
        [[10. -2.]
         [-4.  0.]]
    """
    require_rank("rfftn", "input", input, 1)
    require_tensors("rfftn", input=input)
    *rest, (n, axis) = _plan("rfftn", input, s, dim)
    out = rfft(input, n, axis, norm)
    for n, axis in reversed(rest):
        out = fft(out, n, axis, norm)
    return out


def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn`.

    Examples:
        >>> print(ops.irfftn(ops.rfftn(Tensor([[1.0, 2.0], [3.0, 4.0]]))))
        [[1. 2.]
         [3. 4.]]
    """
    require_rank("irfftn", "input", input, 1)
    require_tensors("irfftn", input=input)
    *rest, (n, axis) = _plan("irfftn", input, s, dim)
    for m, a in rest:
        input = ifft(input, m, a, norm)
    return irfft(input, n, axis, norm)


@setting_types(s=tuple | None)
def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The (real) transform over several dimensions of numbers that are Hermitian along the last one.

    Examples:
        >>> ops.hfftn(ops.ones((2, 3))).shape
        (2, 4)
    """
    require_rank("hfftn", "input", input, 1)
    require_tensors("hfftn", input=input)
    *rest, (n, axis) = _plan("hfftn", input, s, dim)
    for m, a in rest:
        input = fft(input, m, a, norm)
    return hfft(input, n, axis, norm)


@setting_types(s=tuple | None)
def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn`.

    Examples:
        >>> ops.ihfftn(ops.ones((2, 4))).shape
        (2, 3)
    """
    require_rank("ihfftn", "input", input, 1)
    require_tensors("ihfftn", input=input)
    *rest, (n, axis) = _plan("ihfftn", input, s, dim)
    out = ihfft(input, n, axis, norm)
    for m, a in reversed(rest):
        out = ifft(out, m, a, norm)
    return out


@setting_types(s=tuple | None, dim=tuple)
def fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The transform over two dimensions.

    Examples:
        >>> print(ops.fft2(Tensor([[1.0, 2.0], [3.0, 4.0]])).real())
        [[10. -2.]
         [-4.  0.]]
    """
    require_rank("fft2", "input", input, 2)
    require_tensors("fft2", input=input)
    return fftn(input, s, dim, norm)


@setting_types(s=tuple | None, dim=tuple)
def ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `fft2`.

    Examples:
        >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ops.ifft2(ops.fft2(x)).real())
        [[1. 2.]
         [3. 4.]]
    """
    require_rank("ifft2", "input", input, 2)
    require_tensors("ifft2", input=input)
    return ifftn(input, s, dim, norm)


@setting_types(s=tuple | None, dim=tuple)
def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The transform of real numbers over two dimensions.

    Examples:
        >>> print(ops.rfft2(Tensor([[1.0, 2.0], [3.0, 4.0]])).real())
        [[10. -2.]
         [-4.  0.]]
    """
    require_rank("rfft2", "input", input, 2)
    require_tensors("rfft2", input=input)
    return rfftn(input, s, dim, norm)


@setting_types(s=tuple | None, dim=tuple)
def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `rfft2`.

    Examples:
        >>> print(ops.irfft2(ops.rfft2(Tensor([[1.0, 2.0], [3.0, 4.0]]))))
        [[1. 2.]
         [3. 4.]]
    """
    require_rank("irfft2", "input", input, 2)
    require_tensors("irfft2", input=input)
    return irfftn(input, s, dim, norm)


@setting_types(s=tuple | None, dim=tuple)
def hfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`hfftn` over two dimensions.

    Examples:
        >>> ops.hfft2(ops.ones((2, 3))).shape
        (2, 4)
    """
    require_rank("hfft2", "input", input, 2)
    require_tensors("hfft2", input=input)
    return hfftn(input, s, dim, norm)


@setting_types(s=tuple | None, dim=tuple)
def ihfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `hfft2`.

    Examples:
        >>> ops.ihfft2(ops.ones((2, 4))).shape
        (2, 3)
    """
    require_rank("ihfft2", "input", input, 2)
    require_tensors("ihfft2", input=input)
    return ihfftn(input, s, dim, norm)


def _spacing(op: str, n: Any, d: Any) -> tuple[int, float]:
    """How many samples, how far apart."""
    n = checks.integer(op, "n", n, 1)
    if isinstance(d, bool) or not isinstance(d, (int, float)) or d == 0:
        raise ValueError(f"For '{op}', 'd' must be a number other than 0, but got {checks.describe(d)}.")
    return n, d


def fftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    """The frequencies of `fft`'s entries for samples `d` apart.

    Examples:
        >>> print(ops.fftfreq(4, d=0.5))
        [ 0.   0.5 -1.  -0.5]
    """
    return Tensor(np.fft.fftfreq(*_spacing("fftfreq", n, d)), dtype or mstype.float32)


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    """The frequencies of `rfft`'s entries for samples `d` apart.

    Examples:
        >>> print(ops.rfftfreq(4, d=0.5))
        [0.  0.5 1. ]
    """
    return Tensor(np.fft.rfftfreq(*_spacing("rfftfreq", n, d)), dtype or mstype.float32)


def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Move frequency 0 to the middle.

    Examples:
        >>> print(ops.fftshift(Tensor([0.0, 1.0, -2.0, -1.0])))
        [-2. -1.  0.  1.]
    """
    require_rank("fftshift", "input", input, 1)
    require_tensors("fftshift", input=input)
    axes = tuple(range(input.ndim)) if dim is None else static_ints("fftshift", "dim", dim)
    return roll(input, tuple(input.shape[a] // 2 for a in axes), axes)


def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`.

    Examples:
        >>> print(ops.ifftshift(Tensor([-2.0, -1.0, 0.0, 1.0])))
        [ 0.  1. -2. -1.]
    """
    require_rank("ifftshift", "input", input, 1)
    require_tensors("ifftshift", input=input)
    axes = tuple(range(input.ndim)) if dim is None else static_ints("ifftshift", "dim", dim)
    return roll(input, tuple(-(input.shape[a] // 2) for a in axes), axes)


# -- cosine transforms and spectrograms -------------------------------------------------------------------------------
def _cosine_matrix(n: int, norm: str | None) -> np.ndarray:
    k, i = np.arange(n)[:, None], np.arange(n)[None]
    basis = 2 * np.cos(math.pi * k * (2 * i + 1) / (2 * n))
    if norm == "ortho":
        basis = basis * math.sqrt(1 / (2 * n))
        basis[0] /= math.sqrt(2)
    return basis


def dct(x: Tensor, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The discrete cosine transform of type II, as a product with the cosine matrix.

    Examples:
        >>> print(ops.dct(Tensor([1.0, 1.0, 1.0, 1.0])))
        [8. 0. 0. 0.]
    """
    require_tensors("dct", x=x)
    checks.one_of("dct", "type", type, (2,))
    return _cosine(x, n, axis, lambda m: _cosine_matrix(m, norm))


def idct(x: Tensor, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `dct`.

    Examples:
        >>> print(ops.idct(ops.dct(Tensor([1.0, 2.0, 4.0]))).round(decimals=4))
        [1. 2. 4.]
    """
    require_tensors("idct", x=x)
    checks.one_of("idct", "type", type, (2,))
    return _cosine(x, n, axis, lambda m: np.linalg.inv(_cosine_matrix(m, norm)))


def _cosine(x: Tensor, n: int | None, axis: int, matrix: Callable) -> Tensor:
    from mindspore.ops.product import matmul
    from mindspore.ops.reshaping import swapaxes

    x = cast(x, prim.real_type(x.dtype))
    at = normal_axis("dct", axis, x.ndim)
    x = _resized(x, n, at)
    basis = Tensor(matrix(x.shape[at]).T, x.dtype)
    return swapaxes(matmul(swapaxes(x, at, -1), basis), at, -1)


@setting_types(hop_length=int | None, win_length=int | None, normalized=bool, onesided=bool | None, return_complex=bool | None)
def stft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, pad_mode: str = "REFLECT", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:  # fmt: skip
    """The short-time Fourier transform: (…, frequency, frame), with real and imaginary parts last unless complex.

    Examples:
        >>> ops.stft(ops.ones(16), n_fft=8, hop_length=4, center=False, return_complex=True).shape
        (5, 3)
    """
    require_tensors("stft", x=x)
    from mindspore.ops.elementwise import view_as_real
    from mindspore.ops.joining import pad
    from mindspore.ops.reshaping import swapaxes
    from mindspore.prims.gather_scatter import Gather

    is_complex = x.dtype.kind == "c"
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    onesided = not is_complex if onesided is None else onesided
    return_complex = is_complex if return_complex is None else return_complex
    if center:
        lifted = x if x.ndim > 1 else x[None]
        x = (
            pad(lifted, (n_fft // 2, n_fft // 2), pad_mode.lower())
            if x.ndim > 1
            else pad(lifted, (n_fft // 2,) * 2, pad_mode.lower())[0]
        )
    shape = window if window is not None else Tensor(np.ones(width), prim.real_type(x.dtype))
    left = (n_fft - width) // 2
    shape = pad_pairs(from_values(shape), ((left, n_fft - width - left),), "constant")
    count = 1 + (x.shape[-1] - n_fft) // hop
    places = np.arange(count)[:, None] * hop + np.arange(n_fft)
    frames = Gather()(x, Tensor(places), x.ndim - 1) * shape
    out = rfft(frames) if onesided and not is_complex else fft(frames)
    if normalized:
        out = out * (1 / math.sqrt(n_fft))
    out = swapaxes(out, -1, -2)
    return out if return_complex else view_as_real(out)
