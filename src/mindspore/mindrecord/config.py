"""Settings of MindRecord: the key and the modes with which files are encrypted and decrypted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["set_dec_mode", "set_enc_key", "set_enc_mode"]

Mode = str | Callable[..., Any]
_MODES = ("AES-GCM",)
_KEY_LENGTHS = (16, 24, 32)


@dataclass
class _Settings:
    key: str | None = None
    enc_mode: Mode = "AES-GCM"
    dec_mode: Mode | None = None


_settings = _Settings()


def set_enc_key(enc_key: str | None) -> None:
    """Set the key that files are written and read with; None turns encryption off.

    Args:
        enc_key: 16, 24 or 32 characters, or None.

    Raises:
        ValueError: if it is not such a string.

    Examples:
        >>> from mindspore.mindrecord import set_enc_key
        >>> set_enc_key("0123456789012345")
        >>> set_enc_key(None)
    """
    if enc_key is not None:
        if not isinstance(enc_key, str):
            raise ValueError("The input enc_key is not str.")
        if len(enc_key) not in _KEY_LENGTHS:
            raise ValueError("The length of input enc_key is not 16, 24, 32.")
    _settings.key = enc_key


def set_enc_mode(enc_mode: Mode = "AES-GCM") -> None:
    """Set how files are encrypted.

    Args:
        enc_mode: "AES-GCM", or your own function `(source, size, target, key)` that reads `size` bytes from the binary
            file `source` and writes their encrypted form to the binary file `target`.

    Raises:
        ValueError: if it is neither.
    """
    _settings.enc_mode = _checked(enc_mode, "enc_mode")


def set_dec_mode(dec_mode: Mode | None = "AES-GCM") -> None:
    """Set how files are decrypted. Needed only for files encrypted with your own function.

    Args:
        dec_mode: "AES-GCM", your own function like that of `set_enc_mode`, or None for the mode of `set_enc_mode`.

    Raises:
        ValueError: if it is none of these.
    """
    _settings.dec_mode = None if dec_mode is None else _checked(dec_mode, "dec_mode")


def _checked(mode: Any, name: str) -> Mode:
    if callable(mode):
        return mode
    if not isinstance(mode, str):
        raise ValueError(f"The input {name} is not str.")
    if mode not in _MODES:
        raise ValueError(f"The input {name} is invalid. It should be one of {', '.join(_MODES)}, or a function.")
    return mode


def _get_enc_key() -> str | None:
    return _settings.key


def _get_enc_mode() -> Mode:
    return _settings.enc_mode


def _get_dec_mode() -> Mode:
    if _settings.dec_mode is not None:
        return _settings.dec_mode
    if callable(_settings.enc_mode):
        raise RuntimeError("You use custom encryption, so you must also define custom decryption.")
    return _settings.enc_mode
