"""Encrypted MindRecord files and indexes.

    blocks of up to 64 MB, each a signed 32-bit big-endian length and the encrypted block
    a zero length
    7 bytes: the mode, "AES-GCM", or "UDF-ENC" for a user's own function (which writes what it likes for the blocks)
    "ENCRYPT"

The AES-GCM blocks are those of `mindspore._base.ciphers`.
"""

from __future__ import annotations

import os
import struct
from typing import IO

from mindspore._base import ciphers

from .config import Mode, _get_dec_mode, _get_enc_key
from .layout import MIN_FILE_SIZE

END_FLAG = b"ENCRYPT"
_MODE_LENGTH = 7
_USER_MODE = b"UDF-ENC"
_BLOCK_LENGTH = struct.Struct(">i")
_WRONG_KEY = "Failed to decrypt data, please check if enc_key and enc_mode / dec_mode is valid."


def _mode_name(mode: Mode) -> bytes:
    return _USER_MODE if callable(mode) else mode.encode("ascii")


def decrypt_block(block: bytes, key: str) -> bytes:
    """The content of one AES-GCM block; RuntimeError when the key is wrong or the block was altered."""
    try:
        content, end = ciphers.decrypt_block(memoryview(block), 0, key.encode("utf-8"))
    except ciphers.WrongKeyError:
        raise RuntimeError(_WRONG_KEY) from None
    if end != len(block):
        raise RuntimeError(_WRONG_KEY)
    return content


def encrypt_stream(source: IO[bytes], size: int, target: IO[bytes], key: str, mode: Mode) -> None:
    """Write the encrypted form of `source` to `target`."""
    if callable(mode):
        mode(source, size, target, key)
    else:
        while data := source.read(ciphers.BLOCK):
            block = ciphers.encrypt_block(data, key.encode("utf-8"))
            target.write(_BLOCK_LENGTH.pack(len(block)) + block)
    target.write(_BLOCK_LENGTH.pack(0) + _mode_name(mode) + END_FLAG)


def is_encrypted(path: str) -> bool:
    """Whether the file has to be decrypted; RuntimeError when that does not agree with the key that is set."""
    if not os.path.exists(path):
        raise RuntimeError(f"The input: {path} is not exists.")
    if not os.path.isfile(path):
        raise RuntimeError(f"The input: {path} should be a regular file.")
    size = os.path.getsize(path)
    if size < MIN_FILE_SIZE:
        raise RuntimeError(
            f"Invalid file, the size of mindrecord file: {size} is smaller than the lower limit: {MIN_FILE_SIZE}.\n"
            f" Please check file path: {path} and use 'FileWriter' to generate valid mindrecord files."
        )
    with open(path, "rb") as stream:
        stream.seek(-len(END_FLAG), os.SEEK_END)
        encrypted = stream.read() == END_FLAG
    if encrypted and _get_enc_key() is None:
        raise RuntimeError(
            "The mindrecord file is encrypted. You need to configure 'mindspore.mindrecord.config.set_enc_key(...)' "
            "and 'mindspore.mindrecord.config.set_enc_mode(...)' for decryption."
        )
    if not encrypted and _get_enc_key() is not None:
        raise RuntimeError(
            "The mindrecord file is not encrypted. You can set 'mindspore.mindrecord.config.set_enc_key(None)' to "
            "disable the decryption."
        )
    return encrypted


def decrypt_file(path: str, target: IO[bytes]) -> None:
    """Write the content of the encrypted file at `path` to `target`, with the key and mode that are set."""
    key, mode = _get_enc_key(), _get_dec_mode()
    assert key is not None, "is_encrypted() checks this"
    size = os.path.getsize(path) - len(END_FLAG)
    with open(path, "rb") as source:
        source.seek(size - _MODE_LENGTH)
        if source.read(_MODE_LENGTH) != _mode_name(mode):
            raise RuntimeError(_WRONG_KEY)
        source.seek(0)
        if callable(mode):
            mode(source, size, target, key)
        else:
            _decrypt_blocks(source, size - _MODE_LENGTH, target, key, path)


def _decrypt_blocks(source: IO[bytes], size: int, target: IO[bytes], key: str, path: str) -> None:
    while True:
        head = source.read(_BLOCK_LENGTH.size)
        length = _BLOCK_LENGTH.unpack(head)[0] if len(head) == _BLOCK_LENGTH.size else -1
        if length == 0:
            return
        if length < 0 or source.tell() + length > size:
            raise RuntimeError(f"Invalid encrypted block length {length} in file: {path} at offset: {source.tell()}.")
        target.write(decrypt_block(source.read(length), key))
