"""Queue disciplines of a kernel in virtual time: they shape the packets of kernels and of simulations."""

from __future__ import annotations

import random
import shutil

import pytest

from ackclock import ScenarioError, linux
from ackclock.linux import Built, Packet, replay

from .conftest import walks
from .queue_records import FLOW, UNKNOWN, link, recorded
from .queue_walks import AGREE, MOST, QUEUES, walked

# Those of disciplines that kernels have, and that need no other link.
RECORDS = [
    "codel-ce2ms-wave-ect0", "codel-limit50-steps", "fq-flows", "fq_codel-flows", "pfifo-bursts", "sfq-headdrop-flows",
]  # fmt: skip


@pytest.fixture
def _tc() -> None:
    if shutil.which("tc", path="/usr/sbin:/sbin:/usr/bin:/bin") is None:
        pytest.skip("tc (iproute2) is not installed")


def qdisc(command: str) -> dict[str, str]:
    return {"kind": "qdisc", "command": command}


def offered(seed: int, load: float, count: int = 2000) -> list[Packet]:
    """Return packets of four flows at random times, which together are this share of 5 Mbit/s."""
    draw, at, packets = random.Random(seed), 0, []
    for _ in range(count):
        at += round(draw.expovariate(5e6 * load / 8 / 925) * 1e9)
        packets.append(Packet(at, draw.randrange(4), draw.choice([1500, 1500, 600, 100]), draw.choice([0, 2])))
    return packets


@pytest.mark.usefixtures("_tc")
@pytest.mark.parametrize("load", [0.7, 1.0, 1.5])
def test_a_fifo_of_the_kernel_is_a_simulated_one(built: Built, load: float) -> None:
    packets = offered(round(10 * load), load)
    # Droptail counts the packet in transmission, as in ns-2; the kernel has given it away.
    simulated = replay(link("51 packets"), packets)
    assert replay(link(qdisc("pfifo limit 50")), packets, on=f"linux:{built.path.name}") == simulated
    assert (None in simulated) == (load >= 1)


@pytest.mark.usefixtures("_tc")
@pytest.mark.parametrize("name", RECORDS)
def test_disciplines_do_what_linux_7_2_does_behind_another_link(built: Built, name: str) -> None:
    command, packets, records = recorded(name)
    # The records count Ethernet's 14 bytes, so that the largest packet is one of 1514 bytes.
    scenario = link(qdisc(command), {**FLOW, "count": 8, "packet_size": "1462 B"})
    arrivals = replay(scenario, packets, on=f"linux:{built.path.name}")
    pairs = [pair for pair in zip(arrivals, records, strict=True) if pair[1] != UNKNOWN]
    assert len(pairs) > 1000
    # A packet that arrives within a microsecond of another's departure can be before or after it.
    fates = sum((one is None) != (other is None) for one, other in pairs)
    marks = sum(one is not None and other is not None and one.ecn != other.ecn for one, other in pairs)
    assert fates <= 2 and marks <= 3
    late = [abs(one.at - other.at) for one, other in pairs if one is not None and other is not None]
    assert sum(each > 2e-6 for each in late) <= len(late) // 1000


@pytest.mark.usefixtures("_tc")
@pytest.mark.parametrize("command", ["fq_codel", "fq_codel target 5ms", "cake bandwidth 8mbit", "pie limit 100", "sfq"])
def test_runs_repeat_and_a_discipline_shortens_the_queue(built: Built, command: str) -> None:
    flows = FLOW, {"from": "a", "to": "b", "application": {"kind": "cbr", "rate": "500 kbit/s"}}
    shaped = link(qdisc(command), *flows, rate="10 Mbit/s", delay="20 ms", record=["queue", "drops"])
    on = f"linux:{built.path.name}"
    one, other = linux.run(shaped, on=on), linux.run(shaped, on=on)
    assert one.trace_hash == other.trace_hash
    deep = linux.run(link("1000 packets", *flows, rate="10 Mbit/s", delay="20 ms"), on=on)
    ours, theirs = (run.summary["links"][0] for run in (one, deep))
    assert ours["queue"] == "qdisc"
    assert ours["sojourn_mean"] < theirs["sojourn_mean"] / 2
    assert ours["drops"] == ours["drops_kernel"] > 0
    # Datagrams, which are simulated, pass the kernel's queue too.
    assert one.summary["flows"][1]["delivered_packets"] > 100


