"""Encrypted blocks as official MindSpore lays them out. The numbers are 32-bit little-endian.

    AES-GCM: magic 0x7F3A5ED8, 16-byte tag, length of the rest, length of the nonce, nonce, length of the text, text
    AES-CBC: magic 0x7F3A5ED9,              length of the rest, length of the nonce, nonce, length of the text, text
    SM4-CBC: magic 0x7F3A5EDA,              as AES-CBC

Every block has a fresh random nonce. Of its 16 bytes GCM uses the first 12, which is safe for 2³² blocks per key. CBC
text is padded to whole 16-byte units (PKCS #7); it is not authenticated, so prefer GCM.
"""

from __future__ import annotations

import os
import struct
from typing import Any

from mindspore._base.optional import require

#: by mode: the first number of a block, and the bytes a key may have
_MAGIC = {"AES-GCM": 0x7F3A5ED8, "AES-CBC": 0x7F3A5ED9, "SM4-CBC": 0x7F3A5EDA}
_KEY_SIZES = {"AES-GCM": (16, 24, 32), "AES-CBC": (16, 24, 32), "SM4-CBC": (16,)}
MODES = tuple(_MAGIC)
#: the most bytes that go into one block
BLOCK = 64 << 20
_U32 = struct.Struct("<I")
_NONCE, _GCM_NONCE, _TAG, _UNIT = 16, 12, 16, 16


class WrongKeyError(ValueError):
    """The key does not fit, or the data was altered."""


def is_encrypted(head: bytes | memoryview) -> bool:
    """Whether these are the first bytes of an encrypted block."""
    return len(head) >= 4 and _U32.unpack_from(head)[0] in _MAGIC.values()


def check_key_size(owner: str, name: str, key: bytes, mode: str) -> None:
    """ValueError unless the mode takes keys of this size."""
    sizes = _KEY_SIZES[mode]
    if len(key) not in sizes:
        allowed = " or ".join(filter(None, (", ".join(map(str, sizes[:-1])), str(sizes[-1]))))
        raise ValueError(f"For '{owner}', '{name}' must have {allowed} bytes for {mode}, but got {len(key)}.")


def encrypt_block(data: bytes | memoryview, key: bytes, mode: str = "AES-GCM") -> bytes:
    """One block."""
    nonce = os.urandom(_NONCE)
    if mode == "AES-GCM":
        sealed = _gcm(key).encrypt(nonce[:_GCM_NONCE], data, None)
        text, tag = sealed[:-_TAG], sealed[-_TAG:]
    else:
        padding = _UNIT - len(data) % _UNIT
        context = _cbc(key, nonce, mode).encryptor()
        text = context.update(data) + context.update(bytes((padding,)) * padding) + context.finalize()
        tag = b""
    return b"".join((_U32.pack(_MAGIC[mode]), tag, _U32.pack(8 + _NONCE + len(text)), _U32.pack(_NONCE), nonce, _U32.pack(len(text)), text))


def decrypt_block(view: memoryview, at: int, key: bytes, mode: str = "AES-GCM") -> tuple[bytes, int]:
    """The content of the block at `at`, and where it ends; WrongKeyError when a byte of it or the key is wrong."""
    tag_size = _TAG if mode == "AES-GCM" else 0
    text_at = at + 4 + tag_size + 8 + _NONCE + 4
    if text_at > len(view):
        raise WrongKeyError("an encrypted block is cut short")
    magic = _U32.unpack_from(view, at)[0]
    rest, nonce_size = struct.unpack_from("<II", view, at + 4 + tag_size)
    nonce = bytes(view[text_at - 4 - _NONCE : text_at - 4])
    size = _U32.unpack_from(view, text_at - 4)[0]
    if magic != _MAGIC[mode] or nonce_size != _NONCE or rest != 8 + _NONCE + size:
        raise WrongKeyError(f"this is no {mode} block")
    if size > len(view) - text_at:
        raise WrongKeyError("an encrypted block is cut short")
    text = view[text_at : text_at + size]
    if tag_size:
        return _open_gcm(key, nonce, text, bytes(view[at + 4 : at + 4 + _TAG])), text_at + size
    return _open_cbc(key, nonce, text, mode), text_at + size


def _open_gcm(key: bytes, nonce: bytes, text: memoryview, tag: bytes) -> bytes:
    invalid = require("cryptography.exceptions", "train", "An encrypted file").InvalidTag
    try:
        return _gcm(key).decrypt(nonce[:_GCM_NONCE], bytes(text) + tag, None)
    except invalid:
        raise WrongKeyError("the key is wrong or the file was altered") from None


def _open_cbc(key: bytes, nonce: bytes, text: memoryview, mode: str) -> bytes:
    if not text or len(text) % _UNIT:
        raise WrongKeyError(f"an {mode} block must fill whole 16-byte units")
    context = _cbc(key, nonce, mode).decryptor()
    plain = context.update(text) + context.finalize()
    padding = plain[-1]
    if not 1 <= padding <= _UNIT or plain[-padding:] != bytes((padding,)) * padding:
        raise WrongKeyError("the key is wrong or the file was altered")
    return plain[:-padding]


def _gcm(key: bytes) -> Any:
    return require("cryptography.hazmat.primitives.ciphers.aead", "train", "An encrypted file").AESGCM(key)


def _cbc(key: bytes, nonce: bytes, mode: str) -> Any:
    ciphers = require("cryptography.hazmat.primitives.ciphers", "train", "An encrypted file")
    algorithms = require("cryptography.hazmat.primitives.ciphers.algorithms", "train", "An encrypted file")
    modes = require("cryptography.hazmat.primitives.ciphers.modes", "train", "An encrypted file")
    algorithm = algorithms.SM4 if mode == "SM4-CBC" else algorithms.AES
    return ciphers.Cipher(algorithm(key), modes.CBC(nonce))
