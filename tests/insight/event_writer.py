"""Event files made by hand, byte by byte: the oracle of the readers' tests shares no code with them."""

import struct


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def record(data: bytes) -> bytes:
    def stored(part: bytes) -> bytes:
        crc = crc32c(part)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    head = struct.pack("<Q", len(data))
    return head + stored(head) + data + stored(data)


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def message(*fields: tuple[int, object]) -> bytes:
    """Fields as (number, value): int varint, float double, bytes and str delimited, a one-tuple of a float a float32."""
    out = b""
    for number, value in fields:
        if isinstance(value, tuple):
            out += varint(number << 3 | 5) + struct.pack("<f", value[0])
        elif isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        elif isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def event(wall: float, step: int | None, *values: bytes) -> bytes:
    fields: list[tuple[int, object]] = [(1, wall)]
    if step is not None:
        fields.append((2, step))
    return message(*fields, (5, b"".join(message((1, value)) for value in values)))


def board_scalar(tag: str, value: float) -> bytes:
    return message((1, tag), (2, (value,)))


def own_scalar(tag: str, value: float) -> bytes:
    return message((1, tag), (2, (value,)), (3, (value,)))


def tensor_scalar(tag: str, value: float) -> bytes:
    """The form of newer TensorBoard writers."""
    return message((1, tag), (9, message((1, message((1, "scalars"))))), (8, message((1, 1), (2, b""), (5, struct.pack("<f", value)))))


def version(text: str = "brain.Event:2") -> bytes:
    return message((1, 1.7e9), (3, text))


def image(tag: str, data: bytes, width: int = 2, height: int = 3) -> bytes:
    return message((1, tag), (4, message((1, height), (2, width), (3, 3), (4, data))))


def histogram(tag: str, buckets: list[tuple[float, float, int]]) -> bytes:
    parts = [(1, message((1, left), (2, width), (3, count))) for left, width, count in buckets]
    low, high = buckets[0][0], buckets[-1][0] + buckets[-1][1]
    return message((1, tag), (9, message(*parts, (5, high), (6, low), (8, sum(b[2] for b in buckets)))))


def tensor(tag: str, dims: list[int], values: list[float]) -> bytes:
    packed = struct.pack(f"<{len(values)}f", *values)
    return message((1, tag), (8, message(*((1, d) for d in dims), (2, 11), (3, packed))))


def board_tensor(tag: str, plugin: str, dims: list[int], values: list[float] | list[bytes]) -> bytes:
    """What TensorBoard's plugins keep: a tensor of floats or of strings, with the name of the plugin."""
    shape = message(*((2, message((1, dim))) for dim in dims))
    if values and isinstance(values[0], bytes):
        content = message((1, 7), (2, shape), *((8, value) for value in values))
    else:
        content = message((1, 1), (2, shape), (4, struct.pack(f"<{len(values)}f", *values)))
    return message((1, tag), (8, content), (9, message((1, message((1, plugin))))))


def old_audio(tag: str, data: bytes) -> bytes:
    return message((1, tag), (6, message((1, (8000.0,)), (2, 1), (3, 4), (4, data), (5, "audio/wav"))))


def write(path, *events: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(record(one) for one in events))
