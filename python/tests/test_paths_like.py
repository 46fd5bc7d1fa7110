"""Deterministic runs on paths like the paper's: the paths drawn, the cells that get them, and the verdicts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ackclock import freeze
from ackclock.experiments import draws
from ackclock.experiments.draws import Jitter
from ackclock.experiments.repetitions import Rule, repetitions
from ackclock.files import toml
from ackclock.freeze import Frozen
from ackclock.literature import charts
from ackclock.literature.claims import parse_claims
from ackclock.literature.verdicts import judge
from ackclock.scenario import Scenario, load

from .conftest import ROOT
from .plans import shortened

NANO = 10**9


def links(scenario: Scenario) -> list[dict[str, Any]]:
    return list(toml.parse(scenario.to_toml(), "x")["topology"]["link"])


def like(given: Scenario, draw: int, jitter: Jitter | None = None) -> Scenario:
    return freeze.replaced(given, draws.like(Frozen(given), draw, jitter or Jitter()))


def bits(rate: str) -> float:
    amount, unit = rate.split()
    return float(amount) * {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}[unit]


def test_a_drawn_path_is_near_the_given_one() -> None:
    given = load(ROOT / "papers" / "icw" / "page.toml").variants()[0][1]
    rates, delays = [], []
    for draw in range(200):
        drawn = like(given, draw)
        for link, own in zip(links(given), links(drawn), strict=True):
            assert link["queue"] == own["queue"], "buffers keep their packets"
            rates.append(bits(own["rate"]) / bits(link["rate"]) - 1)
            delay = draws.nanoseconds(link["delay"])
            delays.append((draws.nanoseconds(own["delay"]) - delay) / min(10**6, delay / 2))
    for values, most in ((rates, 0.02), (delays, 1.0)):
        assert max(map(abs, values)) <= most * (1 + 1e-6)
        assert max(map(abs, values)) > 0.99 * most
        assert abs(sum(values) / len(values)) < most / 20
        assert sum(abs(value) < most / 2 for value in values) / len(values) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("delay", "what"),
    [({"kind": "jitter"}, 'the model "jitter"'), (["5 ms", {"kind": "jitter"}], "a list of models")],
)
def test_no_path_is_drawn_like_one_with_models(delay: Any, what: str) -> None:
    topology = {"bottleneck": {"delay": delay, "reverse": {"delay": "10 ms"}}}
    given = Scenario(duration="1 s", flow={}, topology=topology)
    with pytest.raises(ValueError, match=f"delay of the link n1 - n2 is {what}, but drawn paths need constants"):
        like(given, 0)


def test_both_directions_of_a_link_are_one_link() -> None:
    drawn = links(like(load(ROOT / "papers" / "ass" / "scenario1.toml").variants()[0][1], 3))
    pairs = {(link["from"], link["to"]): (link["rate"], link["delay"]) for link in drawn}
    assert all(pairs[to, origin] == value for (origin, to), value in pairs.items())
    assert len(set(pairs.values())) == len(pairs) // 2


def test_a_drawn_path_is_one_scenario_for_all_variants(tmp_path: Path) -> None:
    swept = load(ROOT / "papers" / "ass" / "scenario2.toml").variants()
    variants = {tuple(labels.values()): own for labels, own in swept}
    one, other = (variants["0 %", "Wnd1", "50", algorithm, "staged"] for algorithm in "14")
    drawn = [like(one, draw) for draw in (1, 1, 2)]
    assert drawn[0].hash == drawn[1].hash
    assert len({one.hash, drawn[0].hash, drawn[2].hash}) == 3
    assert links(drawn[0]) == links(like(other, 1))
    (tmp_path / "drawn.toml").write_text(drawn[0].to_toml())
    assert load(tmp_path / "drawn.toml").hash == drawn[0].hash


def test_without_jitter_the_path_is_unchanged() -> None:
    given = load(ROOT / "papers" / "ass" / "scenario1.toml").variants()[0][1]
    assert like(given, 1, Jitter(0.0, 0)).hash == given.hash
    narrow = links(like(given, 1, Jitter.read({"rate": "0 %", "delay": "2 us"})))
    assert {link["rate"] for link in narrow} == {link["rate"] for link in links(given)}
    assert {link["delay"] for link in narrow} != {link["delay"] for link in links(given)}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule("path", 3, "60 ms", exact=2), ["offset exact"] * 2 + ["path like"] * 3),
        (Rule("seed", 3, jitter=Jitter(), exact=2), ["seed exact"] * 2 + ["seed like"] * 3),
        (Rule("path", 2, "60 ms"), ["path like"] * 2),
    ],
)
def test_cells_run_on_the_exact_path_and_on_drawn_paths(rule: Rule, expected: list[str]) -> None:
    given = load(ROOT / "papers" / "ass" / "scenario1.toml").variants()[0][1]
    made = repetitions(rule, given, 7, {})
    assert [f"{it.sampling} {it.paths}" for it in made] == expected
    exact = [it for it in made if it.paths == "exact"]
    assert all(links(it.scenario) == links(given) for it in exact)
    assert len({it.scenario.hash for it in made}) == len(made)
    if rule.sampling == "seed":
        assert [it.scenario.seed for it in made] == [7, 8, 7, 8, 9]
        assert links(made[2].scenario) == links(like(given, 7))
    fewer = repetitions(rule, given, 7, {"seed": 1, "path": 1, "offset": 1})
    assert sum(it.paths == "like" for it in fewer) == 1


@pytest.mark.parametrize("rule", [Rule("offset", 2, "60 ms"), Rule("path", 1, "60 ms", exact=2)])
def test_flows_keep_the_distance_of_their_starts(rule: Rule) -> None:
    given = Scenario(duration="3 s", flow=[{}, {"start": "1 s"}])
    made = repetitions(rule, given, 1, {})
    starts = [[draws.nanoseconds(flow["start"]) for flow in Frozen(it.scenario).flows] for it in made]
    assert [later - first for first, later in starts] == [NANO] * len(made)
    assert [first for first, _ in starts[:2]] == [0, 30_000_000]


def test_all_papers_draw_paths_for_their_deterministic_runs() -> None:
    """Without random losses, marks or applications, only such paths show how far one run generalises."""
    chance = re.compile(
        r'kind = "(bernoulli|gilbert\w*|red\w*|rem|pi\w*|vq|gk|blue|sfq)"|rate = "(?!0 %)[\d.]+ %"|application'
    )
    for name in ("ass", "rbt", "westwood-rb"):
        for cell in shortened(name).cells:
            text = cell[0].scenario.to_toml()
            if not chance.search(text.replace('loss = { kind = "bernoulli", rate = "0 %"', "")):
                # What `ass` adds to the paper's runs has no exact path: other cuts, and runs that end after slow start.
                labels = cell[0].labels
                added = labels.get("cut", "staged") != "staged" or labels.get("loss") == "0 %, start"
                paths = {run.repetition.paths for run in cell}
                assert paths == ({"like"} if added else {"like", "exact"}), labels


CLAIM = {"id": "c", "text": "t", "source": "§", "kind": "order", "axis": "algorithm", "where": {}}


def rows_on(paths: str, sampling: str, pairs: list[tuple[float, float]]) -> list[dict[str, Any]]:
    return [
        {"algorithm": name, "sampling": sampling, "unit": unit, "paths": paths, "goodput": value}
        for unit, pair in enumerate(pairs)
        for name, value in zip("12", pair, strict=True)
    ]


def test_the_exact_path_is_a_second_reading() -> None:
    """On the exact path 1 leads by 5 % at any start time; on paths like it, by −40 to +60 %."""
    document = {"metrics": ["goodput"], "claim": [{**CLAIM, "expected": [["1"], ["2"]]}]}
    (claim,) = parse_claims(document, {"algorithm": ["1", "2"]}, ["goodput"])
    exact = rows_on("exact", "offset", [(105.0, 100.0), (105.1, 100.0), (105.0, 100.1)])
    like = rows_on("like", "path", [(60.0, 100.0), (160.0, 100.0), (104.0, 100.0)])
    found = judge(claim, "goodput", [*exact, *like], ["algorithm"])
    assert (found.verdict, found.sampling) == ("cannot tell", "path")
    assert found.reason == "algorithm 1 over 2 is +8.00 % [−40.00, +60.00]; the interval includes 1 %"
    assert found.beside is not None
    assert (found.beside.verdict, found.beside.sampling, found.beside.beside) == ("holds", "offset", None)
    assert found.to_dict()["exact_path"]["verdict"] == "holds"
    assert judge(claim, "goodput", like, ["algorithm"]).beside is None


def test_a_difference_is_relative_to_the_reference() -> None:
    """18 times the other was reported as +94 %."""
    document = {"metrics": ["goodput"], "claim": [{**CLAIM, "expected": [["1"], ["2"]]}]}
    (claim,) = parse_claims(document, {"algorithm": ["1", "2"]}, ["goodput"])
    found = judge(claim, "goodput", rows_on("like", "path", [(18.0, 1.0), (36.0, 2.0)]), ["algorithm"])
    assert found.reason == "algorithm 1 is above 2: 18 times [18, 18]"
    assert found.comparisons[0].difference is not None
    assert found.comparisons[0].difference.mean == 17


def test_verdicts_and_charts_share_the_ratio() -> None:
    document = {"metrics": ["goodput"], "claim": [{**CLAIM, "kind": "bound", "of": "1", "to": "2", "high": 9.0}]}
    (claim,) = parse_claims(document, {"algorithm": ["1", "2"]}, ["goodput"])
    rows = rows_on("like", "seed", [(3.0, 1.0), (4.0, 5.0), (5.0, 4.0), (2.5, 2.0), (6.0, 5.5)])
    judged = judge(claim, "goodput", rows, ["algorithm"]).comparisons[0].difference
    drawn = charts._ratios(
        [{**row, "x": "5", "value": row["goodput"]} for row in rows], {"algorithm": ["1", "2"]}, ["x"]
    )
    assert list(drawn.values()) == [judged]
    assert judged is not None
    assert judged.mean == pytest.approx(20.5 / 17.5)


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([(0.0, 0.0)] * 6, "both variants are 0 in every run"),
        ([(5.0, 5.0)] * 2, "all 2 runs have the value 5, which does not show the spread of other runs"),
        ([(5.0, 4.0)] * 2, "all 2 runs of each variant have the same value"),
        ([(5.0, 5.0), (6.0, 6.0)], "2 equal runs are too few: up to 78 % of other runs could differ"),
    ],
)
@pytest.mark.parametrize("kind", [{"expected": [["1", "2"]]}, {"kind": "bound", "of": "1", "to": "2", "high": 1.05}])
def test_runs_that_say_nothing_cannot_tell(pairs: list[tuple[float, float]], reason: str, kind: dict[str, Any]) -> None:
    """A claim about no drops at all, and two equal runs, once held."""
    document = {"metrics": ["goodput"], "claim": [{**CLAIM, **kind}]}
    (claim,) = parse_claims(document, {"algorithm": ["1", "2"]}, ["goodput"])
    found = judge(claim, "goodput", rows_on("like", "seed", pairs), ["algorithm"])
    assert (found.verdict, found.reason) == ("cannot tell", f"algorithm 1 and 2: {reason}")


def test_jains_index_is_judged_below_one() -> None:
    document = {"metrics": ["jain"], "claim": [{**CLAIM, "kind": "bound", "of": "1", "low": 0.9}]}
    (claim,) = parse_claims(document, {"algorithm": ["1", "2"]}, ["jain"])
    rows = [
        {"algorithm": "1", "sampling": "seed", "unit": unit, "jain": value}
        for unit, value in enumerate((1.0, 0.999, 0.95, 1.0, 0.99))
    ]
    found = judge(claim, "jain", rows, ["algorithm"])
    assert found.comparisons[0].difference is not None
    assert found.comparisons[0].difference.high < 1
    assert found.measured[0][1][0][1].high < 1
