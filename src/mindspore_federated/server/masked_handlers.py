"""The client rounds of masked training over HTTP."""
from __future__ import annotations

from typing import Any

import numpy as np

from mindspore_federated.server.attestation import Attestation
from mindspore_federated.server.handlers import Handlers, Served
from mindspore_federated.server.masked import MaskedRounds, Proof
from mindspore_federated.wire.flat import Message
from mindspore_federated.wire.schema import Code

_DONE: Message = {"retcode": Code.SUCCEED, "reason": "success"}


class MaskedHandlers(Handlers):
    """The routes of a server whose clients mask their updates."""

    def __init__(self, rounds: MaskedRounds, attestation: Attestation | None = None) -> None:
        super().__init__(rounds, attestation)
        self.masked = rounds

    def rounds_by_name(self) -> dict[str, Served]:
        known: dict[str, Served] = {
            "exchangeKeys": ("RequestExchangeKeys", "ResponseExchangeKeys", self.exchange_keys),
            "getKeys": ("GetExchangeKeys", "ReturnExchangeKeys", self.get_keys),
            "shareSecrets": ("RequestShareSecrets", "ResponseShareSecrets", self.share_secrets),
            "getSecrets": ("GetShareSecrets", "ReturnShareSecrets", self.get_secrets),
            "getClientList": ("GetClientList", "ReturnClientList", self.get_client_list),
            "pushListSign": ("SendClientListSign", "ResponseClientListSign", self.push_list_sign),
            "getListSign": ("RequestAllClientListSign", "ReturnAllClientListSign", self.get_list_sign),
            "reconstructSecrets": ("SendReconstructSecret", "ReconstructSecret", self.reconstruct_secrets),
        }
        return {**super().rounds_by_name(), **{name: known[name] for name in self.masked.stages}}

    def exchange_keys(self, asked: Message) -> Message:
        """A client brings its public keys: `s_pk` for masks, `c_pk` for encryption."""
        proof = Proof(asked["timestamp"] or "", _bytes(asked["signature"]).hex(), tuple(asked["certificate_chain"]))
        self.masked.exchange_keys(asked["fl_id"], asked["iteration"], (_bytes(asked["s_pk"]), _bytes(asked["c_pk"])),
                                  proof)
        return _DONE

    def get_keys(self, asked: Message) -> Message:
        """A client asks for everybody's keys."""
        keys = self.masked.keys(asked["fl_id"], asked["iteration"])
        return {**_DONE, "remote_publickeys": [
            {"fl_id": name, "s_pk": pair[0], "c_pk": pair[1], "data_size": size, "timestamp": proof.timestamp,
             "iteration": asked["iteration"], "signature": bytes.fromhex(proof.signature),
             "certificate_chain": proof.certificates} for name, (pair, size, proof) in keys.items()]}

    def share_secrets(self, asked: Message) -> Message:
        """A client brings encrypted shares for the others."""
        self.masked.share(asked["fl_id"], asked["iteration"],
                          {item["fl_id"]: _bytes(item["share"]) for item in asked["encrypted_shares"]})
        return _DONE

    def get_secrets(self, asked: Message) -> Message:
        """A client asks for the shares that others encrypted for it."""
        boxes = self.masked.secrets(asked["fl_id"], asked["iteration"])
        return {**_DONE, "encrypted_shares": [{"fl_id": name, "share": box} for name, box in boxes.items()]}

    def update_model(self, asked: Message) -> Message:
        """A client uploads; the bits of the float values are elements of the ring."""
        self.masked.upload(asked["fl_id"], asked["iteration"],
                           {item["weight_fullname"]: item["data"].view("<u4") for item in asked["feature_map"]})
        return {"retcode": Code.SUCCEED, "reason": "success not ready"}

    def get_client_list(self, asked: Message) -> Message:
        """A client asks whose vectors are in the sum."""
        return {**_DONE, "clients": self.masked.uploaded(asked["fl_id"], asked["iteration"])}

    def push_list_sign(self, asked: Message) -> Message:
        """A client signs the list of clients that it saw."""
        self.masked.sign_list(asked["fl_id"], asked["iteration"], _bytes(asked["signature"]))
        return _DONE

    def get_list_sign(self, asked: Message) -> Message:
        """A client asks for the others' signatures."""
        signs = self.masked.list_signs(asked["fl_id"], asked["iteration"])
        return {**_DONE, "client_list_sign": [{"fl_id": name, "signature": sign} for name, sign in signs.items()]}

    def reconstruct_secrets(self, asked: Message) -> Message:
        """A client brings shares of the others' secrets."""
        self.masked.reconstruct(asked["fl_id"], asked["iteration"],
                                {(item["fl_id"], item["index"]): _bytes(item["share"])
                                 for item in asked["reconstruct_secret_shares"]})
        return _DONE


def _bytes(values: Any) -> bytes:
    return np.asarray(values, np.int8).tobytes()
