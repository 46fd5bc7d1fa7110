"""`ackclock sweep`: points and seeds, equal points, errors, continuation, changes, kills, stopping rules."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import polars
import pytest

import ackclock
from ackclock import Scenario, _core
from ackclock.arguments import in_bytes
from ackclock.datasets import Writer
from ackclock.datasets.batch import Batch
from ackclock.experiments import sources
from ackclock.experiments.averages import averages
from ackclock.experiments.engines.local import Local
from ackclock.experiments.execute import Interrupted
from ackclock.experiments.world import SIMULATION, World
from ackclock.statistics.sequential import Stopping
from ackclock.sweeps import work as sweeping
from ackclock.sweeps.function import sweep
from ackclock.sweeps.plan import Until
from ackclock.sweeps.work import Limits

from .conftest import Cli

TIMES = ["cpu_s", "wall_s"]
TEXT = """
duration = "2 s"

[topology.bottleneck]
rate = "5 Mbit/s"
loss = "1 %"

[flow]

[sweep]
"topology.bottleneck.delay" = { from = "5 ms", to = "40 ms", count = 4 }
"topology.bottleneck.queue.limit" = ["10 packets", "20 packets"]
"""

EQUAL = (
    TEXT
    + """
[sweep.paper]
one = { "flow.slow_start" = "standard" }
other = { "flow.slow_start" = "standard" }
"""
)


def scenario(text: str = TEXT) -> Scenario:
    return Scenario.from_core(_core.Scenario.from_toml(text, "sweep"))


def rows(folder: Path, table: str = "runs") -> polars.DataFrame:
    found = getattr(ackclock.open(folder), table).collect()
    names = [name for name in ("point", "seed", "name") if name in found.columns]
    return found.drop([name for name in TIMES if name in found.columns]).sort(names)


def test_every_point_and_seed_has_a_row(tmp_path: Path) -> None:
    outcome = sweep(scenario(), tmp_path / "o", seeds=3)
    found = ackclock.open(tmp_path / "o").runs.collect()
    assert (outcome.planned, outcome.stored, outcome.copied) == (24, 0, 0)
    assert found.select("point", "seed").unique().height == 24
    assert found["error"].null_count() == 24
    assert found["version"].unique().to_list() == [ackclock.__version__]
    # A row is the run of its scenario.
    row = found.row(by_predicate=(polars.col("point") == 5) & (polars.col("seed") == 2), named=True)
    labels, base = scenario().sweep_points()[5]
    result = ackclock.run(base.set({"seed": 2}))
    assert {name: row[name] for name in labels} == labels
    assert row["hash"] == result.scenario.hash
    assert row["goodput_bps"] == polars.DataFrame(result.flows)["goodput_bps"].sum()
    assert row["events"] == result.events
    assert ackclock.open(tmp_path / "o").complete


def test_an_axis_of_seeds_is_the_column_seed(tmp_path: Path) -> None:
    text = TEXT + "seed = { from = 3, to = 5 }\n"
    sweep(scenario(text), tmp_path / "o")
    found = ackclock.open(tmp_path / "o")
    assert "label.seed" not in found.runs.collect_schema().names()
    assert sorted(found.runs.collect()["seed"].unique()) == [3, 4, 5]
    assert found.labels == ["topology.bottleneck.delay", "topology.bottleneck.queue.limit"]
    assert found.runs.collect().group_by("point").len()["len"].to_list() == [3] * 8
    # The same points and seeds, given by the option.
    sweep(scenario(), tmp_path / "same", seeds=5)
    same = rows(tmp_path / "same").filter(polars.col("seed") >= 3)
    assert rows(tmp_path / "o").equals(same)
    assert sweep(scenario(text), tmp_path / "o").stored == 24
    with pytest.raises(ValueError, match="axis seed, so the number of seeds is given twice"):
        sweep(scenario(text), tmp_path / "p", seeds=2)
    assert not (tmp_path / "p").exists()


def test_equal_points_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = count_runs(monkeypatch)
    outcome = sweep(scenario(EQUAL), tmp_path / "o")
    assert (outcome.planned, outcome.copied, len(ran)) == (16, 8, 8)
    found = ackclock.open(tmp_path / "o")
    copied = found.runs.filter(polars.col("point").is_in([0, 1])).collect()
    assert copied["run"].n_unique() == 1
    assert copied["goodput_bps"].n_unique() == 1
    assert copied["paper"].to_list() == ["one", "other"]
    assert found.flows.collect().height == 16
    assert polars.read_parquet(tmp_path / "o" / "flows" / "*.parquet").height == 8


def count_runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the hash of every scenario that runs."""
    ran: list[str] = []
    own = sweeping.Work.__call__

    def counting(work: sweeping.Work, chunk: sweeping.Chunk, cancel: object) -> sweeping.Done:
        ran.extend(scenario.hash for scenario in chunk.scenarios)
        return own(work, chunk, cancel)  # type: ignore[arg-type]

    monkeypatch.setattr(sweeping.Work, "__call__", counting)
    return ran


