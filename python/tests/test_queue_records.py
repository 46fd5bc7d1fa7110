"""Simulated queues do what queues of Linux did with the same packets."""

from __future__ import annotations

import shutil
import statistics

import pytest

from ackclock.linux import Built

from . import queue_records
from .conftest import walks
from .queue_records import CASES, Case, counts, live, measured, of_seeds, recorded, stored


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


@pytest.mark.skipif(
    shutil.which("tc", path="/usr/sbin:/sbin:/usr/bin:/bin") is None, reason="tc (iproute2) is not installed"
)
@walks(3, 60)
@pytest.mark.parametrize("kind", ["codel", "fq_codel", "cake"])
def test_a_queue_does_what_a_kernel_does(built: Built, kind: str, seeds: range) -> None:
    for seed in seeds:
        found = live(kind, seed, f"linux:{built.path.name}")
        assert found.fate_agreement >= 0.999, found
        assert found.mark_agreement >= 0.999, found
        assert found.departure_us <= 2, found


def test_every_row_of_a_record_is_measured() -> None:
    rows = [row["queue"] for row in stored() if row["peer"] == "record"]
    assert rows == [case.record for case in CASES]
    assert all((queue_records.RECORDS / f"{record}.csv.gz").exists() for record in rows)
