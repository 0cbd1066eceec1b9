"""Status codes and the transport of LLMEngine, under the names that programs import from the compiled part of other builds.

There is no transport between prompt and decoder machines here: what needs one answers with `kLiteError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any


class StatusCode(Enum):
    """Results of calls; numbers are this library's own."""

    kSuccess = 0
    kLiteError = 1
    kLiteParamInvalid = 2
    kLiteLLMWaitProcessTimeOut = 3
    kLiteLLMKVCacheNotExist = 4
    kLiteLLMRepeatRequest = 5
    kLiteLLMRequestAlreadyCompleted = 6
    kLiteLLMEngineFinalized = 7
    kLiteLLMNotYetLink = 8
    kLiteLLMAlreadyLink = 9
    kLiteLLMLinkFailed = 10
    kLiteLLMUnlinkFailed = 11
    kLiteLLMNofiryPromptUnlinkFailed = 12
    kLiteLLMClusterNumExceedLimit = 13
    kLiteLLMProcessingLink = 14
    kLiteLLMOutOfMemory = 15
    kLiteLLMPrefixAlreadyExist = 16
    kLiteLLMPrefixNotExist = 17
    kLiteLLMSeqLenOverLimit = 18
    kLiteLLMNoFreeBlock = 19
    kLiteLLMBlockOutOfMemory = 20


class Status:
    """The result of a call."""

    def __init__(self, code: StatusCode = StatusCode.kSuccess, message: str = ""):
        self._code, self._message = code, message

    def StatusCode(self) -> StatusCode:
        return self._code

    def IsOk(self) -> bool:
        return self._code is StatusCode.kSuccess

    def ToString(self) -> str:
        return self._message or self._code.name


_ABSENT = "LLMEngine needs accelerators that exchange key and value caches; none are here"


class LLMEngine_:
    """Models and links of an engine."""

    def __init__(self, role: Any, cluster_id: int, batch_mode: str):
        self.role, self.cluster_id, self.batch_mode = role, cluster_id, batch_mode

    def add_model(self, paths: Sequence[str], options: dict[str, str], postprocess: str) -> tuple[Status, Any]:
        return Status(StatusCode.kLiteError, _ABSENT), None

    def init(self, options: dict[str, str]) -> Status:
        return Status(StatusCode.kLiteError, _ABSENT)

    def complete_request(self, request: Any) -> Status:
        return Status(StatusCode.kLiteError, _ABSENT)

    def finalize(self) -> None:
        """Nothing to end."""

    def fetch_status(self) -> Any:
        raise RuntimeError(_ABSENT)

    def link_clusters(self, clusters: Sequence[Any], timeout: int) -> tuple[Status, list[Status]]:
        return Status(StatusCode.kLiteError, _ABSENT), []

    def unlink_clusters(self, clusters: Sequence[Any], timeout: int) -> tuple[Status, list[Status]]:
        return Status(StatusCode.kLiteError, _ABSENT), []
