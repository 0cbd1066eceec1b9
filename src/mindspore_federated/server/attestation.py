"""The server's side of `client_verify.pki_verify`: who may take a place, and whether a request is that client's own.

The attested key of a client is kept with its round. The time of the request that took a place is kept until the job ends:
a recorded startFLJob cannot take a place again in a later round. What a client does twice in a round counts once anyway.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from mindspore_federated.common.pki import (
    Authority,
    Chain,
    PkiError,
    check_fresh,
    check_signature,
    name_of,
    stamp,
)
from mindspore_federated.common.settings import Settings
from mindspore_federated.server.rounds import Refused, Rounds
from mindspore_federated.wire.flat import Message
from mindspore_federated.wire.schema import Code


class Attestation:
    """Checks requests against the certificates of the clients of a job."""

    def __init__(self, rounds: Rounds, settings: Settings) -> None:
        self._rounds = rounds
        self._window = settings.whole("client_verify.replay_attack_time_diff")
        self._authority = Authority([settings.word("client_verify.root_first_ca_path"),
                                     settings.word("client_verify.root_second_ca_path")],
                                    settings.word("client_verify.equip_crl_path"))

    def check(self, round_name: str, asked: Message) -> None:
        """Refuse a request that is not its client's, or not of now."""
        if round_name == "startFLJob":
            self._check_start(asked)
        elif "signature" in asked:                          # rounds without one give nothing that is not for all
            self._check_signed(round_name, asked)

    def started(self, asked: Message) -> None:
        """A client has taken its place."""
        self._rounds.remember_attested(asked["fl_id"], asked["key_attestation"], asked["timestamp"])

    def _check_start(self, asked: Message) -> None:
        chain = Chain(*(asked[name] or "" for name in ("key_attestation", "equip_cert", "equip_ca_cert")))
        try:
            if asked["fl_id"] != name_of(chain.equip_cert):
                raise PkiError("fl_id is not the SHA-256 of the equipment certificate")
            self._authority.check(chain)
            check_signature(chain.key_attestation, f"{asked['fl_id']} {asked['timestamp']}".encode(),
                            _bytes(asked["sign_data"]))
            at = check_fresh(asked["timestamp"] or "", self._window)
        except PkiError as error:
            raise Refused(Code.REQUEST_ERROR, f"startFLJob sign and certificate verify failed: {error}.") from None
        if at <= self._rounds.last_start(asked["fl_id"]):
            raise Refused(Code.REQUEST_ERROR, "startFLJob sign and certificate verify failed: this request has taken a "
                                              "place before.")

    def _check_signed(self, round_name: str, asked: Message) -> None:
        attested = self._rounds.attested(asked["fl_id"] or "", asked["iteration"])
        if attested is None:
            raise Refused(Code.OUT_OF_TIME, "verify signature timestamp failed or cannot find its key attestation.")
        signature = asked["req_signature"] if "req_signature" in asked else asked["signature"]
        data = stamp(asked["timestamp"] or "", asked["iteration"])
        if round_name == "exchangeKeys":
            data = _bytes(asked["c_pk"]) + _bytes(asked["s_pk"]) + data
        try:
            check_signature(attested, data, _bytes(signature))
        except PkiError as error:
            raise Refused(Code.REQUEST_ERROR, f"verify signature failed: {error}.") from None
        try:
            check_fresh(asked["timestamp"], self._window)
        except PkiError as error:
            raise Refused(Code.OUT_OF_TIME, f"verify signature timestamp failed: {error}.") from None


def _bytes(values: Any) -> bytes:
    return np.asarray(values, np.int8).tobytes()
