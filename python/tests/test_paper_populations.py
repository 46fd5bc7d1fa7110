"""Papers over populations: tables of paths, repetitions, claims about pairs of paths, measures of transfers."""

from __future__ import annotations

import json
import math
import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ackclock
from ackclock import freeze
from ackclock.experiments import pathtables
from ackclock.experiments.pathtables import PathTable
from ackclock.experiments.repetitions import Rule, further, repetitions
from ackclock.literature.claims import ClaimError, parse_claims
from ackclock.literature.verdicts import judge
from ackclock.metrics.flows import DERIVATIONS
from ackclock.results import rows
from ackclock.scenario import Scenario

from .conftest import ROOT, Cli

STUDY = ROOT / "papers" / "startups"
TABLE = """\
label,topology.bottleneck.rate (Mbit/s),topology.bottleneck.queue.limit (packets),\
load=small: flow.0.size (kB),load=large: flow.0.size (kB)
1: a,10,20,10,1000
2: b,2.5,5,14,2000
3: c,50,200,20,3000
"""
VALUES = {"load": ["small", "large"], "start": ["a", "b"], "flow": ["x"]}


def table(folder: Path, text: str = TABLE) -> PathTable:
    file = folder / "paths.csv"
    file.write_text(text)
    return pathtables.read(file, ["load"])


def test_a_column_with_a_label_counts_in_its_cells_alone(tmp_path: Path) -> None:
    made = table(tmp_path).paths({"load": "large"})
    assert len(made) == 3
    assert made[1] == {
        "topology.bottleneck.rate": "2.5 Mbit/s",
        "topology.bottleneck.queue.limit": "5 packets",
        "flow.0.size": "2000 kB",
    }
    assert [each["flow.0.size"] for each in table(tmp_path).paths({"load": "small"})] == ["10 kB", "14 kB", "20 kB"]
    assert "flow.0.size" not in table(tmp_path).paths({"load": "other"})[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE.replace("load=large", "weight=large"), "there is no label 'weight' (known: load)"),
        (TABLE.replace("label,", "a label of mine,"), "expected the path of a key with its unit"),
        (TABLE.replace("2.5,", ","), '"topology.bottleneck.rate (Mbit/s)": row 3 is empty'),
        ("", "cannot be read as a CSV table"),
    ],
)
def test_a_wrong_table_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        table(tmp_path, text)


def test_cells_with_the_same_columns_share_their_paths(tmp_path: Path) -> None:
    made = table(tmp_path)
    assert made.paths({"load": "small", "other": "a"}) is made.paths({"load": "small", "other": "b"})
    assert made.paths({"load": "small"}) is not made.paths({"load": "large"})


def scenario() -> Scenario:
    return Scenario(
        duration="20 s",
        topology={"bottleneck": {"queue": {"kind": "droptail", "limit": "50 packets"}}},
        flow=[{"name": "x", "host": "linux", "size": "100 kB"}],
    )


def test_all_cells_have_the_same_paths_and_seeds(tmp_path: Path) -> None:
    paths = table(tmp_path).paths({"load": "small"})
    rule = Rule("population", 2, paths=paths, seeds=3)
    made = repetitions(rule, scenario(), 99, {})
    assert [(it.unit, it.scenario.seed) for it in made] == [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5), (2, 6)]
    assert {it.sampling for it in made} == {"population"}
    limits = [freeze.Frozen(it.scenario).links for it in made]
    assert len({str(each) for each in limits}) == 2
    assert len(repetitions(rule, scenario(), 1, {"population": 1})) == 3
    more = further(rule, scenario(), 1, 12)
    assert [(it.unit, it.scenario.seed) for it in more] == [(3, 7), (3, 8), (3, 9)], "the rows that the rule leaves"


def claim(**keys: Any) -> Any:
    own = {"id": "c", "text": "t", "source": "§", "kind": "bound", "axis": "start", "where": {}, "of": "a", "to": "b"}
    entry = {key: value for key, value in {**own, **keys}.items() if value is not None}
    return parse_claims({"metrics": ["time"], "claim": [entry]}, VALUES, ["time"])[0]


def pairs(of: list[float], to: list[float], **columns: list[float]) -> list[Any]:
    return [
        {"load": "small", "start": start, "flow": "x", "sampling": "population", "unit": unit, "time": value}
        | {name: own[unit] for name, own in columns.items()}
        for start, values in (("a", of), ("b", to))
        for unit, value in enumerate(values)
    ]


def test_each_path_counts_alike_in_a_ratio_of_geometric_means() -> None:
    # The long transfer is twice as slow, three short ones are twice as fast: the sums and the paths disagree.
    rows_ = pairs([200.0, 0.5, 0.51, 0.49], [100.0, 1.0, 1.0, 1.0])
    by_paths = judge(claim(scale="geometric", high=1.0), "time", rows_, list(VALUES)).comparisons[0].difference
    by_sums = judge(claim(high=1.0), "time", rows_, list(VALUES)).comparisons[0].difference
    assert by_paths is not None
    assert by_sums is not None
    assert by_paths.mean == pytest.approx((2 * 0.5 * 0.51 * 0.49) ** 0.25)
    assert by_sums.mean == pytest.approx(201.5 / 103)


