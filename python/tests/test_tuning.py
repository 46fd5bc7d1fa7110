"""Tuning: a known optimum, the same trials after kill -9 and on any number of threads, and messages for bad files."""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from scipy import stats

import ackclock
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.store import Store
from ackclock.files import toml
from ackclock.tuning import figures, judging, measures, results, schema, scores, search
from ackclock.tuning.outcome import Tuned
from ackclock.tuning.runs import Runs
from ackclock.tuning.space import Space

from .conftest import ROOT, Cli

# One transfer, half of whose slow start waits in a queue of 30 packets.
TRANSFER = """\
duration = "10 s"

[topology.bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "30 packets"

[flow]
size = "1000 packets"
recovery = "sack"
"""
# Random losses: every seed differs.
LOSSY = """\
duration = "3 s"

[topology.bottleneck]
rate = "4 Mbit/s"
delay = "10 ms"
loss = "1 %"
queue = "20 packets"

[flow]
recovery = "sack"
"""
PAIR = """\
duration = "5 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }

[[flow]]
name = "tested"
avoidance = "exponential"
start_jitter = "100 ms"

[[flow]]
name = "rival"
start_jitter = "100 ms"

[[flow]]
name = "short"
start = "1 s"
start_jitter = "100 ms"
size = "20 packets"
"""
KNOWN = """\
scenario = "scenario.toml"

[parameters]
"flow.initial_ssthresh" = { from = "4 segments", to = "400 segments", scale = "log" }

[objective]
minimise = "completion"

[training]
seeds = [1]
"""
RWND = '"flow.rwnd" = { from = "20 packets", to = "40 packets" }'
NOISE = """\
scenario = "scenario.toml"

[parameters]
"flow.start" = { from = "0 ms", to = "100 ms" }
"flow.rwnd" = { from = "20 packets", to = "40 packets" }

[objective]
maximise = "goodput_bps"

[training]
seeds = { from = 1, to = 8 }
"""


def written(folder: Path, scenario: str, tuning: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scenario.toml").write_text(scenario)
    path = folder / "tune.toml"
    path.write_text(tuning)
    return path


def tuned(file: Path, trials: int, **options: Any) -> Tuned:
    return ackclock.tune(file, trials=trials, **options)


def table(folder: Path) -> polars.DataFrame:
    return polars.read_parquet(folder / "trials.parquet")


# The search


def test_the_best_threshold_is_twice_the_queue(tmp_path: Path) -> None:
    # In slow start two packets leave for each ACK, and ACKs come at the rate of the bottleneck. So half of a flight of
    # W packets waits in the queue, and the largest W without a loss is twice the queue, if it is below the BDP.
    found = tuned(written(tmp_path, TRANSFER, KNOWN), 60)
    best = found.verdict.best.values["flow.initial_ssthresh"]
    assert best is not None
    assert 0.9 * 60 <= float(best.split()[0]) <= 60 + 2
    assert found.verdict.before[1] < 0.75 * found.verdict.before[0]
    # Nothing in these runs is random, so that held-out seeds cannot judge.
    assert found.verdict.outcome == "not shown"
    assert "need held-out paths" in found.answer


def test_rounding_is_no_scatter(tmp_path: Path) -> None:
    # The jitter moves the only flow, so that its goodput differs in the last bits.
    jitter = TRANSFER + 'start_jitter = "50 ms"\n'
    text = KNOWN.replace('minimise = "completion"', 'maximise = "goodput_bps"')
    found = tuned(written(tmp_path, jitter, text), 24)
    assert found.verdict.after[1] > 1.2 * found.verdict.after[0]
    held = found.verdict.held_out
    assert held is not None
    assert (held.estimate.known, found.verdict.outcome) == (False, "not shown")


def test_everything_is_checked_before_the_folder_is_made(tmp_path: Path, cli: Cli) -> None:
    # The transfer is endless, so that no trial can complete it.
    file = written(tmp_path, LOSSY, NOISE.replace('maximise = "goodput_bps"', 'minimise = "completion"'))
    refused = cli("tune", file, "--trials", 4, "--out", "out")
    assert refused.returncode == 2
    assert "for the scenario's own parameters" in refused.stderr
    assert not (tmp_path / "out").exists()
    file.write_text(NOISE)
    assert cli("tune", file, "--trials", 1, "--seed", 10**18, "--out", "out").returncode == 0
    first = table(tmp_path / "out")
    assert "0 runs in" in cli("tune", file, "--trials", 1, "--seed", 10**18, "--out", "out").stderr
    assert table(tmp_path / "out").equals(first)


def test_more_trials_begin_with_the_same(tmp_path: Path) -> None:
    file = written(tmp_path, LOSSY, NOISE)
    few, many = tuned(file, 8), tuned(file, 13)
    assert [trial.values for trial in few.found.trials] == [trial.values for trial in many.found.trials[:8]]
    other = tuned(file, 8, seed=1)
    assert [trial.values for trial in few.found.trials] != [trial.values for trial in other.found.trials]


def test_a_changed_file_starts_anew_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ackclock")
    file, out = written(tmp_path, LOSSY, NOISE), tmp_path / "out"
    tuned(file, 4, out=out)
    again = tuned(file, 4, out=out)
    assert again.runs[0] == 0
    assert "starts anew" not in caplog.text
    file.write_text(NOISE.replace("100 ms", "50 ms"))
    tuned(file, 4, out=out)
    assert "has changed: the search starts anew" in caplog.text


def test_a_folder_that_is_not_a_tuning_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, LOSSY, NOISE)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="not written by ackclock"):
        tuned(file, 4, out=tmp_path / "mine")


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    tuning = schema.read(written(tmp_path, LOSSY, NOISE))
    opened = Store(tmp_path / "out").opened(results.KIND, results.manifest(tuning, {}))
    with opened, pytest.raises(OSError, match=r"out: process \d+ on .* writes to it"):
        tuned(tuning.file, 4, out=tmp_path / "out")


