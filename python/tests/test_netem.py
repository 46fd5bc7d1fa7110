"""Losses and delays of links agree with netem of Linux."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def effects() -> ModuleType:
    spec = importlib.util.spec_from_file_location("effects", DOCS / "effects.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules["effects"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_netems_figures_are_within_those_of_20_seeds(effects: ModuleType) -> None:
    rows = effects.compared()
    assert len(rows) == 4 * 2 + 4 * 7 + 3 + 2 + 2
    for row in rows:
        # The record is one draw more; of a full slot, no figure varies. In Linux, correlated delays are not.
        if row.effect != "correlated" or row.quantity == "mean (ms)":
            assert abs(row.difference) <= 4 * row.deviation + 0.001 * abs(row.theirs), row
    found = {row.quantity: row for row in rows if row.effect == "correlated"}["correlation with the packet before"]
    assert abs(found.theirs) < 0.05 and abs(found.ours - 0.25) < 0.02
    with effects.WRITTEN.open(encoding="utf-8") as file:
        assert list(csv.reader(file)) == [list(effects.COLUMNS), *effects.written(rows)], "python docs/effects.py"
