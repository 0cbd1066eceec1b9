"""The protobuf wire format against bytes worked out by hand, and against itself."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindspore._base.protobuf import DecodeError, Message, field


class Inner(Message):
    text = field(1, "string")
    child = field(2, lambda: Inner)


class Outer(Message):
    number = field(1, "int64")
    small = field(2, "int32")
    flag = field(3, "bool")
    ratio = field(4, "float")
    exact = field(5, "double")
    data = field(6, "bytes")
    inner = field(7, lambda: Inner, repeated=True)
    packed = field(8, "int64", repeated=True, packed=True)
    loose = field(9, "float", repeated=True)
    big = field(16, "uint64")


def test_known_bytes():
    assert Outer(number=150).encode() == b"\x08\x96\x01"
    assert Outer(number=-1).encode() == b"\x08" + b"\xff" * 9 + b"\x01"
    assert Outer(inner=[Inner(text="testing")]).encode() == b"\x3a\x09\x0a\x07testing"
    assert Outer(packed=[3, 270, 86942]).encode() == b"\x42\x06\x03\x8e\x02\x9e\xa7\x05"
    assert Outer(big=1).encode() == b"\x80\x01\x01"
    assert Outer(ratio=0.5).encode() == b"\x25" + struct.pack("<f", 0.5)


@settings(max_examples=60, deadline=None)
@given(
    st.builds(
        Outer,
        number=st.integers(-(2**63), 2**63 - 1),
        small=st.integers(-(2**31), 2**31 - 1),
        flag=st.booleans(),
        ratio=st.floats(width=32, allow_nan=False),
        exact=st.floats(allow_nan=False),
        data=st.binary(max_size=20),
        inner=st.lists(st.builds(Inner, text=st.text(max_size=5)), max_size=3),
        packed=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4),
        loose=st.lists(st.floats(width=32, allow_nan=False), max_size=4),
        big=st.integers(0, 2**64 - 1),
    )
)
def test_round_trip(message):
    assert Outer.decode(message.encode()) == message


def test_repeated_numbers_are_read_packed_or_not():
    assert Outer.decode(b"\x40\x05\x40\x06").packed == [5, 6]
    assert Outer.decode(b"\x4a\x08" + struct.pack("<2f", 1, 2)).loose == [1.0, 2.0]


def test_unknown_fields_are_skipped():
    assert Outer.decode(b"\xf8\x07\x01" + b"\x08\x07").number == 7


@pytest.mark.parametrize(
    "data",
    [b"\x08", b"\x3a\x09\x0a", b"\x08" + b"\xff" * 11, b"\x0f", b"\x00\x01", b"\x25\x00", b"\x0a\x01a", b"\x4a\x03abc"],
)
def test_damaged_bytes(data):
    with pytest.raises(DecodeError):
        Outer.decode(data)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_give_a_message_or_an_error(data):
    with contextlib.suppress(DecodeError):
        Outer.decode(data)


def test_nesting_is_bounded():
    data = b""
    for _ in range(200):
        data = Inner(text="x").encode() + b"\x12" + bytes(_length(len(data))) + data
    with pytest.raises(DecodeError, match="nested"):
        Inner.decode(data)


def _length(n):
    out = []
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return [*out, n]


def test_unknown_field_name():
    with pytest.raises(TypeError):
        Outer(nothing=1)
