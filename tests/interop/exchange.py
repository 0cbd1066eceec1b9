"""One side of the exchange; official MindSpore and this package run the same program.

python exchange.py write FOLDER       writes checkpoints, and models with their inputs and outputs
python exchange.py read FOLDER        reads what the other side wrote and compares; prints one JSON line per file
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import struct
import sys
from collections.abc import Callable, Iterator

import numpy as np
from networks import CASES
from operations import FUNCTIONS

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.train import serialization

KEY = b"0123456789ABCDEF"
#: models whose weights lie in files of their own, and models that are encrypted
APART = ("weights_apart", "encrypted_apart")
ENCRYPTED = ("encrypted", "encrypted_apart")
TEXT = "héllo"
TYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
)  # fmt: skip; official MindSpore writes complex numbers but cannot read them: see the fixtures in tests/data/official
#: file → options of save_checkpoint, options of load_checkpoint
FILES = {
    "plain.ckpt": ({}, {}),
    "checked.ckpt": ({"crc_check": True}, {"crc_check": True}),
    "gcm.ckpt": ({"enc_key": KEY}, {"dec_key": KEY}),
    "cbc.ckpt": ({"enc_key": KEY, "enc_mode": "AES-CBC"}, {"dec_key": KEY, "dec_mode": "AES-CBC"}),
    "plain.safetensors": ({"format": "safetensors"}, {"format": "safetensors"}),
    "checked.safetensors": (
        {"format": "safetensors", "crc_check": True},
        {"format": "safetensors", "crc_check": True},
    ),
}


def arrays() -> dict[str, np.ndarray]:
    """One array per element type, with NaN, infinities and both zeros among the floats."""
    made = {}
    for name in TYPES:
        values = np.arange(-2, 4).reshape(2, 3)
        made[name] = (np.abs(values) if name.startswith("u") else values).astype(name)
        if name.startswith("float"):
            made[name][0] = [np.nan, np.inf, -0.0]
    made["scalar"] = np.float32(2.5)
    return made


def wanted(file: str, name: str) -> bool:
    """What official MindSpore can save: it cannot make checksums of bfloat16 in safetensors."""
    return (file, name) != ("checked.safetensors", "bfloat16")


def half(values: np.ndarray) -> Tensor:
    return Tensor(values).astype(ms.bfloat16)


HALF = np.array([1.5, -3.0, 1e30, 0.0], np.float32)


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def write(folder: str) -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    for file, (options, _) in FILES.items():
        entries = [{"name": n, "data": Tensor(a)} for n, a in arrays().items() if wanted(file, n)]
        if wanted(file, "bfloat16"):
            entries.append({"name": "bfloat16", "data": half(HALF)})
        extra = {"epoch": 3, "rate": 0.5, "flag": True}
        if not file.endswith("safetensors"):
            extra["text"] = TEXT
        ms.save_checkpoint(entries, f"{folder}/{file}", append_dict=extra, **options)
    write_summary(folder)
    for name in models():
        try:
            write_model(folder, name)
        except Exception as error:  # reported by the reader, which finds no file
            with open(f"{folder}/{name}.error", "w") as stream:
                stream.write(f"{type(error).__name__}: {error}")


TAGS = {"loss", "distribution", "picture"}


def write_summary(folder: str) -> None:
    with ms.SummaryRecord(f"{folder}/summary") as record:
        record.add_value("scalar", "loss", Tensor(np.float32(0.5)))
        record.add_value("histogram", "distribution", Tensor(np.arange(20, dtype=np.float32)))
        record.add_value("image", "picture", Tensor(np.zeros((1, 3, 4, 4), np.float32)))
        record.record(1)


def models() -> dict:
    """The networks, and each function as a network."""
    functions = {f"op_{name}": (lambda f=f: Function(f), inputs, None) for name, (f, inputs) in FUNCTIONS.items()}
    return {**CASES, **dict.fromkeys((*APART, *ENCRYPTED), CASES["lenet"]), **functions}


class Function(nn.Cell):
    """A function of tensors as a network."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *inputs):
        return self.function(*inputs)


def write_model(folder: str, name: str) -> None:
    make, inputs, shapes = models()[name]
    ms.set_seed(1)
    net = make()
    net.set_train(name.startswith("train"))
    tensors = [Tensor(i) for i in inputs]
    examples = tensors
    if shapes is not None:
        examples = [Tensor(shape=list(s), dtype=t.dtype) for s, t in zip(shapes, tensors)]
    options = {"enc_key": KEY, "enc_mode": "AES-GCM"} if name in ENCRYPTED else {}
    with weights_apart() if name in APART else contextlib.nullcontext():
        ms.export(net, *examples, file_name=f"{folder}/{name}", file_format="MINDIR", **options)
    stored = {f"in{i}": a for i, a in enumerate(inputs)}
    stored.update({f"out{i}": a for i, a in enumerate(results(net, name, tensors))})
    np.savez(f"{folder}/{name}.npz", **stored)


