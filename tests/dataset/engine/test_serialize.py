"""Pipelines as JSON, caches, transfer, callbacks, and a few sources with files made here."""

import json
import threading

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import transforms, vision
from mindspore.dataset.settings import DEFAULT_SEED, change
from mindspore.mindrecord import tfrecord


def rows(data, epochs=1):
    iterator = data.create_dict_iterator(num_epochs=epochs, output_numpy=True)
    return [{name: np.asarray(v).tolist() for name, v in row.items()} for _ in range(epochs) for row in iterator]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("one\n\ntwo\nthree\r\nfour\n", encoding="utf-8")
    return str(path)


def test_text_lines_and_shards(text):
    assert [row["text"] for row in rows(ds.TextFileDataset(text, shuffle=False))] == ["one", "two", "three", "four"]
    shards = [ds.TextFileDataset(text, shuffle=False, num_shards=3, shard_id=i) for i in range(3)]
    assert [[row["text"] for row in rows(shard)] for shard in shards] == [
        ["one", "two"],
        ["three", "four"],
        ["one", "two"],
    ]


def test_csv_quotes_defaults_and_bad_rows(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a,b\n"x,\ny",3\nz,\n', encoding="utf-8")
    found = rows(ds.CSVDataset(str(path), column_defaults=["", 7], shuffle=False))
    assert found == [{"a": "x,\ny", "b": 3}, {"a": "z", "b": 7}]
    path.write_text("1,2\n3\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"table\.csv parse failed at line 2"):
        rows(ds.CSVDataset(str(path), column_names=["a", "b"], shuffle=False))


def test_pipeline_goes_through_json(text, tmp_path):
    ds.config.set_seed(5)
    data = ds.TextFileDataset(text).shuffle(3).skip(1).take(2).rename("text", "line").repeat(2).batch(2)
    path = str(tmp_path / "pipeline.json")
    form = ds.serialize(data, path)
    assert form["op_type"] == "Batch"
    assert form["children"][0]["op_type"] == "Repeat"
    again = ds.deserialize(json_filepath=path)
    assert ds.compare(data, again)
    assert rows(again) == rows(data)
    with open(path, encoding="utf-8") as stream:
        assert json.load(stream) == form
    change(seed=DEFAULT_SEED)


class Watch(ds.DSCallback):
    def ds_begin(self, context):
        """Nothing."""


@pytest.mark.parametrize(
    "make",
    [
        lambda text: text.map(lambda x: x),
        lambda text: text.filter(lambda x: True),
        lambda text: text.batch(2, per_batch_map=lambda x, info: x),
        lambda text: text.batch(lambda info: 2),
        lambda text: text.bucket_batch_by_length(["text"], [3], [2, 2], lambda x: len(str(x))),
        lambda text: text.sync_wait("step", callback=print),
        lambda text: text.map(ds.text.Truncate(3), callbacks=Watch()),
    ],
)
def test_python_functions_are_not_restored(text, make):
    """A pipeline without the function would give other rows, silently."""
    form = ds.serialize(make(ds.TextFileDataset(text)))
    with pytest.raises(RuntimeError, match=r"unsupported operation type.*cannot be restored"):
        ds.deserialize(form)


def folder_of_images(path):
    for label in "ab":
        (path / label).mkdir()
        for i in range(2):
            image = np.full((4 + i, 5, 3), 40 * i, np.uint8)
            vision.write_png(str(path / label / f"{i}.png"), image)
    return ds.ImageFolderDataset(str(path), shuffle=False, num_parallel_workers=3, decode=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda data: data.map(vision.Resize((2, 3)), "image", num_parallel_workers=5).batch(3, True, num_parallel_workers=2),
        lambda data: data.padded_batch(2, True, 3, pad_info={"image": ([8, 9, 3], 7), "label": None}),
        lambda data: data.padded_batch(4, pad_info={"image": ([None, 9, None], np.uint8(2))}),
        lambda data: data.project("image").bucket_batch_by_length(["image"], [5], [1, 2], pad_info={"image": ([6, 5, 3], 1)}),
        lambda data: data.map(vision.Resize((3, 2)), "image", cache=ds.DatasetCache(1, 5)),
        lambda data: data.sync_wait("step", 3),
    ],
)
def test_every_argument_goes_through_json(tmp_path, make):
    ds.config.set_seed(5)
    data = make(folder_of_images(tmp_path))
    form = ds.serialize(data)
    again = ds.deserialize(form)
    assert ds.serialize(again) == form
    if not data.is_sync():
        assert rows(again) == rows(data)
    change(seed=DEFAULT_SEED)


def test_samplers_of_joined_data_and_queues_go_through_json(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "one").mkdir()
    joined = folder_of_images(tmp_path / "one").concat(folder_of_images(tmp_path / "other"))
    joined.use_sampler(ds.DistributedSampler(3, 1, shuffle=False))
    again = ds.deserialize(ds.serialize(joined))
    assert rows(again) == rows(joined)
    sent = joined.device_que(send_epoch_end=False, queue_name="door")
    assert ds.serialize(ds.deserialize(ds.serialize(sent))) == ds.serialize(sent)


def test_samplers_go_through_json(tmp_path):
    folder = tmp_path / "mnist"
    folder.mkdir()
    images = np.arange(3 * 28 * 28).astype(np.uint8)
    (folder / "t10k-images-idx3-ubyte").write_bytes(
        bytes([0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 28, 0, 0, 0, 28]) + images.tobytes()
    )
    (folder / "t10k-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]))
    sampler = ds.SubsetSampler([2, 0])
    sampler.add_child(ds.SequentialSampler())
    data = ds.MnistDataset(str(folder), "test", sampler=sampler)
    again = ds.deserialize(ds.serialize(data))
    assert [row["label"] for row in rows(again)] == [9, 7]
    assert rows(again) == rows(data)


def test_explain_names_the_rules_that_fire(capsys):
    data = ds.NumpySlicesDataset(np.arange(4), "x").map(lambda x: x).map(lambda x: x).repeat(1)
    text = ds.explain(data)
    assert capsys.readouterr().out.strip() == text.strip()
    before, after = text.split("after:")
    assert before.count("Map(") == 2
    assert after.count("Map(") == 1
    assert "rules: remove_no_ops, fuse_maps" in after


def test_explain_says_what_runs_where():
    data = ds.NumpySlicesDataset(np.zeros((4, 8, 8, 3), np.uint8), ["image"])
    flipped = data.map([vision.RandomHorizontalFlip(), vision.Rescale(1.0, 0.0)], "image", num_parallel_workers=3)
    assert ds.explain(flipped.batch(2)).endswith(
        "runs:\n3 threads: load -> RandomHorizontalFlip, table(Rescale) -> batch in place"
    )
    rescaled = ds.explain(data.map(vision.Rescale(1.0, 0.0), "image").batch(2))
    assert rescaled.endswith("calling thread: whole batches: load -> table(Rescale)")
    processes = data.map(len, "image", python_multiprocessing=True, num_parallel_workers=2)
    assert "2 processes: load -> len" in ds.explain(processes)


def test_cache_makes_each_row_once():
    calls = []

    class Source:
        def __getitem__(self, index):
            calls.append(index)
            return np.array(index)

        def __len__(self):
            return 6

    cache = ds.DatasetCache(session_id=1)
    data = ds.GeneratorDataset(Source(), ["x"]).map(lambda x: x + 1, cache=cache)
    first, second = rows(data), rows(data)
    assert sorted(row["x"] for row in first) == sorted(row["x"] for row in second) == [1, 2, 3, 4, 5, 6]
    assert sorted(calls) == list(range(6))
    assert cache.get_stat().num_mem_cached == 6


def test_transfer_gives_rows_epochs_and_information():
    data = ds.NumpySlicesDataset(np.arange(3, dtype=np.int32), "x", shuffle=False)
    sender = data.device_que(create_data_info_queue=True)
    sender.send(num_epochs=2)
    seen = [sender.get_next() for _ in range(9)]
    assert [int(row[0]) for row in seen if row] == [0, 1, 2, 0, 1, 2]
    assert [row for row in seen if not row] == [[], [], None]
    assert sender.get_data_info() == [(np.dtype("int32"), ())]
    sender.release()


def test_callbacks_see_every_row():
    seen = []

    class Watch(ds.DSCallback):
        def ds_epoch_begin(self, ds_run_context):
            seen.append(("epoch", ds_run_context.cur_epoch_num))

        def ds_step_end(self, ds_run_context):
            seen.append(ds_run_context.cur_step_num)

    data = ds.NumpySlicesDataset(np.arange(2), "x", shuffle=False).map(lambda x: x, callbacks=Watch())
    assert data.output_shapes() == [[]]
    assert seen == []
    rows(data, 2)
    assert seen == [("epoch", 1), 1, 2, ("epoch", 2), 3, 4]


def test_sync_wait_holds_the_pipeline_back():
    started = []
    data = ds.NumpySlicesDataset(np.arange(8), "x", shuffle=False).sync_wait("turn")
    data = data.map(lambda x: (started.append(int(x)), x)[1]).batch(2)
    iterator = data.create_dict_iterator(num_epochs=1, output_numpy=True)
    assert next(iterator)["x"].tolist() == [0, 1]
    threading.Event().wait(0.2)
    assert started == [0, 1]
    data.sync_update("turn")
    assert next(iterator)["x"].tolist() == [2, 3]
    iterator.stop()


def test_save_and_read_back(tmp_path):
    data = ds.NumpySlicesDataset({"x": np.arange(6, dtype=np.int64), "v": np.ones((6, 3), np.float32)}, shuffle=False)
    path = str(tmp_path / "saved.mindrecord")
    data.save(path)
    again = ds.MindDataset(path, shuffle=False)
    assert again.get_dataset_size() == 6
    assert rows(again) == [{"v": [1.0, 1.0, 1.0], "x": i} for i in range(6)]


def test_autotune_changes_no_row_and_writes_its_file(tmp_path):
    ds.config.set_enable_autotune(True, str(tmp_path / "tuned"))
    try:
        data = ds.FakeImageDataset(num_images=40, image_size=(8, 8, 3), shuffle=False, num_parallel_workers=2).batch(4)
        found = rows(data, 3)
    finally:
        ds.config.set_enable_autotune(False)
    assert len(found) == 30
    assert found[:10] == found[10:20]
    tuned = json.loads((tmp_path / "tuned_0.json").read_text())
    assert ds.deserialize(tuned).get_dataset_size() == 10


def test_operations_that_run_in_python_name_the_module_that_official_scripts_load_them_from():
    data = ds.NumpySlicesDataset(np.zeros((2, 4, 4, 3), np.uint8), ["image"], shuffle=False)
    form = ds.serialize(data.map([vision.ToPIL(), vision.TenCrop(2)], "image"))
    assert form["operations"] == [
        {
            "python_module": "mindspore.dataset.vision.transforms",
            "tensor_op_name": "ToPIL",
            "tensor_op_params": {"implementation": 1, "output_type": "float64", "random": False, "transforms": []},
        },
        {
            "python_module": "mindspore.dataset.vision.transforms",
            "tensor_op_name": "TenCrop",
            "tensor_op_params": {
                "implementation": 1, "output_type": "float64", "random": False, "size": [2, 2], "transforms": [],
                "use_vertical_flip": False,
            },
        },
    ]  # fmt: skip
    nested = ds.serialize(data.map(transforms.RandomOrder([vision.ToPIL()]), "image"))["operations"][0]
    assert nested["tensor_op_params"]["transforms"][0]["python_module"] == "mindspore.dataset.vision.transforms"


def test_records_without_a_schema_can_be_restored(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tfrecord.TFRecordWriter(str(path)) as writer:
        for i in range(3):
            writer.write(tfrecord.encode_example({"x": [i]}))
    data = ds.TFRecordDataset(str(path), shuffle=False)
    restored = ds.deserialize(ds.serialize(data))
    assert [row[0].tolist() for row in restored.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [[0], [1], [2]]


@pytest.mark.parametrize(
    "form",
    [
        {"op_type": "Batch", "children": [], "batch_size": 2},
        {"op_type": "Batch", "children": [{"op_type": "FakeImageDataset"}]},
        {"op_type": "Take", "count": "three", "children": [{"op_type": "FakeImageDataset"}]},
        {"op_type": "Repeat", "children": {"op_type": "FakeImageDataset"}},
        {"op_type": "Map", "operations": [3], "children": [{"op_type": "FakeImageDataset"}]},
        {"op_type": "Map", "operations": [{}], "children": [{"op_type": "FakeImageDataset"}]},
        {"op_type": "FakeImageDataset", "sampler": {"sampler_name": "SubsetSampler"}},
        {"op_type": "FakeImageDataset", "sampler": [1]},
        {"op_type": ["Batch"]},
        {"tree": 3},
    ],
)
def test_damaged_json_is_a_value_error(form, tmp_path):
    path = tmp_path / "pipeline.json"
    path.write_text(json.dumps(form))
    with pytest.raises(ValueError):
        ds.deserialize(form)
    with pytest.raises(ValueError):
        ds.deserialize(json_filepath=str(path))


@pytest.mark.parametrize("data", [b"{", b"\xff\xfe\x00", b"[" * 100_000], ids=["cut short", "no text", "deep"])
def test_what_is_no_json_names_its_file(data, tmp_path):
    (tmp_path / "pipeline.json").write_bytes(data)
    with pytest.raises(ValueError, match=r"pipeline\.json"):
        ds.deserialize(json_filepath=str(tmp_path / "pipeline.json"))
