"""PyTorch files through Converter and Model, beside PyTorch itself."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import mindspore_lite as mslite  # noqa: E402


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 2, 1), torch.nn.BatchNorm2d(8), torch.nn.ReLU6())
        self.head = torch.nn.Linear(8, 5)

    def forward(self, image):
        return self.head(self.features(image).mean((2, 3)))


def run(path, x):
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    if model.get_inputs()[0].shape != list(x.shape):
        model.resize(model.get_inputs(), [list(x.shape)])
    return model.predict([mslite.Tensor(x)])[0].get_data_to_numpy()


@pytest.fixture
def net():
    torch.manual_seed(0)
    return Net().eval()


def test_an_exported_program(net, tmp_path):
    batch = torch.export.Dim("batch", min=1, max=32)
    exported = torch.export.export(net, (torch.zeros(2, 3, 16, 16),), dynamic_shapes=({0: batch},))
    torch.export.save(exported, tmp_path / "net.pt2")
    mslite.Converter().convert(mslite.FmkType.PYTORCH, str(tmp_path / "net.pt2"), str(tmp_path / "net"))
    x = np.random.default_rng(0).standard_normal((3, 3, 16, 16)).astype(np.float32)
    np.testing.assert_allclose(run(tmp_path / "net.ms", x), net(torch.from_numpy(x)).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_a_torchscript_file(net, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(net, torch.zeros(2, 3, 16, 16)).save(tmp_path / "net.pt")
        with pytest.raises(RuntimeError, match="input_shape"):
            mslite.Converter().convert(mslite.FmkType.PYTORCH, str(tmp_path / "net.pt"), str(tmp_path / "net"))
        converter = mslite.Converter()
        converter.input_shape = {"image": [2, 3, 16, 16]}
        converter.convert(mslite.FmkType.PYTORCH, str(tmp_path / "net.pt"), str(tmp_path / "net"))
    x = np.random.default_rng(0).standard_normal((2, 3, 16, 16)).astype(np.float32)
    np.testing.assert_allclose(run(tmp_path / "net.ms", x), net(torch.from_numpy(x)).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_a_damaged_file(net, tmp_path):
    torch.export.save(torch.export.export(net, (torch.zeros(2, 3, 16, 16),)), tmp_path / "net.pt2")
    content = (tmp_path / "net.pt2").read_bytes()
    for size in (0, 10, len(content) // 2, len(content) - 30):
        (tmp_path / "bad.pt2").write_bytes(content[:size])
        with pytest.raises(RuntimeError, match="Converter model failed"):
            mslite.Converter().convert(mslite.FmkType.PYTORCH, str(tmp_path / "bad.pt2"), str(tmp_path / "bad"))
        assert not (tmp_path / "bad.ms").exists()