@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), min_size=5, max_size=30, unique=True))
def test_a_geometric_ratio_and_its_reciprocal_agree(values: list[tuple[float, float]]) -> None:
    of, to = [a for a, _ in values], [b for _, b in values]
    one = judge(claim(scale="geometric", high=1.0), "time", pairs(of, to), list(VALUES)).comparisons[0].difference
    other = judge(claim(scale="geometric", high=1.0), "time", pairs(to, of), list(VALUES)).comparisons[0].difference
    assert one is not None
    assert other is not None
    if one.finite and other.finite:
        assert one.mean == pytest.approx(1 / other.mean)
        assert one.low == pytest.approx(1 / other.high)


def test_a_difference_has_limits_in_the_unit_of_the_metric() -> None:
    rows_ = pairs([5.0, 6.1, 6.9, 8.0, 9.1], [3.0, 4.0, 5.0, 6.0, 7.0])
    found = judge(claim(scale="difference", low=1.5), "time", rows_, list(VALUES))
    assert found.verdict == "holds"
    assert found.comparisons[0].difference is not None
    assert found.comparisons[0].difference.mean == pytest.approx(2.02)
    assert "a minus b is 2.02" in found.reason
    assert judge(claim(scale="difference", high=1.5), "time", rows_, list(VALUES)).verdict == "does not hold"


def test_equal_transfers_on_many_paths_are_certain_and_on_few_are_not() -> None:
    same = [float(unit + 1) for unit in range(30)]
    assert judge(claim(scale="geometric", low=0.95), "time", pairs(same, same), list(VALUES)).verdict == "holds"
    assert judge(claim(scale="geometric", low=1.01), "time", pairs(same, same), list(VALUES)).verdict == "does not hold"
    few = judge(claim(scale="geometric", low=0.95), "time", pairs(same[:3], same[:3]), list(VALUES))
    assert few.verdict == "cannot tell"


def test_a_claim_can_be_about_a_part_of_the_paths() -> None:
    buffers = [0.2, 0.3, 0.4, 0.45, 2.0, 3.0, 4.0, 5.0]
    rows_ = pairs([2.0, 2.1, 1.9, 2.2, 1.0, 1.01, 0.99, 1.0], [1.0] * 8, buffer_bdp=buffers)
    shallow = judge(claim(scale="geometric", low=1.5, within={"buffer_bdp": [0, 0.5]}), "time", rows_, list(VALUES))
    deep = judge(claim(scale="geometric", low=1.5, within={"buffer_bdp": [0.5, 9]}), "time", rows_, list(VALUES))
    assert (shallow.verdict, deep.verdict) == ("holds", "does not hold")
    with pytest.raises(ClaimError, match="unknown column of paths 'time'"):
        claim(low=1.0, within={"time": [0, 1]})


def test_wrong_uses_of_scales_are_refused() -> None:
    with pytest.raises(ClaimError, match="a difference is that of two variants of a bound"):
        claim(scale="difference", kind="best", of="a", sense="lowest", to=None)
    with pytest.raises(ValueError, match="a geometric mean needs values above 0"):
        judge(claim(scale="geometric", low=1.0), "time", pairs([0.0, 1.0], [1.0, 1.0]), list(VALUES))


def measured(given: Scenario, name: str) -> dict[str, dict[str, Any]]:
    result = ackclock.run(given, record=[])
    found = [{"flow": row.pop("name"), **row} for row in rows(result.flows)]
    DERIVATIONS[name].derive(found, result)
    return {row["flow"]: row for row in found}


def test_what_a_transfer_takes_from_its_rival_is_counted_in_its_own_bytes() -> None:
    both = scenario().set({"duration": "20 s"})
    two = Scenario(
        **{**freeze.Frozen(both).document, "flow": [*freeze.Frozen(both).flows, {"name": "rival", "host": "linux"}]}
    )
    with_it = measured(two, "transfer")
    never = measured(two.set({"flow.0.start": "100 s"}), "transfer")
    assert "x" not in never, "a flow that never starts has no row"
    own = with_it["x"]
    lost = (never["rival"]["delivered_bytes"] - with_it["rival"]["delivered_bytes"]) / 1e5
    assert own["others_per_byte"] == pytest.approx(with_it["rival"]["delivered_bytes"] / 1e5, rel=0.02)
    assert 0.5 < lost < 5
    assert own["completion"] == own["completion_time"]
    assert own["completion_trips"] == pytest.approx(own["completion"] / own["path_rtt"])
    assert own["buffer_bdp"] == pytest.approx(own["queue_packets"] / own["bdp_packets"])
    assert own["others_dropped"] == with_it["rival"]["dropped_packets"]
    assert own["sojourn_mean"] > 0


def test_an_unfinished_transfer_counts_until_the_end() -> None:
    own = measured(scenario().set({"duration": "200 ms", "flow.0.size": "100 MB"}), "transfer")["x"]
    assert own["completion_time"] is None
    assert own["completion"] == pytest.approx(0.2)


