"""A paper in worlds beside the simulation: hosts, the choice of runs, their storage, verdicts and report.

A stand-in for a world simulates what a kernel would run, so that these tests need no kernel.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars
import pytest

from ackclock import Ack, CongestionControl, Scenario, _core, linux, verify
from ackclock.cli.commands.paper import paper
from ackclock.experiments.execute import Interrupted
from ackclock.experiments.experiment import Experiment
from ackclock.experiments.store import Store
from ackclock.experiments.world import World, run_here
from ackclock.formatting.numbers import in_words
from ackclock.freeze import Frozen
from ackclock.linux import checking, hosts, running, worlds
from ackclock.linux.running import KernelResult
from ackclock.linux.worlds import OVERHEAD
from ackclock.literature import library, report, reproduction
from ackclock.literature.plan import Plan, plan_paper
from ackclock.literature.verdicts import Judgement
from ackclock.literature.worlds import choosing, judging, runs
from ackclock.literature.worlds.choosing import REPETITIONS, choose

PAPER = """\
title = "Small"
reference = "nobody"
labels = ["queue", "algorithm"]

[[experiment]]
file = "small.toml"

[[repeat]]
sampling = "path"
count = 6
spread = "60 ms"
cwnd = { cwnd_1s = [0, 1], cwnd_3s = [0, 3] }

[quick]
counts = { path = 3 }
only = { queue = ["5"] }

[[chart]]
kind = "bars"
title = "goodput"
where = {}
x = "queue"
series = "algorithm"
metric = "goodput_bps"

[answer]
sentences = ["One.", "Two.", "Three."]
chart = "goodput"
"""

SCENARIO = """\
duration = "4 s"
topology = { kind = "chain", bottleneck = { rate = "2 Mbit/s", queue = { kind = "droptail", limit = "5 packets" } } }
flow = [{ name = "tcp", initial_window = "1 segment", initial_ssthresh = "unlimited" }]

[sweep.queue]
"5" = { "topology.bottleneck.queue.limit" = "5 packets" }
"20" = { "topology.bottleneck.queue.limit" = "20 packets" }

[sweep.algorithm]
"1" = { "flow.slow_start" = { kind = "staged", algorithm = "1" } }
"2" = { "flow.slow_start" = { kind = "staged", algorithm = "2" } }
"""

CLAIMS = """\
metrics = ["goodput_bps"]

[[claim]]
id = "everywhere"
text = "two leads everywhere"
source = "§1"
kind = "order"
axis = "algorithm"
where = {}
expected = [["2"], ["1"]]
metrics = ["cwnd_1s", "goodput_bps"]

