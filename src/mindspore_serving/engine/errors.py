"""What can go wrong with a request, and how each protocol says it."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """(number in the official messages, HTTP status of the modern protocols)."""

    FAILED = (1, 500)
    INVALID = (2, 400)
    SYSTEM = (3, 500)
    UNAVAILABLE = (4, 503)
    OVERLOADED = (5, 429)
    NOT_FOUND = (6, 404)
    DEADLINE = (7, 504)

    @property
    def code(self) -> int:
        return int(self.value[0])

    @property
    def http(self) -> int:
        return int(self.value[1])


class ServingError(RuntimeError):
    """A request that cannot be answered; the message is for the client."""

    def __init__(self, message: str, kind: Kind = Kind.INVALID) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind


class Overloaded(ServingError):
    """The queue is full."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"Serving Error: enqueued requests count exceeds the limit {limit}", Kind.OVERLOADED)


class Lost(Exception):
    """An agent of a group died before all had answered; what the group kept is gone."""
