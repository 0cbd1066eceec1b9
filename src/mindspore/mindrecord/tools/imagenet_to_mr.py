"""ImageNet to MindRecord."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

from ..common.exceptions import PathNotExistsError
from ..filewriter import FileWriter
from ..layout import check_filename
from ..status import MSRStatus
from .converter import check_partition_number, write_rows

__all__ = ["ImageNetToMR"]

_log = logging.getLogger(__name__)
_SCHEMA: dict[str, dict[str, Any]] = {
    "label": {"type": "int32"},
    "image": {"type": "bytes"},
    "file_name": {"type": "string"},
}


class ImageNetToMR:
    """Converts a folder of JPEG images by class: fields `label`, `image` (the file's bytes) and `file_name`.

    Args:
        map_file: text file with lines like `n02119789 1 pen`: folder, label, name.
        image_dir: folder that holds the folders of the classes.
        destination: name of the MindRecord files.
        partition_number: their number. Read them by a list of their names.

    Raises:
        ValueError: if an argument is not valid.

    Examples:
        >>> ImageNetToMR("labels_map.txt", "imagenet/train", "imagenet.mindrecord", 8).transform()  # doctest: +SKIP
    """

    def __init__(self, map_file: str, image_dir: str, destination: str, partition_number: int = 1):
        for path in (map_file, image_dir, destination):
            check_filename(path)
        self.map_file = map_file
        self.image_dir = image_dir
        self.destination = destination
        self.partition_number = check_partition_number(partition_number)
        self.writer = FileWriter(destination, self.partition_number)

    def run(self) -> MSRStatus:
        """Convert all images."""
        return write_rows(self.writer, _SCHEMA, "imagenet_schema", ["label", "file_name"], self._rows(), parallel=True)

    def transform(self) -> MSRStatus:
        """Convert all images.

        Raises:
            OSError: if the map file is not there.
            PathNotExistsError: if none of its folders is.
        """
        return self.run()

    def _folders(self) -> dict[int, str]:
        """Label -> folder, of those that exist."""
        if not os.path.exists(self.map_file):
            raise OSError(f"map file {self.map_file} not exists")
        folders = {}
        with open(self.map_file, encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                words = line.split()
                if not words:
                    continue
                try:
                    folder, label = os.path.join(self.image_dir, words[0]), int(words[1])
                except (IndexError, ValueError):
                    raise ValueError(
                        f"line {number} of {self.map_file} should read like 'n02119789 1 pen': {line!r}"
                    ) from None
                if os.path.isdir(folder):
                    folders[label] = folder
                else:
                    _log.warning("%s dir is not exist", folder)
        if not folders:
            raise PathNotExistsError(f"not valid image dir in {self.image_dir}")
        return folders

    def _rows(self) -> Iterator[dict[str, Any]]:
        for label, folder in self._folders().items():
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                if not name.endswith(("JPEG", "jpg")):
                    _log.warning("%s file is not suffix with JPEG/jpg, skip it.", path)
                    continue
                with open(path, "rb") as stream:
                    image = stream.read()
                if not image:
                    _log.warning("The image file: %s is invalid.", path)
                    continue
                yield {"file_name": path, "label": label, "image": image}
