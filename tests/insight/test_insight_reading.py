"""Event files: bulk decoding says what was written, whatever the dialect; damage is passed over, cut ends are waited for."""

import contextlib
import os
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
import event_writer as w

pytest.importorskip("google_crc32c")
from mindinsight.events import framing
from mindinsight.events.bulk import Columns, Decoder
from mindinsight.events.reader import read
from mindinsight.events.wire import Malformed, fields
from mindinsight.index.columns import decode, encode, joined

FORMS = [w.board_scalar, w.own_scalar, w.tensor_scalar]


def everything(path, decoder=None, begin=0, stretch=4 << 20):
    """All points by tag, the things, the number of damaged records and the end."""
    handle = os.open(path, os.O_RDONLY)
    points: dict[str, list[Columns]] = {}
    things, damaged, end = [], 0, begin
    try:
        for part in read(handle, begin, decoder or Decoder(), stretch=stretch):
            for tag, columns in part.batch.series.items():
                points.setdefault(tag, []).append(columns)
            things += part.batch.things
            damaged += part.batch.damaged
            end = part.end
    finally:
        os.close(handle)
    return {tag: joined(parts) for tag, parts in points.items()}, things, damaged, end


@pytest.mark.parametrize("form", FORMS)
def test_many_tags_and_steps_in_order(tmp_path, form):
    steps, tags = range(0, 400, 3), ["loss", "accuracy", "a/b/c", "x" * 40, "ä"]
    value = {(tag, step): float(np.float32(np.sin(step) + i)) for i, tag in enumerate(tags) for step in steps}
    events = [w.event(1.7e9 + step / 8, step, form(tag, value[tag, step])) for step in steps for tag in tags]
    w.write(tmp_path / "e", w.version(), *events)
    points, things, damaged, end = everything(tmp_path / "e")
    assert (things, damaged, end) == ([], 0, (tmp_path / "e").stat().st_size)
    assert sorted(points) == sorted(tags)
    for tag in tags:
        assert points[tag].steps.tolist() == list(steps)
        assert points[tag].times.tolist() == [1.7e9 + step / 8 for step in steps]
        assert points[tag].values.tolist() == [value[tag, step] for step in steps]


def test_several_values_in_one_event(tmp_path):
    events = [w.event(1.7e9, s, *(w.own_scalar(f"t{i}", s * 10 + i) for i in range(20))) for s in range(1, 300)]
    w.write(tmp_path / "e", *events)
    points, *_ = everything(tmp_path / "e")
    for i in range(20):
        assert points[f"t{i}"].values.tolist() == [s * 10 + i for s in range(1, 300)]


def test_both_dialects_in_one_file_and_steps_of_every_width(tmp_path):
    steps = [None, 1, 127, 128, 16383, 16384, 2**31, 2**62, -5]
    events = [w.event(1.7e9, step, form("t", i)) for i, step in enumerate(steps) for form in FORMS]
    w.write(tmp_path / "e", *events)
    points, *_ = everything(tmp_path / "e")
    assert points["t"].steps.tolist() == [0 if step is None else step for step in steps for _ in FORMS]
    assert points["t"].values.tolist() == [i for i in range(len(steps)) for _ in FORMS]


def test_numbers_that_are_none(tmp_path):
    numbers = [float("nan"), float("inf"), -float("inf"), -0.0, 1e-45, 3.4e38]
    w.write(tmp_path / "e", *(w.event(1.7e9, i, w.board_scalar("t", v)) for i, v in enumerate(numbers)))
    points, *_ = everything(tmp_path / "e")
    np.testing.assert_array_equal(points["t"].values, np.array(numbers, np.float32))


def test_a_tag_of_megabytes_keeps_its_beginning(tmp_path):
    w.write(tmp_path / "e", w.event(1.7e9, 1, w.board_scalar("x" * 10_000_000, 1.0)), w.event(1.7e9, 2, w.board_scalar("ok", 2.0)))
    points, *_ = everything(tmp_path / "e")
    long = next(tag for tag in points if tag != "ok")
    assert len(long) == 4096 and long.startswith("xxx") and points["ok"].values.tolist() == [2.0]


def test_what_is_no_number_is_found_where_it_is(tmp_path):
    value = w.image("picture", b"\x89PNG\r\n\x1a\nrest")
    w.write(tmp_path / "e", w.event(1.7e9, 3, w.board_scalar("a", 1.0), value), w.event(1.7e9, 4, w.board_scalar("a", 2.0)))
    points, things, *_ = everything(tmp_path / "e")
    (thing,) = things
    data = (tmp_path / "e").read_bytes()[thing.offset : thing.offset + thing.length]
    assert (thing.tag, thing.step, data) == ("picture", 3, value) and points["a"].values.tolist() == [1.0, 2.0]


# ---------------------------------------------------------------------------------------------------------------------
# Damage


def hundred(path):
    w.write(path, *(w.event(1.7e9 + i, i, w.board_scalar("t", i)) for i in range(1, 101)))
    return path.read_bytes()


