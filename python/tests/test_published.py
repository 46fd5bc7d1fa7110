"""Published numbers of controls: the table of the documentation is that of this program."""

from __future__ import annotations

import csv
import importlib
from dataclasses import asdict
from typing import Any

import pytest

from .conftest import ROOT


@pytest.mark.parametrize("part", ["starts", "increases", "delays"])
def test_the_table_has_what_is_measured_now(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    published: Any = importlib.import_module("published")
    with published.WRITTEN.open(newline="", encoding="utf-8") as file:
        stored = list(csv.DictReader(file))
    measured = [asdict(each) for each in getattr(published, part)()]
    assert measured and all(each in stored for each in measured)


def test_no_closed_form_is_missed_by_more_than_a_tenth_without_a_reason() -> None:
    with (ROOT / "docs" / "validation" / "numbers.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    apart = {
        f"{row['control']}: {row['quantity']}": row["difference"]
        for row in rows
        if row["difference"] and not row["note"]
    }
    assert len(apart) > 40
    assert [name for name, text in apart.items() if abs(float(text.split()[0])) > 10] == []
