"""Files of the official MindSpore: read, appended to, and written alike."""

from __future__ import annotations

import sqlite3

import numpy as np
from mindrecord_rows import KINDS, kinds_row, same_row

from mindspore.mindrecord import FileReader, FileWriter, MindPage


def rows_of(name, **kwargs):
    reader = FileReader(name, **kwargs)
    rows = list(reader.get_next())
    assert reader.len() == len(rows)
    reader.close()
    return rows


def test_every_kind_of_field(official):
    rows = rows_of("kinds.mindrecord")
    assert len(rows) == 8
    assert all(same_row(row, kinds_row(i)) for i, row in enumerate(rows))


def test_schema(official):
    assert FileReader("kinds.mindrecord").schema() == KINDS


def test_columns(official):
    rows = rows_of("kinds.mindrecord", columns=["label", "mask"])
    assert [row["label"] for row in rows] == list(range(-2, 6))
    assert all(set(row) == {"label", "mask"} for row in rows)


def test_one_shard_stands_for_all(official):
    rows = rows_of("shards.mindrecord1")
    assert sorted(row["label"] for row in rows) == list(range(-2, 5))
    assert all(same_row(row, kinds_row(row["label"] + 2)) for row in rows)


def test_a_list_is_read_as_given(official):
    first, last = rows_of(["shards.mindrecord0"]), rows_of(["shards.mindrecord2"])
    both = rows_of(["shards.mindrecord2", "shards.mindrecord0"])
    assert [r["label"] for r in both] == [r["label"] for r in last + first]


def test_many_pages_and_appended_rows(official):
    assert [(r["label"], r["data"]) for r in rows_of("pages.mindrecord")] == [(i, bytes([i]) * 9000) for i in range(12)]


def test_scalars_only(official):
    assert rows_of("scalars.mindrecord") == [{"a": i**3 - 50, "s": "x" * i * 20} for i in range(30)]


def test_arrays_only(official):
    for i, row in enumerate(rows_of("blobs.mindrecord")):
        assert np.array_equal(row["x"], np.full((2, 2), i, np.float32))


def test_packed_integers_of_all_widths(official):
    for i, row in enumerate(rows_of("ints.mindrecord")):
        assert row["x"].tolist() == [i, -i * 200, i * 2**20, -i * 2**40]


def test_pages(official):
    pages = MindPage("shards.mindrecord0")
    assert pages.candidate_fields == ["file_name", "id64", "label", "score", "score64"]
    pages.category_field = "label"
    (row,) = pages.read_at_page_by_name("3", 0, 5)
    assert same_row(row, kinds_row(5))


def test_append_to_an_official_file(official):
    writer = FileWriter.open_for_append("pages.mindrecord")
    writer.write_raw_data([{"label": i, "data": bytes([i]) * 9000} for i in range(12, 20)])
    writer.commit()
    assert [(r["label"], r["data"]) for r in rows_of("pages.mindrecord")] == [(i, bytes([i]) * 9000) for i in range(20)]


def test_the_same_rows_give_the_same_pages_and_index(official):
    writer = FileWriter("ours.mindrecord")
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema(KINDS, "kinds")
    writer.add_index(["label", "file_name"])
    writer.write_raw_data([kinds_row(i) for i in range(5)])
    writer.write_raw_data([kinds_row(i) for i in range(5, 8)])
    writer.commit()
    ours, theirs = (official / "ours.mindrecord").read_bytes(), (official / "kinds.mindrecord").read_bytes()
    assert ours[1 << 14 :] == theirs[1 << 14 :]
    text = int.from_bytes(ours[:8], "little")
    assert ours[8 : 8 + text] == theirs[8 : 8 + text + 1].rstrip(b"\0").replace(b"kinds.mindrecord", b"ours.mindrecord")
    queries = ["SELECT * FROM INDEXES", "PRAGMA table_info(INDEXES)"]
    for query in queries:
        found = [
            sqlite3.connect(name).execute(query).fetchall() for name in ("ours.mindrecord.db", "kinds.mindrecord.db")
        ]
        assert found[0] == found[1]
