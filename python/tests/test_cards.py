"""Cards: what notebooks show of scenarios, results, sweeps, comparisons, matrices and tunings."""

from __future__ import annotations

import pickle
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars
import pytest

import ackclock
from ackclock import Scenario
from ackclock.drawing import inline
from ackclock.drawing.figure import Axis, Figure, Panel, Series
from ackclock.drawing.inline import COLOURS
from ackclock.notebooks import Card, Charts, Source, Table

from .conftest import ROOT

HOSTILE = "<script>alert(1)</script>"
TRACES = ["cwnd", "delivered", "queue", "rtt"]


class Parsed(HTMLParser):
    """The elements and texts of a fragment; fails if an element is not closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"] and data.strip():
            self.texts.append(data.strip())


def card(shown: object) -> Parsed:
    html: str = shown._repr_html_()  # type: ignore[attr-defined]
    parsed = Parsed(html)
    assert "script" not in parsed.tags
    assert "http" not in html
    assert html.count("<style>") == 1
    return parsed


def test_a_scenario_shows_its_topology_flows_and_file() -> None:
    scenario = ackclock.load(ROOT / "scenarios" / "parking_lot.toml")
    parsed = card(scenario)
    assert parsed.texts[:2] == ["Scenario", "parking_lot"]
    assert {"60 s", "seed 1", "4 flows", f"hash {scenario.hash[:12]}"} <= set(parsed.texts)
    assert "Bottleneck r0 > r1: 10 Mbit/s, 10 ms, queue droptail (100 packets)." in parsed.texts
    assert {"long", "cross0", "standard + reno", "5 s", "Records delivered."} <= set(parsed.texts)
    assert parsed.tags.count("circle") == len({"r0", "r1", "r2", "r3"}) + 2 * len(scenario.flows)
    assert any(text.startswith('name = "parking_lot"') for text in parsed.texts)


def test_senders_are_left_of_routers_and_receivers_right() -> None:
    from ackclock.notebooks import Line, Picture

    lines = [Line(ends, "") for ends in (("s0", "r1"), ("s1", "r1"), ("r1", "r2"), ("r2", "d0"), ("d1", "r2"))]
    picture = Picture(["s0", "s1", "r1", "r2", "d0", "d1"], lines, [("s0", "d0"), ("s1", "d1")])
    assert picture.columns == {"s0": 0, "s1": 0, "r1": 1, "r2": 2, "d0": 3, "d1": 3}
    assert len(set(picture.places.values())) == 6
    pair = Picture(["a", "b"], [Line(("a", "b"), "")], [("a", "b")])
    assert pair.columns == {"a": 0, "b": 1}
    assert Picture(["a", "b"], [], []).columns == {"a": 0, "b": 0}


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_every_scenario_has_a_card(file: Path) -> None:
    scenario = ackclock.load(file)
    parsed = card(scenario)
    assert scenario.name in parsed.texts
    if scenario.core.sweep:
        assert "[sweep]" in parsed.texts


def test_names_of_files_are_text(tmp_path: Path) -> None:
    topology = {"kind": "explicit", "node": [HOSTILE, "<i>b"], "link": [{"from": HOSTILE, "to": "<i>b"}]}
    flow = [{"name": "<img src=x>", "from": HOSTILE, "to": "<i>b"}]
    topology["link"][0].update(rate="1 Mbit/s", delay="10 ms", queue="10 packets")  # type: ignore[union-attr]
    scenario = Scenario(HOSTILE, duration="2 s", topology=topology, flow=flow, record=TRACES, seed=3)
    result = ackclock.run(scenario)
    result.write(tmp_path / "run")
    swept = Scenario(HOSTILE, duration="1 s", flow=[{"name": "<img src=x>"}], sweep={"seed": [1, 2]})
    outcome = ackclock.sweep(swept, tmp_path / "<u>")
    for shown in (
        scenario,
        result,
        *ackclock.datasets.runs(tmp_path / "run"),
        swept.sweep_points(),
        outcome,
        outcome.dataset,
    ):
        parsed = card(shown)
        assert not {"script", "img", "i", "u"} & set(parsed.tags)
    assert HOSTILE in card(result).texts
    assert "<img src=x>" in card(result).texts


def test_a_result_shows_curves_flows_and_links(scenario: Scenario, tmp_path: Path) -> None:
    result = ackclock.run(scenario, record=TRACES)
    parsed = card(result)
    for title in ("throughput (Mbit/s)", "cwnd (segments)", "round-trip time (ms)", "queue (packets)"):
        assert title in parsed.texts
    (flow,) = result.summary["flows"]
    assert f"{flow['sent_packets']:,}" in parsed.texts
    assert f"hash {result.trace_hash[:12]}" in parsed.texts
    warnings = [warning["text"] for warning in result.warnings]
    assert parsed.texts.count("Warning:") == len(warnings) and set(warnings) <= set(parsed.texts)
    result.write(tmp_path / "run")
    stored = ackclock.open(tmp_path / "run")
    again = card(stored)
    assert again.tags == parsed.tags
    assert "svg" not in card(ackclock.run(scenario, record=[])).tags


def test_many_curves_are_cut_and_said_so() -> None:
    scenario = Scenario(duration="1 s", topology={"kind": "dumbbell"}, flow=[{"count": 12}])
    result = ackclock.run(scenario, record=["cwnd"])
    parsed = card(result)
    assert "Each chart shows the first 8 curves." in parsed.texts
    assert "… 2 more rows" in parsed.texts


def test_the_busiest_link_comes_first() -> None:
    scenario = Scenario(duration="2 s", topology={"kind": "dumbbell"}, flow=[{"count": 10}])
    result = ackclock.run(scenario)
    texts = card(result).texts
    assert texts[texts.index("max (s)") + 1] == scenario.bottleneck


def test_curves_are_svg_in_the_colours_of_the_page() -> None:
    series = [Series("<a>", [0.0, 1.0, 2.0], [0.0, 5.0, float("nan")], "step"), Series("b", [0.0, 4.0], [10.0, 0.0])]
    figure = Figure("", [Panel(series, x=Axis("time (s)"), y=Axis("cwnd & more"))])
    svg = inline.svg(figure, "x < y")
    assert svg == inline.svg(figure, "x < y"), "the same figure gives the same bytes"
    root = ET.fromstring(svg.replace("xlink:href", "href"))
    assert root.find("title") is not None and root.attrib["role"] == "img"
    assert {"<a>", "b", "time (s)", "cwnd & more"} <= {"".join(text.itertext()) for text in root.iter("text")}
    assert "currentColor" in svg and inline.INK not in svg
    assert svg in Card("Result", "n", blocks=[Charts(svg)]).html()
    other = inline.svg(replace(figure, panels=[Panel(series[:1])]), "")
    assert not set(re.findall(r'id="([^"]+)"', svg)) & set(re.findall(r'id="([^"]+)"', other)), "cards share a page"


def test_long_tables_and_files_are_cut() -> None:
    html = Card("Result", "n", blocks=[Table(["a"], [[i] for i in range(2000)]), Source("file", "x\n" * 300)]).html()
    texts = Parsed(html).texts
    assert "… 1,990 more rows" in texts and "… 100 more lines" in texts
    assert Table(["a"], [[1]], total=2).omitted == 1
    assert "… 1 more row" in Parsed(Card("k", "n", blocks=[Table(["a"], [[1]], total=2)]).html()).texts


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colour", COLOURS)
def test_colours_stand_out_on_white_and_on_dark(colour: str) -> None:
    own, dark = luminance(colour), luminance("#111111")
    assert (1.05) / (own + 0.05) >= 3
    assert (own + 0.05) / (dark + 0.05) >= 3


def test_a_sweep_and_its_dataset(tmp_path: Path) -> None:
    sweep = {"flow.slow_start": ["standard", "limited", "staged"], "seed": [1, 2, 3, 4]}
    scenario = Scenario("swept", duration="1 s", flow=[{}], sweep=sweep)
    points = card(scenario.sweep_points())
    assert {"12 runs", "flow.slow_start", "limited", "… 2 more rows"} <= set(points.texts)
    outcome = ackclock.sweep(scenario, tmp_path)
    parsed = card(outcome)
    assert {"swept", "complete", "12 of 12 runs", "slow_start", "… 2 more rows"} <= set(parsed.texts)
    assert "12 runs new, 0 stored before, 0 equal to others." in parsed.texts
    assert "12 of 12 runs" in card(outcome.dataset).texts


def test_failed_runs_of_a_dataset_are_named(tmp_path: Path) -> None:
    scenario = Scenario("failing", duration="1 s", flow=[{}], sweep={"seed": ["1", "wrong"]})
    parsed = card(ackclock.sweep(scenario, tmp_path).dataset)
    assert "Warning:" in parsed.texts and "error" in parsed.texts


def test_a_comparison() -> None:
    compared = ackclock.compare("reno", "cubic", paths="bufferbloat", seeds=2, duration="3 s")
    assert repr(compared) == "<Comparison of cubic against reno on bufferbloat>"
    parsed = card(compared)
    assert "cubic against reno" in parsed.texts
    assert set(compared.answer) <= set(parsed.texts)
    assert {"path", "algorithm", "verdict"} <= set(parsed.texts)


def test_a_matrix() -> None:
    crossed = ackclock.matrix(
        slow_start=["standard", "limited"], avoidance="reno", loss_response="own", recovery="sack",
        paths="bufferbloat", seeds=1, duration="2 s",
    )  # fmt: skip
    parsed = card(crossed)
    assert "2 combinations" in parsed.texts
    assert {"combinations", "limited"} <= set(parsed.texts)


TUNING = """\
scenario = "scenario.toml"

