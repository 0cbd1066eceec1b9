"""Damaged files: bits flipped, ends cut off, parts copied over others. A reader gives a result or a documented error."""

from __future__ import annotations

import functools
import glob
import json
import os
import shutil
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn
from mindspore.dataset.sources import annotated
from mindspore.dataset.sources.mnist import read_idx
from mindspore.dataset.sources.sound import read_wave
from mindspore.formats.events.event_file import frame, read_records
from mindspore.formats.events.messages import Event
from mindspore.formats.onnx import load as load_onnx
from mindspore.formats.strategy_file import layouts_of, read_strategy
from mindspore.mindrecord import FileReader, FileWriter
from mindspore.train import SummaryRecord

#: what a reader may raise; in particular no IndexError, KeyError, MemoryError or error of another library
ALLOWED = (ValueError, TypeError, RuntimeError, OSError)


def _network() -> nn.Cell:
    return nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dense(32, 3))


def _write_checkpoint(path: str) -> None:
    ms.save_checkpoint(_network(), path)


def _write_safetensors(path: str) -> None:
    ms.save_checkpoint(_network(), path, format="safetensors")


def _write_model(kind: str, path: str) -> None:
    ms.export(_network(), Tensor(np.ones((1, 1, 4, 4), np.float32)), file_name=path, file_format=kind)


def _write_mindrecord(path: str) -> None:
    writer = FileWriter(path, overwrite=True)
    writer.set_header_size(1 << 14)  # else nearly all that is damaged are megabytes of zeros
    writer.set_page_size(1 << 15)
    writer.add_schema({"label": {"type": "int32"}, "data": {"type": "bytes"}}, "rows")
    writer.write_raw_data([{"label": i, "data": bytes(range(40))} for i in range(12)])
    writer.commit()


def _write_records(path: str) -> None:
    with open(path, "wb") as stream:
        for i in range(6):
            stream.write(frame(b"\x0a\x0c\x0a\x0a\x0a\x01x\x12\x05\x1a\x03\x0a\x01" + bytes([i])))


def _write_events(path: str) -> None:
    folder = f"{path}.d"
    with SummaryRecord(folder) as record:
        for step in range(4):
            record.add_value("scalar", "loss", Tensor(0.5))
            record.add_value("histogram", "w", Tensor(np.arange(5.0, dtype=np.float32)))
            record.record(step)
    name = next(n for n in sorted(os.listdir(folder)) if not n.endswith("_lineage"))
    os.replace(os.path.join(folder, name), path)


def _write_image(suffix: str, path: str) -> None:
    from PIL import Image

    Image.fromarray(np.arange(300, dtype=np.uint8).reshape(10, 10, 3)).save(path, suffix)


def _write_wave(path: str) -> None:
    with wave.open(path, "wb") as stream:
        stream.setnchannels(2)
        stream.setsampwidth(2)
        stream.setframerate(8000)
        stream.writeframes(bytes(range(200)))


def _read_model(path: str) -> None:
    nn.GraphCell(ms.load(path))(Tensor(np.ones((1, 1, 4, 4), np.float32)))


def _read_onnx(path: str) -> None:
    load_onnx(path)


def _read_mindrecord(path: str) -> None:
    for _ in FileReader(path).get_next():
        pass
    for _ in ds.MindDataset(path, shuffle=False).create_tuple_iterator(num_epochs=1, output_numpy=True):
        pass


def _read_records(path: str) -> None:
    for _ in ds.TFRecordDataset(path, shuffle=False).create_tuple_iterator(num_epochs=1, output_numpy=True):
        pass


def _read_events(path: str) -> None:
    with open(path, "rb") as stream:
        for record in read_records(stream.read()):
            Event.decode(record)


def _read_image(path: str) -> None:
    ds.vision.Decode()(np.fromfile(path, np.uint8))


def _write_encrypted(path: str) -> None:
    ms.save_checkpoint(_network(), path, enc_key=b"0123456789ABCDEF", enc_mode="AES-GCM")


