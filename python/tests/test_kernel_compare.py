"""`ackclock kernel compare`: pairs, verdicts, rules, the journal and the report, with a stand-in for the kernel."""

from __future__ import annotations

import json
import logging
import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars
import pytest

from ackclock import Interrupted, Result, Scenario, _core, linux, load
from ackclock.cli import output
from ackclock.cli.kernelcomparisons import show
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.world import run_here
from ackclock.freeze import Frozen
from ackclock.linux import comparing, judging, report, rules, words, worlds
from ackclock.linux.comparing import Outcome
from ackclock.linux.judging import Difference
from ackclock.linux.measuring import COMPLETION, DELIVERED, DROPS, Run, RunMeasurement, values
from ackclock.linux.rules import Observed
from ackclock.linux.running import KernelResult
from ackclock.linux.worlds import World

from .conftest import Cli

SCENARIOS = """\
# Two short scenarios.
name = "small"
duration = "2 s"

[topology]
kind = "explicit"
node = ["a", "b"]
link = { from = "a", to = "b", rate = "2 Mbit/s", delay = "10 ms", queue = "10 packets" }

[flow]
from = "a"
to = "b"
host = "linux"
packet_size = "1448 B"

[sweep.case]
endless = { "topology.link.loss" = "1 %" }
transfer = { "flow.size" = "30 packets" }
"""
FACTS = {
    "world": "machine",
    "release": "6.18.0",
    "lateness_p50": 1e-4,
    "lateness_p99": 5e-4,
    "lateness_max": 2e-3,
    "tainted": False,
    "attempts": 1,
    "warnings": [["unfollowed", [], "flow.modern.acks: the kernel has its own rules"]],
}


VIRTUAL = {"world": "linux", "release": "6.12.1", "phase_s": 1e-3, "warnings": []}


class StandIn:
    """A simulation in place of the kernel, which delays every packet by some microseconds."""

    def __init__(
        self,
        later: int = 0,
        stop_after: int | None = None,
        refuses: str = "",
        disturbs: str = "never",
        facts: dict[str, Any] = FACTS,
    ) -> None:
        self.later, self.stop_after, self.refuses, self.disturbs = later, stop_after, refuses, disturbs
        self.facts = facts
        self.ran: list[Scenario] = []

    def __call__(
        self, scenario: Scenario, record: Sequence[str] | None, cancel: _core.Cancel, capture: Sequence[str] = ()
    ) -> Result:
        if self.refuses and self.refuses in scenario.to_toml():
            raise ValueError("the kernel has no such control")
        if self.stop_after is not None and len(self.ran) >= self.stop_after:
            raise KeyboardInterrupt
        self.ran.append(scenario)
        other = scenario.set({"topology.link.delay": f"{10_000 + self.later} us"})
        disturbed = {"tainted": True, "reason": "packets were late"} if self.disturbs in scenario.to_toml() else {}
        return KernelResult(scenario, run_here(other, record, cancel)._core, {**self.facts, **disturbed})


def taken(scenario: Scenario) -> Run:
    return RunMeasurement().take(run_here(scenario, ("cwnd",), _core.Cancel()))


def world(runner: StandIn, **settings: Any) -> World:
    """Return this machine's kernel with a stand-in."""
    own = worlds.machine()
    known: dict[str, Any] = {"release": "6.18.0", "identity": "machine 6.18.0", "missing": lambda: None}
    return replace(own, runner=runner, refusal=lambda _: None, **{**known, **settings})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SCENARIOS)
    return path


def compare(
    file: Path,
    world: World,
    repetitions: int | None = 3,
    tolerance: float = 0.02,
    out: Path | None = None,
    *,
    json_output: bool = True,
) -> None:
    """Do what the command does, with a stand-in for the world."""
    log, handler = logging.getLogger("ackclock"), output.Handler()
    log.addHandler(handler)
    level = log.level
    log.setLevel(logging.INFO)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(worlds, "find", lambda *_, **__: world)
            found = linux.compare(file, repetitions=repetitions, tolerance=tolerance, out=out)
        show(found, json_output=json_output)
    finally:
        log.setLevel(level)
        log.removeHandler(handler)


