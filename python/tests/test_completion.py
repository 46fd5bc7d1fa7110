"""Random arrivals of flows, and the summary of their completion times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock.metrics.completion import completion

from .conftest import Cli

ARRIVALS: dict[str, Any] = {"load": "50 %", "size": {"kind": "pareto", "mean": "30 kB", "shape": 1.3}}


def web(**keys: object) -> ackclock.Scenario:
    return ackclock.Scenario("web", duration="20 s", flow=[{"name": "web", "arrivals": ARRIVALS, **keys}])


def test_completion_times_are_summed_up_by_size() -> None:
    times = [*(i / 100 for i in range(1, 101)), 5.0, None]
    flows = polars.DataFrame({"size_packets": [*([5] * 100), 10, None], "completion_time": times})
    flows = polars.concat([flows, polars.DataFrame({"size_packets": [2000], "completion_time": [None]}, flows.schema)])
    made = completion(flows)
    assert made["packets"].to_list() == ["all", "1 to 9", "10 to 99", "1,000 to 9,999"]
    assert made["flows"].to_list() == [102, 100, 1, 1], "a flow without end does not count"
    assert made["unfinished"].to_list() == [1, 0, 0, 1]
    small = made.row(1, named=True)
    assert small["mean"] == small["median"] == pytest.approx(0.505)
    # Interpolated between the ranks 95 and 96 of the numbers i/100: 0 … 99 · 0.95 = 94.05.
    assert small["p95"] == pytest.approx(0.9505)
    assert small["p99"] == pytest.approx(0.9901)
    assert made.row(3, named=True)["mean"] is None
    assert completion(flows, [1, 2000])["packets"].to_list() == ["all", "1 to 1,999", "2,000 and more"]
    with pytest.raises(ValueError, match="must be in rising order"):
        completion(flows, [10, 10])


def test_a_flow_without_end_has_no_completion() -> None:
    result = ackclock.run(ackclock.Scenario(duration="1 s", flow=[{}]))
    assert polars.DataFrame(result.flows)["size_packets"].to_list() == [None]
    row = result.completion().row(0, named=True)
    assert (row["flows"], row["mean"]) == (0, None)


def test_arrivals_that_are_loaded_and_done() -> None:
    result = ackclock.run(web())
    table = result.completion()
    flows = polars.DataFrame(result.flows)
    done = flows.filter(polars.col("completion_time").is_not_null())
    assert table["flows"][0] == flows.height > 100
    assert table["flows"][1:].sum() == flows.height
    assert table["mean"][0] == pytest.approx(done["completion_time"].mean())
    assert (done["delivered_packets"] == done["size_packets"]).all()
    # A flow takes at least the handshake, 60 ms, and 1040 bytes at 10 Mbit/s for each packet.
    least = 0.06 + done["size_packets"] * (1040 * 8 / 10e6)
    assert (done["completion_time"] > least).all()


def test_a_stored_run_has_its_arrivals_as_they_were_written(tmp_path: Path) -> None:
    result = ackclock.run(web())
    result.write(tmp_path / "run")
    stored = ackclock.open(tmp_path / "run")
    assert stored.to_toml().count("[[flow]]") == 1
    assert stored.scenario.expanded().count("[[flow]]") == len(result.flows) > 100
    again = ackclock.run(stored.scenario)
    assert (again.trace_hash, stored.scenario.hash) == (result.trace_hash, web().hash)


def test_a_run_in_which_no_flow_arrives(cli: Cli, tmp_path: Path) -> None:
    none = {"rate": "1e-9 per s", "size": "1 kB"}
    scenario = ackclock.Scenario("none", duration="1 s", flow=[{"arrivals": none}])
    result = ackclock.run(scenario)
    assert (len(result.flows), len(scenario.flows)) == (0, 0)
    assert "<table" in scenario._repr_html_()
    (tmp_path / "none.toml").write_text(scenario.to_toml())
    assert cli("run", "none.toml", "--out", "out").returncode == 0
    assert cli("report", "out").returncode == 0


def test_profile_modern_takes_arrivals() -> None:
    result = ackclock.run(web(profile="modern"))
    row = result.completion().row(0, named=True)
    assert row["flows"] > 100
    assert row["unfinished"] < 0.1 * row["flows"]


def test_no_arrivals_at_all_are_a_run_without_flows() -> None:
    arrivals = {**ARRIVALS, "load": "0.000001 %"}
    result = ackclock.run(ackclock.Scenario(duration="1 s", flow=[{"arrivals": arrivals}]))
    assert polars.DataFrame(result.flows).height == 0


def test_many_flows_are_summed_up_on_the_command_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "web.toml").write_text(web().to_toml())
    shown = cli("run", "web.toml")
    assert shown.returncode == 0, shown.stderr
    assert "completion times" in shown.stdout
    done = cli("run", "web.toml", "--json", "--out", "o")
    summary = json.loads(done.stdout)["completion"]
    stored = ackclock.open(tmp_path / "o").completion()
    assert summary == stored.to_dicts()
    assert [row["packets"] for row in summary][:2] == ["all", "1 to 9"]