def test_a_wrong_point_is_a_row_with_its_error(tmp_path: Path) -> None:
    text = TEXT.replace('["10 packets", "20 packets"]', '["10 packets", "-3 packets"]')
    sweep(scenario(text), tmp_path / "o")
    found = ackclock.open(tmp_path / "o").runs.collect()
    assert found.height == 8
    wrong = found.filter(polars.col("error").is_not_null())
    assert wrong["topology.bottleneck.queue.limit"].unique().to_list() == ["-3 packets"]
    assert wrong["hash"].null_count() == wrong["goodput_bps"].null_count() == 4
    assert "queue.limit" in wrong["error"][0]
    # Nothing is left to do.
    assert sweep(scenario(text), tmp_path / "o").stored == 8


def test_a_run_beyond_its_budget_is_a_row_and_runs_again_with_another(tmp_path: Path) -> None:
    out = tmp_path / "o"
    sweep(scenario(), out, limits=Limits(events=200))
    failed = rows(out).filter(polars.col("error").is_not_null())
    assert failed.height == 8
    assert "200 events" in failed["error"][0].replace(",", "")
    assert sweep(scenario(), out, limits=Limits(events=200)).stored == 8
    outcome = sweep(scenario(), out)
    assert outcome.stored == 0
    sweep(scenario(), tmp_path / "whole")
    assert rows(out).equals(rows(tmp_path / "whole"))


def test_retry_runs_failed_tasks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "o"
    sweep(scenario(), out, limits=Limits(events=200))
    ran = count_runs(monkeypatch)
    again = sweep(scenario(), out, limits=Limits(events=200), retry=True)
    assert (again.stored, again.again, again.moved) == (0, 8, 0)
    assert len(ran) == 8


