"""Statistics against known answers, and in simulated experiments with a known truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from ackclock.formatting.numbers import number
from ackclock.statistics.fairness import jain_index
from ackclock.statistics.intervals import coverage_of_range, interval, one_run, rounded, unseen
from ackclock.statistics.joint import Joint, one_further
from ackclock.statistics.ratios import ratio, words
from ackclock.statistics.selection import chosen

TRIALS = 1500
Draw = Callable[[np.random.Generator], np.ndarray]


def share_of(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


def test_jain() -> None:
    assert jain_index([3.0, 3.0, 3.0]) == pytest.approx(1)
    assert jain_index([5.0, 0.0]) == pytest.approx(0.5)
    assert jain_index([1.0, 2.0, 3.0]) == pytest.approx(36 / (3 * 14))
    assert jain_index([0.0, 0.0]) is None


def test_a_range_and_equal_runs_bound_further_runs() -> None:
    assert coverage_of_range(39) == pytest.approx(0.95)
    assert unseen(1) == pytest.approx(0.95)
    assert unseen(300) == pytest.approx(0.01, rel=0.01), "the rule of three"
    rng = np.random.default_rng(1)
    draws = rng.exponential(size=(TRIALS, 21))
    found = [interval(list(map(float, row[:20])), "path") for row in draws]
    hits = [each.low <= row[20] <= each.high for each, row in zip(found, draws, strict=True)]
    assert share_of(hits) == pytest.approx(coverage_of_range(20), abs=0.03)


def test_equal_random_runs_are_no_certainty() -> None:
    """Student's interval of equal values has no width."""
    same = interval([5.0] * 20, "seed")
    assert (same.mean, same.low, same.high) == (5.0, -math.inf, math.inf)
    assert same.note == "all 20 runs have the value 5, which does not show the spread of other runs"
    assert not same.known
    assert interval([5.0], "seed").note == "a single run does not show the spread of other runs"
    assert rounded(same) == ("5", "−∞", "∞")
    for sampling in ("path", "offset", "exact"):
        assert interval([5.0] * 20, sampling).known  # type: ignore[arg-type]


def test_the_interval_of_an_index_stays_within_its_bounds() -> None:
    """The t interval of these values reaches 1.02."""
    values = [1.0, 0.999, 0.9, 1.0]
    assert interval(values, "seed").high > 1
    found = interval(values, "seed", bounds=(0.0, 1.0))
    assert 0 < found.low < found.mean < found.high < 1
    assert one_run(values, "seed", bounds=(0.0, 1.0)).high < 1
    # By hand on the logit scale: the mean, and its standard error divided by m (1 − m).
    mean, half = 0.97475, interval(values, "seed").high - 0.97475
    logit = math.log(mean / (1 - mean)) - half / (mean * (1 - mean))
    assert found.low == pytest.approx(1 / (1 + math.exp(-logit)))
    percent = interval([100 * value for value in values], "seed", bounds=(0.0, 100.0))
    assert percent.low == pytest.approx(100 * found.low)


@pytest.mark.long
@pytest.mark.parametrize(("shape", "count"), [((20.0, 1.0), 20), ((50.0, 2.0), 10), ((5.0, 5.0), 20)])
def test_the_interval_of_an_index_covers_its_mean(shape: tuple[float, float], count: int) -> None:
    rng = np.random.default_rng(2)
    truth = shape[0] / sum(shape)
    found = [interval(rng.beta(*shape, count).tolist(), "seed", bounds=(0.0, 1.0)) for _ in range(TRIALS)]
    assert share_of([each.low <= truth <= each.high for each in found]) == pytest.approx(0.945, abs=0.025)


def test_a_ratio_is_that_of_the_means_relative_to_the_second() -> None:
    found = ratio([18.0, 36.0, 54.0], [1.0, 2.0, 3.0], "path")
    assert (found.mean, found.low, found.high) == (18.0, 18.0, 18.0)
    assert words(found) == "18 times [18, 18]"
    assert words(ratio([1.0, 2.2], [1.0, 2.0], "path")) == "+6.67 % [+0.00, +10.00]"
    assert words(ratio([1.0, 2.0], [4.0, 4.0], "path")) == "−62.50 % [−75.00, −50.00]"


def test_fiellers_interval_is_where_a_paired_test_does_not_reject() -> None:
    rng = np.random.default_rng(3)
    b = rng.normal(10, 1, 12)
    a = 1.5 * b + rng.normal(0, 1, 12)
    found = ratio(a.tolist(), b.tolist(), "seed")
    for end in (found.low, found.high):
        rest = a - end * b
        t = rest.mean() / (rest.std(ddof=1) / math.sqrt(12))
        assert abs(t) == pytest.approx(2.2009851600916397, rel=1e-6), "Student's t for 11 degrees of freedom"
    back = ratio(b.tolist(), a.tolist(), "seed")
    assert (back.mean, back.low, back.high) == pytest.approx((1 / found.mean, 1 / found.high, 1 / found.low))
    scaled = ratio((1e9 * a).tolist(), (1e9 * b).tolist(), "seed")
    assert (scaled.low, scaled.high) == pytest.approx((found.low, found.high))


@pytest.mark.long
@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_fiellers_interval_covers_the_ratio(noise: float) -> None:
    rng = np.random.default_rng(4)
    hits = []
    for _ in range(TRIALS):
        common = rng.normal(0, 0.2, 8)
        a, b = 3 + common + rng.normal(0, noise, 8), 2 + common + rng.normal(0, noise, 8)
        found = ratio(a.tolist(), b.tolist(), "seed")
        hits.append(found.low <= 1.5 <= found.high)
    assert share_of(hits) == pytest.approx(0.95, abs=0.02)


