"""Fourier transforms and special functions."""

import numpy as np
import scipy.fft
from scipy import special
from table import COMPLEX, FLOAT, Fixed, plus, positive, real, row, spread

import mindspore as ms
from mindspore import Tensor

DOUBLE = "f d"

# -- Fourier ----------------------------------------------------------------------------------------------------------
F = real(3, 6)
for name in ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn"):
    row(name, getattr(np.fft, name), F, dtypes="f d F D", grad=0, keeps=False)
for name in ("rfft", "rfft2", "rfftn", "ihfft"):
    row(name, getattr(np.fft, name), F, dtypes=DOUBLE, grad=0, keeps=False)
row("irfft", np.fft.irfft, F, dtypes=COMPLEX, grad=0, keeps=False, tolerance=2)
row("irfft2", np.fft.irfft2, F, dtypes=COMPLEX, grad=0, keeps=False, tolerance=2)
row("irfftn", np.fft.irfftn, F, dtypes=COMPLEX, grad=0, keeps=False, tolerance=2)
row("hfft", np.fft.hfft, F, dtypes=COMPLEX, grad=0, keeps=False, tolerance=2)
row("hfft2", scipy.fft.hfft2, F, dtypes=COMPLEX, grad=0, keeps=False, tolerance=2)
row("hfftn", scipy.fft.hfftn, F, dtypes=COMPLEX, grad=0, keeps=False, tolerance=2)
row("ihfft2", scipy.fft.ihfft2, F, dtypes=DOUBLE, grad=0, keeps=False)
row("ihfftn", scipy.fft.ihfftn, F, dtypes=DOUBLE, grad=0, keeps=False)
row(
    "fft ifft",
    lambda x: np.fft.fft(x, 8, 0, "ortho"),
    F,
    call=lambda f, x: f(x, 8, 0, "ortho") if f.__name__ == "fft" else f(x.conj(), 8, 0, "ortho").conj(),
    dtypes=COMPLEX,
    grad=0,
)
row("rfft", lambda x: np.abs(np.fft.rfft(x)) ** 2, F, call=lambda f, x: f(x).abs() ** 2, dtypes=DOUBLE, tolerance=8)
row(
    "fft irfft",
    lambda x: x,
    F,
    call=lambda f, x: ms.ops.ifft(f(x)).real() if f.__name__ == "fft" else f(ms.ops.rfft(x)),
    dtypes=DOUBLE,
    tolerance=2,
)
row("fftshift", np.fft.fftshift, F)
row("ifftshift", lambda x: np.fft.ifftshift(x, 1), F, call=plus(1))
row("dct", lambda x: scipy.fft.dct(x, norm="ortho"), F, call=plus(norm="ortho"), dtypes=DOUBLE, tolerance=2)
row("idct", lambda x: scipy.fft.idct(x, norm="ortho"), F, call=plus(norm="ortho"), dtypes=DOUBLE, tolerance=2)
row("FFTWithSize(1,False,False)", lambda x: np.fft.fft(x), F, dtypes=COMPLEX, grad=0)
row("FFTWithSize(2,False,True)", lambda x: np.fft.rfft2(x), F, dtypes=DOUBLE, grad=0)
row(
    "stft STFT(4,2,4,False,True,True)",
    lambda x, w: np.stack([np.fft.rfft(x[i : i + 4] * w) for i in range(0, 9, 2)], 1),
    real(12),
    positive(4),
    call=lambda f, x, w: (
        f(x, w) if hasattr(f, "attrs") else f(x, 4, 2, 4, w, center=False, onesided=True, return_complex=True)
    ),
    dtypes=DOUBLE,
    grad=0,
)

# -- special functions ------------------------------------------------------------------------------------------------
P = positive(2, 3)
row("lgamma Lgamma() Tensor.lgamma", special.gammaln, P, dtypes=FLOAT, tolerance=8)
row("digamma Digamma() Tensor.digamma", special.digamma, P, dtypes=FLOAT, tolerance=8)
row(
    "polygamma Polygamma()",
    lambda x: special.polygamma(2, x),
    P,
    dtypes=DOUBLE,
    tolerance=40,
    call=lambda f, x: f(Tensor(2), x),
)
row(
    "mvlgamma Mvlgamma(2) Tensor.mvlgamma",
    lambda x: np.vectorize(lambda v: special.multigammaln(v, 2))(x),
    P + 1,
    call=plus(2),
    dtypes=DOUBLE,
    tolerance=8,
)
row("igamma Igamma() Tensor.igamma", special.gammainc, P, positive(2, 3), dtypes=DOUBLE, tolerance=80, grad=0)
row("igammac Igammac() Tensor.igammac", special.gammaincc, P, positive(2, 3), dtypes=DOUBLE, tolerance=80, grad=0)
row(
    "betainc Betainc()", special.betainc, P, positive(2, 3), spread(0.1, 0.9, 2, 3), dtypes=DOUBLE, tolerance=80, grad=0
)
row("zeta Zeta()", special.zeta, P + 1.5, positive(2, 3), dtypes=DOUBLE, tolerance=80, grad=0)
for name, function in {
    "i0": special.i0, "i0e": special.i0e, "i1": special.i1, "i1e": special.i1e, "j0": special.j0, "j1": special.j1,
    "k0": special.k0, "k0e": special.k0e, "k1": special.k1, "k1e": special.k1e, "y0": special.y0, "y1": special.y1,
}.items():  # fmt: skip
    row(f"bessel_{name} Bessel{name[0].upper()}{name[1:]}()", function, P, dtypes=DOUBLE, tolerance=40)
row("i0", special.i0, P, dtypes=DOUBLE, tolerance=4)
row("Dawsn()", special.dawsn, P, dtypes=DOUBLE, tolerance=40, grad=1)
row("Spence()", special.spence, P, dtypes=DOUBLE, tolerance=40, grad=1)
row("heaviside", np.heaviside, real(3), positive(3), grad=0)
row(
    "ms.ops.fftfreq",
    lambda x: np.fft.fftfreq(6, 0.5),
    Fixed(0.0),
    call=lambda f, x: f(6, 0.5),
    dtypes="f",
    grad=0,
    keeps=False,
)
row(
    "ms.ops.rfftfreq",
    lambda x: np.fft.rfftfreq(6, 0.5),
    Fixed(0.0),
    call=lambda f, x: f(6, 0.5),
    dtypes="f",
    grad=0,
    keeps=False,
)
