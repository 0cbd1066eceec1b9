"""The seam to the framework above: how an iterator turns a NumPy array into a Tensor.

This package knows nothing of Tensors. `mindspore.common` registers a factory when it is imported; until then iterators
asked for tensors give NumPy arrays.
"""

from mindspore._base.tensor_hook import set_tensor_factory, wrap

__all__ = ["set_tensor_factory", "wrap"]
