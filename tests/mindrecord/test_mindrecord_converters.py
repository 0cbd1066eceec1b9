"""Converters of well-known datasets."""

from __future__ import annotations

import gzip
import os
import pickle
import struct

import numpy as np
import pytest

from mindspore.mindrecord import (
    Cifar10ToMR,
    Cifar100ToMR,
    CsvToMR,
    FileReader,
    ImageNetToMR,
    MnistToMR,
    TFRecordToMR,
)
from mindspore.mindrecord.common.exceptions import ParamValueError, PathNotExistsError
from mindspore.mindrecord.tfrecord import TFRecordWriter, encode_example
from mindspore.mindrecord.tools.tfrecord_to_mr import FixedLenFeature


def rows_of(name):
    return list(FileReader(name).get_next())


def flat_images(count, shape):
    """Images of one colour each: JPEG keeps those exactly enough to compare."""
    rng = np.random.default_rng(0)
    colours = rng.integers(0, 256, (count, *[1] * (len(shape) - 1), shape[-1]))
    return np.broadcast_to(colours, (count, *shape)).astype(np.uint8)


def decode(data):
    cv2 = pytest.importorskip("cv2")
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)


# -- MNIST ------------------------------------------------------------------------------------------------------------


def make_mnist(folder):
    images = flat_images(5, (28, 28, 1))[..., 0]
    for part in ("train", "t10k"):
        with gzip.open(folder / f"{part}-images-idx3-ubyte.gz", "wb") as stream:
            stream.write(struct.pack(">4I", 2051, 5, 28, 28) + images.tobytes())
        with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz", "wb") as stream:
            stream.write(struct.pack(">2I", 2049, 5) + bytes(range(5)))
    return images


def test_mnist(folder):
    images = make_mnist(folder)
    MnistToMR(".", "out", 2).transform()
    for part in ("train", "test"):
        rows = rows_of(f"out_{part}.mindrecord0")
        assert sorted(row["label"] for row in rows) == list(range(5))
        assert all(np.abs(decode(row["data"]).astype(int) - images[row["label"]]).max() <= 2 for row in rows)


def test_damaged_mnist(folder):
    make_mnist(folder)
    (folder / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(b"too short"))
    with pytest.raises(RuntimeError, match="is no MNIST file"):
        MnistToMR(".", "out").transform()
    whole = gzip.compress(struct.pack(">4I", 2051, 1, 28, 28) + bytes(28 * 28))
    (folder / "train-images-idx3-ubyte.gz").write_bytes(whole[:-9])
    with pytest.raises(RuntimeError, match="is no MNIST file"):
        MnistToMR(".", "out").transform()
    os.remove("train-images-idx3-ubyte.gz")
    with pytest.raises(PathNotExistsError):
        MnistToMR(".", "out").transform()
    assert not [name for name in os.listdir() if "out" in name]


def test_mnist_with_a_wrong_count(folder, caplog):
    images = make_mnist(folder)
    with gzip.open(folder / "train-images-idx3-ubyte.gz", "wb") as stream:
        stream.write(struct.pack(">4I", 2051, 60000, 28, 28) + images.tobytes())
    MnistToMR(".", "out").transform()
    assert FileReader("out_train.mindrecord").len() == 5
    assert "states 60000 items and holds 5" in caplog.text


# -- CIFAR ------------------------------------------------------------------------------------------------------------


def make_cifar(path, labels):
    images = flat_images(len(next(iter(labels.values()))), (32, 32, 3))
    content = {b"data": np.ascontiguousarray(images.transpose(0, 3, 1, 2)).reshape(len(images), -1), **labels}
    path.write_bytes(pickle.dumps(content, protocol=2))
    return images


def test_cifar10(folder):
    for name in ("data_batch_1", "data_batch_2", "test_batch"):
        images = make_cifar(folder / name, {b"labels": [3, 1, 4]})
    Cifar10ToMR(".", "out").transform(["label"])
    train, test = rows_of("out"), rows_of("out_test")
    assert [row["id"] for row in train] == list(range(6)) and [row["label"] for row in train] == [3, 1, 4] * 2
    assert [row["label"] for row in test] == [3, 1, 4]
    for row, image in zip(test, images):
        assert np.abs(decode(row["data"])[..., ::-1].astype(int) - image).max() <= 4


