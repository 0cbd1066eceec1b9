"""Encrypted model files: AES-GCM and AES-CBC blocks, as official MindSpore lays them out.

A file is a run of blocks, each the encryption of up to 64 MB. The numbers are 32-bit little-endian:

    AES-GCM: magic 0x7F3A5ED8, 16-byte tag, length of the rest, length of the nonce, nonce, length of the text, text
    AES-CBC: magic 0x7F3A5ED9,              length of the rest, length of the nonce, nonce, length of the text, text

Of the 16 bytes of a GCM nonce the first 12 are used. CBC text is padded to whole 16-byte units (PKCS #7); it is not
authenticated, so prefer GCM.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any

from mindspore._base.optional import require

MODES = ("AES-GCM", "AES-CBC")
_GCM_MAGIC, _CBC_MAGIC = 0x7F3A5ED8, 0x7F3A5ED9
_U32 = struct.Struct("<I")
_NONCE, _GCM_NONCE, _TAG, _UNIT = 16, 12, 16, 16
BLOCK = 64 << 20


class WrongKeyError(ValueError):
    """The key does not fit, or the data was altered."""


def check_key(owner: str, name: str, key: Any, mode: Any, mode_name: str) -> None:
    """TypeError or ValueError unless `key` is None, or an AES key with a known mode."""
    if not isinstance(mode, str):
        raise TypeError(f"For '{owner}', '{mode_name}' must be a string, but got {type(mode).__name__}.")
    if mode not in MODES:
        raise ValueError(f"For '{owner}', '{mode_name}' must be one of {list(MODES)}, but got {mode!r}.")
    if key is None:
        return
    if not isinstance(key, bytes):
        raise TypeError(f"For '{owner}', '{name}' must be bytes, but got {type(key).__name__}.")
    if len(key) not in (16, 24, 32):
        raise ValueError(f"For '{owner}', '{name}' must have 16, 24 or 32 bytes, but got {len(key)}.")


def is_encrypted(head: bytes | memoryview) -> bool:
    """Whether a file that starts with these bytes is an encrypted one."""
    return len(head) >= 4 and _U32.unpack_from(head)[0] in (_GCM_MAGIC, _CBC_MAGIC)


def encrypt(data: bytes | memoryview, key: bytes, mode: str = "AES-GCM") -> Iterator[bytes]:
    """The encrypted blocks of `data`."""
    view = memoryview(data)
    for start in range(0, max(len(view), 1), BLOCK):
        yield _encrypt_block(view[start : start + BLOCK], key, mode)


def _encrypt_block(data: memoryview, key: bytes, mode: str) -> bytes:
    nonce = os.urandom(_NONCE)
    if mode == "AES-GCM":
        sealed = _gcm(key).encrypt(nonce[:_GCM_NONCE], data, None)
        text, head = sealed[:-_TAG], _U32.pack(_GCM_MAGIC) + sealed[-_TAG:]
    else:
        padding = _UNIT - len(data) % _UNIT
        context = _cbc(key, nonce).encryptor()
        text = context.update(data) + context.update(bytes((padding,)) * padding) + context.finalize()
        head = _U32.pack(_CBC_MAGIC)
    return b"".join((head, _U32.pack(8 + _NONCE + len(text)), _U32.pack(_NONCE), nonce, _U32.pack(len(text)), text))


def decrypt(data: bytes | memoryview, key: bytes, mode: str = "AES-GCM") -> bytes:
    """The content of encrypted blocks; WrongKeyError when the key or mode is wrong or a byte was changed."""
    view, at, parts = memoryview(data), 0, []
    while at < len(view):
        content, at = _decrypt_block(view, at, key, mode)
        parts.append(content)
    return b"".join(parts)


def _decrypt_block(view: memoryview, at: int, key: bytes, mode: str) -> tuple[bytes, int]:
    tag_size = _TAG if mode == "AES-GCM" else 0
    text_at = at + 4 + tag_size + 8 + _NONCE + 4
    if text_at > len(view):
        raise WrongKeyError("an encrypted block is cut short")
    magic = _U32.unpack_from(view, at)[0]
    rest, nonce_size = struct.unpack_from("<II", view, at + 4 + tag_size)
    nonce = bytes(view[text_at - 4 - _NONCE : text_at - 4])
    size = _U32.unpack_from(view, text_at - 4)[0]
    if magic != (_GCM_MAGIC if tag_size else _CBC_MAGIC) or nonce_size != _NONCE or rest != 8 + _NONCE + size:
        raise WrongKeyError(f"this is no {mode} block")
    if size > len(view) - text_at:
        raise WrongKeyError("an encrypted block is cut short")
    text = view[text_at : text_at + size]
    if tag_size:
        return _open_gcm(key, nonce, text, bytes(view[at + 4 : at + 4 + _TAG])), text_at + size
    return _open_cbc(key, nonce, text), text_at + size


def _open_gcm(key: bytes, nonce: bytes, text: memoryview, tag: bytes) -> bytes:
    invalid = require("cryptography.exceptions", "train", "An encrypted file").InvalidTag
    try:
        return _gcm(key).decrypt(nonce[:_GCM_NONCE], bytes(text) + tag, None)
    except invalid:
        raise WrongKeyError("the key is wrong or the file was altered") from None


def _open_cbc(key: bytes, nonce: bytes, text: memoryview) -> bytes:
    if not text or len(text) % _UNIT:
        raise WrongKeyError("an AES-CBC block must fill whole 16-byte units")
    context = _cbc(key, nonce).decryptor()
    plain = context.update(text) + context.finalize()
    padding = plain[-1]
    if not 1 <= padding <= _UNIT or plain[-padding:] != bytes((padding,)) * padding:
        raise WrongKeyError("the key is wrong or the file was altered")
    return plain[:-padding]


def _gcm(key: bytes) -> Any:
    return require("cryptography.hazmat.primitives.ciphers.aead", "train", "An encrypted file").AESGCM(key)


def _cbc(key: bytes, nonce: bytes) -> Any:
    ciphers = require("cryptography.hazmat.primitives.ciphers", "train", "An encrypted file")
    algorithms = require("cryptography.hazmat.primitives.ciphers.algorithms", "train", "An encrypted file")
    modes = require("cryptography.hazmat.primitives.ciphers.modes", "train", "An encrypted file")
    return ciphers.Cipher(algorithms.AES(key), modes.CBC(nonce))