@contextlib.contextmanager
def weights_apart() -> Iterator[None]:
    """Weights go to files of their own however small they are."""
    before, serialization.TOTAL_SAVE = serialization.TOTAL_SAVE, 0
    yield
    serialization.TOTAL_SAVE = before


def results(net, name: str, tensors: list) -> list[np.ndarray]:
    """What a network gives; a step of training is taken three times."""
    return [a for _ in range(3 if name.startswith("train") else 1) for a in flat(net(*tensors))]


def flat(value) -> list[np.ndarray]:
    """The arrays of a result."""
    if isinstance(value, (tuple, list)):
        return [a for v in value for a in flat(v)]
    return [value.asnumpy()]


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def checks(folder: str) -> Iterator[tuple[str, Callable[[], str]]]:
    for file in FILES:
        yield file, lambda file=file: read_checkpoint(folder, file)
    yield "summary", lambda: read_summary(folder)
    for name in models():
        yield f"{name}.mindir", lambda name=name: read_model(folder, name)


def read_checkpoint(folder: str, file: str) -> str:
    found = ms.load_checkpoint(f"{folder}/{file}", **FILES[file][1])
    for name, array in arrays().items():
        if not wanted(file, name):
            continue
        value = found[name].asnumpy()
        assert value.dtype == array.dtype and value.shape == np.shape(array), f"{name} is {value.dtype} {value.shape}"
        assert value.tobytes() == array.tobytes(), f"{name} differs"
    if wanted(file, "bfloat16"):
        assert found["bfloat16"].dtype == ms.bfloat16
        same = found["bfloat16"].astype(ms.float32).asnumpy() == half(HALF).astype(ms.float32).asnumpy()
        assert same.all(), "bfloat16 differs"
    assert int(found["epoch"].asnumpy()) == 3 and float(found["rate"].asnumpy()) == 0.5
    assert bool(found["flag"].asnumpy()) is True
    assert file.endswith("safetensors") or found["text"] == TEXT
    return "bit-equal"


def read_summary(folder: str) -> str:
    """The tags of the values in an event file, read with the messages of this side."""
    (path,) = glob.glob(f"{folder}/summary/*_MS")
    with open(path, "rb") as stream:
        content = stream.read()
    at, tags = 0, set()
    while at < len(content):
        (size,) = struct.unpack_from("<Q", content, at)
        event = _event(content[at + 12 : at + 12 + size])
        tags |= {value.tag for value in event.summary.value} if event.summary else set()
        at += 16 + size
    assert tags == TAGS, f"the tags are {tags}"
    return "all values found"


def _event(content: bytes):
    try:
        from mindspore.train.summary_pb2 import Event
    except ImportError:
        from mindspore.formats.events.messages import Event

        return Event.decode(content)
    event = Event()
    event.ParseFromString(content)
    return event


def read_model(folder: str, name: str) -> str:
    if os.path.exists(f"{folder}/{name}.error"):
        with open(f"{folder}/{name}.error") as stream:
            raise RuntimeError(f"not written: {stream.read()}")
    ms.set_context(mode=ms.GRAPH_MODE)
    stored = np.load(f"{folder}/{name}.npz")
    file = f"{name}_graph.mindir" if name in APART else f"{name}.mindir"
    options = {"dec_key": KEY, "dec_mode": "AES-GCM"} if name in ENCRYPTED else {}
    net = nn.GraphCell(ms.load(f"{folder}/{file}", **options))
    net.set_train(name.startswith("train"))
    found = results(net, name, [Tensor(stored[k]) for k in stored.files if k.startswith("in")])
    expected = [stored[k] for k in stored.files if k.startswith("out")]
    assert len(found) == len(expected), f"{len(found)} results, not {len(expected)}"
    worst = 0.0
    for value, other in zip(found, expected):
        assert value.dtype == other.dtype, f"a result has type {value.dtype}, not {other.dtype}"
        np.testing.assert_allclose(value, other, rtol=2e-3, atol=2e-5)
        worst = max(worst, float(np.max(np.abs(value.astype(np.float64) - other), initial=0)))
    return f"largest difference {worst:.1e}"


def read(folder: str) -> None:
    for label, check in checks(folder):
        try:
            line = {"file": label, "ok": True, "note": check()}
        except Exception as error:
            line = {"file": label, "ok": False, "note": f"{type(error).__name__}: {error}"[:600]}
        print("EXCHANGE " + json.dumps(line), flush=True)


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](sys.argv[2])
