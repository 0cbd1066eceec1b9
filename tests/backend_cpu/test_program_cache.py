"""Compiled graphs kept on disk: what is found again, what is not, and that neither changes results."""

import os
import pickle

import numpy as np
import pytest
from tests.backend_cpu.helpers import build, check

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.backends.cpu import CpuBackend, backend, cache, kernels, program_cache, scatter, written
from mindspore.backends.cpu.shelf import Shelf
from mindspore.prims import activation, sorting
from mindspore.prims.decompositions import Cholesky

X = np.random.default_rng(0).standard_normal((4, 12)).astype(np.float32)


@pytest.fixture
def lowered(tmp_path, monkeypatch):
    """A cache of its own; the names of the graphs that were lowered."""
    monkeypatch.setenv("MS_COMPILER_CACHE_PATH", str(tmp_path))
    found, lower = [], backend._Session._blueprint

    def _blueprint(self, graph, donated):
        found.append(graph.name)
        return lower(self, graph, donated)

    monkeypatch.setattr(backend._Session, "_blueprint", _blueprint)
    for module in (kernels, written, scatter):  # kernels made before there was a cache are not in it
        monkeypatch.setattr(module, "_SHELF", Shelf(64))
    return found


def programs(folder):
    return list((folder / "cpu_kernels").glob("p*"))


def softmax(scale=2.0):
    return build(lambda a: activation.Softmax(-1)(a * scale), X)


def test_a_graph_is_lowered_once(lowered):
    first, second = (CpuBackend().compile(softmax())(X)[0] for _ in range(2))
    assert len(lowered) == 1
    np.testing.assert_array_equal(first, second)
    check(lambda a: activation.Softmax(-1)(a * 2.0), X)  # this one, too, comes from disk
    assert len(lowered) == 1


def test_what_decides_is_part_of_the_key(lowered, monkeypatch):
    CpuBackend().compile(softmax())
    CpuBackend().compile(softmax(3.0))
    CpuBackend("--opt_level=0").compile(softmax())
    CpuBackend(threads=1).compile(softmax())
    CpuBackend().compile(softmax(), frozenset([0]))
    monkeypatch.setenv("MS_DEV_EXCESS_PRECISION", "1")
    CpuBackend().compile(softmax())
    assert len(lowered) == 6


def test_a_damaged_entry_is_made_again(lowered, tmp_path):
    expected = CpuBackend().compile(softmax())(X)[0]
    (file,) = programs(tmp_path)
    whole = file.read_bytes()
    for damaged in (b"", whole[:60], whole[:-1] + bytes([whole[-1] ^ 1])):
        file.write_bytes(damaged)
        np.testing.assert_array_equal(CpuBackend().compile(softmax())(X)[0], expected)
    assert len(lowered) == 4


def test_a_lost_kernel_is_made_again(lowered, tmp_path, monkeypatch):
    expected = CpuBackend().compile(softmax())(X)[0]
    for file in (tmp_path / "cpu_kernels").iterdir():
        if file not in programs(tmp_path):
            file.unlink()
    monkeypatch.setattr(program_cache, "_SHELF", Shelf(1))
    np.testing.assert_array_equal(CpuBackend().compile(softmax())(X)[0], expected)
    assert len(lowered) == 2


class Attack:
    def __reduce__(self):
        return os.mkdir, ("attacked",)


def test_nothing_but_compiled_graphs_is_read(lowered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CpuBackend().compile(softmax())
    (file,) = programs(tmp_path)
    rows = b'{"name": "x", "constants": []}'
    for body in (pickle.dumps(Attack()), b"no rows", len(rows).to_bytes(8, "little") + rows):
        cache.write(file.stem, body)
        CpuBackend().compile(softmax())
    assert len(lowered) == 4
    assert not (tmp_path / "attacked").exists()


def test_graphs_with_steps_in_python_are_not_kept(lowered, tmp_path):
    matrix = np.eye(3, dtype=np.float32) * 4

    def run(a):
        return Cholesky()(a) + 1

    for _ in range(2):
        np.testing.assert_allclose(CpuBackend().compile(build(run, matrix))(matrix)[0], np.eye(3) * 2 + 1)
    assert len(lowered) == 2
    assert not programs(tmp_path)


def test_kernels_written_by_hand_are_kept(lowered):
    for _ in range(2):
        found = CpuBackend().compile(build(lambda a: sorting.Sort()(a), X))(X)
        np.testing.assert_array_equal(found[0], np.sort(X))
    assert len(lowered) == 1


class Network(nn.Cell):
    """Convolutions (direct, of groups, in tiles), a normalisation, pooling, a product."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 64, 3, weight_init="ones"), nn.BatchNorm2d(64)
        self.second, self.third = nn.Conv2d(64, 64, 3, weight_init="normal"), nn.Conv2d(64, 64, 3, 2, group=64)
        self.pool, self.head = nn.MaxPool2d(2, 2), nn.Dense(64 * 4 * 4, 5)

    def construct(self, x):
        x = self.pool(ops.relu(self.norm(self.first(x))))
        return self.head(self.third(ops.relu(self.second(x))).reshape(x.shape[0], -1))


def _losses(steps=3):
    ms.set_seed(3)
    net = Network()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    gradient = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = gradient(x, y)
        optimizer(grads)
        return loss

    rng = np.random.default_rng(1)
    x, y = Tensor(rng.standard_normal((2, 3, 16, 16)).astype(np.float32)), Tensor([1, 4], ms.int32)
    return [float(step(x, y)) for _ in range(steps)]


def test_a_training_step_from_disk_computes_the_same_bits(lowered):
    first = _losses()
    count = len(lowered)
    assert _losses() == first
    assert len(lowered) == count