def test_ratios_that_runs_cannot_determine() -> None:
    assert "both variants are 0" in ratio([0.0] * 9, [0.0] * 9, "path").note
    assert "all 2 runs have the value 7," in ratio([7.0, 7.0], [7.0, 7.0], "seed").note
    assert ratio([7.0, 7.0], [5.0, 5.0], "seed").note == "all 2 runs of each variant have the same value"
    assert (
        ratio([7.0, 8.0], [7.0, 8.0], "seed").note == "2 equal runs are too few: up to 78 % of other runs could differ"
    )
    assert ratio([7.0, 8.0, 9.0], [7.0, 8.0, 9.0], "path").note.startswith("3 equal runs are too few")
    five = [1.0, 2.0, 3.0, 4.0, 5.0]
    equal = ratio(five, five, "seed")
    assert (equal.mean, equal.low, equal.high, equal.known) == (1.0, 1.0, 1.0, True)
    assert ratio([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], "seed").note == "neither mean differs significantly from 0"


def test_a_reference_of_nothing() -> None:
    drops = [4.0, 5.0, 6.0]
    over = ratio(drops, [0.0] * 3, "seed")
    assert (over.low, over.high) == (math.inf, math.inf), "some is more than none, by whatever factor"
    under = ratio([0.0] * 3, drops, "seed")
    assert (under.mean, under.low, under.high) == (0.0, 0.0, 0.0)
    assert (
        ratio([0.0, 0.0, 1.0], [0.0] * 3, "seed").note
        == "the reference is 0 in every run, and the other mean can be 0, too"
    )
    perhaps = ratio([9.0, 10.0, 11.0], [0.0, 0.0, 1.0], "seed")
    assert perhaps.high == math.inf
    assert 1 < perhaps.low < 30
    some = ratio([1.0, 0.0], [0.0, 0.0], "path")
    assert (some.low, some.high) == (1.0, math.inf), "two zeros are equal"
    for wrong in (([], []), ([1.0], [1.0, 2.0])):
        with pytest.raises(ValueError, match="pairs"):
            ratio(*wrong, "seed")


@pytest.mark.long
def test_the_least_of_many_means_is_corrected_for_its_choice() -> None:
    """The least of thirteen equal means is too small by more than a standard error; the corrected one is not."""
    rng = np.random.default_rng(5)
    naive, corrected = [], []
    for _ in range(TRIALS):
        samples = {str(index): row.tolist() for index, row in enumerate(rng.normal(10, 1, (13, 16)))}
        naive.append(min(sum(sample) / 16 for sample in samples.values()))
        corrected.append(chosen(samples, lambda name, part, own=samples: sum(own[name][part]) / 8, 1))
    assert np.mean(naive) < 10 - 1.5 / 4
    assert np.mean(corrected) == pytest.approx(10, abs=0.03)


def test_each_half_of_the_runs_chooses_for_the_other() -> None:
    samples = {"a": [1.0, 4.0, 1.0, 4.0], "b": [2.0, 3.0, 2.0, 3.0]}
    # The even runs choose a, whose odd runs give 4; the odd runs choose b, whose even runs give 2.
    assert chosen(samples, lambda name, part: sum(samples[name][part]) / 2, 1) == 3.0


def test_hotellings_test_of_one_number_is_students() -> None:
    runs = [[9.0], [10.0], [11.0], [10.5], [9.5]]
    test = one_further(runs, [13.0])
    assert test is not None
    deviation = math.sqrt(0.625)
    t = 3 / (deviation * math.sqrt(1 + 1 / 5))
    # Two-sided for 4 degrees of freedom, in closed form.
    tail = 1 - t / math.sqrt(4 + t * t) * (1 + 2 / (4 + t * t))
    assert test.freedom == 1
    assert test.probability == pytest.approx(tail)


@pytest.mark.long
def test_joint_tests_reject_as_often_as_they_say() -> None:
    rng = np.random.default_rng(7)
    mix = np.array([[1.0, 0.0, 0.0], [0.8, 0.5, 0.0], [-0.3, 0.2, 2.0]])
    tails = []
    for _ in range(TRIALS):
        whole = None
        for _ in range(3):
            draws = 100 + rng.normal(size=(21, 3)) @ mix.T
            test = one_further(draws[:20].tolist(), draws[20].tolist())
            assert test is not None
            whole = test if whole is None else whole + test
        assert whole is not None
        assert whole.freedom == 9
        tails.append(whole.probability)
    assert share_of([tail < 0.05 for tail in tails]) == pytest.approx(0.05, abs=0.02)
    assert share_of([tail < 0.5 for tail in tails]) == pytest.approx(0.5, abs=0.05)


def test_joint_tests_find_what_single_numbers_hide() -> None:
    """Five numbers, each plausible for one run, but all on the same side."""
    rng = np.random.default_rng(8)
    whole = Joint(0.0, 0)
    for _ in range(5):
        runs = rng.normal(100, 1, (20, 1))
        printed = runs.mean() + 1.9 * runs.std(ddof=1)
        within = one_run(runs[:, 0].tolist(), "seed")
        assert within.low < printed < within.high
        whole += one_further(runs.tolist(), [printed]) or Joint(0.0, 0)
    assert whole.probability < 0.01


def test_no_joint_test_without_scatter() -> None:
    assert one_further([[1.0, 2.0]] * 9, [1.0, 2.0]) is None
    assert one_further([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]], [1.0, 2.0]) is None, "three runs, two numbers"
    assert one_further([[float(n), 2.0 * n] for n in range(9)], [1.0, 2.0]) is None, "one number is twice the other"
    far = one_further([[float(n)] for n in range(9)], [1e9])
    assert far is not None
    assert math.isfinite(far.statistic)
    assert number(far.probability, 2) != "nan"
