"""A file that is made shorter while it is read gives an error that names it; the process lives on."""

import os

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore._base.file_bytes import FileBytes
from mindspore.mindrecord import FileWriter, tfrecord

ROWS = 400
SIZE = 20_000  # many pages, so that a mapped file would be found missing


def records(path):
    with tfrecord.TFRecordWriter(path) as writer:
        for i in range(ROWS):
            writer.write(tfrecord.encode_example({"x": bytes([i % 256]) * SIZE}))
    return ds.TFRecordDataset(path, shuffle=False)


def mindrecord(path):
    writer = FileWriter(path)
    writer.add_schema({"x": {"type": "bytes"}})
    writer.write_raw_data([{"x": bytes([i % 256]) * SIZE} for i in range(ROWS)])
    writer.commit()
    return ds.MindDataset(path, shuffle=False)


def lines(path):
    with open(path, "w") as stream:
        stream.writelines(f"{i} " + "x" * SIZE + "\n" for i in range(ROWS))
    return ds.TextFileDataset(path, shuffle=False)


@pytest.mark.parametrize("batch", [0, 4])
@pytest.mark.parametrize("make", [records, mindrecord, lines])
def test_a_file_made_shorter_in_place(make, batch, tmp_path):
    path = str(tmp_path / "data")
    data = make(path)
    iterator = (data.batch(batch) if batch else data).create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(iterator)
    os.truncate(path, 100)
    with pytest.raises(RuntimeError, match="data has been made shorter while it was read"):
        list(iterator)


def test_bytes_of_a_file_are_those_of_its_content(tmp_path):
    content = np.random.default_rng(0).integers(0, 256, 5000, np.uint8)
    (tmp_path / "data").write_bytes(content.tobytes())
    with open(tmp_path / "data", "rb") as stream:
        data = FileBytes(stream.fileno(), "data")
    assert len(data) == 5000
    assert data[10:20] == content[10:20].tobytes()
    assert data[4990:6000] == content[4990:].tobytes()
    assert data[7:3] == b""
    for starts in ([0, 4, 2], [4000, 0, 30]):  # close together, and far apart
        assert (data.gather(np.array(starts), 5) == np.stack([content[s : s + 5] for s in starts])).all()
    with pytest.raises(RuntimeError, match="shorter"):
        data.gather(np.array([4998]), 5)
    data.close()
