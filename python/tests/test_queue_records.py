"""Simulated queues do what queues of Linux did with the same packets."""

from __future__ import annotations

import statistics

import pytest

from . import queue_records
from .queue_records import CASES, Case, counts, measured, of_seeds, recorded, stored
from .queue_walks import AGREE, QUEUES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.record)
def test_a_queue_does_what_its_record_says(case: Case) -> None:
    found = measured(case)
    assert found.row() in stored(), "the table is out of date: python -m python.tests.queue_records"
    if case.chance:
        _, packets, theirs = recorded(case.record)
        for ours, there in zip(zip(*of_seeds(case, packets), strict=True), counts(packets, theirs), strict=True):
            spread = max(ours) - min(ours)
            # Few differ by chance alone: two standard deviations of their number.
            chance = 2 * there**0.5 if there < 30 else 0
            assert abs(statistics.mean(ours) - there) <= max(case.share * there, spread, chance)
    else:
        assert found.fate_agreement >= 0.999
        assert found.mark_agreement >= 0.999
        assert found.departure_us <= case.late_us


@pytest.mark.parametrize("kind", QUEUES)
def test_the_stored_walks_agree(kind: str) -> None:
    (row,) = (row for row in stored() if row["queue"] == kind and row["peer"] != "record")
    least = AGREE.get(kind, 0.999)
    assert float(row["fate_agreement"]) >= least
    assert float(row["mark_agreement"]) >= least
    assert float(row["departure_us"]) <= 2 or kind in AGREE


def test_every_row_of_a_record_is_measured() -> None:
    rows = [row["queue"] for row in stored() if row["peer"] == "record"]
    assert rows == [case.record for case in CASES]
    assert all((queue_records.RECORDS / f"{record}.csv.gz").exists() for record in rows)
