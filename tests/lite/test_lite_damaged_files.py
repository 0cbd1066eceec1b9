"""Damaged model files raise RuntimeError and use no more memory than they have bytes for."""

import json
import zlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite
from mindspore_lite import container

rng = np.random.default_rng(5)


@pytest.fixture
def content(tmp_path):
    w = rng.standard_normal((40, 20)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 40])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 20])], [numpy_helper.from_array(w, "w")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
    return (tmp_path / "g.ms").read_bytes()


def load(path):
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    return model


def test_every_flipped_bit_that_matters_is_noticed(content, tmp_path):
    used = np.frombuffer(content, np.uint8)
    for _ in range(60):
        place = int(rng.integers(0, len(content)))
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(0, 8))
        (tmp_path / "bad.ms").write_bytes(damaged)
        try:
            model = load(tmp_path / "bad.ms")
        except RuntimeError:
            continue
        assert used[place] == 0 or _is_source(content, place)  # padding, or what only another shape needs
        model.predict([np.ones((2, 40), np.float32)])


def _is_source(content, place):
    entries = container.Container(memoryview(content))._entries
    start, size, _ = entries["source"]
    return start <= place < start + size


def test_cut_off_files(content, tmp_path):
    for size in [0, 3, 15, 40, *rng.integers(1, len(content) - 64, 20)]:
        (tmp_path / "bad.ms").write_bytes(content[: int(size)])
        with pytest.raises(RuntimeError, match="build_from_file failed"):
            load(tmp_path / "bad.ms")


def _changed(content, name, change):
    """The file with another JSON section and right checksums."""
    box = container.Container(memoryview(content))
    sections = {key: bytes(box.section(key)) for key in box._entries}
    rows = json.loads(sections[name])
    change(rows)
    sections[name] = json.dumps(rows).encode()
    return b"".join(container.pack(sections))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("arrays", lambda rows: rows[0].update(shape=[1 << 40, 1 << 20])),
        ("arrays", lambda rows: rows[0].update(at=1 << 60)),
        ("arrays", lambda rows: rows[0].update(dtype="object")),
        ("arrays", lambda rows: rows[0].update(stored={"bits": 99, "axis": None, "scale": 0, "zero": 0})),
        ("arrays", lambda rows: rows.clear()),
        ("graph", lambda rows: rows[0]["nodes"][0].__setitem__(0, 77)),
        ("graph", lambda rows: rows[0]["nodes"][0][1].__setitem__(0, ["n", 5])),
        ("graph", lambda rows: rows[0]["ops"][0].__setitem__(0, "../os")),
        ("graph", lambda rows: rows[0]["ops"][0].__setitem__(1, "promote_arguments")),
        ("graph", lambda rows: rows[0]["inputs"][0].__setitem__(1, ["float32", [9, 9]])),
        ("graph", lambda rows: rows.clear()),
        ("meta", lambda rows: rows.pop("inputs")),
        ("meta", lambda rows: rows["inputs"][0].__setitem__(1, "nonsense")),
        ("meta", lambda rows: rows["program"]["weights"].clear()),
        ("meta", lambda rows: rows.update(source="pickle")),
    ],
)
def test_nonsense_with_right_checksums(content, tmp_path, name, change):
    (tmp_path / "bad.ms").write_bytes(_changed(content, name, change))
    with pytest.raises(RuntimeError, match="build_from_file failed"):
        load(tmp_path / "bad.ms")


def test_the_grammar_is_as_documented(content):
    assert content[:4] == b"MSLT"
    count = int.from_bytes(content[8:12], "little")
    assert zlib.crc32(content[16 : 16 + 32 * count]) == int.from_bytes(content[12:16], "little")


@pytest.mark.parametrize("seed", range(3))
def test_random_tflite_bytes(seed, tmp_path):
    random = np.random.default_rng(seed)
    for size in (0, 4, 8, 100, 4000):
        (tmp_path / "bad.tflite").write_bytes(random.integers(0, 40, size, dtype=np.uint8).tobytes())
        with pytest.raises(RuntimeError, match="Converter model failed"):
            mslite.Converter().convert(mslite.FmkType.TFLITE, str(tmp_path / "bad.tflite"), str(tmp_path / "bad"))
        assert not (tmp_path / "bad.ms").exists()


