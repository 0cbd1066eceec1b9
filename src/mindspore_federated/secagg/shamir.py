"""Shamir's secret sharing ("How to share a secret", 1979) over the Mersenne prime 2**521 - 1."""
from __future__ import annotations

import secrets
from collections.abc import Mapping

PRIME = 2 ** 521 - 1
SHARE_BYTES = 66


def split(secret: bytes, points: list[int], threshold: int) -> dict[int, bytes]:
    """A share for each point (above 0); any `threshold` of them give the secret, fewer give nothing."""
    if not 1 <= threshold <= len(points):
        raise ValueError(f"the threshold should be in [1, {len(points)}], but got {threshold}")
    coefficients = [int.from_bytes(secret, "big"), *(secrets.randbelow(PRIME) for _ in range(threshold - 1))]
    shares = {}
    for point in points:
        value = 0
        for coefficient in reversed(coefficients):
            value = (value * point + coefficient) % PRIME
        shares[point] = value.to_bytes(SHARE_BYTES, "big")
    return shares


def join(shares: Mapping[int, bytes], threshold: int, size: int) -> bytes:
    """The secret of `size` bytes from its shares, by Lagrange interpolation at zero."""
    if len(shares) < threshold:
        raise ValueError(f"{threshold} shares are needed, there are {len(shares)}")
    chosen = sorted(shares)[:threshold]
    above, below = [], []
    for point in chosen:
        numerator, denominator = 1, 1
        for other in chosen:
            if other != point:
                numerator = numerator * -other % PRIME
                denominator = denominator * (point - other) % PRIME
        above.append(numerator)
        below.append(denominator)
    total = sum(int.from_bytes(shares[point], "big") * numerator * inverse
                for point, numerator, inverse in zip(chosen, above, _inverses(below)))
    secret = total % PRIME
    if secret >> (8 * size):
        raise ValueError("the shares do not belong together")
    return secret.to_bytes(size, "big")


def _inverses(values: list[int]) -> list[int]:
    """The inverses of all values by a single inversion (Montgomery's trick)."""
    prefixes = [1]
    for value in values:
        prefixes.append(prefixes[-1] * value % PRIME)
    rest = pow(prefixes[-1], -1, PRIME)
    result = []
    for value, prefix in zip(reversed(values), reversed(prefixes[:-1])):
        result.append(rest * prefix % PRIME)
        rest = rest * value % PRIME
    return result[::-1]
