"""MindIR files: official ones run here, ours survive the way there and back, bad ones are refused."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore._base.protobuf import DecodeError
from mindspore.formats.mindir.files import save_model
from mindspore.formats.mindir.messages import (
    AttributeProto,
    ExternalData,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
)
from mindspore.formats.mindir.program import Program
from mindspore.formats.mindir.values import MONAD, read_value
from mindspore.nn.graph_cell import GraphCell, LoadedGraph
from mindspore.ops import operations as P

KEY = b"0123456789ABCDEF"
MODES = (ms.PYNATIVE_MODE, ms.GRAPH_MODE)


@pytest.fixture(params=MODES, ids=("pynative", "graph"))
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


def flat(value):
    if isinstance(value, (tuple, list)):
        return [a for v in value for a in flat(v)]
    return [value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)]


def both_ways(tmp_path, net, *inputs, **options):
    """The outputs of a network and of the file it was exported to."""
    path = str(tmp_path / "net.mindir")
    ms.export(net, *inputs, file_name=path, file_format="MINDIR", **options)
    loaded = GraphCell(ms.load(path))
    for ours, again in zip(flat(net(*inputs)), flat(loaded(*inputs)), strict=True):
        np.testing.assert_allclose(again, ours, rtol=1e-5, atol=1e-6)
    return loaded


# -- official files ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["convolutions", "control", "mixture", "settings"])
def test_official_models(official, name, mode):
    data = np.load(official / f"{name}.npz")
    net = GraphCell(ms.load(str(official / f"{name}.mindir")))
    inputs = [Tensor(data[k]) for k in data if k.startswith("in")]
    outputs = flat(net(*inputs))
    expected = [data[k] for k in data if k.startswith("out")]
    assert len(outputs) == len(expected)
    for ours, theirs in zip(outputs, expected):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-3 if theirs.dtype == np.float16 else 1e-4, atol=1e-5)


def test_official_branch_not_taken_and_longer_loop(official, mode):
    net = GraphCell(ms.load(str(official / "control.mindir")))
    y, total = net(Tensor(np.array([-1.0, -1.0], np.float32)), Tensor(5, ms.int32))
    np.testing.assert_allclose(y.asnumpy(), [3.0, 2.0])
    np.testing.assert_allclose(total.asnumpy(), 5.0)


def test_official_encrypted_model(official):
    path = str(official / "encrypted.mindir")
    y, _ = GraphCell(ms.load(path, dec_key=KEY))(Tensor(np.ones(2, np.float32)), Tensor(3, ms.int32))
    np.testing.assert_allclose(y.asnumpy(), [4.0, 5.0])
    for options in ({}, {"dec_key": KEY[::-1]}):
        with pytest.raises(ValueError):
            ms.load(path, **options)


def test_messages_of_official_models_survive(official):
    for name in ("convolutions", "control", "mixture", "settings"):
        content = (official / f"{name}.mindir").read_bytes()
        assert ModelProto.decode(ModelProto.decode(content).encode()) == ModelProto.decode(content)


# -- our own ----------------------------------------------------------------------------------------------------------
class Layers(nn.Cell):
    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(0)

        def weight(name, *shape):
            return Parameter(Tensor(rng.standard_normal(shape).astype(np.float32) * 0.3), name=name)

        self.filters = weight("filters", 4, 1, 3, 3)
        self.dense = weight("dense", 5, 64)
        self.bias = weight("bias", 5)
        self.conv = P.Conv2D(4, 3, pad_mode="same")
        self.pool = P.MaxPool(2, 2)
        self.product = P.MatMul(False, True)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv(x, self.filters)))
        return self.product(x.reshape(x.shape[0], -1), self.dense) + self.bias


def test_layers(tmp_path, mode):
    loaded = both_ways(tmp_path, Layers(), Tensor(np.random.default_rng(1).random((2, 1, 8, 8)).astype(np.float32)))
    assert {p.name for p in loaded.get_parameters()} == {"filters", "dense", "bias"}


def test_loaded_networks_can_be_trained(tmp_path):
    x = Tensor(np.random.default_rng(1).random((2, 1, 8, 8)).astype(np.float32))
    ms.export(Layers(), x, file_name=str(tmp_path / "a"), file_format="MINDIR")
    net, loaded = Layers(), GraphCell(ms.load(str(tmp_path / "a.mindir")))
    for cell in (net, loaded):
        cell.set_train()
    order = {p.name: i for i, p in enumerate(loaded.get_parameters())}
    ours = ms.grad(lambda v: net(v).sum(), None, list(net.trainable_params()))(x)
    theirs = ms.grad(lambda v: loaded(v).sum(), None, list(loaded.trainable_params()))(x)
    for parameter, gradient in zip(net.trainable_params(), ours):
        np.testing.assert_allclose(theirs[order[parameter.name]].asnumpy(), gradient.asnumpy(), rtol=1e-4, atol=1e-5)


class Branches(nn.Cell):
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


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_control_flow(tmp_path, mode, value):
    both_ways(tmp_path, Branches(), Tensor(np.full(2, value, np.float32)), Tensor(4, ms.int32))


class Shapes(nn.Cell):
    def construct(self, x):
        a = x[1:, ::2, -1]
        b = x[None, 0, ..., 1:3]
        c = ops.concat((x, x * 2), axis=1).mean(axis=(0, 2))
        d = ops.softmax(x.transpose(0, 2, 1), axis=1)
        e = ops.stack([x[0], x[1]], axis=0).max(axis=1)
        return a, b, c, [d, e.astype(ms.float16)], ops.gelu(x), x.sum(), ops.expand_dims(x, 0), x.argmax(axis=1)


def test_shapes_and_indexing(tmp_path, mode):
    both_ways(tmp_path, Shapes(), Tensor(np.random.default_rng(2).standard_normal((3, 4, 5)).astype(np.float32)))


class Settings(nn.Cell):
    """Each operation with a setting that is not its default."""

    def __init__(self):
        super().__init__()
        self.found = [P.CeLU(2.0), P.HShrink(1.3), P.SoftShrink(1.2), P.Threshold(0.4, 7.0), P.Hardtanh(-0.5, 0.7), P.LeakyReLU(0.3)]

    def construct(self, x):
        return [op(x) for op in self.found]


def test_settings_of_activations(tmp_path, mode):
    x = np.linspace(-3, 3, 12, dtype=np.float32)
    loaded = both_ways(tmp_path, Settings(), Tensor(x))
    expected = [
        np.where(x > 0, x, 2 * np.expm1(np.minimum(x, 0) / 2)), np.where(np.abs(x) > 1.3, x, 0),
        np.sign(x) * np.maximum(np.abs(x) - 1.2, 0), np.where(x > 0.4, x, 7), np.clip(x, -0.5, 0.7), np.where(x > 0, x, 0.3 * x),
    ]  # fmt: skip
    for found, right in zip(flat(loaded(Tensor(x))), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)


def test_written_parameters_are_updated_by_the_loaded_network(tmp_path):
    class Counter(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = Parameter(Tensor(0.0), name="count")

        def construct(self, x):
            self.count = self.count + 1
            return x + self.count

    ms.export(Counter(), Tensor([1.0]), file_name=str(tmp_path / "a"), file_format="MINDIR")
    loaded = GraphCell(ms.load(str(tmp_path / "a.mindir")))
    assert loaded(Tensor([1.0])).asnumpy() == 2.0
    assert loaded(Tensor([1.0])).asnumpy() == 3.0


def test_new_values_for_parameters(tmp_path):
    ms.export(Branches(), Tensor([1.0, 1.0]), Tensor(0, ms.int32), file_name=str(tmp_path / "a"), file_format="MINDIR")
    graph = ms.load(str(tmp_path / "a.mindir"))
    loaded = GraphCell(graph, params_init={"w": Tensor([5.0, 5.0])})
    np.testing.assert_allclose(loaded(Tensor([1.0, 1.0]), Tensor(0, ms.int32))[0].asnumpy(), [5.0, 5.0])
    with pytest.raises(ValueError):
        GraphCell(graph, params_init={"w": Tensor([5.0])})
    with pytest.raises(TypeError):
        GraphCell("graph")


def test_encrypted_and_split_files(tmp_path):
    x = Tensor(np.random.default_rng(1).random((2, 1, 8, 8)).astype(np.float32))
    ms.export(Layers(), x, file_name=str(tmp_path / "a"), file_format="MINDIR", enc_key=KEY, enc_mode="AES-CBC")
    loaded = GraphCell(ms.load(str(tmp_path / "a.mindir"), dec_key=KEY, dec_mode="AES-CBC"))
    np.testing.assert_allclose(loaded(x).asnumpy(), Layers()(x).asnumpy(), rtol=1e-5)
    ms.export(Layers(), x, file_name=str(tmp_path / "b"), file_format="MINDIR")
    save_model(ms.load_mindir(str(tmp_path / "b.mindir")), str(tmp_path / "c"), None, split_above=100)
    assert (tmp_path / "c_variables" / "data_0").stat().st_size % 64 == 0
    split = GraphCell(ms.load(str(tmp_path / "c_graph.mindir")))
    np.testing.assert_allclose(split(x).asnumpy(), Layers()(x).asnumpy(), rtol=1e-5)


def test_custom_function_may_change_the_model(tmp_path):
    def rename(model):
        model.doc_string = "changed"

    ms.export(Layers(), Tensor(np.ones((1, 1, 8, 8), np.float32)), file_name=str(tmp_path / "a"), file_format="MINDIR",
              custom_func=rename)  # fmt: skip
    assert ms.load_mindir(str(tmp_path / "a.mindir")).doc_string == "changed"


# -- bad input --------------------------------------------------------------------------------------------------------
def test_bad_arguments(tmp_path):
    x = Tensor([1.0])
    for options in ({"file_format": "AIR"}, {"file_format": "PB"}, {"file_format": "MINDIR", "colour": 1}):
        with pytest.raises(ValueError):
            ms.export(Layers(), x, file_name=str(tmp_path / "a"), **options)
    with pytest.raises(TypeError):
        ms.export("net", x, file_name=str(tmp_path / "a"), file_format="MINDIR")
    with pytest.raises(RuntimeError):
        ms.load(str(tmp_path / "missing.mindir"))
    with pytest.raises(ValueError):
        ms.load(str(tmp_path / "a.onnx"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"no model", bytes(50), b"PK\x03\x04zip"])
def test_foreign_files(tmp_path, data):
    path = tmp_path / "a.mindir"
    path.write_bytes(data)
    with pytest.raises(ValueError):
        ms.load(str(path))


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "sub/../../secret", "missing"])
def test_external_data_stays_beside_the_model(tmp_path, location):
    (tmp_path / "secret").write_bytes(bytes(100))
    folder = tmp_path / "model"
    folder.mkdir()
    ms.export(Branches(), Tensor([1.0, 1.0]), Tensor(0, ms.int32), file_name=str(folder / "a"), file_format="MINDIR")
    model = ms.load_mindir(str(folder / "a.mindir"))
    model.graph.parameter[0].raw_data = None
    model.graph.parameter[0].external_data = ExternalData(location=location, offset=0, length=8)
    (folder / "b.mindir").write_bytes(model.encode())
    with pytest.raises((ValueError, RuntimeError)):
        ms.load(str(folder / "b.mindir"))


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_damaged_models_never_crash(official, data):
    content = bytearray((official / "control.mindir").read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(1, len(content)))
    with contextlib.suppress(DecodeError):
        Program(ModelProto.decode(bytes(content[:cut])))


# -- files of version 0.1 -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"ref_attr_name": "scalar:Tuple[value1,List[value2,value3,],],", "type": 7, "ints": [4, 5, 6]}, (4, [5, 6])),
        ({"ref_attr_name": "scalar:List[value1,],", "type": 8, "strings": [b"x"]}, ["x"]),
        ({"ref_attr_name": "scalar:value0", "type": 7, "i": 9}, 9),
        ({"ref_attr_name": "scalar:value0", "type": 9, "i": 1}, True),
        ({"ref_attr_name": "scalar:value0", "type": 8, "s": b"same"}, "same"),
        ({"ref_attr_name": "Monad:UMonad"}, MONAD),
        ({"ref_attr_name": "none:"}, None),
    ],
)
def test_old_attributes(fields, value):
    assert read_value(AttributeProto(name="a", **fields)) == value


@pytest.mark.parametrize("form", ["scalar:Tuple[value1,value2,],", "scalar:Tuple[", "scalar:Tuple[]]"])
def test_broken_old_attributes(form):
    with pytest.raises(DecodeError):
        read_value(AttributeProto(name="a", type=7, ints=[1], ref_attr_name=form))


def test_old_nodes_name_their_primitives_themselves():
    perm = AttributeProto(name="value", type=7, ints=[1, 0], ref_attr_name="scalar:Tuple[value1,value2,],")
    shape = AttributeProto(ref_attr_name="shape:shape1,", tensors=[TensorProto(dims=[3, 2], data_type=1)])
    nodes = [
        NodeProto(output=["p"], op_type="Constant", attribute=[perm]),
        NodeProto(output=["y"], input=["x", "p"], op_type="Transpose", attribute=[shape]),
    ]
    kind = TensorProto(dims=[2, 3], data_type=1)
    graph = GraphProto(
        name="g", node=nodes, input=[ValueInfoProto(name="x", tensor=[kind])], output=[ValueInfoProto(name="y")]
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    net = GraphCell(LoadedGraph(Program(ModelProto(ir_version="0.1.0", graph=graph))))
    np.testing.assert_array_equal(net(Tensor(x)).asnumpy(), x.T)


# -- weights in a file of their own ---------------------------------------------------------------------------------------
def _split(folder, value):
    """Write y = x + w with the weights apart; returns the graph file."""
    net = nn.Dense(2, 2, weight_init=value, bias_init=value)
    path = str(folder / "net.mindir")
    ms.export(net, Tensor(np.ones((1, 2), np.float32)), file_name=path, file_format="MINDIR")
    return save_model(ms.load_mindir(path), path, None, split_above=1)


def test_weights_apart_are_replaced_with_the_graph(tmp_path):
    x = Tensor(np.ones((1, 2), np.float32))
    for value in (1.0, 2.0):
        graph = _split(tmp_path, value)
        np.testing.assert_array_equal(GraphCell(ms.load(graph))(x).asnumpy(), np.full((1, 2), 3 * value))
        assert len(list((tmp_path / "net_variables").iterdir())) == 1


@pytest.mark.parametrize("mode", ["AES-GCM", "AES-CBC"])
def test_encrypted_weights_apart(tmp_path, monkeypatch, mode):
    monkeypatch.setattr("mindspore.train.serialization.TOTAL_SAVE", 0)
    x, net = Tensor(np.ones((1, 2), np.float32)), nn.Dense(2, 2)
    ms.export(net, x, file_name=str(tmp_path / "net"), file_format="MINDIR", enc_key=KEY, enc_mode=mode)
    graph = str(tmp_path / "net_graph.mindir")
    loaded = GraphCell(ms.load(graph, dec_key=KEY, dec_mode=mode))
    np.testing.assert_allclose(loaded(x).asnumpy(), net(x).asnumpy(), rtol=1e-6)
    with pytest.raises(ValueError):
        ms.load(graph, dec_key=KEY[::-1], dec_mode=mode)


def test_weights_in_several_files(tmp_path):
    x, net = Tensor(np.ones((1, 40), np.float32)), nn.Dense(40, 40)
    path = str(tmp_path / "net.mindir")
    ms.export(net, x, file_name=path, file_format="MINDIR")
    graph = save_model(ms.load_mindir(path), path, None, 1, 6464)
    assert sorted(f.name for f in (tmp_path / "net_variables").iterdir()) == ["data_0", "data_1"]
    np.testing.assert_allclose(GraphCell(ms.load(graph))(x).asnumpy(), net(x).asnumpy(), rtol=1e-6)
    with pytest.raises(RuntimeError, match="parameter size"):
        save_model(ms.load_mindir(path), path, None, 1, 1000)


def test_a_failed_save_leaves_graph_and_weights(tmp_path, monkeypatch):
    graph = _split(tmp_path, 1.0)
    monkeypatch.setattr(ModelProto, "encode", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save_model(ms.load_mindir(str(tmp_path / "net.mindir")), str(tmp_path / "net.mindir"), None, split_above=1)
    x = Tensor(np.ones((1, 2), np.float32))
    np.testing.assert_array_equal(GraphCell(ms.load(graph))(x).asnumpy(), np.full((1, 2), 3.0))


class Doubling(nn.Cell):
    def construct(self, times, x):
        if times < Tensor(1, ms.int32):
            return x
        return self.construct(times - 1, x * 2)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.filterwarnings("ignore:.*cannot be compiled")
def test_functions_that_call_themselves_run_after_loading(tmp_path, mode):
    x = Tensor([1.0, 3.0])
    with ms.context.local_context(mode=mode):
        ms.export(Doubling(), Tensor(2, ms.int32), x, file_name=str(tmp_path / "net"), file_format="MINDIR")
        net = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
        assert [net(Tensor(times, ms.int32), x).tolist() for times in (0, 1, 5)] == [[1, 3], [2, 6], [32, 96]]