@pytest.mark.usefixtures("_tc")
def test_a_discipline_that_shapes_sets_the_rate(built: Built) -> None:
    scenario = link(qdisc("tbf rate 4mbit burst 16kb latency 50ms"), FLOW, rate="100 Mbit/s", delay="10 ms")
    run = linux.run(scenario, on=f"linux:{built.path.name}")
    assert run.summary["links"][0]["utilisation"] == pytest.approx(0.04, rel=0.05)


@pytest.mark.usefixtures("_tc")
def test_a_discipline_marks(built: Built) -> None:
    scenario = link(qdisc("codel ecn"), {**FLOW, "ecn": "classic"}, rate="10 Mbit/s", delay="20 ms", record=["marks"])
    run = linux.run(scenario, on=f"linux:{built.path.name}")
    assert run.summary["links"][0]["marks"] > 0
    assert run.summary["flows"][0]["retransmitted_packets"] <= run.summary["links"][0]["drops"]


@pytest.mark.usefixtures("_tc")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fq_codl", 'link a>b: the kernel has no queue "fq_codl": '),
        ("fq_codel taget 5ms", 'link a>b: the kernel has no queue "fq_codel taget 5ms": What is "taget"?'),
        (
            "netem delay 10ms dup 1%",
            'link a>b: queue.command = "netem delay 10ms dup 1%": a link sends no packet twice',
        ),
        (
            "handle 1: prio\nqdisc add parent 1:9 pfifo limit 4",
            'link a>b: queue.command: "qdisc add parent 1:9 pfifo limit 4": ',
        ),
        ("pfifo;off", 'link a>b: queue.command = "pfifo;off": it must begin with the name of a queue discipline'),
    ],
)
def test_a_discipline_that_does_not_exist_is_named(built: Built, command: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        linux.run(link(qdisc(command), FLOW), on=f"linux:{built.path.name}")
    assert str(error.value).startswith(message) and "Usage" not in str(error.value)


@pytest.mark.usefixtures("_tc")
def test_a_queue_holds_as_many_packets_as_it_says(built: Built) -> None:
    burst = [Packet(index, 0, 1500) for index in range(110_000)]
    deep = replay(link(qdisc("pfifo limit 200000"), rate="10 Gbit/s"), burst, on=f"linux:{built.path.name}")
    assert None not in deep


def test_other_worlds_have_no_such_queue() -> None:
    what = 'link a>b has the queue discipline "fq_codel" of Linux, which needs a kernel in virtual time: '
    with pytest.raises(ScenarioError, match=what):
        replay(link("qdisc"), [])


def test_packets_of_a_replay_are_checked() -> None:
    for packet, message in (
        (Packet(0, 0, 27), "packet 0: size must be a whole number from 28 to 65535, but is 27"),
        (Packet(0, 0, 100, 4), "packet 0: ecn must be a whole number from 0 to 3, but is 4"),
        (Packet(-1, 0, 100), "packet 0: at must be"),
    ):
        with pytest.raises(ValueError, match=message):
            replay(link("5 packets"), [packet])
    with pytest.raises(ScenarioError, match="a packet is of flow number 8, but the scenario has 8 flows"):
        replay(link("5 packets"), [Packet(0, 8, 100)])
    with pytest.raises(ScenarioError, match="the packets are not in the order of their times"):
        replay(link("5 packets"), [Packet(1, 0, 100), Packet(0, 0, 100)])


@pytest.mark.usefixtures("_tc")
@walks(3, MOST)
@pytest.mark.parametrize("kind", QUEUES)
def test_random_queues_of_the_kernel_are_simulated_ones(built: Built, kind: str, seeds: range) -> None:
    found = walked(kind, seeds, f"linux:{built.path.name}").agreement(kind, "", "")
    assert found.fate_agreement >= AGREE.get(kind, 0.999)
    assert found.mark_agreement == 1
    assert found.departure_us <= 2 or kind in AGREE
