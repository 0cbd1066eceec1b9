"""The two ends of a connection show each other that they know the secret of the group, before anything else is read.

    worker ── nonce ──▶ agent ── nonce, proof ──▶ worker ── proof ──▶ agent

A proof is the HMAC (RFC 2104, SHA-256) of who gives it and both nonces: it is of no use for another connection or to the other side. The
secret does not travel. What follows is not encrypted. Without a secret (an empty one) everybody is let in.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

_NONCE, _PROOF = 32, 32
#: seconds in which the other side must have answered
_PATIENCE = 10.0


class Stranger(ConnectionError):
    """The other side does not know the secret."""


def admit(connection: socket.socket, secret: str) -> None:
    """The worker's side; Stranger unless the other one knows the secret."""
    with _in_time(connection):
        mine = os.urandom(_NONCE)
        connection.sendall(mine)
        theirs, proof = _read(connection, _NONCE), _read(connection, _PROOF)
        if not hmac.compare_digest(proof, _proof(secret, b"agent", mine, theirs)):
            raise Stranger("an agent without the group's secret was turned away")
        connection.sendall(_proof(secret, b"worker", mine, theirs))


def introduce(connection: socket.socket, secret: str) -> None:
    """The agent's side; Stranger if the worker turns it away, or does not know the secret itself."""
    with _in_time(connection):
        theirs, mine = _read(connection, _NONCE), os.urandom(_NONCE)
        connection.sendall(mine + _proof(secret, b"agent", theirs, mine))
        if not hmac.compare_digest(_read(connection, _PROOF), _proof(secret, b"worker", theirs, mine)):
            raise Stranger("the worker does not know the group's secret")


@contextmanager
def _in_time(connection: socket.socket) -> Iterator[None]:
    connection.settimeout(_PATIENCE)
    try:
        yield
    except OSError as error:
        raise error if isinstance(error, Stranger) else Stranger(f"no introduction: {error}") from None
    connection.settimeout(None)


def _proof(secret: str, who: bytes, asked: bytes, answered: bytes) -> bytes:
    return hmac.digest(secret.encode(), who + asked + answered, hashlib.sha256)


def _read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise Stranger("turned away: the group's secret is another one")
        data += part
    return data


__all__ = ["Stranger", "admit", "introduce"]
