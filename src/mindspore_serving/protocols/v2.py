"""Open Inference Protocol v2: servables as its models, its tensors as instances.

A method is the model `servable.method`; the default one (`predict`, else the first) also has the servable's own name. Inputs
that a model declares have a batch dimension in front: a request of n rows is n instances. A method whose inputs are known to
Python alone gets its tensors as they are, as one instance.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore_serving.engine.dispatcher import Dispatcher, Route, Spec
from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.engine.pool import MethodInfo, Pool
from mindspore_serving.engine.values import Instance, Value

#: names of types in the protocol
DATATYPES = {
    "BOOL": "bool",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "UINT8": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
    "UINT64": "uint64",
    "FP16": "float16",
    "FP32": "float32",
    "FP64": "float64",
}
NAMES = {dtype: name for name, dtype in DATATYPES.items()}
_NAMES_OF_TYPES = {np.dtype(dtype): name for name, dtype in DATATYPES.items()}  # an array's `dtype.name` is slow
#: names of models, with versions in all their spellings, that are remembered
_MOST_ROUTES = 4096
EXTENSIONS = ["model_repository", "model_configuration", "statistics", "binary_tensor_data", "classification"]


@dataclass
class Tensor:
    """A named tensor of a request or answer; of type BYTES an array of objects, `bytes` each."""

    name: str
    datatype: str
    array: np.ndarray[Any, Any]


def spec_of(dispatcher: Dispatcher, model: str, version: str = "") -> Spec:
    """The method behind a model's name."""
    if version and not version.isdigit():
        raise ServingError(f"the version of model '{model}' must be a number, but is '{version}'")
    number = int(version or 0)
    servable, dot, method = model.rpartition(".")
    if model in dispatcher.names():
        servable, dot, method = model, "", ""
    versions = dispatcher.versions(servable or model)
    pool = versions.get(number or max(versions, default=0))
    if pool is None or (dot and method not in pool.methods):
        wanted = f"model '{model}'" + (f", version {version}" if version else "")
        raise ServingError(f"Request for unknown model: {wanted} is not found", Kind.NOT_FOUND)
    return Spec(servable or model, method or default_method(pool), number)


def route_of(dispatcher: Dispatcher, model: str, version: str = "") -> Route:
    """`spec_of` with what it leads to, looked up once for every change of the versions that run."""
    routes = dispatcher.routes
    route = routes.get((model, version))
    if route is None:
        spec = spec_of(dispatcher, model, version)
        route = Route(spec, *dispatcher.find(spec))
        if len(routes) < _MOST_ROUTES:
            routes[model, version] = route
    return route


async def awake(dispatcher: Dispatcher, model: str) -> None:
    """Bring what a model's name stands for into memory."""
    await dispatcher.wake(model)
    await dispatcher.wake(model.rpartition(".")[0])


#: requests that give a priority come before all that give none
_WITHOUT_PRIORITY = 1 << 32


def when(parameters: Mapping[str, Any], left: float | None = None) -> tuple[float | None, int]:
    """(deadline, priority) as a request's parameters give them: `timeout` in microseconds; `priority`, 1 before 2 before those without.

    `left`: seconds that the client waits at most.
    """
    if not parameters and not left:
        return None, 0
    timeout, priority = parameters.get("timeout", 0), parameters.get("priority", 0)
    for name, value in (("timeout", timeout), ("priority", priority)):
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 63:
            raise ServingError(f"the parameter '{name}' must be a whole number, 0 or more, but is {value!r}"[:200])
    waits = [seconds for seconds in (timeout / 1e6, left) if seconds]
    return time.monotonic() + min(waits) if waits else None, min(priority, _WITHOUT_PRIORITY) - _WITHOUT_PRIORITY if priority else 0


def default_method(pool: Pool) -> str:
    return "predict" if "predict" in pool.methods else next(iter(pool.methods))


def models(dispatcher: Dispatcher) -> list[tuple[str, int]]:
    """All (name, version) that can be asked for."""
    found = []
    for name in dispatcher.names():
        for version, pool in sorted(dispatcher.versions(name).items()):
            found += [(name, version), *((f"{name}.{method}", version) for method in pool.methods)]
    return found


def metadata(dispatcher: Dispatcher, model: str, version: str = "") -> dict[str, Any]:
    spec = spec_of(dispatcher, model, version)
    _, method = dispatcher.find(spec)
    return {
        "name": model,
        "versions": [str(number) for number in sorted(dispatcher.versions(spec.servable))],
        "platform": "mindspore",
        "inputs": [_describe(method, name) for name in method.inputs],
        "outputs": [_describe(method, name) for name in method.outputs],
    }


