"""Files exchanged with official MindSpore 2.10: run by `make interop`, not by the test suite.

    python tests/interop/train_files.py /path/to/official/python

Writes checkpoints, MindIR models and event files here, lets the official package load and run them in a process of its
own, and compares. The other direction is covered by the fixtures in tests/data/official, which the suite reads.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np

THEIRS = r"""
import sys
import numpy as np
import mindspore as ms
from mindspore import nn, Tensor

folder = sys.argv[1]
data = np.load(f"{folder}/arrays.npz")
key = b"0123456789ABCDEF"
readers = {
    "plain.ckpt": {}, "checked.ckpt": {"crc_check": True}, "gcm.ckpt": {"dec_key": key, "crc_check": True},
    "cbc.ckpt": {"dec_key": key, "dec_mode": "AES-CBC"}, "plain.safetensors": {"format": "safetensors"},
}
for name, options in readers.items():
    found = ms.load_checkpoint(f"{folder}/{name}", **options)
    for label in data.files:
        value = found[label].asnumpy()
        assert value.dtype == data[label].dtype and value.tobytes() == data[label].tobytes(), (name, label)
    assert name.endswith("safetensors") or found["text"] == "h\u00e9llo"
    print("ok", name)
ms.set_context(mode=ms.GRAPH_MODE)
for name in ("convolutions", "attention", "control"):
    stored = np.load(f"{folder}/{name}.npz")
    net = nn.GraphCell(ms.load(f"{folder}/{name}.mindir"))
    out = net(*[Tensor(stored[k]) for k in stored.files if k.startswith("in")])
    out = out if isinstance(out, tuple) else (out,)
    for i, value in enumerate(out):
        np.testing.assert_allclose(value.asnumpy(), stored[f"out{i}"], rtol=1e-4, atol=1e-5)
    print("ok", name)
from mindspore.train.summary_pb2 import Event
import glob, struct
(path,) = glob.glob(f"{folder}/summary/*_MS")
content, at, tags = open(path, "rb").read(), 0, set()
while at < len(content):
    (size,) = struct.unpack_from("<Q", content, at)
    event = Event()
    event.ParseFromString(content[at + 12 : at + 12 + size])
    tags |= {v.tag for v in event.summary.value}
    at += 16 + size
assert tags == {"loss", "h", "picture"}, tags
print("ok summary")
"""


def arrays() -> dict[str, np.ndarray]:
    names = [
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
    ]
    out = {n: np.arange(6).reshape(2, 3).astype(n) for n in names}
    for name in ("float16", "float32", "float64"):
        out[name][0] = [np.nan, np.inf, -0.0]
    return out


def write_checkpoints(folder: str) -> None:
    import mindspore as ms

    values = {n: ms.Parameter(ms.Tensor.from_numpy(a)) for n, a in arrays().items()}
    np.savez(f"{folder}/arrays.npz", **arrays())
    extra = {"append_dict": {"text": "h\u00e9llo"}}
    key = b"0123456789ABCDEF"
    ms.save_checkpoint(values, f"{folder}/plain.ckpt", **extra)
    ms.save_checkpoint(values, f"{folder}/checked.ckpt", crc_check=True, **extra)
    ms.save_checkpoint(values, f"{folder}/gcm.ckpt", enc_key=key, crc_check=True, **extra)
    ms.save_checkpoint(values, f"{folder}/cbc.ckpt", enc_key=key, enc_mode="AES-CBC", **extra)
    ms.save_checkpoint(values, f"{folder}/plain.safetensors", format="safetensors")


def write_models(folder: str) -> None:
    import mindspore as ms
    from mindspore import Tensor

    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "train"))
    from test_onnx import Attention, Control, Convolutions

    rng = np.random.default_rng(0)
    cases = {
        "convolutions": (Convolutions(), [rng.random((2, 3, 12, 12)).astype(np.float32)]),
        "attention": (Attention(), [rng.integers(0, 20, (2, 5)).astype(np.int32)]),
        "control": (_First(Control()), [np.ones(2, np.float32), np.array(4, np.int32)]),
    }
    for name, (net, inputs) in cases.items():
        net.set_train(False)
        tensors = [Tensor(i) for i in inputs]
        out = net(*tensors)
        out = out if isinstance(out, tuple) else (out,)
        ms.export(net, *tensors, file_name=f"{folder}/{name}", file_format="MINDIR")
        stored = {f"in{i}": a for i, a in enumerate(inputs)} | {f"out{i}": o.asnumpy() for i, o in enumerate(out)}
        np.savez(f"{folder}/{name}.npz", **stored)


def _First(net):
    from mindspore import nn

    class First(nn.Cell):
        """Only the first result."""

        def __init__(self):
            super().__init__()
            self.net = net

        def construct(self, x, n):
            return self.net(x, n)[0]

    return First()


def write_summary(folder: str) -> None:
    import mindspore as ms

    with ms.SummaryRecord(f"{folder}/summary") as record:
        record.add_value("scalar", "loss", ms.Tensor(0.5))
        record.add_value("histogram", "h", ms.Tensor(np.arange(20, dtype=np.float32)))
        record.add_value("image", "picture", ms.Tensor(np.zeros((1, 3, 4, 4), np.uint8)))
        record.record(1)


def main() -> None:
    official = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        write_checkpoints(folder)
        write_models(folder)
        write_summary(folder)
        environment = {**os.environ, "GLOG_v": "3", "PYTHONPATH": ""}
        subprocess.run([official, "-c", THEIRS, folder], check=True, env=environment, cwd=folder)


if __name__ == "__main__":
    main()
