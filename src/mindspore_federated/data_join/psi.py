"""Private set intersection by Diffie-Hellman (Meadows 1986; Huberman et al. 1999) on Curve25519.

A key k becomes the point H(k). A party with secret a sends a.H(k) for its keys, the other one multiplies by its secret b
and sends back a.b.H(k) in the same order; a.b = b.a, so both sides compare doubly blinded points. Each party learns which
of its keys are common, and how many keys the other one has; nothing about the others' keys as long as the decisional
Diffie-Hellman problem is hard. Parties that answer with made-up points can spoil the result but learn nothing more.
"""
from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

_SIZE = 32


class Link(Protocol):
    """How the parties talk."""

    def send_message(self, target_server_name: str, values: Any) -> None:
        """Send to the other party."""

    def receive_message(self, target_server_name: str) -> Any:
        """Receive from the other party."""


def private_intersection(link: Link, peer: str, keys: list[str], threads: int = 1, bucket: int = 0) -> list[str]:
    """The keys that both parties have, sorted: both see the same list."""
    multiply = _multiplier(threads)
    hashed = [hashlib.sha256(b"psi:" + key.encode()).digest() for key in keys]
    theirs = _points(_exchange(link, peer, bucket, _text(multiply(hashed))))
    twice_theirs = multiply(theirs)
    twice_mine = _points(_exchange(link, peer, bucket, _text(twice_theirs)))
    if len(twice_mine) != len(keys):
        raise ValueError(f"the other party answered {len(twice_mine)} points for {len(keys)} keys")
    common = set(twice_theirs)
    return sorted(key for key, point in zip(keys, twice_mine) if point in common)


def plain_intersection(link: Link, peer: str, keys: list[str], bucket: int = 0) -> list[str]:
    """The same without protection: the parties show each other their keys."""
    return sorted(set(keys) & set(_exchange(link, peer, bucket, keys)))


def _exchange(link: Link, peer: str, bucket: int, values: Any) -> Any:
    """Send, receive, and see that the other party is at the same bucket."""
    link.send_message(peer, {"bucket": bucket, "values": values})
    answer = link.receive_message(peer)
    if not isinstance(answer, dict) or answer.get("bucket") != bucket:
        there = answer.get("bucket") if isinstance(answer, dict) else None
        raise ValueError(f"'{peer}' joins bucket {there}, but this party joins bucket {bucket}")
    return answer["values"]


def _multiplier(threads: int) -> Callable[[list[bytes]], list[bytes]]:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    secret = X25519PrivateKey.from_private_bytes(secrets.token_bytes(_SIZE))

    def one(point: bytes) -> bytes:
        return secret.exchange(X25519PublicKey.from_public_bytes(point))

    def many(points: list[bytes]) -> list[bytes]:
        with ThreadPoolExecutor(max(1, threads)) as pool:
            return list(pool.map(one, points, chunksize=256))

    return many


def _text(points: list[bytes]) -> str:
    return base64.b64encode(b"".join(points)).decode()


def _points(text: Any) -> list[bytes]:
    try:
        data = base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        raise ValueError("the other party sent no points") from None
    if len(data) % _SIZE:
        raise ValueError("the points of the other party are cut off")
    return [data[at:at + _SIZE] for at in range(0, len(data), _SIZE)]
