"""The registry of measures: every number that is computed has a name in it, and one definition everywhere."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock import _core, columns
from ackclock.comparisons import judging, measuring
from ackclock.datasets import dataset
from ackclock.linux.measuring import COMPARED
from ackclock.metrics import registry
from ackclock.metrics.flows import DERIVATIONS
from ackclock.metrics.groups import EVERY, GROUPS, TESTED, TRACES, Group, is_tested, under_test
from ackclock.metrics.registry import BOUNDS, MEASURES, of
from ackclock.metrics.runs import RUN, of_run
from ackclock.reports import points
from ackclock.results import frame
from ackclock.scenario import Scenario
from ackclock.statistics.fairness import jain_index
from ackclock.tuning import measures as tuned

from .conftest import Cli

NO_MEASURES = {
    "flow": {"start_s", "size_packets", "path_rtt", "path_bps", "bdp_packets", "queue_packets"},
    "link": {"rate_bps", "delay_s", "first_drop_time"},
    "run": {"task", "events", "cpu_s", "wall_s"},
}
"""Numbers that the scenario sets, times of events, and costs of the program."""
SHARED = Scenario(
    duration="8 s",
    seed=3,
    topology={"kind": "chain", "bottleneck": {"rate": "4 Mbit/s", "delay": "20 ms", "queue": {"limit": "12 packets"}}},
    flow=[
        {"name": "tested-long", "start": "0.5 s"},
        {"name": "tested-short", "size": "300 packets", "start": "1 s"},
        {"name": "tested-late", "size": "90000 packets", "start": "2 s"},
        {"name": "rival"},
    ],
)
"""Flows that end, that do not end in time, and that have no end."""


@pytest.fixture(scope="module")
def result() -> ackclock.Result:
    return ackclock.run(SHARED, record=["sojourn"])


@pytest.fixture(scope="module")
def flows(result: ackclock.Result) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in frame(result.flows).to_dicts()}


def test_every_column_of_the_engine_is_a_measure_or_a_setting() -> None:
    for scope, table in (("flow", "flows"), ("link", "links"), ("run", "runs")):
        numbers = {column.name for column in columns.of(table) if column.kind != "texts"}
        parts_of_drops = {name for name in numbers if name.startswith("drops_")}
        declared = {name for name, each in MEASURES.items() if scope in each.scope}
        assert declared >= numbers - NO_MEASURES[scope] - parts_of_drops
        assert not NO_MEASURES[scope] & MEASURES.keys()


def test_everything_that_computes_or_shows_measures_uses_the_names_of_the_registry() -> None:
    used = {
        *(name for derivation in DERIVATIONS.values() for name in derivation.columns),
        *GROUPS, *TRACES, *RUN, *tuned.MEASURES, *judging.METRICS,
        *measuring.COLUMNS, *COMPARED, *points.SHOWN, *dataset.MEASURES, "queue_drops",
    }  # fmt: skip
    assert used <= MEASURES.keys()
    assert {name for name, each in MEASURES.items() if "run" in each.scope} >= set(RUN)
    assert {name for name in GROUPS if "group" not in MEASURES[name].scope} == {"sojourn_mean", "sojourn_p95"}
    for each in MEASURES.values():
        assert each.scope and each.definition and each.title, each.name
        assert each.tolerance.value > 0 and each.version >= 1, each.name
    assert BOUNDS["jain"] == BOUNDS["resent"] == (0.0, 1.0)
    assert of("mine").better == "" and of("mine").title == "mine"


def test_the_engine_and_the_registry_define_the_measures_of_a_run_alike(result: ackclock.Result) -> None:
    (row,) = polars.DataFrame(_core.run_batch([SHARED.core]).runs).to_dicts()
    found = of_run(frame(result.flows), frame(result.links), SHARED.bottleneck, SHARED.duration)
    assert list(found) == list(RUN)
    for name, value in found.items():
        assert row[name] == (None if value is None else pytest.approx(value, rel=1e-12)), name
    assert 0.25 < row["jain"] < 1.0 and row["finished_flows"] == 1 and row["completion_mean"] > 0


def test_jain_is_one_index_of_goodputs(result: ackclock.Result, flows: dict[str, dict[str, Any]]) -> None:
    every = [row["goodput_bps"] for row in flows.values()]
    assert jain_index([1.0, 1.0, 1.0, 0.0]) == 0.75  # three of four users: 3/4 (Jain, Chiu and Hawe 1984, §3)
    assert jain_index([0.0, 0.0]) is None
    measured = [{"flow": name, **row} for name, row in flows.items()]
    DERIVATIONS["jain"].derive(measured, result)
    assert measured[0]["jain"] == jain_index(every)
    assert jain_index([row["delivered_bytes"] for row in flows.values()]) != pytest.approx(
        measured[0]["jain"], rel=1e-3
    )
    # Of a group, only flows that last count: a finished or unfinished transfer is no share of the path.
    lasting = [flows[name]["goodput_bps"] for name in ("tested-long", "rival")]
    assert GROUPS["jain"](Group(result, EVERY)) == jain_index(lasting)
    assert GROUPS["jain"](Group(result, TESTED)) is None, "one flow shares with nobody"


def test_a_group_counts_unfinished_transfers_until_the_end(
    result: ackclock.Result, flows: dict[str, dict[str, Any]]
) -> None:
    group = Group(result)
    assert [row["name"] for row in group.flows] == ["tested-long", "tested-short", "tested-late"]
    times = [flows["tested-short"]["completion_time"], 8.0 - flows["tested-late"]["start_s"]]
    assert GROUPS["completion"](group) == pytest.approx(math.fsum(times) / 2)
    assert GROUPS["completion_tail"](group) == pytest.approx(0.05 * times[0] + 0.95 * times[1])
    assert (GROUPS["finished"](group), GROUPS["unfinished"](group)) == (1.0, 1.0)
    own = [row for name, row in flows.items() if name != "rival"]
    sent = sum(row["sent_packets"] for row in own)
    assert GROUPS["resent"](group) == sum(row["retransmitted_packets"] for row in own) / sent > 0
    assert GROUPS["loss_rate"](group) == sum(row["dropped_packets"] for row in own) / sent > 0
    assert GROUPS["goodput_bps"](group) == pytest.approx(sum(row["goodput_bps"] for row in own) / 3)
    assert GROUPS["rival_goodput_bps"](group) == flows["rival"]["goodput_bps"]
    assert GROUPS["min_rtt"](group) == min(row["min_rtt"] for row in own)
    assert GROUPS["sojourn_p95"](group) > GROUPS["sojourn_mean"](group) > 0  # type: ignore[operator]
    assert group.rivals() == {"rival": [flows["rival"]["goodput_bps"], True]}


def test_a_flow_of_nothing_has_no_share() -> None:
    nothing: list[dict[str, Any]] = [{"retransmitted_packets": 0, "sent_packets": 0, "dropped_packets": 0}]
    DERIVATIONS["resent"].derive(nothing, None)  # type: ignore[arg-type]
    DERIVATIONS["retransmitted_per_lost"].derive(nothing, None)  # type: ignore[arg-type]
    assert nothing[0]["resent"] is nothing[0]["retransmitted_per_lost"] is None


def test_flows_under_test_have_one_definition() -> None:
    assert under_test(["tested0", "tested-b", "other"]) == {"tested0", "tested-b"}
    assert under_test(["a", "b"]) == {"a", "b"}, "without such a name, all flows"
    assert is_tested("tested.3") and not is_tested("untested")
    # A connection of an application belongs to the application's flow.
    assert is_tested("web.0", ("web",)) and not is_tested("web2", ("web",))


def test_the_key_of_a_stored_run_has_the_versions_of_its_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    before = DERIVATIONS["jain"].fingerprint
    monkeypatch.setitem(registry.MEASURES, "jain", replace(MEASURES["jain"], version=MEASURES["jain"].version + 1))
    assert DERIVATIONS["jain"].fingerprint != before
    monkeypatch.setitem(registry.MEASURES, "jain", replace(MEASURES["jain"], version=1, definition="in other words"))
    assert DERIVATIONS["jain"].fingerprint == before


def test_python_and_the_command_line_list_the_same_measures(cli: Cli) -> None:
    table = ackclock.measures()
    assert table["name"].to_list() == list(MEASURES)
    resent = table.row(by_predicate=polars.col("name") == "resent", named=True)
    assert (resent["unit"], resent["better"], resent["scope"]) == ("", "less", ["flow", "group"])
    printed = json.loads(cli("list", "measures", "--json").stdout)
    assert [row["name"] for row in printed] == list(MEASURES)
    assert printed[0]["definition"] == table["definition"][0]
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "measures.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in MEASURES)
