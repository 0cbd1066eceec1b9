"""Summaries: event files that official readers and TensorBoard understand, and that survive being killed."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import textwrap
import zlib

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore import dataset as ds
from mindspore._base.crc32c import crc32c, mask
from mindspore.dataset import transforms
from mindspore.formats.events.event_file import checksum, frame, read_records
from mindspore.formats.events.messages import Event, LineageEvent
from mindspore.ops import operations as P
from mindspore.train import Model, ModelCheckpoint, SummaryCollector
from mindspore.train.summary import SummaryRecord
from mindspore.train.summary.values import bucket_count, histogram, png


def events_in(folder):
    (name,) = [n for n in os.listdir(folder) if n.endswith("_MS")]
    return [Event.decode(bytes(r)) for r in read_records((folder / name).read_bytes())]


def values_in(folder):
    return {(e.step, v.tag): v for e in events_in(folder) if e.summary for v in e.summary.value}


def test_every_kind_of_value(tmp_path):
    image = np.random.default_rng(0).integers(0, 255, (2, 3, 4, 5)).astype(np.uint8)
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "loss", Tensor(0.5))
        record.add_value("image", "picture", Tensor(image))
        record.add_value("histogram", "weights", Tensor([1.0, 2.0, np.nan, np.inf]))
        record.add_value("tensor", "t", Tensor(np.arange(4, dtype=np.int64).reshape(2, 2)))
        assert record.record(7)
        record.add_value("scalar", "loss", Tensor(0.25))
        record.record(8)
        assert record.log_dir.startswith(str(tmp_path))
    assert events_in(tmp_path)[0].version == "MindSpore.Event:1"
    found = values_in(tmp_path)
    assert found[7, "loss"].scalar_value == found[7, "loss"].simple_value == 0.5
    assert found[8, "loss"].scalar_value == 0.25
    assert found[7, "t"].tensor.int64_data == [0, 1, 2, 3]
    assert found[7, "weights"].histogram.nan_count == 1 and found[7, "weights"].histogram.pos_inf_count == 1
    picture = found[7, "picture"].image
    assert (picture.height, picture.width, picture.colorspace) == (4, 10, 3)
    np.testing.assert_array_equal(
        read_png(bytes(picture.encoded_image)), np.concatenate(image.transpose(0, 2, 3, 1), axis=1)
    )


def read_png(data):
    """A PNG of our own kind (no filters, RGB) as an array."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body, size = 8, b"", (0, 0)
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + content)
        if kind == b"IHDR":
            size = struct.unpack_from(">II", content)
        if kind == b"IDAT":
            body += content
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(size[1], -1)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(size[1], size[0], 3)


def test_png_of_random_pixels():
    pixels = np.random.default_rng(0).integers(0, 255, (7, 5, 3)).astype(np.uint8)
    np.testing.assert_array_equal(read_png(png(pixels)), pixels)


