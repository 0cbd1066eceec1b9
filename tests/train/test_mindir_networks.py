"""Networks written by official MindSpore 2.10 (tests/data/official/train/networks), and the exchanged networks both ways."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))
import exchange
import networks
from operations import FUNCTIONS

FOLDER = Path(__file__).parents[1] / "data" / "official" / "train" / "networks"
MEASURED = sorted(path.stem for path in FOLDER.glob("*.npz"))


@pytest.fixture
def graph_mode():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=before)


@pytest.mark.parametrize("name", MEASURED)
def test_official_networks_give_official_results(graph_mode, name):
    exchange.read_model(str(FOLDER), name)


VARIANTS = {
    "loops": [[np.full(2, v, np.float32), np.array(n, np.int32)] for v in (1.0, -1.0) for n in (0, 1, 6)],
    "early": [[np.array(v, np.float32)] for v in ([9.0, 9.0], [1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0])],
    "branches": [[np.array(v, np.float32)] for v in ([0.1, 0.1], [3.0, 4.0], [20.0, -1.0])],
}


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
@pytest.mark.parametrize("name", VARIANTS)
def test_official_control_flow_on_other_inputs(recwarn, name, mode):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        loaded = nn.GraphCell(ms.load(str(FOLDER / f"{name}.mindir")))
        for inputs in VARIANTS[name]:
            tensors = [Tensor(i) for i in inputs]
            found = exchange.flat(loaded(*tensors))
            ms.set_context(mode=ms.PYNATIVE_MODE)
            expected = exchange.flat(networks.CASES[name][0]()(*tensors))
            ms.set_context(mode=mode)
            for value, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(value, other, rtol=1e-5)
    finally:
        ms.set_context(mode=before)
    assert not [w for w in recwarn if "plain Python" in str(w.message)]


@pytest.mark.parametrize("name", sorted(networks.WRITE_ONLY))
def test_official_mint_networks(name):
    make, inputs = networks.WRITE_ONLY[name]
    tensors = [Tensor(i) for i in inputs]
    loaded = nn.GraphCell(ms.load(str(FOLDER / f"{name}.mindir")))
    for found, expected in zip(exchange.flat(loaded(*tensors)), exchange.flat(make()(*tensors)), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_official_data_preparation():
    graph = ms.load(str(FOLDER / "prepared.mindir"))
    row = graph.preprocess(image=np.full((4, 4, 3), 51, np.uint8))
    np.testing.assert_allclose(row["image"], np.full((3, 2, 2), 0.7, np.float32), rtol=1e-6)
    with pytest.raises(ValueError, match="column 'image'"):
        graph.preprocess(picture=np.zeros((4, 4, 3), np.uint8))


SMALL = [n for n in networks.CASES if n not in ("resnet50", "bert", "bert_free_batch", "lenet")]


@pytest.mark.parametrize("name", SMALL)
def test_networks_survive_the_file(graph_mode, tmp_path, name):
    exchange.write_model(str(tmp_path), name)
    exchange.read_model(str(tmp_path), name)


@pytest.mark.parametrize(
    "name", ["pad", "max_pool", "avg_pool", "index_mixed", "assign_tensor", "cross_entropy", "cast"]
)
def test_functions_survive_the_file(tmp_path, name):
    assert name in FUNCTIONS
    exchange.write_model(str(tmp_path), f"op_{name}")
    exchange.read_model(str(tmp_path), f"op_{name}")


class Nested(nn.Cell):
    def construct(self, x):
        return x[0] + x[1][0] * x[1][1], x[1][0] - 1


@pytest.mark.parametrize("kind", [tuple, list])
def test_sequences_are_one_input(tmp_path, kind):
    leaf = Tensor(np.arange(3, dtype=np.float32))
    value = kind((leaf, kind((leaf + 1, leaf + 2))))
    path = str(tmp_path / "net.mindir")
    ms.export(Nested(), value, file_name=path, file_format="MINDIR")
    assert len(ms.load_mindir(path).graph.input) == 1
    loaded = nn.GraphCell(ms.load(path))
    for found, expected in zip(exchange.flat(loaded(value)), exchange.flat(Nested()(value)), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_sequences_of_variable_length(tmp_path):
    class Ends(nn.Cell):
        def construct(self, x):
            return x[0] + x[1]

    leaf = Tensor(np.arange(3, dtype=np.float32))
    path = str(tmp_path / "net.mindir")
    ms.export(Ends(), ms.mutable([leaf, leaf], dynamic_len=True), file_name=path, file_format="MINDIR")
    assert ms.load_mindir(path).graph.input[0].attr_info.seq_info.is_dyn_len
    loaded = nn.GraphCell(ms.load(path))
    for count in (2, 4):
        np.testing.assert_array_equal(loaded([leaf] * count).asnumpy(), 2 * leaf.asnumpy())


def test_python_functions_cannot_be_stored(tmp_path):
    import mindspore.dataset as ds

    rows = ds.NumpySlicesDataset({"x": np.zeros((2, 3), np.float32)}, shuffle=False).map([lambda x: x], ["x"])
    with pytest.raises(ValueError, match="cannot be stored"):
        ms.export(nn.ReLU(), Tensor(np.ones(3, np.float32)), file_name=str(tmp_path / "a"), file_format="MINDIR",
                  dataset=rows)  # fmt: skip
    assert list(tmp_path.iterdir()) == []


class Fixed(nn.Cell):
    """A network whose work depends on the batch in a way that no file can say."""

    def construct(self, x):
        return x * Tensor(np.arange(x.shape[0], dtype=np.float32).reshape(-1, 1) ** 2)


def test_sizes_that_cannot_be_free_are_refused(tmp_path):
    with pytest.raises(RuntimeError, match="fixed sizes"):
        ms.export(Fixed(), Tensor(shape=[None, 2], dtype=ms.float32), file_name=str(tmp_path / "a"),
                  file_format="MINDIR")  # fmt: skip
