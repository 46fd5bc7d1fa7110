"""Verdicts on synthetic samples whose truth is known."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock.claims import ClaimError, judge, judge_all, parse_claims
from ackclock.intervals import interval, student_t

LABELS = ["queue", "algorithm"]


def claim(**keys: Any) -> Any:
    entry = {
        "id": "c",
        "text": "t",
        "source": "§",
        "kind": "order",
        "axis": "algorithm",
        "where": {"queue": "5"},
        **keys,
    }
    return parse_claims({"tolerance": 0.01, "metrics": ["goodput"], "claim": [entry]}, LABELS, ["goodput"])[0]


def sample(
    means: dict[str, float], sampling: str = "seed", spread: float = 0.0, count: int = 30, queue: str = "5"
) -> list[Any]:
    rng = random.Random(7)
    common = [rng.gauss(0, 5) for _ in range(count)]
    return [
        {
            "queue": queue,
            "algorithm": name,
            "sampling": sampling,
            "unit": unit,
            "goodput": mean + common[unit] + rng.gauss(0, spread),
        }
        for name, mean in means.items()
        for unit in range(count)
    ]


@pytest.mark.parametrize("sampling", ["seed", "offset"])
def test_a_clear_order_holds(sampling: str) -> None:
    rows = sample({"1": 100, "2": 120, "3": 100.1}, sampling)
    result = judge(claim(expected=[["2"], ["1", "3"]]), "goodput", rows, LABELS)
    assert result.verdict == "holds"
    assert result.order_matches
    assert [variant for variant, _ in result.measured[0][1]] == ["2", "3", "1"]


def test_the_reverse_order_does_not_hold() -> None:
    result = judge(claim(expected=[["1"], ["2"]]), "goodput", sample({"1": 100, "2": 120}), LABELS)
    assert result.verdict == "does not hold"
    assert result.order_matches is False
    assert "1 is below 2" in result.reason


def test_a_difference_nobody_can_see_is_no_difference() -> None:
    result = judge(claim(expected=[["1"], ["2"]]), "goodput", sample({"1": 100.2, "2": 100}, "offset"), LABELS)
    assert result.verdict == "does not hold"
    assert "no difference" in result.reason
    assert result.order_matches


def test_noise_cannot_tell() -> None:
    rows = sample({"1": 100, "2": 101}, spread=30)
    assert judge(claim(expected=[["1"], ["2"]]), "goodput", rows, LABELS).verdict == "cannot tell"
    assert judge(claim(expected=[["1", "2"]]), "goodput", rows, LABELS).verdict == "cannot tell"


def test_overlap_fails_when_apart() -> None:
    assert (
        judge(claim(expected=[["1", "2"]]), "goodput", sample({"1": 100, "2": 120}), LABELS).verdict == "does not hold"
    )


def test_pairing_removes_what_seeds_have_in_common() -> None:
    # The seeds differ by ±5 % in common; the variants by 2 %. Unpaired intervals would overlap.
    assert judge(claim(expected=[["2"], ["1"]]), "goodput", sample({"1": 100, "2": 102}), LABELS).verdict == "holds"


def test_rest_is_below_but_not_compared() -> None:
    rows = sample({"1": 90, "2": 120, "3": 70})
    assert judge(claim(expected=[["2"]], rest=["1", "3"]), "goodput", rows, LABELS).verdict == "holds"


def test_an_axis_that_does_not_matter() -> None:
    rows = [row for queue in ("5", "50") for row in sample({"1": 100, "2": 120}, queue=queue)]
    result = judge(claim(kind="equal", axis="queue", where={}), "goodput", rows, LABELS)
    assert result.verdict == "holds"
    assert len(result.comparisons) == 2


def test_pooled_labels_are_averaged() -> None:
    rows = sample({"1": 100, "2": 110}, queue="5") + sample({"1": 110, "2": 100}, queue="50")
    result = judge(claim(where={}, pool=["queue"], expected=[["1", "2"]]), "goodput", rows, LABELS)
    assert result.verdict == "holds"
    assert len(result.comparisons) == 1


@pytest.mark.parametrize(
    ("low", "quantifier", "verdict"),
    [(1.15, "any", "holds"), (1.15, "all", "does not hold"), (1.3, "any", "does not hold"), (0.9, "all", "holds")],
)
def test_bounds(low: float, quantifier: str, verdict: str) -> None:
    rows = sample({"1": 100, "3": 120}, "offset") + sample({"1": 100, "3": 100}, "offset", queue="50")
    bound = claim(kind="bound", where={}, of="3", to="1", low=low, quantifier=quantifier)
    assert judge(bound, "goodput", rows, LABELS).verdict == verdict


def test_without_runs_it_cannot_tell() -> None:
    result = judge(claim(expected=[["1"], ["2"]]), "goodput", [], LABELS)
    assert result.verdict == "cannot tell"
    assert judge(claim(expected=[["1"], ["2"]]), "goodput", sample({"1": 1}), LABELS).verdict == "cannot tell"


def test_one_seed_cannot_tell() -> None:
    assert (
        judge(claim(expected=[["2"], ["1"]]), "goodput", sample({"1": 1, "2": 9}, count=1), LABELS).verdict
        == "cannot tell"
    )


@pytest.mark.parametrize(
    "entry",
    [{"kind": "order"}, {"kind": "best"}, {"kind": "bound"}, {"expectde": []}, {"axis": "colour", "expected": [["1"]]}],
)
def test_wrong_claims_are_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(ClaimError, match="c"):
        claim(**entry)


def test_students_t() -> None:
    # Standard tables.
    for probability, freedom, expected in [
        (0.975, 1, 12.7062),
        (0.975, 29, 2.04523),
        (0.95, 5, 2.01505),
        (0.9995, 10, 4.58689),
    ]:
        assert student_t(probability, freedom) == pytest.approx(expected, rel=1e-5)


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=40), st.sampled_from(["seed", "offset"]))
def test_an_interval_holds_its_mean(values: list[float], sampling: Any) -> None:
    found = interval(values, sampling)
    slack = 1e-9 * abs(found.mean)
    assert found.low - slack <= found.mean <= found.high + slack


values = st.floats(1, 1e6)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(values, values), min_size=2, max_size=20),
    st.sampled_from(["seed", "offset"]),
    st.floats(1e-3, 1e3),
)
def test_verdicts_are_antisymmetric_and_do_not_depend_on_units(
    pairs: list[tuple[float, float]], sampling: str, unit: float
) -> None:
    rows = [
        {"queue": "5", "algorithm": name, "sampling": sampling, "unit": index, "goodput": pair[place]}
        for index, pair in enumerate(pairs)
        for place, name in enumerate("12")
    ]
    scaled = [{**row, "goodput": row["goodput"] * unit} for row in rows]
    up, down = claim(expected=[["1"], ["2"]]), claim(expected=[["2"], ["1"]])
    forth, back = judge(up, "goodput", rows, LABELS), judge(down, "goodput", rows, LABELS)
    assert not (forth.verdict == back.verdict == "holds")
    if forth.verdict == "holds":
        assert back.verdict == "does not hold"
    (first, second) = (forth.comparisons[0].difference, judge(up, "goodput", scaled, LABELS).comparisons[0].difference)
    assert first is not None
    assert second is not None
    assert second.mean == pytest.approx(first.mean, rel=1e-6, abs=1e-9)
    assert [j.metric for j in judge_all([up], rows, LABELS)] == ["goodput"]
