"""Plots of results over labels, and of round-trip times."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars
import pytest

import ackclock
from ackclock import curves
from ackclock.drawing.figure import MOST_BINS, binned
from ackclock.drawing.matplotlib import draw
from ackclock.experiments.labelled import samples, scale_of
from ackclock.plotting.sources import Choice, Plot, figures
from ackclock.reports import sweeps
from ackclock.statistics import ratios
from ackclock.statistics.intervals import interval

from .conftest import Cli

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


def drawn(source: Path, kind: str, y: str, x: str | None = None, by: str = "", only: str = "") -> Plot:
    choice = Choice(x=x, y=y, by=by.split(), only=only.split(";") if only else ())
    (plot,) = figures(source, [kind], choice)
    return plot


def test_points_are_means_over_seeds_with_their_intervals(stored: Path) -> None:
    results = ackclock.datasets.runs(stored)
    found = drawn(stored, "lines", "completion_time", "delay", "slow_start")
    (panel,) = found.figure.panels
    series = {each.name: each for each in panel.series}
    assert set(series) == {"standard", "staged"}
    it = series["staged"]
    assert np.asarray(it.x).tolist() == [5.0, 20.0, 100.0]
    assert it.low is not None and it.high is not None
    for x, y, low, high in zip(*map(np.asarray, (it.x, it.y, it.low, it.high)), strict=True):
        runs = [
            result.flows["completion_time"].mean()
            for result in results
            if result.manifest["labels"]["topology.bottleneck.delay"] == f"{x:g} ms"
            and result.manifest["labels"]["flow.slow_start"] == "staged"
        ]
        wanted = interval([float(run) for run in runs if isinstance(run, float)], "seed")
        assert len(runs) == 3
        assert (y, low, high) == pytest.approx((wanted.mean, wanted.low, wanted.high))
    assert panel.x.title == "topology.bottleneck.delay (ms)"
    assert any("3 of each" in note for note in found.notes)


def test_single_runs_have_no_bars_and_say_so(stored: Path) -> None:
    found = drawn(stored, "lines", "goodput_bps", "delay", "slow_start", "seed=2")
    assert all(each.low is None for each in found.figure.panels[0].series)
    assert any("single runs" in note for note in found.notes)
    assert found.figure.panels[0].y.title == "mean goodput (Mbit/s)"


def test_a_cdf_counts_flows_that_were_not_done(stored: Path) -> None:
    results = [
        result for result in ackclock.datasets.runs(stored) if result.manifest["labels"]["flow.slow_start"] == "staged"
    ]
    found = drawn(stored, "cdf", "completion_time", by="delay", only="slow_start=staged")
    table = polars.concat(
        result.flows for result in results if result.manifest["labels"]["topology.bottleneck.delay"] == "5 ms"
    )
    times = table["completion_time"]
    assert times.null_count() > 0, "the case is there"
    (line,) = [each for each in found.figure.panels[0].series if each.name == "5 ms"]
    x, y = np.asarray(line.x), np.asarray(line.y)
    assert x.tolist() == sorted(times.drop_nulls())
    assert y[-1] == pytest.approx(1 - times.null_count() / len(times))
    middle = float(x[len(x) // 2])
    assert y[np.searchsorted(x, middle, side="right") - 1] == pytest.approx(
        len(times.filter(times <= middle)) / len(times)
    )
    assert any(f"{times.null_count()} of {len(times):,} rows have no completion_time" in note for note in found.notes)


def test_boxes_are_quartiles(stored: Path) -> None:
    results = [
        result
        for result in ackclock.datasets.runs(stored)
        if result.manifest["labels"]["flow.slow_start"] == "standard"
    ]
    found = drawn(stored, "box", "completion_time", "delay", only="slow_start=standard")
    axes = draw(found.figure).axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["5 ms", "20 ms", "100 ms"]
    times = polars.concat(
        result.flows for result in results if result.manifest["labels"]["topology.bottleneck.delay"] == "5 ms"
    )["completion_time"].drop_nulls()
    box = axes.patches[0].get_path().vertices[:, 1]
    assert (min(box), max(box)) == pytest.approx(tuple(np.percentile(times, [25, 75])))
    (series,) = found.figure.panels[0].series
    assert (np.asarray(series.low)[0], np.asarray(series.high)[0]) == pytest.approx(
        tuple(np.percentile(times, [5, 95]))
    )


def test_a_heat_map_shows_means_over_two_labels(stored: Path) -> None:
    heatmap = drawn(stored, "heatmap", "goodput_bps", "delay", "slow_start").figure.panels[0].heatmap
    assert heatmap is not None
    assert (heatmap.xs, heatmap.ys) == (["5 ms", "20 ms", "100 ms"], ["staged", "standard"]), (
        "the first is at the bottom"
    )
    runs = [
        sample.mean
        for sample in samples(ackclock.datasets.runs(stored), "goodput_bps")
        if (sample.labels["topology.bottleneck.delay"], sample.labels["flow.slow_start"]) == ("20 ms", "standard")
    ]
    assert np.asarray(heatmap.values)[1][1] == pytest.approx(1e-6 * np.mean([run for run in runs if run is not None]))


def test_paired_differences_compare_runs_that_agree_in_all_else(stored: Path) -> None:
    found = drawn(stored, "paired", "completion_time", "delay", "slow_start")
    assert found.notes == ["9 pairs of runs that differ in slow_start only"]
    small, means = found.figure.panels[0].series
    runs = ackclock.datasets.runs(stored)
    values = {(*it.labels.values(),): it.mean or 0.0 for it in samples(runs, "completion_time")}
    own, base = ([values["100 ms", word, str(seed)] for seed in (1, 2, 3)] for word in ("staged", "standard"))
    wanted = ratios.ratio(own, base, "seed")
    assert means.low is not None
    assert np.asarray(means.x).tolist() == [5.0, 20.0, 100.0]
    assert (np.asarray(means.y)[2], np.asarray(means.low)[2]) == pytest.approx(
        (100 * (wanted.mean - 1), 100 * (wanted.low - 1))
    )
    pairs = [y for x, y in zip(np.asarray(small.x), np.asarray(small.y), strict=True) if x == 100.0]
    assert pairs == pytest.approx([100 * (one / two - 1) for one, two in zip(own, base, strict=True)])
    assert found.figure.panels[0].references == [0.0]
    over_all = drawn(stored, "paired", "completion_time", by="slow_start").figure.panels[0]
    assert list(over_all.x.names) == ["staged"]


def test_a_label_that_rises_by_a_factor_has_a_logarithmic_axis(tmp_path: Path) -> None:
    (tmp_path / "log.toml").write_text(
        'duration = "1 s"\n[[flow]]\n[sweep]\n'
        '"topology.bottleneck.rate" = { from = "1 Mbit/s", to = "8 Mbit/s", count = 4, scale = "log" }\n'
        '"topology.bottleneck.delay" = ["10 ms", "20 ms", "30 ms"]\n'
    )
    ackclock.sweep(ackclock.load(tmp_path / "log.toml"), tmp_path / "o")
    assert drawn(tmp_path / "o", "lines", "goodput_bps", "rate", "delay").figure.panels[0].x.log
    assert not drawn(tmp_path / "o", "lines", "goodput_bps", "delay", "rate").figure.panels[0].x.log


def test_many_points_of_a_sample_are_medians_and_bands(tmp_path: Path) -> None:
    (tmp_path / "many.toml").write_text(
        'duration = "1 s"\n[[flow]]\n[sweep]\n"flow.slow_start" = ["standard", "staged"]\n'
        '[sweep.sample]\ncount = 256\nmethod = "sobol"\n[sweep.sample.keys]\n'
        '"topology.bottleneck.rate" = { from = "1 Mbit/s", to = "50 Mbit/s", scale = "log" }\n'
        '"topology.bottleneck.delay" = { from = "1 ms", to = "100 ms" }\n'
    )
    ackclock.sweep(ackclock.load(tmp_path / "many.toml"), tmp_path / "o")
    found = drawn(tmp_path / "o", "lines", "goodput_bps", "rate", "slow_start")
    panel = found.figure.panels[0]
    assert panel.x.log and [each.style for each in panel.series] == ["line", "line"]
    assert all(len(np.asarray(each.x)) <= MOST_BINS and each.low is not None for each in panel.series)
    assert "curves are medians of the runs in bins, bands hold 80 % of them" in found.notes
    lead = sweeps.lead(tmp_path / "o")
    assert lead is not None and {each.style for each in lead.panels[0].series} == {"line"}
    (plot,) = figures(tmp_path / "o")
    assert plot.figure.title == lead.title
    html = sweeps.stored_dataset(tmp_path / "o")
    assert "What each label changes" in html
    (tmp_path / "own.html").write_text(html)
    (change,) = figures(tmp_path / "own.html", ["paired"])
    assert change.figure.panels[0].title == "slow_start against standard"
    x = np.concatenate([np.full(50, place) for place in (1.0, 10.0)])
    at, median, _, low, high = binned(x, np.tile(np.arange(50.0), 2), log=True)
    assert at[0] == 1.0 and at[-1] == pytest.approx(10.0)
    assert (low < median).all() and (median < high).all()


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
        (["--kind", "heatmap", "--only", "delay=5 ms"], "--x is needed: name the label on the axis"),
        (["--kind", "paired"], "--by is needed: name the label whose values are compared, as in --by delay"),
        (["--kind", "paired", "--by", "delay", "--by", "slow_start"], "paired differences are those of one label"),
        (["--kind", "lines", "--name", "bwe"], "--name is for curves over time"),
        (["--kind", "cdf", "--only", "delay=6 ms"], "no run has this value; known: 100 ms, 5 ms, 20 ms"),
        (["--kind", "cdf", "--x", "delay"], "the axis of a cdf is its column"),
        (["--kind", "cwnd", "--x", "delay"], "--kind cwnd is drawn over time"),
        (["--x", "delay", "--by", "slow_start", "--y", "pages.load_time"], "--y pages.load_time: no run has a value"),
    ],
)
def test_bad_input_is_one_message(cli: Cli, stored: Path, arguments: list[str], message: str) -> None:
    done = cli("plot", stored, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_writes_each_kind(cli: Cli, stored: Path, tmp_path: Path) -> None:
    done = cli("plot", stored, "--x", "delay", "--by", "slow_start", "--out", "p")
    assert done.stdout.split() == ["p/lines-goodput_bps-delay.png"], done.stderr
    done = cli("plot", stored, "--kind", "cdf", "--kind", "box", "--by", "delay", "--by", "slow_start", "--out", "p")
    assert done.stdout.split() == ["p/cdf-completion_time.png", "p/box-completion_time.png"], done.stderr
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in done.stdout.split())


def test_round_trip_times_over_time(cli: Cli, first: Path, tmp_path: Path) -> None:
    assert cli("run", first, "--record", "rtt", "--out", "o").returncode == 0
    assert cli("plot", "o").stdout.split() == ["o/rtt.png"]
    result = ackclock.open(tmp_path / "o")
    (line,) = curves.rtt_lines(result)
    trace = result.trace("rtt")
    assert list(line.y) == pytest.approx([1e3 * rtt for rtt in trace["rtt"]])
    assert line.thin is not None
    assert math.isclose(line.thin[-1], 1e3 * trace["srtt"][-1])
    assert min(line.y) == pytest.approx(1e3 * result.flows["min_rtt"][0])
    missing = cli("plot", "o", "--kind", "cwnd")
    assert missing.returncode == 2
