"""Papers that compare the flows of a run: derived measures, charts, and the paper on exponential control."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from ackclock import _core
from ackclock.drawing.files import encode
from ackclock.literature import charts, library, reproduction
from ackclock.literature.contents import matches
from ackclock.literature.plan import plan_paper
from ackclock.metrics import flows as derived
from ackclock.results import frame, rows
from ackclock.running import run
from ackclock.scenario import Scenario

from .conftest import Cli
from .plans import shortened

ALGORITHMS = {"Tahoe", "Reno", "NewReno", "MIMD", "PIPD", "EXP"}

PAPER = """\
title = "Flows"
reference = "nobody"
labels = ["queue", "size", "study"]
flows = "algorithm"
defaults = { study = "main" }

[[experiment]]
file = "flows.toml"
only = { queue = ["5"] }

[[experiment]]
file = "flows.toml"

[[repeat]]
sampling = "seed"
count = 3
derived = ["share", "eq7"]

[[chart]]
kind = "lines"
figure = 2
title = "data"
where = { size = "500" }
x = "queue"
metric = "delivered_bytes"
axis = "kB"
scale = 1e-3

[[chart]]
kind = "bars"
title = "law"
where = {}
x = "queue"
metric = "eq7_ratio"

[[chart]]
kind = "map"
title = "ratio"
where = {}
x = "queue"
y = "size"
metric = "delivered_bytes"
flow = "a"
to = "b"
bounds = [0.5, 2]
mark = { queue = "5", size = "500" }

[[chart]]
kind = "map"
title = "first"
where = {}
x = "queue"
y = "size"
panel = "study"
metric = "rank"
equals = 1
flow = "a"

[[chart]]
kind = "time"
title = "windows"
where = { queue = "20", size = "500" }
trace = "cwnd"

[[chart]]
kind = "lines"
title = "not run in quick"
where = { queue = "20" }
x = "size"
metric = "share"

[quick]
only = { queue = ["5"] }
"""

SCENARIO = """\
duration = "6 s"
topology = { kind = "dumbbell", bottleneck = { rate = "1 Mbit/s" } }
flow = [{ name = "b", start_jitter = "1 s" }, { name = "a", start_jitter = "1 s" }]

[sweep.queue]
"20" = { "topology.bottleneck.queue" = "20 packets" }
"5" = { "topology.bottleneck.queue" = "5 packets" }

[sweep.size]
"500" = { "flow.packet_size" = "500 B" }
"1000" = { "flow.packet_size" = "1000 B" }
"""

CLAIMS = """\
metrics = ["delivered_bytes"]