def test_cifar100(folder):
    for name in ("train", "test"):
        make_cifar(folder / name, {b"fine_labels": [30, 10], b"coarse_labels": [3, 1]})
    Cifar100ToMR(".", "out").transform()
    assert [(row["fine_label"], row["coarse_label"]) for row in rows_of("out_test")] == [(30, 3), (10, 1)]


class _Evil:
    def __reduce__(self):
        return os.mkdir, ("evil",)


def test_a_pickle_cannot_run_code(folder):
    for name in ("data_batch_1", "test_batch"):
        (folder / name).write_bytes(pickle.dumps({b"data": _Evil(), b"labels": [1]}))
    with pytest.raises(RuntimeError, match="is not a valid Cifar file"):
        Cifar10ToMR(".", "out").transform()
    assert sorted(os.listdir()) == ["data_batch_1", "test_batch"]


def test_missing_cifar(folder):
    with pytest.raises(PathNotExistsError):
        Cifar10ToMR(".", "out")
    with pytest.raises(PathNotExistsError):
        Cifar100ToMR(".", "out")


# -- ImageNet ---------------------------------------------------------------------------------------------------------


def test_imagenet(folder):
    (folder / "map.txt").write_text("n01 0 pen\nn02 7 cup\nn03 9 gone\n")
    for name, files in (("n01", ["a.jpg", "b.JPEG", "notes.txt"]), ("n02", ["c.jpg", "empty.jpg"])):
        (folder / name).mkdir()
        for file in files:
            (folder / name / file).write_bytes(b"" if file == "empty.jpg" else f"{name}{file}".encode())
    ImageNetToMR("map.txt", ".", "out", 2).transform()
    rows = rows_of(["out0", "out1"])
    assert sorted((row["label"], row["image"]) for row in rows) == [
        (0, b"n01a.jpg"),
        (0, b"n01b.JPEG"),
        (7, b"n02c.jpg"),
    ]
    assert {os.path.basename(row["file_name"]) for row in rows} == {"a.jpg", "b.JPEG", "c.jpg"}


def test_bad_imagenet(folder):
    with pytest.raises(OSError, match="not exists"):
        ImageNetToMR("map.txt", ".", "out").transform()
    (folder / "map.txt").write_text("n01 zero pen\n")
    with pytest.raises(ValueError, match="line 1"):
        ImageNetToMR("map.txt", ".", "out").transform()
    (folder / "map.txt").write_text("n01 0 pen\n")
    with pytest.raises(PathNotExistsError):
        ImageNetToMR("map.txt", ".", "out").transform()
    with pytest.raises(ValueError):
        ImageNetToMR("map.txt", ".", "out", None)


# -- CSV --------------------------------------------------------------------------------------------------------------

CSV = 'Age,Price,Name,Member,Note\n44,1.5,"A, B",True,\n-3,2,C,False,x\n7,,D,True,5\n'


def test_csv(folder):
    (folder / "a.csv").write_text(CSV)
    CsvToMR("a.csv", "out").transform()
    rows = rows_of("out")
    assert [row["Age"] for row in rows] == [44, -3, 7]
    assert [row["Price"] for row in rows[:2]] == [1.5, 2.0] and np.isnan(rows[2]["Price"])
    assert [row["Name"] for row in rows] == ["A, B", "C", "D"]
    assert [row["Member"] for row in rows] == [1, 0, 1]
    assert [row["Note"] for row in rows] == ["", "x", "5"]
    assert FileReader("out").schema()["Age"] == {"type": "int64"}


def test_some_columns_of_csv(folder):
    (folder / "a.csv").write_text(CSV)
    CsvToMR("a.csv", "out", ["Name"], 2).transform()
    assert sorted(row["Name"] for row in rows_of("out0")) == ["A, B", "C", "D"]


