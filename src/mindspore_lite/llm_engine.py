"""`LLMEngine`: prompts and incremental steps on different machines, linked by the caches of keys and values.

The interface checks what it is given and hands it to the transport in `lib/`; there is none for CPUs yet, so `add_model` says that it
failed. Requests, cluster descriptions and errors are complete.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any

from mindspore_lite import _checks as check
from mindspore_lite.lib._c_lite_wrapper import LLMEngine_, Status, StatusCode
from mindspore_lite.tensor import Tensor

__all__ = ["LLMReq", "LLMEngineStatus", "LLMRole", "LLMEngine", "LLMStatusCode", "LLMException"]


class _Number:
    """An attribute that holds an unsigned number of 64 bits."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else instance.__dict__.get(self.name, 0)

    def __set__(self, instance: Any, value: int) -> None:
        check.within(self.name, value, check.UINT64_MAX)
        instance.__dict__[self.name] = value


class LLMReq:
    """One task of several rounds."""

    prompt_cluster_id = _Number()
    req_id = _Number()
    prompt_length = _Number()
    decoder_cluster_id = _Number()
    prefix_id = _Number()
    sequence_length = _Number()

    _next = 0
    _lock = threading.Lock()

    def __init__(self, prompt_cluster_id: int, req_id: int, prompt_length: int):
        self.prompt_cluster_id = prompt_cluster_id
        self.req_id = req_id
        self.prompt_length = prompt_length

    @staticmethod
    def next_req_id() -> int:
        """A number that no request of this process has yet."""
        with LLMReq._lock:
            LLMReq._next += 1
            return LLMReq._next - 1

    def __repr__(self) -> str:
        return (
            f"{{llm_req: {self.req_id}, prompt_cluster_id: {self.prompt_cluster_id}, decoder_cluster_id: "
            f"{self.decoder_cluster_id}, prefix_id: {self.prefix_id}, prompt_length: {self.prompt_length}}}"
        )


class LLMEngineStatus:
    """What `fetch_status` found."""

    def __init__(self, status: Any):
        self.status_ = status

    @property
    def empty_max_prompt_kv(self) -> int:
        return int(self.status_.empty_max_prompt_kv)

    @property
    def num_free_blocks(self) -> int:
        return int(self.status_.num_free_blocks)

    @property
    def num_total_blocks(self) -> int:
        return int(self.status_.num_total_blocks)

    @property
    def block_size(self) -> int:
        return int(self.status_.block_size)


class LLMStatusCode(Enum):
    """Results of calls."""

    LLM_SUCCESS = StatusCode.kSuccess
    LLM_WAIT_PROC_TIMEOUT = StatusCode.kLiteLLMWaitProcessTimeOut
    LLM_KV_CACHE_NOT_EXIST = StatusCode.kLiteLLMKVCacheNotExist
    LLM_REPEAT_REQUEST = StatusCode.kLiteLLMRepeatRequest
    LLM_REQUEST_ALREADY_COMPLETED = StatusCode.kLiteLLMRequestAlreadyCompleted
    LLM_PARAM_INVALID = StatusCode.kLiteParamInvalid
    LLM_ENGINE_FINALIZED = StatusCode.kLiteLLMEngineFinalized
    LLM_NOT_YET_LINK = StatusCode.kLiteLLMNotYetLink
    LLM_ALREADY_LINK = StatusCode.kLiteLLMAlreadyLink
    LLM_LINK_FAILED = StatusCode.kLiteLLMLinkFailed
    LLM_UNLINK_FAILED = StatusCode.kLiteLLMUnlinkFailed
    LLM_NOTIFY_PROMPT_UNLINK_FAILED = StatusCode.kLiteLLMNofiryPromptUnlinkFailed
    LLM_CLUSTER_NUM_EXCEED_LIMIT = StatusCode.kLiteLLMClusterNumExceedLimit
    LLM_PROCESSING_LINK = StatusCode.kLiteLLMProcessingLink
    LLM_DEVICE_OUT_OF_MEMORY = StatusCode.kLiteLLMOutOfMemory
    LLM_PREFIX_ALREADY_EXIST = StatusCode.kLiteLLMPrefixAlreadyExist
    LLM_PREFIX_NOT_EXIST = StatusCode.kLiteLLMPrefixNotExist
    LLM_SEQ_LEN_OVER_LIMIT = StatusCode.kLiteLLMSeqLenOverLimit
    LLM_NO_FREE_BLOCK = StatusCode.kLiteLLMNoFreeBlock
    LLM_BLOCKS_OUT_OF_MEMORY = StatusCode.kLiteLLMBlockOutOfMemory


