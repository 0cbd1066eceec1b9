"""Damaged models of every format that Lite converts or loads: refused by RuntimeError, with nothing written, in bounded memory.

Besides faults in bytes (`fuzz_files.damaged`), sizes and references of a structure are replaced: huge and negative sizes, operators that
read their own results, buffers that lie over others.
"""

from __future__ import annotations

import functools
import os
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_files import damaged

import mindspore as ms
import mindspore_lite as mslite
from mindspore import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent.parent / "lite"))
import test_lite_caffe as caffe
import test_lite_tensorflow as tensorflow
import test_lite_tflite as tflite

GROWTH = 1 << 20  # kilobytes that the process may grow by at one file
NUMBERS = (-(1 << 31), -1, 0, 1, 7, 65536, (1 << 31) - 1)


def _number(rng: np.random.Generator) -> int:
    return int(rng.choice(NUMBERS))


def _pick(rng: np.random.Generator, items: list[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


# -- files, with one wrong number where `rng` is given ------------------------------------------------------------------
def _tflite(path: str, rng: np.random.Generator | None) -> None:
    w, bias = np.ones((4, 3, 3, 3), np.float32), np.ones(4, np.float32)
    tensors = [[[1, 6, 6, 3], None], [list(w.shape), w], [[4], bias], [[1, 6, 6, 4], None], [[1, 144], None], [[2], np.int32([1, 144])]]
    options = (7, {0: ("Int8", 0), 1: ("Int32", 1), 2: ("Int32", 1), 3: ("Int8", 3)})
    operators = [[3, [0, 1, 2], [3], options], [22, [3, 5], [4], None]]
    if rng is not None:
        fault = rng.integers(4)
        if fault == 0:
            shape = _pick(rng, tensors)[0]
            shape[int(rng.integers(len(shape)))] = _number(rng)
        elif fault == 1:
            places = _pick(rng, operators)[int(rng.integers(1, 3))]
            places[int(rng.integers(len(places)))] = int(rng.choice([-1, 0, 3, 4, 5, 6, 1 << 30]))
        elif fault == 2:
            options[1][int(rng.integers(1, 3))] = ("Int32", _number(rng))
        else:
            _pick(rng, operators)[0] = int(rng.integers(0, 150))
    tflite.write(Path(path), tensors, operators, [0], [4])


def _tensorflow(path: str, rng: np.random.Generator | None) -> None:
    nodes = [
        tensorflow.placeholder("x", 2, 6, 6, 3), tensorflow.constant("w", np.ones((3, 3, 3, 4), np.float32)),
        tensorflow.node("Conv2D", "conv", "x", "w", strides=[1, 2, 2, 1], padding="SAME"),
        tensorflow.node("Relu", "relu", "conv"), tensorflow.constant("shape", np.int32([2, -1])),
        tensorflow.node("Reshape", "flat", "relu", "shape"), tensorflow.node("Identity", "y", "flat"),
    ]  # fmt: skip
    if rng is not None:
        node = _pick(rng, nodes)
        fault = rng.integers(4)
        if fault == 0 and node.input:
            node.input[int(rng.integers(len(node.input)))] = _pick(rng, nodes).name  # perhaps a cycle
        elif fault == 1:
            node.op = _pick(rng, nodes).op
        elif fault == 2 and node.attr:
            value = _pick(rng, list(node.attr)).value
            if value.tensor is not None and value.tensor.shape.dim:
                _pick(rng, list(value.tensor.shape.dim)).size = _number(rng)
            elif value.shape is not None and value.shape.dim:
                _pick(rng, list(value.shape.dim)).size = _number(rng)
            elif value.list is not None and value.list.i:
                value.list.i[int(rng.integers(len(value.list.i)))] = _number(rng)
        else:
            node.name = _pick(rng, nodes).name
    Path(path).write_bytes(tensorflow.tf_messages.GraphDef(node=nodes).encode())


def _caffe(path: str, rng: np.random.Generator | None) -> None:
    text = caffe.NET
    if rng is not None:
        words = text.split(" ")
        places = [n for n, word in enumerate(words) if word.lstrip("-").isdigit() or word.startswith('"')]
        place = int(rng.choice(places))
        number = words[place].lstrip("-").isdigit()
        words[place] = str(_number(rng)) if number else _pick(rng, [w for w in words if w.startswith('"')])
        text = " ".join(words)
    Path(path).write_text(text)
    if not os.path.exists(f"{path}.caffemodel"):
        Path(f"{path}.caffemodel").write_bytes(caffe.weights())


def _network() -> nn.Cell:
    return nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dense(32, 3))


def _mindir(path: str, rng: np.random.Generator | None) -> None:
    ms.export(_network(), Tensor(np.ones((1, 1, 4, 4), np.float32)), file_name=path, file_format="MINDIR")


def _ms(path: str, rng: np.random.Generator | None) -> None:
    _mindir(f"{path}.mindir", None)
    mslite.Converter().convert(mslite.FmkType.MINDIR, f"{path}.mindir", path)


def _torch(path: str, rng: np.random.Generator | None) -> None:
    import torch

    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 3)).eval()
    torch.export.save(torch.export.export(net, (torch.zeros(1, 1, 4, 4),)), path)


