"""Weights of other libraries: names, shapes, and PyTorch's files read without executing anything."""

import collections
import io
import os
import pickle
import sys
import types
import zipfile

import numpy as np
import pytest

import mindspore as ms
from mindspore import model_zoo
from mindspore.formats import safetensors, torch_file
from mindspore.model_zoo.weights import original_names


class Stored:
    """Pickles as PyTorch pickles a tensor."""

    def __init__(self, key, array, strides=None, shape=None):
        self.key, self.array, self.shape = key, array, shape or array.shape
        self.strides = strides or tuple(s // array.itemsize for s in array.strides)


@pytest.fixture
def torch_names(monkeypatch):
    """Modules of the names that PyTorch's files refer to, so that such a file can be written here."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    utils._rebuild_tensor_v2 = lambda *a: None
    utils._rebuild_tensor_v2.__module__, utils._rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    torch.FloatStorage = type("FloatStorage", (), {"__module__": "torch"})
    torch._utils = utils
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)
    return torch


def torch_bytes(torch, content, compression=zipfile.ZIP_STORED):
    """A file as `torch.save` writes it."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj):
            if isinstance(obj, tuple) and obj and obj[0] == "storage":
                return obj
            return None

        def reducer_override(self, obj):
            if isinstance(obj, Stored):
                storage = ("storage", torch.FloatStorage, obj.key, "cpu", obj.array.size)
                return torch._utils._rebuild_tensor_v2, (storage, 0, obj.shape, obj.strides, False, collections.OrderedDict())
            return NotImplemented

    listing, file = io.BytesIO(), io.BytesIO()
    Pickler(listing, 2).dump(content)
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr("archive/data.pkl", listing.getvalue())
        for value in content.values() if isinstance(content, dict) else ():
            if isinstance(value, Stored):
                archive.writestr(f"archive/data/{value.key}", value.array.tobytes())
    return memoryview(file.getvalue())


def test_tensors_are_views_of_their_storage(torch_names):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    data = torch_bytes(torch_names, {"a": Stored("0", array), "t": Stored("1", array, strides=(1, 3), shape=(3, 2)), "n": 3})
    found = torch_file.read(data, "file")
    assert sorted(found) == ["a", "t"]
    np.testing.assert_array_equal(found["a"], array)
    np.testing.assert_array_equal(found["t"], array.T)


@pytest.mark.parametrize("strides, shape", [((3, 1), (4, 3)), ((0, 0), (10**6, 10**6)), ((-1, 1), (2, 3)), ((1,), (2, 3))])
def test_tensors_beyond_their_storage_are_refused(torch_names, strides, shape):
    data = torch_bytes(torch_names, {"a": Stored("0", np.zeros((2, 3), np.float32), strides, shape)})
    with pytest.raises(ValueError, match="is damaged"):
        torch_file.read(data, "file")


class Evil:
    def __reduce__(self):
        return os.mkdir, ("zoo_was_here",)


def test_nothing_is_executed(torch_names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="which files of weights do not need"):
        torch_file.read(torch_bytes(torch_names, {"a": Evil()}), "file")
    assert not os.path.exists("zoo_was_here")


def test_damaged_files_are_refused(torch_names):
    good = bytes(torch_bytes(torch_names, {"a": Stored("0", np.zeros((2, 3), np.float32))}))
    rng = np.random.default_rng(0)
    for cut in (0, 1, 30, len(good) // 2, len(good) - 1):
        with pytest.raises(ValueError, match=r"file x\.pth"):
            torch_file.read(memoryview(good[:cut]), "x.pth")
    for _ in range(300):
        bad = bytearray(good)
        for place in rng.integers(0, len(bad), 3):
            bad[place] ^= int(rng.integers(1, 256))
        try:
            torch_file.read(memoryview(bytes(bad)), "x.pth")
        except ValueError as error:
            assert "x.pth" in str(error)
    with pytest.raises(ValueError, match="compressed"):
        content = {"a": Stored("0", np.zeros(3, np.float32))}
        torch_file.read(torch_bytes(torch_names, content, zipfile.ZIP_DEFLATED), "file")


def weights_file(net, path, **changed):
    arrays = {theirs: p.asnumpy() + 1 for p, theirs in ((p, original_names(net)[p.name]) for p in net.get_parameters())}
    safetensors.write(str(path), {k: v for k, v in {**arrays, **changed}.items() if v is not None})
    return str(path)


def test_names_are_those_of_the_original():
    names = set(original_names(model_zoo.create("resnet18", tiny=True)).values())
    assert {"conv1.weight", "bn1.running_mean", "layer2.0.downsample.1.weight", "fc.bias"} <= names
    names = set(original_names(model_zoo.create("vit_b_16", tiny=True)).values())
    assert {"class_token", "encoder.layers.encoder_layer_0.self_attention.in_proj_weight", "heads.head.weight"} <= names


def test_weights_are_loaded_and_what_does_not_fit_changes_nothing(tmp_path):
    net = model_zoo.create("resnet18", tiny=True)
    before = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
    for bad, words in (
        ({"fc.weight": np.zeros((7, 128), np.float32)}, r"fc.weight has the shape \(7, 128\)"),
        ({"extra": np.zeros(1, np.float32)}, "has no extra"),
        ({"fc.bias": None}, "lacks fc.bias"),
    ):
        with pytest.raises(ValueError, match=words):
            model_zoo.load_weights(net, weights_file(net, tmp_path / "bad.safetensors", **bad))
    assert all((p.asnumpy() == before[p.name]).all() for p in net.get_parameters())
    file = weights_file(net, tmp_path / "good.safetensors", **{"bn1.num_batches_tracked": np.array(3)})
    model_zoo.load_weights(net, file, skip=("fc.",))
    for p in net.get_parameters():
        np.testing.assert_array_equal(p.asnumpy(), before[p.name] + (not p.name.startswith("fc.")))


@pytest.mark.parametrize("name", ["resnet18", "gpt2", "bert_base"])
def test_files_saved_here_are_read_too(name, tmp_path):
    net, other = model_zoo.create(name, tiny=True), model_zoo.create(name, tiny=True)
    ms.save_checkpoint(net, str(tmp_path / "own"), format="safetensors")
    model_zoo.load_weights(other, str(tmp_path / "own.safetensors"))
    for p, q in zip(net.get_parameters(), other.get_parameters(), strict=True):
        np.testing.assert_array_equal(p.asnumpy(), q.asnumpy())
