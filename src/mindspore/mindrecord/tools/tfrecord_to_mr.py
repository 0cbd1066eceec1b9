"""TFRecord to MindRecord, without TensorFlow."""

from __future__ import annotations

import os
import string
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.file_bytes import FileBytes

from .. import tfrecord
from ..filewriter import FileWriter
from ..layout import check_filename
from ..status import MSRStatus
from .converter import write_rows

__all__ = ["FixedLenFeature", "TFRecordToMR"]

_KINDS = {
    "string": "string",
    "int8": "int32",
    "int16": "int32",
    "int32": "int32",
    "int64": "int64",
    "uint8": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "uint64": "int64",
    "float16": "float32",
    "float32": "float32",
    "float64": "float64",
    "bool": "int32",
}
_TO_UNDERSCORE = str.maketrans(dict.fromkeys(string.punctuation + " ", "_"))


class FixedLenFeature(NamedTuple):
    """What a feature holds, for those without TensorFlow: a shape ([] or [n]) and a type ("int64", np.float32, …)."""

    shape: list[int]
    dtype: Any
    default_value: Any = None


class TFRecordToMR:
    """Converts a TFRecord file of `tf.train.Example` messages.

    Args:
        source: the TFRecord file.
        destination: name of the MindRecord file.
        feature_dict: feature name -> `tf.io.FixedLenFeature`, or the `FixedLenFeature` of this module.
        bytes_fields: string features that are to be kept as bytes (images, for example).

    Raises:
        ValueError: if an argument is not valid.

    Examples:
        >>> from mindspore.mindrecord.tools.tfrecord_to_mr import FixedLenFeature, TFRecordToMR
        >>> features = {"image": FixedLenFeature([], "string"), "label": FixedLenFeature([], "int64")}
        >>> TFRecordToMR("a.tfrecord", "a.mindrecord", features, ["image"]).transform()  # doctest: +SKIP
    """

    def __init__(
        self, source: str, destination: str, feature_dict: dict[str, Any], bytes_fields: list[str] | None = None
    ):
        for name, path in (("source", source), ("destination", destination)):
            if not isinstance(path, str):
                raise ValueError(f"Parameter {name} must be string.")
            check_filename(path, name)
        if not isinstance(feature_dict, dict):
            raise ValueError("Parameter feature_dict is None or not dict.")
        for feature in feature_dict.values():
            if type(feature).__name__ != "FixedLenFeature":
                raise ValueError(f"Parameter feature_dict: {feature_dict} only support FixedLenFeature.")
        self.source = source
        self.destination = destination
        self.feature_dict = feature_dict
        self.bytes_fields_list = [_field_name(name) for name in self._checked_bytes_fields(bytes_fields)]
        self.mindrecord_schema = {_field_name(name): self._field_kind(name) for name in feature_dict}

    def _checked_bytes_fields(self, names: Any) -> list[str]:
        if names is None:
            return []
        if not isinstance(names, list):
            raise ValueError(f"Parameter bytes_fields: {names} must be list(str).")
        for name in names:
            if not isinstance(name, str):
                raise ValueError(f"Parameter bytes_fields's item: {name} is not str.")
            if name not in self.feature_dict:
                raise ValueError(f"Parameter bytes_fields's item: {name} is not in feature_dict: {self.feature_dict}.")
            if not isinstance(self.feature_dict[name].shape, list):
                raise ValueError(f"Parameter feature_dict[{name}].shape should be a list.")
            if _type_name(self.feature_dict[name].dtype) != "string":
                raise ValueError(f"Parameter bytes_field: {name} should be tf.string in feature_dict.")
        return names

    def _field_kind(self, name: str) -> dict[str, Any]:
        feature = self.feature_dict[name]
        kind = _KINDS.get(_type_name(feature.dtype))
        if kind is None:
            raise ValueError(f"Type {feature.dtype} is not supported in MindRecord.")
        if not feature.shape:
            return {"type": "bytes" if _field_name(name) in self.bytes_fields_list else kind}
        if len(feature.shape) != 1:
            raise ValueError(f"Parameter len(feature_dict[{name}].shape) should be 1.")
        if not isinstance(feature.shape[0], int) or feature.shape[0] < 1:
            raise ValueError(f"Parameter feature_dict[{name}].shape[0] should be an int > 0.")
        if kind == "string":
            raise ValueError(f"Parameter feature_dict[{name}].dtype is tf.string with a shape, which is not supported.")
        return {"type": kind, "shape": [feature.shape[0]]}

    def tfrecord_iterator(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as they will be written."""
        if not os.path.isfile(self.source):
            raise ValueError(f"TFRecord file {self.source} does not exist.")
        with open(self.source, "rb") as stream:
            data = FileBytes(stream.fileno(), self.source)
        starts, lengths = tfrecord.find_records(data, self.source)
        for number, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist())):
            tfrecord.check_record(data, start, length, self.source, number)
            yield self._row(data[start : start + length], number)

    def _row(self, record: bytes, number: int) -> dict[str, Any]:
        try:
            features = tfrecord.decode_example(record, list(self.feature_dict))
            return {_field_name(name): self._value(name, features.get(name)) for name in self.feature_dict}
        except ValueError as error:
            raise ValueError(
                f"TFRecord feature_dict parameter error: record {number} of {self.source}: {error}."
            ) from None

    def _value(self, name: str, values: Any) -> Any:
        feature, field = self.feature_dict[name], self.mindrecord_schema[_field_name(name)]
        if values is None or not len(values):
            if getattr(feature, "default_value", None) is None:
                raise ValueError(f"it has no feature '{name}'")
            values = np.asarray(feature.default_value).reshape(-1)
        holds_bytes = isinstance(values[0], (bytes, str))
        if holds_bytes != (field["type"] in ("string", "bytes")):
            raise ValueError(f"feature '{name}' is of another type than {feature.dtype}")
        if "shape" in field:
            if len(values) != field["shape"][0]:
                raise ValueError(f"feature '{name}' has {len(values)} values, not {field['shape'][0]}")
            return np.asarray(values).astype(field["type"])
        if len(values) != 1:
            raise ValueError(f"feature '{name}' has {len(values)} values and should be a scalar")
        if field["type"] == "string":
            return values[0].decode("utf-8") if isinstance(values[0], bytes) else values[0]
        if field["type"] == "bytes":
            return bytes(values[0])
        return int(values[0]) if field["type"].startswith("int") else float(values[0])

    def run(self) -> MSRStatus:
        """Convert all records."""
        writer = FileWriter(self.destination)
        return write_rows(
            writer, self.mindrecord_schema, "TFRecord to MindRecord", None, self.tfrecord_iterator(), True
        )

    def transform(self) -> MSRStatus:
        """Convert all records.

        Raises:
            ValueError: if a record does not have the features of `feature_dict`.
            RuntimeError: if the TFRecord file is damaged, or the destination exists.
        """
        return self.run()


def _field_name(name: str) -> str:
    """A feature's name with `_` for everything that a field's name cannot have."""
    return name.translate(_TO_UNDERSCORE)


def _type_name(dtype: Any) -> str:
    """The name of a TensorFlow, NumPy or Python type, or of a name."""
    if dtype in (str, bytes):
        return "string"
    name = getattr(dtype, "name", dtype)
    if isinstance(name, str):
        return "float64" if name == "double" else name
    return np.dtype(dtype).name
