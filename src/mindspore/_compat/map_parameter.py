"""`experimental.MapParameter`: a parameter that is a table of rows by integer keys, which grows as keys are met.

It lives on the host and is used in PyNative mode: a graph has no shapes for a table that grows.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor


class MapParameter(Parameter):
    """Rows by key.

    Args:
        key_dtype: int32 or int64.
        value_dtype: of the rows.
        value_shape: of one row.
        key_tensor, value_tensor: keys and rows to begin with.
        default_value: a number, or the name of an initializer, for rows that are asked for and not there.
        permit_filter_value, evict_filter_value: kept; they belong to the embedding server of official MindSpore.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.experimental import MapParameter
        >>> table = MapParameter(value_shape=2, default_value="zeros", name="table")
        >>> table.put(ms.Tensor([7], ms.int32), ms.Tensor([[1.0, 2.0]]))
        >>> table.get(ms.Tensor([7, 8], ms.int32)).tolist()
        [[1.0, 2.0], [0.0, 0.0]]
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> MapParameter:
        return Tensor.__new__(cls)

    def __init__(
        self, key_dtype: Any = None, value_dtype: Any = None, value_shape: Any = 1, key_tensor: Any = None,
        value_tensor: Any = None, default_value: Any = "normal", permit_filter_value: int = 1,
        evict_filter_value: int = 2**63 - 1, name: str | None = None, requires_grad: bool = True, **kwargs: Any,
    ):  # fmt: skip
        key_dtype, value_dtype = key_dtype or mstype.int32, value_dtype or mstype.float32
        if key_dtype not in (mstype.int32, mstype.int64):
            raise TypeError(f"For 'MapParameter', 'key_dtype' must be int32 or int64, but got {key_dtype}.")
        if not isinstance(default_value, (str, numbers.Number)):
            raise TypeError(
                f"For 'MapParameter', 'default_value' must be a number or a str, but got {default_value!r}."
            )
        shape = (value_shape,) if isinstance(value_shape, int) else tuple(value_shape)
        super().__init__(Tensor(np.zeros((0, *shape), mstype.dtype_to_nptype(value_dtype))), name, requires_grad)
        self.key_dtype, self.value_dtype, self.value_shape = key_dtype, value_dtype, shape
        self.default_value = default_value
        self.permit_filter_value, self.evict_filter_value = permit_filter_value, evict_filter_value
        self._places: dict[int, int] = {}  # key -> row
        if key_tensor is not None and value_tensor is not None:
            self.put(key_tensor, value_tensor)

    @property
    def key_tensor(self) -> Tensor:
        """The keys."""
        return self.get_keys()

    @property
    def value_tensor(self) -> Tensor:
        """The rows, in the order of the keys."""
        return self.get_values()

    def _keys(self, keys: Any) -> list[int]:
        array = np.asarray(keys.asnumpy() if isinstance(keys, Tensor) else keys)
        if array.dtype.kind not in "iu":
            raise TypeError(f"For 'MapParameter', keys must be integers, but got {array.dtype}.")
        return array.reshape(-1).tolist()

    def get(self, key_tensor: Any, insert_default_value: bool = True) -> Tensor:
        """The rows of some keys; those not there get the default, and are kept if `insert_default_value`."""
        keys = self._keys(key_tensor)
        missing = [k for k in dict.fromkeys(keys) if k not in self._places]
        default = self._default(len(missing))
        if insert_default_value and missing:
            self.put(missing, default)
        rows = self.asnumpy()
        if not insert_default_value and missing:
            extra = {k: default[n] for n, k in enumerate(missing)}
            found = [extra[k] if k in extra else rows[self._places[k]] for k in keys]
        else:
            found = [rows[self._places[k]] for k in keys]
        return Tensor(np.array(found, rows.dtype).reshape(*np.shape(key_tensor), *self.value_shape))

    def _default(self, count: int) -> np.ndarray:
        shape = (count, *self.value_shape)
        if isinstance(self.default_value, str) and count:
            return initializer(self.default_value, shape, self.value_dtype).init_data().asnumpy()
        return np.full(shape, 0 if isinstance(self.default_value, str) else self.default_value, self.asnumpy().dtype)

    def put(self, key_tensor: Any, value_tensor: Any) -> MapParameter:
        """Store rows; the last one wins where a key comes twice."""
        keys = self._keys(key_tensor)
        given = np.asarray(value_tensor.asnumpy() if isinstance(value_tensor, Tensor) else value_tensor)
        if given.size != len(keys) * int(np.prod(self.value_shape)):
            raise ValueError(
                f"For 'MapParameter.put', {len(keys)} rows of {self.value_shape} are needed, but got {given.shape}."
            )
        old = self.asnumpy()
        for key in keys:
            self._places.setdefault(key, len(self._places))
        rows = np.zeros((len(self._places), *self.value_shape), old.dtype)
        rows[: len(old)] = old
        rows[[self._places[k] for k in keys]] = given.reshape(len(keys), *self.value_shape)
        self._data = rows
        return self

    def erase(self, key_tensor: Any) -> MapParameter:
        """Remove keys with their rows."""
        gone = set(self._keys(key_tensor))
        absent = sorted(gone - self._places.keys())
        if absent:
            raise ValueError(f"For 'MapParameter.erase', there is no key {absent[0]}.")
        left = [k for k in self._places if k not in gone]
        self._data = self.asnumpy()[[self._places[k] for k in left]]
        self._places = {k: n for n, k in enumerate(left)}
        return self

    def get_keys(self) -> Tensor:
        """All keys."""
        return Tensor(np.array(list(self._places), mstype.dtype_to_nptype(self.key_dtype)))

    def get_values(self) -> Tensor:
        """All rows, in the order of the keys."""
        return Tensor(self.asnumpy().copy())

    def get_data(self) -> tuple[Tensor, Tensor]:
        """Keys and rows."""
        return self.get_keys(), self.get_values()

    def export_data(self, incremental: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Keys, rows, and the state of each (0: unchanged)."""
        return self.get_keys().asnumpy(), self.get_values().asnumpy(), np.zeros(len(self._places), np.int32)

    def import_data(self, data: Any) -> None:
        """Take over what `export_data` gave."""
        self._places, self._data = {}, self.asnumpy()[:0].copy()
        self.put(np.asarray(data[0]), np.asarray(data[1]))

    def __getitem__(self, key_tensor: Any) -> Any:
        return self.get(key_tensor, True)

    def __setitem__(self, key_tensor: Any, value_tensor: Any) -> None:
        self.put(key_tensor, value_tensor)

    def __str__(self) -> str:
        return f"MapParameter (name={self.name}, key_dtype={self.key_dtype}, value_dtype={self.value_dtype}, rows={len(self._places)})"
