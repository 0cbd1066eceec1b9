"""TensorFlow's files through Converter and Model: graphs written here beside NumPy, and TensorFlow's own where it is installed."""

import numpy as np
import pytest

import mindspore_lite as mslite
from mindspore_lite.importers.tensorflow import messages as tf_messages

rng = np.random.default_rng(3)
NUMBERS = {np.dtype(name): number for number, name in tf_messages.TYPES.items() if name != "bfloat16"}


def value(given):
    """An attribute."""
    if isinstance(given, np.ndarray):
        shape = tf_messages.Shape(dim=[tf_messages.Dim(size=n) for n in given.shape])
        tensor = tf_messages.TensorMessage(dtype=NUMBERS[given.dtype], shape=shape, content=given.tobytes())
        return tf_messages.AttrValue(tensor=tensor)
    if isinstance(given, np.dtype):
        return tf_messages.AttrValue(type=NUMBERS[given])
    if isinstance(given, bool):
        return tf_messages.AttrValue(b=given)
    if isinstance(given, int):
        return tf_messages.AttrValue(i=given)
    if isinstance(given, float):
        return tf_messages.AttrValue(f=given)
    if isinstance(given, str):
        return tf_messages.AttrValue(s=given.encode())
    if isinstance(given, tuple):
        return tf_messages.AttrValue(shape=tf_messages.Shape(dim=[tf_messages.Dim(size=n) for n in given]))
    return tf_messages.AttrValue(list=tf_messages.ListValue(i=given))


def node(op, name, *inputs, **attributes):
    entries = [tf_messages.AttrEntry(key=key, value=value(given)) for key, given in attributes.items()]
    return tf_messages.NodeDef(name=name, op=op, input=list(inputs), attr=entries)


def constant(name, array):
    array = np.asarray(array)
    return node("Const", name, value=array, dtype=array.dtype)


def placeholder(name, *shape, dtype=np.float32):
    return node("Placeholder", name, dtype=np.dtype(dtype), shape=shape)


def convert(tmp_path, *nodes):
    (tmp_path / "net.pb").write_bytes(tf_messages.GraphDef(node=list(nodes)).encode())
    mslite.Converter().convert(mslite.FmkType.TF, str(tmp_path / "net.pb"), str(tmp_path / "net"))
    return load(tmp_path / "net.ms")


def load(path):
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    return model


def predict(model, *arrays):
    return [t.get_data_to_numpy() for t in model.predict([mslite.Tensor(a) for a in arrays])]


def test_a_frozen_graph(tmp_path):
    filters, bias = rng.standard_normal((1, 1, 3, 4)).astype(np.float32), rng.standard_normal(4).astype(np.float32)
    model = convert(
        tmp_path,
        placeholder("x", 2, 5, 5, 3),
        constant("w", filters), constant("b", bias), node("Identity", "w/read", "w"), constant("axes", np.int32([1, 2])),
        node("Conv2D", "conv", "x", "w/read", strides=[1, 2, 2, 1], padding="SAME"),
        node("BiasAdd", "biased", "conv", "b"), node("Relu6", "bounded", "biased", T=np.dtype(np.float32)),
        node("Mean", "y", "bounded", "axes"),
    )  # fmt: skip
    x = rng.standard_normal((2, 5, 5, 3)).astype(np.float32)
    wanted = np.clip(x[:, ::2, ::2] @ filters[0, 0] + bias, 0, 6).mean((1, 2))
    (found,) = predict(model, x)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert model.get_inputs()[0].name == "x" and model.get_outputs()[0].name.startswith("y")


@pytest.mark.parametrize(
    ("masks", "index"),
    [
        ({}, (slice(1, 3), slice(0, 4, 2))),
        ({"begin_mask": 1, "end_mask": 2}, (slice(None, 3), slice(0, None, 2))),
        ({"shrink_axis_mask": 1}, (1, slice(0, 4, 2))),
        ({"ellipsis_mask": 1, "shrink_axis_mask": 2}, (Ellipsis, 0)),
        ({"new_axis_mask": 1}, (None, slice(0, 4, 2))),
    ],
)
def test_slices(tmp_path, masks, index):
    bounds = {"begin": [1, 0], "end": [3, 4], "strides": [1, 2]}
    model = convert(
        tmp_path, placeholder("x", 4, 5, 6), *(constant(n, np.array(v, np.int32)) for n, v in bounds.items()),
        node("StridedSlice", "y", "x", *bounds, **masks),
    )  # fmt: skip
    x = rng.standard_normal((4, 5, 6)).astype(np.float32)
    np.testing.assert_array_equal(predict(model, x)[0], x[index])