def test_what_moved_and_what_ran_again_are_said_apart(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    out = tmp_path / "o"
    sweep(scenario(), out, limits=Limits(events=200))
    with caplog.at_level("INFO"):
        sweep(scenario(), out)
    assert f"8 failed runs ran again; the rows of the failures moved to {out / 'earlier'}" in caplog.messages
    with caplog.at_level("INFO"):
        sweep(scenario(TEXT.replace('"20 packets"', '"30 packets"')), out, retry=True)
    assert f"4 rows are of values that the sweep has no more, and moved to {out / 'earlier'}" in caplog.messages


def test_places_to_capture_are_looked_for_before_the_first_run(tmp_path: Path, cli: Cli) -> None:
    with pytest.raises(ackclock.ScenarioError, match='no link or host "nowhere"'):
        sweep(scenario(), tmp_path / "o", capture=["nowhere"])
    assert not (tmp_path / "o").exists()
    (tmp_path / "s.toml").write_text(TEXT)
    done = cli("run", "s.toml", "--pcap", "s.pcapng", "--pcap-at", "nowhere")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith('error: capture: there is no link or host "nowhere" (known: ')


def test_nothing_is_written_to_if_every_run_failed(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "s.toml").write_text(TEXT)
    done = cli("run", "s.toml", "--max-events", "5", "--out", "o")
    assert (done.returncode, "written to" in done.stderr) == (2, False)
    assert "8 of 8 runs failed" in done.stderr


def test_a_changed_scenario_runs_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "o"
    sweep(scenario(), out)
    ran = count_runs(monkeypatch)
    changed = TEXT.replace('["10 packets", "20 packets"]', '["10 packets", "15 packets", "20 packets"]')
    outcome = sweep(scenario(changed), out)
    assert (outcome.planned, outcome.stored, len(ran)) == (12, 8, 4)
    sweep(scenario(changed), tmp_path / "whole")
    for table in ("runs", "flows", "links"):
        assert rows(out, table).equals(rows(tmp_path / "whole", table))
    # The way back needs no run: the rows that left are kept.
    ran.clear()
    sweep(scenario(), out)
    sweep(scenario(changed), out)
    assert ran == []


def test_a_sweep_without_axes_has_one_point(tmp_path: Path) -> None:
    text = TEXT.split("[sweep]")[0]
    outcome = sweep(scenario(text), tmp_path / "o", seeds=5)
    assert (outcome.planned, ackclock.open(tmp_path / "o").labels) == (5, [])


def test_seeds_are_added_until_the_interval_is_narrow(tmp_path: Path) -> None:
    until = Until("goodput_bps", Stopping(0.15, True, 4, 40))
    outcome = sweep(scenario(), tmp_path / "o", until=until)
    found = ackclock.open(tmp_path / "o").runs.collect()
    assert outcome.planned == found.height
    counts = found.group_by("point").agg(polars.col("goodput_bps"), polars.col("seed"))
    sizes = set()
    for row in counts.to_dicts():
        assert sorted(row["seed"]) == list(range(1, len(row["seed"]) + 1))
        assert until.rule.is_over(row["goodput_bps"])
        sizes.add(len(row["seed"]))
    assert len(sizes) > 1
    # Rows of more seeds, or of a stopped sweep with gaps, end as the rows of an undisturbed one.
    for before in (Until("goodput_bps", Stopping(0.05, True, 4, 40)), Until("goodput_bps", Stopping(0.5, True, 4, 40))):
        sweep(scenario(), tmp_path / "part", until=before)
        sweep(scenario(), tmp_path / "part", until=until)
        assert rows(tmp_path / "part").equals(rows(tmp_path / "o"))


def test_a_stopping_rule_fills_gaps_of_a_stopped_sweep(tmp_path: Path) -> None:
    until = Until("goodput_bps", Stopping(0.15, True, 4, 40))
    out = tmp_path / "o"
    sweep(scenario(), tmp_path / "whole", until=until)
    # Threads finish in any order: seed 2 of a point is missing, seed 3 is there.
    sweep(scenario(), out, until=until)
    plan = ackclock.open(out).runs.select("point", *ackclock.open(out).labels, "seed", "hash", "run").collect()
    with Writer(out, manifest=ackclock.open(out).manifest, labels=ackclock.open(out).labels) as writer:
        writer.relabel(plan.filter(~((polars.col("point") == 1) & (polars.col("seed") == 2))))
    shutil.rmtree(out / "earlier")
    sweep(scenario(), out, until=until)
    assert rows(out).equals(rows(tmp_path / "whole"))


def test_equal_values_end_a_point(tmp_path: Path) -> None:
    text = TEXT.replace('loss = "1 %"', "")
    outcome = sweep(scenario(text), tmp_path / "o", until=Until("goodput_bps", Stopping(0.01, True, 4, 1000)))
    assert outcome.planned == 32


def test_drawn_points_with_equal_labels_and_seeds_are_points_of_their_own(tmp_path: Path) -> None:
    drawn = """
[sweep.sample]
method = "random"
count = 16
seed = 1

[sweep.sample.keys]
"topology.bottleneck.queue.limit" = { from = "5 packets", to = "8 packets" }
"""
    text = TEXT.split("[sweep]")[0] + "[sweep]\nseed = [1, 2]\n" + drawn
    outcome = sweep(scenario(text), tmp_path / "o")
    found = ackclock.open(tmp_path / "o")
    assert outcome.planned == found.runs.collect().height == 32
    changed = sweep(scenario(text.replace('"2 s"', '"1 s"')), tmp_path / "o")
    assert changed.planned == 32
    # Equal points are one experiment: their copies are no further runs.
    for average in averages(found, ["goodput_bps"]):
        assert average.runs == 2


def test_seeds_that_are_none_are_rows_with_errors(tmp_path: Path) -> None:
    sweep(scenario(TEXT.split("[sweep]")[0] + '[sweep]\nseed = ["1", "-2", "x"]\n'), tmp_path / "o")
    found = rows(tmp_path / "o")
    assert found.height == 3
    assert "seed: must be a whole number" in found["error"][2]


def test_limits_that_no_longer_hold_leave_no_errors(tmp_path: Path) -> None:
    out = tmp_path / "o"
    other = TEXT.replace('"10 packets", "20 packets"', '"30 packets"')
    sweep(scenario(), out, limits=Limits(events=200))
    sweep(scenario(other), out)
    sweep(scenario(), out)
    assert rows(out)["error"].null_count() == 8


def test_a_change_that_is_stopped_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "o"
    sweep(scenario(), out, limits=Limits(events=200))
    with monkeypatch.context() as patch:

        def stop(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(Writer, "relabel", stop)
        with pytest.raises(KeyboardInterrupt, match="run the same command to continue"):
            sweep(scenario(), out)
    sweep(scenario(), out)
    assert rows(out)["error"].null_count() == 8


def test_ctrl_c_right_after_a_chunk_was_stored_stores_it_once(tmp_path: Path) -> None:
    pressed: list[int] = []

    def stop(done: int, _: int) -> None:
        if done and not pressed:
            pressed.append(done)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="of 8 runs are finished; run the same command to continue"):
        sweep(scenario(), tmp_path / "o", engine=Local(1), progress=stop)
    sweep(scenario(), tmp_path / "o")
    sweep(scenario(), tmp_path / "whole")
    assert rows(tmp_path / "o").equals(rows(tmp_path / "whole"))


def test_long_runs_after_short_ones_are_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    own = sweeping.Work.__call__

    def counting(work: sweeping.Work, chunk: sweeping.Chunk, cancel: object) -> sweeping.Done:
        sizes.append(len(chunk.scenarios))
        return own(work, chunk, cancel)  # type: ignore[arg-type]

    monkeypatch.setattr(sweeping.Work, "__call__", counting)
    durations = (
        ", ".join(f'"{index + 1} ms"' for index in range(8))
        + ", "
        + ", ".join(f'"{index} s"' for index in range(1, 60))
    )
    text = TEXT.split("[sweep]")[0] + f"[sweep]\nduration = [{durations}]\n"
    sweep(scenario(text), tmp_path / "o", engine=Local(1))
    assert max(later / max(sizes[:index]) for index, later in enumerate(sizes) if index) <= 2


def test_a_folder_of_another_sweep_is_refused(tmp_path: Path) -> None:
    sweep(scenario(), tmp_path / "o")
    other = Scenario.from_core(_core.Scenario.from_toml(TEXT, "other"))
    with pytest.raises(ValueError, match="holds the sweep of 'sweep'; name another directory"):
        sweep(other, tmp_path / "o")


def test_the_stored_scenario_is_the_one_that_ran(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(TEXT)
    cli("sweep", file, "--out", tmp_path / "o", "--set", "duration='1 s'")
    found = ackclock.open(tmp_path / "o")
    assert found.scenario is not None
    hashes = {found.scenario.sweep_points().hash(index) for index in range(8)}
    assert set(found.runs.collect()["hash"]) == hashes
    sweep(scenario(), tmp_path / "p")
    stored = ackclock.open(tmp_path / "p").scenario
    assert stored is not None
    assert len(stored.sweep_points()) == 8


class Own(ackclock.SlowStart):
    """Adds the acknowledged packets, as slow start does."""

    def on_ack(self, ack: ackclock.Ack, window: ackclock.Window) -> float:
        return ack.counted


def test_a_control_in_python_is_swept_and_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = {"topology.bottleneck.queue.limit": ["10 packets", "20 packets"]}
    own = Scenario("own", duration="2 s", topology={"kind": "chain"}, flow=[{"slow_start": Own}], sweep=queue)
    sweep(own, tmp_path / "o")
    found = ackclock.open(tmp_path / "o")
    assert isinstance(found, ackclock.Dataset)
    assert found.runs.collect()["error"].null_count() == 2
    for (point, _), result in found.results().items():
        assert result.flows.equals(polars.DataFrame(ackclock.run(own.sweep_points()[point][1]).flows))
        assert result.manifest["python_controls"]
    assert sweep(own, tmp_path / "o").stored == 2
    # Another source of the class is another run.
    monkeypatch.setattr(sources, "of_class", lambda made: f"changed {made.__name__}")
    assert sweep(own, tmp_path / "o").stored == 0


def test_limits_of_runs_that_cannot_keep_them_are_refused(tmp_path: Path) -> None:
    own = Scenario("own", duration="2 s", topology={"kind": "chain"}, flow=[{"slow_start": Own}])
    with pytest.raises(ValueError, match="only for runs of the engine alone, and not of a flow on a kernel or a contr"):
        sweep(own, tmp_path / "o", limits=Limits(events=10))
    assert not (tmp_path / "o").exists()


def test_a_failing_control_in_python_is_a_row_with_its_error(tmp_path: Path) -> None:
    class Broken(Own):
        def on_ack(self, ack: ackclock.Ack, window: ackclock.Window) -> float:
            raise RuntimeError("out of ideas")

    own = Scenario("own", duration="2 s", topology={"kind": "chain"}, flow=[{"slow_start": Broken}])
    outcome = sweep(own, tmp_path / "o", seeds=2)
    assert outcome.failed == 2
    assert "out of ideas" in rows(tmp_path / "o")["error"][0]


def test_runs_with_traces_and_packets_have_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "o"
    sweep(scenario(), out, record=["cwnd"], capture=[], limits=Limits(events=10_000_000))
    sweep(scenario(), tmp_path / "plain")
    found = ackclock.open(out)
    assert isinstance(found, ackclock.Dataset)
    # The measures of a run do not depend on what it records.
    same = pytest.approx
    for one, other in zip(rows(out).to_dicts(), rows(tmp_path / "plain").to_dicts(), strict=True):
        assert {**one, "run": ""} == {name: same(value) if isinstance(value, float) else value for name, value in
                                      {**other, "run": ""}.items()}  # fmt: skip
    for (point, seed), result in found.results().items():
        fresh = ackclock.run(scenario().sweep_points()[point][1], record=["cwnd"], capture=["n1>n2"])
        assert (result.traces, result.manifest["seed"]) == (["cwnd"], seed)
        assert result.trace("cwnd").equals(polars.DataFrame(fresh.trace("cwnd")))
        assert (result.directory / "packets.pcapng").read_bytes() == fresh.pcapng()
        assert result.labels == scenario().sweep_points().labels(point)
    # Only the runs that exceed a limit are rows with an error.
    sweep(scenario(), tmp_path / "limited", record=["cwnd"], limits=Limits(events=200))
    assert "200 events" in rows(tmp_path / "limited")["error"][0].replace(",", "")
    with pytest.raises(ValueError, match="did you mean 'cwnd'"):
        sweep(scenario(), tmp_path / "p", record=["cwd"])


def test_a_dataset_gives_results(tmp_path: Path) -> None:
    sweep(scenario(TEXT + "seed = { from = 3, to = 5 }\n"), tmp_path / "o")
    found = ackclock.open(tmp_path / "o")
    assert isinstance(found, ackclock.Dataset)
    results = found.results()
    assert len(results) == 24
    for labels, variant in scenario(TEXT + "seed = { from = 3, to = 5 }\n").variants():
        (result,) = [each for each in results.values() if each.labels == labels]
        fresh = ackclock.run(variant)
        assert result.to_toml() == variant.to_toml()
        assert result.flows.equals(polars.DataFrame(fresh.flows))
        assert result.manifest["seed"] == variant.seed
        assert result.duration == 2.0
        assert result.traces == []


def test_a_dataset_has_the_tables_of_its_scenario(tmp_path: Path) -> None:
    place = tmp_path / "scenarios"
    (place / "tables").mkdir(parents=True)
    (place / "tables" / "paths.csv").write_text("label,topology.bottleneck.delay (ms)\na,5\nb,20\n")
    file = place / "paths.toml"
    file.write_text(TEXT.split("[sweep]")[0] + '[sweep]\npaths.file = "tables/paths.csv"\n')
    sweep(file, tmp_path / "o")
    variants = ackclock.load(file).variants()
    shutil.rmtree(place)
    found = ackclock.open(tmp_path / "o")
    assert isinstance(found, ackclock.Dataset)
    results = list(found.results().values())
    assert [result.to_toml() for result in results] == [variant.to_toml() for _, variant in variants]
    assert [result.labels for result in results] == [labels for labels, _ in variants]


def test_several_worlds_are_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXT + "seed = [1, 2]\n"
    worlds = [SIMULATION, World("other", identity="other")]
    outcome = sweep(scenario(text), tmp_path / "o", on=worlds)
    found = outcome.dataset
    assert outcome.planned == 32
    assert found.labels == ["topology.bottleneck.delay", "topology.bottleneck.queue.limit", "world"]
    runs = found.runs.collect()
    assert runs.group_by("world").len().sort("world").rows() == [("other", 16), ("simulation", 16)]
    assert runs["run"].n_unique() == 32
    # Runs in another world have folders of their own; the measures are those of the same scenario.
    for (point, seed), result in found.results().items():
        row = runs.row(by_predicate=(polars.col("point") == point) & (polars.col("seed") == seed), named=True)
        assert result.labels["world"] == row["world"]
        assert result.flows["goodput_bps"].sum() == pytest.approx(row["goodput_bps"])
    assert found.sql("SELECT count(*) FROM flows WHERE world = 'other'").item() == 16
    assert [average.labels["world"] for average in averages(found, ["goodput_bps"])][:2] == ["simulation", "other"]
    assert sweep(scenario(text), tmp_path / "o", on=worlds).stored == 32
    # One world less: its rows stay, and nothing runs.
    ran = count_runs(monkeypatch)
    assert sweep(scenario(text), tmp_path / "o").planned == 16
    assert (ran, ackclock.open(tmp_path / "o").labels) == ([], found.labels[:2])


@pytest.mark.parametrize("kept", [False, True])
def test_ctrl_c_while_rows_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool) -> None:
    own = Batch.add
    calls = []

    def interrupted(batch: Batch, tables: dict[str, polars.DataFrame]) -> None:
        calls.append(tables)
        if kept or len(calls) != 2:
            own(batch, tables)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Batch, "add", interrupted)
    with pytest.raises(Interrupted) as caught:
        sweep(scenario(), tmp_path / "o", seeds=40, engine=Local(1))
    done = ackclock.open(tmp_path / "o").runs.collect().height
    assert 0 < done < 320
    assert f"{done} of 320 runs" in str(caught.value)
    assert sum(result is not None for result in caught.value.results) == done


