"""Page loads as measures, the choice of the best value, and the paper on the initial window."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ackclock.drawing.files import encode
from ackclock.literature import charts, library, reproduction
from ackclock.literature.claims import ClaimError, parse_claims
from ackclock.literature.contents import matches
from ackclock.literature.plan import Plan, plan_paper
from ackclock.literature.verdicts import Judgement, judge
from ackclock.metrics.flows import DERIVATIONS
from ackclock.results import Result, rows
from ackclock.running import run
from ackclock.scenario import Scenario

from .conftest import Cli
from .plans import shortened

WINDOWS = ["1", "2", "4", "8", "10", "16", "24", "32", "40", "48", "64", "80", "100"]
SEGMENT, RTT = 1448, 0.04


@pytest.fixture(scope="module")
def plan() -> Plan:
    return shortened("icw")


def web(window: int, **application: Any) -> Result:
    """Return pages of ten segments on a path of 40 ms, whose links are so fast that only the delay counts."""
    link = {"rate": "100 Gbit/s", "delay": "20 ms", "queue": "unlimited"}
    flow = {
        "name": "web",
        "profile": "modern",
        "packet_size": f"{SEGMENT} B",
        "initial_window": f"{window} segments",
        "application": {"kind": "web", "root": f"{10 * SEGMENT} B", **application},
    }
    return run(Scenario(duration="5 s", topology={"kind": "chain", "links": [link]}, flow=[flow]), record=["rtt"])


def derived(result: Result, *names: str) -> list[dict[str, Any]]:
    measured = [{"flow": row.pop("name"), **row} for row in rows(result.flows)]
    for name in names:
        DERIVATIONS[name].derive(measured, result)
    return measured


@pytest.mark.parametrize(("window", "rounds"), [(10, 1), (4, 2), (3, 3), (1, 4)])
def test_a_page_takes_the_handshake_and_the_rounds_of_slow_start(window: int, rounds: int) -> None:
    """Every segment is acknowledged immediately, so windows double: 1+2+4+3, 3+6+1, 4+6 segments."""
    (row,) = derived(web(window), "pages")
    assert row["load_mean"] == pytest.approx((1 + rounds) * RTT, rel=0.001)


def test_pages_are_summed_up_by_application() -> None:
    """The first page opens the connection and takes 2 RTT; the second takes 1 RTT."""
    result = web(10, pages=2)
    (row,) = derived(result, "rtt", "pages")
    assert (row["flow"], row["pages"], row["pages_unfinished"], row["connections"]) == ("web", 2, 0, 1)
    assert row["load_mean"] == pytest.approx(1.5 * RTT, rel=0.001)
    assert row["load_median"] == pytest.approx(1.5 * RTT, rel=0.001)
    assert row["load_p95"] == pytest.approx((1 + 0.95) * RTT, rel=0.001)
    assert row["page_bytes"] == 10 * SEGMENT
    assert row["page_bps"] == pytest.approx(8 * 20 * SEGMENT / (3 * RTT), rel=0.001)
    assert row["rtt_mean"] == pytest.approx(RTT, rel=0.001)


def test_connections_add_up() -> None:
    """Six objects of one segment follow the root: six connections in parallel, and all their bytes count."""
    result = web(10, objects=6, object=f"{SEGMENT} B", connections=6)
    connections = derived(result, "rtt")
    (row,) = derived(result, "rtt", "pages")
    assert row["connections"] == len(connections) == 6
    for column in ("delivered_bytes", "sent_packets", "rtt_samples", "goodput_bps"):
        assert row[column] == pytest.approx(sum(own[column] for own in connections))
    assert row["delivered_bytes"] == 16 * SEGMENT
    assert row["load_mean"] == pytest.approx(4 * RTT, rel=0.001)
    assert row["control"] == connections[0]["control"]
    assert row["start_s"] is None


def test_a_page_that_is_not_done_counts_as_unfinished() -> None:
    (row,) = derived(web(10, root="100 GB"), "pages")
    assert (row["pages"], row["pages_unfinished"]) == (1, 1)
    assert row["load_mean"] is row["page_bps"] is row["page_bytes"] is None


def test_flows_without_pages_stay() -> None:
    result = run(Scenario(duration="1 s", flow=[{"name": "bulk"}]))
    assert [row["flow"] for row in derived(result, "pages")] == ["bulk"]


VALUES = {"IW": ["2", "10", "32"]}


def best_claim(**keys: Any) -> Any:
    entry = {"id": "c", "text": "t", "source": "§", "kind": "best", "axis": "IW", "where": {}, "of": "32", **keys}
    document = {"tolerance": 0.02, "metrics": ["load"], "claim": [{"sense": "lowest", **entry}]}
    return parse_claims(document, VALUES, ["load"])[0]


def judged(means: dict[str, float], spread: float = 0.0, **keys: Any) -> Judgement:
    """Judge on five paths, on which every window varies by ±`spread`; the window of 32 in the opposite direction."""
    sample = [
        {"IW": name, "sampling": "path", "unit": unit, "load": mean + sign * spread * (-1 if name == "32" else 1)}
        for name, mean in means.items()
        for unit, sign in enumerate((1, -1, 0, 1, -1))
    ]
    return judge(best_claim(**keys), "load", sample, list(VALUES))


def test_the_best_is_the_best_within_the_tolerance() -> None:
    assert judged({"2": 2.0, "10": 1.0, "32": 1.0}).verdict == "holds"
    assert judged({"2": 2.0, "10": 0.99, "32": 1.0}).verdict == "holds"
    beaten = judged({"2": 2.0, "10": 0.9, "32": 1.0})
    assert (beaten.verdict, beaten.why) == ("does not hold", "beaten")
    assert beaten.reasons[0] == "10 is better than IW 32: +11.11 % [+11.11, +11.11]", "relative to the better one"
    assert judged({"2": 2.0, "10": 0.9, "32": 1.0}, spread=0.1).verdict == "cannot tell"


def test_the_highest_may_be_the_best() -> None:
    assert judged({"2": 1.0, "10": 1.5, "32": 2.0}, sense="highest").verdict == "holds"
    assert judged({"2": 1.0, "10": 3.0, "32": 2.0}, sense="highest").verdict == "does not hold"
    assert judged({"2": 1.0}).verdict == "not run"


def test_somewhere_is_in_one_cell_with_all_its_comparisons() -> None:
    """Each of the pairs 2 > 10 and 10 > 32 holds in one place, but no place has both."""
    places = {"a": {"2": 3.0, "10": 2.0, "32": 2.5}, "b": {"2": 2.0, "10": 2.5, "32": 1.0}}
    entry = {"id": "c", "text": "t", "source": "§", "kind": "order", "axis": "IW", "where": {}, "quantifier": "any"}
    values = {"place": ["a", "b"], **VALUES}
    document = {"metrics": ["load"], "claim": [{**entry, "expected": [["2"], ["10"], ["32"]]}]}
    (claim,) = parse_claims(document, values, ["load"])
    sample = [
        {"place": place, "IW": name, "sampling": "offset", "unit": 1, "load": mean}
        for place, means in places.items()
        for name, mean in means.items()
    ]
    refused = judge(claim, "load", sample, list(values))
    assert (refused.verdict, refused.reasons) == ("does not hold", ["does not hold in 2 of 2 (place a; place b)"])
    sample.append({"place": "c", "IW": "2", "sampling": "offset", "unit": 1, "load": 3.0})
    falling = {"10": 2.0, "32": 1.0}
    sample += [{**sample[-1], "IW": name, "load": mean} for name, mean in falling.items()]
    assert judge(claim, "load", sample, list(values)).verdict == "holds"


def test_a_claim_on_the_best_needs_its_variant_and_sense() -> None:
    with pytest.raises(ClaimError, match="sense"):
        best_claim(sense="least")
    with pytest.raises(ClaimError, match="low belongs to claims of the kind bound, not best"):
        best_claim(low=1.0)
    with pytest.raises(ClaimError, match="sense belongs to claims of the kind best, not equal"):
        entry = {"id": "c", "text": "t", "source": "§", "kind": "equal", "axis": "IW", "where": {}, "sense": "lowest"}
        parse_claims({"metrics": ["load"], "claim": [entry]}, VALUES, ["load"])


def test_the_first_of_those_as_good_as_the_best_is_chosen() -> None:
    samples = {name: [mean - 0.001, mean + 0.001] for name, mean in {"2": 2.0, "10": 1.01, "32": 1.0}.items()}
    found = charts.best(samples, "lowest", within=0.02, over="2")
    assert found is not None
    assert (found.name, found.gain) == ("10", pytest.approx(0.5, abs=1e-3))
    assert charts.best(samples, "lowest") == charts.Best("32", None)
    highest = charts.best(samples, "highest", over="32")
    assert highest is not None
    assert (highest.name, highest.gain) == ("2", pytest.approx(1.0, abs=1e-2))
    assert charts.best({}, "lowest") is None
    assert charts.best({"2": [2.0], "10": [1.0]}, "lowest", over="2") == charts.Best("10", None), (
        "one run cannot choose and tell"
    )
    assert charts.Best("10", 0.126).text(" ") == "10 +13 %"


def test_the_best_of_equal_windows_gains_nothing() -> None:
    """Uncorrected, the least of thirteen noisy means seems to save some percent of the time."""
    rng = random.Random(1)
    gains, naive = [], []
    for _ in range(300):
        samples = {str(window): [rng.gauss(1, 0.2) for _ in range(16)] for window in range(13)}
        found = charts.best(samples, "lowest", over="0")
        assert found is not None
        assert found.gain is not None
        gains.append(found.gain)
        naive.append(1 - min(sum(sample) for sample in samples.values()) / sum(samples["0"]))
    assert sum(naive) / 300 > 0.06
    assert abs(sum(gains) / 300) < 0.01


def test_values_of_several_units_stay_in_the_order_of_the_files() -> None:
    assert charts._in_order(["50 s", "100 s", "5 s"]) == ["5 s", "50 s", "100 s"]
    assert charts._in_order(["30 kB", "1 MB", "2 MB"]) == ["30 kB", "1 MB", "2 MB"]
    assert charts._in_order(["6", "1", "6 closing"]) == ["6", "1", "6 closing"]


def test_the_sweep_is_that_of_the_paper(plan: Plan) -> None:
    cells = [cell[0] for cell in plan.cells]
    loads = [cell.labels for cell in cells if cell.labels["study"] == "page"]
    assert list(dict.fromkeys(labels["IW"] for labels in loads)) == WINDOWS
    assert {labels["page"] for labels in loads} == {"30 kB", "100 kB", "320 kB", "1 MB", "2 MB"}
    assert [table.number for table in plan.tables] == [1, 2]
    assert set(plan.tables[0].printed) == {"2", "4", "8", "16", "32", "40", "48"}
    assert len(plan.tables[1].printed) == 9


def test_every_printed_number_has_runs(plan: Plan) -> None:
    cells = [cell[0].labels for cell in plan.cells]
    for known in plan.tables:
        for row in known.printed:
            for where in known.readings.values():
                for column in known.columns:
                    wanted = {**known.where, **where, known.rows: row, **column.where}
                    assert len([labels for labels in cells if matches(labels, wanted)]) == 1


def test_the_paper_s_tables_contradict_the_path(plan: Plan) -> None:
    """A page needs two round trips; an RTT of 3 ms is shorter than the 8 ms of a packet at 1.5 Mbit/s."""
    table = plan.tables[1]
    checks = {check.name.split()[0]: check for check in table.checks}
    ratios = {row: checks["latency"].value(row, table.numbers(row)) for row in table.printed}
    assert max(value for value in ratios.values() if value is not None) == 10 / 6
    fits = [row for row in table.printed if checks["RTT"].fits(checks["RTT"].value(row, table.numbers(row)) or 0)]
    assert fits == ["Windows 95", "Windows 98"]


def test_pages_are_the_same_under_every_window(plan: Plan) -> None:
    wanted = {"study": "page", "rate": "12 Mbit/s", "buffer": "50", "page": "100 kB", "connections": "6"}
    cells = [cell for cell in plan.cells if matches(cell[0].labels, wanted)]
    assert len(cells) == len(WINDOWS)
    first = [[run(planned.scenario).pages for planned in cell[:3]] for cell in (cells[0], cells[-1])]
    sizes = [[rows(pages)[0]["bytes"] for pages in tables] for tables in first]
    assert sizes[0] == sizes[1]
    assert len(set(sizes[0])) == 3


PAPER = """\
title = "Windows"
reference = "nobody"
labels = ["page", "rate", "IW"]

