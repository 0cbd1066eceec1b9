"""Pairwise masking with recovery from dropouts.

Bonawitz et al., "Practical Secure Aggregation for Privacy-Preserving Machine Learning", CCS 2017, and with `neighbours`
Bell et al., "Secure Single-Server Aggregation with (Poly)Logarithmic Overhead" (SecAgg+), CCS 2020.

    1 advertise   each client sends two X25519 public keys: one for masks, one for encryption
    2 share       it splits its mask key and the seed of its own mask into Shamir shares, one for each neighbour,
                  encrypted for that neighbour, and the server carries them
    3 mask        it uploads x + mask(own seed) + sum over neighbours of +-mask(common secret), modulo 2**32; the two ends
                  of a pair use opposite signs
    4 unmask      for neighbours that uploaded, it gives its share of their seed; for those that vanished after step 2,
                  its share of their mask key; never both for one client

Masks are AES-128-CTR key streams. The sum of the clients that uploaded comes out exact, whoever vanished and when, as long
as each of them has `threshold` neighbours left.
"""
from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from mindspore_federated.secagg.ring import Ring
from mindspore_federated.secagg.shamir import SHARE_BYTES, join, split

_SECRET = 32
_NONCE = 12
_BLOCK = 1 << 15                                 # values of a key stream that are made at once
_ZEROS = memoryview(bytes(4 * _BLOCK))
PublicKeys = tuple[bytes, bytes]                 # for masks, for encryption


def _derive(secret: bytes, purpose: bytes, size: int = 16) -> bytes:
    return HKDF(hashes.SHA256(), size, None, purpose).derive(secret)


def add_mask(total: Ring, secret: bytes, sign: int) -> None:
    """Add or take away the key stream of `secret`, in place."""
    cipher = Cipher(algorithms.AES(_derive(secret, b"mask")), modes.CTR(bytes(16))).encryptor()
    combine = np.add if sign > 0 else np.subtract
    buffer = bytearray(4 * _BLOCK + 16)                     # the cipher may ask for a block more
    stream = np.frombuffer(buffer, np.uint32, _BLOCK)
    for at in range(0, total.size, _BLOCK):                 # piece by piece: the key stream stays in the cache
        part = total[at:at + _BLOCK]
        cipher.update_into(_ZEROS[:part.nbytes], buffer)
        combine(part, stream[:part.size], out=part)


def _public(key: X25519PrivateKey) -> bytes:
    return key.public_key().public_bytes_raw()


def _agree(key: X25519PrivateKey, other: bytes) -> bytes:
    return key.exchange(X25519PublicKey.from_public_bytes(other))


