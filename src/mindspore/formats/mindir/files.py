"""Reading and writing `.mindir` files: one file, or a graph file with the weights in files beside it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mindspore._base.files import atomic_write, read_file
from mindspore._base.protobuf import DecodeError
from mindspore.formats import encryption
from mindspore.formats.mindir.messages import ExternalData, ModelProto, TensorProto

SPLIT_ABOVE, PART_SIZE = 1 << 30, 1 << 40
_HEAD = 64
_READ_ONLY = 0o400

Encrypt = Callable[[Any], bytes]
Decrypt = Callable[[str, Any], bytes]  # of the file with this name and content


def save_model(
    model: ModelProto, path: str, encrypt: Encrypt | None, split_above: int = SPLIT_ABOVE, part_size: int = PART_SIZE
) -> str:
    """Write a model; returns the name of the graph file.

    Weights of more than `split_above` bytes together go to files of their own, of up to `part_size` bytes each. The graph
    file is replaced last, so whenever the process ends, it refers to weights that are there.
    """
    stem = path.removesuffix(".mindir")
    parameters = model.graph.parameter
    Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
    apart = sum(len(p.raw_data) for p in parameters) > split_above
    target = f"{stem}_graph.mindir" if apart else f"{stem}.mindir"
    folder = Path(f"{os.path.realpath(stem)}_variables")
    written = _save_weights(parameters, folder, encrypt, part_size) if apart else []
    content: Any = model.encode()
    with atomic_write(target, permissions=_READ_ONLY) as stream:
        stream.write(content if encrypt is None else encrypt(content))
    for old in folder.glob("data_*") if apart else ():
        if old not in written:
            old.unlink()
    return target


def _save_weights(parameters: list[TensorProto], folder: Path, encrypt: Encrypt | None, part_size: int) -> list[Path]:
    """Put the weights into new files of the folder, and where they lie into the messages."""
    folder.mkdir(exist_ok=True)
    unused = (place for n in itertools.count() if not (place := folder / f"data_{n}").exists())
    written = []
    for part in _parts(sorted(parameters, key=lambda p: p.ref_key or p.name), part_size):
        written.append(next(unused))
        _save_part(part, written[-1], encrypt)
    return written


def _parts(parameters: list[TensorProto], limit: int) -> list[list[TensorProto]]:
    """The weights in groups of up to `limit` bytes."""
    parts: list[list[TensorProto]] = []
    size = 0
    for parameter in parameters:
        own = _padded(len(parameter.raw_data))
        if _HEAD + own > limit:
            raise RuntimeError(f"The parameter size is exceed 1T,cannot export to the file: '{parameter.ref_key}'.")
        if not parts or size + own > limit:
            parts.append([])
            size = _HEAD
        parts[-1].append(parameter)
        size += own
    return parts


def _padded(size: int) -> int:
    return size + -size % _HEAD


def _save_part(parameters: list[TensorProto], target: Path, encrypt: Encrypt | None) -> None:
    with atomic_write(target, permissions=_READ_ONLY) as stream:
        head = b"\x01" + bytes(_HEAD - 1)
        stream.write(head if encrypt is None else encrypt(head))
        offset = _HEAD
        for parameter in parameters:
            size = len(parameter.raw_data)
            raw = bytes(parameter.raw_data) + bytes(_padded(size) - size)
            stream.write(raw if encrypt is None else encrypt(raw))
            location = f"{target.parent.name}/{target.name}"
            parameter.external_data = ExternalData(location=location, offset=offset, length=size)
            parameter.raw_data = None
            offset += len(raw)


def read_model(path: str, decrypt: Decrypt | None) -> ModelProto:
    """Read a model; ValueError when the file is not one."""
    if not isinstance(path, str):
        raise ValueError(f"For 'load', the file name must be a string, but got {type(path)}.")
    if not os.path.isfile(path):
        raise RuntimeError(f"For 'load', the file {path} does not exist.")
    data: Any = read_file(path)
    if decrypt is not None:
        try:
            data = decrypt(path, data)
        except encryption.WrongKeyError as error:
            raise ValueError(f"The MindIR file {path} cannot be decrypted with this 'dec_key': {error}.") from None
    elif encryption.is_encrypted(data[:4]):
        raise ValueError(f"The MindIR file {path} is encrypted; pass the right 'dec_key' and 'dec_mode'.")
    try:
        model = ModelProto.decode(data)
        if model.graph is None:
            raise DecodeError("it has no graph")
    except DecodeError as error:
        raise ValueError(f"The file {path} is no MindIR model, is cut short or is damaged: {error}.") from None
    return model


def external_reader(path: str, decrypt: Decrypt | None = None) -> Callable[[TensorProto], Any]:
    """A function that reads the external data of tensors from files beside `path`, and from nowhere else."""
    folder = os.path.dirname(os.path.realpath(path))
    opened: dict[str, memoryview] = {}

    def read(tensor: TensorProto) -> memoryview:
        place = tensor.external_data
        assert place is not None
        target = os.path.realpath(os.path.join(folder, place.location or ""))
        if os.path.isabs(place.location or "") or os.path.commonpath((target, folder)) != folder:
            raise DecodeError(f"the data of '{tensor.name}' must lie beside the model, not at '{place.location}'")
        if target not in opened:
            if not os.path.isfile(target):
                raise RuntimeError(
                    f"The data file '{place.location}' of the model {path} is missing, please check the correct of the file."
                )
            opened[target] = read_file(target) if decrypt is None else memoryview(decrypt(target, read_file(target)))
        offset, length = place.offset or 0, place.length or 0
        if offset < 0 or length < 0 or offset + length > len(opened[target]):
            raise DecodeError(f"the data of '{tensor.name}' reaches beyond the file '{place.location}'")
        return opened[target][offset : offset + length]

    return read
