"""`mindspore.scipy`: linear algebra, optimisation and transforms with SciPy's names."""

from mindspore.scipy import fft, linalg, optimize

__all__ = ["fft", "linalg", "optimize"]
