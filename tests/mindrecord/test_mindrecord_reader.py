"""FileReader, MindPage and encryption; damaged and missing files."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mindrecord_rows import KINDS, kinds_row, same_row

from mindspore.dataset.sources import minddataset
from mindspore.mindrecord import FileReader, FileWriter, MindPage, set_dec_mode, set_enc_key, set_enc_mode
from mindspore.mindrecord.common.exceptions import MRMDefineCategoryError, ParamTypeError, ParamValueError

KEY = "0123456789012345"


@pytest.fixture
def key():
    set_enc_key(KEY)
    yield KEY
    set_enc_key(None)
    set_enc_mode()
    set_dec_mode(None)


def write(name, rows=8, shards=1):
    writer = FileWriter(name, shards)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema(KINDS)
    writer.write_raw_data([kinds_row(i) for i in range(rows)])
    writer.commit()


def read(name):
    with minddataset.open(name) as rows:
        return [rows.row(i) for i in range(len(rows))], list(FileReader(name).get_next())


# ---------------------------------------------------------------------------------------------------------------------
# FileReader


def test_reading_ends_when_closed(folder):
    write("a")
    reader = FileReader("a")
    rows = reader.get_next()
    next(rows)
    reader.close()
    assert list(rows) == []
    reader.close()


def test_bad_arguments(folder):
    write("a")
    for arguments in (("a", None), ("a", "4"), ("a", 0), ("a", 10**6), ("",), (["a", None],)):
        with pytest.raises(ParamValueError):
            FileReader(*arguments)
    with pytest.raises(ParamTypeError):
        FileReader("a", columns="label")
    with pytest.raises(RuntimeError, match="column name: nope"):
        FileReader("a", columns=["nope"])


def test_missing_files(folder):
    write("a", shards=3)
    with pytest.raises(RuntimeError, match="is not exists"):
        FileReader("missing")
    os.rename("a1", "elsewhere")
    with pytest.raises(RuntimeError, match="can not be found"):
        FileReader("a0")
    os.rename("elsewhere", "a1")
    os.remove("a2.db")
    with pytest.raises(RuntimeError, match="exists and do not rename the mindrecord file and meta file"):
        FileReader("a0")
    with pytest.raises(RuntimeError, match=r"\.db is not exists"):
        FileReader("a2")


def test_a_renamed_file_is_refused(folder):
    write("a")
    os.rename("a", "b")
    os.rename("a.db", "b.db")
    with pytest.raises(RuntimeError, match="can not match"):
        FileReader(["b"])


def test_files_of_different_datasets_are_refused(folder):
    write("a")
    writer = FileWriter("b")
    writer.add_schema({"x": {"type": "int32"}})
    writer.write_raw_data([{"x": 1}])
    writer.commit()
    with pytest.raises(RuntimeError, match="is different from others"):
        FileReader(["a", "b"])


def test_not_a_mindrecord_file(folder):
    for name in ("text", "text.db"):
        with open(name, "w") as stream:
            stream.write("s" * 100)
    with pytest.raises(RuntimeError, match="header is larger than the upper limit"):
        FileReader("text")
    write("a")
    with open("a.db", "w") as stream:
        stream.write("just for test")
    with pytest.raises(RuntimeError, match="while verifying meta file"):
        FileReader("a")


def test_a_truncated_file_is_refused_wherever_it_ends(folder):
    write("a")
    whole = (folder / "a").read_bytes()
    for size in (0, 7, 8, 500, 1 << 14, (1 << 14) + 100, (1 << 14) + (1 << 15), len(whole) - 1):
        (folder / "a").write_bytes(whole[:size])
        with pytest.raises(RuntimeError):
            read("a")


def test_a_truncated_index_is_refused(folder):
    write("a")
    whole = (folder / "a.db").read_bytes()
    for size in (100, 4096, len(whole) - 4096):
        (folder / "a.db").write_bytes(whole[:size])
        with pytest.raises(RuntimeError):
            read("a")


_DAMAGE = st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.booleans(), _DAMAGE)
def test_damage_gives_rows_or_a_runtime_error(tmp_path_factory, in_index, damage):
    folder = tmp_path_factory.mktemp("damage")
    write(str(folder / "a"))
    path = folder / ("a.db" if in_index else "a")
    content = bytearray(path.read_bytes())
    used = [i for i, byte in enumerate(content) if byte]  # holes are not worth damaging
    for where, what in damage:
        at = used[int(where * (len(used) - 1))]
        content[at : at + len(what)] = what
    path.write_bytes(content)
    try:
        read(str(folder / "a"))
    except RuntimeError:
        pass
    finally:
        shutil.rmtree(folder)


def test_a_damaged_row_is_named(folder):
    write("a")
    content = bytearray((folder / "a").read_bytes())
    content[(1 << 14) : (1 << 14) + 8] = (5).to_bytes(8, "little")  # the length of the first blob
    (folder / "a").write_bytes(content)
    reader = FileReader("a")
    with pytest.raises(RuntimeError, match="row 0 of a is damaged"):
        next(reader.get_next())
    assert FileReader("a", columns=["label"]).get_next()


# ---------------------------------------------------------------------------------------------------------------------
# MindPage


@pytest.fixture
def pages(folder):
    writer = FileWriter("a", 2)
    writer.add_schema({"name": {"type": "string"}, "label": {"type": "int64"}, "data": {"type": "bytes"}})
    writer.add_index(["name", "label"])
    writer.write_raw_data([{"name": f"n{i % 3}", "label": i, "data": b"x" * i} for i in range(10)])
    writer.commit()
    return MindPage("a0")


def test_groups(pages):
    assert pages.candidate_fields == ["name", "label"]
    pages.category_field = "name"
    assert pages.category_field == "name"
    assert json.loads(pages.read_category_info()) == {
        "key": "name_0",
        "categories": [
            {"count": 4, "id": 0, "name": "n0"},
            {"count": 3, "id": 1, "name": "n1"},
            {"count": 3, "id": 2, "name": "n2"},
        ],
    }


def test_rows_of_a_group(pages):
    pages.category_field = "name"
    assert [row["label"] for row in pages.read_at_page_by_name("n0", 0, 3)] == [0, 3, 6]
    assert [row["label"] for row in pages.read_at_page_by_id(0, 1, 3)] == [9]
    pages.category_field = "label"
    assert pages.read_at_page_by_name("7", 0, 1) == [{"name": "n1", "label": 7, "data": b"x" * 7}]


def test_bad_groups(pages):
    with pytest.raises(ParamTypeError):
        pages.category_field = 3
    with pytest.raises(MRMDefineCategoryError):
        pages.category_field = "data"
    with pytest.raises(RuntimeError, match="category field"):
        pages.read_category_info()
    pages.category_field = "label"
    for arguments in ((-1, 0, 1), ("0", 0, 1), (0, -1, 1), (0, "0", 1), (0, 0, 0)):
        with pytest.raises(ParamValueError):
            pages.read_at_page_by_id(*arguments)
    with pytest.raises(RuntimeError, match=r"category_id: 99 must be in the range \[0, 10\]."):
        pages.read_at_page_by_id(99, 0, 1)
    with pytest.raises(RuntimeError, match="category_name: abc could not found"):
        pages.read_at_page_by_name("abc", 0, 1)
    with pytest.raises(RuntimeError, match="page no"):
        pages.read_at_page_by_id(0, 1, 1)
    with pytest.raises(ParamValueError):
        pages.read_at_page_by_name(1, 0, 1)


# ---------------------------------------------------------------------------------------------------------------------
# Encryption


def test_the_official_encrypted_file(official, key):
    rows = list(FileReader("encrypted.mindrecord").get_next())
    assert len(rows) == 3 and all(same_row(row, kinds_row(i)) for i, row in enumerate(rows))


def test_encrypted_round_trip_and_append(folder, key):
    write("a", 5)
    writer = FileWriter.open_for_append("a")
    writer.write_raw_data([kinds_row(i) for i in range(5, 9)])
    writer.commit()
    rows = list(FileReader("a").get_next())
    assert len(rows) == 9 and all(same_row(row, kinds_row(i)) for i, row in enumerate(rows))
    assert "图1.jpg".encode() not in (folder / "a").read_bytes() + (folder / "a.db").read_bytes()
    assert sorted(os.listdir()) == ["a", "a.db"]
    pages = MindPage("a")
    pages.category_field = "label"
    assert len(pages.read_at_page_by_name("3", 0, 9)) == 1


def test_wrong_key_and_no_key(folder, key):
    write("a")
    set_enc_key("x" * 24)
    with pytest.raises(RuntimeError, match="Failed to decrypt data"):
        FileReader("a")
    set_enc_key(None)
    with pytest.raises(RuntimeError, match="is encrypted"):
        FileReader("a")
    write("plain")
    set_enc_key(KEY)
    with pytest.raises(RuntimeError, match="is not encrypted"):
        FileReader("plain")


def test_a_tampered_file_is_refused(folder, key):
    write("a")
    content = bytearray((folder / "a").read_bytes())
    content[1000] ^= 1
    (folder / "a").write_bytes(content)
    with pytest.raises(RuntimeError, match="Failed to decrypt data"):
        FileReader("a")


def test_own_functions(folder, key):
    def flip(source, size, target, key):
        target.write(size.to_bytes(8, "big") + bytes(byte ^ 0x5A for byte in source.read(size)))

    def unflip(source, size, target, key):
        length = int.from_bytes(source.read(8), "big")
        target.write(bytes(byte ^ 0x5A for byte in source.read(length)))

    set_enc_mode(flip)
    write("a")
    with pytest.raises(RuntimeError, match="must also define custom decryption"):
        FileReader("a")
    set_dec_mode(unflip)
    assert FileReader("a").len() == 8


def test_no_shards_when_encrypting(folder, key):
    with pytest.raises(RuntimeError, match="automatic sharding"):
        FileWriter("a", 2)


def test_bad_settings():
    for bad in (5, "short", b"0123456789012345"):
        with pytest.raises(ValueError):
            set_enc_key(bad)
    for setter in (set_enc_mode, set_dec_mode):
        for bad in (5, "ROT13"):
            with pytest.raises(ValueError):
                setter(bad)
