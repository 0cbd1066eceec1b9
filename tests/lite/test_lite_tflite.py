"""TFLite files, written here by the `flatbuffers` package, against NumPy."""

import numpy as np
import pytest

import mindspore_lite as mslite

flatbuffers = pytest.importorskip("flatbuffers")
rng = np.random.default_rng(4)
CODES = {np.dtype(np.float32): 0, np.dtype(np.int32): 2, np.dtype(np.int8): 9}


def vector(b, items, prepend, size):
    b.StartVector(size, len(items), size)
    for item in reversed(items):
        prepend(item)
    return b.EndVector()


def write(path, tensors, operators, inputs, outputs):
    """`tensors`: (shape, data or None); `operators`: (code, inputs, outputs, options writer or None)."""
    b = flatbuffers.Builder(1 << 16)
    buffers, rows = [], []

    def table(count, fields):
        b.StartObject(count)
        for slot, (kind, value) in fields.items():
            getattr(b, f"Prepend{kind}Slot")(slot, value, 0)
        return b.EndObject()

    buffers.append(table(1, {}))
    for number, (shape, data) in enumerate(tensors):
        place = 0
        if data is not None:
            content = b.CreateByteVector(np.ascontiguousarray(data).tobytes())
            buffers.append(table(1, {0: ("UOffsetTRelative", content)}))
            place = len(buffers) - 1
        name = b.CreateString(f"t{number}")
        sizes = vector(b, list(shape), b.PrependInt32, 4)
        kind = CODES[np.dtype(np.float32) if data is None else data.dtype]
        rows.append(
            table(
                8,
                {
                    0: ("UOffsetTRelative", sizes),
                    1: ("Int8", kind),
                    2: ("Uint32", place),
                    3: ("UOffsetTRelative", name),
                },
            )
        )
    codes, nodes = [], []
    for code, used, given, options in operators:
        codes.append(table(4, {0: ("Int8", min(code, 127)), 3: ("Int32", code)}))
        extra = table(*options) if options else None
        ins, outs = (vector(b, v, b.PrependInt32, 4) for v in (used, given))
        fields = {0: ("Uint32", len(codes) - 1), 1: ("UOffsetTRelative", ins), 2: ("UOffsetTRelative", outs)}
        nodes.append(table(9, fields | ({4: ("UOffsetTRelative", extra)} if extra else {})))
    lists = [vector(b, v, b.PrependUOffsetTRelative, 4) for v in (rows, nodes, codes, buffers)]
    ends = [vector(b, v, b.PrependInt32, 4) for v in (inputs, outputs)]
    graph = table(5, {n: ("UOffsetTRelative", v) for n, v in enumerate((lists[0], *ends, lists[1]))})
    graphs = vector(b, [graph], b.PrependUOffsetTRelative, 4)
    model = {
        0: ("Uint32", 3),
        1: ("UOffsetTRelative", lists[2]),
        2: ("UOffsetTRelative", graphs),
        4: ("UOffsetTRelative", lists[3]),
    }
    b.Finish(table(7, model), b"TFL3")
    path.write_bytes(bytes(b.Output()))


def run(tmp_path, *arrays):
    mslite.Converter().convert(mslite.FmkType.TFLITE, str(tmp_path / "net.tflite"), str(tmp_path / "net"))
    model = mslite.Model()
    model.build_from_file(str(tmp_path / "net.ms"), mslite.ModelType.MINDIR_LITE)
    assert model.get_inputs()[0].format is mslite.Format.NHWC
    return [t.get_data_to_numpy() for t in model.predict(list(arrays))]


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_convolution_depthwise_and_dense(tmp_path):
    x, w, d, bias, dense = normal(1, 6, 6, 3), normal(4, 1, 1, 3), normal(1, 3, 3, 4), normal(4), normal(5, 64)
    same_relu6 = (7, {0: ("Int8", 0), 1: ("Int32", 1), 2: ("Int32", 1), 3: ("Int8", 3)})
    valid = (7, {0: ("Int8", 1), 1: ("Int32", 1), 2: ("Int32", 1), 3: ("Int32", 1)})
    tensors = [(x.shape, None), (w.shape, w), (d.shape, d), ((4,), bias), ((5, 64), dense), ((1, 6, 6, 4), None),
               ((1, 4, 4, 4), None), ((1, 5), None)]  # fmt: skip
    write(tmp_path / "net.tflite", tensors,
          [(3, [0, 1, 3], [5], same_relu6), (4, [5, 2, 3], [6], valid), (9, [6, 4], [7], None)], [0], [7])  # fmt: skip
    first = np.clip(x @ w[:, 0, 0].T + bias, 0, 6)
    second = sum(first[:, i : i + 4, j : j + 4] * d[0, i, j] for i in range(3) for j in range(3)) + bias
    (found,) = run(tmp_path, x)
    np.testing.assert_allclose(found, second.reshape(1, 64) @ dense.T, rtol=1e-4, atol=1e-4)


def test_pooling_concatenation_and_reductions(tmp_path):
    x = normal(2, 4, 4, 3)
    pool = (6, {0: ("Int8", 1), 1: ("Int32", 2), 2: ("Int32", 2), 3: ("Int32", 2), 4: ("Int32", 2)})
    axes = np.array([1, 2], np.int32)
    tensors = [
        (x.shape, None),
        ((2, 2, 2, 3), None),
        ((2, 2, 2, 3), None),
        ((2, 2, 2, 6), None),
        ((2,), axes),
        ((2, 6), None),
    ]
    last = (2, {0: ("Int32", 3)})
    write(tmp_path / "net.tflite", tensors,
          [(17, [0], [1], pool), (1, [0], [2], pool), (2, [1, 2], [3], last), (40, [3, 4], [5], None)], [0], [3, 5])  # fmt: skip
    blocks = x.reshape(2, 2, 2, 2, 2, 3).transpose(0, 1, 3, 5, 2, 4).reshape(2, 2, 2, 3, 4)
    joined = np.concatenate([blocks.max(-1), blocks.mean(-1)], -1)
    found = run(tmp_path, x)
    np.testing.assert_allclose(found[0], joined, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], joined.mean((1, 2)), rtol=1e-5, atol=1e-6)


def test_unknown_operators_are_named(tmp_path):
    write(tmp_path / "net.tflite", [((2,), None), ((2,), None)], [(113, [0], [1], None)], [0], [1])
    with pytest.raises(RuntimeError, match=r"113 \(at t1\)"):
        mslite.Converter().convert(mslite.FmkType.TFLITE, str(tmp_path / "net.tflite"), str(tmp_path / "net"))
    assert not (tmp_path / "net.ms").exists()