def test_a_trial_without_a_valid_scenario_fails_alone(tmp_path: Path) -> None:
    staged = LOSSY + 'slow_start = { kind = "staged", boundaries = [25, 50, 75, 100] }\n'
    parameters = '"flow.slow_start.boundaries.0" = { from = 10.0, to = 80.0 }'
    text = NOISE.replace(RWND, parameters)
    found = tuned(written(tmp_path, staged, text), 12)
    assert 0 < found.counts["failed"] < 12
    failed = next(trial for trial in found.found.trials if trial.state == "failed")
    assert "boundaries must be in ascending order" in failed.error


def test_the_race_ends_trials_that_would_not_win(tmp_path: Path) -> None:
    text = NOISE.replace("20 packets", "1 packet")
    tuning = schema.read(written(tmp_path, LOSSY, text))
    runs = Runs(tuning, Experiment(jobs=1))
    looking = search.Search(tuning, runs, 0)
    looking.measure_reference()
    looking.run(16)
    best = looking.best()
    ended = [trial for trial in looking.trials if trial.state == search.PRUNED]
    assert ended
    for trial in ended:
        assert len(trial.cells) < 8
        search.measure(runs, tuning.training, [trial], tuning.training.seeds)
        search.assess(tuning, trial, looking.reference)
        assert trial.value is not None
        assert best.value is not None
        assert trial.value < best.value


def test_the_window_matters_more_than_the_start(tmp_path: Path) -> None:
    found = tuned(written(tmp_path, LOSSY, NOISE.replace("20 packets", "1 packet")), 24)
    assert sum(found.importance.values()) == pytest.approx(1)
    assert found.importance["flow.rwnd"] > found.importance["flow.start"]


def test_without_optuna_the_message_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ValueError, match=r"pip install 'ackclock\[tune\]'"):
        tuned(written(tmp_path, LOSSY, NOISE), 4)


# Statistics and scores


def test_the_interval_within_one_path_is_students() -> None:
    differences = [0.3, -0.1, 0.4, 0.2, 0.9]
    low, high = search.within_paths([differences], 0.99)
    expected = stats.ttest_1samp(differences, 0.0).confidence_interval(0.99)
    assert (low, high) == pytest.approx((expected.low, expected.high))


