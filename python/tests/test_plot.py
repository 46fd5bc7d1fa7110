"""Plots: every kind is drawn, labelled and written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from ackclock import Scenario, plot, run_many
from ackclock.drawing import curves
from ackclock.result import Result, frame
from tests.engine_scenarios import ALL


def drawn(lines: list[plot.Line]) -> Figure:
    figure, axes = curves.axes_of(None)
    plot.draw(axes, lines)
    curves.finish(axes, "cwnd (segments)", "", legend="outside")
    return figure


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


@pytest.mark.parametrize("kind", plot.KINDS)
@pytest.mark.parametrize("ending", plot.FORMATS)
def test_every_kind_in_every_format(results: dict[str, Result], kind: str, ending: str, tmp_path: Path) -> None:
    figure = plot.KINDS[kind].draw(results)
    assert figure.axes[-1].get_xlabel() == "time (s)"
    assert all("(" in axes.get_ylabel() for axes in figure.axes)
    legend = figure.legends[0] if figure.legends else figure.axes[0].get_legend()
    assert legend is not None
    assert any("staged" in text.get_text() for text in legend.get_texts())
    path = plot.save(figure, tmp_path / f"plot.{ending}")
    start = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF-"}[ending]
    assert path.read_bytes().startswith(start)
    assert path.stat().st_size > 5000


def test_one_result_needs_no_mapping(results: dict[str, Result]) -> None:
    assert len(plot.cwnd(results["staged"]).axes) == 1
    assert len(plot.cwnd(list(results.values())).axes) == 1


def test_panels_share_a_legend(results: dict[str, Result], tmp_path: Path) -> None:
    lines = plot.cwnd_lines(results)
    figure = plot.panels([plot.Panel(f"Figure {n}", lines, "cwnd (segments)") for n in range(4, 10)], title="sheet")
    assert len(figure.axes) == 6
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["standard", "staged"]
    assert plot.save(figure, tmp_path / "sheet.png").stat().st_size > 20_000


def test_throughput_adds_up(results: dict[str, Result]) -> None:
    for width in (0.25, 1.0):
        (line, _) = plot.throughput_lines(results, width)
        delivered = frame(results["standard"].trace("delivered"))["bytes"].max()
        assert line.y[:-1].sum() * width * 1e6 / 8 == pytest.approx(delivered)
    with pytest.raises(ValueError, match="bin"):
        plot.throughput(results, bin=0)


def test_internals_share_a_panel_by_unit(scenario: Scenario) -> None:
    parts = {"flow.slow_start": "queue_aware", "flow.avoidance": "bandwidth_ratio", "flow.count": "2"}
    (result,) = run_many([scenario.set(parts)], record=["internals"])
    figure = plot.internals(result)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "bandwidth (segments/s)",
        "delta (1)",
        "in queues (segments)",
    ]
    curves_of = [line.get_label() for line in figure.axes[0].lines]
    assert curves_of == [f"a{n}: {name}" for name in ("bwe", "bwe_avg", "bwe_max") for n in (0, 1)]
    assert figure.axes[1].get_ylim()[0] < 0, "delta goes below 0"
    chosen = plot.internals(result, names=["delta", "bwe"])
    assert [axes.get_ylabel() for axes in chosen.axes] == ["delta (1)", "bandwidth (segments/s)"]
    assert len(chosen.axes[0].lines) == 2
    with pytest.raises(ValueError, match="unknown quantity 'bw'; did you mean 'bwe'"):
        plot.internals(result, names=["bw"])


def test_internals_of_a_control_that_shows_none(scenario: Scenario) -> None:
    with pytest.raises(ValueError, match="no flow has internal quantities"):
        plot.internals(run_many([scenario], record=["internals"])[0])


def test_a_quantity_without_a_known_unit_has_a_panel_of_its_own() -> None:
    x = np.arange(3.0)
    figure = plot.internal_panels({name: [plot.Line(name, x, x)] for name in ("bwe", "seen", "bwe_avg")})
    assert [axes.get_ylabel() for axes in figure.axes] == ["bandwidth (segments/s)", "seen (1)"]


def test_unknown_format(results: dict[str, Result], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="known: png, svg, pdf"):
        plot.save(plot.cwnd(results), tmp_path / "plot.gif")


@given(st.integers(1, 4000), st.integers(1, 50))
def test_thinning_out_keeps_ends_and_extremes(count: int, bins: int) -> None:
    rng = np.random.default_rng(count)
    line = plot.Line("a", np.sort(rng.uniform(0, 9, count)), rng.normal(size=count), rng.normal(size=count))
    thin = plot.thin_out(line, bins)
    assert len(thin.x) <= max(4 * bins, len(thin.x) if count <= 4 * bins else 0)
    assert (thin.x[0], thin.x[-1]) == (line.x[0], line.x[-1])
    assert (thin.y.min(), thin.y.max()) == (line.y.min(), line.y.max())
    assert thin.thin is not None
    assert len(thin.thin) == len(thin.x)


@pytest.mark.parametrize(("count", "length"), [(12, 20), (12, 80), (12, 400), (40, 20)])
def test_long_legends_leave_room_for_the_curves(count: int, length: int, tmp_path: Path) -> None:
    x = np.linspace(0.0, 9.0, 50)
    lines = [plot.Line(f"{n} {'w ' * (length // 2)}", x, x + n) for n in range(count)]
    figure = drawn(lines)
    plot.save(figure, tmp_path / "plot.png")  # a failed layout warns, and warnings are errors
    box = figure.axes[0].get_position()
    assert box.width * figure.get_size_inches()[0] > 4
    assert box.height * figure.get_size_inches()[1] > 2.5


def test_restless_curves_are_drawn_thin() -> None:
    x = np.arange(2000.0)
    restless, calm = plot.Line("restless", x, x % 2 * 30), plot.Line("calm", x, x)
    widths = {line.get_label(): line.get_linewidth() for line in drawn([restless, calm]).axes[0].lines}
    assert widths["restless"] < widths["calm"] / 2
    alone = drawn([restless]).axes[0].lines[0]
    assert alone.get_linewidth() == widths["calm"]
