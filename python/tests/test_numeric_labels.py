"""Labels with units as numbers: columns to plot and filter by, logarithmic axes, and what is the same at all points."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

import ackclock
from ackclock.datasets import Dataset
from ackclock.formatting.units import twin
from ackclock.reports import sweeps
from ackclock.reports.points import MEASURES, Points, geometric

SCENARIO = """\
duration = "1 s"

[topology.bottleneck]
rate = "4 Mbit/s"
delay = "5 ms"
queue = "10 packets"

[flow]
"""
LIMIT, DELAY, RATE = "topology.bottleneck.queue.limit", "topology.bottleneck.delay", "topology.bottleneck.rate"


def stored(folder: Path, sweep: str) -> Dataset:
    file = folder / "s.toml"
    file.write_text(f"{SCENARIO}\n{sweep}")
    return ackclock.sweep(file, folder / "o", seeds=1).dataset


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Return a sweep whose rate was sampled on a logarithmic scale, with delays in two units."""
    keys = f'"{RATE}" = {{ from = "1 Mbit/s", to = "8 Mbit/s", scale = "log" }}\n'
    keys += f'"{LIMIT}" = {{ from = "0.5 BDP", to = "2 BDP" }}\n'
    sweep = f'[sweep]\n"{DELAY}" = ["500 us", "5 ms"]\n'
    sweep += f'[sweep.sample]\nmethod = "random"\ncount = 12\nseed = 1\n[sweep.sample.keys]\n{keys}'
    return stored(tmp_path_factory.mktemp("sampled"), sweep)


def test_labels_with_units_have_columns_of_numbers(sampled: Dataset) -> None:
    table = sampled.runs.collect()
    assert table[f"{LIMIT} (BDP)"].dtype == polars.Float64
    for row in table.iter_rows(named=True):
        assert row[f"{LIMIT} (BDP)"] == float(row[LIMIT].removesuffix(" BDP"))
        assert row[f"{DELAY} (us)"] == {"500 us": 500.0, "5 ms": 5000.0}[row[DELAY]]
    assert set(sampled.labels) == {RATE, LIMIT, DELAY}, "they are no labels"
    flows = sampled.flows.collect()
    assert flows[f"{LIMIT} (BDP)"].min() == table[f"{LIMIT} (BDP)"].min()


def test_sql_filters_by_the_numbers(sampled: Dataset) -> None:
    table = sampled.runs.collect()
    few = sampled.sql(f'SELECT "{LIMIT} (BDP)" AS buffer, "{DELAY} (us)" AS delay FROM runs WHERE buffer < 1')
    wanted = table.filter(polars.col(f"{LIMIT} (BDP)") < 1)
    assert 0 < few.height == wanted.height < table.height
    assert sorted(few["buffer"]) == sorted(wanted[f"{LIMIT} (BDP)"])
    assert set(few["delay"]) == {500.0, 5000.0}
    per_flow = sampled.sql(f'SELECT avg("{RATE} (Mbit/s)") AS mean FROM flows')
    assert per_flow["mean"][0] == pytest.approx(table[f"{RATE} (Mbit/s)"].mean())
    described = sampled.describe().filter(polars.col("column") == f"{LIMIT} (BDP)")
    assert set(described["meaning"]) == {f"number of the label {LIMIT}"}


def test_labels_without_a_common_unit_have_no_numbers() -> None:
    assert twin("limit", ["1 BDP", "9 packets"]) is None
    assert twin("control", ["reno", "cubic"]) is None
    assert twin("flows", ["1", "2"]) is None
    assert twin("none", []) is None


def test_a_key_sampled_on_a_logarithmic_scale_has_a_logarithmic_axis(sampled: Dataset) -> None:
    assert sweeps.sampled_log(sampled.folder) == {RATE}
    points = Points(sampled.runs.collect(), sampled.labels, {RATE})
    axes = points.axes(points.lead or MEASURES["goodput_bps"])
    assert axes is not None
    assert axes.x == RATE, "the rate decides the goodput"
    figure = sweeps._figure(points, axes, MEASURES["goodput_bps"], 1000)
    assert all(panel.x.log for panel in figure.panels)
    linear = sweeps._figure(Points(sampled.runs.collect(), sampled.labels), axes, MEASURES["goodput_bps"], 1000)
    assert not any(panel.x.log for panel in linear.panels)


def test_values_that_rise_by_a_factor_have_a_logarithmic_axis(tmp_path: Path) -> None:
    data = stored(tmp_path, f'[sweep]\n"{RATE}" = {{ from = "1 Mbit/s", to = "8 Mbit/s", count = 5, scale = "log" }}\n')
    points = Points(data.runs.collect(), data.labels)
    axes = points.axes(MEASURES["goodput_bps"])
    assert axes is not None and axes.numeric
    (panel,) = sweeps._figure(points, axes, MEASURES["goodput_bps"], 1000).panels
    assert panel.x.log
    assert not geometric(["1 s", "2 s", "4 s"]), "three values can be so by chance"
    assert not geometric(["0 s", "1 s", "2 s", "4 s"])
    assert not geometric(["reno", "cubic", "bbr", "vegas"])


def test_what_is_the_same_everywhere_is_a_sentence_and_no_chart(tmp_path: Path) -> None:
    # The receiver's window limits the flow alike, whatever the queue holds.
    sweep = f'[sweep]\n"{LIMIT}" = ["40 packets", "50 packets", "60 packets"]\n"flow.rwnd" = ["2 packets"]\n'
    data = stored(tmp_path, sweep)
    html = sweeps.stored_dataset(data.folder)
    assert "No label changes the goodput: its mean is " in html
    assert "The same at every point: " in html
    assert "timeouts 0" in html
    assert not any(f"from {value} to {value}" in html for value in data.runs.collect()["goodput_bps"].unique())
    points = Points(data.runs.collect(), data.labels)
    assert all(points.constant(points.labels, each) for each in points.measures if each.name != "sojourn_mean")