# -- reading ---------------------------------------------------------------------------------------------------------
def _convert(kind: Any, path: str) -> None:
    weights = f"{path}.caffemodel" if kind is mslite.FmkType.CAFFE else ""
    output = f"{path}.out"
    try:
        mslite.Converter().convert(kind, path, output, weights)
    except RuntimeError:
        left = [name for name in os.listdir(os.path.dirname(path)) if name.startswith(os.path.basename(output))]
        assert not left, f"left behind: {left}"
        raise
    os.remove(f"{output}.ms")


def _load(path: str) -> None:
    model = mslite.Model()
    model.build_from_file(path, mslite.ModelType.MINDIR_LITE)
    model.predict([np.ones((1, 1, 4, 4), np.float32)])


Format = tuple[str, Callable[[str, Any], None], Callable[[str], None]]
FORMATS: dict[str, Format] = {
    "tflite": (".tflite", _tflite, functools.partial(_convert, mslite.FmkType.TFLITE)),
    "tensorflow": (".pb", _tensorflow, functools.partial(_convert, mslite.FmkType.TF)),
    "caffe": (".prototxt", _caffe, functools.partial(_convert, mslite.FmkType.CAFFE)),
    "mindir": (".mindir", _mindir, functools.partial(_convert, mslite.FmkType.MINDIR)),
    "ms": (".ms", _ms, _load),
}
STRUCTURED = ("tflite", "tensorflow", "caffe")
try:
    import torch  # noqa: F401
except ImportError:
    pass
else:
    FORMATS["pytorch"] = (".pt2", _torch, functools.partial(_convert, mslite.FmkType.PYTORCH))


@functools.cache
def _sample(name: str, scratch: str) -> bytes:
    suffix, write, read = FORMATS[name]
    path = os.path.join(scratch, f"sample{suffix}")
    write(path, None)
    read(path)  # a whole file is accepted
    return Path(path).read_bytes()


def case(rng: np.random.Generator, scratch: str) -> None:
    """Convert or load one damaged model."""
    name = str(rng.choice(list(FORMATS)))
    suffix, write, read = FORMATS[name]
    path = os.path.join(scratch, f"damaged{suffix}")
    whole = _sample(name, scratch)
    if name in STRUCTURED and rng.integers(2):
        write(path, rng)
    else:
        Path(path).write_bytes(damaged(rng, whole))
    if name == "caffe" and rng.integers(2):
        sample = Path(os.path.join(scratch, f"sample{suffix}.caffemodel"))
        Path(f"{path}.caffemodel").write_bytes(damaged(rng, sample.read_bytes()))
    elif name == "caffe":
        shutil.copy(os.path.join(scratch, f"sample{suffix}.caffemodel"), f"{path}.caffemodel")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        read(path)
    except RuntimeError:
        pass
    except AssertionError:
        raise
    except Exception as error:
        if name != "ms" or not isinstance(error, ValueError):  # predict's own word for inputs that do not fit
            raise AssertionError(f"{name}: {type(error).__name__}: {error!s:.300}") from error
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < GROWTH, f"{name}: grew by {grown} KB"