[[claim]]
id = "small-queue"
text = "two leads with a queue of 5"
source = "§2"
kind = "order"
axis = "algorithm"
where = { queue = "5" }
expected = [["2"], ["1"]]
metrics = ["goodput_bps", "cwnd_3s"]
"""


@dataclass
class StandIn:
    """A world that simulates; it can refuse, swap the algorithms, deliver late, fail, and be interrupted."""

    release: str = "6.18.0"
    refuses: str | None = None
    swaps: bool = False
    tainted: Sequence[int] = ()
    fails: Sequence[int] = ()
    stops_at: int | None = None
    stops_with: type[BaseException] = KeyboardInterrupt
    warnings: Sequence[str] = ()
    virtual: bool = False
    ran: list[Scenario] = field(default_factory=list)

    @property
    def world(self) -> World:
        """Return the world."""
        name = "linux" if self.virtual else "machine"
        return World(
            name, self, hosts.hosted, refusal=self.refusal, fault=running.fault, release=self.release,
            identity=f"{name} {self.release}", sources=worlds.SOURCES, virtual=self.virtual, jobs=1,
            overhead=0.0 if self.virtual else OVERHEAD,
        )  # fmt: skip

    def refusal(self, scenario: Scenario) -> str | None:
        assert not any(flow["profile"] == "ns2" for flow in Frozen(scenario).flows)
        return self.refuses

    def __call__(
        self, scenario: Scenario, record: Sequence[str] | None, cancel: _core.Cancel, capture: Sequence[str] = ()
    ) -> KernelResult:
        place = len(self.ran)
        if place == self.stops_at:
            raise self.stops_with
        self.ran.append(scenario)
        if place in self.fails:
            raise ValueError("the kernel's connection failed")
        if self.swaps:
            other = {"1": "2", "2": "1"}[Frozen(scenario).flows[0]["slow_start"]["algorithm"]]
            scenario = scenario.set({"flow.slow_start": f'{{ kind = "staged", algorithm = "{other}" }}'})
        facts = {
            "world": self.world.name,
            "release": self.release,
            "lateness_p99": 0.002,
            "attempts": 1,
            "warnings": [["setting", [], text] for text in self.warnings],
        }
        late = {"tainted": True, "reason": "packets left 20 ms late"} if place in self.tainted else {}
        return KernelResult(scenario, run_here(scenario, record, cancel)._core, {**facts, **late})


def execute(choice: choosing.Choice, out: Path) -> runs.Elsewhere:
    """Run a choice into a folder."""
    experiment = Experiment(out)
    with experiment.opened(reproduction.KIND, reproduction.manifest(choice.plan)):
        (found,) = runs.run([choice], experiment)
        experiment.finish(reproduction.DRAWING)
    return found


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with a small paper."""
    folder = tmp_path / "papers" / "small"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(PAPER)
    (folder / "small.toml").write_text(SCENARIO)
    (folder / "claims.toml").write_text(CLAIMS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def planned(*, quick: bool = False) -> Plan:
    return plan_paper(library.find("small"), quick=quick)


def names(choice: choosing.Choice) -> list[tuple[str, str]]:
    return [(reading.claim.id, reading.metric) for reading in choice.chosen]


def verdicts(found: runs.Elsewhere) -> dict[tuple[str, str], str]:
    return {key: judgement.verdict for key, judgement in judging.judged(found).items()}


class Fixed(CongestionControl):
    def on_ack(self, ack: Ack) -> None:
        """Change nothing."""


def ns2(**flow: object) -> Scenario:
    return Scenario("one", duration="4 s", topology={"kind": "chain"}, flow=[{"name": "tcp", **flow}])


def test_hosts_of_ns2_become_hosts_of_linux_with_the_same_network_and_control() -> None:
    control = {"kind": "staged", "algorithm": "2", "max_ssthresh": "100 segments"}
    given = ns2(packet_size="800 B", slow_start=control, initial_window="3 segments", initial_ssthresh="rwnd")
    mapped = hosts.hosted(given)
    old, new = Frozen(given).document, Frozen(mapped).document
    assert new["topology"] == old["topology"]
    assert new["duration"] == old["duration"]
    flow = new["flow"][0]
    assert flow["profile"] == "modern"
    assert flow["modern"]["timestamps"] is False
    assert flow["modern"]["recovery"] == "rack"
    assert flow["initial_ssthresh"] == "1000 segments"
    for key in ("packet_size", "initial_window", "slow_start", "avoidance", "loss_response", "start", "from", "to"):
        assert flow[key] == old["flow"][0][key]


def test_hosts_of_linux_stay_and_a_control_in_python_moves_with_its_flow() -> None:
    linux = Scenario("one", duration="4 s", topology={"kind": "chain"}, flow=[{"host": "linux"}])
    assert hosts.hosted(linux) is linux
    hosted = hosts.hosted(ns2(congestion_control=Fixed))
    assert hosted.controls == {0: Fixed} and Frozen(hosted).flows[0]["profile"] == "modern"


def test_every_scenario_of_ass_has_hosts_of_linux() -> None:
    for cell in plan_paper(library.find("ass"), quick=True).cells:
        hosted = hosts.hosted(cell[0].scenario)
        # The figures of §2 take 3 and 20 s.
        assert hosted.duration in (3, 20, 250) and all(flow["profile"] == "modern" for flow in Frozen(hosted).flows)


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        ({"recovery": "tahoe"}, 'recovery = "tahoe": the kernel has SACK with RACK, and NewReno'),
        ({"header": "0 B"}, "header = '0 B': the kernel's headers take 40 B"),
    ],
)
def test_a_setting_without_a_counterpart_is_refused(flow: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError) as error:
        hosts.hosted(ns2(**flow))
    assert said in str(error.value)


