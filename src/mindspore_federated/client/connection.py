"""A client's connection: one method per round, retries with jitter until a deadline, over HTTP or HTTPS.

A request is sent again when the server cannot be reached, is in safe mode or asks to come back later. Each round can be
asked again safely: the server knows a client that has its place or has uploaded. A large body goes on where its connection
broke (`server/uploads.py`); a client that has no connection for a while does not send it from the start again.
"""
from __future__ import annotations

import http.client
import random
import ssl
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from mindspore_federated import log
from mindspore_federated.common.pki import Identity, stamp
from mindspore_federated.server.features import Arrays, Floats
from mindspore_federated.wire.flat import Message, WireError, decode, encode
from mindspore_federated.wire.schema import TABLES, Code

_FIRST_WAIT, _LONGEST_WAIT, _LONGEST_PAUSE = 0.05, 2.0, 60.0
_MAX_ANSWER = 1 << 31
_LATER = (408, 409, 429, 503)
_RESUMABLE = 1 << 16             # bytes; smaller bodies are simply sent again
_STAY = 3                        # breaks in a row after which an upload begins anew at the next server
_AGAIN = (Code.NOT_READY, Code.OUT_OF_TIME)


class FederatedError(RuntimeError):
    """The server refused, or could not be reached in time."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class JobFinished(FederatedError):
    """The job is disabled or finished: there is nothing more to do."""


class _Busy(Exception):
    """The server asks to come back later."""

    def __init__(self, reason: str, after: str) -> None:
        super().__init__(reason)
        self.after = min(float(after), _LONGEST_PAUSE) if after.isdigit() else 0.0


class _Transfer:
    """A body on its way to a server."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.name = uuid.uuid4().hex if len(body) >= _RESUMABLE else ""
        self.under_way = False                              # a part of it may be there already
        self.breaks = 0

    def stays(self) -> bool:
        """Whether to go on with the server that may have a part, after another break."""
        self.breaks += 1
        return self.under_way and self.breaks % _STAY != 0

    def headers(self, offset: int) -> dict[str, str]:
        """What the server needs to know."""
        if not self.name:
            return {}
        return {"Upload-Id": self.name, "Upload-Offset": str(offset), "Upload-Length": str(len(self.body))}