[[claim]]
id = "a-leads"
text = "a leads"
source = "§1, figure 2"
kind = "order"
axis = "algorithm"
where = { study = "main" }
lead = ["a"]
rest = ["b"]
quantifier = "most"
"""


@pytest.fixture
def flows(tmp_path: Path) -> Path:
    """Return a working directory with a small paper that compares two flows."""
    folder = tmp_path / "papers" / "flows"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(PAPER)
    (folder / "flows.toml").write_text(SCENARIO)
    (folder / "claims.toml").write_text(CLAIMS)
    return tmp_path


@pytest.fixture
def outcome(flows: Path) -> reproduction.Outcome:
    """Return the outcome of its runs."""
    return reproduction.execute(plan_paper(library._load(flows / "papers" / "flows")), flows / "o")


@pytest.mark.parametrize("name", derived.DERIVATIONS)
def test_a_measure_adds_the_columns_that_it_declares_from_the_traces_that_it_declares(name: str) -> None:
    measure = derived.DERIVATIONS[name]
    flows = [{"name": "a", "size": "40 packets"}, {"name": "b", "size": "20 packets"}]
    path = {"kind": "chain", "bottleneck": {"loss": "2 %"}}
    result = run(Scenario(duration="9 s", topology=path, flow=flows), record=list(measure.traces))
    before = [{"flow": row.pop("name"), **row} for row in rows(result.flows)]
    if name == "pages":
        page = {"kind": "web", "root": "20 kB", "pages": 2}
        result = run(
            Scenario(duration="9 s", topology=path, flow=[{"name": "a", "profile": "modern", "application": page}])
        )
        before = [{"flow": row.pop("name"), **row} for row in rows(result.flows)]
    known = set(before[0])
    measure.derive(before, result)
    assert before
    for row in before:
        assert row.keys() - known == set(measure.columns)


def test_the_square_root_law_by_hand() -> None:
    # c·s/(R·√p) = 1.5·0.8165·1000/(0.1·0.1) B/s.
    assert derived.square_root_law(1000.0, 0.1, 0.01) == pytest.approx(122_474.49, rel=1e-7)
    assert pytest.approx(math.sqrt(1.5)) == derived.C


def test_equation_7_from_the_trace(outcome: reproduction.Outcome) -> None:
    planned = outcome.plan.runs[0]
    result = run(planned.scenario, record=["rtt"])
    rtt = frame(result.trace("rtt")).with_columns(polars.col("flow").cast(polars.String))
    for row in (row for row in outcome.rows if row["hash"] == planned.scenario.hash):
        mean = rtt.filter(polars.col("flow") == row["flow"])["rtt"].mean()
        loss = row["dropped_packets"] / row["sent_packets"]
        assert row["rtt_mean"] == pytest.approx(mean)
        assert row["loss_rate"] == loss > 0
        size = 8 * int(planned.labels["size"])
        assert row["eq7_bps"] == pytest.approx(math.sqrt(1.5) * size / (mean * math.sqrt(loss)))  # type: ignore[operator]
        assert row["eq7_ratio"] == pytest.approx(row["eq7_bps"] / row["goodput_bps"])


def test_without_a_loss_there_is_no_law() -> None:
    found: list[dict[str, Any]] = [
        {"flow": "a", "dropped_packets": 0, "sent_packets": 9, "delivered_packets": 9, "delivered_bytes": 9000}
    ]
    base = {"topology": {"kind": "chain"}, "flow": [{"name": "a", "size": "9 packets"}]}
    derived.eq7(found, run(Scenario(duration="3 s", **base), record=["rtt"]))
    assert found[0]["rtt_mean"] > 0
    assert (found[0]["loss_rate"], found[0]["eq7_bps"], found[0]["eq7_ratio"]) == (0, None, None)


@pytest.mark.parametrize(
    "flow",
    [
        {"profile": "modern"},
        {"profile": "modern", "modern": {"timestamps": False}},
        {"header": "0 B"},
        {"header": "40 B"},
    ],
)
def test_the_payload_of_the_law_is_without_headers(flow: dict[str, Any]) -> None:
    path = {"kind": "chain", "bottleneck": {"loss": "2 %"}}
    document = {"topology": path, "flow": [{"name": "a", "packet_size": "1200 B", **flow}]}
    result = run(Scenario(duration="20 s", **document), record=["rtt"])
    measured = [{"flow": row.pop("name"), **row} for row in frame(result.flows).to_dicts()]
    derived.eq7(measured, result)
    (row,) = measured
    law = derived.square_root_law(8 * 1200, row["rtt_mean"], row["loss_rate"])
    assert row["eq7_bps"] == pytest.approx(law)


def test_shares_and_ranks(outcome: reproduction.Outcome) -> None:
    runs: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in outcome.rows:
        assert row["algorithm"] == row["flow"]
        runs.setdefault((row["hash"],), []).append(row)
    assert len(runs) == 4 * 3
    for own in runs.values():
        assert sum(row["share"] for row in own) == pytest.approx(1)
        first, second = sorted(own, key=lambda row: -row["delivered_bytes"])
        assert first["rank"] == 1
        assert second["rank"] == (1 if first["delivered_bytes"] == second["delivered_bytes"] else 2)
        assert first["total_bps"] == second["total_bps"] == pytest.approx(first["goodput_bps"] + second["goodput_bps"])
    none = [{"delivered_bytes": 0, "goodput_bps": 0.0}]
    derived.share(none, None)  # type: ignore[arg-type]
    assert none[0]["share"] is None


def test_charts_show_the_measurements(outcome: reproduction.Outcome, tmp_path: Path) -> None:
    drawn = charts.pictures(outcome, tmp_path)
    assert [chart.name for chart in drawn] == ["figure-002", "chart-02", "chart-03", "chart-04", "chart-05", "chart-06"]
    assert all(len(encode(chart.shown, "png")) > 5000 for chart in drawn)
    data, _, ratio, first, time, _ = drawn
    assert data.chart.heading == "Figure 2: data"
    assert data.columns == ["queue", "b", "a"]
    assert [row[0] for row in data.rows] == ["5", "20"], "by number, not in the order of the file"

    def values(flow: str, column: str, queue: str, size: str) -> list[float]:
        wanted = {"algorithm": flow, "queue": queue, "size": size}
        return [float(row[column]) for row in outcome.rows if matches(row, wanted)]  # type: ignore[arg-type]

    kilobytes = sum(values("b", "delivered_bytes", "20", "500")) / 3e3
    assert float(data.rows[1][1].split()[0].replace(",", "")) == pytest.approx(kilobytes, rel=0.05)
    assert ratio.columns == ["size \\ queue", "5", "20"]
    a, b = (sum(values(flow, "delivered_bytes", "5", "1000")) for flow in "ab")
    assert float(ratio.rows[1][1]) == pytest.approx(a / b, rel=0.01), "of the means, as in verdicts"
    assert first.columns == ["study", "size \\ queue", "5", "20"]
    often = sum(rank == 1 for rank in values("a", "rank", "20", "500")) / 3
    assert float(first.rows[0][3]) == pytest.approx(often, abs=0.01)
    assert time.rows == []


def test_curves_of_all_flows_are_kept_and_read_again(outcome: reproduction.Outcome) -> None:
    lines = {cell: sorted(lines) for cell, lines in outcome.lines.items() if lines}
    assert lines == {("20", "500", "main"): ["cwnd/a", "cwnd/b"]}
    again = reproduction.execute(outcome.plan, Path(outcome.plan.paper.folder).parents[1] / "o")
    assert again.reused == len(outcome.plan.runs)
    assert {cell: sorted(lines) for cell, lines in again.lines.items() if lines} == lines
    (first,), (second,) = ([lines["cwnd/a"] for lines in those.lines.values() if lines] for those in (outcome, again))
    for one, other in ((first.x, second.x), (first.y, second.y)):
        np.testing.assert_array_equal(one, other)
    assert first.band is not None
    assert second.band is not None
    np.testing.assert_array_equal(first.band, second.band)
    seeds = [run for run in outcome.plan.runs if run.curves.kinds]
    assert len(seeds) == 3, "every seed of the drawn cell counts"


def test_the_report_has_charts_and_numbers(flows: Path, cli: Cli) -> None:
    done = cli("paper", "flows", cwd=flows)
    assert done.returncode == 0, done.stderr
    html = (flows / "out" / "flows" / "report.html").read_text()
    assert 'id="figure-002"' in html
    assert 'href="#figure-002"' in html, "the claim names the figure"
    assert "<summary>Numbers</summary>" in html
    assert 'id="start"' not in html
    assert "#### Figure 2: data" in (flows / "out" / "flows" / "report.md").read_text()
    verdict = json.loads((flows / "out" / "flows" / "verdicts.json").read_text())[0]
    assert re.search(r" in \d of 4 \(.*queue 5, size 500", verdict["reason"])
    done = cli("paper", "flows", "--quick", cwd=flows)
    assert done.returncode == 0, done.stderr
    assert "not run in quick" not in (flows / "out" / "flows-quick" / "report.md").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "bars"', 'kind = "bar"', "chart 2: kind must be one of lines, bars, map, best, front, time"),
        ('metric = "eq7_ratio"', "", "chart 2: metric is missing"),
        ('metric = "eq7_ratio"', 'metric = "eq7_rato"', "did you mean 'eq7_ratio'?"),
        (
            'metric = "eq7_ratio"',
            'metric = "eq7_ratio"\nflow = "a"',
            "flow belongs to charts of the kind map or time or internals, not bars",
        ),
        ('flow = "a"\nto = "b"', 'flow = "a"\nto = "c"', "chart 3: to: unknown algorithm 'c'"),
        ('y = "size"\nmetric', 'y = "sice"\nmetric', "chart 3: y: unknown label 'sice'; did you mean 'size'?"),
        ("bounds = [0.5, 2]", "bounds = [2, 0.5]", "bounds must be a list of two numbers, the smaller first"),
        ('size = "500" }\nx', 'size = "501" }\nx', "chart 1: where: unknown size '501'"),
        ('only = { queue = ["5"] }\n\n[[exp', 'only = { queue = ["6"] }\n\n[[exp', "only: unknown queue '6'"),
        ('only = { queue = ["5"] }\n\n[[exp', 'only = { qeue = ["5"] }\n\n[[exp', "only: unknown label 'qeue'"),
        ('flows = "algorithm"\n', "", "the chart compares flows of a run"),
        ('flows = "algorithm"', 'flows = "queue"', "flows: queue is already a label of runs"),
        (
            'derived = ["share", "eq7"]',
            'derived = ["eq8"]',
            "repeat 1: derived must be a list of share, eq7, jain, resent, retransmitted_per_lost, estimate",
        ),
        ('defaults = { study = "main" }', "", "unknown label 'study'"),
    ],
)
def test_wrong_charts_are_refused_before_they_run(flows: Path, old: str, new: str, message: str) -> None:
    path = flows / "papers" / "flows" / "paper.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=re.escape(message)):
        plan_paper(library._load(path.parent))


def test_two_experiments_may_share_a_cell_only_if_it_is_the_same(flows: Path) -> None:
    folder = flows / "papers" / "flows"
    assert len(plan_paper(library._load(folder)).cells) == 4
    (folder / "other.toml").write_text(SCENARIO.replace("6 s", "7 s"))
    text = (folder / "paper.toml").read_text()
    (folder / "paper.toml").write_text(text.replace('file = "flows.toml"', 'file = "other.toml"', 1))
    with pytest.raises(ValueError, match="another experiment has the cell 5, 500, main with another scenario"):
        plan_paper(library._load(folder))


def test_exp_has_the_papers_figures_queues_and_flows() -> None:
    plan = shortened("exp")
    assert sorted(chart.figure for chart in plan.paper.contents.charts if chart.figure is not None) == [
        1,
        *range(3, 14),
    ]
    cells = [run.labels for run in plan.runs if run.labels["study"] == "simulation"]
    per_cell = Counter(tuple(labels.values()) for labels in cells)
    assert len(per_cell) == 12 + 10 + 8, "buffers, times, and queues, each of what they share once"
    assert min(per_cell.values()) >= 3
    assert min(rule.count for rule in plan.paper.contents.repeats if rule.where.get("study") == "simulation") >= 10
    queues = {labels["queue"] for labels in cells if (labels["buffer"], labels["duration"]) == ("50", "100 s")}
    assert queues == {"DropTail", "RED", "FQ", "SFQ", "PI", "VQ", "REM", "GK", "DRR", "SRR"}
    assert {
        flow for run in plan.runs if run.labels["study"] == "simulation" for flow in run.scenario.flows
    } == ALGORITHMS
    judged = {claim.where["queue"] for claim in plan.claims if re.match(r"(exp|tahoe)-best-(?!mostly)", claim.id)}
    assert judged == queues


def test_exp_marks_the_defaults_on_its_maps() -> None:
    parts: dict[str, Any] = json.loads(_core.registry())
    part = next(part for part in parts["avoidance"] if part["name"] == "exponential")
    defaults = {param["name"]: param["default"] for param in part["params"]}
    marks: dict[str, str] = {}
    for chart in library.find("exp").contents.charts:
        marks.update(chart.mark)
    for name in ("k", "l", "alpha", "beta"):
        assert float(marks[name]) == float(defaults[name])