def compared(file: Path, runner: StandIn, repetitions: int = 3) -> tuple[Outcome, list[Difference]]:
    outcome = Outcome(comparing.cases([file]), world(runner), repetitions)
    outcome.run()
    return outcome, [each for pairs in outcome.pairs() for each in judging.differences(pairs)]


def difference(kernel: list[float], simulated: list[float], measure: Any = DELIVERED) -> Difference:
    return Difference("one", "flow0", measure, kernel, simulated)


def test_equal_sides_do_not_differ_because_a_pair_has_one_seed(file: Path) -> None:
    outcome, found = compared(file, StandIn())
    assert {each.scenario for each in found} == {"small-endless", "small-transfer"}
    assert all(each.kernel == each.simulated and each.verdict == "within" for each in found)
    endless, transfer = outcome.pairs()
    assert not endless.deterministic, "random losses differ from seed to seed"
    assert transfer.deterministic
    assert len({scenario.seed for scenario in (case.repetition(1) for case in outcome.cases)}) == 1


def test_measures_of_endless_flows_and_of_transfers(file: Path) -> None:
    _, found = compared(file, StandIn())
    keys = {
        name: {each.measure.key for each in found if each.scenario == name}
        for name in ("small-endless", "small-transfer")
    }
    assert DELIVERED.key in keys["small-endless"] and COMPLETION.key not in keys["small-endless"]
    assert COMPLETION.key in keys["small-transfer"] and DELIVERED.key not in keys["small-transfer"]


def test_unfinished_transfer_counts_until_the_end() -> None:
    row = {"size_packets": 10, "completion_time": None, "start_s": 0.5, "slow_start_exit_cwnd": None}
    run = Run({"flow0": {**row, "retransmitted_packets": 0}}, {"queue_drops": 0.0, "losses": 0.0, "sojourn_mean": None})
    assert values(run, 2.0)[COMPLETION.key, "flow0"] == 1.5


def test_late_packets_show_as_slower_transfers(file: Path) -> None:
    _, found = compared(file, StandIn(later=500))
    (completion,) = [each for each in found if each.measure is COMPLETION or each.measure.key == COMPLETION.key]
    assert completion.kernel_mean > completion.simulated_mean
    assert completion.relative.mean < 0


@pytest.mark.parametrize(
    ("kernel", "simulated", "verdict"),
    [
        ([100.0, 101.0, 102.0], [101.0] * 3, "within"),
        ([100.0, 101.0, 102.0], [106.0] * 3, "differs"),
        ([100.0, 101.0, 102.0], [103.1] * 3, "unclear"),
        ([90.0, 100.0, 110.0], [105.0] * 3, "unclear"),
        # Pairs, not pools: every pair differs by about as much, although the ranges overlap.
        ([90.0, 100.0, 110.0], [95.1, 105.0, 114.9], "differs"),
        # Neither one repetition nor two show a difference, however large.
        ([100.0], [103.0], "unclear"),
        ([100.0, 101.0], [150.0, 160.0], "unclear"),
        ([100.0, 100.0], [150.0, 150.0], "unclear"),
        # The interval contains 0.
        ([10.0] * 3, [10.0, 20.0, 20.0], "unclear"),
        ([100.0, 101.0, 102.0], [90.0, 120.0, 120.0], "unclear"),
        # Neither side varies in three repetitions.
        ([100.0] * 3, [103.0] * 3, "differs"),
    ],
)
def test_verdict(kernel: list[float], simulated: list[float], verdict: str) -> None:
    assert difference(kernel, simulated).verdict == verdict


def test_interval_is_students_over_the_repetitions() -> None:
    found = difference([100.0, 102.0, 98.0], [103.0] * 3).relative
    # The differences are 3, 1 and 5 % of the mean 100: sd 2, half-width 4.3027 · 2 / √3.
    assert found.mean == pytest.approx(0.03)
    assert found.high - found.mean == pytest.approx(0.043027 * 2 / math.sqrt(3), rel=1e-4)
    assert found.count == 3
    assert not difference([100.0], [103.0]).relative.finite
    assert not difference([100.0] * 3, [103.0] * 3).relative.finite, "equal repetitions show no spread"


def test_a_packet_more_or_less_is_no_difference() -> None:
    assert difference([1.0] * 3, [2.0] * 3, DROPS).verdict == "within"
    assert difference([0.0] * 3, [2.0] * 3, DROPS).verdict == "differs"
    assert difference([0.0] * 3, [2.0] * 3, DROPS).relative.mean == math.inf


