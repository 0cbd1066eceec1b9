"""Rounds of masked updates (PW_ENCRYPT): the protocol of `secagg` carried by servers that may be several.

    startFLJob                        places, as in every round
    exchangeKeys    -> getKeys        public keys of each client; the list of clients is fixed when all places brought theirs,
                                      or the cipher time window has passed and enough did
    shareSecrets    -> getSecrets     encrypted shares; the list of sharers is fixed in the same way
    updateModel                       masked vectors, added in the ring by the server that gets them
    getClientList                     whose vectors are in the sums that the servers published
    pushListSign    -> getListSign    with pki_verify: each client signs the list it saw, and sees the others' signatures; a
                                      server that shows clients different lists gets no shares (the consistency check of
                                      Bonawitz et al., section 6)
    reconstructSecrets                shares of these clients' seeds and of the vanished clients' mask keys
    getModel                          the new model

With `encrypt.pw_encrypt.neighbours` a client shares secrets and masks with so many others only (SecAgg+): its nearest in a
circle whose order follows from the list of keys (`secagg.graph.circle`), so that clients and servers agree without asking.

A list is written once and never changes, so all clients and servers see the same. The published sums name their
clients: an upload that came too late for its server's sum counts as vanished, and the result is exact all the same. What
the ring holds is a client's change of the weights, cut to `update_clip`, times its number of samples; with `noise_multiplier` it
is cut to `norm_clip` as a whole and noised (`privacy.distributed_dp`). With `pki_verify` keys
come with the certificates and the signature of their client, which other clients check: a server cannot invent clients.
"""
from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np

from mindspore_federated.common.pki import PkiError, check_signature
from mindspore_federated.privacy.distributed_dp import DistributedDP
from mindspore_federated.secagg import SecureAggregation, SecureSum, from_ring
from mindspore_federated.secagg.graph import circle
from mindspore_federated.secagg.protocol import PublicKeys
from mindspore_federated.secagg.ring import Ring
from mindspore_federated.secagg.shamir import SHARE_BYTES
from mindspore_federated.server.aggregate import moved
from mindspore_federated.server.cluster import Instance
from mindspore_federated.server.features import Arrays
from mindspore_federated.server.rounds import Refused, Rounds
from mindspore_federated.wire.schema import Code

P = ParamSpec("P")
R = TypeVar("R")
_KEY_BYTES = 32
_BOX_BYTES = 12 + 2 * SHARE_BYTES + 16           # nonce, the two shares, tag
SEED, MASK = 0, 1                                # what a share given at the end is of


@dataclass(frozen=True)
class Proof:
    """What shows that public keys are those of a certain client."""
    timestamp: str = ""
    signature: str = ""                          # in hexadecimal digits
    certificates: tuple[str, ...] = ()


class MaskedPartial:
    """The sum of the masked vectors that one server got in one iteration."""

    def __init__(self, size: int) -> None:
        self._lock = threading.Lock()
        self._total: Ring = np.zeros(size, np.uint32)
        self._names: list[str] = []

    @property
    def clients(self) -> int:
        """How many vectors are in it."""
        return len(self._names)

    def add(self, fl_id: str, masked: Ring) -> None:
        """Take in one client's vector."""
        with self._lock:
            np.add(self._total, masked, out=self._total)
            self._names.append(fl_id)

    def pack(self) -> bytes:
        """The sum and its clients, for the server that closes the round."""
        with self._lock:
            head = json.dumps(self._names).encode()
            return len(head).to_bytes(4, "little") + head + self._total.astype("<u4").tobytes()


def unpack_masked(data: bytes) -> tuple[list[str], Ring]:
    """The clients and the sum in the bytes of a `MaskedPartial`."""
    end = 4 + int.from_bytes(data[:4], "little")
    names: list[str] = json.loads(data[4:end])
    return names, np.frombuffer(data, "<u4", offset=end)


def _in_one_round(method: Callable[Concatenate[MaskedRounds, P], R]) -> Callable[Concatenate[MaskedRounds, P], R]:
    """A method during which the round of this server does not change."""
    @wraps(method)
    def locked(self: MaskedRounds, *arguments: P.args, **more: P.kwargs) -> R:
        with self._lock:
            return method(self, *arguments, **more)
    return locked