def test_a_receive_window_that_may_limit_the_sender_is_kept() -> None:
    flow = Frozen(hosts.hosted(ns2(rwnd="20 packets", packet_size="500 B"))).flows[0]
    assert (flow["modern"]["receive_buffer"], flow["modern"]["receive_buffer_max"]) == ("10000 B", "10000 B")
    assert flow["modern"]["receive_buffer_unit"] == "data"


def test_without_sack_the_kernel_has_newreno() -> None:
    mapped = hosts.hosted(ns2(recovery="newreno"))
    assert Frozen(mapped).flows[0]["modern"]["recovery"] == "newreno"
    assert next(it.there for it in hosts.replaced(ns2(recovery="newreno"))) == "NewReno, because SACK is off"


def test_the_cheapest_readings_are_chosen_within_the_budget(small: Path) -> None:
    whole, early = 4 + OVERHEAD, 1.1 + OVERHEAD
    machine = StandIn()
    budget = 5 * 2 * (3.1 + OVERHEAD) + 1
    choice = choose(planned(), machine.world, budget)
    assert names(choice) == [("everywhere", "cwnd_1s")]
    assert choice.seconds == pytest.approx(5 * 4 * early)
    reasons = {(it.claim.id, it.metric): it.reason for it in choice.readings if it.reason}
    assert (
        reasons["small-queue", "cwnd_3s"]
        == f"it needs 20 s more (10 runs of 3.1 s), beyond the budget of {in_words(budget)}"
    )
    everything = choose(planned(), machine.world, 5 * 4 * whole)
    assert len(names(everything)) == 4
    assert everything.seconds == pytest.approx(5 * 4 * whole)
    assert not machine.ran


def test_a_reading_has_all_its_cells_and_repetitions_and_cells_alternate(small: Path) -> None:
    choice = choose(planned(), StandIn().world, 3600)
    assert len(choice.runs) == REPETITIONS * 4
    assert [run.cell for run in choice.runs[:4]] == [run.cell for run in choice.runs[4:8]]
    assert {run.repetition.unit for run in choice.runs} == set(range(1, REPETITIONS + 1))
    assert all(run.repetition.paths == "like" for run in choice.runs)
    # The paths of the kernel are those of the plan.
    starts = {run.repetition.scenario.hash for run in choice.runs}
    assert starts < {run.scenario.hash for run in planned().runs}


def test_a_short_run_has_no_metric_of_its_later_part(small: Path) -> None:
    choice = choose(planned(), StandIn().world, 5 * 4 * (1.1 + OVERHEAD))
    assert {run.scenario.duration for run in choice.runs} == {1.1}
    assert {name for run in choice.runs for it in run.measurement.measures for name in it.columns} == {"cwnd_1s"}


def test_the_quick_plan_has_repetitions_of_its_own_but_only_its_cells(small: Path) -> None:
    choice = choose(planned(quick=True), StandIn().world, 3600)
    assert len(choice.runs) == REPETITIONS * 2
    assert {run.labels["queue"] for run in choice.runs} == {"5"}


def test_no_claim_can_run(small: Path) -> None:
    with pytest.raises(ValueError, match=r"small: no claim can run on Linux 6\.18\.0: there is no eBPF program"):
        choose(planned(), StandIn(refuses="there is no eBPF program").world, 3600)
    least = re.escape(in_words(20 * (1.1 + OVERHEAD)))
    with pytest.raises(ValueError, match=rf"no claim can run within 5 s: the shortest needs {least} \(--budget\)"):
        choose(planned(), StandIn().world, 5)


