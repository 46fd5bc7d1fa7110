"""The paper on Advanced Slow Start: its figures and claims, and the engine of papers on a few runs."""

from __future__ import annotations

import json
import re
from functools import cache
from html import unescape
from pathlib import Path

import numpy as np
import polars
import pytest

import ackclock
from ackclock import Scenario
from ackclock.cli.errors import plain_errors
from ackclock.experiments.store import JOURNAL, TABLE
from ackclock.literature import library, notes, panels, report, reproduction
from ackclock.literature.contents import Figures
from ackclock.literature.measurement import Curves, FlowTable
from ackclock.literature.plan import Plan, plan_paper
from ackclock.metrics import spans
from ackclock.metrics.spans import time_mean
from ackclock.results import Result

from .conftest import ROOT, Cli

TINY = """\
title = "Tiny"
reference = "nobody"
labels = ["loss", "queue", "algorithm"]

[[experiment]]
file = "tiny.toml"

[[repeat]]
where = { loss = "none" }
sampling = "offset"
count = 2
spread = "60 ms"

[[repeat]]
where = { loss = "some" }
sampling = "seed"
count = 3
spans = { delivered_start = [0, 2] }

[quick]
counts = { seed = 2 }
only = { queue = ["5"] }

[figures]
sheet = ["loss"]
panel = "queue"
panel_title = "IFQ {}"
overlay = "algorithm"
overlay_title = "algorithm {}"
kinds = ["cwnd", "throughput"]
"""

TINY_SCENARIO = """\
duration = "4 s"
topology = { kind = "chain", bottleneck = { rate = "2 Mbit/s", queue = { kind = "droptail", limit = "5 packets" } } }
flow = [{ name = "tcp" }]

[sweep.loss]
none = { "topology.bottleneck.loss" = "none" }
some = { "topology.bottleneck.loss" = "5 %" }

[sweep.queue]
"5" = { "topology.bottleneck.queue.limit" = "5 packets" }
"20" = { "topology.bottleneck.queue.limit" = "20 packets" }

[sweep.algorithm]
"1" = { "flow.slow_start" = { kind = "staged", algorithm = "1" } }
"2" = { "flow.slow_start" = { kind = "staged", algorithm = "2" } }
"""

TINY_CLAIMS = """\
metrics = ["goodput_bps"]

[[claim]]
id = "two-leads"
text = "two leads"
source = "§1"
kind = "order"
axis = "algorithm"
where = { loss = "none" }
expected = [["2"], ["1"]]

[[claim]]
id = "start"
text = "the queue does not matter"
source = "§2"
kind = "equal"
axis = "queue"
where = { loss = "some" }
metrics = ["delivered_start"]
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Return a working directory with a small paper."""
    folder = tmp_path / "papers" / "tiny"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(TINY)
    (folder / "tiny.toml").write_text(TINY_SCENARIO)
    (folder / "claims.toml").write_text(TINY_CLAIMS)
    return tmp_path


def figures_of(name: str) -> Figures:
    figures = library.find(name).contents.figures
    assert figures is not None
    return figures


@cache
def ass(*, quick: bool = False) -> Plan:
    return plan_paper(library.find("ass"), quick=quick)


def test_every_figure_has_its_number_exactly_once() -> None:
    numbers = figures_of("ass").numbers
    assert sorted(numbers.values()) == list(range(4, 100))


@pytest.mark.parametrize(
    ("number", "scenario", "loss", "kind", "window", "queue"),
    [
        (4, "1", "0 %", "cwnd", "Wnd1", "5"),
        (17, "1", "0 %", "throughput", "Wnd1", "200"),
        (39, "1", "20 %", "cwnd", "Wnd2", "15"),
        (64, "2", "0 %", "throughput", "Wnd1", "100"),
        (71, "2", "0 %", "cwnd", "Wnd2", "200"),
        (99, "2", "20 %", "throughput", "Wnd2", "200"),
    ],
)
def test_figures_by_their_captions(number: int, scenario: str, loss: str, kind: str, window: str, queue: str) -> None:
    numbers = figures_of("ass").numbers
    labels = {"scenario": scenario, "loss": loss, "kind": kind, "window": window, "queue": queue}
    assert numbers[tuple(sorted(labels.items()))] == number