@pytest.mark.long
def test_the_interval_within_paths_covers_and_ignores_their_differences() -> None:
    rng = np.random.default_rng(1)
    effects = np.array([-3.0, 0.0, 5.0])
    covered = 0
    for _ in range(10_000):
        sample = effects[:, None] + rng.normal(0.0, 1.0, (3, 2))
        low, high = search.within_paths(sample.tolist(), 0.95)
        covered += low <= effects.mean() <= high
    assert covered / 10_000 == pytest.approx(0.95, abs=0.007)


@pytest.mark.parametrize(
    "differences", [[[1.0, 2.0, 3.0]], [[1.0], [2.0], [3.0], [4.0]], [[2.0] * 4], [[2.0, 2.0]] * 3]
)
def test_too_few_or_equal_pairs_show_nothing(differences: list[list[float]]) -> None:
    assert search.within_paths(differences) == (-math.inf, math.inf)


CELLS: dict[tuple[int, int], dict[str, float | None]] = {
    (0, 1): {"goodput_bps": 10.0, "jain": 0.8},
    (0, 2): {"goodput_bps": 20.0, "jain": 0.9},
    (1, 1): {"goodput_bps": 100.0, "jain": 1.0},
    (1, 2): {"goodput_bps": 120.0, "jain": 0.9},
}
BASE: dict[tuple[int, int], dict[str, float | None]] = {
    cell: {"goodput_bps": 10.0 if cell[0] == 0 else 200.0, "jain": 0.95} for cell in CELLS
}


def test_scores_by_hand() -> None:
    goal = schema.Goal("goodput_bps", 1, "mean", relative=False)
    values = scores.objective(goal, CELLS, BASE)
    assert scores.over_paths(values, "mean", 1) == pytest.approx((15 + 110) / 2)
    assert scores.over_paths(values, "worst", 1) == 15
    assert scores.over_paths(values, "worst", -1) == 110
    ratios = scores.objective(schema.Goal("goodput_bps", 1, "mean", relative=True), CELLS, BASE)
    assert scores.over_paths(ratios, "mean", 1) == pytest.approx((1.5 + 0.55) / 2)
    assert scores.units(goal, values, "seeds") == [55, 70]
    assert scores.units(goal, values, "paths") == [15, 110]
    worst = schema.Goal("goodput_bps", 1, "worst", relative=True)
    assert scores.units(worst, ratios, "seeds") == pytest.approx([0.5, 0.6])


def test_constraints_by_hand() -> None:
    at_least = schema.Constraint("jain", 1, 0.9, "mean")
    assert scores.violation(at_least, CELLS, BASE) == pytest.approx(0.0)
    assert scores.violation(schema.Constraint("jain", 1, 0.9, "worst"), CELLS, BASE) == pytest.approx(0.05)
    assert scores.violation(schema.Constraint("jain", 1, None, "mean"), CELLS, BASE) == pytest.approx(0.05)
    assert scores.violation(schema.Constraint("goodput_bps", -1, 50.0, "mean"), CELLS, BASE) == pytest.approx(12.5)


def test_the_bound_of_the_reference_is_that_of_the_same_runs() -> None:
    # A trial that has run on half of the seeds is compared with the reference on that half.
    base: dict[tuple[int, int], dict[str, float | None]] = {(0, 1): {"jain": 0.5}, (0, 2): {"jain": 0.9}}
    constraint = schema.Constraint("jain", 1, None, "mean")
    assert scores.violation(constraint, {(0, 1): {"jain": 0.6}}, base) == pytest.approx(-0.1)


def test_harm_by_the_definition() -> None:
    # Ware et al., §4: goodput falls from 10 to 4; a transfer of 2 s takes 5 s.
    alone = {"bulk": [10.0, True], "short": [2.0, False]}
    assert measures.harm(alone, {"bulk": [4.0, True], "short": [2.0, False]}) == pytest.approx(0.6)
    assert measures.harm(alone, {"bulk": [10.0, True], "short": [5.0, False]}) == pytest.approx(0.6)
    assert measures.harm(alone, {"bulk": [12.0, True]}) == pytest.approx(-0.2)