def test_shapes_are_followed_when_sizes_are_open(tmp_path):
    model = convert(
        tmp_path, placeholder("x", -1, 2, 3), constant("zero", np.array([0], np.int32)), constant("one", np.array([1], np.int32)),
        node("Shape", "shape", "x", out_type=np.dtype(np.int32)), constant("rest", np.array(-1, np.int32)),
        node("StridedSlice", "batch", "shape", "zero", "one", "one", shrink_axis_mask=1), node("Pack", "sizes", "batch", "rest"),
        node("Reshape", "y", "x", "sizes"),
    )  # fmt: skip
    for count in (2, 5):
        x = rng.standard_normal((count, 2, 3)).astype(np.float32)
        np.testing.assert_array_equal(predict(model, x)[0], x.reshape(count, -1))


def test_what_is_not_supported_is_listed(tmp_path):
    nodes = [placeholder("x", 2), node("Frobnicate", "a", "x"), node("Quux", "b", "a"), node("Frobnicate", "c", "b")]
    with pytest.raises(RuntimeError, match=r"Frobnicate \(at a, c\); Quux \(at b\)"):
        convert(tmp_path, *nodes)
    assert not (tmp_path / "net.ms").exists()


def test_cycles_and_missing_nodes(tmp_path):
    with pytest.raises(RuntimeError, match="loop"):
        convert(tmp_path, placeholder("x", 2), node("Add", "a", "x", "b"), node("Relu", "b", "a"), node("Relu", "y", "b"))
    with pytest.raises(RuntimeError, match="'gone', which is not there"):
        convert(tmp_path, placeholder("x", 2), node("Add", "y", "x", "gone"))


def test_sizes_that_no_memory_holds_are_refused(tmp_path):
    with pytest.raises(RuntimeError, match=r"Converter model failed! .*\(2147483647, 600, 600, 3\)"):
        convert(tmp_path, placeholder("x", 2147483647, 600, 600, 3), node("Relu", "y", "x"))
    assert [path.name for path in tmp_path.iterdir()] == ["net.pb"]


def test_damaged_files(tmp_path):
    content = tf_messages.GraphDef(
        node=[placeholder("x", 2, 3), constant("w", np.ones((3, 2), np.float32)), node("MatMul", "y", "x", "w")]
    ).encode()
    for _ in range(60):
        damaged = bytearray(content)
        damaged[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        (tmp_path / "bad.pb").write_bytes(damaged[: int(rng.integers(len(content) // 2, len(content) + 1))])
        try:
            mslite.Converter().convert(mslite.FmkType.TF, str(tmp_path / "bad.pb"), str(tmp_path / "bad"))
        except RuntimeError:
            continue


# -- beside TensorFlow ----------------------------------------------------------------------------------------------------
def saved(tf, folder, function, *arrays):
    """Save a function of arrays of these shapes, with the first size open; returns what TensorFlow gives."""
    module = tf.Module()
    specs = [tf.TensorSpec([None, *a.shape[1:]], a.dtype) for a in arrays]
    module.run = tf.function(function, input_signature=specs)
    module.kept = getattr(function, "variables", [])
    tf.saved_model.save(module, str(folder), signatures=module.run)
    return module.run(*(tf.constant(a) for a in arrays)).numpy()


@pytest.mark.slow
def test_a_saved_model_with_variables(tmp_path):
    tf = pytest.importorskip("tensorflow")
    w = tf.Variable(rng.standard_normal((3, 3, 3, 8)).astype(np.float32))
    d = tf.Variable(rng.standard_normal((3, 3, 8, 2)).astype(np.float32))
    table = tf.Variable(rng.standard_normal((16, 5)).astype(np.float32))

    def run(x):
        y = tf.nn.relu(tf.nn.conv2d(x, w, 2, "SAME"))
        y = tf.nn.depthwise_conv2d(y, d, [1, 1, 1, 1], "VALID")
        y = tf.nn.max_pool2d(tf.pad(y, [[0, 0], [1, 1], [1, 1], [0, 0]]), 3, 2, "SAME")
        y = tf.image.resize(y, (6, 5)) + tf.concat([y[:, :1, :1], y[:, 1:2, 1:2]], -1)[..., :16]
        y = tf.reshape(y, (tf.shape(x)[0], -1, 16)) @ table
        return tf.nn.softmax(tf.reduce_mean(y, 1)) + tf.einsum("nij,nkj->ni", y, y)[:, :5] * 1e-3

    run.variables = [w, d, table]
    x = rng.standard_normal((2, 11, 12, 3)).astype(np.float32)
    wanted = saved(tf, tmp_path / "net", run, x)
    mslite.Converter().convert(mslite.FmkType.TF, str(tmp_path / "net"), str(tmp_path / "out"))
    np.testing.assert_allclose(predict(load(tmp_path / "out.ms"), x)[0], wanted, rtol=1e-4, atol=1e-4)
