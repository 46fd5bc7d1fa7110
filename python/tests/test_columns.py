"""The declarations of columns and quantities: tables, docstrings, summaries and plots follow them."""

from __future__ import annotations

import json
from typing import Any

import polars
import pytest

import ackclock
from ackclock import _core, columns
from ackclock.drawing import overtime
from ackclock.literature import modelruns
from ackclock.model import population_trace, rounds_trace
from ackclock.reports import units
from ackclock.results import frame

BASES = {"texts": (polars.String, polars.Categorical), "whole numbers": (polars.UInt32, polars.UInt64)}


def run() -> ackclock.Result:
    traces = [table.trace for table in columns.tables().values() if table.trace]
    flow = {
        "slow_start": "queue_aware",
        "profile": "modern",
        "application": {"kind": "request-response", "response": "20 kB"},
    }
    player = {"profile": "modern", "application": {"kind": "player", "bitrates": ["1 Mbit/s"], "segment": "500 ms"}}
    scenario = ackclock.Scenario(duration="2 s", flow=[flow, {"avoidance": "vegas"}, player])
    return ackclock.run(scenario, record=traces, capture=[scenario.bottleneck])


def test_tables_have_the_declared_columns() -> None:
    result = run()
    assert result.traces == json.loads(_core.schema())["properties"]["record"]["items"]["enum"]
    batch = _core.run_batch([result.scenario.core])
    for name, table in columns.tables().items():
        made = frame(result.trace(table.trace) if table.trace else getattr(batch if name == "runs" else result, name))
        assert made.columns == [column.name for column in table.columns], name
        assert made.height > 0 or table.trace in ("drops", "marks", "discipline"), name
        for column in table.columns:
            kind = made.schema[column.name].base_type()
            assert kind in BASES.get(column.kind, (polars.Float64,)), f"{name}: {column.name}"
            assert column.meaning, f"{name}: {column.name}"


def test_there_is_a_nearest_table() -> None:
    with pytest.raises(ValueError, match="there is no table 'flow'; did you mean 'flows'"):
        columns.of("flow")


def test_docstrings_have_the_columns() -> None:
    for cls in (ackclock.Result, ackclock.StoredResult):
        for name in ("flows", "links", "transfers", "pages", "media"):
            said = getattr(cls, name).__doc__
            assert all(f"\n{column.name} : {column.kind}" in said for column in columns.of(name)), f"{cls}: {name}"
    said = str(ackclock.Result.trace.__doc__)
    assert "name\n    One of `traces`." in said
    assert "Columns of trace rtt\n--------------------\ntime : numbers, s\n    time of the ACK\n" in said


def test_a_summary_has_every_column_of_flows(tmp_path: Any) -> None:
    result = run()
    stored = ackclock.datasets.runs(result.write(tmp_path / "out"))[0]
    for summary in (result.summary, stored.summary):
        for flow in summary["flows"]:
            exits = flow.pop("slow_start_exit")
            known = [column.name for column in columns.of("flows")]
            assert list(flow) == [name for name in known if not name.startswith("slow_start_exit_")]
            assert exits is None or list(exits) == ["reason", "time", "cwnd", "ratio"]
    assert stored.summary["flows"] == result.summary["flows"]


def test_units_of_metrics_are_those_of_the_columns() -> None:
    wanted = {
        "min_rtt": "s",
        "delivered_2s": "B",
        "slow_start_exit_cwnd": "segments",
        "first_overshoot_losses": "packets",
    }
    assert {metric: units.unit(metric) for metric in wanted} == wanted


def test_axes_of_quantities_are_those_of_the_parts() -> None:
    names = ("bwe_avg", "W_max", "diff", "round_rtt", "delta", "of a control in Python")
    assert [overtime.axis(name) for name in names] == [
        "bandwidth (segments/s)", "window (segments)", "in queues (segments)", "time (s)", "delta (1)",
        "of a control in Python (1)",
    ]  # fmt: skip


def test_recorded_quantities_are_declared() -> None:
    told = set(frame(run().trace("internals"))["name"].cast(polars.String))
    parts = [part for found in json.loads(_core.registry()).values() for part in found]
    assert told == {"bwe", "bwe_avg", "bwe_max", "diff", "base_rtt", "round_rtt"}
    assert told <= {quantity["name"] for part in parts for quantity in part["quantities"]}


def test_traces_of_models_have_the_declared_columns() -> None:
    declared = {model["name"]: model["trace"] for model in json.loads(_core.models()) if model["trace"]}
    assert list(declared) == ["rounds", "population"]
    made = rounds_trace(rounds=5, seed=3)
    assert made.columns == [column["name"] for column in declared["rounds"]["columns"]]
    assert modelruns.trace_names() == made.columns[2:]
    assert made.select("round", "acked").dtypes == [polars.UInt64, polars.Boolean]
    made = population_trace(windows=[2, 10.5], horizon=1)
    assert made.columns == ["time", "mean_window", "mean_loss", "rounds", "share_2", "share_10.5"]
    with pytest.raises(ValueError, match="mathis: has no trace"):
        _core.trace("mathis", [])
