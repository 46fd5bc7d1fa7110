"""Papers that evaluate models: cells, rows and charts, and the paper on Return Back to Threshold."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import polars
import pytest

from ackclock import model
from ackclock.literature import charts, contents, library, modelruns, reproduction
from ackclock.literature.plan import Plan, plan_paper
from ackclock.literature.tables import compare, shown
from ackclock.literature.verdicts import judge

from .conftest import Cli

PAPER = """\
title = "Models"
reference = "nobody"
labels = ["source", "loss", "response"]

[[model]]
name = "rbt"
labels = { source = "theory", response = "standard" }
columns = { thr_bps = "throughput" }
sweep = { loss = ["1 %", "10 %"] }

[[model]]
name = "rounds"
labels = { source = "model" }
parameters = { rounds = 5000 }
columns = { thr_bps = "window_rate" }
sweep.loss = ["1 %", "10 %"]
sweep.response.standard = { response = "restart" }
sweep.response.RBT = { response = "threshold" }

[[repeat]]
sampling = "seed"
count = 5

[quick]
counts = { seed = 2 }
only = { loss = ["10 %"] }

[[chart]]
kind = "lines"
figure = 6
title = "both"
where = { response = "standard" }
x = "loss"
series = "source"
metric = "thr_bps"

[[chart]]
kind = "lines"
title = "gain"
where = { source = "model" }
x = "loss"
series = "source"
metric = "thr_bps"
ratio = { response = ["RBT", "standard"] }

[[chart]]
kind = "rounds"
title = "trace"
where = { source = "model", loss = "10 %", response = "RBT" }
traces = ["cwnd", "acked"]
"""

CLAIMS = """\
metrics = ["thr_bps"]

[[claim]]
id = "match"
text = "they match"
source = "§1"
kind = "order"
axis = "source"
where = { response = "standard" }
expected = [["theory", "model"]]

[[claim]]
id = "gain"
text = "it gains"
source = "not in the paper"
kind = "bound"
axis = "response"
where = { source = "model" }
of = "RBT"
to = "standard"
low = 1.0
ours = true
"""

SCENARIO = """\
duration = "1 s"
flow = [{ name = "tcp" }]

