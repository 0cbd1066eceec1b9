"""Reading and writing `.mindir` files: one file, or a graph file with the weights in files beside it."""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mindspore._base.files import atomic_write
from mindspore._base.protobuf import DecodeError
from mindspore.ir.mindir_proto import ExternalData, ModelProto, TensorProto
from mindspore.train import cipher

SPLIT_ABOVE = 1 << 30
_HEAD = 64
_READ_ONLY = 0o400


def save_model(
    model: ModelProto, path: str, encrypt: Callable[[Any], bytes] | None, split_above: int | None = None
) -> str:
    """Write a model; returns the name of the graph file. Weights of more than 1 GiB (or `split_above`) go to others."""
    stem = path.removesuffix(".mindir")
    parameters = model.graph.parameter
    Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
    if sum(len(p.raw_data) for p in parameters) <= (SPLIT_ABOVE if split_above is None else split_above):
        target = f"{stem}.mindir"
    else:
        _save_weights(parameters, stem, encrypt)
        target = f"{stem}_graph.mindir"
    content: Any = model.encode()
    with atomic_write(target, permissions=_READ_ONLY) as stream:
        stream.write(content if encrypt is None else encrypt(content))
    return target


def _save_weights(parameters: list[TensorProto], stem: str, encrypt: Callable[[Any], bytes] | None) -> None:
    """Put the weights into `<stem>_variables/data_0`; the folder appears when it is complete."""
    folder = f"{os.path.basename(stem)}_variables"
    parent = os.path.dirname(os.path.realpath(stem))
    fresh = tempfile.mkdtemp(dir=parent, prefix=f".{folder}.")
    try:
        with open(os.path.join(fresh, "data_0"), "wb") as stream:
            head = b"\x01" + bytes(_HEAD - 1)
            stream.write(head if encrypt is None else encrypt(head))
            offset = _HEAD
            for parameter in sorted(parameters, key=lambda p: p.ref_key or p.name):
                raw = bytes(parameter.raw_data) + bytes(-len(parameter.raw_data) % _HEAD)
                stream.write(raw if encrypt is None else encrypt(raw))
                location = f"{folder}/data_0"
                parameter.external_data = ExternalData(
                    location=location, offset=offset, length=len(parameter.raw_data)
                )  # fmt: skip
                parameter.raw_data = None
                offset += len(raw)
        target = os.path.join(parent, folder)
        shutil.rmtree(target, ignore_errors=True)
        os.replace(fresh, target)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def read_model(path: str, decrypt: Callable[[Any], bytes] | None) -> ModelProto:
    """Read a model; ValueError when the file is not one."""
    if not isinstance(path, str):
        raise ValueError(f"For 'load', the file name must be a string, but got {type(path)}.")
    if not os.path.isfile(path):
        raise RuntimeError(f"For 'load', the file {path} does not exist.")
    data: Any = _mapped(path)
    if decrypt is not None:
        try:
            data = decrypt(data)
        except cipher.WrongKeyError as error:
            raise ValueError(f"The MindIR file {path} cannot be decrypted with this 'dec_key': {error}.") from None
    elif cipher.is_encrypted(data[:4]):
        raise ValueError(f"The MindIR file {path} is encrypted; pass the right 'dec_key' and 'dec_mode'.")
    try:
        model = ModelProto.decode(data)
        if model.graph is None:
            raise DecodeError("it has no graph")
    except DecodeError as error:
        raise ValueError(f"The file {path} is no MindIR model, is cut short or is damaged: {error}.") from None
    return model


def _mapped(path: str) -> memoryview:
    """The bytes of a file, mapped rather than read."""
    with open(path, "rb") as stream:
        if os.fstat(stream.fileno()).st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def external_reader(path: str) -> Callable[[TensorProto], Any]:
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
                raise DecodeError(f"the data file '{place.location}' is missing")
            opened[target] = _mapped(target)
        offset, length = place.offset or 0, place.length or 0
        if offset < 0 or length < 0 or offset + length > len(opened[target]):
            raise DecodeError(f"the data of '{tensor.name}' reaches beyond the file '{place.location}'")
        return opened[target][offset : offset + length]

    return read