def test_bad_csv(folder):
    (folder / "a.csv").write_text(CSV)
    with pytest.raises(RuntimeError, match="column nope does not exist"):
        CsvToMR("a.csv", "out", ["nope"]).transform()
    for columns in (["Age", 2], "Age"):
        with pytest.raises(ValueError, match="must be list of str"):
            CsvToMR("a.csv", "out", columns)
    with pytest.raises(ParamValueError):
        CsvToMR("a.csv", "out", None, 0)
    with pytest.raises(OSError, match="do not exist"):
        CsvToMR("missing.csv", "out").transform()
    (folder / "b.csv").write_text("1,2\n3,4\n")
    with pytest.raises(ValueError, match="The first line content: 1 of the CSV file"):
        CsvToMR("b.csv", "out").transform()
    (folder / "c.csv").write_text("")
    with pytest.raises(RuntimeError, match="Failed to generate schema"):
        CsvToMR("c.csv", "out").transform()
    assert sorted(os.listdir()) == ["a.csv", "b.csv", "c.csv"]


# -- TFRecord ---------------------------------------------------------------------------------------------------------

FEATURES = {
    "image/bytes": FixedLenFeature([], "string"),
    "name": FixedLenFeature([], "string"),
    "count": FixedLenFeature([], "int64"),
    "ratio": FixedLenFeature([], np.float32),
    "ids": FixedLenFeature([3], "int64"),
    "weights": FixedLenFeature([2], "float32"),
    "extra": FixedLenFeature([], "int64", 5),
}


def example(i):
    return {
        "image/bytes": bytes([i, 255, 0]),
        "name": f"é{i}",
        "count": [i - 3],
        "ratio": [i / 4],
        "ids": [i, -i, i * 2**33],
        "weights": [0.5, i],
    }


def make_tfrecord(path, count=5):
    with TFRecordWriter(path) as writer:
        for i in range(count):
            writer.write(encode_example(example(i)))


def test_tfrecord(folder):
    make_tfrecord("a.tfrecord")
    TFRecordToMR("a.tfrecord", "out", FEATURES, ["image/bytes"]).transform()
    for i, row in enumerate(rows_of("out")):
        assert row["image_bytes"] == bytes([i, 255, 0]) and row["name"] == f"é{i}"
        assert row["count"] == i - 3 and row["ratio"] == i / 4 and row["extra"] == 5
        assert row["ids"].tolist() == [i, -i, i * 2**33] and row["ids"].dtype == np.int64
        assert row["weights"].tolist() == [0.5, i] and row["weights"].dtype == np.float32


@pytest.mark.parametrize(
    "features",
    [
        {"nope": FixedLenFeature([], "int64")},
        {"count": FixedLenFeature([], "string")},
        {"name": FixedLenFeature([], "int64")},
        {"ids": FixedLenFeature([2], "int64")},
        {"ids": FixedLenFeature([], "int64")},
        {"image/bytes": FixedLenFeature([], "string")},
    ],
)
def test_features_that_do_not_fit(folder, features):
    make_tfrecord("a.tfrecord")
    with pytest.raises(ValueError, match="feature_dict parameter error"):
        TFRecordToMR("a.tfrecord", "out", features).transform()


@pytest.mark.parametrize(
    "features, fields",
    [
        (None, None),
        ({"a": "int64"}, None),
        ({"a": FixedLenFeature([2, 2], "int64")}, None),
        ({"a": FixedLenFeature([0], "int64")}, None),
        ({"a": FixedLenFeature([2], "string")}, None),
        ({"a": FixedLenFeature([], "complex64")}, None),
        ({"a": FixedLenFeature([], "int64")}, ["a"]),
        ({"a": FixedLenFeature([], "string")}, ["b"]),
        ({"a": FixedLenFeature([], "string")}, "a"),
    ],
)
def test_bad_features(features, fields):
    with pytest.raises(ValueError):
        TFRecordToMR("a.tfrecord", "out", features, fields)


def test_damaged_tfrecord(folder):
    make_tfrecord("a.tfrecord")
    content = bytearray((folder / "a.tfrecord").read_bytes())
    content[-10] ^= 1
    (folder / "a.tfrecord").write_bytes(content)
    with pytest.raises(RuntimeError, match=r"record 4 of a\.tfrecord is damaged"):
        TFRecordToMR("a.tfrecord", "out", FEATURES, ["image/bytes"]).transform()
