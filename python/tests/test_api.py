"""The Python API: scenarios, runs, tables, controls, files."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow as pa
import pytest

import ackclock
from ackclock import CongestionControl, Scenario, ScenarioError, run, run_many
from ackclock.experiments.execute import map_threads

FLOW = {"name": "a"}
EXPECTED = {
    "name",
    "goodput_bps",
    "delivered_bytes",
    "sent_packets",
    "timeouts",
    "slow_start_exit_reason",
    "delivered_1s",
}


def test_a_scenario_in_code_is_that_of_the_file(first: Path) -> None:
    loaded = ackclock.load(first)
    bottleneck = {"rate": "2 Mbit/s", "delay": "10 ms", "queue": {"kind": "droptail", "limit": "20 packets"}}
    built = Scenario(
        loaded.name,
        duration="5 s",
        topology={"kind": "chain", "bottleneck": bottleneck},
        flow=[{"name": "a", "recovery": "sack"}],
    )
    assert built.hash == loaded.hash
    assert built.flows == ["a"]
    assert built.duration == 5.0
    assert run(built).trace_hash == run(loaded).trace_hash


def test_a_frozen_scenario_is_the_same(scenario: Scenario, tmp_path: Path) -> None:
    frozen = tmp_path / "frozen.toml"
    frozen.write_text(scenario.to_toml())
    assert run(ackclock.load(frozen)).trace_hash == run(scenario).trace_hash


def test_type_checkers_and_programs_see_the_same_names() -> None:
    """Names are imported late, so that type checkers read them in another place of the file."""
    tree = ast.parse(Path(ackclock.__file__).read_text(encoding="utf-8"))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name: node.module for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    homes = {name: f"ackclock.{home}" for home, names in ackclock._HOMES.items() for name in names}
    assert seen == {**homes, "columns": "ackclock", "model": "ackclock"}
    assert sorted(seen) == sorted(ackclock.__all__)
    assert set(ackclock.__all__) <= set(dir(ackclock))


def test_names_and_modules_of_the_package_need_no_import_of_their_own() -> None:
    code = (
        "import ackclock\n"
        "assert callable(ackclock.run) and callable(ackclock.columns.of) and ackclock.datasets.runs\n"
        "from ackclock import *\n"
        "assert run is ackclock.run and open is ackclock.open\n"
        "try:\n    ackclock.rum\nexcept AttributeError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "module 'ackclock' has no attribute 'rum'\n"


def test_wrong_scenarios_are_refused(first: Path) -> None:
    with pytest.raises(ScenarioError, match="duration"):
        Scenario("x", durattion="5 s", flow=[FLOW])
    with pytest.raises(ScenarioError):
        ackclock.load(first, {"flow.rwnd": "many"})
    with pytest.raises(FileNotFoundError):
        ackclock.load(first.with_name("none.toml"))


def test_tables_are_arrow(scenario: Scenario) -> None:
    result = run(scenario, record=["cwnd", "delivered"])
    flows = polars.DataFrame(result.flows)
    assert set(flows.columns) >= EXPECTED
    assert flows.shape[0] == len(result.flows) == 1
    assert pa.table(result.links).num_rows == result.links.num_rows == 6
    trace = pa.table(result.trace("cwnd"))
    assert {"time", "flow", "cwnd", "ssthresh"} <= set(trace.column_names)
    assert pa.types.is_dictionary(trace.schema.field("flow").type)
    times = trace.column("time").to_numpy()
    assert (times[1:] >= times[:-1]).all()


def test_pandas_reads_tables(scenario: Scenario) -> None:
    flows = run(scenario).flows
    table = pandas.DataFrame.from_arrow(flows)
    assert list(table["name"]) == ["a"]
    assert table["goodput_bps"].to_list() == polars.DataFrame(flows)["goodput_bps"].to_list()


def test_duckdb_reads_tables(scenario: Scenario) -> None:
    flows = run(scenario).flows
    assert duckdb.sql("select name from flows").fetchall() == [("a",)]
    assert len(flows) == 1


def test_results_do_not_depend_on_jobs(scenario: Scenario) -> None:
    scenarios = [scenario.set({"seed": seed, "topology.bottleneck.loss": "2 %"}) for seed in range(1, 9)]
    one, four = run_many(scenarios, jobs=1), run_many(scenarios, jobs=4)
    assert [result.trace_hash for result in one] == [result.trace_hash for result in four]
    assert [result.scenario.seed for result in four] == list(range(1, 9))
    assert len({result.trace_hash for result in one}) == 8


def test_progress_counts_every_run(scenario: Scenario) -> None:
    seen: list[tuple[int, int]] = []
    run_many([scenario] * 5, jobs=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5, 5)
    assert seen == sorted(seen)


def test_a_failing_run_stops_the_others() -> None:
    def fail(item: int) -> int:
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item"):
        map_threads(fail, [1, 2, 3], ackclock.running._core.Cancel(), jobs=1)
    with pytest.raises(ValueError, match="jobs"):
        run_many([], jobs=0)


def test_many_small_runs_keep_their_order() -> None:
    assert map_threads(int, list(range(20_000)), ackclock.running._core.Cancel(), jobs=4) == list(range(20_000))


def test_an_interrupt_keeps_finished_runs() -> None:
    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(ackclock.Interrupted, match=r"interrupted: \d+ of 100 runs are finished") as caught:
        map_threads(str, list(range(100)), ackclock.running._core.Cancel(), jobs=1, progress=stop)
    finished = [result for result in caught.value.results if result is not None]
    assert len(caught.value.results) == 100
    assert finished[:3] == ["0", "1", "2"]
    assert len(finished) < 100


def test_a_trace_that_was_not_recorded(scenario: Scenario) -> None:
    with pytest.raises(KeyError, match="not recorded"):
        run(scenario, record=["cwnd"]).trace("queue")
    with pytest.raises(ValueError, match="cwd"):
        run(scenario, record=["cwd"])


def test_write_and_read(scenario: Scenario, tmp_path: Path) -> None:
    result = run(scenario, record=["cwnd"])
    result.write(tmp_path / "o")
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [
        "flows.parquet", "links.parquet", "manifest.json", "scenario.toml", "trace-cwnd.parquet",
    ]  # fmt: skip
    stored = ackclock.open(tmp_path / "o")
    assert stored.flows.equals(polars.DataFrame(result.flows))
    assert stored.trace("cwnd").shape[0] == len(result.trace("cwnd"))
    assert stored.duration == 5.0
    result.write(tmp_path / "o")  # an earlier result is replaced
    assert [path.name for path in tmp_path.iterdir()] == ["o"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("!")
    with pytest.raises(FileExistsError, match="not written by ackclock"):
        result.write(tmp_path / "mine")


class Reno(CongestionControl):
    """Reno with an initial window of one segment, like the built-in parts."""

    seen: list[str] = []  # noqa: RUF012 - shared so that the test can read it

    def on_established(self, event: ackclock.Established) -> None:
        assert event.smss == 1000
        assert not event.syn_lost
        # Three links of 10 ms each way, and the transmission of the SYN and its ACK.
        assert event.rtt_s is not None
        assert 0.06 < event.rtt_s < 0.062
        assert event.rwnd == 1000
        assert event.available is None
        self.seen.append("established")

    def on_ack(self, ack: ackclock.Ack) -> None:
        assert ack.now_s > 0
        assert ack.acked >= 1
        assert ack.rtt_s is None or 0.04 < ack.rtt_s < 5
        super().on_ack(ack)
        self.seen.append("ack")

    def on_congestion(self, event: ackclock.CongestionEvent) -> None:
        assert event.cause in ("dup_ack", "timeout", "ecn")
        super().on_congestion(event)
        self.seen.append("congestion")


def test_a_control_in_python_equals_the_built_in_one(scenario: Scenario) -> None:
    topology = {
        "kind": "chain",
        "bottleneck": {"rate": "2 Mbit/s", "queue": {"kind": "droptail", "limit": "20 packets"}},
    }
    common = {"name": "a", "initial_ssthresh": "unlimited"}
    Reno.seen.clear()
    own = Scenario("own", duration="5 s", topology=topology, flow=[{**common, "congestion_control": Reno}])
    parts = {
        "initial_window": {"kind": "fixed", "segments": "1 segment"},
        "slow_start": "standard",
        "avoidance": "reno",
    }
    built_in = Scenario("own", duration="5 s", topology=topology, flow=[{**common, **parts}])
    assert set(own.controls) == {0}
    assert own.set({"seed": 2}).controls == own.controls
    mine, theirs = run(own), run(built_in)
    assert {"established", "ack", "congestion"} == set(Reno.seen)
    for column in ("delivered_bytes", "sent_packets", "timeouts", "window_reductions"):
        assert polars.DataFrame(mine.flows)[column][0] == polars.DataFrame(theirs.flows)[column][0]


def test_an_error_in_a_control_reaches_the_caller(scenario: Scenario) -> None:
    class Broken(CongestionControl):
        def on_ack(self, ack: ackclock.Ack) -> None:
            raise ZeroDivisionError("mine")

    broken = Scenario("broken", duration="1 s", flow=[{"congestion_control": Broken}])
    with pytest.raises(ZeroDivisionError, match="mine"):
        run(broken)
