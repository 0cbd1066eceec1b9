"""The layout of a MindRecord file (versions 2.0 and 3.0).

A dataset is one or more shard files, each with an SQLite index of the same name plus ".db" (see `index`):

    0              u64 little-endian: length of the header text
    8              header: JSON (schema, index fields, the page table, names of all shards, sizes)
    header_size    page 0, page 1, ... each `page_size` bytes long, the last one only as long as its content

A page holds rows, one after the other, each a u64 little-endian length and that many bytes. Pages come in two kinds:
BLOB_DATA holds the bytes and array fields of a row, RAW_DATA the scalar ones. The rows of one blob page are a row
group; the raw parts of a row group lie together in one raw page, whose `row_group_ids` give each group's number and
offset. Unused ends of pages are holes in the file.
"""

from __future__ import annotations

import json
import os
import re
import struct
from dataclasses import dataclass, field
from typing import Any

from .common.exceptions import MindRecordException, ParamValueError
from .schema import Schema

LENGTH = struct.Struct("<Q")
VERSION = "3.0"
SUPPORTED_VERSIONS = ("2.0", VERSION)
BLOB, RAW = "BLOB_DATA", "RAW_DATA"

DEFAULT_HEADER_SIZE, MIN_HEADER_SIZE, MAX_HEADER_SIZE = 1 << 24, 1 << 14, 1 << 27
DEFAULT_PAGE_SIZE, MIN_PAGE_SIZE, MAX_PAGE_SIZE = 1 << 25, 1 << 15, 1 << 28
MIN_SHARD_COUNT, MAX_SHARD_COUNT = 1, 1000
MIN_FILE_SIZE = 8


@dataclass
class Page:
    """One entry of a shard's page table. `groups` (raw pages only) lists (row group, offset in this page)."""

    page_id: int
    kind: str
    kind_id: int  # pages of a kind are numbered too; a blob page's number is its row group's
    start_row: int = 0
    end_row: int = 0
    size: int = 0
    groups: list[tuple[int, int]] = field(default_factory=list)

    def to_json(self, shard_id: int) -> dict[str, Any]:
        return {
            "end_row_id": self.end_row,
            "page_id": self.page_id,
            "page_size": self.size,
            "page_type": self.kind,
            "page_type_id": self.kind_id,
            "row_group_ids": [{"id": number, "offset": offset} for number, offset in self.groups or [(0, 0)]],
            "shard_id": shard_id,
            "start_row_id": self.start_row,
        }

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Page:
        groups = [(int(group["id"]), int(group["offset"])) for group in entry["row_group_ids"]]
        return cls(
            int(entry["page_id"]),
            str(entry["page_type"]),
            int(entry["page_type_id"]),
            int(entry["start_row_id"]),
            int(entry["end_row_id"]),
            int(entry["page_size"]),
            groups if entry["page_type"] == RAW else [],
        )