def test_the_panels_are_laid_out_on_sixteen_sheets() -> None:
    plan = ass()
    cells = [dict(cell[0].labels) for cell in plan.cells]
    laid = panels.sheets(figures_of("ass"), cells)
    numbered = [sheet for sheet in laid if all(number is not None for number, _ in sheet.panels)]
    assert len(numbered) == 16
    assert all(len(sheet.panels) == 6 for sheet in laid)
    assert sorted(number for sheet in numbered for number, _ in sheet.panels if number) == list(range(4, 100))
    # Without loss, its start alone, with seeds, with one stream; with halving one queue with loss, five
    # without; two with a long timer.
    assert len(plan.cells) == 4 * 96 + 16 + 40 + 16
    assert len(plan.runs) == 96 * (5 + 20) + 96 * 20 + 96 * 10 + 96 * (200 + 100) + 16 * 200 + (40 + 16) * 20


def test_claims_name_existing_things() -> None:
    claims = ass().claims
    cells = [claim for claim in claims if re.fullmatch(r"scenario\d-loss0-wnd\d-ifq\d+", claim.id)]
    assert len(cells) == 24
    assert len({tuple(claim.where.values()) for claim in cells}) == 24
    for claim in cells:
        assert claim.where["cut"] == "staged", claim.id
        named = [*(name for group in claim.expected for name in group), *claim.rest]
        assert sorted(named) == ["1", "2", "3", "4"], claim.id
        figure = int(re.findall(r"\d+$", claim.source)[0])
        labels = {label: value for label, value in claim.where.items() if label != "cut"} | {"kind": "throughput"}
        assert figures_of("ass").numbers[tuple(sorted(labels.items()))] == figure


def test_a_paper_runs_and_its_runs_are_used_again(tiny: Path, cli: Cli) -> None:
    first = cli("paper", "tiny", "--out", "o", "--jobs", "2", cwd=tiny)
    assert first.returncode == 0, first.stderr
    out = tiny / "o"
    assert first.stdout.strip().endswith("report.html")
    table = polars.read_parquet(out / "runs.parquet")
    assert len(table) == 4 * 2 + 4 * 3
    assert table.filter(polars.col("loss") == "some")["delivered_start"].null_count() == 0
    verdicts = json.loads((out / "verdicts.json").read_text())
    assert {verdict["claim"]["id"] for verdict in verdicts} == {"two-leads", "start"}
    assert json.loads((out / "manifest.json").read_text())["state"] == "complete"
    html = (out / "report.html").read_text()
    assert 'data-figure="0"' in html
    assert "two leads" in html
    assert not re.search(r"(src|href)=\"(?!data:|#)", html)
    assert "# Tiny" in (out / "report.md").read_text()

    again = cli("paper", "tiny", "--out", "o", "--jobs", "1", cwd=tiny)
    assert "0 runs in 0.0 s, 20 were stored; nothing that determines the report has changed" in again.stderr
    assert again.stdout == first.stdout
    (out / "report.html").unlink()
    again = cli("paper", "tiny", "--out", "o", "--jobs", "1", cwd=tiny)
    assert "0 runs in" in again.stderr and "20 were stored" in again.stderr
    assert (out / "report.html").read_text() == html
    assert json.loads((out / "verdicts.json").read_text()) == verdicts


