"""Training in generated C: steps of the C interface against the trainer of mindspore_lite, which other tests compare with closed forms."""

import ctypes
import shutil

import numpy as np
import pytest
from test_lite_aot import Handles, Library
from test_lite_training import batch, converted, loaded

import mindspore_lite as mslite

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def libraries(folder, batch=8, **settings):
    """The same network as a C library and in mindspore_lite."""
    path = converted(folder, batch=batch, **settings)
    converter = mslite.Converter()
    converter.train_model = True
    converter.set_config_info("train_param", settings)
    micro = {"enable_micro": "true", "codegen_mode": "Train", "project_name": "made", "save_path": str(folder), "library": "native"}
    converter.set_config_info("micro_param", micro)
    converter.convert(mslite.FmkType.ONNX, str(folder / "net.onnx"), str(folder / "net"))
    return Learner(folder / "made" / "libmade-native.so"), loaded(path)


class Learner(Library):
    def __init__(self, path):
        super().__init__(path)
        self.c.MSTensorGetName.restype = ctypes.c_char_p
        self.c.MSModelGetLearningRate.restype = ctypes.c_float

    def train_mode(self, value):
        return self.c.MSModelSetTrainMode(self.model, ctypes.c_bool(value))

    def fill(self, *arrays):
        for place, array in enumerate(arrays):
            tensor = ctypes.c_void_p(self.inputs.items[place])
            assert self.c.MSTensorGetDataSize(tensor) == array.nbytes
            ctypes.memmove(self.c.MSTensorGetMutableData(tensor), array.ctypes.data, array.nbytes)

    def step(self, *arrays):
        """The status, and the loss."""
        self.fill(*arrays)
        status = self.c.MSModelRunStep(self.model, None, None)
        self.c.MSModelGetOutputs.restype = Handles
        loss = ctypes.c_void_p(self.c.MSModelGetOutputs(self.model).items[0])
        return status, float(np.frombuffer(ctypes.string_at(self.c.MSTensorGetMutableData(loss), 4), np.float32)[0])

    def weights(self):
        found = self.c.MSModelGetWeights(self.model)
        handles = [ctypes.c_void_p(found.items[n]) for n in range(found.count)]
        return {
            self.c.MSTensorGetName(h).decode(): np.frombuffer(
                ctypes.string_at(self.c.MSTensorGetMutableData(h), self.c.MSTensorGetDataSize(h)), np.float32
            )
            for h in handles
        }


@pytest.fixture(autouse=True)
def system_compiler(monkeypatch):
    monkeypatch.setenv("CC", "cc")


@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": "SGD", "momentum": "0", "learning_rate": "0.1"},
        {"optimizer": "SGD", "momentum": "0.9", "weight_decay": "0.01"},
        {"optimizer": "Adam", "learning_rate": "0.01"},
        {"optimizer": "SGD", "trainable": "fc.*"},
        {"optimizer": "SGD", "recompute": "2"},
    ],
    ids=["sgd", "momentum", "adam", "last layer", "recomputed"],
)
def test_steps_agree_with_the_trainer(tmp_path, settings):
    c, python = libraries(tmp_path, **settings)
    assert c.train_mode(True) == 0
    for _ in range(5):
        x, labels = batch()
        status, loss = c.step(x, labels.astype(np.int64))
        assert status == 0
        np.testing.assert_allclose(loss, python.run_step([x, labels]), rtol=1e-4)
    found = c.weights()
    assert ("conv.weight" in found) == ("trainable" not in settings)  # what is not trained is a constant
    for name, array in found.items():
        np.testing.assert_allclose(array, python.weights[name].ravel(), rtol=1e-3, atol=1e-6, err_msg=name)


def test_evaluation_sees_what_was_learned_and_changes_nothing(tmp_path):
    c, _ = libraries(tmp_path, learning_rate="0.1")
    x, labels = batch()
    labels = labels.astype(np.int64)
    first = c.step(x, labels)[1]  # train mode is off
    assert c.step(x, labels)[1] == first
    assert c.train_mode(True) == 0
    for _ in range(20):
        c.step(x, labels)
    assert c.train_mode(False) == 0
    after = c.step(x, labels)[1]
    assert after < 0.5 * first
    assert c.step(x, labels)[1] == after


def test_a_label_out_of_range_fails_and_changes_nothing(tmp_path):
    c, _ = libraries(tmp_path)
    c.train_mode(True)
    x, labels = batch()
    labels = labels.astype(np.int64)
    c.step(x, labels)
    before = c.weights()
    labels[3] = 7
    assert c.step(x, labels)[0] != 0
    for name, array in c.weights().items():
        np.testing.assert_array_equal(array, before[name])


