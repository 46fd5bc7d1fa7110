"""The matrix: metrics by hand, tables and figures, and the command."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
import warnings
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock.drawing.files import encode
from ackclock.drawing.matplotlib import draw
from ackclock.experiments import sources
from ackclock.experiments.store import JOURNAL, Store
from ackclock.judging.samples import Sample
from ackclock.matrices import crossing, effects, figures, metrics, paths
from ackclock.matrices import parts as composing
from ackclock.matrices import report as crossreport
from ackclock.matrices import tables as crosstables
from ackclock.matrices.crossing import Plan
from ackclock.matrices.matrix import Matrix
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


@pytest.fixture
def rival(tmp_path: Path) -> Path:
    """Return a short path with a rival flow."""
    path = tmp_path / "rival.toml"
    path.write_text(RIVAL)
    return path


@pytest.fixture
def small(rival: Path) -> Matrix:
    """Run four compositions on one path."""
    return ackclock.matrix(
        slow_start=["standard", "staged"], avoidance="reno", loss_response="own", recovery=["sack", "reno"],
        paths=rival, seeds=2,
    )  # fmt: skip


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
    plan = crossing.plan({}, where=["clean"], seeds=2)
    sizes = [len(composing.known(axis)) for axis in composing.AXES]
    whole = [each for each in plan.compositions if each.whole]
    assert len(whole) == len(composing.known("congestion_control")) * sizes[3]
    assert len(plan.compositions) - len(whole) == sizes[0] * sizes[1] * sizes[2] * sizes[3]
    assert len({run.hash for run in plan.runs}) == len(plan.runs) == 2 * len(plan.compositions)
    last = next(each for each in reversed(plan.compositions) if not each.whole)
    control = last.labels
    flow = ackclock.run(plan.paths[0].compose(last, 1).set({"duration": "10 ms"})).summary["flows"][0]
    assert (
        flow["control"] == f"ns2_table + {control['slow_start']} + {control['avoidance']} + {control['loss_response']}"
    )
    assert flow["recovery"] == control["recovery"]


def test_whole_controls_occupy_the_axes_that_they_replace(rival: Path) -> None:
    linux = {"kind": "bbr", "constants": "linux"}
    chosen = {"congestion_control": ["bbr", linux], "recovery": ["sack", "newreno"]}
    plan = crossing.plan(chosen, where=[rival], seeds=1, baseline={"congestion_control": "bbr"})
    names = ["bbr + sack", "bbr + newreno", "bbr constants=linux + sack", "bbr constants=linux + newreno"]
    assert [each.name for each in plan.compositions] == names
    assert plan.baseline == plan.compositions[0]
    parts = ("slow_start", "avoidance", "loss_response")
    assert plan.compositions[2].labels == {**dict.fromkeys(parts, "bbr constants=linux"), "recovery": "sack"}
    flows = ackclock.run(plan.paths[0].compose(plan.compositions[1], 1)).summary["flows"]
    assert [flow["control"] for flow in flows if flow["name"] == "tested"] == ["bbr"]
    assert flows[0]["recovery"] == "newreno"
    # Combined with parts only if both are named.
    parts_only = crossing.plan({"avoidance": "reno", "slow_start": "standard"}, where=[rival], seeds=1)
    assert not any(each.whole for each in parts_only.compositions)
    both = {"avoidance": "reno", "slow_start": "standard", "loss_response": "own", "recovery": "sack"}
    plan = crossing.plan({**both, "congestion_control": "bbr"}, where=[rival], seeds=1)
    assert [each.name for each in plan.compositions] == ["standard + reno + own + sack", "bbr + sack"]


def test_whole_controls_cannot_be_combined_with_parts() -> None:
    with pytest.raises(ValueError, match="avoidance cannot be combined with congestion_control"):
        composing.composition({"congestion_control": "bbr", "avoidance": "reno"})
    with pytest.raises(ValueError, match="'python' names no control; known: bbr"):
        composing.choose("congestion_control", "python")


def test_a_whole_control_may_be_the_rival(rival: Path) -> None:
    rival.write_text(RIVAL.replace('name = "other"', 'name = "other"\ncongestion_control = "bbr"'))
    found = paths.read(rival).rival
    assert found is not None
    assert (found.name, found.whole) == ("bbr + sack", True)
    flows = ackclock.run(paths.read(rival).compose(found, 1)).summary["flows"]
    assert {flow["control"] for flow in flows} == {"bbr"}


def test_combinations_that_cannot_be_are_left_out(rival: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compose = paths.NetworkPath.compose

    def choosy(path: paths.NetworkPath, chosen: composing.Composition, seed: int) -> ackclock.Scenario:
        if (chosen.labels["slow_start"], chosen.labels["recovery"]) == ("staged", "tahoe"):
            raise ackclock.ScenarioError("staged needs more than tahoe")
        return compose(path, chosen, seed)

    monkeypatch.setattr(paths.NetworkPath, "compose", choosy)
    chosen = {"slow_start": ["standard", "staged"], "avoidance": "reno", "loss_response": "own", "recovery": "tahoe"}
    plan = crossing.plan(chosen, where=[rival], seeds=1)
    assert [each.labels["slow_start"] for each in plan.compositions] == ["standard"]
    assert plan.refused == ["staged + reno + own + tahoe: staged needs more than tahoe"]
    with pytest.raises(ValueError, match="more than tahoe"):
        crossing.plan({**chosen, "slow_start": "staged"}, where=[rival], seeds=1)


# Paths


@pytest.mark.parametrize("file", sorted(paths.FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_shipped_paths_are_described(file: Path) -> None:
    text = file.read_text()
    assert text.startswith("# ")
    assert "\n# Tests " in text
    assert "Numbers: " in text
    assert all(len(line) <= 140 for line in text.splitlines())


@pytest.mark.parametrize("file", sorted(paths.FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_shipped_paths_run(file: Path) -> None:
    if file.stem not in ("clean", *(each.name for each in readable())):
        pytest.skip("it needs a part that there is not")
    made = ackclock.matrix(
        slow_start="standard", avoidance="reno", loss_response="own", recovery=["sack", "tahoe"], paths=file.stem,
        seeds=1, duration="6 s",
    )  # fmt: skip
    assert made.table["goodput_bps_vs"].null_count() == 0
    assert made.table["sojourn_mean"].min() > 0  # type: ignore[operator]
    path = made.plan.paths[0]
    assert (made.table["taken"].null_count() == 0) == (path.rival is not None)
    assert (made.table["completion"].null_count() == 0) == bool(path.sized)
    if path.rival is not None:
        assert path.rival.labels["avoidance"].removesuffix("_linux") == path.name, "the path is called like its rivals"


def readable() -> list[paths.NetworkPath]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return paths.shipped()


def test_a_path_that_cannot_be_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good.toml").write_text(RIVAL)
    (tmp_path / "newer.toml").write_text(RIVAL + 'avoidance = "none_such"\n')
    monkeypatch.setattr(paths, "FOLDER", tmp_path)
    with pytest.warns(UserWarning, match=r"'newer' is skipped: .*none_such"):
        assert [path.name for path in paths.shipped()] == ["good"]
    with pytest.raises(ackclock.ScenarioError, match="none_such"):
        paths.find("newer")


def test_a_rival_is_found_with_all_its_parts(rival: Path) -> None:
    rival.write_text(RIVAL.replace('name = "other"', 'name = "other"\nslow_start = "limited"\nrecovery = "reno"'))
    path = paths.read(rival)
    assert path.summary == "A tested flow beside another"
    assert path.rival is not None
    assert path.rival.name == "limited + reno + own + reno"
    like = path.compose(path.rival, 1)
    flows = ackclock.run(like).summary["flows"]
    assert flows[0]["control"] == flows[1]["control"]
    assert flows[0]["recovery"] == "reno"
    rival.write_text(RIVAL + '\n[[flow]]\nname = "third"\navoidance = "binomial"\n')
    assert paths.read(rival).rival is None, "rivals of several kinds have no like"


def test_a_single_flow_table_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('duration = "1 s"\n[flow]\nname = "tested"\n')
    path = paths.read(tmp_path / "one.toml")
    assert path.rival is None
    assert path.summary == ""
    made = path.compose(composing.composition({"slow_start": "limited"}), 5)
    assert made.seed == 5
    assert ackclock.run(made).summary["flows"][0]["control"] == "ns2_table + limited + reno + own"


# Metrics by hand


def test_the_metrics_are_those_of_the_run(small: Matrix) -> None:
    row = small.runs.row(0, named=True)
    path = small.plan.paths[0]
    run = ackclock.run(path.compose(small.plan.compositions[0], 1))
    like = ackclock.run(path.compose(path.rival, 1))  # type: ignore[arg-type]
    tested, other = run.summary["flows"]
    assert (tested["name"], other["name"]) == ("tested", "other")
    assert row["goodput_bps"] == tested["goodput_bps"]
    assert row["rival_goodput_bps"] == other["goodput_bps"]
    assert row["loss_rate"] == tested["dropped_packets"] / tested["sent_packets"] > 0
    assert row["sojourn_mean"] == max(link["sojourn_mean"] for link in run.summary["links"]) > 0.01
    assert row["taken"] == 1 - other["goodput_bps"] / like.summary["flows"][1]["goodput_bps"]
    assert row["jain"] is None, "one flow is no group"
    assert row["completion"] is None, "an endless flow is never done"
    assert row["hash"] == run.scenario.hash


def test_rivals_lose_nothing_to_their_like(small: Matrix) -> None:
    own = small.runs.filter(slow_start="standard", recovery="sack")
    assert own["taken"].to_list() == [0.0, 0.0]
    assert small.runs.filter(recovery="reno")["taken"].abs().min() > 0  # type: ignore[operator]


def test_unfinished_transfers_count_with_the_time_they_had(tmp_path: Path) -> None:
    (tmp_path / "sized.toml").write_text(SIZED)
    made = ackclock.matrix(
        slow_start="standard",
        avoidance="reno",
        loss_response="own",
        recovery="sack",
        paths=tmp_path / "sized.toml",
        seeds=1,
    )
    row = made.runs.row(0, named=True)
    small, large = ackclock.run(made.plan.runs[0].scenario).summary["flows"]
    assert large["completion_time"] is None
    assert row["unfinished"] == 1
    assert row["completion"] == pytest.approx((small["completion_time"] + 2.0) / 2)
    assert row["jain"] is None, "transfers of a size do not share"
    assert made.metric("sized") == "completion"


def test_against_the_baseline() -> None:
    def row(seed: int, goodput: float | None, loss: float) -> dict[str, Any]:
        return {**dict.fromkeys(metrics.METRICS), "seed": seed, "goodput_bps": goodput, "loss_rate": loss}

    def compared(own: list[dict[str, Any]], base: dict[int, dict[str, Any]]) -> dict[str, Any]:
        rows: list[dict[str, Any]] = [{"baseline": False, "seeds": len(own), **effects._means(own)}]
        for key in metrics.METRICS:
            effects._judge(rows, [effects._samples(own, base)], key)
        return rows[0]

    own = [row(1, 3.0, 0.03), row(2, 5.0, 0.05)]
    base = {1: row(1, 2.0, 0.0), 2: row(2, 3.0, 0.01)}
    made = compared(own, base)
    assert made["goodput_bps_vs"] == pytest.approx(8 / 5), "of the means"
    assert made["loss_rate_vs"] == pytest.approx(0.035)
    assert made["jain"] is made["jain_vs"] is made["jain_verdict"] is None
    empty = compared(own, {1: row(1, 0.0, 0.0), 2: row(2, 0.0, 0.0)})
    assert empty["goodput_bps_vs"] is None
    assert empty["loss_rate_vs"] == pytest.approx(0.04)
    assert compared(own, {1: row(1, 2.0, 0.0)})["goodput_bps_vs"] is None, "seed 2 is missing"
    assert compared([row(1, None, 0.1)], base)["goodput_bps_vs"] is None
    alike = compared([row(1, 3.0, 0.0), row(2, 3.0, 0.0)], base)
    assert (alike["goodput_bps"], alike["goodput_bps_low"]) == (3.0, None), "seeds that change nothing tell nothing"


def test_the_table_is_paired_by_seed(small: Matrix) -> None:
    runs = small.runs
    own = runs.filter(slow_start="staged", recovery="sack")["goodput_bps"]
    base = runs.filter(slow_start="standard", recovery="sack")["goodput_bps"]
    row = small.table.filter(slow_start="staged", recovery="sack").row(0, named=True)
    against = ratios.ratio(own.to_list(), base.to_list(), "seed")
    assert row["goodput_bps"] == pytest.approx(own.mean())
    assert row["goodput_bps_vs"] == against.mean == pytest.approx(own.sum() / base.sum())
    ends = (row["goodput_bps_vs_low"], row["goodput_bps_vs_high"])
    assert ends == ((against.low, against.high) if math.isfinite(against.high) else (None, None))
    baseline = small.table.filter(polars.col("baseline")).row(0, named=True)
    assert (baseline["slow_start"], baseline["recovery"], baseline["goodput_bps_vs"]) == ("standard", "sack", 1.0)
    assert len(small.table) == 4


def test_the_correction_covers_all_compositions_once(small: Matrix) -> None:
    runs = small.runs
    own = runs.filter(slow_start="staged", recovery="sack")["goodput_bps"].to_list()
    base = runs.filter(slow_start="standard", recovery="sack")["goodput_bps"].to_list()
    row = small.table.filter(slow_start="staged", recovery="sack").row(0, named=True)
    assert row["goodput_bps_p"] == pytest.approx(compare(own, base).p_value)
    assert row["goodput_bps_holm"] >= row["goodput_bps_p"]
    table = small.table.filter(~polars.col("baseline"))
    distinct = table.select("goodput_bps", "goodput_bps_p").drop_nulls().unique()
    smallest = table.filter(polars.col("goodput_bps_p") == polars.col("goodput_bps_p").min()).row(0, named=True)
    assert smallest["goodput_bps_holm"] == pytest.approx(min(1, len(distinct) * smallest["goodput_bps_p"]))


def test_only_better_compositions_are_marked() -> None:
    def row(key: str, ends: tuple[float, float, float], verdict: str) -> dict[str, Any]:
        return dict(
            zip((f"{key}_vs", f"{key}_vs_low", f"{key}_vs_high", f"{key}_verdict"), (*ends, verdict), strict=True)
        )

    better = row("goodput_bps", (1.2, 1.1, 1.3), "better")
    assert crosstables.against(better, "goodput_bps") == "* ×1.200 [×1.100, ×1.300]"
    unclear = row("goodput_bps", (1.2, 0.9, 1.5), "unclear")
    assert crosstables.against(unclear, "goodput_bps") == "×1.200 [×0.900, ×1.500]"
    assert not crosstables.wins(row("goodput_bps", (0.8, 0.7, 0.9), "worse"), "goodput_bps")


def test_a_difference_that_a_plot_does_not_show_is_not_better() -> None:
    scatter = (0.999, 1.0, 1.001, 1.0005, 0.9995, 1.0002)
    rows: list[dict[str, Any]] = [{"baseline": False, "seeds": 6, "goodput_bps": 1.006}]
    pairs = Sample([1.006 * each for each in scatter], list(scatter[::-1]), "ratio")
    effects._judge(rows, [{"goodput_bps": pairs}], "goodput_bps")
    assert rows[0]["goodput_bps_p"] < 0.05
    assert [rows[0][f"goodput_bps{end}"] for end in effects.VERDICTS.values()] == ["better", "same", "same"]


def test_the_map_marks_winners(small: Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "dot" not in figures.cells(small, "rival").title
    monkeypatch.setattr(figures, "wins", lambda row, key: row["slow_start"] == "staged" and row["recovery"] == "sack")
    figure = figures.cells(small, "rival")
    axes = draw(figure).axes[0]
    (dots,) = axes.collections
    ((x, y),) = dots.get_offsets().tolist()
    assert axes.get_xticklabels()[round(x - 0.36)].get_text() == "sack"
    assert axes.get_yticklabels()[round(y + 0.34)].get_text() == "staged"
    assert "(dot: better after Holm's correction)" in figure.title


def test_one_seed_has_no_interval(rival: Path) -> None:
    made = ackclock.matrix(slow_start="staged", avoidance="reno", recovery="sack", paths=rival, seeds=1)
    assert made.table["goodput_bps_low"].null_count() == len(made.table)
    assert made.table["goodput_bps"].null_count() == 0


def test_a_baseline_outside_the_choice_is_run_but_not_ranked(rival: Path) -> None:
    made = ackclock.matrix(
        slow_start=["standard", "staged"], avoidance="reno", loss_response="own", recovery="reno", paths=rival,
        seeds=1, baseline={"slow_start": "limited", "recovery": "tahoe"},
    )  # fmt: skip
    assert made.plan.baseline.name == "limited + reno + own + tahoe"
    assert len(made.table) == 3
    assert set(made.ranked("rival")["slow_start"]) == {"standard", "staged"}
    ranks = [row[1] for row in crosstables.tables(made)[0].rows]
    assert ranks == ["1", "2", "baseline"]


def test_ranks_and_means(small: Matrix) -> None:
    ranked = small.ranked("rival")["goodput_bps"].to_list()
    assert ranked == sorted(ranked, reverse=True)
    losses = small.ranked("rival", "loss_rate")["loss_rate"].to_list()
    assert losses == sorted(losses)
    mean = small.parts("goodput_bps").filter(axis="recovery", part="reno")["vs"].item()
    assert mean == pytest.approx(small.table.filter(recovery="reno")["goodput_bps_vs"].mean())


def test_equal_neighbours_share_a_row(rival: Path) -> None:
    made = ackclock.matrix(
        slow_start="standard", avoidance="reno", loss_response=["own", "halve"], paths=rival, seeds=1
    )
    rows = crosstables.tables(made)[0].rows
    recoveries = len(composing.known("recovery"))
    assert len(rows) == recoveries, "Reno's own response is to halve"
    assert all("own = halve" in row for row in rows)
    assert [row[1].split()[0] for row in rows] == [str(2 * index + 1) for index in range(recoveries)]


def test_results_do_not_depend_on_threads(rival: Path) -> None:
    tables = [
        ackclock.matrix(slow_start=["standard", "staged"], avoidance="reno", paths=rival, seeds=2, jobs=jobs).table
        for jobs in (1, 3)
    ]
    assert tables[0].equals(tables[1])


# Figures and files


def test_figures(small: Matrix) -> None:
    figure = small.plot("rival")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] in (
        ["standard", "staged"],
        ["staged", "standard"],
    )
    assert "goodput" in figure.get_suptitle()
    assert encode(figure, "png") == encode(small.plot("rival"), "png")
    names = [label.get_text() for label in small.plot().axes[0].get_yticklabels()]
    assert names == ["slow start: standard", "slow start: staged", "recovery: sack", "recovery: reno"]
    with pytest.raises(ValueError, match="did you mean 'rival'"):
        small.plot("rivla")
    with pytest.raises(ValueError, match="did you mean 'loss_rate'"):
        small.plot("rival", "loss_rat")
    with pytest.raises(ValueError, match="completion cannot be compared"):
        small.plot("rival", "completion")


def test_writing(small: Matrix, tmp_path: Path) -> None:
    report = small.write(tmp_path / "o")
    assert report == tmp_path / "o" / "report.html"
    names = {path.name for path in (tmp_path / "o").iterdir()}
    assert names == {
        "report.html", "report.md", "matrix.parquet", "matrix.csv", "runs.parquet", "measured.parquet", "figures",
        "manifest.json", "lock",
    }  # fmt: skip
    assert polars.read_parquet(tmp_path / "o" / "matrix.parquet").equals(small.table)
    assert polars.read_parquet(tmp_path / "o" / "runs.parquet").equals(small.runs)
    figures = {path.name for path in (tmp_path / "o" / "figures").iterdir()}
    assert {"overview.png", "rival-goodput_bps.png", "rival-taken.png"} <= figures
    assert "rival-completion.png" not in figures
    text = (tmp_path / "o" / "report.md").read_text()
    assert "A tested flow beside another" in text
    assert all(f"figures/{name}" in text for name in figures)
    small.write(tmp_path / "p")
    for name in sorted(names - {"figures", "lock"}):
        assert (tmp_path / "o" / name).read_bytes() == (tmp_path / "p" / name).read_bytes(), name


def test_a_users_file_beside_the_figures_stays(small: Matrix, tmp_path: Path) -> None:
    small.write(tmp_path / "o")
    figures = tmp_path / "o" / "figures"
    (figures / "notes.txt").write_text("mine")
    with opened(tmp_path / "o", small.plan):
        assert [path.name for path in figures.iterdir()] == ["notes.txt"]
    (figures / "notes.txt").unlink()
    with opened(tmp_path / "o", small.plan):
        assert not figures.exists()


def opened(folder: Path, plan: Plan) -> AbstractContextManager[Store]:
    return Store(folder).opened(crossreport.KIND, crossreport.manifest(plan), crossreport.WRITTEN)


def test_stored_measurements_are_reused(small: Matrix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small.write(tmp_path / "o")
    known = Store(tmp_path / "o")
    assert dict(known) == dict(small.measured)
    again = crossing.execute(small.plan, store=known)
    assert again.reused == again.finished == 8
    assert Matrix(again).table.equals(small.table)
    monkeypatch.setattr(sources, "program", lambda *_: "another")
    anew = replace(small.plan, runs=[replace(run) for run in small.plan.runs])
    with opened(tmp_path / "o", anew):
        pass
    assert crossing.execute(anew, store=Store(tmp_path / "o")).reused == 0, "nor after an attempt that was killed"


# The command

TABLE = """\
compositions
 path    rank         slow start   recovery   goodput (Mbit/s)   loss (%)   queueing delay (ms)   taken from rivals (%)   against baseline
 ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 rival   1 baseline   standard     sack                 0.3211      13.33                 53.99                       0             ×1.000
 rival   2            standard     reno                 0.2147      19.35                 53.24                  −6.766             ×0.669
 rival   3            staged       sack                 0.1465      32.48                 46.64                  −10.55             ×0.456
 rival   4            staged       reno                 0.1465      32.48                 46.65                  −10.55             ×0.456