def test_a_panel_draws_a_single_run_beside_the_band_of_others(tiny: Path) -> None:
    file = tiny / "papers" / "tiny" / "paper.toml"
    file.write_text(TINY + 'only = { loss = ["some"] }\nsingle = { loss = ["some", "none"] }\n')
    plan = plan_paper(library._load(file.parent))
    drawn = [run for run in plan.runs if run.curves.kinds]
    assert sum(run.labels["loss"] == "none" for run in drawn) == 4
    assert sum(run.labels["loss"] == "some" for run in drawn) == 4 * 3
    outcome, figures = reproduction.execute(plan, tiny / "o"), plan.paper.contents.figures
    assert figures is not None
    for sheet in panels.sheets(figures, [dict(cell[0].labels) for cell in plan.cells]):
        assert sheet.where == {"loss": "some"}
        shown = panels.panel_of(outcome, figures, sheet, (None, "5")).series
        for algorithm, series in zip("12", shown, strict=True):
            single, others = (outcome.lines[loss, "5", algorithm][sheet.kind] for loss in ("none", "some"))
            assert series.y.tolist() == single.y.tolist() != others.y.tolist()
            assert others.band is not None and series.low is not None and series.high is not None
            assert (series.low.tolist(), series.high.tolist()) == tuple(edge.tolist() for edge in others.band)
            note = notes.of_curves(outcome, [("some", "5", algorithm)], lines={("none", "5", algorithm)})
            assert note.endswith("line: one run; band: middle 80 % of 3 other runs.")
    assert "line: one run; band: middle 80 % of 3 other runs." in report.write(outcome, tiny / "o").html.read_text()


def test_quick_runs_less(tiny: Path, cli: Cli) -> None:
    done = cli("paper", "tiny", "--quick", cwd=tiny)
    assert done.returncode == 0, done.stderr
    quick = "Quick: 8 of 20 runs. This is a preview"
    assert done.stdout.startswith(quick)
    html = (tiny / "out" / "tiny-quick" / "report.html").read_text()
    assert html.index(quick) < html.index('id="answer"')
    assert f"**{quick}" in (tiny / "out" / "tiny-quick" / "report.md").read_text()
    note = "Simulated, on the paper's path with other seeds; line and band: median and middle 80 % of 2 runs."
    assert note in unescape(html)
    assert len(polars.read_parquet(tiny / "out" / "tiny-quick" / "runs.parquet")) == 2 * 2 + 2 * 2


def test_an_unknown_paper(cli: Cli) -> None:
    done = cli("paper", "asss")
    assert done.returncode == 2
    assert "did you mean 'ass'?" in done.stderr


def test_papers_are_found_in_the_source_tree() -> None:
    assert library.find("ass").folder == ROOT / "papers" / "ass"


def test_start_times_give_different_phases_of_the_clock() -> None:
    for quick in (True, False):
        runs = ass(quick=quick).cells[0]
        cell = [run for run in runs if run.repetition.paths == "exact"]
        starts = [
            float(re.findall(r'^start = "([\d.]+) us"', run.scenario.to_toml(), re.MULTILINE)[0])
            if run.repetition.unit
            else 0.0
            for run in cell
        ]
        assert len({round(start % 10_000, 3) for start in starts}) == len(cell) >= 3


def test_cells_of_other_queues_have_other_seeds() -> None:
    runs = [run for run in ass().runs if run.repetition.seeds == "own"]
    seeds: dict[tuple[str, ...], set[int]] = {}
    for run in runs:
        place = (run.labels["window"], run.labels["queue"])
        seeds.setdefault(place, set()).add(run.scenario.seed)
    assert len(seeds) == 12
    assert sum(map(len, seeds.values())) == len(set.union(*seeds.values())) == 12 * 200


def test_time_mean_of_a_value_that_stays() -> None:
    time, value = np.array([1.0, 2.0, 5.0]), np.array([10.0, 20.0, 40.0])
    assert time_mean(time, value, 0, 6) == pytest.approx((10 + 3 * 20 + 40) / 5)
    assert time_mean(time, value, 3, 4) == pytest.approx(20)
    assert time_mean(time, value, 0, 0.5) is None


