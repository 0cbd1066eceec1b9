"""Random access to rows of MindRecord and TFRecord files, as the data pipeline uses it."""

from __future__ import annotations

import gzip
import pickle
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mindrecord_rows import KINDS, kinds_row

from mindspore.dataset.sources import minddataset
from mindspore.dataset.sources import tfrecord as tfrows
from mindspore.mindrecord import FileWriter
from mindspore.mindrecord.tfrecord import TFRecordWriter, encode_example


def same(found, wanted):
    return found.keys() == wanted.keys() and all(
        found[name].dtype == wanted[name].dtype and np.array_equal(found[name], wanted[name]) for name in wanted
    )


# -- MindRecord -------------------------------------------------------------------------------------------------------


def wanted_row(i):
    row = kinds_row(i)
    return {
        "file_name": np.array(row["file_name"]),
        "label": np.array(row["label"], np.int32),
        "score": np.array(row["score"], np.float32),
        "score64": np.array(row["score64"]),
        "id64": np.array(row["id64"]),
        "data": np.array([row["data"]]),
        "mask": row["mask"],
        "seg": row["seg"],
        "emb": row["emb"],
    }


@pytest.fixture(params=[None, ["label"]], ids=["all indexed", "one indexed"])
def rows(folder, request):
    writer = FileWriter("a", 3)
    writer.set_page_size(1 << 15)
    writer.add_schema(KINDS)
    if request.param:
        writer.add_index(request.param)
    writer.write_raw_data([kinds_row(i) for i in range(40)])
    writer.commit()
    with minddataset.open("a1") as opened:
        yield opened


def test_rows_by_number(rows):
    assert len(rows) == 40 and sum(rows.shard_sizes) == 40
    assert rows.columns == sorted(KINDS)
    for i in (0, 39, 13, 14, 26, 27):
        assert same(rows.row(i), wanted_row(i))
    for i in (-1, 40):
        with pytest.raises(IndexError):
            rows.row(i)


def test_the_official_rows(official):
    with minddataset.open("kinds.mindrecord", ["seg", "data", "label"]) as rows:
        found = [rows.row(i) for i in range(len(rows))]
    assert [list(row) for row in found] == [["seg", "data", "label"]] * 8
    for i, row in enumerate(found):
        assert same(row, {name: wanted_row(i)[name] for name in row})
        assert row["data"].tobytes() == kinds_row(i)["data"]


def test_rows_are_writable(rows):
    for values in rows.row(3).values():
        assert values.flags.writeable
    rows.row(3)["seg"][:] = 0
    assert same(rows.row(3), wanted_row(3))


def test_gather_gives_the_rows(rows):
    names = ["seg", "label", "file_name", "emb", "score64"]
    with minddataset.open("a0", names) as some:
        indices = np.random.default_rng(0).permutation(40)[:20]
        block = some.gather(indices)
        assert list(block) == names
        for n, i in enumerate(indices.tolist()):
            row = some.row(i)
            assert all(np.array_equal(block[name][n], row[name]) for name in names)
    assert rows.gather([1, 2]) is None  # `mask` and `data` have another length in each row
    with pytest.raises(IndexError):
        rows.gather([40])


@pytest.mark.parametrize("kind", [{"type": "bytes"}, {"type": "float32", "shape": [2, 3]}])
def test_gather_of_rows_with_one_blob(folder, kind):
    rng = np.random.default_rng(0)
    values = rng.random((20, 2, 3), np.float32) + 1
    writer = FileWriter("a", 2)
    writer.add_schema({"x": kind, "n": {"type": "int64"}})
    blobs = [value.tobytes() if kind["type"] == "bytes" else value for value in values]
    writer.write_raw_data([{"x": blob, "n": n} for n, blob in enumerate(blobs)])
    writer.commit()
    with minddataset.open("a0") as rows:
        block = rows.gather([19, 0, 7, 7])
    assert block["n"].tolist() == [19, 0, 7, 7]
    wanted = values[[19, 0, 7, 7]]
    assert block["x"].tobytes() == wanted.tobytes()
    assert block["x"].shape == ((4, 1) if kind["type"] == "bytes" else (4, 2, 3))


