"""PyTorch's files of weights (`torch.save(module.state_dict(), …)`), read without PyTorch and without executing anything.

The file is a zip archive without compression: `<folder>/data.pkl` is a pickle of the dict, in which each tensor is a call of
`torch._utils._rebuild_tensor_v2(storage, offset, shape, strides, …)` and each storage a persistent id ("storage", its type, a key,
a device, a count); `<folder>/data/<key>` are the bytes. The pickle is read by an interpreter that knows those two names, ordered
dicts and Parameters, and refuses every other. https://pytorch.org/docs/stable/notes/serialization.html
"""

from __future__ import annotations

import collections
import io
import pickle
import zipfile
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype

_TYPES = {
    "FloatStorage": mstype.float32, "DoubleStorage": mstype.float64, "HalfStorage": mstype.float16, "BFloat16Storage": mstype.bfloat16,
    "LongStorage": mstype.int64, "IntStorage": mstype.int32, "ShortStorage": mstype.int16, "CharStorage": mstype.int8,
    "ByteStorage": mstype.uint8, "BoolStorage": mstype.bool_,
}  # fmt: skip


def read(data: memoryview, shown: str) -> dict[str, np.ndarray]:
    """The arrays by name; errors call the file `shown`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _arrays(archive)
    except (zipfile.BadZipFile, pickle.UnpicklingError, EOFError, KeyError, IndexError, TypeError, AttributeError,
            OverflowError, ValueError, RuntimeError) as error:  # fmt: skip
        raise ValueError(f"The file {shown} is no file of PyTorch weights, or is damaged: {error}.") from None


def _arrays(archive: zipfile.ZipFile) -> dict[str, np.ndarray]:
    listings = [name for name in archive.namelist() if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(listings) != 1:
        raise pickle.UnpicklingError("it has no data.pkl")
    if any(i.compress_type != zipfile.ZIP_STORED for i in archive.infolist()):
        raise pickle.UnpicklingError("its parts are compressed, which PyTorch does not do")
    found = _Reader(archive, listings[0].removesuffix("data.pkl")).load()
    for key in ("state_dict", "model"):  # what training programs store beside the weights
        if isinstance(found, dict) and isinstance(found.get(key), dict):
            found = found[key]
    if not isinstance(found, dict):
        raise pickle.UnpicklingError("it holds no dict of tensors")
    return {name: value for name, value in found.items() if isinstance(name, str) and isinstance(value, np.ndarray)}


class _Reader(pickle._Unpickler):  # type: ignore[name-defined,misc]
    """The pure Python reader: the one in C allocates whatever a number in the file says."""

    def __init__(self, archive: zipfile.ZipFile, folder: str):
        super().__init__(io.BytesIO(archive.read(f"{folder}data.pkl")), encoding="utf-8")
        self.archive, self.folder = archive, folder
        self.parts: dict[str, bytes] = {}  # each is read once, however often a file refers to it

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return _parameter
        if module == "torch" and name in _TYPES:
            return _TYPES[name]
        raise pickle.UnpicklingError(f"it asks for '{module}.{name}', which files of weights do not need")

    def persistent_load(self, pid: Any) -> np.ndarray:
        kind, dtype, key, _, count = pid
        if kind != "storage" or not isinstance(dtype, mstype.DType) or not isinstance(key, str):
            raise pickle.UnpicklingError(f"it refers to {pid!r}")
        if key not in self.parts:
            self.parts[key] = self.archive.read(f"{self.folder}data/{key}")
        stored = np.frombuffer(self.parts[key], dtype.np)
        if stored.size < count:
            raise pickle.UnpicklingError(f"the part {key} has {stored.size} elements, and {count} are needed")
        return stored


def _parameter(value: np.ndarray, *rest: Any) -> np.ndarray:
    return value


def _tensor(storage: np.ndarray, offset: int, shape: tuple, strides: tuple, *rest: Any) -> np.ndarray:
    """A tensor is a view of its storage; one that reaches beyond it is refused."""
    sizes = (offset, *shape, *strides)
    if not isinstance(storage, np.ndarray) or len(shape) != len(strides) or not all(isinstance(s, int) and s >= 0 for s in sizes):
        raise pickle.UnpicklingError(f"a tensor has the shape {shape} and the strides {strides}")
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides))
    if 0 not in shape and last >= storage.size:
        raise pickle.UnpicklingError(f"a tensor of shape {shape} reaches beyond its {storage.size} stored elements")
    if 0 in shape:
        return np.zeros(shape, storage.dtype)
    steps = [s * storage.itemsize for s in strides]
    view = np.lib.stride_tricks.as_strided(storage[offset:], shape, steps, writeable=False)
    if view.size > storage.size:
        raise pickle.UnpicklingError(f"a tensor of shape {shape} has more elements than its {storage.size} stored ones")
    return view
