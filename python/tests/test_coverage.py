"""Coverage of the states of controls."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ackclock

BBR: dict[str, Any] = {"host": "linux", "congestion_control": "bbr"}


def ran(*flows: Mapping[str, Any], duration: str = "4.9 s", **keys: Any) -> ackclock.Result:
    keys = {"record": ["internals"], **keys}
    return ackclock.run(ackclock.Scenario(duration=duration, flow=[dict(flow) for flow in flows], **keys))


def test_a_state_that_no_run_enters_is_named() -> None:
    found = ackclock.coverage([ran(BBR, seed=seed) for seed in (1, 2)])
    assert found.never == ["bbr: ProbeRTT was never entered in 2 runs"]
    states = {row["state"]: row for row in found.states.to_dicts()}
    assert (states["Startup"]["entered_in"], states["Startup"]["entries"]) == (2, 2)
    assert ackclock.coverage(ran(BBR, duration="12 s")).never == []


class Counted(ackclock.CongestionControl):
    """A control whose state is the number of its ACKs by three."""

    states: ClassVar = {"third": ["none", "one", "two"]}

    def __init__(self) -> None:
        super().__init__()
        self.acks = 0

    def on_ack(self, ack: ackclock.Ack) -> None:
        super().on_ack(ack)
        self.acks += 1

    def internals(self) -> dict[str, float]:
        return {"third": float(self.acks % 3)}


@settings(max_examples=10, deadline=None)
@given(size=st.integers(3, 60))
def test_entries_seconds_and_transitions_are_those_of_the_trace(size: int) -> None:
    result = ran({"congestion_control": Counted, "size": f"{size} packets"})
    rows = [row for row in ackclock.results.rows(result.trace("internals")) if row["name"] == "third"]
    values = [int(row["value"]) for row in rows]
    changes = [pair for pair in itertools.pairwise(values) if pair[0] != pair[1]]
    found = ackclock.coverage(result)
    names = Counted.states["third"]
    for state, row in zip(names, found.states.to_dicts(), strict=True):
        number = names.index(state)
        assert row["entries"] == sum(pair[1] == number for pair in changes) + (values[0] == number)
        spent = sum(later["time"] - row["time"] for row, later in itertools.pairwise(rows) if row["value"] == number)
        assert row["seconds"] == pytest.approx(spent)
    assert sum(found.transitions["count"]) == len(changes)


def test_only_flows_under_test_count_and_parts_inside_others_do() -> None:
    wrapped = {"host": "linux", "slow_start": {"kind": "paced", "slow_start": "hystart_pp"}, "avoidance": "reno"}
    result = ran({"name": "tested", **wrapped}, {"name": "other", **BBR})
    assert set(ackclock.coverage(result).states["control"]) == {"hystart_pp"}


def test_what_has_no_states_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r'scenario: has no trace of states; run it with record = \["internals"\]'):
        ackclock.coverage(ran(BBR, record=[]))
    with pytest.raises(ValueError, match="no control names its states"):
        ackclock.coverage(ran({"avoidance": "reno"}))

    class Strange(Counted):
        states: ClassVar = {"third": ["none", "one"]}

    with pytest.raises(ValueError, match="Strange: third is 2, but has names from 0 to 1"):
        ackclock.coverage(ran({"congestion_control": Strange}))


def test_stored_runs_count_as_those_in_memory(tmp_path: Path) -> None:
    result = ran(BBR)
    result.write(tmp_path / "run")
    stored = ackclock.open(tmp_path / "run")
    assert ackclock.coverage(stored).transitions.equals(ackclock.coverage(result).transitions)