def _write_strategy(path: str) -> None:
    item = {"dev_matrix": [2, 4], "tensor_map": [1, -1], "param_split_shape": [], "indices_offset": []}
    with open(path, "w") as stream:
        json.dump({"parallel_layout_item": {"w": item, "b": item}}, stream)


def _read_strategy(path: str) -> None:
    layouts_of(read_strategy(path))


def _write_table(path: str) -> None:
    with open(path, "w") as stream:
        stream.writelines(f"{n},{n / 3},word{n}\n" for n in range(20))


def _read_table(path: str) -> None:
    data = ds.CSVDataset(path, column_defaults=[0, 0.0, ""], column_names=["a", "b", "c"], shuffle=False)
    for _ in data.create_dict_iterator(num_epochs=1, output_numpy=True):
        pass


def _write_text(content: Any, path: str) -> None:
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(content if isinstance(content, str) else json.dumps(content))


def _rows_of(data: Any) -> None:
    for _ in data.create_dict_iterator(num_epochs=1, output_numpy=True):
        pass


def _write_manifest(path: str) -> None:
    _write_image("PNG", f"{path}.png")
    entry = {"source": f"{os.path.abspath(path)}.png", "usage": "TRAIN", "annotation": [{"name": "cat", "type": "image"}, {"name": "dog"}]}
    _write_text(f"{json.dumps(entry)}\n" * 3, path)


def _read_squad(path: str) -> None:
    folder = f"{path}.d"
    os.makedirs(folder, exist_ok=True)
    shutil.copy(path, os.path.join(folder, "train-v1.1.json"))
    _rows_of(ds.SQuADDataset(folder, "train", shuffle=False))


def _read_coco(path: str) -> None:
    for task in ("Detection", "Stuff", "Keypoint", "Captioning"):
        _rows_of(ds.CocoDataset(os.path.dirname(path), path, task, shuffle=False, decode=False))


_COCO = {
    "images": [{"id": 1, "file_name": "sample.coco", "width": 4, "height": 4}, {"id": 2, "file_name": "sample.coco"}],
    "categories": [{"id": 3, "name": "cat", "supercategory": "x"}],
    "annotations": [
        {"id": n, "image_id": 1 + n % 2, "category_id": 3, "iscrowd": 0, "bbox": [0.5, 1, 2, 3], "segmentation": [[1, 2, 3, 4, 5, 6]],
         "keypoints": [1, 2, 2], "num_keypoints": 1, "area": 6, "caption": "a cat"} for n in range(3)
    ],
}  # fmt: skip
_QUESTIONS = [{"question": "who?", "answers": [{"text": "cats", "answer_start": 0}]}, {"question": "why?", "answers": []}]
_SQUAD = {"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": "cats purr", "qas": _QUESTIONS}]}]}
_VOC = """<annotation><folder>f</folder><filename>sample.jpg</filename><size><width>4</width><height>4</height></size>
<object><name>cat</name><difficult>0</difficult><truncated>1</truncated><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox>
</object></annotation>"""
_CLUE = '{"sentence1": "a", "sentence2": "b", "label": "0"}\n{"sentence1": "c", "sentence2": "d", "label": "1"}\n'
_IDX = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 3]) + bytes(range(18))


