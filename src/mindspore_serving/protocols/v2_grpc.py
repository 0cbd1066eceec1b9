"""Protocol v2 over gRPC: `inference.GRPCInferenceService`."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import numpy as np

from mindspore_serving.engine.dispatcher import Dispatcher
from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.engine.threads import in_thread
from mindspore_serving.protocols import v2
from mindspore_serving.protocols.access import Access, shown
from mindspore_serving.protocols.schema import Schema

_CODES = {
    Kind.INVALID: grpc.StatusCode.INVALID_ARGUMENT,
    Kind.NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Kind.OVERLOADED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Kind.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Kind.DEADLINE: grpc.StatusCode.DEADLINE_EXCEEDED,
}
#: type -> field of typed contents
_CONTENTS = {
    "BOOL": "bool_contents",
    "INT8": "int_contents",
    "INT16": "int_contents",
    "INT32": "int_contents",
    "INT64": "int64_contents",
    "UINT8": "uint_contents",
    "UINT16": "uint_contents",
    "UINT32": "uint_contents",
    "UINT64": "uint64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
}

#: in the order of their numbers in a model's configuration
_TYPES = ("INVALID", "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "STRING")
#: requests of one stream that are under way at once
_UNDER_WAY = 64


@functools.cache
def schema() -> Schema:
    model = {"name": (1, "string"), "version": (2, "string")}
    tensor = {"name": (1, "string"), "datatype": (2, "string"), "shape": (3, "[int64]")}
    described = {**tensor, "parameters": (4, "{InferParameter}"), "contents": (5, "InferTensorContents")}
    head = {"model_name": (1, "string"), "model_version": (2, "string"), "id": (3, "string"), "parameters": (4, "{InferParameter}")}
    times = ("success", "fail", "queue", "compute_input", "compute_infer", "compute_output")
    repository = {"repository_name": (1, "string"), "model_name": (2, "string")}
    return Schema(
        "inference",
        {
            "ServerLiveRequest": {},
            "ServerLiveResponse": {"live": (1, "bool")},
            "ServerReadyRequest": {},
            "ServerReadyResponse": {"ready": (1, "bool")},
            "ModelReadyRequest": model,
            "ModelReadyResponse": {"ready": (1, "bool")},
            "ServerMetadataRequest": {},
            "ServerMetadataResponse": {**model, "extensions": (3, "[string]")},
            "ModelMetadataRequest": model,
            "TensorMetadata": tensor,
            "ModelMetadataResponse": {
                "name": (1, "string"),
                "versions": (2, "[string]"),
                "platform": (3, "string"),
                "inputs": (4, "[TensorMetadata]"),
                "outputs": (5, "[TensorMetadata]"),
            },
            "InferParameter": {
                "bool_param": (1, "bool @parameter_choice"),
                "int64_param": (2, "int64 @parameter_choice"),
                "string_param": (3, "string @parameter_choice"),
                "double_param": (4, "double @parameter_choice"),
                "uint64_param": (5, "uint64 @parameter_choice"),
            },
            "InferTensorContents": {
                "bool_contents": (1, "[bool]"),
                "int_contents": (2, "[int32]"),
                "int64_contents": (3, "[int64]"),
                "uint_contents": (4, "[uint32]"),
                "uint64_contents": (5, "[uint64]"),
                "fp32_contents": (6, "[float]"),
                "fp64_contents": (7, "[double]"),
                "bytes_contents": (8, "[bytes]"),
            },
            "InferInputTensor": described,
            "InferOutputTensor": described,
            "InferRequestedOutputTensor": {"name": (1, "string"), "parameters": (2, "{InferParameter}")},
            "ModelInferRequest": {
                **head,
                "inputs": (5, "[InferInputTensor]"),
                "outputs": (6, "[InferRequestedOutputTensor]"),
                "raw_input_contents": (7, "[bytes]"),
            },
            "ModelInferResponse": {**head, "outputs": (5, "[InferOutputTensor]"), "raw_output_contents": (6, "[bytes]")},
            "StatisticDuration": {"count": (1, "uint64"), "ns": (2, "uint64")},
            "InferStatistics": {name: (number, "StatisticDuration") for number, name in enumerate(times, 1)},
            "InferBatchStatistics": {"batch_size": (1, "uint64"), "compute_infer": (3, "StatisticDuration")},
            "ModelStatistics": {
                **model,
                "last_inference": (3, "uint64"),
                "inference_count": (4, "uint64"),
                "execution_count": (5, "uint64"),
                "inference_stats": (6, "InferStatistics"),
                "batch_stats": (7, "[InferBatchStatistics]"),
            },
            "ModelStatisticsRequest": model,
            "ModelStatisticsResponse": {"model_stats": (1, "[ModelStatistics]")},
            "ModelConfigRequest": model,
            "ModelInput": {"name": (1, "string"), "data_type": (2, "DataType"), "dims": (4, "[int64]")},
            "ModelOutput": {"name": (1, "string"), "data_type": (2, "DataType"), "dims": (3, "[int64]")},
            "ModelConfig": {
                "name": (1, "string"),
                "platform": (2, "string"),
                "max_batch_size": (4, "int32"),
                "input": (5, "[ModelInput]"),
                "output": (6, "[ModelOutput]"),
                "backend": (17, "string"),
            },
            "ModelConfigResponse": {"config": (1, "ModelConfig")},
            "ModelStreamInferResponse": {"error_message": (1, "string"), "infer_response": (2, "ModelInferResponse")},
            "RepositoryIndexRequest": {"repository_name": (1, "string"), "ready": (2, "bool")},
            "ModelIndex": {**model, "state": (3, "string"), "reason": (4, "string")},
            "RepositoryIndexResponse": {"models": (1, "[ModelIndex]")},
            "RepositoryModelLoadRequest": repository,
            "RepositoryModelLoadResponse": {},
            "RepositoryModelUnloadRequest": repository,
            "RepositoryModelUnloadResponse": {},
        },
        {"DataType": {f"TYPE_{name}": number for number, name in enumerate(_TYPES)}},
    )


_OF_OPERATORS = ("RepositoryModelLoad", "RepositoryModelUnload")


class _Service:
    """The calls, each from a request message to the fields of its answer."""

    def __init__(self, dispatcher: Dispatcher, version: str) -> None:
        self._dispatcher, self._version = dispatcher, version

    async def ServerLive(self, request: Any, left: float | None) -> dict[str, Any]:
        return {"live": True}

    async def ServerReady(self, request: Any, left: float | None) -> dict[str, Any]:
        return {"ready": self._dispatcher.ready}

    async def ModelReady(self, request: Any, left: float | None) -> dict[str, Any]:
        try:
            v2.spec_of(self._dispatcher, request.name, request.version)
        except ServingError:
            return {"ready": False}
        return {"ready": True}

    async def ServerMetadata(self, request: Any, left: float | None) -> dict[str, Any]:
        return {"name": "mindspore_serving", "version": self._version, "extensions": v2.EXTENSIONS}

    async def ModelMetadata(self, request: Any, left: float | None) -> dict[str, Any]:
        await v2.awake(self._dispatcher, request.name)
        return v2.metadata(self._dispatcher, request.name, request.version)

    async def ModelConfig(self, request: Any, left: float | None) -> dict[str, Any]:
        await v2.awake(self._dispatcher, request.name)
        return {"config": v2.configuration(self._dispatcher, request.name, request.version)}

    async def ModelStatistics(self, request: Any, left: float | None) -> dict[str, Any]:
        return {"model_stats": v2.statistics(self._dispatcher, request.name, request.version)}

    async def RepositoryIndex(self, request: Any, left: float | None) -> dict[str, Any]:
        return {"models": v2.index(self._dispatcher)}

    async def RepositoryModelLoad(self, request: Any, left: float | None) -> dict[str, Any]:
        await in_thread(self._dispatcher.reload, request.model_name)
        return {}

    async def RepositoryModelUnload(self, request: Any, left: float | None) -> dict[str, Any]:
        await in_thread(self._dispatcher.unload, request.model_name)
        return {}

    async def ModelInfer(self, request: Any, left: float | None) -> dict[str, Any]:
        await v2.awake(self._dispatcher, request.model_name)
        spec, pool, method = v2.route_of(self._dispatcher, request.model_name, request.model_version)
        instances, batched = v2.instances_of(method, _tensors(request))
        answers = await self._dispatcher.infer(spec, instances, *v2.when(_parameters(request), left))
        outputs = {tensor.name: tensor for tensor in v2.tensors_of(method, answers, batched)}
        wanted = [output.name for output in request.outputs] or list(outputs)
        for name in wanted:
            if name not in outputs:
                raise ServingError(f"unexpected output '{name}'; the outputs are {list(outputs)}")
        settings = {output.name: _parameters(output).get("classification") for output in request.outputs}
        chosen = [v2.classified(outputs[name], settings.get(name), batched) for name in wanted]
        return {
            "model_name": request.model_name,
            "model_version": str(pool.location.version or 1),
            "id": request.id,
            "outputs": [{"name": t.name, "datatype": t.datatype, "shape": list(t.array.shape)} for t in chosen],
            "raw_output_contents": [v2.encode(tensor) for tensor in chosen],
        }


def _parameters(request: Any) -> dict[str, Any]:
    given = request.parameters
    return {name: getattr(one, one.WhichOneof("parameter_choice") or "int64_param") for name, one in given.items()} if given else {}


def _tensors(request: Any) -> list[v2.Tensor]:
    raw = request.raw_input_contents
    if raw and len(raw) != len(request.inputs):
        raise ServingError(f"{len(raw)} raw contents for {len(request.inputs)} inputs")
    if raw:
        return [v2.decode(given.name, given.datatype, list(given.shape), data) for given, data in zip(request.inputs, raw)]
    return [_typed(given) for given in request.inputs]


def _typed(given: Any) -> v2.Tensor:
    shape = v2.checked_shape(given.name, list(given.shape))
    if given.datatype == "BYTES":
        return v2.Tensor(given.name, "BYTES", v2.of_items(given.name, shape, list(given.contents.bytes_contents)))
    if given.datatype not in _CONTENTS:
        raise ServingError(f"the datatype '{given.datatype}' of input '{given.name}' needs raw contents")
    values = np.array(getattr(given.contents, _CONTENTS[given.datatype]))
    try:
        return v2.Tensor(given.name, given.datatype, values.astype(v2.DATATYPES[given.datatype]).reshape(shape))
    except ValueError:
        raise ServingError(f"the input '{given.name}' of shape {list(shape)} has {values.size} elements") from None


def handler(dispatcher: Dispatcher, version: str, access: Access) -> Any:
    service, messages = _Service(dispatcher, version), schema()
    names = [name for name in vars(_Service) if not name.startswith("_")]
    calls = {
        name: grpc.unary_unary_rpc_method_handler(
            _call(getattr(service, name), messages[f"{name}Response"], access if name in _OF_OPERATORS else None),
            messages[f"{name}Request"].FromString,
            messages[f"{name}Response"].SerializeToString,
        )
        for name in names
    }
    calls["ModelStreamInfer"] = grpc.stream_stream_rpc_method_handler(
        _stream(service.ModelInfer, messages["ModelStreamInferResponse"]),
        messages["ModelInferRequest"].FromString,
        messages["ModelStreamInferResponse"].SerializeToString,
    )
    return grpc.method_handlers_generic_handler("inference.GRPCInferenceService", calls)


Work = Callable[[Any, float | None], Awaitable[dict[str, Any]]]


def _call(work: Work, reply: Any, access: Access | None) -> Any:
    """`access`: of a call that is not for everybody."""

    async def answer(request: Any, context: Any) -> Any:
        try:
            if access is not None and not access.administers(shown(context.invocation_metadata())):
                raise ServingError("loading and unloading models is not allowed on this port, or needs a key")
            return reply(**await work(request, context.time_remaining()))
        except ServingError as error:
            await context.abort(_CODES.get(error.kind, grpc.StatusCode.INTERNAL), error.message)

    return answer


def _stream(work: Work, reply: Any) -> Any:
    """Answers in the order of the requests. An error is the answer to its request; the stream goes on."""

    async def one(request: Any, context: Any) -> Any:
        try:
            return reply(infer_response=await work(request, context.time_remaining()))
        except ServingError as error:
            return reply(error_message=error.message, infer_response={"id": request.id})

    async def answer(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        tasks: asyncio.Queue[asyncio.Task[Any] | None] = asyncio.Queue()
        room = asyncio.Semaphore(_UNDER_WAY)

        async def read() -> None:
            async for request in requests:
                await room.acquire()
                tasks.put_nowait(asyncio.create_task(one(request, context)))

        reading = asyncio.create_task(read())
        reading.add_done_callback(lambda _: tasks.put_nowait(None))
        try:
            while (task := await tasks.get()) is not None:
                yield await task
                room.release()
            reading.result()  # raises what ended it: a request that is no message
        finally:
            reading.cancel()
            while not tasks.empty():
                if (task := tasks.get_nowait()) is not None:
                    task.cancel()  # nobody waits for it

    return answer