def test_too_few_repetitions_in_the_paper_are_said(small: Path) -> None:
    file = small / "papers" / "small" / "paper.toml"
    file.write_text(file.read_text().replace("count = 6", "count = 4"))
    with pytest.raises(ValueError, match="the paper repeats its runs 4 times, and another world needs 5"):
        choose(planned(), StandIn().world, 3600)


def test_a_judged_model_is_said_to_send_no_packets() -> None:
    plan = plan_paper(library.find("rbt"), quick=True)
    choice = choose(plan, StandIn().world, 3600)
    reasons = {it.reason for it in choice.readings}
    assert "it judges a model, which sends no packets" in reasons
    assert any(reason.startswith('recovery = "tahoe": the kernel has') for reason in reasons)
    assert choice.chosen


def test_a_budget_of_virtual_time_is_that_of_the_scenarios(small: Path) -> None:
    virtual = StandIn(virtual=True).world
    assert names(choose(planned(), virtual, 5 * 4 * 1.1)) == [("everywhere", "cwnd_1s")]
    assert len(names(choose(planned(), virtual, 5 * 4 * 4))) == 4


def test_virtual_time_needs_no_budget(small: Path) -> None:
    choice = choose(planned(), StandIn(virtual=True).world)
    assert len(names(choice)) == 4 and (choice.budget, choice.seconds) == (None, 0)
    assert choice.said == "on Linux 6.18.0 in virtual time: 20 runs for 4 of 4 readings"
    assert {run.scenario.duration for run in choice.runs} == {4.0}
    found = execute(choice, small / "out")
    assert found.count == 20 and {row["world"] for row in found.rows} == {"linux"}


def test_a_world_in_real_time_has_a_budget_by_default(small: Path) -> None:
    assert choose(planned(), StandIn().world).budget == choosing.BUDGET
    assert choose(planned(quick=True), StandIn().world).budget == choosing.QUICK_BUDGET


def test_an_interrupted_series_continues_and_another_kernel_begins_again(small: Path) -> None:
    def again(machine: StandIn) -> runs.Elsewhere:
        return execute(choose(planned(quick=True), machine.world, 3600), small / "out")

    with pytest.raises(Interrupted, match="13 of 20 runs are finished; run the same command to continue"):
        again(StandIn(stops_at=3))
    left = StandIn()
    found = again(left)
    assert (len(left.ran), found.count) == (7, 10)
    nothing = StandIn()
    assert again(nothing).rows == found.rows
    assert not nothing.ran
    newer = StandIn(release="6.19.0")
    again(newer)
    assert len(newer.ran) == 10


def test_a_killed_process_loses_only_the_run_in_progress(small: Path) -> None:
    class Killed(BaseException):
        pass

    choice = choose(planned(quick=True), StandIn(stops_at=4, stops_with=Killed).world, 3600)
    with pytest.raises(Killed):
        execute(choice, small / "out")
    assert runs.results(choice, Store(small / "out")).count == 4


def test_a_failed_run_has_no_result_and_the_others_go_on(small: Path) -> None:
    found = execute(choose(planned(quick=True), StandIn(fails=[1, 2]).world, 3600), small / "out")
    assert (found.count, len(found.missing)) == (8, 2)
    assert found.problems == ["the kernel's connection failed"]


def test_tainted_runs_count_as_missing_and_are_repeated(small: Path) -> None:
    found = execute(choose(planned(quick=True), StandIn(tainted=[0]).world, 3600), small / "out")
    assert (found.count, len(found.missing)) == (9, 1)
    assert found.problems == ["the run should not be used: packets left 20 ms late"]
    judged = judging.judged(found)["small-queue", "goodput_bps"]
    assert judged.verdict == "cannot tell"
    assert judged.reasons == ["1 of its 10 runs have no result; the same command repeats them"]
    repeating = StandIn()
    again = execute(choose(planned(quick=True), repeating.world, 3600), small / "out")
    assert "cannot tell" not in verdicts(again).values()
    assert len(repeating.ran) == 1