def configuration(dispatcher: Dispatcher, model: str, version: str = "") -> dict[str, Any]:
    """What Triton's own tools ask for before they make load; sizes are of a row where a request may have several."""
    spec, pool, method = route_of(dispatcher, model, version)

    def described(names: tuple[str, ...]) -> list[dict[str, Any]]:
        known = ((name, *method.tensors.get(name, ("float32", (-1,)))) for name in names)
        return [{"name": name, "data_type": f"TYPE_{NAMES[dtype]}", "dims": list(shape)} for name, dtype, shape in known]

    rows = pool.queue.sizes[spec.method].most if method.batched_ranks else 0
    common = {"name": model, "platform": "mindspore", "backend": "mindspore", "max_batch_size": rows}
    return {**common, "input": described(method.inputs), "output": described(method.outputs)}


def _describe(method: MethodInfo, name: str) -> dict[str, Any]:
    dtype, shape = method.tensors.get(name, ("float32", ()))
    return {"name": name, "datatype": NAMES[dtype], "shape": [-1, *shape]}


def instances_of(method: MethodInfo, tensors: list[Tensor]) -> tuple[list[Instance], bool]:
    """(instances, whether the answer gets a batch dimension)."""
    given = {tensor.name: tensor for tensor in tensors}
    if given.keys() != method.input_names:
        raise _wrong_names(method, given)
    ordered = [given[name] for name in method.inputs]
    if not any(given[name].array.ndim == rank for name, rank in method.batched_ranks.items()):
        return [tuple([_value(tensor, tensor.array) for tensor in ordered])], False
    rows = {len(tensor.array) for tensor in ordered if tensor.array.ndim}
    if len(rows) != 1 or not all(tensor.array.ndim for tensor in ordered):
        raise ServingError(f"the inputs have different numbers of rows: {sorted(rows)}")
    (count,) = rows
    if not count:
        raise ServingError("the request has no rows")
    return [tuple([_value(tensor, tensor.array[row]) for tensor in ordered]) for row in range(count)], True


def _wrong_names(method: MethodInfo, given: Mapping[str, Tensor]) -> ServingError:
    missing = [name for name in method.inputs if name not in given]
    text = f"the input '{missing[0]}' is missing" if missing else f"unexpected input '{next(iter(given.keys() - method.input_names))}'"
    return ServingError(f"{text}; the inputs are {list(method.inputs)}")


def _value(tensor: Tensor, part: Any) -> Value:
    if tensor.datatype != "BYTES":
        return part if type(part) is np.ndarray else np.ascontiguousarray(part)  # a number of its own has no array yet
    items = np.asarray(part, object).reshape(-1)
    if len(items) != 1:
        raise ServingError(f"the input '{tensor.name}' must be one text or byte string for each instance, but has {len(items)}")
    data: bytes = items[0]
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def tensors_of(method: MethodInfo, answers: list[Instance | ServingError], batched: bool) -> list[Tensor]:
    """The answers as tensors; the first error is the error of the request."""
    instances: list[Instance] = []
    for answer in answers:
        if isinstance(answer, ServingError):
            raise answer
        instances.append(answer)
    found = []
    for place, name in enumerate(method.outputs):
        column = [instance[place] for instance in instances]
        if isinstance(column[0], (str, bytes)):
            items = np.empty(len(column), object)
            items[:] = [item.encode() if isinstance(item, str) else item for item in column]
            found.append(Tensor(name, "BYTES", items))
            continue
        arrays = [np.asarray(value) for value in column]
        if len(arrays) > 1 and len({array.shape for array in arrays}) > 1:
            raise ServingError(f"the output '{name}' has different shapes for different rows", Kind.FAILED)
        array = arrays[0] if not batched else arrays[0][None] if len(arrays) == 1 else np.stack(arrays)
        found.append(Tensor(name, _NAMES_OF_TYPES[array.dtype], array))
    return found


def classified(tensor: Tensor, count: Any, batched: bool) -> Tensor:
    """The `count` largest numbers of each row, each as a text of the number and its place."""
    if not count:
        return tensor
    if isinstance(count, bool) or not isinstance(count, int) or count < 0 or tensor.datatype in ("BYTES", "BOOL"):
        raise ServingError(f"the parameter 'classification' of output '{tensor.name}' must be a whole number, and the output of numbers")
    rows = tensor.array.reshape(len(tensor.array) if batched else 1, -1)
    places = np.argsort(-rows.astype(np.float64), 1, "stable")[:, :count]
    texts = np.array([[f"{row[place]:f}:{place}".encode() for place in mine] for row, mine in zip(rows, places)], object)
    return Tensor(tensor.name, "BYTES", texts if batched else texts[0])


