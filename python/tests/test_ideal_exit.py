"""The distance of a slow start from the ideal exit: closed forms on one link, and a run that is ideal."""

from __future__ import annotations

import math
from typing import Any

import pytest

import ackclock
from ackclock.metrics.exits import IDEAL_EXIT, Oracle
from ackclock.metrics.flows import DERIVATIONS
from ackclock.reports import units
from ackclock.results import frame

RATE, DELAY = 8e6, 10e-3
DATA, ACK = 1040 * 8 / RATE, 40 * 8 / RATE
TRIP = 2 * DELAY + DATA + ACK
BDP = TRIP / DATA
# The oracle's handshake takes a round trip of data; that of a flow has headers only.
SHORTER = DATA - ACK


def measured(duration: str = "5 s", queue: str = "unlimited", **flow: Any) -> dict[str, Any]:
    """Run one flow over a link of 8 Mbit/s and 10 ms, and measure it."""
    link = {"rate": "8 Mbit/s", "delay": "10 ms", "queue": queue}
    scenario = ackclock.Scenario(duration=duration, topology={"kind": "chain", "links": [link]}, flow=[flow])
    measure = DERIVATIONS["ideal_exit"]
    result = ackclock.run(scenario, record=measure.traces)
    (row,) = [{"flow": row.pop("name"), **row} for row in frame(result.flows).to_dicts()]
    measure.derive([row], result)
    assert set(measure.columns) <= row.keys()
    return row


def test_the_oracle_of_a_path_of_eight_packets() -> None:
    # One packet takes 1 s. Flights of 1, 2 and 4 packets start at 0, 8 and 16 s; from 24 s on the link is busy.
    oracle = Oracle(trip=8.0, capacity=8.0, initial=1.0)
    assert [oracle.arrival(packet) for packet in (1, 2, 3, 4, 7, 8, 9, 100)] == [0, 8, 9, 16, 19, 24, 25, 116]
    assert [oracle.delivered(after) for after in (0, 7.9, 8, 9, 15, 19, 23, 24, 25, 116)] == [
        *(1, 1, 2, 3, 3, 7, 7, 8, 9, 100)
    ]
    # The ACK of packet 7 makes the window 8. Handshake and first round trip take 8 s each.
    assert oracle.exit_time == 8 + 8 + 19
    # Four seconds later, that of packet 8 is on its way.
    assert oracle.exit_packets == 7


def test_an_oracle_with_a_larger_window_than_the_path_sends_without_a_gap() -> None:
    oracle = Oracle(trip=8.0, capacity=8.0, initial=10.0)
    assert oracle.exit_time == 8
    assert (oracle.arrival(30), oracle.delivered(29.0), oracle.exit_packets) == (29, 30, 0)


