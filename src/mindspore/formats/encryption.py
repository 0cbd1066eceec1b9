"""Encrypted model files: a run of blocks (see `mindspore._base.ciphers`), each of up to 64 MB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindspore._base.ciphers import (
    BLOCK,
    MODES,
    WrongKeyError,
    check_key_size,
    decrypt_block,
    encrypt_block,
    is_encrypted,
)


def check_key(owner: str, name: str, key: Any, mode: Any, mode_name: str) -> None:
    """TypeError or ValueError unless `key` is None, or a key of a known mode."""
    if not isinstance(mode, str):
        raise TypeError(f"For '{owner}', '{mode_name}' must be a string, but got {type(mode).__name__}.")
    if mode not in MODES:
        raise ValueError(f"For '{owner}', '{mode_name}' must be one of {list(MODES)}, but got {mode!r}.")
    if key is None:
        return
    if not isinstance(key, bytes):
        raise TypeError(f"For '{owner}', '{name}' must be bytes, but got {type(key).__name__}.")
    check_key_size(owner, name, key, mode)


def encrypt(data: bytes | memoryview, key: bytes, mode: str = "AES-GCM") -> Iterator[bytes]:
    """The encrypted blocks of `data`."""
    view = memoryview(data)
    for start in range(0, max(len(view), 1), BLOCK):
        yield encrypt_block(view[start : start + BLOCK], key, mode)


def decrypt(data: bytes | memoryview, key: bytes, mode: str = "AES-GCM", pieces: bool = False) -> bytes:
    """The content of encrypted blocks; WrongKeyError when the key or mode is wrong or a byte was changed.

    With `pieces`, several contents that were encrypted one by one follow each other.
    """
    view, at, parts = memoryview(data), 0, []
    while at < len(view):
        content, at = decrypt_block(view, at, key, mode)
        parts.append(content)
        if len(content) < BLOCK and at < len(view) and not pieces:  # each block is sealed, so only the last may be a part
            raise WrongKeyError(f"{len(view) - at} bytes follow the last block")
    return b"".join(parts)


__all__ = ["BLOCK", "MODES", "WrongKeyError", "check_key", "decrypt", "encrypt", "is_encrypted"]
