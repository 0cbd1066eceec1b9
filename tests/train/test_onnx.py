"""ONNX: exported models give in ONNX Runtime what they give here; read ones give what they gave there, and train."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.train.serialization import load_onnx

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def flat(value):
    if isinstance(value, (tuple, list)):
        return [a for v in value for a in flat(v)]
    return [value.asnumpy()]


def exported(tmp_path, net, *arrays):
    """Export, compare with ONNX Runtime, and return the file and our outputs."""
    tensors = [Tensor(a) for a in arrays]
    path = str(tmp_path / "net.onnx")
    expected = flat(net(*tensors))
    ms.export(net, *tensors, file_name=path, file_format="ONNX")
    onnx.checker.check_model(path, full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    results = session.run(None, {i.name: a for i, a in zip(session.get_inputs(), arrays)})
    assert len(results) == len(expected)
    for ours, theirs in zip(expected, results):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(theirs, ours, rtol=1e-3 if ours.dtype == np.float16 else 1e-4, atol=1e-5)
    return path, expected


class Convolutions(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, stride=2, pad_mode="same")
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 4, 3, pad_mode="pad", padding=1, group=2, has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.average = nn.AvgPool2d(2, 1)
        self.dense = nn.Dense(4, 5)

    def construct(self, x):
        x = ops.relu(self.norm(self.first(x)))
        x = self.average(self.pool(self.second(x)))
        return self.dense(x.mean(axis=(2, 3)))


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table, self.norm = nn.Embedding(20, 8), nn.LayerNorm((8,))
        self.query, self.key = nn.Dense(8, 8), nn.Dense(8, 8, activation="gelu")

    def construct(self, ids):
        x = self.norm(self.table(ids))
        q, k = self.query(x), self.key(x)
        scores = ops.softmax(ops.matmul(q, k.transpose(0, 2, 1)) / 3.0, axis=-1)
        return ops.matmul(scores, x), x[:, 0], scores.argmax(axis=-1)


class Control(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name="w")

    def construct(self, x, n):
        y = x * self.w if x.sum() > 0 else x - self.w
        i = Tensor(0, ms.int32)
        while i < n:
            y = y + 1.0
            if y.max() > 5:
                y = y / 2
            i = i + 1
        return y, (y.sum(), x)


class Shapes(nn.Cell):
    def construct(self, x):
        a, b = x[1:, ::2, -1], x[None, 0, ..., 1:3]
        c = ops.concat((x, x * 2), axis=1).mean(axis=(0, 2))
        d = ops.stack([x[0], x[1]], axis=0).max(axis=1)
        return a, b, c, [d.astype(ms.float16), x[::-1]], ops.expand_dims(x, 0), x.sum(), ops.sigmoid(x) ** 2


RNG = np.random.default_rng(0)


def test_convolutions_both_ways(tmp_path):
    image = RNG.random((2, 3, 12, 12)).astype(np.float32)
    path, expected = exported(tmp_path, Convolutions().set_train(False), image)
    loaded = load_onnx(path)
    np.testing.assert_allclose(loaded(Tensor(image)).asnumpy(), expected[0], rtol=1e-4, atol=1e-5)


def test_attention_both_ways(tmp_path):
    ids = RNG.integers(0, 20, (2, 5)).astype(np.int32)
    path, expected = exported(tmp_path, Attention().set_train(False), ids)
    for ours, again in zip(expected, flat(load_onnx(path)(Tensor(ids)))):
        np.testing.assert_allclose(again, ours, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_control_flow(tmp_path, value):
    exported(tmp_path, Control(), np.full(2, value, np.float32), np.array(4, np.int32))


def test_shapes(tmp_path):
    x = RNG.standard_normal((3, 4, 5)).astype(np.float32)
    path, expected = exported(tmp_path, Shapes(), x)
    for ours, again in zip(expected, flat(load_onnx(path)(Tensor(x)))):
        np.testing.assert_allclose(again, ours, rtol=1e-3, atol=1e-5)


def test_read_networks_train(tmp_path):
    x = RNG.random((2, 3)).astype(np.float32)
    net = nn.Dense(3, 2)
    path, _ = exported(tmp_path, net, x)
    loaded = load_onnx(path)
    assert {p.name for p in loaded.trainable_params()} == {"weight", "bias"}
    gradients = ms.grad(lambda v: loaded(v).sum(), None, list(loaded.trainable_params()))(Tensor(x))
    by_name = {p.name: g.asnumpy() for p, g in zip(loaded.trainable_params(), gradients)}
    np.testing.assert_allclose(by_name["bias"], [2.0, 2.0])
    np.testing.assert_allclose(by_name["weight"], np.tile(x.sum(0), (2, 1)), rtol=1e-5)


def test_graph_mode(tmp_path):
    x = RNG.random((2, 3)).astype(np.float32)
    path, expected = exported(tmp_path, nn.SequentialCell([nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2)]), x)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        np.testing.assert_allclose(load_onnx(path)(Tensor(x)).asnumpy(), expected[0], rtol=1e-5, atol=1e-6)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_bad_files(tmp_path):
    with pytest.raises(ValueError):
        load_onnx(str(tmp_path / "missing.onnx"))
    (tmp_path / "a.onnx").write_bytes(b"no model")
    with pytest.raises(ValueError):
        load_onnx(str(tmp_path / "a.onnx"))
    node = onnx.helper.make_node("StringSplit", ["x"], ["y"], mode="TF", min_gram_length=1, max_gram_length=1,
                                 max_skip_count=0, ngram_counts=[0], ngram_indexes=[0])  # fmt: skip
    info = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1]) for n in "xy"]
    graph = onnx.helper.make_graph([node], "g", info[:1], info[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    onnx.save(model, str(tmp_path / "b.onnx"))
    with pytest.raises(ValueError, match="StringSplit"):
        load_onnx(str(tmp_path / "b.onnx"))


def test_training_mode_is_refused(tmp_path):
    with pytest.raises(RuntimeError, match="set_train"):
        ms.export(nn.BatchNorm2d(3).set_train(), Tensor(np.ones((1, 3, 4, 4), np.float32)),
                  file_name=str(tmp_path / "a"), file_format="ONNX")  # fmt: skip
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_damaged_models_never_crash(tmp_path_factory, data):
    content = bytearray((Path(__file__).parents[1] / "data" / "torch" / "gru.onnx").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path_factory.mktemp("damaged") / "a.onnx"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    with contextlib.suppress(ValueError):
        load_onnx(str(path))


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd"])
def test_external_data_stays_beside_the_model(tmp_path, location):
    (tmp_path / "secret").write_bytes(b"\0" * 8)
    (tmp_path / "inner").mkdir()
    weight = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2], b"\0" * 8, raw=True)
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=location)
    info = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2]) for n in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "w"], ["y"])], "g", info[:1], info[1:], [weight])
    path = tmp_path / "inner" / "a.onnx"
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    with pytest.raises(ValueError):
        load_onnx(str(path))


@pytest.mark.parametrize(
    ("op", "constants"),
    [
        ("Expand", ["x", [2**38, 1]]),
        ("ConstantOfShape", [[2**38]]),
        ("Tile", ["x", [2**38]]),
        ("Range", [0, 2**40, 1]),
        ("Range", [0, 10, 0]),
    ],
)
def test_numbers_in_a_model_ask_for_bounded_memory(tmp_path, op, constants):
    inputs, weights = [], []
    for i, value in enumerate(constants):
        inputs.append(value if value == "x" else f"c{i}")
        if value != "x":
            weights.append(onnx.numpy_helper.from_array(np.array(value, np.int64), f"c{i}"))
    info = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1]) for n in "xy"]
    node = onnx.helper.make_node(op, inputs, ["z"])
    cast = onnx.helper.make_node("Cast", ["z"], ["y"], to=onnx.TensorProto.FLOAT)
    graph = onnx.helper.make_graph([node, cast], "g", info[:1], info[1:], weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    (tmp_path / "a.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ValueError, match=f"'{op}'"):
        load_onnx(str(tmp_path / "a.onnx"))(Tensor([1.0]))
