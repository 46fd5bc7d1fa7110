"""Batches of runs: a row for each, whatever becomes of it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock import CongestionControl, Scenario, _core, columns, run
from ackclock.results import frame
from ackclock.statistics.fairness import jain_index

SWEEP = {"seed": {"from": 1, "to": 3}, "topology.bottleneck.loss": ["none", "2 %"]}
TABLES = ("flows", "links", "transfers", "pages", "media")
PAGE = {"kind": "web", "root": "9 kB", "objects": 2, "object": "4 kB", "pages": 2, "think": "10 ms"}
PLAYER = {"kind": "player", "bitrates": ["200 kbit/s", "900 kbit/s"], "segment": "320 ms"}
UNMEASURED = ["task", "error", "events", "cpu_s", "wall_s"]


class Fixed(CongestionControl):
    """A window of ten segments."""

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.cwnd = 10.0


def scenarios() -> list[Scenario]:
    played = [{"name": name, "start": "1.9 s", "profile": "modern", "application": PLAYER} for name in ("one", "two")]
    flow = [{"count": 2, "size": "200 kB"}, {"profile": "modern", "application": PAGE}, *played]
    return [scenario for _, scenario in Scenario(duration="2 s", flow=flow, record=["cwnd"], sweep=SWEEP).variants()]


def batch(scenarios: Sequence[Scenario], **options: Any) -> _core.Batch:
    return _core.run_batch([scenario.core for scenario in scenarios], **options)


def test_a_batch_has_the_rows_of_its_runs() -> None:
    runs = scenarios()
    found = batch(runs)
    for name in TABLES:
        made = frame(getattr(found, name))
        expected = [
            frame(getattr(run(scenario), name)).insert_column(0, polars.lit(task, polars.UInt64).alias("task"))
            for task, scenario in enumerate(runs)
        ]
        assert made.equals(polars.concat(expected)), name
        assert made.height > len(runs), name


def test_measures_are_those_of_the_tables() -> None:
    runs = scenarios()
    found = batch(runs)
    made, flows, links = frame(found.runs), frame(found.flows), frame(found.links)
    assert made["task"].to_list() == list(range(6))
    assert made["error"].null_count() == 6
    for row, scenario in zip(made.to_dicts(), runs, strict=True):
        of_run = flows.filter(task=row["task"])
        for name in ("delivered_bytes", "sent_packets", "retransmitted_packets", "dropped_packets", "timeouts"):
            assert row[name] == of_run[name].sum(), name
        assert row["flows"] == of_run.height
        assert row["finished_flows"] == of_run["completion_time"].count() == 2
        assert row["goodput_bps"] == pytest.approx(8000 * of_run["delivered_packets"].sum() / scenario.duration)
        assert row["jain"] == pytest.approx(jain_index(of_run["goodput_bps"].to_list()))
        assert row["completion_mean"] == pytest.approx(of_run["completion_time"].mean())
        assert row["completion_median"] == pytest.approx(of_run["completion_time"].median())
        p95 = of_run["completion_time"].quantile(0.95, "linear")
        assert row["completion_p95"] == pytest.approx(p95)
        link = links.filter(task=row["task"], name=scenario.bottleneck).row(0, named=True)
        for name in ("utilisation", "queue_mean", "queue_max", "sojourn_mean", "sojourn_max", "drops"):
            assert row[name] == link[name], name
        result = run(scenario)
        assert row["events"] == result.events
        assert row["warnings"] == (", ".join(it["name"] for it in result.warnings) or None)
        assert row["cpu_s"] > 0
        assert row["wall_s"] > 0


def test_warnings_are_listed() -> None:
    late = Scenario(duration="1 s", flow=[{"start": "2 s"}, {"size": "2 packets"}])
    assert frame(batch([late]).runs)["warnings"].to_list() == ["not_started, slow_start_only"]


def test_a_run_that_fails_is_a_row_with_its_error() -> None:
    long = Scenario(duration="100 s", flow=[{}])
    short = Scenario(duration="1 s", flow=[{"size": "10 packets"}])
    events = run(short).events
    found = batch([short, long, short], max_events=events)
    made = frame(found.runs)
    assert made["events"].to_list() == [events] * 3
    errors = made["error"].to_list()
    assert errors[0] is errors[2] is None
    assert errors[1].startswith(f"exceeds the budget of {events} events (max_events): stopped at 0.")
    assert errors[1].endswith(" s of 100 s")
    failed = made.row(1, named=True)
    assert [name for name, value in failed.items() if value is not None] == UNMEASURED
    for name in ("flows", "links"):
        assert frame(getattr(found, name))["task"].unique().sort().to_list() == [0, 2], name


def test_a_run_has_a_budget_of_memory() -> None:
    # Every packet of the burst waits in the queue; a packet takes at least 24 bytes there.
    full = Scenario(
        duration="9 s",
        topology={"bottleneck": {"rate": "1 kbit/s", "queue": "unlimited"}, "access": {"rate": "10 Gbit/s"}},
        flow=[{"application": {"kind": "cbr", "rate": "1 Gbit/s"}}],
    )
    small = Scenario(duration="9 s", flow=[{}])
    made = frame(batch([full, small], max_memory=5_000_000).runs)
    error, fine = made["error"].to_list()
    assert fine is None
    assert error.startswith("exceeds the budget of 5000000 bytes of memory (max_memory): stopped at ")
    stopped = int(error.split(" at ")[1].split()[0])
    assert 5_000_000 < stopped < 50_000_000
    assert made["events"][0] < run(full).events
    assert frame(batch([full], max_memory=2**40).runs)["error"].to_list() == [None]
    set_up = frame(batch([small], max_memory=1000).runs)
    assert set_up["events"].to_list() == [0]
    assert "max_memory" in set_up["error"][0]


def test_memory_of_earlier_runs_does_not_count() -> None:
    one = Scenario(duration="2 s", flow=[{}])
    least = next(
        budget
        for budget in (2**power for power in range(10, 30))
        if not frame(batch([one], max_memory=budget).runs)["error"][0]
    )
    assert frame(batch([one] * 300, max_memory=least).runs)["error"].null_count() == 300


def test_controls_in_python_are_refused() -> None:
    made = frame(batch([Scenario(duration="1 s", flow=[{"congestion_control": Fixed}])]).runs)
    assert made["error"].to_list() == [
        "a congestion control or slow start is a Python object, which a batch cannot run; use run or run_many"
    ]
    assert made["events"].to_list() == [0]


def test_cancelling_keeps_the_finished_runs() -> None:
    cancel = _core.Cancel()
    endless = Scenario(duration="1e6 s", flow=[{}])
    short = Scenario(duration="1 s", flow=[{}])
    timer = threading.Timer(0.2, cancel.set)
    timer.start()
    found = batch([short, short, endless, short], cancel=cancel)
    assert frame(found.runs)["task"].to_list() == [0, 1]
    assert frame(found.flows)["task"].to_list() == [0, 1]
    assert len(batch([short], cancel=cancel).runs) == 0


def test_other_threads_run_meanwhile() -> None:
    cancel = _core.Cancel()
    thread = threading.Thread(target=lambda: batch([Scenario(duration="1e9 s", flow=[{}])], cancel=cancel))
    thread.start()
    # Nobody could cancel a batch that held the interpreter.
    cancel.set()
    thread.join(60)
    assert not thread.is_alive()


def test_an_empty_batch_has_all_columns() -> None:
    found = batch([])
    assert frame(found.runs).columns == [column.name for column in columns.of("runs")]
    for name in TABLES:
        made = frame(getattr(found, name))
        assert made.columns == ["task", *(column.name for column in columns.of(name))]
        assert made.height == 0
    assert frame(found.runs).schema == frame(batch(scenarios()[:1]).runs).schema


def test_threads_do_not_change_the_rows() -> None:
    runs = scenarios()
    whole = frame(batch(runs).runs).drop("cpu_s", "wall_s")
    halves: dict[int, polars.DataFrame] = {}

    def half(number: int) -> None:
        halves[number] = frame(batch(runs[3 * number : 3 * number + 3]).runs).drop("cpu_s", "wall_s")

    threads = [threading.Thread(target=half, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert polars.concat([halves[0], halves[1].with_columns(polars.col("task") + 3)]).equals(whole)


@pytest.mark.parametrize("offset", ["0 ms", "17 ms"])
def test_an_offset_shifts_every_start(offset: str) -> None:
    page: dict[str, object] = {"profile": "modern", "application": PAGE}
    moved = Scenario(duration="2 s", start_offset=offset, flow=[{"start": "100 ms"}, page])
    direct = Scenario(duration="2 s", flow=[{"start": "117 ms"}, {**page, "start": "17 ms"}])
    assert (moved.hash == direct.hash) == (offset == "17 ms")
    assert "start_offset" not in moved.to_toml()


def test_offsets_are_an_axis(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(
        'duration = "3 s"\n[flow]\n[sweep]\nstart_offset = { from = "0 ms", to = "60 ms", count = 3 }\n'
    )
    found = ackclock.load(tmp_path / "t.toml").variants()
    assert [labels for labels, _ in found] == [{"start_offset": f"{ms} ms"} for ms in (0, 30, 60)]
    starts = frame(batch([scenario for _, scenario in found]).flows)["start_s"].to_list()
    assert starts == [0.0, 0.03, 0.06]
