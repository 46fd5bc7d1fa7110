"""Plots of results over labels, and of round-trip times."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars
import pytest

import ackclock
from ackclock import plot
from ackclock.drawing import results as resultplots
from ackclock.experiments.labelled import samples, scale_of
from ackclock.statistics.intervals import interval

from .conftest import Cli

pytestmark = pytest.mark.xdist_group("results")  # so that its fixture runs once

WEB = """\
duration = "6 s"
[topology.bottleneck]
loss = "1 %"
[[flow]]
name = "web"
[flow.arrivals]
kind = "poisson"
load = "40 %"
size = { kind = "pareto", mean = "30 kB", shape = 1.3 }
[sweep]
"topology.bottleneck.delay" = ["100 ms", "5 ms", "20 ms"]
"flow.slow_start" = ["standard", "staged"]
seed = { from = 1, to = 3 }
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a stored sweep over delays, slow starts and seeds."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "web.toml").write_text(WEB)
    ackclock.sweep(folder / "web.toml", folder / "o", jobs=1)
    return folder / "o"


def test_numbers_sort_as_numbers_and_words_keep_their_order() -> None:
    assert scale_of(["100 ms", "20 ms", "1 s"]).places == {"100 ms": 100.0, "20 ms": 20.0, "1 s": 1000.0}
    assert scale_of(["100 ms", "20 ms"]).unit == "ms"
    assert scale_of(["10 Mbit/s", "900 kbit/s"]).ordered == ["900 kbit/s", "10 Mbit/s"]
    assert scale_of(["1_000", "20", "3e1"]).ordered == ["20", "3e1", "1_000"]
    mixed = scale_of(["50 packets", "1 BDP"])
    assert mixed.words, "packets and bandwidth-delay products are not comparable"
    assert mixed.ordered == ["50 packets", "1 BDP"]
    assert scale_of(["10 packets", "2 packets"]).ordered == ["2 packets", "10 packets"]


def test_points_are_means_over_seeds_with_their_intervals(stored: Path) -> None:
    results = ackclock.datasets.runs(stored)
    drawn = resultplots.points(results, "delay", "completion_time", ["slow_start"])
    (axes,) = drawn.figure.axes
    lines = {container.get_label(): container for container in axes.containers}
    assert set(lines) == {"standard", "staged"}
    line, _, (bars,) = lines["staged"]
    assert list(line.get_xdata()) == [5.0, 20.0, 100.0]
    for x, y, bar in zip(line.get_xdata(), line.get_ydata(), bars.get_segments(), strict=True):
        runs = [
            result.flows["completion_time"].mean()
            for result in results
            if result.manifest["labels"]["topology.bottleneck.delay"] == f"{x:g} ms"
            and result.manifest["labels"]["flow.slow_start"] == "staged"
        ]
        wanted = interval([float(run) for run in runs if isinstance(run, float)], "seed")
        assert len(runs) == 3
        assert y == pytest.approx(wanted.mean)
        assert bar[:, 1] == pytest.approx([wanted.low, wanted.high])
    assert axes.get_xlabel() == "topology.bottleneck.delay (ms)"
    assert any("3 of each" in note for note in drawn.notes)


def test_single_runs_have_no_bars_and_say_so(stored: Path) -> None:
    one = [result for result in ackclock.datasets.runs(stored) if result.manifest["labels"]["seed"] == "2"]
    drawn = resultplots.points(one, "delay", "goodput_bps", ["slow_start"])
    assert all(not container.has_yerr for container in drawn.figure.axes[0].containers)
    assert any("single runs" in note for note in drawn.notes)