def test_histogram_counts_everything():
    numbers = np.random.default_rng(0).standard_normal(1000)
    record = histogram("h", numbers).histogram
    assert sum(b.count for b in record.buckets) == 1000 and len(record.buckets) == bucket_count(1000) == 90
    assert record.min == numbers.min() and record.max == numbers.max() and record.sum == pytest.approx(numbers.sum())
    assert [bucket_count(n) for n in (0, 1, 5, 6, 10, 11, 880, 10**6)] == [1, 2, 2, 3, 3, 2, 89, 90]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_operations_inside_networks(tmp_path, mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scalar, self.histogram = P.ScalarSummary(), P.HistogramSummary()
            self.image, self.tensor = P.ImageSummary(), P.TensorSummary()

        def construct(self, x):
            self.scalar("mean", x.mean())
            self.histogram("x", x)
            self.tensor("twice", x * 2)
            self.image("picture", x.reshape(1, 1, 2, 2))
            return x + 1

    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        net = Net()
        with SummaryRecord(str(tmp_path), network=net) as record:
            for step in (1, 2):
                net(Tensor(np.full(4, step, np.float32)))
                record.record(step)
            net(Tensor(np.full(4, 9, np.float32)))
            record.set_mode("eval")
            record.record(3)
    finally:
        ms.set_context(mode=before)
    found = values_in(tmp_path)
    assert found[1, "mean"].scalar_value == 1.0 and found[2, "mean"].scalar_value == 2.0
    assert found[2, "twice"].tensor.float_data == [4.0] * 4 and (1, "picture") in found and (3, "mean") not in found
    if mode == ms.GRAPH_MODE:
        graphs = [e.graph_def for e in events_in(tmp_path) if e.graph_def]
        assert len(graphs) == 1 and any(n.op_type == "Add" for n in graphs[0].node)


def test_checksums_agree_with_the_reference():
    for size in (0, 1, 8, 95, 96, 97, 300, 5000):
        data = np.random.default_rng(size).bytes(size)
        assert checksum(data) == mask(crc32c(data))


def test_a_cut_end_loses_only_the_cut_record():
    data = b"".join(frame(bytes((i,)) * i) for i in range(1, 6))
    for size in range(len(data)):
        found = [bytes(r) for r in read_records(data[:size])]
        assert found == [bytes((i,)) * i for i in range(1, len(found) + 1)]
    damaged = bytearray(data)
    damaged[40] ^= 1
    assert len(list(read_records(bytes(damaged)))) < 5


def test_a_killed_process_leaves_its_records(tmp_path):
    script = f"""
        import os, mindspore as ms
        record = ms.SummaryRecord({str(tmp_path)!r})
        for step in range(1, 51):
            record.add_value("scalar", "loss", ms.Tensor(float(step)))
            record.record(step)
        os.kill(os.getpid(), 9)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, timeout=60)
    assert done.returncode == -9, done.stderr
    assert [e.step for e in events_in(tmp_path) if e.summary] == list(range(1, 51))


def test_file_size_limit(tmp_path):
    with SummaryRecord(str(tmp_path), max_file_size=500) as record:
        for step in range(100):
            record.add_value("scalar", "loss", Tensor(1.0))
            assert record.record(step)
        size = os.path.getsize(record.log_dir)
    assert 400 < size <= 500


def test_one_record_at_a_time(tmp_path):
    with SummaryRecord(str(tmp_path)) as record:
        with pytest.raises(RuntimeError):
            SummaryRecord(str(tmp_path))
        record.add_value("tensor", "t", Tensor([1.0]))
    with pytest.raises(ValueError):
        record.__enter__()
    assert record.record(1) is False
    with SummaryRecord(str(tmp_path), export_options={"tensor_format": "npy"}) as record:
        record.add_value("tensor", "a/b", Tensor([1.0, 2.0]))
        record.record(3)
    (export,) = [n for n in os.listdir(tmp_path) if n.startswith("export_")]
    np.testing.assert_array_equal(np.load(tmp_path / export / "tensor" / "a_b_3.npy"), [1.0, 2.0])


@pytest.mark.parametrize(
    "bad, error",
    [
        (lambda r: r.add_value("colour", "a", Tensor(1.0)), ValueError),
        (lambda r: r.add_value("scalar", "", Tensor(1.0)), ValueError),
        (lambda r: r.add_value("scalar", "a", 1.0), TypeError),
        (lambda r: r.add_value("scalar", "a", Tensor([1.0, 2.0])), ValueError),
        (lambda r: r.add_value("image", "a", Tensor([1.0])), ValueError),
        (lambda r: r.add_value("histogram", "a", Tensor(1.0)), ValueError),
        (lambda r: r.add_value("train_lineage", "a", "text"), TypeError),
        (lambda r: r.record("1"), TypeError),
        (lambda r: r.set_mode("predict"), ValueError),
        (lambda r: P.ScalarSummary()("a", Tensor([1.0, 2.0])), ValueError),
        (lambda r: P.ScalarSummary()(1, Tensor(1.0)), TypeError),
        (lambda r: P.ImageSummary()("a", Tensor(1.0)), ValueError),
    ],
)
def test_bad_values(tmp_path, bad, error):
    with SummaryRecord(str(tmp_path)) as record, pytest.raises(error):
        bad(record)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"log_dir": 1}, TypeError),
        ({"file_prefix": "a/b"}, ValueError),
        ({"file_suffix": 1}, TypeError),
        ({"max_file_size": "big"}, TypeError),
        ({"raise_exception": 1}, TypeError),
        ({"export_options": {"tensor_format": "csv"}}, ValueError),
        ({"network": 1}, TypeError),
    ],
)
def test_bad_arguments(tmp_path, options, error):
    with pytest.raises(error):
        SummaryRecord(**{"log_dir": str(tmp_path), **options})
    with SummaryRecord(str(tmp_path)):
        pass


def test_lineage_of_a_run(tmp_path):
    """The pipeline with its operations, the checkpoint that was written, and the graph under the names people know."""
    data = ds.NumpySlicesDataset({"x": np.ones((8, 2), np.float32), "y": np.ones((8, 1), np.float32)}, shuffle=False)
    data = data.map(transforms.TypeCast(ms.float32), "x").batch(4)
    net = nn.SequentialCell(nn.Dense(2, 1))
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    saver = ModelCheckpoint("net", str(tmp_path / "ckpt"))
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        model.train(1, data, [SummaryCollector(str(tmp_path)), saver])
    finally:
        ms.set_context(mode=before)
    (name,) = [n for n in os.listdir(tmp_path) if n.endswith("_lineage")]
    found = [LineageEvent.decode(bytes(r)) for r in read_records((tmp_path / name).read_bytes())]
    (pipeline,) = [e.dataset_graph for e in found if e.dataset_graph]
    (mapped,) = pipeline.children
    assert {e.key: e.value for e in mapped.parameter.mapStr}["op_type"] == "Map"
    assert {e.key: e.value.strValue for e in mapped.parameter.mapStrList}["input_columns"] == ['"x"']
    (operation,) = mapped.operations
    assert {e.key: e.value for e in operation.operationParam.mapStr} == {
        "tensor_op_name": "TypeCast", "tensor_op_params": '{"data_type": "float32"}',
    }  # fmt: skip
    (trained,) = [e.train_lineage for e in found if e.train_lineage]
    assert trained.model.size == os.path.getsize(saver.latest_ckpt_file_name)
    (graph,) = [e.graph_def for e in events_in(tmp_path) if e.graph_def]
    names = [n.full_name for n in graph.node]
    assert len(set(names)) == len(names) and any(n.endswith("0-Dense/MatMul-op0") for n in names), names
    assert not any("TrainOneStepCell" in n for n in names)


def test_images_normalised_for_a_network_are_stretched():
    from mindspore.train.summary.values import _as_bytes

    pixels = np.array([[[[0, 128], [191, 255]]]], np.float32)
    normalised = (pixels / 255 - 0.13) / 0.31
    assert np.abs(_as_bytes(normalised).astype(int) - pixels).max() <= 1
    assert (_as_bytes(pixels / 255) == pixels).all() and (_as_bytes(pixels) == pixels).all()
