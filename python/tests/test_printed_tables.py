"""Printed tables: their names, the places of printed numbers, arithmetic on them, and charts over any label."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import polars
import pytest

from ackclock.drawing.files import encode
from ackclock.literature import charts, library, printed, reproduction, tables
from ackclock.literature.contents import matches
from ackclock.literature.plan import plan_paper
from ackclock.metrics import flows as derived
from ackclock.running import run
from ackclock.statistics.fairness import jain_index
from ackclock.statistics.intervals import interval, one_run

from .conftest import Cli

PAPER = """\
title = "Tables"
reference = "nobody"
labels = ["study", "queue", "recovery"]
flows = "flow"

[[experiment]]
file = "two.toml"
labels = { study = "main" }

[[experiment]]
file = "two.toml"
labels = { study = "main" }
only = { recovery = ["sack"] }
relabel = { recovery = "again" }

[[repeat]]
sampling = "seed"
count = 4
derived = ["jain", "retransmitted_per_lost", "estimate"]

[[chart]]
kind = "lines"
title = "by recovery"
where = { study = "main" }
only = { recovery = ["reno", "sack"] }
x = "queue"
series = "recovery"
metric = "delivered_bytes"

[[chart]]
kind = "time"
title = "one flow of each"
where = { queue = "5" }
only = { recovery = ["reno", "sack"] }
series = "recovery"
flow = "w"
trace = "cwnd"

[[chart]]
kind = "internals"
title = "inside"
where = { queue = "5", recovery = "reno" }
flow = "w"
names = ["bwe", "bwe_max"]

[quick]
only = { queue = ["5"] }
"""

SCENARIO = """\
duration = "6 s"
topology = { kind = "dumbbell", bottleneck = { rate = "1 Mbit/s", loss = "2 %" } }
flow = [{ name = "w", loss_response = "westwood", start_jitter = "1 s" }, { name = "r", start_jitter = "1 s" }]

[sweep.queue]
"20" = { "topology.bottleneck.queue" = "20 packets" }
"5" = { "topology.bottleneck.queue" = "5 packets" }

[sweep.recovery]
reno = { "flow.recovery" = "reno" }
sack = { "flow.recovery" = "sack" }
"""

TABLES = """\
[[table]]
number = 2
title = "kB"
source = "two flows"
where = { study = "main" }
rows = "queue"
metric = "delivered_bytes"
scale = 0.001
columns = [
  { name = "w", where = { flow = "w" } },
  { name = "r", where = { flow = "r" } },
  { name = "both sent", where = {}, metric = "sent_packets", scale = 1 },
]

[table.readings]
Reno = { recovery = "reno" }
SACK = { recovery = "sack" }

[table.printed]
"5" = [200, 300.5, 1]
"20" = [400, 400, 2]

[[table.remark]]
row = "5"
column = "r"
printed = "3005"
text = "a misprint"

[[table.check]]
name = "share of w, per packet of buffer"
measure = "ratio"
of = ["w"]
to = ["w", "r"]
factor = 100
power = -1
high = 3
note = "in %"