@dataclass
class Header:
    """The header of one shard."""

    schema: Schema
    index_fields: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    shard_names: list[str] = field(default_factory=list)
    shard_id: int = 0
    header_size: int = DEFAULT_HEADER_SIZE
    page_size: int = DEFAULT_PAGE_SIZE
    compression_size: int = 0
    version: str = VERSION

    @property
    def packs_integers(self) -> bool:
        """Whether integer arrays are packed (see `intcodec`) in this file."""
        return self.version >= VERSION and self.schema.has_integer_array

    @property
    def row_count(self) -> int:
        return max((page.end_row for page in self.pages if page.kind == BLOB), default=0)

    def same_kind(self, other: Header) -> bool:
        """Whether two shards can be read as one dataset."""

        def meta(header: Header) -> tuple:
            content = (header.schema.content, header.schema.blob_fields, header.index_fields)
            return header.header_size, header.page_size, header.version, *content

        return meta(self) == meta(other)

    def to_bytes(self) -> bytes:
        """Length and JSON text; RuntimeError when they do not fit in `header_size`."""
        content = {
            "header_size": self.header_size,
            "index_fields": [{"index_field": name, "schema_id": 0} for name in self.index_fields] or None,
            "page": [page.to_json(self.shard_id) for page in self.pages] or None,
            "page_size": self.page_size,
            "compression_size": max(0, self.compression_size),
            "schema": [
                {"blob_fields": self.schema.blob_fields, "desc": self.schema.desc, "schema": self.schema.content}
            ],
            "shard_addresses": self.shard_names,
            "shard_id": self.shard_id,
            "statistics": None,
            "version": VERSION,
        }
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
        if len(text) + LENGTH.size > self.header_size:
            raise RuntimeError(
                f"shard header is too big: it takes {len(text) + LENGTH.size} bytes of the {self.header_size} set "
                "aside. Call 'set_header_size' with a larger size, or 'set_page_size', before writing."
            )
        return LENGTH.pack(len(text)) + text

    @classmethod
    def from_json(cls, content: Any, path: str) -> Header:
        try:
            described = content["schema"][0]
            header = cls(
                schema=Schema.checked(described["schema"], described["desc"]),
                index_fields=[str(entry["index_field"]) for entry in content["index_fields"] or []],
                pages=[Page.from_json(entry) for entry in content["page"] or []],
                shard_names=[os.path.basename(str(name)) for name in content["shard_addresses"]],
                shard_id=int(content.get("shard_id", 0)),
                header_size=int(content["header_size"]),
                page_size=int(content["page_size"]),
                compression_size=int(content.get("compression_size", 0)),
                version=str(content["version"]),
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, MindRecordException) as error:
            raise RuntimeError(f"Invalid file, the header of {path} lacks or misstates a field ({error}).") from None
        if header.version not in SUPPORTED_VERSIONS:
            raise RuntimeError(
                f"Invalid file, the version of mindrecord files {header.version!r} in {path} is not supported: "
                f"it should be one of {', '.join(SUPPORTED_VERSIONS)}."
            )
        if header.header_size < MIN_FILE_SIZE or header.page_size <= 0:
            raise RuntimeError(f"Invalid file, the header of {path} states impossible sizes.")
        return header


def read_header(path: str, source: Any = None) -> Header:
    """The header of the shard at `path` (or of the open binary file `source`); RuntimeError when it is not one."""
    if source is None:
        check_exists(path)
        with open(path, "rb") as stream:
            return read_header(path, stream)
    size = source.seek(0, os.SEEK_END)
    if size < MIN_FILE_SIZE:
        raise RuntimeError(
            f"Invalid file, the size of mindrecord file: {size} is smaller than the lower limit: {MIN_FILE_SIZE}.\n"
            f" Please check file path: {path} and use 'FileWriter' to generate valid mindrecord files."
        )
    source.seek(0)
    (length,) = LENGTH.unpack(source.read(LENGTH.size))
    if length > MAX_HEADER_SIZE:
        raise RuntimeError(
            "Invalid file, the size of mindrecord file header is larger than the upper limit. \n"
            f"The invalid mindrecord file is [{path}]. \nPlease use 'FileWriter' to generate valid mindrecord files."
        )
    text = source.read(length)
    if len(text) != length:
        raise RuntimeError(
            f"Invalid file, failed to read header content of file: {path}: it is cut short "
            f"({len(text)} of {length} bytes)."
        )
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise RuntimeError(f"Invalid file, failed to parse header content of file: {path}.") from None
    return Header.from_json(content, path)


def check_exists(path: str) -> None:
    if os.path.isdir(path):
        raise RuntimeError(f"Invalid file, {path} is not a mindrecord file, but got directory.")
    if not os.path.exists(path):
        raise RuntimeError(
            f"Invalid file, mindrecord file: {path} can not be found. Please check whether the mindrecord file exists "
            "and do not rename the mindrecord file."
        )


_FORBIDDEN = re.compile(r'[\\/:*?"<>|`&\';]')


def check_filename(path: Any, arg_name: str = "") -> bool:
    """Whether `path` can name a MindRecord file; ParamValueError when not."""
    if not path:
        label = f"'{arg_name}'" if arg_name else "File path"
        raise ParamValueError(f"{label} is not allowed None or empty!")
    if not isinstance(path, str):
        raise ParamValueError(f"File path: {path} is not string.")
    if path.endswith("/"):
        raise ParamValueError("File path can not end with '/'")
    name = os.path.basename(path)
    if _FORBIDDEN.search(name):
        raise ParamValueError(r"File name should not contains \/:*?\"<>|`&;\'")
    if name != name.strip(" "):
        raise ParamValueError("File name should not start/end with space.")
    return True
