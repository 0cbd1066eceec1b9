"""What the converters share."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from mindspore._base.optional import require

from ..filewriter import FileWriter
from ..status import SUCCESS, MSRStatus

_BATCH = 256
_HEADER_SIZE = 1 << 24
_PAGE_SIZE = 1 << 26


def check_partition_number(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError("The parameter partition_number must be int")
    return number


def jpeg(image: np.ndarray) -> bytes:
    """An RGB or grey image (height, width, channels) as JPEG."""
    cv2 = require("cv2", "data", "Converting images to JPEG")
    stored = image[..., ::-1] if image.shape[-1] == 3 else image
    return cv2.imencode(".jpeg", np.ascontiguousarray(stored))[1].tobytes()


def write_rows(
    writer: FileWriter,
    schema: dict[str, dict[str, Any]],
    desc: str,
    index_fields: list[str] | None,
    rows: Iterable[dict[str, Any]],
    parallel: bool = False,
) -> MSRStatus:
    """Write all rows and complete the files."""
    writer.set_header_size(_HEADER_SIZE)
    writer.set_page_size(_PAGE_SIZE)
    writer.add_schema(schema, desc)
    if index_fields:
        writer.add_index(index_fields)
    iterator = iter(rows)
    while batch := list(itertools.islice(iterator, _BATCH)):
        writer.write_raw_data(batch, parallel)
    writer.commit()
    return SUCCESS
