"""FileWriter, read back with FileReader."""

from __future__ import annotations

import gc
import logging
import os
import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mindrecord_rows import KINDS, kinds_row, same_row

from mindspore.mindrecord import FileReader, FileWriter
from mindspore.mindrecord.common.exceptions import (
    MRMAddSchemaError,
    MRMBuildSchemaError,
    MRMCommitError,
    MRMDefineIndexError,
    MRMGetMetaError,
    MRMInvalidHeaderSizeError,
    MRMInvalidPageSizeError,
    MRMInvalidSchemaError,
    ParamTypeError,
    ParamValueError,
)

SMALL = {"label": {"type": "int32"}, "data": {"type": "bytes"}}


def small(i, size=1):
    return {"label": i, "data": bytes([i % 256]) * size}


def write(name, schema, *calls, shards=1, page_size=1 << 15, parallel=False, **kwargs):
    writer = FileWriter(name, shards, **kwargs)
    writer.set_header_size(1 << 14)
    writer.set_page_size(page_size)
    writer.add_schema(schema)
    for rows in calls:
        writer.write_raw_data(rows, parallel)
    writer.commit()


def labels(name):
    return [row["label"] for row in FileReader(name).get_next()]


_SCALARS = {
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float32": st.floats(allow_nan=False, width=32),
    "float64": st.floats(allow_nan=False),
    "string": st.text(st.characters(codec="utf-8"), max_size=300),
    "bytes": st.binary(max_size=300),
}
_ARRAYS = ["int32", "int64", "float32", "float64"]


@st.composite
def datasets(draw):
    names = st.text(string.ascii_letters, min_size=1, max_size=4)
    fields = draw(st.lists(names, min_size=1, max_size=5, unique_by=str.lower))
    schema, values = {}, {}
    for name in fields:
        if draw(st.booleans()):
            kind = draw(st.sampled_from(sorted(_SCALARS)))
            schema[name], values[name] = {"type": kind}, _SCALARS[kind]
        else:
            kind = draw(st.sampled_from(_ARRAYS))
            schema[name] = {"type": kind, "shape": [-1, 2]}
            shapes = st.integers(1, 5).map(lambda n: (n, 2))
            values[name] = hnp.arrays(kind, shapes, elements={"allow_nan": False} if kind[0] == "f" else None)
    rows = draw(st.lists(st.fixed_dictionaries(values), min_size=1, max_size=12))
    return schema, rows


@settings(max_examples=25, deadline=None)
@given(datasets(), st.integers(1, 3))
def test_any_dataset_comes_back(tmp_path_factory, dataset, shards):
    schema, rows = dataset
    if any(name.lower() == "inc" for name in schema):
        return
    name = str(tmp_path_factory.mktemp("any") / "any.mindrecord")
    half = len(rows) // 2
    write(name, schema, *[part for part in (rows[:half], rows[half:]) if part], shards=shards)
    found = list(FileReader(name if shards == 1 else name + "0").get_next())
    assert len(found) == len(rows)
    if shards == 1:
        assert all(same_row(a, b) for a, b in zip(found, rows))


def test_rows_fill_pages_and_shards_evenly(folder):
    write("a", SMALL, *[[small(i, 5000)] for i in range(50)], shards=3)
    sizes = [FileReader([f"a{n}"]).len() for n in range(3)]
    assert sizes == [17, 17, 16]
    assert sorted(labels("a0")) == list(range(50))
    assert all(row["data"] == bytes([row["label"]]) * 5000 for row in FileReader("a0").get_next())


def test_long_strings_fill_raw_pages(folder):
    schema = {"text": {"type": "string"}}
    rows = [{"text": chr(97 + i) * 20000} for i in range(6)]
    write("a", schema, rows[:3], rows[3:])
    assert list(FileReader("a").get_next()) == rows


def test_shard_names_have_as_many_digits_as_needed(folder):
    write("a", SMALL, [small(i) for i in range(11)], shards=11)
    assert sorted(name for name in os.listdir() if not name.endswith(".db")) == [f"a{n:02d}" for n in range(11)]


