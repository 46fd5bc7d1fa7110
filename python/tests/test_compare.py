"""Comparisons: known answers, the words of a verdict, and the command as users type it."""

from __future__ import annotations

import json
import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import ackclock
from ackclock.comparisons import contenders, figure, measuring, places, planning, report, words
from ackclock.comparisons import worlds as agreeing
from ackclock.comparisons.judging import Judged
from ackclock.comparisons.planning import Outcome, Plan
from ackclock.comparisons.result import Comparison
from ackclock.experiments.execute import Progress
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.world import SIMULATION, World, run_here
from ackclock.freeze import Frozen, replaced
from ackclock.linux import worlds
from ackclock.linux.hosts import hosted
from ackclock.results import Result
from ackclock.scenario import Scenario
from ackclock.statistics import pairs
from ackclock.statistics.harm import harm_to_less, harm_to_more
from ackclock.statistics.sequential import Stopping

from .conftest import Cli

# The queue never overflows, so a flow with a window of W packets has W packets on the path for ever: two flows share
# the link as their windows.
SHARED = """\
# One link of 8 Mbit/s with a boundless queue
duration = "10 s"

[topology]
kind = "chain"
links = [{ rate = "8 Mbit/s", delay = "10 ms", queue = "unlimited" }]

[[flow]]
name = "tested"
start_jitter = "10 ms"
initial_ssthresh = "unlimited"
"""
DATA = 1040 * 8 / 8e6
BDP = (20e-3 + DATA + 40 * 8 / 8e6) / DATA
SMALL, LARGE = 40, 120


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Return the file of a path."""
    path = tmp_path / "shared.toml"
    path.write_text(SHARED)
    return path


def judged(texts: list[str], where: list[str], seeds: int | None = 4, **options: Any) -> Judged:
    """Run a comparison."""
    plan = Plan(contenders.resolve_all(texts), places.find(where), seeds, **options)
    outcome = Outcome(plan, Experiment(jobs=1))
    planning.run(outcome)
    return Judged(outcome)


def test_harm_is_the_lost_share_of_the_solo_performance() -> None:
    # The definitions of Ware et al.: from 10 to 4 Mbit/s, from 20 to 50 ms.
    assert harm_to_more(10.0, 4.0) == pytest.approx(0.6)
    assert harm_to_more(10.0, 12.0) == pytest.approx(-0.2)
    assert harm_to_more(0.0, 1.0) is None
    assert harm_to_less(20.0, 50.0) == pytest.approx(0.6)
    assert (harm_to_less(0.0, 0.0), harm_to_less(0.01, 0.0)) == (0.0, None)


def test_shares_and_delays_of_windows_in_a_boundless_queue(shared: Path) -> None:
    found = judged([f"rwnd={SMALL} packets", f"rwnd={LARGE} packets"], [str(shared)], seeds=5)
    (own, other) = found.rows
    # Beside a flow like it the reference keeps a half, beside the larger window 40 of 160 packets.
    assert own["harm_goodput"] == pytest.approx(1 / 2, abs=0.02)
    assert other["harm_goodput"] == pytest.approx(1 - SMALL / (SMALL + LARGE), abs=0.02)
    # Every packet waits for all others: the round-trip time is the windows' sum.
    assert own["harm_rtt"] == pytest.approx(1 / 2, abs=0.02)
    assert other["harm_rtt"] == pytest.approx(1 - SMALL / (SMALL + LARGE), abs=0.02)
    assert [own["harm_goodput_verdict"], other["harm_goodput_verdict"]] == [None, "worse"]
    # Alone, both fill the link; what the path does not hold is in the queue.
    assert other["goodput_bps_verdict"] == "same"
    for row, window in ((own, SMALL), (other, LARGE)):
        assert row["sojourn_p95"] == pytest.approx((window - BDP) * DATA, rel=0.06)
        assert row["resent"] == 0
    assert other["sojourn_p95_verdict"] == "worse"
    panels = figure.panels(found)
    assert [series.name for series in panels[0].series] == found.names
    assert [list(series.hollow) for series in panels[0].series] == [[False], [True]]
    # The bar of harm is the harm of the reference to itself.
    assert panels[-1].bars == {"shared": own["harm_goodput"]}
    assert [list(series.hollow) for series in panels[-1].series] == [[False], [False]]
    text = words.sentence(found, found.places[0], 1)
    assert text.startswith(
        "rwnd=120 packets and rwnd=40 packets are about equally fast on shared: speed of rwnd=120 packets "
    )
    assert (
        "over 5 drawn paths, within ±5 %. rwnd=40 packets wins by its costs: rwnd=120 packets keeps the queue " in text
    )
    assert f"Harm to rwnd=40 packets: {other['harm_goodput']:.2f} (rwnd=40 packets's own: 0.50; more)." in text
    assert found.winner(found.places[0]) == 0
    assert words.wins(found)[1] == [
        ["shared", "equal", "equal", "rwnd=40 packets", "–", "rwnd=120 packets more"],
    ]


def test_a_window_below_the_path_is_slower_by_its_share_and_harms_less(shared: Path) -> None:
    found = judged(["rwnd=40 packets", "rwnd=5 packets"], [str(shared)])
    row = found.rows[1]
    assert row["goodput_bps_vs"] == pytest.approx(5 / BDP, rel=0.06)
    assert row["goodput_bps_verdict"] == "worse"
    assert row["harm_goodput"] == pytest.approx(1 - 40 / 45, abs=0.02)
    assert row["harm_goodput_verdict"] == "better"
    text = words.sentence(found, found.places[0], 1)
    assert text.startswith("rwnd=5 packets is 75 % slower than rwnd=40 packets on shared, 95 % interval [")
    assert "(rwnd=40 packets's own: 0.50; less)" in text
    assert found.winner(found.places[0]) == 0
    assert found.fastest(found.places[0], 0)


def test_completion_of_transfers_is_that_of_their_flights(shared: Path) -> None:
    found = judged(
        ["initial_window=1 segment", "initial_window=15 segments"], [str(shared)], extra={"flow.size": "15 packets"}
    )
    (own, other) = found.rows
    assert own["primary"] == "completion"
    # Four flights instead of one; the handshake and the last packet's way take 1.5 round trips.
    trip = BDP * DATA
    assert own["completion"] - other["completion"] == pytest.approx(3 * trip - 7 * DATA, rel=0.05)
    assert own["goodput_bps"] < other["goodput_bps"], "also of transfers"
    assert other["completion_verdict"] == "better"
    # Text, table and both figures state the same speed: the ratio of the times, turned round.
    faster = 100 * (own["completion"] / other["completion"] - 1)
    assert words.sentence(found, found.places[0], 1).startswith(
        f"initial_window=15 segments is {faster:.0f} % faster than initial_window=1 segment on shared"
    )
    columns, rows = words.table(found)
    assert rows[1][columns.index("faster than initial_window=1 segment")].startswith(f"+{faster:.1f} % [+")
    panel = figure.panels(found)[0]
    assert np.asarray(panel.series[1].y) == pytest.approx([faster])
    assert (list(panel.series[1].hollow), panel.band, panel.references) == ([False], (-5.0, 5.0), [0.0])
    # The oracle begins with the same window, so none of them loses time.
    assert other["exit_time_lost"] is None


def test_unfinished_transfers_are_named(shared: Path) -> None:
    options = {"flow.size": "100 packets", "duration": "60 ms"}
    found = judged(["reno", "initial_window=2 segments"], [str(shared)], seeds=2, extra=options)
    text = "reno on shared: 1 unfinished transfers a run count until its end"
    assert words.notes(found)[0] == text
    assert found.rows[0]["unfinished"] == 1


def test_warnings_of_the_runs_are_one_line_each(cli: Cli, shared: Path, tmp_path: Path) -> None:
    command = ["compare", "rwnd=3 packets", "rwnd=4 packets", "--paths", "shared.toml", "--seeds", "2", "--out", "out"]
    done = cli(*command, "--json")
    (line,) = json.loads(done.stdout)["warnings"]
    assert "limited by the receive window" in line
    assert line.endswith("(rwnd_limited, in 4 of 4 runs, first in rwnd=3 packets on shared)")
    assert f"warning: {line}" in " ".join(cli(*command).stderr.split()), "stored runs keep their warnings"
    assert f"**Warning:** {line}." in (tmp_path / "out" / "report.md").read_text()
    assert line in (tmp_path / "out" / "report.html").read_text()
    stored = polars.read_parquet(tmp_path / "out" / "runs.parquet").filter(polars.col("role") == "solo")
    assert set(stored["warnings"]) == {"rwnd_limited"}


def test_runs_that_deliver_nothing_have_no_verdict(shared: Path) -> None:
    found = judged(["reno", "cubic", "bbr"], [str(shared)], extra={"duration": "5 ms"})
    assert words.answer(found) == ["nothing was delivered on shared: the run is too short to compare."]
    assert {row["goodput_bps_verdict"] for row in found.rows} == {None}
    assert not any(row["best"] for row in found.rows)
    both = judged(["reno", "cubic"], [str(shared), "clean"], 2, extra={"duration": "5 ms"})
    assert words.answer(both)[0].count("nothing was delivered on ") == 2
    sized = judged(["reno", "cubic"], [str(shared)], extra={"flow.size": "500 packets", "duration": "60 ms"})
    assert words.answer(sized) == ["no transfer finished on shared: the run is too short to compare."]


def test_start_ups_against_the_ideal_exit(shared: Path) -> None:
    exact = math.ceil(BDP)
    found = judged([f"initial_ssthresh={exact} segments", "initial_ssthresh=4 segments"], [str(shared)])
    (ideal, early) = found.rows
    # The threshold is exact on the given path, and a packet too high or low on drawn ones.
    assert ideal["exit_time_lost"] == pytest.approx(0, abs=2e-3)
    assert ideal["exit_bdp"] == pytest.approx(exact / BDP, rel=0.05)
    assert early["exit_time_lost"] > 0.1
    assert early["exit_time_lost_verdict"] == "worse"
    assert early["exit_lost"] == 0


def test_the_tests_of_a_table_are_one_family(shared: Path) -> None:
    found = judged(["rwnd=40 packets", "rwnd=38 packets", "rwnd=5 packets"], [str(shared)])
    contrasts = found.contrasts
    primaries = {key for key in contrasts if key[1] == "goodput_bps"}
    assert {key[2:] for key in primaries} == {(1, 0), (2, 0), (2, 1)}
    tested = {(each.question.sample.of[0], each.p_value) for each in contrasts.values() if each.p_value is not None}
    # Holm multiplies the smallest p-value by the number of tests, and the adjusted ones never fall.
    assert len(tested) > 5
    of = [row["goodput_bps"] for row in found.values["shared", 2]]
    to = [row["goodput_bps"] for row in found.values["shared", 0]]
    single = pairs.compare([float(x or 0) for x in of], [float(x or 0) for x in to]).p_value
    assert single is not None
    adjusted = contrasts["shared", "goodput_bps", 2, 0].adjusted
    assert adjusted is not None
    assert single < adjusted <= single * len(tested)


def test_one_run_shows_nothing(shared: Path) -> None:
    found = judged(["rwnd=40 packets", "rwnd=5 packets"], [str(shared)], seeds=1)
    assert found.rows[1]["goodput_bps_verdict"] == "unclear"
    assert found.rows[1]["goodput_bps_vs_low"] is None
    assert words.answer(found)[0].startswith(
        "It is open whether rwnd=5 packets or rwnd=40 packets is faster on shared: "
    )
    assert "over 1 drawn path." in words.answer(found)[0]
    assert words.answer(found)[1].startswith("1 drawn path shows no spread")


def test_a_rule_of_stopping_draws_no_more_paths_than_it_needs(shared: Path) -> None:
    rule = Stopping(0.02, at_least=3, at_most=30)
    found = judged(["rwnd=40 packets", "rwnd=5 packets"], [str(shared)], seeds=30, stopping=rule)
    count = len(found.values["shared", 0])
    # The ratio of windows varies with the drawn paths by about as much as their round-trip times.
    assert 3 <= count < 30
    strict = judged(
        ["rwnd=40 packets", "rwnd=5 packets"],
        [str(shared)], seeds=6, stopping=Stopping(1e-6, at_least=3, at_most=6),
    )  # fmt: skip
    assert len(strict.values["shared", 0]) == 6
    assert not any("--within" in line for line in found.warnings)
    assert strict.warnings[-1] == "--within: on shared, rwnd=5 packets reached 6 paths before ±0.0001 %"


def test_a_population_is_a_sample_of_paths(tmp_path: Path) -> None:
    table = {
        "label": ["slow", "middle", "fast"],
        "topology.bottleneck.rate (Mbit/s)": [2, 4, 8],
        "topology.bottleneck.delay (ms)": [30, 20, 10],
        "duration": ["5 s"] * 3,
    }
    polars.DataFrame(table).write_parquet(tmp_path / "home.parquet")
    found = judged(["reno", "rwnd=4 packets"], [str(tmp_path / "home.parquet")], seeds=2)
    (place,) = found.places
    assert [path.name for path in place.paths] == ["slow", "middle", "fast"]
    assert found.counted(place) == "3 paths"
    row = found.rows[1]
    assert (row["pairs"], row["goodput_bps_vs_won"]) == (3, 0.0)
    assert "over 3 paths; faster on 0 of 3, from " in words.sentence(found, place, 1)
    # The speed of a population is the geometric mean, so that the speeds have the ratio that is judged.
    speeds = [value["goodput_bps"] for value in found.values["home", 1]]
    assert row["goodput_bps"] == pytest.approx(math.prod(speeds) ** (1 / 3))
    assert row["goodput_bps"] / found.rows[0]["goodput_bps"] == pytest.approx(row["goodput_bps_vs"])
    assert words.legend(found).startswith("Speed is the geometric mean over the paths of a population. ")
    written = report.runs(found)
    # Each of three paths and two seeds: two with the path's traffic, two beside, two alone.
    assert written.height == 3 * 2 * 6
    assert set(written["path"]) == {"slow", "middle", "fast"}


def test_ties_of_a_population_are_counted_apart(tmp_path: Path) -> None:
    # Without a loss, both controls are in slow start until the end.
    table = {
        "label": ["short", "deep", "shallow"],
        "topology.bottleneck.rate (Mbit/s)": [8, 8, 8],
        "topology.bottleneck.delay (ms)": [10, 20, 20],
        "topology.bottleneck.queue.limit": ["500 packets", "500 packets", "10 packets"],
    }
    polars.DataFrame(table).write_csv(tmp_path / "home.csv")
    found = judged(["reno", "cubic"], [str(tmp_path / "home.csv")], 1, extra={"flow.size": "300 packets"})
    won, equal, count = found.won(found.places[0], 1)
    assert (equal, count) == (2, 3)
    assert f"; faster on {won} of 3, equal on 2, from " in words.sentence(found, found.places[0], 1)
    assert won + equal / 2 == 3 * found.contrasts["home", "completion", 1, 0].won


def test_a_sweep_is_a_population_without_its_seeds(tmp_path: Path) -> None:
    file = tmp_path / "both.toml"
    sweep = '\n[sweep]\nseed = { from = 1, to = 3 }\n"topology.links.0.delay" = ["5 ms", "15 ms"]\n'
    file.write_text(SHARED + sweep)
    (place,) = places.find([str(file)])
    assert place.population
    assert [path.name for path in place.paths] == ["5 ms", "15 ms"]


WINDOWS = """\
duration = "1 s"