[sweep.loss]
"1 %" = { "topology.bottleneck.loss" = "1 %" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a working directory with a small paper of models."""
    folder = tmp_path / "papers" / "models"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(PAPER)
    (folder / "claims.toml").write_text(CLAIMS)
    return tmp_path


@pytest.fixture
def outcome(folder: Path) -> reproduction.Outcome:
    """Return the outcome of its models."""
    return reproduction.execute(plan_paper(library._load(folder / "papers" / "models")), folder / "o")


def test_rows_hold_the_outputs_of_the_models(outcome: reproduction.Outcome) -> None:
    assert (len(outcome.plan.runs), outcome.plan.evaluations) == (0, 2 + 2 * 2 * 5)
    theory = [row for row in outcome.rows if row["source"] == "theory"]
    assert [(row["sampling"], row["loss"], row["thr_bps"]) for row in theory] == [
        ("exact", loss, model.rbt(loss=loss).throughput) for loss in ("1 %", "10 %")
    ]
    expected = model.rounds(loss="10 %", seed=list(range(1, 6)), rounds=5000, response="threshold")
    rows = [row for row in outcome.rows if (row["loss"], row["response"]) == ("10 %", "RBT")]
    assert [row["unit"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["thr_bps"] for row in rows] == expected["window_rate"].to_list()
    assert [row["lost"] for row in rows] == expected["lost"].to_list()
    assert theory[1]["gain"] is None, "not defined at 10 %"


def test_a_formula_is_compared_with_every_seed(outcome: reproduction.Outcome) -> None:
    match, gain = (
        judge(claim, "thr_bps", outcome.rows, outcome.plan.paper.all_labels) for claim in outcome.plan.claims
    )
    assert match.sampling == "seed"
    assert match.verdict == "does not hold"
    one = next(item for item in match.comparisons if item.where == {"loss": "10 %"})
    seen = [row["thr_bps"] for row in outcome.rows if matches(row, source="model", loss="10 %", response="standard")]
    theory, mean = model.rbt(loss="10 %").throughput, sum(seen) / 5
    assert one.difference is not None
    assert one.difference.mean == pytest.approx((theory - mean) / max(theory, mean))
    assert one.difference.count == 5
    assert gain.verdict == "holds"


def matches(row: Any, **where: str) -> bool:
    return contents.matches(row, where)


def test_formulas_alone_are_judged_exactly(outcome: reproduction.Outcome) -> None:
    paper, rows = outcome.plan.paper, [row for row in outcome.rows if row["source"] == "theory"]
    claim = outcome.plan.claims[1].__class__(
        "c", "bound", "source", {"loss": "1 %"}, metrics=("gain",), of="theory", low=1.2598, high=1.26
    )
    result = judge(claim, "gain", rows, paper.all_labels)
    assert (result.verdict, result.sampling) == ("holds", "exact")


def test_charts_draw_formulas_ratios_and_rounds(outcome: reproduction.Outcome, tmp_path: Path) -> None:
    both, gain, trace = charts.pictures(outcome, tmp_path)
    assert both.columns == ["loss", "theory", "model"]
    assert both.rows[1][1].startswith("1,526,431"), "eq. 5 at 10 %, in bit/s"
    rates = {
        response: [
            row["thr_bps"] for row in outcome.rows if matches(row, loss="1 %", response=response, source="model")
        ]
        for response in ("RBT", "standard")
    }
    ratio = sum(rates["RBT"]) / sum(rates["standard"])
    assert float(gain.rows[0][1].split()[0]) == pytest.approx(ratio, rel=0.01)
    assert trace.rows == []
    lines = outcome.lines["model", "10 %", "RBT"]
    assert sorted(lines) == ["rounds/acked", "rounds/cwnd"]
    assert [len(line.x) for line in lines.values()] == [5000, 5000]
    wanted = model.rounds_trace(loss="10 %", seed=1, rounds=5000, response="threshold")
    assert lines["rounds/cwnd"].y.tolist() == wanted["cwnd"].to_list()


def test_the_report_counts_evaluations_and_our_own_claims_separately(folder: Path, cli: Cli) -> None:
    done = cli("paper", "models", "--quick", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "0 runs and 5 evaluations of models" in done.stderr
    text = (folder / "out" / "models-quick" / "report.md").read_text()
    assert "0 runs and 5 evaluations of models" in text
    assert "- **thr bps, beyond the paper**:" in text
    manifest = json.loads((folder / "out" / "models-quick" / "manifest.json").read_text())
    assert (manifest["runs"], manifest["evaluations"]) == (0, 5)
    table = polars.read_parquet(folder / "out" / "models-quick" / "runs.parquet")
    assert table["thr_bps"].null_count() == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "rounds"', 'name = "round"', "model round: there is no model 'round'; did you mean 'rounds'?"),
        ("rounds = 5000", "round = 5000", "unknown parameter 'round'; did you mean 'rounds'?"),
        ("rounds = 5000", "seed = 2", "seed is set by [[repeat]]"),
        ("rounds = 5000", "rounds = [2]", "parameters must be a table of values"),
        ('"window_rate" }', '"window_rat" }', "columns: unknown output 'window_rat'; did you mean 'window_rate'?"),
        ('["1 %", "10 %"] }', '["1 m", "10 %"] }', "model rbt: rbt: loss:"),
        ('labels = { source = "model" }', "labels = {}", "unknown label 'source'"),
        ('source = "model" }\np', 'source = "theory" }\np', "another experiment has the cell theory, 1 %, standard"),
        (
            'sampling = "seed"',
            'sampling = "offset"\nspread = "1 s"',
            "a model is repeated over seeds, not paths or start times",
        ),
        ('traces = ["cwnd"', 'traces = ["cwn"', "chart 3: traces: unknown trace 'cwn'; did you mean 'cwnd'?"),
        (
            'ratio = { response = ["RBT"',
            'ratio = { response = ["RB"',
            "ratio: unknown response 'RB'; did you mean 'RBT'?",
        ),
        (
            'ratio = { response = ["RBT", "standard"] }',
            'ratio = { response = "RBT" }',
            "ratio must be a label with two",
        ),
        ('series = "source"\nmetric = "thr_bps"\n\n', 'metric = "thr_bps"\n\n', "flows must name their label"),
        ('metric = "thr_bps"', 'metric = "thr_bp"', "did you mean 'thr_bps'?"),
    ],
)
def test_wrong_models_are_refused(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "papers" / "models" / "paper.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=re.escape(message)):
        plan_paper(library._load(path.parent))


def test_a_scenario_and_a_model_do_not_share_a_cell(folder: Path) -> None:
    place = folder / "papers" / "models"
    (place / "s.toml").write_text(SCENARIO)
    both = '[[experiment]]\nfile = "s.toml"\nlabels = { source = "theory", response = "standard" }\n\n[[repeat]]'
    (place / "paper.toml").write_text(PAPER.replace("[[repeat]]", both, 1))
    with pytest.raises(ValueError, match="a scenario and a model have the cell theory, 1 %, standard"):
        plan_paper(library._load(place))


def test_a_model_without_chance_is_evaluated_once_and_is_certain(folder: Path) -> None:
    place = folder / "papers" / "models"
    (place / "paper.toml").write_text(PAPER.replace("rounds = 5000", 'rounds = 5000, losses = "periodic"'))
    outcome = reproduction.execute(plan_paper(library._load(place)), folder / "o")
    rows = [row for row in outcome.rows if row["source"] == "model"]
    assert [(row["sampling"], row["unit"]) for row in rows] == [("exact", 0)] * 4
    found = {
        claim.id: judge(claim, "thr_bps", outcome.rows, outcome.plan.paper.labels) for claim in outcome.plan.claims
    }
    assert found["gain"].verdict == "holds", "one evaluation decides"
    assert outcome.lines["model", "10 %", "RBT"]["rounds/cwnd"], "and is drawn"


def test_equation_5_agrees_without_its_causes(rbt: Plan) -> None:
    rows = evaluated(rbt, study="paper", loss="1 %")
    names = [
        "program-over-equation-5",
        "long-run-over-equation-5",
        "fixed-intervals-over-equation-5",
        "equation-5-agrees",
    ]
    claims = {claim.id: claim for claim in rbt.claims}
    found = [judge(claims[name], "thr_bps", rows, rbt.paper.all_labels) for name in names]
    assert [each.verdict for each in found] == ["holds"] * 4
    ratios = [each.comparisons[0].difference.mean for each in found]  # type: ignore[union-attr]
    assert ratios == sorted(ratios, reverse=True), "each step is nearer to the equation"


def test_a_paper_needs_an_experiment_or_a_model(folder: Path) -> None:
    path = folder / "papers" / "models" / "paper.toml"
    path.write_text('title = "T"\nreference = "r"\nlabels = ["loss"]\n')
    with pytest.raises(ValueError, match=re.escape("neither an [[experiment]] nor a [[model]]")):
        library._load(path.parent)


@pytest.fixture(scope="module")
def rbt() -> Plan:
    """Return the paper on Return Back to Threshold."""
    return plan_paper(library.find("rbt"))


def evaluated(plan: Plan, **labels: str) -> list[dict[str, Any]]:
    chosen = [planned for planned in plan.models if matches(planned.point.labels, **labels)]
    return [row for planned in chosen for row in modelruns.evaluate(planned, plan.paper.contents.flows)[0]]


def test_rbt_has_the_papers_figures_and_its_own_question(rbt: Plan) -> None:
    figures = [chart.figure for chart in rbt.paper.contents.charts if chart.figure is not None]
    assert sorted(figures) == [2, 4, 5, 6, 7, 8, 9, 10]
    ours = [claim for claim in rbt.claims if claim.ours]
    assert ours
    assert all((claim.source == "not in the paper") == claim.ours for claim in rbt.claims)
    studies = {run.labels["study"] for run in rbt.runs}
    assert studies == {"path", "chain", "dumbbell", "pair", "like"}
    per_cell = {cell[0].cell: len(cell) for cell in rbt.cells}
    assert min(per_cell.values()) >= 20
    for recovery in ("tahoe", "reno", "newreno", "sack"):
        terms = {"half", "half less 1/w"} if recovery == "sack" else set()
        assert {run.labels["response"] for run in rbt.runs if run.labels["recovery"] == recovery} - terms == {
            "standard",
            "RBT",
            "RBT from 1",
            "RBT kept",
            "caption",
            "caption from 1",
        }


def test_table_2_has_the_printed_digits_only_with_1540_bytes(rbt: Plan) -> None:
    tables = {table.reading: table for table in compare(rbt.tables, evaluated(rbt, study="table 2"))}
    assert [cell.place for cell in tables["M = 1540 B"].cells] == ["inside"] * 5
    places = {cell.column: cell.place for cell in tables["M = 1500 B"].cells}
    assert places == {"RTT": "inside", "st": "outside", "pt": "inside", "P": "outside", "ste": "outside"}


def test_the_models_claims_of_the_paper_fail_as_its_readme_says(rbt: Plan) -> None:
    rows = evaluated(rbt, study="paper")
    judged = {
        claim.id: judge(claim, claim.metrics[0], rows, rbt.paper.all_labels)
        for claim in rbt.claims
        if claim.where.get("study") == "paper"
    }
    assert judged["improves"].verdict == judged["utilisation"].verdict == "holds"
    # An increase up to 344 % is not one up to 50 %.
    assert (judged["up-to-50-kept"].verdict, judged["up-to-50-kept"].why) == ("does not hold", "apart")
    # The cause, and the model without it.
    assert judged["small-gain-halved"].verdict == judged["model-29-kept"].verdict == "holds"
    for name in ("match-cwnd", "match-arrived", "match-packets", "model-29", "model-50", "at-least-26", "up-to-50"):
        assert judged[name].verdict == "does not hold", name
    gains = [item.difference for item in judged["at-least-26"].comparisons]
    assert [f"{min(g.mean for g in gains if g):.2f}", f"{max(g.mean for g in gains if g):.2f}"] == ["1.08", "1.15"]


def test_the_table_of_figure_6_in_the_readme_is_current(rbt: Plan) -> None:
    rows = evaluated(rbt, study="paper", packets="1000")
    means: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        means.setdefault((row["loss"], row["source"], row["response"]), []).append(row["thr_bps"] / 8000)
    columns = ("theory", "theory, C = 1.22", "cwnd", "arrived cwnd", "packets")
    for loss in ("1 %", "2 %", "5 %", "10 %"):
        values = [means[loss, source, "SSCCM"] for source in columns]
        shown = [f"{sum(value) / len(value):.0f}" for value in values]
        gain = sum(means[loss, "cwnd", "RBT"]) / sum(means[loss, "cwnd", "SSCCM"])
        assert f"| {' | '.join([loss, *shown, f'{gain:.2f}'])} |" in rbt.paper.notes


def test_the_arithmetic_of_the_readme(rbt: Plan) -> None:
    """The numbers with which the README contradicts the paper, computed again; the README must contain each."""
    rtt, mss, rwnd, segment = 2 * 1000 / 1609 * 0.02, 1500, 65536, 1540
    eq5 = mss / (rtt * math.sqrt(0.01))
    vacuum, fibre = 1609 / 299_792_458, 1609 / 2e8
    slots = (rwnd - segment) / segment
    said = [
        f"{2 * 1e6 / 1609 * 0.02:.2f} s",
        f"{vacuum * 1e6:.2f} µs",
        f"{fibre * 1e6:.1f} µs",
        f"{0.02 / vacuum:.0f} times",
        f"{2 * 1e6 / 2e8 * 1e3:.0f} ms",
        f"{eq5 / 1e3:.0f} kB/s",
        f"{rwnd / rtt / 1e3:.0f} kB/s",
        f"{1550e3 / eq5:.2f} times",
        f"{(eq5 / 1550e3) ** 2:.2f} %",
        f"{45e6 / 8 * rtt:,.0f} B".replace(",", " "),
        f"{100 / slots:.1f} %",
        f"{100 * (370_000 / 300_000 - 1):.1f} %",
        f"{100 * (1 - 300_000 / 370_000):.1f} %",
        f"{100 * (240 / 180 - 1):.1f} %",
        f"{rwnd / mss**2:.3f}",
        f"{sum(range(1, 44))} packets",
        f"{mss / rtt / 1e3:.1f} kB/s",
    ]
    notes = re.sub(r"\s+", " ", rbt.paper.notes)
    assert [text for text in said if text not in notes] == []


def test_decimals_of_formulas_in_the_report_are_those_printed(rbt: Plan) -> None:
    table = compare(rbt.tables, evaluated(rbt, study="table 2"))[0]
    printed = [cell["texts"][2] for cell in shown(table)["cells"]]
    assert printed == ["0.0249", "1.0331", "2.486", "67,651", "1.0325"]