class LLMRole(Enum):
    """Whether an engine computes prompts or the steps that follow."""

    Prompt = 0
    Decoder = 1


class LLMException(RuntimeError):
    """A call of an engine failed."""

    _status_code = LLMStatusCode.LLM_SUCCESS

    @property
    def statusCode(self) -> LLMStatusCode:
        return self._status_code

    def StatusCode(self) -> LLMStatusCode:
        return self._status_code


class LLMKVCacheNotExist(LLMException):
    """The prompt's cache is not (or no longer) there."""

    _status_code = LLMStatusCode.LLM_KV_CACHE_NOT_EXIST


class LLMWaitProcessTimeOut(LLMException):
    """A request waited too long."""

    _status_code = LLMStatusCode.LLM_WAIT_PROC_TIMEOUT


class LLMRepeatRequest(LLMException):
    """The request is being worked on already."""

    _status_code = LLMStatusCode.LLM_REPEAT_REQUEST


class LLMRequestAlreadyCompleted(LLMException):
    """The request has been completed."""

    _status_code = LLMStatusCode.LLM_REQUEST_ALREADY_COMPLETED


class LLMEngineFinalized(LLMException):
    """The engine has ended."""

    _status_code = LLMStatusCode.LLM_ENGINE_FINALIZED


class LLMParamInvalid(LLMException):
    """Parameters are not allowed."""

    _status_code = LLMStatusCode.LLM_PARAM_INVALID


class LLMNotYetLink(LLMException):
    """The decoder is not linked with the prompt's cluster."""

    _status_code = LLMStatusCode.LLM_NOT_YET_LINK


class LLMOutOfMemory(LLMException):
    """The device has no memory left."""

    _status_code = LLMStatusCode.LLM_DEVICE_OUT_OF_MEMORY


class LLMPrefixAlreadyExist(LLMException):
    """A prefix of this number is loaded."""

    _status_code = LLMStatusCode.LLM_PREFIX_ALREADY_EXIST


class LLMPrefixNotExist(LLMException):
    """No prefix of this number is loaded."""

    _status_code = LLMStatusCode.LLM_PREFIX_NOT_EXIST


class LLMSeqLenOverLimit(LLMException):
    """The sequence is too long."""

    _status_code = LLMStatusCode.LLM_SEQ_LEN_OVER_LIMIT


class LLMNoFreeBlocks(LLMException):
    """No block of the paged cache is free."""

    _status_code = LLMStatusCode.LLM_NO_FREE_BLOCK


class LLMBlockOutOfMemory(LLMException):
    """The blocks do not fit into memory."""

    _status_code = LLMStatusCode.LLM_BLOCKS_OUT_OF_MEMORY


_FAILURES: dict[StatusCode, tuple[type[LLMException], str]] = {
    StatusCode.kLiteLLMWaitProcessTimeOut: (LLMWaitProcessTimeOut, "Waiting for processing timeout"),
    StatusCode.kLiteLLMKVCacheNotExist: (LLMKVCacheNotExist, "KV Cache not exist"),
    StatusCode.kLiteLLMRepeatRequest: (LLMRepeatRequest, "Repeat request"),
    StatusCode.kLiteLLMRequestAlreadyCompleted: (LLMRequestAlreadyCompleted, "Request has already completed"),
    StatusCode.kLiteLLMEngineFinalized: (LLMEngineFinalized, "LLMEngine has finalized"),
    StatusCode.kLiteParamInvalid: (LLMParamInvalid, "Parameters invalid"),
    StatusCode.kLiteLLMNotYetLink: (LLMNotYetLink, "Decoder cluster is no link with prompt"),
    StatusCode.kLiteLLMOutOfMemory: (LLMOutOfMemory, "Device out of memory"),
    StatusCode.kLiteLLMPrefixAlreadyExist: (LLMPrefixAlreadyExist, "Prefix has already existed"),
    StatusCode.kLiteLLMPrefixNotExist: (LLMPrefixNotExist, "Prefix does not exist"),
    StatusCode.kLiteLLMSeqLenOverLimit: (LLMSeqLenOverLimit, "Sequence length exceed limit"),
    StatusCode.kLiteLLMNoFreeBlock: (LLMNoFreeBlocks, "No free block"),
    StatusCode.kLiteLLMBlockOutOfMemory: (LLMBlockOutOfMemory, "NBlock is out of memory"),
}