def test_harm_compares_with_a_run_without_the_tested_flow(tmp_path: Path) -> None:
    text = """\
scenario = "scenario.toml"
flows = "tested"

[parameters]
"flow.0.avoidance.k" = { from = 0.05, to = 0.5 }

[objective]
maximise = "goodput_bps"

[constraints]
harm = { at_most = "50 %" }
"""
    tuning = schema.read(written(tmp_path, PAIR, text))
    runs = Runs(tuning, Experiment(jobs=1))
    trial = search.Trial(0, {}, {})
    search.measure(runs, tuning.training, [trial], (3,))
    together = ackclock.run(tuning.training.paths[0].scenario, seed=3)
    point = runs.alone(tuning.training.paths[0], 3)
    alone = ackclock.run(point.scenario)
    rows = [{row["name"]: row for row in result.summary["flows"]} for result in (alone, together)]
    assert rows[0]["tested"]["sent_packets"] == 0
    assert rows[0]["rival"]["start_s"] == rows[1]["rival"]["start_s"], "the seed gives the rivals the same start"
    lost = 1 - rows[1]["rival"]["goodput_bps"] / rows[0]["rival"]["goodput_bps"]
    slower = 1 - rows[0]["short"]["completion_time"] / rows[1]["short"]["completion_time"]
    assert trial.cells[0, 3]["harm"] == pytest.approx(max(lost, slower))
    assert lost > 0.1


def test_an_application_is_measured_by_its_pages(tmp_path: Path) -> None:
    web = {"kind": "web", "root": "30 kB", "pages": 2}
    flows = [{"name": "bulk"}, {"name": "web", "application": web}, {"name": "other", "application": web}]
    result = ackclock.run(ackclock.Scenario(duration="5 s", flow=[{**flow, "profile": "modern"} for flow in flows]))
    loads = {row["application"]: row["mean"] for row in result.page_loads().to_dicts()}
    row = measures.Score(("web",), ()).take(result)
    assert row["values"]["completion"] == pytest.approx(loads["web"])
    assert row["values"]["jain"] is None, "one flow lasts"
    assert row["rivals"].keys() == {"bulk", "other"}
    assert row["rivals"]["other"] == [pytest.approx(loads["other"]), False]
    assert row["rivals"]["bulk"][1]


def test_unfinished_transfers_count_until_the_end(tmp_path: Path) -> None:
    scenario = ackclock.Scenario(
        duration="1 s", flow=[{"size": "100000 packets", "start": "200 ms"}, {"size": "1 packet"}]
    )
    values = measures.Score(("*",), ()).take(ackclock.run(scenario))["values"]
    short = ackclock.run(scenario).summary["flows"][1]["completion_time"]
    assert values["completion"] == pytest.approx((0.8 + short) / 2)


def test_the_p95_of_waiting_times_is_that_of_the_trace(tmp_path: Path) -> None:
    scenario = ackclock.Scenario(duration="2 s", flow=[{}])
    result = ackclock.run(scenario, record=["sojourn"])
    trace = polars.DataFrame(result.trace("sojourn")).filter(
        polars.col("link").cast(polars.String) == scenario.bottleneck
    )
    values = measures.Score(("*",), ("sojourn_p95",)).take(result)["values"]
    assert values["sojourn_p95"] == pytest.approx(float(np.quantile(trace["sojourn"].to_numpy(), 0.95)))


# The judgement


def test_luck_of_training_does_not_survive(tmp_path: Path) -> None:
    # The start of one flow decides which flow each random loss hits: any gain over two seeds is luck.
    two = LOSSY.replace(
        "[flow]", '[[flow]]\nname = "a"\nrecovery = "sack"\n\n[[flow]]\nname = "b"\nstart_jitter = "1 s"'
    )
    text = NOISE.replace(RWND, "").replace("flow.start", "flow.0.start").replace("to = 8", "to = 2")
    found = tuned(written(tmp_path, two, 'flows = "a"\n' + text), 24)
    before, after = found.verdict.before, found.verdict.after
    assert before[1] > 1.05 * before[0]
    assert after[1] - after[0] < 0.5 * (before[1] - before[0])
    assert found.verdict.outcome != "survives"
    assert "no gain is shown" in found.answer