def test_a_mean_over_a_span_has_the_bits_of_the_sum_over_all_values() -> None:
    random = np.random.default_rng(1)
    time, value = np.cumsum(random.exponential(0.1, 1000)), random.uniform(1, 99, 1000)
    for begin, end in [(0.0, 1e3), (0.0, 1.0), (40.0, 60.0), (float(time[10]), float(time[20])), (50.0, 50.01)]:
        lasts = np.diff(np.clip(np.append(time, end), begin, end))
        assert time_mean(time, value, begin, end) == np.cumsum(value * lasts)[-1] / np.cumsum(lasts)[-1]


def test_a_trace_is_read_for_its_measures_and_curves_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    trace = Result.trace
    monkeypatch.setattr(Result, "trace", lambda result, name: read.append(name) or trace(result, name))
    result = ackclock.run(Scenario(duration="1 s", record=["cwnd", "delivered"], flow=[{}]))
    windows = spans.windows({"early": (0.0, 0.5)})
    FlowTable([windows]).take(result)
    FlowTable([windows], Curves(("throughput",), 0.1)).take(result)
    assert read == ["cwnd", "cwnd", "delivered"]


def test_a_changed_paper_measures_again(tiny: Path) -> None:
    file = tiny / "papers" / "tiny" / "paper.toml"

    def run() -> tuple[int, int]:
        plan = plan_paper(library._load(file.parent))
        outcome = reproduction.execute(plan, tiny / "o")
        starts = {row.get("delivered_start") for row in outcome.rows}
        assert outcome.lines
        return outcome.reused, len(starts)

    run()
    assert run()[0] == 20
    file.write_text(TINY.replace("[0, 2]", "[0, 1]"))
    assert run()[0] == 8
    file.write_text(TINY.replace('kinds = ["cwnd", "throughput"]', 'kinds = ["cwnd"]'))
    assert run()[0] < 20


@pytest.mark.parametrize("text", ["", "{", "[]", "3\n[1]\n[1, 2]", '["a", [1]]'])
def test_unreadable_runs_run_again(tiny: Path, text: str) -> None:
    plan = plan_paper(library._load(tiny / "papers" / "tiny"))
    first = reproduction.execute(plan, tiny / "o")
    (tiny / "o" / TABLE).write_text(text)
    (tiny / "o" / JOURNAL).write_text(text)
    again = reproduction.execute(plan, tiny / "o")
    assert again.reused == 0
    assert again.rows == first.rows
    assert {cell: sorted(lines) for cell, lines in again.lines.items()} == {
        cell: sorted(lines) for cell, lines in first.lines.items()
    }


def test_quick_and_full_runs_are_not_mixed(tiny: Path, cli: Cli) -> None:
    assert cli("paper", "tiny", "--quick", "--out", "o", cwd=tiny).returncode == 0
    refused = cli("paper", "tiny", "--out", "o", cwd=tiny)
    assert refused.returncode == 2
    assert "holds the quick runs of the paper 'tiny'" in refused.stderr
    assert (tiny / "o" / "report.html").exists()
    (tiny / "papers" / "tiny").rename(tiny / "papers" / "other")
    refused = cli("paper", "other", "--quick", "--out", "o", cwd=tiny)
    assert refused.returncode == 2
    assert "choose another directory" in refused.stderr


