"""Event files that TensorBoard reads: TFRecord frames (tensorflow/core/lib/io/record_writer.h) around messages of the
protocol buffer `Event` (tensorflow/core/util/event.proto), of which only scalars are needed. No package of Debian 12
writes them."""

from __future__ import annotations

import struct
from typing import Iterable, Iterator

_POLYNOMIAL = 0x82F63B78  # Castagnoli, reflected
_MASK = 0xA282EAD8


def _table() -> list[int]:
    values = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
        values.append(byte)
    return values


_CRC = _table()


def crc32c(data: bytes) -> int:
    """The CRC of RFC 3720, section B.4."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF)


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _varint(number: int) -> bytes:
    encoded = b""
    while number > 0x7F:
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


def _bytes_field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _event(wall_time_s: float, step: int, rest: bytes) -> bytes:
    return b"\x09" + struct.pack("<d", wall_time_s) + b"\x10" + _varint(step) + rest


def events(scalars: Iterable[tuple[float, int, dict[str, float]]]) -> Iterator[bytes]:
    """The parts of an event file. A scalar is (wall time in seconds since 1970, step, {tag: value})."""
    yield _record(_event(0, 0, _bytes_field(3, b"brain.Event:2")))
    for wall_time_s, step, values in scalars:
        summary = b"".join(_bytes_field(1, _bytes_field(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
                           for tag, value in values.items())
        yield _record(_event(wall_time_s, step, _bytes_field(5, summary)))
