"""The paper on Advanced Slow Start: its figures, its claims, and its machinery on a few runs."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars
import pytest

from ackclock import library, report, reproduction

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
    """A working directory with a small paper of its own."""
    folder = tmp_path / "papers" / "tiny"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(TINY)
    (folder / "tiny.toml").write_text(TINY_SCENARIO)
    (folder / "claims.toml").write_text(TINY_CLAIMS)
    return tmp_path


def test_every_figure_has_its_number_exactly_once() -> None:
    numbers = report.figure_numbers(library.find("ass").document)
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
    numbers = report.figure_numbers(library.find("ass").document)
    labels = {"scenario": scenario, "loss": loss, "kind": kind, "window": window, "queue": queue}
    assert numbers[tuple(sorted(labels.items()))] == number


def test_the_panels_are_laid_out_on_sixteen_sheets() -> None:
    paper = library.find("ass")
    plan = reproduction.plan(paper)
    cells = [dict(cell[0].labels) for cell in plan.cells]
    laid = report.sheets(paper.document, cells)
    numbered = [sheet for sheet in laid if all(number is not None for number, _ in sheet.panels)]
    assert len(numbered) == 16
    assert all(len(sheet.panels) == 6 for sheet in laid)
    assert sorted(number for sheet in numbered for number, _ in sheet.panels if number) == list(range(4, 100))
    assert len(plan.cells) == 192
    assert len(plan.runs) == 96 * 10 + 96 * 200


def test_claims_name_what_there_is() -> None:
    paper = library.find("ass")
    claims = reproduction.plan(paper).claims
    cells = [claim for claim in claims if re.fullmatch(r"scenario\d-loss0-wnd\d-ifq\d+", claim.id)]
    assert len(cells) == 24
    assert len({tuple(claim.where.values()) for claim in cells}) == 24
    for claim in cells:
        named = [*(name for group in claim.expected for name in group), *claim.rest]
        assert sorted(named) == ["1", "2", "3", "4"], claim.id
        figure = int(re.findall(r"\d+$", claim.source)[0])
        labels = {**claim.where, "kind": "throughput"}
        assert report.figure_numbers(paper.document)[tuple(sorted(labels.items()))] == figure


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
    assert "data:image/png;base64," in html
    assert "two leads" in html
    assert not re.search(r"(src|href)=\"(?!data:|#)", html)
    assert "# Tiny" in (out / "report.md").read_text()

    again = cli("paper", "tiny", "--out", "o", "--jobs", "1", cwd=tiny)
    assert "20 runs were there already, 0 are new" in again.stderr
    assert (out / "report.html").read_text() == html
    assert json.loads((out / "verdicts.json").read_text()) == verdicts


def test_quick_runs_less(tiny: Path, cli: Cli) -> None:
    done = cli("paper", "tiny", "--quick", cwd=tiny)
    assert done.returncode == 0, done.stderr
    assert len(polars.read_parquet(tiny / "out" / "tiny-quick" / "runs.parquet")) == 2 * 2 + 2 * 2


def test_an_unknown_paper(cli: Cli) -> None:
    done = cli("paper", "asss")
    assert done.returncode == 2
    assert "did you mean 'ass'?" in done.stderr


def test_ctrl_c_keeps_what_is_finished(tiny: Path) -> None:
    scenario = tiny / "papers" / "tiny" / "tiny.toml"
    scenario.write_text(TINY_SCENARIO.replace('"4 s"', '"400 s"').replace('"2 Mbit/s"', '"200 Mbit/s"'))
    command = [sys.executable, "-m", "ackclock", "paper", "tiny", "--out", "o", "--jobs", "1"]
    with subprocess.Popen(command, cwd=tiny, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (tiny / "o" / "parts").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    if process.returncode == 0:
        pytest.skip("the runs were faster than the interrupt")
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert not list((tiny / "o").rglob(".*-*"))


def test_papers_are_found_in_the_source_tree() -> None:
    assert library.find("ass").folder == ROOT / "papers" / "ass"
