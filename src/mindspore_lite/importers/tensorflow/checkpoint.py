"""Variables of a SavedModel: `variables.index` says where in `variables.data-…` each one is.

The index is a table of LevelDB's form: blocks of sorted entries, each `shared · rest · size (varints) · end of the key · value`, where
`shared` bytes of the key are those of the entry before; the last 48 bytes lead to the block that lists the blocks. TensorFlow writes
it without compression. https://github.com/google/leveldb/blob/main/doc/table_format.md
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from mindspore._base.protobuf import DecodeError, decode_varint, element_count
from mindspore_lite.importers.tensorflow.messages import BundleEntry, BundleHeader, numpy_type

_FOOTER, _MAGIC = 48, 0xDB4775248B80FB57
_TRAILER = 5  # a block's kind of compression and checksum


def read(folder: str) -> dict[str, np.ndarray]:
    """The variables by key; none where the model has none."""
    index = os.path.join(folder, "variables.index")
    if not os.path.exists(index):
        return {}
    with open(index, "rb") as stream:
        content = stream.read()
    entries = dict(_entries(content))
    header = BundleHeader.decode(entries.pop(b"", b""))
    shards = header.num_shards or 1
    found = {}
    for key, value in entries.items():
        entry = BundleEntry.decode(value)
        kind = numpy_type(entry.dtype)
        if kind is not None:  # others are strings: TensorFlow's own notes
            found[key.decode("utf-8", "replace")] = _array(folder, shards, key.decode("utf-8", "replace"), entry, kind)
    return found


def _array(folder: str, shards: int, key: str, entry: BundleEntry, kind: np.dtype) -> np.ndarray:
    dims = (entry.shape.sizes() if entry.shape is not None else []) or []
    path = os.path.join(folder, f"variables.data-{entry.shard or 0:05d}-of-{shards:05d}")
    size, offset = entry.size or 0, entry.offset or 0
    if size != element_count(key, dims) * kind.itemsize or offset < 0 or not os.path.exists(path) or offset + size > os.path.getsize(path):
        raise DecodeError(f"the variable '{key}' is not where the index says")
    return np.fromfile(path, kind, element_count(key, dims), offset=offset).reshape(dims)


def _entries(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    if len(content) < _FOOTER or int.from_bytes(content[-8:], "little") != _MAGIC:
        raise DecodeError("variables.index is no table of variables")
    footer = memoryview(content)[-_FOOTER:]
    _, place = decode_varint(footer, 0)
    _, place = decode_varint(footer, place)
    start, place = decode_varint(footer, place)
    size, _ = decode_varint(footer, place)
    for _, handle in _block(content, start, size):
        view = memoryview(handle)
        start, place = decode_varint(view, 0)
        size, _ = decode_varint(view, place)
        yield from _block(content, start, size)


def _block(content: bytes, start: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    if start < 0 or start + size + _TRAILER > len(content) or size < 4:
        raise DecodeError("variables.index is cut off")
    if content[start + size]:
        raise DecodeError("variables.index is compressed, which TensorFlow does not do")
    block = memoryview(content)[start : start + size]
    restarts = int.from_bytes(block[-4:], "little")
    end = size - 4 - 4 * restarts
    place, key = 0, b""
    while 0 <= place < end:
        shared, place = decode_varint(block, place)
        rest, place = decode_varint(block, place)
        length, place = decode_varint(block, place)
        if shared > len(key) or place + rest + length > end:
            raise DecodeError("variables.index is damaged")
        key = key[:shared] + bytes(block[place : place + rest])
        yield key, bytes(block[place + rest : place + rest + length])
        place += rest + length
