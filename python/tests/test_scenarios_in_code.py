"""Scenarios and results as Python values: errors of calls, equality, copies, pickles."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars
import pytest

import ackclock
from ackclock import CongestionControl, Scenario, ScenarioError, load, run, run_many

FLOWS: list[dict[str, object]] = [{}]


class Search(CongestionControl):
    """A user's control."""


def made(**keys: object) -> Scenario:
    """Return a short scenario."""
    return Scenario(**{"duration": "1 s", "flow": FLOWS, **keys})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: made(flow=[{"congestion_control": Search()}]),
            ScenarioError,
            "flow.0.congestion_control: each run makes its own control; write the class Search, not its",
        ),
        (
            lambda: made().set({"flow.congestion_control": Search}),
            ScenarioError,
            'flow.congestion_control: .* is made: Scenario\\(flow=\\[{"congestion_control": Search}\\]\\)',
        ),
        (lambda: made(flow=[{"slow_start": Search}]), ScenarioError, "flow.0.slow_start: .*congestion_control"),
        (lambda: run("first.toml"), TypeError, r"not the name of a file; write load\('first.toml'\)"),  # type: ignore[arg-type]
        (lambda: run_many("first.toml"), TypeError, r"write load\('first.toml'\)"),  # type: ignore[arg-type]
        (lambda: run_many([Path("a.toml")]), TypeError, r"write load\('a.toml'\)"),  # type: ignore[list-item]
        (lambda: run_many(made()), TypeError, r"as \[scenario\]"),  # type: ignore[arg-type]
        (lambda: run(5), TypeError, "expected a scenario, not 5"),  # type: ignore[arg-type]
        (lambda: run(made(), record="cwnd"), TypeError, r"record: expected a list of traces, such as \['cwnd'\]"),
        (lambda: made(duration=float("nan")), ScenarioError, "^duration: must be finite, but is nan$"),
        (lambda: made().set({"duration": float("inf")}), ScenarioError, "^duration: must be finite, but is inf$"),
        (lambda: made(flow=[{"rwnd": b"5"}]), ScenarioError, r"^flow.0.rwnd: expected a text.*b'5' \(bytes\)$"),
        (lambda: made(duration={1}), ScenarioError, r"^duration: expected a text.*\(set\)$"),
        (lambda: made(flow=[5]), ScenarioError, "^flow.0: expected a table, as {}, but is 5$"),
        (lambda: made(flow="abc"), ScenarioError, "^flow: expected a list of tables"),
        (lambda: Scenario(5), TypeError, "expected a text as its name"),  # type: ignore[arg-type]
        (lambda: made().set({5: 5}), TypeError, "expected the path of a key"),  # type: ignore[dict-item]
        (lambda: made().set([("seed", 1)]), TypeError, "expected a dictionary"),  # type: ignore[arg-type]
        (lambda: made().set({"seed": None}), ScenarioError, "seed: expected a value"),
    ],
)
def test_wrong_calls_name_the_right_one(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        call()
    assert type(caught.value) is kind


def test_settings_hold_all_characters() -> None:
    name = '😀 \x7f \t " \\ é'
    changed = Scenario(duration="1 s", flow=[{}]).set({"flow": [{"name": name}]})
    assert changed.flows == [name]


def test_numbers_of_numpy_are_numbers() -> None:
    assert made(seed=np.int64(3)).seed == 3
    assert made().set({"seed": np.int64(4)}).seed == 4


def leaving(**values: object) -> Scenario:
    """Return a scenario whose control sets these attributes at an ACK."""

    class Odd(CongestionControl):
        def on_ack(self, ack: ackclock.Ack) -> None:
            super().on_ack(ack)
            for name, value in values.items():
                setattr(self, name, value)

    return made(flow=[{"congestion_control": Odd}])


@pytest.mark.parametrize(
    ("name", "value"),
    [("cwnd", -5), ("cwnd", float("nan")), ("cwnd", float("inf")), ("cwnd", "x"), ("cwnd", None), ("ssthresh", -1.0)],
)
def test_a_window_that_is_none_ends_the_run(name: str, value: object) -> None:
    with pytest.raises(
        ValueError, match=rf"Odd\.on_ack set {name} = {value!r}: expected a .*number of segments, at least 0"
    ):
        run(leaving(**{name: value}))


def test_a_window_below_one_counts_as_one() -> None:
    for value in (0, 0.5):
        (flow,) = run(leaving(cwnd=value)).summary["flows"]
        assert flow["cwnd_max"] == 1.0


def test_a_sweep_is_not_run_without_a_word(sweep: Path) -> None:
    swept = load(sweep)
    for call in (lambda: run(swept), lambda: run_many([swept, swept])):
        with pytest.warns(UserWarning, match=r"sweep has a \[sweep\], but only its base runs.*variants") as caught:
            call()
        assert len(caught) == 1
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(swept.variants()[0][1])


def test_scenarios_are_values(sweep: Path, first: Path) -> None:
    controlled = made(flow=[{"congestion_control": Search}, {}])
    swept = load(sweep)
    variant = swept.variants()[1][1]
    for scenario in (made(), controlled, swept, variant, load(first, {"seed": 5})):
        again = pickle.loads(pickle.dumps(scenario))
        for other in (again, copy.copy(scenario), copy.deepcopy(scenario)):
            assert other == scenario
            assert hash(other) == hash(scenario)
        assert again.set({"name": "x"}).hash == scenario.set({"name": "x"}).hash
    again = pickle.loads(pickle.dumps(swept))
    assert [variant.hash for _, variant in again.variants()] == [variant.hash for _, variant in swept.variants()]
    assert len({made(), made(), made(seed=2)}) == 2
    assert made() != made(flow=[{"congestion_control": Search}])
    assert swept != load(first, {"name": "sweep"}), "a sweep is not its base"
    assert made() != 5
    assert repr(made()) == "<Scenario 'scenario': 1 s, seed 1, 1 flow>"


def test_results_are_values(tmp_path: Path) -> None:
    scenario = made(record=["cwnd"])
    result = run(scenario)
    again = pickle.loads(pickle.dumps(result))
    for other in (again, pickle.loads(pickle.dumps(again)), copy.copy(result), copy.deepcopy(result), run(scenario)):
        assert other == result
        assert hash(other) == hash(result)
    assert again.summary == result.summary
    assert again.flows.num_rows == len(again.flows) == 1
    assert again.flows.column_names == result.flows.column_names
    assert polars.DataFrame(again.trace("cwnd")).equals(polars.DataFrame(result.trace("cwnd")))
    again.write(tmp_path / "o")
    assert ackclock.open(tmp_path / "o").flows.equals(polars.DataFrame(result.flows))
    assert result != run(scenario, record=[])
    assert result != run(scenario.set({"seed": 2}))
    assert "1 flow," in repr(result)
    with pytest.raises(pickle.PicklingError, match="write them with write_pcap"):
        pickle.dumps(run(scenario, capture=[scenario.bottleneck]))
    for empty in (result, again):
        with pytest.raises(KeyError, match="no packets were captured"):
            empty.write_pcap(tmp_path / "x.pcap")


def test_stored_results_hold_labels_scenario_and_summary(sweep: Path, tmp_path: Path) -> None:
    labels, scenario = load(sweep).variants()[2]
    result = run(scenario)
    result.write(tmp_path / "o", labels)
    stored = ackclock.open(tmp_path / "o")
    assert stored.labels == labels
    assert stored.scenario.hash == result.scenario.hash
    of_time = ("events", "cpu_seconds")
    expected = {key: value for key, value in result.summary.items() if key not in of_time}
    assert stored.summary == {**expected, "labels": labels}
    run(made(flow=[{"congestion_control": Search}])).write(tmp_path / "p")
    with pytest.raises(ScenarioError, match="a congestion control in Python, which no file can hold"):
        _ = ackclock.open(tmp_path / "p").scenario