[topology.bottleneck]
rate = "2 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "20 packets" }

[flow]

[sweep]
"flow.initial_window" = ["2 segments", "10 segments"]
seed = [1, 2]

[sweep.paths]
file = "homes.csv"
"""


def windows(folder: Path, *rows: str) -> str:
    """Write a population of the rows of a table and two initial windows, and return its file."""
    header = "label,topology.bottleneck.rate (Mbit/s),topology.bottleneck.delay (ms)"
    (folder / "homes.csv").write_text("\n".join([header, *rows, ""]))
    file = folder / "windows.toml"
    file.write_text(WINDOWS)
    return str(file)


def test_the_paths_of_a_population_are_kept_apart(tmp_path: Path) -> None:
    file = windows(tmp_path, "slow,1,10", "middle,2,20", "fast,4,30")
    found = judged(["reno", "rwnd=4 packets"], [file], seeds=1)
    (place,) = found.places
    names = [f"{row}, {window}" for window in ("2 segments", "10 segments") for row in ("slow", "middle", "fast")]
    assert [path.name for path in place.paths] == names
    assert found.counted(place) == "6 paths"
    # Each name stands beside the ratio of its own runs.
    rows = report.runs(found).filter(polars.col("role") == "solo").select("path", "contender", "goodput_bps").rows()
    speed = {(path, contender): goodput for path, contender, goodput in rows}
    expected = [(name, speed[name, "rwnd=4 packets"] / speed[name, "reno"]) for name in names]
    assert found.relative(place, 1) == expected
    # An unfinished path has no ratio, and leaves the names of the others.
    lost = found.outcome.units[place.name][1][1].solo[0].key
    del found.outcome.measured[lost]
    part = Judged(found.outcome)
    assert part.relative(part.places[0], 1) == [expected[0], *expected[2:]]


def test_rows_with_the_same_label_are_refused_and_paths_with_the_same_name_numbered(tmp_path: Path) -> None:
    with pytest.raises(ackclock.ScenarioError, match='row 2, column "label": the label "home" is that of row 1'):
        places.find([windows(tmp_path, "home,1,10", "home,1,20", "fast,4,30")])
    assert places._numbered(["a", "b", "a", "a #1"]) == ["a #2", "b", "a #3", "a #1"]


def test_a_rule_of_stopping_runs_each_path_of_a_population_once(tmp_path: Path, cli: Cli) -> None:
    file = windows(tmp_path, "slow,1,10", "fast,4,30")
    rule = Stopping(0.02, at_least=3, at_most=7)
    found = judged(["reno", "rwnd=4 packets"], [file], seeds=7, stopping=rule)
    assert len(found.outcome.units["windows"]) == 4
    done = cli("compare", "reno", "cubic", "--paths", file, "--within", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert polars.read_parquet(tmp_path / "out" / "runs.parquet")["seed"].unique().to_list() == [1]


def test_hosts_replace_the_settings_of_the_path(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(SHARED + 'rwnd = "500 packets"\nrecovery = "newreno"\n')
    (place,) = places.find([str(file)])
    made = place.paths[0].compose(contenders.resolve("linux+bbr"), 3, {"flow.size": "1 MB"})
    text = made.to_toml()
    assert 'profile = "modern"' in text
    assert 'kind = "bbr"' in text
    assert "rwnd" not in text
    assert made.seed == 3
    own = place.paths[0].compose(contenders.resolve("cubic"), 3, {})
    assert 'rwnd = "500 packets"' in own.to_toml()
    # Both flows start at the same drawn time.
    starts = [
        line for scenario in (made, own) for line in scenario.to_toml().splitlines() if line.startswith("start =")
    ]
    assert starts[0] == starts[1] != 'start = "0 s"'


def test_the_reference_flow_stands_beside_the_flows_under_test_only() -> None:
    (place,) = places.find(["cubic"])
    plan = Plan(contenders.resolve_all(["reno", "bbr"]), [place], 1)
    runs = plan.runs(plan.units(place, 1, 2)[0])
    assert runs.solo[1].scenario.flows == ["tested0", "tested1", "cubic0", "cubic1"]
    assert [each.scenario.flows for each in runs.beside if each] == [[measuring.REFERENCE, "tested0", "tested1"]] * 2
    assert runs.alone[0].scenario.flows == [measuring.REFERENCE]
    # All of them have the same drawn links.
    links = {point.scenario.to_toml().partition("[[flow]]")[0].partition("[topology]")[2] for point in runs}
    assert len(links) == 1


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("cubic", {"avoidance": "cubic"}),
        ("search", {"slow_start": "search"}),
        ("bbr", {"congestion_control": "bbr"}),
        ("linux", {"host": "linux"}),
        ("westwood", {"loss_response": "westwood"}),
        ("hystart_pp+cubic", {"slow_start": "hystart_pp", "avoidance": "cubic"}),
        ("linux + slow_start=vegas", {"host": "linux", "slow_start": "vegas"}),
        ('slow_start={ kind = "limited", max_ssthresh = "1e+2 segments" }',
         {"slow_start": '{ kind = "limited", max_ssthresh = "1e+2 segments" }'}),
    ],
)  # fmt: skip
def test_names_are_those_of_the_registries(text: str, settings: dict[str, str]) -> None:
    assert contenders.resolve(text).settings == settings


def test_a_file_gives_the_settings_of_its_flow(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SHARED + 'avoidance = "cubic"\nsize = "1 MB"\n')
    found = contenders.resolve(str(file))
    assert (found.name, found.settings) == ("mine", {"initial_ssthresh": "unlimited", "avoidance": "cubic"})


def test_files_as_they_are(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SHARED)
    (tmp_path / "b.toml").write_text(SHARED + 'avoidance = "cubic"\n')
    (tmp_path / "c.toml").write_text(SHARED.replace("8 Mbit/s", "4 Mbit/s"))
    found = json.loads(cli("compare", "a.toml", "b.toml", "c.toml", "--seeds", "5", "--json").stdout)
    (_, same, slower) = found["rows"]
    assert same["goodput_bps_verdict"] == "same"
    assert same["harm_goodput"] is not None
    assert slower["goodput_bps_vs"] == pytest.approx(0.5, rel=0.03)
    assert slower["harm_goodput"] is None, "its flows do not meet those of the reference"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cubic", "cubic"], "cubic is given twice"),
        (["cubic", "avoidance=cubic"], "cubic and avoidance=cubic are the same: avoidance = cubic"),
        (["reno", "standard", "--paths", "clean"], "reno and standard are the same on clean: they give the"),
        (["reno", "cubc"], "unknown algorithm or host 'cubc'; did you mean 'cubic'? (known: "),
        (["reno", "vegas"], "vegas is a slow start and an avoidance: write slow_start=vegas or avoidance=vegas"),
        (["reno"], "a comparison needs two algorithms, hosts or scenario files, as in: compare reno cubic"),
        (["reno", "--reference", "reno"], "reno is the reference itself"),
        (["reno", "cubic", "--paths", "clen"], "unknown path 'clen'; did you mean 'clean'?"),
        (["reno", "cubic", "--paths", "clean,clean"], "two paths are called 'clean'"),
        (["reno", "cubic", "--paths", "none.csv"], "none.csv: there is no such file"),
        (["reno", "cubic", "--paths", "lacks.csv"], 'row 2, column "topology.bottleneck.rate (Mbit/s)": is empty'),
        (["reno", "cubic", "--paths", "clean", "--size", "3"], 'did you mean "3 packets"?'),
        (["reno", "size=3"], "size=3: size belongs to the path"),
        (["reno", "avoidence=cubic"], "unknown key of a flow 'avoidence'; did you mean 'avoidance'?"),
        (["reno", "cubic+bbr", "--paths", "clean"], "cubic+bbr on clean: flow.0.avoidance: cannot be combined"),
        (["reno", "cubic+cubic"], "cubic+cubic: sets avoidance twice"),
        (["none.toml", "reno"], "none.toml: No such file or directory"),
        (["reno", "cubic", "--margin", "0"], "margin: must be a share above 0 % and below 100 %"),
        (["reno", "cubic", "--within", "0"], "within: must be a share above 0 % and below 100 %"),
        (["reno", "cubic", "--paths", "clean", "--out", "full"], "exists and was not written by ackclock"),
    ],
)  # fmt: skip
def test_mistakes_have_one_message(cli: Cli, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "lacks.csv").write_text("label,topology.bottleneck.rate (Mbit/s)\na,1\nb,\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    done = cli("compare", *arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("error: ") == 1
    assert done.stdout == ""


def test_the_command_writes_the_same_on_any_number_of_threads(cli: Cli, shared: Path, tmp_path: Path) -> None:
    command = ["compare", "reno", "cubic", "bbr", "--paths", "shared.toml", "--seeds", "3", "--duration", "3 s"]
    one = cli(*command, "--jobs", "1", "--out", "one")
    two = cli(*command, "--jobs", "2", "--out", "two")
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert one.stdout == two.stdout
    assert "who wins in what" in one.stdout
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert names == {"manifest.json", "lock", "measured.parquet", *report.WRITTEN} - {report.MAPS}
    for name in names - {"lock", "manifest.json"}:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    # Only how a result was made, such as its command line, differs between equal ones.
    manifest, other = (json.loads((tmp_path / place / "manifest.json").read_text()) for place in ("one", "two"))
    assert manifest.pop("made")["command"].endswith("--jobs 1 --out one")
    assert other.pop("made")["command"].endswith("--jobs 2 --out two")
    assert manifest == other
    assert (manifest["kind"], manifest["state"], manifest["runs"]) == ("comparison", "complete", 27)
    page = (tmp_path / "one" / "report.html").read_text()
    assert report.stored_comparison(tmp_path / "one") == page
    assert one.stdout.splitlines()[0] in page.replace("&#39;", "'")
    assert cli("report", "one").returncode == 0
    assert (tmp_path / "one" / "report.html").read_text() == page
    again = cli(*command, "--out", "one")
    assert "0 runs in" in again.stderr
    assert "27 were stored" in again.stderr
    assert again.stdout == one.stdout


def test_the_reference_comes_first(cli: Cli, shared: Path, tmp_path: Path) -> None:
    command = ["compare", "reno", "--reference", "cubic", "--paths", "shared.toml", "--seeds", "2", "--duration", "2 s"]
    with pytest.raises(FileNotFoundError, match="no complete comparison here"):
        report.stored_comparison(tmp_path)
    found = json.loads(cli(*command, "--json").stdout)
    assert found["reference"] == "cubic"
    assert [row["contender"] for row in found["rows"]] == ["cubic", "reno"]
    assert found["margin"] == 0.05


def test_a_stopped_comparison_continues(shared: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ackclock")
    folder = tmp_path / "out"

    def press(done: int, _all: int) -> None:
        if done == 7:
            raise KeyboardInterrupt

    def compare(progress: Progress | None = None) -> Comparison:
        return ackclock.compare(
            "reno", "cubic", paths=shared, seeds=3, duration="2 s", out=folder, jobs=1, progress=progress
        )

    with pytest.raises(ackclock.Interrupted, match="run the same command to continue") as stopped:
        compare(press)
    # Runs are planned pair by pair, so the first pair is complete.
    assert stopped.value.found.table["pairs"].to_list() == [1, 1]
    assert json.loads((folder / "manifest.json").read_text())["state"] == "interrupted"
    assert not (folder / "report.html").exists()
    stored = polars.read_parquet(folder / "measured.parquet").height
    assert 7 <= stored < 18
    compare()
    assert f"{stored} were stored" in caplog.text
    assert polars.read_parquet(folder / "measured.parquet").height == 18
    assert (folder / "report.html").exists()


CLASSES = """\
import ackclock

