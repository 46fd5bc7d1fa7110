"""Parameters of a model that come from stored runs: their values and sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ackclock import Scenario, model, run
from ackclock.cli.listing import list_command
from ackclock.literature import library
from ackclock.models import parameters, registry

from .conftest import Cli

LOSSY = """\
duration = "40 s"

[topology]
kind = "chain"
access = { rate = "1 Gbit/s", delay = "0 ms" }
bottleneck = { rate = "100 Mbit/s", delay = "25 ms", queue = "unlimited" }

[flow]
recovery = "sack"

[sweep]
"topology.bottleneck.loss" = ["0.5 %", "1 %"]
seed = { from = 1, to = 3 }
"""


def stored(tmp_path: Path, name: str = "o", **keys: object) -> Path:
    """Store a short run."""
    run(Scenario(**{"duration": "2 s", "flow": [{}], **keys})).write(tmp_path / name)  # type: ignore[arg-type]
    return tmp_path / name


def values(directory: Path, name: str, given: dict[str, object] | None = None) -> dict[str, object]:
    """Return the values of the parameters that are not the model's defaults."""
    found = parameters.of_runs(directory, name, given or {}, registry.find(name).axis)
    return {key: item.value for key, item in found.items() if item.origin != "default"}


def test_a_path_of_50_ms_is_compared_with_its_own_round_trip_time(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "lossy.toml").write_text(LOSSY)
    assert cli("run", "lossy.toml", "--out", "o").returncode == 0
    done = cli("model", "mathis", "--over", "o", "--json")
    assert done.returncode == 0, done.stderr
    compared = json.loads(done.stdout)
    rtt = compared["parameters"]["rtt"]
    assert rtt["value"] == pytest.approx(0.05, rel=0.01)
    assert rtt["origin"] == "measured: min_rtt of the flows"
    assert compared["parameters"]["packet_size"] == {"value": 1000.0, "origin": "the scenario: packet_size"}
    assert compared["parameters"]["constant"] == {"value": "auto", "origin": "default"}
    for row in compared["rows"]:
        assert row["theory"] == pytest.approx(model.mathis(loss=row["loss"], rtt=0.05).throughput, rel=0.01)
        assert 0.8 < row["ratio"] < 1.3, "with the default of 100 ms it is twice as much"
    given = cli("model", "mathis", "--over", "o", "--param", "rtt=100 ms")
    assert "given" in given.stdout
    wrong = cli("model", "mathis", "--over", "o", "--x", "rtt=min_rtt")
    assert wrong.returncode == 2
    assert "loss is needed: the runs of o differ in it (" in wrong.stderr


def test_parameters_from_a_scenario(tmp_path: Path) -> None:
    flow = {"packet_size": "500 B", "delayed_ack": True, "rwnd": "20 packets", "avoidance": "cubic", "min_rto": "1 s"}
    directory = stored(tmp_path, flow=[flow, {**flow, "name": "other"}], topology={"kind": "dumbbell"})
    assert values(directory, "pftk") == {
        "rtt": pytest.approx(0.06, rel=0.05), "packet_size": 500.0, "b": 2.0, "rto": 1.0, "rwnd": 20.0,
    }  # fmt: skip
    assert values(directory, "response")["law"] == "cubic"
    bdp = values(directory, "bdp")
    assert bdp["packet_size"] == 540.0, "on the wire"
    assert (bdp["rate"], bdp["flows"]) == (10e6, 2.0)
    assert values(directory, "rounds")["rwnd"] == 20 * 500.0, "in bytes"
    population = values(directory, "population")
    assert population["packet_size"] == 540.0, "on the wire"
    assert population["buffer"] == 50.0
    assert values(directory, "pftk", {"rtt": 0.3})["rtt"] == 0.3


def test_a_timeout_is_no_shorter_than_a_round_trip(tmp_path: Path) -> None:
    directory = stored(tmp_path, duration="5 s", topology={"kind": "chain", "bottleneck": {"delay": "500 ms"}})
    assert values(directory, "pftk")["rto"] == pytest.approx(1.04, rel=0.01)


def test_runs_that_differ_are_not_averaged(cli: Cli, tmp_path: Path) -> None:
    sweep = 'duration = "1 s"\n[flow]\n[sweep]\n"topology.bottleneck.delay" = ["10 ms", "40 ms"]\n'
    (tmp_path / "s.toml").write_text(sweep + '"flow.avoidance" = ["reno", "cubic"]\n')
    assert cli("run", "s.toml", "--out", "o").returncode == 0
    with pytest.raises(ValueError, match=r"^rtt is needed: .* differ in it \(0.06.* to 0.12.* s\)"):
        values(tmp_path / "o", "mathis")
    with pytest.raises(ValueError, match=r"^law is needed: .* \(cubic, reno\)"):
        values(tmp_path / "o", "response", {"rtt": 0.1})
    assert values(tmp_path / "o", "mathis", {"rtt": 0.1})["b"] == 1.0


def test_unknown_values_are_defaults(tmp_path: Path) -> None:
    directory = stored(tmp_path, flow=[{"application": {"kind": "cbr", "rate": "1 Mbit/s"}}])
    found = parameters.of_runs(directory, "mathis", {}, "loss")
    assert found["rtt"] == parameters.Sourced(None, "default"), "datagrams measure no round-trip time"


def test_a_list_without_papers_names_their_places(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(library, "places", lambda: [tmp_path / "papers"])
    list_command("papers", json_output=False)
    hint = f"no papers found; a paper is a folder with a paper.toml, in one of {tmp_path / 'papers'}\n"
    assert capsys.readouterr().err == hint
    with pytest.raises(ValueError, match=r"unknown paper 'ass'.*a paper is a folder in one of"):
        library.find("ass")
