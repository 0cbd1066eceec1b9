"""The native CPU backend: LLVM-generated fused kernels and oneDNN primitives, one call per graph.

`available()` says whether this machine can use it; where it cannot, the runtime takes another backend.
"""

from mindspore.backends.cpu import cached_attention as _cached_attention  # noqa: F401  these register their operations
from mindspore.backends.cpu import packed_products as _packed_products  # noqa: F401
from mindspore.backends.cpu import quantised as _quantised  # noqa: F401
from mindspore.backends.cpu import rnn as _rnn  # noqa: F401
from mindspore.backends.cpu import row_reductions as _row_reductions  # noqa: F401
from mindspore.backends.cpu import scans as _scans  # noqa: F401
from mindspore.backends.cpu import sorting as _sorting  # noqa: F401
from mindspore.backends.cpu.backend import CpuBackend, available

__all__ = ["CpuBackend", "available"]