class Standard(ackclock.SlowStart):
    pass

class Timid(ackclock.CongestionControl):
    def on_ack(self, event):
        super().on_ack(event)
        self.cwnd = min(self.cwnd, 2.0)
"""


def test_classes_in_python_are_compared_and_stored(cli: Cli, shared: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASSES)
    command = ["compare", "reno", "mine.py:Standard", "mine.py:Timid", "--paths", str(shared), "--seeds", "3", "--json"]
    one = cli(*command, "--out", "out", "--jobs", "2")
    assert one.returncode == 0, one.stderr
    reno, standard, timid = json.loads(one.stdout)["rows"]
    assert standard["goodput_bps"] == reno["goodput_bps"], "the base class is standard slow start"
    # Two segments of 1000 B in each round trip, whose delays are drawn.
    assert timid["goodput_bps"] == pytest.approx(16e3 / (20e-3 + DATA + 40 * 8 / 8e6), rel=0.1)
    again = cli(*command, "--out", "out")
    assert again.stdout == one.stdout
    assert "0 runs in" in again.stderr
    (tmp_path / "mine.py").write_text(CLASSES.replace("2.0", "3.0"))
    changed = cli(*command, "--out", "out")
    # One run on the path, one beside the reference and one alone for each class and seed.
    assert "18 runs in" in changed.stderr
    assert json.loads(changed.stdout)["rows"][2]["goodput_bps"] > 1.4 * timid["goodput_bps"]
    for name, message in (("Tmid", "has no control or slow start 'Tmid'; it has Standard, Timid"),):
        assert message in cli("compare", "reno", f"mine.py:{name}").stderr
    assert "there is no such file" in cli("compare", "reno", "none.py:Timid").stderr
    both = cli("compare", "reno", "mine.py:Timid+cubic", "--paths", str(shared)).stderr
    assert "mine.py:Timid+cubic: avoidance cannot be combined with congestion_control, which replaces it" in both


def test_a_control_that_raises_is_one_message(cli: Cli, shared: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(CLASSES.replace("super().on_ack(event)", "1 / 0"))
    done = cli("compare", "reno", "broken.py:Timid", "--paths", str(shared), "--seeds", "2", "--duration", "2 s")
    assert done.returncode == 2
    assert "Timid: ZeroDivisionError: division by zero" in done.stderr
    assert "broken.py, line 8, in on_ack" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_world_that_gives_no_result_is_told(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(scenario: Scenario, *rest: Any) -> Result:
        if scenario.seed > 1:
            return run_here(scenario, *rest)
        raise ValueError("the kernel stopped")

    monkeypatch.setattr(worlds, "find", lambda name, **_: World(name, stops, release="1", identity="stops"))
    with pytest.raises(ValueError, match="no pair of runs has a result: the kernel stopped"):
        ackclock.compare("reno", "cubic", paths=shared, on="linux", seeds=1, duration="2 s")
    found = ackclock.compare("reno", "cubic", paths=shared, on="linux", seeds=3, duration="2 s", harm=False)
    assert found.table["pairs"].to_list() == [2, 2]


def test_worlds_are_judged_and_compared(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A world that is the simulation under another name agrees with it; one on a slower path does not."""

    def slower(scenario: Scenario, *rest: Any) -> Result:
        return run_here(replaced(scenario, {"topology.link.0.rate": "6 Mbit/s"}), *rest)

    others = {
        "same": World("same", release="1", identity="same"),
        "slower": World("slower", slower, release="1", identity="slower"),
        "simulation": SIMULATION,
    }
    monkeypatch.setattr(worlds, "find", lambda name, **_: others[name])
    found = ackclock.compare("reno", "cubic", paths=shared, on="simulation,same,slower", seeds=12, duration="3 s")
    names = [f"shared in {name}" for name in ("simulation", "same", "slower")]
    assert found.table["place"].unique(maintain_order=True).to_list() == names
    assert found.runs["world"].unique(maintain_order=True).to_list() == ["simulation", "same", "slower"]
    first, second = agreeing.sentences(found.judged)
    assert first == "In same, the speed is the same as in simulation (±5 %) in 2 of 2 cases."
    assert second.startswith("In slower, the speed is the same as in simulation (±5 %) in 0 of 2 cases; reno on shared")
    assert [row[-1] for shown in agreeing.tables(found.judged) for row in shown.rows] == [
        "the same",
        "the same",
        "differs",
        "differs",
    ]
    assert found.answer[-2:] == [first, second]