def test_ranking_puts_the_largest_first_and_primary_measures_before_others() -> None:
    small, large = difference([100.0] * 3, [101.0] * 3), difference([100.0] * 3, [110.0] * 3)
    other = difference([10.0] * 3, [100.0] * 3, DROPS)
    assert judging.ranked([small, other, large]) == [large, small, other]


def test_summary_counts_what_no_rule_explains() -> None:
    total = judging.summary([difference([100.0] * 3, [101.0] * 3), difference([100.0] * 3, [110.0] * 3)])
    assert (total.count, total.within, total.differing, total.unexplained) == (2, 1, 1, 1)
    assert total.median == pytest.approx(0.055)
    assert total.largest == pytest.approx(0.1)
    assert total.infinite == 0
    assert judging.summary([difference([0.0] * 3, [2.0] * 3, DROPS)]).infinite == 1


def run(facts: dict[str, Any] | None = None, losses: float = 0.0, flows: int = 1, **row: object) -> Run:
    own = {
        "delivered_bytes": 1000, "completion_time": 1.0, "slow_start_exit_cwnd": 10.0, "retransmitted_packets": 0,
        "timeouts": 0, "start_s": 0.0, "size_packets": None, "path_rtt": 0.1,
        "control": "rfc6928 + hystart + cubic_linux + own",
    }  # fmt: skip
    named = {f"flow{number}": {**own, **row} for number in range(flows)}
    measured = {
        "world": "machine",
        "release": "6.18",
        "lateness_p50": 1e-4,
        "lateness_p99": 1e-3,
        "lateness_max": 2e-3,
        "attempts": 1,
    }
    return Run(named, {"queue_drops": 0.0, "losses": losses, "sojourn_mean": 0.0}, {}, {**measured, **(facts or {})})


def names(
    kernel: Run,
    simulated: Run,
    *,
    measure: str = "delivered_bytes",
    of: tuple[float, float] = (1.0, 2.0),
    nearby: Any = None,
) -> set[str]:
    seen = Observed(measure, "flow0", of[0], of[1], nearby, [kernel], [simulated])
    return {rule.name for rule in rules.known(seen)}


def test_rules_need_their_conditions() -> None:
    assert names(run(), run()) == set()
    assert names(run(control="bbr"), run(control="bbr")) == {"version of BBR"}
    assert names(run(flows=2), run(flows=2), nearby=(0.9, 1.1)) == {"phase"}
    assert names(run(), run(), nearby=(0.9, 1.1)) == {"tick"}
    assert names(run(), run(), nearby=(1.1, 2.0)) == set()
    assert names(run(), run(), nearby=(1.09, 2.0)) == {"tick"}, "outside by less than a tenth of the difference"
    assert names(run(), run(), nearby=(0.5, 0.89)) == set()
    assert names(run(), run(), nearby=(0.5, 0.91)) == {"tick"}
    assert names(run({"lateness_max": 0.02}), run(control="rfc6928 + standard + reno + own")) == set()
    assert names(run(timeouts=1), run()) == {"timeout"}
    assert names(run(slow_start_exit_cwnd=11.0), run(), measure="queue_drops") == {"application"}
    assert names(run(slow_start_exit_cwnd=11.0), run()) == set(), "a segment explains no data"
    assert names(run(slow_start_exit_cwnd=12.0), run(), measure="queue_drops") == set()
    assert names(run(slow_start_exit_cwnd=None), run(), measure="queue_drops") == set()
    assert names(run(losses=10.0), run(losses=8.0)) == {"sample of losses"}
    assert names(run(losses=10.0), run(losses=9.5)) == set()


def test_rule_of_timeouts_reads_the_flow_concerned() -> None:
    simulated = run(flows=2)
    kernel = Run({**simulated.flows, "flow1": {**simulated.flows["flow1"], "timeouts": 1}}, simulated.path, {}, FACTS)
    for flow, expected in (("flow0", set()), ("flow1", {"timeout"}), ("", {"timeout"})):
        seen = Observed("sojourn_mean", flow, 1.0, 2.0, None, [kernel], [simulated])
        assert {rule.name for rule in rules.known(seen)} == expected