def _expect(status: Status, call: str, about: str | Callable[[], str]) -> None:
    """Raise what a status stands for."""
    code = status.StatusCode()
    if code is StatusCode.kSuccess:
        return
    about = about if isinstance(about, str) else about()
    if code in _FAILURES:
        kind, text = _FAILURES[code]
        raise kind(f"{call} failed: {text}, {about}.")
    raise RuntimeError(f"{call} failed, {about}.")


_ADDRESS = "address must be in format of ('xxx.xxx.xxx.xxx', xxx) or (xxx, xxx)"


class LLMClusterInfo:
    """Another engine, to be linked with."""

    remote_cluster_id = _Number()

    def __init__(self, remote_role: LLMRole, remote_cluster_id: int):
        self.remote_cluster_id = remote_cluster_id
        self.remote_role = remote_role
        self._local: list[tuple[int, int]] = []
        self._remote: list[tuple[int, int]] = []

    @property
    def remote_role(self) -> LLMRole:
        return self._role

    @remote_role.setter
    def remote_role(self, value: LLMRole) -> None:
        check.instance("remote_role", value, LLMRole)
        self._role = value

    def append_local_ip_info(self, address: Any) -> None:
        """Add an address of this side: ('10.0.0.1', port), or the address as a number."""
        self._local.append(_numeric(address))

    def append_remote_ip_info(self, address: Any) -> None:
        """Add an address of the other side."""
        self._remote.append(_numeric(address))

    @property
    def local_ip_infos(self) -> tuple[tuple[int, int], ...]:
        return tuple(self._local)

    @property
    def remote_ip_infos(self) -> tuple[tuple[int, int], ...]:
        return tuple(self._remote)


def _numeric(address: Any) -> tuple[int, int]:
    """An address as two numbers, the first in the machine's byte order."""
    if not isinstance(address, tuple) or len(address) != 2:
        raise TypeError(_ADDRESS)
    host, port = address
    if not isinstance(host, (str, int)) or not isinstance(port, int):
        raise TypeError(_ADDRESS)
    if isinstance(host, int) and not 0 <= host <= check.UINT32_MAX:
        raise ValueError(f"address ip should in range [0,{check.UINT32_MAX}]")
    if not 0 <= port <= 65535:
        raise ValueError("address port should in range [0,65535]")
    if isinstance(host, int):
        return host, port
    try:
        if "." not in host:
            return int(host), port
        return int.from_bytes(socket.inet_aton(host), sys.byteorder), port
    except (ValueError, OSError):
        raise ValueError(_ADDRESS) from None


def _check_options(options: Any) -> None:
    check.instance("options", options, dict)
    for key, value in options.items():
        if not isinstance(key, str):
            raise TypeError(f"options key must be str, but got {type(key)}.")
        if not isinstance(value, str):
            raise TypeError(f"options value must be str, but got {type(value)}.")


_NOT_READY = "LLMEngine is not inited or init failed"


