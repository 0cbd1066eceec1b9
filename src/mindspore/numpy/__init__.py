"""`mindspore.numpy`: NumPy's functions on tensors. They differentiate, compile and run on every backend."""

# ruff: noqa: F401 - names are re-exported

import sys as _sys

from mindspore.common.tensor import Tensor
from mindspore.numpy import fft
from mindspore.numpy.array_creations import *  # noqa: F403
from mindspore.numpy.array_ops import *  # noqa: F403
from mindspore.numpy.dtypes import *  # noqa: F403
from mindspore.numpy.examples import TABLE as _TABLE
from mindspore.numpy.math_ops import *  # noqa: F403
from mindspore.ops.examples import complete as _complete

_complete(_sys.modules[__name__], _TABLE)