def test_a_cdf_counts_flows_that_were_not_done(stored: Path) -> None:
    results = [
        result for result in ackclock.datasets.runs(stored) if result.manifest["labels"]["flow.slow_start"] == "staged"
    ]
    drawn = resultplots.cdf(results, "completion_time", ["delay"])
    table = polars.concat(
        result.flows for result in results if result.manifest["labels"]["topology.bottleneck.delay"] == "5 ms"
    )
    times = table["completion_time"]
    assert times.null_count() > 0, "the case is there"
    (line,) = [line for line in drawn.figure.axes[0].get_lines() if line.get_label() == "5 ms"]
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert list(x) == sorted(times.drop_nulls())
    assert y[-1] == pytest.approx(1 - times.null_count() / len(times))
    middle = float(x[len(x) // 2])
    assert y[np.searchsorted(x, middle, side="right") - 1] == pytest.approx(
        len(times.filter(times <= middle)) / len(times)
    )
    assert any(f"{times.null_count()} of {len(times):,} rows have no completion_time" in note for note in drawn.notes)


def test_boxes_are_quartiles(stored: Path) -> None:
    results = [
        result
        for result in ackclock.datasets.runs(stored)
        if result.manifest["labels"]["flow.slow_start"] == "standard"
    ]
    axes = resultplots.box(results, "completion_time", "delay").figure.axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["5 ms", "20 ms", "100 ms"]
    times = polars.concat(
        result.flows for result in results if result.manifest["labels"]["topology.bottleneck.delay"] == "5 ms"
    )["completion_time"].drop_nulls()
    box = axes.patches[0].get_path().vertices[:, 1]
    assert (min(box), max(box)) == pytest.approx(tuple(np.percentile(times, [25, 75])))


def test_columns_of_links_need_a_link(stored: Path) -> None:
    results = ackclock.datasets.runs(stored)
    with pytest.raises(ValueError, match=r"name one with --link \(known: n0>n1"):
        samples(results, "sojourn_mean")
    found = samples(results, "sojourn_mean", "n1>n2")
    assert [sample.values for sample in found] == [
        result.links.filter(polars.col("name") == "n1>n2")["sojourn_mean"].to_list() for result in results
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--x", "delay"], "the runs also differ in flow.slow_start; add --by slow_start"),
        (["--x", "dealy", "--by", "slow_start"], "--x dealy: there is no label 'dealy'; did you mean 'delay'?"),
        (["--x", "delay", "--by", "slow"], "--by slow: there is no label 'slow'"),
        (["--x", "delay", "--by", "slow_start", "--y", "goodput"], "did you mean 'goodput_bps'?"),
        (["--by", "slow_start"], "--x is needed"),
        (["--kind", "cdf", "--x", "delay"], "the axis of a cdf is its column"),
        (["--kind", "cwnd", "--x", "delay"], "--kind cwnd is drawn over time"),
        (["--x", "delay", "--by", "slow_start", "--y", "pages.load_time"], "y=pages.load_time: no run has pages"),
    ],
)
def test_bad_input_is_one_message(cli: Cli, stored: Path, arguments: list[str], message: str) -> None:
    done = cli("plot", stored, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_writes_each_kind(cli: Cli, stored: Path, tmp_path: Path) -> None:
    done = cli("plot", stored, "--x", "delay", "--by", "slow_start", "--out", "p")
    assert done.stdout.split() == ["p/points-goodput_bps-delay.png"], done.stderr
    done = cli("plot", stored, "--kind", "cdf", "--kind", "box", "--by", "delay", "--by", "slow_start", "--out", "p")
    assert done.stdout.split() == ["p/cdf-completion_time.png", "p/box-completion_time.png"], done.stderr
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in done.stdout.split())


def test_round_trip_times_over_time(cli: Cli, first: Path, tmp_path: Path) -> None:
    assert cli("run", first, "--record", "rtt", "--out", "o").returncode == 0
    assert cli("plot", "o").stdout.split() == ["o/rtt.png"]
    result = ackclock.open(tmp_path / "o")
    (line,) = plot.rtt_lines(result)
    trace = result.trace("rtt")
    assert list(line.y) == pytest.approx([1e3 * rtt for rtt in trace["rtt"]])
    assert line.thin is not None
    assert math.isclose(line.thin[-1], 1e3 * trace["srtt"][-1])
    assert min(line.y) == pytest.approx(1e3 * result.flows["min_rtt"][0])
    missing = cli("plot", "o", "--kind", "cwnd")
    assert missing.returncode == 2