class LLMModel:
    """A model of an engine, made by `LLMEngine.add_model`."""

    def __init__(self, model_obj: Any, batch_mode: str):
        self.model_ = model_obj
        self.batch_mode_ = batch_mode
        self.inited_ = False

    def _ready(self) -> None:
        if not self.inited_:
            raise RuntimeError(_NOT_READY)

    def _manual(self, call: str) -> None:
        if self.batch_mode_ != "manual":
            raise RuntimeError(f'LLMEngine.{call} is only support when batch_mode is "manual"')

    def predict(self, llm_req: Any, inputs: Any) -> list[Tensor]:
        """Run a request, or a list of them in manual mode."""
        self._ready()
        if not isinstance(inputs, (tuple, list)):
            raise TypeError(f"inputs must be list/tuple of Tensor, but got {type(inputs)}.")
        self._check_requests(llm_req)
        check.elements("inputs", inputs, Tensor, (list, tuple))
        call = self.model_.predict_batch if self.batch_mode_ == "manual" else self.model_.predict
        outputs, status = call(llm_req, list(inputs))

        def about() -> str:
            return f"llm_req {llm_req}, inputs {[(item.shape, item.dtype) for item in inputs]}"

        _expect(status, "predict", about)
        if not outputs:
            raise RuntimeError(f"predict failed, {about()}.")
        return list(outputs)

    def _check_requests(self, llm_req: Any) -> None:
        if not isinstance(llm_req, (list, tuple, LLMReq)):
            raise TypeError(f"llm_req must be instance of LLMReq or list/tuple of LLMReq, but got {type(llm_req)}.")
        if self.batch_mode_ != "manual":
            if not isinstance(llm_req, LLMReq):
                raise TypeError(f'llm_req must be LLMReq when batch_mode is "auto", but got {type(llm_req)}.')
            return
        if not isinstance(llm_req, (list, tuple)):
            raise TypeError(
                f'llm_req must be list/tuple of LLMReq when batch_mode is "manual", but got {type(llm_req)}.'
            )
        for place, item in enumerate(llm_req):
            if not isinstance(item, LLMReq):
                raise TypeError(
                    f'llm_req element must be LLMReq when batch_mode is "manual", but got {type(item)} at index {place}.'
                )

    def pull_kv(self, llm_req: LLMReq) -> None:
        """Fetch the caches of a request from its prompt's cluster."""
        self._ready()
        self._manual("pull_kv")
        check.instance("llm_req", llm_req, LLMReq)
        _expect(self.model_.pull_kv(llm_req), "pull_kv", f"llm_req {llm_req}")

    def merge_kv(self, llm_req: LLMReq, batch_index: int, batch_id: int = 0) -> None:
        """Put the caches of a request at a place of the batch."""
        self._ready()
        self._manual("merge_kv")
        check.instance("llm_req", llm_req, LLMReq)
        check.within("batch_index", batch_index, check.UINT32_MAX)
        check.within("batch_id", batch_id, check.UINT32_MAX)
        _expect(self.model_.merge_kv(llm_req, batch_index, batch_id), "merge_kv", f"llm_req {llm_req}")

    def preload_prompt_prefix(self, llm_req: LLMReq, inputs: Any) -> None:
        """Compute the caches of a common beginning."""
        self._ready()
        if not isinstance(inputs, (tuple, list)):
            raise TypeError(f"inputs must be list/tuple of Tensor, but got {type(inputs)}.")
        check.instance("llm_req", llm_req, LLMReq)
        check.elements("inputs", inputs, Tensor, (list, tuple))
        status = self.model_.preload_prompt_prefix(llm_req, list(inputs))
        _expect(status, "preload_prompt_prefix", f"llm_req {llm_req}")

    def release_prompt_prefix(self, llm_req: LLMReq) -> None:
        """Give the memory of a common beginning back."""
        self._ready()
        check.instance("llm_req", llm_req, LLMReq)
        _expect(self.model_.release_prompt_prefix(llm_req), "release_prompt_prefix", f"llm_req {llm_req}")

    def get_inputs(self) -> list[Tensor]:
        if not self.model_:
            raise RuntimeError("LLMModel is invalid, please return LLMModel from LLMEngine.add_model.")
        return list(self.model_.get_inputs())


