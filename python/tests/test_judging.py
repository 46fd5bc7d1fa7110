"""The judge on random pairs: its words never contradict the number, the interval or the tolerance beside them."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from ackclock.comparisons.words import effect
from ackclock.judging import limits, tolerances, words
from ackclock.judging.effects import ENOUGH, Finding, Question, judge
from ackclock.judging.samples import Sample, Scale
from ackclock.judging.tolerances import FACTORS, SAME, WORDS, Tolerance

SCALES: tuple[Scale, ...] = ("ratio", "geometric", "difference")
SIZE = {"better": 1, "differs": 1, "worse": 1, "same": 0, "unclear": 0}


def question(rng: random.Random) -> Question:
    """Draw pairs: of few or many runs, with a large, small or no difference, and with, little or no noise."""
    count = rng.choice([1, 2, 2, 3, 5, 10, 20])
    to = [rng.uniform(0.5, 2) for _ in range(count)] if rng.random() < 0.8 else [1.0] * count
    factor, noise = rng.choice([1, 1, 1.004, 1.012, 1.05, 0.9, 3]), rng.choice([0, 1e-12, 0.003, 0.05, 0.5])
    of = [max(0.01, factor * value + rng.gauss(0, noise)) for value in to]
    if exact := rng.random() < 0.2:
        # Without noise, every run has the same value.
        of, to = of[:1] * count, to[:1] * count
    sample = Sample(of, to, rng.choice(SCALES), "exact" if exact else "seed")
    tolerance = rng.choice([SAME, Tolerance(0.05), Tolerance(0.02, relative=False), Tolerance(0.0)])
    return Question(sample, rng.choice(["more", "less", ""]), tolerance)  # type: ignore[arg-type]


def families(seed: int, count: int = 250) -> list[list[Finding]]:
    rng = random.Random(seed)
    corrections = ("holm", "bh", None)
    return [
        judge([question(rng) for _ in range(rng.randint(1, 8))], corrections[index % 3])  # type: ignore[arg-type]
        for index in range(count)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_a_verdict_does_not_contradict_its_numbers(seed: int) -> None:
    seen: Counter[str] = Counter()
    for found in (each for family in families(seed) for each in family):
        sample, estimate = found.question.sample, found.estimate
        for factor in FACTORS:
            verdict, (low, high) = found.at(factor), found.question.limits(factor)
            seen[verdict] += 1
            assert estimate.low <= estimate.mean <= estimate.high
            if SIZE[verdict]:
                assert not low <= estimate.mean <= high, "a difference that matters is beyond the tolerance"
                assert not estimate.known or not estimate.low <= sample.neutral <= estimate.high
                larger = estimate.mean > sample.neutral
                wanted = "differs" if not found.question.better else (
                    "better" if larger == (found.question.better == "more") else "worse"
                )  # fmt: skip
                assert verdict == wanted
            elif verdict == "same":
                assert low <= estimate.mean <= high
                assert not estimate.known or estimate.within(low, high)
            if found.few and sample.count == 1:
                assert verdict == "unclear", "one run shows no spread"
    assert min(seen[verdict] for verdict in SIZE) > 20, "every verdict must be seen"


def numbers(text: str) -> list[float]:
    found = re.findall(r"[×+−]?[\d.]+(?:e[+−]\d+)?|∞", text)
    return [
        math.inf if each == "∞" else 100 * (float(each[1:]) - 1) if each[0] == "×" else float(each.replace("−", "-"))
        for each in found
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_printed_interval_has_the_sides_of_its_verdict(seed: int) -> None:
    checked = 0
    for found in (each for family in families(seed) for each in family):
        if found.question.sample.scale == "difference" or not found.estimate.finite:
            continue
        said = numbers(effect(found))
        if SIZE[found.verdict]:
            assert all(each > 0 for each in said) or all(each < 0 for each in said), effect(found)
            checked += 1
        elif found.verdict == "same":
            low, high = (100 * (end - 1) for end in found.question.limits())
            # The printed ends are rounded to a tenth of a per cent.
            assert all(low - 0.051 <= each <= high + 0.051 for each in said), effect(found)
    assert checked > 50


def test_a_larger_tolerance_never_makes_two_the_same_less() -> None:
    order = {"better": 0, "worse": 0, "differs": 0, "unclear": 1, "same": 2}
    for found in (each for family in families(9) for each in family):
        ranks = [order[found.at(factor)] for factor in FACTORS]
        assert ranks[0] <= ranks[1] <= ranks[2] or found.question.tolerance.value == 0


def test_swapping_the_variants_turns_the_verdict() -> None:
    rng = random.Random(5)
    turned = {"better": "worse", "worse": "better"}
    for _ in range(300):
        base = [rng.uniform(1, 2) for _ in range(10)]
        other = [value * 1.1 + rng.gauss(0, 0.1) for value in base]
        there, back = (judge([Question(Sample(*pair), "more", Tolerance(0.02, relative=False))])[0].verdict
                       for pair in ((other, base), (base, other)))  # fmt: skip
        assert back == turned.get(there, there)


@pytest.mark.long
def test_two_alike_are_rarely_called_different_in_a_family() -> None:
    rng = random.Random(6)
    wrong = 0
    for _ in range(300):
        pairs = [([rng.gauss(10, 1) for _ in range(8)], [rng.gauss(10, 1) for _ in range(8)]) for _ in range(10)]
        wrong += any(each.verdict == "differs" for each in judge([Question(Sample(*pair)) for pair in pairs]))
    # At most 5 %, with three standard deviations of 300 trials.
    assert wrong / 300 <= 0.05 + 0.038


def test_equal_questions_count_once() -> None:
    rng = random.Random(7)
    of, to = [rng.gauss(11, 1) for _ in range(8)], [rng.gauss(10, 1) for _ in range(8)]
    (alone,) = judge([Question(Sample(of, to))])
    many = judge([Question(Sample(of, to))] * 5)
    assert {each.adjusted for each in many} == {alone.adjusted}
    assert alone.adjusted == alone.p_value


def test_pairs_without_scatter() -> None:
    def verdict(of: Sequence[float], to: Sequence[float], sampling: str = "seed") -> str:
        return judge([Question(Sample(of, to, sampling=sampling))])[0].verdict  # type: ignore[arg-type]

    assert verdict([1.0], [2.0]) == "unclear"
    assert verdict([1.0], [2.0], "exact") == "differs"
    assert verdict([1.0], [1.001], "exact") == "same"
    # Two constants: at best 2^(1 − 2n) by chance, which is 12.5 % for two pairs and 3 % for three.
    assert [verdict([1.0] * count, [2.0] * count) for count in (2, 3, ENOUGH)] == ["unclear", "differs", "differs"]
    # Equal differences of values that vary: the sign test needs six pairs.
    steps = [float(value) for value in range(1, 7)]
    assert verdict([value + 1 for value in steps], steps) == "differs"
    assert verdict([value + 1 for value in steps[:5]], steps[:5]) == "unclear"
    # Of four equal pairs, more than half of all others may differ.
    assert [verdict([1.0] * count, [1.0] * count) for count in (4, 5)] == ["unclear", "same"]


def test_p_values_are_those_of_the_intervals() -> None:
    rng = random.Random(8)
    for scale in SCALES:
        for _ in range(40):
            to = [rng.uniform(1, 2) for _ in range(6)]
            of = [value * rng.gauss(1.1, 0.1) for value in to]
            (found,) = judge([Question(Sample(of, to, scale), tolerance=Tolerance(0.2))])
            assert found.p_value is not None and found.same[1.0] is not None
            at = found.question.sample.interval(1 - found.p_value)
            ends = (at.low, at.high)
            assert min(abs(end - found.question.sample.neutral) for end in ends) == pytest.approx(0, abs=1e-6)
            if found.same[1.0] < 1:
                around = found.question.sample.interval(1 - found.same[1.0])
                low, high = found.question.limits()
                assert min(around.low - low, high - around.high) == pytest.approx(0, abs=1e-6)


def test_places_of_intervals_are_those_of_their_limits() -> None:
    tolerance = WORDS["the same"]
    assert limits.limits("overlaps", tolerance, (0, 0)) == (1 / 1.01, 1.01)
    low, high = limits.limits("above", tolerance, (0, 0))
    assert low > 1.01 and high == math.inf
    assert limits.limits("best", tolerance, (0, 0)) == (-math.inf, 1.01)
    assert limits.limits("ratio", tolerance, (2.0, 3.0)) == (2.0, 3.0)
    exact = Sample([1.2, 1.2], [1.0, 1.0], "ratio", "exact").interval()
    assert [limits.place(exact, *ends) for ends in ((1, 2), (0, 1), (2, 3))] == ["within", "above", "below"]
    spread = Sample([1.0, 2.0], [1.0, 1.0], "ratio", "path").interval()
    assert limits.place(spread, 1.5, 3) == "partly"


def test_the_words_of_the_table_are_in_order() -> None:
    assert WORDS["exactly"].value < WORDS["the same"].value < WORDS["about"].value
    assert tolerances.of("goodput_bps", SAME) is SAME
    assert tolerances.of("queue_drops", SAME).excess(1, 2) == 1, "a packet more or less is no difference"
    assert Tolerance(0.1, slack=1).scaled(2) == Tolerance(0.2, slack=2)


def test_few_repetitions_are_said_to_be_few() -> None:
    assert words.few(1, "seed") == "1 seed shows no spread, so there are no intervals, and no difference is shown"
    assert words.few(2, "seed").startswith("2 seeds are few: an interval extends 9.0 standard deviations")
    assert words.few(3, "seed") == ""


def test_sensitivity_names_only_what_changes() -> None:
    of, to = [1.012, 1.013, 1.011, 1.012, 1.014, 1.010], [1.0, 1.0005, 0.9995, 1.0, 1.0002, 0.9998]
    (found,) = judge([Question(Sample(of, to, "ratio"), "more")])
    assert [found.at(factor) for factor in FACTORS] == ["better", "better", "same"]
    assert words.sensitivity(found) == "same at double the tolerance"
    (clear,) = judge([Question(Sample([2 * value for value in of], to, "ratio"), "more")])
    assert words.sensitivity(clear) == ""