def _small_network():
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2], kernel_shape=[3, 3]),
        helper.make_node("MaxPool", ["a"], ["b"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Transpose", ["b"], ["c"], perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["c", "shape"], ["d"]),
        helper.make_node("Slice", ["d", "first", "last"], ["y"]),
    ]
    constants = [numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")]
    constants += [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in (("shape", [1, -1]), ("first", [0, 1]), ("last", [1, 9]))]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])], constants,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


NUMBERS = (-(1 << 62), -1, 0, 7, 100_000, 1 << 40, 1 << 62)


def _mutated(random):
    """The network with a wrong reference, size, attribute or constant, or with flipped bits."""
    model = _small_network()
    graph, number = model.graph, int(random.choice(NUMBERS))
    node = graph.node[int(random.integers(len(graph.node)))]
    constant = graph.initializer[int(random.integers(len(graph.initializer)))]
    kind = random.integers(5)
    if kind == 0:  # perhaps a cycle
        node.input[int(random.integers(len(node.input)))] = graph.node[int(random.integers(len(graph.node)))].output[0]
    elif kind == 1:
        constant.dims[int(random.integers(len(constant.dims)))] = number
    elif kind == 2:
        graph.input[0].type.tensor_type.shape.dim[int(random.integers(4))].dim_value = number
    elif kind == 3 and node.attribute:
        ints = node.attribute[int(random.integers(len(node.attribute)))].ints
        ints[int(random.integers(len(ints)))] = number
    content = bytearray(model.SerializeToString())
    if kind == 4:
        content[int(random.integers(300))] ^= 1 << int(random.integers(8))
    return bytes(content)


@pytest.mark.parametrize("seed", range(2))
def test_mutated_onnx_models_are_refused_or_run(seed, tmp_path):
    import resource

    random, limits = np.random.default_rng(seed), resource.getrlimit(resource.RLIMIT_AS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + (4 << 30), limits[1]))
    refused = 0
    try:
        for number in range(25):
            (tmp_path / "m.onnx").write_bytes(_mutated(random))
            try:
                mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "m.onnx"), str(tmp_path / f"m{number}"))
            except RuntimeError:
                refused += 1
                assert not (tmp_path / f"m{number}.ms").exists()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert 0 < refused < 25


def test_large_sections_notice_changed_and_moved_bytes():
    content = np.random.default_rng(0).bytes((1 << 20) + 4099)
    whole = b"".join(container.pack({"data": content}))
    start, size, (_, kind) = container.Container(memoryview(whole))._entries["data"]
    assert kind == 1 and bytes(container.Container(memoryview(whole)).section("data")) == content
    rows, columns = bytearray(whole), bytearray(whole)
    rows[start : start + 8192], rows[start + 8192 : start + 16384] = whole[start + 8192 : start + 16384], whole[start : start + 8192]
    columns[start : start + 8], columns[start + 8 : start + 16] = whole[start + 8 : start + 16], whole[start : start + 8]
    flipped = [bytearray(whole) for _ in range(3)]
    for damaged, place in zip(flipped, (start, start + size // 2, start + size - 1)):
        damaged[place] ^= 64
    for damaged in (rows, columns, *flipped):
        with pytest.raises(container.BadModelError, match="'data' is damaged"):
            container.Container(memoryview(damaged)).section("data")


def test_files_of_the_first_version_are_read(content):
    """They differ from small files of today in nothing but the number."""
    old = bytearray(content)
    old[4:8] = (1).to_bytes(4, "little")
    assert container.Container(memoryview(old)).json("meta") == container.Container(memoryview(content)).json("meta")
    old[4:8] = (9).to_bytes(4, "little")
    with pytest.raises(container.BadModelError, match="version 9"):
        container.Container(memoryview(old))
