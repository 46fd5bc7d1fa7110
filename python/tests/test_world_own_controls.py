"""The kernel's own congestion controls in virtual time, and their counterparts here."""

from __future__ import annotations

import pytest

from ackclock.linux import Built

from .conftest import walks
from .control_walks import CONTROLS, NOTES, RANDOM, stored, walked

AGREE = 0.95
"""Least share of paths that agree, unless a note says what differs."""

LEAST = 100
"""Least number of paths of a row."""


def test_every_control_has_its_row() -> None:
    rows = {row["control"]: row for row in stored()}
    assert list(rows) == list(CONTROLS)
    for control, row in rows.items():
        assert row["note"] == NOTES.get(control, ""), "the table is out of date: python -m python.tests.control_walks"
        assert int(row["paths"]) >= LEAST
        assert float(row["agree"]) >= AGREE or row["note"], control
        assert row["pairs_agree"] == row["pairs"] or row["note"], control


@walks(3, 20)
@pytest.mark.parametrize("control", [control for control in CONTROLS if control not in NOTES])
def test_random_paths_agree(built: Built, control: str, seeds: range) -> None:
    found = walked(control, built, seeds)
    # One path of many may differ, as in the table.
    assert found.agree >= len(seeds) - 1
    # The means of a few random runs differ by more.
    assert sorted(found.apart["delivered"])[len(seeds) // 2] <= (0.05 if control in RANDOM else 0.01)