class MaskedRounds(Rounds):
    """One server's part in the rounds of a job with masked updates."""

    _known_plan: tuple[str, list[str], SecureAggregation] | None = None      # of the round whose list of keys it names
    _given = 0                                              # how many clients had given their shares a moment ago

    @property
    def stages(self) -> tuple[str, ...]:
        """The requests that this kind of masking adds."""
        signed = ("pushListSign", "getListSign") if self.settings.flag("client_verify.pki_verify") else ()
        return ("exchangeKeys", "getKeys", "shareSecrets", "getSecrets", "getClientList", *signed, "reconstructSecrets")

    def _new_partial(self) -> MaskedPartial:
        return MaskedPartial(sum(value.size for value in self.model.values()))

    # ---- what clients ask

    @_in_one_round
    def exchange_keys(self, fl_id: str, iteration: int, keys: PublicKeys, proof: Proof) -> None:
        """Step 1: the public keys of a client that has a place."""
        self._current(iteration)
        if self._get("start", fl_id) is None:
            raise Refused(Code.REQUEST_ERROR, f"devices_meta for {fl_id} is not set: it has no place in the round.")
        if any(len(key) != _KEY_BYTES for key in keys):
            raise Refused(Code.REQUEST_ERROR, f"A public key should have {_KEY_BYTES} bytes, client fl id is {fl_id}")
        if self._list("keys.list") is not None and self._get("keys", fl_id) is None:
            raise Refused(Code.REQUEST_ERROR, f"The keys of {fl_id} came after the list of clients was made.")
        if proof.signature and self._get("keys", fl_id) is None:
            self.store.put_field(self._key("proofs"), fl_id, json.dumps(asdict(proof)).encode())
        self._once("keys", fl_id, keys[0] + keys[1])

    @_in_one_round
    def keys(self, fl_id: str, iteration: int) -> dict[str, tuple[PublicKeys, int, Proof]]:
        """The keys, numbers of samples and proofs of all clients of the round, once the list is made."""
        self._current(iteration)
        names = self._fixed_list("keys.list", "keys", self.settings.whole("round.start_fl_job_threshold"), self._selected())
        self._member(fl_id, names, "keys")
        found, sizes = self._public_keys(), self._sizes()
        proofs = {name: Proof(**json.loads(text)) for name, text in self.store.fields(self._key("proofs")).items()}
        return {name: (found[name], sizes[name], proofs.get(name, Proof())) for name in names}

    @_in_one_round
    def share(self, fl_id: str, iteration: int, boxes: Mapping[str, bytes]) -> None:
        """Step 2: a client's encrypted shares, one for each neighbour."""
        self._current(iteration)
        names = self._list("keys.list") or []
        self._member(fl_id, names, "shares")
        if set(boxes) != self._neighbours(fl_id) or any(len(box) != _BOX_BYTES for box in boxes.values()):
            raise Refused(Code.REQUEST_ERROR, f"A share of {_BOX_BYTES} bytes for each neighbour is expected, client fl id "
                                              f"is {fl_id}")
        if self._list("shares.list") is not None and self._get("shares", fl_id) is None:
            raise Refused(Code.REQUEST_ERROR, f"The shares of {fl_id} came after the list of sharers was made.")
        if self._get("shares", fl_id) is None:              # the first ones count: a client that asks again has the same
            for receiver, box in boxes.items():
                self.store.put_new_field(self._key(f"shares:{receiver}"), fl_id, box)
            self._once("shares", fl_id, b"1")

    @_in_one_round
    def secrets(self, fl_id: str, iteration: int) -> dict[str, bytes]:
        """The shares that others encrypted for a client, once the list of sharers is made."""
        self._current(iteration)
        wanted = len(self._list("keys.list") or []) * self.settings.number("encrypt.pw_encrypt.share_secrets_ratio")
        names = self._fixed_list("shares.list", "shares", -int(-wanted // 1), self._made("keys.list"))
        self._member(fl_id, names, "shares")
        found = self.store.fields(self._key(f"shares:{fl_id}"))
        return {name: found[name] for name in names if name in found}

    @_in_one_round
    def upload(self, fl_id: str, iteration: int, vectors: Mapping[str, Ring]) -> None:
        """Step 3: a masked update, by the names of the weights."""
        self._current(iteration)
        self._member(fl_id, self._uploaders(), "an upload")
        if self._published or self._closed() or self.store.count(self._key("update")) >= self._wanted():
            raise Refused(Code.REQUEST_ERROR, "Current amount for updateModel is enough.")
        sizes = {name: value.size for name, value in vectors.items()}
        expected = {name: value.size for name, value in self.model.items()}
        if sizes != expected:
            raise Refused(Code.REQUEST_ERROR, f"Verify model feature map failed: a masked update has all weights, here "
                                              f"{expected}, but got {sizes}")
        if not self.store.put_new_field(self._key("update"), fl_id, self.node.node_id.encode()):
            raise Refused(Code.REQUEST_ERROR, f"Updating metadata of UpdateModelClientList failed for fl id {fl_id}: it "
                                              "has uploaded already")
        self._masked_partial().add(fl_id, np.concatenate([vectors[name] for name in self.model]))
        self._took_part(time.time() - json.loads(self._get("start", fl_id) or b"[0, 0, 0]")[2])
        if self.store.count(self._key("update")) >= self._wanted():
            self._close()

    @_in_one_round
    def uploaded(self, fl_id: str, iteration: int) -> list[str]:
        """Whose vectors are in the sum, once that is certain."""
        self._current(iteration)
        names = self._list("update.list")
        if names is None:
            raise Refused(Code.NOT_READY, "The list of clients that uploaded is not made yet.")
        self._member(fl_id, names, "the list of clients")
        return names

    @_in_one_round
    def sign_list(self, fl_id: str, iteration: int, signature: bytes) -> None:
        """A client's signature of the list of clients that it saw."""
        self._current(iteration)
        names = self._list("update.list") or []
        self._member(fl_id, names, "signatures")
        try:
            check_signature(self.attested(fl_id, iteration) or "", list_text(names, iteration), signature)
        except PkiError as error:
            raise Refused(Code.REQUEST_ERROR, f"The signature of the list of clients is wrong, client fl id is {fl_id}: "
                                              f"{error}") from None
        self.store.put_new_field(self._key("signs"), fl_id, signature)

    @_in_one_round
    def list_signs(self, fl_id: str, iteration: int) -> dict[str, bytes]:
        """All signatures, once every client gave its own or the time for it has passed."""
        self._current(iteration)
        wanted = len(self._list("update.list") or [])
        names = self._fixed_list("signs.list", "signs", wanted, self._made("update.list"))
        self._member(fl_id, names, "signatures")
        found = self.store.fields(self._key("signs"))
        return {name: found[name] for name in names}

    @_in_one_round
    def reconstruct(self, fl_id: str, iteration: int, shares: Mapping[tuple[str, int], bytes]) -> None:
        """Step 4: shares of others' secrets, by owner and kind."""
        self._current(iteration)
        uploaded, sharers = self._list("update.list") or [], self._list("shares.list") or []
        self._member(fl_id, uploaded, "shares of secrets")
        expected = {(name, SEED if name in uploaded else MASK) for name in self._neighbours(fl_id).intersection(sharers)}
        if set(shares) != expected or any(len(share) != SHARE_BYTES for share in shares.values()):
            raise Refused(Code.REQUEST_ERROR, f"One share of {SHARE_BYTES} bytes for each sharer is expected, client fl id "
                                              f"is {fl_id}")
        self._once("unmask", fl_id, json.dumps([[*key, share.hex()] for key, share in sorted(shares.items())]).encode())

    # ---- the end of a round

    def _aggregate(self, partials: dict[str, bytes]) -> None:
        """All sums are published: make the list of clients, wait for their shares, take the masks off."""
        sums = [unpack_masked(data) for data in partials.values()]
        names = sorted(name for some, _ in sums for name in some)
        self._make_list("update.list", names)
        given = self.store.count(self._key("unmask"))
        threshold = self.settings.whole("encrypt.pw_encrypt.reconstruct_secrets_threshold")
        passed = self._passed(self._made("signs.list" if "getListSign" in self.stages else "update.list"))
        if given <= threshold:                              # an owner's own share is not among those of the others
            if passed:
                self.fail(f"only {given} clients gave their shares, {threshold + 1} are needed")
            return
        if given != self._given and given < len(names) and not passed:
            self._given = given
            return                                          # they are coming just now
        server = self._secure_sum(sums)
        missing = server.missing()
        if missing and not passed:
            return                                          # with few neighbours it matters who gave shares
        try:
            total = server.result()
        except ValueError as error:
            self.fail(f"the masks cannot be taken off: {error}, of {max(1, len(missing))} clients")
            return
        sizes = self._sizes()
        samples = sum(sizes[name] for some, _ in sums for name in some)
        self._publish(moved(self.model, self._average(total, samples), self.settings, self._optimizer), {})

    def _secure_sum(self, sums: list[tuple[list[str], Ring]]) -> SecureSum:
        """The server's part of the protocol with all that has come."""
        names, plan = self._plan()
        number = {name: place for place, name in enumerate(names, 1)}
        server = SecureSum(plan, sum(value.size for value in self.model.values()))
        server.keys = {number[name]: keys for name, keys in self._public_keys().items() if name in number}
        server.sharers = {number[name] for name in self._list("shares.list") or []}
        for some, total in sums:
            server.add_total([number[name] for name in some], total)
        for name, text in self.store.fields(self._key("unmask")).items():
            shares: dict[int, dict[int, bytes]] = {SEED: {}, MASK: {}}
            for owner, kind, share in json.loads(text):
                shares[kind][number[owner]] = bytes.fromhex(share)
            server.add_shares(number[name], shares[SEED], shares[MASK])
        return server

    def _plan(self) -> tuple[list[str], SecureAggregation]:
        """The clients of the round, numbered from 1 in this order, and who shares secrets with whom."""
        key = self._key("keys.list")
        if self._known_plan is None or self._known_plan[0] != key:
            names = self._list("keys.list") or []
            found = self._public_keys()
            keys = {place: found[name] for place, name in enumerate(names, 1)}
            self._known_plan = key, names, SecureAggregation(
                keys, threshold=self.settings.whole("encrypt.pw_encrypt.reconstruct_secrets_threshold"),
                neighbours=self.settings.whole("encrypt.pw_encrypt.neighbours") or None, order=circle(keys))
        return self._known_plan[1:]

    def _public_keys(self) -> dict[str, PublicKeys]:
        return {name: (keys[:_KEY_BYTES], keys[_KEY_BYTES:]) for name, keys in self.store.fields(self._key("keys")).items()}

    def _neighbours(self, fl_id: str) -> set[str]:
        names, plan = self._plan()
        return {names[one - 1] for one in plan.neighbours(names.index(fl_id) + 1)}

    def _average(self, total: Ring, samples: int) -> Arrays:
        sizes = self._sizes()
        whole = sum(sizes[name] for name in self._list("keys.list") or [])
        noised = DistributedDP.of(self.settings)
        clip = self.settings.number("encrypt.pw_encrypt.update_clip") if noised is None else noised.ring_clip(whole)
        change = from_ring(total, clip, whole) / samples
        average, at = {}, 0
        for name, value in self.model.items():
            if name not in self.fixed:
                part = change[at:at + value.size].reshape(value.shape)
                average[name] = (value.astype(np.float64) + part).astype(np.float32)
            at += value.size
        return average

    # ---- lists that are made once

    def _list(self, what: str) -> list[str] | None:
        text = self.store.get(self._key(what))
        return None if text is None else list(json.loads(text)["clients"])

    def _made(self, what: str) -> float:
        text = self.store.get(self._key(what))
        return float(json.loads(text)["at"]) if text is not None else time.time()

    def _make_list(self, what: str, names: list[str]) -> None:
        self.store.put_new(self._key(what), json.dumps({"at": time.time(), "clients": names}).encode())

    def _fixed_list(self, what: str, source: str, wanted: int, since: float) -> list[str]:
        found = self._list(what)
        if found is not None:
            return found
        there = self.store.count(self._key(source))
        least = self.settings.whole("encrypt.pw_encrypt.reconstruct_secrets_threshold") + 1
        if there < wanted and not (there >= least and self._passed(since)):
            raise Refused(Code.NOT_READY, f"{there} of {wanted} clients have sent their {source}.")
        self._make_list(what, sorted(self.store.fields(self._key(source))))
        return self._list(what) or []

    def _selected(self) -> float:
        text = self.store.get(self._key("selected"))
        return float(text) if text is not None else time.time()

    def _passed(self, since: float) -> bool:
        return (time.time() - since) * 1000 > self.settings.whole("encrypt.pw_encrypt.cipher_time_window")

    # ---- small things

    def _masked_partial(self) -> MaskedPartial:
        assert isinstance(self._partial, MaskedPartial)
        return self._partial

    def _uploaders(self) -> list[str]:
        """Who may upload."""
        return self._list("shares.list") or []

    def _sizes(self) -> dict[str, int]:
        """The numbers of samples of all clients that have a place; under noise everybody counts the same."""
        same = DistributedDP.of(self.settings) is not None
        return {name: 1 if same else int(json.loads(entry)[0]) for name, entry in self.store.fields(self._key("start")).items()}

    def _current(self, iteration: int) -> None:
        self.refresh()
        if iteration != self.instance.iteration:
            raise Refused(Code.REQUEST_ERROR, f"The iteration number is invalid:{iteration}, current iteration:"
                                              f"{self.instance.iteration}")

    @staticmethod
    def _member(fl_id: str, names: list[str], what: str) -> None:
        if fl_id not in names:
            raise Refused(Code.REQUEST_ERROR, f"{fl_id} is none of the {len(names)} clients that {what} are for.")

    def _once(self, what: str, fl_id: str, value: bytes) -> None:
        """Write a client's field; to write the same again is no error, to change it is one."""
        if not self.store.put_new_field(self._key(what), fl_id, value) and self._get(what, fl_id) != value:
            raise Refused(Code.REQUEST_ERROR, f"{fl_id} has sent other {what} already.")

    def _forget(self, moved_on: Instance, iteration: int) -> None:
        names = self.store.fields(self.cluster.round_key(moved_on, iteration, "keys"))
        lists = ["keys.list", "shares.list", "update.list", "signs.list", "signs", "proofs", *(f"shares:{name}" for name in names)]
        self.store.delete(*(self.cluster.round_key(moved_on, iteration, what) for what in lists))
        super()._forget(moved_on, iteration)


def list_text(names: list[str], iteration: int) -> bytes:
    """What a client signs of a list of clients."""
    return "\n".join([str(iteration), *sorted(names)]).encode()
