"""`mindspore.numpy`: NumPy's functions on tensors. They differentiate, compile and run on every backend."""

# ruff: noqa: F401 - names are re-exported

from mindspore.common.tensor import Tensor
from mindspore.numpy import fft
from mindspore.numpy.array_creations import *  # noqa: F403
from mindspore.numpy.array_ops import *  # noqa: F403
from mindspore.numpy.dtypes import *  # noqa: F403
from mindspore.numpy.math_ops import *  # noqa: F403