def test_a_real_gain_survives_and_its_file_is_valid(tmp_path: Path) -> None:
    file = written(tmp_path, LOSSY.replace("[flow]", '[flow]\nrwnd = "3 packets"'), NOISE)
    found = tuned(file, 8, out=tmp_path / "out")
    assert found.verdict.outcome == "survives"
    assert "the gain survives" in found.answer
    held = found.verdict.held_out
    assert held is not None
    assert held.estimate.count == 30
    best = toml.read(tmp_path / "out" / "best.toml")["flow"]
    scenario = tmp_path / "pasted" / "scenario.toml"
    scenario.parent.mkdir()
    pasted = "\n".join(f"{key} = {json.dumps(value)}" for key, value in best.items())
    scenario.write_text(LOSSY + pasted)
    settings = found.found.trials[found.verdict.best.number - 1].settings
    assert ackclock.load(scenario).hash == ackclock.load(tmp_path / "scenario.toml", settings).hash
    runs = polars.read_parquet(tmp_path / "out" / "runs.parquet")
    assert runs.filter("held_out")["trial"].unique().sort().to_list() == [0, found.verdict.best.number]
    assert runs.filter(polars.col("held_out"))["seed"].min() == 9


def test_the_fragment_has_the_whole_part(tmp_path: Path) -> None:
    staged = LOSSY + 'slow_start = { kind = "staged", boundaries = [25, 50, 75, 100] }\n'
    text = NOISE.replace(
        RWND,
        '"flow.slow_start.boundaries.0" = { from = 5.0, to = 24.0 }',
    )
    tuning = schema.read(written(tmp_path, staged, text))
    space = Space(tuning)
    values = space.values({"flow.start": 0.5, "flow.slow_start.boundaries.0": 0.0})
    fragment = results.fragment(tuning, search.Trial(1, dict(values), space.settings(values)), "Better.")
    pasted = written(tmp_path / "pasted", LOSSY + fragment.partition("[flow]")[2], "").with_name("scenario.toml")
    assert "boundaries = [5.0, 50.0, 75.0, 100.0]" in fragment
    assert ackclock.load(pasted).hash == ackclock.load(tmp_path / "scenario.toml", space.settings(values)).hash


def test_constraints_bind(tmp_path: Path) -> None:
    text = KNOWN + '\n[constraints]\nsojourn_mean = { at_most = "1 ms" }\n'
    found = tuned(written(tmp_path, TRANSFER, text), 24)
    assert not found.found.reference.feasible
    assert found.verdict.best.feasible
    assert found.verdict.best.violations["sojourn_mean"] <= 0
    infeasible = [trial for trial in found.found.trials if not trial.feasible]
    assert any((trial.value or 9) < (found.verdict.best.value or 0) for trial in infeasible), "the bound costs time"
    assert found.measures()[1][:2] == ["sojourn_mean (s)", "≤ 0.001"]


def test_held_out_paths_are_pairs(tmp_path: Path) -> None:
    sweep = LOSSY + '\n[sweep]\n"topology.bottleneck.delay" = ["5 ms", "10 ms"]\n'
    text = (
        NOISE
        + """
[held_out]
set.sweep = { "topology.bottleneck.delay" = ["7 ms", "20 ms", "30 ms"] }
seeds = [1, 2]
"""
    )
    file = written(tmp_path, sweep, text)
    tuning = schema.read(file)
    assert tuning.pairs == "paths"
    assert [path.name for path in tuning.held_out.paths] == ["delay=7 ms", "delay=20 ms", "delay=30 ms"]
    found = ackclock.tune(file, trials=4)
    held = found.verdict.held_out
    assert held is None or held.estimate.count == 3
    assert len(judging.per_path(tuning, found.verdict)) == 3


# The space


