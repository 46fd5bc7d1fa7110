"""The matrix: combinations of parts, their measures by hand, ranking and effects, maps, and the command."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock.comparisons import contenders, crossed, crossing, maps, places
from ackclock.comparisons import parts as composing
from ackclock.comparisons.judging import MANY
from ackclock.comparisons.places import NetworkPath
from ackclock.comparisons.result import Comparison
from ackclock.drawing.files import encode
from ackclock.drawing.matplotlib import draw
from ackclock.statistics import ratios
from ackclock.statistics.pairs import compare

from .conftest import Cli

RIVAL = """\
# A tested flow beside another
duration = "4 s"

[topology]
kind = "dumbbell"
access_delays = ["5 ms", "7 ms"]
bottleneck = { rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }

[[flow]]
name = "tested"
start_jitter = "100 ms"

[[flow]]
name = "other"
start_jitter = "100 ms"
"""
SIZED = """\
# Two transfers: one that is done, one that cannot be
duration = "3 s"

[[flow]]
name = "tested-small"
size = "10 packets"

[[flow]]
name = "tested-large"
start = "1 s"
size = "100000 packets"
"""
SMALL = ["--slow-start", "standard,staged", "--avoidance", "reno", "--loss-response", "own", "--recovery", "sack,reno"]
BOTH = {"slow_start": "standard", "avoidance": "reno", "loss_response": "own", "recovery": "sack"}


@pytest.fixture
def rival(tmp_path: Path) -> Path:
    """Return a short path with a rival flow."""
    path = tmp_path / "rival.toml"
    path.write_text(RIVAL)
    return path


@pytest.fixture
def small(rival: Path) -> Comparison:
    """Run four combinations on one path."""
    return ackclock.matrix(
        slow_start=["standard", "staged"], avoidance="reno", loss_response="own", recovery=["sack", "reno"],
        paths=rival, seeds=2,
    )  # fmt: skip


def path_of(file: Path) -> NetworkPath:
    (place,) = places.find([str(file)])
    return place.paths[0]


def names(plan: crossing.Plan) -> list[str]:
    return [each.name for each in plan.contenders]


# The parts and their combinations


def test_the_axes_have_all_parts_the_default_first() -> None:
    registry = json.loads(ackclock._core.registry())
    for axis in ("slow_start", "avoidance"):
        assert composing.known(axis) == [part["name"] for part in registry[axis]]
    assert composing.known("loss_response")[0] == "own"
    assert set(composing.known("loss_response")) == {"own", *(part["name"] for part in registry["loss_response"])}
    assert composing.known("recovery")[0] == "sack"
    assert {"tahoe", "reno", "newreno"} < set(composing.known("recovery"))


def test_parts_are_read_as_a_scenario_has_them() -> None:
    specs = composing.read_parts("slow_start", ['limited, { kind = "staged", algorithm = "3" }', "standard"])
    assert specs == ["limited", {"kind": "staged", "algorithm": "3"}, "standard"]
    labels = [part.label for part in composing.choose("slow_start", [*specs, "limited"])]
    assert labels == ["limited", "staged algorithm=3", "standard"]
    assert [part.label for part in composing.choose("recovery", "tahoe")] == ["tahoe"]


def test_every_combination_is_made_once() -> None:
    plan = crossing.plan({}, paths=["clean"], seeds=1)
    sizes = [len(composing.known(axis)) for axis in composing.AXES]
    whole = len(composing.known("congestion_control")) * sizes[3]
    assert len(plan.contenders) - whole == sizes[0] * sizes[1] * sizes[2] * sizes[3]
    assert len(set(names(plan))) == len(plan.contenders)
    assert not plan.outside and plan.contenders[0].name == "standard + reno + own + sack"
    rng = random.Random(7)
    for contender in rng.sample(list(plan.contenders), 5):
        own = contender.labels
        made = plan.places[0].paths[0].compose(contender, 1, {}).set({"duration": "10 ms"})
        flow = ackclock.run(made).summary["flows"][0]
        if own["slow_start"] != own["avoidance"]:
            assert flow["control"] == f"ns2_table + {own['slow_start']} + {own['avoidance']} + {own['loss_response']}"
        assert flow["recovery"] == own["recovery"]


def test_whole_controls_occupy_the_axes_that_they_replace(rival: Path) -> None:
    linux = {"kind": "bbr", "variant": "linux"}
    chosen = {"congestion_control": ["bbr", linux], "recovery": ["sack", "newreno"]}
    plan = crossing.plan(chosen, paths=[rival], seeds=1, baseline={"congestion_control": "bbr"})
    assert names(plan) == ["bbr + sack", "bbr + newreno", "bbr variant=linux + sack", "bbr variant=linux + newreno"]
    parts = ("slow_start", "avoidance", "loss_response")
    assert plan.contenders[2].labels == {**dict.fromkeys(parts, "bbr variant=linux"), "recovery": "sack"}
    flows = ackclock.run(plan.places[0].paths[0].compose(plan.contenders[1], 1, {})).summary["flows"]
    assert [flow["control"] for flow in flows if flow["name"] == "tested"] == ["bbr"]
    assert flows[0]["recovery"] == "newreno"
    # Combined with parts only if both are named.
    parts_only = crossing.plan({"avoidance": "reno", "slow_start": "standard"}, paths=[rival], seeds=1)
    assert not any("bbr" in name for name in names(parts_only))
    plan = crossing.plan({**BOTH, "congestion_control": "bbr"}, paths=[rival], seeds=1)
    assert names(plan) == ["standard + reno + own + sack", "bbr + sack"]


def test_whole_controls_cannot_be_combined_with_parts() -> None:
    with pytest.raises(ValueError, match="avoidance cannot be combined with congestion_control"):
        composing.composition({"congestion_control": "bbr", "avoidance": "reno"})
    with pytest.raises(ValueError, match="'python' names no control; known: bbr, bbr1, copa, vivace"):
        composing.choose("congestion_control", "python")


def test_combinations_that_cannot_be_are_left_out(rival: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compose = NetworkPath.compose

    def choosy(path: NetworkPath, chosen: crossing.Contender, *rest: object) -> ackclock.Scenario:
        if (chosen.labels["slow_start"], chosen.labels["recovery"]) == ("staged", "tahoe"):
            raise ackclock.ScenarioError("staged needs more than tahoe")
        return compose(path, chosen, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(NetworkPath, "compose", choosy)
    chosen = {**BOTH, "slow_start": ["standard", "staged"], "recovery": "tahoe"}
    plan = crossing.plan(chosen, paths=[rival], seeds=1)
    # The baseline has the default recovery, which nobody asked for.
    assert names(plan) == ["standard + reno + own + sack", "standard + reno + own + tahoe"]
    assert plan.outside
    assert plan.refused == ["staged needs more than tahoe"]
    with pytest.raises(ValueError, match="more than tahoe"):
        crossing.plan({**chosen, "slow_start": "staged"}, paths=[rival], seeds=1)


# Paths


@pytest.mark.parametrize("file", sorted(places.FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_shipped_paths_are_described_and_run(file: Path) -> None:
    text = file.read_text()
    assert text.startswith("# ")
    assert "\n# Tests " in text
    assert "Numbers: " in text
    assert all(len(line) <= 140 for line in text.splitlines())
    made = ackclock.matrix(**{**BOTH, "recovery": ["sack", "tahoe"]}, paths=file.stem, seeds=1, duration="6 s")
    matrix = made.crossed
    assert matrix is not None
    assert made.table[f"{matrix.metric(file.stem)}_vs"].null_count() == 1, "all but the baseline"
    assert made.table["sojourn_p95"].min() > 0  # type: ignore[operator]
    rival = path_of(file).rival
    assert (made.table["taken"].null_count() == 0) == (rival is not None)
    if rival is not None:
        avoidance = rival.settings["avoidance"]
        assert isinstance(avoidance, dict)
        assert avoidance["kind"].removesuffix("_linux") == file.stem, "the path is called like its rivals"


def test_a_rival_is_found_with_all_its_parts(rival: Path) -> None:
    rival.write_text(RIVAL.replace('name = "other"', 'name = "other"\nslow_start = "limited"\nrecovery = "reno"'))
    path = path_of(rival)
    assert path.rival is not None
    flows = ackclock.run(path.compose(path.rival, 1, {})).summary["flows"]
    assert flows[0]["control"] == flows[1]["control"]
    assert flows[0]["recovery"] == "reno"
    rival.write_text(RIVAL.replace('name = "other"', 'name = "other"\ncongestion_control = "bbr"'))
    whole = path_of(rival)
    assert whole.rival is not None
    assert {flow["control"] for flow in ackclock.run(whole.compose(whole.rival, 1, {})).summary["flows"]} == {"bbr"}
    rival.write_text(RIVAL + '\n[[flow]]\nname = "third"\navoidance = "binomial"\n')
    assert path_of(rival).rival is None, "rivals of several kinds have no like"
    rival.write_text('duration = "1 s"\n[flow]\nname = "tested"\n')
    assert path_of(rival).rival is None


# Measures by hand


def test_the_measures_are_those_of_the_run(small: Comparison) -> None:
    row = small.runs.row(0, named=True)
    (_, runs), *_ = small.judged.outcome.units["rival"]
    assert runs.like is not None
    run, like = ackclock.run(runs.solo[0].scenario), ackclock.run(runs.like.scenario)
    tested, other = run.summary["flows"]
    assert (tested["name"], other["name"]) == ("tested", "other")
    assert row["goodput_bps"] == tested["goodput_bps"]
    assert row["rival_goodput_bps"] == other["goodput_bps"]
    assert row["resent"] == tested["retransmitted_packets"] / tested["sent_packets"] > 0
    assert row["jain"] is None, "one flow is no group"
    assert row["completion"] is None, "an endless flow is never done"
    assert row["hash"] == run.scenario.hash
    taken = small.judged.values["rival", 0][0]["taken"]
    assert taken == 1 - other["goodput_bps"] / like.summary["flows"][1]["goodput_bps"]


def test_rivals_lose_nothing_to_their_like(small: Comparison) -> None:
    first = small.judged.names.index("standard + reno + own + sack")
    assert [row["taken"] for row in small.judged.values["rival", first]] == [0.0, 0.0]
    other = small.judged.names.index("standard + reno + own + reno")
    assert all(row["taken"] for row in small.judged.values["rival", other])


def test_unfinished_transfers_count_with_the_time_they_had(tmp_path: Path) -> None:
    (tmp_path / "sized.toml").write_text(SIZED)
    made = ackclock.matrix(**{**BOTH, "recovery": ["sack", "reno"]}, paths=tmp_path / "sized.toml", seeds=1)
    row = made.runs.row(0, named=True)
    (_, runs), *_ = made.judged.outcome.units["sized"]
    small, large = ackclock.run(runs.solo[0].scenario).summary["flows"]
    assert large["completion_time"] is None
    assert row["unfinished"] == 1
    assert row["completion"] == pytest.approx((small["completion_time"] + 2.0) / 2)
    assert row["jain"] is None, "transfers of a size do not share"
    assert made.crossed is not None and made.crossed.metric("sized") == "completion"


def test_the_table_is_paired_by_seed_and_corrected_over_all(small: Comparison) -> None:
    def goodputs(name: str) -> list[float]:
        return small.runs.filter(contender=name)["goodput_bps"].to_list()

    own, base = goodputs("staged + reno + own + sack"), goodputs("standard + reno + own + sack")
    row = small.table.filter(slow_start="staged", recovery="sack").row(0, named=True)
    against = ratios.ratio(own, base, "seed")
    assert row["goodput_bps"] == pytest.approx(sum(own) / 2)
    assert row["goodput_bps_vs"] == against.mean == pytest.approx(sum(own) / sum(base))
    raw = {name: compare(goodputs(name), base).p_value for name in small.judged.names[1:]}
    assert row["goodput_bps_vs_p"] >= raw["staged + reno + own + sack"]
    corrected = dict(small.table.filter(~polars.col("reference")).select("contender", "goodput_bps_vs_p").iter_rows())
    least = min(raw, key=raw.__getitem__)
    samples = [tuple(goodputs(name)) for name in small.judged.names]
    distinct = len({pair for pair in itertools.combinations(samples, 2) if pair[0] != pair[1]})
    assert corrected[least] == pytest.approx(min(1, distinct * raw[least])), "each pair of samples counts once"
    baseline = small.table.filter("reference").row(0, named=True)
    assert (baseline["slow_start"], baseline["recovery"]) == ("standard", "sack")
    assert len(small.table) == 4


def test_a_baseline_outside_the_choice_is_run_but_not_ranked(rival: Path) -> None:
    made = ackclock.matrix(
        slow_start=["standard", "staged"], avoidance="reno", loss_response="own", recovery="reno", paths=rival,
        seeds=1, baseline={"slow_start": "limited", "recovery": "tahoe"},
    )  # fmt: skip
    assert made.judged.names[0] == "limited + reno + own + tahoe"
    assert len(made.table) == 3
    assert set(made.ranked("rival")["slow_start"]) == {"standard", "staged"}
    assert [row[1] for row in made.tables[0].rows] == ["1", "2", "baseline"]


def test_ranks_and_means(small: Comparison) -> None:
    ranked = small.ranked("rival")["goodput_bps"].to_list()
    assert ranked == sorted(ranked, reverse=True)
    resent = small.ranked("rival", "resent")["resent"].to_list()
    assert resent == sorted(resent)
    matrix = small.crossed
    assert matrix is not None
    mean = small.parts("goodput_bps").filter(axis="recovery", part="sack")["vs"].item()
    own = matrix.table.filter(recovery="sack")["goodput_bps_vs"]
    assert own.to_list()[0] == 1.0, "the baseline is as it is itself"
    assert mean == pytest.approx(own.mean())
    with pytest.raises(ValueError, match="only a matrix"):
        ackclock.compare("reno", "cubic", paths="clean", seeds=1, duration="1 s", harm=False).ranked("clean")


def test_equal_neighbours_share_a_row(rival: Path) -> None:
    made = ackclock.matrix(**{**BOTH, "loss_response": ["own", "halve"], "recovery": ["sack", "reno"]},
                           paths=rival, seeds=1)  # fmt: skip
    rows = made.tables[0].rows
    assert len(rows) == 2, "Reno's own response is to halve"
    assert all("own = halve" in row for row in rows)
    assert [row[1].split()[0] for row in rows] == ["1", "3"]


def test_many_combinations_are_compared_with_the_baseline_alone(rival: Path) -> None:
    made = ackclock.matrix(slow_start="standard", avoidance="reno", paths=rival, seeds=2, duration="500 ms")
    assert len(made.judged.names) > MANY
    assert {key[3] for key in made.judged.contrasts} == {0}
    assert made.judged.many and made.judged.winner(made.judged.places[0]) is None
    ranks = [row[1] for row in made.tables[0].rows]
    assert 4 <= len(ranks) <= 5 and any("baseline" in rank for rank in ranks)
    assert "combinations on each path are shown" in made.notes[-1]


# Figures and files


def test_the_map_marks_winners(small: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    assert small.crossed is not None
    assert "dot" not in maps.cells(small.crossed, "rival").title
    monkeypatch.setattr(maps, "wins", lambda row, key: row["slow_start"] == "staged" and row["recovery"] == "sack")
    figure = maps.cells(small.crossed, "rival")
    axes = draw(figure).axes[0]
    (dots,) = axes.collections
    ((x, y),) = dots.get_offsets().tolist()
    assert axes.get_xticklabels()[round(x - 0.36)].get_text() == "sack"
    assert axes.get_yticklabels()[round(y + 0.34)].get_text() == "staged"
    assert "(dot: better after Holm's correction)" in figure.title


def test_only_better_combinations_are_marked() -> None:
    def row(ends: tuple[float, float, float], verdict: str) -> dict[str, object]:
        names = ("goodput_bps_vs", "goodput_bps_vs_low", "goodput_bps_vs_high", "goodput_bps_verdict")
        return dict(zip(names, (*ends, verdict), strict=True))

    assert crossed.against(row((1.2, 1.1, 1.3), "better"), "goodput_bps") == "* ×1.200 [×1.100, ×1.300]"
    assert crossed.against(row((1.2, 0.9, 1.5), "unclear"), "goodput_bps") == "×1.200 [×0.900, ×1.500]"
    assert not crossed.wins(row((0.8, 0.7, 0.9), "worse"), "goodput_bps")


def test_no_combination_of_the_front_is_beaten(small: Comparison) -> None:
    rows = small.front.to_dicts()
    assert len(rows) == 4
    costs = {
        best: [(-row["speed"], row["queue"], row["taken"]) for row in rows if row["best"] is best]
        for best in (True, False)
    }

    def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    assert all(any(beats(other, own) for other in costs[True]) for own in costs[False])
    assert not any(beats(other, own) for own in costs[True] for other in costs[True])
    assert small.crossed is not None
    base = next(row for row in rows if (row["slow_start"], row["recovery"]) == ("standard", "sack"))
    assert (base["speed"], base["queue"]) == (1.0, 1.0)


def test_a_map_of_the_field_has_every_part_once_on_hosts_of_today() -> None:
    chosen, paths, baseline = crossing.of_field(dict.fromkeys((*composing.AXES, composing.WHOLE)), None, None)
    assert paths == ["field"]
    found = composing.combine(chosen)
    starts, avoidances, controls = (composing.known(axis) for axis in ("slow_start", "avoidance", composing.WHOLE))
    assert len(found) == len(set(found)) == len(starts) * len(avoidances) + len(controls)
    assert not any("recovery" in each.settings for each in found)
    assert baseline is not None
    assert composing.composition(baseline) in found
    chosen, paths, _ = crossing.of_field({"slow_start": "search", "avoidance": "reno"}, ["clean"], {})
    assert (paths, len(composing.combine(chosen))) == (["clean"], 1)


@pytest.mark.parametrize("name", places.FIELD_PATHS)
def test_paths_of_the_field_are_described_and_run(name: str) -> None:
    file = places.FIELD / f"{name}.toml"
    text = file.read_text()
    assert text.startswith("# ")
    assert "Numbers: " in text
    assert all(len(line) <= 140 or "queue = {" in line for line in text.splitlines())
    path = path_of(file)
    made = path.compose(contenders.resolve("bbr"), 1, {"duration": "2 s"})
    flows = ackclock.run(made).summary["flows"]
    tested = [flow for flow in flows if flow["name"].startswith("tested")]
    assert tested and {flow["control"] for flow in tested} == {"bbr"}
    assert (path.rival is not None) == (name == "competing")


def test_all_paths_of_the_field_are_there() -> None:
    assert sorted(places.FIELD_PATHS) == sorted(file.stem for file in places.FIELD.glob("*.toml"))
    assert [place.name for place in places.find(["field"])] == list(places.FIELD_PATHS)


def test_figures(small: Comparison) -> None:
    figure = small.plot("rival")
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert sorted(labels) == ["staged", "standard"]
    assert "goodput" in figure.get_suptitle()
    assert encode(figure, "png") == encode(small.plot("rival"), "png")
    parts = [label.get_text() for label in small.plot().axes[0].get_yticklabels()]
    assert parts == ["slow start: standard", "slow start: staged", "recovery: sack", "recovery: reno"]
    with pytest.raises(ValueError, match="did you mean 'rival'"):
        small.plot("rivla")
    with pytest.raises(ValueError, match="did you mean 'resent'"):
        small.plot("rival", "resnt")
    with pytest.raises(ValueError, match="completion cannot be compared"):
        small.plot("rival", "completion")


def test_writing(small: Comparison, tmp_path: Path) -> None:
    folder = tmp_path / "o"
    assert small.write(folder) == folder / "report.html"
    maps_of = {path.name for path in (folder / "maps").iterdir()}
    assert {"rival-goodput_bps.png", "rival-taken.png"} <= maps_of
    assert "rival-completion.png" not in maps_of
    assert polars.read_parquet(folder / "comparison.parquet").equals(small.table)
    text = (folder / "report.md").read_text()
    assert "The matrix: 2 × 1 × 1 × 2 parts" in text
    assert all(f"maps/{name}" in text for name in maps_of)
    html = (folder / "report.html").read_text()
    assert "A tested flow beside another" in html
    (folder / "maps" / "notes.txt").write_text("mine")
    small.write(tmp_path / "p")
    for name in ("report.html", "report.md", "runs.parquet", "measured.parquet", "manifest.json"):
        assert (folder / name).read_bytes() == (tmp_path / "p" / name).read_bytes(), name
    small.write(folder)
    assert (folder / "maps" / "notes.txt").read_text() == "mine"


# The command


def test_the_command_prints_writes_and_resumes(cli: Cli, rival: Path, tmp_path: Path) -> None:
    command = ["matrix", *SMALL, "--paths", "rival.toml", "--out", "o"]
    done = cli(*command, "--seeds", "2", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert "4 combinations on rival; baseline: standard + reno + own + sack" in done.stderr
    # The baseline is like the rival, so that the run beside flows like them is the same.
    assert "8 runs in" in done.stderr
    for heading in ("combinations", "one part changed in the baseline", "mean of all with the part"):
        assert heading in done.stdout
    more = cli(*command, "--seeds", "3", "--json")
    assert "4 runs in" in more.stderr and "8 were stored" in more.stderr
    printed = json.loads(more.stdout)["rows"]
    stored = polars.read_parquet(tmp_path / "o" / "comparison.parquet")
    assert stored.select("contender", "goodput_bps", "taken").to_dicts() == [
        {key: row[key] for key in ("contender", "goodput_bps", "taken")} for row in printed
    ]
    page = (tmp_path / "o" / "report.html").read_text()
    assert cli("report", "o").returncode == 0
    assert (tmp_path / "o" / "report.html").read_text() == page
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "notes").touch()
    assert "was not written by ackclock" in cli("matrix", *SMALL, "--paths", "rival.toml", "--out", "file").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--slow-start", "stagd"], 'did you mean "staged"?'),
        (["--slow-start", '{ kind = "staged", algo = 3 }'], "algo"),
        (["--slow-start", "{ kind = }"], "expected a table"),
        (["--slow-start", "{ algorithm = 3 }"], "kind"),
        (["--slow-start", "standard,,limited"], "separated by commas"),
        (["--recovery", "sakc"], 'did you mean "sack"?'),
        (["--paths", "claen"], "did you mean 'clean'?"),
        (["--paths", "none.toml"], "none.toml"),
        (["--paths", "clean,clean"], "two paths are called 'clean'"),
        (["--seeds", "0"], "--seeds"),
        (["--seeds", "1000000000"], "runs are too many: at most 200,000"),
        (["--duration", "10"], 'duration: a time needs a unit; did you mean "10 s"?'),
        (["--baseline", "reno"], "KEY=VALUE"),
        (["--baseline", "avoidnce=reno"], "did you mean 'avoidance'?"),
        (["--baseline", "avoidance=rneo"], 'did you mean "reno"?'),
        (["--baseline", "avoidance=reno", "--baseline", "avoidance=binomial"], "given twice"),
        (["--baseline", "avoidance=reno,binomial"], "one part on each axis"),
        (["--sort", "goodput"], "did you mean 'goodput_bps'?"),
    ],
)
def test_bad_input_is_one_line(cli: Cli, arguments: list[str], message: str) -> None:
    done = cli("matrix", *(arguments if "--paths" in arguments else ["--paths", "lossy", *arguments]))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_metric_that_a_path_has_not_is_said(cli: Cli) -> None:
    done = cli("matrix", *SMALL, "--paths", "lossy", "--seeds", "1", "--duration", "1 s", "--sort", "taken")
    assert done.returncode == 0, done.stderr
    assert "no combination has a value of taken on lossy" in done.stderr


def test_paths_are_listed(cli: Cli) -> None:
    listed = json.loads(cli("list", "paths", "--json").stdout)
    assert {"clean", "lossy", "bufferbloat", "long_fat", "short", "reno"} <= {path["name"] for path in listed}
    assert "Four identical flows" in cli("list", "paths").stdout


def test_an_unknown_control_names_the_controls_alone(cli: Cli) -> None:
    done = cli("matrix", "--congestion-control", "nope")
    assert done.returncode == 2
    known = "bbr, bbr1, copa, vivace"
    assert done.stderr == f"error: congestion_control: unknown congestion control 'nope' (known: {known})\n"


def test_parts_can_be_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "import ackclock\n\nclass Careful(ackclock.SlowStart):\n    def on_ack(self, *_):\n        return 0.5\n"
    Path("careful.py").write_text(text)
    short: dict[str, Any] = {"avoidance": "reno", "loss_response": "own", "recovery": "sack"}
    short |= {"paths": "clean", "seeds": 1, "duration": "2 s"}
    found = ackclock.matrix(slow_start=["standard", "careful.py:Careful"], **short)
    assert found.judged.names == ["standard + reno + own + sack", "careful.py:Careful + reno + own + sack"]
    first, second = found.table["goodput_bps"]
    assert second != pytest.approx(first, rel=0.02), "a slower start is another run"
    with pytest.raises(ValueError, match="slow_start: must be names of parts, tables or classes, not 3"):
        ackclock.matrix(slow_start=3, **short)  # type: ignore[arg-type]
