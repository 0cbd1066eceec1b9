"""FedAvg, and the hooks by which the other algorithms differ from it.

McMahan et al., "Communication-Efficient Learning of Deep Networks from Decentralized Data", AISTATS 2017.

Weights are flat vectors, and many clients are trained at once: `weights[c]` is client c's vector. A round calls

    local_start   where each client starts; `losses` tells what other points would cost it
    direction     turns the gradient of a local step into the direction that is subtracted
    local_end     what the clients send: a vector per client, and how much it counts
    server_step   the new global vector from the weighted mean of what was sent

Where clients are trained in other processes, a copy with what concerns them is lent (`lend`) and taken back (`take_back`).
"""
from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Gradient = Callable[[Floats], Floats]
Losses = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Round:
    """What the hooks know about the clients that are trained at once."""
    ids: Ids                    # which clients
    start: Floats               # the global vector
    sizes: Floats               # samples of each client
    steps: Floats               # local steps of each client
    rate: float                 # local learning rate


class FedAvg:
    """Local SGD from the global vector; the server takes the mean, weighed by the numbers of samples."""

    robust = False              # whether the server has to see each vector

    def prepare(self, size: int, clients: int) -> None:
        """Before the first round: `size` weights, `clients` clients in all."""

    def selection(self, expected: int, poisson: bool) -> None:
        """Before the first round: how many clients a round has, on average (`poisson`) or always."""

    def nobody(self, start: Floats) -> Floats:
        """The global vector after a round that no client answered."""
        return start

    def local_start(self, round: Round, losses: Losses) -> Floats:
        """Where each client starts. `losses` gives the clients' losses at vectors of theirs, on their first batches."""
        return np.repeat(round.start[None], len(round.ids), axis=0)

    def direction(self, weights: Floats, gradient: Floats, round: Round, again: Gradient) -> Floats:
        """The direction of a local step; `again` gives gradients at other points of the same batch."""
        return gradient

    def local_end(self, weights: Floats, round: Round) -> tuple[Floats, Floats]:
        """What clients send, and its weight. `weights` may be used up."""
        return np.subtract(weights, round.start, out=weights), round.sizes

    def server_step(self, start: Floats, mean: Floats, clients: int) -> Floats:
        """The new global vector."""
        return start + mean

    def combine(self, sent: Floats, counts: Floats) -> Floats:
        """The weighted mean; robust algorithms put something else here."""
        mean: Floats = (counts @ sent / counts.sum()).astype(np.float32)
        return mean

    def lend(self, ids: Ids) -> FedAvg:
        """A copy that can train these clients elsewhere, with nothing gathered yet."""
        return copy(self)

    def take_back(self, lent: FedAvg) -> None:
        """Take over what a lent copy has gathered; copies come back in the order of their chunks."""

    def personal(self, client: int, common: Floats) -> Floats:
        """The vector a client uses for itself."""
        return common
