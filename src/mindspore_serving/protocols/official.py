"""The official messages, package `mindspore.serving.proto`: values to tensors and back."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mindspore_serving.engine.errors import ServingError
from mindspore_serving.engine.values import ELEMENT_TYPES, Instance, Value
from mindspore_serving.protocols.schema import Schema

SERVICE = "mindspore.serving.proto.MSService"
STRING, BYTES = 13, 14
#: element type -> number; the order of ELEMENT_TYPES is the order of the enum, from 1
NUMBERS = {name: number for number, name in enumerate(ELEMENT_TYPES, 1)}
_NAMES = {number: name for name, number in NUMBERS.items()}


@functools.cache
def schema() -> Schema:
    names = ["UNKNOWN", *(name.upper() for name in ELEMENT_TYPES), "STRING", "BYTES"]
    return Schema(
        "mindspore.serving.proto",
        {
            "TensorShape": {"dims": (1, "[int64]")},
            "ShmTensorData": {
                "memory_key": (1, "string"),
                "bytes_size": (2, "uint64"),
                "data_offset": (3, "uint64"),
                "data_size": (4, "uint64"),
            },
            "Tensor": {
                "shape": (1, "TensorShape"),
                "dtype": (2, "DataType"),
                "data": (3, "bytes @tensor_data"),
                "bytes_val": (4, "[bytes]"),
                "shm_data": (5, "ShmTensorData @tensor_data"),
            },
            "Instance": {"items": (1, "{Tensor}"), "output_buffers": (2, "{ShmTensorData}")},
            "ServableSpec": {"name": (1, "string"), "method_name": (2, "string"), "version_number": (3, "uint64")},
            "ErrorMsg": {"error_code": (1, "int64"), "error_msg": (2, "bytes")},
            "PredictRequest": {"servable_spec": (1, "ServableSpec"), "instances": (2, "[Instance]")},
            "PredictReply": {
                "servable_spec": (1, "ServableSpec"),
                "instances": (3, "[Instance]"),
                "error_msg": (4, "[ErrorMsg]"),
            },
        },
        {"DataType": {f"MS_{name}": number for number, name in enumerate(names)}},
    )


def write(tensor: Any, value: Value) -> None:
    """Fill a Tensor message."""
    if isinstance(value, (str, bytes)):
        tensor.dtype = STRING if isinstance(value, str) else BYTES
        tensor.shape.dims.append(1)
        tensor.bytes_val.append(value.encode() if isinstance(value, str) else value)
        return
    tensor.dtype = NUMBERS[value.dtype.name]
    tensor.shape.dims.extend(value.shape)
    tensor.data = value.tobytes()


def read(tensor: Any) -> Value:
    """The value of a Tensor message; ServingError if it contradicts itself."""
    shape = tuple(tensor.shape.dims)
    if tensor.dtype in (STRING, BYTES):
        if len(tensor.bytes_val) != 1:
            raise ServingError("Instance tensor check failed: bytes or string type shape batch size can only be 1")
        if shape not in ((), (1,)):
            raise ServingError(
                "Instance tensor check failed: bytes or string type input  shape can only be (1,) or empty, but given shape is "
                f"{list(shape)}"
            )
        data = tensor.bytes_val[0]
        return _text(data) if tensor.dtype == STRING else data
    if any(size < 0 for size in shape) or 0 in shape[:-1]:
        raise ServingError(f"Tensor check failed: input  shape {list(shape)} invalid")
    if tensor.dtype not in _NAMES:
        raise ServingError(f"Tensor check failed: input data type {tensor.dtype} invalid")
    if tensor.WhichOneof("tensor_data") == "shm_data":
        raise ServingError("Tensor check failed: shared memory of clients is not supported, send the data in the message")
    dtype = np.dtype(_NAMES[tensor.dtype])
    if math.prod(shape) * dtype.itemsize != len(tensor.data):
        raise ServingError(f"Tensor check failed: input data size {len(tensor.data)} invalid")
    return np.frombuffer(tensor.data, dtype).reshape(shape)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ServingError("Instance tensor check failed: a string is not UTF-8") from None


def instances_of(request: Any, inputs: tuple[str, ...]) -> list[Instance]:
    """The instances of a PredictRequest, their values in the order of the method's inputs."""
    spec = request.servable_spec
    where = f"servable {spec.name}, method {spec.method_name}"
    if not request.instances:
        raise ServingError(f"Instances count of request cannot be 0, servable: {spec.name}, method: {spec.method_name}")
    found = []
    for instance in request.instances:
        values = []
        for name in inputs:
            if name not in instance.items:
                raise ServingError(f"Cannot find input {name} in instance input , {where}")
            try:
                values.append(read(instance.items[name]))
            except ServingError as error:
                raise ServingError(f"Instances input {name} check failed, detail: {error.message}") from None
        found.append(tuple(values))
    return found


def reply_of(answers: list[Instance | ServingError], outputs: tuple[str, ...]) -> Any:
    """A PredictReply: no errors, one for all instances when they are the same, else one for each."""
    reply = schema()["PredictReply"]()
    errors = [(a.kind.code, a.message) if isinstance(a, ServingError) else (0, "") for a in answers]
    if any(code for code, _ in errors):
        same = len(set(errors)) == 1
        for code, text in errors[:1] if same else errors:
            reply.error_msg.add(error_code=code, error_msg=text.encode())
        if same:
            return reply
    for answer in answers:
        items = reply.instances.add().items
        if not isinstance(answer, ServingError):
            for name, value in zip(outputs, answer):
                write(items[name], value)
    return reply


def refusal(error: ServingError) -> Any:
    reply = schema()["PredictReply"]()
    reply.error_msg.add(error_code=error.kind.code, error_msg=error.message.encode())
    return reply