def test_the_verdict_comes_from_the_runs_of_the_machine(small: Path) -> None:
    same, swapped = (
        judging.judged(execute(choose(planned(), machine.world, 3600), small / name))["everywhere", "cwnd_1s"]
        for name, machine in (("same", StandIn()), ("swapped", StandIn(swaps=True)))
    )
    assert (same.verdict, same.why) == ("holds", None)
    assert (swapped.verdict, swapped.why) == ("does not hold", "reversed")
    assert swapped.simulated is not None
    assert swapped.simulated.verdict == "holds"


def test_the_agreement_divides_each_run_by_its_simulation(small: Path) -> None:
    equal = judging.agreements(execute(choose(planned(quick=True), StandIn().world, 3600), small / "same"))
    assert {(it.count, it.low, it.median, it.high) for it in equal} == {(10, 1.0, 1.0, 1.0)}
    other = choose(planned(quick=True), StandIn(swaps=True).world, 3600)
    swapped = judging.agreements(execute(other, small / "swapped"))
    early = next(it for it in swapped if it.metric == "cwnd_1s")
    assert early.low < 1 < early.high


def reproduced(out: Path, machine: StandIn, budget: float = 3600) -> report.Report:
    plan = planned(quick=True)
    outcome = reproduction.execute(plan, out)
    return report.write(outcome, out, [execute(choose(plan, machine.world, budget), out)])


def test_the_report_has_the_verdicts_of_the_kernel_beside_the_others(small: Path) -> None:
    out = small / "out"
    written = reproduced(out, StandIn(swaps=True, warnings=["the kernel rounds the initial window"]))
    kernel = next(item.worlds["machine"] for item in written.judgements if item.metric == "cwnd_1s")
    assert isinstance(kernel, Judgement)
    assert kernel.verdict == "does not hold"
    html = written.html.read_text()
    assert '<th class="text">simulation</th><th class="text" title="Linux 6.18.0">machine</th>' in html
    assert 'id="world-machine"' in html and 'href="#world-machine">' in html
    assert "<li>the kernel rounds the initial window</li>" in html
    text = (out / "report.md").read_text()
    assert "10 runs on Linux 6.18.0, one at a time, 5 of each cell" in text
    assert "| everywhere | mean cwnd, first 1 s | holds | holds | does not hold |" in text
    entry = next(it for it in json.loads((out / "verdicts.json").read_text()) if it["metric"] == "cwnd_1s")
    assert (entry["worlds"]["machine"]["verdict"], entry["worlds"]["machine"]["simulated_linux"]["verdict"]) == (
        "does not hold",
        "holds",
    )
    table = polars.read_parquet(out / "worlds.parquet")
    assert table["world"].to_list() == ["machine"] * 10 + ["simulation"] * 10
    assert set(table["seconds"]) == {4.0}


def test_a_reading_beyond_the_budget_is_not_run_and_says_why(small: Path) -> None:
    out = small / "out"
    written = reproduced(out, StandIn(), budget=20)
    (beyond,) = [
        it.worlds["machine"] for it in written.judgements if it.claim.id == "everywhere" and it.metric == "goodput_bps"
    ]
    assert beyond.verdict == "not run"
    assert beyond.reasons == ["it needs 29 s more (10 runs of 4 s), beyond the budget of 20 s"]
    assert "beyond the budget of 20 s" in written.html.read_text()


