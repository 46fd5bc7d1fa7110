"""The folder papers/repaired: its table of paths, its controls, its study, and the numbers of its README."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ackclock

FOLDER = Path(__file__).resolve().parents[2] / "papers" / "repaired"
NUMBER = re.compile(r"[+−]?\d+(?:\.\d+)? \[−?\d+(?:\.\d+)?, −?\d+(?:\.\d+)?\]")


@pytest.fixture(scope="module")
def study() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        import study as made  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(FOLDER))
    assert isinstance(made, ModuleType)
    return made


def test_the_table_is_what_the_generator_draws(study: ModuleType, tmp_path: Path) -> None:
    rows = study.drawn.read()
    assert rows == study.drawn.draw()
    study.drawn.write(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (FOLDER / "paths.csv").read_bytes()
    assert all(path.traffic == "quiet" or path.rate <= study.drawn.BUSY for path in rows)
    assert {path.loss for path in rows} == set(study.drawn.LOSSES)


def test_a_quantile_is_the_published_one_and_between_two_their_geometric_mean(study: ModuleType) -> None:
    rates, _ = study.drawn.COUNTRIES["US"]
    at = study.drawn.RATE_AT
    assert [study.drawn.quantile(at, rates, u) for u in (0.01, 0.05, 0.5, 0.99, 1.0)] == pytest.approx(
        [3.1, 3.1, 121, 915, 915]
    )
    assert study.drawn.quantile(at, rates, 0.625) == pytest.approx(math.sqrt(121 * 322))


def steady(control: type, loss: str) -> list[dict[str, Any]]:
    """Return the internals of a flow at 10 Mbit/s and 40 ms from the third second on, by time."""
    bottleneck = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "1 BDP", "loss": loss}
    flow = {"host": "linux", "packet_size": "1448 B", "congestion_control": control}
    scenario = ackclock.Scenario(duration="10 s", topology={"kind": "dumbbell", "bottleneck": bottleneck}, flow=[flow])
    result = ackclock.run(scenario.set({"record": ["internals"]}))
    import polars

    return polars.DataFrame(result.trace("internals")).filter(polars.col("time") > 3).to_dicts()


@pytest.mark.parametrize("loss", ["none", "1 %"])
def test_the_estimate_is_the_rate_of_delivery(study: ModuleType, loss: str) -> None:
    """A full link carries 1448 of every 1500 bytes as data; a loss leaves the estimate as it is."""
    rows = steady(study.westwood.Westwood, loss)
    estimates = [row["value"] for row in rows if row["name"] == "bwe"]
    mean = sum(estimates) / len(estimates)
    if loss == "none":
        assert mean == pytest.approx(10e6 * 1448 / 1500, rel=0.05)
    assert 0 < max(estimates) < 10.5e6


def test_delta_is_between_minus_one_and_one(study: ModuleType) -> None:
    values = [row["value"] for row in steady(study.westwood.WestwoodRB, "1 %") if row["name"] == "delta"]
    assert values and all(-1 <= value <= 1 for value in values)
    assert min(values) < 0 < max(values)


def test_the_quick_study_runs_and_continues(study: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "QUICK", ("100 kB",))
    monkeypatch.setattr(study, "QUICK_PATHS", 1)
    found = study.run(tmp_path, quick=True)
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8")) == found
    speed = found["simulation"]["speed"]["100 kB"]["all"]
    assert set(speed) == set(study.CONTENDERS) - {"today"}
    for made in speed.values():
        mean, low, high = made["today"]
        assert low <= mean <= high
    assert found["simulation"]["paths"]["all"] == 3
    monkeypatch.setattr("ackclock.experiments.plan.Point.run", None)  # every run is stored
    assert study.run(tmp_path, quick=True) == found
    assert "faster than today (%)" in study.telling.tables(found)


def test_the_tables_of_the_readme_are_those_of_the_results(study: ModuleType) -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    found = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    assert study.stored(found) == (FOLDER / "results.json").read_text(encoding="utf-8")
    assert study.telling.BEGIN + "\n" + study.telling.tables(found) + "\n" + study.telling.END in text
    assert (FOLDER / "results.json").stat().st_size <= 50_000


def test_every_interval_of_the_prose_stands_in_a_table(study: ModuleType) -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(study.telling.BEGIN)
    tables, _, after = rest.partition(study.telling.END)
    known = set(NUMBER.findall(tables))
    said = NUMBER.findall(before + after)
    assert len(said) >= 15
    assert [each for each in said if each not in known] == []
