"""A reader of pcapng files, independent of the writer: blocks, IPv4 and TCP headers, checksums."""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass, field
from pathlib import Path

FIN, SYN, ACK, ECE, CWR = 1, 2, 16, 64, 128


@dataclass
class Segment:
    """A captured packet."""

    interface: str
    time: int
    captured: int
    length: int
    source: tuple[str, int]
    target: tuple[str, int]
    ecn: int
    seq: int
    ack: int
    flags: int
    window: int
    payload: int
    mss: int | None = None
    scale: int | None = None
    sack_permitted: bool = False
    timestamps: tuple[int, int] | None = None
    sack: list[tuple[int, int]] = field(default_factory=list)
    comment: str | None = None
    direction: int = 0

    def has(self, flag: int) -> bool:
        return bool(self.flags & flag)


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071); it is zero for data that contain their correct checksum."""
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def read(path: Path) -> list[Segment]:
    """Read a file, and assert that it is well-formed."""
    data = path.read_bytes()
    assert data[:4] == b"\x0a\x0d\x0d\x0a"
    names: list[str] = []
    segments: list[Segment] = []
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        body = data[at + 8 : at + length - 4]
        if kind == 0x0A0D0D0A:
            assert at == 0
            assert struct.unpack_from("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1)
        elif kind == 1:
            assert struct.unpack_from("<HH", body) == (101, 0)
            found = options(body[8:])
            assert found[9] == b"\x09"
            names.append(found[2].decode())
        else:
            assert kind == 6
            segments.append(packet(body, names))
        at += length
    assert at == len(data)
    assert all(first.time <= second.time for first, second in itertools.pairwise(segments))
    return segments


def options(body: bytes) -> dict[int, bytes]:
    """Read the options of a block."""
    found: dict[int, bytes] = {}
    while body:
        code, length = struct.unpack_from("<HH", body)
        if code == 0:
            assert len(body) == 4
            break
        found[code] = body[4 : 4 + length]
        body = body[4 + (length + 3) // 4 * 4 :]
    return found


def packet(body: bytes, names: list[str]) -> Segment:
    interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
    found = options(body[20 + (captured + 3) // 4 * 4 :])
    segment = parse(body[20 : 20 + captured], length)
    segment.interface, segment.time, segment.captured = names[interface], (high << 32) + low, captured
    segment.comment = found[1].decode() if 1 in found else None
    segment.direction = struct.unpack("<I", found[2])[0] if 2 in found else 0
    return segment


def parse(data: bytes, length: int) -> Segment:
    """Read the headers of a packet of `length` bytes; bytes that were not stored count as zeros."""
    version, tos, total, _, fragment, ttl, protocol, _ = struct.unpack_from(">BBHHHBBH", data)
    assert (version, protocol, total) == (0x45, 6, length)
    # A kernel whose route has a fixed MTU permits fragments.
    assert fragment in {0, 0x4000}
    assert 0 < ttl <= 64
    assert checksum(data[:20]) == 0
    source, target, seq, ack, offset, flags, window, _, urgent = struct.unpack_from(">HHIIBBHHH", data, 20)
    header = 20 + (offset >> 4) * 4
    assert urgent == 0
    assert header <= len(data)
    tcp = data[20:] + bytes(length - len(data))
    assert checksum(data[12:20] + struct.pack(">HH", 6, len(tcp)) + tcp) == 0
    assert not any(data[header:])
    ends = [".".join(map(str, data[begin : begin + 4])) for begin in (12, 16)]
    segment = Segment(
        "", 0, 0, length, (ends[0], source), (ends[1], target), tos & 3, seq, ack, flags, window, length - header
    )
    tcp_options(segment, data[40:header])
    return segment


def tcp_options(segment: Segment, data: bytes) -> None:
    while data:
        if data[0] == 1:
            data = data[1:]
            continue
        kind, length, value = data[0], data[1], data[2 : data[1]]
        assert length >= 2
        assert len(value) == length - 2
        if kind == 2:
            segment.mss = int.from_bytes(value, "big")
        elif kind == 3:
            segment.scale = value[0]
        elif kind == 4:
            segment.sack_permitted = True
        elif kind == 5:
            edges = struct.unpack(f">{len(value) // 4}I", value)
            segment.sack = list(zip(edges[::2], edges[1::2], strict=True))
        else:
            assert kind == 8
            segment.timestamps = struct.unpack(">II", value)  # type: ignore[assignment]
        data = data[length:]


def resent(segments: list[Segment]) -> int:
    """Count packets of a connection's sender whose sequence numbers were partly sent before."""
    highest: int | None = None
    count = 0
    for segment in segments:
        size = segment.payload + segment.has(SYN) + segment.has(FIN)
        if size == 0:
            continue
        if highest is not None and segment.seq < highest:
            count += 1
        highest = max(highest or 0, segment.seq + size)
    return count