def test_values_are_those_of_a_sweep(tmp_path: Path) -> None:
    text = NOISE.replace(
        '"flow.start" = { from = "0 ms", to = "100 ms" }\n',
        '"flow.min_rto" = { from = "10 ms", to = "1 s", scale = "log" }\n"flow.recovery" = ["newreno", "sack"]\n',
    )
    text = (
        text.replace("flow.rwnd", "flow.slow_start.css_rounds")
        .replace(" packets", "")
        .replace('"20"', "2")
        .replace('"40"', "9")
    )
    space = Space(schema.read(written(tmp_path, LOSSY + 'slow_start = "hystart_pp"\n', text)))
    rounds = "flow.slow_start.css_rounds"
    for drawn in (2, 7, 9):
        raw = {"flow.min_rto": 0.5, "flow.recovery": 1, rounds: drawn}
        values = space.values(raw)
        assert values == {"flow.min_rto": "100 ms", "flow.recovery": "sack", rounds: str(drawn)}
        assert space.raw(values) == pytest.approx(raw)
    assert space.reference() == {"flow.min_rto": "200 ms", "flow.recovery": "sack", rounds: "5"}
    assert space.raw({**space.reference(), rounds: "10"}) is None, "10 is outside the range"


def test_a_parameter_can_set_several_keys(tmp_path: Path) -> None:
    both = 'w = { values = ["20 packets", "30 packets"], keys = ["flow.rwnd", "flow.initial_ssthresh"] }'
    space = Space(schema.read(written(tmp_path, LOSSY, NOISE.replace(RWND, both))))
    values = space.values({"flow.start": 0.0, "w": 1})
    both_keys = {"flow.rwnd": "30 packets", "flow.initial_ssthresh": "30 packets"}
    assert space.settings(values) == {"flow.start": "0 ms", **both_keys}


# Files


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("maximise", "maximize", r":8: objective: there is no key 'maximize'; did you mean 'maximise'\?"),
        ("goodput_bps", "goodput", r":8: .*: there is no measure 'goodput'; did you mean 'goodput_bps'\?"),
        ("flow.rwnd", "flow.rwmd", r':5: .*there is no key "rwmd"; did you mean "rwnd"\?'),
        ("100 ms", "100 kg", r':4: parameters\.flow\.start: to: unknown unit "kg"'),
        ('to = "100 ms"', 'too = "100 ms"', r":4: .*there is no key 'too'; did you mean 'to'\?"),
        ('to = "40', 'scale = "lineer", to = "40', r':5: .*there is no scale "lineer"; did you mean "linear"\?'),
        ("40 packets", "20 packets", r":5: parameters\.flow\.rwnd: "),
        ("scenario.toml", "scenari.toml", r":1: scenario: there is no file .*scenari\.toml"),
        ("[objective]", "[objektive]", r":7: there is no key 'objektive'; did you mean 'objective'\?"),
        ('maximise = "goodput_bps"', "", r":7: objective: needs one of minimise and maximise"),
        ("{ from = 1, to = 8 }", "[1, 1]", r":11: training: seeds must be whole numbers"),
        ("{ from = 1, to = 8 }", "{ from = 1, until = 8 }", r":11: training: seeds must be .*'until': 8\}"),
        ("[training]", "[training]\nseed = 1", r":11: training: there is no key 'seed'; did you mean 'seeds'\?"),
        ("[training]", 'flows = "tested"\n[training]', r":10: objective: there is no key"),
        ("[training]", "[constraints]\njain = 0.9\n[training]", r":11: constraints: jain must be a table"),
        ("[training]", "[constraints]\njain = { at_mots = 1 }\n[training]", r":11: .*'at_mots'; did you mean"),
        (
            "[training]",
            '[constraints]\nsojourn_p95 = { at_most = "5 kg" }\n[training]',
            r":11: constraints\.sojourn_p95: at_most must be a text such as \"20 ms\"",
        ),
        ("[training]", "[constraints]\nharm = { at_most = 0.1 }\n[training]", r":11: .*every flow is under test"),
        ("[training]", "[held_out]\nseeds = [8, 9]\n[training]", r":11: held_out\.seeds: seed 8 is used"),
        ("[training]", '[held_out]\nscenario = "other.toml"\n[training]', r":11: held_out\.scenario: there is no file"),
        ("[parameters]", "[set]\n\"flow.rwmd\" = 3\n[parameters]", r':3: set: .*"rwmd"; did you mean "rwnd"\?'),
        ("[parameters]", "[parameters]\nflow.rto = [1, 2]", r':4: .*write the key in quotes, as in "flow\.rto"'),
        ("= {", "= {{", r"line 4"),
    ],
)  # fmt: skip
def test_bad_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in NOISE
    with pytest.raises((ValueError, ackclock.ScenarioError), match=message):
        Space(schema.read(written(tmp_path, LOSSY, NOISE.replace(old, new))))


