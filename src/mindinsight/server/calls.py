"""A request as the routes see it, and the table of routes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.datastructures import QueryParams

from mindinsight.server import errors
from mindinsight.server.workspace import Workspace

API = "/v1/mindinsight"
LONGEST_BODY = 4 << 20


@dataclass
class Call:
    """A request: the workspace, its parameters, its body, parts of its address."""

    workspace: Workspace
    query: QueryParams
    content: bytes = b""
    parts: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)

    def needed(self, name: str) -> str:
        """A parameter that must be there."""
        value = self.query.get(name)
        if not value:
            raise errors.missing(name)
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        """A whole number."""
        value = self.query.get(name)
        if value is None or value == "":
            if default is None:
                raise errors.missing(name)
            return default
        try:
            return int(value)
        except ValueError:
            raise errors.wrong_type(name, "Integer") from None

    def flag(self, name: str, default: bool) -> bool:
        """`true` or `false`."""
        value = self.query.get(name, str(default)).lower()
        if value not in ("true", "false"):
            raise errors.wrong_value(f"The value of {name} must be 'false' or 'true'.")
        return value == "true"

    def page(self, limit: int, most: int) -> tuple[int, int]:
        """Number and size of a page."""
        offset, size = self.integer("offset", 0), self.integer("limit", limit)
        check_page(offset, size, most)
        return offset, size

    def json(self) -> Any:
        """The body."""
        try:
            return orjson.loads(self.content or b"{}")
        except orjson.JSONDecodeError:
            raise errors.wrong_value("Json data parse failed.") from None

    def body(self) -> dict[str, Any]:
        """The body, which must be an object."""
        found = self.json()
        if not isinstance(found, dict):
            raise errors.wrong_value("The request body should be a dict.")
        return found


def check_page(offset: Any, limit: Any, most: int) -> None:
    """Refuse pages that are none."""
    for name, value in (("offset", offset), ("limit", limit)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise errors.wrong_type(name, "Integer")
    if not 0 <= offset <= 1_000_000:
        raise errors.wrong_value("'offset' should be greater than or equal to 0.")
    if not 1 <= limit <= most:
        raise errors.wrong_value(f"'limit' should in [1, {most}].")


Handler = Callable[[Call], Any]
_ROUTES: list[tuple[str, str, Handler]] = []


def route(method: str, path: str) -> Callable[[Handler], Handler]:
    """Put a function into the table of routes; `path` is what follows the API's prefix."""

    def add(handler: Handler) -> Handler:
        _ROUTES.append((method, path, handler))
        return handler

    return add


def routes() -> list[tuple[str, str, Handler]]:
    """The table."""
    return list(_ROUTES)
