"""A client's part in a masked round: keys, shares, the masked upload, shares of what is to be taken off (PW_ENCRYPT); keys
and the masked upload alone (STABLE_PW_ENCRYPT).

The client trusts the server to carry messages, not with anything else. It refuses lists of clients that are too short,
that lack itself or that hold its keys changed, and gives the shares of one round once. With an identity and an authority
(`client_verify.pki_verify`) it also refuses keys that certified devices did not sign, and lists of uploads that other
clients did not see as well.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mindspore_federated import log
from mindspore_federated.client.connection import Connection, FederatedError, JobFinished
from mindspore_federated.common.pki import Authority, Chain, PkiError, check_signature, name_of, stamp
from mindspore_federated.privacy.distributed_dp import DistributedDP, Spent
from mindspore_federated.secagg import ClientKeys, SecureAggregation, SecureClient, to_ring
from mindspore_federated.secagg.graph import circle
from mindspore_federated.secagg.protocol import PublicKeys
from mindspore_federated.server.features import Arrays
from mindspore_federated.server.masked import list_text
from mindspore_federated.wire.flat import Message

_SEED, _MASK = 0, 1
_LONGEST_WAIT = 0.5              # a stage ends for all at once: who looks seldom comes late to the next


class MaskedUpload:
    """One client's round under masks."""

    def __init__(self, connection: Connection, fl_name: str, fl_id: str, iteration: int, params: Message,
                 wait: float, authority: Authority | None = None, spent: Spent | None = None) -> None:
        self._authority = authority
        self._attested: dict[str, str] = {}                 # the key certificates of the clients
        self._connection, self._fl_name, self._fl_id = connection, fl_name, fl_id
        self._iteration, self._wait = iteration, wait
        self._threshold, self._clip = int(params["t"]), float(params["clip"])
        self._degree = int(params.get("neighbours", 0))
        noise = float(params.get("noise", 0.0))
        self._noised = DistributedDP(noise, float(params["norm_clip"]), int(params["least"])) if noise else None
        self._spent, self._random = spent or Spent(), np.random.default_rng()      # seeded by the system: it protects this client
        self._near: set[int] = set()                        # the neighbours' numbers
        self._names: list[str] = []
        self._samples = 0

    def run(self, model: Arrays, update: Arrays, data_size: int) -> None:
        """Upload the change from `model` to `update`; the server learns the sum over all clients only."""
        client, others = self._client()
        try:
            vector = self._vector(model, update, data_size)
            boxes = client.share(others)
            self._ask("shareSecrets", "RequestShareSecrets", "ResponseShareSecrets", encrypted_shares=[
                {"fl_id": self._names[one - 1], "share": box, "index": one} for one, box in boxes.items()])
            answer = self._ask("getSecrets", "GetShareSecrets", "ReturnShareSecrets")
            masked = client.mask(vector, self._boxes(answer))
        except ValueError as error:
            raise FederatedError(f"the masks cannot be made: {error}") from None
        self._connection.update_model(self._fl_name, self._fl_id, self._iteration, _parts(masked, model),
                                      wait=self._wait)
        self._unmask(client)

    def _client(self) -> tuple[SecureClient, dict[int, PublicKeys]]:
        """This client in the protocol, and the keys of all."""
        keys = ClientKeys()
        own = keys.public()
        identity = self._connection.identity
        chain = [] if identity is None else [identity.chain.key_attestation, identity.chain.equip_cert,
                                             identity.chain.equip_ca_cert]
        self._ask("exchangeKeys", "RequestExchangeKeys", "ResponseExchangeKeys", s_pk=own[0], c_pk=own[1],
                  certificate_chain=chain)
        others = self._everybody(own)
        me = self._names.index(self._fl_id) + 1
        plan = SecureAggregation(others, threshold=self._threshold, neighbours=self._degree or None, order=circle(others))
        self._near = set(plan.neighbours(me))
        return SecureClient(me, plan, keys), others

    def _everybody(self, own: PublicKeys) -> dict[int, PublicKeys]:
        found = self._ask("getKeys", "GetExchangeKeys", "ReturnExchangeKeys")["remote_publickeys"]
        for item in found:
            self._check_owner(item)
        keys = {item["fl_id"]: (_bytes(item["s_pk"]), _bytes(item["c_pk"])) for item in found}
        self._names = sorted(keys)
        self._samples = sum(item["data_size"] for item in found)
        if len(keys) != len(found) or len(set(keys.values())) != len(keys) or keys.get(self._fl_id) != own:
            raise FederatedError("the server's list of keys has clients twice, or not this client's keys")
        if self._noised is not None and len(keys) < self._noised.least:
            raise FederatedError(f"{len(keys)} clients are too few for the noise that {self._noised.least} make together")
        if len(keys) <= self._threshold:
            raise FederatedError(f"{len(keys)} clients are too few for masks with threshold {self._threshold}")
        return {number: keys[name] for number, name in enumerate(self._names, 1)}

    def _check_owner(self, item: Message) -> None:
        """Keys have to be signed by the certified device whose name they carry."""
        if self._authority is None:
            return
        try:
            if len(item["certificate_chain"]) != 3:
                raise PkiError("there are no certificates")
            chain = Chain(*item["certificate_chain"])
            self._authority.check(chain)
            if name_of(chain.equip_cert) != item["fl_id"]:
                raise PkiError("the certificate is another client's")
            signed = _bytes(item["c_pk"]) + _bytes(item["s_pk"]) + stamp(item["timestamp"] or "", self._iteration)
            check_signature(chain.key_attestation, signed, _bytes(item["signature"]))
        except PkiError as error:
            raise FederatedError(f"the server's list has keys that {item['fl_id']} did not sign: {error}") from None
        self._attested[item["fl_id"]] = chain.key_attestation

    def _agree_on_list(self, names: list[str]) -> None:
        """See that more clients than the threshold were shown this list of uploads."""
        identity = self._connection.identity
        if identity is None or self._authority is None:
            return
        text = list_text(names, self._iteration)
        self._ask("pushListSign", "SendClientListSign", "ResponseClientListSign", signature=identity.sign(text))
        signs = self._ask("getListSign", "RequestAllClientListSign", "ReturnAllClientListSign")["client_list_sign"]
        for item in signs:
            try:
                check_signature(self._attested.get(item["fl_id"], ""), text, _bytes(item["signature"]))
            except PkiError as error:
                raise FederatedError(f"{item['fl_id']} saw another list of uploads: {error}; no shares are given") from None
        needed = self._threshold if not self._degree else max(self._threshold, 2 * len(self._names) // 3)
        if len({item["fl_id"] for item in signs} & set(names)) <= needed:
            raise FederatedError(f"{len(signs)} clients signed the list of uploads, more than {needed} are needed")

    def _vector(self, model: Arrays, update: Arrays, data_size: int) -> Any:
        change = np.concatenate([update.get(name, value).reshape(-1) - value.reshape(-1) for name, value in model.items()])
        if self._noised is not None:
            self._spent.add(self._noised, change.size, len(self._names))
            return self._noised.vector(change, len(self._names), self._random)
        return to_ring(change, self._clip, self._samples, data_size)

    def _boxes(self, answer: Message) -> dict[int, bytes]:
        return {self._number(item["fl_id"]): _bytes(item["share"]) for item in answer["encrypted_shares"]}

    def _unmask(self, client: SecureClient) -> None:
        """The update is taken; from here on a failure is the round's, not this client's."""
        try:
            names = self._ask("getClientList", "GetClientList", "ReturnClientList")["clients"]
            if len(set(names)) <= self._threshold or self._fl_id not in names:
                raise FederatedError(f"the server's list of {len(names)} uploads is too short for the threshold "
                                     f"{self._threshold} or lacks this client: no shares are given")
            if self._noised is not None and len(set(names)) < self._noised.least:
                raise FederatedError(f"{len(names)} uploads have too little noise, {self._noised.least} are needed: no shares "
                                     "are given")
            numbers = [self._number(name) for name in names]
            if len(self._near.intersection(numbers)) < self._threshold:
                raise FederatedError(f"fewer than {self._threshold} neighbours are in the list of uploads: no shares are given")
            self._agree_on_list(names)
            seeds, masks = client.unmask(numbers)
            shares = [{"fl_id": self._names[owner - 1], "share": share, "index": kind}
                      for kind, some in ((_SEED, seeds), (_MASK, masks)) for owner, share in some.items()]
            self._ask("reconstructSecrets", "SendReconstructSecret", "ReconstructSecret", reconstruct_secret_shares=shares)
        except FederatedError as error:
            over = bool(error.code) or isinstance(error, JobFinished)      # the server had enough of the others' shares
            (log.info if over else log.warning)("iteration %d: the shares were not taken: %s", self._iteration, error)

    def _number(self, name: str) -> int:
        if name not in self._names:
            raise FederatedError(f"the server named the client {name}, which is not in its list of keys")
        return self._names.index(name) + 1

    def _ask(self, round_name: str, asked: str, answered: str, **values: Any) -> Message:
        return self._connection.ask(round_name, asked, answered, {"fl_id": self._fl_id, "iteration": self._iteration,
                                                                  **values}, wait=self._wait, longest=_LONGEST_WAIT)


class StableUpload(MaskedUpload):
    """One client's round under stable masks: nobody may vanish, nothing has to be taken off."""

    def run(self, model: Arrays, update: Arrays, data_size: int) -> None:
        client, others = self._client()
        try:
            masked = client.mask_stable(self._vector(model, update, data_size), others)
        except ValueError as error:
            raise FederatedError(f"the masks cannot be made: {error}") from None
        self._connection.update_model(self._fl_name, self._fl_id, self._iteration, _parts(masked, model),
                                      wait=self._wait)


def _parts(masked: Any, model: Mapping[str, Any]) -> dict[str, Any]:
    parts, at = {}, 0
    for name, value in model.items():
        parts[name] = masked[at:at + value.size].view(np.float32)          # the same bits
        at += value.size
    return parts


def _bytes(values: Any) -> bytes:
    return np.asarray(values, np.int8).tobytes()


MASKED_UPLOADS = {"PW_ENCRYPT": MaskedUpload, "STABLE_PW_ENCRYPT": StableUpload}
