"""Writes the files beside it. Runs under official MindSpore 2.10 on a CPU, not under this project.

python make_fixtures.py [folder]
"""

from __future__ import annotations

import os
import stat
import sys

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops

KEY = b"0123456789ABCDEF"
NUMBERS = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip


def arrays() -> dict[str, np.ndarray]:
    """One small array per element type, with NaN and infinities among the floats."""
    out = {}
    for name in NUMBERS:
        values = np.arange(-2, 4).reshape(2, 3)
        array = (np.abs(values) if name.startswith("u") else values).astype(name)
        if name.startswith(("float", "complex")):
            array[0] = [np.nan, np.inf, -0.0]
        out[name] = array
    out["scalar"] = np.float32(2.5)
    return out


def entries() -> list[dict]:
    found = [{"name": name, "data": Tensor(array)} for name, array in arrays().items()]
    found.append({"name": "bfloat16", "data": Tensor(np.array([1.5, np.nan, -3.0], np.float32)).astype(ms.bfloat16)})
    return found


def checkpoints(folder: str) -> None:
    extra = {"epoch_num": 3, "lr": 0.5, "flag": True, "text": "héllo"}
    ms.save_checkpoint(entries(), f"{folder}/every_type.ckpt", append_dict=extra)
    ms.save_checkpoint(entries()[:3], f"{folder}/checked.ckpt", crc_check=True)
    ms.save_checkpoint(entries()[:3], f"{folder}/gcm.ckpt", enc_key=KEY)
    ms.save_checkpoint(entries()[:3], f"{folder}/cbc.ckpt", enc_key=KEY, enc_mode="AES-CBC")
    plain = [e for e in entries() if not e["name"].startswith("complex")]
    ms.save_checkpoint(plain, f"{folder}/plain.safetensors", format="safetensors")
    ms.save_checkpoint(plain[:5], f"{folder}/checked.safetensors", format="safetensors", crc_check=True)
    packed = Tensor(np.array([[1, -2], [3, 4]], np.int8), dtype=ms.qint4x2)
    for format in ("ckpt", "safetensors"):
        both = [{"name": "p", "data": packed}, {"name": "q", "data": Tensor([1.0])}]
        ms.save_checkpoint(both, f"{folder}/int4.{format}", format=format)


class Convolutions(nn.Cell):
    """The layers of LeNet, small."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 3, pad_mode="same")
        self.conv2 = nn.Conv2d(3, 4, 3, pad_mode="valid", has_bias=True)
        self.norm = nn.BatchNorm2d(4)
        self.fc = nn.Dense(16, 5)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.norm(self.conv2(x))))
        return self.fc(self.flatten(x))


class Control(nn.Cell):
    """A branch and a loop on run-time values."""

    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name="w")

    def construct(self, x, n):
        if x.sum() > 0:
            y = x * self.w
        else:
            y = x - self.w
        i = Tensor(0, ms.int32)
        while i < n:
            y = y + 1.0
            i = i + 1
        return y, y.sum()


class Mixture(nn.Cell):
    """Embedding, normalisation, shapes, several and nested results."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.norm = nn.LayerNorm((4,))
        self.softmax = nn.Softmax()

    def construct(self, x, ids):
        e = self.norm(self.table(ids))
        y = ops.transpose(x, (0, 2, 1)).reshape((2, -1))
        y = self.softmax(ops.concat((y, y * 2), 1))
        return y.mean(axis=1), ops.split(e, 1, 1), e.astype(ms.float16), ops.zeros((2, 3), ms.float32)


class Settings(nn.Cell):
    """Operations whose settings stand among the inputs, some of which other programs compose of others."""

    def __init__(self):
        super().__init__()
        self.steps = nn.CellList([nn.CELU(2.0), nn.HShrink(1.3), nn.SoftShrink(1.2), nn.LeakyReLU(0.3), nn.Hardtanh(-0.5, 0.7)])
        self.blocks, self.std = ops.DepthToSpace(2), ops.ReduceStd(axis=1)

    def construct(self, x):
        found = [step(x) for step in self.steps]
        grown = ops.pad(x, (1, 0, 2, 1), value=3.0)
        return (*found, ops.diagonal(x, 1, 2, 3), self.blocks(x), self.std(x)[0], grown, ops.pad(x, (1, 2, 0, 1), mode="reflect"))


def flat(value) -> list[np.ndarray]:
    if isinstance(value, (tuple, list)):
        return [a for v in value for a in flat(v)]
    return [value.asnumpy()]


def models(folder: str) -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    rng = np.random.default_rng(0)
    conv = Convolutions().set_train(False)
    for parameter in conv.get_parameters():
        values = rng.random(parameter.shape).astype(np.float32) * 0.5
        parameter.set_data(Tensor(values))
    cases = {
        "convolutions": (conv, [rng.random((2, 1, 12, 12)).astype(np.float32)]),
        "control": (Control(), [np.ones(2, np.float32), np.array(3, np.int32)]),
        "mixture": (Mixture(), [rng.random((2, 3, 4)).astype(np.float32), np.array([[1, 2]], np.int32)]),
        "settings": (Settings(), [rng.normal(size=(2, 4, 3, 5)).astype(np.float32) * 2]),
    }
    for name, (net, inputs) in cases.items():
        tensors = [Tensor(i) for i in inputs]
        ms.export(net, *tensors, file_name=f"{folder}/{name}", file_format="MINDIR")
        named = {f"in{i}": a for i, a in enumerate(inputs)}
        named.update({f"out{i}": a for i, a in enumerate(flat(net(*tensors)))})
        np.savez(f"{folder}/{name}.npz", **named)
    ms.export(Control(), *[Tensor(i) for i in cases["control"][1]], file_name=f"{folder}/encrypted", file_format="MINDIR",
              enc_key=KEY, enc_mode="AES-GCM")  # fmt: skip


def exchanged(folder: str) -> None:
    """Some of the networks that `make interop` exchanges."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../interop"))
    import exchange
    import networks

    os.makedirs(folder, exist_ok=True)
    for name in (
        "bert_tiny_free",
        "indexing",
        "lstm",
        "gru",
        "shapes",
        "yolo",
        "counter",
        "loops",
        "early",
        "branches",
    ):
        exchange.write_model(folder, name)
    for name, (make, inputs) in networks.WRITE_ONLY.items():
        ms.export(make(), *[Tensor(i) for i in inputs], file_name=f"{folder}/{name}", file_format="MINDIR")


def prepared(folder: str) -> None:
    """A model with the preparation of its data."""
    import mindspore.dataset as ds
    from mindspore.dataset import vision

    steps = [vision.Resize((2, 2)), vision.Rescale(1 / 255.0, 0.5), vision.HWC2CHW()]
    rows = ds.NumpySlicesDataset({"image": np.zeros((2, 4, 4, 3), np.uint8)}, shuffle=False).map(steps, ["image"])
    x = Tensor(np.ones((1, 3, 2, 2), np.float32))
    ms.export(nn.ReLU(), x, file_name=f"{folder}/prepared", file_format="MINDIR", dataset=rows)


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    checkpoints(target)
    models(target)
    exchanged(os.path.join(target, "networks"))
    prepared(os.path.join(target, "networks"))
    for place, _, files in os.walk(target):
        for file in files:
            os.chmod(os.path.join(place, file), stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)