def test_the_command_prints_means_and_says_where_the_rows_are(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(TEXT)
    out = tmp_path / "o"
    result = cli("sweep", file, "--seeds", "3", "--out", out)
    assert result.returncode == 0, result.stderr
    assert "±" in result.stdout
    assert "24 runs in" in result.stderr
    assert f"written to {out}" in result.stderr
    again = cli("sweep", file, "--seeds", "3", "--out", out, "--json")
    assert again.returncode == 0, again.stderr
    data = json.loads(again.stdout)
    assert len(data["points"]) == 8
    point = data["points"][0]
    assert point["goodput_bps"]["low"] < point["goodput_bps"]["mean"] < point["goodput_bps"]["high"]
    assert "24 were stored" in again.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "rai"], "did you mean 'ray'"),
        (["--address", "auto"], "--address auto: is for --engine ray"),
        (["--until", "goodput=2%"], "goodput_bps"),
        (["--until", "goodput_bps=2"], "expected a share such as 2%"),
        (["--until", "goodput_bps=0%"], "expected a share such as 2%"),
        (["--until", "goodput_bps=2%", "--seeds", "30", "--at-most", "20"], "at_least"),
        (["--at-most", "20"], "is for --until"),
        (["--max-memory", "many"], "expected a size such as '500 MB'"),
        (["--jobs", "0"], "jobs"),
    ],
)
def test_bad_options_give_one_message(tmp_path: Path, options: list[str], message: str, cli: Cli) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(TEXT)
    result = cli("sweep", file, "--out", tmp_path / "o", *options)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "o").exists()