class Connection:
    """Speaks to the servers of a job; with several addresses it goes on with the next when one fails."""

    def __init__(self, addresses: str | Sequence[str], *, tls: ssl.SSLContext | None = None, prefix: str = "",
                 timeout: float = 60.0, identity: Identity | None = None) -> None:
        self.identity = identity
        self._addresses = [addresses] if isinstance(addresses, str) else list(addresses)
        self._tls = tls
        self._prefix = f"/{prefix.strip('/')}" if prefix.strip("/") else ""
        self._timeout = timeout
        self._open: http.client.HTTPConnection | None = None
        self._at = random.randrange(len(self._addresses))

    def close(self) -> None:
        """Let the connection go."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _go_elsewhere(self) -> None:
        """Speak to the next server from now on."""
        self.close()
        self._at = (self._at + 1) % len(self._addresses)

    def ask(self, round_name: str, asked: str, answered: str, values: Mapping[str, Any], *, wait: float = 0.0,
            longest: float = _LONGEST_WAIT, again: Sequence[int] = _AGAIN) -> Message:
        """One round. Up to `wait` seconds an answer whose code is in `again` is asked for again, at most `longest` apart."""
        deadline = time.monotonic() + wait
        pause = _FIRST_WAIT
        transfer: _Transfer | None = None
        while True:
            reason, code = "", 0
            if transfer is None or (self.identity is not None and not transfer.under_way):      # a signature ages
                transfer = _Transfer(encode(asked, values if self.identity is None
                                            else _signed(round_name, asked, values, self.identity)))
            try:
                data = self._send(f"{self._prefix}/{round_name}", transfer)
                if data.startswith(b"The server's training job is disabled or finished."):
                    raise JobFinished(data.decode())
                if data.startswith(b"The cluster is in safemode."):
                    reason, code = data.decode(), Code.NOT_READY
                    self._go_elsewhere()
                else:
                    answer = decode(answered, data)
                    if answer["retcode"] == Code.SUCCEED:
                        return answer
                    reason, code = answer.get("reason", ""), answer["retcode"]
            except WireError as error:
                reason = f"the answer of {self._addresses[self._at]} cannot be read: {error}"
            except _Busy as busy:
                reason, code, pause = str(busy), Code.NOT_READY, max(pause, busy.after)
            except (OSError, http.client.HTTPException) as error:
                reason, code = f"{self._addresses[self._at]} cannot be reached: {error}", Code.NOT_READY
                if transfer.stays():
                    self.close()
                else:
                    self._go_elsewhere()
            if code not in again or time.monotonic() > deadline:
                raise FederatedError(f"{round_name}: {reason}", code)
            log.debug("%s again in %.2f s: %s", round_name, pause, reason)
            time.sleep(pause * (0.5 + random.random()))
            pause = min(2 * pause, longest)

    def _send(self, path: str, transfer: _Transfer) -> bytes:
        """Send a body, or what is missing of it; the answer."""
        offset = 0
        if transfer.name and transfer.under_way:
            status, there, data = self._request(path, b"", {"Upload-Id": transfer.name})
            if there is not None and status != 202:
                transfer.under_way = False
                return data                                 # it was complete: this is the answer that did not arrive
            offset = min(there or 0, len(transfer.body))
        transfer.under_way = bool(transfer.name)
        _, _, data = self._request(path, memoryview(transfer.body)[offset:], transfer.headers(offset))
        transfer.under_way = False
        return data

    def _request(self, path: str, body: bytes | memoryview, headers: Mapping[str, str]) -> tuple[int, int | None, bytes]:
        """Status, how much of an upload the server has, and body of an answer."""
        if self._open is None:
            host = self._addresses[self._at]
            self._open = (http.client.HTTPSConnection(host, timeout=self._timeout, context=self._tls) if self._tls
                          else http.client.HTTPConnection(host, timeout=self._timeout))
        self._open.request("POST", path, body, {"Content-Type": "application/octet-stream", **headers})
        response = self._open.getresponse()
        data = response.read(_MAX_ANSWER)
        if response.length:                                 # with a limit, read() does not tell that the server died meanwhile
            raise http.client.IncompleteRead(data, response.length)
        if response.status in _LATER:
            raise _Busy(f"the server answered {response.status}", response.getheader("Retry-After", ""))
        if response.status not in (200, 202):
            raise FederatedError(f"{path}: the server answered {response.status}: {data[:200].decode(errors='replace')}",
                                 response.status)
        there = response.getheader("Upload-Offset", "")
        return response.status, int(there) if there.isdecimal() else None, data

    # ---- the rounds

    def start_job(self, fl_name: str, fl_id: str, data_size: int, *, eval_data_size: int = 0,
                  compress_types: Sequence[int] = (), wait: float = 0.0) -> Message:
        """Ask for a place in the round."""
        return self.ask("startFLJob", "RequestFLJob", "ResponseFLJob", {
            "fl_name": fl_name, "fl_id": fl_id, "data_size": data_size, "eval_data_size": eval_data_size,
            "timestamp": _now(), "download_compress_types": list(compress_types)}, wait=wait)

    def update_model(self, fl_name: str, fl_id: str, iteration: int, weights: Mapping[str, Floats], *,
                     wait: float = 0.0, **more: Any) -> Message:
        """Upload weights, already multiplied by the number of samples."""
        return self.ask("updateModel", "RequestUpdateModel", "ResponseUpdateModel", {
            "fl_name": fl_name, "fl_id": fl_id, "iteration": iteration, "timestamp": _now(),
            "feature_map": [{"weight_fullname": name, "data": value} for name, value in weights.items()], **more},
            wait=wait, again=(Code.NOT_READY,))             # one that comes too late does not become timely by waiting

    def get_model(self, fl_name: str, iteration: int, *, wait: float = 0.0) -> Arrays:
        """The flat weights after an iteration."""
        return features(self.ask("getModel", "RequestGetModel", "ResponseGetModel", {
            "fl_name": fl_name, "iteration": iteration, "timestamp": _now()}, wait=wait))

    def pull_weight(self, iteration: int, names: Sequence[str], *, wait: float = 0.0) -> Arrays:
        """Hybrid training: the sum of the round."""
        return features(self.ask("pullWeight", "RequestPullWeight", "ResponsePullWeight", {
            "iteration": iteration, "weight_names": list(names)}, wait=wait))

    def push_weight(self, iteration: int, weights: Mapping[str, Floats], *, wait: float = 0.0) -> None:
        """Hybrid training: the weights after training."""
        self.ask("pushWeight", "RequestPushWeight", "ResponsePushWeight", {
            "iteration": iteration,
            "feature_map": [{"weight_fullname": name, "data": value} for name, value in weights.items()]}, wait=wait)

    def push_metrics(self, loss: float, accuracy: float, *, wait: float = 0.0) -> None:
        """Hybrid training: loss and accuracy of what was pushed."""
        self.ask("pushMetrics", "RequestPushMetrics", "ResponsePushMetrics", {"loss": loss, "accuracy": accuracy},
                 wait=wait)


def _signed(round_name: str, asked: str, values: Mapping[str, Any], identity: Identity) -> dict[str, Any]:
    """The fields of a request with those that prove whose it is."""
    now, fields = _now(), {field.name for field in TABLES[asked]}
    if round_name == "startFLJob":
        chain = identity.chain
        return {**values, "timestamp": now, "sign_data": identity.sign(f"{identity.fl_id} {now}".encode()),
                "key_attestation": chain.key_attestation, "equip_cert": chain.equip_cert,
                "equip_ca_cert": chain.equip_ca_cert}
    if "signature" not in fields:
        return dict(values)
    keys = values["c_pk"] + values["s_pk"] if round_name == "exchangeKeys" else b""
    name = "req_signature" if "req_signature" in fields else "signature"
    return {**values, "timestamp": now, name: identity.sign(keys + stamp(now, values["iteration"]))}


def features(answer: Message) -> Arrays:
    """The flat weights in an answer, packed or not."""
    from mindspore_federated.compression import dequantize

    if answer.get("compress_feature_map"):
        return {item["weight_fullname"]: dequantize(item) for item in answer["compress_feature_map"]}
    return {item["weight_fullname"]: item["data"] for item in answer["feature_map"]}


def _now() -> str:
    return str(int(time.time() * 1000))