def test_an_old_report_does_not_outlive_its_runs(tiny: Path) -> None:
    plan = plan_paper(library._load(tiny / "papers" / "tiny"))
    report.write(reproduction.execute(plan, tiny / "o"), tiny / "o")
    figures = tiny / "o" / "figures"
    written, mine = next(figures.glob("*.png")), figures / "mine.png"
    stale = figures / "stale.png"
    stale.write_bytes(written.read_bytes())
    mine.write_bytes(b"")
    reproduction.execute(plan, tiny / "o")
    assert not stale.exists() and not written.exists()
    assert mine.exists(), "a file of the user stays"
    assert not (tiny / "o" / "report.html").exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("paper.toml", 'title = "Tiny"', "", "paper.toml: title is missing"),
        ("paper.toml", 'title = "Tiny"', "title = 3", "paper.toml:1: title must be a text, not 3"),
        ("paper.toml", 'labels = ["loss"', 'labls = ["loss"', "there is no key 'labls'; did you mean 'labels'?"),
        ("paper.toml", 'labels = ["loss", "queue"', 'labels = ["loss", "queu"', "did you mean 'queu'?"),
        ("paper.toml", "[[experiment]]", "[experiment]", "experiment must be a list of tables: [[experiment]]"),
        ("paper.toml", "[figures]", "[figure]", "there is no key 'figure'; did you mean 'figures'?"),
        (
            "paper.toml",
            'sampling = "seed"',
            'sampling = "seeds"',
            "repeat 2: sampling must be one of seed, path, offset",
        ),
        ("paper.toml", "count = 3", "count = 0", "repeat 2: count must be a whole number from 1 to 10,000, not 0"),
        ("paper.toml", 'spread = "60 ms"', 'spread = "60"', "repeat 1: spread must be a time with its unit"),
        ("paper.toml", 'spread = "60 ms"', "", "repeat 1: spread is missing"),
        ("paper.toml", 'loss = "some" }', 'loss = "sme" }', "unknown loss 'sme'; did you mean 'some'?"),
        ("paper.toml", "[0, 2]", "[2, 0]", "repeat 2: spans must be a table of spans"),
        ("paper.toml", "seed = 2", "sed = 2", "quick.counts: there is no key 'sed'; did you mean 'seed'?"),
        ("paper.toml", 'queue = ["5"]', 'queue = ["6"]', "quick.only: unknown queue '6'"),
        ("paper.toml", 'kinds = ["cwnd"', 'kinds = ["cwn"', "figures: kinds must be a list of cwnd, throughput"),
        ("paper.toml", 'panel = "queue"', 'panel = "queu"', "figures.panel: unknown label 'queu'; did you mean"),
        ("paper.toml", '"IFQ {}"', '"IFQ"', "panel_title must be a text with {}"),
        ("paper.toml", 'where = { loss = "none" }', 'where = { loss = "some" }', "no [[repeat]] for none, 5, 1"),
        ("claims.toml", 'metrics = ["goodput_bps"]', 'metrics = ["goodput"]', "did you mean 'goodput_bps'?"),
        ("claims.toml", 'loss = "none"', 'loss = "non"', "claim two-leads: where: unknown loss 'non'; did you mean"),
        ("claims.toml", 'text = "two leads"', "text = \xff", "claims.toml: not a text file in UTF-8"),
        ("paper.toml", "tiny.toml", "tny.toml", "tny.toml"),
    ],
)
def test_wrong_papers_are_refused_before_they_run(
    tiny: Path, capsys: pytest.CaptureFixture[str], file: str, old: str, new: str, message: str
) -> None:
    path = tiny / "papers" / "tiny" / file
    text = path.read_text()
    assert old in text
    path.write_bytes(text.replace(old, new).encode("latin-1" if "\xff" in new else "utf-8"))
    with pytest.raises(SystemExit) as left, plain_errors():
        plan_paper(library._load(path.parent))
    assert left.value.code == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert file in printed


def test_a_broken_paper_does_not_hide_the_others(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tiny / "papers" / "broken"
    broken.mkdir()
    (broken / "paper.toml").write_text("title =")
    monkeypatch.chdir(tiny)
    assert library.find("tiny").title == "Tiny"
    with pytest.warns(UserWarning, match="paper 'broken' is skipped"):
        names = [paper.name for paper in library.papers()]
    assert {"ass", "tiny"} <= set(names)
    assert "broken" not in names
    with pytest.raises(ValueError, match=r"broken.*paper\.toml"):
        library.find("broken")