one part changed in the baseline
 axis         part       rival: goodput
 ──────────────────────────────────────
 slow start   standard           ×1.000
 slow start   staged             ×0.456
 recovery     sack               ×1.000
 recovery     reno               ×0.669
mean of all with the part
 axis         part       rival: goodput
 ──────────────────────────────────────
 slow start   standard           ×0.834
 slow start   staged             ×0.456
 recovery     sack               ×0.728
 recovery     reno               ×0.562
"""  # noqa: E501


def test_the_command_prints_a_small_table(cli: Cli, rival: Path) -> None:
    done = cli("matrix", *SMALL, "--path", "rival.toml", "--seeds", "1")
    assert done.returncode == 0, done.stderr
    assert [line.rstrip() for line in done.stdout.splitlines() if line.strip()] == TABLE.splitlines()
    assert "4 compositions on rival; baseline: standard + reno + own + sack" in done.stderr


def test_the_command_writes_and_resumes(cli: Cli, rival: Path, tmp_path: Path) -> None:
    done = cli("matrix", *SMALL, "--path", "rival.toml", "--seeds", "2", "--out", "o", "--json", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert "8 runs in" in done.stderr
    printed = json.loads(done.stdout)
    assert polars.read_parquet(tmp_path / "o" / "matrix.parquet").to_dicts() == printed
    more = cli("matrix", *SMALL, "--path", "rival.toml", "--seeds", "3", "--out", "o")
    assert more.returncode == 0, more.stderr
    assert "4 runs in" in more.stderr
    assert "8 were stored" in more.stderr
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "notes").touch()
    assert "was not written by ackclock" in cli("matrix", *SMALL, "--path", "rival.toml", "--out", "file").stderr


def test_a_large_matrix_is_shown_in_brief(cli: Cli, rival: Path) -> None:
    done = cli(
        "matrix", "--path", "rival.toml", "--seeds", "1", "--duration", "500 ms", "--top", "2", "--sort", "taken"
    )
    assert done.returncode == 0, done.stderr
    table = done.stdout.partition("one part changed")[0]
    assert 3 <= table.count(" rival ") <= 4
    assert "baseline" in table
    assert "of " in done.stderr
    for heading in ("one part changed in the baseline", "mean of all with the part"):
        assert heading in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--slow-start", "stagd"], 'did you mean "staged"?'),
        (["--slow-start", '{ kind = "staged", algo = 3 }'], "algo"),
        (["--slow-start", "{ kind = }"], "expected a table"),
        (["--slow-start", "{ algorithm = 3 }"], "kind"),
        (["--slow-start", "standard,,limited"], "separated by commas"),
        (["--recovery", "sakc"], 'did you mean "sack"?'),
        (["--path", "claen"], "did you mean 'clean'?"),
        (["--path", "none.toml"], "none.toml"),
        (["--path", "clean,clean"], "two paths are called 'clean'"),
        (["--path", "untested.toml"], "must begin with 'tested'"),
        (["--path", "swept.toml"], "a path is one scenario; remove [sweep]"),
        (["--seeds", "0"], "--seeds"),
        (["--seeds", "1000000000"], "runs are too many: at most 200,000"),
        (["--duration", "10"], 'error: duration: a time needs a unit; did you mean "10 s"?'),
        (["--baseline", "reno"], "KEY=VALUE"),
        (["--baseline", "avoidnce=reno"], "did you mean 'avoidance'?"),
        (["--baseline", "avoidance=rneo"], 'did you mean "reno"?'),
        (["--baseline", "avoidance=reno", "--baseline", "avoidance=binomial"], "given twice"),
        (["--baseline", "avoidance=reno,binomial"], "one part on each axis"),
        (["--sort", "goodput"], "did you mean 'goodput_bps'?"),
    ],
)
def test_bad_input_is_one_line(cli: Cli, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "untested.toml").write_text(RIVAL.replace("tested", "other0"))
    (tmp_path / "swept.toml").write_text(RIVAL + '\n[sweep]\n"flow.recovery" = ["sack", "reno"]\n')
    done = cli("matrix", *(arguments if "--path" in arguments else ["--path", "lossy", *arguments]))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_metric_that_a_path_has_not_is_said(cli: Cli) -> None:
    done = cli("matrix", *SMALL, "--path", "lossy", "--seeds", "1", "--duration", "1 s", "--sort", "taken")
    assert done.returncode == 0, done.stderr
    assert "--sort taken: no composition has a value on lossy" in done.stderr


def test_an_interrupted_matrix_keeps_finished_runs(cli: Cli, rival: Path, tmp_path: Path) -> None:
    arguments = [*SMALL, "--path", "rival.toml", "--seeds", "400", "--duration", "30 s", "--out", "o", "--jobs", "1"]
    command = [sys.executable, "-m", "ackclock", "matrix", *arguments]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "o" / "manifest.json").exists() and process.poll() is None:
        time.sleep(0.02)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "of 1,600 runs are finished; run the same command to continue" in err
    assert json.loads((tmp_path / "o" / "manifest.json").read_text())["state"] == "interrupted"
    done = polars.read_parquet(tmp_path / "o" / "measured.parquet")
    assert 0 < len(done) < 1600
    again = cli("matrix", *SMALL, "--path", "rival.toml", "--seeds", "1", "--duration", "30 s", "--out", "o")
    assert again.returncode == 0, again.stderr
    assert "were stored" in again.stderr


def test_a_killed_matrix_keeps_finished_runs(cli: Cli, rival: Path, tmp_path: Path) -> None:
    arguments = [*SMALL, "--path", "rival.toml", "--seeds", "400", "--duration", "30 s", "--out", "o", "--jobs", "1"]
    process = subprocess.Popen([sys.executable, "-m", "ackclock", "matrix", *arguments], cwd=tmp_path)
    kept = tmp_path / "o" / JOURNAL
    while process.poll() is None and (not kept.exists() or kept.stat().st_size < 2000):
        time.sleep(0.02)
    process.kill()
    process.wait()
    finished = len(kept.read_bytes().splitlines()[:-1])
    assert finished > 3
    with kept.open("ab") as file:
        file.write(b'["an incomplete line')
    again = cli("matrix", *SMALL, "--path", "rival.toml", "--seeds", "1", "--duration", "30 s", "--out", "o")
    assert again.returncode == 0, again.stderr
    assert "4 were stored" in again.stderr
    assert not kept.exists()


def test_paths_are_listed(cli: Cli) -> None:
    listed = json.loads(cli("list", "paths", "--json").stdout)
    assert {"clean", "lossy", "bufferbloat", "long_fat", "short", "reno"} <= {path["name"] for path in listed}
    assert "Four identical flows" in cli("list", "paths").stdout