class LLMEngine:
    """An engine of a cluster."""

    def __init__(self, role: LLMRole, cluster_id: int, batch_mode: str = "auto"):
        check.instance("role", role, LLMRole)
        check.within("cluster_id", cluster_id, check.UINT64_MAX)
        check.instance("batch_mode", batch_mode, str)
        if batch_mode not in ("auto", "manual"):
            raise ValueError(f'batch_mode should be str "auto" or "manual", but got {batch_mode}')
        self.role_, self.cluster_id_, self.batch_mode_ = role, cluster_id, batch_mode
        self.models_: list[LLMModel] = []
        self.inited_ = False
        self.engine_ = LLMEngine_(role, cluster_id, batch_mode)

    @property
    def cluster_id(self) -> int:
        return self.cluster_id_

    @property
    def role(self) -> LLMRole:
        return self.role_

    @property
    def batch_mode(self) -> str:
        return self.batch_mode_

    def add_model(self, model_paths: Any, options: Any, postprocess_model_path: Any = None) -> LLMModel:
        """Add a group of models that work on the same caches."""
        if self.inited_:
            raise RuntimeError("Cannot add model for LLMEngine: LLMEngine has been inited")
        if not isinstance(model_paths, (list, tuple)):
            raise TypeError(f"model_paths must be tuple/list of str, but got {type(model_paths)}.")
        for place, path in enumerate(model_paths):
            if not isinstance(path, str):
                raise TypeError(f"model_paths element must be str, but got {type(path)} at index {place}.")
            if not os.path.exists(path):
                raise RuntimeError(f"model_paths at index {place} does not exist!")
        _check_options(options)
        if postprocess_model_path is not None:
            if not isinstance(postprocess_model_path, str):
                raise TypeError(f"postprocess_model_path must be None or str, but got {type(postprocess_model_path)}.")
            if not os.path.exists(postprocess_model_path):
                raise RuntimeError("postprocess_model_path does not exist!")
        status, inner = self.engine_.add_model(model_paths, options, postprocess_model_path or "")
        self._accept(
            status, f"Failed to add_model, please check your model paths, options, postprocess path, {self._whose()}"
        )
        model = LLMModel(inner, self.batch_mode_)
        self.models_.append(model)
        return model

    def _whose(self) -> str:
        return f"role {self.role.name}, cluster id {self.cluster_id}"

    @staticmethod
    def _accept(status: Status, text: str) -> None:
        if status.StatusCode() is StatusCode.kLiteParamInvalid:
            raise LLMParamInvalid("Parameters invalid")
        if not status.IsOk():
            raise RuntimeError(f"{text} ({status.ToString()})")

    def init(self, options: Any) -> None:
        """Start working."""
        if self.inited_:
            raise RuntimeError("LLMEngine has been inited")
        if not self.models_:
            raise RuntimeError(
                "At least one group of models need to be added through LLMEngine.add_model before call LLMEngine.init."
            )
        _check_options(options)
        self._accept(
            self.engine_.init(options), f"Failed to init LLMEngine, please check your {self._whose()} and options."
        )
        self.inited_ = True
        for model in self.models_:
            model.inited_ = True

    def _ready(self) -> None:
        if not self.inited_:
            raise RuntimeError(_NOT_READY)

    def complete_request(self, llm_req: LLMReq) -> None:
        """Release what a request holds."""
        self._ready()
        check.instance("llm_req", llm_req, LLMReq)
        _expect(self.engine_.complete_request(llm_req), "complete_request", f"llm_req {llm_req}")

    def finalize(self) -> None:
        """End the engine."""
        if not self.inited_:
            print(_NOT_READY, flush=True)
            return
        self.engine_.finalize()

    def fetch_status(self) -> LLMEngineStatus:
        self._ready()
        return LLMEngineStatus(self.engine_.fetch_status())

    def link_clusters(self, clusters: Any, timeout: int = -1) -> tuple[Status, Any]:
        """Link this engine with others."""
        self._check_clusters(clusters, timeout)
        status, each = self.engine_.link_clusters(list(clusters), timeout)
        if not each:
            _expect(status, "link_clusters", "")
        return status, each

    def unlink_clusters(self, clusters: Any, timeout: int = -1) -> tuple[Status, Any]:
        """End links."""
        self._check_clusters(clusters, timeout)
        status, each = self.engine_.unlink_clusters(list(clusters), timeout)
        if not each:
            _expect(status, "unlink_clusters", "")
            raise RuntimeError("Failed to call unlink_clusters")
        return status, each

    def _check_clusters(self, clusters: Any, timeout: Any) -> None:
        self._ready()
        if not isinstance(clusters, (tuple, list)):
            raise TypeError(f"clusters must be list/tuple of LLMClusterInfo, but got {type(clusters)}.")
        check.instance("timeout", timeout, int)
        for place, item in enumerate(clusters):
            if not isinstance(item, LLMClusterInfo):
                raise TypeError(f"clusters element must be LLMClusterInfo, but got {type(item)} at index {place}.")