def test_types_and_classes(rows):
    types = rows.column_types
    assert types["mask"] == (np.dtype("int64"), [-1]) and types["label"] == (np.dtype("int32"), [])
    assert types["data"] == (np.dtype("S"), [1]) and types["file_name"] == (np.dtype("U"), [])
    assert rows.class_column("label").tolist() == list(range(-2, 38))
    assert rows.class_column("file_name").tolist() == [f"图{i}.jpg" for i in range(40)]
    with pytest.raises(RuntimeError, match="must be a scalar column"):
        rows.class_column("seg")


def test_rows_from_many_threads_and_processes(rows):
    again = pickle.loads(pickle.dumps(rows))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(again.row, range(40)))
    assert all(same(row, wanted_row(i)) for i, row in enumerate(found))


# -- TFRecord ---------------------------------------------------------------------------------------------------------

_ROW = st.fixed_dictionaries(
    {
        "label": st.integers(-(2**63), 2**63 - 1).map(lambda n: [n]),
        "ids": st.lists(st.integers(0, 100000), min_size=3, max_size=3),
        "x": st.lists(st.floats(width=32, allow_nan=False), min_size=2, max_size=2),
        "data": st.binary(min_size=5, max_size=5).map(lambda b: [b]),
    }
)


def write_tfrecord(path, rows):
    with TFRecordWriter(str(path)) as writer:
        for row in rows:
            writer.write(encode_example(row))


def tf_row(row):
    return {
        "data": np.frombuffer(b"".join(row["data"]), np.uint8),
        "ids": np.array(row["ids"], np.int64),
        "label": np.array(row["label"], np.int64),
        "x": np.array(row["x"], np.float32),
    }


@settings(max_examples=30, deadline=None)
@given(st.lists(_ROW, min_size=1, max_size=12), st.randoms())
def test_tfrecord_rows_and_batches(tmp_path_factory, content, random):
    folder = tmp_path_factory.mktemp("tf")
    half = len(content) // 2
    write_tfrecord(folder / "a", content[:half])
    write_tfrecord(folder / "b", content[half:])
    with tfrows.open([str(folder / "a"), str(folder / "b")]) as rows:
        assert rows.shard_sizes == [half, len(content) - half]
        wanted = [tf_row(row) for row in content]
        assert all(same(rows.row(i), wanted[i]) for i in range(len(rows)))
        indices = random.choices(range(len(content)), k=8)
        block = rows.gather(indices)
        assert all(np.array_equal(block[name], [wanted[i][name] for i in indices]) for name in block)


@pytest.fixture
def images(folder):
    content = [{"label": [i], "data": bytes([i]) * 6, "words": [b"ab", b"cde"], "x": [i / 2] * 4} for i in range(9)]
    write_tfrecord(folder / "a", content)
    return "a"


def test_tfrecord_schema(images):
    schema = {
        "x": (np.float64, [2, -1]),
        "label": ("int32", []),
        "data": (np.uint8, [3, 2]),
        "words": ("U", None),
    }
    with tfrows.open(images, None, schema) as rows:
        row = rows.row(4)
        assert list(row) == list(schema)
        assert row["x"].dtype == np.float64 and row["x"].tolist() == [[2.0, 2.0], [2.0, 2.0]]
        assert row["label"].dtype == np.int32 and row["label"].shape == () and int(row["label"]) == 4
        assert row["data"].shape == (3, 2) and row["words"].tolist() == ["ab", "cde"]
        block = rows.gather([3, 1, 2])
        assert block["x"].shape == (3, 2, 2) and block["label"].tolist() == [3, 1, 2]
        assert block["words"].tolist() == [["ab", "cde"]] * 3
    with tfrows.open(images, ["label", "data"], schema) as rows:
        block = rows.gather([8, 0])
        assert block["data"].shape == (2, 3, 2) and block["label"].dtype == np.int32