def test_held_out_paths_are_checked_before_the_search(tmp_path: Path) -> None:
    staged = LOSSY + 'slow_start = "hystart_pp"\n'
    (tmp_path / "other.toml").write_text(LOSSY)
    text = NOISE.replace(RWND, '"flow.slow_start.css_rounds" = { from = 1, to = 9 }')
    text += '[held_out]\nscenario = "other.toml"\n'
    with pytest.raises(ValueError, match=r'held_out does not accept the parameters: .*no parameter "css_rounds"'):
        Space(schema.read(written(tmp_path, staged, text)))
    (tmp_path / "other.toml").write_text(staged.replace("[flow]", '[flow]\nname = "other"'))
    with pytest.raises(ValueError, match=r":1: flows: no flow has the name 'flow\*'"):
        schema.read(written(tmp_path, staged, 'flows = "flow*"\n' + text))


def test_an_axis_of_the_sweep_is_no_parameter(tmp_path: Path) -> None:
    sweep = LOSSY + '\n[sweep]\n"flow.rwnd" = ["3 packets", "4 packets"]\n'
    with pytest.raises(ValueError, match=r":5: parameters\.flow\.rwnd: is an axis of \[sweep\]"):
        schema.read(written(tmp_path, sweep, NOISE))
    with pytest.raises(ValueError, match=r"sets the seed; give the seeds as training\.seeds"):
        schema.read(written(tmp_path, LOSSY + "\n[sweep]\nseed = [1, 2]\n", NOISE))


def test_a_measure_without_a_value_is_refused(tmp_path: Path) -> None:
    text = NOISE.replace('maximise = "goodput_bps"', 'minimise = "completion"')
    with pytest.raises(ValueError, match=r"completion has no value .* need flows with a size"):
        tuned(written(tmp_path, LOSSY, text), 4)


def test_the_command_prints_one_message(cli: Cli, tmp_path: Path) -> None:
    done = cli("tune", written(tmp_path, LOSSY, NOISE.replace("flow.rwnd", "flow.rwmd")))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert cli("tune", tmp_path / "nothing.toml").returncode == 2


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios" / "tuning").glob("*.toml")), ids=lambda file: file.stem)
def test_stored_examples_are_valid(file: Path) -> None:
    if "scenario" in toml.read(file):
        tuning = schema.read(file)
        reference = Space(tuning).reference()
        assert None not in reference.values()
        assert Space(tuning).raw(reference) is not None, "the defaults are in the space"
    else:
        ackclock.load(file).variants()


def test_the_figure_has_a_panel_for_the_history_and_each_parameter(tmp_path: Path) -> None:
    found = tuned(written(tmp_path, LOSSY, NOISE), 12, out=tmp_path / "out")
    drawn = figures.figure(found.tuning, found.found.reference, found.found.trials, found.verdict.best)
    assert [panel.x.title for panel in drawn.panels] == ["trial", "start (ms)", "rwnd (packets)"]
    best = figures.best_so_far(found.tuning, found.found.reference, found.found.trials)
    assert best == sorted(best)
    assert (tmp_path / "out" / "figures" / "search.png").stat().st_size > 1000
    assert os.fspath(tmp_path) not in (tmp_path / "out" / "manifest.json").read_text()


def test_the_report_begins_with_the_answer_and_needs_no_other_file(tmp_path: Path) -> None:
    file = written(tmp_path, LOSSY.replace("[flow]", '[flow]\nrwnd = "3 packets"'), NOISE)
    found = tuned(file, 8, out=tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    body = page[page.index("<body") :]
    assert body.index(found.answer.split(":")[0]) < body.index("Parameters") < body.index("Trials")
    assert "rwnd = " in body, "the keys to paste"
    assert not re.search(r"""(src|href)=["'](https?:)?//""", page)
    assert polars.read_parquet(tmp_path / "out" / "trials.parquet").height == 9