@pytest.mark.parametrize("initial", [1, 3, 4])
@pytest.mark.parametrize("start", [0.0, 1.0])
def test_a_flow_with_the_right_threshold_is_the_oracle(initial: int, start: float) -> None:
    # Its window stays within one packet of the bandwidth-delay product during the first 10 of them.
    row = measured(
        initial_window=f"{initial} segments", initial_ssthresh=f"{math.ceil(BDP)} segments", start=f"{start} s"
    )
    assert row["exit_bdp"] == pytest.approx(math.ceil(BDP) / BDP)
    assert row["exit_late"] == pytest.approx(-SHORTER)
    # The way back of an ACK takes a little less than half of the round trip, in which the data packet is larger.
    assert row["exit_bytes"] == pytest.approx(row["exit_ideal_bytes"], abs=1040)
    assert row["exit_time_lost"] == pytest.approx(0.0, abs=1e-9)
    assert row["first_overshoot_losses"] == 0


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_an_early_exit(start: float) -> None:
    row = measured(initial_window="1 segment", initial_ssthresh="16 segments", start=f"{start:g} s")
    assert row["path_rtt"] == pytest.approx(TRIP)
    assert row["path_bps"] == RATE
    assert row["bdp_packets"] == pytest.approx(BDP)
    # Windows of 1, 2, 4 and 8 segments; the ACK of the 15th segment makes the window 16. The last flight is 8 segments,
    # one behind the other. The handshake needs two headers.
    took = 2 * (DELAY + ACK) + 4 * TRIP + 7 * DATA
    assert row["slow_start_exit_time"] == pytest.approx(start + took)
    assert row["exit_bdp"] == pytest.approx(16 / BDP)
    # The oracle needs 20 ACKs instead of 15. Its fifth flight begins with segment 16.
    ideal = 6 * TRIP + 4 * DATA
    assert row["exit_ideal"] == pytest.approx(ideal)
    assert row["exit_late"] == pytest.approx(took - ideal)
    # 15 segments and the SYN have arrived. By the oracle's exit, 20 segments have, and those of half a round trip.
    assert row["exit_bytes"] == 15 * 1040 + 40
    assert row["exit_ideal_bytes"] == (20 + math.floor(TRIP / 2 / DATA)) * 1040 + 40
    assert row["exit_utilisation"] == pytest.approx((15 * 1040 + 40) * 8 / (RATE * took))
    # Segments leave in pairs, so segment k of a flight waits for k // 2 others. Until one round trip after the exit,
    # ACKs of the SYN, of 15 segments, and of the first 8 of the next flight arrive.
    waits = [0, *(k // 2 * DATA for size in (1, 2, 4, 8, 8) for k in range(1, size + 1))]
    assert row["exit_queue_max"] == pytest.approx(4 * DATA)
    assert row["exit_queue_mean"] == pytest.approx(sum(waits) / len(waits))


def test_an_early_exit_loses_the_gaps_after_it() -> None:
    # At most one flow of 8 segments a round trip: the receiver's window is the threshold and the limit.
    row = measured(initial_window="8 segments", initial_ssthresh="8 segments", rwnd="8 packets")
    # A window at the threshold leaves slow start with its first ACK. Flight k has 8 packets, that of the oracle 8·2^k.
    packets = math.ceil(10 * BDP)
    own = (packets - 1) // 8 * TRIP + (packets - 1) % 8 * DATA
    ideal = 2 * TRIP + (packets - 1 - 24) * DATA
    assert row["exit_time_lost"] == pytest.approx(own - ideal)


def test_a_transfer_below_ten_bdp_is_measured_at_its_end() -> None:
    flow = {"initial_window": "1 segment", "initial_ssthresh": "4 segments", "rwnd": "4 packets"}
    row = measured(size="30 packets", **flow)
    # Flights of 1, 2, 4, 4 and so on: packet 30 is the third of the ninth.
    own = 8 * TRIP + 2 * DATA
    assert row["exit_time_lost"] == pytest.approx(own - (4 * TRIP + 14 * DATA))


def test_a_late_exit_is_late_by_what_it_overshoots_and_queues() -> None:
    early, late = (measured(initial_window="1 segment", initial_ssthresh=f"{size} segments") for size in (20, 320))
    assert late["exit_bdp"] == pytest.approx(16 * early["exit_bdp"])
    assert late["exit_late"] > early["exit_late"] + 4 * TRIP
    # Half of the segments of the window of 320 wait for the other half.
    assert late["exit_queue_max"] > 10 * early["exit_queue_max"]
    # The queue delivers without a gap, so nothing is lost but room in the queue.
    assert late["exit_time_lost"] == pytest.approx(0.0, abs=1e-9)


def test_an_overshoot_of_a_short_queue_loses_segments_and_time() -> None:
    row = measured(initial_window="1 segment", queue="20 packets", initial_ssthresh="unlimited", rwnd="1000 packets")
    assert row["slow_start_exit_reason"] == "loss"
    assert row["first_overshoot_losses"] > 5
    assert row["exit_late"] > 0
    assert row["exit_queue_max"] == pytest.approx(20 * DATA, rel=0.1)
    assert row["exit_time_lost"] > 0


def test_hosts_that_count_data_only() -> None:
    row = measured(host="linux")
    (packets, rest) = divmod(row["exit_bytes"], 1000)
    assert (row["slow_start_exit_reason"], rest) == ("algorithm", 0)
    assert packets * 1000 > row["exit_ideal_bytes"] > 0
    assert row["exit_time_lost"] < 2 * TRIP


@pytest.mark.parametrize("size", ["20 ms", "200 ms"])
def test_without_an_exit_there_is_no_distance(size: str) -> None:
    row = measured(duration=size, initial_ssthresh="unlimited", rwnd="100000 packets")
    assert [row[column] for column in IDEAL_EXIT] == [None] * 9


def test_without_so_many_deliveries_no_time_is_lost() -> None:
    row = measured(duration="200 ms", initial_window="1 segment", initial_ssthresh="16 segments")
    assert row["exit_late"] is not None
    assert row["exit_time_lost"] is None


def test_units() -> None:
    kinds = [units.unit(column) for column in IDEAL_EXIT]
    assert kinds == ["", "s", "s", "B", "B", "", "s", "s", "s"]
