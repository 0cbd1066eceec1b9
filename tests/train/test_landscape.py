"""Loss landscapes: the checkpoints that are kept, the losses on the grid, the messages."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore import dataset as ds
from mindspore.formats.events.event_file import read_records
from mindspore.formats.events.messages import Event
from mindspore.train import Loss, Model

X = np.random.default_rng(0).random((12, 2)).astype(np.float32)
Y = X @ np.array([[1.0], [-2.0]], np.float32)


def data():
    return ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(4)


def network():
    return nn.Dense(2, 1, weight_init=Tensor([[0.5, 0.5]], ms.float32), has_bias=False)


def for_landscape():
    net = network()
    metrics = {"Loss": Loss()}
    return Model(net, nn.MSELoss(), metrics=metrics), net, data(), metrics


def array(record):
    return np.array(record.float_data, np.float32).reshape(list(record.dims))


def landscapes(folder):
    found = {}
    for path in folder.glob("*_MS"):
        for record in read_records(path.read_bytes()):
            event = Event.decode(bytes(record))
            for value in event.summary.value if event.summary is not None else ():
                if value.loss_landscape is not None:
                    found[value.tag] = value.loss_landscape
    return found


def mse(weights):
    return float(np.mean((X @ np.asarray(weights, np.float32)[:, None] - Y) ** 2))


@pytest.fixture
def trained(tmp_path):
    net = network()
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.3))
    settings = {"landscape_size": 5, "unit": "step", "num_samples": 12, "intervals": [[1, 2, 3, 4], [4, 5, 6]]}
    collector = ms.SummaryCollector(str(tmp_path), collect_specified_data={"collect_landscape": settings})
    weights = []

    class Note(ms.Callback):
        def on_train_step_end(self, run_context):
            weights.append(net.weight.asnumpy().reshape(-1).copy())

    model.train(2, data(), [collector, Note()])
    return tmp_path, weights


def test_landscapes_of_a_plane_are_the_loss_itself(trained):
    folder, weights = trained
    stored = json.loads((folder / "ckpt_dir" / "train_metadata.json").read_text())
    assert sorted(stored["model_params_file_map"]) == list("123456") and stored["step_per_epoch"] == 3
    ms.SummaryLandscape(str(folder)).gen_landscapes_with_multi_process(for_landscape, device_ids=[0])
    found = landscapes(folder)
    assert sorted(found) == ["landscape_[1, 4]", "landscape_[4, 6]", "landscape_[6]"]
    path = found["landscape_[1, 4]"]
    assert path.loss_path.intervals == [1, 2, 3, 4]
    # two weights: the plane is the whole space, so the path lies in it
    np.testing.assert_allclose(array(path.loss_path.points.z), [mse(w) for w in weights[:4]], rtol=1e-4, atol=1e-7)
    assert array(path.landscape.z).shape == (5, 5) and array(path.landscape.x).shape == (5,)
    assert (path.metadata.decomposition, path.metadata.unit, path.metadata.step_per_epoch) == ("PCA", "step", 3)
    last = found["landscape_[6]"]
    middle = array(last.landscape.z)[2, 2]  # no step in either direction
    np.testing.assert_allclose(middle, mse(weights[5]), rtol=1e-4)
    np.testing.assert_allclose(array(last.convergence_point.z), [mse(weights[5])], rtol=1e-4)
    assert last.metadata.decomposition == "Random" and array(last.landscape.z).min() >= 0


def test_settings_can_change_and_checkpoints_go(trained):
    folder, _ = trained
    landscape = ms.SummaryLandscape(str(folder))
    changed = {"landscape_size": 3, "create_landscape": {"train": False, "result": True}}
    landscape.gen_landscapes_with_multi_process(for_landscape, changed, output=str(folder / "other"))
    [only] = landscapes(folder / "other").values()
    assert array(only.landscape.z).shape == (3, 3)
    landscape.clean_ckpt()
    assert not (folder / "ckpt_dir").exists()
    with pytest.raises(FileNotFoundError, match="collect_landscape"):
        landscape.gen_landscapes_with_multi_process(for_landscape)


def test_weights_that_are_not_finite_are_refused(trained):
    folder, _ = trained
    path = json.loads((folder / "ckpt_dir" / "train_metadata.json").read_text())["model_params_file_map"]["4"]
    parts = [{"name": name, "data": ms.Tensor(np.full(p.shape, np.inf, np.float32))} for name, p in ms.load_checkpoint(path).items()]
    ms.save_checkpoint(parts, path)
    with pytest.raises(ValueError, match="must be finite"):
        ms.SummaryLandscape(str(folder)).gen_landscapes_with_multi_process(for_landscape)


@pytest.mark.parametrize(
    "wrong", [{"landscape_size": 2}, {"unit": "day"}, {"intervals": [[1, 2]]}, {"create_landscape": {"x": 1}}, {"a": 1}]
)
def test_wrong_settings(tmp_path, wrong):
    with pytest.raises(ValueError, match="SummaryCollector"):
        ms.SummaryCollector(str(tmp_path), collect_specified_data={"collect_landscape": wrong})


def test_files_of_others_are_refused(tmp_path):
    (tmp_path / "ckpt_dir").mkdir()
    (tmp_path / "ckpt_dir" / "train_metadata.json").write_text('{"landscape_size": 4}')
    with pytest.raises(ValueError, match="cannot be used"):
        ms.SummaryLandscape(str(tmp_path)).gen_landscapes_with_multi_process(for_landscape)
