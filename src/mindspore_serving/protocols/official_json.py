"""The official JSON: values of instances to arrays and back.

A number, a text, nested arrays of one type, or {"b64": …, "type": …, "shape": …}. Integers are int32, other numbers float32.
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any

import numpy as np

from mindspore_serving.engine.errors import ServingError
from mindspore_serving.engine.values import ELEMENT_TYPES, Instance, Value

_TYPES = {
    **{name: name for name in ELEMENT_TYPES},
    "fp16": "float16",
    "fp32": "float32",
    "fp64": "float64",
    "str": "str",
    "bytes": "bytes",
}
_KINDS: dict[type, str] = {bool: "bool", int: "int32", float: "float32", str: "str"}


def instances_of(message: Any, inputs: tuple[str, ...], where: str) -> list[Instance]:
    """The instances of a request, their values in the order of the method's inputs."""
    if not isinstance(message, dict) or "instances" not in message:
        raise ServingError("key 'instances' expects to exist once, but actually 0 times")
    given = message["instances"]
    if isinstance(given, dict):
        given = [given]
        if not given[0]:
            raise ServingError("json object, value is empty")
    if not isinstance(given, list) or (given and not isinstance(given[0], dict)):
        raise ServingError("instances no key mode is not supported")
    if not given:
        raise ServingError("instances value is array type, but no value")
    parsed = [_instance(item) for item in given]
    for instance in parsed:
        for name in inputs:
            if name not in instance:
                raise MissingInput(f"Cannot find input {name} in instance input , {where}")
    return [tuple(instance[name] for name in inputs) for instance in parsed]


class MissingInput(ServingError):
    """An input that the method needs is not there."""


def _instance(item: Any) -> dict[str, Value]:
    if not isinstance(item, dict):
        raise ServingError("json array, instance is not object type")
    if not item:
        raise ServingError("json array, instance is object type, but no value")
    if "" in item:
        raise ServingError("string key is empty")
    return {name: _value(value) for name, value in item.items()}


def _value(value: Any) -> Value:
    if isinstance(value, dict):
        return _object(value)
    if isinstance(value, list):
        return _array(value)
    if value is None:
        raise ServingError("json value is null, it is not supported")
    return value if isinstance(value, str) else _number(value, _KINDS[type(value)], ())


def _number(values: Any, kind: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    try:
        with np.errstate(over="raise"):
            return np.array(values, kind).reshape(shape)
    except (OverflowError, FloatingPointError):
        raise ServingError(f"a number is out of the range of {kind}; send it as {{'b64': …, 'type': …}} of a larger type") from None


def _object(value: dict[str, Any]) -> Value:
    if not value:
        raise ServingError("json object, value is empty")
    if len(value) > 3:
        raise ServingError("json object, items size is more than 3, only support specified ['b64', 'type', 'shape']")
    for key in value:
        if key not in ("b64", "type", "shape"):
            raise ServingError(f"json object, key is not ['b64', 'type', 'shape'], fail key:{key}")
    kind, shape = _type(value), _shape(value)
    if "b64" not in value:
        raise ServingError("json object, 'b64' should be specified only one time")
    if kind in ("str", "bytes") and math.prod(shape) != 1:
        raise ServingError("json object, only support scalar when data type is string or bytes, please check 'type' or 'shape'")
    data = _base64(value["b64"])
    if kind == "bytes":
        return data
    if kind == "str":
        return _text(data)
    dtype = np.dtype(kind)
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise ServingError(
            f"size is not matched, decode base64 size:{len(data)}; Given info: type:{kind}; type size:{dtype.itemsize}; "
            f"element nums:{math.prod(shape)}"
        )
    return np.frombuffer(data, dtype).reshape(shape)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ServingError("a string is not UTF-8") from None


def _type(value: dict[str, Any]) -> str:
    kind = value.get("type", "bytes")
    if not isinstance(kind, str):
        raise ServingError("json object, key is 'type', value should be string type")
    if kind not in _TYPES:
        raise ServingError(f"json object, specified type:'{kind}' is illegal")
    return _TYPES[kind]


def _shape(value: dict[str, Any]) -> tuple[int, ...]:
    shape = value.get("shape", [])
    if not isinstance(shape, list):
        raise ServingError("json object, key is 'shape', value should be array type")
    for place, size in enumerate(shape):
        if 0 in shape[:place]:
            raise ServingError(f"json object, key is 'shape', invalid shape value {shape}")
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise ServingError("json object, key is 'shape', array value should be unsigned integer")
    if len(shape) > 32 or math.prod(shape) > 1 << 40:
        raise ServingError(f"json object, key is 'shape', invalid shape value {shape}")
    return tuple(shape)


def _base64(text: Any) -> bytes:
    if not isinstance(text, str):
        raise ServingError("get scalar data failed, type is string, but json is not string type")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ServingError(f"'{text[:100]}' is illegal b64 encode string") from None


def _array(value: list[Any]) -> Value:
    shape: list[int] = []
    first: Any = value
    while isinstance(first, list) and first:
        shape.append(len(first))
        first = first[0]
    if not shape:
        raise ServingError("json array, shape is empty")
    if isinstance(first, list) or first is None:
        raise ServingError("json array, data type is unknown")
    kind = _type(first) if isinstance(first, dict) else _KINDS[type(first)]
    if kind in ("str", "bytes"):
        if math.prod(shape) != 1:
            raise ServingError("json array, string or bytes type only support one item")
        return _object(first) if isinstance(first, dict) else str(first)
    if isinstance(first, dict):
        raise ServingError("json array, item is object type, object only support string or bytes type")
    flat: list[Any] = []
    _flatten(value, shape, 0, type(first), flat)
    return _number(flat, kind, tuple(shape))


def _flatten(value: Any, shape: list[int], depth: int, kind: type, flat: list[Any]) -> None:
    if not isinstance(value, list):
        raise ServingError("invalid json array: json type is not array")
    if len(value) != shape[depth]:
        raise ServingError(f"invalid json array: json size is {len(value)}, the dim {depth} expected to be {shape[depth]}")
    if depth + 1 < len(shape):
        for item in value:
            _flatten(item, shape, depth + 1, kind, flat)
        return
    kinds = set(map(type, value))
    if kinds - {bool, int, float, str}:
        raise ServingError("json array, data should be number, bool, string or bytes")
    if kinds != {kind}:
        raise ServingError("json array, elements type is not equal")
    flat.extend(value)


def reply_of(answers: list[Instance | ServingError], outputs: tuple[str, ...]) -> dict[str, Any]:
    """The answer to a request: one error when all instances have the same."""
    errors = [answer.message if isinstance(answer, ServingError) else None for answer in answers]
    if errors[0] is not None and len(set(errors)) == 1:
        return {"error_msg": errors[0]}
    return {
        "instances": [
            {"error_msg": answer.message}
            if isinstance(answer, ServingError)
            else {name: _json(value) for name, value in zip(outputs, answer)}
            for answer in answers
        ]
    }


def _json(value: Value) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode()}
    return value.tolist()