def test_several_values_of_bytes_are_padded(images):
    with tfrows.open(images, ["words"]) as rows:
        assert rows.row(0)["words"].tobytes() == b"ab\0cde"


@pytest.mark.parametrize(
    "schema",
    [{"nope": (np.int32, None)}, {"x": (np.float32, [3])}, {"data": (np.int32, None)}, {"label": ("U", None)}],
)
def test_a_schema_that_does_not_fit(images, schema):
    with tfrows.open(images, None, schema) as rows:
        with pytest.raises(RuntimeError, match="record 2 of a cannot be read"):
            rows.row(2)
        with pytest.raises(RuntimeError, match="of a cannot be read"):
            rows.gather([1, 2])


def test_unknown_column(images):
    with pytest.raises(RuntimeError, match="column name: nope"):
        tfrows.open(images, ["nope"])


@pytest.mark.parametrize("kind, pack", [("GZIP", gzip.compress), ("ZLIB", zlib.compress)])
def test_compressed_files(images, folder, kind, pack):
    whole = pack((folder / images).read_bytes())
    (folder / "b").write_bytes(whole)
    with tfrows.open("b", None, None, kind) as rows, tfrows.open(images) as plain:
        assert len(rows) == 9 and same(rows.row(5), plain.row(5))
    (folder / "b").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RuntimeError, match=f"b is no whole {kind} file"):
        tfrows.open("b", None, None, kind)
    with pytest.raises(ValueError):
        tfrows.open("b", None, None, "ZIP")


def test_empty_file(folder):
    (folder / "a").write_bytes(b"")
    assert len(tfrows.open("a")) == 0


def test_truncated_and_foreign_files(images, folder):
    whole = (folder / images).read_bytes()
    record = len(whole) // 9
    for size in (1, 11, 12, record - 1, record + 5, len(whole) - 1):
        (folder / "b").write_bytes(whole[:size])
        with pytest.raises(RuntimeError, match="Invalid file, b "):
            tfrows.open("b")
    for content in (b"hello world " * 9, bytes(100), b"\xff" * 100):
        (folder / "b").write_bytes(content)
        with pytest.raises(RuntimeError, match="Invalid file"):
            tfrows.open("b")
    with pytest.raises(RuntimeError, match="can not be found"):
        tfrows.open("missing")


def test_checksums(images, folder):
    whole = bytearray((folder / images).read_bytes())
    record = len(whole) // 9
    whole[3 * record + 20] ^= 0x80
    (folder / "b").write_bytes(whole)
    with tfrows.open("b") as rows:
        rows.check(2)
        with pytest.raises(RuntimeError, match="record 3 of b is damaged: its checksum"):
            rows.check(3)
    whole[15] ^= 1  # the first record is checked when the file is opened
    (folder / "b").write_bytes(whole)
    with pytest.raises(RuntimeError, match="record 0 of b is damaged"):
        tfrows.open("b")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6))
def test_damage_gives_rows_or_a_runtime_error(tmp_path_factory, damage):
    path = tmp_path_factory.mktemp("damage") / "a"
    write_tfrecord(path, [{"label": [i], "ids": [i, 300], "data": b"abc", "x": [0.5, i]} for i in range(4)])
    content = bytearray(path.read_bytes())
    for at, byte in damage:
        content[at % len(content)] = byte
    path.write_bytes(content)
    try:
        with tfrows.open(str(path)) as rows:
            for i in range(len(rows)):
                rows.row(i)
            rows.gather(np.arange(len(rows)))
    except RuntimeError:
        pass


def test_more_files_than_may_be_open(folder, monkeypatch):
    monkeypatch.setattr(tfrows, "_OPEN_FILES", 3)
    for n in range(8):
        write_tfrecord(folder / f"f{n}", [{"n": [n]}])
    with tfrows.open([f"f{n}" for n in range(8)]) as rows:
        again = pickle.loads(pickle.dumps(rows))
        assert again.gather(range(8))["n"].ravel().tolist() == list(range(8))
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(rows.row, list(range(8)) * 5))
    assert [int(row["n"][0]) for row in found] == list(range(8)) * 5