def test_short_flows_have_a_row_for_each_table() -> None:
    arrivals = {"kind": "poisson", "load": "20 %", "until": "8 s", "size": {"kind": "fixed", "mean": "20 kB"}}
    flows = [{"name": "a", "host": "linux", "arrivals": arrivals}, {"name": "b", "host": "linux", "size": "50 kB"}]
    given = Scenario(duration="10 s", flow=flows)
    assert freeze.arriving(given) == ["a"]
    found = measured(given, "short_flows")
    every = polars.DataFrame(ackclock.run(given, record=[]).flows).filter(polars.col("size_packets") < 30)
    assert set(found) == {"a", "b"}
    assert found["a"]["short_flows"] == every.height
    assert every.height > 10
    assert found["a"]["short_mean"] == pytest.approx(every["completion_time"].mean())
    assert found["a"]["short_p95"] == pytest.approx(every["completion_time"].quantile(0.95, "linear"))
    assert found["b"]["short_mean"] is None


PAPER = """\
title = "Tiny population"
reference = "ours"
url = "https://example.org/"
labels = ["load", "start"]
flows = "flow"

[[experiment]]
file = "tiny.toml"

[[repeat]]
sampling = "population"
table = "paths.csv"
count = 12
derived = ["transfer"]

[[chart]]
kind = "lines"
title = "geometric"
where = { flow = "x" }
x = "load"
series = "start"
metric = "completion"
over = "standard"
geometric = true

[[chart]]
kind = "front"
title = "front"
where = { flow = "x", load = "200 kB" }
series = "start"
metric = "completion"
cost = "dropped_packets"
over = "standard"
"""
TINY = """\
duration = "60 s"

[topology.bottleneck]
queue = { kind = "droptail", limit = "50 packets" }

[[flow]]
name = "x"
host = "linux"

[sweep.load]
"20 kB" = { "flow.0.size" = "20 kB" }
"200 kB" = { "flow.0.size" = "200 kB" }

[sweep.start]
standard = { "flow.0.slow_start" = "standard" }
hystart = { "flow.0.slow_start" = "hystart" }
"ten more" = { "flow.0.initial_window" = "20 segments" }
"""
CLAIMS = """\
metrics = ["completion"]

[[claim]]
id = "faster"
text = "Twenty segments are faster."
source = "ours"
kind = "bound"
axis = "start"
where = { load = "20 kB", flow = "x" }
of = "ten more"
to = "standard"
scale = "geometric"
high = 0.9
"""


def test_a_paper_over_a_population_runs_and_draws_its_front(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "papers" / "tiny"
    folder.mkdir(parents=True)
    names = ("rate (Mbit/s)", "delay (ms)", "queue.limit (packets)")
    lines = [",".join(("label", *(f"topology.bottleneck.{name}" for name in names)))]
    lines += [f"{n},{5 + 2 * n},{5 + 3 * n},{10 + 7 * n}" for n in range(1, 15)]
    (folder / "paths.csv").write_text("\n".join(lines) + "\n")
    for name, text in (("paper.toml", PAPER), ("tiny.toml", TINY), ("claims.toml", CLAIMS)):
        (folder / name).write_text(text)
    done = cli("paper", "tiny", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [verdict] = json.loads((tmp_path / "out" / "tiny" / "verdicts.json").read_text())
    assert (verdict["verdict"], verdict["sampling"]) == ("holds", "population")
    runs = polars.read_parquet(tmp_path / "out" / "tiny" / "runs.parquet")
    assert runs.height == 2 * 3 * 12
    ratio = [
        runs.filter((polars.col("load") == "20 kB") & (polars.col("start") == start)).sort("unit")["completion"].log()
        for start in ("ten more", "standard")
    ]
    assert verdict["comparisons"][0]["difference"]["mean"] == pytest.approx(math.exp((ratio[0] - ratio[1]).mean()))
    report = (tmp_path / "out" / "tiny" / "report.md").read_text()
    assert "completion, ratio" in report
    assert "dropped_packets, difference" in report
    again = cli("paper", "tiny", cwd=tmp_path)
    assert "72 were stored" in again.stderr
    (folder / "paths.csv").write_text("\n".join(lines[:12]) + "\n")
    few = cli("paper", "tiny", cwd=tmp_path)
    assert few.returncode == 2
    assert "paths.csv has 11 paths, but count is 12" in few.stderr
    (folder / "paths.csv").unlink()
    gone = cli("paper", "tiny", cwd=tmp_path)
    assert gone.returncode == 2
    assert "the paper's folder has no file 'paths.csv'" in gone.stderr


def test_the_study_of_start_ups_draws_its_tables_again(tmp_path: Path) -> None:
    kept = {file.name: file.read_text() for file in STUDY.glob("*.csv")}
    shutil.copy(STUDY / "paths.py", tmp_path)
    runpy.run_path(str(tmp_path / "paths.py"), run_name="__main__")
    assert {file.name: file.read_text() for file in tmp_path.glob("*.csv")} == kept