@pytest.mark.parametrize(
    ("trip", "late", "applies"),
    [
        (0.1, [0.013, 0.013, 0.0], True),
        (0.1, [0.013, 0.0, 0.0], False),
        (0.1, [0.012] * 3, False),
        (0.01, [0.0041] * 3, True),
        (0.4, [0.0159] * 3, False),
        (0.4, [0.0161] * 3, True),
    ],
)
def test_rule_of_hystart_needs_packets_later_than_its_delay(trip: float, late: list[float], applies: bool) -> None:
    kernel = [run({"lateness_max": each}) for each in late]
    seen = Observed("delivered_bytes", "flow0", 1.0, 2.0, None, kernel, [run(path_rtt=trip)] * 3)
    assert {rule.name for rule in rules.known(seen)} == ({"HyStart and late packets"} if applies else set())


def test_scenarios_like_the_repetitions_have_their_seeds(file: Path) -> None:
    outcome, _ = compared(file, StandIn())
    (case, _), (pairs, _) = outcome.cases, outcome.pairs()
    assert not pairs.deterministic, "random losses differ from seed to seed"
    assert [len(runs) for runs in pairs.nearby] == [3] * comparing.NEARBY
    alike = [comparing.like(Frozen(case.repetition(index)), 7, outcome.world) for index in range(3)]
    again = [taken(each) for each in alike]
    assert [run.flows for run in pairs.nearby[7]] == [run.flows for run in again]
    goodput = [each for each in judging.differences(pairs) if each.measure.key == DELIVERED.key]
    means = [
        statistics.fmean(values(run, pairs.duration)["delivered_bytes", "flow0"] for run in runs)
        for runs in pairs.nearby
    ]
    assert [each.nearby for each in goodput] == [(min(means), max(means))]


def test_one_repetition_does_not_show_that_a_scenario_is_deterministic(file: Path) -> None:
    alone, _ = compared(file, StandIn(), repetitions=1)
    assert not any(pairs.deterministic for pairs in alone.pairs())


def test_rule_of_late_packets_is_bounded_by_the_round_trips() -> None:
    # 10 round trips with two packets late by up to 1 ms explain 20 ms.
    assert names(run(), run(), measure="completion", of=(1.0, 0.985)) == {"late packets"}
    assert names(run(), run(), measure="completion", of=(1.0, 0.97)) == set()
    assert names(run(), run(), measure="completion", of=(1.0, 1.01)) == set()


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ({}, "without a condition"),
        ({"nearly": True}, "there is no key 'nearly'; did you mean 'nearby'"),
        ({"exit": 0}, "exit must be a number above 0"),
        ({"measures": ["speed"]}, "measures must be a list of"),
    ],
)
def test_wrong_rules_are_refused(when: dict[str, object], message: str) -> None:
    rule = {"name": "mine", "says": "why", "source": "a page", "when": when}
    with pytest.raises(ValueError, match=message):
        rules.read({"rule": [rule]}, "mine.toml")


def test_rules_name_pages_that_exist() -> None:
    root = Path(__file__).resolve().parents[2]
    assert all((root / rule.source.partition("#")[0]).is_file() for rule in rules.rules())


