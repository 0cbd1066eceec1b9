"""MindPage: rows grouped by the value of an index field, read page by page."""

from __future__ import annotations

import json
from typing import Any

from .common.exceptions import MRMDefineCategoryError, ParamTypeError, ParamValueError
from .filereader import check_source
from .index import column_name
from .shard_reader import RowReader

__all__ = ["MindPage"]


class MindPage:
    """Reads MindRecord files by groups: all rows with the same value of an index field.

    Args:
        file_name: one file, for all files that were written with it; or a list of files, for exactly those.
        num_consumer: kept for compatibility; 1 to the number of processors.

    Raises:
        ParamValueError: if an argument is not valid.
        RuntimeError: if a file or its index is missing or damaged.

    Examples:
        >>> pages = MindPage("test.mindrecord")  # doctest: +SKIP
        >>> pages.category_field = "label"  # doctest: +SKIP
        >>> pages.read_category_info()  # doctest: +SKIP
        '{"categories":[{"count":1,"id":0,"name":"0"}],"key":"label_0"}'
        >>> rows = pages.read_at_page_by_id(0, 0, 10)  # doctest: +SKIP
    """

    def __init__(self, file_name: str | list[str], num_consumer: int = 4):
        check_source(file_name, num_consumer)
        self._reader = RowReader(file_name)
        self._candidate_fields = self._reader.shards[0].index.fields()
        self._category_field: str | None = None

    @property
    def candidate_fields(self) -> list[str]:
        """The fields that rows can be grouped by."""
        return self._candidate_fields

    @property
    def category_field(self) -> str | None:
        """The field that rows are grouped by; set it before reading."""
        return self._category_field

    @category_field.setter
    def category_field(self, category_field: str) -> None:
        if not category_field or not isinstance(category_field, str):
            raise ParamTypeError("category_fields", "str")
        if category_field not in self._candidate_fields:
            raise MRMDefineCategoryError(f"Field '{category_field}' is not a candidate category field.")
        self._category_field = category_field

    def _field(self) -> str:
        if self._category_field is None:
            raise RuntimeError("Invalid data, no category field is set. Set 'category_field' first.")
        return self._category_field

    def _groups(self) -> list[tuple[str, int]]:
        """(value, number of rows), in the order of values as text."""
        counts: dict[str, int] = {}
        for shard in self._reader.shards:
            for name, count in shard.index.groups(self._field()):
                if name is not None:
                    counts[name] = counts.get(name, 0) + count
        return sorted(counts.items())

    def read_category_info(self) -> str:
        """The groups as JSON text: `categories` with `count`, `id` and `name` of each, and `key`."""
        categories = [{"count": n, "id": i, "name": name} for i, (name, n) in enumerate(self._groups())]
        info = {"categories": categories, "key": column_name(self._field())}
        return json.dumps(info, separators=(",", ":"), ensure_ascii=False)

    def read_at_page_by_id(self, category_id: int, page: int, num_row: int) -> list[dict[str, Any]]:
        """The rows `page * num_row` to `(page + 1) * num_row` of a group, by its id in `read_category_info`.

        Raises:
            ParamValueError: if an argument is no integer or negative.
            RuntimeError: if there is no such group or page.
        """
        if not isinstance(category_id, int) or category_id < 0:
            raise ParamValueError("Category id should be int and greater than or equal to 0.")
        _check_page(page, num_row)
        groups = self._groups()
        if category_id >= len(groups):
            raise RuntimeError(f"Invalid data, category_id: {category_id} must be in the range [0, {len(groups)}].")
        return self._read(groups[category_id][0], page, num_row)

    def read_at_page_by_name(self, category_name: str, page: int, num_row: int) -> list[dict[str, Any]]:
        """The same, by the group's name.

        Raises:
            ParamValueError: if an argument has the wrong type or is negative.
            RuntimeError: if there is no such group or page.
        """
        if not isinstance(category_name, str):
            raise ParamValueError("Category name should be str.")
        _check_page(page, num_row)
        if category_name not in dict(self._groups()):
            raise RuntimeError(f"category_name: {category_name} could not found.")
        return self._read(category_name, page, num_row)

    def _read(self, name: str, page: int, num_row: int) -> list[dict[str, Any]]:
        numbers: list[int] = []
        start = 0
        for shard in self._reader.shards:
            numbers += [start + row for row in shard.index.rows_with(self._field(), name)]
            start += len(shard.places)
        chosen = numbers[page * num_row : (page + 1) * num_row]
        if not chosen:
            raise RuntimeError(f"Invalid data, page no: {page} or page size: {num_row} is invalid.")
        return [self._reader.values(number) for number in chosen]


def _check_page(page: Any, num_row: Any) -> None:
    if not isinstance(page, int) or page < 0:
        raise ParamValueError("Page should be int and greater than or equal to 0.")
    if not isinstance(num_row, int) or num_row <= 0:
        raise ParamValueError("num_row should be int and greater than 0.")
