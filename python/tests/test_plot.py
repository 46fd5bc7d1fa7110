"""Figures: every kind is described, drawn, labelled and written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure as MplFigure

import ackclock
from ackclock import Scenario, curves, run_many
from ackclock.curves import Line
from ackclock.drawing import overtime, plotly
from ackclock.drawing.figure import Axis, Figure, Heatmap, Panel, Series, from_lines, with_intervals
from ackclock.drawing.files import FORMATS, encode, save
from ackclock.drawing.look import Look, length
from ackclock.drawing.matplotlib import Pen, draw
from ackclock.results import Result, frame
from ackclock.statistics.intervals import Interval
from tests.engine_scenarios import ALL

from .conftest import Cli


def drawn(lines: list[Line]) -> MplFigure:
    return draw(Figure("", [Panel(from_lines(lines), x=Axis("time (s)"), y=Axis("cwnd (segments)"))]))


@pytest.fixture
def results(scenario: Scenario) -> dict[str, Result]:
    """Return two runs with every trace that plots need, and a part with internal quantities."""
    scenario = scenario.set({"flow.loss_response": "westwood"})
    scenarios = [scenario, scenario.set({"flow.slow_start": "staged"})]
    return dict(
        zip(
            ["standard", "staged"],
            run_many(scenarios, record=ALL),
            strict=True,
        )
    )


@pytest.mark.parametrize("kind", overtime.KINDS)
@pytest.mark.parametrize("ending", FORMATS)
def test_every_kind_in_every_format(results: dict[str, Result], kind: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"plot.{ending}"
    figure = ackclock.plot(results, kind, out=path)
    assert figure.axes[-1].get_xlabel() == "time (s)"
    assert all("(" in axes.get_ylabel() for axes in figure.axes)
    (legend,) = figure.legends
    assert any("staged" in text.get_text() for text in legend.get_texts())
    start = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF-"}[ending]
    assert path.read_bytes().startswith(start)
    assert path.stat().st_size > 5000


def test_one_result_needs_no_mapping(results: dict[str, Result]) -> None:
    assert len(ackclock.plot(results["staged"], "cwnd").axes) == 1
    assert len(ackclock.plot(list(results.values()), "cwnd").axes) == 1
    assert ackclock.plot(results).axes[0].get_ylabel() == "cwnd (segments)", "the first that was recorded"


def test_recorded_curves_share_an_axis_of_time(results: dict[str, Result]) -> None:
    figure = ackclock.plot(results, "curves")
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert {"cwnd (segments)", "throughput (Mbit/s)", "queue (packets)"} <= {axes.get_ylabel() for axes in figure.axes}


def test_a_figure_is_drawn_on_axes_of_ones_own(results: dict[str, Result]) -> None:
    whole = MplFigure()
    axes = whole.subplots(1, 2)
    assert ackclock.plot(results, "cwnd", axes=axes[1]) is whole
    assert axes[1].lines and not axes[0].lines
    with pytest.raises(ValueError, match="axes show one panel, and this figure has 3"):
        ackclock.plot(results, "queues", axes=axes[0])


def test_panels_share_a_legend(results: dict[str, Result], tmp_path: Path) -> None:
    series = from_lines(curves.cwnd_lines(results), "ssthresh")
    panels = [Panel(series, title=f"Figure {n}", x=overtime.TIME, y=Axis("cwnd (segments)")) for n in range(4, 10)]
    figure = draw(Figure("sheet", panels))
    assert len(figure.axes) == 6
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["standard", "staged", "ssthresh (thin)"], "one entry for all thin lines"
    assert save(figure, tmp_path / "sheet.png").stat().st_size > 20_000


def test_throughput_adds_up(results: dict[str, Result]) -> None:
    for width in (0.25, 1.0):
        (line, _) = curves.throughput_lines(results, width)
        delivered = frame(results["standard"].trace("delivered"))["bytes"].max()
        assert line.y[:-1].sum() * width * 1e6 / 8 == pytest.approx(delivered)
    with pytest.raises(ValueError, match="bin"):
        ackclock.plot(results, "throughput", bin=0)


def test_internals_share_a_panel_by_unit(scenario: Scenario) -> None:
    parts = {"flow.slow_start": "queue_aware", "flow.avoidance": "bandwidth_ratio", "flow.count": "2"}
    (result,) = run_many([scenario.set(parts)], record=["internals"])
    figure = ackclock.plot(result, "internals")
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "bandwidth (segments/s)",
        "delta (1)",
        "in queues (segments)",
    ]
    first = overtime.internals(result).panels[0]
    assert [each.name for each in first.series] == [
        f"a{n}: {name}" for name in ("bwe", "bwe_avg", "bwe_max") for n in (0, 1)
    ]
    chosen = ackclock.plot(result, "internals", name=["delta", "bwe"])
    assert [axes.get_ylabel() for axes in chosen.axes] == ["delta (1)", "bandwidth (segments/s)"]
    assert len(chosen.axes[0].lines) == 2
    with pytest.raises(ValueError, match="unknown quantity 'bw'; did you mean 'bwe'"):
        ackclock.plot(result, "internals", name="bw")


def test_internals_of_a_control_that_shows_none(scenario: Scenario) -> None:
    with pytest.raises(ValueError, match="no flow has internal quantities"):
        ackclock.plot(run_many([scenario], record=["internals"])[0], "internals")


def test_a_quantity_without_a_known_unit_has_a_panel_of_its_own() -> None:
    x = np.arange(3.0)
    figure = overtime.internal_figure({name: [Line(name, x, x)] for name in ("bwe", "seen", "bwe_avg")})
    assert [panel.y.title for panel in figure.panels] == ["bandwidth (segments/s)", "seen (1)"]
    below = overtime.internal_figure({"delta": [Line("delta", x, x - 1)]})
    assert draw(below).axes[0].get_ylim()[0] < -1, "quantities may be negative"


def test_unknown_format(results: dict[str, Result], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="known: png, svg, pdf"):
        ackclock.plot(results, "cwnd", out=tmp_path / "plot.gif")


@given(st.integers(1, 4000), st.integers(1, 50))
def test_thinning_out_keeps_ends_and_extremes(count: int, bins: int) -> None:
    rng = np.random.default_rng(count)
    line = Line("a", np.sort(rng.uniform(0, 9, count)), rng.normal(size=count), rng.normal(size=count))
    thin = curves.thin_out(line, bins)
    assert len(thin.x) <= max(4 * bins, len(thin.x) if count <= 4 * bins else 0)
    assert (thin.x[0], thin.x[-1]) == (line.x[0], line.x[-1])
    assert (thin.y.min(), thin.y.max()) == (line.y.min(), line.y.max())
    assert thin.thin is not None
    assert len(thin.thin) == len(thin.x)


@pytest.mark.parametrize(("count", "letters"), [(12, 20), (12, 80), (12, 400), (40, 20)])
def test_long_legends_leave_room_for_the_curves(count: int, letters: int, tmp_path: Path) -> None:
    x = np.linspace(0.0, 9.0, 50)
    lines = [Line(f"{n} {'w ' * (letters // 2)}", x, x + n) for n in range(count)]
    figure = drawn(lines)
    save(figure, tmp_path / "plot.png")  # a failed layout warns, and warnings are errors
    box = figure.axes[0].get_position()
    assert box.width * figure.get_size_inches()[0] > 4
    assert box.height * figure.get_size_inches()[1] > 2.5


def test_restless_curves_are_drawn_thin() -> None:
    x = np.arange(2000.0)
    restless, calm = Line("restless", x, x % 2 * 30), Line("calm", x, x)
    first, second = (line.get_linewidth() for line in drawn([restless, calm]).axes[0].lines)
    assert first < second / 2
    assert drawn([restless]).axes[0].lines[0].get_linewidth() == second


def test_a_page_and_a_file_draw_the_same_figure() -> None:
    found = [Interval(1.25, 1.0, 1.5, 3), Interval(2.0, 1.75, 2.25, 3)]
    points = with_intervals("reno", ["a", "b"], found, "points", hollow=[True, False], texts=["x", "y"])
    small = Series("single", ["a"], [1.5], "points", faint=True, like="reno", aside="single pairs", marker="x")
    axis = Axis("place", names=["a", "b"])
    first = Panel(
        [points, small], title="one", x=axis, y=Axis("ratio"), references=[1.0], band=(0.75, 1.25), bars={"b": 2.0}
    )
    curve = Series("bbr", [0.0, 1.0, 3.0], [0.0, 5.0, np.nan], "step", [0.0, 4.0, 0.0], [1.0, 6.0, 0.0])
    second = Panel([curve], title="two", x=Axis("time (s)", log=True, limits=(1.0, 3.0)), y=Axis("cwnd", linear=10.0))
    heatmap = Heatmap(
        ["a: 1", "b: 2"], ["c"], [[0.5, np.nan]], [["½", ""]], "ratio", (0.0, 1.0), "ratio", {0.0: "0", 1.0: "1"},
        [("a: 1", "c")], [("b: 2", "c")], ": ",
    )  # fmt: skip
    figure = Figure("All", [first, second, Panel(heatmap=heatmap, title="three")], "all", rows=True)
    spec = plotly.spec(figure)
    again = plotly.figure(spec)
    assert plotly.spec(again) == spec
    assert again.names == figure.names and again.colours == figure.colours
    assert again.panels[0].limits == pytest.approx(first.limits)
    assert (again.panels[0].series[1].aside, again.panels[0].series[1].marker) == ("single pairs", "x")


def test_no_axis_is_zoomed_into_nothing() -> None:
    near = Panel([Series("a", [1.0, 2.0], [300.0, 301.0], "points")])
    assert near.limits == (0.0, pytest.approx(1.05 * 301))
    ratio = Panel([Series("a", [1.0, 2.0], [1.001, 1.002], "points")], references=[1.0])
    assert ratio.limits is not None and ratio.limits[0] < 0.95 and ratio.limits[1] > 1.05
    change = Panel([Series("a", [1.0], [0.1], "points")], references=[0.0], band=(-5.0, 5.0))
    assert change.limits is not None and change.limits[0] < -5 and change.limits[1] > 5, "the tolerance is in view"


def test_intervals_are_drawn_where_points_are() -> None:
    found = [Interval(1.0, 0.5, 1.5, 3), Interval(2.0, -np.inf, np.inf, 1)]
    panel = Panel([with_intervals("a", ["x", "y"], found, "points"), with_intervals("b", ["x"], found[:1], "points")])
    panel = Panel(panel.series, x=Axis(names=["x", "y"]))
    axes = draw(Figure("", [panel])).axes[0]
    bars = [bar.get_segments() for container in axes.containers for bar in container[2]]
    assert [[tuple(end[1] for end in bar) for bar in own] for own in bars] == [[(0.5, 1.5), (2.0, 2.0)], [(0.5, 1.5)]]
    assert bars[0][0][0][0] != bars[1][0][0][0], "intervals at one place do not hide each other"


def test_colours_markers_and_dashes_differ() -> None:
    with Look().applied():
        pens = [Pen.of(index) for index in range(12)]
    assert len({(pen.colour, pen.marker, str(pen.dashes)) for pen in pens}) == 12
    assert len({pen.colour for pen in pens[:9]}) == 9
    with Look(style="grayscale").applied():
        assert all(len(set(Pen.of(index).colour)) <= 2 or float(Pen.of(index).colour) >= 0 for index in range(3))


def test_a_narrow_figure_is_one_for_a_column_of_a_paper(results: dict[str, Result], tmp_path: Path) -> None:
    figure = ackclock.plot(results, "cwnd", width="84mm", out=tmp_path / "a.svg")
    assert figure.get_figwidth() == pytest.approx(84 / 25.4)
    assert figure.axes[0].xaxis.label.get_size() == 8
    assert not figure.get_suptitle(), "its caption has the title"
    text = (tmp_path / "a.svg").read_text()
    assert re.search(r"<text[^>]*>cwnd \(segments\)</text>", text), "text remains text"
    ackclock.plot(results, "cwnd", width=3.3, height="50 mm", font_size=7, title="Mine", out=tmp_path / "a.pdf")
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf, "fonts are embedded as TrueType"
    bigger = ackclock.plot(results, "cwnd", width=3.3, font_size=12)
    assert bigger.axes[0].xaxis.label.get_size() == 12


def test_the_same_figure_gives_the_same_bytes(results: dict[str, Result]) -> None:
    figure = overtime.cwnd(results)
    for ending in FORMATS:
        assert encode(figure, ending) == encode(figure, ending)


def test_lengths_and_looks_are_checked() -> None:
    assert length("8.4cm", "--width") == pytest.approx(length("84 mm", "--width"))
    for text in ("wide", "3.3 ft", "-1", ""):
        with pytest.raises(ValueError, match="is no length"):
            length(text, "--width")
    with pytest.raises(ValueError, match=r"--width 0\.1 in: must be from 1 to 100 in"):
        Look(width=0.1)
    with pytest.raises(ValueError, match=r"unknown style 'greyscale'; did you mean 'grayscale'"):
        Look(style="greyscale")


def test_options_of_the_look_on_the_command_line(cli: Cli, first: Path, tmp_path: Path) -> None:
    assert cli("run", first, "--record", "cwnd", "--out", "o").returncode == 0
    done = cli(
        "plot",
        "o",
        "--width",
        "3.3in",
        "--height",
        "2in",
        "--font-size",
        "7",
        "--style",
        "grayscale",
        "--format",
        "svg",
    )
    assert done.stdout.split() == ["o/cwnd.svg"], done.stderr
    assert 'width="237.6pt" height="144pt"' in (tmp_path / "o" / "cwnd.svg").read_text()
    for wrong, message in (
        (["--width", "wide"], "--width wide: is no length"),
        (["--style", "none"], "unknown style 'none'"),
        (["--font-size", "99"], "--font-size 99 points: must be from 3 to 40"),
        (["--unit", "bytes"], "--unit bytes: none of cwnd shows the length of queues"),
        (["--kind", "pie"], "unknown kind 'pie'"),
        (["--width", "1in", "--height", "1in", "--font-size", "30"], "--width, --height: 1 in x 1 in is too small"),
    ):
        done = cli("plot", "o", *wrong)
        assert (done.returncode, message in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr
