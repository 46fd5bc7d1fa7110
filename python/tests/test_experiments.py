"""The engine of experiments: points, measures, and the content of cache keys."""

from __future__ import annotations

import ast
import importlib
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import polars
import pytest

from ackclock import CongestionControl, _core
from ackclock.comparisons import measuring
from ackclock.control import named
from ackclock.experiments import execute as engine
from ackclock.experiments import sources
from ackclock.experiments.execute import Interrupted
from ackclock.experiments.measurement import Measurement
from ackclock.experiments.plan import RUNNER, Point
from ackclock.experiments.store import Store
from ackclock.experiments.world import World, run_here
from ackclock.files import made
from ackclock.formatting.numbers import finite
from ackclock.freeze import Frozen, replaced
from ackclock.literature.measurement import TRACES, Curves, FlowTable
from ackclock.metrics import spans
from ackclock.metrics.flows import DERIVATIONS
from ackclock.results import Result
from ackclock.scenario import Scenario

PATH = {"kind": "chain", "bottleneck": {"rate": "2 Mbit/s", "delay": "10 ms", "loss": "1 %"}}
FLOWS = Scenario(duration="4 s", topology=PATH, flow=[{"name": "a", "loss_response": "westwood"}, {"name": "b"}])
WEB = {"kind": "web", "root": "20 kB", "pages": 2}
PAGES = Scenario(duration="4 s", topology=PATH, flow=[{"name": "a", "profile": "modern", "application": WEB}])
WHOLE = Curves(tuple(TRACES), bin=0.5, start=1.0, flows=True)
OVER = {"first_second": (0.0, 1.0)}
POINTS: dict[str, Point[Any]] = {
    "paper": Point(
        FLOWS,
        FlowTable([spans.arrivals(OVER), spans.windows(OVER), *(DERIVATIONS[name] for name in DERIVATIONS)], WHOLE),
    ),
    "pages": Point(PAGES, FlowTable([DERIVATIONS["rtt"], DERIVATIONS["pages"]])),
    "comparison": Point(FLOWS, measuring.Tested()),
}


# Cache keys


def files_that_run(function: Callable[[], object]) -> set[Path]:
    """Give the package's files whose code runs in a call."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return {path for path in map(Path, found) if path.is_relative_to(sources.PACKAGE)}


@pytest.mark.parametrize("name", POINTS)
def test_a_key_covers_all_code_that_measures(name: str) -> None:
    point = POINTS[name]
    ran = files_that_run(lambda: point.run(_core.Cancel()))
    covered = sources.reached([RUNNER, *point.measurement.sources])
    assert sources.PACKAGE / "results/run.py" in ran
    assert ran <= set(covered.values()), "the key does not cover what measures"


@pytest.mark.parametrize(
    ("name", "file", "covered"),
    [
        ("paper", "results/run.py", True),
        ("paper", "metrics/flows.py", True),
        ("paper", "statistics/fairness.py", True),
        ("paper", "curves.py", True),
        ("paper", "drawing/matplotlib.py", False),
        ("paper", "literature/report.py", False),
        ("paper", "notebooks/card.py", False),
        ("comparison", "results/overview.py", False),
        ("comparison", "results/run.py", True),
        ("comparison", "comparisons/measuring.py", True),
        ("comparison", "statistics/fairness.py", True),
        ("comparison", "metrics/flows.py", False),
    ],
)
def test_a_changed_module_changes_the_keys_of_what_it_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str, covered: bool
) -> None:
    package = tmp_path / "ackclock"
    shutil.copytree(sources.PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "data", "__pycache__"))
    monkeypatch.setattr(sources, "PACKAGE", package)
    modules = (RUNNER, *POINTS[name].measurement.sources)
    before = sources.program.__wrapped__(*modules)
    assert sources.program.__wrapped__(*modules) == before
    text = (package / file).read_text()
    docstring = ast.get_docstring(ast.parse(text), clean=False)
    assert docstring
    (package / file).write_text(text.replace(docstring, "Something else.", 1) + "# changed\n")
    assert sources.program.__wrapped__(*modules) == before, "words are not code"
    with (package / file).open("a") as added:
        added.write("CHANGED = 1\n")
    assert (sources.program.__wrapped__(*modules) != before) == covered


def test_a_key_covers_scenario_measures_and_curves() -> None:
    point = POINTS["paper"]
    others = [
        Point(FLOWS.set({"seed": 2}), point.measurement),
        Point(FLOWS, FlowTable([spans.arrivals({"first_second": (0.0, 2.0)})], WHOLE)),
        Point(FLOWS, FlowTable([spans.arrivals(OVER)], WHOLE)),
        Point(FLOWS, FlowTable([spans.arrivals(OVER)], Curves(("cwnd",)))),
        Point(FLOWS, FlowTable([DERIVATIONS["jain"]])),
        Point(FLOWS, FlowTable([DERIVATIONS["share"]])),
    ]
    assert len({each.key for each in (point, *others)}) == 1 + len(others)
    assert Point(FLOWS, point.measurement).key == point.key


@dataclass(frozen=True)
class Captured(measuring.Tested):
    """A measurement of captured packets."""

    places: tuple[str, ...] = ()

    @property
    def capture(self) -> tuple[str, ...]:
        return self.places


def test_a_key_covers_captures() -> None:
    keys = {Point(FLOWS, Captured(places)).key for places in ((), ("client",), ("server",))}
    assert len(keys) == 3


def test_a_key_covers_the_source_of_a_control_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    control = "from ackclock import CongestionControl\nimport share_of_mine\nclass Mine(CongestionControl):\n    {}\n"

    def key(body: str, share: str) -> str:
        (tmp_path / "mine_of_test.py").write_text(control.format(body))
        (tmp_path / "share_of_mine.py").write_text(share)
        for name in ("mine_of_test", "share_of_mine"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        made = named(f"{tmp_path / 'mine_of_test.py'}:Mine")
        return Point(Scenario(duration="1 s", flow=[{"congestion_control": made}]), measuring.Tested()).key

    first = key("pass", "SHARE = 1")
    assert key('"""A docstring."""; pass', "SHARE = 1  # of all") == first
    assert len({first, key("cwnd = 3.0", "SHARE = 1"), key("pass", "SHARE = 2")}) == 3


def test_a_key_covers_the_state_of_a_control_in_python() -> None:
    def make(share: float) -> type[CongestionControl]:
        class Made(CongestionControl):
            F = 0.5

            def on_congestion(self, event: Any) -> None:
                self.cwnd *= share * STATE["share"]

        return Made

    def key(made: type[CongestionControl]) -> str:
        return Point(Scenario(duration="1 s", flow=[{"congestion_control": made}]), measuring.Tested()).key

    first, other, again = make(0.3), make(0.9), make(0.3)
    assert key(first) == key(again) != key(other), "what a closure holds is part of a class"
    again.F = 0.9  # type: ignore[attr-defined]
    assert key(again) != key(first)
    assert key(type("Made", (first,), {"F": 0.7})) != key(type("Made", (first,), {"F": 0.8}))
    before = key(first)
    STATE["share"] = 0.25
    assert key(first) != before
    STATE["share"] = 0.5


STATE = {"share": 0.5}
"""A global that a control of a test reads."""


def test_worlds_share_nothing_and_a_run_that_fails_stays_away(tmp_path: Path) -> None:
    """A run that should not be used is no measurement, so that the next attempt repeats it; others are kept."""
    asked: list[int] = []

    def run(scenario: Scenario, *rest: Any) -> Result:
        asked.append(scenario.seed)
        if scenario.seed == 2:
            raise ValueError("the kernel stopped")
        return run_here(scenario, *rest)

    def fault(result: Result) -> str | None:
        return "packets were late" if result.scenario.seed == 3 and len(asked) < 5 else None

    world = World("machine", run, fault=fault, release="7.2", identity="machine 7.2", virtual=False, jobs=1)
    own = [Point(FLOWS.set({"seed": seed}), measuring.Tested(), world=world) for seed in (1, 2, 3)]
    simulated = [Point(point.scenario, point.measurement) for point in own]
    store = Store(tmp_path)
    done = engine.execute([*own, *simulated], store, jobs=2)
    assert sorted(done.failed.values()) == ["packets were late", "the kernel stopped"]
    assert [store.has(point) for point in (*own, *simulated)] == [True, False, False, True, True, True]
    assert store.measured(own[0]) == store.measured(simulated[0])
    again = engine.execute([*own, *simulated], store, jobs=2)
    assert (again.reused, list(again.failed.values()), asked) == (4, ["the kernel stopped"], [1, 2, 3, 2, 3])


def test_a_function_that_makes_a_control_has_no_key() -> None:
    own = Scenario(duration="1 s", flow=[{"congestion_control": lambda: CongestionControl()}])
    with pytest.raises(ValueError, match="is no class"):
        _ = Point(own, measuring.Tested()).key


def test_a_key_covers_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sources.program.__wrapped__(RUNNER)
    monkeypatch.setattr(sources, "versions", lambda: {"numpy": "another"})
    assert sources.program.__wrapped__(RUNNER) != before
    assert set(made.LIBRARIES) == {"numpy", "polars"}


def test_relative_imports_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "ackclock"
    (package / "inner").mkdir(parents=True)
    (package / "one.py").write_text("from . import other\n")
    (package / "other.py").write_text("from .inner.last import LAST\n")
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "last.py").write_text("from ..beside import LAST\n")
    (package / "beside.py").write_text("LAST = 1\n")
    monkeypatch.setattr(sources, "PACKAGE", package)
    found = sources.reached(["ackclock.one"])
    assert list(found) == ["ackclock.beside", "ackclock.inner.last", "ackclock.one", "ackclock.other"]


def test_measures_know_the_connections_of_an_application() -> None:
    web = {**WEB, "connections": 2, "objects": 4, "object": "20 kB"}
    flow = {"name": "page", "profile": "modern", "packet_size": "700 B", "loss_response": "westwood"}
    scenario = Scenario(duration="4 s", topology=PATH, flow=[{**flow, "application": web}])
    names = ("eq7", "estimate")
    point = Point(scenario, FlowTable([DERIVATIONS[name] for name in names]))
    measured = point.run(_core.Cancel()).rows
    assert [row["flow"] for row in measured] == ["page.0", "page.1"]
    ratios = [row["bwe_ratio"] * row["goodput_bps"] / row["bwe_mean"] for row in measured if row["bwe_ratio"]]
    assert ratios == [pytest.approx(8 * 700)] * len(ratios)
    assert any(row["eq7_bps"] for row in measured)
    assert ratios


# Execution


@dataclass(frozen=True)
class Goodput(Measurement[float]):
    """Measures the goodput of the first flow, or fails."""

    fails: bool = False

    @property
    def record(self) -> list[str]:
        return []

    def take(self, result: Result) -> float:
        if self.fails:
            raise KeyboardInterrupt
        return float(polars.DataFrame(result.flows)["goodput_bps"][0])


class Memory:
    """A store in memory; a point's place is its seed."""

    def __init__(self) -> None:
        self.found: dict[int, float] = {}
        self.puts: list[int] = []

    def has(self, point: Point[float]) -> bool:
        return point.scenario.seed in self.found

    def put(self, point: Point[float], measured: float) -> None:
        self.found[point.scenario.seed] = measured
        self.puts.append(point.scenario.seed)


