"""`.ckpt` files as a whole: records, an optional checksum after them, optional encryption around both."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from mindspore import log as logger
from mindspore._base.files import write_parts
from mindspore._base.protobuf import DecodeError
from mindspore.formats import encryption
from mindspore.formats.checkpoint import records
from mindspore.formats.checkpoint.records import Entry

READ_ONLY = 0o400


def write(
    path: str, entries: Mapping[str, Entry], key: bytes | None = None, mode: str = "AES-GCM", checksum: bool = False
) -> None:
    """Write named arrays and texts; the file appears whole or not at all."""
    parts: Iterable[Any] = records.encode(entries.items())
    if checksum:
        parts = _with_crc(parts)
    if key is not None:
        parts = encryption.encrypt(b"".join(parts), key, mode)
    write_parts(path, parts, READ_ONLY)


def _with_crc(parts: Iterable[bytes]) -> Iterator[bytes]:
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
        yield part
    yield records.crc_trailer(crc)


def read(
    data: memoryview,
    shown: str,
    wanted: Callable[[str], bool] = lambda name: True,
    key: bytes | None = None,
    mode: str = "AES-GCM",
    checksum: bool = False,
) -> dict[str, Entry | list[np.ndarray]]:
    """The entries whose names are `wanted`, of a file's bytes; errors call it `shown`."""
    if key is not None:
        try:
            data = memoryview(encryption.decrypt(data, key, mode))
        except encryption.WrongKeyError as error:
            raise ValueError(f"The checkpoint file {shown} cannot be decrypted with this 'dec_key': {error}.") from None
    elif encryption.is_encrypted(data[:4]):
        raise ValueError(f"The checkpoint file {shown} is encrypted; pass the right 'dec_key' and 'dec_mode'.")
    content, crc = records.split_crc(data)
    if checksum:
        if crc is None:
            logger.warning("For 'load_checkpoint', the file %s has no checksum to check.", shown)
        elif records.crc32([content]) != crc:
            raise ValueError(f"The crc check of {shown} failed: the checkpoint file is damaged.")
    try:
        return records.decode(content, wanted)
    except DecodeError as error:
        raise ValueError(f"The file {shown} is no checkpoint, is cut short or is damaged: {error}.") from None
