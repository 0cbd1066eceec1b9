"""Protocol v2 over HTTP, with the binary tensor, statistics and repository extensions: everything under `/v2`."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from mindspore_serving.engine.dispatcher import Dispatcher
from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.engine.threads import in_thread
from mindspore_serving.engine.values import Instance
from mindspore_serving.protocols import v2
from mindspore_serving.protocols.http import JSON, Exchange, Handler, Reply, retry_after

#: the header with the size of the JSON part, where binary data follows
LENGTH = b"inference-header-content-length"


def handler(dispatcher: Dispatcher, version: str) -> Handler:
    async def answer(exchange: Exchange) -> None:
        try:
            await _answer(dispatcher, version, exchange)
        except ServingError as error:
            await exchange.reply(refusal(error))

    return answer


def health(dispatcher: Dispatcher) -> Handler:
    """What `/v2/health/ready` says, where other servers have it."""

    async def answer(exchange: Exchange) -> None:
        await exchange.answer_json({"ready": dispatcher.ready}, 200 if dispatcher.ready else 503)

    return answer


async def _answer(dispatcher: Dispatcher, version: str, exchange: Exchange) -> None:
    match exchange.path.strip("/").split("/")[1:]:
        case []:
            await exchange.answer_json({"name": "mindspore_serving", "version": version, "extensions": v2.EXTENSIONS})
        case ["health", "live"]:
            await exchange.answer_json({"live": True})
        case ["health", "ready"]:
            ready = dispatcher.ready
            await exchange.answer_json({"ready": ready}, 200 if ready else 503)
        case ["models", "stats"]:
            await exchange.answer_json({"model_stats": v2.statistics(dispatcher)})
        case ["models", name, "versions", number, *rest]:
            await _model(dispatcher, exchange, name, number, rest)
        case ["models", name, *rest]:
            await _model(dispatcher, exchange, name, "", rest)
        case ["repository", "index"]:
            await exchange.answer_json(v2.index(dispatcher))
        case ["repository", "models", name, ("load" | "unload") as action]:
            if not exchange.administers:
                raise ServingError("loading and unloading models is not allowed on this port, or needs a key", Kind.INVALID)
            work = dispatcher.reload if action == "load" else dispatcher.unload
            await in_thread(work, name)
            await exchange.answer_json({})
        case _:
            raise ServingError(f"there is nothing at {exchange.path[:200]}", Kind.NOT_FOUND)


async def _model(dispatcher: Dispatcher, exchange: Exchange, name: str, version: str, rest: list[str]) -> None:
    await v2.awake(dispatcher, name)
    match rest:
        case []:
            await exchange.answer_json(v2.metadata(dispatcher, name, version))
        case ["config"]:
            await exchange.answer_json(v2.configuration(dispatcher, name, version))
        case ["ready"]:
            v2.spec_of(dispatcher, name, version)
            await exchange.answer_json({"name": name, "ready": True})
        case ["stats"]:
            await exchange.answer_json({"model_stats": v2.statistics(dispatcher, name, version)})
        case ["infer"] if exchange.method == "POST":
            await _infer(dispatcher, exchange, name, version)
        case _:
            raise ServingError(f"there is nothing at {exchange.path[:200]}", Kind.NOT_FOUND)


async def _infer(dispatcher: Dispatcher, exchange: Exchange, name: str, version: str) -> None:
    asked = Asked(dispatcher, name, version, await exchange.body(), exchange.header(LENGTH))
    answers = await exchange.while_there(dispatcher.infer(asked.route.spec, *asked.order))
    await exchange.reply(asked.reply(answers))


class Asked:
    """A request to infer: where to, and instances, deadline and priority (`order`)."""

    def __init__(self, dispatcher: Dispatcher, name: str, version: str, body: bytes, length: bytes | None) -> None:
        self._name = name
        self.route = v2.route_of(dispatcher, name, version)
        self._request, tensors = _request(body, length)
        instances, self._batched = v2.instances_of(self.route.method, tensors)
        self.order = (instances, *v2.when(_parameters(self._request)))

    def reply(self, answers: list[Instance | ServingError]) -> Reply:
        outputs = _chosen(self._request, v2.tensors_of(self.route.method, answers, self._batched), self._batched)
        head: dict[str, Any] = {"model_name": self._name, "model_version": str(self.route.pool.location.version or 1)}
        if "id" in self._request:
            head["id"] = self._request["id"]
        return _reply(head, outputs)


def refusal(error: ServingError) -> Reply:
    return Reply(orjson.dumps({"error": error.message}), error.kind.http, JSON, retry_after(error))


def _request(body: bytes, length: bytes | None) -> tuple[dict[str, Any], list[v2.Tensor]]:
    size = len(body)
    if length is not None:
        if not length.isdigit() or int(length) > len(body):
            raise ServingError("Inference-Header-Content-Length is not the size of the JSON part of the body")
        size = int(length)
    try:
        request = orjson.loads(body[:size])
    except orjson.JSONDecodeError as error:
        raise ServingError(f"the body is no JSON: {error}") from None
    if not isinstance(request, dict) or not isinstance(request.get("inputs"), list):
        raise ServingError("the request must be an object with 'inputs', a list of tensors")
    binary, at = memoryview(body)[size:], 0
    tensors = []
    for given in request["inputs"]:
        if not isinstance(given, dict) or not isinstance(given.get("name"), str) or not isinstance(given.get("datatype"), str):
            raise ServingError("an input must be an object with 'name', 'datatype', 'shape' and 'data'")
        extent = _parameters(given).get("binary_data_size")
        if extent is None:
            tensors.append(_json_tensor(given))
            continue
        if isinstance(extent, bool) or not isinstance(extent, int) or not 0 <= extent <= len(binary) - at:
            raise ServingError(f"the binary data of input '{given['name']}' is not there")
        tensors.append(v2.decode(given["name"], given["datatype"], given.get("shape", []), binary[at : at + extent]))
        at += extent
    if at != len(binary):
        raise ServingError(f"{len(binary) - at} bytes follow the last input")
    return request, tensors


def _parameters(holder: dict[str, Any]) -> dict[str, Any]:
    found = holder.get("parameters", {})
    if not isinstance(found, dict):
        raise ServingError("'parameters' must be an object")
    return found


def _json_tensor(given: dict[str, Any]) -> v2.Tensor:
    name, datatype = given["name"], given["datatype"]
    shape = v2.checked_shape(name, given.get("shape"))
    data = given.get("data")
    if not isinstance(data, list):
        raise ServingError(f"the input '{name}' has no 'data', a list of elements")
    if datatype == "BYTES":
        items = np.array(data, object).reshape(-1).tolist()
        if not all(isinstance(item, str) for item in items):
            raise ServingError(f"the elements of input '{name}' must be texts")
        return v2.Tensor(name, datatype, v2.of_items(name, shape, [item.encode() for item in items]))
    if datatype not in v2.DATATYPES:
        raise ServingError(f"the datatype '{datatype}' of input '{name}' is unknown; it can be one of {[*v2.DATATYPES, 'BYTES']}")
    try:
        array = np.array(data)
        if array.size and array.dtype.kind not in "biuf":
            raise ValueError("the elements are no numbers")
        exact = array.astype(v2.DATATYPES[datatype])
        if exact.dtype.kind in "iu" and not np.array_equal(exact, array):
            raise ValueError(f"an element is no {datatype}")
        return v2.Tensor(name, datatype, exact.reshape(shape))
    except (ValueError, TypeError, OverflowError) as error:
        raise ServingError(f"the data of input '{name}' does not fit {datatype} of shape {list(shape)}: {error}") from None


def _chosen(request: dict[str, Any], outputs: list[v2.Tensor], batched: bool) -> list[tuple[v2.Tensor, bool]]:
    """(output, whether it is sent as binary data), as the request wants them."""
    default = _parameters(request).get("binary_data_output") is True
    wanted = request.get("outputs")
    if not wanted:
        return [(output, default) for output in outputs]
    if not isinstance(wanted, list) or not all(isinstance(item, dict) for item in wanted):
        raise ServingError("'outputs' must be a list of objects with 'name'")
    known = {output.name: output for output in outputs}
    for item in wanted:
        if item.get("name") not in known:
            raise ServingError(f"unexpected output {item.get('name')!r}; the outputs are {list(known)}")
    settings = [(known[item["name"]], _parameters(item)) for item in wanted]
    return [
        (v2.classified(output, given.get("classification"), batched), bool(given.get("binary_data", default))) for output, given in settings
    ]


def _reply(head: dict[str, Any], outputs: list[tuple[v2.Tensor, bool]]) -> Reply:
    described, parts = [], []
    for tensor, binary in outputs:
        entry: dict[str, Any] = {"name": tensor.name, "datatype": tensor.datatype, "shape": list(tensor.array.shape)}
        if binary:
            parts.append(v2.encode(tensor))
            entry["parameters"] = {"binary_data_size": len(parts[-1])}
        else:
            flat = tensor.array.reshape(-1).tolist()
            entry["data"] = [item.decode("utf-8", "replace") for item in flat] if tensor.datatype == "BYTES" else flat
        described.append(entry)
    data = orjson.dumps({**head, "outputs": described})
    if not parts:
        return Reply(data)
    headers = [(LENGTH, str(len(data)).encode())]
    return Reply(b"".join([data, *parts]), 200, b"application/octet-stream", headers)