def test_weights_go_back_to_the_framework(tmp_path):
    c, python = libraries(tmp_path, learning_rate="0.1")
    c.train_mode(True)
    for _ in range(3):
        x, labels = batch()
        c.step(x, labels.astype(np.int64))
    python.update_weights({name: array.reshape(python.weights[name].shape) for name, array in c.weights().items()})
    c.train_mode(False)
    x, labels = batch()
    _, loss = c.step(x, labels.astype(np.int64))
    python.train_mode = False
    np.testing.assert_allclose(loss, python.run_step([x, labels]), rtol=1e-4)


def test_a_virtual_batch_is_a_large_batch(tmp_path):
    (tmp_path / "large").mkdir()
    c, python = libraries(tmp_path, learning_rate="0.1", virtual_batch="3")
    large = loaded(converted(tmp_path / "large", batch=24, learning_rate="0.1"))
    assert c.train_mode(True) == 0
    for _ in range(2):
        x, labels = batch(24)
        before = c.weights()
        for part in range(3):
            for name, array in c.weights().items():
                np.testing.assert_array_equal(array, before[name])
            piece = slice(part * 8, part * 8 + 8)
            status, loss = c.step(x[piece], labels[piece].astype(np.int64))
            assert status == 0
            np.testing.assert_allclose(loss, python.run_step([x[piece], labels[piece]]), rtol=1e-4)
        large.run_step([x, labels])
    for name, array in c.weights().items():
        np.testing.assert_allclose(array, large.weights[name].ravel(), rtol=1e-3, atol=1e-6, err_msg=name)


def test_virtual_batches_can_be_set_up_anew(tmp_path):
    c, python = libraries(tmp_path, learning_rate="0.1", momentum="0", virtual_batch="2")
    c.train_mode(True)
    x, labels = batch()
    labels = labels.astype(np.int64)
    assert c.step(x, labels)[0] == 0  # half a virtual batch, which is forgotten
    setup = c.c.MSModelSetupVirtualBatch
    setup.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_float, ctypes.c_float]
    assert setup(c.model, 1, 0.05, -1.0) == 0
    python.setup_virtual_batch(1, 0.05)
    bad = labels.copy()
    bad[0] = 9
    assert c.step(x, bad)[0] != 0
    c.step(x, labels)
    python.run_step([x, labels])
    for name, array in c.weights().items():
        np.testing.assert_allclose(array, python.weights[name].ravel(), rtol=1e-3, atol=1e-6, err_msg=name)
    assert setup(c.model, 0, -1.0, -1.0) != 0
    assert setup(c.model, 2, -1.0, 0.5) != 0  # another momentum than the one converted with


def test_a_memory_limit_gives_pieces_as_a_virtual_batch(tmp_path):
    path = converted(tmp_path, batch=32, learning_rate="0.1", memory_limit="24K")
    pieces = loaded(path)._training.pieces
    assert pieces > 1
    c, python = libraries(tmp_path, batch=32, learning_rate="0.1", memory_limit="24K")
    c.train_mode(True)
    x, labels = batch(32)
    for piece in np.split(np.arange(32), pieces):
        assert c.step(x[piece], labels[piece].astype(np.int64))[0] == 0
    python.run_step([x, labels])
    for name, array in c.weights().items():
        np.testing.assert_allclose(array, python.weights[name].ravel(), rtol=1e-3, atol=1e-6, err_msg=name)


def test_wrong_requests_are_told_why(tmp_path):
    with pytest.raises((ValueError, RuntimeError), match="codegen_mode"):
        converter = mslite.Converter()
        converted(tmp_path)
        converter.set_config_info("micro_param", {"enable_micro": "true", "codegen_mode": "Train"})
        converter.convert(mslite.FmkType.ONNX, str(tmp_path / "net.onnx"), str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("settings", "close"),
    [({"mixed_precision": "bfloat16"}, 0.02), ({"mixed_precision": "float16"}, 0.005),
     ({"mixed_precision": "bfloat16", "virtual_batch": "2", "recompute": "2"}, 0.02)],
    ids=["bfloat16", "float16", "in parts"],
)  # fmt: skip
def test_mixed_precision_agrees_with_the_trainer(tmp_path, settings, close):
    c, python = libraries(tmp_path, learning_rate="0.1", **settings)
    before = {name: array.copy() for name, array in c.weights().items()}
    assert c.train_mode(True) == 0
    for _ in range(4):
        x, labels = batch()
        status, loss = c.step(x, labels.astype(np.int64))
        assert status == 0
        np.testing.assert_allclose(loss, python.run_step([x, labels]), rtol=close)
    for name, array in c.weights().items():
        moved, wanted = array - before[name], python.weights[name].ravel() - before[name]
        assert np.linalg.norm(moved - wanted) < 5 * close * np.linalg.norm(wanted), name


def test_a_step_whose_gradients_overflow_is_left_out(tmp_path):
    c, _ = libraries(tmp_path, mixed_precision="float16", loss_scale="1e8")
    before = {name: array.copy() for name, array in c.weights().items()}
    c.train_mode(True)
    x, labels = batch()
    c.step(x, labels.astype(np.int64))
    for name, array in c.weights().items():
        np.testing.assert_array_equal(array, before[name])
