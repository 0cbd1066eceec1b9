"""The communicator of vertical training: each party serves HTTP(S) and posts what the other one waits for."""
from __future__ import annotations

import http.client
import json
import queue
import random
import ssl
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from mindspore_federated.common.tensor_utils import pack_tensors, unpack_tensors
from mindspore_federated.common.tls import TlsFiles, client_context, files_from_config, server_context
from mindspore_federated.server.http import HttpService, Route
from mindspore_federated.server.uploads import Reply
from mindspore_federated.startup.compress_config import CompressConfig
from mindspore_federated.startup.server_config import ServerConfig
from mindspore_federated.startup.ssl_config import SSLConfig, check_ssl_config

_MAX_BODY = 1 << 32
_WAIT_SECONDS = 120.0
_QUEUE = 64

__all__ = ["ServerConfig", "VerticalFederatedCommunicator", "launched"]

_LAUNCHED: WeakValueDictionary[str, VerticalFederatedCommunicator] = WeakValueDictionary()    # by the name of the party


def launched(party: str, peer: str) -> VerticalFederatedCommunicator:
    """The communicator that `party` launched in this process to speak with `peer`."""
    found = _LAUNCHED.get(party)
    if found is None:
        raise RuntimeError(f"No communicator of '{party}' is launched, there are {sorted(_LAUNCHED)}: call "
                           "VerticalFederatedCommunicator(...).launch() first")
    found.check_party(peer)
    return found


class VerticalFederatedCommunicator:
    """Sends tensors to other parties and receives theirs, in order. With `enable_ssl` both sides show certificates."""

    def __init__(self, http_server_config: ServerConfig, remote_server_config: ServerConfig | list[ServerConfig],
                 enable_ssl: bool = False, ssl_config: SSLConfig | None = None,
                 compress_configs: Mapping[str, CompressConfig] | None = None) -> None:
        if not isinstance(http_server_config, ServerConfig):
            raise RuntimeError("Parameter 'http_server_config' should be instance of ServerConfig, but got "
                               f"{type(http_server_config)}")
        if not isinstance(remote_server_config, (ServerConfig, list)):
            raise RuntimeError("Parameter 'remote_server_address' should be instance of ServerConfig or list, but got "
                               f"{type(remote_server_config)}")
        if not isinstance(enable_ssl, bool):
            raise RuntimeError(f"Parameter 'enable_ssl' should be instance of bool, but got {type(enable_ssl)}")
        if compress_configs is not None and not isinstance(compress_configs, dict):
            raise RuntimeError("Parameter 'compress_configs' should be None or instance of dict, but got "
                               f"{type(compress_configs)}")
        check_ssl_config(ssl_config)
        if enable_ssl and ssl_config is None:
            raise RuntimeError("Parameter 'ssl_config' should be an SSLConfig where enable_ssl is True")
        self._local = http_server_config
        self._remote = remote_server_config
        remotes = remote_server_config if isinstance(remote_server_config, list) else [remote_server_config]
        self._addresses = {one.server_name: one.server_address for one in remotes}
        self._files: TlsFiles | None = files_from_config(ssl_config) if enable_ssl and ssl_config else None
        self._client_tls: ssl.SSLContext | None = client_context(self._files) if self._files else None
        self._compress = dict(compress_configs or {})
        self._arrived: dict[tuple[str, str], queue.Queue[bytes]] = {
            (name, kind): queue.Queue(_QUEUE) for name in self._addresses for kind in ("tensors", "message")}
        self._service: HttpService | None = None

    def launch(self) -> None:
        """Begin to serve."""
        if self._service is None:
            tls = server_context(self._files, mutual=True) if self._files else None
            self._service = HttpService(self._local.server_address, "vertical", self._routes(), max_body=_MAX_BODY,
                                        tls=tls)
            self._service.start()
            _LAUNCHED[self._local.server_name] = self

    def stop(self) -> None:
        """End the service."""
        if self._service is not None:
            self._service.stop()
            self._service = None
            if _LAUNCHED.get(self._local.server_name) is self:
                del _LAUNCHED[self._local.server_name]

    def send_tensors(self, target_server_name: str, tensor_dict: Mapping[str, Any]) -> None:
        """Send a dict of tensors (and dicts of them)."""
        self._post(target_server_name, "tensors", pack_tensors(tensor_dict, self._compress))

    def receive(self, target_server_name: str) -> OrderedDict[str, Any]:
        """The next dict of tensors from a party."""
        return unpack_tensors(self._take(target_server_name, "tensors"))

    def send_message(self, target_server_name: str, values: Any) -> None:
        """Send something that JSON can hold."""
        self._post(target_server_name, "message", json.dumps(values).encode())

    def receive_message(self, target_server_name: str) -> Any:
        """The next such thing from a party."""
        return json.loads(self._take(target_server_name, "message"))

    def http_server_config(self) -> ServerConfig:
        """This party."""
        return self._local

    def remote_server_config(self) -> ServerConfig | list[ServerConfig]:
        """The other parties."""
        return self._remote

    def _routes(self) -> dict[str, Route]:
        return {f"/{kind}/{name}": self._accept(place) for (name, kind), place in self._arrived.items()}

    @staticmethod
    def _accept(place: queue.Queue[bytes]) -> Route:
        def accept(body: memoryview) -> Reply:
            try:
                place.put_nowait(bytes(body))
            except queue.Full:
                return Reply(b"busy", status=503, kind="text/plain")
            return Reply(b"ok", kind="text/plain")
        return accept

    def check_party(self, name: str) -> str:
        """The address of a party that is known."""
        if name not in self._addresses:
            raise RuntimeError(f"There is no party '{name}', the parties are {sorted(self._addresses)}")
        return self._addresses[name]

    def _take(self, name: str, kind: str) -> bytes:
        self.check_party(name)
        try:
            return self._arrived[name, kind].get(timeout=_WAIT_SECONDS)
        except queue.Empty:
            raise RuntimeError(f"Nothing came from '{name}' in {_WAIT_SECONDS:.0f} s") from None

    def _post(self, name: str, kind: str, body: bytes) -> None:
        """Send until it is taken; the other party may start later."""
        address = self.check_party(name)
        deadline, pause = time.monotonic() + _WAIT_SECONDS, 0.05
        while True:
            try:
                status = self._send(address, f"/{kind}/{self._local.server_name}", body)
                if status == 200:
                    return
                reason = f"it answered {status}"
                if status not in (503,):
                    raise RuntimeError(f"'{name}' does not take messages from '{self._local.server_name}': {reason}")
            except (OSError, http.client.HTTPException) as error:
                reason = str(error)
            if time.monotonic() > deadline:
                raise RuntimeError(f"'{name}' at {address} cannot be reached: {reason}")
            time.sleep(pause * (0.5 + random.random()))
            pause = min(2 * pause, 1.0)

    def _send(self, address: str, path: str, body: bytes) -> int:
        connection = (http.client.HTTPSConnection(address, timeout=60, context=self._client_tls) if self._client_tls
                      else http.client.HTTPConnection(address, timeout=60))
        try:
            connection.request("POST", path, body)
            response = connection.getresponse()
            response.read(1 << 16)
            return response.status
        finally:
            connection.close()
