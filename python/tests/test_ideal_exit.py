"""The distance of a slow start from the ideal exit: closed forms on one link."""

from __future__ import annotations

import math
from typing import Any

import pytest

import ackclock
from ackclock import deriving
from ackclock.result import frame

RATE, DELAY = 8e6, 10e-3
DATA, ACK = 1040 * 8 / RATE, 40 * 8 / RATE
TRIP = 2 * DELAY + DATA + ACK
BDP = TRIP / DATA


def measured(duration: str = "5 s", **flow: Any) -> dict[str, Any]:
    """Run one flow over a link of 8 Mbit/s and 10 ms, and measure it."""
    link = {"rate": "8 Mbit/s", "delay": "10 ms", "queue": "unlimited"}
    scenario = ackclock.Scenario(duration=duration, topology={"kind": "chain", "links": [link]}, flow=[flow])
    measure = deriving.MEASURES["ideal_exit"]
    result = ackclock.run(scenario, record=measure.traces)
    (row,) = [{"flow": row.pop("name"), **row} for row in frame(result.flows).to_dicts()]
    measure.derive([row], result)
    assert set(measure.columns) <= row.keys()
    return row


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
    assert row["exit_ideal"] == pytest.approx(TRIP * (1 + math.log2(BDP)))
    assert row["exit_late"] == pytest.approx(took - TRIP * (1 + math.log2(BDP)))
    # 15 segments and the SYN have arrived.
    assert row["exit_utilisation"] == pytest.approx((15 * 1040 + 40) * 8 / (RATE * took))
    # Segment 15 waits for the four before it: half of its flight was sent in the time in which it arrived.
    assert row["exit_queueing"] == pytest.approx(4 * DATA)


def test_an_oracle_that_starts_above_the_bdp_needs_the_handshake_only() -> None:
    row = measured(initial_window="30 segments", initial_ssthresh="40 segments")
    assert row["exit_ideal"] == pytest.approx(TRIP)
    assert row["exit_bdp"] == pytest.approx(40 / BDP)
    assert row["exit_late"] > 0


def test_a_late_exit_is_late_by_what_it_overshoots() -> None:
    # A window that doubles up to 16 BDP needs at least four round trips more, and queues.
    early, late = (measured(initial_window="1 segment", initial_ssthresh=f"{size} segments") for size in (20, 320))
    assert late["exit_bdp"] == pytest.approx(16 * early["exit_bdp"])
    assert late["exit_late"] > early["exit_late"] + 4 * TRIP
    # The ACK that ends slow start is of a segment sent with a window of 160, in front of a busy link.
    assert late["exit_queueing"] == pytest.approx(160 * DATA - TRIP)


@pytest.mark.parametrize("size", ["20 ms", "200 ms"])
def test_without_an_exit_there_is_no_distance(size: str) -> None:
    row = measured(duration=size)
    assert [row[column] for column in deriving.IDEAL_EXIT] == [None] * 5
