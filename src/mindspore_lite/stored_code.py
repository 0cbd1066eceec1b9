"""Machine code in a model file: what LLVM made at conversion is not made again at load.

    section "code" = signature (32 bytes) · length of the index (8 bytes) · index (JSON: key -> [offset, size]) · objects

A key is the hash of a kernel's text, the CPU with its features and LLVM's version, so on another CPU nothing is found and kernels
are compiled as before. Code from a file is run, and files come from anywhere: it is used only if it is signed (HMAC-SHA-256) with
the secret of the user who loads it. The secret is made at the first conversion, in a file that nobody else may read;
`MS_LITE_CODE_SECRET` names another file, for devices that are to trust one machine's conversions.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from mindspore_lite.container import as_json

_SIGNATURE, _LENGTH = 32, 8


def _place() -> Path:
    named = os.environ.get("MS_LITE_CODE_SECRET")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "mindspore" / "lite_code_secret"


def _secret(make: bool) -> bytes | None:
    """The user's secret; None where there is none, or where others could have read or written it."""
    place = _place()
    try:
        if make and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as stream:
                stream.write(secrets.token_bytes(32))
        with open(place, "rb") as stream:
            found = os.fstat(stream.fileno())
            content = stream.read(1024)
    except OSError:
        return None
    private = found.st_uid in (os.geteuid(), 0) and not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return content if private and len(content) >= 32 else None


def signed(content: bytes) -> bytes | None:
    """Content behind its signature; None where this user cannot sign."""
    secret = _secret(make=True)
    return None if secret is None else hmac.new(secret, content, hashlib.sha256).digest() + content


def verified(section: memoryview) -> memoryview | None:
    """The content of a section that this user has signed; None of any other."""
    secret = _secret(make=False)
    signature, content = bytes(section[:_SIGNATURE]), section[_SIGNATURE:]
    if secret is None or not hmac.compare_digest(hmac.new(secret, content, hashlib.sha256).digest(), signature):
        return None
    return content


def pack(objects: Mapping[str, bytes]) -> bytes | None:
    """The section for objects by key; None where it could not be signed."""
    if not objects:
        return None
    index, at = {}, 0
    for key, body in objects.items():
        index[key] = [at, len(body)]
        at += len(body)
    table = as_json(index)
    return signed(len(table).to_bytes(_LENGTH, "little") + table + b"".join(objects.values()))


def unpack(section: memoryview) -> dict[str, bytes]:
    """The objects by key; none unless this user has signed them."""
    found = verified(section)
    if found is None:
        return {}
    content = bytes(found)
    size = int.from_bytes(content[:_LENGTH], "little")
    start = _LENGTH + size
    index = json.loads(content[_LENGTH:start])
    return {key: content[start + at : start + at + count] for key, (at, count) in index.items()}
