"""The encodings inside MindRecord and TFRecord files."""

from __future__ import annotations

import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mindspore._base.crc32c import crc32c, mask, masked_crc32c_of_lengths
from mindspore.mindrecord import intcodec, msgpack, tfrecord


def bitwise_crc32c(data: bytes) -> int:
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


# -- MessagePack ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, stored",
    [
        (0, "00"),
        (127, "7f"),
        (128, "cc80"),
        (255, "ccff"),
        (256, "cd0100"),
        (65536, "ce00010000"),
        (2**32, "cf0000000100000000"),
        (-1, "ff"),
        (-32, "e0"),
        (-33, "d0df"),
        (-129, "d1ff7f"),
        (-32769, "d2ffff7fff"),
        (-(2**31) - 1, "d3ffffffff7fffffff"),
    ],
)
def test_integers_take_the_shortest_form(value, stored):
    assert msgpack.pack_int(value).hex() == stored


def test_floats_take_four_bytes_when_that_is_exact():
    assert msgpack.pack_float(0.5) == b"\xca" + struct.pack(">f", 0.5)
    assert msgpack.pack_float(0.1) == b"\xcb" + struct.pack(">d", 0.1)
    assert msgpack.pack_float(1e300) == b"\xcb" + struct.pack(">d", 1e300)
    assert msgpack.pack_float(float("inf")) == b"\xcb" + struct.pack(">d", float("inf"))


_SCALAR = st.one_of(st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False), st.text(max_size=40))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=40), _SCALAR, max_size=40))
def test_maps_come_back(content):
    pack = {int: msgpack.pack_int, float: msgpack.pack_float, str: msgpack.pack_str}
    data = msgpack.pack_map_head(len(content))
    for name, value in content.items():
        data += msgpack.pack_str(name) + pack[type(value)](value)
    assert msgpack.unpack_map(data) == content
    for cut in range(len(data)):
        with pytest.raises(ValueError):
            msgpack.unpack_map(data[:cut])


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_map_or_a_value_error(data):
    with contextlib.suppress(ValueError):
        assert isinstance(msgpack.unpack_map(data), dict)


@pytest.mark.parametrize("size", [31, 32, 255, 256, 65535, 65536])
def test_long_strings(size):
    data = msgpack.pack_map_head(1) + msgpack.pack_str("s") + msgpack.pack_str("é" * size)
    assert msgpack.unpack_map(data) == {"s": "é" * size}


# -- packed integers --------------------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(["int32", "int64"]).flatmap(lambda t: hnp.arrays(t, st.integers(0, 40))))
def test_integer_arrays_come_back(values):
    data = intcodec.compress(values)
    assert np.array_equal(intcodec.decompress(data, values.dtype), values)
    for cut in range(len(data) if values.size else 4):
        with pytest.raises(ValueError):
            intcodec.decompress(data[:cut], values.dtype)


@pytest.mark.parametrize(
    "values, stored",
    [
        ([], "00000000"),
        ([-3], "0000000100fd"),
        ([-3, 997], "0000000210fde503"),
        ([69900], "00000001800c110100"),
        ([2**40, -1, 300, -(2**31), 5], "00000005c6000000000000010000ff2c010000008005"),
    ],
)
def test_layout_of_packed_integers(values, stored):
    assert intcodec.compress(np.array(values, np.int64)).hex() == stored


# -- TFRecord ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 9, 1023, 1024, 1025, 3000])
def test_crc32c(size):
    data = np.random.default_rng(size).bytes(size)
    assert crc32c(data) == bitwise_crc32c(data)


def test_crc32c_of_the_standard():
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43


def test_checksums_of_lengths():
    lengths = np.array([0, 1, 255, 2**31, 2**40])
    assert masked_crc32c_of_lengths(lengths).tolist() == [mask(crc32c(int(n).to_bytes(8, "little"))) for n in lengths]


def test_a_known_record(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tfrecord.TFRecordWriter(path) as writer:
        writer.write(b"abc")
    data = (tmp_path / "a.tfrecord").read_bytes()
    length = (3).to_bytes(8, "little")
    assert data == length + struct.pack("<I", mask(bitwise_crc32c(length))) + b"abc" + struct.pack(
        "<I", mask(bitwise_crc32c(b"abc"))
    )


_FEATURE = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30),
    st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=30),
    st.lists(st.binary(max_size=30), min_size=1, max_size=5),
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=20), _FEATURE, max_size=6))
def test_examples_come_back(features):
    found = tfrecord.decode_example(tfrecord.encode_example(features))
    assert found.keys() == features.keys()
    for name, values in features.items():
        assert list(found[name]) == values
        kind = {int: np.int64, float: np.float32}.get(type(values[0]))
        assert kind is None or found[name].dtype == kind


def test_an_example_as_the_specification_encodes_it():
    # Features{feature{"a": Int64List[1, 300] one by one}, feature{"b": FloatList[0.5] packed}}
    ints = bytes.fromhex("080108ac02")
    floats = bytes.fromhex("0a04") + struct.pack("<f", 0.5)

    def nest(tag, body):
        return bytes([tag, len(body)]) + body

    first = nest(0x0A, nest(0x0A, b"a") + nest(0x12, nest(0x1A, ints)))
    second = nest(0x0A, nest(0x0A, b"b") + nest(0x12, nest(0x12, floats)))
    found = tfrecord.decode_example(nest(0x0A, first + second))
    assert found["a"].tolist() == [1, 300] and found["b"].tolist() == [0.5]


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_an_example_or_a_value_error(data):
    with contextlib.suppress(ValueError):
        assert isinstance(tfrecord.decode_example(data), dict)


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(TypeError, match="feature 'x'"), tfrecord.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write(tfrecord.encode_example({"x": [1]}))
        writer.write(tfrecord.encode_example({"x": [1j]}))
    assert list(tmp_path.iterdir()) == []
