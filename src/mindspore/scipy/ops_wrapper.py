"""Functions that scripts import from `mindspore.scipy.ops_wrapper`."""

from mindspore.ops.function import matrix_set_diag

__all__ = ["matrix_set_diag"]