def test_hosts_of_linux_stand_for_those_of_ns2_on_a_kernel(
    shared: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seen = []

    def kernel(scenario: Scenario, *rest: Any) -> Result:
        seen.extend(flow["profile"] for flow in Frozen(scenario).flows)
        return run_here(scenario, *rest)

    others = {"linux": World("linux", kernel, hosted, worlds.LINUX, release="7.2"), "simulation": SIMULATION}
    monkeypatch.setattr(worlds, "find", lambda name, **_: others[name])
    with caplog.at_level("INFO"):
        ackclock.compare("reno", "cubic", paths=shared, on="simulation,linux", seeds=1, duration="1 s", harm=False)
    assert set(seen) == {"modern"}
    assert "in linux: hosts of Linux in place of ns-2's" in caplog.messages
    with pytest.raises(
        ValueError, match=r"cannot run on Linux 7\.2 in virtual time: recovery = \"tahoe\": the kernel has"
    ):
        ackclock.compare("recovery=tahoe", "cubic", paths=shared, on="linux")


def test_worlds_are_named_once(shared: Path) -> None:
    with pytest.raises(ValueError, match="names simulation twice"):
        ackclock.compare("reno", "cubic", paths=shared, on=["simulation", "simulation"])
    with pytest.raises(ValueError, match="did you mean simulation"):
        ackclock.compare("reno", "cubic", paths=shared, on="simulatoin")


def test_worlds_are_compared_over_the_paths_of_a_population(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paths differ in size, so that the ratio of the means has no interval, and that of the geometric means has."""
    (tmp_path / "homes.csv").write_text("rate_mbps,rtt_ms,buffer\n" + "".join(
        f"{rate},{rtt},1 BDP\n" for rate, rtt in [(1, 70), (100, 20), (3, 100), (30, 10), (9, 40), (2, 300)]
    ))  # fmt: skip

    def shorter(scenario: Scenario, *rest: Any) -> Result:
        return run_here(scenario.set({"duration": "2 s"}), *rest)

    others = {"other": World("other", shorter, release="1", identity="other"), "simulation": SIMULATION}
    monkeypatch.setattr(worlds, "find", lambda name, **_: others[name])
    homes, on = tmp_path / "homes.csv", "simulation,other"
    found = ackclock.compare("standard", "limited", paths=homes, on=on, harm=False, duration="4 s")
    assert [each.finding.estimate.finite for each in agreeing.agreements(found.judged)] == [True, True]


def test_a_file_that_imports_from_its_package_names_the_way_out(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "ideas").mkdir()
    (tmp_path / "ideas" / "base.py").write_text("SHARE = 0.5\n")
    (tmp_path / "ideas" / "eager.py").write_text(
        "from ackclock import SlowStart\nfrom .base import SHARE\n\nclass Eager(SlowStart):\n    share = SHARE\n"
    )
    done = cli("compare", "standard", "ideas/eager.py:Eager", "--paths", "clean")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.endswith("a file alone does not belong; name its module: ideas.eager:Eager\n")
    done = cli("compare", "standard", "ideas.eager:Eager", "--paths", "clean", "--duration", "2 s", "--seeds", "1")
    assert done.returncode == 0, done.stderr


def made(share: float) -> type[ackclock.SlowStart]:
    """Return a slow start that grows by a share."""

    class Own(ackclock.SlowStart):
        def on_ack(self, ack: ackclock.Ack, window: ackclock.Window) -> float:
            return share * ack.counted

    return Own


def test_contenders_have_names_of_their_own(shared: Path) -> None:
    short: dict[str, Any] = {"paths": shared, "seeds": 1, "duration": "1 s", "harm": False}
    found = ackclock.compare("standard", {"gentle": made(0.3), "eager": made(0.9)}, reference="eager", **short)
    assert found.judged.names == ["eager", "standard", "gentle"]
    found = ackclock.compare({"gentle": made(0.3), "old one": "linux+cubic"}, **short)
    assert found.judged.names == ["gentle", "old one"]
    with pytest.raises(ValueError, match=r"two contenders are called Own: give them names .*\{\"first\": …"):
        ackclock.compare(made(0.3), made(0.9), **short)
    with pytest.raises(ValueError, match=r"give the class Own, not its instance"):
        ackclock.compare("standard", made(0.3)(), **short)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"must be names, files, classes, or names for these .*, not 3$"):
        ackclock.compare("standard", 3, **short)  # type: ignore[arg-type]


def test_the_command_takes_names_of_contenders(cli: Cli, tmp_path: Path, shared: Path) -> None:
    (tmp_path / "delay.py").write_text("from ackclock import SlowStart\n\nclass Eager(SlowStart):\n    pass\n")
    short = ["--paths", "shared.toml", "--seeds", "1", "--duration", "1 s", "--no-harm", "--json"]
    done = cli("compare", "standard", "eager=delay.py:Eager", "combined=linux+slow_start=vegas", *short)
    assert [row["contender"] for row in json.loads(done.stdout)["rows"]] == ["standard", "eager", "combined"]
    done = cli("compare", "standard", "eager=nope")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    said = "error: eager=nope: eager is no key of a flow but the name of a contender, and unknown algorithm"
    assert done.stderr.startswith(said)


def test_contenders_may_be_profiles_with_parameters(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "path.toml"
    path.write_text('duration = "1 s"\n[flow]\npacket_size = "1200 B"\n', encoding="utf-8")
    own = 'own=profile={ kind = "quic", control = "newreno" }'
    done = cli("compare", own, "profile=quinn", "--paths", str(path), "--seeds", "2")
    assert done.returncode == 0, done.stderr
    shown = done.stdout + done.stderr
    assert "own: profile quic, initial window of the control, packets of 1200 B" in shown
    assert "profile=quinn: profile quinn, initial window of the control" in shown
