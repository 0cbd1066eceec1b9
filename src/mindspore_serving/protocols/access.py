"""Who may ask, and who may load and unload models: by the key that a request shows, `Authorization: Bearer KEY`, over HTTP and gRPC alike.

Keys are compared by their hashes, so that the time a comparison takes says nothing about them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import grpc

#: what tells nothing and stays open, for probes
_OPEN_PATHS = frozenset({"/v2/health/live", "/v2/health/ready", "/health"})
_OPEN_CALLS = frozenset({"/inference.GRPCInferenceService/ServerLive", "/inference.GRPCInferenceService/ServerReady"})
_REFUSAL = "a key is needed: Authorization: Bearer …"


class Access:
    """`keys`: without any, everybody may ask. `admin_keys`: those of operators; `all_admins`: everybody is one."""

    def __init__(self, keys: Iterable[str] = (), admin_keys: Iterable[str] = (), all_admins: bool = False) -> None:
        self._admins = {_hash(b"Bearer " + key.encode()) for key in admin_keys}
        self._known = {_hash(b"Bearer " + key.encode()) for key in keys}
        self._all_admins = all_admins

    @property
    def needs_keys(self) -> bool:
        return bool(self._known)

    def allows(self, path: str, shown: bytes | None) -> bool:
        """Whether a request with this header may be answered."""
        if not self._known or path in _OPEN_PATHS or path in _OPEN_CALLS:
            return True
        return shown is not None and _hash(shown) in self._known | self._admins

    def administers(self, shown: bytes | None) -> bool:
        """Whether a request with this header may load and unload models."""
        return self._all_admins or (shown is not None and _hash(shown) in self._admins)

    def of_operators(self) -> Access:
        """For a port of their own, where all who may ask may load and unload."""
        made = Access(all_admins=True)
        made._known, made._admins = self._admins or self._known, self._admins
        return made


class GrpcKeys(grpc.aio.ServerInterceptor):  # type: ignore[misc]  # the library has no types
    """Turns calls away that show no key."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def intercept_service(self, continuation: Any, details: Any) -> Any:
        if self._access.allows(details.method, shown(details.invocation_metadata)):
            return await continuation(details)

        async def refuse(request: Any, context: Any) -> None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, _REFUSAL)

        return grpc.unary_unary_rpc_method_handler(refuse)


def shown(metadata: Any) -> bytes | None:
    """The header of a gRPC call."""
    found = next((value for key, value in metadata or () if key == "authorization"), None)
    return found.encode() if isinstance(found, str) else found


def _hash(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


__all__ = ["Access", "GrpcKeys", "shown"]