@pytest.mark.parametrize("cut", [1, 4, 11, 12, 13, 30])
def test_a_cut_end_is_waited_for(tmp_path, cut):
    path = tmp_path / "e"
    whole = hundred(path)
    path.write_bytes(whole[:-cut])
    points, _, damaged, end = everything(path)
    assert points["t"].steps.tolist() == list(range(1, 100)) and damaged == 0
    path.write_bytes(whole)
    points, *_ = everything(path, begin=end)
    assert points["t"].steps.tolist() == [100]


@pytest.mark.parametrize("place", [0, 7, 12, 20, 38])
def test_a_damaged_record_is_passed_over(tmp_path, place):
    path = tmp_path / "e"
    data = bytearray(hundred(path))
    size = len(w.record(w.event(1.7e9, 1, w.board_scalar("t", 1))))
    data[50 * size + place] ^= 0x55
    path.write_bytes(data)
    points, _, damaged, end = everything(path)
    assert points["t"].steps.tolist() == [i for i in range(1, 101) if i != 51]
    assert damaged == 1 and end == len(data)


def test_a_record_whose_data_is_whole_counts_though_its_header_is_damaged(tmp_path):
    path = tmp_path / "e"
    data = bytearray(hundred(path))
    data[9] ^= 1
    path.write_bytes(data)
    points, _, damaged, _ = everything(path)
    assert points["t"].steps.tolist() == list(range(1, 101)) and damaged == 0


def test_a_length_without_end_does_not_hide_what_follows(tmp_path):
    path = tmp_path / "e"
    data = bytearray(hundred(path))
    size = len(w.record(w.event(1.7e9, 1, w.board_scalar("t", 1))))
    data[50 * size : 50 * size + 8] = struct.pack("<Q", 2**60)
    path.write_bytes(data)
    points, _, damaged, _ = everything(path)
    assert points["t"].steps.tolist() == [i for i in range(1, 101) if i != 51] and damaged == 1


def test_records_longer_than_a_stretch(tmp_path):
    big = w.image("p", b"\x89PNG\r\n\x1a\n" + bytes(3000))
    path = tmp_path / "e"
    w.write(path, w.event(1.7e9, 1, w.board_scalar("t", 1.0)), w.event(1.7e9, 2, big), w.event(1.7e9, 3, w.board_scalar("t", 3.0)))
    points, things, damaged, end = everything(path, stretch=512)
    assert points["t"].steps.tolist() == [1, 3] and len(things) == 1 and (damaged, end) == (0, path.stat().st_size)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_happens_to_a_file_reading_ends(tmp_path, data):
    path = tmp_path / "fuzz"
    content = bytearray(hundred(path))
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(content) - 1))
        kind = data.draw(st.sampled_from(["flip", "drop", "insert", "cut"]))
        if kind == "flip":
            content[at] = data.draw(st.integers(0, 255))
        elif kind == "drop":
            del content[at : at + data.draw(st.integers(1, 60))]
        elif kind == "insert":
            content[at:at] = data.draw(st.binary(min_size=1, max_size=60))
        else:
            del content[max(at, 1) :]
        if not content:
            content = bytearray(b"\0")
    path.write_bytes(content)
    points, _, _, end = everything(path, stretch=data.draw(st.sampled_from([64, 1000, 1 << 20])))
    assert end <= len(content)
    if "t" in points:  # nothing is made up
        assert all(v == s for s, v in zip(points["t"].steps.tolist(), points["t"].values.tolist()))


@given(st.binary(max_size=300))
def test_messages_of_garbage(data):
    with contextlib.suppress(Malformed):
        assert all(0 <= f.begin <= f.end <= len(data) for f in fields(data))


# ---------------------------------------------------------------------------------------------------------------------
# Pieces


@given(st.lists(st.integers(0, 70), min_size=1, max_size=400), st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_the_chain_of_records_is_found_with_and_without_a_period(lengths, times):
    lengths = (lengths * times)[:3000]
    data = b"".join(framing.frame(bytes(n)) for n in lengths)
    chain = framing.chain(np.frombuffer(data, np.uint8))
    assert chain.lengths.tolist() == lengths and chain.end == len(data)
    assert chain.starts.tolist() == np.concatenate(([0], np.cumsum(np.array(lengths) + 16)))[:-1].tolist()


@pytest.mark.parametrize("length", [1, 2, 31, 160, 161, 1000])
def test_checksums_side_by_side(length):
    rng = np.random.default_rng(length)
    data = b"".join(w.record(rng.bytes(length)) for _ in range(9))
    starts = np.arange(9) * (length + 16)
    columns = np.ascontiguousarray(framing.rows(np.frombuffer(data, np.uint8), starts, length).T)
    assert framing.intact(columns).all()
    columns[length // 2, 4] ^= 1
    assert framing.intact(columns).tolist() == [True] * 4 + [False] + [True] * 4


@given(st.lists(st.tuples(st.integers(-(2**60), 2**60), st.floats(0, 2e9), st.floats(width=32, allow_nan=False)), min_size=1, max_size=30))
def test_columns_keep_every_bit(points):
    steps, times, values = (np.array(c) for c in zip(*points))
    even = Columns(np.arange(len(points)), 1.7e9 + np.arange(len(points)) / 3, values.astype("f4"))
    for columns in (Columns(steps, times, values), even):
        again = decode(encode(columns))
        for a, b in zip(columns, again):
            np.testing.assert_array_equal(a, b)