@pytest.mark.parametrize("virtual", [False, True])
def test_the_report_is_made_again_from_stored_runs(small: Path, virtual: bool) -> None:
    out = small / "out"
    html = reproduced(out, StandIn(swaps=True, virtual=virtual)).html.read_text()
    assert ("in virtual time" in html) == virtual
    assert report.stored_paper(out) == html
    # A report without other worlds has none of their files and columns.
    plan = planned(quick=True)
    assert "world-" not in report.write(reproduction.execute(plan, out), out).html.read_text()
    assert not (out / "worlds.parquet").exists()


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Use stand-ins as this machine and as a kernel in virtual time."""
    made = StandIn()
    monkeypatch.setattr(worlds, "machine", lambda *_, **__: made.world)
    monkeypatch.setattr(worlds, "linux", lambda *_, **__: StandIn(release="7.2", virtual=True).world)
    return made


def command(out: Path, **changes: object) -> None:
    given: dict[str, Any] = {"quick": True, "on": "simulation,machine", "jobs": 1}
    paper("small", out=out, **{**given, **changes})


def test_the_command_says_beforehand_what_it_runs_and_shows_a_column(
    small: Path, machine: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    command(small / "out")
    shown = capsys.readouterr()
    said = f"10 runs one after another, about {in_words(10 * (4 + OVERHEAD))} of real time, for 4 of 4 readings"
    assert f"on Linux 6.18.0: {said}" in shown.err
    assert (shown.out.count("On Linux 6.18.0, "), shown.err.count("On Linux 6.18.0, ")) == (1, 0)
    quick, head, _, first, second, third, *_ = [line.split() for line in shown.out.splitlines() if line.strip()]
    assert quick[0] == "Quick:"
    assert head[:4] == ["claim", "reading", "simulation", "machine"]
    assert {line[0] for line in (first, second, third)} == {"everywhere", "small-queue"}
    command(small / "out", json=True)
    assert len(machine.ran) == 10
    assert all("machine" in entry["worlds"] for entry in json.loads(capsys.readouterr().out))


def test_runs_in_other_worlds_are_verified(
    small: Path, machine: StandIn, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = small / "out"
    command(out, on="simulation,linux,machine")
    before = len(machine.ran)
    found = verify("small", quick=True, out=out)
    assert found.passed, found.differences
    virtual, real = found.worlds
    assert virtual == "On linux 10 runs of 10 took place anew, and so did their simulations."
    assert real == (
        "On machine no run took place anew, because in real time two runs of one scenario differ; "
        "the simulations of 10 runs of 10 did."
    )
    assert len(machine.ran) == before
    table = polars.read_parquet(out / "worlds.parquet")
    for world in ("linux", "simulation"):
        moved = polars.when((polars.col("world") == world) & (polars.col("unit") == table["unit"].max()))
        goodput = polars.col("goodput_bps")
        table.with_columns(moved.then(goodput + 1).otherwise(goodput)).write_parquet(out / "worlds.parquet")
        differences = verify("small", quick=True, out=out).differences
        assert differences and all("goodput_bps is " in each for each in differences), world
    table.filter(polars.col("world") != "linux").write_parquet(out / "worlds.parquet")
    assert verify("small", quick=True, out=out).differences == [
        "linux: worlds.parquet has rows of 0 runs, and not of 10"
    ]
    table.write_parquet(out / "worlds.parquet")
    monkeypatch.setattr(worlds, "linux", lambda *_, **__: StandIn(release="7.3", virtual=True).world)
    first, _ = verify("small", quick=True, out=out).worlds
    assert first.startswith("On linux no run took place anew, because another kernel is here; the simulations of 10")


def test_several_worlds_are_columns(small: Path, machine: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    out = small / "out"
    command(out, on="simulation,linux,machine")
    _, head, *_ = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert head[:5] == ["claim", "reading", "simulation", "linux", "machine"]
    html = (out / "report.html").read_text()
    assert 'id="world-linux"' in html and 'id="world-machine"' in html
    assert "--on simulation,linux,machine" in html
    table = polars.read_parquet(out / "worlds.parquet")
    assert table["world"].to_list() == ["linux"] * 10 + ["machine"] * 10 + ["simulation"] * 10
    assert report.stored_paper(out) == html


def test_a_paper_is_judged_in_the_stacks_of_quic_beside_its_own_hosts(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = small / "papers" / "small", small / "out"
    (folder / "paper.toml").write_text(PAPER.replace("[quick]", 'derived = ["first_loss"]\n\n[quick]'))
    (folder / "claims.toml").write_text(CLAIMS.replace('"cwnd_3s"', '"cwnd_3s", "first_rate"'))
    command(out, on="simulation,quic,quinn")
    assert "on quinn: 10 runs for 5 of 5 readings" in capsys.readouterr().err
    table = polars.read_parquet(out / "worlds.parquet")
    counts = {world: own.height for (world,), own in table.group_by("world")}
    assert counts == {"quic": 10, "quinn": 10, "simulation": 10}
    beside = table.filter(polars.col("world") == "simulation")
    assert table.filter(polars.col("world") != "simulation")["first_rate"].is_null().all()
    assert beside["first_rate"].is_not_null().all()
    for entry in json.loads((out / "verdicts.json").read_text()):
        # Packets of QUIC have new numbers when they are sent again.
        without = entry["metric"] == "first_rate"
        assert all((own["verdict"] == "not run") == without for own in entry["worlds"].values()), entry
    html = (out / "report.html").read_text()
    assert "TCP, simulated" in html and "Linux, simulated" not in html
    assert "UDP payload of 1200 B" in html
    assert report.stored_paper(out) == html
    assert verify("small", quick=True, out=out).passed


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"on": "simulation,linux", "budget": "2 s"}, "no claim can run within 2 s: the shortest needs 11 s"),
        ({"on": "linux"}, "claims are judged in the simulation first; write --on simulation,linux"),
        ({"on": "quic,simulation"}, "claims are judged in the simulation first; write --on simulation,quic"),
        ({"on": "kernel"}, "--on kernel: expected simulation, linux, machine, quic or quinn"),
        ({"budget": "5"}, 'budget: must be a time above 0: a text such as "20 min" (units: s, min, h), or seconds'),
        ({"budget": "0 s"}, "budget: must be a time above 0"),
        ({"budget": "2 s"}, "small: no claim can run within 2 s: the shortest needs "),
    ],
)
def test_bad_input_is_one_message(
    small: Path, machine: StandIn, capsys: pytest.CaptureFixture[str], changes: dict[str, object], said: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        command(small / "out", **changes)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err
    assert not (small / "out").exists()


WINDOWS = """\
duration = "0.4 s"
topology = { kind = "chain", bottleneck = { rate = "5 Mbit/s", queue = { kind = "droptail", limit = "50 packets" } } }
flow = [{ name = "tcp", initial_ssthresh = "unlimited" }]

