"""Verdicts on synthetic samples with a known truth."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock.literature.claims import ClaimError, bounds, parse_claims
from ackclock.literature.verdicts import judge, judge_all
from ackclock.statistics.intervals import Interval, interval, one_run, rounded, student_t

VALUES = {"queue": ["5", "50"], "algorithm": ["1", "2", "3"]}
LABELS = list(VALUES)


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
    return parse_claims({"tolerance": 0.01, "metrics": ["goodput"], "claim": [entry]}, VALUES, ["goodput"])[0]


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
    assert "algorithm 1 is below 2: −16.64 %" in result.reason
    assert result.why == result.comparisons[0].why == result.to_dict()["why"] == "reversed"


def test_a_difference_nobody_can_see_is_no_difference() -> None:
    result = judge(claim(expected=[["1"], ["2"]]), "goodput", sample({"1": 100.2, "2": 100}, "offset"), LABELS)
    assert result.verdict == "does not hold"
    assert "no difference" in result.reason
    assert result.why == "no difference"
    assert result.order_matches


@pytest.mark.parametrize(
    ("differences", "verdict", "why"),
    [
        ([0.011, 0.02], "holds", None),
        ([0.005, 0.02], "cannot tell", None),
        ([-0.02, 0.02], "cannot tell", None),
        ([0.002, 0.009], "does not hold", "no difference"),
        ([-0.009, 0.009], "does not hold", "no difference"),
        ([-0.02, 0.009], "does not hold", None),
        ([-0.02, -0.005], "does not hold", None),
        ([-0.02, -0.011], "does not hold", "reversed"),
    ],
)
def test_above_has_one_margin(differences: list[float], verdict: str, why: str | None) -> None:
    # The larger mean is 100 in places where 1 is below 2, and close to 100 in the others.
    rows = [
        {"queue": "5", "algorithm": name, "sampling": "offset", "unit": unit, "goodput": value}
        for unit, difference in enumerate(differences)
        for name, value in (("1", 100 * (1 + difference)), ("2", 100.0))
    ]
    result = judge(claim(expected=[["1"], ["2"]]), "goodput", rows, LABELS)
    assert (result.verdict, result.why) == (verdict, why)


@settings(max_examples=60)
@given(st.floats(-0.03, 0.03), st.integers(0, 2**32), st.sampled_from([3, 30, 300]))
def test_more_data_moves_no_verdict_to_the_wrong_side(difference: float, seed: int, count: int) -> None:
    rng = random.Random(seed)
    rows = [
        {"queue": "5", "algorithm": name, "sampling": "seed", "unit": unit, "goodput": 100 * mean + rng.gauss(0, 1)}
        for unit in range(count)
        for name, mean in (("1", 1.0), ("2", 1 - difference))
    ]
    relative = difference / max(1.0, 1 - difference)
    verdict = judge(claim(expected=[["1"], ["2"]]), "goodput", rows, LABELS, confidence=1 - 1e-7).verdict
    assert verdict != ("holds" if relative <= 0.01 else "does not hold")
    if count == 300 and abs(relative - 0.01) > 0.008:
        assert verdict == ("holds" if relative > 0.01 else "does not hold")


def test_an_order_of_means_is_strict() -> None:
    rows = sample({"1": 100, "2": 100, "3": 90}, "offset")
    assert judge(claim(expected=[["1"], ["2"]]), "goodput", rows, LABELS).order_matches is False
    assert judge(claim(expected=[["1", "2"], ["3"]]), "goodput", rows, LABELS).order_matches is True
    assert judge(claim(expected=[["1", "2"]]), "goodput", rows, LABELS).order_matches is None


def test_the_extreme_comparison_comes_first() -> None:
    rows = [row for queue, two in (("5", 120), ("50", 90)) for row in sample({"1": 100, "2": two}, queue=queue)]
    result = judge(claim(kind="equal", axis="queue", where={}), "goodput", rows, LABELS)
    assert result.reasons[0].startswith("algorithm 2: queue 5 and 50 differ: +33.27 %")
    assert result.why == "apart"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(110, 130, "holds"), (None, 119, "does not hold"), (120, None, "cannot tell"), (None, 130, "holds")],
)
def test_a_bound_of_a_value(low: float | None, high: float | None, verdict: str) -> None:
    rows = sample({"1": 100, "2": 120}, spread=1, count=200)
    mean = interval([row["goodput"] for row in rows if row["algorithm"] == "2"], "seed")
    assert 119 < mean.low < 120 < mean.high < 122
    limits = {key: value for key, value in (("low", low), ("high", high)) if value is not None}
    result = judge(claim(kind="bound", of="2", **limits), "goodput", rows, LABELS)
    assert result.verdict == verdict
    assert result.comparisons[0].difference == mean
    assert result.reason.startswith("algorithm 2 is 1")
    assert result.why == ("apart" if verdict == "does not hold" else None)


def test_a_bound_of_a_value_that_was_not_run() -> None:
    result = judge(claim(kind="bound", of="3", low=1.0), "goodput", sample({"1": 100}), LABELS)
    assert result.verdict == "not run"


def test_one_run_lies_in_a_wider_interval() -> None:
    values = [1.0, 2.0, 3.0, 4.0]
    mean, run = interval(values, "seed"), one_run(values, "seed")
    # t(0.975; 3) = 3.1824, s = 1.2910; s·√(1/4) and s·√(1 + 1/4).
    assert mean.high - 2.5 == pytest.approx(3.1824 * 1.2910 / 2, rel=1e-4)
    assert run.high - 2.5 == pytest.approx(3.1824 * 1.2910 * 1.1180, rel=1e-4)
    assert (run.mean, run.count) == (2.5, 4)
    assert one_run(values, "offset") == interval(values, "offset")
    rng = random.Random(3)
    hits = 0
    for _ in range(2000):
        *past, future = (rng.gauss(0, 1) for _ in range(9))
        found = one_run(past, "seed")
        hits += found.low <= future <= found.high
    assert hits / 2000 == pytest.approx(0.95, abs=0.015)


def test_means_are_written_to_the_digits_of_their_interval() -> None:
    assert rounded(Interval(287_432.1, 287_380, 287_520, 3)) == ("287,430", "287,380", "287,520")
    assert rounded(Interval(-1.2345, -1.3, -1.2, 3)) == ("−1.23", "−1.30", "−1.20")
    assert rounded(Interval(1234.0, 1234.0, 1234.0, 3)) == ("1,234", "1,234", "1,234")


def test_noise_cannot_tell() -> None:
    rows = sample({"1": 100, "2": 101}, spread=30)
    assert judge(claim(expected=[["1"], ["2"]]), "goodput", rows, LABELS).verdict == "cannot tell"
    assert judge(claim(expected=[["1", "2"]]), "goodput", rows, LABELS).verdict == "cannot tell"


def test_overlap_fails_when_apart() -> None:
    assert (
        judge(claim(expected=[["1", "2"]]), "goodput", sample({"1": 100, "2": 120}), LABELS).verdict == "does not hold"
    )


def test_pairing_removes_the_effect_of_seeds() -> None:
    # Seeds shift both variants by ±5 %; the variants differ by 2 %. Unpaired intervals would overlap.
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


@pytest.mark.parametrize(
    ("twos", "verdict"),
    [
        ([120, 120, 90], "holds"),
        ([120, 90, 90], "does not hold"),
        ([120, 90], "does not hold"),
        ([120, 120, 101], "holds"),
        ([120, 101, 90], "cannot tell"),
    ],
)
def test_most_cells(twos: list[float], verdict: str) -> None:
    # In each cell 3 is the lowest; 2 is above 1, below it, or equal within the noise.
    rows = [
        row
        for number, two in enumerate(twos)
        for row in sample({"1": 100, "2": two, "3": 50}, spread=30 if two == 101 else 0, queue=str(number))
    ]
    most = claim(where={}, lead=["2"], rest=["1", "3"], quantifier="most")
    result = judge(most, "goodput", rows, LABELS)
    assert result.verdict == verdict
    assert f"of {len(twos)}" in result.reason
    assert judge(most, "goodput", [], LABELS).verdict == "not run"


def test_a_label_with_one_value_is_not_named() -> None:
    rows = sample({"1": 100, "2": 120})
    result = judge(claim(where={}, expected=[["1"], ["2"]]), "goodput", rows, LABELS)
    assert result.comparisons[0].where == {}
    assert "queue" not in result.reason


def test_without_runs_there_is_no_verdict() -> None:
    order = claim(expected=[["1"], ["2"], ["3"]])
    assert judge(order, "goodput", [], LABELS).verdict == "not run"
    assert judge(order, "goodput", sample({"1": 1}), LABELS).verdict == "not run"
    assert judge(order, "goodput", sample({"1": 9, "2": 1}), LABELS).verdict == "cannot tell"


def test_one_seed_cannot_tell() -> None:
    assert (
        judge(claim(expected=[["2"], ["1"]]), "goodput", sample({"1": 1, "2": 9}, count=1), LABELS).verdict
        == "cannot tell"
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "expected is missing"),
        ({"kind": "worst"}, "kind must be one of order, equal, bound, best, not 'worst'"),
        ({"kind": "bound", "low": 1.0}, "of is missing"),
        ({"kind": "bound", "of": "1", "to": "2"}, "low or high is missing"),
        ({"kind": "bound", "of": "1"}, "low or high is missing"),
        ({"kind": "bound", "of": "1", "to": "2", "low": 2, "high": 1}, "low 2 is above high 1"),
        ({"kind": "bound", "of": "1", "to": "4", "low": 2}, "unknown algorithm '4'"),
        ({"kind": "equal", "low": 1.0}, "low belongs to claims of the kind bound"),
        ({"expectde": []}, "did you mean 'expected'"),
        ({"axis": "colour", "expected": [["1"], ["2"]]}, "unknown label 'colour'"),
        ({"axis": "algoritm", "expected": [["1"], ["2"]]}, "did you mean 'algorithm'"),
        ({"where": {"queue": "51"}, "expected": [["1"], ["2"]]}, "unknown queue '51'; did you mean '5"),
        ({"where": {"queu": "5"}, "expected": [["1"], ["2"]]}, "did you mean 'queue'"),
        ({"where": {"queue": 5}, "expected": [["1"], ["2"]]}, "where must be a table of texts"),
        ({"where": {"algorithm": "1"}, "expected": [["1"], ["2"]]}, "algorithm is the axis"),
        ({"pool": ["queue"], "expected": [["1"], ["2"]]}, "queue is in both where and pool"),
        ({"expected": [["1"], ["7"]]}, "unknown algorithm '7'"),
        ({"expected": [["1"], ["1"]]}, "algorithm 1 is named 2 times"),
        ({"expected": ["1", "2"]}, "expected must be a list of groups"),
        ({"expected": [["1"]]}, "nothing is compared"),
        ({"tolerance": -0.1, "expected": [["1"], ["2"]]}, "tolerance must be a number, at least 0, not -0.1"),
        ({"tolerance": "1 %", "expected": [["1"], ["2"]]}, "tolerance must be a number"),
        ({"metrics": ["goodputt"], "expected": [["1"], ["2"]]}, "did you mean 'goodput'"),
        ({"quantifier": "some", "expected": [["1"], ["2"]]}, "quantifier must be one of all, any, most"),
    ],
)
def test_wrong_claims_are_refused(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(ClaimError) as raised:
        claim(**entry)
    assert str(raised.value).startswith("claims.toml: claim c: ")
    assert message in str(raised.value)


def test_wrong_claims_files_are_refused() -> None:
    with pytest.raises(ClaimError, match=r"claims.toml: claim must be a list of tables: \[\[claim\]\]"):
        parse_claims({"claim": {"id": "a"}}, VALUES, ["goodput"])
    with pytest.raises(ClaimError, match="there is no key 'claims'; did you mean 'claim'"):
        parse_claims({"claims": []}, VALUES, ["goodput"])
    entry = {"id": "a", "text": "t", "source": "s", "kind": "equal", "axis": "queue", "where": {}}
    with pytest.raises(ClaimError, match="2 claims have the id 'a'"):
        parse_claims({"metrics": ["goodput"], "claim": [entry, entry]}, VALUES, ["goodput"])
    with pytest.raises(ClaimError, match="claim a: metrics is missing"):
        parse_claims({"claim": [entry]}, VALUES, ["goodput"])


def test_the_mean_of_equal_values_lies_between_them() -> None:
    assert interval([0.1, 0.1, 0.1], "offset") == Interval(0.1, 0.1, 0.1, 3)


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


@pytest.mark.parametrize(
    ("keys", "low", "high", "words"),
    [
        ({"about": 2.0}, 2 / 1.05, 2.1, "about 2: at least 1.90476 and at most 2.1"),
        ({"exactly": 2.0}, 2 / 1.001, 2.002, "exactly 2: at least 1.998 and at most 2.002"),
        ({"up_to": 2.0}, 2 / 1.05, 2.1, "up to 2: at least 1.90476 and at most 2.1"),
        ({"low": 1.5}, 1.5, float("inf"), "at least 1.5"),
    ],
)
def test_a_stated_value_has_the_limits_of_its_word(keys: dict[str, float], low: float, high: float, words: str) -> None:
    own = claim(kind="bound", of="1", to="2", **keys)
    assert own.limits() == pytest.approx((low, high))
    assert bounds(own) == words


def test_the_tolerance_of_a_stated_value_can_be_another() -> None:
    rows = sample({"1": 206, "2": 100}, "seed", 0.1)
    found = judge(claim(kind="bound", of="1", to="2", about=2.1), "goodput", rows, LABELS)
    assert (found.verdict, found.at[0.5], found.at[2.0]) == ("holds", "cannot tell", "holds")
    assert judge(claim(kind="bound", of="1", to="2", low=2.0), "goodput", rows, LABELS).at == {}


@pytest.mark.parametrize(
    ("gains", "verdict", "why"),
    [
        # Smaller gains elsewhere do not contradict "up to 50 %", and larger ones do.
        ((1.0, 1.2, 1.5), "holds", None),
        ((1.0, 1.2, 1.2), "does not hold", "apart"),
        ((1.2, 1.5, 4.4), "does not hold", "apart"),
        ((0.9, 0.8, 0.9), "does not hold", "reversed"),
        ((1.0, 1.0, 1.0), "does not hold", "no difference"),
        ((1.0, 1.2, 1.575), "cannot tell", None),
    ],
)
def test_up_to_is_about_the_largest_of_all_cells(gains: tuple[float, ...], verdict: str, why: str | None) -> None:
    rows = []
    for place, gain in enumerate(gains):
        rows += sample({"1": 100 * gain, "2": 100}, "seed", 0.1, queue=str(place))
    own = claim(where={}, kind="bound", of="1", to="2", up_to=1.5)
    found = judge(own, "goodput", rows, LABELS)
    assert (found.verdict, found.why, found.evidence) == (verdict, why, None)
    assert len(found.comparisons) == 3
    if verdict == "does not hold":
        assert f"queue {gains.index(max(gains))}" in found.reason
    # A single value is about as large as stated, and has the evidence of "about".
    one = [row for row in rows if row["queue"] == "0"]
    same = [claim(where={}, kind="bound", of="1", to="2", **{word: 1.5}) for word in ("up_to", "about")]
    single = [judge(each, "goodput", one, LABELS) for each in same]
    assert (single[0].verdict, single[0].evidence) == (single[1].verdict, single[1].evidence)


def test_up_to_without_all_cells_is_undecided() -> None:
    rows = sample({"1": 150, "2": 100}, "seed", 0.1, queue="5")
    rows += sample({"1": 110, "2": 100}, "seed", 0.1, count=1, queue="50")
    own = claim(where={}, kind="bound", of="1", to="2", up_to=1.5)
    assert judge(own, "goodput", rows, LABELS).verdict == "cannot tell"


def test_a_value_is_stated_once() -> None:
    with pytest.raises(ClaimError, match="up_to speaks of the largest of all cells, not of any"):
        claim(kind="bound", of="1", up_to=2.0, quantifier="any")
    with pytest.raises(ClaimError, match="about and low exclude each other"):
        claim(kind="bound", of="1", about=2.0, low=1.0)
    with pytest.raises(ClaimError, match="low or high is missing; a bound needs one of them, or a value with exactly"):
        claim(kind="bound", of="1")


def test_verdicts_at_other_tolerances_are_those_of_such_claims() -> None:
    rng = random.Random(3)
    for _ in range(60):
        means = {name: 100 * (1 + rng.choice([0, 0.005, 0.015, 0.03])) for name in ("1", "2", "3")}
        rows = sample(means, rng.choice(["seed", "offset"]), rng.choice([0.1, 1, 5]), 8)
        for keys in ({"expected": [["2"], ["1", "3"]]}, {"kind": "best", "of": "1", "sense": "lowest"}):
            found = judge(claim(tolerance=0.01, **keys), "goodput", rows, LABELS)
            for factor, verdict in found.at.items():
                assert judge(claim(tolerance=0.01 * factor, **keys), "goodput", rows, LABELS).verdict == verdict