def test_a_row_must_fit_in_a_page(folder):
    writer = FileWriter("a")
    writer.set_page_size(1 << 15)
    writer.add_schema(SMALL)
    writer.write_raw_data([small(0, (1 << 15) - 8)])
    with pytest.raises(RuntimeError, match="is too small to save a blob row"):
        writer.write_raw_data([small(1), small(2, (1 << 15) - 7)])
    writer.commit()
    assert labels("a") == [0]  # the failed call wrote nothing


def test_the_header_must_hold_the_page_table(folder):
    writer = FileWriter("a")
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema(SMALL)
    writer.write_raw_data([small(0, 30000)] * 120)
    with pytest.raises(RuntimeError, match="header is too big"):
        writer.commit()
    assert os.listdir() == []


def test_commit_without_rows(folder):
    write("a", SMALL, shards=2)
    assert FileReader("a0").len() == 0
    assert list(FileReader("a0").get_next()) == []


def test_numpy_scalars(folder):
    schema = {"i": {"type": "int32"}, "l": {"type": "int64"}, "f": {"type": "float32"}, "d": {"type": "float64"}}
    row = {"i": np.int32(-7), "l": np.int64(2**40), "f": np.float32(0.1), "d": np.float64(0.1)}
    write("a", schema, [row])
    assert next(FileReader("a").get_next()) == {"i": -7, "l": 2**40, "f": float(np.float32(0.1)), "d": 0.1}


@pytest.mark.parametrize(
    "bad",
    [
        {"label": 1},
        {"label": "1", "data": b""},
        {"label": 1.0, "data": b""},
        {"label": True, "data": b""},
        {"label": 2**31, "data": b""},
        {"label": 1, "data": "text"},
        {"label": 1, "data": np.zeros(3, np.int32)},
    ],
)
def test_a_bad_row_is_left_out_with_a_warning(folder, caplog, bad):
    with caplog.at_level(logging.WARNING):
        write("a", SMALL, [small(3), bad, small(4)])
    assert labels("a") == [3, 4]
    assert "1 th data is wrong" in caplog.text


@pytest.mark.parametrize("value", [np.zeros((2, 3), np.float64), np.zeros(5, np.float32), [1.0] * 6, 3.0])
def test_a_bad_array_is_refused(folder, value):
    with pytest.raises(RuntimeError, match="There is no valid data"):
        write("a", {"x": {"type": "float32", "shape": [2, 3]}}, [{"x": value}])
    gc.collect()
    assert os.listdir() == []


def test_rows_must_be_a_list_of_dicts(folder):
    writer = FileWriter("a")
    writer.add_schema(SMALL)
    with pytest.raises(ParamTypeError):
        writer.write_raw_data(small(0))
    with pytest.raises(ParamTypeError):
        writer.write_raw_data([b"row"])


def test_nothing_appears_before_commit(folder):
    writer = FileWriter("a", 2)
    writer.add_schema(SMALL)
    writer.write_raw_data([small(i) for i in range(5)])
    assert not [name for name in os.listdir() if not name.startswith(".")]
    del writer
    gc.collect()
    assert os.listdir() == []


def test_existing_files_are_kept_unless_told(folder):
    write("a", SMALL, [small(1)])
    with pytest.raises(RuntimeError, match="mindrecord files already exist"):
        write("a", SMALL, [small(2)])
    assert labels("a") == [1]
    write("a", SMALL, [small(3)], overwrite=True)
    assert labels("a") == [3]


def test_an_overwrite_that_fails_keeps_the_old_files(folder):
    write("a", SMALL, [small(1)])
    writer = FileWriter("a", overwrite=True)
    writer.add_schema(SMALL)
    writer.write_raw_data([small(2)])
    del writer
    gc.collect()
    assert labels("a") == [1]
    assert sorted(os.listdir()) == ["a", "a.db"]


