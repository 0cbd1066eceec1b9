"""Filter, order and page of a table, as the bodies of requests state them (`filter_condition`, `sort_condition`, `group_condition`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mindinsight.server import errors
from mindinsight.server.official.files import ANALYSER, GENERAL

_MOST_ROWS, _LAST_PAGE = 100, 1_000_000
_KINDS = ("in", "not_in", "partial_match_str_in", "display_op_type", "step")
Row = list[Any]


@dataclass
class Table:
    """Rows under their columns; some columns cannot be sorted by."""

    columns: Sequence[str]
    rows: list[Row] = field(default_factory=list)
    unsorted: tuple[str, ...] = ()

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        """The rows that a request asks for, and how many there are on all its pages."""
        rows = [row for row in self.rows if self._is_wanted(row, body.get("filter_condition") or {})]
        return {"col_name": list(self.columns), "object": paged(self.sorted(rows, body), body), "size": len(rows)}

    def _is_wanted(self, row: Row, wanted: dict[str, Any]) -> bool:
        named = ((self.columns.index(name), tests) for name, tests in wanted.items() if name in self.columns)
        return all(_fits(row[place], tests) for place, tests in named if isinstance(tests, dict))

    def sorted(self, rows: list[Row], body: dict[str, Any]) -> list[Row]:
        """The rows in the order that a request asks for."""
        order = body.get("sort_condition") or {}
        name = order.get("name")
        if not name:
            return rows
        if name not in self.columns:
            raise errors.ApiError(errors.PROFILER, ANALYSER, f"The column {name} does not exist.")
        if name in self.unsorted:
            raise errors.ApiError(errors.PROFILER, 7 | ANALYSER, f"The column {name} does not support to sort.")
        place = self.columns.index(name)
        return sorted(rows, key=lambda row: _place(row[place]), reverse=order.get("type", "descending") == "descending")


def _place(value: Any) -> tuple[int, Any]:
    """Where a value comes in the order of a column: nothing, numbers, the rest."""
    if value is None:
        return 0, 0
    return (1, value) if isinstance(value, (int, float)) else (2, str(value))


def _fits(value: Any, tests: dict[str, Any]) -> bool:
    for kind, texts in tests.items():
        if kind == "in":
            fits = value in texts
        elif kind == "not_in":
            fits = value not in texts
        else:
            fits = kind == "partial_match_str_in" and any(text.lower() in str(value).lower() for text in texts)
        if not fits:
            return False
    return True


def paged(rows: list[Row], body: dict[str, Any]) -> list[Row]:
    """One page of rows, or all where none is asked for."""
    page = body.get("group_condition") or {}
    limit, offset = page.get("limit"), page.get("offset")
    if limit is None and offset is None:
        return rows
    limit, offset = 10 if limit is None else limit, offset or 0
    if not isinstance(limit, int) or not isinstance(offset, int) or limit < 1 or offset < 0:
        raise errors.wrong_value("'limit' and 'offset' should be whole numbers.")
    return rows[limit * offset : limit * (offset + 1)]


# ---------------------------------------------------------------------------------------------------------------------
# What bodies may say


def _wrong(number: int, part: str, detail: str) -> errors.ApiError:
    return errors.ApiError(errors.PROFILER, number | ANALYSER, f"The {part} in search_condition error, {detail}")


def wrong_filter(detail: str) -> errors.ApiError:
    """A filter that is not allowed."""
    return _wrong(6, "filter_condition", detail)


def wrong_operators(detail: str) -> errors.ApiError:
    """A kind of operators that is not known."""
    return _wrong(3, "op_type", detail)


def check_device(body: Any) -> str:
    """The device that a body names."""
    if not isinstance(body, dict):
        raise errors.ApiError(errors.PROFILER, 2 | GENERAL, "Param type error. Invalid search_condition type, it should be dict.")
    device = body.get("device_id", "0")
    if not isinstance(device, str):
        raise _wrong(2, "device_id", "Invalid device_id type, it should be str.")
    return device


def check_order(body: dict[str, Any], sortable: Sequence[str]) -> None:
    """Refuse pages and orders that are none."""
    page, order = body.get("group_condition", {}), body.get("sort_condition", {})
    if not isinstance(page, dict):
        raise _wrong(4, "group_condition", "The group condition must be dict.")
    for name, least, most in (("limit", 1, _MOST_ROWS), ("offset", 0, _LAST_PAGE)):
        value = page.get(name, least)
        if isinstance(value, bool) or not isinstance(value, int):
            raise _wrong(4, "group_condition", f"The {name} must be int.")
        if not least <= value <= most:
            raise _wrong(4, "group_condition", f"The {name} must in [{least}, {most}].")
    if not isinstance(order, dict):
        raise _wrong(5, "sort_condition", "The sort condition must be dict.")
    if "name" in order and order["name"] not in sortable:
        raise _wrong(5, "sort_condition", f"The sorted_name must be in {list(sortable)}")
    if order.get("type") and order["type"] not in ("ascending", "descending"):
        raise _wrong(5, "sort_condition", "The sorted type must be ascending or descending.")


def check_filter(tests: Any, kind: type = str) -> None:
    """Refuse tests of a column that are none: lists of texts (or numbers) under their kind."""
    if not isinstance(tests, dict):
        raise wrong_filter("The filter condition value must be dict.")
    for name, values in tests.items():
        if not isinstance(values, list):
            raise wrong_filter("The filter value must be list")
        if name not in _KINDS:
            raise wrong_filter(f"The filter key must in {list(_KINDS)}.")
        if not all(isinstance(value, kind) for value in values):
            raise wrong_filter(f"The item in filter value must be {kind.__name__}.")