class SecureAggregation:
    """What all know: the clients (numbered from 1), who is whose neighbour, how many shares are needed."""

    def __init__(self, clients: Iterable[int], *, threshold: int | None = None, neighbours: int | None = None,
                 seed: int | None = None, order: Sequence[int] | None = None) -> None:
        self.clients = sorted(set(clients))
        if len(self.clients) < 2 or self.clients[0] < 1:
            raise ValueError("secure aggregation needs at least two clients, numbered from 1")
        self.degree = min(neighbours or len(self.clients) - 1, len(self.clients) - 1)
        self.threshold = threshold if threshold is not None else self.degree // 2 + 1
        if not 1 <= self.threshold <= self.degree:
            raise ValueError(f"threshold should be in [1, {self.degree}], but got {self.threshold}")
        self._order = list(order) if order is not None else np.random.default_rng(seed).permutation(self.clients).tolist()
        self._place = {client: place for place, client in enumerate(self._order)}

    def neighbours(self, client: int) -> list[int]:
        """The clients that a client shares masks and secrets with: the nearest in a random circle."""
        count, place = len(self._order), self._place[client]
        if self.degree == count - 1:
            return [other for other in self.clients if other != client]
        half, rest = divmod(self.degree, 2)
        steps = [*range(1, half + 1), *(-step for step in range(1, half + 1))]
        if rest and count % 2 == 0:
            steps.append(count // 2)
        return sorted({self._order[(place + step) % count] for step in steps})


class ClientKeys:
    """A client's two key pairs, made before it knows who else takes part."""

    def __init__(self) -> None:
        self.mask = X25519PrivateKey.generate()
        self.box = X25519PrivateKey.generate()

    def public(self) -> PublicKeys:
        """What the others may know."""
        return _public(self.mask), _public(self.box)


class SecureClient:
    """One client's part."""

    def __init__(self, client: int, plan: SecureAggregation, keys: ClientKeys | None = None) -> None:
        self.client = client
        self._plan = plan
        self._own = keys or ClientKeys()
        self._mask_key, self._box_key = self._own.mask, self._own.box
        self._seed = secrets.token_bytes(_SECRET)
        self._keys: dict[int, PublicKeys] = {}
        self._shares: dict[int, tuple[bytes, bytes]] = {}
        self._unmasked = False

    def advertise(self) -> PublicKeys:
        """Step 1."""
        return self._own.public()

    def share(self, keys: Mapping[int, PublicKeys]) -> dict[int, bytes]:
        """Step 2: an encrypted share for each neighbour that advertised keys."""
        self._keys = {one: keys[one] for one in self._plan.neighbours(self.client) if one in keys}
        if len(self._keys) < self._plan.threshold:
            raise ValueError(f"client {self.client} has {len(self._keys)} neighbours, {self._plan.threshold} are needed")
        seeds = split(self._seed, list(self._keys), self._plan.threshold)
        masks = split(self._mask_key.private_bytes_raw(), list(self._keys), self._plan.threshold)
        return {one: self._seal(one, seeds[one] + masks[one]) for one in self._keys}

    def mask(self, vector: Ring, sealed: Mapping[int, bytes]) -> Ring:
        """Step 3: the vector under its masks. `sealed`: what neighbours sent to this client in step 2."""
        masked = np.array(vector, np.uint32)
        for other, box in sealed.items():
            plain = self._open(other, box)
            self._shares[other] = plain[:SHARE_BYTES], plain[SHARE_BYTES:]
        if len(self._shares) < self._plan.threshold:
            raise ValueError(f"client {self.client} got {len(self._shares)} shares, {self._plan.threshold} are needed")
        add_mask(masked, self._seed, 1)
        for other in self._shares:
            add_mask(masked, _agree(self._mask_key, self._keys[other][0]), 1 if self.client < other else -1)
        return masked

    def mask_stable(self, vector: Ring, keys: Mapping[int, PublicKeys]) -> Ring:
        """The vector under pairwise masks alone: they cancel if all clients with `keys` upload."""
        masked = np.array(vector, np.uint32)
        for other, public in keys.items():
            if other != self.client:
                add_mask(masked, _agree(self._mask_key, public[0]), 1 if self.client < other else -1)
        return masked

    def unmask(self, uploaded: Iterable[int]) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """Step 4, once: shares of the seeds of clients that uploaded, shares of the mask keys of the others."""
        if self._unmasked:
            raise ValueError("shares are given once: a second list could reveal both halves of one client")
        self._unmasked = True
        there = set(uploaded)
        return ({one: pair[0] for one, pair in self._shares.items() if one in there},
                {one: pair[1] for one, pair in self._shares.items() if one not in there})

    def _box(self, other: int) -> AESGCM:
        return AESGCM(_derive(_agree(self._box_key, self._keys[other][1]), b"share"))

    def _seal(self, other: int, plain: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._box(other).encrypt(nonce, plain, f"{self.client}>{other}".encode())

    def _open(self, other: int, box: bytes) -> bytes:
        if other not in self._keys:
            raise ValueError(f"client {other} is no neighbour of {self.client}")
        try:
            plain = self._box(other).decrypt(box[:_NONCE], box[_NONCE:], f"{other}>{self.client}".encode())
        except InvalidTag:
            raise ValueError(f"the share from client {other} was changed on its way") from None
        if len(plain) != 2 * SHARE_BYTES:
            raise ValueError(f"the share from client {other} has a wrong size")
        return plain


@dataclass
class SecureSum:
    """The server's part: it adds masked vectors and takes the masks off the sum."""
    plan: SecureAggregation
    size: int
    keys: dict[int, PublicKeys] = field(default_factory=dict)
    sharers: set[int] = field(default_factory=set)
    uploaded: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._total: Ring = np.zeros(self.size, np.uint32)
        self._seeds: dict[int, dict[int, bytes]] = {}
        self._masks: dict[int, dict[int, bytes]] = {}

    def add(self, client: int, masked: Ring) -> None:
        """Step 3: an upload."""
        if client not in self.sharers or client in self.uploaded or masked.size != self.size:
            raise ValueError(f"an upload of {masked.size} values from client {client} is not expected")
        np.add(self._total, masked, out=self._total)
        self.uploaded.add(client)

    def add_total(self, clients: Iterable[int], total: Ring) -> None:
        """Step 3: the sum of several uploads, which another server added."""
        both = self.uploaded.intersection(clients)
        if both or total.size != self.size:
            raise ValueError(f"a sum of {total.size} values with clients {sorted(both)} again is not expected")
        np.add(self._total, total, out=self._total)
        self.uploaded.update(clients)

    def add_shares(self, client: int, seeds: Mapping[int, bytes], masks: Mapping[int, bytes]) -> None:
        """Step 4: the shares of one client."""
        for owner, share in seeds.items():
            self._seeds.setdefault(owner, {})[client] = share
        for owner, share in masks.items():
            self._masks.setdefault(owner, {})[client] = share

    def missing(self) -> list[int]:
        """Clients of whose secrets too few shares are here."""
        wanted = [(client, self._seeds) for client in self.uploaded]
        wanted += [(gone, self._masks) for gone in self.sharers - self.uploaded
                   if not self.uploaded.isdisjoint(self.plan.neighbours(gone))]
        return sorted(client for client, shares in wanted if len(shares.get(client, {})) < self.plan.threshold)

    def result(self) -> Ring:
        """The sum over the clients that uploaded."""
        total = self._total.copy()
        for client in self.uploaded:
            add_mask(total, join(self._seeds.get(client, {}), self.plan.threshold, _SECRET), -1)
        for gone in self.sharers - self.uploaded:
            left = [one for one in self.plan.neighbours(gone) if one in self.uploaded]
            if left:
                key = X25519PrivateKey.from_private_bytes(join(self._masks.get(gone, {}), self.plan.threshold, _SECRET))
                for one in left:
                    add_mask(total, _agree(key, self.keys[one][0]), -1 if one < gone else 1)
        return total


def secure_sum(vectors: Mapping[int, Ring], *, threshold: int | None = None, neighbours: int | None = None,
               seed: int | None = None, drops: Callable[[int, str], bool] = lambda client, stage: False
               ) -> tuple[Ring, list[int]]:
    """The whole protocol in one process: the sum, and whose vectors are in it.

    `drops(client, stage)` says whether a client vanishes before "advertise", "share", "mask" or "unmask".
    """
    plan = SecureAggregation(vectors, threshold=threshold, neighbours=neighbours, seed=seed)
    server = SecureSum(plan, len(next(iter(vectors.values()))))
    clients = {one: SecureClient(one, plan) for one in plan.clients}

    def present(stage: str) -> dict[int, SecureClient]:
        for one in [one for one in clients if drops(one, stage)]:
            del clients[one]
        return clients

    server.keys = {one: client.advertise() for one, client in present("advertise").items()}
    boxes = {one: client.share(server.keys) for one, client in present("share").items()}
    server.sharers = set(boxes)
    for one, client in present("mask").items():
        mine = {other: sent[one] for other, sent in boxes.items() if one in sent}
        server.add(one, client.mask(vectors[one], mine))
    for one, client in present("unmask").items():
        server.add_shares(one, *client.unmask(server.uploaded))
    return server.result(), sorted(server.uploaded)