[[experiment]]
file = "pages.toml"

[[repeat]]
sampling = "seed"
count = 2
derived = ["rtt", "pages"]

[[chart]]
kind = "best"
title = "best"
where = {}
x = "rate"
y = "page"
series = "IW"
metric = "load_mean"
sense = "lowest"
within = 0.02
over = "2"

[[chart]]
kind = "best"
title = "most"
where = { page = "100 kB" }
x = "rate"
y = "page"
panel = "page"
series = "IW"
metric = "page_bps"
sense = "highest"
"""

PAGES = """\
duration = "60 s"
topology = { kind = "dumbbell", bottleneck = { rate = "1 Mbit/s" } }
flow = [{ name = "web", profile = "modern", application = { kind = "web", root = "10 kB" } }]

[sweep.rate]
"1" = { "topology.bottleneck.rate" = "1 Mbit/s" }
"50" = { "topology.bottleneck.rate" = "50 Mbit/s" }

[sweep.page]
"10 kB" = {}
"100 kB" = { "flow.application.root" = "100 kB" }

[sweep.IW]
"2" = { "flow.initial_window" = "2 segments" }
"10" = { "flow.initial_window" = "10 segments" }
"""


def test_charts_of_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """At 50 Mbit/s a page of ten segments takes one round instead of three: 2 round trips of 60 ms instead of 4."""
    folder = tmp_path / "papers" / "windows"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(PAPER, encoding="utf-8")
    (folder / "pages.toml").write_text(PAGES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    outcome = reproduction.execute(plan_paper(library.find("windows")), tmp_path / "out")
    first, second = charts.pictures(outcome, tmp_path / "figures")
    assert all(encode(chart.shown, "png") for chart in (first, second))
    assert first.columns == ["page \\ rate", "1", "50"]
    cells = {row[0]: dict(zip(first.columns[1:], row[1:], strict=True)) for row in first.rows}
    assert list(cells) == ["10 kB", "100 kB"]
    assert cells["10 kB"]["50"].startswith("10 +")
    assert 45 <= int(cells["10 kB"]["50"].split()[1]) <= 51
    assert second.rows[0][:2] == ["100 kB", "100 kB"]
    done = cli("paper", "windows", "--out", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    assert "best" in (tmp_path / "again" / "report.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "again" / "manifest.json").read_text(encoding="utf-8"))["state"] == "complete"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('over = "2"', 'over = "3"', "over"),
        ('sense = "lowest"', 'sense = "least"', "sense"),
        ('series = "IW"\nmetric = "load_mean"', 'metric = "load_mean"', "series"),
        ('kind = "best"\ntitle = "best"', 'kind = "lines"\ntitle = "best"', "y belongs to charts of"),
    ],
)
def test_a_chart_of_the_best_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, message: str
) -> None:
    folder = tmp_path / "papers" / "windows"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(PAPER.replace(old, new, 1), encoding="utf-8")
    (folder / "pages.toml").write_text(PAGES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        plan_paper(library.find("windows"))