def decode(name: str, datatype: str, shape: list[Any], data: bytes | memoryview) -> Tensor:
    """A tensor of raw bytes."""
    sizes = checked_shape(name, shape)
    if datatype == "BYTES":
        return Tensor(name, datatype, _texts(name, sizes, memoryview(data)))
    if datatype not in DATATYPES:
        raise ServingError(f"the datatype '{datatype}' of input '{name}' is unknown; it can be one of {[*DATATYPES, 'BYTES']}")
    dtype = np.dtype(DATATYPES[datatype])
    if len(data) != math.prod(sizes) * dtype.itemsize:
        raise ServingError(
            f"the input '{name}' of shape {list(sizes)} needs {math.prod(sizes) * dtype.itemsize} bytes, but has {len(data)}"
        )
    return Tensor(name, datatype, np.frombuffer(data, dtype).reshape(sizes))


def checked_shape(name: str, shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, (list, tuple)) or any(isinstance(s, bool) or not isinstance(s, int) or s < 0 for s in shape):
        raise ServingError(f"the shape of input '{name}' must be a list of sizes, but is {shape!r}"[:200])
    if len(shape) > 32 or math.prod(shape) > 1 << 40:
        raise ServingError(f"the input '{name}' is too large")
    return tuple(shape)


def _texts(name: str, shape: tuple[int, ...], data: memoryview) -> np.ndarray[Any, Any]:
    """Byte strings, each after its length (u32)."""
    items: list[bytes] = []
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        if at + 4 + size > len(data):
            raise ServingError(f"the byte strings of input '{name}' are cut off")
        items.append(bytes(data[at + 4 : at + 4 + size]))
        at += 4 + size
    return of_items(name, shape, items)


def of_items(name: str, shape: tuple[int, ...], items: list[bytes]) -> np.ndarray[Any, Any]:
    if len(items) != math.prod(shape):
        raise ServingError(f"the input '{name}' of shape {list(shape)} has {len(items)} elements")
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def encode(tensor: Tensor) -> bytes:
    """The raw bytes of a tensor."""
    if tensor.datatype != "BYTES":
        return tensor.array.tobytes()
    return b"".join(len(item).to_bytes(4, "little") + item for item in tensor.array.reshape(-1))


def statistics(dispatcher: Dispatcher, model: str = "", version: str = "") -> list[dict[str, Any]]:
    """Counts and times of a model, or of all, as the statistics extension gives them."""
    chosen = [(model, int(version or 0))] if model else models(dispatcher)
    found = []
    for name, number in chosen:
        spec = spec_of(dispatcher, name, str(number or ""))
        pool, _ = dispatcher.find(spec)
        stats = pool.statistics.of(spec.method)
        found.append(
            {
                "name": name,
                "version": str(pool.location.version or 1),
                "last_inference": int(stats.last * 1000),
                "inference_count": stats.instances,
                "execution_count": stats.executions,
                "inference_stats": {
                    "success": _duration(stats.requests - stats.failures, stats.total_s),
                    "fail": _duration(stats.failures, 0.0),
                    "queue": _duration(stats.requests, stats.queue_s),
                    "compute_input": _duration(stats.requests, 0.0),
                    "compute_infer": _duration(stats.requests, stats.compute_s),
                    "compute_output": _duration(stats.requests, 0.0),
                },
                "batch_stats": [
                    {"batch_size": size, "compute_infer": _duration(count, seconds)}
                    for size, (count, seconds) in sorted(stats.batches.items())
                ],
            }
        )
    return found


def _duration(count: int, seconds: float) -> dict[str, int]:
    return {"count": count, "ns": int(seconds * 1e9)}


def index(dispatcher: Dispatcher) -> list[dict[str, str]]:
    found = [{"name": name, "version": str(version), "state": "READY", "reason": ""} for name, version in models(dispatcher)]
    known = dispatcher.residency.names if dispatcher.residency is not None else []
    asleep = sorted(set(known) - set(dispatcher.names()))
    return found + [{"name": name, "version": "", "state": "UNAVAILABLE", "reason": "loaded when it is asked for"} for name in asleep]