def test_a_failing_rename_is_reported(folder, monkeypatch):
    writer = FileWriter("a")
    writer.add_schema(SMALL)
    writer.write_raw_data([small(1)])

    def refuse(source, target):
        raise PermissionError("no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(MRMCommitError, match="no"):
        writer.commit()
    assert os.listdir() == []


@pytest.mark.parametrize("failing", range(6))
@pytest.mark.parametrize("existing", [False, True])
def test_a_rename_that_fails_half_way_leaves_all_as_it_was(folder, monkeypatch, failing, existing):
    if existing:
        write("a", SMALL, [small(i) for i in range(3)], shards=3)
    writer = FileWriter("a", 3, overwrite=True)
    writer.add_schema(SMALL)
    writer.write_raw_data([small(i) for i in range(100, 109)])
    replace, gives_names = os.replace, []

    def refuse_one(source, target):
        if not target.endswith(".old") and not source.endswith(".old"):
            gives_names.append(target)
            if len(gives_names) == failing + 1:
                raise OSError("disk is gone")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse_one)
    with pytest.raises(MRMCommitError, match="disk is gone"):
        writer.commit()
    monkeypatch.undo()
    os.chdir(folder)
    assert len(os.listdir()) == (6 if existing else 0)
    if existing:
        assert labels("a0") == [0, 1, 2]


def test_an_append_whose_rename_fails_changes_nothing(folder, monkeypatch):
    write("a", SMALL, [small(i) for i in range(3)], shards=3)
    writer = FileWriter.open_for_append("a0")
    writer.write_raw_data([small(i) for i in range(3, 9)])
    replace, calls = os.replace, []

    def refuse_late(source, target):
        calls.append(target)
        if len(calls) == 4:  # old index aside, new index in place; the second shard's new index fails
            raise OSError("disk is gone")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse_late)
    with pytest.raises(MRMCommitError):
        writer.commit()
    monkeypatch.undo()
    os.chdir(folder)
    assert labels("a0") == [0, 1, 2] and len(os.listdir()) == 6
    writer = FileWriter.open_for_append("a0")
    writer.write_raw_data([small(i) for i in range(3, 6)])
    writer.commit()
    assert sorted(labels("a0")) == list(range(6))


def test_no_writing_after_commit(folder):
    writer = FileWriter("a")
    writer.add_schema(SMALL)
    writer.write_raw_data([small(1)])
    writer.commit()
    with pytest.raises(RuntimeError, match="Not allowed to call `write_raw_data`"):
        writer.write_raw_data([small(2)])


def test_files_are_for_the_owner_only(folder):
    write("a", SMALL, [small(1)])
    assert [os.stat(name).st_mode & 0o777 for name in ("a", "a.db")] == [0o600, 0o600]


@pytest.mark.parametrize("shards", [1, 3])
def test_append(folder, shards):
    write("a", KINDS, [kinds_row(i) for i in range(7)], shards=shards)
    first = "a" if shards == 1 else "a0"
    writer = FileWriter.open_for_append(first)
    writer.write_raw_data([kinds_row(i) for i in range(7, 40)])
    writer.commit()
    writer.write_raw_data([kinds_row(i) for i in range(40, 60)])  # a writer for appending goes on after commit
    writer.commit()
    rows = sorted(FileReader(first).get_next(), key=lambda row: row["label"])
    assert len(rows) == 60
    assert all(same_row(row, kinds_row(i)) for i, row in enumerate(rows))


def test_an_append_without_commit_changes_nothing(folder):
    write("a", SMALL, [small(1)])
    writer = FileWriter.open_for_append("a")
    writer.write_raw_data([small(i, 1000) for i in range(100)])
    del writer
    gc.collect()
    assert labels("a") == [1]
    assert sorted(os.listdir()) == ["a", "a.db"]
    writer = FileWriter.open_for_append("a")
    writer.write_raw_data([small(2)])
    writer.commit()
    assert labels("a") == [1, 2]


def test_append_needs_files(folder):
    with pytest.raises(RuntimeError, match="is not exists"):
        FileWriter.open_for_append("missing")


def test_parallel_writing(folder):
    write("a", SMALL, *[[small(i), small(i + 50)] for i in range(10)], shards=3, parallel=True)
    assert [labels(f"a{n}")[::2] for n in range(3)] == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]
    assert sorted(labels([f"a{n}" for n in range(3)])) == sorted([*range(10), *range(50, 60)])