FORMATS: dict[str, tuple[str, Callable[[str], Any], Callable[[str], Any]]] = {
    "checkpoint": (".ckpt", _write_checkpoint, ms.load_checkpoint),
    "safetensors": (".safetensors", _write_safetensors, lambda path: ms.load_checkpoint(path, format="safetensors")),
    "mindir": (".mindir", functools.partial(_write_model, "MINDIR"), _read_model),
    "onnx": (".onnx", functools.partial(_write_model, "ONNX"), _read_onnx),
    "mindrecord": (".mindrecord", _write_mindrecord, _read_mindrecord),
    "records": (".tfrecord", _write_records, _read_records),
    "events": (".events", _write_events, _read_events),
    "png": (".png", functools.partial(_write_image, "PNG"), _read_image),
    "jpeg": (".jpg", functools.partial(_write_image, "JPEG"), _read_image),
    "bmp": (".bmp", functools.partial(_write_image, "BMP"), _read_image),
    "encrypted": (".enc.ckpt", _write_encrypted, lambda path: ms.load_checkpoint(path, dec_key=b"0123456789ABCDEF")),
    "strategy": (".json", _write_strategy, _read_strategy),
    "table": (".csv", _write_table, _read_table),
    "gif": (".gif", functools.partial(_write_image, "GIF"), _read_image),
    "tiff": (".tiff", functools.partial(_write_image, "TIFF"), _read_image),
    "coco": (".coco", functools.partial(_write_text, _COCO), _read_coco),
    "squad": (".squad", functools.partial(_write_text, _SQUAD), _read_squad),
    "voc": (".xml", functools.partial(_write_text, _VOC), annotated.voc_objects),
    "manifest": (".manifest", _write_manifest, lambda path: _rows_of(ds.ManifestDataset(path, shuffle=False))),
    "clue": (".clue", functools.partial(_write_text, _CLUE), lambda path: _rows_of(ds.CLUEDataset([path], shuffle=False))),
    "idx": (".idx", lambda path: Path(path).write_bytes(_IDX), read_idx),
    "wave": (".wav", _write_wave, read_wave),
}


@functools.cache
def _sample(name: str, scratch: str) -> dict[str, bytes]:
    """What a whole file of the format holds, and the files that belong to it, by what their names add."""
    suffix, write, read = FORMATS[name]
    path = os.path.join(scratch, f"sample{suffix}")
    write(path)
    read(path)  # a whole file is read
    parts = {}
    for found in glob.glob(f"{glob.escape(path)}*"):
        if os.path.isfile(found):
            with open(found, "rb") as stream:
                parts[found.removeprefix(path)] = stream.read()
    return parts


def damaged(rng: np.random.Generator, data: bytes) -> bytes:
    """`data` with a few faults."""
    changed = bytearray(data)
    filled = np.flatnonzero(np.frombuffer(data, np.uint8)) if rng.random() < 0.7 else np.arange(len(data))
    for _ in range(int(rng.integers(1, 5))):
        place = min(int(rng.choice(filled)), len(changed) - 1) if changed else 0
        fault = rng.integers(0, 6)
        if fault == 0 or not changed:
            changed[place:place] = rng.bytes(int(rng.integers(1, 9)))
        elif fault == 1:
            changed[place] ^= 1 << int(rng.integers(0, 8))
        elif fault == 2:
            del changed[place:]
        elif fault == 3:
            length, source = int(rng.integers(1, 64)), int(rng.integers(0, len(changed)))
            changed[place : place + length] = changed[source : source + length]
        elif fault == 4:
            changed[place : place + 4] = rng.choice([b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\xff\xff\xff\x7f"])
        else:
            del changed[place : place + int(rng.integers(1, 32))]
    return bytes(changed)


def case(rng: np.random.Generator, scratch: str) -> None:
    """Read one damaged file."""
    name = str(rng.choice(list(FORMATS)))
    suffix, _, read = FORMATS[name]
    parts = _sample(name, scratch)
    folder = os.path.join(scratch, "damaged")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"sample{suffix}")  # an index names the file that it belongs to
    victim = rng.choice(sorted(parts))
    for added, data in parts.items():
        with open(path + added, "wb") as stream:
            stream.write(damaged(rng, data) if added == victim else data)
    try:
        read(path)
    except ALLOWED as error:
        if type(error).__module__.split(".")[0] not in ("builtins", "mindspore"):
            raise AssertionError(f"{name}: an error of another library, {type(error).__module__}: {error}") from error
    except Exception as error:
        raise AssertionError(f"{name}: {type(error).__name__}: {error!s:.300}") from error
