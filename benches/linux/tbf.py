"""Measure the departure times of packets from Linux' tbf, as reference data in `crates/core/tests/data/tbf_linux.csv`.

Needs Linux, root, iproute2 and the module sch_tbf. The measurement stays inside a new network namespace:

    unshare --net python3 benches/linux/tbf.py > crates/core/tests/data/tbf_linux.csv

The script sends frames into one end of a pair of virtual interfaces, whose queue is tbf, and the kernel timestamps them
at the other end. Each row is a frame: setting, number, size in bytes, send time and arrival time, in seconds since the
first frame was sent. A frame without an arrival time was dropped.
"""

import contextlib
import select
import socket
import struct
import subprocess
import time

SO_TIMESTAMPNS = 35
ETHERTYPE = 0x88B5  # local experimental EtherType
# Each setting has tbf's arguments, and bursts of frames as (seconds, sizes).
SETTINGS = {
    "burst": ("rate 1mbit burst 5000 limit 20000", [(0.0, [1000] * 40)]),
    "example": ("rate 0.5mbit burst 5kb latency 70ms peakrate 1mbit minburst 1540", [(0.0, [1000] * 20)]),
    "pauses": (
        "rate 2mbit burst 4000 limit 30000",
        [(0.0, [1500, 100, 700, 1500, 1500, 60]), (0.02, [1500] * 3), (0.05, [400] * 12), (0.2, [1500] * 8)],
    ),
    "large": ("rate 1mbit burst 1000 limit 20000", [(0.0, [1000, 1001, 500, 1400, 500])]),
}


def call(*words: str) -> None:
    """Run a command."""
    subprocess.run(words, check=True)


def measure(bursts: list[tuple[float, list[int]]]) -> list[tuple[int, float, float | None]]:
    """Send the frames; return the size, send time and arrival time of each."""
    into = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    into.bind(("tbf0", 0))
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
    out.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    out.bind(("tbf1", ETHERTYPE))
    sent: list[tuple[int, float]] = []
    arrived: dict[int, float] = {}
    head = b"\xff" * 6 + b"\x02" + b"\0" * 5 + struct.pack("!H", ETHERTYPE)
    begin = time.clock_gettime(time.CLOCK_REALTIME)
    for at, sizes in bursts:
        time.sleep(max(0.0, begin + at - time.clock_gettime(time.CLOCK_REALTIME)))
        for size in sizes:
            frame = (head + struct.pack("!H", len(sent))).ljust(size, b"\0")
            sent.append((size, time.clock_gettime(time.CLOCK_REALTIME)))
            with contextlib.suppress(OSError):  # a drop by the queue gives ENOBUFS
                into.send(frame)
    while select.select([out], [], [], 0.5)[0]:
        frame, ancillary, _, _ = out.recvmsg(2048, 1024)
        seconds, nanos = struct.unpack("qq", ancillary[0][2])
        arrived[struct.unpack_from("!H", frame, 14)[0]] = seconds + nanos / 1e9
    zero = sent[0][1]
    return [(size, at - zero, arrived[n] - zero if n in arrived else None) for n, (size, at) in enumerate(sent)]


call("ip", "link", "add", "tbf0", "type", "veth", "peer", "name", "tbf1")
for end in ("tbf0", "tbf1"):
    call("ip", "link", "set", end, "up")
time.sleep(1)
print("setting,number,size,sent,arrived")
for name, (arguments, bursts) in SETTINGS.items():
    call("tc", "qdisc", "replace", "dev", "tbf0", "root", "tbf", *arguments.split())
    time.sleep(0.3)
    for number, (size, sent, arrived) in enumerate(measure(bursts)):
        print(f"{name},{number},{size},{sent:.6f},{'' if arrived is None else format(arrived, '.6f')}")
    call("tc", "qdisc", "del", "dev", "tbf0", "root")