[[table.check]]
name = "Jain"
measure = "jain"
of = ["w", "r"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a small paper with a printed table."""
    folder = tmp_path / "papers" / "two"
    folder.mkdir(parents=True)
    for name, text in (("paper.toml", PAPER), ("two.toml", SCENARIO), ("tables.toml", TABLES)):
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def outcome(folder: Path, tmp_path: Path) -> reproduction.Outcome:
    """Return the outcome of its runs."""
    return reproduction.execute(plan_paper(library._load(folder)), tmp_path / "o")


def values(outcome: reproduction.Outcome, metric: str, **labels: str) -> list[Any]:
    return [row[metric] for row in outcome.rows if matches(row, labels)]  # type: ignore[arg-type]


def test_printed_numbers_appear_next_to_measured_ones(outcome: reproduction.Outcome) -> None:
    reno, sack = tables.compare(outcome.plan.tables, outcome.rows)
    assert (reno.reading, sack.reading) == ("Reno", "SACK")
    assert [(cell.row, cell.column, cell.printed) for cell in reno.cells[:3]] == [
        ("5", "w", 200),
        ("5", "r", 300.5),
        ("5", "both sent", 1),
    ]
    kilobytes = [value * 0.001 for value in values(outcome, "delivered_bytes", queue="5", recovery="reno", flow="w")]
    assert len(kilobytes) == 4
    assert reno.cells[0].mean == interval(kilobytes, "seed")
    assert reno.cells[0].run == one_run(kilobytes, "seed")
    assert reno.cells[0].ratio == pytest.approx(sum(kilobytes) / 4 / 200)
    both = values(outcome, "sent_packets", queue="5", recovery="reno")
    assert reno.cells[2].mean is not None
    assert (reno.cells[2].mean.mean, reno.cells[2].mean.count) == (pytest.approx(sum(both) / 8), 4)
    assert reno.cells[1].remark == printed.Remark("5", "r", "a misprint", "3005")
    assert reno.cells[0].remark is None


def test_the_place_of_a_printed_number() -> None:
    sample = [9.0, 10.0, 11.0, 10.0]
    mean, one = interval(sample, "seed"), one_run(sample, "seed")
    places = [tables.Cell("5", "w", number, mean, one, None).place for number in (10.5, 11.9, 14.0)]
    assert places == ["inside", "as one run", "outside"]
    assert tables.Cell("5", "w", 1.0, None, None, None).place == "not run"
    assert tables.Cell("5", "w", 1.0, None, None, None).ratio is None


def test_checks_are_computed_of_both(outcome: reproduction.Outcome) -> None:
    reno, _ = tables.compare(outcome.plan.tables, outcome.rows)
    share, jain = reno.checked[:2]
    assert share.printed == pytest.approx(100 * 200 / 500.5 / 5)
    assert share.verdict == "contradicts"
    assert reno.checked[2].printed == pytest.approx(100 * 0.5 / 20)
    assert reno.checked[2].verdict == "fits"
    assert (jain.printed, jain.verdict) == (pytest.approx(500.5**2 / (2 * (200**2 + 300.5**2))), "")
    w, r = (values(outcome, "delivered_bytes", queue="5", recovery="reno", flow=flow) for flow in "wr")
    expected = [20 * a / (a + b) for a, b in zip(w, r, strict=True)]
    assert share.measured is not None
    assert share.measured.mean == pytest.approx(sum(expected) / 4)


def test_a_cell_may_have_another_name_in_a_table(outcome: reproduction.Outcome) -> None:
    """The label also hides the column of the same name."""
    assert set(values(outcome, "recovery")) == {"reno", "sack", "again"}
    again, sack = (values(outcome, "delivered_bytes", recovery=name) for name in ("again", "sack"))
    assert again == sack


def test_derived_measures(outcome: reproduction.Outcome) -> None:
    for hash_ in {row["hash"] for row in outcome.rows}:
        pair = [row for row in outcome.rows if row["hash"] == hash_][:2]
        a, b = (row["goodput_bps"] for row in pair)
        assert pair[0]["jain"] == pair[1]["jain"] == pytest.approx((a + b) ** 2 / (2 * (a * a + b * b)))
        for row in pair:
            if row["dropped_packets"]:
                assert row["retransmitted_per_lost"] == row["retransmitted_packets"] / row["dropped_packets"]
            assert (row["bwe_mean"] is None) == (row["flow"] == "r"), "Reno estimates nothing"
    assert jain_index([1, 1, 1]) == 1
    assert jain_index([1, 0, 0, 0]) == 0.25
    assert jain_index([0, 0]) is None
    nothing = [{"dropped_packets": 0, "retransmitted_packets": 3}]
    derived.retransmitted_per_lost(nothing, None)  # type: ignore[arg-type]
    assert nothing[0]["retransmitted_per_lost"] is None


def test_the_mean_estimate_is_over_time(outcome: reproduction.Outcome) -> None:
    planned = outcome.plan.runs[0]
    result = run(planned.scenario, record=["internals"])
    table = polars.DataFrame(result.trace("internals")).with_columns(polars.col("flow", "name").cast(polars.String))
    own = table.filter((polars.col("flow") == "w") & (polars.col("name") == "bwe"))
    times, estimates = own["time"].to_list(), own["value"].to_list()
    area = math.fsum(e * (b - a) for e, a, b in zip(estimates, times, times[1:], strict=False))
    row = next(row for row in outcome.rows if row["hash"] == planned.scenario.hash and row["flow"] == "w")
    assert row["bwe_mean"] == pytest.approx(area / (times[-1] - times[0]))
    assert row["bwe_ratio"] == pytest.approx(row["bwe_mean"] * 8000 / row["goodput_bps"])


def test_charts_over_a_label_average_the_flows(outcome: reproduction.Outcome, tmp_path: Path) -> None:
    by_recovery, time, inside = charts.pictures(outcome, tmp_path)
    assert by_recovery.columns == ["queue", "reno", "sack"]
    means = [sum(values(outcome, "delivered_bytes", queue="5", recovery="reno")[n : n + 2]) / 2 for n in (0, 2, 4, 6)]
    assert float(by_recovery.rows[0][1].split()[0].replace(",", "")) == pytest.approx(sum(means) / 4, rel=0.05)
    assert all(len(encode(chart.shown, "png")) > 5000 for chart in (time, inside))


def test_the_report_has_the_tables(folder: Path, cli: Cli) -> None:
    here = folder.parents[1]
    done = cli("paper", "two", "--quick", cwd=here)
    assert done.returncode == 0, done.stderr
    out = here / "out" / "two-quick"
    html, text = (out / "report.html").read_text(), (out / "report.md").read_text()
    assert 'id="table-2-reno"' in html
    assert "printed 3005: a misprint" in html
    assert "### Table 2: kB; Reno" in text
    assert "| 5 | r | 300.5 |" in text
    assert "| 20 | w | 400 | – |" in text, "not run in quick"
    cells = polars.read_parquet(out / "tables.parquet")
    assert cells.equals(polars.read_csv(out / "tables.csv", schema_overrides=cells.schema))
    assert len(cells) == 2 * 6
    assert polars.read_parquet(out / "checks.parquet")["verdict"].to_list() == ["contradicts", None, "fits", None] * 2


def refuse(folder: Path, file: str, change: tuple[str, str], message: str) -> None:
    """Check that a change of one of its files makes the paper invalid, with this message."""
    path, (old, new) = folder / file, change
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=re.escape(message)):
        plan_paper(library._load(folder))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('rows = "queue"', 'rows = "queu"', "table 2: rows: unknown label 'queu'; did you mean 'queue'?"),
        ('"20" = [400, 400, 2]', '"21" = [400, 400, 2]', "table 2: printed: unknown queue '21'"),
        ('"5" = [200, 300.5, 1]', '"5" = [200, 300.5]', "table 2: printed: row 5 has 2 numbers for 3 columns"),
        ('"5" = [200, 300.5, 1]', '"5" = [200, "x", 1]', "printed must be a table of lists of numbers"),
        ('{ flow = "w" }', '{ flow = "x" }', "columns w: where: unknown flow 'x'"),
        ('name = "r"', 'name = "w"', "2 columns have the name 'w'"),
        ('"sent_packets"', '"sent_packet"', "columns both sent: metric: unknown metric 'sent_packet'"),
        ('Reno = { recovery = "reno" }', 'Reno = { recovery = "tahoe" }', "readings.Reno: unknown recovery 'tahoe'"),
        ('column = "r"', 'column = "s"', "remark 1: column: unknown column 's'"),
        ('to = ["w", "r"]', 'to = ["q"]', "check share of w, per packet of buffer: unknown column 'q'"),
        ('measure = "jain"', 'measure = "jain"\npower = 1', "power belongs to checks of the measure ratio, not jain"),
        ('measure = "jain"', 'measure = "gini"', "measure must be one of ratio, jain"),
        ("scale = 0.001", "scale = 0", "scale must be a number above 0"),
        ("number = 2", "", "number is missing"),
    ],
)
def test_wrong_tables_are_refused_before_they_run(folder: Path, old: str, new: str, message: str) -> None:
    refuse(folder, "tables.toml", (old, new), message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'series = "recovery"\nm',
            'series = "recovry"\nm',
            "chart 1: series: unknown label 'recovry'; did you mean 'recovery'?",
        ),
        ('["reno", "sack"] }\nx', '["reno", "sac"] }\nx', "chart 1: only: unknown recovery 'sac'"),
        ('names = ["bwe", "bwe_max"]', "", "chart 3: names is missing"),
        (
            'names = ["bwe", "bwe_max"]',
            'names = ["bwe"]\nbin = 1',
            "bin belongs to charts of the kind time, not internals",
        ),
        ('relabel = { recovery = "again" }', 'relabel = { recoverie = "a" }', "relabel: unknown label 'recoverie'"),
    ],
)
def test_wrong_charts_and_labels_are_refused(folder: Path, old: str, new: str, message: str) -> None:
    refuse(folder, "paper.toml", (old, new), message)


def test_one_table_is_a_list_of_one(folder: Path) -> None:
    (folder / "tables.toml").write_text("[table]\nnumber = 2\n")
    with pytest.raises(ValueError, match=re.escape("table must be a list of tables: [[table]], not [table]")):
        plan_paper(library._load(folder))