def test_an_interrupted_comparison_continues(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with pytest.raises(Interrupted, match="70 of 72 runs are finished; run the same command to continue"):
        compare(file, world(StandIn(stop_after=4)), out=folder)
    assert not (folder / "report.html").exists()
    second = StandIn()
    compare(file, world(second), out=folder)
    assert len(second.ran) == 2
    third = StandIn()
    compare(file, world(third), out=folder)
    assert not third.ran, "everything is stored"


def test_repetitions_of_all_scenarios_take_turns(file: Path) -> None:
    runner = StandIn()
    compared(file, runner)
    seeds = [scenario.seed for scenario in runner.ran]
    assert seeds == sorted(seeds) and len(seeds) == 6


def test_runs_at_the_same_time_give_the_same_comparison(file: Path) -> None:
    _, alone = compared(file, StandIn(later=300))
    outcome = Outcome(comparing.cases([file]), world(StandIn(later=300), jobs=4), 3, Experiment(jobs=4))
    outcome.run()
    assert outcome.experiment.new == 72
    found = [each for pairs in outcome.pairs() for each in judging.differences(pairs)]
    assert [each.kernel for each in found] == [each.kernel for each in alone]


def test_a_scenario_that_fails_does_not_stop_the_others(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare(file, world(StandIn(refuses="bernoulli")), out=tmp_path / "out")
    printed = capsys.readouterr()
    for number in (1, 2, 3):
        assert f"small-endless: failed in repetition {number}: the kernel has no such control" in printed.err
    assert {row["scenario"] for row in json.loads(printed.out)["rows"]} == {"small-transfer"}
    with pytest.raises(ValueError, match="no scenario could run on the kernel"):
        compare(file, world(StandIn(refuses="duration")))


def test_a_failed_repetition_leaves_the_others(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    compare(file, world(StandIn(refuses="seed = 2")), out=folder)
    shown = json.loads(capsys.readouterr().out)
    reason = "the kernel has no such control"
    assert shown["failed"] == [
        {"scenario": name, "repetition": 2, "reason": reason} for name in ("small-endless", "small-transfer")
    ]
    assert shown["refused"] == {} and "3 repetitions each at most" in shown["answer"][0]
    assert all(row["repetitions"] == 2 and row["difference"] in (0, None) for row in shown["rows"])
    assert set(polars.read_csv(folder / report.KERNEL_FILE)["repetition"]) == {1, 3}
    assert "small-endless: failed in repetition 2" in (folder / "report.html").read_text()


def test_a_disturbed_repetition_does_not_count_and_is_repeated_by_the_next_command(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare(file, world(StandIn(disturbs="seed = 3")), out=tmp_path / "out")
    shown = json.loads(capsys.readouterr().out)
    assert [(each["repetition"], each["reason"]) for each in shown["failed"]] == [
        (3, "the run should not be used: packets were late")
    ] * 2
    assert all(row["repetitions"] == 2 for row in shown["rows"])
    assert (shown["lateness_p50"], shown["lateness_p99"], shown["lateness_max"]) == (1e-4, 5e-4, 2e-3)
    (unfollowed,) = shown["unfollowed"]
    assert unfollowed["scenarios"] == ["small-endless", "small-transfer"] and "modern.acks" in unfollowed["setting"]
    again = StandIn()
    compare(file, world(again), out=tmp_path / "out")
    assert [scenario.seed for scenario in again.ran] == [3, 3]
    assert json.loads(capsys.readouterr().out)["failed"] == []


def test_files_of_a_comparison(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    compare(file, world(StandIn(later=2000)), repetitions=None, out=folder, json_output=False)
    printed = capsys.readouterr()
    assert "2 scenarios on Linux" in printed.out
    assert "flow.modern.acks: the kernel has its own rules (small-endless, small-transfer)" in printed.err
    assert "2 scenarios: 6 runs on Linux 6.18.0 take 14 s, longer if this machine disturbs them" in printed.err
    assert {*report.WRITTEN, "measured.parquet", "lock", "manifest.json"} == {entry.name for entry in folder.iterdir()}
    html = (folder / "report.html").read_text()
    assert "Congestion windows" in html and "small-transfer" in html
    table = polars.read_csv(folder / report.TABLE_FILE)
    assert set(table["scenario"]) == {"small-endless", "small-transfer"}
    completion = table.filter(polars.col("measure") == "completion").row(0, named=True)
    assert completion["verdict"] == "differs"
    assert completion["difference"] == pytest.approx(completion["simulated"] / completion["kernel"] - 1)


def test_scenarios_in_python_can_be_compared(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "find", lambda *_, **__: world(StandIn()))
    found = linux.compare(load(file).variants()[1][1], repetitions=1)
    assert set(found.table["scenario"]) == {"small"} and "1 scenario on Linux" in found.answer[0]


def test_table_of_runs_restores_them(file: Path, tmp_path: Path) -> None:
    outcome, found = compared(file, StandIn(later=2000))
    stored = tmp_path / "kernel.csv"
    stored.write_text(report.kernel_table(outcome.pairs()).write_csv())
    again = Outcome(comparing.cases([file]), world(StandIn(stop_after=0)), 3)
    report.take_rows(again, polars.read_csv(stored))
    again.run()
    restored = [each for pairs in again.pairs() for each in judging.differences(pairs)]
    assert [(each.kernel, each.simulated, each.verdict, each.known) for each in restored] == [
        (each.kernel, each.simulated, each.verdict, each.known) for each in found
    ]
    report.take_rows(fewer := Outcome(comparing.cases([file]), world(StandIn()), 4), polars.read_csv(stored))
    assert set(fewer.refused) == {"small-endless", "small-transfer"}, "a repetition is missing"


def test_range_of_scenarios_alike_needs_the_measure_in_all_of_them(file: Path) -> None:
    outcome, _ = compared(file, StandIn())
    _, pairs = outcome.pairs()
    assert all(each.nearby is not None for each in judging.differences(pairs))
    first, *others = pairs.nearby
    without = [Run({}, run.path, {}, run.facts) for run in first]
    ranges = {each.measure.key: each.nearby for each in judging.differences(replace(pairs, nearby=[without, *others]))}
    assert ranges["completion"] is None and ranges["queue_drops"] is not None


def test_method_says_how_scenarios_alike_differ(file: Path) -> None:
    outcome, _ = compared(file, StandIn())
    (_, _, _, causes) = words.method(outcome)
    assert "within a tick of 4 ms" in causes and "longer by up to 0.2 ms" in causes


def test_later_flows_of_scenarios_alike_start_before_and_after() -> None:
    flow = {"from": "s0", "to": "d0", "host": "linux"}
    later = {**flow, "name": "later", "from": "s1", "to": "d1", "start": "6 ms"}
    dumbbell = {"kind": "dumbbell", "pairs": 2}
    own = Scenario("two", duration="1 s", topology=dumbbell, flow=[{**flow, "name": "first"}, later])
    alike = [comparing.like(Frozen(own), draw, worlds.machine()) for draw in (0, 9)]
    found = [taken(each).flows for each in alike]
    assert [flows["later"]["start_s"] for flows in found] == pytest.approx([0.0015, 0.0141])
    assert [flows["first"]["start_s"] for flows in found] == pytest.approx([0, 0.0036])
    shorter, longer = (float(flows["first"]["path_rtt"]) for flows in found)
    assert longer - shorter == pytest.approx(7 * 9 % 10 * 2e-4 / 9, abs=1e-8)


def test_scenarios_alike_start_within_a_tick_on_paths_longer_by_up_to_0_2_ms(file: Path) -> None:
    scenario = comparing.cases([file])[1].scenario
    alike = [comparing.like(Frozen(scenario), draw, worlds.machine()) for draw in range(comparing.NEARBY)]
    flows = [taken(each).flows["flow0"] for each in alike]
    assert [flow["start_s"] for flow in flows] == pytest.approx([draw * 4e-4 for draw in range(comparing.NEARBY)])
    (own,) = taken(scenario).flows.values()
    longer = sorted(float(flow["path_rtt"]) - float(own["path_rtt"]) for flow in flows)
    assert longer == pytest.approx([draw * 2e-4 / 9 for draw in range(comparing.NEARBY)], abs=1e-8)


def virtual(runner: StandIn, key: str = "0123456789ab") -> World:
    own = {"name": "linux", "release": "6.12.1", "identity": f"linux 6.12.1 {key}", "virtual": True, "jobs": None}
    return world(runner, **own, repetitions=6, longer=0)


def test_nothing_is_late_or_disturbed_in_virtual_time(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runner = StandIn(later=2000, facts=VIRTUAL)
    compare(file, virtual(runner), None, out=tmp_path / "out", json_output=False)
    printed = capsys.readouterr()
    compare(file, virtual(runner), None, out=tmp_path / "out")
    shown = capsys.readouterr().out
    html = (tmp_path / "out" / "report.html").read_text()
    assert "2 scenarios on Linux 6.12.1 in virtual time, 6 repetitions each" in printed.out
    assert "With 6 repetitions it extends 1.0 standard deviations" in html
    assert "The first link of every flow is longer" not in html
    own = html[html.index("<body") :].partition("<script")[0]
    for word in ("real time", "disturb", "late ", "lateness", "attempt", "take "):
        assert word not in printed.out + printed.err + shown, word
        assert word not in own or word == "take ", word
    assert len(runner.ran) == 12 and {scenario.seed for scenario in runner.ran} == set(range(1, 7))
    rows = polars.read_csv(tmp_path / "out" / report.KERNEL_FILE)
    assert rows["phase_s"].to_list() == [1e-3] * 12 and "lateness_p50" not in rows.columns


def test_runs_of_another_kernel_are_others(file: Path, tmp_path: Path) -> None:
    runner = StandIn(facts=VIRTUAL)
    for key in ("0123456789ab", "0123456789ac", "0123456789ab"):
        compare(file, virtual(runner, key), out=tmp_path / "out")
    assert len(runner.ran) == 12


def test_scenarios_alike_have_paths_as_long_as_the_worlds(file: Path) -> None:
    scenario = comparing.cases([file])[1].scenario
    own = replace(virtual(StandIn()), tick=1_000_000)
    flows = [taken(comparing.like(Frozen(scenario), draw, own)).flows for draw in (0, 5)]
    rows = [flow["flow0"] for flow in flows]
    assert rows[0]["path_rtt"] == rows[1]["path_rtt"]
    assert [row["start_s"] for row in rows] == [0, 5e-4]


def test_a_world_that_this_machine_lacks_is_refused(file: Path) -> None:
    lacking = replace(virtual(StandIn()), missing=lambda: "no kernel starts")
    with pytest.raises(OSError, match=r"cannot run scenarios on Linux 6\.12\.1 in virtual time: no kernel starts"):
        compare(file, lacking)
    with pytest.raises(ValueError, match="simulation has no kernel to compare with; choose linux or machine"):
        linux.compare(file, on="simulation")


def test_options_of_real_time_are_refused_elsewhere() -> None:
    for options, message in (({"attempts": 2}, "--attempts"), ({"change_hystart": True}, "--change-hystart")):
        with pytest.raises(ValueError, match=message):
            worlds.find("linux", **options)
        assert worlds.find("machine", **options).jobs == 1
    with pytest.raises(
        ValueError, match="--on lniux: expected simulation, linux, machine, quic or quinn; did you mean linux"
    ):
        worlds.find("lniux")


def test_words_of_a_difference() -> None:
    said = words.larger([difference([2e6, 2.02e6, 1.98e6], [3e6] * 3)])
    assert said == ["one: data delivered: +50.00 % (2.000 → 3.000 MB); no rule explains it."]


def test_two_scenarios_of_one_name_are_refused(file: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin.toml"
    twin.write_text(SCENARIOS)
    with pytest.raises(ValueError, match="small-endless is also a scenario of"):
        comparing.cases([file, twin])


def test_wrong_options(cli: Cli, file: Path) -> None:
    done = cli("kernel", "compare", "missing.toml")
    assert done.returncode == 2 and "missing.toml" in done.stderr and "Traceback" not in done.stderr
    done = cli("kernel", "compare", file, "--tolerance", "0")
    assert (
        done.returncode == 2
        and "tolerance: must be a share above 0 % and below 100 %, such as 0.05 for 5 %, not 0.0" in done.stderr
    )
    (file.parent / "mine").mkdir()
    (file.parent / "mine" / "notes.txt").write_text("mine")
    done = cli("kernel", "compare", file, "--out", "mine")
    assert done.returncode == 2 and "was not written by ackclock" in done.stderr


def test_the_kernel_delivers_what_the_simulation_does(kernel: linux.Check, cli: Cli, tmp_path: Path) -> None:
    plain = SCENARIOS.partition("[sweep.case]")[0] + 'slow_start = "standard"\navoidance = "reno"\n'
    (tmp_path / "plain.toml").write_text(plain)
    # Again if something else keeps this machine busy.
    for _ in range(2):
        done = cli("kernel", "compare", "plain.toml", "--repetitions", "1", "--json")
        disturbed = "the run should not be used" in done.stderr
        assert disturbed or done.returncode == 0, done.stderr
        if not disturbed:
            shown = json.loads(done.stdout)
            (delivered,) = [row for row in shown["rows"] if row["measure"] == "delivered_bytes"]
            if abs(delivered["difference"]) < 0.05:
                break
    if disturbed:
        pytest.skip("this machine disturbed the run in every attempt")
    assert abs(delivered["difference"]) < 0.05
    assert shown["release"] == kernel.release
