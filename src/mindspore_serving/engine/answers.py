"""Instances and errors in the messages between the server and its workers."""

from __future__ import annotations

from typing import Any

from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.engine.values import Instance, Value


def split(values: list[Value], size: int) -> list[Instance]:
    """Instances of `size` values each."""
    return [tuple(values[start : start + size]) for start in range(0, len(values), size)]


def answers_of(message: dict[str, Any], values: list[Value], count: int, size: int) -> list[Instance | ServingError]:
    """The answers in a message; errors are by number."""
    errors = {int(number): ServingError(text, Kind[kind]) for number, (kind, text) in message["errors"].items()}
    instances = iter(split(values, size))
    return [errors[number] if number in errors else next(instances) for number in range(count)]
