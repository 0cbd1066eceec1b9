"""What tensors have besides operations: their bytes, their hooks by number, attributes that frameworks above them set."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.changes import note_change
from mindspore.common.storage import UntypedStorage
from mindspore.common.tensor import Tensor
from mindspore.runtime import tensor_hooks


def _index(self: Tensor, indices: Any) -> Tensor:
    """`self[indices]` of index tensors, one per leading dimension.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([[1, 2], [3, 4]]).index([Tensor([1, 0]), Tensor([0, 0])]).tolist()
        [3, 1]
    """
    if not isinstance(indices, (tuple, list)):
        raise TypeError(f"For 'Tensor.index', 'indices' must be a tuple or list of tensors, but got {indices!r}.")
    return self[tuple(slice(None) if i is None else i for i in indices)]


def _untyped_storage(self: Tensor) -> UntypedStorage:
    """The bytes behind the tensor.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).untyped_storage().nbytes()
        8
    """
    data = self.asnumpy()
    if self._data is data:  # on the host: both share the bytes, whichever way they lay before
        self._data = data = np.ascontiguousarray(data).reshape(data.shape)
    return UntypedStorage(data)


def _data_ptr(self: Tensor) -> int:
    """The address of the first element in the memory of the host.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0]).data_ptr() > 0
        True
    """
    return int(np.asarray(self._data).ctypes.data)


def _get_bytes(self: Tensor) -> bytes:
    """The elements as bytes, in the order of the dimensions.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor
        >>> Tensor([1, 2], ms.uint8).get_bytes()
        b'\\x01\\x02'
    """
    return np.ascontiguousarray(self.asnumpy()).tobytes()


def _convert_bytes_to_tensor(bytes_data: bytes, dims: tuple, type_id: Any) -> Tensor:
    """The tensor of a shape and element type whose `get_bytes` these are.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor
        >>> Tensor.convert_bytes_to_tensor(b"\\x01\\x02", (2,), ms.uint8).tolist()
        [1, 2]
    """
    return Tensor(np.frombuffer(bytes_data, mstype.to_dtype(type_id).np).reshape(dims).copy())


def _remove_hook(self: Tensor, handle_id: int) -> None:
    """Take away the hook that `register_hook` gave this number.

    Examples:
        >>> from mindspore import Tensor
        >>> x = Tensor([1.0])
        >>> handle = x.register_hook(lambda grad: grad)
        >>> x.remove_hook(handle.handle_id)
    """
    tensor_hooks.hooks_of(self).pop(handle_id, None)
    note_change()


def attach() -> None:
    """Give the Tensor class these methods and attributes."""
    methods = {
        "index": _index, "storage": _untyped_storage, "untyped_storage": _untyped_storage, "data_ptr": _data_ptr,
        "get_bytes": _get_bytes, "convert_bytes_to_tensor": staticmethod(_convert_bytes_to_tensor),
        "remove_hook": _remove_hook,
    }  # fmt: skip
    for name, method in methods.items():
        setattr(Tensor, name, method)
    for name, value in {"param_info": None, "init": None, "init_flag": False}.items():
        setattr(Tensor, name, value)  # set on instances by the frameworks that use them