[parameters]
"flow.initial_ssthresh" = { from = "4 segments", to = "400 segments", scale = "log" }

[objective]
minimise = "completion"

[training]
seeds = [1]
"""


def test_a_tuning(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    bottleneck = 'topology = { bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = "30 packets" } }'
    (tmp_path / "scenario.toml").write_text(f'duration = "5 s"\n{bottleneck}\nflow = [{{ size = "500 packets" }}]\n')
    (tmp_path / "threshold.toml").write_text(TUNING)
    tuned = ackclock.tune(tmp_path / "threshold.toml", trials=8)
    assert repr(tuned).startswith("<Tuned 'threshold': ")
    parsed = card(tuned)
    assert tuned.answer in parsed.texts
    assert {"threshold", "parameter", "importance", "wanted"} <= set(parsed.texts)


def test_results_in_a_terminal_are_one_line(scenario: Scenario, tmp_path: Path) -> None:
    result = ackclock.run(scenario, record=["cwnd"])
    result.write(tmp_path / "run")
    stored = ackclock.open(tmp_path / "run")
    assert repr(stored) == f"<StoredResult 'short' in {str(tmp_path / 'run')!r}: traces: cwnd>"


def test_a_control_in_python_has_its_name() -> None:
    class Gentle(ackclock.CongestionControl):
        """A control."""

    assert "Gentle" in card(Scenario(duration="1 s", flow=[{"congestion_control": Gentle}])).texts


def test_a_table_shows_as_in_polars() -> None:
    result = ackclock.run(Scenario("x", duration="1 s", flow={"name": HOSTILE}), record=["cwnd"])
    for table in (result.flows, pickle.loads(pickle.dumps(result)).flows, result.trace("cwnd")):
        html = table._repr_html_()
        assert html == polars.DataFrame(table)._repr_html_()
        assert "&lt;script&gt;" in html
        assert "<script>" not in html
