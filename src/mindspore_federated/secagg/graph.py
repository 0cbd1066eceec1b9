"""Who is whose neighbour, and how many neighbours a client needs (Bell et al., CCS 2020, section 4).

In a circle of `clients` clients in random order, each tied to its k nearest, a client's neighbours are a random sample of
the others. Two things may go wrong: so many of them collude with the server that they hold `threshold` shares of a secret,
or so few stay that a secret cannot be put together. Both numbers are hypergeometric. The smallest k is taken for which some
threshold keeps the first below 2^-40 and the second below 2^-20, for all clients together.
"""
from __future__ import annotations

import hashlib
from collections.abc import Mapping
from math import ceil, exp, lgamma

_SECURITY, _CORRECTNESS = 2.0 ** -40, 2.0 ** -20


def circle(keys: Mapping[int, tuple[bytes, bytes]]) -> list[int]:
    """The clients in the order of the circle, from everybody's public keys.

    Each client computes it for itself. A place depends on the keys of all: no client can choose its neighbours, nor can a server
    that has to show every client the same keys.
    """
    together = hashlib.sha256(b"".join(keys[one][0] + keys[one][1] for one in sorted(keys))).digest()
    return sorted(keys, key=lambda one: hashlib.sha256(together + keys[one][0] + keys[one][1]).digest())


def recommended(clients: int, *, dropout: float = 0.3, corrupt: float = 0.1) -> tuple[int, int]:
    """Neighbours and threshold for a share of clients that vanish and a share that collude with the server."""
    if clients < 2 or not 0 <= dropout < 1 or not 0 <= corrupt < 1:
        raise ValueError("clients should be at least 2, dropout and corrupt in [0, 1), but got "
                         f"{clients}, {dropout}, {corrupt}")
    others, bad, stay = clients - 1, ceil(corrupt * clients), int((1 - dropout) * clients) - 1
    for neighbours in range(4, others, 2):
        colluding = _tail(others, bad, neighbours)
        staying = _tail(others, stay, neighbours)
        for threshold in range(1, neighbours + 1):
            if clients * colluding[threshold] <= _SECURITY and clients * (1 - staying[threshold]) <= _CORRECTNESS:
                return neighbours, threshold
    threshold = bad + 1                                     # everybody: neither number is a matter of chance
    if threshold > stay:
        raise ValueError(f"{clients} clients of which {dropout:.0%} vanish and {corrupt:.0%} collude have no safe threshold")
    return others, threshold


def _tail(population: int, marked: int, sample: int) -> list[float]:
    """P(at least t marked ones in the sample) for t = 0 .. sample."""
    def choose(n: int, k: int) -> float:
        return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)

    odds = [exp(choose(marked, t) + choose(population - marked, sample - t) - choose(population, sample))
            if t <= marked and sample - t <= population - marked else 0.0 for t in range(sample + 1)]
    tails, total = [0.0] * (sample + 1), 0.0
    for t in range(sample, -1, -1):
        total += odds[t]
        tails[t] = total
    return tails