[sweep.window]
two = { "flow.initial_window" = "2 segments" }
ten = { "flow.initial_window" = "10 segments" }
"""

WINDOWS_PAPER = """\
title = "Windows"
reference = "nobody"
labels = ["window"]

[[experiment]]
file = "windows.toml"

[[repeat]]
sampling = "path"
count = 5
spread = "60 ms"
"""

WINDOWS_CLAIM = """\
metrics = ["delivered_packets"]

[[claim]]
id = "ten"
text = "ten segments deliver more at the start"
source = "§1"
kind = "order"
axis = "window"
where = {}
expected = [["ten"], ["two"]]
"""


def test_a_claim_is_judged_on_the_kernel(kernel: linux.Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "papers" / "windows"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(WINDOWS_PAPER)
    (folder / "windows.toml").write_text(WINDOWS)
    (folder / "claims.toml").write_text(WINDOWS_CLAIM)
    monkeypatch.chdir(tmp_path)
    world = worlds.machine()
    assert world.release == kernel.release
    choice = choose(plan_paper(library.find("windows")), world, 60)
    found = execute(choice, tmp_path / "out")
    if found.missing:
        found = execute(choice, tmp_path / "out")
    if found.missing:
        pytest.skip(f"the machine is too busy for runs in real time: {found.problems}")
    assert verdicts(found) == {("ten", "delivered_packets"): "holds"}
    (compared,) = judging.agreements(found)
    assert compared.count == 10
    assert 0.9 < compared.median < 1.1


def test_a_machine_without_its_parts_is_one_message(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = linux.Check("6.18.0", (linux.Probe("TUN", "all", found=False, detail="no /dev/net/tun"),))
    monkeypatch.setattr(checking, "check", lambda: lacking)
    with pytest.raises(SystemExit) as stopped:
        command(small / "out")
    assert stopped.value.code == 2
    assert "TUN: no /dev/net/tun (see: ackclock kernel check)" in capsys.readouterr().err
    assert not (small / "out").exists()