def points(count: int, fails: int = 0) -> list[Point[float]]:
    return [Point(FLOWS.set({"seed": seed}), Goodput(seed == fails)) for seed in range(1, count + 1)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_points_that_the_store_lacks_are_run_once(jobs: int) -> None:
    store, told = Memory(), []
    store.found[2] = 0.5
    reused = engine.execute(points(4), store, jobs=jobs, progress=lambda *each: told.append(each)).reused
    assert reused == 1
    assert sorted(store.puts) == [1, 3, 4]
    assert store.found[2] == 0.5
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    again = Memory()
    engine.execute(points(4), again, jobs=1)
    assert {**again.found, 2: 0.5} == store.found, "the number of threads changes nothing"


def test_an_interrupted_experiment_says_what_is_finished() -> None:
    store = Memory()
    store.found[4] = 0.5
    with pytest.raises(Interrupted, match="of 4 runs are finished") as caught:
        engine.execute(points(4, fails=3), store, jobs=1)
    finished = [point is not None for point in caught.value.results]
    assert finished[3]
    assert not finished[2]
    assert {place + 1 for place, done in enumerate(finished) if done} == set(store.found)


def test_no_fewer_than_one_thread() -> None:
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        engine.execute(points(1), Memory(), jobs=0)


# Frozen scenarios


def test_values_of_a_frozen_scenario_are_replaced_by_path() -> None:
    given = Frozen(FLOWS)
    assert [flow["name"] for flow in given.flows] == ["a", "b"]
    changed = replaced(FLOWS, {"topology.link.0.delay": "7 ms", "seed": "9"})
    assert (changed.seed, Frozen(changed).links[0]["delay"]) == (9, "7 ms")
    assert Frozen(changed).links[1:] == given.links[1:]
    assert replaced(FLOWS, {}).hash == FLOWS.hash
    with pytest.raises(_core.ScenarioError, match="dlay"):
        replaced(FLOWS, {"topology.link.0.dlay": "7 ms"})


def test_thousands_of_flows_can_be_frozen() -> None:
    """The text with every flow and default is the program's own, which no limit for files of users stops."""
    many = Scenario(duration="1 s", flow=[{"host": "linux", "count": 1500, "size": "10 packets"}])
    assert len(Frozen(many).flows) == 1500


def test_what_json_cannot_hold_is_none() -> None:
    assert finite({"a": float("nan"), "b": [1.5, float("inf")], "c": "x"}) == {"a": None, "b": [1.5, None], "c": "x"}