def test_failures_are_counted_in_warnings(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(TEXT)
    result = cli("sweep", file, "--out", tmp_path / "o", "--max-events", "500")
    assert result.returncode == 0
    assert "4 of 8 runs failed, first at delay 5 ms, limit 10 packets, seed 1: exceeds the budget" in result.stderr
    strict = cli("sweep", file, "--out", tmp_path / "o", "--max-events", "500", "--strict")
    assert strict.returncode == 1
    assert strict.stdout == result.stdout
    assert cli("sweep", file, "--out", tmp_path / "sound", "--strict").returncode == 0
    narrow = cli(
        "sweep", file, "--out", tmp_path / "p", "--until", "goodput_bps=0.1%", "--seeds", "2", "--at-most", "3"
    )
    assert "8 points reached 3 seeds, with a wider interval" in narrow.stderr
    assert "sweep: 8 points, 2 to 3 seeds each" in narrow.stderr


def test_a_sweep_whose_runs_all_failed_is_one_error(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(TEXT)
    for options in ([], ["--strict"], ["--json"]):  # also if all rows were stored before
        result = cli("sweep", file, "--out", tmp_path / "o", "--max-events", "200", *options)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.count("exceeds the budget") == 1
        assert result.stderr.splitlines()[-1].startswith(f"error: every run failed (8 in {tmp_path / 'o'}): exceeds")
    assert rows(tmp_path / "o").height == 8


def test_sizes() -> None:
    assert in_bytes("500 MB") == 500_000_000
    assert in_bytes("1.5 GB") == 1_500_000_000


def test_a_chunk_for_another_machine_needs_no_files(tmp_path: Path) -> None:
    entry = {
        "startedDateTime": "2026-01-01T10:00:00.000Z",
        "request": {"url": "https://a.test/", "headersSize": 500, "bodySize": 0},
        "response": {"status": 200, "headersSize": 300, "bodySize": 9_700},
    }
    page = tmp_path / "page.har"
    page.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    web = scenario(f'duration = "5 s"\n[flow]\nprofile = "modern"\napplication = {{ kind = "web", har = "{page}" }}\n')
    given = [scenario().sweep_points()[3][1], web]
    hashes = [each.hash for each in given]
    packed = pickle.dumps(sweeping.Chunk((), given))
    page.unlink()
    assert [each.hash for each in pickle.loads(packed).scenarios] == hashes