def test_an_error_in_parallel_writing_is_raised_and_leaves_nothing(folder):
    writer = FileWriter("a", 2)
    writer.add_schema(SMALL)
    writer.write_raw_data([small(0)], True)
    with pytest.raises(RuntimeError, match="There is no valid data"):
        writer.write_raw_data([{"label": "bad"}], True)
        writer.commit()
    del writer
    gc.collect()
    assert os.listdir() == []


def test_parallel_is_for_all_calls_or_none(folder):
    writer = FileWriter("a", 2)
    writer.add_schema(SMALL)
    with pytest.raises(TypeError, match="must be bool"):
        writer.write_raw_data([small(0)], 1)
    writer.write_raw_data([small(0)], False)
    with pytest.raises(RuntimeError, match="must be consistent"):
        writer.write_raw_data([small(0)], True)


@pytest.mark.parametrize(
    "schema, error",
    [
        ({}, MRMInvalidSchemaError),
        ([], MRMInvalidSchemaError),
        ({"a b": {"type": "int32"}}, MRMInvalidSchemaError),
        ({"a\n": {"type": "int32"}}, MRMInvalidSchemaError),
        ({"a": "int32"}, MRMInvalidSchemaError),
        ({"a": {"type": "int16"}}, MRMInvalidSchemaError),
        ({"a": {"type": "string", "shape": [1]}}, MRMInvalidSchemaError),
        ({"a": {"type": "int32", "shape": (1,)}}, MRMInvalidSchemaError),
        ({"a": {"type": "int32", "unit": "m"}}, MRMInvalidSchemaError),
        ({"a": {"shape": [1]}}, MRMInvalidSchemaError),
        ({"a": {"type": "int32", "shape": [-1, -1]}}, MRMBuildSchemaError),
        ({"a": {"type": "int32", "shape": [0]}}, MRMBuildSchemaError),
    ],
)
def test_bad_schemas(schema, error):
    with pytest.raises(error):
        FileWriter("a").add_schema(schema)


def test_one_schema_only():
    writer = FileWriter("a")
    writer.add_schema(SMALL)
    with pytest.raises(MRMAddSchemaError):
        writer.add_schema(SMALL)


def test_no_rows_without_schema(folder):
    with pytest.raises(RuntimeError, match="add_schema"):
        FileWriter("a").write_raw_data([small(0)])


def test_index_fields():
    writer = FileWriter("a")
    with pytest.raises(MRMGetMetaError):
        writer.add_index(["label"])
    writer.add_schema(SMALL)
    with pytest.raises(ParamTypeError):
        writer.add_index("label")
    with pytest.raises(MRMDefineIndexError):
        writer.add_index(["data"])
    with pytest.raises(RuntimeError, match="can not found in schema"):
        writer.add_index(["nope"])
    writer.add_index(["label"])
    with pytest.raises(RuntimeError, match="is added repeatedly"):
        writer.add_index(["label"])


@pytest.mark.parametrize("fields", [["1st"], ["INC"], ["a", "A"]])
def test_index_fields_that_sqlite_cannot_hold(folder, fields):
    with pytest.raises(RuntimeError, match="Index field"):
        write("a", {name: {"type": "int32"} for name in fields}, [dict.fromkeys(fields, 1)])
    assert os.listdir() == []


def test_sizes():
    writer = FileWriter("a")
    for size in (0, (1 << 14) - 4, (1 << 14) + 2, (1 << 27) + 4, "big"):
        with pytest.raises(MRMInvalidHeaderSizeError):
            writer.set_header_size(size)
    for size in (0, (1 << 15) - 4, (1 << 15) + 2, (1 << 28) + 4, None):
        with pytest.raises(MRMInvalidPageSizeError):
            writer.set_page_size(size)


@pytest.mark.parametrize(
    "arguments",
    [("", 1), (None, 1), ("a/", 1), ("a?b", 1), (" a", 1), ("a", None), ("a", "2"), ("a", 0), ("a", 1001), ("a", 1, 1)],
)
def test_bad_arguments(arguments):
    with pytest.raises(ParamValueError):
        FileWriter(*arguments)
